"""Parameters found in simulated motions, with deviations and refusals."""

import pickle
import re

import numpy as np
import pytest

import models
import runtime
from runtime import ModelError, fit_parameters, simulate, simulate_many
from runtime.analysis.question import question_of
from tests.support.refusals import assert_refused
from tests.support.sensitivities import stopped

TIGHT = dict(rtol=1e-13, atol=1e-13)


def sprung(friction=0.0):
    """A pendulum with a spring and a damper about its pivot, and another damper."""
    b = runtime.Builder("sprung pendulum")
    b.body("bob", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0.5, 0, 0))
    b.joint("pivot", "revolute", "ground", "bob", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.5, 0, 0), a_j=(0, 1, 0))
    law = dict(stiffness=3.0, damping=0.2, free_angle=0.4)
    b.force("spring", "torsional_spring", "ground", "bob", a_i=(0, 1, 0), **law)
    b.force("oil", "rotational_damper", "ground", "bob", damping=friction)
    return b.build()


@pytest.mark.slow
def test_limits_are_found_in_a_motion():
    t = np.linspace(0.05, 0.8, 40)
    run = simulate(stopped(max_moment=23.0, latitude=33.0, damping=0.025), 0.8, t_eval=t, **TIGHT)
    given = {"max_moment": 20.0, "latitude": 35.0, "damping": 0.03}
    found = fit_parameters(stopped, given, t, {"r.bob": run.r["bob"]}, rtol=1e-10, atol=1e-10)
    assert found.success and found.residual < 1e-8
    assert found.values == pytest.approx({"max_moment": 23.0, "latitude": 33.0, "damping": 0.025}, rel=1e-6)


def test_a_fit_passes_over_parameters_that_make_no_system():
    t, refused = np.linspace(0.05, 0.8, 40), []
    run = simulate(stopped(damping=0.01), 0.8, t_eval=t, **TIGHT)

    def build(damping, mass):
        try:
            return stopped(damping=damping, mass=mass)
        except ModelError as error:
            refused.append(str(error))
            raise

    found = fit_parameters(build, {"damping": 0.3, "mass": 1.2}, t, {"r.bob": run.r["bob"]})
    assert found.values == pytest.approx({"damping": 0.01, "mass": 1.2}, rel=1e-8)
    assert "damping = -0.0466998 N m s, must not be below 0" in refused[0]


@pytest.mark.slow
def test_a_best_value_on_the_edge_of_what_is_admitted():
    """The search goes on with the other parameters, ends with success, and the message names the edge."""
    t, system = np.linspace(0.05, 0.8, 20), sprung(friction=0.01)
    true = {"damping.spring": 0.0, "damping.oil": 0.0, "mass.bob": 1.3}
    run = simulate(runtime.with_parameters(system, true), 0.8, t_eval=t, **TIGHT)
    found = fit_parameters(system, {"damping.spring": 0.1, "mass.bob": 1.0}, t, {"r.bob": run.r["bob"]})
    there = runtime.with_parameters(system, {"damping.spring": 0.0})
    mass = fit_parameters(there, {"mass.bob": 1.0}, t, {"r.bob": run.r["bob"]}).values["mass.bob"]
    assert found.success and 0.0 <= found.values["damping.spring"] < 1e-8
    assert found.values["mass.bob"] == pytest.approx(mass, rel=1e-6) and mass > 1.31
    assert dict(found.on_bounds) == {"damping.spring": 0.0}
    assert "ended where values beyond damping.spring = 0 are refused" in found.message
    run = simulate(runtime.with_parameters(system, {"damping.spring": 0.0, "damping.oil": 0.0}), 0.8, t_eval=t)
    found = fit_parameters(system, {"damping.spring": 1.0}, t, {"r.bob": run.r["bob"]})
    assert found.success and found.evaluations < 10 and found.values["damping.spring"] < 1e-8


