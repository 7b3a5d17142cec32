"""Hooke's joint, the four-bar and the double pendulum against closed forms, quadrature and reduced coordinates."""

import numpy as np
import pytest

import models
import runtime
from tests.support.closed_forms import FourBar, reduced_double_pendulum
from tests.support.quadrature import quadrature
from tests.support.vectors import into_body, matrix

g = 9.81
X, Y, Z = np.eye(3)


# --- Hooke's joint -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bend_deg", [10.0, 45.0, 70.0])
def test_hooke_joint(bend_deg):
    bend, speed = np.radians(bend_deg), 10.0
    system = models.hooke_shaft.build(bend=bend, speed=speed)
    out = np.array([np.cos(bend), np.sin(bend), 0.0])
    # At first the arm of the input shaft stands upright on the plane of the shafts: the smallest ratio.
    assert np.abs(system.state.omega["input"] - speed * X).max() < 1e-12
    assert np.abs(system.state.omega["output"] - speed * np.cos(bend) * out).max() < 1e-12
    t = np.linspace(0.0, 2.0, 201)
    run = runtime.simulate(system, t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    side = np.array([-np.sin(bend), np.cos(bend), 0.0])
    # The cross: its arm on the input shaft starts along z, that on the output shaft in the plane of the shafts.
    arm_in, arm_out = matrix(run.p["input"])[:, :, 2], matrix(run.p["output"])[:, :, 1]
    theta = np.unwrap(np.arctan2(-arm_in[:, 1], arm_in[:, 2]))
    phi = np.unwrap(np.arctan2(arm_out[:, 2], arm_out @ side))
    assert theta[-1] > 4 * np.pi

    assert np.abs(np.sin(phi) * np.cos(theta) - np.sin(theta) * np.cos(phi) * np.cos(bend)).max() < 1e-10
    # With the angle b counted from the arm in the plane of the shafts, b = theta + 90 degrees, the ratio is
    # cos(bend) / (1 - sin(bend)^2 cos(b)^2).
    ratio = np.cos(bend) / (1 - np.sin(bend) ** 2 * np.cos(theta + np.pi / 2) ** 2)
    omega_in, omega_out = run.omega["input"] @ X, run.omega["output"] @ out
    assert np.abs(omega_out - ratio * omega_in).max() < 1e-9
    assert np.abs(run.omega["input"] - omega_in[:, None] * X).max() < 1e-9
    assert np.abs(run.omega["output"] - omega_out[:, None] * out).max() < 1e-9

    # Equal shafts without load: omega_in^2 (1 + ratio^2) keeps its value, which gives the time of every angle.
    def slowness(angle):
        return np.sqrt(1 + (np.cos(bend) / (1 - np.sin(bend) ** 2 * np.sin(angle) ** 2)) ** 2)

    initial = omega_in[0] * slowness(0.0)
    assert np.abs(quadrature(slowness, theta) / initial - t).max() < 1e-10


# --- loops ---------------------------------------------------------------------------------------------------------


def turned(run, name):
    """Angle of a bar from x towards z."""
    direction = matrix(run.p[name])[:, :, 0]
    return np.unwrap(np.arctan2(direction[:, 2], direction[:, 0]))


@pytest.mark.parametrize("joints", ["independent", "revolute"])
def test_four_bar_by_closure_and_quadrature(joints):
    bars = FourBar()
    system = models.four_bar.build(joints, crank_speed=15.0)
    assert np.abs(system.state.y - bars.thrown(system, np.pi / 3, 15.0).y).max() < 1e-13
    t = np.linspace(0.0, 1.5, 151)
    run = runtime.simulate(system, t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    crank = turned(run, "crank")
    assert crank[0] == pytest.approx(np.pi / 3, abs=1e-15)
    assert crank[-1] - crank[0] > 2 * np.pi
    assert run.violation.max() < 1e-10  # redundant rows hold too

    coupler, rocker = np.array([bars.angles(angle) for angle in crank]).T
    assert np.abs(turned(run, "coupler") - coupler).max() < 1e-11
    # The bar `rocker` points from its fixed end to the coupler.
    assert np.abs(turned(run, "rocker") - rocker).max() < 1e-11
    for name in ("crank", "coupler", "rocker"):
        exact = np.array([bars.centres(angle)[name] for angle in crank])
        assert np.abs(run.r[name][:, [0, 2]] - exact).max() < 1e-11
        assert np.abs(run.r[name][:, 1]).max() < 1e-11
    d_coupler, d_rocker = np.array([bars.rates(angle) for angle in crank]).T
    rate = -run.omega["crank"][:, 1]
    assert np.abs(-run.omega["coupler"][:, 1] - d_coupler * rate).max() < 1e-9
    assert np.abs(-run.omega["rocker"][:, 1] - d_rocker * rate).max() < 1e-9

    # One degree of freedom: the energy gives the rate at every angle, and so the time.
    inertia, potential = bars.inertia_and_height(crank[0])
    energy = 0.5 * inertia * rate[0] ** 2 + potential

    def slowness(angle):
        inertia, potential = bars.inertia_and_height(angle)
        return np.sqrt(inertia / (2 * (energy - potential)))

    assert np.abs(quadrature(slowness, crank) - t).max() < 1e-10
    assert np.abs(rate * [slowness(angle) for angle in crank] - 1.0).max() < 1e-10


def test_four_hinges_name_their_redundant_rows():
    hinges, independent = (models.four_bar.build(joints) for joints in ("revolute", "independent"))
    assert independent.redundant == ()
    assert len(hinges.redundant) == len(set(hinges.redundant)) == 3
    assert set(hinges.redundant) <= {f"{joint.name}.{row}" for joint in hinges.joints for row in joint.rows}
    assert hinges.degrees_of_freedom == independent.degrees_of_freedom == 1


@pytest.mark.slow
def test_spatial_double_pendulum():
    lengths, masses, omega = (0.5, 0.4), (1.0, 0.8), (0.3, -0.5, 2.0)
    system = models.double_pendulum.build(lengths=lengths, masses=masses, omega=omega)
    t = np.linspace(0.0, 2.0, 81)
    run = runtime.simulate(system, t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    r, w = reduced_double_pendulum(t, lengths, masses, omega)
    for name in ("upper", "lower"):
        assert np.abs(run.r[name] - r[name]).max() < 1e-10
        assert np.abs(run.omega[name] - w[name]).max() < 1e-8
    H = 0.0
    for body in system.bodies:
        local = into_body(run.p[body.name], run.omega[body.name]) @ body.inertia
        H = H + body.mass * np.cross(run.r[body.name], run.v[body.name])
        H = H + np.einsum("nab,nb->na", matrix(run.p[body.name]), local)
    assert np.ptp(H[:, 2]) < 1e-11
    assert np.ptp(run.energy) < 1e-10
