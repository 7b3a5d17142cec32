"""Values of printed formulas, read from their LaTeX text."""

import itertools
import re
from functools import cache
from types import SimpleNamespace

import numpy as np

from tests.papers.citations import RODRIGUES_2024B, RODRIGUES_2024C
from tests.support.motions import skew


def with_dots(names):
    """Names of symbols, and of their first and second rates."""
    dots = (("", ""), (r"\dot", "_dot"), (r"\ddot", "_ddot"))
    return {dot + symbol: attribute + suffix for symbol, attribute in names.items() for dot, suffix in dots}


# Symbols without spaces, and the attributes that hold their values; ``.0`` and ``.1`` are components.
OF_BODIES = {
    "r_{}": "r_{}", "r_{}^P": "rP_{}", "r_{}^p": "rP_{}", "s_{}": "s_{}", "s_{},0": "s_{}_0", "s_{}^P": "sP_{}",
    "s_{}^p": "sP_{}", "s^P_{}": "sP_{}", "s'_{}^P": "sP_{}_local", "A_{}": "A_{}", r"\omega_{}": "w_{}",
}  # fmt: skip
NAMES_OF_JOINTS = with_dots(
    {symbol.format(body): attribute.format(body) for symbol, attribute in OF_BODIES.items() for body in "ij"}
    | {name: name for name in ("d", "d_0", "s", "l", "M", "D", "g", "v", "I")}
    | {
        r"\omega": "w", r"\Phi": "Phi", r"\gamma": "gamma", r"\lambda": "lam", r"\alpha": "alpha", r"\beta": "beta",
        r"\rho": "rho", r"\theta": "theta", r"\theta_re": "theta_re", r"\tau": "tau", r"\tau_re": "tau_re",
        r"\varepsilon": "epsilon", "s_talocalcaneal": "s_i", "s_talocrural": "s_j",
    }
)  # fmt: skip
NAMES_OF_LIMITS = {
    r"m_h^r": "moment", r"m_h^d": "md", r"m_h^{mr}": "mr", r"m_h''mr": "mr_2", r"m_{p,h}": "max_moment",
    r"\Delta\sigma_h": "compliance", r"\kappa": "kappa", r"j_h": "j", r"\omega_h": "w", r"\omega_i": "w_i", r"\omega_j": "w_j",
    r"u'_{\zeta,h}": "zeta_1", r"u'_{\xi,h}": "xi_1", r"u'_{\eta,h}": "eta_1", r"u_{\zeta,h}": "zeta", r"u_{\xi,h}": "xi",
    r"u_{\eta,h}": "eta", r"u''_{r,h}": "u_2", r"u_{r,h}''": "u_2", r"u''_{\zeta,h}": "zeta_2", r"u_{\zeta,h}''": "zeta_2",
    r"u": "u", r"u'": "u_1", r"u''": "u_2", r"A_k": "A_j", r"A_i": "A_i", r"B_h": "B", r"n''": "n", r"n": "n", r"d''": "d_2",
    r"u_{r,h}": "u_r", r"u_{r,h,p}": "u_p", r"s_i": "s", r"s_i^p": "sP_i", r"s_j^p": "sP_j", r"a_i": "a", r"I": "I",
    r"\dotr_i": "r_i_dot", r"\dotr_j": "r_j_dot", r"l_{h,i}": "lever", r"m_{h,i}": "m_i", r"m_{h,j}": "m_j", r"f_{h,j}": "f_j",
    r"f_{h,i}": "f_i", r"m_{h,massless}^{mr}": "link_mr", r"m_{h,massless}^{nr}": "link_mr", r"\varphi": "phi",
    r"\psi_h": "psi", r"\sigma_h": "sigma", r"\sigma_{h,\max}": "sigma_max", r"\sigma_{h,\max}(\psi_h)": "sigma_max",
    r"\psi_{h,A}": "psi_A", r"\psi_{h,B}": "psi_B", r"\sigma_{h,A}": "sigma_A", r"\sigma_{h,\max,A}": "sigma_max_A",
    r"\sigma_{h,\max,B}": "sigma_B", r"\sigma_{h,\max,B}(\psi_{h,B})": "sigma_B",
    r"\frac{d\sigma_{h,\max,B}}{d\psi_{h,B}}": "dsigma", r"\frac{\partial\sigma_{h,\max,B}}{\partial\psi_{h,B}}": "dsigma",
    r"\frac{\partial\sigma_{h,\max,B}}{\partiall}": "sigma_l", r"\frac{\partial\psi_{h,B}}{\partiall}": "psi_l",
    r"\frac{\partiall}{\partial\psi_{h,B}}": "l_psi", r"r_C": "rC", r"\pm": "pm", r"l": "l", r"G": "G",
    r"r''": "r_2", r"v_r''": "v_2", r"R_{h,\zeta}": "R_zeta", r"R_{h,\eta}": "R_eta",
    r"r_B''": "r_B", r"t_G''": "t_G", r"t_\psi''": "t_psi", "d_p": "d_p",
    **{name: name for name in "xyab"},
    **{u.replace("*", axis): f"{attribute}.{k}"
       for u, attribute in ((r"u''_{r,h,*}", "u_2"), (r"u_{\rmr,h,*}''", "u_2"), (r"u_{r,h,p,*}", "u_p_2"))
       for k, axis in enumerate((r"\xi", r"\eta"))},
}  # fmt: skip
NAMES_OF_DRIVERS = with_dots({
    "r_i^G": "rP_i", "r_i": "r_i", "s_i^G": "sP_i", "s_i^P": "sP_i", "s_j^P": "sP_j", "s_i": "s_i", "a_i": "a_i",
    "b_j": "b_j", "d_p": "d_p", "d": "d", "c^*(t)": "c", "e_k^*(t)": "e_k", r"\theta(t)": "theta", r"\beta(t)": "beta",
    "G_{(1:3,k+1)}": "G_k",
}) | {r"\omega_i": "w_i", r"\omega_j": "w_j", "e_k": "e", "I": "I"} | {
    rf"\frac{{\partial\Phi^{{({name})}}}}{{\partialt}}": "dPhi_dt" for name in ("G,3", "e_k,1", "s_is_m,1", r"\beta,1")
}  # fmt: skip
NAMES_OF_CONTACTS = {
    r"\mathbf{d}": "d", r"\mathbf{d}_n": "d_n", r"\mathbf{d}_t": "d_t", r"\mathbf{n}": "n", r"\mathbf{r}_j^p": "rP_j",
    r"\mathbf{r}_i^c": "rC_i", r"\delta": "delta", r"\dot{\delta}": "delta_dot", r"\delta^m": "delta_m", "d_n": "distance",
    "R_i": "R_i", "R_j": "R_j", r"\mathbf{v}": "v", r"\mathbf{v}_n": "v_n", r"\mathbf{v}_t": "v_t", r"\mathbf{Q}": "Q",
    r"\mathbf{v}_j^p": "vP_j", r"\mathbf{v}_i^c": "vC_i", r"\mathbf{f}_n": "left", r"\mathbf{f}_t": "left", "K": "K", "c": "c",
    r"\chi": "chi", r"\nu_i": "nu_i", r"\nu_j": "nu_j", "E_i": "E_i", "E_j": "E_j", r"\pi": "pi", r"\mu_c": "mu_c",
    "f_n": "f_n", r"\mu_d": "mu_d", "v_t": "v_t_length", r"\mathbf{t}": "t", "F_n": "F_n", "F_t": "F_t", "f_{nk}": "f_nk",
    "f_{tk}": "f_tk", r"\mathbf{f}_{tk}": "vectors_tk", "X_{COP}": "X_COP", "Y_{COP}": "Y_COP", "F_{ni}": "F_ni",
    "F_{nj}": "F_nj", r"\boldsymbol{\omega}_i": "w_i", r"\boldsymbol{\omega}_j": "w_j",
    r"\Phi(\mathbf{q},t)": "Phi", r"\mathbf{0}": "zero", r"\boldsymbol{\gamma}": "gamma", r"\dot{\mathbf{q}}": "q_dot",
    r"(\Phi_{\mathbf{q}}\dot{\mathbf{q}})_{\mathbf{q}}": "Phi_q_q_dot_q", r"\Phi_{tt}": "Phi_tt", r"\Phi_{qt}": "Phi_qt",
    r"\mathbf{M}": "M", r"\Phi_{\mathbf{q}}": "Phi_q", r"\ddot{\mathbf{q}}": "q_ddot", r"\boldsymbol{\lambda}": "lam",
    r"\mathbf{g}": "g", r"\alpha": "alpha", r"\beta": "beta", r"\Phi": "Phi", r"\dot{\Phi}": "Phi_dot",
    **{f"{moment}_{{{axis}{body}}}": f"{moment}_{axis}{body}" for moment in "MO" for axis in "xy" for body in "ij"},
}  # fmt: skip
LEFT = {
    10: "force_elastic",
    11: "force_normal",
    14: "force_friction",
}  # what one letter stands for in Moreira et al. (2011)
FUNCTIONS = {"\\cos": np.cos, "\\sin": np.sin, "\\tan": np.tan, "\\arccos": np.arccos}


