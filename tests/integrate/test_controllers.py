"""Controllers: sampled laws against the closed form of the sampled system, exact times, and runs with all else."""

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm

import models
import runtime
from codegen import compile_force

INERTIA, STIFFNESS, DAMPING = 1.1, 3.0, 0.4  # about the hinge; of the motor's own spring and damper
KP, KD = 40.0, 6.0
EXACT = {"rtol": 1e-12, "atol": 1e-12}


def arm(*, gravity=0.0, effort=0.0):
    """An arm on a hinge, off its zero and in motion."""
    b = runtime.Builder("arm", gravity=(0, 0, -gravity))
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.0))
    b.joint("hinge", "revolute", "ground", "arm", s_i=(0, 0, 0), s_j=(0, 0, 1.0), a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.motor("motor", coordinate="hinge.angle", effort=effort, stiffness=STIFFNESS, damping=DAMPING)
    b.initial_coordinates("hinge", angle=0.5, rates={"angle": -0.3})
    return b.build()


def coordinates(state):
    """Angle and rate of the arm."""
    return np.array([state.coordinate("hinge.angle"), state.rate("hinge.angle")])


def law(t, state):
    q, u = coordinates(state)
    return -KP * q - KD * u


def sampled(period, calls):
    """Angle and rate at the calls, (calls + 1, 2): x' = A x + B u, u = -K x held from call to call."""
    A = np.array([[0.0, 1.0], [-STIFFNESS / INERTIA, -DAMPING / INERTIA]])
    both = np.zeros((3, 3))
    both[:2, :2], both[1, 2] = A, 1.0 / INERTIA
    step = expm(both * period)
    x = [np.array([0.5, -0.3])]
    for _ in range(calls):
        x.append(step[:2, :2] @ x[-1] + step[:2, 2] * -(KP * x[-1][0] + KD * x[-1][1]))
    return np.array(x)


@pytest.mark.parametrize(
    "how", [{}, {"coordinates": "absolute"}, {"method": "radau"}], ids=["joint", "absolute", "radau"]
)
def test_closed_form_of_the_sampled_law(how):
    """At 1 kHz, at the calls, with one step from call to call by dop853, which begins with the derivative of the new effort."""
    controller = runtime.Controller("pd", law, 1000.0, efforts=["motor"])
    run = runtime.simulate(arm(), 0.2, controllers=[controller], t_eval=np.arange(201) / 1000.0, **EXACT, **how)
    expected = sampled(1e-3, 200)
    assert run.success and (run.stats.steps < 220 or how == {"method": "radau"})
    assert np.abs(run.angles["hinge"].angle - expected[:, 0]).max() < 1e-9
    assert np.abs(run.angles["hinge"].rates["angle"] - expected[:, 1]).max() < 1e-9
    effort = run.system.motors[0].effort
    assert effort(np.arange(200) / 1000.0) == pytest.approx(-expected[:200] @ [KP, KD], abs=1e-7)


def test_slow_calls_and_outputs_between_them():
    """At 4 Hz the held effort is far from the continuous law, and the dense output is that of the step before the call."""
    times = np.linspace(0.0, 2.0, 81)
    controller = runtime.Controller("pd", law, period=0.25, efforts=["motor"])
    run = runtime.simulate(arm(), 2.0, controllers=[controller], t_eval=times, **EXACT)
    expected = sampled(0.25, 8)
    assert np.abs(run.angles["hinge"].angle[::10] - expected[:, 0]).max() < 1e-9
    assert np.abs(expected[-1]).max() > 0.1 * np.abs(expected[0]).max()
    work = run.energy_balance.work["motor"]
    assert np.abs(run.energy_balance.error).max() < 1e-9 < np.abs(work).max()


def test_steps_end_at_the_calls():
    """At the very times k / rate, from a start that is no multiple of the period; two rates at once."""
    seen = {"fast": [], "slow": []}

    def remember(name, effort):
        return lambda t, state: seen[name].append(t) or effort

    b = runtime.Builder()
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.0))
    b.joint("pin", "universal", "ground", "arm", s_i=(0, 0, 0), s_j=(0, 0, 1.0), a_i=(0, 1, 0), a_j=(1, 0, 0))
    b.motor("one", coordinate="pin.theta_i")
    b.motor("two", coordinate="pin.theta_j")
    controllers = [
        runtime.Controller("fast", remember("fast", {"one": 1.0}), 30.0, efforts=["one"]),
        runtime.Controller("slow", remember("slow", [2.0]), period=0.1, efforts=["two"]),
    ]
    run = runtime.simulate(b.build(), 1.3, t_start=0.3, controllers=controllers)
    assert seen["fast"] == [0.3 + k / 30.0 for k in range(len(seen["fast"]))] and len(seen["fast"]) == 30
    assert np.abs(np.array(seen["slow"]) - 0.3 - 0.1 * np.arange(10)).max() < 1e-12
    assert set(seen["fast"]) | set(seen["slow"]) <= set(run.t)


