"""Limits and contacts that break a rule are refused by name, and their nearest right definitions are derived."""

import re

import pytest
import sympy as sp

from codegen import DefinitionError, Vector
from codegen.compiler.contact_forces import derive_contact
from codegen.compiler.limit_forces import derive_limit


def parts(direction, angle, rate, damping):
    return {"direction": direction, "angle": angle, "rate": rate, "dissipation": damping / 2 * rate**2}


def frame_angle(u_xi_i, u_zeta_i, u_r_j):
    return sp.atan2(u_r_j.dot(u_xi_i), u_r_j.dot(u_zeta_i))


def in_plane(angle):
    return Vector(sp.sin(angle), 0, sp.cos(angle))


def right_limit(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """One angle."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping)


def without_dissipation(u_xi_i, u_zeta_i, u_r_j, rate):
    """Keys left out."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return {"direction": in_plane, "angle": angle, "rate": rate(angle)}


def with_a_torque(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """A key too many."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping) | {"torque": angle}


def in_another_order(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """Keys out of order."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return dict(reversed(parts(in_plane, angle, rate(angle), damping).items()))


def limit_as_a_list(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """No names."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return list(parts(in_plane, angle, rate(angle), damping).values())


def limit_with_an_idle_vector(u_xi_i, u_eta_i, u_zeta_i, u_r_j, damping, rate):
    """No u_eta_i."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping)


def limit_with_an_idle_constant(u_xi_i, u_zeta_i, u_r_j, damping, stiffness, rate):
    """No stiffness."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping)


def limit_with_an_idle_rate(u_xi_i, u_zeta_i, u_r_j, omega_i, omega_j, damping, rate):
    """No rate."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, (omega_j - omega_i).dot(u_xi_i), damping)


def arc_cosine_of_an_absolute_value(u_zeta_i, u_r_j, damping, rate):
    """A kink."""
    angle = sp.acos(abs(u_r_j.dot(u_zeta_i)))
    return parts(in_plane, angle, rate(angle), damping)


def damper_with_a_kink(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """Dry friction."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping) | {"dissipation": damping * abs(rate(angle))}


def number_for_a_direction(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """An angle where a direction belongs."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(angle, angle, rate(angle), damping)


def function_that_gives_a_number(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """A function of the angle, which is no direction."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(sp.sin, angle, rate(angle), damping)


def limit_of_a_third_body(u_xi_i, u_zeta_i, u_r_k, damping, rate):
    """A body k."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_k)
    return parts(in_plane, angle, rate(angle), damping)


def limit_with_a_velocity(u_xi_i, u_zeta_i, u_r_j, v_i, damping, rate):
    """A velocity that is not between the bodies."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping) | {"rate": v_i.x}


def limit_that_branches(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """A condition."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle if angle > 0 else -angle, rate(angle), damping)


def undocumented_limit(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), damping)


def limit_of_a_global_component(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """An angle that changes when both bodies turn together."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j) + u_xi_i.x
    return parts(in_plane, angle, rate(angle), damping)


def rate_with_a_kink(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """The rate of an absolute value."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(abs(angle)), damping)


def direction_of_length_two(u_xi_i, u_zeta_i, u_r_j, damping, rate):
    """A direction that is no unit vector."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(lambda a: in_plane(a) * 2, angle, rate(angle), damping)


def driven_limit(u_xi_i, u_zeta_i, u_r_j, k_t, rate):
    """A signal."""
    angle = frame_angle(u_xi_i, u_zeta_i, u_r_j)
    return parts(in_plane, angle, rate(angle), k_t)


KEYS = "must return direction, angle, rate, dissipation by name"
REFUSED_LIMITS = [
    (without_dissipation, KEYS),
    (with_a_torque, KEYS),
    (in_another_order, KEYS),
    (limit_as_a_list, KEYS),
    (limit_with_an_idle_vector, "argument 'u_eta_i' is not used"),
    (limit_with_an_idle_constant, "argument 'stiffness' is not used"),
    (limit_with_an_idle_rate, "argument 'rate' is not used"),
    (arc_cosine_of_an_absolute_value, "uses the function 'Abs', which is not smooth"),
    (damper_with_a_kink, "uses the function 'Abs', which is not smooth"),
    (number_for_a_direction, "the direction must be a Vector, or a function of the angle that returns one"),
    (function_that_gives_a_number, "the direction must be a Vector, or a function of the angle that returns one"),
    (limit_of_a_third_body, "argument 'u_r_k' has the unknown suffix '_k'"),
    (limit_with_a_velocity, "argument 'v_i' has a name that the kernels use themselves"),
    (limit_that_branches, "smooth, without branches"),
    (undocumented_limit, "needs a docstring"),
    (limit_of_a_global_component, "changes when both bodies move together as one rigid body"),
    (rate_with_a_kink, "uses the function 'Abs', which is not smooth"),
    (
        direction_of_length_two,
        "its direction has the length 2, limit 1, for unit vectors; divide the direction by its length",
    ),
    (driven_limit, "uses the signal k_t; only constraints can be driven"),
]


@pytest.mark.parametrize(("definition", "says"), REFUSED_LIMITS, ids=[f.__name__ for f, _ in REFUSED_LIMITS])
def test_a_wrong_limit_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        derive_limit(definition)
    assert str(caught.value).startswith(f"definition '{definition.__name__}': ")


def test_the_nearest_right_limit_is_derived():
    assert len(derive_limit(right_limit).wrench) == 12


# Wrong contacts: of the centre of a body with a plane, without friction


def along(n_j, v):
    return v - v.dot(n_j) * n_j


def depth(r_i, r_j, n_j):
    return (r_j - r_i).dot(n_j)


def right_contact(r_i, r_j, n_j, omega_j, rate):
    """The centre of body i against a plane through that of body j."""
    slip = along(n_j, rate(r_i - r_j) - omega_j.cross(r_i - r_j))
    return {"penetration": depth(r_i, r_j, n_j), "slip": slip, "point": r_i + 0 * n_j}


def contact_without_point(r_i, r_j, n_j, rate):
    """A key left out."""
    return {"penetration": depth(r_i, r_j, n_j), "slip": along(n_j, rate(r_i - r_j))}


def contact_with_a_torque(r_i, r_j, n_j, omega_j, rate):
    """A key too many."""
    return right_contact(r_i, r_j, n_j, omega_j, rate) | {"torque": 0}


def slip_that_is_a_number(r_i, r_j, n_j, omega_j, rate):
    """A speed where a velocity belongs."""
    parts = right_contact(r_i, r_j, n_j, omega_j, rate)
    return parts | {"slip": parts["slip"].dot(r_i)}


def contact_with_an_idle_constant(r_i, r_j, n_j, omega_j, radius, rate):
    """No radius."""
    return right_contact(r_i, r_j, n_j, omega_j, rate)


def contact_with_a_memory(r_i, r_j, n_j, omega_j, rate, held):
    """A held value, which no contact has."""
    parts = right_contact(r_i, r_j, n_j, omega_j, rate)
    return parts | {"penetration": held(parts["penetration"])}


def contact_with_a_kink(r_i, r_j, n_j, omega_j, rate):
    """From both sides of the plane."""
    parts = right_contact(r_i, r_j, n_j, omega_j, rate)
    return parts | {"penetration": abs(parts["penetration"])}


def slip_in_a_plane_that_does_not_turn(r_i, r_j, n_j, rate):
    """Of points that do not meet."""
    return {"penetration": depth(r_i, r_j, n_j), "slip": along(n_j, rate(r_i - r_j)), "point": r_i + 0 * n_j}


OF_CONTACT = "must return penetration, slip, point by name"
REFUSED_CONTACTS = [
    (contact_without_point, OF_CONTACT),
    (contact_with_a_torque, OF_CONTACT),
    (slip_that_is_a_number, "slip and point must be Vectors"),
    (contact_with_an_idle_constant, "argument 'radius' is not used"),
    (contact_with_a_memory, "uses held(x) or keeps_sign(x), which are for joints"),
    (contact_with_a_kink, "uses the function 'Abs', which is not smooth"),
    (slip_in_a_plane_that_does_not_turn, "changes when both bodies move together as one rigid body"),
]


@pytest.mark.parametrize(("definition", "says"), REFUSED_CONTACTS, ids=[f.__name__ for f, _ in REFUSED_CONTACTS])
def test_a_wrong_contact_is_refused_by_name(definition, says):
    with pytest.raises(DefinitionError, match=re.escape(says)) as caught:
        derive_contact(definition)
    assert str(caught.value).startswith(f"definition '{definition.__name__}': ")


def test_the_nearest_right_contact_is_derived():
    assert len(derive_contact(right_contact).wrench) == 12
