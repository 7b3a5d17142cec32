"""Excitations by reflexes: against integrations of the same equations, motions in closed form, and the other ways to run."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import codegen
import models
import runtime
from tests.support.delayed_reflexes import BASE, MASS, OF_LENGTH, OF_SPEED, REST, SPEED, cart, carts, place
from tests.support.muscles import HILL, MUSCLE, OVER_CYLINDER, PATH, builder, hill
from tests.support.refusals import refused_with

TIMES = np.linspace(0.0, 0.4, 9)
TIGHT = dict(rtol=1e-10, atol=1e-10)
STRETCH = dict(length_gain=4.0, speed_gain=2.0, normalized_rest_length=0.98, normalized_speed_threshold=0.02)
STRAIGHT = [PATH[0], PATH[2]]
START, END = np.array(STRAIGHT[0][1]), np.array(STRAIGHT[1][1]) + (0, 0, -0.2)  # with the knee at 0
INERTIA = 0.05 + 3.0 * 0.2**2
KINDS = (("speed", 0.06), ("length", 0.06), ("speed", 0.1), ("length", 0.037))
WAYS = [("dop853", "joint"), ("dop853", "absolute"), ("radau", "absolute")]


def leg(excitation=0.1, reflex="stretch", delay=0.0, path=STRAIGHT, rate=2.0, **more):
    """The leg, whose muscle lengthens at first."""
    b = builder(hill, path, excitation, rate=rate)
    b._of["forces"].clear()
    constants = HILL | (STRETCH if reflex == "stretch" else {"gain": 2.0}) | more
    b.muscle(
        "flexor", codegen.compile_muscle(hill), path, excitation=excitation, reflex=reflex, delay=delay, **constants
    )
    return b.build()


def length_of(q, u):
    """Length of the straight path and its rate at an angle of the knee, in closed form."""
    (x, _, z), s, c = END, np.sin(q), np.cos(q)
    end, rate = np.array([c * x + s * z, 0.0, c * z - s * x]), np.array([c * z - s * x, 0.0, -s * z - c * x])
    between = end - START
    length = np.sqrt(between @ between)
    return length, between @ rate / length * u, between @ rate / length


def stretch(length, speed):
    """The reflex in NumPy."""
    optimal, rest = HILL["optimal_fiber_length"], HILL["optimal_fiber_length"] + HILL["tendon_slack_length"]
    v = speed / (optimal * HILL["max_contraction_velocity"]) - STRETCH["normalized_speed_threshold"]
    long = length - STRETCH["normalized_rest_length"] * rest
    return STRETCH["length_gain"] * max(long, 0.0) / optimal + STRETCH["speed_gain"] * max(v, 0.0)


def motion(system):
    """The derivative of (angle, rate, activation, length of the fibre), by excitation, with the start."""
    names = sp.symbols("length length_dot excitation activation fiber_length " + " ".join(HILL), real=True)
    law = sp.lambdify(names, [*hill(*names)["rates"].values(), hill(*names)["tension"]])

    def rates(y, excitation):
        q, u, *states = y
        length, speed, slope = length_of(q, u)
        *z_dot, tension = law(length, speed, min(max(excitation, 0.0), 1.0), *states, *HILL.values())
        return np.array([u, -slope * tension / INERTIA, *z_dot])

    start = [runtime.parameters(system)[f"{state}_0.flexor"] for state in ("activation", "fiber_length")]
    return rates, np.array([0.0, 2.0, *start])


def found_motion(run):
    flexor, knee = run.forces["flexor"], run.angles["knee"]
    return np.array([knee.values["angle"], knee.rates["angle"], flexor.activation, flexor.fiber_length])


@pytest.mark.parametrize(("method", "coordinates"), WAYS)
def test_a_reflex_against_an_integration_of_the_law(method, coordinates):
    """Kinks included: the muscle lengthens, and shortens again."""
    system = leg()
    run = runtime.simulate(system, TIMES[-1], t_eval=TIMES, method=method, coordinates=coordinates, **TIGHT)
    rates, start = motion(system)
    exact = solve_ivp(
        lambda t, y: rates(y, 0.1 + stretch(*length_of(*y[:2])[:2])), (0.0, TIMES[-1]), start, "LSODA", TIMES, rtol=1e-10,
        atol=1e-12, max_step=1e-3,
    ).y  # fmt: skip
    flexor = run.forces["flexor"]
    assert run.success and np.abs(found_motion(run) - exact).max() < 2e-7
    assert flexor.lengthening_speed.min() < -0.01 and flexor.lengthening_speed.max() > 0.05
    excitations = [0.1 + stretch(*length_of(*y[:2])[:2]) for y in exact.T]
    assert flexor.excitation == pytest.approx(np.clip(excitations, 0.0, 1.0), abs=1e-6)
    assert np.ptp(flexor.excitation) > 0.1 and runtime.parameters(system)["length_gain.flexor"] == 4.0


@pytest.mark.parametrize("reflex", ["lengthening_speed", "lengthening_speed_as_opensim"])
def test_the_excitation_is_within_its_bounds_but_for_that_of_opensim(reflex):
    """With a gain that leads far above 1, over a signal."""
    signal = runtime.Signal.spline([0.0, 0.2, 0.5], [0.2, 0.6, 0.1], degree=1)
    run = runtime.simulate(leg(signal, reflex, gain=40.0), 0.4, t_eval=TIMES, **TIGHT)
    flexor = run.forces["flexor"]
    fastest = HILL["optimal_fiber_length"] * HILL["max_contraction_velocity"]
    total = signal(TIMES) + 40.0 * np.maximum(flexor.lengthening_speed, 0.0) / fastest
    bounded = total if reflex.endswith("opensim") else np.minimum(total, 1.0)
    assert flexor.excitation == pytest.approx(bounded, abs=1e-12) and total.max() > 2.0
    assert run.success and (flexor.excitation < 0.9).any()


@pytest.mark.parametrize("path", [STRAIGHT, OVER_CYLINDER])
def test_cases_equal_single_runs(path):
    """In lanes: the gain, the excitation that is given, and a constant that reflex and law share."""
    system = leg(path=path)
    cases = {
        "speed_gain.flexor": np.linspace(0.0, 3.0, 8), "excitation.flexor": np.linspace(0.3, 0.0, 8),
        "optimal_fiber_length.flexor": np.linspace(0.09, 0.11, 8),
    }  # fmt: skip
    outputs = ["r.shank", "force_excitation.flexor", "force_tension.flexor"]
    many = runtime.simulate_many(system, cases, 0.3, t_eval=[0.02, 0.3], outputs=outputs, **TIGHT)
    assert many.vectorised.all() and many.success
    for k in (0, 3, 7):
        own = runtime.with_parameters(system, {name: values[k] for name, values in cases.items()}, check_units=False)
        run = runtime.simulate(own, 0.3, t_eval=[0.02, 0.3], **TIGHT)
        assert np.abs(many["r.shank"][k] - run.r["shank"]).max() < 1e-8
        assert many["force_excitation.flexor"][k] == pytest.approx(run.forces["flexor"].excitation, abs=1e-7)
        assert many["force_tension.flexor"][k] == pytest.approx(run.forces["flexor"].tension, abs=1e-4)


def test_co_activation_is_one_number_for_several_muscles():
    b = builder(hill, STRAIGHT, 0.1)
    b.muscle(
        "extensor",
        codegen.compile_muscle(hill),
        [("ground", (-0.05, 0, 0.2)), ("shank", (-0.04, 0, 0.1))],
        excitation=0.1,
        **HILL,
    )
    system, levels = b.build(), np.linspace(0.05, 0.5, 4)
    names = ["excitation.flexor", "excitation.extensor"]
    many = runtime.simulate_many(
        system, dict.fromkeys(names, levels), 0.1, outputs=["last(force_tension.extensor)"], **TIGHT
    )
    study = runtime.study(
        system, {"co_activation": (0.05, 0.5)}, 0.1, outputs=["last(force_tension.extensor)"], kind="grid", n=4,
        to_cases=lambda of: dict.fromkeys(names, of["co_activation"]), **TIGHT,
    )  # fmt: skip
    tensions = [many["last(force_tension.extensor)"], study.many["last(force_tension.extensor)"]]
    assert tensions[0] == pytest.approx(tensions[1]) and (np.diff(tensions[0]) > 1.0).all()


def test_derivatives_of_a_run_equal_differences():
    system = leg(reflex="lengthening_speed")
    names = ["gain.flexor", "excitation.flexor", "optimal_fiber_length.flexor"]
    given = {name: runtime.parameters(system)[name] for name in names}
    found = runtime.sensitivities(system, given, 0.2, rtol=1e-10, atol=1e-10)

    def end(name, value):
        other = runtime.with_parameters(system, {name: value}, check_units=False)
        return runtime.simulate(other, 0.2, t_eval=[0.2], rtol=1e-12, atol=1e-12).r["shank"][-1]

    for name in names:
        h = 1e-4 * given[name]
        slope = (end(name, given[name] + h) - end(name, given[name] - h)) / (2 * h)
        assert np.abs(found.r["shank"][-1, :, found.names.index(name)] - slope).max() < 1e-5 * np.abs(slope).max()


@pytest.mark.parametrize(("method", "coordinates"), WAYS)
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-11])
def test_motions_with_delays_in_closed_form(method, coordinates, tolerance):
    """Of four carts with two reflexes and three delays, over up to 40 delays."""
    t = np.linspace(0.0, 1.5, 76)
    run = runtime.simulate(
        carts(*KINDS), 1.5, t_eval=t, method=method, coordinates=coordinates, rtol=tolerance, atol=tolerance
    )
    assert run.success, run.message
    for n, kind in enumerate(KINDS):
        x, v = place(*kind, t)
        assert np.abs(run.r[f"cart{n}"][:, 0] - REST - x).max() < 100.0 * tolerance
        assert np.abs(run.v[f"cart{n}"][:, 0] - v).max() < 200.0 * tolerance
    assert np.abs(run.energy_balance.error).max() < 1e3 * tolerance


def test_excitations_with_delays_are_those_of_the_time_before():
    """At the start of the run, and on both sides of the delay after it."""
    t = np.array([0.0, 0.03, 0.0599999, 0.0600001, 0.1, 0.16, 0.5])
    run = runtime.simulate(carts(*KINDS), 0.5, t_eval=t, **TIGHT)
    for n, (sort, delay) in enumerate(KINDS):
        x, v = place(sort, delay, np.maximum(t - delay, 0.0))
        late = OF_SPEED * v if sort == "speed" else OF_LENGTH * x
        expected = BASE + np.where(t < delay, 0.0, late)
        assert run.forces[f"muscle_cart{n}"].excitation == pytest.approx(expected, abs=1e-8)
    assert np.abs(run.forces["muscle_cart0"].excitation - BASE).max() > 0.1


@pytest.mark.parametrize("delay", [0.06, 0.011])
def test_a_delay_against_an_integration_with_fixed_steps(delay):
    """Runge and Kutta's method of order 4 with steps of 5e-5 s; lengths and speeds between two steps by cubic interpolation."""
    system = leg(delay=delay)
    run = runtime.simulate(system, TIMES[-1], t_eval=TIMES, **TIGHT)
    rates, y = motion(system)
    h, count = 5e-5, round(TIMES[-1] / 5e-5)
    back, past = round(delay / h), [length_of(*y[:2])[:2]]
    found = [y]

    def late(k):
        """At half steps."""
        n, half = divmod(k - 2 * back, 2)
        if n < 0:
            return past[0][0], 0.0
        if not half:
            return past[n]
        (a, va), (b, vb) = past[n], past[n + 1]
        return (a + b) / 2 + h * (va - vb) / 8, 1.5 * (b - a) / h - (va + vb) / 4

    for n in range(count):
        e = [0.1 + stretch(*late(2 * n + k)) for k in range(3)]
        if n == back:  # the speed jumps
            e[0] = 0.1 + stretch(*past[0])
        a = rates(y, e[0])
        b = rates(y + h / 2 * a, e[1])
        c = rates(y + h / 2 * b, e[1])
        d = rates(y + h * c, e[2] if n + 1 != back else 0.1 + stretch(past[0][0], 0.0))
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
        past.append(length_of(*y[:2])[:2])
        found.append(y)
    exact = np.array(found)[:: count // (len(TIMES) - 1)].T
    assert np.abs(found_motion(run) - exact).max() < 3e-7
    assert np.abs(runtime.simulate(leg(), TIMES[-1], t_eval=TIMES, **TIGHT).r["shank"] - run.r["shank"]).max() > 1e-3


def test_cases_with_delays_equal_single_runs():
    """The delay is a parameter of the cases, which are single runs."""
    system, delays = leg(delay=0.06), [0.0, 0.01, 0.035, 0.06, 0.5]
    many = runtime.simulate_many(
        system,
        {"delay.flexor": delays},
        0.3,
        t_eval=[0.1, 0.3],
        outputs=["r.shank", "force_excitation.flexor"],
        **TIGHT,
    )
    assert many.success and not many.vectorised.any()
    for k, delay in enumerate(delays):
        runs = [runtime.simulate(one, 0.3, t_eval=[0.1, 0.3], **TIGHT) for one in (
            leg(delay=delay), runtime.with_parameters(system, {"delay.flexor": delay})
        )]  # fmt: skip
        for run in runs:
            assert np.array_equal(many["r.shank"][k], run.r["shank"])
            assert np.array_equal(many["force_excitation.flexor"][k], run.forces["flexor"].excitation)
    assert np.ptp(many["r.shank"][:, -1], axis=0).max() > 1e-3


def test_a_delay_of_which_a_run_is_too_many_is_named():
    short = "muscle 'muscle_cart0': no step is longer than its delay of 1e-09 s"
    remedy = "; give a longer one, or delay=0, with which its reflex is a law of the present state"
    system = carts(("speed", 1e-9), ("length", 0.06))
    refused_with(
        runtime.ModelError,
        f"{short}, which makes 1e+09 steps to t = 1 s, limit 1e+08{remedy}",
        runtime.simulate,
        system,
        1.0,
    )
    too_short = leg(delay=1e-13)
    refused_with(
        runtime.ModelError,
        "muscle 'flexor': no step is longer than its delay of 1e-13 s",
        runtime.simulate,
        too_short,
        1.0,
    )
    cases = {"delay.muscle_cart0": [0.06, 1e-9]}
    many = runtime.simulate_many(carts(("speed", 0.06)), cases, 1.0, t_eval=[1.0])
    assert many.status.tolist() == [runtime.Status.REACHED_END, runtime.Status.REFUSED] and short in many.messages[1]
    with pytest.warns(UserWarning, match=short):  # with max_steps the run begins
        run = runtime.simulate(system, 1.0, max_steps=20)
    assert run.status is runtime.Status.STEPS_USED_UP and run.message.endswith(short + remedy)
    run = runtime.simulate(carts(("speed", 0.06)), 1.0, max_steps=5)  # few steps, but not by the delay
    assert run.status is runtime.Status.STEPS_USED_UP and "delay" not in run.message


def test_without_a_delay_the_law_is_that_of_the_present():
    assert leg(delay=0.0).force("flexor").module is leg().force("flexor").module
    short, none = (runtime.simulate(leg(delay=d), 0.1, t_eval=[0.1], **TIGHT).r["shank"] for d in (1e-4, 0.0))
    assert 0.0 < np.abs(short - none).max() < 1e-4


@pytest.mark.parametrize("compiled", [True, False])
def test_events_with_a_delay(compiled):
    """A cart passes a place, and ends the run at another one."""

    def beyond(s_i, r_i, a_j, level):
        """level : [m]
        value : [m]
        """
        return (r_i + s_i).dot(a_j) - level

    def event(name, level, **how):
        if compiled:
            return runtime.zero_crossing(
                name, codegen.compile_event(beyond), "cart0", s_i=(0, 0, 0), a_j=(1, 0, 0), level=level, **how
            )
        return runtime.Event(name, lambda t, state: state.r["cart0"][0] - level, **how)

    events = [event("first", REST + 0.02), event("last", REST + 0.05, terminal=True)]
    run = runtime.simulate(carts(*KINDS), 1.5, events=events, **TIGHT)
    assert run.status == runtime.Status.STOPPED_BY_EVENT
    for name, x in (("first", 0.02), ("last", 0.05)):
        (t,) = run.events[name]
        assert place("speed", 0.06, np.array([t]))[0][0] == pytest.approx(x, abs=1e-8)
    assert run.t[-1] == run.events["last"][0] > 0.12


def test_a_contact_and_a_controller_with_a_delay():
    """A ball that bounces beside the carts does so as without them; a motor's effort follows its controller."""

    def system(*kinds):
        b = runtime.Builder("bounce", gravity=(0, 0, 0))
        b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 5, 0.11), v=(0, 0, -1), free=True)
        b.contact(
            "touch", "ball", centre=(0, 0, 0), radius=0.1, law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.2
        )
        b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, -5, 0))
        b.joint("hinge", "revolute", "ground", "arm", s_i=(0, -5, 0), a_i=(0, 0, 1), s_j=(0, 0, 0), a_j=(0, 0, 1))
        b.motor("motor", coordinate="hinge.angle", effort=0.0)
        for n, kind in enumerate(kinds):
            cart(b, f"cart{n}", *kind, float(n))
        return b.build()

    controller = runtime.Controller("steps", lambda t, state: round(40.0 * t) % 3, rate_hz=40.0, efforts=["motor"])
    t = np.linspace(0.0, 0.6, 13)
    runs = [
        runtime.simulate(system(*kinds), 0.6, t_eval=t, controllers=[controller], **TIGHT) for kinds in (KINDS[:2], ())
    ]
    assert all(run.success for run in runs) and len(runs[0].contact_events) == 2
    assert runs[0].contact_events == pytest.approx(runs[1].contact_events, abs=1e-8)
    for body in ("ball", "arm"):
        assert np.abs(runs[0].r[body] - runs[1].r[body]).max() < 1e-8
    assert np.abs(runs[0].angles["hinge"].values["angle"] - runs[1].angles["hinge"].values["angle"]).max() < 1e-8
    assert np.array_equal(runs[0].system.motors[0].effort.knots, runs[1].system.motors[0].effort.knots)
    x, _ = place(*KINDS[0], t)
    assert np.abs(runs[0].r["cart0"][:, 0] - REST - x).max() < 1e-8


