"""Cases of the foot, and the run of one case by ``simulate``."""

from functools import cache

import numpy as np

import models
import runtime
from runtime import simulate
from runtime.system.quantity import parse

SETTINGS = dict(rtol=1e-9, atol=1e-9)
GRID = np.linspace(0.0, 0.5, 11)


@cache
def thrown(count, seed=0):
    """Velocities of the foot that its joints allow, by case."""
    system, rng = models.foot.build(), np.random.default_rng(seed)
    found = [
        runtime.assemble(system, system.state.replace(omega={"main_foot": rng.normal(size=3)}), project_velocities=True)
        for _ in range(count)
    ]
    return {
        f"{part}.{body}": np.array([getattr(state, part)[body] for state in found])
        for part in ("v", "omega")
        for body in ("main_foot", "toes")
    }


def alone(system, cases, number, t_end, **settings):
    """The run of one case by ``simulate``."""
    state = system.state
    for name, values in cases.items():
        quantity = parse(name)
        state = state.replace(**{quantity.part: {quantity.owner: values[number]}})
    return simulate(system, t_end, initial=state, **settings)
