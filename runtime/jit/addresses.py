"""Kernels of joints and drivers, called through their addresses: each is compiled once, and only when a system needs it.

The same way serves the generated kernels, whose machine code is cached under the digest of the sources, and a user's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Any

import numba
import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from runtime.jit.cache import WHOLE, cached_here
from runtime.support.arrays import Ints


@intrinsic  # type: ignore[untyped-decorator]
def call(typingctx: Any, address: Any, *arrays: Any) -> Any:
    """Call the kernel at ``address`` with the addresses of its arrays."""
    signature, count = types.void(types.intp, types.StarArgTuple(arrays)), len(arrays)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [double] * count)
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        addresses = cgutils.unpack_tuple(builder, arguments[1], count)
        builder.call(pointer, [builder.inttoptr(value, double) for value in addresses])
        return context.get_dummy_value()

    return signature, generate


@cache  # for as long as the process runs: code at an address must not go away
def _compiled(module: ModuleType, name: str) -> Any:
    entry = getattr(module, name)
    arrays = len(inspect.signature(entry).parameters)
    signature = types.void(*[types.CPointer(types.float64)] * arrays)
    package, whole = module.__name__.partition(".")[0], hasattr(module, "LANES")
    if whole:
        _let_lanes_become_vectors()
    with cached_here():
        return numba.cfunc(
            signature,
            error_model="numpy",
            fastmath={"contract"} if whole else False,
            cache=package in ("generated", WHOLE),
        )(entry)


@cache
def _let_lanes_become_vectors() -> None:
    """LLVM gives up on a loop of many memory accesses before it has seen that they are to four arrays only.

    With it, twice the numbers of the foot (state and derivative) take 0.08 in place of 0.55 us a lane.
    """
    if not hasattr(binding, "_memory_check_merge_threshold"):  # an option can be given once in a process
        binding.set_option("", "-memory-check-merge-threshold=100000")
        binding._memory_check_merge_threshold = True


def addresses_of(modules: Iterable[ModuleType], name: str = "entry") -> Ints:
    """Addresses of a kernel of emitted modules, in this process: of ``evaluate``, or of ``tangent`` by "tangent_entry"."""
    return np.array([_compiled(module, name).address for module in modules], np.int64)
