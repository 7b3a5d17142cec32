"""Own laws and forces by measured points in runs, cases and derivatives, against quadrature of SciPy's spline."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import codegen
import runtime
from tests.support.muscles import builder
from tests.support.own_laws import EDGE, INERTIA, MASS, SPEED, ball, rod

FINE = dict(rtol=1e-10, atol=1e-10)
MOMENTS = np.array([(0.0, 0.0), (0.02, 0.3), (0.05, 1.2), (0.09, 4.0), (0.12, 9.0)])  # [rad], [N m]
FORCES = np.array([(0.0, 0.0), (1e-3, 8.0), (2e-3, 25.0), (4e-3, 90.0), (8e-3, 400.0)])  # [m], [N]
SCALES = np.array([1.0, 0.8, 1.5])
END = 1.0  # [s]


def measured(excess, scale):
    """Moments measured on a subject.

    scale : [1], 0 < scale
    """
    return scale * codegen.Curve(MOMENTS).integral(excess)


def heel_pad(delta, delta_dot, scale):
    """Forces measured in a press.

    scale : [1], 0 < scale
    """
    return {"potential": scale * codegen.Curve(FORCES).integral(delta), "dissipation": 0}


LIMIT, PAD = codegen.compile_limit(measured), codegen.compile_contact(heel_pad)


def beyond(points, inertia, scale):
    """Time beyond an edge that is reached with speed 1, and the farthest place, by SciPy's spline and integrator."""
    force = CubicSpline(*points.T, bc_type="natural")

    def back(_, y):
        return y[0] + 1e-9

    back.terminal, back.direction = True, -1
    settings = dict(method="DOP853", rtol=1e-12, atol=1e-13, events=back, max_step=1e-3)
    found = solve_ivp(lambda _, y: [y[1], -scale * force(max(y[0], 0.0)) / inertia], (0, 2), [0.0, SPEED], **settings)
    return found.t_events[0][0] - 1e-9, found.y[0].max()


@pytest.fixture(scope="module")
def stopped():
    return rod(LIMIT, scale=1.0, compliance=0.12)


def angle(r):
    return np.arctan2(-r[..., 0], -r[..., 2])


@pytest.mark.parametrize(
    ("method", "coordinates"), [("dop853", "absolute"), ("dop853", "joint"), ("radau", "absolute")]
)
def test_a_limit_by_points_stops_a_rod(stopped, method, coordinates):
    run = runtime.simulate(
        stopped, END, t_eval=np.linspace(0, END, 401), method=method, coordinates=coordinates, **FINE
    )
    time, farthest = beyond(MOMENTS, INERTIA, 1.0)
    assert angle(run.r["rod"])[-1] == pytest.approx(EDGE - SPEED * (END - EDGE / SPEED - time), abs=3e-8)
    stop, spline = run.limits["stop"], CubicSpline(*MOMENTS.T, bc_type="natural")
    inside = np.maximum(stop.excess, 0.0)
    assert 0.5 * farthest < inside.max() < farthest
    assert np.abs(stop.restricting_moment - spline(inside)).max() < 1e-9
    assert np.abs(run.elastic_energy - [spline.integrate(0.0, x) for x in inside]).max() < 1e-11
    assert np.abs(run.energy - run.energy[0]).max() < 2e-8


def test_cases_of_a_limit_by_points_are_vectorised(stopped):
    many = runtime.simulate_many(stopped, {"scale.stop": SCALES}, END, t_eval=[END], **FINE)
    assert many.vectorised.all()
    for found, scale in zip(angle(many.r["rod"])[:, 0], SCALES, strict=True):
        assert found == pytest.approx(
            EDGE - SPEED * (END - EDGE / SPEED - beyond(MOMENTS, INERTIA, scale)[0]), abs=3e-8
        )


def test_derivatives_of_a_limit_by_points(stopped):
    found = runtime.sensitivities(stopped, {"scale.stop": 1.0}, t_end=END, t_eval=[END], **FINE)
    h, theta = 1e-3, EDGE - SPEED * (END - EDGE / SPEED - beyond(MOMENTS, INERTIA, 1.0)[0])
    slope = SPEED * (beyond(MOMENTS, INERTIA, 1.0 + h)[0] - beyond(MOMENTS, INERTIA, 1.0 - h)[0]) / (2 * h)
    arm = -0.5 * np.array([np.cos(theta), 0.0, -np.sin(theta)])
    assert np.abs(found.r["rod"][-1, :, 0] - arm * slope).max() < 1e-6 < 0.01 * abs(slope)


