"""Which setting of a program is the coarsest that reaches an error."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.measure import BODY, BenchmarkError, exact
from benchmarks.peers.interface import PeerError
from benchmarks.peers.records import Peer
from runtime import System


@dataclass
class Search:
    """Errors of a program, measured once for each setting."""

    peer: Peer
    system: System
    timeout: float = math.inf  # [s] a setting whose run takes longer is not refined
    known: dict[float, float] = field(default_factory=dict)
    slow: set[float] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)

    @property
    def smallest(self) -> float | None:
        """The smallest error of all settings that were tried [m]."""
        found = [error for error in self.known.values() if math.isfinite(error)]
        return min(found, default=None)

    def error(self, setting: float) -> float:
        """Largest distance from the exact motion [m]; infinite where the program failed."""
        if setting not in self.known:
            ready = self.peer.prepare(setting)
            try:
                begin = time.perf_counter()
                times, found = ready.motion()
                if time.perf_counter() - begin > self.timeout and ready.seconds() > self.timeout:
                    self.slow.add(setting)
            except PeerError as error:
                self.known[setting] = math.inf
                self.failures.append(f"{self.peer.knob} {setting:.3g}: {error}")
            else:
                reference = exact(self.system, times).r[BODY]
                self.known[setting] = float(np.linalg.norm(found - reference, axis=1).max())
        return self.known[setting]

    def shown(self, every: int) -> list[float]:
        """The settings that the table lists, up to the first one that is slow or whose error is dominated by rounding."""
        chosen: list[float] = []
        for setting in self.peer.shown[::every]:
            error = self.error(setting)
            chosen.append(setting)
            if setting in self.slow or len(chosen) > 1 and error > 0.5 * self.known[chosen[-2]]:
                break
        return chosen

    def coarsest(self, error: float) -> float:
        """The coarsest setting whose error is at most the given one [m].

        Raises
        ------
        BenchmarkError
        """
        ladder = sorted({*self.peer.ladder, *self.peer.shown}, reverse=True)
        stops = [ladder.index(setting) for setting in self.peer.shown]
        low = 0
        for high in stops:
            if self.error(ladder[high]) <= error:
                break
            low = high + 1
            if ladder[high] in self.slow:
                break
        if self.error(ladder[high]) > error:
            best = "no setting succeeds" if self.smallest is None else f"the smallest is {self.smallest:.1e} m"
            raise BenchmarkError(f"{self.peer.label} does not reach an error of {error:.1e} m; {best}")
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.error(ladder[middle]) <= error else (middle + 1, high)
        return ladder[high]
