"""Printed equations of the drivers, literally and corrected: Rodrigues da Silva et al. (n.d.), section 6."""

import numpy as np

from tests.support.registry.equation import I, O, tilde

# (n.d.), section 6: the drivers


def point_Phi(m):
    return m.rP_i - m.c, m.r_i + m.sP_i - m.c


def point_D(m):
    return np.hstack([I, -tilde(m.sP_i)])


def point_nu(m):
    return -m.dPhi_dt, m.c_dot


def point_gamma_printed(m):
    """(n.d.), Eq. (9): the first rate of c*."""
    return tilde(m.w_i) @ tilde(m.sP_i) @ m.w_i + m.c_dot


def point_gamma(m):
    return tilde(m.w_i) @ tilde(m.sP_i) @ m.w_i + m.c_ddot


def parameter_Phi(m):
    return m.e - m.e_k


def parameter_D(m):
    return np.hstack([O, 1 / 2 * m.G_k.T])


def parameter_nu(m):
    return -m.dPhi_dt, m.e_k_dot


def parameter_gamma(m):
    return m.e_k_ddot - 1 / 2 * m.w_i.T @ m.G_k_dot


def cosine_Phi(m):
    return m.a_i.T @ m.b_j - np.cos(m.theta)


def cosine_D(m):
    return np.hstack([O, -m.b_j.T @ tilde(m.a_i), O, -m.a_i.T @ tilde(m.b_j)])


def cosine_nu(m):
    return -m.dPhi_dt, -np.sin(m.theta) * m.theta_dot


def cosine_gamma_printed(m):
    """(n.d.), Eq. (17): the matrix of b_j for its rate, and the second rate of theta twice."""
    return (
        -m.b_j.T @ tilde(m.w_i) @ m.a_i_dot - m.a_i.T @ tilde(m.w_j) @ m.b_j_dot - 2 * m.a_i_dot.T @ tilde(m.b_j)
        - np.cos(m.theta) * m.theta_ddot - np.sin(m.theta) * m.theta_ddot
    )  # fmt: skip


def cosine_gamma(m, left=()):
    b_j_dot = tilde(m.b_j) if "~b_j" in left else m.b_j_dot
    square = m.theta_ddot if "theta''" in left else m.theta_dot**2
    return (
        -m.b_j.T @ tilde(m.w_i) @ m.a_i_dot - m.a_i.T @ tilde(m.w_j) @ m.b_j_dot - 2 * m.a_i_dot.T @ b_j_dot
        - np.cos(m.theta) * square - np.sin(m.theta) * m.theta_ddot
    )  # fmt: skip


def guided_projection(m):
    return m.d_p, m.d - (m.d.T @ m.s_i) * m.s_i


def guided_projection_rate(m):
    return m.d_p_dot, m.d_dot - m.s_i.T @ m.d_dot * m.s_i - m.d.T @ m.s_i_dot * m.s_i - m.d.T @ m.s_i * m.s_i_dot


def link_cosine_Phi(m):
    return m.a_i.T @ m.d_p / np.linalg.norm(m.d_p) - np.cos(m.beta)


def link_cosine_D_printed(m):
    """(n.d.), Eq. (20): the length of d_p as if it were constant, and d_p^T s_i, which is 0."""
    a, s, d_p, S, S_i, S_j = m.a_i, m.s_i, m.d_p, tilde(m.s_i), tilde(m.sP_i), tilde(m.sP_j)
    n = np.linalg.norm(d_p)
    return np.hstack(
        [
            a.T @ (s @ s.T - I) / n,
            (-d_p.T @ tilde(a) + a.T @ (S_i - s @ s.T @ S_i + s @ d_p.T @ S + (d_p.T @ s) * S)) / n,
            a.T @ (I - s @ s.T) / n,
            a.T @ (s @ s.T @ S_j - S_j) / n,
        ]
    )


