"""Docstrings read from sources are those that imports show; guarantees name tests that exist."""

import inspect
import re
import sys
from importlib import import_module
from importlib.metadata import entry_points

import pytest

from runtime.support.documentation import documentation
from tests.support.paths import ROOT

ENTRIES = [*entry_points(group="talus.models"), *entry_points(group="talus.studies")]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.value)
def test_documentation_of_models_and_studies(entry):
    assert documentation(entry.module) == inspect.getdoc(import_module(entry.module))
    assert documentation(entry.module, entry.attr) == inspect.getdoc(entry.load())


def test_what_a_source_does_not_show_is_imported(tmp_path, monkeypatch):
    (tmp_path / "told.py").write_text('def f():\n    """One."""\n', encoding="utf-8")
    (tmp_path / "retold.py").write_text("from told import f as g\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert documentation("told", "f") == "One." and "told" not in sys.modules
    assert documentation("told") == ""
    assert documentation("retold", "g") == "One."
    assert documentation("math", "sin") == inspect.getdoc(import_module("math").sin)


def test_every_guarantee_names_tests_that_exist():
    """A file without a folder is in the folder of the one before it in its line."""
    text = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|") and not re.match(r"\|(---| guarantee )", line)]
    assert len(rows) > 30
    for row in rows:
        names = re.findall(r"`((?:tests/)?[\w/]*test_\w+(?:\.py)?(?:::\w+)?)`", row.rsplit("|", 2)[1])
        assert names, f"no test: {row}"
        folder, file = ROOT, ROOT
        for name in names:
            path, _, function = name.partition("::")
            if path.endswith(".py"):
                file = ROOT / path if path.startswith("tests/") else folder / path
                folder = file.parent
            else:
                function = path  # of the same file
            assert file.is_file(), name
            assert not function or f"def {function}(" in file.read_text(encoding="utf-8"), name
    for word in ("kill", "full disk", "read-only", "Old machine code", "damaged", "Ctrl-C", "threads", "bits"):
        assert any(word in row for row in rows), word
