"""Axes of many subjects: shrinkage and coverage of populations that are drawn, and the closed form of one with known spread."""

from dataclasses import replace

import numpy as np
import pytest

from models.walking import AxesPosterior, AxesPrior, axes_of_many, synthetic
from models.walking.axes_of_many import PUBLISHED
from models.walking.axes_posterior import population_prior
from models.walking.two_hinges import SHARED
from tests.support.refusals import assert_refused

PRIOR = population_prior(synthetic.subject())


def posterior(seen, sd, prior=PRIOR):
    """Of a subject whose markers say ``seen`` with deviations ``sd``, in those of the prior."""
    variance = 1.0 / (1.0 + sd**-2.0)
    mean = prior.mean + prior.sd * variance * seen / sd**2
    wide = prior.sd * np.sqrt(variance)
    interval = mean[:, None] + wide[:, None] * np.array([-1.96, 1.96])
    return AxesPosterior(
        prior, mean, wide, interval, np.eye(SHARED), np.zeros((400, SHARED)), False, 400.0, 1e-3,
        {"leg": 1e-3, "foot": 1e-3}, 1e-3, 40,
    )  # fmt: skip


def drawn(rng, count, mean, spread, sd):
    """True unknowns of a population, in deviations of the prior, and the posterior of each subject alone."""
    true = mean + spread * rng.normal(size=(count, SHARED))
    return true, [posterior(one + sd * rng.normal(size=SHARED), sd) for one in true]


def test_a_group_that_differs_is_found_and_its_subjects_shrink_to_it():
    """Populations of nine about another mean, more alike than the published: intervals hold the truth, errors are smaller."""
    rng, held, errors, sd = np.random.default_rng(1), [], [], np.linspace(0.4, 1.5, SHARED)
    for _ in range(40):
        true, alone = drawn(rng, 9, rng.normal(size=SHARED), 0.5, sd)
        together = axes_of_many(alone).subjects
        values = [(np.array([one.mean for one in of]) - PRIOR.mean) / PRIOR.sd for of in (alone, together)]
        ends = np.moveaxis(np.array([one.interval for one in together]), 2, 0)
        low, high = (ends - PRIOR.mean) / PRIOR.sd
        held.append((low < true) & (true < high))
        errors.append([((of - true) ** 2).mean() for of in values])
    assert 0.90 < np.mean(held) < 0.98
    alone, together = np.mean(errors, axis=0)
    assert together < 0.75 * alone


def test_many_subjects_show_mean_and_spread_of_their_population():
    rng = np.random.default_rng(2)
    mean = np.linspace(-1.0, 1.0, SHARED)
    found = axes_of_many(drawn(rng, 150, mean, 0.7, np.full(SHARED, 0.5))[1])
    assert (np.abs(found.mean - mean) < 4.0 * found.mean_sd).all() and found.mean_sd.max() < 0.12
    assert found.sd == pytest.approx(0.7, abs=0.15)


def test_markers_that_say_nothing_leave_the_published_population():
    found = axes_of_many([posterior(np.zeros(SHARED), np.full(SHARED, 1e4))] * 3)
    assert found.mean == pytest.approx(0.0, abs=1e-6) and found.mean_sd == pytest.approx(1.0, abs=1e-3)
    assert found.sd == pytest.approx(1.0, abs=0.01)
    # A member of a group of unknown mean: both variances add.
    assert found.subjects[0].ratio == pytest.approx(np.sqrt(2.0), abs=0.01)


def test_what_the_approximations_leave_does_not_move_the_group():
    """Posteriors a little wider than the prior, off its mean: they say nothing, and do not drive the group away."""
    wide = [replace(posterior(np.zeros(SHARED), np.full(SHARED, 1e4)), sd=1.02 * PRIOR.sd) for _ in range(9)]
    found = axes_of_many([replace(one, mean=PRIOR.mean + 0.8 * PRIOR.sd) for one in wide])
    assert found.mean == pytest.approx(0.0, abs=1e-6) and found.sd == pytest.approx(1.0, abs=0.01)
    assert np.isfinite(found.subjects[0].sd).all()


def test_exact_markers_give_the_closed_form():
    """With unknowns that are known: the mean of a normal sample with a normal prior, and its variance with the published one."""
    values = np.array([-0.6, 0.1, 0.8])
    found = axes_of_many([posterior(np.full(SHARED, one), np.full(SHARED, 1e-4)) for one in values])
    variance = found.sd[0] ** 2
    assert found.mean == pytest.approx(values.sum() / (3.0 + variance), abs=1e-4)
    squares = ((values - found.mean[0]) ** 2).sum() + 3.0 * found.mean_sd[0] ** 2
    assert variance == pytest.approx((PUBLISHED + squares) / (PUBLISHED + 3.0), rel=1e-3)
    assert [one.mean[0] for one in found.subjects] == pytest.approx(PRIOR.mean[0] + PRIOR.sd[0] * values, abs=1e-4)


def test_the_size_of_a_foot_does_not_count():
    small = AxesPrior(0.8 * PRIOR.mean, 0.8 * PRIOR.sd, PRIOR.correlation)
    seen, sd = np.linspace(-1.0, 1.0, SHARED), np.full(SHARED, 0.5)
    one, other = axes_of_many([posterior(seen, sd), posterior(seen, sd, small)]).subjects
    assert other.mean == pytest.approx(0.8 * one.mean) and other.ratio == pytest.approx(one.ratio)


def test_one_subject_is_refused():
    assert_refused("axes of 1 subjects; give two or more", axes_of_many, [posterior(np.zeros(SHARED), np.ones(SHARED))])
