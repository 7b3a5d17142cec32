"""Entries of Rodrigues da Silva et al. (n.d.)."""

from tests.papers.citations import RODRIGUES_ND
from tests.papers.equation import Equation
from tests.papers.notes import (
    COSINE_RATES,
    FIRST_RATE,
    GYROSCOPIC,
    LINK_D,
    LINK_GAMMA,
    NU,
    OTHER_PHI,
    WRONG_SIGN,
)
from tests.papers.texts import GAMMA_ROWS_1_TO_3, MODIFIED_PHI

# With n = ||d_p|| and u = a_i^T d_p, the rates of n add -u n' / n^2 to Phi', and 2 u' n' / n^2 + u n'' / n^2 - 2 u n'^2 / n^3
# to gamma.
SHARE = r"\frac{a_i^T d_p}{\|d_p\|^3} d_p^T"
RATE_OF_LENGTH_IN_D = (
    (1, f" + {SHARE}"), (2, rf" - {SHARE} (\tilde s_i^P + d^T s_i \tilde s_i)"), (3, f" - {SHARE}"),
    (4, rf" + {SHARE} \tilde s_j^P"),
)  # fmt: skip
N_DOT, D_DDOT = (
    r"\frac{d_p^T \dot d_p}{\|d_p\|}",
    r"(\tilde\omega_j \dot s_j^P - \tilde\omega_i \dot s_i^P)",
)  # no accelerations
N_DDOT = (
    rf"\frac{{\dot d^T \dot d + d^T {D_DDOT} - (\dot d^T s_i + d^T \dot s_i)^2 - ({N_DOT})^2"
    rf" - d^T s_i ({D_DDOT}^T s_i + 2 \dot d^T \dot s_i + d^T \tilde\omega_i \dot s_i)}}{{\|d_p\|}}"
)
RATE_OF_LENGTH_IN_GAMMA = (
    (
        3,
        rf" + 2 \frac{{\dot a_i^T d_p + a_i^T \dot d_p}}{{\|d_p\|^2}} {N_DOT} + \frac{{a_i^T d_p}}{{\|d_p\|^2}} {N_DDOT}"
        rf" - 2 \frac{{a_i^T d_p}}{{\|d_p\|^3}} ({N_DOT})^2",
    ),
)
EQUATIONS_ND = (
    Equation(
        RODRIGUES_ND, 1, "identity", ("M", "D^T", "D", "0", r"\dot v", r"\lambda", "=", "g", r"\gamma"),
        "equations of motion", matrix=(2, 2), note=GYROSCOPIC,
    ),
    Equation(RODRIGUES_ND, 2, "Phi", (r"\Phi^(u_m,4) =", *MODIFIED_PHI), "modified_universal"),
    Equation(
        RODRIGUES_ND, 3, "identity", (r"d = r_j^p - r_i^p = r_j + s_j^p - r_i - s_i^p",),
    ),
    Equation(
        RODRIGUES_ND, 4, "D",
        (
            r"D^(u_m,4) =",
            r"-2 d^T", r"2 d^T \tilde s_i^P", r"2 d^T", r"-2 d^T \tilde s_j^P",
            r"0", r"-s_j^T \tilde s_i", r"0", r"-s_i^T \tilde s_j",
            r"-s_i^T", r"-d^T \tilde s_i + s_i^T \tilde s_i^P", r"s_i^T", r"-s_i^T \tilde s_j^P",
            r"-s_j^T", r"s_j^T \tilde s_i^P", r"s_j^T", r"-d^T \tilde s_j - s_j^T \tilde s_j^P",
        ),
        "modified_universal", matrix=(4, 4),
    ),
    Equation(
        RODRIGUES_ND, 5, "gamma",
        (
            r"\gamma^(u_m,4) =",
            *GAMMA_ROWS_1_TO_3,
            r"-d^T \tilde\omega_j \dot s_j - 2 \dot d^T \dot s_j"
            r" - s_j^T \tilde\omega_i \dot s_i^P - s_j^T \tilde\omega_j \dot s_j^P",
        ),
        "modified_universal",
        verdict="misprint",
        corrections={"sign": ((r"- s_j^T \tilde\omega_i \dot s_i^P", r"+ s_j^T \tilde\omega_i \dot s_i^P"),)},
        wrong_rows=(3,), agrees_at_rest="i", note=WRONG_SIGN,
    ),
    Equation(RODRIGUES_ND, 6, "Phi", (r"\Phi^{(G,3)} = r_i^G - c^*(t) = r_i + s_i^G - c^*(t) = 0",), "guided_point"),
    Equation(RODRIGUES_ND, 7, "D", (r"D^{(G,3)} = [I", r"-\tilde s_i^G]"), "guided_point"),
    Equation(
        RODRIGUES_ND, 8, "nu", (r"v^{(G,3)} = -\frac{\partial\Phi^{(G,3)}}{\partial t} = \dot c^*(t)",), "guided_point",
        verdict="slip", note=NU,
    ),
    Equation(
        RODRIGUES_ND, 9, "gamma", (r"\gamma^{(G,3)} = \tilde\omega_i \tilde s_i^G \omega_i + \dot c^*(t)",),
        "guided_point",
        verdict="misprint", corrections={"rate": ((r"\dot c^*(t)", r"\ddot c^*(t)"),)}, wrong_rows=(0, 1, 2), note=FIRST_RATE,
    ),
    Equation(RODRIGUES_ND, 10, "Phi", (r"\Phi^{(e_k,1)} = e_k - e_k^*(t) = 0",), "euler_parameter"),
    Equation(
        RODRIGUES_ND, 11, "D", (r"D^{(e_k,1)} =", "0", r"\frac{1}{2} (G_{(1:3,k+1)})^T"), "euler_parameter"
    ),
    Equation(
        RODRIGUES_ND, 12, "nu", (r"v^{(e_k,1)} = -\frac{\partial\Phi^{(e_k,1)}}{\partial t} = \dot e_k^*(t)",),
        "euler_parameter", verdict="slip", note=NU,
    ),
    Equation(
        RODRIGUES_ND, 13, "gamma", (r"\gamma^{(e_k,1)} = \ddot e_k^*(t) - \frac{1}{2} \omega_i^T \dot G_{(1:3,k+1)}",),
        "euler_parameter",
    ),
    Equation(RODRIGUES_ND, 14, "Phi", (r"\Phi^{(\theta,1)} = a_i^T b_j - \cos\theta(t) = 0",), "cosine_of_angle"),
    Equation(
        RODRIGUES_ND, 15, "D", (r"D^{(\theta,1)} =", "0", r"-b_j^T \tilde a_i", "0", r"-a_i^T \tilde b_j"),
        "cosine_of_angle",
    ),
    Equation(
        RODRIGUES_ND, 16, "nu",
        (r"v^{(\theta,1)} = -\frac{\partial\Phi^{(s_i s_m,1)}}{\partial t} = -\sin\theta(t) \dot\theta(t)",),
        "cosine_of_angle", verdict="slip", note=OTHER_PHI,
    ),
    Equation(
        RODRIGUES_ND, 17, "gamma",
        (
            r"\gamma^{(\theta,1)} = -b_j^T \tilde\omega_i \dot a_i - a_i^T \tilde\omega_j \dot b_j - 2 \dot a_i^T \tilde b_j"
            r" - \cos\theta(t) \ddot\theta(t) - \sin\theta(t) \ddot\theta(t)",
        ),
        "cosine_of_angle",
        verdict="misprint", corrections={
            "~b_j": ((r"\dot a_i^T \tilde b_j", r"\dot a_i^T \dot b_j"),),
            "theta''": ((r"\cos\theta(t) \ddot\theta(t)", r"\cos\theta(t) \dot\theta(t)^2"),),
        },
        wrong_rows=(0,), note=COSINE_RATES,
    ),
    Equation(RODRIGUES_ND, 18, "identity", (r"d_p = d - (d^T s_i) s_i",), "cosine_of_link"),
    Equation(
        RODRIGUES_ND, 19, "Phi", (r"\Phi^{(\beta,1)} = \frac{a_i^T d_p}{\|d_p\|} - \cos\beta(t) = 0",),
        "cosine_of_link",
    ),
    Equation(
        RODRIGUES_ND, 20, "D",
        (
            r"D^{(\beta,1)} =", r"\frac{a_i^T (s_i s_i^T - I)}{\|d_p\|}",
            r"\frac{-d_p^T \tilde a_i + a_i^T (\tilde s_i^P - s_i s_i^T \tilde s_i^P + s_i d_p^T \tilde s_i"
            r" + d_p^T s_i \tilde s_i)}{\|d_p\|}",
            r"\frac{a_i^T (I - s_i s_i^T)}{\|d_p\|}", r"\frac{a_i^T (s_i s_i^T \tilde s_j^P - \tilde s_j^P)}{\|d_p\|}",
        ),
        "cosine_of_link",
        verdict="misprint",
        corrections={"d_p^T s_i": ((r"d_p^T s_i \tilde s_i", r"d^T s_i \tilde s_i"),), "||d_p||": RATE_OF_LENGTH_IN_D},
        wrong_rows=(0,), note=LINK_D,
    ),
    Equation(
        RODRIGUES_ND, 21, "nu", (r"v^{(\beta,1)} = -\frac{\partial\Phi^{(\beta,1)}}{\partial t} = -\sin\beta(t) \dot\beta(t)",),
        "cosine_of_link", verdict="slip", note=NU,
    ),
    Equation(
        RODRIGUES_ND, 22, "gamma",
        (
            r"\gamma^{(\beta,1)} = \frac{1}{\|d_p\|}",
            r"(-d_p^T \tilde\omega_i \dot a_i - 2 d_p^T \dot a_i + a_i^T (-\tilde\omega_j \dot s_j^P + \tilde\omega_i \dot s_i^P"
            r" + d^T \dot s_i s_i + s_i^T \tilde\omega_j \dot s_j^P s_i",
            r"-s_i^T \tilde\omega_i \dot s_i^P + s_i^T \dot d s_i + \dot s_i^T \dot d s_i + d^T \tilde\omega_i \dot s_i s_i"
            r" + 2 d^T \dot s_i s_i + s_i^T \dot d s_i + d^T s_i \tilde\omega_i \dot s_i))",
            r"-\cos\beta(t) \dot\beta(t)^2 - \sin\beta(t) \ddot\beta(t)",
        ),
        "cosine_of_link",
        verdict="misprint", corrections={
            "2 d_p^T a_i'": ((r"2 d_p^T \dot a_i", r"2 \dot d_p^T \dot a_i"),),
            "d^T s_i' s_i": ((r" + d^T \dot s_i s_i", r" + \dot d^T \dot s_i s_i"),),
            "no s_i": ((r"-s_i^T \tilde\omega_i \dot s_i^P", r"-s_i^T \tilde\omega_i \dot s_i^P s_i"),),
            "s_i^T d' s_i": ((r"+ s_i^T \dot d s_i + \dot s_i^T", r"+ s_i^T \dot d \dot s_i + \dot s_i^T"),),
            "2 d^T s_i' s_i": ((r"2 d^T \dot s_i s_i", r"2 d^T \dot s_i \dot s_i"),),
            "s_i^T d' s_i again": ((r"s_i^T \dot d s_i + d^T s_i", r"s_i^T \dot d \dot s_i + d^T s_i"),),
            "||d_p||": RATE_OF_LENGTH_IN_GAMMA,
        },
        harmless=("d^T s_i' s_i",), wrong_rows=(0,), note=LINK_GAMMA,
    ),
    Equation(
        RODRIGUES_ND, 23, "identity", (r"\dot d_p = \dot d - s_i^T \dot d s_i - d^T \dot s_i s_i - d^T s_i \dot s_i",),
        "cosine_of_link",
    ),
)  # fmt: skip
