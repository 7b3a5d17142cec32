"""Output and end of ``python -m codegen``: a lost output ends no work, and Ctrl-C and SIGTERM end it soon and silently.

As ``runtime.support.streams`` and ``runtime.support.interruption`` do it for the command ``talus``; codegen imports neither.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

FAILED = 1  # exit code
PATIENCE = 0.7  # [s] from a signal to the end of the process at the latest
# Exit codes as shells report them, by the numbers of the signals.
CODES = {int(number): 128 + int(number) for number in (signal.SIGINT, signal.SIGTERM)}


class _Process:
    """What happened to this process: the error by which its output was lost, and the exit code of a signal."""

    lost: OSError | ValueError | None = None
    code = 0


def say(text: str) -> None:
    """Print a text on stdout; where this fails, ``command`` says so at the end."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "it is closed")
        print(text, flush=True)
    except (OSError, ValueError) as error:
        _Process.lost = error


def tell(text: str) -> None:
    """Print a sentence on stderr, if it can be written."""
    if sys.stderr is not None:  # print would take stdout
        with suppress(OSError, ValueError):
            print(text, file=sys.stderr, flush=True)


def command(main: Callable[[], int]) -> None:
    """Run a command and end the process with its exit code; see ``end_by_signals``, which comes first."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # terminals that show ASCII only
    try:
        code = main()
    finally:
        if _Process.code:
            tell("interrupted")
            os._exit(_Process.code)
    if _Process.lost is not None:
        with suppress(OSError, ValueError, AttributeError):  # what is left must not be tried again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if getattr(_Process.lost, "errno", None) != errno.EPIPE:
            tell(f"the output cannot be written: {getattr(_Process.lost, 'strerror', None) or _Process.lost}")
        code = code or FAILED
    sys.exit(code)


def end_by_signals() -> None:
    """SIGINT and SIGTERM raise SystemExit; a thread ends the process where a library does not pass it on in time."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    threading.Thread(target=_watch, args=(read,), name="end by a signal", daemon=True).start()
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in CODES:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _handle)


def _handle(number: int, frame: FrameType | None) -> None:
    def ignore(*_: Any) -> None:
        pass

    if _Process.code:
        os._exit(_Process.code)
    _Process.code = CODES[number]
    sys.unraisablehook = threading.excepthook = ignore
    raise SystemExit(_Process.code)


def _watch(read: int) -> None:
    while received := os.read(read, 1):
        if received[0] in CODES:
            clock.sleep(PATIENCE)
            os._exit(CODES[received[0]])


@contextmanager
def without_interruption() -> Iterator[None]:
    """Processes that are started in this block do not notice Ctrl-C: the one that started them ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """In a process of a pool: end when the process that started it has ended, however it did."""
    import multiprocessing

    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(FAILED)

    threading.Thread(target=wait, daemon=True).start()
