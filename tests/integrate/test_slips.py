"""Steps end where slips of contacts pass the transition velocity of friction: errors are those of smooth steps."""

import numpy as np
import pytest

from runtime import Builder, Signal, simulate
from runtime.integrate import slips
from tests.support.reduced_limits import integrate

END, MASS, INERTIA, RADIUS, STIFFNESS, WEIGHT = 0.6, 0.4, 4e-4, 0.05, 1e3, 0.4 * 9.81
MU, TRANSITION_VELOCITY, PUSH, RATE = 0.3, 1e-3, 9.5, 23.0


def ball(friction="coulomb", **more):
    """A ball that a force pushes to and fro on a plane, whose slip reverses."""
    b = Builder("ball")
    b.body("ball", mass=MASS, inertia=[INERTIA] * 3, r=(0, 0, RADIUS - WEIGHT / STIFFNESS), v=(0.3, 0, 0), free=True)
    law = dict(law="kelvin_voigt", stiffness=STIFFNESS, exponent=1.0, damping=8.0)
    b.contact(
        "sole",
        "ball",
        centre=(0, 0, 0),
        radius=RADIUS,
        **law,
        friction=friction,
        mu_c=MU,
        mu_d=0.0,
        transition_velocity=TRANSITION_VELOCITY,
        **more,
    )
    b.load("push", "ball", force=(Signal.function(lambda t: PUSH * np.sin(RATE * t), 0.0, END), 0, 0))
    return b.build()


def reference(mass, times):
    """Speed and rate of the ball, by SciPy between the kinks of the law."""

    def rates(t, y):
        z, up, v, w = y
        normal, x = STIFFNESS * (RADIUS - z) - 8.0 * up, np.clip((v - w * RADIUS) / TRANSITION_VELOCITY, -1.0, 1.0)
        rub = -MU * normal * (1.5 * x - 0.5 * x**3)
        return [up, normal / mass - 9.81, (PUSH * np.sin(RATE * t) + rub) / mass, -RADIUS * rub / INERTIA]

    def kinks(y):
        slip = (y[2] - y[3] * RADIUS) / TRANSITION_VELOCITY
        return slip - 1.0, slip + 1.0

    return integrate(rates, [RADIUS - WEIGHT / STIFFNESS, 0.0, 0.3, 0.0], times, kinks, 1e-13)[:, 2:]


def off(run, found):
    """Largest error of speeds at the ends of steps, relative to 1 and their size."""
    own = np.column_stack([run.v["ball"][:, 0], run.omega["ball"][:, 1]])
    return (np.abs(own - found) / (1.0 + np.abs(found))).max()


@pytest.mark.parametrize(
    ("method", "coordinates", "tolerance", "allowed"),
    [("dop853", "joint", 1e-8, 2.0), ("dop853", "absolute", 1e-10, 1.0), ("radau", "absolute", 1e-8, 15.0)],
)
def test_errors_of_slip_that_reverses(method, coordinates, tolerance, allowed):
    """In units of the tolerance; steps over the kinks are off by 3.6, 13 and 46."""
    run = simulate(ball(), END, rtol=tolerance, atol=tolerance, method=method, coordinates=coordinates)
    assert run.success
    assert off(run, reference(MASS, run.t)) < allowed * tolerance


def test_steps_end_at_the_transition_velocity():
    """At both kinks of each reversal, and no step passes the transition velocity."""
    run = simulate(ball(), END, rtol=1e-8, atol=1e-8, method="dop853")
    slip = run.contacts["sole"].slip[:, 0] / TRANSITION_VELOCITY
    turns = np.flatnonzero(np.diff(np.sign(slip)) != 0)
    assert len(turns) == 4
    near = np.abs(np.abs(slip) - 1.0) < 2.0 * slips.NEAR
    for n in turns:
        assert near[n - 8 : n + 1].any() and near[n + 1 : n + 9].any()
    outside = np.abs(slip) > 1.0 + 2.0 * slips.NEAR
    assert not (outside[1:] & outside[:-1] & (slip[1:] * slip[:-1] < 0.0)).any()


@pytest.mark.parametrize(
    ("a", "b", "least", "place"),
    [
        ((2.0, 0, 0), (-2.0, 0, 0), 0.0, 0.25),
        ((1.0, 0, 0), (-3.0, 0, 0), 1e-3, 0.5),  # from the transition velocity on: where it leaves it
        ((0.0, 0, 0), (0.0, 4.0, 0), 0.0, 0.25),
        ((2.0, 1.1, 0), (-2.0, 1.1, 0), 0.0, slips.NOWHERE),  # beside it
        ((0.0, 0, 0), (0.5, 0, 0), 0.0, slips.NOWHERE),
        ((0.0, 0, 0), (0.0, 0, 0), 0.0, slips.NOWHERE),
    ],
)
def test_straight_ways_through_the_transition_velocity(a, b, least, place):
    a, b = tuple(map(float, a)), tuple(map(float, b))
    assert slips.passes_transition_velocity.py_func(a, b, least) == pytest.approx(place, abs=1e-15)
