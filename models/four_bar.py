"""A planar four-bar linkage, with independent constraint rows or with four hinges and three redundant rows."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from runtime import GROUND, Builder, ModelError, System
from runtime.support import DOWN, Usual, checked, finite_number, positive, usual

FLAT = 1e-9  # sine of the angle between coupler and rocker below which they lie on one line
ROUNDING = 1e-14  # of the square of a length: bars that are stretched to their full length meet


@checked
@usual(
    crank=Usual(1e-3, 100.0, "m", "the length of a bar"),
    coupler=Usual(1e-3, 100.0, "m", "the length of a bar"),
    rocker=Usual(1e-3, 100.0, "m", "the length of a bar"),
    base=Usual(1e-3, 100.0, "m", "the distance of the fixed hinges"),
    crank_angle=Usual(0.0, 13.0, "rad", "an angle"),
    crank_speed=Usual(0.0, 1e5, "rad/s", "the rate of a crank"),
    coupler_speed=Usual(0.0, 1e5, "rad/s", "the rate of a coupler"),
    density=Usual(1e-6, 1e5, "kg/m", "the density of a bar"),
    gravity=Usual(1e-3, 300.0, "m/s^2", "gravity"),
)
def build(
    joints: Literal["independent", "revolute"] = "independent",
    *,
    crank: float = 0.2,
    coupler: float = 0.5,
    rocker: float = 0.4,
    base: float = 0.5,
    crank_angle: float = np.pi / 3,
    crank_speed: float = 0.0,
    density: float = 2.0,
    gravity: ArrayLike = DOWN,
    check_units: bool = True,
) -> System:
    """Build the bars ``crank``, ``coupler``, ``rocker`` in the x-z plane; hinges ``A`` (ground-crank), ``B``, ``C``, ``D``.

    Parameters
    ----------
    joints : "independent" or "revolute"
        Two hinges, a ball joint and a universal joint, whose 17 rows are independent; or four hinges, whose 20 rows include
        3 redundant ones, which are named in ``System.redundant``.  The motion is the same.
    crank, coupler, rocker, base : float [m]
        Lengths of the bars, and distance of the fixed hinges along x.
    crank_angle, crank_speed : float [rad], [rad/s]
        Angle of the crank from x towards z, and its rate.
    density : float [kg/m]
    gravity : (3,) [m/s^2]
    check_units : bool
        Warn of values that were probably given in another unit.

    Raises
    ------
    ModelError
        For an unknown choice of joints, or lengths that cannot be assembled.
    """
    if joints not in ("independent", "revolute"):
        raise ModelError(f"joints = {joints!r}; use 'independent' or 'revolute'")
    lengths = dict(crank=crank, coupler=coupler, rocker=rocker, base=base)
    crank, coupler, rocker, base = (positive(length, name) for name, length in lengths.items())
    A, B, C, D = _corners(crank, coupler, rocker, base, finite_number(crank_angle, "crank_angle"))
    b = Builder(f"four-bar linkage, {joints} joints", gravity=gravity)
    bars = {"crank": (A, B, crank), "coupler": (B, C, coupler), "rocker": (D, C, rocker)}
    rates = _rates(B - A, C - B, C - D, crank_speed)
    for name, (start, end, length) in bars.items():
        angle = np.arctan2(*(end - start)[::-1])
        middle = (start + end) / 2
        mass = density * length
        moments = (mass * length**2 / 100.0, mass * length**2 / 12.0, mass * length**2 / 12.0)
        # A rotation from x towards z is a negative rotation about y.
        p = (np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0)
        v_start = np.zeros(2) if name != "coupler" else crank_speed * _across(B - A)
        v = v_start + rates[name] * _across(middle - start)
        r, v3 = (middle[0], 0.0, middle[1]), (v[0], 0.0, v[1])
        b.body(name, mass=mass, inertia=moments, r=r, p=p, v=v3, omega=(0.0, -rates[name], 0.0))
    _add_joints(b, {name: length for name, (_, _, length) in bars.items()}, base, joints == "revolute")
    return b.build(check_units=check_units)


def _corners(crank: float, coupler: float, rocker: float, base: float, crank_angle: float) -> tuple[np.ndarray, ...]:
    """Positions in the x-z plane of the hinges A, B, C, D, (2,) each [m]; ModelError where the bars do not meet."""
    A, D = np.zeros(2), np.array([base, 0.0])
    B = crank * np.array([np.cos(crank_angle), np.sin(crank_angle)])
    reach = np.linalg.norm(D - B)
    along = (coupler**2 - rocker**2 + reach**2) / (2 * reach)
    u = (D - B) / reach
    height2 = coupler**2 - along**2
    if height2 < -ROUNDING * coupler**2:
        raise ModelError(
            f"coupler = {coupler:g} m and rocker = {rocker:g} m cannot span {reach:g} m, the distance of their ends at "
            f"crank_angle = {crank_angle:g} rad; change a length or the angle"
        )
    C = B + along * u + np.sqrt(np.maximum(height2, 0.0)) * _across(u)
    return A, B, C, D


def _add_joints(b: Builder, lengths: dict[str, float], base: float, hinges: bool) -> None:
    """Add the joints A to D: four hinges, or two hinges, a ball joint and a universal joint."""
    left = {name: (-length / 2, 0.0, 0.0) for name, length in lengths.items()}
    right = {name: (length / 2, 0.0, 0.0) for name, length in lengths.items()}
    y = (0, 1, 0)
    b.joint("A", "revolute", GROUND, "crank", s_i=(0, 0, 0), a_i=y, s_j=left["crank"], a_j=y)
    if hinges:
        b.joint("B", "revolute", "crank", "coupler", s_i=right["crank"], a_i=y, s_j=left["coupler"], a_j=y)
        b.joint("C", "revolute", "coupler", "rocker", s_i=right["coupler"], a_i=y, s_j=right["rocker"], a_j=y)
    else:
        b.joint("B", "spherical", "crank", "coupler", s_i=right["crank"], s_j=left["coupler"])
        # Axes y on the rocker and z on the coupler: the coupler cannot spin about its own line.
        b.joint("C", "universal", "coupler", "rocker", s_i=right["coupler"], a_i=(0, 0, 1), s_j=right["rocker"], a_j=y)
    b.joint("D", "revolute", GROUND, "rocker", s_i=(base, 0, 0), a_i=y, s_j=left["rocker"], a_j=y)


def _across(u: np.ndarray) -> np.ndarray:
    """Plane vector u rotated by 90 degrees from x towards z: the velocity of its end at unit rate."""
    return np.array([-u[1], u[0]])


def _rates(crank: np.ndarray, coupler: np.ndarray, rocker: np.ndarray, speed: float) -> dict[str, float]:
    """Rates of the bars [rad/s], for which coupler and rocker give the hinge C the same velocity."""
    if speed == 0.0:
        return {"crank": 0.0, "coupler": 0.0, "rocker": 0.0}
    if abs(coupler @ _across(rocker)) < FLAT * np.linalg.norm(coupler) * np.linalg.norm(rocker):
        raise ModelError(
            f"crank_speed = {speed:g} rad/s: coupler and rocker lie on one line, where two motions of the linkage may cross; "
            "give another crank_angle"
        )
    both = np.column_stack([_across(coupler), -_across(rocker)])
    on_coupler, on_rocker = np.linalg.solve(both, -speed * _across(crank))
    return {"crank": speed, "coupler": float(on_coupler), "rocker": float(on_rocker)}