@cache
def any_of(symbols):
    return re.compile("|".join(map(re.escape, sorted(symbols, key=len, reverse=True))))


class Formula:
    """Evaluates a text: a sum of products of what stands side by side."""

    def __init__(self, text, m, names):
        self.rest, self.m, self.names, self.in_norm = re.sub(r"\s", "", text), m, names, False
        self.symbol = any_of(tuple(names))

    def value(self):
        result = self.sum()
        assert not self.rest, f"cannot read {self.rest!r}"
        return result

    def take(self, pattern):
        match = re.match(pattern, self.rest)
        if match:
            self.rest = self.rest[match.end() :]
        return match

    def ends(self, also=""):
        return not self.rest or self.rest[0] in ")}" + also or (self.in_norm and self.rest.startswith(r"\|"))

    def sum(self):
        total = None
        while not self.ends():
            sign = -1.0 if self.take("-") else 1.0
            self.take(r"\+")
            term = sign * self.product()
            total = term if total is None else total + term
        return total

    def product(self):
        result = self.factor()
        while not self.ends("+-"):
            other = self.factor()
            if np.shape(result) == (1, 1):
                result = result.item()
            result = result @ other if np.ndim(result) and np.ndim(other) else result * other
        return result

    def factor(self):
        value = self.base()
        if self.take(r"\^T|T(?=[a-z])"):
            value = value.T
        power = self.take(r"\^\{(\d)/(\d)\}|\^(\d)")
        return value ** (float(power[3] or power[1]) / float(power[2] or 1)) if power else value

    def group(self, opening, closing):
        assert self.take(opening), f"{opening} expected before {self.rest!r}"
        value = self.sum()
        assert self.take(closing)
        return value

    def base(self):
        if coefficient := self.take(r"c_\{([xy]),(\d)\}\^k"):
            return getattr(self.m, f"c_{coefficient[1]}")[int(coefficient[2])]
        if symbol := self.take(self.symbol):
            attribute, _, place = self.names[symbol[0]].partition(".")
            value = getattr(self.m, attribute)
            return value[int(place), 0] if place else value
        if self.take(r"\\tilde"):
            return skew(np.ravel(self.base()))
        if self.take(r"\\sum_\{k=1\}\^l"):
            return self.factor().sum(axis=0)
        if self.take(r"\\max\(0,"):
            return np.maximum(0.0, self.group("", r"\)"))
        if self.take(r"\\arctan\(\\frac"):
            angle = np.arctan2(self.group("{", "}"), self.group("{", "}")) % (2 * np.pi)
            assert self.take(r"\)")
            return angle
        if self.take(r"\\frac"):
            return self.group("{", "}") / self.group("{", "}")
        if self.take(r"\\sqrt"):
            return np.sqrt(self.group("{", "}"))
        if self.take(r"\\\|"):
            self.in_norm = True
            value = self.sum()
            self.in_norm = not self.take(r"\\\|")
            return np.linalg.norm(value)
        if function := self.take(r"(\\(?:cos|sin|tan|arccos))(\^2)?"):
            argument = self.group(r"\(", r"\)") if self.rest.startswith("(") else self.base()
            return FUNCTIONS[function[1]](argument) ** (2 if function[2] else 1)
        number = self.take(r"\d+\.\d+|\d")
        return float(number[0]) if number else self.group(r"\(", r"\)")


