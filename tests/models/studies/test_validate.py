"""The command ``talus validate``: published results, and digits that are broken on purpose."""

import csv
import json

import numpy as np
import pytest

from models.studies.validate import published, squeezer, study
from models.studies.validate.checks import Check, Result
from runtime import ModelError, inverse_dynamics, simulate
from runtime.cli.studies import study_command
from tests.papers.citations import RODRIGUES_2024A
from tests.papers.equations import entry
from tests.papers.symbols import joint_symbols
from tests.support.reports import records


def test_five_published_results_are_reproduced(tmp_path):
    said = []
    report = study.validate(tmp_path, said.append)
    assert not report.failures and report.answer.startswith("All 5 published results are reproduced: 11 numbers agree")
    assert said == [f"{n} of 5: {name}" for n, name in enumerate(published.RESULTS, 1)]
    rows = records(report, "published results")
    assert [row["verdict"] for row in rows] == [*["agrees"] * 9, "misprint", *["agrees"] * 2]
    for row in rows:
        assert row["difference"] == abs(row["Talus"] - row["published"])
        assert (row["difference"] > row["bound"]) == (row["verdict"] == "misprint")
    named = [row["result"] for row in records(report, "sources")]
    assert named == list(published.RESULTS) == list(dict.fromkeys(row["quantity"].partition(":")[0] for row in rows))
    with open(tmp_path / "published_results.csv", encoding="utf-8") as stream:
        assert [row["quantity"] for row in csv.DictReader(stream)] == [row["quantity"] for row in rows]


BROKEN = [
    ("joint limits", published, "LATITUDE_DEG", 52.0),
    ("joint limits", published, "MOMENT", 90.0),
    ("mechanism", squeezer, "END_ANGLES", {**squeezer.END_ANGLES, "beta": 15.81077139629904}),
    ("mechanism", squeezer, "END_ANGLES", {**squeezer.END_ANGLES, "epsilon": 1.048080711042263}),
    ("inverse dynamics", squeezer, "MOTOR", 0.033001),
    ("inverse dynamics", squeezer, "END_FORCE", 23.0675),
    ("inverse dynamics", squeezer, "ACCELERATIONS", (14222.4439199541138705911625887, -24631.86316945196)),
    ("inverse dynamics", published, "ANKLE_MOMENT", -22.98),
    ("contact", published, "restitution", lambda alpha, speed: (1.0 - 1.1 * alpha * speed, (alpha * speed) ** 2)),
    ("misprint", published, "eq32_row4", lambda bodies, vectors, sign, right=published.eq32_row4: right(bodies, vectors, -sign)),
    ("misprint", published, "eq32_row4", lambda bodies, vectors, sign, right=published.eq32_row4: right(bodies, vectors, 1.0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "place", "digits", "wrong"), BROKEN)
def test_broken_digits_fail(name, place, digits, wrong, monkeypatch):
    monkeypatch.setattr(place, digits, wrong)
    failures = published.RESULTS[name]().failures()
    assert failures and all(failure.startswith(f"{name}: ") for failure in failures)


def test_a_verdict_is_that_of_the_difference():
    assert Check("x", 1.0, 1.1, 0.2).verdict == "agrees"
    assert Check("x", 1.0, 1.1, 0.05).verdict == "FAILS"
    assert Check("x", 1.0, 1.1, 0.05, wrong=True).verdict == "misprint"
    assert Check("x", 1.0, 1.1, 0.2, wrong=True).verdict == "FAILS"
    for wrong in (False, True):
        for ours in (np.nan, np.inf):
            assert Check("x", ours, 1.1, 0.2, wrong=wrong).verdict == "FAILS"


def test_a_result_that_fails_ends_the_command_with_1(tmp_path, monkeypatch, capsys):
    """The others are shown all the same."""

    def stuck():
        raise ModelError("the run did not reach its end")

    def off():
        return Result("off", "Nobody (1900), Table 1", "A number.", (Check("x [m]", 1.0, 1.5, 0.1),))

    monkeypatch.setattr(study, "RESULTS", {"contact": published.contact, "stuck": stuck, "off": off})
    command = study_command("validate", lambda: study.validate)
    options = ["--json", "--out", str(tmp_path / "out")]
    assert command.main(options, standalone_mode=False) == 1
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert said["answer"] == "Published results are NOT reproduced: 2 fail, as the last lines say."
    assert [row["verdict"] for row in said["tables"]["published results"]] == ["agrees", "agrees", "FAILS"]
    stage, *sentences = err.splitlines()[-3:]
    assert sentences == [
        "stuck: the run did not reach its end",
        "off: x [m]: Talus 1, published 1.5; the difference is 0.5, expected at most 0.1",
    ]


def test_the_squeezer_moves_as_published():
    """All angles at the end; moment of the motor and force on the hinge E at the start, where the accelerations are published."""
    run = simulate(squeezer.builder().build(), squeezer.END, rtol=1e-12, atol=1e-12)
    assert squeezer.angles(run) == pytest.approx(squeezer.END_ANGLES, abs=1e-8)
    assert run.system.degrees_of_freedom == 1 and len(run.system.redundant) == 9
    start = inverse_dynamics(squeezer.builder(driven=True).build(), [0.0])
    assert start.driven["motor"].effort["theta_t"] == pytest.approx([squeezer.MOTOR], rel=1e-12)
    force = start.reaction("E", on="K3").force[0]
    assert force[:2] == pytest.approx([98.5668703962410896, -6.12268834425566265], rel=1e-12)


@pytest.mark.parametrize("place", ["on", "off"])
@pytest.mark.parametrize("seed", range(3))
def test_the_row_of_the_misprint_is_that_of_the_paper(seed, place):
    """Against the text of the registry, printed and corrected."""
    equation, m = entry(32, RODRIGUES_2024A), joint_symbols("modified_universal", seed, place)

    def flat(*names):
        return np.concatenate([getattr(m, name).ravel() for name in names])

    unused = np.full(4, np.nan)
    bodies = [np.concatenate([flat(f"r_{b}"), unused, flat(f"r_{b}_dot", f"w_{b}")]) for b in "ij"]
    vectors = [flat(name) for name in ("sP_i", "s_i", "sP_j", "s_j")]
    for sign, form in ((-1.0, equation.literal), (1.0, equation.corrected)):
        row = np.concatenate([np.ravel(part) for part in form(m)])[3]
        assert published.eq32_row4(bodies, vectors, sign) == pytest.approx(row, rel=1e-12)
