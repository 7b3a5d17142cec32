"""Traced arithmetic and functions, against those of Python."""

import contextlib
import math
import operator

import numpy as np
import pytest

from codegen.compiler.trace import Record, Text, recording

RANDOM = np.random.default_rng(6)


def value(record, number, inputs):
    """Of a number on record, from the text that is written for it."""
    lines = Text(record, "t").write([("result", number)])
    names = dict(inputs, math=math)
    exec("\n".join(lines), {}, names)
    return names["result"]


OPERATIONS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.neg,
    lambda a: a**2,
    lambda a: 1.0 / a,
    lambda a: 2.0 - a,
    lambda a: 0.5 * a,
    lambda a: a + 0.0,
)


def test_arithmetic_on_record_is_arithmetic():
    record, inputs = Record(), dict(a=1.3, b=-0.7, c=2.9)
    numbers = [record.input(name) for name in inputs] + [record.constant(c) for c in (0.0, 1.0, -1.0, 2.5)]
    values = [*inputs.values(), 0.0, 1.0, -1.0, 2.5]
    for _ in range(3000):
        operation, (i, j) = OPERATIONS[RANDOM.integers(len(OPERATIONS))], RANDOM.integers(len(numbers), size=2)
        count = 2 if OPERATIONS.index(operation) < 4 else 1
        with contextlib.suppress(ZeroDivisionError):
            expected = operation(*(values[i], values[j])[:count])
            if 1e-6 < abs(expected) < 1e6:
                numbers.append(operation(*(numbers[i], numbers[j])[:count]))
                values.append(expected)
    for n in RANDOM.choice(len(numbers), 200):
        assert value(record, numbers[n], inputs) == pytest.approx(values[n], rel=1e-9)


def test_known_values_are_folded():
    record = Record()
    a, b = record.input("a"), record.input("b")
    assert (a * 0.0).constant == 0.0 and (a - a).constant == 0.0 and (a * 1.0).same(a) and (0.0 + a).same(a)
    assert (a + b).same(b + a) and (a * b).same(b * a) and (-(a - b)).same(b - a) and operator.neg(-a).same(a)
    assert (-a * b).same(-(a * b)) and (a + (-b)).same(a - b) and (a - (-b)).same(a + b)
    assert len(Text(record, "t").write([("x", (a + b) * (b + a))])) == 2
    with pytest.raises(TypeError, match="branches"):
        bool(a)


def test_functions_of_math_are_recorded():
    def kernel(x, out):
        out[0] = math.sqrt(x[0]) + math.sin(2.0) * math.atan2(x[0], x[1])

    record, out = Record(), np.empty(1, object)
    recording(kernel)([record.input("a"), record.input("b")], out)
    found = value(record, out[0], dict(a=0.7, b=-0.4))
    assert found == pytest.approx(math.sqrt(0.7) + math.sin(2.0) * math.atan2(0.7, -0.4))
