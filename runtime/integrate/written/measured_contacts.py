"""What switching needs of all contacts of a tree, for LANES cases side by side."""

from __future__ import annotations

from functools import partial
from typing import Any

from runtime.integrate.written.acting_contacts import MEASURED
from runtime.integrate.written.acting_forces import ActingForces, acting_forces
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_contacts import Contact
from runtime.lanes.written_function import address_of_lanes, text_of_lane
from runtime.support.latest import Latest
from runtime.system.system import System

AXES = dict(z=1, signals=2, parameters=2, out=1)  # of the arrays
NAME = "measure_contacts"  # of the function of the text


def _address(system: System) -> int:
    acting = acting_forces(system)
    return address_of_lanes(
        "contacts_of_tree", AXES, partial(_write, acting), __name__, "the contacts in a batch", *acting.text()
    )


def _write(acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    places = Places(code, acting, data)
    for k in range(len(acting.contacts)):
        for place, number in enumerate(Contact(places, k).measured()):
            code.store(number, data["out"], MEASURED * k + place)


_addresses = Latest(_address, 8)


def address_of_contacts(system: System) -> int:
    """Address in this process of the function that measures all contacts of a system; see ``known_forces``.

    It takes the addresses of z, signals and parameters as the function of ``tree_forces.address_of_forces``, and of its result
    (contacts, MEASURED): depth, rate, force, elastic part, slopes and potential, in the order of ``acting_contacts.DEPTH`` ...
    """
    return _addresses(system)


def text_of_contacts(system: System) -> str:
    """A function of Python for one lane, as the function of ``address_of_contacts``, for the compilers of other machines."""
    return text_of_lane(NAME, AXES, partial(_write, acting_forces(system)))
