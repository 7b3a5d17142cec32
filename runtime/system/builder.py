"""Building a system: every input is checked where it is given, and a refused call changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics import projection
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import GROUND_INDEX, OMEGA, ROWS, STATE, P, R, V
from runtime.dynamics.loads import AT_BODY_POINT, AT_CENTRE, AT_GLOBAL_POINT, LoadData
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.sparsity import sparsity
from runtime.jit.addresses import addresses_of
from runtime.support.arrays import Floats, frozen
from runtime.support.checks import finite, unit
from runtime.support.errors import AssemblyError, ModelError
from runtime.system.assemble import assembled, branch_signs_of, change, check_velocities
from runtime.system.cone import Cone
from runtime.system.connection import (
    _KINDS,
    _three,
    checked_gain,
    checked_inertia,
    checked_mass,
    checked_name,
    connection,
    definition,
)
from runtime.system.contact_building import build_contact, contact_data
from runtime.system.limit_building import build_limit, limit_data
from runtime.system.parts import GROUND, Assembly, Body, Contact, Joint, Limit, Load, Motor
from runtime.system.rank import refuse_singular_joints, refuse_singular_motors, without_redundant_rows
from runtime.system.reference import ground_state, reference_data
from runtime.system.signal import Signal, as_signal, signal_data
from runtime.system.state import UNIT_TOLERANCE, State
from runtime.system.system import System

GRAVITY = (0.0, 0.0, -9.81)


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
        checked_name(name, "body", self._bodies)
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
        checked_name(name, "joint", self._joints)
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
        checked_name(name, "driver", self._joints)
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
        checked_name(name, "motor", self._motors)
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
        checked_name(name, "load", self._loads)
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
        checked_name(name, "limit", self._limits)
        if not isinstance(joint, str) or joint not in self._joints:
            known = ", ".join(self._joints) or "none yet"
            raise ModelError(f"limit '{name}': unknown joint {joint!r}; the joints are {known}")
        states = {GROUND: ground_state()} | {key: placed.start for key, placed in self._bodies.items()}
        self._limits[name] = build_limit(
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
        checked_name(name, "contact", self._contacts)
        self._contacts[name] = build_contact(
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
        data = self._data(y, fit=redundant == "fit")
        names = tuple(self._bodies)
        system = System(
            name=self.name, bodies=bodies, joints=joints, limits=tuple(self._limits.values()),
            loads=tuple(self._loads.values()), motors=tuple(self._motors.values()),
            contacts=tuple(self._contacts.values()), gravity=self.gravity,
            time=float(finite(time, (), "build: time")), state=State(names, y),
            assembly=Assembly(0, 0.0, 0.0, "", 0.0, ""), degrees_of_freedom=0, rank=0, redundant=(), overdetermined=redundant == "fit",
            branch_signs=(), data=data,
        )  # fmt: skip
        system = replace(system, branch_signs=branch_signs_of(system, system.time, y))
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
        rank = int(system.data.active.sum())
        if project_velocities or (project_velocities is None and system.drivers):
            start = projection.project_velocities(system.time, start, system.data, workspace_for(system.data))
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

    def _data(self, y: Floats, *, fit: bool) -> ModelData:
        """Flat tables of all joints; held constants and carried vectors are taken from the configuration y.

        Drivers that are to be met by least squares keep no row in them.
        """
        bodies = [placed.body for placed in self._bodies.values()]
        joints = list(self._joints.values())
        index = {GROUND: GROUND_INDEX} | {body.name: k + 1 for k, body in enumerate(bodies)}
        rows = np.array([0 if fit and j.signals else len(j.rows) for j in joints], np.int64)
        inertia = np.array([np.eye(3)] + [body.inertia for body in bodies])
        states = np.vstack([ground_state(), y.reshape(-1, STATE)])
        body_i, body_j, x, (numbers, places, owners, locals_) = reference_data(joints, index, states)
        signals = [
            (k, joint.module.SIZE - 3 * (len(joint.signals) - n), signal)
            for k, joint in enumerate(joints)
            for n, signal in enumerate(joint.signals.values())
        ]
        loads, of_loads = self._load_data(index, states, len(signals))
        contacts, first = list(self._contacts.values()), len(signals) + len(of_loads)
        data = ModelData(
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
            signals=signal_data(
                [signal for _, _, signal in signals] + of_loads + [contact.belt_speed for contact in contacts]
            ),
            signal_joint=np.array([k for k, _, _ in signals], np.int64),
            signal_place=np.array([o for _, o, _ in signals], np.int64),
            structure=sparsity(body_i, body_j),
            limits=limit_data(list(self._limits.values()), index, states),
            loads=loads,
            contacts=contact_data(contacts, index, states, first),
        )
        return frozen(data)

    def _load_data(self, index: Mapping[str, int], states: Floats, first: int) -> tuple[LoadData, list[Signal]]:
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
        body_i, body_j, x, (numbers_of, places, owners, locals_) = reference_data(joints, index, states)
        data = LoadData(
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
        return data, signals
