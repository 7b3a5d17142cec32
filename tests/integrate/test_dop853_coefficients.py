"""The coefficients of Dormand and Prince's method: those of SciPy, digit for digit."""

import numpy as np
from scipy.integrate import DOP853

from runtime.integrate.dop853_coefficients import COEFFICIENTS, STAGES


def test_coefficients_are_those_of_scipy():
    a = np.zeros((16, 16))
    a[:STAGES, :STAGES], a[STAGES + 1 :] = DOP853.A, DOP853.A_EXTRA
    c = [*DOP853.C, 1.0, *DOP853.C_EXTRA]
    expected = (a, DOP853.B, c, DOP853.E5, DOP853.E3, DOP853.D)
    for name, own, scipys in zip(COEFFICIENTS._fields, COEFFICIENTS, expected, strict=True):
        assert np.array_equal(own, scipys), name
