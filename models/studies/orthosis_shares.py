"""What an orthosis would contribute to the moments of a measured motion: columns of tables, charts, and what is assumed."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.report import plots

COLUMNS = (
    "largest moment [N m/kg]", "orthosis then [N m/kg]", "muscles then [N m/kg]", "largest of muscles [N m/kg]", "change [%]",
    "largest of the orthosis [N m/kg]",
)  # fmt: skip
ASSUMED = (
    "Motion and ground force remain those of the trial, as if the person moved in the same way with the orthosis.  People change "
    "both, so these are the moments that an orthosis offers, no prediction of how they walk with it."
)
NOTE = (
    f"{ASSUMED}  Over the stance.  Then: when the moment is largest, by its magnitude.  Muscles: the moment less that of the "
    "orthosis, for muscles and ligaments.  Change: of the largest magnitude, from the moment to that of muscles."
)


def shares(moment: Any, orthosis: Any, stance: Any) -> list[float]:
    """Values of ``COLUMNS`` for a moment and the orthosis's part of it (n,) [N m/kg]; ``stance``: mask (n,)."""
    moment, orthosis = np.asarray(moment)[stance], np.asarray(orthosis)[stance]
    left = moment - orthosis
    k, n, o = (int(np.abs(of).argmax()) for of in (moment, left, orthosis))
    change = 100.0 * (abs(left[n]) / abs(moment[k]) - 1.0)
    found = [moment[k], orthosis[k], left[k], left[n], change, orthosis[o]]
    return [round(float(value), 4) for value in found]


def chart(title: str, x: Any, moment: Any, orthosis: Any) -> plots.Chart:
    """The moment, the orthosis's part of it and what is left."""
    series = {"moment": (x, moment), "orthosis": (x, orthosis), "muscles and ligaments": (x, moment - orthosis)}
    return plots.Chart(title, "internal moment [N m/kg]", series)
