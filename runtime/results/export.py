"""Results as labelled data and as files: xarray, NetCDF, CSV, OpenSim storage."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.results.drawn_motion import centre_of_pressure, load_motion, reactions_of
from runtime.results.outline import OUTLINE, outline_of, outline_text
from runtime.results.recorded import Recorded
from runtime.results.storage_columns import checked_columns, numbers_in_columns, one_line
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, shown
from runtime.support.files import free_file, whole_file, write_bytes
from runtime.system.state import STATE_UNITS

if TYPE_CHECKING:
    import xarray

AXES = ("x", "y", "z")
EULER = ("e0", "e1", "e2", "e3")
CONVENTION = (
    "x anterior, y medial of a right foot and lateral of a left foot, z up; global axes; SI units; "
    + "Euler parameters scalar first"
)
# name -> components, unit, meaning
BODY_QUANTITIES = {
    "r": (AXES, STATE_UNITS["r"], "centre of mass"),
    "p": (EULER, STATE_UNITS["p"], "Euler parameters"),
    "v": (AXES, STATE_UNITS["v"], "velocity of the centre of mass"),
    "omega": (AXES, STATE_UNITS["omega"], "angular velocity"),
    "v_dot": (AXES, "m/s^2", "acceleration of the centre of mass"),
    "omega_dot": (AXES, "rad/s^2", "angular acceleration"),
}
SCALARS = {
    "kinetic_energy": ("J", "kinetic energy"),
    "potential_energy": ("J", "potential energy of gravity, zero at the origin"),
    "elastic_energy": ("J", "energy stored in limits of motion, springs of motors, contacts and forces"),
    "energy": ("J", "kinetic, potential and elastic energy"),
    "violation": ("", "largest abs Phi of all rows, each in its own unit"),
    "velocity_violation": ("", "largest abs Phi' of all rows, each in its own unit per second"),
    "norm_violation": ("1", "largest abs(|p| - 1) of all bodies"),
}
LIMIT_QUANTITIES = {
    "angle": ("rad", "hinge angle, signed; latitude if the limit has no hinge"),
    "rate": ("rad/s", "rate of the hinge angle; magnitude of the relative angular velocity if there is no hinge"),
    "latitude": ("rad", "latitude of the restrained direction"),
    "longitude": ("rad", "longitude of the restrained direction"),
    "maximum_latitude": ("rad", "maximum latitude at that longitude"),
    "excess": ("rad", "angle outside the cone"),
    "restricting_moment": ("N m", "magnitude of the restricting moment"),
    "dissipative_moment": ("N m", "magnitude of the dissipative moment"),
    "elastic_energy": ("J", "energy stored in the limit"),
    "dissipated_power": ("W", "power of the damper"),
}
CONTACT_QUANTITIES = {
    "penetration": ("m", "depth of the sphere in the plane, negative away from it"),
    "penetration_rate": ("m/s", "rate of the penetration"),
    "slip": ("m/s", "velocity of the sphere's point relative to the plane's"),
    "normal_force": ("N", "normal force"),
    "force": ("N", "force on the sphere's body"),
    "point": ("m", "point of application of the force"),
    "elastic_energy": ("J", "energy stored in the contact"),
    "dissipated_power": ("W", "power of damping and friction"),
}


WRENCH_QUANTITIES = {
    "force": ("N", "force on the body, global axes"),
    "moment": ("N m", "moment on the body about the point, global axes"),
    "point": ("m", "point of action; of a joint, its point on the body"),
}


def to_xarray(run: Recorded) -> xarray.Dataset:
    """A dataset with the dimensions time, body, axis, euler, row and coordinate (of joints), limit, contact, load, joint."""
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
    if listed := list(_of_angles(run)):
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
    for name, unit, values in _of_forces(run):
        data[name] = (("time",), values, {"units": unit, "long_name": f"of the force '{name.partition('.')[0]}'"})
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


def _of_angles(run: Recorded) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Name, unit, values and rates of the coordinates of the joints, such as ``ankle.theta_i``."""
    for joint, angles in run.angles.items():
        for name, values in angles.values.items():
            yield f"{joint}.{name}", angles.units[name], values, angles.rates[name]


def _of_forces(run: Recorded) -> Iterator[tuple[str, str, Floats]]:
    """Name, unit and values of the quantities of the forces, such as ``spring.tension``."""
    for force, motion in run.forces.items():
        for name, values in motion.quantities.items():
            yield f"{force}.{name}", motion.units[name], values
        yield f"{force}.energy", "J", motion.energy
        yield f"{force}.power", "W", motion.power


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
        "status": run.status,
        "message": run.message,
        "degrees_of_freedom": run.system.degrees_of_freedom,
        "redundant_rows": ", ".join(run.system.redundant),
        OUTLINE: outline_text(outline_of(run.system)),
    }


