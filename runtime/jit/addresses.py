"""Kernels of joints and drivers, called through their addresses: each is compiled once, and only when a system needs it.

The generated kernels, whose machine code is cached under the digest of the sources, and a user's own kernels are called alike.
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

from runtime.jit.cache import cached_here
from runtime.jit.freshness import WHOLE
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


@cache  # for the life of the process: machine code at an address must stay
def _compiled(module: ModuleType, name: str) -> Any:
    entry = getattr(module, name)
    arrays = len(inspect.signature(entry).parameters)
    signature = types.void(*[types.CPointer(types.float64)] * arrays)
    package, whole = module.__name__.partition(".")[0], hasattr(module, "LANES")
    if whole:
        _vectorise_lanes()
    with cached_here():
        return numba.cfunc(
            signature,
            error_model="numpy",
            fastmath={"contract"} if whole else False,
            cache=package in ("generated", WHOLE),
        )(entry)


@cache
def _vectorise_lanes() -> None:
    """Raise LLVM's limit on the memory checks of a loop: the loop over the lanes accesses four arrays only, but many times.

    A lane of the foot (state and derivative) then takes 0.08 us in place of 0.55 us.
    """
    if not hasattr(binding, "_memory_check_merge_threshold"):  # an option can be given once in a process
        binding.set_option("", "-memory-check-merge-threshold=100000")
        binding._memory_check_merge_threshold = True


def addresses_of(modules: Iterable[ModuleType], name: str = "entry") -> Ints:
    """Addresses (modules,) in this process of a kernel of generated modules: "entry" for ``evaluate``, or "tangent_entry"."""
    return np.array([_compiled(module, name).address for module in modules], np.int64)
