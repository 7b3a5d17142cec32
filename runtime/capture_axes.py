"""From a file's axes, units and signs to Talus': z up, right-handed, SI, with forces that act on the foot.

A reader gives the ``Contents`` of a file, in the file's own axes; ``brought_to_talus`` finds the vertical, turns everything
and refuses what cannot be a person's gait.  What readers share stands at the end: units, labels and events.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.capture import SIDES, Capture, Floats, GaitEvent, GroundForce, Side, Subject, all_finite, check_times
from runtime.errors import ModelError
from runtime.plates import at_cop

AXES = "xyz"
UNITS = ("mm", "cm", "m")
LENGTHS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "millimeters": 1e-3, "centimeters": 1e-2, "meters": 1.0, "metres": 1.0}
LOADED = 20.0  # [N] vertical force from which a sample tells signs and axes
UNLOADED = 5.0  # [N] below it the noise of the moments puts the centre of pressure anywhere
EXTENT = (0.1, 3.0)  # [m] what the markers of a person, or of a foot, can span
MOST_FORCE = 20e3  # [N]
FAR = 5.0  # [m] between the markers and a centre of pressure under them
CLEARLY = 1.5  # times as long as the other two, for the axis along which a person's markers extend
MOSTLY = 3.0  # times as large as the other two, for the axis along which the ground pushes

# Rows are Talus' axes in the file's: right-handed, so that left stays left.
TURNS: dict[str, tuple[Floats, str]] = {
    "z": (np.eye(3), "x = X, y = Y, z = Z"),
    "y": (np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), "x = X, y = -Z, z = Y"),
    "x": (np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]), "x = Y, y = Z, z = X"),
    "-z": (np.diag([1.0, -1, -1]), "x = X, y = -Y, z = -Z"),
    "-y": (np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), "x = X, y = Z, z = -Y"),
    "-x": (np.array([[0.0, 1, 0], [0, 0, -1], [-1, 0, 0]]), "x = Y, y = -Z, z = -X"),
}


class Wrench(NamedTuple):
    """Force and moment of one plate as a file has them, in the file's axes, SI units."""

    plate: str
    t: Floats  # (m,) [s]
    force: Floats  # (m, 3) [N]
    point: Floats  # (m, 3) [m] where the force is applied
    moment: Floats  # (m, 3) [N m] about that point
    corners: Floats | None = None  # (4, 3) [m]
    foot: Side | None = None


@dataclass
class Contents:
    """What a file holds, in its own axes, SI units."""

    path: Path
    t: Floats  # (n,) [s]
    labels: list[str]
    points: Floats  # (n, labels, 3) [m]
    units: str  # a phrase for Capture.axes
    metres: float  # for one unit of position in the file
    wrenches: list[Wrench] = field(default_factory=list)
    events: list[GaitEvent] = field(default_factory=list)
    subject: Subject = field(default_factory=Subject)
    up: tuple[str, str] | None = None  # the vertical as the file tells it, and where it does
    notes: list[str] = field(default_factory=list)


