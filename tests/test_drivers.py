"""What only drivers promise: an angle all around, an orientation of any kind, which rows are coordinates; on kernels alone."""

import cmath
import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation
from test_kernels import Motion, Setting, call, derivatives, distance, module_of, rotation_matrix, turned, unit

from codegen import Vector, compile_joint
from codegen.derive import derive
from generated import dispatch

EXACT = 1e-13
ANGLES = [-180, -179, -135, -90, -30, 0, 1, 45, 90, 120, 180]
SINGULAR = (-180, 0, 180)
SEEDS = range(3)

angles = pytest.mark.parametrize("degrees", ANGLES)
seeds = pytest.mark.parametrize("seed", SEEDS)


class Driver:
    """A kernel module with a setting and two bodies, whose outputs are attributes."""

    def __init__(self, name, seed):
        self.rng = np.random.default_rng([seed, *name.encode()])
        self.module = module_of(name)
        self.setting = Setting(self.module, self.rng)
        self.motion = Motion(self.rng)
        self.body_i, self.body_j = self.motion.states()

    def set(self, *signal):
        """Signals, each a value with any of its rates; what is not given is 0."""
        for k, values in enumerate(signal):
            values = np.atleast_1d(values)
            self.setting.signals[k] = 0.0
            self.setting.signals[k, : len(values)] = values / [1.0, 1.0, 2.0][: len(values)]

    def of(self, kernel, x=None):
        rows = len(self.module.ROWS)
        size = {"phi": rows, "jacobian": (rows, 12), "nu": rows, "gamma": rows}[kernel]
        x = self.setting.x(self.body_i, self.body_j) if x is None else x
        return call(getattr(self.module, kernel), self.body_i, self.body_j, x, size)

    Phi = property(lambda self: self.of("phi"))
    D = property(lambda self: self.of("jacobian"))
    nu = property(lambda self: self.of("nu"))
    gamma = property(lambda self: self.of("gamma"))

    @property
    def v(self):
        return np.r_[self.body_i[7:], self.body_j[7:]]

    def slopes(self):
        """Rates of Phi by each signal's value."""
        x, h = self.setting.x(self.body_i, self.body_j), 1e-30
        places = range(self.module.SIZE - 3 * len(self.setting.signals), self.module.SIZE, 3)
        return np.array([self.of("phi", x + 1j * h * np.eye(len(x))[k]).imag / h for k in places]).T


def turn(axis, angle):
    return Rotation.from_rotvec(np.asarray(axis) * angle).as_matrix()


def wrapped(angle):
    """The same angle between -180 and 180 degrees."""
    return math.remainder(angle, 2 * np.pi)


def same_angle(a, b):
    """Both are the same, where -180 and 180 degrees are one."""
    return abs(wrapped(a - b)) < EXACT and abs(a) <= np.pi + EXACT


# Angles about an axis


def hinge(name, seed, angle, *, tilt=0.0):
    """A driver of an angle about the axis h_i, at that angle; ``tilt`` [rad] raises its directions from the normal plane."""
    it = Driver(name, seed)
    h, lift = unit(it.rng.normal(size=3)), np.cos(tilt)
    across = unit(np.cross(h, it.rng.normal(size=3)))
    to = turn(h, angle) @ across
    it.across, it.h, it.lift = across, h, lift
    A_i, A_j = (rotation_matrix(body[3:7]) for body in (it.body_i, it.body_j))
    local = it.setting.local
    local["a_i"] = A_i.T @ (lift * across + np.sin(tilt) * h)
    if "h_i" in local:
        local["h_i"] = A_i.T @ h
    if "b_j" in local:
        local["b_j"] = A_j.T @ (np.cos(2 * tilt) * to - np.sin(2 * tilt) * h)
    else:  # the link, which leans along the axis
        it.d = 1.7 * to + (0.6 if tilt else 0.0) * h
        it.end = it.body_i[:3] + A_i @ local["s_i"]
        it.body_j[:3] = it.end + it.d - A_j @ local["s_j"]
    return it


def about_the_axis(it):
    """Velocities of body j that turns about the axis (through the first end of the link) with 1 rad/s."""
    through = it.end if hasattr(it, "end") else it.body_j[:3]
    return np.r_[np.zeros(6), np.cross(it.h, it.body_j[:3] - through), it.h]


