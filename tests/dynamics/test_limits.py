"""The law of a limit of motion: its work, its potential, and its zero inside the cone."""

import numpy as np
import pytest

from runtime import Cone
from tests.support.limits import COMPLIANCE, IRREGULAR, MAX_MOMENT, REGULAR, at, irregular, restrained


def loop(cone, rng):
    """Gauss points on a loop around the cone at a changing separation: u, du, separation and its change, each by weight."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    spans = cone.pieces.span
    lengths = spans[:, 1] - spans[:, 0]
    before, total = np.concatenate([[0.0], np.cumsum(lengths)]), lengths.sum()
    waves, phases = rng.integers(1, 4, 2), rng.uniform(0, 2 * np.pi, 2)
    found = []
    for p, (first, last) in enumerate(spans):
        for x, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            s, angle = first + x * (last - first), 2 * np.pi / total * (before[p] + x * lengths[p])
            away = 0.1 + np.sum([0.06, 0.02] * np.sin(waves * angle + phases))
            change = np.sum([0.06, 0.02] * waves * np.cos(waves * angle + phases)) * 2 * np.pi / total
            t, dt, n, dn = at(cone, p, s)
            u = np.cos(away) * t + np.sin(away) * n
            du = change * (np.cos(away) * n - np.sin(away) * t) + np.cos(away) * dt + np.sin(away) * dn
            found.append((u, du * weight * (last - first), away))
    return map(np.array, zip(*found, strict=True))


def work_around(cone, law, seed):
    """Work around a closed loop relative to the work along it, where the nearest direction is the one it was made from."""
    u, du, away = loop(cone, np.random.default_rng(seed))
    excess, _, slope = restrained(cone, u, law)
    power = np.sum(slope * du, axis=1)
    if law == "conservative":
        assert np.abs(excess - away).max() < 1e-9, "the nearest direction is not unique here"
    assert np.abs(du.sum(axis=0)).max() < 1e-12, "the loop is not closed"
    return abs(power.sum()) / np.abs(power).sum()


def chance(seed):
    """An irregular cone that keeps the nearest direction unique up to a separation of 0.2."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        return Cone.from_degrees([0, 90, 180, 270, 360], [*(a := rng.uniform(20, 80, 4)), a[0]])
    sigma = rng.uniform(45, 65, 5)
    return Cone.from_degrees(
        [0, 70, 150, 210, 290, 360], [*sigma, sigma[0]], ["spline", "latitude_spline"][seed // 2 % 2]
    )


@pytest.mark.parametrize("seed", range(12))
def test_default_law_does_no_work_around_a_closed_loop(seed):
    assert work_around(chance(seed), "conservative", seed) < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_printed_law_does_work_around_irregular_cones(seed):
    assert max(work_around(chance(seed), "as_published", other) for other in range(seed, seed + 3)) > 1e-3


@pytest.mark.parametrize("law", ["conservative", "as_published"])
def test_both_laws_conserve_around_a_regular_cone(law):
    assert max(work_around(REGULAR, law, seed) for seed in range(4)) < 1e-12


@irregular
def test_slope_is_the_gradient_of_the_potential(shape):
    """By central differences along the sphere, at random directions outside, up to three compliances away."""
    rng, cone, h = np.random.default_rng(0), IRREGULAR[shape], 1e-5
    u = rng.normal(size=(400, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    excess, potential, slope = restrained(cone, u)
    u, slope, potential, excess = (a[(excess > 1e-3) & (excess < 0.6)] for a in (u, slope, potential, excess))
    assert len(u) > 30 and (potential > 0.0).all()
    across = np.cross(u, rng.normal(size=u.shape))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    high, low = (restrained(cone, np.cos(h) * u + sign * np.sin(h) * across)[1] for sign in (1, -1))
    assert np.abs((high - low) / (2 * h) - np.sum(slope * across, axis=1)).max() < 2e-5  # of up to 226 N m
    assert np.abs(np.sum(slope * u, axis=1)).max() < 1e-11
    x = excess / COMPLIANCE
    moment = MAX_MOMENT * np.where(x < 1, 3 * x**2 - 2 * x**3, 1.0)
    assert np.abs(np.linalg.norm(slope, axis=1) - moment).max() < 1e-10
    work = MAX_MOMENT * COMPLIANCE * np.where(x < 1, x**3 - x**4 / 2, x - 0.5)
    assert np.abs(potential - work).max() < 1e-11


@irregular
def test_inside_there_is_nothing(shape):
    rng, cone = np.random.default_rng(1), IRREGULAR[shape]
    longitude = rng.uniform(0, 2 * np.pi, 300)
    latitude = cone.maximum_latitude(longitude) * rng.uniform(0, 1.5, 300)
    u = np.stack([np.sin(latitude) * np.cos(longitude), np.sin(latitude) * np.sin(longitude), np.cos(latitude)], axis=1)
    outside = latitude > cone.maximum_latitude(longitude)
    excess, potential, slope = restrained(cone, u)
    assert 50 < outside.sum() < 200
    assert (excess[outside] > 0.0).all() and (potential[outside] > 0.0).all() and slope[outside].any(axis=1).all()
    assert not (excess[~outside].any() or potential[~outside].any() or slope[~outside].any())
    axis = restrained(cone, np.array([[0.0, 0.0, 1.0]]))
    assert all(np.isfinite(part).all() for part in axis)
    opposite = restrained(cone, np.array([[0.0, 0.0, -1.0], [1e-13, 0.0, -1.0], [0.0, -1e-200, -1.0]]))
    assert all(np.isfinite(part).all() for part in opposite) and (opposite[0] > 0.5).all()
