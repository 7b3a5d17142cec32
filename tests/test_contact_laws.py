"""Contacts of spheres with planes: laws and forces as formulas, and bounces against references of their own."""

import pickle

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import gamma
from test_kernels import derivatives, distance
from test_limit_kernels import FRICTIONS, NORMAL_LAWS
from test_tangents import Contact, values

from generated import contact_sphere_plane
from runtime import Builder, Event, ModelError, Signal, hertz_stiffness, simulate

MASS, RADIUS, HEIGHT, FALL = 0.5, 0.1, 0.05, 9.81
TIGHT = dict(rtol=1e-12, atol=1e-12)
BOUNCES = {
    "kelvin_voigt": dict(stiffness=2e4, exponent=1.0, damping=8.0),
    "hertz": dict(stiffness=1e6),
    "hunt_crossley": dict(stiffness=1e6, exponent=1.5, loss=0.15),
    "lankarani_nikravesh": dict(stiffness=1e6, exponent=1.5, restitution=0.8),
    "flores": dict(stiffness=1e6, exponent=1.5, restitution=0.6),
}
all_laws = pytest.mark.parametrize("law", list(NORMAL_LAWS))
seeds = pytest.mark.parametrize("seed", range(3))


def hysteresis(law, p):
    """The factor of delta' in f_n = K delta^n (1 + factor delta')."""
    e = p.get("restitution")
    return {
        "hunt_crossley": lambda: 1.5 * p["loss"],
        "lankarani_nikravesh": lambda: 0.75 * (1.0 - e**2) / p["impact"],
        "flores": lambda: 1.6 * (1.0 - e) / (e * p["impact"]),
    }[law]()


def force_of(law, p, delta, rate):
    """The normal force as the papers write it."""
    if law == "kelvin_voigt":
        return p["stiffness"] * delta ** p["exponent"] + p["damping"] * rate
    if law == "hertz":
        return p["stiffness"] * delta * np.sqrt(delta)
    return p["stiffness"] * delta ** p["exponent"] * (1.0 + hysteresis(law, p) * rate)


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


@pytest.mark.parametrize("law", list(FRICTIONS))
@seeds
def test_friction_opposes_the_slip(law, seed):
    rng = np.random.default_rng(seed)
    (f_n, *c), direction = rng.uniform(0.1, 1.0, 4), rng.normal(size=3)
    (mu_c, mu_d, creep), direction = c, direction / np.linalg.norm(direction)
    for times in (0.0, 1e-3, 0.5, 0.999, 1.001, 3.0, 30.0, 300.0):
        v, piece = times * creep, "below" if times < 1.0 else "above"
        force = values(getattr(FRICTIONS[law], piece), 15, v * direction, f_n, np.array(c))[:3].real
        share = (-force @ direction - mu_d * v) / (mu_c * f_n)  # of Coulomb's friction
        assert distance(force, (force @ direction) * direction) < 1e-14
        if law == "coulomb":
            x = min(times, 1.0)
            assert share == pytest.approx(1.5 * x - 0.5 * x**3, abs=1e-11)
        elif times > 1.0:  # 1 - 1/sqrt(1 + 1/x^2) is at most 1/(2 x^2), and tends to it
            assert share == pytest.approx(1.0 - 0.5 / times**2, abs=0.375 / times**4 + 1e-11)
            assert 1.0 - 0.5 / times**2 - 1e-11 < share < 1.0


@pytest.mark.parametrize("law", list(FRICTIONS))
@pytest.mark.parametrize("creep", [1e-4, 1e-2, 1.0])
def test_the_pieces_of_a_friction_meet_in_value_and_slope(law, creep):
    inputs = (creep * np.array([0.6, -0.48, 0.64]), 3.0, np.array([0.7, 0.2, creep]))
    below, above = (values(getattr(FRICTIONS[law], piece), 15, *inputs).real for piece in ("below", "above"))
    assert below == pytest.approx(above, rel=1e-12, abs=1e-12 * np.abs(above).max())


