"""Paths of muscles in given states of the bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from runtime.jit.python_code import with_arrays
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.muscle_modules import LETTERS, UNIT_WRENCH, WRENCH, elements_of, pieces_of
from runtime.system.parts import Force
from runtime.system.reference import reference
from runtime.system.spans import SPANS


def is_muscle(force: Force) -> bool:
    """Whether a force is a law along a path."""
    return hasattr(force.module, "path")


def path_spans(force: Force) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """The spans of the path of a muscle from origin to insertion: kind, bodies, and values by the names of the kind.

    Points and directions are in axes of their bodies.  Spans between points of one body are straight ones, too.
    """
    for kind, letters, names in pieces_of(elements_of(force.kind), SPANS):
        bodies = tuple(force.bodies[LETTERS.index(letter)] for letter in letters)
        yield kind, bodies, {own: force.values[name] for own, name in names.items()}


def path_motion(force: Force, states: Mapping[str, Floats]) -> Floats:
    """Length of the path of a muscle, its rate, and force and moment of a unit tension on each of its bodies, (2 + 6 bodies, n).

    ``states``: of the bodies by name, (n, 13) each.

    Raises
    ------
    ModelError
        For a force that is no muscle.
    """
    if not is_muscle(force):
        raise ModelError(
            f"force '{force.name}' ({force.kind}) is no muscle, so it has no path; give the name of a muscle"
        )
    ends = [states[body].T for body in force.bodies]
    x, found = (
        np.zeros((force.module.SIZE, ends[0].shape[1])),
        np.zeros((UNIT_WRENCH + WRENCH * len(ends), ends[0].shape[1])),
    )
    reference(force, ends[0], ends[1], x, *ends[2:])
    with_arrays(force.module.path)(*ends, x, found)
    return found
