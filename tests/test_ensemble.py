"""Ensembles: every case as ``simulate`` would run it, whoever runs it, once, and kept through kills."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import codegen
import models
import runtime.whole
from runtime import Builder, ModelError, Signal, read_ensemble, simulate, simulate_many
from runtime.ensemble_chunks import NOT_RUN, REFUSED
from runtime.lanes import LANES
from runtime.methods import SINGULAR_CONFIGURATION, STEP_TOO_SMALL
from runtime.simulate import STEPS_USED_UP
from tests.test_integrators import parallelogram, turning

ROOT = Path(__file__).parent.parent
SETTINGS = dict(rtol=1e-9, atol=1e-9)
GRID = np.linspace(0.0, 0.5, 11)


@cache
def thrown(count, seed=0):
    """Velocities of the foot that its joints allow, by case."""
    system, rng = models.foot.build(), np.random.default_rng(seed)
    found = [
        system.assemble(system.state.replace(omega={"main_foot": rng.normal(size=3)}), project_velocities=True)
        for _ in range(count)
    ]
    return {
        f"{part}.{body}": np.array([getattr(state, part)[body] for state in found])
        for part in ("v", "omega")
        for body in ("main_foot", "toes")
    }


def alone(system, cases, number, t_end, **settings):
    """The run of one case by ``simulate``."""
    state = system.state
    for name, values in cases.items():
        part, _, body = name.partition(".")
        state = state.replace(**{part: {body: values[number]}})
    return simulate(system, t_end, initial=state, **settings)


# --- the same answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [None, GRID, [0.123, 0.5]])
def test_side_by_side_is_as_alone(times):
    system, count = models.foot.build(), 2 * LANES + 5  # the last lanes have no case in the end
    cases = thrown(count)
    found = simulate_many(system, cases, 0.5, t_eval=times, **SETTINGS)
    assert found.success and len(found) == count and found.messages == {}
    assert found.t == pytest.approx([0.5] if times is None else times)
    for number in range(0, count, 4):
        run = alone(system, cases, number, 0.5, t_eval=found.t, **SETTINGS)
        exact = alone(system, cases, number, 0.5, t_eval=found.t, rtol=1e-13, atol=1e-13)
        states = found.states([number])[0].reshape(len(found.t), -1)
        # Both take the same steps; sums in another order differ by rounding, which the control of steps makes visible.
        assert abs(found.steps[number] - run.stats.steps) <= 1
        assert np.abs(states - exact.states).max() <= 1.5 * np.abs(run.states - exact.states).max() + 1e-12
        assert np.abs(states - run.states).max() < 1e-11


def test_order_of_the_lanes_method():
    # Steps of a given length: the error falls with their eighth power.
    system, cases = models.foot.build(), thrown(3)
    exact = [alone(system, cases, n, 0.5, t_eval=[0.5], rtol=1e-13, atol=1e-13).states[0] for n in range(3)]
    errors = []
    for steps in (8, 12, 16):
        loose = dict(rtol=1e3, atol=1e3, max_step=0.5 / steps, first_step=0.5 / steps)
        found = simulate_many(system, cases, 0.5, **loose)
        assert (found.steps == steps).all()
        errors.append(np.abs(found.states()[:, 0].reshape(3, -1) - exact).max())
    slope = np.polyfit(np.log([8, 12, 16]), np.log(errors), 1)[0]
    assert -slope == pytest.approx(8.0, abs=0.5)


def test_a_case_does_not_depend_on_the_others():
    system, cases = models.foot.build(), thrown(40)
    reference = simulate_many(system, cases, 0.4, t_eval=[0.2, 0.4], workers=1, **SETTINGS)
    backwards = {name: values[::-1] for name, values in cases.items()}
    for found in (
        simulate_many(system, cases, 0.4, t_eval=[0.2, 0.4], workers=2, chunk=7, **SETTINGS),
        simulate_many(system, cases, 0.4, t_eval=[0.2, 0.4], workers=5, chunk=1, **SETTINGS),
    ):
        assert np.array_equal(found.states(), reference.states()) and np.array_equal(found.counts, reference.counts)
    found = simulate_many(system, backwards, 0.4, t_eval=[0.2, 0.4], chunk=11, **SETTINGS)
    assert np.array_equal(found.states()[::-1], reference.states())


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_systems_with_limits_run_as_simulate_does(method):
    system, cases = models.foot.build(limits="dissipative"), {k: v[:3] for k, v in thrown(5).items()}
    found = simulate_many(system, cases, 0.3, t_eval=[0.1, 0.3], method=method, rtol=1e-8, atol=1e-8)
    for number in range(3):
        run = alone(system, cases, number, 0.3, t_eval=[0.1, 0.3], method=method, rtol=1e-8, atol=1e-8)
        assert np.array_equal(found.states([number])[0].reshape(2, -1), run.states)
        assert found.evaluations[number] == run.stats.evaluations


def test_parameters_build_a_system_for_each_case():
    lengths = np.linspace(0.03, 0.06, 20)
    found = simulate_many(models.foot.build, {"link_length": lengths}, 0.5, **SETTINGS)
    assert found.success
    for number in (0, 7, 19):
        run = simulate(models.foot.build(link_length=lengths[number]), 0.5, t_eval=[0.5], **SETTINGS)
        assert np.abs(found.states()[number].ravel() - run.states.ravel()).max() < 1e-11
    assert np.ptp(found.r("main_foot")[:, 0, 2]) > 1e-3
    data = found.to_xarray()
    assert data.case_link_length.values == pytest.approx(lengths) and data.sizes["case"] == 20
    part = found.to_xarray([3, 4])
    assert part.case_link_length.values == pytest.approx(lengths[3:5])
    assert np.array_equal(part.r.sel(body="toes").values, found.r("toes")[3:5])


def test_names_and_vectors_are_parameters_too():
    cases = {"ankle": ["classical", "modified"], "gravity": [(0.0, 0.0, -9.81), (0.0, 0.0, -1.62)]}
    found = simulate_many(models.foot.build, cases, 0.2, **SETTINGS)
    for number, (ankle, gravity) in enumerate(zip(*cases.values(), strict=True)):
        run = simulate(models.foot.build(ankle, gravity=gravity), 0.2, t_eval=[0.2], **SETTINGS)
        assert np.abs(found.states()[number].ravel() - run.states.ravel()).max() < 1e-11


# --- what goes wrong with a case --------------------------------------------------------------------------------------


def test_a_singular_configuration_is_named_as_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(runtime.whole, "compiled_folder", lambda: tmp_path)
    # A parallelogram lies flat when its crank has turned to 180 degrees: only the fast one comes there.
    system, speeds = parallelogram(1.0), np.array([0.5, 2.0, 1.0])
    codegen.compile_model(system)
    states = [turning(system, 1.0, speed) for speed in speeds]
    cases = {
        f"{part}.{body}": np.array([getattr(state, part)[body] for state in states])
        for part in ("v", "omega")
        for body in system.body_names
    }
    found = simulate_many(system, cases, 1.5, t_eval=[0.5, 1.5])
    assert found.status.tolist() == [0, SINGULAR_CONFIGURATION, 0]
    run = simulate(system, 1.5, initial=states[1], t_eval=[0.5, 1.5])
    assert found.messages == {1: run.message} and "row" in run.message
    assert found.reached[1] <= (np.pi - 1.0) / speeds[1]
    assert np.array_equal(found.states()[1].reshape(2, -1)[: len(run.t)], run.states)
    assert np.isfinite(found.states()[1, 0]).all() and np.isnan(found.states()[1, 1]).all()


def test_a_case_that_comes_close_to_a_singular_pose_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(runtime.whole, "compiled_folder", lambda: tmp_path)
    system = parallelogram(1.0)  # which lies flat when its crank has turned to 180 degrees
    codegen.compile_model(system)
    states = [turning(system, 1.0, (end - 1.0) / 1.5) for end in (2.0, np.pi - 0.001, 2.5)]
    cases = {
        f"{part}.{body}": np.array([getattr(state, part)[body] for state in states])
        for part in ("v", "omega")
        for body in system.body_names
    }
    found = simulate_many(system, cases, 1.5)
    assert found.success and found.in_lanes.tolist() == [True, False, True] and list(found.messages) == [1]
    run = simulate(system, 1.5, initial=states[1], t_eval=[1.5])
    assert found.messages[1] == run.message and "passed close to a singular configuration" in run.message


def test_a_case_that_fails_stops_no_other_and_says_why():
    system, cases = models.foot.build(), {name: values[:20].copy() for name, values in thrown(40).items()}
    cases["v.toes"][3] += 0.1
    found = simulate_many(system, cases, 0.2, **SETTINGS)
    assert found.status[3] == REFUSED and np.isnan(found.states()[3]).all() and np.isnan(found.reached[3])
    assert list(found.messages) == [3]
    assert "inconsistent initial velocities" in found.messages[3] and "metatarsophalangeal" in found.messages[3]
    good = np.arange(20) != 3
    assert (found.status[good] == 0).all() and np.isfinite(found.states()[good]).all() and not found.success


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_case_that_takes_too_many_steps_is_given_up(method):
    system, settings = models.foot.build(), dict(method=method, t_eval=GRID, rtol=1e-7, atol=1e-7)
    cases = {name: values[:3].copy() for name, values in thrown(40).items()}
    for values in cases.values():
        values[1] *= 200.0
    most = int(simulate_many(system, cases, 0.5, **settings).steps[[0, 2]].max())
    found = simulate_many(system, cases, 0.5, max_steps=most, **settings)
    assert found.status.tolist() == [0, STEPS_USED_UP, 0] and found.steps[1] == most
    assert found.messages[1].startswith(f"used up max_steps = {most} at t = 0.") and 0.0 < found.reached[1] < 0.5
    run = alone(system, cases, 1, 0.5, max_steps=most, **settings)
    assert run.status == STEPS_USED_UP and np.array_equal(run.states, found.states()[1].reshape(11, -1)[: len(run.t)])
    assert np.isnan(found.states()[1, len(run.t) :]).all()


def test_a_case_too_fast_for_the_rounding_of_time_is_given_up():
    system = models.free_body.build()
    (body,) = system.body_names
    found = simulate_many(system, {f"omega.{body}": [(1e20, 1.0, 1.0), (0.1, 0.2, 0.3)]}, 1.0, **SETTINGS)
    assert found.status.tolist() == [STEP_TOO_SMALL, 0] and "step fell below the rounding of time" in found.messages[0]


def test_a_driven_system_is_assembled_at_the_time_of_the_start():
    x = Signal.function(lambda t: 0.1 * np.sin(3.0 * t), 0.0, 2.0)
    b = Builder("driven")
    b.body("bob", mass=1.0, inertia=(0.01, 0.02, 0.03))
    b.driver("way", "guided_point", "bob", s_i=(0, 0, 0), x_t=x, y_t=0.0, z_t=0.0)
    system, omega = b.build(), [(0.1, 0.2, 0.3), (1.0, 0.0, 0.0)]
    found = simulate_many(system, {"omega.bob": omega}, 1.0, t_start=0.5, t_eval=[0.5], assemble=True)
    assert found.success and np.abs(found.r("bob")[:, 0] - (0.1 * np.sin(1.5), 0.0, 0.0)).max() < 1e-9
    assert np.abs(found.omega("bob")[:, 0] - omega).max() < 1e-12


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


def test_bodies_that_are_others_are_a_case_refused():
    found = simulate_many(
        lambda swap: bodies_in_order("ca" if swap else "ac"), {"swap": [False, True]}, 0.1, **SETTINGS
    )
    assert found.status.tolist() == [0, REFUSED] and found.r("a")[0, 0, 0] == ord("a")
    assert found.messages[1] == "the bodies of this case are c, a, those of the others a, c; give all the same"


def test_what_a_function_raises_is_a_case_refused():
    found = simulate_many(bodies_in_order, {"mass": [6.0, 1.0, 4.5]}, 0.1, **SETTINGS)
    assert found.status.tolist() == [REFUSED, 0, REFUSED]
    assert found.messages[0] == f"{__name__}.bodies_in_order failed: ValueError: too heavy"
    assert found.messages[2] == f"{__name__}.bodies_in_order gave None; give a function that builds a System"


@pytest.mark.parametrize("kept", [False, True])
def test_chunks_of_refused_cases_hide_no_others(kept, tmp_path):
    cases = {"link_length": [-1.0, -2.0, 0.03, 0.04]}
    found = simulate_many(models.foot.build, cases, 0.1, chunk=2, out=tmp_path if kept else None, **SETTINGS)
    assert found.status.tolist() == [REFUSED, REFUSED, 0, 0]
    assert np.isnan(found.states()[:2]).all() and np.isfinite(found.states()[2:]).all()
    assert np.isfinite(found.r("toes")[2:]).all()


def test_none_is_a_value_among_names(tmp_path):
    cases = {"limits": [None, "elastic", None]}
    found = simulate_many(models.foot.build, cases, 0.2, out=tmp_path, **SETTINGS)
    for one in (found, read_ensemble(tmp_path)):
        assert one.success and one.cases["limits"].tolist() == [None, "elastic", None]
        assert one.in_lanes.tolist() == [True, False, True]
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


def test_a_system_that_cannot_be_built_is_a_case_refused():
    found = simulate_many(models.foot.build, {"link_length": [0.04, -1.0, 0.05]}, 0.1, **SETTINGS)
    assert found.status.tolist() == [0, REFUSED, 0]
    assert found.messages[1] == "link_length = -1 m must be a finite length, not below 0 m"


def test_states_are_moved_onto_the_constraints_if_asked():
    system = models.foot.build()
    omega = np.random.default_rng(1).normal(size=(5, 3))
    assert (simulate_many(system, {"omega.main_foot": omega}, 0.1, **SETTINGS).status == REFUSED).all()
    found = simulate_many(system, {"omega.main_foot": omega}, 0.1, assemble=True, **SETTINGS)
    assert found.success
    state = system.assemble(system.state.replace(omega={"main_foot": omega[2]}))
    run = simulate(system, 0.1, initial=state, t_eval=[0.1], **SETTINGS)
    assert np.abs(found.states()[2].ravel() - run.states.ravel()).max() < 1e-12


BAD = {
    "no cases": (dict(cases={}), "a row for each case"),
    "different lengths": (dict(cases={"v.toes": np.zeros((2, 3)), "v.leg": np.zeros((3, 3))}), "'v.toes' 2, 'v.leg' 3"),
    "no rows": (dict(cases={"v.toes": np.zeros((0, 3))}), "differ or are 0"),
    "one value": (dict(cases={"v.toes": 1.0}), "'v.toes' = array(1.) is one value"),
    "unknown body": (dict(cases={"v.hand": np.zeros((2, 3))}), "hand"),
    "unknown part": (
        dict(cases={"a.toes": np.zeros((2, 3))}),
        "has no number 'a.toes'; use r, p, v, omega of a body, or of gravity",
    ),
    "no part": (dict(cases={"link_length": [0.1]}), "has no number 'link_length'"),
    "wrong shape": (dict(cases={"v.toes": np.zeros((2, 2))}), "give 3 numbers for each case"),
    "not finite": (dict(cases={"v.toes": np.full((2, 3), np.nan)}), "'v.toes' of case 0 is not finite"),
    "objects": (dict(cases={"v.toes": [object(), object()]}), "give numbers, names or None"),
    "no system": (dict(system="foot"), "neither a System nor a function"),
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
    with pytest.raises(ModelError) as error:
        simulate_many(**arguments)
    assert message in str(error.value)


# --- kept, and taken up again -----------------------------------------------------------------------------------------


def test_a_folder_holds_what_memory_would(tmp_path):
    system, cases = models.foot.build(), thrown(40)
    reference = simulate_many(system, cases, 0.3, t_eval=GRID[:7], **SETTINGS)
    found = simulate_many(system, cases, 0.3, t_eval=GRID[:7], out=tmp_path / "many", chunk=9, **SETTINGS)
    read = read_ensemble(tmp_path / "many")
    for one in (found, read):
        assert np.array_equal(one.states(), reference.states()) and np.array_equal(one.status, reference.status)
        assert np.array_equal(one.states(slice(5, 12)), reference.states()[5:12])
        assert np.array_equal(one.cases["omega.toes"], cases["omega.toes"]) and one.t == pytest.approx(GRID[:7])
    files = {f: f.stat().st_mtime_ns for f in (tmp_path / "many" / "chunks").iterdir()}
    assert len(files) == 5
    simulate_many(system, cases, 0.3, t_eval=GRID[:7], out=tmp_path / "many", chunk=9, **SETTINGS)
    assert files == {f: f.stat().st_mtime_ns for f in (tmp_path / "many" / "chunks").iterdir()}


def test_an_interrupted_ensemble_goes_on(tmp_path):
    system, cases = models.foot.build(), thrown(40)

    def stop(done, count):
        if done >= 10:
            raise KeyboardInterrupt

    first = simulate_many(system, cases, 0.3, out=tmp_path, chunk=5, progress=stop, **SETTINGS)
    count = int((first.status == 0).sum())
    assert 10 <= count < 40 and (first.status[first.status != 0] == NOT_RUN).all()
    assert np.isfinite(first.states()[first.status == 0]).all() and np.isnan(first.states()[first.status != 0]).all()
    told = []
    again = simulate_many(
        system, cases, 0.3, out=tmp_path, chunk=5, progress=lambda done, n: told.append((done, n)), **SETTINGS
    )
    assert again.success and told[-1] == (40, 40) and told[0][0] > count
    assert np.array_equal(again.states(), simulate_many(system, cases, 0.3, **SETTINGS).states())


PROGRAM = """
import sys, numpy as np, models, runtime
cases = dict(np.load(sys.argv[2]))
runtime.simulate_many(
    models.foot.build(), cases, 2.0, rtol=1e-11, atol=1e-11, out=sys.argv[1], chunk=16, workers=2,
    progress=lambda done, count: print(done, flush=True),
)
"""


def test_killed_ten_times_every_case_is_run_once(tmp_path):
    names = thrown(40)
    cases = {name: np.repeat(values, 30, axis=0) for name, values in names.items()}
    np.savez(tmp_path / "cases.npz", **cases)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "many"), str(tmp_path / "cases.npz")]
    rng, seen, kills = random.Random(5), {}, 0
    for _ in range(200):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        if kills % 3 == 1:
            time.sleep(rng.random() * 0.8)  # while it starts, perhaps
        else:
            for _ in range(rng.randint(1, 5)):  # chunks that it may finish
                if not process.stdout.readline():
                    break
            time.sleep(rng.random() * 5e-3)
        if kills < 10:
            process.kill()
            kills += process.wait() == -signal.SIGKILL
        else:
            process.communicate()
        process.stdout.close()
        for file in (tmp_path / "many" / "chunks").glob("*.npz"):
            content = file.stat().st_mtime_ns
            assert seen.setdefault(file.name, content) == content, "a finished chunk was written again"
        if process.returncode == 0:
            break
    assert kills == 10
    found = read_ensemble(tmp_path / "many")
    assert found.success and len(found) == 1200 and len(seen) == 75
    reference = simulate_many(models.foot.build(), cases, 2.0, rtol=1e-11, atol=1e-11)
    assert np.array_equal(found.states(), reference.states())


def test_a_folder_keeps_its_own_chunks(tmp_path):
    system, cases = models.foot.build(), {name: values[:20] for name, values in thrown(40).items()}

    def stop(done, count):
        if done >= 8:
            raise KeyboardInterrupt

    first = simulate_many(system, cases, 0.2, out=tmp_path, chunk=4, workers=1, progress=stop, **SETTINGS)
    assert 8 <= (first.status == 0).sum() < 20
    told = []
    again = simulate_many(
        system, cases, 0.2, out=tmp_path, chunk=7, progress=lambda done, n: told.append(done), **SETTINGS
    )
    assert again.success and told[-1] == 20 and len(list((tmp_path / "chunks").iterdir())) == 5
    assert np.array_equal(again.states(), simulate_many(system, cases, 0.2, **SETTINGS).states())


INTERRUPTED = """
import sys, numpy as np, models, runtime
build = models.foot.build if sys.argv[2] == "alone" else models.foot.build()
cases = {"link_length": np.linspace(0.03, 0.05, 600)} if callable(build) else {"v.toes": np.zeros((2000, 3))}
if sys.argv[2] == "alone":
    cases["limits"] = ["elastic"] * 600
