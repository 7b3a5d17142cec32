"""Hooke's joint against its closed form and a quadrature; loops and the double pendulum: test_conformance."""

import numpy as np
import pytest

import models
import runtime
from tests.support.quadrature import quadrature
from tests.support.vectors import matrix

g = 9.81
X, Y, Z = np.eye(3)


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
