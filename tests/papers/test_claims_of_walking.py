"""Runs behind the claims on inverse dynamics and on contact, by second routes; and verdicts that follow these runs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from models import foot_ground
from models.studies.claims import ground_runs as ground
from models.studies.claims import moreira_2011, moreira_2011_gait, rodrigues_da_silva_nd_gait
from models.studies.claims import walk_runs as walk
from models.studies.claims.verdicts import Claims
from models.walking import floor_of, leg_foot, scale_sole, synthetic
from models.walking.leg_foot import GroundLoad
from runtime import Signal, inverse_dynamics, kinematics

pytestmark = pytest.mark.slow

TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def walked():
    return walk.walk_runs(TOLERANCE)


@pytest.fixture(scope="module")
def grounded():
    return ground.ground_runs(TOLERANCE)


def verdict(make, runs, words, *, second=False):
    """Verdict of the one claim with these words; ``second``: on the foot with two axes."""
    found = Claims("paper")
    make(found, runs)
    of = [claim for claim in found.found if claim.statement.endswith(moreira_2011.SECOND) == second]
    (claim,) = [claim for claim in of if words in claim.statement]
    return claim.verdict


# Inverse dynamics


def test_a_talus_of_small_mass_moves_as_the_massless_link(walked):
    """The motion tends to that of the link in proportion to the mass of the body."""
    link = walked.massless["modified"].r["main_foot"]
    apart = [np.abs(run.r["main_foot"] - link).max() for run in walked.taluses.values()]
    large, small, least = apart
    assert large / small == pytest.approx(100.0, rel=0.02) and small / least == pytest.approx(100.0, rel=0.02)


def test_distance_of_the_axes_by_least_squares(walked):
    ends = walked.ends
    for n in range(0, len(walk.PERCENT), 80):
        directions = np.column_stack([ends.talocalcaneal[n], -ends.talocrural[n]])
        d = ends.on_leg[n] - ends.on_foot[n]
        along = np.linalg.lstsq(directions, d, rcond=None)[0]
        assert ends.distance[n] == pytest.approx(np.linalg.norm(d - directions @ along), rel=1e-12)


def test_moment_of_the_ground_by_inverse_dynamics(walked):
    """A centre of pressure 10 mm more lateral changes the effort of the hinge by what it changes the moment of the ground."""
    t = synthetic.STRIKE + synthetic.CYCLE * walk.PERCENT / 100.0
    (load,) = synthetic.ground()
    x, y, z = load.point
    shifted = Signal.function(lambda times: y(times) - 0.01, *y.span, step=1e-3)
    system = leg_foot.build(
        synthetic.subject(), synthetic.coordinates(), (GroundLoad(load.force, (x, shifted, z), load.free_moment),)
    )
    effort = inverse_dynamics(system, t).degrees_of_freedom["ankle.a_i"].effort / synthetic.MASS
    change = effort - walked.curves["talocalcaneal", "moment"]
    assert np.abs(change).max() > 0.05
    assert change == pytest.approx(walked.ground_moment - walked.lateral, abs=1e-4)
    flat = (walk.PERCENT > 15.0) & (
        walk.PERCENT < 50.0
    )  # only inertia and weight of the foot remain, which turns slowly
    beside = (walked.curves["talocalcaneal", "moment"] + walked.ground_moment)[flat]
    assert np.abs(beside).max() < 0.02 * np.abs(walked.ground_moment).max()


def test_driven_by_three_euler_parameters(walked):
    """The same motion as with the drivers of the orientation, and the fourth parameter is refused by name."""
    assert walked.driven.degrees_of_freedom == 0 and "e3.parameter" in walked.fourth
    t = synthetic.STRIKE + np.linspace(0.0, 0.2, 5)
    other = kinematics(walked.driven, t)
    own = kinematics(synthetic.build(time=synthetic.STRIKE), t)
    assert np.abs(other.r["toes"] - own.r["toes"]).max() < 1e-9


def test_verdicts_on_the_walk_follow_the_curves(walked):
    """A walk that is shifted by 20 % of the cycle, and one with moments of the other sign, do not have the paper's curves."""
    peaks = "two peaks of plantarflexion"
    assert verdict(rodrigues_da_silva_nd_gait.angles, walked, peaks) == "yes"
    late = {key: np.roll(curve, len(curve) // 5) for key, curve in walked.curves.items()}
    adults = {key: (np.roll(mean, len(mean) // 5), sd) for key, (mean, sd) in walked.adults.items()}
    shifted = replace(walked, curves=late, adults=adults)
    assert verdict(rodrigues_da_silva_nd_gait.angles, shifted, peaks) == "no"
    assert verdict(rodrigues_da_silva_nd_gait.powers, shifted, "the largest generation") == "no"
    opposite = replace(walked, ground_moment=-walked.ground_moment)
    words = "moment of eversion of the ground is compensated"
    assert verdict(rodrigues_da_silva_nd_gait.pressure, walked, words) == "yes"
    assert verdict(rodrigues_da_silva_nd_gait.pressure, opposite, words) == "partly"


# Contact


def test_restitution_of_a_ball_by_its_own_equation(grounded):
    """Kelvin and Voigt: m d'' = -(K d^1.5 + c d') until the force would pull; Hunt and Crossley: 1 - loss v to first order."""
    K, m, speed = ground.READINGS["40 N/mm^1.5"], ground.BALL["mass"], ground.BALL["speed"]
    for c, found in grounded.restitution.items():

        def force(d, v, c=c):
            return K * np.maximum(d, 0.0) ** 1.5 + c * v

        def released(t, y, force=force):
            return force(*y)

        released.terminal, released.direction = True, -1.0
        run = solve_ivp(
            lambda t, y, force=force: [y[1], -force(*y) / m], (0.0, 1.0), [0.0, speed], events=released,
            rtol=1e-10, atol=1e-13, max_step=1e-4,
        )  # fmt: skip
        assert found == pytest.approx(-run.y[1, -1] / speed, abs=1e-5)
    for name, found in grounded.hysteresis.items():
        loss = 2.0 * foot_ground.DAMPING / (3.0 * ground.READINGS[name])
        assert 1.0 - found == pytest.approx(loss * speed, rel=0.02)


def test_force_on_the_walking_sole_from_the_places_of_the_spheres(grounded):
    """Sum of K d^1.5 + c d' over the spheres below the ground, from kinematics alone."""
    gait, sole = grounded.gait, scale_sole(grounded.gait.subject)
    motion = kinematics(leg_foot.build(gait.subject, gait.coordinates, time=float(gait.t[0])), gait.t)
    height = floor_of(gait)[0].height
    expected = np.zeros(len(gait.t))
    for sphere in sole.spheres.values():
        arm = motion.rotations(sphere.body) @ sphere.centre
        depth = height + sphere.radius - (motion.r[sphere.body] + arm)[:, 2]
        rate = -(motion.v[sphere.body] + np.cross(motion.omega[sphere.body], arm))[:, 2]
        force = 40e3 * np.maximum(depth, 0.0) ** 1.5 + foot_ground.DAMPING * rate
        expected += np.where(depth > 0.0, np.maximum(force, 0.0), 0.0)
    found = grounded.walked["40 kN/m^1.5", "standing"].force * gait.subject.mass * 9.81
    assert found == pytest.approx(expected, abs=1e-6 * expected.max())


def test_a_higher_arch_takes_force_away_and_adds_none(grounded):
    """Why the forces of Fig. 10a cannot follow from the motion that is prescribed."""
    for reading in ground.READINGS:
        normal, cavus = (grounded.walked[reading, shape].force for shape in ("normal", "cavus"))
        assert (cavus <= normal + 1e-12).all()


def test_the_height_of_the_sole_is_the_best(grounded):
    """No other height within 20 mm gives a smaller error with the reading that touches the ground."""
    gait, reading = grounded.gait, "40 kN/m^1.5"
    best = grounded.error(grounded.walked[reading, "normal"].force)
    sole = scale_sole(gait.subject)
    for height in np.linspace(-0.02, 0.02, 9):
        other = ground.walk(gait, sole.raised(sole.spheres, float(height)), ground.READINGS[reading])
        assert grounded.error(other.force) >= best - 1e-3


def test_verdicts_on_contact_follow_the_runs(grounded):
    """With a viscous part that stops a sliding foot, and a force that is the measured one, the verdicts are others."""
    sliding = max(grounded.falls.values(), key=ground.longest_slip)
    stopped = min(grounded.falls.values(), key=ground.longest_slip)
    falls = {key: sliding if key[2] == "Coulomb" else stopped for key in grounded.falls}
    prevents = "the viscous part prevents"
    assert verdict(moreira_2011.friction, grounded, prevents) == "no"
    assert verdict(moreira_2011.friction, replace(grounded, falls=falls), prevents) == "yes"
    good = {
        key: replace(each, force=grounded.measured) if key[1] == "normal" else each
        for key, each in grounded.walked.items()
    }
    agrees = "in good agreement with the measured one"
    assert verdict(moreira_2011_gait.force, grounded, agrees) == "partly"
    assert verdict(moreira_2011_gait.force, replace(grounded, walked=good), agrees) == "yes"


def test_the_foot_with_two_axes_has_verdicts_of_its_own(grounded):
    """They follow its own falls, and its inversion with and without an orthosis."""
    falls = grounded.falls_of_two_axes
    assert falls.keys() == grounded.falls.keys() and all("modified ankle" in run.system.name for run in falls.values())
    prevents = "the viscous part prevents"
    assert verdict(moreira_2011.friction, grounded, prevents, second=True) == "no"
    stopped = min(falls.values(), key=ground.longest_slip)
    sliding = max(falls.values(), key=ground.longest_slip)
    changed = replace(grounded, falls_of_two_axes={key: sliding if key[2] == "Coulomb" else stopped for key in falls})
    assert verdict(moreira_2011.friction, changed, prevents, second=True) == "yes"
    assert verdict(moreira_2011.friction, changed, prevents) == "no"
    design = "orthosis design"
    assert verdict(moreira_2011.orthosis, grounded, design, second=True) == "yes"
    assert verdict(moreira_2011.orthosis, grounded, design) == "partly"
    swapped = dict(zip(grounded.inversions, reversed(grounded.inversions.values()), strict=True))
    assert verdict(moreira_2011.orthosis, replace(grounded, inversions=swapped), design, second=True) == "no"
