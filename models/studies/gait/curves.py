"""Curves over the gait cycle and the values that the literature quotes of them; names of trials for files and legends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.walking.gait_result import Gait
from models.walking.leg_foot import JOINTS
from models.walking.subject import GRAVITY
from runtime.support.arrays import Floats

# Of the moment and the power of the metatarsophalangeal joint, wherever they are shown.
BOUND = "upper bound: in front of the joint the toes take the whole force"

# Angles of the ankle joint complex by the ISB, beside those of the hinges.
ANKLE = ("dorsiflexion", "inversion", "internal_rotation")


def curve(one: Gait, quantity: str, joint: str) -> Floats:
    """Angle [deg], moment [N m/kg] or power [W/kg] of a joint over the gait cycle, (101,)."""
    values = {"angle": one.angles, "moment": one.moments, "power": one.powers}[quantity][joint]
    scale = np.rad2deg(1.0) if quantity == "angle" else 1.0 / one.subject.mass
    return scale * one.over_cycle(values)


def ankle_curve(one: Gait, name: str) -> Floats:
    """An angle of the ankle joint complex (ISB) over the gait cycle [deg], (101,)."""
    return np.rad2deg(one.over_cycle(getattr(one.ankle_angles(), name)))


def vertical(one: Gait) -> Floats:
    """Vertical ground reaction force over the gait cycle [body weights], (101,)."""
    return one.ground_over_cycle()[0][:, 2] / (one.subject.mass * GRAVITY)


def force_peaks(force: Floats, toe_off: float) -> list[float]:
    """Maxima in the first and the second half of stance, with the minimum between them in the middle.

    ``force`` over the gait cycle, (101,); ``toe_off`` [%].
    """
    stance = force[: int(toe_off) + 1]
    middle = len(stance) // 2
    first, second = int(np.argmax(stance[:middle])), middle + int(np.argmax(stance[middle:]))
    return [float(stance[first]), float(stance[first : second + 1].min()), float(stance[second])]


def joints(found: Sequence[Gait]) -> tuple[str, ...]:
    """Joints that all trials have: those of the toes only where they are guided."""
    return JOINTS if all(one.toes_guided for one in found) else JOINTS[:2]


def by_foot(found: Sequence[Gait]) -> dict[str, list[Gait]]:
    """The trials of each foot, right first."""
    feet = {side: [one for one in found if one.side == side] for side in ("right", "left")}
    return {side: trials for side, trials in feet.items() if trials}


def stems(found: Sequence[Gait]) -> list[str]:
    """Names of the trials for files, with the foot where there are two."""
    several = len({one.side for one in found}) > 1
    names = [one.name.removesuffix(f", {one.side} foot") if several else one.name for one in found]
    foot = [f"_{one.side}" if several else "" for one in found]
    plain = [Path(name).stem.replace(" ", "_").replace(",", "_") for name in names]
    return numbered([name + side for name, side in zip(plain, foot, strict=True)])


def numbered(names: Sequence[str]) -> list[str]:
    """Names, with a number appended to those that occur more than once."""
    return [name if names.count(name) == 1 else f"{name}_{names[: k + 1].count(name)}" for k, name in enumerate(names)]


def notes(found: Sequence[Gait]) -> list[str]:
    """Assumptions of all trials, each once."""
    return list(dict.fromkeys(note for one in found for note in one.notes)) or ["none"]
