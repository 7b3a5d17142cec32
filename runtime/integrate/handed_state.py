"""States of a run for functions of the user, in which the coordinates of joints have names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeVar
from weakref import ref

import numpy as np

from runtime.dynamics.layout import STATE
from runtime.integrate.method import Method
from runtime.results.joint_angles import poses_of, turns_of
from runtime.results.whole_turns import before_start, near, set_whole_turns, whole_turns
from runtime.support.arguments import fitting
from runtime.support.arrays import Floats
from runtime.support.errors import unknown_name
from runtime.system.force_states import names_of_states
from runtime.system.joint_motion import coordinates, rates
from runtime.system.spanning_tree import TreeSteps
from runtime.system.state import State, named_states
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.trees import trees_of

T = TypeVar("T")


class RunState(State):
    """The state of a run at a time, as functions of events and controllers and programs that use ``Stepping`` have it.

    Beside the mappings of a ``State``: coordinates of joints and their rates, as ``Run.angles`` has them, by name or as arrays.
    """

    def __init__(
        self, of: RunStates, y: Callable[[], Floats], turns: Callable[[], Floats], own: Callable[[], Floats | None]
    ) -> None:
        # ``State`` checks what users give; y (13 bodies + states of forces,) is an integrator's.
        self.names, self._of = of.system.body_names, of
        self._find_y, self._find_turns, self._find_own = y, turns, own

    @cached_property
    def y(self) -> Floats:  # type: ignore[override]
        """States of the bodies, (13,) of each."""
        return self._found[: STATE * len(self.names)].copy()  # writable: functions of SciPy refuse others

    @cached_property
    def z(self) -> Mapping[str, float]:  # type: ignore[override]
        """States of forces by name."""
        of_forces = self._found[STATE * len(self.names) :].tolist()
        return named_states(dict(zip(self._of.names_of_forces, of_forces, strict=True)))

    @cached_property
    def _found(self) -> Floats:
        return self._find_y()

    @cached_property
    def _turns(self) -> Floats:
        return self._find_turns()

    @property
    def system(self) -> System:
        """That of the run."""
        return self._of.system

    @fitting
    def coordinate(self, name: str) -> float:
        """A coordinate of a joint [rad], [m], such as "knee.angle"; "knee" of a joint that has one.

        Turns are counted from the start of the run; in absolute coordinates, from one call to the next.

        Raises
        ------
        ModelError
            For an unknown name.
        """
        of, own = self._of, self._own
        if own is not None and name in of.in_tree:
            k = of.in_tree[name][0]
            return float(of.signs[k] * (own[k] - of.before[k]))
        joint, column = of.place(name)
        return float(of.coordinates(joint, self.y, self._turns)[column])

    @fitting
    def rate(self, name: str) -> float:
        """The rate of a coordinate [rad/s], [m/s]; name and errors as of ``coordinate``."""
        of, own = self._of, self._own
        if own is not None and name in of.in_tree:
            k = of.in_tree[name][1]
            return float(of.signs[k] * own[k])
        joint, column = of.place(name)
        motion = of.system.joint_motions[joint]
        return float(rates(motion, *poses_of(of.system, motion, self.y[None]))[0, column])

    @property
    def q(self) -> Floats:
        """Coordinates (n,), ``coordinate_names`` of ``runtime.mechanics(system)``, with turns counted as of ``coordinate``.

        Raises
        ------
        ModelError
            If the joints form no tree.
        """
        signs, before, _ = self._of.as_joints
        found: Floats = self._tree[: len(signs)] - before
        found *= signs
        return found

    @property
    def u(self) -> Floats:
        """Rates (n,), ``rate_names`` of ``runtime.mechanics(system)``; of closed loops and couplings the dependent ones, too.

        Raises
        ------
        ModelError
            As ``q``.
        """
        signs, _, of_rates = self._of.as_joints
        first = len(signs)
        found: Floats = self._tree[first : first + len(of_rates)] * of_rates
        return found

    @cached_property
    def _own(self) -> Floats | None:
        return self._find_own()

    @cached_property
    def _tree(self) -> Floats:
        """Coordinates and rates of the tree."""
        own = self._own
        if own is None or not self._of.tree.turns_and_slides:
            own = self._of.from_poses(self.y, self._turns)
        return own


class RunStates:
    """Makes the states of a run."""

    def __init__(self, system: System) -> None:
        self.system, self.names_of_forces = system, names_of_states(system)
        self._start: Floats = np.zeros(0)  # (13 bodies,) at the start of the run
        self._turns: Floats = np.zeros(0)  # there, as of ``Method.turns``
        self._of_tree: Floats | None = None  # there, as of ``Method.of_tree``
        self._last: dict[
            str, Floats
        ] = {}  # coordinates by joint, and turns of the tree by "", when they were asked for last

    def now(self, m: Method) -> RunState:
        """The state at the time reached."""
        return self.value(m, lambda state: state)

    def value(self, m: Method, function: Callable[[RunState], T]) -> T:
        """The value of a function of the state at the time reached, of which is computed what the function asks for."""
        state = self._made(m, RunState(self, lambda: m.y, lambda: m.turns, lambda: m.of_tree(m.t)))
        handed = ref(state)
        found = function(state)
        del state
        if (kept := handed()) is not None:  # it is asked later, when the method has gone on
            _ = kept.y, kept.z, kept._turns, kept._own
        return found

    def at(self, m: Method, t: float) -> RunState:
        """The state at a time within the last step, whose coordinates can be asked for as long as this is the last one."""
        y = m.at(t)
        return self._made(m, RunState(self, lambda: y, lambda: m.turns_at(t), lambda: m.of_tree(t)))

    def _made(self, m: Method, state: RunState) -> RunState:
        if not len(self._start):
            self._start, self._turns, self._of_tree = state.y.copy(), m.turns.copy(), m.of_tree(m.t)
        return state

    @cached_property
    def tree(self) -> TreeSteps:
        """The steps of the joints."""
        return trees_of(self.system).steps

    @cached_property
    def in_tree(self) -> dict[str, tuple[int, int]]:
        """Places of turns and slides and of their rates in the state of the tree, by their names."""
        places = {(c.joint, c.place): at for c, *at in zip(self.tree.coordinates, *self.tree.places, strict=False)}
        one = {joint: (joint, 0) for joint, of in self.system.joint_motions.items() if len(of.units) == 1}
        return {name: tuple(places[at]) for name, at in (self._places | one).items() if at in places}  # type: ignore[misc]

    @cached_property
    def as_joints(self) -> tuple[Floats, Floats, Floats]:
        """Signs of the coordinates of the tree, their whole turns at the start, and signs of the rates."""
        first = self.tree.places[0][-1]
        return self.signs[:first], self.before[:first], self.signs[first:]

    @cached_property
    def signs(self) -> Floats:
        """Signs of the tree's coordinates and rates against the coordinates and rates of the joints."""
        signs = np.ones(self.tree.places[1][-1])
        for c, *places in zip(self.tree.coordinates, *self.tree.places, strict=False):
            signs[places] = c.sign
        return signs

    @cached_property
    def tree_turns(self) -> list[int]:
        """Places of turns in the state of the tree."""
        return [q for kind, q in zip(self.tree.kinds, self.tree.places[0], strict=False) if kind == "turn"]

    @cached_property
    def before(self) -> Floats:
        """Whole turns of the coordinates of the tree at the start, which do not count."""
        before = np.zeros_like(self.signs)
        if self._of_tree is not None:
            before[self.tree_turns] = before_start(self._of_tree[self.tree_turns])
        return before

    def from_poses(self, y: Floats, turns: Floats) -> Floats:
        """Coordinates and rates of the tree in a state (13 bodies,)."""
        system, of_turns = self.system, self.tree_turns

        def found(y: Floats) -> Floats:
            return joint_coordinates(self.tree, system.body_names, system.joint_motions, y[None])[0]

        z, known = found(y), turns[system.data.counted :]
        if not len(known):
            known = self._last[""] if "" in self._last else found(self._start)[of_turns]
        self._last[""] = z[of_turns] = near(z[of_turns], known)
        return z

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
