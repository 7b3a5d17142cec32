"""Cases of the foot, the run of one case by ``simulate``, and ensembles whose systems are built at once and alone."""

from functools import cache

import numpy as np

import models
import runtime
from runtime import simulate
from runtime.ensemble import built_at_once, chunk
from runtime.ensemble.built_at_once import Known
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


def once_and_each(monkeypatch, t_end, settings):
    """Function and cases -> the ensemble at once, the one with each system built alone, and how many cases were done at once."""
    run, done = built_at_once.run_built, []

    def counted(*arguments):
        known = run(*arguments)
        done.append(len(known.done))
        return known

    def call(build, cases, t_end=t_end, **more):
        done.clear()
        found, together = [], settings | {"chunk": len(next(iter(cases.values())))} | more
        for how in (counted, lambda *_: Known()):
            monkeypatch.setattr(chunk, "run_built", how)
            found.append(runtime.simulate_many(build, cases, t_end, **together))
        return *found, sum(done)

    return call


def equal(once, each):
    """Two ensembles have the same bits, messages and counts."""
    same = [
        np.array_equal(getattr(once, name), getattr(each, name))
        for name in ("status", "in_batch", "evaluations", "steps")
    ]
    return all(same) and np.array_equal(once.states(), each.states(), equal_nan=True) and once.messages == each.messages
