"""Forces with states of their own: runs against closed forms, with both methods and in both kinds of coordinates."""

import logging
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import codegen
import runtime
from runtime import ModelError, simulate
from tests.support.maxwell import MASS, VALUES, builder, closed_form, creeping, maxwell, relaxing, slider
from tests.support.muscles import builder as leg_of_muscle

TIMES = np.linspace(0.0, 2.0, 21)
WAYS = [("dop853", "absolute"), ("dop853", "joint"), ("radau", "absolute")]


def found(run):
    return np.column_stack([run.r["block"][:, 0], run.v["block"][:, 0], run.forces["f"].flow])


@pytest.mark.parametrize(("method", "coordinates"), WAYS)
def test_the_damper_loses_what_the_balance_counts(method, coordinates):
    """The spring's potential is stored; the work of the force is the rest, the heat of the damper."""
    run = simulate(slider(), 2.0, t_eval=TIMES, method=method, coordinates=coordinates, rtol=1e-9, atol=1e-9)
    heat = solve_ivp(lambda t, _: [_power(t)], (0.0, 2.0), [0.0], "DOP853", TIMES, rtol=1e-10, atol=1e-10).y[0]
    assert np.abs(run.energy_balance.work["f"] + heat).max() < 1e-7 and heat[-1] > 0.5
    assert np.abs(run.energy_balance.error).max() < 1e-7
    assert run.energy == pytest.approx(run.kinetic_energy + run.forces["f"].energy, abs=1e-12)


def _power(t):
    x, _, flow = closed_form([t])[0]
    return VALUES["stiffness"] ** 2 * (x - 1.0 - flow) ** 2 / VALUES["viscosity"]


@pytest.mark.parametrize(("method", "coordinates"), WAYS)
def test_a_run_goes_on_from_the_final_state_of_another(method, coordinates):
    system, how = slider(), dict(method=method, coordinates=coordinates, rtol=1e-9, atol=1e-9)
    first = simulate(system, 1.0, **how)
    state = pickle.loads(pickle.dumps(first.final))
    rest = simulate(system, 2.0, t_start=1.0, initial=state, t_eval=[1.0, 2.0], **how)
    assert rest.forces["f"].flow[0] == state.z["f.flow"] != VALUES["flow_0"]
    assert np.abs(found(rest) - closed_form([1.0, 2.0])).max() < 1e-7
    moved = simulate(system, 2.0, initial=system.state.replace(z={"f.flow": 0.2}), t_eval=TIMES, **how)
    assert np.abs(found(moved) - closed_form(TIMES, flow_0=0.2)).max() < 1e-7
    with pytest.raises(ModelError, match=r"unknown state of a force 'f\.flo'; did you mean 'f\.flow'"):
        simulate(system, 1.0, initial=system.state.replace(z={"f.flo": 0.2}), **how)


def test_an_initial_value_by_a_rule():
    """A cable whose flow begins with the elongation in the reference configuration has no force there."""
    law = dict(stiffness=80.0, viscosity=30.0, free_length=1.0)
    run = simulate(slider(relaxing, v=0.0, **law), 0.5, t_eval=[0.0, 0.5])
    assert run.forces["f"].flow == pytest.approx([0.3, 0.3]) and np.abs(run.forces["f"].tension).max() < 1e-12


@pytest.mark.parametrize(("method", "coordinates"), WAYS)
def test_steps_end_at_kinks_of_a_force_with_states(method, coordinates):
    """The cable is pulled, its damper gives way, and it becomes slack when the block has come back."""
    law = dict(stiffness=400.0, viscosity=60.0, free_length=1.0)
    system = slider(relaxing, x=1.3, v=1.5, **law)
    run = simulate(system, 1.0, t_eval=TIMES / 2, method=method, coordinates=coordinates, rtol=1e-9, atol=1e-9)

    def f(t, y):
        pull = 400.0 * max(y[0] - 1.0 - y[2], 0.0)
        return [y[1], -pull / MASS, pull / 60.0]

    expected = solve_ivp(f, (0.0, 1.0), [1.3, 1.5, 0.3], "DOP853", TIMES / 2, rtol=1e-12, atol=1e-13, max_step=1e-3).y
    assert run.forces["f"].tension[0] == 0.0 < run.forces["f"].tension.max() and run.forces["f"].tension[-1] == 0.0
    assert np.abs(found(run) - expected.T).max() < 1e-7


