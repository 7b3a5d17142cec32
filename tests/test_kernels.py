"""Every kernel against the motion that it speaks of, whatever the joint; and each check against a kernel broken on purpose.

Both bodies move along analytic curves r(t), p(t).  The time derivatives of Phi come from the values of Phi alone, on a
circle in the complex plane around t = 0 (Cauchy's integral), so they are exact to rounding and owe nothing to the rules by
which codegen differentiates.
"""

import ast
import cmath
import copy
import inspect
import re
import sys
from functools import cache
from math import factorial
from types import FunctionType, SimpleNamespace

import numba
import numpy as np
import pytest
import sympy as sp
from numba.core import errors
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import _nrt_python, rtsys

import runtime
from codegen import Vector, compile_joint, drivers, joints
from codegen.__main__ import definitions
from generated import dispatch
from models import foot
from runtime import addresses
from runtime.equations import derivative_repeated, rotation
from runtime.kernels import inlined

TOLERANCE = 1e-11  # relative to the largest of 1 and the quantity
SEEDS = range(3)
KERNELS = ("phi", "jacobian", "nu", "gamma", "reference", "evaluate")

# Operations of each ``evaluate``.  A rise must be meant: then it is written here.
OPERATIONS = {
    "spherical": 69,
    "revolute": 218,
    "cylindrical": 343,
    "translational": 410,
    "universal": 155,
    "modified_universal": 336,
    "fixed": 405,
    "constant_angle": 86,
    "constant_distance": 111,
    "point_on_line": 230,
    "point_on_plane": 145,
    "guided_point": 36,
    "guided_orientation": 268,
    "guided_cardan": 625,
    "guided_angle": 881,
    "guided_link": 971,
    "euler_parameter": 117,
    "cosine_of_angle": 95,
    "cosine_of_link": 1507,
}


# Definitions that are no joints of the repository, for the rest of the calculus: signals, ground, Euler parameters, roots.


def driven_distance(r_i, s_i, r_j, s_j, l_t):
    """The distance of P_i and P_j is the prescribed l_t [m]."""
    d = r_j + s_j - r_i - s_i
    return {"distance": d.dot(d) - l_t * l_t}


def driven_stretch(r_i, s_i, r_j, s_j, l, f_t):
    """The distance of P_i and P_j is f_t times l [m]."""
    d = r_j + s_j - r_i - s_i
    return {"stretch": d.dot(d) - (l * f_t) * (l * f_t)}


def driven_slide(r_i, s_i, a_i, b_i, r_j, s_j, u_t, w_t):
    """P_j is at the prescribed coordinates u_t and w_t [m] along two directions of body i; products of signals too."""
    d = r_j + s_j - r_i - s_i
    return {"along": a_i.dot(d) - u_t, "product": b_i.dot(d) * u_t - w_t * w_t}


def driven_angle(a_i, a_j, theta_t):
    """The angle between two directions is the prescribed theta_t [rad]."""
    return {"angle": a_i.dot(a_j) - sp.cos(theta_t)}


def ground_point(r_i, s_i, X, Y, Z):
    """Point P_i stays at X, Y, Z [m] of the ground."""
    return {"point": r_i + s_i - Vector(X, Y, Z)}


def driven_ground_point(r_i, s_i, X_t, Y_t, Z_t):
    """Point P_i follows a prescribed path [m]."""
    return {"point": r_i + s_i - Vector(X_t, Y_t, Z_t)}


def kept_euler_parameter(p_i, c):
    """The Euler parameter e1 of body i keeps the value c."""
    return {"e1": p_i[1] - c}


def driven_euler_parameters(p_i, e_t):
    """A product of Euler parameters of body i is prescribed."""
    return {"e1": p_i[1] - e_t, "e0e3": p_i[0] * p_i[3] - e_t * e_t}


def rod_angle(r_i, s_i, r_j, s_j, a_j, held):
    """The line P_i P_j keeps its angle to a_j: a quotient with a root."""
    d = r_j + s_j - r_i - s_i
    return {"angle": held(a_j.dot(d) / d.norm())}


def relative_distance(r_i, s_i, r_j, s_j, l):
    """The distance of P_i and P_j is l [m], as a pure number: a quotient by a square."""
    d = r_j + s_j - r_i - s_i
    return {"ratio": d.dot(d) / l**2 - 1}


def carried_unit(a_i, b_i, carried):
    """A root that occurs in what is carried only."""
    return {"turn": b_i.dot(carried(a_i / a_i.norm()))}


OWN = (
    driven_stretch,
    driven_angle,
    ground_point,
    kept_euler_parameter,
    driven_euler_parameters,
    rod_angle,
    driven_distance,
    driven_slide,
    driven_ground_point,
    relative_distance,
    carried_unit,
)
JOINTS, DRIVERS = ([f.__name__ for f in definitions(module)] for module in (joints, drivers))
GENERATED = JOINTS + DRIVERS
DEFINITIONS = {f.__name__: f for f in (*definitions(joints), *definitions(drivers), *OWN)}


def bodies_of(name):
    """Bodies that a definition speaks of."""
    return {
        argument[-1] for argument in inspect.signature(DEFINITIONS[name]).parameters if argument[-2:] in ("_i", "_j")
    }


