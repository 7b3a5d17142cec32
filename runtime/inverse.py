"""Kinematic and inverse dynamic analysis: motion from drivers, and the forces and moments that it takes."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime import assembly
from runtime.builder import GROUND, connection, definition
from runtime.equations import OMEGA, ROWS, STATE, P, R, V
from runtime.errors import AssemblyError, ModelError
from runtime.freedoms import Freedom, branches, dense_rows, freedoms, null_space, row_places, stacked, unguided
from runtime.reference import ground_state, reference
from runtime.result import Reaction, Run, Stats
from runtime.signals import DEGREE, SignalTables
from runtime.structure import Floats, frozen
from runtime.system import State, System, assembled, mirrored
from runtime.touches import found_touches

FIT_STEPS = 50
FIT_TOLERANCE = 1e-11  # [m], [rad] the largest move of a step that ends the search
LARGEST_STEP = 0.5  # [rad], [m] of one step of the search
RANK = 1e-7
SINGULAR = 3e-5  # of the least singular value of D in a regular configuration: 3e-5 rad from losing a direction


@dataclass(frozen=True)
class FreedomMotion:
    """A degree of freedom over time: arrays (n,).

    ``rate`` [rad/s] or [m/s]; ``effort``: what the drivers together must supply along it, a moment about its axis [N m] on
    the body ``on``, or a force [N], positive in the sense of the rate; ``power`` = effort times rate [W].
    """

    name: str
    joint: str
    on: str
    unit: str
    rate: Floats
    effort: Floats
    power: Floats


@dataclass(frozen=True)
class DriverMotion:
    """A driver over time: by its signals' names, their values and rates, and the effort that belongs to each (n,).

    The effort is the generalised force of the signal: effort times rate is the power that the driver gives to the system; for
    a guided angle it is the moment about its axis [N m], for a guided point the components of the force on it [N].
    """

    name: str
    value: Mapping[str, Floats]
    rate: Mapping[str, Floats]
    effort: Mapping[str, Floats]
    power: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Motion(Run):
    """A guided motion: a ``Run`` whose states come from drivers, with the forces and moments that it takes.

    ``freedoms["ankle.a_j"]``: rate, effort and power of each degree of freedom of the joints; ``driven["talocrural"]``: the
    same of each driver; ``joint_load(joint, ...)``: all that crosses a joint, its reaction and its drivers together.
    ``residual`` (n,): root mean square of the drivers' rows where they are met by least squares, else zero.
    """

    residual: Floats = field(repr=False, kw_only=True)
    fitted: Floats | None = field(repr=False, kw_only=True, default=None)  # (n, 6 bodies) accelerations of a fit

    def __post_init__(self) -> None:
        super().__post_init__()
        for array in (self.residual, self.fitted):
            if array is not None:
                array.flags.writeable = False

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else "no times"
        return f"Motion('{self.system.name}', {len(self.t)} times, {span})"

    @property
    def v_dot(self) -> Mapping[str, Floats]:
        """Accelerations of the centres of mass, (n, 3) [m/s^2]."""
        return super().v_dot if self.fitted is None else self._bodies(self._fitted, 0, 3)

    @property
    def omega_dot(self) -> Mapping[str, Floats]:
        """Angular accelerations, (n, 3) [rad/s^2], global axes."""
        return super().omega_dot if self.fitted is None else self._bodies(self._fitted, 3, 6)

    @property
    def _fitted(self) -> Floats:
        assert self.fitted is not None
        return self.fitted.reshape(len(self.t), -1, 6)

    @property
    def has_forces(self) -> bool:
        """Multipliers and reactions are determined; not so where drivers were met by least squares."""
        return self.fitted is None

    def _require_forces(self) -> None:
        if not self.has_forces:
            raise ModelError(
                f"system '{self.system.name}' meets its drivers by least squares, which leaves their forces undetermined; guide "
                "as many coordinates as there are degrees of freedom for inverse dynamics"
            )

    @property
    def _solved(self) -> Any:
        self._require_forces()
        return super()._solved

    def _on_bodies(self, of: tuple[int, ...]) -> Floats:
        """-D^T lam of some joints and drivers on all bodies, about their centres of mass, (n, bodies + 1, 6)."""
        wrench, tables = self._solved.wrench, self.tables
        total = np.zeros((len(self.t), len(tables.mass), 6))
        for k in of:
            for side, body in enumerate((int(tables.body_i[k]), int(tables.body_j[k]))):
                total[:, body] += wrench[:, k, side]
        return total

    @cached_property
    def freedoms(self) -> Mapping[str, FreedomMotion]:
        """Rate, effort and power of every degree of freedom of the joints by its name; none of joints in closed loops."""
        names: list[Freedom] = []
        motions: list[Floats] = []
        measures: list[Floats] = []
        tree = branches(self.system)
        for time, y in zip(self.t, self.states, strict=True):
            names, motion, measure = freedoms(self.system, float(time), y, tree)
            motions.append(motion)
            measures.append(measure)
        B = np.array(motions)
        v = self._state[:, :, V:].reshape(len(self.t), -1)
        rates = np.einsum("nfk,nk->nf", np.array(measures), v)
        drivers = tuple(k for k, joint in enumerate(self.system.joints) if joint.signals)
        efforts = np.full((len(self.t), len(names)), np.nan)
        if self.fitted is None:
            Q = self._on_bodies(drivers)[:, 1:].reshape(len(self.t), -1)
            efforts = np.einsum("nkf,nk->nf", B, Q)
        return MappingProxyType({f.name: _freedom(f, rates[:, k], efforts[:, k]) for k, f in enumerate(names)})

    @cached_property
    def driven(self) -> Mapping[str, DriverMotion]:
        """Values, rates, efforts and power of every driver by its name."""
        solved = self._solved
        slopes = self._signal_slopes()
        found = {}
        for k, joint in enumerate(self.system.joints):
            if not joint.signals:
                continue
            value = {name: signal(self.t) for name, signal in joint.signals.items()}
            rate = {name: signal(self.t, 1) for name, signal in joint.signals.items()}
            efforts = np.einsum("nsr,nr->sn", slopes[:, :, k], solved.lam[:, k])
            effort = dict(zip(joint.signals, efforts, strict=False))
            power = sum((effort[name] * rate[name] for name in effort), np.zeros(len(self.t)))
            values, rates, forces = (MappingProxyType(part) for part in (value, rate, effort))
            found[joint.name] = DriverMotion(joint.name, values, rates, forces, power)
        return MappingProxyType(found)

    def _signal_slopes(self) -> Floats:
        """The gradient of every driver's rows in its first, second, ... signal: (n, signals, joints, 6)."""
        system, work = self.system, self.system.work()
        most = max((len(joint.signals) for joint in system.drivers), default=0)
        count = len(system.tables.signals.start) - 1
        place_in_driver = np.concatenate([np.arange(len(j.signals)) for j in system.drivers] + [np.zeros(0)])
        slopes = np.zeros((len(self.t), most, len(system.joints), ROWS))
        for n, (time, y) in enumerate(zip(self.t, self.states, strict=True)):
            assembly.worst_row(float(time), y, self.tables, work, False)
            still = y.copy()
            still.reshape(-1, STATE)[:, V:] = 0.0
            for s in range(most):
                # Bodies at rest and one signal with the rate 1: Phi' is then the gradient in that signal.
                coefficients = np.zeros((count, DEGREE + 1))
                coefficients[:, 0] = work.signals[:, 0]
                coefficients[: len(place_in_driver), 1] = place_in_driver == s
                signals = SignalTables(np.arange(count + 1), np.full(count, float(time)), coefficients)
                assembly.worst_row(float(time), still, frozen(self.tables._replace(signals=signals)), work, True)
                slopes[n, s] = work.Phi_dot
        return slopes

    def joint_load(self, joint: str, *, on: str, at: ArrayLike | str = "joint", axes: str = "global") -> Reaction:
        """All that crosses a joint: force and moment of what lies on its other side.

        In a tree of joints that is what the distal part needs for its motion beside gravity and loads (Newton and Euler):
        the joint's reaction and whatever drivers, motors and limits do across it, and drivers from the ground do beyond it.
        In a closed loop it is the reaction of the joint and of the drivers between its two bodies.

        Parameters
        ----------
        joint, on : str
            Names of the joint and of one of its two bodies.
        at : "joint", "centre" or (3,) [m]
            Point of that body about which the moment is taken, as for ``reaction``.
        axes : str
            "global", or the name of a body whose axes are used.

        Raises
        ------
        ModelError
        """
        if self.system.joint(joint).signals:
            raise ModelError(f"'{joint}' is a driver; ask for the load of a joint, or for driven['{joint}']")
        j, k, side = self._end(joint, on)
        b = int((self.tables.body_i, self.tables.body_j)[side][k])
        other = int((self.tables.body_j, self.tables.body_i)[side][k])
        branch = next((branch for branch in branches(self.system)[0] if k in branch.joints), None)
        bodies: tuple[int, ...]
        if branch is None:
            pair = {b, other}
            of = tuple(
                n for n in range(len(self.system.joints))
                if {int(self.tables.body_i[n]), int(self.tables.body_j[n])} == pair
            )  # fmt: skip
            bodies, sign, total = (b,), 1.0, self._on_bodies(of)
        else:
            bodies, sign, total = branch.bodies, 1.0 if b == branch.distal else -1.0, self._needed()
        point, text = self._point(j, side, at)
        centre = np.zeros((len(self.t), 3)) if b == 0 else self._state[:, b - 1, R:P]
        place = centre + np.einsum("nab,b->na", self.rotations(on), point)
        force, moment = np.zeros((len(self.t), 3)), np.zeros((len(self.t), 3))
        for body in bodies:
            arm = (self._state[:, body - 1, R:P] if body else 0.0) - place
            force += total[:, body, :3]
            moment += total[:, body, 3:] + np.cross(arm, total[:, body, :3])
        return Reaction(joint, on, text, axes, *self._in_axes(axes, sign * force, sign * moment))

    def _needed(self) -> Floats:
        """What each body needs for its motion beside gravity and loads, about its centre of mass, (n, bodies + 1, 6)."""
        v_dot = self._solved.v_dot
        needed: Floats = np.zeros(v_dot.shape)
        for k, body in enumerate(self.system.bodies):
            A, omega = self.rotations(body.name), self.omega[body.name]
            J = A @ body.inertia @ A.swapaxes(1, 2)
            needed[:, k + 1, :3] = body.mass * (v_dot[:, k + 1, :3] - self.system.gravity)
            needed[:, k + 1, 3:] = np.einsum("nab,nb->na", J, v_dot[:, k + 1, 3:])
            needed[:, k + 1, 3:] += np.cross(omega, np.einsum("nab,nb->na", J, omega))
        for load in self.system.loads:
            k = self.system.body_index(load.body)
            force, moment = (np.column_stack([s(self.t) for s in part]) for part in (load.force, load.moment))
            A = self.rotations(load.body)
            arm = np.zeros_like(force)
            if load.point is not None:
                arm = np.column_stack([s(self.t) for s in load.point])
                arm = np.einsum("nab,nb->na", A, arm) if load.axes == "body" else arm - self._state[:, k, R:P]
            if load.axes == "body":
                force, moment = (np.einsum("nab,nb->na", A, part) for part in (force, moment))
            needed[:, k + 1, :3] -= force
            needed[:, k + 1, 3:] -= moment + np.cross(arm, force)
        return needed


