"""Electromyograms of a trial: envelopes, scaled to the subject's own maximum, and their agreement with activations.

Band: De Luca et al. (2010), Filtering the surface EMG signal: movement artifact and baseline noise contamination, Journal of
Biomechanics 43, 1573-1579, doi 10.1016/j.jbiomech.2010.01.027: Butterworth, 20 Hz, 12 dB per octave.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.walking.capture import Capture
from models.walking.filters import bandpass, lowpass, resample
from models.walking.gait_events import GaitCycle
from models.walking.gait_result import PERCENT
from models.walking.muscle_names import INVERTORS_AND_EVERTORS, is_of_muscle, muscle_of_label, unknown_muscle
from models.walking.samples import check_times, runs
from runtime import ModelError
from runtime.support import checked, checked_class, floats, warn
from runtime.support.arrays import Floats

BAND, CUTOFF, ORDER = (20.0, 450.0), 6.0, 2  # [Hz], [Hz], of one pass
MOST = 0.9  # of half the sampling rate: the highest upper limit of the band
LAGS = np.arange(101) / 1000.0  # [s] by which electromyograms lead
LAGS.flags.writeable = False
LARGEST = 1e50  # of a number
HELD = 3  # equal samples in a row at an end of the range of a signal, from which on it counts as clipped
VARIES = 3.0  # times the tenth percentile of the envelope, up to which its largest value does not show bursts
VOLTS = ("V", "mV", "uV", "\N{MICRO SIGN}V", "\N{GREEK SMALL LETTER MU}V")


class MuscleAgreement(NamedTuple):
    """Agreement of an envelope with an activation.

    ``correlations``: by the lags 0, 1, ..., 100 ms; ``lag`` [s]: that of the largest one; ``difference``: mean absolute
    difference at this lag.  NaN where the envelope or the activation is constant.
    """

    muscle: str
    activation: str
    frames: int
    correlations: Floats
    lag: float
    correlation: float
    at_zero: float
    difference: float


class EmgAgreement(NamedTuple):
    """Agreement of electromyograms with activations: by pair of muscles; ``unvalidated``: activations without electromyogram."""

    muscles: tuple[MuscleAgreement, ...]
    unvalidated: tuple[str, ...]
    note: str


@checked_class
@dataclass(frozen=True, eq=False)
class Electromyograms:
    """Envelopes of the electromyograms of a trial.

    Attributes
    ----------
    name : str
        Of the trial.
    t : (m,) [s]
        On the clock of the markers.
    envelopes : mapping of str to (m,) [1]
        By muscle, such as "soleus_r": of the subject's largest envelope.
    largest : mapping of str to (float, str)
        The largest envelope by which each is divided, in the unit of the file, and the trial that has it.
    units, labels : mapping of str to str
        Of the channel of each muscle.
    doubts : mapping of str to str
        Muscles whose signal is clipped or shows no bursts, and the reason.
    trials : tuple of str
        Those among which the largest envelope was sought.
    notes : tuple of str
        Doubts of all trials, channels that are left out, and assumptions.
    """

    name: str
    t: Floats
    envelopes: Mapping[str, Floats]
    largest: Mapping[str, tuple[float, str]]
    units: Mapping[str, str]
    labels: Mapping[str, str]
    doubts: Mapping[str, str]
    trials: tuple[str, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Electromyograms of {self.name}: {', '.join(self.envelopes)}; {len(self.t)} samples"

    def over_cycle(self, cycle: GaitCycle) -> dict[str, Floats]:
        """Envelopes as curves of 101 points from foot strike to foot strike, by muscle.

        Raises
        ------
        ModelError
            If the cycle is not within the recording.
        """
        t = cycle.strike + PERCENT / 100.0 * (cycle.next_strike - cycle.strike)
        return {muscle: resample(self.t, x, t, name=f"{self.name}: {muscle}") for muscle, x in self.envelopes.items()}

    def agreement(
        self, t: ArrayLike, activations: Mapping[str, ArrayLike], *, pairs: Mapping[str, str] | None = None
    ) -> EmgAgreement:
        """Correlation of envelopes with activations, for electromyograms that lead by 0 to 100 ms.

        A muscle produces force some time after its electromyogram: by cross-correlation 61 to 84 ms at the elbow (Vint et al.
        2001), by onset 20 to 100 ms at the knee (Zhou et al. 1995).

        Parameters
        ----------
        t : (n,) [s]
            Times of the activations on the clock of the trial.
        activations : mapping of str to (n,)
            By muscle of a model, such as those of ``static_optimisation``.
        pairs : mapping of str to str, optional
            The activation of each muscle of ``envelopes``; default: by the table of names in ``models.walking.muscle_names``.

        Returns
        -------
        EmgAgreement
            Over the frames at which the electromyogram is known at each lag.

        Raises
        ------
        ModelError
            For unknown names, and if there are fewer than three such frames.

        Notes
        -----
        Vint, McLean and Harron (2001), Electromechanical delay in isometric actions initiated from nonresting levels, Medicine
        and Science in Sports and Exercise 33, 978-983 (abstract).  Zhou, Lawson, Morrison and Fairweather (1995),
        Electromechanical delay of knee extensors, Journal of Human Movement Studies 28, 127-146 (abstract).
        """
        times = floats(t, "t", "times [s]")
        check_times(times, "t")
        tiny = 1e-9 * max(1.0, float(np.abs(self.t).max()))
        known = (times - LAGS[-1] >= self.t[0] - tiny) & (times <= self.t[-1] + tiny)
        if known.sum() < 3:
            raise ModelError(
                f"{self.name}: {known.sum()} of {len(times)} frames have an electromyogram from 100 ms before them on, which is "
                f"known from {self.t[0]:g} to {self.t[-1]:g} s; an agreement needs 3"
            )
        for muscle, name in (pairs or {}).items():
            if muscle not in self.envelopes or name not in activations:
                raise ModelError(
                    f"pairs: '{muscle}': '{name}'; there are electromyograms of {', '.join(self.envelopes)} and activations of "
                    f"{', '.join(activations)}"
                )
        found = [
            _agreement(muscle, name, self.t, envelope, times, floats(activations[name], name, "activations"), known)
            for muscle, envelope in self.envelopes.items()
            for name in activations
            if (is_of_muscle(name, muscle) if pairs is None else pairs.get(muscle) == name)
        ]
        without = tuple(name for name in activations if name not in {one.activation for one in found})
        return EmgAgreement(tuple(found), without, _unvalidated(activations, without))


def _agreement(
    muscle: str, name: str, t: Floats, envelope: Floats, times: Floats, activation: Floats, known: Floats
) -> MuscleAgreement:
    if activation.shape != times.shape:
        raise ModelError(f"activations: '{name}' has the shape {activation.shape}, t {times.shape}; they must be equal")
    a = activation[known]
    if not (np.abs(a) < LARGEST).all():
        raise ModelError(
            f"activations: '{name}' has values that are not finite or above {LARGEST:g}; an activation is 0 to 1"
        )
    shifted = np.interp(times[known] - LAGS[:, None], t, envelope)
    if np.ptp(a) == 0.0 or (np.ptp(shifted, axis=1) == 0.0).any():
        return MuscleAgreement(muscle, name, len(a), np.full(len(LAGS), np.nan), *[float("nan")] * 4)
    correlations = np.corrcoef(a, shifted)[0, 1:]
    best = int(np.argmax(correlations))
    difference = float(np.abs(shifted[best] - a).mean())
    return MuscleAgreement(
        muscle,
        name,
        len(a),
        correlations,
        float(LAGS[best]),
        float(correlations[best]),
        float(correlations[0]),
        difference,
    )


def _unvalidated(activations: Mapping[str, ArrayLike], without: Sequence[str]) -> str:
    """Which activations no electromyogram validates; those of invertors and evertors first."""
    turning = [name for name in activations if INVERTORS_AND_EVERTORS.match(name)]
    deep = [name for name in turning if name in without]
    text = f"Without an electromyogram, and so unvalidated: {', '.join(without) or 'none'}."
    if turning and not deep:
        return text
    return f"Invertors and evertors are unvalidated: {', '.join(deep) or 'the model has none'}.  {text}"


class _Envelope(NamedTuple):
    label: str
    unit: str
    values: Floats
    doubt: str


@checked
def emg(
    trial: Capture,
    maximum: Sequence[Capture] = (),
    *,
    channels: Mapping[str, str] | None = None,
    muscles: Collection[str] = (),
    band: tuple[float, float] = BAND,
    cutoff: float = CUTOFF,
    order: int = ORDER,
) -> Electromyograms:
    """Envelopes of a trial's electromyograms: band pass, absolute value, low pass, scaled to the subject's largest envelope.

    Both filters are zero-lag Butterworth filters, see ``models.walking.filters.bandpass`` and ``lowpass``; their limits are where
    the gain after both passes is -3 dB.  A low pass of bursts may reach slightly below zero beside them.

    Parameters
    ----------
    trial : Capture
        With ``analog`` channels.
    maximum : sequence of Capture
        Other trials of the subject, among which, with ``trial``, the largest envelope of each muscle is sought.
    channels : mapping of str to str, optional
        Label of the channel of a muscle, such as {"soleus_r": "EMG 1"}, beside the labels that the table in
        ``models.walking.muscle_names`` knows, such as "R_soleus".  A warning names a muscle that is not known.
    muscles : collection of str
        Names of muscles of a model, such as "bflh_r", beside those that are known.
    band : (float, float) [Hz]
        Its upper limit is at most 0.9 times half the sampling rate, which a note states.
    cutoff : float [Hz]
        Of the low pass.
    order : int
        Of one pass of both filters: 2 is a fourth order, 24 dB per octave, after both.

    Raises
    ------
    ModelError
        For a trial without an electromyogram that can be used, unknown labels, and filters out of range.
    """
    notes: list[str] = []
    captures = (trial, *(other for other in maximum if other is not trial))
    own, *others = [_envelopes(one, channels, band, cutoff, order, notes) for one in captures]
    for muscle in channels or {}:
        if sentence := unknown_muscle(muscle, muscles):
            warn(f"channels: {sentence}")
    if not own:
        has = "no analog channels" if trial.analog is None else f"the channels {', '.join(trial.analog.channels)}"
        raise ModelError(
            f"{trial.name}: no electromyogram can be used; it has {has}{'; ' if notes else ''}{'; '.join(notes)}: give channels="
            "{'soleus_r': 'EMG 1'} with labels of the file"
        )
    largest = {muscle: (float(one.values.max()), trial.name) for muscle, one in own.items()}
    for capture, found in zip(captures[1:], others, strict=True):
        lacking = [muscle for muscle in own if muscle not in found]
        if lacking:
            notes.append(f"{capture.name}: no electromyogram of {', '.join(lacking)}, whose scale it does not show")
        for muscle in (muscle for muscle in own if muscle in found):
            one, other = own[muscle], found[muscle]
            if one.unit != other.unit:
                raise ModelError(
                    f"{capture.name}: '{other.label}' is in '{other.unit}', that of {trial.name} in '{one.unit}'; one scale "
                    "needs one unit: leave this trial out of maximum="
                )
            largest[muscle] = max(largest[muscle], (float(other.values.max()), capture.name))
    if len(captures) == 1:
        notes.append(
            f"{trial.name}: electromyograms are scaled to their largest envelope in this trial alone, so that each reaches 1; "
            "give other trials of the subject"
        )
    envelopes = {muscle: one.values / largest[muscle][0] for muscle, one in own.items()}
    for x in envelopes.values():
        x.flags.writeable = False
    assert trial.analog is not None  # it has envelopes
    return Electromyograms(
        trial.name, trial.analog.t, envelopes, largest, {muscle: one.unit for muscle, one in own.items()},
        {muscle: one.label for muscle, one in own.items()}, {muscle: one.doubt for muscle, one in own.items() if one.doubt},
        tuple(one.name for one in captures), tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def channels_of(trial: Capture, channels: Mapping[str, str] | None = None) -> dict[str, str]:
    """Label of the channel of each muscle: those that are given, and those that the table of names knows.

    Raises
    ------
    ModelError
        For a label that the trial lacks.
    """
    labels = () if trial.analog is None else tuple(trial.analog.channels)
    for muscle, label in (channels or {}).items():
        if label not in labels:
            raise ModelError(
                f"channels: {trial.name} has no channel '{label}' for {muscle}; it has {', '.join(labels) or 'none'}"
            )
    given = dict(channels or {})
    known = {name: label for label in reversed(labels) if (name := muscle_of_label(label))}
    return {muscle: known[muscle] for muscle in reversed(known) if known[muscle] not in given.values()} | given


def _envelopes(
    trial: Capture,
    channels: Mapping[str, str] | None,
    band: tuple[float, float],
    cutoff: float,
    order: int,
    notes: list[str],
) -> dict[str, _Envelope]:
    """Envelopes of a trial by muscle, in the unit of the file; channels that are left out, and doubts, are noted."""
    found: dict[str, _Envelope] = {}
    used, analog = channels_of(trial, channels), trial.analog
    if analog is None:
        return found
    unnamed = [label for label, unit in analog.units.items() if unit in VOLTS and label not in used.values()]
    if unnamed:
        notes.append(
            f"{trial.name}: channels in volts of no known muscle, {', '.join(unnamed)}, are left out; electromyograms among them "
            "are given by channels="
        )
    high = min(band[1], MOST * analog.rate / 2.0)
    if used and high < band[1]:
        notes.append(
            f"{trial.name}: at {analog.rate:g} samples per second the band of electromyograms ends at {high:g} Hz instead of "
            f"{band[1]:g} Hz"
        )
    for muscle, label in used.items():
        x, what = analog.channels[label], f"{trial.name}: {muscle}, channel '{label}'"
        if not np.isfinite(x).all() or np.ptp(x) == 0.0:
            why = "flat" if np.isfinite(x).all() else "not finite everywhere"
            notes.append(f"{what}, is left out: it is {why}")
            continue
        passed = bandpass(x, analog.rate, band[0], high, order=order, name=what)
        values = lowpass(np.abs(passed), analog.rate, cutoff, order=order, ends="mirror", name=what)
        found[muscle] = _Envelope(label, analog.units[label], values, _doubt(x, values))
        notes += [f"{what}: {found[muscle].doubt}"] if found[muscle].doubt else []
    return found


def _doubt(x: Floats, envelope: Floats) -> str:
    """Why a signal may not show its muscle; empty if nothing says so."""
    held = [stop - start for end in (x.min(), x.max()) for start, stop in runs(x == end) if stop - start >= HELD]
    if held:
        return f"clipped: {sum(held)} of {len(x)} samples are held at an end of its range, so that its envelope is too small"
    low, high = float(np.percentile(envelope, 10.0)), float(envelope.max())
    if high < VARIES * low:
        return f"noise or steady activity: its envelope varies by a factor of {high / low:.2g}, and bursts by {VARIES:g} or more"
    return ""
