"""Motions with a solution in closed form, or by quadrature, against simulated ones."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.special import ellipj, ellipk

import models
import runtime
from codegen import compile_joint
from runtime import GROUND, Builder, Event

g = 9.81
X, Y, Z = np.eye(3)


def rotations(p):
    """Rotation matrices of Euler parameters (n, 4), by quaternion products of the axes: (n, 3, 3)."""
    e0, e = p[:, :1], p[:, 1:]
    columns = []
    for axis in np.eye(3):
        t = 2.0 * np.cross(e, axis)
        columns.append(axis + e0 * t + np.cross(e, t))
    return np.stack(columns, axis=2)


def about(axis, angle):
    """Rotation by the angle about a unit vector."""
    S = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * S @ S


def euler_parameters(axis, angle):
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis)])


def into_body(p, x):
    return np.einsum("nab,na->nb", rotations(p), x)


def quadrature(f, points):
    """Integral of f from points[0] to each of the points."""
    parts = [quad(f, a, b, epsabs=1e-14, epsrel=1e-13)[0] for a, b in zip(points, points[1:], strict=False)]
    return np.concatenate([[0.0], np.cumsum(parts)])


# --- the free body -------------------------------------------------------------------------------------------------

MOMENTS = np.array([0.02, 0.05, 0.06])


class EulerTop:
    """Torque-free asymmetric body, I1 < I2 < I3, from its largest and smallest rates (Landau and Lifshitz, section 37).

    ``near_largest``: the angular momentum circles the axis 3 (L^2 > 2 E I2), else the axis 1.
    """

    def __init__(self, energy, momentum):
        I1, I2, I3 = MOMENTS
        E, L2 = energy, momentum**2
        self.near_largest = L2 > 2 * E * I2
        self.amplitude = np.sqrt(
            [(2 * E * I3 - L2) / (I1 * (I3 - I1)), 0.0, (L2 - 2 * E * I1) / (I3 * (I3 - I1))]
        )  # fmt: skip
        if self.near_largest:
            self.amplitude[1] = np.sqrt((2 * E * I3 - L2) / (I2 * (I3 - I2)))
            self.rate = np.sqrt((I3 - I2) * (L2 - 2 * E * I1) / (I1 * I2 * I3))
            self.m = (I2 - I1) * (2 * E * I3 - L2) / ((I3 - I2) * (L2 - 2 * E * I1))
        else:
            self.amplitude[1] = np.sqrt((L2 - 2 * E * I1) / (I2 * (I2 - I1)))
            self.rate = np.sqrt((I2 - I1) * (2 * E * I3 - L2) / (I1 * I2 * I3))
            self.m = (I3 - I2) * (L2 - 2 * E * I1) / ((I2 - I1) * (2 * E * I3 - L2))

    def omega(self, phase):
        """Components in body axes at a phase, (n, 3)."""
        sn, cn, dn, _ = ellipj(phase, self.m)
        first, third = (cn, dn) if self.near_largest else (dn, cn)
        return np.stack([self.amplitude[0] * first, self.amplitude[1] * sn, self.amplitude[2] * third], axis=-1)


def top(ratio, energy=0.3):
    """The body whose L^2 is ``ratio`` times that of the separatrix."""
    return EulerTop(energy, np.sqrt(2 * energy * MOMENTS[1] * ratio))


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

    # Orientation: H does not move in global axes, which fixes two angles; the third is that of precession about H.
    H = np.einsum("nab,nb->na", rotations(run.p["body"]), MOMENTS * in_body)
    assert np.abs(H - MOMENTS * start).max() < 1e-11
    assert np.ptp(run.energy) < 1e-11


def test_free_body_precession_by_quadrature():
    motion, phase = top(1.15), 0.4
    start = motion.omega(phase)
    t = np.linspace(0.0, 5.0, 26)
    system = models.free_body.build(inertia=MOMENTS, omega=start)
    run = runtime.simulate(system, t[-1], t_eval=t, rtol=1e-13, atol=1e-13)

    def precession(time):
        h = MOMENTS * motion.omega(motion.rate * time + phase)
        w = h / MOMENTS
        return np.linalg.norm(h) * (h[0] * w[0] + h[1] * w[1]) / (h[0] ** 2 + h[1] ** 2)

    h0 = MOMENTS * start
    direction = h0 / np.linalg.norm(h0)
    angles = quadrature(precession, t)
    third = rotations(run.p["body"])[:, :, 2]
    exact = MOMENTS * motion.omega(motion.rate * t + phase)
    for k in range(len(t)):
        # Turn the first position of the axis to its nutation now, in its meridian, then by the precession.
        along = exact[k, 2] / np.linalg.norm(h0)
        meridian = Z - (Z @ direction) * direction
        meridian /= np.linalg.norm(meridian)
        axis = along * direction + np.sqrt(1 - along**2) * meridian
        assert np.abs(about(direction, angles[k]) @ axis - third[k]).max() < 1e-10


def test_free_symmetric_body():
    across, along = 0.03, 0.05
    omega0 = np.array([1.0, -2.0, 4.0])
    A0 = about(np.array([0.6, 0.0, 0.8]), 1.1)
    H = A0 @ (np.array([across, across, along]) * (A0.T @ omega0))
    spin = (1.0 - along / across) * (A0.T @ omega0)[2]
    b = Builder("symmetric", gravity=(0, 0, 0))
    p = euler_parameters([0.6, 0.0, 0.8], 1.1)
    b.body("body", mass=2.0, inertia=(across, across, along), p=p, omega=omega0, free=True)
    t = np.linspace(0.0, 5.0, 101)
    run = runtime.simulate(b.build(), 5.0, t_eval=t, rtol=1e-13, atol=1e-13)
    rate = np.linalg.norm(H) / across
    A = rotations(run.p["body"])
    for k in range(len(t)):
        exact = about(H / np.linalg.norm(H), rate * t[k]) @ A0 @ about(Z, spin * t[k])
        assert np.abs(A[k] - exact).max() < 1e-11


def test_free_fall():
    t = np.linspace(0.0, 3.0, 31)
    v0 = np.array([1.0, -2.0, 5.0])
    system = models.free_body.build(v=v0, gravity=(0.1, 0.0, -g))
    run = runtime.simulate(system, 3.0, t_eval=t)
    assert np.abs(run.r["body"] - (t[:, None] * v0 + 0.5 * t[:, None] ** 2 * [0.1, 0.0, -g])).max() < 1e-11
    assert np.abs(run.v["body"] - (v0 + t[:, None] * [0.1, 0.0, -g])).max() < 1e-11


# --- pendulums -----------------------------------------------------------------------------------------------------

LENGTH, MASS = 0.3, 3.5
RADIUS = LENGTH / 30
ACROSS = MASS * (LENGTH**2 + 3 * RADIUS**2) / 12
ALONG = MASS * RADIUS**2 / 2
ABOUT_PIVOT = ACROSS + MASS * LENGTH**2 / 4
RATE = np.sqrt(MASS * g * LENGTH / 2 / ABOUT_PIVOT)  # of small swings


def swing(run):
    """Angle from the downward vertical towards x, without jumps."""
    x, _, z = run.r["rod"].T
    return np.unwrap(np.arctan2(x, -z))


@pytest.mark.parametrize("degrees", [5.0, 90.0, 170.0, 179.0])
def test_planar_pendulum_angle(degrees):
    theta0 = np.radians(degrees)
    k = np.sin(theta0 / 2)
    t = np.linspace(0.0, 2.0, 101)
    run = runtime.simulate(models.pendulum.build(angle=theta0), t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    sn, *_ = ellipj(ellipk(k**2) - RATE * t, k**2)
    assert np.abs(swing(run) - 2 * np.arcsin(k * sn)).max() < 5e-10


def test_planar_pendulum_that_turns_over():
    # theta' at the bottom above that of the separatrix: theta/2 = am(theta0'/2 t | (2 RATE / theta0')^2).
    speed = 2.5 * RATE
    system = models.pendulum.build(angle=0.0, omega=(0.0, -speed, 0.0))
    t = np.linspace(0.0, 3.0, 151)
    run = runtime.simulate(system, t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    _, _, _, amplitude = ellipj(speed * t / 2, (2 * RATE / speed) ** 2)
    assert swing(run)[-1] > 10.0
    assert np.abs(swing(run) - 2 * amplitude).max() < 5e-10


@pytest.mark.parametrize("degrees", [5.0, 90.0, 170.0])
def test_planar_pendulum_period(degrees):
    theta0 = np.radians(degrees)
    period = 4 * ellipk(np.sin(theta0 / 2) ** 2) / RATE
    vertical = Event("vertical", lambda t, state: state.r["rod"][0])
    run = runtime.simulate(
        models.pendulum.build(angle=theta0), 2.1 * period, events=[vertical], rtol=1e-13, atol=1e-13
    )  # fmt: skip
    exact = period * np.array([0.25, 0.75, 1.25, 1.75])
    assert np.abs(run.events["vertical"] - exact).max() < 1e-10


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
    H = np.cross(run.r["rod"], MASS * run.v["rod"]) + np.einsum("nab,nb->na", rotations(run.p["rod"]), body)
    assert np.ptp(H[:, 2]) < 1e-11
    assert H[0, 2] == pytest.approx(I1 * b, rel=1e-12)
    assert np.ptp(run.energy) < 1e-10


@pytest.mark.parametrize("root", [-1, 1])
def test_steady_precession_of_a_heavy_top(root):
    """I1 W^2 cos(theta) - I3 omega3 W + m g h = 0: slow and fast."""
    theta, omega3, longitude = 0.7, 60.0, 0.3
    I1, I3, h = 0.05 + MASS * LENGTH**2 / 4, 0.03, LENGTH / 2
    discriminant = (I3 * omega3) ** 2 - 4 * I1 * np.cos(theta) * MASS * g * h
    assert discriminant > 0
    W = (I3 * omega3 + root * np.sqrt(discriminant)) / (2 * I1 * np.cos(theta))
    outward = np.array([np.sin(theta) * np.cos(longitude), np.sin(theta) * np.sin(longitude), np.cos(theta)])
    omega = W * Z + (omega3 - W * np.cos(theta)) * outward
    t = np.linspace(0.0, 2.0, 81)
    run = runtime.simulate(
        heavy_top(theta, omega, pendulum=False, longitude=longitude), t[-1], t_eval=t, rtol=1e-13, atol=1e-13
    )  # fmt: skip
    exact = h * np.stack(
        [np.sin(theta) * np.cos(longitude + W * t), np.sin(theta) * np.sin(longitude + W * t), np.cos(theta) + 0 * t], 1
    )
    assert np.abs(run.r["rod"] - exact).max() < 1e-11
    # Its reaction is that of uniform motion on a circle.
    force = run.reaction("pivot", on="rod").force
    needed = MASS * (g * Z - W**2 * (exact - exact[:, 2:] * Z))
    assert np.abs(force - needed).max() < 1e-8 * np.abs(needed).max()


def test_conical_pendulum():
    angle, longitude = 0.8, -0.5
    W = np.sqrt(MASS * g * LENGTH / 2 / ((ABOUT_PIVOT - ALONG) * np.cos(angle)))
    system = models.pendulum.build("spherical", angle=angle, longitude=longitude, omega=(0, 0, W))
    t = np.linspace(0.0, 3.0, 61)
    run = runtime.simulate(system, t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    exact = LENGTH / 2 * np.stack(
        [np.sin(angle) * np.cos(longitude + W * t), np.sin(angle) * np.sin(longitude + W * t), -np.cos(angle) + 0 * t], 1
    )  # fmt: skip
    assert np.abs(run.r["rod"] - exact).max() < 1e-11
    assert np.abs(run.omega["rod"] - W * Z).max() < 1e-10


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
    arm_in, arm_out = rotations(run.p["input"])[:, :, 2], rotations(run.p["output"])[:, :, 1]
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

CRANK, COUPLER, ROCKER, FRAME, DENSITY = 0.2, 0.5, 0.4, 0.5, 2.0


class FourBar:
    """Angles of coupler and rocker from that of the crank, from x towards z, by the law of cosines."""

    def angles(self, crank):
        """(coupler, rocker)."""
        bx, bz = CRANK * np.cos(crank), CRANK * np.sin(crank)
        reach = np.hypot(FRAME - bx, -bz)
        slope = np.arctan2(-bz, FRAME - bx)
        coupler = slope + np.arccos((COUPLER**2 + reach**2 - ROCKER**2) / (2 * COUPLER * reach))
        rocker = np.pi + slope - np.arccos((ROCKER**2 + reach**2 - COUPLER**2) / (2 * ROCKER * reach))
        return coupler, rocker

    def rates(self, crank):
        """Their derivatives by the crank's angle: the velocity loop."""
        coupler, rocker = self.angles(crank)
        return (
            CRANK * np.sin(crank - rocker) / (COUPLER * np.sin(rocker - coupler)),
            CRANK * np.sin(crank - coupler) / (ROCKER * np.sin(rocker - coupler)),
        )

    def centres(self, crank):
        coupler, rocker = self.angles(crank)
        b = CRANK * np.array([np.cos(crank), np.sin(crank)])
        c = b + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
        return {"crank": b / 2, "coupler": (b + c) / 2, "rocker": (c + [FRAME, 0.0]) / 2}

    def thrown(self, system, crank, speed):
        """The state of the system with this rate of the crank; the centres by the derivative of their places."""
        rates = dict(zip(("crank", "coupler", "rocker"), (1.0, *self.rates(crank)), strict=True))
        coupler, rocker = self.angles(crank)
        b = CRANK * speed * np.array([-np.sin(crank), np.cos(crank)])
        c = ROCKER * speed * rates["rocker"] * np.array([-np.sin(rocker), np.cos(rocker)])
        v = {"crank": b / 2, "coupler": (b + c) / 2, "rocker": c / 2}
        return system.state.replace(
            v={name: (x, 0.0, z) for name, (x, z) in v.items()},
            omega={name: (0.0, -speed * rate, 0.0) for name, rate in rates.items()},
        )

    def inertia_and_height(self, crank):
        """Twice the kinetic energy for the rate 1, and the potential energy."""
        coupler, rocker = self.angles(crank)
        d_coupler, d_rocker = self.rates(crank)
        about_end = DENSITY * np.array([CRANK, ROCKER]) ** 3 / 3
        velocity = CRANK * np.array([-np.sin(crank), np.cos(crank)]) + COUPLER / 2 * d_coupler * np.array(
            [-np.sin(coupler), np.cos(coupler)]
        )
        mass = DENSITY * COUPLER
        inertia = about_end[0] + about_end[1] * d_rocker**2
        inertia += mass * (velocity @ velocity) + mass * COUPLER**2 / 12 * d_coupler**2
        height = sum(
            DENSITY * length * self.centres(crank)[name][1]
            for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER))
        )
        return inertia, g * height


