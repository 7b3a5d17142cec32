"""Numbers of LANES cases as one value in compiled code: vector instructions without the help of LLVM's search for loops.

``load(array, place)`` reads the lanes of a number from a flat array of floats, ``store`` writes them; + - * / act on each lane.
LLVM unrolls short loops over lanes before it looks for vector instructions, and does not find them again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.typing import signature
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from runtime.dynamics.layout import LANES

types: Any = numba_types  # numba's types are opaque to a type checker
ALIGNED = 8  # [bytes]


class LaneVector(numba_types.Type):  # type: ignore[misc]
    """A number of each lane."""


LANE_VECTOR = LaneVector("LaneVector")
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


@register_model(LaneVector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: LaneVector) -> None:
        super().__init__(manager, kind, VECTOR)


def _define(function: Callable[..., Any], instruction: str) -> None:
    class Operation(ConcreteTemplate):  # type: ignore[misc]
        key = function
        cases = (signature(LANE_VECTOR, LANE_VECTOR, LANE_VECTOR),)

    def lower(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)

    infer_global(function)(Operation)
    lower_builtin(function, LANE_VECTOR, LANE_VECTOR)(lower)


for _function, _instruction in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
):  # fmt: skip
    _define(_function, _instruction)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place], inbounds=True), VECTOR.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(typingctx: Any, array: Any, place: Any) -> Any:
    """The lanes of the number at a place of a flat array."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_pointer(context, builder, array, *values), align=ALIGNED)

    return LANE_VECTOR(array, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(typingctx: Any, array: Any, place: Any, value: Any) -> Any:
    """Write the lanes of a number at a place of a flat array."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data, to, lanes = values
        builder.store(lanes, _pointer(context, builder, array, data, to), align=ALIGNED)
        return context.get_dummy_value()

    return types.void(array, types.int64, LANE_VECTOR), generate


@intrinsic  # type: ignore[untyped-decorator]
def all_lanes(typingctx: Any, number: Any) -> Any:
    """A number in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), values[0], ir.Constant(ir.IntType(32), 0))
        none = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), none)

    return LANE_VECTOR(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def where_above(typingctx: Any, a: Any, b: Any, then: Any, otherwise: Any) -> Any:
    """``then`` in the lanes where a > b, else ``otherwise``, also where one of them is not a number."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", values[0], values[1]), values[2], values[3])

    return LANE_VECTOR(LANE_VECTOR, LANE_VECTOR, LANE_VECTOR, LANE_VECTOR), generate


@intrinsic  # type: ignore[untyped-decorator]
def root(typingctx: Any, a: Any) -> Any:
    """The square root."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f64"), values)

    return LANE_VECTOR(LANE_VECTOR), generate
