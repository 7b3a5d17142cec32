"""Entries of Rodrigues da Silva et al. (2024a)."""

from tests.papers.citations import RODRIGUES_2024A
from tests.papers.equation import Equation
from tests.papers.notes import ATAN2, GYROSCOPIC, PRINTED_LAW, WRONG_SIGN
from tests.papers.texts import (
    ANGLE,
    AXIS_I,
    AXIS_J,
    CUBIC,
    D_DDOT,
    DAMPER,
    GAMMA_ROWS_1_TO_3,
    MODIFIED_D_BY_COLUMNS,
    MODIFIED_PHI,
    STABILISED,
    TOTAL,
    UNIVERSAL_D,
    VELOCITIES,
)

NULL = ("0", "0", "0", "0")
EQUATIONS_2024A = (
    Equation(
        RODRIGUES_2024A, 1, "identity", STABILISED, "equations of motion", matrix=(2, 2), note=GYROSCOPIC,
    ),
    Equation(
        RODRIGUES_2024A, 2, "Phi", (r"\Phi^(s,3) \equiv r_j^P - r_i^P = r_j + s_j^P - r_i - s_i^P = 0",),
        "spherical"
    ),
    Equation(
        RODRIGUES_2024A, 3, "Phi", (r"\Phi^(n,1) \equiv s_i^T s_j = 0",), "constant_angle", right_angle=True,
        note="Eq. (9) for axes at a right angle.",
    ),
    Equation(RODRIGUES_2024A, 4, "identity", (r"s_k^P = A_k s'_k^P (k=i,j)",)),
    Equation(RODRIGUES_2024A, 5, "identity", (r"\tan\theta_re = \tan\theta \cos\rho",), "axes"),
    Equation(RODRIGUES_2024A, 6, "identity", (r"\tan\tau_re = \tan\tau \cos\varepsilon",), "axes"),
    Equation(RODRIGUES_2024A, 7, "identity", ("s_i =", *AXIS_I), "axes"),
    Equation(RODRIGUES_2024A, 8, "identity", ("s_j =", *AXIS_J), "axes"),
    Equation(RODRIGUES_2024A, 9, "Phi", (r"\Phi^(n,1) \equiv " + ANGLE,), "constant_angle"),
    Equation(
        RODRIGUES_2024A, 10, "Phi", (r"\Phi^(u,4) \equiv", r"r_j + s_j^P - r_i - s_i^P = 0", ANGLE), "universal"
    ),
    Equation(
        RODRIGUES_2024A, 11, "Phi_dot",
        (
            r"\dot\Phi^(u,4) \equiv", r"\dot r_j + \dot s^P_j - \dot r_i - \dot s^P_i = 0",
            r"s_j^T \dot s_i + s_i^T \dot s_j = 0",
        ),
        "universal",
    ),
    Equation(
        RODRIGUES_2024A, 10, "nu",
        (
            r"vector \(\boldsymbol{\nu}\), which represents the right-hand side vector of the velocity constraint equations, "
            "is null",
        ),
        "universal", means=NULL, prose=True,
    ),
    Equation(
        RODRIGUES_2024A, 12, "identity", (r"\dot s = \tilde\omega s = -\tilde s \omega",),
    ),
    Equation(
        RODRIGUES_2024A, 13, "Phi_dot",
        (
            r"\dot\Phi^(u,4) \equiv",
            r"\dot r_j - \tilde s_j^P \omega_j - \dot r_i + \tilde s_i^P \omega_i = 0",
            r"-s_j^T \tilde s_i \omega_i - s_i^T \tilde s_j \omega_j = 0",
        ),
        "universal",
    ),
    Equation(
        RODRIGUES_2024A, 14, "Phi_dot", (r"\dot\Phi^(u,4) \equiv", *UNIVERSAL_D, *VELOCITIES),
        "universal", matrix=(2, 4),
    ),
    Equation(RODRIGUES_2024A, 15, "D", (r"D^(u,4) =", *UNIVERSAL_D), "universal", matrix=(2, 4)),
    Equation(
        RODRIGUES_2024A, 16, "Phi_ddot",
        (
            r"\ddot\Phi^(u,4) \equiv",
            r"\ddot r_j + \ddot s^P_j - \ddot r_i - \ddot s^P_i = 0",
            r"s_j^T \ddot s_i + \dot s_i^T \dot s_j + s_i^T \ddot s_j + \dot s_j^T \dot s_i = 0",
        ),
        "universal",
    ),
    Equation(
        RODRIGUES_2024A, 17, "identity", (r"\ddot s = -\tilde s \dot\omega + \tilde\omega \dot s",),
    ),
    Equation(
        RODRIGUES_2024A, 18, "Phi_ddot",
        (
            r"\ddot\Phi^(u,4) \equiv",
            D_DDOT.strip("()") + " = 0",
            r"s_j^T (-\tilde s_i \dot\omega_i + \tilde\omega_i \dot s_i)"
            r" + s_i^T (-\tilde s_j \dot\omega_j + \tilde\omega_j \dot s_j) + 2 \dot s_j^T \dot s_i = 0",
        ),
        "universal",
    ),
    Equation(
        RODRIGUES_2024A, 19, "gamma",
        (
            r"\gamma^(u,4) =",
            r"\tilde\omega_i \dot s_i^P - \tilde\omega_j \dot s_j^P",
            r"-s_i^T \tilde\omega_j \dot s_j - s_j^T \tilde\omega_i \dot s_i - 2 \dot s_j^T \dot s_i",
        ),
        "universal",
    ),
    Equation(RODRIGUES_2024A, 20, "Phi", (r"\Phi_1 \equiv d^T d - l^2 = 0",), "constant_distance"),
    Equation(
        RODRIGUES_2024A, 21, "identity", (r"d = r_j^P - r_i^P = r_j + s_j^P - r_i - s_i^P",),
    ),
    Equation(RODRIGUES_2024A, 22, "Phi", (r"\Phi_2 \equiv " + ANGLE,), "modified_universal.axes_angle"),
    Equation(
        RODRIGUES_2024A, 23, "Phi", (r"\Phi_3 \equiv s_i^T d - s_i,0^T d_0 = 0",),
        "modified_universal.link_axis_i"
    ),
    Equation(
        RODRIGUES_2024A, 24, "Phi", (r"\Phi_4 \equiv s_j^T d - s_j,0^T d_0 = 0",),
        "modified_universal.link_axis_j"
    ),
    Equation(RODRIGUES_2024A, 25, "Phi", (r"\Phi^(u_m,4) \equiv", *MODIFIED_PHI), "modified_universal"),
    Equation(
        RODRIGUES_2024A, 25, "nu",
        (r"are not explicit functions of time, vector \(\boldsymbol{\nu}\) is null",),
        "modified_universal", means=NULL, prose=True,
    ),
    Equation(
        RODRIGUES_2024A, 26, "Phi_dot",
        (
            r"\dot\Phi^(u_m,4) \equiv",
            r"2 d^T (\dot r_j + \dot s_j^P - \dot r_i - \dot s_i^P) = 0",
            r"s_j^T \dot s_i + s_i^T \dot s_j = 0",
            r"d^T \dot s_i + s_i^T (\dot r_j + \dot s_j^P - \dot r_i - \dot s_i^P) = 0",
            r"d^T \dot s_j + s_j^T (\dot r_j + \dot s_j^P - \dot r_i - \dot s_i^P) = 0",
        ),
        "modified_universal",
    ),
    Equation(
        RODRIGUES_2024A, 27, "Phi_dot",
        (
            r"\dot\Phi^(u_m,4) \equiv",
            r"2 d^T (\dot r_j - \tilde s_j^P \omega_j - \dot r_i + \tilde s_i^P \omega_i) = 0",
            r"-s_j^T \tilde s_i \omega_i - s_i^T \tilde s_j \omega_j = 0",
            r"-d^T \tilde s_i \omega_i + s_i^T \dot r_j - s_i^T \tilde s_j^P \omega_j - s_i^T \dot r_i"
            r" + s_i^T \tilde s_i^P \omega_i = 0",
            r"-d^T \tilde s_j \omega_j + s_j^T \dot r_j - s_j^T \tilde s_j^P \omega_j - s_j^T \dot r_i"
            r" + s_j^T \tilde s_i^P \omega_i = 0",
        ),
        "modified_universal",
    ),
    Equation(
        RODRIGUES_2024A, 28, "Phi_dot", (r"\dot\Phi^(u_m,4) \equiv", *MODIFIED_D_BY_COLUMNS, *VELOCITIES),
        "modified_universal", matrix=(4, 4), by_columns=True,
    ),
    Equation(
        RODRIGUES_2024A, 29, "D", (r"D_(4\times12)^(u_m,4) =", *MODIFIED_D_BY_COLUMNS),
        "modified_universal", matrix=(4, 4), by_columns=True,
    ),
    Equation(
        RODRIGUES_2024A, 30, "Phi_ddot",
        (
            r"\ddot\Phi^(u_m,4) \equiv",
            r"2 d^T (\ddot r_j + \ddot s_j^P - \ddot r_i - \ddot s_i^P) + 2 \dot d^T \dot d = 0",
            r"s_j^T \ddot s_i + \dot s_i^T \dot s_j + s_i^T \ddot s_j + \dot s_j^T \dot s_i = 0",
            r"d^T \ddot s_i + \dot s_i^T \dot d + s_i^T (\ddot r_j + \ddot s_j^P - \ddot r_i - \ddot s_i^P)"
            r" + \dot d^T \dot s_i = 0",
            r"d^T \ddot s_j + \dot s_j^T \dot d + s_j^T (\ddot r_j + \ddot s_j^P - \ddot r_i - \ddot s_i^P)"
            r" + \dot d^T \dot s_j = 0",
        ),
        "modified_universal",
    ),
    Equation(
        RODRIGUES_2024A, 31, "Phi_ddot",
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
        "modified_universal",
    ),
    Equation(
        RODRIGUES_2024A, 32, "gamma",
        (
            r"\gamma^(u_m,4) =",
            *GAMMA_ROWS_1_TO_3,
            r"-d^T \tilde\omega_j \dot s_j - 2 \dot d^T \dot s_j"
            r" - s_j^T \tilde\omega_j \dot s_j^P - s_j^T \tilde\omega_i \dot s_i^P",
        ),
        "modified_universal",
        verdict="misprint",
        corrections={"sign": ((r"- s_j^T \tilde\omega_i \dot s_i^P", r"+ s_j^T \tilde\omega_i \dot s_i^P"),)},
        wrong_rows=(3,), agrees_at_rest="i", note=WRONG_SIGN,
    ),
    Equation(RODRIGUES_2024A, 33, "identity", (TOTAL,), "limit"),
    Equation(RODRIGUES_2024A, 34, "identity", (DAMPER,), "limit"),
    Equation(
        RODRIGUES_2024A, 35, "identity", (r"u'_{\zeta,h} = \tilde u'_{\xi,h} u'_{\eta,h}",), "limit"
    ),
    Equation(
        RODRIGUES_2024A, 36, "identity", (r"\psi_h = \arctan(\frac{u''_{r,h,\eta}}{u''_{r,h,\xi}})",),
        "limit", note=ATAN2
    ),
    Equation(RODRIGUES_2024A, 37, "identity", (r"\sigma_h = \arccos(u''_{r,h}^T u''_{\zeta,h})",), "limit"),
    Equation(
        RODRIGUES_2024A, 38, "identity",
        (
            r"m_h^{mr} =", r"0", r"if \sigma_h \le \sigma_{h,\max}", r"m_{p,h}", CUBIC, r"\tilde u_{r,h} n",
            r"if \sigma_{h,\max} < \sigma_h\ and\ \kappa \le \Delta\sigma_h", r"m_{p,h} \tilde u_{r,h} n",
            r"if \kappa > \Delta\sigma_h",
        ),
        "limit", note=PRINTED_LAW,
    ),
)  # fmt: skip
