"""Integration in the coordinates of joints, for systems that are trees."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from runtime.dynamics.closing_rows import NONE
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import OK, OMEGA, STATE, P, V
from runtime.dynamics.lift import lift_once, places_of_turns
from runtime.dynamics.model_data import ModelData, Workspace, size_of_states
from runtime.dynamics.status import RunFailure, Status
from runtime.dynamics.tree_workspace import NO_KERNEL, RowsKernel, TreeWorkspace, tree_workspace
from runtime.integrate import dop853, stepping
from runtime.integrate.balance import balance_of
from runtime.integrate.choices import AUTO, JOINT
from runtime.integrate.dense_output import state_once
from runtime.integrate.failures import failure_detail
from runtime.integrate.methods import Compiled, Memory, Ready
from runtime.integrate.settings import Settings
from runtime.integrate.step_control import failure
from runtime.integrate.step_error import rounding_over_limit
from runtime.integrate.tree_scales import scales_of, with_states
from runtime.integrate.tree_stages import addresses_of_tree
from runtime.integrate.written.acting_forces import known_forces
from runtime.integrate.written.tree_recursion import MOST_STEPS
from runtime.jit.addresses import addresses_of
from runtime.jit.second_process import ask
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.kept import kept
from runtime.support.latest import Latest
from runtime.system.coupled_coordinates import OffTheRowsError, coupled, tree_with_rows
from runtime.system.force_states import states_of_forces
from runtime.system.spanning_tree import SpanningTree, ties_of, tree_data, tree_parameters
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.trees import trees_of
from runtime.system.whole_model import counts_in_rows, module_of

# [m], [1], relative to the size of the state: from here on the start is not that of any coordinates.
OFF_THE_ROWS = 1e-9
MANY = 20  # bodies, from which on equations of all are ten times as slow on loops
NEAR_LIMIT = 0.1  # the last state of a run is not quite at the limit of a fast turn


def joints_serve(system: System) -> bool:
    """Whether ``coordinates="auto"`` takes joint coordinates: where they are present and, as measured, not slower.

    By a kernel of the tree they are faster than absolute coordinates, but for rows on balls and free bodies beside a whole-model
    kernel.  The recursion is faster than the evaluation joint by joint, not than such a kernel, which has the angular velocities
    of balls and free bodies in global axes, though, where their spins are not steady.  With forces absolute coordinates
    are more accurate: contacts of bodies that float.  On rows it is faster too, but loses more digits beside singular poses,
    which linkages of few bodies may be about to pass.
    """
    if (tree := trees_of(system).tree) is None:
        return False
    if module_of_tree(system) is not None:
        return tree.turns_and_slides or module_of(system.model.key) is None
    many = not tree.closing or len(system.bodies) > MANY
    faster = not tree.turns_and_slides or module_of(system.model.key) is None
    return many and not system.loaded and faster


def lanes_know(system: System, how: Settings) -> bool:
    """Whether many cases can run side by side: trees without rows, by their kernel or the recursion, with forces of lanes."""
    tree = trees_of(system).in_lanes
    if tree is None or trees_of(system).closed is not None or (system.limits and not tree.limits):
        return False
    if acts_in_lanes(system) and (how.method != "dop853" or not known_forces(system)):
        return False
    if not by_recursion(system):
        return True
    return len(tree.kinds) <= MOST_STEPS and not (tree.closing or system.joint_coordinates_only)


def joints_in_lanes(system: System, how: Settings) -> bool:
    """Whether cases of a system run side by side in joint coordinates.

    With forces on trees without a kernel also where ``coordinates="auto"`` takes absolute coordinates for single runs: within the
    tolerance errors are alike, and lanes have no functions of forces there.  With forces that depend on reactions single runs
    have no joint coordinates: these are not for ``coordinates="joint"``, which is refused.
    """
    if trees_of(system).tree is None and how.coordinates != AUTO:
        return False
    wanted = in_joint_coordinates(system, how) or (how.coordinates == AUTO and system.loaded and by_recursion(system))
    return wanted and lanes_know(system, how)


def acts_in_lanes(system: System) -> bool:
    """Whether forces act on the tree of a system that its kernel does not know."""
    return any((system.forces, system.loads, system.motors, system.contacts))


def by_recursion(system: System) -> bool:
    """Whether cases of a system with ``lanes_know`` run by the recursion: no kernel knows their tree, or the reactions on it.

    There may be a kernel of the tree without its limits, by which single runs with forces are.
    """
    if module_of_tree(system) is None:
        return True
    tree = tree_of_lanes(system)
    return tree is not trees_of(system).tree and module_of(tree.key) is None


def tree_of_lanes(system: System) -> SpanningTree:
    """The tree of a system with ``lanes_know``, with its limits."""
    tree = trees_of(system).in_lanes
    assert tree is not None
    return tree


def module_of_tree(system: System) -> ModuleType | None:
    """The module of the kernel of a system's tree, if there is one."""
    key = _key_of_kernel(system)
    return None if key is None else module_of(key)


