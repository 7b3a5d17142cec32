"""Muscles across a swapped ankle: they stay on the talus, forces on foot and link balance, and moments are those of the trial."""

import numpy as np
import pytest

import models
from models.files import muscle_lengths
from models.files.virtual_power import ways_at
from models.walking import compare_ankles, static_optimisation
from tests.support.limb_muscles import muscles
from tests.support.marked_limbs import marked, plates_of, read, smooth, trial_of
from tests.support.refusals import assert_refused

SORTS = ("as in the file", "universal", "modified universal")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A trial with muscles, and the model."""
    reading = read(tmp_path_factory.mktemp("limb"), marked(more=muscles()))
    q = smooth(reading, widest=0.3)
    plates, _ = plates_of(reading, q)
    walk = trial_of(reading, q, forces=plates)
    return reading, compare_ankles(reading, walk, talus_length=0.03, cutoff=None, muscles={"reserve": 5.0})


def motion(one):
    names = list(one.trial.q)
    table = np.stack([np.stack([of[name] for name in names]) for of in (one.trial.q, one.trial.u, one.trial.u_dot)])
    return ways_at(one.reading.source, names, table)[0]


def pull_on(one, body):
    """Sum of the pulls (n, 3) of the muscles with an end on a body, each a straight line from the other end."""
    ways, total = motion(one), 0.0
    for muscle in one.reading.source.muscles:
        ends = muscle.points[0], muscle.points[-1]
        if ends[1].link == body:
            there, here = (ways[end.link][-1].at(end.location)[0] for end in ends)
            d = there - here
            total = total + one.muscles.forces[muscle.name][:, None] * d / np.linalg.norm(d, axis=1)[:, None]
    return total


@pytest.mark.parametrize("sort", SORTS)
def test_forces_on_foot_and_talus_balance(found, sort):
    """Newton's law of the foot with gravity, plates, muscles and the hinge; and of the talus, or of the link without mass."""
    one = found[1].trials[sort]
    ways, source = motion(one), one.reading.source
    links = {link.name: link for link in source.links}
    for side in "rl":
        foot, talus = links[f"calcn_{side}"], links[f"talus_{side}"]
        load = sum(of.force for of in one.trial.loads if of.body == foot.name)
        outer, inner = one.contacts[f"subtalar_{side}"], one.contacts[f"ankle_{side}"]
        needed = foot.mass * (ways[foot.name][-1].at(foot.centre)[2] - source.gravity)
        assert outer.force + load + pull_on(one, foot.name) == pytest.approx(needed, abs=1e-6)
        carried = talus.mass * (ways[talus.name][-1].at(talus.centre)[2] - source.gravity)
        assert inner.force - outer.force + pull_on(one, talus.name) == pytest.approx(
            np.broadcast_to(carried, inner.force.shape), abs=1e-6
        )
        assert (talus.mass == 0.0) == (sort != SORTS[0]) and np.abs(inner.force - outer.force).max() > 1.0
        A = ways[talus.name][-1].A
        assert np.einsum("nab,nb->na", A, inner.in_outer) == pytest.approx(inner.force, abs=1e-9)
        assert (inner.inner, inner.outer, outer.outer) == (f"shank_{side}", f"talus_{side}", f"calcn_{side}")


@pytest.mark.parametrize("sort", SORTS)
def test_muscles_and_reserves_make_the_moments(found, sort):
    one = found[1].trials[sort]
    assert set(one.muscles.moments) == {
        f"{name}_angle_{side}" for name in ("knee", "ankle", "subtalar") for side in "rl"
    }
    for name, moment in one.muscles.moments.items():
        made = sum(path.moment_arms[name] * one.muscles.forces[m] for m, path in one.muscles.paths.items())
        assert made + one.muscles.reserves[name] == pytest.approx(one.trial.forces[name], abs=1e-9)
        assert moment == pytest.approx(one.trial.forces[name])
    assert not one.muscles.failed.size
    own = static_optimisation(one.reading, one.trial, reserve=5.0)
    assert own.forces["soleus_r"] == pytest.approx(one.muscles.forces["soleus_r"])


def test_muscles_of_an_ankle_are_those_that_cross_it(found):
    names = ("soleus", "tib_ant", "per_long", "gastroc", "to_talus")
    assert found[1].muscles_of("ankle_r") == [f"{name}_r" for name in names]


