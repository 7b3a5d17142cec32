"""The text of the kernel of a graphics processor: the memory of a thread, from the definitions of the memory of a batch.

Each thread runs one case with one lane.  Arrays that are common to all cases, or have a row for each, are arguments; others are
local to the thread and begin with the numbers of the first lane of the CPU.  A field of a memory finds its place by its kind.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.integrate.memory_kinds import Kind, fields_of
from runtime.jit.named_rows import blocks_of

HEAD = "span", "tolerances", "steps", "initial", "constants", "times", "stop", "out", "status", "counts", "reached"
FOUND = Kind.FOUND, Kind.WRITTEN
INDENT = "    "


class Argument:
    """An array of the kernel: that of the CPU, and whether it is written and to be copied there, or back."""

    def __init__(self, name: str, kind: Kind, array: Any) -> None:
        self.name, self.kind = name, kind
        self.array = np.ascontiguousarray(array[::LANES]) if kind is Kind.REPEATED else array

    @property
    def expression(self) -> str:
        """What a thread sees of it: all, or the rows from that of its case on."""
        by_case = self.kind is Kind.OF_CASES or self.kind in FOUND
        return f"{self.name}[min(case, {self.name}.shape[0] - 1) :]" if by_case else self.name


@dataclass
class MemoryText:
    """The memory of a thread."""

    arguments: list[Argument] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # local arrays
    types: dict[str, Any] = field(default_factory=dict)  # of the named tuples

    def of(self, memory: Any, path: str = "m", kind: Kind | None = None) -> str:
        """The expression of a named tuple, as the memory of one lane of it."""
        found, blocks = {}, blocks_of(memory.__class__) if hasattr(memory, "W") else {}
        for name, own, value in fields_of(memory, kind):
            place = f"{path}_{name}"
            if isinstance(value, tuple):
                found[name] = self.of(value, place, own)
            elif name in blocks:
                fields, _ = blocks[name]
                numbers = (value[..., i, ::LANES] for i in range(value.shape[-2]))
                rows = {
                    field: self._local(f"{place}_{field}", of)
                    for field, of in zip(fields.names(), numbers, strict=True)
                }
                found[name] = self._made(fields.__name__, rows)
            elif own is Kind.OF_LANES:
                found[name] = self._local(place, value[..., ::LANES])
            elif own is Kind.SCRATCH:
                found[name] = self._local(place, value)
            else:
                assert own is not None
                self.arguments.append(Argument(place, own, value))
                found[name] = self.arguments[-1].expression
        return self._made(type(memory).__name__, found)

    def _made(self, name: str, fields: dict[str, str]) -> str:
        """The expression of a named tuple of one lane; like the memory of a batch it has the number of its lanes, ``W``."""
        self.types[name] = namedtuple(name, [*fields, "W"])
        return f"{name}({', '.join(fields.values())}, 1)"

    def _local(self, name: str, value: Any) -> str:
        """An array of the thread that begins as an array does; an empty one is the empty part of one that is not."""
        sizes = [max(size, 1) for size in value.shape]
        text = ", ".join(map(str, sizes))
        self.lines.append(f"{name} = cuda.local.array({f'({text})' if len(sizes) > 1 else text}, {value.dtype.name})")
        if value.size:
            begin, names = "0", "ijk"[: len(sizes)]
            if value.any():
                self.arguments.append(Argument(f"{name}_begin", Kind.COMMON, np.ascontiguousarray(value)))
                begin = f"{name}_begin[{', '.join(names)}]"
            self.lines += [f"{INDENT * k}for {names[k]} in range({size}):" for k, size in enumerate(sizes)]
            self.lines.append(f"{INDENT * len(sizes)}{name}[{', '.join(names)}] = {begin}")
        return name if value.shape[0] else f"{name}[:0]"


def text_of_kernel(memory: Any) -> tuple[str, MemoryText]:
    """The text of the kernel ``run`` for a memory; its arguments are those of HEAD, then those of the memory."""
    of = MemoryText()
    whole = of.of(memory)
    names = [*HEAD, *(argument.name for argument in of.arguments)]
    lines = [
        "case = cuda.grid(1)",
        "if case >= initial.shape[0]:",
        f"{INDENT}return",
        "own = min(case, constants.shape[0] - 1)",  # there may be one for all cases
        *of.lines,
        f"m = {whole}",
        "integration(m, 0, span, tolerances, steps, initial[case : case + 1], constants[own : own + 1], times, "
        "out[case : case + 1], status[case : case + 1], counts[case : case + 1], reached[case : case + 1], stop)",
    ]
    return f"def run({', '.join(names)}):\n" + "".join(f"{INDENT}{line}\n" for line in lines), of
