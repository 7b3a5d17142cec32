"""The degrees of freedom of a system by name: the motions that each joint admits, as motions of all bodies.

The joints span a tree from the ground, or from a body that may float.  The bodies on the distal side of a joint of the tree
move as one when only this joint moves.  In a closed loop no joint can move alone; joints in loops are left out here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import GROUND_INDEX, P, R
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.support.arrays import Floats, Ints
from runtime.support.latest import Latest
from runtime.system.connected import connected
from runtime.system.reference import placed_vectors, rotation_matrix, states_with_ground
from runtime.system.system import System

ADMITTED = 1e-7  # a joint admits a motion of 1 rad or 1 m if its rows change by less
NULL = 1e-7  # singular values below this fraction of the largest are zero


@dataclass(frozen=True)
class DegreeOfFreedom:
    """One degree of freedom.

    ``name``: "joint.axis", such as "ankle.a_j": rotation of the distal body about this axis of the joint; "joint.along_a_i":
    translation along an axis; "joint.x": rotation about the x axis of the distal body; "joint.twist_1": any other motion
    that the joint admits; "body.x", "body.turn_x": translation and rotation of a floating body along and about global axes.
    """

    name: str
    joint: str  # "" for a floating body
    distal: str  # the body that moves
    turning: bool  # a rotation [rad], with a moment [N m] as effort; else a translation [m], with a force [N]


@dataclass(frozen=True)
class Branch:
    """The distal side of a joint: ``bodies`` (by index) move as one when only the joint moves."""

    proximal: int
    distal: int
    joints: tuple[int, ...]  # all joints between the two bodies
    bodies: tuple[int, ...]


Tree = tuple[list[Branch], dict[int, tuple[int, ...]]]


def branches(system: System) -> Tree:
    """Return the branches of the tree of joints, and the bodies connected with each floating root; body 0 is the ground.

    Joints in closed loops are left out.
    """
    edges: dict[tuple[int, int], list[int]] = {}
    for k, joint in enumerate(system.joints):
        if not joint.signals:
            a, b = int(system.data.body_i[k]), int(system.data.body_j[k])
            edges.setdefault((min(a, b), max(a, b)), []).append(k)
    roots: dict[int, tuple[int, ...]] = {}
    found: list[Branch] = []

    def reached(start: int, of: Iterable[tuple[int, int]]) -> tuple[int, ...]:
        group = connected(len(system.bodies) + 1, of)[0]
        return tuple(body for body, own in enumerate(group) if own == group[start])

    seen: set[int] = set()
    free_first = sorted(range(1, len(system.bodies) + 1), key=lambda body: not system.bodies[body - 1].free)
    for root in (GROUND_INDEX, *free_first):
        if root in seen:
            continue
        if root != GROUND_INDEX:
            roots[root] = reached(root, edges)
        seen.add(root)
        front = [root]
        for near in front:  # which grows
            for pair, joints in edges.items():
                if near not in pair or (far := sum(pair) - near) in seen:
                    continue
                front.append(far)
                seen.add(far)
                # Bodies that also reach the ground by another chain of joints cannot move as one: they are in a loop.
                beyond = reached(far, [edge for edge in edges if edge != pair])
                if near not in beyond:
                    found.append(Branch(near, far, tuple(joints), beyond))
    return found, roots


def degrees_of_freedom(
    system: System, time: float, y: Floats, tree: Tree | None = None
) -> tuple[list[DegreeOfFreedom], Floats, Floats]:
    """Return the n degrees of freedom of the joints, without drivers, in a configuration; their motions and measures.

    motions (6 bodies, n): velocities v, omega of all bodies when the rate of one degree of freedom is 1 and all others are 0.
    measures (n, 6 bodies): the rates of the degrees of freedom are the measures times the velocities of all bodies.
    tree : result of ``branches``, which is the same in all configurations
    """
    work, states = rows_at(system, time, y), states_with_ground(y)
    found, roots = tree or branches(system)
    names: list[DegreeOfFreedom] = []
    columns: list[Floats] = []
    rows: list[Floats] = []

    def add(degree: DegreeOfFreedom, bodies: tuple[int, ...], twist: Floats, about: Floats) -> None:
        motion, beyond = np.zeros((len(system.bodies) + 1, 6)), list(bodies)
        motion[beyond] = twist
        motion[beyond, :3] += np.cross(twist[3:], states[beyond, R:P] - about)
        names.append(degree)
        columns.append(motion[1:].ravel())

    for root, beyond in roots.items():
        body, own_rates = system.bodies[root - 1].name, np.zeros((6, len(system.bodies) + 1, 6))
        own_rates[:, root] = np.eye(6)
        rows += list(own_rates[:, 1:].reshape(6, -1))
        for k in range(6):
            name = f"{body}.{'xyz'[k]}" if k < 3 else f"{body}.turn_{'xyz'[k - 3]}"
            add(DegreeOfFreedom(name, "", body, k >= 3), beyond, np.eye(6)[k], states[root, R:P])
    for branch in found:
        side = slice(6, 12), slice(0, 6)
        D = np.concatenate(
            [
                work.D[k, : len(system.joints[k].rows), side[int(system.data.body_i[k] == branch.distal)]]
                for k in branch.joints
            ]
        )
        own = _own(system, branch, states, D)
        rows += list(_relative(branch, states, own))
        for name, twist, turning in own:
            distal = system.bodies[branch.distal - 1].name
            joint = system.joints[branch.joints[0]].name
            add(
                DegreeOfFreedom(f"{joint}.{name}", joint, distal, turning),
                branch.bodies,
                twist,
                states[branch.distal, R:P],
            )
    motions = np.array(columns).T if columns else np.zeros((6 * len(system.bodies), 0))
    measures = np.array(rows) if rows else np.zeros((0, 6 * len(system.bodies)))
    return names, motions, measures


def _relative(branch: Branch, states: Floats, own: list[tuple[str, Floats, bool]]) -> Floats:
    """Rates of a joint's own twists from the velocities of all bodies, (twists, 6 bodies).

    The motion is that of the distal body relative to the point of the proximal body at the distal centre of mass.
    """
    if not own:
        return np.zeros((0, 6 * (len(states) - 1)))
    relative = np.zeros((6, len(states), 6))
    relative[:, branch.distal] = np.eye(6)
    arm = states[branch.distal, R:P] - states[branch.proximal, R:P]
    relative[:, branch.proximal] = -np.eye(6)
    relative[:3, branch.proximal, 3:] = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    return np.linalg.pinv(np.array([twist for _, twist, _ in own]).T) @ relative[:, 1:].reshape(6, -1)


def _own(system: System, branch: Branch, states: Floats, D: Floats) -> list[tuple[str, Floats, bool]]:
    """Twists (v of the centre of mass, omega) of the distal body that the joints between two bodies admit, by name."""
    admitted = null_space(D)
    centre = states[branch.distal, R:P]
    candidates: list[tuple[str, Floats, bool]] = []
    for k in branch.joints:
        joint = system.joints[k]
        owner = {"i": int(system.data.body_i[k]), "j": int(system.data.body_j[k])}
        of = list(placed_vectors(joint, states[owner["i"]], states[owner["j"]]))
        axes = [(name, axis, side) for name, kind, side, axis in of if kind != "point"]
        points = {side: point for _, kind, side, point in of if kind == "point"}
        A = rotation_matrix(states[branch.distal, P : P + 4])
        side = "j" if owner["j"] == branch.distal else "i"
        turns = [(name, axis, points.get(own, next(iter(points.values()), centre))) for name, axis, own in axes]
        turns += [("xyz"[c], A[:, c], points.get(side, centre)) for c in range(3)]
        names, along, about = zip(*turns, strict=True)
        twists = np.hstack([np.cross(along, centre - np.array(about)), along])
        free = list(zip(names, twists, [True] * len(turns), strict=True))
        slides = [(f"along_{name}", np.concatenate([axis, np.zeros(3)]), False) for name, axis, _ in axes]
        candidates += [*free[:-3], *slides, *free[-3:]]
    chosen: list[tuple[str, Floats, bool]] = []
    basis = np.zeros((6, 0))
    for name, twist, turning in candidates:
        if len(chosen) == admitted.shape[1]:
            break
        outside = twist - admitted @ (admitted.T @ twist)
        new = twist - basis @ (basis.T @ twist)
        if np.linalg.norm(outside) < ADMITTED * np.linalg.norm(twist) and np.linalg.norm(new) > 1e-3 * np.linalg.norm(
            twist
        ):
            chosen.append((name, twist, turning))
            basis = np.linalg.qr(np.column_stack([basis, twist]))[0]
    rest = admitted - basis @ (basis.T @ admitted)
    left, sizes, _ = np.linalg.svd(rest, full_matrices=False) if rest.size else (rest, np.zeros(0), rest)
    for n in range(admitted.shape[1] - len(chosen)):
        chosen.append((f"twist_{n + 1}", left[:, n], bool(np.linalg.norm(left[3:, n]) > 0.5)))
    return chosen


def rows_at(system: System, time: float, y: Floats, data: ModelData | None = None) -> Workspace:
    """Memory in which the rows of a system, or of other data of it, are evaluated in a state (13 bodies,)."""
    data = system.data if data is None else data
    work: Workspace = shared_workspace_for(data)
    projection.worst_row(time, y, data, work, False)
    return work


def dense_rows(system: System, D: Floats, drivers: bool | None = None) -> Floats:
    """Dense rows of D on all bodies, (m, 6 bodies): of all, of the drivers alone, or of the joints alone."""
    k, r = _places(system)[drivers]
    every, rows = np.arange(len(k)), np.zeros((len(k), len(system.bodies) + 1, 6))
    rows[every, system.data.body_i[k]] += D[k, r, :6]
    rows[every, system.data.body_j[k]] += D[k, r, 6:]
    return rows[:, 1:].reshape(len(k), 6 * len(system.bodies))


def stacked(system: System, values: Floats, drivers: bool | None = None) -> Floats:
    """Phi, Phi' or gamma (joints, 6) of the rows of ``dense_rows``, (m,)."""
    k, r = _places(system)[drivers]
    return values[k, r]


