"""Values that are made once for an object and live as long as it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


def kept(make: Callable[[Any], T]) -> Callable[[Any], T]:
    """Keep what a function returns for an object, which must not change, with the object.

    The class of the object leaves it out of pickles and copies, as cached properties.
    """
    name = _name_of(make)

    @wraps(make)
    def found(of: Any) -> T:
        values = of.__dict__
        if name not in values:
            values[name] = make(of)
        value: T = values[name]
        return value

    return found


def keep(function: Callable[[Any], Any], of: Any, value: Any) -> None:
    """Let a function, whose values are ``kept``, return a value for an object."""
    of.__dict__[_name_of(function)] = value


def _name_of(function: Callable[[Any], Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
