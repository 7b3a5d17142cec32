"""Targets beside those of an earlier commit: figures are paired by name, and what became slower is named.  Nothing is timed."""

from benchmarks.measure import BenchmarkError
from benchmarks.targets import against, foot, joints
from tests.support.refusals import refused_with


def test_figures_are_paired_and_slower_ones_are_named(monkeypatch):
    measured = {
        ("foot.speed", "here"): [("run", 2.0, "ms"), ("new", 1.0, "ms")],
        ("foot.speed", "earlier"): [("run", 1.0, "ms"), ("gone", 1.0, "ms")],
        ("joints.loops", "here"): [("loop", 1.0, "ms"), ("skipped", None, "ms")],
    }

    def of(name, root, environment, quick):
        rows = measured.get((name, "here" if root == against.ROOT else "earlier"))
        return rows and [{"what": what, "measured": value, "unit": unit} for what, value, unit in rows]

    monkeypatch.setattr(against, "_extract", lambda commit, folder: None)
    monkeypatch.setattr(against, "_measured", of)
    report = against.compare("abc", [foot.speed, joints.loops], quick=True, say=lambda line: None).report
    (table,) = report.tables
    assert [list(row) for row in table.rows] == [
        ["run", 2.0, 1.0, "ms", 2.0], ["new", 1.0, None, "ms", None], ["loop", 1.0, None, "ms", None],
    ]  # fmt: skip
    assert report.answer == "1 of 3 figures are more than 5 % above those of abc: run (2.00)."
    assert "Not measured: joints.loops of abc." in table.note


def test_a_commit_that_git_does_not_know_is_named(tmp_path):
    refused_with(
        BenchmarkError,
        "--against no-such: git has no such commit",
        against.compare,
        "no-such",
        [],
        quick=True,
        say=lambda line: None,
    )
