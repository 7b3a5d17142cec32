"""The kernels of points of paths: places in closed form, differences, and forces along the angle that moves a point."""

import inspect
import re

import numpy as np
import pytest

from runtime.dynamics.layout import P, R, V
from tests.support.kernel_text import functions_of, lint, lint_tangent
from tests.support.marks import over
from tests.support.motions import distance, rotation_matrix
from tests.support.path_points import POINTS, RANGE, TABLES, Point, curve

OPERATIONS = {"conditional": 63, "moving": 291}
all_points = pytest.mark.parametrize("name", list(POINTS))
angles = pytest.mark.parametrize("angle", [-2.0, -0.3, 0.9, 1.8])  # below the range, in it and above
seeds = over("seed", range(3))


@all_points
@angles
@seeds
def test_a_place_in_closed_form(name, angle, seed):
    c = Point(name, seed, angle)
    assert c.run()[:3] == pytest.approx(place(c, angle), abs=1e-13)


def place(c, angle):
    """Of a point at an angle."""
    way = [curve(table)(np.clip(angle, *RANGE)) for table in TABLES] if c.module.TABLES else np.zeros(3)
    return c.states[0, R:P] + rotation_matrix(c.states[0, P:V]) @ (c.local["s_i"] + way)


@all_points
@angles
@seeds
def test_velocity_and_force_are_those_of_the_place(name, angle, seed):
    """v = J u, and the forces of f are J^T f, with J by differences of the place."""
    c = Point(name, seed, angle)
    found, slopes = c.run(), c.differences("point")[:3].reshape(3, 3, 12)
    J = slopes[:, :, :6].reshape(3, 18)
    assert not slopes[:, :, 6:].any()
    assert found[3:6] == pytest.approx(J @ c.twist, abs=1e-9)
    belongs = name == "moving" or RANGE[0] <= angle <= RANGE[1]
    assert found[6] == belongs
    assert c.run(kernel="pull") == pytest.approx(belongs * (J.T @ c.force), abs=1e-9)
    assert np.abs(J[:, 9:]).max() > 0.1 or name == "conditional" or not RANGE[0] <= angle <= RANGE[1], "along the angle"


@all_points
@pytest.mark.parametrize("kernel", ["point", "pull"])
@angles
@seeds
def test_the_tangent_is_the_derivative(name, kernel, angle, seed):
    c = Point(name, seed, angle)
    found = c.tangent(kernel)
    assert distance(found[:, :36], c.differences(kernel)) < 1e-8
    if kernel == "pull":
        columns = []
        for c.force in np.eye(3):
            columns.append(c.run(kernel="pull"))
        assert found[:, 36:] == pytest.approx(np.transpose(columns), abs=1e-14), "linear in the force"
    else:
        assert not found[:, 36:].any()


@all_points
def test_kinks_are_the_ends_of_the_range(name):
    for end, sign in zip(RANGE, (-1.0, 1.0), strict=True):
        before, after = (Point(name, 0, end + sign * by).run(kernel="kinks") for by in (-1e-6, 1e-6))
        changed = [k for k in range(2) if before[k] * after[k] < 0.0]
        assert len(changed) == 1 and abs(after - before)[changed[0]] == pytest.approx(2e-6, rel=1e-6)


def test_a_range_includes_its_ends():
    """Of a hinge whose angle has no rounding."""
    c = Point("conditional", 0, limits=(-1.0, 1.0))
    c.states[:, P:V] = 1.0, 0.0, 0.0, 0.0
    for angle, belongs in ((-1.0, 1.0), (1.0, 1.0), (-1.0 - 1e-15, 0.0), (1.0 + 1e-15, 0.0)):
        c.local |= {"a_j": np.eye(3)[2], "b_j": np.eye(3)[0], "c_k": np.array([np.cos(angle), np.sin(angle), 0.0])}
        assert c.run()[6] == belongs


@all_points
def test_revolutions_of_the_angle_count(name):
    """A turn more is beyond the range."""
    one, more = Point(name, 0, 0.3), Point(name, 0, 0.3, before=2.0 * np.pi)
    assert one.run(kernel="reference") == pytest.approx(0.3 - sum(RANGE) / 2) == one.run(kernel="angles")
    assert more.run(kernel="angles") == pytest.approx(one.run(kernel="angles") + 2.0 * np.pi)
    assert (one.run()[6], more.run()[6]) == (1.0, float(name == "moving"))
    assert more.run()[:3] == pytest.approx(place(more, RANGE[1]), abs=1e-13)


@all_points
def test_kernels_are_straight_line_code_of_no_more_operations(name):
    module = POINTS[name]
    functions = functions_of(inspect.getsource(module))
    inputs = ["body_i", "body_j", "body_k", "x"]
    for kernel, count in (("point", 7), ("pull", 18)):
        assert lint(functions[kernel], [(count,)], inputs) == []
        assert lint_tangent(functions[f"{kernel}_tangent"], count, inputs) == []
    tables = len(module.TABLES)
    counts = {"reference": module.ANGLES, "angles": module.ANGLES, "kinks": module.KINKS + tables, "lookups": tables}
    for kernel, count in counts.items():
        assert lint(functions[kernel], [(count,)], inputs) == [] if count else kernel not in functions
    assert (module.ANGLES, module.KINKS, module.MAY_LEAVE) == (1, 2, name == "conditional")
    assert int(re.search(r"(\d+) operations", module.point.py_func.__doc__)[1]) <= OPERATIONS[name]
    assert set(OPERATIONS) == set(POINTS)
