"""Right leg, main foot and toes; the ankle is a classical or a modified universal joint.

Bodies, joints and limits: Rodrigues da Silva et al. (2024c), Tables 1-4 (male, 71 kg, 1.77 m).  Axes of the ankle: Rodrigues
da Silva et al. (2024a), Eqs. (5)-(8), with the angles of Anderson and Pandy.  Below they are cited as (2024c) and (2024a).
x anterior, y medial, z up.  Dorsiflexion and inversion are positive; both hinge angles are zero in the neutral pose.  The papers
do not print the gravitational acceleration; 9.81 m/s^2 is used.  ``models.foot_sole`` states the ground under the sole,
``models.foot_leg`` how the leg is held and starts, ``models.foot_orthosis`` the orthosis, ``models.foot_ligaments`` ligaments,
``models.foot_muscles`` muscles.

A left foot is the mirror image of a right one: y is lateral there, and equal angles, rates and moments of the hinges belong to
mirrored motions.  The talocalcaneal joint of the papers is the subtalar joint of the keywords.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from models.foot_anatomy import (
    FOOT_LENGTHS,
    HEIGHT,
    HEIGHTS,
    KEPT,
    MASS,
    MASSES,
    PUBLISHED_SIZE,
    Ankle,
    Side,
    Size,
    check_axis_angles,
    check_range_of_motion,
    check_side,
    directions_of_talocalcaneal,
    directions_of_talocrural,
    size_of,
)
from models.foot_bones import TALOCRURAL_OF_LEG, add_bones
from models.foot_leg import Leg, Pose, Poses, leg_of, start_poses
from models.foot_ligaments import add_ligaments, ligament_values
from models.foot_muscles import add_muscles, muscle_values
from models.foot_orthosis import add_orthosis, orthosis_values
from models.foot_sole import DAMPING as SOLE_DAMPING
from models.foot_sole import DAMPINGS, MU_C, MU_D, STIFFNESSES, TRANSITION_VELOCITY, Friction, Ground, Shape
from models.foot_sole import STIFFNESS as SOLE_STIFFNESS
from models.rotations import about
from runtime import GROUND, Builder, Cone, ModelError, System
from runtime.support import DOWN, Usual, checked, finite, shown, usual
from runtime.support.arrays import Floats, crossed, read_only

LIMITS, PRESETS = (None, "elastic", "dissipative"), ("anatomical", "published")
EXPONENTIAL = "exponential"
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
USUAL_GROUND = Ground()
CLEARANCE = 0.05  # [m] below a free leg
LINK_LENGTH = 0.0417  # [m] height of the talus, (2024a) Section 6


class BodyValues(TypedDict):
    """Keywords of ``Builder.body``."""

    r: tuple[float, float, float]
    mass: float
    inertia: tuple[float, float, float]


# (2024c), Tables 1 and 2: centre of mass [m], mass [kg], principal moments of inertia [kg m^2].
BODIES: dict[str, BodyValues] = {
    "toes": dict(r=(0.2177, 0.0, 0.0367), mass=0.2051, inertia=(0.0001003, 0.0001003, 0.0002006)),
    "main_foot": dict(r=(0.0907, 0.0, 0.0562), mass=1.2000, inertia=(0.0013818, 0.0038337, 0.0037110)),
    "leg": dict(r=(0.0544, 0.0, 0.3513), mass=3.5100, inertia=(0.0477209, 0.0483791, 0.0048000)),
}
# (2024c), Table 3: local coordinates [m].
METATARSOPHALANGEAL = {"toes": (-0.0274, 0.0, -0.0185), "main_foot": (0.0996, 0.0, -0.0380)}
TALOCRURAL = {"leg": TALOCRURAL_OF_LEG}

# The same as arrays; the talocrural joint (3,) [m] in the neutral pose, where all frames are parallel.
_OF_BODIES = {name: (np.array(data["r"]), np.array(data["inertia"])) for name, data in BODIES.items()}
_BALL = {body: np.array(point) for body, point in METATARSOPHALANGEAL.items()}
_ON_LEG = np.array(TALOCRURAL["leg"])
_NEUTRAL = _OF_BODIES["leg"][0] + _ON_LEG

# Angles of the axes, projected on the cardinal planes [deg]: (2024a) Section 3.1, after Anderson and Pandy.
TALOCALCANEAL_TRANSVERSE_DEG, TALOCALCANEAL_SAGITTAL_DEG = 19.8, 35.3  # rho, theta
TALOCRURAL_TRANSVERSE_DEG, TALOCRURAL_FRONTAL_DEG = 6.0, 8.0  # epsilon, tau

# Joint limits, (2024c) Section 4: a cone about each hinge, given by its maximum latitudes at the longitudes 0, 90, 180 and
# 270 degrees; 1 degree where the hinge cannot reach.
UNREACHED_DEG = 1.0
DORSIFLEXION_DEG, PLANTARFLEXION_DEG = 20.0, 35.0
INVERSION_DEG, EVERSION_DEG = 35.0, 25.0
MAX_MOMENT = 226.0  # [N m]
COMPLIANCE = float(np.deg2rad(11.5))  # [rad]
SPRING, DAMPER = 12.0, 0.5  # [N m/rad], [N m s/rad] of sprung toes: Moreira et al. (2011), who print N/m and N s/m
# Passive moments of "hinge_exponential" [N m], [1/rad], [rad], zero in the neutral pose: Falisse et al. (2019), in the data of
# their programs (3dpredictsim, PassiveMomentsData.m: ankle and subt), which name Anderson and Pandy as their source.
PASSIVE: dict[str, dict[str, float]] = {
    "talocrural": dict(
        upper_moment=2.03, upper_rate=38.11, upper_angle=0.52, lower_moment=0.18, lower_rate=12.12, lower_angle=-0.74
    ),
    "talocalcaneal": dict(
        upper_moment=60.21, upper_rate=16.32, upper_angle=0.65, lower_moment=60.21, lower_rate=16.32, lower_angle=-0.65
    ),
}
DAMPING = 0.568  # [N m s] 0.008 N m s/kg times 71 kg, (2024c) Section 4


def talocalcaneal_frame(
    inclination_deg: float = TALOCALCANEAL_SAGITTAL_DEG,
    deviation_deg: float = TALOCALCANEAL_TRANSVERSE_DEG,
    *,
    side: Side = "right",
) -> Floats:
    """Unit vectors of the talocalcaneal limit in ``main_foot``: rows xi (the axis), eta (medial), zeta (up), (3, 3).

    Inversion turns the foot about the positive axis, which points anteriorly in a right and posteriorly in a left foot.
    Rodrigues da Silva et al. (2024c), Section 4.

    Parameters
    ----------
    inclination_deg, deviation_deg : float [deg]
        As ``subtalar_inclination_deg`` and ``subtalar_deviation_deg`` of ``build``.
    side : "right" or "left"
    """
    return directions_of_talocalcaneal(inclination_deg, deviation_deg, side).copy()


def talocrural_frame(
    inclination_deg: float = TALOCRURAL_FRONTAL_DEG,
    deviation_deg: float = TALOCRURAL_TRANSVERSE_DEG,
    *,
    side: Side = "right",
) -> Floats:
    """Unit vectors of the talocrural limit in ``leg``: rows xi (anterior), eta (the axis), zeta (down), (3, 3).

    Dorsiflexion turns the foot about the positive eta, which points laterally in a right and medially in a left foot.
    Rodrigues da Silva et al. (2024c), Section 4.

    Parameters
    ----------
    inclination_deg, deviation_deg : float [deg]
        As ``talocrural_inclination_deg`` and ``talocrural_deviation_deg`` of ``build``.
    side : "right" or "left"
    """
    return directions_of_talocrural(inclination_deg, deviation_deg, side).copy()


def talocalcaneal_axis(
    inclination_deg: float = TALOCALCANEAL_SAGITTAL_DEG,
    deviation_deg: float = TALOCALCANEAL_TRANSVERSE_DEG,
    *,
    side: Side = "right",
) -> Floats:
    """Unit vector of the talocalcaneal axis in the neutral pose, (3,), about which inversion is positive.

    Rodrigues da Silva et al. (2024a), Eqs. (5), (7).  Parameters: as of ``talocalcaneal_frame``.
    """
    axis: Floats = talocalcaneal_frame(inclination_deg, deviation_deg, side=side)[0]
    return axis


def talocrural_axis(
    inclination_deg: float = TALOCRURAL_FRONTAL_DEG,
    deviation_deg: float = TALOCRURAL_TRANSVERSE_DEG,
    *,
    side: Side = "right",
) -> Floats:
    """Unit vector of the talocrural axis in the neutral pose, (3,), about which plantarflexion is positive.

    Rodrigues da Silva et al. (2024a), Eqs. (6), (8).  Parameters: as of ``talocrural_frame``.
    """
    axis: Floats = -talocrural_frame(inclination_deg, deviation_deg, side=side)[1] + 0.0
    return axis


_RANGE_OF_MOTION = Usual(1.0, 90.0, "degrees", "a range of motion of the ankle")


# Above 60 lines: thirty-seven options, each documented with its source.
@checked
@usual(
    refuse=True,
    link_length=Usual(0.0, 0.1, "m", "the height of a talus"),
    gravity=Usual(1e-3, 300.0, "m/s^2", "gravity"),
    mass=Usual(*MASSES, "kg", "the mass of a person"),
    height=Usual(*HEIGHTS, "m", "the height of a person"),
    foot_length=Usual(*FOOT_LENGTHS, "m", "the length of a foot"),
    dorsiflexion_deg=_RANGE_OF_MOTION,
    plantarflexion_deg=_RANGE_OF_MOTION,
    inversion_deg=_RANGE_OF_MOTION,
    eversion_deg=_RANGE_OF_MOTION,
)
@usual(
    clearance=Usual(0.0, 1.0, "m", "the height of a foot above the ground"),
    posture_deg=Usual(0.0, 90.0, "degrees", "the posture of a leg"),
    ankle_deg=Usual(0.0, 60.0, "degrees", "an angle of the ankle"),
    velocity=Usual(0.0, 20.0, "m/s", "the speed of a foot"),
    incline_deg=Usual(0.0, 45.0, "degrees", "the incline of a ground"),
    mu_c=Usual(0.0, 2.0, "1", "a coefficient of friction"),
    sole_stiffness=STIFFNESSES,
    sole_damping=DAMPINGS,
    limit_compliance=Usual(0.01, 1.5, "rad", "the compliance of a limit of the ankle"),
)
def build(
    ankle: Literal["classical", "modified"] = "modified",
    *,
    side: Side = "right",
    subtalar_inclination_deg: float = TALOCALCANEAL_SAGITTAL_DEG,
    subtalar_deviation_deg: float = TALOCALCANEAL_TRANSVERSE_DEG,
    talocrural_inclination_deg: float = TALOCRURAL_FRONTAL_DEG,
    talocrural_deviation_deg: float = TALOCRURAL_TRANSVERSE_DEG,
    link_length: float | None = None,
    mass: float = MASS,
    height: float = HEIGHT,
    foot_length: float | None = None,
    limits: Literal["elastic", "dissipative"] | None = None,
    dorsiflexion_deg: float | None = None,
    plantarflexion_deg: float | None = None,
    inversion_deg: float | None = None,
    eversion_deg: float | None = None,
    preset: Literal["anatomical", "published"] = "anatomical",
    law: Literal["conservative", "as_published", "exponential"] | ModuleType = "conservative",
    law_parameters: Mapping[str, Any] | None = None,
    limit_compliance: float = COMPLIANCE,
    toes: Literal["locked", "free", "sprung"] = "locked",
    leg: Literal["fixed", "free"] | Mapping[str, Any] = "fixed",
    posture_deg: ArrayLike = (0.0, 0.0, 0.0),
    ankle_deg: ArrayLike = (0.0, 0.0),
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    ground: bool = False,
    sole: Shape = "normal",
    clearance: float | None = None,
    incline_deg: float = 0.0,
    descent_deg: float = -90.0,
    friction: Friction = "coulomb",
    mu_c: float = MU_C,
    mu_d: float = MU_D,
    transition_velocity: float = TRANSITION_VELOCITY,
    sole_stiffness: float = SOLE_STIFFNESS,
    sole_damping: float = SOLE_DAMPING,
    orthosis: str | Mapping[str, Any] | None = None,
    ligaments: bool | str | Mapping[str, Any] | Sequence[str] | None = None,
    muscles: bool | Mapping[str, Any] | None = None,
    gravity: ArrayLike = DOWN,
    check_units: bool = True,
) -> System:
    """Build the foot of Rodrigues da Silva et al. (2024a, 2024c), in the air or over a ground, with an orthosis or without.

    With fixed leg and locked toes it has two degrees of freedom.

    Parameters
    ----------
    ankle : "classical" or "modified"
        Universal joint centred at the talocrural joint, or massless link from the talocalcaneal to the talocrural joint.
    side : "right" or "left"
        A left foot is the mirror image of a right one in y, which is lateral then.  Dorsiflexion and inversion remain positive.
        Gravity is not mirrored.
    subtalar_inclination_deg : float [deg]
        Between the talocalcaneal axis and the anterior direction, projected on the sagittal plane (theta of 2024a); positive
        raises the anterior end.  Default 35.3 (2024a, after Anderson and Pandy); 20.5 to 68.5, mean 41 (Isman and Inman 1969).
    subtalar_deviation_deg : float [deg]
        Between the talocalcaneal axis and the anterior direction, projected on the transverse plane (rho of 2024a); positive
        turns the anterior end medially.  Default 19.8 (2024a); 4 to 47, mean 23 (Isman and Inman 1969).
    talocrural_inclination_deg : float [deg]
        Between the talocrural axis and the medial direction, projected on the frontal plane (tau of 2024a); positive raises the
        medial end.  Default 8 (2024a); -4 to 22, means 10 (Isman and Inman 1969) and 7.3 (Inman 1976).
    talocrural_deviation_deg : float [deg]
        Between the talocrural axis and the medial direction, projected on the transverse plane (epsilon of 2024a); positive
        turns the medial end anteriorly.  Default 6 (2024a); -9 to 21, mean 6 (Isman and Inman 1969).
    link_length : float [m], optional
        Of the modified joint: the height of the talus.  A change moves the talocalcaneal joint and leaves the talocrural joint in
        place (2024a, third analysis); 0 gives the classical joint.  Default: 0.0417 (2024a; 0.0417 +/- 0.0057 in 26 adults), in
        proportion to ``foot_length``.
    mass : float [kg]
        Of the whole person.  All masses and moments of inertia are in proportion to it, and so is the damping of the limits,
        0.008 N m s/kg (2024c).  Default 71 (2024c).
    height : float [m]
        Of the person.  The leg's lengths are in proportion to it, its moments of inertia to mass times height squared.
        Default 1.77 (2024c).
    foot_length : float [m], optional
        Heel to toe tip.  All lengths of main foot and toes, and the height of the ankle, are in proportion to it, their
        moments of inertia to mass times foot length squared.  Default: 0.27 (2024c), in proportion to ``height``.
    limits : None, "elastic" or "dissipative"
        Joint limits of both hinges, ``talocrural`` and ``talocalcaneal``, without or with damping.  Their cones follow the
        axes.  The moment of the limits, up to 226 N m over ``limit_compliance``, depends on neither mass nor size.
    dorsiflexion_deg, plantarflexion_deg, inversion_deg, eversion_deg : float [deg], optional
        Ranges of motion of the limits.  Default: 20, 35, 35, 25 (2024c), or those of ``preset``.
    preset : "anatomical" or "published"
        Without limits both give the same foot.  Anatomical: inversion up to 35 and eversion up to 25 degrees, as the text of
        (2024c) states, and the same damping, 0.568 N m s, on each hinge of either joint.  Published: the values behind the
        papers' results, which are the vector printed in (2024c), where inversion and eversion are exchanged; 0.284 N m s on
        each hinge of the modified joint; and for the classical joint one cone, ``talocrural``, about the downward direction
        of the foot, with 0.568 N m s on the relative angular velocity.  That cone is inferred: the papers print none, this
        one reproduces their text.
    law : "conservative", "as_published", "exponential" or module
        Of the restricting moment, see ``Builder.limit``; a module is what ``codegen.compile_limit`` returned.  "exponential" puts
        the force "hinge_exponential" on both hinges in place of the limits, under their names: it has no cone and acts along the
        whole range, with the damping of ``limits``.  Its constants are those of Falisse et al. (2019), after Anderson and Pandy.
    law_parameters : mapping, optional
        Of a module its parameters by name, and max_moment where it differs from (2024c).  Of "exponential" a
        mapping for each hinge, such as ``{"talocrural": {"upper_angle": 0.4}}``.
    limit_compliance : float [rad]
        Angle beyond its range over which the moment of each limit grows to its largest.  Default: 11.5 degrees (2024c).  Without
        meaning for "exponential".
    toes : "locked", "free" or "sprung"
        At the metatarsophalangeal hinge; the spring has 12 N m/rad, 0.5 N m s/rad (Moreira et al. 2011).
    leg : "fixed", "free" or mapping
        A free leg falls with the foot and needs a ground.  A mapping guides the leg: shifts of its centre of mass from the start
        "anterior", "medial", "up" [m] and turns "roll", "pitch", "yaw" [rad] beyond ``posture_deg``, each a ``runtime.Signal`` or
        a number; coordinates that are not given are held.
    posture_deg : (3,) [deg]
        Pitch (toes up), roll (medial border up) and yaw (toes medially) of leg and foot as one body at the start: Cardan angles,
        roll about the anterior axis, then pitch, then yaw about axes that turn along.
    ankle_deg : (2,) [deg]
        Dorsiflexion and inversion at the start.
    velocity : (3,) [m/s]
        Of a free leg with its foot at the start, global axes.
    ground : bool
        Put a plane under the sole, whose nine spheres (Moreira et al. 2011) touch it: contacts ``sphere_1`` .. ``sphere_9``.  The
        plane leads through the origin.  ``models.foot_ground`` is the paper's sagittal model.
    sole : "normal", "cavus" or "flat"
        Spheres in proportion to the foot; ``models.foot_sole.spheres``.
    clearance : float [m], optional
        Distance of the lowest sphere from the plane at the start.  Default: 0.05 below a free leg, else 0.
    incline_deg : float [deg]
        Inclination of the plane from the horizontal, between -90 and 90.
    descent_deg : float [deg]
        Direction in which the plane descends, from anterior towards medial: 0 anteriorly, 90 medially, -90 laterally, which
        inverts the foot.
    friction : "coulomb" or "smooth"
    mu_c, mu_d, transition_velocity : float [1], [N s/m], [m/s]
        Coefficients of Coulomb and of viscous friction, and transition velocity; see ``Builder.contact``.
    sole_stiffness, sole_damping : float [N/m^1.5], [N s/m]
        Of each sphere; law "kelvin_voigt" with the exponent 1.5.
    orthosis : str or mapping, optional
        Between ``leg`` and ``main_foot``: "flexible", "medium" or "stiff" (ends and middle of the ranges of Shuman and Russell
        Esposito 2021, ``models.foot_orthosis``), or keywords of ``Builder.orthosis``: stiffness (three numbers [N m/rad], pairs
        or curves), damping (3,) [N m s/rad], neutral (3,) [rad] about dorsiflexion, inversion and rotation, mass [kg], plate,
        cuff (3,) [m], length [m], hinge, straps.  The hinge may be given by the axes of the ankle: {"axes": 1 or 2, "shift": (3,)
        [m], "turn_deg": (3,)}, see ``models.foot_orthosis.hinge_by_axes``.
    ligaments : bool, str, sequence of str or mapping, optional
        Names of ``models.foot_ligaments.STRUCTURES``, or a mapping from names to mappings of changed values: stiffness [N/m],
        reference_strain [1], toe_strain [1], ... .  Values that no source states must be given.  True: those that need none; the
        plantar fascia with toes that move.
    muscles : bool or mapping, optional
        The twelve muscles across the ankle, whose names and groups are in ``models.foot_muscles.GROUPS``.
        A mapping has any of: law, a name or module of ``Builder.muscle``, by default "thelen_as_opensim", that of the data;
        tendon, "elastic" or "rigid"; co_activation, the excitation of all muscles, or a mapping from groups or muscles to numbers
        or signals, of which later ones count, 0.01 for others; reflex, a mapping of gain, delay [s] and other constants of a
        reflex, with its law ("lengthening_speed") and the groups or muscles that it acts on, of ("invertors", "evertors");
        strength, a factor on maximum isometric forces; constants of the law, by name, for all muscles.
    gravity : (3,) [m/s^2]
    check_units : bool
        Ask about values that this model cannot have, which were probably given in another unit, and about axes outside of the
        published ranges above, and warn of unlikely values of ground, posture, orthosis and ligaments.  False accepts them.

    Returns
    -------
    System
        Bodies ``toes``, ``main_foot``, ``leg``; joints ``metatarsophalangeal``, ``metatarsophalangeal_lock``, ``ankle``,
        ``ground``; limits ``talocrural`` and ``talocalcaneal``, or ``talocrural`` alone for the published classical joint; with
        "exponential" forces of these names.
        Sprung toes: motor ``toe_spring``; guided leg: drivers ``leg``, ``leg_turn``; orthosis: forces ``orthosis_dorsiflexion``,
        ``orthosis_inversion``, ``orthosis_rotation``, with a mass body ``orthosis`` and joint ``orthosis_plate``; with a hinge
        also body ``orthosis_cuff`` and joint ``orthosis_hinge``; ligaments and muscles: forces by their names.

    Raises
    ------
    ModelError
        For an unknown option, or options that contradict each other.
    """
    angles: dict[str, float] = dict(
        subtalar_inclination_deg=subtalar_inclination_deg, subtalar_deviation_deg=subtalar_deviation_deg,
        talocrural_inclination_deg=talocrural_inclination_deg, talocrural_deviation_deg=talocrural_deviation_deg,
    )  # fmt: skip
    motion = (dorsiflexion_deg, plantarflexion_deg, inversion_deg, eversion_deg)
    _check_options(ankle, link_length, limits, preset, law, law_parameters, limit_compliance, motion)
    check_range_of_motion(motion, limits)
    check_side("models.foot.build", side)
    check_axis_angles("models.foot.build", check_units, **angles)
    size = size_of(mass, height, foot_length)
    length = 0.0 if ankle == "classical" else LINK_LENGTH * size.foot if link_length is None else link_length
    frames = (
        directions_of_talocrural(talocrural_inclination_deg, talocrural_deviation_deg, side),
        directions_of_talocalcaneal(subtalar_inclination_deg, subtalar_deviation_deg, side),
    )
    plane = Ground(
        sole, friction, mu_c, mu_d, sole_stiffness, sole_damping, transition_velocity, incline_deg, descent_deg, side,
    )  # fmt: skip
    _check_ground(ground, clearance, plane)
    held = leg_of(leg, posture_deg, velocity, side, grounded=ground)
    ankle_start = np.deg2rad(finite(ankle_deg, (2,), "ankle_deg"))
    structures = ligament_values(ligaments, locked_toes=toes == "locked")
    of_muscles = muscle_values(muscles)
    b = Builder(_name(ankle, side, ground, orthosis, structures, of_muscles), gravity=gravity)
    foot = _turned_foot(frames, length, size, *ankle_start)
    _add_placed_bodies(b, size, held, foot, plane if ground else None, clearance)
    add_joints(b, frames, length, size, toes, held=held.how == "fixed")
    if limits is not None:
        limit = _Limits(
            frames, side, length > 0.0, limits == "dissipative", preset == "published", law, law_parameters or {},
            limit_compliance, size.mass,
        )  # fmt: skip
        limit.add(b, motion)
    if any(ankle_start):
        b.initial_coordinates("ankle", theta_i=-float(ankle_start[1]), theta_j=float(ankle_start[0]))
    if ground:
        plane.add(b, size)
    on_toes, ball, on_leg, talocrural = _points(size)
    axes, points = np.array([frames[0][1], frames[1][0]]), np.array([on_leg, on_leg - (0.0, 0.0, length)])
    joint = Ankle(axes, points, talocrural - _bodies(size)["main_foot"]["r"], size, side)
    if orthosis is not None:
        add_orthosis(b, size, side, joint, ankle_start, **orthosis_values(orthosis), check_units=check_units)
    add_ligaments(b, joint, structures, check_units=check_units)
    if of_muscles is not None:
        add_muscles(b, joint, {"main_foot": ball, "toes": on_toes}, of_muscles)
    add_bones(b, size, side)
    return b.build(check_units=check_units, time=held.time if held.coordinates else 0.0)


def _add_placed_bodies(
    b: Builder, size: Size, held: Leg, foot: Pose, ground: Ground | None, clearance: float | None
) -> None:
    """Add the bodies in the pose and with the velocity of the start, and the drivers of a guided leg."""
    bodies = _bodies(size)
    gap = (CLEARANCE if held.how == "free" else 0.0) if clearance is None else clearance

    def lift(poses: Poses) -> Floats:
        return np.zeros(3) if ground is None else (gap - ground.lowest(size, poses)) * ground.normal

    poses, place = start_poses(held, {name: data["r"] for name, data in bodies.items()}, foot, lift)
    v, omega = held.motion()
    for name, data in bodies.items():
        r, A = poses[name]
        posed = {} if np.array_equal(A, np.eye(3)) else dict(p=A)
        moving = dict(v=v + crossed(omega, r - poses["leg"][0]), omega=omega) if held.how != "fixed" else {}
        b.body(name, **data | dict(r=r, free=held.how == "free" and name == "leg", **posed, **moving))
    held.guide(b, place)


def _name(ankle: str, side: Side, ground: bool, orthosis: Any, ligaments: Any, muscles: Any) -> str:
    worn = (
        "" if orthosis is None else "with an orthosis",
        "with ligaments" if ligaments else "",
        "with muscles" if muscles else "",
    )
    parts = (f"{ankle} ankle", "over a ground" if ground else "", *worn)
    return f"{'left ' if side == 'left' else ''}foot, {', '.join(filter(None, parts))}"


def _check_ground(ground: bool, clearance: float | None, plane: Ground) -> None:
    """Refuse options of the ground where there is none, and a clearance that is not finite."""
    if clearance is not None and not np.isfinite(clearance):
        raise ModelError(f"clearance = {clearance!r} m must be a finite number")
    if ground or (clearance is None and plane[:-1] == USUAL_GROUND[:-1]):
        return
    keywords = {"shape": "sole", "stiffness": "sole_stiffness", "damping": "sole_damping"}
    given = {
        keywords.get(name, name): value
        for name, value in plane._asdict().items()
        if value != getattr(USUAL_GROUND, name)
    }
    given |= {} if clearance is None else {"clearance": clearance}
    name = next(name for name in given if name != "side")
    raise ModelError(f"{name} = {given[name]!r} applies to a foot on the ground only; give ground=True too")


def _turned_foot(
    frames: tuple[Floats, Floats], length: float, size: Size, dorsiflexion: float, inversion: float
) -> Pose:
    """What moves the foot to angles of the ankle [rad]: a shift (3,) after a rotation (3, 3)."""
    talocrural = _points(size)[3]
    talocalcaneal = talocrural - (0.0, 0.0, length)
    first, second = about(frames[1][0], inversion), about(frames[0][1], dorsiflexion)
    return talocrural + second @ (talocalcaneal - first @ talocalcaneal - talocrural), second @ first


def bodies_of(size: Size) -> dict[str, dict[str, Any]]:
    """Keywords of ``Builder.body`` of each body of a foot of this size, right or left: no centre of mass is beside the middle."""
    return {name: dict(data) for name, data in _bodies(size).items()}


@lru_cache(KEPT)
def _bodies(size: Size) -> dict[str, dict[str, Any]]:
    """``bodies_of``, with read-only arrays."""
    found: dict[str, dict[str, Any]] = {}
    for name, (r, inertia) in _OF_BODIES.items():
        leg = name == "leg"
        r = r + (size.foot - 1.0) * _NEUTRAL - (size.leg - 1.0) * _ON_LEG if leg else r * size.foot
        moments = read_only(size.inertia(name, inertia))
        found[name] = dict(r=read_only(r), mass=BODIES[name]["mass"] * size.mass, inertia=moments)
    return found


def _check_options(
    ankle: str, link_length: float | None, limits: str | None, preset: str, law: str | ModuleType,
    law_parameters: Mapping[str, Any] | None, compliance: float, motion: tuple[float | None, ...],
) -> None:  # fmt: skip
    """Refuse unknown options and options that contradict each other."""
    if ankle not in ("classical", "modified"):
        raise ModelError(f"ankle = {ankle!r}; use 'classical' or 'modified'")
    if ankle == "classical" and link_length not in (None, LINK_LENGTH, 0.0):
        raise ModelError(
            f"link_length = {link_length!r} m has no meaning for the classical ankle; use ankle='modified'"
        )
    for key, value, known in (("limits", limits, LIMITS), ("preset", preset, PRESETS)):
        if not (value is None or isinstance(value, str)) or value not in known:
            raise ModelError(f"{key} = {value!r}; use {', '.join(map(repr, known))}")
    if law_parameters is not None:
        _check_law_parameters(law, law_parameters)
    if law == EXPONENTIAL and (any(given is not None for given in motion) or compliance != COMPLIANCE):
        name = "limit_compliance" if compliance != COMPLIANCE else "a range of motion"
        raise ModelError(f"{name} has no meaning for law = 'exponential', which has no edge; leave it out")
    if limits is None and law != "conservative":
        raise ModelError(f"law = {shown(law)} applies to limits only; give limits='elastic' or 'dissipative' too")
    if limits is None and compliance != COMPLIANCE:
        raise ModelError(
            f"limit_compliance = {compliance:g} rad applies to limits only; give limits='elastic' or 'dissipative' too"
        )
    if link_length is not None and not 0.0 <= link_length < np.inf:
        raise ModelError(f"link_length = {link_length:g} m must be a finite length, not below 0 m")


def _check_law_parameters(law: str | ModuleType, given: Mapping[str, Any]) -> None:
    """Refuse parameters that a law does not have, such as those that other keywords give."""
    if isinstance(law, str) and law != EXPONENTIAL:
        raise ModelError(f"law_parameters = {shown(given)} has no meaning for law = {law!r}; leave it out")
    if isinstance(law, ModuleType) and getattr(law, "SORT", "") == "law":
        _refuse_unknown("law_parameters", given, (*law.PARAMETERS, *(("max_moment",) if law.RELATIVE else ())))
    for hinge, own in given.items() if law == EXPONENTIAL else ():
        if hinge not in PASSIVE:
            raise ModelError(f"law_parameters: unknown hinge {hinge!r}; use {' and '.join(PASSIVE)}")
        if not isinstance(own, Mapping):
            raise ModelError(f"law_parameters: {hinge} = {shown(own)}; give a mapping from names to values")
        _refuse_unknown(f"law_parameters: {hinge}", own, (*PASSIVE[hinge], "damping"))


def _refuse_unknown(what: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            keyword = {"compliance": "limit_compliance", "damping": "limits"}.get(name, "")
            elsewhere = f"; the keyword {keyword} decides the {name}" if keyword else ""
            raise ModelError(f"{what}: unknown {shown(name)}; the law takes {', '.join(known) or 'none'}{elsewhere}")


def add_joints(
    b: Builder,
    frames: tuple[Floats, Floats],
    length: float = LINK_LENGTH,
    size: Size = PUBLISHED_SIZE,
    toes: Literal["locked", "free", "sprung"] = "locked",
    *,
    held: bool = True,
) -> None:
    """Add the joints between ``toes``, ``main_foot``, ``leg`` and, of a leg that is held, the ground.

    ``frames``: ``talocrural_frame()``, ``talocalcaneal_frame()``.  An ankle whose link has the ``length`` 0 [m] is the classical
    one.
    """
    on_toes, ball, on_leg, talocrural = _points(size)
    b.joint("metatarsophalangeal", "revolute", "toes", "main_foot", s_i=on_toes, a_i=Y, s_j=ball, a_j=Y)
    if toes == "locked":
        # (2024c), Eq. (6), with perpendicular directions, for which the gradient of the row is largest.
        b.joint("metatarsophalangeal_lock", "constant_angle", "toes", "main_foot", a_i=X, a_j=Z)
    elif toes == "sprung":
        add_spring(b, "toe_spring", "main_foot", "toes")
    crural, calcaneal = frames
    talocalcaneal = talocrural - (0.0, 0.0, length) - _bodies(size)["main_foot"]["r"]
    ends: dict[str, Any] = dict(s_i=talocalcaneal, a_i=calcaneal[0], s_j=on_leg, a_j=-crural[1] + 0.0)
    if length > 0.0:
        b.joint("ankle", "modified_universal", "main_foot", "leg", l=length, **ends)
    else:
        b.joint("ankle", "universal", "main_foot", "leg", **ends)
    if held:
        b.joint("ground", "fixed", GROUND, "leg")


def add_spring(b: Builder, name: str, upper: str, lower: str) -> None:
    """Add a spring and damper to a hinge about y, positive where the lower body's anterior end rises."""
    b.motor(
        name, "guided_angle", upper, lower, a_i=X, h_i=(0.0, -1.0, 0.0), b_j=X, theta_t=0.0, stiffness=SPRING,
        damping=DAMPER,
    )  # fmt: skip


