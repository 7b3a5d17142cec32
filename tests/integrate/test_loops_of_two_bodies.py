"""Two bodies that several joints connect close a loop, which passes singular poses; against motions in one coordinate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import models
import runtime
from runtime import Builder

GRAVITY, TIMES, START = 9.81, np.linspace(0.0, 4.0, 41), 0.5
METHODS = pytest.mark.parametrize("method", ["auto", "radau"])


def angle(inertia, slope, moment, rate):
    """Angle over time of I(q) q'' + I'(q) q'^2 / 2 = moment(q)."""

    def motion(_, y):
        return [y[1], (moment(y[0]) - 0.5 * slope(y[0]) * y[1] ** 2) / inertia(y[0])]

    return solve_ivp(motion, (0.0, TIMES[-1]), [START, rate], "DOP853", TIMES, rtol=1e-12, atol=1e-12).y[0]


def simulated(b, body, method):
    system = b.build()
    assert system.data.closed == 1
    run = runtime.simulate(system, TIMES[-1], t_eval=TIMES, rtol=1e-9, atol=1e-9, method=method)
    assert run.success, run.message
    assert run.violation.max() < 1e-12
    return run.r[body]


@METHODS
def test_a_body_on_three_rods_passes_their_plane(method):
    """Equal parallel rods without mass: the body moves on a circle without turning, through poses in which all lie in a plane."""
    length, rate = 0.7, 9.0
    u = length * np.array([np.cos(START), np.sin(START), 0.0])
    b = Builder("swing", gravity=(0, -GRAVITY, 0), axes="global")
    along = rate * np.array([-u[1], u[0], 0.0])
    b.body("platform", mass=2.0, inertia=(0.03, 0.04, 0.05), r=u + [0.5, 0.03, 0], v=along, free=True)
    for name, base in {"left": (0, 0, 0), "right": (1, 0, 0), "front": (0.5, 0, 0.5)}.items():
        b.joint(name, "constant_distance", "ground", "platform", s_i=base, s_j=u + base, l=length)
    q = angle(lambda q: length, lambda q: 0.0, lambda q: -GRAVITY * np.cos(q), rate)
    exact = np.column_stack([length * np.cos(q) + 0.5, length * np.sin(q) + 0.03, 0.0 * q])
    assert np.abs(simulated(b, "platform", method) - exact).max() < 1e-6


def flip(length, centre, J, rate):
    """A crank without mass, as long as the rod, whose end slides along a line through the pivot."""

    def at(s, t):
        return np.array([s * np.cos(START), t * np.sin(START), 0.0])

    b = Builder("flip", gravity=(0, -GRAVITY, 0), axes="global")
    far, near = length + centre, length - centre
    v = rate * np.array([-far * np.sin(START), near * np.cos(START), 0.0])
    b.body("rod", mass=1.0, inertia=(J, J, J), r=at(far, near), v=v, omega=(0, 0, -rate), free=True)
    b.joint("crank", "constant_distance", "ground", "rod", s_i=(0, 0, 0), s_j=at(length, length), l=length)
    b.joint("slot", "point_on_line", "ground", "rod", s_i=(0, 0, 0), s_j=at(2 * length, 0.0), axis=(1, 0, 0))
    return b


@METHODS
def test_a_rod_as_long_as_its_crank_passes_the_pivot(method):
    length, centre, J, rate = 0.5, 0.25, 0.02, 6.0
    far, near = length + centre, length - centre
    q = angle(
        lambda q: J + (far * np.sin(q)) ** 2 + (near * np.cos(q)) ** 2,
        lambda q: (far**2 - near**2) * np.sin(2 * q),
        lambda q: -GRAVITY * near * np.cos(q),
        rate,
    )
    exact = np.column_stack([far * np.cos(q), near * np.sin(q), 0.0 * q])
    assert np.abs(simulated(flip(length, centre, J, rate), "rod", method) - exact).max() < 1e-6


@pytest.mark.slow
@METHODS
def test_the_pivot_is_passed_wherever_steps_end(method):
    """Rounding decides where steps end; steps of radau placed as those of dop853 ended 1 of 3 runs there."""
    for rate in 6.0 * (1.0 + np.linspace(-1e-6, 1e-6, 12)):
        simulated(flip(0.5, 0.25, 0.02, rate), "rod", method)


def test_a_lock_beside_a_joint_closes_no_loop():
    """The foot, whose toes are held by a joint and a lock of its rotation, keeps the papers' stabilisation."""
    assert models.foot.build(ankle="modified").data.closed == 0
