"""Named tuples of arrays behind one pointer, in compiled code.

numba passes a named tuple to a function as all its scalars: the data and the workspace of a system are more than a thousand, and
every function that takes them would be compiled with as many arguments.  Functions called from Python take a ``Reference`` in
place of a tuple, and all functions read ``t.mass`` or ``t.limits.kind`` through its pointer when needed.

The type of a pointer has a short name, and is a pointer to bytes for LLVM: llvmlite writes out what a pointer points to wherever
it is used, which for the integration loop was 20 MB of text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from llvmlite import ir
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, intrinsic, lower_getattr_generic, models, register_model, unbox

from runtime.jit.freshness import sha256
from runtime.jit.lane_vectors import as_array, vectors_of
from runtime.jit.named_rows import Block, BlockType, blocks_of
from runtime.jit.numba_types import types

T = TypeVar("T")


class Pointer(types.Type):  # type: ignore[misc]
    """A pointer to a named tuple.

    ``lanes``: how many lanes its memory has, which compiled code reads as the constant ``m.W``; that of the class of the tuple
    (its attribute ``W``), or of the tuple that it is part of.  ``vectors``: likewise how many lanes are the last axis of its
    arrays, by ``in_lanes``.
    """

    def __init__(self, of: Any, lanes: int = 0, vectors: int = 0) -> None:
        self.of, self.lanes = of, getattr(of.instance_class, "W", lanes)
        self.vectors = getattr(of.instance_class, "VECTORS", vectors)
        super().__init__(name=_name(str(of), self.lanes, self.vectors))

    def field(self, name: str) -> tuple[int, Any]:
        """Number and type of a field."""
        number = self.of.fields.index(name)
        return number, self.of.types[number]

    def shown(self, kind: Any) -> Any:
        """The type of a field in compiled code."""
        return vectors_of(kind, self.vectors) if self.vectors else kind

    def block(self, name: str) -> Block | None:
        """The named numbers of a field, if its array has some."""
        return blocks_of(self.of.instance_class).get(name) if self.lanes else None


@cache
def _name(of: str, *lanes: int) -> str:
    """Name of a pointer to a type: the class of its tuple, and a digest of all types in it."""
    return f"Pointer({of.partition('(')[0]} {sha256(of)[:16]}{f' {lanes}' if any(lanes) else ''})"


def in_lanes(count: int) -> Callable[[type[T]], type[T]]:
    """Mark a class of named tuples: lanes are the last axis of its arrays of floats, also of inner tuples."""

    def marked(memory: type[T]) -> type[T]:
        memory.VECTORS = count  # type: ignore[attr-defined]
        return memory

    return marked


@register_model(Pointer)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, pointer: Pointer) -> None:
        super().__init__(manager, pointer, ir.IntType(8).as_pointer())


@unbox(Pointer)  # type: ignore[untyped-decorator]
def _unbox(kind: Pointer, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.bitcast(address, c.context.get_value_type(kind)))


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = Pointer

    def generic_resolve(self, pointer: Pointer, name: str) -> Any:
        if name == "W" and pointer.lanes:
            return types.int64
        if name not in pointer.of.fields:
            return None
        if (block := pointer.block(name)) is not None:
            return BlockType(block, pointer.lanes)
        _, kind = pointer.field(name)
        if isinstance(kind, types.BaseNamedTuple):
            return Pointer(kind, pointer.lanes, pointer.vectors)
        return pointer.shown(kind)


@lower_getattr_generic(Pointer)  # type: ignore[untyped-decorator]
def _attribute(context: Any, builder: Any, pointer: Pointer, value: Any, name: str) -> Any:
    if name == "W" and pointer.lanes:
        return ir.Constant(ir.IntType(64), pointer.lanes)
    number, kind = pointer.field(name)
    place = builder.gep(value, [ir.Constant(ir.IntType(64), _offset(context, pointer.of, number))], inbounds=True)
    if isinstance(kind, types.BaseNamedTuple):
        return place
    found = builder.load(builder.bitcast(place, context.get_value_type(kind).as_pointer()))
    if pointer.block(name) is not None:
        return context.make_array(kind)(context, builder, found).data
    return as_array(context, builder, kind, found, pointer.shown(kind))


_OFFSETS: dict[tuple[Any, str, int], int] = {}


def _offset(context: Any, of: Any, number: int) -> int:
    """Offset of a field of a named tuple [bytes]."""
    key = type(context), str(of), number
    if key not in _OFFSETS:
        kind = context.get_value_type(of)
        if isinstance(kind, ir.ArrayType):  # all fields have one type
            _OFFSETS[key] = number * context.get_abi_sizeof(kind.element)
        else:
            _OFFSETS[key] = kind.get_element_offset(context.target_data, number)
    return _OFFSETS[key]


@intrinsic  # type: ignore[untyped-decorator]
def at_address(typingctx: Any, address: Any, kind: Any) -> Any:
    """The named tuple of a type at an address."""
    pointer = Pointer(kind.instance_type)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cast = builder.inttoptr if isinstance(address, types.Integer) else builder.bitcast
        return cast(arguments[0], context.get_value_type(pointer))

    return pointer(address, kind), generate


@intrinsic  # type: ignore[untyped-decorator]
def array_at(typingctx: Any, address: Any, *sizes: Any) -> Any:
    """The array of floats of these sizes at an address; unlike numba's ``carray``, without numba's memory management."""
    array = types.Array(types.float64, len(sizes), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, packed = arguments
        shape = cgutils.unpack_tuple(builder, packed, len(sizes))
        step = item = ir.Constant(ir.IntType(64), context.get_abi_sizeof(ir.DoubleType()))
        strides: list[Any] = []
        for size in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, size)
        made = context.make_array(array)(context, builder)
        made.data, made.itemsize, made.nitems = data, item, builder.udiv(step, item)
        made.shape, made.strides = cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides)
        made.meminfo, made.parent = (cgutils.get_null_value(value.type) for value in (made.meminfo, made.parent))
        return made._getvalue()

    return array(address, types.StarArgTuple([types.intp] * len(sizes))), generate


@intrinsic  # type: ignore[untyped-decorator]
def local(typingctx: Any, pointer: Any) -> Any:
    """A copy of a named tuple on the stack of the calling function, whose fields the compiler can keep in registers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(pointer.of)
        place = cgutils.alloca_once(builder, kind)
        cgutils.raw_memcpy(builder, place, arguments[0], ir.Constant(ir.IntType(64), context.get_abi_sizeof(kind)), 1)
        return builder.bitcast(place, arguments[0].type)

    return pointer(pointer), generate


@intrinsic  # type: ignore[untyped-decorator]
def call_at(typingctx: Any, place: Any, *arguments: Any) -> Any:
    """Call the function whose address is at a place, with numbers, named tuples and the first places of arrays.

    The function returns a code.  See ``runtime.jit.compilation.place_of_address``.
    """
    kinds = [types.unliteral(kind) for kind in arguments]
    if any(isinstance(kind, types.Array) and kind.layout != "C" for kind in kinds):
        return None  # numba then names the call

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        passed = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(kinds, cgutils.unpack_tuple(builder, values[1], len(kinds)), strict=True)
        ]
        address = builder.load(builder.inttoptr(values[0], ir.IntType(64).as_pointer()))
        function = ir.FunctionType(ir.IntType(64), [value.type for value in passed])
        return builder.call(builder.inttoptr(address, function.as_pointer()), passed)

    return types.int64(types.int64, types.StarArgTuple(kinds)), generate