@kept
def _key_of_kernel(system: System) -> str | None:
    """The key of the module of the kernel of a system's tree; None where none can be one."""
    tree, closed = trees_of(system).tree, trees_of(system).closed
    if closed is not None:
        return None if counts_in_rows(system) else closed.key
    return None if tree is None or tree.closing or system.joint_coordinates_only else tree.key


def in_joint_coordinates(system: System, how: Settings) -> bool:
    """Whether runs of a system with these settings begin in joint coordinates."""
    return (
        how.coordinates == JOINT or system.joint_coordinates_only or (how.coordinates == AUTO and joints_serve(system))
    )


def kernel_of(tree: SpanningTree) -> ModuleType:
    """The module of the kernel of a tree that has one."""
    module = module_of(tree.key)
    assert module is not None
    return module


def tree_of(system: System) -> SpanningTree:
    """The tree of a system.

    Raises
    ------
    ModelError
        Where there is none.
    """
    trees = trees_of(system)
    if trees.tree is None:
        raise ModelError(
            f"system '{system.name}' has no equations in the coordinates of its joints: {trees.reason}; "
            "use coordinates='absolute'"
        )
    return trees.tree


class InJointCoordinates(Compiled):
    """DOP853 in the coordinates of the joints of a tree, as a method of ``simulate``; states of bodies are its results."""

    coordinates = JOINT

    def __init__(
        self, system: System, data: ModelData, state: State, t_start: float, t_end: float, rtol: float, atol: float,
        max_step: float, first_step: float,
    ) -> None:  # fmt: skip
        self.tree, self.start = tree_of(system), state
        self.module = module_of_tree(system)
        try:
            super().__init__("dop853", system, data, state, t_start, t_end, rtol, atol, max_step, first_step)
        except OffTheRowsError:
            self.give_back()
            raise

    def _kernel(self) -> ModuleType | None:
        return self.module

    def _made(self, start: State) -> Ready:
        work = workspace_of_tree(self.system, self.data)
        ready = Ready(Memory(work, stepper_of_tree(self.tree, self.data, work, self._first(start))), self.data)
        of = ready.value.work.tree
        ready.lift, ready.turns = lift_once.bound(of.data, of.lifting), places_of_turns(of.data)
        return ready

    def _first(self, start: State) -> Floats:
        return np.append(start_of(self.system, start), states_of_forces(self.system, start))

    def _begin(self, start: State, first_step: float, projected: bool) -> None:
        super()._begin(start, first_step, is_projected(self.system))
        fit_signs(self.system, self.work, self.module, self.s.y, start.y)

    @property
    def kernel(self) -> str:
        """By which equations: a name of ``Stats.kernel``."""
        tree = self.work.tree
        return "joint coordinates" if tree.address[0] or tree.closing.address[0] else "joint coordinates, by recursion"

    @property
    def width(self) -> int:
        """As of ``Compiled``."""
        return size_of_states(self.data)

    def normalise(self) -> None:
        """As of ``Compiled``: lifted states have unit Euler parameters."""

    @property
    def y(self) -> Floats:
        """States of the bodies at the time reached, and of forces."""
        bodies = self.bodies if self.lane.steps else self.start.y
        if not len(self.data.forces.state_place):
            return bodies
        return np.concatenate([bodies, self.s.y[self.work.tree.size[0] :]])

    @property
    def turns(self) -> Floats:
        """As of ``Compiled``."""
        assert self._ready is not None
        own = self.s.y[self._ready.turns]
        return np.concatenate([super().turns, own]) if self.data.counted else own

    def _bodies_of(self, y: Floats) -> Floats:
        assert self._ready is not None
        of_bodies = np.empty(len(self.work.motion))
        self._ready.lift(y, of_bodies)
        return of_bodies

    def of_tree(self, t: float) -> Floats:
        """As of ``Method``."""
        return self._state_at(t)

    def _state_at(self, t: float) -> Floats:
        if t >= self.t:
            return self.s.y.copy()
        z = np.empty_like(self.s.y)
        if (code := state_once(self.s, self.data, self.work, t, z)) != OK:
            status = failure.py_func(code)
            raise RunFailure(status, t, self._detail(status))
        return z

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """As of ``Compiled``."""
        status, message = super().advance(steps, outputs, out, record_t, record_y)
        return self.explained(status, message) if status == Status.STEP_TOO_SMALL else (status, message)

    def explained(self, status: Status, message: str) -> tuple[Status, str]:
        """As of ``Compiled``.  Where a thin body is free to turn, steps become short; the equations of all bodies find it."""
        if not len(self.data.thin_body) or self.system.joint_coordinates_only:
            return super().explained(status, message)
        work, y = workspace_for(self.data), self.y
        found = failure.py_func(derivative_once(self.t, y, self.data, work, np.empty_like(y)))
        if found != Status.SINGULAR_CONFIGURATION:
            return super().explained(status, message)
        return found, found.text(self.t, failure_detail(found, self.system, work))

    def _detail(self, status: Status) -> str:
        closing = self.work.tree.closing
        if status != Status.SINGULAR_CONFIGURATION or (len(closing.joint) and closing.chosen[0] != NONE):
            return super()._detail(status)
        if text := self._fast_turn():
            return text
        return dependent_coordinates(self.system)

    def _fast_turn(self) -> str:
        """Which turn is too fast for the accuracy of its bodies, if one is; see ``step_error``."""
        s, motion = self.s, self.bodies.reshape(-1, STATE)
        speeds = s.scales[stepping.LEVER].clip(0.0)[: self.work.tree.size[0]] * np.abs(s.y[: self.work.tree.size[0]])
        k, body = int(np.argmax(speeds)), float(np.linalg.norm(motion[:, V:OMEGA], axis=1).max())
        if rounding_over_limit.py_func(float(speeds[k]), body, self.rtol, self.atol) < NEAR_LIMIT:
            return ""
        step = int(np.flatnonzero(self.work.tree.data.u <= k)[-1])
        one = self.tree.skeleton.coordinates[step]
        name = f"joint '{one.joint}'" if one.joint else f"body '{one.outer}'"
        return (
            f"{name} turns at {abs(s.y[k]):.2g} rad/s while no body is faster than {body:.2g} m/s: what it moves is too near its "
            "axis, where rounding exceeds the tolerance; a larger rtol, or a moment of inertia about this axis, may help"
        )


