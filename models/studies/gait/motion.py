"""The motions of several trials in one view: the first, and the others in its place, chosen by a slider.

With muscles the legs of the first trial are beside each other, coloured by the activations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from models.studies import muscle_report
from models.studies.gait.muscles import Walks
from models.walking.gait_result import Gait
from models.walking.swapped_ankle import MODIFIED, AnkleTrial
from runtime.results import Seen

if TYPE_CHECKING:
    from runtime.results import DrawnMotion

CHOICE = "other trial, beginning with the foot strike of the first"


@dataclass(frozen=True)
class FootStrike:
    """A motion whose foot strikes at a time [s]."""

    motion: Seen
    foot: str
    strike: float

    @classmethod
    def of(cls, one: Gait) -> FootStrike:
        """That of the driven leg of a trial."""
        return cls(one, "main_foot", one.cycle.strike)

    def place(self, drawn: DrawnMotion) -> Any:
        """Position (3,) [m] of the foot at its strike."""
        return np.array([np.interp(self.strike, drawn.t, column) for column in drawn.r[self.foot].T])


class Aligned(Seen):
    """The motion of a trial, moved in time and along the ground so that its foot strikes where and when that of another does."""

    def __init__(self, one: FootStrike, to: FootStrike) -> None:
        self.one, self.to = one, to

    def drawn_motion(self) -> DrawnMotion:
        """The bodies and loads of the trial; markers are not drawn of several motions."""
        own, other = self.one.motion.drawn_motion(), self.to.motion.drawn_motion()
        up = -own.outline.gravity / np.linalg.norm(own.outline.gravity)
        moved = self.to.place(other) - self.one.place(own)
        moved -= up * (up @ moved)
        loads = {name: load._replace(point=load.point + moved) for name, load in own.loads.items()}
        times = own.t + (self.to.strike - self.one.strike)
        return replace(own, t=times, r={body: path + moved for body, path in own.r.items()}, loads=loads)


def others(found: Sequence[Gait]) -> dict[str, Any]:
    """Options of a view of the first trial that show the others too."""
    first, *more = found
    return (
        {"ghosts": {one.name: Aligned(FootStrike.of(one), FootStrike.of(first)) for one in more}, "choice": CHOICE}
        if more
        else {}
    )


def with_muscles(walks: Walks) -> tuple[Seen, dict[str, Any]]:
    """The first leg with its muscles, and options of its view: the other leg of its trial beside it, other trials by a slider.

    Legs of other trials are transparent, without muscles, which would make a page of one megabyte each.
    """
    (one, compared), *more = walks
    first = _strike(one, compared.trials[MODIFIED])
    beside, ghosts = dict[str, Seen](), dict[str, Seen]()
    for other, own in more:
        if _trial(other) == _trial(one):
            beside[_name(other)] = Aligned(_strike(other, own.trials[MODIFIED]), first)
        else:
            ghosts[_name(other)] = Aligned(_strike(other, replace(own.trials[MODIFIED], muscles=None)), first)
    options = {"name": _name(one), "curves": muscle_report.curves(compared, MODIFIED), "beside": beside}
    return first.motion, options | ({"ghosts": ghosts, "choice": CHOICE} if ghosts else {})


def _strike(one: Gait, trial: AnkleTrial) -> FootStrike:
    return FootStrike(trial, f"calcn_{one.side[0]}", one.cycle.strike)


def _trial(one: Gait) -> str:
    return one.name.removesuffix(f", {one.side} foot")


def _name(one: Gait) -> str:
    return f"{_trial(one)}, {one.side} foot"
