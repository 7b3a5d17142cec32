"""The time of a foot strike from markers: the foot turns down fastest just after its heel has met the ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import CubicSpline

from models.walking.capture.trial import Capture, GaitEvent, Side
from models.walking.heading import FootMarkers
from models.walking.samples import all_finite
from runtime.support.arrays import Floats

# Fitted to 22 strikes on force plates of nine adults (Schreiber and Moissenet 2019), 0.9 to 2.2 m/s.
SLAP_DELAY = 0.0156  # [s] from the strike to the fastest turn of the foot: median
AHEAD_DELAY = -0.042  # [s] from the strike to the foremost heel, which is before it: median
SEARCHED = (0.0, 0.13)  # [s] after the foremost heel, in which the foot turns down
SLOWEST = 1.0  # [rad/s] of the turn of a foot that strikes with its heel; 2.6 and more in these adults
BESIDE = 0.03  # [s] between the turn and the ends of the recording, for a plate's strike that corrects the delay


def strike_time(
    capture: Capture, feet: FootMarkers, side: Side, ahead: float, plates: Sequence[GaitEvent] = ()
) -> tuple[float, bool]:
    """Time of a strike [s] near the time at which the heel is farthest ahead, and whether the turn of the foot shows it.

    ``plates``: strikes on force plates of the same trial.  Their own delays and the median of nine adults, which counts once, are
    averaged.  A foot that does not turn down, such as one that strikes flat, has the strike by its foremost heel.
    """
    turn = fastest_turn(capture, feet, side, ahead)
    if not np.isfinite(turn):
        return ahead - AHEAD_DELAY, False
    delays = [SLAP_DELAY]
    for event in plates:
        if event.kind == "foot_strike" and event.side != "unknown" and event.side in feet:
            other = fastest_turn(capture, feet, event.side, event.time + AHEAD_DELAY)
            inside = capture.t[0] + 2.0 * BESIDE <= other <= capture.t[-1] - BESIDE
            if inside and abs(other - event.time) < SEARCHED[1] / 2.0:
                delays.append(other - event.time)
    return float(turn - np.mean(delays)), True


def fastest_turn(capture: Capture, feet: FootMarkers, side: Side, ahead: float) -> float:
    """Time [s] at which the foot turns down fastest after its heel was farthest ahead; NaN where it does not."""
    pitch = _pitch(capture, feet[side])
    near = np.flatnonzero((capture.t > ahead - 0.2) & (capture.t < ahead + 0.3) & np.isfinite(pitch))
    if len(near) < 8 or len(near) != near[-1] - near[0] + 1:
        return float("nan")
    spline = CubicSpline(capture.t[near], pitch[near])
    times = spline.derivative(2).roots(extrapolate=False)
    low, high = ahead + SEARCHED[0], min(ahead + SEARCHED[1], capture.t[-1])
    times = times[(times > low) & (times < high)]
    times = times[spline(times, 1) < -SLOWEST]
    return float(times[np.argmin(spline(times, 1))]) if len(times) else float("nan")


def _pitch(capture: Capture, labels: Sequence[str]) -> Floats:
    """Angle (n,) [rad] of the line from the heel to the middle of the forefoot above the horizontal; NaN where not seen."""
    heel, fore = capture.marker(labels[0]), np.mean([capture.marker(label) for label in labels[1:]], axis=0)
    along = fore - heel
    pitch = np.arctan2(along[:, 2], np.linalg.norm(along[:, :2], axis=1))
    pitch[~all_finite(along)] = np.nan
    return np.asarray(pitch)
