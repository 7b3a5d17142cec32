"""Energy balance of runs: work against closed forms, and the remark where the tolerance does not explain the error."""

import pickle

import numpy as np
import pytest

import codegen
import models
import runtime
from runtime import Builder, ModelError, Signal, simulate
from tests.support.conformance import PROBLEMS, started

METHODS = ["dop853", "radau", "BDF"]
TIMES = np.linspace(0.0, 1.0, 21)
ANGLE = dict(h_i=(0, 1, 0), a_i=(0, 0, -1), b_j=(0, 0, -1))  # of a hinge about y, from below
REMARK = "the energy balance is off by"


def arm(rate=2.0):
    b = Builder("arm")
    b.body("arm", mass=2.0, inertia=(0.02, 0.02, 0.002), r=(0, 0, -0.2), v=(-0.2 * rate, 0, 0), omega=(0, rate, 0))
    b.joint("shoulder", "revolute", "ground", "arm", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.2), a_j=(0, 1, 0))
    return b


def wheel(rate=0.0):
    b = Builder("wheel")
    b.body("wheel", mass=1.0, inertia=(0.1, 0.2, 0.1), omega=(0, rate, 0))
    b.joint("axle", "revolute", "ground", "wheel", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0), a_j=(0, 1, 0))
    return b


def ball(law, **parameters):
    b = Builder("ball")
    b.body("ball", mass=0.4, inertia=(2e-4, 2e-4, 2e-4), r=(0, 0, 0.1), free=True)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law=law, **parameters)
    return b.build()


def limited(max_moment, compliance, **options):
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (30, 60, 45, 20, 30))
    b = Builder("limited pendulum")
    b.body("rod", mass=3.5, inertia=(0.026, 0.026, 0.0002), r=(0, 0, -0.15), omega=(5, 0, 0), v=(0, 0.75, 0))
    b.joint("pivot", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.15))
    b.limit(
        "swing", "pivot", reference="ground", xi=(-1, 0, 0), eta=(0, 1, 0), direction=(0, 0, -1), cone=cone,
        max_moment=max_moment, compliance=compliance, **options,
    )  # fmt: skip
    return b.build()


