"""Random trees of all kinds of joints, from the ground or floating, of one to eight bodies."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.random.mechanism import GROUND, Mechanism
from benchmarks.random.planar import Random, log_uniform, unit
from benchmarks.random.spatial import random_axis, start

KINDS = (
    "spherical", "revolute", "cylindrical", "translational", "universal", "modified_universal", "fixed", "constant_angle",
    "constant_distance", "point_on_line", "point_on_plane",
)  # fmt: skip


def tree(random: Random, *, most: int = 8, plain: bool = False) -> Mechanism:
    """Bodies of all sizes and masses on each other, each by a joint of any kind; ``plain``: of like masses, in metres."""
    scale = log_uniform(random, 1e-3, 1e3) if random.random() < 0.2 and not plain else 1.0
    m = start(random, scale)
    wild = 1e3 if random.random() < 0.2 and not plain else 1.0
    tips = {GROUND: np.zeros(3)}
    for n in range(int(random.integers(1, most + 1))):
        parent = str(random.choice(list(tips)))
        near, name = tips[parent], f"body_{n}"
        far = near + scale * random.uniform(0.2, 1.0) * random_axis(random)
        semi = scale * random.uniform(0.05, 0.3, 3)
        mass = log_uniform(random, 1 / wild, wild) if wild > 1 else random.uniform(0.3, 3.0)
        A = Rotation.random(random_state=int(random.integers(2**31))).as_matrix()
        m.body(name, mass, mass / 5 * (semi @ semi - semi**2), near + random.uniform(0.2, 0.8) * (far - near), A)
        add(m, random, f"joint_{n}", parent, name, near)
        tips[name] = far
    return m


def add(m: Mechanism, random: Random, name: str, i: str, j: str, at: object) -> None:
    """A joint of any kind at a point, with random axes."""
    kind = str(random.choice(KINDS))
    a, b = random_axis(random), random_axis(random)
    axis_j = None
    if kind in ("universal", "modified_universal", "constant_angle"):
        axis_j = unit(np.cross(a, b)) if random.random() < 0.7 else b
    if random.random() < 0.5:
        i, j = j, i
    far = None
    if kind in ("modified_universal", "constant_distance"):
        far = at + m.size * random.uniform(0.1, 0.5) * unit(np.cross(a, b) + 0.5 * random_axis(random))  # type: ignore[operator]
    elif kind in ("cylindrical", "translational", "point_on_line"):
        far = at + m.size * random.uniform(-0.3, 0.3) * a  # type: ignore[operator]
    elif kind == "point_on_plane":
        far = at + m.size * random.uniform(-0.3, 0.3) * unit(np.cross(a, b))  # type: ignore[operator]
    m.joint(name, kind, i, j, at=at, at_j=far, axis=a, axis_j=axis_j)  # type: ignore[arg-type]
