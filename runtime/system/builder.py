"""The builder of systems.  Every call checks its arguments; a call that raises an error leaves the builder unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import STATE
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import finite, finite_number
from runtime.support.errors import ModelError, shown, unknown_name, warn
from runtime.support.files import free_file, write_text
from runtime.system.adjustable import Adjust, checked_adjust
from runtime.system.armature import Armature, build_armature
from runtime.system.body_building import Placed, build_body
from runtime.system.connection import checked_name, connection, definition
from runtime.system.coupling import Coupling, build_coupling
from runtime.system.data_building import Parts
from runtime.system.global_axes import Axes, is_global
from runtime.system.load_builder import LoadBuilder
from runtime.system.model_reading import Model, read_model
from runtime.system.model_text import text_of
from runtime.system.model_writing import builder_document
from runtime.system.orientation import ORIGIN, UPRIGHT
from runtime.system.orthosis import OrthosisData, parts_of_orthosis
from runtime.system.parts import GROUND
from runtime.system.system import System
from runtime.system.system_building import build_system

GRAVITY = (0.0, 0.0, -9.81)


@checked_class
class Builder(LoadBuilder):
    """Collects bodies and joints; ``build`` checks, assembles and returns an immutable System.

    Parameters
    ----------
    name : str
        Name of the system, for messages and files.
    gravity : (3,) [m/s^2]
        Acceleration of free fall in global axes.
    axes : "body" or "global"
        Axes of points and directions in ``joint``, ``driver``, ``motor``, ``limit``, ``contact`` and ``force``; each call may
        choose its own.  "body": axes of the body, points from its centre of mass.  "global": global coordinates at the
        reference pose, the pose that ``body`` gave; points and directions are then fixed in their bodies.
    """

    def __init__(self, name: str = "system", *, gravity: ArrayLike = GRAVITY, axes: Axes = "body") -> None:
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise ModelError(f"system name {name!r}: use printable characters on one line")
        self.name = name
        self.gravity: ArrayLike = gravity
        self._checked_gravity: Floats | None = None
        self.gravity = self._fixed_gravity()
        self._angles: dict[str, float] = {}
        self._rates: dict[str, float] = {}
        self._couplings: dict[str, Coupling] = {}
        self._armatures: dict[str, Armature] = {}
        self._begin(axes)

    def _fixed_gravity(self) -> Floats:
        if (known := self._checked_gravity) is None or self.gravity is not known:  # the attribute may have been set
            self._checked_gravity = known = finite(self.gravity, (3,), "gravity")
            known.setflags(write=False)
        return known

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
        self._bodies[name] = build_body(
            name, self._bodies, mass, inertia, r=r, p=p, v=v, omega=omega, inertia_axes=inertia_axes, free=free,
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
        checked_name(name, "joint", self._joints)
        module = definition("joint", name, kind)
        if module.SIGNALS:
            raise ModelError(
                f"joint '{name}' ({module.NAME}): driven by {', '.join(module.SIGNALS)}; add it with Builder.driver"
            )
        states = self._global_states(axes, f"joint '{name}'")
        self._joints[name] = connection("joint", name, module, body_i, body_j, values, self._bodies, states)

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
            "guided_orientation", "guided_cardan", "guided_angle", "guided_link", "guided_distance"; as printed in the
            paper, with singular configurations: "euler_parameter", "cosine_of_angle", "cosine_of_link".
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
        checked_name(name, "driver", self._joints)
        module = definition("driver", name, kind)
        if not module.SIGNALS:
            raise ModelError(f"driver '{name}' ({module.NAME}): has no signal to drive it; add it with Builder.joint")
        states = self._global_states(axes, f"driver '{name}'")
        self._joints[name] = connection("driver", name, module, body, other, values, self._bodies, states)

    def angles(self, joint: str, *, rates: Mapping[str, float] | None = None, **values: float) -> None:
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
        if joint not in self._joints:
            raise unknown_name(joint, self._joints, "joint", whose="angles: ")
        for what, of_what, into in (("angle", values, self._angles), ("rate", rates or {}, self._rates)):
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
        self._couplings[name] = build_coupling(
            name, follower, leader, law, self._joints, self._couplings, straight=straight
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
        self._armatures[coordinate] = build_armature(coordinate, inertia, self._joints, self._armatures)

    # Long by its signature and docstring.
    def orthosis(
        self,
        name: str,
        leg: str,
        foot: str,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike = ORIGIN,
        neutral: ArrayLike = ORIGIN,
        mass: float = 0.0,
        plate: ArrayLike = ORIGIN,
        cuff: ArrayLike = ORIGIN,
        length: float = 0.2,
        anterior: ArrayLike = (1.0, 0.0, 0.0),
        up: ArrayLike = (0.0, 0.0, 1.0),
        side: Literal["right", "left"] = "right",
        axes: Axes | None = None,
    ) -> None:
        """Add an orthosis between leg and foot: a spring and damper about each of three axes of the leg, and a mass on the foot.

        The forces ``NAME_dorsiflexion``, ``NAME_inversion`` and ``NAME_rotation`` are of the kind "hinge_spring": the first and
        the third measure the foot's long axis in the sagittal and in the transverse plane of the leg, the second the foot's
        mediolateral axis in the frontal plane.  Angles are zero in the reference configuration; dorsiflexion, inversion and
        internal rotation of the foot are positive.  ``runtime.parameters`` names the data: "stiffness.NAME_inversion",
        "damping.NAME_inversion", "free_angle.NAME_inversion", "mass.NAME".

        Parameters
        ----------
        name : str
            With a mass also of the body, which is fixed to the foot by the joint ``NAME_plate``.
        leg, foot : str
            Names of bodies.
        stiffness, damping : (3,) [N m/rad], [N m s/rad]
            About the axes of dorsiflexion, inversion and rotation.
        neutral : (3,) [rad]
            Angles at which the orthosis exerts no moment.
        mass : float [kg]
            Of a homogeneous plate; 0 adds no body.
        plate : (3,) [m]
            Centre of the plate, from the foot's centre of mass in axes of the foot.
        cuff : (3,) [m]
            Centre of the cuff, which is drawn, from the leg's centre of mass in axes of the leg.
        length : float [m]
            Of the plate, to which the drawing is scaled.
        anterior, up : (3,)
            Directions of the leg, of any length.
        side : "right" or "left"
        axes : "body" or "global", optional
            Of ``anterior`` and ``up``: those of the leg, or global ones at the reference pose.  Default: of the builder.

        Raises
        ------
        ModelError
        """
        in_global_axes = is_global(axes, self.axes, f"orthosis '{name}'")
        given = OrthosisData(stiffness, damping, neutral, mass, plate, cuff, length, anterior, up, side, in_global_axes)
        for call in parts_of_orthosis(name, leg, foot, given, self._states, self._forces):
            getattr(self, call.method)(*call.given, **call.named)

    # Long by its signature and docstring.
    def build(
        self,
        *,
        redundant: Literal["keep", "refuse", "fit"] = "keep",
        project_velocities: bool | None = None,
        time: float = 0.0,
        adjust: Adjust = None,
        check_units: bool = True,
    ) -> System:
        """Check the system, assemble the initial configuration by the least change, and return the system.

        An ``AssemblyWarning`` says where the system is not as its data state it: a body was moved, a velocity changed, a closed
        loop is locked or has nearly dependent rows, axes point against each other; see ``System.assembly.remarks``.

        Parameters
        ----------
        redundant : "keep", "refuse" or "fit"
            Treatment of rows that repeat others, as in closed loops of hinges: "keep" satisfies all rows at any time and lists
            the redundant ones in ``System.redundant``; the reactions in such a loop are undetermined, and those of least norm
            are reported.  "refuse" raises an error that names them.
            "fit": the drivers overdetermine the motion, such as markers on a body, and ``runtime.kinematics`` meets them by
            least squares; such a system cannot be simulated.
        project_velocities : bool, optional
            True: make inconsistent initial velocities consistent by the least change.  False: refuse them.  Default: True for
            systems with drivers, which prescribe velocities, and with ``adjust``; else False.
        time : float [s]
            Time of the initial configuration, at which signals are evaluated.
        adjust : True, list of names, or mapping of names to accuracies, optional
            Data of joints that may give way, by the least change, so that closed loops of rounded data close in all poses of
            their motion: "l.rod", "s_j.hinge", "a_i.hinge" as in ``runtime.parameters``, or "hinge" for all data of a joint;
            True: all points, directions and lengths.  Accuracies [m], [rad] weigh the changes; default: 1 rad, and the longest
            lever arm.  ``System.assembly.adjustments`` lists the changes.
        check_units : bool
            Warn of lengths, masses, speeds and stiffnesses that no mechanism has, or that do not go with those of the other
            bodies, which were probably given in another unit.

        Raises
        ------
        ModelError, AssemblyError
            Naming bodies, joints and rows.
        """
        if redundant not in ("keep", "refuse", "fit"):
            raise ModelError(f"build: redundant = {redundant!r}; use 'keep', 'refuse' or 'fit'")
        if not self._bodies:
            raise ModelError(f"system '{self.name}' has no body; add one with Builder.body")
        start_time = finite_number(time, "build: time")
        return build_system(
            self.name, self._parts, self._fixed_gravity(), self._y, start_time, redundant, project_velocities,
            checked_adjust(adjust), check_units, dict(self._angles), dict(self._rates),
        )  # fmt: skip

    @property
    def _parts(self) -> Parts:
        """All that was added."""
        return Parts(
            tuple(placed.body for placed in self._bodies.values()),
            tuple(self._joints.values()),
            tuple(self._limits.values()),
            tuple(self._loads.values()),
            tuple(self._motors.values()),
            tuple(self._contacts.values()),
            tuple(self._forces.values()),
            tuple(self._shapes),
            tuple(self._couplings.values()),
            tuple(self._armatures.values()),
        )

    @property
    def _y(self) -> Floats:
        """The states that bodies were given, (13 bodies,)."""
        return np.concatenate([placed.start for placed in self._bodies.values()])

    def to_file(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the model to a file of JSON, from which ``from_file`` makes an equal builder; returns the file.

        Raises
        ------
        ModelError
            Where the builder has no body, the file exists, unless ``overwrite``, or cannot be written.
        """
        if not self._bodies:
            raise ModelError(f"system '{self.name}' has no body; add one with Builder.body")
        parts, y = self._parts, self._y
        value = builder_document(self.name, self._fixed_gravity(), self.axes, parts, y, self._angles, self._rates)
        return write_text(free_file(Path(file), overwrite), text_of(value))

    @classmethod
    def from_file(cls, file: str | Path, *, definitions: Sequence[ModuleType] = ()) -> Builder:
        """Return a builder with the model of a file that ``to_file`` or ``System.to_file`` wrote, or of one written by hand.

        An ``AssemblyWarning`` names definitions that have changed since the file was written.

        Parameters
        ----------
        file : path
        definitions : sequence of modules
            What ``codegen.compile_joint`` and ``codegen.compile_force`` returned, for the user's own definitions of the model.

        Raises
        ------
        ModelError
            Naming the file, the line, the part and the rule.
        """
        model = read_model(Path(file), definitions)
        if sentence := model.remark():
            warn(sentence)
        builder = cls(model.name, gravity=model.gravity, axes=model.document.value.get("axes", "body"))
        builder._fill(model)
        return builder

    def _fill(self, model: Model) -> None:
        parts, starts = model.parts, model.y.reshape(-1, STATE)
        self._bodies |= {b.name: Placed(b, start.copy()) for b, start in zip(parts.bodies, starts, strict=True)}
        self._joints |= {joint.name: joint for joint in parts.joints}
        self._limits |= {limit.name: limit for limit in parts.limits}
        self._loads |= {load.name: load for load in parts.loads}
        self._motors |= {motor.name: motor for motor in parts.motors}
        self._contacts |= {contact.name: contact for contact in parts.contacts}
        self._forces |= {force.name: force for force in parts.forces}
        self._shapes += parts.shapes
        self._angles |= model.angles
        self._couplings |= {one.name: one for one in parts.couplings}
        self._armatures |= {one.coordinate: one for one in parts.armatures}
        self._rates |= model.rates
