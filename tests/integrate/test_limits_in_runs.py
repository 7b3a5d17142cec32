"""Runs into joint limits: steps end on the cone, and the motion does not depend on that."""

import numpy as np
import pytest

import models
import runtime
from models import foot
from runtime import Builder, Cone, simulate
from runtime.dynamics.switches import ACTIVE, FULL, INACTIVE
from runtime.integrate.methods import NONE, NONE2, Compiled
from tests.support import reduced_limits
from tests.support.refusals import assert_refused

TIGHT = dict(rtol=1e-10, atol=1e-10)
QUADRANTS = (0, 90, 180, 270, 360)
LENGTH, MASS, ACROSS = 0.15, 3.5, 0.0263


def rod(latitude_deg, omega=(0.0, 0.0, 0.0), *, latitudes_deg=(30, 30, 30, 30), gravity=(0.0, 0.0, -9.81), damping=0.0):
    """A rod on a ball joint, hanging from the origin in a cone about the vertical."""
    angle = np.deg2rad(latitude_deg)
    centre = LENGTH * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    b = Builder("rod", gravity=gravity)
    b.body(
        "rod", mass=MASS, inertia=(ACROSS, ACROSS, 0.0002), r=centre, p=(np.cos(angle / 2), 0, -np.sin(angle / 2), 0),
        omega=omega, v=np.cross(omega, centre),
    )  # fmt: skip
    b.joint("pivot", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, LENGTH))
    b.limit(
        "swing", "pivot", reference="ground", xi=(1, 0, 0), eta=(0, -1, 0), direction=(0, 0, -1), max_moment=226.0,
        compliance=0.2, damping=damping, cone=Cone.from_degrees(QUADRANTS, (*latitudes_deg, latitudes_deg[0])),
    )  # fmt: skip
    return b.build()


@pytest.mark.parametrize("latitude_deg", [30.0, 30.0 - 1e-7, 30.0 + 1e-7, 10.0, 31.0])
@pytest.mark.parametrize("omega", [(0, 0, 0), (0, -3, 0), (0, 3, 0), (2, 0, 0), (0, 0, 5)])
def test_a_run_may_begin_inside_outside_and_on_the_cone(latitude_deg, omega):
    system, times = rod(latitude_deg, omega), np.linspace(0.0, 1.0, 101)
    run = simulate(system, 1.0, t_eval=times, **TIGHT)
    assert run.success and np.ptp(run.energy) < 1e-7
    # SciPy's method takes the limit as it finds it at every stage.
    plain = simulate(system, 1.0, t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12)
    assert np.abs(run.r["rod"] - plain.r["rod"]).max() < 1e-8


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("law", ["conservative", "as_published"])
def test_every_tolerance_reaches_the_end(tolerance, law):
    run = simulate(models.pendulum.build(limits="elastic", law=law), 3.0, rtol=tolerance, atol=tolerance)
    assert run.success
    assert np.isfinite(run.states).all() and np.isfinite(run.limits["pivot"].excess).all()


def test_steps_end_on_the_cone_and_no_contact_is_missed():
    run = simulate(foot.build(limits="elastic"), 2.0, **TIGHT)
    fine = simulate(foot.build(limits="elastic"), 2.0, t_eval=np.linspace(0.0, 2.0, 20001), **TIGHT)
    for name, motion in run.limits.items():
        beyond = motion.latitude - motion.maximum_latitude
        outside = motion.excess > 1e-8
        changes = np.flatnonzero(outside[1:] != outside[:-1])
        assert len(changes) > 4
        # At each change one of the two steps' ends lies as near to the cone as ``aiming`` allows.
        assert np.minimum(np.abs(beyond[changes]), np.abs(beyond[changes + 1])).max() < 1e-5
        between = fine.limits[name].excess > 1e-6
        assert (np.diff(between.astype(int)) != 0).sum() == len(changes)


