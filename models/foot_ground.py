"""Leg, main foot and toes above the ground: nine spheres under the foot, torsional spring-dampers at both joints.

After Moreira et al. (2011).  The printed data do not describe a foot (``tests/papers`` proves each statement): the masses are
not those of the cited source, the moments of inertia do not belong to these bodies, and the frames in which the spheres are
given are not located in the bodies.  Therefore bodies and joints are those of Rodrigues da Silva et al. (2024c), ``models.foot``;
``models.foot_sole`` says how the spheres are read.
As in the paper, the leg moves in its sagittal plane: three translations, and rotations about y at its upper end and both joints.
No part lies beside this plane and all axes are perpendicular to it, so a left foot moves as a right one (``side``).
``models.foot.build(ground=True)`` puts the foot with the two axes of the ankle on the same sole, over an inclined plane.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from models.foot import METATARSOPHALANGEAL, TALOCRURAL, add_spring, bodies_of
from models.foot_anatomy import FOOT_LENGTHS, HEIGHT, HEIGHTS, KEPT, MASS, MASSES, Side, Size, check_side, size_of
from models.foot_bones import add_bones
from models.foot_sole import (
    DAMPING,
    DAMPINGS,
    MU_C,
    MU_D,
    STIFFNESS,
    STIFFNESSES,
    TRANSITION_VELOCITY,
    Friction,
    Ground,
    Shape,
)
from runtime import GROUND, Builder, ModelError, System
from runtime.support import Usual, checked, usual
from runtime.support.arrays import read_only


# Above 60 lines: fourteen options and their documentation.
@checked
@usual(
    refuse=True,
    stiffness=STIFFNESSES,
    damping=DAMPINGS,
    height=Usual(1e-9, 10.0, "m", "the height of a foot above the ground"),
    pitch_deg=Usual(1e-9, 360.0, "degrees", "the pitch of a foot"),
    speed=Usual(1e-9, 20.0, "m/s", "the speed of a foot"),
    mass=Usual(*MASSES, "kg", "the mass of a person"),
    body_height=Usual(*HEIGHTS, "m", "the height of a person"),
    foot_length=Usual(*FOOT_LENGTHS, "m", "the length of a foot"),
)
def build(
    shape: Shape = "normal",
    *,
    side: Side = "right",
    friction: Friction = "coulomb",
    mu_c: float = MU_C,
    mu_d: float = MU_D,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
    height: float = 0.05,
    pitch_deg: float = 20.0,
    speed: float = 0.0,
    transition_velocity: float = TRANSITION_VELOCITY,
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
    transition_velocity : float [m/s]
        Transition velocity of the friction, see ``Builder.contact``.
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
    for key, number in (("height", height), ("pitch_deg", pitch_deg), ("speed", speed)):
        if not np.isfinite(number):
            raise ModelError(f"{key} = {number!r} must be a finite number")
    check_side("models.foot_ground.build", side)
    size = size_of(mass, body_height, foot_length)
    bodies = bodies_of(size)
    ground, (p, A) = Ground(shape, friction, mu_c, mu_d, stiffness, damping, transition_velocity), _pitched(pitch_deg)
    lowest = ground.lowest(size, {name: (A @ data["r"], A) for name, data in bodies.items()})
    b = Builder(f"{'left ' if side == 'left' else ''}foot over the ground, {shape}")
    for name, data in bodies.items():
        r = A @ data["r"] + (0.0, 0.0, height - lowest)
        b.body(name, **data | dict(r=r, p=p, v=(speed, 0.0, 0.0), free=name == "leg"))
    _add_joints(b, size)
    ground.add(b, size)
    add_bones(b, size, side)
    return b.build(check_units=check_units)


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
    add_spring(b, "ankle_spring", "leg", "main_foot")
    add_spring(b, "toe_spring", "main_foot", "toes")
