"""Normative curves and the motion of one walker: exact derivatives, and the data that they were fitted to."""

import numpy as np
import pytest

from models.walking import norms
from models.walking.norms import CENTRE_OF_PRESSURE, MOTION, NORMS, STANCE, STRIDE, Series, band
from tests.support.refusals import assert_refused
from tests.support.tables import columns

REFERENCE = "reference/leg3_2014001_C4_05.csv"


def test_series_and_their_derivatives():
    s = Series(offset=2.0, slope=-1.5, cosine=(0.3, -0.2), sine=(0.1, 0.4, 0.05), period=0.8)
    x, w = np.linspace(-1.0, 1.0, 11), 2 * np.pi / 0.8
    value = 2 - 1.5 * x + 0.3 * np.cos(w * x) - 0.2 * np.cos(2 * w * x)
    value += 0.1 * np.sin(w * x) + 0.4 * np.sin(2 * w * x) + 0.05 * np.sin(3 * w * x)
    np.testing.assert_allclose(s(x), value, rtol=1e-14)
    h = 1e-5
    for order in range(4):
        slope = (s(x + h, order) - s(x - h, order)) / (2 * h)
        np.testing.assert_allclose(s(x, order + 1), slope, atol=1e-7 * w ** (order + 1) * 30)
    assert s(0.3).shape == () and s(np.zeros((2, 3))).shape == (2, 3)
    assert Series(offset=1.0, slope=2.0)([1.0, 2.0], 1).tolist() == [2.0, 2.0]
    assert_refused("derivative = -1", s, 0.0, -1)


def test_a_support_is_exact():
    s = Series(sine=(1.0, 0.5), period=2.0, support=(0.0, 1.0))
    for order in range(3):
        assert not s([-0.5, 0.0, 1.0, 1.3], order).any() and s(0.4, order) != 0.0


@pytest.mark.parametrize("name", NORMS)
def test_bands(name):
    percent, mean, sd = band(name)
    assert percent.tolist() == list(range(101)) and mean.shape == sd.shape == (101,)
    assert sd.min() >= 0.0 and sd.max() > 0.0 and NORMS[name].source
    if NORMS[name].over == "cycle":
        assert mean[0] == pytest.approx(mean[-1], abs=1e-12)
    else:
        swing = percent >= 100 * STANCE
        assert not mean[swing].any() and not sd[swing].any() and mean[0] == 0.0 and mean[~swing].any()


def test_no_other_band():
    assert_refused("no normative curve 'knee'; there are dorsiflexion", band, "knee")


SOURCES = {
    "dorsiflexion": ("ankle_DF_deg", np.pi / 180),
    "inversion": ("foot_inversion_deg", np.pi / 180),
    "plantarflexor_moment": ("ankle_PF_moment_Nm_kg", 1.0),
    "inversion_moment": ("subtalar_inv_moment_Nm_kg", 1.0),
    "ankle_power": ("ankle_power_W_kg", 1.0),
    "vertical_force": ("Fy_BW", 1.0),
    "anterior_force": ("Fx_BW", 1.0),
    "medial_force": ("Fz_right_BW", -1.0),
    "free_moment": ("free_moment_Nm_kg", 1.0),
}


@pytest.mark.parametrize("name", SOURCES)
def test_bands_are_those_of_the_data(name):
    column, factor = SOURCES[name]
    file = "reference/normative_schreiber_moissenet_C4.csv"
    mean, sd = columns(file, f"{column}_mean", f"{column}_sd")
    _, m, s = band(name)
    np.testing.assert_allclose(m, factor * mean, atol=0.25 * abs(factor) * sd.max())
    np.testing.assert_allclose(m, factor * mean, atol=0.05 * abs(factor) * np.ptp(mean))
    np.testing.assert_allclose(s, abs(factor) * sd, atol=0.31 * abs(factor) * sd.max())


@pytest.mark.parametrize(
    ("name", "column"), [("toe_extension", "hallux_DF"), ("hindfoot_inversion", "hindfoot_tibia_inversion")]
)
def test_bands_of_the_oxford_foot_model(name, column):
    file = "reference/normative_oxford_foot_model.csv"
    low, mean, high = columns(file, *(f"{column}_{part}" for part in ("lo", "mean", "hi")))
    _, m, s = band(name)
    np.testing.assert_allclose(np.degrees(m[::2]), mean, atol=0.05 * np.ptp(mean))
    np.testing.assert_allclose(np.degrees(s[::2]), (high - low) / 2, atol=0.15 * (high - low).max() / 2)


@pytest.mark.parametrize(("pace", "speed"), [(0.05, 0), (0.28, 1), (0.44, 2), (0.58, 3), (1.0, 4)])
@pytest.mark.parametrize(
    ("name", "column", "factor"),
    [("dorsiflexion", "angle", np.pi / 180), ("plantarflexor_moment", "moment", 1.0), ("ankle_power", "power", 1.0)],
)
def test_bands_at_five_speeds(name, column, factor, pace, speed):
    file, words = "reference/normative_schwartz2008_ankle.csv", ("very_slow", "slow", "free", "fast", "very_fast")
    low, mean, high = columns(file, *(f"{column}_{words[speed]}_{part}" for part in ("lo", "mean", "hi")))
    _, m, s = band(name, pace)
    assert norms.norm(name, pace) is norms.BY_SPEED[name][speed]
    np.testing.assert_allclose(m[::2], factor * mean, atol=0.03 * factor * np.ptp(mean))
    np.testing.assert_allclose(s[::2], factor * (high - low) / 2, atol=0.12 * factor * (high - low).max() / 2)


