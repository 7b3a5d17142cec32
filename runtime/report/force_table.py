"""The forces of a system as a table."""

from __future__ import annotations

from runtime.report.tables import Table
from runtime.support.units import with_unit
from runtime.system.system import System


def force_table(system: System) -> Table:
    """Kind, bodies, constants with units and reported quantities of each force."""
    rows = []
    for force in system.forces:
        constants = [with_unit(f"{key} {force.values[key]:g}", unit) for key, unit in force.module.PARAMETERS]
        rows.append([force.name, force.kind, ", ".join(force.bodies), ", ".join(constants), ", ".join(force.outputs)])
    return Table("forces", ["force", "kind", "bodies", "constants", "reports"], rows)
