"""Activations of static optimisation beside electromyograms: right legs of adults who walk at the speed they choose, and fast.

The data of Schreiber and Moissenet (2019) are no part of the repository: C3D files named SUBJECT_ST (standing), SUBJECT_C4_TRIAL
and SUBJECT_C5_TRIAL (walking) in ``../shared/gait/dev/schreiber_moissenet/c3d`` beside it, or in the folder that is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.contact import DATA, UNFILTERED
from benchmarks.measure import Answer, Say
from models import walking
from models.walking.capture import Capture, read_capture
from models.walking.gait_result import PERCENT
from models.walking.swapped_ankle import MODIFIED
from runtime import ModelError
from runtime.report import Report, Table, plots
from runtime.support.arrays import Floats

MUSCLES = {"tibialis_anterior_r": "tib_ant_r", "soleus_r": "soleus_r", "gastrocnemius_medialis_r": "med_gas_r"}
SPEEDS = {"chosen speed": "C4", "fast": "C5"}
STRENGTHS = {"activation": 1.0, "activation, muscles twice as strong": 2.0}
RECORDED = "electromyogram"


@dataclass(frozen=True, eq=False)
class Walk:
    """Curves (101,) [1] of a trial by their label and muscle, agreements by these, and foot off [% of the cycle]."""

    curves: Mapping[str, Mapping[str, Floats]]
    agreements: Mapping[str, Mapping[str, Any]]
    off: float


def ask(*, quick: bool, say: Say, files: Sequence[str] = ()) -> Answer:
    """Compare the curves of all adults in a folder."""
    folder = Path(files[0]) if files else DATA
    report = Report("Activations of static optimisation beside electromyograms of the right leg")
    walks: dict[str, list[Walk]] = {speed: [] for speed in SPEEDS}
    left_out = []
    for standing in sorted(folder.glob("*_ST.c3d"))[: 2 if quick else None]:
        subject = standing.name.removesuffix("_ST.c3d")
        say(f"analysing {subject}")
        static = read_capture(standing)
        trials = {
            speed: [read_capture(f) for f in sorted(folder.glob(f"{subject}_{key}_*"))[:1]]
            for speed, key in SPEEDS.items()
        }
        every = [trial for of in trials.values() for trial in of]
        for speed, of in trials.items():
            for trial in of:
                try:
                    walks[speed].append(_walk(static, trial, every))
                except ModelError as error:
                    left_out.append(f"{trial.name}: {error}")
    if not any(walks.values()):
        reason = f"not run: no adult with standing and walking trials in {folder}"
        report.tables.append(Table("data", ["reason"], [[reason]]))
        return Answer(report, {})
    report.tables.append(_correlations(walks))
    if left_out:
        report.tables.append(Table("trials left out", ["reason"], [[reason] for reason in left_out]))
    return Answer(report, {"electromyograms": _figure(walks)})


def _walk(static: Capture, trial: Capture, every: Sequence[Capture]) -> Walk:
    """Curves of a trial; the electromyograms are scaled among all trials of the adult."""
    one = walking.analyse(static, trial, side="right", filters=UNFILTERED)
    recorded = walking.emg(trial, [other for other in every if other is not trial])
    over_cycle = recorded.over_cycle(one.cycle)
    curves = {RECORDED: {muscle: over_cycle[muscle] for muscle in MUSCLES}}
    agreements = {}
    for label, strength in STRENGTHS.items():
        with TemporaryDirectory() as made:
            found = walking.muscles_of_walk(one, Path(made) / "leg.osim", sorts=[MODIFIED], strength=strength)
        muscles = found.trials[MODIFIED].muscles
        assert muscles is not None  # of this function
        own = {name: muscles.activations[name] for name in MUSCLES.values()}
        percent = 100.0 * (muscles.t - one.cycle.strike) / (one.cycle.next_strike - one.cycle.strike)
        curves[label] = {muscle: np.interp(PERCENT, percent, own[name]) for muscle, name in MUSCLES.items()}
        agreements[label] = {row.muscle: row for row in recorded.agreement(muscles.t, own, pairs=MUSCLES).muscles}
    return Walk(curves, agreements, one.toe_off)


def _mean(walks: Sequence[Walk], label: str, muscle: str) -> Floats:
    """Mean of the curves, each by its own largest value."""
    return np.asarray(np.mean([of / of.max() for of in (walk.curves[label][muscle] for walk in walks)], axis=0))


def _shown(muscle: str) -> str:
    return muscle.removesuffix("_r").replace("_", " ")


def _correlations(walks: Mapping[str, Sequence[Walk]]) -> Table:
    """A row for each muscle, speed and strength."""
    rows: list[list[Any]] = []
    for muscle in MUSCLES:
        for speed, of in walks.items():
            for label in STRENGTHS if of else ():
                pairs = [walk.agreements[label][muscle] for walk in of]
                values = [[getattr(pair, what) for pair in pairs] for what in ("at_zero", "correlation", "lag")]
                best = values[1]
                means = np.corrcoef(_mean(of, RECORDED, muscle), _mean(of, label, muscle))[0, 1]
                medians = [float(np.median(of_all)) for of_all in values]
                rows.append(
                    [_shown(muscle), speed, STRENGTHS[label], len(of), *medians[:2], min(best), max(best), 1e3 * medians[2],
                     float(means)]
                )  # fmt: skip
    columns = [
        "muscle", "speed", "strength [1]", "adults", "at lag 0 [1]", "largest [1]", "least of it [1]", "greatest of it [1]",
        "best lag [ms]", "of the means [1]",
    ]  # fmt: skip
    note = (
        "Pearson's correlation of electromyogram and activation over the gait cycle: medians over adults, at lag 0 and at the "
        "best lag of 0 to 100 ms by which the electromyogram leads, with the least and greatest of the latter; of the means of "
        "the curves in the figure, without a lag.  Strength: by the published forces.  Modified universal joint, generic leg."
    )
    return Table("correlations", columns, rows, note)


def _figure(walks: Mapping[str, Sequence[Walk]]) -> Any:
    """Means of the curves over adults, a panel for each muscle and speed."""
    charts = []
    for speed, of in walks.items():
        for muscle in MUSCLES if of else ():
            off = float(np.mean([walk.off for walk in of]))
            title = f"{_shown(muscle)}, {speed}; off at {off:.0f} %"
            series = {label: (PERCENT, _mean(of, label, muscle)) for label in (RECORDED, *STRENGTHS)}
            charts.append(plots.Chart(title, "by its own largest value [1]", series))
    return plots.charts(charts, "gait cycle [%]", columns=len(MUSCLES))
