"""Every table of every verb at 60, 80, 100 and 120 columns: no broken word, no folded number, no line beyond the width."""

import re

import pytest

from runtime.report import terminal
from runtime.report.tables import text
from tests.support.gait_files import laboratory
from tests.support.terminals import printed

WIDTHS = (60, 80, 100, 120)
CALLS = (
    "info foot --set limits=dissipative", "info foot_ground", "info four_bar --set joints=revolute", "info gait",
    "info hooke_shaft", "info double_pendulum", "simulate foot --set limits=elastic --t-end 0.2",
    "simulate foot_ground --t-end 0.1", "doctor", "warm free_body", "pendulum --t-end 0.2",
)  # fmt: skip
# The tests of the other studies check their reports.


@pytest.fixture
def reports_of(command, without_figures, monkeypatch):
    """The reports that a call of the command shows."""

    def call(*arguments):
        shown = []
        with monkeypatch.context() as patch:
            patch.setattr(terminal, "show_report", lambda report, **_: shown.append(report))
            assert not command(*arguments).code and shown
        return shown

    return call


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


def check_width(shown, width):
    assert max(map(len, shown.splitlines())) <= width


def check_table(table, shown, width):
    check_width(shown, width)
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


def check_tables(tables, monkeypatch):
    for width in WIDTHS:
        for table in tables:
            check_table(table, printed(monkeypatch, width, terminal.show, table), width)


def check_report(report, monkeypatch):
    sentences = re.findall(r"\.(?=\s|$)", report.answer)
    assert report.answer and len(sentences) <= 3, report.answer
    for width in WIDTHS:
        whole = printed(monkeypatch, width, terminal.show_report, report)
        check_width(whole, width)
        assert whole.startswith(report.answer.split()[0])
    check_tables(report.tables, monkeypatch)


@pytest.mark.parametrize("call", CALLS)
def test_every_table_of_a_verb(call, reports_of, monkeypatch):
    for report in reports_of(*call.split()):
        check_report(report, monkeypatch)


@pytest.mark.slow
def test_every_table_of_recorded_trials(reports_of, monkeypatch, tmp_path):
    (report,) = reports_of("gait", *map(str, laboratory(tmp_path)))
    check_report(report, monkeypatch)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_of_models(width, command, monkeypatch):
    shown = printed(monkeypatch, width, command, "models")
    check_width(shown, width)
    assert {"independent", "ellipsoid's", "jacobi's"} & set(shown.lower().split())
