"""Cases of a batch: their different systems, and remarks on turns of joints that their states do not show."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

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


def undecided(
    system_of: Callable[[int], System], how: Settings, start: Floats, states: Floats, *, of_tree: bool
) -> dict[int, str]:
    """Remarks on cases that do not show all turns of their joints, by their places.

    start, states : of the cases at the start, (cases, 13 bodies), and at the times of the result, (cases, n, 13 bodies)
    """
    t = np.array(how.t)

    def remark(k: int) -> str:
        return remark_on_turns(system_of(k), how.t_start, start[k], t, states[k], how.method, of_tree=of_tree)

    far = np.flatnonzero(perhaps_unknown(how.t_start, start, t, states)).tolist()
    return {k: text for k in far if (text := remark(k))}
