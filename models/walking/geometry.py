"""Vectors and rotations that several modules of walking need."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from runtime.support.arrays import Floats

UP = np.array([0.0, 0.0, 1.0])
UP.flags.writeable = False
MIN_SPREAD = 0.008  # [m] root mean square distance of markers from a line, below which they fix no orientation


def unit(v: Floats) -> Floats:
    """The direction (3,) of a vector (3,)."""
    return np.asarray(v / np.linalg.norm(v))


def across(v: Floats, axis: Floats) -> Floats:
    """Unit vector (3,) along the part of v that is perpendicular to a unit axis (3,)."""
    return unit(v - (v @ axis) * axis)


def frame(up: Floats, towards: Floats, name: str) -> Floats:
    """Axes x, y, z as columns (3, 3): z along ``up``, the axis ``name`` ("x" or "y") as near as possible to ``towards``."""
    z = unit(up)
    other = across(towards, z)
    x, y = (other, np.cross(z, other)) if name == "x" else (np.cross(other, z), other)
    return np.column_stack([x, y, z])


def euler_parameters(A: Floats) -> Floats:
    """Euler parameters (n, 4), scalar first, of rotation matrices (n, 3, 3)."""
    p: Floats = Rotation.from_matrix(np.array(A)).as_quat(scalar_first=True)  # SciPy 1.15 refuses read-only arrays
    return p


def fixes_orientation(points: Floats) -> bool:
    """Whether points (m, 3) [m] fix the orientation of a body: at least three, and not in a line."""
    if len(points) < 3:
        return False
    return bool(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1] > MIN_SPREAD * np.sqrt(len(points)))


def mean_of_seen(values: Floats, axis: int) -> Floats:
    """Mean over an axis without the values that are not finite; NaN, and no warning, where none is finite."""
    seen = np.isfinite(values)
    count = seen.sum(axis=axis)
    return np.asarray(np.where(seen, values, 0.0).sum(axis=axis) / np.where(count, count, np.nan))
