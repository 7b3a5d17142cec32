"""Derivatives of runs against differences of runs and closed forms."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import models
import runtime
from runtime import Builder, ModelError, fit_parameters, sensitivities, simulate
from runtime.integrate.variational.differences import BOTH_SIDES, CENTRAL, ahead_of, weights
from runtime.system.whole_model import module_of
from tests.support.processes import environment
from tests.support.refusals import assert_refused
from tests.support.sensitivities import FORCED, difference, guided, other, pushed, stopped
from tests.support.systems import spun

TIGHT = dict(rtol=1e-13, atol=1e-13)


def thrown(omega=(0.1, 0.2, 0.3), **parameters):
    system = models.foot.build(**parameters)
    state = runtime.assemble(system, system.state.replace(omega={"main_foot": omega}))
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


def directions(system, seed=4):
    """Velocities that the joints allow, as what is given."""
    spin = spun(system, seed)
    return {f"{part}.{body}": getattr(spin, part)[body] for part in ("v", "omega") for body in system.body_names}


@pytest.mark.slow
def test_more_directions_than_the_width_of_a_batch():
    system = models.double_pendulum.build()
    given = directions(system) | {f"r.{body}": system.state.r[body] for body in system.body_names}
    found = sensitivities(system, given, 0.2, coordinates="absolute")
    assert len(found.names) == 18 and np.isfinite(found.slopes).all()
    one = sensitivities(system, given, 0.2, wrt="omega.lower", coordinates="absolute")
    places = [found.names.index(name) for name in one.names]
    assert np.abs(one.slopes - found.slopes[:, :, places]).max() < 1e-12


def lever(a=0.3, b=0.3, c=0.4):
    """A body on a ball joint above its centre of mass, where two of its numbers are the same."""
    x = Builder("lever", gravity=(0.3, -0.2, -9.7))
    r, omega = (b - a, 0.0, -c), (1.0, 2.0, 3.0)
    x.body("lever", mass=1.2, inertia=(0.01, 0.02, 0.025), r=r, v=np.cross(omega, r), omega=omega)
    x.joint("pivot", "spherical", "ground", "lever", s_i=(0, 0, 0), s_j=(a - b, 0, c))
    return x.build()


@pytest.mark.slow
@pytest.mark.parametrize("route", ["recorded kernel", "general evaluation"])
def test_a_zero_that_depends_on_two_parameters(route, monkeypatch):
    import codegen

    room = sys.modules["runtime.analysis.sensitivities"]
    for system in (lever(), lever(a=0.35)):  # a kernel emitted for a - b = 0, and one for a - b != 0
        codegen.compile_model(system)
    if route == "general evaluation":
        monkeypatch.setattr(room, "batch_kernel_of", lambda key: None)
    given, how = {"a": 0.3, "b": 0.3, "c": 0.4}, dict(wrt=["a", "b"], t_eval=(t := [0.3, 0.8]), coordinates="absolute")
    found = sensitivities(lever, given, 0.8, rtol=1e-12, atol=1e-12, **how)
    for k, name in enumerate("ab"):
        expected = difference(lambda h, n=name: simulate(lever(**{n: 0.3 + h}), 0.8, t_eval=t, **TIGHT).states, 1e-2)
        assert np.abs(expected).max() > 0.1
        assert np.abs(found.slopes[:, :, k] - expected).max() < 1e-9 * np.abs(expected).max()
    monkeypatch.setattr(room, "_module", lambda *arguments: module_of(lever().model.key))
    wrong = sensitivities(lever, given, 0.8, **how)
    assert np.abs(wrong.slopes - found.slopes).max() > 1e-2  # the test sees the kernel that must not be taken


@pytest.mark.parametrize("route", ["recorded kernel", "general evaluation"])
def test_euler_parameters_of_the_initial_state(route, monkeypatch):
    if route == "general evaluation":
        monkeypatch.setattr(sys.modules["runtime.analysis.sensitivities"], "batch_kernel_of", lambda key: None)
    system = models.foot.build()
    p, t = np.array(system.state.p["main_foot"]), [0.4, 1.0]
    found = sensitivities(system, {"p.main_foot": p}, 1.0, t_eval=t)

    def states(h, k):
        changed = p + h * np.eye(4)[k]
        state = runtime.assemble(system, system.state.replace(p={"main_foot": changed / np.linalg.norm(changed)}))
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


@pytest.mark.slow
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


@pytest.mark.parametrize("both_sides", [BOTH_SIDES, CENTRAL])
@pytest.mark.parametrize("side", [0.0, 1.0, -1.0])
def test_differences_are_of_the_order_of_their_points(both_sides, side):
    assert weights(BOTH_SIDES) == pytest.approx(np.array([1.0, -1.0, -40.0, 40.0, 256.0, -256.0]) / 90.0)
    places, order = side * ahead_of(both_sides) if side else both_sides, len(both_sides)
    errors = [abs(weights(places) @ (np.exp(h * places) - 1.0) / h - 1.0) for h in (0.8, 0.4)]
    assert order - 0.5 < np.log2(errors[0] / errors[1]) < order + 0.5


@pytest.mark.slow
@pytest.mark.parametrize("number", ["damping", "stiffness"])
def test_at_an_edge(number):
    """Of a limit without damping, and of a motor without a spring; there is no system below."""
    build, t = (stopped if number == "damping" else pushed), [0.3, 0.8]
    found = sensitivities(build, {number: 0.0}, 0.8, t_eval=t, rtol=1e-12, atol=1e-12)
    h = (3e-3 if number == "damping" else 0.1) * ahead_of(BOTH_SIDES)
    states = np.array([simulate(build(**{number: x}), 0.8, t_eval=t, **TIGHT).states for x in (0.0, *h)])
    expected = np.tensordot(weights(h), states[1:] - states[0], 1)
    assert np.abs(expected).max() > 1e-2
    assert np.abs(found.slopes[:, :, 0] - expected).max() < 1e-7 * np.abs(expected).max()


def test_at_an_edge_within_ordinary_tolerances():
    """Two systems on one side suffice, as two on both sides do elsewhere."""
    system, given, t = stopped(damping=0.0), {"damping.stop": 0.0}, [0.3, 0.8]
    rough, exact = (sensitivities(system, given, 0.8, t_eval=t, rtol=own, atol=own) for own in (1e-9, 1e-12))
    assert [len(found._runs.systems[0]) for found in (rough, exact)] == [2, 6]
    assert np.abs(rough.slopes - exact.slopes).max() < 1e-7 * np.abs(exact.slopes).max()


@pytest.mark.slow
def test_at_an_edge_above():
    def build(mass):
        if mass > 1.2:
            raise ModelError("too heavy")
        return stopped(mass=mass)

    found = [sensitivities(b, {"mass": 1.2}, 0.8, rtol=1e-12, atol=1e-12) for b in (build, stopped)]
    assert np.abs(found[0].slopes - found[1].slopes).max() < 1e-8 * np.abs(found[1].slopes).max()


def test_masses_do_not_matter_to_a_guided_motion_alone():
    found = sensitivities(guided, {"mass": 1.5}, 0.5)
    assert np.abs(found.r["sledge"]).max() < 1e-9 and np.abs(found.r["bob"]).max() > 1e-4


def test_masses_decide_how_a_changed_length_moves_the_start():
    system, t = models.foot.build(), [0.0, 0.3]
    given = {"l.ankle": 0.045, "mass.main_foot": 1.2}

    def runs(h):
        return sensitivities(system, given | {"mass.main_foot": 1.2 + h}, 0.3, wrt="l.ankle", t_eval=t, **TIGHT).states

    found = sensitivities(system, given, 0.3, wrt="mass.main_foot", t_eval=t, rtol=1e-11, atol=1e-11)
    expected = difference(runs, 2e-2)
    assert np.abs(expected[0]).max() > 1e-4
    assert np.abs(found.slopes[:, :, 0] - expected).max() < 1e-7 * np.abs(expected).max()


BAD = {
    "no numbers": (dict(given={}), "give a mapping"),
    "unknown number": (dict(wrt=["hand"]), "wrt: 'hand' is not among the given: link_length"),
    "no number": (dict(given={"ankle": "modified"}), "wrt: 'ankle' = 'modified' is no finite number"),
    "not finite": (dict(given={"link_length": np.nan}), "wrt: 'link_length' = nan"),
    "no number at all": (dict(given={"gravity": []}), "wrt: 'gravity' = [] is no finite number"),
    "twice": (dict(wrt=["link_length", "link_length"]), "wrt: 'link_length' is named 2 times; give each name once"),
    "nothing": (dict(wrt=[]), "wrt: no name; choose from link_length"),
    "misspelt": (
        dict(given={"link_lenght": 0.0417}),
        "given: models.foot.build has no parameter 'link_lenght'; did you mean 'link_length'? it takes ankle",
    ),
    "missing": (dict(build=lambda a, c: None, given={"a": 0.0417}), "needs 'c', too; it takes a, c"),
    "a builder": (dict(build=lambda a: Builder("b"), given={"a": 1.0}), "gave a Builder; return its build()"),
    "no system": (dict(build=lambda a: a, given={"a": 0.0417}), "gave 0.0417; give a function that builds a System"),
    "length of p": (
        dict(build=models.foot.build(), given={"p.toes": (1.0, 0.1, 0.0, 0.0)}),
        "p of body 'toes' has the length 1.00498",
    ),
    "no side": (
        dict(build=lambda l: models.foot.build(link_length=l if l == 0.04 else np.inf), given={"l": 0.04}),
        "the derivative by l at 0.04 needs systems nearby, on one side at least: link_length = inf",
    ),
    "unknown part": (dict(given={"a.toes": 1.0}), "has no parameter 'a.toes'"),
    "no function": (dict(build=3), "build = 3: give a runtime.System"),
    "no part": (dict(build=models.foot.build()), "has no parameter 'link_length'"),
    "another system nearby": (dict(build=other, given={"l": 0.7}), "but at 0.7007 the system has other bodies"),
    "times": (dict(t_eval=[0.5, 0.2]), "t_eval must increase"),
    "tolerance": (dict(rtol=-1.0), "rtol = -1"),
    "another system at an edge": (dict(given={"link_length": 0.0}), "the system has other bodies, joints"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    changes, message = BAD[name]
    assert_refused(
        message, sensitivities, **dict(build=models.foot.build, given={"link_length": 0.0417}, t_end=1.0) | changes
    )


# --- what a function and the data may be ------------------------------------------------------------------------------


def strict(link_length):
    """A function with a rule of its own."""
    if link_length < 0.0417:
        raise ValueError("too short")
    return models.foot.build(link_length=link_length)


@pytest.mark.slow
def test_an_exception_of_the_users_function_counts_as_a_bound():
    t = np.linspace(0.1, 0.8, 9)
    run = sensitivities(strict, {"link_length": 0.0417}, 0.8, t_eval=t)
    plain = sensitivities(models.foot.build, {"link_length": 0.0417}, 0.8, t_eval=t)
    assert np.abs(run.slopes - plain.slopes).max() < 1e-7 * np.abs(plain.slopes).max()
    found = fit_parameters(strict, {"link_length": 0.045}, t, {"r.main_foot": run.state["r"]["main_foot"]})
    assert found.values["link_length"] == pytest.approx(0.0417, abs=1e-6)
    assert_refused("strict failed: ValueError: too short", sensitivities, strict, {"link_length": 0.04}, 0.1)


def test_the_sign_of_euler_parameters_does_not_matter():
    t = np.linspace(0.1, 0.8, 9)
    run = sensitivities(models.foot.build, {"link_length": 0.0417}, 0.8, t_eval=t)
    p = run.state["p"]["main_foot"] * np.where(np.arange(9) % 2, 1.0, -1.0)[:, None]
    found = fit_parameters(models.foot.build, {"link_length": 0.045}, t, {"p.main_foot": p})
    assert found.values["link_length"] == pytest.approx(0.0417, abs=1e-9) and found.residual < 1e-9


INTERRUPTED = """
import models, runtime
system = models.foot.build(**OPTIONS)
given = {"mass.leg": 3.5, "mass.toes": 0.2}
runtime.sensitivities(system, given, 0.1)  # compiles
print("begins", flush=True)
runtime.sensitivities(system, given, 1e5, rtol=1e-12, atol=1e-12)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("options", [{}, {"limits": "elastic"}], ids=["side by side", "one by one"])
def test_ctrl_c_ends_soon(options):
    """In compiled code of a program of the user, which installs no handlers."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.replace("OPTIONS", repr(options))], env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert process.stdout.readline() == "begins\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT and said.endswith("KeyboardInterrupt\n")


def test_arguments_at_kinks_and_jumps_are_refused_and_kinks_nearby_are_avoided():
    """The derivative of a system with respect to an argument has an error; a smaller step finds the smooth piece of a table."""

    def slope(length, at):
        return sensitivities(lambda x: models.pendulum.build(length=length(x)), {"x": at}, 0.2)

    smooth = slope(np.cos, 0.3)
    assert 0.0 < smooth.argument_errors[0] < 1e-9
    assert smooth.slopes[..., 0] == pytest.approx(
        -np.sin(0.3) * slope(float, np.cos(0.3)).slopes[..., 0], rel=1e-8, abs=1e-9
    )
    table = slope(
        lambda x: float(np.interp(x, [0.5, 1.0, 1.5], [0.5, 1.0, 3.0])), 1.0001
    )  # a kink within the first step
    assert table.slopes[..., 0] == pytest.approx(4.0 * slope(float, 1.0004).slopes[..., 0], rel=1e-8, abs=1e-9)
    for length in (lambda x: max(x, 1.0), lambda x: 1.0 + 0.1 * (x > 1.0)):
        assert_refused(
            ("the derivative by x at 1: ", " has a kink or a jump there, where its slopes differ"), slope, length, 1.0
        )
    assert (sensitivities(models.pendulum.build(), {"mass.rod": 1.0}, 0.1).argument_errors == 0.0).all()
