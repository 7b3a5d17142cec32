"""Bounces, touch-downs and lift-offs in runs, against independent references."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import gamma

from runtime import Builder, Event, Signal, simulate
from tests.support.contact_laws import (
    BOUNCES,
    FALL,
    HEIGHT,
    MASS,
    RADIUS,
    all_laws,
    ball,
    force_of,
    hysteresis,
    reference,
)

TIGHT = dict(rtol=1e-12, atol=1e-12)


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
    dissipated = lasts / 2 * weights @ motion.dissipated_power[:-1] + kept
    assert loss == pytest.approx(MASS / 2 * (speed**2 - rate**2) + MASS * FALL * delta, rel=1e-8, abs=drop)
    assert loss == pytest.approx(dissipated, rel=1e-7, abs=drop)


@all_laws
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-11])
def test_touch_downs_and_lift_offs_alternate(law, tolerance):
    run = simulate(ball(law), 3.0, rtol=tolerance, atol=tolerance)
    began = run.contact_events[:, 2]
    assert run.success and len(began) > 6 and (np.diff(run.contact_events[:, 0]) > 0.0).all()
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
def test_the_reported_force_is_that_of_the_motion(method, most):
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
    touch, began = run.contacts["touch"], run.contact_events[:, 2]
    assert (
        (np.diff(run.contact_events[:, 0]) >= 0.0).all()
        and 0.0 <= run.contact_events[0, 0]
        and run.contact_events[-1, 0] <= 0.02
    )
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
def test_starts_near_the_plane_need_no_special_treatment(law, gap):
    run = simulate(ball(law, z=RADIUS + gap, v=(0, 0, -0.8), gravity=0.0), 0.1, rtol=1e-10, atol=1e-10)
    after = simulate(ball(law, z=RADIUS + 1e-4, v=(0, 0, -0.8), gravity=0.0), 0.1, rtol=1e-10, atol=1e-10)
    touch = run.contacts["touch"]
    assert touch.touch_down == pytest.approx([max(gap, 0.0) / 0.8], abs=1e-12)
    assert touch.impact_speed == pytest.approx([0.8], rel=1e-9) and len(touch.lift_off) == 1
    near = 1e-3 if gap < 0.0 else 1e-8  # of a sphere in the plane, the work until there is missing
    assert run.v["ball"][-1, 2] == pytest.approx(after.v["ball"][-1, 2], rel=near)


def test_a_contact_closed_at_the_start_counts_as_a_touch_down():
    """With the speed that it has, or the least one that its law takes."""
    for law, speed in (("hertz", 0.0), ("flores", 0.01)):
        touch = simulate(ball(law, z=RADIUS - 1e-4), 0.001).contacts["touch"]
        assert touch.touch_down.tolist() == [0.0] and touch.impact_speed.tolist() == [speed]
    later = simulate(ball("flores", z=RADIUS - 1e-4, v=(0, 0, -0.3)), 1.001, t_start=1.0).contacts["touch"]
    assert later.touch_down.tolist() == [1.0] and later.impact_speed.tolist() == [0.3]


def box(count=4, *, tilt=0.0, v=(0.0, 0.0, 0.0), omega=(0.0, 0.0, 0.0), z=0.1, push=0.0, **parameters):
    """A box on up to four spheres at its lower kinks."""
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
    assert (np.diff(run.contact_events[:, 2]) != 0.0).all() and run.contact_events[0, 2] == 1.0
    assert (np.interp(touch.touch_down, run.t, touch.penetration_rate) > 0.0).all()


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_contact_that_chatters_is_ended(method):
    """Viscous friction turns the box so that a sphere loses its force as soon as it has it, again and again."""
    times = np.linspace(0.0, 1.0, 401)
    push = Signal.spline(times, 9.48538224 * np.sin(59.12724261 * times))
    rough = dict(
        friction="smooth", mu_c=0.39348753209993237, mu_d=3.7703358811842884, transition_velocity=0.013173480682229354
    )
    system = box(
        tilt=0.3396741916607668, z=0.11194335, v=(-0.67679736, -0.10689762, 0.11550288),
        omega=(-0.58820231, -0.85650978, 7.00905594), push=push, stiffness=303858.8887846757, damping=761.9794870985395, **rough,
    )  # fmt: skip
    run = simulate(system, 1.0, method=method, rtol=1e-8, atol=1e-8)
    assert run.success and len(run.contact_events) < 150
    for k in range(4):
        began = run.contact_events[run.contact_events[:, 1] == k, 2]
        assert began[0] == 1.0 and (np.diff(began) != 0.0).all()


def test_a_step_between_two_changes_may_be_very_short():
    """Within 1e-9 s, slopes of positions tell no velocities: a contact would seem to change again and again."""
    rough = dict(
        friction="coulomb", mu_c=0.1605447931313183, mu_d=3.8608458459801795, transition_velocity=0.0035564986359944927
    )
    system = box(
        tilt=np.arcsin(0.09179922260799582), z=0.1373305622651596,
        v=(0.28177325246368373, 0.8965564163641463, -0.9499023697814365), stiffness=12620.87878834244,
        damping=394.23080134342985, **rough,
    )  # fmt: skip
    run = simulate(system, 0.3, method="radau", rtol=1e-8, atol=1e-8)
    assert run.success and len(run.contact_events) < 80


def test_a_long_run_of_many_bounces():
    run = simulate(ball("hertz"), 1000.0, t_eval=np.linspace(0.0, 1000.0, 11), rtol=1e-6, atol=1e-6)
    assert run.success and len(run.contact_events) > 9000


def test_more_contacts_than_events_are_kept():
    b = Builder("brush")
    b.body("brush", mass=1.0, inertia=(1e-2,) * 3, r=(0, 0, 0.06), free=True)
    for k in range(270):
        b.contact(
            f"c{k}", "brush", centre=(1e-3 * (k % 16), 1e-3 * (k // 16), 0), radius=0.05, law="hertz", stiffness=1e4
        )
    run = simulate(b.build(), 0.1, method="radau", rtol=1e-6, atol=1e-6)
    assert run.success and (run.contact_events[:, 2] == 1.0).sum() >= 270


@pytest.mark.parametrize("method", ["dop853", "radau", "BDF"])
def test_touches_end_with_the_run(method):
    down = np.sqrt(2.0 * HEIGHT / FALL)
    for stop, count in ((0.999, 0), (1.001, 1)):
        late = Event("late", lambda t, state, stop=stop: t - stop * down, terminal=True)
        run = simulate(ball("hertz"), 1.0, method=method, rtol=1e-8, atol=1e-8, events=[late])
        assert run.t[-1] == pytest.approx(stop * down) and len(run.contact_events) == count


@pytest.mark.parametrize("method", ["BDF", "Radau", "LSODA", "DOP853", "RK45"])
@pytest.mark.parametrize("law", ["kelvin_voigt", "hertz", "hunt_crossley"])
def test_touches_of_scipys_methods(law, method):
    """Found afterwards, between the steps."""
    reference = simulate(ball(law), 0.5, **TIGHT)
    scipy_run = simulate(ball(law), 0.5, method=method, t_eval=[0.2, 0.5], rtol=1e-9, atol=1e-9)
    assert np.array_equal(reference.contact_events[:, 1:3], scipy_run.contact_events[:, 1:3])
    assert len(reference.contact_events) >= 3
    assert scipy_run.contact_events[:, [0, 3]] == pytest.approx(reference.contact_events[:, [0, 3]], abs=1e-5)
    assert scipy_run.contacts["touch"].touch_down == pytest.approx(reference.contacts["touch"].touch_down, abs=1e-5)
