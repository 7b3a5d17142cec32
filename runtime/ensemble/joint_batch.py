"""Batches in joint coordinates: coordinates of states, states of coordinates, memory; on which engine a batch runs."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE, P, V
from runtime.dynamics.limits_along import OF_LIMIT
from runtime.ensemble.task import Stopped, Task
from runtime.integrate.batches import batch
from runtime.integrate.batches.limits import BatchLimits, batch_limits
from runtime.integrate.batches.parameters import PARAMETERS, parameters_of_limits
from runtime.integrate.batches.stages import BatchWorkspace
from runtime.integrate.tree_method import OFF_THE_ROWS, kernel_of, off_the_rows, scales_of, tree_of
from runtime.integrate.tree_stages import addresses_of_lanes
from runtime.lanes.lift import CasesOfTree, lanes_of_tree, lift_lanes, prepare_lift
from runtime.results.whole_turns import WholeTurns, whole_turns
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.latest import Latest
from runtime.system.spanning_tree import OF_KIND, SpanningTree, joint_coordinates, turn_weights
from runtime.system.system import System
from runtime.system.tree_geometry import Geometry

Systems = Sequence[tuple[System, Ints]]  # each with its cases


def in_joints(systems: Systems, states: Floats) -> Floats:
    """Coordinates and rates of the trees of systems, (cases, n), in states of their bodies (cases, 13 bodies)."""
    z = np.empty((len(states), len(scales_of(tree_of(systems[0][0]))[0])))
    for system, at in systems:
        reference = system.reference_configuration.y
        if not reference.reshape(-1, STATE)[:, V:].any() and (states[at] == reference).all():
            z[at] = 0.0
            continue
        z[at] = joint_coordinates(tree_of(system), system.body_names, system.joint_motions, states[at])
    return z


def of_bodies(systems: Systems, z: Floats) -> Floats:
    """States of the bodies (cases, times, 13 bodies) for coordinates and rates of their trees (cases, times, n)."""
    out = np.empty((*z.shape[:2], STATE * len(systems[0][0].bodies)))
    for system, at in systems:
        out[at] = states_in_lanes(trees_of_system(system), z[at])
    return out


def cases_of_tree(
    tree: SpanningTree, where: Geometry, masses: Floats, inertias: Floats, gravity: Floats
) -> CasesOfTree:
    """Geometry, masses (cases, bodies), inertias (cases, bodies, 3, 3) and gravity (cases, 3) of cases, or one row of all.

    All arrays are read-only, for one type in compiled code.
    """
    skeleton = tree.skeleton
    cases = CasesOfTree(
        kind=np.array([OF_KIND[kind] for kind in tree.kinds], np.int64), parent=np.array(tree.parents, np.int64),
        step=np.array(tree.body_step, np.int64), axis=where.axis, way=where.ways(skeleton.parents),
        arm=where.arms(skeleton.body_step), p=where.pose[..., P:V], mass=masses[..., None],
        inertia=inertias.reshape(*inertias.shape[:2], 9), gravity=gravity[:, None],
    )  # fmt: skip
    return CasesOfTree(*map(_read_only, cases))


def _read_only(values: Any) -> Any:
    kept = np.ascontiguousarray(values).view()
    kept.setflags(write=False)
    return kept


# Of the cases of one system.
trees_of_system = Latest(
    lambda system: cases_of_tree(
        tree_of(system),
        tree_of(system).geometry,
        system.data.mass[None, 1:],
        system.data.inertia[None, 1:],
        system.gravity[None],
    ),
    4,
)


def states_in_lanes(trees: CasesOfTree, z: Floats, y: Floats | None = None, to: Ints | None = None) -> Floats:
    """States of the bodies (cases, times, 13 bodies) at coordinates and rates z (cases, times, n); in rows ``to`` of ``y``."""
    if y is None or to is None:
        y, to = np.empty((*z.shape[:2], STATE * len(trees.step))), np.arange(len(z))
    _lift(trees, z, y, to, np.empty((0, 0, 3)))
    return y


def energies_in_lanes(
    trees: CasesOfTree, z: Floats, stored: Floats, y: Floats | None = None, to: Ints | None = None
) -> Floats:
    """Kinetic energy, that of gravity and stored energy (cases, times, 3) at coordinates and rates z (cases, times, n).

    States at the last times go into rows ``to`` of ``y`` (any, times, 13 bodies), unless the row is below 0.
    """
    energies = np.empty((*z.shape[:2], 3))
    energies[..., 2] = stored
    if y is None or to is None:
        y, to = np.empty((0, 0, 0)), np.empty(0, np.int64)
    _lift(trees, z, y, to, energies)
    return energies


def _lift(trees: CasesOfTree, z: Floats, y: Floats, to: Ints, energies: Floats) -> None:
    memory = lanes_of_tree(len(trees.kind), len(trees.step))
    lift_lanes(trees, memory, np.ascontiguousarray(z), to, y, energies)


def of_one_batch(system: System, tree: SpanningTree, where: Geometry, z: Floats, states: Floats) -> Bools:
    """Which cases have their initial states at coordinates and rates z, and errors of turns weighed as in the system's tree.

    The Euler parameters of their geometry get the signs of those of the states.
    """
    wanted, found = (turn_weights(one.reaches(tree.skeleton)) for one in (tree.geometry, where))
    same: Bools = (found == wanted).all(axis=1)  # cases of a batch have the same weights
    return same & (_off(system, tree, where, z, states) <= OFF_THE_ROWS)


def _off(system: System, tree: SpanningTree, where: Geometry, z: Floats, states: Floats) -> Floats:
    """How far the states at coordinates and rates z are off the initial ones, whose signs Euler parameters get, (cases,)."""
    if z.any():
        data = system.data
        trees = cases_of_tree(tree, where, data.mass[None, 1:], data.inertia[None, 1:], system.gravity[None])
        lifted = states_in_lanes(trees, z[:, None])[:, 0]
    else:  # the reference configuration
        lifted = np.zeros_like(states)
        lifted.reshape(len(lifted), -1, STATE)[..., :V] = where.pose
    own, given = (y.reshape(len(y), -1, STATE)[..., P:V] for y in (lifted, states))
    signs = np.where((own * given).sum(axis=2) < 0.0, -1.0, 1.0)[..., None]
    where.pose[..., P:V] *= signs
    own *= signs  # of ``lifted``
    return off_the_rows(lifted, states)


def turns_in_lanes(tree: SpanningTree, start: Floats, z: Floats) -> WholeTurns:
    """Turns of coordinates and rates z (cases, times, n) of trees of turns and slides, from those at the start (cases, n)."""
    turns = [step for step, kind in enumerate(tree.kinds) if kind == "turn"]
    return whole_turns(start[:, turns], z[..., turns])


def with_signs(lifted: Floats, states: Floats) -> tuple[Floats, Floats]:
    """Lifted states (cases, 1 + times, 13 bodies) after the first, with the signs of the Euler parameters of the given ones.

    Also how far the first ones are off the given ones.
    """
    own, given = (y.reshape(*y.shape[:-1], -1, STATE) for y in (lifted, states))
    signs = np.where(np.einsum("cbp,cbp->cb", own[:, 0, :, P:V], given[..., P:V]) < 0.0, -1.0, 1.0)
    own[..., P:V] *= signs[:, None, :, None]
    return lifted[:, 1:], off_the_rows(lifted[:, 0], states)


def given_limits(systems: Systems, count: int) -> Floats:
    """Parameters of the limits of so many cases, (cases, limits, PARAMETERS)."""
    given = np.empty((count, len(tree_of(systems[0][0]).limits), PARAMETERS))
    for system, at in systems:
        given[at] = parameters_of_limits(tree_of(system).limits, system.data.limits)
    return given


def integrate(task: Task, module: ModuleType, memory: BatchWorkspace, *arrays: Any) -> None:
    """Integrate the cases of a chunk with the kernel of a model, on the CPU or on a graphics processor.

    Raises
    ------
    Stopped
        When ``task.stop`` was set meanwhile.
    """
    if task.gpu:
        from runtime.integrate.batches import gpu

        gpu.integrate(module, memory, *arrays)
    else:
        batch.run(module, "lanes", memory, *arrays, task.stop)
    if task.stop[0]:
        raise Stopped


def memory_of_batch(system: System, n: int, constants: int, given: Floats) -> tuple[BatchWorkspace, BatchLimits | None]:
    """Memory for cases of a system's tree, of n coordinates and rates and so many constants, and that of its limits."""
    tree = tree_of(system)
    prepare_lift()  # now: after an installation the second process compiles the integration meanwhile
    stages = list(addresses_of_lanes(kernel_of(tree)).values())
    limits = batch_limits(tree.limits, n, constants - OF_LIMIT * len(tree.limits), given) if tree.limits else None
    return batch.tree_workspace(stages, constants, scales_of(tree), limits), limits
