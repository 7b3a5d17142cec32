"""Sobol indices against closed forms, and against SciPy's estimators on the same samples."""

import numpy as np
import pytest
import scipy.stats

import runtime
from runtime.studies import values
from runtime.studies.indices import indices_and_bounds
from tests.support.refusals import assert_refused
from tests.support.studies import body, ishigami, ishigami_indices, oscillator

CUBE = dict.fromkeys("xyz", (-np.pi, np.pi))
PATH = {"path": "last(r.body.x)"}


def study(n=2048, seed=0, **more):
    return runtime.study(
        body(), CUBE, 1.0, outputs=PATH, kind="sobol", n=n, seed=seed, to_cases=ishigami, check_units=False, **more
    )


@pytest.fixture(scope="module")
def of_ishigami():
    return study()


def test_indices_of_the_ishigami_function(of_ishigami):
    found = of_ishigami.indices()
    first, total, variance = ishigami_indices()
    assert found.parameters == ("x", "y", "z") and found.outputs == ("path",) and found.used == 2048
    assert found.first[0] == pytest.approx(first, abs=0.02)
    assert found.total[0] == pytest.approx(total, abs=0.02)
    assert found.variance[0] == pytest.approx(variance, rel=0.01)
    for values_of, bounds, exact in (
        (found.first, found.first_bounds, first),
        (found.total, found.total_bounds, total),
    ):
        assert (bounds[0] <= values_of).all() and (values_of <= bounds[1]).all()
        assert (bounds[0, 0] - 0.02 <= exact).all() and (exact <= bounds[1, 0] + 0.02).all()


def test_estimators_are_those_of_scipy(of_ishigami):
    f = of_ishigami["path"].reshape(5, 2048)
    reference = scipy.stats.sobol_indices(
        func={"f_A": f[None, 0], "f_B": f[None, 1], "f_AB": f[2:, None]}, n=2048
    )  # fmt: skip
    found = of_ishigami.indices()
    assert found.first[0] == pytest.approx(reference.first_order, abs=1e-12)
    assert found.total[0] == pytest.approx(reference.total_order, abs=1e-12)


def test_bounds_are_those_of_scipys_bootstrap():
    rng = np.random.default_rng(3)
    both = rng.normal(size=(2, 400, 1))
    A, B = both - both.mean()  # the estimators subtract the mean of both
    AB = np.stack([0.8 * B + 0.2 * A, 0.1 * B + 0.9 * A])

    def statistic(rows):
        a, b, ab = A[rows, 0], B[rows, 0], AB[:, rows, 0]
        variance = np.var([a, b])
        return np.stack([(b * (ab - a)).mean(axis=-1), 0.5 * ((a - ab) ** 2).mean(axis=-1)]) / variance

    reference = scipy.stats.bootstrap(
        [np.arange(400)], lambda rows: statistic(rows), vectorized=False, n_resamples=4000, method="percentile", rng=1
    ).confidence_interval
    _, bounds, _ = indices_and_bounds(A, B, AB, 0.95, 4000, 2)
    width = reference.high - reference.low
    # Bounds of 90 % would differ by 0.08 of the width.
    assert (np.abs(bounds[:, 0, :, 0] - reference.low) < 0.05 * width).all()
    assert (np.abs(bounds[:, 1, :, 0] - reference.high) < 0.05 * width).all()


def test_cases_are_those_of_the_design(of_ishigami):
    design = of_ishigami.design.samples
    for k, name in enumerate("xyz"):
        A, B, *mixed = design[name].reshape(5, 2048)
        for other, block in enumerate(mixed):
            assert np.array_equal(block, B if other == k else A)
        assert not np.array_equal(A, B)
    again, other = study(64), study(64, seed=1)
    assert np.array_equal(again.indices().first_bounds, study(64).indices().first_bounds)
    assert not np.array_equal(again.design.samples["x"], other.design.samples["x"])


def test_an_output_that_does_not_vary_has_no_indices():
    found = runtime.study(
        body(), CUBE, 1.0, outputs=["last(r.body.z)", "last(r.body.x)"], kind="sobol", n=64, to_cases=ishigami
    )
    assert np.isnan(found.indices().first[0]).all() and np.isfinite(found.indices().first[1]).all()
    assert {row[2] for row in found.tables()[0].rows if row[0] == "last(r.body.z)"} == {None}


