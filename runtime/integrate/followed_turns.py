"""Turns of a tree while the equations of all bodies are integrated: followed from step to step by the rates at both ends."""

from __future__ import annotations

import numpy as np

from runtime.results.joint_angles import coordinates_and_rates, missing_turns, poses_of
from runtime.results.undecided_turns import perhaps_undecided
from runtime.results.whole_turns import near, turns_of_tree
from runtime.support.arrays import Floats
from runtime.system.joint_motion import coordinates
from runtime.system.spanning_tree import TreeSteps
from runtime.system.system import System


class FollowedTurns:
    """The angles (turns,) [rad] of the turns of a tree, from a time on at which they are known."""

    def __init__(self, system: System, tree: TreeSteps, t: float, y: Floats, angles: Floats) -> None:
        self._system, self._turns = system, turns_of_tree(tree)
        self._t, self._y, self._angles = np.array([t]), y[None].copy(), angles[None].copy()

    def go_on(self, times: Floats, states: Floats) -> Floats:
        """Angles (m, turns) at later times (m,) in any order, with the ends of all steps, in states (m, 13 bodies)."""
        found = np.full((len(times), len(self._turns)), np.nan)
        order = np.argsort(times, kind="stable")
        order = order[np.isfinite(states[order]).all(axis=1)]  # others are no part of a result
        if len(order):
            t, y = np.append(self._t[-1], times[order]), np.concatenate([self._y[-1:], states[order]])
            angles = self._followed(t, y, self._angles[-1])
            self._t, self._y, self._angles = t, y, angles
            found[order] = angles[1:]
        return found

    def at(self, t: float, y: Floats) -> Floats:
        """Angles at a time of the last steps in the state (13 bodies,) there."""
        if not np.isfinite(y).all():
            return np.full(len(self._turns), np.nan)
        k = max(int(np.searchsorted(self._t, t, side="right")) - 1, 0)
        both = np.array([self._t[k], t]), np.stack([self._y[k], y])
        angles: Floats = self._followed(*both, self._angles[k])[1]
        return angles

    def _followed(self, t: Floats, y: Floats, start: Floats) -> Floats:
        """Angles (m, turns) at times (m,) in states (m, 13 bodies), from those at the first one."""
        found = np.empty((len(t), len(self._turns)))
        with_rates = perhaps_undecided(t, y[None])[0]
        known: dict[str, tuple[Floats, Floats]] = {}
        for k, turn in enumerate(self._turns):
            if turn.joint not in known:
                known[turn.joint] = self._coordinates(turn.joint, y, with_rates=with_rates)
            angles, rates = (turn.sign * part[:, turn.place, None] for part in known[turn.joint])
            if with_rates:
                angles = angles + missing_turns(angles, rates, t)
            found[:, k] = angles[:, 0] + near(angles[:1, 0], start[k]) - angles[0, 0]
        return found

    def _coordinates(self, joint: str, y: Floats, *, with_rates: bool) -> tuple[Floats, Floats]:
        """Coordinates of a joint in states (m, 13 bodies), and their rates where these are asked for."""
        motion = self._system.joint_motions[joint]
        if with_rates:
            return coordinates_and_rates(self._system, motion, y)
        found = coordinates(motion, poses_of(self._system, motion, y)[0])
        return found, found
