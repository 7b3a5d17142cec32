"""Coordinates and rates of a tree in states of its bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX, OMEGA, STATE, P, R, V
from runtime.dynamics.lift import product
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats, Ints
from runtime.support.latest import Latest
from runtime.system.joint_motion import FULL_TURN, JointMotion, Pose, coordinates, rates, relative_poses
from runtime.system.reference import body_places, rotation_matrices, states_with_ground
from runtime.system.spanning_tree import SLOPES, TreeSteps
from runtime.system.tree_geometry import Coordinate

CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])  # times Euler parameters: those of the turn back


class Alike(NamedTuple):
    """Joints of a tree that move by the same steps, whose coordinates are found together: as cases of one of them."""

    motion: JointMotion  # of the first, with axes, points and references (joints, ...) or (joints, m, ...) of all
    of_all: bool
    body_i: list[int]  # (joints,)
    body_j: list[int]
    # Of each step of the tree: place of its coordinate among those of the joint, which joint of these it is, places in the state
    column: Ints
    joint: Ints
    sign: Floats
    q: Ints
    u: Ints


def _alike(tree: TreeSteps, names: tuple[str, ...], motions: Mapping[str, JointMotion]) -> list[Alike]:
    """The joints of turns and slides of a tree."""
    places, groups = body_places(names), dict[Any, dict[str, list[tuple[int, Coordinate]]]]()
    for k, (c, kind) in enumerate(zip(tree.coordinates, tree.kinds, strict=True)):
        if kind in ("turn", "slide"):
            steps_of_joint = motions[c.joint].joint.module.MOTION
            # Of different kinds, too, where axes and points are fixed in the same bodies.
            key = tuple((sort, axis[-2:] == "_j", point[-2:] == "_j") for _, sort, axis, point in steps_of_joint)
            groups.setdefault(key, {}).setdefault(c.joint, []).append((k, c))
    q, u = (np.array(of) for of in tree.places)
    found = []
    for of_joints in groups.values():
        of = [motions[name] for name in of_joints]
        steps = tuple(
            replace(step, axis=np.stack([one.steps[n].axis for one in of]), point=np.stack([one.steps[n].point for one in of]))
            for n, step in enumerate(of[0].steps)
        )  # fmt: skip
        reference = Pose(*(np.stack([one.reference[n] for one in of]) for n in range(2)))
        rows = [(j, k, c) for j, joint in enumerate(of_joints.values()) for k, c in joint]
        steps_of_tree = [k for _, k, _ in rows]
        found.append(
            Alike(
                replace(of[0], steps=steps, reference=reference), all(one.of_all for one in of),
                [places[one.joint.body_i] for one in of], [places[one.joint.body_j] for one in of],
                np.array([c.place for *_, c in rows]), np.array([j for j, *_ in rows]),
                np.array([float(c.sign) for *_, c in rows]), q[steps_of_tree], u[steps_of_tree],
            )
        )  # fmt: skip
    return found


_groups = Latest(_alike, 16)


def joint_coordinates(
    tree: TreeSteps, names: tuple[str, ...], motions: Mapping[str, JointMotion], y: Floats, pose: Floats | None = None
) -> Floats:
    """Coordinates and then rates (m, n) of a tree in states y (m, 13 bodies) of bodies of these names, as of ``TreeData``.

    Angles are less than half a turn from the reference configuration.  ``pose`` (m, bodies, 7): that of the bodies in it, where
    states have their own, as the motions then have.
    """
    own, states = y.reshape(len(y), -1, STATE), states_with_ground(y)
    z = np.empty((len(y), tree.places[1][-1]))
    moving = bool(own[..., V:].any())
    alike = len(y) > 1 and not (own[..., :V] != own[:1, :, :V]).any()
    for one in _groups(tree, names, motions):
        of_i, of_j = (np.swapaxes(states[:, of], 0, 1) for of in (one.body_i, one.body_j))  # (joints, m, 13)
        first = slice(1) if alike and one.of_all else slice(None)
        poses_i, poses_j = (of[:, first].reshape(-1, STATE) for of in (of_i, of_j))
        motion = _of_cases(one.motion, len(poses_i) // len(of_i))
        relative = relative_poses(poses_i, poses_j)
        values = coordinates(motion, relative, apart=True).reshape(len(of_i), -1, len(motion.units))
        z[:, one.q] = (one.sign[:, None] * values[one.joint, :, one.column]).T
        z[:, one.u] = 0.0
        if moving:
            if alike and one.of_all:
                motion = _of_cases(one.motion, len(y))
                relative = Pose(*(np.repeat(part, len(y), axis=0) for part in relative))
            speeds = rates(motion, relative, of_i.reshape(-1, STATE), of_j.reshape(-1, STATE))
            speeds = speeds.reshape(len(of_i), len(y), -1)
            z[:, one.u] = (one.sign[:, None] * speeds[one.joint, :, one.column]).T
    turns = [q for kind, q in zip(tree.kinds, tree.places[0], strict=False) if kind == "turn"]
    z[:, turns] -= FULL_TURN * np.round(z[:, turns] / FULL_TURN)
    if not tree.turns_and_slides:
        pose = tree.pose[None] if pose is None else pose
        poses = np.concatenate([np.broadcast_to(states[:1, GROUND_INDEX, None, :V], (len(pose), 1, V)), pose], axis=1)
        places = body_places(names)
        for c, kind, q, u in zip(tree.coordinates, tree.kinds, *tree.places, strict=False):
            if kind in ("turn", "slide"):
                continue
            inner, outer = places[c.inner], places[c.outer]
            if kind == "free":
                z[:, q : q + 3] = states[:, outer, R:P] - poses[:, outer, R:P]
                z[:, u : u + 3] = states[:, outer, V:OMEGA]
                q, u = q + 3, u + 3
            before, after = (_turns(states[:, b, P:V], poses[:, b, P:V]) for b in (inner, outer))
            z[:, q : q + 4] = products(before * CONJUGATE, after)
            relative_omega = states[:, outer, OMEGA:] - states[:, inner, OMEGA:]
            z[:, u : u + 3] = np.einsum("nba,nb->na", rotation_matrices(after), relative_omega)
    return z


def _of_cases(motion: JointMotion, count: int) -> JointMotion:
    """The motion of joints (joints, ...) or (joints, m, ...) for so many states of each, one after the other."""

    def cases(array: Floats, own: int) -> Floats:
        if array.ndim > 1 + own:
            return array.reshape(-1, *array.shape[2:])
        return array if count == 1 else np.repeat(array, count, axis=0)

    steps = tuple(replace(step, axis=cases(step.axis, 1), point=cases(step.point, 1)) for step in motion.steps)
    return replace(motion, steps=steps, reference=Pose(cases(motion.reference.A, 2), cases(motion.reference.r, 1)))


def moved_coordinates(tree: TreeSteps, q: Floats, way: Floats) -> Floats:
    """Coordinates (m, n) of a tree after a way (m, rates) from q: turns of balls and free bodies are rotation vectors."""
    from scipy.spatial.transform import Rotation

    if tree.turns_and_slides:
        return q + way
    q = q.copy()
    for at, to, own, turn in _parts(tree):
        q[:, at] += way[:, to]
        if own is not None:
            q[:, own] = products(q[:, own], Rotation.from_rotvec(way[:, turn]).as_quat(scalar_first=True))
    return q


def way_between(tree: TreeSteps, a: Floats, b: Floats) -> Floats:
    """The way (m, rates) from coordinates a to b (m, n), as of ``moved_coordinates``."""
    from scipy.spatial.transform import Rotation

    if tree.turns_and_slides:
        return b - a
    places = tree.places
    found = np.empty((len(a), places[1][-1] - places[0][-1]))
    for at, to, own, turn in _parts(tree):
        found[:, to] = b[:, at] - a[:, at]
        if own is not None:
            turned = products(a[:, own] * CONJUGATE, b[:, own])
            found[:, turn] = Rotation.from_quat(turned, scalar_first=True).as_rotvec()
    return found


def _parts(tree: TreeSteps) -> Iterator[tuple[slice, slice, slice | None, slice]]:
    """Places, by step, of coordinates whose derivatives are rates, of these rates, of Euler parameters, and of their rates."""
    places, first = tree.places, tree.places[0][-1]
    for kind, q, u in zip(tree.kinds, *places, strict=False):
        slopes, u = SLOPES[kind], u - first
        own = slice(q + slopes, q + slopes + 4) if kind in ("ball", "free") else None
        yield slice(q, q + slopes), slice(u, u + slopes), own, slice(u + slopes, u + slopes + 3)


def _turns(p: Floats, reference: Floats) -> Floats:
    """Euler parameters (n, 4) of the turns of a body since the reference configuration."""
    return products(p, np.broadcast_to(reference * CONJUGATE, p.shape))


def products(e: Floats, f: Floats) -> Floats:
    """Euler parameters (..., 4) of the turns f followed by the turns e."""
    return np.stack(python_code(product)(e.T, f.T), axis=-1)
