"""Entries of Rodrigues da Silva et al. (2024b)."""

import numpy as np

from tests.papers.citations import RODRIGUES_2024B
from tests.papers.equation import Equation
from tests.papers.notes import ATAN2, GYROSCOPIC, NO_ANGLE, PRINTED_LAW, TWICE, WRONG_AXES
from tests.papers.texts import (
    C_B,
    CS_B,
    CUBIC,
    DAMPER,
    DX,
    DY,
    MAXIMUM,
    PSI_B,
    PSI_L,
    S_B,
    SIGMA_B,
    SIGMA_L,
    SLOPE,
    SS_B,
    STABILISED,
    TOTAL,
    X,
    Y,
)

# (33): what is printed beside the norm of Eq. (30), and the angle between the directions A and B.
TOP_VIEW = (
    r" = \sqrt{\sigma_{h,A}^2 + \sigma_{h,\max,B}^2 - 2 \sigma_{h,A} \sigma_{h,\max,B} \cos(\psi_{h,A} - \psi_{h,B})}"
)
DELTA = r"\arctan(\frac{\|\tilde u_{r,h}'' t_G''\|}{u_{r,h}''T t_G''})"


def quadrants(m):
    psi, a, b = np.rad2deg(m.psi), [m.a_1, m.a_2, m.a_2, m.a_1], [m.b_1, m.b_1, m.b_2, m.b_2]
    quadrant = [0 <= psi < 90, 90 <= psi < 180, 180 <= psi < 270, 270 <= psi <= 360].index(True)
    return [np.array([[m.a, m.b]]), np.array([[a[quadrant], b[quadrant]]])]


