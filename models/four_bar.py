"""A planar four-bar linkage, once without redundant rows and once with four hinges."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime import GROUND, Builder, System


def build(
    joints: Literal["independent", "revolute"] = "independent",
    *,
    crank: float = 0.2,
    coupler: float = 0.5,
    rocker: float = 0.4,
    ground: float = 0.5,
    crank_angle: float = np.pi / 3,
    crank_speed: float = 0.0,
    density: float = 2.0,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> System:
    """Bars ``crank``, ``coupler``, ``rocker`` in the x-z plane; hinges ``A`` (ground-crank), ``B``, ``C``, ``D`` (rocker-ground).

    Parameters
    ----------
    joints : "independent" or "revolute"
        Two hinges, a ball joint and a universal joint, whose 17 rows are independent; or four hinges, whose 20 rows hold
        3 redundant ones, removed and named in ``System.redundant``.  The motion is the same.
    crank, coupler, rocker, ground : float [m]
        Lengths of the bars and the distance of the fixed hinges along x.
    crank_angle, crank_speed : float [rad], [rad/s]
        Of the crank from x towards z, and its rate.
    density : float [kg/m]
    gravity : (3,) [m/s^2]
    """
    A, D = np.zeros(2), np.array([ground, 0.0])
    B = crank * np.array([np.cos(crank_angle), np.sin(crank_angle)])
    reach = np.linalg.norm(D - B)
    along = (coupler**2 - rocker**2 + reach**2) / (2 * reach)
    u = (D - B) / reach
    height2 = coupler**2 - along**2
    # Bars that do not reach are left to the assembly, which names the joint that cannot close.
    C = B + along * u + np.sqrt(max(height2, 0.0)) * np.array([-u[1], u[0]])

    b = Builder(f"four-bar linkage, {joints} joints", gravity=gravity)
    bars = {"crank": (A, B, crank), "coupler": (B, C, coupler), "rocker": (D, C, rocker)}
    for name, (start, end, length) in bars.items():
        angle = np.arctan2(*(end - start)[::-1])
        middle = (start + end) / 2
        mass = density * length
        moments = (mass * length**2 / 100.0, mass * length**2 / 12.0, mass * length**2 / 12.0)
        # A turn from x towards z is a negative turn about y.
        p = (np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0)
        omega, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if name == "crank":
            omega = (0.0, -crank_speed, 0.0)
            v = (-crank_speed * middle[1], 0.0, crank_speed * middle[0])
        b.body(name, mass=mass, inertia=moments, r=(middle[0], 0.0, middle[1]), p=p, v=v, omega=omega)
    left = {name: (-length / 2, 0.0, 0.0) for name, (_, _, length) in bars.items()}
    right = {name: (length / 2, 0.0, 0.0) for name, (_, _, length) in bars.items()}
    y = (0, 1, 0)
    b.joint("A", "revolute", GROUND, "crank", s_i=(0, 0, 0), a_i=y, s_j=left["crank"], a_j=y)
    if joints == "revolute":
        b.joint("B", "revolute", "crank", "coupler", s_i=right["crank"], a_i=y, s_j=left["coupler"], a_j=y)
        b.joint("C", "revolute", "coupler", "rocker", s_i=right["coupler"], a_i=y, s_j=right["rocker"], a_j=y)
    else:
        b.joint("B", "spherical", "crank", "coupler", s_i=right["crank"], s_j=left["coupler"])
        # Axes y on the rocker and x on the coupler: the coupler cannot spin about itself.
        b.joint("C", "universal", "coupler", "rocker", s_i=right["coupler"], a_i=(0, 0, 1), s_j=right["rocker"], a_j=y)
    b.joint("D", "revolute", GROUND, "rocker", s_i=(ground, 0, 0), a_i=y, s_j=left["rocker"], a_j=y)
    return b.build(redundant="remove" if joints == "revolute" else "refuse", project_velocities=crank_speed != 0.0)
