"""Checks of what is written as OpenSim storage, whose format has no quotation marks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.numbers import floats

END = "endheader"
LISTED = 5  # names in a sentence


def one_line(text: str) -> str:
    """A title made of any text, such as the name of a file: printable, on one line."""
    plain = "".join(c if c.isprintable() else " " for c in text).strip()
    return plain if plain and plain.lower() != END else f"title {plain}".strip()


def checked_columns(file: str, title: str, names: Sequence[str], values: ArrayLike) -> Floats:
    """The values as numbers (n, columns), where title, names and values fit one another and the format.

    Raises
    ------
    ModelError
    """
    if not title.isprintable() or title.strip().lower() in ("", END):
        raise ModelError(f"{file}: title = {title!r}; give one line of text, without tabs and other than {END!r}")
    if bad := [name for name in names if not name.isprintable() or not name.strip()]:
        raise ModelError(
            f"{file}: the column name {bad[0]!r} is empty or holds a tab or line break; give printable names"
        )
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ModelError(
            f"{file}: column {', '.join(map(repr, twice[:LISTED]))} occurs more than once; names must differ"
        )
    if not names or names[0] != "time":
        raise ModelError(f"{file}: the first column is {(names or ['none'])[0]!r}; it must be 'time'")
    found = numbers_in_columns(file, names, values)
    t = found[:, 0]
    if len(wrong := np.flatnonzero(~np.isfinite(t) | (np.diff(t, prepend=t[:1]) < 0.0))):
        raise ModelError(
            f"{file}: the time of row {wrong[0] + 1} is {t[wrong[0]]:g}; times must be finite and must not decrease"
        )
    return found


def numbers_in_columns(file: str, names: Sequence[str], values: ArrayLike) -> Floats:
    """The values as numbers (n, columns), one column for each name."""
    array = floats(values, f"{file}: values", "an array of numbers, NaN where there are none")
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ModelError(
            f"{file}: values of shape {array.shape} for {len(names)} names; give (n, {len(names)}), a column for each name"
        )
    return array
