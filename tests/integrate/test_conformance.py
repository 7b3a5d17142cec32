"""Systems, widths, coordinates and methods against motions known by another route, never one engine against another.

"With success a result is within 100 tolerances of the solution": states, energies, reactions and forces, each relative to the
largest value of its kind.
"""

import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import runtime
from runtime.results.outputs import quantities_of_runs, values_of
from tests.support.conformance import INITIAL, PROBLEMS, started
from tests.support.marks import quick_for
from tests.support.processes import environment

MEASURE = 100.0  # tolerances


def errors(found, exact, tolerance, sizes):
    """Name -> error in tolerances, for those above the measure."""
    off = {}
    for name, values in exact.items():
        error = np.abs(found[name] - values).max() / max(1.0, np.abs(values).max(), sizes.get(name, 0.0)) / tolerance
        if not error < MEASURE:  # NaN too
            off[name] = error
    return off


@cache
def exact_of(name, case):
    return PROBLEMS[name]().exact(case)


def in_coordinates(problem, coordinates):
    """Settings of joint or absolute coordinates, for cases."""
    return dict(coordinates=problem.joint if coordinates == "joint" else coordinates, assemble=problem.assemble)


def single(problem, case, coordinates="auto", **settings):
    """The run of a case by ``simulate``."""
    system, state = started(problem, case)
    settings["coordinates"] = in_coordinates(problem, coordinates)["coordinates"]
    run = runtime.simulate(system, problem.t[-1], t_eval=problem.t, initial=state, **settings)
    assert run.success and np.array_equal(run.t, problem.t) and "balance" not in run.message, run.message
    return run


def of_run(run, names):
    known = quantities_of_runs(run.system)
    return {name: values_of(run, known[name]) for name in names}


COMPILED = [("joint", "dop853", 1e-10), ("absolute", "dop853", 1e-10), ("absolute", "radau", 1e-8)]
QUICK = [
    "free_body", "pendulum", "foot", "foot_with_elastic_limits", "spring_damper", "bounce", "sliding_to_rest", "closed_loop",
    "driven_loop", "prescribed_load", "bead_on_a_rod", "wheel_beyond_a_limit", "motor", "rebound_flores",
    "rod_between_a_stop_and_a_plane", "pendulums", "maxwell",
]  # fmt: skip
REBOUNDS = {name for name in PROBLEMS if name.startswith("rebound")} - {*QUICK}  # of single runs: test_contacts_in_runs
ALL = [
    pytest.param(name, marks=pytest.mark.nightly if name in REBOUNDS else [] if name in QUICK else pytest.mark.slow)
    for name in PROBLEMS
]


@pytest.mark.parametrize(("coordinates", "method", "tolerance"), COMPILED)
@pytest.mark.parametrize("name", ALL)
def test_a_single_run(name, coordinates, method, tolerance):
    problem = PROBLEMS[name]()
    for case in problem.checked[-2:]:
        exact = exact_of(name, case)
        run = single(problem, case, coordinates=coordinates, method=method, rtol=tolerance, atol=tolerance)
        assert not errors(of_run(run, exact), exact, tolerance, problem.sizes), case


BY_SCIPY = [name for name in PROBLEMS if not name.startswith("rebound")]  # whose laws these methods refuse
BY_SCIPY_OFTEN = (
    "foot_with_elastic_limits",
    "maxwell",
    "closed_loop",
    "driven_loop",
    "motor",
    "sliding_to_rest",
    "own_law",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_for(BY_SCIPY, BY_SCIPY_OFTEN, pytest.mark.nightly))
def test_a_single_run_by_scipy(name):
    """Its steps do not end at kinks: a tenth of the tolerance."""
    problem = PROBLEMS[name]()
    case = problem.checked[-1]
    exact = exact_of(name, case)
    run = single(problem, case, method="DOP853", rtol=1e-10, atol=1e-10, max_step=0.01)
    assert not errors(of_run(run, exact), exact, 1e-9, problem.sizes)


