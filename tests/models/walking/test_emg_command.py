"""Electromyograms in ``talus gait``: table, figure and data over the cycle, by known bursts and by nine adults."""

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray

from models.walking import emg, synthetic
from models.walking.capture import read_capture
from models.walking.gait_events import gait_cycle
from models.walking.gait_result import PERCENT
from models.walking.synthetic import CYCLE, STANCE, STRIKE
from tests.models.walking.test_gait_command import SYNTHETIC
from tests.support.electromyograms import burst, carried, channels
from tests.support.gait_files import laboratory, trial_at_100_hz
from tests.support.recorded_gait import C3D, recorded

CALVES, SHIN = ("soleus_r", "gastrocnemius_medialis_r"), "tibialis_anterior_r"
ADULTS = ("2014001", "2014004", "2014007", "2014015", "2014022", "2014025", "2014029", "2014031", "2014050")


def walk(**at):
    """The synthetic walk with channels that burst at percents of the cycle, with a size each."""
    one = trial_at_100_hz()
    rate = one.forces[0].rate
    t = np.arange(round(rate / 100.0) * len(one.t)) / rate
    signals = {label: size * carried(t, burst(t, STRIKE + x / 100.0 * CYCLE)) for label, (x, size) in at.items()}
    return replace(one, analog=channels(t, **signals))


def files_of(folder, *walks):
    made = [laboratory(folder, None, one, "c3d", name=f"walk{k}") for k, one in enumerate(walks)]
    return [made[0][0], *(files[1] for files in made)]


@pytest.mark.slow
def test_bursts_over_the_cycle(talus, tmp_path):
    one, two = walk(R_soleus=(40.0, 1.0), calf=(45.0, 1.0)), walk(R_soleus=(40.0, 0.5), calf=(45.0, 0.5))
    static, *trials = files_of(tmp_path, one, two, walk(R_soleus=(40.0, 4.0), calf=(45.0, 0.1)))
    options = (
        "--no-filter",
        "--mass",
        "70",
        "--emg-maximum",
        trials.pop(),
        "--emg-channel",
        "gastrocnemius_medialis_r=calf",
        *SYNTHETIC,
    )
    done = talus(static, *trials, *options, "--figure-format", "png", "--json", "--out", "o")
    assert done.code == 0, done.err
    data = json.loads(done.out)
    soleus, gastrocnemius = data["tables"]["electromyograms"]
    assert (soleus["muscle"], soleus["channel"], soleus["trials"]) == ("soleus, right", "R_soleus", 2)
    assert (soleus["in trial"], gastrocnemius["in trial"]) == ("walk2.c3d", "walk0.c3d")
    for row, at, mean in ((soleus, 40, 0.75 / 4.0), (gastrocnemius, 45, 0.75)):
        assert abs(row["largest at [% of the cycle]"] - at) <= 1
        assert row["largest [% of the maximum]"] == pytest.approx(100.0 * mean, rel=0.01)
        first, last = map(int, row["above half of it at [% of the cycle]"].split(" to "))
        assert first < at < last and abs(first + last - 2 * at) <= 2 and row["doubt"] == ""
        assert row["mean in swing [%]"] < 0.2 * row["mean in stance [%]"]
    with xarray.open_dataset(tmp_path / "o" / "gait.nc") as nc:
        found = nc.electromyogram
        assert found.dims == ("trial", "muscle", "percent") and list(found.muscle.values) == list(CALVES)
        known = emg(read_capture(trials[0]), [read_capture(tmp_path / "walk2.c3d")])
        t = STRIKE + PERCENT / 100.0 * CYCLE
        values = found.sel(muscle="soleus_r").values[0]
        assert values == pytest.approx(np.interp(t, known.t, known.envelopes["soleus_r"]), abs=1e-4)
        mean = found.sel(muscle="soleus_r").mean("trial").values
        assert soleus["mean in stance [%]"] == pytest.approx(100.0 * mean[PERCENT <= 100.0 * STANCE].mean(), abs=0.06)
    header, *rows = (tmp_path / "o" / "electromyogram_curves.csv").read_text().splitlines()
    assert header.split(",")[1] == "soleus_r walk0.c3d" and len(rows) == 101
    assert float(rows[40].split(",")[1]) == pytest.approx(values[40])
    assert (tmp_path / "o" / "electromyograms.png").stat().st_size > 10000
    assert not any(
        "in this trial alone" in row["assumption that was not read from a file"] for row in data["tables"]["notes"]
    )