@pytest.mark.slow
def test_parameters_are_found_in_a_motion():
    t = np.linspace(0.05, 1.0, 20)
    true = dict(link_length=0.045, omega=(0.3, -0.2, 0.1))
    system = models.foot.build(link_length=true["link_length"])
    state = runtime.assemble(system, system.state.replace(omega={"main_foot": true["omega"]}))
    run = simulate(system, 1.0, t_eval=t, initial=state, **TIGHT)
    data = {"r.main_foot": run.r["main_foot"].copy(), "omega.toes": run.omega["toes"].copy()}
    data["r.main_foot"][3:5] = np.nan
    given = {"link_length": 0.0417, "omega.main_foot": state.omega["main_foot"] + 0.05}
    found = fit_parameters(models.foot.build, given, t, data)
    assert found.success and found.residual < 1e-9 and found.evaluations < 30
    assert found.values["link_length"] == pytest.approx(0.045, abs=1e-9)
    # Of three numbers of the angular velocity the joints allow two: the motion is found, not each number.
    assert np.abs(found.sensitivities.states - run.states).max() < 1e-7


@pytest.mark.slow
def test_the_deviation_measures_the_noise():
    t, noise = np.linspace(0.02, 1.0, 200), 1e-4
    run = simulate(models.foot.build(link_length=0.045), 1.0, t_eval=t, **TIGHT)
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(3):
        data = {"r.main_foot": run.r["main_foot"] + noise * rng.normal(size=(200, 3))}
        found = fit_parameters(models.foot.build, {"link_length": 0.04}, t, data, sigma={"r.main_foot": noise})
        errors.append((found.values["link_length"] - 0.045) / found.deviation["link_length"])
        assert found.residual == pytest.approx(1.0, abs=0.1)
    assert np.abs(errors).max() < 4.0 and np.abs(errors).max() > 0.1


T = np.linspace(0.02, 1.0, 50)


@pytest.fixture(scope="module")
def noisy():
    run = simulate(models.foot.build(link_length=0.045), 1.0, t_eval=T, **TIGHT)
    return {"r.main_foot": run.r["main_foot"] + 1e-4 * np.random.default_rng(0).normal(size=(50, 3))}


@pytest.fixture(scope="module")
def alone(noisy):
    """The fit of one parameter that the data determine."""
    return fit_parameters(models.foot.build, {"link_length": 0.04}, T, noisy)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-11, 1e-5])
def test_undetermined_parameters_are_named(noisy, alone, tolerance):
    def build(a, c, colour):
        return models.foot.build(link_length=a + 2.0 * c)

    found = fit_parameters(build, {"a": 0.03, "c": 0.006, "colour": 1.0}, T, noisy, rtol=tolerance, atol=tolerance)
    assert found.success and set(found.undetermined) == {"+1 a -0.5 c", "colour"}
    assert all(np.isinf(found.deviation[name]) for name in ("a", "c", "colour"))
    assert "The data do not determine" in found.message and "+1 a -0.5 c" in found.message
    assert found.values["a"] + 2.0 * found.values["c"] == pytest.approx(alone.values["link_length"], abs=1e-6)
    assert alone.undetermined == () and 0.0 < alone.deviation["link_length"] < 1e-3
    # Held where the search began: what the data do not tell is as near to it as it can be.
    assert found.values["colour"] == 1.0 and abs(found.values["a"] - 0.03) < 0.01


@pytest.mark.slow
def test_a_fit_that_ends_on_a_bound_says_so(noisy, alone):
    bounds = {"link_length": (0.03, 0.0425)}
    found = fit_parameters(models.foot.build, {"link_length": 0.04}, T, noisy, bounds=bounds)
    assert dict(found.on_bounds) == {"link_length": 0.0425} and found.values["link_length"] == pytest.approx(0.0425)
    assert "ended on a bound, link_length = 0.0425: the best value may lie beyond" in found.message
    bounds = {"link_length": (0.03, np.inf)}
    for inside in (fit_parameters(models.foot.build, {"link_length": 0.04}, T, noisy, bounds=bounds), alone):
        assert not inside.on_bounds and "ended" not in inside.message
    half = fit_parameters(models.foot.build, {"link_length": 0.05}, T, noisy, bounds={"link_length": (0.047, np.inf)})
    assert dict(half.on_bounds) == {"link_length": 0.047}


