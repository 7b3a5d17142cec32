"""The joints, each as its constraint equation and nothing else.

To add a joint, add a function here and run ``python -m codegen``.  The names of its arguments follow the rules of
``codegen.compiler.calculus``; it returns the rows that vanish, by name.  Everything else is derived.  The sentence
"Singular when ..." of the docstring becomes part of the messages to users.
"""

from __future__ import annotations

from typing import Any

from codegen.basics import Across, between, coaxial, parallel, perpendicular
from codegen.compiler.calculus import Expr, Vector

Rows = dict[str, Any]


def spherical(r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector) -> Rows:
    """Point P_i of body i and point P_j of body j coincide.

    Source: Rodrigues da Silva et al. (2024a), Eq. (2).
    s_i, s_j : the point on each body, from its centre of mass [m]
    Never singular.  The reaction is a force at P.
    """
    return {"point": between(r_i, s_i, r_j, s_j)}


def revolute(r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, a_j: Vector, across: Across) -> Rows:
    """Hinge: P_i and P_j coincide and the axes a_i and a_j stay parallel.

    Source: Rodrigues da Silva et al. (2024a), section 5.
    s_i, s_j : the point on each body, from its centre of mass [m]
    a_i, a_j : the hinge axis on each body, unit vectors
    Never singular.  The reaction is a force at P and a moment perpendicular to the axis.
    """
    tilt_1, tilt_2 = parallel(a_i, a_j, across)
    return {"point": between(r_i, s_i, r_j, s_j), "tilt_1": tilt_1, "tilt_2": tilt_2}


def cylindrical(r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, a_j: Vector, across: Across) -> Rows:
    """Sliding hinge: the line through P_i along a_i and the line through P_j along a_j coincide.

    s_i, s_j : a point of the common line on each body, from its centre of mass [m]
    a_i, a_j : the direction of the line on each body, unit vectors
    Never singular.  The reaction is a force and a moment perpendicular to the line, at P_j.
    """
    return coaxial(between(r_i, s_i, r_j, s_j), a_j, *across(a_i))


def translational(
    r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, a_j: Vector, across: Across, carried: Any
) -> Rows:
    """Slider (prismatic): a cylindrical joint that keeps the angle about its line.

    s_i, s_j : a point of the common line on each body, from its centre of mass [m]
    a_i, a_j : the direction of the line on each body, unit vectors
    Never singular.  The reaction is a force perpendicular to the line and a moment, at P_j.
    """
    b_i, c_i = across(a_i)
    return coaxial(between(r_i, s_i, r_j, s_j), a_j, b_i, c_i) | {"turn": b_i.dot(carried(c_i))}


def universal(r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, a_j: Vector, held: Any) -> Rows:
    """Classical universal (Hooke, Cardan) joint whose axes keep their angle, of any size.

    Source: Rodrigues da Silva et al. (2024a), Eq. (10).
    s_i, s_j : the crossing point P of the axes on each body, from its centre of mass [m]
    a_i, a_j : the axis on each body, unit vectors
    Singular when the axes a_i and a_j are parallel.  The reaction is a force at P and a moment along a_i x a_j.
    """
    return {"point": between(r_i, s_i, r_j, s_j), "axes_angle": held(a_i.dot(a_j))}


def modified_universal(
    r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, a_j: Vector, l: Expr, held: Any, keeps_sign: Any
) -> Rows:
    """Massless link of length l between P_i and P_j, at constant angles to the axes a_i and a_j.

    Source: Rodrigues da Silva et al. (2024a), Eq. (25).
    s_i, s_j : the ends P_i and P_j of the link, from the centres of mass [m]
    a_i, a_j : the hinge axis at each end, unit vectors
    l : length of the link [m], 0 <= l
    Singular when the link is coplanar with the axes a_i and a_j, when the axes are parallel, or when its length is zero
    (use the joint 'universal').  The reaction of a row acts at the ends of the link.
    """
    d = between(r_i, s_i, r_j, s_j)
    keeps_sign(a_i.cross(a_j).dot(d))  # mirrored in the plane of the axes, the link has the same length and angles
    return {
        "link_length": d.dot(d) - l**2,
        "axes_angle": held(a_i.dot(a_j)),
        "link_axis_i": held(a_i.dot(d)),
        "link_axis_j": held(a_j.dot(d)),
    }


def fixed(r_i: Vector, xi_i: Vector, eta_i: Vector, zeta_i: Vector, r_j: Vector, held: Any, carried: Any) -> Rows:
    """Body j keeps its position and orientation relative to body i, or to the ground.

    Source: Rodrigues da Silva et al. (2024a), section 5.
    Takes no data: the relative pose is that of the reference configuration.
    Never singular below a relative turn of 90 degrees.  The reaction is a force and a moment, at the centre of mass of body j.
    """
    d = r_j - r_i
    return {
        "place": Vector(held(xi_i.dot(d)), held(eta_i.dot(d)), held(zeta_i.dot(d))),
        "turn": Vector(eta_i.dot(carried(zeta_i)), zeta_i.dot(carried(xi_i)), xi_i.dot(carried(eta_i))),
    }


