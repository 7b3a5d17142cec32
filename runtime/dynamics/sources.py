"""Sources of the energy of a motion: what does work that is not stored in the energy, and its place in ``Workspace.power``.

The order is that of ``KINDS``: loads, motors, limits, contacts, forces and drivers, as they are numbered in a system.  The power
of a source is that of its forces on the bodies and the rate of its potential, so it is 0 where its forces only have a potential.
"""

from __future__ import annotations

from typing import Any

from runtime.jit.compilation import inlined

KINDS = ("load", "motor", "limit", "contact", "force", "driver")


@inlined
def first_limit(t):  # type: ignore[no-untyped-def]
    """Place of the power of the first limit."""
    return len(t.loads.body) + len(t.loads.address)


@inlined
def first_contact(t):  # type: ignore[no-untyped-def]
    """Place of the power of the first contact."""
    return first_limit(t) + len(t.limits.kind)


@inlined
def first_force(t):  # type: ignore[no-untyped-def]
    """Place of the power of the first force."""
    return first_contact(t) + len(t.contacts.address)


@inlined
def first_driver(t):  # type: ignore[no-untyped-def]
    """Place of the power of the first driver."""
    return first_force(t) + len(t.forces.address)


def count_of_drivers(t: Any) -> int:
    """Number of drivers of a system's ``ModelData``."""
    return len(set(t.signal_joint.tolist()))


def count_of_sources(t: Any) -> int:
    """Number of sources of a system's ``ModelData``."""
    parts = (t.loads.body, t.loads.address, t.limits.kind, t.contacts.address, t.forces.address)
    return sum(map(len, parts)) + count_of_drivers(t)
