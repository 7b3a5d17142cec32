"""Types of arrays, and read-only tables."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
T = TypeVar("T", bound=tuple[Any, ...])


def frozen(tables: T) -> T:
    """Tables with all arrays read-only, inner tables included.  Compiled code is made for such, and for no others."""
    for table in tables:
        if isinstance(table, np.ndarray):
            table.flags.writeable = False
        elif isinstance(table, tuple):
            frozen(table)
    return tables
