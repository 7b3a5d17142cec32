"""Whether the tolerance of a run explains the error of its energy balance."""

from __future__ import annotations

import math

from runtime.integrate.balance import AT, EXCHANGED, HIGHEST, KINETIC, LARGEST_ERROR, LOWEST, START, UNCERTAIN
from runtime.integrate.methods import Method
from runtime.integrate.settings import Settings
from runtime.results.energy_balance import Work
from runtime.support.arrays import Floats

# What each step may add to the error, in units of the tolerance.  Measured on feet, pendulums, chains, loops, contacts, limits,
# springs, motors and drivers, with tolerances from 1e-12 to 1e-3: in runs of 10 steps half of this at most, in long ones a
# hundredth.
EACH_STEP = 2.0
MOST = 0.05  # of the energy: a larger error is not explained, unless that of a few states explains it
FEW = 10.0
WEIGHTS = 0.1  # part of the height by which an error of all positions lifts the bodies
ROUNDING = 1e-13  # of the energies, times the square root of the number of steps


def explained_error(method: Method, how: Settings) -> float:
    """The error of the energy balance [J] that the tolerance explains.

    Errors of the velocities by ``rtol`` of themselves change the energy by this part of it, errors by ``atol`` [m/s] by the
    momentum times it; errors of the positions by ``atol`` [m] by the weight times it.
    """
    e, steps = method.balance.tolist(), max(method.counts()[1], 1)
    mass, g = sum(method.data.mass.tolist()[1:]), math.hypot(*method.data.gravity.tolist())
    energy = e[KINETIC] + e[HIGHEST] - e[LOWEST] + e[EXCHANGED]
    of_state = how.atol * (math.sqrt(2.0 * mass * e[KINETIC]) + WEIGHTS * mass * g)
    of_steps = min(EACH_STEP * steps * (how.rtol * energy + of_state), max(MOST * energy, FEW * of_state))
    rounding = ROUNDING * math.sqrt(steps) * (energy + abs(e[LOWEST]) + abs(e[HIGHEST]))
    explained: float = of_steps + e[UNCERTAIN] + rounding
    return explained


def judged(method: Method, how: Settings, done: Floats) -> tuple[Work, str]:
    """The work of a run, (n, sources) at the times of its result, and a remark where its balance is not explained; else ""."""
    e, explained = method.balance, explained_error(method, how)
    work = Work(done, float(e[START]), float(e[LARGEST_ERROR]), float(e[AT]), explained)
    if abs(work.error) <= explained:
        return work, ""
    return work, (
        f"; the energy balance is off by {abs(work.error):.2g} J at t = {work.time:.6g} s, the tolerance explains "
        f"{explained:.1g} J: lower rtol and atol"
    )
