"""Messages about names that do not exist."""

from __future__ import annotations

from runtime.support.errors import MOST_ALIKE, MOST_NAMES, unknown_name

NAMES = [f"{part}.body_{k}" for part in ("mass", "inertia", "damping") for k in range(MOST_NAMES)]


def test_of_many_names_those_like_the_meant_one_are_listed():
    text = str(unknown_name("mas.body_7", NAMES, "quantity", "quantities"))
    start, alike = text.split(" most alike are ")
    assert start == f"unknown quantity 'mas.body_7'; did you mean 'mass.body_7'? of the {len(NAMES)} quantities the"
    assert alike.startswith("mass.body_7, ")
    assert len(alike.split(", ")) == MOST_ALIKE


def test_of_many_names_the_first_ones_are_listed_where_none_is_near():
    text = str(unknown_name("xyz", NAMES, "quantity", "quantities"))
    assert text.startswith("unknown quantity 'xyz'; the quantities are mass.body_0, ")
    assert text.endswith(f" and {len(NAMES) - MOST_NAMES} more")
