"""The whole body from its markers: centre of mass, the force that accelerates it, and when each foot is loaded.

No force plate is used.  The force of the ground on both feet is the mass times the acceleration of the centre of mass less
gravity; a foot is loaded from when its heel until its forefoot moves slowly, compared with the body.

Sources.  Masses and centres of mass: de Leva (1996), Table 4.  Division of the force in double support: Ren, Jones and Howard,
Journal of Biomechanics 41, 2750-2759 (2008), who call it the smooth transition assumption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from models.walking.capture import Capture
from models.walking.capture.trial import Side
from models.walking.filters import lowpass
from models.walking.gait_events import GaitCycle
from models.walking.gait_result import Gait
from models.walking.heading import along_x
from models.walking.preparation import Filters, fill_short_gaps, find_feet
from models.walking.samples import all_finite
from models.walking.sole import floor_of
from runtime import ModelError
from runtime.support import GRAVITY, checked_class
from runtime.support.arrays import Floats

# Segment: share of the mass and place of the centre of mass from the first end, of women and of men; labels of the ends.
# Labels of Schreiber and Moissenet (2019); {s} is the side's letter.  The head has no marker and moves with the neck.
SEGMENTS: Mapping[str, tuple[tuple[float, float], tuple[float, float], tuple[str, ...], tuple[str, ...]]] = {
    "trunk": ((0.4257, 0.4346), (0.4964, 0.5138), ("CV7", "SJN"), ("L_IAS", "L_IPS", "R_IAS", "R_IPS")),
    "head": ((0.0668, 0.0694), (0.0, 0.0), ("CV7", "SJN"), ("CV7",)),
    "thigh": ((0.1478, 0.1416), (0.3612, 0.4095), ("{s}_FTC",), ("{s}_FLE", "{s}_FME")),
    "shank": ((0.0481, 0.0433), (0.4416, 0.4459), ("{s}_FLE", "{s}_FME"), ("{s}_FAL", "{s}_TAM")),
    "foot": ((0.0129, 0.0137), (0.4014, 0.4415), ("{s}_FCC",), ("{s}_FM2",)),
    "upper arm": ((0.0255, 0.0271), (0.5754, 0.5772), ("{s}_SAE",), ("{s}_HLE", "{s}_HME")),
    "forearm": ((0.0138, 0.0162), (0.4559, 0.4574), ("{s}_HLE", "{s}_HME"), ("{s}_RSP", "{s}_UHE")),
    "hand": ((0.0056, 0.0061), (0.0, 0.0), ("{s}_RSP", "{s}_UHE"), ("{s}_RSP",)),
}
CENTRAL = ("trunk", "head")
MIN_WHOLE = 0.8  # share of the mass whose segments must be seen; with less, the markers of the pelvis are used
PELVES = (
    ("L_IAS", "L_IPS", "R_IAS", "R_IPS"),
    ("LASI", "LPSI", "RASI", "RPSI"),
    ("LASI", "RASI", "SACR"),
    ("LASIS", "LPSIS", "RASIS", "RPSIS"),
    ("L.ASIS", "R.ASIS", "V.Sacral"),
)
HEEL_DOWN, FOREFOOT_UP = 0.2, 0.7  # speeds over that of the body at which a foot is loaded and unloaded
MIN_FORCE = 0.2  # [body weights] under which the line of action of the force is not followed to the floor
NEAR = 0.15  # [s] largest difference between these times and the events of the gait cycle


@checked_class
@dataclass(frozen=True, eq=False)
class BodyMotion:
    """A body over a trial, from markers alone, in the axes of a ``Gait``.

    Attributes
    ----------
    t : (n,) [s]
    force : (n, 3)
        Of the ground on both feet, in body weights.
    zero_moment : (n, 2) [m]
        Zero-moment point: where the line of this force through the centre of mass meets the floor.
    strike, off : float [s]
        When the foot is loaded and unloaded.
    opposite_off, opposite_strike : float [s]
        Of the other foot, within the stance.
    note : str
        Which markers give the centre of mass.
    """

    t: Floats
    force: Floats
    zero_moment: Floats
    strike: float
    off: float
    opposite_off: float
    opposite_strike: float
    note: str

    def percent(self, t: Floats) -> Floats:
        """Percent of stance at times (n,) [s]."""
        return np.asarray(100.0 * (t - self.strike) / (self.off - self.strike))


def body_motion(one: Gait, trial: Capture, filters: Filters, body: Mapping[str, float] | None = None) -> BodyMotion:
    """The force on both feet, and the times at which they are loaded, from the markers of a trial.

    Parameters
    ----------
    one : Gait
        The analysis of this trial.
    trial : Capture
    filters : Filters
        Those of the analysis; ``markers`` and ``longest_gap`` are used.
    body : mapping of label to float, optional
        Weights of markers in the centre of mass.  Default: the segments of de Leva (1996) where their markers are seen, else
        the mean of the markers of the pelvis.

    Raises
    ------
    ModelError
        Where markers of the body or of the other foot are missing.
    """
    trial, feet = _in_axes_of(one, trial, filters)
    weights, note = _weights(one, trial, body)
    t = trial.t
    path = np.sum([weight * _seen(trial, label, filters) for label, weight in weights.items()], axis=0)
    force = CubicSpline(t, path)(t, 2) / GRAVITY + (0.0, 0.0, 1.0)
    floor = floor_of(one)[0]
    belt = floor.belt
    slope = force[:, :2] / np.maximum(force[:, 2:], MIN_FORCE)
    zero_moment = path[:, :2] - (path[:, 2:] - floor.height) * slope
    speed = float(np.median(np.gradient(path[:, 0], t))) - belt
    if not speed > 0.0:
        raise ModelError(
            f"{trial.name}: the body moves at {speed:.2f} m/s over the floor; predicting the ground force needs a walk"
        )
    other: Side = "left" if one.side == "right" else "right"
    if other not in feet:
        raise ModelError(
            f"{trial.name}: no heel and forefoot markers of the {other} foot, whose contact divides the force of the ground; "
            "give a trial that shows both feet"
        )
    down, up = _contact_times(trial, feet[one.side], belt, speed, filters)
    strike, off = _nearest(trial, down, one.cycle, "strike"), _nearest(trial, up, one.cycle, "off")
    middle = 0.5 * (strike + off)
    down, up = _contact_times(trial, feet[other], belt, speed, filters)
    before, after = up[(up > strike - NEAR) & (up < middle)], down[(down > middle) & (down < off + NEAR)]
    if not (len(before) and len(after)):
        missing = "foot off" if not len(before) else "foot strike"
        raise ModelError(
            f"{trial.name}: the markers of the {other} foot show no {missing} in the stance from {strike:.2f} to {off:.2f} s; "
            "give a longer piece of the trial"
        )
    opposite = max(strike, float(before[-1])), min(off, float(after[0]))
    return BodyMotion(t, force, zero_moment, strike, off, *opposite, note)


def _in_axes_of(one: Gait, trial: Capture, filters: Filters) -> tuple[Capture, dict[Side, tuple[str, ...]]]:
    """The trial turned and mirrored as its analysis was, and the heel and forefoot markers of both feet."""
    trial = fill_short_gaps(trial, filters)
    known = one.subject.landmarks.labels
    feet = find_feet(trial, None, None)
    fore = tuple(known[name] for name in ("metatarsal_1", "metatarsal_2", "metatarsal_5") if name in known)
    feet[one.side] = (known["heel"], *fore)
    trial, _ = along_x(trial, feet)
    return (trial.mirrored() if one.side == "left" else trial), feet


def _weights(one: Gait, trial: Capture, body: Mapping[str, float] | None) -> tuple[dict[str, float], str]:
    """Weight of each marker in the centre of mass, and a note."""
    if body is not None:
        total = sum(body.values())
        if not body or not all(weight >= 0.0 for weight in body.values()) or not 0.0 < total < np.inf:
            raise ModelError("body: weights of markers must be finite numbers, not below 0, and not all 0")
        return {label: weight / total for label, weight in body.items()}, "the given markers"
    seen = {label for label, p in trial.markers.items() if all_finite(p).all()}
    found, share = _segments(seen, one.subject.sex)
    if share >= MIN_WHOLE:
        note = f"segments of de Leva (1996) with {100 * share:.0f} % of the mass"
        return {label: weight / share for label, weight in found.items()}, note
    for labels in PELVES:
        if set(labels) <= seen:
            return dict.fromkeys(labels, 1.0 / len(labels)), f"the pelvis ({', '.join(labels)})"
    raise ModelError(
        f"{trial.name}: neither markers of the whole body nor of the pelvis are visible all the time, which the force of the "
        "ground from the motion needs; give body={'label': weight}"
    )


def _segments(seen: set[str], sex: str | None) -> tuple[dict[str, float], float]:
    """Weights of the markers of all segments that are seen, and the share of the mass of these segments."""
    of_sex = {"female": (1.0, 0.0), "male": (0.0, 1.0)}.get(sex or "", (0.5, 0.5))
    weights: dict[str, float] = {}
    share = 0.0
    for segment, (masses, centres, first, last) in SEGMENTS.items():
        mass, centre = float(np.dot(of_sex, masses)), float(np.dot(of_sex, centres))
        for letter in ("",) if segment in CENTRAL else ("L", "R"):
            ends = [[label.format(s=letter) for label in labels] for labels in (first, last)]
            if not {label for labels in ends for label in labels} <= seen:
                continue
            share += mass
            for labels, part in zip(ends, (1.0 - centre, centre), strict=True):
                for label in labels:
                    weights[label] = weights.get(label, 0.0) + mass * part / len(labels)
    return weights, share


def _seen(trial: Capture, label: str, filters: Filters) -> Floats:
    """A marker (n, 3) [m], filtered."""
    p = trial.marker(label)
    if not all_finite(p).all():
        raise ModelError(
            f"{trial.name}: marker '{label}' is not visible all the time, which the force of the ground from the motion needs; "
            "crop the trial, or fill the gap"
        )
    if filters.markers is None:
        return p
    return lowpass(p, trial.rate, filters.markers, order=filters.order, name=f"{trial.name}: marker '{label}'")


def _contact_times(
    trial: Capture, labels: Sequence[str], belt: float, speed: float, filters: Filters
) -> tuple[Floats, Floats]:
    """Times [s] at which a heel slows down on the floor, and at which a forefoot leaves it."""
    heel, *fore = (_seen(trial, label, filters)[:, 0] for label in labels)
    slow = (np.gradient(heel, trial.t) - belt) / speed - HEEL_DOWN
    fast = (np.gradient(np.mean(fore, axis=0), trial.t) - belt) / speed - FOREFOOT_UP
    return _zeros(trial.t, -slow), _zeros(trial.t, fast)


def _zeros(t: Floats, values: Floats) -> Floats:
    """Times at which values (n,) rise through zero."""
    k = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    return np.asarray(t[k] - (t[k + 1] - t[k]) * values[k] / (values[k + 1] - values[k]))


def _nearest(trial: Capture, times: Floats, cycle: GaitCycle, event: str) -> float:
    """The time nearest to an event of the gait cycle, which only selects the step."""
    marked = float(getattr(cycle, event))
    apart = np.abs(times - marked)
    if not len(times) or apart.min() > NEAR:
        raise ModelError(
            f"{trial.name}: the markers of the foot show no foot {event} within {NEAR:g} s of that of the gait cycle at "
            f"{marked:.2f} s; give a longer piece of the trial"
        )
    return float(times[apart.argmin()])
