"""Straight-line kernels translated without numba, against numba."""

from functools import cache
from types import ModuleType

import numba
import numpy as np
import pytest

from codegen import compile_joint
from runtime.jit import addresses, kernels

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


def caller_of(kernel, count):
    """A compiled function that calls the kernel."""
    names, space = ", ".join(f"a{k}" for k in range(count)), {"kernel": kernel}
    exec(f"def caller({names}):\n    kernel({names})", space)
    return numba.njit(error_model="numpy", _nrt=False)(space["caller"])


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
        found = np.zeros(4)
        caller(a, found)
        assert np.array_equal(found, expected)


OF_TABLES = """
def kernel(a, out):
    out[0, 0] = a[1, 2] - 2.0*a[0, 1]
    out[1, 0] = a[0, 0]
    out[0, 1] = a[1, 0]
"""


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_arrays_of_any_layout(layout, tmp_path):
    a, out = np.arange(6.0).reshape(2, 3), np.zeros((2, 2))
    if layout == "F":
        a, out = np.asfortranarray(a), np.asfortranarray(out)
    elif layout == "strided":
        a, out = np.repeat(a, 2, axis=1)[:, ::2], np.zeros((4, 4))[::2, ::2]
    module = module_of(OF_TABLES, tmp_path)
    caller_of(kernels.callable_from_compiled_code(module).kernel, 2)(a, out)
    assert out.tolist() == [[3.0, 3.0], [0.0, 0.0]]


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
    of_this_test = cache(addresses._kernel.__wrapped__)  # other tests go on with the addresses that they have
    monkeypatch.setattr(addresses, "_kernel", of_this_test)
    return tmp_path


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
