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

from models.foot_anatomy import Side, Size
from runtime import Builder, ModelError
from runtime.support import Usual, usual

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
KEYWORDS = ("stiffness", "damping", "neutral", "mass", "plate", "cuff", "length")
# Places on the published foot [m]: centre of the plate in main_foot, of the cuff in the leg; length of the plate.
PLATE, CUFF, LENGTH = (0.005, 0.0, -0.05), (0.0, 0.0, 0.07), 0.2


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


@usual(
    stiffness=Usual(1.0, 1000.0, "N m/rad", "the stiffness of an orthosis about an axis"),
    mass=Usual(0.01, 3.0, "kg", "the mass of an orthosis"),
)
def add_orthosis(
    b: Builder,
    size: Size,
    side: Side,
    *,
    stiffness: ArrayLike,
    mass: float = 0.0,
    check_units: bool = True,
    **others: Any,
) -> None:
    """Add an orthosis between ``leg`` and ``main_foot``, with keywords of ``Builder.orthosis``.

    ``check_units``: warn of a stiffness and a mass that none has.
    """
    place = dict(plate=np.array(PLATE) * size.foot, cuff=np.array(CUFF) * size.leg, length=LENGTH * size.foot)
    b.orthosis(NAME, "leg", "main_foot", side=side, stiffness=stiffness, mass=mass, **{**place, **others})
