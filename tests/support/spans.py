"""Cases of the kernels of spans: bodies at random, and a cylinder between two points of which the places are chosen."""

import numpy as np
from scipy.spatial.transform import Rotation

from runtime.dynamics.layout import P, R, V
from tests.support.force_kernels import Case
from tests.support.modules import PATH_MODULES
from tests.support.motions import rotation_matrix

SPANS = {module.NAME: module for module in PATH_MODULES}
RADIUS, LENGTH = 0.3, 2.0
# Places of both ends along the axis of the cylinder, from its centre: across the axis as distance and angle from n_k [rad].
TOUCHING = ((0.7, -1.3, -0.4), (0.5, 1.1, 0.5))
# The second cylinder, in axes of the first: its centre, radius, and axes (n_l, across both, a_l).
CENTRE, SECOND, TURN = np.array([0.05, 1.4, 0.1]), 0.25, Rotation.from_euler("xyz", [0.3, -0.25, 0.1]).as_matrix()
OVER_BOTH = ((0.82, -1.33, -0.3), (2.2, 1.75, 0.6))


class Span(Case):
    """A span of the definitions, at random states of its bodies; ``ends``: (distance, angle, along the axis) of both points."""

    def __init__(self, name, seed, ends=None, **values):
        self.module = SPANS[name]
        rng = np.random.default_rng(seed)
        self.count = len(self.module.BODIES)
        ends = ends or (OVER_BOTH if name == "two_cylinders" else TOUCHING)
        self.states = np.zeros((self.count, 13))
        self.states[:, R:P] = 0.5 * rng.normal(size=(self.count, 3))
        p = rng.normal(size=(self.count, 4))
        self.states[:, P:V] = p / np.linalg.norm(p, axis=1)[:, None]
        self.states[:, V:] = rng.normal(size=(self.count, 6))
        self.axes, self.centre = np.linalg.qr(rng.normal(size=(3, 3)))[0], 0.2 * rng.normal(size=3)
        self.axes[:, 1] *= np.linalg.det(self.axes)  # columns: n_k, across both, a_k
        self.ends = [np.array([d * np.cos(angle), d * np.sin(angle), z]) for d, angle, z in ends]
        places = dict(zip(("s_i", "s_j"), (self.centre + self.axes @ end for end in self.ends), strict=True))
        places |= {"s_k": self.centre, "n_k": self.axes[:, 0], "a_k": self.axes[:, 2]}
        second = self.axes @ TURN
        places |= {"s_l": self.centre + self.axes @ CENTRE, "n_l": second[:, 0], "a_l": second[:, 2]}
        self.local = {}
        for vector, kind, body in self.module.VECTORS:
            state = self.states["ijkl".index(body)]
            offset = state[R:P] if kind == "point" else 0.0
            self.local[vector] = rotation_matrix(state[P:V]).T @ (places[vector] - offset)
        self.values = {"radius": RADIUS, "length": LENGTH, "first_radius": RADIUS, "second_radius": SECOND}
        self.values |= {
            "first_length": LENGTH,
            "second_length": LENGTH,
            "first_sided": 0.0,
            "second_sided": 0.0,
        } | values
        self.values = {name: self.values[name] for name, _ in self.module.PARAMETERS}

    def x(self, states):
        vectors = [
            rotation_matrix(states["ijkl".index(body), P:V]) @ self.local[vector]
            for vector, _, body in self.module.VECTORS
        ]
        return np.concatenate([*vectors, list(self.values.values())])

    def run(self, states=None, module=None, kernel="span"):
        """Length, its rate, and force and moment of a unit tension on each body; or the kinks."""
        states, module = self.states if states is None else states, module or self.module
        out = np.full(module.KINKS if kernel == "kinks" else 2 + 6 * self.count, np.nan)
        function = getattr(module, kernel)
        getattr(function, "py_func", function)(*states, self.x(states), out)
        return out

    def tangent(self, module=None):
        function = (module or self.module).span_tangent
        out = np.full((2 + 6 * self.count, 12 * self.count), np.nan)
        getattr(function, "py_func", function)(*self.states, self.x(self.states), np.eye(12 * self.count), out)
        return out
