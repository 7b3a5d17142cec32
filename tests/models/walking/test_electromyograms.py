"""Electromyograms: read from C3D files; envelopes by the frequency domain; scale, doubts, and agreement with known lags."""

import copy
import pickle
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from models.walking import emg
from models.walking.capture import Analog, Capture, read_capture
from models.walking.electromyograms import LAGS, channels_of
from models.walking.filters import bandpass
from models.walking.gait_events import GaitCycle
from models.walking.muscle_names import MUSCLES, in_words, is_of_muscle, muscle_of_label
from runtime import AssemblyWarning
from tests.support.capture_files import write_c3d
from tests.support.electromyograms import FRAMES, RATE, burst, carried, channels, times
from tests.support.refusals import assert_refused
from tests.support.walking_person import FORCE_RATE, person

T = times(3.0)


def trial_of(name="walk", unit="V", t=T, **values):
    frames = np.arange(round(t[-1] * FRAMES)) / FRAMES
    return Capture(name, frames, {"R_HEE": np.zeros((len(frames), 3))}, analog=channels(t, unit, **values))


def by_frequency(x, gain):
    """The signal with each frequency times its gain, for signals that are zero at both ends."""
    return np.fft.irfft(np.fft.rfft(x) * gain(np.tan(np.pi * np.fft.rfftfreq(len(x)))), len(x))


def test_channels_of_a_c3d_file_are_read_beside_those_of_plates(tmp_path):
    t, markers = person()
    samples = round(FORCE_RATE * len(t) / FRAMES)
    values = np.random.default_rng(1).normal(size=(9, samples))
    labels = ["Fx", "Fy", "Fz", "Mx", "My", "Mz", "R_soleus", "EMG", "EMG"]
    plate = {"type": 2, "corners": np.array([[0.5, 0, 0, 0.5], [0, 0, 1, 1], [0, 0, 0, 0]]), "origin": np.zeros(3)}
    path = write_c3d(
        tmp_path / "walk.c3d", markers, channels=values, analog_labels=labels, plates=[plate | {"channel": np.arange(6) + 1.0}],
        analog_units=[*"NNN", "Nmm", "Nmm", "Nmm", "V", "mV", ""],
    )  # fmt: skip
    analog = read_capture(path).analog
    assert dict(analog.units) == {"R_soleus": "V", "EMG": "mV", "EMG (channel 9)": ""}
    for read, written in zip(analog.channels.values(), values[6:], strict=True):
        assert read == pytest.approx(written, abs=1e-6)
    assert (
        analog.rate == pytest.approx(FORCE_RATE) and analog.t[0] == 0.0 and not analog.channels["EMG"].flags.writeable
    )
    assert read_capture(write_c3d(path, markers)).analog is None


def test_channels_follow_the_trial():
    one = trial_of(R_soleus=carried(T, burst(T, 1.5)))
    part = one.crop(1.0, 2.0).analog
    assert (part.t[0], part.t[-1]) == (1.0, 2.0) and np.array_equal(
        part.channels["R_soleus"], one.analog.channels["R_soleus"][1500:3001]
    )
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), one.mirrored(), one.turned(0.3)):
        assert np.array_equal(other.analog.channels["R_soleus"], one.analog.channels["R_soleus"])
        assert other.analog.units == one.analog.units
    assert "R_soleus: 4500 samples from 0 to" in repr(one.analog)
    assert replace(one, analog=channels(T[:10], R_soleus=T[:10])).crop(0.5, 1.0).analog is None
    assert_refused("analog channel 'a': shape (4,); it must be (3,)", Analog, T[:3], {"a": T[:4]}, {"a": "V"})