def dependent_coordinates(system: System) -> str:
    """Why the equations in joint coordinates are singular, but for their rows."""
    dependent = [
        f"joint '{joint.name}' where {condition}"
        for joint in system.joints
        if (condition := getattr(joint.module, "DEPENDENT_COORDINATES", ""))
    ]
    return f"the coordinates of the joints depend on each other ({', '.join(dependent) or 'of massless parts'})"


def bodies_of(work: Workspace, z: Floats) -> Floats:
    """The state of the bodies at coordinates and rates z of a tree."""
    of_bodies = np.empty(len(work.motion))
    lift_once(work.tree.data, work.tree.lifting, np.ascontiguousarray(z), of_bodies)
    return of_bodies


def start_of(system: System, state: State) -> Floats:
    """Coordinates and rates of the tree of a system in a state of its bodies."""
    tree = tree_of(system)
    z: Floats = _coordinates(trees_of(system).steps, system.joint_motions, state)
    return coupled(system, tree, state, z) if system.couplings else z


def fit_signs(system: System, work: Workspace, module: ModuleType | None, z: Floats, y: Floats) -> None:
    """Give the Euler parameters that coordinates z lead to the signs of those in a state y of the bodies.

    Raises
    ------
    OffTheRowsError
        Where z do not lead to this state.
    """
    lifted = bodies_of(work, z)
    if _keep_signs(work.tree, lifted, y):
        lifted = bodies_of(work, z)
    if work.tree.closing.posed.any():
        closed = trees_of(system).closed
        assert closed is not None and module is not None
        signs = np.sign((work.tree.data.p * tree_of(system).pose[:, P:V]).sum(axis=1))
        module.prepare(closed.with_signs(signs), work.tree.closing.constants)
    if (off := float(off_the_rows(lifted, y))) > OFF_THE_ROWS:
        raise OffTheRowsError(
            f"system '{system.name}': the initial state is {off:.1e} off the constraints, limit {OFF_THE_ROWS:.0e} for "
            "coordinates of joints; give a state from runtime.assemble, or use coordinates='absolute'"
        )


