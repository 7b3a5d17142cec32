"""Functions of several coordinates that are sums of products of powers and sines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.products import ENTRIES, LEADERS, VALUES, ProductData, evaluate_at
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import finite
from runtime.support.errors import ModelError
from runtime.support.numbers import floats


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class SumOfProducts:
    """A function of one to six coordinates x, a sum of terms: a coefficient times x^power sin(frequency x + phase) of all x.

    Parameters
    ----------
    coefficients : (terms,)
    powers : (terms, coordinates)
        Whole numbers from 0 to 100.
    frequencies, phases : (terms, coordinates), optional
        [1/rad] or [1/m], and [rad]; default 0 and pi/2, no sines.
    offsets : (coordinates,), optional
        [rad] or [m], added to the coordinates first; default 0.

    Attributes
    ----------
    max_coordinates, max_power : int
        Limits of both, 6 and 100.

    Raises
    ------
    ModelError
        For other shapes, and values that are not finite.
    """

    max_coordinates: ClassVar[int] = LEADERS
    max_power: ClassVar[int] = 100
    coefficients: ArrayLike
    powers: ArrayLike
    frequencies: ArrayLike | None = None
    phases: ArrayLike | None = None
    offsets: ArrayLike | None = None

    def __post_init__(self) -> None:
        powers = np.atleast_2d(floats(self.powers, "law: powers", "whole numbers"))
        if powers.ndim != 2 or not len(powers) or not 1 <= powers.shape[1] <= LEADERS:
            raise ModelError(
                f"law: powers of the shape {powers.shape}; give one row for each term, with 1 to {LEADERS} coordinates"
            )
        if not ((powers == np.round(powers)) & (powers >= 0.0) & (powers <= self.max_power)).all():
            raise ModelError(f"law: powers must be whole numbers, limit 0 to {self.max_power}")
        terms, n = powers.shape
        usual = {
            "coefficients": np.zeros(terms), "powers": powers, "frequencies": np.zeros((terms, n)),
            "phases": np.full((terms, n), pi / 2.0), "offsets": np.zeros(n),
        }  # fmt: skip
        for name, array in usual.items():
            if (given := getattr(self, name)) is not None:
                of = np.array(floats(given, f"law: {name}", "numbers"), ndmin=array.ndim)
                array = finite(of, array.shape, f"law: {name}")
            object.__setattr__(self, name, read_only(array))

    def __reduce__(self) -> tuple[object, ...]:
        return SumOfProducts, tuple(np.array(getattr(self, name)) for name in _ARRAYS)

    def __repr__(self) -> str:
        return f"SumOfProducts of {len(self.rows)} terms of {self.leaders} coordinates"

    def to_mapping(self) -> dict[str, list[Any]]:
        """Its arrays by name, as lists."""
        return {name: np.asarray(getattr(self, name)).tolist() for name in _ARRAYS}

    @property
    def leaders(self) -> int:
        """Number of coordinates."""
        return int(np.shape(self.powers)[1])

    def with_value(self, k: int, value: float) -> SumOfProducts:
        """The function of the other coordinates, where coordinate k has a value."""
        coefficients, powers, frequencies, phases, offsets = (np.asarray(getattr(self, name)) for name in _ARRAYS)
        x = value + offsets[k]
        factor = x ** powers[:, k] * np.sin(frequencies[:, k] * x + phases[:, k])
        powers, frequencies, phases, offsets = (
            np.delete(of, k, axis=-1) for of in (powers, frequencies, phases, offsets)
        )
        return SumOfProducts(coefficients * factor, powers, frequencies, phases, offsets)

    def about(self, x: Sequence[float], value: float) -> SumOfProducts:
        """The function, less a value, of the differences of its coordinates from values x."""
        coefficients, powers, frequencies, phases, offsets = (np.asarray(getattr(self, name)) for name in _ARRAYS)
        row = np.zeros((1, self.leaders))  # of a constant
        return SumOfProducts(
            np.append(coefficients, -value), np.vstack([powers, row]), np.vstack([frequencies, row]),
            np.vstack([phases, row + pi / 2.0]), offsets + np.asarray(x, dtype=float),
        )  # fmt: skip

    def of_line(self, slope: float, offset: float) -> SumOfProducts:
        """The function of one coordinate that is a slope, not 0, times another one and an offset."""
        coefficients, powers, frequencies, phases, offsets = (np.asarray(getattr(self, name)) for name in _ARRAYS)
        factor = slope ** powers[:, 0]
        return SumOfProducts(coefficients * factor, powers, frequencies * slope, phases, (offsets + offset) / slope)

    @property
    def rows(self) -> Floats:
        """The terms for compiled code, (terms, ENTRIES)."""
        count, n = np.shape(self.powers)
        found = np.zeros((count, ENTRIES))
        found[:, 0] = self.coefficients
        for k, (of, usual) in enumerate(((self.powers, 0.0), (self.frequencies, 0.0), (self.phases, pi / 2.0))):
            block = found[:, 1 + k * LEADERS : 1 + (k + 1) * LEADERS]
            block[:] = usual
            block[:, :n] = np.asarray(of)
        return found

    def __call__(self, *x: ArrayLike) -> Floats:
        """The function of its coordinates, arrays of one shape."""
        return self.derivatives(*x)[0]

    def derivatives(self, *x: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Value (...), slopes (..., coordinates) and curvatures (..., coordinates, coordinates) at coordinates (...) each."""
        if len(x) != self.leaders:
            raise ModelError(f"law: {len(x)} coordinates, limit {self.leaders}; give one array for each")
        at = np.stack(np.broadcast_arrays(*(floats(one, "law: coordinate", "numbers") for one in x)), axis=-1)
        shape, n = at.shape[:-1], self.leaders
        leaders = np.zeros((int(np.prod(shape)), LEADERS))
        leaders[:, :n] = at.reshape(-1, n)
        values = np.zeros((len(leaders), VALUES))
        evaluate_at(leaders, product_data([self]), values)
        curvatures = np.zeros((len(leaders), LEADERS, LEADERS))
        above = np.triu_indices(LEADERS)
        curvatures[:, above[0], above[1]] = curvatures[:, above[1], above[0]] = values[:, 1 + LEADERS :]
        return (
            values[:, 0].reshape(shape), values[:, 1 : 1 + n].reshape(*shape, n), curvatures[:, :n, :n].reshape(*shape, n, n),
        )  # fmt: skip


_ARRAYS = ("coefficients", "powers", "frequencies", "phases", "offsets")


def product_data(functions: Sequence[SumOfProducts | None]) -> ProductData:
    """Flat data of functions in their order, with memory; None has no terms."""
    rows = [np.zeros((0, ENTRIES)) if one is None else one.rows for one in functions]
    offset = np.zeros((len(functions), LEADERS))
    for k, one in enumerate(functions):
        if one is not None:
            offset[k, : one.leaders] = np.asarray(one.offsets)
    start = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    term = np.concatenate([*rows, np.zeros((0, ENTRIES))])
    return ProductData(start, term, offset, np.zeros(LEADERS + ENTRIES), np.zeros(VALUES))
