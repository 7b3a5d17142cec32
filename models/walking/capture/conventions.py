"""From the axes, units and signs of a file to those of Talus: z up, right-handed, SI, forces that act on the foot.

``to_capture`` rotates the contents of a file to the vertical, reduces each wrench to its centre of pressure and refuses
data that cannot be the gait of a person.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from models.walking.capture.contents import AXES, LENGTHS, UNITS, Contents, Wrench, printable
from models.walking.capture.plates import at_cop, baseline, plate_axes
from models.walking.capture.trial import Capture, GroundForce
from models.walking.capture.vertical import LOADED, ROTATIONS, find_vertical, total_force
from models.walking.capture.visible import REACH, only_visible
from models.walking.samples import all_finite, check_times
from runtime import ModelError
from runtime.support.arrays import Floats

UNLOADED = 5.0  # [N] below it the noise of the moments dominates the centre of pressure
EXTENT = (0.1, 3.0)  # [m] range of the span of the markers of a person, or of a foot
WIDTH = 20.0  # [m] largest horizontal span of the markers of a trial, those fixed in the laboratory included
MAX_FORCE = 20e3  # [N]
MAX_MOMENT = 2e3  # [N m] about the vertical through the centre of pressure
MOST_LEVER = 0.1  # [m] of the free moment of a foot, in the median: friction over half of its length
RATES = (1.0, 1e5)  # [1/s] of markers and forces
FAR = 5.0  # [m] between the markers and a centre of pressure under them


def to_capture(contents: Contents, up: str | None) -> Capture:
    """Convert the contents of a file; ``up`` overrules the vertical that the file states or its data show.

    Raises
    ------
    ModelError
        With the file, the rule, the value and the remedy.
    """
    name, labels, points, notes = contents.path.name, contents.labels, contents.points, contents.notes
    if not labels:
        raise ModelError(f"{name}: no markers; Talus needs labelled positions of markers over time")
    _distinguish(labels, points, notes)
    check_times(contents.t, name)
    _check_rate(contents.t, name)
    seen = only_visible(points, labels, contents.metres, notes)
    if not seen.any():
        raise ModelError(f"{name}: none of its {len(labels)} markers is visible in any frame; there is nothing to read")
    ever = np.asarray(seen.any(axis=0))
    if not ever.all():
        notes.append(f"never visible: {', '.join(np.array(labels)[~ever])}")

    for wrench in contents.wrenches:
        _check_forces(wrench)
    middle = _median_positions(points, seen)
    vertical = find_vertical(contents, list(np.array(labels)[ever]), middle, up)
    turn, words = ROTATIONS[vertical]
    middle = middle @ turn.T
    _refuse_impossible_size(name, middle, contents.metres)
    forces = []
    for wrench in contents.wrenches:
        wrench = wrench._replace(
            force=wrench.force @ turn.T,
            point=_finite_rows(wrench.point) @ turn.T,
            moment=_finite_rows(wrench.moment) @ turn.T,
            corners=None if wrench.corners is None else wrench.corners @ turn.T,
        )
        forces.append(_ground_force(name, wrench, middle, notes))
        _compare_clocks(name, contents.t, wrench, notes)
    _refuse_sideways(name, forces, vertical)
    return Capture(
        name=printable(name),
        t=contents.t,
        markers=dict(zip(labels, (points @ turn.T).transpose(1, 0, 2), strict=True)),
        forces=tuple(forces),
        events=tuple(contents.events),
        subject=replace(contents.subject, name=contents.subject.name and printable(contents.subject.name)),
        axes=f"the file has {vertical} up, {'kept' if vertical == 'z' else f'turned to {words}'}; {contents.units}",
        notes=tuple(printable(note) for note in notes),
        analog=contents.analog,
        date=printable(contents.date),
    )


def _distinguish(labels: list[str], points: Floats, notes: list[str]) -> None:
    """Number the labels that occur more than once, as "HEEL (1 of 2)", so that only what needs such a marker is refused.

    Of markers with the same positions, and of those of which only one is ever seen, one keeps the label.
    """
    for label in sorted({label for label in labels if labels.count(label) > 1}):
        same = [k for k, other in enumerate(labels) if other == label]
        tracks = np.nan_to_num(points[:, same])
        others = [k for k in range(len(same)) if tracks[:, k].any()] or [0]
        kept = others[0] if all(np.array_equal(tracks[:, others[0]], tracks[:, k]) for k in others) else None
        for k, at in enumerate(same):
            if k != kept:
                labels[at] = f"{label} ({k + 1} of {len(same)})"
        reads = (
            "the others repeat one or are empty"
            if kept is not None
            else "give the right one by its number, or rename them"
        )
        notes.append(
            f"marker '{label}' occurs {len(same)} times; named '{label} (1 of {len(same)})' and so on: {reads}"
        )


def _median_positions(points: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Median position (k, 3) [m] of each marker that is ever visible, without the translation of the walking body."""
    # Only markers that are visible nearly always define the centre; one that drops out would shift it.
    always = seen.mean(axis=0) > 0.9
    steady = points[:, always if always.any() else seen.any(axis=0)]
    rows = all_finite(steady).any(axis=1)
    centre = np.nanmean(steady[rows], axis=1)
    relative = points[rows][:, seen[rows].any(axis=0)] - centre[:, None]
    return np.asarray(np.nanmedian(relative, axis=0) + np.median(centre, axis=0))


