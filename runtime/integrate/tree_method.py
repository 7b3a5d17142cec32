"""Integration in the coordinates of joints, for systems that are trees."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from runtime.dynamics.layout import OK, STATE, P, V
from runtime.dynamics.lift import lift_once
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.recursion import recursion_workspace
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate import stepping, tree_loop
from runtime.integrate.balance import balance_of
from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.integrate.methods import NONE, NONE2, lost_digits_at
from runtime.integrate.step_control import failure
from runtime.integrate.tree_loop import TreeMemory
from runtime.integrate.tree_stages import addresses_of_tree
from runtime.results.passages import Passage
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.latest import Latest
from runtime.support.pool import Pool
from runtime.system.spanning_tree import (
    COORDINATES,
    RATES,
    SpanningTree,
    joint_coordinates,
    lift_workspace,
    reaches,
    tree_data,
    tree_parameters,
)
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.whole_model import module_of
from runtime.system.workspaces import pooled_workspace

OFF_THE_ROWS = (
    1e-9  # [m], [1], relative to the size of the state: from here on the start is not that of any coordinates
)
_POOL = Pool(4)


def tree_of(system: System) -> SpanningTree:
    """The tree of a system.

    Raises
    ------
    ModelError
        Where there is none.
    """
    if system.tree is None:
        raise ModelError(
            f"system '{system.name}' has no equations in the coordinates of its joints: {system.without_tree}; "
            "use coordinates='absolute'"
        )
    return system.tree


class InJointCoordinates:
    """DOP853 in the coordinates of the joints of a tree, as a method of ``simulate``; states of bodies are its results."""

    def __init__(
        self, system: System, data: ModelData, state: State, t_start: float, t_end: float, rtol: float, atol: float,
        max_step: float, first_step: float,
    ) -> None:  # fmt: skip
        self.system, self.data = system, data
        self.tree = tree_of(system)
        self.control = (t_end, rtol, atol, max_step)
        own = _POOL.take(lambda: _memory(system, data, self.tree), system, data)
        self._blocks = [pooled_workspace(system, data), own]
        self.work: Workspace = self._blocks[0].value
        self.m: TreeMemory = self._blocks[1].value
        self.passages: tuple[Passage, ...] = ()
        y, z = state.y, _coordinates(system, state)
        m = self.m
        m.z[:] = m.z_old[:] = z
        m.time[[stepping.T, stepping.T_OLD, stepping.NEXT_STEP]] = t_start, t_start, first_step
        lift_once(m.tree, m.lifting, m.z, m.y)
        _keep_signs(m, y)
        lift_once(m.tree, m.lifting, m.z, m.y)
        if (off := float(off_the_rows(m.y, y))) > OFF_THE_ROWS:
            raise ModelError(
                f"system '{system.name}': the initial state is {off:.1e} off the constraints, limit {OFF_THE_ROWS:.0e} for "
                "coordinates of joints; give a state from runtime.assemble, or use coordinates='absolute'"
            )

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """Up to ``steps`` accepted steps in compiled code; status and message as of ``Method.step``."""
        control = (*self.control, steps, outputs, out, record_t, record_y)
        status = Status(tree_loop.advance(self.m, self.data, self.work, *control))
        if status in (Status.RUNNING, Status.REACHED_END):
            return status, ""
        return status, status.text(self.t, self._detail(status))

    def _detail(self, status: Status) -> str:
        if status != Status.SINGULAR_CONFIGURATION:
            return ""
        dependent = [
            f"joint '{joint.name}' where {condition}"
            for joint in self.system.joints
            if (condition := getattr(joint.module, "DEPENDENT_COORDINATES", ""))
        ]
        return f"the coordinates of the joints depend on each other ({', '.join(dependent) or 'of massless parts'})"

    def step(self) -> tuple[Status, str]:
        """One accepted step."""
        return self.advance(1, NONE, NONE2, NONE, NONE2)

    def at(self, t: float) -> Floats:
        """States of the bodies at a time within the last step."""
        if t >= self.t:
            return self.y.copy()
        y = np.empty_like(self.m.y)
        if (code := tree_loop.state_within(self.m, t, y)) != OK:
            status = failure.py_func(code)
            raise RunFailure(status, t, self._detail(status))
        return y

    def work_until(self, t: float) -> Floats:
        """No sources of energy."""
        return NONE

    def first_output(self, out: Floats) -> None:
        """Count the state at the start, which is written to ``out``, as the first of the result."""
        out[:] = self.y
        self.m.counts[stepping.NEXT_OUTPUT] = 1

    @property
    def written(self) -> int:
        """States of the result that are written."""
        return int(self.m.counts[stepping.NEXT_OUTPUT])

    @property
    def row(self) -> Floats:
        """States of the bodies at the time reached."""
        return self.y

    @property
    def balance(self) -> Floats:
        """``Balance.energy``."""
        return self.m.balance.energy

    @property
    def t(self) -> float:
        """Time reached."""
        return float(self.m.time[stepping.T])

    @property
    def t_old(self) -> float:
        """Start of the last step."""
        return float(self.m.time[stepping.T_OLD])

    @property
    def y(self) -> Floats:
        """States of the bodies at the time reached."""
        lift_once(self.m.tree, self.m.lifting, self.m.z, self.m.y)
        return self.m.y.copy()

    def stop(self, t: float) -> None:
        """End the motion at a time within the last step."""
        if t < self.t:
            self.at(t)
            self.m.z[:], self.m.time[stepping.T] = self.m.at, t

    @property
    def contact_events(self) -> Floats:
        """None."""
        return np.zeros((0, 4))

    @property
    def bounded(self) -> int:
        """0: not counted."""
        return 0

    @property
    def crossed(self) -> bool:
        """False: compiled code watches no events."""
        return False

    @property
    def lost_digits(self) -> tuple[float, float]:
        """As of ``Method``."""
        worst, first = self.m.ever_worst.tolist()
        return lost_digits_at(max(worst, 1.0) ** -0.5, *self.control[1:3]), first

    def counts(self) -> tuple[int, int, int | None]:
        """Evaluations, accepted steps, rejected steps."""
        count = self.m.counts
        return int(count[stepping.EVALUATIONS]), int(count[stepping.STEPS]), int(count[stepping.REJECTIONS])

    def give_back(self) -> None:
        """Let the next run have the memory of this one."""
        while self._blocks:
            self._blocks.pop().give_back()


def off_the_rows(y: Floats, given: Floats) -> Floats:
    """Largest difference of states y (..., 13 bodies) from those given, as a fraction of their size or of 1."""
    off: Floats = np.abs(y - given).max(axis=-1) / np.maximum(1.0, np.abs(given).max(axis=-1))
    return off


# As long as a run takes, and often those of one state.
_coordinates = Latest(
    lambda system, state: joint_coordinates(system.tree, system.body_names, system.joint_motions, state.y[None])[0], 8
)


def tree_constants(tree: SpanningTree, gravity: Floats, module: ModuleType) -> Floats:
    """The constants of the equations of a tree."""
    constants = np.zeros(max(module.CONSTANTS, 1))
    module.prepare(tree_parameters(tree, gravity), constants)
    return constants


def weights_of(tree: SpanningTree) -> tuple[Floats, Floats]:
    """For coordinates and rates (n,) the largest value that takes part in a tolerance, and the weights of errors.

    Angles grow without bound, and positions do not: an angle counts as 1 rad at most.  The error of a turn counts as the way of
    the farthest body, where this is more than 1 m from the axis; in powers of 2, so that many systems have the same weights.
    """
    caps: tuple[list[float], list[float]] = ([], [])
    weights: tuple[list[float], list[float]] = ([], [])
    for kind, reach in zip(tree.kinds, reaches(tree).tolist(), strict=True):
        of_turn = 2.0 ** math.ceil(math.log2(max(reach, 1.0)))
        slides = {"turn": 0, "ball": 0, "slide": 1, "free": 3}[kind]
        for k, count in enumerate((COORDINATES[kind], RATES[kind])):
            caps[k].extend([1.0 if kind == "turn" and k == 0 else math.inf] * count)
            weights[k].extend([1.0] * slides + [of_turn] * (count - slides))
    return np.array(caps[0] + caps[1]), np.array(weights[0] + weights[1])


def _memory(system: System, data: ModelData, tree: SpanningTree) -> TreeMemory:
    """Memory for runs of a system, by the kernel of its tree if there is one."""
    bodies, (cap, weight) = len(system.bodies), weights_of(tree)
    n, module = len(cap), module_of(tree.key)
    address, constants = np.zeros(3, np.int64), np.zeros(1)
    if module is not None:
        address[:] = list(addresses_of_tree(module).values())
        constants = tree_constants(tree, system.gravity, module)
    m = TreeMemory(
        address=address, general=np.zeros(1, np.int64), tree=tree_data(tree, system.gravity),
        lifting=lift_workspace(len(tree.kinds)), recursion=recursion_workspace(len(tree.kinds)), rows=tree_loop.ROWS,
        state=np.zeros(n), constants=constants, cap=cap, weight=weight, time=np.zeros(4), counts=np.zeros(5, np.int64),
        flags=np.zeros(3, np.int64), z=np.zeros(n), z_old=np.zeros(n), end=np.zeros(n), k=np.zeros((STAGES + 1 + EXTRA, n)),
        first=np.zeros(n), h=np.zeros(1), error=np.zeros((2, n)), worst=np.zeros(1), ever_worst=np.array([0.0, np.inf]),
        dense=np.zeros((POWER, n)), polynomial=COEFFICIENTS.dense, at=np.zeros(n), y=np.zeros(STATE * bodies),
        balance=balance_of(data, STATE * bodies),
    )  # fmt: skip
    m.general[0] = tree_loop.place_of_stages(m)
    return m


def _keep_signs(m: TreeMemory, y: Floats) -> None:
    """Give the Euler parameters of the reference configuration the signs with which they lead to those of y."""
    own, wanted = m.y.reshape(-1, STATE)[:, P:V], y.reshape(-1, STATE)[:, P:V]
    m.tree.p[np.einsum("ba,ba->b", own, wanted) < 0.0] *= -1.0
