"""Memory for evaluations of a system and of its Jacobian."""

from __future__ import annotations

from runtime.dynamics.equations import workspace_for
from runtime.dynamics.jacobian import JacobianWorkspace, jacobian_workspace
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.system.system import System
from runtime.system.whole_model import whole_of


def workspace(system: System, data: ModelData | None = None) -> Workspace:
    """Memory for evaluations of a system, or of other data of it; with its whole-model kernel where there is one."""
    data = system.data if data is None else data
    return workspace_for(data, whole_of(system, data))


def workspace_of_jacobian(system: System) -> JacobianWorkspace:
    """Memory for Jacobians of a system."""
    joints = [joint.module for joint in system.joints]
    motors, forces = [motor.joint.module for motor in system.motors], [force.module for force in system.forces]
    return jacobian_workspace(system.data, joints, motors, forces)
