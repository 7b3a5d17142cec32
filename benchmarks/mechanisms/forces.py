"""The force elements of problems, as parts of a system and as columns of the reference: one class for each type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from runtime import GROUND, Builder, Run
from runtime.support.arrays import Floats


class Place(NamedTuple):
    """Initial position of a body's centre of mass (3,) [m] and its rotation matrix, body to global axes (3, 3)."""

    r: Floats
    A: Floats

    def point(self, point: Any) -> Floats:
        """A point in global coordinates, from the centre of mass in axes of the body."""
        return self.A.T @ (np.array(point, float) - self.r)

    def direction(self, axis: Any) -> Floats:
        """A direction of any length in global axes, as a unit vector in axes of the body."""
        return self.A.T @ (np.array(axis, float) / np.linalg.norm(axis))


Places = Mapping[str, Place]
Data = Mapping[str, Any]


def point_motion(run: Run, body: str, local: Floats) -> tuple[Floats, Floats]:
    """Positions and velocities of a point of a body, or of the ground, (n, 3) each."""
    if body not in run.system.body_names:
        return np.broadcast_to(local, (len(run.t), 3)), np.zeros((len(run.t), 3))
    arm = run.rotations(body) @ local
    return run.r[body] + arm, run.v[body] + np.cross(run.omega[body], arm)


class SpringDamper:
    """Tension k (L - l0) + c L' between two points."""

    def add(self, b: Builder, force: Data, data: Data) -> None:
        """Add the element."""
        b.force(
            force["name"], "spring_damper", force["i"], force["j"], s_i=force["point_i"], s_j=force["point_j"],
            stiffness=force["k"], damping=force.get("c", 0.0), free_length=force["l0"],
        )  # fmt: skip

    def tension(self, run: Run, force: Data, places: Places) -> Floats:
        """Tension (n,) [N]."""
        length, rate = self._length(run, force, places)
        return np.asarray(force["k"] * (length - force["l0"]) + force.get("c", 0.0) * rate)

    def energy(self, run: Run, force: Data, places: Places) -> Floats:
        """Elastic energy (n,) [J]."""
        length, _ = self._length(run, force, places)
        return np.asarray(0.5 * force["k"] * (length - force["l0"]) ** 2)

    def _length(self, run: Run, force: Data, places: Places) -> tuple[Floats, Floats]:
        (r_i, v_i), (r_j, v_j) = (
            point_motion(run, force[end], places[force[end]].point(force[f"point_{end}"])) for end in "ij"
        )
        length = np.linalg.norm(r_j - r_i, axis=1)
        return length, np.einsum("na,na->n", r_j - r_i, v_j - v_i) / length


class BodyTorque:
    """A constant torque in global axes."""

    def add(self, b: Builder, force: Data, data: Data) -> None:
        """Add the element: a load."""
        b.load(force["name"], force["body"], moment=force["torque"])


class HuntCrossley:
    """F = max(0, k d^n (1 + chi d')) along the normal of a plane, d = radius - (r - point) . normal."""

    def add(self, b: Builder, force: Data, data: Data) -> None:
        """Add the element: a contact without friction at the centre of mass."""
        b.contact(
            force["name"], force["body"], axes="body", centre=(0.0, 0.0, 0.0), radius=force["radius"], law="hunt_crossley",
            point=force["point"], normal=np.array(force["normal"], float) / np.linalg.norm(force["normal"]),
            stiffness=force["k"], exponent=force["n"], loss=2.0 / 3.0 * force["chi"],
        )  # fmt: skip


class CoulombIncline:
    """Friction that sticks, |F| <= mu N along a fixed direction.

    N is given (``N``), or the weight's component along the ``normal`` of the incline, or across the direction.
    """

    def add(self, b: Builder, force: Data, data: Data) -> None:
        """Add the element: friction of a slider against the ground, at the centre of mass."""
        body = data["bodies"][force["body"]]
        b.force(
            force["name"], "slider_friction", GROUND, force["body"], point=body["r0"], a_i=force["direction"],
            friction=force["mu"] * self.normal_force(force, data), transition_velocity=TRANSITION_VELOCITY, damping=0.0,
        )  # fmt: skip

    def normal_force(self, force: Data, data: Data) -> float:
        """N, 0 or more [N]."""
        if "N" in force:
            return float(force["N"])
        weight = data["bodies"][force["body"]]["mass"] * np.array(data["gravity"], float)
        if "normal" in force:
            normal = np.array(force["normal"], float)
            return max(0.0, float(-weight @ normal / np.linalg.norm(normal)))
        along = np.array(force["direction"], float)
        along /= np.linalg.norm(along)
        return float(np.linalg.norm(weight - (weight @ along) * along))


TRANSITION_VELOCITY = 1e-9  # [m/s] below which a body sticks
STICKING = "coulomb_incline"
ELEMENTS = {
    "spring_damper": SpringDamper(),
    "body_torque": BodyTorque(),
    "hunt_crossley_plane": HuntCrossley(),
    STICKING: CoulombIncline(),
}
