"""Free bodies, pendulums and tops against motions in closed form or by quadrature."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import models
import runtime
from runtime import GROUND, Builder
from tests.support.closed_forms import MOMENTS, top
from tests.support.quadrature import quadrature
from tests.support.vectors import about, euler_parameters, into_body, matrix

g = 9.81
X, Y, Z = np.eye(3)


# --- the free body -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [1.15, 1 + 1e-3, 1 + 1e-6, 1 - 1e-6, 1 - 1e-3, 0.55])
def test_free_body_by_elliptic_functions(ratio):
    motion, phase = top(ratio), 0.4
    start = motion.omega(phase)
    system = models.free_body.build(inertia=MOMENTS, omega=start, v=(0.3, -0.2, 0.1))
    t = np.linspace(0.0, 10.0, 101)
    run = runtime.simulate(system, t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    exact = motion.omega(motion.rate * t + phase)
    assert np.abs(np.diff(np.sign(exact[:, 1]))).sum() >= 2  # it turns over, or swings, within this time
    in_body = into_body(run.p["body"], run.omega["body"])
    # The half period goes with log |ratio - 1|: near the separatrix an error of the integrals of motion is seen magnified.
    assert np.abs(in_body - exact).max() < 1e-10 + 4e-12 / abs(ratio - 1)
    assert np.abs(run.r["body"] - t[:, None] * [0.3, -0.2, 0.1]).max() < 1e-12

    # Orientation: H does not move in global axes, which fixes two angles; the third is that of precession about H, by quadrature.
    H = np.einsum("nab,nb->na", matrix(run.p["body"]), MOMENTS * in_body)
    assert np.abs(H - MOMENTS * start).max() < 1e-11
    assert np.ptp(run.energy) < 1e-11
    if abs(ratio - 1) > 0.1:
        assert np.abs(matrix(run.p["body"]) - motion.attitude(t, phase)).max() < 1e-10


# --- pendulums -----------------------------------------------------------------------------------------------------

LENGTH, MASS = 0.3, 3.5
RADIUS = LENGTH / 30
ACROSS = MASS * (LENGTH**2 + 3 * RADIUS**2) / 12
ALONG = MASS * RADIUS**2 / 2
ABOUT_PIVOT = ACROSS + MASS * LENGTH**2 / 4


def heavy_top(theta, omega, *, pendulum, longitude=0.3):
    """The spherical pendulum model, or a top above its pivot, with the angle theta from the upward vertical."""
    if pendulum:
        return models.pendulum.build("spherical", angle=np.pi - theta, longitude=longitude, omega=omega)
    b = Builder("top")
    # The body axis zeta points away from the pivot.
    axis = np.array([-np.sin(longitude), np.cos(longitude), 0.0])
    centre = 0.5 * LENGTH * (about(axis, theta) @ Z)
    inertia = (0.05, 0.05, 0.03)
    b.body(
        "rod", mass=MASS, inertia=inertia, r=centre, p=euler_parameters(axis, theta), omega=omega,
        v=np.cross(omega, centre),
    )  # fmt: skip
    b.joint("pivot", "spherical", GROUND, "rod", s_i=(0, 0, 0), s_j=(0, 0, -0.5 * LENGTH))
    return b.build()


@pytest.mark.parametrize("pendulum", [True, False], ids=["spherical pendulum", "heavy top"])
def test_nutation_and_precession_of_a_symmetric_top(pendulum):
    """Goldstein, section 5.7: u = cos(theta) is an elliptic function of time, the precession a quadrature."""
    theta0, precession0, spin0, longitude = 0.9, 1.5, 14.0, 0.3
    if pendulum:
        theta0, precession0, spin0 = 2.2, 3.0, 2.0
    along = ALONG if pendulum else 0.03
    I1, I3 = (ABOUT_PIVOT, along) if pendulum else (0.05 + MASS * LENGTH**2 / 4, along)
    outward = np.array([np.sin(theta0) * np.cos(longitude), np.sin(theta0) * np.sin(longitude), np.cos(theta0)])
    omega = precession0 * Z + spin0 * outward
    system = heavy_top(theta0, omega, pendulum=pendulum, longitude=longitude)
    t = np.linspace(0.0, 2.0, 81)
    run = runtime.simulate(system, t[-1], t_eval=t, rtol=1e-13, atol=1e-13)

    h = LENGTH / 2
    omega3 = omega @ outward
    a, b = I3 * omega3 / I1, (I1 * precession0 * np.sin(theta0) ** 2 + I3 * omega3 * np.cos(theta0)) / I1
    beta = 2 * MASS * g * h / I1
    alpha = (precession0 * np.sin(theta0)) ** 2 + beta * np.cos(theta0)
    u1, u2, u3 = np.sort(np.roots([beta, -(alpha + a**2), 2 * a * b - beta, alpha - b**2]).real)
    assert min(abs(u1 - np.cos(theta0)), abs(u2 - np.cos(theta0))) < 1e-12  # it starts at an end of the nutation
    m, rate = (u2 - u1) / (u3 - u1), np.sqrt(beta * (u3 - u1)) / 2
    begin = ellipk(m) if abs(u2 - np.cos(theta0)) < 1e-12 else 0.0

    def u(time):
        sn, *_ = ellipj(rate * time + begin, m)
        return u1 + (u2 - u1) * sn**2

    longitudes = longitude + quadrature(lambda time: (b - a * u(time)) / (1 - u(time) ** 2), t)
    across = np.sqrt(1 - u(t) ** 2)
    exact = h * np.stack([across * np.cos(longitudes), across * np.sin(longitudes), u(t)], axis=1)
    assert np.ptp(exact[:, 2]) > 0.02
    assert np.abs(run.r["rod"] - exact).max() < 1e-11

    # The vertical angular momentum about the pivot and the energy do not change.
    body = into_body(run.p["rod"], run.omega["rod"]) * np.diag(system.body("rod").inertia)
    H = np.cross(run.r["rod"], MASS * run.v["rod"]) + np.einsum("nab,nb->na", matrix(run.p["rod"]), body)
    assert np.ptp(H[:, 2]) < 1e-11
    assert H[0, 2] == pytest.approx(I1 * b, rel=1e-12)
    assert np.ptp(run.energy) < 1e-10