def test_constant_effort_is_that_of_a_motor():
    """Also with events, terminal ones among them, and outputs."""
    event = runtime.Event("up", lambda t, state: coordinates(state)[0] - 0.7, terminal=True)
    controller = runtime.Controller("constant", lambda t, state: 14.0, 50.0, efforts=["motor"])
    times = np.linspace(0.0, 3.0, 61)
    held = runtime.simulate(arm(gravity=9.81), 3.0, controllers=[controller], events=[event], t_eval=times, **EXACT)
    motor = runtime.simulate(arm(gravity=9.81, effort=14.0), 3.0, events=[event], t_eval=times, **EXACT)
    assert held.status == motor.status == runtime.Status.STOPPED_BY_EVENT
    assert held.events["up"] == pytest.approx(motor.events["up"], abs=1e-10)
    assert np.abs(held.states - motor.states).max() < 1e-9


def test_limits_and_contacts():
    """A ball that a controller holds in the air and lets fall on the ground: touch-down at the time of free fall."""
    b = runtime.Builder("lift")
    b.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 1.0))
    b.joint("rail", "translational", "ground", "ball", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 0, 1))
    b.contact("floor", "ball", centre=(0, 0, 0), radius=0.5, law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.1)
    b.motor("lift", coordinate="rail.distance")
    controller = runtime.Controller("let go", lambda t, state: 2.0 * 9.81 * (t < 0.1499), 20.0, efforts=["lift"])
    for method in ("auto", "radau"):
        run = runtime.simulate(b.build(), 1.0, controllers=[controller], method=method, **EXACT)
        assert run.success and run.contact_events[0, 0] == pytest.approx(0.15 + np.sqrt(2 * 0.5 / 9.81), abs=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(rate_hz=None), "give either rate_hz or period"),
        (dict(period=1.0), "give either rate_hz or period"),
        (dict(rate_hz=0.0), "controller 'pd': rate_hz = 0"),
        (dict(efforts=[]), "give names of motors"),
        (dict(efforts=["moter"]), "controller 'pd': unknown motor 'moter'; did you mean 'motor'"),
        (dict(function=lambda t, state: [1.0, 2.0]), "returned 2 efforts; return 1"),
        (dict(function=lambda t, state: {"other": 2.0}), "returned efforts of other; return the efforts of motor"),
        (dict(function=lambda t, state: np.nan), "effort of 'motor' = nan"),
        (dict(function=lambda t, state: 10**400), "effort of 'motor' = inf is not finite"),
        (dict(function=lambda t, state: 1 / 0), "controller 'pd': its function failed: ZeroDivisionError"),
    ],
)
def test_refused_controllers(given, message):
    with pytest.raises(runtime.ModelError, match=message):
        controller = runtime.Controller("pd", **dict(function=law, rate_hz=10.0, efforts=["motor"]) | given)
        runtime.simulate(arm(), 1.0, controllers=[controller])


def test_refused_runs():
    controller = runtime.Controller("pd", law, 10.0, efforts=["motor"])
    with pytest.raises(runtime.ModelError, match="method 'BDF' knows no controllers; use 'auto' or"):
        runtime.simulate(arm(), 1.0, controllers=[controller], method="BDF")
    with pytest.raises(runtime.ModelError, match="the effort of motor 'motor' is set twice"):
        runtime.simulate(arm(), 1.0, controllers=[controller, controller])
    signal = runtime.Signal.spline([0, 1, 2, 3], [0, 1, 0, 1], degree=3)
    with pytest.raises(runtime.ModelError, match="the effort of motor 'motor' is a signal of time"):
        runtime.simulate(arm(effort=signal), 1.0, controllers=[controller])


