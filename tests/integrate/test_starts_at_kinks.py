"""Starts at, on and near kinks of the laws of forces: every run reaches its end, by no more steps than others."""

import numpy as np
import pytest

import codegen
import runtime

ENDS = [("auto", "auto"), ("dop853", "absolute"), ("radau", "absolute")]


def carts(places, speeds):
    """A builder with carts of 1 kg on a straight guide."""
    b = runtime.Builder("carts", gravity=(0, 0, 0))
    for k, (x, v) in enumerate(zip(places, speeds, strict=True)):
        b.body(f"c{k}", mass=1.0, inertia=(1e-2,) * 3, r=(x, 0, 0), v=(v, 0, 0))
        guide = dict(s_i=(x, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
        b.joint(f"s{k}", "translational", "ground", f"c{k}", **guide)
    return b


def buffer(b, i, j, stiffness=1e6, clearance=0.25):
    """A linear ``stop`` between two carts."""
    at = dict(s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0))
    b.force(f"f{i}", "stop", f"c{i}", f"c{j}", stiffness=stiffness, exponent=1.0, loss=0.0, clearance=clearance, **at)


def pressed(press, at):
    """Two carts at rest that a ``stop`` pushes apart; the final speed is press sqrt(k / 2 m)."""
    b = carts((at, at + 0.25 - press), (0.0, 0.0))
    buffer(b, 0, 1)
    return b.build(check_units=False)


PRESSED = [(1e-6, 0.55), (1e-6, 1.3), (10**-5.5, 7.7), (1e-4, 0.55), (1e-15, 1.3), (0.0, 7.7)]


@pytest.mark.parametrize(("method", "coordinates"), ENDS)
@pytest.mark.parametrize(("press", "at"), PRESSED)
def test_carts_that_are_pressed_together_part(press, at, method, coordinates):
    run = runtime.simulate(pressed(press, at), 0.01, method=method, coordinates=coordinates, max_steps=500)
    assert run.success and run.v["c1"][-1, 0] == pytest.approx(press * np.sqrt(5e5), abs=1e-7)


@pytest.mark.parametrize(("press", "at"), PRESSED[:3])
def test_carts_that_are_pressed_together_part_as_cases_of_an_ensemble(press, at):
    stiffness = np.array([1e6, 4e6])
    runs = runtime.simulate_many(pressed(press, at), {"stiffness.f0": stiffness}, 0.01, max_steps=500)
    assert runs.success and runs.vectorised.all()
    for run, k in zip(runs, stiffness, strict=True):
        assert run.v["c1"][-1, 0] == pytest.approx(press * np.sqrt(k / 2.0), abs=1e-7)


@pytest.mark.parametrize("clearance", [0.1, 0.25, 0.3])
def test_a_cart_that_hits_two_carts_that_touch(clearance):
    """Values by SciPy's DOP853 at 1e-11; the distance of the touching carts is the clearance but for a rounding."""
    b = carts((0.0, clearance + 0.3, clearance + 0.3 + clearance), (1.0, 0.0, 0.0))
    buffer(b, 0, 1, clearance=clearance)
    buffer(b, 1, 2, clearance=clearance)
    run = runtime.simulate(b.build(check_units=False), 0.8, max_steps=500)
    assert run.success
    assert [run.v[f"c{k}"][-1, 0] for k in range(3)] == pytest.approx([-0.130262, 0.150230, 0.980032], abs=1e-6)


@pytest.mark.parametrize("at", [-1.891, 1.6875, 0.044])
def test_a_cart_beyond_a_limit_by_its_transition_is_let_go(at):
    """The force is k x (10 u^3 - 15 u^4 + 6 u^5) with u = x / 0.01 m within the transition."""
    b = carts((at + 0.24,), (0.0,))
    law = dict(upper_stiffness=0.0, lower_stiffness=1e3, damping=0.0, transition=0.01, middle=1.25, half_range=1.0)
    b.force("f", "slider_limit", "ground", "c0", s_i=(at, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), **law)
    run = runtime.simulate(b.build(check_units=False), 1.0, max_steps=500)
    work = 1e3 * 0.01**2 * (2.0 - 5.0 / 2.0 + 6.0 / 7.0)
    assert run.success and run.v["c0"][-1, 0] == pytest.approx(np.sqrt(2.0 * work), rel=1e-7)


def kinked(r_i, s_i, a_i, r_j, s_j, k, c, gap, coordinate, rate):
    """A spring with two stiffnesses and a damper with two rates.

    k : stiffness [N/m]
    c : damping [N s/m]
    gap : distance without a force [m]
    """
    x = coordinate(a_i.dot(r_j + s_j - r_i - s_i))
    spring = k * codegen.ramp(gap - x) - 0.3 * k * codegen.ramp(x - gap)
    return {"forces": {x: spring - c * codegen.ramp(rate(x)) + 0.5 * c * codegen.ramp(-rate(x))}}


def test_random_starts_at_the_kinks_of_a_law():
    law, random = codegen.compile_force(kinked), np.random.default_rng(1)
    for _ in range(24):
        at, gap, k = random.uniform(-10.0, 10.0), random.uniform(0.1, 1.0), 10.0 ** random.uniform(1.0, 6.0)
        off = random.choice([-1.0, 0.0, 1.0]) * 10.0 ** random.uniform(-17.0, -3.0)
        b = carts((at, at + gap + off), random.choice([0.0, 1e-9, 1.0], 2))
        b.force("f", law, "c0", "c1", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), k=k, c=0.3, gap=gap)
        run = runtime.simulate(b.build(check_units=False), 12.0 / np.sqrt(k), method="dop853", max_steps=1000)
        assert run.success, run.message
