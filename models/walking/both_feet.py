"""The analysis of several trials of a subject, of each foot that can be analysed; what cannot be used is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from models.walking.analysis import analyse
from models.walking.capture import Capture
from models.walking.capture.trial import Side
from models.walking.gait_result import Gait
from runtime import ModelError

FEET: tuple[Side, ...] = ("right", "left")

Trials = Sequence[tuple[str, Callable[[], Capture]]]  # name and reader of each


@dataclass
class AnalysedTrials:
    """Analyses of a subject's trials, and what could not be analysed.

    Attributes
    ----------
    found : list of Gait
    recorded : list of Capture
        The recording of each.
    left_out : list of (str, str, str)
        Trial, foot and reason, of feet of trials whose other foot is analysed.
    failures : list of (str, str)
        Trial and reason, of trials of which no foot is analysed.
    """

    found: list[Gait] = field(default_factory=list)
    recorded: list[Capture] = field(default_factory=list)
    left_out: list[tuple[str, str, str]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)


def analyse_trials(
    static: Capture, trials: Trials, options: Mapping[str, Any], say: Callable[[str], None]
) -> AnalysedTrials:
    """Analyse each trial: the foot asked for, or each foot with a whole stance on force plates.

    Parameters
    ----------
    static : Capture
    trials : sequence of (name, reader)
    options : mapping
        Keywords of ``models.walking.analyse``, all of them; functional axes found in one trial are used for the others.
    say : callable(str)
        Receives a line for each trial.
    """
    done = AnalysedTrials()
    axes: dict[str, Any] = {}
    for name, read in trials:
        say(f"analysing {name}")
        try:
            trial = read()
            feet, without = _feet(static, trial, options, axes)
        except ModelError as error:
            done.failures.append((name, str(error)))
            continue
        done.found += feet
        axes |= {one.side: one.functional_axes for one in feet}
        done.recorded += [trial] * len(feet)
        done.left_out += [(name, side, why) for side, why in without]
    return done


def _feet(
    static: Capture, trial: Capture, options: Mapping[str, Any], axes: Mapping[str, Any]
) -> tuple[list[Gait], list[tuple[str, str]]]:
    """The foot asked for, or each that can be analysed, and why the other one cannot; labels of the user are of one foot.

    ``axes``: functional axes by side that an earlier trial found.
    """

    def analysed(side: str | None) -> Gait:
        known = axes.get(side or "") or options["functional"]
        return analyse(static, trial, **{**options, "side": side, "functional": known})

    if options["side"] or options["markers"]:
        return [analysed(options["side"])], []
    found: list[Gait] = []
    without: list[tuple[str, str]] = []
    for side in FEET:
        try:
            found.append(analysed(side))
        except ModelError as error:
            without.append((side, str(error)))
    return (found, without) if found else ([analysed(None)], [])
