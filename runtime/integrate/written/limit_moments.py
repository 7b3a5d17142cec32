"""Moments of limits along a coordinate, as kernels of trees have them."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from runtime.dynamics.limits_along import OF_LIMIT
from runtime.jit.recorder import Number
from runtime.lanes.needed_outputs import call_for
from runtime.lanes.vector_functions import Functions

MOMENT = 1  # output of a law


def moments_of_limit(
    law: ModuleType, constants: Sequence[Number], coordinate: Number, rate: Number
) -> tuple[Number, Number]:
    """Moments against the coordinate by the law and by the damper of a limit [N m].

    ``constants``: those of ``limits_along``, and those of an own law.
    """
    (a, b, largest, damping), own = constants[:OF_LIMIT], constants[OF_LIMIT:]
    found = call_for(law, "law", (MOMENT,), {"math": Functions()}, a * coordinate + b, own)
    return largest * found[MOMENT], damping * rate
