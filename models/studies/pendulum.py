"""The spherical pendulum with joint limits: free, elastic and dissipative, and the effect of each parameter of the limit.

Rodrigues da Silva et al. (2024b), Section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models import pendulum
from models.papers import cited
from models.studies import measures
from runtime import Cone, Run, System, simulate
from runtime.figures import PNG, FigureFormat
from runtime.report import Report, Table, cone_plots, plots, write_report
from runtime.report.figure_files import Drawing, FigureFiles
from runtime.support import Beside

BODY, LIMIT = "rod", "pivot"
CASES: dict[str, dict[str, Any]] = {
    "free": {},
    "elastic": {"limits": "elastic"},
    "dissipative": {"limits": "dissipative"},
}
COMPLIANCES_DEG = (1.5, 6.5, 11.5, 16.5, 21.5)
MAX_MOMENTS = (126.0, 176.0, 226.0, 276.0, 326.0)  # [N m]
DAMPINGS = (0.10, 1.00, 3.39, 5.00, 10.00)  # [N m s]
COST_METHODS = ("BDF", "dop853")  # the family of the papers' integrator, and Talus's explicit method
DIRECTIONS = ("horizontal, x", "horizontal, y", "up")
TOP_VIEW_SECONDS = 2.0  # the paper shows the first two seconds of the parameter studies
PAPER = "Rodrigues da Silva et al. (2024b)"


def build(case: str) -> System:
    """The spherical pendulum of a case; all cases have the same release."""
    return pendulum.build("spherical", longitude=pendulum.RELEASE_LONGITUDE, **CASES[case])


def by_compliance(degrees: float) -> System:
    """Elastic limits with another compliance [deg]."""
    return pendulum.build(limits="elastic", compliance=float(np.deg2rad(degrees)))


def by_max_moment(moment: float) -> System:
    """Elastic limits with another maximum moment [N m]."""
    return pendulum.build(limits="elastic", max_moment=moment)


def by_damping(damping: float) -> System:
    """Dissipative limits with another damping coefficient [N m s]."""
    return pendulum.build(limits="dissipative", damping=damping)


def run_all(builds: Mapping[str, System], t_end: float, tolerance: float) -> dict[str, Run]:
    """Simulate systems by label."""
    settings: dict[str, Any] = dict(
        t_eval=measures.times(t_end), rtol=tolerance, atol=tolerance, coordinates=measures.EQUATIONS
    )
    return {label: simulate(system, t_end, **settings) for label, system in builds.items()}


def seen(runs: Mapping[str, Run]) -> dict[str, Run]:
    """The same runs; those without limits are measured by the cone that the others have."""
    measure = pendulum.build(limits="elastic")
    return {label: run if run.system.limits else measures.seen_by(run, measure) for label, run in runs.items()}


def first_excess(run: Run) -> tuple[float, float, float]:
    """Latitude, longitude and excess [deg] where the rod is farthest beyond its cone for the first time."""
    begin, end = measures.excursions(run, LIMIT)[0]
    motion = run.limits[LIMIT]
    during = (run.t >= begin) & (run.t <= end)
    n = int(np.argmax(np.where(during, motion.latitude, 0.0)))
    found = motion.latitude[n], motion.longitude[n], motion.latitude[n] - motion.maximum_latitude[n]
    return float(np.rad2deg(found[0])), float(np.rad2deg(found[1])), float(np.rad2deg(found[2]))


def cases(t_end: float, tolerance: float) -> dict[str, Run]:
    """Runs of the three cases."""
    return run_all({case: build(case) for case in CASES}, t_end, tolerance)


def studies(t_end: float, tolerance: float) -> dict[str, dict[str, Run]]:
    """Runs of the studies of compliance, maximum moment and damping, by study and label."""
    builds: dict[str, dict[str, System]] = {
        "compliance": {f"{c:g}°": by_compliance(c) for c in COMPLIANCES_DEG},
        "max_moment": {f"{m:g} N m": by_max_moment(m) for m in MAX_MOMENTS},
        "damping": {f"{j:.2f} N m s": by_damping(j) for j in DAMPINGS},
    }
    return {name: run_all(systems, t_end, tolerance) for name, systems in builds.items()}


def evaluations(systems: Mapping[str, System], seconds: float, tolerance: float) -> dict[str, dict[str, Run]]:
    """Runs by label and method, without output between the steps, to count evaluations."""
    return {
        label: {
            m: simulate(system, seconds, method=m, rtol=tolerance, atol=tolerance, coordinates=measures.EQUATIONS)
            for m in COST_METHODS
        }
        for label, system in systems.items()
    }


def study(
    folder: Path,
    say: Callable[[str], None],
    *,
    t_end: float = 5.0,
    tolerance: measures.Tolerance = 1e-10,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Simulate a pendulum with joint limits.  Varies compliance, maximum moment, damping (Rodrigues da Silva et al. 2024b).

    Parameters
    ----------
    folder : Path
        Where tables, figures and data are written.
    say : callable(str)
        Receives a line for each stage of the work.
    t_end : float [s]
        Simulated time.
    tolerance : float
        Relative and absolute tolerance of the integration.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    drawn = FigureFiles(folder, figure_format)
    report = Report("A spherical pendulum with joint limits: Rodrigues da Silva et al. (2024b), Section 4")
    simulate(build("elastic"), 0.01)  # compiles, so that the runs below are timed without compilation

    systems = {case: build(case) for case in CASES}
    costing = Beside(partial(evaluations, systems, t_end, tolerance))

    say(f"three cases: {', '.join(CASES)}; {t_end:g} s at tolerance {tolerance:g}")
    three = cases(t_end, tolerance)
    report.files += [measures.thinned(run).to_netcdf(folder / f"{case}.nc") for case, run in three.items()]
    if measures.complete(report, three):
        report.answer = _answer(three)
        report.tables.append(_facts("cases", three))
        drawn.add(_figures_of_cases(three))
        first, *others = three
        drawn.add_motion(three[first], name=first, beside={case: three[case] for case in others})

    say("studies of compliance, maximum moment and damping")
    by_parameter = studies(t_end, tolerance)
    say("cost: function evaluations")
    costs = costing.result()
    counted = {f"cost, {case}, {method}": run for case, of in costs.items() for method, run in of.items()}
    if measures.complete(report, counted):
        report.tables.append(_cost_table(costs, t_end, tolerance))
        drawn.add(_figure_of_costs(costs))
    drawn.add(_figures_of_law())
    for number, (name, runs) in zip((23, 25, 26), by_parameter.items(), strict=True):
        if measures.complete(report, {f"{name} {label}": run for label, run in runs.items()}):
            report.tables.append(_facts(f"study of {name.replace('max_', 'maximum ')}", runs))
            drawn.add(_figures_by(name, runs, number))

    report.cite = cited("2024b")
    say("figures")
    write_report(report, folder, figures=drawn)
    return report


def _answer(three: Mapping[str, Run]) -> str:
    excess = {case: float(np.rad2deg(run.limits[LIMIT].excess.max())) for case, run in seen(three).items()}
    lost = {case: float(run.energy[0] - run.energy[-1]) for case, run in three.items()}
    free, elastic, dissipative = CASES
    return (
        f"Without limits the rod goes {excess[free]:.1f} deg beyond its cone; elastic limits hold it within "
        f"{excess[elastic]:.1f} deg, dissipative ones within {excess[dissipative]:.1f} deg.  The dissipative limit takes "
        f"{lost[dissipative]:.3g} J; without damping the energy changes by no more than "
        f"{max(abs(lost[free]), abs(lost[elastic])):.1g} J."
    )


def _facts(title: str, runs: dict[str, Run]) -> Table:
    rows = []
    for label, run in seen(runs).items():
        motion, limited = run.limits[LIMIT], bool(runs[label].system.limits)
        outside = measures.excursions(run, LIMIT)
        energy = runs[label].energy
        values: dict[str, Any] = {
            "": label,
            "first outside [s]": outside[0][0] if outside else None,
            "excursions": len(outside),
            "largest excess [deg]": float(np.rad2deg(motion.excess.max())),
            "elastic moment [N m]": float(motion.restricting_moment.max()) if limited else None,
            "viscous moment [N m]": float(motion.dissipative_moment.max()) if limited else None,
            **{f"x {end} [mm]": 1000 * v for end, v in zip(("min", "max"), measures.extent(run, BODY, 0), strict=True)},
            "energy lost [J]": float(f"{energy[0] - energy[-1]:.2g}"),
        }
        rows.append(values)
    columns = [c for c in rows[0] if c != "viscous moment [N m]" or any(row[c] for row in rows)]
    note = (
        "Outside: of the cone.  Excursions: how often the rod leaves the cone.  Elastic and viscous moment: largest "
        "restricting_moment and dissipative_moment of run.limits.  Energy lost: between the start and "
        f"{next(iter(runs.values())).t[-1]:g} s, the energy stored in the limit included."
    )
    return Table(title, columns, [[row[c] for c in columns] for row in rows], note)


def _cost_table(costs: dict[str, dict[str, Run]], seconds: float, tolerance: float) -> Table:
    rows = [
        [case, method, run.stats.evaluations, run.stats.steps, run.stats.rejections, 1000 * run.stats.wall_time]
        for case, by_method in costs.items()
        for method, run in by_method.items()
    ]
    spin = float(np.linalg.eigvalsh(build("free").bodies[0].inertia)[0])
    words = []
    for method in COST_METHODS:
        order = sorted(costs, key=lambda case: costs[case][method].stats.evaluations)
        words.append(f"{method}: {' < '.join(order)}")
    note = (
        f"Order of the evaluations, {'; '.join(words)}.  Rodrigues da Silva et al. (2024b): dissipative < free < elastic.  "
        f"{seconds:g} s at tolerance {tolerance:g}.  The damping acts also on the rod's spin about its axis, which decays with a "
        f"time constant of {1e6 * spin / pendulum.DAMPING:.0f} microseconds: an explicit method needs steps of that length, an "
        "implicit one does not."
    )
    return Table("cost", ["case", "method", "evaluations", "steps", "rejected", "time [ms]"], rows, note)


def law_curve(compliance: float, max_moment: float) -> tuple[np.ndarray, np.ndarray]:
    """Excess [deg] and restricting moment [N m] that the limit applies, (n,) each.

    Computed from a run of a planar pendulum that is thrown beyond its limit.
    """
    regular = Cone.from_degrees((0, 90, 180, 270, 360), (20, 20, 20, 20, 20))
    system = pendulum.build(
        "planar",
        limits="elastic",
        cone=regular,
        compliance=compliance,
        max_moment=max_moment,
        angle=0.0,
        omega=(0, 40, 0),
    )
    run = simulate(system, 0.025, t_eval=np.linspace(0.0, 0.025, 501))
    motion = run.limits[LIMIT]
    last = int(np.argmax(motion.excess))
    return np.rad2deg(motion.excess[: last + 1]), motion.restricting_moment[: last + 1]


def _cone() -> Cone:
    return build("elastic").limits[0].cone


def _figures_of_cases(three: dict[str, Run]) -> dict[str, Drawing]:
    limited = {case: run for case, run in three.items() if case != "free"}
    return {
        "positions": Drawing(
            partial(plots.over_time, three, {f"{c} [m]": partial(_coordinate, axis) for axis, c in enumerate(DIRECTIONS)}),
            "Position of the rod's centre of mass over time in each case.", f"{PAPER}, Fig. 17",
        ),
        "latitude": Drawing(
            partial(cone_plots.latitudes, seen(three), LIMIT),
            "Latitude of the rod and largest latitude that the cone permits at its longitude, over time in each case.",
            f"{PAPER}, Fig. 18a",
        ),
        "top_view": Drawing(
            partial(cone_plots.top_view, seen(three), {LIMIT: _cone()}, zooms={LIMIT: (315.0, 45.0, 12.0)}),
            "Direction of the rod in the cone, seen from above, in each case.", f"{PAPER}, Fig. 18b",
        ),
        "moments": Drawing(
            partial(cone_plots.moments, limited, (LIMIT,)),
            "Dissipative and restricting moment of the limit over time.", f"{PAPER}, Fig. 19",
        ),
        "energy": Drawing(
            partial(plots.mechanical_energies, {"spherical pendulum": three}),
            "Mechanical energy of each case, without and with the energy stored in the limit.", f"{PAPER}, Fig. 20",
        ),
    }  # fmt: skip


def _figure_of_costs(costs: dict[str, dict[str, Run]]) -> dict[str, Drawing]:
    return {
        "evaluations": Drawing(
            partial(
                plots.bars, COST_METHODS,
                {"": {case: [run.stats.evaluations for run in runs.values()] for case, runs in costs.items()}},
                "function evaluations",
            ),
            "Function evaluations by case and method.", f"{PAPER}, Fig. 21",
        ),
    }  # fmt: skip


def _figures_of_law() -> dict[str, Drawing]:
    return {
        "law_by_compliance": Drawing(
            partial(
                plots.curves, {f"{c:g}°": law_curve(np.deg2rad(c), pendulum.MAX_MOMENT) for c in COMPLIANCES_DEG},
                "excess over the cone [deg]", "restricting moment [N m]",
            ),
            "Restricting moment over the excess for each compliance.", f"{PAPER}, Fig. 22",
        ),
        "law_by_max_moment": Drawing(
            partial(
                plots.curves, {f"{m:g} N m": law_curve(pendulum.COMPLIANCE, m) for m in MAX_MOMENTS},
                "excess over the cone [deg]", "restricting moment [N m]",
            ),
            "Restricting moment over the excess for each maximum moment.", f"{PAPER}, Fig. 24",
        ),
    }  # fmt: skip


def _figures_by(name: str, runs: dict[str, Run], number: int) -> dict[str, Drawing]:
    """Figures of the runs in which one parameter varies; ``number`` of the paper's figure."""
    x: dict[str, Callable[[Run], Any]] = {f"{DIRECTIONS[0]} [m]": partial(_coordinate, 0)}
    restricting = {"restricting\nmoment [N m]": lambda run: run.limits[LIMIT].restricting_moment}
    dissipative = {"dissipative\nmoment [N m]": lambda run: run.limits[LIMIT].dissipative_moment}
    energy = {"mechanical\nenergy [J]": measures.mechanical}
    firsts = [excursion for run in runs.values() for excursion in measures.excursions(run, LIMIT)[:1]]
    span = (min(begin for begin, _ in firsts) - 0.01, max(end for _, end in firsts) + 0.01) if firsts else None
    quantities = x | restricting | (dissipative | energy if name == "damping" else {})
    words = name.replace("max_", "maximum ")
    motion = Drawing(
        partial(plots.over_time, runs, quantities, span=span),
        f"Motion and moments over time for each {words}, over the whole run and during the first excursion.",
        f"{PAPER}, Fig. {number}",
    )
    top_view = Drawing(
        partial(
            cone_plots.top_view, runs, {LIMIT: _cone()}, until=TOP_VIEW_SECONDS, zooms={LIMIT: (315.0, 45.0, 12.0)}
        ),
        f"Direction of the rod in the cone, seen from above, for each {words}.",
        f"{PAPER}, Fig. {number}c",
    )
    return {f"motion_by_{name}": motion, f"top_view_by_{name}": top_view}


def _coordinate(axis: int, run: Run) -> np.ndarray:
    return run.r[BODY][:, axis]
