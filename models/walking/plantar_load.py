"""The force of the ground on a foot from markers alone, by the sole in two rows.

1. The acceleration of the body's centre of mass gives the force on both feet; in single support it is that of the foot, in
   double support the mean share of other adults divides it (``models.walking.whole_body``).
2. The motion of foot and body shifts the mean path of the centre of pressure of other adults (``models.walking.pressure_path``).
   Lift, tilt and roll of the foot, splines in time, are the smallest with which the spheres carry the force near this path.
3. The spheres give the force and the centre of pressure.

No force plate is used, neither for the force nor for the times of contact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from models.walking.capture import Capture, GroundForce
from models.walking.contact import Errors, compared
from models.walking.foot_correction import correction
from models.walking.gait_result import Gait
from models.walking.ground_loads import load_on_foot
from models.walking.leg_foot import build
from models.walking.plantar import NAMES, SMALL, FootMotion, PlantarSole, foot_motion, spheres_of
from models.walking.plantar_data import PUBLISHED
from models.walking.plantar_fit import SUPPORT, PlantarModel
from models.walking.preparation import Filters
from models.walking.pressure_path import STANCE, guides_of
from models.walking.whole_body import BodyMotion, body_motion
from runtime import inverse_dynamics
from runtime.analysis import Motion
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats


@checked_class
@dataclass(frozen=True, eq=False)
class PlantarLoad:
    """The force of the ground on a foot, from markers alone, at the times ``trial.t`` (n,).

    Attributes
    ----------
    trial : Gait
    sole : PlantarSole
    body : BodyMotion
        The force on both feet, and the times of contact.
    expected : (n,) [N]
        Vertical force from the acceleration of the body, before the spheres.
    force : (n, 3) [N], cop : (n, 3) [m]
        On the foot; the centre of pressure is NaN without a force.
    pressed : mapping of sphere to (n,) [N]
        Normal force of each sphere.
    lift, tilt, roll : (n,) [m]
        Of the foot against its markers: upwards; additional lift of the tip of the toes, minus that of the heel; additional lift
        of the medial edge, minus that of the lateral edge.
    """

    trial: Gait
    sole: PlantarSole
    body: BodyMotion
    expected: Floats
    force: Floats
    cop: Floats
    pressed: Mapping[str, Floats]
    lift: Floats
    tilt: Floats
    roll: Floats

    def errors(self) -> Errors:
        """Against the measured force."""
        return compared(self.trial, self.force, self.cop)

    @cached_property
    def motion(self) -> Motion:
        """The driven motion under this force: joint moments that need no force plate."""
        one = self.trial
        zero = np.zeros(len(one.t))
        ground = GroundForce("markers", one.t, self.force, self.cop, zero, surface=float(one.ground.surface))
        return inverse_dynamics(build(one.subject, one.coordinates, load_on_foot(ground), time=float(one.t[0])), one.t)


@checked
def predict_from_markers(
    one: Gait,
    trial: Capture,
    *,
    model: PlantarModel | None = None,
    filters: Filters | None = None,
    body: Mapping[str, float] | None = None,
) -> PlantarLoad:
    """The force of the ground on a foot from the markers of a trial.

    Parameters
    ----------
    one : Gait
        The analysis of the trial; its measured force is not used.
    trial : Capture
        The trial, with markers of both feet and of the body.
    model : PlantarModel, optional
        Default: fitted to nine adults of Schreiber and Moissenet (2019), ``models.walking.plantar_data``.
    filters : Filters, optional
        Those of the analysis.  Default: those of Rodrigues da Silva et al. (n.d.).
    body : mapping of label to float, optional
        Weights of markers in the centre of mass.  Default: the segments of de Leva (1996) where their markers are seen, else
        the mean of the markers of the pelvis.

    Returns
    -------
    PlantarLoad

    Raises
    ------
    ModelError
        Where markers of the body, of the foot or of the other foot are missing.
    """
    model = model or PUBLISHED
    moving = body_motion(one, trial, filters or Filters(), body)
    foot = foot_motion(one)
    both, share = expected_force(moving, model, foot.t)
    expected = np.clip(both[:, 2] * share, 0.0, None)
    path = expected_path(moving, foot, model)
    spheres = spheres_of(foot, model.sole)
    corrections, forces = correction(foot, spheres, expected, path)
    total = forces.sum(axis=1)
    horizontal = both[:, :2] * share[:, None]
    scale = np.where(expected > SMALL, total / np.where(expected > SMALL, expected, 1.0), 0.0)
    force = foot.weight * np.column_stack([horizontal * np.clip(scale, 0.0, 2.0)[:, None], total])
    cop = np.column_stack([spheres.centre(forces), np.full(len(total), foot.floor)])
    cop[~np.isfinite(cop).all(axis=1)] = np.nan
    force[~np.isfinite(cop).all(axis=1)] = 0.0
    pressed = MappingProxyType(dict(zip(NAMES, foot.weight * forces.T, strict=True)))
    return PlantarLoad(one, model.sole, moving, foot.weight * expected, force, cop, pressed, *corrections)


def mean_curves(one: Gait, model: PlantarModel | None = None) -> tuple[Floats, Floats]:
    """Force (n, 3) [N] and centre of pressure (n, 3) [m] of the mean curves of other adults, stretched to the stance of a trial.

    The baseline of every prediction: its only data of the trial are the weight, the foot and the events of the gait cycle.
    """
    model = model or PUBLISHED
    foot, cycle = foot_motion(one), one.cycle
    part = (one.t - cycle.strike) / (cycle.off - cycle.strike)
    force = np.zeros((len(part), 3))
    force[:, 2] = foot.weight * np.interp(part, STANCE, model.vertical, left=0.0, right=0.0)
    path = np.column_stack([np.interp(part, STANCE, column) for column in model.path.T])
    return force, np.column_stack([foot.in_laboratory(one.t, path), np.full(len(part), foot.floor)])


def expected_force(body: BodyMotion, model: PlantarModel, t: Floats) -> tuple[Floats, Floats]:
    """Force (n, 3) [body weights] on both feet, and the share (n,) of the foot in it, at times t (n,) [s]."""
    both = np.column_stack([np.interp(t, body.t, column) for column in body.force.T])

    def part(begin: float, end: float) -> Floats:
        return np.asarray((t - begin) / max(end - begin, 1e-3))

    first = np.interp(part(body.strike, body.opposite_off), SUPPORT, model.first, left=0.0, right=1.0)
    last = np.interp(part(body.opposite_strike, body.off), SUPPORT, model.last, left=1.0, right=0.0)
    return both, np.asarray(first * last)


def expected_path(body: BodyMotion, foot: FootMotion, model: PlantarModel) -> Floats:
    """Centre of pressure (n, 2) [m] that the motion suggests at the times of ``foot``, constant before and after stance."""
    path = model.path + model.guidance.shift(guides_of(foot, body))
    return foot.in_laboratory(foot.t, over_stance(body, foot.t, path))


def over_stance(body: BodyMotion, t: Floats, curve: Floats) -> Floats:
    """A curve over stance (21, k) at times t (n,) [s], (n, k); constant before and after."""
    return np.column_stack([np.interp(body.percent(t), 100.0 * STANCE, column) for column in curve.T])
