"""Many subjects: means, comparisons, and trials and subjects that cannot be used, from Python and by ``talus gait-table``."""

import json
import shutil

import numpy as np
import pytest
import xarray

from models.studies.gait_table import comparisons, figures, tables
from models.walking import Filters, analyse, analyse_subjects, synthetic
from models.walking.capture import read_capture
from models.walking.cycle_curves import curve, vertical
from models.walking.subject_curves import Subjects, TrialCurves
from models.walking.subject_table import SubjectTable
from tests.support.gait_files import laboratory, trial_at_100_hz
from tests.support.recorded_gait import C3D, recorded
from tests.support.refusals import assert_refused

OFF = Filters.off()
MARKERS = dict(synthetic.MARKERS)
NAMED = [word for pair in MARKERS.items() for word in ("--marker", "=".join(pair))]
PEOPLE = ("ann", "bob", "cyd", "dan")


def people(tmp_path, rows=None, names=PEOPLE):
    """A table of subjects with the files of the synthetic walk; dan's second trial is a bad file."""
    static, walk = laboratory(tmp_path, None, trial_at_100_hz())
    lines = ["subject,mass,height,static,trials,side,group"]
    (tmp_path / "bad_markers.csv").write_text("nothing\n")
    for k, name in enumerate(names):
        trials = f"{walk.name}{'|bad_markers.csv' if name == 'dan' else ''}"
        mass = synthetic.MASS + k
        lines.append(
            f"{name},{mass},{synthetic.HEIGHT},{static.name},{trials},right,{'a' if name in PEOPLE[:2] else 'b'}"
        )
    file = tmp_path / "people.csv"
    file.write_text("\n".join(lines + (rows or [])) + "\n")
    return file


@pytest.mark.slow
def test_each_subject_counts_once_and_what_fails_is_named(tmp_path):
    file = people(tmp_path)
    seen, lines = {}, []
    found = analyse_subjects(
        file, filters=OFF, markers=MARKERS, say=lines.append, each=lambda row, done: seen.update({row.subject: done})
    )
    assert list(seen) == list(PEOPLE) and lines[-1] == "4 of 4: dan: 1 of 2 trials, right foot"
    (failure,) = found.failures
    assert failure.startswith("subject 'dan' (line 5): trial bad_markers.csv is not used: bad_markers.csv: ")
    one = seen["bob"].found[0]
    by_name = {mean.subject: mean for mean in found.means_of_subjects()}
    np.testing.assert_array_equal(by_name["bob"].curves["talocrural_moment"], curve(one, "moment", "talocrural"))
    np.testing.assert_array_equal(by_name["bob"].curves["vertical_force"], vertical(one))
    data, means, table = found.to_xarray(), found.means_to_xarray("right"), found.to_pandas()
    assert data.talocrural_angle.dims == ("trial", "percent") and data.talocrural_angle.attrs["units"] == "deg"
    assert list(data.subject.values) == list(PEOPLE) and list(means.group.values) == ["a", "b"]
    in_group = [by_name[name].curves["talocrural_power"] for name in ("cyd", "dan")]
    np.testing.assert_allclose(means.talocrural_power.sel(set=1, statistic="mean"), np.mean(in_group, axis=0))
    np.testing.assert_allclose(means.talocrural_power.sel(set=1, statistic="SD"), np.std(in_group, axis=0, ddof=1))
    assert list(table.used) == [True] * 4 + [False] and table.reason[4] in failure
    assert_refused(
        "a: 2 curves, at least 3 are needed", found.compare, "talocrural_angle", groups=("a", "b"), foot="right"
    )
    assert_refused("unknown group 'c'; the groups are a, b", found.compare, "talocrural_angle", groups=("a", "c"))


def test_conditions_are_paired_by_subject():
    pytest.importorskip("spm1d")
    rng, trials = np.random.default_rng(0), []
    x = np.linspace(0.0, 2.0 * np.pi, 101)
    for subject in "abcdef":
        own = rng.normal()
        for condition, shift in (("slow", 0.0), ("fast", 0.3)):
            for side, foot in (("right", 1.0), ("left", -1.0)):
                values = own + shift + foot + 0.1 * rng.normal() * np.sin(x + rng.normal())
                if (subject, condition) == ("f", "fast"):
                    continue
                trials.append(TrialCurves(subject, "", condition, "t", side, {"talocrural_angle": values}, {}, 60.0))
    found = Subjects(SubjectTable(None, ()), tuple(reversed(trials)), ())
    assert found.comparisons() == [{"conditions": ("slow", "fast"), "within": None}]
    slow, fast = found.compared(conditions=("slow", "fast"))
    assert [one.subject for one in slow] == [one.subject for one in fast] == list("edcba")  # f has one condition
    test = found.compare("talocrural_angle", conditions=("slow", "fast"))
    assert test.paired and test.significant and not test.clusters[0].higher
    # The feet of a subject are averaged: their difference of 2 does not enter.
    assert np.abs(test.difference + 0.3).max() < 0.2


