"""A foot with two axes lands on an incline, with and without an orthosis: classical beside modified ankle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models import foot
from models.foot_orthosis import orthosis_values
from models.papers import cited
from models.studies import measures
from runtime import Run, simulate
from runtime.report import Report, Table, plots, write_report
from runtime.report.figure_files import Drawing, FigureFiles

ANKLES = {"classical": "classical ankle", "modified": "modified ankle"}
SHARES = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)  # of the stiffness of the orthosis
IMPACT = 0.08  # [s] from the first touch-down, before the leg topples
NONE = "none"
SOURCE = (
    "B. R. Shuman, E. Russell Esposito: Multiplanar stiffness of commercial carbon composite ankle-foot orthoses, Journal of "
    "Biomechanical Engineering 144, 011004 (2021), doi 10.1115/1.4051845; stiffnesses of the orthoses."
)


@dataclass(frozen=True)
class Landing:
    """A run with its ankle, incline [deg] and share of the orthosis's stiffness."""

    ankle: str
    incline: float
    share: float
    run: Run

    @property
    def inversion(self) -> np.ndarray:
        """Angle about the subtalar axis (n,) [deg]."""
        return inversion(self.run)

    @property
    def peak(self) -> float:
        """Largest inversion within ``IMPACT`` of the first touch-down [deg]."""
        return peak_of(self.run)

    @property
    def most(self) -> float:
        """Largest inversion of the run [deg]."""
        return float(self.inversion.max())


def inversion(run: Run) -> np.ndarray:
    """Angle of the foot about the subtalar axis, positive in inversion, (n,) [deg]."""
    return -np.rad2deg(np.asarray(run.angles["ankle"].theta_i))


def peak_of(run: Run) -> float:
    """Largest inversion within ``IMPACT`` of the first touch-down [deg]."""
    begin = float(run.contact_events[0, 0]) if len(run.contact_events) else np.inf
    return float(inversion(run).max(initial=0.0, where=run.t <= begin + IMPACT))


def force_of(run: Run) -> np.ndarray:
    """Magnitude of the force of the ground (n,) [N]."""
    return np.asarray(np.linalg.norm(run.ground_reaction().force, axis=1))


def landing(
    folder: Path,
    say: Callable[[str], None],
    *,
    ankle: str,
    inclines: Sequence[float],
    orthosis: str,
    height: float,
    t_end: float,
    settings: Mapping[str, Any],
    drawn: FigureFiles,
) -> Report:
    """Drop both feet on each incline with shares of the stiffness of an orthosis, and write tables, figures and a motion.

    Parameters
    ----------
    folder : Path
    say : callable(str)
    ankle : str
        The ankle that the answer begins with and the animation shows.
    inclines : sequence of float [deg]
    orthosis : str
        Name of a preset, or "none".
    height, t_end : float [m], [s]
    settings : mapping
        Those of ``runtime.simulate``.
    drawn : FigureFiles
    """
    report = Report("A foot lands on an incline: the two-axis ankle with an orthosis")
    stiffness = None if orthosis == NONE else np.array(orthosis_values(orthosis)["stiffness"])
    shares = SHARES if stiffness is not None else SHARES[:1]
    ordered = sorted(ANKLES, key=lambda name: name != ankle)
    count = len(ordered) * len(inclines) * len(shares)
    say(f"{count} landings: both ankles, inclines: {len(inclines)}, stiffnesses: {len(shares)}")
    found: list[Landing] = []
    for name in ordered:
        for incline in inclines:
            for share in shares:
                worn = None if stiffness is None or share == 0.0 else {"stiffness": tuple(share * stiffness)}
                system = foot.build(
                    name, ground=True, leg="free", incline_deg=incline, clearance=height, limits="dissipative",  # type: ignore[arg-type]
                    toes="sprung", orthosis=worn, check_units=False,
                )  # fmt: skip
                run = simulate(system, t_end, t_eval=measures.times(t_end), **settings)
                label = f"{ANKLES[name]}, {incline:g} deg, {share:.0%} of the stiffness"
                if not run.success:
                    report.failures.append(f"{label}: {run.message}")
                elif not len(run.contact_events):
                    report.failures.append(f"{label}: the foot did not land within {t_end:g} s; give a longer --t-end")
                found.append(Landing(name, incline, share, run))
    report.tables.append(_table(found, stiffness))
    report.answer = _answer(found, orthosis)
    steepest = max(inclines, key=abs)
    shown = {_label(one, orthosis): one.run for one in found if one.incline == steepest and one.share in (0.0, 1.0)}
    for label, run in shown.items():
        report.files.append(measures.thinned(run).to_netcdf(folder / f"{label.replace(' ', '_').replace(',', '')}.nc"))
    say("figures")
    drawn.add(_figures(found, shown, orthosis, stiffness, steepest))
    first, *others = shown
    drawn.add_motion(shown[first], name=first, beside={label: shown[label] for label in others})
    report.cite = [*cited("2024a", "2024c", "2011"), *([SOURCE] if stiffness is not None else [])]
    write_report(report, folder, figures=drawn)
    return report


