"""Memory of single evaluations, which data of the same shapes share."""

import numpy as np
import pytest

import models
import runtime
from runtime.dynamics.equations import derivatives, shared_workspace_for, workspace_for

LANDING = models.foot.build(ground=True, leg="free", limits="dissipative", orthosis="stiff")
CHANGED = {
    "l.ankle": 0.045, "damping.talocrural": 0.7, "stiffness.sphere_1": 1e6, "radius.sphere_1": 0.03,
    "stiffness.orthosis_inversion": 50.0,
}  # fmt: skip


def rates(system, work):
    """Rates in the initial state with other velocities, and below the ground."""
    states = np.tile(system.state.y, (2, 1)) + np.random.default_rng(0).normal(scale=0.01, size=len(system.state.y))
    states[1, 2::13] -= 0.3
    out = np.zeros_like(states)
    assert derivatives(np.zeros(2), states, system.data, work, out)[0] == 2
    return out


@pytest.mark.parametrize("name", CHANGED)
def test_each_gets_its_own_parameters(name):
    other = runtime.with_parameters(LANDING, {name: CHANGED[name]})
    assert shared_workspace_for(LANDING.data) is shared_workspace_for(other.data)
    for one in (LANDING, other, LANDING):
        assert np.array_equal(rates(one, shared_workspace_for(one.data)), rates(one, workspace_for(one.data)))
    assert np.abs(rates(other, workspace_for(other.data)) - rates(LANDING, workspace_for(LANDING.data))).max() > 0.0


def test_other_shapes_have_memory_of_their_own():
    assert shared_workspace_for(models.pendulum.build().data) is not shared_workspace_for(LANDING.data)
