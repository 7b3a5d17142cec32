"""One joint between two bodies in motion: its inputs, and its kernels called as Python functions."""

import cmath
import inspect
from functools import cache
from types import FunctionType, SimpleNamespace

import numpy as np

from tests.support.definitions import DEFINITIONS, module_of
from tests.support.motions import Motion, derivatives, polynomial, rotation_matrix, turned, unit


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
        "reference": (3 * sum(v[1].startswith("carried") for v in module.VECTORS) + module.HELD + module.BRANCH_SIGNS,),
        "evaluate": ((m,), (m,), (m, 12), (m,)),
    }


class Setting:
    """Numbers of one joint: its body-fixed vectors in body axes, parameters, held constants and signals.

    A list of polynomial coefficients stands for each signal.
    """

    def __init__(self, module, rng, given=()):
        self.module = module
        self.local = {}
        for name, kind, _ in module.VECTORS:
            if name in given:
                self.local[name] = np.asarray(given[name])
            elif kind == "frame":
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

    def hold(self, body_i, body_j):
        """Held constants and carried vectors are those of this configuration, as the runtime takes them."""
        A = {"i": rotation_matrix(body_i[3:7]), "j": rotation_matrix(body_j[3:7])}
        carried = [(name, body) for name, kind, body in self.module.VECTORS if kind.startswith("carried")]
        for _ in range(2):  # a held value may use a carried vector
            out = call(
                self.module.reference,
                body_i,
                body_j,
                self.x(body_i, body_j),
                3 * len(carried) + len(self.held) + self.module.BRANCH_SIGNS,
            )
            for k, (name, body) in enumerate(carried):
                self.local[name] = A[body].T @ out[3 * k : 3 * k + 3]
        self.held = out[3 * len(carried) :][: self.module.HELD]

    def take_reference(self, body_i, body_j):
        """``hold``; parameters and signals become such that the rows which hold any of them vanish in this configuration."""
        self.hold(body_i, body_j)
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
