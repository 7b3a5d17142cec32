"""Colours, dashes and widths of lines: the same for a joint and for a case in every figure.

Colours are those of Okabe and Ito and of Tol, distinct for colour-blind readers.  For print in grey, lines also differ in
lightness, dashes and width; the first is wide and light, so that a later line that coincides with it leaves both visible.
"""

from __future__ import annotations

from typing import Any

from runtime.support.arguments import checked
from runtime.view.colours import NAMED, first_word

COLOURS = ("#56B4E9", "#D55E00", "#004D40", "#CC79A7", "#0072B2", "#333333")
STYLES = ("-", (0, (4, 1.5)), (0, (2, 2)), (0, (6, 1.5, 1, 1.5)), "-", (0, (8, 2)))
DASHES = tuple(dict.fromkeys(STYLES))  # each once
WIDTHS = (3.4, 2.0, 1.2, 1.3, 0.8, 1.0)
# Joints and cases, by the first word of their label: dashes, width, and hatching of bars; their colours are those of views.
DRAWN: dict[str, tuple[Any, float, str]] = {
    "classical": ("-", 2.8, ""),
    "modified": ((0, (4, 1.2)), 1.2, "///"),
    "free": ("-", 3.0, ""),
    "elastic": ("-", 1.0, "///"),
    "dissipative": ((0, (5, 1.5)), 1.7, "..."),
    "universal": ("-", 2.8, ""),
}
EDGE = "#333333"  # of limits and outlines


@checked
def style(number: int, label: str = "", *, thin: float = 1.0) -> dict[str, Any]:
    """Colour, dashes and width of a line: those of the joint or case that its label begins with, else by its number.

    ``thin`` scales the width, for paths that cross themselves.
    """
    if (name := first_word(label)) in DRAWN:
        colour, (dashes, width, _) = NAMED[name], DRAWN[name]
    else:
        colour, dashes, width = (
            COLOURS[number % len(COLOURS)],
            STYLES[number % len(STYLES)],
            WIDTHS[number % len(WIDTHS)],
        )
    return {"color": colour, "linestyle": dashes, "linewidth": thin * width}


@checked
def of_many(number: int) -> dict[str, Any]:
    """Colour and dashes of one of up to 30 lines: the numbers of colours and of dashes have no common factor."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)], "linewidth": 1.6}


@checked
def fill(number: int, label: str = "") -> dict[str, Any]:
    """Colour and hatching of a bar, which agree with ``style``."""
    name = first_word(label)
    hatch = DRAWN[name][2] if name in DRAWN else ("", "///", "...", "xx", "\\\\", "++")[number % 6]
    return {"facecolor": style(number, label)["color"], "hatch": hatch, "edgecolor": "white", "linewidth": 0.0}
