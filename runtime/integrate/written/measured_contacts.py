"""What switching needs of all contacts of a tree, for LANES cases side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from llvmlite import ir

from runtime.integrate.written.acting_contacts import MEASURED
from runtime.integrate.written.acting_forces import ActingForces, acting_forces
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_contacts import Contact
from runtime.lanes.text_code import TextCode
from runtime.lanes.vector_code import Code
from runtime.lanes.written_function import address_of_lanes
from runtime.support.latest import Latest
from runtime.system.system import System

ARGUMENTS = ("z", "signals", "parameters", "out")
AXES = dict(z=1, signals=2, parameters=2, out=1)  # of the arrays of the text
NAME = "measure_contacts"  # of the function of the text


def _address(system: System) -> int:
    acting = acting_forces(system)
    return address_of_lanes(
        "contacts_of_tree", len(ARGUMENTS), partial(_write, acting), __name__, "the contacts in a batch", *acting.text()
    )


def _write(acting: ActingForces, code: Code, data: Sequence[ir.Value], column: ir.Value) -> None:
    _write_all(Places(code, acting, dict(zip(ARGUMENTS, data, strict=True)), column))


def _write_all(places: Places) -> None:
    code, acting = places.code, places.acting
    for k in range(len(acting.contacts)):
        for place, number in enumerate(Contact(places, k).measured()):
            code.store(number, places.data["out"], places.place(MEASURED * k + place))


_addresses = Latest(_address, 8)


def address_of_contacts(system: System) -> int:
    """Address in this process of the function that measures all contacts of a system; see ``known_forces``.

    It takes the addresses of z, signals and parameters as the function of ``tree_forces.address_of_forces``, and of its result
    (contacts, MEASURED): depth, rate, force, elastic part, slopes and potential, in the order of ``acting_contacts.DEPTH`` ...
    """
    return _addresses(system)


def text_of_contacts(system: System) -> str:
    """A function of Python for one lane, as the function of ``address_of_contacts``, for the compilers of other machines."""
    code = TextCode(AXES)
    _write_all(Places(code, acting_forces(system), {name: name for name in ARGUMENTS}, None))
    return code.text(NAME)
