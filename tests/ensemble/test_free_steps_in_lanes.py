"""Cases with closed loops and drivers whose trees have balls and free steps, side by side, as single runs."""

import numpy as np
import pytest

import runtime
from runtime import Status
from tests.support.free_steps import chain, gait, posed

TIMES = np.linspace(0.0, 1.0, 5)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12, coordinates="joint")
SHARE = np.linspace(0.9, 1.1, 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "name"),
    [(gait, "mass.leg"), (gait, "gravity"), (chain, "mass.float"), (chain, "stiffness.spring"), (posed, "mass.rod")],
)
def test_as_single_runs_and_in_absolute_coordinates(build, name, closed_in_lanes):
    system = build()
    own = np.asarray(runtime.parameters(system)[name])
    cases = {name: own * SHARE[:9].reshape(-1, *[1] * own.ndim)}
    outputs = [f"{part}.{body}" for part in ("r", "p", "omega") for body in system.body_names] + ["energy"]
    many = runtime.simulate_many(system, cases, 1.0, **SETTINGS)
    kept = runtime.simulate_many(system, cases, 1.0, outputs=outputs, **SETTINGS)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    assert np.array_equal(many.r(system.body_names[0]), kept[outputs[0]])
    closed_in_lanes.undo()
    bound = 1e-10 if build is posed else 1e-11  # a parameter near 1 changes little with the angle
    assert np.abs(many[8].states - many.states()[8].reshape(len(TIMES), -1)).max() < bound
    few = {name: cases[name][::8]}
    absolute = runtime.simulate_many(system, few, 1.0, outputs=outputs, **SETTINGS | dict(coordinates="absolute"))
    for output in outputs:
        size = max(1.0, np.abs(absolute[output]).max())
        assert np.abs(kept[output][::8] - absolute[output]).max() < 1e-9 * size, output


def test_rates_of_balls_are_left_to_single_runs():
    """Those of a joint are in axes of its body i: lanes of closed loops take turns and slides."""
    cases = {f"rate.ball.{next(iter(chain().joint_motions['ball'].units))}": [0.0, 0.3]}
    many = runtime.simulate_many(chain(), cases, 0.2, **SETTINGS | dict(t_eval=[0.1, 0.2]))
    each = [many[k].states for k in range(2)]
    assert many.success and np.abs(many.states().reshape(2, 2, -1) - each).max() < 1e-11
    assert np.abs(each[1] - each[0]).max() > 1e-3
