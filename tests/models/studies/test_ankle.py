"""The command ``talus ankle``: files, and tables that agree with the runs."""

import json
from dataclasses import replace

import pytest
import xarray

import models
from models.studies import measures
from models.studies.ankle import runs, study, tables
from runtime import simulate
from tests.package.test_table_widths import check_report
from tests.support.reports import check_figures, quiet, records, spoiling

slow = pytest.mark.slow


@slow
@pytest.mark.long
def test_every_figure_table_and_file_is_written(ankle, monkeypatch):
    folder, report, faults = ankle
    assert report.failures == []
    check_figures(folder, records(report, "figures"))
    assert faults == {}
    check_report(report, monkeypatch)
    assert all(file.is_file() for file in report.files)
    summary = json.loads((folder / "summary.json").read_text())
    assert list(summary["tables"]) == [
        "motion", "anatomical limits", "published limits", "dissipation", "cost", "rest", "link length", "figures",
    ]  # fmt: skip


@slow
def test_the_energy_that_the_answer_names_is_that_of_the_table(ankle):
    _, report, _ = ankle
    (row,) = [row for row in records(report, "motion") if row[""] == "energy drift [J]"]
    drifts = [value for key, value in row.items() if key]
    assert f"keep their energy to {max(drifts):.4g} J" in report.answer


@slow
def test_tables_agree_with_the_runs(ankle, short):
    folder, report, _ = ankle
    rows = {(row["joint"], row["case"]): row for row in records(report, "published limits")}
    for name in runs.ANKLES:
        for case in runs.LIMITED:
            with xarray.open_dataset(folder / "published" / f"{name}_{case}.nc") as data:
                y = 1000 * data.r.sel(body="main_foot", axis="y").values
            assert rows[name, case]["y end [mm]"] == pytest.approx(y[-1], abs=0.006)
            assert rows[name, case]["y max [mm]"] == pytest.approx(y.max(), abs=0.05)
    system = models.foot.build("modified", limits="dissipative", preset="published")
    again = simulate(system, short, t_eval=measures.times(short), rtol=1e-10, atol=1e-10)
    (row,) = [r for r in records(report, "dissipation") if (r["preset"], r["joint"]) == ("published", "modified")]
    assert row["limit reached [s]"] == pytest.approx(measures.excursions(again, "talocrural")[0][0], abs=1e-6)
    assert row["damping [N m s]"] == 0.284
    cost = {(r["joint"], r["case"], r["preset"], r["method"]): r["evaluations"] for r in records(report, "cost")}
    assert (
        cost["modified", "dissipative", "published", "dop853"]
        == simulate(system, short, rtol=1e-10, atol=1e-10, coordinates=measures.EQUATIONS).stats.evaluations
    )


@slow
@pytest.mark.parametrize("lost", [{"motion", "anatomical limits", "published limits", "dissipation"}, {"cost", "rest"}])
def test_a_failed_run_is_named_and_its_comparison_left_out(tmp_path, without_figures, monkeypatch, lost):
    if "cost" in lost:
        spoilt = spoiling(lambda *given: vars(runs.cost_runs(*given)), ["rests", "published", "modified"])
        monkeypatch.setattr(study, "cost_runs", lambda *given: runs.CostRuns(**spoilt(*given)))
    else:
        monkeypatch.setattr(study, "_free_runs", spoiling(study._free_runs, ["modified universal joint"]))
    report = study.ankle(tmp_path, quiet, t_end=0.05)
    (failure,) = report.failures
    assert failure.startswith("published, modified, until rest" if "cost" in lost else "modified universal joint")
    everything = {"motion", "anatomical limits", "published limits", "dissipation", "cost", "rest", "link length"}
    assert everything - {table.title for table in report.tables} == lost
    assert ("function evaluations" in report.answer) == ("cost" not in lost)
    assert ("the foot moves" in report.answer) == ("cost" in lost)


@slow
def test_a_failed_run_of_one_preset_leaves_the_other(tmp_path, without_figures, monkeypatch):
    def failing(preset, *given):
        made = motions(preset, *given)
        return (
            replace(made, runs=spoiling(lambda: made.runs, ["classical", "elastic"])())
            if preset == "published"
            else made
        )

    motions = runs.motions
    monkeypatch.setattr(study, "motions", failing)
    report = study.ankle(tmp_path, quiet, t_end=0.05)
    (failure,) = report.failures
    assert failure.startswith("published, classical universal joint, elastic: ")
    titles = [table.title for table in report.tables]
    assert "anatomical limits" in titles and "published limits" not in titles and "dissipation" not in titles


def test_the_text_on_dissipation_follows_the_numbers():
    assert "earlier with the modified joint" in tables.earlier({"classical": 0.72, "modified": 0.42})
    assert "earlier with the classical joint" in tables.earlier({"classical": 0.42, "modified": 0.72})
    assert "at the same time" in tables.earlier({"classical": 0.88, "modified": 0.89})
    assert "not within the run with the classical" in tables.earlier({"classical": None, "modified": 0.42})