def link_cosine_D(m, left=()):
    """With d^T s_i, and - a_i^T d_p / n^2 times n' = d_p^T (d' - (d^T s_i) s_i') / n, the rate of n = ||d_p||."""
    a, s, d, d_p, S, S_i, S_j = m.a_i, m.s_i, m.d, m.d_p, tilde(m.s_i), tilde(m.sP_i), tilde(m.sP_j)
    n = np.linalg.norm(d_p)
    along = d_p if "d_p^T s_i" in left else d
    D = np.hstack(
        [
            a.T @ (s @ s.T - I) / n,
            (-d_p.T @ tilde(a) + a.T @ (S_i - s @ s.T @ S_i + s @ d_p.T @ S + (along.T @ s) * S)) / n,
            a.T @ (I - s @ s.T) / n,
            a.T @ (s @ s.T @ S_j - S_j) / n,
        ]
    )
    length = np.hstack([-d_p.T, d_p.T @ (S_i + (d.T @ s) * S), d_p.T, -d_p.T @ S_j]) / n
    return D if "||d_p||" in left else D - a.T @ d_p / n**2 * length


def link_cosine_nu(m):
    return -m.dPhi_dt, -np.sin(m.beta) * m.beta_dot


def link_cosine_gamma_printed(m):
    """(n.d.), Eq. (22).  The fifth term of the bracket is a number among vectors: NumPy puts it into every component."""
    a, a_dot, s, s_dot, d, d_dot = m.a_i, m.a_i_dot, m.s_i, m.s_i_dot, m.d, m.d_dot
    W_i, W_j, sP_i_dot, sP_j_dot = tilde(m.w_i), tilde(m.w_j), m.sP_i_dot, m.sP_j_dot
    return 1 / np.linalg.norm(m.d_p) * (
        -m.d_p.T @ W_i @ a_dot - 2 * m.d_p.T @ a_dot + a.T @ (
            -W_j @ sP_j_dot + W_i @ sP_i_dot + d.T @ s_dot * s + s.T @ W_j @ sP_j_dot * s
            - s.T @ W_i @ sP_i_dot + s.T @ d_dot * s + s_dot.T @ d_dot * s + d.T @ W_i @ s_dot * s
            + 2 * d.T @ s_dot * s + s.T @ d_dot * s + d.T @ s * W_i @ s_dot
        )
    ) - np.cos(m.beta) * m.beta_dot**2 - np.sin(m.beta) * m.beta_ddot  # fmt: skip


def link_cosine_gamma(m, left=()):
    a, a_dot, s, s_dot, d, d_dot, d_p = m.a_i, m.a_i_dot, m.s_i, m.s_i_dot, m.d, m.d_dot, m.d_p
    W_i, W_j, sP_i_dot, sP_j_dot = tilde(m.w_i), tilde(m.w_j), m.sP_i_dot, m.sP_j_dot
    n = np.linalg.norm(d_p)
    u_ddot = -(
        -d_p.T @ W_i @ a_dot - 2 * (d_p if "2 d_p^T a_i'" in left else m.d_p_dot).T @ a_dot + a.T @ (
            -W_j @ sP_j_dot + W_i @ sP_i_dot
            + (d if "d^T s_i' s_i" in left else d_dot).T @ s_dot * s
            + s.T @ W_j @ sP_j_dot * s
            - s.T @ W_i @ sP_i_dot * (1 if "no s_i" in left else s)
            + s.T @ d_dot * (s if "s_i^T d' s_i" in left else s_dot)
            + s_dot.T @ d_dot * s + d.T @ W_i @ s_dot * s
            + 2 * d.T @ s_dot * (s if "2 d^T s_i' s_i" in left else s_dot)
            + s.T @ d_dot * (s if "s_i^T d' s_i again" in left else s_dot)
            + d.T @ s * W_i @ s_dot
        )
    )  # fmt: skip
    cosine_ddot = u_ddot / n  # (u / n)'' with u = a_i^T d_p and without the accelerations
    if "||d_p||" not in left:
        u, u_dot = a.T @ d_p, a_dot.T @ d_p + a.T @ m.d_p_dot
        along, along_dot = d.T @ s, d_dot.T @ s + d.T @ s_dot
        e = W_j @ sP_j_dot - W_i @ sP_i_dot  # d'' without the accelerations
        n_dot = d_p.T @ m.d_p_dot / n
        n_ddot = (d_dot.T @ d_dot + d.T @ e - along_dot**2 - n_dot**2) / n
        n_ddot -= along * (e.T @ s + 2 * d_dot.T @ s_dot + d.T @ W_i @ s_dot) / n
        cosine_ddot += -2 * u_dot * n_dot / n**2 - u * n_ddot / n**2 + 2 * u * n_dot**2 / n**3
    return -cosine_ddot - np.cos(m.beta) * m.beta_dot**2 - np.sin(m.beta) * m.beta_ddot