found = runtime.simulate_many(
    build, cases, 30.0, out=sys.argv[1], workers=2, progress=lambda done, count: print(done, flush=True)
)
print((found.status == 0).sum(), (found.status == -21).sum())
"""


@pytest.mark.parametrize("way", ["alone", "lanes"])
def test_ctrl_c_ends_it_soon_and_keeps_what_is_finished(way, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "many"), way]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()  # one chunk is finished, others are under way
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and time.monotonic() - begin < 20.0  # s, of a run of minutes
    finished, left = map(int, told.split("\n")[-2].split())
    assert finished > 0 and left > 0
    assert (read_ensemble(tmp_path / "many").status == 0).sum() == finished


def test_damaged_chunks_are_told_and_run_again(tmp_path):
    system, cases = models.foot.build(), {name: values[:12] for name, values in thrown(40).items()}
    reference = simulate_many(system, cases, 0.1, out=tmp_path, chunk=3, **SETTINGS)
    files = sorted((tmp_path / "chunks").iterdir())
    files[0].write_bytes(files[0].read_bytes()[:200])
    files[1].write_bytes(b"")
    content = bytearray(files[2].read_bytes())
    content[len(content) // 3] ^= 1  # among the states
    files[2].write_bytes(content)
    files[3].write_bytes((tmp_path / "chunks" / "000000009.npz").read_bytes())
    with pytest.raises(ModelError, match=r"000000000.npz is damaged .* call simulate_many again"):
        read_ensemble(tmp_path)
    with pytest.warns(UserWarning, match="its cases are run again") as told:
        again = simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS)
    assert len(told) == 3 and again.success and np.array_equal(again.states(), reference.states())
    assert len(list((tmp_path / "chunks").glob("*.damaged"))) == 3
    files[0].write_bytes(files[1].read_bytes())
    with pytest.raises(ModelError, match=r"000000000.npz holds other cases"):
        read_ensemble(tmp_path)
    files[0].unlink()
    (tmp_path / "chunks" / "000000001.npz").write_bytes(b"")
    with pytest.raises(ModelError, match=r"000000001.npz is no chunk of this ensemble"):
        read_ensemble(tmp_path)


def test_damaged_descriptions_are_told(tmp_path):
    system, cases = models.foot.build(), {name: values[:2] for name, values in thrown(40).items()}
    simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS)
    (tmp_path / "cases.npz").write_bytes(b"")
    with pytest.raises(ModelError, match=r"cases.npz is damaged .* call simulate_many again"):
        read_ensemble(tmp_path)
    assert simulate_many(system, cases, 0.1, out=tmp_path, **SETTINGS).success
    assert np.array_equal(read_ensemble(tmp_path).cases["v.toes"], cases["v.toes"])
    content = (tmp_path / "ensemble.json").read_text(encoding="utf-8")
    (tmp_path / "ensemble.json").write_text(content.replace('"format": 2', '"format": 1'), encoding="utf-8")
    with pytest.raises(ModelError, match="has the format 1, this version reads 2"):
        read_ensemble(tmp_path)
    (tmp_path / "ensemble.json").write_text(content[:50], encoding="utf-8")
    with pytest.raises(ModelError, match=r"ensemble.json cannot be read"):
        read_ensemble(tmp_path)


def test_another_function_or_code_is_refused(tmp_path):
    factor, cases = 1.0, {"x": [0.03, 0.04]}

    def build(x):
        return models.foot.build(link_length=x * (factor if x > 0.035 else 1.0))

    simulate_many(build, cases, 0.1, out=tmp_path, chunk=1, **SETTINGS)
    assert simulate_many(build, cases, 0.1, out=tmp_path, **SETTINGS).success
    factor = 1.1
    with pytest.raises(ModelError, match="its system differs"):
        simulate_many(build, cases, 0.1, out=tmp_path, **SETTINGS)
    factor = 1.0
    global HIDDEN
    HIDDEN = 1.0
    simulate_many(hidden, cases, 0.1, out=tmp_path / "hidden", chunk=1, **SETTINGS)
    HIDDEN = 1.1
    with pytest.raises(ModelError, match="its system differs for case 1"):
        simulate_many(hidden, cases, 0.1, out=tmp_path / "hidden", **SETTINGS)
    told = json.loads((tmp_path / "ensemble.json").read_text(encoding="utf-8"))
    told["code"] = "of another version"
    (tmp_path / "ensemble.json").write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ModelError, match="its code is 'of another version'"):
        simulate_many(build, cases, 0.1, out=tmp_path, **SETTINGS)


def hidden(x):
    """A function that hangs on a name that its text does not define."""
    return models.foot.build(link_length=x * (HIDDEN if x > 0.035 else 1.0))


def test_another_ensemble_is_refused(tmp_path):
    system, cases = models.foot.build(), {name: values[:4] for name, values in thrown(5).items()}
    simulate_many(system, cases, 0.1, out=tmp_path / "many", **SETTINGS)
    for changes, message in (
        (dict(rtol=1e-8), "its rtol is 1e-09, not 1e-08"),
        (dict(cases={name: 1.0001 * values for name, values in cases.items()}), "its cases differ"),
        (dict(system=models.foot.build(link_length=0.05)), "its system differs"),
        (dict(t_eval=[0.05, 0.1]), "its t is"),
        (dict(assemble=True), "its assemble is False, not True"),
        (dict(max_steps=3), "its max_steps is"),
    ):
        arguments = (
            dict(system=system, cases=cases, t_end=0.1, out=tmp_path / "many", assemble=False) | SETTINGS | changes
        )
        with pytest.raises(ModelError, match=r"holds another ensemble") as error:
            simulate_many(**arguments)
        assert message in str(error.value)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ModelError, match="holds other files"):
        simulate_many(system, cases, 0.1, out=tmp_path / "other", **SETTINGS)
    with pytest.raises(ModelError, match="holds no ensemble"):
        read_ensemble(tmp_path / "other")


def test_a_call_that_was_killed_before_it_began_is_begun_again(tmp_path):
    (tmp_path / "many" / "chunks").mkdir(parents=True)
    (tmp_path / "many" / "cases.npz").write_bytes(b"half")
    (tmp_path / "many" / "ensemble.json.part").write_bytes(b"{")
    cases = {name: values[:4] for name, values in thrown(5).items()}
    assert simulate_many(models.foot.build(), cases, 0.1, out=tmp_path / "many", **SETTINGS).success
    assert np.array_equal(read_ensemble(tmp_path / "many").cases["v.toes"], cases["v.toes"])


def test_two_writers_are_refused(tmp_path):
    system, cases = models.foot.build(), {name: values[:4] for name, values in thrown(5).items()}

    def write_too(done, count):
        with pytest.raises(ModelError, match="being written by another process"):
            simulate_many(system, cases, 0.1, out=tmp_path, chunk=1, **SETTINGS)

    assert simulate_many(system, cases, 0.1, out=tmp_path, chunk=1, progress=write_too, **SETTINGS).success


def test_a_folder_tells_what_was_run(tmp_path):
    simulate_many(models.foot.build, {"link_length": [0.04, 0.05]}, 0.1, out=tmp_path, **SETTINGS)
    told = json.loads((tmp_path / "ensemble.json").read_text(encoding="utf-8"))
    assert told["count"] == 2 and told["settings"]["rtol"] == 1e-9 and told["bodies"] == ["toes", "main_foot", "leg"]


class Plain:
    """What is printed with its place in memory."""


PLAIN = Plain()


def with_defaults(x, what=PLAIN, other=simulate, names=frozenset(("a", "b", "c"))):
    """A function whose defaults are told apart by no number."""
    return models.foot.build(link_length=x)


AGAIN = """
import functools, sys, tests.test_ensemble as t
from runtime import simulate_many
print(simulate_many(functools.partial(t.with_defaults, what=t.Plain()), {"x": [0.04, 0.05]}, 0.1, out=sys.argv[1]).success)
"""


def test_objects_among_defaults_are_the_same_in_another_process(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for seed in "12":
        command = [sys.executable, "-c", AGAIN, str(tmp_path / "many")]
        done = subprocess.run(
            command, env=environment | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False
        )
        assert done.stdout == "True\n", done.stderr


RACE = """
import sys, time, numpy as np, models, runtime
first, start = float(sys.argv[2]), float(sys.argv[3])
system, cases = models.foot.build(), {"mass.toes": np.linspace(first, first + 0.1, 20000)}
time.sleep(max(0.0, start - time.time()))
try:
    found = runtime.simulate_many(system, cases, 1e-6, out=sys.argv[1], max_steps=1, chunk=20000)
    print(found.cases["mass.toes"][0] == first)
