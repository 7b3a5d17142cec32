"""The printed equations of Moreira et al. (2011), foot and ground in contact, literally, with a verdict on each.

As in ``equation``: each equation stands here as the text of its LaTeX source; as a function written sign by sign from it; and,
where it is wrong or lacks something, corrected.  ``tests/registry`` compares the three with each other, with the generated
kernels and with the runtime.  The texts keep the font of vectors, because the paper gives one letter to a vector and its
length.  The first side of a function is what is true.

The paper says neither which way n points nor on which body its forces act.  Here n is the plane's normal to the side where the
sphere is, as in ``codegen.contacts``, and the body is the sphere's; ``test_no_normal_serves_all`` is about the other choice.

Symbols on top of those of ``equation``; i has the sphere, j the plane:

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

from tests.support.registry.contact import (
    damping,
    distance,
    elastic_force,
    friction,
    friction_printed,
    length,
    length_printed,
    normal_force,
    normal_force_printed,
    normal_part,
    normal_velocity,
    penetration,
    penetration_printed,
    penetration_rate,
    penetration_rate_printed,
    pressure_x,
    pressure_x_printed,
    pressure_y,
    pressure_y_printed,
    relative_velocity,
    relative_velocity_printed,
    stiffness,
    stiffness_printed,
    sum_of_normal_forces,
    sum_of_tangential_forces,
    sum_of_tangential_forces_printed,
    tangential_part,
    tangential_velocity,
)
from tests.support.registry.equation import Equation
from tests.support.registry.joints import equations_of_motion, equations_of_motion_unstabilised
from tests.support.registry.papers import MOREIRA_2011

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
    """One printed equation of Moreira et al. (2011)."""

    verdict: Literal["holds", "slip", "misprint", "incomplete"] = "holds"  # incomplete: right where ``fails_in`` is not
    states: tuple[str, ...] = STATES  # where it is taken
    fails_in: tuple[str, ...] = ()  # where the printed form gives another value than what is true; elsewhere it holds


# Equations of motion, Eqs. (19)-(22)


def constraints(m):
    return m.Phi, np.zeros_like(m.Phi)


def gamma(m):
    return m.gamma, -m.Phi_q_q_dot_q @ m.q_dot - m.Phi_tt - 2 * m.Phi_qt @ m.q_dot


ABOVE_ONLY = (
    "The length of d_n does not tell the sides of the plane apart: a centre at a height -h below it has the penetration R + h, "
    "and Eq. (4) gives R - h, a force that ends as the sphere sinks. Not idle: with K = 40 kN/m^1.5, five of the nine centres "
    "of Table 2 are below the ground when one foot carries the body (test_contact_parameters). True with -d^T n for d_n."
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
    return ContactEquation(MOREIRA_2011, number, "identity", text, literal, about, **rest)


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
