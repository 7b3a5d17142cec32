"""What force plates measure: when a foot is on one, forces and centres of pressure without noise, several plates as one.

A contact lasts while the vertical force exceeds a threshold; outside of contacts forces are zero and there is no centre of
pressure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from runtime.capture import Floats, GroundForce, all_finite, runs
from runtime.errors import ModelError
from runtime.smoothing import lowpass

THRESHOLD = 20.0  # [N] vertical force of a foot on a plate
RELEASE = 0.5  # of the threshold: a contact ends where the force is below, so that noise does not split it
SHORTEST = 0.05  # [s] a contact; a step lasts ten times as long


def contacts(ground: GroundForce, *, threshold: float = THRESHOLD) -> list[tuple[int, int]]:
    """Where a plate is loaded, as slices have it: from the first sample above the threshold [N] to the last.

    A contact goes on while the vertical force is above half the threshold, so that noise around the threshold does not split
    it; what is shorter than 0.05 s is none, unless the first or the last sample cuts it short.

    Parameters
    ----------
    ground : GroundForce
    threshold : float [N]
    """
    if not threshold > 0.0:
        raise ModelError(f"threshold = {threshold} N; it must be positive, as an empty plate measures about zero")
    vertical = ground.force[:, 2]
    found = []
    for start, stop in runs(vertical > RELEASE * threshold):
        above = start + np.flatnonzero(vertical[start:stop] > threshold)
        if not len(above):
            continue
        cut = start == 0 or stop == len(vertical)
        if cut or ground.t[above[-1]] - ground.t[above[0]] >= SHORTEST:
            found.append((int(above[0]), int(above[-1]) + 1))
    return found


def filtered(
    ground: GroundForce,
    *,
    force_cutoff: float | None = 20.0,
    cop_cutoff: float | None = 15.0,
    order: int = 3,
    threshold: float = THRESHOLD,
    by: Literal["cop", "moments"] = "cop",
) -> GroundForce:
    """Filter force and free moment over the whole trial, and the centre of pressure within each contact only.

    Parameters
    ----------
    ground : GroundForce
    force_cutoff, cop_cutoff : float [Hz], optional
        Cut-offs of ``runtime.smoothing.lowpass``; None leaves the quantity as it is.  The defaults are those of seed 002,
        section 5.
    order : int
        Of one of the two passes.
    threshold : float [N]
        Vertical force of a contact, found before the filter.
    by : {"cop", "moments"}
        "cop" filters the centre of pressure itself.  "moments" filters the moments about the ground's origin at the force's
        cut-off and finds the centre of pressure from them, which weighs it by the force; it is steadier where the force is
        small, and lags nothing either.

    Returns
    -------
    GroundForce
        Outside of contacts force and free moment are 0 and the centre of pressure is NaN: what a filter smears over a foot
        strike is cut off, not applied at a point that nobody measured.
    """
    force, free, cop = np.array(ground.force), np.array(ground.free_moment), np.array(ground.cop)
    rate, what = ground.rate, f"force plate '{ground.plate}'"
    stances = contacts(ground, threshold=threshold)
    if by == "moments":
        height = _height(ground)
        about = _moments(ground, height)
    if force_cutoff is not None:
        force = lowpass(force, rate, force_cutoff, order=order, name=f"{what}: force")
        free = lowpass(free, rate, force_cutoff, order=order, name=f"{what}: free moment")
        if by == "moments":
            about = lowpass(about, rate, force_cutoff, order=order, name=f"{what}: moments")
    loaded = np.zeros(len(force), dtype=bool)
    for start, stop in stances:
        # Inside a contact a filtered force of the first sample may be small; none of it is taken as zero or as pulling.
        loaded[start:stop] = force[start:stop, 2] > RELEASE * threshold
        if by == "cop" and cop_cutoff is not None and stop - start >= 3 * (order + 1):
            cop[start:stop] = lowpass(
                cop[start:stop], rate, cop_cutoff, order=order, name=f"{what}: centre of pressure"
            )
    if by == "moments":
        cop[loaded], free[loaded] = at_cop(force[loaded], about[loaded], height)
    cop[~loaded], force[~loaded], free[~loaded] = np.nan, 0.0, 0.0
    return replace(ground, force=force, cop=cop, free_moment=free)


def _height(ground: GroundForce) -> float:
    """Height [m] of the plane of the centre of pressure."""
    seen = ground.cop[all_finite(ground.cop), 2]
    return float(np.median(seen)) if len(seen) else (0.0 if math.isnan(ground.surface) else ground.surface)


def _moments(ground: GroundForce, height: float) -> Floats:
    """Moments (m, 3) [N m] about the point (0, 0, height); 0 while there is no centre of pressure."""
    arm = np.nan_to_num(ground.cop - [0.0, 0.0, height])
    moment = np.cross(arm, ground.force)
    moment[:, 2] += ground.free_moment
    moment[~all_finite(ground.cop)] = 0.0
    return np.asarray(moment)


def at_cop(force: Floats, moment: Floats, height: float) -> tuple[Floats, Floats]:
    """Centre of pressure (m, 3) in the plane at a height and free moment (m,) of a force and its moment about (0, 0, height)."""
    x, y = -moment[:, 1] / force[:, 2], moment[:, 0] / force[:, 2]
    free = moment[:, 2] - x * force[:, 1] + y * force[:, 0]
    return np.stack([x, y, np.full(len(x), height)], axis=1), free


def combined(forces: Sequence[GroundForce], *, name: str = "ground", threshold: float = THRESHOLD) -> GroundForce:
    """What several plates do together to one foot: one force, at its centre of pressure, with one free moment.

    The force is the sum; centre of pressure and free moment are those of the sum of all moments, so that the moment about
    any point is the same as before.  The plates must be sampled at the same times.

    Parameters
    ----------
    forces : sequence of GroundForce
    name : str
        Of the result.
    threshold : float [N]
        Below this vertical force of the sum there is no centre of pressure.

    Raises
    ------
    ModelError
        For no plate, or plates with other times.
    """
    if not forces:
        raise ModelError(f"'{name}': no force plates to combine; give one at least")
    first = forces[0]
    if len(forces) == 1:
        return replace(first, plate=name)
    for other in forces[1:]:
        if len(other.t) != len(first.t) or not np.allclose(other.t, first.t, rtol=0.0, atol=1e-9):
            raise ModelError(
                f"'{name}': plates '{first.plate}' and '{other.plate}' are sampled at different times; resample them to the same"
            )
    touched = [ground for ground in forces if np.isfinite(ground.cop).any()] or [first]
    height = float(np.mean([_height(ground) for ground in touched]))
    # A plate without a centre of pressure has no known moment, and its few newtons belong to nobody.
    parts = [np.where(all_finite(ground.cop)[:, None], ground.force, 0.0) for ground in forces]
    force, moment = np.sum(parts, axis=0), np.sum([_moments(ground, height) for ground in forces], axis=0)
    loaded = force[:, 2] > RELEASE * threshold
    cop, free = np.full(force.shape, np.nan), np.zeros(len(force))
    cop[loaded], free[loaded] = at_cop(force[loaded], moment[loaded], height)
    force = np.where(loaded[:, None], force, 0.0)
    return GroundForce(name, first.t, force, cop, free, None, height)
