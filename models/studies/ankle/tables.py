"""Tables of the study of the ankle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from models import foot
from models.studies import measures
from models.studies.ankle.runs import (
    ANKLES,
    BODY,
    CASES,
    COST_METHODS,
    HINGES,
    PRESETS,
    CostRuns,
    Costs,
    Motions,
    mean_y,
)
from runtime import Run
from runtime.report import Table

ALIKE = 0.05  # relative difference below which the text calls two times equal


def motion(runs: Mapping[str, Run], wall_times: Mapping[str, float], repeats: int) -> Table:
    """Cost, accuracy and extent of the runs without limits."""
    facts: dict[str, list[Any]] = {}
    for label, run in runs.items():
        r, s = run.r[BODY], run.stats
        mean = mean_y(run)
        values = {
            "function evaluations": s.evaluations,
            "steps": s.steps,
            "rejected steps": s.rejections,
            f"wall time, best of {repeats} [ms]": 1000 * wall_times[label],
            "energy drift [J]": float(np.abs(run.energy - run.energy[0]).max()),
            "largest norm of Phi": float(run.violation.max()),
            "x range [mm]": 1000 * float(np.ptp(r[:, 0])),
            "y range [mm]": 1000 * float(np.ptp(r[:, 1])),
            "z range [mm]": 1000 * float(np.ptp(r[:, 2])),
            "mean y [mm]": mean,
            "moves towards": "medial" if mean > 0 else "lateral",
        }
        for fact, value in values.items():
            facts.setdefault(fact, []).append(value)
    note = (
        f"Without limits.  Centre of mass of {BODY}; x anterior, y medial, z up.  Range: maximum minus minimum.  The evaluations "
        "include those for output between the steps.  Drift and norm of Phi are those of the output; they are smaller at the "
        "steps."
    )
    return Table("motion", ["", *runs], [[fact, *values] for fact, values in facts.items()], note)


def limits(found: Motions) -> Table:
    """Largest angles of the hinges and extent of the foot's centre, for one preset."""
    rows: list[dict[str, Any]] = []
    for name, by_case in found.hinges.items():
        for case, run in by_case.items():
            crural, calcaneal = (np.rad2deg(run.limits[hinge].angle) for hinge in HINGES)
            x, y = (1000 * run.r[BODY][:, axis] for axis in (0, 1))
            values = {
                "plantarflexion [deg]": -crural.min(), "inversion [deg]": calcaneal.max(), "eversion [deg]": -calcaneal.min(),
                "x range [mm]": np.ptp(x), "y min [mm]": y.min(), "y max [mm]": y.max(), "y end [mm]": y[-1],
            }  # fmt: skip
            rows.append({"joint": name, "case": case} | {key: round(float(v), 2) + 0.0 for key, v in values.items()})
    inversion, eversion = found.range_of_motion
    note = (
        f"Largest angles of the hinges, and position of the centre of mass of {BODY}.  Limits: plantarflexion "
        f"{foot.PLANTARFLEXION_DEG:g}, inversion {inversion:g}, eversion {eversion:g} degrees."
    )
    if found.preset == "published":
        note += (
            "  The text of Rodrigues da Silva et al. (2024c) states the last two the other way round; its results follow the "
            "printed vector, as here."
        )
    return Table(f"{found.preset} limits", list(rows[0]), [list(row.values()) for row in rows], note)


def dissipation(presets: Mapping[str, Motions]) -> Table:
    """Dissipation with the published and with equal damping: a test of the papers' "dissipates energy faster"."""
    columns = [
        "preset", "joint", "damping acts on", "damping [N m s]", "limit reached [s]", "plateau reached [s]",
        "energy dissipated [J]",
    ]  # fmt: skip
    rows: list[list[Any]] = []
    sentences = []
    ratios = {}
    for preset, found in presets.items():
        reached: dict[str, float | None] = {}
        plateau: dict[str, float] = {}
        for name, by_case in found.runs.items():
            run = by_case["dissipative"]
            damping = {limit.name: limit.damping for limit in run.system.limits}
            reached[name], plateau[name] = found.plantarflexion(name, "dissipative"), measures.plateau(run)
            where = "each hinge" if len(damping) > 1 else "relative angular velocity"
            energy = float(run.energy[0] - run.energy[-1])
            rows.append([preset, name, where, max(damping.values()), reached[name], plateau[name], energy])
        if all(plateau.values()):
            ratios[preset] = plateau["classical"] / plateau["modified"]
        sentences.append(
            f"{preset.capitalize()} ({PRESETS[preset]}): the energy reaches its plateau {earlier(plateau)}; plantarflexion "
            f"reaches its limit {earlier(reached)}."
        )
    note = (
        "Plateau reached: from then on the kinetic and potential energy differs from its last value by at most "
        f"{100 * measures.SETTLED:.0f} % of the loss.  Limit reached: that of plantarflexion, for the first time.  The papers "
        "state plateaus at about 0.43 s (modified) and 0.73 s (classical) and conclude that the modified joint dissipates energy "
        "faster.  " + "  ".join(sentences)
    )
    if len(ratios) == len(presets):
        note += (
            f"  The classical joint takes {ratios['published']:.2f} times as long as the modified one to reach the plateau with "
            f"the published, unequal damping, and {ratios['anatomical']:.2f} times as long with equal damping of each hinge."
        )
    return Table("dissipation", columns, rows, note)


