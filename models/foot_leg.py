"""How the leg of ``models.foot`` is held, and the pose and velocity of leg and foot at the start.

Leg and foot start as one rigid body, turned from the neutral pose by ``posture_deg``: pitch raises the toes, roll the medial
border, yaw turns the toes medially; Cardan angles, roll about the anterior axis, then pitch, then yaw about axes that turn along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.foot_anatomy import Side, mirrored
from models.rotations import about
from runtime import Builder, ModelError, Signal
from runtime.support import finite, finite_number
from runtime.support.arrays import Floats

SHIFTS, TURNS = ("anterior", "medial", "up"), ("roll", "pitch", "yaw")  # coordinates of a guided leg [m], [rad]
Pose = tuple[Floats, Floats]  # place (3,) and rotation matrix (3, 3)
Poses = dict[str, Pose]  # centre of mass and rotation by body


class Leg(NamedTuple):
    """How the leg is held: "fixed", "free" or "guided"; its coordinates over time, and pose and velocity at the start."""

    how: str
    coordinates: dict[str, Signal]
    time: float
    posture: Floats  # roll, pitch, yaw [rad], as Cardan angles of the right or left side
    velocity: Floats
    side: Side

    def at(self, order: int) -> tuple[Floats, Floats]:
        """Shift and Cardan angles (3,) each of the guided leg from the start pose, or a derivative of them, at the start."""
        values = np.array(
            [
                float(self.coordinates[name](self.time, order)) if name in self.coordinates else 0.0
                for name in (*SHIFTS, *TURNS)
            ]
        )
        return mirrored(values[:3], self.side), values[3:] * turning(self.side)

    def motion(self) -> tuple[Floats, Floats]:
        """Velocity (3,) of the leg's centre of mass and angular velocity (3,) of all bodies at the start."""
        shift, (roll, pitch, yaw) = self.at(1)
        x, y, _ = _turns(self.posture + self.at(0)[1])
        omega = roll * x[:, 0] + pitch * x[:, 1] + yaw * (x @ y)[:, 2]
        return self.velocity + shift, omega

    def guide(self, b: Builder, place: Floats) -> None:
        """Add the drivers of a guided leg; ``place`` (3,) [m]: of its centre of mass before it is guided."""
        if self.how == "guided":
            signs = (*mirrored((1.0, 1.0, 1.0), self.side), *turning(self.side))
            given = [
                moved(self.coordinates.get(name, Signal.constant(0.0)), sign, start)
                for name, sign, start in zip((*SHIFTS, *TURNS), signs, (*place, *self.posture), strict=True)
            ]
            x, y, z, alpha, beta, gamma = given
            b.driver("leg", "guided_point", "leg", s_i=(0.0, 0.0, 0.0), x_t=x, y_t=y, z_t=z)
            b.driver("leg_turn", "guided_cardan", "leg", alpha_t=alpha, beta_t=beta, gamma_t=gamma)


def start_poses(
    leg: Leg, neutral: Mapping[str, Floats], foot: Pose, gap: Callable[[Poses], Floats]
) -> tuple[Poses, Floats]:
    """Reference poses of all bodies, and the place (3,) [m] of the leg's centre of mass before it is guided.

    ``neutral``: centres of mass; ``foot``: what moves ``main_foot`` and ``toes`` to the ankle's angles at the start, a shift (3,)
    after a rotation (3, 3); ``gap``: by how much the poses are to be moved along the normal of the ground, as a vector.
    """
    shift, turned = foot
    A = rotation(leg.posture)
    posed = {
        name: (A @ r, A) if name == "leg" else (A @ (turned @ r + shift), A @ turned) for name, r in neutral.items()
    }
    place = posed["leg"][0] + gap(posed)
    moved_by, angles = leg.at(0)
    A = rotation(leg.posture + angles)
    offset = place + moved_by - A @ neutral["leg"]
    if leg.how == "free":  # nothing holds the leg: angles of the ankle move it, and the foot stays
        offset, A = offset + A @ shift, A @ turned
    return {name: (A @ r + offset, A) for name, r in neutral.items()}, place


def rotation(cardan: Floats) -> Floats:
    """Rotation matrix (3, 3) of Cardan angles (3,) [rad] about x, y, z, body-fixed."""
    x, y, z = _turns(cardan)
    matrix: Floats = x @ y @ z
    return matrix


def _turns(cardan: Floats) -> list[Floats]:
    """Rotation matrices (3, 3) about x, y and z."""
    return [about(axis, angle) for axis, angle in zip(np.eye(3), cardan.tolist(), strict=True)]


def turning(side: Side) -> Floats:
    """Signs of roll, pitch and yaw as Cardan angles about x, y and z."""
    return np.array([1.0, -1.0, 1.0]) * (1.0 if side == "right" else np.array([-1.0, 1.0, -1.0]))


def moved(signal: Signal, factor: float, shift: float) -> Signal:
    """The signal times a factor, plus a shift."""
    coefficients = factor * signal.coefficients
    coefficients[:, 0] += shift
    return Signal(signal.knots, coefficients)


def leg_of(
    leg: str | Mapping[str, Any], posture_deg: ArrayLike, velocity: ArrayLike, side: Side, *, grounded: bool
) -> Leg:
    """How the leg is held and starts.

    Raises
    ------
    ModelError
    """
    posture = np.deg2rad(finite(posture_deg, (3,), "posture_deg"))
    pitch, roll, yaw = posture
    start = np.array([roll, pitch, yaw]) * turning(side) + 0.0
    speed = finite(velocity, (3,), "velocity")
    if isinstance(leg, str):
        if leg == "free" and not grounded:
            raise ModelError("leg = 'free' falls for ever; give ground=True too, or leg='fixed'")
        coordinates: dict[str, Signal] = {}
    else:
        known = (*SHIFTS, *TURNS)
        if unknown := [name for name in leg if name not in known]:
            raise ModelError(f"leg has no coordinate {unknown[0]!r}; a guided leg takes {', '.join(known)}")
        if not leg:
            raise ModelError(f"leg = {{}} guides nothing; give some of {', '.join(known)}, or 'fixed' or 'free'")
        coordinates = {
            name: value if isinstance(value, Signal) else Signal.constant(finite_number(value, f"leg: {name}"))
            for name, value in leg.items()
        }
    if speed.any() and leg != "free":
        raise ModelError(
            f"velocity = {speed.tolist()} m/s applies to a free leg only; give leg='free', or guide the leg by signals"
        )
    times = [signal.span[0] for signal in coordinates.values() if np.isfinite(signal.span[0])]
    how = leg if isinstance(leg, str) else "guided"
    return Leg(how, coordinates, max(times, default=0.0), start, speed, side)
