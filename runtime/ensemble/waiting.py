"""Waiting for chunks; where processes of an engine compile, the waiting process gives the notice."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from time import monotonic

from runtime.ensemble.task import Chunk
from runtime.jit.machine_code import being_made
from runtime.jit.place import cache_folder
from runtime.support.notice import compiling

CHECK = 0.5  # [s] between two checks of the cache


# Threads put the chunks here that they finish.  ``concurrent.futures.wait`` holds the locks of all chunks for a moment, and
# Ctrl-C at this moment would leave them locked, so that the threads never end.
Finished = SimpleQueue[Future[Chunk]]


def first_of(finished: Finished, in_processes: bool) -> set[Future[Chunk]]:
    """The chunks that are finished, at least one; ``in_processes`` where an engine runs them."""
    with ExitStack() as notice:
        given = False
        while True:
            try:
                return {finished.get(timeout=CHECK if in_processes else None)}
            except Empty:
                making = being_made()
            if making and not given:
                notice.enter_context(compiling("what the workers need", cache_folder()))
            elif not making:
                notice.close()
            given = making


def all_of(finished: Finished, count: int, timeout: float) -> list[Future[Chunk]]:
    """Up to so many finished chunks, waiting for them so long [s] altogether."""
    found: list[Future[Chunk]] = []
    end = monotonic() + timeout
    while len(found) < count:
        try:
            found.append(finished.get(timeout=max(end - monotonic(), 0.0)))
        except Empty:
            break
    return found
