"""``talus drop`` with an ankle of two axes: inversion on inclines, with and without an orthosis."""

import numpy as np
import pytest

from models import foot, foot_orthosis
from models.studies import drop as study
from models.studies import landing
from runtime import simulate
from tests.support.refusals import assert_refused
from tests.support.reports import check_figures, quiet, records, table


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("landing")
    options = dict(ankle="classical", incline="10,20", orthosis="medium", t_end=0.25, tolerance=1e-7)
    return folder, study.drop(folder, quiet, **options)


@pytest.mark.slow
def test_rows_are_those_of_runs_made_alone(report):
    rows = records(report[1], "peak inversion")
    assert len(rows) == 2 * 2 * len(landing.SHARES)
    assert [row["ankle"] for row in rows[:: 2 * len(landing.SHARES)]] == ["classical ankle", "modified ankle"]
    stiffness = np.array(foot_orthosis.PRESETS["medium"]["stiffness"])
    for row, name, share in ((rows[-1], "modified", 1.0), (rows[6], "classical", 0.0), (rows[8], "classical", 0.1)):
        system = foot.build(
            name, ground=True, leg="free", incline_deg=20.0, limits="dissipative", toes="sprung",
            orthosis=dict(stiffness=share * stiffness), check_units=False,
        )  # fmt: skip
        run = simulate(system, 0.25, t_eval=np.linspace(0.0, 0.25, 251), method="radau", rtol=1e-10, atol=1e-10)
        angle = np.rad2deg(run.limits["talocalcaneal"].angle)
        at_impact = angle[run.t < run.contact_events[0, 0] + landing.IMPACT]
        assert row["incline [deg]"] == 20.0
        assert row["inversion [N m/deg]"] == pytest.approx(0.355 * share)
        assert row["impact [deg]"] == pytest.approx(at_impact.max(), abs=1e-3)
        assert row["in all [deg]"] == pytest.approx(angle.max(), abs=1e-3)


@pytest.mark.slow
def test_an_orthosis_reduces_inversion_and_the_answer_says_by_how_much(report):
    rows = records(report[1], "peak inversion")
    steep = [row for row in rows if row["ankle"] == "classical ankle" and row["incline [deg]"] == 20.0]
    peaks = [row["impact [deg]"] for row in steep]
    assert all(np.diff(peaks) < 0.0) and steep[-1]["change [deg]"] == pytest.approx(peaks[-1] - peaks[0])
    assert report[1].answer.startswith("Landing on an incline of 20 deg")
    assert f"classical ankle {peaks[0]:.1f} and" in report[1].answer and f"{peaks[-1]:.1f} and" in report[1].answer


@pytest.mark.slow
def test_figures_and_files_are_written(report):
    folder, made = report
    assert not made.failures and "Shuman" in " ".join(made.cite)
    check_figures(folder, records(made, "figures"))
    assert {row["file"] for row in records(made, "figures")} == {
        "inversion.png",
        "peak_by_incline.png",
        "peak_by_stiffness.png",
    }
    assert (folder / "no_orthosis_classical_ankle.nc").exists()


def test_without_an_orthosis_only_ankles_and_inclines_are_compared(tmp_path, without_figures):
    made = study.drop(tmp_path, quiet, incline="15", orthosis="none", t_end=0.15, tolerance=1e-6)
    assert len(records(made, "peak inversion")) == 2 and "orthosis" not in made.answer
    assert table(made, "peak inversion").note and not any("Shuman" in line for line in made.cite)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(ankle="hinge"), "ankle = 'hinge'; use sagittal, classical, modified"),
        (dict(orthosis="plaster"), "orthosis = 'plaster' is no preset"),
        (dict(incline="steep"), "incline = 'steep'; give numbers, such as 30,42,60, or FIRST:LAST:COUNT"),
        (dict(incline="200"), "incline_deg = 200 degrees must lie between -90 and 90 degrees"),
    ],
)
def test_bad_options_are_refused(tmp_path, options, message):
    assert_refused(message, study.drop, tmp_path, quiet, **options)


def test_the_command_names_its_options(command):
    done = command("drop", "--incline", "200", "--out", "o")
    assert done.code == 2 and "--incline = 200 degrees must lie" in done.err


def test_a_foot_that_does_not_land_is_reported(tmp_path, without_figures):
    made = study.drop(tmp_path, quiet, incline="10", orthosis="none", t_end=0.05)
    assert len(made.failures) == 2 and "the foot did not land within 0.05 s; give a longer --t-end" in made.failures[0]
