"""Names and labels of files act in no spreadsheet, terminal, page, summary or figure."""

import csv
import io
import json

import numpy as np
import pytest

from runtime.figures import FigureFormat, panels
from runtime.report import Report, Table, terminal
from runtime.report.report_page import write_page
from runtime.report.tables import write_csv
from runtime.results import write_columns
from runtime.support.cells import cell
from runtime.view import Scene, write

FORMULAS = [
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "\r=1", "\n=1", "＝1+1", "\u200b=1", "\ufeff=1",
]  # fmt: skip
HARMLESS = ["", "a", "a=1", "-1.5e3", "+7", "-inf", "nan", "2-3", 1, -1.5, None, True, "a\nb", "ö"]
ACTING = "a\x1b[31m\x07\x9b2J\x7f\x00\u202eb\u2028"


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_is_a_formula_begins_with_an_apostrophe_or_an_escape(tmp_path, text):
    assert cell(text)[0] in "'\\"
    write_columns(tmp_path / "c.csv", ["time", text], np.ones((2, 2)))
    write_csv(tmp_path / "t.csv", [text], [[text]])
    for name in ("c.csv", "t.csv"):
        with (tmp_path / name).open(newline="", encoding="utf-8") as stream:
            assert cell(text) in next(csv.reader(stream))


@pytest.mark.parametrize("value", HARMLESS)
def test_other_values_of_cells_stay(value):
    assert cell(value) is value or cell(value) == value


def test_control_characters_reach_no_terminal_page_or_summary(monkeypatch, tmp_path):
    stream = io.StringIO()
    console = terminal.plain_console(file=stream, width=200, force_terminal=False)
    monkeypatch.setattr(terminal, "out_console", console)
    report = Report(ACTING, [Table(ACTING, [ACTING], [[ACTING]], ACTING)], answer=ACTING)
    terminal.show_report(report)
    texts = [stream.getvalue(), report.markdown(), write_page(report, tmp_path).read_text(encoding="utf-8")]
    for text in texts:
        assert "\\x1b[31m" in text and not set(text) & set("\x1b\x07\x9b\x7f\x00\u202e\u2028")


def test_names_are_no_elements_of_a_summary():
    text = Report("<!-- a", [Table("<b", ["<script>"], [["x < y </p>"]], "<?")], answer="<a").markdown()
    assert r"\<!-- a" in text and r"\<script>" in text and r"x < y \</p>" in text and r"\<b" in text and r"\<?" in text


def test_dollars_in_names_begin_no_formula(tmp_path):
    fig, axes = panels.figure(1, 1)
    axes[0, 0].semilogy([1.0, 1e4], [1.0, 1e6], label="$\\nonsense$")
    axes[0, 0].set_title("$\\frac{$")
    panels.legend(fig, axes[0, 0])
    (file,) = panels.save(fig, tmp_path, "f", FigureFormat(("svg",)))
    assert "nonsense" in file.read_text(encoding="utf-8")


def test_a_name_ends_no_script_of_a_page(tmp_path):
    pytest.importorskip("viser", reason="pages need the extra view")
    title, corner = "</script><!--<script>", np.ones(3)
    scene = Scene(title, np.array([0.0, 1.0]), (), (), (), (), -corner, corner, -1.0)
    text = write(scene, tmp_path / "a.html").read_text(encoding="utf-8").partition("window.TALUS=")[2]
    own = text.partition(";\n")[0]
    assert "<" not in own and json.loads(own)["title"] == title
