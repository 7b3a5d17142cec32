"""Proves that a motion satisfies the rows of its joint, from any pose that does, and derives where it determines the pose.

Rows, the unit length of directions and cos^2 + sin^2 = 1 are polynomials.  A polynomial vanishes in every admissible pose if it
is in the ideal of those of the pose from which the motion starts; Groebner bases decide that.

1. Phi after the motion vanishes.
2. The steps are 6 - rows in number, and the twist of each follows from the pose that the motion has reached.  A condition in
   terms of a pose therefore holds on the whole motion.
3. With D N = 0 for the twists N (6, coordinates) of body j, each minor of D is the complementary minor of N times one factor.
   The coordinates depend on each other where all minors of N vanish, the rows where the factor does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.polys.groebnertools import groebner
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyRing

from codegen.compiler.calculus import BODIES, Expr, Moving, Vector, vector
from codegen.compiler.derive import Derivation
from codegen.compiler.motion import CENTRE, Displacement, Motion, Place, Step, point_of, twists

DEGREES = 6  # of freedom of body j against body i
FRAME = ("xi_i", "eta_i", "zeta_i")
Polynomial = Any  # SymPy's PolyElement: the library ships no type hints
Solved = dict[Polynomial, Polynomial]  # values of generators


@dataclass(frozen=True)
class Dependence:
    """Where coordinates depend on each other, and where rows do although the coordinates do not; empty for nowhere."""

    coordinates: str
    rows: str


def prove(d: Derivation, motion: Motion) -> Dependence:
    """Prove the motion of a joint; returns the conditions under which its coordinates or the rows depend on each other.

    Raises
    ------
    DefinitionError
        Naming the joint and what fails.
    """
    error = motion.scope.error
    if motion.coordinates + len(d.rows) != DEGREES:
        raise error(
            f"it has {motion.coordinates} coordinates beside {len(d.rows)} rows; two bodies have {DEGREES} relative motions, so "
            f"it needs {DEGREES - len(d.rows)}"
        )
    if any(m.kind == "euler" for m in d.moving):
        raise error("the joint uses Euler parameters; write its rows with vectors of the bodies")
    poses = _Poses(d, motion)
    for row, value in zip(d.rows, poses.rows(poses.reached), strict=True):
        if not poses.vanishes(value):
            raise error(f"row '{row}' does not keep its value; the steps lead to poses that the rows do not allow")
    for name, differences in poses.twist_errors().items():
        if not all(map(poses.vanishes, differences)):
            raise error(
                f"'{name}' has an axis or a point of body i after steps that move it, or of body j before such steps; give the "
                "steps of body i first"
            )
    return _dependence(poses, motion)


class _Poses:
    """An arbitrary pose that satisfies the rows, and the pose to which the motion leads, in axes of body i.

    These axes may be chosen because rows do not change when both bodies move together.
    """

    def __init__(self, d: Derivation, motion: Motion) -> None:
        self.d, self.motion = d, motion
        centres = [Moving(f"r_{body}", "centre", body, vector(f"r_{body}")) for body in BODIES]
        self.quantities = {m.name: m for m in [*centres, *d.moving, *motion.scope.moving.values()]}
        parts = d.scope.spelt_out()
        rows, of_D = [phi.xreplace(parts) for phi in d.Phi], [e.xreplace(parts) for e in d.D[:, DEGREES:]]
        self.named = _of_constants([*rows, *of_D], [*d.scope.parameters.values(), *d.scope.held])
        self.constants = [*d.scope.parameters.values(), *d.scope.held, *self.named.values()]
        functions = [_symbols(name, step) for name, step in motion.steps.items()]
        components = [s for m in self.quantities.values() for s in m.symbols]
        self.ring = PolyRing([*components, *self.constants, *itertools.chain(*functions)], sp.QQ, sp.grevlex)
        self._rows = self.evaluable([e.xreplace(self.named) for e in rows])
        self._D = self.evaluable([e.xreplace(self.named) for e in of_D])

        self.solved: Solved = {}  # generators that linear relations determine
        place, relations = self._anywhere()
        relations += self._of_carried_vectors(place, relations)
        solved, left = _solved([*self.rows(place), *relations])
        self.solved, self.start = solved, {name: _replaced(v, solved) for name, v in place.items()}
        self.moves = [
            Displacement(step, self.start, tuple(map(self.ring, symbols)))
            for step, symbols in zip(motion.steps.values(), functions, strict=True)
        ]
        self.relations = [*left, *(move.relation for move in self.moves if move.relation is not None)]
        self.basis = self.basis_of(self.relations)
        self.reached = {name: self._moved(self.quantities[name], v) for name, v in self.start.items()}

    def evaluable(self, expressions: Sequence[Expr]) -> Any:
        """A function of polynomials, in place of the components and the constants, that evaluates expressions."""
        symbols = [s for m in self.quantities.values() for s in m.symbols]
        if not all(sp.sympify(e).is_polynomial(*symbols, *self.constants) for e in expressions):
            raise self.motion.scope.error(
                "the rows are no polynomials of vectors; a proof needs sums and products of them"
            )
        return sp.lambdify([*symbols, *self.constants], expressions, "math")

    def rows(self, place: Place) -> list[Polynomial]:
        """The rows in a pose."""
        return self._at(self._rows, place)

    def D(self, place: Place) -> list[list[Polynomial]]:
        """The columns of D for body j in a pose, by rows."""
        entries = self._at(self._D, place)
        return [entries[k : k + DEGREES] for k in range(0, len(entries), DEGREES)]

    def _at(self, function: Any, place: Place) -> list[Polynomial]:
        constants = [self.solved.get(self.ring(c), self.ring(c)) for c in self.constants]
        components = [part for name in self.quantities for part in place[name]]
        return [self.ring(0) + value for value in function(*components, *constants)]

    def basis_of(self, relations: Sequence[Polynomial]) -> list[Polynomial]:
        """A Groebner basis of polynomials."""
        return groebner([e for e in relations if e != 0], self.ring) if any(e != 0 for e in relations) else []

    def vanishes(self, polynomial: Polynomial) -> bool:
        """Whether a polynomial vanishes in every admissible pose."""
        return bool(self.reduced(polynomial) == 0)

    def reduced(self, polynomial: Polynomial) -> Polynomial:
        """The normal form of a polynomial among those that are equal in every admissible pose."""
        return polynomial.rem(self.basis) if self.basis else polynomial

    def _reduced(self, v: Vector) -> Vector:
        return Vector(*map(self.reduced, v))

    def _moved(self, m: Moving, value: Vector, steps: int | None = None) -> Vector:
        """A vector, or the point of a centre, of body j after the motion, or after its first steps."""
        if m.body == "i":
            return value
        for move in reversed(self.moves[:steps]):  # the first step moves the axes of the others
            value = self._reduced(move.moved(value) if m.kind == "centre" else move.turned(value))
        return value

    def twist_errors(self) -> dict[str, list[Polynomial]]:
        """By coordinate: differences of its twist from that of its axis in the pose that is reached."""
        found, about = {}, self.reached["r_j"]
        for k, (name, step) in enumerate(self.motion.steps.items()):
            as_moved = dict(self.reached)
            for m in (step.axis, step.point):
                if m is not None:
                    as_moved[m.name] = self._moved(Moving(m.name, "direction", "j", None), self.start[m.name], k)
            if step.point is not None:
                centre = self._moved(Moving("", "centre", "j", None), point_of(step, self.start), k)
                as_moved[step.point.name] = centre - as_moved[f"r_{step.point.body}"]
            if step.about_centre:
                as_moved[CENTRE] = self._moved(Moving("", "centre", "j", None), self.start[CENTRE], k)
            pairs = zip(twists(step, as_moved, about), twists(step, self.reached, about), strict=True)
            found[name] = [a - b for moved, now in pairs for a, b in zip(moved, now, strict=True)]
        return found

    def _anywhere(self) -> tuple[dict[str, Vector], list[Polynomial]]:
        """Vectors of two bodies in any pose, in axes of body i one of whose directions is the z axis, and their relations."""
        unit = [Vector(*(self.ring(int(k == c)) for c in range(3))) for k in range(3)]
        aligned = dict(zip(_aligned(list(self.quantities.values())), unit, strict=False))
        # The origin is the first point of body i, and r_j is stated by the first point of body j: the same poses in fewer terms.
        points = {m.body: Vector(*map(self.ring, m.symbols)) for m in reversed(self.d.moving) if m.kind == "point"}
        none = Vector(*[self.ring(0)] * 3)
        place = {"r_i": none - points.get("i", none)}
        place["r_j"] = Vector(*map(self.ring, self.quantities["r_j"].symbols)) - points.get("j", none)
        relations: list[Polynomial] = []
        for m in sorted(self.quantities.values(), key=lambda m: m.kind.startswith("across")):
            if m.name in place:
                continue
            place[m.name] = aligned.get(m.name) or Vector(*map(self.ring, m.symbols))
            if m.name in aligned or m.kind in ("centre", "point"):
                continue
            owner = m.kind.partition(":")[2]
            if m.kind.startswith("across2"):
                place[m.name] = place[owner].cross(place[f"across1_{owner}"])
                continue
            relations.append(place[m.name].dot(place[m.name]) - 1)
            if m.kind.startswith("across1"):
                relations.append(place[m.name].dot(place[owner]))
        frame = [place[name] for name in ("xi_j", "eta_j", "zeta_j") if name in place]
        relations += [a.dot(b) for a, b in itertools.combinations(frame, 2)]
        return place, relations

    def _of_carried_vectors(self, place: Place, relations: Sequence[Polynomial]) -> list[Polynomial]:
        """Scalar products of carried vectors with others of their body that the rows fix in the reference configuration."""
        parts = self.d.scope.spelt_out()
        values = {name: [sp.sympify(e).xreplace(parts) for e in v] for name, v in self.d.scope.carried.items()}
        if not values:
            return []
        carried = {name: Vector(*self._at(self.evaluable(v), place)) for name, v in values.items()}
        reference = {**place, **carried}
        own = {self.ring(s) for name in carried for s in self.quantities[name].symbols}
        others = [e for e in relations if not any(e.degree(generator) > 0 for generator in own)]
        solved, left = _solved([*self.rows(reference), *others])
        basis = self.basis_of(left)
        found = []
        directions = [m for m in self.d.moving if m.kind not in ("centre", "point")]
        for m, other in itertools.combinations(directions, 2):
            if m.body == other.body and {m.name, other.name} & carried.keys():
                a, b = (_replaced(reference[name], solved) for name in (m.name, other.name))
                product = a.dot(b).rem(basis) if basis else a.dot(b)
                if product.is_ground:
                    found.append(place[m.name].dot(place[other.name]) - product)
        return found


def _symbols(name: str, step: Step) -> list[Expr]:
    """Symbols of the coordinate of a step, as ``Displacement`` takes them."""
    stems = {"slide": ("q_{}",), "turn": ("cos_{}", "sin_{}"), "ball": ("{}_0", "{}_1", "{}_2", "{}_3")}[step.kind]
    return [sp.Dummy(stem.format(name), real=True) for stem in stems]


def _of_constants(expressions: Sequence[Expr], constants: Sequence[Expr]) -> dict[Expr, Expr]:
    """Functions of constants alone that are no polynomials, such as cosines of parameters, and constants in place of them."""
    known = set(constants)
    found: set[Expr] = set()

    def search(e: Expr) -> None:
        if (
            e.free_symbols
            and e.free_symbols <= known
            and isinstance(e, (sp.Function, sp.Pow))
            and not e.is_polynomial(*known)
        ):
            found.add(e)
            return
        for part in e.args:
            search(part)

    for e in expressions:
        search(sp.sympify(e))
    return {e: sp.Dummy(str(e), real=True) for e in sorted(found, key=sp.default_sort_key)}


def _aligned(quantities: Sequence[Moving]) -> tuple[str, ...]:
    """The vectors of body i that may be chosen as coordinate axes x, y, z."""
    of_i = [m for m in quantities if m.body == "i"]
    if any(m.name in FRAME for m in of_i):
        return FRAME
    tangents = [m.kind.partition(":")[2] for m in of_i if m.kind.startswith("across")]
    directions = [m.name for m in of_i if m.kind == "direction"]
    return tuple(prefix + a for a in (tangents or directions)[:1] for prefix in ("across1_", "across2_", ""))


def _solved(equations: Sequence[Polynomial]) -> tuple[Solved, list[Polynomial]]:
    """Generators that equations with a constant factor of them determine, in terms of the others; and the other equations."""
    solved: Solved = {}
    left, position = [e for e in equations if e != 0], 0
    while position < len(left):
        e = left[position]
        generator = next((x for x in e.ring.gens if e.degree(x) == 1 and e.diff(x).is_ground), None)
        if generator is None:
            position += 1
            continue
        value = generator - e * (1 / e.diff(generator).LC)
        solved = {x: v.compose(generator, value) for x, v in solved.items()} | {generator: value}
        left = [e for e in (e.compose(generator, value) for e in left) if e != 0]
        position = 0
    return solved, left


def _replaced(v: Vector, solved: Solved) -> Vector:
    pairs = list(solved.items())
    return Vector(*(part.compose(pairs) if pairs else part for part in v))


def _dependence(poses: _Poses, motion: Motion) -> Dependence:
    """Where all minors of N vanish, and where the factor between complementary minors of D and N does."""
    steps = list(motion.steps.values())
    turning = [step for step in steps if step.point]
    centre = poses.start["r_j"]
    about = point_of(turning[-1], poses.start) if turning else centre  # as good as the centre, and shorter
    N = list(zip(*(t for step in steps for t in twists(step, poses.start, about)), strict=True)) or [()] * DEGREES
    D = []
    for row in poses.D(poses.start):
        force, moment = Vector(*row[:3]), Vector(*row[3:])
        D.append([*force, *(moment + force.cross(about - centre))])
    pairs: list[tuple[Polynomial, Polynomial]] = []  # complementary minors of N and D
    for chosen in itertools.combinations(range(DEGREES), motion.coordinates):
        others = [k for k in range(DEGREES) if k not in chosen]
        minor = poses.reduced(_determinant(poses.ring, [N[k] for k in chosen]))
        of_rows = poses.reduced(_determinant(poses.ring, [[row[k] for k in others] for row in D]))
        if minor != 0:
            pairs.append((minor, of_rows * (-1) ** sum(chosen)))
    if not pairs:
        raise motion.scope.error(
            "its coordinates depend on each other in every pose; leave out those that repeat others"
        )
    named = _named_vectors(poses, steps)
    factor = _factor(poses, pairs)
    rows = (
        "the rows depend on each other"
        if factor is None
        else _where_vanishes(poses, factor, named | _further_vectors(poses))
    )
    return Dependence(_where_all_vanish(poses, [minor for minor, _ in pairs], named), rows)


def _factor(poses: _Poses, pairs: Sequence[tuple[Polynomial, Polynomial]]) -> Polynomial | None:
    """The factor between pairs of minors: the quotient of one pair, or of sums over all; None if no division is exact."""
    squares = poses.reduced(sum((minor * minor for minor, _ in pairs), poses.ring(0)))
    products = poses.reduced(sum((minor * of_rows for minor, of_rows in pairs), poses.ring(0)))
    for divisor, dividend in (*pairs, (squares, products)):
        quotient, rest = divmod(dividend, divisor)
        if rest == 0:
            return quotient
    return None


def _determinant(ring: Any, matrix: Sequence[Sequence[Polynomial]]) -> Polynomial:
    n = len(matrix)
    return DomainMatrix([list(row) for row in matrix], (n, n), ring.to_domain()).det() if n else ring(1)


def _named_vectors(poses: _Poses, steps: Sequence[Step]) -> dict[str, Vector]:
    """The axes of the steps, and the vectors d between points of body i and of body j, by name."""
    axes = {step.axis.name: poses.start[step.axis.name] for step in steps if step.axis}
    points = {step.point.name: step for step in steps if step.point}
    at = {name: point_of(step, poses.start) for name, step in points.items()}
    pairs = [(a, b) for a, b in itertools.combinations(at, 2) if a[-1] != b[-1]]
    between = {("d" if len(pairs) == 1 else f"d({a}, {b})"): at[b] - at[a] for a, b in pairs}
    return axes | {name: d for name, d in between.items() if not all(map(poses.vanishes, d))}


def _further_vectors(poses: _Poses) -> dict[str, Vector]:
    """The directions of the rows, and the vectors between points of one body, by name."""
    points = [m for m in poses.d.moving if m.kind == "point"]
    pairs = [(a.name, b.name) for a, b in itertools.combinations(points, 2) if a.body == b.body]
    directions = {m.name: poses.start[m.name] for m in poses.d.moving if m.kind in ("direction", "frame")}
    return directions | {f"({b} - {a})": poses.start[b] - poses.start[a] for a, b in pairs}


def _where_all_vanish(poses: _Poses, minors: Sequence[Polynomial], named: Mapping[str, Vector]) -> str:
    """The condition under which polynomials all vanish, in terms of cross products of named vectors; empty for never."""
    there = poses.basis_of([*poses.relations, *minors])
    if there == [1]:
        return ""
    implied: list[str] = []
    components: list[Polynomial] = []
    for (a, u), (b, v) in itertools.combinations(named.items(), 2):
        product = list(u.cross(v))
        if all(e.rem(there) == 0 for e in product) and not all(map(poses.vanishes, product)):
            implied.append(f"{a} x {b} = 0")
            components += product
            basis = poses.basis_of([*poses.relations, *components])
            if all(minor.rem(basis) == 0 for minor in minors):
                return " and ".join(implied)
    return "the axes of its coordinates depend on each other"


def _where_vanishes(poses: _Poses, factor: Polynomial, named: Mapping[str, Vector]) -> str:
    """The condition under which a polynomial vanishes, in terms of products of named vectors; empty for never."""
    if poses.basis_of([*poses.relations, factor]) == [1]:
        return ""
    found = []
    for part, _ in factor.factor_list()[1]:
        of_constants = part.as_expr().xreplace({dummy: e for e, dummy in poses.named.items()})
        if not part.as_expr().free_symbols <= set(poses.constants):
            same = (text for text, value in _products(named) if poses.reduced(value).monic() == part.monic())
            found.append(next(same, None))
        elif sp.fraction(of_constants)[0].free_symbols:
            found.append(str(of_constants))
    return " or ".join(f"{text} = 0" for text in found) if None not in found else "the rows depend on each other"


def _products(named: Mapping[str, Vector]) -> Iterator[tuple[str, Polynomial]]:
    """Scalar and triple products of vectors, by their texts."""
    for (a, u), (b, v) in itertools.combinations_with_replacement(named.items(), 2):
        yield f"{a} . {b}", u.dot(v)
    for (a, u), (b, v), (c, w) in itertools.combinations(named.items(), 3):
        yield f"({a} x {b}) . {c}", u.cross(v).dot(w)
