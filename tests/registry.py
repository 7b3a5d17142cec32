r"""The papers' printed constraint equations, literally, with a verdict on each.

Every Phi, Phi', D, nu, gamma of seed 000 (sections 2 and 3), of seed 001 (sections 2 and 3) and of seed 002 (sections 2, 3
and 6), and every equation of the limits of motion (seed 003; section 4 of seeds 001 and 000), stands here three times: as the
text of its LaTeX source without fonts and layout; as a function written sign by sign from it; and, where it is a misprint,
corrected.  ``test_registry`` compares the three with each other and with the kernels and the runtime.  The papers are known
as transcriptions only, so a misprint is one "as transcribed".

Nothing but these functions is a formula typed by hand, and nothing but the tests uses them.  Their argument ``m`` holds what
the symbols stand for, columns (3, 1) in global axes; time derivatives end in ``_dot`` and ``_ddot``:

=================  =============================================================================================
``r_k``            centre of mass of body k
``sP_k``           s_k^P, from the centre of mass to the point P_k of body k;  ``sP_k_local``: s'_k^P
``rP_k``           r_k^P
``s_k``, ``s_k_0`` axis on body k, now and initially (``a_k`` in the definitions)
``d``, ``d_0``     d, now and initially
``w_k``            omega_k;  ``w`` and ``s`` without a body: those of any body and vector fixed in it
``u``, ``u_2``     u_r in global axes, and in the joint's frame (two primes);  ``_A``, ``_B``: of the points A and B
``mr``, ``md``     moments on the moving body, restricting and dissipative;  ``link_mr``: on the massless link
``c e_k theta beta``  the prescribed c*, e_k*, theta and beta;  ``e``: the Euler parameter e_k itself
``G_k``            G_(1:3,k+1), the column of G that belongs to e_k
``dPhi_dt``        partial Phi / partial t: of the signals alone, the bodies being where they are
=================  =============================================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

SEED_000 = "000_8b85b6cd3078d604.txt"
SEED_001 = "001_ce5beab66016b27f.txt"
SEED_002 = "002_de12e220f19eaeac.txt"
SEED_003 = "003_e75bc303145abfda.txt"

# Printed equations of the sections that are in the registry.
NUMBERS = {SEED_000: range(1, 39), SEED_001: range(1, 21), SEED_002: range(1, 24), SEED_003: range(1, 36)}


@dataclass(frozen=True)
class Equation:
    """One printed equation."""

    seed: str
    number: int
    quantity: Literal["Phi", "Phi_dot", "Phi_ddot", "D", "nu", "gamma", "identity"]
    text: tuple[str, ...]  # as transcribed, entry by entry in the order of the source
    literal: Callable[[Any], Any]  # what is printed: an array, or all sides of a chain of equalities
    # Joint, and "joint.row" for single rows; "axes", "equations of motion", or "" for any body; of the limits of motion:
    # "limit" (a direction outside a cone), "ellipse", "spline" (a point C of a cone), "link" (a hinge of a massless link);
    # of the drivers: their names.
    about: str = ""
    matrix: tuple[int, int] = (0, 0)  # rows and columns, where the text begins with the entries of a matrix
    by_columns: bool = False  # its entries are printed column by column
    right_angle: bool = False  # for axes that are initially at a right angle
    verdict: Literal["holds", "slip", "misprint"] = "holds"  # slip: a wrong name beside a right value
    corrected: Callable[..., Any] | None = None
    misprints: tuple[
        str, ...
    ] = ()  # of several: what ``corrected(m, left)`` can leave as it is printed; all: the literal form
    harmless: tuple[str, ...] = ()  # those that change nothing while a_i is perpendicular to s_i, as the text has it
    wrong_rows: tuple[int, ...] = ()
    agrees_at_rest: str = ""  # body without rotation, for which a misprint gives the right value
    note: str = ""  # of a misprint: the proof; else what one must know beside the text
    read: bool = True  # the text itself is evaluated too
    prose: bool = False  # the text is a sentence

    @property
    def id(self) -> str:
        """Seed and equation."""
        return f"{self.seed[:3]}-{self.number}-{self.quantity}"

    @property
    def of_limits(self) -> bool:
        """It speaks of limits of motion."""
        return self.about in ("limit", "ellipse", "spline", "link")

    @property
    def of_drivers(self) -> bool:
        """It speaks of a driving constraint."""
        return self.about in ("guided_point", "euler_parameter", "cosine_of_angle", "cosine_of_link")


def tilde(a: np.ndarray) -> np.ndarray:
    """Skew-symmetric matrix of a column: tilde(a) b = a x b."""
    (x,), (y,), (z,) = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


I = np.eye(3)
O = np.zeros((1, 3))
O3 = np.zeros((3, 3))


# Seed 000, section 2


def equations_of_motion(m):
    matrix = np.block([[m.M, m.D.T], [m.D, np.zeros((len(m.D), len(m.D)))]])
    right = np.vstack([m.g, m.gamma - 2 * m.alpha * m.Phi_dot - m.beta**2 * m.Phi])
    return matrix @ np.vstack([m.v_dot, m.lam]), right


# Seed 000, section 3.1


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


# Seed 000, section 3.2


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
    """Seed 000, Eq. (32): the last sign of the last row."""
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


# Seed 002, section 2 and 3


def equations_of_motion_unstabilised(m):
    matrix = np.block([[m.M, m.D.T], [m.D, np.zeros((len(m.D), len(m.D)))]])
    return matrix @ np.vstack([m.v_dot, m.lam]), np.vstack([m.g, m.gamma])


def modified_gamma_002_printed(m):
    """Seed 002, Eq. (5): the last two terms of the last row stand in the other order than in seed 000."""
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


# Seed 002, section 6: the drivers


def point_Phi(m):
    return m.rP_i - m.c, m.r_i + m.sP_i - m.c


def point_D(m):
    return np.hstack([I, -tilde(m.sP_i)])


def point_nu(m):
    return -m.dPhi_dt, m.c_dot


def point_gamma_printed(m):
    """Seed 002, Eq. (9): the first rate of c*."""
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
    """Seed 002, Eq. (17): the matrix of b_j for its rate, and the second rate of theta twice."""
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
    """Seed 002, Eq. (20): the length of d_p as if it were constant, and d_p^T s_i, which is 0."""
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
    """Seed 002, Eq. (22).  The fifth term of the bracket is a number among vectors: NumPy puts it into every component."""
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


# Seed 003, section 3, seed 001, section 4, and seed 000, section 4.  The first side is ours.


def total_moment(m):
    return m.moment, m.md + m.mr


def to_global(m):
    return m.u, m.A_j @ m.u_1


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
    """Seed 003, Eq. (27): a factor 2 before the second term."""
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
    """Seed 003, Eq. (33): the norm of the vector of Eq. (30), and the distance in the top view."""
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
    """Seed 001, Eq. (14), with the unit vector of Eq. (8)."""
    return m.f, np.linalg.norm(m.link_mr) / np.linalg.norm(m.u_p)


def link_force_size(m):
    return m.f, np.linalg.norm(m.link_mr) / np.linalg.norm(m.d_p)


def link_moment_i(m):
    return m.m_i, tilde(m.lever) @ m.f_i


def lever_printed(m):
    """Seed 001, Eq. (16), with the unit vector of Eq. (8)."""
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
    """Seed 001, Eq. (20), with the unit vector of Eq. (8)."""
    return _link_rate(m, m.u_p)


def link_rate(m):
    return _link_rate(m, m.d_p)


WRONG_SIGN = (
    "Phi_4'' holds - s_j^T ~omega_i s_i^P' (Eq. (31)), and gamma is minus what Phi'' holds beside D v', so the term is "
    "positive, as the same term is in row 3. The printed row is too small by 2 s_j^T ~omega_i s_i^P', on the constraint "
    "manifold as well as off it; it is right only where that vanishes, such as for a body i that does not turn."
)

NU = "As transcribed, v stands for nu: the left side is the velocity right-hand side, of as many rows as Phi."
OTHER_PHI = (
    NU + " And the partial derivative is that of Phi^(theta,1); the printed one names a constraint of no equation."
)
FIRST_RATE = (
    "Phi'' = r_i'' - ~s omega_i' + ~omega_i ~omega_i s - c*'', and ~omega_i ~omega_i s = -~omega_i ~s omega_i: beside D v' "
    "stands c*'', not c*'. The units differ too, m/s among m/s^2. All rows fail, on the manifold and off it, by c*'' - c*'; the "
    "printed form is right only for a point that is to rest."
)
COSINE_RATES = (
    "Phi'' = b^T a'' + 2 a'^T b' + a^T b'' - (cos theta)'', with (cos theta)'' = -cos(theta) theta'^2 - sin(theta) theta''. So "
    "~b_j (3 x 3) stands for b_j', by which the sum is a row of three in place of a number, and the first theta'' for theta'^2; "
    "each alone fails on the manifold and off it. With b_j' put right, it fails by cos(theta) (theta'' - theta'^2), at rest too."
)
CONSTANT_LENGTH = (
    "Phi' = (a_i^T d_p)' / n - a_i^T d_p n' / n^2 + sin(beta) beta', n = ||d_p||; the second term is missing, as if n were "
    "constant. n n' = 1/2 (d^T d)' - (d^T s_i) (s_i^T d)', so what is missing is a sum of rows 1 and 3 of the modified universal "
    "joint. Beside that joint, accelerations, forces and the driver's multiplier are right all the same (gamma: where rows 1 and "
    "3 hold as velocities), and only the multipliers of rows 1 and 3 are others; without it, nothing is right. "
)
LINK_D = (
    CONSTANT_LENGTH
    + "And d_p^T s_i ~s_i vanishes; d^T s_i ~s_i must stand there, from -(d^T s_i) s_i' in Eq. (23), as in seed 001, Eq. (20). "
    "This is no matter of the joint's rows: the printed row resists even a common turn of both bodies. (The d_p^T ~s_i before it "
    "is d^T ~s_i.) Right only where d is perpendicular to s_i and a_i to d_p (beta = 90 degrees), on the manifold and off it."
)
LINK_GAMMA = (
    CONSTANT_LENGTH
    + "The bracket is -d_p'', from Eq. (23), with six slips: 2 d_p^T a_i' for 2 d_p'^T a_i'; d^T s_i' s_i for d'^T s_i' s_i; "
    "s_i^T ~omega_i s_i^P' without s_i after it, a number among vectors; twice s_i^T d' s_i for s_i^T d' s_i'; 2 d^T s_i' s_i "
    "for 2 d^T s_i' s_i'. Of these, only the second does no harm while a_i is perpendicular to s_i. Right where both bodies are "
    "at rest and, but for the length of d_p, where body i is; on the manifold and off it alike."
)

GYROSCOPIC = "g holds the gyroscopic torque -omega x J omega beside what is applied; the text does not mention it."

ATAN2 = "The four-quadrant arc tangent, plus 2 pi where it is negative, as the text of seed 003 says below Eq. (6)."
TWICE = (
    "sigma = sqrt(x^2 + y^2) has the slope (x x' + y y') / sigma: no factor 2 before y y'. Shown against the derivative of the "
    "generated curve, which a circle in the complex plane confirms (test_limit_kernels)."
)
NO_ANGLE = (
    "The three sides of the chain differ: at the nearest point the vector d'' of Eq. (30) has the length sin(delta), while the "
    "root is the distance in the top view, which is delta only where A and B have the same longitude (a regular cone). The "
    "relative angle, whose gradient is -n, is delta = atan2(|u x t|, u . t); with the printed root the moment has no potential."
)
PRINTED_LAW = (
    "The direction and the law as printed, with the planar kappa of Eq. (33); the size of u x n is cos(delta), not 1. "
    "What the runtime does by the name law='printed'."
)
UNIT_PROJECTION = (
    "Eq. (8) divides the projected link by its length. Eqs. (9), (10) and (12) need that; here the vector must keep the length "
    "of the projection: by virtual work the transfer is then that of a torque on the hinge, else not (test_link_transfer)."
)
LINK_FORCE = "The size of the force is that of Eq. (14), corrected; the direction does not depend on the length of u_p."
RATE_SIGN = (
    UNIT_PROJECTION
    + " The corrected quotient is -phi', the rate about s_i where the turn from u_p to a_i is positive about s_i, and is 0 / 0 "
    "at phi = 0 and pi, where the hinge's rate is defined."
)

# Entries that two or three equations share.
ANGLE = r"s_i^T s_j - s_i,0^T s_j,0 = 0"
UNIVERSAL_D = (
    r"-I", r"\tilde s_i^P", r"I", r"-\tilde s_j^P",
    r"0", r"-s_j^T \tilde s_i", r"0", r"-s_i^T \tilde s_j",
)  # fmt: skip
VELOCITIES = (r"\dot r_i", r"\omega_i", r"\dot r_j", r"\omega_j", "= 0")
MODIFIED_PHI = (r"d^T d - l^2 = 0", ANGLE, r"s_i^T d - s_i,0^T d_0 = 0", r"s_j^T d - s_j,0^T d_0 = 0")
MODIFIED_D_BY_COLUMNS = (
    r"-2 d^T", r"0", r"-s_i^T", r"-s_j^T",
    r"2 d^T \tilde s_i^P", r"-s_j^T \tilde s_i", r"-d^T \tilde s_i + s_i^T \tilde s_i^P", r"s_j^T \tilde s_i^P",
    r"2 d^T", r"0", r"s_i^T", r"s_j^T",
    r"-2 d^T \tilde s_j^P", r"-s_i^T \tilde s_j", r"-s_i^T \tilde s_j^P", r"-d^T \tilde s_j - s_j^T \tilde s_j^P",
)  # fmt: skip
D_DDOT = (
    r"(\ddot r_j - \tilde s_j^P \dot\omega_j + \tilde\omega_j \dot s_j^P"
    r" - \ddot r_i + \tilde s_i^P \dot\omega_i - \tilde\omega_i \dot s_i^P)"
)
GAMMA_ROWS_1_TO_3 = (
    r"2 d^T (\tilde\omega_i \dot s_i^P - \tilde\omega_j \dot s_j^P) - 2 \dot d^T \dot d",
    r"-s_i^T \tilde\omega_j \dot s_j - s_j^T \tilde\omega_i \dot s_i - 2 \dot s_j^T \dot s_i",
    r"-d^T \tilde\omega_i \dot s_i - 2 \dot d^T \dot s_i - s_i^T \tilde\omega_j \dot s_j^P + s_i^T \tilde\omega_i \dot s_i^P",
)
AXIS_I = (r"\cos\rho \cos\theta_re", r"\sin\rho \cos\theta_re", r"\sin\theta_re", "^T")
AXIS_J = (r"\sin\varepsilon \cos\tau_re", r"\cos\varepsilon \cos\tau_re", r"\sin\tau_re", "^T")
MAXIMUM = r"\sigma_{h,\max}(\psi_h) = \sqrt{\frac{b^2}{\tan^2(\psi_h) + \frac{b^2}{a^2}} (1 - \frac{b^2}{a^2}) + b^2}"
TOTAL, DAMPER = r"m_h^r = m_h^d + m_h^{mr}", r"m_h^d = -j_h \omega_h"
CUBIC = r"3 (\frac{\kappa}{\Delta\sigma_h})^2 - 2 (\frac{\kappa}{\Delta\sigma_h})^3"
X, Y = (f"c_{{{q},3}}^k l^3 + c_{{{q},2}}^k l^2 + c_{{{q},1}}^k l + c_{{{q},0}}^k" for q in "xy")
DX, DY = (f"3 c_{{{q},3}}^k l^2 + 2 c_{{{q},2}}^k l + c_{{{q},1}}^k" for q in "xy")
PSI_B, SIGMA_B = r"\psi_{h,B}", r"\sigma_{h,\max,B}"
C_B, S_B = (rf"\{f}({PSI_B})" for f in ("cos", "sin"))
CS_B, SS_B = (rf"\{f}({SIGMA_B}({PSI_B}))" for f in ("cos", "sin"))
SLOPE = rf"\frac{{d{SIGMA_B}}}{{d{PSI_B}}}"
SIGMA_L, PSI_L = (rf"\frac{{\partial{q}}}{{\partial l}}" for q in (SIGMA_B, PSI_B))
STABILISED = (
    "M", "D^T", "D", "0", r"\dot v", r"\lambda", "=", "g", r"\gamma - 2 \alpha \dot\Phi - \beta^2 \Phi",
)  # fmt: skip

EQUATIONS = (
    Equation(SEED_000, 1, "identity", STABILISED, equations_of_motion, "equations of motion", matrix=(2, 2), note=GYROSCOPIC),
    Equation(
        SEED_000, 2, "Phi", (r"\Phi^(s,3) \equiv r_j^P - r_i^P = r_j + s_j^P - r_i - s_i^P = 0",), spherical_Phi, "spherical"
    ),
    Equation(
        SEED_000, 3, "Phi", (r"\Phi^(n,1) \equiv s_i^T s_j = 0",), normal_Phi, "constant_angle", right_angle=True,
        note="Eq. (9) for axes at a right angle.",
    ),
    Equation(SEED_000, 4, "identity", (r"s_k^P = A_k s'_k^P (k=i,j)",), local_to_global),
    Equation(SEED_000, 5, "identity", (r"\tan\theta_re = \tan\theta \cos\rho",), real_angle_talocalcaneal, "axes"),
    Equation(SEED_000, 6, "identity", (r"\tan\tau_re = \tan\tau \cos\varepsilon",), real_angle_talocrural, "axes"),
    Equation(SEED_000, 7, "identity", ("s_i =", *AXIS_I), axis_talocalcaneal, "axes"),
    Equation(SEED_000, 8, "identity", ("s_j =", *AXIS_J), axis_talocrural, "axes"),
    Equation(SEED_000, 9, "Phi", (r"\Phi^(n,1) \equiv " + ANGLE,), angle_Phi, "constant_angle"),
    Equation(
        SEED_000, 10, "Phi", (r"\Phi^(u,4) \equiv", r"r_j + s_j^P - r_i - s_i^P = 0", ANGLE), universal_Phi, "universal"
    ),
    Equation(
        SEED_000, 11, "Phi_dot",
        (
            r"\dot\Phi^(u,4) \equiv", r"\dot r_j + \dot s^P_j - \dot r_i - \dot s^P_i = 0",
            r"s_j^T \dot s_i + s_i^T \dot s_j = 0",
        ),
        universal_Phi_dot, "universal",
    ),
    Equation(
        SEED_000, 10, "nu",
        (
            r"vector \(\boldsymbol{\nu}\), which represents the right-hand side vector of the velocity constraint equations, "
            "is null",
        ),
        nu_of_four_rows, "universal", prose=True,
    ),
    Equation(
        SEED_000, 12, "identity", (r"\dot s = \tilde\omega s = -\tilde s \omega",), velocity_of_a_fixed_vector
    ),
    Equation(
        SEED_000, 13, "Phi_dot",
        (
            r"\dot\Phi^(u,4) \equiv",
            r"\dot r_j - \tilde s_j^P \omega_j - \dot r_i + \tilde s_i^P \omega_i = 0",
            r"-s_j^T \tilde s_i \omega_i - s_i^T \tilde s_j \omega_j = 0",
        ),
        universal_Phi_dot_in_omega, "universal",
    ),
    Equation(
        SEED_000, 14, "Phi_dot", (r"\dot\Phi^(u,4) \equiv", *UNIVERSAL_D, *VELOCITIES),
        universal_Phi_dot_by_D, "universal", matrix=(2, 4),
    ),
    Equation(SEED_000, 15, "D", (r"D^(u,4) =", *UNIVERSAL_D), universal_D, "universal", matrix=(2, 4)),
    Equation(
        SEED_000, 16, "Phi_ddot",
        (
            r"\ddot\Phi^(u,4) \equiv",
            r"\ddot r_j + \ddot s^P_j - \ddot r_i - \ddot s^P_i = 0",
            r"s_j^T \ddot s_i + \dot s_i^T \dot s_j + s_i^T \ddot s_j + \dot s_j^T \dot s_i = 0",
        ),
        universal_Phi_ddot, "universal",
    ),
    Equation(
        SEED_000, 17, "identity", (r"\ddot s = -\tilde s \dot\omega + \tilde\omega \dot s",), acceleration_of_a_fixed_vector
    ),
    Equation(
        SEED_000, 18, "Phi_ddot",
        (
            r"\ddot\Phi^(u,4) \equiv",
            D_DDOT.strip("()") + " = 0",
            r"s_j^T (-\tilde s_i \dot\omega_i + \tilde\omega_i \dot s_i)"
            r" + s_i^T (-\tilde s_j \dot\omega_j + \tilde\omega_j \dot s_j) + 2 \dot s_j^T \dot s_i = 0",
        ),
        universal_Phi_ddot_in_omega, "universal",
    ),
    Equation(
        SEED_000, 19, "gamma",
        (
            r"\gamma^(u,4) =",
            r"\tilde\omega_i \dot s_i^P - \tilde\omega_j \dot s_j^P",
            r"-s_i^T \tilde\omega_j \dot s_j - s_j^T \tilde\omega_i \dot s_i - 2 \dot s_j^T \dot s_i",
        ),
        universal_gamma, "universal",
    ),
    Equation(SEED_000, 20, "Phi", (r"\Phi_1 \equiv d^T d - l^2 = 0",), length_Phi, "constant_distance"),
    Equation(
        SEED_000, 21, "identity", (r"d = r_j^P - r_i^P = r_j + s_j^P - r_i - s_i^P",), link
    ),
    Equation(SEED_000, 22, "Phi", (r"\Phi_2 \equiv " + ANGLE,), angle_Phi, "modified_universal.axes_angle"),
    Equation(
        SEED_000, 23, "Phi", (r"\Phi_3 \equiv s_i^T d - s_i,0^T d_0 = 0",), link_axis_i_Phi, "modified_universal.link_axis_i"
    ),
    Equation(
        SEED_000, 24, "Phi", (r"\Phi_4 \equiv s_j^T d - s_j,0^T d_0 = 0",), link_axis_j_Phi, "modified_universal.link_axis_j"
    ),
    Equation(SEED_000, 25, "Phi", (r"\Phi^(u_m,4) \equiv", *MODIFIED_PHI), modified_Phi, "modified_universal"),
    Equation(
        SEED_000, 25, "nu",
        (r"are not explicit functions of time, vector \(\boldsymbol{\nu}\) is null",),
        nu_of_four_rows, "modified_universal", prose=True,
    ),
    Equation(
        SEED_000, 26, "Phi_dot",
        (
            r"\dot\Phi^(u_m,4) \equiv",
            r"2 d^T (\dot r_j + \dot s_j^P - \dot r_i - \dot s_i^P) = 0",
            r"s_j^T \dot s_i + s_i^T \dot s_j = 0",
            r"d^T \dot s_i + s_i^T (\dot r_j + \dot s_j^P - \dot r_i - \dot s_i^P) = 0",
            r"d^T \dot s_j + s_j^T (\dot r_j + \dot s_j^P - \dot r_i - \dot s_i^P) = 0",
        ),
        modified_Phi_dot, "modified_universal",
    ),
    Equation(
        SEED_000, 27, "Phi_dot",
        (
            r"\dot\Phi^(u_m,4) \equiv",
            r"2 d^T (\dot r_j - \tilde s_j^P \omega_j - \dot r_i + \tilde s_i^P \omega_i) = 0",
            r"-s_j^T \tilde s_i \omega_i - s_i^T \tilde s_j \omega_j = 0",
            r"-d^T \tilde s_i \omega_i + s_i^T \dot r_j - s_i^T \tilde s_j^P \omega_j - s_i^T \dot r_i"
            r" + s_i^T \tilde s_i^P \omega_i = 0",
            r"-d^T \tilde s_j \omega_j + s_j^T \dot r_j - s_j^T \tilde s_j^P \omega_j - s_j^T \dot r_i"
            r" + s_j^T \tilde s_i^P \omega_i = 0",
        ),
        modified_Phi_dot_in_omega, "modified_universal",
    ),
    Equation(
        SEED_000, 28, "Phi_dot", (r"\dot\Phi^(u_m,4) \equiv", *MODIFIED_D_BY_COLUMNS, *VELOCITIES),
        modified_Phi_dot_by_D, "modified_universal", matrix=(4, 4), by_columns=True,
    ),
    Equation(
        SEED_000, 29, "D", (r"D_(4\times12)^(u_m,4) =", *MODIFIED_D_BY_COLUMNS),
        modified_D, "modified_universal", matrix=(4, 4), by_columns=True,
    ),
    Equation(
        SEED_000, 30, "Phi_ddot",
        (
            r"\ddot\Phi^(u_m,4) \equiv",
            r"2 d^T (\ddot r_j + \ddot s_j^P - \ddot r_i - \ddot s_i^P) + 2 \dot d^T \dot d = 0",
            r"s_j^T \ddot s_i + \dot s_i^T \dot s_j + s_i^T \ddot s_j + \dot s_j^T \dot s_i = 0",
            r"d^T \ddot s_i + \dot s_i^T \dot d + s_i^T (\ddot r_j + \ddot s_j^P - \ddot r_i - \ddot s_i^P)"
            r" + \dot d^T \dot s_i = 0",
            r"d^T \ddot s_j + \dot s_j^T \dot d + s_j^T (\ddot r_j + \ddot s_j^P - \ddot r_i - \ddot s_i^P)"
            r" + \dot d^T \dot s_j = 0",
        ),
        modified_Phi_ddot, "modified_universal",
    ),
    Equation(
        SEED_000, 31, "Phi_ddot",
        (
            r"\ddot\Phi^(u_m,4) \equiv",
            r"2 d^T " + D_DDOT + r" + 2 \dot d^T \dot d = 0",
            r"s_j^T (-\tilde s_i \dot\omega_i + \tilde\omega_i \dot s_i) + \dot s_i^T \dot s_j"
            r" + s_i^T (-\tilde s_j \dot\omega_j + \tilde\omega_j \dot s_j) + \dot s_j^T \dot s_i = 0",
            r"d^T (-\tilde s_i \dot\omega_i + \tilde\omega_i \dot s_i) + \dot s_i^T \dot d + s_i^T " + D_DDOT
            + r" + \dot d^T \dot s_i = 0",
            r"d^T (-\tilde s_j \dot\omega_j + \tilde\omega_j \dot s_j) + \dot s_j^T \dot d + s_j^T " + D_DDOT
            + r" + \dot d^T \dot s_j = 0",
        ),
        modified_Phi_ddot_in_omega, "modified_universal",
    ),
    Equation(
        SEED_000, 32, "gamma",
        (
            r"\gamma^(u_m,4) =",
            *GAMMA_ROWS_1_TO_3,
            r"-d^T \tilde\omega_j \dot s_j - 2 \dot d^T \dot s_j"
            r" - s_j^T \tilde\omega_j \dot s_j^P - s_j^T \tilde\omega_i \dot s_i^P",
        ),
        modified_gamma_printed, "modified_universal",
        verdict="misprint", corrected=modified_gamma, wrong_rows=(3,), agrees_at_rest="i", note=WRONG_SIGN,
    ),
    Equation(SEED_001, 1, "identity", (r"\tan\theta_re = \tan\theta \cos\rho",), real_angle_talocalcaneal, "axes"),
    Equation(SEED_001, 2, "identity", (r"\tan\tau_re = \tan\tau \cos\varepsilon",), real_angle_talocrural, "axes"),
    Equation(SEED_001, 3, "identity", ("s_talocalcaneal =", *AXIS_I), axis_talocalcaneal, "axes"),
    Equation(SEED_001, 4, "identity", ("s_talocrural =", *AXIS_J), axis_talocrural, "axes"),
    Equation(SEED_001, 5, "identity", STABILISED, equations_of_motion, "equations of motion", matrix=(2, 2), note=GYROSCOPIC),
    Equation(SEED_001, 6, "Phi", (r"\Phi \equiv " + ANGLE,), angle_Phi, "constant_angle"),
    Equation(
        SEED_002, 1, "identity", ("M", "D^T", "D", "0", r"\dot v", r"\lambda", "=", "g", r"\gamma"),
        equations_of_motion_unstabilised, "equations of motion", matrix=(2, 2), note=GYROSCOPIC,
    ),
    Equation(SEED_002, 2, "Phi", (r"\Phi^(u_m,4) =", *MODIFIED_PHI), modified_Phi, "modified_universal"),
    Equation(
        SEED_002, 3, "identity", (r"d = r_j^p - r_i^p = r_j + s_j^p - r_i - s_i^p",), link
    ),
    Equation(
        SEED_002, 4, "D",
        (
            r"D^(u_m,4) =",
            r"-2 d^T", r"2 d^T \tilde s_i^P", r"2 d^T", r"-2 d^T \tilde s_j^P",
            r"0", r"-s_j^T \tilde s_i", r"0", r"-s_i^T \tilde s_j",
            r"-s_i^T", r"-d^T \tilde s_i + s_i^T \tilde s_i^P", r"s_i^T", r"-s_i^T \tilde s_j^P",
            r"-s_j^T", r"s_j^T \tilde s_i^P", r"s_j^T", r"-d^T \tilde s_j - s_j^T \tilde s_j^P",
        ),
        modified_D, "modified_universal", matrix=(4, 4),
    ),
    Equation(
        SEED_002, 5, "gamma",
        (
            r"\gamma^(u_m,4) =",
            *GAMMA_ROWS_1_TO_3,
            r"-d^T \tilde\omega_j \dot s_j - 2 \dot d^T \dot s_j"
            r" - s_j^T \tilde\omega_i \dot s_i^P - s_j^T \tilde\omega_j \dot s_j^P",
        ),
        modified_gamma_002_printed, "modified_universal",
        verdict="misprint", corrected=modified_gamma, wrong_rows=(3,), agrees_at_rest="i", note=WRONG_SIGN,
    ),
    Equation(SEED_002, 6, "Phi", (r"\Phi^{(G,3)} = r_i^G - c^*(t) = r_i + s_i^G - c^*(t) = 0",), point_Phi, "guided_point"),
    Equation(SEED_002, 7, "D", (r"D^{(G,3)} = [I", r"-\tilde s_i^G]"), point_D, "guided_point"),
    Equation(
        SEED_002, 8, "nu", (r"v^{(G,3)} = -\frac{\partial\Phi^{(G,3)}}{\partial t} = \dot c^*(t)",), point_nu, "guided_point",
        verdict="slip", note=NU,
    ),
    Equation(
        SEED_002, 9, "gamma", (r"\gamma^{(G,3)} = \tilde\omega_i \tilde s_i^G \omega_i + \dot c^*(t)",),
        point_gamma_printed, "guided_point",
        verdict="misprint", corrected=point_gamma, wrong_rows=(0, 1, 2), note=FIRST_RATE,
    ),
    Equation(SEED_002, 10, "Phi", (r"\Phi^{(e_k,1)} = e_k - e_k^*(t) = 0",), parameter_Phi, "euler_parameter"),
    Equation(
        SEED_002, 11, "D", (r"D^{(e_k,1)} =", "0", r"\frac{1}{2} (G_{(1:3,k+1)})^T"), parameter_D, "euler_parameter"
    ),
    Equation(
        SEED_002, 12, "nu", (r"v^{(e_k,1)} = -\frac{\partial\Phi^{(e_k,1)}}{\partial t} = \dot e_k^*(t)",), parameter_nu,
        "euler_parameter", verdict="slip", note=NU,
    ),
    Equation(
        SEED_002, 13, "gamma", (r"\gamma^{(e_k,1)} = \ddot e_k^*(t) - \frac{1}{2} \omega_i^T \dot G_{(1:3,k+1)}",),
        parameter_gamma, "euler_parameter",
    ),
    Equation(SEED_002, 14, "Phi", (r"\Phi^{(\theta,1)} = a_i^T b_j - \cos\theta(t) = 0",), cosine_Phi, "cosine_of_angle"),
    Equation(
        SEED_002, 15, "D", (r"D^{(\theta,1)} =", "0", r"-b_j^T \tilde a_i", "0", r"-a_i^T \tilde b_j"),
        cosine_D, "cosine_of_angle",
    ),
    Equation(
        SEED_002, 16, "nu",
        (r"v^{(\theta,1)} = -\frac{\partial\Phi^{(s_i s_m,1)}}{\partial t} = -\sin\theta(t) \dot\theta(t)",),
        cosine_nu, "cosine_of_angle", verdict="slip", note=OTHER_PHI,
    ),
    Equation(
        SEED_002, 17, "gamma",
        (
            r"\gamma^{(\theta,1)} = -b_j^T \tilde\omega_i \dot a_i - a_i^T \tilde\omega_j \dot b_j - 2 \dot a_i^T \tilde b_j"
            r" - \cos\theta(t) \ddot\theta(t) - \sin\theta(t) \ddot\theta(t)",
        ),
        cosine_gamma_printed, "cosine_of_angle",
        verdict="misprint", corrected=cosine_gamma, misprints=("~b_j", "theta''"), wrong_rows=(0,), note=COSINE_RATES,
    ),
    Equation(SEED_002, 18, "identity", (r"d_p = d - (d^T s_i) s_i",), guided_projection, "cosine_of_link"),
    Equation(
        SEED_002, 19, "Phi", (r"\Phi^{(\beta,1)} = \frac{a_i^T d_p}{\|d_p\|} - \cos\beta(t) = 0",), link_cosine_Phi,
        "cosine_of_link",
    ),
    Equation(
        SEED_002, 20, "D",
        (
            r"D^{(\beta,1)} =", r"\frac{a_i^T (s_i s_i^T - I)}{\|d_p\|}",
            r"\frac{-d_p^T \tilde a_i + a_i^T (\tilde s_i^P - s_i s_i^T \tilde s_i^P + s_i d_p^T \tilde s_i"
            r" + d_p^T s_i \tilde s_i)}{\|d_p\|}",
            r"\frac{a_i^T (I - s_i s_i^T)}{\|d_p\|}", r"\frac{a_i^T (s_i s_i^T \tilde s_j^P - \tilde s_j^P)}{\|d_p\|}",
        ),
        link_cosine_D_printed, "cosine_of_link",
        verdict="misprint", corrected=link_cosine_D, misprints=("d_p^T s_i", "||d_p||"), wrong_rows=(0,), note=LINK_D,
    ),
    Equation(
        SEED_002, 21, "nu", (r"v^{(\beta,1)} = -\frac{\partial\Phi^{(\beta,1)}}{\partial t} = -\sin\beta(t) \dot\beta(t)",),
        link_cosine_nu, "cosine_of_link", verdict="slip", note=NU,
    ),
    Equation(
        SEED_002, 22, "gamma",
        (
            r"\gamma^{(\beta,1)} = \frac{1}{\|d_p\|}",
            r"(-d_p^T \tilde\omega_i \dot a_i - 2 d_p^T \dot a_i + a_i^T (-\tilde\omega_j \dot s_j^P + \tilde\omega_i \dot s_i^P"
            r" + d^T \dot s_i s_i + s_i^T \tilde\omega_j \dot s_j^P s_i",
            r"-s_i^T \tilde\omega_i \dot s_i^P + s_i^T \dot d s_i + \dot s_i^T \dot d s_i + d^T \tilde\omega_i \dot s_i s_i"
            r" + 2 d^T \dot s_i s_i + s_i^T \dot d s_i + d^T s_i \tilde\omega_i \dot s_i))",
            r"-\cos\beta(t) \dot\beta(t)^2 - \sin\beta(t) \ddot\beta(t)",
        ),
        link_cosine_gamma_printed, "cosine_of_link",
        verdict="misprint", corrected=link_cosine_gamma,
        misprints=(
            "2 d_p^T a_i'", "d^T s_i' s_i", "no s_i", "s_i^T d' s_i", "2 d^T s_i' s_i", "s_i^T d' s_i again", "||d_p||",
        ),
        harmless=("d^T s_i' s_i",), wrong_rows=(0,), note=LINK_GAMMA,
    ),
    Equation(
        SEED_002, 23, "identity", (r"\dot d_p = \dot d - s_i^T \dot d s_i - d^T \dot s_i s_i - d^T s_i \dot s_i",),
        guided_projection_rate, "cosine_of_link",
    ),
    Equation(SEED_000, 33, "identity", (TOTAL,), total_moment, "limit"),
    Equation(SEED_000, 34, "identity", (DAMPER,), dissipative_moment, "limit"),
    Equation(
        SEED_000, 35, "identity", (r"u'_{\zeta,h} = \tilde u'_{\xi,h} u'_{\eta,h}",), third_axis_local, "limit"
    ),
    Equation(
        SEED_000, 36, "identity", (r"\psi_h = \arctan(\frac{u''_{r,h,\eta}}{u''_{r,h,\xi}})",), longitude, "limit", note=ATAN2
    ),
    Equation(SEED_000, 37, "identity", (r"\sigma_h = \arccos(u''_{r,h}^T u''_{\zeta,h})",), latitude, "limit"),
    Equation(
        SEED_000, 38, "identity",
        (
            r"m_h^{mr} =", r"0", r"if \sigma_h \le \sigma_{h,\max}", r"m_{p,h}", CUBIC, r"\tilde u_{r,h} n",
            r"if \sigma_{h,\max} < \sigma_h\ and\ \kappa \le \Delta\sigma_h", r"m_{p,h} \tilde u_{r,h} n",
            r"if \kappa > \Delta\sigma_h",
        ),
        restricting_moment, "limit", note=PRINTED_LAW,
    ),
    Equation(SEED_001, 7, "identity", (TOTAL,), total_moment, "limit"),
    Equation(
        SEED_001, 8, "identity",
        (r"u_{r,h,p} = \frac{u_{r,h} - (u_{r,h}^T s_i) s_i}{\|u_{r,h} - (u_{r,h}^T s_i) s_i\|}",), projected_link, "link",
        note="The direction that the cone restrains; Eqs. (14), (16) and (20) need the projection without the division.",
    ),
    Equation(
        SEED_001, 9, "identity", (r"\psi_h = \arctan(\frac{u_{r,h,p,\eta}}{u_{r,h,p,\xi}})",), link_longitude, "link", note=ATAN2
    ),
    Equation(SEED_001, 10, "identity", (r"\sigma_h = \arccos(u_{r,h,p}^T u_{\zeta,h})",), link_latitude, "link"),
    Equation(SEED_001, 11, "identity", (MAXIMUM,), elliptical_maximum, "ellipse"),
    Equation(
        SEED_001, 12, "identity",
        (
            r"m_h^{mr} =", r"0", r"if \sigma_h \leq \sigma_{h,\max}", r"m_{p,h}", CUBIC, r"\tilde u_{r,h,p} n",
            r"if \sigma_{h,\max} < \sigma_h and \kappa \leq \Delta\sigma_h", r"m_{p,h} \tilde u_{r,h,p} n",
            r"if \kappa > \Delta\sigma_h",
        ),
        restricting_moment, "limit", note=PRINTED_LAW,
    ),
    Equation(
        SEED_001, 13, "identity",
        (
            r"f_{h,i} = (\frac{\tilde u_{r,h,p} m_{h,massless}^{mr}}{\|u_{r,h,p}\| \|m_{h,massless}^{mr}\|}) f_{h,i}",
        ),
        link_force, "link", note=LINK_FORCE,
    ),
    Equation(
        SEED_001, 14, "identity", (r"f_{h,i} = \frac{\|m_{h,massless}^{nr}\|}{\|u_{r,h,p}\|}",), link_force_size_printed, "link",
        verdict="misprint", corrected=link_force_size, wrong_rows=(0,), note=UNIT_PROJECTION + " (And nr stands for mr.)",
    ),
    Equation(SEED_001, 15, "identity", (r"m_{h,i} = \tilde l_{h,i} f_{h,i}",), link_moment_i, "link"),
    Equation(
        SEED_001, 16, "identity", (r"l_{h,i} = s_i^p + (u_{r,h} - u_{r,h,p})",), lever_printed, "link",
        verdict="misprint", corrected=lever, wrong_rows=(0, 1, 2), note=UNIT_PROJECTION,
    ),
    Equation(SEED_001, 17, "identity", (r"f_{h,j} = -f_{h,i}",), link_force_j, "link"),
    Equation(SEED_001, 18, "identity", (r"m_{h,j} = \tilde s_j^p f_{h,j}",), link_moment_j, "link"),
    Equation(SEED_001, 19, "identity", (DAMPER,), dissipative_moment, "limit"),
    Equation(
        SEED_001, 20, "identity",
        (
            r"\omega_h = \frac{1}{\|u_{r,h,p}\| \sin\varphi} (a_i^T (s_i s_i^T - I) \dot r_i + (-u_{r,h,p}^T \tilde a_i"
            r" + a_i^T (\tilde s_i^p - s_i s_i^T \tilde s_i^p + s_i u_{r,h}^T \tilde s_i + u_{r,h}^T s_i \tilde s_i)) \omega_i",
            r"+ a_i^T (I - s_i s_i^T) \dot r_j + a_i^T (s_i s_i^T \tilde s_j^p - \tilde s_j^p) \omega_j)",
        ),
        link_rate_printed, "link", verdict="misprint", corrected=link_rate, wrong_rows=(0,), note=RATE_SIGN,
    ),
    Equation(SEED_003, 1, "identity", STABILISED, equations_of_motion, "equations of motion", matrix=(2, 2), note=GYROSCOPIC),
    Equation(SEED_003, 2, "identity", (TOTAL,), total_moment, "limit"),
    Equation(SEED_003, 3, "identity", (r"u = A_k u'",), to_global, "limit"),
    Equation(SEED_003, 4, "identity", (r"u_{\zeta,h} = \tilde u_{\xi,h} u_{\eta,h}",), third_axis, "limit"),
    Equation(SEED_003, 5, "identity", (r"u = A_i B_h u''",), from_the_joint, "limit"),
    Equation(
        SEED_003, 6, "identity", (r"\psi_h = \arctan(\frac{u_{\rm r,h,\eta}''}{u_{\rm r,h,\xi}''})",), longitude, "limit",
        note=ATAN2,
    ),
    Equation(SEED_003, 7, "identity", (r"\sigma_h = \arccos(u_{r,h}''T u_{\zeta,h}'')",), latitude, "limit"),
    Equation(SEED_003, 8, "identity", (r"\frac{x^2}{a^2} + \frac{y^2}{b^2} = 1",), ellipse, "ellipse"),
    Equation(SEED_003, 9, "identity", (r"\psi_h = \arctan(\frac{y}{x})",), longitude_C, "ellipse", note=ATAN2),
    Equation(SEED_003, 10, "identity", (r"\sigma_{h,\max} = \|r_C\| = \sqrt{x^2 + y^2}",), latitude_C, "ellipse"),
    Equation(SEED_003, 11, "identity", (r"y = \pm b \sqrt{1 - \frac{x^2}{a^2}}",), ellipse_y, "ellipse"),
    Equation(
        SEED_003, 12, "identity", (r"x = \pm \sqrt{\frac{b^2 a^2}{a^2 \tan^2(\psi_h) + b^2}}",), ellipse_x, "ellipse"
    ),
    Equation(SEED_003, 13, "identity", (MAXIMUM,), elliptical_maximum, "ellipse"),
    Equation(
        SEED_003, 14, "identity",
        (
            "a = a_1, b = b_1", r"if 0^\circ \le \psi_h < 90^\circ", "a = a_2, b = b_1", r"if 90^\circ \le \psi_h < 180^\circ",
            "a = a_2, b = b_2", r"if 180^\circ \le \psi_h < 270^\circ", "a = a_1, b = b_2",
            r"if 270^\circ \le \psi_h \le 360^\circ",
        ),
        quadrants, "ellipse", read=False,
    ),
    Equation(SEED_003, 15, "identity", (r"f(l) = \sum\limits_{q = 0}^n c_q^k l^q",), polynomial_x, "spline", read=False),
    Equation(
        SEED_003, 16, "identity", (f"x = {X}",), spline_x, "spline", note="l counts from the beginning of each piece."
    ),
    Equation(SEED_003, 17, "identity", (f"y = {Y}",), spline_y, "spline"),
    Equation(SEED_003, 18, "identity", (rf"\sigma_{{h,\max}} = \sqrt{{({X})^2 + ({Y})^2}}",), spline_maximum, "spline"),
    Equation(
        SEED_003, 19, "identity", (rf"\psi_h = \arctan(\frac{{{Y}}}{{{X}}})",), spline_longitude, "spline", note=ATAN2
    ),
    Equation(SEED_003, 20, "identity", (r"v_r'' =", "0", "0", "G", "^T"), generating_line, "limit"),
    Equation(
        SEED_003, 21, "identity",
        (
            r"r'' =", r"R_{h,\zeta} R_{h,\eta} v_r''", "=",
            r"\cos(\psi_h)", r"-\sin(\psi_h)", "0", r"\sin(\psi_h)", r"\cos(\psi_h)", "0", "0", "0", "1",
            r"\cos(\sigma_h)", "0", r"\sin(\sigma_h)", "0", "1", "0", r"-\sin(\sigma_h)", "0", r"\cos(\sigma_h)",
            "0", "0", "G", "=",
            r"G \cos(\psi_h) \sin(\sigma_h)", r"G \sin(\psi_h) \sin(\sigma_h)", r"G \cos(\sigma_h)",
        ),
        position_vector, "limit",
    ),
    Equation(
        SEED_003, 22, "identity", (r"r_B'' =", f"G {C_B} {SS_B}", f"G {S_B} {SS_B}", f"G {CS_B}"), surface, "limit"
    ),
    Equation(SEED_003, 23, "identity", (r"t_G'' =", f"{C_B} {SS_B}", f"{S_B} {SS_B}", CS_B), tangent_G, "limit"),
    Equation(
        SEED_003, 24, "identity",
        (
            r"t_\psi'' =", f"G (-{S_B} {SS_B} + {C_B} {CS_B} {SLOPE})", f"G ({C_B} {SS_B} + {S_B} {CS_B} {SLOPE})",
            f"G (-{SS_B} {SLOPE})",
        ),
        tangent_psi, "limit",
    ),
    Equation(
        SEED_003, 25, "identity",
        (
            rf"{SLOPE} = \frac{{1}}{{a^2 b^2}} (b^2 - a^2) {S_B} {C_B}"
            rf" (\frac{{a^2 b^2 \frac{{1}}{{\cos^2({PSI_B})}}}}{{a^2 \tan^2({PSI_B}) + b^2}})^{{3/2}}",
        ),
        elliptical_slope, "ellipse",
    ),
    Equation(
        SEED_003, 26, "identity",
        (
            rf"{SLOPE} = \frac{{\partial{SIGMA_B}}}{{\partial{PSI_B}}} = {SIGMA_L} \frac{{\partial l}}{{\partial{PSI_B}}}"
            rf" = {SIGMA_L} \frac{{1}}{{({PSI_L})}}",
        ),
        spline_slope, "spline",
    ),
    Equation(
        SEED_003, 27, "identity", (rf"{SIGMA_L} = \frac{{1}}{{\sqrt{{x^2 + y^2}}}} (({DX}) x + 2 ({DY}) y)",),
        latitude_along_printed, "spline", verdict="misprint", corrected=latitude_along, wrong_rows=(0,), note=TWICE,
    ),
    Equation(
        SEED_003, 28, "identity",
        (rf"{PSI_L} = \frac{{x^2}}{{y^2 + x^2}} ((\frac{{{DY}}}{{x}}) - (\frac{{y ({DX})}}{{x^2}}))",), longitude_along, "spline",
    ),
    Equation(
        SEED_003, 29, "identity", (r"n'' = \frac{\tilde t_G'' t_\psi''}{\|\tilde t_G'' t_\psi''\|}",), normal, "limit",
        note="It points inside.",
    ),
    Equation(SEED_003, 30, "identity", (r"d'' = r_B'' - u_{r,h}''",), distance_vector, "limit"),
    Equation(
        SEED_003, 31, "identity", (r"\tilde d'' n'' = 0 \Leftrightarrow", r"d''T t_G'' = 0", r"d''T t_\psi'' = 0"),
        least_distance, "limit", read=False,
    ),
    Equation(
        SEED_003, 32, "identity",
        (
            r"m_h''mr =", r"0", "if", r"\sigma_{h,A} \le \sigma_{h,\max,A}", r"m_{p,h}", CUBIC, r"\tilde u_{r,h}'' n''",
            "if", r"\sigma_{h,\max,A} < \sigma_{h,A} and \kappa \le \Delta\sigma_h", r"m_{p,h} \tilde u_{r,h}'' n''", "if",
            r"\kappa > \Delta\sigma_h",
        ),
        restricting_moment, "limit", note=PRINTED_LAW,
    ),
    Equation(
        SEED_003, 33, "identity",
        (
            r"\kappa = \|d''\| = \sqrt{\sigma_{h,A}^2 + \sigma_{h,\max,B}^2"
            r" - 2 \sigma_{h,A} \sigma_{h,\max,B} \cos(\psi_{h,A} - \psi_{h,B})}",
        ),
        relative_angle_printed, "limit",
        verdict="misprint", corrected=relative_angle, wrong_rows=(0,), note=NO_ANGLE,
    ),
    Equation(SEED_003, 34, "identity", (DAMPER,), dissipative_moment, "limit"),
    Equation(SEED_003, 35, "identity", (r"\omega_h = \omega_j - \omega_i",), relative_velocity, "limit"),
)  # fmt: skip
