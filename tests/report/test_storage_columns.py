"""OpenSim storage: titles, names and values that do not fit the format or one another are refused."""

import numpy as np
import pytest

import models
from models.files.storage import text_lines
from runtime import ModelError, simulate
from runtime.results import write_storage
from runtime.results.storage_columns import one_line

T = np.linspace(0.0, 1.0, 5)
GOOD = np.column_stack([T, T**2])
BAD = {
    "more columns than names": (dict(values=np.column_stack([T, T, T])), r"shape \(5, 3\) for 2 names; give \(n, 2\)"),
    "more names than columns": (dict(names=["time", "a", "b"]), r"shape \(5, 2\) for 3 names; give \(n, 3\)"),
    "one row without columns": (dict(values=T), r"shape \(5,\)"),
    "numbers in three dimensions": (dict(values=np.ones((5, 2, 1))), r"shape \(5, 2, 1\)"),
    "a line break in the title": (dict(title="a\nb"), "title = 'a\\\\nb'; give one line"),
    "another line break": (dict(title="a\u2028b"), "give one line"),
    "a tab in the title": (dict(title="a\tb"), "give one line"),
    "no title": (dict(title=" "), "give one line"),
    "a title that ends the header": (dict(title="EndHeader"), "other than 'endheader'"),
    "a title that is no text": (dict(title=3), "title = 3: give text"),
    "a line break in a name": (dict(names=["time", "a\nb"]), "is empty or holds a tab or line break"),
    "a tab in a name": (dict(names=["time", "a\tb"]), "is empty or holds a tab or line break"),
    "an empty name": (dict(names=["time", ""]), "is empty or holds"),
    "names twice": (dict(names=["time", "a", "a"], values=np.column_stack([T, T, T])), "'a' occurs more than once"),
    "no time": (dict(names=["t", "a"]), "the first column is 't'; it must be 'time'"),
    "no names": (dict(names=[]), "the first column is 'none'"),
    "names that are one text": (dict(names="time"), "names = 'time': give a sequence of texts"),
    "names that are no text": (dict(names=["time", 3]), "item 1 = 3; give a sequence of texts"),
    "words": (dict(values=np.array([["0", "a"]])), "give an array of numbers"),
    "complex numbers": (dict(values=GOOD * 1j), "holds complex numbers; give an array of numbers"),
    "times as dates": (dict(values=GOOD.astype("timedelta64[s]")), "holds a duration with a unit of its own"),
    "masked values": (dict(values=np.ma.masked_less(GOOD, 0.5)), "has masked elements; fill them with filled()"),
    "no number as a time": (dict(values=GOOD + [[np.nan, 0.0]] * 5), "the time of row 1 is nan"),
    "a time that is infinite": (dict(
        values=np.vstack([GOOD, [np.inf, 0.0]])), "the time of row 6 is inf"),
    "times that go back": (dict(values=GOOD[::-1]), "the time of row 2 is 0.75"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_refused(tmp_path, name):
    changes, match = BAD[name]
    with pytest.raises(ModelError, match=match) as error:
        write_storage(tmp_path / "a.sto", **dict(title="t", names=["time", "a"], values=GOOD) | changes)
    assert str(error.value).startswith(("a.sto: ", "write_storage: ")) and len(str(error.value).splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_header_and_rows_agree(tmp_path):
    values = GOOD.copy()
    values[2, 1] = np.nan
    file = write_storage(tmp_path / "a.mot", "Gelenk, Übung", ["time", "Knöchel [°]"], values, in_degrees=True)
    lines = text_lines(file)
    assert lines[:7] == [
        "Gelenk, Übung", "version=1", "nRows=5", "nColumns=2", "inDegrees=yes", "endheader", "time\tKnöchel [°]",
    ]  # fmt: skip
    read = np.array([[float(x) for x in line.split("\t")] for line in lines[7:]])
    assert np.array_equal(read, values, equal_nan=True)


def test_names_of_files_and_systems_make_titles(tmp_path):
    for given, made in (("walk\n2.c3d", "walk 2.c3d"), ("endheader", "title endheader"), ("\n", "title"), ("a", "a")):
        assert one_line(given) == made
        write_storage(tmp_path / "a.sto", one_line(given), ["time", "a"], GOOD, overwrite=True)
    run = simulate(models.pendulum.build(), 0.01)
    lines = text_lines(run.to_sto(tmp_path / "run.sto"))
    columns = int(next(line for line in lines if line.startswith("nColumns")).split("=")[1])
    assert {len(line.split("\t")) for line in lines[6:]} == {columns}
