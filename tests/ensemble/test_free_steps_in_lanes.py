"""Cases with closed loops and drivers whose trees have balls and free steps, side by side, as single runs."""

import numpy as np
import pytest

import runtime
from benchmarks.random import model, question
from runtime import State, Status
from runtime.dynamics import equations, projection
from runtime.system.variants import with_reference
from tests.support.driven_legs import made, one_by_one
from tests.support.free_steps import chain, gait, posed

TIMES = np.linspace(0.0, 1.0, 5)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12, coordinates="joint")
SHARE = np.linspace(0.9, 1.1, 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "name"),
    [(gait, "mass.leg"), (gait, "gravity"), (chain, "mass.float"), (chain, "stiffness.spring"), (posed, "mass.rod")],
)
def test_as_one_by_one_and_in_absolute_coordinates(build, name, closed_in_lanes):
    system = build()
    own = np.asarray(runtime.parameters(system)[name])
    cases = {name: own * SHARE[:9].reshape(-1, *[1] * own.ndim)}
    outputs = [f"{part}.{body}" for part in ("r", "p", "omega") for body in system.body_names] + ["energy"]
    many = runtime.simulate_many(system, cases, 1.0, **SETTINGS)
    kept = runtime.simulate_many(system, cases, 1.0, outputs=outputs, **SETTINGS)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    assert np.array_equal(many.r(system.body_names[0]), kept[outputs[0]])
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 1.0, **SETTINGS)
    bound = 1e-10 if build is posed else 1e-11  # a parameter near 1 changes little with the angle
    assert np.abs(many.states() - each.states()).max() < bound
    assert np.abs(many[8].states - many.states()[8].reshape(len(TIMES), -1)).max() < bound
    few = {name: cases[name][::8]}
    absolute = runtime.simulate_many(system, few, 1.0, outputs=outputs, **SETTINGS | dict(coordinates="absolute"))
    for output in outputs:
        size = max(1.0, np.abs(absolute[output]).max())
        assert np.abs(kept[output][::8] - absolute[output]).max() < 1e-9 * size, output


def test_single_runs_may_be_in_absolute_coordinates(closed_in_lanes):
    """As ``coordinates="auto"`` has them, where they are faster; cases run side by side all the same."""
    cases = {"mass.float": 0.9 * SHARE}
    many, joint = (
        runtime.simulate_many(chain(), cases, 1.0, **SETTINGS | dict(coordinates=c)) for c in ("auto", "joint")
    )
    assert np.array_equal(many.states(), joint.states())
    closed_in_lanes.undo()
    assert np.abs(many[3].states - many.states()[3].reshape(len(TIMES), -1)).max() < 1e-9


@pytest.mark.parametrize("build", [gait, chain])
def test_outputs_between_steps_satisfy_all_rows(build, closed_in_lanes):
    system = build()
    settings = dict(t_eval=np.linspace(0.0, 1.0, 23), rtol=1e-6, atol=1e-6)
    many = runtime.simulate_many(system, {"gravity": np.outer(SHARE, system.gravity)}, 1.0, **settings)
    worst = np.zeros((len(SHARE), 2))
    for k, t in enumerate(settings["t_eval"]):
        states = np.ascontiguousarray(many.states()[:, k].reshape(len(SHARE), -1))
        projection.worst_of_all(t, states, system.data, equations.workspace_for(system.data), worst)
        assert worst[:, 0].max() < 1e-13 and worst[:, 1].max() < 1e-12
        assert np.abs((states.reshape(-1, 13)[:, 3:7] ** 2).sum(axis=1) - 1.0).max() < 1e-14


def test_a_case_depends_on_no_other(closed_in_lanes):
    cases = {"mass.float": np.linspace(0.5, 2.0, 40)}
    settings = SETTINGS | dict(rtol=1e-7, atol=1e-7)
    many = runtime.simulate_many(chain(), cases, 1.0, workers=2, chunk=17, **settings)
    some = runtime.simulate_many(chain(), {k: v[30:2:-1] for k, v in cases.items()}, 1.0, workers=1, **settings)
    assert np.array_equal(many.states()[30:2:-1], some.states())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("spatial_loop", 3), ("modified_loop", 1), ("sprung_loop", 0)])
def test_random_loops_with_balls(name, seed, closed_in_lanes):
    system = made(model.system_of(question.CLASSES[name](np.random.default_rng(seed)), name))
    assert "ball" in system.tree.kinds
    cases = {f"mass.{system.body_names[0]}": system.data.mass[1] * SHARE[:3]}
    settings = SETTINGS | dict(t_eval=0.5 * TIMES)
    many = runtime.simulate_many(system, cases, 0.5, **settings)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 0.5, **settings)
    assert np.abs(many.states() - each.states()).max() < 1e-11 * max(1.0, np.abs(each.states()).max())
    absolute = runtime.simulate_many(system, cases, 0.5, **settings | dict(coordinates="absolute"))
    assert np.abs(many.states() - absolute.states()).max() < 1e-8 * max(1.0, np.abs(each.states()).max())


def test_rates_of_balls_are_left_to_single_runs():
    """Those of a joint are in axes of its body i: lanes of closed loops take turns and slides."""
    cases = {f"rate.ball.{next(iter(chain().joint_motions['ball'].units))}": [0.0, 0.3]}
    many = runtime.simulate_many(chain(), cases, 0.2, **SETTINGS | dict(t_eval=[0.1, 0.2]))
    each = [many[k].states for k in range(2)]
    assert many.success and np.abs(many.states().reshape(2, 2, -1) - each).max() < 1e-11
    assert np.abs(each[1] - each[0]).max() > 1e-3


def test_signs_of_a_reference_configuration():
    """Its signs are those of the constants of the kernel: cases with others run alone, and are right."""
    system, y = posed(), posed().state.y.copy()
    y[13 + 3 : 13 + 7] *= -1.0
    other = with_reference(system, State(system.body_names, y))
    many, right = (runtime.simulate_many(one, {"mass.rod": SHARE[:3]}, 1.0, **SETTINGS) for one in (other, system))
    assert many.success and np.abs(many.states() - right.states()).max() < 1e-11
