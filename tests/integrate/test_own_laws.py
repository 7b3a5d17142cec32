"""A user's own laws of limits and contacts in runs, cases and derivatives, against closed forms."""

import numpy as np
import pytest
import sympy as sp

import codegen
import models
import runtime
from tests.support.own_laws import (
    EDGE,
    HARDENING,
    INERTIA,
    LINEAR,
    LUBRICATED,
    MASS,
    POWER,
    SPEED,
    angle_of_rod,
    ball,
    rod,
    time_beyond,
)  # fmt: skip
from tests.support.refusals import assert_refused

FINE = dict(rtol=1e-10, atol=1e-10)
MOMENT, COMPLIANCE = 60.0, 0.8
TIMES = np.array([0.2, 1.1, 1.2, 1.25])  # before the stop, and after it
both_coordinates = pytest.mark.parametrize("coordinates", ["absolute", "joint"])


def stiffness_of(order, compliance=COMPLIANCE):
    return MOMENT / compliance**order


def angle(run):
    """Of the rod in a run or in cases, from the direction down."""
    r = run.r["rod"]
    return np.arctan2(-r[..., 0], -r[..., 2])


@both_coordinates
@pytest.mark.parametrize("order", [1.0, 1.5, 3.0])
def test_the_time_beyond_a_stop_with_a_power_law(order, coordinates):
    system = rod(POWER, exponent=order, max_moment=MOMENT, compliance=COMPLIANCE)
    run = runtime.simulate(system, TIMES[-1], t_eval=TIMES, coordinates=coordinates, **FINE)
    expected = angle_of_rod(TIMES, stiffness_of(order), order)
    assert np.isfinite(expected).all() and np.abs(angle(run) - expected).max() < 1e-8
    assert np.abs(run.energy - 0.5 * INERTIA * SPEED**2).max() < 1e-9


@pytest.mark.parametrize(
    ("method", "coordinates"), [("dop853", "absolute"), ("dop853", "joint"), ("radau", "absolute")]
)
def test_a_law_of_the_excess_is_a_spring(method, coordinates):
    system = rod(LINEAR, stiffness=25.0, compliance=1.0)
    run = runtime.simulate(system, TIMES[-1], t_eval=TIMES, method=method, coordinates=coordinates, **FINE)
    half = np.pi / np.sqrt(25.0 / INERTIA)
    back = EDGE - SPEED * (TIMES - EDGE / SPEED - half)
    assert np.abs(angle(run) - np.where(TIMES < 0.5, SPEED * TIMES, back)).max() < 1e-8


def test_the_moment_is_constant_beyond_the_compliance():
    """Work and moment in closed form, up to twice the compliance, and a rod that gets there returns with its speed."""
    k, compliance = 25.0, 0.05
    system = rod(LINEAR, stiffness=k, compliance=compliance)
    excess = np.array([-0.1, 0.0, 0.02, 0.05, 0.07, 0.1])
    u = np.stack([np.sin(EDGE + excess), 0.0 * excess, np.cos(EDGE + excess)], axis=1)
    found = runtime.system.restricting_moment(system.limit("stop"), u)
    inside = np.clip(excess, 0.0, compliance)
    assert np.abs(np.linalg.norm(found.moment, axis=1) - k * inside).max() < 1e-12
    energy = k * inside**2 / 2 + k * compliance * np.maximum(excess - compliance, 0.0)
    assert np.abs(found.energy - energy).max() < 1e-13
    for coordinates in ("absolute", "joint"):
        run = runtime.simulate(system, 1.2, t_eval=np.linspace(0, 1.2, 601), coordinates=coordinates, **FINE)
        farthest = compliance / 2 + INERTIA * SPEED**2 / (2 * k * compliance)
        assert run.limits["stop"].excess.max() == pytest.approx(farthest, abs=2e-5)
        assert np.abs(run.energy - run.energy[0]).max() < 1e-9


