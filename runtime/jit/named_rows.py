"""Named numbers of the lanes of a batch in compiled code: ``s.time[lane]``, or ``x.low[k, lane]`` of a table.

All fields lie in one block of memory at places that the compiler knows, one lane beside the other, so that a loop over lanes
becomes vector instructions.  In Python the block is an array; the definition of the memory that holds it states the names::

    class LaneState(Fields):
        length: Row  # [s] of the attempt

    @with_lanes(16)
    class Memory(NamedTuple):
        s: Annotated[Floats, Block(LaneState)]
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

from llvmlite import ir
from numba.core import cgutils
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import models, register_model

from runtime.jit.numba_types import types
from runtime.support.arrays import Floats, lanes_of

T = TypeVar("T")


class Row:
    """The kind of a field: a number for each lane."""


class Fields:
    """Base of definitions of named numbers: annotations in order."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the fields in order."""
        return tuple(cls.__annotations__)

    @classmethod
    @cache
    def places(cls) -> dict[str, int]:
        """Rows of the fields by their names."""
        return {name: k for k, name in enumerate(cls.names())}

    @classmethod
    def block(cls, lanes: int, *count: int) -> Floats:
        """Zeros for so many lanes, (fields, lanes), or with a count (count, fields, lanes)."""
        return lanes_of(*count, len(cls.names()), lanes)


class Lane:
    """The named numbers of the first lane of a block, for Python code."""

    places: dict[str, int]
    block: Floats

    def __init__(self, fields: type[Fields], block: Floats) -> None:
        vars(self)["places"], vars(self)["block"] = fields.places(), block

    def __getattr__(self, name: str) -> float:
        if name not in self.places:
            raise AttributeError(name)
        return float(self.block[self.places[name], 0])

    def __setattr__(self, name: str, value: float) -> None:
        self.block[self.places[name], 0] = value


class Block(NamedTuple):
    """Metadata of an array: its fields; ``table``: it has several of each."""

    fields: type[Fields]
    table: bool = False


def with_lanes(count: int) -> Callable[[type[T]], type[T]]:
    """Give a memory, a class of named tuples, a number of lanes, which compiled code reads as the constant ``m.W``."""

    def marked(memory: type[T]) -> type[T]:
        memory.W = count  # type: ignore[attr-defined]
        return memory

    return marked


@cache
def blocks_of(memory: type) -> dict[str, Block]:
    """The blocks of named numbers of a memory, by the names of its arrays."""
    hints = get_type_hints(memory, include_extras=True)
    found = ((name, _block(hint)) for name, hint in hints.items())
    return {name: block for name, block in found if block is not None}


def _block(hint: Any) -> Block | None:
    return next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Block)), None)


@dataclass(frozen=True)
class _Layout:
    names: tuple[str, ...]
    lanes: int
    table: bool


class BlockType(types.Type):  # type: ignore[misc]
    """A block of named numbers in compiled code: a pointer."""

    def __init__(self, block: Block, lanes: int) -> None:
        self.layout = _Layout(block.fields.names(), lanes, block.table)
        super().__init__(name=f"{block.fields.__name__}({lanes}, {block.table}, {' '.join(self.layout.names)})")


class RowType(types.Type):  # type: ignore[misc]
    """The numbers of one field: a pointer to the first."""

    def __init__(self, layout: _Layout) -> None:
        self.lanes, self.stride = layout.lanes, len(layout.names) * layout.lanes if layout.table else 0
        super().__init__(name=f"Row({self.lanes}, {self.stride})")


class _Pointer(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.DoubleType().as_pointer())


register_model(BlockType)(_Pointer)
register_model(RowType)(_Pointer)


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = BlockType

    def generic_resolve(self, block: BlockType, name: str) -> Any:
        if name == "W":
            return types.int64
        if name == "address":
            return types.uintp
        return RowType(block.layout) if name in block.layout.names else None


@lower_getattr_generic(BlockType)  # type: ignore[untyped-decorator]
def _attribute(context: Any, builder: Any, block: BlockType, value: Any, name: str) -> Any:
    if name == "W":
        return ir.Constant(ir.IntType(64), block.layout.lanes)
    if name == "address":
        return builder.ptrtoint(value, ir.IntType(64))
    place = ir.Constant(ir.IntType(64), block.layout.names.index(name) * block.layout.lanes)
    return builder.gep(value, [place], inbounds=True)


@infer_getattr
class _RowAttributes(AttributeTemplate):  # type: ignore[misc]
    key = RowType

    def generic_resolve(self, row: RowType, name: str) -> Any:
        return types.uintp if name == "address" else None


@lower_getattr_generic(RowType)  # type: ignore[untyped-decorator]
def _row_attribute(context: Any, builder: Any, row: RowType, value: Any, name: str) -> Any:
    return builder.ptrtoint(value, ir.IntType(64))


def _is_place(row: RowType, place: Any) -> bool:
    if row.stride:
        return (
            isinstance(place, types.BaseTuple) and len(place) == 2 and all(isinstance(k, types.Integer) for k in place)
        )
    return isinstance(place, types.Integer)


@infer_global(operator.getitem)
class _Get(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        row, place = args
        if isinstance(row, RowType) and _is_place(row, place):
            return signature(types.float64, row, _place_type(row))
        return None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        row, place, _ = args
        if isinstance(row, RowType) and _is_place(row, place):
            return signature(types.none, row, _place_type(row), types.float64)
        return None


def _place_type(row: RowType) -> Any:
    return types.UniTuple(types.int64, 2) if row.stride else types.int64


def _at(builder: Any, row: RowType, value: Any, place: Any) -> Any:
    if row.stride:
        k, lane = cgutils.unpack_tuple(builder, place, 2)
        place = builder.add(builder.mul(k, ir.Constant(ir.IntType(64), row.stride)), lane)
    return builder.gep(value, [place], inbounds=True)


@lower_builtin(operator.getitem, RowType, types.Any)  # type: ignore[untyped-decorator]
def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_at(builder, sig.args[0], *args))


@lower_builtin(operator.setitem, RowType, types.Any, types.Any)  # type: ignore[untyped-decorator]
def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    row, place, number = args
    builder.store(number, _at(builder, sig.args[0], row, place))
    return context.get_dummy_value()


@lower_builtin(len, RowType)  # type: ignore[untyped-decorator]
def _count(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return ir.Constant(ir.IntType(64), sig.args[0].lanes)


@infer_global(len)
class _Length(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, *args) if isinstance(args[0], RowType) and not args[0].stride else None
