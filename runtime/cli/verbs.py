"""The verbs of the command ``talus``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from runtime.cli.models import arguments_table, build_model, load_model, models_by_name
from runtime.cli.options import BAD_INPUT, DISTRIBUTION, FAILED, MOST_POINTS, Arguments, Json, Model, Out
from runtime.cli.studies import studies_by_name, study_command
from runtime.integrate.choices import ATOL, METHODS, RTOL
from runtime.report.tables import Table, print_json
from runtime.support.documentation import documentation
from runtime.support.errors import ModelError
from runtime.support.interruption import ended_by_signals
from runtime.support.results_folder import results_in
from runtime.support.streams import safe_streams

HELP = """Simulate constrained rigid multibody systems, made first for the human ankle and foot.

Each verb has its own help, such as: talus simulate --help"""


class Verbs(TyperGroup):
    """The verbs.  A study is imported when it is called: to import all of them takes a second."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that is called."""
        if study := studies_by_name().get(args[0]):
            self.commands[args[0]] = study_command(args[0], study.load)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        from runtime.version import __version__

        print(f"{DISTRIBUTION} {__version__}")
        raise typer.Exit()


@app.callback(help=HELP)
def talus(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """The command; its options come before a verb."""


@app.command(epilog="Example: talus models")
def models() -> None:
    """List the models that can be simulated by name."""
    from runtime.report.terminal import print_line

    for name, entry in models_by_name().items():
        doc = documentation(entry.module)
        print_line(f"{name:18s}{doc.splitlines()[0] if doc else ''}")


@app.command(epilog="Example: talus info foot --set ankle=classical --set limits=elastic")
def info(model: Model, arguments: Arguments = None, as_json: Json = False) -> None:
    """Show the parts of a model, and its arguments.  Bodies, joints, limits, forces, degrees of freedom, redundant rows."""
    from runtime.report.system_tables import system_tables
    from runtime.report.terminal import show

    tables = [*system_tables(build_model(model, arguments), all_rows=as_json), *arguments_table(model)]
    if as_json:
        print_json({table.title: table.records() for table in tables})
        return
    for table in tables:
        show(table)


@app.command(name="simulate", epilog="Example: talus simulate foot --set limits=dissipative --t-end 2")
def simulate_command(
    model: Model,
    arguments: Arguments = None,
    t_end: Annotated[float, typer.Option(help="Simulated time [s].")] = 5.0,
    points: Annotated[int, typer.Option(help="Number of output times.", min=2, max=MOST_POINTS)] = 501,
    method: Annotated[str, typer.Option(help=f"Integration method: {', '.join(METHODS)}.")] = "auto",
    rtol: Annotated[float, typer.Option(help="Relative tolerance.")] = RTOL,
    atol: Annotated[float, typer.Option(help="Absolute tolerance.")] = ATOL,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Simulate a model and write its motion to files.  The formats are NetCDF, CSV and OpenSim storage."""
    import numpy as np

    from runtime.integrate.simulate import simulate
    from runtime.report.terminal import print_error, print_line, show

    system = build_model(model, arguments)
    for remark in system.assembly.remarks:
        print_error(remark)
    times = np.linspace(0.0, t_end, points) if 0.0 < t_end < np.inf else None
    with results_in(out, f"talus-{model.replace(':', '-')}") as folder:
        run = simulate(system, t_end, t_eval=times, method=method, rtol=rtol, atol=atol)
        files = [run.to_netcdf(folder / "run.nc"), run.to_csv(folder / "run.csv"), run.to_sto(folder / "run.sto")]
    s = run.stats
    facts: list[list[Any]] = [
        ["result", run.message],
        ["method", s.method],
        ["kernel", s.kernel],
        ["evaluations", s.evaluations],
        ["steps", s.steps],
        ["rejected", s.rejections],
        ["time [ms]", 1000 * s.wall_time],
        ["compilation [ms]", 1000 * s.compile_time],
        ["error of the energy balance [J]", run.energy_balance.largest_error],
        ["max |Phi|", float(run.violation.max())],
    ]
    table = Table(system.name, ["fact", "value"], facts)
    if as_json:
        given = {"model": system.name, "success": run.success}
        print_json({**given, **dict(facts), "files": [str(f) for f in files]})
    else:
        show(table)
        print_line(f"written to {folder}")
    if not run.success:
        print_error(run.message)
        raise typer.Exit(FAILED)


@app.command(name="view", epilog="Example: talus view foot --speed 0.25 --out foot.html")
def view_command(
    model: Model,
    arguments: Arguments = None,
    t_end: Annotated[float, typer.Option(help="Simulated time [s].")] = 5.0,
    speed: Annotated[float, typer.Option(help="Of playing; 0.25 for a fourth of the real speed.")] = 1.0,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write instead: .html, .gif or .mp4; must not exist yet.")
    ] = None,
) -> None:
    """Show the motion of a model in three dimensions.  It is simulated and opened in the browser."""
    import numpy as np

    from runtime.integrate.simulate import simulate
    from runtime.report.terminal import print_error, print_line
    from runtime.results.run_scene import FRAMES_PER_SECOND
    from runtime.support.checks import positive

    system = build_model(model, arguments)
    positive(t_end, "--t-end", remedy="give a number of seconds above 0")
    positive(speed, "--speed")
    frames = min(int(FRAMES_PER_SECOND * t_end / speed) + 2, MOST_POINTS)
    run = simulate(system, t_end, t_eval=np.linspace(0.0, t_end, frames))
    if out is None:
        run.view(speed=speed)
    else:
        print_line(f"written to {run.animation(out, speed=speed)}")
    if not run.success:
        print_error(run.message)
        raise typer.Exit(FAILED)


@app.command(name="warm", epilog="Example: talus warm foot pendulum")
def warm_command(
    named: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help="Names of models; default: all of talus models.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile ahead what simulations and analyses of models need.  For containers, clusters and courses."""
    from runtime.report.terminal import print_error, print_line, show
    from runtime.upkeep import compiled_code, warm

    wanted = {model: load_model(model) for model in named or models_by_name()}  # all names are checked first
    done = []
    for model in wanted:
        print_error(model, dim=True)
        done.append(warm(model, lambda model=model: build_model(model, None)))  # type: ignore[misc]
    folder, size = compiled_code()
    if as_json:
        print_json({"models": [asdict(model) for model in done], "folder": folder, "size": size})
        return
    columns = ["model", "uses", "compiled", "compilation [s]"]
    rows = [
        [m.model, ", ".join(m.uses), ", ".join(m.compiled) or "nothing: all was there", round(m.seconds, 1)]
        for m in done
    ]
    show(Table("talus warm", columns, rows))
    print_line(f"compiled code: {folder} ({size})")


@app.command(epilog="Example: talus doctor --clear-cache")
def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Remove the compiled code; this run compiles anew.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the installation.  Shows versions, kernels, compiled code, and the energy drift of a simulation."""
    from runtime.report.terminal import show
    from runtime.upkeep import checked, clear

    if clear_cache:
        clear()
    foot = models_by_name().get("foot")
    facts, healthy = checked(DISTRIBUTION, None if foot is None else foot.load())
    if as_json:
        print_json(dict(facts))
    else:
        show(Table("talus doctor", ["fact", "value"], facts))
    if not healthy:
        raise typer.Exit(FAILED)


def main() -> None:
    """Run the command; an error ends it with one sentence and an exit code, a signal soon and silently."""
    with safe_streams(), ended_by_signals():
        for verb in app.registered_commands if sys.flags.optimize > 1 else []:  # without docstrings
            verb.help = documentation(__name__, getattr(verb.callback, "__name__", ""))
        for name, study in studies_by_name().items():
            app.command(name=name, help=documentation(study.module, study.attr).split("\n\n")[0])(lambda: None)
        try:
            app()
        except ModelError as error:
            from runtime.report.terminal import print_error

            print_error(str(error))
            sys.exit(BAD_INPUT)
