"""Energy balance of a run: its energy against the work of everything that is not in the energy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.sources import KINDS
from runtime.results.ranges import RANGE, ranges
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.html import html_table
from runtime.support.names import named
from runtime.system.system import System


class Work(NamedTuple):
    """What an integration gives to the balance."""

    done: Floats  # (n, sources) [J] until each time of the result
    start: float  # [J] energy at the start of the run
    error: float  # [J] largest error of the balance at the ends of all steps
    time: float  # [s] of that error
    explained: float  # [J] what the tolerance explains


@dataclass(frozen=True, repr=False)
class EnergyBalance:
    """Energy of a run and the work that changes it; arrays over time (n,) [J].

    ``energy``: kinetic, potential and elastic energy.

    ``work``: from the start of the run, by source: loads, motors, limits, contacts, forces and drivers by their names (with the
    kind in brackets, as in "ankle (limit)", where two share a name).  Work on the bodies is positive, dissipation negative; of a
    motor, limit, contact or force it is
    the part that its potential does not store.

    ``error``: energy less the energy at the start and all work, 0 for an exact integration.  The work of reactions on violated
    rows is part of it, or of the work of a driver that is the only one.

    ``largest_error``: of absolute value, at ends of steps, at ``time`` [s].  ``explained``: error that the tolerance explains;
    a larger one is in ``run.message``.
    """

    energy: Floats
    work: Mapping[str, Floats]
    error: Floats
    largest_error: float
    time: float
    explained: float

    def __repr__(self) -> str:
        return (
            f"EnergyBalance(work of {', '.join(self.work) or 'no source'}; error up to {self.largest_error:.2e} J at "
            f"{self.time:g} s, the tolerance explains {self.explained:.2e} J)"
        )

    def _repr_html_(self) -> str:
        """Ranges of energy, work by source and error, for notebooks."""
        parts = {
            "energy": self.energy,
            **{f"work of {name}": done for name, done in self.work.items()},
            "error": self.error,
        }
        return html_table(repr(self), ("[J]", *RANGE), ranges(parts))


def sources(system: System) -> tuple[str, ...]:
    """Names of the sources of work of a system, in the order of ``Workspace.power``."""
    groups: list[tuple[Any, ...]] = [
        system.loads,
        system.motors,
        system.limits,
        system.contacts,
        system.forces,
        system.drivers,
    ]
    named = [(part.name, kind) for kind, group in zip(KINDS, groups, strict=True) for part in group]
    names = [name for name, _ in named]
    return tuple(name if names.count(name) == 1 else f"{name} ({kind})" for name, kind in named)


def energy_balance(system: System, energy: Floats, work: Work | None) -> EnergyBalance:
    """The balance of a run; see ``Run.energy_balance``."""
    if work is None:
        raise ModelError(
            f"the work on system '{system.name}' was not integrated with its motion, which has no energy balance; the powers of "
            "the drivers are in driven[name].power, and runtime.simulate integrates the work in its runs"
        )
    if len(work.done) != len(energy):
        raise ModelError(
            f"the work on system '{system.name}' is known at the {len(work.done)} times that were integrated, not at the "
            f"{len(energy)} times of the changed run; take energy_balance of the run before dataclasses.replace"
        )
    by_source = dict(zip(sources(system), work.done.T, strict=True))
    error = energy - work.start - work.done.sum(axis=1)
    return EnergyBalance(
        energy,
        named("source of work", by_source, "sources of work"),
        np.asarray(error),
        abs(work.error),
        work.time,
        work.explained,
    )
