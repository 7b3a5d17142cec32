"""Coordinates and rates of a tree in states of its bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX, OMEGA, STATE, P, R, V
from runtime.dynamics.lift import product
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats
from runtime.system.joint_motion import FULL_TURN, JointMotion, coordinates, rates, relative_poses
from runtime.system.reference import body_places, rotation_matrices, states_with_ground
from runtime.system.spanning_tree import SLOPES, TreeSteps

CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])  # times Euler parameters: those of the turn back


def joint_coordinates(
    tree: TreeSteps, names: Sequence[str], motions: Mapping[str, JointMotion], y: Floats, pose: Floats | None = None
) -> Floats:
    """Coordinates and then rates (m, n) of a tree in states y (m, 13 bodies) of bodies of these names, as of ``TreeData``.

    Angles are less than half a turn from the reference configuration.  ``pose`` (m, bodies, 7): that of the bodies in it, where
    states have their own, as the motions then have.
    """
    places, own = body_places(names), y.reshape(len(y), -1, STATE)
    states = states_with_ground(y)
    pose = tree.pose[None] if pose is None else pose
    poses = np.concatenate([np.broadcast_to(states[:1, GROUND_INDEX, None, :V], (len(pose), 1, V)), pose], axis=1)
    found: dict[str, tuple[Floats, Floats]] = {}
    moving = bool(own[..., V:].any())
    alike = not (own[..., :V] != own[:1, :, :V]).any()
    for name in {c.joint for c in tree.coordinates if c.joint}:
        motion = motions[name]
        of_i, of_j = (states[:, places[b]] for b in (motion.joint.body_i, motion.joint.body_j))
        first = slice(1) if alike and motion.of_all else slice(None)
        relative = relative_poses(of_i[first], of_j[first])
        values = np.broadcast_to(coordinates(motion, relative), (len(y), len(motion.units)))
        found[name] = values, rates(motion, relative, of_i, of_j) if moving else np.zeros_like(values)
    q, u = [], []
    for c, kind in zip(tree.coordinates, tree.kinds, strict=True):
        inner, outer = places[c.inner], places[c.outer]
        if kind in ("turn", "slide"):
            value, rate = (c.sign * found[c.joint][k][:, c.place : c.place + 1] for k in range(2))
            # Unrelated states follow each other here.
            q.append(value - FULL_TURN * np.round(value / FULL_TURN) if kind == "turn" else value)
            u.append(rate)
            continue
        if kind == "free":
            q.append(states[:, outer, R:P] - poses[:, outer, R:P])
            u.append(states[:, outer, V:OMEGA])
        before, after = (_turns(states[:, b, P:V], poses[:, b, P:V]) for b in (inner, outer))
        q.append(products(before * CONJUGATE, after))
        relative_omega = states[:, outer, OMEGA:] - states[:, inner, OMEGA:]
        u.append(np.einsum("nba,nb->na", rotation_matrices(after), relative_omega))
    return np.hstack([np.zeros((len(y), 0)), *q, *u])


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
