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
from runtime.dynamics.force_elements import MAX_BODIES, REPORTS
from runtime.dynamics.layout import STATE
from runtime.jit.freshness import sha256
from runtime.jit.python_code import python_code
from runtime.system.definitions import Definitions
from runtime.system.spans import SPANS

# In the name of a module: before the path; with a rigid tendon; the excitation is a signal; before the reflex, and its delay.
ALONG, RIGID, BY_SIGNAL, BY_REFLEX, LATE = "_along_", "_rigid", "_by_signal", "_reflex_", "_delayed"
LETTERS, OWN = "ijkl", "kl"  # of the bodies of a muscle; those of a wrap in the module of its span
STRAIGHT, POINT = "straight", "s_k"
TENSION, STORED, RATES = 0, 1, 2  # what a law gives: these, the rates of its states, and reported quantities
BEFORE_STATES = 3  # what it takes: length, its rate, excitation, and its states
OUTPUTS = ("length", "m"), ("lengthening_speed", "m/s"), ("excitation", "1")  # of every muscle, before those of its law
EXCITATION, DELAY = (0.0, False, 1.0, "1"), (0.0, False, None, "s")  # their bounds
DELAYED = "delayed_length", "delayed_speed"  # signals of a reflex with a delay, which a run makes of its past
WRENCH, UNIT_WRENCH = (
    6,
    2,
)  # what a span gives: length, its rate, and behind them force and moment of a unit tension on each body
DECORATOR = '@njit(error_model="numpy", _nrt=False)'
LAWS, REFLEXES = Definitions(muscles.MODULES), Definitions(reflexes.MODULES)
Lines = list[str]
Places = Mapping[str, Sequence[str]]  # the text of each number of an array, by the name of the array
Element = tuple[str, str]  # of a path: the name of a wrap, "" for a point, and the letters of its bodies


class Span(NamedTuple):
    """A span of a path: its module, the numbers of its bodies, and the places of its numbers in x."""

    module: ModuleType
    bodies: tuple[int, ...]
    places: tuple[int, ...]


class Piece(NamedTuple):
    """The part of a path between neighbouring points: its kind of span, letters of its bodies, and names of its numbers.

    ``names``: those in the path, by those in the module of the span.
    """

    kind: str
    letters: str
    names: Mapping[str, str]


class Path(NamedTuple):
    """A path: names, kinds and bodies of its vectors, its parameters with units and bounds, and its spans.

    ``within``: places of neighbouring points of one body, between which the length is constant.
    """

    vectors: tuple[tuple[str, str, str], ...]
    parameters: tuple[tuple[str, str], ...]
    bounds: Mapping[str, Any]
    spans: tuple[Span, ...]
    within: tuple[tuple[int, int], ...]


def path_of(elements: Sequence[Element], modules: Mapping[str, ModuleType]) -> Path:
    """The path over these elements.  Its names have the number of the element: "s_2_j", "radius_3"."""
    vectors, parameters, bounds = list[Any](), list[Any](), dict[str, Any]()
    for n, (wrap, letters) in enumerate(elements, 1):
        of_wrap, numbers = _own(wrap, modules)
        vectors += [(element_name(v, n, letters), kind, letters[OWN.index(body)]) for v, kind, body in of_wrap]
        parameters += [(element_name(p, n, letters), unit) for p, unit in numbers]
        bounds |= {element_name(p, n, letters): modules[wrap].BOUNDS[p] for p, _ in numbers}
    places = {name: 3 * k for k, (name, *_) in enumerate(vectors)}
    places |= {name: 3 * len(vectors) + k for k, (name, _) in enumerate(parameters)}
    spans, within = list[Span](), list[tuple[int, int]]()
    for kind, letters, own in pieces_of(elements, modules):
        if kind == STRAIGHT and letters[0] == letters[1]:
            within.append((places[own["s_i"]], places[own["s_j"]]))
            continue
        module = modules[kind]
        at = [places[own[v]] + c for v, *_ in module.VECTORS for c in range(3)]
        at += [places[own[p]] for p, _ in module.PARAMETERS]
        spans.append(Span(module, tuple(map(LETTERS.index, letters)), tuple(at)))
    return Path(tuple(vectors), tuple(parameters), bounds, tuple(spans), tuple(within))


def pieces_of(elements: Sequence[Element], modules: Mapping[str, ModuleType]) -> Iterator[Piece]:
    """The parts of a path over these elements, from point to point."""
    points = [n for n, (wrap, _) in enumerate(elements) if not wrap]
    for n, m in zip(points, points[1:], strict=False):
        kind, letters = STRAIGHT, elements[n][1] + elements[m][1]
        names = {end: element_name(POINT, k + 1, elements[k][1]) for end, k in (("s_i", n), ("s_j", m))}
        for wrap, more in elements[n + 1 : m]:
            kind, letters = wrap, letters + more
            names |= {own: element_name(own, n + 2, more) for part in _own(wrap, modules) for own, *_ in part}
        yield Piece(kind, letters, names)


