"""The report of a run that ``talus simulate`` writes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from runtime.figures.figure_format import FigureFormat
from runtime.figures.panel_lines import MOST_LINES, largest
from runtime.report import plots
from runtime.report.figure_files import Drawing, FigureFiles
from runtime.report.report import Report
from runtime.report.report_files import write_report
from runtime.report.run_tables import run_answer, run_tables, shown_coordinates
from runtime.results.drawn_motion import activation_of
from runtime.results.run import Run
from runtime.system.muscle_paths import is_muscle

TIME = "time [s]"


def write_run_report(run: Run, folder: Path, files: list[Path], figure_format: FigureFormat) -> Report:
    """Write tables, figures, motion and page of a run; ``files`` are those of the run in the folder."""
    report = Report(run.system.name, run_tables(run), files, answer=run_answer(run))
    if not run.success:
        report.failures.append(run.message)
    figures = FigureFiles(folder, figure_format)
    if len(run.t) > 1:
        figures.add(run_figures(run))
        figures.add_motion(run)
    write_report(report, folder, figures=figures)
    return report


def run_figures(run: Run) -> dict[str, Drawing]:
    """Positions of the bodies, energies, coordinates of joints, joint limits and contact forces over time, by file name."""
    names = largest({name: np.ptp(run.r[name], axis=0).max() for name in run.system.body_names})
    positions = [
        plots.Chart(direction, f"{direction} [m]", {name: (run.t, run.r[name][:, axis]) for name in names})
        for axis, direction in enumerate("xyz")
    ]
    some = f" of the {MOST_LINES} bodies that move most" if len(names) < len(run.system.bodies) else " of the bodies"
    figures = {
        "positions": Drawing(partial(plots.charts, positions, TIME, columns=1), f"Centres of mass{some} over time."),
        "energies": Drawing(
            partial(plots.energies, {run.system.name: run}), "Energies over time, and the drift of their sum."
        ),
    }
    figures |= _coordinates(run)
    if run.system.limits:
        limits = [
            plots.Chart(
                name,
                "latitude [deg]",
                {
                    "latitude": (run.t, np.rad2deg(motion.latitude)),
                    "limit": (run.t, np.rad2deg(motion.maximum_latitude)),
                },
            )
            for name, motion in run.limits.items()
        ]
        figures["limits"] = Drawing(
            partial(plots.charts, limits, TIME),
            "Latitude of each joint limit and the largest one at its longitude.",
        )
    if run.system.contacts:
        forces = {name: run.contacts[name].normal_force for name in run.system.contact_names}
        kept = largest({name: force.max() for name, force in forces.items()})
        chart = plots.Chart("contacts", "normal force [N]", {name: (run.t, forces[name]) for name in kept})
        figures["contacts"] = Drawing(
            partial(plots.charts, [chart], TIME), "Normal forces of the contacts over time, the largest ones."
        )
    return figures | _muscles(run)


def _muscles(run: Run) -> dict[str, Drawing]:
    """The muscles along their paths at the start, the middle and the end, and those with the largest tensions over time."""
    muscles = [force for force in run.system.forces if is_muscle(force)]
    if not muscles:
        return {}
    curves = {
        "activation [1]": {force.name: activation_of(run, force) for force in muscles},
        "tension [N]": {force.name: run.forces[force.name].values["tension"] for force in muscles},
    }
    kept = largest({name: float(values.max()) for name, values in curves["tension [N]"].items()})
    charts = [
        plots.Chart(label.partition(" ")[0], label, {name: (run.t, of[name]) for name in kept})
        for label, of in curves.items()
    ]
    some = f", the {MOST_LINES} with the largest tensions" if len(kept) < len(muscles) else ""
    return {
        "muscles": Drawing(run.stills, "Muscles along their paths at the start, the middle and the end."),
        "tensions": Drawing(
            partial(plots.charts, charts, TIME), f"Activations and tensions of muscles over time{some}."
        ),
    }


def _coordinates(run: Run) -> dict[str, Drawing]:
    """Turns of joints in degrees, and distances, over time; those that change most."""
    figures: dict[str, Drawing] = {}
    shown = shown_coordinates(run)
    for title, unit in (("angles", "deg"), ("distances", "m")):
        own = {name: values for name, of, values, _ in shown if of == unit}
        if own:
            names = largest({name: np.ptp(values) for name, values in own.items()})
            series = {name: (run.t, own[name]) for name in names}
            chart = plots.Chart(f"{title} of joints", f"{title[:-1]} [{unit}]", series)
            some = f", the {MOST_LINES} that change most" if len(names) < len(own) else ""
            caption = f"Coordinates of joints over time, 0 in the reference pose: {title}{some}."
            figures[title] = Drawing(partial(plots.charts, [chart], TIME), caption)
    return figures
