"""Cost of the modified universal joint against the classical one, by method and tolerance.

Function evaluations come first, because they are the measure of Rodrigues da Silva et al. (2024a), Fig. 18 (1 s of motion).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import runtime
from benchmarks.measure import (
    ANKLES,
    Answer,
    BenchmarkError,
    Say,
    evaluation_times,
    exact,
    foot,
    position_error,
    seconds,
)
from runtime import System
from runtime.jit.python_code import python_code
from runtime.report import Report, Table, lines, panels

IN_JOINTS = "dop853, joint"  # in joint coordinates; the others integrate the papers' equations
METHODS = {
    "dop853": "DOP853, compiled",
    IN_JOINTS: "DOP853, compiled, joint coordinates",
    "RK45": "RK45, SciPy",
    "BDF": "BDF, SciPy",
    "Radau": "Radau, SciPy",
    "LSODA": "LSODA, SciPy",
}
MARKERS = "oPsD^v"
KERNELS = ("phi", "jacobian", "gamma", "evaluate")


@dataclass(frozen=True)
class Cases:
    """Which runs are made: durations [s], the longest of which is the main one, tolerances, and runs timed each."""

    durations: tuple[float, ...] = (1.0, 5.0)
    tolerances: tuple[float, ...] = (1e-6, 1e-8, 1e-10)
    repeats: int = 5


FULL = Cases()
QUICK = Cases(durations=(0.2, 0.5), tolerances=(1e-5, 1e-7), repeats=2)
SLOW = 0.2  # [s] longer runs are timed only three times
ENOUGH = 1e-8  # [m] an error that is small enough for a study


@dataclass(frozen=True)
class Measured:
    """One run."""

    duration: float  # [s]
    method: str
    tolerance: float
    ankle: str
    evaluations: int
    steps: int
    rejections: int | None
    time: float  # [s] the least of several
    error: float  # [m] of the main foot's position

    @property
    def time_per_evaluation(self) -> float:
        """[s], all of the method's own work included."""
        return self.time / self.evaluations


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure all cases; tables of runs, of ratios and of operations, and their figures."""
    cases = QUICK if quick else FULL
    report = Report("Cost of the ankle: classical against modified universal joint")
    runs: list[Measured] = []
    systems = {ankle: foot(ankle) for ankle in ANKLES}
    for duration in cases.durations:
        for method in METHODS:
            say(f"{duration:g} s of motion, {METHODS[method]}")
            for tolerance in cases.tolerances:
                try:
                    runs += measure(systems, duration, method, tolerance, cases.repeats)
                except BenchmarkError as error:
                    report.failures.append(str(error))
    longest = max(cases.durations)
    for duration in sorted(cases.durations, reverse=True):
        report.tables.append(_runs_table(runs, duration))
    ratios, operations = _ratios(runs), operation_counts(systems)
    report.tables += [_ratios_table(ratios, runs, longest), _operations_table(operations, systems)]
    middle = cases.tolerances[len(cases.tolerances) // 2]
    figures = {"cost": _work_precision(runs, longest), "evaluations": _bars(runs, cases.durations, middle)}
    return Answer(report, figures)


def measure(systems: dict[str, System], duration: float, method: str, tolerance: float, repeats: int) -> list[Measured]:
    """One method at one tolerance, for both ankles in turn.

    Raises
    ------
    BenchmarkError
    """
    options: dict[str, Any] = dict(
        method=method.partition(",")[0], rtol=tolerance, atol=tolerance, progress=False,
        coordinates="joint" if method == IN_JOINTS else "absolute",
    )  # fmt: skip
    first = {}
    for ankle, system in systems.items():
        first[ankle] = runtime.simulate(system, duration, **options)
        if not first[ankle].success:
            raise BenchmarkError(f"{system.name}, tolerance {tolerance:g}: {first[ankle].message}")
    slowest = max(run.stats.wall_time for run in first.values())
    jobs = {ankle: lambda s=system: runtime.simulate(s, duration, **options) for ankle, system in systems.items()}  # type: ignore[misc]
    times = seconds(jobs, repeats if slowest < SLOW else min(repeats, 3))
    return [
        Measured(
            duration, method, tolerance, ankle, run.stats.evaluations, run.stats.steps, run.stats.rejections,
            float(times[ankle].min()), position_error(run, exact(systems[ankle], run.t)),
        )
        for ankle, run in first.items()
    ]  # fmt: skip


def operation_counts(systems: dict[str, System]) -> dict[str, dict[str, int]]:
    """Operations of the kernels of each ankle's joint, as the generated modules state them."""
    counts: dict[str, dict[str, int]] = {}
    for ankle, system in systems.items():
        module = system.joint("ankle").module
        sources = {kernel: inspect.getsource(python_code(getattr(module, kernel))) for kernel in KERNELS}
        stated = {kernel: re.search(r"(\d+) operations\.", source) for kernel, source in sources.items()}
        counts[ankle] = {kernel: int(found[1]) for kernel, found in stated.items() if found}
    return counts