def _own(wrap: str, modules: Mapping[str, ModuleType]) -> tuple[Sequence[Any], Sequence[Any]]:
    """Vectors and parameters of an element, by the names of its module."""
    if not wrap:
        return [(POINT, "point", "k")], ()
    return [v for v in modules[wrap].VECTORS if v[2] in OWN], modules[wrap].PARAMETERS


def element_name(name: str, n: int, letters: str) -> str:
    """The name of a vector or parameter of element n of a path, on these bodies, such as "s_2_j", of l "s_2b_j", "radius_2"."""
    stem, _, body = name.rpartition("_")
    return (
        f"{stem}_{n}{'b' * (body == 'l')}_{letters[OWN.index(body)]}"
        if body in [*OWN[: len(letters)]]
        else f"{name}_{n}"
    )


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
        self.bodies = 2 if {body for span in path.spans for body in span.bodies} <= {0, 1} else MAX_BODIES
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
        first = 3 * len(path.vectors) + len(self.parameters)
        self.first_state = first + 3 * len(self.signals)
        self.given, self.initial = (first if driven else first - len(initial) - 1), first - len(initial)
        self.excitation = "excitation" if reflex else f"x[{self.given}]"
        self.measured = ["late_length", "late_speed"] if delayed else ["length", "speed"]
        self.size = self.first_state + len(self.states)

    def data(self) -> dict[str, Any]:
        """The facts that the runtime reads, as of any force."""
        vectors, parameters = self.path.vectors, self.parameters
        states = (self.law.STATES[k] for k in self.numbers if self.law.STATES[k] not in self.law.OUTPUTS)
        return {
            "NAME": self.name, "LAW": self.law.NAME, "KEYWORDS": (*(v for v, *_ in vectors), *(p for p, _ in parameters)),
            "VECTORS": vectors, "PARAMETERS": parameters,
            "BOUNDS": {**self.bounds, "excitation": EXCITATION},
            "BODIES": tuple(LETTERS[: self.bodies]), "HELD": 0, "ANGLES": 0, "SIGNALS": self.signals, "LOADS": 0,
            "LOADS_PLACE": self.first_state, "STATES": self.states, "STATES_PLACE": self.first_state, "TABLES": (),
            "TABLE_UNITS": {},
            "KINKS": sum(span.module.KINKS for span in self.path.spans) + self.law.KINKS[self.kernel] + self._bends,
            "OUTPUTS": (*OUTPUTS, *(one for one in self.law.OUTPUTS if one[0] != "energy"), *states), "TABLES_PLACE": self.size,
            "SIZE": self.size, "SINGULAR": "; or ".join(dict.fromkeys(s.module.SINGULAR for s in self.path.spans)),
        }  # fmt: skip

    def text(self) -> str:
        """The module."""
        count, states = self.bodies, len(self.states)
        every, own = [f"body_{letter}" for letter in LETTERS], [f"body_{letter}" for letter in LETTERS[:count]]
        outputs = REPORTS + len(self.data()["OUTPUTS"]) + states
        sizes = {body: "(13,)" for body in own} | {"x": f"({self.size},)"}
        kernels = [
            ("evaluate", "out", self._evaluated(), f"({outputs},)"),
            ("path", "out", self._paths(), f"({UNIT_WRENCH + WRENCH * count},)"),
            ("reference", "out", [f"out[{k}] = x[{self.initial + k}]" for k in range(states)], f"({states},)"),
        ]
        if self.data()["KINKS"]:
            kernels.append(("kinks", "out", self._kinks(), f"({self.data()['KINKS']},)"))
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
        names += [(f"{signal}, its rate, its second rate", 3) for signal in self.signals]
        names += [(state, 1) for state in self.states]
        lines, place = ["x, in this order:"], 0
        for name, width in names:
            lines.append(f"    x[{place}:{place + width}]  {name}")
            place += width
        return "\n".join(lines)

    def _spans(self, kernel: str, prefix: str) -> tuple[Lines, Lines]:
        """The lines of a kernel of all spans, before the loop over directions and in it; its results are "<prefix>0_0", ..."""
        found: tuple[Lines, Lines] = [], []
        for n, span in enumerate(self.path.spans):
            outputs = max(UNIT_WRENCH + WRENCH * len(span.bodies), span.module.KINKS)
            places = {
                "x": [f"x[{place}]" for place in span.places], "out": [f"{prefix}{n}_{k}" for k in range(outputs)],
                "seeds": [f"seeds[{BODY * body + k}, n]" for body in span.bodies for k in range(BODY)],
            }  # fmt: skip
            for own, body in zip(LETTERS, span.bodies, strict=False):
                places[f"body_{own}"] = [f"body_{LETTERS[body]}[{k}]" for k in range(STATE)]
            for into, lines in zip(found, inlined(span.module, kernel, f"{prefix}{n}_", places), strict=True):
                into += lines
        return found

    def _path(self) -> Lines:
        """Length of the path, its rate, and the unit wrenches of all spans."""
        lines, _ = self._spans("span", "span")
        lengths = [f"span{n}_0" for n in range(len(self.path.spans))]
        for n, (a, b) in enumerate(self.path.within):
            squares = " + ".join(f"(x[{a + c}] - x[{b + c}])**2" for c in range(3))
            lines.append(f"within{n} = math.sqrt({squares})")
            lengths.append(f"within{n}")
        speeds = [f"span{n}_1" for n in range(len(self.path.spans))]
        return [*lines, f"length = {' + '.join(lengths)}", f"speed = {' + '.join(speeds)}"]

    def _wrench(self, row: int, prefix: str) -> str:
        """A component of force and moment of a unit tension, the sum over the spans; of its derivatives with their prefix."""
        body, c = divmod(row, WRENCH)
        of = [(n, k) for n, span in enumerate(self.path.spans) for k, b in enumerate(span.bodies) if b == body]
        return " + ".join(f"{prefix}{n}_{UNIT_WRENCH + WRENCH * k + c}" for n, k in of) or "0.0"

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
        names |= {"tension": f"law_{TENSION}"}
        outputs += [f"law_{STORED}", f"slope_{STORED}", *(names[name] for name, _ in self.data()["OUTPUTS"]), *rates]
        return [*lines, *(f"out[{k}] = {e}" for k, e in enumerate(outputs))]

    def _paths(self) -> Lines:
        outputs = ["length", "speed", *(self._wrench(row, "span") for row in range(WRENCH * self.bodies))]
        return [*self._path(), *(f"out[{k}] = {e}" for k, e in enumerate(outputs))]

    def _kinks(self) -> Lines:
        kinks = [f"kink{n}_{k}" for n, span in enumerate(self.path.spans) for k in range(span.module.KINKS)]
        kinks += [f"kinks_{k}" for k in range(self.law.KINKS[self.kernel])]
        bends = [f"bends_{k}" for k in range(self._bends)]
        lines = [*self._excited(), *self._spans("kinks", "kink")[0], *self._law(f"{self.kernel}_kinks", "kinks_")[0]]
        lines += self._reflex("reflex_kinks", "bends_", bends)[0]
        kinks += bends
        return [*lines, *(f"out[{k}] = {kink}" for k, kink in enumerate(kinks))]

    def _tangent(self, states: int) -> Lines:
        """Derivatives of the wrenches, and with ``states`` of their rates."""
        along = {number: f"seeds[{BODY * self.bodies + k}, n]" for k, number in enumerate(self.numbers[:states])}
        moved = [along.get(k, "0.0") for k in range(len(self.law.STATES))]
        before, inside = self._spans("span_tangent", "moved")
        seeds = ["d_length", "d_speed", "d_excitation" if self.reflex else "0.0", *moved]
        of_law, inside_law = self._law(f"{self.kernel}_tangent", "slope_", seeds)
        for k, name in enumerate(("d_length", "d_speed")):
            inside.append(f"{name} = {' + '.join(f'moved{n}_{k}' for n in range(len(self.path.spans)))}")
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
    law, order = laws[law_of(name)], "".join("w" if wrap else "p" for wrap, _ in elements)
    if reflex := reflex_of(name):
        how |= {"reflex": own_reflexes[reflex], "delayed": name.partition(ALONG)[0].endswith(LATE)}
    together = len({*"".join(letters for _, letters in elements)}) < 2
    if together or not re.fullmatch("p(w?p)+", order) or how["rigid"] > law.RIGID:
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
        if found[1] is None and before[0] and len(before[1]) < len(SPANS[before[0]].BODIES) - 2:
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
    path = path_of(elements, SPANS)
    text = Muscle(name, law, path, rigid=rigid, driven=driven, reflex=reflex, delayed=delayed).text()
    folders = (module.__name__.rpartition(".")[0] for module in (law, reflex or law))
    return _module(f"{min(folders)}.{name}".lstrip("."), text)  # with an own law or reflex the muscle is an own one


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