def test_touching_contacts_beside_states():
    """A block that falls on a ground beside a second one on a Maxwell element: neither run changes the other."""
    b = runtime.Builder("two")
    b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.2), free=True)
    b.body("block", mass=MASS, inertia=(0.1, 0.1, 0.1), r=(1.3, 0, 0), v=(0.4, 0, 0))
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
    b.force("f", codegen.compile_force(maxwell), "ground", "block", s_i=(0, 0, 0), s_j=(0, 0, 0), **VALUES)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.1, law="hertz", stiffness=1e5)
    for method in ("dop853", "radau"):
        run = simulate(b.build(), 0.5, t_eval=TIMES / 4, method=method, rtol=1e-9, atol=1e-9)
        assert run.success and len(run.contact_events) >= 2
        assert np.abs(found(run) - closed_form(TIMES / 4)).max() < 1e-7


@pytest.mark.parametrize(("method", "coordinates"), WAYS)
def test_states_beside_a_closed_loop(method, coordinates):
    """A second guide beside the first closes a loop with redundant rows, onto which states are projected."""
    b = builder()
    b.joint(
        "beside", "translational", "ground", "block", s_i=(0, 0.2, 0), a_i=(1, 0, 0), s_j=(0, 0.2, 0), a_j=(1, 0, 0)
    )
    system = b.build()
    run = simulate(system, 2.0, t_eval=TIMES, method=method, coordinates=coordinates, rtol=1e-9, atol=1e-9)
    assert system.redundant and run.success and np.abs(found(run) - closed_form(TIMES)).max() < 1e-7


def test_cases_with_states_in_a_closed_loop_are_single_runs(caplog):
    """An elastic muscle beside a second hinge; the log says how the cases ran."""
    b = leg_of_muscle(rate=2.0)
    b.joint("beside", "revolute", "ground", "shank", s_i=(0, 0.2, 0), a_i=(0, 1, 0), s_j=(0, 0.2, 0.2), a_j=(0, 1, 0))
    system, strengths = b.build(), [500.0, 1000.0, 1500.0]
    how, outputs = dict(t_eval=[0.1, 0.2], method="dop853"), ["r.shank", "force_fiber_length.flexor"]
    with caplog.at_level(logging.INFO, "runtime.ensemble"):
        many = runtime.simulate_many(system, {"max_isometric_force.flexor": strengths}, 0.2, outputs=outputs, **how)
    assert system.redundant and many.success and not many.vectorised.any()
    assert caplog.messages[-1] == "3 of 3 cases done, 3 as single runs"
    for k, strength in enumerate(strengths):
        run = simulate(runtime.with_parameters(system, {"max_isometric_force.flexor": strength}), 0.2, **how)
        assert np.array_equal(many["r.shank"][k], run.r["shank"])
        assert np.array_equal(many["force_fiber_length.flexor"][k], run.forces["flexor"].fiber_length)
    assert np.ptp(many["force_fiber_length.flexor"][:, -1]) > 1e-5


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_the_right_hand_side_has_states_behind_the_motion(coordinates):
    system = slider()
    f = runtime.rhs(system, coordinates=coordinates)
    assert f.names[-1] == "f.flow" and f.units[-1] == "m" and f.y0[-1] == VALUES["flow_0"]
    y = f.vector(system.state.replace(z={"f.flow": 0.12}))
    assert y[-1] == 0.12 and f.state(y).z == {"f.flow": 0.12}
    assert f(0.0, y)[-1] == pytest.approx(80.0 * (0.3 - 0.12) / 30.0)
    assert np.abs(f.jacobian(0.0, y) - differences(f, y))[moving(f)].max() < 1e-6
    solution = solve_ivp(f, (0.0, 2.0), f.y0, "DOP853", TIMES, rtol=1e-9, atol=1e-9)
    assert np.abs(found(f.run(TIMES, solution.y.T)) - closed_form(TIMES)).max() < 1e-7


