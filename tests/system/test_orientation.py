"""Orientations by Euler parameters, rotation matrices and SciPy's rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import runtime
from runtime.system.orientation import euler_parameters

TURNS = [
    Rotation.identity(), *(Rotation.from_rotvec(np.pi * a) for a in np.eye(3)),
    *Rotation.random(20, random_state=np.random.default_rng(0)),
]  # fmt: skip


def body(p):
    b = runtime.Builder()
    b.body("one", mass=1.0, inertia=(1, 1, 1), p=p, free=True)
    return b.build().state.p["one"]


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: str(turn.as_quat()))
def test_one_orientation_in_three_forms(turn):
    p = np.roll(turn.as_quat(), 1)
    assert abs(body(p) - p).max() < 1e-15
    assert abs(body(turn) - p).max() < 1e-15
    of_matrix = body(turn.as_matrix())
    assert min(abs(of_matrix - p).max(), abs(of_matrix + p).max()) < 1e-15
    assert of_matrix[0] >= 0.0


def test_a_state_takes_the_same_forms():
    b = runtime.Builder()
    b.body("one", mass=1.0, inertia=(1, 1, 1), free=True)
    state, turn = b.build().state, TURNS[-1]
    for p in (turn, turn.as_matrix(), np.roll(turn.as_quat(), 1)):
        found = state.replace(p={"one": p}).p["one"]
        assert abs(abs(found @ np.roll(turn.as_quat(), 1)) - 1.0) < 1e-15


BAD = {
    "length": ((1.0, 0.1, 0.0, 0.0), "length"),
    "a stack": (Rotation.identity(2), r"a stack of rotations, shape \(2,\)"),
    "rounded": (np.round(TURNS[-1].as_matrix(), 3), "the columns of the matrix are not orthonormal"),
    "left-handed": (np.diag([1.0, 1.0, -1.0]), "left-handed"),
    "shape": (np.eye(4), r"has the shape \(4, 4\); give 4 Euler parameters, a 3 x 3 rotation matrix"),
    "not finite": (np.full((3, 3), np.nan), "not finite"),
    "text": ("x", "give 4 Euler parameters"),
    "angles": ((0.1, 0.2, 0.3), r"shape \(3,\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_refuses(name):
    p, message = BAD[name]
    with pytest.raises(runtime.ModelError, match=message):
        euler_parameters(p, "body 'one': p")
