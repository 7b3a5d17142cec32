"""Public names: each room exports its own, and all rooms are reached after ``import runtime``."""

import ast
import subprocess
import sys
from importlib import import_module
from inspect import getsource, signature

import pytest

import runtime
from tests.support.processes import environment

ROOMS = ["analysis", "ensemble", "figures", "report", "results", "studies", "system"]
PACKAGES = ["runtime", "runtime.integrate", *(f"runtime.{room}" for room in ROOMS)]
PATHS = ["figures.panels.save", "report.Table", "analysis.Motion", "system.hertz_stiffness", "results.write_storage"]


@pytest.mark.parametrize("room", PACKAGES)
def test_exported_names_exist_and_are_documented(room):
    module = import_module(room)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in set(module.__all__) - {"GROUND", "__version__"}:
        assert (getattr(module, name).__doc__ or "").strip(), f"{room}.{name}"


def test_the_signature_of_the_builder_names_its_arguments():
    assert list(signature(runtime.Builder).parameters) == ["name", "gravity", "axes"]


def test_a_public_name_has_one_path():
    names = [name for room in ROOMS for name in import_module(f"runtime.{room}").__all__]
    assert len(set(names)) == len(names) and not set(names) & set(runtime.__all__)


def test_rooms_are_reached_after_import_runtime():
    program = "import runtime\n" + "".join(f"runtime.{path}\n" for path in PATHS)
    done = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", [*PACKAGES, "models"])
def test_names_that_are_imported_late_are_those_that_type_checkers_see(package):
    module = import_module(package)
    (block,) = (node for node in ast.parse(getsource(module)).body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    for name, place in seen.items():
        expected = import_module(f"{place}.{name}") if place == package else getattr(import_module(place), name)
        assert getattr(module, name) is expected
    assert set(module.__all__) <= {*seen, *vars(module)}
    assert {*seen, *module.__all__} <= set(dir(module))


@pytest.mark.parametrize("package", [*PACKAGES, "models"])
def test_unknown_names_are_refused(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'console'"):
        import_module(package).console  # noqa: B018
