"""Angles of the ankle by the ISB: Grood and Suntay's vectors, known rotations, mirror images, standing subjects."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import models
from models.isb import ankle_angles
from models.walking import synthetic
from runtime import simulate
from tests.support.refusals import assert_refused

TIMES = np.linspace(0.0, 0.5, 51)
MIRROR = np.diag([1.0, -1.0, 1.0])
NAMES = ("dorsiflexion", "inversion", "internal_rotation")


def grood_and_suntay(leg, foot, last):
    """Angles of a right foot from unit vectors alone: e1 of the tibia, e3 of the foot, the floating axis across both."""
    x, y, z = np.moveaxis(leg, 2, 0)
    X, Y, Z = np.moveaxis(foot, 2, 0)
    dot = lambda a, b: (a * b).sum(axis=1)  # noqa: E731
    e1 = -y  # to the right
    if last == "floating":  # e3: z of the foot; the floating axis points forwards
        e2 = np.cross(Z, e1)
        e2 = e2 / np.linalg.norm(e2, axis=1)[:, None]
        e2 = e2 * np.sign(dot(e2, X))[:, None]
        return np.arctan2(dot(e2, z), dot(e2, x)), np.arcsin(-dot(y, Z)), np.arctan2(-dot(e2, Y), dot(e2, X))
    e2 = np.cross(X, e1)  # e3: x of the foot; the floating axis points up
    e2 = e2 / np.linalg.norm(e2, axis=1)[:, None]
    e2 = e2 * np.sign(dot(e2, Z))[:, None]
    return np.arctan2(-dot(e2, x), dot(e2, z)), np.arctan2(dot(e2, Y), dot(e2, Z)), np.arcsin(dot(y, X))


def moved(build, **options):
    """A foot that swings from a turned ankle."""
    return simulate(build(**options), 0.5, t_eval=TIMES)


@pytest.fixture(scope="module")
def feet():
    """The right and the left foot, swinging."""
    return {side: moved(models.foot.build, side=side) for side in ("right", "left")}


@pytest.mark.parametrize("about", ["floating", "foot"])
def test_angles_are_those_of_the_vectors_of_grood_and_suntay(feet, about):
    run = feet["right"]
    found = ankle_angles(run, inversion_about=about)
    expected = grood_and_suntay(run.rotations("leg"), run.rotations("main_foot"), about)
    for name, values in zip(NAMES, expected, strict=True):
        assert np.ptp(values) > 0.01
        np.testing.assert_allclose(getattr(found, name), values, atol=1e-12)


@pytest.mark.parametrize("about", ["floating", "foot"])
def test_a_left_foot_has_the_angles_of_its_mirror_image(feet, about):
    left, right = feet["left"], feet["right"]
    np.testing.assert_allclose(MIRROR @ left.rotations("main_foot") @ MIRROR, right.rotations("main_foot"), atol=1e-6)
    for name in NAMES:
        own, other = (getattr(ankle_angles(run, inversion_about=about), name) for run in (left, right))
        np.testing.assert_allclose(own, other, atol=1e-6)


def turned(rotations):
    """A motion with these orientations of the foot, seen from a turned leg."""
    leg = Rotation.from_rotvec([0.3, -0.8, 1.1]).as_matrix()
    system = SimpleNamespace(name="a foot", joints=())
    poses = {"leg": np.broadcast_to(leg, rotations.shape), "main_foot": leg @ rotations}
    omega, t = dict.fromkeys(poses, np.zeros((len(rotations), 3))), np.arange(len(rotations), dtype=float)
    return SimpleNamespace(t=t, system=system, rotations=poses.__getitem__, omega=omega)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("name", NAMES)
def test_known_rotations_have_the_named_sign(name, side):
    """Toes up; the sole to the other foot; the toes to the other foot: of a right foot about -y, x and z."""
    axis = {"dorsiflexion": (0, -1, 0), "inversion": (1, 0, 0), "internal_rotation": (0, 0, 1)}[name]
    angle = np.linspace(-0.5, 0.6, 12)
    A = Rotation.from_rotvec(np.outer(angle, axis)).as_matrix()
    toes, sole = A @ [1.0, 0.0, 0.0], A @ [0.0, 0.0, -1.0]
    moves = {"dorsiflexion": toes[:, 2], "inversion": sole[:, 1], "internal_rotation": toes[:, 1]}[name]  # up, medial
    np.testing.assert_allclose(moves, np.sin(angle), atol=1e-12)
    if side == "left":
        A = MIRROR @ A @ MIRROR
    for about in ("floating", "foot"):
        found = ankle_angles.__wrapped__(turned(A), side=side, inversion_about=about)
        for other in NAMES:
            np.testing.assert_allclose(getattr(found, other), angle if other == name else 0.0, atol=1e-12)


def test_both_conventions_differ_in_large_motions_only(feet):
    isb, foot = (ankle_angles(feet["right"], inversion_about=about) for about in ("floating", "foot"))
    first = np.abs([getattr(isb, name)[0] for name in NAMES]).max()
    assert first < 1e-9 and np.abs(isb.inversion - foot.inversion).max() > 1e-3
    assert (isb.sequence, foot.sequence) == ("YXZ", "YZX")


def test_an_angle_is_an_attribute_or_an_item(feet):
    found = ankle_angles(feet["right"])
    for name in NAMES:
        assert np.array_equal(found[name], getattr(found, name))
    assert_refused(("unknown angle of the ankle 'inversoin'; did you mean 'inversion'?",), lambda: found["inversoin"])


def test_a_system_that_does_not_show_its_side_is_asked():
    run = simulate(models.pendulum.build(), 0.1, t_eval=[0.0, 0.1])
    assert_refused(("does not show which foot it is", "give side='right'"), ankle_angles, run)
    assert_refused(("neutral = ", " is no rotation"), ankle_angles, run, neutral=2.0 * np.eye(3))


@pytest.mark.slow
def test_angles_of_a_walk_are_zero_while_standing_and_follow_from_the_hinges():
    """The product of both hinges' rotations, seen in the axes of the standing leg."""
    from models.walking import Filters, analyse
    from tests.support.vectors import about

    one = analyse(synthetic.static(), synthetic.trial(), markers=synthetic.MARKERS, filters=Filters.off())
    leg, foot = (one.subject.bodies[body].A for body in ("leg", "main_foot"))
    crural = -leg @ one.subject.talocrural.axes["leg"]  # dorsiflexion, in axes of the laboratory while standing
    calcaneal = foot @ one.subject.talocalcaneal.axes["main_foot"]
    turns = [
        leg.T @ about(crural, a) @ about(calcaneal, b) @ leg
        for a, b in zip(one.angles["talocrural"], one.angles["talocalcaneal"], strict=True)
    ]
    expected = grood_and_suntay(np.broadcast_to(np.eye(3), (len(turns), 3, 3)), np.array(turns), "floating")
    found = one.ankle_angles()
    for name, values in zip(NAMES, expected, strict=True):
        np.testing.assert_allclose(getattr(found, name), values, atol=1e-9)


@pytest.mark.parametrize("about", ["floating", "foot"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_rates_are_the_derivatives_of_the_angles(feet, about, side):
    run = feet[side]
    found = ankle_angles(run, inversion_about=about)
    fine = simulate(run.system, 0.5, t_eval=np.sort(np.concatenate([TIMES[1:-1] + k * 1e-4 for k in (-2, -1, 1, 2)])))
    around = ankle_angles(fine, inversion_about=about)
    for name in NAMES:
        at = getattr(around, name).reshape(-1, 4)  # a stencil about each time
        expected = (8 * (at[:, 2] - at[:, 1]) - (at[:, 3] - at[:, 0])) / (12 * 1e-4)
        assert np.ptp(expected) > 0.1
        np.testing.assert_allclose(found.rates[name][1:-1], expected, atol=1e-5 * np.abs(expected).max())
