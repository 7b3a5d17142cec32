"""Figures of landings: over time, over each varied number, and over the stiffness of the orthosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from models.foot_muscles import NAMES
from models.studies.landing.runs import ANGLES, ANKLES, AT_REST, UNITS, Case, Landing, force_of, scales_of
from models.studies.landing.tables import worn
from runtime import Run
from runtime.report import plots
from runtime.report.figure_files import Drawing

QUANTITIES: Mapping[str, Any] = {
    **{
        label: lambda run, name=name, part=part: ANGLES[name].of(run)[part]
        for label, name, part in (
            ("inversion about the\nsubtalar axis [deg]", "subtalar", 0),
            ("inversion by\nthe ISB [deg]", "isb", 0),
            ("rate about the\nsubtalar axis [deg/s]", "subtalar", 1),
            ("rate by the\nISB [deg/s]", "isb", 1),
        )
    },
    "force of the\nground [N]": force_of,
}


def label_of(one: Landing, orthosis: str) -> str:
    """Orthosis, ankle and muscles in words."""
    muscles = ", with muscles" if one.case.muscles else ""
    return f"{'no' if one.scale is None else worn(orthosis, one.scale)} orthosis, {ANKLES[one.ankle]}{muscles}"


def figures(
    found: Sequence[Landing], shown: Mapping[str, Run], worst: Landing, varied: Sequence[str], orthosis: str, angle: str,
    limit: float | None, acting: Landing | None,
) -> dict[str, Drawing]:  # fmt: skip
    """The figures by file name, to be drawn when called; other numbers than the one of an axis are those of ``worst``.

    Gains of a reflex are compared for muscles at rest.
    ``acting``: the landing whose muscles are drawn.
    """
    drawings = {
        "inversion": Drawing(
            partial(plots.over_time, shown, QUANTITIES),
            f"Inversion, its rate and the force of the ground over time ({worst.case.text()}), for both ankles.  Outputs are a "
            "millisecond apart, between which the force may be larger.",
        )
    }
    title = f"peak inversion\n{ANGLES[angle].words} [deg]"
    for name in varied:
        case = replace(worst.case, co_activation=AT_REST) if name == "reflex" else worst.case
        series = _over(found, case, name, orthosis, angle)
        if not series:  # all of them failed
            continue
        x = next(iter(series.values()))[0]
        limits = {} if limit is None else {"limit": ([x[0], x[-1]], [limit, limit])}
        drawings[f"peak_by_{name}"] = Drawing(
            partial(plots.curves, series | limits, f"{name} [{UNITS[name]}]", title),
            f"Largest inversion over {name}, with both ankles, without and with the orthosis.",
        )
    if len(scales_of(found)) > 2:
        drawings["peak_by_stiffness"] = Drawing(
            partial(
                plots.curves, _over_stiffness(found, worst, angle), f"factor on the stiffness of {orthosis}", title
            ),
            "Largest inversion over the factor on the stiffness of the orthosis, with both ankles.",
        )
    for quantity, unit in (("activation", "1"), ("tension", "N")) if acting else ():
        curves = {name: (acting.run.t, getattr(acting.run.forces[name], quantity)) for name in NAMES}
        drawings[f"muscle_{quantity}"] = Drawing(
            partial(plots.curves, curves, "time [s]", f"{quantity} [{unit}]"),
            f"{quantity.capitalize()} of each muscle over time, {label_of(acting, orthosis)} ({acting.case.text()}).",
        )
    return drawings


def _over(
    found: Sequence[Landing], case: Case, name: str, orthosis: str, angle: str
) -> dict[str, tuple[list[float], list[float]]]:
    """Peaks over a number of a case, for each ankle without and with the stiffest orthosis."""
    scales, series = scales_of(found), {}
    for ankle in ANKLES:  # in the order of the figure over time, in which each has the same line
        for scale in dict.fromkeys((scales[0], scales[-1])):
            own = [
                one for one in found
                if (one.ankle, one.scale) == (ankle, scale)
                and replace(one.case, **{name: getattr(case, name)}) == case
            ]  # fmt: skip
            own.sort(key=lambda one: getattr(one.case, name))
            if own:
                x = [getattr(one.case, name) for one in own]
                series[label_of(own[0], orthosis)] = x, [one.peak(angle) for one in own]
    return series


def _over_stiffness(found: Sequence[Landing], worst: Landing, angle: str) -> dict[str, tuple[list[float], list[float]]]:
    """Peaks over the factor on the stiffness, for each ankle."""
    series = {}
    for ankle, words in ANKLES.items():
        own = [one for one in found if (one.ankle, one.case) == (ankle, worst.case) and one.scale is not None]
        series[words] = [float(one.scale) for one in own], [one.peak(angle) for one in own]  # type: ignore[arg-type]
    return series