def test_labels_name_muscles():
    for name in MUSCLES:
        assert (
            muscle_of_label(f"R_{name}") == f"{name}_r"
            and muscle_of_label(f"left {name.replace('_', '-').title()}") == f"{name}_l"
        )
    for label in ("soleus", "R_soleus_2b", "Rsoleus", "EMG 1", "R_peroneus_longus", ""):
        assert muscle_of_label(label) is None
    pairs = {"tib_ant_r": "tibialis_anterior_r", "soleus_l": "soleus_l", "med_gas_r": "gastrocnemius_medialis_r",
             "gasmed_r": "gastrocnemius_medialis_r", "glut_med3_r": "gluteus_medius_r", "own_name": "own_name"}  # fmt: skip
    assert all(is_of_muscle(name, muscle) for name, muscle in pairs.items())
    for name, muscle in (
        ("tib_post_r", "tibialis_anterior_r"),
        ("tib_ant_l", "tibialis_anterior_r"),
        ("glut_med12_r", "gluteus_medius_r"),
    ):
        assert not is_of_muscle(name, muscle)
    assert (in_words("gastrocnemius_medialis_l"), in_words("own")) == ("gastrocnemius medialis, left", "own")
    one = trial_of(R_soleus=T, L_soleus=T, EMG=T)
    assert channels_of(one) == {"soleus_r": "R_soleus", "soleus_l": "L_soleus"}
    assert channels_of(one, {"soleus_r": "EMG"}) == {"soleus_r": "EMG", "soleus_l": "L_soleus"}
    assert channels_of(one, {"tibialis_anterior_r": "R_soleus"}) == {
        "soleus_l": "L_soleus",
        "tibialis_anterior_r": "R_soleus",
    }


@pytest.mark.parametrize("order", [1, 2])
def test_envelopes_by_the_frequency_domain(order):
    """Bursts of noise with rest on both sides: the closed gains of both filters on the Fourier transform."""
    x = np.random.default_rng(2).normal(size=len(T)) * burst(T, 1.5, 0.8)
    w = {limit: np.tan(np.pi * limit / RATE) for limit in (6.0, 20.0, 450.0)}
    share = np.sqrt(2.0) - 1.0
    band, width = w[20.0] * w[450.0], w[450.0] - w[20.0]

    def passes(at):
        with np.errstate(divide="ignore"):
            return 1.0 / (1.0 + share * ((at * at - band) / (at * width)) ** (2 * order))

    rectified = np.abs(by_frequency(x, passes))
    wanted = by_frequency(rectified, lambda at: 1.0 / (1.0 + share * (at / w[6.0]) ** (2 * order)))
    found = emg(trial_of(R_soleus=x), order=order)
    envelope = found.envelopes["soleus_r"] * found.largest["soleus_r"][0]
    assert np.abs(envelope - wanted)[150:-150].max() < 1e-3 * wanted.max()
    assert found.largest["soleus_r"] == (pytest.approx(wanted.max(), rel=1e-3), "walk")


def test_a_known_envelope_is_found():
    """The absolute value of a sine has the mean 2/pi; a slow envelope passes the filter of 6 Hz."""
    slow = 2e-4 * burst(T, 1.5, 2.0)
    found = emg(trial_of(unit="mV", R_soleus=carried(T, slow)))
    assert found.envelopes["soleus_r"] * found.largest["soleus_r"][0] == pytest.approx(
        2.0 / np.pi * slow, abs=0.005 * slow.max()
    )
    assert (found.units["soleus_r"], found.labels["soleus_r"], found.trials) == ("mV", "R_soleus", ("walk",))
    assert [note for note in found.notes if "in this trial alone" in note] and not found.doubts
    cycle = GaitCycle("right", 1.0, 1.6, 2.0, "file", ("plate",), True)
    curve = found.over_cycle(cycle)["soleus_r"]
    assert curve.shape == (101,) and curve == pytest.approx(burst(np.linspace(1.0, 2.0, 101), 1.5, 2.0), abs=0.005)
    assert_refused("walk: soleus_r: requested at 3", found.over_cycle, replace(cycle, next_strike=4.0))


def test_envelopes_of_steady_noise_are_level_to_the_ends():
    random, first = np.random.default_rng(4), []
    for _ in range(30):
        envelope = emg(trial_of(R_soleus=random.normal(size=len(T)))).envelopes["soleus_r"]
        first += [envelope[0] / envelope.mean() - 1.0, envelope[-1] / envelope.mean() - 1.0]
    assert np.std(first) < 0.25 and abs(np.mean(first)) < 0.25


