"""The coefficients of Dormand and Prince's method: those of SciPy, digit for digit, and of the estimate of bends."""

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from scipy.integrate import DOP853

from runtime.integrate.dop853_coefficients import COEFFICIENTS, PLACES, SLOPES, STAGES, VALUES


def test_coefficients_are_those_of_scipy():
    a = np.zeros((16, 16))
    a[:STAGES, :STAGES], a[STAGES + 1 :] = DOP853.A, DOP853.A_EXTRA
    c = [*DOP853.C, 1.0, *DOP853.C_EXTRA]
    expected = (a, DOP853.B, c, DOP853.E5, DOP853.E3, DOP853.D)
    for name, own, scipys in zip(COEFFICIENTS._fields[:6], COEFFICIENTS[:6], expected, strict=True):
        assert np.array_equal(own, scipys), name


def test_dense_output_at_places_is_exact_for_polynomials():
    """Integrals and values of polynomials of degree 6, which a polynomial of order 7 and its slope give."""
    for degree in range(7):
        rates = COEFFICIENTS.c**degree
        assert np.abs(VALUES @ rates - PLACES ** (degree + 1) / (degree + 1)).max() < 1e-13
        assert np.abs(SLOPES @ rates - PLACES**degree).max() < 1e-12
    assert np.abs(SLOPES @ COEFFICIENTS.c**9 - PLACES**9).max() > 1e-6


@cache
def trees(order):
    """Rooted trees with so many vertices, each a tuple of those at its root."""
    if order == 1:
        return [()]
    return [branches for branches in forests(order - 1, order - 1)]


@cache
def forests(vertices, largest):
    """Sets of trees with so many vertices together, each with ``largest`` at most."""
    if vertices == 0:
        return [()]
    found = []
    for size in range(min(vertices, largest), 0, -1):
        for count in range(1, vertices // size + 1):
            for rest in forests(vertices - count * size, size - 1):
                found += [(*chosen, *rest) for chosen in combinations_with_replacement(trees(size), count)]
    return found


def weights_of(tree):
    """What a tree asks of the stages, (13,).  Hairer, Norsett and Wanner (1993), section II.2."""
    a = np.vstack([COEFFICIENTS.a[:STAGES, : STAGES + 1], np.append(COEFFICIENTS.b, 0.0)])
    product = np.ones(STAGES + 1)
    for branch in tree:
        product *= a @ weights_of(branch)
    return product


def test_the_estimate_of_bends_has_order_6():
    """Those of order 5 and 3 too, by the same conditions."""
    assert [len(trees(order)) for order in range(1, 7)] == [1, 1, 2, 4, 9, 20]
    for weights, order in ((COEFFICIENTS.bends, 6), (COEFFICIENTS.error5, 5), (COEFFICIENTS.error3, 3)):
        sizes = [max(abs(weights @ weights_of(tree)) for tree in trees(k)) for k in range(1, order + 2)]
        assert max(sizes[:-1]) < 2e-14 < 1e-5 < sizes[-1]
