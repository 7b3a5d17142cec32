"""The motion of a model that follows markers: coordinates, and how far the markers are off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.files.description import Floats
from runtime.results import write_storage
from runtime.support import checked_class


@checked_class
@dataclass(frozen=True, eq=False)
class FittedMotion:
    """Coordinates of a model for which its markers are nearest to those of a trial.

    Attributes
    ----------
    name : str
        Of the trial.
    t : (n,) [s]
    q : mapping of str to (n,)
        All coordinates by the file's names [rad], [m], also those that are locked or follow others.
    kinds : mapping of str to str
        "turn" or "slide", of each.
    errors : mapping of str to (n,) [m]
        Distance between each marker of the model and of the trial; NaN where it was not seen.
    weights : mapping of str to float
        Of the markers.
    held : mapping of str to str
        Why a coordinate was no unknown.
    at_bounds : mapping of str to int
        Frames in which a coordinate is at an end of its range.
    undetermined : mapping of str to int
        Frames in which the markers do not show a coordinate; there it is interpolated over time, constant before the first and
        after the last frame that shows it, and at its default value where none does.
    gaps : mapping of str to int
        Frames in which a marker was not seen.
    notes : tuple of str
        Assumptions, and markers that only the model or only the trial has.
    steps : int
        Of the least-squares solution of the slowest frame.
    """

    name: str
    t: Floats
    q: Mapping[str, Floats]
    kinds: Mapping[str, str]
    errors: Mapping[str, Floats]
    weights: Mapping[str, float]
    held: Mapping[str, str]
    at_bounds: Mapping[str, int]
    undetermined: Mapping[str, int]
    gaps: Mapping[str, int]
    notes: tuple[str, ...] = ()
    steps: int = 0

    def __repr__(self) -> str:
        span = f"{len(self.t)} frames from {self.t[0]:g} to {self.t[-1]:g} s"
        off = f"markers {1e3 * self.total_rms:.3g} mm off (RMS)"
        return f"FittedMotion of {self.name}: {span}, {len(self.q)} coordinates, {off}"

    @property
    def rms(self) -> Floats:
        """Root mean square of the distances of the seen markers in each frame, (n,) [m]."""
        found: Floats = np.sqrt(np.nanmean(np.stack(list(self.errors.values())) ** 2, axis=0))
        return found

    @property
    def total_rms(self) -> float:
        """Root mean square of all distances [m]."""
        return float(np.sqrt(np.nanmean(np.stack(list(self.errors.values())) ** 2)))

    @property
    def worst(self) -> tuple[str, float, float]:
        """The marker that is farthest off in any frame, its distance [m], and the time [s]."""
        name = max(self.errors, key=lambda one: float(np.nanmax(self.errors[one])))
        n = int(np.nanargmax(self.errors[name]))
        return name, float(self.errors[name][n]), float(self.t[n])

    def to_mot(self, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write the coordinates as a motion of OpenSim, angles in degrees; returns the file."""
        columns = [np.rad2deg(x) if self.kinds[name] == "turn" else x for name, x in self.q.items()]
        return write_storage(
            file,
            "Coordinates",
            ["time", *self.q],
            np.column_stack([self.t, *columns]),
            in_degrees=True,
            overwrite=overwrite,
        )
