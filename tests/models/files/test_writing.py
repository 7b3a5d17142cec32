"""Models that are written as files of other programs: these programs find the same motion, and so does Talus from the file."""

import importlib.util
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from models import foot, foot_ground, hooke_shaft
from models.files.written_xml import body_angles, fixed_angles
from runtime import Builder, ModelError
from runtime.system import joint_coordinates
from tests.support.refusals import assert_refused
from tests.support.written_models import (
    WRITTEN,
    arm,
    by_mujoco,
    by_opensim,
    by_pinocchio,
    moved,
    same_run,
    sprung,
    worst,
)  # fmt: skip

EXACT, SEEDS = 1e-9, range(3)
TREES = [name for name in WRITTEN if name.startswith("foot") or name == "arm"]  # of turns and slides alone
OPENSIM = [name for name in WRITTEN if name != "sprung"]
needs_opensim = pytest.mark.skipif(importlib.util.find_spec("opensim") is None, reason="OpenSim is not installed")
GROUND = dict(gravity=(0.0, 0.0, -9.81))


def flat_names(values):
    return {name.replace(".", "_"): value for name, value in values.items()}


@pytest.mark.parametrize("name", WRITTEN)
def test_mujoco_finds_the_same_state_and_accelerations(name, tmp_path):
    for seed in SEEDS:
        system = moved(WRITTEN[name](), seed)
        file = models.write(system, tmp_path / "model.xml", overwrite=True).file
        assert (worst(system, by_mujoco(file)) < EXACT).all()


@pytest.mark.parametrize("name", TREES)
def test_pinocchio_finds_the_same_accelerations(name, tmp_path):
    pytest.importorskip("pinocchio")
    for seed in SEEDS:
        system = moved(runtime.with_parameters(WRITTEN[name](), GROUND), seed)
        file = models.write(system, tmp_path / "model.urdf", overwrite=True).file
        q, u = map(flat_names, joint_coordinates(system))
        assert (worst(system, by_pinocchio(file, q, u, {})) < EXACT).all()


@pytest.mark.parametrize("suffix", ["xml", "urdf", "osim"])
def test_frames_are_where_they_were(suffix, tmp_path):
    """Sites of MJCF, links that are fixed of URDF, markers of OpenSim, which have no axes."""
    b = Builder("arm", **GROUND)
    b.body("arm", mass=2.0, inertia=(0.02, 0.03, 0.01), r=(0.1, 0.0, -0.2), p=(0.8, 0.0, 0.6, 0.0))
    b.joint("hinge", "revolute", "ground", "arm", axes="global", point=(0.1, 0.2, 0.0), axis=(0.0, 0.6, 0.8))
    b.frame("tool", "arm", s=(0.1, -0.2, 0.3), p=(0.6, 0.8, 0.0, 0.0))
    b.frame("camera", "ground", s=(1.0, 2.0, 3.0), p=(0.6, 0.0, 0.8, 0.0))
    own = runtime.mechanics(b.build())
    other = runtime.mechanics(models.write(own.system, tmp_path / f"arm.{suffix}").file)
    for name in ("tool", "camera"):
        wanted = own.pose(name, [0.4])
        found = other.pose(f"{name}_origin" if suffix == "urdf" else name, [0.4])
        np.testing.assert_allclose(found.r, wanted.r, atol=1e-12)
        if suffix != "osim":
            np.testing.assert_allclose(found.A, wanted.A, atol=1e-12)


@needs_opensim
@pytest.mark.slow
@pytest.mark.parametrize("name", OPENSIM)
def test_opensim_finds_the_same_state_and_accelerations(name, tmp_path):
    system = moved(WRITTEN[name](), 4)
    file = models.write(system, tmp_path / "model.osim").file
    assert (worst(system, by_opensim(file)["state"]) < EXACT).all()


@needs_opensim
@pytest.mark.slow
def test_opensim_finds_the_same_springs(tmp_path):
    system = moved(sprung(damped=False), 4)
    file = models.write(system, tmp_path / "model.osim").file
    assert (worst(system, by_opensim(file)["state"]) < EXACT).all()


@needs_opensim
@pytest.mark.slow
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("ankle", ["classical", "modified"])
def test_a_motion_of_a_foot_opens_with_its_model(ankle, side, tmp_path):
    system = foot.build(ankle, side=side)
    run = runtime.simulate(system, 1.0, t_eval=np.linspace(0.0, 1.0, 6))
    motion, file = run.to_mot(tmp_path / "run.mot"), models.write(system, tmp_path / "foot.osim").file
    answer = by_opensim(file, motion)
    assert set(answer["columns"]) == set(answer["coordinates"]) and len(answer["motion"]) == len(run.t)
    for k, rows in enumerate(answer["motion"]):
        for body in system.body_names:
            r, A = map(np.asarray, rows[body][:2])
            assert np.abs(r - run.r[body][k]).max() < EXACT and np.abs(A - run.rotations(body)[k]).max() < EXACT


