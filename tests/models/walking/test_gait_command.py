"""The command ``talus gait``: the files that it writes, what it prints, and several trials of which one is bad."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray

from models.studies.gait import bands
from models.studies.gait.tables import LITERATURE
from models.walking import muscles_of_walk, synthetic
from models.walking.capture import read_capture
from models.walking.cycle_curves import curve
from models.walking.gait_result import PERCENT
from models.walking.heading import along_x
from models.walking.leg_foot import JOINTS
from models.walking.plate_assignment import assign_feet
from models.walking.synthetic import CYCLE, STANCE, STRIKE
from models.walking.upper_leg import UPPER_ANGLES
from runtime.report import terminal
from tests.package.test_table_widths import check_report
from tests.support.gait_files import laboratory, trial_at_100_hz, write_trc
from tests.support.recorded_gait import C3D, recorded
from tests.support.reports import check_figures
from tests.support.spoilt_captures import gap
from tests.support.walker import other_laboratory, relative


def storage(file):
    """Header, names and table of an OpenSim storage file."""
    lines = file.read_text().splitlines()
    end = lines.index("endheader")
    header = dict(line.split("=") for line in lines[1:end])
    names = lines[end + 1].split("\t")
    table = np.array([[float(word) for word in line.split("\t")] for line in lines[end + 2 :]])
    assert (len(table), len(names)) == (int(header["nRows"]), int(header["nColumns"])) and header["version"] == "1"
    assert table.shape[1] == len(names) and names[0] == "time" and (np.diff(table[:, 0]) > 0).all()
    assert np.isfinite(table).all()
    return header, names, table


@pytest.mark.slow
@pytest.mark.long
def test_without_files_the_command_runs_the_synthetic_trial(talus, tmp_path, monkeypatch):
    monkeypatch.setattr(terminal, "out_console", terminal.plain_console(width=120))
    show, reports = terminal.show_report, []
    monkeypatch.setattr(terminal, "show_report", lambda one, **more: reports.append(one) or show(one, **more))
    done = talus("--full", "--out", "o")
    assert done.code == 0, done.err
    check_report(*reports, monkeypatch)
    folder = tmp_path / "o"
    assert len((folder / "report.html").read_text(encoding="utf-8")) < 3_000_000
    assert "markers, modelled" in (folder / "motion.html").read_text(encoding="utf-8")
    summary = json.loads((folder / "summary.json").read_text())
    check_figures(folder, summary["tables"]["figures"])
    written = {file.name for file in folder.iterdir()} - {".talus"}
    assert summary["failures"] == [] and {Path(file).name for file in summary["files"]} == written
    recovery = summary["tables"]["synthetic trial: recovered"]
    assert len(recovery) == 14 and all(row["error"] < row["limit"] <= 5e-6 for row in recovery)
    assert "forward simulation" in recovery[-1][""]
    feedback = re.search(r"added ([\d.e+-]+) N m", summary["notes"]["synthetic trial: recovered"])
    assert float(feedback[1]) < 1e-6
    for word in ("synthetic", "Isman and Inman (1969)", "de Leva (1996)", "plantarflexor moment", "1.33 ± 0.13"):
        assert word in done.out
    for table in ("trials", "peaks", "synthetic_trial"):
        assert (folder / f"{table}.csv").is_file()
    peaks = {row[""]: row["mean"] for row in summary["tables"]["peaks"]}
    for name, (mean, sd) in {
        name: map(float, re.findall(r"-?[\d.]+", text)) for name, text in LITERATURE.items()
    }.items():
        assert abs(peaks[name] - mean) < 3 * sd, name


@pytest.mark.slow
def test_muscles_of_a_walk(talus, tmp_path, synthetic_walk):
    """Tables, files and the answer have what ``muscles_of_walk`` finds; other options of muscles need --muscles."""
    cost = ("--muscle-cost", "stress", "--muscle-exponent", "1", "--muscle-strength", "2", "--passive-forces")
    done = talus("--muscles", *cost, "--json", "--out", "o")
    assert done.code == 0, done.err
    data, out = json.loads(done.out), tmp_path / "o"
    of = dict(cost="stress", exponent=1.0, passive=True)
    found = muscles_of_walk(synthetic_walk, tmp_path / "leg.osim", muscles=of, strength=2.0)
    assert (out / "leg_right.osim").read_text() == (tmp_path / "leg.osim").read_text()
    assert [(row["hinge"], row["joint"]) for row in data["tables"]["contact forces"]] == [
        (hinge, sort) for hinge in ("ankle_r", "subtalar_r") for sort in found.trials
    ]
    for row in data["tables"]["contact forces"]:
        size = found.trials[row["joint"]].contacts[row["hinge"]].size.max()
        assert row["largest [N]"] == pytest.approx(size, abs=0.06)
    weights = found.trials["universal"].contacts["ankle_r"].size.max() / (9.81 * synthetic.MASS)
    assert f"contact force of ankle_r: {weights:.2f} body weights (universal)" in data["answer"]
    notes = " ".join(row["assumption that was not read from a file"] for row in data["tables"]["notes"])
    assert "gait2392" in notes and "maximum isometric forces times 2" in notes
    _, names, table = storage(out / "muscles_modified_universal_activation.sto")
    muscles = found.trials["modified universal"].muscles
    assert table[:, 0] == pytest.approx(muscles.t)
    assert table[:, names.index("soleus_r")] == pytest.approx(muscles.activations["soleus_r"], abs=1e-6)
    header, *rows = csv.reader((out / "ankle_contact.csv").read_text().splitlines())
    along = [float(row[header.index("ankle_r force y in tibia_r, modified universal [N]")]) for row in rows]
    assert along == pytest.approx(found.trials["modified universal"].contacts["ankle_r"].in_inner[:, 1], abs=1e-3)
    assert (out / "muscles_ankle_r.png").exists() and (out / "contact.png").exists()
    page = (out / "motion.html").read_text(encoding="utf-8")
    assert "muscles, activation 0 to 1" in page and "synthetic trial, right foot" in page
    for option in (cost[:2], cost[2:4], cost[4:6], cost[6:]):
        refused = talus(*option, "--out", "p")
        assert refused.code == 2 and f"{option[0]} belongs to muscles" in refused.err
    for option, sentence in (
        (("--muscle-exponent", "0.5"), "exponent = 0.5"),
        (("--muscle-cost", "force"), "cost = 'force'"),
    ):
        assert sentence in talus("--muscles", *option, "--out", "p").err and not (tmp_path / "p").exists()


@pytest.mark.slow
@pytest.mark.long
def test_bands_by_the_axes(talus, tmp_path, monkeypatch):
    """Intervals, the unknowns that cause them, bands in files and figures; also of muscles, here with two draws."""
    monkeypatch.setattr(bands, "ENOUGH", 2)
    done = talus("--axes", "posterior", "--muscles", "--figure-format", "png", "--json", "--out", "o")
    assert done.code == 0, done.err
    data, out = json.loads(done.out), tmp_path / "o"
    intervals = {row[""]: row for row in data["tables"]["intervals by the axes"]}
    assert "ankle contact force, largest [BW]" in intervals
    for name in ("plantarflexor moment, largest [N m/kg]", "inversion, range [deg]"):
        assert intervals[name]["95 % from"] < intervals[name]["value"] < intervals[name]["to"]
    assert "vertical force, first peak [BW]" not in intervals  # axes do not change it
    assert any(row[""] == "soleus force, largest [N]" for row in data["tables"]["intervals by the axes, muscles"])
    blamed = {row["of"]: row for row in data["tables"]["which unknown causes the spread"]}
    for row in blamed.values():
        parts = {name.removesuffix(" [%]"): part for name, part in list(row.items())[7:]}
        assert len(parts) == 8 and 0.0 <= min(parts.values()) and max(parts.values()) == row["part [%]"] <= 100.0
        assert parts[row["most by"]] == row["part [%]"] >= row["its part [%]"] == parts[row["then by"]]
    assert "Right foot, 95 % by the axes: plantarflexor moment, largest" in data["answer"]
    with xarray.open_dataset(out / "gait.nc") as found:
        of = dict(foot="right", axes_curve="talocrural moment [N m/kg]")
        mean, sd = (found[f"axes_curve_{what}"].sel(of).values for what in ("mean", "sd"))
        share = found["axes_value_share"].sel(axes_value="inversion, range [deg]", foot="right")
        assert float(share.max()) == pytest.approx(blamed["inversion, range [deg]"]["part [%]"] / 100.0, abs=1e-3)
    header, *rows = csv.reader((out / "axes_bands.csv").read_text().splitlines())
    column = {end: np.array([float(row[header.index(f"talocrural moment [N m/kg]{end}")]) for row in rows])
              for end in ("", " 95 % from", " 95 % to")}  # fmt: skip
    assert column[""] == pytest.approx(mean, rel=1e-8) and sd.max() > 0.0
    assert column[" 95 % to"] - column[" 95 % from"] == pytest.approx(2.0 * 1.959964 * sd, rel=1e-5, abs=1e-9)
    assert (out / "axes_bands.png").exists() and (out / "axes_bands_of_muscles.png").exists()


@pytest.mark.slow
def test_an_orthosis_is_a_part_of_the_moments(talus, tmp_path, synthetic_walk):
    done = talus("--orthosis", "stiff", "--json", "--out", "o")
    data = json.loads(done.out)
    assert done.code == 0 and (tmp_path / "o" / "orthosis.png").exists()
    crural, calcaneal = data["tables"]["orthosis"]
    assert [crural["joint"], calcaneal["joint"]] == ["talocrural", "talocalcaneal"]
    largest = curve(synthetic_walk, "moment", "talocrural").min()
    assert crural["largest moment [N m/kg]"] == pytest.approx(largest, abs=0.002)
    assert crural["orthosis then [N m/kg]"] < 0.0  # a dorsiflexed foot is pulled back, as by the plantarflexors
    left = crural["largest moment [N m/kg]"] - crural["orthosis then [N m/kg]"]
    assert crural["muscles then [N m/kg]"] == pytest.approx(left, abs=2e-4)
    assert "The orthosis changes the largest talocrural moment of muscles" in data["answer"]


def walks(tmp_path, names=("one", "two"), form="csv"):
    """A static trial and several walks of the synthetic subject, the later ones a little other."""
    rng = np.random.default_rng(0)
    files = []
    for name in names:
        walk = trial_at_100_hz()
        by = rng.normal(0.0, 2e-4, 3)
        walk = replace(walk, markers={label: p + by for label, p in walk.markers.items()})
        files += laboratory(tmp_path, None, walk, form, name=name)
    return [files[0], *files[1::2]]


SYNTHETIC = ("--marker", "hallux=R_HLX", "--marker", "toe_tip=R_TOE")


@pytest.mark.slow
def test_files_that_the_command_writes(talus, tmp_path, without_figures):
    files = walks(tmp_path)
    done = talus(*files, "--no-filter", "--out", "o", *SYNTHETIC)
    assert done.code == 0, done.err
    folder = tmp_path / "o"
    trials = [file.name for file in files[1:]]
    with xarray.open_dataset(folder / "gait.nc") as data:
        sizes = {"trial": 2, "joint": 3, "rotation": 3, "percent": 101, "axis": 3, "upper_angle": 6}
        assert dict(data.sizes) == sizes
        assert [str(name) for name in data.trial.values] == trials
        units = {name: data[name].attrs["units"] for name in data.data_vars}
        assert units == {
            "angles": "rad", "moments": "N m", "powers": "W", "ankle_angles": "rad", "ground_force": "N",
            "centre_of_pressure": "m", "free_moment": "N m", "toe_off": "percent of the gait cycle", "mass": "kg",
            "knee_and_hip_angles": "rad", "knee_and_hip_moments": "N m", "knee_and_hip_powers": "W",
        }  # fmt: skip
        exact = synthetic.angle("talocrural", STRIKE + PERCENT / 100.0 * CYCLE)
        assert np.abs(data.angles.sel(joint="talocrural").values - exact).max() < 1e-5  # between frames
        assert np.allclose(data.toe_off, 100 * STANCE) and (data.mass == 70.0).all()
        assert "x anterior, y medial, z up" in data.attrs["axes"] and "Isman" in data.attrs["sources"]
        moments = data.moments.sel(joint="talocrural").values / 70.0
        percent = data.percent.values
        ankle = np.rad2deg(data.ankle_angles.sel(rotation="inversion").values)
    lines = (folder / "curves.csv").read_text().splitlines()
    names = lines[0].split(",")
    table = np.array([[float(word) for word in line.split(",")] for line in lines[1:]])
    assert table.shape == (101, len(names)) and np.array_equal(table[:, 0], percent)
    columns = dict(zip(names, table.T, strict=True))
    stem = "talocrural_moment [N m/kg]"
    for k, name in enumerate(trials):
        assert np.allclose(columns[f"{stem} {name}"], moments[k], rtol=1e-8)
        assert np.allclose(columns[f"ankle_inversion [deg] {name}"], ankle[k], rtol=1e-8)
    assert np.allclose(columns[f"{stem} mean"], moments.mean(axis=0), rtol=1e-8)
    assert np.allclose(columns[f"{stem} SD"], moments.std(axis=0, ddof=1), rtol=1e-6, atol=1e-12)
    assert {name.split()[0] for name in names[1:]} == {
        *(f"{joint}_{what}" for joint in (*JOINTS, *UPPER_ANGLES) for what in ("angle", "moment", "power")), "vertical_force",
        "ankle_dorsiflexion", "ankle_inversion", "ankle_internal_rotation",
    }  # fmt: skip
    for name in ("one_markers", "two_markers"):
        header, names, angles = storage(folder / f"{name}_angles.mot")
        assert header["inDegrees"] == "yes" and names[1:] == [f"{joint}_angle" for joint in (*JOINTS, *UPPER_ANGLES)]
        assert np.abs(np.radians(angles[:, 1]) - synthetic.angle("talocrural", angles[:, 0])).max() < 1e-6
        header, names, values = storage(folder / f"{name}_moments.sto")
        assert header["inDegrees"] == "no" and names[1:] == [
            f"{joint}_angle_moment" for joint in (*JOINTS, *UPPER_ANGLES)
        ]
        truth = synthetic.exact(values[:, 0])["talocrural", "moment"]
        assert relative(values[:, 1], truth) < 1e-3  # the walks are a little off the synthetic one
        with xarray.open_dataset(folder / f"{name}_motion.nc") as motion:
            assert motion.r.attrs["units"] == "m" and list(motion.body.values) == ["leg", "main_foot", "toes", "thigh"]
            assert np.allclose(motion.time, angles[:, 0])
    summary = json.loads((folder / "summary.json").read_text())
    assert {row["trial"] for row in summary["tables"]["trials"]} == set(trials)
    assert all(row["SD"] is not None for row in summary["tables"]["peaks"])


@pytest.mark.slow
@pytest.mark.parametrize("side", ["right", "left"])
def test_the_written_ground_force_reads_back(talus, tmp_path, side, without_figures):
    static, walk, _ = other_laboratory(side, 37.0)
    files = laboratory(tmp_path, static, walk)
    assert talus(*files, "--no-filter", "--out", "o").code == 0
    header, names, table = storage(tmp_path / "o" / "walk_markers_ground.mot")
    letter = side[0]
    assert names[1:4] == [f"ground_force_{letter}_v{axis}" for axis in "xyz"] and header["inDegrees"] == "no"
    # Read by our own reader, beside the markers of the same trial in the same axes.
    along, _ = along_x(read_capture(files[1]))
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    write_trc(tmp_path / "again.trc", along, turn)
    again = read_capture(tmp_path / "again.trc", forces=tmp_path / "o" / "walk_markers_ground.mot", up="y")
    (back,), (plate,) = again.forces, along.forces
    assert np.allclose(back.t, plate.t) and np.abs(back.force - plate.force).max() < 1e-9
    loaded = plate.force[:, 2] > 20.0
    assert np.abs(back.cop - plate.cop)[loaded].max() < 1e-9
    assert np.abs(back.free_moment - plate.free_moment)[loaded].max() < 1e-9
    assert assign_feet(again).sides == {back.plate: side}


@pytest.mark.slow
def test_json_is_all_that_goes_to_stdout(talus, tmp_path, without_figures):
    files = walks(tmp_path, ("one",))
    done = talus(*files, "--json", "--longest-gap", "0", "--out", "o", *SYNTHETIC)  # no gap at all may be asked for
    assert done.code == 0 and "analysing" in done.err
    printed = json.loads(done.out)
    assert printed["failures"] == [] and printed == json.loads((tmp_path / "o" / "summary.json").read_text())
    assert all(Path(file).is_file() for file in printed["files"])
    rows = {row[""]: row for row in printed["tables"]["peaks"]}
    assert 1.1 < rows["plantarflexor moment, largest [N m/kg]"]["mean"] < 1.7
    assert rows["plantarflexor moment, largest [N m/kg]"]["SD"] is None  # of one trial


@pytest.mark.slow
def test_an_existing_output_folder_is_not_overwritten(talus, tmp_path, without_figures):
    files = walks(tmp_path, ("one",))
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "mine.txt").write_text("mine")
    done = talus(*files, "--out", "o", *SYNTHETIC)
    assert (done.code, done.sentence) == (
        2, "output folder 'o' exists; name another one, so that nothing is overwritten",
    )  # fmt: skip
    assert [file.name for file in (tmp_path / "o").iterdir()] == ["mine.txt"]
    (tmp_path / "talus-gait").mkdir()
    done = talus(*files, *SYNTHETIC)
    assert done.code == 0 and "files in talus-gait-2" in done.out and (tmp_path / "talus-gait-2" / "gait.nc").is_file()


@pytest.mark.slow
def test_bad_trials_among_several(talus, tmp_path, without_figures):
    """A gap, a file that ends early, one that is text and one that is absent: a line each, and the others are analysed."""
    files = walks(tmp_path)
    unseen = gap(trial_at_100_hz(), "R_FCC", 40, 60)
    names = {"b[ad]": unseen, "ended": None, "text": None, "absent": None}
    bad = {name: laboratory(tmp_path, None, walk or trial_at_100_hz(), name=name)[1] for name, walk in names.items()}
    bad["ended"].write_text(bad["ended"].read_text()[:-100])
    bad["text"].write_text("hello\n")
    bad["absent"].unlink()
    done = talus(files[0], files[1], *bad.values(), files[2], "--out", "o", *SYNTHETIC)
    assert done.code == 1 and all(f"{name}_markers.csv" in done.err for name in bad)
    assert [
        line for line in done.lines if line.startswith("b[ad]_markers.csv: marker 'R_FCC' of the main foot is not seen")
    ]
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert len(summary["failures"]) == len(bad) and "R_FCC" in " ".join(summary["failures"])
    assert {row["trial"] for row in summary["tables"]["trials"]} == {file.name for file in files[1:]}
    assert not [file for file in (tmp_path / "o").iterdir() if file.name.startswith(tuple(bad))]
    alone = talus(files[0], *[bad["b[ad]"]] * 2, "--out", "p", *SYNTHETIC)
    assert alone.code == 2 and not (tmp_path / "p").exists()


@pytest.mark.slow
def test_trials_of_the_same_name_in_different_folders(talus, tmp_path, without_figures):
    files = []
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
        files += laboratory(tmp_path / day, None, trial_at_100_hz())
    done = talus(files[0], files[1], files[3], "--out", "o", *SYNTHETIC)
    if done.code == 2:  # a clear refusal at once would do, too
        assert "walk_markers.csv" in done.sentence and "overwrite=" not in done.sentence
        assert not (tmp_path / "o").exists()
    else:
        assert done.code == 0 and len(list((tmp_path / "o").glob("*_angles.mot"))) == 2


def test_a_wrong_option_is_reported_once(talus, tmp_path):
    done = talus(*walks(tmp_path), "--sex", "man", "--out", "o")
    assert done.code == 2 and done.sentence.count("sex = 'man'") == 1


@recorded
@pytest.mark.slow
def test_both_feet_are_analysed_where_both_are_on_plates(talus, adult, tmp_path, without_figures):
    files = [C3D / "2014001_ST.c3d", C3D / "2014001_C4_05.c3d"]
    done = talus(*files, "--no-filter", "--out", "o")
    assert done.code == 0, done.err
    folder = tmp_path / "o"
    summary = json.loads((folder / "summary.json").read_text())
    assert [row["trial"] for row in summary["tables"]["trials"]] == [
        "2014001_C4_05.c3d, right foot",
        "2014001_C4_05.c3d, left foot",
    ]
    assert {"right foot", "left foot"} <= set(summary["tables"]["peaks"][0])
    with xarray.open_dataset(folder / "gait.nc") as data:
        assert list(data.side.values) == ["right", "left"] and data.attrs["side"] == "right and left"
        both = data.angles.sel(joint="talocrural").values
    alone = adult("C4_05", "left")
    np.testing.assert_allclose(both[1], alone.over_cycle(alone.angles["talocrural"]), atol=1e-12)
    assert np.abs(both[0] - both[1]).max() > 0.01
    assert all((folder / f"2014001_C4_05_{side}_angles.mot").is_file() for side in ("right", "left"))
    columns = (folder / "curves.csv").read_text().splitlines()[0]
    assert "talocrural_angle [deg] right mean" in columns and "talocrural_angle [deg] left mean" in columns
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "double support" in page and "step length" in page
