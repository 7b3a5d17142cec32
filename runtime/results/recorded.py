"""Arrays of a run by the names of bodies and joints; derived quantities are computed on first access."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.contacts import SPEED_RESOLUTION
from runtime.dynamics.derived import NO_ANGLES, Derived, derived, energies_of_states, largest_of_rows
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.force_elements import follow_states
from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.dynamics.model_data import ModelData, Workspace, stabilised
from runtime.dynamics.status import ENDED, Status
from runtime.results.contact_motion import ContactMotion, contact_motions
from runtime.results.coupling_forces import CouplingForces, energy_of_rotors, forces_of_couplings
from runtime.results.energy_balance import EnergyBalance, Work, energy_balance
from runtime.results.force_motion import ForceMotion, force_motions
from runtime.results.joint_angles import JointAngles, joint_angles
from runtime.results.limit_motion import LimitMotion, limit_motions
from runtime.results.motor_motion import MotorMotion, motor_motions
from runtime.results.outputs import Output, parsed_outputs, value_of
from runtime.results.passages import CLOSE, Passage, close_states, fitted, largest_pivot, leaves_pose
from runtime.results.reactions import (
    FreeWrenches,
    Reaction,
    axes_of_joint,
    free_wrenches,
    least_norm,
    named_point,
    undetermined_reactions,
    uniqueness,
)
from runtime.results.state_quantities import Rows, rows_of
from runtime.results.stats import Stats
from runtime.results.whole_turns import WholeTurns, poses_show_hinges, turns_at
from runtime.support.arguments import checked_methods
from runtime.support.arrays import Floats, Ints, read_only
from runtime.support.checks import bounded, check_array
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.support.late_names import no_attribute
from runtime.support.names import named
from runtime.system.coordinate_mechanics import CoordinateMechanics
from runtime.system.parts import GROUND, Joint
from runtime.system.reference import rotation_matrices
from runtime.system.state import State
from runtime.system.system import System

COMPUTED = (  # a pickled run leaves these out
    *"_found _derived _energies _forces _free_wrenches _interactions _branches _of_couplings undetermined_reactions".split(),
    *"limits contacts forces motors angles degrees_of_freedom driven _later".split(),
)


def _nothing() -> None:
    """A default that hides no field that is computed later."""


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class RecordedRun:
    """What a ``Run`` knows of its motion, which its datasets, files, tables and views read; see there."""

    system: System
    data: ModelData = field(repr=False)
    t: Floats = field(repr=False)
    states: Floats = field(repr=False)  # (n, 13 bodies)
    final: State = field(repr=False)  # where the integration stopped
    status: Status
    message: str
    stats: Stats
    events: Mapping[str, Floats] = field(repr=False)  # times of each event's zeros [s]
    event_states: Mapping[str, tuple[State, ...]] = field(repr=False)
    contact_events: Floats = field(repr=False, default_factory=lambda: np.zeros((0, 4)))  # time, contact, 1 or 0, speed
    singular_passages: tuple[Passage, ...] = field(
        repr=False, default=()
    )  # of singular poses close to a time of the result
    outputs: Mapping[str, Output] = field(repr=False, default_factory=dict)  # what ``simulate(..., outputs=)`` names
    _work_done: Work | None = field(repr=False, default_factory=_nothing)
    _turns: WholeTurns | None = field(repr=False, default_factory=_nothing)
    _at_steps: bool = field(repr=False, default=False)  # ``t`` are the ends of steps
    _start: Floats | None = field(repr=False, default=None)  # (13 bodies,) from which angles follow
    _z: Floats | None = field(repr=False, default=None)  # (n, states of forces)
    _singular: int = field(init=False, repr=False, default=-1)  # first state whose accelerations are undetermined

    @classmethod
    def _of(cls, later: Mapping[str, Callable[[], Any]], **known: Any) -> Self:
        """A run of fields that were checked; ``later``: what returns the others, when they are asked for."""
        run = object.__new__(cls)
        for name in ("t", "states", "contact_events"):
            known[name].flags.writeable = False
        vars(run).update(known, _later=later)
        return run

    def __getattr__(self, name: str) -> Any:
        if name not in (later := vars(self).get("_later", ())):
            raise no_attribute(f"'{type(self).__name__}' object", name, dir(self))
        object.__setattr__(self, name, value := later[name]())
        return value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *vars(self).get("_later", ())]

    def __post_init__(self) -> None:
        mappings = self.events, self.event_states, self.outputs
        if not (isinstance(self.system, System) and all(isinstance(one, Mapping) for one in mappings)):
            raise ModelError(
                "a run is made by runtime.simulate; change one with dataclasses.replace, keeping system, events and outputs"
            )
        try:
            object.__setattr__(self, "status", Status(self.status))
        except Exception:  # whatever a foreign object raises
            raise ModelError(f"run: status = {shown(self.status)}: give a runtime.Status") from None
        for name, owner in (("events", "event"), ("event_states", "event"), ("outputs", "output")):
            object.__setattr__(self, name, named(owner, getattr(self, name)))
        n, events = (a.size if type(a) is np.ndarray else 0 for a in (self.t, self.contact_events))
        check_array(self.t, (n,), "run: t")
        check_array(self.states, (n, STATE * len(self.system.bodies)), "run: states")
        check_array(self.contact_events, (events // 4, 4), "run: contact_events")
        if count := len(self.system.data.forces.state_place):
            check_array(self._z, (n, count), "run: states of forces")  # type: ignore[arg-type]  # None is refused

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all but the quantities that can be computed again."""
        every = {f.name: getattr(self, f.name) for f in fields(self)} | vars(self)
        kept = {key: value for key, value in every.items() if key not in COMPUTED}
        return kept | {name: dict(getattr(self, name)) for name in ("events", "event_states", "outputs")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle; the addresses of compiled code in this process come from the system."""
        self.__dict__.update(state)
        data = stabilised(self.system.data, self.data.alpha, self.data.beta)
        object.__setattr__(self, "data", data)
        self.__post_init__()  # unpickled arrays are writable

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else "no times"
        return f"Run('{self.system.name}', {len(self.t)} times, {span}, status={self.status.name}, '{self.message}')"

    @property
    def has_forces(self) -> bool:
        """True if multipliers and reactions are determined; False where drivers were met by least squares."""
        return True

    @property
    def success(self) -> bool:
        """True if the run reached its end, or a terminal event."""
        return self.status in ENDED

    def _bodies(self, array: Floats, start: int, stop: int) -> Mapping[str, Floats]:
        bodies = {name: array[:, k, start:stop] for k, name in enumerate(self.system.body_names)}
        return named("body", bodies, "bodies")

    def _joints(self, array: Floats) -> Mapping[str, Floats]:
        joints = self.system.joints
        return named("joint", {joint.name: array[:, k, : len(joint.rows)] for k, joint in enumerate(joints)})

    @property
    def _state(self) -> Floats:
        return self.states.reshape(len(self.t), len(self.system.bodies), STATE)

    @property
    def r(self) -> Mapping[str, Floats]:
        """Centres of mass, (n, 3) [m]."""
        return self._bodies(self._state, R, P)

    @property
    def p(self) -> Mapping[str, Floats]:
        """Euler parameters, (n, 4), scalar first."""
        return self._bodies(self._state, P, V)

    @property
    def v(self) -> Mapping[str, Floats]:
        """Velocities of the centres of mass, (n, 3) [m/s]."""
        return self._bodies(self._state, V, OMEGA)

    @property
    def omega(self) -> Mapping[str, Floats]:
        """Angular velocities, (n, 3) [rad/s], global axes."""
        return self._bodies(self._state, OMEGA, STATE)

    def __getitem__(self, name: str) -> Floats:
        """Values of an output of ``simulate(..., outputs=)``, or of any other by its expression.

        ``run["r.hand"]``, ``run["centre_of_mass.z"]``, ``run["max(norm(reaction_force.ankle))"]``: quantities over time (n,) or
        (n, components), and reductions over the times of the run, NaN where it has none.
        ``runtime.ensemble.output_names(system)`` lists the quantities.

        Raises
        ------
        ModelError
            For an unknown name, and where a quantity is undetermined.
        """
        if not isinstance(name, str):
            raise ModelError(f"run[{shown(name)}]: give the name of an output or of a quantity, such as 'energy'")
        known = (
            self.outputs if name in self.outputs else parsed_outputs([name], self.system, len(self.t), named_by="run")
        )
        return value_of(known[name], self)

    @property
    def _rows(self) -> Rows:
        return rows_of(self.system, self._state, self._accelerations, self._counted)

    def _counted(self) -> Mapping[str, Floats]:
        """Coordinates of joints by name, with whole turns."""
        return {f"{name}.{column}": x for name, of in self.angles.items() for column, x in of.values.items()}

    def _accelerations(self) -> Floats:
        """Accelerations (n, bodies, 6) of the centres of mass and of the turns."""
        each = [np.stack([*of.values()], axis=1) for of in (self.v_dot, self.omega_dot)]
        return np.concatenate(each, axis=2)

    def _work(self) -> Workspace:
        """Memory for evaluations at the states of the run, with the contacts' resolution of speeds in the run."""
        bounded(self.t, "run: t")
        bounded(self.states, "run: states")
        work = workspace_for(self.system.data)
        work.contacts.speed_resolution[0] = SPEED_RESOLUTION * (self.stats.rtol + self.stats.atol)
        follow_states(self.system.data.forces, work.forces)
        return work

    def _with_forces(self, states: Floats) -> Floats:
        """States of the bodies at times of the run, the first ones, followed by those of forces; passages have them."""
        if self._z is None or not self._z.size or states.shape[1] > self.states.shape[1]:
            return states
        return np.concatenate([states, self._z[: len(states)]], axis=1)

    @cached_property
    def _energies(self) -> Floats:
        """Kinetic energy, that of gravity and elastic energy, (n, 3) [J]."""
        of_states = self.t, self._with_forces(self.states), self._before(self.t)
        found = energies_of_states(*of_states, self.contact_events, self.data, self._work())
        if self.system.armatures:
            found[:, 0] += energy_of_rotors(self.system, self.states)
        return read_only(found)

    @cached_property
    def _derived(self) -> Derived:
        d = vars(self).get("_found") or self._derive(self.t, self.states)
        unresolved = self.system.data.closed and not self.success
        singular = d.pivot < CLOSE * largest_pivot(d.pivot, self.singular_passages) if unresolved else d.pivot == 0.0
        for passage, close, of_passage in self._close(d):
            d.v_dot[close] = fitted(passage, of_passage.pivot, of_passage.v_dot, self.t[close])
            if not unresolved or leaves_pose(passage, of_passage.pivot):
                singular[close] = False
        object.__setattr__(self, "_singular", int(np.argmax(singular)) if singular.any() else -1)
        return d

    def _derive(self, times: Floats, states: Floats) -> Derived:
        of_states = times, self._with_forces(states), self._before(times), self.contact_events, self.data, self._work()
        if not self.system.joint_coordinates_only:
            return derived(*of_states)
        found = self._of_couplings if states is self.states else self._coupled(times, states)
        d = derived(*of_states, found.wrench)
        d.pivot[found.undetermined] = 0.0
        d.v_dot[:] = found.v_dot
        return d

    def _before(self, times: Floats) -> Floats:
        """The angles at times of the run from which revolutions are counted, as of ``take_state``."""
        turns = self._turns
        if turns is None or len(turns.counted) != len(self.t) or not turns.counted.size:
            return NO_ANGLES
        found = turns.counted[np.searchsorted(self.t, times).clip(max=len(self.t) - 1)]
        return read_only(found)  # type: ignore[no-any-return]

    def _close(self, d: Derived) -> Iterator[tuple[Passage, Ints, Derived]]:
        """Passages of singular poses, the states of the run that are close to the pose, and what follows from the passage's."""
        for passage in self.singular_passages:
            if len(close := close_states(passage, self.t, d.pivot)):
                yield passage, close, self._derive(passage.t, passage.states)

    @property
    def _solved(self) -> Derived:
        """Quantities derived from the states, if accelerations and multipliers are determined in all of them."""
        d = self._derived
        if self._singular >= 0:
            raise ModelError(
                f"accelerations and reactions are undetermined at t = {self.t[self._singular]:.6g} s, where the configuration "
                "is singular or the run failed too close to a singular one; positions, velocities and energies are in the "
                "result; for accelerations ask for times (t_eval) before it"
            )
        return d

    @property
    def v_dot(self) -> Mapping[str, Floats]:
        """Accelerations of the centres of mass, (n, 3) [m/s^2]."""
        return self._bodies(self._solved.v_dot[:, 1:], 0, 3)

    @property
    def omega_dot(self) -> Mapping[str, Floats]:
        """Angular accelerations, (n, 3) [rad/s^2], global axes."""
        return self._bodies(self._solved.v_dot[:, 1:], 3, 6)

    @cached_property
    def coupling_forces(self) -> Mapping[str, Floats]:
        """Force that each coupling exerts along its follower, (n,) [N m], [N].

        Along the leader it exerts this times the negative slope of its law.
        """
        _ = self._solved  # refuses singular states
        forces = self._of_couplings.follower.T
        return named("coupling", {one.name: force for one, force in zip(self.system.couplings, forces, strict=True)})

    @cached_property
    def _of_couplings(self) -> CouplingForces:
        return self._coupled(self.t, self.states)

    def _coupled(self, times: Floats, states: Floats) -> CouplingForces:
        of_states = times, self._with_forces(states), self._before(times)
        return forces_of_couplings(self.system, *of_states, self.contact_events, self._work())

    @property
    def lam(self) -> Mapping[str, Floats]:
        """Multipliers, (n, rows); force on the bodies: -D^T lam.  Of least norm for joints in ``undetermined_reactions``."""
        return self._joints(self._forces[0])

    @cached_property
    def _forces(self) -> tuple[Floats, Floats]:
        """Multipliers (n, joints, 6) and wrenches of the joints on their bodies (n, joints, 2, 6)."""
        solved = self._solved
        lam, wrench = self._multipliers(self.t, self.states, solved)
        for passage, close, of_passage in self._close(solved):
            bodies = np.ascontiguousarray(passage.states[:, : self.states.shape[1]])
            values = self._multipliers(passage.t, bodies, of_passage)
            for of_run, value in zip((lam, wrench), values, strict=True):
                of_run[close] = fitted(passage, of_passage.pivot, value, self.t[close], poles=True)
        return lam, wrench

    def _multipliers(self, times: Floats, states: Floats, derived: Derived) -> tuple[Floats, Floats]:
        if not self.data.redundant:
            return derived.lam, derived.wrench
        return least_norm(self.system, times, states, derived)

    @cached_property
    def undetermined_reactions(self) -> tuple[str, ...]:
        """Names of the joints whose reactions rigid bodies do not determine, because rows are redundant."""
        return undetermined_reactions(self.system, self.t, self.states, self._derived.pivot)

    @property
    def Phi(self) -> Mapping[str, Floats]:
        """Constraint rows, (n, rows), in the units of ``system.joint(name).units``."""
        return self._joints(self._derived.Phi)

    @property
    def Phi_dot(self) -> Mapping[str, Floats]:
        """Rates of the constraint rows, (n, rows)."""
        return self._joints(self._derived.Phi_dot)

    @property
    def kinetic_energy(self) -> Floats:
        """(n,) [J]."""
        return self._energies[:, 0]

    @property
    def potential_energy(self) -> Floats:
        """Potential energy of gravity, (n,) [J], zero at the origin."""
        return self._energies[:, 1]

    @property
    def elastic_energy(self) -> Floats:
        """Energy of joint limits, springs of motors, closed contacts and forces, (n,) [J]; none with law="as_published"."""
        return self._energies[:, 2]

    @property
    def energy(self) -> Floats:
        """Kinetic, potential and elastic energy, (n,) [J]."""
        return self.kinetic_energy + self.potential_energy + self.elastic_energy

    @property
    def energy_balance(self) -> EnergyBalance:
        """Energy, work of loads, motors, drivers, limits, contacts and forces, and the error of their balance."""
        return energy_balance(self.system, self.energy, self._work_done)

    @cached_property
    def limits(self) -> Mapping[str, LimitMotion]:
        """Angles and moments of each limit of motion, by its name."""
        turns, y, start = turns_at(self._turns, self.t), self._start, None
        if y is not None and poses_show_hinges(self.system, turns) and not np.array_equal(y[None], self.states[:1]):
            start = self._derive(self.t[:1], y[None])
        return limit_motions(self.system, self._derived, turns, start)

    @cached_property
    def contacts(self) -> Mapping[str, ContactMotion]:
        """Motion and forces of each contact, by its name."""
        return contact_motions(self.system.contacts, self._derived, self.contact_events)

    @cached_property
    def forces(self) -> Mapping[str, ForceMotion]:
        """Reported quantities, energy and power of each force, by its name."""
        outputs = self._derived.force_outputs
        return force_motions(self.system.forces, self.system.body_names, self._state, outputs, self._moment_arms)

    def _moment_arms(self, muscle: str) -> Mapping[str, Floats]:
        mechanics = CoordinateMechanics(self.system, None)
        q, _ = mechanics.of_states(self._state.reshape(len(self.t), -1), self._counted())
        names = (name.removesuffix("_rate") for name in mechanics.rate_names)
        return dict(zip(names, mechanics.moment_arms(muscle, q).T, strict=True))

    @cached_property
    def motors(self) -> Mapping[str, MotorMotion]:
        """Effort and power of each motor, by its name."""
        return motor_motions(self.system, self._derived)

    @cached_property
    def angles(self) -> Mapping[str, JointAngles]:
        """Coordinates of the joints that have a motion, such as hinges, with rates, by the names of the joints."""
        turns, steps = turns_at(self._turns, self.t), self.t if self._at_steps else None
        return joint_angles(self.system, self._state, turns, steps, self._start)

    @property
    def violation(self) -> Floats:
        """Largest abs Phi of all rows, (n,)."""
        return largest_of_rows(self._derived.Phi)

    @property
    def velocity_violation(self) -> Floats:
        """Largest abs Phi' of all rows, (n,)."""
        return largest_of_rows(self._derived.Phi_dot)

    @property
    def norm_violation(self) -> Floats:
        """Largest abs(|p| - 1) of all bodies, (n,)."""
        lengths = np.linalg.norm(self._state[:, :, P:V], axis=2)
        return np.abs(lengths - 1.0).max(axis=1)

    def reaction(self, joint: str, *, on: str, at: ArrayLike | str = "joint", axes: str = "global") -> Reaction:
        """Force and moment of a joint on one of its bodies, -D^T lam: those of its rows alone.

        Limits, motors, couplings and rotors that act along its coordinates are not part of it; ``joint_load`` adds them.

        Parameters
        ----------
        joint, on : str
            Names of the joint and of one of its two bodies.
        at : "joint", "centre" or (3,) [m]
            Point of that body about which the moment is taken: that of the joint's definition (``s_i`` or ``s_j``;
            the centre of mass where it names no point), the centre of mass, or local components.
        axes : str
            "global"; the name of a body or a frame whose axes are used; or "joint" for those of the joint: x along its first
            direction that this body carries (of the other body, where it carries none), such as the axis of a hinge, y along
            its second direction less the part along x (without one, along the body's axis most nearly perpendicular to x).

        Raises
        ------
        ModelError
        """
        _, k, side = self._end(joint, on)
        return self._as_reaction(joint, on, at, axes, self._forces[1][:, k, side], ((k, side),))

    def _as_reaction(
        self, joint: str, on: str, at: ArrayLike | str, axes: str, wrench: Floats, ends: tuple[tuple[int, int], ...]
    ) -> Reaction:
        """Reaction on a body of a wrench (n, 6) about its centre, to which some joints' sides contribute, by their indices."""
        j, _, side = self._end(joint, on)
        free = self._free_wrenches
        of_ends = sum((free.wrench[:, k, s] for k, s in ends), np.zeros((*wrench.shape, free.wrench.shape[-1])))
        both = np.concatenate([wrench[:, :, None], of_ends], axis=2)
        point, text = named_point(j, side, at)
        arm = np.einsum("nab,b->na", self.rotations(on), point)
        moment = both[:, 3:] - np.cross(arm[:, :, None], both[:, :3], axis=1)
        if axes != "global":
            body, local = axes_of_joint(j, side) if axes == "joint" else (axes, np.eye(3))
            B = self.rotations(body) @ local
            both, moment = (np.einsum("nab,na...->nb...", B, part) for part in (both[:, :3], moment))
        both = np.concatenate([both[:, :3], moment], axis=1)
        found = uniqueness(self.system, [k for k, _ in ends], both[:, :, 1:], free)
        return Reaction(
            joint, on, text, axes, both[:, :3, 0], both[:, 3:, 0], found.determined[:3], found.determined[3:],
            *found.directions, found.shared_with,
        )  # fmt: skip

    @cached_property
    def _free_wrenches(self) -> FreeWrenches:
        return free_wrenches(self.system, self.t, self.states)

    def _end(self, joint: str, on: str) -> tuple[Joint, int, int]:
        """A joint, its index, and 0 or 1 for its body i or j."""
        j = self.system.joint(joint)
        if on not in (j.body_i, j.body_j):
            raise ModelError(f"joint '{joint}' does not act on body '{on}'; it joins '{j.body_i}' and '{j.body_j}'")
        return j, self.system.joint_names.index(joint), 0 if on == j.body_i else 1

    def rotations(self, body: str) -> Floats:
        """Rotation matrices of a body, a frame or "ground", from its axes to global axes, (n, 3, 3)."""
        if body == GROUND:
            return np.broadcast_to(np.eye(3), (len(self.t), 3, 3))
        if frame := next((one for one in self.system.frames if one.name == body), None):
            return self.rotations(frame.body) @ frame.A
        if body not in self.system.body_names:
            known = [*self.system.body_names, GROUND, *(frame.name for frame in self.system.frames)]
            raise unknown_name(body, known, "body or frame", "bodies and frames")
        return rotation_matrices(self._state[:, self.system.body_index(body), P:V])
