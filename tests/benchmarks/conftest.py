"""Fixtures of the tests of the benchmarks: a printed table, the answer to a question, another program in its process."""

import json

import pytest

from benchmarks import measure
from benchmarks.__main__ import DONE, main, module_of
from benchmarks.peers import interface, process, talus
from runtime.report import terminal
from tests.support import terminals
from tests.support.layouts import faults
from tests.support.legible_tables import assert_legible

FIGURES = {
    "cost": {"cost", "evaluations"},
    "rhs": {"rhs"},
    "contact": {"contact"},
    "electromyograms": {"electromyograms"},
    "muscles": set(),
    "start": set(),
    "limits": {"energy_by_law"},
    "targets": {"targets"},
    "mechanisms": set(),
    "random": set(),
    "peers": {"peers", "chain"},
}


@pytest.fixture
def printed(monkeypatch):
    """A table as a terminal with the given number of columns prints it."""
    return lambda table, width=80: terminals.printed(monkeypatch, width, terminal.show, table)


@pytest.fixture
def answer(tmp_path, capsys, monkeypatch, printed):
    """Answer a question in its quick form and check its files; the tables by title and their notes."""

    def ask(question):
        folder, answers, module = tmp_path / "made" / question, [], module_of(question)
        original = module.ask
        monkeypatch.setattr(module, "ask", lambda **options: answers.append(original(**options)) or answers[0])
        assert main([question, "--quick", "--json", "--out", str(folder)]) == DONE
        for table in answers[0].report.tables:
            assert_legible(table, printed(table))
        assert not {name: wrong for name, figure in answers[0].figures.items() if (wrong := faults(figure))}
        data = json.loads(capsys.readouterr().out)
        assert data == json.loads((folder / "summary.json").read_text())
        files = {file.name for file in folder.iterdir()}
        assert {"summary.md", "summary.json", "machine.csv"} <= files
        for name in FIGURES[question]:
            assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert len([name for name in files if name.endswith(".csv")]) == len(data["tables"])
        facts = {row["fact"] for row in data["tables"]["machine"]}
        assert {"command", "cpu", "cores", "python", "numpy", "scipy", "numba"} <= facts
        markdown = (folder / "summary.md").read_text()
        assert all(f"## {title}" in markdown for title in data["tables"])
        assert not data["failures"]
        return data["tables"], data["notes"]

    return ask


@pytest.fixture
def program(tmp_path):
    """Another program in its process, for a motion of 1 s; the test is skipped where it is not installed."""
    opened = []

    def start(name):
        foot = talus.foot_of(measure.foot("modified"))
        opened.append(process.Process(name, foot, 1.0, 101, tmp_path))
        try:
            return opened[-1], opened[-1].open()
        except interface.MissingError as error:
            pytest.skip(f"{error}; all programs come with talus-multibody[peers]")

    yield start
    for one in opened:
        one.close()
