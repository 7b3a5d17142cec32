"""Tables of the points, axes and shapes of a system, each in axes of its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from runtime.report.tables import Table
from runtime.system.system import System

IN_BODY = "from the centre of mass, in axes of the body; of the ground, global coordinates"
XYZ = ("xi", "eta", "zeta")


def geometry_tables(system: System) -> list[Table]:
    """Points, axes and shapes; a table is left out where the system has none."""
    vectors = list(_vectors(system))
    points = [[*names, *value] for kind, names, value in vectors if kind == "point"]
    axes = [[*names, *value] for kind, names, value in vectors if kind == "direction"]
    at, of = [f"{axis} [m]" for axis in XYZ], ["part", "name", "body"]
    tables = [
        Table("points", [*of, *at], points, f"Coordinates {IN_BODY}."),
        Table("axes", [*of, *XYZ], axes, "Components of unit vectors in axes of the body."),
        _shapes(system),
    ]
    return [table for table in tables if table.rows]


def _vectors(system: System) -> Iterator[tuple[str, list[str], list[float]]]:
    """Kind ("point" or "direction"), names of part, vector and body, and components of each vector that a part was given."""
    motors = [motor.joint for motor in system.motors]
    parts: list[tuple[str, Any, Mapping[str, Any], tuple[str, ...]]] = [
        *((j.name, j.module, j.values, (j.body_i, j.body_j)) for j in (*system.joints, *motors)),
        *((f.name, f.module, f.values, f.ends) for f in system.forces),
        *((m.name, m.module, m.values, (m.reference, m.moving)) for m in system.limits),
        *((c.name, c.module, c.values, (c.body, c.plane)) for c in system.contacts),
    ]
    for part, module, values, bodies in parts:
        for name, kind, side in (vector[:3] for vector in module.VECTORS):
            if kind in ("point", "direction") and name in values:
                yield kind, [part, name, bodies["ijkl".index(side)]], [float(c) for c in values[name]]


def _shapes(system: System) -> Table:
    rows: list[list[Any]] = []
    for shape in system.shapes:
        if shape.kind == "mesh":
            extent = 1000.0 * np.ptp(shape.vertices, axis=0)
            sizes = f"{len(shape.faces)} triangles, extent {', '.join(f'{e:.4g}' for e in extent)}"
        else:
            sizes = ", ".join(f"{1000.0 * size:.4g}" for size in shape.sizes)
        rows.append([shape.body, shape.label, shape.kind, *(float(c) for c in shape.at), sizes])
    note = (
        "Sizes: radius of a sphere; radius and length of a capsule or bone; semi-axes of an ellipsoid; edges of a box.  xi, eta, "
        f"zeta: centre, or start of a capsule or bone, {IN_BODY}."
    )
    columns = ["body", "label", "kind", *(f"{axis} [m]" for axis in XYZ), "sizes [mm]"]
    return Table("shapes", columns, rows, note, brief=["body", "kind", *columns[3:]])
