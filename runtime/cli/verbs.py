"""The verbs of the command ``talus``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

import typer

from runtime.cli.application import app
from runtime.cli.entries import described, loaded
from runtime.cli.models import arguments_table, build_model, left_out_table, load_model, models_by_name
from runtime.cli.options import BAD_INPUT, DISTRIBUTION, FAILED, Arguments, FullTables, Json, Model
from runtime.cli.running import simulate_command, view_command
from runtime.cli.studies import studies_by_name
from runtime.cli.study_verb import study_command
from runtime.cli.verb import Verb
from runtime.report.report import Report
from runtime.report.tables import WORDS, Table, print_json
from runtime.support.errors import AssemblyWarning, ModelError, UnitWarning
from runtime.support.interruption import ended_by_signals
from runtime.support.logs import print_logs
from runtime.support.streams import safe_streams

HELP = """Simulate constrained rigid multibody systems, made first for the human ankle and foot.

Each verb has its own help, such as: talus simulate --help"""


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
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Say on the standard error what is done and written: talus --verbose VERB."),
    ] = False,
) -> None:
    """The command; its options come before a verb."""
    if verbose:
        print_logs()


@app.command(cls=Verb, epilog="Example: talus models")
def models(as_json: Json = False) -> None:
    """List the models that can be simulated by name."""
    from runtime.report.terminal import print_pairs, print_text

    found = {name: described(entry).partition("\n")[0] for name, entry in models_by_name().items()}
    if as_json:
        print_json(found)
        return
    print_text(
        f"{len(found)} models can be simulated by name, such as talus simulate foot.  talus info MODEL shows the parts and the "
        "arguments of one.\n"
    )
    print_pairs(found)  # no Table, whose arguments are checked with numpy


@app.command(cls=Verb, epilog="Example: talus info foot --set ankle=classical --set limits=elastic")
def info(model: Model, arguments: Arguments = None, full: FullTables = False, as_json: Json = False) -> None:
    """Show the parts of a model, and its arguments.  Joints first; bodies, points, axes, limits, shapes with --full."""
    from runtime.report.system_tables import system_answer, system_tables
    from runtime.report.terminal import show_report

    system = build_model(model, arguments)
    tables = [*system_tables(system, all_rows=as_json), *left_out_table(model, arguments), *arguments_table(model)]
    if as_json:
        print_json({table.title: table.records() for table in tables})
        return
    show_report(
        Report(system.name, tables, answer=system_answer(system), first=("joints", "not carried over")), full=full
    )


app.command(name="simulate", cls=Verb, epilog="Example: talus simulate foot --set limits=dissipative --t-end 2")(
    simulate_command
)
app.command(name="study", cls=Verb, epilog="Example: talus study foot.toml --out results")(study_command)
app.command(name="view", cls=Verb, epilog="Example: talus view foot --speed 0.25 --out foot.html")(view_command)


@app.command(name="warm", cls=Verb, epilog="Example: talus warm foot pendulum")
def warm_command(
    named: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help="Names of models; default: all of talus models.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile in advance the code for simulations and analyses of models.  For containers, clusters and courses."""
    from runtime.report.terminal import print_error, print_line, show_report
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
    pieces, seconds = sum(len(m.compiled) for m in done), sum(m.seconds for m in done)
    work = f"{pieces} pieces of code were compiled in {seconds:.1f} s" if pieces else "all code was there"
    answer = f"{'1 model is' if len(done) == 1 else f'{len(done)} models are'} ready: {work}."
    show_report(Report("talus warm", [Table("talus warm", columns, rows, brief=["model", "compiled"])], answer=answer))
    print_line(f"compiled code: {folder} ({size})")


@app.command(cls=Verb, epilog="Example: talus doctor --clear-cache")
def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Remove the compiled code; this run compiles it again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the installation.  Shows versions, kernels, compiled code, and the energy drift of a simulation."""
    from runtime.report.terminal import show_report
    from runtime.upkeep import checked, clear

    if clear_cache:
        clear()
    foot = models_by_name().get("foot")
    facts, healthy = checked(DISTRIBUTION, None if foot is None else loaded(foot))
    if as_json:
        print_json(dict(facts))
    else:
        works = "The installation works: the kernels are fresh, and a simulation of the foot keeps its energy."
        fails = "The installation does not work: the last lines of the table say why."
        show_report(
            Report(
                "talus doctor", [Table("talus doctor", ["fact", "value"], facts)], answer=works if healthy else fails
            )
        )
    if not healthy:
        raise typer.Exit(FAILED)


@contextmanager
def _warnings_in_sentences() -> Iterator[None]:
    """Print warnings about a user's values as sentences, without a place in the code."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            from runtime.report.terminal import print_error

            if issubclass(category, (AssemblyWarning, UnitWarning)):
                print_error(WORDS.get()(f"warning: {message}"))
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show
        yield


def main() -> None:
    """Run the command; an error ends it with one sentence and an exit code, a signal soon and silently."""
    with safe_streams(), ended_by_signals(), _warnings_in_sentences():
        for name, study in studies_by_name().items():
            app.command(name=name, help=described(study, study.attr).split("\n\n")[0])(lambda: None)
        try:
            app()
        except ModelError as error:
            from runtime.report.terminal import print_error

            print_error(str(error))
            sys.exit(BAD_INPUT)
