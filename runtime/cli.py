"""The command ``talus``, with a verb for each task.  Models and studies are found by name among the installed entry points.

Exit codes: 0 done, 1 a run failed or the output could not be written, 2 bad usage or input, 3 stale kernels, 130 Ctrl-C,
143 SIGTERM.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import math
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from runtime.integrate.choices import ATOL, METHODS, RTOL
from runtime.report.tables import Report, Table, print_json
from runtime.support.documentation import documentation
from runtime.support.errors import AssemblyWarning, ModelError, StaleKernelsError, said_by
from runtime.support.interruption import ended_by_signals
from runtime.support.results_folder import results_in
from runtime.support.streams import safe_streams

if TYPE_CHECKING:
    from runtime.system.system import System

FAILED, BAD_INPUT = 1, 2
OR_ZERO = "or 0"  # annotation of a study's option that may be 0
MODELS, STUDIES = "talus.models", "talus.studies"
DISTRIBUTION = "talus-multibody"


class Verbs(TyperGroup):
    """The verbs.  A study is imported when it is called: to import all of them takes a second."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that is called."""
        if study := _studies().get(args[0]):
            self.commands[args[0]] = _study_command(args[0], study.load)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Simulate constrained rigid multibody systems, made first for the human ankle and foot.",
)
Out = Annotated[
    Path | None, typer.Option("--out", help="Folder for the results, which must not exist yet; default: ./talus-NAME.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]
Arguments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Argument of the function that builds the model; may be repeated."),
]
Model = Annotated[str, typer.Argument(help="Name of a model (see talus models), or package.module:function.")]

PLACE = "package.module:function"  # of a function that builds a model
MOST_POINTS = 10_000_000  # of a run's results


def _models() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=MODELS), key=lambda entry: entry.name)}


@cache
def _studies() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=STUDIES), key=lambda entry: entry.name)}


def _load(model: str) -> Any:
    """The function that builds the system of a model's name."""
    known = _models()
    if model in known:
        return known[model].load()
    if ":" not in model:
        near = difflib.get_close_matches(model, list(known), n=1, cutoff=0.7)
        meant = f"; did you mean '{near[0]}'? The" if near else "; the"
        raise ModelError(f"unknown model '{model}'{meant} models are {', '.join(known)}, or give {PLACE}")
    module, _, function = model.partition(":")
    if not all(name.isidentifier() for name in (*module.split("."), function)):
        raise ModelError(f"model '{model}' is no name of a function; give {PLACE}")
    try:
        return getattr(importlib.import_module(module), function)
    except (ModelError, StaleKernelsError):
        raise
    except (ImportError, AttributeError) as error:
        raise ModelError(f"model '{model}' cannot be loaded: {error}; give {PLACE}") from None
    except Exception as error:  # in the user's module
        raise ModelError(f"model '{model}' cannot be loaded: {said_by(error)}; correct its module") from None


def _build(model: str, given: list[str] | None) -> System:
    """Build the system of a model's name, with the arguments ``key=value``."""
    from runtime.system.system import System

    build = _load(model)
    try:
        parameters = inspect.signature(build).parameters
    except (TypeError, ValueError):
        raise ModelError(f"model '{model}' is no function that builds a System") from None
    arguments: dict[str, Any] = {}
    for argument in given or []:
        key, equals, value = argument.partition("=")
        if not equals:
            raise ModelError(f"--set {argument}: give KEY=VALUE")
        if key not in parameters:
            raise ModelError(f"--set {argument}: model '{model}' has no '{key}'; it takes {', '.join(parameters)}")
        try:
            arguments[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # no value of Python, but a text
            arguments[key] = value
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssemblyWarning)  # the verbs show the remarks
            system = build(**arguments)
    except (ModelError, StaleKernelsError):
        raise
    except (TypeError, ValueError) as error:
        raise ModelError(f"model '{model}' does not take {', '.join(given or ['no arguments'])}: {error}") from None
    except Exception as error:  # in the user's function
        raise ModelError(f"model '{model}' cannot be built: {said_by(error)}; correct its function") from None
    if not isinstance(system, System):
        raise ModelError(f"model '{model}' returned {type(system).__name__}; its function must return a System")
    return system


@app.command()
def models() -> None:
    """List the models that can be simulated by name."""
    from runtime.report.terminal import out_console

    for name, entry in _models().items():
        doc = documentation(entry.module)
        out_console.print(
            f"{name:18s}{doc.splitlines()[0] if doc else ''}", markup=False, highlight=False, soft_wrap=True
        )


@app.command()
def info(model: Model, arguments: Arguments = None, as_json: Json = False) -> None:
    """Show a model: bodies, joints, limits, forces, degrees of freedom.  Also redundant rows, assembly and kernel."""
    from runtime.report.system_tables import system_tables
    from runtime.report.terminal import show

    tables = system_tables(_build(model, arguments), all_rows=as_json)
    if as_json:
        print_json({table.title: table.records() for table in tables})
        return
    for table in tables:
        show(table)


@app.command(name="simulate")
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
    from runtime.report.terminal import err_console, out_console, show

    system = _build(model, arguments)
    for remark in system.assembly.remarks:
        err_console.print(remark, markup=False, highlight=False, soft_wrap=True)
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
        out_console.print(f"written to {folder}", highlight=False)
    if not run.success:
        err_console.print(run.message, highlight=False)
        raise typer.Exit(FAILED)


