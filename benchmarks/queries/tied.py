"""Mechanics of a model that was read, in the rates of the program that owns the format.

The owner's rates w are tied to those of Talus by u = T w, u' = T w' + drift: columns of T are rates of Talus at unit rates of the
owner, and drift those changes of u that constant w need.  Efforts are T^T tau.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.files.states import Sample, accelerations_of, state_of
from benchmarks.queries.differences import DIFFERENCES, STEP, Floats, slope
from models.files import Reading
from runtime import Signal, State
from runtime.analysis.mechanics import Mechanics

LINEAR = (".v_x", ".v_y", ".v_z")


class Rates(Protocol):
    """What the rates of an owner mean."""

    count: int
    free: list[int]  # first rates of free bodies
    frames: dict[str, str]  # frames of Talus by those of the owner

    def of_file(self, sample: Sample, w: Floats) -> dict[str, Any]:
        """Rates of the steps of a file, by name, for rates w (n,)."""

    def drift(self, sample: Sample, w: Floats) -> dict[str, Any]:
        """Derivatives of the rates of the file at constant w, by name; 0 for names that are missing."""


@dataclass(frozen=True)
class Asked:
    """What an owner is asked: a state with rates w, accelerations, efforts and a way (n,), and another state."""

    sample: Sample
    w: Floats
    a: Floats
    tau: Floats
    way: Floats
    other: Sample
    step: float = STEP  # of differences


def width_of(kind: str) -> int:
    """Number of rates of a step of a file."""
    return {"free": 6, "ball": 3}.get(kind, 1)


def moved(reading: Reading, sample: Sample, rates: Mapping[str, Any], dt: float) -> Sample:
    """A state with moved coordinates, whose derivative over dt at 0 is that of rates of the steps of the file."""
    q = dict(sample.q)
    for _, step in reading.description.steps:
        u = rates[step.name]
        if step.kind == "free":
            r, A = q[step.name]
            q[step.name] = r + dt * u[:3], A @ Rotation.from_rotvec(dt * u[3:]).as_matrix()
        elif step.kind == "ball":
            q[step.name] = q[step.name] @ Rotation.from_rotvec(dt * u).as_matrix()
        else:
            q[step.name] = q[step.name] + dt * u
    return followed(reading, Sample(q, dict(sample.u)))


def step_beside_knots(reading: Reading, sample: Sample) -> float:
    """The step of differences, which do not pass the next knot of a follower's spline, where its third derivative jumps."""
    splines = [one for one in reading.description.followers if isinstance(one.law, Signal)]
    off = [float(np.abs(sample.q[one.leaders[0]] - one.law.knots).min()) for one in splines]  # type: ignore[union-attr]
    return min(STEP, *(0.99 / DIFFERENCES[-1][0] * near for near in off)) if off else STEP


def followed(reading: Reading, sample: Sample) -> Sample:
    """The state with followers where their leaders have them."""
    q, u = dict(sample.q), dict(sample.u)
    for one in reading.description.followers_in_order:
        q[one.step], u[one.step] = one.moved(q, u)
    return Sample(q, u)


