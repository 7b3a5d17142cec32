"""Motion of the steps of a tree, as nodes of an expression graph: turns, slides, balls and free steps.

Vectors are in global axes.  A ball has Euler parameters of its turn in the axes of what carries it, and the relative angular
velocity in those of what it carries; a free step also has its displacement and velocity, first.  Euler parameters may have any
length.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from codegen.compiler.recorded_algebra import Matrix, Vector, add, cross, times
from codegen.compiler.sine import cosine_and_sine
from codegen.compiler.trace import Node, Record, dot
from codegen.compiler.tree_equations import OF_GRAVITY, OF_STEP

COORDINATES = {"turn": 1, "slide": 1, "ball": 4, "free": 7}
RATES = {"turn": 1, "slide": 1, "ball": 3, "free": 6}


class Rate(NamedTuple):
    """A rate of a step: a velocity, or an angular velocity, of 1 along an axis."""

    slides: bool
    axis: Vector

    def along(self, linear: Vector, angular: Vector) -> Node:
        """The component of a force and a moment, or of a momentum."""
        found: Node = dot(self.axis, linear if self.slides else angular)
        return found


class Frame(NamedTuple):
    """What a step moves: rotation since the reference configuration, place, velocities, accelerations without u'."""

    A: Matrix
    r: Vector
    omega: Vector
    v: Vector
    alpha: Vector
    a: Vector
    way: Vector  # from the point of the step before
    rates: list[Rate]
    p: Vector  # Euler parameters, of any length; none where they are not asked for

    def carried(self, way: Vector) -> tuple[Vector, Vector, Vector]:
        """Place, velocity and acceleration of a point that is fixed in it, ``way`` from its point."""
        at_way = cross(self.omega, way)
        a = add(add(self.a, cross(self.alpha, way)), cross(self.omega, at_way))
        return add(self.r, way), add(self.v, at_way), a


class TreeMotion:
    """The frames of all steps for coordinates and rates of a tree.

    Parameters
    ----------
    kinds, parents : sequences
        Of the steps; parent -1: the ground.
    parameters : list of Node
        Gravity, then those of the steps, as of ``TreeEquations``.
    state : list of Node
        Coordinates, then rates.
    trigonometry : sequence of pairs
        Of each step cosine and sine of a turn.
    poses : bool
        Whether Euler parameters are asked for.
    """

    def __init__(
        self, record: Record, kinds: Sequence[str], parents: Sequence[int], parameters: Vector, state: Vector,
        trigonometry: Sequence[tuple[Node, Node]], *, poses: bool = False,
    ) -> None:  # fmt: skip
        self.kinds, self.parents, self.parameters, self.poses = kinds, parents, parameters, poses
        self.zero, self.one = record.constant(0.0), record.constant(1.0)
        zeros = [self.zero] * 3
        self.identity = [[self.one if a == b else self.zero for b in range(3)] for a in range(3)]
        p = [self.one, *zeros] if poses else []
        self.ground = Frame(self.identity, zeros, zeros, zeros, zeros, zeros, zeros, [], p)
        self.q, self.u = places_of(kinds)
        self.frames: list[Frame] = []
        for k in range(len(kinds)):
            q, u = state[self.q[k] : self.q[k + 1]], state[self.u[k] : self.u[k + 1]]
            self.frames.append(self._moved(k, q, u, trigonometry[k]))

    def frame(self, step: int) -> Frame:
        """Of a step, or of the ground."""
        return self.ground if step < 0 else self.frames[step]

    def _moved(self, k: int, q: Vector, u: Vector, trigonometry: tuple[Node, Node]) -> Frame:
        """The frame of step k with coordinates q and rates u."""
        kind, b, first = self.kinds[k], self.frame(self.parents[k]), OF_GRAVITY + OF_STEP * k
        e, ahead = self.parameters[first : first + 3], self.parameters[first + 3 : first + 6]
        if kind in ("ball", "free"):
            return self._freely_turned(kind, b, times(b.A, ahead), q, u)
        axis, way = times(b.A, e), times(b.A, ahead)
        rate = [u[0] * x for x in axis]
        turning = kind == "turn"
        if not turning:
            way = [x + q[0] * y for x, y in zip(way, axis, strict=True)]
        r, v, a = b.carried(way)
        gained = cross(b.omega, rate)
        if turning:
            p = euler_product(b.p, _of_turn(e, q[0])) if self.poses else []
            A = matrix_product(b.A, turn(e, *trigonometry))
            return Frame(A, r, add(b.omega, rate), v, add(b.alpha, gained), a, way, [Rate(False, axis)], p)
        a = add(a, [2.0 * x for x in gained])
        return Frame(b.A, r, b.omega, add(v, rate), b.alpha, a, way, [Rate(True, axis)], b.p)

    def _freely_turned(self, kind: str, b: Frame, way: Vector, q: Vector, u: Vector) -> Frame:
        """The frame of a ball or of a free step, which the ground carries."""
        A = matrix_product(b.A, rotation(q[-4:], self.one))
        rates = [Rate(False, [A[r][c] for r in range(3)]) for c in range(3)]
        if kind == "free":
            slides = [Rate(True, [b.A[r][c] for r in range(3)]) for c in range(3)]
            way, rates = add(way, q[:3]), slides + rates
        r, v, a = b.carried(way)
        if kind == "free":
            v = add(v, u[:3])
        rate = times(A, u[-3:])
        p = euler_product(b.p, q[-4:]) if self.poses else []
        alpha = add(b.alpha, cross(b.omega, rate))
        return Frame(A, r, add(b.omega, rate), v, alpha, a, way, rates, p)

    def along(self, last: int, arm: Vector, linear: Vector, angular: Vector, to: Vector) -> None:
        """Add a force and a moment, at ``arm`` from the point of a step that moves it, to those along the coordinates ``to``."""
        k = last
        while k >= 0:
            frame, first = self.frames[k], self.u[k] - self.u[0]
            moment = angular
            if not all(rate.slides for rate in frame.rates):
                way = [r - p + a for r, p, a in zip(self.frames[last].r, frame.r, arm, strict=True)]
                moment = add(cross(way, linear), angular)
            for c, rate in enumerate(frame.rates):
                to[first + c] = to[first + c] + rate.along(linear, moment)
            k = self.parents[k]


