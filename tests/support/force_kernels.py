"""Cases of the kernels of forces: four bodies at random, and the inputs of one force in their configuration."""

import inspect

import numpy as np

from codegen import Vector, coordinate_limits, forces, joint_friction
from runtime.dynamics.force_elements import REPORTS
from runtime.dynamics.layout import OMEGA, P, R, V
from runtime.system.force_building import table_pieces
from tests.support.modules import FORCE_MODULES
from tests.support.motions import rotation_matrix
from tests.support.vectors import turned

FORCES = {module.NAME: module for module in FORCE_MODULES if not module.LOADS}
REACTIVE = {
    module.NAME: module for module in FORCE_MODULES if module.LOADS
}  # with normal loads, by the reaction of a joint
TABLE = np.column_stack([[0.5, 1.0, 1.6, 2.4, 3.5, 5.0, 9.0], [0.0, 3.0, 10.0, 31.0, 60.0, 62.0, 40.0]])
# Values at which kinks are away: an extended cable, a stop that is pressed in.
VALUES = {
    "slack_length": 0.3,
    "clearance": 4.0,
    "loss": 0.05,
    "exponent": 1.4,
    "free_angle": 0.2,
    "middle": 0.2,
    "half_range": 0.05,
    "transition": 4.0,
}


def _definition(name):
    return next(getattr(one, name) for one in (forces, coordinate_limits, joint_friction) if hasattr(one, name))