class Tied:
    """A model in one state, asked in the rates of an owner."""

    def __init__(self, reading: Reading, mechanics: Mechanics, rates: Rates, sample: Sample, w: Floats) -> None:
        self.reading, self.m, self.rates, self.sample, self.w = reading, mechanics, rates, sample, w
        self.q, self.u = self.of(sample, w)
        self.T = np.array([self.of(sample, unit)[1] for unit in np.eye(rates.count)]).T
        self.drift = self.drift_of(sample, w)

    def of(self, sample: Sample, w: Floats) -> tuple[Floats, Floats]:
        """Coordinates and rates of Talus."""
        full = followed(self.reading, Sample(sample.q, self.rates.of_file(sample, w)))
        system = self.m.system
        return self.m.of(State(system.body_names, state_of(self.reading, system, full)))

    def drift_of(self, sample: Sample, w: Floats) -> Floats:
        """Changes (n,) of the rates of Talus at constant rates w."""
        drift = np.zeros(len(self.m.rate_names))
        # Rates of floating bodies are those of other points in Talus; all others are rates of the file.
        floating = [(k, *name.rpartition(".")) for k, name in enumerate(self.m.rate_names) if name.endswith(LINEAR)]
        if floating:
            steps = [(step.name, width_of(step.kind)) for _, step in self.reading.description.steps]
            none = {name: np.zeros(width) if width > 1 else 0.0 for name, width in steps}
            full = followed(self.reading, Sample(sample.q, self.rates.of_file(sample, w)))
            at = none | self.rates.drift(sample, w)
            accelerations = accelerations_of(self.reading, self.m.system, full, at)
            for k, body, _, part in floating:
                drift[k] = accelerations[self.m.system.body_index(body), "xyz".index(part[-1])]
        return drift

    def answers(self, asked: Asked) -> dict[str, Floats]:
        """Of all queries, as the owner gives them."""
        m, q, u, T = self.m, self.q, self.u, self.T
        a, still = T @ asked.a + self.drift, np.zeros_like(self.w)
        gravity = m.gravity_forces(q)
        found = {
            "mass matrix": T.T @ m.mass_matrix(q) @ T,
            "bias": T.T @ (m.inverse_dynamics(q, u, self.drift) - gravity),
            "gravity forces": T.T @ gravity,
            "inverse dynamics": T.T @ m.inverse_dynamics(q, u, a),
            "forward dynamics": np.linalg.solve(
                T, m.forward_dynamics(q, u, np.linalg.solve(T.T, asked.tau)) - self.drift
            ),
            "centre of mass": m.centre_of_mass(q),
            "momentum": m.momentum(q, u),
            "kinetic energy": np.array(m.kinetic_energy(q, u)),
            "potential energy": np.array(m.potential_energy(q) - m.potential_energy(self.of(asked.other, still)[0])),
        }
        found["jacobian of the centre"] = m.centre_of_mass_jacobian(q) @ T
        of_frames = {"pose": [], "velocity": [], "acceleration": [], "jacobian": [], "jacobian rate": []}
        for frame in self.rates.frames.values():
            pose, J = m.pose(frame, q), m.jacobian(frame, q)
            of_frames["pose"].append(np.hstack([pose.r, pose.A.ravel()]))
            of_frames["velocity"].append(m.velocity(frame, q, u))
            of_frames["acceleration"].append(m.acceleration(frame, q, u, a))
            of_frames["jacobian"].append(J @ T)
            of_frames["jacobian rate"].append(m.bias_acceleration(frame, q, u) + J @ self.drift)
        return found | {name: np.array(rows) for name, rows in of_frames.items()}

    def derivatives(self, asked: Asked) -> dict[str, Floats]:
        """Of the inverse dynamics over coordinates and rates, at constant rates and accelerations of the owner."""
        m, T, count = self.m, self.T, self.rates.count
        a = T @ asked.a + self.drift
        slopes, tau = m.inverse_dynamics_derivatives(self.q, self.u, a), m.inverse_dynamics(self.q, self.u, a)
        of_q = T.T @ slopes.q @ T
        # T and the drift depend on the turn and the rates of free bodies alone.
        free = [start + k for start in self.rates.free for k in range(6)]
        of_u = slopes.u @ T
        for k in free:
            unit = np.eye(count)[k]
            way = self.rates.of_file(self.sample, unit)

            def tie(t: float, way: Mapping[str, Any] = way) -> Floats:
                to = moved(self.reading, self.sample, way, t)
                columns = [self.of(to, np.eye(count)[c])[1] for c in free]
                return np.array([*columns, self.drift_of(to, self.w)]).T

            change, dT = slope(tie), np.zeros_like(T)
            dT[:, free] = change[:, :-1]
            of_q[:, k] += dT.T @ tau + T.T @ (slopes.u @ dT @ self.w + slopes.a @ (dT @ asked.a + change[:, -1]))
            above, below = (self.drift_of(self.sample, self.w + x * unit) for x in (1.0, -1.0))
            of_u[:, k] += slopes.a @ (above - below) / 2.0
        return {"derivatives over q": of_q, "derivatives over u": T.T @ of_u}

    def derivatives_by_differences(self, asked: Asked) -> dict[str, Floats]:
        """``derivatives`` of rates that are those of coordinates, as differences of the inverse dynamics."""

        def inverse(sample: Sample, w: Floats) -> Floats:
            q, u = self.of(sample, w)
            return self.m.inverse_dynamics(q, u, self.T @ asked.a)

        units = np.eye(self.rates.count)

        def along(way: Mapping[str, Any]) -> Floats:
            return slope(lambda t: inverse(moved(self.reading, self.sample, way, t), self.w), asked.step)

        of_q = [along(self.rates.of_file(self.sample, unit)) for unit in units]
        of_u = [(inverse(self.sample, self.w + unit) - inverse(self.sample, self.w - unit)) / 2.0 for unit in units]
        found = {"derivatives over q": np.array(of_q), "derivatives over u": np.array(of_u)}
        return {name: self.T.T @ rows.T for name, rows in found.items()}

    def moves(self, asked: Asked) -> dict[str, Floats]:
        """Coordinates after a way, and the way to another state."""
        m = self.m
        to = m.integrate(self.q, self.T @ asked.way)
        poses = [m.pose(frame, to) for frame in self.rates.frames.values()]
        other = self.of(asked.other, np.zeros_like(self.w))[0]
        return {
            "integrate": np.array([np.hstack([pose.r, pose.A.ravel()]) for pose in poses]),
            "difference": np.linalg.solve(self.T, m.difference(self.q, other)),
        }
