"""A system: bodies and joints by name, checked and assembled; immutable."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from generated import contact_sphere_plane, dispatch
from runtime import assembly
from runtime.addresses import addresses_of
from runtime.cones import Cone
from runtime.equations import OMEGA, STATE, P, R, Tables, V, Work, work_for
from runtime.errors import AssemblyError, ModelError
from runtime.signals import Signal
from runtime.structure import Floats, frozen

if TYPE_CHECKING:
    from runtime.whole import Model

LIMIT_KINDS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.LIMITS}
NORMAL_LAWS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.NORMAL_LAWS}
FRICTIONS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.FRICTIONS}
PARTS = {"r": slice(R, P), "p": slice(P, V), "v": slice(V, OMEGA), "omega": slice(OMEGA, STATE)}  # of a body's state
UNIT_TOLERANCE = 1e-6
POSITION_TOLERANCE = 1e-6  # [SI unit of a row] a given state is on the constraints within this
# Velocities are consistent when no row's rate is above this fraction of what the velocities themselves could make it.
VELOCITY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Body:
    """A rigid body.  mass [kg]; inertia about the centre of mass in its own axes (3, 3) [kg m^2]."""

    name: str
    mass: float
    inertia: Floats
    free: bool = False  # it may float


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies, or a driver.  ``values`` are the keywords of its definition, as the user gave them.

    A driver is a joint whose rows hold prescribed ``signals`` of time, by their names in the definition.
    """

    name: str
    kind: str
    body_i: str
    body_j: str
    values: Mapping[str, Any]
    module: ModuleType = field(repr=False)
    signals: Mapping[str, Signal] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the definition's name; a user's own joint has no name that another process could find."""
        if not self.module.__name__.startswith("generated."):
            raise ModelError(
                f"joint '{self.name}' ({self.kind}): a joint of codegen.compile_joint cannot be pickled; build the system "
                "in each process"
            )
        values = {key: np.asarray(value) for key, value in self.values.items()}
        names = (self.name, self.kind, self.body_i, self.body_j)
        return _joint, (*names, values, self.module.__name__, dict(self.signals))

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows of its Phi."""
        rows: tuple[str, ...] = self.module.ROWS
        return rows

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each row."""
        return tuple("m" if n == 1 else "1" if n == 0 else f"m^{n}" for n in self.module.UNITS)

    @property
    def multiplier_units(self) -> tuple[str, ...]:
        """Unit of each row's multiplier: lam times its row is an energy."""
        return tuple({0: "N m", 1: "N", 2: "N/m"}.get(n, f"N m^{1 - n}") for n in self.module.UNITS)


def _joint(
    name: str, kind: str, body_i: str, body_j: str, values: dict[str, Floats], module: str, signals: dict[str, Signal]
) -> Joint:
    """A joint from its pickled parts."""
    loaded = importlib.import_module(module)
    return Joint(name, kind, body_i, body_j, _plain(values), loaded, MappingProxyType(signals))


@dataclass(frozen=True)
class Load:
    """A prescribed force [N] and moment [N m] on a body, three signals each.

    ``axes``: "global", or "body" where force, moment and point are given in axes of the body.  ``point``: global coordinates
    or, in axes of the body, from its centre of mass [m]; None for the centre of mass.
    """

    name: str
    body: str
    force: tuple[Signal, Signal, Signal]
    moment: tuple[Signal, Signal, Signal]
    point: tuple[Signal, Signal, Signal] | None
    axes: str


@dataclass(frozen=True)
class Motor:
    """A moment [N m] on the coordinate that a driver guides: its effort, and a spring and a damper towards its target."""

    joint: Joint = field(repr=False)  # kind, bodies, vectors and target, as the driver would have them
    effort: Signal
    stiffness: float  # [N m/rad]
    damping: float  # [N m s/rad]

    @property
    def name(self) -> str:
        """Its name."""
        return self.joint.name