guided = pytest.mark.parametrize("name", ["guided_angle", "guided_link"])
tilts = pytest.mark.parametrize("tilt", [0.0, 0.5], ids=["perpendicular", "tilted"])


@guided
@tilts
@seeds
@angles
def test_phi_is_the_angle_less_the_signal(name, tilt, seed, degrees):
    angle = np.deg2rad(degrees)
    it = hinge(name, seed, angle, tilt=tilt)
    for theta in (0.0, 0.3, np.pi / 2, np.pi, -np.pi, -2.0, 3 * np.pi / 2, 7.0, -20.0, angle, angle + 1e-9):
        it.set(theta)
        (Phi,) = it.Phi
        assert same_angle(Phi, angle - theta)
        if abs(abs(wrapped(angle - theta)) - np.pi) > 1e-6:
            assert Phi == pytest.approx(wrapped(angle - theta), abs=EXACT)


@guided
@tilts
@seeds
@angles
def test_the_gradient_of_an_angle(name, tilt, seed, degrees):
    """It is 1 about the axis and for the signal, everywhere, and does not depend on the signal."""
    it = hinge(name, seed, np.deg2rad(degrees), tilt=tilt)
    it.set(0.0)
    D, gamma = it.D, it.gamma
    assert D @ about_the_axis(it) == pytest.approx([1.0], abs=EXACT)
    assert np.linalg.norm(D) > 0.5
    both = about_the_axis(it)
    both[:3], both[3:6] = np.cross(it.h, it.body_i[:3] - getattr(it, "end", it.body_i[:3])), it.h
    assert D @ both == pytest.approx([0.0], abs=EXACT)
    for theta in (1.0, np.pi / 2, np.pi, -3.0, 11.0):
        it.set((theta, 0.7, -1.3))
        assert distance(it.D, D) < EXACT
        assert it.slopes() == pytest.approx(-1.0, abs=EXACT)
        assert it.nu == pytest.approx([0.7], abs=EXACT)
        assert distance(it.gamma, gamma - 1.3) < 1e-12


@tilts
@seeds
@angles
def test_the_gradient_of_an_angle_is_the_axis(tilt, seed, degrees):
    """And b_j's lean from the normal plane, at right angles to the axis, where a hinge lets nothing move."""
    it = hinge("guided_angle", seed, np.deg2rad(degrees), tilt=tilt)
    D = it.D[0]
    assert distance(D[9:] @ it.h, 1.0) < EXACT and distance(D[3:6] @ it.h, -1.0) < EXACT
    assert distance(D[3:6], -D[9:]) < EXACT and not D[:3].any() and not D[6:9].any()
    assert np.linalg.norm(D[9:] - it.h) == pytest.approx(np.tan(2 * tilt), abs=EXACT)


@seeds
@angles
def test_the_gradient_of_a_link_is_that_of_its_end(seed, degrees):
    it = hinge("guided_link", seed, np.deg2rad(degrees), tilt=0.5)
    d_p = it.d - it.h * (it.h @ it.d)
    assert distance(it.D[0, 6:9], np.cross(it.h, d_p) / (d_p @ d_p)) < EXACT


@pytest.mark.parametrize(("cosine", "angle"), [("cosine_of_angle", "guided_angle"), ("cosine_of_link", "guided_link")])
@seeds
@angles
def test_a_cosine_loses_its_row_where_an_angle_does_not(cosine, angle, seed, degrees):
    """About the axis, the gradient of the cosine is - sin(angle), that of the angle 1; at 0 and 180 degrees no other is left."""
    radians = np.deg2rad(degrees)
    lost, kept = (hinge(name, seed, radians) for name in (cosine, angle))
    for it in (lost, kept):
        it.set(radians)
        assert np.abs(it.Phi).max() < 1e-12
    assert lost.D @ about_the_axis(lost) == pytest.approx([-np.sin(radians)], abs=EXACT)
    assert kept.D @ about_the_axis(kept) == pytest.approx([1.0], abs=EXACT)
    if degrees in SINGULAR:
        assert np.linalg.norm(lost.D) < 1e-13
    else:
        assert np.linalg.norm(lost.D) > 0.5 * abs(np.sin(radians))
    assert np.linalg.norm(kept.D) > 0.5


