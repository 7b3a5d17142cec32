"""Reflexes of muscles: values, bounds, exact derivatives and kinks of their kernels, and reflexes of a user."""

import inspect
import re

import numpy as np
import pytest

from codegen import DefinitionError, compile_reflex, ramp
from generated import reflex_lengthening_speed, reflex_lengthening_speed_as_opensim, reflex_stretch, reflexes
from runtime.jit.python_code import python_code
from tests.support.kernel_text import functions_of, lint, lint_tangent

MODULES = {
    module.NAME: module for module in (reflex_lengthening_speed, reflex_lengthening_speed_as_opensim, reflex_stretch)
}
# Operation counts that may not rise.
OPERATIONS = {"lengthening_speed": 11, "lengthening_speed_as_opensim": 5, "stretch": 20}
OPTIMAL, SLACK, FASTEST = 0.06, 0.25, 10.0
CONSTANTS = {
    "lengthening_speed": (OPTIMAL, FASTEST, 0.85), "lengthening_speed_as_opensim": (OPTIMAL, FASTEST, 0.85),
    "stretch": (OPTIMAL, SLACK, FASTEST, 2.0, 0.7, 0.98, 0.05),
}  # fmt: skip
every_reflex = pytest.mark.parametrize("name", MODULES)


def in_words(name, x):
    """The excitation as the docstrings say it, and its distances from kinks."""
    length, speed, given = x
    v = speed / (OPTIMAL * FASTEST)
    if name == "lengthening_speed_as_opensim":
        return given + 0.85 * max(v, 0.0), [v]
    if name == "lengthening_speed":
        terms, kinks = [0.85 * max(v, 0.0)], [v]
    else:
        stretch = length - 0.98 * (OPTIMAL + SLACK)
        terms, kinks = [2.0 * max(stretch, 0.0) / OPTIMAL, 0.7 * max(v - 0.05, 0.0)], [stretch, v - 0.05]
    total = given + sum(terms)
    return min(max(total, 0.0), 1.0), [*kinks, total, total - 1.0]


def kernel(name, which, x, rows=1, seeds=None, constants=None):
    more, shape = ([] if seeds is None else [seeds]), (rows,) if seeds is None else (rows, seeds.shape[1])
    out = np.full(shape, np.nan)
    python_code(getattr(MODULES[name], which))(
        np.array(x, float), np.array(CONSTANTS[name] if constants is None else constants), *more, out
    )
    return out


def samples(count=200):
    rng = np.random.default_rng(1)
    return rng.uniform([0.28, -0.8, -0.3], [0.36, 0.8, 1.3], (count, 3))


def test_the_shipped_reflexes_are_listed():
    assert set(reflexes.MODULES) == set(MODULES) == set(OPERATIONS)


@every_reflex
def test_the_excitation_is_the_sum_within_its_bounds(name):
    found = np.array([kernel(name, "reflex", x)[0] for x in samples()])
    exact = [in_words(name, x)[0] for x in samples()]
    assert found == pytest.approx(exact, abs=1e-14)
    bounds = (found.min(), found.max())
    assert bounds == (0.0, 1.0) or (name.endswith("as_opensim") and bounds[0] < 0.0 and bounds[1] > 2.0)
    assert ((found > 0.0) & (found < 1.0)).sum() > 50


