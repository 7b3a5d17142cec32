"""A published number beside the same number by Talus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

AGREES, MISPRINT, FAILS = "agrees", "misprint", "FAILS"


@dataclass(frozen=True)
class Check:
    """A number of a publication, the same number by Talus, and how far apart they may be.

    ``wrong``: the publication has a misprint here, so that the numbers must be farther apart than the bound.
    """

    quantity: str  # with its unit, understood without the name of the result
    ours: float
    published: float
    bound: float
    wrong: bool = False

    @property
    def difference(self) -> float:
        """Absolute difference of the two numbers."""
        return abs(self.ours - self.published)

    @property
    def verdict(self) -> str:
        """``AGREES``, ``MISPRINT`` or ``FAILS``; a number that is not finite fails."""
        if self.wrong:
            return MISPRINT if self.bound < self.difference < float("inf") else FAILS
        return AGREES if self.difference <= self.bound else FAILS


@dataclass(frozen=True)
class Result:
    """A published result: what is computed, from which publication, and its numbers."""

    name: str
    source: str  # paper, and equation, table or section
    meaning: str  # one sentence or two
    checks: Sequence[Check]

    def failures(self) -> list[str]:
        """A sentence for each number that fails."""
        return [
            f"{self.name}: {check.quantity}: Talus {check.ours:.10g}, published {check.published:.10g}; the difference is "
            f"{check.difference:.2g}, expected {'above' if check.wrong else 'at most'} {check.bound:g}"
            for check in self.checks
            if check.verdict == FAILS
        ]
