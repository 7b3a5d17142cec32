"""Motion of the contacts of a run: penetration, forces, touch-downs and lift-offs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.contacts import FRICTION, NORMAL_FORCE, PENETRATION, PENETRATION_RATE, POTENTIAL, SLIP
from runtime.dynamics.derived import Derived
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.names import named
from runtime.system.parts import Contact


@dataclass(frozen=True)
class ContactMotion(ReadOnlyArrays):
    """Motion and forces of a contact; arrays over time (n, ...), vectors in global axes.

    ``penetration`` [m]: positive in the plane, negative away from it; ``penetration_rate`` [m/s]; ``slip`` (n, 3) [m/s]: velocity
    of the sphere's point relative to the plane's.  ``normal_force`` (n,), ``friction`` (n, 3), ``force`` (n, 3) [N]: on the
    sphere's body; ``point`` (n, 3) [m]: point of application.  ``elastic_energy`` [J]; ``dissipated_power`` [W].
    ``touch_down``, ``lift_off`` (k,) [s]: when the force begins and ends, alternating; ``impact_speed`` (k,) [m/s] at each
    touch-down.  A contact that is closed at the start counts as a touch-down at the start.  A force that ends and begins again
    while the sphere is in the plane keeps the impact speed of the first touch-down; laws that depend on the impact speed use at
    least ``min_impact_speed``, and then report that value.
    Compiled methods end a step at these times; for SciPy's methods and driven motions they are located between the steps, or
    between the times of the result.
    """

    name: str
    body: str
    penetration: Floats
    penetration_rate: Floats
    slip: Floats
    normal_force: Floats
    friction: Floats
    force: Floats
    point: Floats
    elastic_energy: Floats
    dissipated_power: Floats
    touch_down: Floats
    lift_off: Floats
    impact_speed: Floats


def contact_motions(contacts: Sequence[Contact], d: Derived, contact_events: Floats) -> Mapping[str, ContactMotion]:
    """Motion and forces of each contact by its name, from the quantities derived from the states."""
    found: dict[str, ContactMotion] = {}
    for k, contact in enumerate(contacts):
        outputs, own = d.contact_outputs[:, k], contact_events[contact_events[:, 1] == k]
        began = own[:, 2] == 1.0
        slip, friction = outputs[:, SLIP : SLIP + 3], outputs[:, FRICTION : FRICTION + 3]
        lost = d.damping_force[:, k] * outputs[:, PENETRATION_RATE] - np.einsum("na,na->n", friction, slip)
        found[contact.name] = ContactMotion(
            name=contact.name, body=contact.body, penetration=outputs[:, PENETRATION],
            penetration_rate=outputs[:, PENETRATION_RATE], slip=slip, normal_force=outputs[:, NORMAL_FORCE], friction=friction,
            force=d.contact_force[:, k], point=d.contact_point[:, k], elastic_energy=outputs[:, POTENTIAL],
            dissipated_power=lost, touch_down=own[began, 0], lift_off=own[~began, 0], impact_speed=own[began, 3],
        )  # fmt: skip
    return named("contact", found)
