"""``talus landing``: both angles of inversion and their rates, sweeps, and the orthosis that a limit needs."""

from dataclasses import replace

import numpy as np
import pytest

from models import foot
from models.foot_muscles import GROUPS
from models.foot_orthosis import PRESETS
from models.isb import ankle_angles
from models.studies.landing import study
from models.studies.landing.design import designed
from models.studies.landing.runs import ANGLES, Case, Control, landed, scaled
from models.studies.landing.study import landing
from models.studies.landing.tables import against_inversion
from runtime import Status, simulate
from runtime.report.tables import text
from tests.support.refusals import assert_refused
from tests.support.reports import check_figures, quiet, records, table

STIFF = PRESETS["stiff"]
STEEP = Case(20.0, 0.05)
CURVE = [(-0.35, -9.0), (0.0, 0.0), (0.2, 8.0), (0.35, 21.0)]
MIXED = {"stiffness": (CURVE, (40.0, 30.0), 17.0), "damping": (1.0, 0.2, 0.1)}
AFTER, TOLERANCE = 0.2, 1e-8


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("landing")
    options = dict(incline="10,20", scale="0.5,1", orthosis="medium", ankle="classical", tolerance=1e-7)
    return folder, landing(folder, quiet, **options)


def fine(share, case):
    """A landing of the modified ankle with the stiff orthosis, made by another method at a tighter tolerance."""
    system = case.build("modified", scaled(STIFF, share) if share else None)
    t = np.linspace(0.0, case.times(AFTER)[-1], 4001)
    return simulate(system, t[-1], t_eval=t, method="radau", rtol=1e-10, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("share", [None, 1.0])
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
    one = landed("classical", STEEP, None, None, AFTER, TOLERANCE)
    assert one.touch_down == pytest.approx(STEEP.fall, abs=1e-9)
    for name in ANGLES:
        assert one.measured[name].at_touch_down == pytest.approx(0.0, abs=1e-6)
        assert one.measured[name].rate_at_touch_down == pytest.approx(0.0, abs=1e-3)
        assert one.measured[name].rising


@pytest.mark.slow
@pytest.mark.parametrize("ankle, angle, limit", [("modified", "subtalar", 5.0), ("classical", "isb", 4.0)])
def test_the_orthosis_is_the_weakest_that_keeps_the_limit(ankle, angle, limit):
    bare = landed(ankle, STEEP, None, None, AFTER, TOLERANCE)
    found = designed(bare, STIFF, angle, limit, AFTER, TOLERANCE)
    assert found.kept and found.result == "kept" and found.runs < 30
    scale = found.landing.scale
    for factor, holds in ((1.002, True), (1.5, True), (3.0, True), (0.998, False)):
        again = landed(ankle, STEEP, STIFF, factor * scale, AFTER, TOLERANCE)
        assert (again.peak(angle) <= limit) == holds, factor


@pytest.mark.slow
def test_limits_that_need_no_orthosis_and_limits_that_none_keeps():
    bare = landed("modified", STEEP, None, None, AFTER, TOLERANCE)
    spare = designed(bare, STIFF, "subtalar", 25.0, AFTER, TOLERANCE)
    assert spare.result == "needs no orthosis" and spare.landing is bare
    none = designed(bare, STIFF, "subtalar", 1.0, AFTER, TOLERANCE)
    assert not none.kept and none.landing.scale == 10.0
    assert none.result == f"not kept by up to 10 times the stiffness, the least is {none.peak:.3g} deg at 10 times"
    assert none.peak == landed("modified", STEEP, STIFF, 10.0, AFTER, TOLERANCE).peak("subtalar") > 1.0


@pytest.mark.slow
def test_damping_may_keep_the_limit_without_stiffness():
    """The bare foot inverts farther; which of the two is reported decides whether an orthosis is needed."""
    bare, damped = landed("modified", STEEP, None, None, AFTER, TOLERANCE), {**STIFF, "damping": (10.0, 10.0, 10.0)}
    alone = landed("modified", STEEP, damped, 0.0, AFTER, TOLERANCE).peak("subtalar")
    found = designed(bare, damped, "subtalar", 1.01 * alone, AFTER, TOLERANCE)
    assert found.result == "its damping, mass and straps alone keep it" and found.landing.scale == 0.0
    assert found.peak == alone < 0.8 * bare.peak("subtalar")
    less = designed(bare, damped, "subtalar", 0.9 * alone, AFTER, TOLERANCE)
    assert less.result == "kept" and less.landing.scale > 0.0


@pytest.mark.slow
def test_a_limit_holds_from_touch_down_on():
    """The foot turns back in its fall, which takes longer than that of a foot that does not move in its ankle."""
    case = Case(20.0, 0.002, inversion=15.0)
    bare = landed("modified", case, None, None, AFTER, TOLERANCE)
    found = designed(bare, STIFF, "subtalar", 5.0, AFTER, TOLERANCE)
    assert found.result == "kept" and found.landing.touch_down > 2.0 * case.fall
    before = -np.rad2deg(found.landing.run.angles["ankle"].theta_i[found.landing.run.t >= case.fall])
    assert before.max() > 7.0
    less = landed("modified", case, STIFF, 0.99 * found.landing.scale, AFTER, TOLERANCE)
    assert less.peak("subtalar") > 5.0


def moments(stiffness):
    """Of an orthosis at an angle of the ankle, about its three axes."""
    system = foot.build(orthosis={"stiffness": stiffness}, ankle_deg=(8.0, -6.0), check_units=False)
    run = simulate(system, 1e-9)
    return [run.forces[f"orthosis_{motion}"].moment[0] for motion in ("dorsiflexion", "inversion", "rotation")]


def test_a_factor_multiplies_the_moments_of_numbers_pairs_and_curves():
    for factor in (0.0, 0.3, 2.5):
        expected = factor * np.array(moments(MIXED["stiffness"]))
        assert np.abs(expected).min() > 0.1 or factor == 0.0
        assert moments(scaled(MIXED, factor)["stiffness"]) == pytest.approx(expected, rel=1e-12)
    assert scaled(MIXED, 2.0)["damping"] == MIXED["damping"]


def test_a_law_has_no_stiffness_to_multiply():
    law = {"stiffness": (200.0, {"law": "hinge_spring", "stiffness": 40.0}, 17.0)}
    assert scaled(law, 1.0)["stiffness"][1] is law["stiffness"][1]
    assert_refused("one entry of stiffness is a law, which has none to multiply by 0.5", scaled, law, 0.5)
    assert against_inversion(law, 1.0) is None


def test_the_stiffness_of_a_pair_is_that_against_inversion_and_a_curve_has_none():
    assert against_inversion(MIXED, 2.0) == pytest.approx(np.deg2rad(80.0))
    assert against_inversion({"stiffness": (200.0, CURVE, 17.0)}, 1.0) is None
    assert against_inversion(MIXED, None) is None


def test_a_failed_landing_is_named_and_does_not_count(tmp_path, without_figures, monkeypatch):
    """Of the modified ankle without an orthosis, which would invert most."""

    def failing(ankle, case, orthosis, scale, after, tolerance):
        one = landed(ankle, case, orthosis, scale, after, tolerance)
        failed = (ankle, case.incline, scale) == ("modified", 20.0, None)
        return replace(one, run=replace(one.run, status=Status.STEP_TOO_SMALL)) if failed else one

    monkeypatch.setattr(study, "landed", failing)
    made = landing(tmp_path, quiet, incline="10,20", keep_inversion_below=20.0, after=0.05, tolerance=1e-6)
    assert [failure for failure in made.failures if failure.startswith("no orthosis, modified ankle, incline 20 deg")]
    assert [failure for failure in made.failures if failure.startswith("design, modified ankle, incline 20 deg")]
    assert len(made.failures) == 2 and "Of 7 landings this one inverts most" in made.answer
    assert len(records(made, "landings")) == 2 * 7
    pivot = records(made, "peak inversion about the subtalar axis")
    (steep,) = [row for row in pivot if (row["ankle"], row["incline [deg]"]) == ("modified ankle", 20)]
    assert steep["no orthosis [deg]"] is None and steep["stiff [deg]"] > 0.0
    without = made.answer.split("without an orthosis")[1].split(";")[0]
    assert "classical ankle" in without and "modified ankle" not in without


def test_rounding_is_printed_as_0(tmp_path, without_figures):
    made = landing(tmp_path, quiet, orthosis="none", after=0.03, tolerance=1e-6)
    for row in records(made, "landings"):
        assert text(row["at touch-down [deg]"]) == text(row["rate at touch-down [deg/s]"]) == "0"
    assert "muscles" not in made.answer  # no case has any


@pytest.mark.slow
def test_a_sweep_has_all_combinations_and_an_orthosis_reduces_inversion(report):
    rows = records(report[1], "landings")
    assert len(rows) == 2 * 2 * 3 * 2 and rows[0]["ankle"] == "classical ankle"
    steep = [r for r in rows if (r["ankle"], r["incline [deg]"], r["angle"]) == ("modified ankle", 20, "subtalar")]
    assert [r["orthosis"] for r in steep] == ["none", "0.5 medium", "medium"]
    peaks = [r["peak inversion [deg]"] for r in steep]
    assert all(np.diff(peaks) < 0.0) and steep[-1]["against inversion [N m/deg]"] == pytest.approx(0.355)
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
        assert row["against inversion [N m/deg]"] == pytest.approx(0.71 * row["of the stiffness"])
        assert f"{row['of the stiffness']:.3g} of the stiffness with the {row['ankle']}" in made.answer


def test_without_an_orthosis_only_ankles_and_inclines_are_compared(tmp_path, without_figures):
    made = landing(tmp_path, quiet, incline="15", orthosis="none", after=0.05, tolerance=1e-6)
    assert len(records(made, "landings")) == 4 and "with the orthosis" not in made.answer
    assert table(made, "landings").note and not any("Shuman" in line for line in made.cite)


def test_the_largest_force_is_found_between_outputs(tmp_path, without_figures):
    (row, *_) = records(landing(tmp_path, quiet, orthosis="none", after=0.05, tolerance=1e-6), "landings")
    system, end = STEEP.build("modified", None), STEEP.times(0.05)[-1]
    fine, coarse = (
        simulate(system, end, t_eval=np.linspace(0.0, end, count), rtol=1e-8, atol=1e-8).ground_reaction().force
        for count in (30_001, 152)
    )
    assert row["force [N]"] == pytest.approx(np.linalg.norm(fine, axis=1).max(), rel=0.05)
    assert row["force [N]"] > 1.1 * np.linalg.norm(coarse, axis=1).max()


def test_each_case_lands_with_and_without_muscles(tmp_path):
    made = landing(
        tmp_path, quiet, orthosis="none", co_activation="0.05,0.1", co_activation_of="evertors", after=0.06, tolerance=1e-6,
    )  # fmt: skip
    assert not made.failures
    pivot = records(made, "peak inversion about the subtalar axis")
    peaks = {(row["ankle"], row["co_activation"]): row["no orthosis [deg]"] for row in pivot}
    for ankle in ("modified ankle", "classical ankle"):
        levels = [peaks[ankle, level] for level in (0.0, 0.01, 0.05, 0.1)]
        assert all(np.diff(levels) < 0.0)
    for level, how in ((0.01, "at rest"), (0.1, "co-activation 0.1 of evertors")):
        said = f"With muscles, without an orthosis ({how}): {peaks['modified ankle', level]:.1f} deg"
        assert said in made.answer
    rows = records(made, "muscles")
    assert len(rows) == 2 * 12 and {row["group"] for row in rows} == {*GROUPS}
    for row in rows:
        assert row["activation at touch-down"] == (0.1 if row["group"] == "evertors" else 0.01)
        assert 0.0 <= row["tension at the peak [N]"] <= row["largest tension [N]"]
    check_figures(tmp_path, records(made, "figures"))
    assert {row["file"] for row in records(made, "figures")} >= {
        "muscle_activation.png",
        "muscle_tension.png",
        "peak_by_co_activation.png",
    }
    assert any("Yoder" in line for line in made.cite)


def test_a_reflex_is_compared_with_muscles_at_rest(tmp_path, without_figures):
    """Until its delay has passed it does nothing, and what resting muscles do is no effect of it."""
    made = landing(tmp_path, quiet, orthosis="none", reflex="5", reflex_delay=0.03, after=0.032, tolerance=1e-6)
    rows = records(made, "peak inversion about the subtalar axis")
    peaks = {(row["ankle"], row["co_activation"], row["reflex"]): row["no orthosis [deg]"] for row in rows}
    assert {key[1:] for key in peaks} == {(0.0, 0.0), (0.01, 0.0), (0.01, 5.0)}
    for ankle in ("modified ankle", "classical ankle"):
        assert peaks[ankle, 0.01, 0.0] < peaks[ankle, 0.0, 0.0]
        assert peaks[ankle, 0.01, 5.0] == pytest.approx(peaks[ankle, 0.01, 0.0], abs=1e-2)
    assert "muscles at rest" in table(made, "peak inversion about the subtalar axis").note


def test_the_orthosis_is_designed_for_a_foot_with_muscles():
    case = replace(STEEP, co_activation=0.02, control=Control(("evertors",), ("evertors",), 0.06))
    bare = landed("modified", case, None, None, 0.08, 1e-6)
    found = designed(bare, STIFF, "subtalar", 0.8 * bare.peak("subtalar"), 0.08, 1e-6)
    assert found.result == "kept" and found.landing.run.forces["per_long"].tension.max() > 0.0
    less = landed("modified", case, STIFF, 0.98 * found.landing.scale, 0.08, 1e-6)
    assert less.peak("subtalar") > found.limit
    late = landed("modified", replace(case, reflex=1.0), None, None, 0.08, 1e-6)
    assert_refused("delay", designed, late, STIFF, "subtalar", 0.8 * bare.peak("subtalar"), 0.08, 1e-6)


def test_an_orthosis_from_a_file(tmp_path, without_figures):
    file = tmp_path / "mine.toml"
    file.write_text("stiffness = [200, 40, 17]\ndamping = [1, 0.2, 0.1]\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    made = landing(tmp_path / "out", quiet, orthosis=str(file), after=0.03, tolerance=1e-6)
    worn = records(made, "landings")[2]
    assert worn["orthosis"] == "mine" and worn["against inversion [N m/deg]"] == pytest.approx(np.deg2rad(40))
    file.write_text("stiffness = [200, 40\n", encoding="utf-8")
    assert_refused("write lines such as stiffness = [200, 40, 17]", landing, tmp_path, quiet, orthosis=str(file))
    file.write_text("stifness = [200, 40, 17]\n", encoding="utf-8")
    assert_refused("orthosis has no 'stifness'", landing, tmp_path, quiet, orthosis=str(file))
    file.write_text("stiffness = [0, 0, 0]\ndamping = [1, 0.2, 0.1]\n", encoding="utf-8")
    words = "scale: each stiffness of the orthosis is 0, which no factor changes; give one above 0"
    assert_refused(words, landing, tmp_path, quiet, orthosis=str(file), scale="1,2")


def test_pairs_and_curves_from_a_file(tmp_path, without_figures):
    file = tmp_path / "mine.toml"
    file.write_text(f"stiffness = [200, [40, 30], {[list(point) for point in CURVE]}]\n", encoding="utf-8")
    made = landing(tmp_path, quiet, orthosis=str(file), scale="0.5", after=0.03, tolerance=1e-6)
    worn = [row for row in records(made, "landings") if row["orthosis"] == "0.5 mine"]
    assert len(worn) == 4 and worn[0]["against inversion [N m/deg]"] == pytest.approx(np.deg2rad(20))


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(ankle="hinge"), "ankle = 'hinge'; use modified, classical"),
        (dict(angle="hinge"), "angle = 'hinge'; use subtalar, isb"),
        (dict(orthosis="plaster"), "orthosis = 'plaster' is no preset; use flexible, medium, stiff, or a .toml file"),
        (
            dict(orthosis="none", keep_inversion_below=5.0),
            "keep_inversion_below: the stiffness of an orthosis is varied, and",
        ),
        (
            dict(orthosis="none", scale="2"),
            "scale: the stiffness of an orthosis is varied, and orthosis = 'none'; name an orthosis",
        ),
        (dict(after=np.nan), "after = nan is not finite"),
        (dict(keep_inversion_below=-5.0), "keep_inversion_below = -5 is not positive"),
        (dict(incline="steep"), "incline = 'steep'; give numbers, such as 30,42,60, or FIRST:LAST:COUNT"),
        (
            dict(co_activation="0.3", co_activation_of="peronei"),
            "muscles: co-activation of 'peronei'; use all, invertors",
        ),
        (dict(reflex="1", reflex_of="peronei"), "muscles: reflex of 'peronei'; use all, invertors"),
        (dict(reflex="1", reflex_delay=0.3), "--reflex-delay = 0.3 s: must be 0 or more and less than the 0.2 s after"),
        (dict(reflex="1", reflex_delay=-0.06), "--reflex-delay = -0.06 s: must be 0 or more"),
        (dict(co_activation="0.3", reflex_delay=0.06), "--reflex-delay belongs to --reflex, which is 0"),
        (dict(co_activation="0.3", reflex_of="all"), "--reflex-of belongs to --reflex, which is 0"),
        (dict(reflex="1", co_activation_of="all"), "--co-activation-of belongs to --co-activation, which is 0"),
        (dict(co_activation="2"), "excitation"),
        (dict(height="-1"), "clearance = -1 m: the foot falls from above the ground"),
        (dict(scale="-1,1"), "scale = '-1,1': factors are 0 or more; with 0 damping, mass and straps act alone"),
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
    assert made.failures and "the foot did not land; give after= above 0.001" in made.failures[0]
    assert "stiff orthosis" in made.failures[0]
