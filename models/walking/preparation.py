"""From the files' samples to the samples that are analysed: gaps, filters, which foot, which gait cycle, which frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline

from models.walking.capture import Capture
from models.walking.capture.contents import why_no_plates
from models.walking.capture.trial import Side
from models.walking.filters import check_order, lowpass
from models.walking.gait_events import MATCH, GaitCycle, contacts, gait_cycle
from models.walking.marker_sets import recognise
from models.walking.plate_assignment import Assignment
from models.walking.samples import all_finite, runs
from runtime import ModelError
from runtime.support import checked_class
from runtime.support.arrays import Floats

MIN_FRAMES = 20  # of a walk
# Frames beside the gait cycle that are used where they are seen: splines have poor derivatives at their ends
MARGIN = 10
ANALYSED_MARGIN = 2  # of these, frames that are analysed too, for interpolation at the ends of the cycle
NEIGHBOURS = 25  # frames on each side of a gap through which the filling spline goes


@checked_class
@dataclass(frozen=True)
class Filters:
    """Cut-off frequencies [Hz] and order of the zero-lag Butterworth filters; None leaves the data unfiltered.

    ``longest_gap`` [s]: gaps of markers up to this length are filled by splines; longer ones, and all with 0, are refused.
    """

    markers: float | None = 6.0
    cop: float | None = 15.0
    forces: float | None = 20.0
    order: int = 3
    longest_gap: float = 0.1

    def __post_init__(self) -> None:
        """Refuse what no data can be filtered with."""
        check_order(self.order, "filters")
        for name in ("markers", "cop", "forces"):
            if (cutoff := getattr(self, name)) is not None and not 0.0 < cutoff < np.inf:
                raise ModelError(f"filters: {name} = {cutoff:g} Hz; give a cut-off above 0 Hz, or None for no filter")
        if not 0.0 <= self.longest_gap < np.inf:
            raise ModelError(f"filters: longest_gap = {self.longest_gap:g} s; give 0 s, for none, or more")

    @classmethod
    def off(cls, longest_gap: float = 0.1) -> Filters:
        """No filter, for data that have been filtered already."""
        return cls(None, None, None, longest_gap=longest_gap)

    def text(self) -> str:
        """The filters in words."""
        if self.markers is None and self.forces is None and self.cop is None:
            return "none"
        parts = (("markers", self.markers), ("forces", self.forces), ("centre of pressure", self.cop))
        cutoffs = ", ".join(f"{what} {cutoff:g} Hz" for what, cutoff in parts if cutoff is not None)
        return f"Butterworth of order {self.order}, forwards and backwards, {cutoffs}"


def check_trials(static: Capture, trial: Capture) -> None:
    """Refuse a walk that is too short, or that has no label in common with the static trial."""
    if len(trial.t) < MIN_FRAMES:
        raise ModelError(
            f"{trial.name}: a walk needs at least {MIN_FRAMES} frames, this trial has {len(trial.t)}; give the static trial "
            "first, then walking trials"
        )
    if not set(static.markers) & set(trial.markers):
        raise ModelError(
            f"{trial.name}: it has none of the markers of the static trial {static.name}; give the static trial of the same "
            "subject with the same labels"
        )


def fill_short_gaps(trial: Capture, filters: Filters) -> Capture:
    """The trial with the short gaps between samples filled by splines, each named in a note."""
    if not trial.gaps() or filters.longest_gap <= 0.0:
        return trial
    markers, notes = dict(trial.markers), []
    for label, gaps in trial.gaps().items():
        positions = np.array(trial.markers[label])
        for start, stop in gaps:
            inside = 0 < start and stop < len(trial.t)
            if not inside or trial.t[stop] - trial.t[start] > filters.longest_gap * (1.0 + 1e-9):
                continue
            near = slice(max(0, start - NEIGHBOURS), min(len(trial.t), stop + NEIGHBOURS))
            seen = np.isfinite(positions[near]).all(axis=1)
            spline = CubicSpline(trial.t[near][seen], positions[near][seen])
            positions[start:stop] = spline(trial.t[start:stop])
            notes.append(
                f"{trial.name}: marker '{label}' was not seen from {trial.t[start]:g} to {trial.t[stop]:g} s; filled by a spline"
            )
        markers[label] = positions
    return replace(trial, markers=markers, notes=(*trial.notes, *notes))


def find_feet(trial: Capture, side: Side | None, markers: Mapping[str, str] | None) -> dict[Side, tuple[str, ...]]:
    """Heel and forefoot markers of each foot that the trial shows, heel first; the user's labels are of the foot asked for."""
    labels = [label for label, p in trial.markers.items() if np.isfinite(p).any()]
    sides: tuple[Side, ...] = ("right", "left")
    asked = side or "right"
    feet: dict[Side, tuple[str, ...]] = {}
    reasons: dict[Side, str] = {}
    for each in sides:
        try:
            known = recognise(labels, each, markers=markers if each == asked else None, file=trial.name)
            heel = known.need("heel", "finding the foot on a force plate")
        except ModelError as error:
            reasons[each] = str(error)
            continue
        fore = [known.labels[name] for name in (*known.of("main_foot"), *known.of("toes")) if name != "heel"]
        if fore:
            feet[each] = (heel, *fore)
        else:
            reasons[each] = (
                f"{trial.name}: no marker on the {each} forefoot, which finding the foot on a force plate needs"
            )
    if asked not in feet and (side is not None or not feet):
        raise ModelError(reasons[asked])
    return feet


