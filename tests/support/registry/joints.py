"""Printed equations of motion and of the joints, literally and corrected.

From Rodrigues da Silva et al. (2024a), and (n.d.), sections 2 and 3.
"""

import numpy as np

from tests.support.registry.equation import I, O, tilde

# (2024a), section 2


def equations_of_motion(m):
    matrix = np.block([[m.M, m.D.T], [m.D, np.zeros((len(m.D), len(m.D)))]])
    right = np.vstack([m.g, m.gamma - 2 * m.alpha * m.Phi_dot - m.beta**2 * m.Phi])
    return matrix @ np.vstack([m.v_dot, m.lam]), right


# (2024a), section 3.1


def spherical_Phi(m):
    return m.rP_j - m.rP_i, m.r_j + m.sP_j - m.r_i - m.sP_i


def normal_Phi(m):
    return m.s_i.T @ m.s_j


def local_to_global(m):
    return np.vstack([m.sP_i, m.sP_j]), np.vstack([m.A_i @ m.sP_i_local, m.A_j @ m.sP_j_local])


def real_angle_talocalcaneal(m):
    return np.tan(m.theta_re), np.tan(m.theta) * np.cos(m.rho)


def real_angle_talocrural(m):
    return np.tan(m.tau_re), np.tan(m.tau) * np.cos(m.epsilon)


def axis_talocalcaneal(m):
    axis = [np.cos(m.rho) * np.cos(m.theta_re), np.sin(m.rho) * np.cos(m.theta_re), np.sin(m.theta_re)]
    return m.s_i, np.array([axis]).T


def axis_talocrural(m):
    axis = [np.sin(m.epsilon) * np.cos(m.tau_re), np.cos(m.epsilon) * np.cos(m.tau_re), np.sin(m.tau_re)]
    return m.s_j, np.array([axis]).T


def angle_Phi(m):
    return m.s_i.T @ m.s_j - m.s_i_0.T @ m.s_j_0


def universal_Phi(m):
    return np.vstack([m.r_j + m.sP_j - m.r_i - m.sP_i, m.s_i.T @ m.s_j - m.s_i_0.T @ m.s_j_0])


def universal_Phi_dot(m):
    return np.vstack([m.r_j_dot + m.sP_j_dot - m.r_i_dot - m.sP_i_dot, m.s_j.T @ m.s_i_dot + m.s_i.T @ m.s_j_dot])


def velocity_of_a_fixed_vector(m):
    return m.s_dot, tilde(m.w) @ m.s, -tilde(m.s) @ m.w


def universal_Phi_dot_in_omega(m):
    return np.vstack(
        [
            m.r_j_dot - tilde(m.sP_j) @ m.w_j - m.r_i_dot + tilde(m.sP_i) @ m.w_i,
            -m.s_j.T @ tilde(m.s_i) @ m.w_i - m.s_i.T @ tilde(m.s_j) @ m.w_j,
        ]
    )


def universal_D(m):
    return np.block(
        [
            [-I, tilde(m.sP_i), I, -tilde(m.sP_j)],
            [O, -m.s_j.T @ tilde(m.s_i), O, -m.s_i.T @ tilde(m.s_j)],
        ]
    )


def universal_Phi_dot_by_D(m):
    return universal_D(m) @ np.vstack([m.r_i_dot, m.w_i, m.r_j_dot, m.w_j])


def universal_Phi_ddot(m):
    return np.vstack(
        [
            m.r_j_ddot + m.sP_j_ddot - m.r_i_ddot - m.sP_i_ddot,
            m.s_j.T @ m.s_i_ddot + m.s_i_dot.T @ m.s_j_dot + m.s_i.T @ m.s_j_ddot + m.s_j_dot.T @ m.s_i_dot,
        ]
    )


def acceleration_of_a_fixed_vector(m):
    return m.s_ddot, -tilde(m.s) @ m.w_dot + tilde(m.w) @ m.s_dot


