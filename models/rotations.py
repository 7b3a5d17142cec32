"""Rotations that models of the foot and of walking share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from runtime.support.arrays import Floats, crossed


def about(axis: Floats, angle: ArrayLike) -> Floats:
    """Rotation matrix (3, 3) by an angle [rad] about a unit axis (3,), or matrices (n, 3, 3) by angles (n,)."""
    K = crossed(np.eye(3), axis)
    s, c = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    return np.asarray(np.eye(3) + s * K + (1.0 - c) * (K @ K))
