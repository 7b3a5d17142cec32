"""Scenes as files, in the browser, or in the output of a notebook."""

from __future__ import annotations

import io
import tempfile
import webbrowser
from html import escape
from pathlib import Path

from runtime.support.errors import ModelError
from runtime.support.files import write_bytes, write_text
from runtime.support.notebook import in_notebook
from runtime.view.movie import DOTS_PER_INCH, stills, write_movie
from runtime.view.page import page
from runtime.view.scene import Scene

PICTURE, MOVIES = ".png", (".gif", ".mp4")
HEIGHT = 560  # [pixels] in a notebook


def write(scene: Scene, file: Path, *, speed: float = 1.0) -> Path:
    """Write a scene as a page that needs no other file (.html), a film (.gif, .mp4) or stills (.png); returns the file.

    Raises
    ------
    ModelError
        The format is not known, or its library is missing.
    """
    kind = file.suffix.lower()
    if kind == ".html":
        return write_text(file, page(scene, speed))
    if kind in MOVIES:
        return write_movie(scene, file, speed)
    if kind == PICTURE:
        stream = io.BytesIO()
        stills(scene).savefig(stream, dpi=1.5 * DOTS_PER_INCH)
        return write_bytes(file, stream.getvalue())
    known = ", ".join((".html", *MOVIES, PICTURE))
    raise ModelError(f"animation: '{file.name}': the format '{kind}' is not known; use {known}")


class Framed:
    """A page in a frame of a notebook."""

    def __init__(self, html: str) -> None:
        self._html = html

    def __repr__(self) -> str:
        return "a view in three dimensions, which a notebook shows"

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {HEIGHT}px; border: 1px solid #ddd"
        return f'<iframe srcdoc="{escape(self._html)}" style="{style}"></iframe>'


def show(scene: Scene, *, speed: float = 1.0) -> Framed | None:
    """Open a scene in the browser; in a notebook return what it shows.

    Raises
    ------
    ModelError
        No browser can be opened.
    """
    if in_notebook():
        return Framed(page(scene, speed))
    file = write(scene, Path(tempfile.mkdtemp(prefix="talus-view-")) / "view.html", speed=speed)
    if not webbrowser.open(file.as_uri()):
        raise ModelError(f"no browser can be opened here; the page is {file}")
    return None
