"""What distinguishes one foot from another: published ranges of the axes and ranges of motion, side and size.

Axes: Isman and Inman, Anthropometric studies of the human foot and ankle, Bull Prosthet Res 10-11, 1969, 97-129 (46 feet);
Inman, The Joints of the Ankle, 1976.  Their angles between an axis and the tibia or the foot are subtracted from 90 degrees where
the angle here is measured from the mediolateral direction.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime import ModelError
from runtime.support.arrays import Floats, read_only

Side = Literal["right", "left"]
SIDES = ("right", "left")
MASS, HEIGHT, FOOT_LENGTH = (
    71.0,
    1.77,
    0.27,
)  # [kg], [m], [m] of the published subject: Rodrigues da Silva et al. (2024c)
KEPT = 64  # frames, bodies and bones of feet that were built last
MASSES, HEIGHTS, FOOT_LENGTHS = (5.0, 300.0), (0.5, 2.5), (0.1, 0.4)  # [kg], [m], [m] of people


class Published(NamedTuple):
    """A range of angles [deg] that a publication states."""

    least: float
    most: float
    source: str


# Isman and Inman (1969) measured the talocrural axis at 68 to 88 degrees (mean 80) from the tibia in the frontal plane and at 69
# to 99 degrees (mean 84) from the midline of the foot in the transverse plane, Inman (1976) at 74 to 94 degrees (mean 82.7) from
# the tibia.
PUBLISHED = {
    "subtalar_inclination_deg": Published(20.5, 68.5, "Isman and Inman (1969)"),
    "subtalar_deviation_deg": Published(4.0, 47.0, "Isman and Inman (1969)"),
    "talocrural_inclination_deg": Published(-4.0, 22.0, "Isman and Inman (1969) and Inman (1976)"),
    "talocrural_deviation_deg": Published(-9.0, 21.0, "Isman and Inman (1969)"),
}


# Means above the sole, projected on the sagittal plane, and medial of the foot's long axis.  Isman and Inman (1969)
SUBTALAR_INCLINATION_DEG, SUBTALAR_DEVIATION_DEG = 41.0, 23.0


class Size(NamedTuple):
    """Factors on the published foot: of all masses, of the lengths of the leg, and of the lengths of the foot."""

    mass: float = 1.0
    leg: float = 1.0
    foot: float = 1.0

    def inertia(self, body: str, moments: ArrayLike) -> Floats:
        """Moments of inertia [kg m^2] of a body of this size: mass times the square of its lengths."""
        length = self.leg if body == "leg" else self.foot
        return np.asarray(moments) * (self.mass * length**2)


PUBLISHED_SIZE = Size()


class Ankle(NamedTuple):
    """Talocrural and talocalcaneal axis of a foot in the neutral pose, where all frames are parallel; by rows in this order.

    ``axes`` (2, 3): unit vectors about which dorsiflexion and inversion are positive
    ``on_leg`` (2, 3): a point of each, from the leg's centre of mass [m]; the first is the talocrural joint
    ``on_foot`` (3,): the talocrural joint, from the centre of mass of the main foot [m]
    """

    axes: Floats
    on_leg: Floats
    on_foot: Floats
    size: Size
    side: Side


def size_of(mass: float, height: float, foot_length: float | None) -> Size:
    """Factors for a mass [kg], a height [m] and a foot length [m]; without the last, feet grow with the height.

    Raises
    ------
    ModelError
        For a value that is not finite or not above 0.
    """
    for name, value, unit in (("mass", mass, "kg"), ("height", height, "m"), ("foot_length", foot_length, "m")):
        if value is not None and not 0.0 < value < np.inf:
            raise ModelError(f"{name} = {value:g} {unit} must be a finite value above 0 {unit}")
    leg = height / HEIGHT
    return Size(mass / MASS, leg, leg if foot_length is None else foot_length / FOOT_LENGTH)


def check_axis_angles(of: str, check: bool, **angles_deg: float) -> None:
    """Refuse angles that no axis has, and, with ``check``, those outside of ``PUBLISHED``.

    Raises
    ------
    ModelError
        With the value, the range, its source and the remedy.
    """
    for name, angle in angles_deg.items():
        if not -90.0 < angle < 90.0:
            raise ModelError(f"{of}: {name} = {angle:g} degrees must lie between -90 and 90 degrees")
        least, most, source = PUBLISHED[name]
        if check and not least <= angle <= most:
            turned = float(np.rad2deg(angle))
            meant = (
                f"; is another unit meant? {angle:g} rad are {turned:.4g} degrees" if least <= turned <= most else ""
            )
            raise ModelError(
                f"{of}: {name} = {angle:g} degrees is outside {least:g} to {most:g} degrees, the range of {source}; correct "
                f"it{meant}; check_units=False accepts it"
            )


def check_range_of_motion(motion: tuple[float | None, ...], limits: str | None) -> None:
    """Refuse ranges of motion [deg] without limits, and those that are not above 0."""
    for name, value in zip(
        ("dorsiflexion_deg", "plantarflexion_deg", "inversion_deg", "eversion_deg"), motion, strict=True
    ):
        if value is None:
            continue
        if limits is None:
            raise ModelError(f"{name} = {value:g} applies to limits only; give limits='elastic' or 'dissipative' too")
        if not 0.0 < value < 180.0:
            raise ModelError(f"{name} = {value:g} degrees must lie between 0 and 180 degrees, ends excluded")


def check_side(of: str, side: str) -> None:
    """Refuse what is neither "right" nor "left"."""
    if side not in SIDES:
        raise ModelError(f"{of}: side = {side!r}; use 'right' or 'left'")


def mirrored(vectors: ArrayLike, side: str) -> Floats:
    """Points or directions (..., 3) of a right foot on the given side: y changes its sign for a left foot."""
    return np.asarray(vectors) * (1.0, -1.0 if side == "left" else 1.0, 1.0) + 0.0  # no zero with a sign


def mirrored_axis(axis: ArrayLike, side: str) -> Floats:
    """Axis of rotation (..., 3) on the given side, so that equal angles about it mirror each other: x and z change sign."""
    return np.asarray(axis) * ((-1.0, 1.0, -1.0) if side == "left" else (1.0, 1.0, 1.0)) + 0.0


def _turn(transverse_deg: float, projected_deg: float) -> tuple[float, float, float, float]:
    """Cosine and sine of an axis's angle in the transverse plane and of its true angle to that plane; (2024a), Eqs. (5), (6)."""
    about, projected = np.deg2rad([transverse_deg, projected_deg])
    real = np.arctan(np.tan(projected) * np.cos(about))
    return float(np.cos(about)), float(np.sin(about)), float(np.cos(real)), float(np.sin(real))


@lru_cache(KEPT)
def directions_of_talocalcaneal(inclination_deg: float, deviation_deg: float, side: Side) -> Floats:
    """``models.foot.talocalcaneal_frame``, read-only."""
    c, s, c_re, s_re = _turn(deviation_deg, inclination_deg)
    eta, zeta = mirrored([(-s, c, 0.0), (-c * s_re, -s * s_re, c_re)], side)
    frame: Floats = read_only(np.array([mirrored_axis((c * c_re, s * c_re, s_re), side), eta, zeta]))
    return frame


@lru_cache(KEPT)
def directions_of_talocrural(inclination_deg: float, deviation_deg: float, side: Side) -> Floats:
    """``models.foot.talocrural_frame``, read-only."""
    c, s, c_re, s_re = _turn(deviation_deg, inclination_deg)
    xi, zeta = mirrored([(c, -s, 0.0), (s * s_re, c * s_re, -c_re)], side)
    frame: Floats = read_only(np.array([xi, mirrored_axis((-s * c_re, -c * c_re, -s_re), side), zeta]))
    return frame
