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
    HINGES,
    LINK_LENGTHS,
    Motions,
    motions,
)
from models.studies.claims.costs import PAPERS, WHOLE, FootCosts, Setting, all_costs
from runtime import Builder, Run, System, simulate

LATER = WHOLE - COST_SECONDS  # [s] after the first second
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
    vector: Run  # modified, dissipative, damped by the relative angular velocity as the published classical joint is
    costs: FootCosts

    def failures(self) -> list[str]:
        """Messages of the runs that failed."""
        runs = {
            f"{m.preset}, {name}, {case}": run
            for m in (self.published, self.anatomical)
            for name, by_case in m.runs.items()
            for case, run in by_case.items()
        } | {f"link of {length:g} m": run for length, run in self.lengths.items()}
        runs |= {"damped by the relative angular velocity": self.vector}
        failed = [f"foot, {label}: {run.message}" for label, run in runs.items() if not run.success]
        return failed + list(self.costs.failures)


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
        vector=simulate(damped_by_vector(), t_end, **at),
        costs=all_costs()[0],
    )


def damped_by_vector() -> System:
    """The modified foot whose damping, 0.568 N m s, acts on the relative angular velocity of main foot and leg.

    Rodrigues da Silva et al. (2024b), Eqs. (34), (35).  Limits: the published preset, without damping of the hinges.
    """
    b, limited = (
        Builder("foot, damped by the relative angular velocity"),
        foot.build(limits="elastic", preset="published"),
    )
    frames = (foot.talocrural_frame(), foot.talocalcaneal_frame())
    for name, data in foot.BODIES.items():
        b.body(name, **data)
    foot.add_joints(b, frames)
    for name, reference, frame in zip(HINGES, ("leg", "main_foot"), frames, strict=True):
        b.limit(
            name, "ankle", reference=reference, xi=frame[0], eta=frame[1], cone=limited.limit(name).cone,
            max_moment=foot.MAX_MOMENT, compliance=foot.COMPLIANCE,
        )  # fmt: skip
    for name, axis in zip("xyz", np.eye(3), strict=True):  # three axes at right angles: j / 2 times the rate squared
        b.force(
            f"damper_{name}",
            "hinge_friction",
            "leg",
            "main_foot",
            a_i=axis,
            friction=0.0,
            transition_velocity=1.0,
            damping=foot.DAMPING,
        )
    return b.build()


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


def later_shares(e: FootRuns, name: str) -> dict[Setting, float]:
    """Evaluations of a later second of the dissipative run, on average, relative to those of the first, by setting."""
    first, whole = e.costs.first["published", name, "dissipative"], e.costs.whole[name]
    return {setting: (whole[setting] - n) / LATER / n for setting, n in first.items()}


def later_counts(e: FootRuns, name: str) -> str:
    """The same in the papers' setting, as counts."""
    first, whole = e.costs.first["published", name, "dissipative"][PAPERS], e.costs.whole[name][PAPERS]
    return f"{PAPERS[0]} at {PAPERS[1]:g} takes {first} evaluations in the first second and {whole - first} in the other four"