except runtime.ModelError as error:
    print(error)
"""


def test_two_that_begin_together_do_not_take_each_others_cases(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = str(time.time() + 5.0)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path / "many"), first, start], env=environment,
            stdout=subprocess.PIPE, text=True,
        )
        for first in ("0.2", "0.3")
    ]  # fmt: skip
    told = [process.communicate(timeout=120)[0] for process in processes]
    good = [text == "True\n" for text in told]
    assert sum(good) == 1, told
    assert "another process" in told[1 - good.index(True)] or "holds another ensemble" in told[1 - good.index(True)]
    assert read_ensemble(tmp_path / "many").cases["mass.toes"][0] == (0.2, 0.3)[good.index(True)]


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runtime.ensemble_folder.os.fsync", full)
    with pytest.raises(ModelError, match=r"could not be written \(No space left on device\); make room"):
        simulate_many(models.foot.build(), thrown(40), 0.1, out=tmp_path, **SETTINGS)
    assert not list(tmp_path.glob("*.part"))
    monkeypatch.undo()
    assert simulate_many(models.foot.build(), thrown(40), 0.1, out=tmp_path, **SETTINGS).success


# --- engines ----------------------------------------------------------------------------------------------------------


class Counting(ThreadPoolExecutor):
    """Threads that count what is under way."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.now = self.most = self.all = 0

    def submit(self, *arguments, **keywords):
        self.now, self.all = self.now + 1, self.all + 1
        self.most = max(self.most, self.now)
        future = super().submit(*arguments, **keywords)
        future.add_done_callback(lambda _: setattr(self, "now", self.now - 1))
        return future