@pytest.mark.parametrize(
    "how",
    [{}, {"coordinates": "absolute"}, {"method": "radau", "coordinates": "absolute"}],
    ids=["joint", "absolute", "radau"],
)
def test_states_have_coordinates_by_name_with_whole_turns(how):
    """As in the result, for three turns; also in functions of events and between steps of a program."""
    seen, of_events = [], {}

    def look(t, state):
        seen.append((t, state.coordinate("hinge"), state.rate("hinge.angle")))
        e0, _, e2, _ = state.p["arm"]
        assert np.tan(0.5 * seen[-1][1]) == pytest.approx(e2 / e0, abs=1e-9)
        return 40.0

    controller = runtime.Controller("look", look, 20.0, efforts=["motor"])
    passed = runtime.Event("two turns", lambda t, state: state.coordinate("hinge.angle") - 4.0 * np.pi)
    start = runtime.simulate(arm(), 1.8, controllers=[controller], t_eval=np.arange(36) / 20.0, **EXACT, **how)
    angles = start.angles["hinge"]
    times, values, rates = np.array(seen).T
    assert times == pytest.approx(start.t) and angles.angle.max() > 6.0 * np.pi
    assert values == pytest.approx(angles.angle, abs=1e-9) and rates == pytest.approx(angles.rates["angle"], abs=1e-9)
    again = runtime.simulate(start.system, 1.8, events=[passed], t_eval=start.t, **EXACT, **how)
    (t,) = again.events["two turns"]
    k = np.searchsorted(start.t, t)
    assert angles.angle[k - 1] < 4.0 * np.pi < angles.angle[k]

    stepping = runtime.Stepping(arm(effort=40.0), rtol=1e-11, atol=1e-11, **how)
    for until in start.t[1:]:
        stepping.step(until=float(until))
        of_events[until] = stepping.state.coordinate("hinge.angle")
    assert list(of_events.values()) == pytest.approx(angles.angle[1:], abs=1e-6)
    if not how:  # coordinates of the joints are integrated, and known after any step
        stepping = runtime.Stepping(arm(effort=40.0), rtol=1e-11, atol=1e-11)
        stepping.step(until=float(start.t[-1]))
        assert stepping.state.coordinate("hinge") == pytest.approx(angles.angle[-1], abs=1e-6)
    with pytest.raises(runtime.ModelError, match="unknown coordinate 'hinge.angel'; did you mean 'hinge.angle'"):
        stepping.state.rate("hinge.angel")


