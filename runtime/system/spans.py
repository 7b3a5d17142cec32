"""Spans of muscle paths between given places, at many times at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from generated import paths
from runtime.jit.python_code import with_arrays
from runtime.support.arrays import Floats
from runtime.system.definitions import Definitions

SPANS = Definitions(paths.MODULES)
BODIES, STATE = "ijkl", 13
LENGTH, WRENCHES = 0, 2  # places of the length, and of forces and moments, in what the kernels give


def span_at(
    kind: str, vectors: Mapping[str, Floats], parameters: Mapping[str, float]
) -> tuple[Floats, dict[str, tuple[Floats, Floats]]]:
    """Length of a span (times,), and force and moment about the origin (times, 3) of a unit tension on each body, by its letter.

    Parameters
    ----------
    kind : str
        A definition of ``codegen.paths``.
    vectors : mapping
        By the names of the definition, such as "s_i": places (times, 3) [m] and directions (times, 3).
    parameters : mapping
        Likewise.  Others than those of the definition have no effect, here and among the vectors.
    """
    module = SPANS[kind]
    count = len(module.BODIES)
    at = np.concatenate([vectors[name].T for name, *_ in module.VECTORS])
    own = [np.full(at.shape[1], parameters[name]) for name, _ in module.PARAMETERS]
    still = np.zeros((STATE, at.shape[1]))  # centres of mass in the origin: places and moments are those of the ground
    found = np.zeros((WRENCHES + 6 * count, at.shape[1]))
    with np.errstate(all="ignore"):
        with_arrays(module.span)(*[still] * count, [*at, *own], found)
    wrenches = found[WRENCHES:].reshape(count, 2, 3, -1).swapaxes(2, 3)
    return found[LENGTH], {letter: (force, moment) for letter, (force, moment) in zip(BODIES, wrenches, strict=False)}
