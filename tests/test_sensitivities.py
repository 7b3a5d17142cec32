"""Derivatives of runs: against complex steps, differences of runs and closed forms; and parameters found in data."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import models
from models.shipped import SYSTEMS
from runtime import Builder, Cone, ModelError, Signal, fit_parameters, sensitivities, simulate
from runtime.variation import AHEAD, BOTH_SIDES, weights
from runtime.whole import module_of
from tests.test_linear import BUILDS, spun
from tests.test_whole import constants, emitted, off

RANDOM = np.random.default_rng(9)
TIGHT = dict(rtol=1e-13, atol=1e-13)


# --- the kernel -------------------------------------------------------------------------------------------------------


def complex_step(module, y, c, dy, dc):
    """State derivative's change in a direction, by a complex step: the arithmetic of the other function alone."""
    h = 1e-30
    out, worst = np.zeros((len(y), 1), complex), np.zeros((1, 1), complex)
    module.derivative.py_func(0, (y + 1j * h * dy)[:, None], None, None, (c + 1j * h * dc)[:, None], out, worst)
    return out[:, 0].imag / h


def moved(module, y, c, dy, dc):
    out, worst = np.full((2 * len(y), 1), np.nan), np.zeros((1, 1))
    both = np.concatenate([y, dy])[:, None], np.concatenate([c, dc])[:, None]
    module.moved_derivative.py_func(0, *both, out, worst)
    return out[:, 0]


@pytest.mark.parametrize("name", BUILDS)
def test_kernels_against_a_complex_step(name):
    system = BUILDS[name]()
    module = emitted(system)
    c = constants(module, system)[:, 0]
    for _ in range(3):
        y = off(system, spun(system).y, 1e-2)
        dy, dc = RANDOM.normal(size=len(y)), RANDOM.normal(size=len(c))
        expected, found = complex_step(module, y, c, dy, dc), moved(module, y, c, dy, dc)
        value = np.zeros((len(y), 1))
        module.derivative.py_func(0, y[:, None], None, None, c[:, None], value, np.zeros((1, 1)))
        assert np.abs(found[: len(y)] - value[:, 0]).max() < 1e-14 * np.abs(value).max()
        assert np.abs(found[len(y) :] - expected).max() < 1e-12 * np.abs(expected).max()


def test_a_wrong_sign_in_the_kernel_is_seen():
    system = models.foot.build()
    module = emitted(system)
    c, y = constants(module, system)[:, 0], off(system, spun(system).y, 0.1)
    dy, dc = RANDOM.normal(size=len(y)), RANDOM.normal(size=len(c))
    expected = complex_step(module, y, c, dy, dc)
    from codegen.whole import emit_model

    head, body = emit_model(system.model).split("def moved_derivative(", 1)
    lines = body.split("\n")
    spots = [k for k, line in enumerate(lines) if " = " in line and "+" in line and "carray" not in line]
    unseen = 0
    for k in RANDOM.choice(spots, 60, replace=False):
        broken = type(module)("broken")
        text = [line.replace("+", "-", 1) if n == k else line for n, line in enumerate(lines)]
        exec(head + "def moved_derivative(" + "\n".join(text), broken.__dict__)
        unseen += np.abs(moved(broken, y, c, dy, dc)[len(y) :] - expected).max() < 1e-9 * np.abs(expected).max()
    assert unseen < 20  # of the step of refinement


# --- runs -------------------------------------------------------------------------------------------------------------


def difference(states, step):
    """Slope of runs at their parameter, by central differences of order six."""
    slopes = [(states(h) - states(-h)) / (2.0 * h) for h in (step, step / 2, step / 4)]
    return (slopes[0] - 20 * slopes[1] + 64 * slopes[2]) / 45


def thrown(omega=(0.1, 0.2, 0.3), **parameters):
    system = models.foot.build(**parameters)
    state = system.assemble(system.state.replace(omega={"main_foot": omega}))
    return simulate(system, 1.0, t_eval=[0.4, 1.0], initial=state, **TIGHT).states


