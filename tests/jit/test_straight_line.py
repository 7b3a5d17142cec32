"""Kernels translated without numba, against the same text run by Python and compiled by numba."""

import ast
import importlib
import inspect
from functools import cache
from types import ModuleType

import numba
import numpy as np
import pytest

import generated.limit_hinge
from codegen import compile_joint
from runtime.jit import addresses, kernels

RNG = np.random.default_rng(5)
MODULES = {
    name: module
    for name, module in vars(kernels).items()
    if isinstance(module, ModuleType) and module.__name__.startswith("generated.")
}
NAMES = [(owner, name) for owner, module in MODULES.items() for name in vars(module) if hasattr(module, name)]
KERNELS = [(owner, name) for owner, name in NAMES if type(getattr(MODULES[owner], name)).__name__ == "_Intrinsic"]
EXTENTS = {"body_i": 13, "body_j": 13}
TEXT = '''
import math
from functools import cache

import numba


@numba.njit(error_model="numpy")
def kernel(a, out):
    """Every form of arithmetic."""
    x = a[0]
    one = 1
    out[0] = -x**2 + 2*x**3 - x**(-2)/3 + x**4 + one*x**0
    out[1] = math.sqrt(x)*math.sin(x) + math.cos(x)/math.log(1.5 + x) + math.atan2(x, -0.5)
    out[2] = x**(3.0/2.0) + x**x + math.exp(-x)
    out[3] = -(x - 0.1)/(-7) + 1/x + abs(x - 1.0)
    out[3] += min(x, 0.5)
'''


