"""Messages about names that do not exist."""

from __future__ import annotations

from runtime.support.errors import LONGEST, MOST_NAMES, QUOTED, ModelError, unknown_name

NAMES = [f"{part}.body_{k}" for part in ("mass", "inertia", "damping") for k in range(MOST_NAMES)]


def test_of_many_names_the_first_ones_are_listed():
    for name, guess in (("xyz", ";"), ("mas.body_7", "; did you mean 'mass.body_7'?")):
        text = str(unknown_name(name, NAMES, "quantity", "quantities"))
        assert text.startswith(f"unknown quantity '{name}'{guess} the quantities are mass.body_0, ")
        assert text.endswith(f" and {len(NAMES) - MOST_NAMES} more")


def test_a_long_quotation_is_shortened_and_the_remedy_stays():
    line = ";".join(f"R_{k}_x" for k in range(200))
    for mark in "'\"":
        said = str(
            ModelError(f"a.csv: its first column is {mark}{line}{mark}; give the column 'time', not the folder's")
        )
        assert said.startswith(f"a.csv: its first column is {mark}R_0_x;") and len(said) < QUOTED + 90
        assert said.endswith(f"R_199_x{mark}; give the column 'time', not the folder's")


def test_a_list_without_end_is_cut_in_its_middle():
    said = str(ModelError(f"'a' has the columns {', '.join(map(str, range(5000)))}; name one"))
    assert len(said) <= LONGEST and said.startswith("'a' has the columns 0, 1") and said.endswith("4999; name one")
