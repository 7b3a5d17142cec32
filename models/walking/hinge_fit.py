"""The axes of the ankle from the motion of a subject's own markers, with their uncertainty.

After van den Bogert, Smith and Nigg, In vivo determination of the anatomical axes of the ankle joint complex: an optimization
approach, J Biomech 27, 1994, 1477-1488: the directions and places of two hinges and their angles in each frame are those that
bring the markers of the foot nearest to where they were seen from the leg.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_array, hstack, kron

from models.rotations import about
from models.walking.anatomy import Anatomy
from models.walking.capture import Capture
from models.walking.geometry import across
from models.walking.samples import all_finite
from models.walking.segment_motion import segment_pose, tracked
from models.walking.subject import Frozen, LegFoot
from runtime import ModelError
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats, Ints

MAX_FRAMES = 120  # of a trial, evenly spaced; neighbours of a filtered trial add nothing
MIN_FRAMES = 24
BLOCKS = 8  # consecutive parts of the trial, each left out once
MAX_SD_DEG = 5.0  # of the direction of an axis, above which it counts as not identified
MIN_RANGE_DEG = 8.0  # of the hinge's angle, 5th to 95th percentile
MAX_TILT, MAX_SHIFT = 1.2, 0.03  # [rad], [m] of an axis from its rule, in each of two directions
SHIFT_UNIT = 0.1  # [m] of the unknowns, so that a unit of each moves markers alike
MILLIMETRE = 1e-3
SHARED = 8  # unknowns beside the angles of the frames: tilts and shifts of both axes


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
        for name in ("talocrural", "talocalcaneal"):
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


@dataclass(frozen=True, eq=False)
class _Motion:
    """Foot markers while standing, in the foot (m, 3), and as seen from the leg (n, m, 3) [m]; both hinges by rule."""

    local: Floats
    seen: Floats
    A: Floats  # (3, 3) foot to leg, standing
    r: Floats  # (3,) centre of mass of the foot in the leg, standing
    axes: tuple[Floats, Floats]  # talocrural in the leg, talocalcaneal in the foot
    points: tuple[Floats, Floats]

    def part(self, frames: Ints) -> _Motion:
        """The motion in some of the frames."""
        return _Motion(self.local, self.seen[frames], self.A, self.r, self.axes, self.points)

    def hinges(self, shared: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Point and direction of both hinges, from tilts and shifts (8,)."""
        found = []
        for axis, point, (u, v, a, b) in zip(self.axes, self.points, shared.reshape(2, 4), strict=True):
            first = across(np.eye(3)[int(np.abs(axis).argmin())], axis)
            second = np.cross(axis, first)
            tilted = axis + np.tan(u) * first + np.tan(v) * second
            found.append((point + SHIFT_UNIT * (a * first + b * second), tilted / np.linalg.norm(tilted)))
        return found[0], found[1]

    def modelled(self, unknowns: Floats) -> Floats:
        """Markers (n, m, 3) [m] seen from the leg; unknowns: tilts and shifts (8,), both angles of each frame (2 n,) [rad]."""
        (crural, a_1), (calcaneal, a_2) = self.hinges(unknowns[:SHARED])
        angles = unknowns[SHARED:].reshape(-1, 2)
        in_foot = calcaneal + np.einsum("nab,mb->nma", about(a_2, angles[:, 1]), self.local - calcaneal)
        standing = self.r + in_foot @ self.A.T - crural
        return np.asarray(crural + np.einsum("nab,nmb->nma", about(a_1, angles[:, 0]), standing))

    def residuals(self, unknowns: Floats) -> Floats:
        """Components of the distances [mm], (3 m n,)."""
        return np.asarray((self.modelled(unknowns) - self.seen).ravel() / MILLIMETRE)

    def fit(self, start: Floats, free: bool) -> Any:
        """The unknowns of least squares from a start; ``free`` is False for the angles alone, with the axes by rule."""
        n, rows = len(self.seen), self.local.size
        block = kron(csr_array(np.eye(n)), csr_array(np.ones((rows, 2))))
        pattern = hstack([csr_array(np.ones((n * rows, SHARED))), block]) if free else block
        high = np.r_[
            np.tile([MAX_TILT, MAX_TILT, MAX_SHIFT / SHIFT_UNIT, MAX_SHIFT / SHIFT_UNIT], 2), np.full(2 * n, np.pi)
        ]
        options: dict[str, Any] = dict(
            jac_sparsity=pattern, x_scale="jac", xtol=1e-10, ftol=1e-10, gtol=1e-10, max_nfev=200
        )
        if not free:
            fixed = np.zeros(SHARED)
            return least_squares(lambda angles: self.residuals(np.r_[fixed, angles]), start[SHARED:], **options)
        inside = np.clip(start, -0.999 * high, 0.999 * high)
        return least_squares(self.residuals, inside, bounds=(-high, high), **options)


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
    motion = _motion_of(subject, trial)
    n = len(motion.seen)
    rule = motion.fit(np.zeros(SHARED + 2 * n), free=False)
    best = motion.fit(np.r_[np.zeros(SHARED), rule.x], free=True)
    directions = [axis for _, axis in motion.hinges(best.x[:SHARED])]
    noise = _deviations_by_noise(motion, best)
    left_out = _deviations_by_parts(motion, best.x, directions)
    angles = np.degrees(best.x[SHARED:].reshape(n, 2))
    ranges = np.diff(np.percentile(angles, [5, 95], axis=0), axis=0)[0]
    found = []
    for k, (name, axis) in enumerate(zip(("talocrural", "talocalcaneal"), directions, strict=True)):
        sd = max(noise[k], left_out[k])
        bound = bool(np.abs(best.x[4 * k : 4 * k + 2]).max() > 0.99 * MAX_TILT)
        reason = _reason(name, float(ranges[k]), sd, bound)
        inclination, deviation = _angles(subject, k, axis)
        away = float(np.degrees(np.arccos(np.clip(axis @ motion.axes[k], -1.0, 1.0))))
        found.append(FunctionalAxis(axis, inclination, deviation, sd, away, float(ranges[k]), reason))
    rms = [MILLIMETRE * float(np.sqrt((one.fun**2).sum() / (n * len(motion.local)))) for one in (best, rule)]
    return FunctionalAxes(found[0], found[1], rms[0], rms[1], n)


