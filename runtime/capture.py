"""What a motion laboratory measured in one trial: markers, ground forces, events and the subject, in Talus' axes and units.

All arrays are read-only.  Axes: z up, right-handed, horizontal axes as in the file; SI units.  ``read_capture`` reads C3D,
TRC with MOT or STO, and CSV files; what it decided instead of reading stands in ``Capture.notes``.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from runtime.errors import ModelError

Floats = NDArray[np.float64]
Side = Literal["left", "right"]
EventKind = Literal["foot_strike", "foot_off"]

SIDES: tuple[Side, Side] = ("left", "right")
UNEVEN = 0.1  # of a sample: times that are rounded in a file are still called evenly spaced
MIRRORED = "; mirrored, y to -y"


def readonly(values: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """A read-only copy of an array.

    Parameters
    ----------
    values : array_like
        Numbers.
    shape : tuple of int
        What its shape must be; -1 stands for any length.
    what : str
        What the error calls it.

    Raises
    ------
    ModelError
        Where the shape differs.
    """
    array = np.array(values, dtype=float)
    if array.ndim != len(shape) or any(want not in (-1, have) for want, have in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("n" if n < 0 else str(n) for n in shape)
        raise ModelError(f"{what}: shape {array.shape}; it must be ({wanted}{',' if len(shape) == 1 else ''})")
    array.flags.writeable = False
    return array


def all_finite(values: Floats) -> NDArray[np.bool_]:
    """Where all numbers along the last axis are finite, such as the coordinates of a marker that was seen."""
    return np.asarray(np.isfinite(values).all(axis=-1))


def check_times(t: Floats, what: str) -> None:
    """Refuse times (n,) [s] that are not finite or do not increase.

    Raises
    ------
    ModelError
        Naming the sample and both times.
    """
    if not len(t):
        raise ModelError(f"{what}: zero frames; there is nothing to read")
    bad = np.flatnonzero(~np.isfinite(t))
    if len(bad):
        raise ModelError(
            f"{what}: the time of sample {bad[0] + 1} is {t[bad[0]]}; all times must be finite numbers [s]"
        )
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        n = int(back[0])
        raise ModelError(
            f"{what}: the time goes from {t[n]:g} s to {t[n + 1]:g} s at sample {n + 2}; times must increase: remove the "
            "samples that are out of order or double"
        )


def sampling_rate(t: Floats, what: str) -> float:
    """Samples per second [Hz] of evenly spaced times (n,) [s].

    Raises
    ------
    ModelError
        Where there are fewer than two samples or the spacing differs by more than a tenth of a sample.
    """
    if len(t) < 2:
        raise ModelError(f"{what}: {len(t)} sample; a sampling rate needs two at least")
    step = float(t[-1] - t[0]) / (len(t) - 1)
    off = np.abs(t - t[0] - step * np.arange(len(t)))
    worst = int(np.argmax(off))
    if off[worst] > UNEVEN * step:
        raise ModelError(
            f"{what}: times are not evenly spaced: sample {worst + 1} is {1e3 * off[worst]:.3g} ms off a step of "
            f"{1e3 * step:.4g} ms; resample it to even times"
        )
    return 1.0 / step


@dataclass(frozen=True)
class Subject:
    """Who walked; None where the file does not tell."""

    name: str | None = None
    mass: float | None = None  # [kg]
    height: float | None = None  # [m]
    sex: str | None = None  # "male" or "female"
    age: float | None = None  # [years]


@dataclass(frozen=True, order=True)
class GaitEvent:
    """A foot that meets or leaves the ground."""

    time: float  # [s], on the capture's clock
    kind: EventKind
    side: Side


@dataclass(frozen=True, eq=False)
class GroundForce:
    """What one force plate does to the foot: a force at the centre of pressure and a moment about the vertical there.

    Parameters
    ----------
    plate : str
        Name.
    t : (m,) [s]
        Increasing, on the clock of the markers.
    force : (m, 3) [N]
        Acts on the foot.
    cop : (m, 3) [m]
        Centre of pressure; NaN while the plate is unloaded.
    free_moment : (m,) [N m]
        About the vertical through the centre of pressure, on the foot; 0 while unloaded.
    corners : (4, 3) [m], optional
        Of the plate's surface.
    surface : float [m]
        Height of the surface, NaN where it is not known.
    foot : {"left", "right"}, optional
        Which foot the file says is on it; ``runtime.ground.assign_feet`` finds out from the markers.
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
        """The same after a rotation about the vertical or a reflection (3, 3) that keeps it."""
        corners = None if self.corners is None else self.corners @ turn.T
        # A moment is an axial vector: a reflection that keeps the vertical turns its vertical part round.
        moment = self.free_moment * np.sign(np.linalg.det(turn))
        return replace(
            self, force=self.force @ turn.T, cop=self.cop @ turn.T, free_moment=moment + 0.0, corners=corners
        )


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
        By label; NaN where a marker was not seen.  Axes: z up, right-handed.
    forces : tuple of GroundForce
        One for each force plate, with times of their own.
    events : tuple of GaitEvent
        As the file has them, by time.
    subject : Subject
        Who walked.
    axes : str
        How the file's axes and units were converted.
    notes : tuple of str
        A sentence on everything that was decided instead of read.
    """

    name: str
    t: Floats
    markers: Mapping[str, Floats]
    forces: tuple[GroundForce, ...] = ()
    events: tuple[GaitEvent, ...] = ()
    subject: Subject = field(default_factory=Subject)
    axes: str = "z up, right-handed; m"
    notes: tuple[str, ...] = ()

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
        plates = ", ".join(ground.plate for ground in self.forces) or "no force plates"
        return f"Capture({self.name!r}: {len(self.markers)} markers, {len(self.t)} frames, {plates}, {len(self.events)} events)"

    @property
    def rate(self) -> float:
        """Frames of the markers per second [Hz]."""
        return sampling_rate(self.t, self.name)

    def marker(self, label: str) -> Floats:
        """Positions (n, 3) [m] of a marker, NaN where it was not seen.

        Raises
        ------
        ModelError
            Where there is none of that label, with those that there are.
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
            Where there is no plate of that name.
        """
        for ground in self.forces:
            if ground.plate == plate:
                return ground
        has = ", ".join(ground.plate for ground in self.forces) or "no force plates"
        raise ModelError(f"{self.name}: no force plate '{plate}'; it has {has}")

    def gaps(self) -> dict[str, list[tuple[int, int]]]:
        """Where markers were not seen: (first frame missing, first frame seen again), as slices have it.

        Markers without gaps are left out.  The second number is n where the marker is not seen again.
        """
        found = {}
        for label, positions in self.markers.items():
            ends = runs(~all_finite(positions))
            if ends:
                found[label] = ends
        return found

    def crop(self, t0: float, t1: float) -> Capture:
        """The part from t0 to t1 [s], both included; the clock stays.

        Raises
        ------
        ModelError
            Where no frame of the markers lies between.
        """
        tiny = 1e-9 * max(1.0, abs(t0), abs(t1))  # times come from files that round them
        keep = (self.t >= t0 - tiny) & (self.t <= t1 + tiny)
        if not keep.any():
            raise ModelError(
                f"{self.name}: no frame between {t0:g} s and {t1:g} s; the trial lasts from {self.t[0]:g} to {self.t[-1]:g} s"
            )
        forces = []
        for ground in self.forces:
            part = (ground.t >= t0 - tiny) & (ground.t <= t1 + tiny)
            if part.any():
                rows = {name: getattr(ground, name)[part] for name in ("t", "force", "cop", "free_moment")}
                forces.append(replace(ground, **rows))
        return replace(
            self,
            t=self.t[keep],
            markers={label: positions[keep] for label, positions in self.markers.items()},
            forces=tuple(forces),
            events=tuple(event for event in self.events if t0 - tiny <= event.time <= t1 + tiny),
        )

    def mirrored(self) -> Capture:
        """The mirror image in the plane y = 0, where y of a left foot is medial; sides and labels keep their names.

        Lateral positions and forces change their sign, and so do free moments, which are axial.
        """
        axes = self.axes.removesuffix(MIRRORED) if self.axes.endswith(MIRRORED) else self.axes + MIRRORED
        return self._moved(np.diag([1.0, -1.0, 1.0]), axes)

    def turned(self, angle: float) -> Capture:
        """The same, turned about the vertical by an angle [rad], from x towards y; quarter turns are exact."""
        c, s = math.cos(angle), math.sin(angle)
        quarters = round(2.0 * angle / math.pi)
        if math.isclose(angle, quarters * math.pi / 2.0, abs_tol=1e-12):
            c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return self._moved(turn, f"{self.axes}; turned by {math.degrees(angle):g} degrees about the vertical")

    def _moved(self, turn: Floats, axes: str) -> Capture:
        markers = {label: positions @ turn.T for label, positions in self.markers.items()}
        return replace(self, markers=markers, forces=tuple(ground.moved(turn) for ground in self.forces), axes=axes)


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Start and stop, as slices have them, of the runs of True among flags (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def read_capture(
    path: str | Path, *, forces: str | Path | None = None, up: str | None = None, units: str | None = None
) -> Capture:
    """Read one trial.

    Parameters
    ----------
    path : path
        A file of markers: ``.c3d``, ``.trc`` or ``.csv``.
    forces : path, optional
        A file of ground forces: ``.mot``, ``.sto``, ``.csv`` or ``.c3d``.  Where it is not given: those in the C3D file
        itself, else a file beside it (``walk_grf.mot`` to ``walk.trc``, ``walk_forces.csv`` to ``walk_markers.csv``, ...).
    up : {"x", "y", "z", "-x", "-y", "-z"}, optional
        The file's vertical axis.  Where it is not given: what the file says, else what its data show.
    units : {"mm", "cm", "m"}, optional
        Of the positions, where the file does not say it or says it wrongly.

    Returns
    -------
    Capture
        In Talus' axes and units: z up, right-handed, SI.

    Raises
    ------
    ModelError
        Naming the file, the rule, the value and what to do about it.
    """
    from runtime.capture_tables import read  # it needs the classes above

    return read(Path(path), forces=None if forces is None else Path(forces), up=up, units=units)
