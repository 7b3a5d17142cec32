"""The registry of printed equations: text against source, function against text, and both against the kernels."""

import itertools
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from registry import EQUATIONS, NUMBERS, SEED_000, SEED_001, SEED_002, tilde
from test_kernels import Motion, assembled, call, derivatives, module_of, unit

from models import foot
from runtime.equations import derivative_once, rotation

TOLERANCE = 1e-12  # relative to the largest of 1 and the quantity
# The accelerations and multipliers of a system solve linear equations, which costs digits.
SOLVED = 1e-9
WELL_ABOVE_ROUNDING = 1e-5
SEEDS = range(5)
PLACES = ("off", "on")  # the constraint manifold
SEED_FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "seeds"
ROWS = ("Phi", "Phi_dot", "Phi_ddot", "D", "nu", "gamma")

equations = pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: e.id)
misprints = pytest.mark.parametrize("equation", [e for e in EQUATIONS if e.verdict == "misprint"], ids=lambda e: e.id)
seeds = pytest.mark.parametrize("seed", SEEDS)
places = pytest.mark.parametrize("place", PLACES)


# What the symbols stand for


def column(v):
    return np.asarray(v, float).reshape(-1, 1)


@cache
def joint_symbols(name, seed, place, right_angle=False, at_rest=""):
    """The papers' symbols of a joint on a random motion; ``m.kernels`` holds what the generated kernels give."""
    rng = np.random.default_rng([seed, *name.encode()])
    module = module_of(name)
    setting, states, start = assembled(module, rng, _set_at_right_angle if right_angle else None)
    motion = Motion.through(states, rng) if place == "on" else Motion(rng)
    if at_rest:
        motion.q[at_rest][1:] = 0.0
    return _symbols(module, setting, motion, start)


def _set_at_right_angle(setting, start):
    a_i = start.A("i", 0.0) @ setting.local["a_i"]
    a_j = start.A("j", 0.0) @ setting.local["a_j"]
    setting.local["a_j"] = start.A("j", 0.0).T @ unit(a_j - a_i * (a_i @ a_j))


def _symbols(module, setting, motion, start):
    m = SimpleNamespace()
    paper = {"s": "sP", "a": "s"}  # the definitions' names and the papers'
    points = {"r_i": lambda t: motion.state("i", t)[:3], "r_j": lambda t: motion.state("j", t)[:3]}
    for name, kind, body in module.VECTORS:
        if kind in ("point", "direction"):
            local = setting.local[name]
            points[f"{paper[name[0]]}_{body}"] = lambda t, b=body, u=local: motion.A(b, t) @ u
            if kind == "direction":
                setattr(m, f"s_{body}_0", column(start.A(body, 0.0) @ local))
            else:
                setattr(m, f"sP_{body}_local", column(local))
    if "sP_i" in points:
        points["d"] = lambda t: points["r_j"](t) + points["sP_j"](t) - points["r_i"](t) - points["sP_i"](t)
        points |= {f"rP_{b}": lambda t, b=b: points[f"r_{b}"](t) + points[f"sP_{b}"](t) for b in "ij"}
        ends = [start.state(b)[:3] + start.A(b, 0.0) @ setting.local[f"s_{b}"] for b in "ij"]
        m.d_0 = column(ends[1] - ends[0])
    for name, path in points.items():
        for suffix, value in zip(("", "_dot", "_ddot"), derivatives(path, 2), strict=True):
            setattr(m, name + suffix, column(value))
    for body in "ij":
        omega, omega_dot = derivatives(lambda t, b=body: motion.omega(b, t), 1)
        A = np.empty((3, 3))
        rotation.py_func(motion.state(body)[3:7], A)
        vars(m).update({f"w_{body}": column(omega), f"w_{body}_dot": column(omega_dot), f"A_{body}": A})
    if "sP_i" in points:  # an arbitrary body with a vector fixed in it
        m.w, m.w_dot, m.s, m.s_dot, m.s_ddot = m.w_i, m.w_i_dot, m.sP_i, m.sP_i_dot, m.sP_i_ddot
    m.l = dict(zip((name for name, _ in module.PARAMETERS), setting.parameters, strict=True)).get("l")
    m.kernels = _kernels(module, setting, motion)
    return m