def columns_of(run: Recorded) -> tuple[list[str], list[str], Floats]:
    """Names, units and values (n, columns) of all quantities of a run; the first column is the time."""
    names, units, columns = ["time"], ["s"], [run.t]
    for body in run.system.body_names:
        for name, (components, unit, _) in BODY_QUANTITIES.items():
            for k, component in enumerate(components):
                names.append(f"{body}.{name}_{component}")
                units.append(unit)
                columns.append(getattr(run, name)[body][:, k])
    for joint in run.system.joints if run.has_forces else ():
        for k, row in enumerate(joint.rows):
            names.append(f"{joint.name}.lam_{row}")
            units.append(joint.multiplier_units[k])
            columns.append(run.lam[joint.name][:, k])
    for name, unit, values, rates in _of_angles(run):
        names += [name, f"{name}_rate"]
        units += [unit, f"{unit}/s"]
        columns += [values, rates]
    for limit, motion in run.limits.items():
        for name, (unit, _) in LIMIT_QUANTITIES.items():
            names.append(f"{limit}.{name}")
            units.append(unit)
            columns.append(getattr(motion, name))
    for contact, contact_outputs in run.contacts.items():
        for name, (unit, _) in CONTACT_QUANTITIES.items():
            values = getattr(contact_outputs, name)
            for k in range(values.shape[1] if values.ndim == 2 else 1):
                names.append(f"{contact}.{name}" + (f"_{AXES[k]}" if values.ndim == 2 else ""))
                units.append(unit)
                columns.append(values[:, k] if values.ndim == 2 else values)
    for name, unit, values in _of_forces(run):
        names.append(name)
        units.append(unit)
        columns.append(values)
    for name, (unit, _) in SCALARS.items():
        names.append(name)
        units.append(unit)
        columns.append(getattr(run, name))
    return names, units, np.column_stack(columns)


def to_netcdf(run: Recorded, file: Path, overwrite: bool) -> Path:
    """Write NetCDF by SciPy, without another library."""
    free_file(file, overwrite)
    return write_dataset(to_xarray(run), file)


@checked
def write_dataset(data: Any, file: str | Path) -> Path:
    """Write a dataset of xarray as NetCDF, whole or not at all; returns the file.

    Raises
    ------
    ModelError
        The dataset is none, or the file cannot be written.
    """
    import xarray

    file = Path(file)
    if not isinstance(data, xarray.Dataset):
        raise ModelError(f"{file}: data = {shown(data)}; give a dataset of xarray")
    # In memory first: a library that writes the file itself meets a full disk again when its objects are deleted.
    # Copied: a view of the memory of a stream that an error keeps alive makes Python 3.13 raise BufferError at any later place.
    with memoryview(data.to_netcdf(engine="scipy")) as view:
        content = bytes(view)
    return write_bytes(file, content)


def to_csv(run: Recorded, file: Path, overwrite: bool) -> Path:
    """Write comma-separated values in full precision, with units in the header."""
    free_file(file, overwrite)
    names, units, values = columns_of(run)
    header = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)]
    return write_columns(file, header, values)


@checked
def write_columns(file: str | Path, names: Sequence[str], values: ArrayLike, *, digits: int = 17) -> Path:
    """Write comma-separated columns (n, columns) with a line of names, quoted where they contain commas; returns the file.

    Raises
    ------
    ModelError
        Names and values do not fit, or the file cannot be written.
    """
    file = Path(file)
    values = numbers_in_columns(str(file), names, values)
    if not 1 <= digits <= 17:
        raise ModelError(f"{file}: digits = {digits}; give 1 to 17")
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    line, fmt = header.getvalue()[:-1], f"%.{digits}g"
    with whole_file(file) as stream:
        np.savetxt(stream, values, fmt=fmt, delimiter=",", header=line, comments="", encoding="utf-8")
    return file


def to_sto(run: Recorded, file: Path, overwrite: bool) -> Path:
    """Write OpenSim storage, version 1: header, tab-separated columns, radians; '/' in names after the body, as in OpenSim."""
    names, _, values = columns_of(run)
    title = one_line(run.system.name)
    return write_storage(file, title, [name.replace(".", "/") for name in names], values, overwrite=overwrite)


def to_mot(run: Recorded, file: Path, overwrite: bool) -> Path:
    """Write the coordinates of the joints as OpenSim motion, angles in degrees."""
    listed = list(_of_angles(run))
    if not listed:
        kinds = ", ".join(sorted({joint.kind for joint in run.system.joints})) or "none"
        raise ModelError(
            f"'{file}': system '{run.system.name}' has no joint with coordinates (joints: {kinds}); write to_sto() or to_csv()"
        )
    values = [np.rad2deg(values) if unit == "rad" else values for _, unit, values, _ in listed]
    names = ["time", *(name.replace(".", "_") for name, *_ in listed)]
    table = np.column_stack([run.t, *values])
    return write_storage(file, one_line(run.system.name), names, table, in_degrees=True, overwrite=overwrite)


@checked
def write_storage(
    file: str | Path,
    title: str,
    names: Sequence[str],
    values: ArrayLike,
    *,
    in_degrees: bool = False,
    overwrite: bool = False,
) -> Path:
    """Write columns as OpenSim storage (``.sto``) or motion (``.mot``) file; returns the file.

    Parameters
    ----------
    file : path
    title : str
        First line of the file.
    names : sequence of str
        Names of the columns, all different; the first is ``time``.
    values : (n, columns)
        In the units of the columns; a column for each name.  The times must be finite and must not decrease.
    in_degrees : bool
        Whether angles are in degrees.
    overwrite : bool
        Whether an existing file is replaced.

    Raises
    ------
    ModelError
        Where title, names or values do not fit the format, and where the file cannot be written, or exists and must not be
        overwritten.
    """
    file = Path(file)
    free_file(file, overwrite)
    table = checked_columns(file.name, title, names, values)
    degrees = "yes" if in_degrees else "no"
    head = [title, "version=1", f"nRows={len(table)}", f"nColumns={len(names)}", f"inDegrees={degrees}", "endheader"]
    header = "\n".join([*head, "\t".join(names)])
    with whole_file(file) as stream:
        np.savetxt(stream, table, fmt="%.17g", delimiter="\t", header=header, comments="", encoding="utf-8")
    return file