def _motion_of(subject: LegFoot, trial: Capture) -> _Motion:
    """The markers of the foot as seen from the leg, in frames in which all of them and the leg are seen."""
    leg, foot = subject.bodies["leg"], subject.bodies["main_foot"]
    pose, labels = segment_pose(subject, trial)["leg"], tracked(subject, trial, "main_foot")
    places = np.stack([trial.markers[label] for label in labels], axis=1)
    there = np.flatnonzero(all_finite(places).all(axis=1) & np.isfinite(pose.residual))
    if len(there) < MIN_FRAMES:
        raise ModelError(
            f"{trial.name}: leg and foot are seen together in {len(there)} frames, functional axes need {MIN_FRAMES}; give a "
            "longer trial, or one without gaps"
        )
    there = there[np.linspace(0, len(there) - 1, min(len(there), MAX_FRAMES)).round().astype(int)]
    seen = np.einsum("nba,nmb->nma", pose.A[there], places[there] - pose.r[there, None])
    return _Motion(
        local=np.array([foot.markers[label] for label in labels]), seen=seen, A=leg.A.T @ foot.A, r=leg.A.T @ (foot.r - leg.r),
        axes=(subject.talocrural.axes["leg"], subject.talocalcaneal.axes["main_foot"]),
        points=(subject.talocrural.points["leg"], subject.talocalcaneal.points["main_foot"]),
    )  # fmt: skip


def _deviations_by_noise(motion: _Motion, best: Any) -> list[float]:
    """Standard deviation [deg] of each direction, from the curvature at the optimum and the residuals, correlated in time."""
    n, rows = len(motion.seen), motion.local.size
    J = best.jac.toarray() if hasattr(best.jac, "toarray") else np.asarray(best.jac)
    shared = J[:, :SHARED].reshape(n, rows, SHARED)
    own = np.stack([J[k * rows : (k + 1) * rows, SHARED + 2 * k : SHARED + 2 * k + 2] for k in range(n)])
    alone = shared - own @ (np.linalg.pinv(own) @ shared)  # what the angles of the frame cannot make up for
    H = np.einsum("nka,nkb->ab", alone, alone)
    residual = best.fun.reshape(n, rows)
    variance = float((residual**2).sum() / max(n * (rows - 2) - SHARED, 1))
    # Frames that repeat each other count once: by the decay of the autocorrelation.
    lags = [float((residual[k:] * residual[: n - k]).sum() / (residual**2).sum()) for k in range(1, n // 2)]
    until = next((k for k, rho in enumerate(lags) if rho < 0.05), len(lags))
    covariance = np.linalg.pinv(H) * variance * (1.0 + 2.0 * sum(lags[:until]))
    poor = np.linalg.cond(H) > 1e14
    # A tilt turns the direction by itself where it is small, and by less elsewhere: an upper bound.
    return [
        np.inf if poor else float(np.degrees(np.sqrt(np.trace(covariance[4 * k : 4 * k + 2, 4 * k : 4 * k + 2]))))
        for k in (0, 1)
    ]


def _deviations_by_parts(motion: _Motion, best: Floats, directions: list[Floats]) -> list[float]:
    """Standard deviation [deg] of each direction by the jackknife: fits without one of ``BLOCKS`` parts of the trial each."""
    n = len(motion.seen)
    squares = np.zeros(2)
    for part in np.array_split(np.arange(n), BLOCKS):
        rest = np.setdiff1d(np.arange(n), part)
        start = np.r_[best[:SHARED], best[SHARED:].reshape(n, 2)[rest].ravel()]
        fit = motion.part(rest).fit(start, free=True)
        others = [axis for _, axis in motion.hinges(fit.x[:SHARED])]
        squares += [np.arccos(np.clip(a @ b, -1.0, 1.0)) ** 2 for a, b in zip(directions, others, strict=True)]
    return [float(sd) for sd in np.degrees(np.sqrt((BLOCKS - 1) / BLOCKS * squares))]


def _reason(name: str, range_deg: float, sd_deg: float, bound: bool) -> str:
    """Why an axis is not identified; "" where it is."""
    if range_deg < MIN_RANGE_DEG:
        return f"the {name} angle varies by {range_deg:.1f} deg only, {MIN_RANGE_DEG:g} deg are needed"
    if bound:
        return f"the fit of the {name} axis ended at its bound, {np.degrees(MAX_TILT):.0f} deg from the rule"
    if not sd_deg <= MAX_SD_DEG:
        return f"the standard deviation of the {name} axis is {sd_deg:.1f} deg, the limit is {MAX_SD_DEG:g} deg"
    return ""


def _angles(subject: LegFoot, hinge: int, axis: Floats) -> tuple[float, float]:
    """Inclination and deviation [deg] of an axis in the standing foot, as those of ``Anatomy``."""
    leg, foot = subject.bodies["leg"], subject.bodies["main_foot"]
    x, y, z = foot.A.T @ leg.A @ axis if hinge == 0 else axis
    along, aside = (y, x) if hinge == 0 else (x, y)
    inclination, deviation = np.degrees(np.arctan2([z, aside], along))
    return float(inclination), float(deviation)
