"""Facts that head the page of a walk: subject, trials and filters, as laboratories state them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.studies.gait.curves import by_foot
from models.walking.gait_result import Gait
from models.walking.preparation import Filters


def head(found: Sequence[Gait], filters: Filters) -> dict[str, str]:
    """Name and value of each fact."""
    person = found[0].subject
    feet = by_foot(found)
    facts = {
        "subject": f"{person.name}, {person.mass:.1f} kg ({person.sources['mass']})",
        "feet": " and ".join(feet),
        "trials": ", ".join(dict.fromkeys(one.name.removesuffix(f", {one.side} foot") for one in found)),
        "markers": person.landmarks.marker_set,
        "filters": filters.text(),
        "gait events": ", ".join(dict.fromkeys(f"from the {one.cycle.source}" for one in found)),
        "axes": "x anterior, y medial, z up; dorsiflexion and inversion are positive and zero while standing",
    }
    return facts | {f"{side} foot": _steps(trials) for side, trials in feet.items()}


def _steps(trials: Sequence[Gait]) -> str:
    """Means of the spatiotemporal parameters over the trials in which they are seen."""
    parts = (
        ("speed", "m/s", ".2f", [one.speed for one in trials if np.isfinite(one.spatiotemporal.stride_length)]),
        ("cadence", "steps/min", ".0f", [one.spatiotemporal.cadence for one in trials]),
        ("stride", "m", ".2f", [one.spatiotemporal.stride_length for one in trials]),
        ("step", "m", ".2f", [one.spatiotemporal.step_length for one in trials]),
        ("stance", "%", ".0f", [one.spatiotemporal.stance for one in trials]),
        ("double support", "%", ".0f", [one.spatiotemporal.double_support for one in trials]),
    )
    known = [(name, unit, form, [v for v in values if np.isfinite(v)]) for name, unit, form, values in parts]
    return ", ".join(f"{name} {np.mean(values):{form}} {unit}" for name, unit, form, values in known if values)
