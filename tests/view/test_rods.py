"""Lines of constant length become rods between the same ends."""

import numpy as np
import pytest

from runtime.view.rods import with_rods
from runtime.view.scene import Lines, Scene
from tests.support.vectors import matrix

DIRECTIONS = np.array([[0.0, 0, 1], [0, 0, -1], [0.6, 0, -0.8], [1, 2, 3]])


def scene_with(points):
    t = np.arange(float(len(points)))
    return Scene("s", t, (), (Lines("g", "line", t, points, "#F0E442", 0.02),), (), (), np.zeros(3), np.ones(3), 0.0)


def test_a_line_of_constant_length_becomes_a_rod_between_its_ends():
    ways = 0.3 * DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1)[:, None]
    starts = np.arange(12.0).reshape(4, 3)
    scene = with_rods(scene_with(np.stack([starts, starts + ways], axis=1)[:, None]))
    ((rod,), lines) = scene.solids, scene.lines
    assert lines == () and rod.pose.moves
    for r, p, start, way in zip(rod.pose.r, rod.pose.p, starts, ways, strict=True):
        along = (r + rod.vertices @ matrix(p).T - start) @ way / 0.3
        assert (along.min(), along.max()) == pytest.approx((0.0, 0.3), abs=1e-12)
    assert np.linalg.norm(rod.vertices[:, :2], axis=1).max() == pytest.approx(0.01 * np.sqrt(3.0))


def test_springs_and_paths_stay_lines():
    starts = np.zeros((2, 3))
    assert with_rods(scene_with(np.stack([starts, [[0, 0, 1.0], [0, 0, 1.1]]], axis=1)[:, None])).solids == ()
    assert with_rods(scene_with(np.random.default_rng(0).random((2, 3, 2, 3)))).solids == ()