def test_curves_of_the_toes_carry_their_caveats():
    pytest.importorskip("spm1d")
    rng, trials = np.random.default_rng(1), []
    names = [f"metatarsophalangeal_{name}" for name in ("angle", "moment", "power")]
    for number, subject in enumerate("abcdefgh"):
        group = "one" if number < 4 else "other"
        waves = {name: np.sin(np.linspace(0, 6, 101) + rng.normal()) + rng.normal() for name in names}
        caveat = "from one marker, 'TOE'" if subject == "a" else ""
        trials.append(TrialCurves(subject, group, "", "t", "right", waves, {}, 60.0, caveat))
    found = Subjects(SubjectTable(None, ()), tuple(trials), ())
    assert found.caveats[names[0]] == "from one marker, 'TOE'" and "upper bound" in found.caveats[names[1]]
    for data in (found.to_xarray(), found.means_to_xarray()):
        assert data[names[0]].attrs["comment"] == "from one marker, 'TOE'"
        assert all("upper bound" in data[name].attrs["comment"] for name in names[1:])
    results, left_out = comparisons.compared(found, None, "mean", 0.05)
    assert not left_out
    note = tables.comparison(results[0], found.caveats).note
    assert "metatarsophalangeal moment: upper bound" in note and "from one marker" in note
    drawings = figures.figures(found, "mean", results)
    assert drawings.keys() == {"means", "means_right", "comparison_1"}
    for drawing in drawings.values():
        texts = " ".join(" ".join(text.get_text().split()) for ax in drawing.draw().axes for text in ax.texts)
        assert texts.count("upper bound") == 2 and "from one marker, 'TOE'" in texts


@pytest.mark.slow
def test_the_command_writes_groups_and_names_what_failed(tmp_path, command, without_figures):
    static, walk = "standing_markers.csv", "walk_markers.csv"
    more = [f"eve,{synthetic.MASS},1.8,{static},{walk},right,a", f"flo,60,1.8,{static},{walk},right,b"]
    file = people(tmp_path, [*more, f"gus,70,1.8,{walk},bad_markers.csv,right,b"])
    options = [file, "--no-filter", *NAMED, "--no-reports", "--processes", 1, "--out", "o"]
    done = command("gait-table", *options, "--json")
    summary = json.loads(done.out)
    assert done.code == 1 and len(summary["failures"]) == 2
    assert "trial bad_markers.csv is not used" in done.err and "subject 'gus' (line 8): not used" in done.err
    assert "6 of 7 subjects and 6 of 8 trials are used." in summary["answer"]
    assert [row["result"] for row in summary["tables"]["subjects"]] == ["used"] * 3 + [
        "used in part", "used", "used", "not used",
    ]  # fmt: skip
    (comparison,) = [rows for title, rows in summary["tables"].items() if title.startswith("comparison 1: a and b")]
    # All walk alike, so that the angles of the groups do not vary; loads per body mass do.
    assert "vertical ground force [BW]" in [row["curve"] for row in comparison]
    notes = [row["assumption that was not read from a file"] for row in summary["tables"]["notes"]]
    assert any(note.startswith("a and b: talocrural angle is not compared: ") for note in notes)
    folder = tmp_path / "o"
    for name in ("report.html", "comparison_1_curves.csv", "curve_means.csv", "trials.csv"):
        assert (folder / name).stat().st_size > 100, name
    with xarray.open_dataset(folder / "curves.nc") as data:
        assert data.sizes["trial"] == 6
    without = tmp_path / "without.csv"
    without.write_text(file.read_text().replace(",right,", ",,"))
    pairs = "--compare = 'a,c': give two groups or two conditions of the table as A,B; the groups are"
    for arguments, sentence in (
        (options, "output folder 'o' exists"),
        ([file, *NAMED, "--compare", "a,c"], pairs),
        ([file, "--foot", "both"], "--foot = 'both': use right, left, mean"),
        ([without, *NAMED], "line 2: give the side, as --marker names the labels of one foot"),
        ([tmp_path / "none.csv"], "none.csv"),
    ):
        done = command("gait-table", *arguments)
        assert done.code == 2 and sentence in done.err


@pytest.mark.slow
def test_without_spm1d_the_means_are_written_and_the_remedy_is_named(tmp_path, command, monkeypatch):
    monkeypatch.setattr("models.walking.curve_tests.find_spec", lambda name: None)
    file = people(tmp_path, names=("ann", "dan"))
    options = [file, "--no-filter", *NAMED, "--no-reports", "--processes", 1, "--out", "o"]
    done = command("gait-table", *options, "--compare", "a,b")
    assert done.code == 2 and "pip install 'talus-multibody[statistics]'" in done.err and not (tmp_path / "o").exists()
    done = command("gait-table", *options)
    notes = (tmp_path / "o" / "notes.csv").read_text()
    assert (
        done.code == 1
        and "pip install 'talus-multibody[statistics]'" in notes
        and (tmp_path / "o" / "means.png").exists()
    )


@pytest.mark.slow
@pytest.mark.long
@recorded
def test_conditions_of_an_adult_in_two_processes_with_their_reports(tmp_path, command):
    pytest.importorskip("ezc3d")
    for file in C3D.glob("2014004_*.c3d"):
        shutil.copy(file, tmp_path)
    rows = ["subject;static;trials;condition"]
    rows += [f"2014004;2014004_ST.c3d;2014004_C{k}_*.c3d;{name}" for k, name in ((4, "self-selected"), (5, "fast"))]
    (tmp_path / "people.csv").write_text("\n".join(rows), encoding="utf-8-sig")
    done = command("gait-table", "people.csv", "--no-filter", "--out", "o", "--processes", 2)
    assert done.code == 0, done.err
    own = tmp_path / "o" / "subjects" / "2014004__fast"
    assert (own / "report.html").is_file() and (own / "gait.nc").is_file()
    static, walk = (read_capture(C3D / f"2014004_{name}.c3d") for name in ("ST", "C5_01"))
    with xarray.open_dataset(tmp_path / "o" / "curves.nc") as data:
        assert data.sizes["trial"] == 4
        for side in ("right", "left"):
            one = analyse(static, walk, side=side, filters=OFF)
            row = data.where((data.file.str.startswith(walk.name)) & (data.side == side), drop=True)
            np.testing.assert_allclose(
                row.talocrural_moment.values[0], curve(one, "moment", "talocrural"), rtol=1e-9, atol=1e-12
            )
    assert "at least 3 are needed" in (tmp_path / "o" / "notes.csv").read_text()
