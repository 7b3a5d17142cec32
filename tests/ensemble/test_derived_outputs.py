"""Multipliers, reactions and forces as outputs of many cases: as runs have them, without a run for each case."""

import numpy as np
import pytest

import runtime
from runtime.ensemble import chunk, kept_outputs
from runtime.ensemble.derived_outputs import CaseStates
from runtime.results.outputs import quantities_of_runs, values_of
from tests.ensemble.test_closed_in_lanes import bricard_loop
from tests.ensemble.test_limits_beside_rows import leg

SETTINGS = dict(t_eval=np.linspace(0.0, 0.5, 6), rtol=1e-12, atol=1e-12)
OF_LEG = (
    "lam.swing.angle", "lam.ankle.point_x", "Phi.ball.point_z", "violation", "velocity_violation", "norm(reaction_force.ankle)",
    "reaction_moment.hip", "reaction_moment.ball", "v_dot.toes", "omega_dot.foot", "force_moment.spring", "force_energy.spring",
    "force_power.spring", "limit_latitude.stop", "limit_restricting_moment.stop", "limit_dissipative_moment.stop",
    "limit_rate.stop", "energy", "acceleration.ankle.angle", "momentum", "angular_momentum", "centre_of_mass",
)  # fmt: skip
LOADS = ["joint_load_force.ankle", "max(norm(joint_load_moment.ball))"]  # fmt: skip


def no_runs(monkeypatch):
    """No case has a run of its own, and all run in lanes."""

    def refused(*_):
        raise AssertionError("a run was made")

    def all_of_them(*arguments, run=chunk.run_side_by_side):
        assert run(*arguments) == []
        return []

    monkeypatch.setattr(kept_outputs, "run_of_states", refused)
    monkeypatch.setattr(kept_outputs, "columns_of_run", refused)
    monkeypatch.setattr(chunk, "run_side_by_side", all_of_them)


@pytest.mark.parametrize("name", ["damping.stop", "stiffness.spring", "mass.foot", "rate.ankle.angle"])
def test_outputs_of_driven_cases_in_lanes(name, monkeypatch):
    no_runs(monkeypatch)
    values = runtime.parameters(leg()).get(name, 0.2) * np.array([0.8, 1.0, 1.2])
    many = runtime.simulate_many(leg(), {name: values}, 0.5, outputs=OF_LEG, **SETTINGS)
    assert many.success and not many.messages
    monkeypatch.undo()
    states = runtime.simulate_many(leg(), {name: values}, 0.5, **SETTINGS)
    known = quantities_of_runs(leg())
    for case in range(3):
        run = states[case]
        for output in OF_LEG:
            own = values_of(run, known[output.removeprefix("norm(").removesuffix(")")])
            own = np.linalg.norm(own, axis=1) if output.startswith("norm") else own
            assert np.abs(many[output][case] - own).max() < 1e-8 * max(1.0, np.abs(own).max()), output


def test_redundant_rows_have_multipliers_of_least_norm():
    outputs = ["reaction_force.hinge_2", "v_dot.bar_3"]
    many = runtime.simulate_many(bricard_loop(), {"mass.bar_1": [0.9, 1.1]}, 0.5, outputs=outputs, **SETTINGS)
    run = runtime.simulate_many(bricard_loop(), {"mass.bar_1": [0.9, 1.1]}, 0.5, **SETTINGS)[1]
    assert np.abs(many["v_dot.bar_3"][1] - run.v_dot["bar_3"]).max() < 1e-8
    reaction = run.reaction("hinge_2", on="bar_3")
    assert np.abs(many["reaction_force.hinge_2"][1] - reaction.force).max() < 1e-7
    assert (
        many.success and many.messages[1] == f"reaction_force.hinge_2: {reaction.reason}"
    )  # which says what shares them
    alone = runtime.simulate_many(bricard_loop(), {"mass.bar_1": [0.9]}, 0.5, outputs=["v_dot.bar_3"], **SETTINGS)
    assert not alone.messages


def test_outputs_in_singular_states_are_undetermined(monkeypatch):
    derive = CaseStates._derive_portion

    def singular(self, case):
        found = derive(self, case)
        found.pivot[0] = 0.0
        return found

    monkeypatch.setattr(CaseStates, "_derive_portion", singular)
    many = runtime.simulate_many(leg(), {"mass.foot": [0.8, 1.0]}, 0.5, outputs=["lam.swing.angle"], **SETTINGS)
    assert np.isnan(many["lam.swing.angle"]).any() and "are undetermined at t = 0 s" in many.messages[0]


def test_loads_of_joints_are_outputs(monkeypatch):
    """With the limit and the spring of the ankle, from the states of all cases."""
    no_runs(monkeypatch)
    many = runtime.simulate_many(leg(), {"mass.foot": [0.8, 1.0]}, 0.5, outputs=LOADS, **SETTINGS)
    monkeypatch.undo()
    run = runtime.simulate_many(leg(), {"mass.foot": [0.8, 1.0]}, 0.5, **SETTINGS)[1]
    force, moment = (
        run.joint_load("ankle", on=run.system.joint("ankle").body_j).force,
        run.joint_load("ball", on="toes").moment,
    )
    assert np.abs(many[LOADS[0]][1] - force).max() < 1e-8 * np.abs(force).max()
    assert many[LOADS[1]][1] == pytest.approx(np.linalg.norm(moment, axis=1).max(), rel=1e-8)
