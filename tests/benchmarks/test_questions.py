"""Questions about cost in their quick form: tables, figures and files; no time is judged."""

import json

import numpy as np
import pytest

from benchmarks import contact, cost, measure, rhs, start
from benchmarks.__main__ import DONE, FAILED, main
from tests.support.compiled_code import copied_code
from tests.support.paths import shared_file

pytestmark = [pytest.mark.slow, pytest.mark.long]


def test_cost(answer):
    tables, notes = answer("cost")
    for motion in cost.QUICK.motions:
        rows = tables[f"runs, {motion}"]
        cases = {(row["method"], row["tol"], row["ankle"]) for row in rows}
        assert cases == {(m, t, a) for m in cost.METHODS for t in cost.QUICK.tolerances for a in measure.ANKLES}
        for row in rows:
            assert row["evaluations"] > row["steps"] > 0
            assert 0.0 < row["error [m]"] < (10 if motion.case == "free" else 1000) * row["tol"]
            assert (row["rejected"] is None) == (row["method"] in ("BDF", "Radau", "LSODA"))
        by_case = {(row["method"], row["ankle"], row["tol"]): row for row in rows}
        loose, tight = cost.QUICK.tolerances
        for method in cost.METHODS:
            for ankle in measure.ANKLES:
                a, b = by_case[method, ankle, loose], by_case[method, ankle, tight]
                assert a["evaluations"] < b["evaluations"] and a["error [m]"] > b["error [m]"]
    ratios = tables["modified to classical"]
    assert len(ratios) == len(cost.QUICK.motions) * len(cost.METHODS) * len(cost.QUICK.tolerances)
    first = tables["runs, free, 0.5 s"]
    expected = first[1]["evaluations"] / first[0]["evaluations"]
    assert ratios[0]["evaluations"] == pytest.approx(expected)
    assert {row["motion"] for row in ratios} == {f"{case}, 0.5 s" for case in cost.CASES}
    operations = {row["kernel"]: row for row in tables["operations"]}
    assert operations["evaluate"]["modified"] > operations["evaluate"]["classical"] > 0


def test_cost_names_a_method_that_fails(monkeypatch, tmp_path, capsys):
    def fails(*arguments):
        raise measure.BenchmarkError("foot, tolerance 1e-05: broken on purpose")

    whole = cost.measure
    monkeypatch.setattr(cost, "METHODS", {"dop853": "DOP853, compiled", "RK45": "RK45, SciPy"})
    monkeypatch.setattr(cost, "measure", lambda *a: fails() if a[2] == "RK45" else whole(*a))
    assert main(["cost", "--quick", "--out", str(tmp_path / "out")]) == FAILED
    assert "broken on purpose" in capsys.readouterr().err
    data = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert data["failures"] and {row["method"] for row in data["tables"]["runs, free, 0.5 s"]} == {"dop853"}


class FilledCopy(start.Copy):
    """Packages whose cache has the code that the tests have compiled."""

    def __init__(self, folder):
        super().__init__(folder)
        copied_code(folder / "cache foot")


def test_start(answer, monkeypatch):
    monkeypatch.setattr(start, "Copy", FilledCopy)
    tables, _ = answer("start")
    rows = tables["starts"]
    assert {row["what"] for row in rows} == {
        "warm process, import runtime", "warm process, first result of the foot", "warm process, talus --help",
    }  # fmt: skip
    assert all(row["measured [s]"] > 0.0 and row["limit [s]"] > 0.0 for row in rows)


def test_rhs(answer):
    tables, _ = answer("rhs")
    chains = tables["chains"]
    assert {(row["joint"], row["links"]) for row in chains} == {(j, n) for j in rhs.JOINTS for n in rhs.QUICK.links}
    for row in chains:
        assert row["rows"] == row["links"] * (3 if row["joint"] == "spherical" else 5)
        assert row["evaluation [us]"] > 0.0 and row["dense solve [us]"] > 0.0
        assert row["difference"] < 1e-10
    assert {row["joint"] for row in tables["growth"]} == set(rhs.JOINTS)
    assert {row["ankle"] for row in tables["feet"]} == set(measure.ANKLES)


