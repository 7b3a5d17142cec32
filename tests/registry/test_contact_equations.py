"""Equations of Moreira et al. (2011): text against source, function against text, both against kernels and runtime."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.registry.comparison import TOLERANCE, WELL_ABOVE_ROUNDING, errors, sides
from tests.support.registry.contact_comparison import CONTACT_SEEDS, cases, contact_seeds, printed, tolerance_of
from tests.support.registry.latex import Formula, arranged
from tests.support.registry.moreira_2011 import (
    DEEP,
    EQUATIONS,
    IN_CONTACT,
    LEAVING,
    NEARING,
    ON,
    PULLED,
    STATES,
    STRAIGHT,
    WITH_FORCE,
)
from tests.support.registry.papers import MOREIRA_2011
from tests.support.registry.symbols_of_contacts import contact_symbols, contact_symbols_for, lengthwise
from tests.support.registry.transcripts import plain

# The papers against kernels and runtime


@cases
def test_equation(equation, state, seed):
    """A printed equation holds where its entry says so, fails where its entry says so, and its corrected form holds."""
    m = contact_symbols_for(equation, state, seed)
    error = errors(equation, m, equation.literal).max()
    assert error > WELL_ABOVE_ROUNDING if state in equation.fails_in else error < tolerance_of(equation)
    if equation.corrected:
        assert errors(equation, m, equation.corrected).max() < tolerance_of(equation)


def test_verdicts():
    assert sorted(e.number for e in EQUATIONS) == list(MOREIRA_2011.numbers)
    for e in EQUATIONS:
        assert (e.verdict == "holds") == (e.corrected is None) == (not e.fails_in)
        assert set(e.fails_in) <= set(e.states)
        assert e.note or e.verdict == "holds"
        if e.verdict == "incomplete":
            assert set(e.fails_in) < set(e.states)
    assert {e.number for e in EQUATIONS if e.verdict == "misprint"} == {5, 8, 9, 12, 14, 16, 17, 18}
    assert {e.number for e in EQUATIONS if e.verdict == "incomplete"} == {4, 11}


@pytest.mark.parametrize("equation", [e for e in EQUATIONS if e.misprints], ids=lambda e: e.id)
@contact_seeds
def test_each_misprint_alone(equation, seed):
    """Each of several misprints is one by itself, and together they are all that differs from what is printed."""
    for state in equation.fails_in:
        m = contact_symbols_for(equation, state, seed)
        printed, left = (sides(f) for f in (equation.literal(m), equation.corrected(m, equation.misprints)))
        for a, b in zip(printed, left, strict=True):
            assert np.array_equal(a, b) or np.abs(a - b).max() < 1e-12 * max(1.0, np.abs(b).max())
        for misprint in equation.misprints:
            error = errors(equation, m, lambda m, left=misprint: equation.corrected(m, (left,))).max()
            if (misprint, state) == ("sign", DEEP):  # below the plane, d^T n is the distance
                assert error < TOLERANCE
            else:
                assert error > WELL_ABOVE_ROUNDING


def test_the_states_are_as_named():
    for seed in CONTACT_SEEDS:
        at = {state: contact_symbols(state, seed) for state in STATES}
        assert abs(at[ON].delta) < 1e-14 and at["apart"].delta < 0.0
        assert all(at[state].delta > 0.0 for state in IN_CONTACT)
        assert at[DEEP].delta > at[DEEP].R_i and all(at[s].delta < at[s].R_i for s in (NEARING, LEAVING, PULLED))
        assert all((at[s].delta_dot < 0.0) == (s in (LEAVING, PULLED)) for s in STATES)
        assert at[PULLED].f_n == 0.0 and all(at[s].f_n > 1.0 for s in WITH_FORCE)
        assert not at[STRAIGHT].w_i.any() and lengthwise(at[NEARING].w_i) > 0.1


# The registry against itself: the function is what the text says

NAMES = {
    r"\mathbf{d}": "d", r"\mathbf{d}_n": "d_n", r"\mathbf{d}_t": "d_t", r"\mathbf{n}": "n", r"\mathbf{r}_j^p": "rP_j",
    r"\mathbf{r}_i^c": "rC_i", r"\delta": "delta", r"\dot{\delta}": "delta_dot", r"\delta^m": "delta_m", "d_n": "distance",
    "R_i": "R_i", "R_j": "R_j", r"\mathbf{v}": "v", r"\mathbf{v}_n": "v_n", r"\mathbf{v}_t": "v_t",
    r"\mathbf{v}_j^p": "vP_j", r"\mathbf{v}_i^c": "vC_i", r"\mathbf{f}_n": "left", r"\mathbf{f}_t": "left", "K": "K", "c": "c",
    r"\chi": "chi", r"\nu_i": "nu_i", r"\nu_j": "nu_j", "E_i": "E_i", "E_j": "E_j", r"\pi": "pi", r"\mu_c": "mu_c",
    "f_n": "f_n", r"\mu_d": "mu_d", "v_t": "v_t_length", r"\mathbf{t}": "t", "F_n": "F_n", "F_t": "F_t", "f_{nk}": "f_nk",
    "f_{tk}": "f_tk", "X_{COP}": "X_COP", "Y_{COP}": "Y_COP", "F_{ni}": "F_ni", "F_{nj}": "F_nj",
    r"\Phi(\mathbf{q},t)": "Phi", r"\mathbf{0}": "zero", r"\boldsymbol{\gamma}": "gamma", r"\dot{\mathbf{q}}": "q_dot",
    r"(\Phi_{\mathbf{q}}\dot{\mathbf{q}})_{\mathbf{q}}": "Phi_q_q_dot_q", r"\Phi_{tt}": "Phi_tt", r"\Phi_{qt}": "Phi_qt",
    **{f"M_{{{axis}{body}}}": f"M_{axis}{body}" for axis in "xy" for body in "ij"},
}  # fmt: skip


class ContactFormula(Formula):
    """Reads decimals and sums over the spheres too."""

    def base(self):
        number = self.take(r"\d+\.\d+")
        if number:
            return float(number[0])
        if self.take(r"\\sum_\{k=1\}\^l"):
            return self.factor().sum()
        return super().base()


def text_value(equation, m):
    if equation.matrix[0]:
        cells = [plain(cell)[0].replace(r"\ddotq", r"\ddot q") for cell in equation.text]
        split = cells.index("=")
        return [arranged(group, equation, m) for group in (cells[:split], cells[split + 1 :])]
    m = SimpleNamespace(**vars(m), pi=np.pi)
    if equation.number in (10, 11, 14):
        m.left = equation.literal(m)[0]
    if hasattr(m, "m"):
        m.delta_m = m.delta**m.m if m.delta > 0.0 else np.nan
    if equation.number == 19:
        m.zero = np.zeros_like(m.Phi)
    # A sum has an equals sign of its own.
    return [ContactFormula(side, m, NAMES).value() for side in re.split(r"(?<!k)=", equation.text[0])]


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: e.id)
def test_functions_equal_the_printed_text(equation):
    m = contact_symbols_for(equation, equation.states[0], 1)
    literal, text = sides(equation.literal(m)), sides(tuple(text_value(equation, m)))
    assert len(literal) == len(text)
    for a, b in zip(literal, text, strict=True):
        assert a.shape == b.shape
        assert np.array_equal(a, b) or np.abs(a - b).max() < 1e-13 * max(1.0, np.abs(b).max())


def test_the_paper_prints_no_other_number():
    assert sorted(printed()) == list(MOREIRA_2011.numbers)


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: e.id)
def test_the_text_is_in_the_paper(equation):
    assert [cell for text in equation.text for cell in plain(text)] == printed()[equation.number]
