"""Exact derivatives of the contact forces with respect to the contact parameters, at the states of a run.

With the motion given, a contact's force depends on the parameters of its normal law and, through penetration, its rate and
slip, on the sphere's centre and radius.  ``runtime.dynamics.contact_slopes`` combines generated derivatives by the chain rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.dynamics.contact_slopes import SEEDS, Slopes, fill
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.integrate.contact_events import find_contact_events
from runtime.jit.addresses import addresses_of
from runtime.results.run import Run
from runtime.support.arguments import checked
from runtime.support.arrays import Floats, ReadOnlyArrays, frozen
from runtime.support.errors import ModelError
from runtime.support.names import named
from runtime.system.contact_building import changed_contact, contact_data
from runtime.system.parts import Contact
from runtime.system.reference import body_places, states_with_ground

GEOMETRY = ("centre_x", "centre_y", "centre_z", "radius")


@dataclass(frozen=True)
class ContactSensitivity(ReadOnlyArrays):
    """A contact's force over time and its derivatives (slopes) with respect to q ``parameters``; vectors in global axes.

    ``parameters``: names of those of the normal law, then ``centre_x``, ``centre_y``, ``centre_z`` [m] in axes of the sphere's
    body and ``radius`` [m].  ``normal_force`` (n,) [N] with slopes (n, q); ``friction`` (n, 3) [N] with slopes (n, 3, q);
    ``point`` (n, 3) [m] at which both act, with slopes (n, 3, q).  The unit of a slope is that of the quantity divided by that of
    the parameter; while the contact is open, the slopes of its forces are zero.  The touch-down speed, which two of the normal
    laws use, is that of the run and constant.
    """

    name: str
    parameters: tuple[str, ...]
    normal_force: Floats
    friction: Floats
    point: Floats
    normal_force_slopes: Floats
    friction_slopes: Floats
    point_slopes: Floats


@checked
def contact_sensitivities(
    run: Run, changes: Mapping[str, Mapping[str, Any]] | None = None
) -> Mapping[str, ContactSensitivity]:
    """Forces of the contacts of a run and their exact derivatives with respect to their parameters, at constant states.

    On a driven motion, whose states follow from the drivers alone, these are the total derivatives of the contact forces, as
    needed by a fit of contacts to a measured force.  For a simulated run they do not include the change of the motion.

    Parameters
    ----------
    run : Run
        Of a system with contacts; ``runtime.inverse_dynamics`` and ``runtime.kinematics`` return that of a driven system.
    changes : mapping, optional
        Contact's name -> keywords of ``Builder.contact`` ("centre", "radius", "stiffness", ...) with values that replace those of
        the system, along the same motion.

    Returns
    -------
    mapping of contact's name to ContactSensitivity

    Raises
    ------
    ModelError
        For a system without contacts, an unknown contact, and values that ``Builder.contact`` refuses.
    """
    system = run.system
    if not system.contacts:
        raise ModelError(f"system '{system.name}' has no contact; add one with Builder.contact")
    changes = changes or {}
    for name in changes:
        system.contact(name)
    contacts = [_changed(contact, changes.get(contact.name)) for contact in system.contacts]
    first_signal = int(run.data.contacts.signal[0])
    changed = contact_data(contacts, body_places(system.body_names), states_with_ground(run.states[0]), first_signal)
    data = run.data._replace(contacts=frozen(changed))
    work = run._work()
    work.contacts.normal[:] = data.contacts.normal
    work.contacts.x[:] = data.contacts.x
    n, count, width, size = len(run.t), len(contacts), data.contacts.normal.shape[1], data.contacts.x.shape[1]
    s = Slopes(
        address=addresses_of([contact.law_module for contact in contacts], "law_parameters_entry"),
        outputs=np.zeros((n, count, 4)), point=np.zeros((n, count, 3)), over_law=np.zeros((n, count, 4, width)),
        over_geometry=np.zeros((n, count, 4, 4)), point_over_geometry=np.zeros((n, count, 3, 4)),
        seeds=np.zeros((SEEDS, 4)), measured=np.zeros((5, 4)), parameters=np.zeros(width), moved=np.zeros(size),
    )  # fmt: skip
    damped = any(contact.needs_impact for contact in contacts)
    contact_events = _contact_events(run, data, work) if changes and damped else run.contact_events
    fill(run.t, np.ascontiguousarray(run.states), contact_events, data, work, s)
    found = {}
    for k, contact in enumerate(contacts):
        names = contact.law_module.PARAMETERS
        own = [q for q, name in enumerate(names) if name != "impact"]
        slopes = np.concatenate([s.over_law[:, k][:, :, own], s.over_geometry[:, k]], axis=2)
        still = np.zeros((n, 3, len(own)))
        found[contact.name] = ContactSensitivity(
            name=contact.name, parameters=(*(names[q] for q in own), *GEOMETRY), normal_force=s.outputs[:, k, 0],
            friction=s.outputs[:, k, 1:], point=s.point[:, k], normal_force_slopes=slopes[:, 0],
            friction_slopes=slopes[:, 1:], point_slopes=np.concatenate([still, s.point_over_geometry[:, k]], axis=2),
        )  # fmt: skip
    return named("contact", found)


def _contact_events(run: Run, data: ModelData, work: Workspace) -> Floats:
    """Contact events of the run, and those of the changed contacts that do not touch down in the run.

    A changed contact that touches down earlier than in the run keeps the touch-down speed of the run.
    """
    own, t = run.contact_events, data.contacts
    for _, k, began, speed in own[::-1]:
        if began and t.impact[int(k)] >= 0:
            work.contacts.normal[int(k), t.impact[int(k)]] = speed
    others = find_contact_events(run.t, run.states, data, work)
    rows = np.concatenate([own, others[~np.isin(others[:, 1], own[:, 1])]])
    return rows[np.argsort(rows[:, 0], kind="stable")]


def _changed(contact: Contact, changes: Mapping[str, Any] | None) -> Contact:
    """The contact with other values, which are checked as by ``Builder.contact``."""
    if not changes:
        return contact
    if fixed := [key for key in changes if key in ("body", "plane", "law", "friction", "belt_speed")]:
        raise ModelError(
            f"contact '{contact.name}': {', '.join(fixed)} cannot change along a run; build another system for it"
        )
    return changed_contact(contact, changes)
