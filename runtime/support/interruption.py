"""Ctrl-C (SIGINT) and SIGTERM end a command soon: with the exit code 130 or 143, without a traceback.

A signal raises ``Interrupted`` in the main thread, so that files are closed and unfinished ones are removed.  Python delivers it
only between two of its own instructions: where compiled code or a compiler takes longer than ``PATIENCE``, a thread that the
signal wakes ends the process.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from runtime.support.forks import at_fork
from runtime.support.streams import tell

PATIENCE = 0.7  # [s] from a signal to the end of the process at the latest
# Exit codes as shells report them, by the numbers of the signals.
CODES = {int(number): 128 + int(number) for number in (signal.SIGINT, signal.SIGTERM)}


class Interrupted(SystemExit):
    """A signal that ends the command; not a KeyboardInterrupt, after which ``simulate`` returns what was computed."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within this block SIGINT and SIGTERM end the process; signals that it was started to ignore stay ignored."""
    if threading.current_thread() is not threading.main_thread():  # Python delivers signals to the main thread only
        yield
        return
    ends = _Ends()
    try:
        yield
    finally:
        ends.leave()


class _Ends:
    """The handlers of the signals, and the thread that ends the process where they have to wait."""

    def __init__(self) -> None:
        self.code = 0  # exit code of the signal that came
        self.installed = self.begun = True
        self.before = {number: signal.getsignal(number) for number in CODES}
        self.read, self.write = os.pipe()
        os.set_blocking(self.write, False)
        threading.Thread(target=self._watch, name="end by a signal", daemon=True).start()
        self.woken_before = signal.set_wakeup_fd(self.write, warn_on_full_buffer=False)
        at_fork(before=self._hold, after_in_parent=self._release, after_in_child=self._detach)
        for number, handler in self.before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, self._handle)

    def leave(self) -> None:
        """Restore what was there before; after a signal end the process.

        It ends here, whatever error followed where a library did not pass the interruption on, and without the end of the
        interpreter, which would free what an interrupted compiler may still hold.
        """
        if self.code:
            tell("interrupted")
            with suppress(BaseException):
                sys.stdout.flush()
            with suppress(BaseException):
                atexit._run_exitfuncs()
            os._exit(self.code)
        for number, handler in self.before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self.woken_before)
        os.close(self.write)  # the thread ends
        self.installed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.code or not self.begun:
            os._exit(CODES[number])
        self.code = CODES[number]
        _silence()
        raise Interrupted(self.code)

    def _watch(self) -> None:
        with suppress(OSError):
            while received := os.read(self.read, 64):
                if code := next((CODES[number] for number in received if number in CODES), 0):
                    clock.sleep(PATIENCE)
                    _end_now(code)
            os.close(self.read)

    def _hold(self) -> None:
        """Before a fork: a signal of the new process must wait until it is detached, or it would wake the thread of this one."""
        if self.installed:
            self.mask = signal.pthread_sigmask(signal.SIG_BLOCK, CODES)

    def _release(self) -> None:
        if self.installed:
            signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)

    def _detach(self) -> None:
        """In the process that was forked: its signals are not those of the process that it comes from."""
        if self.installed:
            signal.set_wakeup_fd(-1)
            self.begun = False  # an exception would be ignored here
            self._release()
            self.begun = True


def _silence() -> None:
    """No reports from places that cannot pass the interruption on: a callback of a library, another thread."""

    def ignore(*_: Any) -> None:
        pass

    sys.unraisablehook = threading.excepthook = ignore


def _end_now(code: int) -> None:
    """End the process and those that it has forked, without waiting for its main thread."""
    with suppress(Exception):
        if "multiprocessing" in sys.modules:
            for child in sys.modules["multiprocessing"].active_children():
                child.terminate()
    with suppress(Exception):
        if os.isatty(2):
            os.write(2, b"\x1b[?25h\n")  # a bar of progress has hidden the cursor
    os._exit(code)
