"""Coordinates of joints: against the pose that they lead to, closed forms, joint limits, and differences in time."""

import csv
import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import models
from codegen import compile_joint
from codegen.compiler.motion import TAKEN
from runtime import GROUND, Builder, ModelError, simulate
from runtime.results.joint_angles import JointAngles
from runtime.system.joint_motion import moved_pose, relative_poses
from tests.support.refusals import assert_refused

TIMES = np.linspace(0.0, 1.0, 201)
AXIS = np.array([0.48, -0.6, 0.64])
ACROSS = np.array([0.8, 0.6, 0.0])


def two_bodies(kind, **values):
    """A base on a hinge and a second body on a joint of this kind, both in motion from a turned pose."""
    b = Builder(f"two bodies, {kind}", gravity=(0.3, -0.2, -2.0), axes="global")
    turn = Rotation.from_rotvec([0.2, 0.5, -0.3])
    b.body("base", mass=2.0, inertia=(0.5, 0.6, 0.7), r=(0.1, 0.0, 0.2), p=turn)
    b.body(
        "arm", mass=1.0, inertia=(0.2, 0.3, 0.25), r=(0.5, 0.2, -0.1), p=turn * Rotation.from_rotvec([1.0, 0.2, 0.4])
    )
    b.joint("hinge", "revolute", GROUND, "base", point=(0.0, 0.0, 0.0), axis=(0.6, 0.0, 0.8))
    b.joint("joint", kind, "base", "arm", **values)
    return b


POINT = (0.4, 0.1, 0.0)
KINDS = {
    "spherical": {"point": POINT},
    "revolute": {"point": POINT, "axis": AXIS},
    "cylindrical": {"point": POINT, "axis": AXIS},
    "translational": {"point": POINT, "axis": AXIS},
    "plane_translation": {"point": POINT, "a_i": AXIS, "b_i": ACROSS},
    "translation": {},
    "oblique_translation": {"a_i": AXIS, "b_i": ACROSS, "c_i": (0.6, 0.8, 0.0)},
    "parallel_axes": {"a_i": AXIS, "a_j": AXIS},
    "universal": {"point": POINT, "a_i": AXIS, "a_j": ACROSS},
    "modified_universal": {"s_i": POINT, "s_j": (0.4, 0.15, 0.2), "a_i": AXIS, "a_j": ACROSS, "l": np.hypot(0.05, 0.2)},
    "point_on_line": {"point": POINT, "a_i": AXIS},
    "point_on_plane": {"point": POINT, "a_i": AXIS},
}


@pytest.fixture(scope="module", params=KINDS)
def run(request):
    b = two_bodies(request.param, **KINDS[request.param])
    values = {"spherical": 3, "point_on_line": 4, "point_on_plane": 5}.get(request.param, 0)
    b.initial_coordinates("hinge", angle=0.4, rates={"angle": 2.0})
    if not values:
        b.initial_coordinates(
            "joint", rates={name: 3.0 for name in b.build().joint_motions["joint"].units if name != "distance"}
        )
    run = simulate(b.build(), 1.0, t_eval=TIMES, rtol=1e-10, atol=1e-10)
    assert run.success
    return run


def test_coordinates_lead_to_the_pose(run):
    motion, states = run.system.joint_motions["joint"], run.states.reshape(len(run.t), 2, 13)
    poses = relative_poses(states[:, 0], states[:, 1])
    values = np.column_stack(list(run.angles["joint"].values.values()))
    assert np.ptp(values) > 0.1
    for k in range(0, len(TIMES), 20):
        A, r = moved_pose(motion, values[k])
        assert np.abs(A - poses.A[k]).max() < 1e-9 and np.abs(r - poses.r[k]).max() < 1e-9


def test_rates_are_those_of_the_coordinates(run):
    """By differences in time; of a rotation vector phi by phi' = omega for small turns, so at the start."""
    angles, h = run.angles["joint"], TIMES[1]
    for name, values in angles.values.items():
        rate = np.gradient(values, h, edge_order=2)
        if "orientation" in name:
            assert abs(rate[0] - angles.rates[name][0]) < 2e-3 * (1.0 + np.abs(rate).max())
        else:
            assert np.abs(rate - angles.rates[name])[1:-1].max() < 2e-3 * np.abs(rate).max() + 1e-9


def test_accelerations_are_those_of_the_rates(run):
    """By differences of order four in time; those of a rotation vector are the derivatives of the components of omega."""
    h = TIMES[1]
    for joint in ("hinge", "joint"):
        for name, rates in run.angles[joint].rates.items():
            slopes = (8.0 * (rates[3:-1] - rates[1:-3]) - rates[4:] + rates[:-4]) / (12.0 * h)
            found = run[f"acceleration.{joint}.{name}"][2:-2]
            assert np.abs(found - slopes).max() < 1e-5 * max(1.0, np.abs(slopes).max()), name


