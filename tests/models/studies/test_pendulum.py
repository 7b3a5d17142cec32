"""The command ``talus pendulum``: files, tables that agree with runs, and the law of the restricting moment."""

import numpy as np
import pytest

import models
from models.studies import measures
from models.studies import pendulum as study
from runtime import simulate
from tests.support.reports import check_figures, quiet, records, spoiling


@pytest.mark.slow
def test_every_figure_and_table_is_written(pendulum):
    folder, report, faults = pendulum
    assert report.failures == []
    check_figures(folder, records(report, "figures"))
    assert faults == {}
    titles = [table.title for table in report.tables]
    assert titles == ["cases", "cost", "study of compliance", "study of maximum moment", "study of damping", "figures"]
    assert [row[""] for row in records(report, "study of compliance")] == ["1.5°", "6.5°", "11.5°", "16.5°", "21.5°"]


@pytest.mark.slow
def test_tables_agree_with_the_runs(pendulum, short):
    _, report, _ = pendulum
    rows = {row[""]: row for row in records(report, "study of maximum moment")}
    for moment in study.MAX_MOMENTS:
        run = simulate(models.pendulum.build(limits="elastic", max_moment=moment), short, t_eval=measures.times(short))
        row = rows[f"{moment:g} N m"]
        assert row["elastic moment [N m]"] == pytest.approx(run.limits["pivot"].restricting_moment.max(), rel=1e-5)
        assert row["first outside [s]"] == pytest.approx(0.349, abs=1e-3)
    (reference,) = [row for row in records(report, "cases") if row[""] == "elastic"]
    assert reference["elastic moment [N m]"] == rows["226 N m"]["elastic moment [N m]"]


@pytest.mark.parametrize(
    "group, keys, lost",
    [
        ("cases", ["elastic"], "cases"),
        ("studies", ["max_moment", "226 N m"], "study of maximum moment"),
        ("evaluations", ["free", "BDF"], "cost"),
    ],
)
def test_a_failed_run_is_named_and_its_comparison_left_out(tmp_path, without_figures, monkeypatch, group, keys, lost):
    monkeypatch.setattr(study, group, spoiling(getattr(study, group), keys))
    report = study.study(tmp_path, quiet, t_end=0.02)
    (failure,) = report.failures
    assert all(key in failure for key in keys)
    titles = {"cases", "cost", "study of compliance", "study of maximum moment", "study of damping"}
    assert titles - {table.title for table in report.tables} == {lost}
    assert bool(report.answer) == (lost != "cases")


def test_the_curve_of_the_law_is_the_cubic_of_the_paper():
    excess, moment = study.law_curve(models.pendulum.COMPLIANCE, models.pendulum.MAX_MOMENT)
    x = np.clip(np.deg2rad(excess) / models.pendulum.COMPLIANCE, 0.0, 1.0)
    assert excess.max() > 11.5
    assert moment == pytest.approx(models.pendulum.MAX_MOMENT * (3 * x**2 - 2 * x**3), abs=1e-6)
