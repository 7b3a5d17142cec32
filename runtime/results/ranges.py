"""Ranges of arrays over time, as results show them in a terminal and in notebooks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runtime.support.arrays import Floats
from runtime.system.state import AXES

RANGE = ("least", "largest")  # headings


def ranges(arrays: Mapping[str, Floats]) -> list[tuple[str, ...]]:
    """Name, least and largest value of each array (n,), and of each component of each array (n, 3); NaN is left out."""
    rows: list[tuple[str, ...]] = []
    for name, values in arrays.items():
        columns = values.reshape(len(values), -1).T
        labels = (name,) if len(columns) == 1 else [f"{name}.{axis}" for axis in AXES]
        for label, column in zip(labels, columns, strict=True):
            known = column[np.isfinite(column)]
            rows.append((label, *(f"{pick(known):.4g}" if len(known) else "-" for pick in (np.min, np.max))))
    return rows


def greatest(vectors: Floats) -> str:
    """Length of the longest of vectors (n, 3), "-" of none."""
    lengths = np.linalg.norm(vectors, axis=1)
    return f"{np.nanmax(lengths):.4g}" if np.isfinite(lengths).any() else "-"