def _freedom(f: Freedom, rate: Floats, effort: Floats) -> FreedomMotion:
    return FreedomMotion(f.name, f.joint, f.distal, "N m" if f.turning else "N", rate, effort, effort * rate)


def kinematics(
    system: System, t: ArrayLike, *, initial: State | None = None, weights: Mapping[str, float] | None = None
) -> Motion:
    """Positions, velocities and accelerations of all bodies from the drivers of a system.

    With as many drivers' rows as degrees of freedom, by Newton's method; the result then has the multipliers and all forces
    and moments too (it is that of ``inverse_dynamics``).  A system built with ``redundant="fit"`` has more: its joints are
    met exactly and its drivers by least squares, at each level: positions, then velocities, then accelerations.

    Parameters
    ----------
    system : System
    t : (n,) [s]
        Increasing times, within the span of all signals.
    initial : State, optional
        Where the search for the first configuration begins.  Default: ``system.state``.  Each later one begins where the
        motion leads.
    weights : mapping, optional
        Of a least-squares fit: driver's name -> weight of its rows.  Default: 1.

    Returns
    -------
    Motion

    Raises
    ------
    ModelError
        A degree of freedom that nothing guides, by name; times outside of a signal.
    AssemblyError
        A time at which the drivers cannot be met, with the worst row.
    """
    times = _times(t)
    system.check_span(float(times[0]), float(times[-1]), "analysing")
    if initial is not None and (not isinstance(initial, State) or initial.names != system.body_names):
        raise ModelError(
            f"system '{system.name}': initial is no State of its bodies; change system.state with replace()"
        )
    begin = clock.perf_counter()
    y = (system.state if initial is None else initial).y.copy()
    tables = system.tables._replace(alpha=0.0, beta=0.0)
    states, fitted = np.empty((len(times), len(y))), None
    residual = np.zeros(len(times))
    if system.fits:
        fitted = np.empty((len(times), 6 * len(system.bodies)))
        scale = _weights(system, weights)
        for n, time in enumerate(times):
            if n:
                y = _ahead(y, time - times[n - 1])
            y, fitted[n], residual[n] = _fit(system, float(time), y, scale)
            states[n] = y
    else:
        if weights:
            raise ModelError("weights belong to a least-squares fit; build the system with redundant='fit'")
        _refuse_unguided(system)
        least = _refuse_singular(system, system.time, system.state.y, 0.0)
        for n, time in enumerate(times):
            if n:
                y = _ahead(y, time - times[n - 1])
            try:
                y = _configuration(system, float(time), y, states[n - 1] if n else y)
                least = _refuse_singular(system, float(time), y, least)
            except AssemblyError as error:
                raise AssemblyError(f"at t = {time:g} s: {error}") from None
            y = assembly.project_velocities(float(time), y, tables, system.work())
            states[n] = y
    touches = found_touches(times, states, tables, system.work()) if system.contacts else np.zeros((0, 4))
    stats = Stats("kinematics", len(times), len(times), None, clock.perf_counter() - begin, 0.0, 0.0, "joint by joint")
    return Motion(
        system=system, tables=tables, t=times, states=states, final=State(system.body_names, y), status=0,
        message=f"{len(times)} configurations", stats=stats, events={}, event_states={}, touches=touches, residual=residual,
        fitted=fitted,
    )  # fmt: skip


