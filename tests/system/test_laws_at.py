"""Laws of muscles and limits at many times: those of single calls of the kernels, of runs, and what is refused."""

import numpy as np
import pytest

from runtime.jit.python_code import python_code
from runtime.system import limit_moment, rigid_muscle
from runtime.system.muscle_modules import LAWS
from tests.support.refusals import assert_refused

OWN = {
    "max_isometric_force": 1500.0, "optimal_fiber_length": 0.08, "tendon_slack_length": 0.2, "pennation_angle_at_optimal": 0.3,
}  # fmt: skip
LIMIT = dict(lower=-1.0, upper=0.5, lower_stiffness=20.0, upper_stiffness=30.0, damping=2.0, transition=0.1)


@pytest.mark.parametrize("law", LAWS)
def test_a_law_at_many_times_is_that_of_single_calls(law):
    module, random = LAWS[law], np.random.default_rng(2)
    length, rate = random.uniform(0.25, 0.31, (2, 4)), random.uniform(-0.3, 0.3, (2, 4))
    forces = np.array([[1500.0], [700.0]])
    found = rigid_muscle(law, length, rate, {**OWN, "max_isometric_force": forces})
    states = len(module.STATES)
    for n in np.ndindex(length.shape):
        c = [float({**module.DEFAULTS, **OWN}[name]) for name in module.PARAMETERS]
        c[module.PARAMETERS.index("max_isometric_force")] = float(forces[n[0], 0])
        out = np.zeros(states + len(module.OUTPUTS))
        python_code(module.rigid)([length[n], rate[n], *[1.0] * (1 + states)], c, out)
        assert found["tension"][n] == pytest.approx(out[0], rel=1e-12)
        for k, (name, _) in enumerate(module.OUTPUTS[2:]):
            assert found[name][n] == pytest.approx(out[2 + states + k], rel=1e-12, abs=1e-9), name


def test_a_limit_grows_over_its_transition_and_damps_beyond():
    """s (K d + c d') with s = 10 x^3 - 15 x^4 + 6 x^5, against the angle beyond either end."""
    angle, rate = np.array([0.0, 0.55, 0.8, -1.05, -1.5]), np.array([3.0, 0.2, -0.4, 0.3, 0.1])
    beyond = np.array([0.0, 0.05, 0.3, -0.05, -0.5])
    x = np.minimum(np.abs(beyond) / 0.1, 1.0)
    s = 10 * x**3 - 15 * x**4 + 6 * x**5
    stiffness = np.where(beyond > 0.0, 30.0, 20.0)
    assert limit_moment(angle, rate, **LIMIT) == pytest.approx(-s * (stiffness * beyond + 2.0 * rate), abs=1e-12)


def test_what_is_refused():
    length = np.full(3, 0.28)
    assert_refused("the laws of muscles are thelen", rigid_muscle, "hill", length, length, OWN)
    assert_refused("needs max_isometric_force", rigid_muscle, "thelen_as_opensim", length, length, {})
    assert_refused("do not fit", rigid_muscle, "thelen_as_opensim", length, length[:2], OWN)
    deg = {**OWN, "pennation_angle_at_optimal": [0.1, 20.0, 0.1]}
    assert_refused(
        "pennation_angle_at_optimal = 20 rad, must not be above", rigid_muscle, "thelen_as_opensim", length, length, deg
    )
    wide = {**OWN, "tendon_slack_length": np.ones((2, 3))}
    assert_refused("do not fit", rigid_muscle, "thelen_as_opensim", length, length, wide)
    assert_refused("give 1e-06 or more", limit_moment, length, length, **{**LIMIT, "transition": 0.0})
    assert_refused("give (times,) each", limit_moment, length, length[:2], **LIMIT)
