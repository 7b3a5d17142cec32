"""The verbs that simulate a model by name, or show what was simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.cli.models import build_model, is_model_file
from runtime.cli.options import FAILED, MOST_POINTS, Arguments, Dpi, FullTables, Json, Kinds, Model, Out
from runtime.cli.verb import AS
from runtime.figures.figure_format import PNG, FigureFormat
from runtime.integrate.choices import ATOL, AUTO, METHODS, RTOL
from runtime.report.report import Report
from runtime.report.tables import print_json
from runtime.support.errors import ModelError
from runtime.support.results_folder import results_in

if TYPE_CHECKING:
    from runtime.results.run import Run
    from runtime.results.seen import Seen
    from runtime.system.system import System

SECONDS = 5.0  # simulated by default
End = Annotated[
    float | None,
    typer.Option(
        help="Simulated time [s].  Default: 5, or as long as the signals of a driven model.", show_default=False
    ),
]


def simulate_command(
    model: Model,
    arguments: Arguments = None,
    t_end: End = None,
    points: Annotated[int, typer.Option(help="Number of output times.", min=2, max=MOST_POINTS)] = 501,
    method: Annotated[str, typer.Option(help=f"Integration method: {', '.join(METHODS)}.")] = "auto",
    coordinates: Annotated[
        str, typer.Option(help="Of the equations of motion: auto, absolute (all bodies) or joint (trees of joints).")
    ] = AUTO,
    rtol: Annotated[float, typer.Option(help="Relative tolerance.")] = RTOL,
    atol: Annotated[float, typer.Option(help="Absolute tolerance.")] = ATOL,
    page: Annotated[bool, typer.Option("--report/--no-report", help="Write figures and report.html too.")] = True,
    figure_format: Kinds = "png",
    dpi: Dpi = PNG.dpi,
    full: FullTables = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Simulate a model and write its motion to files.  The formats are NetCDF, CSV, OpenSim storage and motion (joint angles)."""
    from runtime.integrate.simulate import simulate
    from runtime.report.run_report import write_run_report
    from runtime.report.run_tables import facts_of, run_answer, run_tables
    from runtime.report.terminal import print_error, show_files, show_report

    drawn = FigureFormat.named(figure_format, dpi)
    system = build_model(model, arguments)
    for remark in system.assembly.remarks:
        print_error(remark)
    end = _end(system, t_end)
    with results_in(out, f"talus-{_label(model)}") as folder:
        times = _times(system, end, points)
        run = simulate(system, end, t_eval=times, method=method, coordinates=coordinates, rtol=rtol, atol=atol)
        files = [run.to_netcdf(folder / "run.nc"), run.to_csv(folder / "run.csv"), run.to_sto(folder / "run.sto")]
        if run.angles:
            files.append(run.to_mot(folder / "run.mot"))
        if page:
            report = write_run_report(run, folder, files, drawn)
        else:
            report = Report(system.name, run_tables(run), files, answer=run_answer(run))
    if as_json:
        tables = {table.title: table.records() for table in report.tables}
        given = {"model": system.name, "success": run.success, "answer": report.answer}
        print_json({**given, **dict(facts_of(run)), "tables": tables, "files": [str(f) for f in report.files]})
    else:
        show_report(report, full=full)
        show_files(report, folder)
    _end_if_failed(run)


def view_command(
    named: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL|FILE...",
            help="A model (see talus models) or a file of one (.json, .osim, .urdf, .xml), which is simulated; or NetCDF files "
            "of runs, drawn side by side.",
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option("--model", help="Model that the files were made with, for files of earlier versions."),
        f"{AS}system",
    ] = None,
    arguments: Arguments = None,
    t_end: End = None,
    speed: Annotated[float, typer.Option(help="Of playing; 0.25 for a fourth of the real speed.")] = 1.0,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write instead: .html, .gif, .mp4 or .png; must not exist yet.")
    ] = None,
) -> None:
    """Show a motion in three dimensions.  A model is simulated; files of runs are read.  Opens the browser, or writes a file."""
    from runtime.report.terminal import print_line
    from runtime.support.checks import positive

    positive(speed, "speed")
    if out is not None and out.exists():
        raise ModelError(f"--out {out} exists; name another file, so that nothing is overwritten")
    run: Run | None = None
    beside: dict[str, Seen] = {}
    if _is_file(named[0]):
        if t_end is not None or (arguments and model is None):
            option = "--set" if t_end is None else "--t-end"
            raise ModelError(f"{option} belongs to models; files have their own motion: leave it out")
        (name, shown), *others = _motions(named, model, arguments).items()
        beside = dict(others)
    else:
        if len(named) > 1 or model is not None:
            raise ModelError(f"talus view {' '.join(named)}: give one model, or files of runs (.nc)")
        shown = run = _simulated(build_model(named[0], arguments), t_end, speed)
        name = run.system.name
    if out is None:
        shown.view(speed=speed, name=name, beside=beside)
    else:
        print_line(f"written to {shown.animation(out, speed=speed, name=name, beside=beside)}")
    if run is not None:
        _end_if_failed(run)


def _is_file(name: str) -> bool:
    """Whether a file is meant, not a model."""
    return not is_model_file(name) and (name.endswith(".nc") or Path(name).is_file())


def _label(model: str) -> str:
    """A model's name, or that of its file, for a folder."""
    return Path(model).stem if is_model_file(model) else model.replace(":", "-")


def _motions(files: Sequence[str], model: str | None, arguments: list[str] | None) -> dict[str, Seen]:
    """The motions of files by name: of the file, or of its folder where files have the same name."""
    from runtime.results.motion_file import read_netcdf

    if len(set(files)) < len(files):
        raise ModelError(f"talus view {' '.join(files)}: a file is given twice; give each once")
    system = None if model is None else build_model(model, arguments)
    paths = [Path(file).resolve() for file in files]
    candidates = ([path.stem for path in paths], [path.parent.name for path in paths], list(files))
    names = next(each for each in candidates if len(set(each)) == len(each))
    motions = [read_netcdf(file, system=system) for file in files]
    if len(files) == 1:
        names = [motions[0].motion.outline.name]
    return dict(zip(names, motions, strict=True))


def _simulated(system: System, t_end: float | None, speed: float) -> Run:
    """A run with enough outputs for a view."""
    from runtime.integrate.simulate import simulate
    from runtime.results.run_scene import FRAMES_PER_SECOND

    end = _end(system, t_end)
    frames = FRAMES_PER_SECOND * (end - system.time) / speed
    return simulate(
        system, end, t_eval=_times(system, end, int(frames) + 2 if 0.0 <= frames < MOST_POINTS else MOST_POINTS)
    )


def _end(system: System, t_end: float | None) -> float:
    """The time at which a simulation ends."""
    if t_end is not None:
        return t_end
    return min([SECONDS, *(float(signal.span[1]) for signal in system.signals.values())])


def _times(system: System, end: float, count: int) -> Sequence[float] | None:
    """Output times, from the time of the initial state; None where there are none, which the simulation refuses."""
    import numpy as np

    if not system.time < end < math.inf:
        return None
    return np.linspace(system.time, end, count)  # type: ignore[return-value]


def _end_if_failed(run: Run) -> None:
    from runtime.report.terminal import print_error

    if not run.success:
        print_error(run.message)
        raise typer.Exit(FAILED)
