"""The nearest direction of a cone, for every cone that is accepted and from every direction; and the cones that are refused."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from runtime import Cone, ModelError
from runtime.dynamics.cone_curve import nearest
from runtime.jit.compilation import compiled
from runtime.system import cone as search
from tests.support.refusals import assert_refused

ALLOWED = 1e-9  # [rad] by which the separation may exceed the least one
NARROWEST = 1e-3  # [rad]
DENSE, CANDIDATES, ZOOMS = 500, 6, 4  # of a piece: parameters looked at; of them, the lowest; then 20 times closer each
few = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@compiled
def _nearest(u, first, last, pieces, curve, t):
    for n in range(len(u)):
        nearest(u[n], first, last, pieces, curve, t[n])


def found(cone, u):
    """The search's answers to directions (n, 3)."""
    t = np.full(u.shape, np.nan)
    _nearest(np.ascontiguousarray(u), 0, len(cone.pieces.kind), cone.pieces, np.empty(12), t)
    return t


def separation(u, t):
    return np.arctan2(np.linalg.norm(np.cross(u, t), axis=-1), np.sum(u * t, axis=-1))


def spherical(longitude, latitude):
    return np.stack(
        [np.sin(latitude) * np.cos(longitude), np.sin(latitude) * np.sin(longitude), np.cos(latitude)], axis=-1
    )


# The curve by another route: numpy alone, from the rules of Rodrigues da Silva et al. (2024b)


class Brute:
    """Points of a cone by piece and parameter, dense and refined; nothing here is taken from the kernels."""

    def __init__(self, cone):
        psi, sigma = np.array(cone.longitudes), np.array(cone.latitudes)
        self.cone = cone
        if cone.interpolation == "elliptical":
            self.spans = np.stack([psi[:-1], psi[1:]], axis=1)
            a, b = sigma[[0, 2, 2, 0]], sigma[[1, 1, 3, 3]]
            self.plane = lambda p, s: np.stack([a[p] * np.cos(s), b[p] * np.sin(s)], axis=-1)
        elif cone.interpolation == "latitude_spline":
            self.spans = np.stack([psi[:-1], psi[1:]], axis=1)
            spline = CubicSpline(psi, sigma, bc_type="periodic")
            self.plane = lambda p, s: spline(s)[..., None] * np.stack([np.cos(s), np.sin(s)], axis=-1)
        else:
            points = sigma[:, None] * np.stack([np.cos(psi), np.sin(psi)], axis=1)
            points[-1] = points[0]
            l = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
            self.spans = np.stack([l[:-1], l[1:]], axis=1)
            spline = CubicSpline(l, points, bc_type="periodic")
            self.plane = lambda p, s: spline(s)
        self.s = [np.linspace(*span, DENSE + 1) for span in self.spans]
        self.points = [self.point(p, s) for p, s in enumerate(self.s)]

    def point(self, p, s):
        x, y = np.moveaxis(self.plane(p, np.asarray(s)), -1, 0)
        return spherical(np.arctan2(y, x), np.hypot(x, y))

    def tangent(self, p, s, h=1e-6):
        return (self.point(p, s + h) - self.point(p, s - h)) / (2 * h)

    def least(self, u):
        """The least separation from a direction: of the dense points, and of what the lowest of them lead to."""
        best = []
        for p, points in enumerate(self.points):
            chords = np.linalg.norm(points - u, axis=1)
            padded = np.r_[np.inf, chords, np.inf]
            lowest = np.flatnonzero((chords <= padded[:-2]) & (chords <= padded[2:]))
            best += [(chords[n], p, n) for n in lowest]
        least = min(best)[0]
        for _, p, n in sorted(best)[:CANDIDATES]:
            left, right = self.s[p][max(n - 1, 0)], self.s[p][min(n + 1, DENSE)]
            for _ in range(ZOOMS):
                s = np.linspace(left, right, 41)
                chords = np.linalg.norm(self.point(p, s) - u, axis=1)
                n = int(chords.argmin())
                left, right = s[max(n - 1, 0)], s[min(n + 1, 40)]
            least = min(least, chords[n])
        return 2 * np.arcsin(least / 2)


def check(cone, directions):
    """The search finds a point of the curve, of unit length, at the least separation."""
    brute = Brute(cone)
    u = directions(brute)
    t = found(cone, u)
    assert np.isfinite(t).all()
    assert np.abs(np.linalg.norm(t, axis=1) - 1.0).max() < 1e-14
    for a, b, angle in zip(u, t, separation(u, t), strict=True):
        assert angle <= brute.least(a) + ALLOWED, (cone, a.tolist(), angle - brute.least(a))
        assert brute.least(b) < 1e-7, (cone, a.tolist(), "off the curve")


# Cones and directions by chance