def turned(run, name):
    """Angle of a bar from x towards z."""
    direction = rotations(run.p[name])[:, :, 0]
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


def test_four_hinges_move_as_independent_joints_and_name_their_redundant_rows():
    t = np.linspace(0.0, 2.0, 101)
    hinges, independent = (models.four_bar.build(joints) for joints in ("revolute", "independent"))
    a, b = (runtime.simulate(s, t[-1], t_eval=t, rtol=1e-13, atol=1e-13) for s in (hinges, independent))
    for name in hinges.body_names:
        assert np.abs(a.r[name] - b.r[name]).max() < 1e-10
        assert np.abs(a.p[name] - b.p[name]).max() < 1e-10
        assert np.abs(a.omega[name] - b.omega[name]).max() < 1e-9
    assert independent.redundant == ()
    assert len(hinges.redundant) == len(set(hinges.redundant)) == 3
    rows = {f"{joint.name}.{row}" for joint in hinges.joints for row in joint.rows}
    assert set(hinges.redundant) <= rows
    assert hinges.degrees_of_freedom == independent.degrees_of_freedom == 1
    assert a.violation.max() < 1e-10  # the removed rows hold too


def reduced_double_pendulum(t, lengths, masses, omega):
    """Two rods on ball joints in their rotation matrices and angular velocities: Kane's equations, no multipliers."""
    points, inertias = [], []
    for length, mass, along in zip(lengths, masses, (0, 1), strict=True):
        radius = length / 30
        moments = [mass * (length**2 + 3 * radius**2) / 12] * 3
        moments[along] = mass * radius**2 / 2
        points.append(length * np.eye(3)[along])
        inertias.append(np.diag(moments))

    def skew(x):
        return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])

    def rhs(_, y):
        A, w = y[:18].reshape(2, 3, 3), y[18:].reshape(2, 3)
        M, f = np.zeros((6, 6)), np.zeros(6)
        base, base_bias = np.zeros((3, 6)), np.zeros(3)
        for k in range(2):
            arm = A[k] @ points[k]
            turn = np.zeros((3, 6))
            turn[:, 3 * k : 3 * k + 3] = np.eye(3)
            J = base - skew(arm / 2) @ turn
            bias = base_bias + np.cross(w[k], np.cross(w[k], arm / 2))
            inertia = A[k] @ inertias[k] @ A[k].T
            M += masses[k] * J.T @ J + turn.T @ inertia @ turn
            f += masses[k] * J.T @ (-g * Z - bias) - turn.T @ np.cross(w[k], inertia @ w[k])
            base, base_bias = base - skew(arm) @ turn, base_bias + np.cross(w[k], np.cross(w[k], arm))
        A_dot = np.stack([skew(w[k]) @ A[k] for k in range(2)])
        return np.concatenate([A_dot.ravel(), np.linalg.solve(M, f)])

    start = np.concatenate([np.eye(3).ravel(), np.eye(3).ravel(), omega, omega])
    y = solve_ivp(rhs, (0.0, t[-1]), start, "DOP853", t_eval=t, rtol=1e-13, atol=1e-13).y.T
    A, w = y[:, :18].reshape(-1, 2, 3, 3), y[:, 18:].reshape(-1, 2, 3)
    elbow = A[:, 0] @ points[0]
    return {"upper": elbow / 2, "lower": elbow + A[:, 1] @ points[1] / 2}, {"upper": w[:, 0], "lower": w[:, 1]}


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
        H = H + np.einsum("nab,nb->na", rotations(run.p[body.name]), local)
    assert np.ptp(H[:, 2]) < 1e-11
    assert np.ptp(run.energy) < 1e-10