# Geometry and forces


def plane_of(c):
    """Normal, belt's velocity, where the force acts, and the velocities of both bodies' points there."""
    n = c.x[6:9]
    point = c.states[0][:3] + c.x[:3] - c.x[12] * n
    return n, c.x[13] * c.x[9:12], point, [s[7:10] + np.cross(s[10:], point - s[:3]) for s in c.states]


@seeds
def test_what_a_contact_measures(seed):
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
    c.states[0][7:10] = v_j + belt + np.cross(c.states[0][10:], c.x[12] * n)
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


# Bounces


def ball(law="hertz", *, z=RADIUS + HEIGHT, v=(0.0, 0.0, 0.0), gravity=FALL, **parameters):
    b = Builder("ball", gravity=(0.0, 0.0, -gravity))
    b.body("ball", mass=MASS, inertia=(0.4 * MASS * RADIUS**2,) * 3, r=(0.0, 0.0, z), v=v, free=True)
    b.contact("touch", "ball", centre=(0, 0, 0), radius=RADIUS, law=law, **(parameters or BOUNCES[law]))
    return b.build()


def reference(law, p, speed, gravity):
    """Duration, penetration and its rate at lift-off, where the force comes to an end, by SciPy."""

    def force(y):
        return force_of(law, p, max(y[0], 0.0), y[1])

    def motion(_, y):
        return [y[1], gravity - force(y) / MASS]

    def ends(_, y):
        return force(y) if y[0] > 0.0 else y[0]

    ends.terminal, ends.direction = True, -1
    done = solve_ivp(motion, (0, 1), (0.0, speed), method="DOP853", rtol=1e-13, atol=1e-16, events=ends)
    return done.t_events[0][0], *done.y_events[0][0]


def closed_form(law, p, speed):
    """Restitution without gravity, and the duration where it is known."""
    if law == "hertz":
        deepest = (1.25 * MASS * speed**2 / p["stiffness"]) ** 0.4
        return 1.0, 0.8 * np.sqrt(np.pi) * gamma(0.4) / gamma(0.9) * deepest / speed
    if law == "kelvin_voigt":  # delta = v0/w exp(-a t) sin(w t) until K delta + c delta' = 0
        a = p["damping"] / (2.0 * MASS)
        w = np.sqrt(p["stiffness"] / MASS - a**2)
        t = (np.pi - np.arctan2(2.0 * a * w, w**2 - a**2)) / w
        return -np.exp(-a * t) * (np.cos(w * t) - a / w * np.sin(w * t)), t
    # v dv = -K/m delta^n (1 + c v) d delta:  c v - log(1 + c v) is the same at both ends.
    c = hysteresis(law, p) * speed
    return brentq(lambda e: -c * e - np.log1p(-c * e) - c + np.log1p(c), 1e-9, min(1.0, 0.999999 / c), xtol=1e-15), None


@all_laws
def test_restitution_without_gravity(law):
    speed = 0.8
    run = simulate(ball(law, v=(0, 0, -speed), gravity=0.0), 0.1, **TIGHT)
    p, motion = BOUNCES[law] | {"impact": speed}, run.contacts["touch"]
    e, lasts = closed_form(law, p, speed)
    lasts = lasts or reference(law, p, speed, 0.0)[0]
    assert run.v["ball"][-1] == pytest.approx([0.0, 0.0, e * speed], rel=1e-8)
    assert motion.touch_down == pytest.approx([HEIGHT / speed], abs=1e-12)
    assert motion.impact_speed == pytest.approx([speed], rel=1e-12)
    assert motion.lift_off - motion.touch_down == pytest.approx([lasts], rel=1e-8)
    energy = MASS / 2 * speed**2
    assert run.energy[0] - run.energy[-1] == pytest.approx(energy * (1.0 - e**2), rel=1e-8, abs=1e-8 * energy)


