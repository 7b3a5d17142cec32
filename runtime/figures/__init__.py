"""Figures of panels: their making, lines, letters and files.  Imports ``view`` and below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.support.late_names import late_names

if TYPE_CHECKING:
    from runtime.figures import lines, panels
    from runtime.figures.figure_format import PNG, FigureFormat
else:
    __getattr__, __dir__ = late_names(__name__, {"figure_format": "PNG FigureFormat"})

__all__ = ["PNG", "FigureFormat", "lines", "panels"]
