"""Gait events, foot strike and foot off, from files, ground forces or markers, and gait cycles between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from models.walking.capture.plates import RELEASE, THRESHOLD, loaded_intervals, plate_axes
from models.walking.capture.trial import SIDES, Capture, EventKind, GaitEvent, GroundForce, Side
from models.walking.heading import FootMarkers, foot_markers, heading
from models.walking.marker_strikes import strike_time
from models.walking.plate_assignment import Assignment, assign_feet, foot_force
from runtime import ModelError
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats

OVERLAP = 0.1  # of a stance, from which on a loaded plate counts as touched in it
MATCH = 0.06  # [s] largest difference between two sources of one event
ON_EDGE = 0.02  # [m] beyond the corners of a plate, within which a marker of a foot is on it
NEAR = 0.25  # [s] largest difference between an event in the file and the event of the forces that corresponds to it
STANCE = (0.25, 2.5)  # [s] plausible times from strike to off, in walking and running
STRIDE = (0.4, 4.0)  # [s] plausible times from strike to strike of one foot
SWING = 0.2  # [m] travel of a foot relative to the body in a step
ELSE = "or, where it does not turn, 42 ms after the heel is farthest ahead of the body"

Source = Literal["file", "forces", "forces and markers", "markers"]


@checked
def events_from_forces(
    capture: Capture, assignment: Assignment | None = None, *, threshold: float = THRESHOLD
) -> tuple[GaitEvent, ...]:
    """Foot strikes and foot offs at which the vertical force under a foot crosses the threshold [N].

    A stance that has begun before the first sample has no strike, one that continues beyond the last sample no off.  Several
    plates under one foot count as one.
    """
    found = assignment or assign_feet(capture, threshold=threshold)
    events = []
    for side in SIDES:
        if not found.plates(side):
            continue
        grf = foot_force(capture, side, found, threshold=threshold)
        for start, stop in loaded_intervals(grf, threshold=threshold):
            if not _cut_by_recording(grf, start, threshold):
                events.append(GaitEvent(float(grf.t[start]), "foot_strike", side))
            if not _cut_by_recording(grf, stop - 1, threshold):
                events.append(GaitEvent(float(grf.t[stop - 1]), "foot_off", side))
    return tuple(sorted(events))


def _cut_by_recording(grf: GroundForce, k: int, threshold: float) -> bool:
    """Whether the loading that sample k begins or ends extends beyond the first or the last sample."""
    until = grf.force[: k + 1, 2] if k < len(grf.t) / 2 else grf.force[k:, 2]
    return bool((until > RELEASE * threshold).all())


@checked
def events_from_markers(
    capture: Capture, feet: FootMarkers | None = None, *, plates: Sequence[GaitEvent] = ()
) -> tuple[GaitEvent, ...]:
    """Foot strikes just before the foot turns down fastest, foot offs where the forefoot is farthest behind the body.

    Strikes are found where the heel is farthest ahead of the body, as offs after Zeni, Richards and Higginson, Gait & Posture 27
    (2008) 710-714; the body is the centre of all other markers.  The fastest turn of the foot then gives the time, less its mean
    delay: 3 ms (median) and 10 ms (largest) off the force plates in nine adults who were left out in turn (Schreiber and
    Moissenet 2019).  A foot that does not turn down strikes 42 ms after its heel is farthest ahead, within a few hundredths of a
    second.  The method is meant for walking, over ground or on a treadmill.

    Parameters
    ----------
    capture : Capture
    feet : mapping of side to labels, optional
        Heel first, then forefoot markers; ``foot_markers`` by default.
    plates : sequence of GaitEvent
        Events of force plates of the same trial, whose delays correct the mean one.

    Raises
    ------
    ModelError
        If no marker of the body is visible all the time.
    """
    from scipy.signal import find_peaks  # here because the import takes half a second

    feet = dict(feet or foot_markers(capture))
    angle, _ = heading(capture, feet)
    ahead = np.array([math.cos(angle), math.sin(angle), 0.0])
    of_feet = {label for labels in feet.values() for label in labels}
    body = [position @ ahead for label, position in capture.markers.items() if label not in of_feet]
    body = [signal for signal in body if np.isfinite(signal).all()]
    if not body:
        raise ModelError(
            f"{capture.name}: no marker of the body is visible all the time; gait events from markers need one"
        )
    centre = np.mean(body, axis=0)
    rate = capture.rate
    events = []
    for side, (heel, *fore) in feet.items():
        front = capture.marker(heel) @ ahead - centre
        back = centre - np.mean([capture.marker(label) for label in fore], axis=0) @ ahead
        kinds: tuple[tuple[EventKind, Floats], ...] = (("foot_strike", front), ("foot_off", back))
        for kind, signal in kinds:
            seen = np.isfinite(signal)
            if seen.sum() < 3:
                continue
            filled = np.interp(capture.t, capture.t[seen], signal[seen])
            window = round(STRIDE[1] / 4.0 * rate)
            peaks = find_peaks(filled, distance=max(1, round(STRIDE[0] * rate)))[0]
            # Trials are often cut close to a strike, so a swing on one side of it suffices.
            swings = [filled[k] - min(filled[max(0, k - window) : k + window + 1]) for k in peaks]
            times = [float(capture.t[k]) for k, swing in zip(peaks, swings, strict=True) if seen[k] and swing > SWING]
            if kind == "foot_strike":
                times = [strike_time(capture, feet, side, time, plates)[0] for time in times]
            events += [GaitEvent(time, kind, side) for time in times if capture.t[0] <= time <= capture.t[-1]]
    return tuple(sorted(events))


def with_sides(
    capture: Capture,
    feet: FootMarkers | None = None,
    assignment: Assignment | None = None,
    *,
    threshold: float = THRESHOLD,
) -> tuple[Capture, str]:
    """The capture with the foot of each event of the file of which the file does not state it, and a sentence on how.

    It is the foot of the nearest event of that kind of the force plates, else of the markers, within 0.25 s; other events are
    left out.
    """
    unknown = [event for event in capture.events if event.side == "unknown"]
    if not unknown:
        return capture, ""
    of_plates = events_from_forces(capture, assignment, threshold=threshold) if capture.forces else ()
    try:
        of_markers = events_from_markers(capture, feet, plates=of_plates)
    except ModelError:
        of_markers = ()
    found, counts = [], {"force plates": 0, "markers": 0}
    for event in unknown:
        for source, known in zip(counts, (of_plates, of_markers), strict=True):
            near = [(abs(other.time - event.time), other.side) for other in known if other.kind == event.kind]
            if near and min(near)[0] <= NEAR:
                found.append(replace(event, side=min(near)[1]))
                counts[source] += 1
                break
    how = ", ".join(f"{count} by the {source}" for source, count in counts.items() if count)
    lost = len(unknown) - len(found)
    words = [f"{capture.name} does not state the foot of {len(unknown)} events"]
    words += [f"it is found for {how}"] if how else []
    words += [f"{lost} with no foot's event of this kind within {NEAR:g} s are left out"] if lost else []
    stated = [event for event in capture.events if event.side != "unknown"]
    return replace(capture, events=tuple(sorted([*stated, *found]))), "; ".join(words)


@checked_class
@dataclass(frozen=True)
class GaitCycle:
    """A gait cycle, from a foot strike to the next one of the same foot.

    ``complete``: the whole stance is on force plates that no other foot touched.  ``note``: assumptions, and deviations
    between sources.
    """

    side: Side
    strike: float  # [s]
    off: float  # [s]
    next_strike: float  # [s]
    source: Source
    plates: tuple[str, ...]
    complete: bool
    note: str = ""

    @property
    def stance(self) -> float:
        """Share of the cycle in which the foot is on the ground, 0 to 1."""
        return (self.off - self.strike) / (self.next_strike - self.strike)


@checked
def gait_cycles(
    capture: Capture,
    side: Side,
    *,
    feet: FootMarkers | None = None,
    assignment: Assignment | None = None,
    threshold: float = THRESHOLD,
) -> tuple[GaitCycle, ...]:
    """All gait cycles of one foot: from the file's events, else the forces, else the forces and markers, else the markers.

    The first of these sources with a whole cycle is used; if forces give strike and off but no next strike, the latter comes
    from the markers.  Events that were not read from the file are described in the ``note``.

    Parameters
    ----------
    capture : Capture
    side : {"left", "right"}
    feet : mapping of side to labels, optional
        Heel first, then forefoot markers.
    assignment : Assignment, optional
        Result of ``assign_feet``, to save its repetition.
    threshold : float [N]
        Vertical force of a loaded plate.

    Raises
    ------
    ModelError
        If no source gives a cycle, with the number of events in each.
    """
    if side not in SIDES:
        raise ModelError(f"side = {side!r}; use 'left' or 'right'")
    reasons = []
    pushed: tuple[GaitEvent, ...] = ()
    if feet is None and any(event.side == "unknown" for event in capture.events):
        feet = foot_markers(capture)
    if assignment is None and capture.forces:
        try:
            assignment = assign_feet(capture, feet, threshold=threshold)
        except ModelError as error:
            reasons.append(str(error))
    assignment = assignment or Assignment({}, {})
    capture, sided = with_sides(capture, feet, assignment, threshold=threshold)
    if assignment.plates(side):
        pushed = events_from_forces(capture, assignment, threshold=threshold)
    seen: tuple[GaitEvent, ...] = ()
    if not _spans(capture.events, side) and not _spans(pushed, side):
        try:
            seen = events_from_markers(capture, feet, plates=pushed)
        except ModelError as error:
            reasons.append(str(error))
    for source, events, note in _sources(capture, side, pushed, seen, threshold, sided):
        spans = _spans(events, side)
        if spans:
            return tuple(
                _cycle(capture, side, span, source, note, assignment, pushed, threshold, feet) for span in spans
            )
    counted = (
        f"{_count(capture.events, side)} in the file, {_count(pushed, side)} from the force plates, {_count(seen, side)} from "
        "the markers"
    )
    because = f" ({'; '.join(reasons)})" if reasons else ""
    raise ModelError(
        f"{capture.name}: no gait cycle of the {side} foot, which takes a foot strike, a foot off and the next strike: events of "
        f"that foot are {counted}{because}; mark events in the file, or give a longer trial or another side"
    )


def _sources(
    capture: Capture,
    side: Side,
    pushed: tuple[GaitEvent, ...],
    seen: tuple[GaitEvent, ...],
    threshold: float,
    sided: str,
) -> tuple[tuple[Source, tuple[GaitEvent, ...], str], ...]:
    """Sources of events in their order of preference, with their events and a note."""
    return (
        ("file", capture.events, sided),
        ("forces", pushed, f"foot strikes and offs are where the vertical force crosses {threshold:g} N"),
        (
            "forces and markers",
            _supplemented(pushed, seen, side),
            f"foot strike and off are where the vertical force crosses {threshold:g} N; the next strike is just before the foot "
            f"turns down fastest, {ELSE}",
        ),
        (
            "markers",
            seen,
            f"foot strikes are just before the foot turns down fastest, {ELSE}; offs are where the forefoot is farthest behind",
        ),
    )


@checked
def gait_cycle(
    capture: Capture,
    side: Side,
    *,
    feet: FootMarkers | None = None,
    assignment: Assignment | None = None,
    threshold: float = THRESHOLD,
) -> GaitCycle:
    """First gait cycle of one foot whose whole stance is on force plates, else its first cycle.

    Parameters and errors are those of ``gait_cycles``.
    """
    cycles = gait_cycles(capture, side, feet=feet, assignment=assignment, threshold=threshold)
    return next((cycle for cycle in cycles if cycle.complete), cycles[0])


def _spans(events: Sequence[GaitEvent], side: Side) -> list[tuple[float, float, float]]:
    """Strike, off and next strike of one foot where the three follow one another at plausible intervals."""
    strikes, offs = _times(events, "foot_strike", side), _times(events, "foot_off", side)
    spans = []
    for strike, following in zip(strikes[:-1], strikes[1:], strict=True):
        between = [off for off in offs if strike < off < following]
        if len(between) != 1:
            continue
        if STANCE[0] <= between[0] - strike <= STANCE[1] and STRIDE[0] <= following - strike <= STRIDE[1]:
            spans.append((strike, between[0], following))
    return spans


def _times(events: Sequence[GaitEvent], kind: EventKind, side: Side) -> list[float]:
    return [event.time for event in events if (event.kind, event.side) == (kind, side)]


def _supplemented(pushed: Sequence[GaitEvent], seen: Sequence[GaitEvent], side: Side) -> tuple[GaitEvent, ...]:
    """Events of the forces, and strikes of the markers after the last foot off of the forces."""
    offs = _times(pushed, "foot_off", side)
    if not offs or not _times(pushed, "foot_strike", side):
        return ()
    later = [time for time in _times(seen, "foot_strike", side) if time > max(offs) + MATCH]
    return tuple(sorted([*pushed, *(GaitEvent(time, "foot_strike", side) for time in later)]))


def _cycle(
    capture: Capture,
    side: Side,
    span: tuple[float, float, float],
    source: Source,
    note: str,
    assignment: Assignment,
    pushed: Sequence[GaitEvent],
    threshold: float,
    feet: FootMarkers | None,
) -> GaitCycle:
    strike, off, following = span
    own = {plate: assignment.force(capture, plate, side) for plate in assignment.plates(side)}
    plates = tuple(plate for plate, grf in own.items() if _touched(grf, strike, off, threshold))
    unclear = [
        plate
        for plate in assignment.left_out
        if plate not in assignment.far and _touched(capture.force(plate), strike, off, threshold)
    ]
    spans = contacts(capture, side, assignment, threshold=threshold) if plates else []
    complete = any(max(abs(t0 - strike), abs(t1 - off)) <= MATCH for t0, t1 in spans)
    if source == "file" and not complete:
        # Marked early or late, beside a contact that is whole; a contact that ends earlier must not go on beside the plates.
        whole = {event.time for event in pushed if event.side == side}
        complete = any(
            {t0, t1} <= whole
            and max(abs(t0 - strike), abs(t1 - off)) < NEAR
            and (t0 <= strike + MATCH or _on_plates(capture, plates, side, feet, t0, "foot_strike"))
            and (t1 >= off - MATCH or _on_plates(capture, plates, side, feet, t1, "foot_off"))
            for t0, t1 in spans
        )
    notes = [note]
    if unclear:
        # Part of this foot's load may be on a plate whose force cannot be assigned to one foot.
        complete = False
        notes += [assignment.left_out[plate] for plate in unclear]
    marked: tuple[tuple[EventKind, float], ...] = (
        (("foot_strike", strike), ("foot_off", off)) if source == "file" else ()
    )
    for kind, time in marked:
        apart = min((abs(other - time) for other in _times(pushed, kind, side)), default=0.0)
        if MATCH / 2.0 < apart < NEAR:
            notes.append(f"the file's {kind.replace('_', ' ')} at {time:g} s is {apart:.3f} s off that of the forces")
    return GaitCycle(side, strike, off, following, source, plates, complete, "; ".join(filter(None, notes)))


def contacts(
    capture: Capture, side: Side, assignment: Assignment, *, threshold: float = THRESHOLD
) -> list[tuple[float, float]]:
    """First and last time [s] of each contact of a foot with its plates."""
    grf = foot_force(capture, side, assignment, threshold=threshold)
    return [(float(grf.t[a]), float(grf.t[b - 1])) for a, b in loaded_intervals(grf, threshold=threshold)]


def _on_plates(
    capture: Capture, plates: Sequence[str], side: Side, feet: FootMarkers | None, time: float, kind: EventKind
) -> bool:
    """Whether the heel at a strike, or the forefoot at an off, is on one of the plates, or the place of one is not known."""
    heel, *fore = (feet or foot_markers(capture))[side]
    frame = int(np.argmin(np.abs(capture.t - time)))
    points = np.array([capture.marker(label)[frame] for label in ([heel] if kind == "foot_strike" else fore)])
    for corners in (capture.force(plate).corners for plate in plates):
        if corners is None:
            return True
        centre, axes = corners.mean(axis=0), plate_axes(corners)[:, :2]
        half = np.abs((corners - centre) @ axes).max(axis=0) + ON_EDGE
        if (np.abs((points - centre) @ axes) <= half).all(axis=1).any():
            return True
    return False


def _touched(grf: GroundForce, t0: float, t1: float, threshold: float) -> bool:
    """Whether a plate is loaded for more than a tenth of a stance."""
    overlap = [
        min(t1, grf.t[stop - 1]) - max(t0, grf.t[start]) for start, stop in loaded_intervals(grf, threshold=threshold)
    ]
    return any(o > OVERLAP * (t1 - t0) for o in overlap)


def _count(events: Sequence[GaitEvent], side: Side) -> int:
    return sum(event.side == side for event in events)
