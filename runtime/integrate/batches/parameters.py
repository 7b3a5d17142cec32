"""Parameters of limits that restrain coordinates, of many cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from generated import law_cubic
from runtime.dynamics.limits import LimitData
from runtime.dynamics.limits_along import LimitAlong
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats

# Parameters of a limit of a case.
SIGN, OFFSET, AHEAD, BEHIND, FLAT_AHEAD, FLAT_BEHIND, MAX_MOMENT, COMPLIANCE, DAMPING = range(9)
PARAMETERS = 9


def parameters_of_limits(limits: Sequence[LimitAlong], data: LimitData) -> Floats:
    """Parameters of limits of a system, (limits, PARAMETERS)."""
    rows = [
        [one.sign, one.offset, *one.edge, *one.flat, data.max_moment[k], data.compliance[k], data.damping[k]]
        for k, one in enumerate(limits)
    ]
    return np.array(rows, float).reshape(-1, PARAMETERS)


def stored_energies(given: Floats, coordinates: Floats) -> Floats:
    """Energy in limits (cases, n) [J] with parameters (cases, limits, PARAMETERS), at coordinates (cases, n, limits) [rad]."""
    one = np.moveaxis(given, 2, 0)[:, :, None]  # (PARAMETERS, cases, 1, limits)
    angle = one[SIGN] * coordinates + one[OFFSET]
    angle -= 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
    out = np.maximum(np.abs(angle) - np.where(angle > 0.0, one[AHEAD], one[BEHIND]), 0.0)
    x, law = out / one[COMPLIANCE], [np.zeros(0)] * 3
    python_code(law_cubic.law)(np.minimum(x, 1.0), law)
    work = law[0] + law[1] * np.maximum(x - 1.0, 0.0)
    energies: Floats = (one[MAX_MOMENT] * one[COMPLIANCE] * work).sum(axis=2)
    return energies
