"""The kernels of forces against differences of their potentials and of themselves; checks of kernels broken on purpose."""

import numpy as np
import pytest

from tests.support.force_kernels import FORCES, Case
from tests.support.kernel_text import missed

SEEDS = range(3)
POTENTIAL = 24
all_forces = pytest.mark.parametrize("name", list(FORCES))
seeds = pytest.mark.parametrize("seed", SEEDS)
ELASTIC = [name for name in FORCES if not name.endswith("friction")]


def distance(a, b):
    return np.abs(a - b).max() / max(1.0, np.abs(b).max())


def expected_wrench(c):
    """Minus the slope of the potential, and the forces of dampers along their coordinates, by differences alone."""
    slopes = c.slopes(slice(POTENTIAL, None))
    along = np.concatenate([slopes[:, 12 * b : 12 * b + 6] for b in range(c.count)], axis=1)
    outputs = dict(zip(["potential", *(name for name, _ in c.module.OUTPUTS)], along, strict=True))
    Q = -outputs["potential"]
    v = c.values
    if "loss" in v:
        x = outputs["distance" if c.module.NAME == "stop" else "length"]
        start = c.run()
        sign = -1.0 if c.module.NAME == "stop" else 1.0
        pull = start[-1]
        still = Case.run(c, np.column_stack([c.states[:, :7], np.zeros((4, 6))]))[-1]
        assert pull == pytest.approx(still * (1.0 + sign * v["loss"] * (x @ c.twist)), rel=1e-9)
        return Q - sign * (pull - still) * x
    if c.module.NAME == "bushing":
        names = [(f"c_{a}", f"displacement_{b}") for a, b in zip(("xi", "eta", "zeta"), "xyz", strict=True)]
        names += [(f"ct_{a}", f"angles_{b}") for a, b in zip(("xi", "eta", "zeta"), "xyz", strict=True)]
        return Q - sum(v[damping] * (outputs[x] @ c.twist) * outputs[x] for damping, x in names)
    if "creep" in v:
        by_velocity = np.concatenate([slopes[-1, 12 * b + 6 : 12 * b + 12] for b in range(c.count)])
        slip = c.run()[-1]
        return -(v["friction"] * slip / np.hypot(slip, v["creep"]) + v["damping"] * slip) * by_velocity
    x = outputs["angle" if c.module.NAME == "torsional_spring" else "length"]
    return Q - v["damping"] * (x @ c.twist) * x


def wrench_error(c, module=None):
    return distance(c.run(module=module)[: 6 * c.count], expected_wrench(c))


def tangent_error(c, module=None):
    return distance(c.tangent(module), c.slopes(slice(0, 6 * c.count)))


@all_forces
@seeds
def test_the_force_is_that_of_the_potential_and_the_damper(name, seed):
    assert wrench_error(Case(name, seed)) < 1e-9


@all_forces
@seeds
def test_the_tangent_is_the_derivative(name, seed):
    assert tangent_error(Case(name, seed)) < 1e-8


@all_forces
@seeds
def test_action_and_reaction(name, seed):
    c = Case(name, seed)
    Q = c.run()[: 6 * c.count].reshape(-1, 2, 3)
    moments = Q[:, 1] + np.cross(c.states[: c.count, :3], Q[:, 0])
    assert np.abs(Q[:, 0].sum(axis=0)).max() < 1e-12 * np.abs(Q).max()
    assert np.abs(moments.sum(axis=0)).max() < 1e-12 * np.abs(Q).max()
    assert np.abs(Q).max() > 1e-3


@pytest.mark.parametrize("name", ["spring_damper", "torsional_spring", "tabulated_spring"])
def test_the_force_along_the_coordinate_is_reported(name):
    """The moment or tension reported is what the gradient of the coordinate carries."""
    c = Case(name, 0)
    out = c.run()
    slopes = c.slopes(slice(25, 26))[0]
    along = np.concatenate([slopes[12 * b : 12 * b + 6] for b in range(2)])
    sign = 1.0 if name == "torsional_spring" else -1.0
    assert distance(out[:12], sign * out[-1] * along) < 1e-9


@pytest.mark.parametrize("name", ["cable", "tendon", "stop"])
def test_a_slack_element_has_neither_force_nor_slope(name):
    c = Case(name, 0, **({"clearance": -50.0} if name == "stop" else {"slack_length": 50.0}))
    assert not c.run()[:25].any() and not c.tangent().any()


@pytest.mark.parametrize("name", ["spring_damper", "stop", "tabulated_spring", "slider_friction"])
def test_a_broken_kernel_is_found(name):
    """A statement that computes the same from other statements may be broken without a change; no other change is missed."""
    c = Case(name, 0)
    right = c.run()

    def evaluated(module):
        changed = distance(c.run(module=module), right)
        return wrench_error(c, module) + (changed if not changed < 1e-9 else np.inf)

    assert missed(c.module, "evaluate", evaluated, 1e-6) == []


@pytest.mark.parametrize("name", ["spring_damper", "tabulated_spring"])
def test_a_broken_tangent_is_found(name):
    """One constant of the tangent after the other is changed."""
    c = Case(name, 0)
    expected = c.slopes(slice(0, 12))
    for row in range(12):
        wrong = c.tangent()
        wrong[row] += 1e-6 * np.abs(expected).max()
        assert distance(wrong, expected) > 1e-7
    assert distance(c.tangent(), expected) < 1e-8
