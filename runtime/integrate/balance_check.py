"""Whether the tolerance of a run explains the error of its energy balance."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.dynamics.model_data import ModelData
from runtime.integrate.balance import (
    AT,
    EXCHANGED,
    HIGHEST,
    KINETIC,
    LARGEST_ERROR,
    LOWEST,
    START,
    UNCERTAIN,
    UNRESOLVED,
)
from runtime.integrate.method import Method
from runtime.integrate.settings import Settings
from runtime.jit.compilation import compiled, inlined
from runtime.jit.python_code import python_code
from runtime.results.energy_balance import Work
from runtime.support.arrays import Floats, Ints
from runtime.system.muscle_paths import is_muscle
from runtime.system.reference import rotation_matrices
from runtime.system.system import System

LENGTH = re.compile(r"(first_|second_)?length_\d+$")  # of a wrap along the path of a muscle

# What each step may add to the error, in units of the tolerance.  Measured on feet, pendulums, chains, loops, contacts, limits,
# springs, motors and drivers, with tolerances from 1e-12 to 1e-3: in runs of 10 steps half of this at most, in long ones a
# hundredth.
EACH_STEP = 2.0
# So that 100 tolerances are explained in any run: states between the ends of a step may be off by as much.
FEWEST_STEPS = 50
MOST = 0.05  # of the energy: a larger error is not explained, unless that of a few states explains it
FEW = 10.0
WEIGHTS = 0.1  # part of the height by which an error of all positions lifts the bodies
# The error of an integral over a power with kinks, in units of the estimate of order 5.
BEYOND = 10.0
ROUNDING = 1e-13  # of the energies, times the square root of the number of steps


def explained_error(method: Method, how: Settings) -> float:
    """The error of the energy balance [J] that the tolerance explains."""
    e = method.balance.tolist()
    energies = e[KINETIC], e[LOWEST], e[HIGHEST]
    weight = weight_of(method.data)
    return float(explained_by(weight, how, method.counts()[1], *energies, e[EXCHANGED])) + e[UNCERTAIN]  # type: ignore[no-any-return]


def weight_of(data: ModelData) -> tuple[float, float]:
    """Mass [kg] of the bodies of a system, and its gravity [m/s^2]."""
    return sum(data.mass.tolist()[1:]), math.hypot(*data.gravity.tolist())


def weights_of(masses: Floats, gravity: Floats) -> tuple[Floats, Floats]:
    """``weight_of`` cases: masses (cases, bodies), gravity (3,) or (cases, 3)."""
    return sum(masses.T), np.hypot(np.hypot(gravity[..., 0], gravity[..., 1]), gravity[..., 2])  # type: ignore[return-value]


def explained_by(
    weight: tuple[Any, Any], how: Settings, steps: Any, kinetic: Any, lowest: Any, highest: Any, exchanged: Any
) -> Any:
    """Of runs with a largest kinetic energy, a lowest and highest potential, and an exchange with sources [J].

    Errors of the velocities by ``rtol`` of themselves change the energy by this part of it, errors by ``atol`` [m/s] by the
    momentum times it; errors of the positions by ``atol`` [m] by the weight times it.
    """
    return python_code(explained_energy)(*weight, _rules(how), steps, kinetic, lowest, highest, exchanged)


def _rules(how: Settings) -> Floats:
    """Tolerances, and the constants above, (7,)."""
    return np.array([how.rtol, how.atol, EACH_STEP, MOST, FEW, WEIGHTS, ROUNDING])


@inlined
def explained_energy(mass, g, rules, steps, kinetic, lowest, highest, exchanged):  # type: ignore[no-untyped-def]
    """``explained_by`` with ``_rules``: in compiled code of one run, otherwise of any."""
    rtol, atol, rounding = rules[0], rules[1], rules[6]
    each_step, most, few, weights = rules[2], rules[3], rules[4], rules[5]
    steps = np.maximum(steps, FEWEST_STEPS)
    energy = kinetic + highest - lowest + exchanged
    of_state = atol * (np.sqrt(2.0 * mass * kinetic) + weights * mass * g)
    of_steps = np.minimum(each_step * steps * (rtol * energy + of_state), np.maximum(most * energy, few * of_state))
    return of_steps + rounding * np.sqrt(steps) * (energy + abs(lowest) + abs(highest))


def energies_of_motions(masses: Floats, inertias: Floats, gravity: Floats, states: Floats) -> Floats:
    """Kinetic energy, that of gravity and stored energy, 0, (cases, n, 3) of states (cases, n, 13 bodies) without forces.

    masses (cases, bodies), inertias (cases, bodies, 3, 3), gravity (cases, 3)
    """
    s = states.reshape(*states.shape[:2], -1, STATE)
    A = rotation_matrices(s[..., P:V].reshape(-1, 4)).reshape(*s.shape[:3], 3, 3)
    omega = np.einsum("cnbji,cnbj->cnbi", A, s[..., OMEGA:])
    energies = np.zeros((*s.shape[:2], 3))
    energies[..., 0] = 0.5 * np.einsum("cnbi,cbij,cnbj->cn", omega, inertias, omega)
    energies[..., 0] += 0.5 * np.einsum("cb,cnbi->cn", masses, s[..., V:OMEGA] ** 2)
    energies[..., 1] = -np.einsum("cb,cnbi,ci->cn", masses, s[..., R:P], gravity)
    return energies


def unbalanced_cases(
    weight: tuple[Any, Any],
    how: Settings,
    steps: Ints,
    times: Floats,
    energies: Floats,
    work: Floats,
    exchanged: Floats | float = 0.0,
    unresolved: Floats | float = 0.0,
    jumps: str = "",
) -> dict[int, str]:
    """Remarks as of ``judged`` by case.

    weight: as of ``weight_of`` or ``weights_of``; energies (cases, n, 3) at times (n,) as of ``energies_of_states``;
    work (cases, n) of the sources until then; exchanged (cases,): that of all steps without signs, where it is known;
    unresolved (cases,): bound of the error of the work, as of ``balance.UNRESOLVED``; jumps: as of ``jumps_of_paths``.
    """
    found, count = np.empty((3, len(energies))), np.ascontiguousarray(steps)
    mass, gravity, exchanged = (np.array(values, float, ndmin=1) for values in (*weight, exchanged))
    energies, work = np.ascontiguousarray(energies), np.ascontiguousarray(work)
    if find_unexplained(energies, work, mass, gravity, exchanged, count, _rules(how), found) == 0:
        return {}
    worst, at, explained = found
    bounds = np.broadcast_to(unresolved, worst.shape)
    return {
        c: remark_on_balance(float(worst[c]), float(times[int(at[c])]), float(explained[c]), float(bounds[c]), jumps)
        for c in np.flatnonzero(~(worst <= explained)).tolist()
    }


@compiled
def find_unexplained(energies, work, mass, gravity, exchanged, steps, rules, found):  # type: ignore[no-untyped-def]
    """The number of cases with energies (cases, n, 3) and work (cases, n) of sources whose error the tolerance does not explain.

    mass, gravity, exchanged (cases or 1,) as of ``unbalanced_cases``; steps (cases,); rules: as of ``_rules``.
    Filled: ``found`` (3, cases) with the largest error, its place, and what the tolerance explains.
    """
    unexplained = 0
    for c in range(len(energies)):
        kinetic, lowest, highest, most, worst, at, start = 0.0, np.inf, -np.inf, 0.0, 0.0, 0, 0.0
        for n in range(energies.shape[1]):
            potential = energies[c, n, 1] + energies[c, n, 2]
            total = energies[c, n, 0] + potential - work[c, n]
            start = total if n == 0 else start
            kinetic, most = max(kinetic, energies[c, n, 0]), max(most, abs(work[c, n]))
            lowest, highest = min(lowest, potential), max(highest, potential)
            error = abs(total - start)
            if not error <= worst:  # also where it is not a number
                worst, at = error, n
            if worst != worst:
                break
        most = np.maximum(exchanged[min(c, len(exchanged) - 1)], most)
        weight = mass[min(c, len(mass) - 1)], gravity[min(c, len(gravity) - 1)]
        explained = explained_energy(*weight, rules, steps[c], kinetic, lowest, highest, most)
        found[0, c], found[1, c], found[2, c] = worst, at, explained
        unexplained += not worst <= explained
    return unexplained


def judged(method: Method, how: Settings, done: Floats, system: System) -> tuple[Work, str]:
    """The work of a run, (n, sources) at the times of its result, and a remark where its balance is not explained; else ""."""
    e, explained = method.balance, explained_error(method, how)
    work = Work(done, float(e[START]), float(e[LARGEST_ERROR]), float(e[AT]), explained)
    if abs(work.error) <= explained:
        return work, ""
    jumps = jumps_of_paths(system)
    return work, remark_on_balance(work.error, work.time, explained, float(e[UNRESOLVED]), jumps)


def jumps_of_paths(system: System) -> str:
    """A cause of a balance that is off, beside the tolerance: muscles over wraps of finite length; "" for none."""
    found = [
        repr(f.name) for f in system.forces if is_muscle(f) and any(LENGTH.match(p) for p, _ in f.module.PARAMETERS)
    ]
    if not found:
        return ""
    return f"; or give wraps more length if the path of muscle {' or '.join(found)} leaves an end of one, where its length jumps"


def remark_on_balance(error: float, time: float, explained: float, unresolved: float, jumps: str = "") -> str:
    """That the balance is off by an error [J] at a time [s], of which the tolerance explains a part [J].

    unresolved [J]: bound of the error of the work; where it explains the rest, steps follow the motion alone
    jumps : as of ``jumps_of_paths``
    """
    off = f"; the energy balance is off by {abs(error):.2g} J at t = {time:.6g} s, "
    if abs(error) <= BEYOND * unresolved:
        return off + (
            "as the power of a source changes abruptly within steps, which follow the motion but not the work: give max_step "
            "where the work matters"
        )
    return off + f"the tolerance explains {explained:.1g} J: lower rtol and atol{jumps}"
