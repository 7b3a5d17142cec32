"""The kernels of limits, cones, the separation and the law; and each check against a kernel broken on purpose.

The force of a limit must be minus the slope of its potential, less what its damper takes.  Both follow here from the values
of ``direction`` and of the angle alone, by a complex step along each of the twelve velocities, which owes nothing to the
rules by which codegen differentiates.
"""

import cmath
import inspect
import re
from functools import cache
from types import FunctionType, SimpleNamespace

import mpmath
import numpy as np
import pytest
from test_kernels import (
    G,
    Motion,
    Setting,
    derivatives,
    distance,
    functions_of,
    lint,
    lint_tangent,
    machine_code,
    mutants,
    unit,
)

from codegen import Vector, limits
from generated import contact_sphere_plane, digests, dispatch, law_cubic, position, separation, top_view

TOLERANCE = 1e-12  # relative to the largest of 1 and the quantity
SEEDS = range(4)
H = 1e-30  # of the complex step

# Operations of each kernel.  A rise must be meant: then it is written here.
OPERATIONS = {
    "cone": {"direction": 15, "measure": 47, "wrench": 88, "reference": 0},
    "hinge": {"direction": 20, "measure": 84, "wrench": 108, "reference": 0},
    "link_hinge": {"direction": 29, "measure": 124, "wrench": 172, "reference": 0},
    "cross_hinge": {"direction": 27, "measure": 157, "wrench": 181, "reference": 20},
    "elliptical": {"curve": 104, "limit": 23, "bearing": 39, "parameter": 5},
    "spline": {"curve": 141, "limit": 48, "bearing": 64, "parameter": 4},
    "latitude_spline": {"curve": 61, "limit": 11, "bearing": 10, "parameter": 0},
    "cubic": {"law": 11},
    "separation": {"separation": 51},
    "position": {"position": 20},
    "top_view": {"top_view": 112},
    "kelvin_voigt": {"law": 11, "law_parameters": 4},
    "hertz": {"law": 13, "law_parameters": 2},
    "hunt_crossley": {"law": 19, "law_parameters": 13},
    "lankarani_nikravesh": {"law": 26, "law_parameters": 28},
    "flores": {"law": 27, "law_parameters": 32},
    "coulomb": {"below": 68, "above": 50},
    "smooth": {"below": 52, "above": 52},
    "sphere_plane": {"measure": 158, "point": 9, "reference": 0, "wrench": 254},
}
LIMITS = {module.NAME: module for module in dispatch.LIMITS}
CONES = {module.NAME: module for module in dispatch.CONES}
MEASURES = {"separation": separation, "position": position, "top_view": top_view}
NORMAL_LAWS = {module.NAME: module for module in dispatch.NORMAL_LAWS}
FRICTIONS = {module.NAME: module for module in dispatch.FRICTIONS}
MODULES = LIMITS | CONES | MEASURES | NORMAL_LAWS | FRICTIONS
MODULES |= {"cubic": law_cubic, "sphere_plane": contact_sphere_plane}

all_limits = pytest.mark.parametrize("name", list(LIMITS))
all_cones = pytest.mark.parametrize("name", list(CONES))
seeds = pytest.mark.parametrize("seed", SEEDS)


def atan2(y, x):
    """The analytic continuation of atan2 from real arguments; a tiny imaginary part keeps its digits."""
    if abs(x.real) >= abs(y.real):
        return cmath.atan(y / x) + (0.0 if x.real > 0.0 else np.copysign(np.pi, y.real))
    return np.copysign(np.pi / 2, y.real) - cmath.atan(x / y)


ANALYTIC = SimpleNamespace(sqrt=cmath.sqrt, sin=cmath.sin, cos=cmath.cos, atan2=atan2)


def call(kernel, size, *inputs):
    """Outputs of a kernel's Python version, for real or complex inputs; they are NaN beforehand."""
    f = kernel.py_func
    out = np.full(size, np.nan, np.result_type(*map(np.asarray, inputs), float))
    if np.iscomplexobj(out):
        f = FunctionType(f.__code__, {**f.__globals__, "math": ANALYTIC})
    f(*inputs, out)
    return out


# Limits


