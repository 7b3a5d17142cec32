"""Inverse kinematics from markers: known motions, SciPy's least squares, and OpenSim's solver."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import models
from models.files import read_marker_tasks, read_storage
from models.files.points import PointKinematics
from models.files.scalar_coordinates import with_coordinates
from models.files.virtual_power import ways_at
from models.walking import inverse_dynamics_of_trial, inverse_kinematics
from models.walking.capture import Capture
from tests.support.limb_models import Limb
from tests.support.marked_limbs import COUPLER, TIMES, marked, markers_of, read, smooth, trial_of
from tests.support.paths import shared_file
from tests.support.refusals import assert_refused


def worst(motion, q):
    return max(np.abs(motion.q[name] - q[name]).max() for name in q)


@pytest.fixture
def reading(tmp_path):
    return read(tmp_path, marked())


CASES = {"free": {}, "turned about": {}, "locked": {"limb": Limb(locked=True)}, "coupled": {"more": COUPLER}}
HELD = {"locked": {"subtalar_angle_r", "subtalar_angle_l"}, "coupled": {"knee_angle_l"}}


@pytest.mark.parametrize("case", CASES)
def test_a_known_motion_is_recovered(tmp_path, case):
    reading = read(tmp_path, marked(**CASES[case]))
    q = smooth(reading)
    q["pelvis_turn"] = q["pelvis_turn"] + (2.5 if case == "turned about" else 0.0)
    motion = inverse_kinematics(reading, trial_of(reading, q))
    assert worst(motion, q) < 1e-8 and motion.total_rms < 1e-9 and not motion.undetermined
    assert set(motion.held) == HELD.get(case, set())


def test_velocities_are_slopes_of_the_places(tmp_path):
    """Central differences; a coupler, and knees whose slides follow splines."""
    from tests.support import opensim_models

    for text in (marked(more=COUPLER), opensim_models.leg()):
        reading = read(tmp_path, text)
        names = [n for n, one in reading.source.coordinates.items() if one.value is None and not one.locked]
        fixed = {n: one.default for n, one in reading.source.coordinates.items() if one.locked}
        points = [(frame.link, frame.position) for frame in reading.source.frames]
        kinematics = PointKinematics(reading.source, names, fixed, points)
        x = np.random.default_rng(2).uniform(-0.4, 0.4, (3, len(names)))
        places, velocities = kinematics.places_and_velocities(x)
        for k in range(len(names)):
            d = 1e-6 * np.eye(len(names))[k]
            slope = (kinematics.places(x + d) - kinematics.places(x - d)) / 2e-6
            assert velocities[..., k] == pytest.approx(slope, abs=1e-8)
        q = {n: kinematics.values(x, n)[0] for n in reading.source.coordinates}
        other = markers_of(reading, q)
        assert places == pytest.approx(np.stack([other[f.name] for f in reading.source.frames], axis=1), abs=1e-12)


def test_noise_weights_and_pulls_against_scipy(reading):
    """The least sum of each frame, found by another program from the same start."""
    q = smooth(reading)
    trial = trial_of(reading, q, noise=0.02)
    weights = {name: float(1 + k % 5) for k, name in enumerate(trial.markers)}
    pulls = {"ankle_angle_r": (0.3, 0.05), "pelvis_x": (0.0, 0.4)}
    motion = inverse_kinematics(reading, trial, weights=weights, coordinates=pulls)
    names = list(motion.q)
    points = {frame.name: (frame.link, frame.position) for frame in reading.source.frames}
    kinematics = PointKinematics(reading.source, names, {}, [points[name] for name in trial.markers])
    from models.walking.inverse_kinematics import axes_of_model

    turn = axes_of_model(reading.source)
    observed = np.stack(list(trial.markers.values()), axis=1) @ turn.T
    w = np.sqrt(np.array(list(weights.values())) / sum(weights.values()))

    def off(x, n):
        rows = (w[:, None] * (kinematics.places(x[None])[0] - observed[n])).ravel()
        return np.concatenate([rows, [np.sqrt(s) * (x[names.index(k)] - v) for k, (v, s) in pulls.items()]])

    for n in (0, 17, 50):
        x = np.array([motion.q[name][n] for name in names])
        again = least_squares(
            off, np.array([q[name][n] for name in names]), args=(n,), xtol=1e-15, ftol=1e-15, gtol=1e-15
        )
        assert x == pytest.approx(again.x, abs=1e-6)
        assert (off(x, n) ** 2).sum() <= 2.0 * again.cost * (1.0 + 1e-12)
    name, far, time = motion.worst
    assert far == max(np.nanmax(x) for x in motion.errors.values()) and motion.rms.max() < far and time in motion.t
    assert motion.weights == weights and name in trial.markers


def test_ranges_hold(tmp_path):
    clamped = marked().replace(
        '"knee_angle_r"><default_value>0</default_value>',
        '"knee_angle_r"><default_value>0</default_value><range>-0.1 0.1</range><clamped>true</clamped>',
    )
    reading, free = read(tmp_path, clamped), read(tmp_path, marked(), "free.osim")
    q = smooth(free)
    q["knee_angle_r"] = 0.3 * np.sin(2.0 * np.pi * TIMES)
    motion = inverse_kinematics(reading, trial_of(free, q))
    knee = motion.q["knee_angle_r"]
    assert (
        knee.min() == -0.1
        and knee.max() == 0.1
        and motion.at_bounds == {"knee_angle_r": int((np.abs(knee) == 0.1).sum())}
    )
    names = list(motion.q)
    frames = [frame for frame in reading.source.frames if frame.name in motion.weights]
    kinematics = PointKinematics(reading.source, names, {}, [(frame.link, frame.position) for frame in frames])
    places = markers_of(free, q)
    observed = np.stack([places[frame.name] for frame in frames], axis=1)
    x = np.stack([motion.q[name] for name in names], axis=1)
    g, _, _ = kinematics.normal_equations(x, observed, np.ones(observed.shape[:2]))
    k = names.index("knee_angle_r")
    assert np.abs(np.delete(g, k, axis=1)).max() < 1e-8  # the least sum along the other coordinates
    assert (g[knee == 0.1, k] < -1e-3).any() and (g[:, k] * knee <= 1e-8).all()  # and it would fall beyond the range
    within = np.abs(q["knee_angle_r"]) < 0.1 - 1e-6
    assert within.sum() > 5
    assert all(np.abs(motion.q[name] - q[name])[within].max() < 1e-8 for name in q)


def test_gaps_of_markers(reading):
    q = smooth(reading)
    trial = trial_of(reading, q)
    markers = {name: np.array(x) for name, x in trial.markers.items()}
    for k in range(2):
        markers[f"pelvis_{k}"][10:14] = np.nan  # the others show the pelvis
    for k in range(4):
        markers[f"calcn_l_{k}"][20:23] = np.nan  # nothing shows the foot
    motion = inverse_kinematics(reading, replace(trial, markers=markers))
    assert motion.gaps["pelvis_0"] == 4 and motion.gaps["calcn_l_3"] == 3 and len(motion.gaps) == 6
    assert motion.undetermined == {"subtalar_angle_l": 3}
    off = {name: np.abs(motion.q[name] - q[name]) for name in q}
    lost = np.isin(np.arange(len(TIMES)), (20, 21, 22))
    assert max(x[~lost].max() for x in off.values()) < 1e-8
    assert max(x.max() for name, x in off.items() if name != "subtalar_angle_l") < 1e-8
    between = np.interp(TIMES[lost], TIMES[~lost], q["subtalar_angle_l"][~lost])
    assert motion.q["subtalar_angle_l"][lost] == pytest.approx(between, abs=1e-6)
    assert np.isnan(motion.errors["pelvis_1"][10:14]).all() and motion.rms.max() < 1e-8


def test_what_no_marker_shows_stays_at_its_default(tmp_path):
    reading = read(tmp_path, marked(without=("calcn_l",)))
    q = smooth(reading)
    q["subtalar_angle_l"] = np.zeros(len(TIMES))
    motion = inverse_kinematics(reading, trial_of(reading, q))
    assert motion.undetermined == {"subtalar_angle_l": len(TIMES)} and worst(motion, q) < 1e-8


TASKS = """<OpenSimDocument Version="40000"><InverseKinematicsTool><IKTaskSet><objects>{}</objects></IKTaskSet>
 </InverseKinematicsTool></OpenSimDocument>"""
MARKER_TASK = '<IKMarkerTask name="{}"><apply>{}</apply><weight>{}</weight></IKMarkerTask>'
PULL = """<IKCoordinateTask name="{}"><apply>true</apply><weight>{}</weight><value_type>{}</value_type><value>{}</value>
 </IKCoordinateTask>"""


def test_tasks_of_files(reading, tmp_path):
    file = tmp_path / "tasks.xml"
    q = smooth(reading)
    trial = trial_of(reading, q, noise=0.01)
    used = [name for name in trial.markers if name != "pelvis_3"]
    tasks = "".join(MARKER_TASK.format(name, "true", 1 + k % 3) for k, name in enumerate(used))
    tasks += MARKER_TASK.format("pelvis_3", "false", 9) + MARKER_TASK.format("hat", "true", 1)
    tasks += PULL.format("ankle_angle_l", 0.2, "manual_value", 0.1) + PULL.format("pelvis_y", 0.1, "default_value", 7)
    file.write_text(TASKS.format(tasks))
    known = read_marker_tasks(file)
    assert "pelvis_3" not in known.markers and known.coordinates == {
        "ankle_angle_l": (0.1, 0.2),
        "pelvis_y": (None, 0.1),
    }
    motion = inverse_kinematics(reading, trial, tasks=file)
    weights = {**{name: known.markers[name] for name in used}, "pelvis_3": 0.0}
    pulls = {"ankle_angle_l": (0.1, 0.2), "pelvis_y": (0.0, 0.1)}
    again = inverse_kinematics(reading, trial, weights=weights, coordinates=pulls)
    assert worst(motion, again.q) == 0.0
    assert any("hat" in note for note in motion.notes) and any("pelvis_3" in note for note in motion.notes)


def test_a_motion_goes_out_and_into_inverse_dynamics(reading, tmp_path):
    q = smooth(reading)
    motion = inverse_kinematics(reading, trial_of(reading, q), start=0.1, end=0.9)
    file = motion.to_mot(tmp_path / "a.mot")
    assert read_storage(file).in_degrees and len(motion.t) == 41
    one, two = (inverse_dynamics_of_trial(reading, of, cutoff=None, start=0.3, end=0.6) for of in (motion, file))
    assert one.t[0] == pytest.approx(0.3) and one.t[-1] == pytest.approx(0.6)
    for name in one.forces:
        assert one.forces[name] == pytest.approx(two.forces[name], rel=1e-7, abs=1e-7)


def test_trials_that_are_refused(reading, tmp_path):
    trial = trial_of(reading, smooth(reading))
    dark = {name: np.where(np.arange(len(TIMES))[:, None] == 7, np.nan, x) for name, x in trial.markers.items()}
    few = {name: trial.markers[name] for name in ("pelvis_0", "pelvis_1")}
    bare = read(tmp_path, Limb().text().replace("Marker", "Other"), "bare.osim")
    closed = '<equality><connect body1="hand" body2="trunk" anchor="0 0 0"/>'
    (tmp_path / "arm.xml").write_text(MJCF.format("", "", "", "").replace("<equality>", closed))
    cases = [
        ("has no markers", bare, trial, {}), ("limit 3", reading, replace(trial, markers=few), {}),
        ("at 0.14 s (1 frames)", reading, replace(trial, markers=dark), {}),
        ("'knee': the model has none", reading, trial, {"weights": {"knee": 1.0}}),
        ("weight of 0 or more", reading, trial, {"weights": {"pelvis_0": -1.0}}),
        ("coordinate 'knee'", reading, trial, {"coordinates": {"knee": (0.0, 1.0)}}),
        ("no frame between", reading, trial, {"start": 5.0}),
        ("close loops, which markers are not fitted with", models.read(tmp_path / "arm.xml", ignore="contacts"), trial, {}),
        ("did not converge", reading, replace(trial, markers={n: 1e6 * x for n, x in trial.markers.items()}), {"end": 0.05}),
    ]  # fmt: skip
    for sentence, model, markers, options in cases:
        assert_refused(sentence, inverse_kinematics, model, markers, **options)


BAD_TASKS = {
    "tasks are <OpenSimDocument>": "<OpenSimDocument/>", "exists already": TASKS.format(2 * MARKER_TASK.format("a", "true", 1)),
    "limit 0 or more": TASKS.format(MARKER_TASK.format("a", "true", -1)),
    "give true or false": TASKS.format(MARKER_TASK.format("a", "yes", 1)),
    "value_type is 'from_file'": TASKS.format(PULL.format("a", 1, "from_file", 0)),
    "tasks are <IKMarkerTask>": TASKS.format("<Other/>"),
    "give a finite number": TASKS.format(MARKER_TASK.format("a", "true", "x")),
}  # fmt: skip


@pytest.mark.parametrize("sentence", BAD_TASKS)
def test_tasks_that_are_refused(tmp_path, sentence):
    file = tmp_path / "tasks.xml"
    file.write_text(BAD_TASKS[sentence])
    assert_refused((sentence, "tasks.xml, line"), read_marker_tasks, file)


SOLVER = """
import json, sys
import numpy as np, opensim
opensim.Logger.setLevelString("Off")
model_file, trc, given = sys.argv[1], sys.argv[2], json.load(sys.stdin)
model = opensim.Model(model_file)
for k in range(model.getCoordinateSet().getSize()):
    c = model.updCoordinateSet().get(k)
    if c.getName().startswith("mtp"):
        c.setDefaultLocked(True)
    c.setDefaultClamped(False)  # with bounds its optimiser ends early
