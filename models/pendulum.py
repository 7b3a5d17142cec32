"""A rod on a pivot: planar (hinge) or spherical."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime import GROUND, Builder, ModelError, System


def build(
    kind: Literal["planar", "spherical"] = "planar",
    *,
    length: float = 0.30,
    mass: float = 3.5,
    inertia: ArrayLike | None = None,
    angle: float = np.pi / 2,
    longitude: float = 0.0,
    omega: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> System:
    """A rod whose upper end is held at the origin.

    Parameters
    ----------
    kind : "planar" or "spherical"
        Hinge about y, or ball joint.
    length, mass : float [m], [kg]
    inertia : (3,) [kg m^2], optional
        Principal moments about the centre of mass, the third along the rod; default: a slender rod of diameter
        length / 15.
    angle : float [rad]
        From the downward vertical.
    longitude : float [rad]
        Of the plane of that angle, about z, from x; the spherical pendulum only.
    omega : (3,) [rad/s]
        Initial angular velocity, global axes; for the planar pendulum along y.
    gravity : (3,) [m/s^2]
    """
    if kind not in ("planar", "spherical"):
        raise ModelError(f"kind = {kind!r}; use 'planar' or 'spherical'")
    if not 0.0 < length < np.inf:
        raise ModelError(f"length = {length:g} m must be finite and above 0 m")
    if np.shape(omega) != (3,):
        raise ModelError(f"omega = {omega!r} rad/s; give three numbers")
    if inertia is None:
        radius = length / 30.0
        across = mass * (length**2 + 3 * radius**2) / 12.0
        inertia = (across, across, mass * radius**2 / 2.0)
    turn = 0.0 if kind == "planar" else longitude
    # First -angle about y, which swings the lower end towards +x, then the longitude about z.
    c, s, cz, sz = np.cos(angle / 2), -np.sin(angle / 2), np.cos(turn / 2), np.sin(turn / 2)
    p = (cz * c, -sz * s, cz * s, sz * c)
    centre = 0.5 * length * np.array([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), -np.cos(angle)])
    b = Builder(f"{kind} pendulum", gravity=gravity)
    b.body("rod", mass=mass, inertia=inertia, r=centre, p=p, omega=omega, v=np.cross(omega, centre))
    end = (0.0, 0.0, 0.5 * length)
    if kind == "planar":
        b.joint("pivot", "revolute", GROUND, "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=end, a_j=(0, 1, 0))
    else:
        b.joint("pivot", "spherical", GROUND, "rod", s_i=(0, 0, 0), s_j=end)
    return b.build()
