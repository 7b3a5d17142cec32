"""Coefficients of the method Radau IIA of order 5, computed from the collocation at its nodes.

Hairer and Wanner (1996), Solving Ordinary Differential Equations II, sections IV.5 and IV.8.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from runtime.support.arrays import Floats

STAGES = 3
NODES = np.array([(4.0 - math.sqrt(6.0)) / 10.0, (4.0 + math.sqrt(6.0)) / 10.0, 1.0])


def _collocation() -> tuple[Floats, Floats]:
    """Coefficients a (3, 3), integrals of the Lagrange polynomials of the nodes; and coefficients (3, 3) of the dense output."""
    powers = np.array([[c**k for k in range(STAGES)] for c in NODES])
    integrals = np.array([[c ** (k + 1) / (k + 1) for k in range(STAGES)] for c in NODES])
    through = np.array([[c ** (k + 1) for k in range(STAGES)] for c in NODES])
    return integrals @ np.linalg.inv(powers), np.linalg.inv(through)


def _integral() -> Floats:
    """Coefficients (4, 4) of x .. x^4 of the integral of the cubic polynomial through values at the start and at the nodes."""
    powers = np.array([[c**k for k in range(STAGES + 1)] for c in (0.0, *NODES)])
    integral: Floats = np.linalg.inv(powers) / np.arange(1.0, STAGES + 2.0)[:, None]
    return integral


class Coefficients(NamedTuple):
    """The method in the eigenvectors of the inverse of its coefficients."""

    real: float  # eigenvalues
    pair: complex
    to_real: Floats  # (3,) from stages to eigenvectors
    to_pair: np.ndarray  # (3,) complex
    from_real: Floats  # (3,) and back
    from_pair: np.ndarray  # (3,) complex
    error: Floats  # (3,) weights of the stages in the estimate of the error, with the derivative at the start
    dense: Floats  # (3, 3)
    nodes: Floats  # (3,)
    integral: Floats  # (4, 4) of values at the start and at the nodes; to the end of the step it is that of the method


def _coefficients() -> Coefficients:
    a, dense = _collocation()
    values, vectors = np.linalg.eig(np.linalg.inv(a))
    k, n = int(np.abs(values.imag).argmin()), int(values.imag.argmax())
    back = np.linalg.inv(vectors)
    gamma = 1.0 / values[k].real
    # The formula of order 3 that also uses the derivative at the start, with the weight gamma: sum of b_i c_i^(q-1) = 1/q.
    weights = np.linalg.solve(
        np.array([NODES**q for q in range(STAGES)]), np.array([1.0 - gamma, 1.0 / 2.0, 1.0 / 3.0])
    )
    error = (weights - a[-1]) @ np.linalg.inv(a) / gamma
    return Coefficients(
        real=float(values[k].real), pair=complex(values[n]), to_real=back[k].real.copy(), to_pair=back[n].copy(),
        from_real=vectors[:, k].real.copy(), from_pair=vectors[:, n].copy(), error=error, dense=dense, nodes=NODES.copy(),
        integral=_integral(),
    )  # fmt: skip


COEFFICIENTS = _coefficients()
