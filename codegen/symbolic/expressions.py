"""Nodes of an expression graph as simplified expressions of SymPy.

A node is a polynomial in its inputs and in cosines and sines of angles, and in quotients and functions, which are generators
with simplified arguments.  sin^2 is written as 1 - cos^2, and the first Euler parameter squared by the others.  Of the polynomial
and its form in cosines and sines of sums of angles, with common factors taken out, the shorter one is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import comb
from typing import Any

import sympy as sp
from sympy.polys.rings import ring

from codegen.compiler.calculus import Expr
from codegen.compiler.errors import NoKernelError
from codegen.compiler.trace import NAMES_IN_SYMPY, Node, Record

MAX_OPERATIONS = 50_000  # of all expressions written out: beyond it nobody reads them
MAX_TERMS = 1_000  # of a polynomial; one with more is left as it was recorded
MAX_SIMPLIFIED = 100  # terms of a polynomial of which other forms are tried
DIGITS = 14  # of data as exact numbers
ROUNDING = 2.0**50  # added and subtracted, such a number rounds to whole ones
TINY = 1e-200  # below it a number stands for the side of 0 on which a value is
WAVES = ("math.cos", "math.sin")
Signature = tuple[int, ...]


def exact(value: float) -> Expr:
    """The decimal fraction of 14 digits next to a number, such as 1/10."""
    return sp.Rational(f"{value:.{DIGITS}g}") if abs(value) > TINY else sp.S.Zero


def _copysign(size: Expr, side: Expr) -> Expr:
    return sp.Abs(size) * sp.sign(side)


def _atan2(y: Expr, x: Expr) -> Expr:
    """The angle itself where its sine and cosine are given: one within half a turn."""
    (sign, sine), (_, cosine) = y.as_coeff_Mul(), x.as_coeff_Mul()
    if (
        isinstance(sine, sp.sin)
        and x / y == cosine / sine / sign
        and isinstance(cosine, sp.cos)
        and cosine.args == sine.args
    ):
        return sp.sign(sign) * sine.args[0]
    return sp.atan2(y, x)


FUNCTIONS: dict[str, Callable[..., Expr]] = {
    "math.fabs": sp.Abs, "math.copysign": _copysign, "math.atan2": _atan2, "math.cos": sp.cos, "math.sin": sp.sin,
}  # fmt: skip
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "neg": lambda a: -a,
}  # fmt: skip


def function_of(name: str) -> Callable[..., Expr]:
    """A function of ``math`` as one of SymPy."""
    found = FUNCTIONS.get(name) or getattr(sp, NAMES_IN_SYMPY.get(name, name.removeprefix("math.")))
    return found  # type: ignore[no-any-return]


class TooLongError(Exception):
    """A polynomial of too many terms."""


class Writer:
    """Writes nodes as expressions of their inputs.

    Parameters
    ----------
    record : Record
    inputs : mapping of str to Symbol
        By the texts of inputs.
    wanted : sequence of Node
        What may be asked for.
    units : sequence of sequences of Symbol
        Euler parameters of unit length.
    collected : sequence of Symbol
        Taken out of sums first.

    Raises
    ------
    NoKernelError
        For expressions that are too large.
    """

    def __init__(
        self, record: Record, inputs: Mapping[str, Expr], wanted: Sequence[Node], units: Sequence[Sequence[Expr]],
        collected: Sequence[Expr],
    ) -> None:  # fmt: skip
        self.record, self.inputs, self.collected = record, inputs, collected
        order = record.needed(node.index for node in wanted)
        if any(record.operations[n][0] == "input" and record.operations[n][1] not in inputs for n in order):
            raise NoKernelError("a joint or a force of it reads Euler parameters, which have no symbols")
        self.polynomials = _Polynomials(self, order, units)
        known, size = self.polynomials.values, dict[int, int]()
        for n in order:
            size[n] = 1 + sum(size[o] for o in record.operands(n))
        long = [node.index for node in wanted if node.index not in known]
        if (total := sum(size[n] for n in long)) > MAX_OPERATIONS:
            raise NoKernelError(
                f"its equations take {total} operations when they are written out, limit {MAX_OPERATIONS}"
            )
        self.plain: dict[int, Expr] = {}
        for n in record.needed(long):
            self.plain[n] = self._plain(n)

    def __call__(self, nodes: Iterable[Node]) -> list[Expr]:
        """Nodes as expressions.  Angles are those within half a turn: revolutions that kernels count are left out."""
        known = self.polynomials.values
        return [
            self.polynomials.shortest(known[node.index]) if node.index in known else self.plain[node.index]
            for node in nodes
        ]

    def _plain(self, n: int) -> Expr:
        """A node as it was recorded, from those before it."""
        name, *rest = self.record.operations[n]
        operands = [self.plain[o] for o in self.record.operands(n)]
        if name == "constant":
            return exact(rest[0])
        if name == "input":
            return self.inputs[rest[0]]
        if name == "call":
            return function_of(rest[0])(*operands)
        large = self.rounding(n)
        return OPERATIONS[name](*operands) if large is None else self.plain[large]

    def rounding(self, n: int) -> int | None:
        """The large number of a sum that rounds to whole numbers, which revolutions are counted by."""
        if self.record.operations[n][0] != "add":
            return None
        return next((o for o in self.record.operands(n) if abs(Node(self.record, o).constant or 0.0) > ROUNDING), None)


class _Polynomials:
    """Nodes as polynomials; those with too many terms, and what depends on them, are left out."""

    def __init__(self, writer: Writer, order: Sequence[int], units: Sequence[Sequence[Expr]]) -> None:
        self.writer, record = writer, writer.record
        operations = [record.operations[n] for n in order]
        symbols = dict.fromkeys(writer.inputs[o[1]] for o in operations if o[0] == "input")
        turned = [Node(record, o[2]) for o in operations if o[0] == "call" and o[1] in WAVES]
        inputs = [record.operations[(q if q.negated is None else q.negated).index] for q in turned]
        self.angles = list(dict.fromkeys(writer.inputs[text] for name, text, *_ in inputs if name == "input"))
        self.waves = [f(q) for q in self.angles for f in (sp.cos, sp.sin)]
        free = sum(o[0] == "div" or o[0] == "call" for o in operations)
        self.generators: list[Expr] = [*symbols, *self.waves, *(sp.Dummy(real=True) for _ in range(free))]
        self.used = len(symbols) + len(self.waves)  # of the generators; the others are for quotients and functions
        self.ring = ring(self.generators, sp.QQ)[0] if self.generators else ring([sp.Dummy()], sp.QQ)[0]
        self.gens = self.ring.gens
        self.place = {g: k for k, g in enumerate(self.generators)}
        self.first_wave = len(symbols)
        self.squares: dict[int, Any] = {}  # generators whose squares are other polynomials
        for k in range(len(self.angles)):
            at = self.first_wave + 2 * k
            self.squares[at + 1] = 1 - self.gens[at] ** 2
        for p in units:
            if p[0] in self.place:
                self.squares[self.place[p[0]]] = 1 - sum(
                    self.gens[self.place[e]] ** 2 for e in p[1:] if e in self.place
                )
        self.values: dict[int, Any] = {}
        for n in order:
            if all(o in self.values for o in record.operands(n)):
                try:
                    self.values[n] = self._value(n)
                except TooLongError:
                    continue

    def _value(self, n: int) -> Any:
        record = self.writer.record
        name, *rest = record.operations[n]
        operands = [self.values[o] for o in record.operands(n)]
        if name == "constant":
            value = exact(rest[0])
            return self.ring(sp.QQ(int(value.p), int(value.q)))
        if name == "input":
            return self.gens[self.place[self.writer.inputs[rest[0]]]]
        if name == "div":
            return self._product(operands[0], self._inverse(operands[1]))
        if name == "call":
            return self._call(rest[0], operands)
        if name == "mul":
            return self._product(*operands)
        large = self.writer.rounding(n)
        return OPERATIONS[name](*operands) if large is None else self.values[large]

    def _product(self, a: Any, b: Any) -> Any:
        if len(a) * len(b) > 20 * MAX_TERMS:
            raise TooLongError
        found = self._reduced(a * b)
        if len(found) > MAX_TERMS:
            raise TooLongError
        return found

    def _reduced(self, value: Any) -> Any:
        """A polynomial without squares that are other polynomials."""
        for k, square in self.squares.items():
            while any(powers[k] > 1 for powers in value):
                low, high = self.ring.zero, self.ring.zero
                for powers, factor in value.items():
                    to, less = (high, 2) if powers[k] > 1 else (low, 0)
                    to[(*powers[:k], powers[k] - less, *powers[k + 1 :])] = factor
                value = low + high * square
        return value

    def _inverse(self, value: Any) -> Any:
        if value.is_ground:
            return self.ring(1 / value.coeff(1)) if value else self._generator(sp.zoo)
        return self._generator(1 / self.shortest(value))

    def _call(self, name: str, operands: Sequence[Any]) -> Any:
        """A function: of an angle, or a generator of its own."""
        if name in WAVES:
            for k, q in enumerate(self.angles):
                for sign in (1, -1):
                    if operands[0] == sign * self.gens[self.place[q]]:
                        at = self.first_wave + 2 * k
                        return self.gens[at] if name == "math.cos" else sign * self.gens[at + 1]
        value = function_of(name)(*(self.shortest(o) for o in operands))
        parts = value.as_poly(*self.angles) if self.angles and value.free_symbols <= set(self.angles) else None
        if parts is not None and parts.total_degree() <= 1:  # an angle that was found from its sine and cosine
            return self.ring.from_expr(value)
        if value.is_Rational:
            return self.ring(sp.QQ(int(value.p), int(value.q)))
        return self._generator(value)

    def _generator(self, value: Expr) -> Any:
        """A generator for an expression."""
        if value in self.place:
            return self.gens[self.place[value]]
        k = self.used
        self.used += 1
        self.generators[k], self.place[value] = value, k
        return self.gens[k]

    def shortest(self, value: Any) -> Expr:
        """The shortest of a few forms of a polynomial."""
        plain = self._expression(value.items())
        if len(value) > MAX_SIMPLIFIED:
            return plain
        first, last = self.first_wave, self.first_wave + len(self.waves)
        if any(any(powers[first:last]) for powers in value):
            plain = min(plain, self._in_sums_of_angles(value), key=sp.count_ops)
        symbols = [s for s in self.writer.collected if plain.has(s)]
        forms = [plain, sp.collect(plain, symbols)] if symbols else [plain]
        return min(map(sp.factor_terms, forms), key=sp.count_ops)

    def _expression(self, terms: Iterable[tuple[Signature, Any]]) -> Expr:
        return sp.Add(
            *(
                sp.Mul(
                    sp.Rational(f.numerator, f.denominator),
                    *(self.generators[k] ** p for k, p in enumerate(powers) if p),
                )
                for powers, f in terms
            )
        )

    def _in_sums_of_angles(self, value: Any) -> Expr:
        """A polynomial in cosines and sines as a sum of cosines and sines of sums of angles."""
        first, last = self.first_wave, self.first_wave + len(self.waves)
        found: dict[Signature, list[Any]] = {}
        for powers, factor in value.items():
            waves: dict[Signature, tuple[Any, Any]] = {(): (sp.QQ(1), sp.QQ(0))}
            for k in range(first, last, 2):
                waves = {
                    (*n, m): (a * c - b * d, a * d + b * c)
                    for n, (a, b) in waves.items()
                    for m, (c, d) in harmonics(powers[k], powers[k + 1])
                }
            rest = (*powers[:first], *(0,) * (last - first), *powers[last:])
            for n, (real, imaginary) in waves.items():
                parts = found.setdefault(n, [self.ring.zero, self.ring.zero])
                parts[0] += self.ring({rest: factor * real})
                parts[1] += self.ring({rest: factor * imaginary})
        total = sp.S.Zero
        for n, (real, imaginary) in found.items():
            leading = next((m for m in n if m), 0)
            if leading < 0:  # the conjugate of another one
                continue
            angle = sp.Add(*(m * q for m, q in zip(n, self.angles, strict=True)))
            twice = 2 if leading else 1
            total += twice * (
                self._expression(real.items()) * sp.cos(angle) - self._expression(imaginary.items()) * sp.sin(angle)
            )
        return sp.expand(total)


@cache
def harmonics(a: int, b: int) -> list[tuple[int, tuple[Any, Any]]]:
    """cos^a sin^b as a sum of powers of exp(i x): of each its number, and the real and imaginary part of its factor."""
    found: dict[int, Any] = {}
    for j in range(a + 1):
        for k in range(b + 1):
            n = a + b - 2 * (j + k)
            found[n] = found.get(n, 0) + comb(a, j) * comb(b, k) * (-1) ** k
    turned = [(1, 0), (0, -1), (-1, 0), (0, 1)][b % 4]  # (1 / i)^b
    return [
        (n, (sp.QQ(f * turned[0], 2 ** (a + b)), sp.QQ(f * turned[1], 2 ** (a + b)))) for n, f in found.items() if f
    ]