def row_places(system: System, drivers: bool | None = None) -> list[tuple[int, int]]:
    """Joint and row within it of all of ``dense_rows``."""
    joints = [k for k, joint in enumerate(system.joints) if drivers is None or bool(joint.signals) == drivers]
    return [(k, r) for k in joints for r in range(len(system.joints[k].rows))]


def _found_places(system: System) -> dict[bool | None, Ints]:
    """``row_places`` (2, m) of all rows, of the joints alone, and of the drivers alone."""
    return {of: np.array(row_places(system, of), np.int64).reshape(-1, 2).T for of in (None, False, True)}


_places = Latest(_found_places, 16)


def null_space(D: Floats) -> Floats:
    """Orthonormal basis of the null space of D, as columns."""
    return solutions(D, np.zeros(len(D)))[1]


def solutions(D: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """The least x with D x nearest to what is wanted, rows of D having the length 1, and the null space of D, as columns."""
    if not D.size:
        return np.zeros(D.shape[1]), np.eye(D.shape[1])
    lengths = np.maximum(np.linalg.norm(D, axis=1), 1e-300)
    left, sizes, right = np.linalg.svd(D / lengths[:, None])
    rank = int((sizes > NULL * sizes.max(initial=0.0)).sum())
    return right[:rank].T @ ((left.T @ (wanted / lengths))[:rank] / sizes[:rank]), right[rank:].T


def undriven(system: System, time: float, y: Floats, rows: Floats) -> list[str]:
    """Names of the degrees of freedom that the rows of joints and drivers (m, 6 bodies) leave open; of bodies in closed loops."""
    open_motions = null_space(rows)
    if not open_motions.shape[1]:
        return []
    degrees, motions, _ = degrees_of_freedom(system, time, y)
    if motions.shape[1] < open_motions.shape[1]:  # closed loops
        return [system.bodies[int(np.abs(column).argmax()) // 6].name for column in open_motions.T]
    # As many degrees of freedom as there are open motions, chosen by pivoting to be as independent as possible.
    rates = np.linalg.lstsq(motions, open_motions, rcond=None)[0]
    from scipy.linalg import qr

    _, _, order = qr(rates.T, pivoting=True)
    chosen = sorted(order[: open_motions.shape[1]])
    return [degrees[k].name for k in chosen]