GIVEN = {"link_length": 0.0417, "gravity": (0.0, 0.0, -9.81), "omega.main_foot": (0.1, 0.2, 0.3)}


@pytest.fixture(scope="module")
def foot():
    import codegen

    codegen.compile_model(models.foot.build(gravity=(0.3, 0.2, -9.7)))  # gravity askew: its zeros are none
    return sensitivities(models.foot.build, GIVEN, 1.0, t_eval=[0.4, 1.0], rtol=1e-11, atol=1e-11)


def test_the_motion_is_that_of_simulate(foot):
    assert np.abs(foot.states - thrown()).max() < 1e-9
    assert foot.names == (
        "link_length", "gravity[0]", "gravity[1]", "gravity[2]", *(f"omega.main_foot[{k}]" for k in range(3)),
    )  # fmt: skip
    assert foot.slopes.shape == (2, 39, 7) and foot.r["main_foot"].shape == (2, 3, 7)
    assert np.array_equal(foot.state["r"]["toes"], foot.states[:, :3])


@pytest.mark.parametrize("k", range(7))
def test_runs_of_the_foot(foot, k):
    def states(h):
        if k == 0:
            return thrown(link_length=0.0417 + h)
        vector = np.array(GIVEN["gravity"] if k < 4 else GIVEN["omega.main_foot"])
        vector[(k - 1) % 3] += h
        return thrown(gravity=vector) if k < 4 else thrown(omega=vector)

    expected = difference(states, 4e-4 if k == 0 else 4e-2)
    assert np.abs(foot.slopes[:, :, k] - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())


def test_a_free_body_flies_on():
    system = models.free_body.build()
    body = system.body_names[0]
    t = np.array([0.0, 0.5, 1.5])
    found = sensitivities(system, {f"v.{body}": system.state.v[body], f"r.{body}": system.state.r[body]}, 1.5, t_eval=t)
    expected = np.concatenate([t[:, None, None] * np.eye(3), np.ones(3)[:, None, None] * np.eye(3)], axis=2)
    assert np.abs(found.r[body] - expected).max() < 1e-12
    assert np.abs(found.v[body][:, :, :3] - np.eye(3)).max() < 1e-13 and np.abs(found.omega[body]).max() < 1e-13


def directions(system):
    """Velocities that the joints allow, as what is given."""
    spin = spun(system)
    return {f"{part}.{body}": getattr(spin, part)[body] for part in ("v", "omega") for body in system.body_names}


@pytest.mark.parametrize("seed", [0, 1, 3, 5])  # 1, 3 and 5: some velocities are zero but for rounding
def test_derivatives_keep_the_energy(seed, monkeypatch):
    monkeypatch.setattr("tests.test_linear.RANDOM", np.random.default_rng(seed))
    # Along every direction that the joints allow the energy changes by what it did at the start.
    system = models.double_pendulum.build()
    found = sensitivities(system, directions(system), 1.0, t_eval=np.linspace(0.0, 1.0, 5), rtol=1e-12, atol=1e-12)
    for body in system.body_names:
        assert np.abs(np.einsum("ti,tik->tk", found.state["p"][body], found.p[body])).max() < 1e-10  # |p| stays 1

    def energy(states):
        run = simulate(system, 1.0, t_eval=[0.0], rtol=1e-9, atol=1e-9)
        return replace(run, t=np.zeros(len(states)), states=np.ascontiguousarray(states)).energy

    h = 1e-5
    change = np.array(
        [
            (energy(found.states + h * s) - energy(found.states - h * s)) / (2 * h)
            for s in found.slopes.transpose(2, 0, 1)
        ]
    )
    assert np.abs(change - change[:, :1]).max() < 1e-7 * np.abs(change).max()