def brought_to_talus(contents: Contents, up: str | None) -> Capture:
    """The capture of what a file holds; ``up`` is the vertical where the file and its data are overruled.

    Raises
    ------
    ModelError
        Naming the file, the rule, the value and what to do about it.
    """
    name, labels, points, notes = contents.path.name, contents.labels, contents.points, contents.notes
    if not labels:
        raise ModelError(f"{name}: no markers; Talus needs labelled positions of markers over time")
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ModelError(
            f"{name}: marker {', '.join(map(repr, twice))} is there {labels.count(twice[0])} times; labels must differ: rename "
            "or remove all but one"
        )
    check_times(contents.t, name)
    zero = (points == 0.0).all(axis=2)
    if zero.any():
        notes.append(f"{int(zero.sum())} positions of exactly 0, 0, 0 are taken as markers that were not seen")
    seen = all_finite(points) & ~zero
    points[~seen] = np.nan
    if not seen.any():
        raise ModelError(f"{name}: none of its {len(labels)} markers is seen in any frame; there is nothing to read")
    unseen = [label for label, ever in zip(labels, seen.any(axis=0), strict=True) if not ever]
    if unseen:
        notes.append(f"never seen: {', '.join(unseen)}")

    for wrench in contents.wrenches:
        _check_forces(wrench)
    middle = _median_positions(points, seen)
    vertical = up or _vertical(contents, middle)
    turn, words = TURNS[vertical]
    middle = middle @ turn.T
    _refuse_impossible_size(name, middle, contents.metres)
    forces = []
    for wrench in contents.wrenches:
        wrench = wrench._replace(
            force=wrench.force @ turn.T,
            point=wrench.point @ turn.T,
            moment=wrench.moment @ turn.T,
            corners=None if wrench.corners is None else wrench.corners @ turn.T,
        )
        forces.append(_ground_force(name, wrench, middle, notes))
        _compare_clocks(name, contents.t, wrench, notes)
    _refuse_sideways(name, forces, vertical)
    return Capture(
        name=name,
        t=contents.t,
        markers=dict(zip(labels, (points @ turn.T).transpose(1, 0, 2), strict=True)),
        forces=tuple(forces),
        events=tuple(contents.events),
        subject=contents.subject,
        axes=f"the file has {vertical} up, {'kept' if vertical == 'z' else f'turned to {words}'}; {contents.units}",
        notes=tuple(notes),
    )


