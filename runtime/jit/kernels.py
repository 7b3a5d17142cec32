"""The generated kernels that compiled code calls by name: without numba's type inference, as functions that are linked in."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

import generated.bodies
import generated.contact_sphere_plane
import generated.coupling_combination
import generated.coupling_follower
import generated.coupling_product
import generated.dispatch
import generated.position
import generated.separation
import generated.top_view
from runtime.jit.llvm_code import INTEGER
from runtime.jit.numba_types import types
from runtime.jit.straight_line import Value, View, emit

BYTES = 3  # 2**3 in a float


def callable_from_compiled_code(module: ModuleType) -> ModuleType:
    """A generated module with its constants, whose kernels take arrays of any layout, floats and integers of compiled code."""
    made = ModuleType(module.__name__, module.__doc__)
    for name, value in vars(module).items():
        function = getattr(value, "py_func", value)
        if isinstance(function, FunctionType) and function.__module__ == module.__name__:
            value = _kernel(module, function)
        if not name.startswith("__"):
            setattr(made, name, value)
    return made


def _kernel(module: ModuleType, function: FunctionType) -> Any:
    name, count = function.__name__, function.__code__.co_argcount

    @intrinsic  # type: ignore[untyped-decorator]
    def kernel(typingctx: Any, *kinds: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            packed = cgutils.unpack_tuple(builder, arguments[0], count)
            values = [_value(context, builder, kind, value) for kind, value in zip(kinds, packed, strict=True)]
            function = _function(builder.module, module, name, values)
            builder.call(function, [part for value in values for part in _parts(value)])
            return context.get_dummy_value()

        return types.void(types.StarArgTuple(kinds)), generate

    kernel.__doc__ = function.__doc__
    return kernel


def _value(context: Any, builder: ir.IRBuilder, kind: Any, value: ir.Value) -> Value:
    """An argument of numba's as an array, an index or a number."""
    if not isinstance(kind, types.Array):
        return context.cast(builder, value, kind, types.intp if isinstance(kind, types.Integer) else types.float64)
    if kind.dtype != types.float64:
        raise NotImplementedError(f"kernels take arrays of floats, not of {kind.dtype}")
    array = context.make_array(kind)(context, builder, value)
    shape = cgutils.unpack_tuple(builder, array.shape)
    if kind.layout == "C" and kind.ndim <= 2:
        steps = [*shape[1:], INTEGER(1)]
    else:
        steps = [builder.ashr(step, INTEGER(BYTES)) for step in cgutils.unpack_tuple(builder, array.strides)]
    return View(array.data, tuple(steps), tuple(shape))


def _parts(value: Value) -> list[ir.Value]:
    """The values by which an argument is passed; of an array: data, steps that are not 1, extents but the first."""
    if not isinstance(value, View):
        return [value]
    return [value.data, *(step for step in value.steps if not isinstance(step, ir.Constant)), *value.shape[1:]]


def _function(owner: ir.Module, module: ModuleType, name: str, values: Sequence[Value]) -> ir.Function:
    """The function of a kernel for arguments of these forms, emitted into the module ``owner`` unless it is there."""
    parts = [_parts(value) for value in values]
    full = f"{module.__name__}.{name}.{'.'.join(str(len(p)) for p in parts)}"
    if full in owner.globals:
        return owner.globals[full]
    function = ir.Function(owner, ir.FunctionType(ir.VoidType(), [part.type for p in parts for part in p]), full)
    function.linkage = "linkonce_odr"
    builder, passed = ir.IRBuilder(function.append_basic_block("entry")), iter(function.args)
    inside: list[Value] = []
    for value in values:
        first = next(passed)
        if isinstance(value, View):
            steps = tuple(step if isinstance(step, ir.Constant) else next(passed) for step in value.steps)
            inside.append(View(first, steps, (None, *(next(passed) for _ in value.shape[1:]))))
        else:
            inside.append(first)
    emit(builder, module, name, inside)
    builder.ret_void()
    return function


bodies = callable_from_compiled_code(generated.bodies)
combination = callable_from_compiled_code(generated.coupling_combination)
coupling = callable_from_compiled_code(generated.coupling_follower)
dispatch = callable_from_compiled_code(generated.dispatch)
position = callable_from_compiled_code(generated.position)
product = callable_from_compiled_code(generated.coupling_product)
separation = callable_from_compiled_code(generated.separation)
sphere_plane = callable_from_compiled_code(generated.contact_sphere_plane)
top_view = callable_from_compiled_code(generated.top_view)
