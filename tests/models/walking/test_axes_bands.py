"""Bands of a walk by the uncertainty of the axes: a known truth, draws, closed forms of linear values, both feet."""

from dataclasses import replace
from functools import cache
from importlib import import_module

import numpy as np
import pytest

from models.walking import AxesPrior, Filters, analyse, axes_bands, axes_posterior, synthetic
from models.walking.cycle_curves import curves_of
from models.walking.gait_result import PERCENT
from models.walking.leg_foot import JOINTS
from models.walking.two_hinges import SHARED, UNKNOWNS, rule_of
from tests.support.refusals import assert_refused
from tests.support.walker import other_laboratory

SLOPES = np.array([3.0, -1.0, 20.0, 10.0, 0.5, 2.0, -15.0, 30.0])  # of a linear value by the unknowns
OPTIONS = dict(markers=synthetic.MARKERS, filters=Filters.off())


@cache
def walk():
    """The walk without noise, with the axes that the same walk with noise of 2 mm shows."""
    clean, rng = synthetic.trial(25.0), np.random.default_rng(4)
    noisy = {label: p + rng.normal(0.0, 2e-3, p.shape) for label, p in clean.markers.items()}
    posterior = axes_posterior(synthetic.subject(), [replace(clean, markers=noisy)])
    return analyse(synthetic.static(), clean, functional=posterior, **OPTIONS)


@cache
def bands():
    return axes_bands(synthetic.static(), synthetic.trial(25.0), functional=walk().functional_axes, **OPTIONS)


def linear(gait):
    """A value that is linear in the unknowns, and a curve of two points, one of which does not depend on them."""
    value = float(SLOPES @ gait.functional_axes.mean)
    return {"value": value, "curve": np.array([value, 1.0]), "same": 2.0}


@pytest.fixture
def banded(monkeypatch):
    """Bands of values of a posterior, without the analyses of walks: each has the axes that are asked for."""

    def analysed(static, trial, **options):
        return replace(walk(), functional_axes=options["functional"])

    monkeypatch.setattr(import_module("models.walking.axes_bands"), "analyse", analysed)
    walked = synthetic.static(), synthetic.trial(25.0)
    return lambda found, of=linear, draws=6: axes_bands(*walked, functional=found, of=of, draws=draws)


@pytest.mark.slow
def test_bands_hold_the_known_walk():
    """Without noise in what is analysed, all error is that of the axes."""
    found, cycle = bands(), synthetic.STRIKE + PERCENT / 100.0 * synthetic.CYCLE
    truth, inside = synthetic.exact(cycle), []
    for joint in JOINTS[:2]:
        for quantity in ("angle", "moment", "power"):
            name, scale = f"{joint}_{quantity}", np.degrees(1.0) if quantity == "angle" else 1.0 / synthetic.MASS
            true = scale * truth[joint, quantity]
            slack = 2e-3 * np.ptp(true)  # of a trial at 25 Hz
            low, high = found.interval(name)
            inside.append(((low - slack < true) & (true < high + slack)).mean())
            assert np.ptp(true) > found.sd(name).max() > 5.0 * slack
    assert np.mean(inside) > 0.9
    assert found.sd("vertical_force").max() == 0.0 and "vertical_force" not in found.missed


@pytest.mark.slow
def test_first_order_agrees_with_draws():
    """Draws of the posterior become axes of a subject, which is analysed; the first order predicts the curves of each."""
    found, posterior, subject = bands(), walk().functional_axes, synthetic.subject()
    draws = [posterior.subject(subject, k) for k in range(5, 400, 33)]
    z = np.linalg.solve(found.directions, ((posterior.draws[5::33] - posterior.mean) / posterior.sd).T).T
    drawn = [
        curves_of(analyse(synthetic.static(), synthetic.trial(25.0), subject=one, filters=Filters.off(), side="right"))
        for one in draws
    ]
    for name in (
        "talocrural_angle",
        "talocrural_moment",
        "talocrural_power",
        "talocalcaneal_angle",
        "talocalcaneal_moment",
    ):
        away = np.array([one[name] for one in drawn]) - found.values[name]
        by_order = np.tensordot(z, found.changes[name], 1)
        assert np.std(away) == pytest.approx(np.std(by_order), rel=0.15)
        assert np.corrcoef(away.ravel(), by_order.ravel())[0, 1] > 0.9
        assert found.missed[name] < 0.75


