"""Misprints of Rodrigues da Silva et al. (n.d.), section 6: where each one matters, and where not."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from tests.papers.citations import RODRIGUES_ND
from tests.papers.comparison import TOLERANCE, WELL_ABOVE_ROUNDING, errors, symbols_for
from tests.papers.equations import entry
from tests.papers.places import PLACES, seeds
from tests.papers.symbols_of_drivers import AT_REST, WITH_ANY_AXES


def of_section_6(number):
    return entry(number, RODRIGUES_ND)


@seeds
def test_a_guided_point_misses_the_second_rate_by_the_first(seed):
    """Eq. (9): the error is c*' - c*'', so the printed form holds for a point that is to rest."""
    equation = of_section_6(9)
    for place in PLACES:
        m = symbols_for(equation, seed, place)
        error = equation.literal(m) - m.kernels["gamma"]
        assert np.abs(error - (m.c_dot - m.c_ddot)).max() < 1e-12 * max(1.0, np.abs(m.kernels["gamma"]).max())


@seeds
def test_the_gamma_of_an_angle_at_rest(seed):
    """Eqs. (17) and (22): with both bodies at rest, (22) holds; (17) is off by cos(theta) (theta'' - theta'^2)."""
    link, angle = of_section_6(22), of_section_6(17)
    m = symbols_for(link, seed, AT_REST)
    assert errors(link, m, link.literal).max() < TOLERANCE
    m = symbols_for(angle, seed, AT_REST)
    error = angle.literal(m) - m.kernels["gamma"]  # in each of its three components
    assert error.shape == (1, 3)
    assert np.abs(error + np.cos(m.theta) * (m.theta_ddot - m.theta_dot**2)).max() < 1e-12


@seeds
def test_a_resting_body_i_leaves_only_the_length_of_the_projection(seed):
    """Eq. (22): the six slips of the bracket vanish with a_i', s_i' and s_i^P'; a_i is perpendicular to s_i."""
    equation = of_section_6(22)
    m = SimpleNamespace(**vars(symbols_for(equation, seed, "off")))
    d_dot = m.r_j_dot + m.sP_j_dot
    m.a_i_dot, m.s_i_dot, m.sP_i_dot, m.w_i, m.d_dot = *[np.zeros((3, 1))] * 4, d_dot
    m.d_p_dot = d_dot - m.s_i.T @ d_dot * m.s_i
    whole = equation.corrected(m)
    assert np.abs(equation.literal(m) - equation.corrected(m, ("||d_p||",))).max() < 1e-12 * max(
        1.0, np.abs(whole).max()
    )
    assert np.abs(equation.literal(m) - whole).max() > WELL_ABOVE_ROUNDING


@seeds
@pytest.mark.parametrize("place", [*PLACES, WITH_ANY_AXES])
def test_where_the_printed_jacobian_of_a_link_holds(seed, place):
    """Eq. (20): where d is perpendicular to s_i, and a_i to d_p; one of the two is not enough."""
    equation = of_section_6(20)

    def error(across, at_right_angles):
        m = SimpleNamespace(**vars(symbols_for(equation, seed, place)))
        if across:
            m.d = m.d_p
        if at_right_angles:
            m.a_i = m.a_i - m.d_p * (m.a_i.T @ m.d_p) / (m.d_p.T @ m.d_p)
        D = equation.corrected(m)
        return np.abs(equation.literal(m) - D).max() / max(1.0, np.abs(D).max())

    assert error(True, True) < 1e-14
    assert min(error(True, False), error(False, True)) > WELL_ABOVE_ROUNDING