state = model.initSystem()
weights = opensim.SetMarkerWeights()
for name, weight in given["weights"].items():
    weights.cloneAndAppend(opensim.MarkerWeight(name, weight))
pulls = opensim.SimTKArrayCoordinateReference()
for name, (value, weight) in given["pulls"].items():
    one = opensim.CoordinateReference(name, opensim.Constant(value))
    one.setWeight(weight)
    pulls.push_back(one)
solver = opensim.InverseKinematicsSolver(model, opensim.MarkersReference(trc, weights), pulls, float("inf"))
solver.setAccuracy(1e-9)
rows = []
for t in given["times"]:
    state.setTime(t)
    for _ in range(20):  # each time it starts from its last solution
        solver.assemble(state)
    rows.append({c.getName(): c.getValue(state) for c in model.getCoordinateSet()})
print("answer", json.dumps(rows))
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("opensim") is None, reason="compares with OpenSim: pip install opensim")
@pytest.mark.parametrize("pulls", [{}, {"subtalar_angle_r": (0.1, 0.05), "pelvis_ty": (0.9, 0.02)}])
def test_the_walk_of_the_program(pulls):
    """OpenSim's solver on its own subject, model and markers, without bounds: 1e-4 degrees in each of four frames."""
    file, trc = (
        shared_file("opensim", "subject01.osim"),
        shared_file("gait", "dev", "opensim_subject01", "subject01_walk1.trc"),
    )
    reading = models.read(file)
    motion = inverse_kinematics(reading, trc, start=0.5, end=1.6, coordinates=pulls)
    frames = [0, 20, 40, 60]
    times = [float(f"{motion.t[n]:.3f}") for n in frames]  # as the file rounds them
    weights = {name: 1.0 for name in motion.weights}
    text = json.dumps({"weights": weights, "pulls": pulls, "times": times})
    done = subprocess.run(
        [sys.executable, "-c", SOLVER, str(file), str(trc)], input=text, capture_output=True, text=True, check=True
    )
    rows = json.loads(next(line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith("answer")))
    for n, row in zip(frames, rows, strict=True):
        for name, value in row.items():
            assert motion.q[name][n] == pytest.approx(value, abs=np.deg2rad(1e-4)), name


