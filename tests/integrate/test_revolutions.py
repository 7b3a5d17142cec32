"""Angles of forces, motors, stops and rows of own joints go on beyond half a turn, against closed forms."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from sympy import atan2

import codegen
import runtime
from runtime.analysis.sensitivities import sensitivities

TIMES = [0.0, 1.5, 3.0]  # revolutions lie between them
METHODS = pytest.mark.parametrize(
    "how",
    [
        {"coordinates": "joint", "method": "dop853"},
        {"coordinates": "absolute", "method": "dop853", "alpha": 5.0, "beta": 5.0},
        {"method": "radau"},
        {"method": "DOP853"},
    ],
    ids=["joint", "absolute", "radau", "scipy"],
)


def wheel(kind="hinge_spring", *, rate=20.0, **values):
    """A wheel of 0.5 kg m^2 on a hinge about z, with a force element or motor of 0.5 N m/rad: q'' = -q."""
    b = runtime.Builder("wheel", gravity=(0.0, 0.0, 0.0), axes="global")
    b.body("rim", mass=1.0, inertia=(0.5, 0.5, 0.5), omega=(0.0, 0.0, rate))
    b.joint("axle", "revolute", "ground", "rim", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    if kind == "motor":
        b.motor("element", coordinate="axle.angle", **dict(stiffness=0.5) | values)
        return b.build()
    along = {} if kind == "torsional_spring" else dict(b_i=(1, 0, 0), c_j=(1, 0, 0))
    law = {} if {"half_range", "viscosity"} & {*values} else dict(stiffness=0.5, damping=0.0, free_angle=0.0)
    b.force("element", kind, "ground", "rim", a_i=(0, 0, 1), **along | law | values)
    return b.build(check_units=False)  # stops are turns away


@METHODS
@pytest.mark.parametrize("kind", ["hinge_spring", "torsional_spring", "motor"])
def test_a_spring_is_wound_three_revolutions(kind, how):
    run = runtime.simulate(wheel(kind), 3.0, t_eval=TIMES, rtol=1e-9, atol=1e-9, progress=False, **how)
    angle = 20.0 * np.sin(run.t)
    assert run.success and "energy" not in run.message
    for element in run.forces.values():
        np.testing.assert_allclose(element.angle, angle, atol=2e-6)
        np.testing.assert_allclose(element.moment, -0.5 * angle, atol=1e-6)
    np.testing.assert_allclose(run.energy, 100.0, rtol=1e-6)
    np.testing.assert_allclose(run.omega["rim"][:, 2], 20.0 * np.cos(run.t), atol=2e-6)


def test_a_spring_may_be_free_two_revolutions_away():
    run = runtime.simulate(wheel(rate=0.0, free_angle=4.0 * np.pi), 3.0, t_eval=TIMES, progress=False)
    np.testing.assert_allclose(run.forces["element"].angle, 4.0 * np.pi * (1.0 - np.cos(run.t)), atol=1e-4)


@METHODS
def test_the_target_of_a_motor_moves_on_by_revolutions(how):
    """It begins two revolutions away and turns at 10 rad/s: q - 10 t - 4 pi = -4 pi cos t - 10 sin t."""
    target = runtime.Signal.spline([0.0, 3.0], [4.0 * np.pi, 4.0 * np.pi + 30.0], degree=1)
    run = runtime.simulate(
        wheel("motor", rate=0.0, target=target), 3.0, t_eval=TIMES, rtol=1e-9, atol=1e-9, progress=False, **how
    )
    right = 10.0 + 4.0 * np.pi * np.sin(run.t) - 10.0 * np.cos(run.t)
    assert run.success and "energy" not in run.message
    np.testing.assert_allclose(run.omega["rim"][:, 2], right, atol=2e-6)


def test_a_motor_counts_between_the_calls_of_a_controller_and_step_by_step():
    idle = runtime.Controller("idle", lambda t, state: 0.0, rate_hz=2.0, efforts=["element"])
    run = runtime.simulate(wheel("motor"), 3.0, rtol=1e-9, atol=1e-9, controllers=[idle], progress=False)
    stepping = runtime.Stepping(wheel("motor"), rtol=1e-9, atol=1e-9)
    for until in TIMES[1:]:
        stepping.step(until=until)
    for omega in (run.omega["rim"][-1], stepping.state.omega["rim"]):
        assert omega[2] == pytest.approx(20.0 * np.cos(3.0), abs=2e-6)


@pytest.mark.parametrize("kind", ["hinge_spring", "motor"])
def test_efforts_along_coordinates_count_revolutions(kind):
    found = runtime.mechanics(wheel(kind)).applied_forces([[1.0], [20.0], [-20.0]], np.zeros((3, 1)))
    np.testing.assert_allclose(found, [[-0.5], [-10.0], [10.0]], atol=1e-12)


@METHODS
@pytest.mark.parametrize("kind", ["hinge_stop", "hinge_limit"])
def test_a_stop_three_and_a_half_revolutions_away(kind, how):
    """A wheel at 20 rad/s meets it at 7 pi, and leaves it half a period of 50 rad/s later; the limit soon is as stiff."""
    law = dict(stiffness=1250.0, loss=0.0)
    if kind == "hinge_limit":
        law = dict(upper_stiffness=1250.0, lower_stiffness=1250.0, damping=0.0, transition=1e-6)
    system = wheel(kind, middle=0.0, half_range=7.0 * np.pi, **law)
    run = runtime.simulate(
        system, 3.0, t_eval=[0.0, 1.0, 3.0], max_step=0.01, rtol=1e-9, atol=1e-9, progress=False, **how
    )
    end = 7.0 * np.pi - 20.0 * (3.0 - 7.0 * np.pi / 20.0 - np.pi / 50.0)
    np.testing.assert_allclose(run.forces["element"].angle, [0.0, 20.0, end], atol=1e-4)
    assert run.success and run.omega["rim"][-1, 2] == pytest.approx(-20.0, abs=1e-4)


@pytest.mark.parametrize("coordinates", ["joint", "absolute", "auto"])
@pytest.mark.parametrize("kind", ["hinge_spring", "motor"])
def test_cases_count_revolutions_of_their_own(kind, coordinates):
    """Seventeen wheels, of which sixteen are vectorised together and one begins later; as single runs in absolute coordinates."""
    rates, names = np.linspace(1.0, 20.0, 17), ["elastic_energy", "rate.axle.angle"]
    how = dict(t_eval=TIMES, coordinates=coordinates, rtol=1e-9, atol=1e-9)
    cases = {"rate.axle.angle": rates}
    many = runtime.simulate_many(wheel(kind), cases, 3.0, outputs=names, workers=1, progress=False, **how)
    assert many.success and many.vectorised.all() == (coordinates != "absolute")
    stored, rate = (np.asarray(many[name]) for name in names)
    t = np.array(TIMES)
    np.testing.assert_allclose(stored, 0.25 * np.outer(rates, np.sin(t)) ** 2, atol=1e-5)
    np.testing.assert_allclose(rate, np.outer(rates, np.cos(t)), atol=2e-6)


@pytest.mark.parametrize(
    ("kind", "free", "values"),
    [
        ("hinge_spring", 0.0, dict(free_angle=0.0)),
        ("hinge_spring", 4.0 * np.pi, dict(free_angle=4.0 * np.pi)),
        ("motor", 4.0 * np.pi, dict(target=4.0 * np.pi)),
        ("motor", 4.0 * np.pi, dict(target=4.0 * np.pi, stiffness=0.0)),
    ],
)
def test_cases_differ_in_a_stiffness(kind, free, values):
    """The angle is free at 0 or two revolutions away; the last motor has no spring of its own."""
    stiffness, name = np.array([0.5, 2.0, 8.0]), "elastic_energy"
    system = wheel(kind, rate=0.0 if free else 20.0, **values)
    many = runtime.simulate_many(
        system, {"stiffness.element": stiffness}, 3.0, t_eval=TIMES, outputs=[name], workers=1, progress=False
    )
    w, t = np.sqrt(2.0 * stiffness)[:, None], np.array(TIMES)
    off = free * np.cos(w * t) if free else 20.0 / w * np.sin(w * t)
    np.testing.assert_allclose(np.asarray(many[name]), 0.25 * w**2 * off**2, rtol=1e-5, atol=1e-2)


@pytest.mark.parametrize("kind", ["hinge_spring", "torsional_spring", "motor"])
def test_the_right_hand_side_in_joint_coordinates_counts_revolutions(kind):
    """q'' = -q at any q, in whatever order states are asked for; and the run of an integrator of another maker."""
    f = runtime.rhs(wheel(kind), coordinates="joint")
    q = np.array([0.3, 20.0, -33.0, 3.2])
    np.testing.assert_allclose(f(0.0, np.column_stack([q, np.ones(4)]))[:, 1], -q, atol=1e-12)
    assert f(0.0, np.array([20.0, 1.0]))[1] == pytest.approx(-20.0, abs=1e-12)
    found = solve_ivp(f, (0.0, 3.0), f.y0, "BDF", TIMES, rtol=1e-9, atol=1e-9, jac=f.jacobian)
    np.testing.assert_allclose(found.y[0], 20.0 * np.sin(found.t), atol=1e-5)
    run = f.run(found.t, found.y.T)
    np.testing.assert_allclose(run.energy, 100.0, rtol=1e-6)
    moment = run["motor_effort.element" if kind == "motor" else "force_moment.element"]
    np.testing.assert_allclose(moment, -0.5 * found.y[0], atol=1e-9)


def test_the_jacobian_in_joint_coordinates_counts_revolutions():
    """Of a wound spring whose axis turns with its body, against differences."""
    b = runtime.Builder("wound", axes="global")
    for name, z in (("arm", -0.2), ("rotor", -0.5)):
        b.body(name, mass=1.0, inertia=(0.05, 0.04, 0.03), r=(0.05, 0.02, z))
    b.joint("swing", "revolute", "ground", "arm", point=(0, 0, 0), axis=(1, 0, 0))
    b.joint("spin", "revolute", "arm", "rotor", point=(0, 0, -0.4), axis=(0, 0.6, 0.8))
    b.force(
        "spring", "hinge_spring", "arm", "rotor", a_i=(0, 0.6, 0.8), b_i=(1, 0, 0), c_j=(1, 0, 0), stiffness=0.5, damping=0.1,
        free_angle=0.0,
    )  # fmt: skip
    f, y = runtime.rhs(b.build(), coordinates="joint"), np.array([0.4, 20.0, 0.7, -2.0])
    ways = 1e-4 * np.eye(4)
    by_differences = (8.0 * (f(0.0, y + ways) - f(0.0, y - ways)) - f(0.0, y + 2 * ways) + f(0.0, y - 2 * ways)) / 12e-4
    np.testing.assert_allclose(f.jacobian(0.0, y), by_differences.T, atol=1e-7 * np.abs(by_differences).max())


def test_a_follower_of_a_coupling_winds_a_spring():
    """A wheel that turns three times as fast as the leader: (0.5 + 9 0.5) q'' = -9 0.5 q."""
    b = runtime.Builder("geared", gravity=(0.0, 0.0, 0.0), axes="global")
    for name in ("one", "two"):
        b.body(name, mass=1.0, inertia=(0.5, 0.5, 0.5))
        b.joint(f"of_{name}", "revolute", "ground", name, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    b.coupling("gear", "of_two.angle", "of_one.angle", 3.0)
    b.force(
        "spring", "hinge_spring", "ground", "two", a_i=(0, 0, 1), b_i=(1, 0, 0), c_j=(1, 0, 0), stiffness=0.5, damping=0.0,
        free_angle=0.0,
    )  # fmt: skip
    b.initial_coordinates("of_one", rates={"angle": 8.0})
    run = runtime.simulate(b.build(), 3.0, t_eval=TIMES, rtol=1e-9, atol=1e-9, progress=False)
    w = np.sqrt(0.9)
    np.testing.assert_allclose(run.forces["spring"].angle, 24.0 / w * np.sin(w * run.t), atol=1e-5)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-7)


def test_a_periodic_law_and_a_derivative():
    """A spring that stays within half a turn; and the derivative of three revolutions by the stiffness."""
    swing = runtime.simulate(wheel(rate=3.0), 6.0, progress=False)
    assert swing.success and swing.omega["rim"][-1, 2] == pytest.approx(3.0 * np.cos(6.0), abs=1e-6)
    # omega = 20 cos(w t), w^2 = 2 k, dw/dk = 1/w; at k = 0 it is 20 - 20 k t^2
    of_half, of_none = -20.0 * 3.0 * np.sin(3.0), -20.0 * 9.0
    for kind, stiffness, right in (("hinge_spring", 0.5, of_half), ("motor", 0.5, of_half), ("motor", 0.0, of_none)):
        system = wheel(kind, stiffness=stiffness) if kind == "motor" else wheel()
        found = sensitivities(system, {"stiffness.element": stiffness}, 3.0, rtol=1e-9, atol=1e-9)
        assert found.omega["rim"][-1, 2, 0] == pytest.approx(right, rel=1e-6)


def creeping_spring(a_i, b_i, c_j, stiffness, viscosity, flow_0, coordinate, along, state):
    """Spring and damper in series on an angle.

    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : a direction, unit vector of body j
    stiffness : k [N m/rad], 0 <= stiffness
    viscosity : c [N m s/rad], 0 < viscosity
    flow_0 : of the damper at the start [rad]
    flow : of the damper [rad]
    angle : [rad]
    """
    angle = coordinate(atan2(c_j.dot(a_i.cross(b_i)), c_j.dot(b_i)))
    flow = state("flow", angle + flow_0)
    return {
        "potential": stiffness / 2 * (angle - flow) ** 2,
        "rates": {flow: -along(angle) / viscosity},
        "angle": angle,
    }


def sideways(c_i):
    """Sine of the angle of a direction.

    c_i : a direction, unit vector of body i
    value : [1]
    """
    return c_i.y


def creeping_wheel():
    return wheel(codegen.compile_force(creeping_spring), stiffness=0.5, viscosity=2.0, flow_0=0.1)


def wound(t, rate=20.0):
    """Angle and rate of the wheel and flow of its damper (times, 3): those of a linear system of order three."""
    A = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.25, 0.0, -0.25]])
    return np.array([expm(A * time) @ [0.0, rate, 0.1] for time in t])


@METHODS
def test_a_force_with_a_state_counts_revolutions(how):
    """Its element is wound two revolutions; the acceleration falls below 10 rad/s^2 while it is wound more than half a turn."""
    slow = runtime.at_rest(name="slow", speed=100.0, acceleration=10.0, terminal=False)
    run = runtime.simulate(
        creeping_wheel(), 3.0, t_eval=TIMES, events=[slow], rtol=1e-9, atol=1e-9, progress=False, **how
    )
    right = wound(TIMES)
    assert run.success and "energy" not in run.message and right[1, 0] > 4.0 * np.pi
    of = run.forces["element"]
    np.testing.assert_allclose(np.column_stack([of.angle, run.omega["rim"][:, 2], of.flow]), right, atol=2e-6)
    np.testing.assert_allclose(run.energy, 0.25 * (right[:, 1] ** 2 + (right[:, 0] - right[:, 2]) ** 2), rtol=1e-6)
    below = brentq(lambda t: wound([t])[0, 0] - wound([t])[0, 2] - 10.0, 1.5, 3.0)
    assert run.events["slow"].tolist() == pytest.approx([0.0, below], abs=1e-6)


def ahead(a_i, b_i, c_j, target):
    """Angle of a hinge less a target.

    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : a direction, unit vector of body j
    target : [rad]
    value : [rad]
    """
    return atan2(c_j.dot(a_i.cross(b_i)), c_j.dot(b_i)) - target


def two_revolutions_away():
    along = dict(a_i=(0, 0, 1), b_i=(1, 0, 0), c_j=(1, 0, 0))
    return runtime.zero_crossing("far", codegen.compile_event(ahead), "ground", "rim", target=4.0 * np.pi, **along)


@METHODS
def test_an_event_is_two_revolutions_away(how):
    """An angle of 20 sin t passes 4 pi twice, and half a turn six times."""
    run = runtime.simulate(
        wheel("motor"), 3.0, events=[two_revolutions_away()], rtol=1e-9, atol=1e-9, progress=False, **how
    )
    first = np.arcsin(4.0 * np.pi / 20.0)
    np.testing.assert_allclose(run.events["far"], [first, np.pi - first], atol=1e-6)


def test_events_of_cases_count_revolutions():
    rates, events = np.linspace(13.0, 20.0, 17), [two_revolutions_away()]
    many = runtime.simulate_many(
        wheel("motor"), {"rate.axle.angle": rates}, 3.0, events=events, rtol=1e-9, atol=1e-9, workers=1, progress=False
    )
    np.testing.assert_allclose(many.events["far"].first, np.arcsin(4.0 * np.pi / rates), atol=1e-6)
    assert (many.events["far"].count == 2).all()


def test_cases_with_states_count_revolutions():
    """Sixteen of seventeen wheels are vectorised, with the times at which they have turned once."""
    rates, names = np.linspace(10.0, 20.0, 17), ["force_angle.element", "rate.axle.angle", "force_flow.element"]
    once = runtime.zero_crossing("once", codegen.compile_event(sideways), "rim", c_i=(1, 0, 0), direction=1)
    many = runtime.simulate_many(
        creeping_wheel(), {"rate.axle.angle": rates}, 3.0, outputs=[*names, "elastic_energy"], t_eval=TIMES, events=[once],
        coordinates="joint", rtol=1e-9, atol=1e-9, workers=1, progress=False,
    )  # fmt: skip
    assert many.success and many.vectorised.all()
    right = np.array([wound(TIMES, rate) for rate in rates])
    for k, name in enumerate(names):
        np.testing.assert_allclose(np.asarray(many[name]), right[..., k], atol=2e-6)
    stored = 0.25 * (right[..., 0] - right[..., 2]) ** 2
    np.testing.assert_allclose(np.asarray(many["elastic_energy"]), stored, atol=1e-5)
    turned = [brentq(lambda t, rate=rate: wound([t], rate)[0, 0] - 2.0 * np.pi, 0.0, 1.0) for rate in rates]
    np.testing.assert_allclose(many.events["once"].first, turned, atol=1e-6)


@pytest.mark.slow
def test_a_row_of_an_own_joint_counts_revolutions():
    """A nut on a screw: its advance is 0.02 m/rad times an angle of atan2.  A damper stops it at 45 rad."""

    def nut(r_i, s_i, a_i, b_i, r_j, s_j, a_j, b_j, lead, across, held):
        """Nut on a screw."""
        d = r_j + s_j - r_i - s_i
        e, f = across(a_i)
        turn = atan2(b_j.dot(a_i.cross(b_i)), b_j.dot(b_i))
        return {
            "o": e.dot(d),
            "p": f.dot(d),
            "t": e.dot(a_j),
            "u": f.dot(a_j),
            "advance": held(a_i.dot(d) - lead * turn),
        }

    b = runtime.Builder("nut", gravity=(0.0, 0.0, 0.0))
    b.body("nut", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), v=(0.0, 0.0, 1.0), omega=(0.0, 0.0, 50.0))
    b.force("drag", "rotational_damper", "ground", "nut", damping=5.0 * 1.4e-3 / 4.5)
    of_both = {
        f"{name}_{end}": value for name, value in (("s", (0, 0, 0)), ("a", (0, 0, 1)), ("b", (1, 0, 0))) for end in "ij"
    }
    b.joint("screw", codegen.compile_joint(nut), "ground", "nut", lead=0.02, **of_both)
    system, t = b.build(), np.array([0.0, 2.0, 40.0])
    right = 0.9 * (1.0 - np.exp(-t / 0.9))
    for how in ({}, {"method": "radau"}, {"method": "RK45"}):
        run = runtime.simulate(system, 40.0, t_eval=t, progress=False, **how)
        assert run.success and np.abs(run.Phi["screw"]).max() < 1e-4
        np.testing.assert_allclose(run.r["nut"][:, 2], right, atol=2e-4)
    many = runtime.simulate_many(
        system, {"omega.nut": [(0.0, 0.0, 5.0), (0.0, 0.0, 50.0)], "v.nut": [(0.0, 0.0, 0.1), (0.0, 0.0, 1.0)]}, 40.0,
        t_eval=t, progress=False,
    )  # fmt: skip
    assert many.success
    np.testing.assert_allclose(many.states()[:, :, 0, 2], np.outer([0.1, 1.0], right), atol=2e-4)
    found, x = sensitivities(system, {"damping.drag": 5.0 * 1.4e-3 / 4.5}, 4.5), 4.5 / 0.9
    right = -0.9 / (5.0 * 1.4e-3 / 4.5) * (1.0 - (1.0 + x) * np.exp(-x))
    assert found.r["nut"][-1, 2, 0] == pytest.approx(right, rel=1e-3)