@pytest.mark.parametrize("name", ["cosine_of_angle", "cosine_of_link"])
def test_a_cosine_has_lost_the_sign(name):
    for degrees in (-60.0, 60.0):
        it = hinge(name, 0, np.deg2rad(degrees))
        it.set(np.deg2rad(60.0))
        assert np.abs(it.Phi).max() < EXACT


# Orientation


def orientations(rng):
    """Euler parameters of which each in turn is 0, 1 or -1, and some of no kind."""
    yield from np.vstack([np.eye(4), -np.eye(4)])
    for k in range(4):
        p = rng.normal(size=4)
        p[k] = 0.0
        yield unit(p)
    for _ in range(4):
        yield unit(rng.normal(size=4))


@seeds
def test_an_orientation_has_full_rank_everywhere(seed):
    """Where the body is as it shall be, D is the length of p* times +-1 for omega, whatever the orientation."""
    it = Driver("guided_orientation", seed)
    for p in orientations(it.rng):
        it.body_i[3:7] = p
        for scale in (1.0, -1.0, 3.7, -0.02):
            it.set(*(scale * p))
            assert np.abs(it.Phi).max() < EXACT
            assert distance(it.D[:, 3:6], scale * np.eye(3)) < EXACT
            assert not it.D[:, :3].any() and not it.D[:, 6:].any()


@seeds
def test_an_orientation_tells_the_turn_to_first_order(seed):
    it = Driver("guided_orientation", seed)
    for p in orientations(it.rng):
        w = 1e-6 * it.rng.normal(size=3)
        it.body_i[3:7] = turned(p, w)
        it.set(*p)
        assert np.abs(it.Phi - w).max() < 1e-15
        assert np.linalg.cond(it.D[:, 3:6]) < 1 + 1e-5


@seeds
def test_an_orientation_is_singular_half_a_turn_away_only(seed):
    """Its determinant is cos(turn / 2)."""
    it = Driver("guided_orientation", seed)
    for degrees in (0.0, 60.0, 120.0, 179.0, 180.0):
        p, axis = unit(it.rng.normal(size=4)), unit(it.rng.normal(size=3))
        q = Rotation.from_rotvec(np.deg2rad(degrees) * axis) * Rotation.from_quat(np.roll(p, -1))
        it.body_i[3:7] = np.roll(q.as_quat(), 1)
        it.set(*p)
        assert abs(np.linalg.det(it.D[:, 3:6])) == pytest.approx(np.cos(np.deg2rad(degrees) / 2), abs=1e-12)
        assert np.linalg.norm(it.Phi) == pytest.approx(2 * np.sin(np.deg2rad(degrees) / 2), abs=1e-12)


@seeds
def test_euler_parameters_lose_their_rows(seed):
    """Three of them where the fourth is 0; a single one where it is 1 or -1; there guided_orientation does not."""
    it = Driver("euler_parameter", seed)

    def row(p, k):
        it.body_i[3:7], it.setting.parameters = p, np.eye(4)[k]
        it.set(p[k])
        assert np.abs(it.Phi).max() < 1e-15
        return it.D[0, 3:6]

    for left_out in range(4):
        p = it.rng.normal(size=4)
        for value in (0.0, 0.5):
            p[left_out] = value
            p = unit(p)
            three = np.array([row(p, k) for k in range(4) if k != left_out])
            assert np.linalg.det(three) == pytest.approx((-1) ** left_out * p[left_out] / 8, abs=1e-15)
    for k in range(4):
        for sign in (1.0, -1.0):
            assert np.abs(row(sign * np.eye(4)[k], k)).max() == 0.0
        p = unit(it.rng.normal(size=4))
        assert np.linalg.norm(row(p, k)) == pytest.approx(np.sqrt(1 - p[k] ** 2) / 2)


# Cardan angles

CARDAN = [
    (0.3, -0.8, 2.0),
    (0.0, 0.0, 0.0),
    (1.0, np.pi / 2, 0.4),
    (-2.5, -np.pi / 2, 1.1),
    (np.pi, 0.2, -np.pi),
    (5.0, 9.0, -7),
]


