"""Coefficients of Dormand and Prince's method of order 8 with dense output of order 7.

Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.10; rounded to double precision as in
SciPy's class ``DOP853``, whose import takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from runtime.support.arrays import Floats

STAGES = 12
EXTRA = 3  # further stages of the dense output

_A = (
    (0.05260015195876773,),
    (0.0197250569845379, 0.0591751709536137),
    (0.02958758547680685, 0.0, 0.08876275643042054),
    (0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792),
    (0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242),
    (0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125),
    (
        0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
        0.008273789163814023,
    ),
    (
        0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671, 20.154067550477894,
        -43.48988418106996,
    ),
    (
        0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
        15.279233632882423, -33.28821096898486, -0.020331201708508627,
    ),
    (
        -0.9371424300859873, 0.0, 0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927, -18.52006565999696,
        22.739487099350505, 2.4936055526796523, -3.0467644718982196,
    ),
    (
        2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
        -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636,
    ),
)  # fmt: skip
_A_DENSE = (
    (
        0.056167502283047954, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25350021021662483, -0.2462390374708025, -0.12419142326381637,
        0.15329179827876568, 0.00820105229563469, 0.007567897660545699, -0.008298,
    ),
    (
        0.03183464816350214, 0.0, 0.0, 0.0, 0.0, 0.028300909672366776, 0.053541988307438566, -0.05492374857139099,
        0.0, 0.0, -0.00010834732869724932, 0.0003825710908356584, -0.00034046500868740456, 0.1413124436746325,
    ),
    (
        -0.42889630158379194, 0.0, 0.0, 0.0, 0.0, -4.697621415361164, 7.683421196062599, 4.06898981839711,
        0.3567271874552811, 0.0, 0.0, 0.0, -0.0013990241651590145, 2.9475147891527724, -9.15095847217987,
    ),
)  # fmt: skip
_B = (
    0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259,
)  # fmt: skip
_C = (
    0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25,
    0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0, 1.0, 0.1, 0.2, 0.7777777777777778,
)  # fmt: skip
_ERROR5 = (
    0.01312004499419488, 0.0, 0.0, 0.0, 0.0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
    -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294, 0.0,
)  # fmt: skip
_ERROR3 = (
    -0.18980075407240762, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    -0.4226823213237919, -0.1521609496625161, 0.20136540080403034, 0.02265179219836082, 0.0,
)  # fmt: skip
# Up to a factor, no other weights of the stages make an estimate of order 6.  By this factor it is small beside that of order 5
# in smooth steps, and larger than most errors that a kink between two stages makes.
_KINKS = (
    0.03130143090153974, 0.0, 0.0, 0.0, 0.0, -8.498476179348085, -2.6229367106401575, 10.70272,
    -0.8919037366233786, 1.2453890114338317, 0.033906184276255316, 0.0, 0.0,
)  # fmt: skip
_DENSE = (
    (
        -8.428938276109013, 0.0, 0.0, 0.0, 0.0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207,
        2.117034582445028, -0.871391583777973, 2.2404374302607883, 0.6315787787694688, -0.08899033645133331,
        18.148505520854727, -9.194632392478356, -4.436036387594894,
    ),
    (
        10.427508642579134, 0.0, 0.0, 0.0, 0.0, 242.28349177525817, 165.20045171727028, -374.5467547226902,
        -22.113666853125306, 7.733432668472264, -30.674084731089398, -9.332130526430229, 15.697238121770845,
        -31.139403219565178, -9.35292435884448, 35.81684148639408,
    ),
    (
        19.985053242002433, 0.0, 0.0, 0.0, 0.0, -387.0373087493518, -189.17813819516758, 527.8081592054236,
        -11.57390253995963, 6.8812326946963, -1.0006050966910838, 0.7777137798053443, -2.778205752353508,
        -60.19669523126412, 84.32040550667716, 11.99229113618279,
    ),
    (
        -25.69393346270375, 0.0, 0.0, 0.0, 0.0, -154.18974869023643, -231.5293791760455, 357.6391179106141,
        93.40532418362432, -37.45832313645163, 104.0996495089623, 29.8402934266605, -43.53345659001114,
        96.32455395918828, -39.17726167561544, -149.72683625798564,
    ),
)  # fmt: skip

# Of the method of order 5 for brief steps: Dormand and Prince (1980), A family of embedded Runge-Kutta formulae.
_A_BRIEF = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_C_BRIEF = 0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0
_ERROR_BRIEF = 71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40


class BriefSteps(NamedTuple):
    """Coefficients of a method of order 5, whose last stage is the end of the step."""

    a: Floats  # (7, 7)
    c: Floats  # (7,)
    error: Floats  # (7,) of order 4


class Coefficients(NamedTuple):
    """Coefficients of the method."""

    a: Floats  # (16, 16)
    b: Floats  # (12,)
    c: Floats  # (16,) places of the stages in the step
    error5: Floats  # (13,)
    error3: Floats  # (13,)
    dense: Floats  # (4, 16)
    kinks: Floats  # (13,) of an estimate of order 6, which sees kinks that those of order 5 and 3 pass over


def _square(rows: Sequence[Sequence[float]]) -> Floats:
    """The coefficients a from their rows, which end at the last one that is not 0."""
    a = np.zeros((len(rows), len(rows)))
    for row, values in zip(a, rows, strict=True):
        row[: len(values)] = values
    return a


BRIEF = BriefSteps(_square([(), *_A_BRIEF]), np.array(_C_BRIEF), np.array(_ERROR_BRIEF))
COEFFICIENTS = Coefficients(
    a=_square([(), *_A, (), *_A_DENSE]), b=np.array(_B), c=np.array(_C), error5=np.array(_ERROR5),
    error3=np.array(_ERROR3), dense=np.array(_DENSE), kinks=np.array(_KINKS),
)  # fmt: skip


def _of_polynomials() -> tuple[Floats, Floats]:
    """What follows as ``VALUES`` and ``SLOPES``, from the terms of the dense output (``polynomial.value_of``)."""
    stages = STAGES + 1 + EXTRA
    delta, first, last = np.zeros((3, stages))
    delta[:STAGES], first[0], last[STAGES] = COEFFICIENTS.b, 1.0, 1.0
    x, factor = Polynomial([0.0, 1.0]), Polynomial([1.0])
    values, slopes = np.zeros((2, len(PLACES), stages))
    for d, of_stages in enumerate((delta, first - delta, 2.0 * delta - last - first, *COEFFICIENTS.dense)):
        factor *= x if d % 2 == 0 else 1.0 - x
        values += np.outer(factor(PLACES), of_stages)
        slopes += np.outer(factor.deriv()(PLACES), of_stages)
    return values, slopes


# Of a step: there the slopes of quintic polynomials by values and two derivatives at its ends have their largest errors.
PLACES = 0.5 + np.array([-0.5, 0.0, 0.5]) / np.sqrt(5.0)
# (3, 16) factors of the stages in the dense output at these places, less its begin and over the length, and in its slopes.
VALUES, SLOPES = _of_polynomials()