# Closed loops and driven systems without a kernel, and trees of varied moments of inertia, which run one after another.
SERIAL = "double_pendulum", "shaken_pendulum", "driven_loop", "loops_of_a_function", "loop_between_a_stop_and_a_plane"


@pytest.mark.parametrize(("coordinates", "method", "tolerance"), COMPILED)
@pytest.mark.parametrize("name", ALL)
def test_seventeen_cases(name, coordinates, method, tolerance):
    problem = PROBLEMS[name]()
    exact = {case: exact_of(name, case) for case in problem.checked}
    names = list(exact[problem.checked[0]])
    settings = dict(
        t_eval=problem.t, method=method, rtol=tolerance, atol=tolerance, **in_coordinates(problem, coordinates)
    )
    many = runtime.simulate_many(problem.system, problem.cases, problem.t[-1], outputs=names, **settings)
    assert many.success, many.messages
    assert not many.messages
    assert many.vectorised.all() or coordinates == "absolute" or name in SERIAL
    for case, own in exact.items():
        assert not errors({name: many[name][case] for name in names}, own, tolerance, problem.sizes), case
    if method == "dop853":
        states = runtime.simulate_many(problem.system, problem.cases, problem.t[-1], **settings)
        for output in names:
            part, _, owner = output.partition(".")
            if part in INITIAL:
                assert np.array_equal(getattr(states, part)[owner], many[output])


@pytest.mark.parametrize(("coordinates", "method", "tolerance"), COMPILED)
def test_a_first_step_that_is_too_long_is_rejected(coordinates, method, tolerance):
    problem = PROBLEMS["free_body"]()
    case, settings = 0, dict(coordinates=coordinates, method=method, rtol=tolerance, atol=tolerance, first_step=2.0)
    exact = exact_of("free_body", case)
    run = single(problem, case, **settings)
    many = runtime.simulate_many(
        problem.system, problem.cases, problem.t[-1], t_eval=problem.t, outputs=list(exact), **settings
    )
    assert not errors(of_run(run, exact), exact, tolerance, {}) and run.stats.rejections > 0
    assert not errors({name: many[name][case] for name in exact}, exact, tolerance, {}) and (many.rejections > 0).all()
    assert many.vectorised.all() or coordinates == "absolute"


LOOSE = dict(rtol=1e-5, atol=1e-5)
BITS_OFTEN = "foot_with_elastic_limits", "bounce", "closed_loop", "maxwell"


@pytest.mark.parametrize("name", quick_for(PROBLEMS, BITS_OFTEN, pytest.mark.nightly))
def test_a_case_depends_on_no_other(name):
    """Nor on their order, the size of chunks and the number of workers: bit by bit."""
    problem = PROBLEMS[name]()
    settings = LOOSE | in_coordinates(problem, "joint")
    many = runtime.simulate_many(problem.system, problem.cases, problem.t[-1], workers=1, **settings)
    backwards = {key: np.asarray(own)[14:2:-1] for key, own in problem.cases.items()}
    some = runtime.simulate_many(problem.system, backwards, problem.t[-1], workers=2, chunk=5, **settings)
    assert np.array_equal(many.states()[14:2:-1], some.states())


WITH_STEPS = [
    "free_body", "foot", "foot_with_elastic_limits", "bounce", "friction_oscillator", "rod_between_a_stop_and_a_plane",
    "double_pendulum", "closed_loop",
]  # fmt: skip


