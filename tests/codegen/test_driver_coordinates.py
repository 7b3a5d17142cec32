"""Which drivers are coordinates, and expressions whose parts get names of their own; on kernels alone."""

import mpmath
import numpy as np
import pytest
import sympy as sp

from codegen import Vector, compile_joint
from codegen.compiler.derive import derive
from tests.support.kernels import Setting, call
from tests.support.marks import quick_for
from tests.support.modules import JOINT_MODULES
from tests.support.motions import Motion, distance

SEEDS = range(3)

seeds = pytest.mark.parametrize("seed", SEEDS)


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
    """The square of a driven distance: the surface is that of the distance, but Phi is not coordinate minus signal."""
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


@pytest.mark.parametrize("module", JOINT_MODULES, ids=lambda m: m.NAME)
def test_coordinates_are_found(module):
    """An Euler parameter is none, although D does not depend on its signal: no moment belongs to it."""
    assert module.COORDINATE == (module.NAME in ("guided_angle", "guided_link", "guided_distance"))
    expected = module.COORDINATE or module.NAME == "euler_parameter"
    assert all(is_a_coordinate(module, seed) == expected for seed in SEEDS)


@pytest.mark.parametrize("definition", [along, distance_of_points, turn_of_a_hinge], ids=lambda f: f.__name__)
def test_other_coordinates(definition):
    module = compile_joint(definition)
    assert module.COORDINATE and all(is_a_coordinate(module, seed) for seed in SEEDS)


@pytest.mark.parametrize(
    "definition", [reversed_along, geared, rooted, two_signals, bent, no_signal], ids=lambda f: f.__name__
)
def test_other_rows_are_no_coordinates(definition):
    module = compile_joint(definition)
    assert not module.COORDINATE and not any(is_a_coordinate(module, seed) for seed in SEEDS)


@pytest.mark.parametrize("definition", [half_turn, sine_of_half_turn], ids=lambda f: f.__name__)
def test_euler_parameters_are_no_coordinates(definition):
    """A row of Euler parameters has the form of a coordinate, but no moment belongs to it."""
    module = compile_joint(definition)
    assert not module.COORDINATE and all(is_a_coordinate(module, seed) for seed in SEEDS)


# Parts of expressions with names of their own


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", quick_for(SEEDS, (0,)))
def test_named_parts_do_not_change_values(seed):
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


def test_symbolic_and_numeric_rows_agree():
    """The test's two sides take the same rows: SymPy's functions and the direct ones."""
    rng = np.random.default_rng(5)
    module = compile_joint(nested)
    setting, motion = Setting(module, rng), Motion(rng)
    at_0 = Direct(setting, motion).rates(0)
    assert distance(call(module.phi, *motion.states(), setting.x(*motion.states()), 2), at_0) < 1e-13