def _pairs(runs: Sequence[Measured]) -> list[tuple[Measured, Measured]]:
    """Runs that differ in the ankle only: classical, modified."""
    key = lambda run: (run.duration, run.method, run.tolerance)  # noqa: E731
    modified = {key(run): run for run in runs if run.ankle == "modified"}
    return [(run, modified[key(run)]) for run in runs if run.ankle == "classical"]


def _ratios(runs: Sequence[Measured]) -> list[list[Any]]:
    return [
        [
            c.duration, c.method, c.tolerance, m.evaluations / c.evaluations, m.steps / c.steps,
            m.time_per_evaluation / c.time_per_evaluation, m.time / c.time, m.error / c.error,
        ]
        for c, m in _pairs(runs)
    ]  # fmt: skip


def _runs_table(runs: Sequence[Measured], duration: float) -> Table:
    rows = [
        [
            r.method, r.tolerance, r.ankle, r.evaluations, r.steps, r.rejections, 1e6 * r.time_per_evaluation,
            1e3 * r.time, r.error,
        ]
        for r in runs
        if r.duration == duration
    ]  # fmt: skip
    columns = ["method", "tol", "ankle", "evaluations", "steps", "rejected", "time each [us]", "time [ms]", "error [m]"]
    note = (
        "dop853 is compiled, also in joint coordinates; the others are SciPy's. Evaluations of the equations of motion, those "
        "for the exact Jacobians included; 'time each' is the time of the run by evaluations, the method's own work included; "
        "times are the least of several runs. The error is the largest distance of the main foot's centre of mass from a run at "
        "the tolerance 1e-14, over all steps. A dash: SciPy's BDF, Radau and LSODA do not count rejected steps."
    )
    brief = [column for column in columns if column not in ("steps", "rejected")]
    return Table(f"runs over {duration:g} s", columns, rows, note, brief)


def _ratios_table(ratios: list[list[Any]], runs: Sequence[Measured], duration: float) -> Table:
    columns = ["motion [s]", "method", "tol", "evaluations", "steps", "time each", "time", "error"]
    return Table("modified to classical", columns, ratios, " ".join(_findings(runs, duration)))


def _findings(runs: Sequence[Measured], duration: float) -> list[str]:
    """Findings of the tables, in sentences."""
    findings = []
    for length in sorted({run.duration for run in runs}, reverse=True):
        pairs = [pair for pair in _pairs(runs) if pair[0].duration == length and pair[0].method != IN_JOINTS]
        evaluations = np.array([m.evaluations / c.evaluations for c, m in pairs])
        time = np.array([m.time / c.time for c, m in pairs])
        findings.append(
            f"Over {length:g} s the modified joint takes {_compared(np.median(evaluations))} function evaluations "
            f"(median {np.median(evaluations):.3f} times, from {evaluations.min():.3f} to {evaluations.max():.3f}) "
            f"and {np.median(time):.3f} times the time."
        )
    findings.append(
        "In Rodrigues da Silva et al. (2024a), Fig. 18 (1 s, no limits of motion), the modified joint is slightly less efficient."
    )
    good = [run for run in runs if run.duration == duration and run.error <= ENOUGH]
    if good:
        few, fast = min(good, key=lambda run: run.evaluations), min(good, key=lambda run: run.time)
        findings.append(
            f"For an error of at most {ENOUGH:g} m over {duration:g} s the fewest evaluations are {few.evaluations} "
            f"({few.method} at {few.tolerance:g}, {few.ankle}) and the shortest time is {1e3 * fast.time:.2f} ms "
            f"({fast.method} at {fast.tolerance:g}, {fast.ankle})."
        )
    return findings