# --- a user's own joints -------------------------------------------------------------------------------------------


def my_hinge(r_i, s1_i, s2_i, r_j, s1_j, a_j, across):
    """A hinge written in another way: a point in common, and a second point of body i on the axis of body j.

    s1_i, s1_j : the point in common [m]
    s2_i : a second point of the axis [m]
    a_j : the axis
    """
    b_j, c_j = across(a_j)
    second = r_i + s2_i - r_j - s1_j
    return {"point": r_j + s1_j - r_i - s1_i, "off_1": second.dot(b_j), "off_2": second.dot(c_j)}


def my_universal(r_i, s_i, a_i, r_j, s_j, a_j, angle):
    """A universal joint whose axes have the cosine ``angle``, which is given.

    s_i, s_j : the crossing point [m]
    a_i, a_j : the axes
    """
    return {"point": r_j + s_j - r_i - s_i, "axes": a_i.dot(a_j) - angle}


def point_on_cylinder(r_i, s_i, a_i, r_j, s_j, l):
    """Point P_j stays on the cylinder of radius l about the line of body i through P_i.

    s_i, s_j : points [m]
    a_i : direction of the line
    l : radius [m]
    """
    normal = a_i.cross(r_j + s_j - r_i - s_i)
    return {"radius": normal.dot(normal) - l**2}