@pytest.mark.parametrize("angles_", CARDAN)
@seeds
def test_cardan_angles_are_turns_about_the_axes_of_the_body(angles_, seed):
    """By SciPy's word and by elementary rotations; full rank at 90 degrees too."""
    it = Driver("guided_cardan", seed)
    R = Rotation.from_euler("XYZ", angles_)
    product = turn([1, 0, 0], angles_[0]) @ turn([0, 1, 0], angles_[1]) @ turn([0, 0, 1], angles_[2])
    assert distance(R.as_matrix(), product) < EXACT
    it.set(*angles_)
    for sign in (1.0, -1.0):
        it.body_i[3:7] = sign * np.roll(R.as_quat(), 1)
        assert np.abs(it.Phi).max() < 1e-14
        assert distance(it.D[:, 3:6], np.sign(it.D[0, 3]) * np.eye(3)) < EXACT
    it.body_i[3:7] = turned(it.body_i[3:7], [0.1, 0.0, 0.0])
    assert np.abs(it.Phi).max() > 0.09


def product(p, q):
    return np.r_[p[0] * q[0] - p[1:] @ q[1:], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])]


def cardan_parameters(angles_):
    """Euler parameters of three turns about the axes of the body, of complex angles too."""
    p = np.array([1.0, 0.0, 0.0, 0.0])
    for k, angle in enumerate(angles_):
        p = product(p, np.r_[cmath.cos(angle / 2), cmath.sin(angle / 2) * np.eye(3)[k]])
    return p


@pytest.mark.parametrize("beta", [0.4, np.pi / 2, -np.pi / 2])
@seeds
def test_cardan_angles_agree_with_the_orientation(beta, seed):
    """The same motion told as Euler parameters gives the same kernels, but for a factor, off the manifold too."""
    cardan, whole = Driver("guided_cardan", seed), Driver("guided_orientation", seed)
    paths = cardan.rng.normal(size=(3, 3))  # angle, rate, second rate of each
    paths[1, 0] = beta
    factor = cardan.rng.uniform(0.5, 2.0) * (-1) ** seed
    cardan.set(*paths)
    e = derivatives(lambda t: factor * cardan_parameters(paths @ [1, t, t * t / 2]), 2)
    whole.set(*np.array(e).T)
    whole.body_i, whole.body_j = cardan.body_i, cardan.body_j
    for kernel in ("phi", "jacobian", "nu", "gamma"):
        assert distance(whole.of(kernel), factor * cardan.of(kernel)) < 1e-11, kernel
    assert np.linalg.matrix_rank(cardan.D) == 3
    assert np.linalg.matrix_rank(cardan.slopes(), tol=1e-9) == (3 if abs(np.cos(beta)) > 0.1 else 2)


# Which rows are coordinates


def along(r_i, s_i, a_i, r_j, s_j, x_t):
    """The way of P_j along a_i is x_t [m]."""
    return {"way": a_i.dot(r_j + s_j - r_i - s_i) - x_t}


def half_turn(p_i, e_t):
    """An Euler parameter less a signal."""
    return {"parameter": p_i[1] - e_t}


def sine_of_half_turn(p_i, p_j, e_t):
    """A part of the Euler parameters between two bodies."""
    e, f = p_i, p_j
    return {"parameter": e[0] * f[1] - e[1] * f[0] - e[2] * f[3] + e[3] * f[2] - e_t}


def turn_of_a_hinge(a_i, h_i, b_j, theta_t):
    """An angle, by a function of its own."""
    return {"angle": sp.atan2(h_i.dot(a_i.cross(b_j)), a_i.dot(b_j)) - theta_t}


def reversed_along(r_i, s_i, a_i, r_j, s_j, x_t):
    """The signal less the coordinate."""
    return {"way": x_t - a_i.dot(r_j + s_j - r_i - s_i)}


def geared(r_i, s_i, a_i, r_j, s_j, g_t):
    """A signal times a coordinate."""
    return {"way": g_t * a_i.dot(r_j + s_j - r_i - s_i)}


def rooted(r_i, s_i, r_j, s_j, x_t):
    """A distance of which the square is told: the same surface, but Phi is no coordinate less the signal."""
    d = r_j + s_j - r_i - s_i
    return {"way": d.dot(d) - x_t * x_t}


def distance_of_points(r_i, s_i, r_j, s_j, x_t):
    """A distance."""
    d = r_j + s_j - r_i - s_i
    return {"way": sp.sqrt(d.dot(d)) - x_t}


def two_signals(r_i, s_i, a_i, r_j, s_j, x_t, y_t):
    """A coordinate less two signals."""
    return {"way": a_i.dot(r_j + s_j - r_i - s_i) - x_t - y_t}