def test_few_chunks_are_under_way():
    cases = thrown(40)
    with Counting(1) as engine:
        found = simulate_many(models.foot.build(), cases, 0.1, engine=engine, workers=1, chunk=1, **SETTINGS)
        assert found.success and engine.most <= 3


def test_all_workers_have_something_to_do():
    with Counting(3) as engine:
        simulate_many(models.foot.build(), thrown(40), 0.1, engine=engine, **SETTINGS)
        assert engine.all == 3
    with Counting(3) as engine:
        simulate_many(models.foot.build, {"link_length": np.linspace(0.03, 0.05, 24)}, 0.1, engine=engine, **SETTINGS)
        assert engine.all == 12 and engine.most <= 6


def breaking(x):
    """A function that ends the process that calls it."""
    if x > 0.035 and multiprocessing.parent_process() is not None:
        os._exit(1)
    return models.foot.build(link_length=x)


class Failing(ThreadPoolExecutor):
    """Threads that take three chunks."""

    def submit(self, *arguments, **keywords):
        self.taken = getattr(self, "taken", 0) + 1
        if self.taken > 3:
            raise OSError("the net is gone")
        return super().submit(*arguments, **keywords)


def test_an_engine_that_takes_no_more_leaves_what_is_finished():
    with Failing(1) as engine:
        found = simulate_many(models.foot.build(), thrown(40), 0.1, engine=engine, chunk=4, **SETTINGS)
    assert (found.status[:12] == 0).all() and (found.status[12:] == NOT_RUN).all()
    assert all(found.messages[case] == "not run: OSError: the net is gone" for case in range(12, 40))


