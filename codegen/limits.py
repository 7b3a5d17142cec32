"""Joint limits: the direction that a cone restrains, and the damper in parallel.

Source: Rodrigues da Silva et al. (2024b, 2024c).

The *reference* body i carries the joint's frame: unit vectors xi, eta, zeta, and the cone of admissible directions about
zeta.  A definition says which ``direction`` u the cone restrains, in that frame, and gives

    direction     u, of unit length: a Vector, or a function of the angle alone
    angle         the reported angle of the joint [rad]
    rate          velocity of the damper [rad/s]
    dissipation   Rayleigh's function R [W]: half the power that the damper dissipates

The restricting potential V(u) belongs to the cone and the law (``codegen.cones``, ``codegen.laws``); the force on the
bodies is derived from both:  Q = -dV/du . du/d(v, omega) - dR/d(v, omega).

To add a kind of limit, add a function here and run ``python -m codegen``.  ``fits`` declares the joints that the limit fits and
the vectors that it borrows from the joint: arguments of these names are the joint's.  The other arguments have fixed names:
u_xi, u_eta, u_zeta the joint's frame, e the direction in the plane of xi and eta perpendicular to the axis of a hinge, to_xi and
to_eta its components, u_r a direction of the moving body, damping.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import atan2, cos, sin, sqrt

from codegen.basics import between
from codegen.compiler.calculus import Expr, Vector
from codegen.compiler.declarations import fits

Limit = dict[str, Any]
Rate = Callable[[Expr], Expr]


def _hinge(angle: Expr, to_xi: Expr, to_eta: Expr, damping: Expr, rate: Rate) -> Limit:
    """One angle: the direction stays in the plane of zeta and e = to_xi xi + to_eta eta, at that angle from zeta."""
    return {
        "direction": lambda angle: Vector(sin(angle) * to_xi, sin(angle) * to_eta, cos(angle)),
        "angle": angle,
        "rate": rate(angle),
        "dissipation": damping / 2 * rate(angle) ** 2,
    }


@fits()
def cone(
    u_xi_i: Vector, u_eta_i: Vector, u_zeta_i: Vector, u_r_j: Vector, omega_i: Vector, omega_j: Vector, damping: Expr
) -> Limit:
    """A direction u_r of the moving body j stays in a cone of body i.

    Source: Rodrigues da Silva et al. (2024b), Eqs. (3)-(7), (34)-(35).
    u_xi_i, u_eta_i, u_zeta_i : the joint's frame, unit vectors of the reference body
    u_r_j : unit vector of the moving body
    damping : on the relative angular velocity [N m s]
    The angle is the latitude; it has no sign.
    """
    u = Vector(u_r_j.dot(u_xi_i), u_r_j.dot(u_eta_i), u_r_j.dot(u_zeta_i))
    turning = omega_j - omega_i
    return {
        "direction": u,
        "angle": atan2(sqrt(u.x**2 + u.y**2), u.z),
        "rate": turning.norm(),
        "dissipation": damping / 2 * turning.dot(turning),
    }


@fits("revolute", "cylindrical", borrows=("a_i", "a_j"))
def hinge(e_i: Vector, u_zeta_i: Vector, u_r_j: Vector, to_xi: Expr, to_eta: Expr, damping: Expr, rate: Rate) -> Limit:
    """The angle of a hinge between two bodies.

    e_i, u_zeta_i : unit vectors of the reference body perpendicular to the axis of the hinge and to each other
    u_r_j : unit vector of the moving body
    to_xi, to_eta : components of e in the joint's frame
    damping : on the rate of the hinge [N m s]
    Positive where u_r turns from zeta towards e.
    """
    angle = atan2(u_r_j.dot(e_i), u_r_j.dot(u_zeta_i))
    return _hinge(angle, to_xi, to_eta, damping, rate)


@fits("modified_universal", borrows=("a_i", "a_j", "s_i", "s_j"), own_direction="the massless link")
def link_hinge(
    r_i: Vector, s_i: Vector, e_i: Vector, u_zeta_i: Vector, r_j: Vector, s_j: Vector,
    to_xi: Expr, to_eta: Expr, damping: Expr, rate: Rate,
) -> Limit:  # fmt: skip
    """The angle of a massless link about the hinge at its end on body i.

    Source: Rodrigues da Silva et al. (2024c), Eqs. (8)-(20).
    s_i, s_j : the ends of the link on each body, from the centres of mass [m]
    e_i, u_zeta_i : unit vectors of the reference body perpendicular to the axis of the hinge and to each other
    to_xi, to_eta : components of e in the joint's frame
    damping : on the rate of the hinge [N m s]
    Positive where the link turns from zeta towards e.  Singular when the link lies along the axis of the hinge.
    """
    d = between(r_i, s_i, r_j, s_j)
    return _hinge(atan2(d.dot(e_i), d.dot(u_zeta_i)), to_xi, to_eta, damping, rate)


@fits("universal", borrows=("a_i", "a_j"))
def cross_hinge(
    a_i: Vector, e_i: Vector, u_zeta_i: Vector, a_j: Vector,
    to_xi: Expr, to_eta: Expr, damping: Expr, held: Any, rate: Rate,
) -> Limit:  # fmt: skip
    """The angle of the cross of a classical universal joint about its axis on body i, zero in the reference configuration.

    a_i, a_j : the joint's axes on the reference body and on the other, unit vectors
    e_i, u_zeta_i : unit vectors of the reference body perpendicular to a_i and to each other
    to_xi, to_eta : components of e in the joint's frame
    damping : on the rate of the hinge [N m s]
    Positive where the cross turns from zeta towards e.  Singular when the axes are parallel.
    """
    normal = a_i.cross(a_j)  # fixed in the cross, perpendicular to a_i
    return _hinge(held(atan2(normal.dot(e_i), normal.dot(u_zeta_i))), to_xi, to_eta, damping, rate)
