"""Symbols for an entry, and how far its forms are from the kernels."""

import numpy as np
import pytest

from tests.papers.citations import RODRIGUES_ND
from tests.papers.symbols import axes_symbols, joint_symbols, system_symbols
from tests.papers.symbols_of_drivers import driver_symbols
from tests.papers.symbols_of_limits import LIMIT_SYMBOLS
from tests.support.definitions import module_of

TOLERANCE = 1e-12  # relative to the largest of 1 and the quantity


# The accelerations and multipliers of a system solve linear equations, which costs digits.
SOLVED = 1e-9
WELL_ABOVE_ROUNDING = 1e-5


def those(chosen):
    """A test of each of these entries."""
    return pytest.mark.parametrize("equation", chosen, ids=lambda e: e.id)


def symbols_for(equation, seed, place, **special):
    if equation.of_limits:
        return LIMIT_SYMBOLS[equation.about](seed, place)
    if equation.of_drivers:
        return driver_symbols(equation.about, seed, place)
    if equation.about == "axes":
        return axes_symbols(seed)
    if equation.about == "equations of motion":
        return system_symbols(seed, place, equation.paper != RODRIGUES_ND)
    joint = equation.about.partition(".")[0] or "modified_universal"
    return joint_symbols(joint, seed, place, equation.right_angle, **special)


def sides(values):
    return [np.atleast_2d(v) for v in (values if isinstance(values, tuple) else (values,))]


def errors(equation, m, form):
    """How far each row of a form is from the kernels, or a side of an identity from the first side."""
    values = sides(form(m))
    if equation.quantity == "identity":
        truth, values = values[0], values[1:]
    else:
        truth = m.kernels[equation.quantity]
        row = equation.about.partition(".")[2]
        if row:
            module = module_of(equation.about.partition(".")[0])
            truth = truth[[module.ROWS.index(row)]]
    if any(value.shape != truth.shape for value in values):
        return np.full(len(truth), np.inf)
    return np.max([np.abs(value - truth).max(axis=1) for value in values], axis=0) / max(1.0, np.abs(truth).max())
