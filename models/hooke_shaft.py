"""Two shafts joined by a Hooke joint: tan(out) = tan(in) cos(bend)."""

from __future__ import annotations

import numpy as np

from runtime import GROUND, Builder, ModelError, System
from runtime.support import Usual, checked, positive, usual


@checked
@usual(
    speed=Usual(0.0, 1e5, "rad/s", "the speed of a shaft"),
    length=Usual(1e-3, 100.0, "m", "the length of a shaft"),
    mass=Usual(1e-6, 1e5, "kg", "the mass of a shaft"),
    radius=Usual(1e-5, 10.0, "m", "the radius of a shaft"),
)
def build(
    *,
    bend: float = np.deg2rad(30.0),
    speed: float = 10.0,
    length: float = 0.3,
    mass: float = 1.0,
    radius: float = 0.02,
    check_units: bool = True,
) -> System:
    """Build the shafts ``input``, along x, and ``output``, inclined by ``bend`` in the x-y plane; both turn freely.

    Parameters
    ----------
    bend : float [rad]
        Angle between the shafts, between 0 and pi/2.
    speed : float [rad/s]
        Initial speed of the input shaft; that of the output shaft follows from the joint.
    length, mass, radius : float [m], [kg], [m]
        Of each shaft, a solid cylinder.
    check_units : bool
        Warn of values that were probably given in another unit.

    Raises
    ------
    ModelError
        For a bend outside its range, and a length or radius that is not positive.
    """
    if not 0.0 <= bend < np.pi / 2:
        raise ModelError(f"bend = {bend:g} rad must be at least 0 and below pi/2")
    length, radius = positive(length, "length"), positive(radius, "radius")
    along, across = 0.5 * mass * radius**2, mass * (3 * radius**2 + length**2) / 12.0
    b = Builder("Hooke joint between two shafts", gravity=(0.0, 0.0, 0.0))
    half = length / 2
    d = np.array([np.cos(bend), np.sin(bend), 0.0])
    b.body("input", mass=mass, inertia=(along, across, across), r=(-half, 0, 0), omega=(speed, 0, 0))
    p = (np.cos(bend / 2), 0.0, 0.0, np.sin(bend / 2))
    # Both shafts turn equally about the normal of both arms of the cross, which is -d here.
    omega = speed * np.cos(bend) * d
    b.body("output", mass=mass, inertia=(along, across, across), r=half * d, p=p, omega=omega)
    b.joint(
        "input_bearing",
        "revolute",
        GROUND,
        "input",
        s_i=(-length, 0, 0),
        a_i=(1, 0, 0),
        s_j=(-half, 0, 0),
        a_j=(1, 0, 0),
    )
    # The cross: its arm on the input shaft along z, on the output shaft in the plane of the shafts.
    b.joint("hooke", "universal", "input", "output", s_i=(half, 0, 0), a_i=(0, 0, 1), s_j=(-half, 0, 0), a_j=(0, 1, 0))
    # The Hooke joint already fixes the near end: the output bearing only keeps the far end on a line.
    b.joint("output_bearing", "point_on_line", GROUND, "output", s_i=(0, 0, 0), a_i=d, s_j=(half, 0, 0))
    return b.build(check_units=check_units)
