"""Energy balance of an integration in compiled code: the work of each source, integrated by the method, against the energy.

The powers of the sources are those of the stages of the method, so their integrals are as accurate as its steps and cost no
evaluation.  At the end of each step the energy is compared with the work.  Contacts may lose what their springs store, or find it
again, where their mode changes (``ContactWorkspace.released``): this counts as their work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.energy import energies_of, powers
from runtime.dynamics.model_data import ModelData, size_of_states
from runtime.dynamics.sources import count_of_sources, first_contact
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats

STAGES = 16  # most stages of a method, with those of its dense output
EVERY = 8  # steps for one comparison, in systems whose only sources are limits that a kernel knows, or that have none


class Balance(NamedTuple):
    """Work of the sources of energy; arrays without columns where there are none."""

    # (3, sources) [J] until the time reached; until the start of the last step; until the end of the last attempt
    work: Floats
    power: (
        Floats  # (STAGES + 2, sources) [W] at the stages of the last attempt; at the start of the step and at its end
    )
    # (14,) [J] at the start; change less the work, at the end of the last attempt; largest such error and its time [s]; largest
    # kinetic energy; least and largest potential; work done by all sources without their signs; at the last measurement kinetic
    # energy, potential energy of gravity and all potentials; error of the integrals of the work, where it is estimated; its bound
    # in all steps and in the last attempt, for powers that are not smooth.  Empty: no balance
    energy: Floats


DONE, BEFORE, TRIAL = range(3)
BEGIN, END = STAGES, STAGES + 1
ENERGIES = 14
START, ERROR, LARGEST_ERROR, AT, KINETIC, LOWEST, HIGHEST, EXCHANGED, NOW, NOW_GRAVITY, NOW_STORED, UNCERTAIN = range(
    12
)
UNRESOLVED, UNRESOLVED_NOW = 12, 13
_NONE = Balance(np.zeros((3, 0)), np.zeros((STAGES + 2, 0)), np.zeros(0))


def no_balance() -> Balance:
    """Of an integration whose energy is not asked for."""
    return _NONE


def balance_of(data: ModelData, size: int) -> Balance:
    """Memory for a state of this size of a system; none for variational equations."""
    if size != size_of_states(data):
        return no_balance()
    n, energy = count_of_sources(data), np.zeros(ENERGIES)
    return Balance(np.zeros((3, n)), np.zeros((STAGES + 2, n)), energy) if n else Balance(*_NONE[:2], energy)


@inlined
def keep_powers(b, y, y_dot, t, w, place):  # type: ignore[no-untyped-def]
    """Store the powers of the last evaluation, at a state y with the derivative y'."""
    if b.work.shape[1] > 0:
        powers(y, y_dot, t, w, b.power[place])


@inlined
def measure_energy(b, y, t, w):  # type: ignore[no-untyped-def]
    """Kinetic energy and all potentials of a state, at which the last evaluation was."""
    energies_of(y, t, w, b.energy[NOW:UNCERTAIN])
    b.energy[NOW_STORED] += b.energy[NOW_GRAVITY]


@inlined
def keep_range(b):  # type: ignore[no-untyped-def]
    """Extend the range of the energies to those of the last measurement."""
    b.energy[KINETIC] = max(b.energy[KINETIC], b.energy[NOW])
    b.energy[LOWEST] = min(b.energy[LOWEST], b.energy[NOW_STORED])
    b.energy[HIGHEST] = max(b.energy[HIGHEST], b.energy[NOW_STORED])


@inlined
def begin_balance(b, y, t, w):  # type: ignore[no-untyped-def]
    """Energy at the start, after an evaluation there."""
    if len(b.energy) > 0:
        b.energy[LOWEST], b.energy[HIGHEST] = np.inf, -np.inf
        measure_energy(b, y, t, w)
        keep_range(b)
        b.energy[START] = b.energy[NOW] + b.energy[NOW_STORED]
        for k in range(b.work.shape[1]):
            b.energy[START] -= b.work[DONE, k]  # in the parts of the run before this one


@inlined
def is_compared(b, steps, w):  # type: ignore[no-untyped-def]
    """Whether energy and work are compared at the end of a step, after so many accepted ones.

    Where all forces are generated together with their potentials it is enough to do so once in a number of steps.
    """
    always = b.work.shape[1] > 0 and len(w.tree.limits.q) == 0
    return len(b.energy) > 0 and (always or int(steps) % EVERY == 0)


@inlined
def compare(b, steps, y, t, w):  # type: ignore[no-untyped-def]
    """Compare energy and work at the end of an accurate step, before limits and contacts change their modes."""
    if is_compared(b, steps, w):
        measure_energy(b, y, t, w)
        error = b.energy[NOW] + b.energy[NOW_STORED] - b.energy[START]
        for k in range(b.work.shape[1]):
            error -= b.work[TRIAL, k]
        b.energy[ERROR] = error


@inlined
def release(b, t, w, place):  # type: ignore[no-untyped-def]
    """Add what changes of mode released or stored to the work of the contacts."""
    if len(b.energy) > 0:
        first = first_contact(t)
        for k in range(len(t.contacts.address)):
            b.work[place, first + k] += w.contacts.released[k]
            w.contacts.released[k] = 0.0


@inlined
def accept_work(b, time):  # type: ignore[no-untyped-def]
    """Keep work and error of an accepted step, which ends at a time."""
    if len(b.energy) > 0:
        for k in range(b.work.shape[1]):
            b.energy[EXCHANGED] += abs(b.work[TRIAL, k] - b.work[DONE, k])
            b.work[BEFORE, k] = b.work[DONE, k]
            b.work[DONE, k] = b.work[TRIAL, k]
        b.energy[UNRESOLVED] += b.energy[UNRESOLVED_NOW]
        b.energy[UNRESOLVED_NOW] = 0.0
        keep_range(b)
        if not abs(b.energy[ERROR]) <= abs(b.energy[LARGEST_ERROR]):
            b.energy[LARGEST_ERROR], b.energy[AT] = b.energy[ERROR], time


@inlined
def begin_step(b):  # type: ignore[no-untyped-def]
    """The powers at the end of a step are those at the start of the next one."""
    for k in range(b.work.shape[1]):
        b.power[BEGIN, k] = b.power[END, k]