@app.command(name="view")
def view_command(
    model: Model,
    arguments: Arguments = None,
    t_end: Annotated[float, typer.Option(help="Simulated time [s].")] = 5.0,
    speed: Annotated[float, typer.Option(help="Of playing; 0.25 for a fourth of the real speed.")] = 1.0,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write instead: .html, .gif or .mp4; must not exist yet.")
    ] = None,
) -> None:
    """Simulate a model and show its motion in three dimensions, in the browser."""
    import numpy as np

    from runtime.integrate.simulate import simulate
    from runtime.report.terminal import err_console, out_console
    from runtime.results.run_scene import FRAMES_PER_SECOND
    from runtime.support.checks import positive

    system = _build(model, arguments)
    positive(t_end, "--t-end", remedy="give a number of seconds above 0")
    positive(speed, "--speed")
    frames = min(int(FRAMES_PER_SECOND * t_end / speed) + 2, MOST_POINTS)
    run = simulate(system, t_end, t_eval=np.linspace(0.0, t_end, frames))
    if out is None:
        run.view(speed=speed)
    else:
        out_console.print(
            f"written to {run.animation(out, speed=speed)}", highlight=False, markup=False, soft_wrap=True
        )
    if not run.success:
        err_console.print(run.message, highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(FAILED)


@app.command(name="warm")
def warm_command(
    named: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help="Names of models; default: all of talus models.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile ahead what simulations and analyses of models need.  For containers, clusters and courses."""
    from runtime.report.terminal import err_console, out_console, show
    from runtime.upkeep import compiled_code, warm

    wanted = {model: _load(model) for model in named or _models()}  # all names are checked first
    done = []
    for model in wanted:
        err_console.print(model, style="dim", highlight=False, markup=False)
        done.append(warm(model, lambda model=model: _build(model, None)))  # type: ignore[misc]
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
    out_console.print(f"compiled code: {folder} ({size})", highlight=False, markup=False, soft_wrap=True)


@app.command()
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
    foot = _models().get("foot")
    facts, healthy = checked(DISTRIBUTION, None if foot is None else foot.load())
    if as_json:
        print_json(dict(facts))
    else:
        show(Table("talus doctor", ["fact", "value"], facts))
    if not healthy:
        raise typer.Exit(FAILED)


def _study_command(name: str, load: Callable[[], Callable[..., Report]]) -> Any:
    """The verb of a study: its parameters as options, and the options --out and --json."""
    study = load()
    signature = inspect.signature(study, eval_str=True)
    doc = inspect.getdoc(study) or documentation(study.__module__, study.__name__)  # python -OO keeps none
    helps = _helps(doc)
    own = [_parameter(p, helps) for p in signature.parameters.values() if p.name not in ("folder", "say")]

    or_zero = [p.name for p in signature.parameters.values() if OR_ZERO in getattr(p.annotation, "__metadata__", ())]
    several = [p.name for p in signature.parameters.values() if p.annotation == tuple[Path, ...]]

    def command(**options: Any) -> None:
        from runtime.report.terminal import err_console, out_console, show

        as_json, out = options.pop("as_json"), options.pop("out")
        for key, value in options.items():
            if isinstance(value, float) and not (0.0 < value < math.inf or (value == 0.0 and key in or_zero)):
                above = "0 or a finite number above it" if key in or_zero else "a finite number above 0"
                raise ModelError(f"--{key.replace('_', '-')} = {value:g} must be {above}")
        options = {key: tuple(value or ()) if key in several else value for key, value in options.items()}
        with results_in(out, f"talus-{name}") as folder:
            report = study(
                folder, lambda line: err_console.print(line, style="dim", highlight=False, markup=False), **options
            )
        if as_json:
            print_json(report.data())
        else:
            for table in report.tables:
                show(table)
            out_console.print(f"{len(report.files)} files in {folder}", highlight=False)
        for failure in report.failures:
            err_console.print(failure, highlight=False, markup=False, soft_wrap=True)
        if report.failures:
            raise typer.Exit(FAILED)

    extra = [
        inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Out),
        inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json),
    ]
    command.__signature__ = signature.replace(parameters=[*own, *extra], return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in (*own, *extra)}
    command.__doc__ = doc.split("\n\n")[0]
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name=name)(command)
    return typer.main.get_command(alone)


def _helps(doc: str) -> dict[str, str]:
    """Help texts of a study's parameters, from its docstring."""
    found: dict[str, str] = {}
    units: dict[str, str] = {}
    name = ""
    for line in doc.split("Parameters\n----------")[-1].splitlines():
        if re.match(r"\w+ : ", line):
            name, _, kind = line.partition(" : ")
            units[name] = "".join(f" {unit}" for unit in re.findall(r"\[[^\]]*\]", kind))
        elif name and line.startswith("    "):
            found[name] = f"{found.get(name, '')} {line.strip()}".strip()
        elif line:
            name = ""
    return {name: f"{text.rstrip('.')}{units[name]}." for name, text in found.items()}


def _parameter(p: inspect.Parameter, helps: dict[str, str]) -> inspect.Parameter:
    """A parameter of a study with its help; files become arguments of the command, everything else an option."""
    text = helps.get(p.name)
    if p.annotation == tuple[Path, ...]:
        argument = typer.Argument(help=text, show_default=False, metavar=p.name.upper())
        return p.replace(annotation=Annotated[list[Path] | None, argument], default=None)
    return p.replace(annotation=Annotated[p.annotation, typer.Option(help=text)])


def main() -> None:
    """Run the command; an error ends it with one sentence and an exit code, a signal soon and silently."""
    with safe_streams(), ended_by_signals():
        for verb in app.registered_commands if sys.flags.optimize > 1 else []:  # without docstrings
            verb.help = documentation(__name__, getattr(verb.callback, "__name__", ""))
        for name, study in _studies().items():
            app.command(name=name, help=documentation(study.module, study.attr).split("\n\n")[0])(lambda: None)
        try:
            app()
        except ModelError as error:
            from runtime.report.terminal import err_console

            err_console.print(str(error), highlight=False, markup=False, soft_wrap=True)
            sys.exit(BAD_INPUT)
