"""A process beside this one that answers requests, for work of libraries that end their process on some damaged files.

It is started for the first request, takes one after another, and ends with this one.  A request that is interrupted ends it, or
its answer would be that to the next request.  A process that is forked starts a helper of its own.
"""

from __future__ import annotations

import atexit
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, TypeVar

from runtime.support.forks import at_fork

T = TypeVar("T")
Talk = Callable[[IO[bytes], IO[bytes]], T]  # writes a request to the first stream and reads the answer from the second


class EndedError(Exception):
    """The process ended before it answered; ``late``: it took too long."""

    def __init__(self, late: bool) -> None:
        super().__init__(late)
        self.late = late


class Helper:
    """The process, and the lock of those that ask it.  ``command``: returns the arguments that start it."""

    def __init__(self, command: Callable[[], Sequence[str]]) -> None:
        self.command = command
        self.process: subprocess.Popen[bytes] | None = None
        self._detach()
        atexit.register(self.stop)
        at_fork(after_in_child=self._detach)

    def _detach(self) -> None:
        """Leave the process and the lock to the process that this one was forked from."""
        if self.process is not None:
            self.process.returncode = 0  # it is no child of this process, which cannot wait for it
        self.process, self.fresh, self.lock = None, True, threading.Lock()

    def ask(self, talk: Talk[T], seconds: float) -> T:
        """The answer to a request, for which the process has a limited time.

        Raises
        ------
        EndedError
        OSError
            Where no process can be started.
        """
        with self.lock:
            self._start()
            fresh = self.fresh
            try:
                return self._exchange(talk, seconds)
            except EndedError as ended:
                if fresh or ended.late:
                    raise
            self._start()  # an earlier request may have damaged its memory
            return self._exchange(talk, seconds)

    def start(self) -> None:
        """Start the process, unless it runs.  Raises OSError."""
        with self.lock:
            self._start()

    def _start(self) -> None:
        if self.process is not None and self.process.poll() is None:
            return
        self.stop()
        self.fresh = True
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True, cwd=tempfile.gettempdir(),
        )  # fmt: skip

    def _exchange(self, talk: Talk[T], seconds: float) -> T:
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        watch = threading.Timer(seconds, end)
        watch.daemon = True
        try:
            watch.start()
            answer = talk(process.stdin, process.stdout)
            self.fresh = False
            return answer
        except BaseException as error:
            self.stop()
            if isinstance(error, Exception):  # it ended, or what it sent is damaged
                raise EndedError(late.is_set()) from None
            raise
        finally:
            watch.cancel()

    def stop(self) -> None:
        """End the process."""
        process, self.process = self.process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