def choose_cycle(
    trial: Capture, side: Side | None, feet: Mapping[Side, tuple[str, ...]], assignment: Assignment
) -> tuple[Side, GaitCycle]:
    """The foot and its gait cycle; the whole stance must be on force plates."""
    candidates: Sequence[Side] = (side,) if side else tuple(feet)
    found: list[tuple[Side, GaitCycle]] = []
    reasons = []
    for candidate in candidates:
        try:
            cycle = gait_cycle(trial, candidate, feet=feet, assignment=assignment)
        except ModelError as error:
            reasons.append(str(error))
            continue
        if cycle.complete:
            return candidate, cycle
        found.append((candidate, cycle))
    if not found:
        raise ModelError(reasons[0])
    candidate, cycle = found[0]
    if not trial.forces:
        why = why_no_plates(trial.notes) or "the file has none, nor a file beside it"
        raise ModelError(f"{trial.name}: no force plates that can be used: {why}; give forces=")
    plates = f" (part of it is on {', '.join(cycle.plates)})" if cycle.plates else ""
    raise ModelError(
        f"{trial.name}: the stance of the {candidate} foot, {cycle.strike:.2f} to {cycle.off:.2f} s, is not on force plates as a "
        f"whole{plates}: {_why_not_whole(trial, candidate, cycle, assignment)}; choose another trial or side"
    )


def _why_not_whole(trial: Capture, side: Side, cycle: GaitCycle, assignment: Assignment) -> str:
    """Why a stance is not on force plates: plates that cannot be used, the foot's own contact, or the other foot's plates."""
    reasons = [
        sentence for plate, sentence in assignment.left_out.items() if sentence in cycle.note or not cycle.plates
    ]
    if cycle.plates:
        spans = contacts(trial, side, assignment)
        t0, t1 = min(spans, key=lambda span: abs(span[0] - cycle.strike) + abs(span[1] - cycle.off))
        apart = max(abs(t0 - cycle.strike), abs(t1 - cycle.off))
        if apart > MATCH:
            reasons.append(
                f"the plates are loaded from {t0:.2f} to {t1:.2f} s, {apart:.2f} s off its events: the contact is cut short, or "
                "the events are wrong"
            )
    reasons += [
        f"'{plate}' is under the {on} foot" for plate, on in assignment.sides.items() if on != side and not cycle.plates
    ]
    return "; ".join(reasons) or "no plate is loaded by this foot then"


def choose_frames(trial: Capture, cycle: GaitCycle, labels: Sequence[str]) -> tuple[slice, slice]:
    """Frames whose markers are used, around the cycle; and, within these, the frames that are analysed."""
    first = int(np.searchsorted(trial.t, cycle.strike, side="right")) - 1
    last = int(np.searchsorted(trial.t, cycle.next_strike, side="left"))
    if first < 0 or last >= len(trial.t):
        raise ModelError(
            f"{trial.name}: markers from {trial.t[0]:g} to {trial.t[-1]:g} s do not cover the gait cycle from {cycle.strike:g} "
            f"to {cycle.next_strike:g} s; give a longer piece"
        )
    seen = np.all([all_finite(trial.markers[label]) for label in labels], axis=0)
    begin, end = first, last
    while begin > max(0, first - MARGIN) and seen[begin - 1]:
        begin -= 1
    while end < min(len(trial.t) - 1, last + MARGIN) and seen[end + 1]:
        end += 1
    inner = slice(max(begin, first - ANALYSED_MARGIN) - begin, min(end, last + ANALYSED_MARGIN) + 1 - begin)
    return slice(begin, end + 1), inner


def marker_positions(
    trial: Capture, tracked: Mapping[str, str], window: slice, filters: Filters
) -> dict[str, tuple[str, Floats]]:
    """Label -> body, filtered positions (n, 3) [m] of the tracked markers in the window.

    Raises
    ------
    ModelError
        Where a marker is not seen in a frame of the window.
    """
    for label, body in tracked.items():
        _refuse_gap(trial, label, body, window, filters)
    if filters.markers is None:
        return {label: (body, trial.markers[label][window]) for label, body in tracked.items()}
    # Over the whole trial, so that its ends and not those of the cycle bear the errors of the filter there.
    return {
        label: (body, _filtered(trial, label, window, filters.markers, filters.order)[window])
        for label, body in tracked.items()
    }


def _refuse_gap(trial: Capture, label: str, body: str, window: slice, filters: Filters) -> None:
    missing = np.flatnonzero(~np.isfinite(trial.markers[label][window]).all(axis=1))
    if not len(missing):
        return
    first = window.start + int(missing[0])
    start, stop = next((a, b) for a, b in trial.gaps()[label] if a <= first < b)
    end = trial.t[min(stop, len(trial.t) - 1)]
    raise ModelError(
        f"{trial.name}: marker '{label}' of the {body.replace('_', ' ')} is not seen from {trial.t[start]:g} to {end:g} "
        f"s, {end - trial.t[start]:.3g} s in or beside the gait cycle; gaps up to {filters.longest_gap:g} s are filled: "
        "fill it in the capture software, or allow longer gaps"
    )


def _filtered(trial: Capture, label: str, window: slice, cutoff: float, order: int) -> Floats:
    """A marker (frames, 3) filtered over the piece without gaps that holds the window."""
    p = np.array(trial.markers[label])
    for start, stop in runs(all_finite(p)):
        if start < window.stop and stop > window.start:
            p[start:stop] = lowpass(
                p[start:stop], trial.rate, cutoff, order=order, name=f"{trial.name}: marker '{label}'"
            )
    return p
