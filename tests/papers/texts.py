"""Texts that several entries of the registry share."""

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
