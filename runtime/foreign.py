"""Kernels of a user's own joint: called through their address, so that no model needs a compile of its own."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_ARRAYS = 7
_SIGNATURE = types.void(*[types.CPointer(types.float64)] * _ARRAYS)


@intrinsic  # type: ignore[untyped-decorator]
def call(typingctx: Any, address: Any, *arrays: Any) -> Any:
    """Call the kernel at ``address`` with the addresses of seven arrays."""
    signature = types.void(types.intp, types.StarArgTuple(arrays))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [double] * _ARRAYS)
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        addresses = cgutils.unpack_tuple(builder, arguments[1], _ARRAYS)
        builder.call(pointer, [builder.inttoptr(value, double) for value in addresses])
        return context.get_dummy_value()

    return signature, generate


@cache
def address_of(module: ModuleType) -> tuple[int, Any]:
    """Compile the ``evaluate`` kernel of an emitted module; its address, and the object that keeps it alive."""
    kernel = module.evaluate
    rows, size = len(module.ROWS), max(module.SIZE, 1)

    # carray does not compile without reference counting; the kernel itself does, and its arrays own no memory here.
    @numba.cfunc(_SIGNATURE, error_model="numpy")
    def entry(body_i, body_j, x, Phi, Phi_dot, D, gamma):  # type: ignore[no-untyped-def]
        kernel(
            numba.carray(body_i, (13,)), numba.carray(body_j, (13,)), numba.carray(x, (size,)),
            numba.carray(Phi, (rows,)), numba.carray(Phi_dot, (rows,)), numba.carray(D, (rows, 12)), numba.carray(gamma, (rows,)),
        )  # fmt: skip

    return entry.address, entry