@pytest.mark.slow
def test_what_is_not_used_is_said(talus, tmp_path, without_figures):
    silent, other = walk(R_soleus=(40.0, 0.0)), walk(L_soleus=(40.0, 1.0))
    for one, said in ((silent, "is left out: it is flat"), (other, "no electromyogram is of a leg that is analysed")):
        (tmp_path / said[:5]).mkdir()
        done = talus(
            *files_of(tmp_path / said[:5], one),
            "--no-filter",
            "--mass",
            "70",
            "--json",
            "--out",
            tmp_path / said[:5] / "o",
            *SYNTHETIC,
        )
        assert done.code == 0, done.err
        data = json.loads(done.out)
        assert "electromyograms" not in data["tables"]
        assert sum(said in row["assumption that was not read from a file"] for row in data["tables"]["notes"]) == 1
    refused = talus("--emg-maximum", "walk.c3d", "--out", "o")
    assert (
        refused.code == 2
        and refused.sentence == "--emg-maximum belongs to recorded files; give STATIC TRIAL..., or leave it out"
    )
    static, trial = files_of(tmp_path, silent)
    refused = talus(
        static, trial, "--no-filter", "--mass", "70", "--emg-channel", "soleus_r=EMG9", "--out", "p", *SYNTHETIC
    )
    assert refused.code == 2 and "walk0.c3d has no channel 'EMG9' for soleus_r; it has R_soleus" in refused.sentence
    refused = talus(
        static, trial, "--no-filter", "--mass", "70", "--emg-channel", "soleus=R_soleus", "--out", "q", *SYNTHETIC
    )
    assert refused.code == 2 and "the muscle is of no leg; give its side too, soleus_r or soleus_l" in refused.sentence
    refused = talus(static, trial, "--no-filter", "--mass", "70", "--emg-channel", "soleus_r", "--out", "q", *SYNTHETIC)
    assert (
        refused.code == 2 and refused.sentence == "--emg-channel = 'soleus_r': give MUSCLE=LABEL, such as soleus_r=EMG1"
    )


@recorded
@pytest.mark.slow
@pytest.mark.parametrize("adult", ADULTS)
def test_muscles_of_nine_adults_are_active_when_the_field_expects(adult):
    """Soleus and gastrocnemius late in stance before push-off ends; tibialis anterior about foot strike and in swing."""
    pytest.importorskip("ezc3d")
    trials = [read_capture(file) for file in sorted(C3D.glob(f"{adult}_C[45]*.c3d"))]
    assert len(trials) == 2
    for trial in trials:
        found, cycle = emg(trial, trials), gait_cycle(trial, "right")
        curves, off = found.over_cycle(cycle), round(100.0 * cycle.stance)
        assert len(found.envelopes) == 8 and not {SHIN, *CALVES} & set(found.doubts)
        for muscle in CALVES:
            curve = curves[muscle]
            late, rest = curve[30:50].mean(), np.r_[curve[off:], curve[52:off]].mean()
            assert late > 4.0 * rest and late > curve[10:30].mean() and 20 < 10 + curve[10:off].argmax() < 50
        shin = curves[SHIN]
        assert min(shin[:10].mean(), shin[off:].mean()) > 1.8 * shin[20:45].mean()
        assert shin.argmax() < 10 or shin.argmax() > 55


@recorded
def test_the_labels_of_the_recorded_trials():
    pytest.importorskip("ezc3d")
    found = emg(read_capture(C3D / "2014001_C4_05.c3d"))
    assert list(found.envelopes)[:3] == [SHIN, *CALVES] and set(found.units.values()) == {"V"} and len(found.t) == 2340
    noisy = emg(read_capture(C3D / "2014029_C4_05.c3d"))
    assert (
        list(noisy.doubts) == ["rectus_femoris_r"] and "varies by a factor of 2.5" in noisy.doubts["rectus_femoris_r"]
    )
    assert synthetic.trial().analog is None