def earlier(values: Mapping[str, float | None]) -> str:
    """Which joint is earlier, in words, from the times [s] of both."""
    classical, modified = values["classical"], values["modified"]
    if classical is None or modified is None:
        late = [name for name, value in values.items() if value is None]
        return f"not within the run with the {' and the '.join(late)} joint"
    if abs(modified - classical) <= ALIKE * classical:
        return f"at the same time with both joints ({modified:.3f} s modified, {classical:.3f} s classical)"
    first = "modified" if modified < classical else "classical"
    return f"earlier with the {first} joint ({modified:.3f} s modified, {classical:.3f} s classical)"


def cost(costs: Mapping[str, Costs], seconds: float, tolerance: float) -> Table:
    """Function evaluations by joint, case, preset and method."""
    rows: list[list[Any]] = []
    for preset, runs in costs.items():
        for (name, case), by_method in runs.items():
            if case == "free" and preset != next(iter(costs)):
                continue
            for method, run in by_method.items():
                s = run.stats
                which = "-" if case == "free" else preset
                rows.append([name, case, which, method, s.evaluations, s.steps, s.rejections, 1000 * s.wall_time])
    words = []
    for case in CASES:
        ratios = {method: cost_ratio(costs, case, method) for method in COST_METHODS}
        words.append(f"{case} " + " and ".join(f"{ratio:.2f} ({method})" for method, ratio in ratios.items()))
    note = (
        f"Evaluations with the modified joint divided by those with the classical one, anatomical preset: {'; '.join(words)}.  "
        "Rodrigues da Silva et al. (2024a) find the modified joint slightly less efficient without limits and clearly less "
        f"efficient with limits.  First {seconds:g} s at tolerance {tolerance:g}.  BDF is SciPy's method of the same family as "
        "the papers' integrator; it does not report rejected steps.  `python -m benchmarks cost` compares more methods and "
        "tolerances."
    )
    return Table(
        "cost", ["joint", "case", "preset", "method", "evaluations", "steps", "rejected", "time [ms]"], rows, note
    )


def cost_ratio(costs: Mapping[str, Costs], case: str, method: str) -> float:
    """Evaluations with the modified joint divided by those with the classical one, anatomical preset."""
    classical, modified = (costs["anatomical"][name, case][method].stats.evaluations for name in ANKLES)
    return modified / classical


def answer_of_motion(free: Mapping[str, Run]) -> str:
    """Where the foot moves without limits, and its energy."""
    (classical, first), (modified, second) = ((label, mean_y(run)) for label, run in free.items())
    sides = ["medially" if mean > 0.0 else "laterally" for mean in (first, second)]
    drift = max(float(np.abs(run.energy - run.energy[0]).max()) for run in free.values())
    return (
        f"With the {modified} the foot moves {sides[1]} (mean {second:.1f} mm), with the {classical} {sides[0]} ({first:.1f} "
        f"mm).  Both motions keep their energy to {drift:.4g} J."
    )


def answer_of_cost(costs: Mapping[str, Costs], seconds: float) -> str:
    """What the comparison says about cost."""
    ratios = {case: cost_ratio(costs, case, COST_METHODS[-1]) for case in CASES}
    return (
        f"The modified joint takes {ratios['free']:.2f} times the function evaluations of the classical one without limits, "
        f"{ratios['elastic']:.2f} times with elastic and {ratios['dissipative']:.2f} times with dissipative limits "
        f"({COST_METHODS[-1]}, first {seconds:g} s)."
    )


def rest(costs: CostRuns, seconds: float, t_end: float) -> Table:
    """Evaluations of the dissipative runs before and after ``seconds`` [s], and the time of rest."""
    rows: list[list[Any]] = []
    cheaper = []
    for preset, runs in costs.first.items():
        for name in ANKLES:
            for method, whole in costs.whole[preset][name].items():
                begun = runs[name, "dissipative"][method].stats.evaluations
                later, speed = whole.stats.evaluations - begun, float(np.linalg.norm(whole.final.omega[BODY]))
                at_rest = costs.rests[preset][name].events["rest"]
                rows.append([preset, name, method, begun, later, float(at_rest[0]) if len(at_rest) else None, speed])
                cheaper.append(later < begun)
    runs_of = "every run" if all(cheaper) else f"{sum(cheaper)} of {len(cheaper)} runs"
    note = (
        f"Dissipative runs.  In Rodrigues da Silva et al. (2024a), Section 6, the integration stalls after the first "
        f"{seconds:g} s; here the remainder of the {t_end:g} s takes fewer evaluations than the start in {runs_of}.  At rest: "
        "as found by runtime.at_rest()."
        if t_end > seconds
        else "The run ends before the foot can come to rest; give a longer --t-end."
    )
    columns = [
        "preset", "joint", "method", f"evaluations to {seconds:g} s", f"evaluations after {seconds:g} s", "at rest [s]",
        "angular speed at the end [rad/s]",
    ]  # fmt: skip
    return Table("rest", columns, rows, note)


def link_length(runs: Mapping[str, Run]) -> Table:
    """Mediolateral motion by the length of the link."""
    rows = []
    for label, run in runs.items():
        y = 1000 * run.r[BODY][:, 1]
        rows.append([label, float(y.min()), float(y.max()), float(np.ptp(y)), mean_y(run)])
    columns = ["link length", "min y [mm]", "max y [mm]", "y range [mm]", "mean y [mm]"]
    note = "Mediolateral motion of the centre of mass of main_foot, y medial; 0.0 mm is the classical joint."
    return Table("link length", columns, rows, note)
