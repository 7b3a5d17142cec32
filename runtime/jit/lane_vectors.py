"""Numbers of many cases as one value in compiled code: functions for one case serve the lanes of many.

A memory whose class is marked ``in_lanes`` has arrays of floats whose last axis are lanes.  In compiled code those of two axes or
more are arrays of vectors, one axis less, with an item for all lanes: ``w.S[n, r, c]`` is a vector.  Functions that were written
for numbers then compute all lanes, provided that their loops and branches are the same for all of them, and that numbers are
chosen by ``choose``.  ``numbers_of`` shows the numbers of an array of vectors.  LLVM unrolls short loops over lanes before it
looks for vector instructions, and does not find them again.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.imputils import lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

types: Any = numba_types  # numba's types are opaque to a type checker
ALIGNED = 8  # [bytes]


class LaneVector(numba_types.Type):  # type: ignore[misc]
    """A number of each of so many lanes."""

    single, value = types.Float, ir.DoubleType()

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"{type(self).__name__}({count})")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """A number is one in all lanes."""
        return Conversion.safe if isinstance(other, self.single) else None


class LaneMask(LaneVector):
    """In which of so many lanes a comparison holds."""

    single, value = types.Boolean, ir.IntType(1)


@register_model(LaneVector)
@register_model(LaneMask)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: LaneVector) -> None:
        super().__init__(manager, kind, ir.VectorType(kind.value, kind.count))


@lower_cast(types.Float, LaneVector)  # type: ignore[untyped-decorator]
@lower_cast(types.Boolean, LaneMask)  # type: ignore[untyped-decorator]
def _repeated(context: Any, builder: Any, given: Any, kind: LaneVector, value: Any) -> Any:
    none = ir.Constant(context.get_value_type(kind), ir.Undefined)
    one = builder.insert_element(none, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, none, ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count))


def define(function: Any, count: int, result: Any, write: Callable[..., Any]) -> None:
    """Define a function of so many vectors, some of which may be numbers; ``write``: with a builder of LLVM and values."""

    class Operation(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            vector = next((kind for kind in args if type(kind) is LaneVector), None)
            if vector is None or not all(kind in (vector, types.float64) for kind in args):
                return None
            return signature(result(vector.count), *[vector] * len(args))

    infer_global(function)(Operation)
    lower_builtin(function, *[LaneVector] * count)(lambda context, builder, _, values: write(builder, *values))


def _intrinsic(name: str) -> Callable[..., Any]:
    def write(builder: Any, value: Any) -> Any:
        called = f"llvm.{name}.v{value.type.count}f64"
        kind = ir.FunctionType(value.type, [value.type])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, called), [value])

    return write


for _functions, _instruction in (
    ((operator.add, operator.iadd), "fadd"), ((operator.sub, operator.isub), "fsub"),
    ((operator.mul, operator.imul), "fmul"), ((operator.truediv, operator.itruediv), "fdiv"),
):  # fmt: skip
    for _function in _functions:
        define(_function, 2, LaneVector, lambda builder, a, b, name=_instruction: getattr(builder, name)(a, b))
for _function, _sign in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    define(_function, 2, LaneMask, lambda builder, a, b, sign=_sign: builder.fcmp_ordered(sign, a, b))
define(operator.neg, 1, LaneVector, lambda builder, a: builder.fneg(a))
define(abs, 1, LaneVector, _intrinsic("fabs"))
define(math.sqrt, 1, LaneVector, _intrinsic("sqrt"))


@intrinsic  # type: ignore[untyped-decorator]
def choose(typingctx: Any, condition: Any, a: Any, b: Any) -> Any:
    """The number a where a condition holds, else b; of vectors by lane."""
    kinds = [kind for kind in (condition, a, b) if isinstance(kind, LaneVector)]
    kind = LaneVector(kinds[0].count) if kinds else types.float64

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.select(*values)

    return kind(types.unliteral(condition), kind, kind), generate


def vectors_of(kind: Any, lanes: int) -> Any:
    """The type of an array of floats of a memory ``in_lanes``, or of anything else there."""
    if not isinstance(kind, types.Array) or kind.dtype != types.float64 or kind.ndim < 2:
        return kind
    return types.Array(LaneVector(lanes), kind.ndim - 1, "C", readonly=not kind.mutable, aligned=False)


def as_array(context: Any, builder: Any, given: Any, value: Any, kind: Any) -> Any:
    """An array of numbers as one of vectors, or the other way."""
    if given == kind:
        return value
    old, new = context.make_array(given)(context, builder, value), context.make_array(kind)(context, builder)
    vector = next(one.dtype for one in (given, kind) if isinstance(one.dtype, LaneVector))
    item, lanes = (ir.Constant(ir.IntType(64), n) for n in (8, vector.count))
    more = kind.dtype == types.float64
    shape, strides = ([*cgutils.unpack_tuple(builder, own, given.ndim)] for own in (old.shape, old.strides))
    new.data = builder.bitcast(old.data, new.data.type)
    new.nitems = (builder.mul if more else builder.udiv)(old.nitems, lanes)
    new.itemsize = item if more else builder.mul(item, lanes)
    new.shape = cgutils.pack_array(builder, [*shape, lanes][: kind.ndim])
    new.strides = cgutils.pack_array(builder, [*strides, item][: kind.ndim])
    new.meminfo, new.parent = old.meminfo, old.parent
    return new._getvalue()


@intrinsic  # type: ignore[untyped-decorator]
def numbers_of(typingctx: Any, array: Any) -> Any:
    """The numbers of an array of vectors, whose last axis are the lanes."""
    kind = types.Array(types.float64, array.ndim + 1, array.layout, readonly=not array.mutable)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return as_array(context, builder, array, values[0], kind)

    return kind(array), generate
