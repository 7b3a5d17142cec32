"""Motion of a joint relative to its limit, and the moments of the limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runtime.dynamics.limits import EXCESS, LATITUDE, LONGITUDE, MAXIMUM, POTENTIAL
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.system.parts import Limit


@dataclass(frozen=True)
class LimitMotion(ReadOnlyArrays):
    """Motion and moments of a limit of motion; arrays over time (n,).

    ``angle`` [rad]: of a hinge, signed and without jumps at +-pi (correct while the hinge turns by less than half a turn between
    two times of the result); of a cone without a hinge, its latitude.
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


def limit_motion(limit: Limit, outputs: Floats, measured: Floats) -> LimitMotion:
    """Motion of a limit from its outputs and from angle, rate and moment (n, 3)."""
    angle, rate = measured[:, 0].copy(), measured[:, 1].copy()
    if "to_xi" in limit.values:  # the angle of a hinge
        angle = np.unwrap(angle)
    return LimitMotion(
        name=limit.name, angle=angle, rate=rate, latitude=outputs[:, LATITUDE], longitude=outputs[:, LONGITUDE],
        maximum_latitude=outputs[:, MAXIMUM], excess=outputs[:, EXCESS], restricting_moment=np.abs(measured[:, 2]),
        dissipative_moment=limit.damping * np.abs(rate), elastic_energy=outputs[:, POTENTIAL],
        dissipated_power=limit.damping * rate**2,
    )  # fmt: skip
