"""Limits and contacts that break a rule are refused by name, and their nearest right definitions are derived."""

import pytest
import sympy as sp

from codegen import DefinitionError, Vector
from codegen.compiler.contact_forces import derive_contact
from codegen.compiler.limit_forces import derive_limit
from tests.support.definitions import named
from tests.support.refusals import refused_with


def angle_of(u_xi_i, u_zeta_i, u_r_j):
    return sp.atan2(u_r_j.dot(u_xi_i), u_r_j.dot(u_zeta_i))


def in_plane(angle):
    return Vector(sp.sin(angle), 0, sp.cos(angle))


def parts(angle, rate, damping, direction=in_plane):
    return {"direction": direction, "angle": angle, "rate": rate(angle), "dissipation": damping / 2 * rate(angle) ** 2}


KEYS = "must return direction, angle, rate, dissipation by name"
ABS = "uses the function 'Abs', which is not smooth"
NO_DIRECTION = "the direction must be a Vector, or a function of the angle that returns one"
# Name -> a limit, and what it is told; c is a damping.
LIMITS = {
    "without_dissipation": (
        lambda u_xi_i, u_zeta_i, u_r_j, rate: {
            "direction": in_plane, "angle": (a := angle_of(u_xi_i, u_zeta_i, u_r_j)), "rate": rate(a),
        },
        KEYS,
    ),
    "with_a_torque": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c) | {"torque": 0}, KEYS,
    ),
    "in_another_order": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: dict(
            reversed(parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c).items())
        ),
        KEYS,
    ),
    "a_list": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: list(parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c).values()), KEYS,
    ),
    "an_idle_vector": (
        lambda u_xi_i, u_eta_i, u_zeta_i, u_r_j, c, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c),
        "argument 'u_eta_i' is not used",
    ),
    "an_idle_constant": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, stiffness, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c),
        "argument 'stiffness' is not used",
    ),
    "an_idle_rate": (
        lambda u_xi_i, u_zeta_i, u_r_j, omega_i, omega_j, c, rate: parts(
            angle_of(u_xi_i, u_zeta_i, u_r_j), lambda _: (omega_j - omega_i).dot(u_xi_i), c
        ),
        "argument 'rate' is not used",
    ),
    "arc_cosine_of_an_absolute_value": (
        lambda u_zeta_i, u_r_j, c, rate: parts(sp.acos(abs(u_r_j.dot(u_zeta_i))), rate, c), ABS,
    ),
    "damper_with_a_kink": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c)
        | {"dissipation": c * abs(rate(angle_of(u_xi_i, u_zeta_i, u_r_j)))},
        ABS,
    ),
    "rate_with_a_kink": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j), lambda a: rate(abs(a)), c), ABS,
    ),
    "number_for_a_direction": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: parts(a := angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c, a), NO_DIRECTION,
    ),
    "function_that_gives_a_number": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c, sp.sin), NO_DIRECTION,
    ),
    "direction_of_length_two": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: parts(
            angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c, lambda a: in_plane(a) * 2
        ),
        "its direction has the length 2, limit 1, for unit vectors; divide the direction by its length",
    ),
    "of_a_third_body": (
        lambda u_xi_i, u_zeta_i, u_r_k, c, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_k), rate, c),
        "argument 'u_r_k' has the unknown suffix '_k'",
    ),
    "with_a_velocity": (
        lambda u_xi_i, u_zeta_i, u_r_j, v_i, c, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c) | {"rate": v_i.x},
        "argument 'v_i' has a name that the kernels use themselves",
    ),
    "that_branches": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: parts(
            a if (a := angle_of(u_xi_i, u_zeta_i, u_r_j)) > 0 else -a, rate, c
        ),
        "smooth, without branches",
    ),
    "of_a_global_component": (
        lambda u_xi_i, u_zeta_i, u_r_j, c, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j) + u_xi_i.x, rate, c),
        "changes when both bodies move together as one rigid body",
    ),
    "driven": (
        lambda u_xi_i, u_zeta_i, u_r_j, k_t, rate: parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, k_t),
        "uses the signal k_t; only constraints can be driven",
    ),
}  # fmt: skip


def touching(r_i, r_j, n_j, rate, turning=None):
    """The centre of body i against a plane through that of body j, without friction."""
    v = rate(r_i - r_j) - (turning.cross(r_i - r_j) if turning is not None else 0 * n_j)
    return {"penetration": (r_j - r_i).dot(n_j), "slip": v - v.dot(n_j) * n_j, "point": r_i + 0 * n_j}


OF_CONTACT = "must return penetration, slip, point by name"
CONTACTS = {
    "without_point": (
        lambda r_i, r_j, n_j, omega_j, rate: dict(list(touching(r_i, r_j, n_j, rate, omega_j).items())[:2]), OF_CONTACT,
    ),
    "with_a_torque": (
        lambda r_i, r_j, n_j, omega_j, rate: touching(r_i, r_j, n_j, rate, omega_j) | {"torque": 0}, OF_CONTACT,
    ),
    "slip_that_is_a_number": (
        lambda r_i, r_j, n_j, omega_j, rate: (own := touching(r_i, r_j, n_j, rate, omega_j)) | {"slip": own["slip"].dot(r_i)},
        "slip and point must be Vectors",
    ),
    "an_idle_constant": (
        lambda r_i, r_j, n_j, omega_j, radius, rate: touching(r_i, r_j, n_j, rate, omega_j), "argument 'radius' is not used",
    ),
    "a_held_value": (
        lambda r_i, r_j, n_j, omega_j, rate, held: (own := touching(r_i, r_j, n_j, rate, omega_j))
        | {"penetration": held(own["penetration"])},
        "uses held(x) or keeps_sign(x), which are for joints",
    ),
    "both_sides_of_the_plane": (
        lambda r_i, r_j, n_j, omega_j, rate: (own := touching(r_i, r_j, n_j, rate, omega_j))
        | {"penetration": abs(own["penetration"])},
        ABS,
    ),
    "a_plane_that_does_not_turn": (
        lambda r_i, r_j, n_j, rate: touching(r_i, r_j, n_j, rate), "changes when both bodies move together as one rigid body",
    ),
}  # fmt: skip
FAMILIES = (derive_limit, LIMITS), (derive_contact, CONTACTS)
REFUSED = [(derive, name, *case) for derive, family in FAMILIES for name, case in family.items()]


@pytest.mark.parametrize(
    ("derive", "name", "definition", "says"), REFUSED, ids=[f"{d.__name__}-{n}" for d, n, *_ in REFUSED]
)
def test_a_wrong_definition_is_refused_by_name(derive, name, definition, says):
    assert refused_with(DefinitionError, says, derive, named(name, definition)).startswith(f"definition '{name}': ")


def right_limit(u_xi_i, u_zeta_i, u_r_j, c, rate):
    return parts(angle_of(u_xi_i, u_zeta_i, u_r_j), rate, c)


def right_contact(r_i, r_j, n_j, omega_j, rate):
    return touching(r_i, r_j, n_j, rate, omega_j)


@pytest.mark.parametrize(("derive", "right"), [(derive_limit, right_limit), (derive_contact, right_contact)])
def test_the_nearest_right_definition_is_derived(derive, right):
    refused_with(DefinitionError, "needs a docstring", derive, right)
    assert len(derive(named(right.__name__, right)).wrench) == 12
