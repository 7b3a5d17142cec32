"""Normative curves of walking, and the motion of one walker, as short series with exact derivatives.

Curves of 14 adults who walked barefoot at 1.11 (0.18) m/s: means and standard deviations computed from
    C. Schreiber, F. Moissenet, A multimodal dataset of human gait at different walking speeds, Scientific Data 6, 111 (2019),
    doi 10.1038/s41597-019-0124-4; data doi 10.6084/m9.figshare.7734767; licence CC BY 4.0.
    Changes: one trial each at the speed that they chose, single-segment foot, inverse dynamics, averaged, fitted.
Motion and centre of pressure: trial C4_05 of subject 2014001 of the same data (a man of 67 kg and 1.655 m at 1.42 m/s), as the
    geometry of ``models.walking.scaling`` and a least squares fit of the joints to the markers give them; drift over the
    cycle removed.
Toes and hindfoot of the Oxford foot model, barefoot: digitised in biomechZoo, github.com/PhilD001/biomechZoo, Apache-2.0;
    fitted.

Angles in rad, dorsiflexion, inversion and extension of the toes positive; moments are those of the muscles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

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
class Norm:
    """Mean and standard deviation of a quantity.

    ``over`` is "cycle", where the series take the fraction of the gait cycle from foot strike to foot strike, or "stance",
    where they take the fraction of stance, which lasts for ``STANCE`` of the cycle, and vanish in swing.
    """

    unit: str
    source: str
    over: str
    mean: Series
    sd: Series


STANCE = 0.65  # of the cycle, when the last of the 14 feet has left the ground; mean 0.643 (0.022)
SCHREIBER_MOISSENET = "14 adults, barefoot, Schreiber and Moissenet (2019), CC BY 4.0"
OXFORD = "Oxford foot model, barefoot, biomechZoo, Apache-2.0"


def _amplitudes(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split())


def _periodic(cosine: str, sine: str, slope: float = 0.0) -> Series:
    """Offset and cosines, and sines, of period 1."""
    offset, *cosines = _amplitudes(cosine)
    return Series(offset=offset, slope=slope, cosine=tuple(cosines), sine=_amplitudes(sine))


def _over_cycle(unit: str, source: str, cosine: str, sine: str, sd_cosine: str, sd_sine: str) -> Norm:
    return Norm(unit, source, "cycle", _periodic(cosine, sine), _periodic(sd_cosine, sd_sine))


def _over_stance(unit: str, source: str, mean: str, sd: str) -> Norm:
    # Sines of half waves vanish at both ends.
    waves = (Series(sine=_amplitudes(text), period=2.0, support=(0.0, 1.0)) for text in (mean, sd))
    return Norm(unit, source, "stance", *waves)


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
})
# fmt: on


@checked
def band(name: str) -> tuple[Floats, Floats, Floats]:
    """A curve with its spread.

    Parameters
    ----------
    name : str
        One of ``NORMS``, which has the unit and the source.

    Returns
    -------
    percent, mean, sd : (101,)
        0 to 100 per cent of the gait cycle, from foot strike to foot strike.

    Raises
    ------
    ModelError
        For another name.
    """
    if name not in NORMS:
        raise ModelError(f"no normative curve '{name}'; there are {', '.join(NORMS)}")
    norm, percent = NORMS[name], np.linspace(0.0, 100.0, 101)
    x = percent / 100.0 if norm.over == "cycle" else percent / (100.0 * STANCE)
    return percent, norm.mean(x), np.maximum(norm.sd(x), 0.0)


# One walker, over the fraction of the gait cycle.  Displacements of the middle of the talocrural axis from where it is while
# standing [m], x from foot strike; turns of the leg from how it stands, A = Rz(yaw) Ry(pitch) Rx(roll) A_standing in lab axes
# with x in the direction of walking; angles of the two joints of the ankle from standing.
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
