"""Forces that depend on the reaction of their joint, in lanes: ``runtime.dynamics.joint_loads`` on the recursion of a tree.

The reaction of a joint is what its first step passes on, by the inertia and the force that ``runtime.dynamics.recursion`` finds
there.  The motion that a load of 1 N causes is a pass of that recursion with its force alone, by the same pivots.  Lanes where
the loads are not unique, or not found, get a ``worst`` that is not a number; their cases are run alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from runtime.dynamics import recursion
from runtime.dynamics.joint_loads import ACCEPTED, CONVERGED, MAX_ITERATIONS, REACTION
from runtime.dynamics.layout import GROUND_INDEX
from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN
from runtime.integrate.written.acting_forces import ActingKernel, ActingReaction
from runtime.integrate.written.placed_bodies import NONE, Body
from runtime.integrate.written.tree_forces import SUFFIXES, ForcesOnSteps
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Number
from runtime.lanes.needed_outputs import call_for
from runtime.lanes.vector_formulas import with_vectors

move_along, turn_freely = with_vectors(recursion.move_along), with_vectors(recursion.turn_freely)
cross, dot, minus, plus, plus_times, times, times_symmetric, transposed_times = (
    python_code(getattr(recursion, name))
    for name in ("cross", "dot", "minus", "plus", "plus_times", "times", "times_symmetric", "transposed_times")
)
Three = Any  # a vector of three numbers
OF_WRENCH, OF_SIZE = 12, 1 + REACTION  # outputs of kernels for each load: on bodies i and j; the load, and its slopes


class JointLoads:
    """The instructions for the normal loads of all forces that depend on reactions, after the recursion without them.

    forces : the others, which are on the steps
    equations : ``data``, ``poses`` and ``memory`` of the recursion
    carried : of the first steps of the joints, before their rates are eliminated: J, H, M, n_0 and f_0
    """

    def __init__(self, forces: ForcesOnSteps, equations: Any, carried: dict[int, Any]) -> None:
        self.forces, self.at, self.code, self.carried = forces, forces.at, forces.code, carried
        self.t, self.s, self.w = equations.data, equations.poses, equations.memory
        self.kernels = [(k, self.at.acting.forces[k]) for k in self.at.acting.reactive]
        self.x = [forces.numbers("force", k, kernel) for k, kernel in self.kernels]

    def add_to(self, z_dot: dict[int, Number]) -> ir.Value:
        """Add what the loads change of the derivatives of the rates, by row, and their power; in which lanes they are unique."""
        base = []
        for _, kernel in self.kernels:
            k = _reaction_of(kernel).step
            *_, n, f = self.carried[k]
            base.append(self._reaction(kernel, n, f, self.w.alpha[k], self.w.a[k]))
        wrenches, rates, feed = [], [], []
        for x, (_, kernel) in zip(self.x, self.kernels, strict=True):
            for wrench in self._wrenches(kernel, x):
                own, by_load = self._respond([self.at.bodies[b] for b in kernel.bodies[:2]], wrench)
                wrenches.append((kernel, wrench))
                rates.append(own)
                feed.append(by_load)
        unique = self._refuse_feedback(feed)
        loads, found = self._find(base, feed)
        for load, own, (kernel, wrench) in zip(loads, rates, wrenches, strict=True):
            for row, rate in own.items():
                z_dot[row] = z_dot[row] + load * rate
            for side, b in enumerate(kernel.bodies[:2]):
                body, Q = self.at.bodies[b], wrench[6 * side : 6 * side + 6]
                self.forces.power = self.forces.power + load * (dot(Q[:3], body.v) + dot(Q[3:], body.omega))
        return self.code.builder.and_(unique, found)

    def _call(self, kernel: ActingKernel, name: str, x: list[Number], outputs: Sequence[int]) -> list[Number]:
        """Outputs of a kernel."""
        of = python_code(getattr(kernel.module, name))
        given = {f"body_{s}": self.at.bodies[b] for s, b in zip(SUFFIXES, kernel.bodies, strict=False)} | {"x": x}
        names = of.__code__.co_varnames[: of.__code__.co_argcount - 1]
        found = call_for(kernel.module, name, outputs, self.forces.functions, *(given[name] for name in names))
        return [found[k] for k in outputs]

    def _wrenches(self, kernel: ActingKernel, x: list[Number]) -> list[list[Number]]:
        """Force and moment on bodies i and j by each load."""
        loads = _reaction_of(kernel).loads
        found = self._call(kernel, "load_wrenches", x, range(OF_WRENCH * loads))
        return [found[OF_WRENCH * n : OF_WRENCH * (n + 1)] for n in range(loads)]

    def _sizes(self, reactions: Sequence[Sequence[Number]], *, slopes: bool) -> list[list[Number]]:
        """The size by each load of the reactions, and perhaps its slopes over that of its own joint."""
        found = []
        for x, reaction, (_, kernel) in zip(self.x, reactions, self.kernels, strict=True):
            of, x = _reaction_of(kernel), list(x)
            x[of.place + of.loads : of.place + of.loads + REACTION] = reaction
            places = [OF_SIZE * n + c for n in range(of.loads) for c in range(OF_SIZE if slopes else 1)]
            sizes = self._call(kernel, "loads", x, places)
            count = len(places) // of.loads
            found += [sizes[count * n : count * (n + 1)] for n in range(of.loads)]
        return found

    def _reaction(self, kernel: ActingKernel, n: Three, f: Three, alpha: Three, a: Three) -> list[Number]:
        """What the first step of a joint passes on, as force and moment about the centre of mass of body j.

        Where the step leads to body i this is the opposite of the reaction on body j, and has the same sizes.
        """
        k = _reaction_of(kernel).step
        J, H, M, *_ = self.carried[k]
        step, body = self.at.steps[k], self.at.bodies[kernel.bodies[1]]
        force = plus(plus(transposed_times(H, alpha), times_symmetric(M, a)), f)
        moment = plus(plus(times_symmetric(J, alpha), times(H, a)), n)
        moment = plus(moment, cross(minus(step.r, body.r), force))
        return [*force, *moment]

    def _respond(self, bodies: Sequence[Body], wrench: list[Number]) -> tuple[dict[int, Number], list[list[Number]]]:
        """Derivatives of the rates, by row, and reactions of all joints, by a force and moment on bodies alone."""
        count = len(self.t.kind)
        n, f = dict.fromkeys(range(count), NONE), dict.fromkeys(range(count), NONE)
        for side, body in enumerate(bodies):
            if body.body != GROUND_INDEX and body.step.moves:
                force, moment = tuple(wrench[6 * side : 6 * side + 3]), tuple(wrench[6 * side + 3 : 6 * side + 6])
                k = body.step.k
                n[k], f[k] = minus(n[k], plus(moment, cross(body.arm, force))), minus(f[k], force)
        along, moving = self._inwards(n, f)
        z_dot, alpha, a = self._outwards(n, along, moving)
        reactions = []
        for _, kernel in self.kernels:
            k = _reaction_of(kernel).step
            reactions.append(self._reaction(kernel, n[k], f[k], alpha[k], a[k]))
        return z_dot, reactions

    def _inwards(self, n: dict[int, Three], f: dict[int, Three]) -> tuple[dict[int, Number], dict[int, Three]]:
        """As ``recursion.inwards`` with forces n_0 and f_0 alone; those along axes, and accelerations of free steps."""
        t, s, w = self.t, self.s, self.w
        along: dict[int, Number] = {}
        moving: dict[int, Three] = {}
        for k in reversed(range(len(t.kind))):
            kind, b, left, force = t.kind[k], t.parent[k], n[k], f[k]
            if kind in (BALL, FREE):
                force = minus(force, transposed_times(w.H[k], times_symmetric(w.inverse[k], left)))
                left = NONE
            else:
                along[k] = dot(s.axis[k], force if kind == SLIDE else left)
                part, U = -along[k] * w.pivot[k], w.U[k]
                left, force = plus_times(left, part, U[:3]), plus_times(force, part, U[3:])
            if kind == FREE:
                moving[k] = times_symmetric(w.M[k], tuple(-number for number in force))
            elif b != GROUND_STEP:
                n[b], f[b] = plus(n[b], plus(left, cross(s.way[k], force))), plus(f[b], force)
        return along, moving

    def _outwards(
        self, n: dict[int, Three], along: dict[int, Number], moving: dict[int, Three]
    ) -> tuple[dict[int, Number], dict[int, Three], dict[int, Three]]:
        """As ``recursion.outwards``, from a ground that does not move."""
        t, s, w = self.t, self.s, self.w
        z_dot: dict[int, Number] = {}
        alpha, a = {GROUND_STEP: NONE}, {GROUND_STEP: NONE}
        for k in range(len(t.kind)):
            b, kind, u = t.parent[k], t.kind[k], self.at.u[k]
            turning = alpha[b]
            point = moving[k] if kind == FREE else plus(a[b], cross(turning, s.way[k]))
            if kind in (TURN, SLIDE):
                z_dot[u], turning, point = move_along(s, w, along, k, kind, turning, point)
            else:
                turning = turn_freely(t, s, w, n, k, turning, point, z_dot)
            alpha[k], a[k] = turning, point
            if kind == FREE:
                z_dot.update({u + c: point[c] for c in range(3)})
        return z_dot, alpha, a

    def _refuse_feedback(self, feed: list[list[list[Number]]]) -> ir.Value:
        """In which lanes I - C has positive pivots only, with the feedbacks C, as ``joint_loads.refuse_feedback``."""
        code, count = self.code, len(feed)
        columns = [[size[0] for size in self._sizes(by_load, slopes=False)] for by_load in feed]
        matrix = [[(1.0 if q == n else 0.0) - columns[n][q] for n in range(count)] for q in range(count)]
        unique = code.compare(">", matrix[0][0], 0.0)
        for n in range(count):
            unique = code.builder.and_(unique, code.compare(">", matrix[n][n], 0.0))
            for q in range(n + 1, count):
                factor = matrix[q][n] / matrix[n][n]
                for c in range(n + 1, count):
                    matrix[q][c] = matrix[q][c] - factor * matrix[n][c]
        return unique

    def _find(self, base: list[list[Number]], feed: list[list[list[Number]]]) -> tuple[list[Number], ir.Value]:
        """The loads, and in which lanes they are found, as ``joint_loads.find_loads``: a lane's loads do not depend on others."""
        code, count = self.code, len(feed)

        def step(numbers: Sequence[Number]) -> tuple[list[Number], ir.Value]:
            *loads, before, _ = numbers
            reactions = [_with_loads(reaction, [by[p] for by in feed], loads) for p, reaction in enumerate(base)]
            sizes = self._sizes(reactions, slopes=True)
            off = [size[0] - load for size, load in zip(sizes, loads, strict=True)]
            error, largest = _largest(code, [abs(one) for one in off]), _largest(code, [size[0] for size in sizes])
            finite = code.compare("<", sum(abs(one) for one in off), math.inf)
            nearer = code.compare("<", error, before)
            good = code.compare("<=", error, CONVERGED * largest)
            as_good = code.builder.and_(code.builder.not_(nearer), code.compare("<=", error, ACCEPTED * largest))
            good = code.builder.and_(finite, code.builder.or_(good, as_good))
            moved = _solved(self._matrix(sizes, feed), off)
            found = [
                code.select(good, load, code.select(nearer, load + by, size[0]))
                for load, by, size in zip(loads, moved, sizes, strict=True)
            ]
            goes_on = code.builder.and_(finite, code.builder.not_(good))
            return [*found, error, code.select(good, 1.0, 0.0)], goes_on

        *loads, _, found = code.repeat(MAX_ITERATIONS, step, *[0.0] * count, math.inf, 0.0)
        return loads, code.compare("==", found, 1.0)

    def _matrix(self, sizes: list[list[Number]], feed: list[list[list[Number]]]) -> list[list[Number]]:
        """As ``joint_loads.set_matrix``."""
        of = [p for p, (_, kernel) in enumerate(self.kernels) for _ in range(_reaction_of(kernel).loads)]
        return [
            [
                (1.0 if q == n else 0.0) - sum(slope * by for slope, by in zip(size[1:], feed[n][of[q]], strict=True))
                for n in range(len(feed))
            ]
            for q, size in enumerate(sizes)
        ]


