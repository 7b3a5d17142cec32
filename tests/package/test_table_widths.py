"""Every table of every verb at 60, 80, 100 and 120 columns: no broken word, no folded number, no line beyond the width."""

import io
import re

import pytest

import runtime.cli
from runtime.report import figure_files, printing, terminal
from runtime.report.tables import text
from tests.support.gait_files import laboratory

WIDTHS = (60, 80, 100, 120)
QUICK = (
    "info foot --set limits=dissipative", "info foot_ground", "info four_bar --set joints=revolute", "info gait",
    "info hooke_shaft", "info double_pendulum", "simulate foot --set limits=elastic --t-end 0.2",
    "simulate foot_ground --t-end 0.1", "doctor", "warm free_body", "pendulum --t-end 0.2",
)  # fmt: skip
SLOW = ("ankle --t-end 0.2", "drop --t-end 0.2", "gait --contact")  # claims: in the tests of that study


@pytest.fixture
def reports_of(tmp_path, monkeypatch):
    """The reports that a call of the command shows."""
    monkeypatch.chdir(tmp_path)
    for name, nothing in (("add", None), ("add_motion", None), ("write", [])):  # files take most of the time
        monkeypatch.setattr(figure_files.FigureFiles, name, lambda *_, nothing=nothing, **__: nothing)
    monkeypatch.setattr(printing, "missing", lambda: "not in this test")

    def call(*arguments):
        shown = []
        monkeypatch.setattr(terminal, "show_report", lambda report, **_: shown.append(report))
        monkeypatch.setattr("sys.argv", ["talus", *arguments])
        with pytest.raises(SystemExit) as stop:
            runtime.cli.main()
        monkeypatch.undo()
        assert not stop.value.code and shown
        return shown

    return call


def printed(monkeypatch, width, show, *given, **more):
    """What a function prints on a terminal of this width."""
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "out_console", terminal.plain_console(file=stream, width=width))
    show(*given, **more)
    return stream.getvalue()


def parts(value):
    """Words and numbers of a text; those beyond the longest word that is kept whole are left out."""
    return [word for word in value.split() if len(word) <= terminal.LONGEST_WORD]


def left_out(columns, shown):
    """The columns that the notice of a narrow terminal names."""
    notice = re.search(r"too narrow for (.*?); (?:the files|--json)", " ".join(shown.split()))
    rest, found = notice[1] if notice else "", []
    for column in columns:
        name = " ".join(column.split())
        if rest == name or rest.startswith(f"{name}, "):
            found.append(column)
            rest = rest[len(name) + 2 :]
    assert not rest
    return found


def check_table(table, shown, width):
    missing = left_out(table.columns, shown)
    columns = [column for column in table.columns if column not in missing]
    assert columns, table.title
    words = set(shown.split())
    where = f"{table.title}, {width} columns"
    for record in table.records():
        for column in columns:
            broken = set(parts(text(record[column]))) - words
            assert not broken, f"{where}, {column}: {broken}\n{shown}"
    for column in columns:
        assert set(parts(column)) <= words, f"{where}: heading {column}\n{shown}"


def check_report(report, monkeypatch):
    sentences = re.findall(r"\.(?=\s|$)", report.answer)
    assert report.answer and len(sentences) <= 3, report.answer
    for width in WIDTHS:
        for full in (False, True):
            whole = printed(monkeypatch, width, terminal.show_report, report, full=full)
            assert max(map(len, whole.splitlines())) <= width
        assert whole.startswith(report.answer.split()[0])
        for table in report.tables:
            check_table(table, printed(monkeypatch, width, terminal.show, table), width)


@pytest.mark.parametrize("call", [*QUICK, *(pytest.param(call, marks=pytest.mark.slow) for call in SLOW)])
def test_every_table_of_a_verb(call, reports_of, monkeypatch):
    for report in reports_of(*call.split()):
        check_report(report, monkeypatch)


@pytest.mark.slow
def test_every_table_of_recorded_trials(reports_of, monkeypatch, tmp_path):
    (report,) = reports_of("gait", *map(str, laboratory(tmp_path)))
    check_report(report, monkeypatch)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_of_models(width, monkeypatch, capsys):
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "out_console", terminal.plain_console(file=stream, width=width))
    monkeypatch.setattr("sys.argv", ["talus", "models"])
    with pytest.raises(SystemExit):
        runtime.cli.main()
    assert max(map(len, stream.getvalue().splitlines())) <= width
    assert {"independent", "ellipsoid's", "jacobi's"} & set(stream.getvalue().lower().split())
