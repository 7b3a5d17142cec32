"""Positions that are no markers: zeros and other numbers that stand for "not visible", infinities, places out of reach.

Each kind is set to NaN, as a marker that was not visible, and counted in a note.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.walking.samples import all_finite
from runtime.support.arrays import Floats

NINES = 999.0, 9999.0, 99999.0, 999999.0, 9999999.0  # in all three coordinates, with either sign: not visible
BEYOND = 1e5  # [m] from the origin; no laboratory is that large
REACH = 10.0  # [m] between a marker and the middle of the markers of its frame
ROOM = 50.0  # [m] between the middle of the markers of a frame and that of the trial
ENOUGH = 3  # markers in a frame that define their middle
MOST = 0.25  # of all positions may be strays
LISTED = 5  # labels in a note

Flags = NDArray[np.bool_]


def only_visible(points: Floats, labels: Sequence[str], metres: float, notes: list[str]) -> Flags:
    """Set all positions (n, labels, 3) [m] that are no markers to NaN; flags (n, labels) of the others.

    Parameters
    ----------
    points : (n, labels, 3) [m]
        Changed in place.
    labels : sequence of str
    metres : float
        Per unit of position in the file.
    notes : list of str
        A sentence for each kind of position that was left out.
    """
    zero, infinite = np.asarray((points == 0.0).all(axis=2)), np.asarray(np.isinf(points).any(axis=2))
    if zero.any():
        notes.append(f"{int(zero.sum())} positions of exactly 0, 0, 0 are treated as markers that were not visible")
    if infinite.any():
        notes.append(
            f"{int(infinite.sum())} positions that are infinite are treated as markers that were not visible: "
            f"{_named(infinite, labels)}"
        )
    seen = all_finite(points) & ~zero
    nines = seen & _of_nines(points, metres)
    if nines.any():
        value = points[nines][0, 0] / metres
        notes.append(
            f"{int(nines.sum())} positions of {value:g}, {value:g}, {value:g} or the like are treated as markers that were not "
            f"visible: {_named(nines, labels)}"
        )
    points[~seen | nines] = np.nan
    seen &= ~nines
    far = seen & _out_of_reach(points, seen)
    if far.any():
        notes.append(
            f"{int(far.sum())} positions, up to {np.abs(points[far]).max():.3g} m from the origin, are more than {REACH:g} m "
            f"from the other markers and are treated as markers that were not visible: {_named(far, labels)}"
        )
    points[far] = np.nan
    return np.asarray(seen & ~far)


def _named(flags: Flags, labels: Sequence[str]) -> str:
    which = [label for label, any_of in zip(labels, np.asarray(flags.any(axis=0)), strict=True) if any_of]
    return ", ".join(which[:LISTED]) + (f" and {len(which) - LISTED} others" if len(which) > LISTED else "")


def _of_nines(points: Floats, metres: float) -> Flags:
    """Where all three coordinates are one number of nines only, in units of the file, such as -9999."""
    equal = (points[..., 0] == points[..., 1]) & (points[..., 0] == points[..., 2])
    size = np.abs(points[..., 0]) / metres
    known = np.isclose(size[..., None], NINES, rtol=2e-7, atol=0.0).any(axis=-1)  # 4-byte reals
    return np.asarray(equal & known)


def _out_of_reach(points: Floats, seen: Flags) -> Flags:
    """Where a position is farther than ``REACH`` from the middle of its frame, a median that strays touch little."""
    inside = seen & (np.abs(np.nan_to_num(points)) <= BEYOND).all(axis=2)
    if not inside.any():
        return np.zeros_like(seen)  # all are: the size of the whole is judged elsewhere
    shown = np.where(inside[..., None], points, np.nan)
    rows = inside.sum(axis=1) >= ENOUGH
    if rows.any():
        middles = np.nanmedian(shown[rows], axis=1)
        middle = np.median(middles, axis=0)
        astray = np.abs(middles - middle).max(axis=1) > ROOM
        middles[astray] = middle
    else:
        middles, middle = np.zeros((0, 3)), np.nanmedian(shown[inside], axis=0)
    centres, reach = np.broadcast_to(middle, (len(points), 3)).copy(), np.full(len(points), ROOM)
    centres[rows] = middles
    reach[rows] = REACH
    away = np.abs(np.where(inside[..., None], points - centres[:, None], 0.0)).max(axis=2) > reach[:, None]
    if away.sum() > MOST * inside.sum():  # no few strays: the unit is wrong, perhaps, which the size of the whole shows
        away[:] = False
    return np.asarray(seen & (~inside | away))