@seeds
def test_the_length_of_the_projected_link_beside_the_joint(seed):
    """Eqs. (20) and (22): to take ||d_p|| for constant adds rows 1 and 3 of the joint, which changes no motion.

    So it is with D anywhere and with gamma where those rows hold as velocities; the other misprints are no sums of rows.
    """
    D, gamma = of_section_6(20), of_section_6(22)
    m = symbols_for(D, seed, "on")
    Phi, Phi_dot, D_joint, gamma_joint = m.joint
    assert max(np.abs(Phi).max(), np.abs(Phi_dot).max()) < 1e-12
    assert abs(m.d_p.T @ m.d_p_dot) < 1e-11  # the length is constant on the joint
    factor = (m.a_i.T @ m.d_p).item() / np.linalg.norm(m.d_p) ** 3
    along = (m.d.T @ m.s_i).item()

    def sum_of_rows(rows):
        return factor * (rows[0] / 2 - along * rows[2])

    def added(equation):
        true = m.kernels[equation.quantity]
        return (equation.corrected(m, ("||d_p||",)) - true).ravel(), max(1.0, np.abs(true).max())

    for equation, rows in ((D, D_joint), (gamma, gamma_joint)):
        value, size = added(equation)
        assert np.abs(value - sum_of_rows(rows)).max() < 1e-11 * size
        assert np.abs(value).max() > WELL_ABOVE_ROUNDING

    basis = np.vstack([D_joint, m.kernels["D"]])

    def outside(row):
        return np.abs(row - row @ np.linalg.pinv(basis) @ basis).max()

    assert outside(D.corrected(m, ("||d_p||",))) < 1e-11
    assert outside(D.literal(m)) > 1e-3
    lam = np.random.default_rng(seed).normal(size=5)
    other = np.linalg.pinv(np.vstack([D_joint, D.corrected(m, ("||d_p||",))])).T @ basis.T @ lam  # of the same forces
    assert np.abs((other - lam)[[1, 3, 4]]).max() < 1e-9  # the last: the driver's
    assert np.abs((other - lam)[[0, 2]]).min() > WELL_ABOVE_ROUNDING
    u, w = np.random.default_rng(seed).normal(size=(2, 3))
    twist = np.concatenate([part for r in m.r_and_w for part in (u + np.cross(w, r), w)])
    assert abs(m.kernels["D"] @ twist) < 1e-11 and abs(D.corrected(m, ("||d_p||",)) @ twist) < 1e-11
    assert abs(D.literal(m) @ twist) > 1e-3

    m = symbols_for(gamma, seed, "off")  # the length changes
    assert abs(m.d_p.T @ m.d_p_dot) > 1e-3


CANCELLING = ("s_i^T d' s_i", "2 d^T s_i' s_i", "s_i^T d' s_i again")


@seeds
def test_three_slips_cancel_on_the_manifold(seed):
    """Eq. (22): together they are 2 (s_i^T d)' a_i^T (s_i' - s_i), and row 3 of the joint keeps s_i^T d."""
    equation = of_section_6(22)

    def error(m, left):
        return np.abs(equation.corrected(m, left) - equation.corrected(m)).item() / max(
            1.0, np.abs(m.kernels["gamma"]).max()
        )

    some = [left for k in (1, 2) for left in itertools.combinations(CANCELLING, k)]
    m = symbols_for(equation, seed, "on")
    assert abs(m.s_i_dot.T @ m.d + m.s_i.T @ m.d_dot) < 1e-11
    assert error(m, CANCELLING) < TOLERANCE
    assert min(error(m, left) for left in some) > WELL_ABOVE_ROUNDING
    for place in ("off", WITH_ANY_AXES):
        m = symbols_for(equation, seed, place)
        along = (m.s_i_dot.T @ m.d + m.s_i.T @ m.d_dot).item()
        assert abs(along) > 1e-3
        together = equation.corrected(m, CANCELLING) - equation.corrected(m)
        expected = 2 * along * m.a_i.T @ (m.s_i - m.s_i_dot) / np.linalg.norm(m.d_p)
        assert together.item() == pytest.approx(expected.item(), rel=1e-9)
        assert error(m, CANCELLING) > WELL_ABOVE_ROUNDING
