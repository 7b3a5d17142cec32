"""Contact laws and the kinematics of contacts, against formulas and differences."""

import numpy as np
import pytest
from scipy.integrate import quad

from generated import contact_sphere_plane
from runtime.system import hertz_stiffness
from tests.support.contact_kernels import Contact, values
from tests.support.contact_laws import all_laws, force_of
from tests.support.limit_kernels import FRICTIONS, NORMAL_LAWS
from tests.support.motions import derivatives, distance

seeds = pytest.mark.parametrize("seed", range(3))


# Laws


@all_laws
@seeds
def test_normal_force_is_the_formula(law, seed):
    rng, names, kernel = np.random.default_rng(seed), NORMAL_LAWS[law].PARAMETERS, NORMAL_LAWS[law].law
    delta, rate, c = rng.uniform(0.01, 2.0), rng.normal(), rng.uniform(0.2, 2.0, len(names))
    p = dict(zip(names, c, strict=True))
    work, elastic, damping, *_ = values(kernel, 6, delta, rate, c).real
    assert elastic == pytest.approx(force_of(law, p, delta, 0.0), rel=1e-14)
    assert elastic + damping == pytest.approx(force_of(law, p, delta, rate), rel=1e-13)
    assert work == pytest.approx(quad(lambda d: force_of(law, p, d, 0.0), 0.0, delta, epsabs=0.0)[0], rel=1e-9)
    assert not values(kernel, 6, 0.0, 0.0, np.ones(len(names)))[:3].any()


@pytest.mark.parametrize("law", ["coulomb", "smooth"])
@seeds
def test_friction_opposes_the_slip(law, seed):
    rng = np.random.default_rng(seed)
    (f_n, *c), direction = rng.uniform(0.1, 1.0, 4), rng.normal(size=3)
    (mu_c, mu_d, transition_velocity), direction = c, direction / np.linalg.norm(direction)
    for times in (0.0, 1e-3, 0.5, 0.999, 1.001, 3.0, 30.0, 300.0):
        v, piece = times * transition_velocity, "below" if times < 1.0 else "above"
        force = values(getattr(FRICTIONS[law], piece), 15, v * direction, f_n, np.array(c))[:3].real
        share = (-force @ direction - mu_d * v) / (mu_c * f_n)  # of Coulomb's friction
        assert distance(force, (force @ direction) * direction) < 1e-14
        if law == "coulomb":
            x = min(times, 1.0)
            assert share == pytest.approx(1.5 * x - 0.5 * x**3, abs=1e-11)
        elif times > 1.0:  # 1 - 1/sqrt(1 + 1/x^2) is at most 1/(2 x^2), and tends to it
            assert share == pytest.approx(1.0 - 0.5 / times**2, abs=0.375 / times**4 + 1e-11)
            assert 1.0 - 0.5 / times**2 - 1e-11 < share < 1.0


@seeds
def test_sticking_friction_is_static_at_the_transition_velocity_and_fades(seed):
    rng = np.random.default_rng(seed)
    (f_n, mu_s, mu_c, mu_d, fading, transition_velocity), direction = rng.uniform(0.1, 1.0, 6), rng.normal(size=3)
    direction, c = direction / np.linalg.norm(direction), np.array([mu_s, mu_c, mu_d, fading, transition_velocity])
    for v in np.array([0.0, 1e-3, 0.5, 0.999, 1.001, 3.0, 30.0]) * transition_velocity:
        x, piece = v / transition_velocity, "below" if v < transition_velocity else "above"
        force = values(getattr(FRICTIONS["sticking"], piece), 15, v * direction, f_n, c)[:3].real
        static = mu_s * (1.5 * x - 0.5 * x**3)
        moving = mu_c + (mu_s - mu_c) / (1.0 + ((v - transition_velocity) / fading) ** 2)
        expected = -((static if v < transition_velocity else moving) * f_n + mu_d * v) * direction
        assert distance(force, expected) < 1e-13


@seeds
def test_stribeck_friction_is_the_formula_of_simbody(seed):
    rng = np.random.default_rng(seed)
    (f_n, mu_s, mu_c, mu_v, transition_velocity), direction = rng.uniform(0.1, 1.0, 5), rng.normal(size=3)
    direction, c = direction / np.linalg.norm(direction), np.array([mu_s, mu_c, mu_v, transition_velocity])
    for v in np.array([1e-6, 1e-3, 0.5, 0.999, 1.001, 3.0, 30.0]) * transition_velocity:
        x, piece = v / transition_velocity, "below" if v < transition_velocity else "above"
        force = values(getattr(FRICTIONS["stribeck"], piece), 15, v * direction, f_n, c)[:3].real
        size = f_n * (min(x, 1.0) * (mu_c + 2.0 * (mu_s - mu_c) / (1.0 + x**2)) + mu_v * v)
        assert distance(force, -size * direction) < 1e-13