def _kernels(module, setting, motion):
    body_i, body_j = motion.states()
    x = setting.x(body_i, body_j)
    rows = len(module.ROWS)
    Phi, Phi_dot, D, gamma = call(module.evaluate, body_i, body_j, x, (rows,), (rows,), (rows, 12), (rows,))
    nu = call(module.nu, body_i, body_j, x, rows)
    Phi_ddot = D @ motion.acceleration() - gamma
    values = dict(zip(ROWS, (Phi, Phi_dot, Phi_ddot, D, nu, gamma), strict=True))
    return {name: value if name == "D" else column(value) for name, value in values.items()}


def axes_symbols(seed):
    """The axes of the ankle from the projections of their angles: on a cardinal plane an axis has the tangent it shows."""
    rng = np.random.default_rng(seed)
    rho, theta, epsilon, tau = rng.uniform(-1.3, 1.3, 4) if seed else np.deg2rad([19.8, 35.3, 6.0, 8.0])
    s_i = unit(np.array([1.0, np.tan(rho), np.tan(theta)]))  # transverse plane: y/x; sagittal plane: z/x
    s_j = unit(np.array([np.tan(epsilon), 1.0, np.tan(tau)]))  # transverse plane: x/y; frontal plane: z/y
    real = [np.arctan2(s[2], np.hypot(s[0], s[1])) for s in (s_i, s_j)]  # angle to the transverse plane
    return SimpleNamespace(
        rho=rho,
        theta=theta,
        epsilon=epsilon,
        tau=tau,
        theta_re=real[0],
        tau_re=real[1],
        s_i=column(s_i),
        s_j=column(s_j),
    )