@pytest.mark.parametrize("how", [{"coordinates": "joint"}, {"coordinates": "absolute"}, {"method": "DOP853"}])
def test_arrays_of_coordinates(how):
    """Of two hinges, one walked from body j, and a slide: those by name, as the run and the bodies' poses have them."""
    b = runtime.Builder("chain", gravity=(0, 0, -9.81))
    for k, name in enumerate(("one", "two", "slider")):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.0 - k))
    b.joint("top", "revolute", "ground", "one", axes="global", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("knee", "revolute", "two", "one", axes="global", point=(0, 0, -1.5), axis=(0, 1, 0))
    b.joint("rail", "translational", "two", "slider", axes="global", point=(0, 0, -2.5), axis=(1, 0, 0))
    b.initial_coordinates("top", angle=0.5, rates={"angle": 9.0})
    system = b.build()
    mechanics, seen = runtime.mechanics(system), []

    def look(t, state):
        names = mechanics.coordinate_names
        q, u = mechanics.of(state)
        by_name = [[of(name) for name in names] for of in (state.coordinate, state.rate)]
        seen.append((t, [state.q, q, by_name[0]], [state.u, u, by_name[1]]))
        state.q[:] = np.nan  # a copy
        return 1.0

    run = runtime.simulate(system, 1.0, events=[runtime.Event("look", look)], **EXACT, **how)
    times, values, rates = map(np.array, zip(*seen, strict=True))
    assert np.abs(values[-1, 0]).max() > np.pi
    again = runtime.simulate(system, 1.0, t_eval=np.unique(times), **EXACT, **how)
    at = np.searchsorted(again.t, times)
    for k, name in enumerate(mechanics.coordinate_names):
        angles, _, of = name.partition(".")
        both = again.angles[angles]
        for one in range(3):
            assert values[:, one, k] == pytest.approx(both.values[of][at], abs=1e-8)
            assert rates[:, one, k] == pytest.approx(both.rates[of][at], abs=1e-7)
    assert run.success
    if "method" not in how:
        stepping = runtime.Stepping(system, **EXACT, **how)
        stepping.step(1.0)
        state = stepping.state
        (q, u), (of_bodies, rates) = mechanics.of(state), mechanics.of(state.replace())
        turns = (q - of_bodies) / (2.0 * np.pi)
        assert u == pytest.approx(rates, abs=1e-9) and turns == pytest.approx(np.round(turns), abs=1e-9)


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 1.0, 21)], ids=["steps", "times"])
@pytest.mark.parametrize("event", [None, runtime.Event("never", lambda t, state: 1.0)], ids=["compiled", "stepwise"])
def test_a_controller_that_fails_ends_the_run(t_eval, event):
    """At its call, as a function of an event does; what was computed is kept."""

    def fails_later(t, state):
        return 14.0 if t < 0.449 else 1 / 0

    def run(function, end=1.0):
        controller = runtime.Controller("pd", function, 20.0, efforts=["motor"])
        events = [] if event is None else [event]
        return runtime.simulate(arm(), end, controllers=[controller], t_eval=t_eval, events=events, **EXACT)

    failed, whole = run(fails_later), run(lambda t, state: 14.0)
    assert failed.status is runtime.Status.CONTROLLER_FAILED and not failed.success
    said = f"{failed.status.sentence} at t = 0.45 s: controller 'pd': its function failed: ZeroDivisionError"
    assert failed.message.startswith(said) and failed.message.endswith(failed.status.remedy)
    assert failed.t[-1] == pytest.approx(0.45) and np.array_equal(failed.states, whole.states[: len(failed.t)])
    assert failed.system.motors[0].effort(0.4) == 14.0 and np.isfinite(failed.energy_balance.error).all()


def test_cases_with_controllers_run_one_by_one(tmp_path):
    """Functions with a memory of their own are made for each case; folders know them; what fails is said of its case."""

    def integral():
        total = 0.0

        def act(t, state):
            nonlocal total
            total += state.coordinate("hinge.angle")
            return -KP * state.coordinate("hinge.angle") - 5.0 * total

        return [runtime.Controller("integral", act, 50.0, efforts=["motor"])]

    stiffness, how = [1.0, 3.0, 5.0], dict(t_eval=np.linspace(0, 0.5, 11), **EXACT)
    many = runtime.simulate_many(
        arm(), {"stiffness.motor": stiffness}, 0.5, controllers=integral, outputs=["angle.hinge.angle", "motor_effort.motor"],
        out=tmp_path / "many", **how,
    )  # fmt: skip
    assert many.success and not many.vectorised.any()
    for case, value in enumerate(stiffness):
        system = runtime.with_parameters(arm(), {"stiffness.motor": value})
        run = runtime.simulate(system, 0.5, controllers=integral(), method="dop853", **how)
        assert many["angle.hinge.angle"][case] == pytest.approx(run.angles["hinge"].angle, abs=1e-10)
        assert many["motor_effort.motor"][case] == pytest.approx(run.motors["motor"].effort, abs=1e-8)
        assert np.array_equal(many["angle.hinge.angle"][case], many[case].angles["hinge"].angle)
    with pytest.raises(runtime.ModelError, match="its controllers are a function, not none"):
        outputs = ["angle.hinge.angle", "motor_effort.motor"]
        runtime.simulate_many(arm(), {"stiffness.motor": stiffness}, 0.5, outputs=outputs, out=tmp_path / "many", **how)

    picky = runtime.Controller(
        "picky", lambda t, state: 1.0 if abs(state.rate("hinge")) < 3.0 else 1 / 0, 50.0, efforts=["motor"]
    )
    some = runtime.simulate_many(arm(), {"rate.hinge.angle": [0.0, 4.0]}, 0.5, controllers=[picky], **how)
    assert (
        some.status[0] == runtime.Status.REACHED_END and "controller 'picky': its function failed" in some.messages[1]
    )
    for wrong in (lambda: 3, lambda x: [picky], lambda: [3]):
        with pytest.raises(runtime.ModelError, match="controllers"):
            runtime.simulate_many(arm(), {"stiffness.motor": stiffness}, 0.5, controllers=wrong)
    with pytest.raises(runtime.ModelError, match="controller 'pd': unknown motor 'moter'"):
        wrong = runtime.Controller("pd", law, 10.0, efforts=["moter"])
        runtime.simulate_many(arm(), {"stiffness.motor": stiffness}, 0.5, controllers=[wrong])


