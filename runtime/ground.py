"""Feet on the ground: where they walk, which foot is on which force plate, when they strike and leave, and gait cycles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from runtime.capture import SIDES, Capture, EventKind, Floats, GaitEvent, GroundForce, Side, all_finite
from runtime.errors import ModelError
from runtime.plates import RELEASE, SHORTEST, THRESHOLD, combined, contacts
from runtime.plates import filtered as filtered  # one place for users: runtime.ground

ON_PLATE = 0.12  # [m] between the centre of pressure and a foot that stands there; markers are not at the sole's edge
FAR = 0.25  # [m] beyond this a load is somebody else's
BOTH = 0.1  # of the loaded time: from which share of a second foot a plate counts as touched by both
MATCH = 0.06  # [s] between events of two sources that are the same
NEAR = 0.25  # [s] between an event in the file and that of the forces which it means
STANCE = (0.25, 2.5)  # [s] from strike to off that can be walking or running
STRIDE = (0.4, 4.0)  # [s] from strike to strike of the same foot
SWING = 0.2  # [m] that a foot goes forwards or backwards relative to the body in a step
WALKED = 0.3  # [m] the markers' centre goes in a trial over ground; less is standing or a treadmill
SKEW = math.radians(10.0)  # between walking and an axis of the laboratory that is still meant to be the same

FootMarkers = Mapping[Side, Sequence[str]]
Source = Literal["file", "forces", "forces and markers", "markers"]

# Heel first, then the forefoot; {s} is the side's letter.  The first row of which a heel and a forefoot marker are there counts.
KNOWN_FEET: tuple[tuple[str, ...], ...] = (
    ("{s}_FCC", "{s}_FM1", "{s}_FM5", "{s}_FM2"),  # Leardini's points, as in Schreiber and Moissenet's data
    ("{s}.Heel", "{s}.Toe.Med", "{s}.Toe.Lat", "{s}.Midfoot.Lat", "{s}.Toe.Tip"),  # OpenSim's subject01
    ("{s}HEE", "{s}TOE"),  # Plug-in Gait
    ("{s}CA", "{s}FM", "{s}VM", "{s}SM"),  # Leardini's foot
    ("{s}HEEL", "{s}MT1", "{s}MT5"),
    ("{s}Heel", "{s}Toe"),
    ("{s}_Heel", "{s}_Toe"),
    ("{s}_heel", "{s}_toe"),
    ("{s}Calc", "{s}MT1", "{s}MT5", "{s}Toe"),
    ("{s}_calc", "{s}_mt1", "{s}_mt5"),
)


def foot_markers(capture: Capture) -> dict[Side, tuple[str, ...]]:
    """Heel and forefoot markers of each foot, where the labels are those of a marker set known here: heel first.

    Raises
    ------
    ModelError
        Where neither foot has them.
    """
    found: dict[Side, tuple[str, ...]] = {}
    for side in SIDES:
        for row in KNOWN_FEET:
            heel, *fore = (label.format(s=side[0].upper()) for label in row)
            seen = {label for label in (heel, *fore) if np.isfinite(capture.markers.get(label, np.nan)).any()}
            here = [label for label in fore if label in seen]
            if heel in seen and here:
                found[side] = (heel, *here)
                break
    if not found:
        raise ModelError(
            f"{capture.name}: no heel and forefoot markers among {', '.join(capture.markers)}; name them, heel first: "
            "feet={'right': ('R_heel', 'R_toe')}"
        )
    return found


def heading(capture: Capture, feet: FootMarkers | None = None) -> tuple[float, str]:
    """The direction of walking as an angle [rad] about the vertical from x towards y, and a sentence on how it was found.

    Over ground: from where the markers are at first to where they are at last.  Standing or on a treadmill: from the heels
    to the forefeet.  ``capture.turned(-angle)`` makes the walking go along +x.
    """
    points = np.stack(list(capture.markers.values()), axis=1)
    first, last = _ends(points)
    # Of the markers seen at both, so that one that drops out does not move the centre.
    both = np.isfinite(points[[first, last]]).all(axis=(0, 2))
    way = (points[last, both] - points[first, both]).mean(axis=0)[:2] if both.any() else np.zeros(2)
    if np.linalg.norm(way) > WALKED:
        angle = math.atan2(way[1], way[0])
        return angle, f"walks {np.linalg.norm(way):.2f} m towards {round(math.degrees(angle))} degrees from x"
    along = np.zeros(2)
    for heel, *fore in (feet or foot_markers(capture)).values():
        foot = np.mean([capture.marker(label) for label in fore], axis=0) - capture.marker(heel)
        seen = all_finite(foot)
        if seen.any():
            along += foot[seen].mean(axis=0)[:2]
    if not along.any():
        raise ModelError(f"{capture.name}: no direction of walking: nobody walks, and no foot shows heel and forefoot")
    angle = math.atan2(along[1], along[0])
    return angle, f"stays in place; the feet point towards {round(math.degrees(angle))} degrees from x"


def along_x(capture: Capture, feet: FootMarkers | None = None) -> tuple[Capture, str]:
    """The capture turned about the vertical so that walking goes along +x, and a sentence on the turn.

    A laboratory's axes are kept where they fit: a heading within 10 degrees of one of them takes quarter turns, which are
    exact; any other is turned as it is.
    """
    angle, found = heading(capture, feet)
    quarters = round(2.0 * angle / math.pi)
    turn = quarters * math.pi / 2.0 if abs(angle - quarters * math.pi / 2.0) < SKEW else angle
    sentence = f"{capture.name} {found}; turned by {-math.degrees(turn) + 0.0:g} degrees so that it is along +x"
    return (capture.turned(-turn) if turn else capture), sentence


def _ends(points: Floats) -> tuple[int, int]:
    """First and last frame in which most of the markers that are ever seen are seen."""
    seen = all_finite(points).sum(axis=1)
    good = np.flatnonzero(seen >= 0.5 * seen.max())
    return int(good[0]), int(good[-1])


# Feet on plates


@dataclass(frozen=True)
class Assignment:
    """Which foot is on which plate.

    ``sides`` has the plates that one foot touched; ``left_out`` a sentence on each other plate; ``far`` those of them whose
    load is so far from every foot seen that none of it is theirs.
    """

    sides: Mapping[str, Side]
    left_out: Mapping[str, str]
    far: frozenset[str] = frozenset()

    def plates(self, side: Side) -> tuple[str, ...]:
        """Names of the plates that only this foot touched."""
        return tuple(plate for plate, on in self.sides.items() if on == side)


def assign_feet(capture: Capture, feet: FootMarkers | None = None, *, threshold: float = THRESHOLD) -> Assignment:
    """Find the foot on each plate: the one that is nearest to the centre of pressure while the plate is loaded.

    The distance is the horizontal one to the line from the heel to the forefoot markers.  A plate that is loaded under both
    feet, under none, or never is left out, with a sentence.

    Parameters
    ----------
    capture : Capture
    feet : mapping of side to labels, optional
        Heel first, then forefoot markers; ``foot_markers`` where not given.
    threshold : float [N]
        Of contacts.
    """
    feet = dict(feet or foot_markers(capture))
    sides: dict[str, Side] = {}
    left_out: dict[str, str] = {}
    far: set[str] = set()
    for ground in capture.forces:
        stances = contacts(ground, threshold=threshold)
        plate = f"{capture.name}: force plate '{ground.plate}'"
        if not stances:
            left_out[ground.plate] = f"{plate} is never loaded: no contact of {threshold:g} N lasts {SHORTEST:g} s"
            continue
        loaded = np.concatenate([np.arange(start, stop) for start, stop in stances])
        loaded = loaded[(ground.t[loaded] >= capture.t[0]) & (ground.t[loaded] <= capture.t[-1])]
        loaded = loaded[all_finite(ground.cop[loaded])]
        t, cop = ground.t[loaded], ground.cop[loaded, :2]
        # Where the force is small, noise moves the centre of pressure.
        weight = ground.force[loaded, 2]
        away = {side: _distance(capture, labels, t, cop) for side, labels in feet.items()}
        known = np.isfinite(np.stack(list(away.values()))).all(axis=0)
        if not known.any():
            left_out[ground.plate] = (
                f"{plate}: the markers of the feet are not seen while it is loaded; fill their gaps"
            )
            continue
        names = list(away)
        distances = np.stack([away[side][known] for side in names])
        nearest = distances.argmin(axis=0)
        shares = np.array([weight[known][nearest == k].sum() for k in range(len(names))])
        shares = shares / shares.sum()
        side = names[int(shares.argmax())]
        typical = float(np.median(away[side][known][nearest == names.index(side)]))
        if typical > ON_PLATE:
            far |= {ground.plate} if typical > FAR else set()
            left_out[ground.plate] = (
                f"{plate}: under none of the feet; the nearest, {side}, is {typical:.2f} m from the centre of pressure, limit "
                f"{ON_PLATE:g} m: somebody else stepped on it, or its place or its clock differs from the markers'"
            )
        elif len(names) > 1 and shares.min() > BOTH:
            left_out[ground.plate] = (
                f"{plate}: touched by both feet ({' and '.join(f'{100 * s:.0f} %' for s in shares)} of its load are near the "
                f"{' and the '.join(names)} foot); its force cannot be told apart: choose another step or trial"
            )
        elif ground.foot is not None and ground.foot != side:
            left_out[ground.plate] = (
                f"{plate}: the markers show the {side} foot on it, {typical:.2f} m from the centre of pressure, but the file "
                f"says {ground.foot}; correct what is wrong"
            )
        else:
            sides[ground.plate] = side
    return Assignment(sides, left_out, frozenset(far))


def _distance(capture: Capture, labels: Sequence[str], t: Floats, point: Floats) -> Floats:
    """Horizontal distance (m,) [m] at times (m,) from points (m, 2) to the foot's line from heel to forefoot."""
    if len(labels) < 2:
        raise ModelError(f"{capture.name}: a foot needs its heel and a forefoot marker; {list(labels)} was given")
    heel = _at(capture, capture.marker(labels[0])[:, :2], t)
    fore = [_at(capture, capture.marker(label)[:, :2], t) for label in labels[1:]]
    # To the nearest of the lines to each forefoot marker, so that both edges of the foot count.
    return np.asarray(np.fmin.reduce([_to_segment(point, heel, toe) for toe in fore]))