def test_cases_are_vectorised_and_vary_the_law():
    order, compliance = np.array([1.0, 1.5, 2.0, 3.0]), np.array([0.8, 0.8, 1.0, 0.7])
    system = rod(POWER, exponent=1.5, max_moment=MOMENT, compliance=COMPLIANCE)
    cases = {"exponent.stop": order, "compliance.stop": compliance}
    for coordinates, lanes in (("joint", True), ("absolute", False)):
        many = runtime.simulate_many(system, cases, TIMES[-1], t_eval=TIMES, coordinates=coordinates, **FINE)
        assert (many.vectorised == lanes).all() and not many.messages
        for k, (n, c) in enumerate(zip(order, compliance, strict=True)):
            expected = angle_of_rod(TIMES, stiffness_of(n, c), n)
            assert np.abs(angle(many)[k] - expected).max() < 1e-8


def test_vectorised_cases_within_the_stop_have_its_moment():
    system = rod(POWER, exponent=1.5, max_moment=MOMENT, compliance=COMPLIANCE)
    within = np.array([0.4, 0.5])
    names = [f"limit_{part}.stop" for part in ("restricting_moment", "elastic_energy", "excess")]
    many = runtime.simulate_many(system, {"exponent.stop": [1.5, 3.0]}, 0.5, t_eval=within, outputs=names, **FINE)
    assert many.vectorised.all()
    moment, energy, excess = (many[name] for name in names)
    n = np.array([[1.5], [3.0]])
    assert excess.min() > 0.04
    assert np.abs(moment - MOMENT * (excess / COMPLIANCE) ** n).max() < 1e-9
    assert np.abs(energy - MOMENT * COMPLIANCE * (excess / COMPLIANCE) ** (n + 1) / (n + 1)).max() < 1e-9


def two_rods(first, second):
    """Two hinges with limits; the second law may be another one, with another number of parameters."""
    b = runtime.Builder("two rods")
    y = (0, 1, 0)
    cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (15,) * 5)
    frame = dict(xi=(1, 0, 0), eta=(0, -1, 0), direction=(0, 0, -1), cone=cone)
    b.body("upper", mass=1.0, inertia=(0.05,) * 3, r=(0, 0, -0.5), omega=(0, 2.0, 0), v=(-1.0, 0, 0))
    b.body("lower", mass=0.5, inertia=(0.02,) * 3, r=(0, 0, -1.25), omega=(0, -1.0, 0), v=(-1.75, 0, 0))
    b.joint("hip", "revolute", "ground", "upper", s_i=(0, 0, 0), a_i=y, s_j=(0, 0, 0.5), a_j=y)
    b.joint("knee", "revolute", "upper", "lower", s_i=(0, 0, -0.5), a_i=y, s_j=(0, 0, 0.25), a_j=y)
    for name, joint, reference, law in (("first", "hip", "ground", first), ("second", "knee", "upper", second)):
        b.limit(name, joint, reference=reference, **frame, **law)
    return b.build(project_velocities=True)


def test_laws_with_other_numbers_of_parameters_stand_side_by_side():
    own = dict(law=POWER, exponent=1.5, max_moment=30.0, compliance=0.4)
    papers, spring = dict(max_moment=10.0, compliance=0.5), dict(law=LINEAR, stiffness=30.0, compliance=0.6)
    for first, second in ((own, papers), (papers, own), (spring, own)):
        system = two_rods(first, second)
        settings = dict(t_eval=[0.5, 1.0], rtol=1e-11, atol=1e-11)
        absolute = runtime.simulate(system, 1.0, coordinates="absolute", **settings)
        joint = runtime.simulate(system, 1.0, coordinates="joint", **settings)
        many = runtime.simulate_many(system, {"mass.lower": [0.5, 0.6]}, 1.0, coordinates="joint", **settings)
        assert many.vectorised.all()
        assert np.abs(joint.states - absolute.states).max() < 1e-7
        assert np.abs(many.states()[0].reshape(2, -1) - absolute.states).max() < 1e-7