def _median_positions(points: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Where the markers are (k, 3) [m]: each marker's median, after the whole body's walk is taken out of it."""
    # Only markers that are seen nearly always tell how the body walks, or each that drops out would pull its centre.
    always = seen.mean(axis=0) > 0.9
    steady = points[:, always if always.any() else seen.any(axis=0)]
    rows = all_finite(steady).any(axis=1)
    centre = np.nanmean(steady[rows], axis=1)
    relative = points[rows][:, seen[rows].any(axis=0)] - centre[:, None]
    return np.asarray(np.nanmedian(relative, axis=0) + np.median(centre, axis=0))


def _vertical(contents: Contents, middle: Floats) -> str:
    """The file's vertical, by what the file says, the plates, the ground's push, or the shape of a person."""
    physical = _axis_of_plates(contents.wrenches) or _axis_of_forces(contents.wrenches)
    if contents.up is not None:
        told, where = contents.up
        if physical is None or physical[0] == told[-1]:
            return told
        contents.notes.append(f"{where} says that {told} is up, but {physical[1]}, and that is what counts")
    shape = _axis_of_labels(contents.labels, middle) or _axis_of_markers(middle)
    found = physical or shape
    if found is None:
        raise ModelError(
            f"{contents.path.name}: the file does not tell its vertical axis, and its markers extend "
            f"{_lengths(np.ptp(middle, axis=0))} along x, y, z, which leaves it open; give up='z' or up='y'"
        )
    axis, why = found
    if shape is not None and shape[0][-1] == axis:
        axis = shape[0]  # with its sense, where labels tell it
    if len(axis) == 1:
        k = AXES.index(axis)
        corners = [wrench.corners[:, k].mean() for wrench in contents.wrenches if wrench.corners is not None]
        # A person stands on the plates, or on the floor, which laboratories have close to zero.
        heights = middle[:, k] - (np.mean(corners) if corners else 0.0)
        axis = "-" + axis if heights.max() < -heights.min() else axis
    axis = axis.lstrip("+")
    contents.notes.append(f"the vertical is {axis}, because {why}; up= overrules it")
    return axis


# Parts of labels that many marker sets share: of the foot and ankle, and of what is above the shank.
LOW = re.compile(r"(?i)heel|hee\b|toe|(?<!sh)ank(le|\b)|mall|calc|foot|\bfcc|_fcc|fm[1256]|fal\b|tam\b|mt[1256]")
HIGH = re.compile(
    r"(?i)head|temple|asis|psis|asi\b|psi\b|_ias|_ips|ftc|acrom|stern|hip|troch|thigh|thi\b|knee|kne\b|fle\b|fme\b|c7|cv7|sacr|shoulder"
)


def _axis_of_labels(labels: Sequence[str], middle: Floats) -> tuple[str, str] | None:
    """The signed axis from the feet to the body, by the names of the markers."""
    if len(labels) != len(middle):  # some were never seen
        return None
    low = [k for k, label in enumerate(labels) if LOW.search(label)]
    high = [k for k, label in enumerate(labels) if HIGH.search(label) and k not in low]
    if not low or not high:
        return None
    rise = middle[high].mean(axis=0) - middle[low].mean(axis=0)
    axis = _largest(np.abs(rise), CLEARLY)
    if axis is None:
        return None
    sense = "-" if rise[AXES.index(axis)] < 0.0 else "+"
    return sense + axis, f"{labels[high[0]]} and others are above {labels[low[0]]} and others along {axis}"


def _axis_of_plates(wrenches: Sequence[Wrench]) -> tuple[str, str] | None:
    normals = [np.abs(plate_axes(wrench.corners)[:, 2]) for wrench in wrenches if wrench.corners is not None]
    axes = {AXES[int(np.argmax(normal))] if normal.max() > 0.98 else "" for normal in normals}
    axis = axes.pop() if len(axes) == 1 else ""
    return (axis, f"the force plates are normal to {axis}") if axis else None


def _axis_of_forces(wrenches: Sequence[Wrench]) -> tuple[str, str] | None:
    axis = _largest(_push(wrench.force for wrench in wrenches), MOSTLY)
    return (axis, f"the mean ground force points along {axis}") if axis else None


def _push(forces: Iterable[Floats]) -> Floats:
    """Sizes (3,) of the plates' forces along the axes, each summed over the loaded samples."""
    loaded = (force[np.linalg.norm(force, axis=1) > LOADED] for force in forces)
    return np.asarray(sum((np.abs(force.sum(axis=0)) for force in loaded), np.zeros(3)))


def _axis_of_markers(middle: Floats) -> tuple[str, str] | None:
    extent = np.ptp(middle, axis=0)
    axis = _largest(extent, CLEARLY)
    return (axis, f"the markers extend {_lengths(extent)} along x, y, z") if axis else None


def _largest(sizes: Floats, times: float) -> str | None:
    order = np.argsort(sizes)
    return AXES[order[2]] if sizes[order[2]] > times * sizes[order[1]] else None


def _lengths(extent: Floats) -> str:
    return ", ".join(f"{length:.3g} m" for length in extent)


def _refuse_impossible_size(name: str, middle: Floats, metres: float) -> None:
    extent = np.ptp(middle, axis=0)
    if len(middle) < 2 or extent.max() >= EXTENT[0] and extent[2] <= EXTENT[1]:
        return
    fits = [unit for unit in UNITS if 0.3 <= extent[2] / metres * LENGTHS[unit] <= 2.2]
    remedy = f"units='{fits[0]}' would fit" if fits else "give units= as it is"
    raise ModelError(
        f"{name}: {extent[2]:.3g} m from the lowest to the highest marker, {extent.max():.3g} m at most along an axis; a "
        f"person's or a foot's markers span {EXTENT[0]:g} to {EXTENT[1]:g} m, so the unit of the positions is wrong: {remedy}"
    )


def _check_forces(wrench: Wrench) -> None:
    what = f"force plate '{wrench.plate}'"
    check_times(wrench.t, what)
    bad = np.flatnonzero(~all_finite(wrench.force))
    if len(bad):
        raise ModelError(
            f"{what}: the force of sample {bad[0] + 1}, at {wrench.t[bad[0]]:g} s, is not a finite number ({len(bad)} samples); "
            "every sample needs a force, 0 while unloaded"
        )
    most = np.abs(wrench.force).max()
    if most > MOST_FORCE:
        raise ModelError(
            f"{what}: a force of {most:.3g} N; no step makes more than {MOST_FORCE:g} N: its unit is not N"
        )


def _ground_force(name: str, wrench: Wrench, markers: Floats, notes: list[str]) -> GroundForce:
    """The wrench at the centre of pressure, on the foot; axes are Talus' by now."""
    plate, t, force, point, moment, corners, foot = wrench
    down = force[np.abs(force[:, 2]) > LOADED, 2]
    if not len(down):
        notes.append(f"{plate}: never loaded with more than {LOADED:g} N")
    elif down.mean() < 0.0:
        # The ground cannot pull: what the file holds is what the foot does to the plate.
        force, moment = -force, -moment
        notes.append(f"{plate}: the file has the force on the plate; turned, so that it acts on the foot")
    force, moment = force + 0.0, moment + 0.0  # no negative zeros
    loaded = np.abs(force[:, 2]) > UNLOADED
    bad = np.flatnonzero(loaded & ~(all_finite(point) & all_finite(moment)))
    if len(bad):
        raise ModelError(
            f"force plate '{plate}': no point or moment of the force at {t[bad[0]]:g} s, where it is {force[bad[0], 2]:.3g} N; "
            "every loaded sample needs them"
        )
    f = force[loaded]
    shift, free = at_cop(f, moment[loaded], 0.0)
    at = point[loaded] + shift
    pressed = f[:, 2] > LOADED
    if corners is None:
        surface = float(np.median(at[:, 2])) if len(at) else math.nan
        moved = 1e3 * np.linalg.norm(shift[pressed], axis=1).max(initial=0.0)
        if moved > 1.0:
            notes.append(
                f"{plate}: the file has horizontal moments at the point of the force; that point is moved, by {moved:.0f} mm at "
                "most, to where only a moment about the vertical is left"
            )
    else:
        surface, axes = float(corners[:, 2].mean()), plate_axes(corners)
        if abs(axes[2, 2]) < 0.9999:  # along its line of action a force stays what it is: to the sloping surface
            along = ((corners.mean(axis=0) - at) @ axes[:, 2]) / (f @ axes[:, 2])
            at = at + along[:, None] * f
        local, half = (np.abs((p - corners.mean(axis=0)) @ axes[:, :2]) for p in (at[pressed], corners))
        share = (local > half.max(axis=0) + 0.02).any(axis=1).mean() if pressed.any() else 0.0
        if share > 0.05:
            notes.append(
                f"{plate}: for {100 * share:.0f} % of the loaded time the centre of pressure is outside the plate's corners; "
                "check its origin, its corners and the unit of its moments"
            )
    away = np.linalg.norm((np.median(at[pressed], axis=0) - markers.mean(axis=0))[:2]) if pressed.any() else 0.0
    if away > FAR:
        raise ModelError(
            f"{name}: the centre of pressure of '{plate}' is {away:.3g} m from the markers, limit {FAR:g} m; the units or the "
            "axes of forces and markers differ"
        )
    cop, free_moment = np.full(force.shape, np.nan), np.zeros(len(force))
    cop[loaded], free_moment[loaded] = at, free
    return GroundForce(plate, t, force, cop, free_moment, corners, surface, foot)


def _compare_clocks(name: str, t: Floats, wrench: Wrench, notes: list[str]) -> None:
    if wrench.t[0] > t[-1] or wrench.t[-1] < t[0]:
        raise ModelError(
            f"{name}: markers from {t[0]:g} to {t[-1]:g} s, but '{wrench.plate}' from {wrench.t[0]:g} to {wrench.t[-1]:g} s; "
            "they are not of the same trial, or their clocks differ"
        )
    step = (t[-1] - t[0]) / max(len(t) - 1, 1)
    if wrench.t[0] > t[0] + step or wrench.t[-1] < t[-1] - step:
        notes.append(
            f"{wrench.plate}: measured from {wrench.t[0]:g} to {wrench.t[-1]:g} s only, the markers from {t[0]:g} to {t[-1]:g} s"
        )


def _refuse_sideways(name: str, forces: Sequence[GroundForce], vertical: str) -> None:
    push = _push(ground.force for ground in forces)
    if push[2] < push[:2].max():
        raise ModelError(
            f"{name}: with {vertical} up, the mean ground force is horizontal (along Talus' {AXES[int(np.argmax(push[:2]))]}); "
            "give up= as it is, and forces in the same axes as the markers"
        )


def plate_axes(corners: Floats) -> Floats:
    """Columns x, y, z of a plate (3, 3); the first corner is in its +x, +y quadrant, the second in -x, +y."""
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    z = np.cross(x, y)
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    return np.asarray(axes / np.linalg.norm(axes, axis=0))


# What readers share

STRIKE = re.compile(r"(?i)(foot|heel|toe)?[\s_-]*(strike|contact|down)|initial[\s_-]*contact")
OFF = re.compile(r"(?i)(foot|toe|heel)[\s_-]*off")
SHORT = re.compile(r"([lr]?)(?:(hs|fs|ic)|(to|fo))")


def gait_event(time: float, label: str, context: str) -> GaitEvent | None:
    """The event of a label such as "Foot Strike1" and a context such as "Right"; None where it is neither strike nor off."""
    side = side_of(context) or side_of(label)
    strike, off = bool(STRIKE.search(label)), bool(OFF.search(label))
    if short := SHORT.fullmatch(re.sub(r"[^a-z]", "", label.lower())):
        side, strike, off = side or side_of(short[1]), bool(short[2]), bool(short[3])
    return GaitEvent(time, "foot_strike" if strike else "foot_off", side) if side and (strike or off) else None


def side_of(text: str) -> Side | None:
    """The side that a text tells, such as "L", "Left" or "Foot Strike left"."""
    word = text.strip().lower()
    return next((side for side in SIDES if word == side[0] or re.search(rf"(^|[\s_-]){side}\b", word)), None)


def first_line(error: BaseException) -> str:
    """The beginning of an error's message, or its name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]


def unit_of_length(path: Path, told: str | None, where: str, units: str | None, notes: list[str]) -> tuple[float, str]:
    """Metres for one unit of position, and a phrase for it."""
    plain = (told or "").strip().lower()
    if units is not None:
        if plain and LENGTHS.get(plain) != LENGTHS[units]:
            notes.append(f"{path.name}: positions are taken as {units}, as told, although {where} says '{plain}'")
        return LENGTHS[units], f"{units} as told"
    if plain not in LENGTHS:
        says = f"{where} says '{plain}'" if plain else f"{where} does not tell"
        raise ModelError(f"{path.name}: the unit of the positions is not known: {says}; give units='mm', 'cm' or 'm'")
    return LENGTHS[plain], plain if plain == "m" else f"{plain} converted to m"


UNNAMED = re.compile(
    r"(?i)\s*(\*\s*\d*|[a-z]?\s*\d+|M\d{3,}|u?[\s_-]*(un)?named?[\s_*-]*\d*|u(n(known|labell?ed)?)?[\s_*-]*\d*|traj\w*[\s_*-]*\d+|)\s*"
)
# Real labels that look like a letter and a number: vertebrae, and the like.
ANATOMICAL = re.compile(r"(?i)[CTLS]\d{1,2}")


def named_markers(path: Path, labels: Sequence[str], notes: list[str]) -> tuple[list[str], list[int]]:
    """Labels that name something, and their places; a subject's name before all of them is taken off."""
    places = [k for k, label in enumerate(labels) if ANATOMICAL.fullmatch(label) or not UNNAMED.fullmatch(label)]
    left_out = len(labels) - len(places)
    if not places:
        some = ", ".join(repr(label) for label in labels[:3])
        raise ModelError(
            f"{path.name}: none of its {len(labels)} markers has a name ({some}, ...); label them in the capture software"
        )
    if left_out:
        notes.append(f"{left_out} markers without a name are left out")
    named = [labels[k] for k in places]
    prefixes = {label.split(":", 1)[0] for label in named if ":" in label}
    if len(prefixes) == 1 and all(":" in label for label in named):
        notes.append(f"'{prefixes.pop()}:' before every label is left out")
        named = [label.split(":", 1)[1] for label in named]
    return named, places
