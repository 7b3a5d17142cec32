"""The sole of a foot over a plane: nine spheres, their law of contact and the plane, shared by the models of a foot.

Spheres and law: Moreira et al. (2011), Table 2, Eqs. (11) and (14).  The paper does not locate its frames in the bodies: the
spheres are shifted along xi until they fit the bodies of Rodrigues da Silva et al. (2024c); and the printed stiffness of 40 is
read with the unit that matches measured heel pads, N/mm^1.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from models.foot_anatomy import KEPT, PUBLISHED_SIZE, Side, Size, mirrored
from runtime import Builder, ModelError
from runtime.support import Usual, checked
from runtime.support.arrays import Floats, read_only

Shape = Literal["normal", "cavus", "flat"]
Friction = Literal["coulomb", "smooth"]
Spheres = dict[str, tuple[str, Floats, float]]

# Moreira et al. (2011), Table 2 [mm]: xi, eta, zeta of the centre, and the radius, in the paper's frames.  Sphere 1 lies inside
# sphere 2, so one of the two is misprinted; the paper does not allow to decide which value is wrong.
SPHERES_MM = {
    "main_foot": (
        (-94.70, 0.00, -15.34, 30.81), (-94.70, 0.00, -15.89, 39.53), (-75.20, 0.00, -22.89, 31.10),
        (0.00, 0.00, -25.89, 15.10), (26.97, 0.00, -32.36, 12.94), (56.09, 0.00, -34.52, 15.10),
    ),
    "toes": ((-22.70, 0.00, -15.10, 12.94), (0.00, 0.00, -17.26, 10.78), (21.60, 0.00, -12.94, 10.79)),
}  # fmt: skip
# Shift from those frames to the centres of mass of ``models.foot`` [mm], inferred: it places the heel and the toe joint.
FORWARD_MM = {"main_foot": 43.53, "toes": 19.91}
# Upward shift of the spheres of the arch, by their numbers [mm].  The paper draws both feet and prints no values; assumed are
# an arch 8 mm higher (cavus), and an arch lowered to the plane of heel and ball (flat).
SHAPES_MM: Mapping[str, Mapping[int, float]] = {
    "normal": {},
    "cavus": {4: 8.0, 5: 8.0},
    "flat": {4: -10.8, 5: -5.4},
}
STIFFNESS = 40.0 * 1000.0**1.5  # [N/m^1.5] 40 N/mm^1.5
EXPONENT, DAMPING = 1.5, 300.0  # [1], [N s/m]
MU_C, MU_D = 1.0, 3.0  # [1], [N s/m]
TRANSITION_VELOCITY = 1e-3  # [m/s]
SHAPE_NAMES, FRICTIONS = tuple(SHAPES_MM), ("coulomb", "smooth")
STIFFNESSES = Usual(1.0, 1e10, "N/m^1.5", "the stiffness of a sole")
DAMPINGS = Usual(1e-6, 1e6, "N s/m", "the damping of a sole")


class Ground(NamedTuple):
    """A plane through the origin, and the contact of a sole with it.

    ``incline_deg`` from the horizontal; ``descent_deg``: direction in which the plane descends, from anterior towards medial.
    """

    shape: Shape = "normal"
    friction: Friction = "coulomb"
    mu_c: float = MU_C
    mu_d: float = MU_D
    stiffness: float = STIFFNESS
    damping: float = DAMPING
    transition_velocity: float = TRANSITION_VELOCITY
    incline_deg: float = 0.0
    descent_deg: float = -90.0
    side: Side = "right"

    @property
    def normal(self) -> Floats:
        """Unit normal of the plane, upwards, (3,)."""
        return normal_of(self.incline_deg, self.descent_deg, self.side)

    def add(self, b: Builder, size: Size) -> None:
        """Add the contacts ``sphere_1`` .. ``sphere_9``."""
        for name, (body, centre, radius) in sole(self.shape, size).items():
            b.contact(
                name, body, centre=centre, radius=radius, normal=self.normal, law="kelvin_voigt", stiffness=self.stiffness,
                exponent=EXPONENT, damping=self.damping, friction=self.friction, mu_c=self.mu_c, mu_d=self.mu_d,
                transition_velocity=self.transition_velocity,
            )  # fmt: skip

    def lowest(self, size: Size, poses: Mapping[str, tuple[Floats, Floats]]) -> float:
        """Least distance of a sphere from the plane [m]; ``poses``: centre of mass (3,) and rotation matrix (3, 3) of bodies."""
        return min(
            float(self.normal @ (poses[body][0] + poses[body][1] @ centre)) - radius
            for body, centre, radius in sole(self.shape, size).values()
        )


@lru_cache(KEPT)
def normal_of(incline_deg: float, descent_deg: float, side: Side) -> Floats:
    """``Ground.normal``, read-only."""
    if not -90.0 < incline_deg < 90.0:
        raise ModelError(
            f"incline_deg = {incline_deg:g} degrees must lie between -90 and 90 degrees, ends excluded; a level ground has 0"
        )
    if not np.isfinite(descent_deg):
        raise ModelError(f"descent_deg = {descent_deg!r} must be a finite number")
    slope, towards = np.deg2rad([incline_deg, descent_deg])
    s = np.sin(slope)
    normal: Floats = read_only(mirrored((s * np.cos(towards), s * np.sin(towards), np.cos(slope)), side))
    return normal


@checked
def spheres(shape: Shape = "normal") -> Spheres:
    """Body, centre relative to its centre of mass (3,) [m] and radius [m] of ``sphere_1`` .. ``sphere_9``, heel to toe tip."""
    return {name: (body, centre.copy(), radius) for name, (body, centre, radius) in sole(shape, PUBLISHED_SIZE).items()}


@lru_cache(KEPT)
def sole(shape: Shape, size: Size) -> Spheres:
    """``spheres`` of a foot of this size, read-only."""
    found: Spheres = {}
    for body, rows in SPHERES_MM.items():
        for *centre, radius in rows:
            number = len(found) + 1
            moved = np.array(centre) + (FORWARD_MM[body], 0.0, SHAPES_MM[shape].get(number, 0.0))
            found[f"sphere_{number}"] = body, read_only(moved / 1000.0 * size.foot), radius / 1000.0 * size.foot
    return found