all_definitions = pytest.mark.parametrize("name", list(DEFINITIONS))
all_joints = pytest.mark.parametrize("name", JOINTS)
all_generated = pytest.mark.parametrize("name", GENERATED)


@cache
def module_of(name):
    return {m.NAME: m for m in dispatch.MODULES}.get(name) or compile_joint(DEFINITIONS[name])


# Motion


def derivatives(f, order, radius=0.08, points=24):
    """Value and derivatives at t = 0 of a real analytic function of time, from its values on a circle."""
    half = [f(radius * cmath.exp(2j * np.pi * k / points)) for k in range(points // 2 + 1)]
    values = np.array([*half, *(np.conj(v) for v in half[-2:0:-1])])
    coefficients = np.fft.fft(values, axis=0) / points
    return [coefficients[k].real * factorial(k) / radius**k for k in range(order + 1)]


def polynomial(coefficients, t, order=0):
    """Value (0) or derivative of sum c_k t^k."""
    for _ in range(order):
        coefficients = [k * c for k, c in enumerate(coefficients)][1:]
    return sum(c * t**k for k, c in enumerate(coefficients))


def skew(a):
    return np.array([[0 * a[0], -a[2], a[1]], [a[2], 0 * a[0], -a[0]], [-a[1], a[0], 0 * a[0]]])


def G(p):
    """omega = 2 G p', the matrix of the papers."""
    return np.hstack([-p[1:, None], skew(p[1:]) + p[0] * np.eye(3)])


def rotation_matrix(q):
    """Rotation by Euler parameters of any length, real or complex (no conjugation: it must stay analytic)."""
    e = skew(q[1:])
    return np.eye(3) + 2 * (q[0] * e + e @ e) / (q @ q)


def unit(v):
    return v / np.linalg.norm(v)


class Setting:
    """Numbers of one joint: its body-fixed vectors in body axes, parameters, held constants and signals.

    A list of polynomial coefficients stands for each signal.
    """

    def __init__(self, module, rng):
        self.module = module
        self.local = {}
        for name, kind, _ in module.VECTORS:
            if kind == "frame":
                self.local[name] = np.eye(3)[("xi", "eta", "zeta").index(name.split("_")[0])]
            elif kind.startswith("across"):
                a = self.local[kind.split(":")[1]]
                b = unit(np.cross(a, [0.3, -0.5, 0.8]))
                self.local[name] = b if kind.startswith("across1") else np.cross(a, b)
            else:
                self.local[name] = rng.normal(size=3) if kind == "point" else unit(rng.normal(size=3))
        self.parameters = rng.uniform(0.5, 1.5, len(module.PARAMETERS))
        self.held = rng.normal(size=module.HELD)
        self.signals = rng.normal(size=(len(module.SIGNALS), 5))

    def x(self, body_i, body_j, t=0.0):
        """The joint's numbers as the kernels take them, for states of the bodies at time t."""
        A = {"i": rotation_matrix(body_i[3:7]), "j": rotation_matrix(body_j[3:7])}
        parts = [A[body] @ self.local[name] for name, _, body in self.module.VECTORS]
        parts += [self.parameters, self.held]
        parts += [[polynomial(c, t, order) for order in range(3)] for c in self.signals]
        return np.concatenate([np.zeros(0), *parts])

    def take_reference(self, body_i, body_j):
        """Held constants and carried vectors are those of this configuration, as the runtime takes them; signals too."""
        A = {"i": rotation_matrix(body_i[3:7]), "j": rotation_matrix(body_j[3:7])}
        carried = [(name, body) for name, kind, body in self.module.VECTORS if kind.startswith("carried")]
        for _ in range(2):  # a held value may use a carried vector
            out = call(
                self.module.reference,
                body_i,
                body_j,
                self.x(body_i, body_j),
                3 * len(carried) + len(self.held) + self.module.SIDES,
            )
            for k, (name, body) in enumerate(carried):
                self.local[name] = A[body].T @ out[3 * k : 3 * k + 3]
        self.held = out[3 * len(carried) :][: self.module.HELD]
        self._fit(body_i, body_j)

    def _fit(self, body_i, body_j):
        """Change the parameters and signals so that the rows which hold any of them vanish in this configuration."""
        count, h = len(self.parameters), 1e-30
        first = 3 * len(self.module.VECTORS)
        places = [*range(first, first + count), *range(first + count + len(self.held), self.module.SIZE, 3)]
        for _ in range(40 if places else 0):
            x = self.x(body_i, body_j)
            Phi = call(self.module.phi, body_i, body_j, x, len(self.module.ROWS))
            steps = 1j * h * np.eye(len(x))[places]
            slope = np.array([call(self.module.phi, body_i, body_j, x + s, len(Phi)).imag / h for s in steps]).T
            change = -np.linalg.pinv(slope) @ Phi
            change /= max(1.0, np.abs(change).max())
            self.parameters += change[:count]
            self.signals[:, 0] += change[count:]


class Motion:
    """Two bodies on analytic curves: polynomials r(t) and q(t), with p = q / |q|."""

    def __init__(self, rng):
        self.r = {body: rng.normal(size=(4, 3)) for body in "ij"}
        self.q = {}
        for body in "ij":
            self.q[body] = 0.4 * rng.normal(size=(3, 4))
            self.q[body][0] = unit(rng.normal(size=4))

    @classmethod
    def through(cls, states, rng):
        """A motion whose states at t = 0 are given; its accelerations are arbitrary."""
        motion = cls(rng)
        for body, state in zip("ij", states, strict=True):
            motion.r[body][:2] = state[0:3], state[7:10]
            motion.q[body][:2] = state[3:7], G(state[3:7]).T @ state[10:13] / 2
        return motion

    def A(self, body, t):
        return rotation_matrix(polynomial(self.q[body], t))

    def omega(self, body, t):
        q = polynomial(self.q[body], t)
        return 2 * G(q) @ polynomial(self.q[body], t, 1) / (q @ q)

    def state(self, body, t=0.0):
        q = polynomial(self.q[body], t)
        p = q / (cmath.sqrt(q @ q) if isinstance(t, complex) else np.sqrt(q @ q))
        r = self.r[body]
        return np.concatenate([polynomial(r, t), p, polynomial(r, t, 1), self.omega(body, t)])

    def states(self, t=0.0):
        return self.state("i", t), self.state("j", t)

    def velocity(self):
        """v_i omega_i v_j omega_j at t = 0."""
        return np.concatenate([self.state(body)[7:] for body in "ij"])

    def acceleration(self):
        """Their time derivatives at t = 0."""
        return np.concatenate([derivatives(lambda t, b=body: self.state(b, t)[7:], 1)[1] for body in "ij"])


def atan2(y, x):
    """The arc tangent of two numbers, analytic: cmath has none."""
    angle = np.arctan2(y.real, x.real)
    c, s = np.cos(angle), np.sin(angle)
    return angle + cmath.atan((y * c - x * s) / (x * c + y * s))


ANALYTIC = SimpleNamespace(**vars(cmath) | {"atan2": atan2})


def python(kernel):
    """The kernel as a Python function that takes complex numbers."""
    f = kernel.py_func
    return FunctionType(f.__code__, {**f.__globals__, "math": ANALYTIC})


def call(kernel, body_i, body_j, x, *shapes):
    """Outputs of a kernel's Python version; they are NaN beforehand."""
    dtype = np.result_type(body_i, body_j, x)
    outputs = [np.full(shape, np.nan, dtype) for shape in shapes]
    (python(kernel) if np.iscomplexobj(outputs[0]) else kernel.py_func)(body_i, body_j, x, *outputs)
    return outputs[0] if len(outputs) == 1 else outputs


def shapes(module):
    m = len(module.ROWS)
    return {
        "phi": (m,),
        "jacobian": (m, 12),
        "nu": (m,),
        "gamma": (m,),
        "reference": (3 * sum(v[1].startswith("carried") for v in module.VECTORS) + module.HELD + module.SIDES,),
        "evaluate": ((m,), (m,), (m, 12), (m,)),
    }


def distance(a, b):
    """Largest difference, relative to the largest of 1 and b; infinite where a is not finite."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or not np.isfinite(a).all():
        return np.inf
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))


# The checks: each returns how far a kernel is from the truth


class Case:
    """One joint on one random motion, with what the checks share."""

    def __init__(self, name, seed):
        rng = np.random.default_rng([seed, *name.encode()])
        self.module = module_of(name)
        self.definition = DEFINITIONS[name]
        self.setting = Setting(self.module, rng)
        self.motion = Motion(rng)
        self.body_i, self.body_j = self.motion.states()
        self.x = self.setting.x(self.body_i, self.body_j)
        self.v, self.v_dot = self.motion.velocity(), self.motion.acceleration()
        self.angle = "atan2" in inspect.getsource(self.module.phi.py_func)
        self.rates = derivatives(self._phi_at, 2)

    def _phi_at(self, t):
        body_i, body_j = self.motion.states(t)
        Phi = call(self.module.phi, body_i, body_j, self.setting.x(body_i, body_j, t), len(self.module.ROWS))
        if self.angle:  # counted on beyond half a turn
            Phi -= 2 * np.pi * np.round((Phi.real - self.run("phi")) / (2 * np.pi))
        return Phi

    def run(self, kernel, module=None):
        sizes = shapes(self.module)[kernel]
        sizes = sizes if kernel == "evaluate" else (sizes,)
        return call(getattr(module or self.module, kernel), self.body_i, self.body_j, self.x, *sizes)


@cache
def case(name, seed):
    return Case(name, seed)


def as_defined(c):
    """The rows of the definition itself, and what it holds and carries, in numbers."""
    vectors = {v[0]: Vector(*c.x[3 * n : 3 * n + 3]) for n, v in enumerate(c.module.VECTORS)}
    numbers = iter(c.x[3 * len(vectors) :])
    known = {
        "r_i": Vector(*c.body_i[:3]),
        "r_j": Vector(*c.body_j[:3]),
        "p_i": sp.Matrix(c.body_i[3:7]),
        "p_j": sp.Matrix(c.body_j[3:7]),
        **vectors,
        **{name: next(numbers) for name, _ in c.module.PARAMETERS},
    }
    constants = [next(numbers) for _ in range(c.module.HELD)]
    known |= {name: [next(numbers) for _ in range(3)][0] for name in c.module.SIGNALS}
    held, carried, sides = [], [], []

    def hold(value):
        if isinstance(value, Vector):
            return Vector(*map(hold, value))
        held.append(value)
        return value - constants[len(held) - 1]

    def carry(value):
        carried.extend(value)
        return next(v for n, v in vectors.items() if n.startswith(f"carried{len(carried) // 3 - 1}_"))

    def across(a):
        name = next(n for n, v in vectors.items() if v is a)
        return vectors[f"across1_{name}"], vectors[f"across2_{name}"]

    known |= {"held": hold, "carried": carry, "across": across, "sided": sides.append}
    rows = c.definition(**{name: known[name] for name in inspect.signature(c.definition).parameters})
    Phi = [part for row in rows.values() for part in (row if isinstance(row, Vector) else (row,))]
    return np.array(Phi, float), np.array([*carried, *held, *sides], float)


def phi_is_the_definition(c, module):
    return distance(c.run("phi", module), as_defined(c)[0])


def reference_is_the_definition(c, module):
    return distance(c.run("reference", module), as_defined(c)[1])


def velocity_equation(c, module):
    """Phi' = D v - nu."""
    return distance(c.run("jacobian", module) @ c.v - c.run("nu", module), c.rates[1])


def acceleration_equation(c, module):
    """Phi'' = D v' - gamma."""
    return distance(c.run("jacobian") @ c.v_dot - c.run("gamma", module), c.rates[2])


def evaluate_is_all_of_them(c, module):
    Phi, Phi_dot, D, gamma = c.run("evaluate", module)
    parts = [(Phi, c.run("phi")), (Phi_dot, c.rates[1]), (D, c.run("jacobian")), (gamma, c.run("gamma"))]
    return max(distance(a, b) for a, b in parts)


CHECKS = {
    "phi": phi_is_the_definition,
    "jacobian": velocity_equation,
    "nu": velocity_equation,
    "gamma": acceleration_equation,
    "reference": reference_is_the_definition,
    "evaluate": evaluate_is_all_of_them,
}


@all_definitions
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel(name, seed, kernel):
    assert CHECKS[kernel](case(name, seed), module_of(name)) < TOLERANCE


@all_definitions
def test_derivative_by_another_route(name):
    """Complex step, which shares nothing with the circle but the motion, gives the same Phi'."""
    c, h = case(name, 0), 1e-30
    assert distance(c._phi_at(1j * h).imag / h, c.rates[1]) < TOLERANCE


def test_motion_turns_as_the_runtime_says():
    motion = Motion(np.random.default_rng(0))
    A, A_dot = derivatives(lambda t: motion.A("i", t), 1)
    assert distance(A_dot, skew(motion.omega("i", 0.0)) @ A) < 1e-13
    ours = np.empty((3, 3))
    rotation.py_func(motion.state("i")[3:7], ours)
    assert distance(ours, A) < 1e-14
    p, p_dot = derivatives(lambda t: motion.state("i", t)[3:7], 1)
    assert distance(p_dot, G(p).T @ motion.omega("i", 0.0) / 2) < 1e-13


@all_definitions
def test_nu_without_signals_is_zero(name):
    c = case(name, 0)
    nu = c.run("nu")
    assert np.all(nu == 0.0) != bool(c.module.SIGNALS)


def test_driven_stretch_in_closed_form():
    """Phi = d^T d - (l f)^2: nu = 2 l^2 f f', and gamma gains 2 l^2 (f'^2 + f f'')."""
    c = case("driven_stretch", 0)
    l, f, f_dot, f_ddot = c.x[-4:]
    assert distance(c.run("nu"), [2 * l**2 * f * f_dot]) < 1e-14
    undriven = Case("driven_stretch", 0)
    undriven.x = np.r_[c.x[:-2], 0.0, 0.0]
    assert distance(c.run("gamma") - undriven.run("gamma"), [2 * l**2 * (f_dot**2 + f * f_ddot)]) < 1e-13


def test_euler_parameter_against_finite_difference():
    """D of e1 - c is the first column of G / 2, and what p' = 1/2 G^T omega makes of each omega."""
    c = case("kept_euler_parameter", 0)
    D = c.run("jacobian")
    p, h = c.body_i[3:7], 1e-6
    for k in range(3):
        step = h * G(p).T @ np.eye(3)[k] / 2
        high, low = (
            call(c.module.phi, np.r_[c.body_i[:3], p + s, c.body_i[7:]], c.body_j, c.x, 1) for s in (step, -step)
        )
        assert D[0, 3 + k] == pytest.approx((high[0] - low[0]) / (2 * h), abs=1e-9)
    assert distance(D[0], np.r_[np.zeros(3), G(p)[:, 1] / 2, np.zeros(6)]) < 1e-15


def test_ground_joint_leaves_body_j_alone():
    alone = [name for name in GENERATED if bodies_of(name) == {"i"}]
    assert "guided_point" in alone and "guided_angle" not in alone
    for name in ("ground_point", "kept_euler_parameter", "driven_euler_parameters", *alone):
        c = case(name, 0)
        assert not c.run("jacobian")[:, 6:].any()
        elsewhere = call(c.module.gamma, c.body_i, c.body_j + 1.0, c.x, len(c.module.ROWS))
        assert np.array_equal(elsewhere, c.run("gamma"))


# On the constraint manifold


def turned(p, w):
    """Euler parameters after a turn by the rotation vector w (of small length, first order and normalised)."""
    return unit(p + G(p).T @ w / 2)


def newton(setting, states, steps=60):
    """The states moved onto Phi = 0 by least changes, and their velocities projected on D v = nu."""
    body_i, body_j = (state.copy() for state in states)
    m = len(setting.module.ROWS)
    for _ in range(steps):
        x = setting.x(body_i, body_j)
        Phi = call(setting.module.phi, body_i, body_j, x, m)
        D = call(setting.module.jacobian, body_i, body_j, x, (m, 12))
        if np.abs(Phi).max() < 1e-15:
            break
        change = -np.linalg.pinv(D) @ Phi
        change /= max(1.0, np.abs(change).max() / 0.5)
        for body, u in ((body_i, change[:6]), (body_j, change[6:])):
            body[:3] += u[:3]
            body[3:7] = turned(body[3:7], u[3:])
    assert np.abs(Phi).max() < 1e-13, "no configuration found"
    nu = call(setting.module.nu, body_i, body_j, x, m)
    v = np.r_[body_i[7:], body_j[7:]]
    v -= np.linalg.pinv(D) @ (D @ v - nu)
    body_i[7:], body_j[7:] = v[:6], v[6:]
    return body_i, body_j


def assembled(module, rng, prepare=None):
    """A joint between two free bodies, satisfied in a configuration that is not the one of reference.

    Its setting, the states of the bodies, and the motion through the configuration of reference.  ``prepare`` may change the
    setting and that motion beforehand.
    """
    setting, motion = Setting(module, rng), Motion(rng)
    if prepare:
        prepare(setting, motion)
    setting.take_reference(*motion.states())
    displaced = [state.copy() for state in motion.states()]
    for state in displaced:
        state[:3] += 0.3 * rng.normal(size=3)
        state[3:7] = turned(state[3:7], 0.5 * rng.normal(size=3))
    return setting, newton(setting, displaced), motion


@all_generated
@pytest.mark.parametrize("seed", SEEDS)
def test_common_rigid_motion_is_free(name, seed):
    """And the rows are independent, and ask of the velocities what the motion has.  Of the driver of one body, only these."""
    rng = np.random.default_rng(seed)
    module = module_of(name)
    setting, (body_i, body_j), _ = assembled(module, rng)
    x, rows = setting.x(body_i, body_j), len(module.ROWS)
    D = call(module.jacobian, body_i, body_j, x, (rows, 12))
    for _ in range(3 if bodies_of(name) == {"i", "j"} else 0):
        u, w = rng.normal(size=(2, 3))
        twist = np.r_[u + np.cross(w, body_i[:3]), w, u + np.cross(w, body_j[:3]), w]
        assert np.abs(D @ twist).max() < 1e-12
    nu = call(module.nu, body_i, body_j, x, rows)
    assert np.abs(D @ np.r_[body_i[7:], body_j[7:]] - nu).max() < 1e-12
    assert np.linalg.svd(D, compute_uv=False)[-1] > 1e-3


@all_generated
def test_held_rows_vanish_in_the_reference_configuration(name):
    """Rows that hold a value are zero where it was taken, whatever the configuration."""
    module, rng = module_of(name), np.random.default_rng(7)
    setting, motion = Setting(module, rng), Motion(rng)
    setting.take_reference(*motion.states())
    body_i, body_j = motion.states()
    x = setting.x(body_i, body_j)
    Phi = call(module.phi, body_i, body_j, x, len(module.ROWS))
    for k in range(module.HELD):
        shifted = x.copy()
        shifted[3 * len(module.VECTORS) + len(module.PARAMETERS) + k] += 1.0
        (row,) = np.flatnonzero(call(module.phi, body_i, body_j, shifted, len(module.ROWS)) != Phi)
        assert abs(Phi[row]) < 1e-14


@all_joints
@pytest.mark.parametrize("seed", SEEDS)
def test_full_rank_at_an_assembled_pose(name, seed):
    """Ground and one body: the runtime assembles the joint, and its rows are independent there."""
    module, rng = module_of(name), np.random.default_rng(seed)
    r, p, P, a = rng.normal(size=3), unit(rng.normal(size=4)), rng.normal(size=3), unit(rng.normal(size=3))
    A, values = rotation_matrix(p), {}
    for key, kind, body in module.VECTORS:  # nearly one point and one direction, so that every joint can be assembled
        if key in module.KEYWORDS:
            near = (P if kind == "point" else a) + 0.3 * rng.normal(size=3)
            near = near if kind == "point" else unit(near)
            values[key] = near if body == "i" else A.T @ (near - r if kind == "point" else near)
    if module.PARAMETERS:
        apart = r + A @ values["s_j"] - values["s_i"]
        values |= {key: float(np.linalg.norm(apart)) for key, _ in module.PARAMETERS}
    b = runtime.Builder(name)
    b.body("body", mass=1.0, inertia=(1.0, 1.1, 1.2), r=r, p=p)
    b.joint("joint", name, runtime.GROUND, "body", **values)
    system = b.build()
    rows = len(module.ROWS)
    assert system.degrees_of_freedom == 6 - rows
    work = system.work()
    derivative_repeated(0.0, system.state.y, system.tables, work, np.empty(13), 1)
    assert np.abs(work.Phi[0, :rows]).max() < 1e-11
    assert np.linalg.matrix_rank(work.D[0, :rows, 6:]) == rows


# Compiled code


@all_definitions
def test_compiled_kernels_agree_and_write_every_entry(name):
    module, c = module_of(name), case(name, 0)
    for kernel in KERNELS:
        sizes = shapes(module)[kernel]
        sizes = sizes if kernel == "evaluate" else (sizes,)
        outputs = [np.full(np.add(size, 1), np.nan) for size in sizes]
        getattr(module, kernel)(c.body_i, c.body_j, c.x, *outputs)
        expected = c.run(kernel)
        for out, want in zip(outputs, expected if kernel == "evaluate" else [expected], strict=True):
            inside = tuple(slice(n) for n in want.shape)
            assert distance(out[inside], want) < 1e-13
            out[inside] = np.nan
            assert np.isnan(out).all(), "written beyond its rows"


def test_every_kernel_is_reached_through_its_address():
    @numba.njit
    def call(address, a, b, x, Phi, Phi_dot, D, gamma):
        addresses.call(
            address, a.ctypes.data, b.ctypes.data, x.ctypes.data, Phi.ctypes.data, Phi_dot.ctypes.data, D.ctypes.data,
            gamma.ctypes.data,
        )  # fmt: skip

    for module, address in zip(dispatch.MODULES, addresses.addresses_of(dispatch.MODULES), strict=True):
        c = case(module.NAME, 1)
        outputs = [np.full(size, np.nan) for size in shapes(module)["evaluate"]]
        call(address, c.body_i, c.body_j, c.x, *outputs)
        for out, want in zip(outputs, c.run("evaluate"), strict=True):
            assert distance(out, want) < 1e-13


def machine_code(dispatcher):
    return "\n".join(dispatcher.inspect_llvm().values())


@all_definitions
def test_kernels_allocate_nothing(name):
    module, c = module_of(name), case(name, 0)
    outputs = [np.zeros(size) for size in shapes(module)["evaluate"]]
    module.evaluate(c.body_i, c.body_j, c.x, *outputs)
    text = machine_code(module.evaluate)
    assert "define" in text
    assert "NRT_" not in text


def test_an_allocation_is_seen_in_machine_code():
    @numba.njit
    def allocates(n):
        return np.zeros(n)[0] + n

    allocates(3)
    assert "NRT_" in machine_code(allocates)


def test_an_allocation_does_not_compile_in_the_runtime():
    def array(n):
        return np.zeros(n)[0]

    def growing(n):
        return len([n, n])

    for function in (array, growing):
        assert numba.njit(function)(3) in (0.0, 2)
        with pytest.raises((errors.TypingError, errors.NumbaRuntimeError)):
            inlined(function)(3)


def test_everything_compiled_is_compiled_that_way():
    rooms = [m for n, m in sys.modules.items() if re.match(r"(runtime|generated)\.", n)]
    found = {f"{m.__name__}.{n}": f for m in rooms for n, f in vars(m).items() if isinstance(f, Dispatcher)}
    assert {
        "runtime.equations.derivative_once",
        "generated.spherical.phi",
        "generated.dispatch.direction",
    } <= found.keys()
    for name, function in found.items():
        assert function.targetoptions.get("_nrt") is False, f"{name} may allocate"
        assert function.targetoptions.get("error_model") == "numpy", name
        fused = name.startswith("generated.whole.") or name == "runtime.lanes.integrate"  # a product and a sum, no more
        assert function.targetoptions.get("fastmath") in ({"contract"} if fused else None, False), name


def test_a_whole_evaluation_allocates_nothing():
    system = foot.build()
    work, y_dot = system.work(), np.empty_like(system.state.y)

    @numba.njit
    def allocates(n):
        return np.zeros(n).sum()

    def allocations(function, *args):
        function(*args)
        _nrt_python.memsys_enable_stats()
        try:
            before = rtsys.get_allocation_stats().alloc
            function(*args)
            return rtsys.get_allocation_stats().alloc - before
        finally:
            _nrt_python.memsys_disable_stats()

    def evaluations(count):
        return allocations(derivative_repeated, 0.0, system.state.y, system.tables, work, y_dot, count)

    # Handing arrays over from Python may take records; the evaluations themselves take none.
    assert evaluations(100) == evaluations(1)
    assert allocations(allocates, 3) > 0


# The text of kernels

STATE_INPUTS = ("body_i", "body_j", "x")
ALLOWED = (
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UnaryOp, ast.USub,
    ast.Name, ast.Load, ast.Constant, ast.Subscript, ast.Call, ast.Attribute,
)  # fmt: skip


def functions_of(source):
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def lint(function, expected, inputs=STATE_INPUTS):
    """What breaks the rules of a kernel: straight-line scalar code, every output entry once, outputs last.

    ``expected``: shape of each output.
    """
    outputs = [a.arg for a in function.args.args if a.arg not in inputs]
    found, known, written = [], set(), []
    for statement in function.body[1:]:
        where = f"{function.name}: {ast.unparse(statement)}"
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            found.append(f"{where}: no plain assignment")
            continue
        indices = [node.slice for node in ast.walk(statement.value) if isinstance(node, ast.Subscript)]
        for node in ast.walk(statement.value):
            if isinstance(node, ast.Tuple) and node in indices:  # of a matrix
                continue
            if not isinstance(node, ALLOWED):
                found.append(f"{where}: {type(node).__name__}")
            elif isinstance(node, ast.Call) and not ast.unparse(node.func).startswith("math."):
                found.append(f"{where}: calls {ast.unparse(node.func)}")
            elif isinstance(node, ast.Subscript) and ast.unparse(node.value) not in inputs:
                found.append(f"{where}: reads {ast.unparse(node)}")
            elif isinstance(node, ast.Name) and node.id not in known | {*inputs, "math"}:
                found.append(f"{where}: reads {node.id} before it is written")
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            if target.id in known:
                found.append(f"{where}: writes {target.id} twice")
            if written:
                found.append(f"{where}: follows an output")
            known.add(target.id)
        elif isinstance(target, ast.Subscript) and ast.unparse(target.value) in outputs:
            index = ast.literal_eval(target.slice)
            written.append((ast.unparse(target.value), index if isinstance(index, tuple) else (index,)))
        else:
            found.append(f"{where}: writes {ast.unparse(target)}")
    wanted = [(out, index) for out, shape in zip(outputs, expected, strict=True) for index in np.ndindex(shape)]
    if sorted(written) != sorted(wanted):
        found.append(f"{function.name}: writes {len(written)} entries, {len(set(written))} different, of {len(wanted)}")
    if not ast.get_docstring(function):
        found.append(f"{function.name}: no docstring")
    return found


class Column(ast.NodeTransformer):
    """Gives column n of ``seeds`` and ``out`` names of their own, so that a pass of a tangent's loop reads like a kernel."""

    def visit_Subscript(self, node):
        match node:
            case ast.Subscript(ast.Name("seeds" | "out" as array), ast.Tuple([index, ast.Name("n")])):
                return ast.Subscript(ast.Name(f"{array}_n", ast.Load()), index, node.ctx)
        return node


def lint_tangent(function, targets, inputs):
    """What breaks the rules of a tangent: straight-line code, then one loop over the directions, straight-line code too."""
    *before, loop = function.body
    head = "for n in range(seeds.shape[1]):"
    if [a.arg for a in function.args.args] != [*inputs, "seeds", "out"]:
        return [f"{function.name}: takes other arguments than {', '.join(inputs)}, seeds, out"]
    if not (isinstance(loop, ast.For) and ast.unparse(loop).startswith(head) and not loop.orelse):
        return [f"{function.name}: does not end with '{head}'"]
    once = copy.deepcopy(function)
    once.body = [*before, *(Column().visit(copy.deepcopy(statement)) for statement in loop.body)]
    once.args.args[-2].arg, once.args.args[-1].arg = "seeds_n", "out_n"
    return lint(once, [(targets,)], (*inputs, "seeds_n"))


@all_definitions
def test_kernels_are_straight_line_code(name):
    module = module_of(name)
    functions = functions_of(inspect.getsource(module))
    for entry in ("entry", "tangent_entry"):
        assert functions.pop(entry).body[1:], "for a call through its address"
    tangent = functions.pop("tangent")
    assert lint_tangent(tangent, 12 + 3 * len(module.ROWS), (*STATE_INPUTS, "about")) == []
    assert tuple(functions) == KERNELS
    for kernel, function in functions.items():
        expected = shapes(module)[kernel]
        assert lint(function, expected if kernel == "evaluate" else [expected]) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("if x[0]:\n  out[0] = 1.0", "no plain assignment"),
        ("for k in x:\n  out[0] = 1.0", "no plain assignment"),
        ("try:\n  out[0] = 1.0\n except ValueError:\n  pass", "no plain assignment"),
        ("out[0] = 1.0\n out[0] = 2.0", "writes 2 entries, 1 different"),
        ("a = x[0]", "writes 0 entries"),
        ("out[0] = 1.0\n a = x[0]", "follows an output"),
        ("out[0] = max(x[0], 0.0)", "calls max"),
        ("out[0] = a", "before it is written"),
        ("a = x[0]\n a = x[1]\n out[0] = a", "writes a twice"),
        ("out[0] = x[0] if x[1] else x[2]", "IfExp"),
        ("out[0] = [x[0]]", "List"),
        ("out[0] = (x[0], x[1])", "Tuple"),
        ("out[0] = x[0:1]", "Slice"),
        ("out[1] = x[0]", "of 1"),
        ("out[0] += x[0]", "no plain assignment"),
        ("x[0] = 1.0\n out[0] = 1.0", "writes x[0]"),
    ],
)
def test_the_linter_sees(body, says):
    function = functions_of(f'def phi(body_i, body_j, x, out):\n "Text."\n {body}\n')["phi"]
    assert any(says in line for line in lint(function, [(1,)]))


