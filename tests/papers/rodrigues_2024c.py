"""Entries of Rodrigues da Silva et al. (2024c)."""

from tests.papers.citations import RODRIGUES_2024C
from tests.papers.equation import Equation
from tests.papers.notes import ATAN2, GYROSCOPIC, LINK_FORCE, PRINTED_LAW, RATE_SIGN, UNIT_PROJECTION
from tests.papers.texts import ANGLE, AXIS_I, AXIS_J, CUBIC, DAMPER, MAXIMUM, STABILISED, TOTAL

EQUATIONS_2024C = (
    Equation(RODRIGUES_2024C, 1, "identity", (r"\tan\theta_re = \tan\theta \cos\rho",), "axes"),
    Equation(RODRIGUES_2024C, 2, "identity", (r"\tan\tau_re = \tan\tau \cos\varepsilon",), "axes"),
    Equation(RODRIGUES_2024C, 3, "identity", ("s_talocalcaneal =", *AXIS_I), "axes"),
    Equation(RODRIGUES_2024C, 4, "identity", ("s_talocrural =", *AXIS_J), "axes"),
    Equation(
        RODRIGUES_2024C, 5, "identity", STABILISED, "equations of motion", matrix=(2, 2), note=GYROSCOPIC,
    ),
    Equation(RODRIGUES_2024C, 6, "Phi", (r"\Phi \equiv " + ANGLE,), "constant_angle"),
    Equation(RODRIGUES_2024C, 7, "identity", (TOTAL,), "limit"),
    Equation(
        RODRIGUES_2024C, 8, "identity",
        (r"u_{r,h,p} = \frac{u_{r,h} - (u_{r,h}^T s_i) s_i}{\|u_{r,h} - (u_{r,h}^T s_i) s_i\|}",), "link",
        note="The direction that the cone restrains; Eqs. (14), (16) and (20) need the projection without the division.",
    ),
    Equation(
        RODRIGUES_2024C, 9, "identity", (r"\psi_h = \arctan(\frac{u_{r,h,p,\eta}}{u_{r,h,p,\xi}})",),
        "link", note=ATAN2
    ),
    Equation(RODRIGUES_2024C, 10, "identity", (r"\sigma_h = \arccos(u_{r,h,p}^T u_{\zeta,h})",), "link"),
    Equation(RODRIGUES_2024C, 11, "identity", (MAXIMUM,), "ellipse"),
    Equation(
        RODRIGUES_2024C, 12, "identity",
        (
            r"m_h^{mr} =", r"0", r"if \sigma_h \leq \sigma_{h,\max}", r"m_{p,h}", CUBIC, r"\tilde u_{r,h,p} n",
            r"if \sigma_{h,\max} < \sigma_h and \kappa \leq \Delta\sigma_h", r"m_{p,h} \tilde u_{r,h,p} n",
            r"if \kappa > \Delta\sigma_h",
        ),
        "limit", note=PRINTED_LAW,
    ),
    Equation(
        RODRIGUES_2024C, 13, "identity",
        (
            r"f_{h,i} = (\frac{\tilde u_{r,h,p} m_{h,massless}^{mr}}{\|u_{r,h,p}\| \|m_{h,massless}^{mr}\|}) f_{h,i}",
        ),
        "link", note=LINK_FORCE,
    ),
    Equation(
        RODRIGUES_2024C, 14, "identity", (r"f_{h,i} = \frac{\|m_{h,massless}^{nr}\|}{\|u_{r,h,p}\|}",),
        "link",
        verdict="misprint",
        corrections={"projection": ((r"{\|u_{r,h,p}\|}", r"{\|d_p\|}"),)},
        wrong_rows=(0,), note=UNIT_PROJECTION + " (And nr stands for mr.)",
    ),
    Equation(RODRIGUES_2024C, 15, "identity", (r"m_{h,i} = \tilde l_{h,i} f_{h,i}",), "link"),
    Equation(
        RODRIGUES_2024C, 16, "identity", (r"l_{h,i} = s_i^p + (u_{r,h} - u_{r,h,p})",), "link",
        verdict="misprint", corrections={"projection": (("u_{r,h,p})", "d_p)"),)}, wrong_rows=(0, 1, 2), note=UNIT_PROJECTION,
    ),
    Equation(RODRIGUES_2024C, 17, "identity", (r"f_{h,j} = -f_{h,i}",), "link"),
    Equation(RODRIGUES_2024C, 18, "identity", (r"m_{h,j} = \tilde s_j^p f_{h,j}",), "link"),
    Equation(RODRIGUES_2024C, 19, "identity", (DAMPER,), "limit"),
    Equation(
        RODRIGUES_2024C, 20, "identity",
        (
            r"\omega_h = \frac{1}{\|u_{r,h,p}\| \sin\varphi} (a_i^T (s_i s_i^T - I) \dot r_i + (-u_{r,h,p}^T \tilde a_i"
            r" + a_i^T (\tilde s_i^p - s_i s_i^T \tilde s_i^p + s_i u_{r,h}^T \tilde s_i + u_{r,h}^T s_i \tilde s_i)) \omega_i",
            r"+ a_i^T (I - s_i s_i^T) \dot r_j + a_i^T (s_i s_i^T \tilde s_j^p - \tilde s_j^p) \omega_j)",
        ),
        "link", verdict="misprint",
        corrections={"projection": ((r"\|u_{r,h,p}\|", r"\|d_p\|"), ("-u_{r,h,p}^T", "-d_p^T"))},
        wrong_rows=(0,), note=RATE_SIGN,
    ),
)  # fmt: skip
