"""The kernels of limits, cones, measures and laws, called as Python functions."""

import inspect
from functools import cache
from types import SimpleNamespace

import numpy as np

from codegen import Vector, limits
from generated import contact_sphere_plane, dispatch, law_cubic, position, separation, top_view
from tests.support.kernels import Setting, python
from tests.support.motions import G, Motion

H = 1e-30  # of the complex step
LIMITS = {module.NAME: module for module in dispatch.LIMITS}
CONES = {module.NAME: module for module in dispatch.CONES}
MEASURES = {"separation": separation, "position": position, "top_view": top_view}
NORMAL_LAWS = {module.NAME: module for module in dispatch.NORMAL_LAWS}
FRICTIONS = {module.NAME: module for module in dispatch.FRICTIONS}
MODULES = LIMITS | CONES | MEASURES | NORMAL_LAWS | FRICTIONS
MODULES |= {"cubic": law_cubic, "sphere_plane": contact_sphere_plane}


def call(kernel, size, *inputs):
    """Outputs of a kernel's Python version, for real or complex inputs; they are NaN beforehand."""
    out = np.full(size, np.nan, np.result_type(*map(np.asarray, inputs), float))
    (python(kernel) if np.iscomplexobj(out) else kernel.py_func)(*inputs, out)
    return out


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
