"""Batches in joint coordinates: coordinates of states, states of coordinates, memory; on which engine a batch runs."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE, P, V
from runtime.dynamics.lift import lift_all, lift_cases, lift_workspace
from runtime.dynamics.limits_along import OF_LIMIT
from runtime.ensemble.task import Stopped, Task
from runtime.integrate import batch
from runtime.integrate.batch_limits import BatchLimits, batch_limits
from runtime.integrate.batch_parameters import PARAMETERS, parameters_of_limits
from runtime.integrate.batch_stages import BatchWorkspace
from runtime.integrate.tree_method import OFF_THE_ROWS, kernel_of, off_the_rows, scales_of, tree_of
from runtime.integrate.tree_stages import addresses_of_lanes
from runtime.support.arrays import Bools, Floats, Ints
from runtime.system.spanning_tree import SpanningTree, joint_coordinates, tree_data, turn_weights
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
    cases, times, n = z.shape
    out = np.empty((cases, times, STATE * len(systems[0][0].bodies)))
    for system, at in systems:
        lifted = np.empty((len(at) * times, out.shape[2]))
        lift_all(
            tree_data(tree_of(system), system.gravity),
            lift_workspace(len(tree_of(system).kinds)),
            z[at].reshape(-1, n),
            lifted,
        )
        out[at] = lifted.reshape(len(at), times, -1)
    return out


def of_geometries(system: System, tree: SpanningTree, where: Geometry, z: Floats) -> Floats:
    """``of_bodies`` of cases with geometries of their own."""
    skeleton, out = tree.skeleton, np.empty((*z.shape[:2], STATE * len(system.bodies)))
    turns = np.ascontiguousarray(where.pose[..., P:V])
    memory = tree_data(tree, system.gravity), lift_workspace(len(tree.kinds))
    lift_cases(
        *memory,
        where.axis,
        where.ways(skeleton.parents),
        where.arms(skeleton.body_step),
        turns,
        np.ascontiguousarray(z),
        out,
    )
    return out


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
        lifted = of_geometries(system, tree, where, z[:, None])[:, 0]
    else:  # the reference configuration
        lifted = np.zeros_like(states)
        lifted.reshape(len(lifted), -1, STATE)[..., :V] = where.pose
    own, given = (y.reshape(len(y), -1, STATE)[..., P:V] for y in (lifted, states))
    signs = np.where((own * given).sum(axis=2) < 0.0, -1.0, 1.0)[..., None]
    where.pose[..., P:V] *= signs
    own *= signs  # of ``lifted``
    return off_the_rows(lifted, states)


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
        from runtime.integrate import gpu

        gpu.integrate(module, memory, *arrays)
    else:
        batch.run(module, "lanes", memory, *arrays, task.stop)
    if task.stop[0]:
        raise Stopped


def memory_of_batch(system: System, n: int, constants: int, given: Floats) -> tuple[BatchWorkspace, BatchLimits | None]:
    """Memory for cases of a system's tree, of n coordinates and rates and so many constants, and that of its limits."""
    tree = tree_of(system)
    stages = list(addresses_of_lanes(kernel_of(tree)).values())
    limits = batch_limits(tree.limits, n, constants - OF_LIMIT * len(tree.limits), given) if tree.limits else None
    return batch.tree_workspace(stages, constants, scales_of(tree), limits), limits
