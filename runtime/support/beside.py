"""Work in forked processes beside this one, which share its data and its compiled code.  Only on Linux is a fork safe."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from runtime.support.machine import cores

Result = TypeVar("Result")


def forking() -> Any:
    """The context of forked processes; None where they are not safe, or of no use."""
    if sys.platform != "linux" or cores() < 2 or multiprocessing.current_process().daemon:
        return None
    return multiprocessing.get_context("fork")


def started(context: Any, function: Callable[[], None]) -> Any:
    """A forked process that calls a function; it ends in silence with an error of the function or with a signal."""
    process = context.Process(target=_call, args=(function,), daemon=True)
    with warnings.catch_warnings():
        # Of threads, which are those of linear algebra and bear a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process


def _call(function: Callable[[], None]) -> None:
    gc.freeze()  # collections need not visit the data of the parent process
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with suppress(Exception):
        function()


class Beside(Generic[Result]):
    """A call that is made in another process while this one goes on, where processes can be forked; else when it is asked for."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self.function, self.process = function, None
        if (context := forking()) is not None:
            self.receiver, sender = context.Pipe(duplex=False)
            self.process = started(context, lambda: sender.send(function()))
            sender.close()

    def result(self) -> Result:
        """The result of the call; where its process failed, the call is repeated here, with its error."""
        if self.process is not None:
            with suppress(EOFError, OSError):
                found: Result = self.receiver.recv()
                self.process.join()
                return found
        return self.function()
