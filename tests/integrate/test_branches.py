"""Four-bar linkages beside their change point: no run ends on the other assembly mode with success and without a word."""

import numpy as np
import pytest

import models
import runtime
from runtime.dynamics.status import Status
from runtime.ensemble import chunk
from runtime.integrate.branches import OTHER, UNKNOWN, Found

LENGTHS = {"crank": 0.3, "coupler": 0.5, "rocker": 0.3, "base": 0.5}
COORDINATES = pytest.mark.parametrize("coordinates", ["joint", "absolute"])


def linkage(longer=0.0, joints="independent", **lengths):
    lengths = {**LENGTHS, **lengths}
    lengths["coupler"] += longer
    return models.four_bar.build(
        joints, **lengths, crank_angle=1.0, crank_speed=4.0, gravity=(0, 0, 0), check_units=False
    )


def on_one_branch(run):
    """Whether the sense of rotation of D, C, B times the rates keeps its sign; see ``orientation``."""
    found = orientation(run)
    return bool((found > 0.0).all() or (found < 0.0).all())


def orientation(run):
    """The factor between the rates of all bars and the null vector of the rows of the closed loop, (n,)."""
    bars = ("crank", "coupler", "rocker")
    a, b, c = (-2.0 * np.arctan2(run.p[bar][:, 2], run.p[bar][:, 0]) for bar in bars)
    null = np.array([np.sin(b - c), -np.sin(a - c), -np.sin(a - b)])
    null /= np.array([LENGTHS[bar] for bar in bars])[:, None]
    rates = np.array([-run.omega[bar][:, 1] for bar in bars])
    return (null * rates).sum(axis=0)


def said(run):
    return run.status == Status.BRANCH_LEFT or "may have led to another assembly mode" in run.message


@COORDINATES
@pytest.mark.parametrize("joints", ["independent", "revolute"])
@pytest.mark.parametrize("longer", [-1e-7, 1e-7])
def test_a_linkage_that_leaves_its_branch_is_no_success(longer, joints, coordinates):
    system = linkage(longer, joints)
    run = runtime.simulate(system, 1.5, rtol=1e-3, atol=1e-3, coordinates=coordinates)
    assert not on_one_branch(run) and said(run)
    assert "'A', 'B', 'C', 'D'" in run.message and "max_step" in run.message and "below 1e-06" in run.message
    run = runtime.simulate(system, 1.5, rtol=1e-6, atol=1e-6, coordinates=coordinates)
    assert on_one_branch(run) and run.success and not said(run)


@COORDINATES
@pytest.mark.parametrize("lengths", [{}, {"coupler": 0.3, "rocker": 0.5}, dict.fromkeys(LENGTHS, 0.4)])
def test_branches_that_meet_are_crossed(lengths, coordinates):
    """Some steps at 1e-3 turn the crank by 160 degrees, and the directions of the rows too, along one branch."""
    for tolerance in (1e-3, 1e-4, 1e-5, 1e-8):
        run = runtime.simulate(linkage(**lengths), 3.0, rtol=tolerance, atol=tolerance, coordinates=coordinates)
        assert run.success and not said(run), run.message


def test_a_kite_folds_between_two_stages_of_radau():
    """The root of the pivot ratio changes 3.2 times as fast as the directions there; a step of 0.08 s led to the other mode."""
    system = linkage(crank=0.3 + 1e-9, coupler=0.3, rocker=0.5)
    run = runtime.simulate(system, 1.0, rtol=1e-5, atol=1e-5, method="radau", coordinates="absolute")
    assert not on_one_branch(run) and said(run)


@pytest.mark.slow
def test_cases_that_leave_their_branch_are_no_success():
    times, masses = np.linspace(0.0, 1.5, 31), {"mass.coupler": np.linspace(0.5, 2.0, 32)}
    many = runtime.simulate_many(linkage(crank=0.3 - 1e-7), masses, 1.5, t_eval=times, rtol=1e-4, atol=1e-4)
    for k, status in enumerate(many.status):
        assert (
            status == Status.BRANCH_LEFT
            or "another assembly mode" in many.messages.get(k, "")
            or on_one_branch(many[k])
        )
    assert (many.status == Status.BRANCH_LEFT).any()


def test_cases_with_wide_steps_on_one_branch_are_not_repeated(monkeypatch):
    """A case that leaves its lane is run in compiled code, not by ``simulate``."""
    monkeypatch.setattr(chunk, "simulate", None)
    masses = {"mass.coupler": np.linspace(0.9, 1.1, 16)}
    many = runtime.simulate_many(models.four_bar.build(crank_speed=4.0), masses, 1.0, rtol=1e-4, atol=1e-4)
    assert many.success and not many.messages


def test_an_end_before_the_change_is_a_success():
    run = runtime.simulate(linkage(1e-7), 0.4, rtol=1e-3, atol=1e-3)
    assert run.success and not said(run)


def test_the_remark_names_joints_time_value_and_remedy():
    text = Found(UNKNOWN, 0.25, 2e-4, tuple("ABCDEFGH")).remark
    assert "t = 0.25 s" in text and "'F', 2 more" in text and "2.0e-04" in text and "lower rtol and atol" in text
    assert Found(OTHER, 0.25, 2e-4, ("A",)).detail.startswith("the rows of joints 'A' are")