@all_laws
def test_a_ball_falls_and_bounces(law):
    down = np.sqrt(2.0 * HEIGHT / FALL)
    speed, p = FALL * down, BOUNCES[law] | {"impact": FALL * down}
    lasts, delta, rate = reference(law, p, speed, FALL)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    times = np.r_[down + lasts * (nodes + 1) / 2, down + lasts + 0.02]
    run = simulate(ball(law), times[-1], t_eval=times, **TIGHT)
    motion = run.contacts["touch"]
    assert motion.touch_down == pytest.approx([down], abs=1e-10)
    assert motion.lift_off == pytest.approx([down + lasts], abs=1e-10)
    assert run.v["ball"][-1, 2] + FALL * 0.02 == pytest.approx(-rate, rel=1e-8)
    given = force_of(law, p, motion.penetration[:-1], motion.penetration_rate[:-1])
    assert motion.normal_force[:-1] == pytest.approx(given, rel=1e-11)
    # A spring that has not come back to its length at lift-off keeps its part.
    loss, drop = MASS * FALL * (RADIUS + HEIGHT) - run.energy[-1], 1e-8 * MASS * FALL * HEIGHT
    kept = p["stiffness"] * delta**2 / 2 if law == "kelvin_voigt" else 0.0
    told = lasts / 2 * weights @ motion.dissipated_power[:-1] + kept
    assert loss == pytest.approx(MASS / 2 * (speed**2 - rate**2) + MASS * FALL * delta, rel=1e-8, abs=drop)
    assert loss == pytest.approx(told, rel=1e-7, abs=drop)


@pytest.mark.parametrize("restitution", [0.02, 0.05, 0.1, 0.15, 0.3, 0.4])
@pytest.mark.parametrize("tolerance", [1e-8, 1e-11, 1e-12])
def test_lift_off_where_damping_takes_most_of_the_force(restitution, tolerance):
    p = dict(stiffness=1e6, exponent=1.5, restitution=restitution)
    run = simulate(ball("flores", v=(0, 0, -1.0), gravity=0.0, **p), 0.15, rtol=tolerance, atol=tolerance)
    # Without gravity the ball goes on as it left the plane.
    left = run.t[-1] - (run.r["ball"][-1, 2] - RADIUS) / run.v["ball"][-1, 2]
    assert run.contacts["touch"].lift_off == pytest.approx([left], abs=1e-10)


