"""How far the forces of a sole are from the measured ones, with the exact derivatives by the parameters of its spheres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.walking.contact import build, in_stance, rms
from models.walking.gait_result import Gait
from models.walking.geometry import UP
from models.walking.sole import Sole, floor_of
from runtime import contact_sensitivities, inverse_dynamics
from runtime.analysis import ContactSensitivity, Motion
from runtime.support import GRAVITY
from runtime.support.arrays import Floats

SWING_UNTIL = 0.95  # of the cycle: the next strike may begin a little before its event
AXES = {"centre_z": 2, "centre_y": 1}


@dataclass(frozen=True)
class Group:
    """A parameter of the contacts that a fit may change, by a factor or by a distance, up to ``reach`` either way.

    ``width``: the factor or distance from the start that the prior counts as ``PRIOR`` body weights.
    """

    parameter: str
    factor: bool
    reach: float
    width: float


# The prior's widths are those by which soles fitted to one trial predict the other four best, within 0.001 body weights, of the
# adult of Schreiber and Moissenet (2019), either foot: 0.171 and 0.174; heights of 1 mm predict with 0.184 and 0.187, of 2 mm
# with 0.22 and 0.26.  That of "medial" is the height's.
GROUPS = {
    "stiffness": Group("stiffness", True, 100.0, 10.0),
    "loss": Group("loss", True, 100.0, 3.0),
    "height": Group("centre_z", False, 0.03, 0.0002),
    "medial": Group("centre_y", False, 0.03, 0.0002),
}

# One unknown of a fit: a group, and the spheres that it changes alike.
Unknown = tuple[Group, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Target:
    """A trial as a fit sees it: motion, measured force (n, 3) [N] and centre of pressure (n, 3) [m] on the floor.

    ``used``: frames in which the force is compared, (n,); ``stance``: those in stance; ``weight`` [N] and ``length`` of the
    foot [m] are the units of the residuals.
    """

    motion: Motion
    force: Floats
    cop: Floats
    used: NDArray[np.bool_]
    stance: NDArray[np.bool_]
    weight: float
    length: float


def target_of(one: Gait, start: Sole) -> Target:
    """The target that a trial gives for a fit which begins at a sole."""
    force, cop, _ = one.ground_at(one.t)
    floor = floor_of(one)[0]
    cop = np.column_stack([cop[:, :2], np.full(len(cop), floor.height)])
    cycle = one.cycle
    used = (one.t >= cycle.strike) & (one.t <= cycle.strike + SWING_UNTIL * (cycle.next_strike - cycle.strike))
    motion = inverse_dynamics(build(one.subject, one.coordinates, start, floor, time=float(one.t[0])), one.t)
    weight = one.subject.mass * GRAVITY
    return Target(motion, force, cop, used, in_stance(one), weight, one.subject.foot_length)


def changed_sole(start: Sole, unknowns: Sequence[Unknown], x: Floats) -> Sole:
    """The sole with unknowns x (k,): logarithms of factors, or distances [m]."""
    changes: dict[str, dict[str, Any]] = {name: {} for name in start.spheres}
    for (group, names), value in zip(unknowns, x, strict=True):
        for name in names:
            sphere = start.spheres[name]
            if group.factor:
                changes[name][group.parameter] = getattr(sphere, group.parameter) * float(np.exp(value))
            else:
                centre = np.array(changes[name].get("centre", sphere.centre))
                centre[AXES[group.parameter]] += value
                changes[name]["centre"] = centre
    return start.with_spheres(changes)


def responses(target: Target, sole: Sole) -> Mapping[str, ContactSensitivity]:
    """Force and point of each contact along a target's motion, and their derivatives by the contact's parameters."""
    keywords: dict[str, dict[str, Any]] = {
        name: {"centre": sphere.centre, "stiffness": sphere.stiffness, "loss": sphere.loss}
        for name, sphere in sole.spheres.items()
    }
    return contact_sensitivities(target.motion, keywords)


def compare(targets: Sequence[Target], sole: Sole, unknowns: Sequence[Unknown]) -> tuple[Floats, Floats]:
    """Residuals (m,) of the targets and their exact Jacobian (m, k) by the unknowns, at the sole."""
    residuals, rows = [], []
    for target in targets:
        response = responses(target, sole)
        load, by_sphere = _total_load(response, target.cop)
        slopes = np.zeros((*load.shape, len(unknowns)))
        for column, (group, names) in enumerate(unknowns):
            for name in names:
                k = response[name].parameters.index(group.parameter)
                scale = getattr(sole.spheres[name], group.parameter) if group.factor else 1.0
                slopes[:, :, column] += scale * by_sphere[name][:, :, k]
        off = load - np.column_stack([target.force[:, 2], np.zeros((len(load), 2))])
        unit = np.array([target.weight, *[target.weight * target.length] * 2])
        loaded = target.used & np.isfinite(target.cop).all(axis=1)
        share = 1.0 / np.sqrt(target.stance.sum())  # every trial has the same weight at any sampling rate
        for column, frames in enumerate((target.used, loaded, loaded)):
            residuals.append(share * off[frames, column] / unit[column])
            rows.append(share * slopes[frames, column] / unit[column])
    return np.concatenate(residuals), np.concatenate(rows)


def _total_load(response: Mapping[str, ContactSensitivity], about: Floats) -> tuple[Floats, dict[str, Floats]]:
    """Vertical force and horizontal moments about points (n, 3) of all spheres, (n, 3), and the slopes of each, (n, 3, q)."""
    total = np.zeros((len(about), 3))
    slopes = {}
    for name, s in response.items():
        force = s.normal_force[:, None] * UP + s.friction
        of_force = UP[:, None] * s.normal_force_slopes[:, None, :] + s.friction_slopes
        arm = s.point - about
        moment = np.cross(arm, force)
        of_moment = np.cross(s.point_slopes, force[:, :, None], axis=1) + np.cross(arm[:, :, None], of_force, axis=1)
        total += np.column_stack([force[:, 2], moment[:, :2]])
        slopes[name] = np.concatenate([of_force[:, 2:], of_moment[:, :2]], axis=1)
    return total, slopes


def force_per_millimetre(targets: Sequence[Target], all_responses: Sequence[Mapping[str, ContactSensitivity]]) -> float:
    """Change of the vertical force [body weights] by one millimetre of height of the sole, root mean square over stance."""
    slopes = []
    for target, response in zip(targets, all_responses, strict=True):
        by_height = (s.normal_force_slopes[:, s.parameters.index("centre_z")] for s in response.values())
        total = sum(by_height, start=np.zeros(len(target.stance)))
        slopes.append(total[target.stance] / target.weight)
    return 1e-3 * rms(np.concatenate(slopes))