def test_the_jacobian_of_states_over_four_bodies():
    """Two masses on straight guides, on a tendon over two points of a third body and the ground, and a second force before it."""
    b = runtime.Builder("hung")
    for name, x in (("left", -1.0), ("right", 1.0), ("middle", 0.0)):
        b.body(name, mass=1.0 + x**2, inertia=(0.1, 0.12, 0.15), r=(x, 0.1, -1.0), free=True, omega=(0.1, x, 0.2))
    ends = dict(s_i=(0, 0, 0.1), s_j=(0.1, 0, 0))
    b.force("first", codegen.compile_force(maxwell), "ground", "left", **ends, **VALUES)
    law = dict(stiffness=90.0, viscosity=8.0, slack_length=2.0)
    over = dict(body_k="middle", body_l="ground", s_k=(0, 0, 0.5), s_l=(1.0, 0, 0.5))
    b.force("second", codegen.compile_force(creeping), "left", "right", **over, **ends, **law)
    f = runtime.rhs(b.build(), coordinates="absolute")
    assert f.names[-3:] == ("first.flow", "second.yielded", "second.slowed")
    assert f.y0[-3:] == pytest.approx([0.05, 0.0, 0.2])
    assert np.abs(f.jacobian(0.0, f.y0) - differences(f, f.y0))[moving(f)].max() < 1e-6


def moving(f):
    """Rows and columns of components but for Euler parameters, whose lengths do not count."""
    known = [k for k, name in enumerate(f.names) if ".p_" not in name]
    return np.ix_(known, known)


def differences(f, y, h=1e-5):
    steps = h * np.eye(len(y))
    return ((f(np.zeros(len(y)), y + steps) - f(np.zeros(len(y)), y - steps)) / (2 * h)).T


def test_stiff_states_are_left_to_the_stiff_method():
    law = VALUES | dict(stiffness=1e6, viscosity=2.0, flow_0=0.3)
    run = simulate(slider(**law), 1.0, t_eval=TIMES / 2, rtol=1e-8, atol=1e-8)
    assert run.success and [part.method for part in run.stats.parts][-1] == "radau"
    assert np.abs(found(run) - closed_form(TIMES / 2, **law)).max() < 1e-6


def test_a_file_of_a_model_has_forces_with_states(tmp_path):
    definition = codegen.compile_force(maxwell)
    file = builder().to_file(tmp_path / "slider.json")
    again = runtime.Builder.from_file(file, definitions=[definition]).build()
    one, other = (simulate(system, 0.5, t_eval=[0.5]) for system in (slider(), again))
    assert one.states.tobytes() == other.states.tobytes() and one.final.z == other.final.z


def test_analyses_that_know_no_states_refuse_them():
    with pytest.raises(ModelError, match=r"forces with states \(f\.flow\), which it does not know"):
        runtime.kinematics(slider(), [0.0])


def test_events_see_states():
    system = slider()
    event = runtime.Event("flowed", lambda t, state: state.z["f.flow"] - 0.12, terminal=True)
    run = simulate(system, 2.0, events=[event], rtol=1e-10, atol=1e-10)
    (at,) = run.events["flowed"]
    assert closed_form([at])[0, 2] == pytest.approx(0.12, abs=1e-8) and run.final.z["f.flow"] == pytest.approx(0.12)