MJCF = """<mujoco model="arm"><compiler angle="radian"/><worldbody>
 <body name="trunk" pos="0.1 0.2 1" euler="0.1 0.2 0.3"><freejoint name="root"/><geom size="0.1" mass="9"/>{}
 <body name="upper" pos="0 0.2 0.3"><joint name="shoulder" type="ball"/><geom size="0.1" mass="2"/>{}
 <body name="lower" pos="0.3 0 0"><joint name="elbow" axis="0 1 0" ref="0.2" range="-2 2"/><geom size="0.1" mass="1"/>{}
 <body name="hand" pos="0.2 0 0"><joint name="wrist" axis="0 0 1"/><geom size="0.1" mass="1"/>{}</body></body></body></body>
 </worldbody><equality><joint joint1="wrist" joint2="elbow" polycoef="0 0.5 0.1 0 0"/></equality></mujoco>"""


def test_sites_of_mjcf_are_markers(tmp_path):
    """Places by MuJoCo of the poses that the fitted motion means, and the known motion."""
    mujoco = pytest.importorskip("mujoco")
    random = np.random.default_rng(1)
    sites = [
        "".join(
            f'<site name="{name}{k}" pos="{" ".join(map(repr, random.uniform(-0.1, 0.1, 3).tolist()))}"/>'
            for k in range(4)
        )
        for name in "abcd"
    ]
    text = MJCF.format(*sites)
    (tmp_path / "arm.xml").write_text(text)
    reading = models.read(tmp_path / "arm.xml", ignore="contacts")
    whole = replace(reading, source=with_coordinates(reading.source))
    assert list(whole.source.coordinates)[:7] == [*(f"root_{a}{b}" for a in "tr" for b in "xyz"), "shoulder_rx"]
    q = smooth(whole)
    markers = {
        frame.name: ways[frame.link][-1].at(frame.position)[0]
        for ways in [ways_at(whole.source, list(q), np.stack([np.stack(list(q.values()))] * 3))[0]]
        for frame in whole.source.frames
    }
    motion = inverse_kinematics(reading, Capture("synthetic", TIMES, markers))
    assert worst(motion, q) < 1e-8 and motion.held == {"wrist": "coupler of elbow"}
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for k in (0, 20, 50):
        at = {name: values[k] for name, values in motion.q.items()}
        turns = [[at[f"{joint}_r{a}"] for a in "xyz"] for joint in ("root", "shoulder")]
        first, second = (Rotation.from_euler("XYZ", turn) for turn in turns)
        trunk = Rotation.from_quat(np.roll(model.body("trunk").quat, -1)) * first
        place = model.body("trunk").pos + [at[f"root_t{a}"] for a in "xyz"]
        data.qpos[:] = *place, *np.roll(trunk.as_quat(), 1), *np.roll(second.as_quat(), 1), at["elbow"], at["wrist"]
        mujoco.mj_forward(model, data)
        for name, seen in markers.items():
            assert data.site(name).xpos == pytest.approx(seen[k], abs=1e-8)
