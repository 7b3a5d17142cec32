"""A rod on a pivot: planar (hinge) or spherical (ball joint), free or with limits of motion.

With limits it is the example of seed 003, section 4.  The tables of that paper are missing from its text, so its rod is
inferred: a slender rod of 0.30 m and 3.5 kg on a ball joint at its end, released horizontally from rest at a longitude of
135 degrees of the joint's frame.  Its J / (m d) = 0.200 m about the pivot and m g d = 5.15 N m reproduce the figures that
the text quotes (0.202 m and 5.1 N m do so as well: the text cannot tell them apart).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime import GROUND, Builder, Cone, ModelError, System

KINDS, LIMITS = ("planar", "spherical"), (None, "elastic", "dissipative")

# Seed 003 section 4: the joint's frame in ground axes (zeta points down), the cone and the parameters of the limit.
XI, ETA = (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
CONE_LONGITUDES_DEG = (0.0, 90.0, 135.0, 180.0, 270.0, 315.0, 360.0)
CONE_LATITUDES_DEG = (30.0, 70.0, 100.0, 80.0, 50.0, 45.0, 30.0)
COMPLIANCE = float(np.deg2rad(11.5))  # [rad]
MAX_MOMENT = 226.0  # [N m]
DAMPING = 3.39  # [N m s]
RELEASE_LONGITUDE = float(np.deg2rad(45.0))  # [rad] from x; 135 degrees in the joint's frame, whose xi is -x
INSIDE_ANGLE = float(np.deg2rad(60.0))  # [rad] a planar release that the cone, 80 degrees there, admits


def build(
    kind: Literal["planar", "spherical"] | None = None,
    *,
    limits: Literal["elastic", "dissipative"] | None = None,
    length: float = 0.30,
    mass: float = 3.5,
    inertia: ArrayLike | None = None,
    angle: float | None = None,
    longitude: float | None = None,
    omega: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    cone: Cone | None = None,
    compliance: float | None = None,
    max_moment: float | None = None,
    damping: float | None = None,
    law: Literal["conservative", "printed"] | None = None,
) -> System:
    """A rod whose upper end is held at the origin.

    Parameters
    ----------
    kind : "planar" or "spherical"
        Hinge about y, or ball joint; default: planar without limits, spherical with them.
    limits : None, "elastic" or "dissipative"
        The limit ``pivot`` of the motion, without or with damping.
    length, mass : float [m], [kg]
    inertia : (3,) [kg m^2], optional
        Principal moments about the centre of mass, the third along the rod; default: a slender rod of diameter
        length / 15.
    angle : float [rad]
        From the downward vertical.  Default: horizontal; 60 degrees for the planar pendulum with limits, whose cone ends at
        80 degrees.
    longitude : float [rad]
        Of the plane of that angle, about z, from x; the spherical pendulum only.  Default: 0; with limits 45 degrees, which
        are 135 degrees in the joint's frame of seed 003, since its xi is -x.
    omega : (3,) [rad/s]
        Initial angular velocity, global axes; for the planar pendulum along y.
    gravity : (3,) [m/s^2]
    cone : Cone, optional
        For the rod's direction in the frame xi = -x, eta = y, zeta = -z.  Default: that of seed 003, 30 to 100 degrees.
    compliance, max_moment, damping : float [rad], [N m], [N m s], optional
        Of the limit; default: 11.5 degrees, 226 N m and, for "dissipative", 3.39 N m s.
    law : "conservative" or "printed", optional
        Of the restricting moment, see ``Builder.limit``.

    Raises
    ------
    ModelError
    """
    for key, value, known in (("kind", kind, (None, *KINDS)), ("limits", limits, LIMITS)):
        if not (value is None or isinstance(value, str)) or value not in known:
            raise ModelError(f"{key} = {value!r}; use {' or '.join(repr(k) for k in known if k is not None)}")
    if limits is None:
        own = dict(cone=cone, compliance=compliance, max_moment=max_moment, damping=damping, law=law)
        given = [f"{key} = {value!r}" for key, value in own.items() if value is not None]
        if given:
            raise ModelError(f"{given[0]} says how limits are; give limits='elastic' or 'dissipative' too")
    if limits == "elastic" and damping not in (None, 0.0):
        raise ModelError(f"damping = {damping!r} N m s, but limits='elastic' have none; use limits='dissipative'")
    kind = kind or ("planar" if limits is None else "spherical")
    if not 0.0 < length < np.inf:
        raise ModelError(f"length = {length:g} m must be finite and above 0 m")
    if np.shape(omega) != (3,):
        raise ModelError(f"omega = {omega!r} rad/s; give three numbers")
    if inertia is None:
        radius = length / 30.0
        across = mass * (length**2 + 3 * radius**2) / 12.0
        inertia = (across, across, mass * radius**2 / 2.0)
    for key, turned in (("angle", angle), ("longitude", longitude)):
        if turned is not None and not (isinstance(turned, int | float | np.number) and np.isfinite(turned)):
            raise ModelError(f"{key} = {turned!r} rad; give one finite number")
    if kind == "planar" and longitude:
        raise ModelError(f"longitude = {longitude:g} rad has no meaning for the planar pendulum; use kind='spherical'")
    if angle is None:
        angle = np.pi / 2 if limits is None or kind == "spherical" else INSIDE_ANGLE
    if longitude is None:
        longitude = 0.0 if limits is None else RELEASE_LONGITUDE
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
    if limits is not None:
        b.limit(
            "pivot", "pivot", reference=GROUND, xi=XI, eta=ETA, direction=(0, 0, -1),
            cone=Cone.from_degrees(CONE_LONGITUDES_DEG, CONE_LATITUDES_DEG) if cone is None else cone,
            max_moment=MAX_MOMENT if max_moment is None else max_moment,
            compliance=COMPLIANCE if compliance is None else compliance,
            damping=(DAMPING if damping is None else damping) if limits == "dissipative" else 0.0,
            law=law or "conservative",
        )  # fmt: skip
    return b.build()
