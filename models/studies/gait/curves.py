"""Joints, feet and names of trials for files and legends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from models.walking.gait_result import Gait
from models.walking.leg_foot import JOINTS
from models.walking.upper_leg import UPPER_ANGLES


def joints(found: Sequence[Gait]) -> tuple[str, ...]:
    """Joints that all trials have: those of the toes only where they are guided."""
    return JOINTS if all(one.toes_guided for one in found) else JOINTS[:2]


def upper(found: Sequence[Gait]) -> tuple[str, ...]:
    """Angles of knee and hip, if all trials have them."""
    return UPPER_ANGLES if all(one.upper_leg is not None for one in found) else ()


def by_foot(found: Sequence[Gait]) -> dict[str, list[Gait]]:
    """The trials of each foot, the left one first, which figures draw on the left."""
    feet = {side: [one for one in found if one.side == side] for side in ("left", "right")}
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
