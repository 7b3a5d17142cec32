"""What a user knows of a subject's anatomy better than the rules of the scaling: axes, height of the talus, table of inertia.

Hip joint centre: regressions of Harrington, Zavatsky, Lawson, Yuan and Theologis, J Biomech 40, 2007, 595-602, with one variable
for each direction, and of Bell, Pedersen and Brand, J Biomech 23, 1990, 617-621.  Neither paper was at hand: the coefficients are
those of several open programs, which agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.foot_anatomy import check_axis_angles
from models.walking.anthropometry import Inertia, check_inertia
from models.walking.geometry import unit
from models.walking.subject import Frozen
from runtime import ModelError
from runtime.support import checked_class
from runtime.support.arrays import Floats

LINK_LENGTHS = (0.015, 0.08)  # [m] heights of tali; 0.0417 with an SD of 0.0057: Rodrigues da Silva et al. (2024a)

ANKLE_WIDTHS = (0.03, 0.12)  # [m]

# Hip joint centre in axes of the pelvis from the middle of the anterior iliac spines: anterior, lateral and up, each as
# constant [m] + factor times width (between these spines) + factor times depth (from their middle to that of the posterior ones).
HIP_CENTRES = {
    "harrington": ((-0.0099, 0.0, -0.24), (0.0073, 0.33, 0.0), (-0.0109, -0.30, 0.0)),
    "bell": ((0.0, -0.19, 0.0), (0.0, 0.36, 0.0), (0.0, -0.30, 0.0)),
}


@checked_class
@dataclass(frozen=True, eq=False)
class Anatomy(Frozen):
    """A subject's axes, height of the talus and table of inertia; None leaves the rule of ``scale_to_subject``.

    Attributes
    ----------
    subtalar_inclination_deg, subtalar_deviation_deg : float [deg], optional
        Of the talocalcaneal axis above and medial of the long axis of the foot, projected on the sagittal and on the transverse
        plane of the main foot while standing, as in ``models.foot.build``.
    talocrural_inclination_deg, talocrural_deviation_deg : float [deg], optional
        Of the talocrural axis above and anterior of the medial direction, projected on the frontal and on the transverse plane
        of the main foot while standing.  Where one of them is given, the other one remains that of the malleoli.
    link_length : float [m], optional
        Height of the talus.
    inertia : "de_leva", "winter" or mapping
        De Leva (1996), by sex; Winter (2009), after Dempster, for both sexes, with the thigh of de Leva; or own values: ``leg``,
        ``foot``, and ``thigh`` if it is not de Leva's -> part of the body's mass, centre of mass from the knee, heel or hip, and
        three radii of gyration about the sagittal, transverse and longitudinal axis, these four as parts of the segment's length
        (knee to ankle; heel to toe tip; hip to knee), as in de Leva's table.
    ankle_width : float [m], optional
        Between the malleoli, needed where no marker is on the medial one, as in Plug-in Gait: it is placed from the lateral one
        along the mean axis of Rodrigues da Silva et al. (2024a).
    check_units : bool
        Refuse axes and talus heights outside of the published ranges.
    hip_centre : "harrington" or "bell"
        Regression of the hip joint centre: Harrington et al. (2007), or Bell et al. (1990).

    Raises
    ------
    ModelError
    """

    subtalar_inclination_deg: float | None = None
    subtalar_deviation_deg: float | None = None
    talocrural_inclination_deg: float | None = None
    talocrural_deviation_deg: float | None = None
    link_length: float | None = None
    inertia: Inertia = "de_leva"
    check_units: bool = True
    ankle_width: float | None = None
    hip_centre: str = "harrington"

    def __post_init__(self) -> None:
        """Refuse what no foot has."""
        given = {name: value for name, value in vars(self).items() if name.endswith("_deg") and value is not None}
        check_axis_angles("anatomy", self.check_units, **given)
        length, (low, high) = self.link_length, LINK_LENGTHS
        if length is not None and not (low <= length <= high if self.check_units else 0.0 < length < np.inf):
            raise ModelError(
                f"anatomy: link_length = {length:g} m must be between {low:g} and {high:g} m, the height of a talus; correct "
                "it; check_units=False accepts it"
            )
        width, (low, high) = self.ankle_width, ANKLE_WIDTHS
        if width is not None and not low <= width <= high:
            raise ModelError(
                f"anatomy: ankle_width = {width:g} m must be between {low:g} and {high:g} m; give it in metres"
            )
        if self.hip_centre not in HIP_CENTRES:
            raise ModelError(f"anatomy: hip_centre = {self.hip_centre!r}; use {', '.join(map(repr, HIP_CENTRES))}")
        check_inertia(self.inertia)
        super().__post_init__()

    def stated(self, axis: str) -> str:
        """The angles that are given for an axis, "subtalar" or "talocrural", in words; "" where none is."""
        angles = {what: getattr(self, f"{axis}_{what}_deg") for what in ("inclination", "deviation")}
        return ", ".join(f"{what} {value:g} deg" for what, value in angles.items() if value is not None)

    def talocalcaneal(self, inclination_deg: float, deviation_deg: float) -> Floats:
        """Unit vector (3,) of the talocalcaneal axis in the foot; angles that are not given are the arguments.

        Rodrigues da Silva et al. (2024a), Eqs. (5), (7).
        """
        inclination, deviation = self._angles("subtalar", inclination_deg, deviation_deg)
        return unit(np.array([np.cos(deviation), np.sin(deviation), np.tan(inclination) * np.cos(deviation)]))

    def talocrural(self, measured: Floats) -> Floats:
        """Unit vector (3,) of the talocrural axis in the foot, from the one between the malleoli and the given angles.

        Rodrigues da Silva et al. (2024a), Eqs. (6), (8).
        """
        if not self.stated("talocrural"):
            return unit(measured)
        x, y, z = measured
        inclination, deviation = self._angles("talocrural", *np.degrees(np.arctan2([z, x], y)).tolist())
        return unit(np.array([np.tan(deviation), 1.0, np.tan(inclination)]))

    def _angles(self, axis: str, inclination_deg: float, deviation_deg: float) -> tuple[float, float]:
        """Inclination and deviation [rad]: as given, else the arguments."""
        rules = {"inclination": inclination_deg, "deviation": deviation_deg}
        found = [
            own if (given := getattr(self, f"{axis}_{what}_deg")) is None else given for what, own in rules.items()
        ]
        return float(np.deg2rad(found[0])), float(np.deg2rad(found[1]))
