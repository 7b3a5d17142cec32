"""Parameters of limits that restrain coordinates, of many cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runtime.dynamics.limits import LimitData
from runtime.dynamics.limits_along import LimitAlong
from runtime.jit.python_code import with_arrays
from runtime.support.arrays import Floats

# Parameters of a limit of a case.
SIGN, OFFSET, AHEAD, BEHIND, FLAT_AHEAD, FLAT_BEHIND, MAX_MOMENT, COMPLIANCE, DAMPING = range(9)
PARAMETERS = 9


def parameters_of_limits(limits: Sequence[LimitAlong], data: LimitData) -> Floats:
    """Parameters of limits of a system, (limits, PARAMETERS and those of own laws)."""
    rows = np.zeros((len(limits), PARAMETERS + max([len(one.law.PARAMETERS) for one in limits], default=0)))
    for k, one in enumerate(limits):
        own = data.constants[k, 1 : 1 + len(one.law.PARAMETERS)]
        given = (
            one.sign,
            one.offset,
            *one.edge,
            *one.flat,
            data.max_moment[k],
            data.compliance[k],
            data.damping[k],
            *own,
        )
        rows[k, : len(given)] = given
    return rows


def law_at(limit: LimitAlong, given: Floats, x: Floats) -> dict[int, Floats]:
    """Work, moment and slope of the law of a limit with parameters (PARAMETERS, ...) of cases, at relative excesses up to 1."""
    law: dict[int, Floats] = {}
    own = given[PARAMETERS : PARAMETERS + len(limit.law.PARAMETERS)]
    with_arrays(limit.law.law)(x, [given[COMPLIANCE], *own], law)
    return law


def stored_energies(limits: Sequence[LimitAlong], given: Floats, coordinates: Floats) -> Floats:
    """Energy in limits (cases, n) [J] with parameters (cases, limits, PARAMETERS), at coordinates (cases, n, limits) [rad]."""
    energies: Floats = np.zeros(coordinates.shape[:2])
    for k, limit in enumerate(limits):
        one = given[:, k].T[:, :, None]  # (PARAMETERS, cases, 1)
        angle = one[SIGN] * coordinates[..., k] + one[OFFSET]
        angle -= 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
        out = np.maximum(np.abs(angle) - np.where(angle > 0.0, one[AHEAD], one[BEHIND]), 0.0)
        x = out / one[COMPLIANCE]
        law = law_at(limit, one, np.minimum(x, 1.0))
        energies += one[MAX_MOMENT] * one[COMPLIANCE] * (law[0] + law[1] * np.maximum(x - 1.0, 0.0))
    return energies
