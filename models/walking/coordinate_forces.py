"""Forces that springs and limits of coordinates of a file exert along a motion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from generated import force_hinge_limit as hinge_limit
from models.files.description import Description, Floats, LimitForce, Step
from runtime.jit.python_code import with_arrays

MOMENT_J = 6 + 5  # place of the moment on body j about z, in what the kernel gives
STATE, LOADS = 13, 26  # numbers of a body, and of forces and energies before the reported quantities


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
    spring = -step.stiffness * (x - step.free) - step.damping * rate
    return spring + sum((_limit(limit, x, rate) for limit in step.limits), np.zeros_like(x))


def _limit(limit: LimitForce, x: Floats, rate: Floats) -> Floats:
    """By the kernel of ``hinge_limit``, of a hinge along z at the angle x; a slide's law is the same."""
    zero, one = np.zeros_like(x), np.ones_like(x)
    still, turning = np.stack([zero] * STATE), np.stack([zero] * (STATE - 1) + [rate])
    directions = [zero, zero, one, one, zero, zero, np.cos(x), np.sin(x), zero]
    ends = [limit.upper_stiffness, limit.lower_stiffness, limit.damping, limit.transition]
    middle, half = (limit.lower + limit.upper) / 2.0, (limit.upper - limit.lower) / 2.0
    out = np.zeros((LOADS + len(hinge_limit.OUTPUTS), len(x)))
    with_arrays(hinge_limit.evaluate)(still, turning, [*directions, *ends, middle, half, x], out)
    return out[MOMENT_J]
