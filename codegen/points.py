"""Points of paths that an angle between two bodies moves, or takes into the path and out of it.

A definition returns the place of a point of body i, and 1 where it belongs to the path, else 0.  The velocity of the place, the
forces on the bodies of a force at it, and the tangents of these are derived.  A force at a point that an angle moves acts along
the angle too, so that the moment arms of a path are the derivatives of its length.  The names of the arguments follow the rules
of ``codegen.compiler.calculus``; the bodies j and k of the angle may be body i.

To add a point, add a function here and run ``python -m codegen``.  The docstring states the unit of each parameter and table, and
bounds where there are any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codegen.basics import angle_near
from codegen.compiler.calculus import Expr, Vector
from codegen.compiler.force_calculus import Table, ramp, step

Operator = Callable[[Any], Any]


def conditional(
    r_i: Vector, s_i: Vector, a_j: Vector, b_j: Vector, c_k: Vector, lower: Expr, upper: Expr, coordinate: Operator
) -> tuple[Vector, Expr]:
    """Point P_i that belongs to the path while an angle is in a range, which includes its ends; the length may jump there.

    The angle is that of ``hinge_spring``: of the direction c_k about a_j from b_j.  Source: ConditionalPathPoint of OpenSim 4.6.
    s_i : the point, from the centre of mass of body i [m]
    a_j : the axis, unit vector of body j
    b_j : a direction across the axis, unit vector of body j
    c_k : a direction, unit vector of body k
    lower : end of the range [rad]; the angle at the start is the one closest to the middle of the range
    upper : end of the range [rad]
    place : of the point, in global coordinates [m]
    velocity : of the place [m/s]
    belongs : 1 or 0 [1]
    Singular when c_k is parallel to a_j.
    """
    angle = coordinate(_angle(a_j, b_j, c_k, lower, upper))
    return r_i + s_i, (1 - step(lower - angle)) * (1 - step(angle - upper))


def moving(
    r_i: Vector, s_i: Vector, xi_i: Vector, eta_i: Vector, zeta_i: Vector, a_j: Vector, b_j: Vector, c_k: Vector,
    xi_table: Table, eta_table: Table, zeta_table: Table, lower: Expr, upper: Expr, coordinate: Operator,
) -> tuple[Vector, Expr]:  # fmt: skip
    """Point that moves in body i with an angle in a range, and stays where it is beyond the range.

    The angle is that of ``hinge_spring``: of the direction c_k about a_j from b_j.  Source: MovingPathPoint of OpenSim 4.6.
    s_i : a point, from the centre of mass of body i, from which the tables count [m]
    a_j : the axis, unit vector of body j
    b_j : a direction across the axis, unit vector of body j
    c_k : a direction, unit vector of body k
    xi_table : place along the axis xi of body i over the angle [m]
    eta_table : place along eta [m]
    zeta_table : place along zeta [m]
    lower : end of the range [rad]; the angle at the start is the one closest to the middle of the range
    upper : end of the range [rad]
    place : of the point, in global coordinates [m]
    velocity : of the place [m/s]
    belongs : 1 or 0 [1]
    Singular when c_k is parallel to a_j.
    """
    angle = coordinate(_angle(a_j, b_j, c_k, lower, upper))
    within = lower + ramp(angle - lower) - ramp(angle - upper)
    return r_i + s_i + xi_i * xi_table(within) + eta_i * eta_table(within) + zeta_i * zeta_table(within), 1


def _angle(a_j: Vector, b_j: Vector, c_k: Vector, lower: Expr, upper: Expr) -> Expr:
    middle = (lower + upper) / 2
    return middle + angle_near(c_k.dot(b_j), c_k.dot(a_j.cross(b_j)), middle)
