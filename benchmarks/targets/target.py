"""One figure with its limit, and the settings that the measurements share."""

from __future__ import annotations

from dataclasses import dataclass

DURATION, OUTPUTS, TOLERANCE = 5.0, 501, 1e-10  # [s], times, of the timed runs
REPEATS = 25


@dataclass(frozen=True)
class Target:
    """One figure.  ``measured`` is None where it was not measured; ``how`` then says why."""

    what: str
    measured: float | None
    limit: float
    unit: str
    how: str
    median: float | None = None  # where ``measured`` is the least of several

    @property
    def reached(self) -> str:
        """Whether the limit is met: "yes", "no" or "not measured"."""
        return "not measured" if self.measured is None else "yes" if self.measured <= self.limit else "no"
