"""The kernels of cones, of the measures of a direction and of the law, and each check against a kernel broken on purpose."""

from functools import cache

import mpmath
import numpy as np
import pytest

from generated import law_cubic, position, separation, top_view
from tests.support.kernel_text import missed
from tests.support.kernels import atan2
from tests.support.limit_kernels import CONES, H, call
from tests.support.marks import over
from tests.support.motions import derivatives, distance, unit

TOLERANCE = 1e-12  # relative to the largest of 1 and the quantity
SEEDS = range(4)

all_cones = pytest.mark.parametrize("name", list(CONES))
seeds = over("seed", SEEDS)


class Curve:
    """A piece of a cone with random coefficients, and its top view x(s), y(s), typed here again."""

    def __init__(self, name, seed):
        rng = np.random.default_rng([seed, *name.encode()])
        self.module, self.name = CONES[name], name
        if name == "elliptical":
            self.c = rng.uniform(0.05, 3.0, 2)
            self.s = rng.uniform(0.0, np.pi / 2)
        elif name == "latitude_spline":
            self.c = np.r_[rng.uniform(0.0, 6.0), rng.uniform(0.5, 1.5), 0.4 * rng.normal(size=3)]
            self.s = self.c[0] + rng.uniform(0.0, 0.5)
        else:
            psi, length = rng.uniform(0.0, 6.0), rng.uniform(0.5, 1.0)
            place, along = rng.uniform(0.7, 1.4) * np.r_[np.cos(psi), np.sin(psi)], np.r_[-np.sin(psi), np.cos(psi)]
            bends = 0.2 * rng.normal(size=(2, 2))
            self.c = np.r_[psi, psi + 0.7, length, np.vstack([place, along, bends]).T.ravel()]
            self.s = rng.uniform(0.0, length)
        self.psi = rng.uniform(0.0, 2 * np.pi)

    def plane(self, s):
        c = self.c
        if self.name == "elliptical":
            return np.array([c[0] * np.cos(s), c[1] * np.sin(s)])
        if self.name == "latitude_spline":
            latitude = np.polyval(c[:0:-1], s - c[0])
            return latitude * np.array([np.cos(s), np.sin(s)])
        return np.array([np.polyval(c[6:2:-1], s), np.polyval(c[:6:-1], s)])

    def point(self, s):
        x, y = self.plane(s)
        latitude = np.sqrt(x * x + y * y)
        return np.array([x * np.sin(latitude) / latitude, y * np.sin(latitude) / latitude, np.cos(latitude)])

    def polar(self, s):
        """Longitude and latitude."""
        x, y = self.plane(s)
        return np.array([atan2(y, x), np.sqrt(x * x + y * y)])


def curve_is_the_point_and_its_derivatives(c, module):
    truth = derivatives(lambda t: c.point(c.s + t), 2, radius=0.02)
    return distance(call(module.curve, 9, c.s, c.c), np.concatenate(truth)) / 10  # which a circle of this size costs


def limit_is_the_latitude_and_its_slope(c, module):
    (_, latitude), (dpsi, dsigma) = derivatives(lambda t: c.polar(c.s + t), 1, radius=0.02)
    return distance(call(module.limit, 2, c.s, c.c), [latitude, dsigma / dpsi])


def bearing_is_the_way_to_a_longitude(c, module):
    truth = derivatives(lambda t: np.sin(c.polar(c.s + t)[0] - c.psi), 1, radius=0.02)
    return distance(call(module.bearing, 2, c.s, c.psi, c.c), truth)


def parameter_belongs_to_the_longitude(c, module):
    """Exact, but for the spline in the top view, where the chord gives a first guess."""
    s = call(module.parameter, 1, c.psi, c.c)
    if c.name != "elliptical":
        first = c.c[2] * (c.psi - c.c[0]) / (c.c[1] - c.c[0])
        return distance(s, [first if c.name == "spline" else c.psi])
    return abs(np.exp(1j * (c.polar(s[0])[0] - c.psi)) - 1.0)


CONE_CHECKS = {
    "curve": curve_is_the_point_and_its_derivatives,
    "limit": limit_is_the_latitude_and_its_slope,
    "bearing": bearing_is_the_way_to_a_longitude,
    "parameter": parameter_belongs_to_the_longitude,
}