@pytest.mark.slow
def test_failed_cases_are_refused_or_left_out_by_row():
    def some_fail(samples):
        # A mass below 0 is refused.
        return ishigami(samples) | {"mass.body": np.where(samples["x"] > 2.9, -1.0, 1.0)}

    found = runtime.study(body(), CUBE, 1.0, outputs=PATH, kind="sobol", n=256, to_cases=some_fail, check_units=False)
    failing = found.design.samples["x"] > 2.9
    assert np.array_equal(found.failed, np.flatnonzero(failing)) and 0 < failing.sum() < 300
    sentence = (
        f"{failing.sum()} of 1280 cases failed ({failing.sum()} REFUSED); the first is case {np.argmax(failing)}: "
    )
    assert found.failures()[0].startswith(sentence)
    assert_refused((sentence, "indices(failed='leave_out')"), found.indices)
    left = found.indices(failed="leave_out")
    rows = ~failing.reshape(5, 256).any(axis=0)
    assert left.used == rows.sum() and left.left_out == 256 - rows.sum()
    f = found["path"].reshape(5, 256)[:, rows]
    expected = 0.5 * ((f[0] - f[2:]) ** 2).mean(axis=1) / np.var(f[:2])
    assert left.total[0] == pytest.approx(expected, abs=1e-12)
    titles = [table.title for table in found.tables()]
    assert "failed cases" in titles and "Sobol indices" not in titles
    assert sentence in found.show.__self__._report("refuse").answer
    (note,) = (table.note for table in found.tables(failed="leave_out") if table.title == "Sobol indices")
    assert f"{left.left_out} rows with a failed case are left out" in note


def test_indices_of_a_mechanism_by_quadrature():
    """An oscillator with varied mass and stiffness: indices of its place at a time, by Gauss quadrature of the closed form."""
    ranges, t = {"mass.mass": (1.5, 2.5), "stiffness.spring": (40.0, 60.0)}, 0.4
    found = runtime.study(
        oscillator(), ranges, t, outputs={"place": "last(r.mass.x)"}, kind="sobol", n=1024, rtol=1e-9, atol=1e-9
    ).indices()
    x, w = np.polynomial.legendre.leggauss(20)
    m, k = (0.5 * (low + high) + 0.5 * (high - low) * x for low, high in ranges.values())
    place, w = 0.1 * np.cos(t * np.sqrt(k[None] / m[:, None])), w / 2
    mean = w @ place @ w
    variance = w @ (place - mean) ** 2 @ w
    first = w @ (place @ w - mean) ** 2 / variance, w @ (w @ place - mean) ** 2 / variance
    assert found.variance[0] == pytest.approx(variance, rel=0.02)
    assert found.first[0] == pytest.approx(first, abs=0.03)
    assert found.total[0] == pytest.approx((1 - first[1], 1 - first[0]), abs=0.03)


def test_results_as_tables(of_ishigami):
    found = of_ishigami.indices()
    table, data = found.to_pandas(), found.to_xarray()
    assert table.loc[("path", "y"), "total_low"] == found.total_bounds[0, 0, 1]
    assert (
        float(data["first_order_bounds"].sel(output="path", parameter="z", bound="high")) == found.first_bounds[1, 0, 2]
    )
    assert data.attrs["rows_used"] == 2048 and data["total_order"].dims == ("output", "parameter")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (dict(level=1.0), "give a level in (0, 1)"),
        (dict(resamples=1), "2 resamples or more"),
        (dict(failed="ignore"), "use 'refuse' or 'leave_out'"),
    ],
)
def test_wrong_arguments_are_refused(of_ishigami, changes, said):
    assert_refused(said, of_ishigami.indices, **changes)


def test_listed_values_take_part():
    found = runtime.study(
        body(), {"x": values([0.5, 1.0]), "y": (0.0, 1.0), "z": (0.0, 1.0)}, 1.0, outputs=PATH, kind="sobol", n=64,
        to_cases=ishigami,
    )  # fmt: skip
    assert set(found.samples["x"]) == {0.5, 1.0} and np.isfinite(found.indices().total).all()
