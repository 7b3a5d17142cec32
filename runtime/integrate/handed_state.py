"""States of a run for functions of the user, in which the coordinates of joints have names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from runtime.integrate.method import Method
from runtime.results.joint_angles import poses_of, turns_of
from runtime.results.whole_turns import near, set_whole_turns, whole_turns
from runtime.support.arguments import fitting
from runtime.support.arrays import Floats
from runtime.support.errors import unknown_name
from runtime.system.force_states import state_of
from runtime.system.joint_motion import coordinates, rates
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.trees import trees_of


class RunState(State):
    """The state of a run at a time, as functions of events and controllers and programs that use ``Stepping`` have it.

    Beside the mappings of a ``State``: coordinates of joints and their rates by name, as ``Run.angles`` has them.
    """

    _of: RunStates
    _turns: Callable[[], Floats]

    @fitting
    def coordinate(self, name: str) -> float:
        """A coordinate of a joint [rad], [m], such as "knee.angle"; "knee" of a joint that has one.

        Turns are counted from the start of the run; in absolute coordinates, from one question to the next.

        Raises
        ------
        ModelError
            For an unknown name.
        """
        joint, column = self._of.place(name)
        return float(self._of.coordinates(joint, self.y, self._turns())[column])

    @fitting
    def rate(self, name: str) -> float:
        """The rate of a coordinate [rad/s], [m/s]; name and errors as of ``coordinate``."""
        joint, column = self._of.place(name)
        motion = self._of.system.joint_motions[joint]
        return float(rates(motion, *poses_of(self._of.system, motion, self.y[None]))[0, column])


class RunStates:
    """Makes the states of a run."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._start: Floats = np.zeros(0)  # (13 bodies,) at the start of the run
        self._turns: Floats = np.zeros(0)  # there, as of ``Method.turns``
        self._last: dict[str, Floats] = {}  # coordinates by joint, when they were asked for last

    def now(self, m: Method) -> RunState:
        """The state at the time reached."""
        turns = m.turns
        return self._made(m, m.y, lambda: turns)

    def at(self, m: Method, t: float) -> RunState:
        """The state at a time within the last step, whose coordinates can be asked for as long as this is the last one."""
        return self._made(m, m.at(t), lambda: m.turns_at(t))

    def _made(self, m: Method, y: Floats, turns: Callable[[], Floats]) -> RunState:
        state = state_of(self.system, y, RunState)
        state.y.flags.writeable = True  # functions of SciPy refuse arrays that are not; no other one has this array
        if not len(self._start):
            self._start, self._turns = state.y.copy(), m.turns.copy()
        state._of, state._turns = self, turns
        return state

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        return {
            f"{joint}.{c}": (joint, k)
            for joint, of in self.system.joint_motions.items()
            for k, c in enumerate(of.units)
        }

    def place(self, name: str) -> tuple[str, int]:
        """Joint of a coordinate, and its place among those of the joint."""
        known = self._places
        if name in known:
            return known[name]
        motion = self.system.joint_motions.get(name)
        if motion is None or len(motion.units) > 1:
            raise unknown_name(name, known, "coordinate", whose=f"state of system '{self.system.name}': ")
        return name, 0

    def coordinates(self, joint: str, y: Floats, turns: Floats) -> Floats:
        """Coordinates (coordinates,) of a joint in a state (13 bodies,)."""
        system, counted, known = self.system, self.system.data.counted, list[int]()
        motion = system.joint_motions[joint]
        values = coordinates(motion, poses_of(system, motion, np.stack([self._start, y]))[0])[1:]
        if len(turns) > counted:
            quarters = whole_turns(self._turns[counted:], turns[None], counted).quarters
            known = set_whole_turns(trees_of(system).of_joints, motion, values, quarters)
        others = [k for k in turns_of(motion) if k not in known]
        if joint in self._last:
            values[0, others] = near(values[0, others], self._last[joint][others])
        self._last[joint] = values[0]
        return values[0]