def test_a_run_gives_the_past_as_signals_and_another_one_makes_its_own():
    run = runtime.simulate(leg(delay=0.06), 0.2, t_eval=[0.1, 0.2], **TIGHT)
    past = run.system.force("flexor").signals
    assert past["delayed_length"](0.2) == pytest.approx(
        runtime.simulate(leg(delay=0.06), 0.14, **TIGHT).forces["flexor"].length[-1]
    )
    again = runtime.simulate(run.system, 0.4, t_eval=[0.1, 0.2, 0.4], **TIGHT)
    assert again.success and again.states[:2] == pytest.approx(run.states, abs=1e-9)


LATE = [
    ("sensitivities", lambda s: runtime.sensitivities(s, {"gain.flexor": 2.0}, 0.1)),
    ("steps of a program", runtime.Stepping), ("right-hand sides", runtime.rhs),
    ("linearisations", runtime.linearisation), ("equilibria", runtime.equilibrium),
    ("efforts", lambda s: runtime.mechanics(s).applied_forces([0.0], [0.0])),
]  # fmt: skip


@pytest.mark.parametrize(("what", "call"), LATE, ids=[what for what, _ in LATE])
def test_what_knows_no_past_refuses_delays_by_name(what, call):
    with pytest.raises(
        runtime.ModelError, match=f"muscle 'flexor': its reflex acts after a delay of 0.06 s, and .*{what}"
    ):
        call(leg(reflex="lengthening_speed", delay=0.06))


