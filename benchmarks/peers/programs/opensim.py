"""The foot and the chain in OpenSim: trees in Simbody, with its integrator of highest order."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import TREE, Chain, Chained, Floats, Foot, Prepared, Repeated, frame

NAME, DISTRIBUTION, METHOD, INPUT = "OpenSim", "opensim", "Runge-Kutta-Merson", TREE
KNOB, LADDER, SHOWN = "accuracy", [10.0 ** (-k / 10) for k in range(20, 131)], [10.0**-k for k in range(3, 13)]
NEGLIGIBLE = 1e-15  # [kg] of the link between the hinges, which must have a mass


def _body(name: str, mass: float, centre: Floats, inertia: Floats) -> Any:
    import opensim as osim

    moments = osim.Inertia(*(float(inertia[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
    return osim.Body(name, float(mass), osim.Vec3(*map(float, centre)), moments)


def _joint(kind: Any, name: str, parent: Any, at: Floats, child: Any, turned: Floats) -> Any:
    """A joint at a point of the parent and at the origin of the child, with equally rotated frames."""
    import opensim as osim

    angles = osim.Rotation(osim.Mat33(*map(float, turned.ravel()))).convertRotationToBodyFixedXYZ()
    return kind(name, parent, osim.Vec3(*map(float, at)), angles, child, osim.Vec3(0.0), angles)


def _foot(foot: Foot) -> tuple[Any, Any]:
    """The model and its state in the neutral pose."""
    import opensim as osim

    osim.Logger.setLevelString("off")
    model = osim.Model()
    model.setGravity(osim.Vec3(*foot.gravity))
    mass, centre, inertia = foot.welded()
    P, Q = np.array(foot.talocrural), np.array(foot.talocalcaneal)
    link = _body("link", NEGLIGIBLE, np.zeros(3), 1e-3 * NEGLIGIBLE * np.eye(3))
    body = _body("foot", mass, centre - Q, inertia)
    for parent, at, child, axis, name in (
        (model.getGround(), P, link, foot.talocrural_axis, "talocrural"),
        (link, Q - P, body, foot.talocalcaneal_axis, "talocalcaneal"),
    ):
        model.addBody(child)
        model.addJoint(_joint(osim.PinJoint, name, parent, at, child, frame(axis)))
    return model, model.initSystem()


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """With step control."""
    import opensim as osim

    model, start = _foot(foot)

    def integrate(store: bool) -> Any:
        state = osim.State(start)
        manager = osim.Manager(model)
        manager.setWriteToStorage(store)
        manager.setIntegratorMethod(osim.Manager.IntegratorMethod_RungeKuttaMerson)
        manager.setIntegratorAccuracy(setting)
        manager.initialize(state)
        manager.integrate(end)
        return manager

    def motion() -> tuple[Floats, Floats]:
        table = integrate(True).getStatesTable()
        angles = [table.getDependentColumnAtIndex(k).to_numpy() for k in _angles(table)]
        return np.array(table.getIndependentColumn()), reduced_foot.positions(foot, *angles)

    return Prepared(lambda: integrate(False), motion, lambda: None)


def _angles(table: Any) -> list[int]:
    """Columns of both angles."""
    labels = list(table.getColumnLabels())
    return [labels.index(f"/jointset/{name}/{name}_coord_0/value") for name in ("talocrural", "talocalcaneal")]


def chain(chain: Chain) -> Chained:
    """Ball joints; ``realizeAcceleration``, called from Python."""
    import opensim as osim

    osim.Logger.setLevelString("off")
    model = osim.Model()
    model.setGravity(osim.Vec3(*chain.gravity))
    parent, at = model.getGround(), np.zeros(3)
    for n in range(chain.links):
        body = _body(f"link{n}", chain.mass, np.array([chain.length / 2, 0.0, 0.0]), np.diag(chain.inertia))
        model.addBody(body)
        model.addJoint(_joint(osim.BallJoint, f"joint{n}", parent, at, body, np.eye(3)))
        parent, at = body, np.array([chain.length, 0.0, 0.0])
    state = model.initSystem()
    model.realizeAcceleration(state)
    angular_accelerations = np.cumsum(state.getUDot().to_numpy()[1::3])
    return Chained(_realized(model, state, max(3, 3000 // chain.links)), angular_accelerations)


def evaluation(foot: Foot) -> Repeated:
    """``realizeAcceleration``, called from Python."""
    return _realized(*_foot(foot), 2000)


def _realized(model: Any, state: Any, times: int) -> Repeated:
    import opensim as osim

    q = osim.Vector(state.getQ())

    def job() -> None:
        for _ in range(times):
            state.setQ(q)  # invalidates everything that depends on the state
            model.realizeAcceleration(state)

    return Repeated(job, times)
