"""Forces that depend on the reaction of their joint, in lanes: ``runtime.dynamics.joint_loads`` on the recursion of a tree.

The reaction of a joint is what its first step passes on, by the inertia and the force that ``runtime.dynamics.recursion`` finds
there.  The motion that a load of 1 N causes is a pass of that recursion with its force alone, by the same pivots.  Lanes where
the loads are not unique, or not found, get a ``worst`` that is not a number; their cases are run alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from runtime.dynamics import joint_loads, responses
from runtime.dynamics.joint_loads import ACCEPTED, CONVERGED, COUNT, FIRST, MAX_ITERATIONS, REACTION, LoadsWorkspace
from runtime.dynamics.layout import GROUND_INDEX
from runtime.dynamics.small_matrices import cross, dot, minus, plus, times, times_symmetric, transposed_times
from runtime.integrate.written.acting_forces import ActingKernel, ActingReaction
from runtime.integrate.written.placed_bodies import NONE, Body
from runtime.integrate.written.tree_forces import SUFFIXES, ForcesOnSteps
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Number, choose
from runtime.lanes.needed_outputs import call_for
from runtime.lanes.vector_formulas import with_vectors

push_step, forces_inwards, accelerations_outwards, update_reactions, correct_loads = map(
    with_vectors,
    (
        responses.push_step, responses.forces_inwards, responses.accelerations_outwards, joint_loads.update_reactions,
        joint_loads.correct_loads,
    ),
)  # fmt: skip
loads_are_unique = with_vectors(joint_loads.loads_are_unique, measure_loads=lambda data, loads: loads.measure())
cross, dot, minus, plus, times, times_symmetric, transposed_times = map(
    python_code, (cross, dot, minus, plus, times, times_symmetric, transposed_times)
)
Three = Any  # a vector of three numbers
OF_WRENCH, OF_SIZE = 12, 1 + REACTION  # outputs of kernels for each load: on bodies i and j; the load, and its slopes


class JointLoads:
    """The instructions for the normal loads of all forces that depend on reactions, after the recursion without them.

    forces : the others, which are on the steps
    equations : ``data``, ``poses`` and ``memory`` of the recursion; ``memory.carried`` of the first steps of the joints, before
        their rates are eliminated: J, H, M, n_0 and f_0
    """

    def __init__(self, forces: ForcesOnSteps, equations: Any) -> None:
        self.forces, self.at, self.code = forces, forces.at, forces.code
        self.t, self.s, self.w = equations.data, equations.poses, equations.memory
        self.kernels = [(k, self.at.acting.forces[k]) for k in self.at.acting.reactive]
        self.x = [forces.numbers("force", k, kernel) for k, kernel in self.kernels]
        reactive = np.zeros((len(self.kernels), 7), np.int64)
        reactive[:, COUNT] = [_reaction_of(kernel).loads for _, kernel in self.kernels]
        reactive[:, FIRST] = np.cumsum(reactive[:, COUNT]) - reactive[:, COUNT]
        self.data: Any = SimpleNamespace(forces=SimpleNamespace(reactive=reactive))
        memory = joint_loads.loads_workspace(self.data.forces, 0, 0)
        self.joint_loads: Any = LoadsWorkspace(*(numbers.astype(object) for numbers in memory))

    def add_to(self, z_dot: Any) -> Any:
        """Add what the loads change of the derivatives of the rates, by row, and their power; in which lanes they are unique."""
        m = self.joint_loads
        for p, (_, kernel) in enumerate(self.kernels):
            k = _reaction_of(kernel).step
            *_, n, f = self.w.carried[k]
            m.base[p] = self._reaction(kernel, n, f, self.w.alpha[k], self.w.a[k])
        wrenches, rates = [], list[Any]()
        for x, (_, kernel) in zip(self.x, self.kernels, strict=True):
            for wrench in self._wrenches(kernel, x):
                own, m.feed[:, len(rates)] = self._respond([self.at.bodies[b] for b in kernel.bodies[:2]], wrench)
                wrenches.append((kernel, wrench))
                rates.append(own)
        unique = loads_are_unique(self.data, self)
        loads, found = self._find()
        for load, own, (kernel, wrench) in zip(loads, rates, wrenches, strict=True):
            for row in range(self.at.u[0], self.at.u[-1]):
                z_dot[row] = z_dot[row] + load * own[row]
            for side, b in enumerate(kernel.bodies[:2]):
                body, Q = self.at.bodies[b], wrench[6 * side : 6 * side + 6]
                self.forces.power = self.forces.power + load * (dot(Q[:3], body.v) + dot(Q[3:], body.omega))
        return unique & found

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

    def measure(self) -> None:
        """As ``joint_loads.measure_loads``."""
        m, found = self.joint_loads, list[Number]()
        for x, reaction, (_, kernel) in zip(self.x, m.reaction, self.kernels, strict=True):
            of, x = _reaction_of(kernel), list(x)
            x[of.place + of.loads : of.place + of.loads + REACTION] = reaction
            found += self._call(kernel, "loads", x, range(OF_SIZE * of.loads))
        m.sizes[:] = np.array(found, object).reshape(m.sizes.shape)

    def _reaction(self, kernel: ActingKernel, n: Three, f: Three, alpha: Three, a: Three) -> list[Number]:
        """What the first step of a joint passes on, as force and moment about the centre of mass of body j.

        Where the step leads to body i this is the opposite of the reaction on body j, and has the same sizes.
        """
        k = _reaction_of(kernel).step
        J, H, M, *_ = self.w.carried[k]
        step, body = self.at.steps[k], self.at.bodies[kernel.bodies[1]]
        force = plus(plus(transposed_times(H, alpha), times_symmetric(M, a)), f)
        moment = plus(plus(times_symmetric(J, alpha), times(H, a)), n)
        moment = plus(moment, cross(minus(step.r, body.r), force))
        return [*force, *moment]

    def _respond(self, bodies: Sequence[Body], wrench: list[Number]) -> tuple[Any, list[list[Number]]]:
        """Derivatives of the rates, by row, and reactions of all joints, by a force and moment on bodies alone."""
        count, z_dot = len(self.t.kind), np.empty(self.at.u[-1], object)
        n, f = dict.fromkeys(range(count), NONE), dict.fromkeys(range(count), NONE)
        c = SimpleNamespace(moment=n, force=f, push=[0.0] * count, along={}, alpha={}, a={})
        for side, body in enumerate(bodies):
            if body.body != GROUND_INDEX and body.step.moves:
                push_step(c, body.step.k, body.arm, wrench[6 * side : 6 * side + 6])
        forces_inwards(self.t, self.s, self.w, c, range(count))
        accelerations_outwards(self.t, self.s, self.w, c, range(count), z_dot)
        reactions = []
        for _, kernel in self.kernels:
            k = _reaction_of(kernel).step
            reactions.append(self._reaction(kernel, n[k], f[k], c.alpha[k], c.a[k]))
        return z_dot, reactions

    def _find(self) -> tuple[list[Number], Any]:
        """The loads, and in which lanes they are found, as ``joint_loads.find_loads``: a lane's loads do not depend on others."""
        m, count = self.joint_loads, len(self.joint_loads.load)

        def step(numbers: Sequence[Number]) -> tuple[list[Number], Any]:
            *m.load[:], before, _ = numbers
            update_reactions(m)
            self.measure()
            off = [size - load for size, load in zip(m.sizes[:, 0], m.load, strict=True)]
            error, largest = _largest([abs(one) for one in off]), _largest(m.sizes[:, 0])
            finite, nearer = sum(abs(one) for one in off) < math.inf, error < before
            far = choose(nearer, CONVERGED, ACCEPTED) * largest
            good = choose(finite & (error <= far), 1.0, 0.0)
            correct_loads(self.data, m)
            found = [
                choose(good == 1.0, load, choose(nearer, load + by, size))
                for load, by, size in zip(m.load, m.matrix[:, count], m.sizes[:, 0], strict=True)
            ]
            return [*found, error, good], (finite & (good == 0.0)).value

        *loads, _, found = self.code.repeat(MAX_ITERATIONS, step, *[0.0] * count, math.inf, 0.0)
        return loads, found == 1.0


def _reaction_of(kernel: ActingKernel) -> ActingReaction:
    assert kernel.reaction is not None
    return kernel.reaction


def _largest(numbers: Sequence[Number]) -> Number:
    found: Number = 0.0
    for number in numbers:
        found = choose(number > found, number, found)
    return found