def pd(a_i, b_i, c_j, kp, kd, target_t, coordinate, rate):
    """PD law on the angle of c_j about a_i from b_i.

    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : the direction on body j that is b_i at the angle 0
    kp : [N m/rad], 0 <= kp
    kd : [N m s/rad], 0 <= kd
    target_t : [rad]
    effort : [N m]
    """
    angle = coordinate(sp.atan2(c_j.dot(a_i.cross(b_i)), c_j.dot(b_i)))
    effort = -kp * (angle - target_t) - kd * (rate(angle) - rate(target_t))
    return {"forces": {angle: effort}, "effort": effort}


@pytest.mark.parametrize("by", ["force", "motor"])
def test_closed_form_of_the_continuous_law(by):
    """About a target that moves uniformly, 0.1 + 0.2 t, the deviation follows x' = A x."""
    target = runtime.Signal.spline(np.linspace(0, 2, 9), 0.1 + 0.2 * np.linspace(0, 2, 9))
    b = runtime.Builder("arm", gravity=(0, 0, 0))
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.0))
    b.joint("hinge", "revolute", "ground", "arm", s_i=(0, 0, 0), s_j=(0, 0, 1.0), a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.initial_coordinates("hinge", angle=0.5, rates={"angle": -0.3})
    if by == "force":
        axes = dict(a_i=(0, 1, 0), b_i=(1, 0, 0), c_j=(1, 0, 0))
        b.force("law", compile_force(pd), "ground", "arm", **axes, kp=KP, kd=KD, target_t=target)
    else:
        b.motor("law", coordinate="hinge.angle", stiffness=KP, damping=KD, target=target)
    run = runtime.simulate(b.build(), 2.0, t_eval=np.linspace(0, 2, 41), **EXACT)
    A = np.array([[0.0, 1.0], [-KP / INERTIA, -KD / INERTIA]])
    expected = np.array([expm(A * t) @ [0.4, -0.5] for t in run.t])
    assert np.abs(run.angles["hinge"].angle - 0.1 - 0.2 * run.t - expected[:, 0]).max() < 1e-9
    assert np.abs(run.angles["hinge"].rates["angle"] - 0.2 - expected[:, 1]).max() < 1e-9
    if by == "force":
        assert run.forces["law"].effort == pytest.approx(-expected @ [KP, KD], abs=1e-7)


MODELS = {
    "foot with limits": (lambda: models.foot.build(ankle="modified", limits="elastic"), "ankle.theta_i", 0.5),
    "closed loop": (lambda: models.four_bar.build("revolute", crank_angle=-1.2), "A.angle", 2.0),
}


@pytest.mark.parametrize("name", MODELS)
def test_limits_and_loops(name, tmp_path):
    """A constant law gives the motion that the motor gives, though steps end at the calls."""
    build, coordinate, effort = MODELS[name]
    system = build()

    def with_motor(effort):
        b = runtime.Builder.from_file(system.to_file(tmp_path / "model.json", overwrite=True))
        b.motor("motor", coordinate=coordinate, effort=effort)
        return b.build()

    controller = runtime.Controller("constant", lambda t, state: effort, 100.0, efforts=["motor"])
    how = dict(t_eval=np.linspace(0, 0.3, 31), rtol=1e-11, atol=1e-11)
    held, motor = (
        runtime.simulate(with_motor(e), 0.3, controllers=c, **how) for e, c in ((0.0, [controller]), (effort, []))
    )
    assert held.success and motor.success
    assert np.abs(held.states - motor.states).max() < 1e-7
    assert np.abs(motor.states - runtime.simulate(system, 0.3, **how).states).max() > 1e-3
