"""Friction in joints: forces as in ``codegen.forces``, which says how a definition is written.

To add one, add a function here and run ``python -m codegen``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codegen.basics import between
from codegen.compiler.calculus import Expr, Vector
from codegen.compiler.force_calculus import ramp, size

Parts = dict[Any, Any]
Operator = Callable[[Any], Any]


def hinge_friction(
    a_i: Vector, omega_i: Vector, omega_j: Vector, friction: Expr, transition_velocity: Expr, damping: Expr
) -> Parts:
    """Dry and viscous friction about the axis of a hinge.

    The dry part is s(w / transition_velocity) times its full moment, with s(x) = 3/2 x - x^3/2 up to x = 1 and then 1.
    a_i : the axis, unit vector of body i
    friction : full moment of dry friction [N m], 0 <= friction
    transition_velocity : [rad/s], 0 < transition_velocity; a hinge that is held turns more slowly than that: 1e-9 for friction
        that sticks, with "radau"
    damping : viscous part [N m s/rad], 0 <= damping
    slip : rate of body j about the axis [rad/s]
    """
    slip = (omega_j - omega_i).dot(a_i)
    return {"dissipation": _dry_friction(slip, friction, transition_velocity, damping), "slip": slip}


def slider_friction(
    r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, friction: Expr, transition_velocity: Expr, damping: Expr,
    coordinate: Operator, rate: Operator,
) -> Parts:  # fmt: skip
    """Dry and viscous friction along the line of a slider.

    The dry part is s(w / transition_velocity) times its full force, with s(x) = 3/2 x - x^3/2 up to x = 1 and then 1.
    s_i, s_j : a point of the line on each body, from its centre of mass [m]
    a_i : the direction of the line, unit vector of body i
    friction : full force of dry friction [N], 0 <= friction
    transition_velocity : [m/s], 0 < transition_velocity; a slider that is held moves more slowly than that: 1e-9 for friction
        that sticks, with "radau"
    damping : viscous part [N s/m], 0 <= damping
    slip : speed of P_j along the line [m/s]
    """
    slip = rate(coordinate(between(r_i, s_i, r_j, s_j).dot(a_i)))
    return {"dissipation": _dry_friction(slip, friction, transition_velocity, damping), "slip": slip}


def journal_friction(
    a_i: Vector, s_j: Vector, omega_i: Vector, omega_j: Vector, reaction_force: Vector, reaction_moment: Vector,
    coefficient: Expr, radius: Expr, thrust_radius: Expr,
    spacing: Expr, transition_velocity: Expr, damping: Expr, normal_load: Operator,
) -> Parts:  # fmt: skip
    """Coulomb's friction in a hinge, by its own reaction: on two journals beside the point P_j, and on a face that takes thrust.

    The moment is s(w / transition_velocity) mu (radius load + thrust_radius thrust), with s(x) = 3/2 x - x^3/2 up to x = 1 and
    then 1.
    a_i : the axis, unit vector of body i
    s_j : the point of the hinge on body j, from its centre of mass [m]
    coefficient : mu [1], 0 <= coefficient
    radius : of the journals [m], 0 <= radius
    thrust_radius : at which the friction of the thrust along the axis acts [m], 0 <= thrust_radius
    spacing : of the journals along the axis, which share force and moment as a beam's ends do [m], 0 < spacing
    transition_velocity : [rad/s], 0 < transition_velocity; a hinge that is held turns more slowly than that: 1e-9 for friction
        that sticks, with "radau"
    damping : viscous part [N m s/rad], 0 <= damping
    slip : rate of body j about the axis [rad/s]
    load : sum of the forces on the journals [N]
    thrust : force on body j along the axis [N]
    """
    slip = (omega_j - omega_i).dot(a_i)
    load = normal_load(_on_two_bearings(a_i, s_j, reaction_force, reaction_moment, spacing))
    thrust = reaction_force.dot(a_i)
    moment = coefficient * (radius * load + normal_load(size(thrust_radius * thrust)))
    return {
        "dissipation": _dry_friction(slip, moment, transition_velocity, damping),
        "slip": slip,
        "load": load,
        "thrust": thrust,
    }


def guide_friction(
    r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, reaction_force: Vector, reaction_moment: Vector,
    coefficient: Expr, spacing: Expr, transition_velocity: Expr,
    damping: Expr, coordinate: Operator, rate: Operator, normal_load: Operator,
) -> Parts:  # fmt: skip
    """Coulomb's friction in a slider, by its own reaction, on two pads at equal distances from the point P_j along the line.

    The force is s(w / transition_velocity) mu load, with s(x) = 3/2 x - x^3/2 up to x = 1 and then 1.  A moment about the line
    is not counted.
    s_i, s_j : a point of the line on each body, from its centre of mass [m]
    a_i : the direction of the line, unit vector of body i
    coefficient : mu [1], 0 <= coefficient
    spacing : of the pads along the line, which share force and moment as a beam's ends do [m], 0 < spacing
    transition_velocity : [m/s], 0 < transition_velocity; a slider that is held moves more slowly than that: 1e-9 for friction
        that sticks, with "radau"
    damping : viscous part [N s/m], 0 <= damping
    slip : speed of P_j along the line [m/s]
    load : sum of the forces on the pads [N]
    """
    slip = rate(coordinate(between(r_i, s_i, r_j, s_j).dot(a_i)))
    load = normal_load(_on_two_bearings(a_i, s_j, reaction_force, reaction_moment, spacing))
    return {
        "dissipation": _dry_friction(slip, coefficient * load, transition_velocity, damping),
        "slip": slip,
        "load": load,
    }


def sleeve_friction(
    r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, omega_i: Vector, omega_j: Vector,
    reaction_force: Vector, reaction_moment: Vector, coefficient: Expr, radius: Expr, spacing: Expr, transition_velocity: Expr,
    coordinate: Operator, rate: Operator, normal_load: Operator,
) -> Parts:  # fmt: skip
    """Coulomb's friction in a cylindrical joint, by its own reaction: on two rings beside P_j, against sliding and turning.

    The friction is s(w / transition_velocity) mu load against the slip w at the radius, with s(x) = 3/2 x - x^3/2 up to x = 1
    and then 1.
    s_i, s_j : a point of the line on each body, from its centre of mass [m]
    a_i : the direction of the line, unit vector of body i
    coefficient : mu [1], 0 <= coefficient
    radius : of the rings [m], 0 <= radius
    spacing : of the rings along the line, which share force and moment as a beam's ends do [m], 0 < spacing
    transition_velocity : [m/s], 0 < transition_velocity; a joint that is held slips more slowly than that: 1e-9 for friction
        that sticks, with "radau"
    sliding : speed of P_j along the line [m/s]
    turning : rate of body j about the line [rad/s]
    load : sum of the forces on the rings [N]
    """
    sliding = rate(coordinate(between(r_i, s_i, r_j, s_j).dot(a_i)))
    turning = (omega_j - omega_i).dot(a_i)
    load = normal_load(_on_two_bearings(a_i, s_j, reaction_force, reaction_moment, spacing))
    slip = transition_velocity * size(Vector(sliding, radius * turning, 0) / transition_velocity)
    return {
        "dissipation": _dry_friction(slip, coefficient * load, transition_velocity, 0),
        "sliding": sliding,
        "turning": turning,
        "load": load,
    }


def _on_two_bearings(a: Vector, s_j: Vector, force: Vector, moment: Vector, spacing: Expr) -> Expr:
    """Sum of the radial forces on two bearings beside P_j, by the reaction on body j and its moment about the centre of mass."""
    moment_at_P = moment - s_j.cross(force)
    half, couple = (force - a * a.dot(force)) / 2, a.cross(moment_at_P) / spacing
    return size(half + couple) + size(half - couple)


def _dry_friction(slip: Expr, friction: Expr, transition_velocity: Expr, damping: Expr) -> Expr:
    """Dissipation function of dry friction that is full from the transition velocity on, and of a linear damper."""
    x = slip / transition_velocity
    beyond = ramp(x - 1), ramp(-x - 1)
    within = x - beyond[0] + beyond[1]  # x, kept between -1 and 1
    return (
        friction * transition_velocity * (3 * within**2 / 4 - within**4 / 8 + beyond[0] + beyond[1])
        + damping / 2 * slip**2
    )
