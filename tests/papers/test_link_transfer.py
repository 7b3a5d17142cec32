"""The moment on a massless link, handed to both bodies: Rodrigues da Silva et al. (2024c), Eqs. (8), (13)-(20), by virtual work.

The talus is the link: it turns at ``rate`` about the reference body's axis s, and both axes keep their places in it.  So
where the joint's constraints hold, omega_j - omega_i = rate_i s_i - rate_j s_j, which gives both rates, and a torque m on a
hinge has the power m . s rate.  The printed transfer is compared with that over all velocities that the joint allows.
"""

import numpy as np
import pytest

from runtime.system.reference import rotation_matrix
from tests.papers.link_transfer import hinges, our_rate, poses, quotient, random, rates, sense, situation


def transfer(m, u_r, u_p, moment):
    """Eqs. (13)-(18), and the opposite moment on the reference body: force and moment on both bodies."""
    size = np.linalg.norm(moment) / np.linalg.norm(u_p)  # (14)
    force_i = np.cross(u_p, moment) / (np.linalg.norm(u_p) * np.linalg.norm(moment)) * size  # (13)
    lever = m.sP_i + (u_r - u_p)  # (16)
    moment_i = np.cross(lever, force_i)  # (15)
    force_j = -force_i  # (17)
    moment_j = np.cross(m.sP_j, force_j)  # (18)
    return np.r_[force_i, moment_i - moment, force_j, moment_j]


def error(m, wrench, torque):
    """Of the generalised force, relative to that of a torque about s on the hinge."""
    wanted = m.free.T @ rates(m) * torque
    return np.abs(m.free.T @ wrench - wanted).max() / np.abs(wanted).max()


@hinges
@poses
def test_projected_link_that_is_not_normalised_does_the_right_work(hinge, pose):
    m = situation(hinge, pose)
    assert abs(m.s @ (m.d - m.d_p)) > 1e-3  # the link is not at right angles to the axis
    for torque in (1.0, -37.0):
        assert error(m, transfer(m, m.d, m.d_p, torque * m.s), torque) < 1e-12


@hinges
@poses
def test_projected_link_as_printed_does_not(hinge, pose):
    """Eq. (8) divides by the length; whether u_r in Eq. (16) is the link or its direction, the work is wrong by 80 % or more."""
    m = situation(hinge, pose)
    unit = m.d_p / np.linalg.norm(m.d_p)
    for u_r in (m.d, m.d / np.linalg.norm(m.d)):
        assert error(m, transfer(m, u_r, unit, 10.0 * m.s), 10.0) > 0.8


@hinges
def test_how_wrong_the_printed_transfer_is(hinge):
    """In motions in which the reference body stands still, the work is that of the moment times |d_p| in metres."""
    m = situation(hinge, 0)
    unit, still = m.d_p / np.linalg.norm(m.d_p), m.free @ np.linalg.svd(m.free[:6])[2][6:].T
    power = still.T @ transfer(m, m.d, unit, m.s)
    assert np.abs(power / (still.T @ rates(m)) - np.linalg.norm(m.d_p)).max() < 1e-9
    assert 0.02 < np.linalg.norm(m.d_p) < 0.0417


@hinges
@poses
def test_the_runtime_equals_the_corrected_transfer(hinge, pose):
    """On all admissible velocities: restricting and dissipative moment."""
    m = situation(hinge, pose)
    wrench, measured, slope = np.full(12, np.nan), np.full(3, np.nan), random(m, 3)
    m.limit.module.wrench.py_func(*m.states, m.x, slope, wrench)
    m.limit.module.measure.py_func(*m.states, m.x, slope, measured)
    torque = -measured[2] * sense(m)
    assert error(m, wrench, torque) < 1e-12
    ours, printed = m.free.T @ wrench, m.free.T @ transfer(m, m.d, m.d_p, torque * m.s)
    assert np.abs(ours - printed).max() < 1e-12 * np.abs(printed).max()

    v = m.free @ random(m, 8)
    states = [np.r_[state[:7], u] for state, u in zip(m.states, v.reshape(2, 6), strict=True)]
    m.limit.module.wrench.py_func(*states, m.x, np.zeros(3), wrench)
    assert error(m, wrench, -m.limit.damping * (rates(m) @ v)) < 1e-12


@hinges
@poses
@pytest.mark.parametrize("half_turns", [0, 1])
def test_printed_rate_fails_where_the_link_meets_the_arbitrary_vector(hinge, pose, half_turns):
    """At an angle of 0 or pi both sides of the quotient vanish; rounding decides.  Ours has no such angle."""
    m = situation(hinge, pose)
    v = m.free @ random(m, 8)
    with np.errstate(divide="ignore", invalid="ignore"):
        printed = quotient(m, v, half_turns * np.pi)
    assert not np.isfinite(printed) or abs(abs(printed) - abs(rates(m) @ v)) > 1e-3
    assert our_rate(m, v) == pytest.approx(rates(m) @ v, rel=1e-12, abs=1e-12)


@hinges
def test_the_rate_of_the_runtime_is_finite_at_every_angle(hinge):
    """The link at the limit's own angles of 0, pi / 2, pi, -pi / 2, exactly: the moving body's end is put there."""
    m = situation(hinge, 1)
    A = rotation_matrix(m.states[0][3:7])
    zeta, e = A @ m.limit.values["u_zeta_i"], A @ m.limit.values["e_i"]
    for angle, direction in ((0.0, zeta), (np.pi / 2, e), (np.pi, -zeta), (-np.pi / 2, -e)):
        moving = m.states[1].copy()
        moving[:3] += np.linalg.norm(m.d_p) * direction - m.d_p
        out, wrench = np.full(3, np.nan), np.full(12, np.nan)
        v = random(m, 12)
        states = np.r_[m.states[0][:7], v[:6]], np.r_[moving[:7], v[6:]]
        m.limit.module.measure.py_func(*states, m.x, np.ones(3), out)
        m.limit.module.wrench.py_func(*states, m.x, np.ones(3), wrench)
        assert np.isfinite(out).all() and np.isfinite(wrench).all()
        assert np.exp(1j * out[0]) == pytest.approx(np.exp(1j * angle), abs=1e-14)
