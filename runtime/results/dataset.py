"""Results as a labelled dataset of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.results.drawn_motion import centre_of_pressure, load_motion, reactions_of
from runtime.results.further_results import (
    angles_of,
    degrees_of_freedom_of,
    drivers_of,
    quantities_of_forces,
    unit_of_coupling,
    work_of,
)  # fmt: skip
from runtime.results.outline import OUTLINE, outline_of, outline_text
from runtime.results.recorded import Recorded
from runtime.results.result_quantities import (
    AXES,
    BODY_QUANTITIES,
    CONTACT_QUANTITIES,
    CONVENTION,
    EULER,
    LIMIT_QUANTITIES,
    SCALARS,
    WRENCH_QUANTITIES,
)  # fmt: skip

if TYPE_CHECKING:
    import xarray


def to_xarray(run: Recorded) -> xarray.Dataset:
    """A dataset of all quantities of a run.

    Dimensions: time, body, axis, euler, row and coordinate (of joints), limit, contact, load, joint, coupling, signal (of
    drivers), degree_of_freedom, source (of work), event, contact_event.
    """
    import xarray

    system = run.system
    data: dict[str, Any] = {}
    for name, (components, unit, meaning) in BODY_QUANTITIES.items():
        values = np.stack([getattr(run, name)[body] for body in system.body_names], axis=1)
        dims = ("time", "body", "axis" if components is AXES else "euler")
        data[name] = (dims, values, {"units": unit, "long_name": meaning})
    rows = [(joint, row) for joint in system.joints for row in range(len(joint.rows))]
    names = [f"{joint.name}.{joint.rows[row]}" for joint, row in rows]
    coordinates: dict[str, Any] = {
        "time": ("time", run.t, {"units": "s"}),
        "body": list(system.body_names),
        "axis": list(AXES),
        "euler": list(EULER),
    }
    if rows:
        coordinates["row"] = names
        coordinates["row_unit"] = ("row", [joint.units[row] for joint, row in rows])
        coordinates["lam_unit"] = ("row", [joint.multiplier_units[row] for joint, row in rows])
        for name, meaning, units in (
            *((("lam", "multiplier; force on the bodies = -D^T lam", "see lam_unit"),) if run.has_forces else ()),
            ("Phi", "constraint row", "see row_unit"),
            ("Phi_dot", "rate of the constraint row", "see row_unit, per second"),
        ):
            values = np.concatenate([getattr(run, name)[joint.name] for joint in system.joints], axis=1)
            data[name] = (("time", "row"), values, {"units": units, "long_name": meaning})
    if listed := list(angles_of(run)):
        coordinates["coordinate"] = [name for name, *_ in listed]
        coordinates["coordinate_unit"] = ("coordinate", [unit for _, unit, *_ in listed])
        for name, meaning, units, k in (
            ("angle", "coordinate of a joint, 0 in the reference configuration", "see coordinate_unit", 2),
            ("angle_rate", "rate of the coordinate", "see coordinate_unit, per second", 3),
        ):
            values = np.column_stack([entry[k] for entry in listed])
            data[name] = (("time", "coordinate"), values, {"units": units, "long_name": meaning})
    if system.limits:
        coordinates["limit"] = list(system.limit_names)
        for name, (unit, meaning) in LIMIT_QUANTITIES.items():
            values = np.stack([getattr(motion, name) for motion in run.limits.values()], axis=1)
            data[f"limit_{name}"] = (("time", "limit"), values, {"units": unit, "long_name": meaning})
    _add_contacts(run, data, coordinates)
    _add_wrenches(run, data, coordinates)
    for force, name, unit, values in quantities_of_forces(run):
        along = ("time", "axis")[: values.ndim]
        data[f"{force}.{name}"] = (along, values, {"units": unit, "long_name": f"of the force '{force}'"})
    _add_couplings(run, data, coordinates)
    _add_drivers(run, data, coordinates)
    _add_work(run, data, coordinates)
    _add_events(run, data, coordinates)
    for name, (unit, meaning) in SCALARS.items():
        data[name] = (("time",), getattr(run, name), {"units": unit, "long_name": meaning})
    return xarray.Dataset(data, coords=coordinates, attrs=_attributes(run))


def _add_contacts(run: Recorded, data: dict[str, Any], coordinates: dict[str, Any]) -> None:
    """Add motion and forces of the contacts, and their touch-downs and lift-offs."""
    system = run.system
    if not system.contacts:
        return
    coordinates["contact"] = list(system.contact_names)
    for name, (unit, meaning) in CONTACT_QUANTITIES.items():
        values = np.stack([getattr(motion, name) for motion in run.contacts.values()], axis=1)
        contact_dims = ("time", "contact") + (("axis",) if values.ndim == 3 else ())
        data[f"contact_{name}"] = (contact_dims, values, {"units": unit, "long_name": meaning})
    if len(run.contact_events):
        kinds = np.where(run.contact_events[:, 2] == 1.0, "touch-down", "lift-off")
        data["contact_event_time"] = (
            ("contact_event",),
            run.contact_events[:, 0],
            {"units": "s", "long_name": "touch-downs and lift-offs"},
        )
        events = [system.contact_names[int(k)] for k in run.contact_events[:, 1]]
        coordinates["contact_event_contact"] = ("contact_event", events)
        speed = {"units": "m/s", "long_name": "rate of the penetration at a touch-down"}
        data["contact_event_speed"] = (("contact_event",), run.contact_events[:, 3], speed)
        coordinates["contact_event_kind"] = ("contact_event", list(kinds))


def _add_wrenches(run: Recorded, data: dict[str, Any], coordinates: dict[str, Any]) -> None:
    """Add the loads, the reactions of the joints without drivers, and the centre of pressure of the contacts."""
    system = run.system
    kinds = {"load": {load.name: load_motion(run, load) for load in system.loads}}
    kinds["reaction"] = reactions_of(run) if run.has_forces else {}
    for kind, wrenches in kinds.items():
        dimension = "joint" if kind == "reaction" else "load"
        for name, (unit, meaning) in WRENCH_QUANTITIES.items() if wrenches else ():
            values = np.stack([getattr(wrench, name) for wrench in wrenches.values()], axis=1)
            data[f"{kind}_{name}"] = (("time", dimension, "axis"), values, {"units": unit, "long_name": meaning})
            coordinates[dimension] = list(wrenches)
    if kinds["reaction"]:
        coordinates["reaction_on"] = ("joint", [system.joint(name).body_j for name in kinds["reaction"]])
    if system.loads:
        fixed = [int(load.point is None or load.point_of_body) for load in system.loads]
        data["load_point_is_fixed"] = (("load",), fixed, {"long_name": "1 for a point that is fixed in the body"})
    if (path := centre_of_pressure(run)) is not None:
        meaning = "of all contacts; NaN without a normal force"
        data["centre_of_pressure"] = (("time", "axis"), path, {"units": "m", "long_name": meaning})


def _add_couplings(run: Recorded, data: dict[str, Any], coordinates: dict[str, Any]) -> None:
    """Add the forces of the couplings."""
    couplings = run.system.couplings
    if couplings:
        coordinates["coupling"] = [one.name for one in couplings]
        coordinates["coupling_unit"] = ("coupling", [unit_of_coupling(run.system, one) for one in couplings])
        values = np.stack([run.coupling_forces[one.name] for one in couplings], axis=1)
        about = {"units": "see coupling_unit", "long_name": "force of the coupling along its follower"}
        data["coupling_force"] = (("time", "coupling"), values, about)


def _add_drivers(run: Recorded, data: dict[str, Any], coordinates: dict[str, Any]) -> None:
    """Add what a driven motion requires: efforts and powers of the drivers, and along the degrees of freedom of the joints."""
    for dimension, listed in (
        ("signal", list(drivers_of(run))),
        ("degree_of_freedom", list(degrees_of_freedom_of(run))),
    ):
        if not listed:
            continue
        coordinates[dimension] = [one.name for one in listed]
        if dimension == "degree_of_freedom":
            coordinates["effort_unit"] = (dimension, [one.unit for one in listed])
        for name in listed[0].values:
            about = {"long_name": f"{name} of the {dimension.replace('_', ' ')}"}
            about["units"] = "W" if name == "power" else "see effort_unit" if dimension == "degree_of_freedom" else ""
            data[f"{dimension}_{name}"] = (
                ("time", dimension),
                np.stack([one.values[name] for one in listed], axis=1),
                about,
            )


def _add_work(run: Recorded, data: dict[str, Any], coordinates: dict[str, Any]) -> None:
    """Add the work of the sources and the error of the energy balance."""
    if (balance := work_of(run)) is None:
        return
    error = {"units": "J", "long_name": "energy less that at the start and all work"}
    data["energy_balance_error"] = (("time",), balance.error, error)
    if balance.work:
        coordinates["source"] = list(balance.work)
        about = {"units": "J", "long_name": "work of the source from the start of the run"}
        data["work"] = (("time", "source"), np.stack(list(balance.work.values()), axis=1), about)


def _add_events(run: Recorded, data: dict[str, Any], coordinates: dict[str, Any]) -> None:
    """Add the times of the events."""
    listed = [(name, time) for name, times in getattr(run, "events", {}).items() for time in times]
    if listed:
        coordinates["event_name"] = ("event", [name for name, _ in listed])
        data["event_time"] = (
            ("event",),
            np.array([time for _, time in listed]),
            {"units": "s", "long_name": "zeros of events"},
        )


def _attributes(run: Recorded) -> dict[str, Any]:
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
        "undetermined": ", ".join(getattr(run, "undetermined", ())) if run.has_forces else "",
        "redundant_rows": ", ".join(run.system.redundant),
        OUTLINE: outline_text(outline_of(run.system)),
    }