def _to_segment(point: Floats, start: Floats, end: Floats) -> Floats:
    along = end - start
    share = ((point - start) * along).sum(axis=1) / np.maximum((along * along).sum(axis=1), 1e-12)
    return np.asarray(np.linalg.norm(point - start - np.clip(share, 0.0, 1.0)[:, None] * along, axis=1))


def _at(capture: Capture, positions: Floats, t: Floats) -> Floats:
    """Positions at other times, linearly, which is near enough to tell feet apart; NaN beside gaps."""
    return np.stack([np.interp(t, capture.t, positions[:, k]) for k in range(positions.shape[1])], axis=1)


def foot_force(
    capture: Capture, side: Side, assignment: Assignment | None = None, *, threshold: float = THRESHOLD
) -> GroundForce:
    """All that the plates do to one foot, combined.

    Raises
    ------
    ModelError
        Where no plate was touched by this foot alone, with the reason for each plate.
    """
    found = assignment or assign_feet(capture, threshold=threshold)
    plates = found.plates(side)
    if not plates:
        if not capture.forces:
            raise ModelError(
                f"{capture.name}: no force plates; ground forces are needed under the {side} foot: give forces="
            )
        others = [f"force plate '{plate}' is under the {on} foot" for plate, on in found.sides.items()]
        raise ModelError(
            f"{capture.name}: no force plate under the {side} foot alone; {'; '.join([*others, *found.left_out.values()])}"
        )
    return combined([capture.force(plate) for plate in plates], name=f"{side} foot", threshold=threshold)