def _refuse_impossible_size(name: str, middle: Floats, metres: float) -> None:
    extent = np.ptp(middle, axis=0)
    if len(middle) < 2 or EXTENT[0] <= extent.max() <= WIDTH and extent[2] <= EXTENT[1]:
        return
    fits = [unit for unit in UNITS if 0.3 <= extent[2] / metres * LENGTHS[unit] <= 2.2]
    wrong = (
        f"is wrong: units='{fits[0]}' would fit" if fits else "or the vertical is wrong: give the correct units= or up="
    )
    raise ModelError(
        f"{name}: {extent[2]:.3g} m from the lowest to the highest marker, at most {extent.max():.3g} m along an axis; a "
        f"person's or a foot's markers span {EXTENT[0]:g} to {EXTENT[1]:g} m, and at most {WIDTH:g} m with those fixed in the "
        f"laboratory, so the unit of the positions {wrong}"
    )


def _check_forces(wrench: Wrench) -> None:
    what = f"force plate '{wrench.plate}'"
    check_times(wrench.t, what)
    _check_rate(wrench.t, what)
    bad = np.flatnonzero(~all_finite(wrench.force))
    if len(bad):
        raise ModelError(
            f"{what}: the force of sample {bad[0] + 1}, at {wrench.t[bad[0]]:g} s, is not a finite number ({len(bad)} samples); "
            "every sample needs a force, 0 while unloaded"
        )
    largest = np.abs(wrench.force).max()
    if largest > MAX_FORCE:
        raise ModelError(
            f"{what}: a force of {largest:.3g} N; no step exceeds {MAX_FORCE:g} N: its unit is not N, or the sample is an outlier"
        )


def _finite_rows(values: Floats) -> Floats:
    """Vectors (m, 3), NaN where a component is not finite: infinity times 0 has no value."""
    return np.where(all_finite(values)[:, None], values, np.nan)


def _check_rate(t: Floats, what: str) -> None:
    """Refuse a mean step of times that no laboratory has."""
    if len(t) < 2:
        return
    rate = (len(t) - 1) / float(t[-1] - t[0]) if t[-1] - t[0] < math.inf else 0.0
    if not RATES[0] <= rate <= RATES[1]:
        raise ModelError(
            f"{what}: {rate:.3g} samples per second; laboratories record {RATES[0]:g} to {RATES[1]:g}: the times are not in s, "
            "or their rate is wrong"
        )


