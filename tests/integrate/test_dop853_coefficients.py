"""The coefficients of Dormand and Prince's method: those of SciPy, digit for digit, and of values between steps."""

import numpy as np
from scipy.integrate import DOP853, RK45

from runtime.integrate.dop853_coefficients import BRIEF, COEFFICIENTS, PLACES, SLOPES, STAGES, VALUES


def test_coefficients_are_those_of_scipy():
    a = np.zeros((16, 16))
    a[:STAGES, :STAGES], a[STAGES + 1 :] = DOP853.A, DOP853.A_EXTRA
    c = [*DOP853.C, 1.0, *DOP853.C_EXTRA]
    expected = (a, DOP853.B, c, DOP853.E5, DOP853.E3, DOP853.D)
    for name, own, scipys in zip(COEFFICIENTS._fields[:6], COEFFICIENTS[:6], expected, strict=True):
        assert np.array_equal(own, scipys), name


def test_coefficients_of_brief_steps_are_those_of_scipy():
    assert np.array_equal(BRIEF.a[:6, :5], RK45.A) and np.array_equal(BRIEF.a[6, :6], RK45.B)
    assert np.array_equal(BRIEF.c, [*RK45.C, 1.0]) and np.allclose(BRIEF.error, -RK45.E, rtol=1e-15, atol=0.0)


def test_dense_output_at_places_is_exact_for_polynomials():
    """Integrals and values of polynomials of degree 6, which a polynomial of order 7 and its slope give."""
    for degree in range(7):
        rates = COEFFICIENTS.c**degree
        assert np.abs(VALUES @ rates - PLACES ** (degree + 1) / (degree + 1)).max() < 1e-13
        assert np.abs(SLOPES @ rates - PLACES**degree).max() < 1e-12
    assert np.abs(SLOPES @ COEFFICIENTS.c**9 - PLACES**9).max() > 1e-6