@all_laws
@pytest.mark.parametrize("tolerance", [1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11])
def test_touch_downs_and_lift_offs_alternate(law, tolerance):
    run = simulate(ball(law), 3.0, rtol=tolerance, atol=tolerance)
    began = run.touches[:, 2]
    assert run.success and len(began) > 6 and (np.diff(run.touches[:, 0]) > 0.0).all()
    assert began.tolist() == [1.0, 0.0] * (len(began) // 2) + [1.0] * (len(began) % 2)


# Touch-down to lift-off of 0.4 kg at 1 m/s on K = 1e5 N/m^n, by quadrature of the closed form to 40 digits.
LASTING = [
    (dict(law="flores", exponent=1.5, restitution=0.1), 0.0537640457705),
    (dict(law="flores", exponent=1.5, restitution=0.05), 0.0806570910225),
    (dict(law="flores", exponent=1.5, restitution=0.02), 0.139053069469),
    (dict(law="hunt_crossley", exponent=1.5, loss=20.0), 0.0800599103567),
    (dict(law="hunt_crossley", exponent=1.0, loss=20.0), 0.0161152221083),
]


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize(("parameters", "lasts"), LASTING)
def test_a_force_that_fades_on_the_plane_ends_there(method, parameters, lasts):
    b = Builder("ball", gravity=(0, 0, 0))
    b.body("ball", mass=0.4, inertia=(4e-4,) * 3, r=(0, 0, 0.0501), v=(0, 0, -1.0), free=True)
    b.contact("touch", "ball", centre=(0, 0, 0), radius=0.05, stiffness=1e5, **parameters)
    touch = simulate(b.build(), 0.3, method=method, rtol=1e-11, atol=1e-11).contacts["touch"]
    assert touch.lift_off - touch.touch_down == pytest.approx([lasts], rel=1e-8)


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("most", [150.0, 400.0])
def test_the_force_told_is_that_of_the_motion(method, most):
    """A ball that is pulled out, so that damping takes its force within the plane, and pushed in again."""
    knots, pulls = [0.0, 0.003, 0.0035, 0.0045, 0.005, 0.006, 0.1], [0.0, 0.0, most, most, -400.0, -400.0, -400.0]
    pull = Signal.spline(np.linspace(0, 0.06, 6001), np.interp(np.linspace(0, 0.06, 6001), knots, pulls))
    b = Builder("ball", gravity=(0, 0, 0))
    b.body("ball", mass=0.4, inertia=(4e-4,) * 3, r=(0, 0, 0.0501), v=(0, 0, -1.0), free=True)
    b.contact(
        "touch", "ball", centre=(0, 0, 0), radius=0.05, law="flores", stiffness=1e5, exponent=1.5, restitution=0.1
    )
    b.load("pull", "ball", force=(0.0, 0.0, pull))
    times = np.linspace(0.0, 0.02, 8001)
    run = simulate(b.build(), 0.02, t_eval=times, method=method, rtol=1e-9, atol=1e-9)
    touch, began = run.contacts["touch"], run.touches[:, 2]
    assert (np.diff(run.touches[:, 0]) >= 0.0).all() and 0.0 <= run.touches[0, 0] and run.touches[-1, 0] <= 0.02
    assert began.tolist() == [1.0, 0.0, 1.0] and touch.impact_speed == pytest.approx([1.0, 1.0], rel=1e-9)
    assert 0.0 < np.interp(touch.lift_off[0], times, touch.penetration) > 1e-3
    moved = 0.4 * np.gradient(run.v["ball"][:, 2], times, edge_order=2) - pull(times)
    assert np.abs(moved - touch.normal_force)[3:-3].max() < 2.0 and touch.normal_force.max() > 300.0


def test_friction_lasts_until_the_force_ends_on_the_plane():
    """Also where damping has taken the normal force but for rounding."""
    b = Builder("ball", gravity=(0, 0, 0))
    b.body("ball", mass=0.4, inertia=(4e-4,) * 3, r=(0, 0, 0.0501), v=(0.3, 0, -1.0), free=True)
    b.contact(
        "touch", "ball", centre=(0, 0, 0), radius=0.05, law="flores", stiffness=1e5, exponent=1.5, restitution=0.02,
        friction="coulomb", mu_c=0.0, mu_d=0.2,
    )  # fmt: skip
    times = np.linspace(0.0, 0.13, 1301)
    run = simulate(b.build(), 0.13, t_eval=times, method="radau", rtol=1e-8, atol=1e-8)
    moved = 0.4 * np.gradient(run.v["ball"][:, 0], times, edge_order=2)
    assert run.contacts["touch"].friction[50:-5, 0] == pytest.approx(moved[50:-5], abs=1e-4)
    assert np.abs(moved[50:-5]).min() > 1e-4 and run.contacts["touch"].normal_force.min() >= 0.0


@pytest.mark.parametrize("gap", [-1e-5, 0.0, 1e-13, 1e-7, 0.9e-6, 1.1e-6, 1e-5])
@all_laws
def test_a_start_near_the_plane_is_like_any_other(law, gap):
    run = simulate(ball(law, z=RADIUS + gap, v=(0, 0, -0.8), gravity=0.0), 0.1, rtol=1e-10, atol=1e-10)
    after = simulate(ball(law, z=RADIUS + 1e-4, v=(0, 0, -0.8), gravity=0.0), 0.1, rtol=1e-10, atol=1e-10)
    touch = run.contacts["touch"]
    assert touch.touch_down == pytest.approx([max(gap, 0.0) / 0.8], abs=1e-12)
    assert touch.impact_speed == pytest.approx([0.8], rel=1e-9) and len(touch.lift_off) == 1
    near = 1e-3 if gap < 0.0 else 1e-8  # of a sphere in the plane, the work until there is missing
    assert run.v["ball"][-1, 2] == pytest.approx(after.v["ball"][-1, 2], rel=near)


def test_what_touches_at_the_start_touches_down_there():
    """With the speed that it has, or the least one that its law takes."""
    for law, speed in (("hertz", 0.0), ("flores", 0.01)):
        touch = simulate(ball(law, z=RADIUS - 1e-4), 0.001).contacts["touch"]
        assert touch.touch_down.tolist() == [0.0] and touch.impact_speed.tolist() == [speed]
    later = simulate(ball("flores", z=RADIUS - 1e-4, v=(0, 0, -0.3)), 1.001, t_start=1.0).contacts["touch"]
    assert later.touch_down.tolist() == [1.0] and later.impact_speed.tolist() == [0.3]


def box(count=4, *, tilt=0.0, v=(0.0, 0.0, 0.0), omega=(0.0, 0.0, 0.0), z=0.1, push=0.0, **parameters):
    """A box on up to four spheres at its lower corners."""
    b = Builder("box")
    b.body("box", mass=1.0, inertia=(4e-3, 6e-3, 8e-3), r=(0, 0, z), v=v, omega=omega, free=True)
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))[:count]):
        b.contact(
            f"c{k}", "box", centre=(0.08 * x, 0.05 * y, -0.03), radius=0.02, normal=(np.sin(tilt), 0, np.cos(tilt)),
            law="kelvin_voigt", exponent=1.5, **parameters,
        )  # fmt: skip
    b.load("push", "box", force=(0.0, 0.0, push))
    return b.build()


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("damping", [15.0, 60.0, 120.0])
def test_a_sphere_without_force_leaves_the_plane_without_an_event(method, damping):
    run = simulate(box(1, stiffness=5e3, damping=damping), 0.6, method=method, rtol=1e-8, atol=1e-8)
    touch = run.contacts["c0"]
    assert (np.diff(run.touches[:, 2]) != 0.0).all() and run.touches[0, 2] == 1.0
    assert (np.interp(touch.touch_down, run.t, touch.penetration_rate) > 0.0).all()


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_contact_that_chatters_is_ended(method):
    """Viscous friction turns the box so that a sphere loses its force as soon as it has it, again and again."""
    times = np.linspace(0.0, 1.0, 401)
    push = Signal.spline(times, 9.48538224 * np.sin(59.12724261 * times))
    rough = dict(friction="smooth", mu_c=0.39348753209993237, mu_d=3.7703358811842884, creep=0.013173480682229354)
    system = box(
        tilt=0.3396741916607668, z=0.11194335, v=(-0.67679736, -0.10689762, 0.11550288),
        omega=(-0.58820231, -0.85650978, 7.00905594), push=push, stiffness=303858.8887846757, damping=761.9794870985395, **rough,
    )  # fmt: skip
    run = simulate(system, 1.0, method=method, rtol=1e-8, atol=1e-8)
    assert run.success and len(run.touches) < 150
    for k in range(4):
        began = run.touches[run.touches[:, 1] == k, 2]
        assert began[0] == 1.0 and (np.diff(began) != 0.0).all()


