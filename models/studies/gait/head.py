"""Facts that head the page of a walk: subject, trials and filters, as laboratories state them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.studies.gait.curves import by_foot
from models.walking.capture import Capture
from models.walking.cycle_curves import speed_of
from models.walking.gait_result import Gait
from models.walking.preparation import Filters


def head(found: Sequence[Gait], recorded: Sequence[Capture], filters: Filters) -> dict[str, str]:
    """Name and value of each fact; the patient's line comes first, of what the files of the trials state."""
    person = found[0].subject
    feet = by_foot(found)
    trials = list(dict.fromkeys(one.name.removesuffix(f", {one.side} foot") for one in found))
    facts = {
        "patient": _patient(found, recorded, len(trials)),
        "subject": f"{person.name}, {person.mass:.1f} kg ({person.sources['mass']})",
        "feet": " and ".join(feet),
        "trials": ", ".join(trials),
        "markers": person.landmarks.marker_set,
        "filters": filters.text(),
        "gait events": ", ".join(dict.fromkeys(f"from the {one.cycle.source}" for one in found)),
        "axes": "x anterior, y medial, z up; dorsiflexion and inversion are positive and zero while standing",
    }
    return facts | {f"{side} foot": _steps(trials) for side, trials in feet.items()}


def _patient(found: Sequence[Gait], recorded: Sequence[Capture], trials: int) -> str:
    """Name, sex, age, height, mass, date, speed, feet and number of trials, as far as they are known."""
    person, stated = found[0].subject, [one.subject for one in recorded]
    names, ages = [one.name for one in stated if one.name], [one.age for one in stated if one.age]
    speeds = [speed for one in found if np.isfinite(speed := speed_of(one))]
    parts = [
        (names or [person.name])[0],
        person.sex,
        ages and f"{ages[0]:g} years",
        person.height and f"{person.height:.2f} m",
        f"{person.mass:.1f} kg",
        ", ".join(dict.fromkeys(one.date for one in recorded if one.date)),
        speeds and f"{np.mean(speeds):.2f} m/s",
        f"{' and '.join(by_foot(found))} foot",
        f"{trials} trial{'s' * (trials > 1)}",
    ]
    return ", ".join(str(part) for part in parts if part)


def _steps(trials: Sequence[Gait]) -> str:
    """Means of the spatiotemporal parameters over the trials in which they are seen."""
    parts = (
        ("speed", "m/s", ".2f", [speed_of(one) for one in trials]),
        ("cadence", "steps/min", ".0f", [one.spatiotemporal.cadence for one in trials]),
        ("stride", "m", ".2f", [one.spatiotemporal.stride_length for one in trials]),
        ("step", "m", ".2f", [one.spatiotemporal.step_length for one in trials]),
        ("stance", "%", ".0f", [one.spatiotemporal.stance for one in trials]),
        ("double support", "%", ".0f", [one.spatiotemporal.double_support for one in trials]),
    )
    known = [(name, unit, form, [v for v in values if np.isfinite(v)]) for name, unit, form, values in parts]
    return ", ".join(f"{name} {np.mean(values):{form}} {unit}" for name, unit, form, values in known if values)
