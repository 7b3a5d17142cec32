"""The basic constraints that the joints share (those of Nikravesh, as in Rodrigues da Silva et al. (2024a), section 3.1).

Each returns expressions that vanish; the joint names its rows.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import atan2, cos, sin

from codegen.compiler.calculus import Expr, Vector
from codegen.compiler.force_calculus import ramp

Across = Callable[[Vector], tuple[Vector, Vector]]
CENTRE = 2  # [rad] an angle of 0 in the reference configuration is one of 0, however large the free angle is


def between(r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector) -> Vector:
    """D = r_j + s_j - r_i - s_i, from point P_i to point P_j.

    Source: Rodrigues da Silva et al. (2024a), Eq. (21).
    """
    return r_j + s_j - r_i - s_i


def perpendicular(a: Vector, *others: Vector) -> list[Expr]:
    """Each of the other vectors is perpendicular to a."""
    return [a.dot(other) for other in others]


def parallel(a_i: Vector, v: Vector, across: Across) -> list[Expr]:
    """The vector v keeps the direction of the axis a_i: two rows, v perpendicular to both tangents of a_i."""
    return perpendicular(v, *across(a_i))


def coaxial(d: Vector, a_j: Vector, b_i: Vector, c_i: Vector) -> dict[str, Expr]:
    """Two lines coincide: b_i and c_i span the normal plane of the first, d leads from it to the second along a_j."""
    offset_1, offset_2 = perpendicular(d, b_i, c_i)
    tilt_1, tilt_2 = perpendicular(a_j, b_i, c_i)
    return {"offset_1": offset_1, "offset_2": offset_2, "tilt_1": tilt_1, "tilt_2": tilt_2}


def angle_near(cosine: Expr, sine: Expr, free_angle: Expr) -> Expr:
    """The angle of a direction less ``free_angle``; in the reference configuration closest to it, or to CENTRE on its side."""
    beyond = ramp(free_angle - CENTRE) - ramp(-free_angle - CENTRE)
    c, s = cos(free_angle - beyond), sin(free_angle - beyond)
    return atan2(sine * c - cosine * s, cosine * c + sine * s) - beyond
