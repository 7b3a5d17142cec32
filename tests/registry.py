r"""The papers' printed constraint equations, literally, with a verdict on each.

Every Phi, Phi', D, nu, gamma of seed 000 (sections 2 and 3), of seed 001 (section 2, Eqs. (1)-(4) and (6)) and of seed 002
(sections 2 and 3) stands here three times: as the text of its LaTeX source without fonts, braces and layout; as a function
written sign by sign from it; and, where it is a misprint, corrected.  ``test_registry`` compares the three with each other
and with the kernels.  The papers are known as transcriptions only, so a misprint is one "as transcribed".

Nothing but these functions is a formula typed by hand, and nothing but the tests uses them.  Their argument ``m`` holds what
the symbols stand for, columns (3, 1) in global axes; time derivatives end in ``_dot`` and ``_ddot``:

=================  =============================================================================================
``r_k``            centre of mass of body k
``sP_k``           s_k^P, from the centre of mass to the point P_k of body k;  ``sP_k_local``: s'_k^P
``rP_k``           r_k^P
``s_k``, ``s_k_0`` axis on body k, now and initially (``a_k`` in the definitions)
``d``, ``d_0``     d, now and initially
``w_k``            omega_k;  ``w`` and ``s`` without a body: those of any body and vector fixed in it
=================  =============================================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

SEED_000 = "000_8b85b6cd3078d604.txt"
SEED_001 = "001_ce5beab66016b27f.txt"
SEED_002 = "002_de12e220f19eaeac.txt"

# Printed equations of the sections that are in the registry.
NUMBERS = {SEED_000: range(1, 33), SEED_001: range(1, 7), SEED_002: range(1, 6)}


@dataclass(frozen=True)
class Equation:
    """One printed equation."""

    seed: str
    number: int
    quantity: Literal["Phi", "Phi_dot", "Phi_ddot", "D", "nu", "gamma", "identity"]
    text: tuple[str, ...]  # as transcribed, entry by entry in the order of the source
    literal: Callable[[Any], Any]  # what is printed: an array, or all sides of a chain of equalities
    about: str = ""  # joint, and "joint.row" for single rows; "axes", "equations of motion", or "" for any body
    matrix: tuple[int, int] = (0, 0)  # rows and columns, where the text begins with the entries of a matrix
    by_columns: bool = False  # its entries are printed column by column
    right_angle: bool = False  # for axes that are initially at a right angle
    verdict: Literal["holds", "misprint"] = "holds"
    corrected: Callable[[Any], Any] | None = None
    wrong_rows: tuple[int, ...] = ()
    agrees_at_rest: str = ""  # body without rotation, for which a misprint gives the right value
    note: str = ""  # of a misprint: the proof; else what one must know beside the text

    @property
    def id(self) -> str:
        """Seed and equation."""
        return f"{self.seed[:3]}-{self.number}-{self.quantity}"


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


WRONG_SIGN = (
    "Phi_4'' holds - s_j^T ~omega_i s_i^P' (Eq. (31)), and gamma is minus what Phi'' holds beside D v', so the term is "
    "positive, as the same term is in row 3. The printed row is too small by 2 s_j^T ~omega_i s_i^P', on the constraint "
    "manifold as well as off it; it is right only where that vanishes, such as for a body i that does not turn."
)

GYROSCOPIC = "g holds the gyroscopic torque -omega x J omega beside what is applied; the text does not mention it."

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
        nu_of_four_rows, "universal",
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
        nu_of_four_rows, "modified_universal",
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
)  # fmt: skip
