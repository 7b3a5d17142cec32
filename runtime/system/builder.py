"""The builder of systems.  Every call checks its arguments; a call that raises an error leaves the builder unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.support.arrays import Floats
from runtime.support.checks import finite, finite_number, unit
from runtime.support.errors import ModelError
from runtime.system.cone import Cone
from runtime.system.connection import checked_inertia, checked_mass, checked_name, connection, definition
from runtime.system.contact_building import build_contact
from runtime.system.data_building import Parts
from runtime.system.force_builder import ForceBuilder
from runtime.system.limit_building import build_limit
from runtime.system.load_building import build_load, build_motor
from runtime.system.parts import GROUND, Body, Contact, Joint, Limit, Load, Motor
from runtime.system.reference import ground_state
from runtime.system.signal import Signal
from runtime.system.state import UNIT_TOLERANCE
from runtime.system.system import System
from runtime.system.system_building import build_system

GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class _Placed:
    """A body and its initial state (13,)."""

    body: Body
    start: Floats


class Builder(ForceBuilder):
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
        super().__init__()
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
            raise ModelError(f"body '{GROUND}': this name is reserved for the fixed body; choose another name")
        mass = checked_mass(mass, what)
        start = np.zeros(STATE)
        start[R:P] = finite(r, (3,), f"{what}: r")
        start[P:V] = unit(finite(p, (4,), f"{what}: p"), f"{what}: p", UNIT_TOLERANCE, normalise=True)
        start[V:OMEGA] = finite(v, (3,), f"{what}: v")
        start[OMEGA:] = finite(omega, (3,), f"{what}: omega")
        self._bodies[name] = _Placed(Body(name, mass, checked_inertia(inertia, what), bool(free)), start)

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
        """Add a driver, which guides a body by prescribed signals of time.

        Source: Rodrigues da Silva et al. (n.d.), section 6.

        Parameters
        ----------
        name : str
        kind : str or module
            Name of a definition in ``codegen/drivers.py``, or what ``codegen.compile_joint`` returned: "guided_point",
            "guided_orientation", "guided_cardan", "guided_angle", "guided_link"; as printed in the paper, with singular
            configurations: "euler_parameter", "cosine_of_angle", "cosine_of_link".
        body, other : str
            Bodies i and j of the definition; ``other`` is the ground where the definition has one body only.
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
        """Add a motor, a moment on a coordinate: a prescribed effort, and a spring and a damper towards a target.

        The moment is effort - stiffness (angle - target) - damping (angle' - target').  The moment acts between the two bodies,
        about the axis of the driver of the same kind.

        Parameters
        ----------
        name : str
        kind : str or module
            A driver that guides one coordinate: "guided_angle", "guided_link", or a user's own.
        body, other : str
            See ``driver``.
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
        self._motors[name] = build_motor(
            name, kind, body, other, self._bodies, effort=effort, stiffness=stiffness, damping=damping, values=values
        )

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
        """Add a prescribed force and moment on a body, such as the reaction of the ground on a foot.

        Parameters
        ----------
        name, body : str
        force, moment : three signals or numbers [N], [N m]
        point : three signals or numbers [m], optional
            Point of action: global coordinates, or from the centre of mass in axes of the body.  Default: the centre of mass.
        axes : "global" or "body"
            Axes of force, moment and point.

        Raises
        ------
        ModelError
        """
        checked_name(name, "load", self._loads)
        self._loads[name] = build_load(name, body, self._bodies, force=force, moment=moment, point=point, axes=axes)

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
        """Add a limit, which restricts the motion of a joint by a cone of circumduction.

        Source: Rodrigues da Silva et al. (2024b, 2024c).  A spherical joint (and any joint with rotation that is not named
        below) has one cone for a direction of the moving body.  Revolute and cylindrical joints have a cone about their hinge.
        A classical universal joint has one cone for a ``direction``, or, without one, a cone for each hinge.  The modified
        universal joint has a cone for each hinge, and its massless link carries the moments.  The hinge is the axis that the
        reference body holds; its angle is positive towards a longitude of 0 or 90 degrees (in general: of 0 .. 180, 180
        excluded).

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
            Largest restricting moment.
        compliance : float [rad]
            Excess at which the largest moment is reached.
        damping : float [N m s]
            Moment per rate [rad/s] of the hinge, or per relative angular velocity where there is no hinge.
        direction : (3,), optional
            Unit vector of the moving body that stays in the cone, in axes of this body.  Default for revolute and cylindrical
            joints: the direction along zeta in the reference configuration.
        law : "conservative" or "printed"
            The moment with a potential, or the moment as printed in Rodrigues da Silva et al. (2024b), Eqs. (32)-(33), whose
            work around a closed loop is not zero where the cone is irregular.

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
        creep: float | None = None,
        least_impact: float = 1e-2,
        **parameters: float,
    ) -> None:
        """Add a contact between a sphere of one body and a plane.

        Source: Moreira et al. (2011).  The plane belongs to the ground, or to another body, which may move (a driven platform);
        ``normal`` gives its inclination.  A belt may run in the plane.

        Parameters
        ----------
        name, body : str
        centre : (3,) [m]
            Centre of the sphere, from the body's centre of mass, in axes of the body.
        radius : float [m]
        law : str
            Law of the normal force, with its parameters as keywords: "kelvin_voigt" (stiffness [N/m^exponent], exponent,
            damping [N s/m]), "hertz" (stiffness [N/m^1.5]), "hunt_crossley" (stiffness, exponent, loss [s/m]),
            "lankarani_nikravesh" and "flores" (stiffness, exponent, restitution).  A force that would pull is zero.
        friction : str, optional
            "coulomb" or "smooth" (mu_c [1], mu_d [N s/m]); "sticking" (mu_s [1], mu_c, mu_d, fading [m/s]).
        plane : str
            A body, or "ground".
        point : (3,) [m]
            Point of the plane, from the centre of mass of its body, in axes of the body; for the ground in global coordinates.
        normal : (3,)
            Unit normal of the plane, towards the sphere, in the same axes.
        belt : (3,), optional
            Unit vector in the plane, the direction of motion of a belt.
        belt_speed : Signal or float [m/s]
        creep : float [m/s], optional
            Slip at which the "coulomb" and the "sticking" friction reach their full force; slip below which the "smooth" friction
            is much smaller.  Default: 1e-3; 1e-9 of "sticking", which needs an implicit method such as "radau".
        least_impact : float [m/s]
            Lower bound of the impact speed in the two laws whose damping depends on it.

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
        """Check the system, assemble the initial configuration by the least change, and return the system.

        Parameters
        ----------
        redundant : "refuse", "remove" or "fit"
            Treatment of rows that repeat others: an error that names them, or removal.  The motion is the same without them;
            their reactions are undetermined.  ``System.redundant`` lists the removed rows.
            "fit": the drivers overdetermine the motion, such as markers on a body, and ``runtime.kinematics`` meets them by
            least squares; such a system cannot be simulated.
        project_velocities : bool, optional
            True: make inconsistent initial velocities consistent by the least change.  False: refuse them.  Default: True for
            systems with drivers, which prescribe velocities; else False.
        time : float [s]
            Time of the initial configuration, at which signals are evaluated.

        Raises
        ------
        ModelError, AssemblyError
            Naming bodies, joints and rows.
        """
        if redundant not in ("refuse", "remove", "fit"):
            raise ModelError(f"build: redundant = {redundant!r}; use 'refuse', 'remove' or 'fit'")
        if not self._bodies:
            raise ModelError(f"system '{self.name}' has no body; add one with Builder.body")
        parts = Parts(
            tuple(placed.body for placed in self._bodies.values()),
            tuple(self._joints.values()),
            tuple(self._limits.values()),
            tuple(self._loads.values()),
            tuple(self._motors.values()),
            tuple(self._contacts.values()),
            tuple(self._forces.values()),
        )
        y = np.concatenate([placed.start for placed in self._bodies.values()])
        start_time = finite_number(time, "build: time")
        return build_system(self.name, parts, self.gravity, y, start_time, redundant, project_velocities)
