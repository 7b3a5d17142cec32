"""Numbers of many systems of one layout as arrays: read from their parts, or from the calls that would make these.

Of calls each argument is compared between the cases.  Parts whose arguments are equal are those of one case, which is built.
Arguments that differ are checked here for all cases at once.  A case that ``Builder`` might refuse is not good, and is built by
its own calls, so that every message comes from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.support.arrays import Bools, Floats, stacked
from runtime.support.by_value import NUMBERS
from runtime.support.numbers import LARGEST, SMALLEST
from runtime.system.built_contacts import columns
from runtime.system.cone import Cone
from runtime.system.deferred import Recipe
from runtime.system.limit_building import deciding_axes, points_of
from runtime.system.parts import AXIS_TOLERANCE, GROUND, LIMIT_UNITS, Limit
from runtime.system.recording import TEXTS, Call

Columns = dict[str, Floats]  # values by name, (cases,) or (cases, 3) each


class LimitTable(NamedTuple):
    """A limit of many cases."""

    values: Columns
    law: Floats  # (cases, 3) largest moment, compliance, damping
    cones: list[Cone]  # of the cases


class CaseTable(NamedTuple):
    """Systems of one layout."""

    masses: Floats  # (cases, bodies)
    inertias: Floats  # (cases, bodies, 3, 3)
    gravity: Floats  # (cases, 3)
    y: Floats  # (cases, 13 bodies)
    joints: dict[str, Columns]
    recipes: Sequence[Recipe]  # of the cases, for loads, motors, contacts, tables and signals
    limits: Sequence[LimitTable]
    forces: dict[tuple[str, str], Columns]  # what differs from the recipes


def table_of_recipes(recipes: Sequence[Recipe]) -> CaseTable:
    """The table of recipes of one layout."""
    bodies = [recipe.parts.bodies for recipe in recipes]
    masses = np.array([[body.mass for body in of] for of in bodies])
    inertias = np.stack([stacked([body.inertia for body in own]) for own in zip(*bodies, strict=True)], axis=1)
    joints = {
        own[0].name: columns(own[0].values, [joint.values for joint in own])
        for own in zip(*[recipe.parts.joints for recipe in recipes], strict=True)
    }
    limits = [_table_of_limit(own) for own in zip(*[recipe.parts.limits for recipe in recipes], strict=True)]
    gravity, y = stacked([recipe.gravity for recipe in recipes]), stacked([recipe.y for recipe in recipes])
    return CaseTable(masses, inertias, gravity, y, joints, recipes, limits, {})


def _table_of_limit(own: Sequence[Limit]) -> LimitTable:
    law = np.array([(one.max_moment, one.compliance, one.damping) for one in own])
    return LimitTable(columns(own[0].values, [one.values for one in own]), law, [one.cone for one in own])


def structure_of(calls: Sequence[Call]) -> tuple[Any, ...]:
    """All of the calls that is equal for cases of one table: methods, names and texts, but for the name of the system."""
    first, *others = calls
    found = [(*first.named, *[v for k, v in first.named.items() if type(v) in TEXTS and k != "name"], len(first.given))]
    for method, given, named in others:
        found.append((method, given, tuple(named), *[value for value in named.values() if type(value) in TEXTS]))
    return tuple(found)


class _Other(Exception):
    """Cases differ in more than a table takes."""


def table_of_calls(calls: Sequence[Sequence[Call]], recipe: Recipe) -> tuple[CaseTable, Bools] | None:
    """The table of cases whose calls have one structure, and which of them ``Builder`` surely accepts.

    ``recipe``: of one of them.  None where they differ in more than a table takes.
    """
    try:
        found = _Reader(calls, recipe)
    except _Other:
        return None
    return found.table, found.good


class _Reader:
    """Reads the calls of many cases in turn."""

    def __init__(self, calls: Sequence[Sequence[Call]], recipe: Recipe) -> None:
        self.good = np.ones(len(calls), bool)
        self._calls = calls
        self._parts = recipe.parts
        one = table_of_recipes([recipe])
        self.table = t = one._replace(
            masses=self._repeated(one.masses[0]), inertias=self._repeated(one.inertias[0]),
            gravity=self._repeated(one.gravity[0]), y=self._repeated(one.y[0]), recipes=[recipe] * len(calls),
            joints={name: self._all(own) for name, own in one.joints.items()}, forces={},
            limits=[LimitTable(self._all(of.values), self._repeated(of.law[0]), [*of.cones] * len(calls)) for of in one.limits],
        )  # fmt: skip
        self._bodies, self._joints, self._forces = (
            iter(range(len(t.masses[0]))),
            iter(self._parts.joints),
            iter(self._parts.forces),
        )
        self._global, self._moved = False, False  # axes of the builder; whether a body is not always in the same place
        self._limits, self._varied = iter(zip(self._parts.limits, t.limits, strict=True)), dict[str, Columns]()
        rules: Mapping[str, Callable[[int], None]] = {
            "__init__": self._begin, "body": self._body, "joint": self._joint, "limit": self._limit,
            "force": self._force, "add_shapes": self._shapes,
        }  # fmt: skip
        for place, call in enumerate(calls[0][:-1]):  # but for ``build``, whose arguments are texts
            rules[call.method](place)

    def _repeated(self, value: Floats) -> Floats:
        found: Floats = np.repeat(value[None], len(self.good), axis=0)
        return found

    def _all(self, own: Columns) -> dict[str, Floats]:
        return {key: self._repeated(value[0]) for key, value in own.items()}

    def _differing(self, place: int, able: Iterable[str], apart: Sequence[str] = ()) -> dict[str, Floats]:
        """Arguments of a call that differ between the cases, of those that are able to; ``apart``: looked at by the caller."""
        found = {}
        for name in self._calls[0][place].named:
            if name in apart:
                continue
            column = _column([calls[place].named[name] for calls in self._calls])
            if column is not None:
                if name not in able:
                    raise _Other
                found[name] = column
        return found

    def _begin(self, place: int) -> None:
        first = [calls[place] for calls in self._calls]
        if len(first[0].given) > 1:
            raise _Other
        names = [call.given[0] if call.given else call.named.get("name", "system") for call in first]
        self.good &= [type(name) is str and name != "" and name.isprintable() for name in names]
        self._global = first[0].named.get("axes") == "global"
        for column in self._differing(place, ("gravity",), ("name",)).values():
            self.table.gravity[:] = self._vectors(column)

    def _body(self, place: int) -> None:
        k = next(self._bodies)
        own = self._differing(place, ("mass", "inertia", "r", "v", "omega"))
        if "mass" in own:
            self._numbers(own["mass"], SMALLEST)
            self.table.masses[:, k] = own["mass"]
        if "inertia" in own:
            moments = self._vectors(own["inertia"])
            self.good &= (moments >= 0.0).all(axis=1)
            self.table.inertias[:, k] = 0.0
            self.table.inertias[:, k, range(3), range(3)] = moments
        states = self.table.y.reshape(len(self.good), -1, STATE)
        for key, where in (("r", slice(R, P)), ("v", slice(V, OMEGA)), ("omega", slice(OMEGA, STATE))):
            if key in own:
                states[:, k, where] = self._vectors(own[key])
        self._moved |= "r" in own

    def _joint(self, place: int) -> None:
        joint = next(self._joints)
        self._varied[joint.name] = own = self._values(place, joint.module)
        self.table.joints[joint.name].update(own)

    def _force(self, place: int) -> None:
        force = next(self._forces)
        if own := self._values(place, force.module):
            self.table.forces["force", force.name] = own

    def _values(self, place: int, module: ModuleType) -> dict[str, Floats]:
        """Differing vectors and parameters of a definition, as ``checked_values`` takes them."""
        sorts = {name: sort for name, sort, *_ in module.VECTORS}
        parameters = [name for name, *_ in module.PARAMETERS]
        axes = self._calls[0][place].named.get("axes")
        in_global = self._global if axes is None else axes == "global"
        if in_global and self._moved and "point" in sorts.values():
            raise _Other  # points from the centre of mass may differ where those that are given do not
        own = self._differing(place, parameters if in_global else (*sorts, *parameters))
        for key, column in own.items():
            if key in sorts:
                self._vectors(column)
                if sorts[key] == "direction":
                    self.good &= np.abs(np.sqrt((column * column).sum(axis=1)) - 1.0) <= 0.5 * AXIS_TOLERANCE
                continue
            lower, excluded, upper, _ = module.BOUNDS.get(key) or (None, False, None, "")
            self._numbers(column)
            if lower is not None:
                self.good &= (column > lower) if excluded else (column >= lower)
            if upper is not None:
                self.good &= column <= upper
        return own

    def _limit(self, place: int) -> None:
        limit, table = next(self._limits)
        joint = next(one for one in self._parts.joints if one.name == limit.joint)
        own, points = self._differing(place, LIMIT_UNITS, ("cone",)), points_of(limit, joint)
        varied, axes = self._varied[joint.name], deciding_axes(limit, joint)
        if axes is None or varied.keys() & axes:
            raise _Other  # its directions may differ
        for column, key in enumerate(LIMIT_UNITS):
            if key in own:
                self._numbers(own[key])
                self.good &= own[key] >= 0.0 if key == "damping" else own[key] > 0.0
                table.law[:, column] = own[key]
        own = {key: of for key, of in own.items() if key == "damping"}
        table.values.update(own | {key: varied[of] for key, of in points.items() if of in varied})
        table.cones[:] = [calls[place].named["cone"] for calls in self._calls]
        self.good &= [type(cone) is Cone for cone in table.cones]

    def _shapes(self, place: int) -> None:
        known = {body.name for body in self._parts.bodies} | {GROUND}
        self.good &= [known.issuperset([shape.body for shape in calls[place].named["shapes"]]) for calls in self._calls]

    def _numbers(self, column: Floats, least: float = -LARGEST) -> None:
        if column.ndim != 1:
            raise _Other
        self.good &= (least <= column) & (column <= LARGEST)

    def _vectors(self, column: Floats) -> Floats:
        if column.shape[1:] != (3,):
            raise _Other
        self.good &= (np.abs(column) <= LARGEST).all(axis=1)
        return column


def _column(values: list[Any]) -> Floats | None:
    """Numbers (cases,) or (cases, n) that differ; None where all values are the same.

    Raises
    ------
    _Other
        They differ, and are no numbers.
    """
    if len(set(map(id, values))) == 1:
        return None
    kinds = set(map(type, values))
    try:
        if NUMBERS.issuperset(kinds):
            column = np.array(values, float)
        elif kinds == {tuple} and len(set(map(len, values))) == 1:
            column = np.array(list(chain.from_iterable(values)), float).reshape(len(values), -1)
        elif len(kinds) == 1 and values.count(values[0]) == len(values):
            return None
        else:
            raise _Other
    except OverflowError:  # of large integers
        raise _Other from None
    bits = column.view(np.int64)
    return None if (bits == bits[0]).all() else column
