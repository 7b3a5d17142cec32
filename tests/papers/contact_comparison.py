"""Cases of the entries of Moreira et al. (2011), their tolerance, and the printed numbers."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from generated import contact_sphere_plane as kernels
from tests.papers.citations import MOREIRA_2011
from tests.papers.comparison import SOLVED, TOLERANCE
from tests.papers.moreira_2011 import EQUATIONS, STATES
from tests.papers.symbols import column
from tests.papers.symbols_of_contacts import lengthwise
from tests.papers.transcripts import DISPLAYED, paper_text, plain
from tests.support.limit_kernels import call as outputs
from tests.support.marks import over

CONTACT_SEEDS = range(4)
CASES = [(e, state) for e in EQUATIONS for state in e.states]
cases = pytest.mark.parametrize(("equation", "state"), CASES, ids=lambda v: getattr(v, "id", v))
contact_seeds = over("seed", CONTACT_SEEDS)
states = over("state", STATES)


def of(number):
    (equation,) = [e for e in EQUATIONS if e.number == number]
    return equation


def tolerance_of(equation):
    return SOLVED if equation.about in ("equations of motion", "coordinates") else TOLERANCE


def rolling(spin):
    """A sphere that rolls along x on a plane at rest, or spins on the spot: symbols by the kernel."""
    R, speed = 0.03, 0.7
    at = np.array([0.4, -0.1, 0.9 * R])
    omega = np.array([0.0, speed / (0.9 * R), 0.0])  # about the lowest point below the plane, C - 0.9 R n, as deep as R
    v = np.zeros(3) if spin else np.cross(omega, [0.0, 0.0, R])
    body_i = np.concatenate([at, [1.0, 0, 0, 0], v, omega])
    body_j = np.concatenate([np.zeros(3), [1.0, 0, 0, 0], np.zeros(6)])
    x = np.concatenate([np.zeros(6), [0, 0, 1.0, 1.0, 0, 0, R], np.zeros(3)])
    m = SimpleNamespace(rC_i=column(at), vC_i=column(v), rP_j=np.zeros((3, 1)), vP_j=np.zeros((3, 1)))
    m.w_i, m.w_j, m.n, m.Q = column(omega), np.zeros((3, 1)), column([0, 0, 1]), column(at - [0, 0, R])
    m.slip = column(outputs(kernels.measure, 5, body_i, body_j, x)[2:])
    m.v = -m.slip
    return m, R * lengthwise(omega)


@cache
def printed():
    """Number -> entries, of the numbered equations."""
    found = DISPLAYED.findall(paper_text(MOREIRA_2011))
    return {int(next(filter(None, numbers))): plain(body) for body, *numbers in found}
