"""A process that asks OpenSim for the mechanics of a model: a line of JSON with states in, a line with answers out.

Rates w are derivatives of the independent coordinates; Simbody's mobilities are u = B w, u' = B w' + b, with the angular
velocities of balls and the rates of couplers' followers in B.  No force acts but gravity.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from benchmarks.files.opensim_process import balls_of, coordinates_of, couplers_of, loaded, put, slope_of, turning
from benchmarks.queries.differences import slope


class Model:
    """A model and its state."""

    def __init__(self, file: str, couplers: bool, independent: list[str]) -> None:
        self.opensim, self.model, _ = loaded(file, couplers, limits=False)
        for k in range(self.model.getForceSet().getSize()):
            self.model.updForceSet().get(k).set_appliesForce(False)
        self.state = self.model.initSystem()
        self.couplers, self.independent = couplers, independent
        self.coordinates = {c.getName(): c for c in coordinates_of(self.model)}
        self.balls, self.matter = balls_of(self.opensim, self.model), self.model.getMatterSubsystem()
        self.bodies = [self.model.getBodySet().get(k) for k in range(self.model.getBodySet().getSize())]
        self.count = self.state.getNU()
        self.place = {}
        for name, one in self.coordinates.items():
            self.state.setU(self.opensim.Vector(self.count, 0.0))
            if not one.getLocked(self.state):
                one.setSpeedValue(self.state, 1.0)
                self.place[name] = int(np.flatnonzero(self.u())[0])
        self.state.setU(self.opensim.Vector(self.count, 0.0))

    def u(self) -> Any:
        """Speeds of the mobilities (count,)."""
        return np.array(self.state.getU().to_numpy())

    def vector(self, values: Any) -> Any:
        """A vector of Simbody."""
        found = self.opensim.Vector(len(values), 0.0)
        for k, value in enumerate(values):
            found.set(k, float(value))
        return found

    def put(self, q: dict[str, float], w: Any) -> Any:
        """Put a state; returns B (count, independent) and b (count,)."""
        columns = []
        for rates in (*np.eye(len(self.independent)), w):
            given = {name: [value, 0.0] for name, value in q.items()}
            for name, rate in zip(self.independent, rates, strict=True):
                given[name][1] = float(rate)
            put(self.opensim, self.model, self.coordinates, self.balls, self.state, given, self.couplers)
            columns.append(self.u())
        b = np.zeros(self.count)
        for ball in self.balls:
            _, bias = turning(*(given[name] for name in ball))
            for name, value in zip(ball, bias, strict=True):
                b[self.place[name]] = value
        for coupler, leaders in couplers_of(self.opensim, self.model, self.coordinates) if self.couplers else ():
            at, function = self.vector([one.getValue(self.state) for one in leaders]), coupler.getFunction()
            scale = self.opensim.PropertyHelper.getValueDouble(coupler.getPropertyByName("scale_factor"))
            rates = [one.getSpeedValue(self.state) for one in leaders]
            b[self.place[coupler.getDependentCoordinateName()]] = scale * sum(
                slope_of(self.opensim, function, at, i, j) * rates[i] * rates[j]
                for i in range(len(rates))
                for j in range(len(rates))
            )
        self.model.realizeVelocity(self.state)
        return np.array(columns[:-1]).T, b

    def residual(self, u_dot: Any) -> Any:
        """Efforts along the mobilities, with gravity."""
        found = self.opensim.Vector(self.count, 0.0)
        none = self.opensim.Vector(self.count, 0.0)
        self.matter.calcResidualForceIgnoringConstraints(self.state, none, self.gravity(), self.vector(u_dot), found)
        return found.to_numpy().copy()

    def gravity(self) -> Any:
        """Forces on all mobilized bodies."""
        return self.model.getGravityBodyForces(self.state)

    def inverse(self, q: dict[str, float], w: Any, a: Any) -> Any:
        """Efforts of accelerations a."""
        B, b = self.put(q, w)
        return B.T @ self.residual(B @ a + b)

    def answers(self, q: dict[str, float], w: Any, a: Any, tau: Any, other: dict[str, float]) -> dict[str, Any]:
        """Of all queries."""
        opensim, model, matter, n = self.opensim, self.model, self.matter, len(self.independent)
        self.put(other, 0.0 * w)
        potential = -model.calcPotentialEnergy(self.state)
        B, b = self.put(q, w)
        state, u, u_dot = self.state, self.u(), B @ a + b
        M, along = opensim.Matrix(self.count, self.count), opensim.Vector(self.count, 0.0)
        matter.calcM(state, M)
        M = B.T @ M.to_numpy() @ B
        matter.multiplyBySystemJacobianTranspose(state, self.gravity(), along)
        found = {
            "mass matrix": M, "bias": B.T @ (self.residual(b) + along.to_numpy()), "gravity forces": -B.T @ along.to_numpy(),
            "inverse dynamics": B.T @ self.residual(u_dot),
            "kinetic energy": matter.calcKineticEnergy(state),
            "potential energy": potential + model.calcPotentialEnergy(state),
        }  # fmt: skip
        if B.shape[0] == n:
            bias, changes = self.residual(0.0 * u), opensim.Vector(self.count, 0.0)
            matter.multiplyByMInv(state, self.vector(np.linalg.solve(B.T, tau) - bias), changes)
            found["forward dynamics"] = np.linalg.solve(B, changes.to_numpy() - b)
        accelerations = opensim.VectorOfSpatialVec()
        matter.calcBodyAccelerationFromUDot(state, self.vector(u_dot), accelerations)
        rows: dict[str, list[Any]] = {}
        for body in self.bodies:
            at, k, J = body.getTransformInGround(state), body.getMobilizedBodyIndex(), opensim.Matrix(6, self.count)
            R, own = at.R(), matter.calcBiasForFrameJacobian
            matter.calcFrameJacobian(state, k, opensim.Vec3(0), J)
            J = np.roll(J.to_numpy(), 3, axis=0)
            for name, value in (
                ("pose", [*three(at.p()), *(R.get(i, j) for i in range(3) for j in range(3))]),
                ("velocity", six(body.getVelocityInGround(state))), ("acceleration", six(accelerations.get(k))),
                ("jacobian", J @ B), ("jacobian rate", J @ b + six(own(state, k, opensim.Vec3(0)))),
            ):  # fmt: skip
                rows.setdefault(name, []).append(value)
        found |= {name: np.array(values) for name, values in rows.items()}
        found |= self.of_what_moves(B, found["jacobian"])
        return {name: np.asarray(value).tolist() for name, value in found.items()}

    def of_what_moves(self, B: Any, J: Any) -> dict[str, Any]:
        """Centre of mass, its Jacobian and the momentum about it: those of the system less bodies that no rate moves."""
        state, matter, mass = self.state, self.matter, self.matter.calcSystemMass(self.state)
        resting = [body for body, own in zip(self.bodies, J, strict=True) if not own.any()]
        left = mass - sum(body.getMass() for body in resting)
        whole = three(matter.calcSystemMassCenterLocationInGround(state))
        places = [
            body.getMass() * three(body.findStationLocationInGround(state, body.getMassCenter())) for body in resting
        ]
        centre = (mass * whole - np.sum(places, axis=0)) / left
        momentum = six(matter.calcSystemCentralMomentum(state))
        momentum[3:] += np.cross(whole - centre, momentum[:3])
        of_centre = []
        for column in B.T:
            state.setU(self.vector(column))
            self.model.realizeVelocity(state)
            of_centre.append(mass / left * three(matter.calcSystemMassCenterVelocityInGround(state)))
        return {"centre of mass": centre, "jacobian of the centre": np.array(of_centre).T, "momentum": momentum}

    def changes(self, q: dict[str, float], w: Any, a: Any, step: float) -> dict[str, Any]:
        """Differences of Simbody's velocities, accelerations, and of its mass matrix, efforts by Lagrange's equations."""

        def at(t: float, rates: Any, rate_changes: Any) -> dict[str, float]:
            moved = np.array([q[name] for name in self.independent]) + t * rates + 0.5 * t * t * rate_changes
            return q | dict(zip(self.independent, moved.tolist(), strict=True))

        def velocities(t: float, rate_changes: Any) -> Any:
            self.put(at(t, w, rate_changes), w + t * rate_changes)
            return np.array([six(body.getVelocityInGround(self.state)) for body in self.bodies])

        def momenta(t: float, rates: Any) -> Any:
            B, _ = self.put(at(t, rates, 0.0 * a), w)
            M = self.opensim.Matrix(self.count, self.count)
            self.matter.calcM(self.state, M)
            return B.T @ (M.to_numpy() @ (B @ w))

        none, short = 0.0 * a, step / max(1.0, float(np.abs(w).max()))
        along = [slope(lambda t, unit=unit: momenta(t, unit), step) @ w for unit in np.eye(len(w))]  # type: ignore[misc]
        bias = slope(lambda t: momenta(t, w), short) - 0.5 * np.array(along)
        answers = self.answers(q, none, none, none, q)
        found = {
            "bias": bias, "inverse dynamics": np.array(answers["mass matrix"]) @ a + bias + answers["gravity forces"],
            "acceleration": slope(lambda t: velocities(t, a), short),
            "jacobian rate": slope(lambda t: velocities(t, none), short),
        }  # fmt: skip
        return {name: value.tolist() for name, value in found.items()}


def three(vector: Any) -> Any:
    """Components."""
    return np.array([vector.get(k) for k in range(3)])


def six(vector: Any) -> Any:
    """Linear, then angular components."""
    return np.hstack([three(vector.get(1)), three(vector.get(0))])


def main() -> None:
    """Answer until the input ends."""
    model = Model(sys.argv[1], "couplers" in sys.argv[2:], json.loads(sys.stdin.readline()))
    print(json.dumps(list(model.coordinates)), flush=True)
    for line in sys.stdin:
        given = json.loads(line)
        if "states" in given:
            found: Any = [model.inverse(q, np.array(w), np.array(a)).tolist() for q, w, a in given["states"]]
        else:
            w, a, tau = (np.array(given[name]) for name in ("w", "a", "tau"))
            q, other = given["q"], given["other"]
            found = model.changes(q, w, a, given["step"]) if other is None else model.answers(q, w, a, tau, other)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
