"""Problems in Exudyn: bodies and joints, which are constraints, with its implicit methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mechanisms.geometry import GROUND, Data, Floats, Points, RefusedError, poses, refuse_unknown, stepped

NAME, DISTRIBUTION = "Exudyn", "exudyn"
JOINTS = ("revolute", "prismatic", "spherical", "universal", "distance")


def method(data: Data) -> str:
    """Redundant rows need the method of index 3 with a Jacobian for each step."""
    return "generalised alpha, index 3" if data["redundant_constraints"] and _spatial(data) else "trapezoidal, index 2"


def _spatial(data: Data) -> bool:
    """Loops without springs, whose redundant rows the method of index 2 did not solve."""
    return not data["forces"]


def settings(data: Data, t_end: float) -> list[float]:
    """Steps [s]."""
    return stepped(t_end)


def prepare(data: Data, times: Floats, points: Points, setting: float) -> Callable[[], tuple[Floats, int | None]]:
    """Constant steps; positions are stored at the given times, which must be equally spaced."""
    import exudyn as exu
    from exudyn import itemInterface as items

    refuse_unknown(data, JOINTS, ("spring_damper", "body_torque"))
    gaps = np.diff(times)
    if times[0] != 0.0 or np.ptp(gaps) > 1e-9 * gaps[0]:
        raise RefusedError("stores positions at equally spaced times only")
    container = exu.SystemContainer()  # it must outlive its system
    system = container.AddSystem()
    bodies = _bodies(system, data)
    _joints(system, data, bodies)
    _forces(system, data, bodies)
    sensors = [
        system.AddSensor(
            items.SensorBody(
                bodyNumber=bodies[body], localPosition=list(local), storeInternal=True, writeToFile=False,
                outputVariableType=exu.OutputVariableType.Position,
            )
        )
        for body, local in points
    ]  # fmt: skip
    system.Assemble()
    steps = len(gaps) * max(1, round(times[-1] / setting / len(gaps)))
    how, implicit = _solver(data, times, steps), method(data).startswith("trapezoidal")
    kind = exu.DynamicSolverType.TrapezoidalIndex2 if implicit else exu.DynamicSolverType.GeneralizedAlpha

    def run() -> tuple[Floats, int | None]:
        system.SolveDynamic(how, solverType=kind, storeSolver=False)
        stored = [np.array(system.GetSensorStoredData(sensor))[:, 1:4] for sensor in sensors]
        return np.array(stored), steps if container else None

    return run


def _solver(data: Data, times: Floats, steps: int) -> Any:
    import exudyn as exu

    how = exu.SimulationSettings()
    how.solution.file.write = False
    how.solution.sensors.writePeriod = times[-1] / (len(times) - 1)
    time = how.timeIntegration
    time.endTime, time.numberOfSteps, time.automaticStepSize, time.verboseMode = times[-1], steps, False, 0
    time.newton.useModifiedNewton = method(data).startswith("trapezoidal")
    time.newton.relativeTolerance, time.newton.absoluteTolerance = 1e-10, 1e-12
    how.linearSolverType = exu.LinearSolverType.EigenDense
    how.linearSolverSettings.ignoreSingularJacobian = True  # redundant rows
    return how


def _bodies(system: Any, data: Data) -> dict[str, Any]:
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    found = {GROUND: system.CreateGround()}
    where = poses(data)
    for name, body in data["bodies"].items():
        found[name] = system.CreateRigidBody(
            referencePosition=body["r0"], referenceRotationMatrix=where[name].A, initialVelocity=body["v0"],
            initialAngularVelocity=body["w0"], gravity=data["gravity"],
            inertia=RigidBodyInertia(mass=body["mass"], inertiaTensor=np.array(body["inertia"], float)),
        )  # fmt: skip
    return found


def _joints(system: Any, data: Data, bodies: dict[str, Any]) -> None:
    where = poses(data)
    for joint in data["joints"]:
        pair, kind = [bodies[joint["i"]], bodies[joint["j"]]], joint["type"]
        if kind == "distance":
            ends = [where[joint[end]].local(joint[f"point_{end}"]) for end in "ij"]
            system.CreateDistanceConstraint(
                bodyNumbers=pair, localPosition0=ends[0], localPosition1=ends[1], distance=joint["length"]
            )
            continue
        common = dict(bodyNumbers=pair, position=joint["point"], useGlobalFrame=True)
        if kind == "revolute":
            system.CreateRevoluteJoint(axis=joint["axis"], **common)
        elif kind == "prismatic":
            system.CreatePrismaticJoint(axis=joint["axis"], **common)
        elif kind == "spherical":
            system.CreateSphericalJoint(**common)
        else:  # universal: the rotation about z keeps x of the first body perpendicular to y of the second
            x, y = (np.array(joint[f"axis_{end}"], float) for end in "ij")
            x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
            system.CreateGenericJoint(
                rotationMatrixAxes=np.column_stack([x, y, np.cross(x, y)]), constrainedAxes=[1, 1, 1, 0, 0, 1], **common
            )


def _forces(system: Any, data: Data, bodies: dict[str, Any]) -> None:
    where = poses(data)
    for force in data["forces"]:
        if force["type"] == "body_torque":
            system.CreateTorque(bodyNumber=bodies[force["body"]], loadVector=force["torque"])
            continue
        ends = [where[force[end]].local(force[f"point_{end}"]) for end in "ij"]
        system.CreateSpringDamper(
            bodyNumbers=[bodies[force["i"]], bodies[force["j"]]], localPosition0=ends[0], localPosition1=ends[1],
            referenceLength=force["l0"], stiffness=force["k"], damping=force.get("c", 0.0),
        )  # fmt: skip
