"""Rows of joints in LANES cases side by side: the kernels of the joints translated for columns, the last axis of all arrays."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from runtime.dynamics.layout import LANES, ROWS
from runtime.jit.addresses import address_of
from runtime.jit.llvm_code import DOUBLE, INTEGER, function_of_arrays
from runtime.jit.straight_line import View, emit
from runtime.support.arrays import Ints

EXTENTS = ((), (), (), (), (), (12,), ())  # of a component of body_i, body_j, x, Phi, Phi_dot, D, gamma
ALL, PHI = "evaluate_lanes", "phi_lanes"  # all rows, or Phi alone
PLACE_OF_PHI = 3


def addresses_of_rows(modules: Iterable[ModuleType], name: str) -> Ints:
    """Addresses (modules,) in this process of ``evaluate`` of the modules of joints, for LANES cases.

    ``PHI``: the other outputs are not touched; Phi has the bits that ``ALL`` gives.
    """
    return np.array([address_of(module, name, _translated, __name__) for module in modules], np.int64)


def _translated(module: ModuleType, name: str, owner: ir.Module, symbol: str) -> ir.Module:
    function, builder = function_of_arrays(owner, symbol, len(EXTENTS))  # both bodies are only read
    unused = [cgutils.alloca_once(builder, DOUBLE, ROWS * 12) for _ in range(len(EXTENTS) - PLACE_OF_PHI - 1)]
    with cgutils.for_range(builder, INTEGER(LANES), intp=INTEGER) as loop:
        views = []
        for place, (argument, extent) in enumerate(zip(function.args, EXTENTS, strict=True)):
            if name == PHI and place > PLACE_OF_PHI:  # LLVM removes what is written to memory that nothing reads
                data, lanes = unused[place - PLACE_OF_PHI - 1], 1
            else:
                data, lanes = builder.gep(argument, [loop.index], inbounds=True), LANES
            steps = [INTEGER(lanes * int(np.prod(extent[k:]))) for k in range(len(extent) + 1)]
            views.append(View(data, tuple(steps), (None,) * len(steps)))
        emit(builder, module, "evaluate", views)
    builder.ret_void()
    return owner