def test_own_hinge_moves_like_the_built_in_one():
    hinge = compile_joint(my_hinge)
    t = np.linspace(0.0, 1.0, 51)
    runs = []
    for own in (True, False):
        b = Builder("double pendulum of hinges")
        for n in (1, 2):
            b.body(f"rod_{n}", mass=1.0, inertia=(0.001, 0.01, 0.01), r=(0.3 * n - 0.15, 0.0, 0.0))
        axis = np.array([0.1, 1.0, 0.2]) / np.sqrt(1.05)
        for n, (before, after) in enumerate(((GROUND, "rod_1"), ("rod_1", "rod_2"))):
            s_i = np.zeros(3) if before == GROUND else np.array([0.15, 0.0, 0.0])
            s_j = np.array([-0.15, 0.0, 0.0])
            if own:
                b.joint(f"hinge_{n}", hinge, before, after, s1_i=s_i, s2_i=s_i + 0.1 * axis, s1_j=s_j, a_j=axis)
            else:
                b.joint(f"hinge_{n}", "revolute", before, after, s_i=s_i, a_i=axis, s_j=s_j, a_j=axis)
        runs.append(runtime.simulate(b.build(), t[-1], t_eval=t, rtol=1e-13, atol=1e-13))
    own, built_in = runs
    for name in ("rod_1", "rod_2"):
        assert np.abs(own.r[name] - built_in.r[name]).max() < 1e-11
        assert np.abs(own.p[name] - built_in.p[name]).max() < 1e-11
        for joint in ("hinge_0", "hinge_1"):
            if name in (own.system.joint(joint).body_i, own.system.joint(joint).body_j):
                a, b = (run.reaction(joint, on=name, at="centre") for run in (own, built_in))
                assert np.abs(a.force - b.force).max() < 1e-8
                assert np.abs(a.moment - b.moment).max() < 1e-8


