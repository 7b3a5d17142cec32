"""Paths of muscles in given states of the bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from runtime.dynamics.layout import P, V
from runtime.jit.python_code import with_arrays
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.force_addresses import place_of_angles
from runtime.system.force_building import look_up_tables
from runtime.system.muscle_modules import LETTERS, UNIT_WRENCH, WRENCH, elements_of, names_of, pieces_of
from runtime.system.parts import Force
from runtime.system.reference import reference, rotation_matrices
from runtime.system.spans import SPANS


def is_muscle(force: Force) -> bool:
    """Whether a force is a law along a path."""
    return hasattr(force.module, "path")


def path_spans(force: Force) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """The spans of the path of a muscle from point to point: kind, bodies, and values by the names of the kind.

    Points and directions are in axes of their bodies; ends that an angle moves have none.  Spans between points of one body are
    straight ones, too.  All points belong to the path.
    """
    elements = elements_of(force.kind)
    for (n, m), kind, letters, names in pieces_of(elements):
        if all(between in SPANS for between, _ in elements[n + 1 : m]):
            yield kind, _bodies(force, letters), {own: force.values[name] for own, name in names.items()}


def path_points(force: Force) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """The points of the path of a muscle from origin to insertion, as of ``path_spans``; the kind of a fixed one is ""."""
    for n, (kind, letters) in enumerate(elements_of(force.kind), 1):
        if kind not in SPANS:
            names = names_of(n, kind, letters).items()
            yield (
                kind,
                _bodies(force, letters),
                {own: force.values[name] for own, name in names if name in force.values},
            )


def _bodies(force: Force, letters: str) -> tuple[str, ...]:
    return tuple(force.bodies[LETTERS.index(letter)] for letter in letters)


def points_within(force: Force, states: Mapping[str, Floats]) -> Iterator[tuple[int, float, float]]:
    """Points of the path of a muscle within the radius of a wrap beside them: number, distance from the axis and radius [m].

    ``states``: of the bodies by name, (13,) each.  None of muscles with points that an angle moves.
    """
    for n, (_, bodies, values) in enumerate(() if force.module.ANGLES else path_spans(force), 1):
        ends = {letter: states[body] for letter, body in zip(LETTERS, bodies, strict=False)}
        turns = {letter: rotation_matrices(state[None, P:V])[0] for letter, state in ends.items()}
        places = {letter: ends[letter][:P] + turns[letter] @ values[f"s_{letter}"] for letter in ends}
        for wrap, name in (("k", "radius"), ("k", "first_radius"), ("l", "second_radius")):
            if name in values:
                axis = turns[wrap] @ values[f"a_{wrap}"]
                for end, number in (("i", n), ("j", n + 1)):
                    distance = float(np.linalg.norm(np.cross(axis, places[end] - places[wrap])))
                    if distance < values[name]:
                        yield number, distance, float(values[name])


def path_motion(force: Force, states: Mapping[str, Floats], angles: Floats | None = None) -> Floats:
    """Length of the path of a muscle, its rate, and force and moment of a unit tension on each of its bodies, (2 + 6 bodies, n).

    ``states``: of the bodies by name, (n, 13) each; ``angles``: (n, angles) [rad] of its points, from which revolutions count; by
    default as in a reference configuration.

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
    if angles is not None:
        x[place_of_angles(force.module) :][: angles.shape[1]] = angles.T
    look_up_tables(force, ends, x)
    with np.errstate(all="ignore"):  # of points that coincide
        with_arrays(force.module.path)(*ends, x, found)
    return found
