"""Residuals of inverse dynamics: what the coordinates between ground and body need, which nothing exerts on a person.

They measure how well motion, inertia and ground forces agree.  Hicks, Uchida, Seth, Rajagopal and Delp (2015), Is my model good
enough?, Journal of Biomechanical Engineering 137, 020905: residual forces below 5 % of the net external force, residual moments
below 1 % of this force times the height of the centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.files.description import WORLD, Description, Floats
from models.files.reading import Reading
from models.files.virtual_power import ways_at
from models.walking.opensim_trial import Trial
from runtime.support import checked

FORCE_SHARE, MOMENT_SHARE = 0.05, 0.01  # Hicks et al. (2015)


@dataclass(frozen=True, eq=False)
class Residual:
    """Force [N] or moment [N m] of a coordinate of the link that the ground carries.

    ``limit``: the threshold of Hicks et al. (2015) for this trial; NaN without external forces.
    """

    coordinate: str
    unit: str
    values: Floats
    limit: float

    @property
    def rms(self) -> float:
        """Root mean square."""
        return float(np.sqrt(np.mean(self.values**2)))

    @property
    def peak(self) -> float:
        """Largest magnitude."""
        return float(np.abs(self.values).max())

    @property
    def within(self) -> bool:
        """Whether the largest magnitude is within the threshold."""
        return self.peak <= self.limit


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of a trial, forces first; ``external``: largest net external force [N]; ``height``: of the centre of mass [m]."""

    of: tuple[Residual, ...]
    external: float
    height: float

    @property
    def within(self) -> bool:
        """Whether all are within the thresholds."""
        return all(one.within for one in self.of)


@checked
def residuals(reading: Reading, trial: Trial) -> Residuals:
    """Residuals of inverse dynamics, with the thresholds of Hicks et al. (2015).

    Parameters
    ----------
    reading : Reading
        The model.
    trial : Trial
        From ``inverse_dynamics_of_trial``.
    """
    source = reading.source
    net = np.zeros((len(trial.t), 3))
    for load in trial.loads:
        net = net + load.force
    external = float(np.linalg.norm(net, axis=1).max())
    height = _height(source, trial)
    force, moment = (FORCE_SHARE * external, MOMENT_SHARE * external * height) if external > 0.0 else (np.nan, np.nan)
    roots = [step for link in source.links if link.parent == WORLD for step in link.steps]
    coordinate = {law.step: law.coordinate for law in source.laws}
    names = list(dict.fromkeys(coordinate[step.name] for step in roots if step.name in coordinate))
    found = [
        Residual(name, trial.units[name], trial.forces[name], force if trial.units[name] == "N" else moment)
        for name in names
    ]
    return Residuals(tuple(sorted(found, key=lambda one: one.unit != "N")), external, height)


def _height(source: Description, trial: Trial) -> float:
    """Mean height of the centre of mass over the ground's origin [m]."""
    names = list(trial.q)
    table = np.stack([np.stack([of[name] for name in names]) for of in (trial.q, trial.u, trial.u_dot)])
    ways, _ = ways_at(source, names, table)
    mass = sum(link.mass for link in source.links)
    centre = sum(link.mass * ways[link.name][-1].place(link.centre) for link in source.links) / mass
    g = float(np.linalg.norm(source.gravity))
    return float(np.mean(centre @ (-source.gravity / g))) if g > 0.0 else 0.0
