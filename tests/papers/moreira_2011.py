"""The printed equations of Moreira et al. (2011), foot and ground in contact, literally, with a verdict on each.

As in ``equation``, of which the entries are.  The texts keep the font of vectors, because the paper gives one letter to a vector
and its length.  The value of the first side is what is true.

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

from dataclasses import dataclass
from typing import Any, Literal

from tests.papers.citations import MOREIRA_2011
from tests.papers.equation import Equation

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
    "law needs a transition velocity. It is no force of a cone: where f_n vanishes, mu_d v_t stays."
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


OF_LENGTH = {
    "square": ((r"\mathbf{d}_n^T \mathbf{d}_n", r"\|\mathbf{d}_n\|"),),
    "sign": ((r"\mathbf{d}^T \mathbf{n}", r"\|\mathbf{d}^T \mathbf{n}\|"),),
}
OF_TURNS = {
    f"turn of the {what}": ((at, rf"({at} + \tilde\boldsymbol{{\omega}}_{body} (\mathbf{{Q}} - {centre}))"),)
    for what, at, body, centre in (
        ("sphere", r"\mathbf{v}_i^c", "i", r"\mathbf{r}_i^c"), ("plane", r"\mathbf{v}_j^p", "j", r"\mathbf{r}_j^p"),
    )
}  # fmt: skip


def _equation(number: int, *text: str, about: str = "contact", **rest: Any):
    return ContactEquation(MOREIRA_2011, number, "identity", text, about, **rest)


EQUATIONS = (
    _equation(1, r"\mathbf{d} = \mathbf{r}_j^p - \mathbf{r}_i^c"),
    _equation(2, r"\mathbf{d}_n = (\mathbf{d}^T \mathbf{n}) \mathbf{n}"),
    _equation(3, r"\mathbf{d}_t = \mathbf{d} - \mathbf{d}_n"),
    _equation(
        4, r"\delta = R_i - d_n",
        verdict="incomplete",
        corrections={"side": ((r"- d_n", r"+ \mathbf{d}^T \mathbf{n}"),)},
        fails_in=(DEEP,), note=ABOVE_ONLY,
    ),
    _equation(
        5, r"d_n = \mathbf{d}_n^T \mathbf{d}_n = \mathbf{d}^T \mathbf{n}",
        verdict="misprint", corrections=OF_LENGTH, fails_in=STATES, note=THREE_SIDES,
    ),
    _equation(6, r"\mathbf{v}_n = (\mathbf{v}^T \mathbf{n}) \mathbf{n}"),
    _equation(7, r"\mathbf{v}_t = \mathbf{v} - \mathbf{v}_n"),
    _equation(
        8, r"\mathbf{v} = \mathbf{v}_j^p - \mathbf{v}_i^c",
        verdict="misprint", corrections=OF_TURNS,
        fails_in=(APART, ON, NEARING, LEAVING, PULLED, DEEP), note=CENTRE,
    ),
    _equation(
        9, r"\dot{\delta} = \|\mathbf{v}_n\|",
        verdict="misprint",
        corrections={"norm": ((r"\|\mathbf{v}_n\|", r"\mathbf{v}^T \mathbf{n}"),)},
        fails_in=(LEAVING, PULLED), note=NORM,
    ),
    _equation(
        10, r"\mathbf{f}_n = K\delta^m \mathbf{n}", states=IN_CONTACT, note=ELASTIC,
    ),
    _equation(
        11, r"\mathbf{f}_n = (K\delta^m + c\dot{\delta})\mathbf{n}", states=IN_CONTACT,
        verdict="incomplete",
        corrections={"pull": ((r"(K\delta^m + c\dot{\delta})", r"\max(0, K\delta^m + c\dot{\delta})"),)},
        fails_in=(PULLED,), note=PULLING,
    ),
    _equation(
        12, r"K = \frac{0.424\sqrt{R_j}}{\frac{1-\nu_i^2}{\pi E_i} + \frac{1-\nu_j^2}{\pi E_j}}",
        about="stiffness", states=("",), verdict="misprint",
        corrections={"R_j": (("R_j", "R_i"),), "0.424": (("0.424", r"\frac{4}{3\pi}"),)},
        fails_in=("",),
        note=PLANE_RADIUS,
    ),
    _equation(13, r"c = \chi \delta^m", states=IN_CONTACT, note=HYSTERESIS),
    _equation(
        14, r"\mathbf{f}_t = -(\mu_c f_n + \mu_d v_t) \mathbf{t}", states=WITH_FORCE,
        verdict="misprint", corrections={"sign": (("-(", "("),)}, fails_in=WITH_FORCE, note=DRIVING,
    ),
    _equation(
        15, r"F_n = \sum_{k=1}^l f_{nk}", about="foot", states=(SPINNING, SLIDING), note=ONE_PLANE
    ),
    _equation(
        16, r"F_t = \sum_{k=1}^l f_{tk}", about="foot", states=(SPINNING, SLIDING),
        verdict="misprint",
        corrections={"lengths": ((r"\sum_{k=1}^l f_{tk}", r"\|\sum_{k=1}^l \mathbf{f}_{tk}\|"),)},
        fails_in=(SPINNING,), note=LENGTHS,
    ),
    _equation(
        17, r"X_{COP} = -\frac{M_{yi} + M_{yj}}{F_{ni} + F_{nj}}", about="foot",
        states=(SPINNING, SLIDING), verdict="misprint",
        corrections={"about the centres of mass": (("M_{yi} + M_{yj}", "O_{yi} + O_{yj}"),)},
        fails_in=(SPINNING, SLIDING), note=TRANSPORTED,
    ),
    _equation(
        18, r"Y_{COP} = -\frac{M_{xi} + M_{xj}}{F_{ni} + F_{nj}}", about="foot",
        states=(SPINNING, SLIDING), verdict="misprint",
        corrections={"sign": (("= -", "= "),), "about the centres of mass": (("M_{xi} + M_{xj}", "O_{xi} + O_{xj}"),)},
        fails_in=(SPINNING, SLIDING), note=TRANSPORTED_Y,
    ),
    _equation(
        19, r"\Phi(\mathbf{q}, t) = \mathbf{0}", about="driver", states=("on",), note=ON_THE_CONSTRAINTS
    ),
    _equation(
        20, *MATRIX, GAMMA, about="equations of motion", states=("off", "on"),
        matrix=(2, 2), note=NATURAL,
    ),
    _equation(
        21,
        rf"{GAMMA} = -(\Phi_{{\mathbf{{q}}}} {Q_DOT})_{{\mathbf{{q}}}} {Q_DOT} - \Phi_{{tt}} - 2\Phi_{{qt}} {Q_DOT}",
        about="coordinates", states=("off", "on"), note=ALL_BUT_ACCELERATIONS,
    ),
    _equation(
        22, *MATRIX, rf"{GAMMA} - 2\alpha\dot{{\Phi}} - \beta^2\Phi",
        about="equations of motion", states=("off", "on"), matrix=(2, 2), note=NATURAL,
    ),
)  # fmt: skip
