"""A sphere on a plane in motion, and its kernels at complex inputs."""

import numpy as np

from generated import contact_sphere_plane
from tests.support.kernels import Setting, python
from tests.support.motions import Motion


def values(kernel, size, *inputs):
    """Outputs of a kernel's Python version, for complex inputs; they are NaN beforehand."""
    out = np.full(size, np.nan, complex)
    python(kernel)(*inputs, out)
    return out


class Contact:
    """A sphere and a plane on random motions, with a belt in the plane."""

    def __init__(self, seed):
        rng = np.random.default_rng([seed, 5])
        self.setting, self.motion = Setting(contact_sphere_plane, rng), Motion(rng)
        across = np.cross(self.setting.local["n_j"], self.setting.local["b_j"])
        self.setting.local["b_j"] = across / np.linalg.norm(across)
        self.states = self.motion.states()
        self.x, self.f = self.setting.x(*self.states), rng.normal(size=4)

    def run(self, kernel, size, *more):
        return values(getattr(contact_sphere_plane, kernel), size, *self.states, self.x, *more).real
