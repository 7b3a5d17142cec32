"""Orthoses of the ankle: stiffnesses in measured ranges, and their place on ``models.foot``.

Shuman and Russell Esposito (2021), Multiplanar stiffness of commercial carbon composite ankle-foot orthoses, Journal of
Biomechanical Engineering 144, 011004, doi 10.1115/1.4051845: thirteen orthoses without a hinge, about the sagittal axis 0.58 to
3.66 N m/deg; about the frontal axis up to 0.71 (eversion, lateral strut) and 0.53 (inversion, medial strut); about the
transverse axis below 0.30.  Lower ends of the last two are not stated and taken as 0.  A preset is a place in all three ranges,
no device.  Neither damping nor mass is stated there: both are 0 unless given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.foot_anatomy import Side, Size, mirrored, mirrored_axis
from models.rotations import about
from runtime import Builder, ModelError
from runtime.support import Usual, ask, counted, finite, usual
from runtime.support.arrays import Floats

MOTIONS = ("dorsiflexion", "inversion", "rotation")
# [N m/deg] about the axes of dorsiflexion, inversion and rotation: ends of the measured ranges.
SOFTEST, STIFFEST = (0.58, 0.0, 0.0), (3.66, 0.71, 0.30)
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        name: MappingProxyType(
            {
                "stiffness": tuple(
                    float(np.rad2deg(low + share * (high - low))) for low, high in zip(SOFTEST, STIFFEST, strict=True)
                )
            }
        )
        for name, share in (("flexible", 0.0), ("medium", 0.5), ("stiff", 1.0))
    }
)  # keywords of ``Builder.orthosis``, in SI units
NAME = "orthosis"
KEYWORDS = ("stiffness", "damping", "neutral", "mass", "plate", "cuff", "length", "hinge", "straps")
HINGE = {"axes": 1, "shift": (0.0, 0.0, 0.0), "turn_deg": (0.0, 0.0, 0.0)}  # from the ankle's axes
# Places on the published foot [m]: centre of the plate in main_foot, of the cuff in the leg; length of the plate.
PLATE, CUFF, LENGTH = (0.005, 0.0, -0.05), (0.0, 0.0, 0.07), 0.2
MASSES = Usual(0.01, 3.0, "kg", "the mass of an orthosis")
STIFFNESSES = Usual(1.0, 1000.0, "N m/rad", "the stiffness of an orthosis about an axis")
ANGLES = Usual(0.0, 1.6, "rad", "an angle of the ankle")


def orthosis_values(orthosis: str | Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of ``Builder.orthosis`` for the name of a preset, or for keywords.

    Raises
    ------
    ModelError
        For an unknown preset or keyword, and keywords without a stiffness.
    """
    if isinstance(orthosis, str):
        if orthosis not in PRESETS:
            raise ModelError(
                f"orthosis = {orthosis!r} is no preset; use {', '.join(map(repr, PRESETS))}, or "
                "a mapping with the keywords of Builder.orthosis, such as {'stiffness': (100.0, 20.0, 10.0)}"
            )
        return dict(PRESETS[orthosis])
    if unknown := [key for key in orthosis if key not in KEYWORDS]:
        raise ModelError(f"orthosis has no {unknown[0]!r}; it takes {', '.join(KEYWORDS)}")
    if "stiffness" not in orthosis:
        raise ModelError(
            "orthosis has no stiffness; give 'stiffness': three numbers [N m/rad], or the name of a preset"
        )
    return dict(orthosis)


def springs_values(orthosis: str | Mapping[str, Any]) -> dict[str, Any]:
    """As ``orthosis_values``, for an orthosis whose moments follow from the angles of the ankle.

    Raises
    ------
    ModelError
        For an orthosis with a hinge or straps, whose parts move by themselves, too.
    """
    values = orthosis_values(orthosis)
    if parts := [part for part in ("hinge", "straps") if values.get(part) is not None]:
        raise ModelError(
            f"orthosis: {parts[0]} is given; along a trial the motion of its parts is not known; give springs alone: "
            "stiffness, damping, neutral"
        )
    return values


