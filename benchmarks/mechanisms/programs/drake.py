"""Problems in Drake: trees in continuous time, springs as its force elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mechanisms.geometry import GROUND, Data, Floats, Points, poses, refuse_unknown, tree

NAME, DISTRIBUTION = "Drake", "drake"
JOINTS = ("revolute", "prismatic", "spherical")


def method(data: Data) -> str:
    """The implicit method where dampers may be stiff; both with control of steps."""
    return "Radau 3" if any(force.get("c", 0.0) > 0.0 for force in data["forces"]) else "RK5"


def settings(data: Data, t_end: float) -> list[float]:
    """Accuracies."""
    return [1e-6, 1e-8, 1e-10]


def prepare(data: Data, times: Floats, points: Points, setting: float) -> Callable[[], tuple[Floats, int | None]]:
    """Steps that Drake chooses, up to each of the times."""
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

    loops = "closes loops in discrete time only"
    refuse_unknown(data, JOINTS, ("spring_damper",), loops=loops)
    plant, joints = _plant(data)
    frames = [(plant.GetBodyByName(body).body_frame(), np.array(local, float)) for body, local in points]
    world = plant.world_frame()

    def run() -> tuple[Floats, int | None]:
        simulator = Simulator(plant)
        ResetIntegratorFromFlags(simulator, "radau3" if method(data) == "Radau 3" else "runge_kutta5", 0.1)
        integrator = simulator.get_mutable_integrator()
        integrator.set_fixed_step_mode(False)
        integrator.set_target_accuracy(setting)
        context, found = simulator.get_mutable_context(), np.empty((len(points), len(times), 3))
        _start(data, joints, context)
        simulator.Initialize()
        for n, t in enumerate(times):
            simulator.AdvanceTo(t)
            for k, (frame, local) in enumerate(frames):
                found[k, n] = plant.CalcPointsPositions(context, frame, local, world)[:, 0]
        return found, integrator.get_num_derivative_evaluations()

    return run


def _plant(data: Data) -> tuple[Any, dict[str, Any]]:
    """The plant and its joints by name; the frames of joints are parallel to the global axes at t = 0."""
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody import tree as elements
    from pydrake.multibody.plant import MultibodyPlant

    plant, where = MultibodyPlant(0.0), poses(data)
    plant.mutable_gravity_field().set_gravity_vector(data["gravity"])
    bodies, joints = {GROUND: plant.world_body()}, {}
    for name, body in data["bodies"].items():
        J = np.array(body["inertia"], float)
        moments = elements.RotationalInertia(*(float(J[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
        inertia = elements.SpatialInertia.MakeFromCentralInertia(float(body["mass"]), np.zeros(3), moments)
        bodies[name] = plant.AddRigidBody(name, inertia)

    def at(body: str, name: str, point: Any) -> Any:
        turned = RigidTransform(RotationMatrix(where[body].A.T), where[body].local(point))
        return plant.AddFrame(elements.FixedOffsetFrame(name, bodies[body].body_frame(), turned))

    for branch in tree(data)[0]:
        joint, name = branch.joint, branch.joint["name"]
        ends = [at(body, f"{name} on {body}", joint["point"]) for body in (branch.parent, branch.child)]
        if joint["type"] == "spherical":
            made = elements.BallRpyJoint(name, *ends)
        elif joint["type"] == "revolute":
            made = elements.RevoluteJoint(name, *ends, branch.axis())
        else:
            made = elements.PrismaticJoint(name, *ends, branch.axis())
        joints[name] = plant.AddJoint(made)
    for f in data["forces"]:
        points = [where[f[end]].local(f[f"point_{end}"]) for end in "ij"]
        plant.AddForceElement(
            elements.LinearSpringDamper(
                bodies[f["i"]], points[0], bodies[f["j"]], points[1], f["l0"], f["k"], f.get("c", 0.0)
            )
        )
    plant.Finalize()
    return plant, joints


def _start(data: Data, joints: dict[str, Any], context: Any) -> None:
    """The velocities at t = 0."""
    where = poses(data)
    for branch in tree(data)[0]:
        joint, kind = joints[branch.joint["name"]], branch.joint["type"]
        if kind == "spherical":
            joint.set_angles(context, np.zeros(3))
            joint.set_angular_velocity(context, branch.turning(where))
        elif kind == "revolute":
            joint.set_angular_rate(context, branch.axis() @ branch.turning(where))
        else:
            joint.set_translation_rate(context, branch.axis() @ branch.sliding(where))
