"""Closed loops with redundant rows: no option, no choice at the start, reactions of least norm."""

import numpy as np
import pytest

import models
import runtime
from runtime import Builder
from runtime.results.reactions import null_vectors
from tests.support import loops
from tests.support.loops import rounded


def bricard(order=None):
    """Six rods of 1 m in a Bricard linkage: each hinge is perpendicular to its neighbours; one row is redundant."""
    return rounded(loops.bricard, 15, order=order).build()


def test_a_spatial_loop_moves_without_an_option_and_in_any_order():
    t = np.linspace(0.0, 3.0, 13)
    one, other = bricard(), bricard([3, 0, 5, 2, 4, 1])
    assert len(one.redundant) == len(other.redundant) == 1 and one.degrees_of_freedom == 1
    runs = [runtime.simulate(system, 3.0, t_eval=t) for system in (one, other)]
    for run in runs:
        assert run.success and run.message == "reached t = 3 s"
        assert run.violation.max() < 1e-12 and run.velocity_violation.max() < 1e-11
        assert np.ptp(run.energy) < 1e-8
    for body in one.body_names:
        assert np.abs(runs[0].r[body] - runs[1].r[body]).max() < 1e-8
    assert np.abs(runs[0].r["link_2"] - runs[0].r["link_2"][0]).max() > 0.5  # it did move


def test_reactions_are_of_least_norm_and_do_not_depend_on_the_order():
    t = [0.0, 0.7, 1.3]
    runs = [runtime.simulate(system, 1.3, t_eval=t) for system in (bricard(), bricard([3, 0, 5, 2, 4, 1]))]
    names = [f"hinge_{k}" for k in range(6)]
    assert sorted(runs[0].undetermined_reactions) == sorted(runs[1].undetermined_reactions) == names
    size = max(np.abs(runs[0].reaction(name, on=runs[0].system.joint(name).body_i).force).max() for name in names)
    for name in names:
        first, second = (run.reaction(name, on=run.system.joint(name).body_i) for run in runs)
        assert not first.determined
        assert np.abs(first.force - second.force).max() < 1e-6 * size
        assert np.abs(first.moment - second.moment).max() < 1e-6 * size
    # They cause the motion: force and moment on each rod are those of its accelerations.
    run = runs[0]
    for body in run.system.body_names:
        of = [j.name for j in run.system.joints if body in (j.body_i, j.body_j)]
        total = sum(run.reaction(name, on=body, at="centre").force for name in of) / run.system.body(body).mass
        assert np.abs(total + run.system.gravity - run.v_dot[body]).max() < 1e-9 * size
    # No other reactions that cause the motion have a smaller norm.
    weights = null_vectors(run.system, 0.0, run.states[1])
    assert weights.shape[1] == 1 and np.abs(weights).max() > 0.1


def test_reactions_in_the_plane_of_a_four_bar_are_those_of_independent_joints():
    t = np.linspace(0.0, 1.0, 5)
    hinges, independent = (
        runtime.simulate(models.four_bar.build(joints), 1.0, t_eval=t) for joints in ("revolute", "independent")
    )
    assert hinges.undetermined_reactions == ("A", "B", "C", "D") and independent.undetermined_reactions == ()
    for name in "ABCD":
        body = next(b for b in (hinges.system.joint(name).body_i, hinges.system.joint(name).body_j) if b != "ground")
        a, b = hinges.reaction(name, on=body), independent.reaction(name, on=body)
        assert not a.determined and b.determined
        # Forces in the plane (x, z) and the moment about its normal y are unique.
        assert a.force_determined.tolist() == [True, False, True] and a.moment_determined.tolist() == [
            False,
            True,
            False,
        ]
        assert np.abs(a.force - b.force).max() < 1e-7
        assert np.abs(a.moment).max() < 1e-7  # those out of the plane, which load nothing, vanish


def test_joints_outside_of_the_loop_are_determined():
    b = Builder("door with a handle", gravity=(0, 0, -9.81))
    b.body("door", mass=10.0, inertia=(1, 1, 1), r=(0.5, 0, 0))
    b.body("handle", mass=0.2, inertia=(0.01, 0.01, 0.01), r=(0.9, 0, 0))
    for name, height in (("upper", 0.8), ("lower", -0.8)):
        b.joint(
            name, "revolute", "ground", "door", s_i=(0, 0, height), s_j=(-0.5, 0, height), a_i=(0, 0, 1), a_j=(0, 0, 1)
        )
    b.joint("lever", "revolute", "door", "handle", s_i=(0.4, 0, 0), s_j=(0, 0, 0), a_i=(0, 1, 0), a_j=(0, 1, 0))
    run = runtime.simulate(b.build(), 0.2, t_eval=[0.1])
    assert run.undetermined_reactions == ("upper", "lower")
    assert run.reaction("lever", on="handle").determined
    upper, lower = (run.reaction(name, on="door").force[0] for name in ("upper", "lower"))
    assert upper[2] == pytest.approx(lower[2]) == pytest.approx(10.2 * 9.81 / 2)  # the weight is shared
    assert upper[0] == pytest.approx(-lower[0]) and abs(upper[0]) > 10.0
