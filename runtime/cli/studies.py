"""A verb for each study: its parameters as options, and the options --out and --json."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from runtime.cli.helps import helps_of
from runtime.cli.options import Dpi, Full, Json, Kinds, Out
from runtime.cli.verb import Verb, show_study
from runtime.figures.figure_format import PNG, FigureFormat
from runtime.report.report import Report
from runtime.support.errors import ModelError
from runtime.support.results_folder import results_in

OR_ZERO, SIGNED = "or 0", "signed"  # annotations of a study's options that may be 0, and that may be negative too
ARGUMENT = "argument"  # annotation of the one file that a study needs; another one, such as ".osim", its ending
STUDIES = "talus.studies"
FIGURES = [  # options of a study that writes figures
    inspect.Parameter("figure_format", inspect.Parameter.KEYWORD_ONLY, default=",".join(PNG.kinds), annotation=Kinds),
    inspect.Parameter("dpi", inspect.Parameter.KEYWORD_ONLY, default=PNG.dpi, annotation=Dpi),
]


@cache
def studies_by_name() -> dict[str, EntryPoint]:
    """The installed studies."""
    return {entry.name: entry for entry in sorted(entry_points(group=STUDIES), key=lambda entry: entry.name)}


def study_command(name: str, load: Callable[[], Callable[..., Report]]) -> Any:
    """The verb of a study: its parameters as options, and the options --out and --json."""
    study = load()
    signature = inspect.signature(study, eval_str=True)
    doc = inspect.getdoc(study) or ""  # python -OO keeps none
    helps = helps_of(doc)
    given = [p for p in signature.parameters.values() if p.name not in ("folder", "say")]
    own = [one for p in given for one in (FIGURES if p.annotation is FigureFormat else [_parameter(p, helps)])]

    or_zero = [p.name for p in signature.parameters.values() if OR_ZERO in getattr(p.annotation, "__metadata__", ())]
    signed = [p.name for p in signature.parameters.values() if SIGNED in getattr(p.annotation, "__metadata__", ())]
    several = [p.name for p in signature.parameters.values() if p.annotation == tuple[Path, ...]]

    def say(line: str) -> None:
        from runtime.report.terminal import print_error

        print_error(line, dim=True)

    def command(**options: Any) -> None:
        as_json, out, full = options.pop("as_json"), options.pop("out"), options.pop("full")
        for key, value in options.items():
            if key in signed:
                continue  # the study refuses what is not finite
            if isinstance(value, float) and not (0.0 < value < math.inf or (value == 0.0 and key in or_zero)):
                above = "0 or a finite number above it" if key in or_zero else "a finite number above 0"
                raise ModelError(f"--{key.replace('_', '-')} = {value:g} must be {above}")
        options = {key: tuple(value or ()) if key in several else value for key, value in options.items()}
        if "dpi" in options:
            options["figure_format"] = FigureFormat.named(options["figure_format"], options.pop("dpi"))
        with results_in(out, f"talus-{name}") as folder:
            report = study(folder, say, **options)
        show_study(report, folder, as_json=as_json, full=full)

    extra = [
        inspect.Parameter("full", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Full),
        inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Out),
        inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json),
    ]
    command.__signature__ = signature.replace(parameters=[*own, *extra], return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in (*own, *extra)}
    command.__doc__ = doc.split("\n\n")[0]
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name=name, cls=Verb, epilog=f"Example: {_example(name, study)}")(command)
    return typer.main.get_command(alone)


def _example(name: str, study: Callable[..., Report]) -> str:
    """A call of a study, with a file where it takes files."""
    parameters = inspect.signature(study, eval_str=True).parameters.values()
    files = " static.c3d walk.c3d" if any(p.annotation == tuple[Path, ...] for p in parameters) else ""
    files += "".join(
        f" {p.name}{_ending(p)}" for p in parameters if ARGUMENT in getattr(p.annotation, "__metadata__", ())
    )
    return f"talus {name}{files} --out results"


def _ending(p: inspect.Parameter) -> str:
    """Of the file that a study needs."""
    return next((word for word in getattr(p.annotation, "__metadata__", ()) if word.startswith(".")), ".csv")


def _parameter(p: inspect.Parameter, helps: dict[str, str]) -> inspect.Parameter:
    """A parameter of a study with its help; files become arguments of the command, everything else an option."""
    text = helps.get(p.name)
    if p.annotation == tuple[Path, ...]:
        argument = typer.Argument(help=text, show_default=False, metavar=p.name.upper())
        return p.replace(annotation=Annotated[list[Path] | None, argument], default=None)
    if ARGUMENT in getattr(p.annotation, "__metadata__", ()):
        argument = typer.Argument(help=text, show_default=False, metavar=f"{p.name.upper()}{_ending(p)}")
        return p.replace(annotation=Annotated[get_args(p.annotation)[0], argument])
    return p.replace(annotation=Annotated[p.annotation, typer.Option(help=text)])
