"""Leg, main foot and toes above the ground: nine spheres under the foot, torsional spring-dampers at both joints.

After Moreira et al. (2011).  The printed data do not describe a foot (``tests/registry`` proves each statement): the masses are
not those of the cited source, the moments of inertia do not belong to these bodies, and the frames in which the spheres are
given are not located in the bodies.  Therefore bodies and joints are those of Rodrigues da Silva et al. (2024c), ``models.foot``;
the spheres are the printed ones, shifted along xi until they fit that foot; and the printed stiffness of 40 is read with the
unit that matches measured heel pads, N/mm^1.5.
As in the paper, the leg moves in its sagittal plane: three translations, and rotations about y at its upper end and both joints.
No part lies beside this plane and all axes are perpendicular to it, so a left foot moves as a right one (``side``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from models.foot import METATARSOPHALANGEAL, TALOCRURAL, bodies_of
from models.foot_anatomy import FOOT_LENGTHS, HEIGHT, HEIGHTS, KEPT, MASS, MASSES, Side, Size, check_side, size_of
from models.foot_bones import add_bones
from runtime import GROUND, Builder, ModelError, System
from runtime.support import Usual, checked, usual
from runtime.support.arrays import read_only

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
SPRING, DAMPER = 12.0, 0.5  # [N m/rad], [N m s/rad] of ankle and toes; the paper prints N/m and N s/m

SHAPE_NAMES, FRICTIONS = tuple(SHAPES_MM), ("coulomb", "smooth")


@checked
def spheres(shape: Literal["normal", "cavus", "flat"] = "normal") -> dict[str, tuple[str, np.ndarray, float]]:
    """Body, centre relative to its centre of mass (3,) [m] and radius [m] of ``sphere_1`` .. ``sphere_9``, heel to toe tip."""
    return {name: (body, centre.copy(), radius) for name, (body, centre, radius) in _spheres(shape).items()}


@lru_cache(len(SHAPES_MM))
def _spheres(shape: str) -> dict[str, tuple[str, np.ndarray, float]]:
    """``spheres``, read-only."""
    found: dict[str, tuple[str, np.ndarray, float]] = {}
    for body, rows in SPHERES_MM.items():
        for *centre, radius in rows:
            number = len(found) + 1
            moved = np.array(centre) + (FORWARD_MM[body], 0.0, SHAPES_MM[shape].get(number, 0.0))
            found[f"sphere_{number}"] = body, read_only(moved / 1000.0), radius / 1000.0
    return found


# Above 60 lines: fourteen options and their documentation.
@checked
@usual(
    refuse=True,
    stiffness=Usual(1.0, 1e10, "N/m^1.5", "the stiffness of a sole"),
    damping=Usual(1e-6, 1e6, "N s/m", "the damping of a sole"),
    height=Usual(1e-9, 10.0, "m", "the height of a foot above the ground"),
    pitch_deg=Usual(1e-9, 360.0, "degrees", "the pitch of a foot"),
    speed=Usual(1e-9, 20.0, "m/s", "the speed of a foot"),
    mass=Usual(*MASSES, "kg", "the mass of a person"),
    body_height=Usual(*HEIGHTS, "m", "the height of a person"),
    foot_length=Usual(*FOOT_LENGTHS, "m", "the length of a foot"),
)
def build(
    shape: Literal["normal", "cavus", "flat"] = "normal",
    *,
    side: Side = "right",
    friction: Literal["coulomb", "smooth"] = "coulomb",
    mu_c: float = MU_C,
    mu_d: float = MU_D,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
    height: float = 0.05,
    pitch_deg: float = 20.0,
    speed: float = 0.0,
    creep: float = 1e-3,
    mass: float = MASS,
    body_height: float = HEIGHT,
    foot_length: float | None = None,
    check_units: bool = True,
) -> System:
    """Build the foot above the ground, ready to fall.

    Parameters
    ----------
    shape : "normal", "cavus" or "flat"
        Shape of the sole.
    side : "right" or "left"
        All axes are across the sagittal plane and no part is beside it, so both move alike; only drawn bones are mirrored.
    friction : "coulomb" or "smooth"
    mu_c, mu_d : float [1], [N s/m]
        Coefficients of Coulomb and of viscous friction; the paper compares mu_d = 0 with mu_d = 3.
    stiffness, damping : float [N/m^1.5], [N s/m]
        Of each sphere; law "kelvin_voigt" with the exponent 1.5.
    height : float [m]
        Height of the lowest sphere above the ground.
    pitch_deg : float [deg]
        Pitch of the whole foot and leg; positive raises the toes.
    speed : float [m/s]
        Forward speed.
    creep : float [m/s]
        Creep speed of the friction, see ``Builder.contact``.
    mass, body_height, foot_length : float [kg], [m], [m]
        Of the person, as ``mass``, ``height`` and ``foot_length`` of ``models.foot.build``.  Centres and radii of the spheres are
        in proportion to the foot's length; stiffness and damping, also those of the joints, depend on neither.
    check_units : bool
        Ask about values that this model cannot have, which were probably given in another unit.  False accepts them.

    Returns
    -------
    System
        Bodies ``toes``, ``main_foot``, ``leg``; joints ``sagittal``, ``metatarsophalangeal``, ``ankle``; motors ``toe_spring``,
        ``ankle_spring``; contacts ``sphere_1`` .. ``sphere_9``.

    Raises
    ------
    ModelError
    """
    _check_options(shape, friction, height=height, pitch_deg=pitch_deg, speed=speed)
    check_side("models.foot_ground.build", side)
    size = size_of(mass, body_height, foot_length)
    bodies = bodies_of(size)
    sole, (p, A) = _sole(shape, size), _pitched(pitch_deg)
    lowest = _lowest(shape, size, pitch_deg)
    b = Builder(f"{'left ' if side == 'left' else ''}foot over the ground, {shape}")
    for name, data in bodies.items():
        r = A @ data["r"] + (0.0, 0.0, height - lowest)
        b.body(name, **data | dict(r=r, p=p, v=(speed, 0.0, 0.0), free=name == "leg"))
    _add_joints(b, size)
    for name, (body, centre, radius) in sole.items():
        b.contact(
            name, body, centre=centre, radius=radius, law="kelvin_voigt", stiffness=stiffness, exponent=EXPONENT,
            damping=damping, friction=friction, mu_c=mu_c, mu_d=mu_d, creep=creep,
        )  # fmt: skip
    add_bones(b, size, side)
    return b.build(check_units=check_units)


@lru_cache(KEPT)
def _sole(shape: Literal["normal", "cavus", "flat"], size: Size) -> dict[str, tuple[str, np.ndarray, float]]:
    """``spheres`` of a foot of this size, read-only."""
    return {
        name: (body, read_only(centre * size.foot), radius * size.foot)
        for name, (body, centre, radius) in _spheres(shape).items()
    }


@lru_cache(KEPT)
def _lowest(shape: Literal["normal", "cavus", "flat"], size: Size, pitch_deg: float) -> float:
    """Height of the lowest point of the spheres of a pitched foot whose neutral pose is that of ``models.foot`` [m]."""
    bodies, A = bodies_of(size), _pitched(pitch_deg)[1]
    return min(
        float((A @ (bodies[body]["r"] + centre))[2]) - radius for body, centre, radius in _sole(shape, size).values()
    )


def _check_options(shape: str, friction: str, **numbers: float) -> None:
    """Refuse unknown shapes and frictions, and numbers that are not finite."""
    for key, value, known in (("shape", shape, SHAPE_NAMES), ("friction", friction, FRICTIONS)):
        if not isinstance(value, str) or value not in known:
            raise ModelError(f"{key} = {value!r}; use {', '.join(map(repr, known))}")
    for key, number in numbers.items():
        if not np.isfinite(number):
            raise ModelError(f"{key} = {number!r} must be a finite number")


@lru_cache(KEPT)
def _pitched(pitch_deg: float) -> tuple[tuple[float, ...], np.ndarray]:
    """Euler parameters (4,) and rotation matrix (3, 3) of a pitch that raises the toes: a rotation about -y."""
    half = np.deg2rad(pitch_deg) / 2.0
    c, s = np.cos(2 * half), np.sin(2 * half)
    p = (float(np.cos(half)), 0.0, -float(np.sin(half)), 0.0)
    return p, read_only(np.array([(c, 0.0, -s), (0.0, 1.0, 0.0), (s, 0.0, c)]))


def _add_joints(b: Builder, size: Size) -> None:
    """Keep the leg in its sagittal plane; add the hinges and the spring-dampers of ankle and toes."""
    b.joint("sagittal", "parallel_axes", GROUND, "leg", a_i=(0, 1, 0), a_j=(0, 1, 0))
    bodies, on_leg = bodies_of(size), np.array(TALOCRURAL["leg"]) * size.leg
    talocrural = bodies["leg"]["r"] + on_leg - bodies["main_foot"]["r"]
    toes, main_foot = (np.array(METATARSOPHALANGEAL[body]) * size.foot for body in ("toes", "main_foot"))
    hinge: dict[str, Any] = dict(a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.joint("ankle", "revolute", "leg", "main_foot", s_i=on_leg, s_j=talocrural, **hinge)
    b.joint("metatarsophalangeal", "revolute", "main_foot", "toes", s_i=main_foot, s_j=toes, **hinge)
    for name, upper, lower in (("ankle_spring", "leg", "main_foot"), ("toe_spring", "main_foot", "toes")):
        b.motor(
            name, "guided_angle", upper, lower, a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0), theta_t=0.0,
            stiffness=SPRING, damping=DAMPER,
        )  # fmt: skip