def universal_Phi_ddot_in_omega(m):
    return np.vstack(
        [
            m.r_j_ddot - tilde(m.sP_j) @ m.w_j_dot + tilde(m.w_j) @ m.sP_j_dot
            - m.r_i_ddot + tilde(m.sP_i) @ m.w_i_dot - tilde(m.w_i) @ m.sP_i_dot,
            m.s_j.T @ (-tilde(m.s_i) @ m.w_i_dot + tilde(m.w_i) @ m.s_i_dot)
            + m.s_i.T @ (-tilde(m.s_j) @ m.w_j_dot + tilde(m.w_j) @ m.s_j_dot)
            + 2 * m.s_j_dot.T @ m.s_i_dot,
        ]
    )  # fmt: skip


def universal_gamma(m):
    return np.vstack(
        [
            tilde(m.w_i) @ m.sP_i_dot - tilde(m.w_j) @ m.sP_j_dot,
            -m.s_i.T @ tilde(m.w_j) @ m.s_j_dot - m.s_j.T @ tilde(m.w_i) @ m.s_i_dot - 2 * m.s_j_dot.T @ m.s_i_dot,
        ]
    )


def nu_of_four_rows(m):
    return np.zeros((4, 1))


# (2024a), section 3.2


def length_Phi(m):
    return m.d.T @ m.d - m.l**2


def link(m):
    return m.d, m.rP_j - m.rP_i, m.r_j + m.sP_j - m.r_i - m.sP_i


def link_axis_i_Phi(m):
    return m.s_i.T @ m.d - m.s_i_0.T @ m.d_0


def link_axis_j_Phi(m):
    return m.s_j.T @ m.d - m.s_j_0.T @ m.d_0


def modified_Phi(m):
    return np.vstack(
        [
            m.d.T @ m.d - m.l**2,
            m.s_i.T @ m.s_j - m.s_i_0.T @ m.s_j_0,
            m.s_i.T @ m.d - m.s_i_0.T @ m.d_0,
            m.s_j.T @ m.d - m.s_j_0.T @ m.d_0,
        ]
    )


def modified_Phi_dot(m):
    return np.vstack(
        [
            2 * m.d.T @ (m.r_j_dot + m.sP_j_dot - m.r_i_dot - m.sP_i_dot),
            m.s_j.T @ m.s_i_dot + m.s_i.T @ m.s_j_dot,
            m.d.T @ m.s_i_dot + m.s_i.T @ (m.r_j_dot + m.sP_j_dot - m.r_i_dot - m.sP_i_dot),
            m.d.T @ m.s_j_dot + m.s_j.T @ (m.r_j_dot + m.sP_j_dot - m.r_i_dot - m.sP_i_dot),
        ]
    )


def modified_Phi_dot_in_omega(m):
    return np.vstack(
        [
            2 * m.d.T @ (m.r_j_dot - tilde(m.sP_j) @ m.w_j - m.r_i_dot + tilde(m.sP_i) @ m.w_i),
            -m.s_j.T @ tilde(m.s_i) @ m.w_i - m.s_i.T @ tilde(m.s_j) @ m.w_j,
            -m.d.T @ tilde(m.s_i) @ m.w_i + m.s_i.T @ m.r_j_dot - m.s_i.T @ tilde(m.sP_j) @ m.w_j
            - m.s_i.T @ m.r_i_dot + m.s_i.T @ tilde(m.sP_i) @ m.w_i,
            -m.d.T @ tilde(m.s_j) @ m.w_j + m.s_j.T @ m.r_j_dot - m.s_j.T @ tilde(m.sP_j) @ m.w_j
            - m.s_j.T @ m.r_i_dot + m.s_j.T @ tilde(m.sP_i) @ m.w_i,
        ]
    )  # fmt: skip


