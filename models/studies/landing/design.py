"""The orthosis with the least stiffness that keeps inversion below a limit, by gradients through the landing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.studies.landing.runs import ANGLES, Landing, landed, scaled
from runtime import ModelError, Run, System, minimise

# Factors on the stiffness at which the limit is tried before the search; beyond the last no orthosis is sought.
FACTORS = np.geomspace(0.01, 10.0, 13).tolist()
ACTIVE = 1e-3  # of the limit: inversion this near to it shows that less stiffness does not keep it
MET = 1e-6  # of the limit, within which it is kept


@dataclass(frozen=True, eq=False)
class Design:
    """The landing with the orthosis that was found, the limit [deg] and its angle, and what was needed.

    ``tried``: number of landings with the orthosis before the search; ``runs``: of the search, each with its derivative.
    """

    landing: Landing
    angle: str
    limit: float
    tried: int
    runs: int

    @property
    def peak(self) -> float:
        """Largest inversion [deg] by the angle that is limited."""
        return self.landing.peak(self.angle)

    @property
    def kept(self) -> bool:
        """Whether inversion stays below the limit."""
        return self.peak <= (1.0 + MET) * self.limit

    @property
    def result(self) -> str:
        """The result in words."""
        scale = self.landing.scale
        if scale is None:
            return "needs no orthosis"
        if not self.kept:
            return f"not kept by up to {FACTORS[-1]:g} times the stiffness, the least is {self.peak:.3g} deg at {scale:.3g} times"
        if scale == 0.0:
            return "its damping, mass and straps alone keep it"
        return "kept" if self.peak >= (1.0 - ACTIVE) * self.limit else "kept, perhaps with less too"


def designed(
    bare: Landing, orthosis: Mapping[str, Any], angle: str, limit: float, after: float, tolerance: float
) -> Design:
    """Find the least factor on the stiffness of an orthosis about all axes with which a landing keeps inversion below a limit.

    Nothing is sought where the foot keeps the limit without an orthosis, or with the factor 0.  Otherwise the limit is tried at
    ``FACTORS``.  Between the largest one that does not keep it and the next one, from which on all keep it,
    ``runtime.minimise`` finds the least factor by derivatives of the landing.  The limit holds at each output time from
    touch-down on.

    Parameters
    ----------
    bare : Landing
        Without an orthosis.
    orthosis : mapping
        Keywords of ``Builder.orthosis``.
    angle, limit : str, float [deg]
        The inversion that is limited, of ``ANGLES``.
    after, tolerance : float [s], float
        As of ``landed``.

    Raises
    ------
    ModelError
        Where a landing fails or has no derivatives, as if a sphere only grazes the ground.
    """
    ankle, case = bare.ankle, bare.case

    def tried_at(scale: float | None) -> Landing:
        one = bare if scale is None else landed(ankle, case, orthosis, scale, after, tolerance)
        if one.failure:
            which = "without an orthosis" if scale is None else f"with {scale:.3g} times the stiffness"
            raise ModelError(f"the landing {which} failed: {one.failure}")
        return one

    for count, scale in enumerate((None, 0.0)):
        if (least := tried_at(scale)).peak(angle) <= limit:
            return Design(least, angle, limit, count, 0)
    tried = [least, *map(tried_at, FACTORS)]
    broken = [k for k, one in enumerate(tried) if one.peak(angle) > limit]
    if broken[-1] == len(FACTORS):
        return Design(min(tried, key=lambda one: one.peak(angle)), angle, limit, len(tried), 0)
    low, high = tried[broken[-1]], tried[broken[-1] + 1]
    t = case.times(after)
    grounded = t >= max(low.touch_down, high.touch_down)  # with each factor between the two

    def build(scale: float) -> System:
        return case.build(ankle, scaled(orthosis, scale))

    def inversion(run: Run) -> np.ndarray:
        return ANGLES[angle].of(run)[0][grounded]

    found = minimise(
        build, {"scale": high.scale}, float(t[-1]), "scale", bounds={"scale": (low.scale, high.scale)},
        constraints={inversion: (None, limit)}, t_eval=t, rtol=tolerance, atol=tolerance, check_units=False,
    )  # fmt: skip
    least = Landing(ankle, case, float(found.values["scale"]), found.sensitivities.run, tolerance)
    kept = least.peak(angle) <= (1.0 + MET) * limit
    return Design(least if kept else high, angle, limit, len(tried), found.runs)
