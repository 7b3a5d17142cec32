"""Comparison of curves: t against SciPy, thresholds against permutations, and an example of spm1d's authors."""

import itertools
import re
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import stats
from scipy.ndimage import gaussian_filter1d

from models.walking import compare_curves
from models.walking.curve_tests import missing
from tests.support.refusals import assert_refused

pytestmark = pytest.mark.skipif(find_spec("spm1d") is None, reason="needs the extra statistics")


def smooth(count, seed, width=8.0):
    """Smooth random curves with unit variance, (count, 101)."""
    noise = np.random.default_rng(seed).normal(size=(count, 301))
    curves = gaussian_filter1d(noise, width, axis=1)[:, 100:201]
    return curves / np.sqrt(1.0 / (2.0 * width * np.sqrt(np.pi)))


def largest_of_permutations(a, b, paired):
    """Largest |t| along the curve of every relabelling of the subjects."""
    found = []
    if paired:
        for signs in itertools.product((1.0, -1.0), repeat=len(a)):
            d = np.array(signs)[:, None] * (a - b)
            found.append(np.abs(d.mean(axis=0) / d.std(axis=0, ddof=1) * np.sqrt(len(d))).max())
    else:
        every = np.vstack([a, b])
        relabelled = np.array(list(itertools.combinations(range(len(every)), len(a))))
        for chosen in np.array_split(relabelled, len(relabelled) // 500):
            others = np.ones((len(chosen), len(every)), bool)
            np.put_along_axis(others, chosen, False, axis=1)
            others = np.nonzero(others)[1].reshape(len(chosen), -1)
            t = stats.ttest_ind(every[chosen], every[others], axis=1).statistic
            found.extend(np.abs(t).max(axis=1))
    return np.array(found)


@pytest.mark.parametrize("paired", [False, True])
def test_the_threshold_agrees_with_permutations(paired):
    a, b = smooth(10 if paired else 6, 1), smooth(10 if paired else 7, 2)
    found = compare_curves(a, b, paired=paired)
    t = (stats.ttest_rel if paired else stats.ttest_ind)(a, b).statistic
    np.testing.assert_allclose(found.t, t, rtol=1e-9)
    assert found.degrees_of_freedom == (9 if paired else 11) and found.tested == (0.0, 100.0)
    by_permutations = np.quantile(largest_of_permutations(a, b, paired), 0.95)
    assert found.threshold == pytest.approx(by_permutations, rel=0.12)


@pytest.mark.slow
def test_a_difference_is_found_where_it_is():
    a, b = smooth(9, 3), smooth(8, 4)
    bump = 4.0 * np.exp(-0.5 * ((np.arange(101) - 60.0) / 6.0) ** 2)
    found = compare_curves(a + bump, b)
    (cluster,) = found.clusters
    assert cluster.start < 60.0 < cluster.end and cluster.higher and cluster.p < 0.01 and found.significant
    assert 40.0 < cluster.start and cluster.end < 80.0
    # As rare among relabelled subjects.
    share = (largest_of_permutations(a + bump, b, False) >= np.abs(found.t).max()).mean()
    assert share < 0.01
    opposite = compare_curves(b, a + bump).clusters[0]
    assert not opposite.higher and opposite.p == pytest.approx(cluster.p)


@pytest.mark.slow
def test_false_positives_are_as_frequent_as_stated():
    share = np.mean([compare_curves(smooth(6, 2 * k), smooth(6, 2 * k + 1), alpha=0.2).significant for k in range(150)])
    assert share == pytest.approx(0.2, abs=0.1)


def test_the_published_example_of_spm1d():
    """Caravaggi et al. (2010), plantar arch angle in two speeds: differs at the end of stance."""
    from spm1d import data

    a, b = data.uv1d.tpaired.PlantarArchAngle().get_data()
    found = compare_curves(a, b, paired=True)
    assert found.threshold == pytest.approx(3.939, abs=0.001)
    (cluster,) = found.clusters
    assert (cluster.start, cluster.end) == pytest.approx((95.57, 100.0), abs=0.01) and cluster.p == pytest.approx(
        0.037, abs=0.001
    )
    everywhere = largest_of_permutations(a, b, paired=True)
    assert (everywhere >= np.abs(found.t).max()).mean() < 0.05


def test_parts_without_variance_are_left_out():
    a, b = smooth(5, 5), smooth(5, 6)
    a[:, 61:], b[:, 63:] = 0.0, 0.0
    found = compare_curves(a, b)
    assert found.tested == (0.0, 60.0) and np.isnan(found.t[61:]).all() and np.isfinite(found.t[:61]).all()
    assert_refused("all equal", compare_curves, np.ones((4, 101)), np.ones((4, 101)))


def test_what_cannot_be_compared_is_refused(monkeypatch):
    a, b = smooth(5, 7), smooth(4, 8)
    for arguments, sentence in (
        ((a[:2], b), "a: 2 curves, at least 3"),
        ((a, b[:, :50]), r"b: shape \(4, 50\); give curves \(subjects, 101\)"),
        ((a, np.where(b > 1.0, np.nan, b)), "not finite"),
    ):
        assert_refused(re.compile(sentence), compare_curves, *arguments)
    assert_refused("paired=True: 5 and 4 curves", compare_curves, a, b, paired=True)
    assert_refused("alpha = 0.7 must be between", compare_curves, a, b, alpha=0.7)
    monkeypatch.setitem(sys.modules, "spm1d", None)
    monkeypatch.setattr("models.walking.curve_tests.find_spec", lambda name: None)
    assert "pip install 'talus-multibody[statistics]'" in missing()
    assert_refused("spm1d, which is not installed", compare_curves, a, b)