def test_a_step_between_two_changes_may_be_very_short():
    """Within 1e-9 s, slopes of positions tell no velocities: a contact would seem to change again and again."""
    rough = dict(friction="coulomb", mu_c=0.1605447931313183, mu_d=3.8608458459801795, creep=0.0035564986359944927)
    system = box(
        tilt=np.arcsin(0.09179922260799582), z=0.1373305622651596,
        v=(0.28177325246368373, 0.8965564163641463, -0.9499023697814365), stiffness=12620.87878834244,
        damping=394.23080134342985, **rough,
    )  # fmt: skip
    run = simulate(system, 0.3, method="radau", rtol=1e-8, atol=1e-8)
    assert run.success and len(run.touches) < 80


def test_a_long_run_of_many_bounces():
    run = simulate(ball("hertz"), 1000.0, t_eval=np.linspace(0.0, 1000.0, 11), rtol=1e-6, atol=1e-6)
    assert run.success and len(run.touches) > 9000


def test_more_contacts_than_events_are_kept():
    b = Builder("brush")
    b.body("brush", mass=1.0, inertia=(1e-2,) * 3, r=(0, 0, 0.06), free=True)
    for k in range(270):
        b.contact(
            f"c{k}", "brush", centre=(1e-3 * (k % 16), 1e-3 * (k // 16), 0), radius=0.05, law="hertz", stiffness=1e4
        )
    run = simulate(b.build(), 0.1, method="radau", rtol=1e-6, atol=1e-6)
    assert run.success and (run.touches[:, 2] == 1.0).sum() >= 270


@pytest.mark.parametrize("method", ["dop853", "radau", "BDF"])
def test_touches_end_with_the_run(method):
    down = np.sqrt(2.0 * HEIGHT / FALL)
    for stop, count in ((0.999, 0), (1.001, 1)):
        late = Event("late", lambda t, state, stop=stop: t - stop * down, terminal=True)
        run = simulate(ball("hertz"), 1.0, method=method, rtol=1e-8, atol=1e-8, events=[late])
        assert run.t[-1] == pytest.approx(stop * down) and len(run.touches) == count


@pytest.mark.parametrize("method", ["BDF", "Radau", "LSODA", "DOP853", "RK45"])
@pytest.mark.parametrize("law", ["kelvin_voigt", "hertz", "hunt_crossley"])
def test_touches_of_scipys_methods(law, method):
    """Found afterwards, between the steps."""
    ours = simulate(ball(law), 0.5, **TIGHT)
    theirs = simulate(ball(law), 0.5, method=method, t_eval=[0.2, 0.5], rtol=1e-9, atol=1e-9)
    assert np.array_equal(ours.touches[:, 1:3], theirs.touches[:, 1:3]) and len(ours.touches) >= 3
    assert theirs.touches[:, [0, 3]] == pytest.approx(ours.touches[:, [0, 3]], abs=1e-5)
    assert theirs.contacts["touch"].touch_down == pytest.approx(ours.contacts["touch"].touch_down, abs=1e-5)


@pytest.mark.parametrize(
    "parameters",
    [
        dict(law="hertz", stiffness=1e6),
        dict(law="kelvin_voigt", stiffness=2e4, exponent=1.0, damping=0.0),
        dict(law="kelvin_voigt", stiffness=1e6, exponent=1.5, damping=0.0),
    ],
)
def test_a_hundred_bounces_conserve_energy(parameters):
    run = simulate(ball(**parameters), 22.0)
    assert len(run.contacts["touch"].touch_down) >= 100
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8 * MASS * FALL * HEIGHT


@pytest.mark.parametrize(
    "parameters",
    [
        dict(law="kelvin_voigt", stiffness=1e4, exponent=1.0, damping=200.0),
        dict(law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=5.0),
        dict(law="flores", stiffness=1e5, exponent=1.5, restitution=0.05),
    ],
)
def test_nothing_pulls(parameters):
    """A sphere that is torn out of the plane faster than the plane comes up flies as if there were none."""
    run = simulate(ball(z=RADIUS - 1e-3, v=(0, 0, 3.0), **parameters), 0.2, t_eval=np.linspace(0.0, 0.2, 2001))
    assert not run.contacts["touch"].normal_force.any()
    assert run.r["ball"][:, 2] == pytest.approx(RADIUS - 1e-3 + 3.0 * run.t - FALL / 2 * run.t**2, abs=1e-11)
    system = ball(v=(0, 0, -2.0), gravity=0.0, **parameters)
    bounce = simulate(system, 0.5, t_eval=np.linspace(0.0, 0.5, 5001)).contacts["touch"]
    assert bounce.normal_force.min() >= 0.0 and bounce.normal_force.max() > 10.0 and len(bounce.lift_off) >= 1


# Planes, belts, and sums


def sledge(friction="smooth", plane="ground", **more):
    """A body on four spheres that slides and spins on a plane; a platform floats beside it."""
    b = Builder("sledge", gravity=(0.0, 0.0, -FALL if plane == "ground" else 0.0))
    velocities = dict(v=(0.3, -0.2, -0.3), omega=(0.1, 0.2, 3.0))
    b.body("sledge", mass=2.0, inertia=(0.02, 0.03, 0.04), r=(0.1, 0, 0.202), **velocities, free=True)
    b.body("platform", mass=3.0, inertia=(0.1, 0.2, 0.3), v=(0.1, 0, 0.1), omega=(0.2, -0.1, 0.3), free=True)
    for k, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.1, 0.1), (-0.1, -0.1))):
        b.contact(
            f"c{k}", "sledge", centre=(x, y, -0.15), radius=0.05, law="kelvin_voigt", stiffness=1e5, exponent=1.5,
            damping=20.0, friction=friction, mu_c=0.6, mu_d=0.1, plane=plane, **more,
        )  # fmt: skip
    return b.build()


