"""Printed equations of limits of motion, literally and corrected.

From Rodrigues da Silva et al. (2024b), section 3, and (2024a) and (2024c), section 4.  The first side is ours.
"""

import numpy as np

from tests.support.registry.equation import tilde

# (2024b), section 3, (2024c), section 4, and (2024a), section 4.  The first side is ours.


def total_moment(m):
    return m.moment, m.md + m.mr


def to_global(m):
    return m.u, m.A_j @ m.u_1


def moment_in_global_axes_printed(m):
    """(2024b), step 6.4: Eq. (3), from the axes of the reference body, on which the joint's axes are defined."""
    return m.mr, m.A_i @ m.mr_2


def moment_in_global_axes(m):
    """By Eq. (5), from the axes of the joint."""
    return m.mr, m.A_i @ m.B @ m.mr_2


def third_axis(m):
    return m.zeta, tilde(m.xi) @ m.eta


def third_axis_local(m):
    return m.zeta_1, tilde(m.xi_1) @ m.eta_1


def from_the_joint(m):
    return m.u, m.A_i @ m.B @ m.u_2


def longitude(m):
    (x,), (y,), _ = m.u_2
    return m.psi, np.arctan2(y, x) % (2 * np.pi)


def latitude(m):
    return m.sigma, np.arccos(m.u_2.T @ m.zeta_2)


def ellipse(m):
    return m.x**2 / m.a**2 + m.y**2 / m.b**2, 1.0


def longitude_C(m):
    return m.psi, np.arctan2(m.y, m.x) % (2 * np.pi)


def latitude_C(m):
    return m.sigma_max, np.linalg.norm([m.x, m.y]), np.sqrt(m.x**2 + m.y**2)


def ellipse_y(m):
    return m.y, np.sign(m.y) * m.b * np.sqrt(1 - m.x**2 / m.a**2)


def ellipse_x(m):
    return m.x, np.sign(m.x) * np.sqrt(m.b**2 * m.a**2 / (m.a**2 * np.tan(m.psi) ** 2 + m.b**2))


def elliptical_maximum(m):
    a, b = m.a, m.b
    return m.sigma_max, np.sqrt(b**2 / (np.tan(m.psi) ** 2 + b**2 / a**2) * (1 - b**2 / a**2) + b**2)


def quadrants(m):
    psi = np.rad2deg(m.psi)
    a = [m.a_1, m.a_2, m.a_2, m.a_1]
    b = [m.b_1, m.b_1, m.b_2, m.b_2]
    quadrant = [0 <= psi < 90, 90 <= psi < 180, 180 <= psi < 270, 270 <= psi <= 360].index(True)
    return np.array([[m.a, m.b]]), np.array([[a[quadrant], b[quadrant]]])


def polynomial_x(m):
    return m.x, sum(c * m.l**q for q, c in enumerate(m.c_x))


def spline_x(m):
    return m.x, m.c_x[3] * m.l**3 + m.c_x[2] * m.l**2 + m.c_x[1] * m.l + m.c_x[0]


def spline_y(m):
    return m.y, m.c_y[3] * m.l**3 + m.c_y[2] * m.l**2 + m.c_y[1] * m.l + m.c_y[0]


def spline_maximum(m):
    return m.sigma_max, np.sqrt(spline_x(m)[1] ** 2 + spline_y(m)[1] ** 2)


def spline_longitude(m):
    return m.psi, np.arctan2(spline_y(m)[1], spline_x(m)[1]) % (2 * np.pi)


def generating_line(m):
    return m.v_2, np.array([[0.0, 0.0, m.G]]).T


def position_vector(m):
    c, s, cs, ss = np.cos(m.psi), np.sin(m.psi), np.cos(m.sigma), np.sin(m.sigma)
    about_zeta = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    about_eta = np.array([[cs, 0, ss], [0, 1, 0], [-ss, 0, cs]])
    column = np.array([[0.0, 0.0, m.G]]).T
    result = np.array([[m.G * c * ss, m.G * s * ss, m.G * cs]]).T
    return m.r_2, m.R_zeta @ m.R_eta @ m.v_2, about_zeta @ about_eta @ column, result