class Case:
    """One limit of two bodies on a random motion."""

    def __init__(self, name, seed):
        rng = np.random.default_rng([seed, *name.encode()])
        self.module, self.definition = LIMITS[name], getattr(limits, name)
        self.setting = Setting(SimpleNamespace(**vars(self.module), SIGNALS=()), rng)
        self.motion = Motion(rng)
        self.states = self.motion.states()
        self.x = self.setting.x(*self.states)
        self.slope = rng.normal(size=3)
        self.v = self.motion.velocity()
        self.damping = self.x[
            list(p for (p,) in self.module.PARAMETERS).index("damping") + 3 * len(self.module.VECTORS)
        ]

    def run(self, kernel, module=None):
        kernel = getattr(module or self.module, kernel)
        size = {"direction": 3, "measure": 3, "wrench": 12, "reference": self.module.HELD}
        inputs = [*self.states, self.x]
        inputs += [self.slope] if kernel.py_func.__code__.co_argcount == 5 else []
        return call(kernel, size[kernel.py_func.__name__], *inputs)

    def at(self, states):
        """Direction and angle in a configuration."""
        x = self.setting.x(*states)
        u = call(self.module.direction, 3, *states, x)
        return np.r_[u, call(self.module.measure, 3, *states, x, 0 * u)[0]]

    def slopes(self):
        """Derivatives of direction and angle, (4, 12), by the velocities v_i omega_i v_j omega_j."""
        columns = []
        for step in 1j * H * np.eye(12):
            states = [state.astype(complex) for state in self.states]
            for state, (dr, turn) in zip(states, step.reshape(2, 2, 3), strict=True):
                state[:3] += dr
                state[3:7] += G(state[3:7].real).T @ turn / 2
            columns.append(self.at(states).imag / H)
        return np.array(columns).T

    def defined(self):
        """Direction, angle without its constant, and parameters, by the definition itself."""
        vectors = {v[0]: Vector(*self.x[3 * n : 3 * n + 3]) for n, v in enumerate(self.module.VECTORS)}
        numbers = dict(zip((p for (p,) in self.module.PARAMETERS), self.x[3 * len(vectors) :], strict=False))
        bodies = zip("ij", self.states, strict=True)
        moving = {f"{q}_{b}": Vector(*s[n : n + 3]) for b, s in bodies for q, n in (("r", 0), ("omega", 10))}
        operators = {"rate": lambda value: 0.0 * value, "held": lambda value: value}
        known = moving | vectors | numbers | operators
        parts = self.definition(**{k: known[k] for k in inspect.signature(self.definition).parameters})
        return parts, numbers


@cache
def case(name, seed):
    return Case(name, seed)


def direction_is_the_definition(c, module):
    parts, _ = c.defined()
    u, angle = parts["direction"], float(parts["angle"]) - sum(c.setting.held)
    return distance(c.run("direction", module), np.array(list(u(angle) if callable(u) else u), float))


def measures(c, module):
    """The angle of the definition, its rate along the motion, and the moment of the potential about the hinge."""
    parts, numbers = c.defined()
    angle = float(parts["angle"]) - sum(c.setting.held)
    if c.module.NAME == "cone":
        rate = np.linalg.norm(c.states[1][10:] - c.states[0][10:])
        moment = np.linalg.norm(np.cross(c.slope, c.run("direction")))
    else:
        rate = c.slopes()[3] @ c.v
        along = [np.cos(angle) * numbers["to_xi"], np.cos(angle) * numbers["to_eta"], -np.sin(angle)]
        moment = c.slope @ along
    return distance(c.run("measure", module), [angle, rate, moment])


def wrench_is_minus_the_slope_of_the_potential(c, module):
    slopes = c.slopes()
    if c.module.NAME == "cone":
        relative = c.states[1][10:] - c.states[0][10:]
        drag = c.damping * np.r_[np.zeros(3), -relative, np.zeros(3), relative]
    else:
        drag = c.damping * (slopes[3] @ c.v) * slopes[3]
    return distance(c.run("wrench", module), -c.slope @ slopes[:3] - drag)


def reference_is_the_definition(c, module):
    held = [float(c.defined()[0]["angle"])] if c.module.HELD else []
    return distance(c.run("reference", module), held)


LIMIT_CHECKS = {
    "direction": direction_is_the_definition,
    "measure": measures,
    "wrench": wrench_is_minus_the_slope_of_the_potential,
    "reference": reference_is_the_definition,
}


@all_limits
@seeds
@pytest.mark.parametrize("kernel", LIMIT_CHECKS)
def test_limit(name, seed, kernel):
    c = case(name, seed)
    assert LIMIT_CHECKS[kernel](c, c.module) < TOLERANCE


