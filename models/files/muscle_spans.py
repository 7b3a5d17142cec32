"""Spans of ``codegen.paths`` of which the path of a muscle is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from models.files.description import CylinderWrap, Floats

At = Callable[[str, Floats], Any]  # what a vector of a link is where the span is evaluated


def span_over(wraps: Sequence[CylinderWrap], point: At, direction: At) -> tuple[str, dict[str, Any], dict[str, float]]:
    """Kind of the span around up to two cylinders between two points, with the vectors and parameters of the cylinders.

    ``point``, ``direction``: a point of a link and a direction of it, both given in its axes.
    """
    two = len(wraps) > 1
    kind = ("straight", "cylinder_side" if any(w.sided for w in wraps) else "cylinder", "two_cylinders")[len(wraps)]
    vectors, parameters = dict[str, Any](), dict[str, float]()
    for wrap, letter, which in zip(wraps, "kl", ("first_", "second_") if two else ("", ""), strict=False):
        vectors |= {f"s_{letter}": point(wrap.link, wrap.centre), f"a_{letter}": direction(wrap.link, wrap.axis)}
        if kind != "cylinder":
            vectors[f"n_{letter}"] = direction(wrap.link, wrap.side)
        own = {"radius": wrap.radius, "length": wrap.length} | ({"sided": float(wrap.sided)} if two else {})
        parameters |= {f"{which}{name}": value for name, value in own.items()}
    return kind, vectors, parameters