def test_the_written_model_has_the_muscles_on_the_link(found, tmp_path):
    """The file of the swapped model, read again: equal lengths at equal coordinates, with the muscle on the talus."""
    one = found[1].trials["modified universal"]
    again = models.read(models.files.write_swapped(one.reading, tmp_path / "swapped.osim"))
    ends = next(m for m in again.source.muscles if m.name == "to_talus_r").points
    assert ends[-1].link == "talus_r"
    paths = muscle_lengths.muscle_paths(again.source, one.trial.q)
    for name, path in one.muscles.paths.items():
        assert paths[name].length == pytest.approx(path.length, abs=1e-9), name


def test_options_are_refused_before_the_work_begins(found):
    reading, said = found[0], []
    walk = trial_of(reading, smooth(reading, widest=0.3))
    for sentence, options in {
        "cost = 'force'": {"cost": "force"}, "exponent = 0.5": {"exponent": 0.5}, "'x' is unknown": {"muscles": ["x"]},
        "activation from 1 to 0.5": {"bounds": (1.0, 0.5)}, "the laws of muscles are": {"law": "hill"},
    }.items():  # fmt: skip
        assert_refused(sentence, compare_ankles, reading, walk, cutoff=None, muscles=options, say=said.append)
    assert not said


def test_a_model_without_muscles_is_refused(tmp_path):
    reading = read(tmp_path, marked())
    walk = trial_of(reading, smooth(reading, widest=0.3))
    assert_refused("has no muscles that act", compare_ankles, reading, walk, cutoff=None, muscles=True)


SORT = SORTS[2]


@pytest.fixture(scope="module")
def braced(tmp_path_factory):
    """The same trial with an orthosis, and a model without muscles whose moments it leaves."""
    reading = read(tmp_path_factory.mktemp("braced"), marked(more=muscles()))
    walk = trial_of(reading, smooth(reading, widest=0.3), forces=plates_of(reading, smooth(reading, widest=0.3))[0])
    given = dict(talus_length=0.03, cutoff=None, sorts=[SORT], orthosis={"stiffness": (80.0, 40.0, 17.0)})
    return compare_ankles(reading, walk, muscles={"reserve": 5.0}, **given).trials[SORT]


def test_muscles_make_what_an_orthosis_leaves_of_the_moments(found, braced):
    """The orthosis has its share whatever the muscles do; the rest of each moment is made by muscles and reserves."""
    bare = found[1].trials[SORT]
    for name, moment in braced.muscles.moments.items():
        assert moment == pytest.approx(bare.trial.forces[name] - braced.orthosis[name], abs=1e-9)
        made = sum(path.moment_arms[name] * braced.muscles.forces[m] for m, path in braced.muscles.paths.items())
        assert made + braced.muscles.reserves[name] == pytest.approx(moment, abs=1e-9)
        assert braced.trial.forces[name] == pytest.approx(bare.trial.forces[name], abs=1e-9)
    for side in "rl":
        assert np.ptp(braced.orthosis[f"ankle_angle_{side}"]) > 1.0
        assert np.abs(braced.muscles.forces[f"tib_ant_{side}"] - bare.muscles.forces[f"tib_ant_{side}"]).max() > 5.0


def test_contact_forces_balance_beside_an_orthosis(found, braced):
    """Its springs are moments: they change the contact force by the pull of the muscles alone, and do not pass the hinge."""
    ways, bare = motion(braced), found[1].trials[SORT]
    links = {link.name: link for link in braced.reading.source.links}
    for side in "rl":
        foot = links[f"calcn_{side}"]
        load = sum(of.force for of in braced.trial.loads if of.body == foot.name)
        needed = foot.mass * (ways[foot.name][-1].at(foot.centre)[2] - braced.reading.source.gravity)
        hinges = braced.contacts[f"subtalar_{side}"], bare.contacts[f"subtalar_{side}"]
        assert hinges[0].force + load + pull_on(braced, foot.name) == pytest.approx(needed, abs=1e-6)
        assert np.abs(hinges[0].force - hinges[1].force).max() > 1.0
        axis = ways[f"calcn_{side}"][0].A @ foot.steps[0].axis
        about = np.einsum("na,na->n", axis, hinges[0].moment)
        assert about == pytest.approx(braced.muscles.reserves[f"subtalar_angle_{side}"], abs=1e-8)