def modified_D(m):
    return np.block(
        [
            [-2 * m.d.T, 2 * m.d.T @ tilde(m.sP_i), 2 * m.d.T, -2 * m.d.T @ tilde(m.sP_j)],
            [O, -m.s_j.T @ tilde(m.s_i), O, -m.s_i.T @ tilde(m.s_j)],
            [
                -m.s_i.T,
                -m.d.T @ tilde(m.s_i) + m.s_i.T @ tilde(m.sP_i),
                m.s_i.T,
                -m.s_i.T @ tilde(m.sP_j),
            ],
            [
                -m.s_j.T,
                m.s_j.T @ tilde(m.sP_i),
                m.s_j.T,
                -m.d.T @ tilde(m.s_j) - m.s_j.T @ tilde(m.sP_j),
            ],
        ]
    )


def modified_Phi_dot_by_D(m):
    return modified_D(m) @ np.vstack([m.r_i_dot, m.w_i, m.r_j_dot, m.w_j])


def modified_Phi_ddot(m):
    return np.vstack(
        [
            2 * m.d.T @ (m.r_j_ddot + m.sP_j_ddot - m.r_i_ddot - m.sP_i_ddot) + 2 * m.d_dot.T @ m.d_dot,
            m.s_j.T @ m.s_i_ddot + m.s_i_dot.T @ m.s_j_dot + m.s_i.T @ m.s_j_ddot + m.s_j_dot.T @ m.s_i_dot,
            m.d.T @ m.s_i_ddot + m.s_i_dot.T @ m.d_dot
            + m.s_i.T @ (m.r_j_ddot + m.sP_j_ddot - m.r_i_ddot - m.sP_i_ddot) + m.d_dot.T @ m.s_i_dot,
            m.d.T @ m.s_j_ddot + m.s_j_dot.T @ m.d_dot
            + m.s_j.T @ (m.r_j_ddot + m.sP_j_ddot - m.r_i_ddot - m.sP_i_ddot) + m.d_dot.T @ m.s_j_dot,
        ]
    )  # fmt: skip


def modified_Phi_ddot_in_omega(m):
    return np.vstack(
        [
            2 * m.d.T @ (
                m.r_j_ddot - tilde(m.sP_j) @ m.w_j_dot + tilde(m.w_j) @ m.sP_j_dot
                - m.r_i_ddot + tilde(m.sP_i) @ m.w_i_dot - tilde(m.w_i) @ m.sP_i_dot
            ) + 2 * m.d_dot.T @ m.d_dot,
            m.s_j.T @ (-tilde(m.s_i) @ m.w_i_dot + tilde(m.w_i) @ m.s_i_dot) + m.s_i_dot.T @ m.s_j_dot
            + m.s_i.T @ (-tilde(m.s_j) @ m.w_j_dot + tilde(m.w_j) @ m.s_j_dot) + m.s_j_dot.T @ m.s_i_dot,
            m.d.T @ (-tilde(m.s_i) @ m.w_i_dot + tilde(m.w_i) @ m.s_i_dot) + m.s_i_dot.T @ m.d_dot
            + m.s_i.T @ (
                m.r_j_ddot - tilde(m.sP_j) @ m.w_j_dot + tilde(m.w_j) @ m.sP_j_dot
                - m.r_i_ddot + tilde(m.sP_i) @ m.w_i_dot - tilde(m.w_i) @ m.sP_i_dot
            ) + m.d_dot.T @ m.s_i_dot,
            m.d.T @ (-tilde(m.s_j) @ m.w_j_dot + tilde(m.w_j) @ m.s_j_dot) + m.s_j_dot.T @ m.d_dot
            + m.s_j.T @ (
                m.r_j_ddot - tilde(m.sP_j) @ m.w_j_dot + tilde(m.w_j) @ m.sP_j_dot
                - m.r_i_ddot + tilde(m.sP_i) @ m.w_i_dot - tilde(m.w_i) @ m.sP_i_dot
            ) + m.d_dot.T @ m.s_j_dot,
        ]
    )  # fmt: skip


