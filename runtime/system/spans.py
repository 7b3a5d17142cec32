"""Spans of muscle paths between given places, at many times at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from generated import paths, points
from runtime.jit.python_code import with_arrays
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, unknown_name
from runtime.support.numbers import floats
from runtime.system.definitions import Definitions

SPANS, POINTS = Definitions(paths.MODULES), Definitions(points.MODULES)
BODIES, STATE = "ijkl", 13
LENGTH, WRENCHES = 0, 2  # places of the length, and of forces and moments, in what the kernels give


@checked
def span_at(
    kind: str, vectors: Mapping[str, ArrayLike], parameters: Mapping[str, float]
) -> tuple[Floats, dict[str, tuple[Floats, Floats]]]:
    """Length of a span (times,), and force and moment about the origin (times, 3) of a unit tension on each body, by its letter.

    Parameters
    ----------
    kind : str
        A definition of ``codegen.paths``.
    vectors : mapping of str to (times, 3)
        By the names of the definition, such as "s_i": places [m] and directions.
    parameters : mapping of str to float
        Likewise.  Others than those of the definition have no effect, here and among the vectors.

    Raises
    ------
    ModelError
        For an unknown kind, what is missing, and arrays of other shapes.
    """
    if kind not in SPANS:
        raise unknown_name(kind, SPANS, "span")
    module = SPANS[kind]
    names, own = [name for name, *_ in module.VECTORS], [name for name, _ in module.PARAMETERS]
    if missing := [*(n for n in names if n not in vectors), *(n for n in own if n not in parameters)]:
        raise ModelError(f"span_at: {kind} needs {', '.join((*names, *own))}; {missing[0]} is missing")
    rows = [floats(vectors[name], name, "(times, 3) numbers") for name in names]
    if any(row.ndim != 2 or row.shape != (len(rows[0]), 3) for row in rows):
        raise ModelError(f"span_at: {', '.join(names)}: give (times, 3) numbers each, of as many times")
    at = [*np.concatenate(rows, axis=1).T, *(np.full(len(rows[0]), parameters[name]) for name in own)]
    count = len(module.BODIES)
    still = np.zeros((STATE, len(rows[0])))  # centres of mass in the origin: places and moments are those of the ground
    found = np.zeros((WRENCHES + 6 * count, len(rows[0])))
    with np.errstate(all="ignore"):
        with_arrays(module.span)(*[still] * count, at, found)
    wrenches = found[WRENCHES:].reshape(count, 2, 3, -1).swapaxes(2, 3)
    return found[LENGTH], {letter: (force, moment) for letter, (force, moment) in zip(BODIES, wrenches, strict=False)}
