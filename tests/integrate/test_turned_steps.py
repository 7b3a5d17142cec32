"""Bodies that turn freely: walls, taut cables and events that they pass in a part of each turn are found."""

import numpy as np
import pytest

from runtime import Builder, Event, simulate, simulate_many
from runtime.system import displaced

RATE = -40.0  # [rad/s]


def rotor(acts=""):
    """A rod that turns about a hinge; its tip comes near a wall once in each turn, and near the end of a rope."""
    b = Builder("rotor", gravity=(0, 0, 0))
    b.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.02), r=(0, 0, -0.5))
    b.joint("hinge", "revolute", "ground", "rod", axes="global", point=(0, 0, 0), axis=(0, 1, 0))
    if acts == "wall":
        law = dict(law="hunt_crossley", stiffness=1e6, exponent=1.5, loss=0.5)
        b.contact("wall", "rod", centre=(0, 0, 0), radius=0.05, normal=(-1, 0, 0), point=(0.545, 0, 0), **law)
    if acts == "rope":
        ends = dict(axes="global", s_i=(-1, 0, 0), s_j=(0, 0, -0.5))
        b.force("rope", "cable", "ground", "rod", **ends, stiffness=1e4, loss=0.5, slack_length=1.45)
    return b.build()


@pytest.mark.parametrize("acts", ["wall", "rope"])
@pytest.mark.parametrize("how", ["side by side", "joint", "absolute"])
def test_what_acts_in_a_part_of_each_turn(acts, how):
    """Steps of any length are exact until it acts: without their bound these runs are off by 0.2 m to whole turns."""
    system, more = rotor(acts), dict(t_eval=[2.0], rtol=1e-8, atol=1e-8)
    start = displaced(system, {}, {"hinge.angle": RATE})
    exact = simulate(system, 2.0, initial=start, t_eval=[2.0], rtol=1e-11, atol=1e-11, max_step=2e-3)
    if how == "side by side":
        many = simulate_many(system, {"rate.hinge.angle": [RATE] * 3}, 2.0, coordinates="joint", **more)
        assert many.vectorised.all()
        found = many.r["rod"][1]
    else:
        found = simulate(system, 2.0, initial=start, coordinates=how, **more).r["rod"]
    assert np.abs(found - exact.r["rod"]).max() < 1e-4


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
@pytest.mark.parametrize("method", ["auto", "dop853"])
def test_events_of_each_turn(coordinates, method):
    """Without a bound for steps 4 of 26 are found in joint coordinates."""
    system = rotor()
    start = displaced(system, {}, {"hinge.angle": RATE})
    how = dict(initial=start, rtol=1e-6, atol=1e-6, coordinates=coordinates, method=method)
    event = Event("far", lambda t, state: state.r["rod"][0] - 0.45)
    assert len(simulate(system, 2.0, events=[event], **how).events["far"]) == 26