def modified_gamma_printed(m):
    """(2024a), Eq. (32): the last sign of the last row."""
    return np.vstack(
        [
            2 * m.d.T @ (tilde(m.w_i) @ m.sP_i_dot - tilde(m.w_j) @ m.sP_j_dot) - 2 * m.d_dot.T @ m.d_dot,
            -m.s_i.T @ tilde(m.w_j) @ m.s_j_dot - m.s_j.T @ tilde(m.w_i) @ m.s_i_dot - 2 * m.s_j_dot.T @ m.s_i_dot,
            -m.d.T @ tilde(m.w_i) @ m.s_i_dot - 2 * m.d_dot.T @ m.s_i_dot
            - m.s_i.T @ tilde(m.w_j) @ m.sP_j_dot + m.s_i.T @ tilde(m.w_i) @ m.sP_i_dot,
            -m.d.T @ tilde(m.w_j) @ m.s_j_dot - 2 * m.d_dot.T @ m.s_j_dot
            - m.s_j.T @ tilde(m.w_j) @ m.sP_j_dot - m.s_j.T @ tilde(m.w_i) @ m.sP_i_dot,
        ]
    )  # fmt: skip


def modified_gamma(m):
    """With + s_j^T ~omega_i s_i^P' in the last row."""
    return np.vstack(
        [
            2 * m.d.T @ (tilde(m.w_i) @ m.sP_i_dot - tilde(m.w_j) @ m.sP_j_dot) - 2 * m.d_dot.T @ m.d_dot,
            -m.s_i.T @ tilde(m.w_j) @ m.s_j_dot - m.s_j.T @ tilde(m.w_i) @ m.s_i_dot - 2 * m.s_j_dot.T @ m.s_i_dot,
            -m.d.T @ tilde(m.w_i) @ m.s_i_dot - 2 * m.d_dot.T @ m.s_i_dot
            - m.s_i.T @ tilde(m.w_j) @ m.sP_j_dot + m.s_i.T @ tilde(m.w_i) @ m.sP_i_dot,
            -m.d.T @ tilde(m.w_j) @ m.s_j_dot - 2 * m.d_dot.T @ m.s_j_dot
            - m.s_j.T @ tilde(m.w_j) @ m.sP_j_dot + m.s_j.T @ tilde(m.w_i) @ m.sP_i_dot,
        ]
    )  # fmt: skip


# (n.d.), section 2 and 3


def equations_of_motion_unstabilised(m):
    matrix = np.block([[m.M, m.D.T], [m.D, np.zeros((len(m.D), len(m.D)))]])
    return matrix @ np.vstack([m.v_dot, m.lam]), np.vstack([m.g, m.gamma])


def modified_gamma_002_printed(m):
    """(n.d.), Eq. (5): the last two terms of the last row stand in the other order than in (2024a)."""
    return np.vstack(
        [
            2 * m.d.T @ (tilde(m.w_i) @ m.sP_i_dot - tilde(m.w_j) @ m.sP_j_dot) - 2 * m.d_dot.T @ m.d_dot,
            -m.s_i.T @ tilde(m.w_j) @ m.s_j_dot - m.s_j.T @ tilde(m.w_i) @ m.s_i_dot - 2 * m.s_j_dot.T @ m.s_i_dot,
            -m.d.T @ tilde(m.w_i) @ m.s_i_dot - 2 * m.d_dot.T @ m.s_i_dot
            - m.s_i.T @ tilde(m.w_j) @ m.sP_j_dot + m.s_i.T @ tilde(m.w_i) @ m.sP_i_dot,
            -m.d.T @ tilde(m.w_j) @ m.s_j_dot - 2 * m.d_dot.T @ m.s_j_dot
            - m.s_j.T @ tilde(m.w_i) @ m.sP_i_dot - m.s_j.T @ tilde(m.w_j) @ m.sP_j_dot,
        ]
    )  # fmt: skip
