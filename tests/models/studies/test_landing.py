"""``talus landing``: both angles of inversion and their rates, sweeps, and the orthosis that a limit needs."""

import numpy as np
import pytest

from models import foot
from models.foot_orthosis import PRESETS
from models.isb import ankle_angles
from models.studies.landing.design import designed
from models.studies.landing.runs import ANGLES, Case, landed, scaled
from models.studies.landing.study import landing
from runtime import simulate
from tests.support.refusals import assert_refused
from tests.support.reports import check_figures, quiet, records, table

STIFF = PRESETS["stiff"]
STEEP = Case(20.0, 0.05)
AFTER, TOLERANCE = 0.2, 1e-8


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("landing")
    options = dict(incline="10,20", scale="0.5,1", orthosis="medium", ankle="classical", tolerance=1e-7)
    return folder, landing(folder, quiet, **options)


def fine(share, case):
    """A landing of the modified ankle with the stiff orthosis, made by another method at a tighter tolerance."""
    system = foot.build(
        ground=True, leg="free", incline_deg=case.incline, clearance=case.height, mu_c=case.friction, limits="dissipative",
        toes="sprung", ankle_deg=(case.dorsiflexion, case.inversion), posture_deg=(case.pitch, case.roll, 0.0),
        transition_velocity=0.02, orthosis=scaled(STIFF, share) if share else None, check_units=False,
    )  # fmt: skip
    t = np.linspace(0.0, case.times(AFTER)[-1], 4001)
    return simulate(system, t[-1], t_eval=t, method="radau", rtol=1e-10, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_peaks_and_values_at_touch_down_are_those_of_a_finer_run(share):
    case = Case(25.0, 0.1, pitch=5.0, roll=4.0, dorsiflexion=-8.0, inversion=6.0, friction=0.7)
    one, run = landed("modified", case, STIFF, share, AFTER, TOLERANCE), fine(share, case)
    begin, inversion = run.contact_events[0, 0], ankle_angles(run)
    own = {
        "subtalar": (-np.rad2deg(run.angles["ankle"].theta_i), np.rad2deg(-run.angles["ankle"].rates["theta_i"])),
        "isb": (np.rad2deg(inversion.inversion), np.rad2deg(np.gradient(inversion.inversion, run.t))),
    }
    for name, (angle, rate) in own.items():
        found, late = one.measured[name], run.t >= begin
        assert found.peak == pytest.approx(angle[late].max(), abs=1e-2)
        assert found.peak_at == pytest.approx(1e3 * (run.t[late][angle[late].argmax()] - begin), abs=1.5)
        assert found.peak_rate == pytest.approx(rate[late].max(), rel=0.03)
        before = int(np.searchsorted(run.t, begin)) - 2
        assert found.at_touch_down == pytest.approx(angle[before] + rate[before] * (begin - run.t[before]), abs=1e-3)
        assert found.rate_at_touch_down == pytest.approx(rate[before], abs=1.0)
    assert one.touch_down == pytest.approx(begin, abs=1e-6)
    if share:  # the spring turns the foot back while it falls
        assert one.measured["subtalar"].rate_at_touch_down != 0.0


@pytest.mark.slow
def test_without_motion_of_the_ankle_the_foot_falls_freely():
    one = landed("classical", STEEP, None, 0.0, AFTER, TOLERANCE)
    assert one.touch_down == pytest.approx(STEEP.fall, abs=1e-9)
    for name in ANGLES:
        assert one.measured[name].at_touch_down == pytest.approx(0.0, abs=1e-6)
        assert one.measured[name].rate_at_touch_down == pytest.approx(0.0, abs=1e-3)
        assert one.measured[name].rising


@pytest.mark.slow
@pytest.mark.parametrize("ankle, angle, limit", [("modified", "subtalar", 5.0), ("classical", "isb", 4.0)])
def test_the_orthosis_is_the_weakest_that_keeps_the_limit(ankle, angle, limit):
    bare = landed(ankle, STEEP, None, 0.0, AFTER, TOLERANCE)
    found = designed(bare, STIFF, angle, limit, AFTER, TOLERANCE)
    assert found.kept and found.result == "kept" and found.runs < 30
    scale = found.landing.scale
    for factor, holds in ((1.002, True), (1.5, True), (3.0, True), (0.998, False)):
        again = landed(ankle, STEEP, STIFF, factor * scale, AFTER, TOLERANCE)
        assert (again.peak(angle) <= limit) == holds, factor


@pytest.mark.slow
def test_limits_that_need_no_orthosis_and_limits_that_none_keeps():
    bare = landed("modified", STEEP, None, 0.0, AFTER, TOLERANCE)
    spare = designed(bare, STIFF, "subtalar", 25.0, AFTER, TOLERANCE)
    assert spare.result == "needs no orthosis" and spare.landing is bare
    none = designed(bare, STIFF, "subtalar", 1.0, AFTER, TOLERANCE)
    assert not none.kept and none.landing.scale == 10.0
    assert none.result.startswith(f"not kept: {none.peak:.3g} deg remain at 10 times the stiffness")
    assert none.peak == landed("modified", STEEP, STIFF, 10.0, AFTER, TOLERANCE).peak("subtalar") > 1.0


@pytest.mark.slow
def test_a_sweep_has_all_combinations_and_an_orthosis_reduces_inversion(report):
    rows = records(report[1], "landings")
    assert len(rows) == 2 * 2 * 3 * 2 and rows[0]["ankle"] == "classical ankle"
    steep = [r for r in rows if (r["ankle"], r["incline [deg]"], r["angle"]) == ("modified ankle", 20, "subtalar")]
    assert [r["orthosis"] for r in steep] == ["none", "0.5 medium", "medium"]
    peaks = [r["peak inversion [deg]"] for r in steep]
    assert all(np.diff(peaks) < 0.0) and steep[-1]["stiffness [N m/deg]"] == pytest.approx(0.355)
    assert report[1].answer.startswith("Largest inversion about the subtalar axis (incline 20 deg, height 0.05 m)")
    assert f"{peaks[0]:.1f} deg and rising" in report[1].answer and f"{peaks[-1]:.1f} deg" in report[1].answer
    pivot = records(report[1], "peak inversion about the subtalar axis")
    (own,) = [row for row in pivot if row["ankle"] == "modified ankle" and row["incline [deg]"] == 20]
    assert [own["no orthosis [deg]"], own["0.5 medium [deg]"], own["medium [deg]"]] == peaks


@pytest.mark.slow
def test_figures_and_files_are_written(report):
    folder, made = report
    assert not made.failures and "Shuman" in " ".join(made.cite)
    check_figures(folder, records(made, "figures"))
    drawn = {row["file"] for row in records(made, "figures")}
    assert drawn == {"inversion.png", "peak_by_incline.png", "peak_by_stiffness.png"}
    assert (folder / "no_orthosis_classical_ankle.nc").exists()


@pytest.mark.slow
def test_a_design_is_reported_for_both_ankles(tmp_path, without_figures):
    made = landing(tmp_path, quiet, keep_inversion_below=5.0, scale="1", tolerance=1e-7)
    rows = records(made, "designs")
    assert [row["ankle"] for row in rows] == ["modified ankle", "classical ankle"]
    for row in rows:
        assert row["result"] == "kept" and row["peak, subtalar [deg]"] == pytest.approx(5.0, abs=1e-3)
        assert row["about inversion [N m/deg]"] == pytest.approx(0.71 * row["of the stiffness"])
        assert f"{row['of the stiffness']:.3g} of the stiffness with the {row['ankle']}" in made.answer


def test_without_an_orthosis_only_ankles_and_inclines_are_compared(tmp_path, without_figures):
    made = landing(tmp_path, quiet, incline="15", orthosis="none", after=0.05, tolerance=1e-6)
    assert len(records(made, "landings")) == 4 and "with the orthosis" not in made.answer
    assert table(made, "landings").note and not any("Shuman" in line for line in made.cite)


def test_an_orthosis_from_a_file(tmp_path, without_figures):
    file = tmp_path / "mine.toml"
    file.write_text("stiffness = [200, 40, 17]\ndamping = [1, 0.2, 0.1]\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    made = landing(tmp_path / "out", quiet, orthosis=str(file), after=0.03, tolerance=1e-6)
    worn = records(made, "landings")[2]
    assert worn["orthosis"] == "mine" and worn["stiffness [N m/deg]"] == pytest.approx(np.deg2rad(40))
    file.write_text("stiffness = [200, 40\n", encoding="utf-8")
    assert_refused("write lines such as stiffness = [200, 40, 17]", landing, tmp_path, quiet, orthosis=str(file))
    file.write_text("stifness = [200, 40, 17]\n", encoding="utf-8")
    assert_refused("orthosis has no 'stifness'", landing, tmp_path, quiet, orthosis=str(file))


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(ankle="hinge"), "ankle = 'hinge'; use modified, classical"),
        (dict(angle="hinge"), "angle = 'hinge'; use subtalar, isb"),
        (dict(orthosis="plaster"), "orthosis = 'plaster' is no preset; use flexible, medium, stiff, or a .toml file"),
        (dict(orthosis="none", keep_inversion_below=5.0), "name an orthosis"),
        (dict(incline="steep"), "incline = 'steep'; give numbers, such as 30,42,60, or FIRST:LAST:COUNT"),
        (dict(height="-1"), "clearance = -1 m: the foot falls from above the ground"),
        (dict(scale="0,1"), "scale = '0,1': factors must be above 0"),
        (dict(incline="0:30:100", scale="1:2:9"), "2000 landings, limit 500"),
    ],
)
def test_bad_options_are_refused(tmp_path, options, message):
    assert_refused(message, landing, tmp_path, quiet, **options)


@pytest.mark.filterwarnings("ignore:models.foot.build. incline_deg")
def test_an_impossible_incline_is_refused(tmp_path):
    assert_refused("incline_deg = 200 degrees must lie between -90 and 90", landing, tmp_path, quiet, incline="200")


def test_a_foot_that_does_not_land_is_reported(tmp_path, without_figures):
    """The spring of the orthosis turns the foot up while it falls."""
    made = landing(tmp_path, quiet, dorsiflexion="30", after=0.001)
    assert made.failures and "the foot did not land; give more than --after 0.001" in made.failures[0]
    assert "stiff orthosis" in made.failures[0]
