"""A free rigid body; Euler's equations have a closed solution in Jacobi's elliptic functions."""

from __future__ import annotations

from numpy.typing import ArrayLike

from runtime import Builder, System
from runtime.support import Usual, checked, usual


@checked
@usual(
    mass=Usual(1e-9, 1e9, "kg", "the mass of a body"),
    omega=Usual(0.0, 1e6, "rad/s", "the angular velocity of a body"),
    v=Usual(0.0, 1e5, "m/s", "the speed of a body"),
    gravity=Usual(1e-3, 300.0, "m/s^2", "gravity"),
)
def build(
    *,
    mass: float = 1.0,
    inertia: ArrayLike = (0.02, 0.05, 0.06),
    omega: ArrayLike = (1.0, 3.0, 0.5),
    v: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    check_units: bool = True,
) -> System:
    """Build one body, ``body``, without joints: mass [kg], principal inertia [kg m^2], omega [rad/s], v [m/s].

    check_units: False gives no warning of values that were probably given in another unit.
    """
    b = Builder("free body", gravity=gravity)
    b.body("body", mass=mass, inertia=inertia, omega=omega, v=v, free=True)
    return b.build(check_units=check_units)
