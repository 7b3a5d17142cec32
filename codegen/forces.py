"""Forces between bodies: a potential, a dissipation function, and forces along coordinates.

A definition returns by name

    potential     V [J]; the force -dV/d(r, turn) is derived, and V is part of the energy
    dissipation   Rayleigh's function R [W], half the power of a linear damper; the force -dR/d(v, omega) is derived
    forces        a mapping from coordinates to the forces along them: F acts as D^T F, D the derived gradient of the coordinate;
                  or from speeds, linear in the velocities, such as a slip: D is then the derivative by (v, omega)

at least one of the three, and any other names as reported quantities, the attributes of ``run.forces[name]``: scalars, or vectors
in global axes or with components that do not turn with the bodies.  The names of the arguments follow the rules of
``codegen.compiler.calculus``.  ``coordinate(x)`` gives a scalar a name, ``rate(x)`` is its time derivative, and ``along(c)`` the
force along a coordinate, as derived from all three; positive where it increases the coordinate.
``state(name, initial)`` is a state of the force's own, which is integrated with the motion and reported; the mapping ``rates``
from states to their rates is then returned too.  The initial value is 0 if it is left out, or an expression of parameters and of
the reference configuration.
``ramp(x)`` is the positive part of x.  An argument ``*_table`` is a smooth curve through points that the user gives:
``tension_table(x)`` its value, ``tension_table.integral(x)`` its integral from the first point on.  A force that belongs to a
joint (``Builder.force(..., joint=)``) may depend on the reaction of this joint, through ``normal_load(x)``, a size of it.

To add a force, add a function here and run ``python -m codegen``.  The docstring states the unit of each parameter, table and
reported quantity, and bounds where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import Rational, asin, atan2, sqrt, tanh

from codegen.basics import Across, angle_near, between
from codegen.compiler.calculus import Expr, Vector
from codegen.compiler.force_calculus import LEAST, Table, ramp, size, step

Parts = dict[Any, Any]
Operator = Callable[[Any], Any]
Six = tuple[tuple[Expr, Expr, Expr], tuple[Expr, Expr, Expr]]  # of three displacements and three angles


def spring_damper(
    r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, stiffness: Expr, damping: Expr, free_length: Expr,
    coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring and damper in parallel between the points P_i and P_j, tension = k (L - L0) + c L'.

    s_i, s_j : the point on each body, from its centre of mass [m]
    stiffness : k [N/m], 0 <= stiffness
    damping : c [N s/m], 0 <= damping
    free_length : L0 [m], 0 <= free_length
    length : L, the distance of the points [m]
    tension : positive where the points are pulled together [N]
    Singular when the points coincide, unless L0 is 0.
    """
    d = between(r_i, s_i, r_j, s_j)
    length = coordinate(sqrt(d.dot(d) + LEAST * (1 - step(free_length))))  # without L0 smooth where the points coincide
    return {
        "potential": stiffness / 2 * (length - free_length) ** 2,
        "dissipation": damping / 2 * rate(length) ** 2,
        "length": length,
        "tension": -along(length),
    }


