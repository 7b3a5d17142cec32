"""A block on an incline and a rolling ball, against Coulomb's law, the regularised law, and conserved quantities."""

import numpy as np
import pytest

from runtime import Signal, simulate
from tests.support.contact_bodies import CRITICAL, STIFF, G, ball, block


def test_smooth_friction_is_short_of_coulombs_by_the_stated_share():
    tilt = CRITICAL + 0.2
    system, down = block(tilt, friction="smooth", speed=0.5, transition_velocity=0.01)
    run = simulate(system, 0.2, t_eval=[0.1, 0.2], **STIFF)
    for n in range(2):
        v = run.v["block"][n] @ down
        short = 1.0 - v / np.hypot(v, 0.01)
        assert short < 0.01**2 / (2 * v**2)
        a = G * (np.sin(tilt) - 0.5 * (1 - short) * np.cos(tilt))
        assert run.v_dot["block"][n] @ down == pytest.approx(a, abs=1e-6)


def test_rolling_without_sliding_has_no_friction():
    run = simulate(ball((1.0, 0, 0), (0, 20.0, 0)), 0.5, **STIFF)
    contact = run.contacts["sole"]
    assert contact.normal_force.max() > 1.0
    assert np.abs(contact.slip).max() < 1e-12 and np.abs(contact.friction).max() < 1e-9
    assert run.v["ball"][-1, 0] == pytest.approx(1.0, abs=1e-12)


def test_a_sliding_ball_ends_rolling_and_keeps_what_friction_cannot_change():
    run = simulate(ball((1.0, 0, 0), (0, 0, 0), mu_d=0.0), 1.0, **STIFF)
    # About the contact point: m R v + J omega stays; with v = omega R at the end.
    v, omega = run.v["ball"][-1, 0], run.omega["ball"][-1, 1]
    assert 0.4 * 0.05 * v + 2e-4 * omega == pytest.approx(0.4 * 0.05 * 1.0, rel=1e-7)
    assert v == pytest.approx(0.05 * omega, rel=1e-6)


def test_a_belt_carries_what_stands_on_it():
    run = simulate(ball((0, 0, 0), (0, 0, 0), belt=(1, 0, 0), belt_speed=0.7), 2.0, **STIFF)
    contact = run.contacts["sole"]
    assert np.abs(contact.slip[-1]).max() < 1e-6  # the ball rolls on the belt
    assert run.v["ball"][-1, 0] - 0.05 * run.omega["ball"][-1, 1] == pytest.approx(0.7, rel=1e-6)
    lifted = simulate(ball((0, 0, 0), (0, 0, 0), belt=(1, 0, 0), belt_speed=Signal.constant(0.7)), 2.0, **STIFF)
    assert np.array_equal(lifted.final.y, run.final.y)