latitudes = st.one_of(st.floats(NARROWEST, np.pi - NARROWEST), st.sampled_from([NARROWEST, 0.01, 0.02, 1.0, 3.1]))
elliptical = st.lists(latitudes, min_size=4, max_size=4).map(lambda s: Cone(search.QUADRANTS, [*s, s[0]]))


@st.composite
def splines(draw):
    gaps = draw(st.lists(st.floats(0.2, 1.0), min_size=2, max_size=8))
    psi = np.concatenate([[0.0], np.cumsum(gaps) / sum(gaps) * 2 * np.pi])
    psi[-1] = 2 * np.pi
    low = draw(st.floats(NARROWEST, 3.0))
    wide = draw(st.floats(0.0, 1.0)) * (np.pi - NARROWEST - low)
    sigma = [low + wide * draw(st.floats(0.0, 1.0)) for _ in gaps]
    try:
        return Cone(psi, [*sigma, sigma[0]], draw(st.sampled_from(["spline", "latitude_spline"])))
    except ModelError as refused:
        assume("spline" not in str(refused))
        raise


def hard(brute, rng):
    """Directions that a search may stumble over, of a cone: (n, 3)."""
    u = [rng.normal(size=3) for _ in range(3)]
    u += [np.array([0.0, 0.0, z]) for z in (1.0, -1.0)] + [np.array([1e-12, 0.0, 1.0]), np.array([0.0, 1e-9, -1.0])]
    for p in rng.integers(len(brute.spans), size=1):
        for s in (
            rng.uniform(*brute.spans[p]),
            *brute.spans[p],
        ):  # a point of the curve by chance, and the tips between its pieces
            point = brute.point(p, s)
            inside = np.clip(s, brute.spans[p, 0] + 1e-5, brute.spans[p, 1] - 1e-5)
            tangent = brute.tangent(p, inside)
            normal = np.cross(point, tangent) / np.linalg.norm(tangent)
            u += [point, -point, *(point + distance * normal for distance in (1e-13, -1e-9, 1e-5, -1e-5, 0.01, -0.01))]
            # The evolute, where two extrema of the separation fall together, and its neighbourhood.
            h = 1e-4
            bend = (brute.tangent(p, inside + h) - brute.tangent(p, inside - h)) / (2 * h)
            curvature = (bend @ normal) / (tangent @ tangent)
            radius = np.arctan2(1.0, curvature)
            u += [
                np.cos(r) * brute.point(p, inside) + np.sin(r) * normal for r in (radius, radius + 1e-7, radius - 1e-3)
            ]
    u = np.array(u)
    return u / np.linalg.norm(u, axis=1, keepdims=True)


@pytest.mark.slow
@few
@given(cone=elliptical, seed=st.integers(0, 2**32 - 1))
def test_nearest_direction_of_any_elliptical_cone(cone, seed):
    check(cone, lambda brute: hard(brute, np.random.default_rng(seed)))


@pytest.mark.slow
@few
@given(cone=splines(), seed=st.integers(0, 2**32 - 1))
def test_nearest_direction_of_any_spline_cone(cone, seed):
    check(cone, lambda brute: hard(brute, np.random.default_rng(seed)))


def test_two_parts_of_a_piece_that_are_almost_as_near():
    """The nearest sample is on the one, the nearest direction on the other."""
    cone = Cone.from_degrees((0, 132.394, 291.989, 360), (91.636, 89.776, 21.481, 91.636), "latitude_spline")
    longitude, latitude = (
        np.deg2rad(258.044 + np.linspace(-0.1, 0.1, 9)),
        np.deg2rad(34.867 + np.linspace(-0.1, 0.1, 9)),
    )
    u = spherical(*(angle.ravel() for angle in np.meshgrid(longitude, latitude)))
    check(cone, lambda brute: u)


@pytest.mark.slow
@few
@given(cone=elliptical)
def test_reach_of_a_point_ends_where_another_one_is_nearer(cone):
    """The point opposite, at the end of a piece too, is none inside a part of the curve that is searched."""
    brute, latitude = Brute(cone), cone.latitudes
    for k, side in enumerate(((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))):
        reach, point = cone.vertex(np.array(side))
        most = min(np.pi - latitude[k], np.pi - (latitude[k] + latitude[(k + 2) % 4]) / 2)
        assert -1e-12 <= reach <= most + 1e-6
        u = np.array([*np.sin(latitude[k] + reach) * np.array(side), np.cos(latitude[k] + reach)])
        assert separation(u, point) <= brute.least(u) + 1e-6


