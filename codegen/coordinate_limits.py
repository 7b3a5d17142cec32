"""Limits of coordinates as forces, which act smoothly: a spring and a damper beyond a range, or a moment along the whole range.

The definitions follow the rules of ``codegen.forces``.
"""

from __future__ import annotations

from typing import Any

from sympy import exp

from codegen.basics import angle_near, between
from codegen.compiler.calculus import Expr, Vector
from codegen.compiler.force_calculus import ramp
from codegen.forces import Operator, Parts


def hinge_limit(
    a_i: Vector, b_i: Vector, c_j: Vector, upper_stiffness: Expr, lower_stiffness: Expr, damping: Expr, transition: Expr,
    middle: Expr, half_range: Expr, coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring and damper beyond either end of the range of an angle between directions, which is that of ``hinge_spring``.

    The moment is s (K d + c d') with the angle d beyond an end; s = 10 x^3 - 15 x^4 + 6 x^5, x = d / T, grows to 1 over the
    transition T.  Source: CoordinateLimitForce of OpenSim (Delp et al. 2007).
    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : a direction, unit vector of body j
    upper_stiffness : K above the range [N m/rad], 0 <= upper_stiffness
    lower_stiffness : K below it [N m/rad], 0 <= lower_stiffness
    damping : c [N m s/rad], 0 <= damping
    transition : T [rad], 1e-6 <= transition
    middle : of the range [rad]
    half_range : from the middle to either end [rad], 0 <= half_range
    angle : in the reference configuration closest to the middle, but to 2 or -2 where this is further from 0 [rad]
    moment : along the angle [N m]
    Singular when c_j is parallel to a_i.
    """
    angle = coordinate(angle_near(c_j.dot(b_i), c_j.dot(a_i.cross(b_i)), middle))
    ends = (upper_stiffness, angle - half_range), (lower_stiffness, -angle - half_range)
    return {**_limited(angle, ends, damping, transition, rate), "angle": middle + angle, "moment": along(angle)}


def slider_limit(
    r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, upper_stiffness: Expr, lower_stiffness: Expr,
    damping: Expr, transition: Expr, middle: Expr, half_range: Expr, coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring and damper beyond either end of the range of a distance along a direction, by the law of ``hinge_limit``.

    s_i, s_j : the point on each body, from its centre of mass [m]
    a_i : the direction, unit vector of body i
    upper_stiffness : K above the range [N/m], 0 <= upper_stiffness
    lower_stiffness : K below it [N/m], 0 <= lower_stiffness
    damping : c [N s/m], 0 <= damping
    transition : T [m], 1e-6 <= transition
    middle : of the range [m]
    half_range : from the middle to either end [m], 0 <= half_range
    distance : of P_j from P_i along a_i [m]
    force : on body j along a_i [N]
    """
    distance = coordinate(between(r_i, s_i, r_j, s_j).dot(a_i) - middle)
    ends = (upper_stiffness, distance - half_range), (lower_stiffness, -distance - half_range)
    return {
        **_limited(distance, ends, damping, transition, rate),
        "distance": middle + distance,
        "force": along(distance),
    }


def hinge_exponential(
    a_i: Vector, b_i: Vector, c_j: Vector, upper_moment: Expr, upper_rate: Expr, upper_angle: Expr, lower_moment: Expr,
    lower_rate: Expr, lower_angle: Expr, damping: Expr, coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Passive moment of a joint on an angle between directions, which is that of ``hinge_spring``: two exponentials and a damper.

    moment = k1 exp(-k2 (angle - angle2)) - k3 exp(k4 (angle - angle1)) - c angle', along the whole range: there is no edge.
    Source: the data and programs of Falisse et al. (2019), after Anderson and Pandy (1999).  Rodrigues da Silva et al. (2024b)
    name Yamaguchi (2006) and Nasr et al. (2023), who takes the approach of the former, for such moments.
    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : a direction, unit vector of body j
    upper_moment : k3, against the angle at its upper_angle [N m], 0 <= upper_moment
    upper_rate : k4 [1/rad], 0 < upper_rate
    upper_angle : angle1 [rad]
    lower_moment : k1, along the angle at its lower_angle [N m], 0 <= lower_moment
    lower_rate : k2 [1/rad], 0 < lower_rate
    lower_angle : angle2 [rad]
    damping : c [N m s/rad], 0 <= damping
    angle : in the reference configuration closest to the middle of upper_angle and lower_angle [rad]
    moment : along the angle [N m]
    Singular when c_j is parallel to a_i.
    """
    middle = (upper_angle + lower_angle) / 2
    turned = coordinate(angle_near(c_j.dot(b_i), c_j.dot(a_i.cross(b_i)), middle))
    angle = middle + turned
    upper = upper_moment / upper_rate * exp(upper_rate * (angle - upper_angle))
    lower = lower_moment / lower_rate * exp(-lower_rate * (angle - lower_angle))
    return {
        "potential": upper + lower,
        "dissipation": damping / 2 * rate(turned) ** 2,
        "angle": angle,
        "moment": along(turned),
    }


def _limited(x: Expr, ends: Any, damping: Expr, transition: Expr, rate: Operator) -> Parts:
    """Potential and dissipation beyond a range of a coordinate, with a stiffness and the way beyond each end."""
    potential = held = 0
    for k, way in ends:
        part = ramp(way) / transition - ramp(way / transition - 1)  # of the transition, at most 1
        beyond = ramp(way - transition)
        work = transition**2 * (2 * part**5 - 5 * part**6 / 2 + 6 * part**7 / 7)
        potential += k * (work + beyond**2 / 2 + beyond * transition)
        held += part**3 * (10 - 15 * part + 6 * part**2)
    return {"potential": potential, "dissipation": damping / 2 * held * rate(x) ** 2}
