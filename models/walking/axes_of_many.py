"""The axes of many subjects together: a population that is estimated from them, and each subject with what the others lend.

The unknowns z of a subject, in standard deviations of its prior from the mean of its prior, which scale with the foot, are normal
about the mean of the population with independent deviations.  The likelihood of z by its markers is normal, by the posterior of
the subject alone without its prior (Laplace's approximation).  The mean of the population has the published prior: a group may
differ from the published samples as one person does.  The variances of the population are their most probable ones
(expectation and maximisation; empirical Bayes); the published ones count as ``PUBLISHED`` more subjects, our choice.  After
Haddou, Rivest and Pierrynowski (2010), see ``axes_posterior``, who fit a population at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import norm

from models.walking.axes_posterior import TAILS, AxesPosterior
from models.walking.subject import Frozen
from models.walking.two_hinges import SHARED
from runtime import ModelError
from runtime.support import checked, checked_class
from runtime.support.arrays import Floats

PUBLISHED = 4.0  # subjects as which the published variances count
LEAST = 0.1  # precision by the markers over that of the prior, below which it is that of the approximations: deviations of 0.95
ITERATIONS, ACCURATE = 500, 1e-5  # and relative change of a variance in the last one


@checked_class
@dataclass(frozen=True, eq=False)
class AxesOfMany(Frozen):
    """Axes of subjects, and the population that they come from.

    Attributes
    ----------
    subjects : tuple of AxesPosterior
        In the order in which they were given; ``prior`` is still the published one.
    mean, mean_sd : (8,)
        Of the population and how well it is known, in standard deviations of the published prior from its mean.
    sd : (8,)
        Between subjects, over those of the published prior.
    """

    subjects: tuple[AxesPosterior, ...]
    mean: Floats
    mean_sd: Floats
    sd: Floats


@checked
def axes_of_many(subjects: Sequence[AxesPosterior]) -> AxesOfMany:
    """Find the axes of several subjects together, so that each lends the others what they share.

    Parameters
    ----------
    subjects : sequence of AxesPosterior
        Of ``axes_posterior``, two or more, one for each person, with the default prior of its foot.

    Returns
    -------
    AxesOfMany

    Raises
    ------
    ModelError
        Where there are less than two.
    """
    if len(subjects) < 2:
        raise ModelError(f"axes of {len(subjects)} subjects; give two or more, such as [axes_posterior(...), ...]")
    seen, pulls = zip(*map(_said_by_markers, subjects), strict=True)
    count, eye = len(subjects), np.eye(SHARED)
    variance = np.ones(SHARED)
    mean, covariance = np.zeros(0), np.zeros((0, 0))
    from_mean = np.kron(np.eye(count, count + 1, 1), eye) - np.kron(np.eye(1, count + 1), np.tile(eye, (count, 1)))
    for _ in range(ITERATIONS):
        between = np.tile(1.0 / variance, count)
        precision = block_diag(eye, *seen) + (from_mean.T * between) @ from_mean
        covariance = np.linalg.inv(precision)
        mean = covariance @ np.concatenate([np.zeros(SHARED), *pulls])
        squares = (from_mean @ mean) ** 2 + np.einsum("ka,ab,kb->k", from_mean, covariance, from_mean, optimize=True)
        last, variance = variance, (PUBLISHED + squares.reshape(count, SHARED).sum(axis=0)) / (PUBLISHED + count)
        if np.abs(variance / last - 1.0).max() < ACCURATE:
            break
    blocks = [slice(SHARED * k, SHARED * (k + 1)) for k in range(count + 1)]
    of_mean, *own = [(mean[one], covariance[one, one]) for one in blocks]
    return AxesOfMany(
        subjects=tuple(_with(one, *of, count) for one, of in zip(subjects, own, strict=True)),
        mean=of_mean[0], mean_sd=np.sqrt(np.diag(of_mean[1])), sd=np.sqrt(variance),
    )  # fmt: skip


def _said_by_markers(one: AxesPosterior) -> tuple[Floats, Floats]:
    """Precision (8, 8) and precision times mean (8,) of z by the markers alone, in the directions in which they say enough."""
    ratio = one.ratio
    alone = np.linalg.inv(one.correlation * np.outer(ratio, ratio))
    values, V = np.linalg.eigh(alone - np.linalg.inv(one.prior.correlation))
    V, values = V[:, values > LEAST], values[values > LEAST]
    return (V * values) @ V.T, V @ (V.T @ alone @ ((one.mean - one.prior.mean) / one.prior.sd))


def _with(one: AxesPosterior, z: Floats, covariance: Floats, count: int) -> AxesPosterior:
    """The posterior of a subject with what the others lend it."""
    unit = one.prior.sd
    mean, deviations = one.prior.mean + unit * z, np.sqrt(np.diag(covariance))
    sd = unit * deviations
    draws = np.random.default_rng(0).multivariate_normal(mean, covariance * np.outer(unit, unit), len(one.draws))
    return replace(
        one, mean=mean, sd=sd, interval=mean[:, None] + sd[:, None] * norm.ppf(np.array(TAILS) / 100.0), draws=draws,
        correlation=covariance / np.outer(deviations, deviations), sampled=False,
        notes=(*one.notes, f"the axes were found together with those of {count - 1} other subjects"),
    )  # fmt: skip
