"""Cases of the kernels of points of paths: three bodies at random, and a hinge of two of them that is at a given angle."""

from copy import copy

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from runtime.dynamics.layout import P, R, V
from tests.support.force_kernels import Case
from tests.support.modules import POINT_MODULES
from tests.support.motions import rotation_matrix

POINTS = {module.NAME: module for module in POINT_MODULES}
RANGE = -0.7, 1.1  # [rad]
KNOTS = np.array([-0.7, -0.1, 0.4, 1.1])
TABLES = {"xi_table": ([0.1, 0.3, 0.2, 0.2], [0.2, 0.1, -0.3, 0.4]), "eta_table": ([0.0, 0.1, 0.1, 0.3], [0.3, 0.0, 0.2, 0.5]),
          "zeta_table": ([0.2, -0.1, 0.0, 0.1], [-0.2, 0.3, 0.1, -0.1])}  # fmt: skip


def curve(table):
    """The cubics through values with slopes."""
    return CubicHermiteSpline(KNOTS, *TABLES[table])


class Point(Case):
    """A point of the definitions at random states of its bodies, of which j and k are at an angle [rad]."""

    def __init__(self, name, seed, angle=0.3, before=0.0, limits=RANGE):
        self.module, self.count, self.before, self.limits = POINTS[name], 3, before, limits
        rng = np.random.default_rng(seed)
        self.states = np.zeros((3, 13))
        self.states[:, R:P] = 0.5 * rng.normal(size=(3, 3))
        p = rng.normal(size=(3, 4))
        self.states[:, P:V] = p / np.linalg.norm(p, axis=1)[:, None]
        self.states[:, V:] = rng.normal(size=(3, 6))
        self.force = rng.normal(size=3)
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        a, b = axes[:, 0], axes[:, 1]
        c = np.cos(angle) * b + np.sin(angle) * np.cross(a, b)  # and out of the plane, which does not change the angle
        vectors = {"a_j": a, "b_j": b, "c_k": (c + 0.75 * a) / 1.25, "s_i": 0.3 * rng.normal(size=3)}
        A = {body: rotation_matrix(state[P:V]) for body, state in zip("ijk", self.states, strict=True)}
        frame = dict(zip(("xi_i", "eta_i", "zeta_i"), np.eye(3), strict=True))
        self.local = {
            v: frame[v] if kind == "frame" else vectors[v] if kind == "point" else A[body].T @ vectors[v]
            for v, kind, body in self.module.VECTORS
        }

    def x(self, states):
        vectors = [rotation_matrix(states["ijk".index(b), P:V]) @ self.local[v] for v, _, b in self.module.VECTORS]
        own = np.concatenate([*vectors, self.limits, [self.before], self.force, np.zeros(4 * len(self.module.TABLES))])
        for n, table in enumerate(self.module.TABLES):
            at = np.full(len(self.module.TABLES), np.nan)
            self.module.lookups.py_func(*states, own, at)
            own[self.module.SIZE + 4 * n + 1 :][:3] = [curve(table)(at[n], order) for order in range(3)]
        return own

    def run(self, states=None, module=None, kernel="point"):
        """Place, its velocity, and whether the point belongs to the path; or what another kernel gives."""
        states, module = self.states if states is None else states, module or self.module
        kinks = module.KINKS + len(module.TABLES)  # with the roundings of the arguments of tables
        out = np.full({"point": 7, "pull": 18, "kinks": kinks, "angles": 1, "reference": 1}[kernel], np.nan)
        getattr(module, kernel).py_func(*states, self.x(states), out)
        return out

    def differences(self, kernel):
        """Derivatives of what a kernel gives along the 12 directions of each body, by differences of order six."""
        other = copy(self)
        other.run = lambda states: self.run(states, kernel=kernel)
        return other.slopes()

    def tangent(self, kernel):
        """Derivatives along the 12 directions of each body, and of ``pull`` along the components of the force."""
        out = np.full((7 if kernel == "point" else 18, 39), np.nan)
        getattr(self.module, f"{kernel}_tangent").py_func(*self.states, self.x(self.states), np.eye(39), out)
        return out
