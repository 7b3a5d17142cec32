"""Rows of arrays of floats as numbers, in compiled code.

An element A[k, r, c] is found by the sizes of A, which the compiler does not know, and numbers in memory may change with every
store.  A row that is read at once lies at known distances from its first number, and its numbers stay in registers.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from runtime.jit.lane_vectors import ALIGNED, LaneVector
from runtime.jit.numba_types import types


def _places(context: Any, builder: Any, kind: Any, array: Any, row: Any, count: int) -> list[Any]:
    """Pointers to the numbers of a row."""
    data = context.make_array(kind)(context, builder, array).data
    first = builder.mul(row, ir.Constant(ir.IntType(64), count))
    start = builder.gep(data, [first], inbounds=True)
    return [cgutils.gep_inbounds(builder, start, n) for n in range(count)]


def _is_floats(kind: Any) -> bool:
    return isinstance(kind, types.Array) and kind.layout == "C" and isinstance(kind.dtype, (types.Float, LaneVector))


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def row_of(typingctx: Any, array: Any, row: Any, count: Any) -> Any:
    """Row number ``row`` of an array of rows of ``count`` numbers each, such as (n, 3, 3) with count 9; a tuple."""
    if not _is_floats(array) or not isinstance(count, types.IntegerLiteral):
        return None  # numba then names the call

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        places = _places(context, builder, array, values[0], values[1], count.literal_value)
        return context.make_tuple(
            builder, signature.return_type, [builder.load(place, align=ALIGNED) for place in places]
        )

    return types.UniTuple(array.dtype, count.literal_value)(array, types.int64, count), generate


@intrinsic  # type: ignore[untyped-decorator]
def put_row(typingctx: Any, array: Any, row: Any, numbers: Any) -> Any:
    """Store a tuple as row number ``row`` of an array whose rows have as many numbers."""
    if not _is_floats(array) or not isinstance(numbers, types.BaseTuple):
        return None
    stored = types.UniTuple(array.dtype, numbers.count)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        places = _places(context, builder, array, values[0], values[1], numbers.count)
        for place, number in zip(places, cgutils.unpack_tuple(builder, values[2], numbers.count), strict=True):
            builder.store(number, place, align=ALIGNED)
        return context.get_dummy_value()

    return types.void(array, types.int64, stored), generate