def bent(a_i, b_j, x_t):
    """A coordinate less the signal, and a term of both."""
    cosine = a_i.dot(b_j)
    return {"angle": cosine - x_t + x_t * cosine * cosine}


def no_signal(r_i, s_i, a_i, r_j, s_j, held):
    """A joint."""
    return {"way": held(a_i.dot(r_j + s_j - r_i - s_i))}


def is_a_coordinate(module, seed):
    """By numbers: one row, one signal, and neither Phi + signal nor D changes with the signal (angles modulo a turn)."""
    if len(module.ROWS) != 1 or len(module.SIGNALS) != 1:
        return False
    rng = np.random.default_rng(seed)
    setting, motion = Setting(module, rng), Motion(rng)
    bodies, values = motion.states(), []
    for value in rng.normal(size=3):
        setting.signals[0, 0] = value
        x = setting.x(*bodies)
        values.append(
            np.r_[np.exp(1j * (call(module.phi, *bodies, x, 1) + value)), call(module.jacobian, *bodies, x, (1, 12))[0]]
        )
    return max(distance(v, values[0]) for v in values) < 1e-10


@pytest.mark.parametrize("module", dispatch.MODULES, ids=lambda m: m.NAME)
def test_coordinates_are_found(module):
    """An Euler parameter is none, although D does not depend on its signal: no moment belongs to it."""
    assert module.COORDINATE == (module.NAME in ("guided_angle", "guided_link"))
    expected = module.COORDINATE or module.NAME == "euler_parameter"
    assert all(is_a_coordinate(module, seed) == expected for seed in SEEDS)


@pytest.mark.parametrize("definition", [along, distance_of_points, turn_of_a_hinge], ids=lambda f: f.__name__)
def test_other_coordinates(definition):
    module = compile_joint(definition)
    assert module.COORDINATE and all(is_a_coordinate(module, seed) for seed in SEEDS)


@pytest.mark.parametrize(
    "definition", [reversed_along, geared, rooted, two_signals, bent, no_signal], ids=lambda f: f.__name__
)
def test_what_is_no_coordinate(definition):
    module = compile_joint(definition)
    assert not module.COORDINATE and not any(is_a_coordinate(module, seed) for seed in SEEDS)


@pytest.mark.parametrize("definition", [half_turn, sine_of_half_turn], ids=lambda f: f.__name__)
def test_euler_parameters_are_no_coordinates(definition):
    """A row of Euler parameters has the form of a coordinate, but no moment belongs to it."""
    module = compile_joint(definition)
    assert not module.COORDINATE and all(is_a_coordinate(module, seed) for seed in SEEDS)


# Parts of expressions under names of their own


def nested_rows(f, r_i, s_i, a_i, r_j, s_j, b_j, l, c_t, w_t):
    """Functions in functions, roots in them, below fraction bars, with signals outside and inside; ``f`` has the functions."""
    d = r_j + s_j - r_i - s_i
    root = f.sqrt(l * l + d.dot(d) * (1 + c_t * c_t))
    slope = a_i.dot(d) / f.sqrt(d.dot(d))
    return {
        "nested": f.sin(f.atan2(a_i.dot(b_j) + 2 * slope, 3 + slope * w_t) + c_t * a_i.dot(b_j))
        + slope / (2 + slope * slope),
        "rooted": f.exp(slope - f.sqrt(2 + a_i.dot(b_j))) * w_t + d.dot(d) / root / (root + l),
    }


def nested(r_i, s_i, a_i, r_j, s_j, b_j, l, c_t, w_t):
    """Rows with functions in functions.  l is a length."""
    return nested_rows(sp, r_i, s_i, a_i, r_j, s_j, b_j, l, c_t, w_t)


