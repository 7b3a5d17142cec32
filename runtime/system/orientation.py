"""States of bodies as users give them; orientations are Euler parameters, rotation matrices, or SciPy's rotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.support.arrays import Floats
from runtime.support.checks import called, finite, unit
from runtime.support.errors import ModelError
from runtime.support.numbers import floats

UNIT_TOLERANCE = 1e-6  # [1] how far the length of Euler parameters may be from 1, and A^T A from the unit matrix

ORIGIN, UPRIGHT = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)  # by default, which need no check


def given_state(what: str, r: Any, p: Any, v: Any, omega: Any) -> Floats:
    """The state (13,) of a body, ``what``, from its position, orientation and velocities.

    Raises
    ------
    ModelError
    """
    state = np.zeros(STATE)
    state[P:V] = UPRIGHT if p is UPRIGHT else euler_parameters(p, f"{what}: p")
    for place, key, given in ((slice(R, P), "r", r), (slice(V, OMEGA), "v", v), (slice(OMEGA, STATE), "omega", omega)):
        if given is not ORIGIN:
            state[place] = finite(given, (3,), f"{what}: {key}")
    return state


def euler_parameters(value: Any, what: str) -> Floats:
    """Return an orientation as Euler parameters (4,), scalar first, of unit length.

    Parameters
    ----------
    value : (4,), (3, 3), or scipy.spatial.transform.Rotation
        Euler parameters, scalar first; a rotation matrix from body to global axes; or a single rotation of SciPy.
    what : str
        Name of the value, for messages.

    Raises
    ------
    ModelError
        The value is none of these, its length or its columns are not of unit length, or the matrix is left-handed.
    """
    if callable(getattr(type(value), "as_quat", None)):  # SciPy's, without the import, which takes a tenth of a second
        quaternion = floats(called(value.as_quat, f"{what}: as_quat"), what, "a Rotation of SciPy")
        if quaternion.shape != (4,):
            raise ModelError(f"{what}: a stack of rotations, shape {quaternion.shape[:-1]}; give a single rotation")
        return np.roll(quaternion, 1)
    numbers = floats(value, what, "4 Euler parameters, a 3 x 3 rotation matrix or a Rotation of SciPy")
    if numbers.shape == (3, 3):
        return _of_matrix(finite(numbers, (3, 3), what), what)
    if numbers.ndim > 1:
        raise ModelError(
            f"{what} has the shape {numbers.shape}; give 4 Euler parameters, a 3 x 3 rotation matrix or a Rotation of SciPy"
        )
    return unit(finite(numbers, (4,), what), what, UNIT_TOLERANCE, normalise=True)


def _of_matrix(A: Floats, what: str) -> Floats:
    """Euler parameters of a rotation matrix, from the largest of the four, and with e0 not negative."""
    off = float(np.abs(A.T @ A - np.eye(3)).max())
    if off > UNIT_TOLERANCE:
        raise ModelError(
            f"{what}: the columns of the matrix are not orthonormal, |A^T A - 1| = {off:.3g}, limit {UNIT_TOLERANCE:.0e}; "
            "give the rotation matrix from body to global axes with all its digits"
        )
    if np.linalg.det(A) < 0.0:
        raise ModelError(f"{what}: the matrix is left-handed, its determinant is -1; exchange or reverse an axis")
    # 4 p p^T, whose rows are multiples of p (Shepperd 1978).
    xx, yy, zz = np.diag(A)
    outer = np.array(
        [
            [1 + xx + yy + zz, A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]],
            [A[2, 1] - A[1, 2], 1 + xx - yy - zz, A[0, 1] + A[1, 0], A[0, 2] + A[2, 0]],
            [A[0, 2] - A[2, 0], A[0, 1] + A[1, 0], 1 - xx + yy - zz, A[1, 2] + A[2, 1]],
            [A[1, 0] - A[0, 1], A[0, 2] + A[2, 0], A[1, 2] + A[2, 1], 1 - xx - yy + zz],
        ]
    )
    row = outer[np.diag(outer).argmax()]
    p: Floats = row / np.linalg.norm(row)
    return -p if p[0] < 0.0 else p
