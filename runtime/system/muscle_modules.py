"""Muscles as forces: a module of text, made of the kernels of a law and of the spans of a path, without SymPy.

The name of a module states what it is made of: "thelen_as_opensim_along_i_cylinder_k_j" is this law along a path from a point of
body i over a cylinder of body k to a point of body j; "thelen_as_opensim_reflex_stretch_delayed_along_i_j" has an excitation by
the reflex ``stretch`` with a delay.  Muscles of one name share a module and its machine code; where they act
and how strong they are is among the numbers ``x`` of each.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from generated import muscles, reflexes
from runtime.dynamics.directions import BODY
from runtime.dynamics.force_elements import LOOKED_UP, MAX_BODIES, REPORTS
from runtime.dynamics.layout import STATE, P, V
from runtime.jit.freshness import sha256
from runtime.jit.python_code import python_code
from runtime.system.definitions import Definitions
from runtime.system.spans import POINTS, SPANS

# In the name of a module: before the path; with a rigid tendon; the excitation is a signal; before the reflex, and its delay.
ALONG, RIGID, BY_SIGNAL, BY_REFLEX, LATE = "_along_", "_rigid", "_by_signal", "_reflex_", "_delayed"
LETTERS, OWN = "ijkl", "kl"  # of the bodies of a muscle; those of a wrap in the module of its span
VELOCITY, BELONGS = 3, 6  # what a point of ``POINTS`` gives behind its place: velocity; whether it belongs to the path
ENERGY = "energy", "J"  # what a law reports of its elastic parts
STRAIGHT, POINT = "straight", "s_k"
ORDER = "p((w|c*)p)+"  # of points that stay in the path, points that may leave it, and wraps
TENSION, STORED, RATES = 0, 1, 2  # what a law gives: these, the rates of its states, and reported quantities
BEFORE_STATES = 3  # what it takes: length, its rate, excitation, and its states
OUTPUTS = ("length", "m"), ("lengthening_speed", "m/s"), ("excitation", "1")  # of every muscle, before those of its law
EXCITATION, DELAY = (0.0, False, 1.0, "1"), (0.0, False, None, "s")  # their bounds
DELAYED = "delayed_length", "delayed_speed"  # signals of a reflex with a delay, which a run makes of its past
# What a span gives: length, its rate, and behind them force and moment of a unit tension on each body.
WRENCH, UNIT_WRENCH = 6, 2
DECORATOR = '@njit(error_model="numpy", _nrt=False)'
LAWS, REFLEXES = Definitions(muscles.MODULES), Definitions(reflexes.MODULES)
Lines = list[str]
Places = Mapping[str, Sequence[str]]  # the text of each number of an array, by the name of the array
# Of a path: the kind, of ``SPANS`` or ``POINTS``, "" for a fixed point; letters of its bodies.
Element = tuple[str, str]


class Span(NamedTuple):
    """A span of a path: its module, the numbers of its bodies, and the places of its numbers in x.

    An end at point n of ``Path.points`` has the number MAX_BODIES + n in place of a body, and no place of its vector.
    ``belong``, ``left``: numbers of points of which it is part of the path while they belong to it, and while they do not.
    """

    module: ModuleType
    bodies: tuple[int, ...]
    places: tuple[int | None, ...]
    belong: tuple[int, ...]
    left: tuple[int, ...]


class Located(NamedTuple):
    """A point of ``POINTS`` on a path: its module, the numbers of its bodies, and the places of its numbers in x."""

    module: ModuleType
    bodies: tuple[int, ...]
    places: tuple[int | None, ...]


class Piece(NamedTuple):
    """The part of a path between two points: their numbers, its kind of span, letters of its bodies, and names of its numbers.

    ``names``: those in the path, by those in the module of the span; points of ``POINTS`` have none.
    """

    ends: tuple[int, int]
    kind: str
    letters: str
    names: Mapping[str, str]


class Path(NamedTuple):
    """A path: names, kinds and bodies of its vectors, its parameters with units and bounds, its spans, and points of ``POINTS``.

    ``within``: places of neighbouring fixed points of one body, between which the length is constant.
    ``tables``: name and unit of the tables of these points, in the order of their calls.
    """

    vectors: tuple[tuple[str, str, str], ...]
    parameters: tuple[tuple[str, str], ...]
    bounds: Mapping[str, Any]
    spans: tuple[Span, ...]
    within: tuple[tuple[int, int], ...]
    points: tuple[Located, ...]
    tables: tuple[tuple[str, str], ...]

    @property
    def may_leave(self) -> bool:
        """Whether a point belongs to the path at times only, so that its length jumps."""
        return any(point.module.MAY_LEAVE for point in self.points)


def path_of(elements: Sequence[Element]) -> Path:
    """The path over these elements.  Its names have the number of the element: "s_2_j", "radius_3"."""
    vectors, parameters, tables, bounds = list[Any](), list[Any](), list[Any](), dict[str, Any]()
    for n, (kind, letters) in enumerate(elements, 1):
        (of_kind, numbers, looked_up), names = _own(kind), names_of(n, kind, letters)
        vectors += [(names[v], of, letters[letters_of(kind).index(body)]) for v, of, body in of_kind]
        parameters += [(names[p], unit) for p, unit in numbers]
        bounds |= {names[p]: _module_of(kind).BOUNDS[p] for p, _ in numbers}
        tables += [(names[table], "m") for table in looked_up]
    places = {name: 3 * k for k, (name, *_) in enumerate(vectors)}
    places |= {name: 3 * len(vectors) + k for k, (name, _) in enumerate(parameters)}

    def in_x(module: ModuleType, own: Mapping[str, str]) -> tuple[int | None, ...]:
        at = [places[own[v]] + c if v in own else None for v, *_ in module.VECTORS for c in range(3)]
        return *at, *(places[own[p]] for p, _ in module.PARAMETERS)

    points = {
        n: Located(POINTS[kind], tuple(map(LETTERS.index, letters)), in_x(POINTS[kind], names_of(n + 1, kind, letters)))
        for n, (kind, letters) in enumerate(elements) if kind in POINTS
    }  # fmt: skip
    spans, within, among = list[Span](), list[tuple[int, int]](), {n: k for k, n in enumerate(points)}
    for (n, m), kind, letters, own in pieces_of(elements):
        belong, left = ([among[k] for k in some if k in points] for some in ((n, m), range(n + 1, m)))
        if kind == STRAIGHT and letters[0] == letters[1] and not belong and not left:
            within.append((places[own["s_i"]], places[own["s_j"]]))
            continue
        ends = [MAX_BODIES + among[k] if k in points else LETTERS.index(elements[k][1]) for k in (n, m)]
        bodies = *ends, *map(LETTERS.index, letters[2:])
        spans.append(Span(SPANS[kind], bodies, in_x(SPANS[kind], own), tuple(belong), tuple(left)))
    return Path(
        tuple(vectors), tuple(parameters), bounds, tuple(spans), tuple(within), tuple(points.values()), tuple(tables)
    )


def pieces_of(elements: Sequence[Element]) -> Iterator[Piece]:
    """The parts of a path over these elements, from point to point."""
    for n, m in _pairs(elements):
        kind, letters = STRAIGHT, elements[n][1][0] + elements[m][1][0]
        fixed = [(end, k) for end, k in (("s_i", n), ("s_j", m)) if not elements[k][0]]
        names = {end: names_of(k + 1, *elements[k])[POINT] for end, k in fixed}
        for wrap, more in (one for one in elements[n + 1 : m] if one[0] in SPANS):
            kind, letters, names = wrap, letters + more, names | names_of(n + 2, wrap, more)
        yield Piece((n, m), kind, letters, names)


def _own(kind: str) -> tuple[Sequence[Any], Sequence[Any], Sequence[str]]:
    """Vectors, parameters and tables of an element, by the names of its module."""
    if not kind:
        return [(POINT, "point", "k")], (), ()
    module = _module_of(kind)
    return [v for v in module.VECTORS if v[2] in letters_of(kind)], module.PARAMETERS, getattr(module, "TABLES", ())


def _module_of(kind: str) -> ModuleType:
    return POINTS[kind] if kind in POINTS else SPANS[kind]


def _pairs(elements: Sequence[Element]) -> Iterator[tuple[int, int]]:
    """Numbers of the points between which a path may have a span: those between them may leave it."""
    at = [n for n, (kind, _) in enumerate(elements) if kind not in SPANS]
    for k, n in enumerate(at):
        for m in at[k + 1 :]:
            yield n, m
            if not may_leave(elements[m][0]):
                break


def may_leave(kind: str) -> bool:
    """Whether points of a kind belong to a path at times only."""
    return kind in POINTS and POINTS[kind].MAY_LEAVE


def letters_of(kind: str) -> str:
    """The letters of the bodies of an element in its own module."""
    return "".join(POINTS[kind].BODIES) if kind in POINTS else OWN[: len(SPANS[kind].BODIES) - 2] if kind else OWN[0]


def names_of(n: int, kind: str, letters: str) -> dict[str, str]:
    """The names of vectors and numbers of element n of a path, on these bodies, by those in the module of its kind.

    Such as "s_2_j", of a body l "s_2b_j", "radius_2".
    """
    own, (vectors, numbers, tables) = letters_of(kind), _own(kind)
    found = {name: f"{name}_{n}" for name in (*(name for name, _ in numbers), *tables)}
    for name, _, body in vectors:
        found[name] = f"{name[:-2]}_{n}{'b' * (body == 'l')}_{letters[own.index(body)]}"
    return found


class Muscle:
    """The text of the module of a law along a path.

    ``rigid``: its law is that of a rigid tendon; ``driven``: its excitation is a signal, else a parameter; ``reflex``: what adds
    to it, or None; ``delayed``: this is by length and speed of a time before, or of the present where the delay is 0.
    """

    def __init__(
        self, name: str, law: ModuleType, path: Path, *, rigid: bool, driven: bool, reflex: ModuleType | None, delayed: bool
    ) -> None:  # fmt: skip
        self.name, self.law, self.path, self.reflex, self.delayed = name, law, path, reflex, delayed
        self.signals = ("excitation",) * driven + DELAYED * delayed
        self.kernel = "rigid" if rigid else "law"
        read = {int(k) for k in re.findall(r" x\[(\d+)\]", "\n".join(_lines(law, self.kernel)))}
        self.numbers = [
            k for k in range(len(law.STATES)) if BEFORE_STATES + k in read
        ]  # of the states in those of the law
        self.states = tuple(law.STATES[k][0] for k in self.numbers)
        used = {letter for *_, letter in path.vectors}
        self.bodies = 2 if used <= {*LETTERS[:2]} else MAX_BODIES
        self.constants = 3 * len(path.vectors) + len(path.parameters)  # place of the first constant of the law
        initial = tuple((f"{law.STATES[k][0]}_0", law.STATES[k][1]) for k in self.numbers)
        self.bounds = {
            **path.bounds,
            **(reflex.BOUNDS if reflex else {}),
            **law.BOUNDS,
            **({"delay": DELAY} if delayed else {}),
        }
        names = dict.fromkeys((*law.PARAMETERS, *(reflex.PARAMETERS if reflex else ()), *["delay"] * delayed))
        constants = tuple((name, self.bounds[name][3] or "1") for name in names)
        self.parameters = (*path.parameters, *constants, *([] if driven else [("excitation", "1")]), *initial)
        self.held = 3 * len(path.vectors) + len(self.parameters)  # place of the first angle before
        first = self.held + len(path.points)
        self.first_state = first + 3 * len(self.signals)
        self.given, self.initial = (first if driven else self.held - len(initial) - 1), self.held - len(initial)
        self.excitation = "excitation" if reflex else f"x[{self.given}]"
        self.measured = ["late_length", "late_speed"] if delayed else ["length", "speed"]
        self.tables = self.first_state + len(self.states)
        self.size = self.tables + LOOKED_UP * len(path.tables)

    def data(self) -> dict[str, Any]:
        """The facts that the runtime reads, as of any force."""
        vectors, tables, points = self.path.vectors, self.path.tables, len(self.path.points)
        parameters = self.parameters
        given = (v for v, kind, _ in vectors if kind != "frame")
        states = (self.law.STATES[k] for k in self.numbers if self.law.STATES[k] not in self.law.OUTPUTS)
        return {
            "NAME": self.name, "LAW": self.law.NAME, "KEYWORDS": (*given, *dict(parameters), *dict(tables)),
            "VECTORS": vectors, "PARAMETERS": parameters,
            "BOUNDS": {**self.bounds, "excitation": EXCITATION},
            "BODIES": tuple(LETTERS[: self.bodies]), "HELD": points, "ANGLES": points, "SIGNALS": self.signals, "LOADS": 0,
            "LOADS_PLACE": self.first_state, "STATES": self.states, "STATES_PLACE": self.first_state,
            "TABLES": (*dict(tables),), "TABLE_UNITS": dict(tables),
            "KINKS": sum(part.module.KINKS for part in self._parts) + self.law.KINKS[self.kernel] + self._bends,
            "OUTPUTS": (*OUTPUTS, *(one for one in self.law.OUTPUTS if one != ENERGY or self.path.may_leave), *states),
            "TABLES_PLACE": self.tables,
            "SIZE": self.size, "SINGULAR": "; or ".join(dict.fromkeys(part.module.SINGULAR for part in self._parts)),
        }  # fmt: skip

    @property
    def _parts(self) -> tuple[Span | Located, ...]:
        """What has kinks and singular configurations of its own."""
        return *self.path.points, *self.path.spans

    def text(self) -> str:
        """The module."""
        count, states = self.bodies, len(self.states)
        every, own = [f"body_{letter}" for letter in LETTERS], [f"body_{letter}" for letter in LETTERS[:count]]
        outputs = REPORTS + len(self.data()["OUTPUTS"]) + states
        sizes = {body: "(13,)" for body in own} | {"x": f"({self.size},)"}
        kernels = [
            ("evaluate", "out", self._evaluated(), f"({outputs},)"),
            ("path", "out", self._paths(), f"({UNIT_WRENCH + WRENCH * count},)"),
            ("reference", "out", self._reference(), f"({len(self.path.points) + states},)"),
        ]
        if kinks := self.data()["KINKS"] + len(self.path.tables):
            kernels.append(("kinks", "out", self._kinks(), f"({kinks},)"))
        if self.path.points:
            kernels.append(("angles", "out", self._of_points("angles", 1), f"({len(self.path.points)},)"))
        if tables := len(self.path.tables):
            kernels.append(("lookups", "out", self._of_points("lookups", None), f"({tables},)"))
        for name, more in (("tangent", 0), ("state_tangent", states))[: 1 + bool(states)]:
            rows, columns = WRENCH * count + more, BODY * count + more
            kernels.append((name, "seeds, out", self._tangent(more), f"({columns}, {columns}), ({rows}, {columns})"))
        text = [
            f'"""{self.law.__doc__}\n{self._listing()}\n"""',
            "",
            "import math",
            "",
            "from numba import carray, njit",
            "",
        ]
        text += [f"{key} = {value!r}" for key, value in self.data().items()]
        for name, arrays, lines, shapes in kernels:
            text += [
                "",
                "",
                DECORATOR,
                f"def {name}({', '.join(own)}, x, {arrays}):",
                *indented(needed(lines) or ["pass"]),
            ]
            shaped = zip(
                [*sizes, *arrays.split(", ")], [*sizes.values(), *re.findall(r"\([^)]*\)", shapes)], strict=True
            )
            given = ", ".join(f"carray({array}, {shape})" for array, shape in shaped)
            entry = "entry" if name == "evaluate" else f"{name}_entry"
            text += ["", "", f"def {entry}({', '.join(every)}, x, {arrays}):", f"    {name}({given})"]
        return "\n".join([*text, ""])

    def _listing(self) -> str:
        names = [(name, 3) for name, *_ in self.path.vectors] + [(name, 1) for name, _ in self.parameters]
        names += [(f"angle_before_{k}", 1) for k in range(len(self.path.points))]
        names += [(f"{signal}, its rate, its second rate", 3) for signal in self.signals]
        names += [(state, 1) for state in self.states]
        names += [(f"integral, value, slope and curvature of {table}", LOOKED_UP) for table, _ in self.path.tables]
        lines, place = ["x, in this order:"], 0
        for name, width in names:
            lines.append(f"    x[{place}:{place + width}]  {name}")
            place += width
        return "\n".join(lines)

    def _located(self, kernel: str, prefix: str) -> tuple[Lines, Lines]:
        """The lines of a kernel of all points of ``POINTS``, as of ``_spans``."""
        found: tuple[Lines, Lines] = [], []
        tables = self.tables
        for n, point in enumerate(self.path.points):
            calls = LOOKED_UP * len(point.module.TABLES)
            seeds = [seed for body in point.bodies for seed in self._seeds(body)]
            own = [f"x[{place}]" for place in (*point.places, self.held + n)] + [f"span_force{n}_{c}" for c in range(3)]
            own_kinks = point.module.KINKS + len(point.module.TABLES)
            outputs = max(BELONGS + 1, WRENCH * len(point.bodies), own_kinks)
            places = {
                "x": own + [f"x[{place}]" for place in range(tables, tables + calls)],
                "out": [f"{prefix}{n}_{k}" for k in range(outputs)],
                "seeds": seeds + [f"moved_force{n}_{c}" for c in range(3)],
            } | self._states(point.bodies)  # fmt: skip
            tables += calls
            for into, lines in zip(found, inlined(point.module, kernel, f"{prefix}{n}_", places), strict=True):
                into += lines
        return found

    def _spans(self, kernel: str, prefix: str) -> tuple[Lines, Lines]:
        """The lines of a kernel of all spans, before the loop over directions and in it; its results are "<prefix>0_0", ..."""
        found: tuple[Lines, Lines] = [], []
        for n, span in enumerate(self.path.spans):
            outputs = max(UNIT_WRENCH + WRENCH * len(span.bodies), span.module.KINKS)
            places = {
                "x": ["0.0" if place is None else f"x[{place}]" for place in span.places],
                "out": [f"{prefix}{n}_{k}" for k in range(outputs)],
                "seeds": [seed for body in span.bodies for seed in self._seeds(body)],
            } | self._states(span.bodies)  # fmt: skip
            for into, lines in zip(found, inlined(span.module, kernel, f"{prefix}{n}_", places), strict=True):
                into += lines
        return found

    def _states(self, bodies: Sequence[int]) -> dict[str, list[str]]:
        """The states of bodies by the names in the module of a span; a point of ``POINTS`` moves as a body that does not turn."""
        still = ["0.0"] * (STATE - V)
        every = [[f"body_{letter}[{k}]" for k in range(STATE)] for letter in LETTERS]
        for n in range(len(self.path.points)):
            place, velocity = ([f"point{n}_{k + c}" for c in range(3)] for k in (0, VELOCITY))
            every.append([*place, *still[: V - P], *velocity, *still[:3]])
        return {f"body_{own}": every[body] for own, body in zip(LETTERS, bodies, strict=False)}

    def _seeds(self, body: int) -> list[str]:
        """The components of a direction along which a body moves, or such a point."""
        if body < MAX_BODIES:
            return [f"seeds[{BODY * body + k}, n]" for k in range(BODY)]
        place, velocity = ([f"moved_point{body - MAX_BODIES}_{k + c}" for c in range(3)] for k in (0, VELOCITY))
        return [*place, *["0.0"] * 3, *velocity, *["0.0"] * 3]

    def _weights(self) -> dict[int, str]:
        """Whether spans belong to the path, 1 or 0, where points may leave it."""
        points, found = self.path.points, dict[int, str]()
        for n, span in enumerate(self.path.spans):
            factors = [f"point{k}_{BELONGS}" for k in span.belong if points[k].module.MAY_LEAVE]
            factors += [f"(1.0 - point{k}_{BELONGS})" for k in span.left]
            found |= {n: "*".join(factors)} if factors else {}
        return found

    def _sum(self, terms: Iterable[tuple[int, int]], prefix: str) -> str:
        """The sum of results of spans, by the numbers of span and result, over those that belong to the path."""
        weights = self._weights()
        return " + ".join(f"weight{n}*{prefix}{n}_{k}" if n in weights else f"{prefix}{n}_{k}" for n, k in terms)

    def _forces(self, prefix: str) -> Lines:
        """The force of a unit tension at each point of ``POINTS``; of its derivatives with their prefix."""
        lines = Lines()
        for point in range(len(self.path.points)):
            for c in range(3):
                lines.append(f"{prefix}_force{point}_{c} = {self._sum(self._results(MAX_BODIES + point, c), prefix)}")
        return lines

    def _results(self, body: int, c: int) -> list[tuple[int, int]]:
        """The results of spans, as of ``_sum``, that are component c of the unit wrench on a body, or of the force on a point."""
        bodies = [(n, k, b) for n, span in enumerate(self.path.spans) for k, b in enumerate(span.bodies)]
        return [(n, UNIT_WRENCH + WRENCH * k + c) for n, k, b in bodies if b == body]

    def _path(self) -> Lines:
        """Length of the path, its rate, and the unit wrenches of all spans and points."""
        lines = self._located("point", "point")[0]
        lines += [f"weight{n} = {weight}" for n, weight in self._weights().items()]
        lines += [*self._spans("span", "span")[0], *self._forces("span")]
        lines += self._located("pull", "span_pull")[0]
        every = [(n, 0) for n in range(len(self.path.spans))]
        lengths = [self._sum(every, "span")]
        for n, (a, b) in enumerate(self.path.within):
            squares = " + ".join(f"(x[{a + c}] - x[{b + c}])**2" for c in range(3))
            lines.append(f"within{n} = math.sqrt({squares})")
            lengths.append(f"within{n}")
        return [*lines, f"length = {' + '.join(lengths)}", f"speed = {self._sum([(n, 1) for n, _ in every], 'span')}"]

    def _wrench(self, row: int, prefix: str) -> str:
        """A component of force and moment of a unit tension, the sum over the spans; of its derivatives with their prefix."""
        body, c = divmod(row, WRENCH)
        of = self._results(body, c)
        terms = [self._sum(of, prefix)] * bool(of)
        for n, point in enumerate(self.path.points):
            terms += [f"{prefix}_pull{n}_{WRENCH * k + c}" for k, b in enumerate(point.bodies) if b == body]
        return " + ".join(terms) or "0.0"

    @property
    def _bends(self) -> int:
        """Number of kinks of the reflex."""
        return self.reflex.KINKS if self.reflex else 0

    def _reflex(self, kernel: str, prefix: str, out: Sequence[str], seeds: Sequence[str] = ()) -> tuple[Lines, Lines]:
        """The lines of a kernel of the reflex, if there is one."""
        if self.reflex is None:
            return [], []
        first = 3 * len(self.path.vectors)
        at = {name: f"x[{first + k}]" for k, (name, _) in enumerate(self.parameters)}
        places = {
            "x": [*self.measured, f"x[{self.given}]"], "c": [at[name] for name in self.reflex.PARAMETERS], "out": out,
            "seeds": seeds,
        }  # fmt: skip
        return inlined(self.reflex, kernel, prefix, places)

    def _excited(self) -> Lines:
        """The path, and the excitation by it."""
        lines, late = self._path(), self.first_state - 3 * len(DELAYED)
        if self.delayed:
            delay = 3 * len(self.path.vectors) + [name for name, _ in self.parameters].index("delay")
            lines.append(f"late = 0.5 + math.copysign(0.5, x[{delay}] - 1e-300)")
            lines.append(f"late_length = late*x[{late}] + (1.0 - late)*length")
            lines.append(f"late_speed = late*x[{late + 3}] + (1.0 - late)*speed")
        return [*lines, *self._reflex("reflex", "reflex_", ["excitation"])[0]]

    def _law(self, kernel: str, prefix: str, seeds: Sequence[str] = ()) -> tuple[Lines, Lines]:
        states = {number: f"x[{self.first_state + k}]" for k, number in enumerate(self.numbers)}
        given = ["length", "speed", self.excitation, *(states.get(k, "0.0") for k in range(len(self.law.STATES)))]
        outputs = max(len(self.law.STATES) + len(self.law.OUTPUTS), self.law.KINKS[self.kernel])
        places = {
            "x": given, "c": [f"x[{self.constants + k}]" for k in range(len(self.law.PARAMETERS))],
            "out": [f"{prefix}{k}" for k in range(outputs)], "seeds": seeds,
        }  # fmt: skip
        return inlined(self.law, kernel, prefix, places)

    def _evaluated(self) -> Lines:
        every = [f"law_{RATES + k}" for k in range(len(self.law.STATES))]
        rates = [every[k] for k in self.numbers]
        before, along = self._law(
            f"{self.kernel}_tangent", "slope_", ["speed", "0.0", "0.0", *every]
        )  # along the motion
        lines = [*self._excited(), *self._law(self.kernel, "law_")[0], *before, *along]
        outputs = [self._wrench(row, "span") for row in range(WRENCH * MAX_BODIES)]
        outputs = [f"law_{TENSION}*({sum_})" if sum_ != "0.0" else sum_ for sum_ in outputs]
        names = {"length": "length", "lengthening_speed": "speed", "excitation": self.excitation}
        names |= {state: f"x[{self.first_state + k}]" for k, state in enumerate(self.states)}
        names |= {name: f"law_{RATES + len(every) + k}" for k, (name, _) in enumerate(self.law.OUTPUTS[RATES:])}
        names |= {"tension": f"law_{TENSION}", ENERGY[0]: f"law_{STORED}"}
        # What is stored jumps with the length; then it is reported, but no part of the energy.
        stored = ["0.0", "0.0"] if self.path.may_leave else [f"law_{STORED}", f"slope_{STORED}"]
        outputs += [*stored, *(names[name] for name, _ in self.data()["OUTPUTS"]), *rates]
        return [*lines, *(f"out[{k}] = {e}" for k, e in enumerate(outputs))]

    def _paths(self) -> Lines:
        outputs = ["length", "speed", *(self._wrench(row, "span") for row in range(WRENCH * self.bodies))]
        return [*self._path(), *(f"out[{k}] = {e}" for k, e in enumerate(outputs))]

    def _of_points(self, kernel: str, count: int | None) -> Lines:
        """What a kernel gives of all points: so many numbers of each, or one for each of its tables."""
        numbers = [len(point.module.TABLES) if count is None else count for point in self.path.points]
        found = [f"{kernel}{n}_{k}" for n, own in enumerate(numbers) for k in range(own)]
        return [*self._located(kernel, kernel)[0], *(f"out[{k}] = {one}" for k, one in enumerate(found))]

    def _reference(self) -> Lines:
        first = len(self.path.points)
        states = [f"out[{first + k}] = x[{self.initial + k}]" for k in range(len(self.states))]
        return [*self._of_points("reference", 1), *states]

    def _kinks(self) -> Lines:
        kinks = [f"point_kink{n}_{k}" for n, point in enumerate(self.path.points) for k in range(point.module.KINKS)]
        kinks += [f"kink{n}_{k}" for n, span in enumerate(self.path.spans) for k in range(span.module.KINKS)]
        kinks += [f"kinks_{k}" for k in range(self.law.KINKS[self.kernel])]
        bends = [f"bends_{k}" for k in range(self._bends)]
        lines = [*self._excited(), *self._spans("kinks", "kink")[0], *self._law(f"{self.kernel}_kinks", "kinks_")[0]]
        lines += [*self._located("kinks", "point_kink")[0], *self._reflex("reflex_kinks", "bends_", bends)[0]]
        kinks += bends  # and behind all, as of any force, the roundings of the arguments of tables
        for n, point in enumerate(self.path.points):
            first = point.module.KINKS
            kinks += [f"point_kink{n}_{k}" for k in range(first, first + len(point.module.TABLES))]
        return [*lines, *(f"out[{k}] = {kink}" for k, kink in enumerate(kinks))]

    def _tangent(self, states: int) -> Lines:
        """Derivatives of the wrenches, and with ``states`` of their rates."""
        along = {number: f"seeds[{BODY * self.bodies + k}, n]" for k, number in enumerate(self.numbers[:states])}
        moved = [along.get(k, "0.0") for k in range(len(self.law.STATES))]
        before, inside = self._located("point_tangent", "moved_point")
        spans, pulls = self._spans("span_tangent", "moved"), self._located("pull_tangent", "moved_pull")
        before += [*spans[0], *pulls[0]]
        inside += [*spans[1], *self._forces("moved"), *pulls[1]]
        seeds = ["d_length", "d_speed", "d_excitation" if self.reflex else "0.0", *moved]
        of_law, inside_law = self._law(f"{self.kernel}_tangent", "slope_", seeds)
        for k, name in enumerate(("d_length", "d_speed")):
            inside.append(f"{name} = {self._sum([(n, k) for n in range(len(self.path.spans))], 'moved')}")
        if self.delayed:
            inside += [
                f"d_{name} = (1.0 - late)*d_{of}" for name, of in zip(self.measured, ("length", "speed"), strict=True)
            ]
        along_reflex = self._reflex(
            "reflex_tangent", "bend_", ["d_excitation"], [*(f"d_{x}" for x in self.measured), "0.0"]
        )
        before, inside = before + along_reflex[0], inside + along_reflex[1]
        inside += inside_law
        for row in range(WRENCH * self.bodies):
            change = f"law_{TENSION}*({self._wrench(row, 'moved')}) + slope_{TENSION}*({self._wrench(row, 'span')})"
            inside.append(f"out[{row}, n] = {change if self._wrench(row, 'span') != '0.0' else '0.0'}")
        rows = enumerate(self.numbers[:states], WRENCH * self.bodies)
        inside += [f"out[{row}, n] = slope_{RATES + number}" for row, number in rows]
        loop = ["for n in range(seeds.shape[1]):", *indented(inside)]
        return [*self._excited(), *self._law(self.kernel, "law_")[0], *before, *of_law, *loop]


def muscle_module(
    law: ModuleType, elements: Sequence[Element], *, rigid: bool, driven: bool, reflex: ModuleType | None = None,
    delayed: bool = False,
) -> ModuleType:  # fmt: skip
    """The module of the muscles with a law and a path over these elements; the others as of ``Muscle``."""
    path = "_".join(part for wrap, letters in elements for part in (wrap, *letters) if part)
    excited = f"{BY_REFLEX}{reflex.NAME}{LATE * delayed}" if reflex else ""
    name = f"{law.NAME}{RIGID * rigid}{BY_SIGNAL * driven}{excited}{ALONG}{path}"
    return _made(name, law, tuple(elements), rigid, driven, reflex, delayed)


def muscle_module_of(
    name: str, laws: Mapping[str, ModuleType] = LAWS, own_reflexes: Mapping[str, ModuleType] = REFLEXES
) -> ModuleType:
    """The module with a name that ``muscle_module`` gave it, by laws and reflexes by name.

    Raises
    ------
    KeyError
        For a name that states no such module.
    """
    kind, elements = name.partition(ALONG)[0].partition(BY_REFLEX)[0], elements_of(name)
    how: dict[str, Any] = {"rigid": kind.removesuffix(BY_SIGNAL).endswith(RIGID), "driven": kind.endswith(BY_SIGNAL)}
    law = laws[law_of(name)]
    order = "".join("w" if kind in SPANS else "c" if may_leave(kind) else "p" for kind, _ in elements)
    if reflex := reflex_of(name):
        how |= {"reflex": own_reflexes[reflex], "delayed": name.partition(ALONG)[0].endswith(LATE)}
    together = len({*"".join(letters for _, letters in elements)}) < 2
    if together or not re.fullmatch(ORDER, order) or how["rigid"] > law.RIGID:
        raise KeyError(name)
    module = muscle_module(law, elements, **how)
    if name != module.NAME:
        raise KeyError(name)
    return module


def elements_of(name: str) -> list[Element]:
    """The elements of the path in the name of a module of ``muscle_module``.

    Raises
    ------
    KeyError
        For an unknown wrap.
    """
    elements = list[Element]()
    for found in re.finditer(r"(?:([a-z]{2}\w*?)_)?([ijkl])(?:_|$)", name.partition(ALONG)[2]):
        before = elements[-1] if elements else ("", "")
        if found[1] is None and before[0] and len(before[1]) < len(letters_of(before[0])):
            elements[-1] = before[0], before[1] + found[2]
        else:
            elements.append((found[1] or "", found[2]))
    return elements


def law_of(name: str) -> str:
    """The name of the law in that of a module of ``muscle_module``; "" in other names."""
    kind, along, _ = name.partition(ALONG)
    return kind.partition(BY_REFLEX)[0].removesuffix(BY_SIGNAL).removesuffix(RIGID) if along else ""


def reflex_of(name: str) -> str:
    """The name of the reflex in that of a module of ``muscle_module``; "" without one."""
    kind, along, _ = name.partition(ALONG)
    return kind.partition(BY_REFLEX)[2].removesuffix(LATE) if along else ""


@cache
def _made(
    name: str, law: ModuleType, elements: tuple[Element, ...], rigid: bool, driven: bool, reflex: ModuleType | None, delayed: bool
) -> ModuleType:  # fmt: skip
    muscle = Muscle(name, law, path_of(elements), rigid=rigid, driven=driven, reflex=reflex, delayed=delayed)
    folders = (module.__name__.rpartition(".")[0] for module in (law, reflex or law))
    # With an own law or reflex the muscle is an own one.
    module = _module(f"{min(folders)}.{name}".lstrip("."), muscle.text())
    module.__dict__["muscle"] = muscle  # what it is made of
    return module


@cache  # an own law may be compiled several times
def _module(full_name: str, text: str) -> ModuleType:
    name, module = full_name.rpartition(".")[2], ModuleType(full_name)
    module.__file__ = file = f"<kernels of {name}, {sha256(text)[:16]}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), module.__dict__)
    return module


class ForceDefinitions(Definitions):
    """The generated forces by name, and the muscles by the names of ``muscle_module``, which are made when they are asked for."""

    def __getitem__(self, name: str) -> ModuleType:
        return muscle_module_of(name) if ALONG in name else super().__getitem__(name)


def module_named(name: str) -> ModuleType:
    """A shipped module by its full name, also that of a muscle."""
    return muscle_module_of(name.rpartition(".")[2]) if ALONG in name else import_module(name)


def indented(lines: Iterable[str]) -> Lines:
    """Lines of a block."""
    return [f"    {line}" for line in lines]


NAMES = re.compile(r"(\w+)\[(\d+)(?:, n)?\]|(?<![\w.])([a-zA-Z_]\w*)(?![\w\[])")
USED = re.compile(r"(?<![\w.])[a-zA-Z_]\w*")


def inlined(module: ModuleType, kernel: str, prefix: str, places: Places) -> tuple[Lines, Lines]:
    """The lines of a kernel before its loop over directions and in it, with a prefix to its names and other places of numbers."""
    lines = _lines(module, kernel)
    own = {line.split(" = ")[0].strip() for line in lines}

    def put(found: re.Match[str]) -> str:
        array, number, name = found.groups()
        return places[array][int(number)] if array else f"{prefix}{name}" if name in own else name

    loop = next((k for k, line in enumerate(lines) if line.startswith("    for n in ")), len(lines))
    return tuple([NAMES.sub(put, line.strip()) for line in part] for part in (lines[:loop], lines[loop + 1 :]))  # type: ignore[return-value]


@cache
def _lines(module: ModuleType, kernel: str) -> Lines:
    """The lines of a generated kernel below its docstring, with those of the functions that it calls; none without it."""
    text = inspect.getsource(module).partition(f"\ndef {kernel}(")[2].partition("\n\n\n")[0].rstrip()
    return [line for own in text.split("\n")[2:] for line in _without_call(module, own)]


def _without_call(module: ModuleType, line: str) -> Lines:
    """A line "a = f(...)", where f is a function of its module with loops of known length, as straight-line code."""
    call = re.fullmatch(r"( *)(\w+) = (\w+)(\(.*\))", line)
    if call is None or not hasattr(module, call[3]):
        return [line]
    space, target, name, given = call.groups()
    function = python_code(getattr(module, name))
    arguments = (ast.unparse(a) for a in ast.parse(f"f{given}", mode="eval").body.args)  # type: ignore[attr-defined]
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    body, loop, times = Lines(), Lines(), 0
    for own in [*_lines(module, name), ""]:
        if own.startswith(8 * " "):
            loop.append(own.strip())
            continue
        body, loop = [*body, *times * loop], []
        if again := re.fullmatch(r" *for _ in range\((\d+)\):", own):
            times = int(again[1])
        elif own:
            body.append(own.strip().replace("return ", f"{target} = "))
    inside = {one.partition(" = ")[0] for one in body} - {target} | {*parameters}
    body = [NAMES.sub(lambda found: f"{target}_{found[3]}" if found[3] in inside else found[0], one) for one in body]
    return [
        space + one for one in (*(f"{target}_{p} = {a}" for p, a in zip(parameters, arguments, strict=True)), *body)
    ]


def needed(lines: Sequence[str]) -> Lines:
    """The lines of straight-line code on which its outputs depend."""
    kept, used = list[str](), set[str]()
    for line in reversed(lines):
        target, _, value = line.partition(" = ")
        if not value or "[" in target or target.strip() in used:
            kept.append(line)
            used.update(USED.findall(value))
    return kept[::-1]
