"""The studies: short runs into a folder write what they promise, tables agree with the runs, the key claims hold."""

import csv
import importlib
import inspect
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
import xarray

import models
from models import ankle_study, claims, claims_pendulum, measures, pendulum, pendulum_study
from models.verdicts import Claims, falling, rising
from runtime import Cone, ModelError, simulate

ROOT = Path(__file__).parent.parent
SHORT = 0.6  # [s] reaches the first contact of either example


def quiet(_):
    """What a study says is not looked at."""


def records(report, title):
    (table,) = [table for table in report.tables if table.title == title]
    return table.records()


@pytest.fixture(scope="module")
def ankle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ankle")
    return folder, ankle_study.ankle(folder, quiet, t_end=SHORT)


@pytest.fixture(scope="module")
def rod(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pendulum")
    return folder, pendulum_study.study(folder, quiet, t_end=SHORT)


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    return folder, claims.claims(folder, quiet)


# --- the pendulum --------------------------------------------------------------------------------------------------


def test_pendulum_without_limits_is_what_it_was():
    planar, ball = pendulum.build(), pendulum.build("spherical")
    assert planar.name == "planar pendulum" and ball.name == "spherical pendulum"
    for system in (planar, ball):
        assert not system.limits
        assert system.state.r["rod"] == pytest.approx([0.15, 0.0, 0.0], abs=1e-15)


def test_pendulum_of_the_paper():
    """Released horizontally at longitude 135 degrees of the joint's frame; J / (m d) and m g d as inferred."""
    system = pendulum.build(limits="dissipative")
    (limit,) = system.limits
    assert (limit.name, limit.damping, limit.max_moment) == ("pivot", 3.39, 226.0)
    assert np.rad2deg(limit.compliance) == pytest.approx(11.5)
    seen = simulate(system, 1e-3, t_eval=[0.0]).limits["pivot"]
    assert np.rad2deg([seen.longitude[0], seen.latitude[0], seen.maximum_latitude[0]]) == pytest.approx([135, 90, 100])
    rod = system.bodies[0]
    assert (np.diag(rod.inertia)[0] + rod.mass * 0.15**2) / (rod.mass * 0.15) == pytest.approx(0.202, rel=0.02)
    assert rod.mass * 9.81 * 0.15 == pytest.approx(5.1, rel=0.02)


def test_planar_pendulum_with_limits():
    system = pendulum.build("planar", limits="elastic")
    run = simulate(system, 2.0, t_eval=measures.times(2.0))
    motion = run.limits["pivot"]
    assert system.limits[0].kind == "hinge"
    assert np.rad2deg(motion.latitude[0]) == pytest.approx(60.0)
    assert 0.0 < motion.excess.max() < system.limits[0].compliance  # 30 degrees on the other side
    assert np.ptp(run.energy) < 1e-7


BAD = {
    "unknown limits": (dict(limits="soft"), "limits = 'soft'; use 'elastic' or 'dissipative'"),
    "unknown kind": (dict(kind="cubic"), "kind = 'cubic'; use 'planar' or 'spherical'"),
    "parameter without limits": (dict(damping=1.0), "damping = 1.0 says how limits are; give limits="),
    "damped elastic": (dict(limits="elastic", damping=1.0), "damping = 1.0 N m s, but limits='elastic' have none"),
    "negative moment": (dict(limits="elastic", max_moment=-1.0), "max_moment = -1 N m, must be above 0 N m"),
    "no compliance": (dict(limits="elastic", compliance=0.0), "compliance = 0 rad, must be above 0 rad"),
    "no cone": (dict(limits="elastic", cone=30.0), "cone = 30.0; give runtime.Cone(longitudes, latitudes)"),
    "unknown law": (dict(limits="elastic", law="cubic"), "law = 'cubic'; use 'conservative' or 'printed'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(name):
    arguments, sentence = BAD[name]
    with pytest.raises(ModelError) as error:
        pendulum.build(**arguments)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_a_wider_cone_is_met_later():
    wide = Cone.from_degrees((0, 90, 180, 270, 360), (60, 100, 100, 60, 60))
    system = pendulum.build(limits="elastic", cone=wide)
    run = simulate(system, 1.0, t_eval=measures.times(1.0))
    narrow = simulate(pendulum.build(limits="elastic"), 1.0, t_eval=measures.times(1.0))
    assert measures.first_contact(run, "pivot") > measures.first_contact(narrow, "pivot")


# --- what the studies measure --------------------------------------------------------------------------------------


def test_a_free_motion_is_seen_by_limits_that_do_not_act():
    free = simulate(models.foot.build(), 0.5, t_eval=measures.times(0.5))
    seen = measures.seen_by(free, models.foot.build(limits="elastic"))
    assert not free.limits and set(seen.limits) == {"talocrural", "talocalcaneal"}
    assert np.array_equal(seen.r["main_foot"], free.r["main_foot"])
    assert np.rad2deg(seen.limits["talocrural"].excess.max()) > 20.0  # nothing holds it
    assert np.ptp(free.energy) < 1e-8


def test_contacts_are_found_between_output_times():
    fine, coarse = (
        simulate(pendulum.build(limits="elastic"), 0.5, t_eval=measures.times(0.5, rate)) for rate in (20000, 1000)
    )
    (exact,), (found,) = measures.contacts(fine, "pivot"), measures.contacts(coarse, "pivot")
    assert found == pytest.approx(exact, abs=2e-5)
    inside = (fine.t > exact[0] + 1e-4) & (fine.t < exact[1] - 1e-4)
    assert (fine.limits["pivot"].restricting_moment[inside] > 0.0).all()


def test_verdicts():
    found = Claims("seed")
    for held in (True, [True, False], [False, False]):
        found.check("place", "words", ours="ours", held=held, why="because")
    assert [(claim.verdict, claim.why) for claim in found.found] == [
        ("yes", ""),
        ("partly", "because"),
        ("no", "because"),
    ]
    assert rising([1, 2, 3]) and not rising([1, 1]) and falling([2, 1])


def test_every_study_is_a_command():
    """The command reads the options off the signature."""
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert set(entries["talus.studies"]) == {"ankle", "claims", "drop", "gait", "pendulum"}
    for place in entries["talus.studies"].values():
        module, _, function = place.partition(":")
        study = getattr(importlib.import_module(module), function)
        assert list(inspect.signature(study).parameters)[:2] == ["folder", "say"]
        assert inspect.getdoc(study)


# --- talus ankle ---------------------------------------------------------------------------------------------------

ROOT_FIGURES = (
    "fig10_trajectories", "fig11_snapshots", "fig12_velocities_accelerations", "fig13_phase_portraits", "fig17_energy",
    "fig18_cost", "fig19_link_lengths", "fig20_link_length_trajectories",
)  # fmt: skip
PRESET_FIGURES = (
    "fig14_trajectories_elastic", "fig14_trajectories_dissipative", "fig15_snapshots_elastic", "fig16_snapshots_dissipative",
    "fig17_energy", "fig18_cost", "seed001_fig12_trajectories", "seed001_fig13_snapshots", "seed001_fig14_top_view",
    "seed001_fig15_moments",
)  # fmt: skip


def test_ankle_writes_what_it_promises(ankle):
    folder, report = ankle
    assert report.failures == []
    names = [*ROOT_FIGURES, *(f"{preset}/{name}" for preset in ankle_study.PRESETS for name in PRESET_FIGURES)]
    for name in names:
        assert (folder / f"{name}.png").stat().st_size > 10_000, name
        assert (folder / f"{name}.svg").stat().st_size > 5_000, name
    assert all(file.is_file() for file in report.files)
    summary = json.loads((folder / "summary.json").read_text())
    assert list(summary["tables"]) == [
        "motion", "anatomical limits", "published limits", "dissipation", "cost", "rest", "link length",
    ]  # fmt: skip


def test_ankle_tables_agree_with_its_runs(ankle):
    folder, report = ankle
    rows = {(row["joint"], row["case"]): row for row in records(report, "published limits")}
    for name in ankle_study.ANKLES:
        for case in ankle_study.LIMITED:
            with xarray.open_dataset(folder / "published" / f"{name}_{case}.nc") as data:
                y = 1000 * data.r.sel(body="main_foot", axis="y").values
            assert rows[name, case]["y end [mm]"] == pytest.approx(y[-1], abs=0.006)
            assert rows[name, case]["y max [mm]"] == pytest.approx(y.max(), abs=0.05)
    system = models.foot.build("modified", limits="dissipative", preset="published")
    again = simulate(system, SHORT, t_eval=measures.times(SHORT), rtol=1e-10, atol=1e-10)
    (row,) = [r for r in records(report, "dissipation") if (r["preset"], r["joint"]) == ("published", "modified")]
    assert row["first contact [s]"] == pytest.approx(measures.contacts(again, "talocrural")[0][0], abs=1e-6)
    assert row["damping [N m s]"] == 0.284
    cost = {(r["joint"], r["case"], r["preset"], r["method"]): r["evaluations"] for r in records(report, "cost")}
    assert (
        cost["modified", "dissipative", "published", "dop853"]
        == simulate(system, SHORT, rtol=1e-10, atol=1e-10).stats.evaluations
    )


def test_words_about_dissipation_follow_the_numbers():
    assert "first by the modified joint" in ankle_study._faster({"classical": 0.72, "modified": 0.42})
    assert "first by the classical joint" in ankle_study._faster({"classical": 0.42, "modified": 0.72})
    assert "at the same time" in ankle_study._faster({"classical": 0.88, "modified": 0.89})
    assert "not within the run by the classical" in ankle_study._faster({"classical": None, "modified": 0.42})


# --- talus pendulum ------------------------------------------------------------------------------------------------

PENDULUM_FIGURES = (
    "fig17_positions", "fig18a_latitude", "fig18b_top_view", "fig19_moments", "fig20_energy", "fig21_cost",
    "fig22_law_compliance", "fig23_compliance", "fig23c_compliance_top_view", "fig24_law_max_moment", "fig25_max_moment",
    "fig25c_max_moment_top_view", "fig26_damping", "fig26c_damping_top_view",
)  # fmt: skip


def test_pendulum_study_writes_what_it_promises(rod):
    folder, report = rod
    assert report.failures == []
    for name in PENDULUM_FIGURES:
        assert (folder / f"{name}.png").stat().st_size > 10_000, name
    titles = [table.title for table in report.tables]
    assert titles == ["cases", "cost", "study of compliance", "study of max_moment", "study of damping"]
    assert [row[""] for row in records(report, "study of compliance")] == ["1.5°", "6.5°", "11.5°", "16.5°", "21.5°"]


def test_pendulum_tables_agree_with_runs(rod):
    _, report = rod
    rows = {row[""]: row for row in records(report, "study of max_moment")}
    for moment in pendulum_study.MAX_MOMENTS:
        run = simulate(pendulum.build(limits="elastic", max_moment=moment), SHORT, t_eval=measures.times(SHORT))
        row = rows[f"{moment:g} N m"]
        assert row["elastic moment [N m]"] == pytest.approx(run.limits["pivot"].restricting_moment.max(), rel=1e-5)
        assert row["first outside [s]"] == pytest.approx(0.349, abs=1e-3)
    (reference,) = [row for row in records(report, "cases") if row[""] == "elastic"]
    assert reference["elastic moment [N m]"] == rows["226 N m"]["elastic moment [N m]"]


def test_law_curve_is_the_law():
    excess, moment = pendulum_study.law_curve(pendulum.COMPLIANCE, pendulum.MAX_MOMENT)
    x = np.clip(np.deg2rad(excess) / pendulum.COMPLIANCE, 0.0, 1.0)
    assert excess.max() > 11.5
    assert moment == pytest.approx(pendulum.MAX_MOMENT * (3 * x**2 - 2 * x**3), abs=1e-6)


# --- talus claims --------------------------------------------------------------------------------------------------

KEY = {
    "seed 000": {"0.73 s": "classical joint reaches", "0.43 s": "modified joint reaches"},
    "seed 001": {
        "37°": "elastic: the largest",
        "35°": "dissipative: the largest",
        "0.43 s": "first reaches",
        "0.14 N m": "stabilises",
    },
    "seed 003": {
        "0.35 s": "first restricting moment",
        "100 N m": "largest restricting",
        "115 N m": "largest moment",
        "0.40 s": "damping 0.10",
    },
}


ABOUT = (
    "0.73 s",
    "0.43 s",
)  # the contact is a hundredth of a second before the printed time, its largest excess after it


@pytest.mark.parametrize("seed", KEY)
def test_key_claims_are_reproduced(checked, seed):
    rows = records(checked[1], f"claims of {seed}")
    for printed, words in KEY[seed].items():
        found = [row for row in rows if row["paper"] == printed and words in row["claim"]]
        assert len(found) == 1, (printed, words)
        assert found[0]["reproduced"] == ("partly" if printed in ABOUT else "yes"), found[0]


def test_claims_are_many_and_each_has_a_verdict(checked):
    folder, report = checked
    assert report.failures == []
    summary = {row["seed"]: row for row in records(report, "claims")}
    assert summary["all"]["claims"] >= 100
    assert summary["all"]["reproduced"] >= 0.8 * summary["all"]["claims"]
    for name in KEY:
        rows = records(report, f"claims of {name}")
        assert len(rows) == summary[name]["claims"]
        assert len({row["claim"] for row in rows}) == len(rows)
        assert all(row["ours"] and row["reproduced"] in ("yes", "partly", "no") for row in rows)
        with (folder / f"claims_of_{name.replace(' ', '_')}.csv").open(encoding="utf-8") as stream:
            assert len(list(csv.reader(stream))) == len(rows) + 1
    missing = records(report, "not reproduced")
    assert len(missing) == summary["all"]["partly"] + summary["all"]["not"]
    assert all(row["why not"] for row in missing)
    assert (folder / "summary.md").read_text(encoding="utf-8").count("| yes |") == summary["all"]["reproduced"]


def test_the_conclusion_falls_with_equal_damping(checked):
    (row,) = [row for row in records(checked[1], "not reproduced") if "dissipates energy faster" in row["claim"]]
    assert row["reproduced"] == "partly" and "unequally" in row["why not"]


def test_a_claim_fails_on_other_runs():
    """The verdicts come from the runs: with a softer limit the figures of the paper are not found."""
    e = claims_pendulum.evidence(2.0, 1e-8)
    soft = simulate(pendulum.build(limits="elastic", max_moment=60.0), 2.0, t_eval=measures.times(2.0))
    found = Claims("seed")
    claims_pendulum._moments(
        found, claims_pendulum.Evidence({**e.cases, "elastic": soft}, e.studies, e.costs, e.printed)
    )
    (largest,) = [claim for claim in found.found if claim.paper == "100 N m"]
    assert largest.verdict == "no"