def test_the_base_turns_by_its_own_hinge(run):
    hinge = run.angles["hinge"]
    assert hinge.angle[0] == pytest.approx(0.4, abs=1e-14) and hinge.rates["angle"][0] == pytest.approx(2.0, abs=1e-13)
    assert np.abs(np.gradient(hinge["angle"], TIMES[1], edge_order=2) - hinge.rates["angle"])[1:-1].max() < 1e-2


def spinning(kind, omega, **values):
    b = Builder("spinning", gravity=(0, 0, 0))
    b.body("top", mass=1.0, inertia=(0.1, 0.1, 0.1), omega=omega)
    b.joint("pivot", kind, GROUND, "top", s_i=(0, 0, 0), s_j=(0, 0, 0), **values)
    return simulate(b.build(), 2.0, t_eval=np.linspace(0, 2, 81)).angles["pivot"]


def test_angles_go_on_beyond_a_turn():
    angles = spinning("revolute", (0, 0, -9.0), a_i=(0, 0, 1), a_j=(0, 0, 1))
    assert np.abs(angles.angle + 9.0 * np.linspace(0, 2, 81)).max() < 1e-7
    for omega in (np.array([6.0, -3.0, 2.0]), 2 * np.pi * np.array([0.6, 0.48, 0.64])):  # the second has whole turns
        ball = spinning("spherical", omega)
        vectors = np.column_stack([ball.orientation_x, ball.orientation_y, ball.orientation_z])
        assert np.abs(vectors - np.outer(np.linspace(0, 2, 81), omega)).max() < 1e-7
        assert np.abs(np.column_stack(list(ball.rates.values())) - omega).max() < 1e-9


def plane(r_i, s_i, a_i, r_j, s_j, a_j, across):
    """A plane that moves in a plane.

    s_i, s_j : point [m]
    """
    b, c = across(a_i)
    return {"height": a_i.dot(r_j + s_j - r_i - s_i), "tilt_1": b.dot(a_j), "tilt_2": c.dot(a_j)}


def slides_of_j(s_i, a_i, a_j, across, turn, slide):
    b, c = across(a_j)
    return {"angle": turn(a_i, s_i), "x": slide(b), "y": slide(c)}


def parallel_motion(xi_i, eta_i, zeta_i, carried):
    """A body that does not turn."""
    return {"x": eta_i.dot(carried(zeta_i)), "y": zeta_i.dot(carried(xi_i)), "z": xi_i.dot(carried(eta_i))}


def along_the_frame(xi_i, eta_i, zeta_i, slide):
    return {"x": slide(xi_i), "y": slide(eta_i), "z": slide(zeta_i)}


def frame_hinge(r_i, s_i, xi_i, eta_i, r_j, s_j, zeta_j):
    """A hinge about the z axes of both bodies.

    s_i, s_j : point [m]
    """
    return {"point": r_j + s_j - r_i - s_i, "tilt_1": xi_i.dot(zeta_j), "tilt_2": eta_i.dot(zeta_j)}


def about_the_frame(s_j, zeta_j, turn):
    return {"angle": turn(zeta_j, s_j)}


USERS = {
    "slides": (plane, slides_of_j, {"s_i": (0.1, 0, 0), "a_i": (0.6, 0, 0.8), "s_j": (0, 0.2, 0)}),
    "frame": (parallel_motion, along_the_frame, {}),
    "hinge": (frame_hinge, about_the_frame, {"s_i": (0.1, 0, 0), "s_j": (-0.2, 0.1, 0)}),
}


@pytest.mark.parametrize("name", USERS)
def test_steps_along_frames_and_across_axes_of_body_j(name):
    joint, motion, values = USERS[name]
    b = Builder(name)
    turned = Rotation.from_rotvec([0.2, -0.9, 0.4]) if name != "hinge" else Rotation.from_rotvec([0.0, 0.0, 0.7])
    s_i, s_j = (np.array(values.get(s, (0.0, 0.0, 0.0))) for s in ("s_i", "s_j"))
    b.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), p=turned, r=s_i - turned.apply(s_j))
    if "a_i" in values:
        values = values | {"a_j": turned.inv().apply(values["a_i"])}
    b.joint("joint", compile_joint(joint, motion), GROUND, "arm", **values)
    motion = b.build().joint_motions["joint"]
    b.initial_coordinates(
        "joint", **{c: 0.3 * k - 0.7 for k, c in enumerate(motion.units)}, rates={c: 0.5 for c in motion.units}
    )
    run = simulate(b.build(), 0.5, t_eval=np.linspace(0, 0.5, 51), rtol=1e-10, atol=1e-10)
    angles = run.angles["joint"]
    values = np.column_stack(list(angles.values.values()))
    assert values[0] == pytest.approx(0.3 * np.arange(len(motion.units)) - 0.7, abs=1e-12)
    for k, rate in enumerate(angles.rates.values()):
        assert np.abs(np.gradient(values[:, k], run.t, edge_order=2) - rate)[1:-1].max() < 1e-2
    ground = np.tile(np.r_[0, 0, 0, 1.0, np.zeros(9)], (len(run.t), 1))
    poses = relative_poses(ground, run.states.reshape(-1, 13))
    A, r = moved_pose(motion, values[-1])
    assert np.abs(A - poses.A[-1]).max() < 1e-8 and np.abs(r - poses.r[-1]).max() < 1e-8


