"""The answer and the tables about a system that ``talus info`` shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.report.force_table import force_table
from runtime.report.geometry_tables import geometry_tables
from runtime.report.tables import Table
from runtime.support.units import with_unit
from runtime.system.system import System
from runtime.system.whole_model import place_of


def system_answer(system: System) -> str:
    """Bodies, joints, degrees of freedom and redundant rows, in a sentence or two."""
    joints = len(system.joints) - len(system.drivers)
    counts = {
        "body": len(system.bodies), "joint": joints, "driver": len(system.drivers), "limit": len(system.limits),
        "contact": len(system.contacts), "force": len(system.forces), "load": len(system.loads),
    }  # fmt: skip
    parts = [f"{n} {name if n == 1 else {'body': 'bodies'}.get(name, name + 's')}" for name, n in counts.items() if n]
    parts.append(f"{system.degrees_of_freedom} degree{'s' * (system.degrees_of_freedom != 1)} of freedom")
    redundant = len(system.redundant)
    more = (
        f"  {redundant} of its constraint rows {'repeat' if redundant > 1 else 'repeats'} others." if redundant else ""
    )
    return f"{system.name}: {', '.join(parts)}.{more}"


def system_tables(system: System, *, all_rows: bool = False) -> list[Table]:
    """Tables of facts, bodies and joints, and of what else the system has.

    ``all_rows``: the names of the rows of a joint as a list, in place of a text with those of a vector as one.
    """
    tables = [_facts(system), _bodies(system), _joints(system, all_rows)]
    if system.assembly.adjustments:
        tables.append(_adjustments(system))
    if system.limits:
        tables.append(_limits(system))
    tables += [force_table(system)] if system.forces else []
    if system.signals:
        signals = [
            [name, "constant" if np.isinf(s.span[0]) else f"{s.span[0]:g} to {s.span[1]:g} s", len(s.coefficients)]
            for name, s in system.signals.items()
        ]
        tables.append(Table("signals of drivers, loads, motors and forces", ["signal", "defined", "pieces"], signals))
    return [*tables, *geometry_tables(system)]


def _facts(system: System) -> Table:
    a = system.assembly
    facts: list[list[Any]] = [
        ["degrees of freedom", system.degrees_of_freedom],
        ["rank of D", system.rank],
        ["redundant rows", ", ".join(system.redundant) or "none"],
        ["assembly", f"{a.iterations} iteration{'s' * (a.iterations != 1)}, max |Phi| = {a.residual:.1e}"],
        ["largest displacement", f"{a.largest_move:.3g} m, body {a.moved_body}"],
        ["largest rotation", f"{a.largest_turn:.3g} rad, body {a.turned_body}"],
        *(["remark", remark] for remark in a.remarks),
        ["gravity [m/s^2]", ", ".join(f"{g:g}" for g in system.gravity)],
        ["whole-model kernel", place_of(system) or "none; codegen.compile_model(system) emits one"],
    ]
    return Table("system", ["fact", "value"], facts)


def _bodies(system: System) -> Table:
    bodies: list[list[Any]] = []
    for b in system.bodies:
        moments = ", ".join(f"{moment:.4g}" for moment in np.linalg.eigvalsh(b.inertia))
        bodies.append([b.name, b.mass, moments, ", ".join(f"{c:.4g}" for c in system.state.r[b.name])])
    columns = ["body", "mass [kg]", "principal inertia [kg m²]", "centre [m]"]
    return Table("bodies", columns, bodies, brief=[columns[0], columns[1], columns[3]])


def _joints(system: System, all_rows: bool) -> Table:
    joints: list[list[Any]] = []
    motions = system.joint_motions
    for j in system.joints:
        rows = ", ".join(j.rows).replace("_x, ", "_xyz, ")
        for group in {row[:-2] for row in j.rows if row.endswith("_y")}:
            rows = rows.replace(f", {group}_y, {group}_z", "")
        coordinates = ", ".join(motions[j.name].units) if j.name in motions else None
        joints.append([j.name, j.kind, f"{j.body_i}, {j.body_j}", list(j.rows) if all_rows else rows, coordinates])
    columns = ["joint", "kind", "bodies i, j", "rows", "coordinates"]
    return Table("joints", columns, joints, brief=columns[:4])


def _adjustments(system: System) -> Table:
    """The points, directions and lengths that gave way for closed loops to close."""
    changes: list[list[Any]] = [
        [d.name, _text(d.given), _text(d.used), with_unit(f"{d.change:.2g}", d.unit)]
        for d in system.assembly.adjustments
    ]
    return Table("data that gave way", ["name", "given", "used", "change"], changes)


def _text(value: Any) -> str:
    """A length, or the components of a point or direction."""
    return ", ".join(f"{component:.10g}" for component in (value if isinstance(value, tuple) else (value,)))


def _limits(system: System) -> Table:
    limits: list[list[Any]] = []
    for m in system.limits:
        latitudes = np.rad2deg(m.cone.latitudes)
        cone = ", ".join(f"{latitude:g}" for latitude in latitudes[:-1]) + f" ({m.cone.interpolation})"
        law = f"{m.max_moment:g} N m, {np.rad2deg(m.compliance):.4g} deg, {m.law}"
        limits.append([m.name, m.joint, m.kind, m.reference, cone, law, f"{m.damping:g} N m s"])
    columns = ["limit", "joint", "kind", "reference", "maximum latitudes [deg]", "law", "damping"]
    return Table("limits", columns, limits)
