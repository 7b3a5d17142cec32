"""Forces that springs and limits of coordinates of a file exert along a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from models.files.description import Description, Floats, Step
from runtime.system import limit_moment


def coordinate_forces(source: Description, q: Mapping[str, Floats], u: Mapping[str, Floats]) -> dict[str, Floats]:
    """Generalised forces (times,) [N m], [N] of springs, dampers and limits of coordinates, by coordinate, where there are any.

    Parameters
    ----------
    source : Description
    q, u : mapping
        Coordinates of the file and their rates, (times,) each.
    """
    coordinate = {law.step: law.coordinate for law in source.laws if law.own}
    found: dict[str, Floats] = {}
    for _, step in source.steps:
        if step.name in coordinate and (step.stiffness or step.damping or step.limits):
            name = coordinate[step.name]
            found[name] = found.get(name, 0.0) + _force(step, q[name] - step.reference, u[name])
    return found


def _force(step: Step, x: Floats, rate: Floats) -> Floats:
    total = -step.stiffness * (x - step.free) - step.damping * rate
    for limit in step.limits:
        total = total + limit_moment(x, rate, **asdict(limit))
    return total
