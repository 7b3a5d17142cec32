"""Jumps of angles by a turn, at half a turn, in what acts on a system: where a step passes one, and which force has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from runtime.dynamics.equations import workspace_for
from runtime.dynamics.model_data import ModelData
from runtime.integrate.corner_landing import sample, sample_before
from runtime.integrate.stepping import SAMPLES
from runtime.jit.compilation import compiled
from runtime.support.arrays import Floats
from runtime.system.system import System

if TYPE_CHECKING:
    from runtime.integrate.method import Method

HALVINGS = 50


@compiled
def _sample_once(time, y, t, w, to):  # type: ignore[no-untyped-def]
    """``sample``, called from Python."""
    sample(time, y, t, w, to)


def corners_at(times: Floats, states: Floats, data: ModelData) -> Floats:
    """Numbers (times, jumps) that change their sign at jumps, in states (times, n) of all bodies."""
    work, found = workspace_for(data), np.zeros((len(times), len(data.forces.jump)))
    for t, y, to in zip(times, states, found, strict=True):
        _sample_once(t, np.ascontiguousarray(y), data, work, to)
    return found[:, data.forces.jump == 1]


def jump_within(m: Method) -> float | None:
    """The time just before the first jump in the last step of a method, None if there is none."""
    low, high = m.t_old, m.t
    times = np.linspace(low, high, SAMPLES + 1)

    def first(times: Floats) -> tuple[float, float] | None:
        values = corners_at(times, np.array([m.at(t) for t in times]), m.data)
        ends = [
            (k, q)
            for q in range(1, len(times))
            for i in range(values.shape[1])
            if (k := sample_before.py_func(values, i, q)) >= 0
        ]
        return (times[ends[0][0]], times[ends[0][1]]) if ends else None

    if (bracket := first(times)) is None:
        return None
    for _ in range(HALVINGS):
        middle = 0.5 * (bracket[0] + bracket[1])
        bracket = first(np.array([bracket[0], middle, bracket[1]])) or bracket
    return float(bracket[0])


def jumping_force(t: float, y: Floats, system: System, data: ModelData) -> str:
    """The force with the angle that is nearest to its jump in a state y of all bodies."""
    values = np.abs(corners_at(np.array([t]), y[None], data)[0])
    nearest = np.flatnonzero(data.forces.jump)[int(np.argmin(np.where(values > 0.0, values, np.inf)))]
    force = system.forces[int(np.searchsorted(data.forces.corner, nearest, side="right")) - 1]
    return f"the angle of force '{force.name}' ({force.kind}) jumps from one end of a turn to the other"
