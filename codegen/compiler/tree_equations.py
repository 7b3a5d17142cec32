"""The equations of motion of a tree in the coordinates of its joints, as nodes of an expression graph.

Each step of the tree (``turn`` or ``slide``) moves all that lies beyond it.  Mass matrix M and potential V are polynomials in the
coordinates, cosines and sines, whose coefficients depend on parameters alone:

    M u' + (sum_j u_j dM/dq_j) u - 1/2 d(u^T M u)/dq + dV/dq = Q

Vectors are in the axes of the body that a step moves, which are those of the ground in the reference configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp

from codegen import laws, limits
from codegen.compiler.calculus import Vector as Vector3
from codegen.compiler.errors import NoKernelError
from codegen.compiler.polynomials import Polynomial, Ring
from codegen.compiler.recorded_algebra import Elimination, Matrix, Vector, add, cross
from codegen.compiler.sine import Trigonometry, cosine_and_sine
from codegen.compiler.trace import Node, Record

P3 = list[Polynomial]
OF_STEP = 16  # parameters of a step: axis (3), way from the point of the step before (3), mass, moment (3), inertia (6)
OF_GRAVITY = 3
OF_LIMIT = ("a", "b", "c", "d")
# Terms of the mass matrix, or of a vector: beyond it a recursion is faster, and the polynomials take minutes.
MAX_TERMS = 1000
UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # components of an inertia, in order


@dataclass
class Carried:
    """Mass, moment and inertia about the point of a step, of all that it carries."""

    mass: Node
    moment: P3
    inertia: list[P3]


class TreeEquations:
    """The polynomials of a tree; ``parents``: the step that carries each, -1 for the ground.

    Raises
    ------
    NoKernelError
        For trees whose equations are too large.
    """

    def __init__(
        self, record: Record, kinds: Sequence[str], parents: Sequence[int], parameters: Sequence[Node] | None = None
    ) -> None:
        self.record, self.kinds, self.parents = record, tuple(kinds), tuple(parents)
        self.ring = Ring(kinds, record.constant(1.0))
        n = len(kinds)
        p = parameters or [record.input(f"p[{k}]") for k in range(OF_GRAVITY + OF_STEP * n)]
        self.gravity = list(p[:OF_GRAVITY])
        own = [list(p[OF_GRAVITY + OF_STEP * k : OF_GRAVITY + OF_STEP * (k + 1)]) for k in range(n)]
        constant = self.ring.constant
        self.axis = [[constant(a) for a in p[:3]] for p in own]
        self.way = [[constant(a) for a in p[3:6]] for p in own]
        self.carried = [
            Carried(p[6], [constant(a) for a in p[7:10]], _symmetric([constant(a) for a in p[10:16]])) for p in own
        ]
        self.M: dict[tuple[int, int], Polynomial] = {}
        self.V = Polynomial(self.ring, {})
        for k in reversed(range(n)):
            self._row(k)
            self._refuse_many_terms(self.M.values())
            self._carry(k)

    def _row(self, k: int) -> None:
        """The entries of M of step k and of those that carry it: the momentum of a unit rate, from axes to axes."""
        e, c = self.axis[k], self.carried[k]
        if self.kinds[k] == "turn":
            linear, angular = cross(e, c.moment), [_dot(row, e) for row in c.inertia]
        else:
            linear, angular = [a.times(c.mass) for a in e], cross(c.moment, e)
        self.M[k, k] = self._along(k, linear, angular)
        j = k
        while self.parents[j] >= 0:
            linear, angular = self._turned(j, linear), self._turned(j, angular)
            angular = add(angular, cross(self._place(j), linear))
            j = self.parents[j]
            self.M[j, k] = self._along(j, linear, angular)

    def _along(self, k: int, linear: P3, angular: P3) -> Polynomial:
        return _dot(self.axis[k], linear if self.kinds[k] == "slide" else angular)

    def _carry(self, k: int) -> None:
        """Add what step k carries to the step before, or to the potential."""
        c, parent, way = self.carried[k], self.parents[k], self._place(k)
        moment = self._turned(k, c.moment)
        if parent < 0:
            for g, h, w in zip(self.gravity, moment, way, strict=True):
                self.V = self.V - (h + w.times(c.mass)).times(g)
            return
        columns = [self._turned(k, [row[b] for row in c.inertia]) for b in range(3)]
        turned = [self._turned(k, [columns[b][a] for b in range(3)]) for a in range(3)]
        to, across, square = self.carried[parent], _dot(way, moment), _dot(way, way)
        for a, b in UPPER:
            more = turned[a][b] - way[a] * moment[b] - moment[a] * way[b] - (way[a] * way[b]).times(c.mass)
            if a == b:
                more = more + across.times(2.0) + square.times(c.mass)
            to.inertia[a][b] = to.inertia[b][a] = to.inertia[a][b] + more
        to.moment = [h + m + w.times(c.mass) for h, m, w in zip(to.moment, moment, way, strict=True)]
        to.mass = to.mass + c.mass

    def _place(self, k: int) -> P3:
        """The way from the point of the step before to that of step k."""
        if self.kinds[k] == "turn":
            return self.way[k]
        q = self.ring.variable(k)
        return [w + q * a for w, a in zip(self.way[k], self.axis[k], strict=True)]

    def _turned(self, k: int, v: P3) -> P3:
        """A vector in the axes before step k."""
        if self.kinds[k] == "slide":
            return v
        e, c, s = self.axis[k], self.ring.variable(k), self.ring.variable(k, 1)
        along = _dot(e, v)
        kept = [a * along for a in e]
        turned = [p + c * (a - p) + s * b for p, a, b in zip(kept, v, cross(e, v), strict=True)]
        self._refuse_many_terms(turned)
        return turned

    def _refuse_many_terms(self, polynomials: Iterable[Polynomial]) -> None:
        if sum(len(one.terms) for one in polynomials) > MAX_TERMS:
            raise NoKernelError(
                f"a tree of {len(self.kinds)} steps has equations of more than {MAX_TERMS} terms in its own coordinates"
            )

    def accelerations(self, q: Vector, u: Vector, Q: Vector) -> tuple[Vector, Node]:
        """The derivatives of the rates u at coordinates q, and the sum of the squares of (diagonal entry / pivot) of M.

        Q: applied forces along the coordinates.
        """
        zero = self.record.constant(0.0)
        M, right = self.equations(self.variables(q), u, Q)
        elimination = Elimination(M)
        found = elimination.solution(elimination.half(right))
        return found, elimination.worst() + zero

    def variables(self, q: Vector, trigonometry: Trigonometry = cosine_and_sine) -> list[tuple[Node, Node]]:
        """Of each step cosine and sine, or the coordinate twice."""
        return [trigonometry(x) if kind == "turn" else (x, x) for kind, x in zip(self.kinds, q, strict=True)]

    def equations(self, variables: Sequence[tuple[Node, Node]], u: Vector, Q: Vector) -> tuple[Matrix, Vector]:
        """The matrix M and the right-hand side of M u' = right, at rates u with applied forces Q along the coordinates."""
        n = len(u)
        M = [[self.M.get((min(i, j), max(i, j)), Polynomial(self.ring, {})) for j in range(n)] for i in range(n)]
        right = []
        for k in range(n):
            force = Q[k] - self.V.slope(k).value(variables)
            for i in range(n):
                for j in range(i, n):
                    factor = self._coefficient(M, k, i, j, variables)
                    force = force - factor * (u[i] * u[j])
            right.append(force)
        return [[entry.value(variables) for entry in row] for row in M], right

    def _coefficient(self, M: list[P3], k: int, i: int, j: int, variables: Sequence[tuple[Node, Node]]) -> Node:
        """The factor of u_i u_j, i <= j, in the equation of coordinate k."""
        total: dict[tuple[int, int, int], float] = {}

        def add(by: int, a: int, b: int, factor: float) -> None:
            entry = (by, min(a, b), max(a, b))
            total[entry] = total.get(entry, 0.0) + factor

        add(j, k, i, 1.0)
        if i == j:
            add(k, i, i, -0.5)
        else:
            add(i, k, j, 1.0)
            add(k, i, j, -1.0)
        node = self.record.constant(0.0)
        for (by, a, b), factor in total.items():
            if factor:
                node = node + M[a][b].slope(by).value(variables) * factor
        return node


def moment_of_limit(record: Record, k: int, q: Node, u: Node) -> tuple[Node, list[Node]]:
    """The moment along a coordinate q with the rate u of limit k, which restrains it, and the limit's constants.

    The constants a, b, c, d: relative excess x = a q + b, 1 beyond the end of the law; c the largest moment, with the sign that q
    has outside, 0 for an inactive limit; damping d.
    """
    a, b, c, d = constants = [record.input(f"limit {k}: {name}") for name in OF_LIMIT]
    x, rate, damping = sp.symbols("x rate damping")
    e, zeta, of_j = (Vector3(*sp.symbols(f"{name}:3")) for name in ("e", "zeta", "u"))
    dissipation = limits.hinge(e, zeta, of_j, 0, 0, damping, lambda _: rate)["dissipation"]
    rise = sp.lambdify([x], sp.horner(sp.diff(laws.cubic(x), x)), modules=[])
    drag = sp.lambdify([damping, rate], sp.diff(dissipation, rate), modules=[])
    return -(c * rise(a * q + b)) - drag(d, u), constants


def _symmetric(six: P3) -> list[P3]:
    xx, xy, xz, yy, yz, zz = six
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _dot(a: P3, b: P3) -> Polynomial:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