def test_the_scale_is_the_largest_of_all_trials():
    one, two, three = (trial_of(f"walk {k}", R_soleus=carried(T, k * burst(T, 1.5))) for k in (1, 2, 3))
    found = emg(one, [one, three, two])
    assert found.envelopes["soleus_r"].max() == pytest.approx(1.0 / 3.0) and found.largest["soleus_r"][1] == "walk 3"
    assert found.trials == ("walk 1", "walk 3", "walk 2") and not found.notes
    lacking = emg(one, [trial_of("other", L_soleus=carried(T, burst(T, 1.5)))])
    assert lacking.envelopes["soleus_r"].max() == 1.0 and "other: no electromyogram of soleus_r" in lacking.notes[0]
    assert_refused(
        "other: 'R_soleus' is in 'mV', that of walk 1 in 'V'; one scale needs one unit",
        emg, one, [trial_of("other", unit="mV", R_soleus=carried(T, burst(T, 1.5)))],
    )  # fmt: skip


def test_signals_in_doubt_are_named():
    random = np.random.default_rng(5)
    good = carried(T, burst(T, 1.5))
    noise = bandpass(random.normal(size=len(T)), RATE, 30.0, 300.0)
    one = trial_of(
        R_soleus=good, R_tibialis_anterior=np.clip(good, -0.5, 0.5), R_vastus_medialis=noise, R_rectus_femoris=0.0 * T + 0.2,
        R_semitendinosus=np.where(T > 1.0, np.nan, good), volts=good,
    )  # fmt: skip
    found = emg(one)
    assert list(found.envelopes) == ["soleus_r", "tibialis_anterior_r", "vastus_medialis_r"]
    held = sum(int((np.abs(good) >= 0.5)[k : k + 3].all()) for k in range(len(T)))
    assert held > 50 and re.match(r"clipped: \d+ of 4500 samples are held", found.doubts["tibialis_anterior_r"])
    assert "noise or steady activity: its envelope varies by a factor of 1." in found.doubts["vastus_medialis_r"]
    assert set(found.doubts) == {"tibialis_anterior_r", "vastus_medialis_r"}
    for said in (
        "walk: rectus_femoris_r, channel 'R_rectus_femoris', is left out: it is flat",
        "walk: semitendinosus_r, channel 'R_semitendinosus', is left out: it is not finite everywhere",
        "channels in volts of no known muscle, volts, are left out",
        "tibialis_anterior_r, channel 'R_tibialis_anterior': clipped",
        "vastus_medialis_r, channel 'R_vastus_medialis': noise",
    ):
        assert sum(said in note for note in found.notes) == 1
    assert "it is flat: give channels=" in assert_refused(
        "no electromyogram can be used", emg, trial_of(R_soleus=0.0 * T)
    )
    assert_refused("it has no analog channels", emg, replace(one, analog=None))
    assert_refused(
        "channels: walk has no channel 'EMG 1' for soleus_r; it has R_soleus", emg, one, channels={"soleus_r": "EMG 1"}
    )
    assert list(emg(one, channels={"peroneus_longus_r": "volts"}).envelopes)[-1] == "peroneus_longus_r"


def test_a_misspelt_muscle_is_named_with_the_nearest_one():
    one = trial_of(EMG=carried(T, burst(T, 1.5)))
    for name, near in {
        "sleus_r": "did you mean 'soleus_r'", "tibialis_anteror_l": "did you mean 'tibialis_anterior_l'", "qqqqqq_r": "its",
    }.items():  # fmt: skip
        with pytest.warns(AssemblyWarning, match=f"channels: '{name}' is the name of no muscle that is known; {near}"):
            assert list(emg(one, channels={name: "EMG"}).envelopes) == [name]
    for name in ("soleus_r", "med_gas_l", "gasmed_r", "tibpost_r", "peroneus_longus_l", "vasint_r", "per_brev_r"):
        emg(one, channels={name: "EMG"})
    emg(one, channels={"bflh_r": "EMG"}, muscles=["bflh_r"])


@pytest.mark.parametrize("bandwidth", [(20.0, 450.0), (30.0, 300.0), (40.0, 120.0)])
def test_noise_is_told_from_bursts_whatever_its_band(bandwidth):
    random = np.random.default_rng(6)
    for _ in range(10):
        noise = bandpass(random.normal(size=len(T)), RATE, *bandwidth)
        assert "noise" in emg(trial_of(R_soleus=noise)).doubts.get("soleus_r", "")
        assert not emg(trial_of(R_soleus=noise * (0.1 + burst(T, 1.5)))).doubts