@cache
def system_symbols(seed, place, stabilised):
    """Mass matrix and applied forces of the foot by their definitions, the rest as the runtime has it."""
    system = foot.build()
    rng = np.random.default_rng(seed)
    tables, work, y = system.tables, system.work(), system.state.y.reshape(-1, 13).copy()
    if not stabilised:
        tables = tables._replace(alpha=0.0, beta=0.0)
    y[:, 7:] = rng.normal(size=(len(y), 6))
    if place == "off":
        y[:, :3] += 0.01 * rng.normal(size=(len(y), 3))
        y[:, 3:7] += 0.1 * rng.normal(size=(len(y), 4))
        y[:, 3:7] /= np.linalg.norm(y[:, 3:7], axis=1, keepdims=True)
    else:
        y = system.assemble(system.state.replace(v=dict(zip(system.body_names, y[:, 7:10], strict=True)))).y.reshape(
            -1, 13
        )
    assert derivative_once(y.ravel(), tables, work, np.empty(y.size)) == 0

    rows = [(k, r) for k, joint in enumerate(system.joints) for r in range(len(joint.rows))]
    D = np.zeros((len(rows), 6 * (len(y) + 1)))
    for n, (k, r) in enumerate(rows):
        for body, part in ((tables.body_i[k], work.D[k, r, :6]), (tables.body_j[k], work.D[k, r, 6:])):
            D[n, 6 * body : 6 * body + 6] += part
    M, g = [], []
    for b, state in enumerate(y, start=1):
        A = np.empty((3, 3))
        rotation.py_func(state[3:7], A)
        J, omega = A @ tables.inertia[b] @ A.T, state[10:]
        M += [tables.mass[b] * np.eye(3), J]
        g += [tables.mass[b] * tables.gravity, -np.cross(omega, J @ omega)]
    size = 3 * len(M)
    mass = np.zeros((size, size))
    for k, block in enumerate(M):
        mass[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block

    def of_rows(table):
        return column([table[k, r] for k, r in rows])

    return SimpleNamespace(
        M=mass, g=column(np.concatenate(g)), D=D[:, 6:], v_dot=column(work.v_dot[1:]), lam=of_rows(work.lam),
        gamma=of_rows(work.gamma), Phi=of_rows(work.Phi), Phi_dot=of_rows(work.Phi_dot),
        alpha=tables.alpha, beta=tables.beta,
    )  # fmt: skip


def symbols_for(equation, seed, place, **special):
    if equation.about == "axes":
        return axes_symbols(seed)
    if equation.about == "equations of motion":
        return system_symbols(seed, place, equation.seed != SEED_002)
    joint = equation.about.partition(".")[0] or "modified_universal"
    return joint_symbols(joint, seed, place, equation.right_angle, **special)


def sides(values):
    return [np.atleast_2d(v) for v in (values if isinstance(values, tuple) else (values,))]


def errors(equation, m, form):
    """How far each row of a form is from the kernels, or a side of an identity from the first side."""
    values = sides(form(m))
    if equation.quantity == "identity":
        truth, values = values[0], values[1:]
    else:
        truth = m.kernels[equation.quantity]
        row = equation.about.partition(".")[2]
        if row:
            module = module_of(equation.about.partition(".")[0])
            truth = truth[[module.ROWS.index(row)]]
    for value in values:
        assert value.shape == truth.shape
    return np.max([np.abs(value - truth).max(axis=1) for value in values], axis=0) / max(1.0, np.abs(truth).max())


# The papers against the kernels


@equations
@seeds
@places
def test_equation(equation, seed, place):
    """A printed equation holds, or its printed form fails in the rows that are named and its corrected form holds."""
    m = symbols_for(equation, seed, place)
    tolerance = SOLVED if equation.about == "equations of motion" else TOLERANCE
    printed = errors(equation, m, equation.literal)
    if equation.verdict == "holds":
        assert printed.max() < tolerance
        assert equation.corrected is None
    else:
        wrong = list(equation.wrong_rows)
        assert (printed[wrong] > WELL_ABOVE_ROUNDING).all()
        assert np.delete(printed, wrong).max() < tolerance
        assert errors(equation, m, equation.corrected).max() < tolerance
        assert equation.note


@seeds
@pytest.mark.parametrize(
    "name", ["spherical", "universal", "modified_universal", "constant_angle", "constant_distance"]
)
def test_on_and_off_the_manifold(name, seed):
    on, off = (joint_symbols(name, seed, place).kernels for place in ("on", "off"))
    assert max(np.abs(on["Phi"]).max(), np.abs(on["Phi_dot"]).max()) < 1e-12
    assert min(np.abs(off["Phi"]).max(), np.abs(off["Phi_dot"]).max()) > 1e-3


@misprints
@seeds
def test_where_a_misprint_agrees(equation, seed):
    """The term of wrong sign vanishes where the entry says so, and is the whole error elsewhere."""
    m = symbols_for(equation, seed, "off", at_rest=equation.agrees_at_rest)
    assert errors(equation, m, equation.literal).max() < TOLERANCE
    for place in PLACES:
        m = symbols_for(equation, seed, place)
        term = np.zeros((4, 1))
        term[3] = 2 * m.s_j.T @ tilde(m.w_i) @ m.sP_i_dot
        assert np.abs(equation.corrected(m) - equation.literal(m) - term).max() < 1e-12 * max(1.0, abs(term[3, 0]))


def test_the_foot_has_the_printed_axes():
    m = axes_symbols(0)
    assert np.abs(column(foot.talocalcaneal_axis()) - m.s_i).max() < 1e-15
    assert np.abs(column(foot.talocrural_axis()) - m.s_j).max() < 1e-15


def test_the_perpendicular_joint_is_no_skew_one():
    """Eq. (3) is meant for axes at a right angle: for others it misses the constant of Eq. (9)."""
    (normal,) = [e for e in EQUATIONS if (e.seed, e.number) == (SEED_000, 3)]
    m = joint_symbols("constant_angle", 0, "off")
    assert errors(normal, m, normal.literal).max() > WELL_ABOVE_ROUNDING


def test_a_wrong_verdict_is_seen():
    """Any one entry of D, or any term of gamma, with another sign fails."""
    (D,) = [e for e in EQUATIONS if (e.seed, e.number) == (SEED_000, 29)]
    m = symbols_for(D, 0, "off")
    for r, c in itertools.product(range(4), range(4)):
        block = (slice(r, r + 1), slice(3 * c, 3 * c + 3))
        value = D.literal(m)
        value[block] *= -1
        if value[block].any():
            assert errors(D, m, lambda _, value=value: value)[r] > WELL_ABOVE_ROUNDING


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


def text_value(equation, m):
    """All sides that the text states."""
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


@equations
def test_function_is_what_the_text_says(equation):
    if equation.quantity == "nu":
        return
    m = symbols_for(equation, 1, "off")
    if equation.about == "axes":
        m.s_talocalcaneal, m.s_talocrural = m.s_i, m.s_j
    literal, text = sides(equation.literal(m)), text_value(equation, m)
    assert len(literal) == len(text)
    for a, b in zip(literal, text, strict=True):
        assert a.shape == b.shape
        assert np.abs(a - b).max() < 1e-13 * max(1.0, np.abs(b).max())


# The registry against the papers

DISPLAYED = re.compile(
    r"\$\$((?:(?!\$\$).)*?)(?:\\quad\s*\((\d+)\)\s*\$\$|\\tag\{(\d+)\}\s*\$\$|\$\$\s*\((\d+)\))", re.S
)
# From the first to the last heading named; the second is not part of the section.
SECTIONS = {
    SEED_000: ("\n2 Multibody systems methodology", "\n4 Methodology to restrict"),
    SEED_001: ("\n### 1. Introduction", "\n#### 4. Application of the methodology"),
    SEED_002: ("\n## 2 MULTIBODY", "\n#### 4 DESCRIPTION"),
}
LAYOUT = (
    r"\\begin\{(?:array|aligned|cases|[bB]matrix)\}(?:\{(?:c|l|@\{\\quad\})+\})?", r"\\end\{\w+\}",
    r"\\(?:left|right)\s*(?:\\[{}]|[\[\].])", r"\\[{}]", r"\\quad", r"\\\\",
)  # fmt: skip
FONTS = r"\\(?:mathbf|boldsymbol|mathrm|text|textstyle|displaystyle|hfill|left|right)(?![a-zA-Z])"
SPELLINGS = {r"\upomega": r"\omega", r"\upgamma": r"\gamma", r"\varPhi": r"\Phi"}


def plain(latex):
    """LaTeX without fonts, layout and space: one string per entry."""
    text = re.sub("|".join(LAYOUT), "&", latex)
    text = re.sub(FONTS, "", text)
    for theirs, ours in SPELLINGS.items():
        text = text.replace(theirs, ours)
    cells = (re.sub(r"[{}\s]", "", cell).rstrip(".,") for cell in text.split("&"))
    return [cell for cell in cells if cell]


@cache
def seed_text(name):
    file = SEED_FOLDER / name
    if not file.is_file():
        pytest.skip(f"the transcribed papers are not here: no {name} in ../shared/seeds beside the repository")
    return file.read_text(encoding="utf-8")


def printed_in(name):
    """Number -> entries, of the numbered equations in the sections that the registry covers."""
    text = seed_text(name)
    start, stop = (text.index(heading) for heading in SECTIONS[name])
    found = DISPLAYED.findall(text[start:stop])
    return {int(next(filter(None, numbers))): plain(body) for body, *numbers in found}


def test_every_number_is_in_the_registry():
    for seed, numbers in NUMBERS.items():
        assert sorted({e.number for e in EQUATIONS if e.seed == seed}) == list(numbers)
    assert len({e.id for e in EQUATIONS}) == len(EQUATIONS)
    assert {(e.seed, e.number) for e in EQUATIONS if e.verdict == "misprint"} == {(SEED_000, 32), (SEED_002, 5)}


@pytest.mark.parametrize("name", list(NUMBERS))
def test_the_papers_print_no_other_number(name):
    assert sorted(printed_in(name)) == list(NUMBERS[name])


@equations
def test_text_stands_in_the_paper(equation):
    if equation.quantity == "nu":
        assert equation.text[0] in seed_text(equation.seed)
        return
    printed = printed_in(equation.seed)[equation.number]
    assert [re.sub(r"\s", "", cell) for cell in equation.text] == printed
