"""Homotopy to a distant driven configuration: residuals of drivers are reduced to zero in steps, with the joints assembled.

Newton's method alone takes the shortest path, which may end in a mirror image of a joint (a branch sign changes).
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import shared_workspace_for
from runtime.support.arrays import Floats
from runtime.system.degrees_of_freedom import dense_rows, stacked
from runtime.system.system import System

STEPS = 24
NEWTON_STEPS = 12
NEAR = 1e-9  # [m], [rad] a step of the homotopy ends when the largest change is below this; Newton's method refines the last one
LARGEST = 0.2  # [m], [rad] largest change in one iteration


def follow_homotopy(system: System, time: float, y: Floats) -> Floats:
    """Return a state close to the constraints of joints and drivers at a time, reached from the state y by a continuous path."""
    work, y = shared_workspace_for(system.data), y.copy()
    u, moved = np.zeros((len(system.bodies) + 1, 6)), np.empty_like(y)
    projection.worst_row(time, y, system.data, work, False)
    driven = np.concatenate([np.full(len(joint.rows), bool(joint.signals)) for joint in system.joints])
    away = np.where(driven, stacked(system, work.Phi), 0.0)
    for left in np.linspace(1.0, 0.0, STEPS + 1)[1:]:
        for _ in range(NEWTON_STEPS):
            projection.worst_row(time, y, system.data, work, False)
            step = np.linalg.lstsq(dense_rows(system, work.D), left * away - stacked(system, work.Phi), rcond=None)[0]
            largest = float(np.abs(step).max())
            if not largest < np.inf:
                return y
            u[1:] = step.reshape(-1, 6)
            projection.move(y, u, min(1.0, LARGEST / largest) if largest > 0.0 else 1.0, moved)
            y, moved = moved, y
            if largest < NEAR:
                break
    return y
