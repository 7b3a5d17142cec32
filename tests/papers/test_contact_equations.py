"""Equations of Moreira et al. (2011): their text against the source, and its value against kernels and runtime."""

import numpy as np

from tests.papers.citations import MOREIRA_2011
from tests.papers.comparison import TOLERANCE, WELL_ABOVE_ROUNDING, errors, sides, those
from tests.papers.contact_comparison import CONTACT_SEEDS, cases, contact_seeds, printed, tolerance_of
from tests.papers.moreira_2011 import (
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
from tests.papers.symbols_of_contacts import contact_symbols, contact_symbols_for, lengthwise
from tests.papers.transcripts import plain

# The papers against kernels and runtime


@cases
@contact_seeds
def test_equation(equation, state, seed):
    """A printed equation holds where its entry says so, fails where its entry says so, and its corrected form holds."""
    m = contact_symbols_for(equation, state, seed)
    error = errors(equation, m, equation.literal).max()
    assert error > WELL_ABOVE_ROUNDING if state in equation.fails_in else error < tolerance_of(equation)
    if equation.corrections:
        assert errors(equation, m, equation.corrected).max() < tolerance_of(equation)


def test_verdicts():
    assert sorted(e.number for e in EQUATIONS) == list(MOREIRA_2011.numbers)
    for e in EQUATIONS:
        assert (e.verdict == "holds") == (not e.corrections) == (not e.fails_in)
        assert set(e.fails_in) <= set(e.states)
        assert e.note or e.verdict == "holds"
        if e.verdict == "incomplete":
            assert set(e.fails_in) < set(e.states)
    assert {e.number for e in EQUATIONS if e.verdict == "misprint"} == {5, 8, 9, 12, 14, 16, 17, 18}
    assert {e.number for e in EQUATIONS if e.verdict == "incomplete"} == {4, 11}


@those([e for e in EQUATIONS if len(e.corrections) > 1])
@contact_seeds
def test_each_misprint_alone(equation, seed):
    """Each of several misprints is one by itself, and together they are all that differs from what is printed."""
    for state in equation.fails_in:
        m = contact_symbols_for(equation, state, seed)
        printed, left = (sides(f) for f in (equation.literal(m), equation.corrected(m, tuple(equation.corrections))))
        for a, b in zip(printed, left, strict=True):
            assert np.array_equal(a, b) or np.abs(a - b).max() < 1e-12 * max(1.0, np.abs(b).max())
        for misprint in equation.corrections:
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


def test_the_paper_prints_no_other_number():
    assert sorted(printed()) == list(MOREIRA_2011.numbers)


@those(EQUATIONS)
def test_the_text_is_in_the_paper(equation):
    assert [cell for text in equation.text for cell in plain(text)] == printed()[equation.number]