def plane_translation(
    r_i: Vector, s_i: Vector, a_i: Vector, b_i: Vector, xi_i: Vector, eta_i: Vector, zeta_i: Vector, r_j: Vector, s_j: Vector,
    carried: Any,
) -> Rows:  # fmt: skip
    """Body j slides along two directions of body i and keeps its orientation: point P_j stays on the plane through P_i.

    s_i, s_j : a point of the plane on each body, from its centre of mass [m]
    a_i, b_i : the directions of the slides, unit vectors
    Singular when a_i and b_i are parallel.  The reaction is a force along the normal of the plane and a moment, at P_j.
    """
    return {"height": a_i.cross(b_i).dot(between(r_i, s_i, r_j, s_j))} | _same_turn(xi_i, eta_i, zeta_i, carried)


def translation(xi_i: Vector, eta_i: Vector, zeta_i: Vector, carried: Any) -> Rows:
    """Body j keeps its orientation relative to body i, or to the ground, and moves in all directions.

    Takes no data: the relative orientation is that of the reference configuration.
    Never singular below a relative turn of 90 degrees.  The reaction is a moment.
    """
    return _same_turn(xi_i, eta_i, zeta_i, carried)


def oblique_translation(a_i: Vector, b_i: Vector, c_i: Vector, carried: Any, held: Any) -> Rows:
    """Body j keeps its orientation relative to body i, and slides along three directions of body i, perpendicular or not.

    a_i, b_i, c_i : the directions of the slides, unit vectors
    Singular when a_i, b_i and c_i lie in a plane.  The reaction is a moment.
    """
    return {
        "turn_a": held(b_i.dot(carried(c_i))), "turn_b": held(c_i.dot(carried(a_i))), "turn_c": held(a_i.dot(carried(b_i))),
    }  # fmt: skip


def _same_turn(xi_i: Vector, eta_i: Vector, zeta_i: Vector, carried: Any) -> Rows:
    """The axes of body i and those that body j carries from the reference configuration stay parallel."""
    return {"turn": Vector(eta_i.dot(carried(zeta_i)), zeta_i.dot(carried(xi_i)), xi_i.dot(carried(eta_i)))}


def constant_angle(a_i: Vector, a_j: Vector, held: Any) -> Rows:
    """The angle between the directions a_i and a_j stays constant.

    Source: Rodrigues da Silva et al. (2024c), Eq. (6).
    a_i, a_j : a direction on each body, unit vectors
    Singular when a_i and a_j are parallel.  The reaction is a moment along a_i x a_j.
    """
    return {"angle": held(a_i.dot(a_j))}


def parallel_axes(a_i: Vector, a_j: Vector, across: Across) -> Rows:
    """The axes a_i and a_j stay parallel: body j turns about the axis and moves in all directions.

    a_i, a_j : the axis on each body, unit vectors
    Never singular.  The reaction is a moment perpendicular to the axis.
    """
    tilt_1, tilt_2 = parallel(a_i, a_j, across)
    return {"tilt_1": tilt_1, "tilt_2": tilt_2}


def constant_distance(r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, l: Expr) -> Rows:
    """Points P_i and P_j stay at the distance l (spherical-spherical link).

    Source: Rodrigues da Silva et al. (2024a), Eq. (20).
    s_i, s_j : the point on each body, from its centre of mass [m]
    l : distance [m], 0 <= l
    Singular when the distance is zero (use the joint 'spherical').  The reaction is a force along the line P_i P_j.
    """
    d = between(r_i, s_i, r_j, s_j)
    return {"distance": d.dot(d) - l**2}


def point_on_line(r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, across: Across) -> Rows:
    """Point P_j stays on the line of body i through P_i along a_i.

    s_i : a point of the line, from the centre of mass of body i [m]
    a_i : direction of the line, unit vector
    s_j : the point, from the centre of mass of body j [m]
    Never singular.  The reaction is a force at P_j, perpendicular to the line.
    """
    offset_1, offset_2 = parallel(a_i, between(r_i, s_i, r_j, s_j), across)
    return {"offset_1": offset_1, "offset_2": offset_2}


def point_on_plane(r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector) -> Rows:
    """Point P_j stays on the plane of body i through P_i with the normal a_i.

    s_i : a point of the plane, from the centre of mass of body i [m]
    a_i : normal of the plane, unit vector
    s_j : the point, from the centre of mass of body j [m]
    Never singular.  The reaction is a force at P_j along the normal.
    """
    (height,) = perpendicular(a_i, between(r_i, s_i, r_j, s_j))
    return {"height": height}
