"""Wall time with and without compilation.

The time that a thread compiles, waits for another process that does, or loads compiled code is counted for this thread.
"""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager


class _Preparation(threading.local):
    """Preparation of machine code in one thread."""

    seconds = 0.0
    depth = 0


_PREPARATION = _Preparation()


@contextmanager
def preparing() -> Iterator[None]:
    """Count a block as preparation of machine code; blocks within it count once."""
    begin = clock.perf_counter()
    _PREPARATION.depth += 1
    try:
        yield
    finally:
        _PREPARATION.depth -= 1
        if _PREPARATION.depth == 0:
            _PREPARATION.seconds += clock.perf_counter() - begin


class Stopwatch:
    """Time since it was made, in the thread that made it."""

    def __init__(self) -> None:
        self._begin, self._prepared = clock.perf_counter(), _PREPARATION.seconds

    def times(self) -> tuple[float, float]:
        """Wall time without the preparation of machine code, and the time of this preparation [s]."""
        prepared = _PREPARATION.seconds - self._prepared
        return clock.perf_counter() - self._begin - prepared, prepared
