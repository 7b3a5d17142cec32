"""Access to the reports of studies."""

import re
from dataclasses import replace

from runtime import Status


def quiet(line):
    """Discard what a study reports about its progress."""


def spoiling(function, keys):
    """The function, of whose runs in nested dictionaries the one at these keys has failed."""

    def failing(*given, **options):
        made = function(*given, **options)
        runs = made
        for key in keys[:-1]:
            runs = runs[key]
        runs[keys[-1]] = replace(runs[keys[-1]], status=Status.STEP_TOO_SMALL)
        return made

    return failing


def table(report, title):
    """The table with this title."""
    (found,) = [each for each in report.tables if each.title == title]
    return found


def records(report, title):
    """Rows of the table with this title, as dictionaries."""
    return table(report, title).records()


def check_figures(folder, rows):
    """The table of figures lists exactly the figures written; names and sentences say what is shown."""
    assert sorted(row["file"] for row in rows) == sorted(
        f.relative_to(folder).as_posix() for f in folder.rglob("*.png")
    )
    for row in rows:
        assert (folder / row["file"]).stat().st_size > 10_000, row["file"]
        assert not re.search(r"fig_?[0-9]|[12][09][0-9]{2}", row["file"]), row["file"]
        assert re.fullmatch(r"[A-Z].{20,}\.", row["shows"]), row["shows"]
        assert row["corresponds to"] is None or re.match(r".+ \((20\d\d[a-c]?|n\.d\.)\), Fig", row["corresponds to"])