def test_an_engine_that_breaks_down_leaves_what_is_finished():
    with ProcessPoolExecutor(1) as engine:
        found = simulate_many(breaking, {"x": [0.03, 0.04, 0.03]}, 0.1, engine=engine, chunk=1, workers=1, **SETTINGS)
    assert found.status[:2].tolist() == [0, NOT_RUN] and not found.success
    assert found.messages[1].startswith("not run: BrokenProcessPool: ")
    with ProcessPoolExecutor(1) as engine, pytest.raises(ModelError, match="no case could be run; the first reason: "):
        simulate_many(lambda x: models.foot.build(link_length=x), {"x": [0.03]}, 0.1, engine=engine, **SETTINGS)


@pytest.mark.parametrize("build", [models.foot.build(), models.foot.build], ids=["system", "function"])
def test_processes(build):
    cases = {"link_length": np.linspace(0.03, 0.05, 6)} if callable(build) else thrown(40)
    with ProcessPoolExecutor(2) as engine:
        found = simulate_many(build, cases, 0.2, engine=engine, chunk=3, **SETTINGS)
    assert np.array_equal(found.states(), simulate_many(build, cases, 0.2, **SETTINGS).states())


def test_an_engine_whose_worker_is_killed_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    cases = {name: np.repeat(values, 5, axis=0) for name, values in thrown(40).items()}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        killed = []

        def kill_one(done, count):
            if not killed and done >= count / 3:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        system = models.foot.build()
        found = simulate_many(system, cases, 3.0, engine=client, chunk=4, out=tmp_path, progress=kill_one, **SETTINGS)
        assert killed and found.success
    assert np.array_equal(found.states(), simulate_many(system, cases, 3.0, **SETTINGS).states())


