"""Moments of limits along a coordinate, as kernels of trees have them."""

from __future__ import annotations

from collections.abc import Sequence

from generated import law_cubic
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Number


def moments_of_limit(constants: Sequence[Number], coordinate: Number, rate: Number) -> tuple[Number, Number]:
    """Moments against the coordinate by the law and by the damper of a limit [N m]; ``constants``: those of ``limits_along``."""
    a, b, largest, damping = constants
    law: dict[int, Number] = {}
    python_code(law_cubic.law)(a * coordinate + b, law)
    return largest * law[1], damping * rate
