"""Contact of a sphere with a plane: geometry, laws of the normal force, laws of friction.  Moreira et al. (2011).

The geometry gives the penetration of the sphere and the slip of its lowest point.  A normal law is a potential and a
dissipation function, with the force  f_n = dV/d delta + dR/d delta';  friction is a dissipation function of the slip,
f_t = -dR/d slip.  The force on both bodies follows by virtual power:  Q = -f_n d delta'/d(v, omega) + f_t d slip/d(v, omega).

To add a law, add a function here and run ``python -m codegen``: its arguments after the first two are its parameters and the
keywords of ``Builder.contact``.  The docstring states the unit of each parameter, and its bounds if they are narrower than
"finite, 0 or more".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import atan, log, sqrt

from codegen.basics import between
from codegen.compiler.calculus import Expr, Vector

Parts = dict[str, Any]


def sphere_plane(
    r_i: Vector, s_i: Vector, omega_i: Vector, r_j: Vector, s_j: Vector, n_j: Vector, b_j: Vector, omega_j: Vector,
    radius: Expr, sphere_share: Expr, belt_t: Expr, rate: Callable[[Any], Any],
) -> Parts:  # fmt: skip
    """A sphere of body i against a plane of body j.

    Source: Moreira et al. (2011), Eqs. (1)-(9), with missing signs and rotations added; Sherman, Seth and Delp (2011) for the
    point of contact between two materials that yield.
    s_i : the sphere's centre C, from the centre of mass [m]
    s_j : a point of the plane, from the centre of mass [m]
    n_j : the plane's normal, towards the side of the sphere, unit vector
    b_j : direction of a belt that runs in the plane, unit vector
    radius : of the sphere [m]
    sphere_share : share of the penetration by which the sphere yields [1]; the plane yields by the rest
    belt_t : speed of the belt along b [m/s]
    The force acts at C - (radius - sphere_share penetration) n, the sphere's lowest point where only the plane yields; the slip
    is the relative velocity of the material points there.
    """
    d = between(r_j, s_j, r_i, s_i)
    penetration = radius - d.dot(n_j)
    to_point = (sphere_share * penetration - radius) * n_j
    slip = rate(d) + omega_i.cross(to_point) - omega_j.cross(d + to_point) - belt_t * b_j
    return {"penetration": penetration, "slip": slip - slip.dot(n_j) * n_j, "point": r_i + s_i + to_point}


def kelvin_voigt(delta: Expr, delta_dot: Expr, stiffness: Expr, exponent: Expr, damping: Expr) -> Parts:
    """Spring and damper in parallel, f_n = K delta^n + c delta'.

    Source: Moreira et al. (2011), Eq. (11).
    stiffness : K [N/m^n], 0 < K <= 1e18
    exponent : n [1], 1 <= n <= 10; 1 for the linear spring
    damping : c [N s/m]
    """
    return {
        "potential": stiffness * delta ** (exponent + 1) / (exponent + 1),
        "dissipation": damping / 2 * delta_dot**2,
    }


def hertz(delta: Expr, delta_dot: Expr, stiffness: Expr) -> Parts:
    """Elastic spheres, f_n = K delta^(3/2).

    Source: Moreira et al. (2011), Eq. (10).
    stiffness : K [N/m^1.5], 0 < K <= 1e18; see ``hertz_stiffness``
    """
    return {"potential": 2 * stiffness * delta**2 * sqrt(delta) / 5, "dissipation": 0 * delta_dot}


def hunt_crossley(delta: Expr, delta_dot: Expr, stiffness: Expr, exponent: Expr, loss: Expr) -> Parts:
    """Damping that grows with the penetration, f_n = K delta^n (1 + 3/2 loss delta').

    Source: Hunt and Crossley (1975); Moreira et al. (2011), Eq. (13).
    stiffness : K [N/m^n], 0 < K <= 1e18
    exponent : n [1], 1 <= n <= 10
    loss : [s/m]; restitution is 1 - loss times the speed of touch-down, for small losses; chi of Moreira et al. is 3/2 loss K
    """
    return _hysteresis(delta, delta_dot, stiffness, exponent, 3 * loss / 2)


def lankarani_nikravesh(
    delta: Expr, delta_dot: Expr, stiffness: Expr, exponent: Expr, restitution: Expr, impact: Expr
) -> Parts:
    """f_n = K delta^n (1 + 3 (1 - e^2) delta' / (4 delta'_0)), for restitutions near 1.

    Source: Lankarani and Nikravesh (1990).
    stiffness : K [N/m^n], 0 < K <= 1e18
    exponent : n [1], 1 <= n <= 10
    restitution : e [1], 0 < e <= 1
    impact : speed of touch-down delta'_0 [m/s]
    """
    return _hysteresis(delta, delta_dot, stiffness, exponent, 3 * (1 - restitution**2) / (4 * impact))


def flores(delta: Expr, delta_dot: Expr, stiffness: Expr, exponent: Expr, restitution: Expr, impact: Expr) -> Parts:
    """f_n = K delta^n (1 + 8 (1 - e) delta' / (5 e delta'_0)), for all restitutions.

    Source: Flores et al. (2011).
    stiffness : K [N/m^n], 0 < K <= 1e18
    exponent : n [1], 1 <= n <= 10
    restitution : e [1], 0 < e <= 1
    impact : speed of touch-down delta'_0 [m/s]
    """
    return _hysteresis(delta, delta_dot, stiffness, exponent, 8 * (1 - restitution) / (5 * restitution * impact))


def _hysteresis(delta: Expr, delta_dot: Expr, stiffness: Expr, exponent: Expr, factor: Expr) -> Parts:
    """A damper in proportion to the elastic force: c = factor K delta^n."""
    elastic = stiffness * delta**exponent
    return {"potential": elastic * delta / (exponent + 1), "dissipation": factor * elastic * delta_dot**2 / 2}


def coulomb(slip: Vector, normal_force: Expr, mu_c: Expr, mu_d: Expr, transition_velocity: Expr) -> Parts:
    """Coulomb's friction with a viscous part, f_t = mu_c f_n + mu_d v_t against the slip.

    Source: Moreira et al. (2011), Eq. (14).
    mu_c : coefficient of friction [1]
    mu_d : viscous part [N s/m]
    transition_velocity : [m/s], 0 < transition_velocity; slip above which the friction is Coulomb's;
        below it falls smoothly to zero as  s(x) = 3/2 x - x^3/2
    """
    square = slip.dot(slip)
    drag = mu_d / 2 * square
    return {
        "below": mu_c
        * normal_force
        * (3 * square / (4 * transition_velocity) - square**2 / (8 * transition_velocity**3))
        + drag,
        "above": mu_c * normal_force * sqrt(square) + drag,
    }


def sticking(
    slip: Vector, normal_force: Expr, mu_s: Expr, mu_c: Expr, mu_d: Expr, fading: Expr, transition_velocity: Expr
) -> Parts:
    """Friction that holds a body at rest: up to mu_s f_n below the transition velocity, falling to Coulomb's mu_c f_n above it.

    f_t = (mu_c + (mu_s - mu_c) / (1 + ((v_t - transition_velocity) / fading)^2)) f_n + mu_d v_t
    mu_s : static coefficient of friction [1]
    mu_c : coefficient of friction in motion [1]
    mu_d : viscous part [N s/m]
    fading : slip over which the static part fades [m/s], 0 < fading
    transition_velocity : [m/s], 0 < transition_velocity; the slip of a body that is held is below it, and so small that no
        motion is seen: 1e-9 by default
    """
    square = slip.dot(slip)
    drag, speed = mu_d / 2 * square, sqrt(square)
    static = (mu_s - mu_c) * fading * atan((speed - transition_velocity) / fading)
    return {
        "below": mu_s
        * normal_force
        * (3 * square / (4 * transition_velocity) - square**2 / (8 * transition_velocity**3))
        + drag,
        "above": normal_force * (mu_c * speed + static) + drag,
    }


def stribeck(slip: Vector, normal_force: Expr, mu_s: Expr, mu_c: Expr, mu_v: Expr, transition_velocity: Expr) -> Parts:
    """Friction that is static at the transition velocity, falls to Coulomb's above it, and grows with the slip.

    f_t = (min(x, 1) (mu_c + 2 (mu_s - mu_c) / (1 + x^2)) + mu_v v_t) f_n, with x = v_t / transition_velocity
    Source: Sherman, Seth and Delp (2011), the friction of contacts in Simbody and OpenSim.
    mu_s : static coefficient of friction [1]
    mu_c : coefficient of friction in motion [1]
    mu_v : viscous part, of the normal force [s/m]
    transition_velocity : [m/s], 0 < transition_velocity; a body at rest on a slope slides below it
    """
    square = slip.dot(slip)
    x, drag = sqrt(square) / transition_velocity, mu_v / 2 * square
    slow, fast = mu_c / 2 * x**2 + (mu_s - mu_c) * log(1 + x**2), mu_c * x + 2 * (mu_s - mu_c) * atan(x)
    return {
        "below": normal_force * (transition_velocity * slow + drag),
        "above": normal_force * (transition_velocity * fast + drag),
    }


def smooth(slip: Vector, normal_force: Expr, mu_c: Expr, mu_d: Expr, transition_velocity: Expr) -> Parts:
    """Coulomb's friction in a smooth form for optimisation, f_t = (mu_c f_n / sqrt(v_t^2 + transition_velocity^2) + mu_d) v_t.

    mu_c : coefficient of friction [1]
    mu_d : viscous part [N s/m]
    transition_velocity : [m/s], 0 < transition_velocity; at a slip of v the friction is below Coulomb's by the fraction
        transition_velocity^2 / (2 v^2)
    """
    square = slip.dot(slip)
    whole = mu_c * normal_force * (sqrt(square + transition_velocity**2) - transition_velocity) + mu_d / 2 * square
    return {"below": whole, "above": whole}
