"""The command ``talus ankle`` for other feet: its options, its table against runs of its own, its figures."""

import json

import numpy as np
import pytest
import xarray

from models import foot
from models.studies import measures
from models.studies.ankle import study, sweep
from runtime import simulate
from tests.support.layouts import faults_of_figures
from tests.support.refusals import assert_refused
from tests.support.reports import check_figures, quiet, records

T_END = 0.5


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    options = dict(subtalar_inclination="25,60", link_lengths="0.036:0.0474:3", limits="dissipative", mass=60.0)
    with faults_of_figures() as faults:
        return folder, study.ankle(folder, quiet, t_end=T_END, side="left", **options), faults


@pytest.mark.slow
def test_files_and_figures(swept):
    folder, report, faults = swept
    assert report.failures == [] and faults == {}
    check_figures(folder, records(report, "figures"))
    assert {row["file"] for row in records(report, "figures")} == {
        f"{what}_by_{name}.png"
        for what in ("axes", "paths", "measures")
        for name in ("subtalar_inclination", "link_length")
    }
    assert list(json.loads((folder / "summary.json").read_text())["tables"]) == ["other feet", "figures"]
    assert report.answer.count("By ") == 2 and "modified universal joint" in report.answer


@pytest.mark.slow
def test_table_agrees_with_runs_of_right_feet(swept):
    """Rows are of left feet; y is medial in the table, so that a right foot gives the same row."""
    rows = records(swept[1], "other feet")
    assert [row["joint"] for row in rows] == ["classical"] * 2 + ["modified"] * 6  # no link: one row for all lengths
    for row in (rows[1], rows[-1], rows[3]):
        link = {} if row["link length [mm]"] is None else {"link_length": row["link length [mm]"] / 1e3}
        system = foot.build(
            row["joint"],
            subtalar_inclination_deg=row["subtalar inclination [deg]"],
            limits="dissipative",
            mass=60.0,
            **link,
        )
        run = simulate(system, T_END, t_eval=measures.times(T_END, measures.WRITTEN_PER_SECOND), rtol=1e-10, atol=1e-10)
        y = 1e3 * run.r["main_foot"][:, 1]
        assert row["y range [mm]"] == pytest.approx(np.ptp(y), abs=0.006)
        assert (row["y min [mm]"], row["y max [mm]"]) == pytest.approx((y.min(), y.max()), abs=0.006)
        crural, calcaneal = (np.rad2deg(run.limits[name].angle) for name in ("talocrural", "talocalcaneal"))
        assert row["plantarflexion [deg]"] == pytest.approx(-crural.min(), abs=0.006)
        assert row["inversion [deg]"] == pytest.approx(calcaneal.max(), abs=0.006)
        assert row["eversion [deg]"] == pytest.approx(max(-calcaneal.min(), 0.0), abs=0.006)


@pytest.mark.slow
def test_data_of_all_runs(swept):
    with xarray.open_dataset(swept[0] / "other_feet.nc") as data:
        assert dict(data.sizes) == {"case": 8, "time": 101, "axis": 3}
        assert data.r.units == "m" and data.link_length.units == "m" and "left foot" in data.model
        assert np.isnan(data.link_length[:2]).all() and float(data.subtalar_inclination_deg[-1]) == 60.0
        y = 1e3 * data.r[-1, :, 1]
        assert float(y.max() - y.min()) == pytest.approx(records(swept[1], "other feet")[-1]["y range [mm]"], abs=0.006)


def test_one_foot_without_a_varied_value(tmp_path, without_figures):
    report = study.ankle(tmp_path, quiet, t_end=0.2, side="right")
    assert len(records(report, "other feet")) == 2
    assert report.answer.count("from side to side") == 2


@pytest.mark.parametrize(
    "text, found", [("30", (30.0,)), ("30, 42,-1.5", (30.0, 42.0, -1.5)), ("20:60:3", (20.0, 40.0, 60.0))]
)
def test_values_of_an_option(text, found):
    assert sweep.numbers("link_lengths", text) == found


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(link_lengths="0.03,x"), "link_lengths = '0.03,x'; give numbers"),
        (dict(link_lengths="0.03,inf"), "link_lengths = '0.03,inf'; give numbers"),
        (dict(link_lengths="0.03,0.03"), "give each value once"),
        (dict(link_lengths="0.03:0.05"), "give FIRST:LAST:COUNT"),
        (
            dict(subtalar_inclination="30:60:30", subtalar_deviation="10:40:30"),
            "1800 combinations of the values, limit 500",
        ),
        (dict(subtalar_inclination="30,80"), "80 degrees is outside 20.5 to 68.5 degrees"),
        (dict(limits="hard"), "limits = 'hard'; use none, elastic, dissipative"),
        (dict(side="up"), "side = 'up'; use 'right' or 'left'"),
    ],
)
def test_refused_options(tmp_path, options, message):
    assert_refused(message, study.ankle, tmp_path, quiet, t_end=0.1, **options)
