"""Tables and reports as text and as files."""

import json
from pathlib import Path

import numpy as np

from runtime.report import Report, Table, write_report
from runtime.report.tables import json_text, text


def test_markdown_escapes_bars_and_line_breaks():
    lines = Table("norms", ["joint", "max |Phi|"], [["a|b", 1.0], ["c\nd", None]]).markdown().splitlines()
    assert lines[2] == r"| joint | max \|Phi\| |"
    assert lines[3] == "|---|---|"
    assert lines[4] == r"| a\|b | 1 |" and lines[5] == "| c d | - |"


def test_json_has_no_numbers_that_are_none():
    values = [float("nan"), float("inf"), -np.inf, np.float64(1.5), np.arange(2), True, None, Path("a"), "b", 3]
    text = json_text({"row": values, 1: (np.nan,)})

    def refuse(constant):
        raise AssertionError(constant)

    found = json.loads(text, parse_constant=refuse)
    assert found == {"row": [None, None, None, 1.5, [0, 1], True, None, "a", "b", 3], "1": [None]}


def test_the_summary_of_a_report_is_json(tmp_path):
    write_report(Report("t", [Table("a", ["x"], [[np.nan], [2.0]])]), tmp_path, pdf=False)
    assert "NaN" not in (tmp_path / "summary.json").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["tables"]["a"] == [
        {"x": None},
        {"x": 2.0},
    ]


def test_a_negative_zero_is_a_zero():
    assert [text(value) for value in (-0.0, round(-1e-17, 3), 0.0, -0.5)] == ["0", "0", "0", "-0.5"]
