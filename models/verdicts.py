"""Claims of the papers and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

VERDICTS = ("yes", "partly", "no")


@dataclass(frozen=True)
class Claim:
    """A claim of a paper beside what the runs say."""

    place: str  # section or figure
    words: str  # of the paper, shortened
    paper: str  # its figure
    ours: str
    verdict: str  # one of VERDICTS
    why: str  # it is not reproduced, or not wholly


@dataclass
class Claims:
    """The claims of one seed."""

    seed: str
    found: list[Claim] = field(default_factory=list)

    def check(
        self, place: str, words: str, *, paper: str = "-", ours: str, held: bool | Sequence[bool], why: str = ""
    ) -> None:
        """Add a claim; ``held`` are its parts, of which all, some or none may hold.  ``why`` is kept if not all do."""
        parts = [bool(part) for part in held] if isinstance(held, Sequence) else [bool(held)]
        verdict = "yes" if all(parts) else "partly" if any(parts) else "no"
        if verdict != "yes" and not why:
            why = f"{sum(parts)} of {len(parts)} comparisons hold" if len(parts) > 1 else "the runs say otherwise"
        self.found.append(Claim(place, words, paper, ours, verdict, "" if verdict == "yes" else why))

    def count(self, verdict: str) -> int:
        """How many have this verdict."""
        return sum(claim.verdict == verdict for claim in self.found)


def about(value: float, printed: float, share: float = 0.05) -> bool:
    """A figure that the paper calls "around" or reads off a plot."""
    return abs(value - printed) <= share * abs(printed)


def rising(values: Sequence[float]) -> bool:
    """Each larger than the one before."""
    return all(a < b for a, b in pairwise(values))


def falling(values: Sequence[float]) -> bool:
    """Each smaller than the one before."""
    return rising([-value for value in values])


def listed(values: Sequence[float], form: str = ".3g") -> str:
    """Numbers in a row."""
    return ", ".join(f"{value:{form}}" for value in values)
