"""Figures of the swapped ankle."""

from __future__ import annotations

from functools import partial

from models.studies.orthosis_shares import chart
from models.walking.swapped_ankle import AnkleComparison
from runtime.report import plots
from runtime.report.figure_files import Drawing

TIME = "time [s]"


def figures(found: AnkleComparison, *, whole: bool = True) -> dict[str, Drawing]:
    """The figures by file name, to be drawn when called; residuals are those of a ``whole`` body."""
    shown = {
        "ankles": Drawing(
            partial(plots.charts, _ankles(found), TIME),
            "Angles and moments of both hinges of each ankle over time, for each kind of joint.",
            "Rodrigues da Silva et al. (2024a)",
        ),
        **_differences(found),
        **_orthosis(found),
        "residuals": Drawing(
            partial(plots.charts, _residuals(found), TIME, columns=3),
            "Residual forces and moments at the pelvis over time, for each kind of joint.",
        ),
        "markers": Drawing(
            partial(
                plots.curves,
                {sort: (one.motion.t, 1e3 * one.motion.rms) for sort, one in found.trials.items()},
                TIME,
                "distance of markers, RMS [mm]",
            ),
            "Root mean square of the distances between markers of the model and of the trial, for each kind of joint.",
        ),
    }
    return {name: one for name, one in shown.items() if whole or name != "residuals"}


def _ankles(found: AnkleComparison) -> list[plots.Chart]:
    """Angle and moment of each coordinate, side by side."""
    charts = []
    for pair in found.ankles.values():
        for name in pair:
            for title, unit, of in (("angle", "deg", found.angle), ("internal moment", "N m/kg", found.moment)):
                series = {sort: (one.trial.t, of(sort, name)) for sort, one in found.trials.items()}
                shown = name.replace("_angle", "").replace("_", " ")
                charts.append(plots.Chart(shown, f"{title} [{unit}]", series))
    return charts


def _differences(found: AnkleComparison) -> dict[str, Drawing]:
    """Each sort of joint less the first one; no figure for one sort."""
    first, *others = found.trials
    charts = []
    for pair in found.ankles.values() if others else ():
        for name in pair:
            for title, unit, factor, of in (
                ("angle", "deg", 1.0, found.angle),
                ("internal moment", "mN m/kg", 1e3, found.moment),
            ):
                series = {
                    sort: (found.trials[sort].trial.t, factor * (of(sort, name) - of(first, name)))
                    for sort in found.trials
                }  # with the first one, so that each sort has its line of the other figures
                charts.append(plots.Chart(name.replace("_angle", "").replace("_", " "), f"{title} [{unit}]", series))
    shows = f"Angles and moments of both hinges of each ankle less those of the ankle {first}."
    return {"differences": Drawing(partial(plots.charts, charts, TIME), shows)} if charts else {}


def _orthosis(found: AnkleComparison) -> dict[str, Drawing]:
    """The orthosis's part of the moments with the last sort of joint; no figure without one."""
    sort, last = list(found.trials.items())[-1]
    if not last.orthosis:
        return {}
    charts = []
    for name in (name for pair in found.ankles.values() for name in pair):
        title = name.replace("_angle", "").replace("_", " ")
        charts.append(chart(title, last.trial.t, found.moment(sort, name), found.orthosis_moment(sort, name)))
    shows = f"Moments of both hinges of each ankle ({sort}), with the part of the orthosis and what is left to muscles."
    return {"orthosis": Drawing(partial(plots.charts, charts, TIME), shows)}


def _residuals(found: AnkleComparison) -> list[plots.Chart]:
    """Residual of each coordinate of the pelvis."""
    first = next(iter(found.trials.values()))
    return [
        plots.Chart(
            residual.coordinate.replace("_", " "),
            f"[{residual.unit}]",
            {sort: (one.trial.t, one.residuals.of[k].values) for sort, one in found.trials.items()},
        )
        for k, residual in enumerate(first.residuals.of)
    ]
