"""Which joint fits: bones moved by Talus's own joints, counts of parameters, derivatives, and motions that show too little."""

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from models.walking.bone_motion import BoneMotion
from models.walking.joint_fit import JOINTS, UNKNOWNS, Chain, fit_joints
from runtime import Builder
from runtime.system.joint_motion import moved_pose
from tests.support.refusals import assert_refused

ONE, TWO = np.array([-0.1, -0.98, -0.17]), np.array([0.78, 0.28, 0.56])
ONE, TWO = ONE / np.linalg.norm(ONE), TWO / np.linalg.norm(TWO)
LENGTH = 0.031
ACROSS = np.cross(ONE, TWO) / np.linalg.norm(np.cross(ONE, TWO))
POINT = np.array([0.05, -0.02, 0.03])
NOISE = np.array([np.radians(0.3), 0.3e-3])
KINDS = {
    "hinge": ("revolute", {"point": POINT, "axis": ONE}),
    "classical": ("universal", {"point": POINT, "a_i": ONE, "a_j": TWO}),
    "modified": (
        "modified_universal",
        {"s_i": POINT, "s_j": POINT + LENGTH * ACROSS, "a_i": ONE, "a_j": TWO, "l": LENGTH},
    ),
    "spherical": ("spherical", {"point": POINT}),
}
FRAMES = 24


def motion_of(joint):
    """The coordinates of a joint of the dictionary between two bodies."""
    kind, values = KINDS[joint]
    b = Builder("bones", axes="global")
    b.body("tibia", mass=1.0, inertia=(1.0, 1.0, 1.0), free=True)
    b.body(
        "calcaneus", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(0.06, -0.01, 0.02), p=Rotation.from_rotvec([0.4, -0.2, 0.3])
    )
    b.joint("joint", kind, "tibia", "calcaneus", **values)
    return b.build().joint_motions["joint"]


def angles(joint, movements=3):
    """Coordinates (movements, FRAMES, n) [rad] of movements: mostly the first, mostly the second, both."""
    t = np.linspace(0.0, 2.0 * np.pi, FRAMES)
    waves = np.stack([np.sin(t + 0.3), np.sin(1.7 * t + 1.1), np.sin(1.3 * t + 2.0)], axis=-1)
    parts = np.array([[0.4, 0.1, 0.1], [0.1, 0.35, 0.15], [0.3, 0.25, 0.2]])[:movements]
    return (parts[:, None] * waves)[..., : JOINTS[joint].freedoms]


def moved(joint, noise=0.0, movements=3, scale=1.0):
    """Movements of bones by a joint of the dictionary, with noise of each bone in parts of that of fluoroscopy."""
    rng, motion, found = np.random.default_rng(7), motion_of(joint), []
    for k, values in enumerate(scale * angles(joint, movements)):
        poses = [moved_pose(motion, np.array(row)) for row in values]
        turn, shift = noise * np.sqrt(2.0) * NOISE
        A = np.stack([one.A for one in poses]) @ Rotation.from_rotvec(turn * rng.normal(size=(FRAMES, 3))).as_matrix()
        found.append(
            BoneMotion(
                f"movement {k + 1}", A, np.stack([one.r for one in poses]) + shift * rng.normal(size=(FRAMES, 3))
            )
        )
    return found


@cache
def found(joint, noise=1.0):
    return fit_joints(moved(joint, noise))


@pytest.mark.parametrize("joint", KINDS)
def test_bones_moved_by_a_joint_of_the_dictionary_are_told(joint):
    one = found(joint)
    assert one.chosen == one.nearest == joint
    assert 0.85 < one.fits[joint].relative < 1.3
    assert one.parts == "movement" and set(one.fits[joint].by_part) == {"movement 1", "movement 2", "movement 3"}


def test_lines_and_link_are_those_of_the_joint():
    fit = fit_joints(moved("modified"), joints=["modified"]).fits["modified"]
    rest = motion_of("modified").reference
    assert fit.link_length == pytest.approx(LENGTH, abs=1e-7)
    assert fit.angle_deg == pytest.approx(
        np.degrees(np.arccos(abs(ONE @ TWO))), abs=1e-4
    ) or fit.angle_deg == pytest.approx(np.degrees(np.arccos(-abs(ONE @ TWO))), abs=1e-4)
    assert abs(fit.axes["proximal"] @ ONE) == pytest.approx(1.0, abs=1e-9)
    assert abs(rest.A @ fit.axes["distal"] @ TWO) == pytest.approx(1.0, abs=1e-9)
    assert fit.points["proximal"] == pytest.approx(POINT, abs=1e-6)
    assert rest.r + rest.A @ fit.points["distal"] == pytest.approx(POINT + LENGTH * ACROSS, abs=1e-6)
    assert fit.residual_deg < 1e-5 and fit.residual_mm < 1e-5


def test_the_interval_holds_the_length_and_each_movement_gives_it():
    fit = found("modified").fits["modified"]
    assert fit.interval[0] < LENGTH < fit.interval[1] and np.ptp(fit.interval) < 0.006
    assert list(fit.link_lengths.values()) == pytest.approx([LENGTH] * 3, abs=0.003)
    assert any("mm apart, 95 % interval" in sentence for sentence in found("modified").sentences())


def test_a_left_out_movement_takes_no_part_in_the_fit():
    """A movement of another joint is predicted badly, and the hinge of the others is that of these alone."""
    first, second, _ = moved("hinge")
    turned = Rotation.from_rotvec([0.0, 0.0, 0.3]).as_matrix()
    odd = BoneMotion("odd", turned @ second.A, second.r @ turned.T)
    fit = fit_joints([first, odd], joints=["hinge"]).fits["hinge"]
    assert fit.by_part["odd"] > 20.0
    assert fit.left_out_deg > 1.5 * fit.residual_deg