def _compared(ratio: float) -> str:
    """A ratio in words."""
    if abs(ratio - 1.0) < 0.005:
        return "as many"
    return f"{abs(ratio - 1.0):.1%} {'more' if ratio > 1.0 else 'fewer'}"


def _operations_table(counts: dict[str, dict[str, int]], systems: dict[str, System]) -> Table:
    classical, modified = (counts[ankle] for ankle in ANKLES)
    rows = [[kernel, classical[kernel], modified[kernel], modified[kernel] / classical[kernel]] for kernel in KERNELS]
    whole = {ankle: 1e6 * time for ankle, time in evaluation_times(systems).items()}
    note = (
        "Operations of the ankle joint's generated kernels; 'evaluate' is the one that the equations of motion call. A whole "
        f"evaluation inside compiled code takes {whole['classical']:.2f} us with the classical and {whole['modified']:.2f} us "
        f"with the modified joint, {whole['modified'] / whole['classical']:.3f} times as long."
    )
    return Table("operations", ["kernel", "classical", "modified", "ratio"], rows, note)


def _work_precision(runs: Sequence[Measured], duration: float) -> Any:
    """Evaluations and time against the error reached."""
    fig, axes = panels.figure(1, 2, width=5.2, height=4.4)
    for number, method in enumerate(METHODS):
        for ankle in ANKLES:
            chosen = [r for r in runs if (r.duration, r.method, r.ankle) == (duration, method, ankle)]
            style = dict(
                color=lines.COLOURS[number], marker=MARKERS[number], markersize=6, linewidth=1.2,
                linestyle="-" if ankle == "classical" else "--",
                markerfacecolor=lines.COLOURS[number] if ankle == "classical" else "white",
                label=f"{METHODS[method]}, {ankle}",
            )  # fmt: skip
            errors = [r.error for r in chosen]
            axes[0, 0].loglog(errors, [r.evaluations for r in chosen], **style)
            axes[0, 1].loglog(errors, [1e3 * r.time for r in chosen], **style)
    for ax, what in zip(axes[0], ("function evaluations", "time of the run [ms]"), strict=True):
        ax.set(xlabel="largest error of the main foot's position [m]", ylabel=what)
        ax.set_title(f"{duration:g} s of motion (better: right and down)", fontsize=10)
        ax.invert_xaxis()
    panels.legend(fig, axes[0, 0])
    return fig


def _bars(runs: Sequence[Measured], durations: Sequence[float], tolerance: float) -> Any:
    """Evaluations of both joints side by side, as in Rodrigues da Silva et al. (2024a), Fig. 18."""
    fig, axes = panels.figure(1, len(durations), width=5.2, height=3.8)
    for ax, duration in zip(axes[0], durations, strict=True):
        pairs = [pair for pair in _pairs(runs) if pair[0].duration == duration and pair[0].tolerance == tolerance]
        for number, ankle in enumerate(ANKLES):
            heights = [pair[number].evaluations for pair in pairs]
            bars = ax.bar(
                np.arange(len(pairs)) + 0.4 * (number - 0.5), heights, 0.38, color=lines.COLOURS[number], label=ankle
            )
            ax.bar_label(bars, [str(height) for height in heights], padding=2, fontsize=7, rotation=90)
        names = [f"{METHODS[c.method].replace(', ', chr(10))}\n×{m.evaluations / c.evaluations:.3f}" for c, m in pairs]
        ax.set_xticks(range(len(pairs)), names, fontsize=8)
        ax.set(ylabel="function evaluations", title=f"{duration:g} s of motion, tolerance {tolerance:g}")
        ax.margins(y=0.2)
        ax.set_axisbelow(True)
        ax.grid(False, axis="x")
        ax.set(xlabel="× modified to classical")
    panels.legend(fig, axes[0, 0])
    return fig
