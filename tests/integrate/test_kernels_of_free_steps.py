"""Signs of Euler parameters in kernels of trees whose coordinates rows restrain."""

import numpy as np
import pytest

from runtime import State, simulate
from runtime.system.trees import trees_of
from runtime.system.variants import with_reference
from tests.support.free_steps import posed

SETTINGS = dict(rtol=1e-11, atol=1e-11, t_eval=np.linspace(0.0, 1.0, 11))


def test_signs_of_euler_parameters_follow_those_of_the_state():
    """A reference configuration has the other signs: rows that read Euler parameters are those of the state all the same."""
    system, y = posed(), posed().state.y.copy()
    y[13 + 3 : 13 + 7] *= -1.0
    other = with_reference(system, State(system.body_names, y))
    assert (
        trees_of(other).closed.key == trees_of(system).closed.key
        and (trees_of(other).tree.pose[1, 3:] == y[16:20]).all()
    )
    run, absolute = (simulate(other, 1.0, coordinates=c, **SETTINGS) for c in ("joint", "absolute"))
    assert run.success and run.stats.kernel == "joint coordinates"
    assert np.abs(run.states - absolute.states).max() < 1e-9 and (run.states[0] == system.state.y).all()
    assert np.abs(run.energy_balance.error).max() < 1e-8 and run.lam["turn"] == pytest.approx(
        absolute.lam["turn"], abs=1e-6
    )
