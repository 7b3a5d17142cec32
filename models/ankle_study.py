"""The main job: the ankle as a classical and as a modified universal joint, free under gravity.  Seed 000, section 6."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from models import foot
from runtime import Report, Run, Table, plots, simulate

ANKLES = {"classical": "classical universal joint", "modified": "modified universal joint"}
BODY = "main_foot"
LINK_LENGTHS = (0.0, 0.0360, 0.0417, 0.0474)  # [m] none, and mean and one SD of the height of the talus, seed 000
COST_METHODS = ("BDF", "dop853")  # the family of the papers' integrator, and ours
REPEATS = 5
COST_SECONDS = 1.0  # Fig. 18 counts over the first second


def ankle(folder: Path, say: Callable[[str], None], *, t_end: float = 5.0, tolerance: float = 1e-10) -> Report:
    """Compare the classical with the modified universal joint on the published foot, and study the link length.

    Parameters
    ----------
    folder : Path
        Where tables, figures and data go.
    say : callable(str)
        Is told what is being done.
    t_end : float [s]
        Simulated time.
    tolerance : float
        Relative and absolute tolerance of the integration.
    """
    report = Report(
        "Classical against modified universal joint, foot free under gravity (seed 000, first and third analysis)"
    )
    times = np.linspace(0.0, t_end, max(int(round(t_end * 200)), 1) + 1)
    settings: dict[str, Any] = dict(t_eval=times, rtol=tolerance, atol=tolerance)

    say("compiling (the first time after installation or an edit of a joint this takes half a minute)")
    for method in COST_METHODS:
        simulate(foot.build(), 0.01, method=method)

    runs: dict[str, Run] = {}
    for name, label in ANKLES.items():
        say(f"{label}: {t_end:g} s at tolerance {tolerance:g}")
        runs[label] = _run(report, label, folder / f"{name}.nc", foot.build(ankle=name), t_end, **settings)  # type: ignore[arg-type]
        report.files.append(runs[label].to_csv(folder / f"{name}.csv"))
    again = {label: [simulate(run.system, t_end, **settings) for _ in range(REPEATS)] for label, run in runs.items()}
    wall_times = {label: min(run.stats.wall_time for run in repeated) for label, repeated in again.items()}
    report.tables.append(_motion_table(runs, wall_times))

    say("cost: function evaluations over the first second")
    cost = _cost_table(tolerance, min(COST_SECONDS, t_end))
    report.tables.append(cost)

    by_length: dict[str, Run] = {}
    for length in LINK_LENGTHS:
        label = f"{length * 1000:.1f} mm"
        say(f"link length {label}")
        file = folder / f"link_{length * 1000:.1f}_mm.nc"
        by_length[label] = _run(report, label, file, foot.build(link_length=length), t_end, **settings)
    report.tables.append(_length_table(by_length))

    say("figures")
    evaluations = {label: [row[2] for row in cost.rows if row[0] == label] for label in ANKLES.values()}
    figures = {
        "fig10_trajectories": plots.trajectories(runs, BODY),
        "fig12_velocities_accelerations": plots.velocities_and_accelerations(runs, BODY),
        "fig13_phase_portraits": plots.phase_portraits(runs, BODY),
        "fig17_energy": plots.energies(runs),
        "fig18_cost": plots.bars(COST_METHODS, evaluations, "function evaluations [-]"),
        "fig19_link_lengths": plots.draw(_draw_foot, len(LINK_LENGTHS)),
        "fig20_link_length_trajectories": plots.trajectories(by_length, BODY, ("transverse", "frontal")),
    }
    for name, figure in figures.items():
        report.files += plots.save(figure, folder, name)
    report.write(folder)
    return report


def _run(report: Report, label: str, file: Path, system: Any, t_end: float, **settings: Any) -> Run:
    run = simulate(system, t_end, **settings)
    if not run.success:
        report.failures.append(f"{label}: {run.message}")
    report.files.append(run.to_netcdf(file))
    return run


def _motion_table(runs: dict[str, Run], wall_times: dict[str, float]) -> Table:
    facts: dict[str, list[Any]] = {}
    for label, run in runs.items():
        r, s = run.r[BODY], run.stats
        mean = 1000 * float(np.trapezoid(r[:, 1], run.t) / (run.t[-1] - run.t[0]))
        values = {
            "function evaluations": s.evaluations,
            "steps": s.steps,
            "rejected steps": s.rejections,
            f"wall time, best of {REPEATS} [ms]": 1000 * wall_times[label],
            "energy drift [J]": float(np.abs(run.energy - run.energy[0]).max()),
            "largest |Phi|": float(run.violation.max()),
            "x range [mm]": 1000 * float(np.ptp(r[:, 0])),
            "y range [mm]": 1000 * float(np.ptp(r[:, 1])),
            "z range [mm]": 1000 * float(np.ptp(r[:, 2])),
            "mean y [mm]": mean,
            "moves towards": "medial" if mean > 0 else "lateral",
        }
        for fact, value in values.items():
            facts.setdefault(fact, []).append(value)
    note = (
        f"Centre of mass of {BODY}; x anterior, y medial, z up.  Ranges are max - min.  Evaluations include those for output "
        "between the steps; the drift and |Phi| are those of the output, at the steps themselves they are smaller."
    )
    return Table("motion", ["", *runs], [[fact, *values] for fact, values in facts.items()], note)


def _cost_table(tolerance: float, seconds: float) -> Table:
    rows = []
    for name, label in ANKLES.items():
        system = foot.build(ankle=name)  # type: ignore[arg-type]
        for method in COST_METHODS:
            run = simulate(system, seconds, method=method, rtol=tolerance, atol=tolerance)
            rows.append(
                [
                    label,
                    method,
                    run.stats.evaluations,
                    run.stats.steps,
                    run.stats.rejections,
                    1000 * run.stats.wall_time,
                ]
            )
    columns = ["joint", "method", "evaluations", "steps", "rejected", "time [ms]"]
    half = len(COST_METHODS)
    ratios = " and ".join(f"{b[2] / a[2]:.3f} ({a[1]})" for a, b in zip(rows[:half], rows[half:], strict=True))
    note = (
        f"Seed 000 finds the modified joint slightly less efficient; here it takes {ratios} times the evaluations.  "
        f"First {seconds:g} s at tolerance {tolerance:g}.  BDF is SciPy's method of the papers' family; it does not tell "
        "rejected steps.  `python -m benchmarks cost` compares more methods and tolerances."
    )
    return Table("cost", columns, rows, note)


def _length_table(runs: dict[str, Run]) -> Table:
    rows = []
    for label, run in runs.items():
        y = 1000 * run.r[BODY][:, 1]
        rows.append(
            [label, float(y.min()), float(y.max()), float(np.ptp(y)), float(np.trapezoid(y, run.t) / run.t[-1])]
        )
    columns = ["link length", "min y [mm]", "max y [mm]", "y range [mm]", "mean y [mm]"]
    return Table(
        "link length", columns, rows, "Mediolateral motion of the main foot, y medial; 0.0 mm is the classical joint."
    )


def _draw_foot(ax: Any, number: int) -> None:
    """Segments, joints and axes in the sagittal plane at the neutral pose.  Seed 000, Fig. 19."""
    length = LINK_LENGTHS[number]
    centre = {name: np.array(data["r"])[[0, 2]] for name, data in foot.BODIES.items()}  # type: ignore[call-overload]
    crural = centre["leg"] + np.array(foot.TALOCRURAL["leg"])[[0, 2]]
    calcaneal = crural - (0.0, length)
    phalangeal = centre["main_foot"] + np.array(foot.METATARSOPHALANGEAL["main_foot"])[[0, 2]]
    for points, colour in (
        ((centre["leg"], crural), "#0072B2"),
        ((calcaneal, centre["main_foot"], phalangeal), "#D55E00"),
        ((phalangeal, centre["toes"]), "#CC79A7"),
    ):
        ax.plot(*np.array(points).T, color=colour, linewidth=2, marker="o", markersize=3)
    if length > 0.0:
        ax.plot(
            *np.array([calcaneal, crural]).T,
            color="0.45",
            linewidth=5,
            solid_capstyle="round",
            label="talus (massless link)",
        )
    for point, axis, name, colour in (
        (calcaneal, foot.talocalcaneal_axis(), "talocalcaneal axis", "#009E73"),
        (crural, foot.talocrural_axis(), "talocrural axis", "#E69F00"),
    ):
        reach = 0.07 * axis[[0, 2]]
        ax.plot(*np.array([point - reach, point + reach]).T, color=colour, linewidth=1.2, linestyle="--", label=name)
    ax.set(title=f"l = {1000 * length:.1f} mm", xlim=(-0.02, 0.26), ylim=(-0.02, 0.38))
    ax.legend(fontsize=7, loc="upper right", frameon=False)
