"""Singular joints, singular poses and redundant rows: told apart, and named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from runtime import assembly
from runtime.equations import Floats
from runtime.errors import ModelError
from runtime.structure import GROUND, frozen
from runtime.system import Joint, System

# The relative singular value below which the rows of one joint alone are dependent, and the distance [m, rad] of the
# neighbouring configuration that tells a singular pose from a redundant row.
JOINT_RANK_TOLERANCE = 3e-5
NEARBY = 0.05


def refuse_singular_joints(system: System, y: Floats) -> None:
    """Each joint alone must have independent rows in this configuration."""
    work = system.work()
    assembly.worst_row(y, system.tables, work, False)
    for k, joint in enumerate(system.joints):
        D = work.D[k, : len(joint.rows)].copy()
        if system.tables.body_i[k] == GROUND:
            D[:, :6] = 0.0
        if system.tables.body_j[k] == GROUND:
            D[:, 6:] = 0.0
        # A metre and a radian are made comparable by the joint's own lever arms.
        length = _length(joint)
        D[:, [3, 4, 5, 9, 10, 11]] /= length
        size = np.linalg.norm(D, axis=1)
        natural = np.array([length ** (n - 1) for n in joint.module.UNITS])
        vanished = [joint.rows[r] for r in range(len(size)) if size[r] <= JOINT_RANK_TOLERANCE * natural[r]]
        singular = f"; it is singular {joint.module.SINGULAR}" if joint.module.SINGULAR else ""
        if vanished:
            raise ModelError(
                f"joint '{joint.name}' ({joint.kind}): row {', '.join(vanished)} vanishes in this configuration and restrains "
                f"nothing{singular}"
            )
        values = np.linalg.svd(D / size[:, None], compute_uv=False)
        if values[-1] <= JOINT_RANK_TOLERANCE:
            raise ModelError(
                f"joint '{joint.name}' ({joint.kind}): its rows {', '.join(joint.rows)} are dependent in this configuration "
                f"(rank {int((values > JOINT_RANK_TOLERANCE).sum())} of {len(values)}){singular}"
            )


def _length(joint: Joint) -> float:
    """A length that is typical of a joint: its longest lever arm or constant."""
    arms = [float(np.linalg.norm(joint.values[name])) for name, kind, _ in joint.module.VECTORS if kind == "point"]
    lengths = [abs(joint.values[name]) for name, power in joint.module.PARAMETERS if power == 1]
    return max([*arms, *lengths], default=0.0) or 1.0


def without_redundant_rows(system: System, y: Floats, redundant: str) -> System:
    """Refuse or remove rows that repeat others; refuse a singular pose, which only seems to have such rows."""
    length = max(_length(joint) for joint in system.joints) if system.joints else 1.0
    dependent = assembly.dependent_rows(y, system.tables, system.work(), length)
    if not dependent:
        return system
    redundant_rows = tuple(system.row_name(k, r) for k, r in dependent)
    names = ", ".join(redundant_rows)
    nearby = assembly.nearby_configuration(y, system.tables, system.work(), NEARBY)
    if len(assembly.dependent_rows(nearby, system.tables, system.work(), length)) < len(dependent):
        raise ModelError(
            f"system '{system.name}': the initial configuration is singular, {names} depend on other rows here but not nearby; "
            "start from another configuration"
        )
    if redundant == "refuse":
        raise ModelError(
            f"system '{system.name}' is over-constrained: {names} repeat other rows; use joints that leave them out, or "
            'build(redundant="remove"), which keeps the motion and leaves the reactions of these rows undetermined'
        )
    active, active_row = system.tables.active.copy(), system.tables.active_row.copy()
    for k, joint in enumerate(system.joints):
        kept = [r for r in range(len(joint.rows)) if (k, r) not in dependent]
        active[k] = len(kept)
        active_row[k, : len(kept)] = kept
    tables = frozen(system.tables._replace(active=active, active_row=active_row))
    return replace(system, tables=tables, redundant=redundant_rows)