# Events and gait cycles


def events_from_forces(
    capture: Capture, assignment: Assignment | None = None, *, threshold: float = THRESHOLD
) -> tuple[GaitEvent, ...]:
    """Foot strikes and foot offs where the vertical force under a foot goes through the threshold [N].

    A contact that is under way at the first or the last sample gives no strike or no off.  Several plates under one foot
    count as one.
    """
    found = assignment or assign_feet(capture, threshold=threshold)
    events = []
    for side in SIDES:
        if not found.plates(side):
            continue
        ground = foot_force(capture, side, found, threshold=threshold)
        for start, stop in contacts(ground, threshold=threshold):
            if not _under_way(ground, start, threshold):
                events.append(GaitEvent(float(ground.t[start]), "foot_strike", side))
            if not _under_way(ground, stop - 1, threshold):
                events.append(GaitEvent(float(ground.t[stop - 1]), "foot_off", side))
    return tuple(sorted(events))


def _under_way(ground: GroundForce, k: int, threshold: float) -> bool:
    """Whether the contact that sample k begins or ends goes on before the first or after the last sample."""
    until = ground.force[: k + 1, 2] if k < len(ground.t) / 2 else ground.force[k:, 2]
    return bool((until > RELEASE * threshold).all())


def events_from_markers(capture: Capture, feet: FootMarkers | None = None) -> tuple[GaitEvent, ...]:
    """Foot strikes where the heel is farthest ahead of the body, foot offs where the forefoot is farthest behind it.

    After Zeni, Richards and Higginson, Gait & Posture 27 (2008) 710-714.  The body is the centre of all other markers; the
    method is meant for walking, over ground or on a treadmill, and is good to a few hundredths of a second.
    """
    from scipy.signal import find_peaks  # here, because it takes half a second to import

    feet = dict(feet or foot_markers(capture))
    angle, _ = heading(capture, feet)
    ahead = np.array([math.cos(angle), math.sin(angle), 0.0])
    of_feet = {label for labels in feet.values() for label in labels}
    body = [position @ ahead for label, position in capture.markers.items() if label not in of_feet]
    body = [signal for signal in body if np.isfinite(signal).all()]
    if not body:
        raise ModelError(
            f"{capture.name}: no marker of the body is seen all the time, which gait events from markers need"
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
            for k in find_peaks(filled, distance=max(1, round(STRIDE[0] * rate)))[0]:
                # Trials are often cut just beside a strike: a swing before or after it is enough.
                swing = filled[k] - min(filled[max(0, k - window) : k + window + 1])
                if seen[k] and swing > SWING:
                    events.append(GaitEvent(float(capture.t[k]), kind, side))
    return tuple(sorted(events))


@dataclass(frozen=True)
class GaitCycle:
    """From a foot strike to the next of the same foot.

    ``complete`` tells that the foot's whole stance is on force plates that no other foot touched.
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
        """Part of the cycle in which the foot is on the ground, 0 to 1."""
        return (self.off - self.strike) / (self.next_strike - self.strike)


def gait_cycles(
    capture: Capture,
    side: Side,
    *,
    feet: FootMarkers | None = None,
    assignment: Assignment | None = None,
    threshold: float = THRESHOLD,
) -> tuple[GaitCycle, ...]:
    """All gait cycles of one foot: from the file's events, else the forces, else the forces and markers, else the markers.

    The first of these sources that gives a whole cycle counts; where forces give strike and off but no next strike, that one
    comes from the markers.  Whatever the file does not tell is said in the ``note``.

    Parameters
    ----------
    capture : Capture
    side : {"left", "right"}
    feet : mapping of side to labels, optional
        Heel first, then forefoot markers.
    assignment : Assignment, optional
        What ``assign_feet`` found, where it was asked already.
    threshold : float [N]
        Of contacts.

    Raises
    ------
    ModelError
        Where no source gives a cycle, with what each has.
    """
    if side not in SIDES:
        raise ModelError(f"side = {side!r}; use 'left' or 'right'")
    reasons = []
    pushed: tuple[GaitEvent, ...] = ()
    if assignment is None and capture.forces:
        try:
            assignment = assign_feet(capture, feet, threshold=threshold)
        except ModelError as error:
            reasons.append(str(error))
    assignment = assignment or Assignment({}, {})
    if assignment.plates(side):
        pushed = events_from_forces(capture, assignment, threshold=threshold)
    seen: tuple[GaitEvent, ...] = ()
    if not _spans(capture.events, side) and not _spans(pushed, side):
        try:
            seen = events_from_markers(capture, feet)
        except ModelError as error:
            reasons.append(str(error))
    sources: tuple[tuple[Source, tuple[GaitEvent, ...], str], ...] = (
        ("file", capture.events, ""),
        ("forces", pushed, f"foot strikes and offs are where the vertical force goes through {threshold:g} N"),
        (
            "forces and markers",
            _supplemented(pushed, seen, side),
            f"foot strike and off are where the vertical force goes through {threshold:g} N; the next strike is where the heel "
            "is farthest ahead of the body",
        ),
        (
            "markers",
            seen,
            "foot strikes are where the heel is farthest ahead of the body, offs where the forefoot is farthest behind",
        ),
    )
    for source, events, note in sources:
        spans = _spans(events, side)
        if spans:
            return tuple(_cycle(capture, side, span, source, note, assignment, pushed, threshold) for span in spans)
    counted = (
        f"{_count(capture.events, side)} in the file, {_count(pushed, side)} from the force plates, {_count(seen, side)} from "
        "the markers"
    )
    because = f" ({'; '.join(reasons)})" if reasons else ""
    raise ModelError(
        f"{capture.name}: no gait cycle of the {side} foot, which takes a foot strike, a foot off and the next strike: events of "
        f"that foot are {counted}{because}; mark events in the file, or give a longer trial or another side"
    )


def gait_cycle(
    capture: Capture,
    side: Side,
    *,
    feet: FootMarkers | None = None,
    assignment: Assignment | None = None,
    threshold: float = THRESHOLD,
) -> GaitCycle:
    """The first gait cycle of one foot whose stance is on force plates as a whole, else the first one.

    Parameters and errors are those of ``gait_cycles``.
    """
    cycles = gait_cycles(capture, side, feet=feet, assignment=assignment, threshold=threshold)
    return next((cycle for cycle in cycles if cycle.complete), cycles[0])


def _spans(events: Sequence[GaitEvent], side: Side) -> list[tuple[float, float, float]]:
    """Strike, off and next strike of one foot, where all three follow one another in plausible times."""
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
    """Events of the forces, and those strikes of the markers that no contact accounts for."""
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
) -> GaitCycle:
    strike, off, following = span
    plates = tuple(plate for plate in assignment.plates(side) if _touched(capture.force(plate), strike, off, threshold))
    unclear = [
        plate
        for plate in assignment.left_out
        if plate not in assignment.far and _touched(capture.force(plate), strike, off, threshold)
    ]
    complete = False
    notes = [note]
    if plates:
        ground = foot_force(capture, side, assignment, threshold=threshold)
        for start, stop in contacts(ground, threshold=threshold):
            t0, t1 = ground.t[start], ground.t[stop - 1]
            complete = complete or bool(abs(t0 - strike) <= MATCH and abs(t1 - off) <= MATCH)
    if unclear:
        # Part of this foot's load may be on a plate whose force cannot be told apart.
        complete = False
        notes += [assignment.left_out[plate] for plate in unclear]
    told: tuple[tuple[EventKind, float], ...] = (("foot_strike", strike), ("foot_off", off)) if source == "file" else ()
    for kind, time in told:
        apart = min((abs(other - time) for other in _times(pushed, kind, side)), default=0.0)
        if MATCH / 2.0 < apart < NEAR:
            notes.append(f"the file's {kind.replace('_', ' ')} at {time:g} s is {apart:.3f} s off the force's")
    return GaitCycle(side, strike, off, following, source, plates, complete, "; ".join(filter(None, notes)))


def _touched(ground: GroundForce, t0: float, t1: float, threshold: float) -> bool:
    """Whether a contact of a plate covers a good part of a stance."""
    overlap = [
        min(t1, ground.t[stop - 1]) - max(t0, ground.t[start]) for start, stop in contacts(ground, threshold=threshold)
    ]
    return any(o > BOTH * (t1 - t0) for o in overlap)


def _count(events: Sequence[GaitEvent], side: Side) -> int:
    return sum(event.side == side for event in events)