def subscripts(tree):
    """Name -> index of the arrays that a function uses."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    return {node.value.id: node.slice for node in nodes if isinstance(node.value, ast.Name)}


def arguments_of(module, name):
    """Random arguments of a kernel: large arrays, of two axes where the text has two indices."""
    tree = next(f for f in ast.parse(inspect.getsource(module)).body if getattr(f, "name", "") == name)
    found = {
        node.value.id: node.slice
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and hasattr(node.value, "id")
    }
    for call in (
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ):
        if hasattr(call.func.value, "id") and call.func.value.id != "math":
            inner = getattr(module, call.func.value.id)
            names = [a.id for a in call.args]
            other = next(
                f for f in ast.parse(inspect.getsource(inner)).body if getattr(f, "name", "") == call.func.attr
            )
            inside = {
                n.value.id: n.slice for n in ast.walk(other) if isinstance(n, ast.Subscript) and hasattr(n.value, "id")
            }
            for own, given in zip(other.args.args, names, strict=True):
                if own.arg in inside:
                    found[given] = inside[own.arg]
    made = []
    for a in tree.args.args:
        if a.arg not in found:
            made.append(1 if a.arg == "kind" else float(RNG.uniform(0.2, 0.6)))
        elif isinstance(found[a.arg], ast.Tuple):
            made.append(RNG.uniform(0.2, 0.6, (40, 24)))
        else:
            made.append(RNG.uniform(0.2, 0.6, EXTENTS.get(a.arg, 60)))
    return made


def caller_of(kernel, count):
    """A compiled function that calls the kernel."""
    names, space = ", ".join(f"a{k}" for k in range(count)), {"kernel": kernel}
    exec(f"def caller({names}):\n    kernel({names})", space)
    return numba.njit(error_model="numpy", _nrt=False)(space["caller"])


def run(caller, arguments):
    """The arguments after a call."""
    copies = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
    caller(*copies)
    return copies


@cache
def with_python(module):
    """The functions of a module, and of those that it calls, without compilation."""
    space = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    for name, value in list(space.items()):
        if isinstance(value, ModuleType) and value.__name__.startswith("generated."):
            space[name] = type("Plain", (), {k: staticmethod(f) for k, f in with_python(value).items() if callable(f)})
    tree = ast.parse(inspect.getsource(module))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    functions = ast.Module([node for node in tree.body if isinstance(node, ast.FunctionDef)], [])
    exec(compile(functions, module.__name__, "exec"), space)
    return space


def largest(found, expected):
    pairs = [(f, e) for f, e in zip(found, expected, strict=True) if isinstance(e, np.ndarray)]
    with np.errstate(invalid="ignore"):
        return max((np.nanmax(np.abs(f - e) / (1.0 + np.abs(e)), initial=0.0) for f, e in pairs), default=0.0)


@pytest.mark.parametrize(("owner", "name"), KERNELS)
def test_translated_kernels_agree_with_python(owner, name):
    module = importlib.import_module(MODULES[owner].__name__)
    arguments = arguments_of(module, name)
    caller = caller_of(getattr(MODULES[owner], name), len(arguments))
    changed = 0
    for kind in range(6):  # beyond the last kind nothing happens
        given = [kind if isinstance(a, int) else a for a in arguments]
        found, expected = run(caller, given), run(with_python(module)[name], given)
        changed += not all(np.array_equal(a, e) for a, e in zip(given, expected, strict=True))
        assert largest(found, expected) < 1e-13
    assert changed >= (name != "reference")  # the one without outputs


def test_there_are_kernels_of_each_family():
    assert {"direction", "wrench", "law", "below", "curve", "parameter"} <= {name for _, name in KERNELS}
    assert len(KERNELS) > 20


def module_of(text, tmp_path, name="straight_line_probe"):
    file = tmp_path / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    module = ModuleType(name)
    module.__file__ = str(file)
    exec(compile(text, str(file), "exec"), module.__dict__)
    return module


def test_every_operation_has_the_bits_of_numba(tmp_path):
    module = module_of(TEXT, tmp_path)
    caller = caller_of(kernels.callable_from_compiled_code(module).kernel, 2)
    for x in (0.3, 1.7, 12.5):
        a, expected = np.array([x]), np.zeros(4)
        module.kernel(a, expected)
        (_, found) = run(caller, [a, np.zeros(4)])
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_arrays_of_any_layout(layout):
    name, module = "wrench_tangent", generated.limit_hinge
    body_i, body_j, x, slope, seeds, out = arguments_of(module, name)
    expected = run(with_python(module)[name], [body_i, body_j, x, slope, seeds, out])[-1]
    if layout == "F":
        seeds, out = np.asfortranarray(seeds), np.asfortranarray(out)
    elif layout == "strided":
        wide, tall = np.zeros((40, 48)), np.zeros((80, 24))
        wide[:, ::2], tall[::2] = seeds, out
        seeds, out, slope = wide[:, ::2], tall[::2], np.repeat(slope, 3)[::3]
    caller_of(kernels.callable_from_compiled_code(module).wrench_tangent, 6)(body_i, body_j, x, slope, seeds, out)
    assert np.abs(out - expected).max() < 1e-13


@pytest.mark.parametrize(
    "statement",
    [
        "while a[0] > 1:\n        pass",
        "out[0] = sum(a)",
        "out[0] = a[0] // 2",
        "out[0] = a[0] if a[0] > 1 else 2.0",
        "out[0] = a[0] if a[0] == 1.0 else 2.0",
        "out[0] = a[0] == 1.0",
        "out[0] = a[0] % 2",
    ],
)
def test_other_code_is_refused_by_its_text(statement, tmp_path):
    module = module_of(f"def kernel(a, out):\n    {statement}\n", tmp_path)
    with pytest.raises(NotImplementedError, match="no straight-line code; let codegen emit another form") as error:
        caller_of(kernels.callable_from_compiled_code(module).kernel, 2)(np.ones(2), np.ones(2))
    assert "straight_line_probe: " in str(error.value)


def rod(r_i, s_i, r_j, s_j, l):
    """Points at the distance l.  l [m]."""
    d = r_j + s_j - r_i - s_i
    return {"distance": d.dot(d) - l**2}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TALUS_CACHE_DIR", str(tmp_path))
    yield tmp_path
    addresses._kernel.cache_clear()


def kernel_in(folder):
    (file,) = folder.glob("*/*/*.entry-*")
    return file


def test_machine_code_is_kept_by_the_text_of_the_kernel(folder):
    first = compile_joint(rod)
    addresses.addresses_of([first])
    file = kernel_in(folder)
    before = file.stat().st_mtime_ns
    addresses.addresses_of([compile_joint(rod)])
    assert kernel_in(folder) == file and file.stat().st_mtime_ns == before


@pytest.mark.parametrize("damage", [b"", b"cut", "half"])
def test_a_damaged_file_is_made_anew(folder, damage):
    module = compile_joint(rod)
    addresses.addresses_of([module])
    file = kernel_in(folder)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage == "half" else damage)
    addresses._kernel.cache_clear()
    assert addresses.addresses_of([compile_joint(rod)])[0] > 0
    assert len(file.read_bytes()) > len(whole) // 2


def test_a_folder_that_cannot_be_written_costs_only_time(folder, monkeypatch):
    (folder / "file").write_text("a file where the folder should be", encoding="utf-8")
    monkeypatch.setenv("TALUS_CACHE_DIR", str(folder / "file"))
    assert addresses.addresses_of([compile_joint(rod)])[0] > 0