def test_more_directions_than_lanes():
    system = models.double_pendulum.build()
    given = directions(system) | {f"r.{body}": system.state.r[body] for body in system.body_names}
    found = sensitivities(system, given, 0.2)
    assert len(found.names) == 18 and np.isfinite(found.slopes).all()
    one = sensitivities(system, given, 0.2, wrt="omega.lower")
    places = [found.names.index(name) for name in one.names]
    assert np.abs(one.slopes - found.slopes[:, :, places]).max() < 1e-12


def lever(a=0.3, b=0.3, c=0.4):
    """A body on a ball joint above its centre of mass, where two of its numbers are the same."""
    x = Builder("lever", gravity=(0.3, -0.2, -9.7))
    r, omega = (b - a, 0.0, -c), (1.0, 2.0, 3.0)
    x.body("lever", mass=1.2, inertia=(0.01, 0.02, 0.025), r=r, v=np.cross(omega, r), omega=omega)
    x.joint("pivot", "spherical", "ground", "lever", s_i=(0, 0, 0), s_j=(a - b, 0, c))
    return x.build()


@pytest.mark.parametrize("route", ["recorded kernel", "general evaluation"])
def test_a_zero_that_depends_on_two_numbers(route, monkeypatch):
    import codegen

    room = sys.modules["runtime.sensitivities"]
    for system in (lever(), lever(a=0.35)):  # a kernel in which a - b is taken for 0, and one in which it is not
        codegen.compile_model(system)
    if route == "general evaluation":
        monkeypatch.setattr(room, "lanes_of", lambda key: None)
    given, t = {"a": 0.3, "b": 0.3, "c": 0.4}, [0.3, 0.8]
    found = sensitivities(lever, given, 0.8, wrt=["a", "b"], t_eval=t, rtol=1e-12, atol=1e-12)
    for k, name in enumerate("ab"):
        expected = difference(lambda h, n=name: simulate(lever(**{n: 0.3 + h}), 0.8, t_eval=t, **TIGHT).states, 1e-2)
        assert np.abs(expected).max() > 0.1
        assert np.abs(found.slopes[:, :, k] - expected).max() < 1e-9 * np.abs(expected).max()
    monkeypatch.setattr(room, "_module", lambda *arguments: module_of(lever().model.key))
    wrong = sensitivities(lever, given, 0.8, wrt=["a", "b"], t_eval=t)
    assert np.abs(wrong.slopes - found.slopes).max() > 1e-2  # the test sees the kernel that must not be taken


@pytest.mark.parametrize("route", ["recorded kernel", "general evaluation"])
def test_euler_parameters_of_the_initial_state(route, monkeypatch):
    if route == "general evaluation":
        monkeypatch.setattr(sys.modules["runtime.sensitivities"], "lanes_of", lambda key: None)
    system = models.foot.build()
    p, t = np.array(system.state.p["main_foot"]), [0.4, 1.0]
    found = sensitivities(system, {"p.main_foot": p}, 1.0, t_eval=t)

    def states(h, k):
        changed = p + h * np.eye(4)[k]
        state = system.assemble(system.state.replace(p={"main_foot": changed / np.linalg.norm(changed)}))
        return simulate(system, 1.0, t_eval=t, initial=state, **TIGHT).states

    for k in range(1, 4):
        expected = difference(lambda h, k=k: states(h, k), 1e-2)
        assert np.abs(expected).max() > 0.1
        assert np.abs(found.slopes[:, :, k] - expected).max() < 1e-8 * np.abs(expected).max()
    assert np.abs(found.slopes[:, :, 0]).max() < 1e-8  # along p itself


def test_labelled(foot):
    data = foot.to_xarray()
    assert data.d_r.sel(number="link_length", body="toes").values == pytest.approx(foot.r["toes"][:, :, 0])
    assert data.value.sel(number="gravity[2]") == -9.81 and data.r.attrs["units"] == "m"


