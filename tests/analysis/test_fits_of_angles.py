"""Fits to measured coordinates of joints: whole turns, gaps, units, tables, refusals."""

import numpy as np
import pandas
import pytest

import models
import runtime
from runtime import fit_parameters, simulate
from runtime.system import displaced
from tests.support.refusals import assert_refused
from tests.support.sensitivities import stopped

T = np.linspace(0.02, 1.0, 50)
LIMITED = dict(build=stopped, given={"damping": 0.03})


@pytest.fixture(scope="module")
def foot():
    return models.foot.build("modified")


@pytest.fixture(scope="module")
def run(foot):
    return simulate(runtime.with_parameters(foot, {"l.ankle": 0.045}), 1.0, t_eval=T)


@pytest.fixture(scope="module")
def start(foot):
    return simulate(foot, 1.0, t_eval=T)


def test_a_length_is_found_in_angles_and_rates_of_a_table(foot, run):
    ankle = run.angles["ankle"]
    table = pandas.DataFrame(
        {"angle.ankle.theta_i": ankle.theta_i, "rate.ankle.theta_j": ankle.rates["theta_j"]}, index=T
    )
    table.iloc[5:9, 0] = np.nan
    table["time"] = T
    sigma = {"angle.ankle.theta_i": 0.01, "rate.ankle.theta_j": 0.1}
    found = fit_parameters(foot, {"l.ankle": 0.0417}, table.index, table, sigma=sigma)
    assert found.values["l.ankle"] == pytest.approx(0.045, abs=1e-9)
    assert found.sensitivities.motion["ankle"].theta_i == pytest.approx(ankle.theta_i, abs=1e-7)


def test_components_of_vectors_are_data(foot, run):
    found = fit_parameters(foot, {"l.ankle": 0.0417}, T, {"r.main_foot.z": run.r["main_foot"][:, 2]})
    assert found.values["l.ankle"] == pytest.approx(0.045, abs=1e-8)


@pytest.mark.parametrize("change", ["as results", "within half a turn", "two turns ahead", "with a gap"])
def test_whole_turns_of_data_do_not_count(change):
    """A pendulum that turns over: its angle passes half a turn."""
    pendulum, t = models.pendulum.build(), np.linspace(0.0, 2.0, 41)
    angle = (
        simulate(pendulum, 2.0, t_eval=t, initial=displaced(pendulum, {}, {"pivot.angle": 9.0})).angles["pivot"].angle
    )
    assert angle.max() > np.pi
    if change == "within half a turn":
        angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    elif change == "two turns ahead":
        angle = angle + 4.0 * np.pi
    elif change == "with a gap":
        angle = np.where((t > 0.3) & (t < 1.7), np.nan, angle)
    found = fit_parameters(pendulum, {"rate.pivot.angle": 8.8}, t, {"angle.pivot.angle": angle})
    assert found.values["rate.pivot.angle"] == pytest.approx(9.0, abs=1e-8) and found.residual < 1e-8


def test_angles_of_joints_with_limits_stay_within_a_turn():
    with pytest.raises(  # the warning as an error, as such a fit takes minutes
        runtime.UnitWarning,
        match=r"'angle.hinge.angle' = 30 rad, but with a joint limit .* at most 6.28.* 30 degrees are 0.52.* is used as it is",
    ):
        fit_parameters(**LIMITED, t=[0.1, 0.2], data={"angle.hinge.angle": [30.0, -25.0]})


REFUSED = {
    "misspelt": (
        {"angle.ankel.theta_i": T},
        "no part of the state; did you mean 'angle.ankle.theta_i'? use r, p, v, omega of",
    ),
    "no coordinates": (
        {"angle.metatarsophalangeal_lock.x": T},
        "(constant_angle) has no coordinates; give data of its bodies",
    ),
    "no component": ({"r.toes.e1": T}, "'r.toes.e1' is no part of the state"),
    "shape": (
        {"angle.ankle.theta_i": np.zeros((50, 2))},
        "has the shape (50, 2); give (50,) [rad], a row for each time",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_data(foot, name):
    data, message = REFUSED[name]
    assert_refused(message, fit_parameters, foot, {"l.ankle": 0.0417}, T, data)


def test_a_column_of_other_times_is_refused(foot):
    assert_refused(
        "data: the column 'time' differs from t; give the times of the table as t, in s",
        fit_parameters,
        foot,
        {"l.ankle": 0.0417},
        T,
        {"time": 1000.0 * T, "angle.ankle.theta_i": T},
    )


@pytest.mark.parametrize(
    ("t", "message"), [([0.0], "t ends at 0 s, and the runs start at 0 s"), ([-1.0, 1.0], "t begins at -1 s")]
)
def test_times_of_data_are_behind_the_start(foot, t, message):
    assert_refused(message, fit_parameters, foot, {"l.ankle": 0.0417}, t, {"angle.ankle.theta_i": np.zeros(len(t))})
