"""The spanning tree of a system, from the ground outwards: each step moves all bodies beyond it by one coordinate.

The steps are those of the motions of the joints (``codegen.motions``), about axes and points of the reference configuration in
global axes.  A joint whose body i is the outer one is walked from body j: its steps come in the opposite order, with the opposite
sign.  Bodies that joints lock to each other move as one.  Joints that close a loop, and those without a motion, are no steps:
their rows restrain the coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np

from generated import digests, law_cubic
from runtime.dynamics.layout import GROUND_INDEX, P, V
from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, OF_OWN_TURN, SLIDE, TURN, TreeData
from runtime.dynamics.limits_along import LimitAlong
from runtime.support.arrays import Floats, Ints
from runtime.system.connected import connected
from runtime.system.joint_motion import JointMotion
from runtime.system.model_description import key_of
from runtime.system.parts import GROUND, Body, Joint
from runtime.system.reference import body_places, states_with_ground
from runtime.system.tree_geometry import (
    Carried,
    Coordinate,
    Geometry,
    Skeleton,
    carried,
    geometry,
    kernel_parameters,
)

# Smallest singular value of the rows between two bodies, divided by their sizes, that lock them to each other
LOCKED = 1e-6
OF_KIND = {"turn": TURN, "slide": SLIDE, "ball": BALL, "free": FREE}
COORDINATES = {"turn": 1, "slide": 1, "ball": 4, "free": 7}  # numbers in the state
RATES = {"turn": 1, "slide": 1, "ball": 3, "free": 6}
SLOPES = {"turn": 1, "slide": 1, "ball": 0, "free": 3}  # coordinates whose derivatives are rates; they come first


def places_of(kinds: Sequence[str]) -> tuple[list[int], list[int]]:
    """``TreeSteps.places`` of steps of these kinds."""
    q = [0, *accumulate(COORDINATES[kind] for kind in kinds)]
    return q, [q[-1] + before for before in (0, *accumulate(RATES[kind] for kind in kinds))]


@lru_cache(maxsize=256)  # each run asks for it
def ties_of(kinds: tuple[str, ...]) -> Ints:
    """Places of the coordinates of steps of these kinds and of their rates, and how they are tied.

    1: the derivative is the rate; OF_OWN_TURN: Euler parameters and a relative angular velocity.
    """
    found = []
    for kind, q, u in zip(kinds, *places_of(kinds), strict=False):
        slopes, turns = SLOPES[kind], kind in ("ball", "free")
        found += [(q + c, u + c, 1) for c in range(slopes)] + [(q + slopes, u + slopes, OF_OWN_TURN)] * turns
    return np.array(found, np.int64).reshape(-1, 3)


@dataclass(frozen=True)
class TreeSteps:
    """The steps of a system and where they are, one case of ``Geometry``: what of its tree does not depend on masses."""

    skeleton: Skeleton
    geometry: Geometry
    closing: tuple[int, ...]  # places of the joints whose rows restrain the coordinates

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Of each step."""
        return self.skeleton.coordinates

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of each step: "turn", "slide", "ball" or "free"."""
        return self.skeleton.kinds

    @property
    def parents(self) -> tuple[int, ...]:
        """The step that carries each; GROUND_STEP: none."""
        return self.skeleton.parents

    @property
    def body_step(self) -> tuple[int, ...]:
        """The last step that moves each body, (bodies,)."""
        return self.skeleton.body_step

    @property
    def pose(self) -> Floats:
        """Of the bodies in the reference configuration, (bodies, 7)."""
        return self.geometry.pose[0]

    @property
    def places(self) -> tuple[list[int], list[int]]:
        """Where the coordinates and the rates of each step begin in the state, and where those of the last one end."""
        return places_of(self.kinds)

    @property
    def at_reference(self) -> Floats:
        """Coordinates and rates (n,) in the reference configuration, at rest."""
        q, u = self.places
        z = np.zeros(u[-1])
        for kind, after in zip(self.kinds, q[1:], strict=True):
            if kind in ("ball", "free"):
                z[after - 4] = 1.0
        return z

    @cached_property
    def turns_and_slides(self) -> bool:
        """Whether it has no other steps, so that its equations can be polynomials."""
        return not {"ball", "free"} & set(self.kinds)

    @property
    def has_polynomials(self) -> bool:
        """Whether its equations can be polynomials, and no rows restrain them."""
        return self.turns_and_slides and not self.closing


@dataclass(frozen=True)
class SpanningTree(TreeSteps):
    """The steps of a system with what they carry, one case of ``Carried``."""

    carried: Carried
    limits: tuple[
        LimitAlong, ...
    ] = ()  # those of the system where all of them restrain coordinates, and no other forces act
    armature: Floats | None = None  # (n,) inertia of rotors along turns and slides [kg m^2], [kg]; None: there are none

    @property
    def name(self) -> str:
        """Of its steps, such as "tree_turn_turn"; a step that the one before does not carry names the one that does."""
        words = [
            kind if parent == k - 1 else f"{kind}_on_{parent + 1}"
            for k, (kind, parent) in enumerate(zip(self.kinds, self.parents, strict=True))
        ]
        of_limits = [f"limit_{limit.step + 1}" for limit in self.limits]
        return "_".join(["tree", *words, *of_limits])

    @cached_property
    def key(self) -> str:
        """Of the module of its equations, which serves all trees of the same steps; there is none with own laws of limits."""
        own = [limit.law.NAME for limit in self.limits if limit.law is not law_cubic]
        return key_of([digests.WHOLE, "tree", self.kinds, self.parents, self.limited_steps, *own])

    @property
    def limited_places(self) -> tuple[list[int], list[int]]:
        """Places of the coordinates that its limits restrain, and of their rates."""
        q, u = self.places
        return [q[step] for step in self.limited_steps], [u[step] for step in self.limited_steps]

    @property
    def limited_steps(self) -> tuple[int, ...]:
        """The step that each of its limits restrains."""
        return tuple(limit.step for limit in self.limits)


def tree_steps(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    motions: Mapping[str, JointMotion],
    y: Floats,
    D: Callable[[], Floats],
) -> TreeSteps:
    """The steps of the tree of bodies and joints.

    Parameters
    ----------
    motions : mapping
        By the names of the joints that have coordinates.
    y : (13 bodies,)
        The reference configuration.
    D : callable
        The rows of the joints there, (joints, 6, 12).
    """
    places = body_places(body.name for body in bodies)
    groups = _locked(joints, places, D)
    steps = _walked(bodies, joints, motions, groups)
    if steps.closing(joints, groups):
        steps = _walked(bodies, joints, motions, groups, in_loops=True)
    skeleton = steps.skeleton(groups)
    where = geometry(skeleton, motions, places, states_with_ground(y)[None])
    return TreeSteps(skeleton, where, steps.closing(joints, groups))


def spanning_tree(steps: TreeSteps, bodies: Sequence[Body]) -> SpanningTree:
    """The tree with the masses of its bodies."""
    masses, inertias = np.array([[body.mass for body in bodies]]), np.array([body.inertia for body in bodies])
    load = carried(steps.geometry, steps.skeleton, masses, inertias)
    return SpanningTree(steps.skeleton, steps.geometry, steps.closing, load)


def _walked(
    bodies: Sequence[Body], joints: Sequence[Joint], motions: Mapping[str, JointMotion], groups: Sequence[int],
    in_loops: bool = False,
) -> _Steps:  # fmt: skip
    """The steps to all bodies; those of a body that no joint with a motion leads to are free."""
    steps, reached = _Steps(bodies, motions, in_loops), {groups[GROUND_INDEX]}
    _walk(steps, joints, groups, reached)
    for name, b in steps.places.items():
        if groups[b] not in reached:
            steps.free(name, groups)
            reached.add(groups[b])
            _walk(steps, joints, groups, reached)
    return steps


def _locked(joints: Sequence[Joint], places: Mapping[str, int], D: Callable[[], Floats]) -> list[int]:
    """For each body and the ground the first body of those that are locked to it."""
    rows, locked = None, []
    pairs: dict[tuple[int, int], list[int]] = {}
    for k, joint in enumerate(joints):
        if not joint.signals:  # a driver moves its bodies against each other
            i, j = sorted((places[joint.body_i], places[joint.body_j]))
            pairs.setdefault((i, j), []).append(k)
    for (i, j), which in pairs.items():
        fixed = any(joints[k].module.MOTION == () for k in which)
        if not fixed and len(which) > 1:
            rows = D() if rows is None else rows
            # Seen from body i: the columns of body j, which may be the first of a joint.
            of_j = [rows[k, : len(joints[k].rows), 6 * (places[joints[k].body_i] != j) :][:, :6] for k in which]
            fixed = _lock_of_rows(np.concatenate(of_j)) >= LOCKED
        if fixed:
            locked.append((i, j))
    return connected(len(places), locked)[0]


def _lock_of_rows(rows: Floats) -> float:
    """Smallest singular value of rows (m, 6) for the velocities of a body, divided by their sizes; 0 of fewer than 6."""
    if len(rows) < 6:
        return 0.0
    return float(np.linalg.svd(rows / np.linalg.norm(rows, axis=-1)[:, None], compute_uv=False)[5])


def _walk(steps: _Steps, joints: Sequence[Joint], groups: Sequence[int], reached: set[int]) -> None:
    """Add the steps of the joints that lead outwards from the groups of bodies that are reached."""
    ends = [(joint, groups[steps.places[joint.body_i]], groups[steps.places[joint.body_j]]) for joint in joints]
    ends = [one for one in ends if one[0].name in steps.motions]
    while ready := [one for one in ends if (one[1] in reached) != (one[2] in reached)]:
        if steps.in_loops:  # the joints with the fewest coordinates are steps, and of these the nearest to the ground
            rates = {one[0].name: sum(RATES[step.kind] for step in steps.motions[one[0].name].steps) for one in ready}
            ready.sort(key=lambda one: (rates[one[0].name], steps.depth(one[1], one[2])))
        joint, i, j = ready[0]
        steps.add(joint, i in reached, groups)
        reached |= {i, j}


class _Steps:
    """The steps of the joints that were walked."""

    def __init__(self, bodies: Sequence[Body], motions: Mapping[str, JointMotion], in_loops: bool) -> None:
        self.bodies, self.motions, self.in_loops = bodies, motions, in_loops
        self.places = body_places(body.name for body in bodies)
        self.last: dict[int, int] = {}  # step that moves a group
        self.coordinates: list[Coordinate] = []
        self.kinds: list[str] = []
        self.parents: list[int] = []
        self.walked: set[str] = set()  # names of joints

    def add(self, joint: Joint, outwards: bool, groups: Sequence[int]) -> None:
        """The steps of a joint, which is walked from body i to body j, or from j to i."""
        self.walked.add(joint.name)
        motion = self.motions[joint.name]
        ends = (joint.body_i, joint.body_j) if outwards else (joint.body_j, joint.body_i)
        inner, outer = (groups[self.places[end]] for end in ends)
        parent = self.last.get(inner, GROUND_STEP)
        for step, own in motion.places if outwards else reversed(motion.places):
            parent = self._put(Coordinate(joint.name, own.start, 1.0 if outwards else -1.0, *ends), step.kind, parent)
        self.last[outer] = parent

    def depth(self, *groups: int) -> int:
        """Number of steps from the ground to the group among these that is reached."""
        depth, step = 0, max(self.last.get(group, GROUND_STEP) for group in groups)
        while step != GROUND_STEP:
            depth, step = depth + 1, self.parents[step]
        return depth

    def free(self, name: str, groups: Sequence[int]) -> None:
        """The step of a body that nothing holds."""
        self.last[groups[self.places[name]]] = self._put(Coordinate("", 0, 1.0, GROUND, name), "free", GROUND_STEP)

    def _put(self, coordinate: Coordinate, kind: str, parent: int) -> int:
        self.coordinates.append(coordinate)
        self.kinds.append(kind)
        self.parents.append(parent)
        return len(self.kinds) - 1

    def closing(self, joints: Sequence[Joint], groups: Sequence[int]) -> tuple[int, ...]:
        """Places of the joints between bodies that move against each other that are no steps."""
        ends = [(groups[self.places[joint.body_i]], groups[self.places[joint.body_j]]) for joint in joints]
        return tuple(k for k, joint in enumerate(joints) if ends[k][0] != ends[k][1] and joint.name not in self.walked)

    def skeleton(self, groups: Sequence[int]) -> Skeleton:
        """All steps."""
        last = tuple(self.last.get(groups[b], GROUND_STEP) for b in range(1, len(self.bodies) + 1))
        return Skeleton(tuple(self.coordinates), tuple(self.kinds), tuple(self.parents), last)


def tree_data(tree: SpanningTree, gravity: Floats) -> TreeData:
    """A tree as data of compiled code."""
    where, load, skeleton = tree.geometry, tree.carried, tree.skeleton
    kinds = [OF_KIND[kind] for kind in tree.kinds]
    q, u = map(np.array, tree.places)
    return TreeData(
        kind=np.array(kinds, np.int64), parent=np.array(tree.parents, np.int64), q=q[:-1], u=u[:-1],
        axis=where.axis[0].copy(), way=where.ways(skeleton.parents)[0], mass=load.mass[0].copy(), moment=load.moment[0].copy(),
        inertia=load.inertia[0].copy(), gravity=gravity.copy(), step=np.array(tree.body_step),
        arm=where.arms(skeleton.body_step)[0], p=np.ascontiguousarray(tree.pose[:, P:V]),
        armature=np.zeros(len(kinds)) if tree.armature is None else tree.armature.copy(),
    )  # fmt: skip


def tree_parameters(tree: SpanningTree, gravity: Floats) -> list[float]:
    """The parameters of a tree as the function ``prepare`` of its kernel takes them."""
    return kernel_parameters(tree.geometry, tree.skeleton, tree.carried, gravity)[:, 0].tolist()


def turn_weights(reaches: Floats) -> Floats:
    """Weights of the errors of turns, for the largest distances [m] of bodies that they move.

    The error of a turn counts as the way of the farthest body, where this is more than 1 m from the axis; in powers of 2, so that
    many systems have the same weights.
    """
    return np.exp2(np.ceil(np.log2(np.maximum(reaches, 1.0))))


def levers_of_turns(skeleton: Skeleton, reaches: Floats, load: Carried) -> Floats:
    """For each step an upper bound [m] of the speed of what it moves about its point, over the rate of a turn, (cases, n).

    reaches (1, n): as of ``Geometry.reaches``
    """
    inertia, mass = np.trace(load.inertia, axis1=2, axis2=3), load.mass
    found = np.sqrt(np.divide(inertia, mass, out=np.zeros_like(mass), where=mass > 0.0))
    for k in range(found.shape[1] - 1, -1, -1):
        if (parent := skeleton.parents[k]) >= 0:
            np.maximum(found[:, parent], found[:, k], out=found[:, parent])
    return np.hypot(found, reaches)
