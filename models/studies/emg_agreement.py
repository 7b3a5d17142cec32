"""Agreement of electromyograms with activations of static optimisation: a table, for every study that optimises muscles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models.walking.capture import Capture, read_capture
from models.walking.electromyograms import Electromyograms, channels_of, emg
from models.walking.muscle_names import in_words, is_of_muscle
from runtime import ModelError
from runtime.report import Table

VINT = (
    "P. F. Vint, S. P. McLean, G. M. Harron: Electromechanical delay in isometric actions initiated from nonresting levels, "
    "Medicine and Science in Sports and Exercise 33, 978-983 (2001); delays of 61 to 84 ms by cross-correlation."
)
ZHOU = (
    "S. Zhou, D. L. Lawson, W. E. Morrison, I. Fairweather: Electromechanical delay of knee extensors: the normal range and the "
    "effects of age and gender, Journal of Human Movement Studies 28, 127-146 (1995); delays of 20 to 100 ms."
)
DE_LUCA = (
    "C. J. De Luca, L. D. Gilmore, M. Kuznetsov, S. H. Roy: Filtering the surface EMG signal: movement artifact and baseline "
    "noise contamination, Journal of Biomechanics 43, 1573-1579 (2010), doi 10.1016/j.jbiomech.2010.01.027; lower limit."
)
CITED = (DE_LUCA, VINT, ZHOU)


def recorded(
    trial: Capture,
    others: Sequence[Capture],
    channels: Mapping[str, str],
    notes: list[str],
    muscles: Collection[str] = (),
) -> Electromyograms | None:
    """Envelopes of a trial, scaled among it and others of the subject; None where it has no electromyogram.

    The notes say why channels in volts are not used.  ``muscles``: names of those of a model.

    Raises
    ------
    ModelError
        For channels that are given and cannot be used.
    """
    if not channels_of(trial, channels):
        return None
    try:
        found = emg(trial, others, channels=channels, muscles=muscles)
    except ModelError as error:
        if channels:
            raise
        notes.append(str(error))
        return None
    notes += found.notes
    return found


def scaling_trials(files: Sequence[str] | None, **reading: Any) -> list[Capture]:
    """The trials of option --emg-maximum."""
    return [read_capture(Path(file), **reading) for file in files or ()]


def tables(
    optimised: Mapping[str, tuple[Electromyograms | None, Any, Mapping[str, Any]]],
    crossing: Sequence[str],
    by: str = "joint",
) -> list[Table]:
    """The agreement, a row for each pair of muscles; none without electromyograms.

    Parameters
    ----------
    optimised : mapping of str to (electromyograms, t, activations)
        By a name, such as the sort of joint or the trial: the electromyograms of the trial, None where it has none; times (n,)
        [s] and activations (n,) by muscle of the model.
    crossing : sequence of str
        Muscles of the models that cross an ankle; those without an electromyogram are named as unvalidated.
    by : str
        Column of the names.
    """
    rows: list[list[Any]] = []
    notes: list[str] = []
    scales: list[int] = []
    for name, (electromyograms, t, every) in optimised.items():
        if electromyograms is None:
            continue
        used = {
            muscle: values
            for muscle, values in every.items()
            if muscle in crossing or any(is_of_muscle(muscle, known) for known in electromyograms.envelopes)
        }
        scales.append(len(electromyograms.trials))
        try:
            found = electromyograms.agreement(t, used)
        except ModelError as error:  # the part that was analysed is too short
            notes.append(f"{name}: {error}.")
            continue
        notes.append(found.note)
        for one in found.muscles:
            numbers = [one.at_zero, one.correlation, 1e3 * one.lag, one.difference]
            rows.append(
                [in_words(one.muscle), one.activation, name, one.frames, *(None if np.isnan(x) else round(x, 3) for x in numbers),
                 electromyograms.doubts.get(one.muscle, "")]
            )  # fmt: skip
    if not scales:
        return []
    scale = f"{min(scales)} trials of the subject" if min(scales) > 1 else "one trial alone"
    note = (
        f"{'  '.join(dict.fromkeys(notes))}  Pearson's correlation over the frames at which the envelope is known from 100 ms "
        "before them on; the electromyogram leads by the best lag, of 0 to 100 ms; 0 or 100 ms is an end of this range.  "
        "Difference: mean absolute difference at the best lag, of an activation and an envelope by the largest envelope of "
        f"{scale}, which is no maximal contraction.  A dash: the activation is constant."
    )
    columns = [
        "electromyogram", "muscle of the model", by, "frames", "correlation at lag 0 [1]", "largest correlation [1]",
        "best lag [ms]", "difference [1]", "doubt",
    ]  # fmt: skip
    brief = ["electromyogram", by, "correlation at lag 0 [1]", "largest correlation [1]", "best lag [ms]"]
    return [Table("agreement with electromyograms", columns, rows, note, brief)]
