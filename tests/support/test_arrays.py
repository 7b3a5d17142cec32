"""Products of vectors and their triads."""

import numpy as np
import pytest

from runtime.support.arrays import crossed
from runtime.system.reference import rotation_matrix, tangents


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((5, 3), (5, 3)), ((3, 3), (3,)), ((3,), (4, 3)), ((2, 1, 3), (4, 3))]
)
def test_the_product_of_vectors_is_that_of_numpy(shapes):
    a, b = (np.random.default_rng(n).normal(size=shape) for n, shape in enumerate(shapes))
    assert np.array_equal(crossed(a, b), np.cross(a, b))


def test_tangents_complete_a_right_handed_triad():
    """Of one direction, and of many as columns, whose results are those of each."""
    columns = np.random.default_rng(3).normal(size=(3, 20))
    columns[:, :3] = np.eye(3)
    columns /= np.linalg.norm(columns, axis=0)
    every = tangents(columns)
    for k, a in enumerate(columns.T):
        b, c = tangents(a)
        assert np.allclose(np.array([b, c, a]) @ np.array([b, c, a]).T, np.eye(3), rtol=0, atol=1e-15)
        assert np.allclose(np.cross(b, c), a, rtol=0, atol=1e-15)
        assert np.array_equal(every[0][:, k], b) and np.array_equal(every[1][:, k], c)


def test_a_rotation_matrix_that_is_kept_cannot_be_changed():
    p = np.array([0.8, 0.0, 0.6, 0.0])
    A = rotation_matrix(p)
    assert np.allclose(A @ (1.0, 0.0, 0.0), (0.28, 0.0, -0.96), rtol=0, atol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        A[0, 0] = 1.0
    p[:] = 1.0, 0.0, 0.0, 0.0  # the matrix of other parameters in the same array
    assert np.array_equal(rotation_matrix(p), np.eye(3))
