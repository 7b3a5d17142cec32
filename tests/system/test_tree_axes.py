"""Axes of the steps of a tree in which many components of its vectors are 0."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import models
from benchmarks.mechanisms import model, problem
from runtime.system.closed_tree import parameters_of_cases, reads_points_alone
from runtime.system.tree_axes import about, axes_of
from runtime.system.tree_geometry import OF_GRAVITY, OF_STEP
from runtime.system.trees import trees_of

ANGLE = 0.7


def parameters(*axes):
    found = np.zeros(OF_GRAVITY + OF_STEP * len(axes))
    for k, axis in enumerate(axes):
        found[OF_GRAVITY + OF_STEP * k :][:3] = axis
    return found


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_next_axis_and_arm_are_along_coordinate_axes(sign):
    """A cross whose second axis is oblique, and an arm across it."""
    A = about(2, ANGLE)
    given = parameters((0, 0, sign), A[:, 0])
    axes = axes_of(("turn", "turn"), (-1, 0), given, {1: [A @ about(0, 0.3) @ (0.0, 0.0, 0.5)]})
    turned = axes.of_tree(given)[OF_GRAVITY:].reshape(2, OF_STEP)
    assert axes.offset[0] == pytest.approx(sign * ANGLE)
    assert turned[:, :3] == pytest.approx(np.array([[0, 0, sign], [1, 0, 0]]), abs=1e-15)
    arm = axes.turned(1, A @ about(0, 0.3) @ (0.0, 0.0, 0.5))
    assert np.sort(np.abs(arm)) == pytest.approx([0.0, 0.0, 0.5], abs=1e-15)


def test_axes_that_are_along_those_of_the_ground_stay():
    system = model.build(problem.shipped("bricard_brick"))
    assert not trees_of(system).closed.axes.offset.any()
    assert (trees_of(system).closed.axes.rotation == np.eye(3)).all()


def test_a_turn_about_no_coordinate_axis_stays():
    given = parameters((0.6, 0.0, 0.8), (0.8, 0.0, -0.6))
    assert not axes_of(("turn", "turn"), (-1, 0), given, {}).offset.any()


def test_cases_have_the_parameters_of_systems_of_their_masses():
    mass = 1.7
    (own, other) = (models.hooke_shaft.build(mass=m) for m in (1.0, mass))
    assert trees_of(own).closed.axes.offset.any()
    # The inertia of a shaft is proportional to its mass; here masses alone differ.
    masses = np.stack([own.data.mass, other.data.mass])
    found, serves = parameters_of_cases(
        trees_of(own).closed, trees_of(own).tree, own.data, masses, np.stack([own.data.gravity] * 2)
    )
    assert serves.all()
    assert found[:, 0] == pytest.approx(trees_of(own).closed.parameters, rel=1e-15)
    of_moments = [OF_GRAVITY + OF_STEP * k + c for k in range(len(trees_of(own).tree.kinds)) for c in (6, 7, 8, 9)]
    assert found[of_moments, 1] == pytest.approx(trees_of(other).closed.parameters[of_moments], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("of_centre", "alone"),
    [(lambda r, s: r + s, True), (lambda r, s: r, False), (lambda r, s: r + 2.0 * s, False), (lambda r, s: s, False)],
)
def test_rows_that_read_centres_of_bodies_keep_them(of_centre, alone):
    """Rows of a user's own joint may read the place of a body without the vector to a point of it."""

    def phi(body_i, body_j, x, Phi):
        Phi[0] = of_centre(body_j[0], x[0]) - body_i[1]

    joint = SimpleNamespace(phi=phi, SIZE=3, VECTORS=(("s_j", "point", "j"),))
    assert reads_points_alone(joint, [(0, 1)], 1) is alone
    assert not reads_points_alone(joint, [(0, 1)], 0)


def test_points_of_joints_replace_centres_of_bodies():
    for kind in ("spherical", "universal", "revolute", "cylindrical", "modified_universal", "point_on_plane"):
        module = import_module(f"generated.{kind}")
        vectors = [(3 * k, "ij".index(body)) for k, (_, _, body) in enumerate(module.VECTORS)]
        assert all(reads_points_alone(module, vectors, side) for side in (0, 1)), kind
