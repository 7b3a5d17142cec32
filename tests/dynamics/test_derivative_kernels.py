"""Variational kernels against complex steps of the emitted derivative."""

import numpy as np
import pytest

from tests.support.systems import BUILDS, spun
from tests.support.whole_model import constants, emitted, off

RANDOM = np.random.default_rng(9)


def complex_step(module, y, c, dy, dc):
    """State derivative's change in a direction, by a complex step: the arithmetic of the other function alone."""
    h = 1e-30
    out, worst = np.zeros((len(y), 1), complex), np.zeros((1, 1), complex)
    module.derivative.py_func(0, (y + 1j * h * dy)[:, None], None, None, (c + 1j * h * dc)[:, None], out, worst)
    return out[:, 0].imag / h


def tangent_of(module, y, c, dy, dc):
    out, worst = np.full((2 * len(y), 1), np.nan), np.zeros((1, 1))
    both = np.concatenate([y, dy])[:, None], np.concatenate([c, dc])[:, None]
    module.derivative_tangent.py_func(0, *both, out, worst)
    return out[:, 0]


@pytest.mark.parametrize("name", BUILDS)
def test_kernels_against_a_complex_step(name):
    system = BUILDS[name]()
    module = emitted(system)
    c = constants(module, system)[:, 0]
    for _ in range(3):
        y = off(system, spun(system).y, 1e-2)
        dy, dc = RANDOM.normal(size=len(y)), RANDOM.normal(size=len(c))
        expected, found = complex_step(module, y, c, dy, dc), tangent_of(module, y, c, dy, dc)
        value = np.zeros((len(y), 1))
        module.derivative.py_func(0, y[:, None], None, None, c[:, None], value, np.zeros((1, 1)))
        assert np.abs(found[: len(y)] - value[:, 0]).max() < 1e-14 * np.abs(value).max()
        assert np.abs(found[len(y) :] - expected).max() < 1e-12 * np.abs(expected).max()
