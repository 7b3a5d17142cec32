"""The digest that names the cache folder covers all compiled code and all constants and functions that it uses."""

import ast
import importlib
import pkgutil
from functools import cache as cache_of_calls
from pathlib import Path
from types import FunctionType

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import models
import runtime
from runtime.integrate import dop853, stepping
from runtime.jit import cache
from runtime.jit.machine_code import modules_of
from runtime.jit.pointers import Pointer
from tests.support.paths import ROOT

COVERED = cache.COVERED
ROOM_INSIDE = "integrate/radau"
OURS = ("codegen", "generated", "models", "runtime")


def modules():
    """All modules of the runtime."""
    names = [found.name for found in pkgutil.walk_packages(runtime.__path__, "runtime.")]
    return [importlib.import_module(name) for name in names if name != "runtime.integrate.batches.gpu"]


KERNELS = {f"generated.{file.stem}" for file in (ROOT / "generated").glob("*.py")}
MODULES = {module.__name__ for module in modules()} | KERNELS


@cache_of_calls
def imports(module):
    """Local name -> (module, name there) of the imports of a module; the name is empty for an imported module."""
    found = {}
    for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0]: (alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found[alias.asname or alias.name] = (inner, "") if inner in MODULES else (node.module, alias.name)
    return found


def home(module, name):
    """The module in which a global name of a module is defined."""
    while True:
        there = imports(module).get(name)
        if there is None:
            return module.__name__
        place, name = there
        if not name or place.partition(".")[0] not in OURS:
            return place
        module = importlib.import_module(place)


def names_in(code):
    """Global names and attributes that a code object uses, those of functions inside it included."""
    inner = [part for part in code.co_consts if hasattr(part, "co_names")]
    return set(code.co_names).union(*(names_in(part) for part in inner))


def compiled_functions(module):
    """The Python functions of a module that are compiled."""
    values = [value for value in vars(module).values() if isinstance(value, Dispatcher)]
    functions = [value.py_func for value in values]
    # Those called by their address are compiled when they are first needed.
    functions += [
        f for name, f in vars(module).items() if isinstance(f, FunctionType) and name.endswith(("_entry", "_part"))
    ]
    return [function for function in functions if function.__module__ == module.__name__]


def test_all_compiled_functions_are_in_the_folders_of_the_digest():
    compiling = {module.__name__ for module in modules() if compiled_functions(module)}
    assert {"runtime.dynamics.equations", "runtime.integrate.dop853", "runtime.dynamics.limits"} <= compiling
    assert not [name for name in compiling if not name.startswith(COVERED)]


@pytest.fixture
def miniature(tmp_path):
    """The folders of the digest with one small module each, beside one that is outside."""
    for folder in ("generated", *(f"runtime/{folder}" for folder in (*cache.COMPILED, ROOM_INSIDE, "system"))):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "part.py").write_text("A = 1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("folder", ["generated", *(f"runtime/{folder}" for folder in (*cache.COMPILED, ROOM_INSIDE))])
def test_an_edit_in_each_folder_changes_the_digest(miniature, folder):
    before = cache.digest(miniature)
    (miniature / folder / "part.py").write_text("A = 2\n", encoding="utf-8")
    edited = cache.digest(miniature)
    (miniature / folder / "part.py").write_text("A = 1\n", encoding="utf-8")
    assert edited != before and cache.digest(miniature) == before
    (miniature / folder / "more.py").write_text("B = 1\n", encoding="utf-8")
    assert cache.digest(miniature) != before


def test_an_edit_elsewhere_keeps_the_digest(miniature):
    before = cache.digest(miniature)
    (miniature / "runtime" / "system" / "part.py").write_text("A = 2\n", encoding="utf-8")
    assert cache.digest(miniature) == before


def test_the_cache_folder_is_named_by_the_digest():
    assert cache.compiled_folder().name == cache.digest()


def test_functions_of_other_packages_depend_on_all_sources_and_on_their_file(tmp_path, monkeypatch):
    def digest_of_a_copy():
        cache._digest_of.cache_clear()
        namespace = {"__name__": "study"}
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), namespace)
        return cache.digest_for(namespace["f"])

    file = tmp_path / "study.py"
    file.write_text("def f(x):\n    return x\n", encoding="utf-8")
    before = digest_of_a_copy()
    assert digest_of_a_copy() == before
    file.write_text("A = 1\n\ndef f(x):\n    return x\n", encoding="utf-8")
    assert digest_of_a_copy() != before
    monkeypatch.setattr(cache, "_ALL", "other")
    assert digest_of_a_copy() != before


def test_the_sources_of_a_module_hold_all_that_its_compiled_functions_use():
    """Constants and functions, none of which is in another folder."""
    checked, wrong = 0, []
    for module in modules():
        sources = cache.sources_of(module.__name__)
        for function in compiled_functions(module):
            for name in names_in(function.__code__) & vars(module).keys():
                place = home(module, name)
                if place.partition(".")[0] in OURS:
                    checked += 1
                    if not (place.startswith(COVERED) and place in sources):
                        wrong.append(f"{module.__name__}.{function.__name__}: {name} from {place}")
    assert checked > 500 and not wrong


def test_machine_code_depends_on_the_method_that_the_types_of_its_arguments_select():
    stepper = stepping.stepper(np.zeros(13), 0.0, dop853.memory(13), models.free_body.build().data)
    found = set(modules_of(Pointer(numba.typeof(stepper))))
    assert found >= {"runtime.integrate.stepping", "runtime.integrate.dop853"}
    assert "runtime.integrate.dop853" not in cache.sources_of("runtime.integrate.loop")


@pytest.mark.slow
@pytest.mark.parametrize("package", ["generated", "runtime"])
def test_imports_are_read_as_python_reads_them(package):
    for file in (ROOT / package).rglob("*.py"):
        expected = set()
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                expected |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                expected |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        assert set(cache._imports(file)) == expected, file


def test_core_code_does_not_depend_on_joints():
    for module in ("runtime.dynamics.equations", "runtime.integrate.loop", "runtime.dynamics.jacobian"):
        sources = cache.sources_of(module)
        assert "generated.limit_cone" in sources and "runtime.dynamics.elimination" in sources
        assert not {"generated.modified_universal", "generated.guided_point", "generated.joints"} & sources.keys()
    assert "generated.limit_cone" not in cache.sources_of("runtime.dynamics.kinematics")


def test_core_code_depends_on_all_limits_laws_cones_and_contacts():
    """They are inlined in it; drivers and joints are called by address."""
    inlined = {
        name for name in KERNELS if name.split(".")[1].startswith(("limit_", "law_", "cone_", "normal_", "friction_"))
    }
    assert len(inlined) > 10 and inlined <= cache.sources_of("runtime.dynamics.equations").keys()


def test_an_edit_changes_the_folders_of_what_imports_it(tmp_path):
    dynamics = tmp_path / "runtime" / "dynamics"
    dynamics.mkdir(parents=True)
    for name, text in {
        "a": "from runtime.dynamics import b",
        "b": "import runtime.dynamics.c",
        "c": "C = 1",
        "d": "",
    }.items():
        (dynamics / f"{name}.py").write_text(text, encoding="utf-8")
    names = {k: set(cache.sources_of(f"runtime.dynamics.{k}", tmp_path)) for k in "abcd"}
    assert {k: {n[-1] for n in found} for k, found in names.items()} == {
        "a": {"a", "b", "c"}, "b": {"b", "c"}, "c": {"c"}, "d": {"d"},
    }  # fmt: skip
