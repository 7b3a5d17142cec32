"""One trial of a motion laboratory: markers, ground forces, gait events and the subject, in the axes and units of Talus.

All arrays are read-only.  Axes: z up, right-handed, horizontal axes as in the file; SI units.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from models.walking.samples import all_finite, check_times, readonly, runs, sampling_rate
from runtime import ModelError
from runtime.support.arrays import Floats

Side = Literal["left", "right"]
EventSide = Literal["left", "right", "unknown"]
EventKind = Literal["foot_strike", "foot_off"]

SIDES: tuple[Side, Side] = ("left", "right")
MIRRORED = "; mirrored, y to -y"


@dataclass(frozen=True)
class Subject:
    """The person who walked; a property that the file does not state is None."""

    name: str | None = None
    mass: float | None = None  # [kg]
    height: float | None = None  # [m]
    sex: str | None = None  # "male" or "female"
    age: float | None = None  # [years]


@dataclass(frozen=True, order=True)
class GaitEvent:
    """A foot strike or a foot off.  Where a file does not state the foot, ``models.walking.gait_cycles`` finds it."""

    time: float  # [s], on the capture's clock
    kind: EventKind
    side: EventSide


@dataclass(frozen=True, eq=False)
class GroundForce:
    """The load of one force plate on the foot: a force at the centre of pressure and a free moment about the vertical.

    Parameters
    ----------
    plate : str
        Name of the plate.
    t : (m,) [s]
        Increasing times, on the clock of the markers.
    force : (m, 3) [N]
        Force on the foot.
    cop : (m, 3) [m]
        Centre of pressure; NaN while the plate is unloaded.
    free_moment : (m,) [N m]
        About the vertical through the centre of pressure, on the foot; 0 while unloaded.
    corners : (4, 3) [m], optional
        Corners of the plate's surface.
    surface : float [m]
        Height of the surface; NaN if it is unknown.
    foot : {"left", "right"}, optional
        Foot on the plate as stated by the file; ``models.walking.plate_assignment.assign_feet`` finds it from the markers.
    """

    plate: str
    t: Floats
    force: Floats
    cop: Floats
    free_moment: Floats
    corners: Floats | None = None
    surface: float = math.nan
    foot: Side | None = None

    def __post_init__(self) -> None:
        what = f"force plate '{self.plate}'"
        m = len(self.t)
        for name, shape in (("t", (m,)), ("force", (m, 3)), ("cop", (m, 3)), ("free_moment", (m,))):
            object.__setattr__(self, name, readonly(getattr(self, name), shape, f"{what}: {name}"))
        if self.corners is not None:
            object.__setattr__(self, "corners", readonly(self.corners, (4, 3), f"{what}: corners"))
        check_times(self.t, what)

    def __reduce__(self) -> tuple[Any, ...]:
        return GroundForce, tuple(vars(self).values())

    def __repr__(self) -> str:
        return f"GroundForce({self.plate!r}: {len(self.t)} samples from {self.t[0]:g} to {self.t[-1]:g} s)"

    @property
    def rate(self) -> float:
        """Samples per second [Hz]."""
        return sampling_rate(self.t, f"force plate '{self.plate}'")

    def moved(self, turn: Floats) -> GroundForce:
        """Transform by a rotation about the vertical, or a reflection that preserves it, given as a matrix (3, 3)."""
        corners = None if self.corners is None else self.corners @ turn.T
        # A moment is an axial vector: a reflection that preserves the vertical reverses its vertical component.
        moment = self.free_moment * np.sign(np.linalg.det(turn))
        return replace(
            self, force=self.force @ turn.T, cop=self.cop @ turn.T, free_moment=moment + 0.0, corners=corners
        )


@dataclass(frozen=True, eq=False)
class Analog:
    """Channels of a recording beside markers and force plates, such as electromyograms.

    Parameters
    ----------
    t : (m,) [s]
        Increasing times, on the clock of the markers.
    channels : mapping of str to (m,)
        Samples by label, as in the file.
    units : mapping of str to str
        By label, as the file spells them; "" if it does not.
    """

    t: Floats
    channels: Mapping[str, Floats]
    units: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", readonly(self.t, (-1,), "analog channels: t"))
        check_times(self.t, "analog channels")
        rows = {label: readonly(x, self.t.shape, f"analog channel '{label}'") for label, x in self.channels.items()}
        object.__setattr__(self, "channels", MappingProxyType(rows))
        object.__setattr__(self, "units", MappingProxyType(dict(self.units)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Analog, (self.t, dict(self.channels), dict(self.units))

    def __repr__(self) -> str:
        return f"Analog({', '.join(self.channels)}: {len(self.t)} samples from {self.t[0]:g} to {self.t[-1]:g} s)"

    @property
    def rate(self) -> float:
        """Samples per second [Hz]."""
        return sampling_rate(self.t, "analog channels")


@dataclass(frozen=True, eq=False)
class Capture:
    """One trial of a motion laboratory.

    Parameters
    ----------
    name : str
        Name of the file.
    t : (n,) [s]
        Times of the markers, increasing.
    markers : mapping of str to (n, 3) [m]
        Positions by label; NaN where a marker was not visible.  Axes: z up, right-handed.
    forces : tuple of GroundForce
        One per force plate, each with its own times.
    events : tuple of GaitEvent
        Events of the file, sorted by time.
    subject : Subject
        The person who walked.
    axes : str
        Conversion of the file's axes and units, in words.
    notes : tuple of str
        One sentence for every assumption that was not read from a file.
    analog : Analog, optional
        Channels beside those of force plates, as ``models.walking.emg`` takes them; None if there are none.
    date : str
        Of the recording, as the file states it; "" if it does not.
    """

    name: str
    t: Floats
    markers: Mapping[str, Floats]
    forces: tuple[GroundForce, ...] = ()
    events: tuple[GaitEvent, ...] = ()
    subject: Subject = field(default_factory=Subject)
    axes: str = "z up, right-handed; m"
    notes: tuple[str, ...] = ()
    analog: Analog | None = None
    date: str = ""

    def __post_init__(self) -> None:
        n = len(self.t)
        object.__setattr__(self, "t", readonly(self.t, (-1,), f"{self.name}: t"))
        check_times(self.t, self.name)
        markers = {label: readonly(p, (n, 3), f"{self.name}: marker '{label}'") for label, p in self.markers.items()}
        object.__setattr__(self, "markers", MappingProxyType(markers))
        object.__setattr__(self, "forces", tuple(self.forces))
        object.__setattr__(self, "events", tuple(sorted(self.events)))
        object.__setattr__(self, "notes", tuple(self.notes))

    def __reduce__(self) -> tuple[Any, ...]:
        return Capture, tuple((vars(self) | {"markers": dict(self.markers)}).values())

    def __repr__(self) -> str:
        plates = ", ".join(grf.plate for grf in self.forces) or "no force plates"
        return f"Capture({self.name!r}: {len(self.markers)} markers, {len(self.t)} frames, {plates}, {len(self.events)} events)"

    @property
    def rate(self) -> float:
        """Frames of the markers per second [Hz]."""
        return sampling_rate(self.t, self.name)

    def marker(self, label: str) -> Floats:
        """Positions (n, 3) [m] of a marker, NaN where it was not visible.

        Raises
        ------
        ModelError
            If no marker has this label; lists the labels of the trial.
        """
        if label in self.markers:
            return self.markers[label]
        plain = {"".join(filter(str.isalnum, known)).lower(): known for known in self.markers}
        near = difflib.get_close_matches("".join(filter(str.isalnum, label)).lower(), list(plain), n=3, cutoff=0.6)
        meant = f"; did you mean {' or '.join(repr(plain[key]) for key in near)}?" if near else ";"
        raise ModelError(f"{self.name}: no marker '{label}'{meant} it has {', '.join(self.markers) or 'no markers'}")

    def force(self, plate: str) -> GroundForce:
        """The ground force of a plate.

        Raises
        ------
        ModelError
            If no plate has this name.
        """
        for grf in self.forces:
            if grf.plate == plate:
                return grf
        has = ", ".join(grf.plate for grf in self.forces) or "no force plates"
        raise ModelError(f"{self.name}: no force plate '{plate}'; it has {has}")

    def gaps(self) -> dict[str, list[tuple[int, int]]]:
        """Gaps of each marker as slices (first missing frame, first visible frame after the gap).

        Markers without gaps are omitted.  The second number is n if the gap lasts to the end of the trial.
        """
        found = {}
        for label, positions in self.markers.items():
            ends = runs(~all_finite(positions))
            if ends:
                found[label] = ends
        return found

    def crop(self, t0: float, t1: float) -> Capture:
        """Keep the interval from t0 to t1 [s], ends included; times are not shifted.

        Raises
        ------
        ModelError
            If no frame of the markers lies in the interval.
        """
        tiny = 1e-9 * max(1.0, abs(t0), abs(t1))  # files round their times
        keep = (self.t >= t0 - tiny) & (self.t <= t1 + tiny)
        if not keep.any():
            raise ModelError(
                f"{self.name}: no frame between {t0:g} s and {t1:g} s; the trial lasts from {self.t[0]:g} to {self.t[-1]:g} s"
            )
        forces = []
        for grf in self.forces:
            part = (grf.t >= t0 - tiny) & (grf.t <= t1 + tiny)
            if part.any():
                rows = {name: getattr(grf, name)[part] for name in ("t", "force", "cop", "free_moment")}
                forces.append(replace(grf, **rows))
        analog = self.analog
        if analog is not None:
            part = (analog.t >= t0 - tiny) & (analog.t <= t1 + tiny)
            rows = {label: x[part] for label, x in analog.channels.items()}
            analog = replace(analog, t=analog.t[part], channels=rows) if part.any() else None
        return replace(
            self,
            analog=analog,
            t=self.t[keep],
            markers={label: positions[keep] for label, positions in self.markers.items()},
            forces=tuple(forces),
            events=tuple(event for event in self.events if t0 - tiny <= event.time <= t1 + tiny),
        )

    def mirrored(self) -> Capture:
        """Reflect in the plane y = 0, so that y is medial for a left foot; sides and labels keep their names.

        Lateral positions and forces change their sign, and so do free moments, which are axial vectors.
        """
        axes = self.axes.removesuffix(MIRRORED) if self.axes.endswith(MIRRORED) else self.axes + MIRRORED
        return self._moved(np.diag([1.0, -1.0, 1.0]), axes)

    def turned(self, angle: float) -> Capture:
        """Rotate about the vertical by an angle [rad], from x towards y; quarter turns are exact."""
        c, s = math.cos(angle), math.sin(angle)
        quarters = round(2.0 * angle / math.pi)
        if math.isclose(angle, quarters * math.pi / 2.0, abs_tol=1e-12):
            c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return self._moved(turn, f"{self.axes}; turned by {math.degrees(angle):g} degrees about the vertical")

    def _moved(self, turn: Floats, axes: str) -> Capture:
        markers = {label: positions @ turn.T for label, positions in self.markers.items()}
        return replace(self, markers=markers, forces=tuple(grf.moved(turn) for grf in self.forces), axes=axes)
