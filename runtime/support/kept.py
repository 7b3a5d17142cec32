"""Values that are made once for an object and live as long as it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def kept(make: Callable[[Any], T]) -> Callable[[Any], T]:
    """Keep what a function returns for an object, which must not change, with the object.

    The class of the object leaves it out of pickles and copies, as cached properties.
    """
    name = f"{make.__module__}.{make.__qualname__}"

    def found(of: Any) -> T:
        values = of.__dict__
        if name not in values:
            values[name] = make(of)
        value: T = values[name]
        return value

    return found
