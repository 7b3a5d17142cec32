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
from runtime.dynamics.layout import GROUND_INDEX, OMEGA, STATE, P, R, V
from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN, TreeData, product
from runtime.dynamics.limits_along import LimitAlong
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats
from runtime.system.joint_motion import FULL_TURN, JointMotion, coordinates, rates, relative_poses
from runtime.system.model_description import key_of
from runtime.system.parts import GROUND, Body, Joint
from runtime.system.reference import body_places, rotation_matrices, rotation_matrix, states_with_ground

LOCKED = (
    1e-6  # smallest singular value of the rows between two bodies, divided by their sizes, that lock them to each other
)
OF_KIND = {"turn": TURN, "slide": SLIDE, "ball": BALL, "free": FREE}
COORDINATES = {"turn": 1, "slide": 1, "ball": 4, "free": 7}  # numbers in the state
OF_GRAVITY, OF_STEP = 3, 16  # parameters of a kernel: see ``tree_parameters``
RATES = {"turn": 1, "slide": 1, "ball": 3, "free": 6}
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])  # times Euler parameters: those of the turn back


class NoTreeError(Exception):
    """Why a system has no tree."""


@dataclass(frozen=True)
class Coordinate:
    """Where the coordinate of a step is in the motion of its joint, and what the step connects."""

    joint: str  # "" of a body that nothing holds
    place: int  # among the coordinates of the joint
    sign: float
    inner: str  # body or ground
    outer: str


@dataclass(frozen=True)
class SpanningTree:
    """Steps in order, each after the one that carries it; vectors in global axes, in the reference configuration."""

    coordinates: tuple[Coordinate, ...]
    kinds: tuple[str, ...]  # "turn", "slide", "ball" or "free"
    parents: tuple[int, ...]  # the step that carries each; GROUND_STEP: none
    axis: Floats  # (n, 3)
    point: Floats  # (n, 3) [m] on the axis of a turn
    mass: Floats  # (n,) of the bodies that the step moves and no later one does
    moment: Floats  # (n, 3) mass times the way from the point of the step to their centre [kg m]
    inertia: Floats  # (n, 3, 3) about the point [kg m^2]
    body_step: tuple[int, ...]  # (bodies,) the last step that moves each body
    pose: Floats  # (bodies, 7) in the reference configuration
    limits: tuple[
        LimitAlong, ...
    ] = ()  # those of the system where all of them restrain coordinates, and no other forces act

    @property
    def turns_and_slides(self) -> bool:
        """Whether all steps are turns and slides, so that its equations can be polynomials."""
        return not {"ball", "free"} & set(self.kinds)

    @property
    def name(self) -> str:
        """Of its steps, such as "tree_turn_turn"; a step that the one before does not carry names the one that does."""
        words = [
            kind if parent == k - 1 else f"{kind}_on_{parent + 1}"
            for k, (kind, parent) in enumerate(zip(self.kinds, self.parents, strict=True))
        ]
        of_limits = [f"limit_{limit.step + 1}" for limit in self.limits]
        return "_".join(["tree", *words, *of_limits])

    @property
    def key(self) -> str:
        """Of the module of its equations, which serves all trees of the same steps."""
        return key_of([digests.WHOLE, "tree", self.kinds, self.parents, self.limited_steps])

    @property
    def limited_steps(self) -> tuple[int, ...]:
        """The step that each of its limits restrains."""
        return tuple(limit.step for limit in self.limits)


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
    reached = {groups[GROUND_INDEX]}
    _walk(steps, joints, groups, reached)
    for name, b in steps.places.items():
        if groups[b] not in reached:
            steps.free(name, groups)
            reached.add(groups[b])
            _walk(steps, joints, groups, reached)
    if not steps.kinds:
        raise NoTreeError("nothing in it moves")
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


