"""Translation of generated kernels to LLVM's language.

Kernels are straight-line code of floating-point numbers: assignments, arithmetic, functions of ``math``, loads and stores of
array components, a loop over columns, and a switch over kinds.  numba's general translator takes most of the time of their
compilation; this one takes a tenth of that.  It emits the same operations in the same order, so results have the same bits.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils

DOUBLE, INTEGER = ir.DoubleType(), ir.IntType(64)
OPERATIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
IN_LLVM = ("sqrt", "sin", "cos", "exp", "log", "pow")  # functions that LLVM knows; others are those of the C library
MAX_UNROLLED_POWER = 64


class View(NamedTuple):
    """An array: address of its data, steps between neighbours along each axis in components, and extents that are known."""

    data: ir.Value
    steps: tuple[ir.Value, ...]
    shape: tuple[ir.Value | None, ...]


Value = Any  # a number or an index (ir.Value), or an array (View)


def emit(builder: ir.IRBuilder, module: ModuleType, name: str, arguments: Sequence[Value]) -> None:
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
        Naming the module and the piece of its text that is no straight-line code.
    """
    tree = functions_of(module)[name]
    contract = any("contract" in ast.unparse(decorator) for decorator in tree.decorator_list)
    names = [argument.arg for argument in tree.args.args]
    _Body(builder, module, dict(zip(names, arguments, strict=True)), ("contract",) if contract else ()).block(tree.body)