def off_the_rows(y: Floats, given: Floats) -> Floats:
    """Largest difference of states y (..., 13 bodies) from those given, as a fraction of their size or of 1."""
    off: Floats = np.abs(y - given).max(axis=-1) / np.maximum(1.0, np.abs(given).max(axis=-1))
    return off


def workspace_of_tree(system: System, data: ModelData) -> Workspace:
    """Memory for evaluations in the coordinates of the tree of a system."""
    return workspace_for(data, tree=memory_of_tree(system, data, tree_of(system)))


def stepper_of_tree(tree: SpanningTree, data: ModelData, work: Workspace, z: Floats) -> stepping.Stepper:
    """A stepper for coordinates and rates z of a tree, which states of forces follow."""
    m = work.tree
    known = m.loaded[0] == 0 or len(tree.limits) > 0
    own = dop853.memory(len(z), m.address.tolist() if known else (0, 0, 0), ties_of(tree.kinds))
    scales = np.array(with_states(scales_of(tree), len(data.forces.state_place)))
    return stepping.stepper(z, 0.0, own, data, 0.0, balance_of(data, size_of_states(data)), scales)


def is_projected(system: System) -> bool:
    """Whether rows restrain the coordinates of the tree of a system."""
    return bool(tree_of(system).closing or system.couplings)


# As long as a run takes, and often those of one state, also of systems that differ in masses alone.
_coordinates = Latest(lambda steps, motions, state: joint_coordinates(steps, state.names, motions, state.y[None])[0], 8)


def tree_constants(tree: SpanningTree, gravity: Floats) -> Floats:
    """The constants of the kernel of a tree."""
    module = kernel_of(tree)
    constants = np.zeros(module.CONSTANTS)
    module.prepare(tree_parameters(tree, gravity), constants)
    return constants


def memory_of_tree(system: System, data: ModelData, tree: SpanningTree, *, by_kernel: bool = True) -> TreeWorkspace:
    """Memory for evaluations of a tree, by its kernel if there is one; otherwise, or not ``by_kernel``, by the recursion."""
    module = module_of_tree(system) if by_kernel else None
    ask("joint coordinates")
    if module is None or (system.loaded and not tree.limits):
        ask("forces in joint coordinates")
    if tree.closing or system.couplings:
        return memory_with_rows(system, tree, module)
    of = tree_data(tree, system.gravity)
    if module is None:
        return tree_workspace(of, system.loaded)
    addresses = list(addresses_of_tree(module).values())
    return tree_workspace(of, system.loaded, addresses, tree_constants(tree, system.gravity), tree.limits)


def memory_with_rows(system: System, tree: SpanningTree, module: ModuleType | None) -> TreeWorkspace:
    """Memory for evaluations of a tree with rows, by a kernel if there is one."""
    rows, kernel, closed = None, NO_KERNEL, trees_of(system).closed
    if module is not None and closed is not None:
        rows = [(tree.closing[k], r) for k, r in module.ROWS]
        constants = np.zeros(max(module.CONSTANTS, 1))
        module.prepare(closed.parameters, constants)
        posed = [body for _, body in closed.poses]
        kernel = RowsKernel(int(addresses_of([module])[0]), constants, module.OUTPUTS, posed)
    return tree_with_rows(system, rows, kernel)


def _keep_signs(tree: TreeWorkspace, own: Floats, wanted: Floats) -> bool:
    """Give the Euler parameters of the reference configuration the signs that lead to given states; whether one changed."""
    of, to = own.reshape(-1, STATE)[:, P:V], wanted.reshape(-1, STATE)[:, P:V]
    other = np.einsum("ba,ba->b", of, to) < 0.0
    tree.data.p[other] *= -1.0
    return bool(other.any())
