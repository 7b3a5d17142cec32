"""The part of the builder that adds motors, loads, forces of definitions, limits of motion and contacts."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Literal

from numpy.typing import ArrayLike

from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.errors import unknown_name
from runtime.system.body_building import Placed
from runtime.system.cone import Cone
from runtime.system.connection import checked_name
from runtime.system.contact_building import build_contact
from runtime.system.force_building import build_force
from runtime.system.global_axes import Axes, is_global
from runtime.system.limit_building import build_limit
from runtime.system.load_building import build_load, build_motor
from runtime.system.parts import GROUND, Contact, Force, Joint, Limit, Load, Motor
from runtime.system.reference import ground_state
from runtime.system.shapes import Shape, build_shape
from runtime.system.signal import Signal

_GROUND_STATE = ground_state()
_GROUND_STATE.setflags(write=False)


@checked_class
class LoadBuilder:
    """Adds motors, loads, forces, limits, contacts and shapes; ``Builder`` adds bodies and joints."""

    def _begin(self, axes: Axes) -> None:
        is_global(axes, axes, "builder")
        self.axes: Axes = axes
        self._bodies: dict[str, Placed] = {}
        self._joints: dict[str, Joint] = {}
        self._limits: dict[str, Limit] = {}
        self._loads: dict[str, Load] = {}
        self._motors: dict[str, Motor] = {}
        self._contacts: dict[str, Contact] = {}
        self._forces: dict[str, Force] = {}
        self._shapes: list[Shape] = []

    @property
    def _states(self) -> dict[str, Floats]:
        """States of the ground and of the bodies, (13,) by name."""
        return {GROUND: _GROUND_STATE} | {name: placed.start for name, placed in self._bodies.items()}

    def _global_states(self, axes: Axes | None, what: str) -> dict[str, Floats] | None:
        """These states where data are in global axes; None where they are in axes of the bodies."""
        return self._states if is_global(axes, self.axes, what) else None

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
        axes: Axes | None = None,
        **values: Any,
    ) -> None:
        """Add a motor, a moment on a coordinate: a prescribed effort, and a spring and a damper towards a target.

        The moment is effort - stiffness (angle - target) - damping (angle' - target').  The moment acts between the two bodies,
        about the axis of the driver of the same kind.

        Parameters
        ----------
        name : str
        kind : str or module
            A driver that guides one coordinate: "guided_angle", "guided_link", "guided_distance", or a user's own.
        body, other : str
            See ``driver``.
        effort : Signal or float [N m], or [N] where the coordinate is a length
            Positive where it increases the coordinate.
        stiffness : float [N m/rad], [N/m]
        damping : float [N m s/rad], [N s/m]
        axes : "body" or "global", optional
            Axes of the vectors, as for joints.
        **values
            The vectors of the driver, and its signal as the target; without stiffness and damping the target may be left out.

        Raises
        ------
        ModelError
        """
        checked_name(name, "motor", self._motors)
        self._motors[name] = build_motor(
            name, kind, body, other, self._bodies, effort=effort, stiffness=stiffness, damping=damping, values=values,
            states=self._global_states(axes, f"motor '{name}'"),
        )  # fmt: skip

    def load(
        self,
        name: str,
        body: str,
        *,
        force: Sequence[Signal | float] = (0.0, 0.0, 0.0),
        moment: Sequence[Signal | float] = (0.0, 0.0, 0.0),
        point: Sequence[Signal | float] | None = None,
        axes: Literal["global", "body"] = "global",
        attached: bool = False,
    ) -> None:
        """Add a prescribed force and moment on a body, such as the reaction of the ground on a foot.

        Parameters
        ----------
        name, body : str
        force, moment : three signals or numbers [N], [N m]
        point : three signals or numbers [m], optional
            Point of action: global coordinates, or from the centre of mass in axes of the body.  Default: the centre of mass.
        axes : "global" or "body"
            Axes of force, moment and point, which they keep during the motion; the default of the builder has no influence.
        attached : bool
            With axes="global": the point, given by numbers in global coordinates at the reference pose, belongs to the body and
            moves with it, as that of a weight on a hand.

        Raises
        ------
        ModelError
        """
        checked_name(name, "load", self._loads)
        self._loads[name] = build_load(
            name, body, self._bodies, force=force, moment=moment, point=point, axes=axes,
            attached_to=self._states.get(str(body)) if attached else None,
        )  # fmt: skip

    # Long by its signature and docstring.
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
        axes: Axes | None = None,
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
        axes : "body" or "global", optional
            "global": xi, eta and direction are in global axes at the reference pose, of any length.  Default: of the builder.

        Raises
        ------
        ModelError
        """
        checked_name(name, "limit", self._limits)
        if not isinstance(joint, str) or joint not in self._joints:
            raise unknown_name(joint, self._joints, "joint", whose=f"limit '{name}': ")
        self._limits[name] = build_limit(
            name, self._joints[joint], self._states, reference=reference, xi=xi, eta=eta, cone=cone, max_moment=max_moment,
            compliance=compliance, damping=damping, direction=direction, law=law,
            global_axes=is_global(axes, self.axes, f"limit '{name}'"),
        )  # fmt: skip

    # Long by its signature and docstring.
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
        axes: Axes | None = None,
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
        axes : "body" or "global", optional
            "global": centre and point are global coordinates at the reference pose, normal and belt global directions of any
            length.  Default: of the builder.

        Raises
        ------
        ModelError
        """
        checked_name(name, "contact", self._contacts)
        self._contacts[name] = build_contact(
            name, body, list(self._bodies), centre=centre, radius=radius, law=law, friction=friction, plane=plane,
            point=point, normal=normal, belt=belt, belt_speed=belt_speed, creep=creep, least_impact=least_impact,
            parameters=parameters, states=self._global_states(axes, f"contact '{name}'"),
        )  # fmt: skip

    def force(
        self, name: str, kind: str | ModuleType, body_i: str, body_j: str = GROUND, *,
        body_k: str | None = None, body_l: str | None = None, joint: str | None = None, axes: Axes | None = None,
        **values: Any,
    ) -> None:  # fmt: skip
        """Add a force between bodies.

        Parameters
        ----------
        name : str
        kind : str or module
            Name of a definition in ``codegen/forces.py``, such as "spring_damper", or what ``codegen.compile_force`` returned.
        body_i, body_j, body_k, body_l : str
            Names of the bodies, or "ground"; k and l where the definition has them.
        joint : str, optional
            For forces that depend on the reaction of a joint, such as "journal_friction": its name; bodies i and j are those of
            the joint, and vectors that are not given are the joint's.
        axes : "body" or "global", optional
            Axes of points and directions, as for joints.
        **values
            The arguments of the definition: points ``s_*`` (3,) [m] and unit directions (3,), each in the axes of its own
            body, constants, signals ``*_t``, and tables ``*_table`` (n, 2), increasing arguments and values.

        Raises
        ------
        ModelError
        """
        checked_name(name, "force", self._forces)
        bodies = [body_i, body_j, *(body for body in (body_k, body_l) if body is not None)]
        states = self._global_states(axes, f"force '{name}'")
        owner = self._joints.get(joint, joint) if isinstance(joint, str) else joint
        self._forces[name] = build_force(name, kind, bodies, values, self._bodies, states=states, joint=owner)

    def shape(
        self,
        body: str,
        kind: Literal["sphere", "capsule", "bone", "ellipsoid", "box", "mesh"],
        *,
        colour: Any = None,
        label: str = "",
        axes: Axes | None = None,
        **values: Any,
    ) -> None:
        """Give a body, or the ground, a shape for views; the motion does not depend on shapes.

        A body may have several.  Without any, views draw its joints' points and an ellipsoid of its inertia.

        Parameters
        ----------
        body : str
        kind : str
            "sphere" (radius), "capsule" (start, end, radius), "bone" (the same, thinner in the middle), "ellipsoid"
            (semi_axes), "box" (edges), "mesh" (file, scale): a .vtp, .stl or .obj file, whose coordinates times ``scale`` are
            metres.
        colour : colour of matplotlib, optional
            Default: one of a palette, by the order of the bodies.
        label : str
            In legends; default: the name of the body.
        axes : "body" or "global", optional
            As for joints.
        **values
            Those of the kind.  Points ``start``, ``end`` and ``at`` (3,) [m], the latter the centre of the others, by default
            the centre of mass, for a mesh its origin; ``p``: orientation, as for bodies; lengths [m].

        Raises
        ------
        ModelError
        """
        states = self._global_states(axes, "shape")
        self._shapes.append(build_shape(body, kind, self._bodies, values, colour, label, states))

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes that bodies were given."""
        return tuple(self._shapes)

    def add_shapes(self, shapes: Sequence[Shape]) -> None:
        """Give bodies shapes of another system, ``system.shapes``, whose bodies have the same names.

        Raises
        ------
        ModelError
        """
        for shape in shapes:
            if shape.body != GROUND and shape.body not in self._bodies:
                raise unknown_name(shape.body, [*self._bodies, GROUND], "body", "bodies", "add_shapes: ")
        self._shapes += shapes
