"""Translation of generated kernels to LLVM's language.

Kernels are straight-line code of floating-point numbers: assignments, arithmetic, functions of ``math``, loads and stores of
array components, a loop over columns, and a switch over kinds.  numba's general translator takes most of the time of their
compilation; to run them with a recorder takes a tenth of that.  The same operations come in the same order, so results have the
same bits.
"""

from __future__ import annotations

import linecache
import math
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils

from runtime.jit.llvm_code import CONTRACT, DOUBLE, INTEGER, LlvmCode
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Functions, Number, Recorded, lesser

KIND = "kind"  # the argument over which a kernel switches


class View(NamedTuple):
    """An array: address of its data, steps between neighbours along each axis in components, and extents that are known."""

    data: ir.Value
    steps: tuple[ir.Value, ...]
    shape: tuple[ir.Value | None, ...]


Value = Any  # a number or an index (ir.Value), or an array (View)


def emit(builder: ir.IRBuilder, module: ModuleType, name: str, arguments: Sequence[Any]) -> None:
    """Emit the body of a kernel, with those that it calls.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
    module : module
        The generated module of the kernel.
    name : str
    arguments : sequence
        Numbers and indices, and arrays as ``View``, or as addresses where the kernel makes arrays of them with ``carray``.

    Raises
    ------
    NotImplementedError
        Naming the module and the line of its text that is no straight-line code.
    """
    source = python_code(getattr(module, name)).__code__
    decorator = linecache.getline(source.co_filename, source.co_firstlineno)
    code = _KernelCode(builder, CONTRACT if "contract" in decorator else ())
    names = {used: code.known(module, used) for used in source.co_names if hasattr(module, used)}
    function = FunctionType(
        source, names | {"math": Functions(), "min": lesser, "range": code.indices, "carray": code.array}
    )
    given = dict(zip(source.co_varnames, map(code.given, arguments), strict=False))
    try:
        if isinstance(given.get(KIND), ir.Value):
            _switch(builder, given[KIND], lambda kind: function(**given | {KIND: kind}))
        else:
            function(**given)
    except (TypeError, AttributeError) as error:
        lines = [frame.line for frame in traceback.extract_tb(error.__traceback__) if frame.name == name]
        raise NotImplementedError(
            f"{module.__name__}: '{lines[-1]}' is no straight-line code; let codegen emit another form, or extend "
            "runtime/jit/straight_line.py"
        ) from error


class _KernelCode(LlvmCode):
    """The instructions of a kernel."""

    def power(self, base: Number, exponent: Number) -> Number:
        return self.function("pow", base, exponent)  # as numba

    def given(self, argument: Any) -> Any:
        """An argument as the kernel takes it: a number, an array, an index or an address."""
        match argument:
            case View() | _Array():
                return _Array(self, argument.data, argument.steps, argument.shape)
            case Recorded():
                return Recorded(self, argument.value)
        return Recorded(self, argument) if isinstance(argument, ir.Value) and argument.type == DOUBLE else argument

    def known(self, module: ModuleType, name: str) -> Any:
        """What a name of a module means to a kernel: another kernel, a module of kernels, or a constant."""
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            return _Kernels(self.builder, value)
        return getattr(_Kernels(self.builder, module), name) if callable(value) else value

    def indices(self, count: Any) -> Iterator[ir.Value]:
        """``range``: a loop."""
        with cgutils.for_range(self.builder, _index(count), intp=INTEGER) as loop:
            yield loop.index

    def array(self, data: ir.Value, shape: Sequence[int]) -> _Array:
        """``carray(address, extents)``: an array at an address, row by row."""
        steps = [INTEGER(math.prod(shape[k + 1 :])) for k in range(len(shape))]
        return _Array(self, data, tuple(steps), tuple(map(INTEGER, shape)))


class _Kernels:
    """The kernels of a module, called while another is written."""

    def __init__(self, builder: ir.IRBuilder, module: ModuleType) -> None:
        self._builder, self._module = builder, module

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments: emit(self._builder, self._module, name, arguments)


class _Array:
    """An array of a kernel."""

    __iter__ = None  # its length is not known

    def __init__(self, code: LlvmCode, *view: Any) -> None:
        self.code = code
        self.data, self.steps, self.shape = view

    def __getitem__(self, indices: Any) -> Recorded:
        return Recorded(self.code, self.code.builder.load(self._place(indices)))

    def __setitem__(self, indices: Any, number: Number) -> None:
        self.code.builder.store(self.code.value(number), self._place(indices))

    def _place(self, indices: Any) -> ir.Value:
        offset = INTEGER(0)
        for index, step in zip(indices if isinstance(indices, tuple) else (indices,), self.steps, strict=True):
            offset = self._sum(offset, self._product(_index(index), step))
        return self.code.builder.gep(self.data, [offset], inbounds=True)

    def _sum(self, a: ir.Value, b: ir.Value) -> ir.Value:
        if isinstance(a, ir.Constant) and isinstance(b, ir.Constant):
            return INTEGER(a.constant + b.constant)
        return b if isinstance(a, ir.Constant) and a.constant == 0 else self.code.builder.add(a, b)

    def _product(self, a: ir.Value, b: ir.Value) -> ir.Value:
        if isinstance(a, ir.Constant) and isinstance(b, ir.Constant):
            return INTEGER(a.constant * b.constant)
        return a if isinstance(b, ir.Constant) and b.constant == 1 else self.code.builder.mul(a, b)


class _NoKind(list[int]):
    """A kind that is none of those with which it is compared, which it lists."""

    def __eq__(self, kind: object) -> bool:
        self.append(kind)  # type: ignore[arg-type]
        return False


def _switch(builder: ir.IRBuilder, kind: ir.Value, write: Callable[[Any], None]) -> None:
    """Write the code of each kind with which code compares an index, and that of all others."""
    switch, others = builder.switch(kind, builder.append_basic_block()), _NoKind()
    builder.position_at_end(switch.default)
    write(others)
    end = builder.append_basic_block()
    builder.branch(end)
    for number in others:
        builder.position_at_end(builder.append_basic_block())
        switch.add_case(INTEGER(number), builder.block)
        write(number)
        builder.branch(end)
    builder.position_at_end(end)


def _index(index: Any) -> ir.Value:
    return INTEGER(index) if isinstance(index, int) else index