def inverse_dynamics(system: System, t: ArrayLike, *, initial: State | None = None) -> Motion:
    """The forces and moments that a guided motion takes: kinematics, multipliers, and what follows from them.

    Takes any system with as many drivers' rows as degrees of freedom; loads, motors and limits of motion take their part.

    Parameters
    ----------
    system : System
    t : (n,) [s]
        Increasing times, within the span of all signals.
    initial : State, optional
        Where the search for the first configuration begins.

    Returns
    -------
    Motion
        ``freedoms``, ``driven``, ``joint_load(...)``, ``lam``, and all that a run has.

    Raises
    ------
    ModelError, AssemblyError
        As ``kinematics``; and for a system that is guided more than once, or is singular, at the time when it is.
    """
    if system.fits:
        raise ModelError(
            f"system '{system.name}' meets its drivers by least squares, which leaves their forces undetermined; guide as many "
            "coordinates as there are degrees of freedom for inverse dynamics"
        )
    motion = kinematics(system, t, initial=initial)
    motion._solved  # noqa: B018  refuses a configuration in which the forces are undetermined
    return motion


def coordinate(
    run: Run, kind: str | ModuleType, body: str, other: str = GROUND, *, rate: bool = False, **values: ArrayLike
) -> Floats:
    """What a driver of one coordinate would guide: its value over a run, (n,), without jumps, or its rate.

    Parameters
    ----------
    run : Run
    kind : str or module
        "guided_angle" or "guided_link", and any other driver of one coordinate.
    body, other : str
        Its bodies.
    rate : bool
        Give the coordinate's rate.
    **values
        Its vectors, as for ``Builder.driver``.

    Raises
    ------
    ModelError
    """
    module = definition("coordinate", str(kind), kind)
    if not module.COORDINATE:
        raise ModelError(f"coordinate of kind '{module.NAME}': that driver guides no single coordinate")
    system = run.system
    zero = {module.SIGNALS[0]: 0.0}
    joint = connection("coordinate", module.NAME, module, body, other, {**values, **zero}, system.body_names)
    n = len(run.t)
    states = np.concatenate([np.tile(ground_state(), (n, 1, 1)), run.states.reshape(n, -1, STATE)], axis=1)
    side = {s: 0 if name == GROUND else system.body_index(name) + 1 for s, name in (("i", body), ("j", other))}
    A = {s: run.rotations(name) for s, name in (("i", body), ("j", other))}
    Phi, Phi_dot, D, gamma = np.zeros(1), np.zeros(1), np.zeros((1, 12)), np.zeros(1)
    start = np.vstack([ground_state(), system.state.y.reshape(-1, STATE)])
    own = np.zeros(module.SIZE)
    local = reference(joint, start[side["i"]], start[side["j"]], own)
    x = np.tile(own, (n, 1))
    for k, (name, _, owner) in enumerate(module.VECTORS):
        x[:, 3 * k : 3 * k + 3] = A[owner] @ local[name]
    found = np.empty(n)
    for k in range(n):
        module.evaluate.py_func(states[k, side["i"]], states[k, side["j"]], x[k], Phi, Phi_dot, D, gamma)
        found[k] = Phi_dot[0] if rate else Phi[0]
    return found if rate or module.UNITS[0] != 0 else np.unwrap(found)


