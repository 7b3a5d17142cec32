"""The short forms of arrays, variables and operations give what Python gives, to the last bit."""

import numpy as np
import pytest

from runtime.jit.compilation import compiled

RNG = np.random.default_rng(3)
ONE, TWO, THREE = (RNG.normal(size=shape) for shape in ((5,), (4, 5), (3, 4, 5)))
WHOLE = np.arange(12).reshape(3, 4)
ARRAYS = {
    "in rows": (ONE, TWO, THREE, WHOLE),
    "only read": tuple(np.broadcast_to(a, a.shape) for a in (ONE, TWO, THREE, WHOLE)),
    "with gaps": tuple(np.repeat(a, 2, axis=-1)[..., ::2] for a in (ONE, TWO, THREE, WHOLE)),
    "in columns": (ONE, np.asfortranarray(TWO), np.asfortranarray(THREE), np.asfortranarray(WHOLE)),
}


def _numbers(one, two, three, whole, i, out, rows):
    k = len(one) - 1
    out[0] = one[i] + one[-1] - one[k] * one[-i]
    out[1] = two[i, -2] + two[-i, k] + two[1][i]
    out[2] = three[i, 2, -1] + three[-1, i, k] + three[i][2, -i] + three[i, -2][3] + three[-1][i][0]
    out[3] = whole[i, -1] + whole[-1][i] * whole[0, 0] - i
    out[-1] = three.shape[0] + 10 * three.shape[2] + 100 * two.shape[1] + len(three[0]) + 7 * len(two)


def _changed(one, two, three, whole, i, out, rows):
    total, a, b = 0.0, 1, i
    for j in range(3):
        a, b = b, a
        a, b = b, a + b
        row = rows[j]
        row[0], row[-1] = one[j], j
        rows[j, 1] = total
        total = total + row[0] ** 2 if one[j] > 0.0 else total - one[j]
        if j == i:
            row = rows[-1]
            total *= 2
        row[2] += total + a
        rows[j][1:3] = total


def _compared(one, two, three, whole, i, out, rows):
    for k in range(6):
        a = np.nan if k == 0 else one[k - 1]
        b = one[i] if k < 4 else np.nan
        out[k] = 1 * (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b)
        n = whole[1, 1] - k
        out[6 + k] = 1 * (n < i) + 2 * (n <= i) + 4 * (n > i) + 8 * (n >= i) + 16 * (n == i) + 32 * (n != i)


@pytest.mark.parametrize(
    ("function", "arrays"),
    [(_changed, "in rows"), (_compared, "in rows"), *((_numbers, arrays) for arrays in ARRAYS)],
)
def test_results_are_those_of_python(function, arrays):
    entry = compiled(function)
    for i in (1, 2):
        found, expected = np.zeros(12), np.zeros(12)
        entry(*ARRAYS[arrays], i, found, found.reshape(3, 4))
        function(*ARRAYS[arrays], i, expected, expected.reshape(3, 4))
        np.testing.assert_array_equal(found, expected)