@all_limits
@seeds
def test_power_along_a_screw_motion(name, seed):
    """Q . (v, omega) = -slope . du/dt - damping rate^2, with time derivatives by Cauchy's integral along the motion."""
    c = case(name, seed)
    u_dot = derivatives(lambda t: c.at(c.motion.states(t)), 1)[1]
    _, rate, _ = c.run("measure")
    assert distance(c.run("wrench") @ c.v, -c.slope @ u_dot[:3] - c.damping * rate**2) < 1e-11
    if name != "cone":
        assert distance(rate, u_dot[3]) < 1e-11


@all_limits
@seeds
def test_action_and_reaction(name, seed):
    """Force, and moment about the origin, of both bodies together vanish: a common motion takes no power."""
    c = case(name, seed)
    Q = c.run("wrench").reshape(2, 2, 3)
    moments = [np.cross(state[:3], force) + moment for state, (force, moment) in zip(c.states, Q, strict=True)]
    assert distance(Q[:, 0].sum(axis=0), np.zeros(3)) < 1e-13
    assert distance(sum(moments), np.zeros(3)) < 1e-13
    assert np.abs(Q).max() > 1e-3


@all_limits
def test_damper_takes_power_and_the_potential_does_not_know_the_velocity(name):
    c = Case(name, 0)
    moving = c.run("wrench")
    c.states = [np.r_[state[:7], np.zeros(6)] for state in c.states]
    resting = c.run("wrench")
    assert (moving - resting) @ c.v < -1e-3
    c.slope = np.zeros(3)
    assert not c.run("wrench").any()


def test_cross_hinge_angle_is_zero_in_the_reference_configuration():
    c = Case("cross_hinge", 0)
    c.setting.held = c.run("reference")
    c.x = c.setting.x(*c.states)
    assert abs(c.run("measure")[0]) < 1e-15


@all_limits
def test_compiled_limits_agree_and_write_every_entry(name):
    c, kind = case(name, 0), list(LIMITS).index(name)
    for kernel in ("direction", "measure", "wrench", "reference"):
        want = c.run(kernel)
        inputs = [*c.states, c.x] + ([c.slope] if kernel in ("measure", "wrench") else [])
        for compiled in (getattr(c.module, kernel), getattr(dispatch, kernel, None)):
            if compiled is None:  # the runtime calls ``reference`` in Python
                continue
            out = np.full(len(want) + 1, np.nan)
            compiled(*([kind] if compiled is getattr(dispatch, kernel, None) else []), *inputs, out)
            assert distance(out[:-1], want) < 1e-13
            assert np.isnan(out[-1])


# Cones


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
@pytest.mark.parametrize("kernel", CONE_CHECKS)
def test_cone(name, seed, kernel):
    assert CONE_CHECKS[kernel](Curve(name, seed), CONES[name]) < TOLERANCE


@pytest.mark.parametrize("longitude_deg", [1.0, 30.0, 89.0, 91.0, 179.0, 200.0, 269.0, 300.0, 359.0])
def test_elliptical_cone_as_printed(longitude_deg):
    """Seed 003, Eqs. (13) and (25), by the longitude."""
    a, b, psi = 0.35, 0.61, np.deg2rad(longitude_deg)
    (s,) = call(CONES["elliptical"].parameter, 1, psi, np.r_[a, b])
    latitude, slope = call(CONES["elliptical"].limit, 2, s, np.r_[a, b])
    tan2 = np.tan(psi) ** 2
    assert latitude == pytest.approx(np.sqrt(b**2 / (tan2 + b**2 / a**2) * (1 - b**2 / a**2) + b**2), rel=1e-13)
    power = (a**2 * b**2 / np.cos(psi) ** 2 / (a**2 * tan2 + b**2)) ** 1.5
    assert slope == pytest.approx((b**2 - a**2) * np.sin(psi) * np.cos(psi) * power / (a * b) ** 2, rel=1e-12)


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


@pytest.mark.parametrize("obtuse", [False, True])
@pytest.mark.parametrize("exponent", [-9.0, -8.0, -5.0, -3.0, -1.0, -0.1, 0.15])
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


@pytest.mark.parametrize("latitude", [1e-9, 1e-4, 0.3, np.pi / 2, 3.0, np.pi - 1e-9])
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


def test_top_view():
    assert top_view_is_the_law_of_cosines(random_pairs(100), top_view) < TOLERANCE


