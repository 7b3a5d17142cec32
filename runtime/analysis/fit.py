"""Parameters and initial states with which a model comes nearest to measured motion, and what the data do not tell of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from scipy.optimize import least_squares

from runtime.analysis.sensitivities import Question, Sensitivities, question_of, solve
from runtime.integrate.settings import ATOL, RTOL
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.state import PARTS
from runtime.system.system import System

TIMEOUT, MIN_PATIENCE = 100, 1000  # times the steps of a fit's first run: what takes more is no candidate
# A number that changes all data by less than this, as a fraction, when it changes by its own size does nothing to them; numbers
# whose effects on the data cancel to this fraction cannot be told apart.  The derivatives are good to about 1e-9 or, with wide
# tolerances, to some of them.
NOTHING, ALIKE, TOLERANCES = 1e-9, 1e-7, 10.0
# To the start, as a fraction of what the data do: it holds what they do not determine, and moves nothing else.
TIE = 1e-8
TAKES_PART = 1e-3  # a number whose part in what is not determined is less than this owes it to rounding


@dataclass(frozen=True)
class ParameterFit:
    """Parameters with which a model comes nearest to data.

    ``values``: by name.  ``deviation``: standard deviation of each by the residuals' own scatter, as linearised at the end; inf
    for numbers that the data do not determine.  ``undetermined``: along what the data stay the same, as "+1 a -1 c" where they
    tell the sum of both, or the name of a number that does nothing; of such numbers ``values`` are those nearest to the start.
    ``residual``: root mean square of all weighted residuals.  ``success``, ``message``: of the search.
    """

    values: Mapping[str, Any]
    deviation: Mapping[str, Any]
    undetermined: tuple[str, ...]
    residual: float
    evaluations: int
    success: bool
    message: str
    sensitivities: Sensitivities = field(repr=False)


def fit_parameters(
    build: System | Callable[..., System],
    given: Mapping[str, Any],
    t: ArrayLike,
    data: Mapping[str, ArrayLike],
    *,
    wrt: tuple[str, ...] | list[str] | None = None,
    sigma: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
) -> ParameterFit:
    """Parameters and initial state with which a model comes nearest to measured motion, by least squares.

    Parameters
    ----------
    build, given, wrt
        As of ``sensitivities``; the search starts from ``given``.
    t : (m,) [s]
        Times of the data, increasing.
    data : mapping
        Part of the state, such as "r.main_foot" -> (m, 3) measured values, NaN where there is none.
    sigma : mapping, optional
        Standard deviation of each; default 1 in its unit.
    bounds : mapping, optional
        Name -> least and greatest value.

    Returns
    -------
    ParameterFit
        What the data do not determine has an infinite deviation and is named in ``undetermined``.  Parts of the initial state
        are moved onto the constraints: of three numbers of an angular velocity, a hinge lets the data determine one.

    Raises
    ------
    ModelError
        For arguments that break a rule, and a start from which there is no run.
    """
    question = question_of(build, given, wrt)
    times = _times(t)
    start = question.numbers
    low, high = _bounds(question, bounds)
    measured = _measured(data)
    sigma = _sigma(sigma)
    last: dict[bytes, Sensitivities] = {}
    most: int | None = None

    def solved(numbers: Floats) -> Sensitivities:
        key = numbers.tobytes()
        if key not in last:
            last.clear()
            last[key] = solve(question, numbers, float(times[-1]), times, rtol, atol, 5.0, 5.0, most)
        return last[key]

    def rows(values: Callable[[str, str], Floats]) -> Floats:
        """Values of a part and a body where there are data, weighted."""
        return np.concatenate(
            [values(*name.split(".", 1))[np.isfinite(known)] / sigma.get(name, 1.0) for name, known in measured.items()]
        )

    def predicted(numbers: Floats) -> Floats:
        found = solved(numbers)
        return rows(lambda part, body: found.state[part][body])

    _check_data(solved(start), measured, sigma, len(times))
    for name in measured:
        if name.startswith("p."):  # Euler parameters and their negatives are the same orientation
            nearest = solved(start).state["p"][name.partition(".")[2]]
            measured[name] = (
                measured[name] * np.where(np.nansum(measured[name] * nearest, axis=1) < 0.0, -1.0, 1.0)[:, None]
            )
    most = max(TIMEOUT * solved(start).steps, MIN_PATIENCE)
    if not (inside := (low <= start) & (start <= high) & (low < high)).all():
        at = int(np.argmin(inside))
        raise ModelError(f"bounds: {question.names[at]} = {start[at]:g} is not between {low[at]:g} and {high[at]:g}")
    target, size = rows(lambda part, body: measured[f"{part}.{body}"]), float(np.linalg.norm(predicted(start)))
    alike = max(ALIKE, TOLERANCES * rtol, TOLERANCES * atol)

    def effects(numbers: Floats) -> _Effects:
        found = solved(numbers)
        jacobian = rows(lambda part, body: getattr(found, part)[body])
        return _effects_of(jacobian, question.sizes(numbers), size, alike)

    tie = TIE * np.diag(effects(start).scale)

    def residuals(numbers: Floats) -> Floats:
        try:
            return np.concatenate([predicted(numbers) - target, tie @ (numbers - start)])
        except ModelError:
            return np.full(len(target) + len(start), np.nan)  # no such system or run: the search takes a shorter step

    found = least_squares(
        residuals, start, jac=lambda x: np.vstack([effects(x).jacobian, tie]), bounds=(low, high), x_scale="jac", xtol=1e-12,
        ftol=1e-14, gtol=1e-14,
    )  # fmt: skip
    squares = float(np.sum((predicted(found.x) - target) ** 2))
    deviation, undetermined = _determined(question, found.x, effects(found.x), squares)
    message = str(found.message)
    if undetermined:
        message += f" The data do not determine {'; '.join(undetermined)}: leave numbers out of wrt, or measure more."
    values = question.at(found.x)
    return ParameterFit(
        MappingProxyType({name: values[name] for name in question.wrt}), MappingProxyType(question.split(deviation)),
        undetermined, float(np.sqrt(squares / len(target))), int(found.nfev), bool(found.success), message,
        solved(found.x),
    )  # fmt: skip


class _Effects(NamedTuple):
    """What numbers do to the data.

    The columns of the Jacobian were made unit vectors, so that units do not matter, and 0 where a number does nothing.
    Directions whose singular values are those of the Jacobian's own errors are taken to do nothing.
    """

    scale: Floats  # (K,) lengths of the columns; 1 where a number does nothing
    values: Floats  # (rank,) singular values
    directions: Floats  # (rank, K) of those
    free: Floats  # (K, K - rank) directions that do nothing
    jacobian: Floats  # (rows, K) without those


def _effects_of(jacobian: Floats, sizes: Floats, size: float, alike: float) -> _Effects:
    """``sizes`` of the numbers, ``size`` of the data."""
    scale = np.linalg.norm(jacobian, axis=0)
    nothing = scale * sizes <= NOTHING * size
    scale = np.where(nothing, 1.0, scale)
    scaled = np.where(nothing, 0.0, jacobian / scale)
    square = np.vstack([scaled, np.zeros((len(scale), len(scale)))])  # as many directions as numbers
    _, values, directions = np.linalg.svd(square, full_matrices=False)
    kept = values > alike
    along = directions[kept]
    return _Effects(scale, values[kept], along, directions[~kept].T, scaled @ along.T @ along * scale)


def _determined(
    question: Question, numbers: Floats, effects: _Effects, squares: float
) -> tuple[Floats, tuple[str, ...]]:
    """Standard deviations of numbers, and along what the data stay the same; ``squares``: sum of those of the residuals."""

    def tangent(rows: Floats) -> Floats:
        """Changes of the numbers without those of the length of Euler parameters, which is known to be 1."""
        rows = rows.copy()
        for place in question.unit_length.values():
            along = numbers[place] / np.linalg.norm(numbers[place])
            rows[:, place] -= np.outer(rows[:, place] @ along, along)
        return rows

    scale, count = effects.scale, len(effects.jacobian)
    spread = squares / max(count - len(effects.values), 1)
    changes = tangent(effects.directions / effects.values[:, None] / scale)
    deviation = np.sqrt(spread * np.sum(changes**2, axis=0))
    free = np.linalg.svd(tangent(effects.free.T / scale) * scale, full_matrices=False)[2]
    free = free[: max(len(free) - len(question.unit_length), 0)]
    if not len(free):
        return deviation, ()
    deviation[np.linalg.norm(free, axis=0) > TAKES_PART] = np.inf
    pivots = qr(free, mode="r", pivoting=True)[1][: len(free)]
    named = []
    for pivot, direction in sorted(
        zip(pivots, np.linalg.inv(free[:, pivots]) @ free, strict=True), key=lambda pair: pair[0]
    ):
        parts = np.flatnonzero(np.abs(direction) > TAKES_PART)
        own = direction / scale
        first = parts[np.abs(direction[parts]) > 0.5 * np.abs(direction).max()][0]
        text = " ".join(f"{own[k] / own[first]:+.3g} {question.names[k]}" for k in parts)
        named.append(text if len(parts) > 1 else question.names[pivot])
    return deviation, tuple(named)


def _times(t: ArrayLike) -> Floats:
    """Times of data, checked."""
    try:
        times = np.atleast_1d(np.asarray(t, float))
    except (TypeError, ValueError):
        raise ModelError(f"t = {t!r} is no list of times [s]") from None
    if times.ndim != 1 or not len(times):
        raise ModelError(f"t has the shape {times.shape}; give a list of times [s], one for each row of the data")
    if not np.isfinite(times).all():
        raise ModelError(f"t: time {int(np.argmin(np.isfinite(times)))} is not finite; give finite times [s]")
    if (np.diff(times) <= 0.0).any():
        at = int(np.argmax(np.diff(times) <= 0.0)) + 1
        raise ModelError(f"t must increase from each time to the next; {times[at]:g} s follows {times[at - 1]:g} s")
    return times


def _bounds(question: Question, bounds: Any) -> tuple[Floats, Floats]:
    """Least and greatest values of all numbers."""
    low, high = np.full(len(question.numbers), -np.inf), np.full(len(question.numbers), np.inf)
    if bounds is not None and not isinstance(bounds, Mapping):
        raise ModelError(f"bounds = {bounds!r}; give a mapping from names to pairs of the least and the greatest value")
    for name, pair in (bounds or {}).items():
        if name not in question.wrt:
            raise ModelError(f"bounds: '{name}' is not looked for; known are {', '.join(question.wrt)}")
        try:
            least, greatest = pair
            low[question.places[name]], high[question.places[name]] = np.ravel(least), np.ravel(greatest)
        except (TypeError, ValueError):
            raise ModelError(
                f"bounds: '{name}' = {pair!r}; give the least and the greatest value, (0.0, 1.0)"
            ) from None
    return low, high


def _measured(data: Any) -> dict[str, Floats]:
    """Measured values by name."""
    if not isinstance(data, Mapping) or not data:
        raise ModelError("data: give measured parts of the state, such as {'r.main_foot': (m, 3)}")
    found = {}
    for name, values in data.items():
        try:
            found[name] = np.asarray(values, float)
        except (TypeError, ValueError):
            raise ModelError(
                f"data: '{name}' holds what is no number; give numbers, and NaN where there is none"
            ) from None
        if np.isinf(found[name]).any():
            at = int(np.argwhere(np.isinf(found[name]))[0][0])
            raise ModelError(
                f"data: '{name}' is infinite in row {at}; give finite numbers, and NaN where there is none"
            )
    return found


def _sigma(sigma: Any) -> dict[str, float]:
    """Standard deviations by name."""
    if sigma is not None and not isinstance(sigma, Mapping):
        raise ModelError(f"sigma = {sigma!r}; give a mapping from names of data to standard deviations")
    found = {}
    for name, value in (sigma or {}).items():
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            raise ModelError(f"sigma: '{name}' = {value!r}; give one number above 0") from None
    return found


def _check_data(found: Sensitivities, data: Mapping[str, Floats], sigma: Mapping[str, float], times: int) -> None:
    for name, values in data.items():
        part, _, body = name.partition(".")
        if part not in PARTS or body not in found.system.body_names:
            known = ", ".join(found.system.body_names)
            raise ModelError(f"data: '{name}' is no part of the state; use r, p, v or omega of {known}")
        expected = (times, PARTS[part].stop - PARTS[part].start)
        if values.shape != expected:
            raise ModelError(f"data: '{name}' has the shape {values.shape}; give {expected}, a row for each time")
        if not np.isfinite(values).any():
            raise ModelError(f"data: '{name}' holds no number")
        if not (np.isfinite(sigma.get(name, 1.0)) and sigma.get(name, 1.0) > 0.0):
            raise ModelError(f"sigma: '{name}' = {sigma[name]!r} must be above 0")
    if unknown := set(sigma) - set(data):
        raise ModelError(f"sigma: there are no data '{sorted(unknown)[0]}'")
