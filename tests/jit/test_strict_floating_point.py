"""Fused multiply-adds, which some compiled functions allow, do not come into the code of others that call the same functions."""

from fractions import Fraction

import pytest
from numba.core.registry import cpu_target

from runtime.jit.compilation import CONTRACT, compiled, linked

X, SQUARE = 0.1, 0.010000000000000002  # X * X, rounded
FUSED = -8.326672684688674e-19  # X * X - SQUARE of a fused multiply-add
CUBE, FUSED_CUBE = X * SQUARE, float(Fraction(X) * Fraction(SQUARE) - Fraction(X * SQUARE))


@linked
def _first(x, y):
    return x * x - y


@linked
def _second(x, y):
    return x * x - y


def _strict_first(x, y):
    return _first(x, y)


def _fused_first(x, y):
    return _first(x, y)


def _strict_second(x, y):
    return _second(x, y)


def _fused_second(x, y):
    return _second(x, y)


@pytest.mark.parametrize("order", ["strict first", "fused first"])
def test_bits_do_not_depend_on_which_caller_is_compiled_first(order):
    if order == "strict first":
        strict, fused = compiled(_strict_first), compiled(_fused_first, fastmath=CONTRACT)
        strict(X, SQUARE)
    else:
        strict, fused = compiled(_strict_second), compiled(_fused_second, fastmath=CONTRACT)
    assert fused(X, SQUARE) in (FUSED, 0.0)  # 0 on processors without the instruction
    assert strict(X, SQUARE) == 0.0


@linked
def _cube(x, y):
    return x**3 - y  # by a function of numba's own


def _strict_cube(x, y):
    return _cube(x, y)


def _fused_cube(x, y):
    return _cube(x, y)


def test_bits_of_powers_do_not_depend_on_which_caller_is_compiled_first():
    strict, fused = compiled(_strict_cube), compiled(_fused_cube, fastmath=CONTRACT)
    assert strict(X, CUBE) == 0.0
    features = cpu_target.target_context.codegen().magic_tuple()[2]
    assert fused(X, CUBE) == FUSED_CUBE or "+fma" not in features.split(",")