EQUATIONS_2024B = (
    Equation(
        RODRIGUES_2024B, 1, "identity", STABILISED, "equations of motion", matrix=(2, 2), note=GYROSCOPIC,
    ),
    Equation(RODRIGUES_2024B, 2, "identity", (TOTAL,), "limit"),
    Equation(RODRIGUES_2024B, 3, "identity", (r"u = A_k u'",), "limit"),
    Equation(RODRIGUES_2024B, 4, "identity", (r"u_{\zeta,h} = \tilde u_{\xi,h} u_{\eta,h}",), "limit"),
    Equation(RODRIGUES_2024B, 5, "identity", (r"u = A_i B_h u''",), "limit"),
    Equation(
        RODRIGUES_2024B, 6, "identity", (r"\psi_h = \arctan(\frac{u_{\rm r,h,\eta}''}{u_{\rm r,h,\xi}''})",), "limit",
        note=ATAN2,
    ),
    Equation(RODRIGUES_2024B, 7, "identity", (r"\sigma_h = \arccos(u_{r,h}''T u_{\zeta,h}'')",), "limit"),
    Equation(RODRIGUES_2024B, 8, "identity", (r"\frac{x^2}{a^2} + \frac{y^2}{b^2} = 1",), "ellipse"),
    Equation(RODRIGUES_2024B, 9, "identity", (r"\psi_h = \arctan(\frac{y}{x})",), "ellipse", note=ATAN2),
    Equation(RODRIGUES_2024B, 10, "identity", (r"\sigma_{h,\max} = \|r_C\| = \sqrt{x^2 + y^2}",), "ellipse"),
    Equation(RODRIGUES_2024B, 11, "identity", (r"y = \pm b \sqrt{1 - \frac{x^2}{a^2}}",), "ellipse"),
    Equation(
        RODRIGUES_2024B, 12, "identity", (r"x = \pm \sqrt{\frac{b^2 a^2}{a^2 \tan^2(\psi_h) + b^2}}",), "ellipse"
    ),
    Equation(RODRIGUES_2024B, 13, "identity", (MAXIMUM,), "ellipse"),
    Equation(
        RODRIGUES_2024B, 14, "identity",
        (
            "a = a_1, b = b_1", r"if 0^\circ \le \psi_h < 90^\circ", "a = a_2, b = b_1", r"if 90^\circ \le \psi_h < 180^\circ",
            "a = a_2, b = b_2", r"if 180^\circ \le \psi_h < 270^\circ", "a = a_1, b = b_2",
            r"if 270^\circ \le \psi_h \le 360^\circ",
        ),
        "ellipse", means=quadrants,
    ),
    Equation(RODRIGUES_2024B, 15, "identity", (r"f(l) = \sum\limits_{q = 0}^n c_q^k l^q",), "spline", means=(f"x = {X}",)),
    Equation(
        RODRIGUES_2024B, 16, "identity", (f"x = {X}",), "spline", note="l counts from the beginning of each piece."
    ),
    Equation(RODRIGUES_2024B, 17, "identity", (f"y = {Y}",), "spline"),
    Equation(RODRIGUES_2024B, 18, "identity", (rf"\sigma_{{h,\max}} = \sqrt{{({X})^2 + ({Y})^2}}",), "spline"),
    Equation(
        RODRIGUES_2024B, 19, "identity", (rf"\psi_h = \arctan(\frac{{{Y}}}{{{X}}})",), "spline", note=ATAN2
    ),
    Equation(RODRIGUES_2024B, 20, "identity", (r"v_r'' =", "0", "0", "G", "^T"), "limit"),
    Equation(
        RODRIGUES_2024B, 21, "identity",
        (
            r"r'' =", r"R_{h,\zeta} R_{h,\eta} v_r''", "=",
            r"\cos(\psi_h)", r"-\sin(\psi_h)", "0", r"\sin(\psi_h)", r"\cos(\psi_h)", "0", "0", "0", "1",
            r"\cos(\sigma_h)", "0", r"\sin(\sigma_h)", "0", "1", "0", r"-\sin(\sigma_h)", "0", r"\cos(\sigma_h)",
            "0", "0", "G", "=",
            r"G \cos(\psi_h) \sin(\sigma_h)", r"G \sin(\psi_h) \sin(\sigma_h)", r"G \cos(\sigma_h)",
        ),
        "limit",
    ),
    Equation(
        RODRIGUES_2024B, 22, "identity", (r"r_B'' =", f"G {C_B} {SS_B}", f"G {S_B} {SS_B}", f"G {CS_B}"), "limit"
    ),
    Equation(RODRIGUES_2024B, 23, "identity", (r"t_G'' =", f"{C_B} {SS_B}", f"{S_B} {SS_B}", CS_B), "limit"),
    Equation(
        RODRIGUES_2024B, 24, "identity",
        (
            r"t_\psi'' =", f"G (-{S_B} {SS_B} + {C_B} {CS_B} {SLOPE})", f"G ({C_B} {SS_B} + {S_B} {CS_B} {SLOPE})",
            f"G (-{SS_B} {SLOPE})",
        ),
        "limit",
    ),
    Equation(
        RODRIGUES_2024B, 25, "identity",
        (
            rf"{SLOPE} = \frac{{1}}{{a^2 b^2}} (b^2 - a^2) {S_B} {C_B}"
            rf" (\frac{{a^2 b^2 \frac{{1}}{{\cos^2({PSI_B})}}}}{{a^2 \tan^2({PSI_B}) + b^2}})^{{3/2}}",
        ),
        "ellipse",
    ),
    Equation(
        RODRIGUES_2024B, 26, "identity",
        (
            rf"{SLOPE} = \frac{{\partial{SIGMA_B}}}{{\partial{PSI_B}}} = {SIGMA_L} \frac{{\partial l}}{{\partial{PSI_B}}}"
            rf" = {SIGMA_L} \frac{{1}}{{({PSI_L})}}",
        ),
        "spline",
    ),
    Equation(
        RODRIGUES_2024B, 27, "identity", (rf"{SIGMA_L} = \frac{{1}}{{\sqrt{{x^2 + y^2}}}} (({DX}) x + 2 ({DY}) y)",),
        "spline", verdict="misprint", corrections={"factor 2": ((") x + 2 (", ") x + ("),)}, wrong_rows=(0,), note=TWICE,
    ),
    Equation(
        RODRIGUES_2024B, 28, "identity",
        (rf"{PSI_L} = \frac{{x^2}}{{y^2 + x^2}} ((\frac{{{DY}}}{{x}}) - (\frac{{y ({DX})}}{{x^2}}))",), "spline",
    ),
    Equation(
        RODRIGUES_2024B, 29, "identity", (r"n'' = \frac{\tilde t_G'' t_\psi''}{\|\tilde t_G'' t_\psi''\|}",), "limit",
        note="It points inside.",
    ),
    Equation(RODRIGUES_2024B, 30, "identity", (r"d'' = r_B'' - u_{r,h}''",), "limit"),
    Equation(
        RODRIGUES_2024B, 31, "identity", (r"\tilde d'' n'' = 0 \Leftrightarrow", r"d''T t_G'' = 0", r"d''T t_\psi'' = 0"),
        "limit", means=("0", "0", "0", "0", "0", "=", r"\tilde d'' n''", r"d''T t_G''", r"d''T t_\psi''"),
    ),
    Equation(
        RODRIGUES_2024B, 32, "identity",
        (
            r"m_h''mr =", r"0", "if", r"\sigma_{h,A} \le \sigma_{h,\max,A}", r"m_{p,h}", CUBIC, r"\tilde u_{r,h}'' n''",
            "if", r"\sigma_{h,\max,A} < \sigma_{h,A} and \kappa \le \Delta\sigma_h", r"m_{p,h} \tilde u_{r,h}'' n''", "if",
            r"\kappa > \Delta\sigma_h",
        ),
        "limit", note=PRINTED_LAW,
    ),
    Equation(
        RODRIGUES_2024B, 33, "identity",
        (
            r"\kappa = \|d''\|" + TOP_VIEW,
        ),
        "limit",
        verdict="misprint", corrections={"distance": ((r"\|d''\|" + TOP_VIEW, DELTA),)}, wrong_rows=(0,), note=NO_ANGLE,
    ),
    Equation(RODRIGUES_2024B, 34, "identity", (DAMPER,), "limit"),
    Equation(RODRIGUES_2024B, 35, "identity", (r"\omega_h = \omega_j - \omega_i",), "limit"),
    Equation(
        RODRIGUES_2024B, 3, "identity",
        (
            r"Evaluate the joint motion-restricting moment in global coordinates, \({\mathbf{m}}_{h}^{{\text{mr}}}\), "
            "utilizing Eq.\xa0(3);",
        ),
        "limit", means=(r"m_h^{mr} = A_i m_h''mr",), prose=True, step="6.4",
        verdict="misprint", corrections={"axes": (("A_i", "A_i B_h"),)}, wrong_rows=(0, 1, 2), note=WRONG_AXES,
    ),
)  # fmt: skip
