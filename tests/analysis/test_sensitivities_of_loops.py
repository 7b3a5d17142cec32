"""Derivatives of runs of closed loops, projected onto the rows, against differences of runs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import models
from runtime import GROUND, Builder, ModelError, sensitivities, simulate
from tests.support.loops import bricard
from tests.support.sensitivities import difference

TIGHT = dict(rtol=1e-13, atol=1e-13)


def four_bar(crank=0.2, coupler=0.5, gravity=-9.81, speed=2.0, joints="revolute"):
    return models.four_bar.build(joints, crank=crank, coupler=coupler, gravity=(0, 0, gravity), crank_speed=speed)


def independent(crank=0.2, coupler=0.5, gravity=-9.81, speed=2.0):
    return four_bar(crank, coupler, gravity, speed, "independent")


def slider_crank(crank=0.3, rod=0.8, mass=1.0, rate=3.0):
    """A crank, a rod and a slider with redundant rows; the crank stands upright."""
    b, y = Builder("slider-crank"), (0, 1, 0)
    far = np.sqrt(rod**2 - crank**2)
    p = (np.cos(t := np.arctan2(crank, far) / 2), 0, np.sin(t), 0)
    b.body(
        "crank",
        mass=0.5,
        inertia=(1e-3, 0.01, 0.01),
        r=(0, 0, crank / 2),
        v=(rate * crank / 2, 0, 0),
        omega=(0, rate, 0),
    )
    b.body("rod", mass=0.7, inertia=(1e-3, 0.03, 0.03), r=(far / 2, 0, crank / 2), p=p, v=(rate * crank, 0, 0))
    b.body("slider", mass=mass, inertia=(0.01, 0.01, 0.01), r=(far, 0, 0), v=(rate * crank, 0, 0))
    b.joint("A", "revolute", GROUND, "crank", s_i=(0, 0, 0), a_i=y, s_j=(0, 0, -crank / 2), a_j=y)
    b.joint("B", "revolute", "crank", "rod", s_i=(0, 0, crank / 2), a_i=y, s_j=(-rod / 2, 0, 0), a_j=y)
    b.joint("C", "revolute", "rod", "slider", s_i=(rod / 2, 0, 0), a_i=y, s_j=(0, 0, 0), a_j=y)
    b.joint("way", "translational", GROUND, "slider", point=(far, 0, 0), axis=(1, 0, 0), axes="global")
    return b.build()


def bricard_loop(mass=1.0, gravity=-9.81):
    """Six hinges along the edges of a cube; the masses and the start vary, the loop does not."""
    points, axes = bricard()
    b = Builder("bricard", gravity=(0.3, -0.2, gravity))
    names = [*(f"link_{k}" for k in range(5)), GROUND]
    for k in range(5):
        b.body(names[k], mass=mass + 0.3 * k, inertia=(0.1, 0.12, 0.15), r=(points[k] + points[k + 1]) / 2, guess=True)
    for k in range(6):
        b.joint(f"hinge_{k}", "revolute", names[k - 1], names[k], point=points[k], axis=axes[k], axes="global")
    return b.build()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "given", "t_end", "steps"),
    [
        (independent, {"crank": 0.2, "coupler": 0.5, "gravity": -9.81, "speed": 2.0}, 1.0, [1e-3, 1e-3, 2e-2, 1e-2]),
        (four_bar, {"crank": 0.2, "coupler": 0.5, "gravity": -9.81, "speed": 2.0}, 1.0, [1e-3, 1e-3, 2e-2, 1e-2]),
        (slider_crank, {"crank": 0.3, "rod": 0.8, "mass": 1.0, "rate": 3.0}, 1.0, [1e-3, 1e-3, 1e-2, 1e-2]),
        (bricard_loop, {"mass": 1.0, "gravity": -9.81}, 1.0, [1e-2, 2e-2]),
    ],
)  # fmt: skip
def test_derivatives_are_differences_of_projected_runs_to_eight_digits(build, given, t_end, steps):
    t = np.linspace(0.0, t_end, 5)
    found = sensitivities(build, given, t_end, t_eval=t)
    assert_allclose(found.states, simulate(build(**given), t_end, t_eval=t, **TIGHT).states, atol=1e-9)
    for k, (name, step) in enumerate(zip(given, steps, strict=True)):

        def states(h, name=name):
            return simulate(build(**(given | {name: given[name] + h})), t_end, t_eval=t, **TIGHT).states

        expected = difference(states, step)
        assert np.abs(expected).max() > 1e-2
        assert_allclose(found.slopes[:, :, k], expected, atol=1e-8 * np.abs(expected).max())


def test_derivatives_satisfy_those_of_the_rows():
    """Along the derivatives all rows change by as much as the parameter changes them: of second order in a small step."""
    h, t = 1e-5, np.linspace(0.0, 2.0, 5)
    found = sensitivities(four_bar, {"crank": 0.2}, 2.0, t_eval=t)
    other = simulate(four_bar(crank=0.2 + h), 2.0, t_eval=t)
    moved = found.states + h * found.slopes[:, :, 0]
    object.__setattr__(other, "states", np.ascontiguousarray(moved))
    largest = np.abs(found.slopes).max()
    assert other.violation.max() < (h * largest) ** 2
    assert other.velocity_violation.max() < 10 * (h * largest) ** 2
    assert found.steps > 0


def test_a_singular_pose_ends_the_derivatives_with_a_sentence():
    def parallelogram(crank):
        return models.four_bar.build("revolute", crank=crank, coupler=0.5, rocker=crank, base=0.5, crank_speed=3.0)

    before = sensitivities(parallelogram, {"crank": 0.3}, 0.1)
    assert np.isfinite(before.slopes).all()
    with pytest.raises(ModelError, match="comes close to a singular pose|singular configuration"):
        sensitivities(parallelogram, {"crank": 0.3}, 3.0)


@pytest.mark.slow
def test_systems_nearby_without_the_kernel_of_the_system():
    """Components of gravity that are 0 are constants of the kernel, and rows across the plane are left out of it."""
    system, times = four_bar(), np.linspace(0.0, 0.3, 4)
    given = {"gravity": [0.0, 0.0, -9.81]}
    slopes = [
        sensitivities(system, given, 0.3, t_eval=times, coordinates=coordinates, **TIGHT).r["coupler"]
        for coordinates in ("joint", "absolute")
    ]
    assert_allclose(*slopes, atol=1e-9)
