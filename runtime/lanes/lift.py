"""States and energies of the bodies of trees, of many cases side by side: the functions for one case, with vectors."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.energy import mechanical_energy
from runtime.dynamics.layout import STATE
from runtime.dynamics.lift import LiftWorkspace, TreeData, lift, lift_workspace
from runtime.jit.compilation import CONTRACT, compiled, inlined
from runtime.jit.lane_vectors import LaneVector, define, numbers_of
from runtime.jit.pointers import in_lanes
from runtime.jit.recorder import Recorded
from runtime.lanes.vector_code import WIDTH, VectorCode
from runtime.lanes.vector_functions import sine_and_cosine
from runtime.support.arrays import Floats, Ints, lanes_of


class CasesOfTree(NamedTuple):
    """Geometry and masses of trees of the same steps, as of ``TreeData``; a first axis of 1 where all cases have the same."""

    kind: Ints  # (n,)
    parent: Ints  # (n,)
    q: Ints  # (n,)
    u: Ints  # (n,)
    step: Ints  # (bodies,)
    axis: Floats  # (cases, n, 3)
    way: Floats  # (cases, n, 3)
    arm: Floats  # (cases, bodies, 3)
    p: Floats  # (cases, bodies, 4)
    mass: Floats  # (cases, bodies, 1)
    inertia: Floats  # (cases, bodies, 9)
    gravity: Floats  # (cases, 1, 3)


class Masses(NamedTuple):
    """Of the bodies, as in ``ModelData``."""

    mass: Floats  # (bodies + 1,)
    inertia: Floats  # (bodies + 1, 3, 3)
    gravity: Floats  # (3,)
    A: Floats  # (bodies + 1, 3, 3) memory, as in ``Workspace``


@in_lanes(WIDTH)
class LanesOfTree(NamedTuple):
    """Memory."""

    tree: TreeData  # its geometry
    lifting: LiftWorkspace
    bodies: Masses
    z: Floats  # (size of a state,)
    y: Floats  # (13 bodies,)
    energies: Floats  # (2,) kinetic, and of gravity


def lanes_of_tree(t: CasesOfTree, state: int) -> LanesOfTree:
    """Memory for trees, and the size of their state."""

    def memory(*shapes: tuple[int, ...]) -> list[Floats]:
        return [lanes_of(*shape, WIDTH) for shape in shapes]

    n, bodies = len(t.kind), len(t.step)
    axis, way, arm, p, none = memory((n, 3), (n, 3), (bodies, 3), (bodies, 4), (0,))
    tree = TreeData(t.kind, t.parent, t.q, t.u, axis, way, none, none, none, none, t.step, arm, p, none)
    lifting = LiftWorkspace(*memory(*(values.shape for values in lift_workspace(n))))
    masses = Masses(*memory((bodies + 1,), (bodies + 1, 3, 3), (3,), (bodies + 1, 3, 3)))
    return LanesOfTree(tree, lifting, masses, *memory((state,), (STATE * bodies,), (2,)))


def _define(function: Any, place: int) -> None:
    def write(builder: Any, x: Any) -> Any:
        return sine_and_cosine(Recorded(VectorCode(builder), x))[place].value

    define(function, 1, LaneVector, write)


_define(math.sin, 0)
_define(math.cos, 1)


@inlined
def load(values, k, first, rows):  # type: ignore[no-untyped-def]
    """Put values (cases, k, m) of the cases from ``first`` on into rows (m,) of lanes; lanes beyond the last case repeat it."""
    to = numbers_of(rows)
    for lane in range(WIDTH):
        case = min(first + lane, len(values) - 1)
        for i in range(values.shape[2]):
            to[i, lane] = values[case, k, i]


@inlined
def load_cases(t, m, first):  # type: ignore[no-untyped-def]
    """Geometry and masses of the cases from ``first`` on."""
    for k in range(len(t.kind)):
        load(t.axis, k, first, m.tree.axis[k])
        load(t.way, k, first, m.tree.way[k])
    for b in range(len(t.step)):
        load(t.arm, b, first, m.tree.arm[b])
        load(t.p, b, first, m.tree.p[b])
        load(t.mass, b, first, m.bodies.mass[b + 1 : b + 2])
        for r in range(3):
            load(t.inertia[:, :, 3 * r : 3 * r + 3], b, first, m.bodies.inertia[b + 1, r])
    load(t.gravity, 0, first, m.bodies.gravity)


def _lift_lanes(t, m, z, to, y, energies):  # type: ignore[no-untyped-def]
    """States and energies of bodies at coordinates and rates z (cases, times, n).

    Filled, where they have any cases: y (any, times, 13 bodies) with the states of case k in row ``to[k]``, unless that is below
    0, at the last times of z; energies (cases, times, 3): the kinetic one and that of gravity.
    """
    varied = max(len(t.axis), len(t.arm), len(t.mass), len(t.inertia), len(t.gravity)) > 1
    earlier, states, sums = z.shape[1] - y.shape[1], numbers_of(m.y), numbers_of(m.energies)
    for first in range(0, len(z), WIDTH):
        if varied or first == 0:
            load_cases(t, m, first)
        for time in range(z.shape[1]):
            load(z, time, first, m.z)
            lift(m.tree, m.lifting, m.z, m.y)
            if len(energies) > 0:
                m.energies[0], m.energies[1] = mechanical_energy(m.y, m.bodies, m.bodies)
            for lane in range(min(WIDTH, len(z) - first)):
                case = first + lane
                if len(y) > 0 and time >= earlier and to[case] >= 0:
                    for i in range(len(states)):
                        y[to[case], time - earlier, i] = states[i, lane]
                if len(energies) > 0:
                    energies[case, time, 0], energies[case, time, 1] = sums[0, lane], sums[1, lane]


lift_lanes = compiled(_lift_lanes, fastmath=CONTRACT)


@cache  # once in a process
def prepare_lift() -> None:
    """Compile ``lift_lanes``, without a call."""
    steps, geometry = np.zeros(1, np.int64), np.zeros((1, 1, 3))
    for values in (steps, geometry):
        values.setflags(write=False)
    y, energies = np.zeros((1, 1, STATE)), np.zeros((1, 1, 3))
    trees = CasesOfTree(steps, steps, steps, steps, steps, *[geometry] * 7)
    lift_lanes.prepare(trees, lanes_of_tree(trees, 2), np.zeros((1, 1, 2)), np.zeros(1, np.int64), y, energies)