@all_cones
@seeds
@over("kernel", CONE_CHECKS)
def test_every_kernel_of_a_cone_agrees_with_its_curve(name, seed, kernel):
    assert CONE_CHECKS[kernel](Curve(name, seed), CONES[name]) < TOLERANCE


@pytest.mark.parametrize("ratio", [1.0, 1e-3, 1e3])
def test_elliptical_curve_on_the_axes_and_at_narrow_ellipses(ratio):
    """No division by zero at 0, 90, 180, 270 degrees; a narrow ellipse is no less smooth in its parameter."""
    c = np.r_[1.0, ratio] if ratio <= 1.0 else np.r_[1.0 / ratio, 1.0]
    for s in np.arange(0.0, 2 * np.pi + 0.1, np.pi / 2):
        out = call(CONES["elliptical"].curve, 9, s, c)
        assert np.isfinite(out).all()
        assert np.linalg.norm(out[:3]) == pytest.approx(1.0, abs=1e-15)
        assert np.isfinite(call(CONES["elliptical"].limit, 2, s, c)).all()


# Separation


@cache
def separated(exponent, obtuse, seed):
    """Two unit directions at an angle of 10^exponent, or of pi minus it; the angle and its gradient in 40 digits."""
    rng = np.random.default_rng([seed, obtuse, int(1000 + 100 * exponent)])
    u, other = unit(rng.normal(size=3)), rng.normal(size=3)
    across = unit(np.cross(u, other))
    angle = 10.0**exponent
    t = (-1.0 if obtuse else 1.0) * (np.cos(angle) * u + np.sin(angle) * across)
    with mpmath.workdps(40):
        a, b = ([mpmath.mpf(float(x)) for x in v] for v in (u, t))
        cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        sine, cosine = mpmath.sqrt(sum(x * x for x in cross)), sum(x * y for x, y in zip(a, b, strict=True))
        square = sum(x * x for x in a)
        gradient = [(cosine / square * x - y) / sine for x, y in zip(a, b, strict=True)]
        return u, t, np.array([float(mpmath.atan2(sine, cosine)), *map(float, gradient)]), float(sine)


def separation_is_the_angle(places, module):
    """Error of the angle, and of the gradient against what rounding of u and t leaves of it."""
    worst = 0.0
    for u, t, truth, sine in places:
        out = call(module.separation, 4, u, t)
        if not np.isfinite(out).all():
            return np.inf
        worst = max(worst, abs(out[0] - truth[0]), np.abs(out[1:] - truth[1:]).max() * sine)
    return worst


@over("obtuse", [False, True])
@over("exponent", [-9.0, -8.0, -5.0, -3.0, -1.0, -0.1, 0.15])
def test_separation_at_every_angle(exponent, obtuse):
    places = [separated(exponent, obtuse, seed) for seed in range(20)]
    assert separation_is_the_angle(places, separation) < 2e-15
    for u, t, (angle, *_), _ in places:
        gradient = call(separation.separation, 4, u, t)[1:]
        assert np.linalg.norm(gradient) == pytest.approx(1.0, abs=1e-14)
        assert abs(gradient @ u) < 1e-14
        scaled = call(separation.separation, 4, 4.0 * u, t / 2)  # of any lengths
        assert np.abs(scaled * [1, 4, 4, 4] - np.r_[angle, gradient]).max() < 2e-15


# Position


def position_is_latitude_and_longitude(u, module):
    """The angles, and their slopes by a complex step in each component."""
    truth = [np.arctan2(np.hypot(u[0], u[1]), u[2]), np.arctan2(u[1], u[0])]
    slopes = [call(position.position, 8, u + 1j * H * e)[:2].imag / H for e in np.eye(3)]
    return distance(call(module.position, 8, u), np.r_[truth, np.array(slopes).T.ravel()])


