"""Motion of the contacts of a run: penetration, forces, touch-downs and lift-offs, and the sum of the forces on a plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.contacts import FRICTION, NORMAL_FORCE, PENETRATION, PENETRATION_RATE, POTENTIAL, SLIP
from runtime.dynamics.derived import Derived
from runtime.results.recorded import Recorded
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.errors import ModelError
from runtime.support.names import named
from runtime.system.parts import GROUND, Contact


@dataclass(frozen=True)
class ContactMotion(ReadOnlyArrays):
    """Motion and forces of a contact; arrays over time (n, ...), vectors in global axes.

    ``penetration`` [m]: positive in the plane, negative away from it; ``penetration_rate`` [m/s]; ``slip`` (n, 3) [m/s]: velocity
    of the sphere's point relative to the plane's.  ``normal_force`` (n,), ``friction`` (n, 3), ``force`` (n, 3) [N]: on the
    sphere's body; ``point`` (n, 3) [m]: point of application.  ``elastic_energy`` [J]; ``dissipated_power`` [W].
    ``touch_down``, ``lift_off`` (k,) [s]: when the force begins and ends, alternating; ``impact_speed`` (k,) [m/s] at each
    touch-down.  A contact that is closed at the start counts as a touch-down at the start.  A force that ends and begins again
    while the sphere is in the plane keeps the impact speed of the first touch-down; laws that depend on the impact speed use at
    least ``least_impact``, and then report that value.
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


@dataclass(frozen=True)
class GroundReaction:
    """The sum of contacts with one plane; arrays over time, in global axes.

    ``force`` (n, 3) [N] on the bodies; ``centre_of_pressure`` (n, 3) [m]: the point of the plane about which the total moment has
    no component in the plane, NaN without a normal force; ``free_moment`` (n,) [N m] about the normal there, NaN likewise.
    """

    force: Floats
    centre_of_pressure: Floats
    free_moment: Floats


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


def ground_reaction(run: Recorded, contacts: Sequence[str] | str | None = None) -> GroundReaction:
    """The sum of the forces of contacts that share a plane; see ``Run.ground_reaction``."""
    system = run.system
    if not system.contacts:
        raise ModelError(f"system '{system.name}' has no contact; add one with Builder.contact")
    names = (contacts,) if isinstance(contacts, str) else system.contact_names if contacts is None else tuple(contacts)
    if not names:
        raise ModelError(f"ground_reaction: no contact is named; the contacts are {', '.join(system.contact_names)}")
    if twice := [name for k, name in enumerate(names) if name in names[:k]]:
        raise ModelError(f"ground_reaction: contact '{twice[0]}' is named twice; name each once")
    chosen = [system.contact(name) for name in names]
    first = chosen[0]
    for other in chosen[1:]:
        n, m = first.values["n_j"], other.values["n_j"]
        apart = abs(float((other.values["s_j"] - first.values["s_j"]) @ n))
        if other.plane != first.plane or np.abs(n - m).max() > 1e-12 or apart > 1e-12:
            raise ModelError(
                f"contacts '{first.name}' and '{other.name}' are on different planes, which have no common centre of "
                "pressure; name contacts of one plane"
            )
    A = run.rotations(first.plane)
    origin = run.r[first.plane] if first.plane != GROUND else np.zeros((len(run.t), 3))
    normal, point = A @ first.values["n_j"], origin + A @ first.values["s_j"]
    forces = np.array([run.contacts[name].force for name in names])
    arms = np.array([run.contacts[name].point for name in names]) - point
    force = forces.sum(axis=0)
    moment = np.cross(arms, forces).sum(axis=0)  # about the point of the plane
    along = np.einsum("na,na->n", force, normal)
    with np.errstate(divide="ignore", invalid="ignore"):
        arm = np.where(along[:, None] > 0.0, np.cross(normal, moment) / along[:, None], np.nan)
        rest = moment - np.cross(arm, force)
    return GroundReaction(force, point + arm, np.einsum("na,na->n", rest, normal))
