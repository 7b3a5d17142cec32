"""Electromyograms with known envelopes: carriers under bursts, noise, and signals that show nothing."""

import numpy as np

from models.walking.capture.trial import Analog

RATE, FRAMES = 1500.0, 100.0  # [Hz] of channels and markers
CARRIER = 137.0  # [Hz], no small part of the rate, whose harmonics would not average out


def burst(t, middle, width=0.5):
    """A bell (1 + cos)/2 of a whole width [s] about a time."""
    x = (t - middle) / width
    return np.where(np.abs(x) < 0.5, 0.5 * (1.0 + np.cos(2.0 * np.pi * x)), 0.0)


def times(seconds=2.0, rate=RATE):
    return np.arange(round(seconds * rate)) / rate


def carried(t, envelope):
    """A sine under an envelope: its absolute value has the mean 2/pi of the envelope."""
    return envelope * np.sin(2.0 * np.pi * CARRIER * t)


def channels(t, unit="V", **values):
    return Analog(t, values, dict.fromkeys(values, unit))
