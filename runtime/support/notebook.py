"""The notebook that this process may be the kernel of: a line of progress in the output of a cell."""

from __future__ import annotations

import sys
from html import escape
from typing import Any


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class NotebookLine:
    """A line with a bar in the output of the present cell, which is updated in place and empty at the end."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.handle: Any = None

    def update(self, share: float) -> None:
        """Show how much is done, 0 to 1."""
        percent = f"{100.0 * min(max(share, 0.0), 1.0):.0f} %"
        bar = f'<progress value="{share:.4f}" max="1"></progress>'
        self._show(f"{self.what}: {percent}", f"<div>{escape(self.what)} {bar} {percent}</div>")

    def stop(self) -> None:
        """Empty the line."""
        self._show("", "")

    def _show(self, text: str, html: str) -> None:
        display: Any = sys.modules["IPython"].display  # type: ignore[attr-defined]
        data = {"text/plain": text, "text/html": html}
        if self.handle is None:
            self.handle = display.display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)