@few
@given(cone=st.one_of(elliptical, splines()), seed=st.integers(0, 2**32 - 1))
def test_maximum_latitude_is_that_of_the_curve(cone, seed):
    """Where the curve has a longitude, its latitude is the maximum; so inside and outside are those of the curve."""
    rng, brute = np.random.default_rng(seed), Brute(cone)
    for p, span in enumerate(brute.spans):
        s = np.r_[span, rng.uniform(*span, 6)]
        x, y = brute.plane(p, s).T
        longitude, latitude = np.arctan2(y, x), np.hypot(x, y)
        # The longitude is rounded: near a sharp tip that moves the latitude.
        slack = 1e-12 + 1e-15 * np.abs(np.gradient(latitude[np.argsort(s)]) / np.gradient(np.sort(s))).max()
        found, steep = cone.maximum_latitude(longitude), [cone.maximum_latitude(longitude + h) for h in (-1e-15, 1e-15)]
        assert (np.abs(found - latitude) < slack + 4 * np.abs(steep[1] - steep[0])).all()


def test_maximum_latitude_at_its_longitudes():
    psi, sigma = [0, 40, 130, 180, 240, 300, 360], [30, 70, 100, 80, 50, 45, 30]
    for interpolation in ("spline", "latitude_spline"):
        cone = Cone.from_degrees(psi, sigma, interpolation)
        assert np.abs(np.rad2deg(cone.maximum_latitude(np.deg2rad(psi))) - sigma).max() < 1e-12
        assert np.ptp(cone.maximum_latitude([[0.1, 0.1 + 2 * np.pi, 0.1 - 2 * np.pi]])) < 1e-14
    cone = Cone.from_degrees([0, 90, 180, 270, 360], [60, 30, 45, 20, 60])
    assert np.abs(np.rad2deg(cone.maximum_latitude(np.deg2rad([0, 90, 180, 270]))) - [60, 30, 45, 20]).max() < 1e-12


def test_regular_cone_from_its_axis_and_from_every_direction():
    """Every point of a circle is as near to its centre as any other: some point of the circle comes out."""
    for latitude in (1e-3, 0.5, np.pi / 2, 3.0, np.pi - 1e-3):
        cone = Cone(search.QUADRANTS, [latitude] * 5)
        longitude, outside = np.linspace(0, 2 * np.pi, 25), np.array([1e-9, 0.01, np.pi - latitude])
        u = spherical(*np.broadcast_arrays(longitude[:, None], latitude + outside)).reshape(-1, 3)
        for directions in (u, np.array([[0, 0, 1.0], [0, 0, -1.0]])):
            t = found(cone, directions)
            assert np.abs(t[:, 2] - np.cos(latitude)).max() < 1e-15
            wanted = np.abs(np.arctan2(np.hypot(*directions[:, :2].T), directions[:, 2]) - latitude)
            assert np.abs(separation(directions, t) - wanted).max() < 1e-9


def test_pickled_cone_is_the_same():
    cone = Cone.from_degrees([0, 90, 135, 180, 270, 315, 360], [30, 70, 100, 80, 50, 45, 30])
    cone.maximum_latitude(0.0)
    again = pickle.loads(pickle.dumps(cone))
    assert again == cone and hash(again) == hash(cone)
    assert all(np.array_equal(a, b) for a, b in zip(again.pieces, cone.pieces, strict=True))


# Cones that are refused

