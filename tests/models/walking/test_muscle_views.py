"""Views of trials with muscles: poses by the mechanics of the system, paths and colours by static optimisation, both legs."""

from dataclasses import replace

import numpy as np
import pytest

import runtime
from models.studies import muscle_report
from models.studies.gait import motion
from models.walking import compare_ankles, muscles_of_walk
from models.walking.swapped_ankle import FILE, MODIFIED, SORTS
from runtime.results.drawn_bodies import muscle_line
from runtime.view.colours import of_activation
from tests.support.limb_muscles import muscles
from tests.support.marked_limbs import marked, plates_of, read, smooth, trial_of
from tests.support.recorded_gait import recorded

BAR = "muscles, activation 0 to 1"


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A trial of a limb with muscles on both sides, one of which ends on the talus."""
    reading = read(tmp_path_factory.mktemp("limb"), marked(more=muscles()))
    q = smooth(reading, widest=0.3)
    walk = trial_of(reading, q, forces=plates_of(reading, q)[0])
    return compare_ankles(reading, walk, talus_length=0.03, cutoff=None, muscles={"reserve": 5.0})


@pytest.mark.parametrize("sort", SORTS)
def test_bodies_are_where_the_mechanics_of_the_system_puts_them(compared, sort):
    one = compared.trials[sort]
    mechanics, drawn = runtime.mechanics(one.reading.build()), one.drawn_motion()
    own = {name: x for name, x in one.trial.q.items() if one.reading.coordinates.get(name, ("", ""))[0]}
    for k in (0, len(drawn.t) // 2, -1):
        values = one.reading.coordinate_values({name: x[k] for name, x in own.items()})
        state = mechanics.state(mechanics.configuration(values))
        for body in drawn.r:
            assert drawn.r[body][k] == pytest.approx(state.r[body], abs=1e-9)
            assert abs(drawn.p[body][k] @ state.p[body]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("sort", SORTS)
def test_muscles_are_as_long_as_in_static_optimisation_and_have_its_activations(compared, sort):
    """Those that end on the talus act on a body without mass in swapped ankles: no system has them, and a note names them."""
    one = compared.trials[sort]
    drawn, scene = one.drawn_motion(), one.scene()
    tubes = {solid.name: solid for solid in scene.solids if solid.group == "muscles"}
    lacking = set() if sort == FILE else {"to_talus_r", "to_talus_l"}
    assert set(tubes) == set(one.muscles.activations) - lacking
    assert scene.notes == (f"ankle: {sort}", *(["not drawn: to_talus_r, to_talus_l"] if lacking else []))
    for muscle in drawn.outline.muscles:
        line = muscle_line(drawn, muscle, np.arange(len(drawn.t)))
        length = np.linalg.norm(np.diff(line, axis=1), axis=2).sum(axis=1)
        assert length == pytest.approx(one.muscles.paths[muscle.name].length, abs=1e-9)
        seen = np.searchsorted(drawn.t, tubes[muscle.name].pose.t)
        activation = one.muscles.activations[muscle.name][seen]
        assert tubes[muscle.name].colours == tuple(map(of_activation, activation.tolist()))


def test_legend_and_charts(compared):
    one = compared.trials[MODIFIED]
    scene = one.scene(curves=muscle_report.curves(compared, MODIFIED))
    groups = {group.label: group for group in scene.groups}
    assert groups[BAR].scale[0] == of_activation(0.0) and groups[BAR].scale[-1] == of_activation(1.0)
    assert "springs and slides" not in groups and "massless link" in groups
    (chart, _) = scene.charts
    assert chart.title == "largest activations across ankle_r [1]" and len(chart.curves) == 5
    label, _, t, values = chart.curves[0]
    assert np.array_equal(values, one.muscles.activations[label.replace(" ", "_")]) and np.array_equal(t, one.trial.t)
    loads = {name: load for name, load in one.drawn_motion().loads.items() if np.abs(load.force).max() > 0.0}
    assert {name.split(",")[0] for name in loads} == {"load on calcn r", "load on calcn l"}


def test_a_trial_without_muscles_is_seen_without_them(compared):
    one = replace(compared.trials[MODIFIED], muscles=None)
    for scene in (one.scene(), one.scene(beside={"again": one})):  # the energies of neither are known
        assert not [solid for solid in scene.solids if solid.group == "muscles"] and scene.charts == ()


@pytest.fixture(scope="module")
def walks(adult, tmp_path_factory):
    """Both feet of a trial of an adult with their muscles."""
    folder = tmp_path_factory.mktemp("legs")
    of = [adult("C4_05", side) for side in ("right", "left")]
    return [(one, muscles_of_walk(one, folder / f"{one.side}.osim", sorts=[MODIFIED])) for one in of]


@recorded
def test_both_feet_of_a_trial_are_beside_each_other_and_strike_together(walks):
    seen, options = motion.with_muscles(walks)
    right, left = (walk[1].trials[MODIFIED].trial for walk in walks)
    scene = seen.scene(**options)
    assert scene.title == "2014001_C4_05.c3d, right foot and 2014001_C4_05.c3d, left foot" and "ghosts" not in options
    assert [group.label for group in scene.groups].count(BAR) == 1
    names = [solid.name.split()[-1] for solid in scene.solids if solid.group == "muscles"]
    assert len(names) == 86 and {name[-2:] for name in names} == {"_r", "_l"}
    (other,) = options["beside"].values()
    drawn, strike = {"r": seen.drawn_motion(), "l": other.drawn_motion()}, walks[0][0].cycle.strike
    places = [[np.interp(strike, of.t, x) for x in of.r[f"calcn_{letter}"].T] for letter, of in drawn.items()]
    assert places[1][::2] == pytest.approx(places[0][::2], abs=1e-9)  # along the ground, y is up
    moved = [joint.bodies[1] for joint in drawn["l"].outline.joints]  # not the pelvis, which floats
    assert len(moved) == 5 and not any(body.startswith("pelvis") for body in moved)
    was = walks[1][1].trials[MODIFIED].drawn_motion()
    assert drawn["l"].r["pelvis"][:, 1] == pytest.approx(was.r["pelvis"][:, 1], abs=1e-12)
    assert drawn["r"].t == pytest.approx(right.t) and np.ptp(drawn["l"].t - left.t) < 1e-12
    (load,) = drawn["l"].loads.values()
    arm = load.point - drawn["l"].r["calcn_l"]
    (before,) = was.loads.values()
    assert arm == pytest.approx(before.point - was.r["calcn_l"], abs=1e-9)


@recorded
def test_other_trials_are_chosen_by_a_slider(walks):
    later = [(replace(one, name="later"), compared) for one, compared in walks]
    seen, options = motion.with_muscles([*walks, *later])
    assert list(options["beside"]) == ["2014001_C4_05.c3d, left foot"]
    scene = seen.scene(**options)
    assert [group.label for group in scene.groups if group.choice] == ["later, right foot", "later, left foot"]
