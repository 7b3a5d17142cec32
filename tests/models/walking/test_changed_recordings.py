"""Recorded trials that were turned, moved, cropped, disturbed or spoilt: the same answer, or one sentence."""

from dataclasses import replace

import numpy as np
import pytest

from models.walking import Filters, analyse
from models.walking.capture import read_capture
from models.walking.capture.plates import combined
from runtime import ModelError
from tests.support.recorded_gait import ANKLE, MASS, OPENSIM, recorded, rms, trial
from tests.support.refusals import assert_refused
from tests.support.spoilt_captures import without

OFF = Filters.off()
pytestmark = recorded


@pytest.mark.slow
@pytest.mark.parametrize(("side", "angle"), [("right", 135.0), ("left", -160.0)])
def test_the_driven_motion_is_the_fitted_one(adult, side, angle):
    """The angles leave two ways to assemble the ankle; in the other one they are the same, and moments are fourfold."""
    base = adult("C4_05", side)
    one = analyse(trial("ST").turned(np.deg2rad(angle)), trial("C4_05"), side=side, filters=OFF)
    for joint in ANKLE:
        assert np.abs(one.moments[joint] - base.moments[joint]).max() < 1e-6


@pytest.mark.slow
def test_a_trial_cut_at_its_events_is_nearly_as_good(adult):
    base, static, walk = adult("C4_05"), trial("ST"), trial("C4_05")
    for margin, limit in ((0.05, 1e-6), (0.02, 1e-5), (0.0, 1e-3)):
        one = analyse(static, walk.crop(0.05 - margin, 1.01 + margin), side="right", filters=OFF)
        for joint in ANKLE:
            off = one.over_cycle(one.moments[joint]) - base.over_cycle(base.moments[joint])
            assert np.abs(off).max() < limit * MASS
    assert_refused("no gait cycle of the right foot", analyse, static, walk.crop(0.06, 1.01), side="right", filters=OFF)


@pytest.mark.slow
def test_noise_of_a_millimetre(adult):
    walk, rng = trial("C4_05"), np.random.default_rng(4)
    noisy = replace(walk, markers={label: p + rng.normal(0.0, 1e-3, p.shape) for label, p in walk.markers.items()})
    one, base = analyse(trial("ST"), noisy, side="right"), adult("C4_05", "right", Filters())
    for joint, degrees in zip(ANKLE, (0.4, 0.8), strict=True):
        assert np.degrees(rms(one.angles[joint] - base.angles[joint])) < degrees
        assert rms(one.moments[joint] - base.moments[joint]) < 0.005 * MASS


def test_spoilt_recorded_trials_get_one_sentence():
    static, walk = trial("ST"), trial("C4_05")
    other = read_capture(OPENSIM / "subject01_static.trc")

    def exchanged(capture):
        other_side = {"L_": "R_", "R_": "L_"}
        return replace(capture, markers={other_side.get(k[:2], k[:2]) + k[2:]: p for k, p in capture.markers.items()})

    both = replace(walk, forces=(combined(walk.forces, name="plate"),))
    nobody = replace(walk, forces=tuple(replace(g, cop=g.cop + (0.0, 0.9, 0.0)) for g in walk.forces))
    for one, two, words in (
        (other, walk, "none of the markers of the static trial subject01_static.trc"),
        (static, both, "touched by both feet"),
        (static, nobody, "under none of the feet"),
        (exchanged(static), walk, "labels exchanged"),
        (static, walk.crop(0.2, 1.4), "no gait cycle of the right foot"),
        (static, replace(walk, markers=without("R_FCC")(walk.markers)), "R_FCC|heel"),
    ):
        with pytest.raises(ModelError, match=words) as caught:
            analyse(one, two, side="right", mass=MASS)
        assert "\n" not in str(caught.value)
    for side in ("right", "left"):  # one person, labelled the wrong way round in both files
        with pytest.raises(ModelError):
            analyse(exchanged(static), exchanged(walk), side=side)


@pytest.mark.slow
def test_markers_on_one_leg_are_enough(adult):
    static, walk = trial("ST"), trial("C4_05")
    walk = replace(walk, markers={k: p for k, p in walk.markers.items() if not k.startswith("L_F")})
    one = analyse(static, walk, side="right", filters=OFF)
    assert np.abs(one.moments["talocrural"] - adult("C4_05").moments["talocrural"]).max() < 1e-6
