"""The reference documents every public name, and the page of errors every status."""

import inspect
import pkgutil
import re
import sys
from importlib import import_module

import pytest

import runtime
from tests.support.paths import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))
import inventory

REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.rst"))
WITHOUT_PAGE = {"runtime.cli"}  # the command, documented by its help


def documented():
    """What the pages of the reference document, in order."""
    return [
        name
        for page in REFERENCE
        for name in re.findall(r"^\.\. public:: (\S+)$", page.read_text("utf-8"), re.MULTILINE)
    ]


def test_each_room_and_module_is_on_one_page():
    assert sorted(documented()) == sorted([*inventory.ROOMS, *inventory.MODULES])


def test_every_package_that_exports_names_is_a_room():
    found = set()
    for package in ("runtime", "codegen", "models"):
        module = import_module(package)
        names = [package, *(m.name for m in pkgutil.walk_packages(module.__path__, f"{package}.") if m.ispkg)]
        found |= {name for name in names if hasattr(import_module(name), "__all__")}
    assert found - WITHOUT_PAGE == set(inventory.ROOMS)


def test_every_exported_module_is_documented():
    values = {
        f"{room}.{name}": getattr(import_module(room), name)
        for room in inventory.ROOMS
        for name in import_module(room).__all__
    }
    modules = {value.__name__ for value in values.values() if inspect.ismodule(value)}
    assert modules <= {*inventory.MODULES, *inventory.ROOMS}


def test_every_definition_and_every_model_is_documented():
    from models import shipped

    dictionary = {f"codegen.{m.name}" for m in pkgutil.iter_modules([str(ROOT / "codegen")]) if not m.ispkg} - {
        "codegen.__main__"
    }
    assert dictionary == set(inventory.DICTIONARY)
    assert {f"models.{name}" for name in import_module("models").__all__} - {
        "models.walking",
        "models.files",
        "models.read",
        "models.swap",
        "models.write",
    } <= set(inventory.MODELS)
    assert shipped.SYSTEMS


def test_public_names_have_a_docstring():
    names = inventory.public_names() - {"runtime.GROUND", "runtime.__version__", "runtime.integrate.METHODS"}
    assert len(names) > 200
    assert [name for name in sorted(names) if not inspect.getdoc(pkgutil.resolve_name(name))] == []


@pytest.mark.parametrize("status", list(runtime.Status), ids=lambda status: status.name)
def test_every_status_has_an_anchor_with_cause_and_remedy(status):
    page = (ROOT / "docs" / "howto" / "errors.md").read_text(encoding="utf-8")
    anchor = f"status-{status.name.lower().replace('_', '-')}"
    assert page.count(f"({anchor})=\n### {status.name}\n\n```{{status}} {status.name}\n```\n") == 1


def test_no_name_of_a_status_is_left_over():
    page = (ROOT / "docs" / "howto" / "errors.md").read_text(encoding="utf-8")
    assert re.findall(r"^```\{status\} (\w+)$", page, re.MULTILINE) == [status.name for status in runtime.Status]
