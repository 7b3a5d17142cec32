"""Printed numbers of Moreira et al. (2011), each with a verdict and a reading.

The model is ``models.foot``, the foot of Rodrigues da Silva et al. (2024c).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

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


# In the frames of the model, whose centres of mass are elsewhere: what to add to xi [mm].  Inferred.
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
    proofs: tuple[str, ...]  # tests in tests/papers/test_contact_*.py
    note: str


DATA = (
    Datum(
        "masses", "4.76 | 1.33 | 0.35", "unsourced", "of the model: 3.51, 1.2000, 0.2051 kg", True,
        ("test_masses_are_not_those_of_winter",),
        "6.8, 1.9 and 0.5 per cent of 70 kg to the digit. Winter's regression, which the text names, has 4.65 per cent for the "
        "leg and 1.45 for the whole foot: 3.26 and 1.02 kg, so the printed leg is 46 per cent too heavy and the foot 66. No "
        "body weight makes both right.",
    ),
    Datum(
        "moments of inertia", "8.230 | 2.250 | 0.471", "misprint",
        "8.230e-2 (transverse only), 2.250e-3, 0.471e-3 kg m^2; better those of the model", True,
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
        "sphere 1 before sphere 2 is 8.2 mm deep. The wrong number cannot be identified: no xi of sphere 2 up to that of "
        "sphere 3 makes sphere 1 the first at heel strike. With zeta_1 = -25.34 its lowest point would lie 0.7 mm below that "
        "of sphere 2, and within 2.2 mm of sphere 3: one digit, but no proof.",
    ),
    Datum(
        "xi and zeta", "-75.20 0.00 -22.89 31.10 | 0.00 0.00 -25.89 15.10 | 26.97 0.00 -32.36 12.94 | 56.09 0.00 -34.52 15.10"
        " | -22.70 0.00 -15.10 12.94 | 0.00 0.00 -17.26 10.78 | 21.60 0.00 -12.94 10.79", "incomplete",
        "as printed, in mm, in their own frames; in those of the model main foot + 43.5 mm, toes + 19.9 mm along xi", True,
        (
            "test_the_sole_rests_on_one_plane", "test_length_of_the_main_foot", "test_the_drawing_behind_table_2",
            "test_frames_of_table_2_are_not_those_of_the_model",
        ),
        "Units and signs are right: from the heel's edge to the centre of sphere 6 there are 190.3 mm, the model's main foot "
        "from heel to metatarsophalangeal joint. But the frames do not stand at that foot's centres of mass, and the paper "
        "prints neither joints nor centres of mass. Standing, the main foot's axes are pitched by 2.2 degrees, spheres 2, 3, 6, "
        "7 and 8 are within 2.1 mm of one plane, 4 and 5 form an arch of 10.8 and 5.4 mm, 9 is 4.3 mm above 7 and 8.",
    ),
    Datum(
        "stiffness", "40 kN/m", "misprint",
        "40 N/mm^1.5 = 1.265e6 N/m^1.5; to repeat the paper, 40 kN/m^1.5 = 4e4 N/m^1.5", True,
        (
            "test_sink_of_a_standing_subject", "test_touching_spheres_reveal_the_stiffness_of_the_paper",
            "test_heel_pads_bound_the_stiffness_of_a_foot", "test_the_runtime_stands_on_the_computed_sink",
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
        "As the spring. Toes of the model are overdamped by it, 4 times critical.",
    ),
)  # fmt: skip
