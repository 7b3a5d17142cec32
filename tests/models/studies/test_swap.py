"""The verb ``talus swap``: the model alone, a trial with each sort of ankle, and what it refuses."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import models
from models.files import read_storage
from models.studies import muscle_report
from models.walking import compare_ankles, synthetic
from models.walking.inverse_kinematics import axes_of_model
from tests.support.capture_files import write_c3d
from tests.support.electromyograms import carried, times
from tests.support.gait_files import laboratory, write_trc
from tests.support.limb_models import Limb
from tests.support.limb_muscles import muscles
from tests.support.marked_limbs import TIMES, marked, plates_of, read, smooth, trial_of

LOAD = """<ExternalForce name="{0}"><applied_to_body>{0}</applied_to_body>
 <force_expressed_in_body>ground</force_expressed_in_body><point_expressed_in_body>ground</point_expressed_in_body><force_identifier>{0}_v</force_identifier>
 <point_identifier>{0}_p</point_identifier><torque_identifier>{0}_m</torque_identifier></ExternalForce>"""


@pytest.fixture
def trial(tmp_path):
    """A model, markers and external loads in files, and the trial as a capture."""
    reading = read(tmp_path, marked(), "limb.osim")
    q = smooth(reading, widest=0.3)
    plates, wanted = plates_of(reading, q)
    capture = trial_of(reading, q, noise=0.002, forces=plates)
    trc = write_trc(tmp_path / "walk.trc", capture, axes_of_model(reading.source))
    columns = {f"{body}_{c}{x}": part[:, k] for body, of in wanted.items() for c, part in zip("vpm", of, strict=True)
               for k, x in enumerate("xyz")}  # fmt: skip
    rows = np.column_stack([TIMES, *columns.values()])
    text = "\n".join(" ".join(map(repr, row)) for row in rows.tolist())
    (tmp_path / "loads.mot").write_text(f"loads\nendheader\ntime {' '.join(columns)}\n{text}\n")
    loads = "".join(LOAD.format(body) for body in wanted)
    file = tmp_path / "loads.xml"
    file.write_text(
        f'<OpenSimDocument Version="40000"><ExternalLoads><objects>{loads}</objects><datafile>loads.mot</datafile>'
        "</ExternalLoads></OpenSimDocument>"
    )
    return reading, trc, file


def test_without_a_trial(command, tmp_path):
    model = read(tmp_path, marked(Limb(locked=True)), "limb.osim").file
    options = ("--talus-length", "0.04", "--unlock", "--json", "--out", tmp_path / "out")
    done = command("swap", model, *options)
    data = json.loads(done.out)
    rows = data["tables"]["swapped joints"]
    assert done.code == 0 and [row["joints of the file"] for row in rows] == [
        "ankle_r, subtalar_r",
        "ankle_l, subtalar_l",
    ]
    assert all("link of 0.04 m" in row["ankle"] for row in rows) and "link of 0.04 m" in data["answer"]
    again = models.read(tmp_path / "out" / "limb_swapped.osim")
    links = {link.name: link for link in again.source.links}
    assert links["talus_l"].mass == 0.0 and np.linalg.norm(links["calcn_l"].steps[0].point) > 0.0
    kinds = [joint.kind for joint in models.read(tmp_path / "out" / "limb_swapped.json").build().joints]
    assert kinds.count("modified_universal") == 2


@pytest.mark.slow
def test_a_trial(trial, command, tmp_path):
    reading, trc, loads = trial
    options = (
        "--markers", trc, "--loads", loads, "--up", "y", "--talus-length", "0.04", "--ankle", "ankle_r,subtalar_r",
    )  # fmt: skip
    done = command("swap", reading.file, *options, "--figure-format", "png", "--json", "--out", tmp_path / "out")
    tables = json.loads(done.out)["tables"]
    assert done.code == 0 and "modified universal: inverse dynamics" in done.err
    found = compare_ankles(reading, trc, loads, ankles=[("ankle_r", "subtalar_r")], talus_length=0.04, up="y")
    assert [(row["coordinate"], row["joint"]) for row in tables["ankles"]] == [
        (name, sort) for name in ("ankle_angle_r", "subtalar_angle_r") for sort in found.trials
    ]
    for row in tables["ankles"]:
        sort, name = row["joint"], row["coordinate"]
        moment, off = found.moment(sort, name), found.angle(sort, name) - found.angle("as in the file", name)
        assert row["smallest moment [N m/kg]"] == pytest.approx(moment.min(), abs=6e-4)
        assert row["largest angle [deg]"] == pytest.approx(found.angle(sort, name).max(), abs=6e-4)
        assert row["difference of angle [deg]"] == pytest.approx(np.sqrt(np.mean(off**2)), abs=6e-4)
    rows = [row for row in tables["residuals"] if row["joint"] == "universal"]
    known = {residual.coordinate: residual for residual in found.trials["universal"].residuals.of}
    assert [row["coordinate"] for row in rows] == list(known)
    for row in rows:
        assert row["peak"] == pytest.approx(known[row["coordinate"]].peak, abs=0.006)
        assert row["result"] == ("within" if known[row["coordinate"]].within else "above")
    out = tmp_path / "out"
    motion = read_storage(out / "coordinates_modified_universal.mot")
    q = found.trials["modified universal"].motion.q["subtalar_angle_r"]
    assert motion.columns["subtalar_angle_r"] == pytest.approx(np.rad2deg(q)) and motion.in_degrees
    forces = read_storage(out / "inverse_dynamics_universal.sto").columns["ankle_angle_r_moment"]
    assert forces == pytest.approx(found.trials["universal"].trial.forces["ankle_angle_r"])
    assert all(
        (out / name).stat().st_size > 1000 for name in ("ankles.png", "differences.png", "residuals.png", "markers.png")
    )


def test_the_answer_names_large_reserves_with_and_without_a_threshold():
    def answer(*saturated, **reserves):
        moments = {
            name: np.array([10.0, -20.0])
            for name in ("hip_rotation_l", "knee_angle_r", "ankle_angle_r", "subtalar_angle_r")
        }
        left = {name: np.array([0.0, reserves.get(name, 0.1)]) for name in moments}
        contacts = {"ankle_r": SimpleNamespace(size=np.array([981.0, 1962.0]))}
        of = SimpleNamespace(
            moments=moments, reserves=left, failed=[], reserve_share=lambda name: left[name].max() / 20.0
        )
        trials = {
            f"universal{n or ''}": SimpleNamespace(
                muscles=SimpleNamespace(**vars(of), saturated=own), contacts=contacts
            )
            for n, own in enumerate(saturated or [{}])
        }
        ankles = {"ankle_r": ("ankle_angle_r", "subtalar_angle_r")}
        crossing = {"ankle_r": ["soleus_r", "tib_post_r"]}
        compared = SimpleNamespace(mass=50.0, ankles=ankles, trials=trials, muscles_of=crossing.get)
        return muscle_report.answer([compared])

    assert answer().endswith("ankle_r: 4.00 body weights (universal); reserves within the threshold at ankle and knee.")
    text = answer(hip_rotation_l=3.66, subtalar_angle_r=7.0, knee_angle_r=0.9)
    assert text.endswith(
        "within the threshold at ankle and knee; without one, above 5 %: hip_rotation_l 18 %, subtalar_angle_r 35 %."
    )
    assert "above the threshold: knee_angle_r." in answer(knee_angle_r=1.1)
    text = answer({"soleus_r": 8, "psoas_r": 9}, {"soleus_r": 3, "tib_post_r": 2})
    assert text.endswith("; activations at their upper bound, in up to 8 frames: soleus_r, tib_post_r.")


@pytest.mark.slow
def test_a_trial_with_muscles(trial, command, tmp_path):
    """Tables, files and the answer have what ``compare_ankles`` finds."""
    _, trc, loads = trial
    model = read(tmp_path, marked(more=muscles()), "limb.osim")
    cost = ("--muscles", "--muscle-cost", "stress", "--muscle-exponent", "3", "--passive-forces")
    options = ("--markers", trc, "--loads", loads, "--up", "y", "--joint", "universal", *cost)
    out = tmp_path / "out"
    done = command("swap", model.file, *options, "--figure-format", "png", "--json", "--out", out)
    data = json.loads(done.out)
    of = dict(cost="stress", exponent=3.0, passive=True)
    found = compare_ankles(model, trc, loads, sorts=["as in the file", "universal"], up="y", muscles=of)
    for row in data["tables"]["contact forces"]:
        contact = found.trials[row["joint"]].contacts[row["hinge"]]
        assert row["largest [N]"] == pytest.approx(contact.size.max(), abs=0.06)
    for row in data["tables"]["reserves"]:
        share = found.trials[row["joint"]].muscles.reserve_share(row["coordinate"])
        assert row["share [%]"] == pytest.approx(100.0 * share, abs=0.006)
        judged = "subtalar" not in row["coordinate"]
        assert row["result"] == (("within" if share <= 0.05 else "above") if judged else "no threshold")
    row = next(row for row in data["tables"]["muscles"] if row["muscle"] == "soleus_r" and row["joint"] == "universal")
    muscle = found.trials["universal"].muscles
    assert row["largest force [N]"] == pytest.approx(muscle.forces["soleus_r"].max(), abs=0.06)
    force = read_storage(out / "muscles_universal_force.sto")
    assert force.columns["to_talus_l"] == pytest.approx(muscle.forces["to_talus_l"], abs=1e-4)
    head = (out / "curves.csv").read_text().splitlines()[0]
    assert "ankle_r force y in talus_r, universal [N]" in head and "Largest contact force of ankle_r" in data["answer"]
    assert all((out / f"{name}.png").stat().st_size > 1000 for name in ("muscles_ankle_r", "contact"))
    page = (out / "motion.html").read_text(encoding="utf-8")
    assert len(page) < 4_000_000
    for said in ("muscles, activation 0 to 1", "largest activations across ankle_l [1]", "ankle: universal"):
        assert said in page


@pytest.mark.slow
def test_activations_beside_electromyograms_of_the_trial(trial, command, tmp_path, without_figures):
    """A channel that bursts as tibialis anterior is activated, 40 ms before it; another, of the soleus, that is silent."""
    loads, t = trial[2], times(1.02)
    model = read(tmp_path, marked(more=muscles()), "limb.osim")
    walk = trial_of(model, smooth(model, widest=0.3))
    known = compare_ankles(model, walk, loads, sorts=["universal"], muscles=True).trials["universal"].muscles
    activation = known.activations["tib_ant_l"]
    signals = {"EMG1": carried(t, np.interp(t + 0.04, known.t, activation)), "R_soleus": 0.0 * t}
    file = write_c3d(
        tmp_path / "walk.c3d", walk.markers, channels=np.array(list(signals.values())), analog_units=["V", "V"],
        analog_labels=list(signals), rate=50.0, force_rate=1500.0,
    )  # fmt: skip
    options = ("--markers", file, "--loads", loads, "--up", "z", "--joint", "universal", "--muscles", "--json")
    done = command("swap", model.file, *options, "--emg-channel", "tibialis_anterior_l=EMG1", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    data = json.loads(done.out)
    first, row = data["tables"]["agreement with electromyograms"]
    assert (row["electromyogram"], row["muscle of the model"], row["joint"]) == (
        "tibialis anterior, left",
        "tib_ant_l",
        "universal",
    )
    assert row["best lag [ms]"] == pytest.approx(40.0, abs=8.0) and row["largest correlation [1]"] > 0.95
    assert row["correlation at lag 0 [1]"] < row["largest correlation [1]"] and row["frames"] == 46
    assert first["joint"] == "as in the file" and first["best lag [ms]"] == pytest.approx(40.0, abs=15.0)
    note = data["notes"]["agreement with electromyograms"]
    assert "Invertors and evertors are unvalidated: per_long_r, per_long_l" in note and "one trial alone" in note
    assert "tib_ant_r" in note and "tib_ant_l" not in note and "compared" not in data["notes"]["muscles"]
    assert "De Luca" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    notes = " ".join(row["assumption that was not read from a file"] for row in data["tables"]["notes"])
    assert "soleus_r, channel 'R_soleus', is left out: it is flat" in notes
    more = ("--emg-maximum", file, "--out", tmp_path / "other")
    done = command("swap", model.file, *options[:1], trial[1], *options[2:5], "y", *options[6:], *more)
    assert done.code == 0 and "agreement with electromyograms" not in json.loads(done.out)["tables"]
    assert "--emg-maximum is not used: walk.trc has no electromyograms" in done.out


CASES = {
    "--emg-maximum belongs to muscles": ["--emg-maximum", "a.c3d"],
    "--muscle-exponent belongs to muscles": ["--muscle-exponent", "3"], "--muscles belongs to a trial": ["--muscles"],
    "cost = 'force': use activation or stress": ["--markers", "walk.trc", "--up", "y", "--muscles", "--muscle-cost", "force"],
    "exponent = 0.5": ["--markers", "walk.trc", "--up", "y", "--muscles", "--muscle-exponent", "0.5"],
    "has no muscles that act": ["--markers", "walk.trc", "--up", "y", "--muscles"],
    "no such joint": ["--ankle", "ankel_r,subtalar_r"], "ankle = 'ankle_r'": ["--ankle", "ankle_r"],
    "--loads belongs to a trial": ["--loads", "a.xml"], "use modified_universal, universal": ["--joint", "ball"],
    "between 7 s and 1 s": ["--markers", "walk.trc", "--up", "y", "--start", "7"],
    "none.xml': No such file": ["--markers", "walk.trc", "--loads", "none.xml"],
    "none.trc': No such file": ["--markers", "none.trc"],
    "must be 0 or a finite number": ["--talus-length", "-1"], "png": ["--figure-format", "gif"],
}  # fmt: skip


@pytest.mark.parametrize("sentence", CASES)
def test_what_is_refused(trial, command, tmp_path, sentence):
    done = command("swap", "limb.osim", *CASES[sentence], "--out", tmp_path / "out")
    assert done.code == 2 and sentence in done.err.replace("\n", " ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "limb, remedy",
    [(Limb(locked=True), "use --unlock"), (Limb(welded=True), "add an axis by --subtalar-axis isman_inman")],
)
def test_hinges_that_do_not_move_are_refused_with_the_option(trial, command, tmp_path, limb, remedy):
    model = read(tmp_path, marked(limb), "still.osim").file
    for more in ((), ("--markers", trial[1], "--up", "y")):
        done = command("swap", model, *more, "--out", tmp_path / "out")
        assert done.code == 2 and done.err.replace("\n", " ").strip().endswith(remedy)


def test_an_added_axis(command, tmp_path):
    """Its assumptions are in the notes, and the written file has the hinges."""
    model = read(tmp_path, marked(Limb(welded=True)), "limb.osim").file
    options = ("--subtalar-axis", "40,20", "--subtalar-point", "0.01,0,0.002")
    done = command("swap", model, *options, "--json", "--out", tmp_path / "out")
    notes = [row["assumption that was not read from a file"] for row in json.loads(done.out)["tables"]["notes"]]
    assert done.code == 0 and len(notes) == 6
    assert "40 degrees up and 20 degrees medially" in notes[0] and "(0.01, 0, -0.002) m of 'calcn_l'" in notes[4]
    again = models.read(tmp_path / "out" / "limb_swapped.osim")
    assert {"subtalar_angle_r", "subtalar_angle_l"} <= set(again.source.coordinates)


@pytest.fixture
def standing(tmp_path):
    """A static trial, a walk with forces beside it, and options that a generic leg needs for them."""
    static, walk = laboratory(tmp_path, form="trc")
    named = [word for one in synthetic.MARKERS.items() for word in ("--landmark", "=".join(one))]
    return walk, ("--static", static, "--mass", synthetic.MASS, "--height", synthetic.HEIGHT, "--up", "y", *named)


def test_a_generic_leg(standing, command, tmp_path):
    """A file of OpenSim for the side that is asked for; sources of its values are notes."""
    options = (*standing[1], "--talus-length", "0.05", "--subtalar-inclination", "35")
    done = command("swap", *options, "--json", "--out", tmp_path / "out")
    notes = [row["assumption that was not read from a file"] for row in json.loads(done.out)["tables"]["notes"]]
    assert done.code == 0 and "leg_right.osim: a generic lower leg, scaled to standing.trc" in notes
    assert "talocalcaneal axis: inclination 35 deg, given, the other: Isman and Inman (1969)" in notes
    assert "inertia: de Leva (1996), Table 4, mean of female and male" in " ".join(notes)
    leg = models.read(tmp_path / "out" / "leg_right.osim")
    swapped = models.read(tmp_path / "out" / "leg_right_swapped.json").build()
    assert [joint.values["l"] for joint in swapped.joints if joint.kind == "modified_universal"] == pytest.approx(
        [0.05]
    )
    assert sum(link.mass for link in leg.source.links) == pytest.approx(0.06 * synthetic.MASS, rel=0.1)


@pytest.mark.slow
def test_a_trial_of_a_generic_leg(standing, command, tmp_path):
    """Moments are those of the walk, over the mass of the subject; a leg has no residuals."""
    walk, options = standing
    more = ("--markers", walk, "--cutoff", "30", "--figure-format", "png", "--json", "--out", tmp_path / "out")
    done = command("swap", *options, *more)
    tables = json.loads(done.out)["tables"]
    assert done.code == 0 and "residuals" not in tables and not (tmp_path / "out" / "residuals.png").exists()
    row = next(row for row in tables["ankles"] if row["joint"] == "modified universal")
    exact = synthetic.exact(np.arange(0.1, 1.1, 0.01))["talocrural", "moment"] / synthetic.MASS
    assert row["coordinate"] == "ankle_angle_r" and row["smallest moment [N m/kg]"] == pytest.approx(
        exact.min(), rel=0.01
    )
    assert {row["joint"] for row in tables["ankles"]} == {"universal", "modified universal"}


LEG_CASES = {
    "give one of them": (), "--side = 'both'": ("--side", "both"), "--loads belongs to a trial": ("--loads", "a.xml"),
    "--muscles belongs to a model; the generic leg of --static has none: use talus gait --muscles": (
        "--markers", "walk.trc", "--muscles",
    ),
    "--subtalar-axis belongs to a model": ("--subtalar-axis", "opensim"), "--unlock belongs to a model": ("--unlock",),
    "--landmark = 'heel': give LANDMARK=LABEL": ("--landmark", "heel"),
    "--talus-length = 0.3 m must be between": ("--talus-length", "0.3"),
    "no frame between 7 s": ("--markers", "walk.trc", "--start", "7"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", LEG_CASES)
def test_what_is_refused_of_a_generic_leg(standing, command, tmp_path, sentence):
    """A run that fails leaves no folder."""
    options = standing[1] if LEG_CASES[sentence] else ("--mass", "70")
    done = command("swap", *options, *LEG_CASES[sentence], "--out", tmp_path / "out")
    assert done.code == 2 and sentence in done.err.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_messages_on_landmarks_name_their_option(command, tmp_path):
    """``--markers`` is the file of a walk there."""
    static, _ = laboratory(tmp_path, form="trc")
    for labels, sentence in (
        (("--landmark", "heel=NONE"), "--landmark: standing.trc has no marker 'NONE' for heel"),
        (("--landmark", "nose=R_FCC"), "--landmark: no landmark 'nose'"),
        (("--side", "left"), "give --landmark landmark=label, or rename the markers"),
    ):
        done = command("swap", "--static", static, "--mass", "70", "--up", "y", *labels, "--out", tmp_path / "out")
        assert done.code == 2 and sentence in done.err.replace("\n", " "), done.err


def test_options_of_a_generic_leg_are_refused_with_a_model(standing, command, tmp_path):
    model = read(tmp_path, marked(), "limb.osim").file
    for options, sentence in (
        ((*standing[1],), "give one of them"),
        (("--mass", "70"), "--mass belongs to a generic leg"),
    ):
        done = command("swap", model, *options, "--out", tmp_path / "out")
        assert done.code == 2 and sentence in done.err.replace("\n", " ")


def test_other_formats_are_refused(command, tmp_path):
    done = command("swap", tmp_path / "robot.urdf", "--out", tmp_path / "out")
    assert done.code == 2 and "give an .osim file" in done.err.replace("\n", " ")


@pytest.mark.slow
def test_an_orthosis_is_a_part_of_the_moments(trial, command, tmp_path):
    reading, trc, loads = trial
    options = (
        "--markers",
        trc,
        "--loads",
        loads,
        "--up",
        "y",
        "--talus-length",
        "0.04",
        "--ankle",
        "ankle_r,subtalar_r",
    )
    done = command("swap", reading.file, *options, "--orthosis", "medium", "--json", "--out", tmp_path / "out")
    data = json.loads(done.out)
    assert done.code == 0 and (tmp_path / "out" / "orthosis.png").exists()
    given = dict(ankles=[("ankle_r", "subtalar_r")], talus_length=0.04, up="y")
    found, rows = compare_ankles(reading, trc, loads, orthosis="medium", **given), data["tables"]["orthosis"]
    assert [row["coordinate"] for row in rows] == [
        name for name in ("ankle_angle_r", "subtalar_angle_r") for _ in range(3)
    ]
    for row in rows:
        sort, name = row["joint"], row["coordinate"]
        moment, part = found.moment(sort, name), found.orthosis_moment(sort, name)
        k = int(np.abs(moment).argmax())
        assert row["largest moment [N m/kg]"] == pytest.approx(moment[k], abs=6e-5)
        assert row["orthosis then [N m/kg]"] == pytest.approx(part[k], abs=6e-5) and abs(part[k]) > 1e-3
        left = np.abs(moment - part).max()
        assert row["change [%]"] == pytest.approx(100 * (left / abs(moment[k]) - 1), abs=0.1)


def test_an_unknown_orthosis_is_refused(command, tmp_path):
    done = command("gait", "--orthosis", "plaster", "--out", tmp_path / "out")
    assert done.code == 2
    assert "--orthosis = 'plaster' is no preset; use flexible, medium, stiff, or a .toml file" in done.err
    done = command("swap", read(tmp_path, marked(), "limb.osim").file, "--orthosis", "stiff", "--out", tmp_path / "out")
    assert done.code == 2 and "--orthosis belongs to a trial; give --markers FILE" in done.err
