"""Cases of the kernels of spans: bodies at random, and a cylinder between two points of which the places are chosen."""

import numpy as np

from runtime.dynamics.layout import P, R, V
from tests.support.force_kernels import Case
from tests.support.modules import PATH_MODULES
from tests.support.motions import rotation_matrix

SPANS = {module.NAME: module for module in PATH_MODULES}
RADIUS, LENGTH = 0.3, 2.0
# Places of both ends along the axis of the cylinder, from its centre: across the axis as distance and angle from n_k [rad].
TOUCHING = ((0.7, -1.3, -0.4), (0.5, 1.1, 0.5))


class Span(Case):
    """A span of the definitions, at random states of its bodies; ``ends``: (distance, angle, along the axis) of both points."""

    def __init__(self, name, seed, ends=TOUCHING, **values):
        self.module = SPANS[name]
        rng = np.random.default_rng(seed)
        self.count = 3 if any(body == "k" for _, _, body in self.module.VECTORS) else 2
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
        self.local = {}
        for vector, kind, body in self.module.VECTORS:
            state = self.states["ijk".index(body)]
            offset = state[R:P] if kind == "point" else 0.0
            self.local[vector] = rotation_matrix(state[P:V]).T @ (places[vector] - offset)
        self.values = {"radius": RADIUS, "length": LENGTH} | values
        self.values = {name: self.values[name] for name, _ in self.module.PARAMETERS}

    def x(self, states):
        vectors = [
            rotation_matrix(states["ijk".index(body), P:V]) @ self.local[vector]
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
