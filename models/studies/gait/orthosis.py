"""What an orthosis would contribute to the moments of the ankle over the gait cycle: a table and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from models.studies.gait.curves import by_foot
from models.studies.orthosis_shares import COLUMNS, NOTE, chart, shares
from models.walking.cycle_curves import curve
from models.walking.gait_result import PERCENT, Gait
from models.walking.leg_foot import JOINTS
from runtime.report import Table, plots
from runtime.report.figure_files import Drawing


def _means(found: Sequence[Gait]) -> Iterator[tuple[str, str, Any, Any, float]]:
    """Foot, joint, mean moment and mean part of the orthosis over the cycle (101,) [N m/kg], and mean of toe off [%]."""
    for side, trials in by_foot(found).items():
        for joint in JOINTS[:2]:
            moment = np.mean([curve(one, "moment", joint) for one in trials], axis=0)
            part = np.mean([one.over_cycle(one.orthosis_moments[joint]) / one.subject.mass for one in trials], axis=0)
            if np.isfinite(moment).all():
                yield side, joint, moment, part, float(np.mean([one.toe_off for one in trials]))


def table(found: Sequence[Gait]) -> Table:
    """A row for each foot and joint of the ankle: means over the trials."""
    rows = [
        [side, joint, *shares(moment, part, toe_off >= PERCENT)] for side, joint, moment, part, toe_off in _means(found)
    ]
    note = f"{NOTE}  Means over the trials.  A neutral angle of the orthosis counts from the pose of the static trial."
    return Table("orthosis", ["foot", "joint", *COLUMNS], rows, note, brief=["foot", "joint", *COLUMNS[:3]])


def figures(found: Sequence[Gait]) -> dict[str, Drawing]:
    """The figure by its file name."""
    charts = [
        chart(f"{joint} moment, {side} foot", PERCENT, moment, part) for side, joint, moment, part, _ in _means(found)
    ]
    shows = "Moment of both joints of the ankle over the gait cycle, with the part of the orthosis and what is left to muscles."
    return {"orthosis": Drawing(partial(plots.charts, charts, "gait cycle [%]"), shows)}


def answer(found: Sequence[Gait]) -> str:
    """The largest talocrural moment, and what is left of it."""
    parts = []
    for side, joint, moment, part, toe_off in _means(found):
        if joint == JOINTS[0]:
            largest, _, _, left, change, _ = shares(moment, part, toe_off >= PERCENT)
            parts.append(f"{side} foot from {abs(largest):.2f} to {abs(left):.2f} N m/kg ({change:+.1f} %)")
    return f"The orthosis changes the largest talocrural moment of muscles, in the same motion: {'; '.join(parts)}."
