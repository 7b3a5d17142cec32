"""Operator-overloading recorder: Python code that is run with ``Recorded`` in place of numbers writes the code of its results.

Its rules hold for every language that is written: instructions of LLVM for one number (``runtime.jit.llvm_code``) or for the
lanes of a vector (``runtime.lanes.vector_code``), and text of Python (``runtime.lanes.text_code``).  Known numbers remain
numbers: sums with 0 and products with 0 or 1 are left out, so a fixed body adds nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

MAX_UNROLLED_POWER = 64
UNDECIDED = "numbers of code that is written decide nothing; use choose"
Number = Any  # a float, or a Recorded
Place = Any  # of a number in an array, in the language


class Recorder(ABC):
    """The code written so far in a language, whose operands are values of ``Recorded``."""

    @abstractmethod
    def value(self, number: Number) -> Any:
        """A number as an operand."""

    @abstractmethod
    def arithmetic(self, name: str, *numbers: Number) -> Recorded:
        """Sum, difference, product, quotient or change of sign, by the name of LLVM's instruction."""

    @abstractmethod
    def function(self, name: str, *numbers: Number) -> Number:
        """A function of ``math``."""

    @abstractmethod
    def compare(self, sign: str, a: Number, b: Number) -> Any:
        """Where a comparison holds, in the language; never for what is not a number."""

    @abstractmethod
    def select(self, condition: Any, a: Number, b: Number) -> Recorded:
        """The number a where the condition holds, else b."""

    @abstractmethod
    def place(self, row: int) -> Place:
        """The place of a row of an array."""

    @abstractmethod
    def behind(self, place: Place, rows: int) -> Place:
        """The place so many rows behind another."""

    @abstractmethod
    def chosen(self, condition: Any, a: Place, b: Place) -> Place:
        """The place a where the condition holds, else b."""

    @abstractmethod
    def item(self, data: Any, place: Place) -> Recorded:
        """The number at a place of an array."""

    @abstractmethod
    def store(self, number: Number, data: Any, row: int) -> None:
        """Write a number to a row of an array."""

    def load(self, data: Any, row: int) -> Recorded:
        """The number in a row of an array."""
        return self.item(data, self.place(row))

    def power(self, base: Number, exponent: Number) -> Number:
        """A power that is no product; with a half exponent by a square root."""
        known = not isinstance(exponent, Recorded) and abs(exponent) <= MAX_UNROLLED_POWER
        if not known or 2 * exponent != int(2 * exponent):
            return self.function("pow", base, exponent)
        return self.function("sqrt", base) * base ** int(exponent - 0.5) if exponent > 0 else 1.0 / base**-exponent

    def sine_and_cosine(self, x: Recorded) -> tuple[Number, Number]:
        """Both, where one helps to compute the other."""
        return self.function("sin", x), self.function("cos", x)

    def look_up(self, data: Any, place: Place, pieces: int, size: int, argument: Number) -> Sequence[Recorded]:
        """The numbers of the piece of a table that an argument is in.

        Each piece has ``size`` rows, of which the first is its begin; ``place``: of the first piece.
        """
        while pieces > 1:
            half = pieces // 2
            middle = self.behind(place, half * size)
            place = self.chosen(self.compare("<=", self.item(data, middle), argument), middle, place)
            pieces -= half
        return [self.item(data, at) for at in [self.behind(place, c) for c in range(size)]]


def _compared(sign: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: Condition(self.code, self.code.compare(sign, self, other))


class Recorded:
    """A number of code that is written, with the operators of numbers."""

    __slots__ = ("code", "value")

    def __init__(self, code: Any, value: Any) -> None:
        self.code, self.value = code, value

    def __add__(self, other: Number) -> Number:
        return self if is_known(other, 0.0) else self.code.arithmetic("fadd", self, other)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        return self if is_known(other, 0.0) else self.code.arithmetic("fsub", self, other)

    def __rsub__(self, other: Number) -> Number:
        return -self if is_known(other, 0.0) else self.code.arithmetic("fsub", other, self)

    def __mul__(self, other: Number) -> Number:
        if is_known(other, 0.0):
            return 0.0
        if is_known(other, 1.0):
            return self
        return -self if is_known(other, -1.0) else self.code.arithmetic("fmul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Number:
        return self.code.arithmetic("fdiv", self, other)

    def __rtruediv__(self, other: Number) -> Number:
        return self.code.arithmetic("fdiv", other, self)

    def __neg__(self) -> Number:
        return self.code.arithmetic("fneg", self)

    def __abs__(self) -> Number:
        return self.code.function("fabs", self)

    def __pow__(self, exponent: Number) -> Number:
        """Powers with a whole exponent by squaring and multiplication."""
        if isinstance(exponent, Recorded) or abs(exponent) > MAX_UNROLLED_POWER or exponent != int(exponent):
            return self.code.power(self, exponent)
        result: Number = 1.0
        base, left = self, abs(int(exponent))
        while left:
            if left & 1:
                result = base * result
            left >>= 1
            if left:
                base = base * base
        return result if exponent >= 0 else 1.0 / result

    def __rpow__(self, base: Number) -> Number:
        return self.code.power(base, self)

    __lt__, __le__, __gt__, __ge__, __eq__, __ne__ = map(_compared, ("<", "<=", ">", ">=", "==", "!="))  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError(UNDECIDED)


class Condition:
    """Where a comparison of recorded numbers holds."""

    __slots__ = ("code", "value")

    def __init__(self, code: Any, value: Any) -> None:
        self.code, self.value = code, value

    def __and__(self, other: Any) -> Any:
        if not isinstance(other, Condition):
            return self if other else False
        return Condition(self.code, self.code.builder.and_(self.value, other.value))

    __rand__ = __and__

    def __bool__(self) -> bool:
        raise TypeError(UNDECIDED)


def choose(condition: Any, a: Number, b: Number) -> Number:
    """The number a where a condition holds, else b; see ``runtime.jit.lane_vectors.choose``."""
    if isinstance(condition, Condition):
        return condition.code.select(condition.value, a, b)
    return a if condition else b


def is_known(number: Number, value: float) -> bool:
    """Whether a number has a value in all lanes and all states: recorded numbers have none."""
    return not isinstance(number, Recorded) and number == value


def code_of(*numbers: Number) -> Any:
    """The code of the first of the numbers that is recorded; None where all are known."""
    return next((number.code for number in numbers if isinstance(number, Recorded)), None)


class Functions:
    """What takes the place of ``math`` in code that is recorded: the same functions, also of known numbers."""

    def __getattr__(self, name: str) -> Callable[..., Number]:
        return partial(self.called, name)

    def called(self, name: str, *numbers: Number) -> Number:
        """A function of numbers."""
        code = code_of(*numbers)
        return getattr(math, name)(*numbers) if code is None else code.function(name, *numbers)


def lesser(a: Number, b: Number) -> Number:
    """``min`` of two numbers."""
    return choose(b < a, b, a)