class Direct:
    """The same rows in numbers of 40 digits, differentiated by differences, without a rule of the calculus."""

    def __init__(self, setting, motion):
        self.mp = mpmath.mp.clone()
        self.mp.dps = 40
        self.setting, self.motion = setting, motion

    def number(self, array):
        return [self.mp.mpf(float(value)) for value in array]

    def polynomial(self, coefficients, t):
        return sum((self.mp.mpf(float(c)) * t**k for k, c in enumerate(coefficients)), self.mp.mpf(0))

    def rows(self, places, turns, t):
        """Rows for centres r, rotation matrices A and the time of the signals."""
        local = {name: self.number(u) for name, u in self.setting.local.items()}
        vectors = {f"r_{body}": Vector(*places[body]) for body in "ij"}
        for name, _, body in self.setting.module.VECTORS:
            vectors[name] = Vector(*(sum(turns[body][a, b] * local[name][b] for b in range(3)) for a in range(3)))
        signals = {
            name: self.polynomial(c, t)
            for name, c in zip(self.setting.module.SIGNALS, self.setting.signals, strict=True)
        }
        (l,) = self.number(self.setting.parameters)
        return list(nested_rows(self.mp, **vectors, l=l, **signals).values())

    def A(self, q):
        e0, *e = q
        n = sum(x * x for x in q)
        E = self.mp.matrix([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
        return self.mp.eye(3) + 2 * (e0 * E + E * E) / n

    def along_the_motion(self, t):
        r = {b: [self.polynomial(c, t) for c in np.transpose(self.motion.r[b])] for b in "ij"}
        A = {b: self.A([self.polynomial(c, t) for c in np.transpose(self.motion.q[b])]) for b in "ij"}
        return self.rows(r, A, t)

    def rates(self, order):
        return np.array([float(self.mp.diff(lambda t, k=k: self.along_the_motion(t)[k], 0, order)) for k in range(2)])

    def jacobian(self):
        """Phi' for a velocity 1 of each body in each direction and about each axis, the signals standing still."""
        r = {b: self.number(self.motion.r[b][0]) for b in "ij"}
        A = {b: self.A(self.number(self.motion.q[b][0])) for b in "ij"}
        D = np.empty((2, 12))
        for row in range(2):
            for k in range(12):
                body, turning, axis = "ij"[k // 6], k % 6 // 3, k % 3

                def moved(t, row=row, body=body, turning=turning, axis=axis):
                    places = {b: list(r[b]) for b in "ij"}
                    turns = dict(A)
                    if turning:
                        e = [self.mp.cos(t / 2), 0, 0, 0]
                        e[1 + axis] = self.mp.sin(t / 2)
                        turns[body] = self.A(e) * A[body]
                    else:
                        places[body][axis] += t
                    return self.rows(places, turns, self.mp.mpf(0))[row]

                D[row, k] = float(self.mp.diff(moved, 0))
        return D


@seeds
def test_named_parts_change_nothing(seed):
    """Phi, Phi', D, nu, gamma of functions in functions, against differences of 40 digits."""
    named = derive(nested).scope.named
    assert len(named) > 5
    inner = [
        m for m in named.values() if set(m.values[0].free_symbols) & {s for o in named.values() for s in o.symbols}
    ]
    assert inner  # parts of parts
    module, rng = compile_joint(nested), np.random.default_rng(seed)
    setting, motion = Setting(module, rng), Motion(rng)
    direct = Direct(setting, motion)
    bodies = motion.states()
    x = setting.x(*bodies)
    Phi, Phi_dot, D, gamma = call(module.evaluate, *bodies, x, 2, 2, (2, 12), 2)
    v, v_dot = motion.velocity(), motion.acceleration()
    true_D, true_rate = direct.jacobian(), direct.rates(1)
    assert distance(Phi, direct.rates(0)) < 1e-12
    assert distance(Phi_dot, true_rate) < 1e-12
    assert distance(D, true_D) < 1e-12
    assert distance(gamma, true_D @ v_dot - direct.rates(2)) < 1e-12 * max(1.0, np.abs(true_D @ v_dot).max())
    assert distance(call(module.phi, *bodies, x, 2), Phi) < 1e-14
    assert distance(call(module.jacobian, *bodies, x, (2, 12)), D) < 1e-13
    assert distance(call(module.nu, *bodies, x, 2), true_D @ v - true_rate) < 1e-12
    assert distance(call(module.gamma, *bodies, x, 2), gamma) < 1e-12


def test_equal_parts_share_one_name():
    """The root that stands twice is named once."""
    parts = [m.values[0] for m in derive(nested).scope.named.values()]
    assert len(set(parts)) == len(parts)


def test_definition_has_the_rows_of_the_numbers():
    """The test's two sides take the same rows: SymPy's functions and the direct ones."""
    rng = np.random.default_rng(5)
    module = compile_joint(nested)
    setting, motion = Setting(module, rng), Motion(rng)
    at_0 = Direct(setting, motion).rates(0)
    assert distance(call(module.phi, *motion.states(), setting.x(*motion.states()), 2), at_0) < 1e-13
