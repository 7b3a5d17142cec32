"""The foot and the chain in Exudyn as trees of hinges, in minimal coordinates, with its explicit method of highest order."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import TREE, Chain, Chained, Floats, Foot, Prepared, Repeated, frame

NAME, DISTRIBUTION, METHOD, INPUT = "Exudyn", "exudyn", "RK67, tree", TREE
KNOB, LADDER, SHOWN = "step [s]", [10.0 ** (-k / 80) for k in range(120, 281)], [0.02 / 2**k for k in range(7)]
STAGES = 7  # evaluations per step of RK67


def settings(end: float, steps: int, every: float | None = None) -> Any:
    """Settings: fixed steps, no files, states stored every ``every`` seconds."""
    import exudyn as exu

    found = exu.SimulationSettings()
    found.solution.file.write = False
    found.solution.sensors.writePeriod = every or 2.0 * end
    time = found.timeIntegration
    time.endTime, time.numberOfSteps, time.automaticStepSize, time.verboseMode = end, steps, False, 0
    time.explicit.computeEndOfStepAccelerations = False
    return found


def _tree(kinds: list[Any], gravity: list[float], turns: list[Floats], offsets: list[Floats], masses: list[float],
          centres: list[Floats], inertias: list[Floats]) -> tuple[Any, Any, int]:  # fmt: skip
    """The container, which must outlive its system, the system, and the tree's node; each joint follows the previous one."""
    import exudyn as exu
    from exudyn import itemInterface as items

    container = exu.SystemContainer()
    system, zeros = container.AddSystem(), [0.0] * len(kinds)
    node = system.AddNode(items.NodeGenericODE2(
        referenceCoordinates=zeros, initialCoordinates=zeros, initialCoordinates_t=zeros, numberOfODE2Coordinates=len(kinds)
    ))  # fmt: skip
    system.AddObject(items.ObjectKinematicTree(
        nodeNumber=node, gravity=gravity, jointTypes=kinds, linkParents=list(range(-1, len(kinds) - 1)),
        jointTransformations=exu.Matrix3DList(turns), jointOffsets=exu.Vector3DList(offsets), linkMasses=masses,
        linkCOMs=exu.Vector3DList(centres), linkInertiasCOM=exu.Matrix3DList(inertias), jointForceVector=zeros,
    ))  # fmt: skip
    return container, system, node


def _foot(foot: Foot) -> tuple[Any, Any, int]:
    import exudyn as exu

    mass, centre, inertia = foot.welded()
    first, second = frame(foot.talocrural_axis), frame(foot.talocalcaneal_axis)
    P, Q = np.array(foot.talocrural), np.array(foot.talocalcaneal)
    return _tree(
        [exu.JointType.RevoluteZ] * 2, foot.gravity, [first, first.T @ second], [P, first.T @ (Q - P)], [0.0, mass],
        [np.zeros(3), second.T @ (centre - Q)], [np.zeros((3, 3)), second.T @ inertia @ second],
    )  # fmt: skip


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """Fixed steps from the neutral pose; the final state is not stored."""
    import exudyn as exu
    from exudyn import itemInterface as items

    container, system, node = _foot(foot)
    steps = round(end / setting)
    every = end / steps * max(1, steps // outputs)
    wanted = exu.OutputVariableType.Coordinates
    sensor = system.AddSensor(
        items.SensorNode(nodeNumber=node, storeInternal=True, writeToFile=False, outputVariableType=wanted)
    )
    system.Assemble()
    method = exu.DynamicSolverType.RK67
    silent, recorded = settings(end, steps), settings(end, steps, every)

    def solve(how: Any) -> None:
        system.SolveDynamic(how, solverType=method, storeSolver=False)

    def motion() -> tuple[Floats, Floats]:
        solve(recorded)
        stored = np.array(system.GetSensorStoredData(sensor))
        return stored[:, 0], reduced_foot.positions(foot, stored[:, 1], stored[:, 2])

    return Prepared(lambda: solve(silent), motion, lambda: STAGES * steps if container else None)


def evaluation(foot: Foot) -> Repeated:
    """One of the seven evaluations of a step."""
    steps = 2000
    return Repeated(prepare(foot, 2e-4 * steps, 2e-4, 1).run, STAGES * steps)


def chain(chain: Chain) -> Chained:
    """Ball joints as three hinges without masses between them, because a tree has hinges only; a step of Euler's method."""
    import exudyn as exu

    N, none = chain.links, np.zeros(3)
    kinds = [exu.JointType.RevoluteX, exu.JointType.RevoluteY, exu.JointType.RevoluteZ] * N
    offsets = [np.array([chain.length if k % 3 == 0 and k > 0 else 0.0, 0.0, 0.0]) for k in range(3 * N)]
    last = [k % 3 == 2 for k in range(3 * N)]
    container, system, node = _tree(
        kinds, chain.gravity, [np.eye(3)] * (3 * N), offsets, [chain.mass if on else 0.0 for on in last],
        [np.array([chain.length / 2, 0.0, 0.0]) if on else none for on in last],
        [np.diag(chain.inertia) if on else np.zeros((3, 3)) for on in last],
    )  # fmt: skip
    system.Assemble()
    method, step = exu.DynamicSolverType.ExplicitEuler, 1e-7  # so short that the state hardly changes

    def solve(steps: int) -> None:
        system.SolveDynamic(settings(step * steps, steps), solverType=method, storeSolver=False)

    solve(1)
    speeds = np.array(system.systemData.GetODE2Coordinates_t())
    steps = max(1, min(1000, 200_000 // N**2))
    return Chained(Repeated(lambda: solve(steps) if container else None, steps), np.cumsum(speeds[1::3]) / step)
