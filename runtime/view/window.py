"""A page in the browser, or in the output of a notebook."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Any

from runtime.support.errors import ModelError
from runtime.support.files import write_text

HEIGHT = 560  # [pixels] in a notebook


class Framed:
    """A page in a frame of a notebook."""

    def __init__(self, html: str) -> None:
        self._html = html

    def __repr__(self) -> str:
        return "a view in three dimensions, which a notebook shows"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self._html)}" style="width: 100%; height: {HEIGHT}px; border: 1px solid #ddd"></iframe>'


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def show(html: str) -> Any:
    """Open a page in the browser; in a notebook return what it shows.

    Raises
    ------
    ModelError
        No browser can be opened.
    """
    if in_notebook():
        return Framed(html)
    file = write_text(Path(tempfile.mkdtemp(prefix="talus-view-")) / "view.html", html)
    if not webbrowser.open(file.as_uri()):
        raise ModelError(f"no browser can be opened here; the page is {file}")
    return None
