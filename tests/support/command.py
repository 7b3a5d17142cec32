"""The command ``talus`` in the process of the tests."""

import sys
from types import SimpleNamespace

import pytest


@pytest.fixture
def without_figures(monkeypatch):
    """Leaves out figures, motions and printed pages of studies, which take most of their time."""
    from runtime.report import figure_files, printing

    for name, nothing in (("add", None), ("add_motion", None), ("write", [])):
        monkeypatch.setattr(figure_files.FigureFiles, name, lambda *_, nothing=nothing, **__: nothing)
    monkeypatch.setattr(printing, "missing", lambda: "not in this test")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Calls ``talus`` in a folder of its own; gives exit code, output, and the lines and the last line that went to stderr."""
    import runtime.cli

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["talus", *map(str, arguments)])
        code = 0
        try:
            runtime.cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        done = capsys.readouterr()
        lines = done.err.splitlines()
        return SimpleNamespace(code=code, out=done.out, err=done.err, lines=lines, sentence=lines[-1] if lines else "")

    return call
