"""Distributions of the parameters of a study: a few by name, and those of SciPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from runtime.support.arguments import checked, checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import finite_number
from runtime.support.errors import ModelError, said_by, shown

TAIL = 0.025  # of an unbounded distribution, beyond the ends of grids and of changes one at a time


@checked_class
@dataclass(frozen=True)
class Distribution:
    """How a parameter varies in a study.

    Attributes
    ----------
    text : str
        Such as "uniform(0.036, 0.047)".
    ppf : callable
        Values for cumulative probabilities in (0, 1).
    values : tuple, optional
        The values of a parameter that takes listed values, each as likely as the others.
    """

    text: str
    ppf: Any = field(repr=False, compare=False)
    values: tuple[Any, ...] | None = None

    def at(self, probabilities: Floats) -> Any:
        """Values for cumulative probabilities (n,)."""
        if self.values is not None:
            return np.array(self.values)[self._number(probabilities)]
        return np.asarray(self.ppf(np.clip(probabilities, 1e-15, 1.0 - 1e-15)), dtype=float)

    def spread(self, count: int) -> Any:
        """So many values evenly between both ends, or the listed ones; ends of an unbounded one: 2.5 and 97.5 percent."""
        if self.values is not None:
            return np.array(self.values)
        low, high = (float(self.ppf(p)) for p in (0.0, 1.0))
        low = low if np.isfinite(low) else float(self.ppf(TAIL))
        high = high if np.isfinite(high) else float(self.ppf(1.0 - TAIL))
        return np.linspace(low, high, count)

    @property
    def middle(self) -> Any:
        """The median; of listed values the one in the middle of the list."""
        return self.at(np.array([0.5]))[0]

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.values is None or not any(isinstance(value, str) for value in self.values)

    def _number(self, probabilities: Floats) -> Any:
        count = len(self.values or ())
        return np.minimum((np.asarray(probabilities) * count).astype(int), count - 1)


@checked
def uniform(low: float, high: float) -> Distribution:
    """Every value between two bounds is as likely as the others."""
    _check_order("uniform", low, high)
    from scipy.stats import uniform as of_scipy

    return Distribution(f"uniform({low:g}, {high:g})", of_scipy(low, high - low).ppf)


@checked
def log_uniform(low: float, high: float) -> Distribution:
    """The logarithm is uniform between those of two bounds above 0."""
    _check_order("log_uniform", low, high)
    if low <= 0.0:
        raise ModelError(f"log_uniform: low = {low:g}; give bounds above 0")
    from scipy.stats import loguniform

    return Distribution(f"log_uniform({low:g}, {high:g})", loguniform(low, high).ppf)


@checked
def normal(mean: float, sd: float, *, low: float | None = None, high: float | None = None) -> Distribution:
    """Normal distribution with a standard deviation, cut off at bounds if these are given."""
    if not sd > 0.0:
        raise ModelError(f"normal: sd = {sd:g}; give a standard deviation above 0")
    if low is None and high is None:
        from scipy.stats import norm

        return Distribution(f"normal({mean:g}, {sd:g})", norm(mean, sd).ppf)
    bounds = -np.inf if low is None else low, np.inf if high is None else high
    _check_order("normal", *bounds)
    from scipy.stats import truncnorm

    a, b = ((bound - mean) / sd for bound in bounds)
    text = f"normal({mean:g}, {sd:g}, low={bounds[0]:g}, high={bounds[1]:g})"
    return Distribution(text, truncnorm(a, b, mean, sd).ppf)


@checked
def triangular(low: float, mode: float, high: float) -> Distribution:
    """Triangular density with its peak at ``mode``."""
    _check_order("triangular", low, high)
    if not low <= mode <= high:
        raise ModelError(f"triangular: mode = {mode:g}; give one between low = {low:g} and high = {high:g}")
    from scipy.stats import triang

    return Distribution(
        f"triangular({low:g}, {mode:g}, {high:g})", triang((mode - low) / (high - low), low, high - low).ppf
    )


@checked
def values(listed: Sequence[Any]) -> Distribution:
    """Listed numbers or texts, each as likely as the others."""
    found = tuple(value.item() if isinstance(value, np.generic) else value for value in listed)
    texts = [isinstance(value, str) for value in found]
    if len(found) < 2 or len(set(found)) < len(found) or (any(texts) and not all(texts)):
        raise ModelError(f"values: listed = {shown(listed)}; give two or more different numbers, or texts")
    kept = found if all(texts) else tuple(finite_number(value, "values: a value") for value in found)
    return Distribution(f"values({', '.join(map(str, found))})", None, kept)


BY_NAME = {one.__name__: one for one in (uniform, log_uniform, normal, triangular, values)}


def _check_order(what: str, low: float, high: float) -> None:
    if not low < high:
        raise ModelError(f"{what}: high = {high:g} must be above low = {low:g}")


def distribution_of(name: str, given: Any) -> Distribution:
    """The distribution that a user gives for a parameter.

    Raises
    ------
    ModelError
        For anything but a ``Distribution``, a pair (low, high), or a frozen distribution of SciPy with one dimension.
    """
    if isinstance(given, Distribution):
        return given
    if isinstance(given, tuple | list) and len(given) == 2:
        low, high = (finite_number(one, f"parameters: '{name}'") for one in given)
        _check_order(f"parameters: '{name}': uniform", low, high)
        return uniform(low, high)
    ppf = getattr(given, "ppf", None) or getattr(given, "icdf", None)
    if callable(ppf) and not callable(given):  # families of distributions without their arguments are callable
        _check_quantiles(name, given, ppf)
        return Distribution(_text_of(given), ppf)
    raise ModelError(
        f"parameters: '{name}' = {shown(given)}; give a pair (low, high), a distribution of runtime.studies "
        f"({', '.join(BY_NAME)}) or one of scipy.stats with its arguments"
    )


def _check_quantiles(name: str, given: Any, ppf: Any) -> None:
    """Refuse a foreign distribution whose quantiles are not finite and increasing."""
    try:
        low, middle, high = map(float, np.asarray(ppf(np.array([TAIL, 0.5, 1.0 - TAIL]))))
    except Exception as error:  # in foreign code
        raise ModelError(f"parameters: '{name}' = {shown(given)} has no quantiles: {said_by(error)}") from None
    if not -np.inf < low <= middle <= high < np.inf:
        raise ModelError(
            f"parameters: '{name}' = {shown(given)} has the quantiles {low:g}, {middle:g}, {high:g}; check it"
        )


def _text_of(given: Any) -> str:
    """A distribution of SciPy in words."""
    family = getattr(getattr(given, "dist", None), "name", type(given).__name__)
    kept: Mapping[str, Any] = getattr(given, "kwds", {})
    arguments = [f"{value:g}" for value in getattr(given, "args", ())] + [f"{k}={v:g}" for k, v in kept.items()]
    return f"{family}({', '.join(arguments)})"
