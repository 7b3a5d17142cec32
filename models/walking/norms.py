"""Normative curves of walking, and the motion of one walker, as short series with exact derivatives.

Curves of 14 adults who walked barefoot at 1.11 (0.18) m/s: means and standard deviations computed from
    C. Schreiber, F. Moissenet, A multimodal dataset of human gait at different walking speeds, Scientific Data 6, 111 (2019),
    doi 10.1038/s41597-019-0124-4; data doi 10.6084/m9.figshare.7734767; licence CC BY 4.0.
    Changes: one trial each at the speed that they chose, single-segment foot, inverse dynamics, averaged, fitted.
Motion and centre of pressure: trial C4_05 of subject 2014001 of the same data (a man of 67 kg and 1.655 m at 1.42 m/s), as the
    geometry of ``models.walking.scaling`` and a least squares fit of the joints to the markers give them; drift over the
    cycle removed.
Dorsiflexion, moment and power of children at five walking speeds, and the angles of knee and hip of ``MOTION``:
    M. H. Schwartz, A. Rozumalski, J. P. Trost, The effect of walking speed on the gait of typically developing children, Journal
    of Biomechanics 41 (2008) 1639-1650; as tabulated in biomechZoo, github.com/PhilD001/biomechZoo, Apache-2.0; fitted.
Toes and hindfoot of the Oxford foot model, barefoot: digitised in biomechZoo, github.com/PhilD001/biomechZoo, Apache-2.0;
    fitted.

Knee and hip: ``models.walking.schwartz_norms``.

Angles in rad, dorsiflexion, inversion, extension of the toes, flexion and adduction positive; moments are those of the muscles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from models.walking.schwartz_norms import KNEE_AND_HIP
from runtime import ModelError
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats


@checked_class
@dataclass(frozen=True)
class Series:
    """offset + slope x + sum over k of cosine[k-1] cos(k w x) + sine[k-1] sin(k w x), with w = 2 pi / period.

    With a ``support`` (a, b), zero at a, at b and outside, with all derivatives.
    """

    offset: float = 0.0
    slope: float = 0.0
    cosine: tuple[float, ...] = ()
    sine: tuple[float, ...] = ()
    period: float = 1.0
    support: tuple[float, float] | None = None

    def __call__(self, x: ArrayLike, derivative: int = 0) -> Floats:
        """Value or derivative.

        Parameters
        ----------
        x : array_like
        derivative : int
            Order; 0 is the value.

        Returns
        -------
        array of the shape of x
        """
        if derivative < 0:
            raise ModelError(f"derivative = {derivative}; the order of a derivative is 0 or above")
        x = np.asarray(x, dtype=float)
        straight = (self.offset + self.slope * x, np.full(x.shape, self.slope))
        value = straight[derivative].copy() if derivative < 2 else np.zeros(x.shape)
        for amplitudes, quarter in ((self.cosine, 0), (self.sine, 3)):  # sin(x) = cos(x + 3 pi / 2)
            for k, amplitude in enumerate(amplitudes, 1):
                w = 2.0 * np.pi * k / self.period
                value += amplitude * w**derivative * _turned(w * x, (quarter + derivative) % 4)
        if self.support is not None:
            value = np.where((x > self.support[0]) & (x < self.support[1]), value, 0.0)
        return value


def _turned(angle: Floats, quarters: int) -> Floats:
    """cos(angle + quarters pi / 2), without the rounding of the sum."""
    trigonometric = np.sin if quarters % 2 else np.cos
    return np.asarray(trigonometric(angle) * (1.0, -1.0, -1.0, 1.0)[quarters])


@checked_class
@dataclass(frozen=True)
class Tabulated:
    """Values at even fractions of a cycle from 0 on, periodic, with straight lines between them."""

    values: tuple[float, ...]

    def __call__(self, x: ArrayLike) -> Floats:
        """Value at fractions of the cycle."""
        n = len(self.values)
        return np.asarray(np.interp(np.asarray(x, dtype=float), np.arange(n) / n, self.values, period=1.0))


@checked_class
@dataclass(frozen=True)
class Norm:
    """Mean and standard deviation of a quantity.

    ``over`` is "cycle", where the series take the fraction of the gait cycle from foot strike to foot strike, or "stance",
    where they take the fraction of stance, which lasts for ``STANCE`` of the cycle, and vanish in swing.  ``speed``: that of
    walking in words; ``dimensionless``: its middle over sqrt(g times the length of the leg), NaN where the source states none.
    """

    unit: str
    source: str
    over: str
    mean: Series | Tabulated
    sd: Series | Tabulated
    speed: str
    dimensionless: float = float("nan")


STANCE = 0.65  # of the cycle, when the last of the 14 feet has left the ground; mean 0.643 (0.022)
SCHREIBER_MOISSENET = "14 adults, barefoot, Schreiber and Moissenet (2019), CC BY 4.0"
OXFORD = "Oxford foot model, barefoot, biomechZoo, Apache-2.0"
SCHWARTZ = "children, Schwartz et al. (2008), biomechZoo, Apache-2.0"
LEG_PER_HEIGHT = 0.53  # height of the greater trochanter over that of the body (Winter 2009)
# Speed in words, and its middle over sqrt(g leg); that of the adults with legs of 0.53 of 1.70 m.
SPEEDS = {
    SCHREIBER_MOISSENET: (("1.11 ± 0.18 m/s", 0.37),),
    OXFORD: (("speed not stated", float("nan")),),
    SCHWARTZ: (
        ("v/√(g·leg) below 0.23", 0.16), ("v/√(g·leg) 0.23 to 0.36", 0.295), ("v/√(g·leg) 0.36 to 0.50", 0.43),
        ("v/√(g·leg) 0.50 to 0.64", 0.57), ("v/√(g·leg) above 0.64", 0.70),
    ),
}  # fmt: skip


def _amplitudes(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split())


def _periodic(cosine: str, sine: str, slope: float = 0.0) -> Series:
    """Offset and cosines, and sines, of period 1."""
    offset, *cosines = _amplitudes(cosine)
    return Series(offset=offset, slope=slope, cosine=tuple(cosines), sine=_amplitudes(sine))


def _over_cycle(unit: str, source: str, cosine: str, sine: str, sd_cosine: str, sd_sine: str, speed: int = 0) -> Norm:
    return Norm(unit, source, "cycle", _periodic(cosine, sine), _periodic(sd_cosine, sd_sine), *SPEEDS[source][speed])


def _over_stance(unit: str, source: str, mean: str, sd: str) -> Norm:
    # Sines of half waves vanish at both ends.
    of_mean, of_sd = (Series(sine=_amplitudes(text), period=2.0, support=(0.0, 1.0)) for text in (mean, sd))
    return Norm(unit, source, "stance", of_mean, of_sd, *SPEEDS[source][0])


def _tabulated(name: str) -> tuple[Norm, ...]:
    """A quantity of knee or hip at each speed."""
    unit = "N m/kg" if name.endswith("moment") else "W/kg" if name.endswith("power") else "rad"
    scale = np.deg2rad(0.1) if unit == "rad" else 0.01
    found = []
    for speed, (mean, width) in zip(SPEEDS[SCHWARTZ], KNEE_AND_HIP[name], strict=True):
        of_mean = Tabulated(tuple(scale * x for x in _amplitudes(mean)))
        of_sd = Tabulated(tuple(scale / 2.0 * x for x in _amplitudes(width)))
        found.append(Norm(unit, SCHWARTZ, "cycle", of_mean, of_sd, *speed))
    return tuple(found)


FREE_SPEED = 2  # of those of Schwartz et al. (2008): the norm of knee and hip where the speed is not known


# Forces are in body weights and act on the right foot: anterior, medial, up; the free moment is about the upward vertical.
# fmt: off
NORMS: Mapping[str, Norm] = MappingProxyType({
    "dorsiflexion": _over_cycle(
        "rad", SCHREIBER_MOISSENET,
        "-.029168 -.044973 .014356 -.072197 .033988 -.000918 .001435 .005741 .000637 .001010 .000183",
        ".07535 -.11683 .01494 .00734 -.01979 .00594 -.00164 -.00087 -.00011 -.00025",
        ".061397 -.000233 .004345 .002266 .001868 .001809 -.000018",
        "-.0027749 .0076155 -.0044502 -.0008063 -.0025091 -.0002879",
    ),
    "inversion": _over_cycle(
        "rad", SCHREIBER_MOISSENET,
        "-.072046 -.007540 .036683 -.004811 .011929 .008989 .001547 .003181 -.001871 .000433 .000341",
        "-.053656 -.009066 -.025708 .009116 -.007152 .000351 -.003005 -.001584 .000319 -.001027",
        ".074622 .008556 .009354 .009615 .003128 .001943 .000965",
        "-.019114 .008164 -.001520 .000885 .000511 -.000729",
    ),
    "plantarflexor_moment": _over_cycle(
        "N m/kg", SCHREIBER_MOISSENET,
        ".33986 -.49899 .19903 -.13947 .09512 -.03590 .02043 .00612 -.00296 .01068 -.00132",
        ".26104 -.18436 .02460 -.01572 -.03123 .02027 -.01961 .00716 -.00164 -.00068",
        ".082792 -.061547 .002738 -.010439 -.001584 .004141 -.007736 .003594",
        ".073834 .000363 -.018107 .020263 -.013594 .008715 .000289",
    ),
    "inversion_moment": _over_cycle(
        "N m/kg", SCHREIBER_MOISSENET,
        ".10939 -.12081 .02220 -.03435 .01380 -.00664 .00555 .00229 .00074 .00211 .00056",
        ".11464 -.04867 .01461 -.01467 -.00609 .00061 -.00281 .00018 .00016 .00006",
        ".040889 -.029297 .004729 -.010938 .005230 -.005383 .000311",
        ".037068 -.000437 -.004865 .008009 -.005486 .004065",
    ),
    "ankle_power": _over_cycle(
        "W/kg", SCHREIBER_MOISSENET,
        ".15964 -.42786 .45772 -.34023 .20520 -.07519 -.03858 .07466 -.08383 .07566 -.03756 .02094 .00557",
        "-.31842 .36820 -.36730 .34876 -.29008 .21688 -.15328 .05330 -.01057 -.02534 .02585 -.02014",
        ".20715 -.28171 .17896 -.12132 .05625 -.01633 -.01492 .02539 -.01084",
        ".037669 .062240 -.083633 .081297 -.044636 .015849 .005349 -.003393",
    ),
    "vertical_force": _over_stance(
        "body weights", SCHREIBER_MOISSENET,
        "1.1328 -.0327 .3016 .0260 -.0566 .0246 -.0526 .0334 -.0156 .0248 -.0069 .0129",
        ".10098 .01704 .05626 .00455 .05046 -.01121 .00365 -.01019",
    ),
    "anterior_force": _over_stance(
        "body weights", SCHREIBER_MOISSENET,
        "-.00449 -.11969 .01777 -.04511 .00640 .00372 -.00049 .01197 -.00365 .00924 -.00376 .00548",
        ".031852 -.002985 .028246 -.001200 .006692 -.001313 .001860 -.003178",
    ),
    "medial_force": _over_stance(
        "body weights", SCHREIBER_MOISSENET,
        ".052142 -.005503 .007859 -.001262 -.011964 -.000506 -.009216 -.000449 -.004391 -.001044 -.001269 -.000797",
        ".020965 -.001381 .008224 .001873 .001276 .001478 -.000111 .000443",
    ),
    "free_moment": _over_stance(
        "N m/kg", SCHREIBER_MOISSENET,
        ".021135 -.013960 .001899 .005029 .001221 .002708 .001347 -.001076 -.000158 -.000932 -.000917 -.000286",
        ".018107 -.002504 .006841 -.001543 -.000507 .000647 -.001256 -.000182",
    ),
    "toe_extension": _over_cycle(
        "rad", OXFORD,
        ".15534 -.05660 .06455 .04649 -.00833 .04021 -.00803 .00482 -.00174",
        "-.16476 .09767 -.07613 .02643 .00142 -.00354 .00982 -.00163",
        ".12079 -.03475 .01223 .00784 -.00419 .00624 .00111",
        "-.017663 .030366 -.011926 .007552 -.004700 .003483",
    ),
    "hindfoot_inversion": _over_cycle(
        "rad", OXFORD,
        "-.023396 -.018063 .020060 .005957 -.002561 .004194 -.002403 .000786 -.000186",
        "-.065146 .029004 -.027437 .003178 -.002692 -.000114 -.001704 -.001790",
        ".094589 .000921 .002732 -.001682 .000248 -.001457 .001886",
        ".0052381 .0079518 .0074427 .0008916 .0014885 .0019037",
    ),
    **{name: _tabulated(name)[FREE_SPEED] for name in KNEE_AND_HIP},
})
# fmt: on


# Norms at other walking speeds, for the quantities of which a source has several.
# fmt: off
BY_SPEED: Mapping[str, tuple[Norm, ...]] = MappingProxyType({
    "dorsiflexion": (
        _over_cycle(
            "rad", SCHWARTZ,
            ".0549 -.1063 .0320 -.0479 -.0024 .0091 .0006 .0034 .0030",
            ".0213 -.0574 -.0300 .0164 -.0044 -.0017 .0002 -.0017",
            ".1087 .0056 -.0138 .0181 .0035 .0054 -.0005 -.0012 .0007 .0003",
            "-.0395 .0121 .0029 -.0057 -.0016 -.0052 .0003 -.0002 -.0001",
            speed=0,
        ),
        _over_cycle(
            "rad", SCHWARTZ,
            ".0349 -.0869 .0318 -.0750 .0280 .0062 -.0035 .0109 .0008",
            ".0723 -.1028 -.0035 .0220 -.0251 .0046 -.0019 -.0048",
            ".0902 -.0075 -.0038 .0167 -.0030 .0039 -.0010 .0009 .0001 -.0008",
            "-.0243 .0211 -.0085 -.0055 .0001 -.0020 .0016 -.0014 .0017",
            speed=1,
        ),
        _over_cycle(
            "rad", SCHWARTZ,
            ".0130 -.0358 .0142 -.0804 .0383 -.0093 .0046 .0091 -.0013",
            ".1236 -.1259 .0148 .0041 -.0240 .0095 -.0086 -.0008",
            ".0927 -.0189 .0066 .0114 -.0018 .0048 -.0006 .0018 -.0007 .0007",
            "-.0262 .0203 -.0080 -.0007 -.0020 -.0012 .0001 -.0005 .0013",
            speed=2,
        ),
        _over_cycle(
            "rad", SCHWARTZ,
            "-.0110 .0027 -.0199 -.0726 .0363 -.0164 .0105 .0036 .0006",
            ".1308 -.1304 .0299 -.0132 -.0151 .0059 -.0094 .0022",
            ".1095 -.0163 .0112 .0082 .0028 .0058 .0002 .0032 -.0004 .0014",
            "-.0201 .0094 -.0134 .0014 -.0051 -.0008 -.0006 -.0006 .0007",
            speed=3,
        ),
        _over_cycle(
            "rad", SCHWARTZ,
            "-.0228 .0437 -.0587 -.0522 .0237 -.0125 .0100 .0004 .0029",
            ".1187 -.1324 .0355 -.0222 -.0050 -.0001 -.0048 .0016",
            ".1130 -.0223 .0113 .0095 .0089 .0012 .0047 .0005 .0013 .0008",
            "-.0133 .0078 -.0096 -.0021 -.0055 -.0010 -.0026 .0008 -.0005",
            speed=4,
        ),
    ),
    "plantarflexor_moment": (
        _over_cycle(
            "N m/kg", SCHWARTZ,
            ".2994 -.4483 .1825 -.1006 .0484 -.0130 .0036 .0051 -.0002 .0022 .0021 .0018 .0011",
            ".1745 -.0995 -.0113 .0124 -.0215 .0061 -.0055 -.0011 -.0007 -.0006 -.0014 .0013",
            ".1305 -.1057 .0055 .0025 -.0115 .0078 -.0057 .0000 -.0014 -.0018",
            ".0768 .0190 -.0163 .0104 .0001 .0003 .0049 .0006 .0022",
            speed=0,
        ),
        _over_cycle(
            "N m/kg", SCHWARTZ,
            ".2943 -.4506 .1773 -.1093 .0709 -.0294 .0145 .0065 -.0015 .0085 .0006 .0037 .0018",
            ".2224 -.1722 .0255 -.0059 -.0298 .0153 -.0184 .0026 -.0028 -.0025 .0006 -.0004",
            ".1199 -.0895 .0095 -.0164 -.0023 .0062 -.0104 .0056 -.0041 -.0020",
            ".1017 .0042 -.0219 .0204 -.0086 .0043 .0051 -.0039 .0044",
            speed=1,
        ),
        _over_cycle(
            "N m/kg", SCHWARTZ,
            ".3134 -.4466 .1453 -.1218 .0887 -.0447 .0331 -.0063 .0065 .0078 -.0004 .0082 .0003",
            ".2869 -.2054 .0463 -.0432 -.0162 .0066 -.0234 .0078 -.0091 .0028 -.0010 -.0011",
            ".1223 -.0724 .0161 -.0372 .0080 -.0019 -.0064 .0035 -.0094 .0025",
            ".1117 .0133 -.0094 .0123 -.0074 .0108 -.0001 .0002 .0039",
            speed=2,
        ),
        _over_cycle(
            "N m/kg", SCHWARTZ,
            ".3004 -.4126 .1326 -.1365 .0862 -.0449 .0392 -.0121 .0146 .0026 .0049 .0060 -.0000",
            ".2962 -.2038 .0745 -.0855 .0050 -.0127 -.0155 .0045 -.0108 .0048 -.0054 .0011",
            ".1368 -.0617 .0255 -.0532 .0085 -.0096 -.0010 .0001 -.0111 .0025",
            ".1239 .0306 .0072 .0058 -.0053 .0126 -.0009 .0047 .0013",
            speed=3,
        ),
        _over_cycle(
            "N m/kg", SCHWARTZ,
            ".2666 -.3917 .1378 -.0915 .0512 -.0305 .0285 -.0100 .0141 .0014 .0045 .0019 .0011",
            ".2706 -.2369 .1177 -.0915 .0178 -.0223 -.0057 -.0003 -.0055 .0020 -.0030 .0012",
            ".1452 -.0805 .0597 -.0536 .0170 -.0232 -.0013 -.0096 -.0075 -.0013",
            ".1229 .0108 .0335 .0116 .0041 .0138 -.0034 .0061 .0002",
            speed=4,
        ),
    ),
    "ankle_power": (
        _over_cycle(
            "W/kg", SCHWARTZ,
            ".0015 -.0648 .0674 -.0181 -.0322 .0433 -.0461 .0265 -.0130 .0030 .0029 .0015 .0005",
            "-.1864 .2025 -.1625 .1136 -.0654 .0129 -.0017 -.0175 .0038 -.0078 -.0036 -.0031",
            ".1433 -.1531 .0702 -.0201 -.0080 .0073 -.0035 -.0026 .0044 -.0079",
            ".0102 .0655 -.0402 .0287 .0000 -.0031 .0138 -.0003 .0017",
            speed=0,
        ),
        _over_cycle(
            "W/kg", SCHWARTZ,
            ".0423 -.1759 .2098 -.1517 .0493 .0107 -.0693 .0703 -.0620 .0394 -.0114 .0061 .0100",
            "-.2405 .2746 -.2448 .2129 -.1719 .0959 -.0593 -.0063 .0101 -.0321 .0136 -.0140",
            ".1990 -.2290 .1369 -.0708 .0052 .0116 -.0198 .0052 .0064 -.0146",
            ".0404 .0746 -.0627 .0680 -.0283 .0127 .0081 -.0021 .0051",
            speed=1,
        ),
        _over_cycle(
            "W/kg", SCHWARTZ,
            ".1386 -.4048 .4135 -.3286 .2266 -.1390 .0241 .0219 -.0621 .0716 -.0535 .0459 -.0106",
            "-.2501 .2491 -.2693 .2758 -.2570 .2020 -.1768 .0828 -.0579 -.0065 .0078 -.0300",
            ".2908 -.3069 .2168 -.1344 .0429 -.0264 -.0256 .0128 -.0189 -.0006",
            ".1149 .0651 -.0307 .0935 -.0445 .0394 -.0086 -.0059 .0206",
            speed=2,
        ),
        _over_cycle(
            "W/kg", SCHWARTZ,
            ".2338 -.6237 .5418 -.4418 .3910 -.2943 .1700 -.1043 .0312 .0182 -.0282 .0496 -.0216",
            "-.1859 .1117 -.2083 .2102 -.2055 .1812 -.1943 .1182 -.1163 .0458 -.0425 .0020",
            ".3870 -.3319 .2820 -.1742 .0377 -.0619 -.0470 .0090 -.0305 .0091",
            ".1998 .0843 .0402 .1111 -.0360 .0505 -.0321 .0029 .0160",
            speed=3,
        ),
        _over_cycle(
            "W/kg", SCHWARTZ,
            ".3464 -.8287 .6434 -.5140 .4187 -.3311 .2276 -.1469 .0924 -.0316 .0248 .0177 .0024",
            "-.0601 -.0860 -.0015 -.0017 -.0611 .0403 -.1042 .0584 -.0850 .0364 -.0442 .0159",
            ".4947 -.4408 .3868 -.1983 .0245 -.0704 -.0632 .0074 -.0620 .0300",
            ".2912 -.0020 .1649 .0931 -.0345 .0948 -.0765 .0484 -.0319",
            speed=4,
        ),
    ),
    **{name: _tabulated(name) for name in KNEE_AND_HIP},
})
# fmt: on


@checked
def norm(name: str, speed: float = float("nan")) -> Norm:
    """The norm of a quantity whose walking speed is nearest, in v/sqrt(g leg); without a speed that of ``NORMS``.

    Raises
    ------
    ModelError
        For another name than those of ``NORMS``.
    """
    if name not in NORMS:
        raise ModelError(f"no normative curve '{name}'; there are {', '.join(NORMS)}")
    if not np.isfinite(speed):
        return NORMS[name]
    return min((NORMS[name], *BY_SPEED.get(name, ())), key=lambda one: abs(one.dimensionless - speed))


@checked
def band(name: str, speed: float = float("nan")) -> tuple[Floats, Floats, Floats]:
    """A curve with its spread.

    Parameters
    ----------
    name : str
        One of ``NORMS``, which has the unit and the source.
    speed : float
        Walking speed over sqrt(g times the length of the leg); see ``norm``.

    Returns
    -------
    percent, mean, sd : (101,)
        0 to 100 per cent of the gait cycle, from foot strike to foot strike.

    Raises
    ------
    ModelError
        For another name.
    """
    found, percent = norm(name, speed), np.linspace(0.0, 100.0, 101)
    x = percent / 100.0 if found.over == "cycle" else percent / (100.0 * STANCE)
    return percent, found.mean(x), np.maximum(found.sd(x), 0.0)


# One walker, over the fraction of the gait cycle.  Displacements of the middle of the talocrural axis from where it is while
# standing [m], x from foot strike; turns of the leg from how it stands, A = Rz(yaw) Ry(pitch) Rx(roll) A_standing in lab axes
# with x in the direction of walking; angles of the two joints of the ankle from standing.  Knee and hip are not this walker's:
# their angles are the means of Schwartz et al. (2008) at the free speed, so that the pelvis of this walker sways.
CYCLE = 0.96  # [s]
CYCLE_STANCE = 0.635  # of the cycle
STRIDE = 1.3652  # [m]
# fmt: off
MOTION: Mapping[str, Series] = MappingProxyType({
    "ankle_x": _periodic(
        "-.35020 .30082 .03449 .00984 .00200 -.00021 .00023 .00023 .00038",
        ".069890 -.041147 -.005913 -.006997 -.002526 -.001276 -.000513 -.000335",
        slope=STRIDE,
    ),
    "ankle_y": _periodic(
        ".0000987 -.0064264 -.0035353 -.0011243 .0002914 .0006609 .0002164 .0002525 .0000927",
        "-.0015168 -.0024400 .0042863 .0002740 .0001815 .0004536 .0000775 .0000626",
    ),
    "ankle_z": _periodic(
        ".035361 -.024863 -.011979 .014063 .001892 -.000603 .000123 .000070 -.000152",
        "-.044243 .022400 .001004 -.005815 -.001869 -.000790 -.000603 -.000283",
    ),
    "roll": _periodic(
        ".11121 .00291 .03560 -.01931 -.00016 .00487 -.00330 .00080 .00210",
        ".073117 -.039158 -.016551 .004849 -.005841 -.002674 .002725 -.001551",
    ),
    "pitch": _periodic(
        ".24137 -.42571 -.18544 -.00495 -.01432 -.00611 .00133 .00007 -.00095",
        "-.29075 .17448 .05134 .00985 .01541 .00661 .00161 .00097",
    ),
    "yaw": _periodic(
        "-.072446 -.027071 .024377 -.030789 -.002025 -.003230 -.005444 -.000106 .002134",
        ".18348 .02055 -.00666 .01271 -.00314 -.00275 .00424 -.00037",
    ),
    "dorsiflexion": _periodic(
        ".015253 -.008402 .022024 -.071837 .043123 -.001954 .005275 .004336 .000282",
        ".08052 -.13488 .01250 -.00533 -.01522 .00820 -.00141 .00139",
    ),
    "inversion": _periodic(
        "-.027108 -.019793 .065209 -.000567 .023925 .015514 .001790 .000637 -.001965",
        "-.023506 .006178 -.027749 .016478 -.007548 -.000595 -.003198 .000077",
    ),
    "knee_flexion": _periodic(
        ".399227 -.033246 -.237885 -.012332 -.015156",
        "-.327241 .122326 .075251 .010952",
    ),
    "knee_adduction": _periodic(
        ".007889 .017173 -.011197 -.019910 .000258",
        "-.007899 -.018187 .008532 .009908",
    ),
    "knee_rotation": _periodic(
        ".055746 -.069938 .000152 -.000731 .004836",
        ".025938 .023524 .009797 -.003401",
    ),
    "hip_flexion": _periodic(
        ".321874 .364377 -.054931 -.001611 -.001779",
        "-.055798 -.026962 .028242 -.001533",
    ),
    "hip_adduction": _periodic(
        "-.005725 .008437 -.000872 -.027821 .000693",
        ".086261 -.008779 .008090 .001824",
    ),
    "hip_rotation": _periodic(
        "-.032638 .020670 -.018478 -.020424 -.001501",
        ".012529 -.011607 .017869 .008599",
    ),
})
# fmt: on
# Centre of pressure of the same walker over the fraction of stance, from 0 to 1: from the marker on the heel, in the axes of
# the main foot, in lengths of the foot.  A point of the foot: z is where the ground is under it.
CENTRE_OF_PRESSURE: Mapping[str, Series] = MappingProxyType(
    {
        "x": Series(offset=0.05755, slope=0.95163, sine=(0.11363, 0.03982, -0.03817, 0.01240), period=2.0),
        "y": Series(offset=-0.04626, slope=0.18121, sine=(-0.11862, 0.02221, 0.00168, 0.00964), period=2.0),
        "z": Series(offset=-0.10723, slope=0.04368, sine=(-0.02915, 0.00131, -0.00039, -0.00485), period=2.0),
    }
)