@dataclass(frozen=True)
class Limit:
    """A limit of motion of a joint: the reference body carries the cone, the moving body turns in it.

    ``kind`` is the name of its definition in ``codegen/limits.py``.  max_moment [N m]; compliance [rad]; damping [N m s].
    """

    name: str
    kind: str
    joint: str
    reference: str
    moving: str
    cone: Cone
    max_moment: float
    compliance: float
    damping: float
    law: str
    values: Mapping[str, Any] = field(repr=False)  # the keywords of its definition

    @property
    def module(self) -> ModuleType:
        """Its generated module."""
        return LIMIT_KINDS[self.kind]

    @property
    def ahead(self) -> tuple[float, float]:
        """Direction in the plane of xi and eta towards which a hinge's angle is positive; 0 without a hinge."""
        return (self.values["to_xi"], self.values["to_eta"]) if self.kind != "cone" else (0.0, 0.0)

    @cached_property
    def vertices(self) -> tuple[tuple[float, Floats], tuple[float, Floats]]:
        """Of a hinge, ahead and behind: the cone's point in its plane, and the excess up to which it is the nearest; else 0."""
        sides = (np.array(self.ahead), -np.array(self.ahead))
        return tuple(self.cone.vertex(side) if side.any() else (0.0, np.zeros(3)) for side in sides)  # type: ignore[return-value]

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return _limit, (parts | {"values": {key: np.array(value) for key, value in self.values.items()}},)


def _limit(parts: dict[str, Any]) -> Limit:
    """A limit from its pickled parts."""
    return Limit(**(parts | {"values": _plain(parts["values"])}))


@dataclass(frozen=True)
class Contact:
    """A sphere of one body against a plane of another, or of the ground.

    ``law`` and ``friction`` (None for none) are names of definitions in ``codegen/contacts.py``, ``parameters`` theirs.
    """

    name: str
    body: str
    plane: str
    law: str
    friction: str | None
    parameters: Mapping[str, float]
    least_impact: float  # [m/s]
    belt_speed: Signal  # [m/s]
    values: Mapping[str, Any] = field(repr=False)  # the keywords of the geometry's definition

    @property
    def module(self) -> ModuleType:
        """The generated module of its geometry."""
        geometry: ModuleType = contact_sphere_plane
        return geometry

    @property
    def needs_impact(self) -> bool:
        """The normal law damps by the speed of touch-down."""
        return "impact" in NORMAL_LAWS[self.law].PARAMETERS

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        values = {key: np.array(value) for key, value in self.values.items()}
        return _contact, (parts | {"values": values, "parameters": dict(self.parameters)},)


def _contact(parts: dict[str, Any]) -> Contact:
    """A contact from its pickled parts."""
    parameters = MappingProxyType(parts["parameters"])
    return Contact(**(parts | {"values": _plain(parts["values"]), "parameters": parameters}))


def _plain(values: dict[str, Floats]) -> Mapping[str, Any]:
    """Read-only arrays, and numbers as such."""
    for array in values.values():
        array.flags.writeable = False
    return MappingProxyType({key: value if value.ndim else float(value) for key, value in values.items()})


@dataclass(frozen=True)
class Assembly:
    """What assembling the reference configuration took."""

    iterations: int
    residual: float  # largest |Phi| left
    largest_move: float  # [m]
    moved_body: str
    largest_turn: float  # [rad]
    turned_body: str