def test_ground_reaction_is_the_sum_of_its_contacts():
    creep = 0.5
    system = sledge("coulomb", belt=(0.6, 0.8, 0), belt_speed=0.5, creep=creep)
    run = simulate(system, 0.05, t_eval=np.linspace(0, 0.05, 101))
    motions, total = list(run.contacts.values()), run.ground_reaction()
    on = sum(motion.normal_force for motion in motions) > 0.0
    assert 30 < on.sum() < 100
    assert total.force == pytest.approx(sum(motion.force for motion in motions), abs=1e-12)
    about = sum(np.cross(motion.point - total.centre_of_pressure, motion.force) for motion in motions)[on]
    assert about == pytest.approx(np.outer(total.free_moment[on], [0, 0, 1]), abs=1e-12)
    assert np.abs(total.free_moment[on]).max() > 0.01
    assert np.abs(total.centre_of_pressure[on, 2]).max() < 1e-15 and np.isnan(total.centre_of_pressure[~on]).all()
    assert run.ground_reaction(["c0", "c3"]).force == pytest.approx(motions[0].force + motions[3].force, abs=1e-12)
    # What the ground does is what gravity leaves of the acceleration.
    assert total.force == pytest.approx(2.0 * (run.v_dot["sledge"] + [0, 0, FALL]), abs=1e-10)
    for motion in motions:
        assert motion.force == pytest.approx(motion.friction + np.outer(motion.normal_force, [0, 0, 1]), abs=1e-12)
        slip = run.v["sledge"] + np.cross(run.omega["sledge"], motion.point - run.r["sledge"]) - [0.3, 0.4, 0]
        assert motion.slip == pytest.approx(slip * [1, 1, 0], abs=1e-13)
        v = np.linalg.norm(motion.slip, axis=1)
        share = np.minimum(v / creep, 1.0) * (1.5 - 0.5 * np.minimum(v / creep, 1.0) ** 2)
        drag = (0.6 * motion.normal_force * share / v + 0.1) * (motion.normal_force > 0.0)
        assert motion.friction == pytest.approx(-drag[:, None] * motion.slip, abs=1e-12)
        lost = 20.0 * motion.penetration_rate**2 * (motion.normal_force > 0.0) + drag * v**2
        assert motion.dissipated_power == pytest.approx(lost, abs=1e-11)
    assert {bool(x) for motion in motions for x in np.linalg.norm(motion.slip[on], axis=1) < creep} == {True, False}


