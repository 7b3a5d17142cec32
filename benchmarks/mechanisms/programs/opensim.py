"""Problems in OpenSim: a tree of joints in Simbody, with constraints that close its loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mechanisms.geometry import (
    GROUND,
    Branch,
    Data,
    Floats,
    Points,
    RefusedError,
    poses,
    refuse_unknown,
    tree,
)

NAME, DISTRIBUTION = "OpenSim", "opensim"
JOINTS = ("revolute", "prismatic", "spherical", "universal")
APART = 0.1  # [m] between the two points that close a loop at a hinge


def method(data: Data) -> str:
    """The implicit method where dampers may be stiff; both with control of steps."""
    return "CPodes" if any(force.get("c", 0.0) > 0.0 for force in data["forces"]) else "Runge-Kutta-Merson"


def settings(data: Data, t_end: float) -> list[float]:
    """Accuracies."""
    return [1e-4, 1e-6, 1e-8]


def prepare(data: Data, times: Floats, points: Points, setting: float) -> Callable[[], tuple[Floats, int | None]]:
    """Steps that Simbody chooses, up to each of the times."""
    import opensim as osim

    osim.Logger.setLevelString("off")
    refuse_unknown(data, JOINTS, ("spring_damper", "body_torque"))
    model, bodies = _model(data)
    start = model.initSystem()
    _velocities(data, model, start)
    at = [(bodies[body], osim.Vec3(*map(float, local))) for body, local in points]
    chosen = osim.Manager.IntegratorMethod_RungeKuttaMerson
    if method(data) == "CPodes":
        chosen = osim.Manager.IntegratorMethod_CPodes

    def run() -> tuple[Floats, int | None]:
        manager = osim.Manager(model)
        manager.setWriteToStorage(False)
        manager.setIntegratorMethod(chosen)
        manager.setIntegratorAccuracy(setting)
        manager.initialize(osim.State(start))
        found = np.empty((len(points), len(times), 3))
        for n, t in enumerate(times):
            state = manager.integrate(float(t)) if t > 0.0 else osim.State(start)
            model.realizePosition(state)
            for k, (body, local) in enumerate(at):
                found[k, n] = body.findStationLocationInGround(state, local).to_numpy()
        return found, None

    return run


def _vec(values: Any) -> Any:
    import opensim as osim

    return osim.Vec3(*map(float, values))


def _angles(A: Floats) -> Any:
    """Orientation of a frame as OpenSim takes it."""
    import opensim as osim

    return osim.Rotation(osim.Mat33(*map(float, A.ravel()))).convertRotationToBodyFixedXYZ()


def _model(data: Data) -> tuple[Any, dict[str, Any]]:
    import opensim as osim

    model, where = osim.Model(), poses(data)
    model.setGravity(_vec(data["gravity"]))
    bodies = {GROUND: model.getGround()}
    for name, body in data["bodies"].items():
        J = np.array(body["inertia"], float)
        moments = osim.Inertia(*(float(J[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
        bodies[name] = osim.Body(name, float(body["mass"]), osim.Vec3(0.0), moments)
        model.addBody(bodies[name])
    branches, closing = tree(data)
    kinds = {
        "revolute": osim.PinJoint, "prismatic": osim.SliderJoint, "spherical": osim.BallJoint,
        "universal": osim.UniversalJoint,
    }  # fmt: skip
    for branch in branches:
        joint, frame = branch.joint, _frame(branch)
        ends = [
            part
            for body in (branch.parent, branch.child)
            for part in (bodies[body], _vec(where[body].local(joint["point"])), _angles(where[body].A.T @ frame))
        ]
        model.addJoint(kinds[joint["type"]](joint["name"], *ends))
    for joint in closing:
        for constraint in _closure(joint, bodies, where):
            model.addConstraint(constraint)
    for f in data["forces"]:
        model.addForce(_force(f, bodies, where))
    return model, bodies


def _frame(branch: Branch) -> Floats:
    """The joint's frame at t = 0: OpenSim turns hinges about z, moves sliders along x, and crosses x of the parent with y."""
    joint = branch.joint
    if joint["type"] == "spherical":
        return np.eye(3)
    if joint["type"] == "universal":
        x, y = (np.array(joint[f"axis_{side}"], float) for side in branch.sides)
        x /= np.linalg.norm(x)
        y -= (x @ y) * x
        y /= np.linalg.norm(y)
        return np.column_stack([x, y, np.cross(x, y)])
    z = branch.axis()
    x = np.cross(z, np.eye(3)[np.abs(z).argmin()])
    x /= np.linalg.norm(x)
    hinge = np.column_stack([x, np.cross(z, x), z])
    return hinge if joint["type"] == "revolute" else hinge[:, [2, 0, 1]]


def _closure(joint: Data, bodies: dict[str, Any], where: Any) -> list[Any]:
    """Constraints in the place of a joint: a point, or two points of a hinge's axis."""
    import opensim as osim

    if joint["type"] not in ("spherical", "revolute"):
        raise RefusedError(f"closes no loop by a {joint['type']} joint")
    points = [np.array(joint["point"], float)]
    if joint["type"] == "revolute":
        axis = np.array(joint["axis"], float)
        points.append(points[0] + APART * axis / np.linalg.norm(axis))
    i, j = joint["i"], joint["j"]
    return [
        osim.PointConstraint(bodies[i], _vec(where[i].local(point)), bodies[j], _vec(where[j].local(point)))
        for point in points
    ]


def _force(f: Data, bodies: dict[str, Any], where: Any) -> Any:
    import opensim as osim

    if f["type"] == "body_torque":
        force = osim.PrescribedForce(f["name"], bodies[f["body"]])
        force.setTorqueFunctions(*(osim.Constant(float(part)) for part in f["torque"]))
        return force
    i, j = f["i"], f["j"]
    force = osim.ExpressionBasedPointToPointForce(
        i if i != GROUND else "ground", _vec(where[i].local(f["point_i"])), j if j != GROUND else "ground",
        _vec(where[j].local(f["point_j"])), f"{f['k']!r}*(d-{f['l0']!r})+{f.get('c', 0.0)!r}*ddot",
    )  # fmt: skip
    force.setName(f["name"])
    return force


def _velocities(data: Data, model: Any, state: Any) -> None:
    """The velocities at t = 0 of the tree's coordinates."""
    where, joints = poses(data), model.getJointSet()
    for branch in tree(data)[0]:
        joint, frame = joints.get(branch.joint["name"]), _frame(branch)
        turning, kind = frame.T @ branch.turning(where), branch.joint["type"]
        if kind == "revolute":
            rates = [turning[2]]
        elif kind == "prismatic":
            rates = [(frame.T @ branch.sliding(where))[0]]
        else:
            rates = list(turning[: 3 if kind == "spherical" else 2])
        for k, rate in enumerate(rates):
            joint.get_coordinates(k).setSpeedValue(state, float(rate))
