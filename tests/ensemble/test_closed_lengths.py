"""Cases with closed loops and drivers whose lengths, points and axes differ, side by side, as single runs."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import driven_leg, slider_crank
from runtime import Status
from runtime.dynamics import equations, projection
from runtime.ensemble import chunk, closed_at_once, closed_joints
from tests.support.driven_legs import made
from tests.support.free_steps import chain, gait

TIMES = np.linspace(0.0, 1.0, 5)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12, assemble=True)
SHARE = np.linspace(0.98, 1.02, 5)
SYSTEMS = {
    "four-bar": models.four_bar.build,
    "hinges": lambda: models.four_bar.build("revolute", crank_speed=20.0),  # rows that depend on others; several turns
    "slider-crank": lambda: made(slider_crank()),
    "driven leg": lambda: made(driven_leg()),
    "chain": chain,
    "gait": gait,
}


def cases_of(system, name):
    own = np.asarray(runtime.parameters(system)[name])
    return {name: own * SHARE.reshape(-1, *[1] * own.ndim)}


def exact(system, name, k, **settings):
    """The states of a case in absolute coordinates, by a system of its own."""
    own = runtime.with_parameters(system, {key: v[k] for key, v in cases_of(system, name).items()}, check_units=False)
    start = runtime.assemble(own, own.state)
    return runtime.simulate(own, 1.0, initial=start, coordinates="absolute", **settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("four-bar", "s_j.A"), ("four-bar", "s_j.B"), ("hinges", "s_j.A"), ("hinges", "s_i.C"), ("slider-crank", "s_j.B_sph"),
        ("driven leg", "s_j.hip"), ("chain", "l.link"), ("chain", "s_j.ball"), ("gait", "l.ankle"), ("gait", "s_j.ankle"),
    ],
)  # fmt: skip
def test_as_single_runs(system, name, closed_in_lanes):
    system = SYSTEMS[system]()
    cases = cases_of(system, name)
    many = runtime.simulate_many(system, cases, 1.0, **SETTINGS)
    outputs = [f"r.{system.body_names[-1]}", "energy"]
    kept = runtime.simulate_many(system, cases, 1.0, outputs=outputs, **SETTINGS)
    assert (many.status == Status.REACHED_END).all()
    assert np.array_equal(kept[outputs[0]], many.r(system.body_names[-1]))
    closed_in_lanes.undo()
    closed_in_lanes.setattr(chunk, "run_side_by_side", lambda *_: None)
    each = runtime.simulate_many(system, cases, 1.0, outputs=outputs, **SETTINGS)
    size = max(1.0, np.abs(each["energy"]).max())
    assert np.abs(kept["energy"] - each["energy"]).max() < 2e-8 * size
    assert np.abs(kept[outputs[0]] - each[outputs[0]]).max() < 1e-9
    states = many.states().reshape(len(SHARE), len(TIMES), -1)
    assert np.abs(many[4].states - states[4]).max() < 2e-8
    if system.data.signals.knot.size == 0:
        assert np.abs(exact(system, name, 4, rtol=1e-12, atol=1e-12, t_eval=TIMES).states - states[4]).max() < 2e-8
    assert np.ptp(states[:, -1], axis=0).max() > 1e-5


def test_rows_hold_at_all_times(closed_in_lanes):
    """At a coarse tolerance, between steps, by the joints of each case."""
    system = SYSTEMS["hinges"]()
    cases = cases_of(system, "s_j.A")
    settings = dict(t_eval=np.linspace(0.0, 1.0, 37), rtol=1e-6, atol=1e-6, assemble=True)
    many = runtime.simulate_many(system, cases, 1.0, **settings)
    worst = np.zeros((37, 2))
    for k, states in enumerate(many.states().reshape(len(SHARE), 37, -1)):
        own = runtime.with_parameters(system, {"s_j.A": cases["s_j.A"][k]}, check_units=False)
        projection.worst_of_all(0.0, np.ascontiguousarray(states), own.data, equations.workspace_for(own.data), worst)
        assert worst[:, 0].max() < 1e-13 and worst[:, 1].max() < 1e-11


def test_whole_turns_count_from_the_reference_configuration(closed_in_lanes):
    """Of the case itself, whatever pose its tree is in."""
    system = SYSTEMS["hinges"]()
    cases, settings = cases_of(system, "s_j.A"), dict(SETTINGS, rtol=1e-9, atol=1e-9)
    settings["t_eval"] = 3.0 * TIMES
    many = runtime.simulate_many(system, cases, 3.0, outputs=["angle.A.angle"], **settings)
    turned = many["angle.A.angle"]
    assert np.abs(turned[:, -1]).min() > np.pi  # where poses alone have other angles
    closed_in_lanes.undo()
    for k in (0, 4):
        own = runtime.simulate_many(system, {key: v[[k]] for key, v in cases.items()}, 3.0, **settings)[0]
        assert np.abs(own.angles["A"].values["angle"] - turned[k]).max() < 1e-6


def test_angles_count_from_the_joints_alone(closed_in_lanes):
    """The reference configuration of a driven system is not on the rows of its drivers."""
    system = SYSTEMS["driven leg"]()
    cases, settings = cases_of(system, "s_j.hip"), dict(SETTINGS, rtol=1e-9, atol=1e-9)
    outputs = [f"angle.{joint}.angle" for joint in ("hip", "ankle", "ball")]
    many = runtime.simulate_many(system, cases, 1.0, outputs=outputs, **settings)
    closed_in_lanes.undo()
    each = runtime.simulate_many(system, cases, 1.0, outputs=outputs, coordinates="absolute", **settings)
    for name in outputs:
        assert np.abs(many[name] - each[name]).max() < 1e-7
        assert np.ptp(each[name][:, 0]) > 1e-3


def test_a_case_depends_on_no_other(closed_in_lanes):
    system = SYSTEMS["four-bar"]()
    own = np.asarray(runtime.parameters(system)["s_j.B"])
    values = own * np.linspace(0.97, 1.03, 40)[:, None]
    settings = dict(SETTINGS, rtol=1e-8, atol=1e-8)
    many = runtime.simulate_many(system, {"s_j.B": values}, 1.0, workers=2, chunk=13, **settings)
    some = runtime.simulate_many(system, {"s_j.B": values[30:2:-1]}, 1.0, workers=1, **settings)
    assert np.array_equal(many.states()[30:2:-1], some.states())


def test_parameters_of_other_joints_are_seen(monkeypatch):
    """Where the rows of the kernel are not those that were assembled, the cases run one by one."""
    system, right, left = SYSTEMS["four-bar"](), closed_at_once.parameters_of_joints, []

    def wrong(*given):
        parameters, serves = right(*given)
        parameters[max(k for k, number in enumerate(given[0].constants) if number is None)] += 1e-3
        return parameters, serves

    def noted(*arguments, run=chunk.run_side_by_side):
        left.extend(run(*arguments))
        return left[-len(SHARE) :]

    monkeypatch.setattr(closed_at_once, "parameters_of_joints", wrong)
    monkeypatch.setattr(chunk, "run_side_by_side", noted)
    cases = cases_of(system, "s_j.B")
    many = runtime.simulate_many(system, cases, 1.0, workers=1, **SETTINGS)
    assert sorted(left) == [0, 1, 2, 3, 4] and many.success


def test_lengths_that_cannot_be_assembled_are_refused():
    system = SYSTEMS["four-bar"]()
    own = np.asarray(runtime.parameters(system)["s_j.A"])
    many = runtime.simulate_many(system, {"s_j.A": np.array([own, 50.0 * own])}, 1.0, **SETTINGS)
    assert many.status.tolist() == [Status.REACHED_END, Status.REFUSED] and "assemble" in many.messages[1]


def test_poses_in_which_bodies_are_only_moved(monkeypatch):
    """Without them zeros of the kernel are lost where the assembly turns bodies."""
    found = []
    for moves in (True, False):
        if not moves:
            monkeypatch.setattr(closed_joints, "_moved_alone", lambda system, tree, joints: (None, np.zeros(1, bool)))
        left = []
        monkeypatch.setattr(
            chunk, "run_side_by_side", lambda *a, run=chunk.run_side_by_side, to=left: to.append(run(*a)) or to[-1]
        )
        runtime.simulate_many(
            SYSTEMS["driven leg"](), cases_of(driven_leg(), "s_j.hip"), 0.2, **SETTINGS | dict(t_eval=[0.2])
        )
        found.append(sum(map(len, left)))
    assert found == [0, len(SHARE) - 1]  # one has the lengths of the system
