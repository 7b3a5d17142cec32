"""Waiting for chunks; where processes of an engine compile, the waiting process gives the notice."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack

from runtime.ensemble.task import Chunk
from runtime.jit.cache import cache_folder
from runtime.jit.machine_code import being_made
from runtime.support.notice import compiling

CHECK = 0.5  # [s] between two checks of the cache


def first_of(futures: Collection[Future[Chunk]], in_processes: bool) -> set[Future[Chunk]]:
    """The chunks that are finished, at least one; ``in_processes`` where an engine runs them."""
    with ExitStack() as notice:
        given = False
        while not (done := wait(futures, CHECK if in_processes else None, FIRST_COMPLETED).done):
            making = being_made()
            if making and not given:
                notice.enter_context(compiling("what the workers need", cache_folder()))
            elif not making:
                notice.close()
            given = making
    return done