def places_of(kinds: Sequence[str]) -> tuple[list[int], list[int]]:
    """Where coordinates and rates of each step begin in a state, and where those of the last one end."""
    q = [0, *accumulate(COORDINATES[kind] for kind in kinds)]
    return q, [q[-1] + before for before in (0, *accumulate(RATES[kind] for kind in kinds))]


def matrix_product(A: Matrix, B: Matrix) -> Matrix:
    """The product of two matrices."""
    return [[dot(row, [B[k][c] for k in range(3)]) for c in range(3)] for row in A]


def turn(e: Vector, cosine: Node, sine: Node) -> Matrix:
    """Rotation matrix of a turn about the unit vector e."""
    one = e[0].record.constant(1.0)
    across = [[cosine * ((one if a == b else 0.0) - e[a] * e[b]) + e[a] * e[b] for b in range(3)] for a in range(3)]
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        across[a][b] = across[a][b] - sine * e[c]
        across[b][a] = across[b][a] + sine * e[c]
    return across


def rotation(p: Vector, one: Node) -> Matrix:
    """Rotation matrix of Euler parameters of any length."""
    e0, e = p[0], p[1:]
    s = 2.0 / dot(p, p)
    A = [[s * (e[a] * e[b]) for b in range(3)] for a in range(3)]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        A[a][a] = one - s * (e[b] * e[b] + e[c] * e[c])
        A[a][b] = s * (e[a] * e[b] - e0 * e[c])
        A[b][a] = s * (e[a] * e[b] + e0 * e[c])
    return A


def euler_product(p: Vector, f: Vector) -> Vector:
    """Euler parameters of the turn f followed by the turn p."""
    turned = add(add([p[0] * x for x in f[1:]], [f[0] * x for x in p[1:]]), cross(p[1:], f[1:]))
    return [p[0] * f[0] - dot(p[1:], f[1:]), *turned]


def _of_turn(e: Vector, angle: Node) -> Vector:
    """Euler parameters of a turn about the unit vector e."""
    cosine, sine = cosine_and_sine(0.5 * angle)
    return [cosine, *(sine * x for x in e)]