def test_methods_of_scipy_refuse_delays():
    with pytest.raises(
        runtime.ModelError, match="method 'BDF' knows no delays, as that of muscle 'flexor'; use 'auto'"
    ):
        runtime.simulate(leg(delay=0.06), 0.1, method="BDF")


def test_shipped_laws_with_reflexes_agree_in_lanes_and_stiff():
    b = builder()
    b._of["forces"].clear()
    how = dict(reflex="lengthening_speed", gain=2.0) | MUSCLE | dict(tendon_slack_length=0.15)
    b.muscle("m", "thelen_as_opensim", OVER_CYLINDER, excitation=0.1, tendon="rigid", **how)
    system = b.build()
    run = runtime.simulate(system, 0.2, t_eval=[0.1, 0.2], **TIGHT)
    stiff = runtime.simulate(system, 0.2, t_eval=[0.1, 0.2], method="radau", **TIGHT)
    many = runtime.simulate_many(system, {"gain.m": [1.0, 2.0]}, 0.2, t_eval=[0.2], outputs=["r.shank"], **TIGHT)
    assert run.success and many.vectorised.all() and np.abs(many["r.shank"][1, 0] - run.r["shank"][-1]).max() < 1e-8
    assert np.abs(run.states - stiff.states).max() < 1e-6 and np.abs(run.energy_balance.error).max() < 1e-6


