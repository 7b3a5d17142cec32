"""Motion of a joint relative to its limit, and the moments of the limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.derived import Derived
from runtime.dynamics.limits import EXCESS, LATITUDE, LONGITUDE, MAXIMUM, POTENTIAL
from runtime.results.whole_turns import WholeTurns, angle_of_hinge
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.names import named
from runtime.system.system import System


@dataclass(frozen=True)
class LimitMotion(ReadOnlyArrays):
    """Motion and moments of a joint limit; arrays over time (n,).

    ``angle`` [rad]: of a hinge, signed, with revolutions as the coordinate of its joint; of a cone without a hinge, its
    latitude.
    ``rate`` [rad/s]: of the hinge, signed; without a hinge, the magnitude of the relative angular velocity.
    ``latitude``, ``longitude`` [rad]: of the restrained direction; ``maximum_latitude`` [rad]: of the cone at that longitude.
    ``excess`` [rad]: angle between the direction and the edge of the cone, 0 inside the cone.
    ``restricting_moment``, ``dissipative_moment`` [N m]: magnitudes; one acts towards the cone, one against the rate.
    ``elastic_energy`` [J], ``dissipated_power`` [W].
    """

    name: str
    angle: Floats
    rate: Floats
    latitude: Floats
    longitude: Floats
    maximum_latitude: Floats
    excess: Floats
    restricting_moment: Floats
    dissipative_moment: Floats
    elastic_energy: Floats
    dissipated_power: Floats


def limit_motions(
    system: System, found: Derived, turns: WholeTurns | None, start: Derived | None
) -> Mapping[str, LimitMotion]:
    """Motions of the limits of a system from what is derived at the times of a run and at its start, with its turns."""
    at_start = [None] * len(system.limits) if start is None else start.measured[0, :, 0].tolist()
    names = enumerate(system.limit_names)
    return named("limit", {name: _motion(system, k, found, turns, at_start[k]) for k, name in names})


def _motion(system: System, k: int, found: Derived, turns: WholeTurns | None, at_start: float | None) -> LimitMotion:
    limit, outputs, measured = system.limits[k], found.outputs[:, k], found.measured[:, k]
    angle, rate = measured[:, 0].copy(), measured[:, 1].copy()
    if "to_xi" in limit.values:  # the angle of a hinge
        angle = angle_of_hinge(system, k, angle, turns, at_start)
    return LimitMotion(
        name=limit.name, angle=angle, rate=rate, latitude=outputs[:, LATITUDE], longitude=outputs[:, LONGITUDE],
        maximum_latitude=outputs[:, MAXIMUM], excess=outputs[:, EXCESS], restricting_moment=np.abs(measured[:, 2]),
        dissipative_moment=limit.damping * np.abs(rate), elastic_energy=outputs[:, POTENTIAL],
        dissipated_power=limit.damping * rate**2,
    )  # fmt: skip
