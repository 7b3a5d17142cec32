"""Public names: each room exports its own, and all rooms are reached after ``import runtime``."""

import subprocess
import sys
from importlib import import_module

import pytest

import runtime
from tests.support.processes import environment

ROOMS = ["analysis", "ensemble", "report", "results", "system"]
PATHS = ["report.plots.save", "report.Table", "analysis.Motion", "system.hertz_stiffness", "results.write_storage"]


@pytest.mark.parametrize("room", ["runtime", *(f"runtime.{room}" for room in ROOMS)])
def test_exported_names_exist_and_are_documented(room):
    module = import_module(room)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in set(module.__all__) - {"GROUND", "__version__"}:
        assert (getattr(module, name).__doc__ or "").strip(), f"{room}.{name}"


def test_a_public_name_has_one_path():
    names = [name for room in ROOMS for name in import_module(f"runtime.{room}").__all__]
    assert len(set(names)) == len(names) and not set(names) & set(runtime.__all__)


def test_rooms_are_reached_after_import_runtime():
    program = "import runtime\n" + "".join(f"runtime.{path}\n" for path in PATHS)
    done = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