def test_momentum_of_floating_bodies_is_kept():
    """Linear and angular, without gravity, however they touch and slip."""
    run = simulate(sledge("coulomb", "platform", creep=0.05), 0.2)
    linear = angular = 0.0
    for body in run.system.bodies:
        r, v, omega, A = run.r[body.name], run.v[body.name], run.omega[body.name], run.rotations(body.name)
        linear = linear + body.mass * v
        spin = np.einsum("nab,bc,ndc,nd->na", A, body.inertia, A, omega)
        angular = angular + body.mass * np.cross(r, v) + spin
    assert len(run.touches) > 3
    assert np.abs(linear - linear[0]).max() < 1e-9 and np.abs(angular - angular[0]).max() < 1e-9


def test_planes_that_differ_have_no_common_reaction():
    b = Builder("two")
    b.body("ball", mass=1.0, inertia=(1, 1, 1), r=(0, 0, 1), free=True)
    b.body("plate", mass=1.0, inertia=(1, 1, 1), free=True)
    others = {"higher": dict(point=(0, 0, 0.1)), "tilted": dict(normal=(0, 0.6, 0.8)), "of_plate": dict(plane="plate")}
    for name, where in ({"a": {}, "beside": dict(point=(3, 2, 0))} | others).items():
        b.contact(name, "ball", centre=(0, 0, 0), radius=0.1, law="hertz", stiffness=1e5, **where)
    run = simulate(b.build(), 0.01)
    assert not run.ground_reaction(["a", "beside"]).force.any()
    for other in others:
        with pytest.raises(
            ModelError, match=f"contacts 'a' and '{other}' touch different planes, which have no common"
        ):
            run.ground_reaction(["a", other])
    with pytest.raises(ModelError, match="unknown contact 'd'; the contacts are a, beside"):
        run.ground_reaction(["a", "d"])
    with pytest.raises(ModelError, match="ground_reaction: no contact is named; the contacts are a, beside"):
        run.ground_reaction([])
    with pytest.raises(ModelError, match="ground_reaction: contact 'a' is named twice; name each once"):
        run.ground_reaction(["a", "beside", "a"])
    assert np.array_equal(run.ground_reaction("a").force, run.ground_reaction(["a"]).force)
    without = Builder("without")
    without.body("ball", mass=1.0, inertia=(1, 1, 1), free=True)
    with pytest.raises(ModelError, match="has no contact; add one with Builder.contact"):
        simulate(without.build(), 0.01).ground_reaction()