class State:
    """Positions and velocities of all bodies, immutable.

    ``r`` [m], ``p`` (Euler parameters, scalar first), ``v`` [m/s], ``omega`` [rad/s]: mappings from the body's name to an
    array in global axes.
    """

    def __init__(self, names: tuple[str, ...], y: Floats) -> None:
        self.names = names
        self.y = y.copy()
        self.y.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.names, np.array(self.y))

    def __repr__(self) -> str:
        return f"State of {', '.join(self.names)}"

    def _part(self, start: int, stop: int) -> Mapping[str, Floats]:
        rows = self.y.reshape(-1, STATE)
        return MappingProxyType({name: rows[k, start:stop] for k, name in enumerate(self.names)})

    @property
    def r(self) -> Mapping[str, Floats]:
        """Centres of mass, (3,) [m]."""
        return self._part(R, P)

    @property
    def p(self) -> Mapping[str, Floats]:
        """Euler parameters, (4,)."""
        return self._part(P, V)

    @property
    def v(self) -> Mapping[str, Floats]:
        """Velocities of the centres of mass, (3,) [m/s]."""
        return self._part(V, OMEGA)

    @property
    def omega(self) -> Mapping[str, Floats]:
        """Angular velocities in global axes, (3,) [rad/s]."""
        return self._part(OMEGA, STATE)

    def replace(self, **parts: Mapping[str, ArrayLike]) -> State:
        """A state with some vectors replaced, such as ``state.replace(omega={"leg": (0, 0, 1)})``."""
        y = self.y.copy()
        rows = y.reshape(-1, STATE)
        for part, values in parts.items():
            if part not in PARTS:
                raise ModelError(f"state: unknown part '{part}'; use {', '.join(PARTS)}")
            if not isinstance(values, Mapping):
                raise ModelError(
                    f"state: {part} = {values!r}; give a mapping from bodies' names, such as {{'leg': (0, 0, 1)}}"
                )
            for name, value in values.items():
                if name not in self.names:
                    raise ModelError(f"state: unknown body '{name}'; the bodies are {', '.join(self.names)}")
                length = PARTS[part].stop - PARTS[part].start
                rows[self.names.index(name), PARTS[part]] = finite(value, (length,), f"state: {part} of body '{name}'")
        for k, name in enumerate(self.names):
            rows[k, P:V] = unit(rows[k, P:V], f"state: p of body '{name}'", UNIT_TOLERANCE, normalise=True)
        return State(self.names, y)


