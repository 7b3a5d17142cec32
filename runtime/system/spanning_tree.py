"""The tree of a system without closed loops, from the ground outwards: each step moves all bodies beyond it by one coordinate.

The steps are those of the motions of the joints (``codegen.motions``), about axes and points of the reference configuration in
global axes.  A joint whose body i is the outer one is walked from body j: its steps come in the opposite order, with the opposite
sign.  Bodies that joints lock to each other move as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from generated import digests
from runtime.dynamics.layout import GROUND_INDEX, STATE, P, R, V
from runtime.dynamics.lift import GROUND_STEP, SLIDE, TURN, LiftWorkspace, TreeData
from runtime.support.arrays import Floats
from runtime.system.joint_motion import FULL_TURN, JointMotion, coordinates, rates, relative_poses
from runtime.system.model_description import key_of
from runtime.system.parts import Body, Joint
from runtime.system.reference import body_places, rotation_matrix, states_with_ground

LOCKED = (
    1e-6  # smallest singular value of the rows between two bodies, divided by their sizes, that lock them to each other
)
OF_KIND = {"turn": TURN, "slide": SLIDE}


class NoTreeError(Exception):
    """Why a system has no tree of turns and slides."""


@dataclass(frozen=True)
class Coordinate:
    """Where a coordinate of the tree is in the motion of its joint."""

    joint: str
    place: int  # among the coordinates of the joint
    sign: float


@dataclass(frozen=True)
class SpanningTree:
    """Steps in order, each after the one that carries it; vectors in global axes, in the reference configuration."""

    coordinates: tuple[Coordinate, ...]
    kinds: tuple[str, ...]  # "turn" or "slide"
    parents: tuple[int, ...]  # the step that carries each; GROUND_STEP: none
    axis: Floats  # (n, 3)
    point: Floats  # (n, 3) [m] on the axis of a turn
    mass: Floats  # (n,) of the bodies that the step moves and no later one does
    moment: Floats  # (n, 3) mass times the way from the point of the step to their centre [kg m]
    inertia: Floats  # (n, 3, 3) about the point [kg m^2]
    body_step: tuple[int, ...]  # (bodies,) the last step that moves each body
    pose: Floats  # (bodies, 7) in the reference configuration

    @property
    def name(self) -> str:
        """Of its steps, such as "tree_turn_turn"; a step that the one before does not carry names the one that does."""
        words = [
            kind if parent == k - 1 else f"{kind}_on_{parent + 1}"
            for k, (kind, parent) in enumerate(zip(self.kinds, self.parents, strict=True))
        ]
        return "_".join(["tree", *words])

    @property
    def key(self) -> str:
        """Of the module of its equations, which serves all trees of the same steps."""
        return key_of([digests.WHOLE, "tree", self.kinds, self.parents])


def spanning_tree(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    motions: Mapping[str, JointMotion],
    y: Floats,
    D: Callable[[], Floats],
) -> SpanningTree:
    """The tree of bodies and joints.

    Parameters
    ----------
    motions : mapping
        By the names of the joints that have coordinates.
    y : (13 bodies,)
        The reference configuration.
    D : callable
        The rows of the joints there, (joints, 6, 12).

    Raises
    ------
    NoTreeError
        With the reason why there is none.
    """
    steps = _Steps(bodies, motions, states_with_ground(y))
    groups = _locked(joints, steps.places, D)
    for joint, outwards in _walk(joints, steps.places, groups):
        steps.add(joint, outwards, groups)
    return steps.tree(groups)


def _locked(joints: Sequence[Joint], places: Mapping[str, int], D: Callable[[], Floats]) -> list[int]:
    """For each body and the ground the first body of those that are locked to it."""
    group = list(range(len(places)))
    pairs: dict[tuple[int, int], list[int]] = {}
    for k, joint in enumerate(joints):
        i, j = sorted((places[joint.body_i], places[joint.body_j]))
        pairs.setdefault((i, j), []).append(k)
    rows = None
    for (i, j), which in pairs.items():
        fixed = any(joints[k].module.MOTION == () for k in which)
        if not fixed and len(which) > 1:
            rows = D() if rows is None else rows
            # Seen from body i: the columns of body j, which may be the first of a joint.
            of_j = [rows[k, : len(joints[k].rows), 6 * (places[joints[k].body_i] != j) :][:, :6] for k in which]
            own = np.concatenate(of_j)
            values = np.linalg.svd(own / np.linalg.norm(own, axis=1)[:, None], compute_uv=False)
            if len(values) < 6 or values[5] < LOCKED:
                names = " and ".join(f"'{joints[k].name}'" for k in which)
                raise NoTreeError(f"the joints {names} connect the same bodies")
            fixed = True
        if fixed:
            first, other = sorted((group[i], group[j]))
            group = [first if g == other else g for g in group]
    return group


def _walk(joints: Sequence[Joint], places: Mapping[str, int], groups: Sequence[int]) -> list[tuple[Joint, bool]]:
    """The joints between groups of bodies from the ground outwards, and whether each is walked from body i to body j."""
    left = []
    for joint in joints:
        i, j = groups[places[joint.body_i]], groups[places[joint.body_j]]
        if i != j:
            left.append((joint, i, j))
    reached, walked = {groups[GROUND_INDEX]}, []
    while left:
        ready = [(joint, i, j) for joint, i, j in left if i in reached or j in reached]
        if not ready:
            raise NoTreeError("it has bodies that no joint connects with the ground")
        joint, i, j = ready[0]
        if i in reached and j in reached:
            raise NoTreeError(f"joint '{joint.name}' closes a loop")
        walked.append((joint, i in reached))
        reached |= {i, j}
        left = [one for one in left if one[0] is not joint]
    if lonely := [name for name, b in places.items() if groups[b] not in reached]:
        raise NoTreeError(f"no joint connects body '{lonely[0]}' with the ground")
    return walked


class _Steps:
    """The steps of the joints that were walked."""

    def __init__(self, bodies: Sequence[Body], motions: Mapping[str, JointMotion], states: Floats) -> None:
        self.bodies, self.motions, self.states = bodies, motions, states
        self.places = body_places(body.name for body in bodies)
        self.last: dict[int, int] = {}  # step that moves a group
        self.coordinates: list[Coordinate] = []
        self.kinds: list[str] = []
        self.parents: list[int] = []
        self.axes: list[Floats] = []
        self.points: list[Floats] = []

    def add(self, joint: Joint, outwards: bool, groups: Sequence[int]) -> None:
        """The steps of a joint, which is walked from body i to body j, or from j to i."""
        motion = self.motions.get(joint.name)
        if motion is None:
            raise NoTreeError(f"joint '{joint.name}' ({joint.kind}) has no motion")
        i, j = self.places[joint.body_i], self.places[joint.body_j]
        inner, outer = (i, j) if outwards else (j, i)
        parent = self.last.get(groups[inner], GROUND_STEP)
        A, r = rotation_matrix(self.states[i, P:V]), self.states[i, R:P]
        numbered = list(enumerate(motion.steps))
        for place, step in numbered if outwards else reversed(numbered):
            if step.kind == "ball":
                raise NoTreeError(f"joint '{joint.name}' ({joint.kind}) turns about any axis")
            self.coordinates.append(Coordinate(joint.name, place, 1.0 if outwards else -1.0))
            self.kinds.append(step.kind)
            self.parents.append(parent)
            self.axes.append(A @ step.axis)
            before = self.points[parent] if parent >= 0 else r + A @ step.point
            self.points.append(r + A @ step.point if step.kind == "turn" else before)
            parent = len(self.kinds) - 1
        self.last[groups[outer]] = parent

    def tree(self, groups: Sequence[int]) -> SpanningTree:
        """All steps, with the masses that they carry."""
        n, bodies = len(self.kinds), self.bodies
        mass, moment, inertia = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
        body_step = tuple(self.last.get(groups[b], GROUND_STEP) for b in range(1, len(bodies) + 1))
        for b, (body, step) in enumerate(zip(bodies, body_step, strict=True), 1):
            if step == GROUND_STEP:
                continue
            A, arm = rotation_matrix(self.states[b, P:V]), self.states[b, R:P] - self.points[step]
            mass[step] += body.mass
            moment[step] += body.mass * arm
            inertia[step] += A @ body.inertia @ A.T + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return SpanningTree(
            tuple(self.coordinates), tuple(self.kinds), tuple(self.parents), np.reshape(self.axes, (n, 3)),
            np.reshape(self.points, (n, 3)), mass, moment, inertia, body_step, self.states[1:, :V].copy(),
        )  # fmt: skip


def joint_coordinates(
    tree: SpanningTree, names: Sequence[str], motions: Mapping[str, JointMotion], y: Floats
) -> Floats:
    """Coordinates and then rates (m, 2 n) of the steps of a tree in states y (m, 13 bodies) of bodies of these names.

    Angles are less than half a turn from the reference configuration.
    """
    places, own = body_places(names), y.reshape(len(y), -1, STATE)
    ground = states_with_ground(y[0])[GROUND_INDEX]
    states = np.concatenate([np.broadcast_to(ground, (len(y), 1, STATE)), own], axis=1)
    found: dict[str, tuple[Floats, Floats]] = {}
    for name in {c.joint for c in tree.coordinates}:
        motion = motions[name]
        of_i, of_j = (states[:, places[b]] for b in (motion.joint.body_i, motion.joint.body_j))
        poses = relative_poses(of_i, of_j)
        found[name] = coordinates(motion, poses), rates(motion, poses, of_i, of_j)
    q, u = (np.stack([c.sign * found[c.joint][k][:, c.place] for c in tree.coordinates], axis=1) for k in range(2))
    turns = [k for k, kind in enumerate(tree.kinds) if kind == "turn"]
    q[:, turns] -= FULL_TURN * np.round(q[:, turns] / FULL_TURN)  # unrelated states follow each other here
    return np.hstack([q, u])


def tree_data(tree: SpanningTree) -> TreeData:
    """A tree as data of compiled code."""
    poses, at = tree.pose, np.vstack([tree.point, np.zeros(3)])  # the last: of the ground
    return TreeData(
        kind=np.array([OF_KIND[kind] for kind in tree.kinds]), parent=np.array(tree.parents), axis=tree.axis, way=_ways(tree),
        step=np.array(tree.body_step), arm=poses[:, R:P] - at[list(tree.body_step)], p=np.ascontiguousarray(poses[:, P:V]),
    )  # fmt: skip


def lift_workspace(steps: int) -> LiftWorkspace:
    """Memory for a tree of so many steps."""
    n = steps + 1
    return LiftWorkspace(
        np.zeros((n, 3)), np.zeros((n, 4)), np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((2, 3))
    )


def tree_parameters(tree: SpanningTree, gravity: Floats) -> list[float]:
    """The parameters of a tree as the function ``prepare`` of its kernel takes them."""
    upper = np.triu_indices(3)
    steps = [
        np.concatenate([a, way, [m], moment, inertia[upper]])
        for a, way, m, moment, inertia in zip(tree.axis, _ways(tree), tree.mass, tree.moment, tree.inertia, strict=True)
    ]
    found: list[float] = np.concatenate([gravity, *steps]).tolist()
    return found


def reaches(tree: SpanningTree) -> Floats:
    """For each step the largest distance [m] of a body that it moves from its point, in the reference configuration; (n,)."""
    found = np.zeros(len(tree.kinds))
    for body, step in enumerate(tree.body_step):
        while step != GROUND_STEP:
            found[step] = max(found[step], float(np.linalg.norm(tree.pose[body, R:P] - tree.point[step])))
            step = tree.parents[step]
    return found


def _ways(tree: SpanningTree) -> Floats:
    """From the point of the step before, or from the origin, to that of each step, (n, 3)."""
    at = np.vstack([tree.point, np.zeros(3)])
    ways: Floats = tree.point - at[list(tree.parents)]
    return ways
