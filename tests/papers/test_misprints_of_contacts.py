"""Misprints and gaps of Moreira et al. (2011): where each one matters."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from runtime import Builder, simulate
from tests.papers.comparison import SOLVED, TOLERANCE, errors
from tests.papers.contact_comparison import contact_seeds, of, rolling, states
from tests.papers.moreira_2011 import DEEP, NEARING, SLIDING, SPINNING, WITH_FORCE
from tests.papers.symbols_of_contacts import (
    DEFINITIONS,
    contact_symbols,
    coordinate_symbols,
    foot_symbols,
    lengthwise,
)
from tests.support.motions import derivatives


@states
@contact_seeds
def test_the_geometry_of_the_kernel(state, seed):
    """Penetration and rate against Cauchy's integral along the motion, and the slip against a point that moves with a body."""
    m = contact_symbols(state, seed)
    motion, local = m.motion, m.setting.local

    def delta(t):
        n = motion.A("j", t) @ local["n_j"]
        centre = motion.state("i", t)[:3] + motion.A("i", t) @ local["s_i"]
        return m.R_i - (centre - motion.state("j", t)[:3] - motion.A("j", t) @ local["s_j"]) @ n

    value, rate = derivatives(delta, 1)
    assert (m.delta, m.delta_dot) == pytest.approx((value, rate), abs=1e-11)
    # The material points that are at Q now.
    velocity = {}
    for body in "ij":
        mine = motion.A(body, 0.0).T @ (m.Q[:, 0] - motion.state(body)[:3])
        velocity[body] = derivatives(lambda t, b=body, u=mine: motion.state(b, t)[:3] + motion.A(b, t) @ u, 1)[1]
    across = (velocity["i"] - velocity["j"]) @ (np.eye(3) - m.n @ m.n.T)
    assert np.abs(across - m.slip[:, 0]).max() < 1e-11
    # Nothing here would agree by chance.
    assert abs(m.delta_dot) > 0.1 and lengthwise(m.slip) > 0.1


# What follows from the errors


@pytest.mark.parametrize("state", WITH_FORCE)
@contact_seeds
def test_no_normal_serves_all(state, seed):
    """Eqs. (5), (10), (14): with n into the ground, d^T n is the distance and the forces are those on the ground."""
    m = contact_symbols(state, seed)
    apart = (m.d.T @ m.n).item()
    sign = -1.0 if state == DEEP else 1.0
    assert -sign * apart == pytest.approx(m.distance, rel=1e-12)
    up, down = of(10).literal(m)[1], of(10).literal(SimpleNamespace(**vars(m) | {"n": -m.n}))[1]
    assert np.abs(up - m.force_elastic).max() < 1e-9 * m.K and np.abs(down + m.force_elastic).max() < 1e-9 * m.K
    assert np.abs(m.force_on_plane + m.force_normal).max() < 1e-12 * m.K
    # Friction does not depend on n: as printed it is that on the plane's body.
    assert np.abs(of(14).literal(m)[1] - m.friction_on_plane).max() < 1e-12 * m.K


@contact_seeds
def test_the_printed_friction_drives(seed):
    """Eq. (14) on the sphere's body gives energy."""
    for state in WITH_FORCE:
        m = contact_symbols(state, seed)
        true, printed = of(14).literal(m)
        assert (printed.T @ m.slip).item() > 0.1 and (true.T @ m.slip).item() < -0.1


def test_a_rolling_sphere_does_not_slip():
    """Eq. (8): the velocity of the centre is all slip for a sphere that rolls, and none for one that spins on the spot."""
    m, speed = rolling(spin=False)
    true, printed = of(8).literal(m)
    assert lengthwise(true) < 1e-15 and lengthwise(printed) == pytest.approx(speed)
    m, speed = rolling(spin=True)
    true, printed = of(8).literal(m)
    assert lengthwise(true) == pytest.approx(speed) and lengthwise(printed) == 0.0
    for spin in (False, True):
        m, _ = rolling(spin)
        assert errors(of(8), m, of(8).corrected).max() < 1e-14


