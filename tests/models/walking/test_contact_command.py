"""The command ``talus gait --contact``: its files and figures, and how soles predict other trials."""

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray

from models.studies.gait import contact, contact_figures, contact_tables
from models.walking import Filters, contact_fit, gait_plots, predict_ground_force
from tests.package.test_table_widths import check_tables
from tests.support.layouts import faults_of_figures
from tests.support.reports import check_figures
from tests.support.soles import scaled_and_known_sole, with_force_of
from tests.support.whole_walker import whole_walker


@pytest.mark.nightly
def test_the_study_writes_contact(talus, tmp_path):
    with faults_of_figures() as faults:
        done = talus("--contact", "--json", "--out", "o")
    assert done.code == 0 and faults == {}
    summary, folder = json.loads(done.out), tmp_path / "o"
    rows = {row["sole"]: row for row in summary["tables"]["errors of the contact"]}
    assert list(rows) == [contact.MEAN, "as scaled", "published shape", "fitted"]
    # One foot without a pelvis: no prediction from markers alone, which the notes say; the baseline is there.
    assert "no prediction from markers alone" in json.dumps(summary["tables"]["notes"])
    assert rows["fitted"]["vertical [BW]"] < 0.08 < rows["published shape"]["vertical [BW]"] < 0.2
    assert len(summary["tables"]["fitted sole: synthetic trial"]) == 9
    assert [row["Moreira et al. (2011)"] for row in summary["tables"]["spheres in contact"]] == ["1-3", "1-8", "7-9"]
    assert [row["foot"] for row in summary["tables"]["cavus and flat foot"]] == ["normal", "cavus", "flat foot"]
    check_figures(folder, summary["tables"]["figures"])
    with xarray.open_dataset(folder / "gait.nc") as data:
        sizes = dict(data.sizes)
        assert (sizes["sole"], sizes["sphere"]) == (5, 9) and data.contact_force.dims == (
            "trial",
            "sole",
            "percent",
            "axis",
        )
        total = data.sphere_force.sum("sphere")
        assert np.abs(total - data.contact_force.sel(axis="z")).max() < 1e-6
        assert data.sphere_stiffness.attrs["units"] == "N/m^1.5"
    lines = (folder / "contact.csv").read_text().splitlines()
    assert len(lines) == 1 + 7 * 101 and lines[1].startswith("synthetic trial,measured,0,")


@pytest.mark.slow
def test_the_study_reports_how_soles_predict_other_trials(synthetic_walk, monkeypatch):
    one = synthetic_walk
    two = replace(with_force_of(one, scaled_and_known_sole()[1]), name="second trial")
    contacts = contact.analyse([one, two], lambda line: None)
    tables = contact_tables.tables(contacts)
    check_tables(tables, monkeypatch)
    errors, fitted_sole, *_ = tables
    rows = {(row["trial"], row["sole"]): row for row in errors.records()}
    for c, other in zip(contacts, (two, one), strict=True):
        for name in ("published shape", "fitted"):
            there = predict_ground_force(other, c.fits[name].sole).errors().vertical
            assert rows[c.trial.name, name]["other trials [BW]"] == pytest.approx(there, rel=1e-12)
        assert rows[c.trial.name, "as scaled"]["other trials [BW]"] is None
    both = [rows[name, "fitted"] for name in ("synthetic trial", "second trial")]
    own, others = (np.mean([row[key] for row in both]) for key in ("vertical [BW]", "other trials [BW]"))
    assert f"fitted: {own:.3f} off its own trial on average, {others:.3f} off others" in errors.note
    assert "about 0 medial of it by construction" in errors.note and "did not converge" not in errors.note
    assert "stiffness a factor of 10, loss a factor of 3, height 0.2 mm" in fitted_sole.note
    for figure in contact_figures.figures(contacts).values():
        titles = [ax.get_title() for ax in figure.draw().axes if ax.get_title()]
        assert titles and not [title for title in titles if "_" in title]
    monkeypatch.setattr(contact_fit, "MAX_STEPS", 2)
    errors, fitted_sole, *_ = contact_tables.tables(contact.analyse([one], lambda line: None))
    assert "did not converge in 2 steps" in errors.note and "fitted of synthetic trial" in errors.note
    assert "did not converge" in fitted_sole.note


def test_marks_and_colours_of_pressed_contacts_are_explained():
    maps = {"one": (np.arange(5.0), {"sphere_1": np.arange(5.0)})}
    figure = gait_plots.pressed(maps, (1.0, 3.0), "spheres in contact", "stance [%]", "normal force [body weights]")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["spheres in contact"]
    assert figure.axes[-1].get_ylabel() == "normal force [body weights]"


@pytest.mark.slow
def test_the_study_predicts_from_markers(synthetic_walk):
    (each,) = contact.analyse([synthetic_walk], lambda line: None, [whole_walker()], Filters.off())
    errors, *_ = contact_tables.tables([each])
    rows = {row["sole"]: row for row in errors.records()}
    assert list(rows)[:2] == [contact.MEAN, contact.MARKERS]
    assert rows[contact.MARKERS]["vertical [BW]"] == pytest.approx(each.markers.errors().vertical)
    assert rows[contact.MEAN]["anterior [BW]"] is None and "baseline" in errors.note
    drawn = contact_figures.figures([each])["contact_vertical_force"].draw()
    shown = {text.get_text() for text in drawn.legends[0].get_texts()}
    assert {"measured", contact.MEAN, contact.MARKERS} <= shown
