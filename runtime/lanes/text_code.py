"""Arithmetic of one lane as the text of a function of Python: the operations of ``vector_code``, for another compiler.

Functions for lanes are written by code that is run with ``Vector`` in place of numbers.  With ``TextCode`` the same code writes
Python's language, which the compiler of a graphics processor takes, where each thread has one lane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from runtime.lanes.vector_code import Number, Vector

SIGNS = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/"}


class TextCode:
    """The statements written so far.

    arguments : names of arrays of the function in order, with their numbers of axes: the last of two is that of the lane
    """

    def __init__(self, arguments: Mapping[str, int]) -> None:
        self.axes, self.lines, self.indent = dict(arguments), list[str](), ""
        self.builder = Conditions(self)

    def text(self, name: str) -> str:
        """The function under a name; the module needs ``math``."""
        body = "".join(f"    {line}\n" for line in self.lines or ["pass"])
        return f"def {name}({', '.join(self.axes)}):\n{body}"

    def load(self, data: str, place: Any) -> Vector:
        """The number at a place of an array."""
        return self._kept(self._item(data, place))

    def store(self, number: Number, data: str, place: Any) -> None:
        """Write a number at a place of an array."""
        self._write(f"{self._item(data, place)} = {self.value(number)}")

    def value(self, number: Number) -> str:
        """A number as an operand."""
        if isinstance(number, Vector):
            return str(number.value)
        return f"({float(number)!r})" if math.isfinite(number) else f"(math.{float(number)!r})".replace(".-", ".")

    def arithmetic(self, name: str, *numbers: Number) -> Vector:
        """Sum, difference, product, quotient or change of sign."""
        values = [self.value(number) for number in numbers]
        return self._kept(f"-{values[0]}" if name == "fneg" else f"{values[0]} {SIGNS[name]} {values[1]}")

    def intrinsic(self, name: str, *numbers: Number) -> Vector:
        """A function of ``math``."""
        return self._kept(f"math.{name}({', '.join(map(self.value, numbers))})")

    by_lane = intrinsic

    def power(self, base: Number, exponent: Number) -> Vector:
        """A power that is not unrolled."""
        return self.intrinsic("pow", base, exponent)

    def compare(self, sign: str, a: Number, b: Number) -> str:
        """Whether a comparison holds."""
        return str(self._kept(f"{self.value(a)} {sign} {self.value(b)}").value)

    def select(self, condition: str, a: Number, b: Number) -> Vector:
        """The number a where the condition holds, else b."""
        return self._kept(f"{self.value(a)} if {condition} else {self.value(b)}")

    def where(
        self, condition: str, write: Callable[[], Sequence[Number]], usual: Sequence[Number], *, likely: bool = True
    ) -> list[Vector]:
        """What ``write`` computes where a condition holds, else the usual values."""
        found = [self._kept(self.value(number)) for number in usual]
        with self._block(f"if {condition}"):
            self._assign(found, write())
        return found

    def outlined(
        self, name: str, results: int, write: Callable[[list[Number]], Sequence[Number]], *numbers: Number
    ) -> list[Number]:
        """What ``write`` computes of numbers: in the text of one lane, no function of its own."""
        return list(write([self._kept(self.value(number)) for number in numbers]))

    def repeat(
        self, most: int, write: Callable[[Sequence[Number]], tuple[Sequence[Number], str]], *numbers: Number
    ) -> list[Vector]:
        """Numbers that ``write`` replaces again as long as the condition that it returns with them holds.

        It does so once at least, and at most so many times.
        """
        found = [self._kept(self.value(number)) for number in numbers]
        with self._block(f"for _ in range({most})"):
            replaced, condition = write(found)
            self._assign(found, [self._kept(self.value(number)) for number in replaced])
            with self._block(f"if not {condition}"):
                self._write("break")
        return found

    def look_up(self, data: str, first: int, pieces: int, size: int, argument: Number) -> Sequence[Vector]:
        """The numbers of the piece of a table, each of ``size`` rows of which the first is its begin, that an argument is in."""
        x, at, left = self.value(argument), self._kept(str(first)).value, pieces
        while left > 1:
            half = left // 2
            middle = self._kept(f"{at} + {half * size}").value
            at = self._kept(f"{middle} if {self._item(data, middle)} <= {x} else {at}").value
            left -= half
        return [self.load(data, f"{at} + {c}") for c in range(size)]

    def _item(self, data: str, place: Any) -> str:
        return f"{data}[{place}, 0]" if self.axes[data] == 2 else f"{data}[{place}]"

    def _kept(self, text: str) -> Vector:
        """The value of an expression, under a name of its own."""
        name = f"v{len(self.lines)}"
        self._write(f"{name} = {text}")
        return Vector(self, name)  # type: ignore[arg-type]

    def _assign(self, names: Sequence[Vector], numbers: Sequence[Number]) -> None:
        for name, number in zip(names, numbers, strict=True):
            self._write(f"{name.value} = {self.value(number)}")

    def _write(self, line: str) -> None:
        self.lines.append(self.indent + line)

    @contextmanager
    def _block(self, head: str) -> Iterator[None]:
        """Statements that belong to a head."""
        self._write(f"{head}:")
        before, self.indent = self.indent, self.indent + "    "
        yield
        self.indent = before


class Conditions:
    """Combinations of conditions, under the names of LLVM's builder."""

    def __init__(self, code: TextCode) -> None:
        self.code = code

    def and_(self, a: str, b: str) -> str:
        """Whether both hold."""
        return self._kept(f"{a} and {b}")

    def or_(self, a: str, b: str) -> str:
        """Whether one of them holds."""
        return self._kept(f"{a} or {b}")

    def not_(self, a: str) -> str:
        """Whether it does not hold."""
        return self._kept(f"not {a}")

    def _kept(self, text: str) -> str:
        return str(self.code._kept(text).value)