LOOP = "for n in range(seeds.shape[1]):\n  "


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("out[0, 0] = x[0]", "does not end with"),
        (f"{LOOP}out[0, n] = 1.0\n a = x[0]", "does not end with"),
        (f"{LOOP}out[0, n] = 1.0\n else:\n  a = x[0]", "does not end with"),
        ("for n in range(3):\n  out[0, n] = 1.0", "does not end with"),
        (f"{LOOP}a = x[0]\n {LOOP}out[0, n] = 1.0", "no plain assignment"),
        (f"{LOOP}if x[0]:\n   out[0, n] = 1.0", "no plain assignment"),
        (f"{LOOP}for m in x:\n   out[0, n] = 1.0", "no plain assignment"),
        (f"{LOOP}out[0, n] += 1.0", "no plain assignment"),
        (f"{LOOP}out[0, n] = seeds[0, 0]", "reads seeds[0, 0]"),
        (f"a = seeds[0, 0]\n {LOOP}out[0, n] = a", "reads seeds[0, 0]"),
        (f"{LOOP}out[0, 0] = 1.0", "writes out[0, 0]"),
        (f"{LOOP}out[0, n] = n", "reads n before"),
        (f"{LOOP}out[0, n] = a", "before it is written"),
        (f"{LOOP}out[1, n] = 1.0", "of 1"),
        (f"{LOOP}out[0, n] = 1.0\n  out[0, n] = 2.0", "writes 2 entries, 1 different"),
        (f"{LOOP}seeds[0, n] = 1.0\n  out[0, n] = 1.0", "writes seeds_n[0]"),
    ],
)
def test_the_linter_sees_in_a_tangent(body, says):
    inputs = ("body_i", "body_j", "x")
    function = functions_of(f'def tangent(body_i, body_j, x, seeds, out):\n "Text."\n {body}\n')["tangent"]
    assert any(says in line for line in lint_tangent(function, 1, inputs))
    good = functions_of(f'def t(body_i, body_j, x, seeds, out):\n "T."\n a = x[0]\n {LOOP}out[0, n] = a*seeds[0, n]\n')
    assert lint_tangent(good["t"], 1, inputs) == []


