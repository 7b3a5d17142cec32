"""How the cases of an ensemble ended, collected chunk by chunk while the others run."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.status import Status
from runtime.ensemble.task import Chunk


class Outcomes:
    """Status, time reached, counts and messages of all cases; of those whose chunk is not added yet: not run."""

    def __init__(self, count: int) -> None:
        self.status = np.full(count, int(Status.NOT_RUN))
        self.reached = np.full(count, np.nan)
        self.counts = np.zeros((count, 3), np.int64)
        self.vectorised = np.zeros(count, bool)
        self.messages: dict[int, str] = {}
        self.finished = 0  # cases

    def add(self, chunk: Chunk) -> None:
        """Add the cases of a finished chunk."""
        part = slice(chunk.first, chunk.first + len(chunk.status))
        self.status[part], self.reached[part], self.counts[part] = chunk.status, chunk.reached, chunk.counts
        self.vectorised[part] = chunk.vectorised
        self.messages |= chunk.messages
        self.finished += len(chunk.status)