# --- limits, loads, motors and drivers --------------------------------------------------------------------------------


def test_both_routes_agree(foot, monkeypatch):
    monkeypatch.setattr(sys.modules["runtime.sensitivities"], "lanes_of", lambda key: None)  # no recorded kernel
    found = sensitivities(models.foot.build, GIVEN, 1.0, t_eval=[0.4, 1.0], rtol=1e-11, atol=1e-11)
    assert np.abs(found.states - foot.states).max() < 1e-9
    assert np.abs(found.slopes - foot.slopes).max() < 1e-9 * np.abs(foot.slopes).max()


def stopped(max_moment=20.0, compliance=0.2, damping=0.03, latitude=35.0, mass=1.2, axis=0.2):
    """A body on a hinge that swings against its limit."""
    a = (np.cos(axis), np.sin(axis), 0.0)
    b = Builder("stopped")
    r, omega = (0.0, 0.0, -0.3), np.multiply(a, 5.0)
    b.body("bob", mass=mass, inertia=(0.01, 0.02, 0.025), r=r, v=np.cross(omega, r), omega=omega)
    b.joint("hinge", "revolute", "ground", "bob", s_i=(0, 0, 0), a_i=a, s_j=(0, 0, 0.3), a_j=a)
    cone = Cone.from_degrees((0, 90, 180, 270, 360), [latitude] * 5)
    b.limit(
        "stop", "hinge", reference="ground", xi=a, eta=(a[1], -a[0], 0.0), cone=cone, max_moment=max_moment,
        compliance=compliance, damping=damping,
    )  # fmt: skip
    return b.build()


def pushed(force=3.0, stiffness=40.0, damping=2.0, rise=3.0, arm=0.03, mass=1.0):
    """A leg on a ball joint with a foot on a motor that a signal drives, pushed by a load."""
    b = Builder("pushed")
    b.body("leg", mass=3.0, inertia=(0.04, 0.05, 0.01), r=(0, 0, 0.3))
    b.body("foot", mass=mass, inertia=(0.001, 0.004, 0.003), r=(0.05, 0, 0.05 - arm))
    b.joint("knee", "spherical", "ground", "leg", s_i=(0, 0, 0.6), s_j=(0, 0, 0.3))
    b.joint("ankle", "revolute", "leg", "foot", s_i=(0, 0, -0.25), a_i=(0, 1, 0), s_j=(-0.05, 0, arm), a_j=(0, 1, 0))
    b.motor(
        "muscle", "guided_angle", "leg", "foot", a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(0.6, 0, 0.8), theta_t=0.4,
        effort=Signal.function(lambda t: rise * np.sin(t), 0.0, 2.0), stiffness=stiffness, damping=damping,
    )  # fmt: skip
    b.load("push", "foot", force=(force, -5.0, 20.0), moment=(0.3, 1.0, -2.0), axes="body", point=(0.1, -0.02, 0.03))
    return b.build()


