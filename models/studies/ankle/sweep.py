"""Other feet than the published one: the motion of the foot by its axes, the length of its link, its side and its size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models import foot
from models.foot_anatomy import FOOT_LENGTH, HEIGHT, MASS, size_of
from models.papers import cited
from models.studies import measures
from models.studies.ankle import sweep_figures
from models.studies.ankle.runs import ANKLES, BODY
from models.studies.ankle.varied import VARIED, Case, at_reference, hinges, reference_of
from models.studies.options import MAX_CASES, numbers
from runtime import ModelError, simulate
from runtime.report import Report, Table, write_report
from runtime.report.figure_files import FigureFiles
from runtime.results import write_dataset

LIMITS = ("none", "elastic", "dissipative")
Say = Callable[[str], None]


def grid_of(lists: Mapping[str, str | None]) -> dict[str, tuple[float, ...]]:
    """Values by keyword of ``models.foot.build``, from the texts of the options."""
    keywords = dict(zip(lists, VARIED, strict=True))
    return {keywords[name]: numbers(name, text) for name, text in lists.items() if text is not None}


def fixed_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of ``models.foot.build`` that all runs have, with its defaults for those that are None.

    Raises
    ------
    ModelError
        For unknown limits.
    """
    limits = options["limits"] or LIMITS[0]
    if limits not in LIMITS:
        raise ModelError(f"limits = {limits!r}; use {', '.join(LIMITS)}")
    defaults = dict(side="right", mass=MASS, height=HEIGHT, foot_length=None)
    given = {name: options[name] for name in defaults if options[name] is not None}
    return defaults | given | {"limits": None if limits == LIMITS[0] else limits}


def sweep(
    folder: Path,
    say: Say,
    grid: Mapping[str, Sequence[float]],
    fixed: Mapping[str, Any],
    *,
    t_end: float,
    tolerance: float,
    drawn: FigureFiles,
) -> Report:
    """Simulate both ankles for every combination of the varied values, and write tables, figures and data.

    Parameters
    ----------
    folder : Path
    say : callable(str)
    grid : mapping
        Keyword of ``models.foot.build`` in ``VARIED`` -> values.
    fixed : mapping
        Other keywords of ``models.foot.build``.
    t_end, tolerance : float [s], [1]
    drawn : FigureFiles
    """
    report = Report(
        "The foot of other axes, links and sizes, with either ankle: after Rodrigues da Silva et al. (2024a, 2024c)"
    )
    report.cite = cited("2024a", "2024c")
    cases = _cases(report, say, grid, fixed, t_end=t_end, rtol=tolerance, atol=tolerance)
    if not cases:
        raise ModelError("; ".join(report.failures))
    report.head = _head(fixed)
    report.tables.append(table(cases, grid))
    report.answer = answer(cases, grid)
    report.files.append(_dataset(cases, grid, folder))
    say("figures")
    drawn.add(sweep_figures.figures(cases, grid, reference_of(grid)))
    one = {f"{ANKLES[case.ankle]}{case.label}": case.run for case in cases}
    first = next(iter(one))
    drawn.add_motion(one[first], name=first, beside={name: run for name, run in one.items() if name != first})
    write_report(report, folder, figures=drawn)
    return report


def _cases(
    report: Report, say: Say, grid: Mapping[str, Sequence[float]], fixed: Mapping[str, Any], **how: Any
) -> list[Case]:
    """The runs; the classical ankle has no link and is simulated once for all lengths.  Failures go into the report."""
    wanted = []
    for ankle in ANKLES:
        own = {name: values for name, values in grid.items() if (ankle, name) != ("classical", "link_length")}
        wanted += [(ankle, dict(zip(own, values, strict=True))) for values in itertools.product(*own.values())]
    if len(wanted) > MAX_CASES:
        raise ModelError(
            f"{len(wanted)} combinations of the values, limit {MAX_CASES}; give fewer, or use runtime.simulate_many with "
            "models.foot.build"
        )
    systems = [foot.build(ankle, **values, **fixed) for ankle, values in wanted]  # type: ignore[arg-type]
    swept = " x ".join(f"{len(values)} {VARIED[name].column}" for name, values in grid.items() if len(values) > 1)
    say(f"{len(wanted)} runs of {how['t_end']:g} s, both ankles{': ' if swept else ''}{swept}")
    size, medial = (
        size_of(fixed["mass"], fixed["height"], fixed["foot_length"]),
        -1.0 if fixed["side"] == "left" else 1.0,
    )
    how["t_eval"] = measures.times(how["t_end"], measures.WRITTEN_PER_SECOND)
    found = []
    for (ankle, values), system in zip(wanted, systems, strict=True):
        case = Case(ankle, values, size, medial, simulate(system, **how))
        if case.run.success:
            found.append(case)
        else:
            report.failures.append(f"{ANKLES[ankle]}{case.label}: {case.run.message}")
    return found


