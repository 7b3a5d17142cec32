"""Closed loops whose rows are nearly dependent: data of a few digits, which lock a loop that exact data would let move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.support.arrays import Floats
from runtime.system.degrees_of_freedom import row_places
from runtime.system.loop_rows import (
    LoopRows,
    Spectrum,
    rank_beyond,
    spectrum_of,
)
from runtime.system.rank import closing_joints, joints_of, singular_values
from runtime.system.system import System

# Singular values of the rows without units.  Below EXACT rows are dependent: what they leave of each other during a motion stays
# within the bounds of a run.  Between EXACT and NEARLY their dependence is one of rounded data, if it lasts when the loop moves.
EXACT = 3e-10
NEARLY = 1e-3
WALK, STEPS = 0.05, 4  # [1] length and number of the steps in either direction
LASTS = 20.0  # largest growth of such a singular value on the way
MOST_ROWS = 4  # in a message


class Dependence(NamedTuple):
    """Rows of joints that depend on each other to the accuracy of their data only."""

    accuracy: float  # largest singular value of these rows
    rank: int  # of all rows of joints, the nearly dependent ones left out
    exact_rank: int  # with those
    rows: tuple[str, ...]  # names, "joint.row"
    joints: tuple[str, ...]  # of the loop
    freedoms: int  # degrees of freedom of the joints without these rows

    @property
    def text(self) -> str:
        """The rows and their joints, for messages."""
        names = ", ".join(self.rows[:MOST_ROWS]) + (" and others" if len(self.rows) > MOST_ROWS else "")
        of = f" of the loop of {', '.join(self.joints)}" if len(self.joints) <= 2 * MOST_ROWS else ""
        return f"{names}{of} depend{'s' * (len(self.rows) == 1)} on the other rows to within {self.accuracy:.1e}"


def near_dependence(system: System, y: Floats) -> Dependence | None:
    """Rows of closed loops that are nearly dependent in a pose and in poses nearby, or None."""
    if not closing_joints(system, joints_of(system)):
        return None
    loops = LoopRows(system)
    D = loops.at(y).D
    values = singular_values(D)
    rank = rank_beyond(values, NEARLY)
    if rank == len(values) or values[rank] <= EXACT:
        return None
    spectrum = spectrum_of(D)
    exact = int((values > EXACT).sum())
    if not _lasts(loops, y, spectrum, rank, exact):
        return None
    weights = np.abs(spectrum.left[:, rank:exact])
    names = [system.row_name(*place) for place in row_places(system, False)]
    rows = _distinct(weights)
    joints = [name.split(".")[0] for name, weight in zip(names, weights.max(axis=1), strict=True) if weight > 1e-3]
    return Dependence(
        float(values[rank]), rank, exact, tuple(names[k] for k in rows), tuple(dict.fromkeys(joints)), D.shape[1] - rank
    )


def _lasts(loops: LoopRows, y: Floats, spectrum: Spectrum, rank: int, exact: int) -> bool:
    """The dependence is not that of a singular pose, which rows leave when the loop moves."""
    free = spectrum.right[rank:]
    if not len(free):
        return True
    most = LASTS * float(spectrum.values[rank])
    nearly = _ways(loops, y, free, rank)
    # The motion that the data admit, if any, must not leave it either.
    exactly = _ways(loops, y, spectrum.right[exact:], exact) if exact < len(spectrum.right) else []
    return bool(nearly) and all(found.values[rank] < most for found in nearly + exactly)


def _ways(loops: LoopRows, y: Floats, free: Floats, rank: int) -> list[Spectrum]:
    """Spectra in poses along a motion of the given null space, in both directions."""
    direction = free.T @ np.random.default_rng(0).standard_normal(len(free))
    ways = [loops.walk(y, rank, sign * direction, WALK, STEPS) for sign in (1.0, -1.0)]
    return [found for way in ways for _, found in way]


def _distinct(weights: Floats) -> list[int]:
    """One row for each left singular vector (columns of ``weights``), each another one, with large weights."""
    from scipy.linalg import qr

    _, _, order = qr(weights.T, pivoting=True, mode="economic")
    return sorted(int(k) for k in order[: weights.shape[1]])
