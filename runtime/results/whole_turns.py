"""Whole turns of coordinates of joints, which states of bodies at separate times do not show.

Runs in joint coordinates know them.  They are kept in quarters of a turn, which together with a pose give the angle.  They do not
depend on other times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.kept import kept
from runtime.system.joint_motion import FULL_TURN, JointMotion
from runtime.system.limits_along import turns_of_limits
from runtime.system.spanning_tree import TreeSteps
from runtime.system.system import System
from runtime.system.trees import trees_of

QUARTER = 0.25 * FULL_TURN
SURELY = 1.0 - 1e-9  # angles that are smaller by this factor are not rounded to the next quarter


class TurnOfTree(NamedTuple):
    """A turn of a tree: its joint, its place among the coordinates of the joint, and its sign there."""

    joint: str
    place: int
    sign: float


@dataclass(frozen=True)
class WholeTurns:
    """What a run knows of the turns of its tree, in the order of ``turns_of_tree``."""

    start: Floats  # (turns,) [rad] angles at the start of the run, within half a turn
    quarters: Ints  # (n, turns) angles at the times of the result, in quarters of a turn
    counted: Floats  # (n, angles) [rad] of joints and forces whose revolutions are counted, at the end of the step

    def __getitem__(self, case: Any) -> WholeTurns:
        """Of one of many cases, or of some of them, where the arrays have an axis of cases first."""
        return WholeTurns(self.start[case], self.quarters[case], self.counted[case])


def turns_at(turns: WholeTurns | None, times: Floats) -> WholeTurns | None:
    """Those of the tree of a result; None where it has other times, by ``dataclasses.replace``, or was no motion of a tree."""
    return turns if turns is not None and turns.quarters.size and len(turns.quarters) == len(times) else None


def turns_of_tree(tree: TreeSteps | None) -> tuple[TurnOfTree, ...]:
    """The turns among the steps of a tree."""
    if tree is None:
        return ()
    steps = zip(tree.coordinates, tree.kinds, strict=True)
    return tuple(TurnOfTree(c.joint, c.place, c.sign) for c, kind in steps if kind == "turn")


def whole_turns(start: Floats, found: Floats, counted: int = 0) -> WholeTurns:
    """Of so many angles and those of a tree, (n, angles + turns) [rad], and those of the tree at the start (turns,).

    Both perhaps with an axis of cases first.
    """
    off = before_start(start)
    return WholeTurns(
        start - off,
        np.rint((found[..., counted:] - off[..., None, :]) / QUARTER).astype(np.int32),
        found[..., :counted],
    )


def before_start(start: Floats) -> Floats:
    """Whole turns [rad] of angles at the start, which do not count."""
    return FULL_TURN * np.round(start / FULL_TURN)


def needed(quarters: Ints) -> Bools:
    """Of cases (cases, n, turns): whether poses that follow each other may not show their turns, (cases,)."""
    ways = np.concatenate([quarters[:, :1], np.diff(quarters, axis=1)], axis=1)
    return (np.abs(ways) > 1).any(axis=(1, 2))


def surely_shown(start: Floats, angles: Floats) -> bool:
    """Whether ``needed`` is surely false for all cases: angles (cases, n, turns) [rad], and those at the start (cases, turns)."""
    if not angles.size:
        return True
    within = np.abs(start).max() < 0.5 * SURELY * FULL_TURN and np.abs(angles[:, 0]).max() < 1.5 * SURELY * QUARTER
    return bool(within and (angles.shape[1] == 1 or np.abs(np.diff(angles, axis=1)).max() < SURELY * QUARTER))


def near(angles: Floats, others: Any) -> Floats:
    """Angles [rad] with so many whole turns that they are closest to others."""
    return angles + FULL_TURN * np.round((others - angles) / FULL_TURN)


def set_whole_turns(tree: TreeSteps | None, motion: JointMotion, values: Floats, quarters: Ints) -> list[int]:
    """Give coordinates (..., coordinates) of a joint the whole turns of a tree (..., turns); the places of those known."""
    places = []
    for k, turn in enumerate(turns_of_tree(tree)):
        if turn.joint == motion.joint.name:
            values[..., turn.place] = near(values[..., turn.place], turn.sign * QUARTER * quarters[..., k])
            places.append(turn.place)
    return places


def angle_of_hinge(
    system: System, limit: int, angle: Floats, turns: WholeTurns | None, at_start: float | None
) -> Floats:
    """The angle (n,) [rad] of a limit with a hinge without jumps, with the whole turns of its coordinate where they are known.

    At the start of the run it is within half a turn.  ``at_start``: the angle there; None: the first one.
    """
    tree = None if turns is None else trees_of(system).of_joints
    along = None if tree is None else _along(system)[limit]
    if turns is None or tree is None or along is None:
        return np.unwrap(angle) if at_start is None else np.unwrap(np.append(at_start, angle))[1:]
    step, sign, offset = along
    k = tree.kinds[:step].count("turn")
    start = offset + sign * turns.start[k]
    start -= before_start(start)
    return near(angle, start + sign * (turns.quarters[:, k] * QUARTER - turns.start[k]))


def poses_show_hinges(system: System, turns: WholeTurns | None) -> bool:
    """Whether the angle of a limit with a hinge has to follow from poses."""
    hinges = [k for k, limit in enumerate(system.limits) if "to_xi" in limit.values]
    return bool(hinges) and (turns is None or any(_along(system)[k] is None for k in hinges))


@kept
def _along(system: System) -> Sequence[tuple[int, float, float] | None]:
    tree = trees_of(system).of_joints
    assert tree is not None
    return turns_of_limits(tree, system.limits, system.data)