def surface(m):
    c, s, cs, ss = np.cos(m.psi_B), np.sin(m.psi_B), np.cos(m.sigma_B), np.sin(m.sigma_B)
    return m.r_B, np.array([[m.G * c * ss, m.G * s * ss, m.G * cs]]).T


def tangent_G(m):
    c, s, cs, ss = np.cos(m.psi_B), np.sin(m.psi_B), np.cos(m.sigma_B), np.sin(m.sigma_B)
    return m.t_G, np.array([[c * ss, s * ss, cs]]).T


def tangent_psi(m):
    c, s, cs, ss = np.cos(m.psi_B), np.sin(m.psi_B), np.cos(m.sigma_B), np.sin(m.sigma_B)
    k = m.dsigma
    return m.t_psi, np.array([[m.G * (-s * ss + c * cs * k), m.G * (c * ss + s * cs * k), m.G * (-ss * k)]]).T


def elliptical_slope(m):
    a, b, c, s = m.a, m.b, np.cos(m.psi_B), np.sin(m.psi_B)
    inner = a**2 * b**2 * (1 / c**2) / (a**2 * np.tan(m.psi_B) ** 2 + b**2)
    return m.dsigma, 1 / (a**2 * b**2) * (b**2 - a**2) * s * c * inner ** (3 / 2)


def spline_slope(m):
    return m.dsigma, m.dsigma, m.sigma_l * m.l_psi, m.sigma_l * (1 / m.psi_l)


def rates_along(m):
    return (3 * c[3] * m.l**2 + 2 * c[2] * m.l + c[1] for c in (m.c_x, m.c_y))


def latitude_along_printed(m):
    """(2024b), Eq. (27): a factor 2 before the second term."""
    dx, dy = rates_along(m)
    return m.sigma_l, 1 / np.sqrt(m.x**2 + m.y**2) * (dx * m.x + 2 * dy * m.y)


def latitude_along(m):
    dx, dy = rates_along(m)
    return m.sigma_l, 1 / np.sqrt(m.x**2 + m.y**2) * (dx * m.x + dy * m.y)


def longitude_along(m):
    dx, dy = rates_along(m)
    return m.psi_l, m.x**2 / (m.y**2 + m.x**2) * (dy / m.x - m.y * dx / m.x**2)


def normal(m):
    product = tilde(m.t_G) @ m.t_psi
    return m.n, product / np.linalg.norm(product)


def distance_vector(m):
    return m.d_2, m.r_B - m.u_2


def least_distance(m):
    return np.zeros((5, 1)), np.vstack([tilde(m.d_2) @ m.n, m.d_2.T @ m.t_G, m.d_2.T @ m.t_psi])


def cases(m, kappa, u):
    x = kappa / m.compliance
    part = 3 * x**2 - 2 * x**3 if kappa <= m.compliance else 1.0
    return m.max_moment * part * tilde(u) @ m.n if m.sigma_A > m.sigma_max_A else np.zeros((3, 1))


def restricting_moment(m):
    return m.mr_2, cases(m, m.kappa, m.u_2)


def relative_angle_printed(m):
    """(2024b), Eq. (33): the norm of the vector of Eq. (30), and the distance in the top view."""
    return (
        m.delta, np.linalg.norm(m.d_2),
        np.sqrt(m.sigma_A**2 + m.sigma_B**2 - 2 * m.sigma_A * m.sigma_B * np.cos(m.psi_A - m.psi_B)),
    )  # fmt: skip


def relative_angle(m):
    """The angle between the directions A and B."""
    return m.delta, np.arctan2(np.linalg.norm(tilde(m.u_2) @ m.t_G), m.u_2.T @ m.t_G)


def dissipative_moment(m):
    return m.md, -m.j * m.w


def relative_velocity(m):
    return m.w, m.w_j - m.w_i
