"""Coordinates of joints of all cases of an ensemble, and their names in messages."""

import numpy as np
import pytest

import models
import runtime
from runtime import ModelError, read_ensemble, simulate_many
from tests.support.refusals import assert_refused


def test_angles_of_all_cases_are_those_of_runs():
    system, t = models.foot.build(), np.linspace(0.0, 0.5, 51)
    many = simulate_many(system, {"rate.ankle.theta_i": [-5.0, 40.0, 0.5]}, 0.5, t_eval=t, max_steps=60)
    assert many.status.tolist()[1] != 0 and np.isnan(many.angles["ankle"].theta_i[1, -1])
    for case in (0, 2):
        for joint, angles in many[case].angles.items():
            for name, values in angles.values.items():
                assert many.angles[joint].values[name][case] == pytest.approx(values, abs=1e-12)
                assert many.angles[joint].rates[name][case] == pytest.approx(angles.rates[name], abs=1e-11)
    ball = models.pendulum.build("spherical", omega=(0.3, 1.0, 7.0))
    many = simulate_many(ball, {"mass.rod": [1.0, 2.0]}, 1.0, t_eval=t + 0.5)
    assert many.angles["pivot"].orientation_z[1] == pytest.approx(many[1].angles["pivot"].orientation_z, abs=1e-8)
    names = ["angle.ankle.theta_i", "max(energy)"]
    slow = {"rate.ankle.theta_i": [0.5]}
    whole, kept = (simulate_many(system, slow, 0.5, t_eval=t, outputs=of).angles["ankle"] for of in (None, names))
    assert kept.theta_i == pytest.approx(whole.theta_i, abs=1e-12)
    with pytest.raises(AttributeError, match="has no coordinate 'theta_j'; it has theta_i"):
        _ = kept.theta_j
    with pytest.raises(ModelError, match="the joints differ between cases of 'l.ankle'; give outputs=, such as"):
        _ = simulate_many(system, {"l.ankle": [0.0417]}, 0.1, assemble=True).angles


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ankle.theta_i", "has no parameter 'ankle.theta_i'; did you mean 'angle.ankle.theta_i'?"),
        ("angle.ankle", "did you mean 'angle.ankle.theta_"),
        ("l.ankel", "did you mean 'l.ankle'?"),
    ],
)
def test_names_of_coordinates_are_offered(name, message):
    with pytest.raises(ModelError) as error:
        simulate_many(models.foot.build(), {name: [0.1]}, 0.1)
    assert message in str(error.value) and "angle.ankle.theta_i, angle.ankle.theta_j and their rates" in str(
        error.value
    )
    assert_refused(
        "'angle.ankle.theta_i'; did you mean 'ankle.theta_i'?",
        runtime.system.displaced,
        models.foot.build(),
        {"angle.ankle.theta_i": 0.1},
    )


def test_angles_of_limited_joints_beyond_a_turn_are_asked_about():
    system = models.foot.build(limits="elastic")
    with pytest.warns(
        runtime.UnitWarning,
        match=r"10 rad, but with a joint limit .* at most 6.28319 rad; .* 10 degrees are 0.1745 rad",
    ) as given:
        simulate_many(system, {"angle.ankle.theta_i": [10.0]}, 0.1)
    assert len(given) == 1
    with pytest.warns(
        runtime.UnitWarning,
        match=r"30 rad, but an angle at the start is at most 13 rad; .*; the value is used .* check_units=False gives no",
    ):
        runtime.system.displaced(models.foot.build(), {"ankle.theta_i": 30.0})
    assert_refused(
        "it is a part of the initial state, as State.replace and runtime.system.displaced change it",
        runtime.with_parameters,
        system,
        {"angle.ankle.theta_i": 0.1},
    )


def test_an_ensemble_that_was_read_from_a_folder_has_none(tmp_path):
    simulate_many(models.foot.build(), {"rate.ankle.theta_i": [0.1, 0.2]}, 0.1, out=tmp_path / "cases")
    assert_refused("call simulate_many again", lambda: read_ensemble(tmp_path / "cases").angles)
