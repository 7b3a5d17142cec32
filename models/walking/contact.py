"""A sole of nine spheres under the driven foot: the ground's force from the motion alone.

The motion is that of ``models.walking.analysis``; contacts between the spheres and the floor give vertical and horizontal
force and centre of pressure through the cycle, as in Moreira et al. (2011), Figs. 8 to 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from models.walking import leg_foot
from models.walking.gait_result import Gait
from models.walking.leg_foot import Coordinates
from models.walking.sole import Floor, Sole, floor_of
from models.walking.subject import LegFoot
from runtime import System, inverse_dynamics
from runtime.analysis import Motion
from runtime.support import GRAVITY, checked, checked_class
from runtime.support.arrays import Floats

MIN_LOAD = 0.1  # body weights from which a centre of pressure is compared


@checked
def build(
    subject: LegFoot, coordinates: Coordinates, sole: Sole, floor: Floor | None = None, *, time: float | None = None
) -> System:
    """The driven leg and foot of ``models.walking.leg_foot`` with the contacts of a sole in place of a measured force.

    Returns
    -------
    System
        As that of ``leg_foot.build``, with the contacts ``sphere_1`` to ``sphere_9``.
    """
    floor = floor or Floor()
    b = leg_foot.driven(subject, coordinates, "gait with contact")
    for name, sphere in sole.spheres.items():
        b.contact(
            name, sphere.body, centre=sphere.centre, radius=sphere.radius, law="hunt_crossley", stiffness=sphere.stiffness,
            exponent=sole.exponent, loss=sphere.loss, friction="smooth",
            mu_c=sole.mu_c, mu_d=sole.mu_d, transition_velocity=sole.transition_velocity,
            point=(0.0, 0.0, floor.height), belt=(1.0, 0.0, 0.0), belt_speed=floor.belt,
        )  # fmt: skip
    return b.build(time=coordinates.begin if time is None else time)


@dataclass(frozen=True)
class Errors:
    """Root mean square errors over stance: of the force [body weights], of the centre of pressure [m].

    The centre of pressure is compared while the measured force is above a tenth of the body's weight.
    """

    vertical: float
    anterior: float
    medial: float
    cop_anterior: float
    cop_medial: float

    @property
    def cop(self) -> float:
        """Of the centre of pressure in the plane of the floor [m]."""
        return float(np.hypot(self.cop_anterior, self.cop_medial))


@checked_class
@dataclass(frozen=True, eq=False)
class Prediction:
    """The forces of a sole along a trial's motion, at the times ``trial.t`` (n,).

    ``force`` (n, 3) [N] on the foot, ``cop`` (n, 3) [m], NaN without a force; ``pressed``: normal force of each sphere (n,) [N].
    ``motion``: the driven motion under that force, with ankle moments that need no force plate.
    """

    trial: Gait
    sole: Sole
    floor: Floor
    motion: Motion
    force: Floats
    cop: Floats
    pressed: Mapping[str, Floats]

    def errors(self) -> Errors:
        """Against the measured force."""
        return compared(self.trial, self.force, self.cop)

    def in_contact(self, stance: float) -> tuple[str, ...]:
        """Names of the spheres in contact at a fraction of stance, 0 to 1."""
        cycle = self.trial.cycle
        n = int(np.argmin(np.abs(self.trial.t - (cycle.strike + stance * (cycle.off - cycle.strike)))))
        return tuple(name for name, force in self.pressed.items() if force[n] > 0.0)


def compared(one: Gait, force: Floats, cop: Floats) -> Errors:
    """Errors of a force (n, 3) [N] and its centre of pressure (n, 3) [m] against those measured in a trial."""
    measured, centre, _ = one.ground_at(one.t)
    weight, stance = one.subject.mass * GRAVITY, in_stance(one)
    off = (force - measured)[stance] / weight
    both = stance & (measured[:, 2] > MIN_LOAD * weight) & np.isfinite(cop).all(axis=1)
    return Errors(*map(rms, (off[:, 2], off[:, 0], off[:, 1], *(cop - centre)[both, :2].T)))


def in_stance(one: Gait) -> NDArray[np.bool_]:
    """Which frames of a trial are in stance, (n,)."""
    return (one.t >= one.cycle.strike) & (one.t <= one.cycle.off)


@checked
def predict_ground_force(one: Gait, sole: Sole, floor: Floor | None = None) -> Prediction:
    """The ground's force on a sole along a trial's motion; the floor is that of the trial unless given."""
    floor = floor_of(one)[0] if floor is None else floor
    system = build(one.subject, one.coordinates, sole, floor, time=float(one.t[0]))
    motion = inverse_dynamics(system, one.t)
    reaction = motion.ground_reaction()
    pressed = {name: contact.normal_force for name, contact in motion.contacts.items()}
    return Prediction(one, sole, floor, motion, reaction.force, reaction.centre_of_pressure, MappingProxyType(pressed))


def rms(values: Floats) -> float:
    """Root mean square; NaN of nothing."""
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else float("nan")