@over("latitude", [1e-9, 1e-4, 0.3, np.pi / 2, 3.0, np.pi - 1e-9])
@seeds
def test_position_at_every_latitude(latitude, seed):
    longitude = np.random.default_rng(seed).uniform(-np.pi, np.pi)
    across = np.sin(latitude) if latitude < 3.14 else 1e-9
    u = np.r_[across * np.cos(longitude), across * np.sin(longitude), np.cos(latitude)]
    out = call(position.position, 8, u)
    assert out[:2] == pytest.approx([latitude, longitude], rel=1e-15, abs=1e-15)
    assert position_is_latitude_and_longitude(u, position) < TOLERANCE


# Top view


def top_view_is_the_law_of_cosines(places, module):
    """Distance in the plane of latitude and longitude, cosine of the angle between, and their slopes by a complex step."""
    worst = 0.0
    for u, t in places:
        (a, b), (psi, phi) = ([np.arccos(v[2]) for v in (u, t)], [np.arctan2(v[1], v[0]) for v in (u, t)])
        truth = [np.sqrt(a * a + b * b - 2.0 * a * b * np.cos(psi - phi)), u @ t]
        slopes = [call(top_view.top_view, 8, u + 1j * H * e, t)[:2].imag / H for e in np.eye(3)]
        worst = max(worst, distance(call(module.top_view, 8, u, t), np.r_[truth, np.array(slopes).T.ravel()]))
    return worst


def random_pairs(count):
    rng = np.random.default_rng(count)
    return [tuple(map(unit, rng.normal(size=(2, 3)))) for _ in range(count)]


def test_top_view_is_the_law_of_cosines():
    assert top_view_is_the_law_of_cosines(random_pairs(100), top_view) < TOLERANCE


@over("apart", [1e-3, 1e-6, 1e-9])
def test_top_view_keeps_its_digits_where_directions_are_near(apart):
    """On a circle of latitude the distance is a chord of it."""
    latitude, turn = 0.7, np.array([0.3, 0.3 + apart])
    u, t = np.stack([np.sin(latitude) * np.cos(turn), np.sin(latitude) * np.sin(turn), [np.cos(latitude)] * 2], axis=1)
    distance_there, shortening = call(top_view.top_view, 8, u, t)[:2]
    # What is left is the rounding of the components of u and t.
    assert distance_there == pytest.approx(2.0 * latitude * np.sin(apart / 2.0), abs=3e-16)
    assert shortening == pytest.approx(1.0 - np.sin(latitude) ** 2 * (1.0 - np.cos(apart)), abs=3e-16)


# Law


def law_is_the_work_and_its_slopes(x, module):
    return distance(call(module.law, 3, x, [1.0]), derivatives(lambda t: (x + t) ** 3 - (x + t) ** 4 / 2, 2))


@over("x", [0.0, 1e-9, 0.2, 0.5, 0.9, 1.0])
def test_law_is_the_work_and_its_derivatives(x):
    assert law_is_the_work_and_its_slopes(x, law_cubic) < 1e-13
    _, moment, bend = call(law_cubic.law, 3, x, [1.0])
    assert moment == pytest.approx(3 * x**2 - 2 * x**3, abs=1e-16)
    assert bend == pytest.approx(6 * x * (1 - x), abs=1e-15)  # 0 at both ends: the moment has no kink there


# Kernels broken on purpose


@all_cones
@pytest.mark.parametrize("kernel", CONE_CHECKS)
def test_a_broken_cone_is_found(name, kernel):
    c = Curve(name, 0)
    assert missed(CONES[name], kernel, lambda other: CONE_CHECKS[kernel](c, other), 1e3 * TOLERANCE) == []


def test_a_broken_measure_or_law_is_found():
    places = [separated(-0.1, False, seed) for seed in range(3)]
    assert missed(separation, "separation", lambda other: separation_is_the_angle(places, other), 1e3 * TOLERANCE) == []
    u = unit(np.r_[0.3, -0.5, 0.7])
    assert (
        missed(position, "position", lambda other: position_is_latitude_and_longitude(u, other), 1e3 * TOLERANCE) == []
    )
    pairs = random_pairs(3)
    assert (
        missed(top_view, "top_view", lambda other: top_view_is_the_law_of_cosines(pairs, other), 1e3 * TOLERANCE) == []
    )
    assert missed(law_cubic, "law", lambda other: law_is_the_work_and_its_slopes(0.3, other), 1e3 * TOLERANCE) == []
