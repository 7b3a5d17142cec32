"""Limits and axes of the foot as Rodrigues da Silva et al. (2024c) prints them, against its own text and the model."""

from types import SimpleNamespace

import numpy as np
import pytest

import models
from models import foot
from tests.papers.citations import RODRIGUES_2024A, RODRIGUES_2024B, RODRIGUES_2024C
from tests.papers.comparison import WELL_ABOVE_ROUNDING, errors
from tests.papers.equations import EQUATIONS, entry
from tests.papers.places import SEEDS
from tests.papers.symbols import axes_symbols, column, joint_symbols
from tests.papers.symbols_of_limits import limit_symbols
from tests.papers.transcripts import paper_text
from tests.support.vectors import about


def test_printed_talocalcaneal_limits_are_the_reverse_of_their_text():
    """Section 4: the text has inversion up to 35 and eversion up to 25 degrees; the vector has 25 at longitude 90.

    Inverted, with its medial border (+y) raised, the main foot sees the link at a longitude of 90 degrees.
    """
    text = paper_text(RODRIGUES_2024C)
    assert "talocalcaneal maximum inversion and eversion are defined as 35° and 25°, respectively" in " ".join(
        text.split()
    )
    assert r"\{ 1^\circ \quad 25^\circ \quad 1^\circ \quad 35^\circ \quad 1^\circ \}" in text
    inversion = about(foot.talocalcaneal_axis(), 0.2)
    assert (inversion @ [0.0, 1.0, 0.0])[2] > 0.1
    link = foot.talocalcaneal_frame() @ inversion.T @ [0.0, 0.0, 1.0]  # seen from the foot; the leg stands still
    assert (
        link[1] > 0.1 and abs((foot.talocalcaneal_frame() @ [0.0, 0.0, 1.0])[1]) < 1e-15
    )  # along +eta, across the axis
    systems = (models.foot.build(limits="elastic", preset=preset) for preset in ("published", "anatomical"))
    published, ours = (system.limit("talocalcaneal").cone for system in systems)
    assert np.rad2deg(published.maximum_latitude([np.pi / 2, 3 * np.pi / 2])) == pytest.approx([25.0, 35.0])
    assert np.rad2deg(ours.maximum_latitude([np.pi / 2, 3 * np.pi / 2])) == pytest.approx([35.0, 25.0])


def test_printed_frames_of_the_limits():
    """Section 4, not numbered: right-handed, the axes of the hinges along eta (reversed) and xi."""
    m = axes_symbols(0)
    rho, theta, epsilon, tau = m.rho, m.theta_re, m.epsilon, m.tau_re
    crural = [
        [np.cos(epsilon), -np.sin(epsilon), 0.0],
        [-np.sin(epsilon) * np.cos(tau), -np.cos(epsilon) * np.cos(tau), -np.sin(tau)],
        [np.sin(epsilon) * np.sin(tau), np.cos(epsilon) * np.sin(tau), -np.cos(tau)],
    ]
    calcaneal = [
        [np.cos(rho) * np.cos(theta), np.sin(rho) * np.cos(theta), np.sin(theta)],
        [-np.sin(rho), np.cos(rho), 0.0],
        [-np.cos(rho) * np.sin(theta), -np.sin(rho) * np.sin(theta), np.cos(theta)],
    ]
    for printed, ours in ((crural, foot.talocrural_frame()), (calcaneal, foot.talocalcaneal_frame())):
        assert np.abs(ours - printed).max() < 1e-15
        assert np.abs(np.cross(ours[0], ours[1]) - ours[2]).max() < 1e-15


def test_planar_distance_is_the_angle_at_one_longitude_only():
    """(2024b), Eq. (33): on a regular cone the root is delta, and the norm of Eq. (30) its sine."""
    printed = entry(33, RODRIGUES_2024B)
    for seed in SEEDS:
        m = SimpleNamespace(**vars(limit_symbols(seed, "off")))
        m.psi_B, m.sigma_B, m.sigma_A = m.psi_A, 0.5, 0.5 + m.delta
        delta, norm, root = printed.literal(m)
        assert root == pytest.approx(delta, rel=1e-13) and norm == pytest.approx(np.sin(delta), rel=1e-13)


def test_the_foot_has_the_printed_axes():
    m = axes_symbols(0)
    assert np.abs(column(foot.talocalcaneal_axis()) - m.s_i).max() < 1e-15
    assert np.abs(column(foot.talocrural_axis()) - m.s_j).max() < 1e-15


def test_the_perpendicular_joint_is_no_skew_one():
    """Eq. (3) is meant for axes at a right angle: for others it misses the constant of Eq. (9)."""
    normal = entry(3, RODRIGUES_2024A)
    m = joint_symbols("constant_angle", 0, "off")
    assert errors(normal, m, normal.literal).max() > WELL_ABOVE_ROUNDING


def test_the_step_that_cites_the_wrong_equation():
    """(2024b), step 6.4: Eq. (3) fails with the axes of either body, and serves where the joint's axes are those of body i."""
    (step,) = [e for e in EQUATIONS if e.step]
    for seed in SEEDS:
        m = SimpleNamespace(**vars(limit_symbols(seed, "off")))
        size = np.linalg.norm(m.mr)
        assert np.abs(step.corrected(m)[1] - m.mr).max() < 1e-12 * max(1.0, size)
        for A in (m.A_i, m.A_j):
            assert np.abs(A @ m.mr_2 - m.mr).max() > 1e-3 * size
        m.A_i, m.B = m.A_i @ m.B, np.eye(3)
        assert np.abs(step.literal(m)[1] - m.mr).max() < 1e-12 * max(1.0, size)
