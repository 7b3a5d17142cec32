"""Lines of spans, as views draw them: on their cylinders, between their ends, and as long as the kernel says."""

from itertools import product

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


def places(count=COUNT, seed=1):
    """Ends on both sides of two cylinders, whose axes lie roughly across the way."""
    rng = np.random.default_rng(seed)
    found = {
        name: rng.normal(size=(count, 3)) * spread + (x, 0.0, 0.0)
        for name, spread, x in (("s_i", 0.05, 0.25), ("s_j", 0.05, -0.25), ("s_k", 0.01, 0.08), ("s_l", 0.01, -0.08))
    }
    found |= {f"a_{letter}": unit(rng.normal(size=(count, 3)) * 0.2 + (0.0, 1.0, 0.0)) for letter in "kl"}
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
    points = span_line(kind, vectors, NUMBERS)
    np.testing.assert_array_equal(points[:, [0, -1]], np.stack([vectors["s_i"], vectors["s_j"]], axis=1))
    longest = 0.0  # loss of the chords of an arc of radius r and angle a: r (a - 2 n sin(a / 2 n)), of a helix less
    for n, letter in enumerate(cylinders):
        touched = np.linalg.norm(wrenches[letter][0], axis=1) > 1e-6
        assert touched.sum() > COUNT / 5 and (~touched).any()
        arc = points[touched, 1 + n * (CHORDS + 1) : 1 + (n + 1) * (CHORDS + 1)]
        centre, axis = (vectors[f"{name}_{letter}"][touched] for name in "sa")
        np.testing.assert_allclose(
            np.linalg.norm(np.cross(arc - centre[:, None], axis[:, None]), axis=2), RADII[letter], rtol=1e-7
        )
        a = turned(arc, centre, axis)
        longest = longest + RADII[letter] * (a - 2 * CHORDS * np.sin(a / (2 * CHORDS))).max()
    drawn = np.linalg.norm(np.diff(points, axis=1), axis=2).sum(axis=1)
    assert (length - drawn).min() > -1e-12
    assert (length - drawn).max() <= longest + 1e-12
    np.testing.assert_allclose(drawn, length, rtol=1e-3)


@pytest.mark.parametrize("sided", [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
def test_a_line_over_two_cylinders_is_the_shortest_of_the_lines_on_either_side(sided):
    """Of 4000 arrangements; and the search for it is settled: the forces of a unit tension add up to zero only then."""
    vectors, lines = places(4000), []
    apart = clearance(vectors) > 1e-3
    vectors = {name: value[apart] for name, value in vectors.items()}
    own = NUMBERS | dict(first_sided=sided[0], second_sided=sided[1])
    length, wrenches = span_at("two_cylinders", vectors, own)
    assert apart.sum() > 2500
    assert np.abs(sum(force for force, _ in wrenches.values())).max() < 1e-8
    for signs in product((1.0, -1.0), repeat=2):
        if all(sign > 0.0 or not given for sign, given in zip(signs, sided, strict=True)):
            ways = {"n_k": signs[0], "n_l": signs[1]}
            on_side = vectors | {name: sign * vectors[name] for name, sign in ways.items()}
            lines.append(span_at("two_cylinders", on_side, NUMBERS | dict(first_sided=1.0, second_sided=1.0))[0])
    np.testing.assert_allclose(length, np.min(lines, axis=0), rtol=1e-12)
    assert (np.argmin(lines, axis=0) > 0).mean() > 0.1


def clearance(vectors):
    """The least distance of ends and surfaces, and of both infinite cylinders."""
    gaps = []
    for letter, radius in RADII.items():
        for end in ("s_i", "s_j"):
            across = np.cross(vectors[f"a_{letter}"], vectors[end] - vectors[f"s_{letter}"])
            gaps.append(np.linalg.norm(across, axis=1) - radius)
    normal = unit(np.cross(vectors["a_k"], vectors["a_l"]))
    gaps.append(np.abs((normal * (vectors["s_l"] - vectors["s_k"])).sum(axis=1)) - sum(RADII.values()))
    return np.min(gaps, axis=0)


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
