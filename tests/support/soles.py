"""A sole with known parameters, and the synthetic trial with the force that it makes."""

from dataclasses import replace

import numpy as np

from models.walking import Floor, predict_ground_force, scale_sole, synthetic
from models.walking.sole import ARCH

ALIKE = ("stiffness", "loss", "height")


def with_force_of(one, sole):
    """The trial with the force that a sole makes along its motion."""
    p = predict_ground_force(one, sole, Floor())
    ground = replace(one.ground, t=one.t, force=p.force, cop=p.cop, free_moment=np.zeros(len(one.t)), surface=0.0)
    return replace(one, ground=ground)


def scaled_and_known_sole():
    """The scaled sole of the synthetic subject, and one all of whose spheres touch, each with its own stiffness."""
    person = synthetic.subject()
    sole, rng = scale_sole(person), np.random.default_rng(3)
    changes = {
        name: dict(
            stiffness=6e4 * float(np.exp(rng.normal(0.0, 0.3))), loss=0.3,
            centre=sphere.centre + (0.0, 0.0, (-0.012 if name in ARCH else -0.002) + rng.normal(0.0, 0.001)),
        )
        for name, sphere in sole.spheres.items()
    }  # fmt: skip
    return sole, sole.with_spheres(changes)
