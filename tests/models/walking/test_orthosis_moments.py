"""What an orthosis exerts along a trial: slopes of the energy of its springs, in a walk and in models of OpenSim; its weight."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from models.files.virtual_power import ways_at
from models.foot_orthosis import PRESETS
from models.walking import Filters, analyse, analysis, compare_ankles, synthetic
from models.walking.orthosis_loads import AXES, massless_springs
from runtime import ModelError, UnitWarning
from tests.support.marked_limbs import marked, plates_of, read, smooth, trial_of
from tests.support.refusals import assert_refused

SPRINGS = {"stiffness": (210.0, 40.0, 17.0), "neutral": (0.1, 0.05, -0.03)}
STEP = 1e-4  # [rad] of differences
FILE, UNIVERSAL, MODIFIED = "as in the file", "universal", "modified universal"


def energy(turn, side="right"):
    """Of the springs of an orthosis, for rotations (n, 3, 3) of the foot from its reference pose in axes of the leg [J]."""
    mirror = 1.0 if side == "right" else -1.0
    x, y = turn[:, :, 0], turn[:, :, 1]
    angles = [
        np.arctan2(x[:, 2], x[:, 0]),
        np.arctan2(mirror * y[:, 2], y[:, 1]),
        np.arctan2(mirror * x[:, 1], x[:, 0]),
    ]
    parts = zip(SPRINGS["stiffness"], angles, SPRINGS["neutral"], strict=True)
    return sum(0.5 * k * (angle - neutral) ** 2 for k, angle, neutral in parts)


@pytest.fixture(scope="module")
def braced():
    """Analyses of the synthetic trial with orthoses, by mass [kg]."""
    options = dict(markers=synthetic.MARKERS, filters=Filters.off())
    return {
        mass: analyse(synthetic.static(), synthetic.trial(), orthosis=SPRINGS | {"mass": mass}, **options)
        for mass in (0.0, 0.5)
    }


def test_moments_in_a_walk_are_slopes_of_the_energy(braced, synthetic_walk):
    found = braced[0.0]
    subject, run = found.subject, found.motion
    leg, foot = (run.rotations(body) for body in ("leg", "main_foot"))
    back = subject.bodies["main_foot"].A.T @ subject.bodies["leg"].A  # to the standing pose
    hinges = {"talocrural": -subject.talocrural.axes["leg"], "talocalcaneal": subject.talocalcaneal.axes["main_foot"]}
    for joint, axis in hinges.items():
        slopes = []
        for h in (-STEP, STEP):
            turned = Rotation.from_rotvec(h * axis).as_matrix()
            own = np.swapaxes(leg, 1, 2) @ foot
            own = turned @ own if joint == "talocrural" else own @ turned
            slopes.append(energy(own @ back))
        expected = (slopes[0] - slopes[1]) / (2 * STEP)
        assert np.ptp(expected) > 5.0
        np.testing.assert_allclose(found.orthosis_moments[joint], expected, atol=1e-5 * np.abs(expected).max())
        np.testing.assert_array_equal(found.moments[joint], synthetic_walk.moments[joint])
    np.testing.assert_allclose(found.orthosis_moments["metatarsophalangeal"], 0.0, atol=1e-9)


def test_a_mass_adds_its_weight_and_inertia(braced):
    """Of half a kilogram under the foot: below 2 N m, and none at the toes."""
    off = {joint: braced[0.5].orthosis_moments[joint] - of for joint, of in braced[0.0].orthosis_moments.items()}
    assert 0.05 < np.abs(off["talocrural"]).max() < 2.0 and 0.01 < np.abs(off["talocalcaneal"]).max() < 2.0
    assert np.abs(off["metatarsophalangeal"]).max() < 1e-9


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    reading = read(tmp_path_factory.mktemp("model"), marked())
    q = smooth(reading, widest=0.3)
    trial = trial_of(reading, q, forces=plates_of(reading, q)[0])
    given = dict(cutoff=None, talus_length=0.03, sorts=[FILE, UNIVERSAL, MODIFIED])
    return compare_ankles(reading, trial, **given), compare_ankles(reading, trial, orthosis=SPRINGS, **given)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("sort", [FILE, UNIVERSAL, MODIFIED])
def test_moments_in_a_model_of_opensim_are_slopes_of_the_energy(compared, sort, side):
    one = compared[1].trials[sort]
    source, names, letter = one.reading.source, list(one.trial.q), side[0]
    leg = next(link.parent for link in source.links if link.joint == f"ankle_{letter}")
    foot = next(link.name for link in source.links if link.joint == f"subtalar_{letter}")

    def turn(table):
        ways = ways_at(source, names, table)[0]
        return AXES @ np.swapaxes(ways[leg][-1].A, -1, -2) @ ways[foot][-1].A

    zero = turn(np.zeros((3, len(names), 1)))[0]
    table = np.stack([np.stack([of[name] for name in names]) for of in (one.trial.q, one.trial.u, one.trial.u_dot)])
    for name in compared[1].ankles[f"ankle_{letter}"]:
        ends = []
        for h in (-STEP, STEP):
            moved = table.copy()
            moved[0, names.index(name)] += h
            ends.append(energy(turn(moved) @ zero.T, side))
        expected = (ends[0] - ends[1]) / (2 * STEP)
        assert np.ptp(expected) > 0.5
        np.testing.assert_allclose(one.orthosis[name], expected, atol=1e-5 * np.abs(expected).max())


def test_the_trial_itself_is_kept(compared):
    for sort, one in compared[1].trials.items():
        bare = compared[0].trials[sort]
        assert not bare.orthosis
        for name, force in one.trial.forces.items():
            np.testing.assert_array_equal(force, bare.trial.forces[name])
        others = [name for name in one.orthosis if not name.startswith(("ankle", "subtalar"))]
        largest = max(np.abs(of).max() for of in one.orthosis.values())
        assert all(np.abs(one.orthosis[name]).max() < 1e-9 * largest for name in others)


def test_values_that_a_model_of_opensim_cannot_have(tmp_path):
    reading = read(tmp_path, marked())
    trial = trial_of(reading, smooth(reading))
    for mass in (0.3, (0.2, 0.1), "300 g"):
        with pytest.raises(ModelError, match=f"mass = {re.escape(repr(mass))} kg: .* leave it out"):
            compare_ankles(reading, trial, orthosis={**PRESETS["stiff"], "mass": mass}, sorts=[FILE], cutoff=None)
    with pytest.warns(UnitWarning, match="neutral = 5 rad.*5 degrees are 0.08727 rad"):
        compare_ankles(reading, trial, orthosis={**PRESETS["stiff"], "neutral": (5, 0, 0)}, sorts=[FILE], cutoff=None)


BAD = {
    "a mass as a pair": ({"mass": (0.2, 0.1)}, "mass"),
    "a mass as text": ({"mass": "300 g"}, "mass"),
    "no mass": ({"mass": None}, "mass"),
    "two stiffnesses": ({"stiffness": (200.0, 40.0)}, "stiffness has 2 entries; give 3"),
    "a negative stiffness": ({"stiffness": (200.0, -40.0, 17.0)}, "stiffness of inversion = -40 is negative"),
    "text": ({"stiffness": "stiff"}, "stiffness"),
    "a number": ({"stiffness": 200.0}, "stiffness"),
    "a table of text": ({"stiffness": ([["a", "b"]], 40.0, 17.0)}, "stiffness of dorsiflexion"),
    "no damping": ({"damping": None}, "damping"),
    "one neutral angle": ({"neutral": 0.1}, "neutral"),
    "a place as text": ({"plate": "low"}, "plate"),
    "a hinge": ({"hinge": {"axes": 1}}, "hinge is given; along a trial"),
    "an unknown keyword": ({"stifness": 1.0}, "orthosis has no 'stifness'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_values_are_refused_before_the_work_begins(case, monkeypatch):
    changes, words = BAD[case]
    orthosis = {"stiffness": (200.0, 40.0, 17.0)} | changes
    monkeypatch.setattr(analysis, "check_trials", None)  # the first call of the work
    assert_refused(words, analyse, synthetic.static(), synthetic.trial(), orthosis=orthosis)
    assert_refused(words, massless_springs, orthosis)