def _times(t: ArrayLike) -> Floats:
    try:
        times = np.atleast_1d(np.array(t, dtype=float))
    except (TypeError, ValueError):
        raise ModelError(f"t = {t!r} is no list of times [s]") from None
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        raise ModelError("t must be a list of finite times [s] that increase")
    return times


def _ahead(y: Floats, h: float) -> Floats:
    """The state that the velocities lead to in a time h."""
    rows = y.reshape(-1, STATE)
    u = np.zeros((len(rows) + 1, 6))
    u[1:] = rows[:, V : OMEGA + 3]
    moved = np.empty_like(y)
    assembly.move(y, u, h, moved)
    return moved


def _configuration(system: System, time: float, ahead: Floats, last: Floats) -> Floats:
    """The configuration at a time, from where the motion leads; else, after a large step, from the last one."""
    try:
        return assembled(system, time, ahead)[0]
    except AssemblyError:
        return assembled(system, time, last)[0]


def _refuse_singular(system: System, time: float, y: Floats, reference: float) -> float:
    """Refuse a configuration in which joints and drivers together have lost a direction; the least singular value of D.

    ``reference`` : that of a regular configuration, with which it is compared.  Returns the larger of both.
    """
    work = system.work()
    assembly.worst_row(time, y, system.tables, work, False)
    D = dense_rows(system, work.D)
    left, sizes, _ = np.linalg.svd(D)
    least = float(sizes[-1])
    if not least > SINGULAR * reference:
        k, r = row_places(system)[int(np.abs(left[:, -1]).argmax())]
        joint = system.joints[k]
        singular = f", which is singular {joint.module.SINGULAR}" if joint.module.SINGULAR else ""
        raise AssemblyError(
            f"singular configuration: row {system.row_name(k, r)} ({joint.kind}{singular}) guides nothing here; use a driver "
            "that is not singular there, such as guided_angle, guided_link or guided_orientation"
        )
    return max(least, reference)


