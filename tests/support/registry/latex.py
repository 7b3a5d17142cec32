"""Values of printed formulas, read from their LaTeX text."""

import itertools
import re
from types import SimpleNamespace

import numpy as np

from tests.support.registry.equation import tilde
from tests.support.registry.papers import RODRIGUES_2024B, RODRIGUES_2024C
from tests.support.registry.symbols import column

# The registry against itself: the function is what the text says

TOKEN = re.compile(
    r"\\(?P<prefix>tilde|dot|ddot|cos|sin|tan)(?![a-z])"
    r"|(?P<symbol>\\[a-z]+|\\?Phi|[A-Za-z]'?)(?P<index>_re|_talo[a-z]+|_[a-z0-9],0|_[a-z0-9])?(?P<P>\^[Pp](?![a-z]))?(?P<late>_[ij])?(?P<T>\^T)?"
    r"(?P<square>\^2)?"
    r"|(?P<number>\d)|(?P<operator>[-+()])|(?P<space>\s+)"
)
ATTRIBUTE = {
    r"\omega": "w", r"\Phi": "Phi", r"\gamma": "gamma", r"\lambda": "lam", r"\rho": "rho", r"\theta": "theta",
    r"\tau": "tau", r"\varepsilon": "epsilon", r"\alpha": "alpha", r"\beta": "beta",
}  # fmt: skip


class Reader:
    """Evaluates the text of an entry of the registry."""

    def __init__(self, text, m):
        self.m = m
        self.tokens = []
        place = 0
        while place < len(text):
            match = TOKEN.match(text, place)
            assert match, f"cannot read {text[place:]!r}"
            if not match["space"]:
                self.tokens.append(match)
            place = match.end()

    def value(self):
        result = self.sum()
        assert not self.tokens
        return result

    def peek(self, group):
        return self.tokens[0][group] if self.tokens else None

    def sum(self):
        total = None
        while self.tokens and self.peek("operator") != ")":
            sign = 1.0
            if self.peek("operator") in ("+", "-"):
                sign = 1.0 if self.tokens.pop(0)["operator"] == "+" else -1.0
            term = sign * self.product()
            total = term if total is None else total + term
        return total

    def product(self):
        result = self.factor()
        while self.tokens and self.peek("operator") not in ("+", "-", ")"):
            other = self.factor()
            result = result @ other if np.ndim(result) and np.ndim(other) else result * other
        return result

    def factor(self):
        token = self.tokens.pop(0)
        if token["number"]:
            return float(token["number"])
        if token["operator"] == "(":
            inner = self.sum()
            assert self.tokens.pop(0)["operator"] == ")"
            return inner
        if token["prefix"] in ("cos", "sin", "tan"):
            return getattr(np, token["prefix"])(self.factor())
        if token["prefix"] == "tilde":
            return tilde(self.factor())
        order = token["prefix"] or ""
        if order:
            token = self.tokens.pop(0)
        name = ATTRIBUTE.get(token["symbol"], token["symbol"])
        local = name.endswith("'")
        name = name.rstrip("'") + ("P" if token["P"] else "")
        index = (token["index"] or "") + (token["late"] or "")
        name += index.replace(",", "_") + ("_local" if local else "") + (f"_{order}" if order else "")
        value = getattr(self.m, name)
        value = value.T if token["T"] else value
        return value**2 if token["square"] else value


def arranged(cells, equation, m):
    """An array from its entries: a matrix, times what follows it, or a stack of rows."""
    rows, columns = equation.matrix
    if not rows or len(cells) < rows * columns:
        return np.vstack([np.atleast_2d(Reader(cell, m).value()) for cell in cells])
    matrix = [
        [cells[r + c * rows if equation.by_columns else c + r * columns] for c in range(columns)] for r in range(rows)
    ]
    m = SimpleNamespace(**vars(m) | {"I": np.eye(3)})
    values = [[None if cell == "0" else Reader(cell, m).value() for cell in line] for line in matrix]
    heights = [next(v.shape[0] for v in line if v is not None) for line in values]
    widths = [next(line[c].shape[1] for line in values if line[c] is not None) for c in range(columns)]
    for r, c in itertools.product(range(rows), range(columns)):
        if values[r][c] is None:
            values[r][c] = np.zeros((heights[r], widths[c]))
    result = np.block(values)
    rest = cells[rows * columns :]
    return result @ np.vstack([Reader(cell, m).value() for cell in rest]) if rest else result


