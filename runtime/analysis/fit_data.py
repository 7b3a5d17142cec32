"""Measured motion that parameters are fitted to: its checks, its standard deviations and its units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runtime.analysis.sensitivity_result import Sensitivities
from runtime.support.arrays import Floats
from runtime.support.checks import finite_number
from runtime.support.errors import ModelError, did_you_mean
from runtime.support.numbers import floats
from runtime.support.units import Usual, ask
from runtime.system.quantity import Quantity, Role, parse
from runtime.system.state import PARTS

FAR, NEAR = 100.0, 0.1  # data are beyond FAR times the reach of the model, at least NEAR [m], in another unit


def measured(data: Any) -> dict[Quantity, Floats]:
    """Measured values by quantity."""
    if not isinstance(data, Mapping) or not data:
        raise ModelError("data: give measured parts of the state, such as {'r.main_foot': (m, 3)}")
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
        found[parse(str(name))] = array
    return found


def deviations(sigma: Any) -> dict[str, float]:
    """Standard deviations by name."""
    return {name: finite_number(value, f"sigma: '{name}'", np.inf) for name, value in (sigma or {}).items()}


def check_data(found: Sensitivities, data: Mapping[Quantity, Floats], sigma: Mapping[str, float], times: int) -> None:
    """Refuse data of other bodies, shapes or no numbers, and deviations that are not above 0."""
    for quantity, values in data.items():
        name = quantity.name
        if quantity.role is not Role.STATE or quantity.owner not in found.system.body_names:
            known = ", ".join(found.system.body_names)
            parts = [f"{part}.{body}" for part in PARTS for body in found.system.body_names]
            raise ModelError(
                f"data: '{name}' is no part of the state; {did_you_mean(name, parts)}use {', '.join(PARTS)} of {known}"
            )
        expected = (times, *(quantity.shape or ()))
        if values.shape != expected:
            raise ModelError(f"data: '{name}' has the shape {values.shape}; give {expected}, a row for each time")
        if not np.isfinite(values).any():
            raise ModelError(f"data: '{name}' holds no number")
        if not (np.isfinite(sigma.get(name, 1.0)) and sigma.get(name, 1.0) > 0.0):
            raise ModelError(f"sigma: '{name}' = {sigma[name]!r} must be above 0")
    if unknown := set(sigma) - {quantity.name for quantity in data}:
        raise ModelError(f"sigma: there are no data '{min(unknown)}'; the data are {', '.join(q.name for q in data)}")


def ask_about_places(found: Sensitivities, data: Mapping[Quantity, Floats]) -> None:
    """Ask about measured places that are far from all bodies in the run from the start, as those in mm are."""
    reach = max(NEAR, *(float(np.abs(r).max()) for r in found.state["r"].values()))
    for quantity, values in data.items():
        if quantity.part == "r":
            of = f"a place in a fit from a start where all bodies stay within {reach:.3g} m of the origin"
            ask(f"data: '{quantity.name}'", np.nanmax(np.abs(values)), Usual(0.0, FAR * reach, "m", of))


def nearest_signs(quantity: Quantity, known: Floats, start: Sensitivities) -> Floats:
    """Measured values; Euler parameters, whose negatives are the same orientation, with the signs nearest to the start."""
    if quantity.part != "p":
        return known
    signs = np.where(np.nansum(known * start.state["p"][quantity.owner], axis=1) < 0.0, -1.0, 1.0)
    return known * signs[:, None]
