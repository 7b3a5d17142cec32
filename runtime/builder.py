"""Building a system: every input is checked where it is given, and a refused call changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from generated import dispatch
from runtime import assembly
from runtime.addresses import addresses_of
from runtime.cones import Cone
from runtime.equations import OMEGA, ROWS, STATE, P, R, Tables, V
from runtime.errors import AssemblyError, ModelError
from runtime.loads import AT_BODY_POINT, AT_CENTRE, AT_GLOBAL_POINT, LoadTables
from runtime.rank import refuse_singular_joints, refuse_singular_motors, without_redundant_rows
from runtime.reference import ground_state, reference_tables
from runtime.restrict import limit_of, limit_tables
from runtime.signals import Signal, as_signal, signal_tables
from runtime.structure import GROUND as GROUND_INDEX
from runtime.structure import Floats, frozen, structure
from runtime.system import (
    UNIT_TOLERANCE,
    Assembly,
    Body,
    Contact,
    Joint,
    Limit,
    Load,
    Motor,
    State,
    System,
    assembled,
    check_velocities,
    finite,
    sides_of,
    unit,
)
from runtime.touching import contact_of, contact_tables

GROUND = "ground"
AXIS_TOLERANCE = 1e-9
TRIANGLE_TOLERANCE = 1e-9  # relative: published inertias are rounded, and flat bodies meet the limit exactly
GRAVITY = (0.0, 0.0, -9.81)
_KINDS: dict[str, ModuleType] = {module.NAME: module for module in dispatch.MODULES}


@dataclass(frozen=True)
class _Placed:
    """A body and where it starts."""

    body: Body
    start: Floats  # (13,)
    free: bool


class Builder:
    """Collects bodies and joints; ``build`` checks, assembles and returns an immutable System.

    Parameters
    ----------
    name : str
        Name of the system, for messages and files.
    gravity : (3,) [m/s^2]
        Acceleration of free fall in global axes.
    """

    def __init__(self, name: str = "system", *, gravity: ArrayLike = GRAVITY) -> None:
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise ModelError(f"system name {name!r}: use printable characters on one line")
        self.name = name
        self.gravity = finite(gravity, (3,), "gravity")
        self.gravity.flags.writeable = False
        self._bodies: dict[str, _Placed] = {}
        self._joints: dict[str, Joint] = {}
        self._limits: dict[str, Limit] = {}
        self._loads: dict[str, Load] = {}
        self._motors: dict[str, Motor] = {}
        self._contacts: dict[str, Contact] = {}

    def body(
        self,
        name: str,
        *,
        mass: float,
        inertia: ArrayLike,
        r: ArrayLike = (0.0, 0.0, 0.0),
        p: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        v: ArrayLike = (0.0, 0.0, 0.0),
        omega: ArrayLike = (0.0, 0.0, 0.0),
        free: bool = False,
    ) -> None:
        """Add a rigid body.

        Parameters
        ----------
        name : str
        mass : float [kg]
        inertia : (3,) or (3, 3) [kg m^2]
            About the centre of mass in body axes: principal moments, or the symmetric matrix.
        r : (3,) [m]
            Centre of mass in global axes in the reference configuration.
        p : (4,)
            Euler parameters there, scalar first, of unit length.
        v, omega : (3,) [m/s], [rad/s]
            Initial velocities in global axes.
        free : bool
            The body may float: it need not be connected to the ground.

        Raises
        ------
        ModelError
        """
        what = f"body '{name}'"
        _name(name, "body", self._bodies)
        if name == GROUND:
            raise ModelError(f"body '{GROUND}': this name stands for the fixed global frame; choose another name")
        mass = checked_mass(mass, what)
        start = np.zeros(STATE)
        start[R:P] = finite(r, (3,), f"{what}: r")
        start[P:V] = unit(finite(p, (4,), f"{what}: p"), f"{what}: p", UNIT_TOLERANCE, normalise=True)
        start[V:OMEGA] = finite(v, (3,), f"{what}: v")
        start[OMEGA:] = finite(omega, (3,), f"{what}: omega")
        self._bodies[name] = _Placed(Body(name, mass, checked_inertia(inertia, what), bool(free)), start, free)

    def joint(self, name: str, kind: str | ModuleType, body_i: str, body_j: str, **values: ArrayLike) -> None:
        """Add a joint between two bodies.

        Parameters
        ----------
        name : str
        kind : str or module
            Name of a definition in ``codegen/joints.py``, or what ``codegen.compile_joint`` returned.
        body_i, body_j : str
            Names of the bodies, or "ground".
        **values
            The arguments of the definition: points ``s_*`` (3,) [m] and unit directions (3,), each in the axes of its
            own body, and constants.

        Raises
        ------
        ModelError
        """
        _name(name, "joint", self._joints)
        module = definition("joint", name, kind)
        if module.SIGNALS:
            raise ModelError(
                f"joint '{name}' ({module.NAME}): driven by {', '.join(module.SIGNALS)}; add it with Builder.driver"
            )
        self._joints[name] = connection("joint", name, module, body_i, body_j, values, self._bodies)

    def driver(self, name: str, kind: str | ModuleType, body: str, other: str = GROUND, **values: Any) -> None:
        """Guide a body by prescribed signals of time.  Seed 002, section 6.

        Parameters
        ----------
        name : str
        kind : str or module
            Name of a definition in ``codegen/drivers.py``, or what ``codegen.compile_joint`` returned: "guided_point",
            "guided_orientation", "guided_cardan", "guided_angle", "guided_link"; as printed in seed 002 and singular
            somewhere: "euler_parameter", "cosine_of_angle", "cosine_of_link".
        body, other : str
            Bodies i and j of the definition; the other one is the ground where the definition speaks of one body only.
        **values
            The arguments of the definition, as for a joint, and its signals ``*_t``: a ``runtime.Signal`` or a number each.

        Raises
        ------
        ModelError
        """
        _name(name, "driver", self._joints)
        module = definition("driver", name, kind)
        if not module.SIGNALS:
            raise ModelError(f"driver '{name}' ({module.NAME}): has no signal to drive it; add it with Builder.joint")
        self._joints[name] = connection("driver", name, module, body, other, values, self._bodies)

    def motor(
        self,
        name: str,
        kind: str | ModuleType,
        body: str,
        other: str = GROUND,
        *,
        effort: Signal | float = 0.0,
        stiffness: float = 0.0,
        damping: float = 0.0,
        **values: Any,
    ) -> None:
        """Let a moment act on a coordinate: a prescribed effort, and a spring and a damper towards a target.

        The moment is effort - stiffness (angle - target) - damping (angle' - target'), about the axis of the driver of this
        kind, between its two bodies.

        Parameters
        ----------
        name : str
        kind : str or module
            A driver that guides one coordinate: "guided_angle", "guided_link", or a user's own.
        body, other : str
        effort : Signal or float [N m], or [N] where the coordinate is a length
            Positive where it increases the coordinate.
        stiffness : float [N m/rad], [N/m]
        damping : float [N m s/rad], [N s/m]
        **values
            The vectors of the driver, and its signal as the target; without stiffness and damping the target may be left out.

        Raises
        ------
        ModelError
        """
        _name(name, "motor", self._motors)
        module = definition("motor", name, kind)
        what = f"motor '{name}' ({module.NAME})"
        if not module.COORDINATE:
            able = ", ".join(key for key, m in _KINDS.items() if m.COORDINATE)
            raise ModelError(f"{what}: guides no single coordinate; use {able}")
        given = {"stiffness": stiffness, "damping": damping}
        checked = {key: checked_gain(value, f"{what}: {key}") for key, value in given.items()}
        if not any(checked.values()):
            values = {module.SIGNALS[0]: 0.0, **values}
        joint = connection("motor", name, module, body, other, values, self._bodies)
        self._motors[name] = Motor(joint, as_signal(effort, f"{what}: effort"), **checked)

    def load(
        self,
        name: str,
        body: str,
        *,
        force: Sequence[Signal | float] = (0.0, 0.0, 0.0),
        moment: Sequence[Signal | float] = (0.0, 0.0, 0.0),
        point: Sequence[Signal | float] | None = None,
        axes: Literal["global", "body"] = "global",
    ) -> None:
        """Let a prescribed force and moment act on a body, such as the ground's on a foot.

        Parameters
        ----------
        name, body : str
        force, moment : three signals or numbers [N], [N m]
        point : three signals or numbers [m], optional
            Where the force acts: global coordinates, or from the centre of mass in axes of the body.  Default: the centre of
            mass.
        axes : "global" or "body"
            In which force, moment and point are given.

        Raises
        ------
        ModelError
        """
        _name(name, "load", self._loads)
        what = f"load '{name}'"
        if not isinstance(body, str) or body not in self._bodies:
            raise ModelError(f"{what}: unknown body {body!r}; the bodies are {', '.join(self._bodies)}")
        if axes not in ("global", "body"):
            raise ModelError(f"{what}: axes = {axes!r}; use 'global' or 'body'")
        parts = {"force": force, "moment": moment, "point": point}
        checked = {key: None if part is None else _three(part, f"{what}: {key}") for key, part in parts.items()}
        self._loads[name] = Load(name, body, axes=axes, **checked)  # type: ignore[arg-type]

    def limit(
        self,
        name: str,
        joint: str,
        *,
        reference: str,
        xi: ArrayLike,
        eta: ArrayLike,
        cone: Cone,
        max_moment: float,
        compliance: float,
        damping: float = 0.0,
        direction: ArrayLike | None = None,
        law: Literal["conservative", "printed"] = "conservative",
    ) -> None:
        """Limit the motion of a joint by a cone of circumduction.  Seeds 003 and 001.

        A spherical joint (and any joint with rotation that is not named below) has one cone for a direction of the moving
        body.  Revolute and cylindrical joints have a cone about their hinge.  A classical universal joint has one cone for a
        ``direction``, or, without one, a cone for each hinge.  The modified universal joint has a cone for each hinge, and
        its massless link carries the moments.  The hinge is the axis that the reference body holds; its angle is positive
        towards a longitude of 0 or 90 degrees (in general: of 0 .. 180, 180 excluded).

        Parameters
        ----------
        name : str
        joint : str
            Name of a joint that was added before.
        reference : str
            The body of the joint that carries the cone; the other one is the moving body.
        xi, eta : (3,)
            Unit vectors of the joint's frame in axes of the reference body; zeta = xi x eta is the axis of the cone.
        cone : Cone
        max_moment : float [N m]
            Of the restriction.
        compliance : float [rad]
            Excess at which it is reached.
        damping : float [N m s]
            Of the hinge's rate, or of the relative angular velocity where there is no hinge.
        direction : (3,), optional
            Unit vector of the moving body that stays in the cone, in its axes.  Default for revolute and cylindrical joints:
            the direction that is along zeta in the reference configuration.
        law : "conservative" or "printed"
            The moment with a potential, or the moment as printed in seed 003, Eqs. (32)-(33), whose work around a closed
            loop is not zero where the cone is irregular.

        Raises
        ------
        ModelError
        """
        _name(name, "limit", self._limits)
        if not isinstance(joint, str) or joint not in self._joints:
            known = ", ".join(self._joints) or "none yet"
            raise ModelError(f"limit '{name}': unknown joint {joint!r}; the joints are {known}")
        states = {GROUND: ground_state()} | {key: placed.start for key, placed in self._bodies.items()}
        self._limits[name] = limit_of(
            name, self._joints[joint], states, reference=reference, xi=xi, eta=eta, cone=cone, max_moment=max_moment,
            compliance=compliance, damping=damping, direction=direction, law=law,
        )  # fmt: skip

    def contact(
        self,
        name: str,
        body: str,
        *,
        centre: ArrayLike,
        radius: float,
        law: str = "",
        friction: str | None = None,
        plane: str = GROUND,
        point: ArrayLike = (0.0, 0.0, 0.0),
        normal: ArrayLike = (0.0, 0.0, 1.0),
        belt: ArrayLike | None = None,
        belt_speed: Signal | float = 0.0,
        creep: float = 1e-3,
        least_impact: float = 1e-2,
        **parameters: float,
    ) -> None:
        """A sphere of a body that may touch a plane.  Seed 004.

        The plane belongs to the ground, tilted as its normal says, or to a body, which may move (a driven platform); a belt
        may run in it.

        Parameters
        ----------
        name, body : str
        centre : (3,) [m]
            Of the sphere, from the body's centre of mass, in its axes.
        radius : float [m]
        law : str
            Of the normal force, with its parameters: "kelvin_voigt" (stiffness [N/m^exponent], exponent, damping [N s/m]),
            "hertz" (stiffness [N/m^1.5]), "hunt_crossley" (stiffness, exponent, loss [s/m]), "lankarani_nikravesh" and
            "flores" (stiffness, exponent, restitution).  A force that would pull is zero.
        friction : str, optional
            "coulomb" or "smooth", with their parameters mu_c [1] and mu_d [N s/m].
        plane : str
            A body, or "ground".
        point : (3,) [m]
            Of the plane, from the centre of mass of its body, in its axes; of the ground in global coordinates.
        normal : (3,)
            Unit vector of the plane, to the side of the sphere, in the same axes.
        belt : (3,), optional
            Unit vector in the plane along which a belt runs.
        belt_speed : Signal or float [m/s]
        creep : float [m/s]
            Slip at which "coulomb" reaches its full force; of "smooth", below which the friction is much less.
        least_impact : float [m/s]
            For the two laws that damp by the speed of touch-down: slower touch-downs damp as one at this speed.

        Raises
        ------
        ModelError
        """
        _name(name, "contact", self._contacts)
        self._contacts[name] = contact_of(
            name, body, list(self._bodies), centre=centre, radius=radius, law=law, friction=friction, plane=plane,
            point=point, normal=normal, belt=belt, belt_speed=belt_speed, creep=creep, least_impact=least_impact,
            parameters=parameters,
        )  # fmt: skip

    def build(
        self,
        *,
        redundant: Literal["refuse", "remove", "fit"] = "refuse",
        project_velocities: bool | None = None,
        time: float = 0.0,
    ) -> System:
        """Check the whole, assemble the initial configuration by the least change, and return the system.

        Parameters
        ----------
        redundant : "refuse", "remove" or "fit"
            What to do with rows that repeat others: name them in an error, or remove them.  The motion is the same
            without them; their reactions are undetermined.  ``System.redundant`` names what was removed.
            "fit": the drivers guide more than there is to guide, such as markers on a body, and ``runtime.kinematics`` meets
            them by least squares; such a system cannot be simulated.
        project_velocities : bool, optional
            Change the initial velocities by as little as makes them consistent, where they are not, instead of refusing
            them.  Default: so with drivers, which prescribe velocities; else not.
        time : float [s]
            Of the initial configuration, at which drivers have their signals' values.

        Raises
        ------
        ModelError, AssemblyError
            Naming bodies, joints and rows.
        """
        if redundant not in ("refuse", "remove", "fit"):
            raise ModelError(f"build: redundant = {redundant!r}; use 'refuse', 'remove' or 'fit'")
        if not self._bodies:
            raise ModelError(f"system '{self.name}' has no body; add one with Builder.body")
        self._refuse_disconnected()
        bodies = tuple(placed.body for placed in self._bodies.values())
        joints = tuple(self._joints.values())
        y = np.concatenate([placed.start for placed in self._bodies.values()])
        tables = self._tables(y, fit=redundant == "fit")
        names = tuple(self._bodies)
        system = System(
            name=self.name, bodies=bodies, joints=joints, limits=tuple(self._limits.values()),
            loads=tuple(self._loads.values()), motors=tuple(self._motors.values()),
            contacts=tuple(self._contacts.values()), gravity=self.gravity,
            time=float(finite(time, (), "build: time")), state=State(names, y),
            assembly=Assembly(0, 0.0, 0.0, "", 0.0, ""), degrees_of_freedom=0, rank=0, redundant=(), fits=redundant == "fit",
            sides=(), tables=tables,
        )  # fmt: skip
        system = replace(system, sides=sides_of(system, system.time, y))
        system.check_span(system.time, system.time, "the initial configuration is taken")
        refuse_singular_joints(system, y)
        refuse_singular_motors(system, y)
        try:
            start, iterations, residual = assembled(system, system.time, y)
        except AssemblyError:
            if system.drivers:
                without_redundant_rows(system, y, redundant)  # drivers that contradict each other are told as such
            raise
        if iterations:
            refuse_singular_joints(system, start)
            refuse_singular_motors(system, start)
        system = without_redundant_rows(system, start, redundant)
        rank = int(system.tables.active.sum())
        if project_velocities or (project_velocities is None and system.drivers):
            start = assembly.project_velocities(system.time, start, system.tables, system.work())
        check_velocities(system, system.time, start, "make them consistent, or build(project_velocities=True)")
        return replace(
            system, state=State(names, start), rank=rank, degrees_of_freedom=6 * len(bodies) - rank,
            assembly=change(names, y, start, iterations, residual),
        )  # fmt: skip

    def _refuse_disconnected(self) -> None:
        connected = {GROUND} | {name for name, placed in self._bodies.items() if placed.free}
        grew = True
        while grew:
            before = len(connected)
            for joint in self._joints.values():
                if {joint.body_i, joint.body_j} & connected:
                    connected |= {joint.body_i, joint.body_j}
            grew = len(connected) > before
        loose = [name for name in self._bodies if name not in connected]
        if loose:
            raise ModelError(
                f"system '{self.name}': no chain of joints leads from {', '.join(repr(n) for n in loose)} to the ground; "
                "add a joint, or say free=True of a body that may float"
            )

    def _tables(self, y: Floats, *, fit: bool) -> Tables:
        """Flat tables of all joints; held constants and carried vectors are taken from the configuration y.

        Drivers that are to be met by least squares keep no row in them.
        """
        bodies = [placed.body for placed in self._bodies.values()]
        joints = list(self._joints.values())
        index = {GROUND: GROUND_INDEX} | {body.name: k + 1 for k, body in enumerate(bodies)}
        rows = np.array([0 if fit and j.signals else len(j.rows) for j in joints], np.int64)
        inertia = np.array([np.eye(3)] + [body.inertia for body in bodies])
        states = np.vstack([ground_state(), y.reshape(-1, STATE)])
        body_i, body_j, x, (numbers, places, owners, locals_) = reference_tables(joints, index, states)
        signals = [
            (k, joint.module.SIZE - 3 * (len(joint.signals) - n), signal)
            for k, joint in enumerate(joints)
            for n, signal in enumerate(joint.signals.values())
        ]
        loads, of_loads = self._load_tables(index, states, len(signals))
        contacts, first = list(self._contacts.values()), len(signals) + len(of_loads)
        tables = Tables(
            mass=np.array([1.0] + [body.mass for body in bodies]),
            inertia=inertia,
            inertia_inverse=np.linalg.inv(inertia).astype(float),
            gravity=self.gravity.copy(),
            alpha=5.0,
            beta=5.0,
            address=addresses_of(j.module for j in joints),
            body_i=body_i,
            body_j=body_j,
            rows=rows,
            active=rows.copy(),
            active_row=np.tile(np.arange(ROWS), (len(joints), 1)),
            vector_joint=numbers,
            vector_place=places,
            vector_body=owners,
            vector_local=locals_,
            x=x,
            signals=signal_tables(
                [signal for _, _, signal in signals] + of_loads + [contact.belt_speed for contact in contacts]
            ),
            signal_joint=np.array([k for k, _, _ in signals], np.int64),
            signal_place=np.array([o for _, o, _ in signals], np.int64),
            structure=structure(body_i, body_j),
            limits=limit_tables(list(self._limits.values()), index, states),
            loads=loads,
            contacts=contact_tables(contacts, index, states, first),
        )
        return frozen(tables)

    def _load_tables(self, index: Mapping[str, int], states: Floats, first: int) -> tuple[LoadTables, list[Signal]]:
        """Flat tables of loads and motors, and their signals, which are numbered from ``first``."""
        signals: list[Signal] = []

        def number(signal: Signal) -> int:
            signals.append(signal)
            return first + len(signals) - 1

        loads, motors = list(self._loads.values()), list(self._motors.values())
        zero = (Signal.constant(0.0),) * 3
        numbers = [[number(s) for s in (*m.force, *(m.point or zero), *m.moment)] for m in loads]
        at = [AT_CENTRE if m.point is None else AT_BODY_POINT if m.axes == "body" else AT_GLOBAL_POINT for m in loads]
        efforts = [number(motor.effort) for motor in motors]
        targets = [number(signal) for motor in motors for signal in motor.joint.signals.values()]
        joints = [motor.joint for motor in motors]
        body_i, body_j, x, (numbers_of, places, owners, locals_) = reference_tables(joints, index, states)
        tables = LoadTables(
            body=np.array([index[m.body] for m in loads], np.int64),
            at=np.array(at, np.int64),
            in_body_axes=np.array([m.axes == "body" for m in loads], np.int64),
            signal=np.array(numbers, np.int64).reshape(-1, 9),
            address=addresses_of(j.module for j in joints),
            body_i=body_i,
            body_j=body_j,
            effort=np.array(efforts, np.int64),
            target=np.array(targets, np.int64),
            target_place=np.array([j.module.SIZE - 3 for j in joints], np.int64),
            stiffness=np.array([motor.stiffness for motor in motors], float),
            damping=np.array([motor.damping for motor in motors], float),
            vector_motor=numbers_of,
            vector_place=places,
            vector_body=owners,
            vector_local=locals_,
            x=x,
        )
        return tables, signals


def definition(sort: str, name: str, kind: str | ModuleType) -> ModuleType:
    """The generated module of a kind."""
    module = _KINDS.get(kind) if isinstance(kind, str) else kind
    if module is None:
        able = {"joint": lambda m: not m.SIGNALS, "driver": lambda m: bool(m.SIGNALS)}
        known = ", ".join(key for key, m in _KINDS.items() if (able[sort](m) if sort in able else m.COORDINATE))
        raise ModelError(f"{sort} '{name}': unknown kind '{kind}'; use {known}, or codegen.compile_joint(definition)")
    if not all(hasattr(module, part) for part in ("evaluate", "reference", "KEYWORDS")):
        raise ModelError(
            f"{sort} '{name}': {kind!r} is no kind of {sort}; pass a name or codegen.compile_joint(definition)"
        )
    if len(module.ROWS) > ROWS:
        raise ModelError(f"{sort} '{name}' ({module.NAME}): {len(module.ROWS)} rows, limit {ROWS}; use two {sort}s")
    return module


def connection(
    sort: str,
    name: str,
    module: ModuleType,
    body_i: str,
    body_j: str,
    values: Mapping[str, Any],
    bodies: Collection[str],
) -> Joint:
    """A joint or driver, if its bodies and values are what its definition needs."""
    what = f"{sort} '{name}' ({module.NAME})"
    for body in (body_i, body_j):
        if not isinstance(body, str) or (body != GROUND and body not in bodies):
            known = ", ".join([*bodies, GROUND])
            raise ModelError(f"{what}: unknown body '{body}'; the bodies are {known}")
    if body_i == body_j:
        raise ModelError(f"{what}: joins body '{body_i}' to itself; give two different bodies")
    if sort != "joint" and body_i == GROUND and module.BODIES == ("i",):
        raise ModelError(f"{what}: guides body i, which is the ground; name the body that moves first")
    if sort != "joint" and body_j != GROUND and module.BODIES == ("i",):
        raise ModelError(f"{what}: speaks of one body only; leave out '{body_j}'")
    keywords = (*module.KEYWORDS, *module.SIGNALS)
    needs = ", ".join(keywords) or "no values"
    missing = [key for key in keywords if key not in values]
    if missing:
        raise ModelError(f"{what}: missing {', '.join(missing)}; needs {needs}")
    unknown = [key for key in values if key not in keywords]
    if unknown:
        raise ModelError(f"{what}: unused {', '.join(unknown)}; needs {needs}")
    checked: dict[str, Any] = {}
    for key, kind_of in ((v[0], v[1]) for v in module.VECTORS if v[0] in module.KEYWORDS):
        checked[key] = finite(values[key], (3,), f"{what}: {key}")
        if kind_of == "direction":
            unit(checked[key], f"{what}: {key}", AXIS_TOLERANCE)
        checked[key].flags.writeable = False
    for key, _ in module.PARAMETERS:
        checked[key] = float(finite(values[key], (), f"{what}: {key}"))
        if key.split("_")[0] == "l" and checked[key] < 0.0:
            raise ModelError(f"{what}: {key} = {checked[key]:g} m is a length, must not be below 0 m")
    signals = {key: as_signal(values[key], f"{what}: {key}") for key in module.SIGNALS}
    return Joint(name, module.NAME, body_i, body_j, MappingProxyType(checked), module, MappingProxyType(signals))


def _three(values: Sequence[Signal | float], what: str) -> tuple[Signal, Signal, Signal]:
    try:
        x, y, z = values
    except (TypeError, ValueError):
        raise ModelError(f"{what} = {values!r}: give three signals or numbers") from None
    return as_signal(x, what), as_signal(y, what), as_signal(z, what)


def _name(name: str, what: str, taken: dict[str, Any]) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise ModelError(f"{what} name {name!r}: use letters, digits and '_', and begin with a letter")
    if name in taken:
        raise ModelError(f"{what} '{name}' exists already; names must differ")


def checked_mass(value: float, what: str) -> float:
    """A mass, if it is above 0."""
    mass = float(finite(value, (), f"{what}: mass"))
    if mass <= 0.0:
        raise ModelError(
            f"{what}: mass = {mass:g} kg, must be above 0 kg; a massless link is the joint 'modified_universal'"
        )
    return mass


def checked_gain(value: float, what: str) -> float:
    """A motor's stiffness or damping, if it is not below 0."""
    gain = float(finite(value, (), what))
    if gain < 0.0:
        raise ModelError(f"{what} = {gain:g} would drive the coordinate away; it must not be below 0")
    return gain