# Texts of limits: braces kept, and more of LaTeX

NAMES = {
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
    r"r_B''": "r_B", r"t_G''": "t_G", r"t_\psi''": "t_psi",
    **{name: name for name in "xyab"},
}  # fmt: skip


# The same of section 6 of Rodrigues da Silva et al. (n.d.).
NAMES_OF_DRIVERS = {
    f"{dots}{symbol}": attribute + suffix
    for symbol, attribute in {
        "r_i^G": "rP_i", "r_i": "r_i", "s_i^G": "sP_i", "s_i^P": "sP_i", "s_j^P": "sP_j", "s_i": "s_i", "a_i": "a_i",
        "b_j": "b_j", "d_p": "d_p", "d": "d", "c^*(t)": "c", "e_k^*(t)": "e_k", r"\theta(t)": "theta", r"\beta(t)": "beta",
        "G_{(1:3,k+1)}": "G_k",
    }.items()
    for dots, suffix in (("", ""), (r"\dot", "_dot"), (r"\ddot", "_ddot"))
} | {r"\omega_i": "w_i", r"\omega_j": "w_j", "e_k": "e", "I": "I"} | {
    rf"\frac{{\partial\Phi^{{({name})}}}}{{\partialt}}": "dPhi_dt" for name in ("G,3", "e_k,1", "s_is_m,1", r"\beta,1")
}  # fmt: skip
FUNCTIONS = {"\\cos": np.cos, "\\sin": np.sin, "\\tan": np.tan, "\\arccos": np.arccos}


class Formula:
    """Evaluates a text of a limit: a sum of products of what stands side by side."""

    def __init__(self, text, m, names=NAMES):
        self.rest, self.m, self.names, self.in_norm = re.sub(r"\s", "", text), m, names, False

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
        coefficient = self.take(r"c_\{([xy]),(\d)\}\^k")
        if coefficient:
            return getattr(self.m, f"c_{coefficient[1]}")[int(coefficient[2])]
        for text in sorted(self.names, key=len, reverse=True):
            if self.rest.startswith(text):
                self.rest = self.rest[len(text) :]
                return getattr(self.m, self.names[text])
        if self.take(r"\\tilde"):
            return tilde(self.base())
        if self.take(r"\\arctan\(\\frac"):
            y, x = self.group("{", "}"), self.group("{", "}")
            assert self.take(r"\)")
            return np.arctan2(y, x) % (2 * np.pi)
        if self.take(r"\\frac"):
            return self.group("{", "}") / self.group("{", "}")
        if self.take(r"\\sqrt"):
            return np.sqrt(self.group("{", "}"))
        if self.rest.startswith(r"\|"):
            self.take(r"\\\|")
            self.in_norm = True
            value = self.sum()
            self.in_norm = not self.take(r"\\\|")
            return np.linalg.norm(value)
        function = self.take(r"(\\(?:cos|sin|tan|arccos))(\^2)?")
        if function:
            argument = self.group(r"\(", r"\)") if self.rest.startswith("(") else self.base()
            return FUNCTIONS[function[1]](argument) ** (2 if function[2] else 1)
        number = self.take(r"\d")
        return float(number[0]) if number else self.group(r"\(", r"\)")


def cases_value(cells, m):
    """The right side of a moment in three cases."""
    branches, value = [], []
    for cell in cells:
        if cell.startswith("if") or (branches and branches[-1][1] == ""):
            if cell.startswith("if"):
                branches.append([value, cell.removeprefix("if").strip()])
                value = []
            else:
                branches[-1][1] = cell
        else:
            value.append(cell)
    for value, condition in branches:
        holds = True
        for part in re.split(r"\\?\s*and\\?", condition):
            left, sign, right = re.split(r"(\\leq?|<|>)", part)
            a, b = Formula(left, m).value(), Formula(right, m).value()
            holds &= bool(a > b if sign == ">" else a < b if sign == "<" else a <= b)
        if holds:
            if value == ["0"]:
                return np.zeros((3, 1))
            return Formula(" ".join(f"({v})" if "- 2" in v else v for v in value), m).value()
    raise AssertionError("no case holds")