def test_the_hinges_of_the_foot_turn_by_the_angles_of_their_limits():
    """The limits measure the same turns from their own directions on the other body: with the other sign."""
    system = models.foot.build("modified", limits="elastic")
    run = simulate(system, 1.0, t_eval=TIMES, rtol=1e-11, atol=1e-11)
    ankle = run.angles["ankle"]
    for limit, coordinate, sign in (("talocalcaneal", "theta_i", -1.0), ("talocrural", "theta_j", 1.0)):
        assert np.abs(run.limits[limit].angle - sign * ankle[coordinate]).max() < 1e-9
        assert np.abs(run.limits[limit].rate - sign * ankle.rates[coordinate]).max() < 1e-7
    assert np.ptp(ankle.theta_i) > 0.3 and np.abs(run.angles["metatarsophalangeal"].angle).max() < 1e-10


def planar_link(r_i, s_i, a_i, r_j, s_j, a_j, l, held, across):
    """A link between two parallel hinges.

    l : length [m]
    """
    b, c = across(a_i)
    d = r_j + s_j - r_i - s_i
    return {"length": d.dot(d) - l**2, "height": held(a_i.dot(d)), "tilt_1": b.dot(a_j), "tilt_2": c.dot(a_j)}


def two_hinges(s_i, a_i, s_j, a_j, turn):
    return {"first": turn(a_i, s_i), "second": turn(a_j, s_j)}


def test_turns_about_parallel_axes_are_told_apart_by_the_point():
    module = compile_joint(planar_link, two_hinges)
    assert module.DEPENDENT_COORDINATES == "a_i x d = 0"
    b = Builder("planar link")
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.5, 0.0, -0.2))
    b.joint("link", module, GROUND, "arm", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.2, 0, 0.2), a_j=(0, 1, 0), l=0.3)
    b.initial_coordinates("link", first=0.3, rates={"second": -2.0})
    run = simulate(b.build(), 1.0, t_eval=TIMES, rtol=1e-10, atol=1e-10)
    link = run.angles["link"]
    arm = run.r["arm"] + np.einsum("nab,b->na", run.rotations("arm"), [-0.2, 0, 0.2])  # the end of the link
    first = np.unwrap(np.arctan2(-arm[:, 2], arm[:, 0]))
    assert np.abs(link.first - first).max() < 1e-9 and link.first[0] == pytest.approx(0.3, abs=1e-12)
    both = np.unwrap(2.0 * np.arctan2(run.p["arm"][:, 2], run.p["arm"][:, 0]))
    assert np.abs(link.first + link.second - both).max() < 1e-9


def test_results_hold_the_coordinates(tmp_path):
    run = simulate(models.foot.build(), 0.1, t_eval=[0.0, 0.05, 0.1])
    data = run.to_xarray()
    assert list(data.coordinate.values) == ["metatarsophalangeal.angle", "ankle.theta_i", "ankle.theta_j"]
    assert np.array_equal(data.angle.sel(coordinate="ankle.theta_i"), run.angles["ankle"].theta_i)
    assert np.array_equal(data.angle_rate.sel(coordinate="ankle.theta_j"), run.angles["ankle"].rates["theta_j"])
    with run.to_csv(tmp_path / "run.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["ankle.theta_i [rad]"]) for row in rows] == run.angles["ankle"].theta_i.tolist()
    assert [float(row["ankle.theta_j_rate [rad/s]"]) for row in rows] == run.angles["ankle"].rates["theta_j"].tolist()
    lines = run.to_mot(tmp_path / "run.mot").read_text(encoding="utf-8").splitlines()
    assert "inDegrees=yes" in lines and lines[6].split("\t")[2] == "ankle_theta_i"
    assert float(lines[-1].split("\t")[2]) == np.rad2deg(run.angles["ankle"].theta_i[-1])


def test_unknown_names():
    run = simulate(models.foot.build(), 0.01)
    assert_refused("unknown joint with coordinates 'ancle'; did you mean 'ankle'", lambda: run.angles["ancle"])
    with pytest.raises(ModelError, match="unknown coordinate 'theta'"):
        run.angles["ankle"]["theta"]
    with pytest.raises(
        AttributeError, match=r"joint 'ankle' \(modified_universal\) has no coordinate 'theta'; it has theta_i"
    ):
        _ = run.angles["ankle"].theta
    free = simulate(models.free_body.build(), 0.01)
    assert not free.angles
    assert_refused("has no joint with coordinates", free.to_mot, "never.mot")


def test_attributes_of_the_angles_of_a_joint_are_no_names_of_coordinates():
    assert [field.name for field in dataclasses.fields(JointAngles)] == list(TAKEN)