def test_a_norm_damps_nothing():
    """Eq. (9) in Eq. (11): reversed in time, the motion is the same, so a sphere leaves as fast as it came; (13) is no help."""
    mass, K, c, speed = 1.0, 40e3, 30.0, 0.5

    def leaving(t, y):
        return y[0]

    leaving.terminal, leaving.direction = True, -1.0

    def restitution(rate, power=0.0):
        def motion(t, y):
            delta = max(y[0], 0.0)
            return [y[1], -(K * delta**1.5 + c * (500.0 * delta) ** power * rate(y[1])) / mass]

        run = solve_ivp(motion, (0.0, 1.0), [0.0, speed], events=leaving, rtol=1e-11, atol=1e-13)
        (end,) = run.y_events[0]
        return -end[1] / speed

    for power in (0.0, 1.5):
        assert restitution(abs, power) == pytest.approx(1.0, abs=1e-6)
        assert restitution(lambda v: v, power) < 0.8


@contact_seeds
def test_the_damper_jumps_at_touch_down(seed):
    """Eq. (11) with a constant c has a force on the plane already; with Eq. (13) it has none."""
    m = contact_symbols(NEARING, seed)
    at = SimpleNamespace(**vars(m) | {"delta": 0.0})
    assert lengthwise(of(11).literal(at)[1]) == pytest.approx(m.c * m.delta_dot)
    at.c = m.chi * at.delta**m.m
    assert lengthwise(of(11).literal(at)[1]) == 0.0


def test_friction_without_slip_is_undefined():
    """Eq. (14): t is 0 / 0 at rest; the runtime's law is zero there, and has the printed size at the transition velocity."""
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.zeros(3) / np.linalg.norm(np.zeros(3))).all()
    m, _ = rolling(spin=False)
    law = dict(law="kelvin_voigt", stiffness=40e3, exponent=1.5, damping=0.0, friction="coulomb", mu_c=0.7, mu_d=3.0)
    for slip, share in ((0.0, 0.0), (0.5, 0.6875), (1.0, 1.0)):  # of the transition velocity; 3/2 x - x^3/2
        b = Builder("sphere", gravity=(0, 0, 0))
        b.body("sphere", mass=1.0, inertia=(1, 1, 1), r=m.rC_i[:, 0], v=(slip * 0.01, 0, 0), free=True)
        b.contact("touch", "sphere", centre=(0, 0, 0), radius=0.03, transition_velocity=0.01, **law)
        touched = simulate(b.build(), 1e-9, t_eval=[0.0]).contacts["touch"]
        printed = 0.7 * touched.normal_force[0]
        assert touched.friction[0, 0] == pytest.approx(-share * printed - 3.0 * slip * 0.01, abs=1e-9)


def test_the_viscous_part_is_not_bounded_by_the_friction_cone():
    """Eq. (14): as the normal force goes to zero, mu_d v_t stays, and is more than any coefficient of friction."""
    m = contact_symbols(NEARING, 0)
    for f_n in (1.0, 1e-3, 1e-6):
        at = SimpleNamespace(**vars(m) | {"f_n": f_n})
        beyond = lengthwise(of(14).literal(at)[1]) - m.mu_c * f_n
        assert beyond == pytest.approx(m.mu_d * m.v_t_length)


@contact_seeds
def test_moments_about_the_origin_give_the_printed_x(seed):
    """Eq. (17): its sign is right, about the origin; and the sign of Eq. (18) is wrong by twice the coordinate."""
    for state in (SPINNING, SLIDING):
        m = foot_symbols(state, seed)
        m = SimpleNamespace(**vars(m) | {f"M_{a}{b}": getattr(m, f"O_{a}{b}") for a in "xy" for b in "ij"})
        assert errors(of(17), m, of(17).literal).max() < TOLERANCE
        true, printed = of(18).literal(m)
        assert printed == pytest.approx(-true, rel=1e-11) and abs(true) > 0.01


@pytest.mark.slow
@contact_seeds
def test_every_sign_and_factor_of_gamma_is_seen(seed):
    """Eq. (21), which holds: it would not with another sign or factor of any of its terms."""
    for name in DEFINITIONS:
        for place in ("off", "on"):
            m = coordinate_symbols(name, place, seed)
            terms = np.stack([-m.Phi_q_q_dot_q @ m.q_dot, -m.Phi_tt, -2 * m.Phi_qt @ m.q_dot])
            assert np.abs(terms.sum(axis=0) - m.gamma).max() < SOLVED * m.scale
            large = [term for term in terms if np.abs(term).max() > 1e-6]
            assert name != "driven_slide" or len(large) == len(terms)
            for term, factor in itertools.product(large, (-1.0, 0.5)):
                changed = terms.sum(axis=0) + (factor - 1.0) * term
                assert np.abs(changed - m.gamma).max() > 1e-7
