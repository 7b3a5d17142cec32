"""Why a friction by the reaction of its joint was refused, in words."""

from __future__ import annotations

from runtime.dynamics.joint_loads import COUNT, FIRST, FORCE
from runtime.dynamics.model_data import Workspace
from runtime.system.system import System


def reason_of_friction(system: System, work: Workspace) -> str:
    """Which friction an evaluation refused, and why, after the code FRICTION."""
    feedback, load = work.joint_loads.refused
    rows = system.data.forces.reactive
    row = next(r for r in rows if r[FIRST] <= load < r[FIRST] + r[COUNT])
    force = system.forces[int(row[FORCE])]
    what = f"force '{force.name}' ({force.kind})"
    if feedback == 0.0:
        return (
            f"{what}: redundant rows ({', '.join(system.redundant)}) leave the load that it takes from the reaction of joint "
            f"'{force.joint}' undetermined; use joints without redundant rows, such as a ball or a point_on_line in place of a "
            "hinge"
        )
    others = " with those of other joints" if len(work.joint_loads.load) > 1 else ""
    return (
        f"{what}: a load of 1 N on joint '{force.joint}' causes friction that "
        f"loads it{others} by {feedback:.3g} N again, limit 1"
    )