@all_generated
def test_operation_count_has_not_risen(name):
    count = int(re.search(r"(\d+) operations", module_of(name).evaluate.py_func.__doc__)[1])
    assert name in OPERATIONS, f"new: add '{name}': {count} to OPERATIONS"
    assert count <= OPERATIONS[name], f"{name}.evaluate rose from {OPERATIONS[name]} to {count} operations"


def test_what_is_generated_is_what_is_defined():
    assert set(OPERATIONS) == set(GENERATED)
    assert [module.NAME for module in dispatch.MODULES] == GENERATED


# Kernels broken on purpose


def broken(value):
    """The expression with one operation changed."""
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            return value
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp):
            node.op = ast.Add()
            return value
    if isinstance(value, ast.Constant):
        return ast.Constant(value.value + 1.0)
    return ast.UnaryOp(ast.USub(), value)


def mutants(module, kernel):
    """Each statement that computes or writes something, broken: its text, and the module with that kernel."""
    function = functions_of(inspect.getsource(module))[kernel]
    function.decorator_list = []
    for k, statement in enumerate(function.body):
        if k == 0 or isinstance(statement.value, ast.Subscript):  # docstring, inputs
            continue
        function.body[k] = copy.deepcopy(statement)
        function.body[k].value = broken(function.body[k].value)
        tree = ast.fix_missing_locations(ast.Module([function], []))
        scope = dict(vars(module))
        exec(compile(tree, f"<{module.__name__}.{kernel}, broken>", "exec"), scope)
        other = SimpleNamespace(**vars(module) | {kernel: SimpleNamespace(py_func=scope[kernel])})
        yield f"{ast.unparse(statement)}  ->  {ast.unparse(function.body[k])}", other
        function.body[k] = statement


# The gradient of an angle depends on neither its signal nor the length of the projections, and the axis has the length 1:
# statements that compute what drops out may be broken without a change of any number.
WITH_IDLE_STATEMENTS = ("guided_angle", "guided_link", "cosine_of_link")


def changes_nothing(name, kernel, module):
    of_module = [(case(name, seed).run(kernel), case(name, seed).run(kernel, module)) for seed in SEEDS]
    return max(distance(np.hstack([*map(np.ravel, b)]), np.hstack([*map(np.ravel, a)])) for a, b in of_module) < 1e-13


@all_generated
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_broken_kernel_is_found(name, kernel):
    """Whatever statement of a kernel is changed, its check says so: no check passes by being blind."""
    c = case(name, 0)
    missed = [
        text
        for text, module in mutants(c.module, kernel)
        if not CHECKS[kernel](c, module) > 1e3 * TOLERANCE
        and not (name in WITH_IDLE_STATEMENTS and changes_nothing(name, kernel, module))
    ]
    assert missed == []
