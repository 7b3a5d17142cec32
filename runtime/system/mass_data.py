"""Masses and inverse inertias of bodies for the flat data of a system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runtime.support.arrays import Floats, Ints
from runtime.system.parts import Body, Joint

MASS_DATA = ("inertia_inverse", "thin_body", "thin")  # of the data, in the order of ``mass_data``
MassData = tuple[Floats, Ints, Floats]  # these
THIN = 1e-6  # a moment of inertia below this fraction of the body's largest counts as thin
ADDED = (
    1e-2,
    1e-3,
    1e-4,
    1e-5,
    1e-6,
)  # moments of M + E in those rotations, as fractions of the largest; tried in this order


def mass_data(bodies: Sequence[Body], joints: Sequence[Joint], added: float = ADDED[0]) -> MassData:
    """Inverse inertia of the ground and of all bodies (bodies + 1, 3, 3), thin bodies, and (J + E)^-1 E of these.

    ``added``: smallest moment of inertia of M + E of a thin body, as a fraction of its largest.
    """
    inertia = np.array([np.eye(3), *(body.inertia for body in bodies)])
    moments, axes = np.linalg.eigh(inertia)
    sizes = [
        m if m > 0.0 else body.mass * _arm(body, joints) ** 2 for body, m in zip(bodies, moments[1:, 2], strict=True)
    ]
    scale = np.array([1.0, *sizes])[:, None]
    (thin_body,) = np.nonzero(moments[:, 0] < THIN * scale[:, 0])
    lifted = np.where(moments < THIN * scale, added * scale, moments)[thin_body]
    axes = axes[thin_body]
    inertia[thin_body] = np.eye(3)
    inverse = np.linalg.inv(inertia)
    inverse[thin_body] = (axes / lifted[:, None]) @ np.swapaxes(axes, 1, 2)
    return (
        inverse,
        thin_body,
        (axes * (lifted - moments[thin_body])[:, None] / lifted[:, None]) @ np.swapaxes(axes, 1, 2),
    )


def _arm(body: Body, joints: Sequence[Joint]) -> float:
    """The longest arm of a body's joints, 1 m if it has none: a length for a point mass."""
    arms = [
        float(np.linalg.norm(joint.values[name]))
        for joint in joints
        for name, kind, end in joint.module.VECTORS
        if kind == "point" and body.name == (joint.body_i if end == "i" else joint.body_j)
    ]
    return max(arms, default=0.0) or 1.0
