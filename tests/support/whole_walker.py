"""The synthetic trial with the other foot, half a cycle later, and with a pelvis whose acceleration is known."""

from dataclasses import replace

import numpy as np

from models.walking import synthetic
from models.walking.norms import CYCLE
from runtime.support import GRAVITY

RISE = 0.02  # [m] amplitude of the pelvis, twice in each cycle
PELVIS = ("L_IAS", "L_IPS", "R_IAS", "R_IPS")


def whole_walker():
    """The capture."""
    walk = synthetic.trial()
    t = walk.t
    heel = walk.markers["R_FCC"]
    travel = np.interp(0.2 + CYCLE, t, heel[:, 0]) - np.interp(0.2, t, heel[:, 0])
    later = t + CYCLE / 2.0 <= t[-1]
    markers = dict(walk.markers)
    for label, p in walk.markers.items():
        at = np.where(later, t + CYCLE / 2.0, t - CYCLE / 2.0)
        other = np.column_stack([np.interp(at, t, column) for column in p.T])
        other[:, 0] += np.where(later, -travel / 2.0, travel / 2.0)
        markers["L" + label[1:]] = other * (1.0, -1.0, 1.0) + (0.0, 0.2, 0.0)
    for k, label in enumerate(PELVIS):
        height = 0.95 + RISE * np.cos(phase(t))
        markers[label] = np.column_stack([travel / CYCLE * t + 0.1 * (k % 2), np.full(len(t), 0.05 * k), height])
    return replace(walk, markers=markers)


def phase(t):
    """Phase of the pelvis [rad]: lowest in the middle of double support."""
    return 4.0 * np.pi * (t - synthetic.STRIKE - 0.3 * CYCLE) / CYCLE


def vertical_force(t):
    """Force on both feet in closed form [body weights]."""
    return 1.0 - RISE * (4.0 * np.pi / CYCLE) ** 2 * np.cos(phase(t)) / GRAVITY