def _label(one: Landing, orthosis: str) -> str:
    return f"{orthosis if one.share else 'no'} orthosis, {ANKLES[one.ankle]}"


def _chosen(found: Sequence[Landing], **of: Any) -> list[Landing]:
    return [one for one in found if all(getattr(one, name) == value for name, value in of.items())]


def _answer(found: Sequence[Landing], orthosis: str) -> str:
    steepest = max((one.incline for one in found), key=abs)
    parts = []
    for name in dict.fromkeys(one.ankle for one in found):
        own = {one.share: one for one in _chosen(found, ankle=name, incline=steepest)}
        worn = f", {own[1.0].peak:.1f} and {own[1.0].most:.1f} deg with the orthosis '{orthosis}'" if 1.0 in own else ""
        parts.append(f"with the {ANKLES[name]} {own[0.0].peak:.1f} and {own[0.0].most:.1f} deg{worn}")
    return (
        f"Landing on an incline of {steepest:g} deg, the foot inverts about the subtalar axis, within {1000 * IMPACT:g} ms of "
        f"touch-down and in all: {'; '.join(parts)}."
    )


def _table(found: Sequence[Landing], stiffness: np.ndarray | None) -> Table:
    rows: list[list[Any]] = []
    for one in found:
        (bare,) = _chosen(found, ankle=one.ankle, incline=one.incline, share=0.0)
        worn = np.zeros(3) if stiffness is None else np.deg2rad(one.share * stiffness)
        rows.append(
            [
                ANKLES[one.ankle], one.incline, float(worn[1]), one.peak, one.peak - bare.peak, one.most,
                1000.0 * float(one.run.t[int(np.argmax(one.inversion))]), float(force_of(one.run).max()), *map(float, worn[::2]),
            ]
        )  # fmt: skip
    note = (
        f"Inversion about the subtalar axis.  Impact: largest within {1000 * IMPACT:g} ms of the first touch-down; change: "
        "against the foot without an orthosis; in all: largest of the run, in which the leg, which no muscle holds, topples, at "
        "this time.  Leg and foot bear no body.  The spheres of the sole lie in the midline, so that the foot has no width.  "
        "Forces are those among output times, a millisecond apart.  Stiffness: about the axes of the orthosis."
    )
    columns = ["ankle", "incline [deg]", "inversion [N m/deg]", "impact [deg]", "change [deg]", "in all [deg]", "at [ms]",
               "force [N]",
               "dorsiflexion [N m/deg]", "rotation [N m/deg]"]  # fmt: skip
    return Table("peak inversion", columns, rows, note)


def _figures(
    found: Sequence[Landing], shown: Mapping[str, Run], orthosis: str, stiffness: np.ndarray | None, steepest: float
) -> dict[str, Drawing]:
    drawings = {
        "inversion": Drawing(
            partial(
                plots.over_time, shown,
                {
                    "inversion about the\nsubtalar axis [deg]": inversion,
                    "force of the\nground [N]": force_of,
                },
            ),
            f"Inversion and force of the ground over time on an incline of {steepest:g} deg, for both ankles.",
        )
    }  # fmt: skip
    inclines, shares = (sorted({getattr(one, name) for one in found}) for name in ("incline", "share"))
    if len(inclines) > 1:
        drawings["peak_by_incline"] = Drawing(
            partial(
                plots.curves, _series(found, "incline", {"share": (shares[0], shares[-1])}, orthosis, 1.0),
                "incline [deg]", "inversion at impact [deg]",
            ),
            "Largest inversion at impact over the incline, with both ankles, without and with the orthosis.",
        )  # fmt: skip
    if stiffness is not None:
        drawings["peak_by_stiffness"] = Drawing(
            partial(
                plots.curves, _series(found, "share", {"incline": (steepest,)}, orthosis, np.deg2rad(stiffness[1])),
                "stiffness about the axis of inversion [N m/deg]", "inversion at impact [deg]",
            ),
            f"Largest inversion at impact over the stiffness of the orthosis on an incline of {steepest:g} deg.",
        )  # fmt: skip
    return drawings


def _series(
    found: Sequence[Landing], along: str, of: Mapping[str, Sequence[float]], orthosis: str, scale: Any
) -> dict[str, tuple[Any, Any]]:
    """Peak inversion over ``along`` for both ankles and each value of another attribute."""
    ((name, values),) = of.items()
    series = {}
    for ankle in ANKLES:
        for value in dict.fromkeys(values):
            own = sorted(_chosen(found, ankle=ankle, **{name: value}), key=lambda one: getattr(one, along))
            label = _label(own[0], orthosis) if name == "share" else ANKLES[ankle]
            series[label] = [float(scale * getattr(one, along)) for one in own], [one.peak for one in own]
    return series