def limit_text_value(equation, m):
    m, names = SimpleNamespace(**vars(m), I=np.eye(3)), dict(NAMES)
    if equation.about == "limit":  # the moments in cases speak of the point A, and of u_r in the joint's frame
        m.sigma_max, m.u_r, m.u_p = m.sigma_max_A, m.u_2, m.u_2
        if any("if" in cell for cell in equation.text):
            return [m.mr_2, cases_value(list(equation.text[1:]), m)]
    if equation.about == "link":
        m.w = m.rate
    if equation.number == 33 and equation.paper == RODRIGUES_2024B:
        m.kappa = m.delta
    if equation.about in ("limit", "link"):
        u = m.u_2 if equation.about == "limit" else m.u_p_2
        for k, axis in enumerate((r"\xi", r"\eta")):
            setattr(m, f"component_{k}", u[k, 0])
            for name in (f"u''_{{r,h,{axis}}}", f"u_{{\\rmr,h,{axis}}}''", f"u_{{r,h,p,{axis}}}"):
                names[name] = f"component_{k}"
    cells = [cell for cell in equation.text if cell != "^T"]
    if equation.number in (13, 14) and equation.paper == RODRIGUES_2024C:  # one letter for the force and its size
        names[r"f_{h,i}"] = "f"
        return [m.f_i if equation.number == 13 else m.f, Formula(cells[0].partition("=")[2], m, names).value()]
    if len(cells) == 1 or cells[1].startswith("+"):
        sides_of = "".join(cells).split("=")
        if hasattr(m, sides_of[0].strip()):
            m.pm = np.sign(getattr(m, sides_of[0].strip()))
        return [Formula(side, m, names).value() for side in sides_of]
    groups = [[]]
    for cell in cells:
        if cell.endswith("="):
            groups[-1] += [cell[:-1]] if cell != "=" else []
            groups.append([])
        else:
            groups[-1].append(cell)
    values = []
    for group in groups:
        entries = [Formula(cell, m, names).value() for cell in group]
        if len(entries) == 21:  # two rotations and a column
            first, second = (np.array(entries[9 * k : 9 * k + 9]).reshape(3, 3) for k in range(2))
            values.append(first @ second @ column(entries[18:]))
        else:
            values.append(column(entries) if len(entries) > 1 else entries[0])
    return values


def driver_text_value(equation, m):
    m = SimpleNamespace(**vars(m), I=np.eye(3))
    name, _, first = equation.text[0].partition("=")
    cells = [cell.strip("[]") for cell in (first.strip(), *equation.text[1:]) if cell]
    if equation.quantity == "D":
        rows = len(m.kernels["D"])
        return [
            np.hstack([np.zeros((rows, 3)) if c == "0" else Formula(c, m, NAMES_OF_DRIVERS).value() for c in cells])
        ]
    texts = ([name] if equation.quantity == "identity" else []) + "".join(cells).removesuffix("= 0").split("=")
    return [Formula(text, m, NAMES_OF_DRIVERS).value() for text in texts]


def text_value(equation, m):
    """All sides that the text states."""
    if equation.of_limits:
        return limit_text_value(equation, m)
    if equation.of_drivers:
        return driver_text_value(equation, m)
    cells = list(equation.text)
    if re.search(r"\\equiv$|\^\(.*=$", cells[0]):  # the name of what is defined
        cells = cells[1:]
    cells = [re.sub(r"^.*\\equiv\s*|\s*= 0$", "", cell) for cell in cells if cell not in ("= 0", "^T")]
    if len(cells) == 1:
        chain, of_both, _ = cells[0].partition(" (k=i,j)")
        bodies = "ij" if of_both else "k"
        return [
            np.vstack([np.atleast_2d(Reader(side.replace("_k", f"_{body}"), m).value()) for body in bodies])
            for side in chain.split("=")
        ]
    groups = [[]]
    for cell in cells:
        if cell.endswith("="):
            groups[-1] += [cell[:-1]] if cell != "=" else []
            groups.append([])
        else:
            groups[-1].append(cell)
    return [arranged(group, equation, m) for group in groups]