def test_steps_shorter_than_the_rounding_of_the_delay_are_no_knots():
    run = runtime.simulate(leg(delay=5.0), 0.05, first_step=1e-15)
    assert run.success and run.t[1] == 1e-15
    assert (np.diff(run.system.force("flexor").signals["delayed_length"].knots) > 0.0).all()


def test_a_delay_across_the_massless_link(tmp_path):
    """Of the foot on the modified ankle: explicit and implicit steps, in both sorts of coordinates."""
    b = runtime.Builder.from_file(models.foot.build(ankle="modified").to_file(tmp_path / "foot.json"))
    path = [("leg", (0.02, 0.01, -0.1)), ("leg", (0.03, 0.02, -0.2)), ("main_foot", (0.05, 0.01, 0.02))]
    how = MUSCLE | dict(optimal_fiber_length=0.05, tendon_slack_length=0.2)
    b.muscle("m", "thelen_as_opensim", path, excitation=0.2, reflex="lengthening_speed", gain=2.0, delay=0.02, **how)
    system = b.build()
    runs = [
        runtime.simulate(system, 0.2, t_eval=[0.1, 0.2], method=method, coordinates=coordinates, rtol=1e-9, atol=1e-9)
        for method, coordinates in WAYS
    ]
    for other in runs[1:]:
        assert np.abs(runs[0].states - other.states).max() < 1e-6
    assert all(np.ptp(run.forces["m"].excitation) > 0.1 for run in runs)


