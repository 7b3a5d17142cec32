"""What derivatives and fits are asked for: quantities of a system, or of a function that builds one, and their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.checks import are_finite
from runtime.support.errors import ModelError, Refused, shown
from runtime.support.numbers import real_numbers
from runtime.system.assemble import assemble
from runtime.system.parameters import ask_about_units, joints_differ
from runtime.system.quantity import INERTIA, LATITUDES, Quantity, Role, parse, quantities
from runtime.system.system import System
from runtime.system.unusual_values import ask_about_state
from runtime.system.variants import check_arguments, variant

ROUNDING = 1e-14  # values below this count as 0, for which the size 1 is used
MIN_SIZE = 0.1  # smallest size of a quantity in a fit, as a fraction of its first one; differences stay above rounding


@dataclass(frozen=True)
class Question:
    """A System or a function that builds one, the given values, and the quantities to differentiate with respect to."""

    build: System | Callable[..., System]
    given: Mapping[str, Any]  # arguments of the function, parameters of the system, and parts of the initial state
    quantities: Mapping[str, Quantity]  # what the given names belong to
    wrt: tuple[Quantity, ...]

    @property
    def row(self) -> Floats:
        """The given values of all components, (K,)."""
        return np.concatenate([np.ravel(np.asarray(self.given[quantity.name], float)) for quantity in self.wrt])

    @property
    def places(self) -> dict[str, slice]:
        """Places of the components of each quantity in such a row."""
        found, start = {}, 0
        for quantity in self.wrt:
            found[quantity.name] = slice(start, start + int(np.prod(np.shape(self.given[quantity.name]))))
            start = found[quantity.name].stop
        return found

    @property
    def components(self) -> list[tuple[str, Quantity]]:
        """Name with component indices, and quantity, of each component."""
        found: list[tuple[str, Quantity]] = []
        for quantity in self.wrt:
            shape = np.shape(self.given[quantity.name])
            for index in np.ndindex(shape):
                indices = f"[{','.join(map(str, index))}]" if shape else ""
                found.append((quantity.name + indices, quantity))
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Scalar names, with component indices, (K,)."""
        return tuple(name for name, _ in self.components)

    def sizes(self, row: Floats) -> Floats:
        """Sizes by which steps of differences are scaled, (K,): the largest component of each quantity, 1 where all are 0."""
        sizes = np.empty(len(row))
        for name, place in self.places.items():
            first, largest = (float(np.abs(values).max()) for values in (self.given[name], row[place]))
            first = first if first > ROUNDING else 1.0
            sizes[place] = max(largest, MIN_SIZE * first) if largest > ROUNDING else first
        return sizes

    def split(self, row: Floats) -> dict[str, Any]:
        """The values of a row by name, in the shapes that were given."""
        found = {}
        for name, place in self.places.items():
            shape = np.shape(self.given[name])
            found[name] = row[place].reshape(shape).tolist() if shape else float(row[place][0])
        return found

    def at(self, row: Floats) -> dict[str, Any]:
        """The given values with those of a row; Euler parameters and directions keep their length."""
        row = row.copy()
        for name, place in self.unit_length.items():
            if length := np.linalg.norm(row[place]):
                row[place] *= np.linalg.norm(self.given[name]) / length
        return dict(self.given) | self.split(row)

    @property
    def unit_length(self) -> dict[str, slice]:
        """Places of the Euler parameters and of the directions of a System's joints."""
        return {quantity.name: self.places[quantity.name] for quantity in self.wrt if quantity.unit_length}

    def system(self, row: Floats) -> tuple[System, Floats]:
        """System and assembled initial state for a row of values."""
        system, state, joints_changed = variant(self.build, self.at(row), self.quantities, assembled=True)
        return system, (assemble(system, state) if joints_changed or state is not system.state else state).y

    def near(self, system: System) -> Question:
        """The question about values near those of a system: systems there share with it what does not change between them.

        Not where its joints were changed: masses decide how the initial state is moved onto them.
        """
        of_joints = not isinstance(self.build, System) or joints_differ(self.build, system)
        return self if of_joints else replace(self, build=system)


def question_of(
    build: System | Callable[..., System], given: Mapping[str, Any], wrt: Any, *, check_units: bool
) -> Question:
    """Check the arguments of ``sensitivities`` and of ``fit_parameters``."""
    if not isinstance(given, Mapping) or not given:
        raise ModelError("given: give a mapping from names of parameters, or of parts of the initial state, to values")
    names = tuple(given) if wrt is None else (wrt,) if isinstance(wrt, str) else tuple(wrt)
    if not names:
        raise ModelError(f"wrt: no name; choose from {', '.join(given)}, or leave wrt out for all of them")
    parsed = {name: parse(name, of_system=isinstance(build, System)) for name in given}
    for name in names:
        if name not in given:
            raise ModelError(f"wrt: '{name}' is not among the given: {', '.join(given)}")
        part = parsed[name].part if parsed[name].owner else ""
        if part in (INERTIA, LATITUDES) and np.shape(given[name]) != (3,):
            remedy = "principal moments (3,)" if part == INERTIA else "a function of the latitudes that differ"
            raise ModelError(f"wrt: the components of '{name}' cannot differ one by one; give {remedy}")
        if names.count(name) > 1:
            raise ModelError(f"wrt: '{name}' is named {names.count(name)} times; give each name once")
        if not are_finite(given[name]):
            raise ModelError(f"wrt: '{name}' = {shown(given[name])} is no finite number; leave it out of wrt")
    known = {name: q for name, (q, _) in quantities(build).items()} if isinstance(build, System) else {}
    if not isinstance(build, System):
        check_arguments(build, parsed, "given")
    elif check_units:
        ask_about_units(build, given)
        ask_about_state(build, given)
    found = (parsed[name] for name in names)
    wanted = tuple(known.get(q.name, q) if q.role is Role.PARAMETER else q for q in found)
    return Question(build, given, parsed, wanted)


def bounds_of(question: Question, bounds: Any) -> tuple[Floats, Floats]:
    """Lower and upper bounds of all components, (K,) each, between which the given values are."""
    start, low, high = question.row, np.full(len(question.row), -np.inf), np.full(len(question.row), np.inf)
    for name, pair in (bounds or {}).items():
        if name not in question.places:
            raise ModelError(f"bounds: '{name}' is not varied; varied are {', '.join(question.places)}")
        try:
            lower, upper = map(real_numbers, pair)
            low[question.places[name]], high[question.places[name]] = np.ravel(lower), np.ravel(upper)
        except (TypeError, ValueError, Refused):
            raise ModelError(
                f"bounds: '{name}' = {shown(pair)}; give the lower and the upper bound, (0.0, 1.0)"
            ) from None
    if not (low < high).all():  # false for NaN, too
        at = int(np.argmin(low < high))
        raise ModelError(
            f"bounds: {question.names[at]} has the bounds {low[at]:g} and {high[at]:g}; give a lower one, then a greater one"
        )
    if not (inside := (low <= start) & (start <= high)).all():
        at = int(np.argmin(inside))
        raise ModelError(
            f"bounds: {question.names[at]} = {start[at]:g} is not between {low[at]:g} and {high[at]:g}; change the start"
        )
    return low, high
