"""A rod on a pivot: planar (hinge) or spherical (ball joint), free or with joint limits.

With limits it is the example of Rodrigues da Silva et al. (2024b), Section 4.  The tables of that paper are missing in the text
that was available, so the rod is inferred: a slender rod of 0.30 m and 3.5 kg on a ball joint at its end, released from rest in
the horizontal, at a longitude of 135 degrees in the frame of the joint.  Its J / (m d) = 0.200 m about the pivot and
m g d = 5.15 N m reproduce the values that the text quotes; 0.202 m and 5.1 N m reproduce them equally well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime import GROUND, Builder, Cone, ModelError, System
from runtime.support import DOWN, Usual, checked, finite, usual

KINDS, LIMITS = ("planar", "spherical"), (None, "elastic", "dissipative")

# Rodrigues da Silva et al. (2024b), Section 4: frame of the joint in ground axes (zeta points down), cone, and parameters of
# the limit.
XI, ETA = (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
CONE_LONGITUDES_DEG = (0.0, 90.0, 135.0, 180.0, 270.0, 315.0, 360.0)
CONE_LATITUDES_DEG = (30.0, 70.0, 100.0, 80.0, 50.0, 45.0, 30.0)
COMPLIANCE = float(np.deg2rad(11.5))  # [rad]
MAX_MOMENT = 226.0  # [N m]
DAMPING = 3.39  # [N m s]
RELEASE_LONGITUDE = float(np.deg2rad(45.0))  # [rad] from x; 135 degrees in the frame of the joint, whose xi is -x
INSIDE_ANGLE = float(
    np.deg2rad(60.0)
)  # [rad] release of the planar pendulum with limits, whose cone ends at 80 degrees


# Above 60 lines: fourteen options and their documentation; the work is in the functions below.
@checked
@usual(
    length=Usual(1e-3, 100.0, "m", "the length of a pendulum"),
    mass=Usual(1e-6, 1e5, "kg", "the mass of a pendulum"),
    angle=Usual(0.0, 13.0, "rad", "an angle"),
    longitude=Usual(0.0, 13.0, "rad", "a longitude"),
    omega=Usual(0.0, 1e4, "rad/s", "the angular velocity of a pendulum"),
    compliance=Usual(1e-9, 3.2, "rad", "the compliance of a limit"),
    max_moment=Usual(1e-6, 1e6, "N m", "the moment of a limit"),
    gravity=Usual(1e-3, 300.0, "m/s^2", "gravity"),
)
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
    gravity: ArrayLike = DOWN,
    cone: Cone | None = None,
    compliance: float | None = None,
    max_moment: float | None = None,
    damping: float | None = None,
    law: Literal["conservative", "as_published"] | None = None,
    check_units: bool = True,
) -> System:
    """Build a rod whose upper end is fixed at the origin.

    Parameters
    ----------
    kind : "planar" or "spherical"
        Hinge about y, or ball joint.  Default: planar without limits, spherical with limits.
    limits : None, "elastic" or "dissipative"
        Joint limit ``pivot``, without or with damping.
    length, mass : float [m], [kg]
    inertia : (3,) [kg m^2], optional
        Principal moments about the centre of mass, the third along the rod.  Default: slender rod of diameter length / 15.
    angle : float [rad]
        From the downward vertical.  Default: horizontal; 60 degrees for the planar pendulum with limits, whose cone ends at
        80 degrees.
    longitude : float [rad]
        Of the plane of that angle, about z, from x; spherical pendulum only.  Default: 0; with limits 45 degrees, which are
        135 degrees in the frame of the joint, whose xi is -x.
    omega : (3,) [rad/s]
        Initial angular velocity, global axes; for the planar pendulum along y.
    gravity : (3,) [m/s^2]
    cone : Cone, optional
        Admissible directions of the rod in the frame xi = -x, eta = y, zeta = -z.  Default: that of Rodrigues da Silva et al.
        (2024b), 30 to 100 degrees.
    compliance, max_moment, damping : float [rad], [N m], [N m s], optional
        Of the limit.  Default: 11.5 degrees, 226 N m and, for "dissipative", 3.39 N m s.
    law : "conservative" or "as_published", optional
        Of the restricting moment, see ``Builder.limit``.
    check_units : bool
        Warn of values that were probably given in another unit.

    Raises
    ------
    ModelError
        For an unknown option, a parameter out of its range, or a parameter of limits without limits.
    """
    own = dict(cone=cone, compliance=compliance, max_moment=max_moment, damping=damping, law=law)
    _check_options(kind, limits, own)
    kind = kind or ("planar" if limits is None else "spherical")
    if not 0.0 < length < np.inf:
        raise ModelError(f"length = {length:g} m must be finite and above 0 m")
    omega = finite(omega, (3,), "omega")
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
    p, centre = _pose(angle, 0.0 if kind == "planar" else longitude, length)
    b = Builder(f"{kind} pendulum", gravity=gravity)
    b.body("rod", mass=mass, inertia=inertia, r=centre, p=p, omega=omega, v=np.cross(omega, centre))
    end = (0.0, 0.0, 0.5 * length)
    if kind == "planar":
        b.joint("pivot", "revolute", GROUND, "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=end, a_j=(0, 1, 0))
    else:
        b.joint("pivot", "spherical", GROUND, "rod", s_i=(0, 0, 0), s_j=end)
    if limits is not None:
        _add_limit(b, limits == "dissipative", own)
    return b.build(check_units=check_units)


def _check_options(kind: str | None, limits: str | None, own: Mapping[str, Any]) -> None:
    """Refuse unknown options, and parameters of the limit (``own``) that do not go with ``limits``."""
    for key, value, known in (("kind", kind, (None, *KINDS)), ("limits", limits, LIMITS)):
        if not (value is None or isinstance(value, str)) or value not in known:
            raise ModelError(f"{key} = {value!r}; use {' or '.join(repr(k) for k in known if k is not None)}")
    given = [f"{key} = {value!r}" for key, value in own.items() if value is not None]
    if limits is None and given:
        raise ModelError(f"{given[0]} applies to limits only; give limits='elastic' or 'dissipative' too")
    damping = own["damping"]
    if limits == "elastic" and damping not in (None, 0.0):
        raise ModelError(f"damping = {damping!r} N m s, but limits='elastic' have none; use limits='dissipative'")


def _pose(angle: float, longitude: float, length: float) -> tuple[tuple[float, ...], np.ndarray]:
    """Euler parameters (4,) and centre of mass (3,) [m] of the rod at an angle from the vertical and a longitude [rad]."""
    # First -angle about y, which swings the lower end towards +x, then the longitude about z.
    c, s, cz, sz = np.cos(angle / 2), -np.sin(angle / 2), np.cos(longitude / 2), np.sin(longitude / 2)
    direction = np.array([np.sin(angle) * np.cos(longitude), np.sin(angle) * np.sin(longitude), -np.cos(angle)])
    return (cz * c, -sz * s, cz * s, sz * c), 0.5 * length * direction


def _add_limit(b: Builder, damped: bool, own: Mapping[str, Any]) -> None:
    """Add the limit ``pivot``; parameters that are None in ``own`` get the values of the paper."""
    values: dict[str, Any] = dict(compliance=COMPLIANCE, max_moment=MAX_MOMENT, damping=DAMPING, law="conservative")
    values |= {key: value for key, value in own.items() if value is not None}
    values.setdefault("cone", Cone.from_degrees(CONE_LONGITUDES_DEG, CONE_LATITUDES_DEG))
    if not damped:
        values["damping"] = 0.0
    b.limit("pivot", "pivot", reference=GROUND, xi=XI, eta=ETA, direction=(0, 0, -1), **values)
