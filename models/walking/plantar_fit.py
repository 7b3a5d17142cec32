"""Fit of a sole in two rows to the measured forces of many feet at once, and what these feet have in common.

Parameters are few and common to all feet; priors keep them near anatomy.  In the fit the lift of each foot at each time is the
one at which the spheres carry the measured force; the residuals are the centre of pressure, that lift, and forces of single
spheres beyond half a body weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from models.walking.gait_result import Gait
from models.walking.plantar import GROUPS, NAMES, FootMotion, PlantarSole, foot_motion, spheres_of
from models.walking.pressure_path import STANCE, Guidance, fit_guidance, guides_of
from models.walking.subject import Frozen
from models.walking.whole_body import BodyMotion
from runtime import ModelError
from runtime.support import checked_class
from runtime.support.arrays import Floats

# Parts of double support.  By the forces it lasts longer than by the markers, so the curves begin before it and end after it.
SUPPORT = np.linspace(-0.3, 1.3, 17)
# Start and width of the prior of each parameter, and how strongly one width counts.
STIFFNESS, STIFFNESS_FACTOR = 60.0, np.e  # [body weights per foot length^1.5]
HEIGHT, HEIGHT_WIDTH = -0.015, 0.01  # [foot lengths]
FORWARD_WIDTH, ROCKER_WIDTH = 0.03, 0.1  # [foot lengths]
PRIOR = 0.03
COP_WIDTHS = (0.06, 0.04)  # [foot lengths] anterior, medial
LIFT_WIDTH = 0.006  # [m]
MAX_FORCE, FORCE_WIDTH = 0.42, 0.05  # [body weights] of a sphere: beyond the first, the excess counts
LOADED = 0.05  # [body weights] from which on a frame is used
STEPS = 12
REACH = 2.0  # widths of the prior from the start within which heights and places are sought
SIZES = (len(GROUPS), len(NAMES), len(GROUPS) - 1, 3)


@checked_class
@dataclass(frozen=True, eq=False)
class PlantarModel(Frozen):
    """Common properties of the feet of many adults: the sole, and the mean pattern of their stance.

    Attributes
    ----------
    sole : PlantarSole
    first, last : (17,)
        Share of the foot in the force on both feet, over the double support after its strike and over that before its off.
    path : (21, 2) [foot lengths]
        Mean centre of pressure over stance, forwards and medial of the heel's marker.
    guidance : Guidance
        How the centre of pressure of a trial differs from the mean, from the motion of foot and body.
    vertical : (21,) [body weights]
        Mean vertical force over stance: the baseline that a prediction has to beat.
    feet : int
        Number of feet and trials.
    """

    sole: PlantarSole
    first: Floats
    last: Floats
    path: Floats
    guidance: Guidance
    vertical: Floats
    feet: int


@dataclass(frozen=True, eq=False)
class PlantarSample(Frozen):
    """A trial of a foot with its measured force, as a fit sees it.

    force (n,) [body weights], cop (n, 2) [m] at the frames of ``foot``; first, last, path and vertical as in ``PlantarModel``;
    guides (21, 5).
    """

    foot: FootMotion
    force: Floats
    cop: Floats
    first: Floats
    last: Floats
    path: Floats
    guides: Floats
    vertical: Floats


def sample_of(one: Gait, body: BodyMotion) -> PlantarSample:
    """The sample that a trial gives, from its measured force and the motion of the whole body."""
    foot = foot_motion(one)

    def measured(t: Floats) -> tuple[Floats, Floats]:
        force, cop, _ = one.ground_at(t)
        return force[:, 2] / foot.weight, cop[:, :2]

    def share(begin: float, end: float) -> Floats:
        t = begin + SUPPORT * (end - begin)
        return np.asarray(measured(t)[0] / np.interp(t, body.t, body.force[:, 2]))

    t = body.strike + STANCE * (body.off - body.strike)
    cop = foot.in_foot(t, measured(t)[1])
    on = np.isfinite(cop).all(axis=1) & (measured(t)[0] > LOADED)
    path = np.column_stack([np.interp(STANCE, STANCE[on], column) for column in cop[on].T])
    cycle = one.cycle
    vertical = measured(cycle.strike + STANCE * (cycle.off - cycle.strike))[0]
    force, cop = measured(foot.t)
    used = (foot.t >= cycle.strike) & (foot.t <= cycle.off) & (force > LOADED) & np.isfinite(cop).all(axis=1)
    return PlantarSample(
        foot.take(used), force[used], cop[used], share(body.strike, body.opposite_off),
        share(body.opposite_strike, body.off), path, guides_of(foot, body), vertical,
    )  # fmt: skip


def sole_of(x: Floats) -> PlantarSole:
    """The sole of unknowns x (22,), which are widths of the prior."""
    stiffness, heights, forward, rocker = np.split(x, np.cumsum(SIZES)[:-1])
    ahead = np.array([forward[0], 0.0, *forward[1:]])
    return PlantarSole(
        STIFFNESS * STIFFNESS_FACTOR**stiffness, HEIGHT + HEIGHT_WIDTH * heights, FORWARD_WIDTH * ahead,
        ROCKER_WIDTH * rocker,
    )  # fmt: skip


def fit_plantar(samples: Sequence[PlantarSample]) -> PlantarModel:
    """Fit a sole to all samples at once, and average the pattern of their stance.

    Raises
    ------
    ModelError
        Where there is no sample.
    """
    if not samples:
        raise ModelError("fit_plantar: no samples; give one or more trials with measured forces")

    def residuals(x: Floats) -> Floats:
        sole = sole_of(x)
        share = 1.0 / np.sqrt(len(samples))
        return np.concatenate([PRIOR * x, *(share * _off(sample, sole) for sample in samples)])

    reach = np.repeat([5.0, REACH, REACH, 5.0], SIZES)
    found = least_squares(residuals, np.zeros(sum(SIZES)), bounds=(-reach, reach), max_nfev=STEPS, diff_step=1e-3)
    means = {k: np.mean([getattr(s, k) for s in samples], axis=0) for k in ("first", "last", "path", "vertical")}
    guidance = fit_guidance(*(np.array([getattr(s, k) for s in samples]) for k in ("path", "guides")))
    return PlantarModel(sole_of(found.x), guidance=guidance, **means, feet=len(samples))


def _off(sample: PlantarSample, sole: PlantarSole) -> Floats:
    """Residuals of a sample, each frame with the same weight."""
    spheres = spheres_of(sample.foot, sole)
    lift = spheres.lift_of(sample.force)
    forces = spheres.forces(lift[:, None])
    moment = np.einsum("nk,nkb->nb", forces, spheres.at - sample.cop[:, None]) / sample.foot.length
    excess = np.clip(forces - MAX_FORCE, 0.0, None) / FORCE_WIDTH
    parts = [(moment / COP_WIDTHS).ravel(), lift / LIFT_WIDTH, excess.ravel()]
    return np.asarray(np.concatenate(parts) / np.sqrt(len(sample.force)))