def _ground_force(name: str, wrench: Wrench, markers: Floats, notes: list[str]) -> GroundForce:
    """Reduce a wrench in the axes of Talus to the centre of pressure, acting on the foot."""
    plate, t, force, point, moment, corners, foot = wrench
    down = force[np.abs(force[:, 2]) > LOADED, 2]
    if not len(down):
        notes.append(f"{plate}: never loaded with more than {LOADED:g} N")
    elif down.mean() < 0.0:
        # The ground cannot pull: the file stores the force of the foot on the plate.
        force, moment = -force, -moment
        notes.append(
            f"{plate}: the file stores the force on the plate; its sign is reversed, so that it acts on the foot"
        )
    force, moment = force + 0.0, moment + 0.0  # no negative zeros
    loaded = np.abs(force[:, 2]) > UNLOADED
    bad = np.flatnonzero(loaded & ~(all_finite(point) & all_finite(moment)))
    if len(bad):
        raise ModelError(
            f"force plate '{plate}': no point of application or moment at {t[bad[0]]:g} s, where it is {force[bad[0], 2]:.3g} N; "
            "every loaded sample needs them"
        )
    if corners is not None:
        # The sensors are below the surface; many files store their depth with the other sign.
        over = point - corners.mean(axis=0)
        point = np.where(over[:, 2:] > 0.0, point - 2.0 * over, point)
    f = force[loaded]
    shift, free = at_cop(f, moment[loaded], 0.0)
    at = point[loaded] + shift
    pressed = f[:, 2] > LOADED
    if corners is None:
        surface = float(np.median(at[:, 2])) if len(at) else math.nan
        moved = 1e3 * np.linalg.norm(shift[pressed], axis=1).max(initial=0.0)
        if moved > 1.0:
            notes.append(
                f"{plate}: the file has horizontal moments at the point of the force; that point is moved, by at most "
                f"{moved:.0f} mm, to where only a moment about the vertical remains"
            )
    else:
        centre, axes = corners.mean(axis=0), plate_axes(corners)
        surface, normal = float(centre[2]), axes[:, 2]
        # The line of action meets the surface.
        at = at + ((centre - at) @ normal / (f @ normal))[:, None] * f
        if normal[2] > 0.0:
            notes.append(
                f"{plate}: by the order of its corners its z axis points up, not into the floor as the format defines; read as "
                "listed: correct FORCE_PLATFORM:CORNERS if forces point sideways"
            )
        local, half = (np.abs((p - centre) @ axes[:, :2]) for p in (at[pressed], corners))
        share = (local > half.max(axis=0) + 0.02).any(axis=1).mean() if pressed.any() else 0.0
        if share > 0.05:
            notes.append(
                f"{plate}: for {100 * share:.0f} % of the loaded time the centre of pressure is outside the plate's corners; "
                "check its origin, its corners and the unit of its moments"
            )
    away = np.abs((at[pressed] - markers.mean(axis=0))[:, :2]).max(axis=1)
    if len(away) and np.median(away) > FAR:
        raise ModelError(
            f"{name}: the centre of pressure of '{plate}' is {np.median(away):.3g} m from the markers, limit {FAR:g} m; the "
            "units, the axes or the points of moments of forces and markers differ"
        )
    _refuse_outliers(f"force plate '{plate}'", t[loaded][pressed], away, free[pressed])
    lever = float(np.median(np.abs(free[pressed]) / np.linalg.norm(f[pressed], axis=1))) if pressed.any() else 0.0
    if lever > MOST_LEVER:
        notes.append(
            f"{plate}: its free moment is as large as its force at a lever of {lever:.2g} m (median), where a foot's is at most "
            f"{MOST_LEVER:g} m; check the unit of its moments"
        )
    cop, free_moment = np.full(force.shape, np.nan), np.zeros(len(force))
    cop[loaded], free_moment[loaded] = at, free
    grf = GroundForce(plate, t, force, cop, free_moment, corners, surface, foot)
    notes += [said] if (said := baseline(grf)) else []
    return grf


def _refuse_outliers(what: str, t: Floats, away: Floats, free: Floats) -> None:
    """Refuse single samples, of loaded times t (m,), whose point (distance ``away`` [m]) or free moment no foot can have."""
    for values, limit, name, unit in ((away, REACH, "the centre of pressure", "m from the markers"),
                                      (np.abs(free), MAX_MOMENT, "the free moment", "N m")):  # fmt: skip
        bad = np.flatnonzero(values > limit)
        if len(bad):
            raise ModelError(
                f"{what}: at {t[bad[0]]:g} s {name} is {values[bad[0]]:.3g} {unit}, limit {limit:g} ({len(bad)} samples); remove "
                "or correct these samples, or the unit of the plate's channels"
            )


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
    total = total_force(grf.force for grf in forces)
    if total[2] < total[:2].max():
        raise ModelError(
            f"{name}: with {vertical} up, the mean ground force is horizontal (along {AXES[int(np.argmax(total[:2]))]} of "
            "Talus); give the correct up=, and forces in the same axes as the markers"
        )
