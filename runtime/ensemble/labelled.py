"""Results of an ensemble as labelled data: a dataset of xarray, a table of pandas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.dynamics.status import Status
from runtime.results.dataset import variable_of
from runtime.results.parquet import write_parquet
from runtime.results.result_quantities import BODY_QUANTITIES, CONVENTION
from runtime.support.cells import cell
from runtime.system.quantity import Role
from runtime.system.state import AXES, EULER

if TYPE_CHECKING:
    import pandas
    import xarray


def ensemble_to_xarray(ensemble: Any, cases: Any) -> xarray.Dataset:
    """Return a dataset: dimensions case, time, body, axis, euler; the values of the cases are coordinates of ``case``."""
    import xarray

    wanted = ensemble._numbers(cases)
    data: dict[str, Any] = _outputs(ensemble, cases) if ensemble.outputs else _states(ensemble, cases)
    for name, meaning in {
        "status": "0 where the case reached its end, 1 where an event stopped it",
        "evaluations": "of the equations of motion", "steps": "accepted", "rejections": "steps that were rejected and repeated",
    }.items():  # fmt: skip
        data[name] = (("case",), getattr(ensemble, name)[wanted], {"units": "1", "long_name": meaning})
    data["reached"] = (("case",), ensemble.reached[wanted], {"units": "s", "long_name": "time reached"})
    for name, event in ensemble.events.items():
        about = {"units": "s", "long_name": f"times of the event '{name}'"}
        data[f"event_{name}"] = (("case", f"number_{name}"), event.times[wanted], about)
    used = {dimension for dimensions, *_ in data.values() for dimension in dimensions}
    coordinates: dict[str, Any] = {
        "case": wanted, "time": ("time", ensemble.t, {"units": "s"}), "body": list(ensemble.bodies), "axis": list(AXES),
        "euler": list(EULER),
    }  # fmt: skip
    for output in ensemble.outputs.values():
        coordinates |= {dimension: list(names) for dimension, names in output.along.items()}
    coordinates = {name: values for name, values in coordinates.items() if name in used}
    for name, values in ensemble.cases.items():
        further = (f"{name}_{k}" for k in range(values.ndim - 1))
        quantity, unit = ensemble.quantities[name], ensemble.quantities[name].unit
        if quantity.role is Role.STATE:
            _, unit, meaning = BODY_QUANTITIES[quantity.part]
        elif quantity.role is Role.COORDINATE:
            meaning = quantity.role.value
        else:
            meaning = "parameter of the system, or argument of the function that builds it"
        coordinates[f"case_{name}"] = (("case", *further), values[wanted], {"units": unit, "long_name": meaning})
    messages = np.array([ensemble.messages.get(int(case), "") for case in wanted], dtype=object)
    data["message"] = (("case",), messages, {"long_name": "why the case did not reach its end"})
    data["vectorised"] = (
        ("case",),
        ensemble.vectorised[wanted],
        {"long_name": "computed beside others by vector instructions"},
    )
    known = {name: value for name, value in ensemble.settings.items() if name != "t" and value is not None}
    attributes = {name: int(value) if isinstance(value, bool) else value for name, value in known.items()}
    return xarray.Dataset(data, coordinates, {"system": ensemble.name, "conventions": CONVENTION, **attributes})


def _states(ensemble: Any, cases: Any) -> dict[str, Any]:
    """Variables of the states of the bodies."""
    states, start, data = ensemble.states(cases), 0, {}
    for name in ("r", "p", "v", "omega"):
        components, unit, meaning = BODY_QUANTITIES[name]
        part = states[..., start : start + len(components)]
        start += len(components)
        dims = ("case", "time", "body", "axis" if components is AXES else "euler")
        data[name] = (dims, part, {"units": unit, "long_name": meaning})
    return data


def _outputs(ensemble: Any, cases: Any) -> dict[str, Any]:
    """Variables of the outputs."""
    values = ensemble.values(None, cases)
    return {name: variable_of(ensemble.outputs[name], own, "case") for name, own in values.items()}


def ensemble_to_pandas(ensemble: Any, cases: Any) -> pandas.DataFrame:
    """A row for each case, by its number: columns of its values, of its outputs without those over time, and its status."""
    import pandas

    wanted = ensemble._numbers(cases)
    columns: dict[str, Any] = {}
    for name, values in ensemble.cases.items():
        columns |= dict(_columns(name, values[wanted], ()))
    numbers = [name for name, output in ensemble.outputs.items() if output.reduction]
    for name, values in ensemble.values(numbers, cases).items() if numbers else ():
        columns |= dict(_columns(name, values, ensemble.outputs[name].components))
    columns |= {f"event.{name}": event.first[wanted] for name, event in ensemble.events.items()}
    columns["status"] = [Status(int(value)).name for value in ensemble.status[wanted]]
    return pandas.DataFrame(columns, index=pandas.Index(wanted, name="case"))


def _columns(name: str, values: Any, components: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """A column for each component of values (cases, ...)."""
    if values.ndim == 1:
        yield name, values
        return
    flat = values.reshape(len(values), -1)
    for k in range(flat.shape[1]):
        yield f"{name}.{components[k] if components else k}", flat[:, k]


def units_of(ensemble: Any, table: pandas.DataFrame) -> dict[str, str]:
    """Units of the columns of the table, empty where a column has none."""
    units = dict(ensemble.units)
    for output in ensemble.outputs.values():
        units |= output.columns
    units |= {f"event.{name}": "s" for name in ensemble.events}
    return {column: units.get(column) or units.get(column.rpartition(".")[0]) or "" for column in table.columns}


def parquet_of(ensemble: Any, file: Path) -> Path:
    """Write the table, with the numbers of the cases as its first column, as Parquet; returns the file."""
    table = ensemble_to_pandas(ensemble, None)
    units = units_of(ensemble, table)
    columns = [(name, units[name], table[name].to_numpy()) for name in table.columns]
    return write_parquet(file, [("case", "", table.index.to_numpy()), *columns])


def csv_of(ensemble: Any) -> str:
    """The table as text, in full precision, with units in the header."""
    table = ensemble_to_pandas(ensemble, None)
    units = units_of(ensemble, table)

    def header(column: str) -> str:
        return cell(f"{column} [{units[column]}]" if units[column] else column)

    plain = table.apply(lambda column: column if column.dtype.kind in "biuf" else column.map(cell))
    text: str = plain.rename(columns=header).to_csv(float_format="%.17g", lineterminator="\n")
    return text