def torsional_spring(
    a_i: Vector, stiffness: Expr, damping: Expr, free_angle: Expr,
    across: Across, carried: Operator, coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring and damper about an axis, such as that of a hinge, moment = -k (angle - angle0) - c angle'.

    a_i : the axis, unit vector of body i
    stiffness : k [N m/rad], 0 <= stiffness
    damping : c [N m s/rad], 0 <= damping
    free_angle : angle0 [rad]
    angle : of body j about the axis, zero in the reference configuration [rad]
    moment : on body j about the axis [N m]
    Singular when body j has turned away from the axis by 90 degrees.
    """
    b, c = across(a_i)
    turned = carried(b)
    angle = coordinate(angle_near(turned.dot(b), turned.dot(c), free_angle))
    return _about_axis(angle, free_angle, stiffness / 2 * angle**2, damping, rate, along)


def hinge_spring(
    a_i: Vector, b_i: Vector, c_j: Vector, stiffness: Expr, damping: Expr, free_angle: Expr,
    coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring and damper on an angle between directions, such as either angle of a universal joint.

    The angle is that of the direction c_j about a_i from b_i; moment = -k (angle - angle0) - c angle'.
    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : a direction, unit vector of body j
    stiffness : k [N m/rad], 0 <= stiffness
    damping : c [N m s/rad], 0 <= damping
    free_angle : angle0 [rad]
    angle : in the reference configuration closest to free_angle, but to 2 or -2 where this is further from 0 [rad]
    moment : along the angle [N m]
    Singular when c_j is parallel to a_i.
    """
    angle = coordinate(angle_near(c_j.dot(b_i), c_j.dot(a_i.cross(b_i)), free_angle))
    return _about_axis(angle, free_angle, stiffness / 2 * angle**2, damping, rate, along)


def two_way_spring(
    a_i: Vector, b_i: Vector, c_j: Vector, stiffness: Expr, reverse_stiffness: Expr, damping: Expr, free_angle: Expr,
    coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring whose stiffness differs by direction, and damper, on an angle between directions, which is that of ``hinge_spring``.

    moment = -k (angle - angle0) - c angle', with k the stiffness above angle0 and the reverse stiffness below.
    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : a direction, unit vector of body j
    stiffness : above the free angle [N m/rad], 0 <= stiffness
    reverse_stiffness : below the free angle [N m/rad], 0 <= reverse_stiffness
    damping : c [N m s/rad], 0 <= damping
    free_angle : angle0 [rad]
    angle : in the reference configuration closest to free_angle, but to 2 or -2 where this is further from 0 [rad]
    moment : along the angle [N m]
    Singular when c_j is parallel to a_i.
    """
    angle = coordinate(angle_near(c_j.dot(b_i), c_j.dot(a_i.cross(b_i)), free_angle))
    stored = stiffness / 2 * ramp(angle) ** 2 + reverse_stiffness / 2 * ramp(-angle) ** 2
    return _about_axis(angle, free_angle, stored, damping, rate, along)


def tabulated_hinge_spring(
    a_i: Vector, b_i: Vector, c_j: Vector, moment_table: Table, damping: Expr, free_angle: Expr,
    coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring whose moment is a smooth curve of an angle between directions, that of ``hinge_spring``, with a damper in parallel.

    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : a direction, unit vector of body j
    moment_table : resisting moment over the angle from free_angle, positive where it turns the angle back [N m]
    damping : [N m s/rad], 0 <= damping
    free_angle : zero of the table's angle [rad]
    angle : in the reference configuration closest to free_angle, but to 2 or -2 where this is further from 0 [rad]
    moment : along the angle [N m]
    Singular when c_j is parallel to a_i.
    """
    angle = coordinate(angle_near(c_j.dot(b_i), c_j.dot(a_i.cross(b_i)), free_angle))
    return _about_axis(angle, free_angle, moment_table.integral(angle), damping, rate, along)


def hinge_stop(
    a_i: Vector, b_i: Vector, c_j: Vector, stiffness: Expr, loss: Expr, middle: Expr, half_range: Expr,
    coordinate: Operator, rate: Operator,
) -> Parts:  # fmt: skip
    """Stops at both ends of the range of an angle between directions, which is that of ``hinge_spring``.

    The moment is K d (1 + loss d') towards the range, never away, with the angle d beyond it; Hunt and Crossley (1975).
    a_i : the axis, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : a direction, unit vector of body j
    stiffness : K [N m/rad], 0 <= stiffness
    loss : [s/rad], 0 <= loss
    middle : of the range [rad]
    half_range : from the middle to either stop [rad], 0 <= half_range
    angle : in the reference configuration closest to the middle, but to 2 or -2 where this is further from 0 [rad]
    moment : along the angle [N m]
    Singular when c_j is parallel to a_i.
    """
    angle = coordinate(angle_near(c_j.dot(b_i), c_j.dot(a_i.cross(b_i)), middle))
    above, below = ramp(angle - half_range), ramp(-angle - half_range)
    push = ramp(stiffness * below * (1 - loss * rate(angle))) - ramp(stiffness * above * (1 + loss * rate(angle)))
    return {
        "potential": stiffness / 2 * (above**2 + below**2),
        "forces": {angle: push + stiffness * (above - below)},
        "angle": middle + angle,
        "moment": push,
    }


def slider_spring(
    r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector, stiffness: Expr, damping: Expr, free_distance: Expr,
    coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring and damper along a direction, such as the line of a slider, force = -k (x - x0) - c x'.

    s_i, s_j : the point on each body, from its centre of mass [m]
    a_i : the direction, unit vector of body i
    stiffness : k [N/m], 0 <= stiffness
    damping : c [N s/m], 0 <= damping
    free_distance : x0 [m]
    distance : x, of P_j from P_i along a_i [m]
    force : on body j along a_i [N]
    """
    distance = coordinate(between(r_i, s_i, r_j, s_j).dot(a_i))
    return {
        "potential": stiffness / 2 * (distance - free_distance) ** 2,
        "dissipation": damping / 2 * rate(distance) ** 2,
        "distance": distance,
        "force": along(distance),
    }


def rotational_damper(omega_i: Vector, omega_j: Vector, damping: Expr) -> Parts:
    """Damper of the relative rotation of two bodies, as in a ball joint, moment = -c (omega_j - omega_i).

    damping : c [N m s/rad], 0 <= damping
    rate : of the relative rotation [rad/s]
    """
    relative = omega_j - omega_i
    return {"dissipation": damping / 2 * relative.dot(relative), "rate": size(relative)}


def bushing(
    r_i: Vector, s_i: Vector, xi_i: Vector, eta_i: Vector, zeta_i: Vector, r_j: Vector, s_j: Vector,
    k_xi: Expr, k_eta: Expr, k_zeta: Expr, c_xi: Expr, c_eta: Expr, c_zeta: Expr,
    kt_xi: Expr, kt_eta: Expr, kt_zeta: Expr, ct_xi: Expr, ct_eta: Expr, ct_zeta: Expr,
    carried: Operator, coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Springs and dampers in six directions along the axes of body i: three displacements and three angles.

    s_i, s_j : the point on each body, from its centre of mass [m]
    k_xi : stiffness along xi [N/m], 0 <= k_xi
    k_eta : stiffness along eta [N/m], 0 <= k_eta
    k_zeta : stiffness along zeta [N/m], 0 <= k_zeta
    c_xi : damping along xi [N s/m], 0 <= c_xi
    c_eta : damping along eta [N s/m], 0 <= c_eta
    c_zeta : damping along zeta [N s/m], 0 <= c_zeta
    kt_xi : stiffness about xi [N m/rad], 0 <= kt_xi
    kt_eta : stiffness about eta [N m/rad], 0 <= kt_eta
    kt_zeta : stiffness about zeta [N m/rad], 0 <= kt_zeta
    ct_xi : damping about xi [N m s/rad], 0 <= ct_xi
    ct_eta : damping about eta [N m s/rad], 0 <= ct_eta
    ct_zeta : damping about zeta [N m s/rad], 0 <= ct_zeta
    displacement : from P_i to P_j along xi, eta, zeta [m]
    angles : Cardan angles xi, eta, zeta of body j relative to body i, zero in the reference configuration [rad]
    force : on body j at P_j along xi, eta, zeta [N]
    moment : along the three angles [N m]
    Singular when the second angle is 90 degrees.
    """
    axes_i = (xi_i, eta_i, zeta_i)
    return _between_frames(
        between(r_i, s_i, r_j, s_j), axes_i, tuple(carried(axis) for axis in axes_i),
        ((k_xi, k_eta, k_zeta), (kt_xi, kt_eta, kt_zeta)), ((c_xi, c_eta, c_zeta), (ct_xi, ct_eta, ct_zeta)),
        coordinate, rate, along,
    )  # fmt: skip


def frame_bushing(
    r_i: Vector, s_i: Vector, a_i: Vector, b_i: Vector, r_j: Vector, s_j: Vector, a_j: Vector, b_j: Vector,
    kx: Expr, ky: Expr, kz: Expr, cx: Expr, cy: Expr, cz: Expr,
    ktx: Expr, kty: Expr, ktz: Expr, ctx: Expr, cty: Expr, ctz: Expr,
    coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Springs and dampers between a frame on body i and one on body j: three displacements and three angles, as in OpenSim.

    s_i, s_j : origin of the frame on each body, from its centre of mass [m]
    a_i, a_j : x axis of the frame on each body, unit vector
    b_i, b_j : y axis of the frame on each body, unit vector across the x axis
    kx : stiffness along x of frame i [N/m], 0 <= kx
    ky : stiffness along y [N/m], 0 <= ky
    kz : stiffness along z [N/m], 0 <= kz
    cx : damping along x [N s/m], 0 <= cx
    cy : damping along y [N s/m], 0 <= cy
    cz : damping along z [N s/m], 0 <= cz
    ktx : stiffness of the first angle [N m/rad], 0 <= ktx
    kty : stiffness of the second angle [N m/rad], 0 <= kty
    ktz : stiffness of the third angle [N m/rad], 0 <= ktz
    ctx : damping of the first angle [N m s/rad], 0 <= ctx
    cty : damping of the second angle [N m s/rad], 0 <= cty
    ctz : damping of the third angle [N m s/rad], 0 <= ctz
    displacement : from P_i to P_j along x, y, z of frame i [m]
    angles : about x, y, z, body-fixed, that turn frame i into frame j [rad]
    force : on body j at P_j along x, y, z of frame i [N]
    moment : along the three angles [N m]
    Singular when the second angle is 90 degrees.
    """
    return _between_frames(
        between(r_i, s_i, r_j, s_j), (a_i, b_i, a_i.cross(b_i)), (a_j, b_j, a_j.cross(b_j)),
        ((kx, ky, kz), (ktx, kty, ktz)), ((cx, cy, cz), (ctx, cty, ctz)), coordinate, rate, along,
    )  # fmt: skip


def _between_frames(
    d: Vector, axes_i: Sequence[Vector], axes_j: Sequence[Vector], stiffness: Six, damping: Six,
    coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Springs and dampers on the displacement d along axes of body i, and on the body-fixed angles of axes of body j in these."""
    (x_i, y_i, z_i), (x_j, y_j, z_j) = axes_i, axes_j
    displacement = coordinate(Vector(*(d.dot(axis) for axis in axes_i)))
    angles = coordinate(
        Vector(atan2(-z_j.dot(y_i), z_j.dot(z_i)), asin(z_j.dot(x_i)), atan2(-y_j.dot(x_i), x_j.dot(x_i)))
    )
    springs, dampers = (tuple(zip((displacement, angles), of, strict=True)) for of in (stiffness, damping))
    return {
        "potential": sum(k / 2 * c**2 for q, own in springs for c, k in zip(q, own, strict=True)),
        "dissipation": sum(k / 2 * rate(c) ** 2 for q, own in dampers for c, k in zip(q, own, strict=True)),
        "displacement": displacement,
        "angles": angles,
        "force": along(displacement),
        "moment": along(angles),
    }


def stop(
    r_i: Vector, s_i: Vector, a_i: Vector, r_j: Vector, s_j: Vector,
    stiffness: Expr, exponent: Expr, loss: Expr, clearance: Expr, coordinate: Operator, rate: Operator,
) -> Parts:  # fmt: skip
    """One-sided stop: body j is pushed along a_i where its point P_j comes nearer to P_i along a_i than the clearance.

    The force is K d^n (1 + loss d'), never a pull, with the depth d beyond the stop; Hunt and Crossley (1975).
    s_i, s_j : the point on each body, from its centre of mass [m]
    a_i : direction in which the stop pushes body j, unit vector of body i
    stiffness : K [N/m^n], 0 < stiffness <= 1e18
    exponent : n [1], 1 <= exponent <= 10; 1 for the linear spring
    loss : [s/m], 0 <= loss; restitution is about 1 - 2/3 loss times the speed of impact, for small losses
    clearance : distance along a_i at which the stop is met [m]
    distance : of P_j from P_i along a_i [m]
    push : [N]
    """
    distance = coordinate(between(r_i, s_i, r_j, s_j).dot(a_i))
    depth = ramp(clearance - distance)
    elastic = stiffness * depth**exponent
    push = ramp(elastic * (1 - loss * rate(distance)))
    return {
        "potential": stiffness * depth ** (exponent + 1) / (exponent + 1),
        "forces": {distance: push - elastic},
        "distance": distance,
        "push": push,
    }


def smooth_contact(
    r_i: Vector, s_i: Vector, omega_i: Vector, r_j: Vector, s_j: Vector, n_j: Vector, omega_j: Vector,
    radius: Expr, stiffness: Expr, loss: Expr, static_friction: Expr, dynamic_friction: Expr, viscous_friction: Expr,
    transition_velocity: Expr, rounding: Expr, hertz_smoothing: Expr, loss_smoothing: Expr, coordinate: Operator, rate: Operator,
) -> Parts:  # fmt: skip
    """Contact of a sphere with a plane without modes, for optimisation; its friction has one kink, at the transition velocity.

    A small force acts before the sphere touches.

    push = s(hertz_smoothing d) K (d^2 + c)^(3/4) b s(loss_smoothing (d' + 2 / (3 loss))), with b = 1 + 3/2 loss d' and
    s(x) = (1 + tanh x) / 2; friction = (min(x, 1) (mu_d + 2 (mu_s - mu_d) / (1 + x^2)) + mu_v v) push slip / v, with
    v = sqrt(slip^2 + c) and x = v / transition_velocity.  Both act midway between the undeformed surfaces.
    Source: SmoothSphereHalfSpaceForce of Simbody (Serrancoli et al. 2019).
    s_i : the sphere's centre C, from the centre of mass [m]
    s_j : a point of the plane, from the centre of mass [m]
    n_j : the plane's normal, towards the sphere, unit vector of body j
    radius : of the sphere [m], 0 < radius
    stiffness : K [N/m^1.5], 0 < stiffness <= 1e18
    loss : [s/m], 0 < loss
    static_friction : mu_s [1], 0 <= static_friction
    dynamic_friction : mu_d [1], 0 <= dynamic_friction
    viscous_friction : mu_v, in units of the push [s/m], 0 <= viscous_friction
    transition_velocity : [m/s], 0 < transition_velocity
    rounding : c, added to the squares of penetration and slip [1], 0 < rounding
    hertz_smoothing : [1/m], 0 < hertz_smoothing
    loss_smoothing : [s/m], 0 < loss_smoothing
    depth : d, penetration of the sphere [m]
    push : [N]
    """
    d = between(r_j, s_j, r_i, s_i)
    depth = coordinate(radius - d.dot(n_j))
    to_point = (depth / 2 - radius) * n_j
    slip = rate(d) + omega_i.cross(to_point) - omega_j.cross(d + to_point)
    slip = slip - slip.dot(n_j) * n_j
    deeper = rate(depth)
    elastic = stiffness * (depth**2 + rounding) ** Rational(3, 4) * _switched(hertz_smoothing * depth)
    push = elastic * (1 + 3 * loss * deeper / 2) * _switched(loss_smoothing * (deeper + 2 / (3 * loss)))
    speed = sqrt(slip.dot(slip) + rounding)
    x = speed / transition_velocity
    share = (x - ramp(x - 1)) * (
        dynamic_friction + 2 * (static_friction - dynamic_friction) / (1 + x**2)
    ) + viscous_friction * speed
    return {"forces": {depth: -push, slip: -share * push / speed * slip}, "depth": depth, "push": push}


def _switched(x: Expr) -> Expr:
    """A smooth step from 0 to 1."""
    return (1 + tanh(x)) / 2


def cable(
    r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, stiffness: Expr, loss: Expr, slack_length: Expr,
    coordinate: Operator, rate: Operator,
) -> Parts:  # fmt: skip
    """Elastic cable between the points P_i and P_j, without force where it is slack.

    tension = k e (1 + loss e') with the extension e, never a push.
    s_i, s_j : the point on each body, from its centre of mass [m]
    stiffness : k [N/m], 0 <= stiffness
    loss : [s/m], 0 <= loss
    slack_length : [m], 0 <= slack_length
    length : distance of the points [m]
    tension : [N]
    Singular when the points coincide.
    """
    return _cable(coordinate(between(r_i, s_i, r_j, s_j).norm()), stiffness, loss, slack_length, rate)


def ligament(
    r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, stiffness: Expr, toe_strain: Expr, slack_length: Expr,
    coordinate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Ligament between the points P_i and P_j: a quadratic toe region, then linear, without force where it is slack.

    tension = k e^2 / (4 e_l) up to the strain 2 e_l, then k (e - e_l), with the strain e = L / L0 - 1.
    Source: Blankevoort and Huiskes (1991).
    s_i, s_j : the point on each body, from its centre of mass [m]
    stiffness : k, force for each unit of strain in the linear region [N], 0 <= stiffness
    toe_strain : e_l, half of the strain at which the toe region ends [1], 0 < toe_strain
    slack_length : L0 [m], 0 < slack_length
    length : L, the distance of the points [m]
    strain : e [1]
    tension : [N]
    Singular when the points coincide.
    """
    length = coordinate(between(r_i, s_i, r_j, s_j).norm())
    return _ligament(length, stiffness, toe_strain, slack_length, along)


def link_ligament(
    s_i: Vector, s_hinge_i: Vector, a_i: Vector, a_j: Vector, along_first: Expr, along_second: Expr, along_normal: Expr,
    stiffness: Expr, toe_strain: Expr, slack_length: Expr, coordinate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Ligament from a point of body i to a point Q of the massless link of a universal joint; law of ``ligament``.

    The link is no body, but both axes are fixed in it, so Q = H_i + x a_i + y a_j + z (a_i x a_j).  A massless link passes
    on what acts on it at Q to both bodies, through the hinges: as a couple.
    s_i : the attachment on body i, from its centre of mass [m]
    s_hinge_i : H_i, a point of the hinge axis on body i, from its centre of mass [m]
    a_i, a_j : the axis of the joint on each body, unit vectors
    along_first : x, of Q from H_i along a_i [m]
    along_second : y, along a_j [m]
    along_normal : z, along a_i x a_j [m]
    stiffness : k, force for each unit of strain in the linear region [N], 0 <= stiffness
    toe_strain : e_l, half of the strain at which the toe region ends [1], 0 < toe_strain
    slack_length : L0 [m], 0 < slack_length
    length : L, the distance of both attachments [m]
    strain : e [1]
    tension : [N]
    span : from the attachment on body i to Q, in global axes [m]
    Singular when the attachments coincide.
    """
    in_link = along_first * a_i + along_second * a_j + along_normal * a_i.cross(a_j)
    span = s_hinge_i + in_link - s_i
    return _ligament(coordinate(span.norm()), stiffness, toe_strain, slack_length, along) | {"span": span}


def windlass(
    a_i: Vector, b_i: Vector, c_j: Vector, neutral_length: Expr, radius: Expr,
    stiffness: Expr, toe_strain: Expr, slack_length: Expr, coordinate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Ligament of body i that winds around a hinge and ends on body j: L = neutral_length + radius angle; law of ``ligament``.

    a_i : the axis of the hinge about which a positive angle tightens it, unit vector of body i
    b_i : a direction across the axis, unit vector of body i
    c_j : the direction of body j that is parallel to b_i at the angle 0, unit vector
    neutral_length : at the angle 0 [m], 0 < neutral_length
    radius : of the hinge's drum [m], 0 <= radius
    stiffness : k, force for each unit of strain in the linear region [N], 0 <= stiffness
    toe_strain : e_l, half of the strain at which the toe region ends [1], 0 < toe_strain
    slack_length : L0 [m], 0 < slack_length
    length : L [m]
    strain : e [1]
    tension : [N]
    Singular when c_j is parallel to a_i.
    """
    length = coordinate(neutral_length + radius * atan2(c_j.dot(a_i.cross(b_i)), c_j.dot(b_i)))
    return _ligament(length, stiffness, toe_strain, slack_length, along)


def tendon(
    r_i: Vector, s_i: Vector, r_k: Vector, s_k: Vector, r_l: Vector, s_l: Vector, r_j: Vector, s_j: Vector,
    stiffness: Expr, loss: Expr, slack_length: Expr, coordinate: Operator, rate: Operator,
) -> Parts:  # fmt: skip
    """Elastic tendon from P_i over P_k and P_l to P_j, without friction on the way and without force where it is slack.

    tension = k e (1 + loss e') with the extension e, never a push.  Bodies k and l may be any, also i, j or the ground.
    s_i, s_j : its ends, from the centres of mass [m]
    s_k, s_l : the points that it runs over, from the centres of mass [m]
    stiffness : k [N/m], 0 <= stiffness
    loss : [s/m], 0 <= loss
    slack_length : [m], 0 <= slack_length
    length : along the path [m]
    tension : [N]
    Singular when neighbouring points coincide.
    """
    length = coordinate(_path((r_i, s_i), (r_k, s_k), (r_l, s_l), (r_j, s_j)))
    return _cable(length, stiffness, loss, slack_length, rate)


def tabulated_spring(
    r_i: Vector, s_i: Vector, r_j: Vector, s_j: Vector, tension_table: Table, damping: Expr,
    coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Spring between the points P_i and P_j whose tension is a smooth curve of their distance, with a damper in parallel.

    s_i, s_j : the point on each body, from its centre of mass [m]
    tension_table : tension over length [N]
    damping : [N s/m], 0 <= damping
    length : distance of the points [m]
    tension : [N]
    Singular when the points coincide.
    """
    return _tabulated(coordinate(between(r_i, s_i, r_j, s_j).norm()), tension_table, damping, rate, along)


def tabulated_tendon(
    r_i: Vector, s_i: Vector, r_k: Vector, s_k: Vector, r_l: Vector, s_l: Vector, r_j: Vector, s_j: Vector,
    tension_table: Table, damping: Expr, coordinate: Operator, rate: Operator, along: Operator,
) -> Parts:  # fmt: skip
    """Tendon whose tension is a smooth curve of its length, with a damper in parallel; path as of ``tendon``.

    s_i, s_j : its ends, from the centres of mass [m]
    s_k, s_l : the points that it runs over, from the centres of mass [m]
    tension_table : tension over length [N]
    damping : [N s/m], 0 <= damping
    length : along the path [m]
    tension : [N]
    Singular when neighbouring points coincide.
    """
    length = coordinate(_path((r_i, s_i), (r_k, s_k), (r_l, s_l), (r_j, s_j)))
    return _tabulated(length, tension_table, damping, rate, along)


def _about_axis(
    angle: Expr, free_angle: Expr, potential: Expr, damping: Expr, rate: Operator, along: Operator
) -> Parts:
    """A potential and a damper on an angle that is less by ``free_angle``."""
    return {
        "potential": potential,
        "dissipation": damping / 2 * rate(angle) ** 2,
        "angle": free_angle + angle,
        "moment": along(angle),
    }


def _ligament(length: Expr, stiffness: Expr, toe_strain: Expr, slack_length: Expr, along: Operator) -> Parts:
    """Tension along a length by the law of Blankevoort and Huiskes (1991)."""
    strain = length / slack_length - 1
    return {
        "potential": stiffness
        * slack_length
        * (ramp(strain) ** 3 - ramp(strain - 2 * toe_strain) ** 3)
        / (12 * toe_strain),
        "length": length,
        "strain": strain,
        "tension": -along(length),
    }


def _path(*points: tuple[Vector, Vector]) -> Expr:
    """Length of the path over points, each a centre of mass and a vector from it."""
    return sum(between(*a, *b).norm() for a, b in zip(points, points[1:], strict=False))


def _cable(length: Expr, stiffness: Expr, loss: Expr, slack_length: Expr, rate: Operator) -> Parts:
    """Tension along a length, linear in the extension beyond the slack length."""
    extension = ramp(length - slack_length)
    tension = ramp(stiffness * extension * (1 + loss * rate(length)))
    return {
        "potential": stiffness / 2 * extension**2,
        "forces": {length: stiffness * extension - tension},
        "length": length,
        "tension": tension,
    }


def _tabulated(length: Expr, table: Table, damping: Expr, rate: Operator, along: Operator) -> Parts:
    """Tension along a length by a table, and a damper."""
    return {
        "potential": table.integral(length),
        "dissipation": damping / 2 * rate(length) ** 2,
        "length": length,
        "tension": -along(length),
    }
