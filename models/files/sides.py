"""Sides in the names of joints and bodies: ``ankle_r``, ``r_ankle``, ``ankle_right``, ``left_foot``."""

from __future__ import annotations

from models.foot_anatomy import SIDES, Side
from runtime import ModelError

WORDS: tuple[tuple[str, Side, str], ...] = (  # as part of a name, the side, and the part of the other side's name
    ("r", "right", "l"), ("l", "left", "r"), ("right", "right", "left"), ("left", "left", "right"),
    ("R", "right", "L"), ("L", "left", "R"), ("Right", "right", "Left"), ("Left", "left", "Right"),
)  # fmt: skip


def side_of(name: str) -> Side | None:
    """The side that the first or the last part of a name states, between underscores; None if neither does."""
    parts = name.split("_")
    return next((side for word, side, _ in WORDS for end in (-1, 0) if parts[end] == word), None)


def stated_side(joint: str, side: Side | None) -> Side:
    """The side that is given, else the one that the name of a joint states.

    Raises
    ------
    ModelError
        Where neither does.
    """
    chosen = side or side_of(joint)
    if chosen not in SIDES:
        raise ModelError(
            f"side: joint '{joint}' neither begins nor ends with a side, such as _r or left_; give side='right' or side='left'"
        )
    return chosen


def on_other_side(name: str) -> str:
    """The name of the other side's part; the same name where it states no side."""
    parts = name.split("_")
    for end in (-1, 0):
        for word, _, other in WORDS:
            if parts[end] == word:
                parts[end] = other
                return "_".join(parts)
    return name
