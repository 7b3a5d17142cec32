"""Files of figures: drawn here and in other processes, in the formats asked for."""

import os
import signal

import numpy as np
import pytest

from runtime.figures import FigureFormat
from runtime.report import plots
from runtime.report.figure_files import Drawing, FigureFiles
from runtime.support import beside
from tests.support.refusals import assert_refused

X = np.linspace(0.0, 1.0, 5)
HERE = os.getpid()


def curve():
    return plots.curves({"line": (X, X)}, "x", "y")


CURVE = Drawing(curve, "A line.", "Author (2020), Fig. 1")


def test_all_files_exist_in_the_order_in_which_they_were_added(tmp_path):
    figures = FigureFiles(tmp_path, FigureFormat(("svg", "png")))
    figures.add({f"figure {n}": CURVE for n in range(3)})
    figures.add({"last": Drawing(curve, "The last.")})
    files = [file for figure in figures.write() for file in figure.files]
    assert [file.name for file in files] == [
        f"{name}.{kind}" for name in ("figure 0", "figure 1", "figure 2", "last") for kind in ("svg", "png")
    ]
    assert all(file.stat().st_size > 1000 for file in files)
    records = figures.table().records()
    assert [record["file"] for record in records] == ["figure 0.svg", "figure 1.svg", "figure 2.svg", "last.svg"]
    assert records[2]["shows"] == "A line." and records[2]["corresponds to"] == "Author (2020), Fig. 1"
    assert records[3]["corresponds to"] is None
    assert_refused("'last' is added twice", figures.add, {"last": CURVE})


def test_one_process_writes_what_several_write(tmp_path, monkeypatch):
    def drawn(folder):
        folder.mkdir()
        figures = FigureFiles(folder)
        figures.add({"a": CURVE, "b": CURVE})
        return [file.read_bytes() for figure in figures.write() for file in figure.files]

    several = drawn(tmp_path / "several")
    monkeypatch.setattr(beside, "cores", lambda: 1)
    assert drawn(tmp_path / "one") == several


def test_an_error_of_another_process_is_raised_here(tmp_path):
    def fails():
        raise ValueError("no data")

    figures = FigureFiles(tmp_path)
    figures.add({"first": Drawing(fails, ""), "second": CURVE})
    with pytest.raises(ValueError, match="no data"):
        figures.write()


@pytest.mark.skipif(beside.forking() is None, reason="figures are drawn in this process")
def test_figures_of_a_process_that_was_ended_are_drawn_here(tmp_path):
    def ends():
        if os.getpid() != HERE:
            os.kill(os.getpid(), signal.SIGKILL)
        return curve()

    figures = FigureFiles(tmp_path)
    figures.add({"one": Drawing(ends, ""), "two": Drawing(ends, "")})
    assert all(file.stat().st_size > 1000 for figure in figures.write() for file in figure.files)
