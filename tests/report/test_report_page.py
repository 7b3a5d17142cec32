"""Reports as pages: complete in one file, sorted by a click, printed as PDF; what is missing is named."""

import re
from html import unescape
from shutil import which
from subprocess import run

import pytest

from models.papers import PAPERS
from runtime.figures import FigureFormat
from runtime.report import Report, Table, figure_files, plots, printing, write_report
from runtime.report.figure_files import Drawing, FigureFiles
from runtime.results.seen import Seen
from runtime.version import CITATION, __version__
from tests.support.browser import in_browser
from tests.support.paths import ROOT

ROWS = [["b", 10.0, None], ["a", 9.5, 1.0], ["<c>", 100.0, 2.0]]


def made(folder, monkeypatch, *, formats=("svg", "png"), dpi=150, pdf=False, **more):
    """A report with a figure and two tables, written by the command."""
    monkeypatch.setattr("sys.argv", ["/usr/bin/talus", "study", "--out", "a folder"])
    figures = FigureFiles(folder, FigureFormat(formats, dpi))
    figures.add(
        {
            "line": Drawing(
                lambda: plots.curves({"a": ([0, 1], [0, 1])}, "x", "y"), "A line <b>.", "Author (2020), Fig. 1"
            )
        }
    )
    report = Report(
        "A & B", [Table("first", ["name", "value [m]", "other"], ROWS, "A <note>."), Table("second", [], [])]
    )
    report.answer, report.cite, report.head = "B is <10.", ["Author (2020)."], {"subject": "<x>"}
    for name, value in more.items():
        setattr(report, name, value)
    write_report(report, folder, figures=figures, pdf=pdf)
    return report, (folder / "report.html").read_text(encoding="utf-8")


def test_everything_is_in_the_page(tmp_path, monkeypatch):
    report, page = made(tmp_path, monkeypatch, failures=["run <1> failed."])
    shown = unescape(page)
    for text in (
        "A & B", "B is <10.", "run <1> failed.", "A <note>.", "A line <b>.", "Corresponds to Author (2020), Fig. 1.",
        "Author (2020).", "<x>", CITATION, f"Talus {__version__}", "talus study --out 'a folder'", "numpy",
    ):  # fmt: skip
        assert text in shown, text
    for raw in ("A & B", "<10", "<1>", "<note>", "line <b>", "<x>", "<c>"):
        assert raw not in page
    assert [table.title for table in report.tables] == ["first", "second", "figures"]
    assert not re.findall(r'(?:src|href)="(?!data:)[^"]*"', page)  # nothing but what the page contains
    assert report.files[-2:] == [tmp_path / "report.html", tmp_path / "summary.json"]


def test_the_smaller_picture_is_embedded_whatever_the_formats(tmp_path, monkeypatch):
    _, page = made(tmp_path, monkeypatch, formats=("png", "svg"))
    smaller = min((tmp_path / "line.png", tmp_path / "line.svg"), key=lambda file: file.stat().st_size)
    assert re.findall(r'src="data:image/([a-z]+)', page) == [{".png": "png", ".svg": "svg"}[smaller.suffix]]
    (tmp_path / "pdf").mkdir()
    report, page = made(tmp_path / "pdf", monkeypatch, formats=("pdf",))  # which pages do not show
    assert re.findall(r'src="data:image/([a-z]+)', page) == ["png"]
    assert [file.name for file in report.figures[0].files] == ["line.pdf", "line.png"]


def test_a_picture_has_the_same_size_in_a_page_whatever_its_dots(tmp_path, monkeypatch):
    widths = []
    for dpi in (100, 150, 300):
        (tmp_path / str(dpi)).mkdir()
        _, page = made(tmp_path / str(dpi), monkeypatch, formats=("png",), dpi=dpi)
        widths += re.findall(r'<img src="data:image/png[^"]*" width="(\d+)"', page)
    assert widths == ["672"] * 3  # 7 inches of 96 pixels


def test_a_missing_library_is_named_with_its_command(tmp_path, monkeypatch):
    monkeypatch.setattr(printing, "browser", lambda: None)
    monkeypatch.setattr(printing, "find_spec", lambda name: None)
    report, _ = made(tmp_path, monkeypatch, pdf=True)
    (sentence,) = report.not_written
    assert sentence.startswith("report.pdf was not written") and "talus-multibody[pdf]" in sentence
    assert report.data()["not written"] == [sentence]


def test_a_motion_without_viser_is_named_with_its_command(tmp_path, monkeypatch):
    monkeypatch.setattr(figure_files, "find_spec", lambda name: None)
    figures, report = FigureFiles(tmp_path), Report("t", [Table("a", ["x"], [[1.0]])])
    figures.add_motion(Seen())
    write_report(report, tmp_path, figures=figures, pdf=False)
    assert report.motion is None and "pip install 'talus-multibody[view]'" in report.not_written[0]


def test_papers_are_those_of_the_citation_file():
    stated = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"doi: (\S+)", stated) == [
        doi for text in PAPERS.values() for doi in re.findall(r"doi (\S+);", text)
    ]
    for text in PAPERS.values():
        title = text.split(": ", 1)[1]
        assert any(title.startswith(line) for line in re.findall(r'title: "(.*)"', stated)), title
    assert __version__ in stated


@in_browser
def test_a_click_on_a_column_sorts_its_rows(tmp_path, monkeypatch, open_page):
    made(tmp_path, monkeypatch)
    page = open_page(tmp_path / "report.html")
    table = page.locator("table").first

    def names():
        return table.locator("tbody tr td:first-child").all_inner_texts()

    assert names() == ["b", "a", "<c>"]
    for column, orders in ((1, [["a", "b", "<c>"], ["<c>", "b", "a"]]), (2, [["a", "<c>", "b"], ["<c>", "a", "b"]])):
        for order in orders:
            table.locator("th button").nth(column).click()
            assert names() == order


@in_browser
def test_a_motion_is_shown_in_the_page(tmp_path, open_page):
    (tmp_path / "motion.html").write_text("<p>it moves</p>", encoding="utf-8")
    figures = FigureFiles(tmp_path)
    figures.motion = tmp_path / "motion.html"
    write_report(Report("t", [Table("a", ["x"], [[1.0]])]), tmp_path, figures=figures, pdf=False)
    page = open_page(tmp_path / "report.html")
    assert page.frame_locator("iframe").locator("p").inner_text() == "it moves"


@in_browser
def test_a_report_is_printed(tmp_path, monkeypatch):
    report, _ = made(tmp_path, monkeypatch, pdf=True)
    assert not report.not_written
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
    monkeypatch.setattr(printing, "browser", lambda: "/bin/false")
    (tmp_path / "other").mkdir()
    report, _ = made(tmp_path / "other", monkeypatch, pdf=True)
    assert "report.pdf was not written" in report.not_written[0] and "exit code 1" in report.not_written[0]


@in_browser
@pytest.mark.skipif(which("pdftotext") is None, reason="needs pdftotext")
def test_the_head_of_a_long_table_is_printed_on_each_page(tmp_path):
    rows = [[float(n), "a"] for n in range(150)]
    write_report(Report("t", [Table("a", ["heading", "other"], rows)]), tmp_path)
    text = run(["pdftotext", "-layout", str(tmp_path / "report.pdf"), "-"], capture_output=True, text=True, check=True)
    assert text.stdout.count("heading") >= text.stdout.count("\f") - 1 > 1  # the last page may be that of the citation
