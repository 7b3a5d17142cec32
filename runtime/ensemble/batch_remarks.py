"""Remarks on cases of a batch: balances of their energies, and turns of joints that their states do not show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runtime.dynamics.derived import energies_of_states
from runtime.dynamics.equations import shared_workspace_for
from runtime.ensemble.task import Task
from runtime.integrate.balance_check import energies_of_motions, unbalanced_cases, weight_of
from runtime.integrate.settings import Settings
from runtime.results.undecided_turns import perhaps_unknown, remark_on_turns
from runtime.support.arrays import Floats, Ints
from runtime.system.system import System

Built = dict[int, tuple[System, Floats]]  # systems and initial states by case


def with_places(systems: Mapping[int, System]) -> list[tuple[System, Ints]]:
    """Each system once, with its keys."""
    found: dict[int, tuple[System, list[int]]] = {}
    for place, system in systems.items():
        found.setdefault(id(system), (system, []))[1].append(place)
    return [(system, np.array(places)) for system, places in found.values()]


def unbalanced(
    cases: Ints, times: Floats, motions: Floats, work: Floats, of_steps: Floats, built: Built, task: Task, counts: Ints,
    stored: Floats | None = None,
) -> dict[int, str]:  # fmt: skip
    """Remarks on cases of a batch whose energy changes by more than the tolerance explains, by their places.

    motions (cases, n, 13 bodies) at times (n,); work (cases, n) of all sources until then; of_steps (2, cases): work of all steps
    without signs, and the bound of its error.
    ``stored`` (cases, n): energy in forces, where the states do not show it.
    """
    remarks: dict[int, str] = {}
    for own, places in with_places({place: built[case][0] for place, case in enumerate(cases.tolist())}):
        of_case = energies_of(own, times, motions[places], None if stored is None else stored[places])
        done = work[places], *of_steps[:, places]
        found = unbalanced_cases(weight_of(own.data), task.how, counts[places, 1], times, of_case, *done)
        remarks |= {int(places[k]): text for k, text in found.items()}
    return remarks


def undecided(cases: Ints, start: Floats, states: Floats, built: Built, how: Settings) -> dict[int, str]:
    """Remarks on cases that do not show all turns of their joints, by their places.

    start, states : of the cases at the start, (cases, 13 bodies), and at the times of the result, (cases, n, 13 bodies)
    """
    t = np.array(how.t)

    def remark(k: int) -> str:
        own = how.t_start, start[k], t, states[k]
        return remark_on_turns(built[int(cases[k])][0], *own, how.method, of_tree=False)

    far = np.flatnonzero(perhaps_unknown(how.t_start, start, t, states)).tolist()
    found = {k: remark(k) for k in far}
    return {k: remark for k, remark in found.items() if remark}


def energies_of(system: System, times: Floats, states: Floats, stored: Floats | None = None) -> Floats:
    """Energies (cases, n, 3) of states (cases, n, 13 bodies), at times (n,), of cases with the same system.

    ``stored`` (cases, n): energy in forces, where the states do not show it.
    """
    if system.loaded and stored is None:
        flat = states.reshape(-1, states.shape[2])
        none, at = np.zeros((0, 4)), np.tile(times, len(states))
        found = energies_of_states(at, flat, none, system.data, shared_workspace_for(system.data))
        return found.reshape(*states.shape[:2], -1)
    masses = np.broadcast_to(system.data.mass[1:], (len(states), len(system.bodies)))
    inertias, gravity = system.data.inertia[1:], system.gravity
    return energies_of_motions(masses, inertias, gravity, states, 0.0 if stored is None else stored)