def balance_of(system, method="dop853", t_end=1.0, t_eval=TIMES, tolerance=1e-9, **options):
    """A run and its balance, whose error the tolerance explains."""
    run = simulate(system, t_end, method=method, rtol=tolerance, atol=tolerance, t_eval=t_eval, **options)
    assert run.success and REMARK not in run.message, run.message
    found = run.energy_balance
    assert found.largest_error <= found.explained
    assert np.abs(found.error).max() <= 10.0 * found.explained  # the dense output is less accurate than the steps
    assert found.energy == pytest.approx(run.energy, abs=0)
    return run, found


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_moment_does_work_along_the_angle(method):
    b = wheel()
    b.motor("drive", "guided_angle", "ground", "wheel", theta_t=0.0, effort=2.5, **ANGLE)
    _, found = balance_of(b.build(), method)
    assert list(found.work) == ["drive"]
    assert found.work["drive"] == pytest.approx(2.5 * 0.5 * (2.5 / 0.2) * TIMES**2, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_the_damper_of_a_wheel(method):
    """omega = omega0 exp(-c t / J): the damper takes what the wheel loses, and the spring of the motor takes nothing."""
    b = wheel(3.0)
    b.motor("drag", "guided_angle", "ground", "wheel", theta_t=0.0, damping=0.4, **ANGLE)
    _, found = balance_of(b.build(), method)
    assert found.work["drag"] == pytest.approx(0.9 * (np.exp(-2 * 0.4 * TIMES / 0.2) - 1.0), abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_load_does_work_along_the_way(method):
    b = Builder("free")
    b.body("body", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0, 0, 0), omega=(1.0, 2.0, 3.0), free=True)
    b.load("pull", "body", force=(3.0, 0, 1.0))
    run, found = balance_of(b.build(), method)
    assert found.work["pull"] == pytest.approx(run.r["body"] @ [3.0, 0.0, 1.0], abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_a_driven_crank(method):
    """Of one degree of freedom that a driver prescribes, energy and work follow from the signal."""
    b = arm(0.0)
    signal = Signal.spline(TIMES, 0.4 * TIMES**2 * (3.0 - 2.0 * TIMES))
    b.driver("crank", "guided_angle", "ground", "arm", theta_t=signal, **ANGLE)
    b.load("push", "arm", force=(3.0, 0, 0))
    run, found = balance_of(b.build(), method)
    angle, rate = signal(TIMES), signal(TIMES, 1)
    energy = 0.5 * (0.02 + 2.0 * 0.04) * rate**2 - 2.0 * 9.81 * 0.2 * np.cos(angle)
    push = 3.0 * run.r["arm"][:, 0]
    assert list(found.work) == ["push", "crank"]
    assert found.work["push"] == pytest.approx(push, abs=1e-7) and push[-1] < -0.2
    assert found.work["crank"] == pytest.approx(energy - energy[0] - push, abs=1e-6)


ABSOLUTE = dict(coordinates="absolute")


@pytest.mark.parametrize(
    ("method", "more"),
    [("dop853", dict(coordinates="joint")), ("dop853", ABSOLUTE), ("radau", ABSOLUTE), ("radau", dict(alpha=5.0, beta=5.0))],
)  # fmt: skip
def test_a_driver_of_a_loop(method, more):
    """A four-bar with redundant rows, whose energy follows from the angle of its crank."""
    problem = PROBLEMS["driven_loop"]()
    system, energy = started(problem, 0)[0], problem.exact(0)["energy"]
    _, found = balance_of(system, method, t_eval=problem.t, **more)
    assert found.work["drive"] == pytest.approx(energy - energy[0], abs=1e-6) and np.ptp(energy) > 0.1


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("t_eval", [TIMES, None])
@pytest.mark.parametrize(
    ("law", "parameters"),
    [
        ("hunt_crossley", dict(stiffness=1e6, exponent=1.5, loss=0.3)),
        ("kelvin_voigt", dict(stiffness=1e5, exponent=1.0, damping=30.0)),  # its force ends before the sphere is out
        ("flores", dict(stiffness=1e6, exponent=1.5, restitution=0.7)),
        ("hertz", dict(stiffness=1e6)),
    ],
)
def test_a_bouncing_ball(law, parameters, method, t_eval):
    """In the air the work is the kinetic energy lost at the impacts, whose speeds are those of touch-down and lift-off."""
    run, found = balance_of(ball(law, **parameters), method, 1.0, t_eval)
    sole = run.contacts["sole"]
    height = sole.penetration < 0.0
    assert found.work["sole"][height] == pytest.approx((run.energy - run.energy[0])[height], abs=2e-7)
    assert (abs(found.work["sole"][-1]) < 1e-6) == (law == "hertz")


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_sliding_friction(method):
    """mu N s: the block slides so far that its speed is far above the transition velocity."""
    mu, stiffness, v0, t = 0.3, 1e5, 2.0, np.linspace(0.0, 0.5, 11)
    b = Builder("block")
    b.body("block", mass=1.0, inertia=(1e6, 1e6, 1e6), r=(0, 0, 0.05 - 9.81 / stiffness), v=(v0, 0, 0), free=True)
    b.contact(
        "sole", "block", centre=(0, 0, 0), radius=0.05, law="kelvin_voigt", stiffness=stiffness, damping=0.0, exponent=1.0,
        friction="coulomb", mu_c=mu, mu_d=0.0,
    )  # fmt: skip
    run, found = balance_of(b.build(), method, 0.5, t)
    way = v0 * t - 0.5 * mu * 9.81 * t**2
    assert found.work["sole"] == pytest.approx(-mu * 9.81 * way, abs=1e-7)
    assert found.energy[0] == pytest.approx(run.energy[0])


def test_a_belt_does_work():
    """On a belt that moves at a constant speed a block gains kinetic energy until it moves with it; the rest is heat."""
    b = Builder("belt")
    b.body("block", mass=1.0, inertia=(1e6, 1e6, 1e6), r=(0, 0, 0.05 - 9.81e-5), free=True)
    b.contact(
        "sole", "block", centre=(0, 0, 0), radius=0.05, law="kelvin_voigt", stiffness=1e5, damping=0.0, exponent=1.0,
        friction="coulomb", mu_c=0.5, mu_d=0.0, belt=(1, 0, 0), belt_speed=1.0,
    )  # fmt: skip
    run, found = balance_of(b.build(), "radau", 0.1, np.linspace(0.0, 0.1, 5))
    speed = run.v["block"][:, 0]
    assert abs(speed[-1]) > 0.4
    assert found.work["sole"] == pytest.approx(0.5 * speed**2, abs=1e-6)


def winch(r_i, s_i, r_j, s_j, stiffness, coordinate, length_t):
    """Spring whose free length is prescribed.

    stiffness : [N/m], 0 <= stiffness
    length_t : [m]
    """
    stretch = coordinate((r_j + s_j - r_i - s_i).norm()) - length_t
    return {"potential": stiffness / 2 * stretch**2}


@pytest.mark.parametrize("method", METHODS)
def test_a_potential_that_depends_on_time(method):
    """The winch does work, -tension times the rate of its free length, though the force has a potential."""
    b = Builder("winch")
    b.body("load", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.0), free=True)
    b.force(
        "rope", codegen.compile_force(winch), "ground", "load", s_i=(0, 0, 0), s_j=(0, 0, 0), stiffness=2e3,
        length_t=Signal.spline(TIMES, 1.0 - 0.3 * TIMES**2),
    )  # fmt: skip
    run, found = balance_of(b.build(), method)
    assert found.work["rope"][-1] > 3.0
    assert found.work["rope"] == pytest.approx(run.energy - run.energy[0], abs=5e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", ["conservative", "as_published"])
def test_limits(law, method):
    """Elastic limits of the conservative law do no work that is not stored; damping and the law "as_published" do."""
    elastic, found = balance_of(limited(226.0, 0.2, law=law), method)
    assert np.abs(found.work["swing"]).max() < 1e-12 if law == "conservative" else np.ptp(found.work["swing"]) > 0.01
    damped, found = balance_of(limited(226.0, 0.2, law=law, damping=0.01), method)
    assert found.work["swing"] == pytest.approx(damped.energy - damped.energy[0], abs=1e-6)
    assert elastic.stats.method == method


def test_both_methods_in_one_run():
    run, found = balance_of(models.pendulum.build(limits="dissipative"), "auto", 2.0, None, 1e-8)
    assert [part.method for part in run.stats.parts] == ["dop853", "radau"]
    assert found.work["pivot"][-1] == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_an_event_ends_the_work(method):
    b = wheel()
    b.motor("drive", "guided_angle", "ground", "wheel", theta_t=0.0, effort=2.5, **ANGLE)
    fast = runtime.Event("fast", lambda t, state: state.omega["wheel"][1] - 5.0, terminal=True)
    run, found = balance_of(b.build(), method, t_eval=None, events=[fast])
    assert run.t[-1] == pytest.approx(0.4)
    assert found.work["drive"][-1] == pytest.approx(0.5 * 0.2 * 25.0, abs=1e-7)


def test_names_of_two_kinds():
    b = arm()
    b.load("push", "arm", force=(1.0, 0, 0))
    b.motor("push", "guided_angle", "ground", "arm", theta_t=0.0, effort=0.1, **ANGLE)
    assert list(balance_of(b.build())[1].work) == ["push (load)", "push (motor)"]


def test_an_unpickled_run_has_its_balance():
    b = arm()
    b.load("push", "arm", force=(1.0, 0, 0))
    run, found = balance_of(b.build())
    again = pickle.loads(pickle.dumps(run)).energy_balance
    assert again.work["push"] == pytest.approx(found.work["push"], abs=0) and again.explained == found.explained


def test_driven_motions_have_none():
    b = arm(0.0)
    b.driver("crank", "guided_angle", "ground", "arm", theta_t=0.0, **ANGLE)
    motion = runtime.inverse_dynamics(b.build(), TIMES)
    with pytest.raises(
        ModelError, match=r"has no energy balance; the powers of the drivers are in driven\[name\]\.power"
    ):
        _ = motion.energy_balance


@pytest.mark.parametrize(
    ("max_moment", "compliance", "tolerance"), [(1e9, 1e-3, 1e-3), (1e9, 1e-3, 1e-5), (1e8, 1e-3, 1e-3)]
)
def test_a_limit_that_is_stiffer_than_the_tolerance_resolves(max_moment, compliance, tolerance):
    """Its motion gains or loses energy in success; the remark names the error, the time and the remedy, which helps."""
    system = limited(max_moment, compliance)
    run = simulate(system, 2.0, rtol=tolerance, atol=tolerance)
    found = run.energy_balance
    assert run.success and REMARK in run.message and "lower rtol and atol" in run.message
    assert f"{found.largest_error:.2g} J at t = {found.time:.6g} s" in run.message
    assert found.largest_error > found.explained and found.largest_error > 3e-4 * run.kinetic_energy.max()
    assert REMARK not in simulate(system, 2.0, rtol=1e-9, atol=1e-9).message


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("method", ["auto", "radau"])
@pytest.mark.parametrize(
    "build",
    [
        lambda: models.foot.build(limits="elastic"),
        lambda: models.pendulum.build(limits="dissipative"),
        models.double_pendulum.build,
        models.four_bar.build,
        lambda: limited(226.0, 0.2),
        lambda: ball("hertz", stiffness=1e6),
    ],
    ids=["foot", "pendulum", "double pendulum", "four-bar", "limit", "ball"],
)
def test_no_remark_where_the_tolerance_explains_the_error(build, method, tolerance):
    run = simulate(build(), 0.5, method=method, rtol=tolerance, atol=tolerance)
    assert run.success and REMARK not in run.message, run.message


def flywheel():
    """A wheel, and a motor about an axis across its axle, whose target has kinks: it does work on its own spring alone."""
    b, times = wheel(), np.linspace(0.0, 1.0, 5)
    target = Signal.spline(times, [0.0, 0.7, -0.4, 0.9, 0.1], degree=1)
    across = dict(a_i=(0, 1, 0), h_i=(1, 0, 0), b_j=(0, 1, 0))
    b.motor("idle", "guided_angle", "ground", "wheel", **across, theta_t=target, stiffness=2.0)
    return b.build()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_work_that_the_motion_does_not_feel(method):
    """Steps do not follow it at any tolerance; the remark says so, and its remedy helps."""
    system, end = flywheel(), 0.5
    loose = simulate(system, end, method=method, rtol=1e-12, atol=1e-12)
    assert REMARK in loose.message and "abruptly" in loose.message and "give max_step" in loose.message
    tight = simulate(system, end, method=method, rtol=1e-12, atol=1e-12, max_step=1e-4)
    assert tight.energy_balance.largest_error < 0.05 * loose.energy_balance.largest_error
    codegen.compile_model(system)
    cases = {"inertia.wheel": [(0.1, 0.2, 0.1)] * 2}
    if method == "dop853":
        many = runtime.simulate_many(system, cases, end, rtol=1e-12, atol=1e-12)
        assert many.vectorised.all() and all("abruptly" in text for text in many.messages.values()) and many.messages
