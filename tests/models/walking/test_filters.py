"""Filters of measured signals: the gain of the low-pass filter in closed form, splines on polynomials."""

import math
import re

import numpy as np
import pytest

from models.walking.filters import bandpass, fill_gaps, lowpass, resample, without_flips
from tests.support.refusals import assert_refused


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("cutoff", [6.0, 20.0, 45.0])
def test_lowpass_has_the_gain_of_theory_and_no_lag(order, cutoff):
    rate, n = 100.0, 4000
    t, middle = np.arange(n) / rate, slice(1000, 3000)
    for frequency in (0.3 * cutoff, cutoff, min(1.8 * cutoff, 47.0)):
        wave = np.exp(2j * np.pi * frequency * t)
        passed = lowpass(wave.real, rate, cutoff, order=order) + 1j * lowpass(wave.imag, rate, cutoff, order=order)
        gain = (passed[middle] * wave[middle].conj()).mean()
        bilinear = math.tan(math.pi * frequency / rate) / math.tan(math.pi * cutoff / rate)
        wanted = 1.0 / (1.0 + (math.sqrt(2.0) - 1.0) * bilinear ** (2 * order))
        assert gain.real == pytest.approx(wanted, abs=1e-6) and abs(gain.imag) < 1e-6  # a lag would be imaginary
        if frequency == cutoff:
            assert 20 * math.log10(gain.real) == pytest.approx(-3.0103, abs=1e-3)


def test_lowpass_passes_polynomials_and_constant_ends():
    rate, t = 100.0, np.arange(300) / 100.0
    for degree in range(7):
        x = (10.0 * t) ** degree
        off = np.abs(lowpass(x, rate, 6.0) - x)[120:-120].max()
        assert (off > 0.05) == (degree == 6) and (degree == 6 or off < 1e-4), (degree, off)
    line = np.stack([t, 3.0 - 2.0 * t], axis=1)
    assert np.abs(lowpass(line, rate, 6.0) - line).max() < 5e-6  # to the very ends
    step = (t > 1.5).astype(float)
    assert np.allclose(lowpass(step[::-1], rate, 6.0)[::-1], lowpass(step, rate, 6.0), atol=1e-6)  # no lag
    assert lowpass(np.ones(12), rate, 6.0).tolist() == pytest.approx([1.0] * 12)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_bandpass_has_the_gain_of_theory_and_no_lag(order):
    rate, n, low, high = 1500.0, 30000, 20.0, 450.0
    t, middle = np.arange(n) / rate, slice(10000, 20000)
    w_low, w_high = (math.tan(math.pi * limit / rate) for limit in (low, high))
    for frequency in (10.0, low, 120.0, high, 600.0):
        wave = np.exp(2j * np.pi * frequency * t)
        passed = bandpass(wave.real, rate, low, high, order=order) + 1j * bandpass(
            wave.imag, rate, low, high, order=order
        )
        gain = (passed[middle] * wave[middle].conj()).mean()
        w = math.tan(math.pi * frequency / rate)
        shifted = (w * w - w_low * w_high) / (w * (w_high - w_low))
        wanted = 1.0 / (1.0 + (math.sqrt(2.0) - 1.0) * shifted ** (2 * order))
        assert gain.real == pytest.approx(wanted, abs=1e-6) and abs(gain.imag) < 1e-6
        if frequency in (low, high):
            assert 20 * math.log10(gain.real) == pytest.approx(-3.0103, abs=1e-3)


def test_mirrored_ends_keep_the_mean_of_rectified_noise():
    """One sample at the end of noise says nothing of its course; a point reflection turns everything about it."""
    random, off = np.random.default_rng(3), {"point": [], "mirror": []}
    for _ in range(40):
        noise = np.abs(random.normal(size=1500))
        for ends, found in off.items():
            found.append(lowpass(noise, 1500.0, 6.0, order=2, ends=ends)[0] - math.sqrt(2.0 / math.pi))
    assert np.std(off["mirror"]) < 0.15 < 0.4 < np.std(off["point"])


def test_lowpass_refuses_gaps_short_signals_and_cut_offs_out_of_range():
    x = np.zeros(100)
    for arguments, match in (
        (
            (np.where(np.arange(100) == 7, np.nan, x), 100.0, 6.0),
            "1 samples are missing, the first is number 8.*fill gaps",
        ),
        ((x, 100.0, 50.0), "cut-off 50 Hz; at 100 samples per second it must lie between 0.001 and 50 Hz"),
        ((x, 100.0, -1.0), "cut-off -1 Hz"),
        ((x, 100.0, 1e-4), "cut-off 0.0001 Hz; at 100 samples per second it must lie between 0.001 and 50 Hz"),
        ((x, 100.0, 5e-324), "it must lie between 0.001 and 50 Hz"),
        ((x[:11], 100.0, 6.0), "11 samples; a filter of order 3 needs at least 12"),
        ((x, 0.0, 6.0), "rate = 0.0 Hz; it must be positive"),
    ):
        assert_refused(re.compile(match), lowpass, *arguments)
    assert_refused("order = 0", lowpass, x, 100.0, 6.0, order=0)
    assert_refused("a: a band from 30 to 20 Hz; give its lower limit first", bandpass, x, 100.0, 30.0, 20.0, name="a")
    assert_refused("cut-off 50 Hz; at 100 samples per second", bandpass, x, 100.0, 20.0, 50.0)


def test_gaps_are_filled_by_a_spline_or_refused_by_name():
    t = np.arange(100) / 100.0
    x = np.stack([t**3 - t, 2.0 * t**2, 1.0 + 0.0 * t], axis=1)
    holes = x.copy()
    holes[30:40], holes[60, 1] = np.nan, np.nan
    filled = fill_gaps(t, holes, 0.1)
    assert np.allclose(filled, x, atol=1e-12) and np.array_equal(filled[:30], x[:30])
    assert np.array_equal(fill_gaps(t, x, 0.1), x) and np.isnan(holes[30:40]).all()
    assert_refused(
        "R_FCC: not seen from 0.3 to 0.4 s, 0.1 s; gaps up to 0.09 s are filled: crop",
        fill_gaps,
        t,
        holes,
        0.09,
        name="R_FCC",
    )
    for rows, match in (
        (slice(0, 3), "R_FCC: seen only from 0.03 s on"),
        (slice(97, 100), "seen only until 0.96 s"),
        (slice(3, 100), "at least 4"),
    ):
        broken = x.copy()
        broken[rows] = np.nan
        assert_refused(re.compile(match), fill_gaps, t, broken, 1.0, name="R_FCC")


def test_resampling_is_a_cubic_spline_within_the_samples():
    t, new = np.arange(50) / 100.0, np.linspace(0.0, 0.49, 371)
    assert np.allclose(resample(t, np.stack([t**3, t], axis=1), new), np.stack([new**3, new], axis=1), atol=1e-12)
    assert_refused("requested at 0.6 s, but measured from 0 to 0.49 s", resample, t, t, [0.1, 0.6])
    assert_refused("samples are missing", resample, t, np.where(t > 0.2, np.nan, t), new)


def test_euler_parameters_without_flips():
    angle = np.linspace(0.0, 4.0 * np.pi, 200)
    p = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle], axis=1)
    flipped = p * np.where(np.random.default_rng(3).random(200) < 0.4, -1.0, 1.0)[:, None]
    flipped[0] = p[0]
    assert np.array_equal(without_flips(flipped), p) and not np.array_equal(flipped, p)
    assert_refused("Euler parameters of shape (4,)", without_flips, p[0])