@cache
def functions_of(module: ModuleType) -> dict[str, ast.FunctionDef]:
    """The functions of a module by name, as syntax trees."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


class _Body:
    """The statements of one kernel.  ``flags`` are those of LLVM for its arithmetic."""

    def __init__(
        self, builder: ir.IRBuilder, module: ModuleType, values: dict[str, Value], flags: tuple[str, ...]
    ) -> None:
        self.builder, self.module, self.values, self.flags = builder, module, values, flags

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=True):
                    self.assign(target, value)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, value)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[columns])):
                with cgutils.for_range(self.builder, self.index(columns), intp=INTEGER) as loop:
                    self.values[name] = loop.index
                    self.block(statement.body)
            case ast.If(test=ast.Compare(left=kind, ops=[ast.Eq()], comparators=[number])):
                condition = self.builder.icmp_signed("==", self.index(kind), self.index(number))
                with self.builder.if_else(condition) as (then, otherwise):
                    with then:
                        self.block(statement.body)
                    with otherwise:
                        self.block(statement.orelse)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=arguments)):
                emit(self.builder, self.module, name, [self.argument(a) for a in arguments])
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), args=arguments)):
                emit(self.builder, getattr(self.module, module), name, [self.argument(a) for a in arguments])
            case ast.Pass() | ast.Expr(value=ast.Constant()):  # a docstring
                pass
            case _:
                self.refuse(statement)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self.values[name] = self.array(value) if _makes_array(value) else self.number(value)
            case ast.Subscript(value=ast.Name(id=name)):
                self.builder.store(self.number(value), self.place(name, target.slice))
            case _:
                self.refuse(target)

    def argument(self, node: ast.expr) -> Value:
        """An argument of a call: a name, an array at an address, an index, or a number."""
        match node:
            case ast.Name(id=name):
                return self.values[name]
            case ast.Constant(value=int()):
                return self.index(node)
        return self.array(node) if _makes_array(node) else self.number(node)

    def array(self, node: ast.expr) -> View:
        """``carray(address, extents)``: an array at an address, row by row."""
        assert isinstance(node, ast.Call)
        data, shape = self.argument(node.args[0]), ast.literal_eval(node.args[1])
        steps = [INTEGER(math.prod(shape[k + 1 :])) for k in range(len(shape))]
        return View(data, tuple(steps), tuple(map(INTEGER, shape)))

    def place(self, array: str, indices: ast.expr) -> ir.Value:
        """Address of a component of an array."""
        view = self.values[array]
        offset = INTEGER(0)
        for index, step in zip(_indices(indices), view.steps, strict=True):
            offset = self.sum(offset, self.product(self.index(index), step))
        return self.builder.gep(view.data, [offset], inbounds=True)

    def index(self, node: ast.expr) -> ir.Value:
        """A constant, a name, or an extent, ``array.shape[1]``."""
        match node:
            case ast.Constant(value=int(value)):
                return INTEGER(value)
            case ast.Name(id=name):
                return self.values[name]
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=k)):
                return self.values[name].shape[k]
        return self.refuse(node)

    def sum(self, a: ir.Value, b: ir.Value) -> ir.Value:
        if isinstance(a, ir.Constant) and isinstance(b, ir.Constant):
            return INTEGER(a.constant + b.constant)
        return b if isinstance(a, ir.Constant) and a.constant == 0 else self.builder.add(a, b)

    def product(self, a: ir.Value, b: ir.Value) -> ir.Value:
        if isinstance(a, ir.Constant) and isinstance(b, ir.Constant):
            return INTEGER(a.constant * b.constant)
        return a if isinstance(b, ir.Constant) and b.constant == 1 else self.builder.mul(a, b)

    def number(self, node: ast.expr) -> ir.Value:
        """Value of an arithmetic expression."""
        if (known := _known(node)) is not None:
            return DOUBLE(float(known))
        match node:
            case ast.Name(id=name):
                return self.values[name]
            case ast.Subscript(value=ast.Name(id=name), slice=indices):
                return self.builder.load(self.place(name, indices))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.builder.fneg(self.number(operand), flags=self.flags)
            case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
                return self.power(self.number(base), exponent)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATIONS:
                return self.operation(type(operator), self.number(left), self.number(right))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=arguments):
                return self.function(name, [self.number(a) for a in arguments])
            case ast.Call(func=ast.Name(id="min"), args=[a, b]):
                first, second = self.number(a), self.number(b)
                return self.builder.select(self.builder.fcmp_ordered("<", second, first), second, first)
        return self.refuse(node)

    def operation(self, operator: type[ast.operator], left: ir.Value, right: ir.Value) -> ir.Value:
        return getattr(self.builder, OPERATIONS[operator])(left, right, flags=self.flags)

    def power(self, base: ir.Value, exponent: ast.expr) -> ir.Value:
        """Powers with a whole exponent by squaring and multiplication, in numba's order."""
        known = _known(exponent)
        if not isinstance(known, int) or abs(known) > MAX_UNROLLED_POWER:
            return self.function("pow", [base, self.number(exponent)])
        result, left = DOUBLE(1.0), abs(known)
        while left:
            if left & 1:
                result = self.operation(ast.Mult, result, base)
            left >>= 1
            base = self.operation(ast.Mult, base, base)
        return result if known >= 0 else self.operation(ast.Div, DOUBLE(1.0), result)

    def function(self, name: str, arguments: Sequence[ir.Value]) -> ir.Value:
        """A function of ``math``."""
        if name in IN_LLVM:
            called = self.builder.module.declare_intrinsic(f"llvm.{name}", [DOUBLE])
        else:
            kind = ir.FunctionType(DOUBLE, [DOUBLE] * len(arguments))
            called = cgutils.insert_pure_function(self.builder.module, kind, name)
        return self.builder.call(called, arguments)

    def refuse(self, node: ast.AST) -> Any:
        raise NotImplementedError(
            f"{self.module.__name__}: '{ast.unparse(node)}' is no straight-line code; let codegen emit another form, or extend "
            "runtime/jit/straight_line.py"
        )


def _indices(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _makes_array(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "carray"


def _known(node: ast.expr) -> float | int | None:
    """Value of an expression of constants, by Python's arithmetic."""
    match node:
        case ast.Constant(value=int() | float() as known):
            return known
        case ast.UnaryOp(op=ast.USub(), operand=operand) if (value := _known(operand)) is not None:
            return -value
        case ast.BinOp(left=left, right=right) if _known(right) is not None and _known(left) is not None:
            return eval(compile(ast.Expression(node), "<constant>", "eval"), {})  # type: ignore[no-any-return]
    return None