@pytest.mark.parametrize("depth_deg", [0.1, 1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("omega", [(0.0, 1.0, 0.0), (0.0, 1.7, 0.5)])
def test_a_graze_between_two_samples_is_seen(omega, depth_deg):
    """Slow swings whose latitude passes the cone by so little that only their turning points are outside."""
    times, gravity = np.linspace(0.0, 3.0, 301), (0.0, 0.0, -1.0)
    free = simulate(
        rod(0.0, omega, gravity=gravity, latitudes_deg=(170,) * 4), 3.0, t_eval=np.linspace(0, 3, 30001), **TIGHT
    )
    highest = np.rad2deg(free.limits["swing"].latitude.max())
    system = rod(0.0, omega, gravity=gravity, latitudes_deg=(highest - depth_deg,) * 4)
    run = simulate(system, 3.0, t_eval=times, **TIGHT)
    assert run.stats.rejections >= 2  # steps that were taken again up to the cone
    # SciPy's method takes the limit as it finds it at every stage; short steps find it.
    plain = simulate(system, 3.0, t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12, max_step=0.02)
    assert np.abs(run.r["rod"] - plain.r["rod"]).max() < 2e-10


def test_the_rod_that_orbits_on_its_cone_stays_there():
    across = ACROSS + MASS * LENGTH**2
    rate = np.sqrt(9.81 * MASS * LENGTH / ((across - 0.0002) * np.cos(np.deg2rad(30))))
    run = simulate(rod(30.0, (0.0, 0.0, rate)), 5.0, **TIGHT)
    assert run.success and np.abs(np.rad2deg(run.limits["swing"].latitude) - 30.0).max() < 1e-8


def test_modes_of_the_stepper():
    for latitude, mode in ((29.0, INACTIVE), (31.0, ACTIVE), (42.0, FULL)):
        system = rod(latitude)
        m = Compiled("dop853", system, system.data, system.state.y, 0.0, 1.0, 1e-10, 1e-10, np.inf, 0.0)
        m.advance(0, NONE, NONE2, NONE, NONE2)  # begins, and takes no step
        assert m.work.limits.mode.tolist() == [mode]


def test_a_step_limited_by_stability_is_reported():
    system = models.pendulum.build(limits="dissipative")
    run = simulate(system, 1.0, t_eval=[1.0], method="dop853", **TIGHT)
    assert "turned to radau" in simulate(system, 1.0, **TIGHT).message
    assert "steps were bounded by stability, not by accuracy: method='radau' takes fewer" in run.message
    assert "stability" not in simulate(models.pendulum.build(limits="elastic"), 1.0, **TIGHT).message


# Rest


@pytest.mark.parametrize("ankle", ["classical", "modified"])
@pytest.mark.parametrize("preset", ["anatomical", "published"])
def test_the_damped_foot_comes_to_rest(ankle, preset):
    system = foot.build(ankle, limits="dissipative", preset=preset)
    run = simulate(system, 20.0, events=[runtime.at_rest()], **TIGHT)
    assert run.status == 1 and 0.5 < run.t[-1] < 5.0 and "event 'rest'" in run.message
    speeds = [*run.final.v.values(), *run.final.omega.values()]
    assert max(np.linalg.norm(speed) for speed in speeds) <= 1e-3 * (1 + 1e-6)
    assert np.linalg.norm(run.omega_dot["main_foot"][-1]) < 1.1e-2
    later = simulate(system, 1.0, initial=run.final, **TIGHT)
    assert np.abs(later.r["main_foot"] - later.r["main_foot"][0]).max() < 2e-3


def test_the_modified_foot_settles_for_less_than_it_fell():
    """Seconds 1 to 5 of the dissipative run take fewer evaluations than the first, where the papers' integrator stalls."""
    for preset in ("anatomical", "published"):
        system = foot.build("modified", limits="dissipative", preset=preset)
        first = simulate(system, 1.0, t_eval=[1.0], **TIGHT).stats.evaluations
        whole = simulate(system, 5.0, t_eval=[5.0], **TIGHT).stats.evaluations
        assert whole - first < first


def test_a_turning_point_is_no_rest():
    system = models.pendulum.build(limits="elastic")
    run = simulate(system, 2.0, events=[runtime.at_rest()], **TIGHT)
    assert run.status == 0 and len(run.events["rest"]) == 0


@pytest.mark.parametrize("options", [dict(speed=0.0), dict(acceleration=-1.0), dict(speed=np.nan), dict(speed="slow")])
def test_rest_refuses(options):
    with pytest.raises(runtime.ModelError, match=f"rest'?: {next(iter(options))}"):
        runtime.at_rest(**options)


def test_a_body_at_rest_at_the_start_counts_as_at_rest():
    system = models.pendulum.build("planar", angle=0.0)
    run = simulate(system, 5.0, events=[runtime.at_rest()])
    assert run.status == 1 and run.t.tolist() == [0.0] and run.events["rest"].tolist() == [0.0]
    run = simulate(system, 5.0, events=[runtime.at_rest(terminal=False)])
    assert run.status == 0 and run.events["rest"].tolist() == [0.0]


def test_cones_with_wide_pieces_conserve_energy():
    cone = Cone.from_degrees((0, 150, 196, 360), (20, 110, 60, 20))
    system = models.pendulum.build("spherical", limits="elastic", cone=cone, angle=0.2, longitude=0.3, omega=(3, 4, 0))
    run = simulate(system, 5.0, **TIGHT)
    assert run.limits["pivot"].excess.max() > 0.02 and np.ptp(run.energy) < 1e-7


def test_a_bouncing_hinge_seems_to_make_no_turns():
    cone = Cone.from_degrees(QUADRANTS, (20,) * 5)
    system = models.pendulum.build(
        "planar", limits="elastic", cone=cone, angle=0.0, omega=(0, 40, 0), gravity=(0, 0, 0)
    )
    run = simulate(system, 2.0, t_eval=np.linspace(0.0, 2.0, 11))
    motion = run.limits["pivot"]
    assert np.abs(motion.angle) == pytest.approx(motion.latitude, abs=1e-12)


# The pendulum of Rodrigues da Silva et al. (2024b) by another route


@pytest.mark.slow
@pytest.mark.parametrize("law", ["conservative", "as_published"])
def test_pendulum_against_its_direction_alone(law):
    times = np.linspace(0.0, 2.0, 201)
    cone = reduced_limits.planar_spline_cone(reduced_limits.PENDULUM_LONGITUDES, reduced_limits.PENDULUM_MAXIMA)
    reference = reduced_limits.Pendulum(cone, law=law).solve(times)
    across = 3.5 * 0.30**2 / 12
    system = models.pendulum.build(limits="elastic", law=law, inertia=(across, across, 1e-3 * across))
    run = simulate(system, 2.0, t_eval=times, rtol=1e-12, atol=1e-12)
    assert np.abs(run.r["rod"] - 0.15 * reference[:, :3]).max() < 1e-8


# What the law gives, asked for by itself


def test_restriction_of_a_law():
    limit = models.pendulum.build(limits="elastic", cone=Cone.from_degrees(QUADRANTS, (30, 30, 30, 30, 30))).limits[0]
    latitude, stop = np.deg2rad([10.0, 30.0, 35.0, 41.5, 60.0]), reduced_limits.Stop(226.0, limit.compliance)
    u = np.stack([np.sin(latitude), 0 * latitude, np.cos(latitude)], axis=1)
    given, excess = runtime.system.restricting_moment(limit, 3.0 * u), latitude - np.deg2rad(30.0)
    assert given.excess == pytest.approx(np.maximum(excess, 0.0), abs=1e-15)
    assert np.linalg.norm(given.moment, axis=1) == pytest.approx([stop.moment(x) for x in excess], abs=1e-10)
    assert (given.moment @ [0.0, 1.0, 0.0] <= 0.0).all()  # back towards zeta
    assert given.energy == pytest.approx([stop.potential(x) for x in excess], abs=1e-12)
    for wrong in ([[0.0, 0.0, 0.0]], [1.0, 0.0, 0.0], [[np.nan, 0.0, 1.0]]):
        assert_refused("restricting_moment: directions", runtime.system.restricting_moment, limit, wrong)
