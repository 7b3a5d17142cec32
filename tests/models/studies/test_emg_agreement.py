"""The table of agreement with electromyograms, as every study that optimises muscles calls it."""

import numpy as np

from models.studies.emg_agreement import tables
from models.walking import emg
from models.walking.capture import Capture
from tests.support.electromyograms import burst, carried, channels, times

T = times(2.0)


def recorded(name, middle):
    markers = {"R_HEE": np.zeros((2, 3))}
    return Capture(name, np.array([0.0, 2.0]), markers, analog=channels(T, R_soleus=carried(T, burst(T, middle))))


def test_trials_in_one_table():
    """Each trial with its own electromyograms; a trial without, and one of which too little was analysed."""
    one, two = recorded("one", 0.8), recorded("two", 1.2)
    t = np.arange(0.0, 2.0, 0.01)
    optimised = {
        "one": (emg(one, [two]), t, {"soleus_r": burst(t - 0.05, 0.8), "per_long_r": t, "psoas_r": t}),
        "two": (emg(two, [one]), t, {"soleus_r": burst(t - 0.08, 1.2), "per_long_r": t, "psoas_r": t}),
        "three": (None, t, {"soleus_r": t}),
        "four": (emg(one, [two]), t[:5], {"soleus_r": t[:5]}),
    }
    (table,) = tables(optimised, ["soleus_r", "per_long_r"], by="trial")
    assert table.columns[2] == "trial" and [row[:4] for row in table.rows] == [
        ["soleus, right", "soleus_r", "one", 190],
        ["soleus, right", "soleus_r", "two", 190],
    ]
    assert [row[6] for row in table.rows] == [50.0, 80.0] and all(row[5] > 0.98 and row[8] == "" for row in table.rows)
    assert table.note.startswith("Invertors and evertors are unvalidated: per_long_r.  Without an electromyogram")
    assert (
        "unvalidated: per_long_r." in table.note and table.note.count("Invertors") == 1 and "psoas_r" not in table.note
    )
    assert "four: one: 0 of 5 frames have an electromyogram" in table.note and "2 trials of the subject" in table.note
    assert tables({"three": optimised["three"]}, ["soleus_r"]) == []