def checked_inertia(value: ArrayLike, what: str) -> Floats:
    """Matrix of inertia, if there can be one with these moments."""
    given = np.array(value, dtype=object)
    shape = (3,) if given.ndim == 1 else (3, 3)
    matrix = finite(value, shape, f"{what}: inertia")
    matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0.0):
        raise ModelError(f"{what}: inertia is not symmetric; give the full symmetric matrix or three principal moments")
    matrix = 0.5 * matrix + 0.5 * matrix.T
    moments = np.linalg.eigvalsh(matrix)
    listed = ", ".join(f"{m:.6g}" for m in moments)
    if moments[0] <= 0.0:
        raise ModelError(f"{what}: principal moments of inertia {listed} kg m^2, all must be above 0")
    excess = moments[2] - moments[0] - moments[1]
    if excess > TRIANGLE_TOLERANCE * moments[2]:
        raise ModelError(
            f"{what}: principal moments of inertia {listed} kg m^2 violate the triangle inequality, "
            f"{moments[2]:.6g} > {moments[0] + moments[1]:.6g}; no distribution of mass has them"
        )
    matrix.flags.writeable = False
    return matrix


def change(names: tuple[str, ...], before: Floats, after: Floats, iterations: int, residual: float) -> Assembly:
    """How a configuration was assembled."""
    a, b = before.reshape(-1, STATE), after.reshape(-1, STATE)
    moves = np.linalg.norm(b[:, R:P] - a[:, R:P], axis=1)
    # The chord between Euler parameters keeps its digits near zero, which the arc cosine of their product does not.
    chords = [min(np.linalg.norm(q - p), np.linalg.norm(q + p)) for p, q in zip(a[:, P:V], b[:, P:V], strict=True)]
    turns = 4 * np.arcsin(np.clip(np.array(chords) / 2, 0.0, 1.0))
    m, n = int(moves.argmax()), int(turns.argmax())
    return Assembly(iterations, residual, float(moves[m]), names[m], float(turns[n]), names[n])
