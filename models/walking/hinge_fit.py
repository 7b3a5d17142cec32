"""The axes of the ankle from the motion of a subject's own markers, with their uncertainty.

After van den Bogert, Smith and Nigg, In vivo determination of the anatomical axes of the ankle joint complex: an optimization
approach, J Biomech 27, 1994, 1477-1488: the directions and places of two hinges and their angles in each frame are those that
bring the markers of the foot nearest to where they were seen from the leg.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from models.walking.anatomy import Anatomy
from models.walking.capture import Capture
from models.walking.subject import Frozen, LegFoot
from models.walking.two_hinges import (
    SHARED,
    HingedMotion,
    HingeFit,
    HingeProblem,
    directions,
    foot_motion,
    rule_of,
    slopes,
)
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats

AXES = ("talocrural", "talocalcaneal")
BLOCKS = 8  # consecutive parts of the trial, each left out once
MAX_SD_DEG = 5.0  # of the direction of an axis, above which it counts as not identified
MIN_RANGE_DEG = 8.0  # of the hinge's angle, 5th to 95th percentile
MAX_ANGLE, MAX_SHIFT = (
    1.3,
    0.03,
)  # [rad] of inclination and deviation, [m] of an axis from its rule in each of two directions
MAX_CONDITION = 1e14


@checked_class
@dataclass(frozen=True, eq=False)
class FunctionalAxis(Frozen):
    """An axis found from a motion.

    Attributes
    ----------
    axis : (3,)
        Unit direction in the axes of the leg (talocrural) or of the main foot (talocalcaneal).
    inclination_deg, deviation_deg : float [deg]
        As the angles of ``Anatomy``.
    sd_deg : float [deg]
        Standard deviation of the direction: the larger one of that by the noise of the markers and that of the fits without one
        eighth of the trial each.  Skin that moves with the joint angles biases an axis beyond it.
    from_rule_deg : float [deg]
        Angle to the axis by the rules of the scaling.
    range_deg : float [deg]
        Of the hinge's angle in the trial, 5th to 95th percentile.
    reason : str
        Why the axis counts as not identified; "" where it is.
    """

    axis: Floats
    inclination_deg: float
    deviation_deg: float
    sd_deg: float
    from_rule_deg: float
    range_deg: float
    reason: str

    @property
    def identified(self) -> bool:
        """Whether the motion identifies the axis."""
        return not self.reason


@checked_class
@dataclass(frozen=True, eq=False)
class FunctionalAxes(Frozen):
    """Both axes of a trial.

    Attributes
    ----------
    talocrural, talocalcaneal : FunctionalAxis
    residual : float [m]
        Root mean square distance of the foot's markers from the fit.
    rule_residual : float [m]
        The same with the axes by the rules of the scaling.
    frames : int
    """

    talocrural: FunctionalAxis
    talocalcaneal: FunctionalAxis
    residual: float
    rule_residual: float
    frames: int

    def anatomy(self, given: Anatomy | None = None) -> Anatomy:
        """The directions of the identified axes, for ``scale_to_subject`` and ``analyse``; places remain those of the rules.

        Parameters
        ----------
        given : Anatomy, optional
            Everything else; an axis of which it states an angle remains as it states it.
        """
        given = given or Anatomy()
        found: dict[str, Any] = {}
        for name, axis in (("talocrural", self.talocrural), ("subtalar", self.talocalcaneal)):
            if axis.identified and not given.stated(name):
                found |= {f"{name}_inclination_deg": axis.inclination_deg, f"{name}_deviation_deg": axis.deviation_deg}
        return replace(given, **found, check_units=False) if found else given

    def sentences(self) -> list[str]:
        """A sentence for each axis: what was found and how sure it is, or why it is not identified."""
        found = []
        for name in AXES:
            axis: FunctionalAxis = getattr(self, name)
            if axis.identified:
                text = (
                    f"inclination {axis.inclination_deg:.1f} deg, deviation {axis.deviation_deg:.1f} deg, standard deviation of "
                    f"the direction {axis.sd_deg:.1f} deg, {axis.from_rule_deg:.1f} deg from the rule"
                )
            else:
                text = f"not identified, the rule remains: {axis.reason}"
            found.append(f"functional {name} axis: {text}")
        return found


@checked
def functional_axes(subject: LegFoot, trial: Capture) -> FunctionalAxes:
    """Find the talocrural and the talocalcaneal axis from the motion of the markers of the leg and the foot.

    Any motion of the ankle serves, and walking is among the poorest: the subtalar angle is small in it and follows the talocrural
    one.  Slow circles of the foot without load identify both axes.

    Parameters
    ----------
    subject : LegFoot
        By ``scale_to_subject``; its axes are the start.
    trial : Capture
        With three markers or more on leg and main foot.  That of a left foot is mirrored, as the static trial was.

    Returns
    -------
    FunctionalAxes
        An axis that the motion does not identify has a ``reason``.

    Raises
    ------
    ModelError
        Where there are too few markers or frames.
    """
    motion, rule = foot_motion(subject, trial), rule_of(subject)
    n, markers = motion.places.shape[:2]
    by_rule = HingeProblem.between(motion, rule, rule).fit(rule)
    free = HingeProblem.between(motion, *_bounds(rule))
    best = free.fit(rule, by_rule.angles)
    off = [motion.markers(one.shared, one.angles) - motion.places for one in (best, by_rule)]
    by_noise = _deviations_by_noise(best, off[0])
    by_parts = _deviations_by_parts(motion, best, rule)
    ranges = np.degrees(np.diff(np.percentile(best.angles, [5, 95], axis=0), axis=0)[0])
    found = []
    for k, (name, axis, own) in enumerate(zip(AXES, directions(best.shared), directions(rule), strict=True)):
        sd, angles = max(by_noise[k], by_parts[k]), slice(4 * k, 4 * k + 2)
        at_bound = bool(np.abs(best.shared[angles]).max() > 0.99 * MAX_ANGLE)
        reason = _reason(name, float(ranges[k]), sd, at_bound)
        inclination, deviation = np.degrees(best.shared[angles]).tolist()
        away = float(np.degrees(np.arccos(np.clip(axis @ own, -1.0, 1.0))))
        found.append(
            FunctionalAxis(_in_body(subject, k, axis), inclination, deviation, sd, away, float(ranges[k]), reason)
        )
    rms = [float(np.sqrt((one**2).sum() / (n * markers))) for one in off]
    return FunctionalAxes(found[0], found[1], rms[0], rms[1], n)


def _bounds(rule: Floats) -> tuple[Floats, Floats]:
    """Bounds (8,) of the unknowns."""
    turn, shift = [MAX_ANGLE] * 2, [MAX_SHIFT] * 2
    away, centre = np.array([*turn, *shift] * 2), rule * np.tile([0.0, 0.0, 1.0, 1.0], 2)
    return centre - away, centre + away


def _deviations_by_noise(best: HingeFit, off: Floats) -> list[float]:
    """Standard deviation [deg] of each direction, from the curvature at the optimum and the residuals, correlated in time."""
    n, rows = len(off), off[0].size
    residual = off.reshape(n, rows)
    variance = float((residual**2).sum() / max(n * (rows - 2) - SHARED, 1))
    scale = 1.0 / np.sqrt(np.diag(best.precision))
    if np.linalg.cond(best.precision * np.outer(scale, scale)) > MAX_CONDITION:
        return [np.inf, np.inf]
    covariance = np.linalg.inv(best.precision) * variance * repetition(residual)
    turns = np.split(slopes(lambda x: np.concatenate(directions(x), axis=-1), best.shared), 2)
    return [float(np.degrees(np.sqrt(np.trace(J @ covariance @ J.T)))) for J in turns]


def repetition(residual: Floats) -> float:
    """How many frames of residuals (n, rows) say what one says that repeats no other, by the decay of the autocorrelation."""
    n, square = len(residual), float((residual**2).sum()) or 1.0
    lags = [float((residual[k:] * residual[: n - k]).sum()) / square for k in range(1, n // 2)]
    until = next((k for k, rho in enumerate(lags) if rho < 0.05), len(lags))
    return 1.0 + 2.0 * sum(lags[:until])


def _deviations_by_parts(motion: HingedMotion, best: HingeFit, rule: Floats) -> list[float]:
    """Standard deviation [deg] of each direction by the jackknife: fits without one of ``BLOCKS`` parts of the trial each."""
    n = len(motion.t)
    squares = np.zeros(2)
    for part in np.array_split(np.arange(n), BLOCKS):
        rest = np.setdiff1d(np.arange(n), part)
        fit = HingeProblem.between(motion.part(rest), *_bounds(rule)).fit(best.shared, best.angles[rest])
        pairs = zip(directions(best.shared), directions(fit.shared), strict=True)
        squares += [np.arccos(np.clip(a @ b, -1.0, 1.0)) ** 2 for a, b in pairs]
    return [float(sd) for sd in np.degrees(np.sqrt((BLOCKS - 1) / BLOCKS * squares))]


def _reason(name: str, range_deg: float, sd_deg: float, bound: bool) -> str:
    """Why an axis is not identified; "" where it is."""
    if range_deg < MIN_RANGE_DEG:
        return f"the {name} angle varies by {range_deg:.1f} deg only, {MIN_RANGE_DEG:g} deg are needed"
    if bound:
        return f"the fit of the {name} axis ended at its bound, an angle of {np.degrees(MAX_ANGLE):.0f} deg"
    if not sd_deg <= MAX_SD_DEG:
        return f"the standard deviation of the {name} axis is {sd_deg:.1f} deg, the limit is {MAX_SD_DEG:g} deg"
    return ""


def _in_body(subject: LegFoot, hinge: int, axis: Floats) -> Floats:
    """A direction (3,) of the standing foot in the axes of the body that carries the hinge."""
    return np.asarray(subject.bodies["main_foot"].A @ axis @ subject.bodies["leg"].A) if hinge == 0 else axis
