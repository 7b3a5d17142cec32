"""Soles fitted to recorded trials: errors on their own and on other trials."""

import numpy as np
import pytest

from models.walking import fit_sole, floor_of, predict_from_markers, predict_ground_force
from models.walking.capture import read_capture
from models.walking.contact import compared
from models.walking.plantar_load import mean_curves
from tests.support.recorded_gait import OPENSIM, TRIALS, recorded

pytestmark = [recorded, pytest.mark.slow]


@pytest.mark.parametrize(("name", "side"), [*((name, "right") for name in TRIALS), ("C4_05", "left")])
def test_the_fitted_contact_reproduces_the_vertical_force(adult, fitted, name, side):
    one, found = adult(name, side), fitted(name, side)
    assert found.converged and not found.at_bounds
    errors = predict_ground_force(one, found.sole).errors()
    assert errors.vertical < 0.15  # [body weights]
    assert errors.cop_anterior < 0.035 and errors.cop_medial < 0.02
    # One stiffness, loss and height for all: three parameters.
    alike = predict_ground_force(one, fitted(name, side, alike=True).sole).errors()
    assert errors.vertical < alike.vertical < 0.2


def test_a_fitted_sole_predicts_other_trials_better_than_three_parameters(adult, fitted):
    """The figures of the README: each trial's sole on the four other trials; without the prior they are 0.26 and 0.29."""

    def elsewhere(alike):
        pairs = [(name, other) for name in TRIALS for other in TRIALS if other != name]
        return [
            predict_ground_force(adult(other), fitted(name, "right", alike).sole).errors().vertical
            for name, other in pairs
        ]

    own, three = elsewhere(False), elsewhere(True)
    assert np.mean(own) < 0.18 < 0.19 < np.mean(three) < 0.2
    assert max(own) < 0.26


def test_a_sole_serves_other_trials(adult):
    """Fitted to four trials, it meets the fifth; a millimetre that a marker is off changes the force by 0.1 body weights."""
    trials = [adult(name, "right") for name in TRIALS]
    found = fit_sole(trials[:4])
    assert predict_ground_force(trials[4], found.sole).errors().vertical < 0.17
    assert 0.1 < found.per_mm < 0.2


def test_a_treadmill_is_recognised_by_the_flat_foot(adult, shod):
    one = shod("right")
    floor, note = floor_of(one)
    assert -1.3 < floor.belt < -1.0 and "belt" in note
    assert predict_ground_force(one, fit_sole(one).sole).errors().vertical < 0.1
    still = floor_of(adult("C4_05", "right"))
    assert still[0].belt == 0.0 and still[0].height == pytest.approx(-0.002, abs=1e-4) and "does not move" in still[1]


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_force_from_markers_of_an_adult_of_another_laboratory(shod, side):
    """Shod, on a treadmill, with markers of the pelvis only; nothing was fitted to this adult."""
    one = shod(side)
    load = predict_from_markers(one, read_capture(OPENSIM / "subject01_walk1.trc"))
    errors, mean = load.errors(), compared(one, *mean_curves(one))
    assert errors.vertical < 0.13 and errors.cop < 0.026
    assert errors.cop < mean.cop < 0.035  # with the foot on the belt
