"""Sobol indices of first and total order with bounds of confidence, from samples A, B and A with one column of B.

Saltelli et al. (2010), Table 2, estimators (b) and (f), as ``scipy.stats.sobol_indices`` has them.  That function takes
powers of 2 alone, so that no row with a failed case can be left out, and its bootstrap has no seed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.support.arrays import Floats

if TYPE_CHECKING:
    import pandas
    import xarray

CONSTANT = 1e-12  # deviation, relative to the mean, up to which an output does not vary
MEMORY = 32e6  # [bytes] of the weights of resamples that are computed together


@dataclass(frozen=True)
class Indices:
    """Sobol indices of outputs.

    ``outputs``, ``parameters``: names; ``first``, ``total`` (outputs, parameters): part of the variance of an output that a
    parameter causes alone, and with its interactions; ``first_bounds``, ``total_bounds`` (2, outputs, parameters): percentiles
    of the bootstrap at the ``level``; ``variance`` (outputs,).  ``used``: rows of the design; ``left_out``: rows with a failed
    case.
    Of an output that does not vary the indices are NaN; resamples in which it does not vary are left out of the bounds.
    """

    outputs: tuple[str, ...]
    parameters: tuple[str, ...]
    first: Floats = field(repr=False)
    total: Floats = field(repr=False)
    first_bounds: Floats = field(repr=False)
    total_bounds: Floats = field(repr=False)
    variance: Floats = field(repr=False)
    level: float
    used: int
    left_out: int

    @property
    def widest(self) -> float:
        """Width of the widest bounds of a total order; 0 where no output varies."""
        width = self.total_bounds[1] - self.total_bounds[0]
        return float(np.nanmax(width, initial=0.0))

    def to_xarray(self) -> xarray.Dataset:
        """A dataset with the dimensions output, parameter and bound."""
        import xarray

        dims = ("output", "parameter")
        data: dict[str, Any] = {"variance": ("output", self.variance)}
        for order, values, bounds in (
            ("first_order", self.first, self.first_bounds),
            ("total_order", self.total, self.total_bounds),
        ):
            data[order] = (dims, values, {"units": "1", "long_name": f"Sobol index, {order.replace('_', ' ')}"})
            data[f"{order}_bounds"] = (("bound", *dims), bounds, {"units": "1"})
        names = {"output": list(self.outputs), "parameter": list(self.parameters), "bound": ["low", "high"]}
        facts = {"level": self.level, "rows_used": self.used, "rows_left_out": self.left_out}
        return xarray.Dataset(data, names, facts)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each output and parameter."""
        import pandas

        rows = pandas.MultiIndex.from_product([self.outputs, self.parameters], names=["output", "parameter"])
        columns = {"first": self.first, "first_low": self.first_bounds[0], "first_high": self.first_bounds[1]}
        columns |= {"total": self.total, "total_low": self.total_bounds[0], "total_high": self.total_bounds[1]}
        return pandas.DataFrame({name: values.ravel() for name, values in columns.items()}, index=rows)


def _percentiles(drawn: Floats, at: list[float]) -> Floats:
    """Percentiles of the resamples; those in which an output does not vary have no index, and are left out."""
    known = np.isfinite(drawn).any(axis=0)
    found: Floats = np.nanpercentile(np.where(known, drawn, 0.0), at, axis=0)
    return np.where(known, found, np.nan)


def indices_and_bounds(
    A: Floats, B: Floats, AB: Floats, level: float, resamples: int, seed: int
) -> tuple[Floats, Floats, Floats]:
    """Indices (2, parameters, outputs), of first and of total order, their bounds (2, 2, parameters, outputs), the variance.

    A, B (n, outputs), AB (parameters, n, outputs) are the values of the outputs.

    All estimators are functions of means over the rows.  A resample is a weight of each row, so that the means of all resamples
    are one product of matrices.
    """
    n = len(A)
    middle = 0.5 * (A.mean(axis=0) + B.mean(axis=0))
    A, B, AB = A - middle, B - middle, AB - middle
    scale = np.sqrt(0.5 * ((A**2).mean(axis=0) + (B**2).mean(axis=0)))
    varies = scale > CONSTANT * np.abs(middle)  # else rounding
    A, B, AB = (np.where(varies, one, 0.0) / np.where(varies, scale, 1.0) for one in (A, B, AB))
    terms = np.stack(
        [0.5 * (A + B), 0.5 * (A**2 + B**2), *(B * (AB - A)), *(0.5 * (A - AB) ** 2)]
    )  # (2 + 2 d, n, outputs)
    flat = np.ascontiguousarray(terms.transpose(1, 0, 2).reshape(n, -1))

    def indices(means: Floats) -> Floats:
        """(..., 2 + 2 d, outputs) -> (..., 2, d, outputs)."""
        variance = means[..., 1, :] - means[..., 0, :] ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(variance[..., None, :] > 0.0, means[..., 2:, :] / variance[..., None, :], np.nan)
        return found.reshape(*means.shape[:-2], 2, len(AB), -1)

    rng, drawn = np.random.default_rng(seed), []
    at_once = max(1, int(MEMORY / (8 * n)))
    for start in range(0, resamples, at_once):
        count = min(at_once, resamples - start)
        weights = rng.multinomial(n, np.full(n, 1.0 / n), size=count) / n
        drawn.append(indices((weights @ flat).reshape(count, *terms.shape[::2])))
    tails = 50.0 * (1.0 - level)
    with np.errstate(invalid="ignore"):
        bounds = _percentiles(np.concatenate(drawn), [tails, 100.0 - tails])
    means = terms.mean(axis=1)
    return indices(means), bounds.swapaxes(0, 1), (means[1] - means[0] ** 2) * scale**2
