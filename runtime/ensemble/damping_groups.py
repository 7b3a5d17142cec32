"""Cases by whether the damping of their contacts fades on the plane, which decides compiled code of lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from runtime.ensemble.cases import Cases
from runtime.ensemble.task import Chunk, Task
from runtime.integrate.written.acting_contacts import EXPONENT
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.errors import ModelError
from runtime.system.allowed_values import fades_in_cases
from runtime.system.parameters import replace_parameters
from runtime.system.parts import NORMAL_LAWS
from runtime.system.system import System

Named = dict[str, dict[str, Floats]]  # contact -> parameter of its normal law -> values (cases,)
# Runs cases of these numbers in a chunk; those to be run in another way, None where it does not know the cases.
RunAlike = Callable[[Task, Cases, Ints, Chunk], list[int] | None]


def run_in_groups(run: RunAlike, task: Task, cases: Cases, chunk: Chunk) -> list[int] | None:
    """Run the cases of a chunk by ``groups_by_damping``; those to be run in another way, None where all are."""
    left, known = list[int](), False
    for own, places in groups_by_damping(task, cases):
        some = cases if len(places) == len(chunk.status) else {name: of[places] for name, of in cases.items()}
        alone = run(own, some, places, chunk)
        known |= alone is not None
        left += places.tolist() if alone is None else alone
    return sorted(left) if known else None


def groups_by_damping(task: Task, cases: Cases) -> list[tuple[Task, Ints]]:
    """Tasks, each with the places of its cases, whose systems have contacts like those of their cases.

    Where the damping of all contacts fades as in the system of the task, this is the task with all cases.
    """
    system, count = task.system, len(next(iter(cases.values())))
    everywhere = [(task, np.arange(count))]
    if not isinstance(system, System) or not (named := _of_laws(system, task, cases)):
        return everywhere
    own = np.array([system.data.contacts.fades[system.contact_names.index(name)] == 1 for name in named])
    each = [fades_in_cases(system.contact(name), given) for name, given in named.items()]
    found = np.stack([np.broadcast_to(one, count) for one in each], axis=1)
    if (found == own).all():
        return everywhere
    patterns, group = np.unique(found, axis=0, return_inverse=True)
    tasks = [_task_of(task, named, own, pattern, found) for pattern in patterns]
    return [(one, np.flatnonzero(group.ravel() == k)) for k, one in enumerate(tasks)]


def _of_laws(system: System, task: Task, cases: Cases) -> Named:
    """Values of parameters of normal laws."""
    found: Named = {}
    for name, values in cases.items():
        one = task.quantities[name]
        if one.owner_sort == "contact" and one.part in NORMAL_LAWS[system.contact(one.owner).law].PARAMETERS:
            found.setdefault(one.owner, {})[one.part] = np.asarray(values, float)
    return found


def _task_of(task: Task, named: Named, own: Bools, pattern: Bools, found: Bools) -> Task:
    """The task with a system whose contacts fade by a pattern, by the values of its first case.

    Exponents decide compiled code by their values, and stay.  The same task where there is no such system: its cases are run
    alone.
    """
    assert isinstance(task.system, System)
    first = int(np.flatnonzero((found == pattern).all(axis=1))[0])
    values = {
        f"{part}.{name}": float(given[first])
        for (name, parts), other in zip(named.items(), pattern != own, strict=True)
        for part, given in parts.items()
        if other and part != EXPONENT
    }
    try:
        return replace(task, system=replace_parameters(task.system, values)) if values else task
    except ModelError:
        return task