def test_a_motion_about_one_axis_shows_no_link():
    one = found("hinge")
    fit = one.fits["modified"]
    assert fit.interval[0] == 0.0 and np.isinf(fit.interval[1]) and set(fit.sd_deg.values()) == {np.inf}
    alone = fit_joints(moved("hinge", 1.0), joints=["modified"])
    assert any("which the motion does not show" in sentence for sentence in alone.sentences())
    assert any("does not show the axis" in sentence for sentence in alone.sentences())


def test_bones_that_slide_fit_no_joint():
    motions = moved("spherical", 1.0)
    slides = 0.005 * np.sin(np.linspace(0.0, 9.0, FRAMES))[:, None] * [1.0, 0.5, -0.7]
    one = fit_joints([BoneMotion(each.name, each.A, each.r + slides) for each in motions])
    assert one.chosen == "free" and one.nearest != "free" and one.fits[one.nearest].relative > 2.0
    assert one.sentences()[0].startswith("No joint fits within 2 times the noise")


@pytest.mark.parametrize("joint", KINDS)
def test_parameters_are_as_many_as_directions_that_change_the_poses(joint):
    """The rank of exact derivatives at random unknowns; the angles of a frame make up for none of them."""
    rng, (freedoms, has) = np.random.default_rng(3), JOINTS[joint]
    n = 40
    turns = Rotation.random(n, random_state=4).as_matrix()
    bases = Rotation.random(2, random_state=5).as_matrix()
    x = np.zeros(UNKNOWNS)
    x[list(has)] = rng.normal(0.0, 0.5, len(has))
    values = rng.normal(0.0, 1.0, (n, freedoms))
    chain = Chain(JOINTS[joint], turns, np.zeros((n, 3)), bases, np.ones(2), x)
    A, r = chain.placed(x, values)
    here = Chain(JOINTS[joint], A, r, bases, np.ones(2), x)
    J, _ = here.followed(0.0 * values if joint == "spherical" else values, has)
    sizes = np.linalg.svd(J, compute_uv=False)
    assert len(sizes) == len(has) and sizes[-1] > 1e-3 * sizes[0]
    every = [k for k in range(UNKNOWNS) if k in has or (joint, k) == ("hinge", 4)]  # a point may slide along its line
    assert np.linalg.matrix_rank(
        here.followed(0.0 * values if joint == "spherical" else values, every)[0], tol=1e-9
    ) == len(has)


def test_derivatives_are_those_of_differences():
    motions, h = moved("modified", 1.0, movements=1), 1e-6
    rng = np.random.default_rng(1)
    x, bases = rng.normal(0.0, 0.1, UNKNOWNS), Rotation.random(2, random_state=2).as_matrix()
    chain = Chain(JOINTS["modified"], motions[0].A, motions[0].r, bases, NOISE, x)
    values = rng.normal(0.0, 0.3, (FRAMES, 2))
    by_angles = chain.slopes_of_angles(values)
    for k, e in enumerate(np.eye(2)):
        by_difference = (chain.residuals(x, values + h * e) - chain.residuals(x, values - h * e)) / (2.0 * h)
        assert by_angles[..., k] == pytest.approx(by_difference, rel=1e-5, abs=1e-4)
    J, follow = chain.followed(values, range(UNKNOWNS))
    for k, e in enumerate(np.eye(UNKNOWNS)):
        sides = [chain.residuals(x + s * h * e, values + s * h * follow[..., k]) for s in (1.0, -1.0)]
        assert J[:, k] == pytest.approx(((sides[0] - sides[1]) / (2.0 * h)).ravel(), rel=1e-5, abs=1e-4)


def test_axes_of_the_bones_do_not_matter():
    """Frames of an image, far from the bones and turned, give the same residuals and the same link."""
    B, C = Rotation.random(2, random_state=8)
    far = [
        BoneMotion(
            one.name,
            B.as_matrix() @ one.A @ C.as_matrix(),
            B.apply(one.r + np.einsum("nab,b->na", one.A, [0.2, -0.3, 0.1])) + [0.5, 0.1, -0.4],
        )
        for one in moved("modified", 1.0)
    ]
    one, other = found("modified").fits["modified"], fit_joints(far, joints=["modified"]).fits["modified"]
    for name in ("relative", "residual_deg", "residual_mm", "link_length", "left_out_mm"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-3)


def test_a_single_movement_is_left_out_by_fifths():
    (both,) = (
        BoneMotion("all", *(np.concatenate([getattr(m, k) for m in moved("classical", 1.0)]) for k in ("A", "r"))),
    )
    one = fit_joints([both], joints=["hinge", "classical", "spherical"])
    assert one.parts == "part" and len(one.fits["classical"].by_part) == 5 and one.chosen == "classical"


def test_poses_without_any_residual_fit_the_simplest_joint():
    turns = Rotation.from_rotvec(np.linspace(-0.5, 0.5, 50)[:, None] * [1.0, 0.0, 0.0]).as_matrix()
    one = fit_joints([BoneMotion("exact", turns, np.zeros((50, 3)))])
    assert one.chosen == "hinge" and one.fits["hinge"].relative < 1e-5


def test_what_cannot_be_told_is_refused():
    assert_refused(("'screw'", "hinge, classical"), fit_joints, moved("hinge"), joints=["screw"])
    assert_refused("not free alone", fit_joints, moved("hinge"), joints=["free"])
    assert_refused(("0 frames", "24 are needed"), fit_joints, [])
    assert_refused(("turn by", "1.3 deg are needed"), fit_joints, moved("hinge", scale=0.01))
    assert_refused("noise_mm", fit_joints, moved("hinge"), noise_mm=0.0)