def test_a_contact_by_points_returns_a_ball():
    system, end = ball(PAD, scale=1.0), 0.1
    run = runtime.simulate(system, end, t_eval=[end], **FINE)
    many = runtime.simulate_many(system, {"scale.sole": SCALES}, end, t_eval=[end], **FINE)
    assert many.vectorised.all()
    for k, scale in enumerate(SCALES):
        expected = 0.05 + (end - 0.01 - beyond(FORCES, MASS, scale)[0])
        assert many.r["ball"][k, 0, 2] == pytest.approx(expected, abs=1e-8)
    assert run.r["ball"][0, 2] == pytest.approx(many.r["ball"][0, 0, 2], abs=1e-8)


def test_a_force_by_a_curve_is_one_by_a_table():
    table = np.array([(0.2, 0.0), (0.3, 4.0), (0.45, 30.0), (0.7, 41.0)])

    def band(r_i, s_i, r_j, s_j, damping, coordinate, rate):
        """Tension by points.

        damping : [N s/m], 0 <= damping
        """
        length = coordinate((r_j + s_j - r_i - s_i).norm())
        return {"potential": codegen.Curve(table).integral(length), "dissipation": damping / 2 * rate(length) ** 2}

    def bob(kind, **own):
        b = runtime.Builder("bob")
        b.body("bob", mass=0.5, inertia=(0.1,) * 3, r=(0.1, 0.05, -0.6), free=True)
        b.force("band", kind, "ground", "bob", s_i=(0, 0, 0), s_j=(0, 0, 0), damping=0.2, **own)
        return b.build()

    fine = dict(method="dop853", rtol=1e-13, atol=1e-14, max_step=1e-3)
    expected = runtime.simulate(bob("tabulated_spring", tension_table=table), 2.0, **fine)
    system = bob(codegen.compile_force(band))
    for method, tolerance in (("dop853", 1e-8), ("dop853", 1e-11), ("radau", 1e-8)):
        run = runtime.simulate(system, 2.0, method=method, rtol=tolerance, atol=tolerance)
        assert np.abs(run.states[-1] - expected.states[-1]).max() < 100 * tolerance
        assert abs(run.forces["band"].energy[-1] - expected.forces["band"].energy[-1]) < 1000 * tolerance


def test_a_muscle_by_a_curve_pulls_by_its_points():
    points = np.array([(0.9, 0.0), (1.0, 0.05), (1.2, 0.3), (1.5, 1.2)])

    def passive(length, length_dot, excitation, max_force, slack_length):
        """A passive band by points, of the length over the slack length.

        max_force : [N], 0 < max_force
        slack_length : [m], 0 < slack_length
        tension : [N]
        energy : [J]
        """
        curve, ratio = codegen.Curve(points), length / slack_length
        return {
            "tension": max_force * curve(ratio), "energy": max_force * slack_length * curve.integral(ratio), "rates": {},
        }  # fmt: skip

    system = builder(passive, rate=2.0, max_force=200.0, slack_length=0.25).build()
    run = runtime.simulate(system, 1.0, t_eval=np.linspace(0, 1, 101), **FINE)
    spline, flexor = CubicSpline(*points.T, bc_type="natural"), run.forces["flexor"]
    ratio = flexor.length / 0.25
    expected = np.where(ratio > 0.9, spline(ratio), spline(0.9, 1) * (ratio - 0.9))
    assert ratio.min() < 1.0 and 1.2 < ratio.max() < 1.5
    assert np.abs(flexor.tension - 200.0 * expected).max() < 1e-9
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8
    many = runtime.simulate_many(system, {"max_force.flexor": [200.0, 100.0]}, 1.0, t_eval=[1.0], **FINE)
    assert many.vectorised.all() and np.abs(many.r["shank"][0, 0] - run.r["shank"][-1]).max() < 1e-8
