"""Printed equations: their text against the source, and its value against the kernels."""

import itertools
import re

import numpy as np
import pytest

from tests.papers.citations import PAPERS, RODRIGUES_2024A, RODRIGUES_2024B, RODRIGUES_2024C, RODRIGUES_ND
from tests.papers.comparison import SOLVED, TOLERANCE, WELL_ABOVE_ROUNDING, errors, symbols_for, those
from tests.papers.equations import EQUATIONS, entry
from tests.papers.places import PLACES, places, seeds
from tests.papers.symbols import joint_symbols
from tests.papers.symbols_of_drivers import WITH_ANY_AXES
from tests.papers.transcripts import paper_text, printed_in
from tests.support.motions import skew

# The papers against the kernels


@those(EQUATIONS)
@seeds
@places
def test_equation(equation, seed, place):
    """A printed equation holds, or its printed form fails in the rows that are named and its corrected form holds."""
    m = symbols_for(equation, seed, place)
    tolerance = SOLVED if equation.about == "equations of motion" else TOLERANCE
    printed = errors(equation, m, equation.literal)
    if equation.verdict != "misprint":
        assert printed.max() < tolerance
        assert not equation.corrections
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


@those([e for e in EQUATIONS if e.agrees_at_rest])
@seeds
def test_where_a_misprint_agrees(equation, seed):
    """The term of wrong sign vanishes where the entry says so, and is the whole error elsewhere."""
    m = symbols_for(equation, seed, "off", at_rest=equation.agrees_at_rest)
    assert errors(equation, m, equation.literal).max() < TOLERANCE
    for place in PLACES:
        m = symbols_for(equation, seed, place)
        term = np.zeros((4, 1))
        term[3] = 2 * m.s_j.T @ skew(m.w_i[:, 0]) @ m.sP_i_dot
        assert np.abs(equation.corrected(m) - equation.literal(m) - term).max() < 1e-12 * max(1.0, abs(term[3, 0]))


@those([e for e in EQUATIONS if len(e.corrections) > 1])
@seeds
@pytest.mark.parametrize("place", [*PLACES, WITH_ANY_AXES])
def test_each_misprint_alone(equation, seed, place):
    """Each of several misprints is one by itself, and together they are all that differs from what is printed."""
    m = symbols_for(equation, seed, place)
    printed, all_left = equation.literal(m), equation.corrected(m, tuple(equation.corrections))
    assert printed.shape == all_left.shape
    assert np.abs(printed - all_left).max() < 1e-12 * max(1.0, np.abs(printed).max())
    for misprint in equation.corrections:
        error = errors(equation, m, lambda m, left=misprint: equation.corrected(m, (left,)))
        if misprint in equation.harmless and place != WITH_ANY_AXES:
            assert error.max() < TOLERANCE
        else:
            assert error.min() > WELL_ABOVE_ROUNDING
    assert errors(equation, m, equation.corrected).max() < TOLERANCE


def test_a_wrong_verdict_is_seen():
    """Any one entry of D, or any term of gamma, with another sign fails."""
    D = entry(29, RODRIGUES_2024A)
    m = symbols_for(D, 0, "off")
    for r, c in itertools.product(range(4), range(4)):
        block = (slice(r, r + 1), slice(3 * c, 3 * c + 3))
        value = D.literal(m)
        value[block] *= -1
        if value[block].any():
            assert errors(D, m, lambda _, value=value: value)[r] > WELL_ABOVE_ROUNDING


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


@those(EQUATIONS)
def test_the_text_is_in_the_paper(equation):
    if equation.prose:
        assert equation.text[0] in paper_text(equation.paper)
        return
    printed = printed_in(equation.paper)[equation.number]
    assert [
        re.sub(r"[{}\s]" if equation.of_limits or equation.of_drivers else r"\s", "", cell) for cell in equation.text
    ] == printed