@pytest.mark.parametrize("apart", [1e-3, 1e-6, 1e-9])
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
    return distance(call(module.law, 3, x), derivatives(lambda t: (x + t) ** 3 - (x + t) ** 4 / 2, 2))


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.2, 0.5, 0.9, 1.0])
def test_law(x):
    assert law_is_the_work_and_its_slopes(x, law_cubic) < 1e-13
    _, moment, bend = call(law_cubic.law, 3, x)
    assert moment == pytest.approx(3 * x**2 - 2 * x**3, abs=1e-16)
    assert bend == pytest.approx(6 * x * (1 - x), abs=1e-15)  # 0 at both ends: the moment has no kink there


# The text of kernels


def sizes(name, kernel):
    """How many numbers a kernel writes."""
    module = MODULES[name]
    known = {"direction": 3, "measure": 3, "wrench": 12, "reference": getattr(module, "HELD", 0), "curve": 9,
             "limit": 2, "bearing": 2, "parameter": 1, "separation": 4, "position": 8, "top_view": 8, "law": 3, "below": 15,
             "above": 15, "point": 3}  # fmt: skip
    if name in NORMAL_LAWS:
        known |= {"law": 6, "law_parameters": len(module.PARAMETERS)}
    return (known | {"measure": 5} if name == "sphere_plane" else known)[kernel]


@pytest.mark.parametrize("name", list(MODULES))
def test_kernels_are_straight_line_code(name):
    functions = functions_of(inspect.getsource(MODULES[name]))
    differentiated = {"direction", "wrench"} if name in LIMITS else {name} & set(MEASURES)
    for kernel in differentiated:
        inputs = [a.arg for a in functions[kernel].args.args[:-1]]
        assert lint_tangent(functions.pop(f"{kernel}_tangent"), sizes(name, kernel), inputs) == []
    if name == "sphere_plane":  # tests/test_tangents.py looks at them
        for tangent in ("measure_tangent", "measure_variation", "wrench_tangent"):
            functions.pop(tangent)
    assert list(functions) == list(OPERATIONS[name])
    for kernel, function in functions.items():
        inputs = [a.arg for a in function.args.args[:-1]]
        assert lint(function, [(sizes(name, kernel),)], tuple(inputs)) == []


@pytest.mark.parametrize("name", list(MODULES))
def test_operation_count_has_not_risen(name):
    for kernel, most in OPERATIONS[name].items():
        count = int(re.search(r"(\d+) operations", getattr(MODULES[name], kernel).py_func.__doc__)[1])
        assert count <= most, f"{name}.{kernel} rose from {most} to {count} operations"


def test_every_module_is_checked():
    assert set(OPERATIONS) == set(MODULES)
    prefixes = ("limit_", "cone_", "normal_", "friction_", "contact_", "law_")
    generated = {name for name in digests.MODULES if name.startswith(prefixes) or name in MEASURES}
    assert generated == {module.__name__.removeprefix("generated.") for module in MODULES.values()}


@all_limits
def test_limits_allocate_nothing(name):
    c = case(name, 0)
    c.module.wrench(*c.states, c.x, c.slope, np.zeros(12))
    text = machine_code(c.module.wrench)
    assert "define" in text and "NRT_" not in text


# Kernels broken on purpose


def missed(module, kernel, check):
    def found(other):
        try:
            return check(other) > 1e3 * TOLERANCE
        except (ValueError, ZeroDivisionError):  # such as the root of a negative number
            return True

    return [text for text, other in mutants(module, kernel) if not found(other)]


@all_limits
@pytest.mark.parametrize("kernel", LIMIT_CHECKS)
def test_a_broken_limit_is_found(name, kernel):
    c = case(name, 0)
    assert missed(c.module, kernel, lambda other: LIMIT_CHECKS[kernel](c, other)) == []


@all_cones
@pytest.mark.parametrize("kernel", CONE_CHECKS)
def test_a_broken_cone_is_found(name, kernel):
    c = Curve(name, 0)
    assert missed(CONES[name], kernel, lambda other: CONE_CHECKS[kernel](c, other)) == []


def test_a_broken_measure_or_law_is_found():
    places = [separated(-0.1, False, seed) for seed in range(3)]
    assert missed(separation, "separation", lambda other: separation_is_the_angle(places, other)) == []
    u = unit(np.r_[0.3, -0.5, 0.7])
    assert missed(position, "position", lambda other: position_is_latitude_and_longitude(u, other)) == []
    pairs = random_pairs(3)
    assert missed(top_view, "top_view", lambda other: top_view_is_the_law_of_cosines(pairs, other)) == []
    assert missed(law_cubic, "law", lambda other: law_is_the_work_and_its_slopes(0.3, other)) == []
