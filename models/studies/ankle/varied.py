"""What the study of other feet varies, and what it measures on each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from models import foot
from models.foot_anatomy import Size
from models.studies.ankle.runs import BODY
from runtime import Run

MEASURES = ("y range [mm]", "mean y [mm]", "plantarflexion [deg]", "inversion [deg]", "eversion [deg]")


class Varied(NamedTuple):
    """A keyword of ``models.foot.build`` in tables: its name, its unit there, the factor to it, and the published value."""

    words: str
    unit: str
    factor: float
    published: float

    @property
    def column(self) -> str:
        """The head of its column."""
        return f"{self.words} [{self.unit}]"

    def shown(self, value: float) -> str:
        """A value with its unit."""
        return f"{self.factor * value:.4g} {self.unit}"


VARIED: Mapping[str, Varied] = {
    "subtalar_inclination_deg": Varied("subtalar inclination", "deg", 1.0, foot.TALOCALCANEAL_SAGITTAL_DEG),
    "subtalar_deviation_deg": Varied("subtalar deviation", "deg", 1.0, foot.TALOCALCANEAL_TRANSVERSE_DEG),
    "talocrural_inclination_deg": Varied("talocrural inclination", "deg", 1.0, foot.TALOCRURAL_FRONTAL_DEG),
    "talocrural_deviation_deg": Varied("talocrural deviation", "deg", 1.0, foot.TALOCRURAL_TRANSVERSE_DEG),
    "link_length": Varied("link length", "mm", 1e3, foot.LINK_LENGTH),
}


@dataclass(frozen=True)
class Case:
    """One ankle with one set of varied values, keywords of ``models.foot.build``: its size, its side and its run.

    ``medial``: 1 for a right foot, whose y is medial, -1 for a left one.
    """

    ankle: str
    values: Mapping[str, float]
    size: Size
    medial: float
    run: Run

    @property
    def label(self) -> str:
        """The varied values in words."""
        return "".join(f", {VARIED[name].words} {VARIED[name].shown(value)}" for name, value in self.values.items())

    @property
    def mediolateral(self) -> np.ndarray:
        """Mediolateral position (n,) [mm] of the main foot's centre of mass, medial positive."""
        return np.asarray(1e3 * self.medial * self.run.r[BODY][:, 1])

    @property
    def measured(self) -> dict[str, float]:
        """Extent of the main foot's centre of mass [mm], y medial on either side, and largest angles of the hinges [deg]."""
        y = self.mediolateral
        dorsiflexion, inversion = hinges(self.run)
        return {
            "y min [mm]": float(y.min()),
            "y max [mm]": float(y.max()),
            "y range [mm]": float(np.ptp(y)),
            "mean y [mm]": float(np.trapezoid(y, self.run.t) / (self.run.t[-1] - self.run.t[0])),
            "x range [mm]": float(1e3 * np.ptp(self.run.r[BODY][:, 0])),
            "z range [mm]": float(1e3 * np.ptp(self.run.r[BODY][:, 2])),
            "plantarflexion [deg]": max(float(-dorsiflexion.min()), 0.0),
            "inversion [deg]": max(float(inversion.max()), 0.0),
            "eversion [deg]": max(float(-inversion.min()), 0.0),
        }


def hinges(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Dorsiflexion and inversion (n,) [deg], from the coordinates of the ankle."""
    angles = run.angles["ankle"]
    return np.rad2deg(angles.theta_j), -np.rad2deg(angles.theta_i)


def reference_of(grid: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Of each varied keyword the given value nearest to that of the published foot."""
    found = {}
    for name, values in grid.items():
        apart = [abs(value - VARIED[name].published) for value in values]
        found[name] = values[apart.index(min(apart))]
    return found


def at_reference(cases: Sequence[Case], ankle: str, name: str, reference: Mapping[str, float]) -> list[Case]:
    """Cases of an ankle that differ in one keyword alone, in its order; the others have their reference values."""
    rest = {key: value for key, value in reference.items() if key != name}
    own = [case for case in cases if case.ankle == ankle]
    own = [case for case in own if all(case.values.get(key, value) == value for key, value in rest.items())]
    return sorted(own, key=lambda case: case.values.get(name, 0.0))
