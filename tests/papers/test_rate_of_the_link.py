"""(2024c), Eq. (20), corrected: it is the rate of the massless link about a hinge while the projected link keeps its length."""

import numpy as np
import pytest

from tests.papers.link_transfer import hinges, our_rate, poses, quotient, random, rates, situation
from tests.support.vectors import about

STEP = 1e-30  # of the complex steps
ANGLES = (-2.8, -1.1, -0.1, 0.3, 0.9, 1.4, 2.2, 3.0)  # phi [rad]


def turned(omega, t, vector):
    """A vector of a body that has turned with a constant angular velocity for the time t."""
    speed = np.linalg.norm(omega)
    return about(omega / speed, speed * t) @ vector


def true_rates(m, v, phi):
    """phi' [rad/s] and n' / n [1/s] by complex steps of cos(phi), sin(phi) and n, the bodies having the velocities v (12,)."""
    v_i, w_i, v_j, w_j = v.reshape(4, 3)
    t = 1j * STEP
    s, a = turned(w_i, t, m.s), turned(w_i, t, about(m.s, phi) @ m.d_p / np.linalg.norm(m.d_p))
    d = m.d + (v_j - v_i) * t + turned(w_j, t, m.sP_j) - m.sP_j - turned(w_i, t, m.sP_i) + m.sP_i
    d_p = d - (d @ s) * s
    n = np.sqrt(d_p @ d_p)
    cosine, sine = a @ d_p / n, np.cross(d_p, a) @ s / n
    assert (cosine.real, sine.real) == pytest.approx((np.cos(phi), np.sin(phi)), abs=1e-12)
    return (cosine.real * sine.imag - sine.real * cosine.imag) / STEP, n.imag / n.real / STEP


@hinges
@poses
def test_on_the_manifold_the_quotient_is_the_rate(hinge, pose):
    """With velocities that the joint admits, at every angle of a_i; a second route is the turn of the bodies about both axes."""
    m = situation(hinge, pose)
    v = m.free @ random(m, 8)
    for phi in ANGLES:
        phi_dot, stretch = true_rates(m, v, phi)
        assert abs(stretch) < 1e-10
        assert quotient(m, v, phi) == pytest.approx(-phi_dot, abs=1e-10)
        assert -phi_dot == pytest.approx(rates(m) @ v, abs=1e-10) == our_rate(m, v)


@hinges
@poses
def test_off_the_manifold_the_quotient_holds_the_rate_of_the_length_too(hinge, pose):
    """With velocities that change the length of the projected link: -phi' + cot(phi) n' / n."""
    m = situation(hinge, pose)
    v = np.random.default_rng([7, pose]).normal(size=12)
    for phi in ANGLES:
        phi_dot, stretch = true_rates(m, v, phi)
        beside = stretch / np.tan(phi)
        assert quotient(m, v, phi) == pytest.approx(-phi_dot + beside, rel=1e-9)
        assert abs(quotient(m, v, phi) + phi_dot) > 0.01  # [rad/s]
    phi_dot, _ = true_rates(m, v, np.pi / 2)
    assert quotient(m, v, np.pi / 2) == pytest.approx(-phi_dot, rel=1e-9)


@hinges
@poses
def test_a_small_drift_of_the_joint_moves_the_quotient(hinge, pose):
    """The difference is proportional to the drift of the rows in velocity, as Baumgarte's terms leave one."""
    m, phi = situation(hinge, pose), 0.3
    admitted, drift = m.free @ random(m, 8), np.random.default_rng([7, pose]).normal(size=12)
    found = []
    for share in (1e-3, 1e-4):
        v = admitted + share * drift
        found.append(quotient(m, v, phi) + true_rates(m, v, phi)[0])
    assert found[0] == pytest.approx(10.0 * found[1], rel=1e-6) and found[1] != 0.0
