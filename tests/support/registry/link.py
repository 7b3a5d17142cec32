"""Printed transfer of a moment to the bodies beside a massless link, literally and corrected.

From Rodrigues da Silva et al. (2024c), section 4.
"""

import numpy as np

from tests.support.registry.equation import I, tilde


def projected_link(m):
    part = m.u_r - (m.u_r.T @ m.s) * m.s
    return m.u_p, part / np.linalg.norm(part)


def link_longitude(m):
    (x,), (y,), _ = m.u_p_2
    return m.psi, np.arctan2(y, x) % (2 * np.pi)


def link_latitude(m):
    return m.sigma, np.arccos(m.u_p.T @ m.zeta)


def link_force(m):
    return m.f_i, tilde(m.u_p) @ m.link_mr / (np.linalg.norm(m.u_p) * np.linalg.norm(m.link_mr)) * m.f


def link_force_size_printed(m):
    """(2024c), Eq. (14), with the unit vector of Eq. (8)."""
    return m.f, np.linalg.norm(m.link_mr) / np.linalg.norm(m.u_p)


def link_force_size(m):
    return m.f, np.linalg.norm(m.link_mr) / np.linalg.norm(m.d_p)


def link_moment_i(m):
    return m.m_i, tilde(m.lever) @ m.f_i


def lever_printed(m):
    """(2024c), Eq. (16), with the unit vector of Eq. (8)."""
    return m.lever, m.sP_i + (m.u_r - m.u_p)


def lever(m):
    return m.lever, m.sP_i + (m.u_r - m.d_p)


def link_force_j(m):
    return m.f_j, -m.f_i


def link_moment_j(m):
    return m.m_j, tilde(m.sP_j) @ m.f_j


def _link_rate(m, u_p):
    a, s, u = m.a, m.s, m.u_r
    S, S_i, S_j = tilde(s), tilde(m.sP_i), tilde(m.sP_j)
    bracket = (
        a.T @ (s @ s.T - I) @ m.r_i_dot
        + (-u_p.T @ tilde(a) + a.T @ (S_i - s @ s.T @ S_i + s @ u.T @ S + (u.T @ s) * S)) @ m.w_i
        + a.T @ (I - s @ s.T) @ m.r_j_dot
        + a.T @ (s @ s.T @ S_j - S_j) @ m.w_j
    )
    return m.rate, 1 / (np.linalg.norm(u_p) * np.sin(m.phi)) * bracket


def link_rate_printed(m):
    """(2024c), Eq. (20), with the unit vector of Eq. (8)."""
    return _link_rate(m, m.u_p)


def link_rate(m):
    return _link_rate(m, m.d_p)
