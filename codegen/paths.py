"""Spans of paths, of which the paths of muscles are made.

A definition returns the length of a span from a point of body i to a point of body j.  Its rate, the forces of a unit tension on
the bodies, and the tangents of all these are derived.  The names of the arguments follow the rules of
``codegen.compiler.calculus``: points, directions and parameters; ``_k`` and ``_l`` are further bodies, which may be
one of the two.  ``stationary(x)`` is a place on the shortest line: the length does not change with it, so it has no part in
rates and forces.  ``constant(x)`` is a value of the search for that place, which has no part in tangents either.

To add a span, add a function here and run ``python -m codegen``.  The docstring states the unit of each parameter, and bounds
where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from sympy import Float, atan2, sqrt

from codegen.basics import between
from codegen.compiler.angles import revolutions
from codegen.compiler.calculus import Expr, Vector
from codegen.compiler.force_calculus import LEAST, ramp, size, step

# Steps of the search for a line between two cylinders: those on each way past them, which choose the shortest one, and those on
# this way, after which the ends of the line are known to about 1e-13 of its length.
TRIALS, MEETINGS = 3, 8
LONGER = Float("1e-9")  # relative difference of lengths, up to which the way of the straight line is kept
Operator = Callable[[Any], Any]


class Cylinder(NamedTuple):
    """A cylinder, and the side of its axis on which a line passes."""

    centre: Vector
    axis: Vector
    side: Vector
    radius: Expr
    length: Expr


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
    return _around(between(r_i, s_i, r_j, s_j), p, q, a_k, _nearer(p, q, a_k), radius, length)


def cylinder_side(
    r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, r_k: Vector, s_k: Vector, a_k: Vector, n_k: Vector, radius: Expr,
    length: Expr,
) -> Expr:  # fmt: skip
    """Shortest line from the point P_i to the point P_j past a cylinder, on a given side of it.

    It leads about the axis without crossing the half plane opposite to that side; otherwise as ``cylinder``.  So does OpenSim
    (WrapCylinder, quadrants across the axis) with both ends on that side of the axis; with an end on the other side its line may
    change its way, with a jump of the length.
    s_i, s_j : the point on each body, from its centre of mass [m]
    s_k : centre of the cylinder, from the centre of mass of body k [m]
    a_k : axis of the cylinder, unit vector of body k
    n_k : from the axis to the side on which the line passes, unit vector of body k across the axis
    radius : [m], 0 < radius
    length : of the cylinder [m], 0 < length
    Singular when an end passes the half plane opposite to the side, where the length jumps.
    """
    p, q = between(r_k, s_k, r_i, s_i), between(r_k, s_k, r_j, s_j)
    return _around(between(r_i, s_i, r_j, s_j), p, q, a_k, _on_side(p, q, a_k, n_k), radius, length)


def two_cylinders(
    r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, r_k: Vector, s_k: Vector, a_k: Vector, n_k: Vector,
    r_l: Vector, s_l: Vector, a_l: Vector, n_l: Vector, first_radius: Expr, first_length: Expr, first_sided: Expr,
    second_radius: Expr, second_length: Expr, second_sided: Expr, stationary: Operator, constant: Operator,
) -> Expr:  # fmt: skip
    """Shortest line from the point P_i to the point P_j around a cylinder of body k, and then around one of body l.

    Each as ``cylinder_side``, or on the side of its axis on which the whole line is shorter; the one, the other, or both may be
    touched.
    s_i, s_j : the point on each body, from its centre of mass [m]
    s_k, s_l : centre of each cylinder, from the centre of mass of its body [m]
    a_k, a_l : axis of each cylinder, unit vector of its body
    n_k, n_l : from each axis to a side, unit vector of its body across the axis
    first_radius : [m], 0 < radius
    first_length : of the cylinder [m], 0 < length
    first_sided : 1 if the line passes on the side of n_k, 0 if on either side [1], 0 <= sided <= 1
    second_radius : [m], 0 < radius
    second_length : of the cylinder [m], 0 < length
    second_sided : 1 if the line passes on the side of n_l, 0 if on either side [1], 0 <= sided <= 1
    Singular when lines on both sides of an axis are equally short; when an end passes the half plane opposite to a side; when
    the cylinders meet.
    """
    d, start = between(r_i, s_i, r_j, s_j), Vector(0, 0, 0)  # from P_i, from which places are measured
    first = Cylinder(between(r_i, s_i, r_k, s_k), a_k, n_k, first_radius, first_length)
    second = Cylinder(between(r_i, s_i, r_l, s_l), a_l, n_l, second_radius, second_length)
    best: list[Expr] = []
    for one, other in product(_ways(first, d, first_sided, constant), _ways(second, d, second_sided, constant)):
        arrival = constant(_leaving(d, start, other)[0])
        for _ in range(TRIALS):
            # Each end of the line between the cylinders follows from the other one.
            before = arrival
            departure, behind = map(constant, _leaving(start, before, one))
            arrival, ahead = map(constant, _leaving(d, departure, other))
        length = constant(behind - size(before - departure) + ahead)
        found = [length, *one.side, *other.side]
        shorter = constant(step(best[0] * (1 - LONGER) - length)) if best else 1
        best = [constant(a + (b - a) * shorter) for a, b in zip(best or found, found, strict=True)]
    one, other = (
        c._replace(side=stationary(side - c.axis * c.axis.dot(side)))  # which stays across the axis as this turns
        for c, side in ((first, Vector(*best[1:4])), (second, Vector(*best[4:7])))
    )
    arrival, changes = stationary(_leaving(d, start, other)[0]), list[tuple[Vector, Vector]]()
    for _ in range(MEETINGS):
        departure = stationary(_leaving(start, arrival, one)[0])
        place = stationary(_leaving(d, departure, other)[0])
        changes.append((place, place - arrival))
        arrival = place
        for before, change in changes[-2:-1]:  # the places have the changes' secant
            more = changes[-1][1] - change
            arrival = stationary(place - (place - before) * (changes[-1][1].dot(more) / (more.dot(more) + LEAST)))
    return _over(d, stationary((departure + place) / 2), one, other)


def _ways(cylinder: Cylinder, d: Vector, sided: Expr, constant: Operator) -> Iterator[Cylinder]:
    """A cylinder that a line passes on the side of the straight line along d, then on the other one; or twice on its own side."""
    across = cylinder.axis.cross(d)
    nearer = across * (1 - 2 * step(cylinder.centre.dot(across)))
    for side in (nearer, -nearer):
        yield cylinder._replace(side=constant(side + (cylinder.side - side) * step(sided)))


def _nearer(p: Vector, q: Vector, axis: Vector) -> Expr:
    """Angle about an axis from p to q, the shorter way."""
    p, q = axis.cross(p), axis.cross(q)
    return atan2(p.cross(q).dot(axis), p.dot(q))


def _on_side(p: Vector, q: Vector, axis: Vector, side: Vector) -> Expr:
    """Angle about an axis from p to q, without passing the half plane opposite to a side."""
    across = axis.cross(side)
    at_p, at_q = (atan2(v.dot(across), v.dot(side)) for v in (p, q))
    return at_q - at_p


def _unrolled(p: Vector, q: Vector, axis: Vector, angle: Expr, radius: Expr) -> tuple[Sequence[Expr], Expr, Expr, Expr]:
    """The tangents at p and q, how far the line leads across the axis and along it, and whether it touches the infinite cylinder.

    Unrolled, the line is straight.
    """
    outside = [v.dot(v) - radius**2 for v in (axis.cross(p), axis.cross(q))]
    tangents = [sqrt(radius**2 + step(x) * (x - radius**2)) for x in outside]
    arc = size(angle) - sum(atan2(tangent, radius) for tangent in tangents)
    return (
        tangents,
        sum(tangents) + radius * ramp(arc),
        (q - p).dot(axis),
        step(arc) * step(outside[0]) * step(outside[1]),
    )


def _around(d: Vector, p: Vector, q: Vector, axis: Vector, angle: Expr, radius: Expr, length: Expr) -> Expr:
    """Length of the line along d from p to q, measured from the centre of a cylinder, around which it turns by an angle."""
    tangents, across, along, touching = _unrolled(p, q, axis, angle, radius)
    touches = [p.dot(axis) + along * tangents[0] / across, q.dot(axis) - along * tangents[1] / across]
    off = [1 - step((length / 2) ** 2 - z**2) for z in touches]
    return sqrt(d.dot(d) + touching * (1 - off[0] * off[1]) * (across**2 + along**2 - d.dot(d)))


def _over(d: Vector, middle: Vector, one: Cylinder, other: Cylinder) -> Expr:
    """Length of the lines around a cylinder to a place in the middle and on around another one to d."""
    return _past(middle, -one.centre, middle - one.centre, one) + _past(
        d - middle, middle - other.centre, d - other.centre, other
    )


def _past(d: Vector, p: Vector, q: Vector, c: Cylinder) -> Expr:
    """As ``_around``, on the side of a cylinder: this decides on revolutions alone, which do not change with the ends."""
    nearer = _nearer(p, q, c.axis)
    angle = nearer + revolutions(nearer, _on_side(p, q, c.axis, c.side))
    return _around(d, p, q, c.axis, angle, c.radius, c.length)


def _leaving(p: Vector, q: Vector, c: Cylinder) -> tuple[Vector, Expr]:
    """Where the line from p leaves a cylinder for q, p itself where it does not touch the cylinder; and its length."""
    from_p, to_q = p - c.centre, q - c.centre
    angle = _on_side(from_p, to_q, c.axis, c.side)
    tangents, across, along, touching = _unrolled(from_p, to_q, c.axis, angle, c.radius)
    around = c.axis.cross(to_q)
    rim = (around.cross(c.axis) * c.radius - around * (tangents[1] * angle / size(angle))) * (
        c.radius / around.dot(around)
    )
    place = rim + c.axis * (to_q.dot(c.axis) - along * tangents[1] / across)
    straight = (q - p).dot(q - p)
    return p + (place - from_p) * touching, sqrt(straight + touching * (across**2 + along**2 - straight))
