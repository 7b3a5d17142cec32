"""Values of the options of studies."""

from __future__ import annotations

import numpy as np

from runtime import ModelError

MAX_CASES = 500  # of a study; a run takes about 10 ms, its output a megabyte


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Values of an option: separated by commas, or FIRST:LAST:COUNT, evenly spaced.

    Raises
    ------
    ModelError
    """
    parts = text.split(":") if ":" in text else text.split(",")
    try:
        found = tuple(float(part) for part in parts)
    except ValueError:
        found = ()
    if ":" in text:
        if len(found) != 3 or not (found[2].is_integer() and 2 <= found[2] <= MAX_CASES):
            raise ModelError(f"{option} = {text!r}; give FIRST:LAST:COUNT, with a COUNT of 2 to {MAX_CASES}")
        found = tuple(float(value) for value in np.linspace(*found[:2], int(found[2])))
    if not found or not np.isfinite(found).all():
        raise ModelError(f"{option} = {text!r}; give numbers, such as 30,42,60, or FIRST:LAST:COUNT")
    if len(set(found)) < len(found):
        raise ModelError(f"{option} = {text!r}; give each value once")
    return found