class Case:
    """A force of the definitions, at random states of its bodies."""

    def __init__(self, name, seed, **values):
        self.module, self.before = (FORCES | REACTIVE)[name], 6.0  # [rad] angles before: a revolution
        rng = np.random.default_rng(seed)
        self.states = np.zeros((4, 13))
        self.states[:, R:P] = rng.normal(size=(4, 3)) * 0.5 + np.arange(4)[:, None]
        p = rng.normal(size=(4, 4)) * 0.2 + [1, 0, 0, 0]
        self.states[:, P:V] = p / np.linalg.norm(p, axis=1)[:, None]
        self.states[:, V:] = rng.normal(size=(4, 6))
        self.count = 4 if any(body in "kl" for _, _, body in self.module.VECTORS) else 2
        self.local = {}
        for vector, kind, _ in self.module.VECTORS:
            value = 0.3 * rng.normal(size=3)
            self.local[vector] = value if kind == "point" else value / np.linalg.norm(value)
        frame = dict(zip(("xi", "eta", "zeta"), np.eye(3), strict=True))
        for vector, kind, _ in self.module.VECTORS:
            if kind == "frame":
                self.local[vector] = frame[vector.split("_")[0]]
            elif kind.startswith("across"):
                a = self.local[kind.split(":")[1]]
                b = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
                b /= np.linalg.norm(b)
                self.local[vector] = b if kind[6] == "1" else np.cross(a, b)
            elif kind.startswith("carried"):  # near the direction that it coincides with in the reference configuration
                k = int(kind.split(":")[1])
                near = self.local["across1_a_i"] if name == "torsional_spring" else np.eye(3)[k]
                self.local[vector] = (near + 0.2 * rng.normal(size=3)) / 1.1
        self.values = {key: VALUES.get(key, rng.uniform(0.5, 2.0)) for key, _ in self.module.PARAMETERS} | values
        self.loads = rng.uniform(1.0, 3.0, size=self.module.LOADS)
        self.reaction = rng.normal(size=6)  # force and moment about the centre of mass on body j

    def x(self, states):
        own = np.zeros(max(self.module.SIZE, 1))
        for n, (vector, _, body) in enumerate(self.module.VECTORS):
            own[3 * n : 3 * n + 3] = rotation_matrix(states["ijkl".index(body), P:V]) @ self.local[vector]
        start = 3 * len(self.module.VECTORS)
        own[start : start + len(self.values)] = list(self.values.values())
        own[start + len(self.values) : start + len(self.values) + self.module.ANGLES] = self.before
        if self.module.LOADS:
            own[self.module.LOADS_PLACE :] = [*self.loads, *self.reaction]
        if self.module.TABLES:
            looked = np.zeros(len(self.module.TABLES))
            self.module.lookups.py_func(*states[: self.count], own, looked)
            own[self.module.TABLES_PLACE : self.module.TABLES_PLACE + 4] = looked_up(looked[0])
        return own

    def run(self, states=None, module=None):
        """The outputs of ``evaluate``: wrench (24,), potential, reported quantities."""
        states, module = self.states if states is None else states, module or self.module
        out = np.full(REPORTS + len(self.module.OUTPUTS), np.nan)
        getattr(module.evaluate, "py_func", module.evaluate)(*states[: self.count], self.x(states), out)
        return out

    def tangent(self, module=None):
        module = module or self.module
        out = np.full((6 * self.count, 12 * self.count), np.nan)
        kernel = getattr(module.tangent, "py_func", module.tangent)
        kernel(*self.states[: self.count], self.x(self.states), np.eye(12 * self.count), out)
        return out

    def moved(self, direction, step):
        """The states after a step along one of the 12 directions of each body."""
        states, (body, k) = self.states.copy(), divmod(direction, 12)
        if k < 3:
            states[body, k] += step
        elif k < 6:
            states[body, P:V] = turned(states[body, P:V], step * np.eye(3)[k - 3])
        else:
            states[body, V + k - 6] += step
        return states

    def slopes(self, outputs=slice(None), h=1e-3):
        """Differences of order six of the outputs along every direction (outputs, 12 bodies)."""

        def slope(direction):
            a, b, c = (
                (self.run(self.moved(direction, s)) - self.run(self.moved(direction, -s)))[outputs] / (2 * s)
                for s in (h, h / 2, h / 4)
            )
            return (a - 20 * b + 64 * c) / 45

        return np.column_stack([slope(direction) for direction in range(12 * self.count)])

    def defined(self):
        """What the definition returns for these numbers, with rates and forces along coordinates left out."""
        own = self.x(self.states)
        x = {name: own[3 * n : 3 * n + 3] for n, (name, *_) in enumerate(self.module.VECTORS)}
        arguments = {}
        for name in inspect.signature(_definition(self.module.NAME)).parameters:
            body = "ijkl".find(name[-1])
            if name in x:
                arguments[name] = Vector(*x[name])
            elif name.startswith(("r_", "omega_")):
                start = R if name.startswith("r_") else OMEGA
                arguments[name] = Vector(*self.states[body, start : start + 3])
            else:
                arguments[name] = self.values.get(name)
        carried = iter(Vector(*x[name]) for name in x if name.startswith("carried"))
        across = [Vector(*x[name]) for name in x if name.startswith("across")]
        operators = dict(
            coordinate=lambda c: c, rate=lambda c: 0.0 * c, along=lambda c: 0.0 * c, carried=lambda v: next(carried),
            across=lambda a: across, tension_table=Curve(), moment_table=Curve(),
        )  # fmt: skip
        arguments |= {name: operator for name, operator in operators.items() if name in arguments}
        return _definition(self.module.NAME)(**arguments)

    @property
    def twist(self):
        return self.states[: self.count, V : OMEGA + 3].ravel()


def looked_up(x):
    """Integral, value and two derivatives of the curve through ``TABLE``."""
    knots, c = table_pieces(TABLE)
    k = max(0, int(np.searchsorted(knots, x, side="right")) - 1)
    polynomial = np.polynomial.Polynomial(c[k])
    return [polynomial.deriv(order)(x - knots[k]) if order else polynomial(x - knots[k]) for order in range(4)]


class Curve:
    """The curve through ``TABLE``, as a definition calls it."""

    def __call__(self, x):
        return looked_up(float(x))[1]

    def integral(self, x):
        return looked_up(float(x))[0]