def _refuse_unguided(system: System) -> None:
    if system.degrees_of_freedom == 0:
        return
    work = system.work()
    y = system.state.y
    assembly.worst_row(system.time, y, system.tables, work, False)
    names = unguided(system, system.time, y, dense_rows(system, work.D))
    raise ModelError(
        f"system '{system.name}': {system.degrees_of_freedom} degree{'s' if system.degrees_of_freedom > 1 else ''} of freedom "
        f"unguided: {', '.join(names)}; add a driver for each"
    )


def _weights(system: System, weights: Mapping[str, float] | None) -> Floats:
    if not isinstance(weights, Mapping | None):
        raise ModelError(f"weights = {weights!r}: give a mapping from drivers' names to numbers")
    given = dict(weights or {})
    for name, weight in given.items():
        if isinstance(weight, str | bytes | bool) or np.ndim(weight) > 0 or weight is None:
            raise ModelError(f"weights: {name} = {weight!r} must be a finite number, not below 0")
        if name not in system.driver_names:
            raise ModelError(f"weights: unknown driver '{name}'; the drivers are {', '.join(system.driver_names)}")
        if not (np.isfinite(weight) and weight >= 0.0):
            raise ModelError(f"weights: {name} = {weight!r} must be a finite number, not below 0")
    parts = [np.full(len(j.rows), np.sqrt(given.get(j.name, 1.0))) for j in system.drivers]
    return np.concatenate([np.zeros(0), *parts])