def stacked(values):
    return np.vstack([np.atleast_2d(value) for value in values])


def groups_of(cells):
    """The sides of a chain of equalities whose entries are cells of their own."""
    groups = [[]]
    for cell in cells:
        if cell.endswith("="):
            groups[-1] += [cell[:-1]] if cell != "=" else []
            groups.append([])
        else:
            groups[-1].append(cell)
    return groups


def arranged(cells, equation, m, names):
    """An array from its entries: a matrix, times what follows it, or a stack of rows."""
    rows, columns = equation.matrix
    if not rows or len(cells) < rows * columns:
        return stacked(Formula(cell, m, names).value() for cell in cells)
    matrix = [
        [cells[r + c * rows if equation.by_columns else c + r * columns] for c in range(columns)] for r in range(rows)
    ]
    values = [[None if cell == "0" else Formula(cell, m, names).value() for cell in line] for line in matrix]
    heights = [next(v.shape[0] for v in line if v is not None) for line in values]
    widths = [next(line[c].shape[1] for line in values if line[c] is not None) for c in range(columns)]
    for r, c in itertools.product(range(rows), range(columns)):
        if values[r][c] is None:
            values[r][c] = np.zeros((heights[r], widths[c]))
    rest = cells[rows * columns :]
    return np.block(values) @ stacked(Formula(cell, m, names).value() for cell in rest) if rest else np.block(values)


