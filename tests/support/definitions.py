"""Definitions beside those of the repository: signals, joints with the ground, Euler parameters, roots."""

import inspect
from functools import cache

import sympy as sp

from codegen import Vector, compile_joint, drivers, joints
from codegen.compiler.dispatch import definitions
from tests.support.modules import JOINT_MODULES


def driven_distance(r_i, s_i, r_j, s_j, l_t):
    """The distance of P_i and P_j is the prescribed l_t [m]."""
    d = r_j + s_j - r_i - s_i
    return {"distance": d.dot(d) - l_t * l_t}


def driven_stretch(r_i, s_i, r_j, s_j, l, f_t):
    """The distance of P_i and P_j is f_t times l [m]."""
    d = r_j + s_j - r_i - s_i
    return {"stretch": d.dot(d) - (l * f_t) * (l * f_t)}


def driven_slide(r_i, s_i, a_i, b_i, r_j, s_j, u_t, w_t):
    """P_j is at the prescribed coordinates u_t and w_t [m] along two directions of body i; products of signals too."""
    d = r_j + s_j - r_i - s_i
    return {"along": a_i.dot(d) - u_t, "product": b_i.dot(d) * u_t - w_t * w_t}


def driven_angle(a_i, a_j, theta_t):
    """The angle between two directions is the prescribed theta_t [rad]."""
    return {"angle": a_i.dot(a_j) - sp.cos(theta_t)}


def ground_point(r_i, s_i, X, Y, Z):
    """Point P_i stays at X, Y, Z [m] of the ground."""
    return {"point": r_i + s_i - Vector(X, Y, Z)}


def driven_ground_point(r_i, s_i, X_t, Y_t, Z_t):
    """Point P_i follows a prescribed path [m]."""
    return {"point": r_i + s_i - Vector(X_t, Y_t, Z_t)}


def kept_euler_parameter(p_i, c):
    """The Euler parameter e1 of body i keeps the value c."""
    return {"e1": p_i[1] - c}


def driven_euler_parameters(p_i, e_t):
    """A product of Euler parameters of body i is prescribed."""
    return {"e1": p_i[1] - e_t, "e0e3": p_i[0] * p_i[3] - e_t * e_t}


def rod_angle(r_i, s_i, r_j, s_j, a_j, held):
    """The line P_i P_j keeps its angle to a_j: a quotient with a root."""
    d = r_j + s_j - r_i - s_i
    return {"angle": held(a_j.dot(d) / d.norm())}


def relative_distance(r_i, s_i, r_j, s_j, l):
    """The distance of P_i and P_j is l [m], as a pure number: a quotient by a square."""
    d = r_j + s_j - r_i - s_i
    return {"ratio": d.dot(d) / l**2 - 1}


def carried_unit(a_i, b_i, carried):
    """A root that occurs in what is carried only."""
    return {"turn": b_i.dot(carried(a_i / a_i.norm()))}


def nested(r_i, s_i, a_i, r_j, s_j, b_j, l, c_t, w_t):
    """Functions in functions, roots in them, below fraction bars, with signals outside and inside.  l is a length."""
    d, cosine = r_j + s_j - r_i - s_i, a_i.dot(b_j)
    root, slope = sp.sqrt(l * l + d.dot(d) * (1 + c_t * c_t)), a_i.dot(d) / d.norm()
    outer = sp.sin(sp.atan2(cosine + 2 * slope, 3 + slope * w_t) + c_t * cosine)
    return {
        "nested": outer + slope / (2 + slope * slope),
        "rooted": sp.exp(slope - sp.sqrt(2 + cosine)) * w_t + d.dot(d) / root / (root + l),
    }


def named(name, function, doc="A definition."):
    """A function of a table, such as a lambda, as a definition with a name and a docstring."""
    function.__name__, function.__doc__ = name, doc
    return function


OWN = (
    driven_stretch,
    driven_angle,
    ground_point,
    kept_euler_parameter,
    driven_euler_parameters,
    rod_angle,
    driven_distance,
    driven_slide,
    driven_ground_point,
    relative_distance,
    carried_unit,
    nested,
)
JOINTS, DRIVERS = ([f.__name__ for f in definitions(module)] for module in (joints, drivers))
GENERATED = JOINTS + DRIVERS
DEFINITIONS = {f.__name__: f for f in (*definitions(joints), *definitions(drivers), *OWN)}


def bodies_of(name):
    """Bodies that a definition speaks of."""
    arguments = inspect.signature(DEFINITIONS[name]).parameters
    named = {argument[-1] for argument in arguments if argument[-2:] in ("_i", "_j")}
    return named | {"j"} if "carried" in arguments else named


@cache
def module_of(name):
    return {m.NAME: m for m in JOINT_MODULES}.get(name) or compile_joint(DEFINITIONS[name])