@pytest.mark.parametrize("name", WITH_STEPS)
def test_cases_take_the_steps_of_single_runs(name):
    """But for rounding, which decides about a step where a change or a kink is met."""
    problem, settings = PROBLEMS[name](), dict(method="dop853", rtol=1e-9, atol=1e-9)
    many = runtime.simulate_many(
        problem.system, problem.cases, problem.t[-1], **settings | in_coordinates(problem, "joint")
    )
    for case in problem.checked:
        stats = single(problem, case, "joint", **settings).stats
        assert abs(many.steps[case] - stats.steps) <= 1 + 0.05 * stats.steps
        assert abs(many.rejections[case] - stats.rejections) <= 1 + 0.05 * stats.steps


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
@pytest.mark.parametrize(
    "name", ["pendulum", "foot_with_elastic_limits", "motor", "spring_damper", "maxwell", "closed_loop"]
)
def test_the_right_hand_side_in_a_method_of_scipy(name, coordinates):
    """With its Jacobian, and as a result that has reactions, energies and angles beyond half a turn."""
    problem, case = PROBLEMS[name](), 16
    exact, (system, state) = exact_of(name, case), started(problem, case)
    f, end = runtime.rhs(system, coordinates=coordinates), problem.t[-1]
    how = dict(jac=f.jacobian, rtol=1e-9, atol=1e-9, max_step=0.01)
    found = solve_ivp(f, (0.0, end), f.vector(state), "Radau", problem.t, **how)
    assert not errors(of_run(f.run(found.t, found.y.T), exact), exact, 1e-8, problem.sizes)


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_rows_of_loops_hold_to_rounding(coordinates):
    """However loose the tolerance is: ends of steps, and results, are projected."""
    problem = PROBLEMS["closed_loop"]()
    run = single(problem, 0, coordinates=coordinates, **LOOSE)
    assert run.violation.max() < 1e-13 and run.velocity_violation.max() < 1e-11


@pytest.mark.parametrize(
    "name", ["closed_loop", "loops_of_a_function", "loop_between_a_stop_and_a_plane", "shaken_pendulum"]
)
def test_rows_of_loops_hold_in_cases(name):
    problem = PROBLEMS[name]()
    outputs = ["violation", "velocity_violation"]
    many = runtime.simulate_many(
        problem.system, problem.cases, problem.t[-1], t_eval=problem.t, outputs=outputs, coordinates="joint", **LOOSE
    )
    assert many.success and many["violation"].max() < 1e-13 and many["velocity_violation"].max() < 1e-11
    assert many.vectorised.mean() > 0.8 or name in SERIAL


ON_DEVICE = """
import warnings
import numpy as np
import runtime
from tests.integrate.test_conformance import errors
from tests.support.conformance import PROBLEMS
warnings.simplefilter("ignore")  # of the emulation
for name, end in {ends}.items():
    problem = PROBLEMS[name]()
    case = problem.checked[-1]
    t = problem.t[problem.t <= end]
    exact = {{key: own[: len(t)] for key, own in problem.exact(case).items()}}
    cases = {{key: own[[case, 1]] for key, own in problem.cases.items()}}
    many = runtime.simulate_many(
        problem.system, cases, t[-1], t_eval=t, outputs=list(exact), rtol=1e-7, atol=1e-7, engine="gpu", workers=1
    )
    assert many.success and many.vectorised.all(), (name, many.messages)
    off = errors({{key: many[key][0] for key in exact}}, exact, 1e-7, problem.sizes)
    assert not off, (name, off)
"""
# [s] of the runs; each step takes some hundredths of a second there.
DEVICE = {
    "free_body": 1.0, "pendulum": 0.5, "foot": 0.1, "foot_with_elastic_limits": 0.1, "spring_damper": 0.5, "bounce": 0.11,
    "sliding_to_rest": 0.7, "closed_loop": 0.1, "prescribed_load": 1.0,
}  # fmt: skip


@pytest.mark.slow
def test_the_device_has_the_same_motions():
    """Emulated thread by thread."""
    command, more = [sys.executable, "-c", ON_DEVICE.format(ends=DEVICE)], environment(NUMBA_ENABLE_CUDASIM="1")
    done = subprocess.run(command, env=more, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
