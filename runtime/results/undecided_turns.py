"""Whole turns of joints that a result does not show: those between times that are too far apart."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.layout import OMEGA
from runtime.dynamics.lift import GROUND_STEP
from runtime.results.joint_angles import coordinates_and_rates, poses_of, turns_of
from runtime.results.whole_turns import turns_of_tree
from runtime.support.arrays import Bools, Floats
from runtime.support.kept import kept
from runtime.system.joint_motion import FULL_TURN, JointMotion, coordinates
from runtime.system.reference import body_places
from runtime.system.state import by_body
from runtime.system.system import System
from runtime.system.trees import trees_of

Followed = list[tuple[JointMotion, list[int]]]
HALF_TURN = 0.5 * FULL_TURN
OF_JOINTS = ("auto", "dop853")  # methods that take the coordinates of joints
UNKNOWN = "; revolutions of"  # a remark begins so
MARGIN = 3.0  # rates of coordinates may be larger than angular velocities


def remark_on_turns(
    system: System, t_start: float, start: Floats, t: Floats, states: Floats, method: str, *, of_tree: bool
) -> str:
    """That whole turns of a coordinate are not known between times (n,) of states (n, 13 bodies); "" where they are.

    t_start, start : time of the start [s], and the state (13 bodies,) there
    method : as of ``simulate``
    of_tree : whether those of the tree of the system are known
    """
    unknown = followed_by_poses(system, of_tree=of_tree)
    if not unknown or not perhaps_unknown(t_start, start[None], t, states[None])[0]:
        return ""
    if t[0] > t_start:
        t, states = np.append(t_start, t), np.concatenate([start[None], states])
    worst, remark = HALF_TURN, ""
    for motion, places in unknown:
        rates = np.abs(coordinates_and_rates(system, motion, states)[1][:, places])
        fastest = np.nan_to_num(np.maximum(rates[1:], rates[:-1]))
        turned = fastest * np.diff(t)[:, None]
        n, k = np.unravel_index(np.argmax(turned), turned.shape)
        if turned[n, k] > worst:
            worst = float(turned[n, k])
            rate, name = float(fastest[n, k]), f"{motion.joint.name}.{list(motion.units)[places[k]]}"
            remark = (
                f"{UNKNOWN} '{name}' are not known: {rate:.3g} rad/s for {t[n + 1] - t[n]:.3g} s from t = {t[n]:.6g} s on "
                f"may be more than half a turn; give times less than {HALF_TURN / rate:.2g} s apart"
            )
    other = remark and not of_tree and trees_of(system).tree is not None and method in OF_JOINTS
    return remark + (", or coordinates='joint'" if other else "")


@kept
def _followed(system: System) -> tuple[Followed, Followed]:
    """Joints whose bodies move against each other, and the places of their turns: all of them, and those that no tree has."""
    tree, places = trees_of(system).of_joints, body_places(system.body_names)
    known = {(turn.joint, turn.place) for turn in turns_of_tree(tree)}
    every, others = [], []
    for name, motion in system.joint_motions.items():
        ends = [places[body] - 1 for body in (motion.joint.body_i, motion.joint.body_j)]
        if tree is not None and len({GROUND_STEP if b < 0 else tree.body_step[b] for b in ends}) == 1:
            continue  # other joints lock its bodies to each other
        turns = turns_of(motion)
        every.append((motion, turns))
        others.append((motion, [place for place in turns if (name, place) not in known]))
    return tuple([one for one in found if one[1]] for found in (every, others))  # type: ignore[return-value]


def followed_by_poses(system: System, *, of_tree: bool) -> Followed:
    """Joints, and the places of their coordinates whose whole turns poses have to show."""
    return _followed(system)[of_tree]


def perhaps_unknown(t_start: float, start: Floats, t: Floats, states: Floats) -> Bools:
    """``perhaps_undecided`` from the start on, with bodies in states (cases, 13 bodies) there."""
    perhaps = perhaps_undecided(t, states)
    if len(t) and t[0] > t_start:
        perhaps |= perhaps_undecided(np.array([t_start, t[0]]), np.stack([start, states[:, 0]], axis=1))
    return perhaps


def perhaps_undecided(t: Floats, states: Floats) -> Bools:
    """Whether bodies in states (cases, n, 13 bodies) turn so fast that half a turn may lie between times (n,), (cases,)."""
    omega = np.abs(by_body(states)[..., OMEGA:]).sum(axis=-1).max(axis=-1)
    most = 2.0 * MARGIN * np.maximum(omega[:, 1:], omega[:, :-1]) * np.diff(t)
    return ~(most <= HALF_TURN).all(axis=1)


def poses_show_angles(system: System, *, of_tree: bool) -> bool:
    """Whether poses have to show the angles or rotation vectors of some joints."""
    balls = any(step.kind == "ball" for motion in system.joint_motions.values() for step in motion.steps)
    return balls or bool(followed_by_poses(system, of_tree=of_tree))


def start_counts(system: System, start: Floats, first: Floats, *, of_tree: bool) -> Bools:
    """Cases whose angles at the first time are not those of the poses there, but follow from those at the start, (cases,).

    start, first : states (cases, 13 bodies)
    of_tree : whether the whole turns of the tree of the system are known
    """
    cases, both = len(start), np.concatenate([start, first])
    found: Bools = np.zeros(cases, bool)
    of_turns = {motion.joint.name: places for motion, places in followed_by_poses(system, of_tree=of_tree)}
    for name, motion in system.joint_motions.items():
        balls = [own for step, own in motion.places if step.kind == "ball"]
        if not balls and name not in of_turns:
            continue
        values = coordinates(motion, poses_of(system, motion, both)[0], apart=True)
        at_start, then = values[:cases], values[cases:]
        turns = of_turns.get(name, [])
        found |= (np.abs(then[:, turns] - at_start[:, turns]) > HALF_TURN).any(axis=1)
        for own in balls:  # the axis of a rotation vector is kept up to a quarter of a turn
            reverse = (then[:, own] * at_start[:, own]).sum(axis=1) < 0.0
            ways = np.linalg.norm(then[:, own], axis=1) + np.linalg.norm(at_start[:, own], axis=1)
            found |= reverse & (ways > HALF_TURN)
    return found