def test_the_band_ends_below_half_the_sampling_rate():
    t = times(3.0, 800.0)
    found = emg(trial_of(t=t, R_soleus=carried(t, burst(t, 1.5, 2.0))))
    assert "at 800 samples per second the band of electromyograms ends at 360 Hz instead of 450 Hz" in found.notes[0]
    assert found.envelopes["soleus_r"] == pytest.approx(burst(t, 1.5, 2.0), abs=0.01)
    assert not any("band" in note for note in emg(trial_of(R_soleus=carried(T, burst(T, 1.5)))).notes)
    t = times(3.0, 40.0)
    assert_refused("cut-off 20 Hz; at 40 samples per second", emg, trial_of(t=t, R_soleus=carried(t, burst(t, 1.5))))


@pytest.mark.parametrize("lag", [0.0, 0.013, 0.06, 0.1])
@pytest.mark.parametrize("noisy", [False, True], ids=["sine", "noise"])
def test_the_lag_of_an_activation_is_found(lag, noisy):
    slow = burst(T, 1.0, 0.7) + 0.6 * burst(T, 2.2, 0.5)
    x = np.random.default_rng(7).normal(size=len(T)) * slow if noisy else carried(T, slow)
    found = emg(trial_of(R_soleus=x))
    t = np.arange(0.0, 3.0, 0.01)
    delayed = np.interp(t - lag, T, slow)
    agreement = found.agreement(t, {"soleus_r": 0.4 * delayed, "tib_post_r": t, "per_long_r": t, "vas_int_r": t})
    (one,) = agreement.muscles
    assert (one.muscle, one.activation, one.frames) == ("soleus_r", "soleus_r", 290)
    assert one.lag == pytest.approx(lag, abs=0.015 if noisy else 1e-9) and one.correlation > (0.93 if noisy else 0.995)
    envelope = found.envelopes["soleus_r"]
    for k in (0, 37, 100):  # by the textbook, one lag at a time
        a, e = 0.4 * delayed[10:], np.interp(t[10:] - LAGS[k], T, envelope)
        a, e = a - a.mean(), e - e.mean()
        assert one.correlations[k] == pytest.approx((a * e).sum() / np.sqrt((a * a).sum() * (e * e).sum()))
    assert one.at_zero == one.correlations[0] and one.correlation == one.correlations.max()
    shifted = np.interp(t[10:] - one.lag, T, envelope)
    assert one.difference == pytest.approx(np.abs(shifted - 0.4 * delayed[10:]).mean())
    assert agreement.unvalidated == ("tib_post_r", "per_long_r", "vas_int_r")
    assert agreement.note.startswith(
        "Invertors and evertors are unvalidated: tib_post_r, per_long_r.  Without an electromyogram"
    )


def test_agreements_that_cannot_be_are_refused_or_blank():
    found = emg(trial_of(R_soleus=carried(T, burst(T, 1.5)), R_gluteus_medius=carried(T, burst(T, 1.0))))
    t = np.arange(0.0, 3.0, 0.01)
    blank, *parts = found.agreement(t, {"soleus_r": 0.0 * t, "glut_med1_r": t, "glmed2_r": t}).muscles
    assert np.isnan([blank.lag, blank.correlation, blank.at_zero, blank.difference, *blank.correlations]).all()
    assert [(one.muscle, one.activation) for one in parts] == [
        ("gluteus_medius_r", "glut_med1_r"),
        ("gluteus_medius_r", "glmed2_r"),
    ]
    own = found.agreement(t, {"calf": t, "soleus_r": t}, pairs={"soleus_r": "calf"})
    assert [(one.muscle, one.activation) for one in own.muscles] == [("soleus_r", "calf")] and own.unvalidated == (
        "soleus_r",
    )
    assert "unvalidated: the model has none" in own.note
    assert_refused(
        "2 of 12 frames have an electromyogram from 100 ms before", found.agreement, t[:12], {"soleus_r": t[:12]}
    )
    assert_refused("activations: 'soleus_r' has the shape (7,), t (300,)", found.agreement, t, {"soleus_r": t[:7]})
    assert_refused(
        "activations: 'soleus_r' has values that are not finite", found.agreement, t, {"soleus_r": np.nan * t}
    )
    assert_refused("pairs: 'soleus_r': 'calf'", found.agreement, t, {"soleus_r": t}, pairs={"soleus_r": "calf"})
    assert all(a <= b for a, b in pairwise(LAGS)) and (LAGS[0], LAGS[-1]) == (0.0, 0.1)
