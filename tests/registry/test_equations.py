"""Printed equations: text against source, function against text, and both against the kernels."""

import itertools
import re

import numpy as np
import pytest

from tests.support.registry.comparison import (
    SOLVED,
    TOLERANCE,
    WELL_ABOVE_ROUNDING,
    equations,
    errors,
    sides,
    symbols_for,
    with_misprints,
    wrong_terms,
)
from tests.support.registry.equation import tilde
from tests.support.registry.equations import EQUATIONS
from tests.support.registry.latex import text_value
from tests.support.registry.papers import PAPERS, RODRIGUES_2024A, RODRIGUES_2024B, RODRIGUES_2024C, RODRIGUES_ND
from tests.support.registry.places import PLACES, places, seeds
from tests.support.registry.symbols import joint_symbols
from tests.support.registry.symbols_of_drivers import WITH_ANY_AXES
from tests.support.registry.transcripts import paper_text, printed_in

# The papers against the kernels


@equations
@seeds
@places
def test_equation(equation, seed, place):
    """A printed equation holds, or its printed form fails in the rows that are named and its corrected form holds."""
    m = symbols_for(equation, seed, place)
    tolerance = SOLVED if equation.about == "equations of motion" else TOLERANCE
    printed = errors(equation, m, equation.literal)
    if equation.verdict != "misprint":
        assert printed.max() < tolerance
        assert equation.corrected is None
        assert equation.note or equation.verdict == "holds"
    else:
        wrong = list(equation.wrong_rows)
        assert (printed[wrong] > WELL_ABOVE_ROUNDING).all()
        assert np.delete(printed, wrong).max(initial=0.0) < tolerance
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


@wrong_terms
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


@with_misprints
@seeds
@pytest.mark.parametrize("place", [*PLACES, WITH_ANY_AXES])
def test_each_misprint_alone(equation, seed, place):
    """Each of several misprints is one by itself, and together they are all that differs from what is printed."""
    m = symbols_for(equation, seed, place)
    printed, all_left = equation.literal(m), equation.corrected(m, equation.misprints)
    assert printed.shape == all_left.shape
    assert np.abs(printed - all_left).max() < 1e-12 * max(1.0, np.abs(printed).max())
    for misprint in equation.misprints:
        error = errors(equation, m, lambda m, left=misprint: equation.corrected(m, (left,)))
        if misprint in equation.harmless and place != WITH_ANY_AXES:
            assert error.max() < TOLERANCE
        else:
            assert error.min() > WELL_ABOVE_ROUNDING
    assert errors(equation, m, equation.corrected).max() < TOLERANCE


def test_a_wrong_verdict_is_seen():
    """Any one entry of D, or any term of gamma, with another sign fails."""
    (D,) = [e for e in EQUATIONS if (e.paper, e.number) == (RODRIGUES_2024A, 29)]
    m = symbols_for(D, 0, "off")
    for r, c in itertools.product(range(4), range(4)):
        block = (slice(r, r + 1), slice(3 * c, 3 * c + 3))
        value = D.literal(m)
        value[block] *= -1
        if value[block].any():
            assert errors(D, m, lambda _, value=value: value)[r] > WELL_ABOVE_ROUNDING


@equations
def test_functions_equal_the_printed_text(equation):
    if equation.prose or not equation.read:
        return
    m = symbols_for(equation, 1, "off")
    if equation.about == "axes":
        m.s_talocalcaneal, m.s_talocrural = m.s_i, m.s_j
    literal, text = sides(equation.literal(m)), sides(tuple(text_value(equation, m)))
    assert len(literal) == len(text)
    for a, b in zip(literal, text, strict=True):
        assert a.shape == b.shape
        assert np.abs(a - b).max() < 1e-13 * max(1.0, np.abs(b).max())


def test_every_number_is_in_the_registry():
    for paper in PAPERS:
        assert sorted({e.number for e in EQUATIONS if e.paper == paper}) == list(paper.numbers)
    assert len({e.id for e in EQUATIONS}) == len(EQUATIONS)
    assert {(e.paper, e.number, e.step) for e in EQUATIONS if e.step} == {(RODRIGUES_2024B, 3, "6.4")}
    assert {(e.paper, e.number) for e in EQUATIONS if e.verdict == "misprint" and not e.step} == {
        (RODRIGUES_2024A, 32), (RODRIGUES_ND, 5), (RODRIGUES_ND, 9), (RODRIGUES_ND, 17), (RODRIGUES_ND, 20), (RODRIGUES_ND, 22),
        (RODRIGUES_2024C, 14), (RODRIGUES_2024C, 16), (RODRIGUES_2024C, 20), (RODRIGUES_2024B, 27), (RODRIGUES_2024B, 33),
    }  # fmt: skip
    assert {(e.paper, e.number) for e in EQUATIONS if e.verdict == "slip"} == {
        (RODRIGUES_ND, n) for n in (8, 12, 16, 21)
    }


@pytest.mark.parametrize("paper", PAPERS, ids=str)
def test_the_papers_print_no_other_number(paper):
    assert sorted(printed_in(paper)) == list(paper.numbers)


@equations
def test_the_text_is_in_the_paper(equation):
    if equation.prose:
        assert equation.text[0] in paper_text(equation.paper)
        return
    printed = printed_in(equation.paper)[equation.number]
    assert [
        re.sub(r"[{}\s]" if equation.of_limits or equation.of_drivers else r"\s", "", cell) for cell in equation.text
    ] == printed
