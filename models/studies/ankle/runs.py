"""Runs of the foot with either ankle: free, and with elastic or dissipative limits of both presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from models import foot
from models.studies import measures
from runtime import Run, System, at_rest, simulate

ANKLES = {"classical": "classical universal joint", "modified": "modified universal joint"}
PRESETS = {
    "anatomical": "limits as the text states them, equal damping of both joints",
    "published": "the values behind the papers' results",
}
CASES = ("free", "elastic", "dissipative")
LIMITED = CASES[1:]
BODY = "main_foot"
HINGES = ("talocrural", "talocalcaneal")
LINK_LENGTHS = (0.0, 0.0360, 0.0417, 0.0474)  # [m] none; height of the talus: mean and mean -/+ SD (2024a, Section 6)
COST_METHODS = ("BDF", "dop853")  # the family of the papers' integrator, and Talus's explicit method
COST_SECONDS = 1.0  # the papers count evaluations over the first second
PLANTARFLEXION_LONGITUDE_DEG = 180.0

Costs = Mapping[tuple[str, str], Mapping[str, Run]]  # by ankle and case, and by method


@dataclass(frozen=True)
class CostRuns:
    """Runs of the first second by preset; whole dissipative runs by preset, ankle and method; runs until rest."""

    first: Mapping[str, Costs]
    whole: Mapping[str, Mapping[str, Mapping[str, Run]]]
    rests: Mapping[str, Mapping[str, Run]]  # by preset and ankle

    @property
    def by_label(self) -> dict[str, Run]:
        """All runs."""
        found = {}
        for preset, costs in self.first.items():
            whole = {(ankle, "dissipative, to the end"): runs for ankle, runs in self.whole[preset].items()}
            for (ankle, case), runs in (*costs.items(), *whole.items()):
                found |= {f"cost, {preset}, {ankle}, {case}, {method}": run for method, run in runs.items()}
            found |= {f"{preset}, {ankle}, until rest": run for ankle, run in self.rests[preset].items()}
        return found


@dataclass(frozen=True)
class Motions:
    """Runs of one preset, by ankle and case; ``hinges`` are the same motions measured by the limits of both hinges."""

    preset: str
    runs: Mapping[str, Mapping[str, Run]]
    hinges: Mapping[str, Mapping[str, Run]]

    @property
    def range_of_motion(self) -> tuple[float, float]:
        """Limits of inversion and of eversion [deg]."""
        cone = self.runs["modified"]["elastic"].system.limits[1].cone
        return float(np.rad2deg(cone.latitudes[1])), float(np.rad2deg(cone.latitudes[3]))

    def plantarflexion(self, ankle: str, case: str) -> float | None:
        """Time at which the limit of plantarflexion is first reached [s]; None if never."""
        run = self.runs[ankle][case]
        limit = run.system.limits[0].name  # the talocrural hinge, or the single cone of the published classical joint
        return measures.first_excursion(run, limit, PLANTARFLEXION_LONGITUDE_DEG)


def build(ankle: str, case: str, preset: str) -> System:
    """The foot of a case; without limits the presets are equal."""
    return foot.build(ankle) if case == "free" else foot.build(ankle, limits=case, preset=preset)  # type: ignore[arg-type]


def motions(preset: str, free: Mapping[str, Run], t_end: float, tolerance: float) -> Motions:
    """Simulate both ankles with elastic and dissipative limits; ``free`` are their runs without limits."""
    settings: dict[str, Any] = dict(
        t_eval=measures.times(t_end), rtol=tolerance, atol=tolerance, coordinates=measures.EQUATIONS
    )
    runs: dict[str, dict[str, Run]] = {}
    for ankle in ANKLES:
        limited = {case: simulate(build(ankle, case, preset), t_end, **settings) for case in LIMITED}
        runs[ankle] = {"free": free[ankle], **limited}
    return Motions(preset, runs, {ankle: _hinged(ankle, preset, by_case) for ankle, by_case in runs.items()})


def _hinged(ankle: str, preset: str, runs: Mapping[str, Run]) -> dict[str, Run]:
    """Runs measured by limits on both hinges, also those of systems without such limits."""
    measure = build(ankle, "elastic", "anatomical" if ankle == "classical" else preset)
    return {
        case: run if HINGES[1] in {limit.name for limit in run.system.limits} else measures.seen_by(run, measure)
        for case, run in runs.items()
    }


def evaluations(seconds: float, tolerance: float) -> dict[str, Costs]:
    """Runs by preset, by ankle and case, and by method, without output between the steps, to count evaluations."""

    def by_method(ankle: str, case: str, preset: str) -> dict[str, Run]:
        system = build(ankle, case, preset)
        return {
            m: simulate(system, seconds, method=m, rtol=tolerance, atol=tolerance, coordinates=measures.EQUATIONS)
            for m in COST_METHODS
        }

    free = {(ankle, "free"): by_method(ankle, "free", next(iter(PRESETS))) for ankle in ANKLES}  # equal in all presets
    return {
        preset: free | {(ankle, case): by_method(ankle, case, preset) for case in LIMITED for ankle in ANKLES}
        for preset in PRESETS
    }


def dissipative(preset: str, t_end: float, tolerance: float) -> dict[str, dict[str, Run]]:
    """Whole runs with dissipative limits, by ankle and method, without output between the steps."""
    systems = {ankle: build(ankle, "dissipative", preset) for ankle in ANKLES}
    return {
        ankle: {
            m: simulate(system, t_end, method=m, rtol=tolerance, atol=tolerance, coordinates=measures.EQUATIONS)
            for m in COST_METHODS
        }
        for ankle, system in systems.items()
    }


def cost_runs(seconds: float, t_end: float, tolerance: float) -> CostRuns:
    """Runs that show the cost, most of them by SciPy's method, which takes longer than all other runs of the study."""
    return CostRuns(
        evaluations(seconds, tolerance),
        {preset: dissipative(preset, t_end, tolerance) for preset in PRESETS},
        {preset: {ankle: until_rest(ankle, preset, t_end, tolerance) for ankle in ANKLES} for preset in PRESETS},
    )


def until_rest(name: str, preset: str, t_end: float, tolerance: float) -> Run:
    """The foot with dissipative limits, until it comes to rest."""
    system = build(name, "dissipative", preset)
    return simulate(system, t_end, rtol=tolerance, atol=tolerance, coordinates=measures.EQUATIONS, events=[at_rest()])


def mean_y(run: Run) -> float:
    """Time average of the mediolateral position of the main foot's centre [mm]."""
    return 1000 * float(np.trapezoid(run.r[BODY][:, 1], run.t) / (run.t[-1] - run.t[0]))
