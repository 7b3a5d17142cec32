"""What switching needs of all contacts of a tree, for LANES cases side by side."""

from __future__ import annotations

from typing import Any

from runtime.integrate.written.acting_contacts import MEASURED
from runtime.integrate.written.acting_forces import ActingForces, Written
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_contacts import Contact

AXES = dict(z=1, signals=2, parameters=2, out=1)  # of the arrays


def _write(acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    places = Places(code, acting, data)
    for k in range(len(acting.contacts)):
        for place, number in enumerate(Contact(places, k).measured()):
            code.store(number, data["out"], MEASURED * k + place)


# Of a system with ``known_forces``: what measures all of its contacts.  It takes the addresses of z, signals and parameters as
# ``tree_forces.FORCES``, and of its result (contacts, MEASURED): depth, rate, force, elastic part, slopes and potential, in the
# order of ``acting_contacts.DEPTH`` ...
CONTACTS = Written("measure_contacts", AXES, __name__, "the contacts in a batch", _write)
address_of_contacts, text_of_contacts = CONTACTS.address, CONTACTS.text
