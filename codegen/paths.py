"""Spans of paths, of which the paths of muscles are made.

A definition returns the length of a span from a point of body i to a point of body j.  Its rate, the forces of a unit tension on
the bodies, and the tangents of all these are derived.  The names of the arguments follow the rules of
``codegen.compiler.calculus``: points, directions and parameters; ``_k`` is a third body, which may be one of the two.

To add a span, add a function here and run ``python -m codegen``.  The docstring states the unit of each parameter, and bounds
where there are any.
"""

from __future__ import annotations

from sympy import atan2, sqrt

from codegen.basics import between
from codegen.compiler.calculus import Expr, Vector
from codegen.compiler.force_calculus import ramp, size, step


def straight(r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector) -> Expr:
    """Straight line between the points P_i and P_j.

    s_i, s_j : the point on each body, from its centre of mass [m]
    Singular when the points coincide.
    """
    d = between(r_i, s_i, r_j, s_j)
    return sqrt(d.dot(d))


def cylinder(
    r_i: Vector,
    s_i: Vector,
    r_j: Vector,
    s_j: Vector,
    r_k: Vector,
    s_k: Vector,
    a_k: Vector,
    radius: Expr,
    length: Expr,
) -> Expr:
    """Shortest line from the point P_i to the point P_j around a cylinder, on the nearer side of it.

    Straight where it does not touch the cylinder, where an end lies within the radius, and where it would touch the infinite
    cylinder beyond both ends of this one, as in OpenSim (WrapCylinder, quadrant "all"); the length jumps at the last two.
    s_i, s_j : the point on each body, from its centre of mass [m]
    s_k : centre of the cylinder, from the centre of mass of body k [m]
    a_k : axis of the cylinder, unit vector of body k
    radius : [m], 0 < radius
    length : of the cylinder [m], 0 < length
    Singular when the straight line meets the axis, where both sides are equally near.
    """
    p, q = between(r_k, s_k, r_i, s_i), between(r_k, s_k, r_j, s_j)
    across_p, across_q = a_k.cross(p), a_k.cross(q)
    angle = atan2(size(across_p.cross(across_q).dot(a_k)), across_p.dot(across_q))
    return _around(between(r_i, s_i, r_j, s_j), p, q, a_k, angle, radius, length)


def cylinder_side(
    r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, r_k: Vector, s_k: Vector, a_k: Vector, n_k: Vector, radius: Expr,
    length: Expr,
) -> Expr:  # fmt: skip
    """Shortest line from the point P_i to the point P_j past a cylinder, on a given side of it.

    It leads about the axis without crossing the half plane opposite to that side; otherwise as ``cylinder``.  Quadrants of
    WrapCylinder of OpenSim, where neither end passes the half plane.
    s_i, s_j : the point on each body, from its centre of mass [m]
    s_k : centre of the cylinder, from the centre of mass of body k [m]
    a_k : axis of the cylinder, unit vector of body k
    n_k : from the axis to the side on which the line passes, unit vector of body k across the axis
    radius : [m], 0 < radius
    length : of the cylinder [m], 0 < length
    Singular when an end passes the half plane opposite to the side, where the length jumps.
    """
    p, q = between(r_k, s_k, r_i, s_i), between(r_k, s_k, r_j, s_j)
    m_k = a_k.cross(n_k)
    angle = size(atan2(q.dot(m_k), q.dot(n_k)) - atan2(p.dot(m_k), p.dot(n_k)))
    return _around(between(r_i, s_i, r_j, s_j), p, q, a_k, angle, radius, length)


def _around(d: Vector, p: Vector, q: Vector, axis: Vector, angle: Expr, radius: Expr, length: Expr) -> Expr:
    """Length of the line along d from p to q, measured from the centre of a cylinder, around which it turns by an angle.

    Unrolled, the line is straight: sqrt(w^2 + z^2), with z along the axis, and across it w, two tangents and an arc.
    """
    outside = [v.dot(v) - radius**2 for v in (axis.cross(p), axis.cross(q))]
    tangents = [sqrt(radius**2 + step(x) * (x - radius**2)) for x in outside]
    arc = angle - sum(atan2(tangent, radius) for tangent in tangents)
    across, along = sum(tangents) + radius * ramp(arc), d.dot(axis)
    touches = [p.dot(axis) + along * tangents[0] / across, q.dot(axis) - along * tangents[1] / across]
    off = [1 - step((length / 2) ** 2 - z**2) for z in touches]
    touching = step(arc) * step(outside[0]) * step(outside[1]) * (1 - off[0] * off[1])
    return sqrt(d.dot(d) + touching * (across**2 + along**2 - d.dot(d)))