@pytest.mark.nightly
def test_targets(answer):
    tables, notes = answer("targets")
    rows = {row["what"]: row for row in tables["targets"]}
    for row in rows.values():
        known = row["measured"] is not None
        assert row["reached"] == (("yes" if row["measured"] <= row["limit"] else "no") if known else "not measured")
    for ankle in measure.ANKLES:
        for what in ("position", "energy", "|Phi|"):
            assert rows[f"{ankle} foot, {what}"]["reached"] == "yes"
    for what in ("four-bar linkage", "planar slider-crank", "Bricard's linkage"):
        assert rows[f"{what}, operations"]["reached"] == "yes"
    assert rows["heap allocations, evaluation"]["measured"] == 0
    assert rows["first start"]["measured"] is None and "first start" in notes["targets"]
    assert [row["what"] for row in tables["how"]] == list(rows)


def test_limits(answer):
    tables, _ = answer("limits")
    for row in tables["cost"]:
        assert row["evaluations"] > 0 and row["time [ms]"] > 0.0
        assert (row["drift [J]"] is None) == ("dissipative" in row["case"])
        assert row["drift [J]"] is None or row["drift [J]"] < 1e-7
    assert {row["ankle"] for row in tables["rest"]} == set(measure.ANKLES)
    assert all(row["ratio"] == pytest.approx(row["later"] / row["first"]) for row in tables["rest"])
    shares = {(row["cone"], row["law"]): row["largest share"] for row in tables["closed loops"]}
    for (cone, law), share in shares.items():
        assert share < 1e-9 if law == "conservative" or cone == "regular" else share > 1e-4
    for row in tables["energy"]:
        lost = row["range inside cones [J]"]
        assert lost < 1e-7 if row["law"] == "conservative" else lost > 1e-5


@pytest.mark.nightly
def test_contact(answer):
    """Subjects left out: nearer than the mean curve of the others, by physics as well; data of ``tests.support.paths``."""
    shared_file("gait", "dev/schreiber_moissenet/c3d/2014001_ST.c3d")
    tables, notes = answer("contact")
    rows = {row["method"]: row for row in tables["subjects left out"]}
    ours, mean = rows[contact.ROWS], rows[contact.MEAN]
    assert ours["vertical [BW]"] < 0.1 and ours["vertical [BW]"] < mean["vertical [BW]"]
    assert max(row["largest [BW]"] for row in tables["spheres of the two rows"]) < 0.5
    trials = tables["trials of subjects left out"]
    assert len(trials) == 20 and f"points medially in {len(trials)}" in notes["subjects left out"]
    assert np.mean([row["vertical [BW]"] for row in trials]) == pytest.approx(ours["vertical [BW]"], rel=1e-3)
    assert "no prediction" in contact.MEANING[contact.OWN] and contact.OWN not in rows


@pytest.mark.parametrize("question", ["contact", "electromyograms"])
def test_without_data(question, tmp_path, capsys):
    assert main([question, "--json", "--out", str(tmp_path / "out"), str(tmp_path / "nothing")]) == DONE
    (row,) = json.loads(capsys.readouterr().out)["tables"]["data"]
    assert row["reason"].startswith("not run: ") and "with standing and walking trials in" in row["reason"]


@pytest.mark.nightly
def test_electromyograms(answer):
    """Of two adults: activations follow them at lags up to 100 ms, and best those of gastrocnemius medialis."""
    shared_file("gait", "dev/schreiber_moissenet/c3d/2014001_ST.c3d")
    tables, _ = answer("electromyograms")
    rows = tables["correlations"]
    assert len(rows) == 12 and all(row["adults"] == 2 for row in rows) and "trials left out" not in tables
    assert all(row["at lag 0 [1]"] < row["least of it [1]"] <= row["largest [1]"] for row in rows)
    assert all(0.6 < row["least of it [1]"] for row in rows)
    assert all(row["least of it [1]"] > 0.9 for row in rows if row["muscle"] == "gastrocnemius medialis")


@pytest.mark.nightly
def test_muscles(answer):
    """Activations of OpenSim's tool in this run are those that opensim-core keeps, and ours."""
    pytest.importorskip("opensim")
    shared_file("opensim", "muscles/subject01_adjusted_spring.osim")
    tables, _ = answer("muscles")
    without, counts = tables["agreement"]
    assert without["this run [1]"] < 4e-3 and without["recorded [1]"] < 4e-3
    assert counts["this run [1]"] < 0.02 and counts["recorded [1]"] < 0.02
    assert {row["program"] for row in tables["cost"]} >= {"OpenSim", "Talus"}
    assert all(row["least [s]"] > 0.0 and row["frames"] == 84 for row in tables["cost"])


def test_muscles_without_data(tmp_path, capsys):
    assert main(["muscles", "--out", str(tmp_path / "out"), str(tmp_path)]) == FAILED
    assert "has no staticoptimization_spring_Setup.xml" in capsys.readouterr().err and not (tmp_path / "out").exists()