@pytest.mark.parametrize("law", list(FRICTIONS))
@pytest.mark.parametrize("transition_velocity", [1e-4, 1e-2, 1.0])
def test_the_pieces_of_a_friction_meet_in_value_and_slope(law, transition_velocity):
    """The slope of "stribeck" friction jumps, unless its two coefficients are equal."""
    first = {"sticking": [0.9, 0.7, 0.2, 0.4], "stribeck": [0.9, 0.7, 0.2]}.get(law, [0.7, 0.2])
    inputs = (transition_velocity * np.array([0.6, -0.48, 0.64]), 3.0, np.array([*first, transition_velocity]))
    below, above = (values(getattr(FRICTIONS[law], piece), 15, *inputs).real for piece in ("below", "above"))
    if law == "stribeck":
        assert np.abs(below - above)[3:12].max() > 1e-3 * np.abs(above).max()
        below, above = below[:3], above[:3]
    assert below == pytest.approx(above, rel=1e-12, abs=1e-12 * np.abs(above).max())


# Geometry and forces


def arm_of(c):
    """From the centre to the point of contact: the radius, less the share of the penetration by which the sphere yields."""
    return c.x[12] - c.x[13] * c.run("measure", 5)[0]


def plane_of(c):
    """Normal, belt's velocity, where the force acts, and the velocities of both bodies' points there."""
    n = c.x[6:9]
    point = c.states[0][:3] + c.x[:3] - arm_of(c) * n
    return n, c.x[14] * c.x[9:12], point, [s[7:10] + np.cross(s[10:], point - s[:3]) for s in c.states]


@seeds
def test_kinematics_of_a_contact(seed):
    c = Contact(seed)
    n, belt, point, (v_i, v_j) = plane_of(c)
    penetration, _, *slip = c.run("measure", 5)
    apart = c.states[0][:3] + c.x[:3] - c.states[1][:3] - c.x[3:6]
    assert penetration == pytest.approx(c.x[12] - apart @ n, rel=1e-13)
    assert distance(c.run("point", 3), point) < 1e-15
    assert distance(slip, v_i - v_j - belt - (v_i - v_j) @ n * n) < 1e-14


@seeds
def test_rates_agree_with_differences_along_a_motion(seed):
    """The penetration's rate, and the slip of the two points that are fixed in their bodies and meet at this instant."""
    c = Contact(seed)
    n, belt, point, _ = plane_of(c)
    local = [c.motion.A(b, 0.0).T @ (point - s[:3]) for b, s in zip("ij", c.states, strict=True)]

    def moving(t):
        states = c.motion.states(t)
        i, j = (s[:3] + c.motion.A(b, t) @ a for b, s, a in zip("ij", states, local, strict=True))
        return np.r_[values(contact_sphere_plane.measure, 5, *states, c.setting.x(*states))[0], i - j]

    rate, *apart = derivatives(moving, 1)[1]
    assert distance(c.run("measure", 5)[1:], np.r_[rate, apart - n * (n @ apart) - belt]) < 1e-11


@seeds
def test_a_rolling_sphere_does_not_slip(seed):
    """On a plane that moves, with a belt in it; the sphere's centre is its centre of mass."""
    c = Contact(seed)
    c.x[:3] = 0.0
    n, belt, _, (_, v_j) = plane_of(c)
    assert np.abs(c.run("measure", 5)[2:]).max() > 0.1
    c.states[0][7:10] = v_j + belt + np.cross(c.states[0][10:], arm_of(c) * n)
    assert np.abs(c.run("measure", 5)[2:]).max() < 1e-14


@seeds
def test_action_reaction_and_power(seed):
    c = Contact(seed)
    n, belt, point, _ = plane_of(c)
    Q, force = c.run("wrench", 12, c.f), c.f[0] * n + c.f[1:] - c.f[1:] @ n * n
    (r_i, v_i), (r_j, v_j) = ((s[:3], s[7:]) for s in c.states)
    assert distance(Q, np.r_[force, np.cross(point - r_i, force), -force, np.cross(point - r_j, -force)]) < 1e-14
    _, rate, *slip = c.run("measure", 5)
    # The belt slips under the sphere without moving its body.
    assert Q @ np.r_[v_i, v_j] == pytest.approx(-c.f[0] * rate + c.f[1:] @ (slip + belt), abs=1e-13)


def test_hertz_stiffness():
    R, E1, nu1, E2, nu2 = 0.03, 2.1e11, 0.3, 5e9, 0.45
    both = 1.0 / ((1.0 - nu1**2) / E1 + (1.0 - nu2**2) / E2)
    assert hertz_stiffness(R, E1, nu1, E2, nu2) == pytest.approx(4 / 3 * np.sqrt(R) * both, rel=1e-15)
    assert hertz_stiffness(R, E1, nu1) == pytest.approx(4 / 3 * np.sqrt(R) * E1 / (1.0 - nu1**2), rel=1e-15)
