"""The report of a study as one page that needs no other file and no network."""

from __future__ import annotations

import platform
import shlex
import sys
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from importlib import resources
from importlib.metadata import version
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.report.report import Report, ShownFigure
from runtime.report.tables import Table, text
from runtime.support.errors import printable
from runtime.support.files import write_text
from runtime.version import CITATION, __version__

if TYPE_CHECKING:
    from jinja2 import Template

FILE = "report.html"
PICTURES = {".svg": "image/svg+xml", ".png": "image/png"}  # formats that a page can show
PIXELS_PER_INCH = 96  # of pages
PACKAGES = ("numpy", "scipy", "numba")
COMMAND = "talus"


def write_page(report: Report, folder: Path) -> Path:
    """Write a report as ``report.html``; returns the file.

    Figures are embedded, the smaller of their formats; a motion is a page beside this one, shown in a frame.

    Raises
    ------
    ModelError
        The file cannot be written.
    """
    first = report.shown_first()
    content = _template().render(
        report=report,
        first=first,
        rest=[table for table in report.tables if table not in first],
        figures=[(figure, *_embedded(figure)) for figure in report.figures],
        text=text,
        numeric=_numeric,
        made=_made(),
        cite=[CITATION, *report.cite],
        motion=report.motion.relative_to(folder).as_posix() if report.motion else None,
    )
    return write_text(folder / FILE, content)


def _template() -> Template:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_shown
    )
    return environment.from_string(resources.files("runtime.report").joinpath("report.html.jinja").read_text("utf-8"))


def _shown(value: object) -> object:
    """A value in the page; characters that turn the direction of reading as escapes."""
    return printable(value) if type(value) is str else value


def _numeric(table: Table) -> list[bool]:
    """Whether each column contains numbers, and dashes at most."""
    columns = [[row[k] for row in table.rows if row[k] is not None] for k in range(len(table.columns))]
    return [bool(cells) and all(isinstance(cell, Number) for cell in cells) for cells in columns]


def _embedded(figure: ShownFigure) -> tuple[str, int | None]:
    """Address that contains the smallest picture of a figure, and its width in a page [pixels] where it is a PNG."""
    from PIL import Image

    pictures = [file for file in figure.files if file.suffix in PICTURES]
    file = min(pictures, key=lambda picture: picture.stat().st_size)
    width = None
    if file.suffix == ".png":
        with Image.open(file) as picture:
            width = round(picture.width / picture.info["dpi"][0] * PIXELS_PER_INCH)
    return f"data:{PICTURES[file.suffix]};base64,{b64encode(file.read_bytes()).decode()}", width


def _made() -> dict[str, str]:
    """When, by which command and with which versions."""
    versions = [f"Talus {__version__}", f"Python {platform.python_version()}", *(f"{p} {version(p)}" for p in PACKAGES)]
    return {
        "made": datetime.now().astimezone().isoformat(" ", "minutes"),
        "command": _command(sys.argv),
        "versions": ", ".join(versions),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _command(words: Sequence[str]) -> str:
    """The command that runs, as it can be typed again; of other programs their name."""
    program = Path(words[0]).stem if words else ""
    return (
        shlex.join([COMMAND, *words[1:]])
        if program == COMMAND
        else f"from Python: {program or 'an interactive session'}"
    )
