"""Views of a gait trial: markers, measured and modelled, the ground force at its centre of pressure, joint angles."""

from dataclasses import replace

import numpy as np
import pytest

from models.studies.gait import figures, files, motion, tables
from models.walking import synthetic
from models.walking.preparation import Filters


@pytest.fixture(scope="module")
def one(synthetic_walk):
    return synthetic_walk


@pytest.fixture(scope="module")
def scene(one):
    return one.scene()


def of_group(parts, group):
    return [part for part in parts if part.group == group]


@pytest.mark.slow
def test_markers_are_spheres_where_they_were_measured_and_modelled(one, scene):
    trial = synthetic.trial()
    frames = np.searchsorted(trial.t, one.t)
    for kind in ("measured", "modelled"):
        spheres = {solid.name.split()[-1]: solid for solid in of_group(scene.solids, f"points markers, {kind}")}
        assert set(spheres) == set(one.markers)
        assert {solid.colour for solid in spheres.values()} == {{"measured": "#000000", "modelled": "#56B4E9"}[kind]}
        for label, solid in spheres.items():
            kept = np.searchsorted(one.t, solid.pose.t)
            # The trial was made by the model, so that the model meets its markers.
            np.testing.assert_allclose(solid.pose.r, trial.markers[label][frames][kept], atol=1e-6)
    assert one.markers["R_TOE"].body == "toes"


def test_the_ground_force_acts_at_its_centre_of_pressure(one, scene):
    arrows = of_group(scene.arrows, "load forces")
    assert len(arrows) == 2  # on the main foot, then on the toes
    drawn = np.nansum([arrow.vector for arrow in arrows], axis=0)
    force, cop, _ = one.ground_at(arrows[0].t)
    largest = np.linalg.norm(force, axis=1).max()
    np.testing.assert_allclose(drawn, force * np.linalg.norm(drawn, axis=1).max() / largest, atol=0.01)  # one scale
    (trail,) = of_group(scene.lines, "point of action of the loads")
    loaded = np.isfinite(cop).all(axis=1) & (force[:, 2] > 20.0)
    distances = np.linalg.norm(trail.points[0].reshape(1, -1, 3) - cop[loaded][:, None], axis=2)
    assert distances.min(axis=1).max() < 1e-3
    labels = {group.key: group.label for group in scene.groups}
    assert labels["load forces"].startswith("ground force, up to 7")
    assert labels["point of action of the loads"] == "centre of pressure"


def test_the_angles_are_a_chart_and_a_page_follows_the_leg(one, scene):
    chart, above = scene.charts
    assert (chart.title, above.title) == ("angles [deg]", "angles of knee and hip [deg]")
    labels = [label.replace(" ", "_") for own in (chart, above) for label, *_ in own.curves]
    assert labels == list(one.angles)
    low, high = scene.near
    assert (high - low)[0] < 0.5 * (scene.high - scene.low)[0]


def test_views_of_trials_beside_each_other_and_errors(one):
    assert {"first", "second"} <= {g.label for g in one.scene(name="first", beside={"second": one}).groups}
    assert repr(one) == f"Gait('synthetic trial', right foot, 197 times, {one.t[0]:g} .. {one.t[-1]:g} s)"
    with pytest.raises(ValueError, match=r"scene: points 'a', 'b' has the shape \(3,\); give 197 x 3 numbers"):
        one.scene(points={"a": {"b": np.zeros(3)}})


def test_other_trials_are_shown_from_the_foot_strike_of_the_first(one):
    assert motion.others([one]) == {}
    later = replace(one, name="later", cycle=replace(one.cycle, strike=one.cycle.strike + 0.1))
    options = motion.others([one, later])
    moved, own = options["ghosts"]["later"].drawn_motion(), one.drawn_motion()
    strike = [np.interp(one.cycle.strike, m.t, m.r["main_foot"][:, 0]) for m in (moved, own)]
    assert strike[0] == pytest.approx(strike[1], abs=1e-9) and moved.t[0] == pytest.approx(own.t[0] - 0.1)
    scene = one.scene(**options)
    assert [group.label for group in scene.groups if group.choice] == ["later"]


def test_the_page_of_curves_names_the_subject_and_what_is_an_upper_bound(one):
    drawn = figures.figures([one], "somebody, 70 kg")["gait"].draw()
    assert drawn.legends[-1].get_title().get_text() == "somebody, 70 kg"
    bounds = [
        ax.get_title(loc="left") for ax in drawn.axes if any("upper bound" in text.get_text() for text in ax.texts)
    ]
    assert bounds == ["metatarsophalangeal moment", "metatarsophalangeal power"]


def test_an_angle_from_a_single_marker_is_flagged(one):
    assert one.toe_caveat == "" and files._caveat([one], "angles") == ""
    markers = {label: marker for label, marker in one.markers.items() if label != "R_TOE"}
    single = replace(one, markers=markers)
    assert single.toe_caveat == "from one marker, 'R_HLX'"
    drawn = figures.figures([single], "somebody")["gait"].draw()
    flagged = [ax.get_title(loc="left") for ax in drawn.axes if any("R_HLX" in text.get_text() for text in ax.texts)]
    assert flagged == ["metatarsophalangeal angle"]
    chart, above = single.scene().charts
    assert [label for label, *_ in above.curves][:2] == ["knee flexion", "knee adduction"] and len(above.curves) == 6
    assert [label for label, *_ in chart.curves][-1] == "metatarsophalangeal, from one marker, 'R_HLX'"
    data = files.dataset([single])
    assert "R_HLX" in data.angles.attrs["comment"] and "upper bound" in data.moments.attrs["comment"]


def test_trials_have_steps_of_their_own_and_no_speed_on_a_treadmill(one):
    assert tables.steps_of_trials([one]) == []
    stays = replace(one, name="treadmill", spatiotemporal=replace(one.spatiotemporal, stride_length=float("nan")))
    (table,) = tables.steps_of_trials([one, stays])
    assert [row[0] for row in table.rows] == ["synthetic trial", "treadmill"]
    assert table.records()[0]["cadence [steps/min]"] == pytest.approx(one.spatiotemporal.cadence)
    assert [row["speed [m/s]"] is None for row in tables.trials([one, stays], Filters.off()).records()] == [False, True]