@pytest.mark.parametrize("reflex", ["stretch", "lengthening_speed"])
def test_tangents_equal_differences(reflex):
    """Those of accelerations and rates of states by the state, away from kinks."""
    f = runtime.rhs(leg(reflex=reflex), coordinates="joint")
    y, h = f.y0.copy(), 1e-5
    found = f.jacobian(0.0, y)
    exact = np.array([(f(0.0, y + h * unit) - f(0.0, y - h * unit)) / (2 * h) for unit in np.eye(len(y))]).T
    assert np.abs(found - exact).max() < 1e-6 * np.abs(exact).max()
    assert np.abs(exact[f.names.index("flexor.activation"), :2]).max() > 1.0, "the excitation follows the motion"


@pytest.mark.parametrize(("method", "coordinates"), WAYS)
@pytest.mark.parametrize(("width", "gap"), [(2e-4, 3e-3), (1e-4, 6e-4)])
def test_a_pulse_of_the_past_is_seen(method, coordinates, width, gap):
    """A cart is kicked and stopped again: each delay later its reflex has a pulse of the speed, far shorter than the steps.

    In closed form: the kicks by Gauss's quadrature over the response to one of them.
    """
    force, begin, (sort, delay) = 2000.0, 0.05, KINDS[0]
    corners = np.array([0.0, width / 2, width])
    knots = np.concatenate([[0.0], begin + corners, begin + gap + corners, [3.0]])
    kick = runtime.Signal.spline(knots, [0.0, 0.0, force, 0.0, 0.0, -force, 0.0, 0.0], degree=1)
    b = runtime.Builder("kicked", gravity=(0, 0, 0))
    cart(b, "cart0", sort, delay)
    b.load("kick", "cart0", force=(kick, 0, 0))
    t = np.linspace(0.0, 1.0, 51)
    run = runtime.simulate(b.build(), 1.0, t_eval=t, method=method, coordinates=coordinates, rtol=1e-9, atol=1e-9)
    x, w = np.polynomial.legendre.leggauss(12)
    v = place(sort, delay, t)[1]
    for first, last in zip(knots[1:-1], knots[2:-1], strict=False):
        places = first + (last - first) * (x + 1.0) / 2.0
        for s, weight in zip(places, (last - first) / 2.0 * w * kick(places) / MASS, strict=True):
            v += weight / SPEED * place(sort, delay, t - s)[1]
    assert run.success and np.abs(run.v["cart0"][:, 0] - v).max() < 1e-7