def test_a_fit_that_ends_on_the_edge_of_what_systems_admit_says_so():
    """The data ask for a negative mass; no bound is given."""
    system, t = models.foot.build(), T[:20]
    light = runtime.with_parameters(system, {"mass.toes": 0.01})
    some, none = (simulate(one, t[-1], t_eval=t, **TIGHT).r["main_foot"] for one in (system, light))
    found = fit_parameters(system, {"mass.toes": 0.2}, t, {"r.main_foot": none + 0.3 * (none - some)})
    assert 0.0 < found.values["mass.toes"] == found.on_bounds["mass.toes"] < 1e-6
    assert "The search ended where values beyond mass.toes" in found.message and "is not positive" in found.message


@pytest.mark.slow
def test_determined_parameters_beside_undetermined_ones(noisy):
    given = {"link_length": 0.0417, "omega.main_foot": (0.05, 0.06, 0.07)}
    found = fit_parameters(models.foot.build, given, T, noisy)
    assert found.deviation["link_length"] == pytest.approx(9e-5, rel=0.1) and len(found.undetermined) == 1
    assert np.isinf(found.deviation["omega.main_foot"]).all() and np.abs(found.values["omega.main_foot"]).max() < 1.0


def test_the_length_of_euler_parameters_is_known():
    system, rng = models.free_body.build(), np.random.default_rng(1)
    body, t = system.body_names[0], np.linspace(0.02, 1.0, 50)
    run = simulate(system, 1.0, t_eval=t)
    start = np.array([1.0, 0.3, -0.2, 0.4]) / np.linalg.norm([1.0, 0.3, -0.2, 0.4])
    data = {f"p.{body}": run.p[body] + 1e-4 * rng.normal(size=(50, 4))}
    found = fit_parameters(system, {f"p.{body}": start}, t, data)
    values, deviation = (np.array(part[f"p.{body}"]) for part in (found.values, found.deviation))
    assert found.undetermined == () and np.linalg.norm(values) == pytest.approx(1.0, abs=1e-12)
    assert np.abs(values - system.state.p[body]).max() < 5 * deviation.max() and 1e-6 < deviation.max() < 1e-4


@pytest.mark.slow
def test_a_search_may_end_in_a_local_minimum():
    """As the documentation says; of several starts the one with the least residual is the fit."""
    pendulum, t = models.pendulum.build(), np.linspace(0.0, 4.0, 41)
    measured = {"r.rod": simulate_many(pendulum, {"rate.pivot.angle": [3.0]}, 4.0, t_eval=t).r["rod"][0]}
    fits = [fit_parameters(pendulum, {"rate.pivot.angle": rate}, t, measured) for rate in (0.5, 12.0)]
    assert all(fit.success for fit in fits) and fits[1].residual > 0.1
    assert min(fits, key=lambda fit: fit.residual).values["rate.pivot.angle"] == pytest.approx(3.0, abs=1e-9)


@pytest.mark.slow
def test_a_search_from_an_edge():
    t = np.linspace(0.05, 0.8, 40)
    run = simulate(stopped(damping=0.01), 0.8, t_eval=t, **TIGHT)
    found = fit_parameters(stopped, {"damping": 0.0}, t, {"r.bob": run.r["bob"]}, bounds={"damping": (0.0, 1.0)})
    assert found.values["damping"] == pytest.approx(0.01, rel=1e-7)