@dataclass(frozen=True, eq=False, repr=False)
class System:
    """Bodies and joints, checked and assembled.  Made by ``Builder.build``; never changed."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    limits: tuple[Limit, ...]
    loads: tuple[Load, ...]
    motors: tuple[Motor, ...]
    contacts: tuple[Contact, ...]
    gravity: Floats  # (3,) [m/s^2]
    time: float  # [s] of the initial state; signals have their values there
    state: State  # the assembled initial state
    assembly: Assembly
    degrees_of_freedom: int
    rank: int  # of D in the reference configuration
    redundant: tuple[str, ...]  # names of the rows that were removed, "joint.row"
    fits: bool  # drivers are met by least squares
    sides: tuple[
        tuple[float, ...], ...
    ]  # signs of what the joints' definitions call sided, in the reference configuration
    tables: Tables = field(repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what it is, not what follows from that."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle: compiled code lies elsewhere in this process, and is made for read-only tables."""
        self.__dict__.update(state)
        loads = self.tables.loads._replace(address=addresses_of(motor.joint.module for motor in self.motors))
        tables = self.tables._replace(address=addresses_of(joint.module for joint in self.joints), loads=loads)
        object.__setattr__(self, "tables", frozen(tables))
        for body in self.bodies:
            body.inertia.flags.writeable = False
        self.gravity.flags.writeable = False

    def __repr__(self) -> str:
        joints = len(self.joints) - len(self.drivers)
        parts = f"{len(self.bodies)} bodies, {joints} joints, {self.degrees_of_freedom} degrees of freedom"
        for what in ("limit", "driver", "load", "motor", "contact"):
            if names := getattr(self, f"{what}_names"):
                parts += f", {what}s {', '.join(names)}"
        return f"System('{self.name}', {parts})"

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies in order."""
        return tuple(body.name for body in self.bodies)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in order."""
        return tuple(joint.name for joint in self.joints)

    @property
    def drivers(self) -> tuple[Joint, ...]:
        """Those of the joints that prescribed signals of time move."""
        return tuple(joint for joint in self.joints if joint.signals)

    @property
    def driver_names(self) -> tuple[str, ...]:
        """Names of the drivers in order."""
        return tuple(driver.name for driver in self.drivers)

    @property
    def load_names(self) -> tuple[str, ...]:
        """Names of the loads in order."""
        return tuple(load.name for load in self.loads)

    @property
    def motor_names(self) -> tuple[str, ...]:
        """Names of the motors in order."""
        return tuple(motor.name for motor in self.motors)

    @property
    def signals(self) -> Mapping[str, Signal]:
        """Every signal by the name of its driver, load or motor and its own, "leg.x_t"."""
        found = {f"{driver.name}.{name}": signal for driver in self.drivers for name, signal in driver.signals.items()}
        for load in self.loads:
            for what in ("force", "moment", "point"):
                parts = getattr(load, what) or ()
                found |= {f"{load.name}.{what}_{axis}": part for axis, part in zip("xyz", parts, strict=False)}
        found |= {f"{motor.name}.effort": motor.effort for motor in self.motors}
        found |= {f"{contact.name}.belt_speed": contact.belt_speed for contact in self.contacts}
        targets = {f"{m.name}.target": signal for m in self.motors for signal in m.joint.signals.values()}
        return MappingProxyType(found | targets)

    def check_span(self, t_start: float, t_end: float, what: str) -> None:
        """Refuse times that a signal does not cover."""
        for name, signal in self.signals.items():
            first, last = signal.span
            slack = 1e-12 * max(abs(t_start), abs(t_end))
            if t_start < first - slack or t_end > last + slack:
                raise ModelError(
                    f"{what} from {t_start:g} to {t_end:g} s, but the signal '{name}' of system '{self.name}' is defined from "
                    f"{first:g} to {last:g} s; stay within, or give longer signals"
                )

    @property
    def limit_names(self) -> tuple[str, ...]:
        """Names of the limits in order."""
        return tuple(limit.name for limit in self.limits)

    def limit(self, name: str) -> Limit:
        """The limit of this name."""
        if name not in self.limit_names:
            known = ", ".join(self.limit_names) or "none"
            raise ModelError(f"unknown limit '{name}'; the limits are {known}")
        return self.limits[self.limit_names.index(name)]

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Names of the contacts in order."""
        return tuple(contact.name for contact in self.contacts)

    def contact(self, name: str) -> Contact:
        """The contact of this name."""
        if name not in self.contact_names:
            known = ", ".join(self.contact_names) or "none"
            raise ModelError(f"unknown contact '{name}'; the contacts are {known}")
        return self.contacts[self.contact_names.index(name)]

    def body(self, name: str) -> Body:
        """The body of this name."""
        return self.bodies[self.body_index(name)]

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        if name not in self.joint_names:
            raise ModelError(f"unknown joint '{name}'; the joints are {', '.join(self.joint_names)}")
        return self.joints[self.joint_names.index(name)]

    def body_index(self, name: str) -> int:
        """Place of a body among the bodies."""
        if name not in self.body_names:
            raise ModelError(f"unknown body '{name}'; the bodies are {', '.join(self.body_names)}")
        return self.body_names.index(name)

    def row_name(self, joint: int, row: int) -> str:
        """``joint.row`` of a row, for messages."""
        return f"{self.joints[joint].name}.{self.joints[joint].rows[row]}"

    def work(self, tables: Tables | None = None, *, whole: bool = False) -> Work:
        """Fresh memory for evaluations of this system, or with other tables of it.

        ``whole``: state derivatives come from the system's whole-model kernel, if there is one.
        """
        from runtime.whole import whole_of  # it needs systems

        tables = self.tables if tables is None else tables
        return work_for(tables, whole_of(self, tables) if whole else None)

    @cached_property
    def model(self) -> Model:
        """What has to be known of it to emit its whole-model kernel, ``codegen.compile_model``."""
        from runtime.whole import model_of  # it needs systems

        return model_of(self)

    @property
    def numbers(self) -> Mapping[str, Any]:
        """Its parameters by name, such as "mass.main_foot" or "s_i.ankle"; ``runtime.numbers`` tells them all."""
        from runtime.numbers import numbers  # it needs systems

        return MappingProxyType(numbers(self))

    def changed(self, values: Mapping[str, Any]) -> System:
        """The same system with other ``numbers``, its initial state moved onto the constraints by the least change.

        What joints hold is taken from the initial state as it is.

        Raises
        ------
        ModelError, AssemblyError
        """
        from runtime.builder import change
        from runtime.numbers import changed, moves_joints
        from runtime.rank import refuse_singular_joints, without_redundant_rows

        system, before = changed(self, values), self.state.y
        y, iterations, residual = assembled(system, self.time, before)
        if moves_joints(system, values):
            refuse_singular_joints(system, y)
            without_redundant_rows(system, y, "refuse")
        y = assembly.project_velocities(self.time, y, system.tables, system.work())
        check_velocities(system, self.time, y, "give other velocities")
        told = change(self.body_names, before, y, iterations, residual)
        found = replace(system, state=State(self.body_names, y), assembly=told)
        if "model" in vars(system):
            vars(found)["model"] = vars(system)["model"]  # which fits it, see ``runtime.whole.model_like``
        return found

    def assemble(self, state: State, *, time: float | None = None, project_velocities: bool = True) -> State:
        """Move a state onto the constraints by the least change (measured by the kinetic energy).

        Parameters
        ----------
        state : State
        time : float [s], optional
            When, for systems with drivers.  Default: ``system.time``.
        project_velocities : bool
            True: change the velocities by as little as makes them consistent.  False: refuse inconsistent ones.

        Raises
        ------
        AssemblyError
            Naming the worst row, its value and the remedy.
        """
        self.check_bodies(state)
        time = self.time if time is None else float(finite(time, (), f"system '{self.name}': time"))
        self.check_span(time, time, "assembling")
        y, _, _ = assembled(self, time, state.y)
        work = self.work()
        if project_velocities:
            y = assembly.project_velocities(time, y, self.tables, work)
        check_velocities(self, time, y, "call system.assemble(state) to project them onto the constraints")
        return State(state.names, y)

    def check_bodies(self, state: State) -> None:
        """Refuse what is no state of this system's bodies."""
        if not isinstance(state, State) or state.names != self.body_names:
            raise ModelError(
                f"system '{self.name}': {state!r} is no State of its bodies; change system.state with replace()"
            )

    def check_state(self, state: State, time: float) -> None:
        """Refuse a state that is not of this system, or that violates its constraints at a time [s]."""
        if not isinstance(state, State):
            raise ModelError(f"{state!r} is no State; change system.state with its replace()")
        if state.names != self.body_names:
            theirs, ours = ", ".join(state.names), ", ".join(self.body_names)
            raise ModelError(f"system '{self.name}': the state is of the bodies {theirs}, not {ours}")
        work = self.work()
        worst = assembly.worst_row(time, state.y, self.tables, work, False)
        if not worst <= POSITION_TOLERANCE:
            k, r = map(int, work.failed)
            raise AssemblyError(
                f"the initial configuration violates {self.row_name(k, r)}: |Phi| = {worst:.1e} {self.joints[k].units[r]}, "
                f"limit {POSITION_TOLERANCE:.0e}; pass it through system.assemble(state)"
            )
        if names := mirrored(self, time, state.y):
            raise AssemblyError(
                f"the initial configuration has joint {' and '.join(repr(name) for name in names)} as the mirror image of the "
                "reference configuration; start from system.state or nearer to it"
            )
        check_velocities(
            self, time, state.y, "pass them through system.assemble(state), which projects them onto the constraints"
        )