def _walk(steps: _Steps, joints: Sequence[Joint], groups: Sequence[int], reached: set[int]) -> None:
    """Add the steps of the joints that lead outwards from the groups of bodies that are reached."""
    left = [(joint, groups[steps.places[joint.body_i]], groups[steps.places[joint.body_j]]) for joint in joints]
    left = [(joint, i, j) for joint, i, j in left if i != j and joint.name not in steps.walked]
    while ready := [(joint, i, j) for joint, i, j in left if i in reached or j in reached]:
        joint, i, j = ready[0]
        if i in reached and j in reached:
            raise NoTreeError(f"joint '{joint.name}' closes a loop")
        steps.add(joint, i in reached, groups)
        reached |= {i, j}
        left = [one for one in left if one[0] is not joint]


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
        self.walked: set[str] = set()  # names of joints

    def add(self, joint: Joint, outwards: bool, groups: Sequence[int]) -> None:
        """The steps of a joint, which is walked from body i to body j, or from j to i."""
        self.walked.add(joint.name)
        motion = self.motions.get(joint.name)
        if motion is None:
            raise NoTreeError(f"joint '{joint.name}' ({joint.kind}) has no motion")
        i, j = self.places[joint.body_i], self.places[joint.body_j]
        inner, outer = (i, j) if outwards else (j, i)
        parent = self.last.get(groups[inner], GROUND_STEP)
        A, r = rotation_matrix(self.states[i, P:V]), self.states[i, R:P]
        ends = (joint.body_i, joint.body_j) if outwards else (joint.body_j, joint.body_i)
        place, numbered = 0, []
        for step in motion.steps:
            numbered.append((place, step))
            place += len(step.columns)
        for place, step in numbered if outwards else reversed(numbered):
            at = r + A @ step.point
            point = self.points[parent] if step.kind == "slide" and parent >= 0 else at
            coordinate = Coordinate(joint.name, place, 1.0 if outwards else -1.0, *ends)
            parent = self._put(coordinate, step.kind, parent, A @ step.axis, point)
        self.last[groups[outer]] = parent

    def free(self, name: str, groups: Sequence[int]) -> None:
        """The step of a body that nothing holds."""
        b = self.places[name]
        coordinate = Coordinate("", 0, 1.0, GROUND, name)
        self.last[groups[b]] = self._put(coordinate, "free", GROUND_STEP, np.zeros(3), self.states[b, R:P])

    def _put(self, coordinate: Coordinate, kind: str, parent: int, axis: Floats, point: Floats) -> int:
        self.coordinates.append(coordinate)
        self.kinds.append(kind)
        self.parents.append(parent)
        self.axes.append(axis)
        self.points.append(point)
        return len(self.kinds) - 1

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
    """Coordinates and then rates (m, n) of a tree in states y (m, 13 bodies) of bodies of these names, as of ``TreeData``.

    Angles are less than half a turn from the reference configuration.
    """
    places, own = body_places(names), y.reshape(len(y), -1, STATE)
    ground = states_with_ground(y[0])[GROUND_INDEX]
    states = np.concatenate([np.broadcast_to(ground, (len(y), 1, STATE)), own], axis=1)
    poses = np.vstack([ground[:V], tree.pose])
    found: dict[str, tuple[Floats, Floats]] = {}
    for name in {c.joint for c in tree.coordinates if c.joint}:
        motion = motions[name]
        of_i, of_j = (states[:, places[b]] for b in (motion.joint.body_i, motion.joint.body_j))
        relative = relative_poses(of_i, of_j)
        found[name] = coordinates(motion, relative), rates(motion, relative, of_i, of_j)
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
            q.append(states[:, outer, R:P] - poses[outer, R:P])
            u.append(states[:, outer, V:OMEGA])
        before, after = (_turns(states[:, b, P:V], poses[b, P:V]) for b in (inner, outer))
        q.append(_products(before * CONJUGATE, after))
        relative_omega = states[:, outer, OMEGA:] - states[:, inner, OMEGA:]
        u.append(np.einsum("nba,nb->na", rotation_matrices(before), relative_omega))
    return np.hstack(q + u)


def _turns(p: Floats, reference: Floats) -> Floats:
    """Euler parameters (n, 4) of the turns of a body since the reference configuration."""
    return _products(p, np.broadcast_to(reference * CONJUGATE, p.shape))


def _products(e: Floats, f: Floats) -> Floats:
    """Euler parameters (n, 4) of turns f, each followed by a turn e."""
    out = np.empty(e.shape)
    python_code(product)(e.T, f.T, out.T)
    return out


def tree_data(tree: SpanningTree, gravity: Floats) -> TreeData:
    """A tree as data of compiled code."""
    poses, at = tree.pose, np.vstack([tree.point, np.zeros(3)])  # the last: of the ground
    kinds = [OF_KIND[kind] for kind in tree.kinds]
    q = np.cumsum([0, *(COORDINATES[kind] for kind in tree.kinds)])
    u = q[-1] + np.cumsum([0, *(RATES[kind] for kind in tree.kinds)])
    return TreeData(
        kind=np.array(kinds, np.int64), parent=np.array(tree.parents, np.int64), q=q[:-1], u=u[:-1], axis=tree.axis,
        way=_ways(tree), mass=tree.mass, moment=tree.moment, inertia=tree.inertia, gravity=gravity.copy(),
        step=np.array(tree.body_step), arm=poses[:, R:P] - at[list(tree.body_step)], p=np.ascontiguousarray(poses[:, P:V]),
    )  # fmt: skip


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
