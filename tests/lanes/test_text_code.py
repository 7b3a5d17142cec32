"""Branches, loops and conditions in the text of a function for one lane."""

import math

import numpy as np
import pytest

from runtime.jit.recorder import choose
from runtime.lanes.text_code import TextCode


def value_of(write, *numbers):
    """What ``write`` computes with code and numbers, by the text of a function."""
    code = TextCode({"x": 1, "out": 1})
    code.store(write(code, *(code.load("x", k) for k in range(len(numbers)))), "out", 0)
    names, out = {"math": math}, np.zeros(1)
    exec(code.text("f"), names)
    names["f"](np.array(numbers), out)
    return out[0]


@pytest.mark.parametrize("a", [-1.0, 1.0])
@pytest.mark.parametrize("b", [-1.0, 1.0])
def test_conditions(a, b):
    def chosen(code, x, y):
        both = (x > 0.0) & (y > 0.0)
        return choose(both, 3.0, code.select(code.builder.not_(both.value), 2.0, 4.0))

    assert value_of(chosen, a, b) == (3.0 if a > 0 and b > 0 else 2.0)


def test_what_is_not_needed_is_not_computed():
    def root(code, x):
        return code.where(code.compare(">=", x, 0.0), lambda: [code.function("sqrt", x)], [-1.0])[0]

    assert value_of(root, 4.0) == 2.0 and value_of(root, -4.0) == -1.0


@pytest.mark.parametrize(("most", "steps"), [(20, 7), (3, 3)])
def test_a_loop_ends_where_its_condition_fails(most, steps):
    def halved(code, x):
        def step(numbers):
            left, count = 0.5 * numbers[0], numbers[1] + 1.0
            return [left, count], code.compare(">", left, 1.0)

        return code.repeat(most, step, x, 0.0)[1]

    assert value_of(halved, 100.0) == steps