def assembled(system: System, time: float, y: Floats) -> tuple[Floats, int, float]:
    """State moved onto Phi = 0, iterations, residual; raises AssemblyError with the worst row."""
    work, start = system.work(), y
    y, iterations, residual = assembly.assemble_positions(time, start, system.tables, work)
    if system.drivers and not system.fits and (not residual <= assembly.ASSEMBLED or mirrored(system, time, y)):
        from runtime.approach import approached  # it needs systems

        near = approached(system, time, start)
        y, iterations, residual = assembly.assemble_positions(time, near, system.tables, work)
    if not residual <= assembly.ASSEMBLED:
        residual = assembly.worst_row(time, y, system.tables, work, False)
        k, r = map(int, work.failed)
        raise AssemblyError(
            f"could not assemble: |Phi| = {residual:.1e} {system.joints[k].units[r]} after {iterations} iterations, "
            f"worst row {system.row_name(k, r)}; start nearer or check its geometry"
        )
    if names := mirrored(system, time, y):
        raise AssemblyError(
            f"joint {' and '.join(repr(name) for name in names)} could only be assembled as the mirror image of the reference "
            "configuration; start nearer"
        )
    return y, iterations, residual


def mirrored(system: System, time: float, y: Floats) -> list[str]:
    """Names of joints that are the mirror image of what they are in the reference configuration."""
    names = []
    for joint, now, reference in zip(system.joints, sides_of(system, time, y), system.sides, strict=True):
        if any(a * b < 0.0 for a, b in zip(now, reference, strict=True)):
            names.append(joint.name)
    return names


