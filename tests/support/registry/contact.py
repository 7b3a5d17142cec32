"""Printed equations of the contact of a foot with the ground, literally and corrected: Moreira et al. (2011)."""

import numpy as np

# Geometry, Eqs. (1)-(9)


def distance(m):
    return m.between, m.rP_j - m.rC_i


def normal_part(m):
    return m.d_n, (m.d.T @ m.n) * m.n


def tangential_part(m):
    return m.d_t, m.d - m.d_n


def penetration_printed(m):
    """Eq. (4): the length of d_n, which is as long below the plane as above it."""
    return m.delta, m.R_i - m.distance


def penetration(m):
    return m.delta, m.R_i + m.d.T @ m.n


def length_printed(m):
    """Eq. (5): the square of the length, and a product that is negative above the plane."""
    return m.distance, m.d_n.T @ m.d_n, m.d.T @ m.n


def length(m, left=()):
    square = m.d_n.T @ m.d_n
    return (
        m.distance,
        square if "square" in left else np.sqrt(square),
        m.d.T @ m.n if "sign" in left else np.abs(m.d.T @ m.n),
    )


def normal_velocity(m):
    return m.v_n, (m.v.T @ m.n) * m.n


def tangential_velocity(m):
    return m.v_t, m.v - m.v_n


def relative_velocity_printed(m):
    """Eq. (8): of the points C and P; the sphere turns about C, and the plane about P."""
    return m.v, m.vP_j - m.vC_i


def relative_velocity(m, left=()):
    v_j = m.vP_j if "turn of the plane" in left else m.vP_j + np.cross(m.w_j, m.Q - m.rP_j, axis=0)
    v_i = m.vC_i if "turn of the sphere" in left else m.vC_i + np.cross(m.w_i, m.Q - m.rC_i, axis=0)
    return m.v, v_j - v_i


def penetration_rate_printed(m):
    """Eq. (9): a norm, which tells no leaving from nearing."""
    return m.delta_dot, np.linalg.norm(m.v_n)


def penetration_rate(m):
    return m.delta_dot, m.v.T @ m.n


# Laws, Eqs. (10)-(14)


def elastic_force(m):
    return m.force_elastic, m.K * m.delta**m.m * m.n


def normal_force_printed(m):
    """Eq. (11): it pulls where the sphere leaves fast."""
    return m.force_normal, (m.K * m.delta**m.m + m.c * m.delta_dot) * m.n


def normal_force(m):
    return m.force_normal, max(0.0, m.K * m.delta**m.m + m.c * m.delta_dot) * m.n


def stiffness_printed(m):
    """Eq. (12): the radius of the plane, and 4 / (3 pi) to three digits."""
    return m.K, 0.424 * np.sqrt(m.R_j) / ((1 - m.nu_i**2) / (np.pi * m.E_i) + (1 - m.nu_j**2) / (np.pi * m.E_j))


def stiffness(m, left=()):
    radius = m.R_j if "R_j" in left else m.R_i
    factor = 0.424 if "0.424" in left else 4 / (3 * np.pi)
    return m.K, factor * np.sqrt(radius) / ((1 - m.nu_i**2) / (np.pi * m.E_i) + (1 - m.nu_j**2) / (np.pi * m.E_j))


def damping(m):
    return m.c, m.chi * m.delta**m.m


def friction_printed(m):
    """Eq. (14), with the velocity of Eq. (8), of the plane against the sphere: it drives the sphere."""
    return m.force_friction, -(m.mu_c * m.f_n + m.mu_d * m.v_t_length) * m.t


def friction(m):
    return m.force_friction, (m.mu_c * m.f_n + m.mu_d * m.v_t_length) * m.t


# Sums over the spheres, Eqs. (15)-(18)


def sum_of_normal_forces(m):
    return m.F_n, m.f_nk.sum()


def sum_of_tangential_forces_printed(m):
    """Eq. (16): the lengths of vectors that point everywhere."""
    return m.F_t, m.f_tk.sum()


def sum_of_tangential_forces(m):
    return m.F_t, np.linalg.norm(m.vectors_tk.sum(axis=0))


def pressure_x_printed(m):
    """Eq. (17): moments about two points that are not the origin."""
    return m.X_COP, -(m.M_yi + m.M_yj) / (m.F_ni + m.F_nj)


def pressure_x(m):
    return m.X_COP, -(m.O_yi + m.O_yj) / (m.F_ni + m.F_nj)


def pressure_y_printed(m):
    """Eq. (18): so too, and a sign."""
    return m.Y_COP, -(m.M_xi + m.M_xj) / (m.F_ni + m.F_nj)


def pressure_y(m, left=()):
    moment = m.M_xi + m.M_xj if "about the centres of mass" in left else m.O_xi + m.O_xj
    return m.Y_COP, (-moment if "sign" in left else moment) / (m.F_ni + m.F_nj)
