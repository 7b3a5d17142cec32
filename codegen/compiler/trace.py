"""Operator-overloading tracer that records an expression graph.

A straight-line kernel that is called with nodes of the graph in place of floats records its operations.  Equal operations are
recorded once, products with 0 and 1 and sums with 0 not at all, and unused operations are never written.  Thus kernels that
were emitted separately become one function, and the graph can be differentiated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from types import FunctionType, SimpleNamespace
from typing import Any

import sympy as sp
from sympy.printing.pycode import PythonCodePrinter

MAX_LENGTH = 12  # operations in one statement

NAMES_IN_SYMPY = {"math.pow": "Pow"}
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


class Record:
    """The expression graph: its operations, each as (name, index of an operand, ...); constants and inputs carry their value."""

    def __init__(self) -> None:
        self.operations: list[tuple[Any, ...]] = []
        self._index: dict[tuple[Any, ...], int] = {}

    def of(self, *operation: Any) -> Node:
        """The node of an operation, which is recorded unless it is there already."""
        if operation not in self._index:
            self._index[operation] = len(self.operations)
            self.operations.append(operation)
        return Node(self, self._index[operation])

    def constant(self, value: float) -> Node:
        """A node whose value is known at emission."""
        return self.of("constant", float(value) + 0.0)  # no negative zero

    def input(self, text: str) -> Node:
        """A node that the emitted code reads."""
        return self.of("input", text)

    def operands(self, index: int) -> tuple[int, ...]:
        """Nodes of the operands of an operation."""
        name, *rest = self.operations[index]
        return () if name in ("constant", "input") else tuple(r for r in rest if isinstance(r, int))

    def needed(self, wanted: Iterable[int], known: Container[int] = ()) -> list[int]:
        """The nodes from which others follow, each after its operands; those that are ``known`` need none."""
        needed, stack = set(), list(wanted)
        while stack:
            n = stack.pop()
            if n not in needed:
                needed.add(n)
                stack += () if n in known else self.operands(n)
        return sorted(needed)


class Node:
    """A node of an expression graph; arithmetic with it records further nodes."""

    __slots__ = ("index", "record")

    def __init__(self, record: Record, index: int) -> None:
        self.record, self.index = record, index

    @property
    def constant(self) -> float | None:
        """Its value if it is known at emission."""
        name, *rest = self.record.operations[self.index]
        return float(rest[0]) if name == "constant" else None

    @property
    def negated(self) -> Node | None:
        """The node whose negative it is, if it is one."""
        name, *rest = self.record.operations[self.index]
        return Node(self.record, rest[0]) if name == "neg" else None

    def same(self, other: Node) -> bool:
        """Both are one node of the graph."""
        return self.index == other.index

    def other(self, value: Any) -> Node:
        """A number as a node."""
        return value if isinstance(value, Node) else self.record.constant(value)

    def __neg__(self) -> Node:
        if self.constant is not None:
            return self.record.constant(-self.constant)
        return self.record.of("neg", self.index) if self.negated is None else self.negated

    def __pos__(self) -> Node:
        return self

    def __add__(self, value: Any) -> Node:
        other = self.other(value)
        a, b = self.constant, other.constant
        if a is not None and b is not None:
            return self.record.constant(a + b)
        if a == 0.0:
            return other
        if b == 0.0:
            return self
        if other.negated is not None:
            return self - other.negated
        if self.negated is not None:
            return other - self.negated
        return self.record.of("add", *sorted((self.index, other.index)))

    __radd__ = __add__

    def __sub__(self, value: Any) -> Node:
        other = self.other(value)
        a, b = self.constant, other.constant
        if a is not None and b is not None:
            return self.record.constant(a - b)
        if a == 0.0:
            return -other
        if b == 0.0:
            return self
        if self.same(other):
            return self.record.constant(0.0)
        if other.negated is not None:
            return self + other.negated
        if self.negated is not None:
            return -(self.negated + other)
        # In one order only, so that a - b and b - a are known as opposites.
        first, second = sorted((self.index, other.index))
        difference = self.record.of("sub", first, second)
        return difference if first == self.index else -difference

    def __rsub__(self, value: Any) -> Node:
        return self.other(value) - self

    def __mul__(self, value: Any) -> Node:
        other = self.other(value)
        a, b = self.constant, other.constant
        if a is not None and b is not None:
            return self.record.constant(a * b)
        if a is not None:
            return other * self
        if b in (0.0, 1.0, -1.0):
            return other if b == 0.0 else self if b == 1.0 else -self
        if self.negated is not None:
            return -(self.negated * other)
        if other.negated is not None:
            return -(self * other.negated)
        return self.record.of("mul", *sorted((self.index, other.index)))

    __rmul__ = __mul__

    def __truediv__(self, value: Any) -> Node:
        other = self.other(value)
        a, b = self.constant, other.constant
        if a is not None and b is not None and b != 0.0:
            return self.record.constant(a / b)
        if a == 0.0:
            return self
        if b in (1.0, -1.0):
            return self if b == 1.0 else -self
        if self.negated is not None:
            return -(self.negated / other)
        if other.negated is not None:
            return -(self / other.negated)
        return self.record.of("div", self.index, other.index)

    def __rtruediv__(self, value: Any) -> Node:
        return self.other(value) / self

    def __pow__(self, exponent: Any) -> Node:
        if not isinstance(exponent, int) or exponent < 1:
            return self.call("pow", exponent)
        power = self
        for _ in range(exponent - 1):
            power = power * self
        return power

    def call(self, name: str, *rest: Any) -> Node:
        """A function of ``math``."""
        others = [self.other(value) for value in rest]
        values = [n.constant for n in (self, *others)]
        if all(value is not None for value in values):
            return self.record.constant(getattr(math, name)(*values))
        return self.record.of("call", f"math.{name}", self.index, *(other.index for other in others))

    def __bool__(self) -> bool:
        raise TypeError("straight-line code has no branches")

    __hash__ = None  # type: ignore[assignment]


def recording(function: Any) -> Callable[..., Any]:
    """A compiled kernel as a function of nodes; its calls of ``math`` are recorded too."""
    plain: FunctionType = getattr(function, "py_func", function)
    names = [name for name in plain.__code__.co_names if hasattr(math, name)]

    def recorded(name: str) -> Callable[..., Any]:
        def call(first: Any, *rest: Any) -> Any:
            node = next((value for value in (first, *rest) if isinstance(value, Node)), None)
            return getattr(math, name)(first, *rest) if node is None else node.other(first).call(name, *rest)

        return call

    traced = SimpleNamespace(**{name: recorded(name) for name in names}, pi=math.pi)
    return FunctionType(plain.__code__, {**plain.__globals__, "math": traced}, plain.__name__, plain.__defaults__)


def forward_derivatives(record: Record, wanted: Sequence[Node], seeds: Mapping[int, Node]) -> list[Node]:
    """Derivatives of nodes, given the derivatives of those in ``seeds`` (index -> derivative).

    The operands of an operation precede it, so one pass suffices.  Functions of ``math`` are differentiated by SymPy.
    """
    moves: dict[int, Node] = dict(seeds)
    zero = record.constant(0.0)
    for n in record.needed((node.index for node in wanted), seeds):
        if n in seeds:
            continue
        operands = record.operands(n)
        if not any(o in moves for o in operands):
            continue
        name = record.operations[n][0]
        values = [Node(record, o) for o in operands]
        steps = [moves.get(o, zero) for o in operands]
        if name == "add":
            move = steps[0] + steps[1]
        elif name == "sub":
            move = steps[0] - steps[1]
        elif name == "neg":
            move = -steps[0]
        elif name == "mul":
            move = steps[0] * values[1] + values[0] * steps[1]
        elif name == "div":
            move = (steps[0] - Node(record, n) * steps[1]) * (1.0 / values[1])
        else:
            slopes = _slopes(record.operations[n][1], values)
            move = dot(slopes, steps) + zero
        if move.constant != 0.0:
            moves[n] = move
    return [moves.get(node.index, zero) for node in wanted]


def _slopes(name: str, values: Sequence[Node]) -> list[Node]:
    """Partial derivatives of a function of ``math``."""
    symbols = sp.symbols(f"x:{len(values)}", real=True)
    function = getattr(sp, NAMES_IN_SYMPY.get(name, name.removeprefix("math.")))(*symbols)
    slopes = []
    for symbol in symbols:
        text = PythonCodePrinter({"fully_qualified_modules": True}).doprint(sp.diff(function, symbol))
        kernel = FunctionType(compile(f"lambda {', '.join(map(str, symbols))}: {text}", name, "eval").co_consts[0], {})
        slopes.append(recording(kernel)(*values))
    return slopes


def dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """Sum of products."""
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = x * y + total
    return total


class Text:
    """Statements that compute nodes: those used more than once, or long ones, get names."""

    def __init__(self, record: Record, prefix: str, known: dict[int, str] | None = None) -> None:
        self.record, self.prefix = record, prefix
        self.known = dict(known or {})  # texts of nodes that are computed elsewhere
        self.lines: list[str] = []
        self.operations = 0
        self.read: set[int] = set()  # nodes that were written

    def write(self, targets: Sequence[tuple[str, Node]]) -> list[str]:
        """Lines that compute the values and put them to their targets."""
        order = list(self._order(value.index for _, value in targets))
        uses: dict[int, int] = {}
        for n in [o for m in order for o in self.record.operands(m)] + [value.index for _, value in targets]:
            uses[n] = uses.get(n, 0) + 1
        texts, length = dict(self.known), dict.fromkeys(self.known, 0)
        self.read.update(order)
        for n in order:
            name, *rest = self.record.operations[n]
            operands = self.record.operands(n)
            size = 1 + sum(length[o] for o in operands)
            if name == "constant":
                texts[n], size = repr(rest[0]), 0
            elif name == "input":
                texts[n], size = rest[0], 0
            elif name == "neg":
                texts[n], size = f"(-{texts[rest[0]]})", size - 1
            elif name == "call":
                texts[n] = f"{rest[0]}({', '.join(texts[o] for o in operands)})"
            else:
                texts[n] = f"({texts[rest[0]]}{OPERATORS[name]}{texts[rest[1]]})"
            self.operations += name not in ("constant", "input", "neg")
            simple = name == "constant" or (name == "neg" and size == 0)
            if not simple and (uses[n] > 1 or size > MAX_LENGTH):
                named = f"{self.prefix}{n}"
                self.lines.append(f"{named} = {_bare(texts[n])}")
                texts[n], size = named, 0
            length[n] = size
        self.lines += [f"{target} = {_bare(texts[value.index])}" for target, value in targets]
        return self.lines

    def _order(self, indices: Iterable[int]) -> Iterator[int]:
        """The needed nodes, each after its operands."""
        seen = set(self.known)
        for wanted in indices:
            stack = [(wanted, False)]
            while stack:
                n, ready = stack.pop()
                if ready:
                    yield n
                elif n not in seen:
                    seen.add(n)
                    stack.append((n, True))
                    stack += [(o, False) for o in reversed(self.record.operands(n)) if o not in seen]


def _bare(text: str) -> str:
    """Without the outermost brackets, if they belong together."""
    if not text.startswith("("):
        return text
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if k == len(text) - 1 else text
    return text
