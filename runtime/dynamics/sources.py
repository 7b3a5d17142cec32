"""Sources of the energy of a motion: what does work that is not stored in the energy, and its place in ``Workspace.power``.

The order is that of ``KINDS``: loads, motors, limits, contacts and forces, as they are numbered in a system, then all drivers
together where there are any.  The power of a source is that of its forces on the bodies and the rate of its potential, so it is
0 where its forces only have a potential.
"""

from __future__ import annotations

from typing import Any

from runtime.jit.compilation import inlined

KINDS = ("load", "motor", "limit", "contact", "force")
DRIVERS = "drivers"


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
    return first_contact(t) + len(t.contacts.law)


def count_of_sources(t: Any) -> int:
    """Number of sources of a system's ``ModelData``; that of the drivers is the last one."""
    parts = (t.loads.body, t.loads.address, t.limits.kind, t.contacts.law, t.forces.address)
    return sum(map(len, parts)) + (1 if len(t.signal_joint) else 0)
