"""The result of a run: arrays by the names of bodies and joints; what follows from the states is computed when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from generated import contact_sphere_plane as sphere_plane
from generated import dispatch
from runtime.contact_motion import ContactMotion, GroundReaction, contact_motions, ground_reaction
from runtime.contacts import BLUR, NORMAL_FORCE, pass_touches
from runtime.contacts import POTENTIAL as STORED
from runtime.contacts import TOLD as TOUCHED
from runtime.equations import (
    OK,
    OMEGA,
    ROWS,
    STATE,
    P,
    R,
    Tables,
    V,
    Work,
    accelerations,
    angular_momentum,
    rotations_of,
)
from runtime.errors import ModelError
from runtime.kernels import compiled
from runtime.limits import EXCESS, LATITUDE, LONGITUDE, MAXIMUM, POTENTIAL, TOLD
from runtime.pointers import behind
from runtime.structure import Floats
from runtime.system import Joint, Limit, State, System, finite

if TYPE_CHECKING:
    import xarray


COMPUTED = ("_derived", "limits", "contacts", "freedoms", "driven")  # what a pickled run leaves out


@dataclass(frozen=True)
class Stats:
    """What a run cost.

    ``evaluations`` of the equations of motion include those of the dense output (DOP853: 3 for each step that holds a time
    of ``t_eval`` or an event; SciPy's, with contacts: for every step) and of the Jacobians that SciPy's implicit methods form
    by differences.  ``rejections`` is None where the method does not tell.  ``kernel``: what evaluated them, "whole model" or
    "joint by joint".
    """

    method: str
    evaluations: int
    steps: int
    rejections: int | None
    wall_time: float  # [s]
    rtol: float
    atol: float
    kernel: str


@dataclass(frozen=True)
class Reaction:
    """What a joint does to one body: force (n, 3) [N] and moment about the point (n, 3) [N m]."""

    joint: str
    on: str  # the body
    at: str  # the point, in words
    axes: str  # "global" or a body's name
    force: Floats
    moment: Floats


@dataclass(frozen=True)
class LimitMotion:
    """What a limit of motion saw and did; arrays over time (n,).

    ``angle`` [rad]: of a hinge, signed and without jumps at +-pi (a hinge that turns by more than half a turn between two
    times of the result seems to turn by less); of a cone without a hinge, its latitude.
    ``rate`` [rad/s]: of the hinge, signed; without a hinge, the relative angular velocity's magnitude.
    ``latitude``, ``longitude`` [rad]: of the restrained direction; ``maximum_latitude``: the cone's at that longitude.
    ``excess`` [rad]: by how much the direction is outside the cone, 0 inside.
    ``restricting_moment``, ``dissipative_moment`` [N m]: magnitudes; both act against leaving and against the rate.
    ``elastic_energy`` [J], ``dissipated_power`` [W].
    """

    name: str
    angle: Floats
    rate: Floats
    latitude: Floats
    longitude: Floats
    maximum_latitude: Floats
    excess: Floats
    restricting_moment: Floats
    dissipative_moment: Floats
    elastic_energy: Floats
    dissipated_power: Floats


def _limit_motion(limit: Limit, told: Floats, measured: Floats) -> LimitMotion:
    angle, rate = measured[:, 0].copy(), measured[:, 1].copy()
    if limit.kind != "cone":
        angle = np.unwrap(angle)
    return LimitMotion(
        name=limit.name, angle=angle, rate=rate, latitude=told[:, LATITUDE], longitude=told[:, LONGITUDE],
        maximum_latitude=told[:, MAXIMUM], excess=told[:, EXCESS], restricting_moment=np.abs(measured[:, 2]),
        dissipative_moment=limit.damping * np.abs(rate), elastic_energy=told[:, POTENTIAL],
        dissipated_power=limit.damping * rate**2,
    )  # fmt: skip


class _Derived(NamedTuple):
    """What follows from the states."""

    v_dot: Floats  # (n, bodies + 1, 6)
    lam: Floats  # (n, joints, 6) by row of the joint
    wrench: Floats  # (n, joints, 2, 6) -D^T lam on body i and j: force, moment about the centre of mass
    Phi: Floats  # (n, joints, 6)
    Phi_dot: Floats
    energy: Floats  # (n, 3) kinetic, of gravity, of the limits
    told: Floats  # (n, limits, TOLD)
    measured: Floats  # (n, limits, 3) angle, rate, moment
    touched: Floats  # (n, contacts, TOUCHED)
    damping_force: Floats  # (n, contacts)
    contact_force: Floats  # (n, contacts, 3) on the sphere's body
    contact_point: Floats  # (n, contacts, 3)


@compiled
def _derive(times, states, touches, t, w, d):  # type: ignore[no-untyped-def]
    """Fill ``d`` for all states; index of the first singular one, or -1.  ``touches`` tell the speeds of touch-down."""
    t, w, d = behind(t), behind(w), behind(d)
    singular, passed = -1, 0
    for n in range(len(states)):
        passed = pass_touches(times[n], touches, passed, t, w)
        if accelerations(times[n], states[n], t, w, True) != OK and singular < 0:
            singular = n
        for b in range(len(t.mass)):
            for c in range(6):
                d.v_dot[n, b, c] = w.v_dot[b, c]
        kinetic = potential = 0.0
        for b in range(1, len(t.mass)):
            state = w.state[b]
            angular_momentum(w.A[b], t.inertia[b], state[OMEGA:STATE], w.momentum)
            for c in range(3):
                kinetic += 0.5 * (t.mass[b] * state[V + c] * state[V + c] + w.momentum[c] * state[OMEGA + c])
                potential -= t.mass[b] * t.gravity[c] * state[R + c]
        elastic = w.loads.energy[0]
        for k in range(len(t.limits.kind)):
            m, i, j = w.limits, w.state[t.limits.body_i[k]], w.state[t.limits.body_j[k]]
            dispatch.measure(t.limits.kind[k], i, j, m.x[k], m.slope[k], m.measured)
            for c in range(TOLD):
                d.told[n, k, c] = m.told[k, c]
            for c in range(3):
                d.measured[n, k, c] = m.measured[c]
            elastic += m.told[k, POTENTIAL]
        for k in range(len(t.contacts.law)):
            m, i, j = w.contacts, w.state[t.contacts.body_i[k]], w.state[t.contacts.body_j[k]]
            for c in range(TOUCHED):
                d.touched[n, k, c] = m.told[k, c]
            sphere_plane.wrench(i, j, m.x[k], m.told[k, NORMAL_FORCE:STORED], m.Q)
            sphere_plane.point(i, j, m.x[k], d.contact_point[n, k])
            for c in range(3):
                d.contact_force[n, k, c] = m.Q[c]
            d.damping_force[n, k] = m.law[k, 2] if m.told[k, NORMAL_FORCE] > 0.0 else 0.0
            elastic += m.told[k, STORED]
        d.energy[n, 0], d.energy[n, 1], d.energy[n, 2] = kinetic, potential, elastic
        for k in range(len(t.address)):
            for r in range(ROWS):
                d.Phi[n, k, r], d.Phi_dot[n, k, r], d.lam[n, k, r] = w.Phi[k, r], w.Phi_dot[k, r], 0.0
            for r in range(t.active[k]):
                d.lam[n, k, t.active_row[k, r]] = w.lam[k, r]
            for side in range(2):
                for c in range(6):
                    value = 0.0
                    for r in range(t.active[k]):
                        value -= w.D[k, t.active_row[k, r], 6 * side + c] * w.lam[k, r]
                    d.wrench[n, k, side, c] = value
    return singular


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A simulated motion.

    Mappings from a body's name: ``r`` (n, 3) [m], ``p`` (n, 4), ``v`` (n, 3) [m/s], ``omega`` (n, 3) [rad/s], ``v_dot``
    [m/s^2], ``omega_dot`` [rad/s^2], all in global axes.  From a joint's name: ``lam``, ``Phi``, ``Phi_dot`` (n, rows).
    From a limit's name: ``limits``, a ``LimitMotion`` each; from a contact's: ``contacts``, a ``ContactMotion`` each.
    ``energy``, ``kinetic_energy``, ``potential_energy``, ``elastic_energy`` (n,) [J].  ``violation``: largest abs Phi of all
    rows (n,), ``velocity_violation``: largest abs Phi', ``norm_violation``: largest abs(|p| - 1).  ``reaction(joint, ...)``.

    ``status``: 0 reached the end, 1 stopped by an event, 2 interrupted, 3 ``max_steps`` used up; below 0: failed, ``message``
    tells why, when, at which joint, and what to do.
    """

    system: System
    tables: Tables = field(repr=False)
    t: Floats = field(repr=False)
    states: Floats = field(repr=False)  # (n, 13 bodies)
    final: State = field(repr=False)  # where the integration stopped
    status: int
    message: str
    stats: Stats
    events: Mapping[str, Floats] = field(repr=False)  # times of each event's zeros [s]
    event_states: Mapping[str, tuple[State, ...]] = field(repr=False)
    touches: Floats = field(repr=False, default_factory=lambda: np.zeros((0, 4)))  # time, contact, 1 or 0, speed
    _singular: int = field(init=False, repr=False, default=-1)  # first state whose accelerations are undetermined

    def __post_init__(self) -> None:
        for array in (self.t, self.states, self.touches):
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what cannot be computed again."""
        kept = {key: value for key, value in self.__dict__.items() if key not in COMPUTED}
        return kept | {name: dict(getattr(self, name)) for name in ("events", "event_states")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle: the system knows where compiled code lies in this process."""
        self.__dict__.update(state)
        tables = self.system.tables._replace(alpha=self.tables.alpha, beta=self.tables.beta)
        object.__setattr__(self, "tables", tables)
        self.__post_init__()  # arrays come back writable

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else "no times"
        return f"Run('{self.system.name}', {len(self.t)} times, {span}, status={self.status}, '{self.message}')"

    @property
    def has_forces(self) -> bool:
        """Multipliers and reactions are determined; not so where drivers were met by least squares."""
        return True

    @property
    def success(self) -> bool:
        """The run reached its end, or the event that stops it."""
        return self.status in (0, 1)

    def _bodies(self, array: Floats, start: int, stop: int) -> Mapping[str, Floats]:
        return MappingProxyType({name: array[:, k, start:stop] for k, name in enumerate(self.system.body_names)})

    def _joints(self, array: Floats) -> Mapping[str, Floats]:
        joints = self.system.joints
        return MappingProxyType({joint.name: array[:, k, : len(joint.rows)] for k, joint in enumerate(joints)})

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

    def _work(self) -> Work:
        """Memory for evaluations at the states of the run, which take contacts as the run did."""
        work = self.system.work()
        work.contacts.blur[0] = BLUR * (self.stats.rtol + self.stats.atol)
        return work

    @cached_property
    def _derived(self) -> _Derived:
        n, t = len(self.t), self.tables
        bodies, joints, contacts = len(t.mass), len(t.address), len(t.contacts.law)
        d = _Derived(
            v_dot=np.zeros((n, bodies, 6)), lam=np.zeros((n, joints, ROWS)), wrench=np.zeros((n, joints, 2, 6)),
            Phi=np.zeros((n, joints, ROWS)), Phi_dot=np.zeros((n, joints, ROWS)), energy=np.zeros((n, 3)),
            told=np.zeros((n, len(t.limits.kind), TOLD)), measured=np.zeros((n, len(t.limits.kind), 3)),
            touched=np.zeros((n, contacts, TOUCHED)), damping_force=np.zeros((n, contacts)),
            contact_force=np.zeros((n, contacts, 3)), contact_point=np.zeros((n, contacts, 3)),
        )  # fmt: skip
        work = self._work()
        object.__setattr__(
            self, "_singular", _derive(self.t, np.ascontiguousarray(self.states), self.touches, t, work, d)
        )
        return d

    @property
    def _solved(self) -> _Derived:
        """What follows from the states, if accelerations and multipliers are determined in all of them."""
        d = self._derived
        if self._singular >= 0:
            raise ModelError(
                f"accelerations and reactions are undetermined at t = {self.t[self._singular]:.6g} s, where the configuration "
                "is singular; positions, velocities and energies are in the result"
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

    @property
    def lam(self) -> Mapping[str, Floats]:
        """Multipliers, (n, rows); the force on the bodies is -D^T lam.  Zero for rows in ``system.redundant``."""
        return self._joints(self._solved.lam)

    @property
    def Phi(self) -> Mapping[str, Floats]:
        """Constraint rows, (n, rows), in the units of ``system.joint(name).units``."""
        return self._joints(self._derived.Phi)

    @property
    def Phi_dot(self) -> Mapping[str, Floats]:
        """Their rates, (n, rows)."""
        return self._joints(self._derived.Phi_dot)

    @property
    def kinetic_energy(self) -> Floats:
        """(n,) [J]."""
        return self._derived.energy[:, 0]

    @property
    def potential_energy(self) -> Floats:
        """Of gravity, (n,) [J], zero at the origin."""
        return self._derived.energy[:, 1]

    @property
    def elastic_energy(self) -> Floats:
        """Stored in limits of motion, springs of motors and touching contacts, (n,) [J]; the law "printed" has none."""
        return self._derived.energy[:, 2]

    @property
    def energy(self) -> Floats:
        """Kinetic, potential and elastic energy, (n,) [J]."""
        return self.kinetic_energy + self.potential_energy + self.elastic_energy

    @cached_property
    def limits(self) -> Mapping[str, LimitMotion]:
        """What each limit of motion saw and did, by its name."""
        d = self._derived
        return MappingProxyType(
            {
                limit.name: _limit_motion(limit, d.told[:, k], d.measured[:, k])
                for k, limit in enumerate(self.system.limits)
            }
        )

    @cached_property
    def contacts(self) -> Mapping[str, ContactMotion]:
        """What each contact saw and did, by its name."""
        return contact_motions(self)

    def ground_reaction(self, contacts: Sequence[str] | str | None = None) -> GroundReaction:
        """The sum of the forces of contacts that share a plane, with its centre of pressure.  Seed 004, Eqs. (15)-(18).

        Parameters
        ----------
        contacts : str or sequence of str, optional
            Their names, each once; default: all.

        Raises
        ------
        ModelError
        """
        return ground_reaction(self, contacts)

    @property
    def violation(self) -> Floats:
        """Largest abs Phi of all rows, (n,)."""
        return _largest(self._derived.Phi)

    @property
    def velocity_violation(self) -> Floats:
        """Largest abs Phi' of all rows, (n,)."""
        return _largest(self._derived.Phi_dot)

    @property
    def norm_violation(self) -> Floats:
        """Largest abs(|p| - 1) of all bodies, (n,)."""
        lengths = np.linalg.norm(self._state[:, :, P:V], axis=2)
        worst: Floats = np.abs(lengths - 1.0).max(axis=1)
        return worst

    def reaction(self, joint: str, *, on: str, at: ArrayLike | str = "joint", axes: str = "global") -> Reaction:
        """Force and moment of a joint on one of its bodies, -D^T lam.

        Parameters
        ----------
        joint, on : str
            Names of the joint and of one of its two bodies.
        at : "joint", "centre" or (3,) [m]
            Point of that body about which the moment is taken: where the joint's definition puts it (``s_i`` or ``s_j``;
            the centre of mass where it names no point), the centre of mass, or local components.
        axes : str
            "global", or the name of a body whose axes are used.

        Raises
        ------
        ModelError
        """
        j, k, side = self._end(joint, on)
        wrench = self._solved.wrench[:, k, side]
        force, moment = wrench[:, :3].copy(), wrench[:, 3:].copy()
        point, text = self._point(j, side, at)
        A = self.rotations(on)
        moment -= np.cross(np.einsum("nab,b->na", A, point), force)
        return Reaction(joint, on, text, axes, *self._in_axes(axes, force, moment))

    def _end(self, joint: str, on: str) -> tuple[Joint, int, int]:
        """A joint, its number, and 0 or 1 for the body of it that is meant."""
        j = self.system.joint(joint)
        if on not in (j.body_i, j.body_j):
            raise ModelError(f"joint '{joint}' does not act on body '{on}'; it joins '{j.body_i}' and '{j.body_j}'")
        return j, self.system.joint_names.index(joint), 0 if on == j.body_i else 1

    def _in_axes(self, axes: str, force: Floats, moment: Floats) -> tuple[Floats, Floats]:
        """Force and moment (n, 3) of global axes in those of a body, or as they are."""
        if axes == "global":
            return force, moment
        B = self.rotations(axes)
        return np.einsum("nab,na->nb", B, force), np.einsum("nab,na->nb", B, moment)

    def _point(self, joint: Any, side: int, at: ArrayLike | str) -> tuple[Floats, str]:
        name = ("s_i", "s_j")[side]
        if isinstance(at, str):
            if at == "joint" and name in joint.values:
                return np.asarray(joint.values[name]), f"{name} of joint '{joint.name}'"
            if at in ("joint", "centre"):
                ground = (joint.body_i, joint.body_j)[side] == "ground"
                return np.zeros(3), "origin" if ground else "centre of mass"
            raise ModelError(f"at = '{at}'; use 'joint', 'centre' or three local components")
        point = finite(at, (3,), "at")
        return point, f"local point {point.tolist()}"

    def rotations(self, body: str) -> Floats:
        """Rotation matrices of a body or "ground", body to global axes, (n, 3, 3)."""
        if body == "ground":
            return np.broadcast_to(np.eye(3), (len(self.t), 3, 3))
        A = np.empty((len(self.t), 3, 3))
        rotations_of(np.array(self._state[:, self.system.body_index(body), P:V]), A)
        return A

    def to_xarray(self) -> xarray.Dataset:
        """A labelled dataset with units: time, body, axis, row; attributes tell the model and the method."""
        from runtime.export import to_xarray

        return to_xarray(self)

    def to_netcdf(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the dataset as NetCDF; returns the file.  An existing file is refused unless ``overwrite``."""
        from runtime.export import to_netcdf

        return to_netcdf(self, Path(file), overwrite)

    def to_csv(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write a table, one line per time, columns ``body.r_x [m]`` and so on; returns the file."""
        from runtime.export import to_csv

        return to_csv(self, Path(file), overwrite)

    def to_sto(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write an OpenSim storage file with the same columns; returns the file."""
        from runtime.export import to_sto

        return to_sto(self, Path(file), overwrite)


def _largest(rows: Floats) -> Floats:
    worst: Floats = np.abs(rows).max(axis=(1, 2), initial=0.0)
    return worst
