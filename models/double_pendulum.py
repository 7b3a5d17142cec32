"""Two rods on ball joints: the spatial double pendulum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from runtime import GROUND, Builder, ModelError, System
from runtime.support import DOWN, Usual, checked, finite, usual


@checked
@usual(
    lengths=Usual(1e-3, 100.0, "m", "the length of a pendulum"),
    masses=Usual(1e-6, 1e5, "kg", "the mass of a pendulum"),
    omega=Usual(0.0, 1e4, "rad/s", "the angular velocity of a pendulum"),
    gravity=Usual(1e-3, 300.0, "m/s^2", "gravity"),
)
def build(
    *,
    lengths: tuple[float, float] = (0.5, 0.4),
    masses: tuple[float, float] = (1.0, 0.8),
    omega: ArrayLike = (0.0, 0.0, 2.0),
    gravity: ArrayLike = DOWN,
    check_units: bool = True,
) -> System:
    """Build the rods ``upper`` and ``lower``, initially along x and y, both with the angular velocity omega [rad/s].

    lengths [m], masses [kg]; slender rods of diameter length / 15; gravity [m/s^2].
    check_units: False gives no warning of values that were probably given in another unit.

    Raises
    ------
    ModelError
        For lengths that are not positive, or a malformed omega.
    """
    l1, l2 = lengths
    if not (0.0 < l1 < np.inf and 0.0 < l2 < np.inf):
        raise ModelError(f"lengths = {lengths} m must be finite and above 0 m")
    omega = finite(omega, (3,), "omega")
    b = Builder("spatial double pendulum", gravity=gravity)
    centres = {"upper": (l1 / 2, 0.0, 0.0), "lower": (l1, l2 / 2, 0.0)}
    for name, m, l, along in (("upper", masses[0], l1, 0), ("lower", masses[1], l2, 1)):
        radius = l / 30.0
        moments = [m * (l**2 + 3 * radius**2) / 12.0] * 3
        moments[along] = m * radius**2 / 2.0
        v = np.cross(omega, centres[name])
        b.body(name, mass=m, inertia=moments, r=centres[name], omega=omega, v=v)
    b.joint("shoulder", "spherical", GROUND, "upper", s_i=(0, 0, 0), s_j=(-l1 / 2, 0, 0))
    b.joint("elbow", "spherical", "upper", "lower", s_i=(l1 / 2, 0, 0), s_j=(0, -l2 / 2, 0))
    return b.build(check_units=check_units)
