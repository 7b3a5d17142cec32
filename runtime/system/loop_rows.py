"""The rows of all joints without unit, and poses of closed loops whose data are exact to a few digits only.

Bodies move by u (6 bodies,): translations as fractions of a length, rotations [rad].  Rows are divided by their size, so that a
singular value of them is a fraction: 1e-4 is a dependence that an error of 1e-4 rad, or of 1e-4 of the length, may hide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.model_data import Workspace
from runtime.support.arrays import Floats
from runtime.system.degrees_of_freedom import dense_rows, rows_at, stacked
from runtime.system.rank import joints_of, lever_arm
from runtime.system.system import System

GAP = 10.0  # between the smallest singular value of independent rows and the largest of nearly dependent ones
CLOSED = 1e-13  # [1] a correction of a pose below this is rounding
CORRECTIONS = 12
SINGULAR = 1e-2  # fraction to which the smallest singular value of independent rows may fall in a walk


class Rows(NamedTuple):
    """D (m, 6 bodies) and Phi (m,) without units, and the sizes by which the rows were divided (m,)."""

    D: Floats
    Phi: Floats
    size: Floats
    work: Workspace


class Spectrum(NamedTuple):
    """Singular values (descending) of D with their vectors; as many values as rows or columns, whichever are fewer."""

    left: Floats
    values: Floats
    right: Floats


class LoopRows:
    """The rows of all joints of a system, without drivers, in any pose."""

    def __init__(self, system: System, length: float | None = None) -> None:
        which = joints_of(system)
        self.system = system
        self.length = length or max((lever_arm(system.joints[k]) for k in which), default=1.0)
        powers = np.array([power for k in which for power in system.joints[k].module.UNITS], float)
        self.unit = self.length**powers
        self.step = np.tile([self.length] * 3 + [1.0] * 3, len(system.bodies))

    def at(self, y: Floats) -> Rows:
        """The rows in a pose."""
        work = rows_at(self.system, self.system.time, y)
        D = dense_rows(self.system, work.D, False) / self.unit[:, None] * self.step
        size = np.maximum(np.linalg.norm(D, axis=1), 1e-300)
        return Rows(D / size[:, None], stacked(self.system, work.Phi, False) / self.unit / size, size * self.unit, work)

    def moved(self, y: Floats, u: Floats) -> Floats:
        """The pose moved by u."""
        full, to = np.zeros((len(self.system.bodies) + 1, 6)), np.empty_like(y)
        full[1:] = (u * self.step).reshape(-1, 6)
        projection.move(y, full, 1.0, to)
        return to

    def closed(self, y: Floats, rank: int) -> tuple[Floats, Spectrum, bool]:
        """The pose in which as many rows as the rank are satisfied, those nearly dependent left aside; converged or not."""
        largest, spectrum = np.inf, spectrum_of(self.at(y).D)
        for _ in range(CORRECTIONS):
            rows = self.at(y)
            spectrum = spectrum_of(rows.D)
            u = -spectrum.right[:rank].T @ (spectrum.left[:, :rank].T @ rows.Phi / spectrum.values[:rank])
            largest = float(np.abs(u).max(initial=0.0))
            if not largest < 1.0:
                return y, spectrum, False
            y = self.moved(y, u)
            if largest < CLOSED:
                break
        return y, spectrum, largest < 1e3 * CLOSED

    def walk(self, y: Floats, rank: int, direction: Floats, step: float, count: int) -> list[tuple[Floats, Spectrum]]:
        """Poses at equal steps along the motion that the rank admits, and their spectra; fewer where it ends."""
        found: list[tuple[Floats, Spectrum]] = []
        spectrum = spectrum_of(self.at(y).D)
        least = SINGULAR * min(1.0, float(spectrum.values[rank - 1]))
        for _ in range(count):
            free = spectrum.right[rank:]
            along = free.T @ (free @ direction)
            largest = float(np.abs(along).max(initial=0.0))
            if not largest > 0.0:
                break
            direction = along / largest
            y, spectrum, converged = self.closed(self.moved(y, step * direction), rank)
            if not converged or spectrum.values[rank - 1] < least:
                break
            found.append((y, spectrum))
        return found


def spectrum_of(D: Floats) -> Spectrum:
    """Singular values and vectors; left (m, m), right (n, n)."""
    return Spectrum(*np.linalg.svd(D))


def rank_beyond(values: Floats, nearly: float) -> int:
    """How many singular values lie above the first gap below which all are smaller than ``nearly``."""
    for k in range(1, len(values)):
        if values[k] < nearly and values[k - 1] >= GAP * values[k]:
            return k
    return len(values)