@every_reflex
def test_derivatives_equal_differences_and_kinks_lie_where_they_jump(name):
    signs = []
    for x in samples(60):
        _, kinks = in_words(name, x)
        found = kernel(name, "reflex_kinks", x, MODULES[name].KINKS)
        assert MODULES[name].KINKS == len(kinks) == len(found)
        signs.append(np.sign(np.sort(found)))
        assert sorted(np.abs(np.sign(found))) == sorted(np.abs(np.sign(kinks)))
        if min(abs(k) for k in kinks) < 1e-3:
            continue
        h, slopes = 1e-6, kernel(name, "reflex_tangent", x, 1, np.eye(3))[0]
        constants, by_constants = (
            np.array(CONSTANTS[name]),
            kernel(name, "reflex_parameters", x, 1, np.eye(len(CONSTANTS[name])))[0],
        )
        for k, unit in enumerate(np.eye(len(constants))):
            up, down = (kernel(name, "reflex", x, constants=constants + s * h * unit)[0] for s in (1, -1))
            assert by_constants[k] == pytest.approx((up - down) / (2 * h), abs=1e-6)
        for k, unit in enumerate(np.eye(3)):
            up, down = (in_words(name, x + s * h * unit)[0] for s in (1, -1))
            assert slopes[k] == pytest.approx((up - down) / (2 * h), abs=1e-8)
    assert len({tuple(one) for one in signs}) >= 2


@every_reflex
def test_kinks_change_sign_where_pieces_meet(name):
    start, end = np.array([0.29, -0.3137, 0.0]), np.array([0.33, 0.9, 0.9])
    places = np.linspace(0.0, 1.0, 4001)
    along = [start + s * (end - start) for s in places]
    found = np.array([kernel(name, "reflex_kinks", x, MODULES[name].KINKS) for x in along])
    exact = np.array([in_words(name, x)[1] for x in along])
    own, expected = (
        [float(np.interp(0.0, *zip(*sorted(((y[k], k), (y[k + 1], k + 1))), strict=True))) for y in columns.T
         for k in np.flatnonzero(y[:-1] * y[1:] < 0.0)] for columns in (found, exact)
    )  # fmt: skip
    assert len(expected) >= (1 if name.endswith("as_opensim") else 2) and sorted(own) == pytest.approx(
        sorted(expected), abs=1e-3
    )


@every_reflex
def test_kernels_are_straight_line_code_of_few_operations(name):
    module, functions = MODULES[name], functions_of(inspect.getsource(MODULES[name]))
    assert lint(functions["reflex"], [(1,)], ("x", "c")) == []
    assert lint(functions["reflex_kinks"], [(module.KINKS,)], ("x", "c")) == []
    for derivative in ("tangent", "parameters"):
        assert lint_tangent(functions[f"reflex_{derivative}"], 1, ("x", "c")) == []
    assert int(re.search(r"(\d+) operations", module.reflex.py_func.__doc__)[1]) <= OPERATIONS[name]


def test_a_reflex_of_a_user():
    def loaded(length, length_dot, offset, gain=2):
        """Above a length.

        offset : [m], 0 <= offset
        gain : [1/m], 0 <= gain
        """
        return gain * ramp(length - offset)

    module = compile_reflex(loaded)
    assert module.SORT == "reflex" and module.PARAMETERS == ("offset", "gain") and module.DEFAULTS == {"gain": 2.0}
    out = np.zeros(1)
    python_code(module.reflex)(np.array([0.4, 0.0, 0.1]), np.array([0.3, 2.0]), out)
    assert out[0] == pytest.approx(0.3)


def unused(length, length_dot, gain):
    """gain : [1]"""
    return length


def late(length, length_dot, delay):
    """delay : [s]"""
    return delay * length


def several(length, length_dot):
    """No constants."""
    return [length, length_dot]


def unordered(length_dot, length):
    """No constants."""
    return length


def unstated(length, length_dot, gain):
    """Without a unit."""
    return gain * length


@pytest.mark.parametrize(("definition", "message"), [
    (unused, "argument 'gain' is not used"), (late, "argument 'delay' has a name that the kernels use"),
    (several, "the wrong shape"), (unordered, "a reflex takes length, length_dot, then its constants"),
    (unstated, "no unit of gain"),
])  # fmt: skip
def test_what_is_no_reflex_is_refused(definition, message):
    with pytest.raises(DefinitionError, match=f"'{definition.__name__}'.*{message}"):
        compile_reflex(definition)
