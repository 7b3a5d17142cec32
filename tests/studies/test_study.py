"""Designs, summaries, files and refusals of studies."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.stats
import xarray

import models
import runtime
from runtime import ModelError
from runtime.studies import log_uniform, normal, triangular, uniform, values
from tests.support.refusals import assert_refused
from tests.support.studies import oscillator
from tests.support.terminals import printed

T = np.linspace(0.0, 1.0, 51)
SYSTEM = oscillator()
RANGES = {"mass.mass": (1.5, 2.5), "stiffness.spring": (40.0, 60.0)}
OUTPUTS = {"place": "last(r.mass.x)", "reach": "range(r.mass.x)", "x": "r.mass.x"}
study = partial(runtime.study, SYSTEM, t_end=1.0, outputs=OUTPUTS, t_eval=T, rtol=1e-9, atol=1e-9)


def place(m, k, t):
    """Place of the oscillator in closed form."""
    return 1.0 + 0.1 * np.cos(t * np.sqrt(k / m))


@pytest.fixture(scope="module")
def sampled():
    return study(RANGES, n=300, seed=2)


def test_samples_and_percentiles(sampled):
    m, k = (sampled.samples[name] for name in RANGES)
    assert len(sampled.many) == 300 and len(sampled.failed) == 0
    x = place(m[:, None], k[:, None], T)
    assert np.abs(sampled["x"] - x).max() < 1e-7
    bands = sampled.bands("x", [5, 50, 95])
    assert (
        bands.dims == ("percentile", "time")
        and np.abs(bands.values - np.percentile(x, [5, 50, 95], axis=0)).max() < 1e-7
    )
    assert float(sampled.bands("place").sel(percentile=50.0)) == pytest.approx(np.median(x[:, -1]), abs=1e-7)
    correlations = sampled.correlations()
    assert correlations.loc["place", "mass.mass"] == pytest.approx(
        scipy.stats.spearmanr(x[:, -1], m).statistic, abs=1e-6
    )
    worst = sampled.worst("place", 3)
    order = np.argsort(-x[:, -1])[:3]
    assert worst.index.tolist() == order.tolist() and worst["mass.mass"].tolist() == m[order].tolist()
    assert sampled.many[int(order[0])].r["mass"][-1, 0] == pytest.approx(worst["place"].iloc[0], abs=1e-9)
    assert sampled.worst("place", 1, smallest=True).index[0] == np.argmin(x[:, -1])


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["sobol", "latin_hypercube", "random"])
def test_samples_follow_their_distributions(sampler):
    given = {
        "mass.mass": triangular(1.0, 1.2, 2.0),
        "stiffness.spring": log_uniform(10.0, 100.0),
        "free_length.spring": normal(1.0, 0.01, low=0.99),
        "r.mass.x": scipy.stats.norm(1.1, 0.002),
    }
    found = study(given, n=256, seed=5, sampler=sampler)
    exact = [
        scipy.stats.triang(0.2, 1.0, 1.0), scipy.stats.loguniform(10, 100), scipy.stats.truncnorm(-1, np.inf, 1.0, 0.01),
        scipy.stats.norm(1.1, 0.002),
    ]  # fmt: skip
    for (name, x), distribution in zip(found.samples.items(), exact, strict=True):
        assert scipy.stats.kstest(x, distribution.cdf).pvalue > 0.01, name
        if sampler == "latin_hypercube":
            assert sorted((distribution.cdf(x) * 256).astype(int).tolist()) == list(range(256))
    assert np.array_equal(found.samples["mass.mass"], study(given, n=256, seed=5, sampler=sampler).samples["mass.mass"])
    # A component of a vector: the others are those of the system.
    assert (
        np.array_equal(found.many.cases["r.mass"][:, 0], found.samples["r.mass.x"])
        and not found.many.cases["r.mass"][:, 1:].any()
    )


def test_a_grid():
    found = study(RANGES | {"mass.mass": values([1.6, 2.0, 2.4])}, kind="grid", n=5)
    data = found.to_xarray()
    assert dict(data.sizes) == {"time": 51, "mass.mass": 3, "stiffness.spring": 5}
    at = data["x"].sel({"mass.mass": 2.4, "stiffness.spring": 45.0})
    assert np.abs(at.values - place(2.4, 45.0, T)).max() < 1e-7
    assert "independent" not in found.tables()[0].note
    assert_refused("this study is of the kind 'grid'; percentiles need kind='sample' or 'sobol'", found.bands, "x")


def test_one_at_a_time():
    found = study(RANGES, kind="one_at_a_time", n=3)
    m, k = (found.samples[name] for name in RANGES)
    assert m.tolist() == [2.0, 1.5, 2.0, 2.5, 2.0, 2.0, 2.0] and k.tolist() == [
        50.0,
        50.0,
        50.0,
        50.0,
        40.0,
        50.0,
        60.0,
    ]
    table = found.tables()[0]
    rows = {row[2]: row for row in table.rows if row[0] == "place"}
    x = place(m, k, 1.0)
    assert table.title == "effects" and rows["mass.mass"][3] == "1.5 to 2.5"
    assert rows["mass.mass"][4:6] == pytest.approx(x[[1, 3]], abs=1e-7)
    assert rows["stiffness.spring"][6] == pytest.approx(np.ptp(x[4:]), abs=1e-7)


def test_a_function_with_listed_texts_and_components():
    given = {"ankle": values(["classical", "modified"]), "gravity": (1.0, 2.0)}

    def build(ankle, gravity):
        return models.foot.build(ankle, gravity=(0, 0, -gravity))

    found = runtime.study(build, given, 0.1, outputs=["range(r.main_foot.y)"], kind="grid", n=2)
    assert found.samples["ankle"].tolist() == ["classical", "classical", "modified", "modified"]
    assert "over the grid" in found._report("refuse").answer
    found.figure("range(r.main_foot.y)")
    found = runtime.study(models.foot.build(), {"gravity.z": (-2.0, -1.0)}, 0.1, outputs=["last(energy)"], n=4)
    assert np.array_equal(found.many.cases["gravity"][:, 2], found.samples["gravity.z"])


@pytest.mark.parametrize("kind", ["sample", "sobol", "grid", "one_at_a_time"])
def test_files_and_text(kind, tmp_path, capsys):
    found = study(RANGES, kind=kind, n=4)
    report = found.write(tmp_path / "o")
    names = {file.name for file in report.files}
    assert {"cases.csv", "study.nc", "summary.md", "summary.json", "parameters.csv", f"{kind}_place.png"} <= names
    assert (f"{kind}_x.png" in names) == (kind in ("sample", "sobol"))
    assert all(file.is_file() for file in report.files)
    with xarray.open_dataset(tmp_path / "o" / "study.nc", engine="scipy") as data:
        assert data.attrs["study"] == kind and data["place"].attrs["units"] == "m"
    found.show()
    said = capsys.readouterr().out
    assert "place" in said and "mass.mass" in said and report.answer.split()[0] in said
    assert len(found.to_pandas()) == len(found.many) and repr(found).startswith(f"Study('oscillator', {kind}, ")
    assert "uniform(1.5, 2.5)" in found._repr_html_()


def test_a_narrow_terminal_shows_the_percentiles_and_names_what_python_has(monkeypatch):
    shown = printed(monkeypatch, 80, study(RANGES, n=4).show)
    assert "too narrow for smallest, largest; study.tables() has all columns." in " ".join(shown.split())
    assert "--json" not in shown and shown.index("median") < shown.index("SD")


def test_an_interrupted_study_is_resumed(tmp_path):
    def stop(done, count):
        raise KeyboardInterrupt

    settings = dict(kind="sobol", n=32, out=tmp_path / "many", chunk=16)
    first = study(RANGES, progress=stop, workers=1, **settings)
    assert 0 < len(first.failed) < len(first.many)
    with pytest.raises(ModelError, match=r"of 128 cases failed \(\d+ NOT_RUN\)"):
        first.indices()
    again = study(RANGES, **settings)
    assert len(again.failed) == 0
    assert again.indices().total.tolist() == study(RANGES, kind="sobol", n=32).indices().total.tolist()
    assert_refused("its cases differ", study, RANGES, **settings | dict(seed=1))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (dict(parameters={}), "give at least one name with its distribution"),
        (dict(parameters={"mass.mas": (1, 2)}), "did you mean 'mass.mass'?"),
        (dict(parameters={"mass.mass": 2.0}), "'mass.mass' = 2.0; give a pair (low, high), a distribution of runtime.studies"),
        (dict(parameters={"mass.mass": (2.0, 1.0)}), "high = 1 must be above low = 2"),
        (dict(parameters={"mass.mass": scipy.stats.norm}), "one of scipy.stats with its arguments"),
        (dict(kind="sobol", n=100), "n = 100: the base samples of a Sobol sequence are a power of 2; give 64 or 128"),
        (dict(kind="grid", n=100_000), "limit 100000000; give a smaller n"),
        (dict(kind="morris"), "use 'sample', 'sobol', 'grid' or 'one_at_a_time'"),
        (dict(n=1), "n = 1; give 2 or more"),
        (dict(seed=-1), "seed = -1"),
        (dict(rtl=1e-9), "rtl"),
        (dict(to_cases=lambda samples: {"mass.mass": [1.0]}), "another number of rows; give 4"),
        (dict(to_cases=lambda samples: 3), "to_cases gave 3"),
        (dict(parameters={"mass.mass": (-2.0, -1.0)}), "none of the 4 cases reached its end; the first reason: "),
    ],
)  # fmt: skip
def test_wrong_studies_are_refused(changes, said):
    arguments = dict(parameters=RANGES, n=4) | changes
    assert_refused(said, study, **arguments)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: uniform(1.0, 1.0), "high = 1 must be above low = 1"),
        (lambda: log_uniform(-1.0, 1.0), "give bounds above 0"),
        (lambda: normal(0.0, 0.0), "give a standard deviation above 0"),
        (lambda: normal(0.0, 1.0, low=2.0, high=1.0), "must be above low = 2"),
        (lambda: triangular(0.0, 2.0, 1.0), "mode = 2"),
        (lambda: values([1.0]), "two or more different"),
        (lambda: values([1.0, "a"]), "two or more different"),
    ],
)
def test_wrong_distributions_are_refused(make, said):
    assert_refused(said, make)


def test_failed_cases_are_left_out_of_summaries_and_counted():
    def some_fail(samples):
        return {"mass.mass": np.where(samples["m"] < 1.6, -1.0, samples["m"])}

    found = study({"m": (1.5, 2.5)}, n=64, to_cases=some_fail)
    good = found.samples["m"] >= 1.6
    assert np.array_equal(found.failed, np.flatnonzero(~good)) and 0 < len(found.failed) < 20
    summary = next(table for table in found.tables() if table.title == "outputs")
    assert (
        summary.rows[0][2] == pytest.approx(found["place"][good].mean())
        and f"{len(found.failed)} failed" in summary.note
    )
    assert (
        not set(found.worst("place", 64).index) & set(found.failed.tolist())
        and len(found.worst("place", 64)) == good.sum()
    )
    assert np.isfinite(found.bands("x")).all()
    assert f"{len(found.failed)} of 64 cases failed" in found._report("refuse").answer


@pytest.mark.parametrize(
    ("parameters", "outputs", "more", "message"),
    [
        (
            {"mass.toes": (0.1, 0.2)},
            {"mass.toes": "max(energy)"},
            {},
            "outputs: 'mass.toes' is a parameter of this study",
        ),
        ({"time": (0.1, 0.2)}, ["max(energy)"], {"to_cases": lambda q: {"mass.toes": q["time"]}}, "parameters: 'time'"),
        ({"a": (0.1, 0.2)}, ["max(energy)"], {"to_cases": lambda q: q["zz"]}, "to_cases failed"),
        ({"mass.toes": (0.3, 0.2)}, ["max(energy)"], {}, "'mass.toes': .*must be above low"),
    ],
)
def test_names_and_functions_that_do_not_fit_are_refused(parameters, outputs, more, message):
    assert_refused(
        re.compile(message), runtime.study, models.foot.build(), parameters, 0.1, outputs=outputs, n=4, **more
    )


def test_bounds_leave_out_resamples_without_variance():
    from runtime.studies.indices import indices_and_bounds

    random = np.random.default_rng(0)
    A, B, AB = random.standard_normal((8, 1)), random.standard_normal((8, 1)), random.standard_normal((2, 8, 1))
    A[:7] = B[:7] = AB[:, :7] = 0.0  # one row varies: a third of the resamples has no variance
    found, bounds, _ = indices_and_bounds(A, B, AB, 0.95, 99, 0)
    assert np.isfinite(found).all() and np.isfinite(bounds).all()


def test_long_texts_are_kept_one_at_a_time():
    found = runtime.study(
        models.foot.build,
        {"ankle": values(["classical", "modified"]), "mass": (60.0, 80.0)},
        0.1,
        outputs=["range(r.main_foot.y)"],
        kind="one_at_a_time",
        n=2,
    )
    assert found.samples["ankle"].tolist()[:3] == ["modified", "classical", "modified"] and not found.failures()
    assert found.many.name == "models.foot.build" and "models.foot.build" in found._report("refuse").title
    # Points of names are not joined by a line.
    lines = [ax.lines[0] for ax in found.figure("range(r.main_foot.y)").axes[:2]]
    assert [line.get_linestyle() for line in lines] == ["None", "-"]


def test_few_samples_are_remarked(sampled):
    few, many = (study(RANGES, n=n, kind="sobol", seed=3) for n in (8, 1024))
    width = few.indices().widest
    assert width > 0.2 > many.indices().widest
    sentence = f"bounds are up to {width:.2g} wide; n = "
    assert sentence in few._report("refuse").answer and sentence in few.tables()[0].note
    assert "wide" not in many._report("refuse").answer
    summary = {table.title: table.note for table in study(RANGES, n=64).tables()}["outputs"]
    assert "Few samples" in summary
    assert "Few samples" not in {table.title: table.note for table in sampled.tables()}["outputs"]
