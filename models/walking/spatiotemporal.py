"""Spatiotemporal parameters of a gait cycle: times of both feet, cadence, and lengths of steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.walking.capture.trial import Capture, EventKind, Side
from models.walking.gait_events import GaitCycle, events_from_forces, events_from_markers
from models.walking.heading import WALKED, FootMarkers
from models.walking.plate_assignment import Assignment
from runtime import ModelError
from runtime.support import checked_class
from runtime.support.arrays import Floats


@checked_class
@dataclass(frozen=True)
class Spatiotemporal:
    """Parameters of one gait cycle of one foot; NaN where the other foot's event, or a marker of a heel, is not seen.

    Attributes
    ----------
    opposite_off, opposite_strike : float [%]
        Of the other foot, in percent of the cycle.
    stride_time : float [s]
        From foot strike to the next one of the same foot.
    cadence : float [steps/min]
        Two steps in each stride.
    stance, double_support : float [%]
        Of the cycle; double support is that before the opposite foot off and after the opposite strike, 0 in running.
    stride_length : float [m]
        Horizontal travel of the heel's marker from strike to strike; NaN where the walker stays in place (a treadmill).
    step_length, step_width : float [m]
        From the other heel at its strike to this heel at the next strike, along and across the stride.
    """

    opposite_off: float
    opposite_strike: float
    stride_time: float
    cadence: float
    stance: float
    double_support: float
    stride_length: float
    step_length: float
    step_width: float


def spatiotemporal(capture: Capture, cycle: GaitCycle, feet: FootMarkers, assignment: Assignment) -> Spatiotemporal:
    """Parameters of a gait cycle.

    Parameters
    ----------
    capture : Capture
    cycle : GaitCycle
    feet : mapping of side to labels
        Heel first, then forefoot markers.
    assignment : Assignment
        The foot on each plate.
    """
    other: Side = "left" if cycle.side == "right" else "right"
    off, strike = opposite_times(capture, cycle, feet, assignment)
    time = cycle.next_strike - cycle.strike
    # Running: the other foot is off before this one strikes, and strikes after this one is off.
    both = (off - cycle.strike) + (cycle.off - strike) if not off > strike else 0.0
    start, end, beside = (
        _heel(capture, feet, side, t)
        for side, t in ((cycle.side, cycle.strike), (cycle.side, cycle.next_strike), (other, strike))
    )
    stride = end - start
    length = float(np.linalg.norm(stride))
    if not length > WALKED:
        stride, length = np.full(2, np.nan), float("nan")
    along = stride / length
    step = end - beside
    return Spatiotemporal(
        opposite_off=100.0 * (off - cycle.strike) / time,
        opposite_strike=100.0 * (strike - cycle.strike) / time,
        stride_time=time,
        cadence=120.0 / time,
        stance=100.0 * cycle.stance,
        double_support=100.0 * both / time,
        stride_length=length,
        step_length=float(step @ along),
        step_width=float(abs(step[0] * along[1] - step[1] * along[0])),
    )


def opposite_times(
    capture: Capture, cycle: GaitCycle, feet: FootMarkers, assignment: Assignment
) -> tuple[float, float]:
    """Foot off and strike of the other foot within a cycle [s], from the file, the forces or the markers; NaN if not seen."""
    try:
        seen = events_from_markers(capture, feet)
    except ModelError:
        seen = ()
    sources = (capture.events, events_from_forces(capture, assignment), seen)

    def time_of(kind: EventKind) -> float:
        for events in sources:
            within = [
                event.time
                for event in events
                if event.kind == kind and event.side != cycle.side and cycle.strike < event.time < cycle.next_strike
            ]
            if len(within) == 1:
                return within[0]
        return float("nan")

    return time_of("foot_off"), time_of("foot_strike")


def _heel(capture: Capture, feet: FootMarkers, side: Side, time: float) -> Floats:
    """Horizontal position (2,) [m] of a heel's marker at a time; NaN where it is not seen."""
    if side not in feet or not np.isfinite(time):
        return np.full(2, np.nan)
    heel = capture.marker(feet[side][0])
    return np.array([np.interp(time, capture.t, heel[:, axis], left=np.nan, right=np.nan) for axis in range(2)])
