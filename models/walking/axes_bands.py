"""How the uncertainty of both axes of the ankle spreads to a walk: intervals of its curves and values, and what causes them.

First order: with unknowns x = mean + L z, z independent with unit variance, a value f(x) changes by D_k = (f(mean + L_k) -
f(mean - L_k)) / 2 where the k-th of z changes by one.  Its variance is the sum of D_k^2, and its covariance with an unknown is
the sum of D_k times the row of L.  L is the Cholesky factor of the covariance.  Every f is a whole analysis with other axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm

from models.walking.analysis import analyse
from models.walking.axes_posterior import DRAWS, TAILS, AxesPosterior
from models.walking.capture import Capture
from models.walking.cycle_curves import curves_of, knee_and_hip_peaks_of, peaks_of
from models.walking.gait_result import Gait
from models.walking.subject import Frozen
from models.walking.two_hinges import SHARED, UNKNOWNS, rule_of
from runtime import ModelError
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats

CHECKS = 6  # draws that are analysed to check the first order
ENOUGH = 40  # draws from which on their own ends count where first order misses too much
MAX_MISSED = 0.75  # of draws by first order, root mean square, in standard deviations: they spread 1.25 times as much
SMALL = 0.01  # of the largest value: to miss less does not matter
FIRST_ORDER = (
    "intervals of 95 % by the uncertainty of the axes alone, to first order, of a curve at each point by itself"
)


@checked_class
@dataclass(frozen=True, eq=False)
class AxesBands(Frozen):
    """Curves and values of a walk with what the uncertainty of both axes makes of them.

    Attributes
    ----------
    gait : Gait
        The analysis with the mean axes.
    values : mapping of str to (...)
        Its curves, (101,) over the gait cycle, and its single values, by name.
    changes : mapping of str to (8, ...)
        Of each value, for a standard deviation of each of eight independent directions of the unknowns; of values in ``drawn``
        those of the straight line through the draws.
    directions : (8, 8)
        Changes of the unknowns, in the order of ``UNKNOWNS``, in their standard deviations; a column for each direction.
    missed : mapping of str to float
        Root mean square of what first order misses in analyses of draws, in standard deviations of the value.
    drawn : mapping of str to (n, ...)
        In the draws, where first order misses too much and there are forty draws or more: these make the interval.
    rest : mapping of str to (...)
        Their variance about the straight line.
    by_prior : bool
        Whether the axes are those of the rules, with the deviations of the prior.
    notes : tuple of str
        Which uncertainty it is, and of which values first order misses much.
    """

    gait: Gait
    values: Mapping[str, Any]
    changes: Mapping[str, Floats]
    directions: Floats
    missed: Mapping[str, float]
    drawn: Mapping[str, Floats]
    rest: Mapping[str, Floats]
    by_prior: bool
    notes: tuple[str, ...]

    def sd(self, name: str) -> Floats:
        """Standard deviation (...) of a value, or of a curve at each point."""
        return np.asarray(np.sqrt((self.changes[name] ** 2).sum(axis=0) + self.rest.get(name, 0.0)))

    def interval(self, name: str) -> Floats:
        """Ends (2, ...) of the 95 % interval of a value, or of a curve at each point by itself (pointwise)."""
        if name in self.drawn:
            return np.asarray(np.percentile(self.drawn[name], TAILS, axis=0))
        ends = norm.ppf(np.array(TAILS) / 100.0)
        return np.asarray(self.values[name] + np.multiply.outer(ends, self.sd(name)))

    def shares(self, name: str) -> dict[str, float]:
        """By unknown, the part of the variance that would vanish if this unknown were known, 0 to 1.

        It is the squared correlation of value and unknown.  Of a curve, variances are summed over the cycle.  Where the unknowns
        are correlated, the parts do not add up to 1, as knowing one tells of others.  NaN where the value has no variance.
        """
        changes = self.changes[name].reshape(SHARED, -1)
        with np.errstate(invalid="ignore"):
            parts = ((self.directions @ changes) ** 2).sum(axis=1) / (self.sd(name) ** 2).sum()
        return dict(zip(UNKNOWNS, parts.tolist(), strict=True))


@checked
def values_of(gait: Gait) -> dict[str, Any]:
    """The curves over the gait cycle of a walk, and the values that the literature quotes of them."""
    above = {} if gait.upper_leg is None else knee_and_hip_peaks_of(gait)
    return {**curves_of(gait), **peaks_of(gait), **above}


@checked
def axes_bands(
    static: Capture,
    trial: Capture,
    *,
    of: Callable[[Gait], Mapping[str, Any]] = values_of,
    draws: int = CHECKS,
    **options: Any,
) -> AxesBands:
    """Analyse a walk with axes of the ankle all over their posterior: bands of its curves, intervals of its values.

    First order by central differences: sixteen analyses with axes a standard deviation away, and those of some draws, which
    check it.  Where the axes conflict with their prior, so that the rules' axes are used, these have the deviations of the prior.

    Parameters
    ----------
    static, trial, **options
        Of ``analyse``; the default of ``axes`` is "posterior".
    of : callable(Gait)
        Returns curves and values by name.  Default: those of the report, ``values_of``.
    draws : int
        Draws of the axes that are analysed too.  They check the first order; forty or more replace it where it misses too much,
        as in activations of muscles, which have bounds.

    Returns
    -------
    AxesBands

    Raises
    ------
    ModelError
        As ``analyse``; where no posterior of the axes is found.
    """
    if not 1 <= draws <= DRAWS:
        raise ModelError(f"draws = {draws}; give 1 to {DRAWS}")
    gait = analyse(static, trial, **{"axes": "posterior", **options})
    found = gait.functional_axes
    if not isinstance(found, AxesPosterior):
        raise ModelError(
            f"{gait.name}: bands need a posterior of the axes; leave out axes= and functional axes by rule"
        )
    known: Any = found.prior if found.conflicts else found
    mean: Floats = rule_of(gait.subject) if found.conflicts else found.mean
    L = np.linalg.cholesky(known.correlation)

    def analysed(z: Floats) -> Mapping[str, Any]:
        """The values with axes that lie off the mean in the independent directions, which no prior conflicts with."""
        there = mean + known.sd * (L @ z)
        moved = replace(found, mean=there, prior=replace(found.prior, mean=there))
        return of(analyse(static, trial, **{**options, "side": gait.side, "functional": moved}))

    values = of(gait)
    ends = [(analysed(step), analysed(-step)) for step in np.eye(SHARED)]
    changes = {name: np.array([np.subtract(a[name], b[name]) / 2.0 for a, b in ends]) for name in values}
    z = _independent(found, L, draws)
    seen = [analysed(at) for at in z]
    missed, rough = _missed(values, changes, z, seen)
    source = f"the rules' axes have the deviations of the prior, with which their posterior conflicts; {FIRST_ORDER}"
    notes = [f"{gait.name}: {source if found.conflicts else FIRST_ORDER}"]
    drawn = {name: np.array([one[name] for one in seen], float) for name in rough if draws >= ENOUGH}
    rest, line = dict[str, Floats](), np.column_stack([z, np.ones(draws)])
    for name, of_draws in drawn.items():
        flat = of_draws.reshape(draws, -1)
        slopes: Any = np.linalg.lstsq(line, flat)[0]
        changes[name] = slopes[:SHARED].reshape(SHARED, *of_draws.shape[1:])
        rest[name] = (((flat - line @ slopes) ** 2).sum(axis=0) / (draws - SHARED - 1)).reshape(of_draws.shape[1:])
    if rough:
        name = max(rough, key=missed.__getitem__)
        quality = "are those of the draws" if drawn else "are rough"
        notes.append(
            f"{gait.name}: in {draws} draws first order misses more than {MAX_MISSED:g} standard deviations in {len(rough)} of "
            f"{len(missed)} curves and values, whose intervals {quality}; most in {name.replace('_', ' ')}: {missed[name]:.1f}"
        )
    return AxesBands(gait, values, changes, L, missed, drawn, rest, bool(found.conflicts), tuple(notes))


def _independent(found: AxesPosterior, L: Floats, count: int) -> Floats:
    """Draws (n, 8) of the posterior in the independent directions; where the rules' axes are used, of the prior."""
    if found.conflicts:
        return np.random.default_rng(0).standard_normal((count, SHARED))
    draws = found.draws[:: max(len(found.draws) // count, 1)][:count]
    return np.asarray(np.linalg.solve(L, ((draws - found.mean) / found.sd).T).T)


def _missed(
    values: Mapping[str, Any], changes: Mapping[str, Floats], z: Floats, drawn: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, float], list[str]]:
    """What first order misses in draws z (n, 8), by value, in standard deviations, and where it matters.

    Values that do not change are left out.
    """
    missed, rough = dict[str, float](), []
    for name, change in changes.items():
        away = [one[name] - values[name] - np.tensordot(at, change, 1) for at, one in zip(z, drawn, strict=True)]
        off, spread = (float(np.sqrt(np.mean(x))) for x in (np.square(away), (change**2).sum(axis=0)))
        if off > 0.0 or spread > 0.0:
            missed[name] = off / spread if spread > 0.0 else np.inf
        if off > max(MAX_MISSED * spread, SMALL * float(np.abs(values[name]).max())):
            rough.append(name)
    return missed, rough