class AnkleAxes(NamedTuple):
    """Talocrural and talocalcaneal axis in the neutral pose, by rows (2, 3), from the leg's centre of mass in its axes."""

    points: Floats
    axes: Floats

    def hinge(self, side: Side, given: Mapping[str, Any]) -> dict[str, Any]:
        """``hinge`` of ``Builder.orthosis`` that coincides with the first or both axes, or is misplaced against them.

        Parameters
        ----------
        side : "right" or "left"
        given : mapping
            "axes": 1 or 2; "shift" (3,) [m] anteriorly, medially, upwards; "turn_deg" (3,): rotation vector about the anterior,
            medial and upward direction of a right foot, mirrored for a left one: in the frontal, sagittal and transverse plane.

        Raises
        ------
        ModelError
        """
        if unknown := [key for key in given if key not in HINGE]:
            raise ModelError(f"orthosis: hinge has no {unknown[0]!r}; it takes {', '.join(HINGE)}, or point and axis")
        own = {**HINGE, **given}
        count = counted("orthosis: hinge: axes", own["axes"], "axes")
        if count > 2:
            raise ModelError(f"orthosis: hinge: axes = {count}; use 1 or 2")
        shift, turn_deg = (finite(own[key], (3,), f"orthosis: hinge: {key}") for key in ("shift", "turn_deg"))
        angle = float(np.linalg.norm(turn_deg))
        turn = about(mirrored_axis(turn_deg / angle, side), np.deg2rad(angle)) if angle else np.eye(3)
        points = self.points[0] + mirrored(shift, side) + (self.points - self.points[0]) @ turn.T
        axes = self.axes @ turn.T
        apart = count == 2 and bool((points[0] != points[1]).any())
        return {"point": points if apart else points[0], "axis": axes if count == 2 else axes[0]}


@usual(mass=MASSES)
def add_orthosis(
    b: Builder,
    size: Size,
    side: Side,
    ankle: AnkleAxes | None = None,
    start: ArrayLike = (0.0, 0.0),
    *,
    stiffness: Sequence[Any],
    mass: ArrayLike = 0.0,
    hinge: Mapping[str, Any] | None = None,
    check_units: bool = True,
    **others: Any,
) -> None:
    """Add an orthosis between ``leg`` and ``main_foot``, with keywords of ``Builder.orthosis``.

    ``hinge``: where ``ankle`` is given also as of ``AnkleAxes.hinge``; ``start``: dorsiflexion and inversion of the ankle
    (2,) [rad], which a hinge begins with; ``check_units``: warn of stiffnesses, angles of curves and a mass that none has.
    """
    place = dict(plate=np.array(PLATE) * size.foot, cuff=np.array(CUFF) * size.leg, length=LENGTH * size.foot)
    if ankle is not None and isinstance(hinge, Mapping) and not {"point", "axis"} & set(hinge):
        hinge = ankle.hinge(side, hinge)
    b.orthosis(
        NAME, "leg", "main_foot", side=side, stiffness=stiffness, mass=mass, hinge=hinge, **{**place, **others}
    )  # fmt: skip
    for motion, given in zip(MOTIONS, stiffness, strict=True) if check_units else ():
        curve = np.ndim(given) == 2
        ask(
            f"orthosis: stiffness of {motion}" + (": angle" if curve else ""), np.asarray(given)[:, 0] if curve else given,
            ANGLES if curve else STIFFNESSES,
        )  # fmt: skip
    if hinge is not None and np.any(start):
        names = ("theta_i", "theta_j") if np.ndim(hinge["axis"]) == 2 else ("angle",)
        b.initial_coordinates(f"{NAME}_hinge", **dict(zip(names, np.asarray(start).tolist(), strict=False)))
