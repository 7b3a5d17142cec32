"""Compiled kernels agree with their Python text, write every entry, and allocate nothing."""

import re
import sys

import numba
import numpy as np
import pytest
from numba.core import errors
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import _nrt_python, rtsys

import models
from generated import dispatch
from runtime.dynamics.equations import derivative_repeated, workspace_for
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from tests.support.definitions import DEFINITIONS, module_of
from tests.support.kernel_checks import KERNELS
from tests.support.kernels import case, shapes
from tests.support.limit_kernels import LIMITS
from tests.support.limit_kernels import case as limit_case
from tests.support.marks import quick_for
from tests.support.modules import JOINT_MODULES
from tests.support.motions import distance

# Runs call ``evaluate`` through its address, which is compared of every joint and driver.  numba compiles all kernels of a few
# joints, and each night those of all.
QUICK = "revolute", "modified_universal", "driven_slide"
all_definitions = pytest.mark.parametrize("name", quick_for(DEFINITIONS, QUICK, pytest.mark.nightly))
all_limits = pytest.mark.parametrize("name", list(LIMITS))


@pytest.mark.slow
@all_definitions
def test_compiled_kernels_agree_and_write_every_entry(name):
    module, c = module_of(name), case(name, 0)
    for kernel in KERNELS:
        sizes = shapes(module)[kernel]
        sizes = sizes if kernel == "evaluate" else (sizes,)
        outputs = [np.full(np.add(size, 1), np.nan) for size in sizes]
        getattr(module, kernel)(c.body_i, c.body_j, c.x, *outputs)
        expected = c.run(kernel)
        for out, want in zip(outputs, expected if kernel == "evaluate" else [expected], strict=True):
            inside = tuple(slice(n) for n in want.shape)
            assert distance(out[inside], want) < 1e-13
            out[inside] = np.nan
            assert np.isnan(out).all(), "written beyond its rows"


def test_every_kernel_is_reached_through_its_address():
    @numba.njit
    def call(address, a, b, x, Phi, Phi_dot, D, gamma):
        addresses.call(
            address, a.ctypes.data, b.ctypes.data, x.ctypes.data, Phi.ctypes.data, Phi_dot.ctypes.data, D.ctypes.data,
            gamma.ctypes.data,
        )  # fmt: skip

    for module, address in zip(JOINT_MODULES, addresses.addresses_of(JOINT_MODULES), strict=True):
        c = case(module.NAME, 1)
        outputs = [np.full(size, np.nan) for size in shapes(module)["evaluate"]]
        call(address, c.body_i, c.body_j, c.x, *outputs)
        for out, want in zip(outputs, c.run("evaluate"), strict=True):
            assert distance(out, want) < 1e-13


def test_an_allocation_does_not_compile_in_the_runtime():
    def array(n):
        return np.zeros(n)[0]

    def growing(n):
        return len([n, n])

    for function in (array, growing):
        assert numba.njit(function)(3) in (0.0, 2)
        with pytest.raises((errors.TypingError, errors.NumbaRuntimeError)):
            inlined(function).compile((numba.int64,))


def test_everything_compiled_is_compiled_that_way():
    """Functions of a device are not: other tests of the process may have imported their module."""
    rooms = [m for n, m in sys.modules.items() if re.match(r"(runtime|generated)\.(?!integrate\.batches\.gpu)", n)]
    found = {f"{m.__name__}.{n}": f for m in rooms for n, f in vars(m).items() if isinstance(f, Dispatcher)}
    assert {
        "runtime.dynamics.equations.derivative_once",
        "generated.spherical.phi",
        "generated.dispatch.direction",
    } <= found.keys()
    for name, function in found.items():
        assert function.targetoptions.get("_nrt") is False, f"{name} may allocate"
        assert function.targetoptions.get("error_model") == "numpy", name
        fused = name.startswith("generated.whole.") or name in (
            "runtime.integrate.batches.batch.integrate",
            "runtime.lanes.effort_slopes.slopes_of_efforts",
            "runtime.analysis.mechanics.slopes_of_efforts",
            "runtime.lanes.lift.lift_lanes",
            "runtime.ensemble.joint_batch.lift_lanes",
            "runtime.integrate.batches.control._squared_error",
        )  # a product and a sum, no more
        assert function.targetoptions.get("fastmath") in ({"contract"} if fused else None, False), name


def test_a_whole_evaluation_allocates_nothing():
    system = models.foot.build()
    work, y_dot = workspace_for(system.data), np.empty_like(system.state.y)

    @numba.njit
    def allocates(n):
        return np.zeros(n).sum()

    def allocations(function, *args):
        function(*args)
        _nrt_python.memsys_enable_stats()
        try:
            before = rtsys.get_allocation_stats().alloc
            function(*args)
            return rtsys.get_allocation_stats().alloc - before
        finally:
            _nrt_python.memsys_disable_stats()

    def evaluations(count):
        return allocations(derivative_repeated, 0.0, system.state.y, system.data, work, y_dot, count)

    # Handing arrays over from Python may take records; the evaluations themselves take none.
    assert evaluations(100) == evaluations(1)
    assert allocations(allocates, 3) > 0


@pytest.mark.slow
@all_limits
def test_compiled_limits_agree_and_write_every_entry(name):
    c, kind = limit_case(name, 0), list(LIMITS).index(name)
    for kernel in ("direction", "measure", "wrench", "reference"):
        want = c.run(kernel)
        inputs = [*c.states, c.x] + ([c.slope] if kernel in ("measure", "wrench") else [])
        for compiled in (getattr(c.module, kernel), getattr(dispatch, kernel, None)):
            if compiled is None:  # the runtime calls ``reference`` in Python
                continue
            out = np.full(len(want) + 1, np.nan)
            compiled(*([kind] if compiled is getattr(dispatch, kernel, None) else []), *inputs, out)
            assert distance(out[:-1], want) < 1e-13
            assert np.isnan(out[-1])
