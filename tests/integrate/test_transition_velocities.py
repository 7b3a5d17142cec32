"""Tolerances and the transition velocity of friction: radau bounds them, other methods are refused where they are too loose."""

import numpy as np
import pytest

from runtime import Builder, ModelError, simulate
from runtime.integrate.endings import stiffness
from tests.support.refusals import assert_refused

Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)


def wheels(rate, transition_velocity=1e-9):
    """Two wheels on one axis that turn together; a torque on the first is shared by the friction between them."""
    b = Builder("wheels", gravity=Z)
    for name in "ab":
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), omega=(0.0, rate, 0.0))
    b.joint("axle", "revolute", "ground", "a", s_i=Z, s_j=Z, a_i=Y, a_j=Y)
    b.joint("hub", "revolute", "a", "b", s_i=Z, s_j=Z, a_i=Y, a_j=Y)
    b.load("torque", "a", moment=(0.0, 0.2, 0.0))
    b.force(
        "rub", "hinge_friction", "a", "b", a_i=Y, friction=0.5, transition_velocity=transition_velocity, damping=0.0
    )
    return b.build()


@pytest.mark.parametrize("rate", [0.0, 10.0, 100.0])
@pytest.mark.parametrize(("rtol", "atol"), [(1e-9, 1e-11), (1e-9, 1e-6), (1e-6, 1e-6), (1e-4, 1e-10)])
def test_wheels_that_are_held_together_stay_so_at_any_tolerance(rate, rtol, atol):
    """Without the bound the wheels at 100 rad/s part by 7e-3 rad and at 1000 rad/s by 0.1 rad, with success."""
    t = np.linspace(0.0, 2.0, 21)
    run = simulate(wheels(rate), 2.0, t_eval=t, method="radau", rtol=rtol, atol=atol, max_steps=20000)
    assert run.success
    assert abs(run.omega["a"][-1, 1] - rate - 2.0) < 1e-8
    assert np.abs(run.p["a"] - run.p["b"]).max() < 1e-9  # transition velocity of 1.3e-10 rad/s
    assert np.abs(run.forces["rub"].slip[1:] + 1.34e-10).max() < 0.02e-10
    assert run.forces["rub"].moment_j[1:, 1] == pytest.approx(0.1, rel=1e-2)


def test_auto_is_radau_where_friction_sticks():
    assert simulate(wheels(1.0), 0.1).stats.method == "radau"
    assert simulate(wheels(1.0, transition_velocity=1e-2), 0.1).stats.method == "auto"


@pytest.mark.parametrize(
    ("method", "rate", "transition_velocity", "tolerances", "says"),
    [
        (
            "BDF",
            0.0,
            1e-9,
            dict(rtol=1e-9, atol=1e-8),
            r"transition_velocity = 1e-09 is below 1e-08, the tolerance of velocities at the start",
        ),
        ("BDF", 100.0, 1e-9, dict(rtol=1e-9, atol=1e-11), r"transition_velocity = 1e-09 is below 1e-07"),
        (
            "dop853",
            0.0,
            1e-3,
            dict(rtol=1e-2, atol=1e-2),
            r"use method='radau', or lower rtol and atol, or a larger transition velocity",
        ),
        (
            "dop853",
            0.0,
            1e-9,
            {},
            r"force 'rub': transition_velocity = 1e-09, for which the explicit method 'dop853' would need steps",
        ),
    ],
)
def test_looser_tolerances_than_the_transition_velocity_are_refused_for_other_methods(
    method, rate, transition_velocity, tolerances, says
):
    assert_refused(says, simulate, wheels(rate, transition_velocity), 1.0, method=method, **tolerances)


@pytest.mark.parametrize("method", ["auto", "dop853"])
def test_beside_a_coupling_no_method_is_recommended_that_does_not_know_it(method):
    """radau integrates absolute coordinates, which do not know couplings: the remedy is another transition velocity."""

    def geared(transition_velocity):
        b = Builder("geared", gravity=Z, axes="global")
        for name, y in (("A", 0.0), ("B", 1.0)):
            b.body(name, mass=1.0, inertia=(0.1,) * 3, r=(0, y, 0))
            b.joint(f"h{name}", "revolute", "ground", name, point=(0, y, 0), axis=(0, 0, 1))
        b.coupling("gear", "hB.angle", "hA.angle", 1.0)
        b.load("motor", "A", moment=(0, 0, 0.5))
        b.force(
            "rub",
            "hinge_friction",
            "ground",
            "B",
            a_i=(0, 0, 1),
            friction=1.0,
            transition_velocity=transition_velocity,
            damping=0.0,
        )
        return b.build()

    with pytest.raises(
        ModelError, match="force 'rub': transition_velocity = 1e-09, .* use a transition velocity of 1e-06 or more$"
    ):
        simulate(geared(1e-9), 0.1, method=method)
    run = simulate(geared(1e-3), 0.1, method=method)
    assert run.success and run.omega["B"][-1, 2] == pytest.approx(0.5e-3, rel=0.4)
    assert "a larger transition velocity take fewer" in stiffness(run.system, 3000, 3000)
    assert "method='radau' takes fewer" in stiffness(wheels(0.0), 3000, 3000)
