"""Nodes of an expression graph as simplified expressions of SymPy.

A node is a polynomial in its inputs and in cosines and sines of angles, and in quotients and functions, which are generators
with simplified arguments.  sin^2 is written as 1 - cos^2, and the first Euler parameter squared by the others.  Of the polynomial
and its form in cosines and sines of sums of angles, with common factors taken out, the shorter one is chosen.

If an entry is long, operations on data alone get symbols, and so do sums of these that multiply a product of coordinates and
rates.  An entry that stays long is written as it was recorded, with a symbol for each operation that is needed more than once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from math import comb
from typing import Any

import sympy as sp
from sympy.polys.rings import ring

from codegen.compiler.calculus import Expr
from codegen.compiler.errors import NoKernelError
from codegen.compiler.trace import NAMES_IN_SYMPY, Node, Record

MAX_TERMS = 400  # of a polynomial
MAX_SIMPLIFIED = 100  # terms of a polynomial of which other forms are tried
MAX_OPERATIONS = 100  # of an entry without symbols for parts of it
DIGITS = 14  # of data as exact numbers
ROUNDING = 2.0**50  # added and subtracted, such a number rounds to whole ones
TINY = 1e-200  # below it only the sign of a value matters
WAVES = ("math.cos", "math.sin")
Signature = tuple[int, ...]


def exact(value: float) -> Expr:
    """The decimal fraction of 14 digits next to a number, such as 1/10."""
    return sp.Rational(f"{value:.{DIGITS}g}") if abs(value) > TINY else sp.S.Zero


def written_out(where: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """The expressions of symbols, each of which may need those before it, without these symbols."""
    found: dict[Expr, Expr] = {}
    for symbol, value in where.items():
        found[symbol] = sp.sympify(value).xreplace(found)
    return found


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
    data : collection of Symbol
        Inputs that do not change with time.

    Attributes
    ----------
    where : dict of Symbol to expression
        Parts of the nodes, each after those that it needs.

    Raises
    ------
    NoKernelError
        For a node of Euler parameters, which have no symbols.
    """

    def __init__(
        self, record: Record, inputs: Mapping[str, Expr], wanted: Sequence[Node], units: Sequence[Sequence[Expr]],
        collected: Sequence[Expr], data: Collection[Expr],
    ) -> None:  # fmt: skip
        self.record, self.units, self.collected = record, units, collected
        order = record.needed(node.index for node in wanted)
        texts = {n: record.operations[n][1] for n in order if record.operations[n][0] == "input"}
        if not inputs.keys() >= set(texts.values()):
            raise NoKernelError("a joint or a force of it reads Euler parameters, which have no symbols")
        self.leaves = {
            n: inputs[text] for n, text in texts.items()
        }  # nodes that are symbols, or products of one and a number
        self.where: dict[Expr, Expr] = {}
        self._names: dict[Expr, Expr] = {}  # the symbols of ``where`` by their expressions
        self._symbols = sp.numbered_symbols("k_", start=1, exclude=inputs.values(), real=True)
        self.written: dict[int, Expr] = {}
        self._simplify(order, self._long(wanted))
        if (long := self._long(wanted)) and (constants := self._constants(order, data)):
            self._record(constants, named=constants)
            self._simplify(record.needed(long, constants), long, {*data, *self.where})
        self.written |= self._record(self._long(wanted))
        self.where = self._used(self.where)

    def __call__(self, nodes: Iterable[Node]) -> list[Expr]:
        """Nodes as expressions.  Angles are those within half a turn: revolutions that kernels count are left out."""
        return [self.written[node.index] for node in nodes]

    def _long(self, wanted: Iterable[Node]) -> dict[int, None]:
        """The nodes that are not written yet, in their order."""
        return dict.fromkeys(node.index for node in wanted if node.index not in self.written)

    def named(self, value: Expr) -> Expr:
        """An expression by a symbol of its own, which equal ones share, times a number."""
        factor, part = value.as_coeff_Mul()
        if part.could_extract_minus_sign():
            factor, part = -factor, -part
        if part.is_Symbol or part.is_Number:
            return factor * part
        if part not in self._names:
            self._names[part] = symbol = next(self._symbols)
            self.where[symbol] = part
        return factor * self._names[part]

    def _constants(self, order: Sequence[int], data: Collection[Expr]) -> set[int]:
        """Operations on data alone that others are made of."""
        record, constant, found = self.record, set[int](), set[int]()
        for n in order:
            name, operands = record.operations[n][0], record.operands(n)
            if name == "constant" or self.leaves.get(n) in data or (operands and constant.issuperset(operands)):
                constant.add(n)
            else:
                found |= constant.intersection(operands)
        found = {n if (node := Node(record, n).negated) is None else node.index for n in found}
        return {n for n in found if record.operands(n)}

    def _simplify(self, order: Sequence[int], wanted: Iterable[int], constants: Collection[Expr] = ()) -> None:
        """Write those nodes whose polynomials are short."""
        polynomials = _Polynomials(self, order, constants)
        for n in wanted:
            if n in polynomials.values:
                expression = polynomials.shortest(polynomials.values[n])
                if sp.count_ops(expression) <= MAX_OPERATIONS:
                    self.written[n] = expression

    def _record(self, nodes: Collection[int], named: Collection[int] = ()) -> dict[int, Expr]:
        """Nodes as they were recorded, with symbols for those ``named``, and for operations that are needed more than once."""
        order, plain = self.record.needed(nodes, self.leaves), dict[int, Expr]()
        uses = Counter([*nodes, *(o for n in order if n not in self.leaves for o in self.record.operands(n))])
        for n in order:
            plain[n] = self.leaves[n] if n in self.leaves else self._plain(n, plain)
            if n in named or (uses[n] > 1 and sp.count_ops(plain[n]) > 1):
                self.leaves[n] = plain[n] = self.named(plain[n])
        return {n: plain[n] for n in nodes}

    def _used(self, where: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
        """The parts that the written nodes are made of."""
        used = {symbol for e in self.written.values() for symbol in e.free_symbols}
        for symbol, value in reversed([*where.items()]):
            if symbol in used:
                used |= value.free_symbols
        return {s: e for s, e in where.items() if s in used}

    def _plain(self, n: int, known: Mapping[int, Expr]) -> Expr:
        """A node as it was recorded, from those before it."""
        name, *rest = self.record.operations[n]
        operands = [known[o] for o in self.record.operands(n)]
        if name == "constant":
            return exact(rest[0])
        if name == "input":
            return self.leaves[n]
        if name == "call":
            return function_of(rest[0])(*operands)
        large = self.rounding(n)
        return OPERATIONS[name](*operands) if large is None else known[large]

    def rounding(self, n: int) -> int | None:
        """The large number of a sum that rounds to whole numbers, which revolutions are counted by."""
        if self.record.operations[n][0] != "add":
            return None
        return next((o for o in self.record.operands(n) if abs(Node(self.record, o).constant or 0.0) > ROUNDING), None)


class _Polynomials:
    """Nodes as polynomials; those with too many terms, and what depends on them, are left out."""

    def __init__(self, writer: Writer, order: Sequence[int], constants: Collection[Expr]) -> None:
        self.writer, record, leaves = writer, writer.record, writer.leaves
        operations = [record.operations[n] for n in order]
        symbols = dict.fromkeys(s for n in order if n in leaves for s in leaves[n].free_symbols)
        turned = [Node(record, o[2]) for o in operations if o[0] == "call" and o[1] in WAVES]
        inputs = [(q if q.negated is None else q.negated).index for q in turned]
        self.angles = list(dict.fromkeys(leaves[n] for n in inputs if n in leaves))
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
        for p in writer.units:
            if p[0] in self.place:
                self.squares[self.place[p[0]]] = 1 - sum(
                    self.gens[self.place[e]] ** 2 for e in p[1:] if e in self.place
                )
        self.constants = {self.place[s] for s in constants if s in self.place}
        self.values: dict[int, Any] = {}
        for n in order:
            if n in leaves:
                self.values[n] = self.ring.from_expr(leaves[n])
            elif all(o in self.values for o in record.operands(n)):
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
        if len(plain.args) > MAX_SIMPLIFIED:
            return plain
        first, last = self.first_wave, self.first_wave + len(self.waves)
        if any(any(powers[first:last]) for powers in value):
            plain = min(plain, self._in_sums_of_angles(value), key=sp.count_ops)
        symbols = [s for s in self.writer.collected if plain.has(s)]
        forms = [plain, sp.collect(plain, symbols)] if symbols else [plain]
        return min(map(sp.factor_terms, forms), key=sp.count_ops)

    def _expression(self, terms: Iterable[tuple[Signature, Any]]) -> Expr:
        """A sum of terms; terms that differ in constants alone share a symbol for their factor."""
        sums: dict[Expr, list[Expr]] = {}
        for powers, f in terms:
            parts = [(self.generators[k] ** p, k in self.constants) for k, p in enumerate(powers) if p]
            factor = sp.Rational(f.numerator, f.denominator) * sp.Mul(*(e for e, constant in parts if constant))
            sums.setdefault(sp.Mul(*(e for e, constant in parts if not constant)), []).append(factor)
        total = sp.S.Zero
        for part, own in sums.items():
            factor, one = sp.Add(*own).primitive()
            total += factor * part * (self.writer.named(one) if len(own) > 1 else one)
        return total

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
