"""The command ``talus claims``: key claims are reproduced, each claim has a verdict, and verdicts follow the runs."""

import csv
from dataclasses import replace

import pytest

from models import pendulum
from models.studies import measures
from models.studies.claims import rodrigues_da_silva_2024b
from models.studies.claims.pendulum_runs import pendulum_runs
from models.studies.claims.verdicts import Claims, falling, rising
from runtime import simulate
from tests.support.reports import records

KEY = {
    "2024a": {"0.73 s": "classical joint reaches", "0.43 s": "modified joint reaches"},
    "2024c": {
        "37°": "elastic: the largest",
        "35°": "dissipative: the largest",
        "0.43 s": "first reaches",
        "0.14 N m": "stabilises",
    },
    "2024b": {
        "0.35 s": "first restricting moment",
        "100 N m": "largest restricting",
        "115 N m": "largest moment",
        "0.40 s": "damping 0.10",
    },
}


# The limit is reached a hundredth of a second before the printed time, the largest excess after it.
ABOUT = ("0.73 s", "0.43 s")

slow = pytest.mark.slow


@slow
@pytest.mark.parametrize("year", KEY)
def test_key_claims_are_reproduced(claims, year):
    rows = records(claims[1], f"claims of Rodrigues da Silva {year}")
    for printed, words in KEY[year].items():
        found = [row for row in rows if row["printed"] == printed and words in row["claim"]]
        assert len(found) == 1, (printed, words)
        assert found[0]["reproduced"] == ("partly" if printed in ABOUT else "yes"), found[0]


@slow
def test_claims_are_many_and_each_has_a_verdict(claims):
    folder, report = claims
    assert report.failures == []
    summary = {row["paper"]: row for row in records(report, "claims")}
    assert summary["all"]["claims"] >= 100
    assert summary["all"]["reproduced"] >= 0.8 * summary["all"]["claims"]
    for name in KEY:
        rows = records(report, f"claims of Rodrigues da Silva {name}")
        assert len(rows) == summary[f"Rodrigues da Silva et al. ({name})"]["claims"]
        assert len({row["claim"] for row in rows}) == len(rows)
        assert all(row["computed"] and row["reproduced"] in ("yes", "partly", "no") for row in rows)
        with (folder / f"claims_of_rodrigues_da_silva_{name}.csv").open(encoding="utf-8") as stream:
            assert len(list(csv.reader(stream))) == len(rows) + 1
    missing = records(report, "not reproduced")
    assert len(missing) == summary["all"]["partly"] + summary["all"]["not"]
    assert all(row["reason"] for row in missing)
    assert (folder / "summary.md").read_text(encoding="utf-8").count("| yes |") == summary["all"]["reproduced"]


@slow
def test_the_conclusion_on_dissipation_does_not_hold_with_equal_damping(claims):
    (row,) = [row for row in records(claims[1], "not reproduced") if "dissipates energy faster" in row["claim"]]
    assert row["reproduced"] == "partly" and "unequally" in row["reason"]


@slow
def test_a_claim_fails_on_other_runs():
    """The verdicts come from the runs: a softer limit does not give the values of the paper."""
    e = pendulum_runs(2.0, 1e-8)
    soft = simulate(pendulum.build(limits="elastic", max_moment=60.0), 2.0, t_eval=measures.times(2.0))
    found = Claims("paper")
    rodrigues_da_silva_2024b.moments(found, replace(e, cases={**e.cases, "elastic": soft}))
    (largest,) = [claim for claim in found.found if claim.printed == "100 N m"]
    assert largest.verdict == "no"


def test_a_verdict_is_yes_partly_or_no_and_has_a_reason():
    found = Claims("paper")
    for holds in (True, [True, False], [False, False]):
        found.check("place", "statement", computed="value", holds=holds, reason="because")
    assert [(claim.verdict, claim.reason) for claim in found.found] == [
        ("yes", ""),
        ("partly", "because"),
        ("no", "because"),
    ]
    assert rising([1, 2, 3]) and not rising([1, 1]) and falling([2, 1])
