"""Measured motion that parameters are fitted to: its checks, its standard deviations and its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from runtime.analysis.sensitivity_result import Sensitivities
from runtime.support.arrays import Floats
from runtime.support.checks import finite_number
from runtime.support.errors import ModelError, did_you_mean
from runtime.support.numbers import floats
from runtime.support.units import Usual, ask, with_unit
from runtime.system.joint_motion import FULL_TURN
from runtime.system.quantity import COORDINATES, Quantity, Role, coordinate_units, parse
from runtime.system.state import AXES, PARTS
from runtime.system.system import System

FAR, NEAR = 100.0, 0.1  # data are beyond FAR times the reach of the model, at least NEAR [m], in another unit


class Measured(NamedTuple):
    """A measured part of the state, a component of it, or a coordinate of a joint, or its rate."""

    name: str
    quantity: Quantity
    component: int | None  # of a vector; None for all
    values: Floats  # (m, ...) NaN where there are none

    @property
    def is_turn(self) -> bool:
        """Whether it is an angle, of which whole turns may be missing."""
        return self.quantity.part == "angle" and self.quantity.unit == "rad" and not self.of_ball

    @property
    def of_ball(self) -> bool:
        """Whether it is a component of a rotation vector."""
        return self.quantity.owner_sort == "ball"

    def of_run(self, found: Sensitivities) -> Floats:
        """The values in a run at the same times; angles with the whole turns with which they begin in the data."""
        part, owner = self.quantity.part, self.quantity.owner
        values = _of_joint(found.motion, part, owner) if part in COORDINATES else self._own(found.state[part][owner])
        if not self.is_turn:
            return values
        values = np.unwrap(values)  # as ``_without_jumps``
        first = int(np.argmax(np.isfinite(self.values)))
        return values - FULL_TURN * np.round((values[first] - self.values[first]) / FULL_TURN)

    def slopes(self, found: Sensitivities) -> Floats:
        """The derivatives (m, ..., K) of ``of_run``."""
        part, owner = self.quantity.part, self.quantity.owner
        return _of_joint(found.angles, part, owner) if part in COORDINATES else self._own(getattr(found, part)[owner])

    def _own(self, values: Floats) -> Floats:
        return values if self.component is None else values[:, self.component]


def _of_joint(angles: Mapping[str, Any], part: str, owner: str) -> Floats:
    joint, _, column = owner.rpartition(".")
    return (angles[joint].values if part == "angle" else angles[joint].rates)[column]


def measured(data: Any, times: Floats) -> dict[str, Floats]:
    """Measured values by name; a table may have a column ``time`` of these times."""
    if not isinstance(data, Mapping) or not data:
        raise ModelError(
            "data: give measured parts of the state or coordinates of joints, such as {'r.main_foot': (m, 3)} or "
            "{'angle.ankle.theta_i': (m,)}"
        )
    found = {}
    for name, values in data.items():
        if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "fiu":
            values = np.ma.filled(values.astype(float), np.nan)  # what is masked was not measured
        array = floats(values, f"data: '{name}'", "numbers, and NaN where there is none")
        if np.isinf(array).any():
            at = int(np.argwhere(np.isinf(array))[0][0])
            raise ModelError(
                f"data: '{name}' is infinite in row {at}; give finite numbers, and NaN where there is none"
            )
        found[str(name)] = array
    if (column := found.pop("time", None)) is not None and not np.array_equal(column, times):
        raise ModelError("data: the column 'time' differs from t; give the times of the table as t, in s")
    return found


def deviations(sigma: Any) -> dict[str, float]:
    """Standard deviations by name."""
    return {name: finite_number(value, f"sigma: '{name}'", np.inf) for name, value in (sigma or {}).items()}


def checked_data(
    start: Sensitivities, data: Mapping[str, Floats], sigma: Mapping[str, float], times: int
) -> list[Measured]:
    """The data of a fit, as far as the run from its start knows them.

    Raises
    ------
    ModelError
        For data of unknown bodies or joints, of other shapes or without numbers, and for deviations that are not above 0.
    """
    found = []
    for name, values in data.items():
        quantity, component = _quantity(start.system, name)
        expected = (times, *((quantity.shape or ()) if component is None else ()))
        if values.shape != expected:
            wanted = with_unit(str(expected), "" if quantity.unit in ("", "1") else f"[{quantity.unit}]")
            raise ModelError(f"data: '{name}' has the shape {values.shape}; give {wanted}, a row for each time")
        if not np.isfinite(values).any():
            raise ModelError(f"data: '{name}' holds no number")
        if not (np.isfinite(sigma.get(name, 1.0)) and sigma.get(name, 1.0) > 0.0):
            raise ModelError(f"sigma: '{name}' = {sigma[name]!r} must be above 0")
        found.append(Measured(name, quantity, component, values))
    if unknown := set(sigma) - set(data):
        raise ModelError(f"sigma: there are no data '{min(unknown)}'; the data are {', '.join(data)}")
    return found


def _quantity(system: System, name: str) -> tuple[Quantity, int | None]:
    """The quantity of data of this name, with its unit, and the component of it."""
    quantity, bodies = parse(name), system.body_names
    if quantity.role is Role.STATE:
        if quantity.owner in bodies:
            return quantity, None
        body, _, axis = quantity.owner.rpartition(".")
        if body in bodies and axis in AXES and quantity.shape == (3,):
            return quantity._replace(name=f"{quantity.part}.{body}", owner=body), AXES.index(axis)
    joint, _, column = quantity.owner.rpartition(".")
    if quantity.role is Role.COORDINATE and joint in system.joint_motions:
        motion = system.joint_motions[joint]
        for step in motion.steps:
            if column in step.columns:
                unit = motion.units[column] + ("/s" if quantity.part == "rate" else "")
                return quantity._replace(unit=unit, owner_sort="ball" if step.kind == "ball" else "joint"), None
    near = did_you_mean(name, [*(f"{part}.{body}" for part in PARTS for body in bodies), *coordinate_units(system)])
    if quantity.role is Role.COORDINATE and joint in system.joint_names and joint not in system.joint_motions:
        kind = system.joint(joint).kind
        raise ModelError(f"data: '{name}': joint '{joint}' ({kind}) has no coordinates; give data of its bodies")
    known = ", ".join(bodies)
    angles = (
        f", or coordinates and rates of joints: {', '.join(coordinate_units(system))}" if system.joint_motions else ""
    )
    raise ModelError(f"data: '{name}' is no part of the state; {near}use {', '.join(PARTS)} of {known}{angles}")


def ask_about_scales(start: Sensitivities, data: Sequence[Measured]) -> None:
    """Warn of data that are in another unit by the scale of the run from the start.

    These are measured places farther away than all bodies by FAR, and angles of more than a turn of a joint with a limit
    of motion.
    """
    reach = max(NEAR, *(float(np.abs(r).max()) for r in start.state["r"].values()))
    limited = {limit.joint for limit in start.system.limits}
    for one in data:
        what, largest = f"data: '{one.name}'", float(np.nanmax(np.abs(one.values)))
        if one.quantity.part == "r":
            of = f"a place in a fit from a start where all bodies stay within {reach:.3g} m of the origin"
            ask(what, largest, Usual(0.0, FAR * reach, "m", of))
        joint = one.quantity.owner.rpartition(".")[0]
        if one.quantity.part == "angle" and one.quantity.unit == "rad" and joint in limited:
            of = f"with a joint limit, an angle of joint '{joint}'"
            ask(what, largest, Usual(0.0, FULL_TURN, "rad", of))


def prepared(one: Measured, start: Sensitivities) -> Measured:
    """Data of the same orientation: Euler parameters with the signs of the run from the start, angles without jumps."""
    if one.quantity.part == "p":
        return one._replace(values=_nearest_signs(one.values, start.state["p"][one.quantity.owner]))
    return one._replace(values=_without_jumps(one.values)) if one.is_turn else one


def _nearest_signs(known: Floats, own: Floats) -> Floats:
    """Measured Euler parameters, whose negatives are the same orientation, with the signs nearest to those of a run."""
    signs = np.where(np.nansum(known * own, axis=1) < 0.0, -1.0, 1.0)
    return known * signs[:, None]


def _without_jumps(angles: Floats) -> Floats:
    """Angles without jumps of more than half a turn from one time to the next; gaps are left as they are."""
    found, turns = angles.copy(), np.round(np.diff(angles) / FULL_TURN)
    found[1:] -= FULL_TURN * np.cumsum(np.nan_to_num(turns))
    return found
