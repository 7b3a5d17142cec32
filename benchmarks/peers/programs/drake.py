"""The foot and the chain in Drake: trees, its Runge-Kutta method of order 5 at fixed steps, in its own loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import TREE, Chain, Chained, Floats, Foot, Prepared, Repeated

NAME, DISTRIBUTION, METHOD, INPUT = "Drake", "drake", "RK5", TREE
# With step control it took at least 1.5 times as long at every error.
KNOB, LADDER, SHOWN = "step [s]", [10.0 ** (-k / 40) for k in range(60, 141)], [0.02 / 2**k for k in range(7)]
STAGES = 7  # evaluations per step, the error estimate included


def _inertia(mass: float, centre: Floats, inertia: Floats) -> Any:
    from pydrake.multibody import tree

    moments = tree.RotationalInertia(*(float(inertia[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
    return tree.SpatialInertia.MakeFromCentralInertia(mass, centre, moments)


def _plant(gravity: list[float]) -> Any:
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(gravity)
    return plant


def _at(plant: Any, frame: Any, place: Floats) -> Any:
    from pydrake.math import RigidTransform
    from pydrake.multibody.tree import FixedOffsetFrame

    return plant.AddFrame(FixedOffsetFrame(f"at {plant.num_frames()}", frame, RigidTransform(np.array(place, float))))


def _simulator(plant: Any, scheme: str, step: float) -> Any:
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

    simulator = Simulator(plant)
    ResetIntegratorFromFlags(simulator, scheme, step)
    integrator = simulator.get_mutable_integrator()
    integrator.set_fixed_step_mode(True)
    integrator.set_maximum_step_size(step)
    return simulator


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """Fixed steps from the neutral pose."""
    from pydrake.multibody import tree
    from pydrake.systems.framework import EventStatus

    plant = _plant(foot.gravity)
    mass, centre, inertia = foot.welded()
    P, Q = np.array(foot.talocrural), np.array(foot.talocalcaneal)
    link = plant.AddRigidBody("link", tree.SpatialInertia(0.0, np.zeros(3), tree.UnitInertia(0.0, 0.0, 0.0)))
    body = plant.AddRigidBody("foot", _inertia(mass, centre - Q, inertia))
    for name, parent, child, axis in (
        ("talocrural", _at(plant, plant.world_frame(), P), link, foot.talocrural_axis),
        ("talocalcaneal", _at(plant, link.body_frame(), Q - P), body, foot.talocalcaneal_axis),
    ):
        plant.AddJoint(tree.RevoluteJoint(name, parent, child.body_frame(), axis))
    plant.Finalize()
    steps = round(end / setting)
    simulator = _simulator(plant, "runge_kutta5", end / steps)
    kept: list[Floats] = []

    def keep(context: Any) -> Any:
        kept.append(np.array([context.get_time(), *plant.GetPositions(context)]))
        return EventStatus.DidNothing()

    def run() -> None:
        context = simulator.get_mutable_context()
        context.SetTime(0.0)
        context.SetContinuousState(np.zeros(4))
        simulator.Initialize()
        simulator.AdvanceTo(end)

    def motion() -> tuple[Floats, Floats]:
        kept.clear()
        simulator.set_monitor(keep)
        run()
        simulator.clear_monitor()
        states = np.array(kept)
        return states[:, 0], reduced_foot.positions(foot, states[:, 1], states[:, 2])

    return Prepared(run, motion, lambda: STAGES * steps)


def evaluation(foot: Foot) -> Repeated:
    """One of the seven evaluations of a step."""
    steps = 1000
    return Repeated(prepare(foot, 2e-4 * steps, 2e-4, 1).run, STAGES * steps)


def chain(chain: Chain) -> Chained:
    """Ball joints by roll, pitch and yaw; a step of Euler's method."""
    from pydrake.multibody import tree

    plant = _plant(chain.gravity)
    parent, place = plant.world_frame(), np.zeros(3)
    own = _inertia(chain.mass, np.array([chain.length / 2, 0.0, 0.0]), np.diag(chain.inertia))
    for link in range(chain.links):
        body = plant.AddRigidBody(f"link {link}", own)
        plant.AddJoint(tree.BallRpyJoint(f"joint {link}", _at(plant, parent, place), body.body_frame()))
        parent, place = body.body_frame(), np.array([chain.length, 0.0, 0.0])
    plant.Finalize()
    step = 1e-7  # so short that the state hardly changes
    steps = max(3, 3000 // chain.links)
    simulator = _simulator(plant, "explicit_euler", step)
    context = simulator.get_mutable_context()
    simulator.Initialize()
    speeds = plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector()
    return Chained(
        Repeated(lambda: simulator.AdvanceTo(context.get_time() + steps * step), steps), np.cumsum(speeds[1::3])
    )