def test_own_universal_joint_moves_the_foot_like_the_built_in_one():
    module = compile_joint(my_universal)
    built_in = models.foot.build("classical")
    b = Builder("foot with an own ankle")
    for body in built_in.bodies:
        b.body(body.name, mass=body.mass, inertia=body.inertia, r=built_in.state.r[body.name])
    for joint in built_in.joints:
        own = joint.name == "ankle"
        values = dict(joint.values) | ({"angle": joint.values["a_i"] @ joint.values["a_j"]} if own else {})
        b.joint(joint.name, module if own else joint.kind, joint.body_i, joint.body_j, **values)
    t = np.linspace(0.0, 2.0, 101)
    a, c = (runtime.simulate(s, t[-1], t_eval=t) for s in (b.build(), built_in))
    assert np.abs(a.r["toes"] - c.r["toes"]).max() < 1e-11
    assert np.abs(a.lam["ankle"] - c.lam["ankle"]).max() < 1e-8


def test_own_joint_without_a_built_in_counterpart():
    # A particle on an upright cylinder: uniform about the axis, free fall along it.
    radius, speed = 0.5, 3.0
    b = Builder("particle on a cylinder")
    b.body("particle", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(radius, 0.0, 0.0), v=(0.0, speed, 1.0))
    b.joint(
        "wall", compile_joint(point_on_cylinder), GROUND, "particle",
        s_i=(0, 0, 0.7), a_i=(0, 0, 1), s_j=(0, 0, 0), l=radius,
    )  # fmt: skip
    t = np.linspace(0.0, 2.0, 41)
    run = runtime.simulate(b.build(), t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    angle = speed / radius * t
    exact = np.stack([radius * np.cos(angle), radius * np.sin(angle), t - 0.5 * g * t**2], axis=1)
    assert np.abs(run.r["particle"] - exact).max() < 1e-10
    inward = run.reaction("wall", on="particle").force
    assert np.abs(inward + 2.0 * speed**2 / radius * np.stack([np.cos(angle), np.sin(angle), 0 * t], 1)).max() < 1e-8
