"""Reads external loads of OpenSim: an .xml file with the forces on bodies, and the table with their values."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.files.description import WORLD, Floats
from models.files.motion import Moving, times
from models.files.osim_xml import active, objects, text_of
from models.files.storage import Storage, read_storage
from models.files.virtual_power import Load
from models.files.xml_reading import read_xml, within_folder
from runtime import ModelError
from runtime.support import Element, checked

ENDS = (("x", "y", "z"), ("1", "2", "3"), ("_x", "_y", "_z"))  # of the names of columns
PARTS = ("force", "point", "torque")


@dataclass(frozen=True, eq=False)
class ExternalForce:
    """Force [N], point [m] and moment [N m] of a table, (n, 3) each, on a body of the file; zero where there is none.

    ``force_axes`` and ``point_axes``: the bodies in whose axes force and moment, and the point from their origin, are given.
    """

    name: str
    body: str
    table: Storage
    force: Floats
    point: Floats
    moment: Floats
    force_axes: str
    point_axes: str

    def load(self, t: Floats, way: Callable[[str], Moving], named: Mapping[str, str]) -> Load:
        """The load at times t [s]: linear between samples; ``way``: axes of bodies then; ``named``: names of links.

        Raises
        ------
        ModelError
            For times beyond the table, and bodies that the model lacks.
        """
        first, last = self.table.t[0], self.table.t[-1]
        if t.min() < first or t.max() > last:
            raise ModelError(
                f"{self.table.file.name}: has times {first:g} to {last:g} s, and {t.min():g} to {t.max():g} s are asked for; "
                "give times within"
            )
        parts = [
            np.stack([np.interp(t, self.table.t, column) for column in of.T], axis=1)
            for of in (self.force, self.point, self.moment)
        ]
        force, point, moment = parts
        if self.force_axes != WORLD:
            A = way(_link(self.force_axes, named, self.name)).A
            force, moment = times(A, force), times(A, moment)
        if self.point_axes != WORLD:
            at = way(_link(self.point_axes, named, self.name))
            point = at.r + times(at.A, point)
        return Load(_link(self.body, named, self.name), force, point, moment)


def _link(body: str, named: Mapping[str, str], load: str) -> str:
    if body not in named:
        raise ModelError(f"external force '{load}': the model has no body '{body}'; it has {', '.join(named)}")
    return named[body]


@checked
def read_external_loads(file: str | Path, *, span: tuple[float, float] | None = None) -> list[ExternalForce]:
    """Read the external forces of an .xml file of OpenSim that are applied; the table lies in its folder.

    Parameters
    ----------
    file : str or Path
    span : (first, last) [s], optional
        Times that are needed, as of ``read_storage``.

    Raises
    ------
    ModelError
        With file and line.
    """
    root = read_xml(Path(file))
    loads = root.one("ExternalLoads")
    if root.tag != "OpenSimDocument" or loads is None:
        raise root.error(f"the root is <{root.tag}>; external loads are <OpenSimDocument> with <ExternalLoads>")
    named = text_of(loads, "datafile")
    if not named:
        raise loads.error("<ExternalLoads> has no <datafile>; name the table with the values")
    folder = Path(os.path.realpath(file)).parent
    table = read_storage(within_folder(folder, folder / named, loads, "datafile"), span=span)
    return [_external_force(e, table) for e in filter(active, objects(root, "ExternalLoads", "ExternalForce"))]


def _external_force(e: Element, table: Storage) -> ExternalForce:
    body = _body(text_of(e, "applied_to_body"))
    if not body:
        raise e.error("<ExternalForce> has no <applied_to_body>; name a body")
    parts = {part: _columns(e, part, table) for part in PARTS}
    if parts["force"] is None and parts["torque"] is None:
        raise e.error("<ExternalForce> has neither force_identifier nor torque_identifier; name columns of the table")
    zero = np.zeros((len(table.t), 3))
    force, point, moment = (zero if parts[part] is None else parts[part] for part in PARTS)
    axes = [_body(text_of(e, f"{part}_expressed_in_body")) or WORLD for part in ("force", "point")]
    if parts["point"] is None and parts["force"] is not None:
        axes[1] = body  # OpenSim applies it at the origin of the body
    name = e.attributes.get("name") or f"line {e.line}"
    return ExternalForce(name, body, table, force, point, moment, axes[0], axes[1])  # type: ignore[arg-type]


def _body(path: str) -> str:
    return path.rpartition("/")[2]


def _columns(e: Element, part: str, table: Storage) -> Floats | None:
    """Three columns whose names begin with an identifier; None without one."""
    stem = text_of(e, f"{part}_identifier")
    if not stem or stem.lower() == "unassigned":
        return None
    for ends in ENDS:
        names = [stem + end for end in ends]
        if all(name in table.columns for name in names):
            return np.stack([table.columns[name] for name in names], axis=1)
    raise e.error(
        f"{part}_identifier '{stem}': {table.file.name} has no columns {', '.join(stem + x for x in ENDS[0])}"
    )