@pytest.mark.parametrize("suffix", [".xml", ".urdf"])
@pytest.mark.parametrize("name", TREES)
def test_a_run_of_the_file_equals_one_of_the_system(name, suffix, tmp_path):
    system = moved(runtime.with_parameters(WRITTEN[name](), GROUND), 1)
    reading = models.read(models.write(system, tmp_path / f"model{suffix}").file)
    builder, names = reading.builder(), {}
    angles, rates = joint_coordinates(system)
    for own in angles:
        if own.replace(".", "_") in reading.coordinates:
            joint, coordinate = reading.coordinates[own.replace(".", "_")]
            builder.initial_coordinates(joint, **{coordinate: angles[own]}, rates={coordinate: rates[own]})
            names[tuple(own.split("."))] = joint, coordinate
    assert len(names) >= 2 and same_run(system, builder.build(check_units=False), names) < 1e-8


@pytest.mark.parametrize("name", [name for name in WRITTEN if name not in TREES])
def test_a_run_of_the_file_from_rest_equals_one_of_the_system(name, tmp_path):
    system = WRITTEN[name]()
    still = {body: (0.0, 0.0, 0.0) for body in system.body_names}
    system = replace(system, state=system.state.replace(v=still, omega=still))
    reading = models.read(models.write(system, tmp_path / "model.xml").file)
    assert same_run(system, reading.build()) < 1e-8


@pytest.mark.parametrize("suffix", [".xml", ".osim"])
def test_frames_are_sites_and_markers(suffix, tmp_path):
    builder = Builder("arm", axes="global")
    builder.body("arm", mass=2.0, inertia=(0.02, 0.03, 0.01), r=(0.1, 0.0, -0.2))
    builder.joint("shoulder", "revolute", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    builder.frame("hand", "arm", s=(0.3, 0.1, -0.5), p=(0.8, 0.6, 0.0, 0.0))
    builder.frame("wall", "ground", s=(1.0, 2.0, 3.0))
    written = models.write(builder, tmp_path / f"arm{suffix}")
    before, after = (runtime.mechanics(one.build()) for one in (builder, models.read(written.file)))
    for frame in ("hand", "wall"):
        (r, A), (r_read, A_read) = (m.pose(frame, [0.4]) for m in (before, after))
        assert np.abs(r_read - r).max() < EXACT
        assert suffix == ".osim" or np.abs(A_read - A).max() < EXACT
    assert [one.names for one in written.left_out] == ([("hand",)] if suffix == ".osim" else [])  # markers have no axes


def test_what_is_left_out_is_listed(tmp_path):
    rows = models.write(foot.build(), tmp_path / "foot.urdf").rows()
    assert [sort for sort, *_ in rows] == ["locked coordinates", "initial state", "massless links", "shapes"]
    assert rows[0][1] == "metatarsophalangeal_angle" and rows[2][1] == "main_foot"
    written = models.write(foot.build(limits="elastic"), tmp_path / "foot.xml", ignore="limits")
    assert [one.sort for one in written.ignored] == ["limits"] and written.rows()[0][2].startswith("ignored: ")
    assert models.write(foot.build(), tmp_path / "foot.osim").left_out[0].names == ("main_foot_behind_ankle_theta_j",)


REFUSED = {
    "limits": (lambda: foot.build(limits="elastic"), ".xml", r"limits \(.*: cones.*ignore='limits'"),
    "contacts": (foot_ground.build, ".xml", "contacts.*sphere_1.*ignore="),
    "loops": (hooke_shaft.build, ".xml", r"loops \("),
    "gravity": (arm, ".urdf", "gravity.*ignore='gravity'"),
    "ball in URDF": (WRITTEN["ball"], ".urdf", "URDF has no ball joint; write MJCF"),
    "ball damper in OpenSim": (sprung, ".osim", "joint 'ball_orientation': its damper is not written as .osim"),
    "format": (arm, ".sdf", "model.sdf: a model is written as .xml"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_written_is_refused_by_name(what, tmp_path):
    build, suffix, message = REFUSED[what]
    assert_refused(re.compile(message), models.write, build(), tmp_path / f"model{suffix}")
    assert not list(tmp_path.iterdir())


def tied():
    """A foot with the straps of an orthosis, and a bushing of any frames."""
    strap = {"stiffness": (2e3, 1.5e3, 1e3, 9.0, 7.0, 5.0), "damping": (20.0, 20.0, 15.0, 0.2, 0.1, 0.1)}
    hinge = {"axes": 2, "shift": (0.01, 0.0, 0.005)}
    worn = foot.build(orthosis=dict(stiffness=(8.0, 3.0, 0.0), mass=(0.3, 0.2), straps={"cuff": strap}, hinge=hinge))
    b = builder_of(worn)
    b.force("tie", "frame_bushing", "toes", "ground", **TIE)
    return b.build()


def test_bushings_are_written_for_opensim(tmp_path):
    system = tied()
    again = models.read(models.write(system, tmp_path / "foot.osim").file).build()
    names = {
        (joint, own): (f"{joint}_theta_j_and_{joint}_theta_i", other)
        for joint in ("ankle", "orthosis_hinge")
        for own, other in (("theta_j", "theta_i"), ("theta_i", "theta_j"))
    }
    assert same_run(system, again, names, 0.3) < 1e-8
    slack = runtime.with_parameters(system, {"kz.tie": 0.0, "kx.orthosis_cuff_strap": 0.0})
    assert same_run(slack, again, names, 0.3) > 1e-3


@needs_opensim
@pytest.mark.slow
def test_opensim_finds_the_same_bushings(tmp_path):
    system = moved(tied(), 4)
    file = models.write(system, tmp_path / "model.osim").file
    assert (worst(system, by_opensim(file)["state"]) < EXACT).all()


TIE = dict(
    s_i=(0.01, 0.02, 0.0), a_i=(0.6, 0.8, 0.0), b_i=(-0.8, 0.6, 0.0),
    s_j=(0.2, 0.05, 0.1), a_j=(0.0, 0.6, 0.8), b_j=(1.0, 0.0, 0.0),
    kx=5.0, ky=25.0, kz=45.0, cx=1.0, cy=1.0, cz=2.0, ktx=0.5, kty=0.4, ktz=0.3, ctx=0.05, cty=0.04, ctz=0.03,
)  # fmt: skip


def test_a_loop_of_ball_joints_is_closed_by_mujoco(tmp_path):
    b = Builder("loop")
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.01), r=(0, 0, -0.5))
    b.joint("top", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.5))
    b.joint("bottom", "spherical", "rod", "ground", s_i=(0, 0.1, -0.5), s_j=(0, 0.1, -1.0))
    system = b.build()
    written = models.write(system, tmp_path / "loop.xml")
    assert [one.sort for one in written.left_out] == ["loops"]
    again = models.read(written.file).build()
    assert again.degrees_of_freedom == system.degrees_of_freedom and same_run(system, again) < 1e-8


