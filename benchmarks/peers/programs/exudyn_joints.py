"""The foot and the chain in Exudyn as bodies and joints, which are constraints, with its implicit method for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.interface import JOINTS, Chain, Chained, Floats, Foot, Prepared, Repeated
from benchmarks.peers.programs.exudyn import settings

NAME, DISTRIBUTION, METHOD, INPUT = "Exudyn", "exudyn", "trapezoidal, index 2", JOINTS
KNOB, LADDER = "step [s]", [10.0 ** (-k / 10) for k in range(20, 52)]
SHOWN = [*(0.01 / 4**k for k in range(5)), LADDER[-1]]
NEGLIGIBLE = 1e-15  # [kg] of the link between the hinges, which must have a mass


def _settings(end: float, steps: int, every: float | None = None, dense: bool = True) -> Any:
    import exudyn as exu

    found = settings(end, steps, every)
    found.timeIntegration.newton.useModifiedNewton = True
    found.timeIntegration.newton.relativeTolerance, found.timeIntegration.newton.absoluteTolerance = 1e-10, 1e-12
    found.linearSolverType = exu.LinearSolverType.EigenDense if dense else exu.LinearSolverType.EigenSparse
    return found


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """Fixed steps from the neutral pose."""
    import exudyn as exu
    from exudyn import itemInterface as items
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    container = exu.SystemContainer()  # it must outlive its system
    system = container.AddSystem()
    mass, centre, inertia = foot.welded()
    ground = system.CreateGround()
    light = RigidBodyInertia(mass=NEGLIGIBLE, inertiaTensor=1e-3 * NEGLIGIBLE * np.eye(3))
    link = system.CreateRigidBody(referencePosition=foot.talocrural, inertia=light)
    body = system.CreateRigidBody(
        referencePosition=centre, inertia=RigidBodyInertia(mass=mass, inertiaTensor=inertia), gravity=foot.gravity
    )
    for pair, place, axis in (
        ([ground, link], foot.talocrural, foot.talocrural_axis),
        ([link, body], foot.talocalcaneal, foot.talocalcaneal_axis),
    ):
        system.CreateRevoluteJoint(bodyNumbers=pair, position=place, axis=axis, useGlobalFrame=True)
    sensor = system.AddSensor(
        items.SensorBody(
            bodyNumber=body, localPosition=foot.main_foot.r - centre, storeInternal=True, writeToFile=False,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )  # fmt: skip
    system.Assemble()
    steps = round(end / setting)
    silent, recorded = _settings(end, steps), _settings(end, steps, end / steps * max(1, steps // outputs))

    def solve(how: Any) -> None:
        system.SolveDynamic(how, solverType=exu.DynamicSolverType.TrapezoidalIndex2, storeSolver=False)

    def motion() -> tuple[Floats, Floats]:
        solve(recorded)
        stored = np.array(system.GetSensorStoredData(sensor))
        return stored[:, 0], stored[:, 1:4]

    return Prepared(lambda: solve(silent), motion, lambda: steps if container else None)


def evaluation(foot: Foot) -> Repeated:
    """One step."""
    return Repeated(prepare(foot, 0.5, 1e-3, 1).run, 500)


def chain(chain: Chain) -> Chained:
    """A step of the implicit method, which solves for all constraints with a sparse factorisation."""
    import exudyn as exu
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    container = exu.SystemContainer()
    system = container.AddSystem()
    before, bodies = system.CreateGround(), []
    for link in range(chain.links):
        inertia = RigidBodyInertia(mass=chain.mass, inertiaTensor=np.diag(chain.inertia))
        place = [(link + 0.5) * chain.length, 0.0, 0.0]
        bodies.append(system.CreateRigidBody(referencePosition=place, inertia=inertia, gravity=chain.gravity))
        system.CreateSphericalJoint(
            bodyNumbers=[before, bodies[-1]], position=[link * chain.length, 0.0, 0.0], useGlobalFrame=True
        )
        before = bodies[-1]
    system.Assemble()
    step = 1e-4

    def solve(steps: int) -> None:
        how = _settings(step * steps, steps, dense=chain.links < 8)
        system.SolveDynamic(how, solverType=exu.DynamicSolverType.TrapezoidalIndex2, storeSolver=False)

    solve(1)
    nodes = [system.GetObject(body)["nodeNumber"] for body in bodies]
    velocities = [system.GetNodeOutput(node, exu.OutputVariableType.AngularVelocity)[1] for node in nodes]
    steps = max(3, min(200, 20_000 // chain.links))
    work = Repeated(lambda: solve(steps) if container else None, steps)
    return Chained(work, np.array(velocities) / step, "step")
