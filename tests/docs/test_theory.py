"""Statements of the pages on theory that are not in the registry of the papers' equations."""

import re

import numpy as np
import pytest

import models
import runtime
from tests.support.paths import ROOT

PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))


def tilde(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def test_rotation_matrix_and_rates_of_euler_parameters():
    run = runtime.simulate(models.free_body.build(), 0.5, t_eval=np.linspace(0, 0.5, 5001))
    (body,) = run.system.body_names
    p = run.p[body]
    G = np.array([np.column_stack([-e[1:], tilde(e[1:]) + e[0] * np.eye(3)]) for e in p])
    L = np.array([np.column_stack([-e[1:], -tilde(e[1:]) + e[0] * np.eye(3)]) for e in p])
    assert np.abs(G @ L.transpose(0, 2, 1) - run.rotations(body)).max() < 1e-12
    rates = 0.5 * np.einsum("nab,na->nb", G, run.omega[body])
    assert np.abs(np.gradient(p, run.t, axis=0)[2:-2] - rates[2:-2]).max() < 1e-5


def test_multipliers_and_reaction_of_a_rod_that_hangs():
    b = runtime.Builder("rod")
    b.body("rod", mass=2.0, inertia=(0.1, 0.1, 0.01), r=(0, 0, -0.5))
    b.joint("pivot", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.5))
    run = runtime.simulate(b.build(), 0.1)
    assert np.abs(run.lam["pivot"] - (0, 0, -2.0 * 9.81)).max() < 1e-9
    assert np.abs(run.reaction("pivot", on="rod").force - (0, 0, 2.0 * 9.81)).max() < 1e-9


def test_effort_of_a_driver_is_its_multiplier_with_the_other_sign():
    t = np.linspace(0.0, 1.0, 51)
    b = runtime.Builder("arm")
    b.body("arm", mass=2.0, inertia=(0.02, 0.02, 0.002), r=(0, 0, -0.2))
    b.joint("shoulder", "revolute", "ground", "arm", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.2), a_j=(0, 1, 0))
    signal = runtime.Signal.spline(t, 0.8 * np.sin(6 * t))
    b.driver("swing", "guided_angle", "ground", "arm", h_i=(0, 1, 0), a_i=(0, 0, -1), b_j=(0, 0, -1), theta_t=signal)
    motion = runtime.inverse_dynamics(b.build(), t)
    effort = motion.driven["swing"].effort["theta_t"]
    assert np.abs(effort).max() > 0.05 and np.abs(effort + motion.lam["swing"][:, 0]).max() < 1e-12


def test_printed_law_conserves_energy_in_a_circular_cone_only():
    changes = []
    for cone in ((40, 40, 40, 40, 40), (25, 60, 25, 60, 25)):
        system = models.pendulum.build(
            "spherical", limits="elastic", law="as_published", omega=(3.0, 6.0, 0.5), angle=0.3,
            cone=runtime.Cone.from_degrees((0, 90, 180, 270, 360), cone),
        )  # fmt: skip
        run = runtime.simulate(system, 2.0, t_eval=np.linspace(0, 2, 2001), rtol=1e-11, atol=1e-11)
        excess = run.limits["pivot"].excess
        inside = excess <= 0
        assert run.success and excess.max() > 0.01
        energy = (run.kinetic_energy + run.potential_energy)[inside]
        changes.append(abs(energy - energy[0]).max())
    circular, elliptical = changes
    assert circular < 1e-7 and elliptical > 1e-3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_that_a_page_names_exists(page):
    files = re.findall(r"`((?:codegen|runtime|tests|models|benchmarks)/[\w/]+\.py)`", page.read_text(encoding="utf-8"))
    assert files or page.stem == "index"
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_labels_of_equations_are_unique_and_used_labels_exist():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    labels = re.findall(r"^:label: (\S+)$", text, re.MULTILINE)
    assert len(labels) == len(set(labels)) == text.count("```{math}")
    assert set(re.findall(r"\{eq\}`([^`]+)`", text)) <= set(labels)
