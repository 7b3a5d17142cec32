"""Orthoses of the ankle: stiffnesses in measured ranges, and their place on ``models.foot``.

Shuman and Russell Esposito (2021), Multiplanar stiffness of commercial carbon composite ankle-foot orthoses, Journal of
Biomechanical Engineering 144, 011004, doi 10.1115/1.4051845: thirteen orthoses without a hinge, about the sagittal axis 0.58 to
3.66 N m/deg; about the frontal axis up to 0.71 (eversion, lateral strut) and 0.53 (inversion, medial strut); about the
transverse axis below 0.30.  Lower ends of the last two are not stated and taken as 0.  A preset is a place in all three ranges,
no device.  Neither damping nor mass is stated there: both are 0 unless given.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from models.foot_anatomy import PUBLISHED_SIZE, Ankle, Side, Size, mirrored, mirrored_axis
from models.rotations import about
from runtime import Builder, ModelError
from runtime.support import Usual, ask, counted, finite

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
SHIFTS = Usual(0.0, 0.1, "m", "a misplacement of a hinge")
TURNS = Usual(0.0, 60.0, "degrees", "a misplacement of a hinge")


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
    """As ``orthosis_values``, for an orthosis whose moments follow from the angles of the ankle; the values are checked.

    Raises
    ------
    ModelError
        For an orthosis with a hinge or straps, whose parts move by themselves, and for values that no orthosis can have, too.
    """
    values = orthosis_values(orthosis)
    if parts := [part for part in ("hinge", "straps") if values.get(part) is not None]:
        raise ModelError(
            f"orthosis: {parts[0]} is given; along a trial the motion of its parts is not known; give springs alone: "
            "stiffness, damping, neutral"
        )
    b = Builder(NAME)
    for body in ("leg", "main_foot"):
        b.body(body, mass=1.0, inertia=(1.0, 1.0, 1.0), free=True)
    add_orthosis(b, PUBLISHED_SIZE, "right", **values)  # refuses values before the work with them begins
    return values


def hinge_by_axes(ankle: Ankle, given: Mapping[str, Any], *, check_units: bool = True) -> dict[str, Any]:
    """``hinge`` of ``Builder.orthosis`` that coincides with the first or both axes of an ankle, or is misplaced against them.

    Parameters
    ----------
    ankle : Ankle
    given : mapping
        "axes": 1 or 2; "shift" (3,) [m] anteriorly, medially, upwards; "turn_deg" (3,): rotation vector about the anterior,
        medial and upward direction of a right foot, mirrored for a left one: in the frontal, sagittal and transverse plane.
    check_units : bool
        Warn of a shift and a turn that are no misplacement.

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
    for key, value, of in (("shift", shift, SHIFTS), ("turn_deg", turn_deg, TURNS)) if check_units else ():
        ask(f"orthosis: hinge: {key}", value, of)
    angle = float(np.linalg.norm(turn_deg))
    turn = about(mirrored_axis(turn_deg / angle, ankle.side), np.deg2rad(angle)) if angle else np.eye(3)
    joint = ankle.on_leg[0]
    points = joint + mirrored(shift, ankle.side) + (ankle.on_leg - joint) @ turn.T
    axes = ankle.axes @ turn.T
    apart = count == 2 and bool((points[0] != points[1]).any())
    return {"point": points if apart else points[0], "axis": axes if count == 2 else axes[0]}


def add_orthosis(
    b: Builder,
    size: Size,
    side: Side,
    ankle: Ankle | None = None,
    start: ArrayLike = (0.0, 0.0),
    *,
    hinge: Mapping[str, Any] | None = None,
    check_units: bool = True,
    **others: Any,
) -> None:
    """Add an orthosis between ``leg`` and ``main_foot``, with keywords of ``Builder.orthosis``.

    ``hinge``: where ``ankle`` is given also as of ``hinge_by_axes``; ``start``: dorsiflexion and inversion of the ankle
    (2,) [rad], which a hinge begins with.
    """
    place = dict(plate=np.array(PLATE) * size.foot, cuff=np.array(CUFF) * size.leg, length=LENGTH * size.foot)
    if ankle is not None and isinstance(hinge, Mapping) and not {"point", "axis"} & set(hinge):
        hinge = hinge_by_axes(ankle, hinge, check_units=check_units)
    b.orthosis(
        NAME, "leg", "main_foot", side=side, hinge=hinge, check_units=check_units, **{**place, **others}
    )  # fmt: skip
    if hinge is not None and np.any(start):
        names = ("theta_i", "theta_j") if np.ndim(hinge["axis"]) == 2 else ("angle",)
        b.initial_coordinates(f"{NAME}_hinge", **dict(zip(names, np.asarray(start).tolist(), strict=False)))
