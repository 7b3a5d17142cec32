"""The sole of a foot as nine spheres, scaled to a subject, and the floor under it.

The spheres are those of Moreira et al. (2011), Table 2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import brentq

from models.foot_sole import EXPONENT, MU_D, SPHERES_MM
from models.walking.gait_result import FLAT, Gait
from models.walking.subject import LegFoot
from runtime import ModelError
from runtime.support import GRAVITY, checked, checked_class
from runtime.support.arrays import Floats

STIFFNESS = 40e3  # [N/m^1.5] of every sphere, to start from; Moreira et al. (2011)
MU_C = 0.5  # [1]; 0.5 to 1 in Moreira et al. (2011)
LOSS = 0.1  # [s/m] to start from; their chi of 300 is 0.005 s/m, at which a search would see no slope
TRANSITION_VELOCITY = 0.3  # [m/s] of the friction: a standing foot seems to slip by cm/s, as its markers are on skin
ARCH = ("sphere_4", "sphere_5")  # spheres that are higher in a cavus foot and lower in a flat foot
ARCH_CHANGE = 0.01  # [m]

MIN_BELT_SPEED = 0.3  # [m/s] a flat foot that moves faster stands on a belt


@checked_class
@dataclass(frozen=True, eq=False)
class Sphere:
    """A sphere of the sole: centre (3,) [m] from the body's centre of mass in its axes, radius [m], and its normal law.

    ``stiffness`` [N/m^exponent] and ``loss`` [s/m] of Hunt and Crossley's law.
    """

    body: str
    centre: Floats
    radius: float
    stiffness: float
    loss: float


@checked_class
@dataclass(frozen=True, eq=False)
class Sole:
    """Spheres by name, and their common parameters: exponent of the law, friction (``smooth``), transition velocity [m/s]."""

    spheres: Mapping[str, Sphere]
    exponent: float = EXPONENT
    mu_c: float = MU_C
    mu_d: float = MU_D
    transition_velocity: float = TRANSITION_VELOCITY

    def with_spheres(self, changes: Mapping[str, Mapping[str, Any]]) -> Sole:
        """The sole with other attributes of some spheres: name of the sphere -> attribute -> value."""
        spheres = {name: replace(sphere, **changes.get(name, {})) for name, sphere in self.spheres.items()}
        return replace(self, spheres=MappingProxyType(spheres))

    def raised(self, names: Collection[str], by: float) -> Sole:
        """The sole with some spheres raised by a distance [m]; lowered where it is negative."""
        if unknown := [name for name in names if name not in self.spheres]:
            raise ModelError(f"sole: unknown sphere '{unknown[0]}'; the spheres are {', '.join(self.spheres)}")
        up = np.array([0.0, 0.0, by])
        return self.with_spheres({name: {"centre": self.spheres[name].centre + up} for name in names})

    @property
    def cavus(self) -> Sole:
        """With a higher arch.  Moreira et al. (2011), Fig. 10a."""
        return self.raised(ARCH, ARCH_CHANGE)

    @property
    def flat(self) -> Sole:
        """With a lower arch.  Moreira et al. (2011), Fig. 10b."""
        return self.raised(ARCH, -ARCH_CHANGE)


@checked_class
@dataclass(frozen=True)
class Floor:
    """A level floor: its height [m], and the speed [m/s] along x at which it moves; negative under a walker on a belt."""

    height: float = 0.0
    belt: float = 0.0


@checked
def scale_sole(subject: LegFoot) -> Sole:
    """The nine spheres of Moreira et al. (2011), scaled to a subject's foot, at the height at which they bear half the body.

    The main foot's spheres reach from the heel's marker to the metatarsophalangeal axis, those of the toes from there to the
    tip; radii and the shape of the arch are scaled alike.  Sole and floor touch first where the table's spheres are lowest.
    """
    heel = subject.bodies["main_foot"].markers[subject.landmarks.labels["heel"]]
    ball = subject.metatarsophalangeal.points
    length = float(ball["main_foot"][0] - heel[0])
    spans = {"main_foot": (heel[0], length), "toes": (ball["toes"][0], subject.foot_length - length)}
    spheres: dict[str, Sphere] = {}
    lifts = []
    for body, (begin, span) in spans.items():
        x, _, z, radius = np.array(SPHERES_MM[body]).T / 1000.0
        back = float((x - radius).min())
        scale = span / (float((x + radius).max()) - back)
        lift = (z - radius - (z - radius).min()) * scale
        segment = subject.bodies[body]
        medial = segment.local(subject.bodies["main_foot"].r + subject.bodies["main_foot"].A @ heel)[1]
        for k in range(len(x)):
            centre = np.array([begin + (x[k] - back) * scale, medial, lift[k] + radius[k] * scale - segment.r[2]])
            name = f"sphere_{len(spheres) + 1}"
            spheres[name] = Sphere(body, centre, float(radius[k] * scale), STIFFNESS, LOSS)
            lifts.append(lift[k])
    return Sole(MappingProxyType(spheres)).raised(spheres, -_standing_depth(np.array(lifts), subject.mass))


def _standing_depth(lifts: Floats, mass: float) -> float:
    """Penetration [m] of the lowest sphere at which all bear half the weight; ``lifts`` [m] of each above the lowest."""
    half = 0.5 * mass * GRAVITY

    def missing(depth: float) -> float:
        return half - STIFFNESS * float((np.clip(depth - lifts, 0.0, None) ** EXPONENT).sum())

    return float(brentq(missing, 0.0, (half / STIFFNESS) ** (1.0 / EXPONENT)))


@checked
def floor_of(one: Gait) -> tuple[Floor, str]:
    """The floor of a trial, and a note on how it was determined.

    Its height is that of the force plate; a foot that moves while it is flat on the floor stands on a belt.
    """
    surface = one.ground.surface
    height = float(surface) if np.isfinite(surface) else 0.0
    stance = one.cycle.off - one.cycle.strike
    begin, end = (one.cycle.strike + part * stance for part in FLAT)
    flat = (one.t >= begin) & (one.t <= end)
    speed = float(np.median(one.motion.v["main_foot"][flat, 0]))
    if abs(speed) < MIN_BELT_SPEED:
        return Floor(height), f"{one.name}: the floor is at z = {1e3 * height:.0f} mm and does not move"
    note = (
        f"{one.name}: the floor is at z = {1e3 * height:.0f} mm; the flat foot moves at {speed:.2f} m/s along x, so it stands on "
        "a belt of that speed"
    )
    return Floor(height, speed), note
