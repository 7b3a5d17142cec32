"""The part of the builder that adds bodies, joints and all that acts on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import finite_number
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.support.late_names import no_attribute
from runtime.system.armature import build_armature
from runtime.system.body_building import build_body
from runtime.system.cone import Cone
from runtime.system.connection import checked_name, connection, definition, refuse_unknown_body
from runtime.system.contact_building import build_contact
from runtime.system.coupling import build_coupling
from runtime.system.data_building import Parts
from runtime.system.force_building import build_force
from runtime.system.frames import Frame, build_frame
from runtime.system.global_axes import Axes, is_global
from runtime.system.limit_building import build_limit
from runtime.system.load_building import build_load, build_motor, build_motor_on
from runtime.system.muscle_building import build_muscle
from runtime.system.orientation import ORIGIN, UPRIGHT
from runtime.system.orthosis import add_orthosis
from runtime.system.parts import GROUND
from runtime.system.reference import ground_state
from runtime.system.shapes import Shape, build_shape
from runtime.system.signal import Signal

NONE: Mapping[str, Any] = MappingProxyType({})
_GROUND_STATE = ground_state()
_GROUND_STATE.setflags(write=False)


@dataclass(eq=False)
class Made:
    """What was added to a builder, by name; shapes by number, armatures by their coordinates."""

    of: dict[str, dict[Any, Any]] = field(default_factory=lambda: {sort: {} for sort in Parts._fields})
    starts: dict[str, Floats] = field(default_factory=dict)  # of the bodies, (13,)
    angles: dict[str, float] = field(default_factory=dict)  # of joints at the start
    rates: dict[str, float] = field(default_factory=dict)

    def copy(self) -> Made:
        """A copy to which parts can be added."""
        of = {sort: dict(own) for sort, own in self.of.items()}
        return Made(of, dict(self.starts), dict(self.angles), dict(self.rates))

    @property
    def parts(self) -> Parts:
        """All parts."""
        return Parts(**{sort: tuple(own.values()) for sort, own in self.of.items()})

    @property
    def y(self) -> Floats:
        """The states that bodies were given, (13 bodies,)."""
        return np.concatenate(list(self.starts.values()))


@checked_class
class PartsBuilder:
    """Adds bodies, joints, drivers, motors, loads, forces, limits, contacts and shapes, each checked."""

    def _begin(self, axes: Axes) -> None:
        is_global(axes, axes, "builder")
        self.axes: Axes = axes
        self._made = Made()

    @property
    def _of(self) -> dict[str, dict[Any, Any]]:
        """``Made.of``."""
        return self._made.of

    @property
    def _states(self) -> dict[str, Floats]:
        """States of the ground and of the bodies, (13,) by name."""
        return {GROUND: _GROUND_STATE} | self._made.starts

    def _global_states(self, axes: Axes | None, what: str) -> dict[str, Floats] | None:
        """These states where data are in global axes; None where they are in axes of the bodies."""
        return self._states if is_global(axes, self.axes, what) else None

    def body(
        self,
        name: str,
        *,
        mass: float,
        inertia: ArrayLike,
        r: ArrayLike = ORIGIN,
        p: Any = UPRIGHT,
        v: ArrayLike = ORIGIN,
        omega: ArrayLike = ORIGIN,
        inertia_axes: Axes = "body",
        free: bool = False,
        guess: bool = False,
    ) -> None:
        """Add a rigid body.

        Parameters
        ----------
        name : str
        mass : float [kg]
        inertia : (3,) or (3, 3) [kg m^2]
            About the centre of mass: principal moments, or the symmetric matrix; off-diagonal entries are negative products
            of inertia, such as -integral x y dm.
        r : (3,) [m]
            Centre of mass in global axes in the reference configuration.
        p : (4,), (3, 3), or scipy.spatial.transform.Rotation
            Orientation there: Euler parameters, scalar first, of unit length; the rotation matrix from body to global axes; or a
            rotation of SciPy.
        v, omega : (3,) [m/s], [rad/s]
            Initial velocities in global axes.
        inertia_axes : "body" or "global"
            Axes of the inertia: those of the body, or the global ones at the reference pose.
        free : bool
            The body may float: it need not be connected to the ground.
        guess : bool
            Its pose and velocities are a first guess: ``build`` moves it before bodies that are placed exactly, any distance and
            without a warning.

        Raises
        ------
        ModelError
        """
        self._of["bodies"][name], self._made.starts[name] = build_body(
            name, self._of["bodies"], mass, inertia, r=r, p=p, v=v, omega=omega, inertia_axes=inertia_axes, free=free,
            guess=guess,
        )  # fmt: skip

    def joint(
        self,
        name: str,
        kind: str | ModuleType,
        body_i: str,
        body_j: str,
        *,
        axes: Axes | None = None,
        **values: ArrayLike,
    ) -> None:
        """Add a joint between two bodies.

        Parameters
        ----------
        name : str
        kind : str or module
            Name of a definition in ``codegen/joints.py``, or what ``codegen.compile_joint`` returned.
        body_i, body_j : str
            Names of the bodies, or "ground".
        axes : "body" or "global", optional
            Axes of points and directions.  Default: those of the builder.
        **values
            The arguments of the definition: points ``s_*`` (3,) [m], directions (3,) and constants.  In axes of the bodies:
            points from the centre of mass, directions of unit length.  In global axes: coordinates at the reference pose,
            directions of any length; ``point`` gives s_i and s_j at once, ``axis`` a_i and a_j (of a driver: h_i).

        Raises
        ------
        ModelError
        """
        self._connect("joint", name, kind, (body_i, body_j), axes, values)

    def driver(
        self,
        name: str,
        kind: str | ModuleType,
        body: str,
        other: str = GROUND,
        *,
        axes: Axes | None = None,
        **values: Any,
    ) -> None:
        """Add a driver, which guides a body by prescribed signals of time.

        Source: Rodrigues da Silva et al. (n.d.), section 6.

        Parameters
        ----------
        name : str
        kind : str or module
            Name of a definition in ``codegen/drivers.py``, or what ``codegen.compile_joint`` returned: "guided_point",
            "guided_orientation", "guided_cardan", "guided_angle", "guided_link", "guided_distance", "guided_slide"; as
            printed in the paper, with singular configurations: "euler_parameter", "cosine_of_angle", "cosine_of_link".
        body, other : str
            Bodies i and j of the definition; ``other`` is the ground where the definition has one body only.
        axes : "body" or "global", optional
            As for a joint.
        **values
            The arguments of the definition, as for a joint, and its signals ``*_t``: a ``runtime.Signal`` or a number each.

        Raises
        ------
        ModelError
        """
        self._connect("driver", name, kind, (body, other), axes, values)

    def _connect(
        self, sort: str, name: str, kind: str | ModuleType, ends: tuple[str, str], axes: Axes | None, values: Any
    ) -> None:
        """Add a joint or driver (``sort``)."""
        checked_name(name, sort, self._of["joints"])
        module = definition(sort, name, kind)
        if bool(module.SIGNALS) != (sort == "driver"):
            driven = f"driven by {', '.join(module.SIGNALS)}; add it with Builder.driver"
            said = driven if module.SIGNALS else "has no signal to drive it; add it with Builder.joint"
            raise ModelError(f"{sort} '{name}' ({module.NAME}): {said}")
        states = self._global_states(axes, f"{sort} '{name}'")
        self._of["joints"][name] = connection(sort, name, module, *ends, values, self._made.starts, states)

    def __getattr__(self, name: str) -> Any:
        raise no_attribute(f"'{type(self).__name__}' object", name, dir(self))

    def initial_coordinates(self, joint: str, *, rates: Mapping[str, float] | None = None, **values: float) -> None:
        """Start a joint at other coordinates than those of the reference pose, where they are 0.

        Points, axes, limits and constants that joints hold remain those of the reference pose, which ``body`` gave.

        Parameters
        ----------
        joint : str
        rates : mapping, optional
            Initial rates by the names of coordinates [rad/s], [m/s]; default: those of the bodies' velocities.
        **values : float
            Coordinates by name [rad], [m], such as ``theta_i=0.2``; ``System.joint_motions`` lists those of each joint.

        Raises
        ------
        ModelError
        """
        if joint not in self._of["joints"]:
            raise unknown_name(joint, self._of["joints"], "joint", whose="initial_coordinates: ")
        for what, of_what, into in (("angle", values, self._made.angles), ("rate", rates or {}, self._made.rates)):
            for name, value in of_what.items():
                own = f"{joint}.{name}"
                if own in into:
                    raise ModelError(
                        f"{what} '{own}' = {shown(value)}: it was given as {into[own]:g} before; give it once"
                    )
                into[own] = finite_number(value, f"{what} '{own}'")

    def coupling(
        self, name: str, follower: str, leader: str | Sequence[str], law: Any, *, straight: bool = True
    ) -> None:
        """Have a coordinate of a joint follow others: follower = law(leader), or law(leader, leader, ...).

        Systems with couplings run in joint coordinates.  In the initial state followers are where their leaders put them.

        Parameters
        ----------
        name : str
        follower : str
            Coordinate of a turn or slide, such as "knee.distance" [rad], [m]; 0 in the reference pose, as in ``angles``.
        leader : str or sequence of str
            Likewise; up to six.
        law : float, sequence, Signal, or SumOfProducts
            A ratio; one to six coefficients of powers of the leader, lowest first; a spline, ``Signal.spline(leader,
            follower)``; or a function of one or several leaders, ``runtime.SumOfProducts``.
        straight : bool
            A spline goes on straight beyond its points, with the slope of its end; False: with its first and last polynomial.

        Raises
        ------
        ModelError
        """
        self._of["couplings"][name] = build_coupling(
            name, follower, leader, law, self._of["joints"], self._of["couplings"], straight=straight
        )

    def armature(self, coordinate: str, inertia: float) -> None:
        """Add the inertia of a rotor along a coordinate of a joint.  Systems with armature run in joint coordinates.

        Parameters
        ----------
        coordinate : str
            A turn or slide, such as "knee.angle"; ``System.joint_motions`` lists those of each joint.
        inertia : float [kg m^2], along a slide [kg]
            Moment of inertia of the rotor times the square of the gear's ratio: its energy is half this times the squared rate.

        Raises
        ------
        ModelError
        """
        self._of["armatures"][coordinate] = build_armature(
            coordinate, inertia, self._of["joints"], self._of["armatures"]
        )

    # Long by its signature and docstring.
    def orthosis(
        self,
        name: str,
        leg: str,
        foot: str,
        *,
        stiffness: Sequence[Any],
        damping: ArrayLike = ORIGIN,
        neutral: ArrayLike = ORIGIN,
        mass: ArrayLike = 0.0,
        plate: ArrayLike = ORIGIN,
        cuff: ArrayLike = ORIGIN,
        length: float = 0.2,
        hinge: Mapping[str, Any] | None = None,
        straps: Mapping[str, Any] = NONE,
        anterior: ArrayLike = (1.0, 0.0, 0.0),
        up: ArrayLike = (0.0, 0.0, 1.0),
        side: Literal["right", "left"] = "right",
        axes: Axes | None = None,
        check_units: bool = True,
    ) -> None:
        """Add an orthosis between leg and foot: a spring and damper about each of three axes of the leg, and a mass on the foot.

        The forces ``NAME_dorsiflexion``, ``NAME_inversion`` and ``NAME_rotation`` are of the kind "hinge_spring": the first and
        the third measure the foot's long axis in the sagittal and in the transverse plane of the leg, the second the foot's
        mediolateral axis in the frontal plane.  Angles are zero in the reference configuration; dorsiflexion, inversion and
        internal rotation of the foot are positive.  ``runtime.parameters`` names the data: "stiffness.NAME_inversion",
        "reverse_stiffness.NAME_inversion", "damping.NAME_inversion", "free_angle.NAME_inversion", "mass.NAME".

        With a ``hinge`` the orthosis is a mechanism of its own: a plate, the body ``NAME``, and a cuff, ``NAME_cuff``, which the
        joint ``NAME_hinge`` joins.  Its springs are about the axes of the hinge.  ``straps`` fasten the cuff to the leg: a rigid
        cuff would be locked wherever the hinge does not coincide with the ankle, as two hinges in parallel are.

        Parameters
        ----------
        name : str
            With a mass also of the body, which is fixed to the foot by the joint ``NAME_plate``.
        leg, foot : str
            Names of bodies.
        stiffness : three entries
            About the axes of dorsiflexion, inversion and rotation, each one of: a number [N m/rad]; a pair, of dorsiflexion and
            plantarflexion, inversion and eversion, internal and external rotation (force "two_way_spring"); points (n, 2) of
            angle from ``neutral`` [rad] and resisting moment [N m] with the angle's sign, as a bench test gives them
            ("tabulated_hinge_spring"); a law of your own, ``{"law": codegen.compile_force(definition), ...}`` with its
            parameters, whose directions are a_i, b_i, c_j of "hinge_spring", or the name of such a force as ``law``.
        damping : (3,) [N m s/rad]
            About the same axes.
        neutral : (3,) [rad]
            Angles at which the orthosis exerts no moment.
        mass : float or (2,) [kg]
            Of a homogeneous plate; 0 adds no body.  With a hinge two: of the plate and of the cuff, a thin ring.
        plate : (3,) [m]
            Centre of the plate, from the foot's centre of mass in axes of the foot.
        cuff : (3,) [m]
            Centre of the cuff, from the leg's centre of mass in axes of the leg.
        length : float [m]
            Of the plate, to which the drawing, and the radius of the cuff, are scaled.
        hinge : mapping, optional
            "point" and "axis" (3,): a hinge of one axis.  Two axes (2, 3), of dorsiflexion on the cuff and of inversion on the
            plate: a universal joint through one point, or two points (2, 3) with a link between them.  Points from the leg's
            centre of mass [m], axes of any length and either sense, in ``axes`` at the reference pose.  A motion without an axis
            takes the stiffness 0.
        straps : mapping
            "cuff" and, unless the plate is to be fixed rigidly, "plate": mappings with "stiffness" (6,) along [N/m] and about
            [N m/rad] the anterior, medial and upward direction at the centre of cuff or plate, "damping" (6,) and "bands", a
            list with the keywords of the force "cable" each, for straps that only pull: s_i on leg or foot, s_j on cuff or plate,
            from their centres of mass in their own axes [m], stiffness [N/m], slack_length [m].  Forces ``NAME_cuff_strap``,
            ``NAME_plate_strap`` ("frame_bushing"), ``NAME_cuff_strap_1`` and so on.
        anterior, up : (3,)
            Directions of the leg, of any length.
        side : "right" or "left"
        axes : "body" or "global", optional
            Of ``anterior``, ``up`` and ``hinge``: those of the leg, or global ones at the reference pose.  Default: of the
            builder.
        check_units : bool
            Warn of stiffnesses, angles, masses and lengths that no orthosis has, and of a curve that falls or is not 0 at 0.

        Raises
        ------
        ModelError
        """
        made = self._made
        self._made = made.copy()
        try:
            add_orthosis(
                self, name, leg, foot, self._states, stiffness=stiffness, damping=damping, neutral=neutral, mass=mass,
                plate=plate, cuff=cuff, length=length, hinge=hinge, straps=straps, anterior=anterior, up=up, side=side,
                in_global_axes=is_global(axes, self.axes, f"orthosis '{name}'"), check_units=check_units,
            )  # fmt: skip
        except BaseException:
            self._made = made  # all of an orthosis or nothing
            raise

    def motor(
        self,
        name: str,
        kind: str | ModuleType | None = None,
        body: str | None = None,
        other: str = GROUND,
        *,
        coordinate: str | None = None,
        effort: Signal | float = 0.0,
        stiffness: float = 0.0,
        damping: float = 0.0,
        target: Signal | float | None = None,
        axes: Axes | None = None,
        **values: Any,
    ) -> None:
        """Add a motor, a moment on a coordinate: a prescribed effort, and a spring and a damper towards a target.

        The moment is effort - stiffness (angle - target) - damping (angle' - target').  It acts between the two bodies, about
        the axis of the driver of the same kind.

        The coordinate is that of a joint, ``motor("knee_motor", coordinate="knee.angle", effort=2.0)``, or that of a driver with
        bodies and vectors of its own.

        Parameters
        ----------
        name : str
        kind : str or module, optional
            A driver that guides one coordinate: "guided_angle", "guided_link", "guided_distance", "guided_slide", or one of your
            own.
        body, other : str, optional
            See ``driver``.
        coordinate : str, optional
            Turn or slide of a joint, such as "knee.angle", in place of kind, bodies and vectors.  It has the sign and the zero of
            ``run.angles``; axes and points follow from the joint.
        effort : Signal or float [N m], or [N] where the coordinate is a length
            Positive where it increases the coordinate.  A number is the parameter "effort.NAME".
        stiffness : float [N m/rad], [N/m]
        damping : float [N m s/rad], [N s/m]
        target : Signal or float [rad], [m], optional
            With ``coordinate``; default: 0.  The spring of an angle counts revolutions.
        axes : "body" or "global", optional
            Axes of the vectors, as for joints.
        **values
            The vectors of the driver, and its signal as the target; without stiffness and damping the target may be left out.

        Raises
        ------
        ModelError
            For a coordinate that is no turn or slide, and one that no driver guides alone.
        """
        checked_name(name, "motor", self._of["motors"])
        what, gains = f"motor '{name}'", dict[str, Any](effort=effort, stiffness=stiffness, damping=damping)
        if coordinate is not None:
            given = {"kind": kind, "body": body, "axes": axes, **values}
            if more := [key for key, value in given.items() if value is not None]:
                raise ModelError(
                    f"{what}: coordinate = {shown(coordinate)} and {', '.join(more)}; give one or the other"
                )
            self._of["motors"][name] = build_motor_on(
                name, coordinate, self._of["joints"], self._states, target=0.0 if target is None else target, **gains
            )
            return
        if kind is None or body is None:
            raise ModelError(f"{what}: give coordinate, or kind, body and the vectors of a driver")
        if target is not None:
            raise ModelError(f"{what}: target is for coordinate; give the signal of the driver")
        self._of["motors"][name] = build_motor(
            name, kind, body, other, self._made.starts, values=values, states=self._global_states(axes, what), **gains
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
        checked_name(name, "load", self._of["loads"])
        self._of["loads"][name] = build_load(
            name, body, self._made.starts, force=force, moment=moment, point=point, axes=axes,
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
        damping: float = 0.0,
        direction: ArrayLike | None = None,
        law: Literal["conservative", "as_published"] | ModuleType = "conservative",
        axes: Axes | None = None,
        **parameters: float,
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
        damping : float [N m s]
            Moment per rate [rad/s] of the hinge, or per relative angular velocity where there is no hinge.
        direction : (3,), optional
            Unit vector of the moving body that stays in the cone, in axes of this body.  Default for revolute and cylindrical
            joints: the direction along zeta in the reference configuration.
        law : "conservative", "as_published" or module
            The moment with a potential, or the moment as printed in Rodrigues da Silva et al. (2024b), Eqs. (32)-(33), whose
            work around a closed loop is not zero where the cone is irregular; or what ``codegen.compile_limit`` returned.
        **parameters : float
            max_moment [N m], the moment at the end of the compliance, which it keeps beyond; compliance [rad], the excess there;
            and the parameters of an own law by name.  A law of the excess itself gives the moment, without max_moment.
        axes : "body" or "global", optional
            "global": xi, eta and direction are in global axes at the reference pose, of any length.  Default: of the builder.

        Raises
        ------
        ModelError
        """
        checked_name(name, "limit", self._of["limits"])
        if not isinstance(joint, str) or joint not in self._of["joints"]:
            raise unknown_name(joint, self._of["joints"], "joint", whose=f"limit '{name}': ")
        self._of["limits"][name] = build_limit(
            name, self._of["joints"][joint], self._states, reference=reference, xi=xi, eta=eta, cone=cone, direction=direction,
            law=law, global_axes=is_global(axes, self.axes, f"limit '{name}'"), parameters={"damping": damping, **parameters},
        )  # fmt: skip

    # Long by its signature and docstring.
    def contact(
        self,
        name: str,
        body: str,
        *,
        centre: ArrayLike,
        radius: float,
        sphere_share: float = 0.0,
        law: str | ModuleType = "",
        friction: str | ModuleType | None = None,
        plane: str = GROUND,
        point: ArrayLike = (0.0, 0.0, 0.0),
        normal: ArrayLike = (0.0, 0.0, 1.0),
        belt: ArrayLike | None = None,
        belt_speed: Signal | float = 0.0,
        transition_velocity: float | None = None,
        min_impact_speed: float = 1e-2,
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
        sphere_share : float [1]
            Share of the penetration by which the sphere yields, and the plane by the rest: the forces act there.  Default: 0, at
            the sphere's lowest point.
        law : str or module
            Law of the normal force, with its parameters as keywords: what ``codegen.compile_contact`` returned, or
            "kelvin_voigt" (stiffness [N/m^exponent], exponent,
            damping [N s/m]), "hertz" (stiffness [N/m^1.5]), "hunt_crossley" (stiffness, exponent, loss [s/m]),
            "lankarani_nikravesh" and "flores" (stiffness, exponent, restitution).  A force that would pull is zero.
        friction : str or module, optional
            Likewise; "coulomb" or "smooth" (mu_c [1], mu_d [N s/m]); "sticking" (mu_s [1], mu_c, mu_d, fading [m/s]);
            "stribeck" (mu_s, mu_c, mu_v [s/m]).
        plane : str
            A body, or "ground".
        point : (3,) [m]
            Point of the plane, from the centre of mass of its body, in axes of the body; for the ground in global coordinates.
        normal : (3,)
            Unit normal of the plane, towards the sphere, in the same axes.
        belt : (3,), optional
            Unit vector in the plane, the direction of motion of a belt.
        belt_speed : Signal or float [m/s]
        transition_velocity : float [m/s], optional
            Slip at which the "coulomb", "sticking" and "stribeck" friction reach their full force; slip below which the "smooth"
            friction is much smaller.  Default: 1e-3; 1e-9 of "sticking", which needs an implicit method such as "radau".
        min_impact_speed : float [m/s]
            Lower bound of the impact speed in the two laws whose damping depends on it.
        axes : "body" or "global", optional
            "global": centre and point are global coordinates at the reference pose, normal and belt global directions of any
            length.  Default: of the builder.

        Raises
        ------
        ModelError
        """
        checked_name(name, "contact", self._of["contacts"])
        self._of["contacts"][name] = build_contact(
            name, body, list(self._made.starts), centre=centre, radius=radius, sphere_share=sphere_share, law=law,
            friction=friction, plane=plane, point=point, normal=normal, belt=belt,
            belt_speed=belt_speed, transition_velocity=transition_velocity, min_impact_speed=min_impact_speed,
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
        checked_name(name, "force", self._of["forces"])
        bodies = [body_i, body_j, *(body for body in (body_k, body_l) if body is not None)]
        states = self._global_states(axes, f"force '{name}'")
        owner = self._of["joints"].get(joint, joint) if isinstance(joint, str) else joint
        self._of["forces"][name] = build_force(
            name, kind, bodies, values, self._made.starts, states=states, joint=owner
        )

    def muscle(
        self, name: str, law: str | ModuleType, path: Sequence[Any], *, excitation: Signal | float,
        reflex: str | ModuleType | None = None, delay: float = 0.0, tendon: Literal["elastic", "rigid"] = "elastic",
        axes: Axes | None = None, **constants: float,
    ) -> None:  # fmt: skip
        """Add a muscle: a law of its force along a path of points and wraps, which is a force with the states of the law.

        Parameters
        ----------
        name : str
            Of the force: ``run.forces[name]`` has length, tension and all that the law reports.
        law : str or module
            Name of a law in ``codegen/muscles.py``, or what ``codegen.compile_muscle`` returned.
        path : sequence
            From origin to insertion, over up to four bodies: points ``(body, location)`` [m], the body "ground" included, and
            between two points a wrap ``(kind, body, values)``, such as a cylinder with the values of its definition in
            ``codegen/paths.py``; of two cylinders ``("two_cylinders", (body, body), values)``.  A point that an angle moves, or
            takes out of the path, is ``(kind, (body, body_j, body_k), values)``, with the kinds of ``codegen/points.py``.
        excitation : Signal or float
            From 0 to 1.  A number is the parameter "excitation.NAME".
        reflex : str or module, optional
            Name of a reflex in ``codegen/reflexes.py``, or what ``codegen.compile_reflex`` returned, which adds to the excitation
            by length and lengthening speed of the muscle; the sum is bounded to 0 and 1.
        delay : float [s]
            After which the reflex acts, the parameter "delay.NAME".  Before the start of a run the muscle was at rest with its
            initial length.  ``runtime.simulate`` and ``simulate_many`` know delays.
        tendon : "elastic" or "rigid"
            A rigid tendon keeps its slack length, so that the length of the fibre is no state.
        axes : "body" or "global", optional
            Axes of points and directions, as for forces.
        **constants
            Of the law and the reflex, by name.  ``STATE_0`` is the initial value of a state, such as activation_0.  By default
            muscles begin in equilibrium at rest, as ``runtime.system.in_equilibrium`` makes them: the activation is the
            excitation at the start, and a tendon balances its fibre.

        Raises
        ------
        ModelError
        """
        checked_name(name, "muscle", self._of["forces"])
        states = self._global_states(axes, f"muscle '{name}'")
        self._of["forces"][name] = build_muscle(
            name, law, path, excitation, constants, self._made.starts, states, rigid=tendon == "rigid", reflex=reflex,
            delay=delay,
        )  # fmt: skip

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
        self.add_shapes([build_shape(body, kind, self._made.starts, values, colour, label, states)])

    def frame(self, name: str, body: str, *, s: ArrayLike = ORIGIN, p: Any = UPRIGHT, axes: Axes | None = None) -> None:
        """Add a frame fixed in a body, for poses, Jacobians and accelerations of ``runtime.mechanics``; the motion ignores it.

        Parameters
        ----------
        name : str
        body : str
            Name of the body, or "ground".
        s : (3,) [m]
            Its origin.  Default: the centre of mass, or with global axes the global origin.
        p : (4,), (3, 3), or scipy.spatial.transform.Rotation
            Its axes: Euler parameters, scalar first, or a rotation from axes of the frame to those of the body.
        axes : "body" or "global", optional
            Axes of s and p, as for joints.

        Raises
        ------
        ModelError
        """
        checked_name(name, "frame", self._of["frames"])
        states = self._global_states(axes, f"frame '{name}'")
        self._of["frames"][name] = build_frame(name, body, s, p, self._made.starts, states)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames that were added."""
        return tuple(self._of["frames"].values())

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes that bodies were given."""
        return tuple(self._of["shapes"].values())

    def add_shapes(self, shapes: Sequence[Shape]) -> None:
        """Give bodies shapes of another system, ``system.shapes``, whose bodies have the same names.

        Raises
        ------
        ModelError
        """
        for shape in shapes:
            refuse_unknown_body(shape.body, self._made.starts, "add_shapes")
        self._of["shapes"] |= dict(enumerate(shapes, len(self.shapes)))
