"""Runs of the spherical pendulum on which the claims are checked, and quantities computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models import pendulum
from models.studies import measures
from models.studies import pendulum as study
from models.studies.claims.costs import PendulumCosts, all_costs
from runtime import Run, simulate

BODY, LIMIT = study.BODY, study.LIMIT
CONSERVED = 1e-5  # admissible variation, relative to the energy that the pendulum exchanges


@dataclass(frozen=True)
class PendulumRuns:
    """Runs on which the claims are checked."""

    cases: Mapping[str, Run]
    studies: Mapping[str, Mapping[str, Run]]
    costs: PendulumCosts
    printed: Run  # elastic, with the law as printed

    def failures(self) -> list[str]:
        """Messages of the runs that failed."""
        runs = {**self.cases, "printed law": self.printed}
        runs |= {f"{name} {label}": run for name, study in self.studies.items() for label, run in study.items()}
        failed = [f"pendulum, {label}: {run.message}" for label, run in runs.items() if not run.success]
        return failed + list(self.costs.failures)


def pendulum_runs(t_end: float, tolerance: float) -> PendulumRuns:
    """Simulate all cases and studies for ``t_end`` [s]."""
    printed = simulate(
        pendulum.build(limits="elastic", law="as_published"),
        t_end,
        t_eval=measures.times(t_end),
        rtol=tolerance,
        atol=tolerance,
        coordinates=measures.EQUATIONS,
    )
    return PendulumRuns(
        cases=study.cases(t_end, tolerance),
        studies=study.studies(t_end, tolerance),
        costs=all_costs()[1],
        printed=printed,
    )
