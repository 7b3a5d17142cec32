"""A free rigid body; Euler's equations have a closed solution in Jacobi's elliptic functions."""

from __future__ import annotations

from numpy.typing import ArrayLike

from runtime import Builder, System


def build(
    *,
    mass: float = 1.0,
    inertia: ArrayLike = (0.02, 0.05, 0.06),
    omega: ArrayLike = (1.0, 3.0, 0.5),
    v: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = (0.0, 0.0, 0.0),
) -> System:
    """Build one body, ``body``, without joints: mass [kg], principal inertia [kg m^2], omega [rad/s], v [m/s]."""
    b = Builder("free body", gravity=gravity)
    b.body("body", mass=mass, inertia=inertia, omega=omega, v=v, free=True)
    return b.build()
