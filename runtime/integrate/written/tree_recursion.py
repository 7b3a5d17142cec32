"""Equations of motion of a tree for LANES cases side by side: ``runtime.dynamics.recursion`` as one straight-line function.

The formulas are those of the recursion, run with vectors.  Kinds and parents of the steps are known when the function is written,
so it has no branches; steps between those of a joint, which carry no body themselves, take no operations for one.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache, partial
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics import recursion
from runtime.dynamics.limits_along import constants_of_each
from runtime.dynamics.small_matrices import dot, minus, plus, plus_times
from runtime.integrate.written.acting_forces import (
    MOST_ADDRESSES,
    OF_BODY,
    OF_CARRIED,
    OF_STEP,
    ActingForces,
    Rows,
    acting_forces,
)
from runtime.integrate.written.equation_parameters import parameters_of_equations
from runtime.integrate.written.limit_moments import moments_of_limit
from runtime.integrate.written.placed_bodies import NONE, Place, Places, Step
from runtime.integrate.written.tree_forces import ForcesOnSteps
from runtime.integrate.written.tree_reactions import JointLoads
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Number, choose
from runtime.lanes.vector_formulas import with_vectors
from runtime.lanes.written_function import address_of_lanes, text_of_lane
from runtime.support.arrays import Floats
from runtime.support.latest import Latest
from runtime.system.system import System
from runtime.system.trees import trees_of

MOST_STEPS = 24  # of a tree: machine code is made in 3 s, and the time grows a little faster than the number
OF_ARMS = {5: (1, 2), 6: (1, 3), 8: (2, 3)}  # products of inertia have a part of these components of the moment
AXES = dict(z=1, signals=2, parameters=2, limits=2, z_dot=1, power=1, energy=1, worst=1)  # of the arrays
NAME = "equations"  # of the function of the text

dot, minus, plus, plus_times = map(python_code, (dot, minus, plus, plus_times))
carried = with_vectors(recursion.carried)


def _keep_carried(t: Any, s: Any, w: Any, on: Any, k: int) -> Any:
    w.carried[k] = carried(t, s, w, on, k)
    return w.carried[k]


inwards = with_vectors(recursion.inwards, carried=_keep_carried)
outwards, rates_of_coordinates = map(with_vectors, (recursion.outwards, recursion.rates_of_coordinates))


class ActingLimit(NamedTuple):
    """A limit along a coordinate, as far as it decides the text of compiled code."""

    step: int
    law: ModuleType


def _limits(system: System) -> tuple[ActingLimit, ...]:
    tree = trees_of(system).in_lanes
    return () if tree is None else tuple(ActingLimit(one.step, one.law) for one in tree.limits)


def _address(system: System, known: Mapping[Place, float]) -> int:
    return _address_for(acting_forces(system), _limits(system), tuple(sorted(known.items())))


@lru_cache(MOST_ADDRESSES)
def _address_for(acting: ActingForces, limits: tuple[ActingLimit, ...], known: tuple[tuple[Place, float], ...]) -> int:
    decided = [f"{limit.step} {inspect.getsource(limit.law)}" for limit in limits]
    return address_of_lanes(
        "equations_of_tree", AXES, partial(_write, acting, limits, dict(known)), __name__,
        "the equations of a tree in a batch", repr(decided), repr([*known]), *acting.text(),
    )  # fmt: skip


def _address_as_it_is(system: System) -> int:
    try:
        return _address(system, _plain_numbers(system))
    except (ArithmeticError, ValueError):  # such as a kernel that divides by a number that is 0
        return _address(system, {})


def _plain(system: System) -> dict[Place, float]:
    """Numbers that are 0, 1 or -1 in axes, ways, arms and poses, and 0 in moments and inertias, by their places.

    As numbers of the text they leave out most products, and all that motions in a plane do not have.
    """
    acting, tree = acting_forces(system), trees_of(system).of_joints
    assert tree is not None
    rows, own = Rows(acting, whole=True), parameters_of_equations(system).tolist()
    sizes = [("step", range(len(tree.kinds)), 0, OF_STEP), ("body", acting.bodies(), 0, OF_BODY)]
    alone = [k for k in acting.carrying() if acting.body_step.count(k) == 1]  # of several bodies numbers may cancel
    sizes.append(("carried", alone, 1, OF_CARRIED))  # but the mass
    found: dict[Place, float] = {}
    for sort, which, first, end in sizes:
        wanted = (0.0,) if sort == "carried" else (-1.0, 0.0, 1.0)
        for k in which:
            at = rows.of(sort, k)
            found |= {(sort, k, c): own[at + c] + 0.0 for c in range(first, end) if own[at + c] in wanted}
    for k in alone:
        for c, (a, b) in OF_ARMS.items():
            if ("carried", k, a) not in found and ("carried", k, b) not in found:
                found.pop(("carried", k, c), None)  # a sum, which is 0 for this mass alone
    return found


_plain_numbers, _addresses_as_it_is = Latest(_plain, 8), Latest(_address_as_it_is, 8)


def has_plain_numbers(system: System, parameters: Floats) -> bool:
    """Whether parameters (cases, P) have the plain numbers of the system."""
    rows, known = Rows(acting_forces(system), whole=True), _plain_numbers(system)
    at = [rows.of(sort, k) + place for sort, k, place in known]
    return bool((parameters[:, at] == list(known.values())).all())


def address_of_recursion(system: System, *, general: bool = False) -> int:
    """Address in this process of the equations of the tree of a system with all that acts on it; see ``known_forces``.

    It takes the addresses of arrays of doubles whose last axis are the lanes: z (n), coordinates and rates of the tree, states of
    forces, the work, and the angles of forces at the start; signals (S, 3), value and two derivatives of all signals of the
    system; parameters (P) as of ``parameters_of_equations``; four constants of each limit along a coordinate, as of
    ``limits_along``; and of its results: z_dot (n); power (states + 1), the rates of the states of forces, and the power [W] that
    is not stored, the sum over the sources but limits; energy (1) [J] in springs of motors, in forces and in contacts; worst (1),
    inverse square of the smallest pivot as a fraction of its row.

    Parameters
    ----------
    general : bool
        Of any parameters.  Otherwise those of the cases are 0, 1 or -1 where the system has such axes, ways, arms and poses, and
        0 where its moments and inertias are.
    """
    return _address(system, {}) if general else _addresses_as_it_is(system)


def text_of_recursion(system: System, *, general: bool = False) -> str:
    """A function of Python for one lane, as the function of ``address_of_recursion``, for the compilers of other machines."""
    if not general:
        with suppress(ArithmeticError, ValueError):  # as of ``_address_as_it_is``
            return _text(system, _plain_numbers(system))
    return _text(system, {})


def _text(system: System, known: Mapping[Place, float]) -> str:
    return text_of_lane(NAME, AXES, partial(_write, acting_forces(system), _limits(system), known))


def _write(
    acting: ActingForces, limits: tuple[ActingLimit, ...], known: Mapping[Place, float], code: Any, data: dict[str, Any]
) -> None:
    _Equations(Places(code, acting, data, whole=True, known=known), limits).write()


class _Equations:
    """The code of the equations for lanes."""

    def __init__(self, places: Places, limits: tuple[ActingLimit, ...]) -> None:
        self.at, self.code, self.acting, self.limits = places, places.code, places.acting, limits
        count = len(self.acting.kinds)
        self.poses = places.rows_of_steps()
        self.memory = SimpleNamespace(**{name: {} for name in ("carried", *recursion.RecursionWorkspace._fields)})
        self.data = SimpleNamespace(
            kind=places.kinds, parent=self.acting.parents, q=places.q, u=places.u,
            gravity=places.three("gravity", 0, 0), mass=[0.0] * count, moment=[NONE] * count, inertia=[(0.0,) * 9] * count,
            armature=[places.parameter("armature", k, 0) if k in self.acting.rotors else 0.0 for k in range(count)],
        )  # fmt: skip
        for k in self.acting.carrying():
            x: list[Number] = [places.parameter("carried", k, c) for c in range(10)]
            xx, xy, xz, yy, yz, zz = x[4:]
            self.data.mass[k], self.data.moment[k] = x[0], tuple(x[1:4])
            self.data.inertia[k] = xx, xy, xz, xy, yy, yz, xz, yz, zz

    def write(self) -> None:
        """Write all instructions."""
        forces = ForcesOnSteps(self.at)
        forces.apply()
        for k in self.acting.steps():
            step = self.at.steps[k]
            forces.power = forces.power + dot(step.force, step.v) + dot(step.moment, step.omega)
        for limit, one in enumerate(self.limits):
            self._restrain(limit, self.at.steps[one.step])
        smallest = inwards(self.data, self.poses, self.memory, self.poses)
        z_dot: Any = np.empty(self.at.u[-1], object)
        outwards(self.data, self.poses, self.memory, z_dot)
        if self.acting.reactive:
            smallest = choose(JointLoads(forces, self).add_to(z_dot), smallest, float("nan"))
        rates_of_coordinates(self.data, self.at.whole_state(), z_dot)
        for row, rate in enumerate(z_dot):
            self.code.store(rate, self.at.data["z_dot"], row)
        inverse = 1.0 / smallest
        forces.put_power()
        for name, value in dict(energy=forces.energy, worst=inverse * inverse).items():
            self.code.store(value, self.at.data[name], 0)

    def _restrain(self, limit: int, step: Step) -> None:
        """Put the moment of a limit on a turn and on the step before; the batch has its power."""
        width = constants_of_each(self.limits)
        constants = [self.at.load("limits", width * limit + c) for c in range(width)]
        against, damped = moments_of_limit(self.limits[limit].law, constants, step.coordinates[0], step.rates[0])
        moment = plus_times(NONE, -against - damped, step.axis)
        step.moment = plus(step.moment, moment)
        if step.before.moves:
            step.before.moment = minus(step.before.moment, moment)
