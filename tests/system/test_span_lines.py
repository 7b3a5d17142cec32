"""Lines of spans, as views draw them: on their cylinders, between their ends, and as long as the kernel says."""

import numpy as np
import pytest

from runtime.system.span_lines import CHORDS, span_line
from runtime.system.spans import span_at

COUNT = 400
RADII = {"k": 0.03, "l": 0.025}
NUMBERS = dict(
    radius=RADII["k"], length=0.4, first_radius=RADII["k"], first_length=0.4, first_sided=1.0, second_radius=RADII["l"],
    second_length=0.4, second_sided=0.0,
)  # fmt: skip


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def places(seed=1):
    """Ends on both sides of two cylinders, whose axes lie roughly across the way."""
    rng = np.random.default_rng(seed)
    found = {
        name: rng.normal(size=(COUNT, 3)) * spread + (x, 0.0, 0.0)
        for name, spread, x in (("s_i", 0.05, 0.25), ("s_j", 0.05, -0.25), ("s_k", 0.01, 0.08), ("s_l", 0.01, -0.08))
    }
    found |= {f"a_{letter}": unit(rng.normal(size=(COUNT, 3)) * 0.2 + (0.0, 1.0, 0.0)) for letter in "kl"}
    return found | {f"n_{letter}": unit(np.cross(found[f"a_{letter}"], (1.0, 0.0, 0.0))) for letter in "kl"}


def turned(points, centre, axis):
    """The angle (times,) by which lines (times, k, 3) turn about an axis."""
    off = points - centre[:, None]
    off = off - axis[:, None] * (off * axis[:, None]).sum(axis=2, keepdims=True)
    across = np.cross(off[:, :-1], off[:, 1:]) @ axis[..., None]
    return np.abs(np.arctan2(across[..., 0], (off[:, :-1] * off[:, 1:]).sum(axis=2)).sum(axis=1))


@pytest.mark.parametrize(
    ("kind", "cylinders"), [("straight", ""), ("cylinder", "k"), ("cylinder_side", "k"), ("two_cylinders", "kl")]
)
def test_a_line_lies_on_its_cylinders_and_has_the_length_of_the_span(kind, cylinders):
    """A second route to the length, which the kernel measures on the unrolled cylinder: the sum of the drawn chords."""
    vectors = places()
    length, wrenches = span_at(kind, vectors, NUMBERS)
    if kind == "two_cylinders":  # whose search is not settled for some of the lines that touch the second alone
        first = (wrenches["k"][0] != 0).any(axis=1)
        second = vectors | {f"{name}_k": vectors[f"{name}_l"] for name in "sa"}
        alone, _ = span_at("cylinder", second, NUMBERS | {"radius": RADII["l"]})
        settled = first | (np.abs(length - alone) < 1e-12)
        assert settled.mean() > 0.98 and (settled & ~first & (wrenches["l"][0] != 0).any(axis=1)).sum() > 10
        vectors = {name: value[settled] for name, value in vectors.items()}
        length, wrenches = span_at(kind, vectors, NUMBERS)
    points = span_line(kind, vectors, NUMBERS)
    np.testing.assert_array_equal(points[:, [0, -1]], np.stack([vectors["s_i"], vectors["s_j"]], axis=1))
    longest = 0.0  # loss of the chords of an arc of radius r and angle a: r (a - 2 n sin(a / 2 n)), of a helix less
    for n, letter in enumerate(cylinders):
        touched = np.linalg.norm(wrenches[letter][0], axis=1) > 1e-6
        assert touched.sum() > COUNT / 5 and (~touched).any()
        arc = points[touched, 1 + n * (CHORDS + 1) : 1 + (n + 1) * (CHORDS + 1)]
        centre, axis = (vectors[f"{name}_{letter}"][touched] for name in "sa")
        np.testing.assert_allclose(
            np.linalg.norm(np.cross(arc - centre[:, None], axis[:, None]), axis=2), RADII[letter], rtol=1e-9
        )
        a = turned(arc, centre, axis)
        longest = longest + RADII[letter] * (a - 2 * CHORDS * np.sin(a / (2 * CHORDS))).max()
    drawn = np.linalg.norm(np.diff(points, axis=1), axis=2).sum(axis=1)
    assert (length - drawn).min() > -1e-12
    assert (length - drawn).max() <= longest + 1e-12
    np.testing.assert_allclose(drawn, length, rtol=1e-3)


def test_a_line_that_touches_no_cylinder_is_straight():
    vectors = places()
    _, wrenches = span_at("two_cylinders", vectors, NUMBERS)
    free = (wrenches["k"][0] == 0).all(axis=1) & (wrenches["l"][0] == 0).all(axis=1)
    points = span_line("two_cylinders", vectors, NUMBERS)[free]
    assert len(points) > 10
    ways = unit(np.diff(points, axis=1))
    np.testing.assert_allclose(ways, np.broadcast_to(ways[:, :1], ways.shape), atol=1e-9)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_arc_of_more_than_half_a_turn(side):
    """Between two points below a cylinder along y, over its top or, on the other side, past its bottom; in closed form."""
    radius, x, z = 0.5, 0.4, -1.0
    vectors = dict(s_i=(-x, 0.0, z), s_j=(x, 0.0, z), s_k=(0, 0, 0), a_k=(0, 1, 0), n_k=(0, 0, side))
    vectors = {name: np.array([v], dtype=float) for name, v in vectors.items()}
    (points,) = span_line("cylinder_side", vectors, dict(radius=radius, length=2.0))
    if side < 0:
        np.testing.assert_allclose(points[:, 2], z, atol=1e-12)
        return
    far = np.hypot(x, z)  # tangents from outside: their angle from the direction to the centre is asin(radius / far)
    arc = 2 * np.pi - 2 * np.arctan2(x, -z) - 2 * np.arccos(radius / far)
    assert arc > np.pi
    at = points[1:-1]
    angles = np.unwrap(np.arctan2(at[:, 2], at[:, 0]))
    np.testing.assert_allclose(np.diff(angles), -arc / CHORDS, rtol=1e-9)
    assert at[CHORDS // 2] == pytest.approx((0.0, 0.0, radius))
    assert np.linalg.norm(at[0] - points[0]) == pytest.approx(np.sqrt(far**2 - radius**2))
