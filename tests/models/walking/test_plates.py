"""Force plates: loaded intervals, filtered forces within them, several plates as one with the same wrench."""

from dataclasses import replace

import numpy as np
import pytest

from models.walking.capture import GroundForce
from models.walking.capture.plates import combined, filtered, loaded_intervals
from tests.support.refusals import assert_refused
from tests.support.walking_person import push, walker


def test_loaded_intervals_have_hysteresis_and_a_shortest_time():
    t = np.arange(1000) / 1000.0
    up = np.where((t > 0.2) & (t < 0.8), 500.0, 0.0)
    up[400:403] = 15.0  # below the threshold, above the release: the same interval
    up[100:110] = 300.0  # a knock of 10 ms
    grf = GroundForce("p", t, np.stack([0 * t, 0 * t, up], axis=1), np.zeros((1000, 3)), 0 * t)
    assert loaded_intervals(grf) == [(201, 800)]
    assert loaded_intervals(grf, threshold=40.0) == [(201, 400), (403, 800)]
    assert_refused("threshold = 0 N", loaded_intervals, grf, threshold=0)


@pytest.mark.parametrize("by", ["cop", "moments"])
def test_filtered_ground_force_is_zero_while_the_plate_is_unloaded(by):
    capture = walker()
    grf = capture.forces[0]
    start, stop = loaded_intervals(grf)[0]
    noise = np.random.default_rng(0).normal(scale=0.004, size=grf.cop.shape) * [1, 1, 0]
    noisy = replace(grf, cop=grf.cop + noise)
    smooth = filtered(noisy, by=by)
    inside = np.isfinite(smooth.cop[:, 0])
    assert inside[start + 20 : stop - 20].all() and not inside[:start].any() and not inside[stop:].any()
    assert (smooth.force[~inside] == 0.0).all() and (smooth.free_moment[~inside] == 0.0).all()
    middle = slice(start + 40, stop - 40)
    rough, left = (np.abs(g.cop[middle] - grf.cop[middle])[:, :2].mean() for g in (noisy, smooth))
    assert left < 0.5 * rough
    assert np.abs(smooth.force[middle] - grf.force[middle]).max() < 25.0
    # Near both ends of the interval the centre of pressure is still under the foot.
    assert np.abs(smooth.cop[inside] - grf.cop[inside])[:, 0].max() < (0.01 if by == "cop" else 0.05)
    assert np.array_equal(filtered(grf, force_cutoff=None, cop_cutoff=None).cop[start:stop], grf.cop[start:stop])


def test_combined_plates_keep_force_and_moment_about_any_point():
    t, force, cop, free = push("R", 0.25)
    share = np.clip((t - 0.4) / 0.3, 0.0, 1.0)[:, None]
    parts = []
    for k, (part, place) in enumerate(((1 - share, -0.05), (share, 0.07))):
        there = np.where((force * part)[:, 2:] > 5.0, cop + [place, 0.01 * k, 0.0], np.nan)
        parts.append(
            GroundForce(f"p{k}", t, force * part, there, np.where(np.isnan(there[:, 0]), 0.0, free * part[:, 0]))
        )
    whole = combined(parts, name="right foot")

    def about(g):
        return np.cross(np.nan_to_num(g.cop) - [0.3, -0.2, 0.5], g.force) + np.outer(g.free_moment, [0, 0, 1])

    # Below 5 N a plate has no centre of pressure, and its force is left out.
    clear = np.isfinite(whole.cop[:, 0])
    for part in parts:
        clear &= (part.force[:, 2] > 5.0) | (part.force[:, 2] == 0.0)
    assert clear.sum() > 250
    assert np.allclose(whole.force[clear], sum(p.force for p in parts)[clear])
    assert np.allclose(about(whole)[clear], sum(about(p) for p in parts)[clear], atol=1e-9)
    assert np.allclose(whole.cop[clear, 2], 0.0) and combined(parts[:1]).plate == "ground"
    assert_refused("differ in their times", combined, [parts[0], replace(parts[1], t=t + 0.001)])
