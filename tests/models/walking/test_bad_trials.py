"""Trials of the synthetic walker with one defect: filled and noted, or refused with one sentence."""

from dataclasses import replace

import numpy as np
import pytest

from models.walking import Filters, analyse, synthetic
from runtime import ModelError
from tests.support.gait_files import trial_at_100_hz
from tests.support.refusals import assert_refused
from tests.support.spoilt_captures import cut, gap

OFF = Filters.off()


@pytest.mark.slow
def test_short_gaps_are_filled_and_noted():
    walk, static = trial_at_100_hz(), synthetic.static()
    base = analyse(static, walk, markers=synthetic.MARKERS, filters=OFF)
    one = analyse(static, gap(walk, "R_FCC", 52, 58), markers=synthetic.MARKERS, filters=OFF)
    noted = [note for note in one.notes if "R_FCC" in note]
    assert noted == ["synthetic trial: marker 'R_FCC' was not seen from 0.52 to 0.58 s; filled by a spline"]
    assert np.abs(one.moments["talocrural"] - base.moments["talocrural"]).max() < 0.5
    infinite = np.array(walk.marker("R_FCC"))
    infinite[55, 1] = np.inf
    one = analyse(static, replace(walk, markers={**walk.markers, "R_FCC": infinite}), markers=synthetic.MARKERS)
    assert any("R_FCC" in note for note in one.notes)
    assert_refused(
        "marker 'R_FCC' of the main foot is not seen from 0.52 to 0.58 s",
        analyse,
        static,
        gap(walk, "R_FCC", 52, 58),
        markers=synthetic.MARKERS,
        filters=Filters(longest_gap=0.0),
    )
    # A marker that is not needed, and frames before the cycle, may be missing.
    analyse(static, gap(walk, "R_TTC", 0, 3), markers=synthetic.MARKERS)


@pytest.mark.slow
def test_a_gap_as_long_as_the_limit_is_filled_wherever_it_is():
    walk = trial_at_100_hz()
    lengths = walk.t[22:100] - walk.t[12:90]
    for start in 12 + np.array([lengths.argmin(), lengths.argmax()]):  # both are 0.1 s, but for the rounding
        analyse(synthetic.static(), gap(walk, "R_FCC", start, start + 10), filters=OFF)


@pytest.mark.slow
def test_markers_that_no_foot_can_have_are_refused():
    walk = trial_at_100_hz()
    loose = np.array(walk.marker("R_FCC"))
    loose[60:] += (0.0, 0.0, 0.15)  # fell off late: its usual distances are right
    with pytest.raises(ModelError, match=r"misses the markers by \d+ mm at t = [\d.]+ s, the limit is 20 mm"):
        analyse(synthetic.static(), replace(walk, markers={**walk.markers, "R_FCC": loose}))


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(order=99), "filters: order = 99; the order of one pass must be 1 to 8"),
        (dict(markers=0.0), "filters: markers = 0 Hz; give a cut-off above 0 Hz"),
        (dict(forces=np.nan), "filters: forces = nan Hz; give a cut-off above 0 Hz"),
        (dict(longest_gap=-0.1), "filters: longest_gap = -0.1 s; give 0 s"),
    ],
)
def test_filters_that_fit_no_data_are_refused(given, message):
    assert_refused(message, Filters, **given)


@pytest.mark.slow
@pytest.mark.parametrize("labels", ["given", "lower case", "dots"])
def test_labels_that_the_marker_sets_know_are_enough(labels):
    change = {
        "given": lambda label: {"R_FCC": "Ferse"}.get(label, label), "lower case": str.lower,
        "dots": lambda label: label.replace("_", "."),
    }[labels]  # fmt: skip
    static, walk = (
        replace(c, markers={change(k): p for k, p in c.markers.items()})
        for c in (synthetic.static(), trial_at_100_hz())
    )
    one = analyse(static, walk, markers={"heel": "Ferse"} if labels == "given" else None, filters=OFF)
    assert one.cycle.complete


def test_a_trial_without_plates_says_so():
    assert_refused(("no force plates", "forces"), analyse, synthetic.static(), replace(trial_at_100_hz(), forces=()))


def test_a_cut_contact_is_not_called_whole():
    walk = trial_at_100_hz()
    cut_short = replace(walk, forces=(cut(walk.forces[0], 0.4),))
    assert "is on plate" not in assert_refused("cut short", analyse, synthetic.static(), cut_short)


@pytest.mark.slow
def test_locked_toes_are_not_called_unmarked():
    one = analyse(synthetic.static(), trial_at_100_hz(), markers=synthetic.MARKERS, toes="locked", filters=OFF)
    assert not any("no marker on the toes" in note for note in one.notes)
