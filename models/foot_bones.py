"""Bones of the foot of ``models.foot``, which are drawn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from models.foot_anatomy import KEPT, PUBLISHED_SIZE, Side, Size, mirrored
from runtime import Builder
from runtime.system import Shape

TALOCRURAL_OF_LEG = (0.0, 0.0, -0.2438)  # [m] from the centre of mass: Rodrigues da Silva et al. (2024c), Table 3
# Bones that are drawn, between landmarks of this foot: body, ends in axes of the body and radius [m].
KNEE, HEEL, TIP = (0.0, 0.0, 0.19), (-0.0907, 0.0, -0.036), (0.031, 0.0, -0.027)
RAY = 0.025  # [m] of the first and fifth ray, to the side of the middle
BONES: tuple[tuple[str, tuple[float, float, float], tuple[float, float, float], float], ...] = (
    ("leg", TALOCRURAL_OF_LEG, KNEE, 0.02),
    ("main_foot", HEEL, (-0.0363, 0.0, 0.0), 0.02),
    *(("main_foot", (-0.0363, 0.3 * y, 0.0), (0.0996, y, -0.038), 0.011) for y in (RAY, 0.0, -RAY)),
    *(("toes", (-0.0274, y, -0.0185), (TIP[0] - abs(y) / 3, y, TIP[2]), 0.009) for y in (RAY, 0.0, -RAY)),
)
ENDS = np.array([bone[1:3] for bone in BONES])


def add_bones(b: Builder, size: Size = PUBLISHED_SIZE, side: Side = "right") -> None:
    """Give ``leg``, ``main_foot`` and ``toes`` the bones that are drawn."""
    b.add_shapes(_bones(size, side))


@lru_cache(KEPT)
def _bones(size: Size, side: Side) -> tuple[Shape, ...]:
    """The bones of a foot of this size; only published ones are built, and those of others are in proportion."""
    if size == PUBLISHED_SIZE:
        b = Builder("bones")
        for body in ("leg", "main_foot", "toes"):
            b.body(body, mass=1.0, inertia=(1.0, 1.0, 1.0))
        for (body, _, _, radius), (start, end) in zip(BONES, mirrored(ENDS, side), strict=True):
            b.shape(body, "bone", start=start, end=end, radius=radius)
        return b.shapes
    return tuple([bone.scaled(size.leg if bone.body == "leg" else size.foot) for bone in _bones(PUBLISHED_SIZE, side)])
