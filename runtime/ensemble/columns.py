"""The table of what cases of a system give by name: numbers, a row for each case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runtime.ensemble.cases import Cases
from runtime.ensemble.task import Task
from runtime.support.arrays import Bools, Floats
from runtime.system.allowed_values import allowed, matrices_of, within
from runtime.system.quantity import INERTIA, Quantity, Role, quantities
from runtime.system.system import System


@dataclass(frozen=True)
class Columns:
    """Checked columns; a value that breaks a rule has that of the system in its place."""

    of: dict[Quantity, Floats]  # (cases, ...) of parameters, and of coordinates of joints at the start and their rates
    good: Bools  # (cases,) no value breaks a rule
    starts: bool  # whether there are columns of other parts of the initial state


def columns_of(task: Task, system: System, cases: Cases) -> Columns:
    """The columns of the cases of a task."""
    known, of = quantities(system), dict[Quantity, Floats]()
    good = np.ones(len(next(iter(cases.values()))), bool)
    for quantity, given in ((task.quantities[name], np.asarray(values)) for name, values in cases.items()):
        if quantity.role is Role.STATE:
            continue
        values = given.astype(float, copy=False)
        values = matrices_of(values) if quantity.part == INERTIA else values
        named = quantity.role is Role.PARAMETER
        fits = allowed(system, quantity, values) if named else within(None, values)
        good &= fits
        own = known[quantity.name][1] if named else 0.0
        of[quantity] = np.where(fits.reshape(-1, *[1] * (values.ndim - 1)), values, own)
    return Columns(of, good, len(of) < len(cases))
