"""The main study: the ankle as a classical and as a modified universal joint, free and with joint limits.

Rodrigues da Silva et al. (2024a), Section 6, and (2024c), Section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from models import foot
from models.papers import cited
from models.studies import measures
from models.studies.ankle import figures, sweep, tables
from models.studies.ankle.runs import (
    ANKLES,
    COST_METHODS,
    COST_SECONDS,
    LIMITED,
    LINK_LENGTHS,
    PRESETS,
    Motions,
    cost_runs,
    motions,
)
from runtime import Run, simulate
from runtime.figures import PNG, FigureFormat
from runtime.report import Report, Table, write_report
from runtime.report.figure_files import FigureFiles
from runtime.support import Beside, made_folder

REPEATS = 5

Say = Callable[[str], None]


# Above 60 lines: the options of the command and their help.
def ankle(
    folder: Path,
    say: Say,
    *,
    subtalar_inclination: Annotated[str | None, "as subtalar_inclination_deg"] = None,
    subtalar_deviation: Annotated[str | None, "as subtalar_deviation_deg"] = None,
    talocrural_inclination: Annotated[str | None, "as talocrural_inclination_deg"] = None,
    talocrural_deviation: Annotated[str | None, "as talocrural_deviation_deg"] = None,
    link_lengths: Annotated[str | None, "as link_length"] = None,
    side: str | None = None,
    mass: float | None = None,
    height: float | None = None,
    foot_length: float | None = None,
    limits: str | None = None,
    check_units: bool = True,
    t_end: float = 5.0,
    tolerance: measures.Tolerance = 1e-10,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Compare the classical with the modified ankle of the foot, as published, or for other axes, links and sizes.

    Without options: the published foot, free, with limits, and with links of several lengths.  With any of the options of the
    foot: both ankles for every combination of the values given.

    Parameters
    ----------
    folder : Path
        Where tables, figures and data are written.
    say : callable(str)
        Receives a line for each stage of the work.
    subtalar_inclination : str
        Angle of the subtalar axis above the anterior direction, in the sagittal plane [deg]: numbers separated by commas, or
        FIRST:LAST:COUNT; published feet 20.5 to 68.5.
    subtalar_deviation : str
        Angle of the subtalar axis medial of the anterior direction, in the transverse plane [deg]; published feet 4 to 47.
    talocrural_inclination : str
        Angle of the talocrural axis above the medial direction, in the frontal plane [deg]; published feet -4 to 22.
    talocrural_deviation : str
        Angle of the talocrural axis anterior of the medial direction, in the transverse plane [deg]; published feet -9 to 21.
    link_lengths : str
        Height of the talus, the link of the modified joint [m]; published feet 0.0417 with an SD of 0.0057.
    side : str
        right, the default, or left.
    mass : float [kg]
        Of the person, to which masses and inertia are in proportion; default 71.
    height : float [m]
        Of the person, to which the lengths are in proportion; default 1.77.
    foot_length : float [m]
        Heel to toe tip; default 0.27, in proportion to the height.
    limits : str
        Joint limits of other feet: none, the default, elastic or dissipative.
    check_units : bool
        Refuse axes outside of the published ranges, and sizes that no person has.
    t_end : float [s]
        Simulated time.
    tolerance : float
        Relative and absolute tolerance of the integration.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    drawn = FigureFiles(folder, figure_format)
    lists = dict(
        subtalar_inclination=subtalar_inclination, subtalar_deviation=subtalar_deviation,
        talocrural_inclination=talocrural_inclination, talocrural_deviation=talocrural_deviation, link_lengths=link_lengths,
    )  # fmt: skip
    one = dict(side=side, mass=mass, height=height, foot_length=foot_length, limits=limits)
    if any(value is not None for value in (*lists.values(), *one.values())):
        grid, fixed = sweep.grid_of(lists), sweep.fixed_of(one) | {"check_units": check_units}
        return sweep.sweep(folder, say, grid, fixed, t_end=t_end, tolerance=tolerance, drawn=drawn)
    report = Report(
        "Classical and modified universal joint of the ankle, free and with joint limits: Rodrigues da Silva et al. "
        "(2024a, 2024c)"
    )
    settings: dict[str, Any] = dict(
        t_eval=measures.times(t_end, measures.WRITTEN_PER_SECOND),
        rtol=tolerance,
        atol=tolerance,
        coordinates=measures.EQUATIONS,
    )
    for method in COST_METHODS:  # compiles, so that the runs below are timed without compilation
        simulate(foot.build(limits="elastic"), 0.01, method=method)
    seconds = min(COST_SECONDS, t_end)
    costing = Beside(partial(cost_runs, seconds, t_end, tolerance))

    free = _free_runs(report, folder, say, t_end, settings)
    if measures.complete(report, free):
        report.answer = tables.answer_of_motion(free)
        report.tables.append(_motion(free, t_end, settings))
        drawn.add(figures.free(free))
        first, *others = free
        drawn.add_motion(free[first], name=first, beside={label: free[label] for label in others})
        for found in _limited_runs(report, folder, say, free, t_end, tolerance):
            drawn.add(figures.limited(found))
    by_length: dict[str, Run] = {}
    for length in LINK_LENGTHS:
        label = f"{length * 1000:.1f} mm"
        say(f"link length {label}")
        file = folder / f"link_{length * 1000:.1f}_mm.nc"
        run = by_length[label] = simulate(foot.build(link_length=length), t_end, **settings)
        report.files.append(run.to_netcdf(file))

    say("cost: function evaluations in the first second and after it")
    costs = costing.result()
    if measures.complete(report, costs.by_label):
        report.answer += f"  {tables.answer_of_cost(costs.first, seconds)}"
        drawn.add(figures.cost(costs.first))
        report.tables += [tables.cost(costs.first, seconds, tolerance), tables.rest(costs, seconds, t_end)]
    if measures.complete(report, by_length):
        drawn.add(figures.by_length(by_length))
        report.tables.append(tables.link_length(by_length))

    report.cite = cited("2024a", "2024c")
    say("figures")
    write_report(report, folder, figures=drawn)
    return report


def _free_runs(report: Report, folder: Path, say: Say, t_end: float, settings: Mapping[str, Any]) -> dict[str, Run]:
    """Runs without limits by the label of the joint, and their files."""
    runs: dict[str, Run] = {}
    for name, label in ANKLES.items():
        say(f"{label}: {t_end:g} s at tolerance {settings['rtol']:g}")
        run = runs[label] = simulate(foot.build(name), t_end, **settings)  # type: ignore[arg-type]
        report.files += [run.to_netcdf(folder / f"{name}.nc"), run.to_csv(folder / f"{name}.csv")]
    return runs


def _motion(free: Mapping[str, Run], t_end: float, settings: Mapping[str, Any]) -> Table:
    wall_times = {
        label: min(simulate(run.system, t_end, **settings).stats.wall_time for _ in range(REPEATS))
        for label, run in free.items()
    }
    return tables.motion(free, wall_times, REPEATS)


def _limited_runs(
    report: Report, folder: Path, say: Say, free: Mapping[str, Run], t_end: float, tolerance: float
) -> list[Motions]:
    """Runs with limits of the presets of which none failed; files and tables."""
    found: dict[str, Motions] = {}
    for preset, words in PRESETS.items():
        say(f"limits, {preset}: {words}")
        made = motions(preset, dict(zip(ANKLES, free.values(), strict=True)), t_end, tolerance)
        limited = {(name, case): by_case[case] for name, by_case in made.runs.items() for case in LIMITED}
        made_folder(folder / preset)
        for (name, case), run in limited.items():
            report.files.append(measures.thinned(run).to_netcdf(folder / preset / f"{name}_{case}.nc"))
        if measures.complete(
            report, {f"{preset}, {ANKLES[name]}, {case}": run for (name, case), run in limited.items()}
        ):
            found[preset] = made
    report.tables += map(tables.limits, found.values())
    if len(found) == len(PRESETS):
        report.tables.append(tables.dissipation(found))
    return list(found.values())
