"""An orthosis by gradients against a grid of landings: the least of two stiffnesses that keeps inversion below a limit."""

from __future__ import annotations

import time

import numpy as np

import runtime
from benchmarks.measure import Answer, BenchmarkError, Say
from models.foot_orthosis import PRESETS
from models.studies.landing.runs import Case
from runtime import Run
from runtime.report import Report, Table

CASE, AFTER, LIMIT = Case(incline=20.0, height=0.05), 0.2, 4.5  # [deg] about the subtalar axis
TOLERANCE = 1e-7
NAMES = ("stiffness.orthosis_inversion", "stiffness.orthosis_rotation")
LARGEST = np.array(PRESETS["stiff"]["stiffness"])[1:]  # [N m/rad] that were measured, about both axes
EDGE, EDGE_QUICK = 320, 24  # points of the grid along each stiffness
STARTS = ((1.0, 1.0), (0.5, 0.8), (0.9, 0.2))  # of the search, as fractions of the largest stiffnesses
SAME, RUNS = 0.01, 30  # relative difference of the optima, and runs of a search, that are wanted
INVERSION = "min(angle.ankle.theta_i)"  # inversion is negative about this axis


def ask(*, quick: bool, say: Say) -> Answer:
    """Search by gradients from several starts, and simulate the grid."""
    system, times = CASE.build("modified", PRESETS["stiff"]), CASE.times(AFTER)
    end, limit = float(times[-1]), -np.deg2rad(LIMIT)

    def squares(run: Run) -> float:
        known = runtime.parameters(run.system)
        return float(sum((known[name] / most) ** 2 for name, most in zip(NAMES, LARGEST, strict=True)))

    rows, found = [], []
    for start in STARTS:
        say(f"search from {start} of the largest stiffnesses")
        begin = time.perf_counter()
        least = runtime.minimise(
            system, dict(zip(NAMES, LARGEST * start, strict=True)), end, squares,
            bounds={name: (0.0, most) for name, most in zip(NAMES, LARGEST, strict=True)},
            constraints={INVERSION: (limit, None)}, t_eval=times, rtol=TOLERANCE, atol=TOLERANCE, check_units=False,
        )  # fmt: skip
        seconds = time.perf_counter() - begin
        stiffness = [float(least.values[name]) for name in NAMES]
        inversion = -np.rad2deg(least.constraints[INVERSION])
        rows.append([f"gradients from {start}", *stiffness, least.objective, inversion, least.runs, seconds])
        found.append(least)
    edge = EDGE_QUICK if quick else EDGE
    say(f"grid of {edge**2} landings")
    shares = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, edge)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    begin = time.perf_counter()
    many = runtime.simulate_many(
        system, dict(zip(NAMES, (shares * LARGEST).T, strict=True)), end, t_eval=times, outputs={"inversion": INVERSION},
        rtol=TOLERANCE, atol=TOLERANCE, progress=False,
    )  # fmt: skip
    seconds = time.perf_counter() - begin
    if not many.success:
        raise BenchmarkError("a landing of the grid failed")
    peaks, cost = np.asarray(many["inversion"]), (shares**2).sum(axis=1)
    k = int(np.where(peaks >= limit, cost, np.inf).argmin())
    rows.append(
        [
            f"grid of {edge} x {edge}",
            *(shares[k] * LARGEST).tolist(),
            cost[k],
            -np.rad2deg(peaks[k]),
            len(cost),
            seconds,
        ]
    )
    report = Report("An orthosis by gradients against a grid of landings")
    best = min(each.objective for each in found)
    gap = abs(cost[k] / best - 1.0)
    columns = [
        "by", "against inversion [N m/rad]", "against rotation [N m/rad]", "sum of squares", "inversion [deg]", "runs",
        "time [s]",
    ]  # fmt: skip
    note = (
        f"Least sum of the squares of two stiffnesses, each by the largest that was measured, {LARGEST[0]:.1f} and "
        f"{LARGEST[1]:.1f} N m/rad, with which the foot inverts by at most {LIMIT:g} deg ({CASE.text()}). Runs of a search come "
        f"with their derivatives. Both take the largest inversion at the same {len(times)} times; tolerance {TOLERANCE:g}."
    )
    report.tables.append(Table("optima", columns, rows, note))
    most = max(each.runs for each in found)
    report.answer = (
        f"The least of the grid differs from that by gradients by {gap:.2%}; a search takes up to {most} runs."
    )
    if not all(each.success for each in found):
        report.failures.append(f"a search failed: {[each.message for each in found]}")
    if not quick and (gap > SAME or most >= RUNS):
        report.failures.append(f"wanted: {SAME:.0%} and fewer than {RUNS} runs")
    return Answer(report, {})
