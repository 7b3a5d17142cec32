"""Which foot is on which force plate and when, from the distance between feet and centres of pressure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from models.walking.capture.plates import SHORTEST, THRESHOLD, combined, loaded_intervals
from models.walking.capture.trial import Capture, GroundForce, Side
from models.walking.heading import FootMarkers, foot_markers
from models.walking.samples import all_finite
from runtime import ModelError
from runtime.support import checked
from runtime.support.arrays import Floats

ON_PLATE = 0.12  # [m] between the centre of pressure and a foot that stands there; markers are not at the sole's edge
FAR = 0.25  # [m] beyond this a load belongs to somebody else
FORWARDS = 0.2  # of the length of a foot: what the centre of pressure covers at least from heel to toes during a step
STEP = 0.3  # [s] least duration of a step whose centre of pressure is compared with the foot
PARTS = (0.1, 0.25), (0.75, 0.9)  # of the step: early, late
BOTH = 0.1  # share of the load near a second foot above which a plate counts as touched by both


@dataclass(frozen=True)
class Assignment:
    """The foot on each force plate.

    ``sides`` holds the plates that one foot touched; ``divided`` those that both feet touched in turn: side, start and end [s] of
    each part in time; ``left_out`` a sentence on each other plate; ``far`` those of the latter whose load is so far from both
    feet that no part of it belongs to them.
    """

    sides: Mapping[str, Side]
    left_out: Mapping[str, str]
    far: frozenset[str] = frozenset()
    doubts: tuple[str, ...] = ()
    divided: Mapping[str, tuple[tuple[Side, float, float], ...]] = field(default_factory=dict)

    def plates(self, side: Side) -> tuple[str, ...]:
        """Names of the plates that this foot touched, alone or in turn with the other foot."""
        alone = [plate for plate, on in self.sides.items() if on == side]
        return (*alone, *(plate for plate, parts in self.divided.items() if any(on == side for on, _, _ in parts)))

    def force(self, capture: Capture, plate: str, side: Side) -> GroundForce:
        """Ground force of a plate on one foot: of a divided plate unloaded outside of the parts of this foot."""
        grf = capture.force(plate)
        if plate not in self.divided:
            return grf
        own = np.zeros(len(grf.t), dtype=bool)
        for on, start, end in self.divided[plate]:
            if on == side:
                own |= (grf.t >= start) & (grf.t < end)
        force, cop, free = np.array(grf.force), np.array(grf.cop), np.array(grf.free_moment)
        force[~own], cop[~own], free[~own] = 0.0, np.nan, 0.0
        return replace(grf, force=force, cop=cop, free_moment=free)

    def notes(self, capture: Capture) -> list[str]:
        """A sentence on each plate that is divided in time."""
        first, last = capture.t[0], capture.t[-1]
        sentences = list(self.doubts)
        for plate, parts in self.divided.items():
            spans = [f"{on} foot from {max(start, first):.2f} to {min(end, last):.2f} s" for on, start, end in parts]
            turns = f"{capture.name}: both feet step on force plate '{plate}' in turn"
            sentences.append(f"{turns}; its force is divided in time: {', '.join(spans)}")
        return sentences


@checked
def assign_feet(capture: Capture, feet: FootMarkers | None = None, *, threshold: float = THRESHOLD) -> Assignment:
    """Find the foot on each plate: the one nearest to the centre of pressure while the plate is loaded.

    The distance is measured horizontally to the line from the heel to the forefoot markers.  A plate on which the feet step in
    turn, one after the other has left, is divided in time.  A plate that is loaded under both feet at once, under neither, or
    never is left out, with a sentence.

    Parameters
    ----------
    capture : Capture
    feet : mapping of side to labels, optional
        Heel first, then forefoot markers; ``foot_markers`` by default.
    threshold : float [N]
        Vertical force of a loaded plate.
    """
    feet = dict(feet or foot_markers(capture))
    sides: dict[str, Side] = {}
    left_out: dict[str, str] = {}
    far: set[str] = set()
    doubts: list[str] = []
    divided: dict[str, tuple[tuple[Side, float, float], ...]] = {}
    for grf in capture.forces:
        plate = f"{capture.name}: force plate '{grf.plate}'"
        intervals = loaded_intervals(grf, threshold=threshold)
        if not intervals:
            left_out[grf.plate] = (
                f"{plate} is never loaded: its vertical force never exceeds {threshold:g} N for {SHORTEST:g} s"
            )
            continue
        nearest = _nearest_foot(capture, feet, grf, intervals)
        if nearest is None:
            left_out[grf.plate] = (
                f"{plate}: the markers of the feet are not visible while it is loaded; fill their gaps"
            )
            continue
        side, typical, shares = nearest
        if typical > ON_PLATE:
            far |= {grf.plate} if typical > FAR else set()
            left_out[grf.plate] = (
                f"{plate}: under none of the feet; the nearest, {side}, is {typical:.2f} m from the centre of pressure, limit "
                f"{ON_PLATE:g} m: somebody else stepped on it, or its place, axes, moments or clock differ from the markers'"
            )
        elif parts := _parts(capture, feet, grf, intervals):
            divided[grf.plate] = parts
        elif len(shares) > 1 and min(shares.values()) > BOTH:
            near = " and ".join(f"{100 * s:.0f} %" for s in shares.values())
            left_out[grf.plate] = (
                f"{plate}: touched by both feet at once ({near} of its load are near the {' and the '.join(shares)} foot), which "
                "cannot be separated, as it is never unloaded between them: choose another step or trial"
            )
        elif grf.foot is not None and grf.foot != side:
            left_out[grf.plate] = (
                f"{plate}: the markers show the {side} foot on it, {typical:.2f} m from the centre of pressure, but the file "
                f"says {grf.foot}; correct the one that is wrong"
            )
        else:
            sides[grf.plate] = side
            doubts += _doubts(capture, feet[side], grf, intervals)
    return Assignment(sides, left_out, frozenset(far), tuple(doubts), divided)


def _doubts(
    capture: Capture, labels: Sequence[str], grf: GroundForce, intervals: Sequence[tuple[int, int]]
) -> list[str]:
    """A sentence on a plate on which the centre of pressure does not go from the heel to the toes of a step."""
    for start, stop in intervals:
        t, cop = grf.t[start:stop], grf.cop[start:stop, :2]
        whole = start > 0 and stop < len(grf.t) and t[0] >= capture.t[0] and t[-1] <= capture.t[-1]
        if not whole or t[-1] - t[0] < STEP:
            continue
        heel = _at(capture, capture.marker(labels[0])[:, :2], t)
        fore = np.mean([_at(capture, capture.marker(label)[:, :2], t) for label in labels[1:]], axis=0)
        along = ((cop - heel) * (fore - heel)).sum(axis=1) / ((fore - heel) ** 2).sum(axis=1)
        known = np.isfinite(along)
        early, late = (
            along[known & (t > t[0] + a * (t[-1] - t[0])) & (t < t[0] + b * (t[-1] - t[0]))] for a, b in PARTS
        )
        if not (len(early) and len(late)) or np.median(late) - np.median(early) >= FORWARDS:
            continue
        share = f"from {100 * np.median(early):.0f} to {100 * np.median(late):.0f} % of the foot's length"
        return [
            f"{capture.name}: check force plate '{grf.plate}': its centre of pressure goes {share} during a step; unless gait is "
            "unusual, its corners, its axes or the unit of its moments are wrong"
        ]
    return []


def _parts(
    capture: Capture, feet: FootMarkers, grf: GroundForce, intervals: Sequence[tuple[int, int]]
) -> tuple[tuple[Side, float, float], ...]:
    """Side, start and end [s] of each part of a plate on which both feet step in turn; empty where they do not.

    The parts meet in the middle between two intervals of loading; each interval must be under one foot.
    """
    found: list[Side] = []
    for interval in intervals:
        nearest = _nearest_foot(capture, feet, grf, [interval])
        if nearest is None:
            return ()
        side, typical, shares = nearest
        if typical > ON_PLATE or (len(shares) > 1 and min(shares.values()) > BOTH):
            return ()
        found.append(side)
    if len(set(found)) < 2 or grf.foot is not None:
        return ()
    pairs = zip(intervals[:-1], intervals[1:], strict=True)
    middles = [0.5 * float(grf.t[stop - 1] + grf.t[start]) for (_, stop), (start, _) in pairs]
    edges = [-np.inf, *middles, np.inf]
    return tuple((side, edges[k], edges[k + 1]) for k, side in enumerate(found))


def _nearest_foot(
    capture: Capture, feet: FootMarkers, grf: GroundForce, intervals: Sequence[tuple[int, int]]
) -> tuple[Side, float, dict[Side, float]] | None:
    """Foot with the largest share of the load, its median distance [m], and all shares; None if no foot is visible."""
    loaded = np.concatenate([np.arange(start, stop) for start, stop in intervals])
    loaded = loaded[(grf.t[loaded] >= capture.t[0]) & (grf.t[loaded] <= capture.t[-1])]
    loaded = loaded[all_finite(grf.cop[loaded])]
    t, cop = grf.t[loaded], grf.cop[loaded, :2]
    # Samples are weighted by the force, because noise moves the centre of pressure where the force is small.
    weight = grf.force[loaded, 2]
    away = {side: _distance(capture, labels, t, cop) for side, labels in feet.items()}
    known = np.isfinite(np.stack(list(away.values()))).all(axis=0)
    if not known.any():
        return None
    names = list(away)
    distances = np.stack([away[side][known] for side in names])
    nearest = distances.argmin(axis=0)
    shares = np.array([weight[known][nearest == k].sum() for k in range(len(names))])
    shares = shares / shares.sum()
    k = int(shares.argmax())
    return names[k], float(np.median(distances[k][nearest == k])), dict(zip(names, shares.tolist(), strict=True))


def _distance(capture: Capture, labels: Sequence[str], t: Floats, point: Floats) -> Floats:
    """Horizontal distance (m,) [m] from points (m, 2) at times (m,) to the foot's line from heel to forefoot."""
    if len(labels) < 2:
        raise ModelError(
            f"{capture.name}: a foot needs a heel and a forefoot marker; the labels given are {list(labels)}"
        )
    heel = _at(capture, capture.marker(labels[0])[:, :2], t)
    fore = [_at(capture, capture.marker(label)[:, :2], t) for label in labels[1:]]
    # The nearest of the lines to the forefoot markers, so that both edges of the foot count.
    return np.asarray(np.fmin.reduce([_to_segment(point, heel, toe) for toe in fore]))


def _to_segment(point: Floats, start: Floats, end: Floats) -> Floats:
    along = end - start
    share = ((point - start) * along).sum(axis=1) / np.maximum((along * along).sum(axis=1), 1e-12)
    return np.asarray(np.linalg.norm(point - start - np.clip(share, 0.0, 1.0)[:, None] * along, axis=1))


def _at(capture: Capture, positions: Floats, t: Floats) -> Floats:
    """Positions at other times by linear interpolation, accurate enough to distinguish feet; NaN beside gaps."""
    return np.stack([np.interp(t, capture.t, positions[:, k]) for k in range(positions.shape[1])], axis=1)


@checked
def foot_force(
    capture: Capture, side: Side, assignment: Assignment | None = None, *, threshold: float = THRESHOLD
) -> GroundForce:
    """Ground force on one foot, combined from all plates that this foot touched alone, or in turn with the other foot.

    Raises
    ------
    ModelError
        If there is no such plate, with the reason for each plate.
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
    return combined([found.force(capture, plate, side) for plate in plates], name=f"{side} foot", threshold=threshold)