def case_that_holds(cells, m):
    """The value of a moment in three cases."""
    for value, condition in re.findall("(.*?)&if([^&]*)&?", "&".join(cells).replace("if&", "if")):
        holds = True
        for part in re.split(r"\\?\s*and\\?", condition):
            left, sign, right = re.split(r"(\\leq?|<|>)", part)
            a, b = (Formula(side, m, NAMES_OF_LIMITS).value() for side in (left, right))
            holds &= bool(a > b if sign == ">" else a < b if sign == "<" else a <= b)
        if holds:
            factors = " ".join(f"({v})" if "- 2" in v else v for v in value.split("&"))
            return np.zeros((3, 1)) if value == "0" else Formula(factors, m, NAMES_OF_LIMITS).value()
    raise AssertionError("no case holds")


def sides_of_limits(equation, cells, m):
    names = NAMES_OF_LIMITS
    if equation.about == "limit":  # the moments in cases speak of the point A, and of u_r in the joint's frame
        m.sigma_max, m.u_r, m.u_p = m.sigma_max_A, m.u_2, m.u_2
        if any("if" in cell for cell in cells):
            return [m.mr_2, case_that_holds(cells[1:], m)]
    if equation.about == "link":
        m.w = m.rate
    if (equation.paper, equation.number) == (RODRIGUES_2024B, 33):
        m.kappa = m.delta
    cells = [cell for cell in cells if cell != "^T"]
    if equation.paper == RODRIGUES_2024C and equation.number in (13, 14):  # one letter for the force and its size
        value = Formula(cells[0].partition("=")[2], m, names | {r"f_{h,i}": "f"}).value()
        return [m.f_i if equation.number == 13 else m.f, value]
    if len(cells) == 1 or cells[1].startswith("+"):
        sides = "".join(cells).split("=")
        m.pm = np.sign(getattr(m, sides[0].strip(), 0.0))
        return [Formula(side, m, names).value() for side in sides]
    values = []
    for group in groups_of(cells):
        entries = [Formula(cell, m, names).value() for cell in group]
        if len(entries) == 21:  # two rotations and a column
            first, second = (np.array(entries[9 * k : 9 * k + 9]).reshape(3, 3) for k in range(2))
            values.append(first @ second @ stacked(entries[18:]))
        else:
            values.append(stacked(entries))
    return values


def sides_of_drivers(equation, cells, m):
    name, _, first = cells[0].partition("=")
    cells = [cell.strip("[]") for cell in (first.strip(), *cells[1:]) if cell]
    if equation.quantity == "D":
        none = np.zeros((len(m.kernels["D"]), 3))
        return [np.hstack([none if cell == "0" else Formula(cell, m, NAMES_OF_DRIVERS).value() for cell in cells])]
    texts = ([name] if equation.quantity == "identity" else []) + "".join(cells).removesuffix("= 0").split("=")
    return [Formula(text, m, NAMES_OF_DRIVERS).value() for text in texts]


def sides_of_contacts(equation, cells, m):
    m.left, m.zero = getattr(m, LEFT.get(equation.number, ""), None), np.zeros_like(getattr(m, "Phi", 0.0))
    if hasattr(m, "m"):
        m.delta_m = max(m.delta, 0.0) ** m.m
    if equation.matrix[0]:
        return [arranged(group, equation, m, NAMES_OF_CONTACTS) for group in groups_of(cells)]
    # A sum has an equals sign of its own.
    return [Formula(side, m, NAMES_OF_CONTACTS).value() for side in re.split(r"(?<!k)=", cells[0])]


def sides_of(equation, cells, m):
    """Values of all sides that the text of an entry states."""
    m = SimpleNamespace(**(vars(m) | {"I": np.eye(3), "pi": np.pi}))
    if equation.of_contacts:
        return sides_of_contacts(equation, cells, m)
    if equation.of_limits:
        return sides_of_limits(equation, cells, m)
    if equation.of_drivers:
        return sides_of_drivers(equation, cells, m)
    if re.search(r"\\equiv$|\^\(.*=$", cells[0]):  # the name of what is defined
        cells = cells[1:]
    cells = [re.sub(r"^.*\\equiv\s*|\s*= 0$", "", cell) for cell in cells if cell not in ("= 0", "^T")]
    if len(cells) > 1:
        return [arranged(group, equation, m, NAMES_OF_JOINTS) for group in groups_of(cells)]
    chain, of_both, _ = cells[0].partition(" (k=i,j)")
    bodies = "ij" if of_both else "k"
    return [
        stacked(Formula(side.replace("_k", f"_{body}"), m, NAMES_OF_JOINTS).value() for body in bodies)
        for side in chain.split("=")
    ]