@lru_cache(KEPT)
def _points(size: Size) -> tuple[Floats, ...]:
    """Points of a foot, read-only: the ball in toes and main foot, the talocrural joint in the leg and in global coordinates."""
    leg = _ON_LEG * size.leg
    found = (_BALL["toes"] * size.foot, _BALL["main_foot"] * size.foot, leg, _bodies(size)["leg"]["r"] + leg)
    return tuple(map(read_only, found))


class _Limits(NamedTuple):
    """What decides the limits: frames of both hinges, side, link or none, damping, preset, law, its parameters, share of mass.

    ``compliance`` [rad]
    """

    frames: tuple[Floats, Floats]
    side: Side
    linked: bool
    damped: bool
    published: bool
    law: str | ModuleType
    parameters: Mapping[str, Any]
    compliance: float
    mass: float

    def add(self, b: Builder, motion_deg: tuple[float | None, ...]) -> None:
        """Add the limits of the ankle's motion, with the ranges of motion that are given."""
        (crural, calcaneal), unreached = self.frames, UNREACHED_DEG
        known = (INVERSION_DEG, EVERSION_DEG)
        preset = (DORSIFLEXION_DEG, PLANTARFLEXION_DEG, *(known[::-1] if self.published else known))
        dorsal, plantar, inversion, eversion = (
            own if given is None else given for own, given in zip(preset, motion_deg, strict=True)
        )
        full = DAMPING * self.mass
        damping = (full / 2 if self.published and self.linked else full) if self.damped else 0.0
        if self.law == EXPONENTIAL:
            self._add_moments(b, damping)
            return
        # A law of the excess gives the moment itself.
        largest = {"max_moment": MAX_MOMENT} if getattr(self.law, "RELATIVE", True) else {}
        common: dict[str, Any] = {"compliance": self.compliance, "law": self.law, **largest, **self.parameters}
        if self.published and not self.linked:
            # In the talocrural frame; longitude 90 degrees is eversion of a right foot and inversion of a left one, where eta is
            # medial.  The link of the modified joint points in this direction.
            sides = (eversion, inversion) if self.side == "right" else (inversion, eversion)
            b.limit(
                "talocrural", "ankle", reference="leg", xi=crural[0], eta=crural[1], direction=(0, 0, -1),
                cone=_cone(dorsal, sides[0], plantar, sides[1]), damping=damping, **common,
            )  # fmt: skip
            return
        for name, reference, (xi, eta, _), cone in (
            ("talocrural", "leg", crural, _cone(dorsal, unreached, plantar, unreached)),
            ("talocalcaneal", "main_foot", calcaneal, _cone(unreached, inversion, unreached, eversion)),
        ):
            b.limit(name, "ankle", reference=reference, xi=xi, eta=eta, cone=cone, damping=damping, **common)

    def _add_moments(self, b: Builder, damping: float) -> None:
        """Add passive moments along the whole range of both hinges; each turns the axis of the other one."""
        (_, crural, _), (calcaneal, _, _) = self.frames
        for name, upper, lower, axis, turned in (
            ("talocrural", "leg", "main_foot", crural, calcaneal),
            ("talocalcaneal", "main_foot", "leg", -calcaneal, crural),
        ):
            across = turned - turned.dot(axis) * axis
            own = {"damping": damping} | PASSIVE[name] | self.parameters.get(name, {})
            directions = dict(a_i=axis, b_i=across / np.linalg.norm(across), c_j=turned)
            b.force(name, "hinge_exponential", upper, lower, **directions, **own)


@lru_cache(KEPT)
def _cone(*latitudes_deg: float) -> Cone:
    """Elliptical cone with four maximum latitudes, at the longitudes 0, 90, 180 and 270 degrees."""
    return Cone.from_degrees((0, 90, 180, 270, 360), (*latitudes_deg, latitudes_deg[0]))
