"""The motions of several trials in one view: the first, and the others in its place, chosen by a slider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from models.walking.gait_result import Gait
from runtime.results import Seen

if TYPE_CHECKING:
    from runtime.results import DrawnMotion

CHOICE = "other trial, beginning with the foot strike of the first"


class Aligned(Seen):
    """The motion of a trial, moved in time and along the ground so that its foot strikes where and when that of another does."""

    def __init__(self, one: Gait, to: Gait) -> None:
        self.one, self.to = one, to

    def drawn_motion(self) -> DrawnMotion:
        """The bodies of the trial; forces and markers stay where they were, as views of several motions do not draw them."""
        own, other = self.one.drawn_motion(), self.to.drawn_motion()
        moved = _at_strike(self.to, other) - _at_strike(self.one, own)
        moved[2] = 0.0
        times = own.t + (self.to.cycle.strike - self.one.cycle.strike)
        return replace(own, t=times, r={body: path + moved for body, path in own.r.items()})


def _at_strike(one: Gait, motion: DrawnMotion) -> Any:
    """Position (3,) [m] of the main foot at foot strike."""
    return np.array([np.interp(one.cycle.strike, motion.t, column) for column in motion.r["main_foot"].T])


def others(found: Sequence[Gait]) -> dict[str, Any]:
    """Options of a view of the first trial that show the others too."""
    first, *more = found
    return {"ghosts": {one.name: Aligned(one, first) for one in more}, "choice": CHOICE} if more else {}
