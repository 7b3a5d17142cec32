"""numba's compiler in forked processes: what another thread of the parent was compiling does not end there.

A fork waits for a compilation that ends soon, and in any case for the call of LLVM that is under way, so that the forked process
finds LLVM whole; there the locks of threads that do not go on are made anew.
"""

from __future__ import annotations

import threading
from typing import Any

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing.context import CallStack

from runtime.support.forks import at_fork

SOON = 60.0  # [s] longer than any compilation on a busy machine
_taken: list[bool] = []  # by the present fork: the lock of numba, and that of LLVM


def _locks() -> tuple[Any, Any]:
    return global_compiler_lock._lock, ffi.lib._lock._lock


def _take() -> None:
    compiler, library = _locks()
    _taken[:] = compiler.acquire(timeout=SOON), library.acquire(timeout=SOON)


def _release() -> None:
    for lock, taken in zip(_locks(), _taken, strict=True):
        if taken:
            lock.release()


def _renew() -> None:
    _release()
    if not _taken[0]:
        global_compiler_lock._lock = threading.RLock()
        cpu_target.typing_context.callstack = CallStack()
    if not _taken[1]:
        ffi.lib._lock._lock = threading.RLock()


at_fork(before=_take, after_in_parent=_release, after_in_child=_renew)
