"""Docstrings read from sources are those that imports show."""

import inspect
import sys
from importlib import import_module
from importlib.metadata import entry_points

import pytest

from runtime.support.documentation import documentation

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
