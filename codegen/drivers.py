"""The drivers: constraints that move the bodies by prescribed signals of time.

Written and derived like the joints; an argument ``name_t`` is a signal, known with its first two time derivatives.  To add a
driver, add a function here and run ``python -m codegen``.

The forms of Rodrigues da Silva et al. (n.d.) that are singular within the range of a joint are included as printed, each with a
counterpart that is not: the angle itself in place of its cosine, and the whole turn in place of one Euler parameter.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from codegen.basics import between
from codegen.compiler.calculus import Expr, G, L, Vector

Rows = dict[str, Any]


def guided_point(r_i: Vector, s_i: Vector, x_t: Expr, y_t: Expr, z_t: Expr) -> Rows:
    """Point G of body i follows a prescribed path.

    Source: Rodrigues da Silva et al. (n.d.), Eq. (6).
    s_i : the point, from the centre of mass [m]
    x_t, y_t, z_t : its global coordinates [m]
    Never singular.  The reaction is a force at the point.
    """
    point = r_i + s_i
    return {"x": point.x - x_t, "y": point.y - y_t, "z": point.z - z_t}


def guided_orientation(p_i: Any, e0_t: Expr, e1_t: Expr, e2_t: Expr, e3_t: Expr) -> Rows:
    """Body i has the orientation of the prescribed Euler parameters: 2 G(p*) p = 0, to first order the rotation between them.

    e0_t, e1_t, e2_t, e3_t : Euler parameters p*, scalar first; their sign and length have no influence
    Singular when the body is half a turn away from the prescribed orientation, and nowhere else.  The reaction is a moment.
    """
    return _turned(p_i, sp.Matrix([e0_t, e1_t, e2_t, e3_t]))


def guided_cardan(p_i: Any, alpha_t: Expr, beta_t: Expr, gamma_t: Expr) -> Rows:
    """Body i is turned about its own x axis by alpha, then about its new y axis by beta, then about its new z axis by gamma.

    alpha_t, beta_t, gamma_t : Cardan angles in the order xyz, body-fixed [rad]
    Singular when the body is half a turn away from the prescribed orientation, and nowhere else: the angles are inputs, so
    beta = 90 degrees is regular.  The reaction is a moment.
    """
    target = sp.Matrix([1, 0, 0, 0])
    for axis, angle in enumerate((alpha_t, beta_t, gamma_t)):
        # The product of Euler parameters p q, with q a turn about one of the axes of p's frame.
        target = sp.cos(angle / 2) * target + sp.sin(angle / 2) * L(target).T[:, axis]
    return _turned(p_i, target)


def guided_angle(a_i: Vector, h_i: Vector, b_j: Vector, theta_t: Expr) -> Rows:
    """The angle about the axis h_i from the direction a_i to the direction b_j is theta, in place of its cosine.

    a_i : direction on body i, h_i : axis on body i, unit vectors
    b_j : direction on body j, unit vector;  only the projections perpendicular to the axis matter
    theta_t : angle from a_i to b_j, right-handed about h_i [rad]
    Singular when a_i or b_j is parallel to h_i, and nowhere else.  The reaction is a moment; the multiplier is the moment
    about the axis of a hinge along h_i.
    """
    return {"angle": _angle_from(h_i, a_i, b_j, theta_t)}


def guided_link(r_i: Vector, s_i: Vector, a_i: Vector, h_i: Vector, r_j: Vector, s_j: Vector, beta_t: Expr) -> Rows:
    """The angle about the axis h_i from the direction a_i to the link from P_i to P_j is beta, in place of its cosine.

    s_i, s_j : the ends P_i and P_j of the link, from the centres of mass [m]
    a_i : direction on body i, h_i : axis on body i, unit vectors; only the projection of a_i perpendicular to the axis matters
    beta_t : angle from a_i to the projected link, right-handed about h_i [rad]
    Singular when the link or a_i is parallel to h_i, or the length of the link is zero.  The multiplier is the moment about h_i.
    """
    return {"angle": _angle_from(h_i, a_i, between(r_i, s_i, r_j, s_j), beta_t)}


def guided_distance(r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, l_t: Expr) -> Rows:
    """The distance of the points P_i and P_j is l: a linear actuator, and as a motor a spring and a damper between points.

    s_i, s_j : the points P_i and P_j, from the centres of mass [m]
    l_t : distance [m], above 0
    Singular when the distance is zero.  The reaction is a force along the line P_i P_j; the multiplier is the thrust.
    """
    return {"distance": between(r_i, s_i, r_j, s_j).norm() - l_t}


def guided_slide(r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, x_t: Expr) -> Rows:
    """The distance of P_j from P_i along the direction a_i is x: a slider, and as a motor a force along its line.

    s_i, s_j : the points P_i and P_j, from the centres of mass [m]
    a_i : direction on body i, unit vector
    x_t : distance along a_i, of any sign [m]
    Never singular.  The reaction is a force along a_i at P_j; the multiplier is the thrust.
    """
    return {"distance": between(r_i, s_i, r_j, s_j).dot(a_i) - x_t}


def euler_parameter(p_i: Any, w0: Expr, w1: Expr, w2: Expr, w3: Expr, e_t: Expr) -> Rows:
    """One Euler parameter of body i follows a signal.

    Source: Rodrigues da Silva et al. (n.d.), Eq. (10), as printed.
    See ``guided_orientation`` for a form without these singularities.

    w0, w1, w2, w3 : 1 for the Euler parameter that is guided, 0 for the others
    e_t : its value
    Singular when that Euler parameter is 1 or -1; three of them together when the fourth is 0.
    """
    e0, e1, e2, e3 = p_i
    return {"parameter": w0 * e0 + w1 * e1 + w2 * e2 + w3 * e3 - e_t}


def cosine_of_angle(a_i: Vector, b_j: Vector, theta_t: Expr) -> Rows:
    """The angle between a_i and b_j is theta.

    Source: Rodrigues da Silva et al. (n.d.), Eq. (14), as printed.
    See ``guided_angle`` for a form without these singularities.

    a_i, b_j : directions perpendicular to the axis of the joint, unit vectors
    theta_t : angle [rad]; its sign is lost
    Singular when the angle is 0 or 180 degrees.
    """
    return {"cosine": a_i.dot(b_j) - sp.cos(theta_t)}


def cosine_of_link(r_i: Vector, s_i: Vector, a_i: Vector, h_i: Vector, r_j: Vector, s_j: Vector, beta_t: Expr) -> Rows:
    """The angle between a_i and the projected massless link is beta.

    Source: Rodrigues da Silva et al. (n.d.), Eqs. (18) and (19), as printed.
    s_i, s_j : the ends P_i and P_j of the link, from the centres of mass [m]
    a_i : direction perpendicular to the axis h_i of the joint, unit vectors
    beta_t : angle [rad]; its sign is lost
    Singular when the angle is 0 or 180 degrees (use the driver 'guided_link'), or when the link is parallel to h_i.
    """
    d = between(r_i, s_i, r_j, s_j)
    d_p = d - d.dot(h_i) * h_i
    return {"cosine": a_i.dot(d_p) / d_p.norm() - sp.cos(beta_t)}


def _turned(p: Any, target: Any) -> Rows:
    """2 G(p*) p: zero where p and p* are parallel, to first order the rotation vector from p* to p, in global axes."""
    return {"turn": Vector(*(2 * G(target) * p))}


def _angle_from(h: Vector, a: Vector, b: Vector, theta: Expr) -> Expr:
    """The angle about h from a to b, less theta, between -180 and 180 degrees: its gradient is that of the angle alone."""
    sine = h.dot(a.cross(b))
    cosine = a.dot(b) - a.dot(h) * b.dot(h)
    return sp.atan2(sine * sp.cos(theta) - cosine * sp.sin(theta), cosine * sp.cos(theta) + sine * sp.sin(theta))
