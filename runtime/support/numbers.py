"""Real numbers from whatever a user gives: the only place where a foreign object becomes an array of numbers."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.support.errors import SHAPE, ModelError, Refused, said_by, shown

LARGEST = 1e50  # products of five such numbers are finite
SMALLEST = 1e-50  # so are products of five reciprocals; of what must not be zero
PLAIN = frozenset({float, int, np.float64})  # types without a second meaning
DEPTH = 8  # of nested lists
MOST = 10**9  # numbers in an array, of which copies must fit into memory
KINDS = {
    "b": "a truth value",
    "c": "complex numbers",
    "U": "text",
    "S": "bytes",
    "m": "a duration with a unit of its own",
    "M": "a date",
    "V": "records",
    "T": "text",
}  # of dtypes


def real_numbers(value: Any) -> NDArray[Any]:
    """The value as an array of integers or floating-point numbers; no copy of an array that is one.

    Numbers are those of Python and numpy, fractions and decimals, and whatever numpy reads as such.  Truth values, complex
    numbers, text, times and durations, masked elements and records are not: as numbers they would lose what they mean.

    Raises
    ------
    Refused
    """
    if type(value) is np.ndarray and value.dtype.kind in "fiu":
        return value
    if value is None:
        raise Refused
    try:
        _refuse_hidden(value)
        array = np.asarray(value)
    except Refused:
        raise
    except Exception as error:  # whatever a foreign object raises
        rows = "inhomogeneous" in (text := said_by(error))
        raise Refused(f"cannot be read as numbers: {'its rows differ in shape' if rows else text}") from None
    if array.dtype.kind == "O":
        return _of_objects(array)
    if array.dtype.kind not in "fiu":
        raise _of_kind(array)
    return array


def _of_kind(array: NDArray[Any]) -> Refused:
    if array.ndim == 0 and array.dtype.kind in "bUST":
        return Refused()  # the value shows it
    reason = f"{'holds' if array.ndim else 'is'} {KINDS.get(array.dtype.kind, str(array.dtype))}"
    return Refused(reason, "divide it by np.timedelta64(1, 's')" if array.dtype.kind == "m" else "")


def _refuse_hidden(value: Any, depth: int = 0) -> None:
    """Refuse what numpy turns into numbers without a word: masked elements, and truth values among numbers."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise Refused("has masked elements", "fill them with filled(), or leave them out with compressed()")
    elif isinstance(value, bool | np.bool_):
        raise Refused(f"holds {KINDS['b']}" if depth else "")
    elif isinstance(value, list | tuple):
        if depth > DEPTH:
            raise Refused("is nested too deeply")
        if not set(map(type, value)) <= PLAIN:
            for item in value:
                if type(item) not in PLAIN:
                    _refuse_hidden(item, depth + 1)
    elif isinstance(value, np.ndarray) and value.dtype.kind not in "fiuO":
        raise _of_kind(value)


def _of_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    """Floating-point numbers from an array of objects."""
    out = np.empty(array.shape)
    flat = out.reshape(-1)
    for k, item in enumerate(array.reshape(-1)):
        known = isinstance(item, Real | Decimal) and not isinstance(item, bool | np.bool_ | np.timedelta64)
        if not (known or getattr(item, "is_real", False) is True):  # as SymPy's numbers are
            raise Refused(f"holds {shown(item)}" if array.ndim else "")
        try:
            flat[k] = float(item)
        except OverflowError:
            flat[k] = np.inf
        except Exception:  # whatever a foreign object raises
            raise Refused(f"holds {shown(item)}") from None
    return out


def real_number(value: Any) -> float:
    """The value as one number.

    Raises
    ------
    Refused
    """
    array = real_numbers(value)
    if array.ndim:
        raise Refused(f"{SHAPE} {array.shape}")
    return float(array)


def floats(value: Any, what: str, words: str) -> NDArray[np.float64]:
    """The value as a new array of floating-point numbers; ``words``: what to give instead.

    Raises
    ------
    ModelError
    """
    try:
        array = real_numbers(value)
        if array.size > MOST:
            raise Refused(f"{SHAPE} {array.shape}")
        if array.dtype == np.float64:
            return np.array(array, order="C")
        with np.errstate(over="ignore"):
            return np.array(array, dtype=float, order="C")
    except Refused as refused:
        raise ModelError(refused.sentence(what, value, words)) from None
