"""Pulses of signals between the stages of long steps."""

import itertools
from functools import cache

import numpy as np
import pytest

import runtime
from runtime.dynamics.signals import SHARP
from runtime.system.signal import signal_data
from tests.support.driven_legs import made
from tests.support.pulses import END, end_of, pulse, pushed, random_pulses

ENDS = dict(t_eval=[END])


@pytest.mark.parametrize(
    "method, coordinates", [("dop853", "absolute"), ("dop853", "joint"), ("radau", "absolute"), ("auto", "auto")]
)
def test_no_pulse_is_passed(method, coordinates):
    # 152 of 200 were, of a body at rest, whose steps grow.
    cases = random_pulses(60)
    for k, tolerance in zip(range(60), itertools.cycle((1e-6, 1e-6, 1e-8, 1e-8))):
        case = {name: float(values[k]) for name, values in cases.items()}
        run = runtime.simulate(
            pushed(**case), END, rtol=tolerance, atol=tolerance, method=method, coordinates=coordinates, **ENDS
        )
        assert run.success
        place, speed = end_of(**case)
        assert run.r["body"][-1, 0] == pytest.approx(place, abs=300 * tolerance * (1.0 + place)), case
        assert run.v["body"][-1, 0] == pytest.approx(speed, abs=30 * tolerance * (1.0 + speed)), case


@pytest.mark.parametrize(("coordinates", "most"), [("absolute", 10), ("joint", 50)])
def test_pulses_of_drivers_and_of_targets_are_seen(coordinates, most):
    # A support is moved by 3 cm and back within 20 ms: what hangs on it at rest then swings; so does the target of a motor.
    still = np.zeros(5)
    back = runtime.Signal.samples([0.0, 7.3, 7.31, 7.32, END], [0.0, 0.0, 0.03, 0.0, 0.0], still, still)
    for moved in (_hung, _held):
        system = moved(back)
        exact = runtime.simulate(system, END, rtol=1e-11, atol=1e-11, max_step=2e-3, **ENDS)
        for tolerance in (1e-6, 1e-8):
            run = runtime.simulate(system, END, rtol=tolerance, atol=tolerance, coordinates=coordinates, **ENDS)
            assert np.abs(run.v["bob"] - exact.v["bob"]).max() < min(
                most * tolerance, 0.1 * np.abs(exact.v["bob"]).max()
            )


def test_knots_do_not_lengthen_steps():
    t = np.linspace(0.0, 1.0, 6)
    system = _held(runtime.Signal.spline(t, 0.03 * np.sin(9.0 * t)))
    for coordinates in ("absolute", "joint"):
        steps = np.diff(runtime.simulate(system, 1.0, max_step=0.02, coordinates=coordinates).t)
        assert steps.max() < 0.0203 and len(steps) < 70  # the last step may be longer by a hundredth


@pytest.mark.slow
@pytest.mark.parametrize("method, coordinates", [("dop853", "absolute"), ("radau", "absolute"), ("auto", "auto")])
def test_a_support_that_moves_and_comes_back(method, coordinates):
    # Hardly anything of that is left in integrals over a long step, but the limit that is met meanwhile, and states then.
    for exact in _limited_runs():
        system, places = exact.system, exact.r["bob"]
        for tolerance in (1e-4, 1e-6):
            settings = dict(rtol=tolerance, atol=tolerance, method=method, coordinates=coordinates, t_eval=exact.t)
            many = runtime.simulate_many(system, {"mass.bob": [1.0, 1.0]}, END, **settings)
            for run in (runtime.simulate(system, END, **settings), many):
                assert run.success and np.abs(run.r["bob"] - places).max() < 5 * tolerance
        assert np.ptp(places[:, 0]) > 2e-3


@cache
def _limited_runs():
    """Runs with a step of a tenth of the pulse."""
    rng, still, found = np.random.default_rng(2), np.zeros(5), []
    for at, width in list(zip(rng.uniform(0.5, END - 2.0, 6), 10.0 ** rng.uniform(-2.8, -1.5, 6), strict=True))[:3]:
        times = [0.0, at, at + 0.5 * width, at + width, END]
        back = runtime.Signal.samples(times, [0.0, 0.0, 0.03, 0.0, 0.0], still, still)
        wanted = [times[2], times[3], times[3] + 0.2]
        settings = dict(rtol=1e-11, atol=1e-11, max_step=0.1 * width, t_eval=wanted)
        found.append(runtime.simulate(made(_hung(back, limited=True)), wanted[-1], **settings))
    return found


def _hung(back, limited=False):
    b = runtime.Builder("hung", axes="global", gravity=(0.0, 0.0, 0.0 if limited else -9.81))
    b.body("support", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.0, 0.0, -0.5))
    b.joint("hinge", "revolute", "support", "bob", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    if limited:
        ring = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (1,) * 5)
        law = dict(cone=ring, max_moment=5.0, compliance=0.05)
        b.limit("stop", "hinge", reference="support", xi=(-1, 0, 0), eta=(0, 1, 0), **law)
    b.driver("place", "guided_point", "support", s_i=(0, 0, 0), x_t=back, y_t=0.0, z_t=0.0)
    b.driver("turn", "guided_orientation", "support", e0_t=1.0, e1_t=0.0, e2_t=0.0, e3_t=0.0)
    return b.build(project_velocities=True)


def _held(back):
    b = runtime.Builder("held", axes="global")
    b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0.0, 0.0, -0.5))
    b.joint("hinge", "revolute", "ground", "bob", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    across = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))
    b.motor("motor", "guided_angle", "ground", "bob", **across, theta_t=back, stiffness=1.0, damping=0.1)
    return b.build()


def test_knots_weigh_what_a_signal_changes_there():
    weights = lambda *signals: signal_data(signals, [0] * len(signals)).weight  # noqa: E731
    trapezium = pulse(3.0, 0.1, 5.0)
    assert weights(runtime.Signal.constant(2.0), trapezium).tolist() == [0.0, 0.0, *4 * [SHARP]]
    # Of a smooth function with a knot each millisecond a few are left, and those of a narrow bump are among them.
    smooth = runtime.Signal.function(lambda t: np.sin(6.0 * t) + 0.1 * np.exp(-(((t - 1.5) / 0.005) ** 2)), 0.0, 3.0)
    heavy = smooth.knots[:-1][weights(smooth) > 1e-4]
    assert len(heavy) < 40 and (np.abs(heavy - 1.5) < 0.02).sum() > 3
    # Between them the quintic polynomials by both ends are the signal.
    ends = np.concatenate([[0.0], heavy, [3.0]])
    curve = runtime.Signal.samples(ends, smooth(ends), smooth(ends, 1), smooth(ends, 2))
    t = np.linspace(0.0, 2.999, 5000)
    assert np.abs(curve(t) - smooth(t)).max() < 1.1e-4 * np.ptp(smooth(t))
