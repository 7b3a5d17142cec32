"""Parameters of contacts for compiled code of lanes: of one system, and of many cases with values of their own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runtime.integrate.acting_contacts import ActingContact
from runtime.jit.python_code import python_code
from runtime.support.arrays import Bools, Floats
from runtime.support.numbers import LARGEST
from runtime.system.contact_building import POINTS, contact_bounds
from runtime.system.parts import NORMAL_LAWS, Contact
from runtime.system.system import System


def put_contact(
    system: System, k: int, contact: ActingContact, own: Mapping[str, Floats], to: Floats, turned: Mapping[int, Floats]
) -> None:
    """Put the numbers of a contact into ``to`` (cases, numbers); it neither acts nor rubs, and no touch-down was before.

    Parameters
    ----------
    own : mapping
        Values by name that the cases have of their own, (cases,) or (cases, 3).
    turned : mapping
        Rotation matrices of bodies in the reference configuration, (cases or 1, 3, 3).
    """
    t, rows, part = system.data.contacts, contact.rows, system.contacts[k]
    to[:] = 0.0
    to[:, : rows.law] = t.x[k, : rows.law]
    for name, (place, body), vector in zip(
        (name for name, *_ in part.module.VECTORS), contact.vectors, t.vector_local[t.vector_contact == k], strict=True
    ):
        given = next((own[key] for key, of in POINTS.items() if of == name and key in own), vector)
        to[:, place : place + 3] = (turned[body] @ np.asarray(given)[..., None])[..., 0]
    for first, names, values in (
        (rows.law, contact.law.PARAMETERS, t.normal[k]),
        (rows.friction, contact.friction.PARAMETERS if contact.friction else (), t.tangential[k]),
    ):
        for c, name in enumerate(names):
            to[:, first + c] = own.get(name, values[c])
    if "radius" in own:
        to[:, _place_of_radius(contact)] = own["radius"]
    to[:, rows.creep] = t.creep[k]


def _place_of_radius(contact: ActingContact) -> int:
    module = contact.geometry
    return 3 * len(module.VECTORS) + [name for name, *_ in module.PARAMETERS].index("radius")


def takes_value_of_contact(system: System, owner: str, part: str) -> bool:
    """Whether ``put_contact`` takes values of a parameter: a point, the radius, or one of a law.

    The creep and the least speed of an impact decide settings and memory besides.
    """
    contact = system.contact(owner)
    return part in {*contact_bounds(contact.law, contact.friction), *POINTS} - {"creep", "least_impact", "impact"}


def allowed_values_of_contact(system: System, owner: str, part: str, values: Floats) -> Bools:
    """Which of the values (cases,) or (cases, 3) of a parameter break no rule, and leave it open whether the damping fades."""
    contact = system.contact(owner)
    flat = values.reshape(len(values), -1)
    with np.errstate(invalid="ignore"):
        allowed: Bools = np.asarray((np.abs(flat) <= LARGEST).all(axis=1))
        if part in POINTS:
            return allowed
        low, excluded, high, _ = contact_bounds(contact.law, contact.friction)[part]
        if low is not None:
            allowed &= values > low if excluded else values >= low
        if high is not None:
            allowed &= values <= high
    law, fades = NORMAL_LAWS[contact.law], system.data.contacts.fades[system.contact_names.index(owner)]
    return (
        allowed & (_fades(contact, part, np.where(allowed, values, 1.0)) == fades)
        if part in law.PARAMETERS
        else allowed
    )


def _fades(contact: Contact, part: str, values: Floats) -> Bools:
    """Whether the damping is 0 on the plane, with values (cases,) of a parameter of the normal law."""
    module, out = NORMAL_LAWS[contact.law], dict[int, Floats]()
    own = [values if name == part else contact.parameters.get(name, contact.least_impact) for name in module.PARAMETERS]
    python_code(module.law)(0.0, 1.0, own, out)
    return np.broadcast_to(out[2] == 0.0, values.shape)
