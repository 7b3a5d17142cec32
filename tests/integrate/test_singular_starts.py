"""Starts in singular poses of closed loops, where several motions may go on: refused by build, or ended by a run."""

import pytest

import models
import runtime
from runtime import Status
from tests.support.refusals import assert_refused

FLAT = dict(crank=0.3, coupler=0.5, rocker=0.3, base=0.5, crank_angle=0.0)


def test_a_system_in_a_singular_pose_is_refused_with_rows_joint_and_remedy():
    said = "initial configuration is singular, D.point_x of joint 'D' depend on other rows here but not nearby"
    assert assert_refused(said, models.four_bar.build, "revolute", **FLAT).endswith("start a little beside this pose")


@pytest.mark.parametrize("speed", [0.0, 2.0])
@pytest.mark.parametrize("method", ["dop853", "radau", "RK45", "BDF"])
def test_a_run_from_a_state_in_the_pose_ends_with_the_row(method, speed):
    system = models.four_bar.build(**FLAT | {"crank_angle": 0.5})
    y = models.four_bar.build(**FLAT | {"crank_angle": 1e-3}).state.y.copy().reshape(-1, 13)
    y[:, :3] = [(0.15, 0.0, 0.0), (0.55, 0.0, 0.0), (0.65, 0.0, 0.0)]
    y[:, 3:7] = (1.0, 0.0, 0.0, 0.0)
    y[[0, 2], 9], y[1, 9] = 0.15 * speed, 0.3 * speed
    y[[0, 2], 11] = -speed
    run = runtime.simulate(system, 1.0, initial=runtime.State(system.body_names, y.ravel()), method=method)
    assert run.status == Status.SINGULAR_CONFIGURATION and "D.point_x" in run.message and run.t.tolist() == [0.0]
    assert (run.final.y == y.ravel()).all()


def test_a_crank_has_no_speed_where_coupler_and_rocker_lie_on_one_line():
    assert_refused(
        "two motions of the linkage may cross; give another crank_angle", models.four_bar.build, **FLAT, crank_speed=1.0
    )
