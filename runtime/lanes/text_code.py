"""Arithmetic of one lane as the text of a function of Python, written by a recorder.

The code that writes instructions for lanes writes with ``TextCode`` Python's language, which the compiler of a graphics
processor takes, where each thread has one lane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from runtime.jit.recorder import Number, Recorded, Recorder

SIGNS = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/"}


class TextCode(Recorder):
    """The statements written so far.

    arguments : names of arrays of the function in order, with their numbers of axes: the last of two is that of the lane
    """

    def __init__(self, arguments: Mapping[str, int]) -> None:
        self.axes, self.lines, self.indent = dict(arguments), list[str](), ""
        self.builder = self  # of conditions, under the names of LLVM's builder

    def text(self, name: str) -> str:
        """The function under a name; the module needs ``math``."""
        body = "".join(f"    {line}\n" for line in self.lines or ["pass"])
        return f"def {name}({', '.join(self.axes)}):\n{body}"

    def store(self, number: Number, data: str, row: int) -> None:
        """Write a number to a row of an array."""
        self._write(f"{self._item(data, self.place(row))} = {self.value(number)}")

    def value(self, number: Number) -> str:
        """A number as an operand."""
        if isinstance(number, Recorded):
            return str(number.value)
        return f"({float(number)!r})" if math.isfinite(number) else f"(math.{float(number)!r})".replace(".-", ".")

    def arithmetic(self, name: str, *numbers: Number) -> Recorded:
        """Sum, difference, product, quotient or change of sign."""
        values = [self.value(number) for number in numbers]
        return self._kept(f"-{values[0]}" if name == "fneg" else f"{values[0]} {SIGNS[name]} {values[1]}")

    def function(self, name: str, *numbers: Number) -> Number:
        """A function of ``math``."""
        return self._kept(f"math.{name}({', '.join(map(self.value, numbers))})")

    def compare(self, sign: str, a: Number, b: Number) -> str:
        """Where a comparison holds."""
        return self.kept(f"{self.value(a)} {sign} {self.value(b)}")

    def select(self, condition: str, a: Number, b: Number) -> Recorded:
        """The number a where the condition holds, else b."""
        return self._kept(f"{self.value(a)} if {condition} else {self.value(b)}")

    def and_(self, a: str, b: str) -> str:
        """Whether both hold."""
        return self.kept(f"{a} and {b}")

    def not_(self, a: str) -> str:
        """Whether it does not hold."""
        return self.kept(f"not {a}")

    def where(
        self, condition: str, write: Callable[[], Sequence[Number]], usual: Sequence[Number], *, likely: bool = True
    ) -> list[Recorded]:
        """What ``write`` computes where a condition holds, else the usual values."""
        found = self._copies(usual)
        with self._block(f"if {condition}"):
            self._assign(found, write())
        return found

    def outlined(
        self, name: str, results: int, write: Callable[[list[Number]], Sequence[Number]], *numbers: Number
    ) -> list[Number]:
        """What ``write`` computes of numbers: in the text of one lane, no function of its own."""
        return list(write(self._copies(numbers)))

    def repeat(
        self, most: int, write: Callable[[Sequence[Number]], tuple[Sequence[Number], str]], *numbers: Number
    ) -> list[Recorded]:
        """Numbers that ``write`` replaces again as long as the condition that it returns with them holds.

        It does so once at least, and at most so many times.
        """
        found = self._copies(numbers)
        with self._block(f"for _ in range({most})"):
            replaced, condition = write(found)
            self._assign(found, self._copies(replaced))
            with self._block(f"if not {condition}"):
                self._write("break")
        return found

    def place(self, row: int) -> str:
        """The place of a row of an array."""
        return str(row)

    def behind(self, place: str, rows: int) -> str:
        """The place so many rows behind another."""
        return self.kept(f"{place} + {rows}")

    def chosen(self, condition: str, a: str, b: str) -> str:
        """The place a where the condition holds, else b."""
        return self.kept(f"{a} if {condition} else {b}")

    def item(self, data: str, place: str) -> Recorded:
        """The number at a place of an array."""
        return self._kept(self._item(data, place))

    def _item(self, data: str, place: str) -> str:
        return f"{data}[{place}, 0]" if self.axes[data] == 2 else f"{data}[{place}]"

    def kept(self, text: str) -> str:
        """A name for the value of an expression."""
        name = f"v{len(self.lines)}"
        self._write(f"{name} = {text}")
        return name

    def _kept(self, text: str) -> Recorded:
        return Recorded(self, self.kept(text))

    def _copies(self, numbers: Sequence[Number]) -> list[Recorded]:
        return [self._kept(self.value(number)) for number in numbers]

    def _assign(self, names: Sequence[Recorded], numbers: Sequence[Number]) -> None:
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