def table(cases: Sequence[Case], grid: Mapping[str, Sequence[float]]) -> Table:
    """A row for each run."""
    columns = ["joint", *(VARIED[name].column for name in grid), *cases[0].measured]
    rows: list[list[Any]] = []
    for case in cases:
        varied = [round(VARIED[n].factor * case.values[n], 6) if n in case.values else None for n in grid]
        rows.append([case.ankle, *varied, *(round(value, 2) + 0.0 for value in case.measured.values())])
    note = (
        f"Centre of mass of {BODY}: x anterior, y medial on either side, z up; range: maximum minus minimum over the run.  "
        "Largest angles of the hinges.  The classical joint has no link, and one row for all lengths."
    )
    brief = [
        "joint",
        *(VARIED[name].column for name in grid),
        "y range [mm]",
        "mean y [mm]",
        "inversion [deg]",
        "eversion [deg]",
    ]
    return Table("other feet", columns, rows, note, brief=brief)


def answer(cases: Sequence[Case], grid: Mapping[str, Sequence[float]]) -> str:
    """The mediolateral range by each varied keyword, a sentence each; the others are nearest to the published foot."""
    sentences = []
    for name, values in grid.items():
        if len(values) < 2:
            continue
        parts = []
        for ankle in ANKLES:
            own = at_reference(cases, ankle, name, reference_of(grid))
            if len(own) > 1:
                own.sort(key=lambda case: case.measured["y range [mm]"])
                least, most = (
                    f"{case.measured['y range [mm]']:.1f} mm ({VARIED[name].shown(case.values[name])})"
                    for case in (own[0], own[-1])
                )
                parts.append(f"between {least} and {most} with the {ANKLES[ankle]}")
        words = VARIED[name].words
        sentences.append(f"By {words} the mediolateral range of the foot lies {' and '.join(parts)}.")
    for case in [] if sentences else cases:
        mean = case.measured["mean y [mm]"]
        sentences.append(
            f"With the {ANKLES[case.ankle]} the foot moves over {case.measured['y range [mm]']:.1f} mm from side to side; its "
            f"mean is {abs(mean):.1f} mm {'medial' if mean > 0 else 'lateral'}."
        )
    return "  ".join(sentences)


def _head(fixed: Mapping[str, Any]) -> dict[str, str]:
    """What all runs have in common."""
    size = size_of(fixed["mass"], fixed["height"], fixed["foot_length"])
    return {
        "side": fixed["side"],
        "mass": f"{fixed['mass']:g} kg",
        "height": f"{fixed['height']:g} m",
        "foot length": f"{FOOT_LENGTH * size.foot:.3g} m",
        "joint limits": fixed["limits"] or "none",
    }


def _dataset(cases: Sequence[Case], grid: Mapping[str, Sequence[float]], folder: Path) -> Path:
    """Write positions and angles of all runs by case and time."""
    import xarray

    angles = np.array([hinges(case.run) for case in cases])
    data = {
        "r": (("case", "time", "axis"), np.array([case.run.r[BODY] for case in cases]), {"units": "m", "body": BODY}),
        "dorsiflexion": (("case", "time"), angles[:, 0], {"units": "deg"}),
        "inversion": (("case", "time"), angles[:, 1], {"units": "deg"}),
    }
    varied = {
        name: (
            "case",
            [case.values.get(name, np.nan) for case in cases],
            {"units": "m" if name == "link_length" else "deg"},
        )
        for name in grid
    }
    coordinates = {"time": cases[0].run.t, "axis": list("xyz"), "ankle": ("case", [case.ankle for case in cases])}
    attributes = {"convention": cases[0].run.to_xarray().attrs["convention"], "model": cases[0].run.system.name}
    return write_dataset(xarray.Dataset(data, coordinates | varied, attributes), folder / "other_feet.nc")