def test_the_foot_with_its_own_law():
    system = models.foot.build(limits="dissipative", law=POWER, law_parameters=dict(exponent=3.0), limit_compliance=0.3)
    assert system.limit("talocrural").numbers == dict(max_moment=226.0, compliance=0.3, damping=0.568, exponent=3.0)
    runs = [runtime.simulate(system, 1.0, t_eval=[1.0], coordinates=c, **FINE) for c in ("absolute", "joint")]
    assert np.abs(runs[0].states - runs[1].states).max() < 1e-7
    taken = dict(exponent=3.0, cone=None)
    words = "law_parameters: unknown 'cone'; the law takes exponent, max_moment"
    assert_refused(words, models.foot.build, limits="elastic", law=POWER, law_parameters=taken)
    linear = models.foot.build(limits="elastic", law=LINEAR, law_parameters=dict(stiffness=1e3))
    run = runtime.simulate(linear, 0.5, **FINE)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8 and run.limits["talocrural"].excess.max() > 1e-3


def sine(x):
    """The moment is a quarter of a sine."""
    return (1 - sp.cos(sp.pi * x / 2)) * 2 / sp.pi


def test_constants_of_sympy_are_numbers_of_a_law():
    system = rod(codegen.compile_limit(sine), max_moment=MOMENT, compliance=COMPLIANCE)
    inside = np.linspace(0.0, COMPLIANCE, 5)
    u = np.stack([np.sin(EDGE + inside), 0.0 * inside, np.cos(EDGE + inside)], axis=1)
    found = np.linalg.norm(runtime.system.restricting_moment(system.limit("stop"), u).moment, axis=1)
    assert np.abs(found - MOMENT * np.sin(np.pi * inside / COMPLIANCE / 2)).max() < 1e-12
    for coordinates in ("absolute", "joint"):
        run = runtime.simulate(system, 1.0, coordinates=coordinates, **FINE)
        assert np.abs(run.energy - run.energy[0]).max() < 1e-9 and run.limits["stop"].excess.max() > 0.05
    assert runtime.simulate_many(system, {"mass.rod": [1.0, 1.1]}, 1.0, **FINE).vectorised.all()


def test_derivatives_with_respect_to_the_parameters_of_a_limit():
    order, end = 1.5, TIMES[-1]
    values = {"exponent.stop": order, "compliance.stop": COMPLIANCE}
    system = rod(POWER, exponent=order, max_moment=MOMENT, compliance=COMPLIANCE)
    found = runtime.sensitivities(system, values, t_end=end, t_eval=[end], **FINE)
    moved = found.r["rod"][-1]
    theta = angle_of_rod(np.array([end]), stiffness_of(order), order)[0]
    arm = -0.5 * np.array([np.cos(theta), 0.0, -np.sin(theta)])  # d r / d theta of r = -0.5 (sin, 0, cos)

    def slope(f, x, h=1e-3):
        return (8 * (f(x + h) - f(x - h)) - f(x + 2 * h) + f(x - 2 * h)) / (12 * h)

    at = np.array([end])
    of = {
        "exponent.stop": slope(lambda n: angle_of_rod(at, stiffness_of(n), n)[0], order),
        "compliance.stop": slope(lambda c: angle_of_rod(at, stiffness_of(order, c), order)[0], COMPLIANCE),
    }
    for k, name in enumerate(values):
        assert np.abs(moved[:, k] - arm * of[name]).max() < 1e-7, name


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("order", [1.0, 1.5, 3.0])
def test_the_time_of_a_bounce(order, method):
    stiffness = 4e4 * 0.01 ** (1.0 - order)
    system = ball(HARDENING, stiffness=stiffness, order=order, loss=0.0)
    run = runtime.simulate(system, 0.1, t_eval=[0.1], method=method, **FINE)
    beyond = time_beyond(stiffness, order, MASS, 1.0)
    assert run.contacts["sole"].touch_down[0] == pytest.approx(0.01, abs=1e-9)
    assert run.contacts["sole"].lift_off[0] == pytest.approx(0.01 + beyond, abs=1e-8)
    assert run.r["ball"][0, 2] == pytest.approx(0.05 + (0.1 - 0.01 - beyond), abs=1e-8)


