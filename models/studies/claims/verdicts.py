"""Claims of the papers and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

VERDICTS = ("yes", "partly", "no", "cannot be checked")


@dataclass(frozen=True)
class Claim:
    """A claim of a paper beside the result of the runs."""

    place: str  # section or figure
    statement: str  # of the paper, shortened
    printed: str  # value in the paper
    computed: str  # from the runs
    verdict: str  # one of VERDICTS
    reason: str  # for which it is not reproduced, or not entirely


@dataclass
class Claims:
    """The claims of one paper."""

    source: str  # the paper and its section
    paper: str = ""  # as a title names it
    found: list[Claim] = field(default_factory=list)

    def check(
        self,
        place: str,
        statement: str,
        *,
        printed: str = "-",
        computed: str,
        holds: bool | Sequence[bool],
        reason: str = "",
    ) -> None:
        """Add a claim; ``holds`` are its parts, of which all, some or none may hold.  ``reason`` is kept if not all do."""
        parts = [bool(part) for part in holds] if isinstance(holds, Sequence) else [bool(holds)]
        verdict = "yes" if all(parts) else "partly" if any(parts) else "no"
        if verdict != "yes" and not reason:
            reason = f"{sum(parts)} of {len(parts)} comparisons hold" if len(parts) > 1 else "the runs contradict it"
        self.found.append(Claim(place, statement, printed, computed, verdict, "" if verdict == "yes" else reason))

    def leave(self, place: str, statement: str, *, printed: str = "-", computed: str = "-", reason: str) -> None:
        """Add a claim that cannot be checked; ``reason`` says which data it needs, ``computed`` what is known instead."""
        self.found.append(Claim(place, statement, printed, computed, VERDICTS[-1], reason))

    def count(self, verdict: str) -> int:
        """Number of claims with this verdict."""
        return sum(claim.verdict == verdict for claim in self.found)


def about(value: float, printed: float, share: float = 0.05) -> bool:
    """Whether a value agrees with one that the paper calls "around" or shows in a plot."""
    return abs(value - printed) <= share * abs(printed)


def rising(values: Sequence[float]) -> bool:
    """Whether each value is larger than the one before."""
    return all(a < b for a, b in pairwise(values))


def falling(values: Sequence[float]) -> bool:
    """Whether each value is smaller than the one before."""
    return rising([-value for value in values])


def listed(values: Sequence[float], form: str = ".3g") -> str:
    """The values as text, separated by commas."""
    return ", ".join(f"{value:{form}}" for value in values)