def guided(rate=2.0, length=0.4, mass=1.5):
    """A pendulum whose pivot a driver moves to and fro."""
    b = Builder("guided")
    b.body("sledge", mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.body("bob", mass=mass, inertia=(0.01, 0.02, 0.025), r=(0.0, 0.0, -length))
    x = Signal.function(lambda t: 0.1 * np.sin(rate * t), 0.0, 2.0)
    b.driver("way", "guided_point", "sledge", s_i=(0, 0, 0), x_t=x, y_t=0.0, z_t=0.0)
    b.joint("rail", "constant_angle", "ground", "sledge", a_i=(1, 0, 0), a_j=(0, 1, 0))
    b.joint("rail_2", "constant_angle", "ground", "sledge", a_i=(1, 0, 0), a_j=(0, 0, 1))
    b.joint("rail_3", "constant_angle", "ground", "sledge", a_i=(0, 1, 0), a_j=(0, 0, 1))
    b.joint("pivot", "spherical", "sledge", "bob", s_i=(0, 0, 0), s_j=(0, 0, length))
    return b.build()


FORCED = {
    "stopped": (stopped, dict(max_moment=20.0, compliance=0.2, damping=0.03, latitude=35.0, mass=1.2, axis=0.2)),
    "pushed": (pushed, dict(force=3.0, stiffness=40.0, damping=2.0, rise=3.0, arm=0.03, mass=1.0)),
    "guided": (guided, dict(rate=2.0, length=0.4)),
}


@pytest.mark.parametrize("name", FORCED)
def test_runs_with_forces(name):
    build, given = FORCED[name]
    t = [0.1, 0.8]
    found = sensitivities(build, given, 0.8, t_eval=t, rtol=1e-11, atol=1e-11)
    assert np.abs(found.states - simulate(build(**given), 0.8, t_eval=t, **TIGHT).states).max() < 1e-9
    for k, (number, value) in enumerate(given.items()):

        def states(h, number=number, value=value):
            return simulate(build(**(given | {number: value + h})), 0.8, t_eval=t, **TIGHT).states

        expected = difference(states, 2e-3 * value)
        assert np.abs(expected).max() > 1e-6  # it does something
        assert np.abs(found.slopes[:, :, k] - expected).max() < 1e-6 * np.abs(expected).max()  # signals are fits


@pytest.mark.parametrize("places", [BOTH_SIDES, AHEAD, -AHEAD])
def test_differences_are_exact_to_order_six(places):
    assert weights(BOTH_SIDES) == pytest.approx(np.array([1.0, -1.0, -40.0, 40.0, 256.0, -256.0]) / 90.0)
    errors = [abs(weights(places) @ (np.exp(h * places) - 1.0) / h - 1.0) for h in (0.8, 0.4)]
    assert 5.5 < np.log2(errors[0] / errors[1]) < 6.5


@pytest.mark.parametrize("number", ["damping", "stiffness"])
def test_at_an_edge(number):
    """Of a limit without damping, and of a motor without a spring; there is no system below."""
    build, t = (stopped if number == "damping" else pushed), [0.3, 0.8]
    found = sensitivities(build, {number: 0.0}, 0.8, t_eval=t, rtol=1e-12, atol=1e-12)
    h = (3e-3 if number == "damping" else 0.1) * AHEAD
    states = np.array([simulate(build(**{number: x}), 0.8, t_eval=t, **TIGHT).states for x in (0.0, *h)])
    expected = np.tensordot(weights(h), states[1:] - states[0], 1)
    assert np.abs(expected).max() > 1e-2
    assert np.abs(found.slopes[:, :, 0] - expected).max() < 1e-7 * np.abs(expected).max()


def test_at_an_edge_above():
    def build(mass):
        if mass > 1.2:
            raise ModelError("too heavy")
        return stopped(mass=mass)

    found = [sensitivities(b, {"mass": 1.2}, 0.8, rtol=1e-12, atol=1e-12) for b in (build, stopped)]
    assert np.abs(found[0].slopes - found[1].slopes).max() < 1e-8 * np.abs(found[1].slopes).max()


def test_the_limit_is_reached_in_the_test():
    run = simulate(stopped(), 0.8, t_eval=np.linspace(0.0, 0.8, 100))
    assert 0.02 < run.limits["stop"].excess.max() < 0.2 and run.limits["stop"].excess[-1] == 0.0


def test_masses_do_not_matter_to_a_guided_motion_alone():
    found = sensitivities(guided, {"mass": 1.5}, 0.5)
    assert np.abs(found.r["sledge"]).max() < 1e-9 and np.abs(found.r["bob"]).max() > 1e-4


def test_limits_are_found_in_a_motion():
    t = np.linspace(0.05, 0.8, 40)
    run = simulate(stopped(max_moment=23.0, latitude=33.0, damping=0.025), 0.8, t_eval=t, **TIGHT)
    given = {"max_moment": 20.0, "latitude": 35.0, "damping": 0.03}
    found = fit_parameters(stopped, given, t, {"r.bob": run.r["bob"]}, rtol=1e-10, atol=1e-10)
    assert found.success and found.residual < 1e-8
    assert found.values == pytest.approx({"max_moment": 23.0, "latitude": 33.0, "damping": 0.025}, rel=1e-6)


def test_a_search_passes_over_numbers_that_make_no_system():
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


# --- parameters from data ---------------------------------------------------------------------------------------------


def test_parameters_are_found_in_a_motion():
    t = np.linspace(0.05, 1.0, 20)
    true = dict(link_length=0.045, omega=(0.3, -0.2, 0.1))
    system = models.foot.build(link_length=true["link_length"])
    state = system.assemble(system.state.replace(omega={"main_foot": true["omega"]}))
    run = simulate(system, 1.0, t_eval=t, initial=state, **TIGHT)
    data = {"r.main_foot": run.r["main_foot"].copy(), "omega.toes": run.omega["toes"].copy()}
    data["r.main_foot"][3:5] = np.nan
    given = {"link_length": 0.0417, "omega.main_foot": state.omega["main_foot"] + 0.05}
    found = fit_parameters(models.foot.build, given, t, data)
    assert found.success and found.residual < 1e-9 and found.evaluations < 30
    assert found.values["link_length"] == pytest.approx(0.045, abs=1e-9)
    # Of three numbers of the angular velocity the joints allow two: the motion is found, not each number.
    assert np.abs(found.sensitivities.states - run.states).max() < 1e-7


def test_noise_is_told_by_the_deviation():
    t, noise = np.linspace(0.02, 1.0, 200), 1e-4
    run = simulate(models.foot.build(link_length=0.045), 1.0, t_eval=t, **TIGHT)
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(5):
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


@pytest.mark.parametrize("tolerance", [1e-11, 1e-5])
def test_what_the_data_do_not_determine_is_named(noisy, tolerance):
    def build(a, c, colour):
        return models.foot.build(link_length=a + 2.0 * c)

    found = fit_parameters(build, {"a": 0.03, "c": 0.006, "colour": 1.0}, T, noisy, rtol=tolerance, atol=tolerance)
    assert found.success and set(found.undetermined) == {"+1 a -0.5 c", "colour"}
    assert all(np.isinf(found.deviation[name]) for name in ("a", "c", "colour"))
    assert "The data do not determine" in found.message and "+1 a -0.5 c" in found.message
    alone = fit_parameters(models.foot.build, {"link_length": 0.04}, T, noisy)
    assert found.values["a"] + 2.0 * found.values["c"] == pytest.approx(alone.values["link_length"], abs=1e-6)
    assert alone.undetermined == () and 0.0 < alone.deviation["link_length"] < 1e-3
    # Held where the search began: what the data do not tell is as near to it as it can be.
    assert found.values["colour"] == 1.0 and abs(found.values["a"] - 0.03) < 0.01


def test_what_is_determined_beside_what_is_not(noisy):
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


def test_a_search_from_an_edge():
    t = np.linspace(0.05, 0.8, 40)
    run = simulate(stopped(damping=0.01), 0.8, t_eval=t, **TIGHT)
    found = fit_parameters(stopped, {"damping": 0.0}, t, {"r.bob": run.r["bob"]}, bounds={"damping": (0.0, 1.0)})
    assert found.values["damping"] == pytest.approx(0.01, rel=1e-7)


def other(l):
    """A system that is another one beyond a length."""
    b = Builder("other")
    b.body("bob", mass=1.3, inertia=(0.01, 0.02, 0.025), r=(l, 0.0, 0.0))
    b.joint("pivot", "spherical", "ground", "bob", s_i=(0, 0, 0.1), s_j=(-l, 0, 0.1))
    if l > 0.7:
        b.body("tail", mass=1.0, inertia=(0.01, 0.02, 0.025), free=True)
    return b.build()


V0 = {"v.main_foot": (0.0, 0.0, 0.0)}
BAD = {
    "no numbers": (dict(given={}), "give a mapping"),
    "unknown number": (dict(wrt=["hand"]), "wrt: 'hand' is not among the given: link_length"),
    "no number": (dict(given={"ankle": "modified"}), "wrt: 'ankle' = 'modified' is no finite number"),
    "not finite": (dict(given={"link_length": np.nan}), "wrt: 'link_length' = nan"),
    "no number at all": (dict(given={"gravity": []}), "wrt: 'gravity' = [] is no finite number"),
    "twice": (dict(wrt=["link_length", "link_length"]), "wrt: 'link_length' stands there 2 times; give each name once"),
    "nothing": (dict(wrt=[]), "wrt: names nothing to look at; choose from link_length"),
    "misspelt": (
        dict(given={"link_lenght": 0.0417}),
        "given: models.foot.build has no parameter 'link_lenght'; it takes ankle, link_length, limits",
    ),
    "missing": (dict(build=lambda a, c: None, given={"a": 0.0417}), "needs 'c', too; it takes a, c"),
    "no system": (dict(build=lambda a: a, given={"a": 0.0417}), "gave 0.0417; give a function that builds a System"),
    "length of p": (
        dict(build=models.foot.build(), given={"p.toes": (1.0, 0.1, 0.0, 0.0)}),
        "p of body 'toes' has the length 1.00498",
    ),
    "no side": (
        dict(build=lambda l: models.foot.build(link_length=l if l == 0.04 else np.inf), given={"l": 0.04}),
        "the derivative by l at 0.04 needs systems nearby, on one side at least: link_length = inf",
    ),
    "unknown part": (dict(given={"a.toes": 1.0}), "has no number 'a.toes'"),
    "no function": (dict(build=3), "neither a System nor a function"),
    "no part": (dict(build=models.foot.build()), "has no number 'link_length'"),
    "contacts": (
        dict(build=models.foot_ground.build, given=V0),
        "has contacts, of which sensitivities of runs know nothing",
    ),
    "another system nearby": (dict(build=other, given={"l": 0.7}), "but at 0.7007 the system has other bodies"),
    "times": (dict(t_eval=[0.5, 0.2]), "t_eval must increase"),
    "tolerance": (dict(rtol=-1.0), "rtol = -1"),
    "another system at an edge": (dict(given={"link_length": 0.0}), "the system has other bodies, joints"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    changes, message = BAD[name]
    with pytest.raises(ModelError) as error:
        sensitivities(**(dict(build=models.foot.build, given={"link_length": 0.0417}, t_end=1.0) | changes))
    assert message in str(error.value)


DATA = {"r.toes": np.zeros((2, 3))}
BAD_FIT = {
    "no data": (dict(data={}), "data: give measured parts"),
    "unknown body": (dict(data={"r.hand": np.zeros((2, 3))}), "'r.hand' is no part of the state"),
    "shape": (dict(data={"r.toes": np.zeros((3, 3))}), "has the shape (3, 3); give (2, 3)"),
    "no value": (dict(data={"r.toes": np.full((2, 3), np.nan)}), "'r.toes' holds no number"),
    "sigma": (dict(sigma={"r.toes": 0.0}), "sigma: 'r.toes' = 0.0 must be above 0"),
    "sigma of nothing": (dict(sigma={"v.toes": 1.0}), "there are no data 'v.toes'"),
    "bounds": (dict(bounds={"link_length": (0.05, 0.06)}), "link_length = 0.0417 is not between 0.05 and 0.06"),
    "bounds without a width": (dict(bounds={"link_length": (0.0417, 0.0417)}), "is not between 0.0417 and 0.0417"),
    "no pair": (
        dict(bounds={"link_length": 0.05}),
        "bounds: 'link_length' = 0.05; give the least and the greatest value",
    ),
    "no bounds": (dict(bounds=[0.0, 1.0]), "bounds = [0.0, 1.0]; give a mapping from names to pairs"),
    "infinite": (dict(data={"r.toes": [[0.0, 0.0, 0.0], [0.0, np.inf, 0.0]]}), "data: 'r.toes' is infinite in row 1"),
    "data no number": (dict(data={"r.toes": "far"}), "data: 'r.toes' holds what is no number"),
    "data no mapping": (dict(data=np.zeros((2, 3))), "data: give measured parts"),
    "no times": (dict(t=[]), "t has the shape (0,); give a list of times [s]"),
    "times go back": (dict(t=[0.2, 0.1]), "t must increase from each time to the next; 0.1 s follows 0.2 s"),
    "times not finite": (dict(t=[0.1, np.nan]), "t: time 1 is not finite"),
    "times no number": (dict(t=["now", "then"]), "t = ['now', 'then'] is no list of times [s]"),
    "misspelt": (dict(given={"length": 0.04}), "models.foot.build has no parameter 'length'; it takes ankle"),
    "bounds of nothing": (dict(bounds={"hand": (0.0, 1.0)}), "bounds: 'hand' is not looked for"),
}


@pytest.mark.parametrize("name", BAD_FIT)
def test_bad_input_of_fits(name):
    changes, message = BAD_FIT[name]
    arguments = dict(build=models.foot.build, given={"link_length": 0.0417}, t=[0.1, 0.2], data=DATA) | changes
    with pytest.raises(ModelError) as error:
        fit_parameters(**arguments)
    assert message in str(error.value)


def test_shipped_kernels_have_derivatives_where_they_can():
    for build in SYSTEMS.values():
        module = module_of(build().model.key)
        assert hasattr(module, "moved") == (not module.LOADED)


# --- what a function and the data may be ------------------------------------------------------------------------------


def strict(link_length):
    """A function with a rule of its own."""
    if link_length < 0.0417:
        raise ValueError("too short")
    return models.foot.build(link_length=link_length)


def test_what_a_function_raises_is_an_edge():
    t = np.linspace(0.1, 0.8, 9)
    run = sensitivities(strict, {"link_length": 0.0417}, 0.8, t_eval=t)
    plain = sensitivities(models.foot.build, {"link_length": 0.0417}, 0.8, t_eval=t)
    assert np.abs(run.slopes - plain.slopes).max() < 1e-7 * np.abs(plain.slopes).max()
    found = fit_parameters(strict, {"link_length": 0.045}, t, {"r.main_foot": run.state["r"]["main_foot"]})
    assert found.values["link_length"] == pytest.approx(0.0417, abs=1e-6)
    with pytest.raises(ModelError, match=r"strict failed: ValueError: too short"):
        sensitivities(strict, {"link_length": 0.04}, 0.1)


def test_the_sign_of_euler_parameters_does_not_matter():
    t = np.linspace(0.1, 0.8, 9)
    run = sensitivities(models.foot.build, {"link_length": 0.0417}, 0.8, t_eval=t)
    p = run.state["p"]["main_foot"] * np.where(np.arange(9) % 2, 1.0, -1.0)[:, None]
    found = fit_parameters(models.foot.build, {"link_length": 0.045}, t, {"p.main_foot": p})
    assert found.values["link_length"] == pytest.approx(0.0417, abs=1e-9) and found.residual < 1e-9


@pytest.mark.parametrize("sigma", [{"r.toes": "a"}, {"r.toes": None}, {"r.toes": np.ones(3)}, 0.1])
def test_bad_deviations(sigma):
    with pytest.raises(ModelError, match="sigma"):
        fit_parameters(models.foot.build, {"link_length": 0.0417}, [0.1, 0.2], DATA, sigma=sigma)
