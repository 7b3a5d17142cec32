"""To what the arrays of a batch's memory belong.

On the CPU all lanes share one memory.  On a graphics processor each thread has one lane: there an array is the same one for all
threads, or has a row for each case, or is memory of the thread, as its kind says (``batches.device_text``).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

T = TypeVar("T")


class Kind(Enum):
    """To what an array belongs, and which shape it has for one lane."""

    COMMON = "read for all cases"
    REPEATED = "read for all cases, with each number once for every lane"
    OF_CASES = "read, with a row for each case, or one for all"
    FOUND = "with a row for each case, which may be written"
    WRITTEN = "as FOUND, and undefined before"
    OF_LANES = "written and read by the lanes, whose number is a factor of the last axis"
    SCRATCH = "written and read for one lane at a time"


Common = Annotated[T, Kind.COMMON]
Repeated = Annotated[T, Kind.REPEATED]
OfCases = Annotated[T, Kind.OF_CASES]
Found = Annotated[T, Kind.FOUND]
Written = Annotated[T, Kind.WRITTEN]
OfLanes = Annotated[T, Kind.OF_LANES]
Scratch = Annotated[T, Kind.SCRATCH]


class Field(NamedTuple):
    """A field of a memory."""

    name: str
    kind: Kind | None  # None: a memory with kinds of its own
    value: Any


def fields_of(memory: Any, kind: Kind | None = None) -> Iterator[Field]:
    """The fields of a named tuple of arrays in order; ``kind``: that of all of them.

    Raises
    ------
    TypeError
        Where the definition of an array does not say to what it belongs.
    """
    for name, hint in get_type_hints(type(memory), include_extras=True).items():
        value = getattr(memory, name)
        own = kind or next(iter(getattr(hint, "__metadata__", ())), None)
        if own is None and not isinstance(value, tuple):
            raise TypeError(
                f"{type(memory).__name__}.{name} does not say to what it belongs; give it a kind of memory_kinds, such as Common"
            )
        yield Field(name, own, value)