ON_GPU = """
import warnings, numpy as np, models, runtime
warnings.simplefilter("ignore")  # of the emulation
system, rng = models.foot.build(), np.random.default_rng(2)
cases = {"omega.main_foot": rng.normal(size=(3, 3))}
settings = dict(t_eval=[0.0, 0.013, 0.03], rtol=1e-7, atol=1e-7, assemble=True)
a, b = (runtime.simulate_many(system, cases, 0.03, engine=engine, **settings) for engine in ("gpu", None))
assert a.success and np.array_equal(a.counts, b.counts), (a.counts, b.counts)
assert np.abs(a.states() - b.states()).max() < 1e-13
try:
    runtime.simulate_many(models.foot.build(limits="elastic"), {"v.toes": np.zeros((1, 3))}, 0.01, engine="gpu")
except runtime.ModelError as error:
    print(error)
"""


def test_a_graphics_processor_runs_the_same_source():
    # Emulated thread by thread; what a device makes of it is told by the benchmark where there is one.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, "-c", ON_GPU], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cannot be run there" in done.stdout


def test_no_graphics_processor_is_told_in_a_sentence():
    from numba import cuda

    if cuda.is_available():
        pytest.skip("there is a graphics processor")
    with pytest.raises(ModelError, match=r"^engine='gpu': no CUDA device or driver was found; leave engine out"):
        simulate_many(models.foot.build(), thrown(40), 0.1, engine="gpu")
