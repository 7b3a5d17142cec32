"""Every study is a command of ``talus``: its entry point, its arguments, its help."""

import importlib
import inspect
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_study_is_a_command():
    """The command reads the options off the signature."""
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert set(entries["talus.studies"]) == {
        "ankle",
        "axes",
        "claims",
        "drop",
        "gait",
        "gait-table",
        "joints",
        "landing",
        "pendulum",
        "swap",
        "validate",
    }
    for place in entries["talus.studies"].values():
        module, _, function = place.partition(":")
        study = getattr(importlib.import_module(module), function)
        assert list(inspect.signature(study).parameters)[:2] == ["folder", "say"]
        assert inspect.getdoc(study)