QUARTERS = (0, 90, 180, 270, 360)
REFUSED = {
    "repeated longitude": ((0, 90, 90, 180, 360), (20,) * 5, "longitude 90 degrees follows 90 degrees; they must increase"),
    "falling longitude": ((0, 180, 90, 270, 360), (20,) * 5, "longitude 90 degrees follows 180 degrees; they must increase"),
    "late first": ((10, 90, 180, 270, 360), (20,) * 5, "the first must be 0 and the last 360 degrees"),
    "early last": ((0, 90, 180, 270, 350), (20,) * 5, "the first must be 0 and the last 360 degrees"),
    "one longitude": ((0,), (20,), "the first must be 0 and the last 360 degrees"),
    "no longitude": ((), (), "the first must be 0 and the last 360 degrees"),
    "does not close": (QUARTERS, (20, 30, 40, 50, 21), "latitude 20 degrees at longitude 0 but 21 degrees at 360 degrees"),
    "latitude zero": (QUARTERS, (20, 0, 40, 50, 20), "maximum latitude 0 degrees at longitude 90 degrees; it must lie between 0"),
    "latitude 180": (QUARTERS, (20, 30, 180, 50, 20), "maximum latitude 180 degrees at longitude 180 degrees; it must lie"),
    "negative latitude": (QUARTERS, (20, 30, 40, -5, 20), "maximum latitude -5 degrees at longitude 270 degrees"),
    "NaN": (QUARTERS, (20, 30, np.nan, 50, 20), "latitudes[2] = nan is not finite"),
    "infinite longitude": ((0, 90, np.inf, 270, 360), (20,) * 5, "longitudes[2] = inf is not finite"),
    "lengths": (QUARTERS, (20,) * 4, "5 longitudes but 4 latitudes; give one latitude for each"),
    "number": (90, 20, "longitudes have the shape (); give a list of angles"),
    "table": (QUARTERS, [(20,) * 5] * 2, "latitudes have the shape (2, 5); give a list of angles"),
    "words": (QUARTERS, ("a", "b", "c", "d", "a"), "holds text; give a list of angles"),
    "ragged": (QUARTERS, [[1, 2], 3], "cannot be read as numbers: its rows differ in shape"),
    "nothing": (None, (20,) * 5, "longitudes"),
    "a spline that leads past zeta": ((0, 200, 300, 360), (20,) * 4, "0 degrees and 200 degrees are 180 degrees or more apart"),
    "a spline that turns back": ((0, 5, 10, 120, 240, 360), (20, 170, 20, 20, 20, 20), "turns back in longitude; give"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_cones(case):
    longitudes, latitudes_deg, message = REFUSED[case]
    assert assert_refused(message, Cone.from_degrees, longitudes, latitudes_deg).startswith("cone: ")


def test_bad_interpolation():
    steep = (0, 10, 20, 120, 240, 360), (2, 178, 178, 2, 2, 2)
    for arguments, message in (
        ((QUARTERS, (20,) * 5, "linear"), "interpolation = 'linear'; use 'elliptical', 'spline', 'latitude_spline'"),
        (
            ((0, 120, 240, 360), (20,) * 4, "elliptical"),
            "quarters of ellipses need 0, 90, 180, 270, 360 degrees; use a spline",
        ),
        (
            (*steep, "latitude_spline"),
            "must stay between 0 and 180; give longitudes between, where latitudes change fast",
        ),
        (
            ((0, 60, 120, 180, 240, 300, 360), (150, 179, 179, 150, 150, 150, 150)),
            "must stay below 180; give longitudes between",
        ),
    ):
        assert_refused(message, Cone.from_degrees, *arguments)
    assert Cone.from_degrees(QUARTERS, (20, 30, 40, 50, 20), "spline").interpolation == "spline"
    assert Cone.from_degrees(QUARTERS, (20, 30, 40, 50, 20)).interpolation == "elliptical"


def test_folds_of_symmetric_splines():
    """The highest coefficient of a symmetric piece is rounding."""
    for a, b in ((5, 29), (5, 65), (17, 5), (17, 53)):
        assert Cone.from_degrees(range(0, 361, 60), (a, b, b, a, a, a, a)).interpolation == "spline"
    assert_refused(
        "reaches 187.518 degrees at longitude 67.5 degrees",
        Cone.from_degrees,
        range(0, 361, 45),
        (29, 161, 161, 29, 29, 29, 29, 29, 29),
        "latitude_spline",
    )


WIDE = [
    ((0, 150, 196, 360), (20, 110, 60, 20)),
    ((0, 140, 309, 360), (30, 100, 150, 30)),
    ((0, 160, 299, 329, 354, 360), (150, 140, 60, 110, 110, 150)),
    ((0, 170, 210, 232, 334, 360), (80, 150, 60, 150, 50, 80)),
    ((0, 1, 179, 181, 359, 360), (90, 91, 90, 91, 90, 90)),
]


@pytest.mark.parametrize(("longitudes", "latitudes"), WIDE)
def test_the_maximum_latitude_lies_on_the_curve_of_wide_and_sharp_splines(longitudes, latitudes):
    cone = Cone.from_degrees(longitudes, latitudes)
    brute = Brute(cone)
    points = np.concatenate([points[::40] for points in brute.points])
    psi = np.arctan2(points[:, 1], points[:, 0])
    sigma = np.arctan2(np.hypot(points[:, 0], points[:, 1]), points[:, 2])
    assert np.abs(cone.maximum_latitude(psi) - sigma).max() < 1e-11
    assert max(np.linalg.norm(cone.nearest(point) - point) for point in points) < 1e-9


@pytest.mark.parametrize("direction", [[1, 0], [0, 0, 0], [np.nan, 0, 1], [[1, 0, 0]], [1, 0, 0, 0], "up", None])
def test_nearest_refuses_other_shapes_than_directions(direction):
    cone = Cone.from_degrees((0, 120, 240, 360), (30, 30, 30, 30))
    assert_refused(("cone: direction ", " give "), cone.nearest, direction)


@pytest.mark.parametrize("longitude", [np.nan, np.inf, None, "north", [0.0, np.nan]])
def test_maximum_latitude_refuses_angles_that_are_not_finite(longitude):
    with pytest.raises(ModelError, match="cone: longitude = .* (must be|give) finite angles"):
        Cone.from_degrees((0, 120, 240, 360), (30, 30, 30, 30)).maximum_latitude(longitude)
