"""Reaching what drivers prescribe from far away: their rows are brought to zero little by little, the joints held meanwhile.

Newton's method alone takes the shortest way, which may lead to a mirror image of a joint (``codegen.calculus``, ``sided``).
"""

from __future__ import annotations

import numpy as np

from runtime import assembly
from runtime.freedoms import dense_rows, stacked
from runtime.structure import Floats
from runtime.system import System

STEPS = 24
NEWTON_STEPS = 12
NEAR = 1e-9  # [m], [rad] the largest move of a step that ends it; the last digits are left to Newton's method
LARGEST = 0.2  # [m], [rad] of one step


def approached(system: System, time: float, y: Floats) -> Floats:
    """A state near to what joints and drivers ask for at a time, reached from the state y on a continuous way."""
    work, y = system.work(), y.copy()
    u, moved = np.zeros((len(system.bodies) + 1, 6)), np.empty_like(y)
    assembly.worst_row(time, y, system.tables, work, False)
    driven = np.concatenate([np.full(len(joint.rows), bool(joint.signals)) for joint in system.joints])
    away = np.where(driven, stacked(system, work.Phi), 0.0)
    for left in np.linspace(1.0, 0.0, STEPS + 1)[1:]:
        for _ in range(NEWTON_STEPS):
            assembly.worst_row(time, y, system.tables, work, False)
            step = np.linalg.lstsq(dense_rows(system, work.D), left * away - stacked(system, work.Phi), rcond=None)[0]
            largest = float(np.abs(step).max())
            if not largest < np.inf:
                return y
            u[1:] = step.reshape(-1, 6)
            assembly.move(y, u, min(1.0, LARGEST / largest) if largest > 0.0 else 1.0, moved)
            y, moved = moved, y
            if largest < NEAR:
                break
    return y
