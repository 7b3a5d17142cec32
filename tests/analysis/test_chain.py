"""Points of chains: against rotations of SciPy, differences, and dense sums of squares."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from runtime.analysis import ChainLink, PointChain
from tests.support.refusals import assert_refused

RANDOM = np.random.default_rng(6)
AXES = RANDOM.normal(size=(4, 3))
AXES /= np.linalg.norm(AXES, axis=1)[:, None]
POINTS = RANDOM.normal(size=(4, 3))
TURNS = [Rotation.from_rotvec(of).as_matrix() for of in RANDOM.normal(size=(3, 3))]
KINDS = ("slide", "turn", "turn", "turn")
STEPS = list(zip(KINDS, AXES, POINTS, strict=True))
# A link with a slide and a turn, one behind it with a turn, and one on the ground with a turn that follows the same coordinate.
LINKS = [
    ChainLink(-1, POINTS[3], TURNS[0], STEPS[:2]), ChainLink(0, POINTS[2], TURNS[1], STEPS[2:3]),
    ChainLink(-1, POINTS[0], TURNS[2], STEPS[3:]),
]  # fmt: skip
PLACES = [(1, (0.1, -0.2, 0.3)), (2, (0.4, 0.1, 0.0)), (-1, (1.0, 2.0, 3.0)), (0, (0.0, 0.0, 0.2))]
X = RANDOM.uniform(-2.0, 2.0, (5, 3))


@pytest.fixture
def chain():
    return PointChain(LINKS, [0, 1, 2, 2], PLACES, 3)


def amounts(x):
    return np.column_stack([x, 0.5 * x[:, 2] ** 2])


def slopes(x):
    one = np.ones(len(x))
    return np.column_stack([one, one, one, x[:, 2]])


def placed(q):
    """Pose of each link by products of homogeneous matrices."""

    def pose(R, r):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R, r
        return T

    def moved(T, step, amount):
        kind, axis, point = step
        if kind == "slide":
            return T @ pose(np.eye(3), amount * axis)
        R = Rotation.from_rotvec(amount * axis).as_matrix()
        return T @ pose(R, point - R @ point)

    found, k = {-1: np.eye(4)}, 0
    for n, link in enumerate(LINKS):
        T = found[link.parent] @ pose(link.rotation, link.position)
        for step in link.steps:
            T = moved(T, step, q[k])
            k += 1
        found[n] = T
    return np.array([(found[link] @ [*place, 1.0])[:3] for link, place in PLACES])


def test_places_are_those_of_products_of_poses(chain):
    assert chain.places(amounts(X)) == pytest.approx(np.array([placed(q) for q in amounts(X)]), abs=1e-13)


def test_velocities_are_slopes(chain):
    places, velocities = chain.places_and_velocities(amounts(X), slopes(X))
    assert np.array_equal(places, chain.places(amounts(X)))
    for k, d in enumerate(1e-6 * np.eye(3)):
        slope = (chain.places(amounts(X + d)) - chain.places(amounts(X - d))) / 2e-6
        assert velocities[..., k] == pytest.approx(slope, abs=1e-8)


def test_normal_equations_are_sums(chain):
    places, velocities = chain.places_and_velocities(amounts(X), slopes(X))
    observed, weights = places + RANDOM.normal(size=places.shape), RANDOM.uniform(size=places.shape[:2])
    weights[:, 1], observed[:, 1] = 0.0, np.nan
    g, H, cost = chain.normal_equations(amounts(X), slopes(X), observed, weights)
    off = np.nan_to_num(places - observed)
    assert cost == pytest.approx((weights * (off**2).sum(axis=2)).sum(axis=1))
    assert g == pytest.approx(np.einsum("np,npi,npik->nk", weights, off, velocities))
    assert H == pytest.approx(np.einsum("np,npik,npil->nkl", weights, velocities, velocities))


def test_what_is_refused(chain):
    cases = [
        ("parent = 1", lambda: PointChain([ChainLink(1, (0, 0, 0), np.eye(3))], [], [], 0)),
        ("leads: 1 numbers for 4 steps", lambda: PointChain(LINKS, [0], [], 3)),
        ("one of -1 to 1", lambda: PointChain(LINKS, [0, 1, 2, 2], [], 2)),
        ("link that does not exist", lambda: PointChain(LINKS, [0, 1, 2, 2], [(3, (0, 0, 0))], 3)),
        (
            "'ball' is unknown",
            lambda: PointChain([ChainLink(-1, (0, 0, 0), np.eye(3), [("ball", AXES[0], AXES[0])])], [0], [], 1),
        ),
        ("rotation: shape (3,)", lambda: PointChain([ChainLink(-1, (0, 0, 0), np.ones(3))], [], [], 0)),
        ("coordinates = -1", lambda: PointChain([], [], [], -1)),
        ("amounts: shape (5, 3); it must be (poses, 4)", lambda: chain.places(X)),
        ("slopes: 4 poses", lambda: chain.places_and_velocities(amounts(X), slopes(X[:4]))),
    ]
    for sentence, call in cases:
        assert_refused(sentence, call)
