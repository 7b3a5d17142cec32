"""Euler and Cardan angles of bodies: products of rotations about axes, a hinge in closed form, gimbal lock."""

from itertools import product

import numpy as np
import pytest

import models
from runtime import GROUND, Builder, ModelError, simulate
from runtime.results import euler_angles
from tests.support.refusals import assert_refused
from tests.support.vectors import about

AXES = dict(zip("xyz", np.eye(3), strict=True))
TIMES = np.linspace(0.0, 1.0, 101)
SEQUENCES = ["".join(axes) for axes in product("xyz", repeat=3) if axes[0] != axes[1] != axes[2]]


def composed(sequence, angles):
    """Rotations (n, 3, 3) of angles (n, 3): intrinsic ones multiply from the left to the right, extrinsic ones reversed."""
    found = []
    for row in angles:
        factors = [about(AXES[axis.lower()], angle) for axis, angle in zip(sequence, row, strict=True)]
        a, b, c = factors if sequence.isupper() else factors[::-1]
        found.append(a @ b @ c)
    return np.array(found)


@pytest.mark.parametrize("sequence", [*SEQUENCES, *(s.upper() for s in SEQUENCES)])
def test_angles_are_those_of_which_the_rotation_is_composed(sequence):
    """Two turns of the first, and of the third angle in the other direction, without jumps."""
    middle = 0.4 * np.sin(5.0 * TIMES) + (0.0 if len(set(sequence)) == 3 else 1.2)
    angles = np.column_stack([4 * np.pi * TIMES, middle, 0.3 - 4 * np.pi * TIMES])
    np.testing.assert_allclose(euler_angles(TIMES, composed(sequence, angles), sequence), angles, atol=1e-12)


@pytest.fixture(scope="module")
def arm():
    """An arm on a hinge about y of a base that turns about z; both at constant speeds, without gravity."""
    b = Builder("arm on a base", gravity=(0.0, 0.0, 0.0), axes="global")
    b.body("base", mass=1.0, inertia=(1.0, 1.0, 1.0))
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("turn", "revolute", GROUND, "base", point=(0, 0, 0), axis=(0, 0, 1))
    b.joint("hinge", "revolute", "base", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    b.initial_coordinates("turn", rates={"angle": 3.0})
    b.initial_coordinates("hinge", rates={"angle": 7.0})
    return simulate(b.build(), 1.0, t_eval=TIMES, rtol=1e-10, atol=1e-10)


def test_angles_relative_to_a_body_are_those_of_its_hinge(arm):
    relative = arm.euler_angles("arm", relative_to="base", sequence="YXZ")
    np.testing.assert_allclose(relative, np.outer(arm.angles["hinge"].angle, [1.0, 0.0, 0.0]), atol=1e-8)
    assert relative[-1, 0] == pytest.approx(7.0, abs=1e-6)  # more than a turn
    back = arm.euler_angles("base", relative_to="arm", sequence="YXZ")
    np.testing.assert_allclose(back, -relative, atol=1e-8)
    ground = arm.euler_angles("base", sequence="ZXY")
    np.testing.assert_allclose(ground, np.outer(3.0 * TIMES, [1.0, 0.0, 0.0]), atol=1e-6)


def test_gimbal_lock_is_named(arm):
    """The hinge turns the second angle through 90 degrees, between two times of the result."""
    with pytest.raises(
        ModelError, match=r"'arm' relative to 'base', sequence 'XYZ': gimbal lock at t = 0.2\d* s.*another"
    ):
        arm.euler_angles("arm", relative_to="base", sequence="XYZ")
    with pytest.raises(ModelError, match="sequence 'ZXZ': gimbal lock at t = 0 s.*0 or 180 deg.*'YXZ'"):
        arm.euler_angles("arm", relative_to="base", sequence="ZXZ")


def test_a_single_time_in_gimbal_lock_is_named():
    A = composed("XYZ", [[0.3, np.pi / 2 - 5e-4, 0.2]])
    assert_refused("gimbal lock at t = 0 s", euler_angles, np.zeros(1), A, "XYZ")
    assert euler_angles(np.zeros(1), composed("XYZ", [[0.3, np.pi / 2 - 2e-3, 0.2]]), "XYZ").shape == (1, 3)


@pytest.mark.parametrize("sequence", ["XX", "XXY", "XYy", "abc", "", "XYZX", "xYz"])
def test_unknown_sequences_are_refused(sequence):
    assert_refused(("sequence = ", "give three axes"), euler_angles, np.zeros(1), np.eye(3)[None], sequence)


def test_what_is_no_rotation_is_refused():
    for wrong in (2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.full((3, 3), np.nan)):
        assert_refused("t = 1 s is no rotation", euler_angles, np.arange(2.0), np.array([np.eye(3), wrong]), "XYZ")
    assert_refused("euler_angles: rotations", euler_angles, np.arange(2.0), np.eye(3)[None], "XYZ")


def test_bodies_must_exist():
    run = simulate(models.pendulum.build(), 0.1, t_eval=[0.0, 0.1])
    assert_refused("'rood'", run.euler_angles, "rood", sequence="XYZ")
