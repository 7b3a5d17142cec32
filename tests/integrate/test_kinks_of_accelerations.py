"""Steps that pass a kink of an acceleration: their errors are those of smooth steps."""

import numpy as np
import pytest

from runtime import simulate_many
from tests.support.conformance import wheel


def sprung_wheel():
    """A wheel on a spring whose dry friction is full from 0.5 rad/s on."""
    b, turn = wheel(0.01), dict(axes="global", a_i=(0, 1, 0))
    b.force("spring", "torsional_spring", "ground", "wheel", **turn, stiffness=20.0, damping=0.0, free_angle=0.0)
    b.force("rub", "hinge_friction", "ground", "wheel", **turn, friction=1.0, transition_velocity=0.5, damping=0.0)
    return b.build()


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["auto", "absolute"])
def test_errors_of_steps_over_the_transition_velocity_of_friction(coordinates):
    """Vectorised and serially.  Without the estimate of kinks one of these runs is off by 5400 times the tolerance."""
    speeds = {"rate.hinge.angle": np.linspace(3.0, 5.0, 100)}
    states = []
    for tolerance in (1e-13, 1e-8):
        how = dict(t_eval=[0.2], rtol=tolerance, atol=tolerance, coordinates=coordinates)
        many = simulate_many(sprung_wheel(), speeds, 0.2, **how)
        assert not many.messages and many.vectorised.all() == (coordinates == "auto")
        states.append(many.states())
    assert np.abs(states[1] - states[0]).max() < 5e-8
