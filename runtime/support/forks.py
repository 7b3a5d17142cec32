"""Locks and files of this process that a forked process must not inherit: the threads that held the locks do not go on there."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any
from weakref import WeakSet

_LOCKS: WeakSet[Any] = WeakSet()
_FILES: WeakSet[Any] = WeakSet()


def lock() -> Any:
    """A lock of threads; in a forked process it is free."""
    made = threading.Lock()
    _LOCKS.add(made)
    return made


def not_in_forks(stream: IO[Any]) -> None:
    """Close an open file in forked processes: while one of them has it open, a lock of the file outlives this process."""
    _FILES.add(stream)


def _renew() -> None:
    for one in list(_LOCKS):
        one._at_fork_reinit()
    for stream in list(_FILES):
        with suppress(OSError, ValueError):
            stream.close()


def at_fork(**functions: Callable[[], object]) -> None:
    """Register functions as ``os.register_at_fork`` does, where processes can be forked."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**functions)


at_fork(after_in_child=_renew)
