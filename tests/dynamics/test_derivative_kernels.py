"""Variational kernels against complex steps of the emitted derivative."""

import numpy as np
import pytest

import models
from models.shipped import SYSTEMS
from runtime.system.whole_model import module_of
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


@pytest.mark.slow
def test_a_wrong_sign_in_the_kernel_is_seen():
    system = models.foot.build()
    module = emitted(system)
    c, y = constants(module, system)[:, 0], off(system, spun(system).y, 0.1)
    dy, dc = RANDOM.normal(size=len(y)), RANDOM.normal(size=len(c))
    expected = complex_step(module, y, c, dy, dc)
    from codegen.compiler.whole import emit_model

    head, body = emit_model(system.model).split("def derivative_tangent(", 1)
    lines = body.split("\n")
    spots = [k for k, line in enumerate(lines) if " = " in line and "+" in line and "carray" not in line]
    unseen = 0
    for k in RANDOM.choice(spots, 60, replace=False):
        broken = type(module)("broken")
        text = [line.replace("+", "-", 1) if n == k else line for n, line in enumerate(lines)]
        exec(head + "def derivative_tangent(" + "\n".join(text), broken.__dict__)
        unseen += np.abs(tangent_of(broken, y, c, dy, dc)[len(y) :] - expected).max() < 1e-9 * np.abs(expected).max()
    assert unseen < 20  # of the step of refinement


def test_shipped_kernels_have_derivatives_where_they_can():
    for system in (build() for build in SYSTEMS.values()):
        if system.redundant:
            continue  # it has no such kernel
        module = module_of(system.model.key)
        assert hasattr(module, "lanes_tangent") == (not module.LOADED)
