"""States of a model that was read: random coordinates, the state of all bodies that they mean, and accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from models.files import Reading
from models.files.building import built
from models.files.motion import Coordinates, motion_of
from runtime import System
from runtime.dynamics.derived import NO_ANGLES
from runtime.dynamics.equations import derivative_once, shared_workspace_for
from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.results.coupling_forces import forces_of_couplings
from runtime.support.latest import Latest
from runtime.system.orientation import euler_parameters

Floats = NDArray[np.float64]
WIDEST = 1.0  # [rad], [m] of random coordinates from the middle of their range


@dataclass(frozen=True)
class Sample:
    """Coordinates and rates of all steps."""

    q: dict[str, Any]
    u: dict[str, Any]


def random_sample(reading: Reading, random: np.random.Generator) -> Sample:
    """Coordinates within the ranges, where stops do not act, and rates of the order of 1."""
    q: dict[str, Any] = {}
    u: dict[str, Any] = {}
    for _, step in reading.description.steps:
        if step.kind in ("ball", "free"):
            turn = Rotation.from_rotvec(random.uniform(-1.0, 1.0, 3)).as_matrix()
            q[step.name] = turn if step.kind == "ball" else (random.uniform(-1.0, 1.0, 3), turn)
            u[step.name] = random.standard_normal(3 if step.kind == "ball" else 6)
            continue
        low, high = max(step.lower, -10.0), min(step.upper, 10.0)
        middle, half = (low + high) / 2.0, min(0.98 * (high - low) / 2.0, WIDEST)
        q[step.name] = middle + half * random.uniform(-1.0, 1.0)
        u[step.name] = random.standard_normal()
    for one in reading.description.followers_in_order:
        q[one.step], u[one.step] = one.moved(q, u)
    return Sample(q, u)


def state_of(reading: Reading, system: System, sample: Sample) -> Floats:
    """The state of all bodies (13 bodies,)."""
    y, _ = _bodies(reading, system, Coordinates(sample.q, sample.u, {}))
    return y


def accelerations_of(reading: Reading, system: System, sample: Sample, u_dot: dict[str, Any]) -> Floats:
    """Accelerations of all bodies (bodies, 6) for those of the coordinates."""
    u_dot = dict(u_dot)
    for one in reading.description.followers_in_order:
        u_dot[one.step] = one.rate_change(sample.q, sample.u, u_dot)
    _, found = _bodies(reading, system, Coordinates(sample.q, sample.u, u_dot))
    return found


_parts = Latest(lambda description: built(description).parts, 2)


def _bodies(reading: Reading, system: System, c: Coordinates) -> tuple[Floats, Floats]:
    parts = _parts(reading.description)
    ways = motion_of(reading.description.links, c)
    y, accelerations = np.zeros((len(system.bodies), STATE)), np.zeros((len(system.bodies), 6))
    for k, name in enumerate(system.body_names):
        part = parts[name]
        at = ways[part.link][part.steps]
        r, v, a = at.at(part.centre)
        y[k, R:P], y[k, P:V], y[k, V:OMEGA], y[k, OMEGA:] = r, euler_parameters(at.A, "p"), v, at.omega
        accelerations[k] = *a, *at.alpha
    return y.ravel(), accelerations


def talus_accelerations(system: System, y: Floats) -> Floats:
    """Accelerations of all bodies (bodies, 6), as of a result of ``simulate``."""
    if system.joint_coordinates_only:
        none, shared = np.zeros((0, 4)), shared_workspace_for(system.data)
        return forces_of_couplings(system, np.zeros(1), y[None], NO_ANGLES, none, shared).v_dot[0, 1:]
    y_dot = np.empty_like(y)
    code = derivative_once(0.0, y, system.data, shared_workspace_for(system.data), y_dot)
    return y_dot.reshape(-1, STATE)[:, V:] if code == 0 else np.full((len(system.bodies), 6), np.nan)
