"""Writes the forces of contacts and loads of a run as OpenSim's external loads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from models.files.description import Floats
from models.files.opensim_writing import VERSION
from models.files.written_xml import child, element, text_of
from runtime import GROUND, ModelError, Run
from runtime.results import write_storage
from runtime.support import checked, free_file, write_text

PARTS = ("force_v", "force_p", "torque_")  # of the names of columns, each with x, y, z
NEGLIGIBLE = 1e-9  # of the largest force: below it the point of action is that of the times around


class _Wrench(NamedTuple):
    """A force (n, 3) [N] at points (n, 3) [m], and a moment (n, 3) [N m], on a body, in global axes."""

    body: str
    force: Floats
    point: Floats
    moment: Floats


@checked
def write_external_loads(run: Run, file: str | Path, *, overwrite: bool = False) -> tuple[Path, Path]:
    """Write all forces of contacts and loads, summed for each body, for OpenSim's tools.

    Parameters
    ----------
    run : Run
    file : str or Path
        NAME.xml, the description of the loads; their values go to NAME.mot beside it.
    overwrite : bool
        Replace existing files.

    Returns
    -------
    description, values : Path
        Columns of the values, in global axes: ``BODY_force_vx`` [N], ``BODY_force_px`` [m] the point of action,
        ``BODY_torque_x`` [N m] about it; exact at the times of the run, between which OpenSim interpolates.

    Raises
    ------
    ModelError
        For a run of a system without contacts and loads, and for files that cannot be written.
    """
    path = Path(file)
    if path.suffix.lower() != ".xml":
        raise ModelError(f"{path.name}: OpenSim's external loads are an .xml file; give a name that ends so")
    values = path.with_suffix(".mot")
    wrenches = list(_wrenches(run))
    if not wrenches:
        raise ModelError(f"system '{run.system.name}' has no contacts and no loads; there is nothing to write")
    for target in (path, values):
        free_file(target, overwrite)
    bodies = list(dict.fromkeys(wrench.body for wrench in wrenches))
    names, columns = ["time"], [run.t[:, None]]
    for body in bodies:
        names += [f"{body}_{part}{axis}" for part in PARTS for axis in "xyz"]
        columns += _sum([wrench for wrench in wrenches if wrench.body == body])
    write_storage(values, "external loads", names, np.column_stack(columns), overwrite=overwrite)
    return write_text(path, _description(bodies, values.name)), values


def _wrenches(run: Run) -> Iterator[_Wrench]:
    none = np.zeros((len(run.t), 3))
    for contact in run.system.contacts:
        motion = run.contacts[contact.name]
        yield _Wrench(contact.body, motion.force, motion.point, none)
        if contact.plane != GROUND:
            yield _Wrench(contact.plane, -motion.force, motion.point, none)
    for load in run.system.loads:
        A, r = run.rotations(load.body), run.r[load.body]
        force, moment = (np.column_stack([signal(run.t) for signal in three]) for three in (load.force, load.moment))
        point = none if load.point is None else np.column_stack([signal(run.t) for signal in load.point])
        if load.axes == "body":
            force, moment = (np.einsum("nab,nb->na", A, v) for v in (force, moment))
        if load.point is None or load.point_of_body:
            point = r + np.einsum("nab,nb->na", A, point)
        yield _Wrench(load.body, force, point, moment)


def _sum(wrenches: list[_Wrench]) -> list[Floats]:
    """Force, point of action and moment about it, (n, 3) each: the mean of the points, weighed by the sizes of the forces."""
    sizes = np.array([np.linalg.norm(wrench.force, axis=1) for wrench in wrenches])
    force = np.sum([wrench.force for wrench in wrenches], axis=0)
    total = sizes.sum(axis=0)
    point = np.mean([wrench.point for wrench in wrenches], axis=0)
    loaded = total > NEGLIGIBLE * max(total.max(), 1e-300)
    if loaded.any():
        weighed = np.einsum("kn,kna->na", sizes, np.array([wrench.point for wrench in wrenches]))[loaded]
        at = np.arange(len(total))
        mean = (weighed / total[loaded, None]).T
        point = np.column_stack([np.interp(at, at[loaded], column) for column in mean])
    moment = np.sum([w.moment + np.cross(w.point - point, w.force) for w in wrenches], axis=0)
    return [force, point, moment]


def _description(bodies: list[str], values: str) -> str:
    top = element(None, "OpenSimDocument", Version=VERSION)
    loads = element(top, "ExternalLoads", name="external_loads")
    objects = element(loads, "objects")
    for body in bodies:
        force = element(objects, "ExternalForce", name=body)
        child(force, "applied_to_body", body)
        child(force, "force_expressed_in_body", "ground")
        child(force, "point_expressed_in_body", "ground")
        for key, part in zip(("force", "point", "torque"), PARTS, strict=True):
            child(force, f"{key}_identifier", f"{body}_{part}")
        child(force, "data_source_name", values)
    child(loads, "datafile", values)
    return text_of(top)