def test_an_own_law_with_the_formula_of_a_shipped_one_has_its_motion():
    settings = dict(t_eval=np.linspace(0.0, 0.1, 5), **FINE)
    own = ball(HARDENING, "coulomb", v=(0.5, 0, -1.0), stiffness=1e6, order=1.5, loss=0.3, mu_c=0.4, mu_d=0.0)
    shipped = ball(
        "hunt_crossley", "coulomb", v=(0.5, 0, -1.0), stiffness=1e6, exponent=1.5, loss=0.2, mu_c=0.4, mu_d=0.0
    )
    runs = [runtime.simulate(system, 0.1, **settings) for system in (own, shipped)]
    assert np.abs(runs[0].states - runs[1].states).max() < 1e-9


def test_a_ball_slides_by_its_own_friction_as_in_closed_form():
    """The slip decays exponentially: the normal force is the weight, and friction acts on speed and rotation."""
    g, mu, k, end = 9.81, 0.8, 1e4, 0.3
    depth = MASS * g / k
    system = ball(
        HARDENING,
        LUBRICATED,
        height=0.05 - depth,
        v=(0.3, 0, 0),
        gravity=(0, 0, -g),
        stiffness=k,
        order=1.0,
        loss=0.0,
        mu_v=mu,
    )
    rate = mu * g * (1.0 + MASS * 0.05**2 / 4e-4)
    distance = 0.3 * end - mu * g * 0.3 * (end / rate - (1.0 - np.exp(-rate * end)) / rate**2)
    run = runtime.simulate(system, end, t_eval=[end], **FINE)
    assert run.r["ball"][0, 0] == pytest.approx(distance, abs=1e-9)
    values = np.array([0.8, 0.4, 0.0])
    many = runtime.simulate_many(system, {"mu_v.sole": values}, end, t_eval=[end], **FINE)
    assert many.vectorised.all() and many.r["ball"][0, 0, 0] == pytest.approx(distance, abs=1e-8)
    assert many.r["ball"][2, 0, 0] == pytest.approx(0.3 * end, abs=1e-8)


def test_vectorised_bounces_vary_the_law():
    order = np.array([1.0, 1.5, 3.0])
    stiffness = 4e4 * 0.01 ** (1.0 - order)
    system = ball(HARDENING, stiffness=stiffness[0], order=1.0, loss=0.0)
    many = runtime.simulate_many(system, {"stiffness.sole": stiffness, "order.sole": order}, 0.1, t_eval=[0.1], **FINE)
    expected = [0.05 + 0.09 - time_beyond(k, n, MASS, 1.0) for k, n in zip(stiffness, order, strict=True)]
    assert many.vectorised.all() and np.abs(many.r["ball"][:, 0, 2] - expected).max() < 1e-8


def test_derivatives_with_respect_to_the_parameters_of_a_contact():
    order = 1.5
    stiffness = 4e4 * 0.01 ** (1.0 - order)
    system = ball(HARDENING, stiffness=stiffness, order=order, loss=0.0)
    values = {"stiffness.sole": stiffness, "order.sole": order}
    found = runtime.sensitivities(system, values, t_end=0.1, t_eval=[0.1], **FINE)
    for k, (name, value) in enumerate(values.items()):
        own = dict(stiffness=stiffness, order=order, inertia=MASS, speed=1.0)
        h = 1e-4 * value
        above, below = (time_beyond(**own | {name.split(".")[0]: value + side * h}) for side in (1, -1))
        assert found.r["ball"][-1, 2, k] == pytest.approx(-(above - below) / (2 * h), rel=1e-6), name


def test_an_own_law_of_one_name_with_another_formula_is_another_law():
    def linear(excess, stiffness):
        """Twice the spring.

        stiffness : k [N m/rad], 0 < stiffness
        """
        return stiffness * excess**2

    double = rod(codegen.compile_limit(linear), stiffness=12.5, compliance=1.0)
    runs = [
        runtime.simulate(one, 1.0, t_eval=[1.0], **FINE)
        for one in (double, rod(LINEAR, stiffness=25.0, compliance=1.0))
    ]
    assert np.abs(runs[0].states - runs[1].states).max() < 1e-12
