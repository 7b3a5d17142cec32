"""Locks between processes that are waited for as long as their holder shows progress.

A holder that is stopped (Ctrl-Z, a frozen container), or that is gone while a file system keeps its lock, is not waited for.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from runtime.support.forks import not_in_forks

BEAT = 1.0  # [s] between two signs of a holder: the times of the file
PATIENCE = 10.0  # [s] without a sign
LONGEST = 120.0  # [s]


@contextmanager
def locked(file: Path, patience: float = PATIENCE) -> Iterator[bool | None]:
    """Hold the lock of a file, which is removed afterwards.

    True while it is held; None where there are no locks; False where its holder gives no sign for so long [s] or does not end.
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
        if not held:
            yield held
            return
        ended = threading.Event()
        thread = threading.Thread(target=_give_signs, args=(stream.fileno(), ended), name="lock", daemon=True)
        try:
            with suppress(RuntimeError):  # the interpreter is about to end
                thread.start()
            yield True
        finally:
            ended.set()
            if thread.ident is not None:
                thread.join()
            with suppress(OSError):
                file.unlink()
            with suppress(OSError, ValueError):
                fcntl.flock(stream, fcntl.LOCK_UN)


def _is_acquired(number: int, patience: float) -> bool:
    import fcntl

    begin = since = time.monotonic()
    seen: Any = None
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.utime(number)
            return True
        now, sign = time.monotonic(), os.fstat(number).st_mtime
        seen, since = (seen, since) if sign == seen else (sign, now)
        # By the clock of this process where that of the file system is wrong.
        if now - since >= patience or time.time() - sign >= patience or now - begin >= LONGEST:
            return False
        time.sleep(min(0.05, patience))


def _give_signs(number: int, ended: threading.Event) -> None:
    with suppress(OSError):
        while not ended.wait(BEAT):
            os.utime(number)