# At 0, 10, ..., 90 % of the cycle at the free speed; standard deviation there at 0 and 50 %; at the highest speed at 2 and 50 %.
CHILDREN = {
    "knee_flexion": ([5.6, 18.6, 16.5, 10.1, 6.2, 11.6, 33.9, 58.2, 49.8, 18.7], [5.65, 5.65], [10.4, 8.4]),
    "hip_flexion": ([35.8, 32.8, 22.5, 11.4, 1.6, -5.3, -0.9, 17.9, 32.0, 36.7], [5.45, 6.8], [43.0, -7.3]),
    "hip_adduction": ([-1.6, 3.7, 5.0, 3.2, 2.4, 0.8, -5.2, -6.3, -3.1, -2.2], [3.55, 3.05], [-3.0, -0.8]),
    "knee_extensor_moment": (
        [-0.13, 0.33, 0.17, -0.1, -0.24, -0.02, 0.1, 0.07, 0.0, -0.15],
        [0.08, 0.145],
        [-0.42, 0.01],
    ),
    "knee_abductor_moment": (
        [0.0, 0.23, 0.25, 0.14, 0.16, 0.21, -0.03, 0.0, 0.01, -0.01],
        [0.025, 0.11],
        [-0.01, 0.13],
    ),
    "hip_extensor_moment": (
        [0.12, 0.48, 0.17, 0.0, -0.25, -0.62, -0.32, -0.1, -0.02, 0.2],
        [0.135, 0.225],
        [1.13, -0.97],
    ),
    "hip_abductor_moment": (
        [0.0, 0.36, 0.48, 0.36, 0.42, 0.38, -0.09, -0.01, 0.02, -0.01],
        [0.06, 0.185],
        [-0.06, 0.09],
    ),
    "knee_power": ([0.16, -0.42, 0.23, -0.09, -0.07, -0.01, -0.56, -0.11, -0.03, -0.84], [0.185, 0.315], [0.98, -0.11]),
    "hip_power": ([0.04, 0.35, 0.41, 0.12, -0.33, -0.09, 0.77, 0.34, 0.03, 0.01], [0.11, 0.27], [1.23, -0.07]),
}


@pytest.mark.parametrize("name", CHILDREN)
def test_bands_of_knee_and_hip_are_those_of_the_table(name):
    free, sd, fast = CHILDREN[name]
    unit = NORMS[name].unit
    scale = 180.0 / np.pi if unit == "rad" else 1.0
    _, mean, spread = band(name)
    np.testing.assert_allclose(scale * mean[:100:10], free, atol=1e-12)
    np.testing.assert_allclose(scale * spread[[0, 50]], sd, atol=1e-12)
    _, mean, _ = band(name, 0.9)
    np.testing.assert_allclose(scale * mean[[2, 50]], fast, atol=1e-12)
    assert mean[1] == pytest.approx((mean[0] + mean[2]) / 2)  # the table has every second per cent
    assert [norms.norm(name, pace).speed for pace in (0.1, 0.3, 0.43, 0.6, 0.8)] == [
        one.speed for one in norms.BY_SPEED[name]
    ]


@pytest.mark.parametrize("pace", [float("nan"), 0.36, 0.39])
def test_the_nearest_norm_is_that_of_adults_at_their_speed(pace):
    for name in NORMS:
        assert NORMS[name].speed
        if "children" not in NORMS[name].source or np.isnan(pace):
            assert norms.norm(name, pace) is NORMS[name]
    assert norms.norm("vertical_force", 0.7) is NORMS["vertical_force"]  # which has one speed


def test_the_walker_takes_a_stride_and_comes_back():
    for name, series in MOTION.items():
        step = series(1.0) - series(0.0)
        assert step == pytest.approx(STRIDE if name == "ankle_x" else 0.0, abs=1e-12)
    assert 0.1 < MOTION["ankle_z"](np.linspace(0, 1, 101)).max() < 0.2
    assert norms.CYCLE > 0.5 and 0.55 < norms.CYCLE_STANCE < 0.7


def test_the_walker_is_that_of_the_worked_trial():
    t, *tau = columns(REFERENCE, "time_s", "talocrural_angle", "subtalar_angle")
    cycle = (t >= 0.05) & (t <= 1.01)
    phase = (t[cycle] - 0.05) / 0.96
    for name, reference in zip(("dorsiflexion", "inversion"), tau, strict=True):
        off = np.degrees(MOTION[name](phase) - reference[cycle])
        assert off.std() < 1.5
    # In mid-stance the ankle is over the standing foot: hardly moving, near the height at which it stands.
    middle = np.linspace(0.15, 0.3, 16)
    assert np.abs(MOTION["ankle_z"](middle)).max() < 0.02
    assert np.abs(MOTION["ankle_x"](middle, 1) / norms.CYCLE).max() < 0.4


def test_the_centre_of_pressure_goes_from_the_heel_to_the_toes():
    x, y, z = (CENTRE_OF_PRESSURE[k](np.linspace(0.0, 1.0, 21)) for k in "xyz")
    assert 0.0 < x[0] < 0.15 and 0.85 < x[-1] < 1.05 and (np.diff(x) > -0.02).all()
    assert np.abs(y).max() < 0.2 and (z < 0.0).all() and (z > -0.2).all()
