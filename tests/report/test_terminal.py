"""Tables in terminals of any width: numbers stay whole."""

import re

import pytest

from runtime.report import Table, terminal
from tests.support import terminals


@pytest.fixture
def printed(monkeypatch):
    return lambda table, width: terminals.printed(monkeypatch, width, terminal.show, table)


NAME = "a_body_with_a_name_without_end"
COLUMNS = ["body", "what [N m]", "largest error [N m]", "time [ms]"]
ROWS = [[NAME, "moment about the axis", 1.2345678e-13, 1234.5], [NAME, "force", None, 0.5]]


def test_numbers_are_not_broken_and_words_last(printed):
    table = Table("numbers", COLUMNS, ROWS, "A note.")
    for width in (120, 70, 45):
        shown = printed(table, width)
        assert max(len(line) for line in shown.splitlines()) <= width
        numbers = {"1.235e-13", "[N\u00a0m]"} | ({"1234", "0.5"} if width > 45 else set())
        assert numbers <= set(re.split("[ \n]", shown))
        assert ("too narrow for time [ms]" in shown) == (width == 45)
        assert (NAME in shown) == (width > 45)  # longer than the longest word that is not broken
        assert shown.strip().endswith("A note.")


WORDS = ["classical", "dissipative", "metatarsophalangeal", "plantarflexion"]


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_words_are_not_broken_while_there_are_columns_to_leave_out(printed, width):
    table = Table("words", [f"{word} [deg]" for word in WORDS] * 2, [WORDS * 2, WORDS[::-1] * 2])
    shown = set(printed(table, width).split())
    assert {"metatarsophalangeal", "classical", "dissipative"} <= shown
    assert all(
        any(part == word for word in [*WORDS, "[deg]"])
        for part in shown
        if part[:4] in ("clas", "diss", "meta", "plan")
    )


def test_columns_that_do_not_fit_are_left_out_and_named(printed):
    shown = printed(Table("many", [f"x_{k} [mm]" for k in range(12)], [[k + 0.123 for k in range(12)]]), 60)
    assert max(len(line) for line in shown.splitlines()) <= 60
    assert "0.123" in shown and "11.12" not in shown
    assert "x_11 [mm]; the files contain all columns." in " ".join(shown.split())


def test_a_narrow_terminal_shows_the_brief_form(printed):
    table = Table("numbers", COLUMNS, ROWS, brief=["body", "time [ms]"])
    assert "moment" in printed(table, 120) and "narrow" not in printed(table, 120)
    shown = printed(table, 50)
    assert "moment" not in shown and NAME in shown and "1234" in shown
    notice = "The terminal is too narrow for what [N m], largest error [N m]; the files contain all columns."
    assert notice in " ".join(shown.split())
    assert all(column in table.markdown() for column in COLUMNS)
