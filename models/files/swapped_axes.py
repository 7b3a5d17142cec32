"""Axes of a swapped ankle: directions, or the angles by which anatomy states them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from models.files.description import Description, Floats
from models.files.sides import stated_side
from models.foot import talocalcaneal_axis, talocrural_axis
from models.foot_anatomy import PUBLISHED, Side, check_axis_angles
from runtime import ModelError
from runtime.support import floats

WORDS = ("talocrural", "subtalar")
ACROSS = 1e-6  # [1] cosine of the angle between a new axis and the file's, at least


def given_axes(
    source: Description, known: tuple[Floats, Floats], axes: Any, side: Side | None, ankle: str, check: bool
) -> tuple[Floats, Floats]:
    """Unit vectors of the ankle's axis in the shank and the subtalar one in the foot; ``known``: those of the file.

    Raises
    ------
    ModelError
        For directions without length, angles that are unknown or alone, and axes perpendicular to those of the file.
    """
    given = _by_angles(source, axes, side, ankle, check) if isinstance(axes, Mapping) else _directions(axes)
    found = []
    for word, axis, old in zip(WORDS, given, known, strict=True):
        if axis is None:
            found.append(old)
            continue
        cosine = float(axis @ old)
        if abs(cosine) < ACROSS:
            raise ModelError(
                f"axes: the {word} axis is perpendicular to the one of the file (cosine {cosine:.1e}, limit {ACROSS:g}), so that "
                "its sense is open; turn it by less than 90 degrees"
            )
        found.append(axis if cosine > 0.0 else -axis)
    return found[0], found[1]


def _directions(axes: Any) -> list[Floats | None]:
    """Two directions as unit vectors."""
    if not isinstance(axes, (tuple, list)) or len(axes) != 2:
        raise ModelError(
            "axes: give two directions (ankle, subtalar), each of three numbers or None, or a mapping of angles"
        )
    found: list[Floats | None] = []
    for word, axis in zip(WORDS, axes, strict=True):
        if axis is None:
            found.append(None)
            continue
        vector = floats(axis, f"axes, {word}", "three numbers")
        if vector.shape != (3,) or not np.isfinite(vector).all():
            raise ModelError(f"axes: the {word} direction is {vector.tolist()}; give three finite numbers")
        length = float(np.linalg.norm(vector))
        if not length > 1e-12:
            raise ModelError(f"axes: the {word} direction has length {length:g}, limit 1e-12; give a direction")
        found.append(vector / length)
    return found


def _by_angles(
    source: Description, angles: Mapping[str, float], side: Side | None, ankle: str, check: bool
) -> list[Floats | None]:
    """Axes by inclination and deviation, in axes of OpenSim's bodies."""
    if source.format != "OpenSim":
        raise ModelError(
            f"axes: angles need bodies with x anterior, y up, z to the right, as OpenSim's; this model is of {source.format}: "
            "give directions"
        )
    if unknown := [name for name in angles if name not in PUBLISHED]:
        raise ModelError(f"axes: unknown angle '{unknown[0]}'; the angles are {', '.join(PUBLISHED)}")
    values: dict[str, float] = {}
    for name, value in angles.items():
        number = floats(value, f"axes, {name}", "an angle [deg]")
        if number.shape != () or not np.isfinite(number):
            raise ModelError(f"{name} = {number.tolist()}; give one finite number of degrees")
        values[name] = float(number)
    check_axis_angles("models.swap", check, **values)
    chosen = stated_side(ankle, side)
    found: list[Floats | None] = []
    for word, axis_of in zip(WORDS, (talocrural_axis, talocalcaneal_axis), strict=True):
        own = [values.get(f"{word}_{part}_deg") for part in ("inclination", "deviation")]
        if (own[0] is None) != (own[1] is None):
            missing = f"{word}_{'inclination' if own[0] is None else 'deviation'}_deg"
            raise ModelError(f"{missing}: is missing; give inclination and deviation of an axis, or neither")
        if own[0] is None or own[1] is None:
            found.append(None)
            continue
        found.append(in_opensim(axis_of(own[0], own[1], side=chosen)))
    return found


def in_opensim(v: Floats) -> Floats:
    """A direction (3,) in axes of OpenSim's bodies, y up and z to the right, from one with y to the left and z up."""
    return np.array([v[0], v[2], -v[1]])
