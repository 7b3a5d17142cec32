"""A chain of N equal links from the ground, initially horizontal; a benchmark for the cost of one evaluation."""

from __future__ import annotations

from typing import Any, Literal

from runtime import GROUND, Builder, ModelError, System
from runtime.support import Usual, checked, positive, usual

MOST_LINKS = 10_000


@checked
@usual(length=Usual(1e-4, 100.0, "m", "the length of a link"), mass=Usual(1e-9, 1e5, "kg", "the mass of a link"))
def build(
    links: int = 10,
    *,
    joint: Literal["spherical", "revolute"] = "spherical",
    length: float = 0.1,
    mass: float = 0.1,
    check_units: bool = True,
) -> System:
    """Build the links ``link_1`` .. ``link_N`` along x, each with the length [m] and mass [kg]; hinges turn about y.

    joint : "spherical" or "revolute"
    check_units: False gives no warning of values that were probably given in another unit.

    Raises
    ------
    ModelError
        For an unknown joint, no link, or a length that is not positive.
    """
    if joint not in ("spherical", "revolute"):
        raise ModelError(f"joint = {joint!r}; use 'spherical' or 'revolute'")
    if not 1 <= links <= MOST_LINKS:
        raise ModelError(f"links = {links}; give 1 to {MOST_LINKS}")
    length = positive(length, "length")
    across, along = mass * length**2 / 12.0, mass * length**2 / 100.0
    b = Builder(f"chain of {links}")
    before = GROUND
    for n in range(1, links + 1):
        name = f"link_{n}"
        b.body(name, mass=mass, inertia=(along, across, across), r=((n - 0.5) * length, 0.0, 0.0))
        ends: dict[str, Any] = dict(s_i=(0, 0, 0) if before == GROUND else (length / 2, 0, 0), s_j=(-length / 2, 0, 0))
        if joint == "revolute":
            ends |= dict(a_i=(0, 1, 0), a_j=(0, 1, 0))
        b.joint(f"joint_{n}", joint, before, name, **ends)
        before = name
    return b.build(check_units=check_units)
