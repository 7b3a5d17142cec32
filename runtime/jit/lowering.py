"""numba's translation to LLVM's language, shorter where compiled code needs less; arithmetic and results are numba's.

numba writes each access to an array for any array and any index, and each operation after a search among all its definitions.
It loads variables before it stores them and clears them after their last use, for reference counts, which compiled code here does
not have.  Without these a first run compiles in three quarters of the time.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from runtime.jit.lane_vectors import ALIGNED, LaneVector
from runtime.jit.numba_types import types

INTEGER = llvm.IntType(64)
NUMBERS = types.float64, types.int64
OPERATIONS = {  # of floats and of integers
    operator.add: ("fadd", "add"), operator.iadd: ("fadd", "add"),
    operator.sub: ("fsub", "sub"), operator.isub: ("fsub", "sub"),
    operator.mul: ("fmul", "mul"), operator.imul: ("fmul", "mul"),
}  # fmt: skip
COMPARISONS = {
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
SHORT = {*OPERATIONS, *COMPARISONS}


class Lowering(Lower):  # type: ignore[misc]
    """numba's lowering of a function, with short forms of what is most frequent."""

    def init(self) -> None:
        """Note which functions have short forms: those without reference counts, checks of bounds or debugging."""
        super().init()
        other = self.context.enable_nrt or self.context.enable_boundscheck or self.context.enable_debuginfo
        self._short = not other and self.generator_info is None
        self._loaded: dict[str, Any] = {}  # values of variables with a place in memory, in the present block
        self._parts: dict[Any, tuple[Any, Any]] = {}  # of values in the present block: the value, and its part

    def pre_block(self, block: Any) -> None:
        """Begin a block: nothing is known of what others loaded."""
        self._loaded.clear()
        self._parts.clear()
        super().pre_block(block)

    def lower_inst(self, inst: Any) -> Any:
        """Leave out the end of a variable; store a number in an array at a constant place."""
        if self._short:
            if isinstance(inst, ir.Del):
                return None
            if isinstance(inst, ir.StaticSetItem) and self._stored(inst.target, inst.index_var, inst.value):
                return None
        return super().lower_inst(inst)

    def loadvar(self, name: str) -> Any:
        """The value of a variable, loaded once in a block."""
        if not self._short or name in self._blk_local_varmap:
            return super().loadvar(name)
        if name not in self._loaded:
            self._loaded[name] = super().loadvar(name)
        return self._loaded[name]

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a variable without a look at its value before."""
        if not self._short or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
            return
        self._alloca_var(name, self.typeof(name))
        self.builder.store(value, self.getvar(name))
        self._loaded[name] = value

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Store a number in an array."""
        if self._stored(target_var, index_var, value_var):
            return None
        return super().lower_setitem(target_var, index_var, value_var, signature)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Take from an array the number or row at a constant place, or its shape."""
        found = None
        if expr.op == "static_getitem" and expr.index_var is not None:
            found = self._item(resty, expr.value, expr.index_var)
        elif expr.op == "getattr" and expr.attr == "shape" and self._is_array(self.typeof(expr.value.name)):
            found = self._field(expr.value, "shape")
        return super().lower_expr(resty, expr) if found is None else found

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Take a number or a row from an array."""
        found = self._item(resty, value, index)
        return super().lower_getitem(resty, expr, value, index, signature) if found is None else found

    def lower_call(self, resty: Any, expr: Any) -> Any:
        """Take the length of an array."""
        called = self.typeof(expr.func.name)
        if isinstance(called, types.Function) and called.typing_key is len and resty == types.intp:
            array = self.typeof(expr.args[0].name)
            if self._is_array(array) and array.ndim > 0:
                return self._field(expr.args[0], "shape", 0)
        return super().lower_call(resty, expr)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Sum, difference, product or comparison of two floats or two integers; the square of a float."""
        signature = self.fndesc.calltypes[expr]
        kind = signature.args[0]
        if (
            op is operator.pow
            and self._short
            and expr.static_rhs == 2
            and self.typeof(expr.lhs.name) == types.float64 == resty
        ):
            return self.builder.fmul(self.loadvar(expr.lhs.name), self.loadvar(expr.lhs.name))
        if not self._short or kind not in NUMBERS or signature.args[1] != kind or op not in SHORT:
            return super().lower_binop(resty, expr, op)
        first, second = (
            self.context.cast(self.builder, self.loadvar(side.name), self.typeof(side.name), kind)
            for side in (expr.lhs, expr.rhs)
        )
        integers, build = kind == types.int64, self.builder
        if op in OPERATIONS:
            result = getattr(build, OPERATIONS[op][integers])(first, second)
        elif integers:
            result = build.icmp_signed(COMPARISONS[op], first, second)
        else:
            compare = build.fcmp_unordered if op is operator.ne else build.fcmp_ordered
            result = compare(COMPARISONS[op], first, second)
        return self.context.cast(build, result, signature.return_type, resty)

    def _is_array(self, kind: Any) -> bool:
        """Whether a type is that of an array of numbers, row by row, in a function with short forms."""
        if not self._short or not isinstance(kind, types.Array) or kind.layout != "C":
            return False
        return isinstance(kind.dtype, LaneVector) or (kind.aligned and self._is_number(kind.dtype))

    @staticmethod
    def _is_number(kind: Any) -> bool:
        return isinstance(kind, LaneVector) or types.unliteral(kind) in NUMBERS

    def _stored(self, target: Any, index: Any, value: Any) -> bool:
        """Whether a number was stored in an array by the short form."""
        array, kind = self.typeof(target.name), self.typeof(value.name)
        indices = self._indices(array, index)
        if indices is None or len(indices) < array.ndim or not self._is_number(kind):
            return False
        number = self.context.cast(self.builder, self.loadvar(value.name), kind, array.dtype)
        self.builder.store(number, self._place(target, indices), align=ALIGNED)
        return True

    def _item(self, resty: Any, variable: Any, index: Any) -> Any:
        """The number or row at a place of an array; None where there is no short form."""
        array = self.typeof(variable.name)
        indices = self._indices(array, index)
        if indices is None:
            return None
        left = array.ndim - len(indices)
        if left == 0:
            return self.builder.load(self._place(variable, indices), align=ALIGNED) if resty == array.dtype else None
        return self._row(resty, variable, indices) if resty == array.copy(ndim=left) else None

    def _row(self, resty: Any, variable: Any, indices: list[tuple[Any, Any]]) -> Any:
        """The array of the last axes of an array at a place."""
        axes = range(len(indices), self.typeof(variable.name).ndim)
        shape = [self._field(variable, "shape", axis) for axis in axes]
        fields = {
            "meminfo": self._field(variable, "meminfo"),
            "parent": self._field(variable, "parent"),
            "nitems": functools.reduce(self.builder.mul, shape),
            "itemsize": self._field(variable, "itemsize"),
            "data": self._place(variable, indices),
            "shape": cgutils.pack_array(self.builder, shape),
            "strides": cgutils.pack_array(self.builder, [self._field(variable, "strides", axis) for axis in axes]),
        }
        model, row = self.context.data_model_manager[resty], self.context.get_constant_undef(resty)
        for name, value in fields.items():
            row = self.builder.insert_value(row, value, model.get_field_position(name))
        return row

    def _indices(self, array: Any, index: Any) -> list[tuple[Any, Any]] | None:
        """Types and values of indices, which are integers and not more than the array has axes; else None."""
        kind = self.typeof(index.name)
        kinds = tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)
        integers = all(isinstance(one, types.Integer) and one.bitwidth == INTEGER.width for one in kinds)
        if not integers or not self._is_array(array) or not 0 < len(kinds) <= array.ndim:
            return None
        value = self.loadvar(index.name)
        if not isinstance(kind, types.BaseTuple):
            return [(kind, value)]
        return [(one, self._part(value, axis)) for axis, one in enumerate(kinds)]

    def _place(self, variable: Any, indices: list[tuple[Any, Any]]) -> Any:
        """Address of a number in an array, or of the first one of a row."""
        offset = None
        for axis in range(self.typeof(variable.name).ndim):
            if offset is not None:
                offset = self.builder.mul(offset, self._field(variable, "shape", axis))
            if axis < len(indices):
                number = self._from_start(*indices[axis], variable, axis)
                offset = number if offset is None else self.builder.add(offset, number)
        return self.builder.gep(self._field(variable, "data"), [offset])

    def _from_start(self, kind: Any, number: Any, variable: Any, axis: int) -> Any:
        """An index that counts from the start of an axis: negative ones count from its end."""
        if isinstance(kind, types.IntegerLiteral):
            number = INTEGER(kind.literal_value)
            return number if kind.literal_value >= 0 else self.builder.add(number, self._field(variable, "shape", axis))
        if not kind.signed:
            return number
        negative = self.builder.icmp_signed("<", number, INTEGER(0))
        return self.builder.select(negative, self.builder.add(number, self._field(variable, "shape", axis)), number)

    def _field(self, variable: Any, name: str, *where: int) -> Any:
        """A field of an array, or a part of it."""
        model = self.context.data_model_manager[self.typeof(variable.name)]
        return self._part(self.loadvar(variable.name), model.get_field_position(name), *where)

    def _part(self, value: Any, *where: int) -> Any:
        """Part of a value, found once in a block: one that was put into it, or taken out of it."""
        key = id(value), *where
        if key not in self._parts:
            self._parts[key] = value, self._find_part(value, where)
        return self._parts[key][1]

    def _find_part(self, value: Any, where: tuple[int, ...]) -> Any:
        while isinstance(value, llvm.InsertValue):
            inserted = tuple(value.indices)
            if inserted == where:
                return value.operands[1]
            if inserted == where[: len(inserted)]:
                return self._find_part(value.operands[1], where[len(inserted) :])
            if inserted[: len(where)] == where:
                break
            value = value.operands[0]
        return self.builder.extract_value(value, where)


@register_pass(mutates_CFG=True, analysis_only=False)
class ShortLowering(NativeLowering):  # type: ignore[misc]
    """numba's pass that lowers a function, with the short forms."""

    _name = "short_lowering"

    @property
    def lowering_class(self) -> type:
        """The class that lowers a function."""
        return Lowering

    def run_pass(self, state: Any) -> bool:
        """Lower with the implementations that typing has found."""
        state.typingctx.choose_implementations()
        return bool(super().run_pass(state))