def _reaction_of(kernel: ActingKernel) -> ActingReaction:
    assert kernel.reaction is not None
    return kernel.reaction


def _with_loads(base: list[Number], by_load: list[list[Number]], loads: Sequence[Number]) -> list[Number]:
    """The reaction of a joint with loads."""
    return [
        number + sum(load * by[c] for load, by in zip(loads, by_load, strict=True)) for c, number in enumerate(base)
    ]


def _largest(code: Any, numbers: Sequence[Number]) -> Number:
    found: Number = 0.0
    for number in numbers:
        found = code.select(code.compare(">", number, found), number, found)
    return found


def _solved(matrix: list[list[Number]], right: list[Number]) -> list[Number]:
    """Solve linear equations without a choice of pivots: the slopes are within feedbacks of a spectral radius below 1."""
    count, right = len(right), list(right)
    for n in range(count):
        for q in range(n + 1, count):
            factor = matrix[q][n] / matrix[n][n]
            right[q] = right[q] - factor * right[n]
            for c in range(n + 1, count):
                matrix[q][c] = matrix[q][c] - factor * matrix[n][c]
    for n in reversed(range(count)):
        for c in range(n + 1, count):
            right[n] = right[n] - matrix[n][c] * right[c]
        right[n] = right[n] / matrix[n][n]
    return right