DATA = {"r.toes": np.zeros((2, 3))}
BAD_FIT = {
    "no data": (dict(data={}), "data: give measured parts"),
    "unknown body": (dict(data={"r.hand": np.zeros((2, 3))}), "'r.hand' is no part of the state"),
    "shape": (dict(data={"r.toes": np.zeros((3, 3))}), "has the shape (3, 3); give (2, 3) [m]"),
    "no value": (dict(data={"r.toes": np.full((2, 3), np.nan)}), "'r.toes' holds no number"),
    "sigma": (dict(sigma={"r.toes": 0.0}), "sigma: 'r.toes' = 0.0 must be above 0"),
    "sigma that is text": (dict(sigma={"r.toes": "a"}), "sigma"),
    "sigma that is none": (dict(sigma={"r.toes": None}), "sigma"),
    "sigma of a component each": (dict(sigma={"r.toes": np.ones(3)}), "sigma"),
    "sigma that is no mapping": (dict(sigma=0.1), "sigma"),
    "sigma of nothing": (dict(sigma={"v.toes": 1.0}), "there are no data 'v.toes'"),
    "bounds": (dict(bounds={"link_length": (0.05, 0.06)}), "link_length = 0.0417 is not between 0.05 and 0.06"),
    "bounds without a width": (
        dict(bounds={"link_length": (0.0417, 0.0417)}),
        "0.0417 and 0.0417; give a lower one, then",
    ),
    "bounds in another order": (
        dict(bounds={"link_length": (0.05, 0.03)}),
        "has the bounds 0.05 and 0.03; give a lower one",
    ),
    "a bound that is no number": (
        dict(bounds={"link_length": (np.nan, 0.03)}),
        "has the bounds nan and 0.03; give a lower one",
    ),
    "no pair": (
        dict(bounds={"link_length": 0.05}),
        "has 'link_length' = 0.05; give a mapping from names to items, each 2 items",
    ),
    "no bounds": (dict(bounds=[0.0, 1.0]), "bounds = [0.0, 1.0]: give a mapping from names to items, each 2 items"),
    "infinite": (dict(data={"r.toes": [[0.0, 0.0, 0.0], [0.0, np.inf, 0.0]]}), "data: 'r.toes' is infinite in row 1"),
    "data no number": (
        dict(data={"r.toes": "far"}),
        "data: 'r.toes' = 'far': give numbers, and NaN where there is none",
    ),
    "data no mapping": (dict(data=np.zeros((2, 3))), "give a mapping from names to values"),
    "no times": (dict(t=[]), "t has the shape (0,); give a list of times [s]"),
    "times go back": (dict(t=[0.2, 0.1]), "t must increase from each time to the next; 0.1 s follows 0.2 s"),
    "times not finite": (dict(t=[0.1, np.nan]), "t: time 1 is not finite"),
    "times no number": (dict(t=["now", "then"]), "t = ['now', 'then'] holds text; give a list of times [s]"),
    "misspelt": (
        dict(given={"length": 0.04}),
        "models.foot.build has no parameter 'length'; did you mean 'link_length'? it takes ankle",
    ),
    "bounds of nothing": (dict(bounds={"hand": (0.0, 1.0)}), "bounds: 'hand' is not varied"),
}


@pytest.mark.parametrize("name", BAD_FIT)
def test_bad_input_of_fits(name):
    changes, message = BAD_FIT[name]
    arguments = dict(build=models.foot.build, given={"link_length": 0.0417}, t=[0.1, 0.2], data=DATA) | changes
    assert_refused(message, fit_parameters, **arguments)


def test_data_in_millimetres_are_asked_about_and_fits_can_be_pickled():
    t, system = np.linspace(0.1, 0.5, 5), models.pendulum.build("spherical", omega=(0.3, 1.0, 2.0))
    measured = simulate(system, 0.5, t_eval=t).r["rod"]
    with pytest.warns(runtime.UnitWarning) as asked:
        fit_parameters(system, {"mass.rod": 3.0}, t, {"r.rod": 1000.0 * measured})
    sentence = r"data: 'r.rod' = \S+ m.* is another unit meant\? .* mm are .*; the value is used .* check_units=False"
    assert all(re.match(sentence, str(one.message)) for one in asked)
    found = fit_parameters(system, {"mass.rod": 3.0}, t, {"r.rod": measured})
    again = pickle.loads(pickle.dumps(found))
    assert again.values == found.values and again.undetermined == found.undetermined
    assert_refused("unknown parameter 'mass.rood'; did you mean 'mass.rod'", lambda: again.values["mass.rood"])


def test_a_value_far_below_the_start_has_the_steps_of_the_start():
    """Differences between systems keep a step with which rounding does not bound the steps of the runs."""
    system, t = models.foot.build(limits="dissipative"), np.linspace(0.1, 1.0, 6)
    undamped = runtime.with_parameters(system, {"damping.talocalcaneal": 0.0})
    measured = {"r.toes": runtime.simulate(undamped, 1.0, t_eval=t).r["toes"]}
    question = question_of(system, {"damping.talocalcaneal": 0.5}, None, check_units=True)
    assert question.sizes(np.array([1e-5])) == 0.05
    fitted = runtime.fit_parameters(system, {"damping.talocalcaneal": 0.5}, t, measured)
    assert abs(fitted.values["damping.talocalcaneal"]) < 1e-8
    assert not fitted.sensitivities.slopes.flags.writeable
