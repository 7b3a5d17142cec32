"""Runs of the foot on which the claims are checked, and quantities computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from models import foot
from models.studies import measures
from models.studies.ankle.runs import (
    ANKLES,
    BODY,
    COST_SECONDS,
    LINK_LENGTHS,
    Costs,
    Motions,
    dissipative,
    evaluations,
    motions,
)
from runtime import Run, simulate

LATER = 4.0  # [s] after the first second
BETWEEN = (
    "the printed time lies between reaching the limit and the largest excess, but the limit is not reached at the printed "
    "hundredth of a second"
)


@dataclass(frozen=True)
class FootRuns:
    """Runs on which the claims are checked; ``published`` has the values behind the papers' results."""

    published: Motions
    anatomical: Motions
    lengths: Mapping[float, Run]
    costs: Costs  # over the first second
    whole: Mapping[str, Mapping[str, Run]]  # dissipative, by ankle and method

    def failures(self) -> list[str]:
        """Messages of the runs that failed."""
        runs = {
            f"{m.preset}, {name}, {case}": run
            for m in (self.published, self.anatomical)
            for name, by_case in m.runs.items()
            for case, run in by_case.items()
        } | {f"link of {length:g} m": run for length, run in self.lengths.items()}
        return [f"foot, {label}: {run.message}" for label, run in runs.items() if not run.success]


def foot_runs(t_end: float, tolerance: float) -> FootRuns:
    """Simulate all cases for ``t_end`` [s]."""
    at: dict[str, Any] = dict(
        t_eval=measures.times(t_end), rtol=tolerance, atol=tolerance, coordinates=measures.EQUATIONS
    )
    free = {name: simulate(foot.build(name), t_end, **at) for name in ANKLES}  # type: ignore[arg-type]
    return FootRuns(
        published=motions("published", free, t_end, tolerance),
        anatomical=motions("anatomical", free, t_end, tolerance),
        lengths={length: simulate(foot.build(link_length=length), t_end, **at) for length in LINK_LENGTHS},
        costs=evaluations(COST_SECONDS, tolerance)["published"],
        whole=dissipative("published", t_end, tolerance),
    )


def span(run: Run, axis: int) -> float:
    """Maximum minus minimum coordinate of the main foot's centre along an axis [mm]."""
    low, high = measures.extent(run, BODY, axis)
    return 1000 * (high - low)


def y_extent(run: Run) -> tuple[float, float]:
    """Smallest (lateral) and largest (medial) y of the main foot's centre [mm]."""
    low, high = measures.extent(run, BODY, 1)
    return 1000 * low, 1000 * high


def largest_angle(run: Run, hinge: str, sign: int) -> float:
    """Largest angle of a hinge in the direction ``sign`` [deg]."""
    return float(np.rad2deg((sign * run.limits[hinge].angle).max()))


def reversals(run: Run) -> int:
    """Number of changes of direction in y that are visible in a plot."""
    v = run.v[BODY][:, 1]
    return int((np.diff(np.sign(v[np.abs(v) > 1e-3 * np.abs(v).max()])) != 0).sum())


def first_limit(e: FootRuns, name: str) -> tuple[float, float]:
    """Times of reaching the limit of plantarflexion first and of the largest excess after it [s], dissipative case."""
    run = e.published.runs[name]["dissipative"]
    limit = run.system.limits[0].name
    reached = e.published.plantarflexion(name, "dissipative")
    excursion = next(pair for pair in measures.excursions(run, limit) if pair[0] == reached)
    return excursion[0], measures.peak(run, limit, excursion)[1]


def near_printed(begin: float, top: float, printed: float) -> list[bool]:
    """Whether a printed time lies between reaching the limit and the largest excess, and equals the former to 0.01 s."""
    return [begin - 0.005 <= printed <= top + 0.005, round(begin, 2) == printed]


def later_cost(counts: Mapping[str, tuple[int, int]]) -> str:
    """Evaluations of a later second relative to the first, in words; ``counts``: in the first second and in all, by method."""
    shares = ", ".join(f"{m} {(b - a) / LATER / a:.2f}" for m, (a, b) in counts.items())
    return f"each later second takes on average, relative to the evaluations of the first one, {shares}"
