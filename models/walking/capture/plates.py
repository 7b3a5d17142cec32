"""Force plates: their axes, when they are loaded, filtered forces and centres of pressure, several plates as one.

A plate is loaded while its vertical force exceeds a threshold; while it is unloaded, a filtered force is zero and its centre
of pressure is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from models.walking.capture.trial import GroundForce
from models.walking.filters import lowpass
from models.walking.samples import all_finite, runs
from runtime import ModelError
from runtime.support.arrays import Floats

THRESHOLD = 20.0  # [N] vertical force of a foot on a plate
RELEASE = 0.5  # of the threshold: loading ends below it, so that noise does not split an interval
SHORTEST = 0.05  # [s] of loading; a step lasts ten times as long
OFFSET = 60.0  # [N] largest force that an unloaded plate may show
STEADY = 5.0  # [N] deviation of an unloaded plate
ZERO = 1.0  # [N] below it an offset gets no note


def plate_axes(corners: Floats) -> Floats:
    """Columns x, y, z of a plate (3, 3); the first corner is in its +x, +y quadrant, the second in -x, +y."""
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    z = np.cross(x, y)
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    return np.asarray(axes / np.linalg.norm(axes, axis=0))


def loaded_intervals(grf: GroundForce, *, threshold: float = THRESHOLD) -> list[tuple[int, int]]:
    """Intervals of samples in which a plate is loaded, as slices: from the first sample above the threshold [N] to the last.

    An interval continues while the vertical force is above half the threshold, so that noise around the threshold does not
    split it.  Intervals shorter than 0.05 s are omitted unless the first or the last sample of the recording cuts them.

    Parameters
    ----------
    grf : GroundForce
        Ground force of one plate, or of several combined.
    threshold : float [N]
        Vertical force of a loaded plate.
    """
    if not threshold > 0.0:
        raise ModelError(f"threshold = {threshold} N; it must be positive, because an empty plate measures about zero")
    vertical = grf.force[:, 2]
    found = []
    for start, stop in runs(vertical > RELEASE * threshold):
        above = start + np.flatnonzero(vertical[start:stop] > threshold)
        if not len(above):
            continue
        cut = start == 0 or stop == len(vertical)
        if cut or grf.t[above[-1]] - grf.t[above[0]] >= SHORTEST:
            found.append((int(above[0]), int(above[-1]) + 1))
    return found


def baseline(grf: GroundForce) -> str | None:
    """A sentence on the force that a plate shows while it is unloaded; None if that is about zero, or never seen."""
    size = max(1, round(SHORTEST * grf.rate)) if len(grf.t) > 1 else 1
    blocks = grf.force[: len(grf.t) // size * size].reshape(-1, size, 3)
    means = blocks[np.linalg.norm(blocks.std(axis=1), axis=1) < STEADY].mean(axis=1)
    shown = np.linalg.norm(means, axis=1)
    if not len(shown) or not ZERO < shown.min() < OFFSET:
        return None
    offset = np.median(means[shown < shown.min() + STEADY], axis=0)
    return (
        f"{grf.plate}: shows {np.linalg.norm(offset):.3g} N while it is unloaded ({offset[2]:.3g} N along the vertical); this "
        "offset is not subtracted from the forces of a step: zero the plate"
    )


def filtered(
    grf: GroundForce,
    *,
    force_cutoff: float | None = 20.0,
    cop_cutoff: float | None = 15.0,
    order: int = 3,
    threshold: float = THRESHOLD,
    by: Literal["cop", "moments"] = "cop",
) -> GroundForce:
    """Filter force and free moment over the whole trial, and the centre of pressure only within each loaded interval.

    Parameters
    ----------
    grf : GroundForce
        Ground force of one plate.
    force_cutoff, cop_cutoff : float [Hz], optional
        Cut-offs of ``models.walking.filters.lowpass``; None leaves the quantity unfiltered.  The defaults are those of
        Rodrigues da Silva et al. (n.d.), section 5.
    order : int
        Order of one of the two passes.
    threshold : float [N]
        Vertical force of a loaded plate, compared before filtering.
    by : {"cop", "moments"}
        "cop" filters the centre of pressure itself.  "moments" filters the moments about the laboratory's origin at the force's
        cut-off and computes the centre of pressure from them, which weights it by the force; this is steadier where the force
        is small, and also free of lag.

    Returns
    -------
    GroundForce
        While the plate is unloaded, force and free moment are 0 and the centre of pressure is NaN: the force that a filter
        smears over a foot strike is cut off, not applied at a point that was not measured.
    """
    force, free, cop = np.array(grf.force), np.array(grf.free_moment), np.array(grf.cop)
    rate, what = grf.rate, f"force plate '{grf.plate}'"
    intervals = loaded_intervals(grf, threshold=threshold)
    if by == "moments":
        height = _height(grf)
        about = _moments(grf, height)
    if force_cutoff is not None:
        force = lowpass(force, rate, force_cutoff, order=order, name=f"{what}: force")
        free = lowpass(free, rate, force_cutoff, order=order, name=f"{what}: free moment")
        if by == "moments":
            about = lowpass(about, rate, force_cutoff, order=order, name=f"{what}: moments")
    loaded = np.zeros(len(force), dtype=bool)
    for start, stop in intervals:
        # At the ends of an interval the filtered force may be small or negative; such samples count as unloaded.
        loaded[start:stop] = force[start:stop, 2] > RELEASE * threshold
        if by == "cop" and cop_cutoff is not None and stop - start >= 3 * (order + 1):
            cop[start:stop] = lowpass(
                cop[start:stop], rate, cop_cutoff, order=order, name=f"{what}: centre of pressure"
            )
    if by == "moments":
        cop[loaded], free[loaded] = at_cop(force[loaded], about[loaded], height)
    cop[~loaded], force[~loaded], free[~loaded] = np.nan, 0.0, 0.0
    return replace(grf, force=force, cop=cop, free_moment=free)


def _height(grf: GroundForce) -> float:
    """Height [m] of the plane of the centre of pressure."""
    seen = grf.cop[all_finite(grf.cop), 2]
    return float(np.median(seen)) if len(seen) else (0.0 if math.isnan(grf.surface) else grf.surface)


def _moments(grf: GroundForce, height: float) -> Floats:
    """Moments (m, 3) [N m] about the point (0, 0, height); 0 while there is no centre of pressure."""
    arm = np.nan_to_num(grf.cop - [0.0, 0.0, height])
    moment = np.cross(arm, grf.force)
    moment[:, 2] += grf.free_moment
    moment[~all_finite(grf.cop)] = 0.0
    return np.asarray(moment)


def at_cop(force: Floats, moment: Floats, height: float) -> tuple[Floats, Floats]:
    """Centre of pressure (m, 3) in the plane at a height and free moment (m,) of a force and its moment about (0, 0, height)."""
    x, y = -moment[:, 1] / force[:, 2], moment[:, 0] / force[:, 2]
    free = moment[:, 2] - x * force[:, 1] + y * force[:, 0]
    return np.stack([x, y, np.full(len(x), height)], axis=1), free


def combined(forces: Sequence[GroundForce], *, name: str = "ground", threshold: float = THRESHOLD) -> GroundForce:
    """Combine the plates under one foot into one force, at its centre of pressure, with one free moment.

    The force is the sum; centre of pressure and free moment follow from the sum of all moments, so that the moment about any
    point is preserved.  The plates must be sampled at the same times.

    Parameters
    ----------
    forces : sequence of GroundForce
        At least one.
    name : str
        Name of the result.
    threshold : float [N]
        There is no centre of pressure where the vertical force of the sum is below half of this.

    Raises
    ------
    ModelError
        If there is no plate, or plates differ in their times.
    """
    if not forces:
        raise ModelError(f"'{name}': no force plates to combine; give at least one")
    first = forces[0]
    if len(forces) == 1:
        return replace(first, plate=name)
    for other in forces[1:]:
        if len(other.t) != len(first.t) or not np.allclose(other.t, first.t, rtol=0.0, atol=1e-9):
            raise ModelError(
                f"'{name}': plates '{first.plate}' and '{other.plate}' differ in their times; resample them to common times"
            )
    touched = [grf for grf in forces if np.isfinite(grf.cop).any()] or [first]
    height = float(np.mean([_height(grf) for grf in touched]))
    # A sample without a centre of pressure has no known moment; its force of a few newtons is omitted.
    parts = [np.where(all_finite(grf.cop)[:, None], grf.force, 0.0) for grf in forces]
    force, moment = np.sum(parts, axis=0), np.sum([_moments(grf, height) for grf in forces], axis=0)
    loaded = force[:, 2] > RELEASE * threshold
    cop, free = np.full(force.shape, np.nan), np.zeros(len(force))
    cop[loaded], free[loaded] = at_cop(force[loaded], moment[loaded], height)
    force = np.where(loaded[:, None], force, 0.0)
    return GroundForce(name, first.t, force, cop, free, None, height)
