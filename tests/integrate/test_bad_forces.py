"""Bad input of forces, each refused in one sentence that names the force."""

import re

import numpy as np
import pytest
import sympy as sp

import codegen
import runtime
from runtime import Builder, simulate
from tests.support.refusals import assert_refused

SPRING = dict(s_i=(0, 0, 0), s_j=(0, 0, 0), stiffness=50.0, damping=0.0, free_length=1.0)
POINTS = np.array([[0.0, 1.0], [1.0, 2.0]])


def builder():
    b = Builder("bad")
    b.body("a", mass=1.0, inertia=(1, 1, 1), r=(0, 0, -1), free=True)
    b.body("b", mass=1.0, inertia=(1, 1, 1), r=(0, 0, -2), free=True)
    return b


CASES = {
    "unknown kind 'sprung'; the kinds are spring_damper, torsional_spring": ("sprung", ("a", "b"), SPRING),
    "unknown body 'c'; the bodies are a, b, ground": ("spring_damper", ("a", "c"), SPRING),
    "acts between body 'a' and itself": ("spring_damper", ("a", "a"), SPRING),
    "acts between body 'ground' and itself": ("spring_damper", ("ground", "ground"), SPRING),
    "missing stiffness; needs s_i, s_j, stiffness, damping, free_length": (
        "spring_damper", ("a", "b"), {key: value for key, value in SPRING.items() if key != "stiffness"},
    ),
    "unused mass; needs": ("spring_damper", ("a", "b"), SPRING | {"mass": 1.0}),
    "stiffness = -1 N/m, must not be below 0 N/m": ("spring_damper", ("a", "b"), SPRING | {"stiffness": -1.0}),
    "damping = nan is not finite": ("spring_damper", ("a", "b"), SPRING | {"damping": float("nan")}),
    "s_i has the shape (2,)": ("spring_damper", ("a", "b"), SPRING | {"s_i": (0, 0)}),
    "has 3 bodies, needs body_i, body_j": ("spring_damper", ("a", "b"), SPRING | {"body_k": "ground"}),
    "tension_table has the shape (3,)": (
        "tabulated_spring", ("a", "b"), dict(s_i=(0, 0, 0), s_j=(0, 0, 0), damping=0.0, tension_table=(1, 2, 3)),
    ),
    "tension_table[1, 0] = 0 is not above the one before": (
        "tabulated_spring", ("a", "b"), dict(s_i=(0, 0, 0), s_j=(0, 0, 0), damping=0.0, tension_table=POINTS[::-1]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("says", CASES)
def test_a_bad_force_is_refused(says):
    kind, bodies, values = CASES[says]
    b = builder()
    assert assert_refused(says, b.force, "f", kind, *bodies, **values).startswith("force 'f'")
    b.force("f", "spring_damper", "a", "b", **SPRING)  # a refused call leaves the builder unchanged
    assert_refused("force 'f' exists already", b.force, "f", "spring_damper", "a", "b", **SPRING)


def test_a_force_that_is_not_finite_at_the_start():
    b = builder()
    b.force("f", "spring_damper", "a", "b", **SPRING | {"s_j": (0, 0, 1)})
    says = (
        r"force 'f' \(spring_damper\): its force and moment on body a is nan at t = 0 s; it is singular when the points"
    )
    assert_refused(re.compile(says), b.build)


def test_a_force_that_is_not_finite_with_other_parameters_or_in_another_state():
    b = builder()
    b.force("f", "spring_damper", "a", "b", **SPRING)
    system = b.build()
    says = r"force 'f' \(spring_damper\): its force and moment on body a is nan at t = 0 s"
    assert_refused(re.compile(says), runtime.with_parameters, system, {"s_j.f": (0, 0, 1)})
    together = system.state.replace(r={"b": (0, 0, -1)})
    assert_refused(re.compile(says), runtime.linearisation, system, together)
    run = simulate(system, 1.0, initial=together)
    assert run.status == runtime.Status.NOT_FINITE and "force 'f' (spring_damper) is not finite" in run.message


def shrinking(r_i, r_j, strength, coordinate):
    """A pull that is a real number above a height of 0.5 m only.

    strength : [N]
    """
    height = coordinate((r_j - r_i).norm())
    return {"forces": {height: -strength * sp.sqrt(height - sp.Rational(1, 2))}}


def test_a_force_that_stops_being_finite_ends_the_run():
    b = Builder("falls", gravity=(0, 0, 0))
    b.body("a", mass=1.0, inertia=(1, 1, 1), r=(0, 0, 1.0), v=(0, 0, -1.0), free=True)
    b.force("f", codegen.compile_force(shrinking), "ground", "a", strength=0.1)
    run = simulate(b.build(), 2.0)
    assert not run.success and run.r["a"][-1, 2] == pytest.approx(0.5, abs=1e-6)
    assert run.status == runtime.Status.NOT_FINITE and "force 'f' (shrinking) is not finite" in run.message


def test_a_spring_of_no_free_length_may_begin_where_its_points_coincide():
    b = Builder("spring", gravity=(0, 0, 0))
    b.body("m", mass=1.0, inertia=(0.1,) * 3, v=(1.0, 0, 0), free=True)
    b.force("s", "spring_damper", "ground", "m", **SPRING | dict(stiffness=100.0, damping=0.0, free_length=0.0))
    run = simulate(b.build(), 10.0, rtol=1e-10, atol=1e-10)
    assert run.r["m"][-1, 0] == pytest.approx(np.sin(100.0) / 10.0, abs=1e-7)