def sides_of(system: System, time: float, y: Floats) -> tuple[tuple[float, ...], ...]:
    """Signs of what each joint's definition calls sided, in a configuration."""
    from runtime.reference import sides  # it needs joints

    if not any(joint.module.SIDES for joint in system.joints):
        return ((),) * len(system.joints)
    work = system.work()
    assembly.worst_row(time, y, system.tables, work, False)
    i, j = system.tables.body_i, system.tables.body_j
    return tuple(sides(joint, work.state[i[k]], work.state[j[k]], work.x[k]) for k, joint in enumerate(system.joints))


def check_velocities(system: System, time: float, y: Floats, remedy: str) -> None:
    """Refuse velocities with D v != nu, naming the worst row."""
    work = system.work()
    worst = assembly.worst_row(time, y, system.tables, work, True)
    k, r = map(int, work.failed)
    bodies = y.reshape(-1, STATE)
    speed = float(np.abs(bodies[:, V:]).max(initial=0.0))
    limit = VELOCITY_TOLERANCE * max(1.0, speed)
    if not worst <= limit:
        raise AssemblyError(
            f"inconsistent initial velocities: |Phi'| = {worst:.1e} {system.joints[k].units[r]}/s in row "
            f"{system.row_name(k, r)}, limit {limit:.0e}; {remedy}"
        )


def finite(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """The value as an array of this shape, or an error that names it."""
    try:
        array = np.array(value, dtype=float)
        if value is None or isinstance(value, str | bytes | bool):
            raise TypeError
    except (TypeError, ValueError):
        raise ModelError(f"{what} = {value!r}: give {shape_text(shape)}") from None
    if array.shape != shape:
        raise ModelError(f"{what} has the shape {array.shape}; give {shape_text(shape)}")
    if not np.isfinite(array).all():
        raise ModelError(f"{what} = {array.tolist()} is not finite; give finite numbers")
    return array


def counted(name: str, value: Any, what: str) -> int:
    """The value as a number of something, or an error that names both."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ModelError(f"{name} = {value!r}; give a number of {what}, 1 or more")
    return int(value)


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape in words."""
    return "one number" if shape == () else " x ".join(map(str, shape)) + " numbers"


def unit(value: Floats, what: str, tolerance: float, *, normalise: bool = False) -> Floats:
    """The vector, if its length is 1 within the tolerance."""
    length = float(np.linalg.norm(value))
    if length == 0.0:
        raise ModelError(f"{what} is the zero vector and has no direction; give a vector of length 1")
    if abs(length - 1.0) > tolerance:
        example = ", ".join(f"{component:.12g}" for component in value / length)
        raise ModelError(f"{what} has the length {length:.9g}, limit 1 within {tolerance:.0e}; give ({example})")
    return value / length if normalise else value
