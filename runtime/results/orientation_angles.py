"""Euler and Cardan angles of bodies over time, in any sequence of axes.

The conversion is SciPy's ``Rotation.as_euler`` (Bernardes and Viollet 2022).
"""

from __future__ import annotations

import re
import warnings

import numpy as np

from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.checks import numbers_of_shape
from runtime.support.errors import ModelError, shown

SEQUENCE = re.compile(r"(?:([XYZ])(?!\1)([XYZ])(?!\2)[XYZ])|(?:([xyz])(?!\3)([xyz])(?!\4)[xyz])")
# Distance of the second angle from gimbal lock [rad]: below it an error of the orientation is a thousand times larger in the
# first and in the third angle.
LEAST_DISTANCE = 1e-3


@checked
def euler_angles(t: Floats, rotations: Floats, sequence: str, *, name: str = "the rotation") -> Floats:
    """Euler or Cardan angles (n, 3) [rad] of rotation matrices (n, 3, 3) at times t (n,) [s], as ``Run.euler_angles``.

    ``name``: of the rotation, for messages.

    Raises
    ------
    ModelError
        For an unknown sequence, arrays that do not fit or are not finite, matrices that are no rotations, and gimbal lock.
    """
    from scipy.spatial.transform import Rotation

    if not SEQUENCE.fullmatch(sequence):
        raise ModelError(
            f"sequence = {shown(sequence)}: give three axes, neighbours different, such as 'YXZ' (intrinsic) or 'yxz' (extrinsic)"
        )
    n = t.size
    t = numbers_of_shape(t, (n,), "euler_angles: t")
    rotations = numbers_of_shape(rotations, (n, 3, 3), "euler_angles: rotations")
    if n == 0:
        return np.zeros((0, 3))
    _check_rotations(t, rotations, name)
    turn = Rotation.from_matrix(np.array(rotations))  # SciPy 1.15 refuses read-only arrays
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of gimbal lock, which is refused below
        angles = turn.as_euler(sequence)
    second, cardan = angles[:, 1], sequence[0] != sequence[2]
    distance = np.pi / 2 - np.abs(second) if cardan else np.minimum(second, np.pi - second)
    found: Floats = np.column_stack([np.unwrap(angles[:, 0]), second, np.unwrap(angles[:, 2])])
    # Half a turn of the first and the third angle while the body turns by a small angle: it has passed through gimbal lock.
    step = (turn[:-1].inv() * turn[1:]).magnitude()
    jumps = (np.abs(np.diff(found[:, [0, 2]], axis=0)) > np.pi / 2).any(axis=1)
    passed = jumps & (np.minimum(distance[:-1], distance[1:]) <= step)
    locked = distance < LEAST_DISTANCE
    locked[1:] |= passed
    if locked.any():
        raise _lock(sequence, name, int(np.argmax(locked)), t, second, cardan)
    return found


def _check_rotations(t: Floats, rotations: Floats, name: str) -> None:
    """Refuse matrices that are not finite, or no rotations."""
    finite = np.isfinite(rotations).all(axis=(1, 2))
    off = np.full(len(t), np.inf)
    own = rotations[finite]
    with np.errstate(over="ignore", invalid="ignore"):
        off[finite] = np.abs(np.swapaxes(own, 1, 2) @ own - np.eye(3)).max(axis=(1, 2), initial=0.0)
        off[finite] += np.where(np.linalg.det(own) > 0.0, 0.0, 2.0)
    if (wrong := ~(off <= 1e-3)).any():
        k = int(np.argmax(wrong))
        raise ModelError(
            f"{name}: the matrix at t = {t[k]:.6g} s is no rotation, |A^T A - 1| = {off[k]:.1e} (limit 1e-03); give proper "
            "rotation matrices, or times before the motion fails"
        )


def _lock(sequence: str, name: str, k: int, t: Floats, second: Floats, cardan: bool) -> ModelError:
    at = "90" if cardan else "0 or 180"
    others = "ZXZ" if cardan else "YXZ"
    return ModelError(
        f"{name}, sequence '{sequence}': gimbal lock at t = {t[k]:.6g} s: the second angle is {np.rad2deg(second[k]):.2f} deg "
        f"and passes {at} deg or is nearer to it than {np.rad2deg(LEAST_DISTANCE):.2f} deg, where only the sum or the "
        f"difference of the first and the third angle is determined; use another sequence, such as '{others}', or other times"
    )
