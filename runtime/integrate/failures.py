"""Causes of failed evaluations of the equations of motion, for messages."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.elimination import PIVOT_TOLERANCE
from runtime.dynamics.model_data import Workspace
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate.step_control import failure
from runtime.system.joint_friction import reason_of_friction
from runtime.system.system import System


def evaluation_failure(code: int, t: float, system: System, work: Workspace) -> RunFailure:
    """The failure of an evaluation at a time [s] with this code, which is not OK."""
    status = failure.py_func(code)
    return RunFailure(status, t, failure_detail(status, system, work))


def failure_detail(
    status: Status, system: System, work: Workspace, *, projected: bool = True, stuck: bool = False
) -> str:
    """The cause of a singular configuration, or a force that is not finite; empty for another status."""
    if status == Status.NOT_FINITE:
        bad = [f for f, out in zip(system.forces, work.forces.out, strict=True) if not np.isfinite(out).all()]
        if not bad:
            return ""
        singular = bad[0].module.SINGULAR
        cause = (
            f": it is singular {singular}; keep the motion away from this pose" if singular else "; check its values"
        )
        return f"force '{bad[0].name}' ({bad[0].kind}) is not finite{cause}"
    if status == Status.FRICTION_NOT_UNIQUE:
        return reason_of_friction(system, work)
    if status != Status.SINGULAR_CONFIGURATION:
        return ""
    thin = system.data.thin_body
    if len(thin) and not system.data.closed and work.smallest_pivot[0] > PIVOT_TOLERANCE:  # the rows are independent
        fastest = np.argmax(np.nan_to_num(np.abs(work.v_dot[thin, 3:]).max(axis=1), nan=np.inf))
        name = system.body_names[thin[fastest] - 1]
        return f"body '{name}' has no inertia in a rotation that is free there; give it a moment of inertia"
    k, r = map(int, work.failed)
    joint = system.joints[k]
    hint = f" (the joint is singular {joint.module.SINGULAR})" if joint.module.SINGULAR else ""
    if stuck:
        hint += ", and the accelerations that they admit lead to no motion that satisfies them"
    if system.data.closed and not projected:
        hint += ", and only 'dop853' and 'radau' without alpha and beta pass singular poses of closed loops"
    return f"row {system.row_name(k, r)} depends on the others{hint}"
