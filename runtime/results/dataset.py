"""Results as a labelled dataset of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.results.outline import OUTLINE, outline_of, outline_text
from runtime.results.outputs import REACTIONS, Output, value_of
from runtime.results.recorded import RecordedRun
from runtime.results.recorded_quantities import Recorded, recorded_quantities
from runtime.results.result_quantities import (
    BODY_QUANTITIES,
    CONTACT_QUANTITIES,
    CONVENTION,
    LIMIT_QUANTITIES,
    MOTOR_QUANTITIES,
    SCALARS,
    WRENCH_QUANTITIES,
)
from runtime.system.quantity import COORDINATES, Quantity
from runtime.system.state import AXES, EULER

if TYPE_CHECKING:
    import xarray

# Dimensions by the sort of the owners; those of joints depend on the quantity, and the others have none.
DIMENSIONS = {
    "body": "body", "limit": "limit", "contact": "contact", "reaction": "joint", "load": "load", "coupling": "coupling",
    "motor": "motor", "driver": "signal", "degree of freedom": "degree_of_freedom", "source": "source",
}  # fmt: skip
# Coordinates with the units of the owners of a quantity, and the units of variables whose owners differ in them.
UNITS_OF_OWNERS = {
    "lam": "lam_unit", "Phi": "row_unit", "angle": "coordinate_unit", "motor_effort": "motor_unit",
    "coupling_force": "coupling_unit", "degree_of_freedom_effort": "effort_unit",
}  # fmt: skip
SEE = {part: f"see {unit}" for part, unit in UNITS_OF_OWNERS.items()} | {
    "Phi_dot": "see row_unit, per second", "rate": "see coordinate_unit, per second",
    "degree_of_freedom_rate": "see effort_unit",
}  # fmt: skip
MEANINGS = {
    **{part: meaning for part, (_, _, meaning) in BODY_QUANTITIES.items()},
    **{part: meaning for part, (_, meaning) in SCALARS.items()},
    **{f"limit_{part}": meaning for part, (_, meaning) in LIMIT_QUANTITIES.items()},
    **{f"contact_{part}": meaning for part, (_, meaning) in CONTACT_QUANTITIES.items()},
    **{f"motor_{part}": meaning for part, (_, meaning) in MOTOR_QUANTITIES.items()},
    **{f"{sort}_{part}": one[1] for sort in ("load", "reaction") for part, one in WRENCH_QUANTITIES.items()},
    **{f"signal_{part}": f"{part} of the signal" for part in ("value", "rate", "effort", "power")},
    **{f"degree_of_freedom_{part}": f"{part} of the degree of freedom" for part in ("rate", "effort", "power")},
    "lam": "multiplier; force on the bodies = -D^T lam",
    "Phi": "constraint row",
    "Phi_dot": "rate of the constraint row",
    "angle": "coordinate of a joint, 0 in the reference configuration",
    "rate": "rate of the coordinate",
    "coupling_force": "force of the coupling along its follower",
    "centre_of_pressure": "of all contacts; NaN without a normal force",
    "work": "work of the source from the start of the run",
    "energy_balance_error": "energy less that at the start and all work",
}


def to_xarray(run: RecordedRun) -> xarray.Dataset:
    """A dataset of all quantities of a run.

    Dimensions: time, body, axis, euler, row and coordinate (of joints), limit, contact, motor, load, joint, coupling, signal (of
    drivers), degree_of_freedom, source (of work), event, contact_event; of outputs effort_of, rate_of and motion.
    """
    import xarray

    system = run.system
    data: dict[str, Any] = {}
    coordinates: dict[str, Any] = {
        "time": ("time", run.t, {"units": "s"}),
        "body": list(system.body_names),
        "axis": list(AXES),
        "euler": list(EULER),
    }
    variables: dict[str, list[Recorded]] = {}
    for quantity, values in recorded_quantities(run):
        variables.setdefault(_variable(quantity), []).append((quantity, values))
    for name, listed in variables.items():
        quantity, values = listed[0]
        part, dimension = quantity.part, _dimension(quantity)
        along = () if values.ndim == 1 else ("euler" if values.shape[1] == len(EULER) else "axis",)
        about = {
            "units": SEE.get(part, quantity.unit),
            "long_name": MEANINGS.get(part, f"of the force '{quantity.owner}'"),
        }
        if dimension:
            coordinates[dimension] = [one.owner for one, _ in listed]
            data[name] = (("time", dimension, *along), np.stack([each for _, each in listed], axis=1), about)
        else:
            data[name] = (("time", *along), values, about)
        if part in UNITS_OF_OWNERS:
            coordinates[UNITS_OF_OWNERS[part]] = (dimension, [one.unit for one, _ in listed])
    if "joint" in coordinates:
        found = [run.reaction(name, on=system.joint(name).body_j) for name in coordinates["joint"]]
        coordinates["reaction_on"] = ("joint", [one.on for one in found])
        if system.redundant:
            for part in REACTIONS:
                flags = np.array([getattr(one, f"{part}_determined") for one in found], int)
                about = {"long_name": f"1 for a component of the {part} that rigid bodies determine"}
                data[f"reaction_{part}_determined"] = (("joint", "axis"), flags, about)
            coordinates["reaction_reason"] = ("joint", [one.reason for one in found])
    if system.loads:
        fixed = [int(load.point is None or load.point_of_body) for load in system.loads]
        data["load_point_is_fixed"] = (("load",), fixed, {"long_name": "1 for a point that is fixed in the body"})
    for name, output in run.outputs.items():
        coordinates |= {dimension: list(names) for dimension, names in output.along.items()}
        data[f"{name} (output)" if name in data else name] = variable_of(output, value_of(output, run))
    _add_events(run, data, coordinates)
    return xarray.Dataset(data, coords=coordinates, attrs=_attributes(run))


def variable_of(output: Output, values: Any, *first: str) -> tuple[tuple[str, ...], Any, dict[str, str]]:
    """Dimensions, values and attributes of an output with these first dimensions."""
    about = {"units": output.unit, "long_name": output.meaning, "expression": output.expression}
    return (*first, *(() if output.reduction else ("time",)), *output.along), values, about


def _variable(quantity: Quantity) -> str:
    """Name of the variable that a quantity is in."""
    if quantity.owner_sort == "force":
        return f"{quantity.owner}.{quantity.part.removeprefix('force_')}"
    return "angle_rate" if quantity.part == "rate" else quantity.part


def _dimension(quantity: Quantity) -> str:
    """Dimension of the owners of a quantity; empty where it has a variable of its own."""
    if quantity.owner_sort == "joint":
        return "coordinate" if quantity.part in COORDINATES else "row"
    return DIMENSIONS.get(quantity.owner_sort, "")


def _add_events(run: RecordedRun, data: dict[str, Any], coordinates: dict[str, Any]) -> None:
    """Add the times of the events, and the touch-downs and lift-offs of the contacts."""
    listed = [(name, time) for name, times in run.events.items() for time in times]
    if listed:
        coordinates["event_name"] = ("event", [name for name, _ in listed])
        about = {"units": "s", "long_name": "zeros of events"}
        data["event_time"] = (("event",), np.array([time for _, time in listed]), about)
    if len(run.contact_events):
        time, contact, began, speed = run.contact_events.T
        dimension = "contact_event"
        data["contact_event_time"] = ((dimension,), time, {"units": "s", "long_name": "touch-downs and lift-offs"})
        about = {"units": "m/s", "long_name": "rate of the penetration at a touch-down"}
        data["contact_event_speed"] = ((dimension,), speed, about)
        names = [run.system.contact_names[int(k)] for k in contact]
        kinds = list(np.where(began == 1.0, "touch-down", "lift-off"))
        coordinates |= {"contact_event_contact": (dimension, names), "contact_event_kind": (dimension, kinds)}


def _attributes(run: RecordedRun) -> dict[str, Any]:
    return {
        "model": run.system.name,
        "convention": CONVENTION,
        "gravity": run.system.gravity.tolist(),
        "method": run.stats.method,
        "rtol": run.stats.rtol,
        "atol": run.stats.atol,
        "alpha": run.data.alpha,
        "beta": run.data.beta,
        "evaluations": run.stats.evaluations,
        "steps": run.stats.steps,
        "kernel": run.stats.kernel,
        "status": run.status,
        "message": run.message,
        "degrees_of_freedom": run.system.degrees_of_freedom,
        "undetermined_reactions": ", ".join(run.undetermined_reactions) if run.has_forces else "",
        "redundant_rows": ", ".join(run.system.redundant),
        OUTLINE: outline_text(outline_of(run.system)),
    }
