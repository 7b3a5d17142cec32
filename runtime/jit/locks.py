"""Locks between processes that are waited for, but not for ever.

A holder that is stopped (Ctrl-Z, a frozen container), or that is gone while a file system keeps its lock, is waited for PATIENCE.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runtime.support.forks import not_in_forks

PATIENCE = 120.0  # [s]


@contextmanager
def locked(file: Path, patience: float = PATIENCE) -> Iterator[bool | None]:
    """Hold the lock of a file, which is removed afterwards.

    True while it is held; None where there are no locks; False where its holder does not end for so long [s].
    """
    try:
        import fcntl

        stream = file.open("ab")
    except (ImportError, OSError):  # or a folder that cannot be written
        yield None
        return
    with stream:
        not_in_forks(stream)
        held: bool | None = None
        with suppress(OSError):  # of a file system without locks
            held = _is_acquired(stream.fileno(), patience)
        try:
            yield held
        finally:
            if held:
                with suppress(OSError):
                    file.unlink()
                with suppress(OSError, ValueError):
                    fcntl.flock(stream, fcntl.LOCK_UN)


def _is_acquired(number: int, patience: float) -> bool:
    import fcntl

    end = time.monotonic() + patience
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(min(0.05, patience))
