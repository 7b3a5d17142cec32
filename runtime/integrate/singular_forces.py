"""Forces and motors near a pose in which they are singular, where the steps of a run become short."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dynamics.cases import gradients_of_motors
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.dynamics.model_data import ModelData
from runtime.support.arrays import Floats
from runtime.system.muscle_paths import is_muscle, path_motion
from runtime.system.reference import states_by_name
from runtime.system.system import System

FAR, NEAR = (1e-2, 1e-3), (1e-4, 1e-5, 1e-6)  # [rad] or [m] of the fastest body, to both sides
TENDON_FORCE = "normalized_tendon_force"  # a state of laws of muscles whose tendons are never slack
SLACK = 1e-3  # strain of a tendon to which it gets before steps become short
ABRUPT = 0.3  # second difference, as a fraction of the largest value near the pose


def singular_force(t: float, y: Floats, system: System, data: ModelData) -> str:
    """The force or motor that changes abruptly near a state y of all bodies along its motion, with its condition; "" for none.

    A kink of a force, as of a cable that slackens, is small near it; a singular pose is not.  A muscle that has the force of its
    tendon as a state has none where its path is no longer than the tendon.
    """
    if slack := _slack_muscle(y, system):
        return slack
    acting: list[tuple[str, str, Any]] = [("force", force.name, force) for force in system.forces]
    motors = zip(system.motor_names, system.motors, strict=True)
    acting += [("motor", name, motor.joint) for name, motor in motors]
    if not any(one.module.SINGULAR for _, _, one in acting):
        return ""
    speed = np.abs(y.reshape(-1, STATE)[:, V:]).max()
    if not 0.0 < speed < np.inf:
        return ""
    with np.errstate(all="ignore"):
        found = [[_values(t, moved(y, way * size / speed), data) for way in (-1, 0, 1)] for size in (*FAR, *NEAR)]
        values = np.array(found)  # (sizes, 3, forces and motors, any)
        largest = np.abs(values).max(axis=(0, 1, 3))
        second = np.abs(values[:, 0] + values[:, 2] - 2.0 * values[:, 1])[len(FAR) :].max(axis=(0, 2))
        abrupt = ~(second <= ABRUPT * largest)
    for (sort, name, one), changes in zip(acting, abrupt.tolist(), strict=True):
        if changes and one.module.SINGULAR:
            return (
                f"{sort} '{name}' ({one.kind}) changes abruptly there: it is singular {one.module.SINGULAR}; "
                "keep the motion away from this pose"
            )
    return ""


def _slack_muscle(y: Floats, system: System) -> str:
    """A muscle whose tendon is never slack, but as long as its path in a state y of all bodies; "" for none."""
    bodies = states_by_name(y[None], system.body_names)
    for force in system.forces:
        if is_muscle(force) and TENDON_FORCE in force.module.STATES:
            length, tendon = float(path_motion(force, bodies)[0, 0]), float(force.values["tendon_slack_length"])
            if length < (1.0 + SLACK) * tendon:
                return (
                    f"muscle '{force.name}' ({force.kind}) is slack: its path of {length:.4g} m is no longer than "
                    f"tendon_slack_length = {tendon:.4g} m, for which its law has no state; give tendon='rigid', or another law"
                )
    return ""


def moved(y: Floats, dt: float) -> Floats:
    """A state y of all bodies after a time dt [s] at constant velocities."""
    bodies = y.reshape(-1, STATE).copy()
    p, omega = bodies[:, P:V], bodies[:, OMEGA:]
    bodies[:, R:P] += dt * bodies[:, V:OMEGA]
    turned = np.empty_like(p)
    turned[:, 0] = p[:, 0] - 0.5 * dt * np.einsum("bi,bi->b", omega, p[:, 1:])
    turned[:, 1:] = p[:, 1:] + 0.5 * dt * (p[:, :1] * omega + np.cross(omega, p[:, 1:]))
    bodies[:, P:V] = turned / np.linalg.norm(turned, axis=1)[:, None]
    return bodies.ravel()


def _values(t: float, y: Floats, data: ModelData) -> Floats:
    """Forces and moments of forces, and gradients of the coordinates of motors, (forces and motors, 24)."""
    work = workspace_for(data)
    derivative_once(t, y, data, work, np.empty_like(y))
    out = np.zeros((len(work.forces.out) + len(data.loads.address), 24))
    out[: len(work.forces.out)] = work.forces.out[:, :24]
    gradients_of_motors(data, work, out[len(work.forces.out) :])
    return out
