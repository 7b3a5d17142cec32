"""The verb ``talus study``: a study that a file describes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from runtime.cli.models import built, is_model_file, load_model
from runtime.cli.options import Dpi, Full, Json, Kinds
from runtime.cli.study_file import StudyFile, read_study_file
from runtime.cli.verb import show_study
from runtime.figures.figure_format import PNG, FigureFormat
from runtime.support.errors import ModelError, shown
from runtime.support.files import reason, write_text
from runtime.support.results_folder import is_own, refuse_links, results_in

COPY, CASES = "study.toml", "cases"  # in the folder of the results
POINTS = 101


def study_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.toml", help="The study: see the page Studies of the documentation.")
    ],
    figure_format: Kinds = "png",
    dpi: Dpi = PNG.dpi,
    full: Full = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for the results; an interrupted study of the same file is resumed.  Default: ./talus-FILE.",
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Take a function package.module:function as the model, and files outside of the study's folder.  The file may "
            "come from somebody else, and a function runs any program: read both first.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Vary parameters of a model as a file describes.  Sobol indices, percentiles, grids, one parameter at a time."""
    drawn = FigureFormat.named(figure_format, dpi)
    described = read_study_file(file)
    build = _build_of(described, trust)
    with _folder_of(described, out) as folder:
        done = _done(described, build, folder / CASES)
        report = done.write(folder, failed=described.keys.get("failed", "refuse"), figure_format=drawn)
    show_study(report, folder, as_json=as_json, full=full)


def _build_of(described: StudyFile, trust: bool) -> Any:
    """The system of the model, or its function where arguments of this are varied."""
    model = described.keys["model"]
    try:
        if not trust and is_model_file(model):
            _refuse_outside(described, model)
        build = load_model(model, trusted=trust)
    except ModelError as error:
        raise described.placed(error) from None
    try:
        known = list(inspect.signature(build).parameters)
    except (TypeError, ValueError):
        raise described.placed(ModelError(f"model '{model}' is no function that builds a System")) from None
    for key in described.arguments:
        if key not in known:
            unknown = ModelError(f"model '{model}' has no argument '{key}'; it takes {', '.join(known)}")
            raise described.placed(unknown)
    given = dict(described.arguments)
    if set(described.parameters) & set(known):
        return partial(build, **given) if given else build
    try:
        return built(model, build, given, ", ".join(given) or "no arguments")
    except ModelError as error:
        raise described.placed(error) from None


def _refuse_outside(described: StudyFile, model: str) -> None:
    """Refuse a model's file that lies neither in the folder of the study nor in the current one, and another root."""
    if "root" in described.arguments:
        raise ModelError(
            "root opens other folders to the model's file, and the study may come from somebody else; give --trust"
        )
    folders = [folder.resolve() for folder in (described.file.parent, Path())]
    try:
        inside = any(Path(model).resolve().is_relative_to(folder) for folder in folders)
    except (OSError, ValueError, RuntimeError) as error:  # a null byte, links in a circle
        raise ModelError(f"model '{model}': {reason(error)}; give a file of a model") from None
    if not inside:
        raise ModelError(
            f"model '{model}' is outside of the folder of the study, which may come from somebody else; copy it there, or give "
            "--trust"
        )


def _done(described: StudyFile, build: Any, cases: Path) -> Any:
    """The study, run or resumed in a folder."""
    import numpy as np

    from runtime.studies.study import study

    keys, settings = described.keys, dict(described.settings)
    design = {key: keys[key] for key in ("kind", "n", "sampler", "seed") if key in keys}
    start = settings.get("t_start", getattr(build, "time", 0.0))
    if isinstance(start, bool) or not isinstance(start, int | float):
        raise described.placed(ModelError(f"t_start = {shown(start)}; give a time in seconds"))
    if not start < keys["t_end"]:
        raise described.placed(ModelError(f"t_end = {keys['t_end']:g} s must be after the start, {start:g} s"))
    times = np.linspace(start, keys["t_end"], keys.get("points", POINTS))
    try:
        return study(
            build,
            described.parameters,
            keys["t_end"],
            outputs=described.outputs,
            t_eval=times,
            out=cases,
            **design,
            **settings,
        )
    except ModelError as error:
        raise described.placed(error) from None


@contextmanager
def _folder_of(described: StudyFile, out: Path | None) -> Iterator[Path]:
    """The folder for the results: a new one, or that of the same study, interrupted."""
    name = f"talus-{described.file.stem}"
    wanted = Path(name) if out is None else out.expanduser()
    if is_own(wanted) and _has_text(wanted / COPY, described.text) and not (wanted / "summary.json").exists():
        refuse_links(wanted)
        yield wanted
        return
    with results_in(out, name) as folder:
        write_text(folder / COPY, described.text)
        try:
            yield folder
        except ModelError:
            if not (folder / CASES).exists():  # a mistake in the file: the folder is removed
                with suppress(OSError):
                    (folder / COPY).unlink()
            raise


def _has_text(file: Path, text: str) -> bool:
    with suppress(OSError, ValueError):
        return file.is_file() and file.read_text(encoding="utf-8") == text
    return False
