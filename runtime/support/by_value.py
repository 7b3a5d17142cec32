"""Checked parts by the values of their arguments: functions that build many systems give most parts the same values each time."""

from __future__ import annotations

import marshal
from collections.abc import Hashable, Iterable
from typing import Any, Generic, TypeVar

import numpy as np

T = TypeVar("T")
FLOAT64 = np.dtype(np.float64)
NUMBERS = frozenset({float, int})
SINGLE = frozenset({float, int, str, bool, type(None)})


def exact_key(values: Iterable[Any]) -> bytes | None:
    """Equal for values of equal types, shapes and bits; None where one is no number, text, vector (3,) or row of numbers.

    Equality of Python is not enough: it takes True for 1.0, which a check refuses, and -0.0 for 0.0.
    """
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            if value.shape != (3,) or value.dtype is not FLOAT64:
                return None
            value = value.tobytes()  # as bytes are no values of their own, they are those of a vector
        elif kind is tuple or kind is list:
            if not NUMBERS.issuperset(map(type, value)):
                return None
        elif kind not in SINGLE:
            return None
        found.append(value)
    return marshal.dumps(found, 2)  # later versions have marks of shared objects


class Kept(Generic[T]):
    """Immutable objects that were made before, by ``exact_key`` and what else decides them."""

    def __init__(self, most: int = 512) -> None:
        self._found: dict[Hashable, T] = {}
        self._most = most

    def get(self, key: Hashable | None) -> T | None:
        """The object of a key; None where there is none."""
        return self._found.get(key)

    def keep(self, key: Hashable | None, made: T) -> T:
        """Keep an object, unless its key is None, and return it."""
        if key is not None:
            if len(self._found) >= self._most:
                self._found.clear()  # most are of a single case; the others are soon here again
            self._found[key] = made
        return made
