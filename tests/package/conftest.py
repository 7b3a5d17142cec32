"""The command ``talus`` in the process of the tests."""

import sys
from types import SimpleNamespace

import pytest

import runtime.cli


@pytest.fixture
def talus(tmp_path, monkeypatch, capsys):
    """The command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["talus", *arguments])
        try:
            runtime.cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return call