def _fit(system: System, time: float, y: Floats, scale: Floats) -> tuple[Floats, Floats, float]:
    """State, accelerations and residual of the joints met exactly and the drivers by least squares.  Gauss and Newton."""
    work, tables = system.work(), system.tables
    u = np.zeros((len(system.bodies) + 1, 6))
    used = scale > 0.0

    def solve(wanted_joints: Floats, wanted_drivers: Floats) -> Floats:
        joints, drivers = dense_rows(system, work.D, False), dense_rows(system, work.D, True)[used]
        fixed: Floats = np.linalg.pinv(joints) @ wanted_joints
        free = null_space(joints)
        seen = drivers @ free
        sizes = np.linalg.svd(seen, compute_uv=False)
        if len(sizes) < free.shape[1] or not sizes[-1] > RANK * sizes[0]:
            rows = np.concatenate([joints, drivers])
            names = ", ".join(unguided(system, time, y, rows))
            raise ModelError(f"system '{system.name}': unguided at t = {time:g} s: {names}; add a driver for it")
        rest = wanted_drivers[used] - drivers @ fixed
        weight = scale[used]
        step: Floats = fixed + free @ np.linalg.lstsq(weight[:, None] * seen, weight * rest, rcond=None)[0]
        return step

    moved = np.empty_like(y)
    for _ in range(FIT_STEPS):
        assembly.worst_row(time, y, tables, work, False)
        step = solve(-stacked(system, work.Phi, False), -stacked(system, work.Phi, True))
        largest = float(np.abs(step).max(initial=0.0))
        u[1:] = step.reshape(-1, 6)
        assembly.move(y, u, min(1.0, LARGEST_STEP / largest) if largest > 0.0 else 1.0, moved)
        y, moved = moved, y
        if largest < FIT_TOLERANCE:
            break
    else:
        raise AssemblyError(
            f"could not fit the drivers at t = {time:g} s: the last of {FIT_STEPS} steps still moved {largest:.1e}, limit "
            f"{FIT_TOLERANCE:g}; start nearer (initial=...), or check which driver guides which body"
        )
    if names := mirrored(system, time, y):
        raise AssemblyError(
            f"joint {' and '.join(repr(name) for name in names)} was fitted as the mirror image of its reference configuration "
            f"at t = {time:g} s; start nearer (initial=...)"
        )
    bodies = y.reshape(-1, STATE)
    bodies[:, V : OMEGA + 3] = 0.0
    assembly.worst_row(time, y, tables, work, False)
    residual = float(np.sqrt(np.mean(stacked(system, work.Phi, True) ** 2)))
    # With v = 0 the rates of the rows are -nu.
    velocities = solve(-stacked(system, work.Phi_dot, False), -stacked(system, work.Phi_dot, True))
    bodies[:, V : OMEGA + 3] = velocities.reshape(-1, 6)
    assembly.worst_row(time, y, tables, work, False)
    accelerations = solve(stacked(system, work.gamma, False), stacked(system, work.gamma, True))
    return y, accelerations, residual