@pytest.mark.parametrize(
    "turn", [(0.3, -1.1, 2.0), (0.4, np.pi / 2, 0.7), (0.1, -np.pi / 2 + 1e-9, 3.0), (np.pi, 0.0, -np.pi)]
)
def test_angles_of_frames_are_exact_in_gimbal_lock(turn):
    for name, angles in (("xyz", fixed_angles), ("XYZ", body_angles)):
        A = Rotation.from_euler(name, turn).as_matrix()
        assert np.abs(Rotation.from_euler(name, angles(A)).as_matrix() - A).max() < 1e-15


RANGES = """<mujoco model="ranges"><compiler angle="radian" autolimits="true"/><worldbody>
  <body name="cart" pos="0 0 1"><joint name="rail" type="slide" axis="0.6 0 0.8" range="-0.1 0.2"/>
  <geom type="box" size="0.1 0.1 0.05" mass="2"/>
  <body name="rod"><joint name="a" axis="0 1 0" range="-0.1 0.3"/><joint name="b" axis="1 0.2 0" range="-0.4 0.1" ref="0.05"/>
  <geom type="capsule" fromto="0.1 0 0 0.3 0.1 -0.5" size="0.03" mass="1"/></body></body></worldbody></mujoco>"""


def test_ranges_are_written_and_read_again(tmp_path):
    (tmp_path / "ranges.xml").write_text(RANGES)
    system = models.read(tmp_path / "ranges.xml").build()
    written = models.write(system, tmp_path / "again.xml")
    assert "stops" in [one.sort for one in written.left_out] and not written.ignored
    again = models.read(written.file).build()
    stiffness = [sorted(f.values["stiffness"] for f in one.forces) for one in (system, again)]
    assert stiffness[1] == pytest.approx(stiffness[0], rel=1e-9)
    free = runtime.simulate(runtime.with_parameters(system, {"stiffness.a_stop": 0.0, "stiffness.b_stop": 0.0}), 0.4)
    run = runtime.simulate(system, 0.4)
    assert np.abs(free.final.r["rod"] - run.final.r["rod"]).max() > 1e-2  # the stops act
    assert same_run(system, again, t_end=0.4) < 1e-8
    with pytest.raises(ModelError, match=r"forces \(.*a_stop.*ignore='forces'"):
        models.write(system, tmp_path / "again.urdf")


def test_names_and_files(tmp_path):
    file = models.write(arm(), tmp_path / "arm.xml").file
    assert_refused("exists; choose another name or pass overwrite=True", models.write, arm(), file)
    assert_refused("unknown kind of parts 'limit'", models.write, arm(), tmp_path / "b.xml", ignore="limit")
    reading = models.read(file)
    assert models.write(reading, tmp_path / "again.xml").file.is_file()
    own = models.write(reading.builder(), tmp_path / "own.json").file
    assert json.loads(own.read_text())["format"] == "talus-model"
    assert models.write(models.read(own), tmp_path / "more.xml").file.is_file()


def test_a_body_that_mujoco_refuses(tmp_path):
    b = Builder("thin")
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.0), r=(0, 0, -0.5))
    b.joint("pivot", "universal", "ground", "rod", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    assert_refused(
        ("body 'rod': its smallest moment of inertia is ", " MuJoCo refuses"),
        models.write,
        b.build(),
        tmp_path / "thin.xml",
    )
