r"""The printed equations of seed 004, foot and ground in contact, literally, with a verdict on each; and its tables.

As in ``registry``: each equation stands here as the text of its LaTeX source; as a function written sign by sign from it; and,
where it is wrong or lacks something, corrected.  ``test_registry_contact`` compares the three with each other, with the
generated kernels and with the runtime; ``test_registry_contact_data`` does so with the numbers.  The texts keep the font of
vectors, because the paper gives one letter to a vector and its length.  The first side of a function is what is true.

The paper says neither which way n points nor on which body its forces act.  Here n is the plane's normal to the side where the
sphere is, as in ``codegen.contacts``, and the body is the sphere's; ``test_no_normal_serves_all`` is about the other choice.

Symbols on top of those of ``registry``; i has the sphere, j the plane:

================  ==============================================================================================
``rC_i vC_i``     the sphere's centre C and its velocity;  ``rP_j vP_j``: a point P of the plane
``Q``             the sphere's lowest point, C - R n, where the force acts
``d d_n d_t``     from C to P, and its parts;  ``distance``: the length of d_n
``v``             velocity of the plane's point against the sphere's, both at Q;  ``v_n v_t``: its parts
``delta``         penetration;  ``delta_dot``: its rate;  ``slip``: of the sphere's point at Q against the plane's
``force_...``     on the sphere's body, by the runtime: elastic, normal (with the damper), friction
``F_n F_t``       sums over the spheres of a foot;  ``M_i M_j``: moments on main foot and toes about their centres of
                  mass;  ``O_i O_j``: about the origin, which is a point of the ground
================  ==============================================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from registry import Equation, equations_of_motion, equations_of_motion_unstabilised

SEED_004 = "004_44c430766e124a2f.txt"
NUMBERS = range(1, 23)

# The states at which the equations of a contact are taken.  All but the last have turning bodies.
APART, ON, NEARING, LEAVING, PULLED = "apart", "on the plane", "nearing", "leaving", "leaving fast"
DEEP, STRAIGHT = "centre below the plane", "without turns"
STATES = (APART, ON, NEARING, LEAVING, PULLED, DEEP, STRAIGHT)
IN_CONTACT = (NEARING, LEAVING, PULLED, DEEP, STRAIGHT)  # PULLED: so fast that law (11) would pull
WITH_FORCE = (NEARING, LEAVING, DEEP, STRAIGHT)
# The states of a foot on its nine spheres.
SPINNING, SLIDING = "spinning", "sliding"


@dataclass(frozen=True)
class ContactEquation(Equation):
    """One printed equation of seed 004."""

    verdict: Literal["holds", "slip", "misprint", "incomplete"] = "holds"  # incomplete: right where ``fails_in`` is not
    states: tuple[str, ...] = STATES  # where it is taken
    fails_in: tuple[str, ...] = ()  # where the printed form gives another value than what is true; elsewhere it holds


# Geometry, Eqs. (1)-(9)


def distance(m):
    return m.between, m.rP_j - m.rC_i


def normal_part(m):
    return m.d_n, (m.d.T @ m.n) * m.n


def tangential_part(m):
    return m.d_t, m.d - m.d_n


def penetration_printed(m):
    """Eq. (4): the length of d_n, which is as long below the plane as above it."""
    return m.delta, m.R_i - m.distance


def penetration(m):
    return m.delta, m.R_i + m.d.T @ m.n


def length_printed(m):
    """Eq. (5): the square of the length, and a product that is negative above the plane."""
    return m.distance, m.d_n.T @ m.d_n, m.d.T @ m.n


def length(m, left=()):
    square = m.d_n.T @ m.d_n
    return (
        m.distance,
        square if "square" in left else np.sqrt(square),
        m.d.T @ m.n if "sign" in left else np.abs(m.d.T @ m.n),
    )


def normal_velocity(m):
    return m.v_n, (m.v.T @ m.n) * m.n


def tangential_velocity(m):
    return m.v_t, m.v - m.v_n


def relative_velocity_printed(m):
    """Eq. (8): of the points C and P; the sphere turns about C, and the plane about P."""
    return m.v, m.vP_j - m.vC_i


def relative_velocity(m, left=()):
    v_j = m.vP_j if "turn of the plane" in left else m.vP_j + np.cross(m.w_j, m.Q - m.rP_j, axis=0)
    v_i = m.vC_i if "turn of the sphere" in left else m.vC_i + np.cross(m.w_i, m.Q - m.rC_i, axis=0)
    return m.v, v_j - v_i


def penetration_rate_printed(m):
    """Eq. (9): a norm, which tells no leaving from nearing."""
    return m.delta_dot, np.linalg.norm(m.v_n)


def penetration_rate(m):
    return m.delta_dot, m.v.T @ m.n


# Laws, Eqs. (10)-(14)


def elastic_force(m):
    return m.force_elastic, m.K * m.delta**m.m * m.n


def normal_force_printed(m):
    """Eq. (11): it pulls where the sphere leaves fast."""
    return m.force_normal, (m.K * m.delta**m.m + m.c * m.delta_dot) * m.n


def normal_force(m):
    return m.force_normal, max(0.0, m.K * m.delta**m.m + m.c * m.delta_dot) * m.n


def stiffness_printed(m):
    """Eq. (12): the radius of the plane, and 4 / (3 pi) to three digits."""
    return m.K, 0.424 * np.sqrt(m.R_j) / ((1 - m.nu_i**2) / (np.pi * m.E_i) + (1 - m.nu_j**2) / (np.pi * m.E_j))


def stiffness(m, left=()):
    radius = m.R_j if "R_j" in left else m.R_i
    factor = 0.424 if "0.424" in left else 4 / (3 * np.pi)
    return m.K, factor * np.sqrt(radius) / ((1 - m.nu_i**2) / (np.pi * m.E_i) + (1 - m.nu_j**2) / (np.pi * m.E_j))


def damping(m):
    return m.c, m.chi * m.delta**m.m


def friction_printed(m):
    """Eq. (14), with the velocity of Eq. (8), of the plane against the sphere: it drives the sphere."""
    return m.force_friction, -(m.mu_c * m.f_n + m.mu_d * m.v_t_length) * m.t


def friction(m):
    return m.force_friction, (m.mu_c * m.f_n + m.mu_d * m.v_t_length) * m.t


# Sums over the spheres, Eqs. (15)-(18)


def sum_of_normal_forces(m):
    return m.F_n, m.f_nk.sum()


def sum_of_tangential_forces_printed(m):
    """Eq. (16): the lengths of vectors that point everywhere."""
    return m.F_t, m.f_tk.sum()


def sum_of_tangential_forces(m):
    return m.F_t, np.linalg.norm(m.vectors_tk.sum(axis=0))


def pressure_x_printed(m):
    """Eq. (17): moments about two points that are not the origin."""
    return m.X_COP, -(m.M_yi + m.M_yj) / (m.F_ni + m.F_nj)


def pressure_x(m):
    return m.X_COP, -(m.O_yi + m.O_yj) / (m.F_ni + m.F_nj)


def pressure_y_printed(m):
    """Eq. (18): so too, and a sign."""
    return m.Y_COP, -(m.M_xi + m.M_xj) / (m.F_ni + m.F_nj)


def pressure_y(m, left=()):
    moment = m.M_xi + m.M_xj if "about the centres of mass" in left else m.O_xi + m.O_xj
    return m.Y_COP, (-moment if "sign" in left else moment) / (m.F_ni + m.F_nj)


# Equations of motion, Eqs. (19)-(22)


def constraints(m):
    return m.Phi, np.zeros_like(m.Phi)


def gamma(m):
    return m.gamma, -m.Phi_q_q_dot_q @ m.q_dot - m.Phi_tt - 2 * m.Phi_qt @ m.q_dot


ABOVE_ONLY = (
    "The length of d_n does not tell the sides of the plane apart: a centre at a height -h below it has the penetration R + h, "
    "and Eq. (4) gives R - h, a force that ends as the sphere sinks. Not idle: with K = 40 kN/m^1.5, five of the nine centres "
    "of Table 2 are below the ground when one foot carries the body (test_registry_contact_data). True with -d^T n for d_n."
)
THREE_SIDES = (
    "d_n^T d_n is the square of the length [m^2], and d^T n is below zero where the sphere is on the side to which n points, "
    "because d runs from C to P. Each of the two fails by itself. With n into the ground d^T n would be right, but then "
    "Eqs. (10) and (11) push the foot into the ground; no n serves all three (test_no_normal_serves_all)."
)
CENTRE = (
    "True of the points C and P, but Eqs. (6), (7) and (14) take it for the velocity of the surfaces. The points that touch are "
    "those at Q = C - R n: v_j + omega_j x (Q - r_j) - v_i - omega_i x (Q - r_i). The printed form gives a sphere that rolls "
    "the slip R omega and friction that it does not have, and one that spins on the spot none; and where the plane turns, its "
    "normal part is not the rate of the penetration either. Each turn fails by itself; right where neither body turns."
)
NORM = (
    "A norm has no sign. The rate of Eq. (4), corrected, is v^T n (with v of the plane against the sphere), below zero where "
    "the sphere leaves. With the norm, the damper of Eq. (11) gives on the way out what it took on the way in: the motion is its "
    "own reverse in time, the restitution is 1, and c, constant or by Eq. (13), damps nothing (test_a_norm_damps_nothing)."
)
ELASTIC = "The force on the sphere's body, with n to its side; on the ground it is the opposite. For centres above the plane too."
PULLING = (
    "Leaving faster than K delta^m / c, the sum is below zero: the ground would hold the foot. A contact has no such force, and "
    "the runtime ends it there. (The damper also jumps from 0 to c delta' at touch-down, which Eq. (13) avoids.)"
)
PLANE_RADIUS = (
    "j is the plane, whose radius is infinite, and with it K; the text below names R_i. 0.424 is 4 / (3 pi) = 0.42441 to three "
    "digits, 0.1 per cent too little. K = 4/3 sqrt(R_i) E*, in N/m^1.5, and for the exponent 1.5 only."
)
HYSTERESIS = (
    "With Eq. (11), f_n = K delta^m (1 + chi / K delta'): Hunt and Crossley's law, loss = 2 chi / (3 K). Here c is no constant, "
    "and chi has the unit N s/m^(1+m); the 300 N s/m of the text are a c, see the data."
)
DRIVING = (
    "By Eq. (8) the velocity is that of the plane against the sphere, so that minus t points where the sphere slips: on the "
    "sphere's body the printed force drives, with a power above zero. It is right on the plane's. And at rest t is 0 / 0: the "
    "law needs a creep speed. It is no force of a cone: where f_n vanishes, mu_d v_t stays."
)
ONE_PLANE = (
    "All normal forces have the direction of the one plane, so the length of their sum is that of their lengths."
)
LENGTHS = (
    "The length of a sum is not the sum of lengths: where the foot turns about the vertical, the spheres slip to several sides. "
    "Right where all slip to one. What acts is the sum of the vectors."
)
TRANSPORTED = (
    "With moments on the foot about the origin, M = r x F gives M_y = -x F_n on the plane z = 0, so the sign is right. But the "
    "text's moments are those 'of the transport of the contact forces' to the two centres of mass, and moments about two points "
    "have no sum that means anything. M_i + r_i x F_i is needed, with the whole force, not its normal part alone."
)
TRANSPORTED_Y = (
    "M_x = y F_n on the plane z = 0, so Y = + (M_xi + M_xj) / (F_ni + F_nj). The two printed signs cannot both be right: if the "
    "moments are those on the ground, that of Eq. (17) is wrong instead. And as in Eq. (17) they must be about the origin."
)
ON_THE_CONSTRAINTS = "What a motion must satisfy; taken here where a driver's rows do, at the time of the signals."
NATURAL = (
    "q are natural coordinates there; the same matrices are those of any coordinates, and of velocities (registry). Shown with "
    "D, v' and gamma of the runtime."
)
ALL_BUT_ACCELERATIONS = (
    "Right in all its signs: Phi'' = Phi_q q'' + (Phi_q q')_q q' + 2 Phi_qt q' + Phi_tt. Shown in the coordinates (r, p) with "
    "the generated Phi, for joints and drivers. The text says that gamma depends on the velocities only; Phi_tt does on time."
)

Q_DOT = r"\dot{\mathbf{q}}"
MATRIX = (
    r"\mathbf{M}", r"\Phi_{\mathbf{q}}^T", r"\Phi_{\mathbf{q}}", "0", r"\ddot{\mathbf{q}}", r"\boldsymbol{\lambda}", "=",
    r"\mathbf{g}",
)  # fmt: skip
GAMMA = r"\boldsymbol{\gamma}"


def _equation(number: int, *text: str, literal: Callable[[Any], Any], about: str = "contact", **rest: Any):
    return ContactEquation(SEED_004, number, "identity", text, literal, about, **rest)


EQUATIONS = (
    _equation(1, r"\mathbf{d} = \mathbf{r}_j^p - \mathbf{r}_i^c", literal=distance),
    _equation(2, r"\mathbf{d}_n = (\mathbf{d}^T \mathbf{n}) \mathbf{n}", literal=normal_part),
    _equation(3, r"\mathbf{d}_t = \mathbf{d} - \mathbf{d}_n", literal=tangential_part),
    _equation(
        4, r"\delta = R_i - d_n", literal=penetration_printed,
        verdict="incomplete", corrected=penetration, fails_in=(DEEP,), note=ABOVE_ONLY,
    ),
    _equation(
        5, r"d_n = \mathbf{d}_n^T \mathbf{d}_n = \mathbf{d}^T \mathbf{n}", literal=length_printed,
        verdict="misprint", corrected=length, misprints=("square", "sign"), fails_in=STATES, note=THREE_SIDES,
    ),
    _equation(6, r"\mathbf{v}_n = (\mathbf{v}^T \mathbf{n}) \mathbf{n}", literal=normal_velocity),
    _equation(7, r"\mathbf{v}_t = \mathbf{v} - \mathbf{v}_n", literal=tangential_velocity),
    _equation(
        8, r"\mathbf{v} = \mathbf{v}_j^p - \mathbf{v}_i^c", literal=relative_velocity_printed,
        verdict="misprint", corrected=relative_velocity, misprints=("turn of the sphere", "turn of the plane"),
        fails_in=(APART, ON, NEARING, LEAVING, PULLED, DEEP), note=CENTRE,
    ),
    _equation(
        9, r"\dot{\delta} = \|\mathbf{v}_n\|", literal=penetration_rate_printed,
        verdict="misprint", corrected=penetration_rate, fails_in=(LEAVING, PULLED), note=NORM,
    ),
    _equation(
        10, r"\mathbf{f}_n = K\delta^m \mathbf{n}", literal=elastic_force, states=IN_CONTACT, note=ELASTIC,
    ),
    _equation(
        11, r"\mathbf{f}_n = (K\delta^m + c\dot{\delta})\mathbf{n}", literal=normal_force_printed, states=IN_CONTACT,
        verdict="incomplete", corrected=normal_force, fails_in=(PULLED,), note=PULLING,
    ),
    _equation(
        12, r"K = \frac{0.424\sqrt{R_j}}{\frac{1-\nu_i^2}{\pi E_i} + \frac{1-\nu_j^2}{\pi E_j}}", literal=stiffness_printed,
        about="stiffness", states=("",), verdict="misprint", corrected=stiffness, misprints=("R_j", "0.424"), fails_in=("",),
        note=PLANE_RADIUS,
    ),
    _equation(13, r"c = \chi \delta^m", literal=damping, states=IN_CONTACT, note=HYSTERESIS),
    _equation(
        14, r"\mathbf{f}_t = -(\mu_c f_n + \mu_d v_t) \mathbf{t}", literal=friction_printed, states=WITH_FORCE,
        verdict="misprint", corrected=friction, fails_in=WITH_FORCE, note=DRIVING,
    ),
    _equation(
        15, r"F_n = \sum_{k=1}^l f_{nk}", literal=sum_of_normal_forces, about="foot", states=(SPINNING, SLIDING), note=ONE_PLANE
    ),
    _equation(
        16, r"F_t = \sum_{k=1}^l f_{tk}", literal=sum_of_tangential_forces_printed, about="foot", states=(SPINNING, SLIDING),
        verdict="misprint", corrected=sum_of_tangential_forces, fails_in=(SPINNING,), note=LENGTHS,
    ),
    _equation(
        17, r"X_{COP} = -\frac{M_{yi} + M_{yj}}{F_{ni} + F_{nj}}", literal=pressure_x_printed, about="foot",
        states=(SPINNING, SLIDING), verdict="misprint", corrected=pressure_x, fails_in=(SPINNING, SLIDING), note=TRANSPORTED,
    ),
    _equation(
        18, r"Y_{COP} = -\frac{M_{xi} + M_{xj}}{F_{ni} + F_{nj}}", literal=pressure_y_printed, about="foot",
        states=(SPINNING, SLIDING), verdict="misprint", corrected=pressure_y,
        misprints=("sign", "about the centres of mass"), fails_in=(SPINNING, SLIDING), note=TRANSPORTED_Y,
    ),
    _equation(
        19, r"\Phi(\mathbf{q}, t) = \mathbf{0}", literal=constraints, about="driver", states=("on",), note=ON_THE_CONSTRAINTS
    ),
    _equation(
        20, *MATRIX, GAMMA, literal=equations_of_motion_unstabilised, about="equations of motion", states=("off", "on"),
        matrix=(2, 2), note=NATURAL,
    ),
    _equation(
        21,
        rf"{GAMMA} = -(\Phi_{{\mathbf{{q}}}} {Q_DOT})_{{\mathbf{{q}}}} {Q_DOT} - \Phi_{{tt}} - 2\Phi_{{qt}} {Q_DOT}",
        literal=gamma, about="coordinates", states=("off", "on"), note=ALL_BUT_ACCELERATIONS,
    ),
    _equation(
        22, *MATRIX, rf"{GAMMA} - 2\alpha\dot{{\Phi}} - \beta^2\Phi", literal=equations_of_motion,
        about="equations of motion", states=("off", "on"), matrix=(2, 2), note=NATURAL,
    ),
)  # fmt: skip


# The tables and the material, as printed

TABLE_1 = {  # mass [kg]; moments of inertia [kg m^2]
    "Shank": (4.76, (8.230, 8.230, 8.230)),
    "Main foot part": (1.33, (2.250, 2.250, 2.250)),
    "Toes": (0.35, (0.471, 0.471, 0.471)),
}
TABLE_2 = (  # sphere: xi, eta, zeta, radius [mm]; 1-6 of the main foot, 7-9 of the toes
    (-94.70, 0.00, -15.34, 30.81),
    (-94.70, 0.00, -15.89, 39.53),
    (-75.20, 0.00, -22.89, 31.10),
    (0.00, 0.00, -25.89, 15.10),
    (26.97, 0.00, -32.36, 12.94),
    (56.09, 0.00, -34.52, 15.10),
    (-22.70, 0.00, -15.10, 12.94),
    (0.00, 0.00, -17.26, 10.78),
    (21.60, 0.00, -12.94, 10.79),
)
SUBJECT = (70.0, 1.70)  # [kg], [m]

# What a model should take.  The readings of the unit of K = 40 kN/m beside the exponent 1.5, in SI units: (K, exponent).
READINGS = {
    "N/m^1.5": (40.0, 1.5),
    "kN/m": (40e3, 1.0),  # a linear spring
    "kN/m^1.5": (40e3, 1.5),
    "N/mm^1.5": (40e3 * 10**1.5, 1.5),
}
COMPUTED_WITH, TISSUE = "kN/m^1.5", "N/mm^1.5"
DAMPING = 300.0  # [N s/m]
VISCOUS = 3.0  # mu_d [N s/m]
SPRING, DAMPER = 12.0, 0.5  # [N m/rad], [N m s/rad]
# In the frames of seed 001, whose centres of mass are elsewhere: what to add to xi [mm].  Inferred.
FORWARD = {"main_foot": 43.53, "toes": 19.91}


def spheres(forward: bool = True) -> dict[str, np.ndarray]:
    """Centres (from the body's centre of mass) and radii [m] of the spheres, by body: rows xi, eta, zeta, radius."""
    table = np.array(TABLE_2) / 1e3
    parts = {"main_foot": table[:6], "toes": table[6:]}
    return {
        body: rows + ([FORWARD[body] / 1e3, 0.0, 0.0, 0.0] if forward else np.zeros(4)) for body, rows in parts.items()
    }


@dataclass(frozen=True)
class Datum:
    """One printed number, or several of a kind."""

    name: str
    text: str  # as transcribed; of a table, the cells of its rows
    verdict: Literal["holds", "misprint", "incomplete", "unsourced"]  # unsourced: not of the source that the text names
    reading: str  # what a model should take
    inferred: bool  # the reading goes beyond the correction of a unit
    proofs: tuple[str, ...]  # tests of ``test_registry_contact_data``
    note: str


DATA = (
    Datum(
        "masses", "4.76 | 1.33 | 0.35", "unsourced", "of seed 001: 3.51, 1.2000, 0.2051 kg", True,
        ("test_masses_are_not_those_of_winter",),
        "6.8, 1.9 and 0.5 per cent of 70 kg to the digit. Winter's regression, which the text names, has 4.65 per cent for the "
        "leg and 1.45 for the whole foot: 3.26 and 1.02 kg, so the printed leg is 46 per cent too heavy and the foot 66. No "
        "body weight makes both right.",
    ),
    Datum(
        "moments of inertia", "8.230 | 2.250 | 0.471", "misprint",
        "8.230e-2 (transverse only), 2.250e-3, 0.471e-3 kg m^2; better those of seed 001", True,
        ("test_no_one_power_of_ten_serves_all_inertias", "test_inertias_by_radii_of_gyration", "test_a_shank_is_no_ball"),
        "As printed a shank has a radius of gyration of 1.3 m. No one power of ten serves: 1e-2 gives the shank 0.314 of its "
        "length (Winter: 0.302) and a main foot whose mass lies outside of it; 1e-3 the feet what they can have and a shank "
        "that is denser than a ball of bone. And three equal moments are none of a shank: about its own axis it has a tenth.",
    ),
    Datum(
        "spheres 1 and 2", "-94.70 0.00 -15.34 30.81 | -94.70 0.00 -15.89 39.53", "misprint",
        "as printed; sphere 1 is within sphere 2 and may be left out", False,
        ("test_sphere_1_is_inside_sphere_2", "test_no_place_of_sphere_2_lets_sphere_1_strike_first"),
        "They share xi, although the spheres are numbered from the left, and the second holds the first: no plane touches "
        "sphere 1 before sphere 2 is 8.2 mm deep. Which number is wrong cannot be told: no xi of sphere 2 up to that of "
        "sphere 3 makes sphere 1 the first at heel strike. With zeta_1 = -25.34 its lowest point would lie 0.7 mm below that "
        "of sphere 2, and within 2.2 mm of sphere 3: one digit, but no proof.",
    ),
    Datum(
        "xi and zeta", "-75.20 0.00 -22.89 31.10 | 0.00 0.00 -25.89 15.10 | 26.97 0.00 -32.36 12.94 | 56.09 0.00 -34.52 15.10"
        " | -22.70 0.00 -15.10 12.94 | 0.00 0.00 -17.26 10.78 | 21.60 0.00 -12.94 10.79", "incomplete",
        "as printed, in mm, in their own frames; in those of seed 001 main foot + 43.5 mm, toes + 19.9 mm along xi", True,
        (
            "test_the_sole_stands_on_one_plane", "test_length_of_the_main_foot", "test_the_drawing_behind_table_2",
            "test_frames_of_table_2_are_not_those_of_seed_001",
        ),
        "Units and signs are right: from the heel's edge to the centre of sphere 6 there are 190.3 mm, the main foot of seed 001 "
        "from heel to metatarsophalangeal joint. But the frames do not stand at that foot's centres of mass, and the paper "
        "prints neither joints nor centres of mass. Standing, the main foot's axes are pitched by 2.2 degrees, spheres 2, 3, 6, "
        "7 and 8 are within 2.1 mm of one plane, 4 and 5 form an arch of 10.8 and 5.4 mm, 9 is 4.3 mm above 7 and 8.",
    ),
    Datum(
        "stiffness", "40 kN/m", "misprint",
        "40 N/mm^1.5 = 1.265e6 N/m^1.5; to repeat the paper, 40 kN/m^1.5 = 4e4 N/m^1.5", True,
        (
            "test_sink_of_a_standing_subject", "test_what_touches_tells_the_stiffness_of_the_paper",
            "test_a_heel_pad_tells_the_stiffness_of_a_foot", "test_the_runtime_stands_as_computed",
        ),
        "The unit is that of a linear spring, the exponent 1.5. Only 40 kN/m^1.5 lets spheres 1 to 3 touch at heel strike and "
        "1 to 8 at mid stance, as the text has it; but then the heel sinks 26 mm under half of the weight, through a pad of 20 "
        "mm, and five of nine centres go below the ground. 40 N/mm^1.5 sinks 4 to 7 mm on the heel, as a pad does (7.6 mm).",
    ),
    Datum(
        "exponent", "1.5", "holds", "1.5", False, ("test_exponent_of_hertz",), "Hertz's, for which Eq. (12) is meant.",
    ),
    Datum(
        "damping", "300 Ns/m", "holds", "300 N s/m, as c of Eq. (11) and not as chi of Eq. (13)", False,
        ("test_damping_ratio", "test_the_unit_of_the_damping_is_that_of_a_constant"),
        "As the constant c it gives 0.63 of critical damping on one foot with 40 kN/m^1.5, 0.14 with 40 N/mm^1.5. As chi, "
        "300 N s/m^2.5, it would be 1e-3 of that or less. So the model of the numbers is Kelvin and Voigt's, and what the "
        "conclusions say of Hunt and Crossley has no number; the same damping at rest on one foot is loss = 1.5 s/m with 40 "
        "N/mm^1.5 (five spheres touch), 2.6 s/m with 40 kN/m^1.5 (nine).",
    ),
    Datum(
        "viscous friction", "3.0 Ns/m", "holds", "3.0 N s/m on each sphere", False, ("test_viscous_friction_is_small",),
        "The unit is that of mu_d in Eq. (14). Nine spheres at 1 m/s: 27 N, 4 per cent of the weight, below what friction "
        "coefficients of 0.5 to 1 give by 13 to 25 times. That it keeps the foot from sliding is not what these numbers say.",
    ),
    Datum(
        "torsional spring", "12 N/m", "misprint", "12 N m/rad about the metatarsophalangeal axis; no moment at the neutral pose",
        True, ("test_torsional_spring",),
        "The unit is that of a straight spring, which at the tip of the toes, the longest arm there is, would let them hang down "
        "by 41 degrees of their own weight; per degree it would need 360 N m for 30 degrees, six times the whole weight on that "
        "arm. Per radian: 0.3 degrees, and 6.3 N m. The angle without moment is not printed.",
    ),
    Datum(
        "torsional damper", "0.5 Ns/m", "misprint", "0.5 N m s/rad", False, ("test_torsional_spring",),
        "As the spring. Toes of seed 001 are overdamped by it, 4 times critical.",
    ),
)  # fmt: skip
