"""Parameters of contacts for compiled code of lanes: of one system, and of many cases with values of their own."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.integrate.written.acting_contacts import ActingContact
from runtime.support.arrays import Floats
from runtime.system.contact_building import POINTS, SIZES, contact_bounds
from runtime.system.system import System


def put_contact(
    system: System, k: int, contact: ActingContact, own: Mapping[str, Floats], to: Floats, turned: Mapping[int, Floats]
) -> None:
    """Put the numbers of a contact into ``to`` (cases, numbers); it neither acts nor rubs, and no touch-down was before.

    Parameters
    ----------
    own : mapping
        Values that the cases have of their own, (cases,) or (cases, 3): of parameters by name, and of vectors by their names in
        the definition of the geometry.
    turned : mapping
        Rotation matrices of bodies in the reference configuration, (cases or 1, 3, 3).
    """
    t, rows, own = system.data.contacts, contact.rows, {POINTS.get(key, key): values for key, values in own.items()}
    to[:] = 0.0
    to[:, : rows.law] = t.x[k, : rows.law]
    vectors = zip(contact.geometry.VECTORS, contact.vectors, t.vector_local[t.vector_contact == k], strict=True)
    for (name, *_), (place, body), vector in vectors:
        to[:, place : place + 3] = (turned[body] @ own.get(name, vector)[..., None])[..., 0]
    for first, names, values in (
        (rows.law, contact.law.PARAMETERS, t.normal[k]),
        (rows.friction, contact.friction.PARAMETERS if contact.friction else (), t.tangential[k]),
    ):
        for c, name in enumerate(names):
            to[:, first + c] = own.get(name, values[c])
    for c, name in enumerate(SIZES):
        if name in own:
            to[:, 3 * len(contact.geometry.VECTORS) + c] = own[name]
    to[:, rows.transition_velocity] = t.transition_velocity[k]


def takes_value_of_contact(system: System, owner: str, part: str) -> bool:
    """Whether ``put_contact`` takes values of a parameter: a point, the radius, or one of a law.

    The transition velocity and the least speed of an impact decide settings and memory besides.
    """
    contact = system.contact(owner)
    return part in {*contact_bounds(contact.law_module, contact.friction_module), *POINTS} - {
        "transition_velocity",
        "min_impact_speed",
        "impact",
    }