def test_a_linear_value_has_its_variance_in_closed_form(banded):
    """Shares by another route: the variance that is left when an unknown is known, by the precision of the others."""
    posterior = walk().functional_axes
    found = banded(posterior)
    C = posterior.correlation * np.outer(posterior.sd, posterior.sd)
    variance = SLOPES @ C @ SLOPES
    assert found.sd("value") == pytest.approx(np.sqrt(variance))
    assert found.interval("value") == pytest.approx(
        SLOPES @ posterior.mean + 1.959964 * np.sqrt(variance) * np.array([-1, 1])
    )
    assert found.sd("curve") == pytest.approx([np.sqrt(variance), 0.0])
    assert found.missed == pytest.approx({"value": 0.0, "curve": 0.0}, abs=1e-9)
    precision = np.linalg.inv(C)
    for k, name in enumerate(UNKNOWNS):
        others = np.arange(SHARED) != k
        left = SLOPES[others] @ np.linalg.solve(precision[np.ix_(others, others)], SLOPES[others])
        for of in ("value", "curve"):
            assert found.shares(of)[name] == pytest.approx(1.0 - left / variance)
    assert np.isnan(list(found.shares("same").values())).all()


def test_twice_the_spread_of_an_unknown_is_four_times_its_part(banded):
    alone = replace(walk().functional_axes, correlation=np.eye(SHARED))
    one, k = banded(alone), 3
    two = banded(replace(alone, sd=alone.sd * np.where(np.arange(SHARED) == k, 2.0, 1.0)))
    share = one.shares("value")[UNKNOWNS[k]]
    assert two.shares("value")[UNKNOWNS[k]] == pytest.approx(4.0 * share / (1.0 + 3.0 * share))
    assert sum(two.shares("value").values()) == pytest.approx(1.0)


def test_known_axes_have_no_bands(banded):
    posterior = walk().functional_axes
    found = banded(replace(posterior, sd=np.full(SHARED, 1e-300), draws=np.tile(posterior.mean, (400, 1))))
    assert found.sd("value") < 1e-12 and np.ptp(found.interval("value")) < 1e-12 and found.missed == {}


def test_axes_that_conflict_with_their_prior_have_its_deviations(banded):
    posterior = walk().functional_axes
    assert not posterior.conflicts
    far = AxesPrior(posterior.mean + 0.9 * np.eye(SHARED)[4], posterior.prior.sd, np.eye(SHARED))
    found = banded(replace(posterior, prior=far))
    assert found.sd("value") == pytest.approx(np.linalg.norm(SLOPES * far.sd))
    assert "the rules' axes have the deviations of the prior" in found.notes[0]
    assert "deviations of the prior" not in banded(posterior).notes[0]

    def squared(gait):
        return {"squared": float((gait.functional_axes.mean - rule_of(walk().subject))[4] ** 2)}

    curved = banded(replace(posterior, prior=far), squared)
    assert curved.missed["squared"] > 1.0 and "first order misses" in curved.notes[1] and "squared" in curved.notes[1]


def test_draws_replace_first_order_where_it_misses_too_much(banded):
    """Of a value with a bound, such as an activation: many draws never lie beyond it; a linear value keeps first order."""
    posterior = walk().functional_axes

    def bounded(gait):
        z = (gait.functional_axes.mean - posterior.mean)[4] / posterior.sd[4]
        return {"bounded": float(np.maximum(2.0 * z, 0.1)), **linear(gait)}

    few, many = banded(posterior, bounded), banded(posterior, bounded, draws=200)
    assert few.interval("bounded")[0] < 0.0 and not few.drawn and "are rough" in few.notes[1]
    z = ((posterior.draws[::2] - posterior.mean) / posterior.sd)[:, 4]
    of_draws = np.maximum(2.0 * z, 0.1)
    assert many.interval("bounded") == pytest.approx(np.percentile(of_draws, [2.5, 97.5]))
    assert many.sd("bounded") == pytest.approx(of_draws.std(), rel=0.1) and many.drawn.keys() == {"bounded"}
    shares, correlation = many.shares("bounded"), np.corrcoef(z, of_draws)[0, 1]
    assert shares[UNKNOWNS[4]] == max(shares.values()) == pytest.approx(correlation**2, rel=0.3)
    assert "those of the draws" in many.notes[1]
    assert many.interval("value") == pytest.approx(few.interval("value"))


@pytest.mark.slow
def test_a_left_foot_has_the_bands_of_its_mirror_image():
    right, left = (
        axes_bands(*other_laboratory(side, 30.0, 50.0)[:2], filters=Filters.off()) for side in ("right", "left")
    )
    assert left.gait.side == "left" and right.values.keys() == left.values.keys()
    for name in ("talocrural_moment", "talocalcaneal_angle"):
        assert left.sd(name) == pytest.approx(right.sd(name), rel=1e-3, abs=1e-5)
        assert list(left.shares(name).values()) == pytest.approx(list(right.shares(name).values()), abs=1e-3)


def test_bands_need_a_posterior():
    assert_refused(
        "bands need a posterior of the axes",
        axes_bands,
        synthetic.static(),
        synthetic.trial(25.0),
        axes="rule",
        **OPTIONS,
    )