def test_contacts_and_runs_travel():
    system = sledge(belt=(1, 0, 0), belt_speed=Signal.function(np.sin, 0.0, 1.0))
    first = system.contacts[0]
    assert system.contact_names == ("c0", "c1", "c2", "c3") and system.contact("c0") is first
    assert (first.body, first.plane, first.law, first.friction) == ("sledge", "ground", "kelvin_voigt", "smooth")
    assert dict(first.parameters) == dict(stiffness=1e5, exponent=1.5, damping=20.0, mu_c=0.6, mu_d=0.1, creep=1e-3)
    assert "contacts c0, c1, c2, c3" in repr(system) and "c0.belt_speed" in system.signals
    run = simulate(system, 0.02)
    there, again = pickle.loads(pickle.dumps(run)), simulate(pickle.loads(pickle.dumps(system)), 0.02)
    for name, motion in run.contacts.items():
        for key, value in vars(motion).items():
            assert np.array_equal(value, getattr(there.contacts[name], key)), key
    assert np.array_equal(again.states, run.states) and np.array_equal(again.touches, run.touches)
    for contact in (first, pickle.loads(pickle.dumps(first))):
        assert contact.parameters == first.parameters and contact.values["n_j"].tolist() == [0, 0, 1]
        with pytest.raises(TypeError):
            contact.parameters["stiffness"] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            contact.values["n_j"][0] = 1.0


def test_hertz_stiffness():
    R, E1, nu1, E2, nu2 = 0.03, 2.1e11, 0.3, 5e9, 0.45
    both = 1.0 / ((1.0 - nu1**2) / E1 + (1.0 - nu2**2) / E2)
    assert hertz_stiffness(R, E1, nu1, E2, nu2) == pytest.approx(4 / 3 * np.sqrt(R) * both, rel=1e-15)
    assert hertz_stiffness(R, E1, nu1) == pytest.approx(4 / 3 * np.sqrt(R) * E1 / (1.0 - nu1**2), rel=1e-15)
