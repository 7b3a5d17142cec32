"""Cases of an ensemble against ``simulate``, and cases that are refused or fail."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest

import codegen
import models
import runtime.system.whole_model
from runtime import Builder, Signal, Status, read_ensemble, simulate, simulate_many
from runtime.integrate import balance_check
from tests.support.ensembles import GRID, SETTINGS, alone, thrown
from tests.support.pendulums import parallelogram, turning
from tests.support.refusals import assert_refused

# --- what goes wrong with a case --------------------------------------------------------------------------------------


def test_a_table_is_a_mapping_of_its_columns():
    table = pandas.DataFrame(
        {"angle.ankle.theta_i": [0.1, 0.2], "gravity": [[0, 0, -9.81], [0, 0, -1.62]]}, index=[7, 3]
    )
    found, exact = (simulate_many(models.foot.build(), of, 0.1) for of in (table, {n: list(table[n]) for n in table}))
    assert found.success and (found.states() == exact.states()).all()
    assert_refused(
        "has the column 'gravity' more than once", simulate_many, models.foot.build(), table[["gravity"] * 2], 0.1
    )


@pytest.fixture
def parallelograms(monkeypatch, tmp_path):
    """A parallelogram with a kernel of its own, which lies flat when its crank has turned to 180 degrees; states and cases."""
    monkeypatch.setattr(runtime.system.model_description, "cache_folder", lambda: tmp_path)
    system = parallelogram(1.0)
    codegen.compile_model(system)

    def of_speeds(*speeds):
        states = [turning(system, 1.0, speed) for speed in speeds]
        return system, states, {
            f"{part}.{body}": np.array([getattr(state, part)[body] for state in states])
            for part in ("v", "omega")
            for body in system.body_names
        }  # fmt: skip

    return of_speeds


@pytest.mark.slow
def test_a_singular_configuration_is_named_as_in_a_single_run(parallelograms):
    system, states, cases = parallelograms(0.5, 2.0, 1.0)  # only the fast one comes there
    passed = simulate_many(system, cases, 1.5, t_eval=[0.5, 1.5])
    run = simulate(system, 1.5, initial=states[1], t_eval=[0.5, 1.5])
    # Of steps of any length one run in fifteen has an end so close to the pose that a digit is lost.
    assert run.success and passed.success
    assert passed.messages == ({1: run.message} if "close to a singular configuration" in run.message else {})
    assert np.array_equal(passed.states()[1].reshape(2, -1), run.states)
    terms = dict(alpha=5.0, beta=5.0)  # without projection the singular pose is not passed
    found = simulate_many(system, cases, 1.5, t_eval=[0.5, 1.5], **terms)
    assert found.status.tolist() == [0, Status.SINGULAR_CONFIGURATION, 0]
    run = simulate(system, 1.5, initial=states[1], t_eval=[0.5, 1.5], method="dop853", **terms)
    assert found.messages == {1: run.message} and "row" in run.message
    assert found.reached[1] <= (np.pi - 1.0) / 2.0
    assert np.array_equal(found.states()[1].reshape(2, -1)[: len(run.t)], run.states)
    assert np.isfinite(found.states()[1, 0]).all() and np.isnan(found.states()[1, 1]).all()


def test_an_unexplained_energy_balance_of_a_case_is_said_as_in_a_single_run(parallelograms, monkeypatch):
    system, states, cases = parallelograms(0.3, 0.6)
    settings = dict(alpha=5.0, beta=5.0, rtol=1e-6, atol=1e-6, t_eval=[0.0, 0.5, 1.0])
    quiet = simulate_many(system, cases, 1.0, **settings)
    assert quiet.vectorised.all() and not quiet.messages
    for name in ("EACH_STEP", "ROUNDING"):  # as if the tolerance explained nothing
        monkeypatch.setattr(balance_check, name, 0.0)
    found = simulate_many(system, cases, 1.0, **settings)
    run = simulate(system, 1.0, initial=states[1], method="dop853", **settings)
    assert found.vectorised.all() and found.success and sorted(found.messages) == [0, 1]
    for text in (found.messages[1], run.message):
        assert text.startswith("reached t = 1 s; the energy balance is off by") and text.endswith("lower rtol and atol")
    energy = replace(run, states=found.states()[1].reshape(3, -1)).energy
    off = float(np.abs(energy - energy[0]).max())
    assert float(found.messages[1].split(" off by ")[1].split()[0]) == pytest.approx(off, rel=0.06)


def test_a_case_close_to_a_singular_pose_ends_as_in_a_single_run(parallelograms):
    system, states, cases = parallelograms(*((end - 1.0) / 1.5 for end in (2.0, np.pi - 3e-6, 2.5)))
    settings = dict(alpha=5.0, beta=5.0)  # without projection the branch of the motion may change close to the pose
    found = simulate_many(system, cases, 1.5, **settings)
    assert found.vectorised.tolist() == [True, False, True] and list(found.messages) == [1]
    assert found.status.tolist() == [0, Status.SINGULAR_CONFIGURATION, 0]
    run = simulate(system, 1.5, initial=states[1], t_eval=[1.5], method="dop853", **settings)
    assert found.messages[1] == run.message and "without alpha and beta" in run.message


def test_a_failing_case_states_its_reason_and_stops_no_other():
    system, cases = models.foot.build(), {name: values[:20].copy() for name, values in thrown(40).items()}
    cases["v.toes"][3] += 0.1
    found = simulate_many(system, cases, 0.2, **SETTINGS)
    assert found.status[3] == Status.REFUSED and np.isnan(found.states()[3]).all() and np.isnan(found.reached[3])
    assert list(found.messages) == [3]
    assert "inconsistent initial velocities" in found.messages[3] and "metatarsophalangeal" in found.messages[3]
    good = np.arange(20) != 3
    assert (found.status[good] == 0).all() and np.isfinite(found.states()[good]).all() and not found.success


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_case_with_too_many_steps_is_ended(method):
    system, settings = models.foot.build(), dict(method=method, t_eval=GRID, rtol=1e-7, atol=1e-7)
    cases = {name: values[:3].copy() for name, values in thrown(40).items()}
    for values in cases.values():
        values[1] *= 200.0
    most = int(simulate_many(system, cases, 0.5, **settings).steps[[0, 2]].max())
    found = simulate_many(system, cases, 0.5, max_steps=most, **settings)
    assert found.status.tolist() == [0, Status.STEPS_USED_UP, 0] and found.steps[1] == most
    assert found.messages[1].startswith("the run reached max_steps at t = 0.") and 0.0 < found.reached[1] < 0.5
    run = alone(system, cases, 1, 0.5, max_steps=most, **settings)
    assert run.status == Status.STEPS_USED_UP and np.array_equal(
        run.states, found.states()[1].reshape(11, -1)[: len(run.t)]
    )
    assert np.isnan(found.states()[1, len(run.t) :]).all()


def test_a_case_too_fast_for_the_rounding_of_time_is_ended():
    system = models.free_body.build()
    (body,) = system.body_names
    found = simulate_many(
        system, {f"omega.{body}": [(1e20, 1.0, 1.0), (0.1, 0.2, 0.3)]}, 1.0, check_units=False, **SETTINGS
    )
    assert (
        found.status.tolist() == [Status.STEP_TOO_SMALL, 0]
        and "step size became smaller than machine precision allows" in found.messages[0]
    )


def test_a_driven_system_is_assembled_at_the_time_of_the_start():
    x = Signal.function(lambda t: 0.1 * np.sin(3.0 * t), 0.0, 2.0)
    b = Builder("driven")
    b.body("bob", mass=1.0, inertia=(0.01, 0.02, 0.03))
    b.driver("way", "guided_point", "bob", s_i=(0, 0, 0), x_t=x, y_t=0.0, z_t=0.0)
    system, omega = b.build(), [(0.1, 0.2, 0.3), (1.0, 0.0, 0.0)]
    found = simulate_many(system, {"omega.bob": omega}, 1.0, t_start=0.5, t_eval=[0.5], assemble=True)
    assert found.success and np.abs(found.r["bob"][:, 0] - (0.1 * np.sin(1.5), 0.0, 0.0)).max() < 1e-9
    assert np.abs(found.omega["bob"][:, 0] - omega).max() < 1e-12


def bodies_in_order(order=("a", "c"), mass=1.0):
    """Two free bodies, added in some order."""
    if mass > 5.0:
        raise ValueError("too heavy")
    if mass > 4.0:
        return None
    b = Builder("two")
    for name in order:
        b.body(name, mass=mass, inertia=(1.0, 1.0, 1.0), r=(ord(name), 0.0, 0.0), free=True)
    return b.build()


@pytest.mark.slow
def test_a_case_with_other_bodies_is_refused():
    found = simulate_many(
        lambda swap: bodies_in_order("ca" if swap else "ac"), {"swap": [False, True]}, 0.1, **SETTINGS
    )
    assert found.status.tolist() == [0, Status.REFUSED] and found.r["a"][0, 0, 0] == ord("a")
    assert found.messages[1] == "the bodies of this case are c, a, those of the others a, c; give all the same"


def test_an_exception_of_the_users_function_refuses_the_case():
    found = simulate_many(bodies_in_order, {"mass": [6.0, 1.0, 4.5]}, 0.1, **SETTINGS)
    assert found.status.tolist() == [Status.REFUSED, 0, Status.REFUSED]
    assert found.messages[0].startswith(
        f"{__name__}.bodies_in_order failed: ValueError: too heavy (test_cases.py, line "
    )
    assert found.messages[2] == f"{__name__}.bodies_in_order gave None; give a function that builds a System"


@pytest.mark.parametrize("kept", [False, True])
def test_chunks_of_refused_cases_hide_no_others(kept, tmp_path):
    cases = {"link_length": [-1.0, -2.0, 0.03, 0.04]}
    found = simulate_many(models.foot.build, cases, 0.1, chunk=2, out=tmp_path if kept else None, **SETTINGS)
    assert found.status.tolist() == [Status.REFUSED, Status.REFUSED, 0, 0]
    assert np.isnan(found.states()[:2]).all() and np.isfinite(found.states()[2:]).all()
    assert np.isfinite(found.r["toes"][2:]).all()


def test_none_is_a_value_among_names(tmp_path):
    cases = {"limits": [None, "elastic", None]}
    found = simulate_many(models.foot.build, cases, 0.2, out=tmp_path, **SETTINGS)
    for one in (found, read_ensemble(tmp_path)):
        assert one.success and one.cases["limits"].tolist() == [None, "elastic", None]
        assert one.vectorised.all()  # those with limits beside those without, by another kernel
        assert np.array_equal(one.states(), simulate_many(models.foot.build, cases, 0.2, **SETTINGS).states())


def test_labelled(tmp_path):
    cases = {"link_length": [0.04, -1.0]}
    simulate_many(models.foot.build, cases, 0.1, out=tmp_path, alpha=4.0, **SETTINGS)
    data = read_ensemble(tmp_path).to_xarray()
    assert data.attrs["alpha"] == 4.0 and data.attrs["rtol"] == 1e-9 and data.attrs["assemble"] == 0
    assert data.message.values.tolist() == ["", "link_length = -1 m must be a finite length, not below 0 m"]
    assert data.case_link_length.values.tolist() == [0.04, -1.0]
    many = simulate_many(models.foot.build(), {"omega.toes": np.zeros((2, 3))}, 0.1, **SETTINGS)
    assert many.to_xarray()["case_omega.toes"].attrs["units"] == "rad/s"


def test_states_are_moved_onto_the_constraints_if_asked():
    system = models.foot.build()
    omega = np.random.default_rng(1).normal(size=(5, 3))
    assert (simulate_many(system, {"omega.main_foot": omega}, 0.1, **SETTINGS).status == Status.REFUSED).all()
    found = simulate_many(system, {"omega.main_foot": omega}, 0.1, assemble=True, **SETTINGS)
    assert found.success
    state = runtime.assemble(system, system.state.replace(omega={"main_foot": omega[2]}))
    run = simulate(system, 0.1, initial=state, t_eval=[0.1], **SETTINGS)
    assert np.abs(found.states()[2].ravel() - run.states.ravel()).max() < 1e-12


BAD = {
    "no cases": (dict(cases={}), "a row for each case"),
    "different lengths": (dict(cases={"v.toes": np.zeros((2, 3)), "v.leg": np.zeros((3, 3))}), "'v.toes' 2, 'v.leg' 3"),
    "no rows": (dict(cases={"v.toes": np.zeros((0, 3))}), "differ or are 0"),
    "one value": (dict(cases={"v.toes": 1.0}), "'v.toes' = 1.0 is one value"),
    "unknown body": (dict(cases={"v.hand": np.zeros((2, 3))}), "hand"),
    "unknown part": (
        dict(cases={"a.toes": np.zeros((2, 3))}),
        "has no parameter 'a.toes'; did you mean 'mass.toes'? it has gravity",
    ),
    "no part": (dict(cases={"link_length": [0.1]}), "has no parameter 'link_length'"),
    "wrong shape": (dict(cases={"v.toes": np.zeros((2, 2))}), "give 3 numbers for each case"),
    "not finite": (dict(cases={"v.toes": np.full((2, 3), np.nan)}), "'v.toes' of case 0 is not finite"),
    "objects": (dict(cases={"v.toes": [object(), object()]}), "give numbers, names or None"),
    "no system": (dict(system="foot"), "system = 'foot': give a runtime.System"),
    "no builder": (dict(system=lambda **k: 3, cases={"x": [1.0]}), "gave 3"),
    "times": (dict(t_eval=[0.5, 0.2]), "t_eval must increase"),
    "times outside": (dict(t_eval=[0.5, 2.0]), "outside the interval 0 .. 1 s"),
    "end": (dict(t_end=-1.0), "must be after t_start"),
    "nothing to build": (
        dict(system=models.foot.build, cases={"link_length": [-1.0]}),
        "builds no system for any case",
    ),
    "method": (dict(method="euler"), "unknown method 'euler'"),
    "tolerance": (dict(rtol=-1.0), "rtol = -1"),
    "chunk": (dict(chunk=0), "chunk = 0"),
    "workers": (dict(workers=0), "workers = 0; give a number of workers, 1 or more"),
    "workers of an engine": (dict(workers=-3, engine=ThreadPoolExecutor(1)), "workers = -3"),
    "workers yes": (dict(workers=True), "workers = True"),
    "ragged": (dict(cases={"v.toes": [[0, 0, 0], [0, 0]]}), "the rows of 'v.toes' differ in shape"),
    "words": (dict(cases={"v.toes": [["a", "b", "c"]]}), "give 3 numbers for each case"),
    "not finite among names": (
        dict(system=models.foot.build, cases={"x": [None, np.inf]}),
        "'x' of case 1 is not finite",
    ),
    "no parameter": (dict(system=models.foot.build, cases={"lenght": [1.0]}), "lenght"),
    "folder in a file": (dict(out=Path(__file__) / "many"), "cannot be written to"),
    "engine": (dict(engine="fast"), "engine = 'fast'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    changes, message = BAD[name]
    arguments = dict(system=models.foot.build(), cases={"v.toes": np.zeros((2, 3))}, t_end=1.0) | changes
    assert_refused(message, simulate_many, **arguments)


def test_a_case_as_a_run():
    """With its reactions and energies, by name or built by a function; also of folders and after pickling."""
    times = np.linspace(0.0, 0.2, 5)
    many = simulate_many(models.foot.build("modified"), {"mass.toes": [0.2, 0.3]}, 0.2, t_eval=times)
    run = many[1]
    assert run.system.body("toes").mass == 0.3 and run.success
    assert run.r["toes"] == pytest.approx(many.r["toes"][1], abs=1e-10) and run.lam["ankle"].shape == (5, 4)
    for of_cases, of_run in ((many.r, run.r), (many.p, run.p), (many.v, run.v), (many.omega, run.omega)):
        assert list(of_cases) == list(of_run)
        assert of_cases["toes"][1] == pytest.approx(of_run["toes"], abs=1e-8) == of_cases("toes")[1]
    assert many[-1].t.tolist() == times.tolist() and len(list(many)) == 2
    again = pickle.loads(pickle.dumps(many))
    assert again[0].r["toes"] == pytest.approx(many.r["toes"][0], abs=1e-10)
    built = simulate_many(models.foot.build, {"link_length": [0.04, 0.05]}, 0.2, t_eval=times)
    assert built[1].system.joint("ankle").values["l"] == 0.05
    with pytest.raises(IndexError, match="there is no case 2; the cases are 0 to 1"):
        many[2]
    assert_refused("holds no system, since it was read from a folder", lambda: pickle.loads(pickle.dumps(built))[0])


def test_coordinates_of_a_driven_mechanism_are_kept_or_refused():
    """They are set after the assembly at the start, which moves other joints as their drivers want."""
    b = Builder("driven")
    b.body("upper", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0, 0, -0.5))
    b.body("lower", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0, 0, -1.5))
    for name, bodies, height in (("hip", ("ground", "upper"), 0.0), ("knee", ("upper", "lower"), -1.0)):
        b.joint(name, "revolute", *bodies, axes="global", point=(0, 0, height), axis=(0, 1, 0))
    swing = Signal.function(lambda t: np.sin(2.0 * t), 0.0, 2.0)
    axes = dict(a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0))
    b.driver("swing", "guided_angle", "ground", "upper", **axes, theta_t=swing)
    system = b.build(project_velocities=True)
    given = dict(t_start=0.5, t_eval=[0.5, 0.6], assemble=True)
    for coordinates in ("joint", "absolute"):
        run = simulate_many(system, {"rate.knee.angle": [1.0]}, 0.6, coordinates=coordinates, **given)[0]
        assert run.angles["knee"].rates["angle"][0] == pytest.approx(1.0, abs=1e-9)
        assert abs(run.angles["hip"].angle[0]) == pytest.approx(np.sin(1.0), abs=1e-9)
    refused = simulate_many(system, {"angle.hip.angle": [0.1]}, 0.6, assemble=True)
    assert refused.status[0] == Status.REFUSED
    assert "violates swing.angle" in refused.messages[0] and "that drivers move" in refused.messages[0]
