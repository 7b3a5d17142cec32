"""All quantities of a run as the columns of a table."""

from __future__ import annotations

import numpy as np

from runtime.results.outputs import ROWS, value_of
from runtime.results.recorded import RecordedRun
from runtime.results.recorded_quantities import recorded_quantities
from runtime.support.arrays import Floats
from runtime.system.quantity import COORDINATES, Quantity
from runtime.system.state import AXES, EULER


def columns_of(run: RecordedRun) -> tuple[list[str], list[str], Floats]:
    """Names, units and values (n, columns) of all quantities of a run; the first column is the time.

    The last columns are the outputs over time that ``simulate`` was asked for.  Where two columns would have one name, since
    parts of two kinds share a name, the later one has its kind in brackets, such as "knee (limit).angle".
    """
    found: dict[str, tuple[str, Floats]] = {"time": ("s", run.t)}
    for quantity, values in recorded_quantities(run):
        if quantity.part in ROWS[1:]:  # tables have multipliers alone
            continue
        owner, sort, own = _column(quantity)
        components = [""] if values.ndim == 1 else [f"_{axis}" for axis in (EULER if values.shape[1] == 4 else AXES)]
        for component, column in zip(components, values.reshape(len(run.t), len(components)).T, strict=True):
            name = f"{owner}.{own}{component}".removeprefix(".")
            found[f"{owner} ({sort}).{own}{component}" if name in found else name] = quantity.unit, column
    for output in run.outputs.values():
        if output.reduction:
            continue  # a table has a row for each time
        values = value_of(output, run).reshape(len(run.t), len(output.columns))
        for (own, unit), column in zip(output.columns.items(), values.T, strict=True):
            found[f"{own} (output)" if own in found else own] = unit, column
    return list(found), [unit for unit, _ in found.values()], np.column_stack([values for _, values in found.values()])


def _column(quantity: Quantity) -> tuple[str, str, str]:
    """Owner of a column, empty for the whole system; its kind; and the name of the quantity."""
    part, owner, sort = quantity.part, quantity.owner, quantity.owner_sort
    if sort != "joint":
        whole = sort in ("reaction", "load", "coupling")
        prefix = "" if whole else f"{'signal' if sort == 'driver' else sort.replace(' ', '_')}_"
        return owner, sort, part.removeprefix(prefix)
    joint, _, own = owner.rpartition(".")
    if part in COORDINATES:
        return joint, sort, own if part == COORDINATES[0] else f"{own}_{part}"
    return joint, sort, f"{part}_{own}"
