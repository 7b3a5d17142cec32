"""Cost of the modified universal joint against the classical one, by method and tolerance.

Function evaluations come first, because they are the measure of Rodrigues da Silva et al. (2024a), Fig. 18: 1 s of motion, free
and with elastic and dissipative joint limits.
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
from runtime.figures import lines, panels
from runtime.jit.python_code import python_code
from runtime.report import Report, Table

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
CASES = ("free", "elastic", "dissipative")
KERNELS = ("phi", "jacobian", "gamma", "evaluate")


@dataclass(frozen=True)
class Motion:
    """Motion of the foot: its case, "free" or that of its joint limits, and its duration [s]."""

    case: str
    duration: float

    def __str__(self) -> str:
        return f"{self.case}, {self.duration:g} s"


@dataclass(frozen=True)
class Cases:
    """Which runs are made: motions, the papers' three first, tolerances, and runs timed each."""

    motions: tuple[Motion, ...] = (*(Motion(case, 1.0) for case in CASES), Motion("free", 5.0))
    tolerances: tuple[float, ...] = (1e-6, 1e-8, 1e-10)
    repeats: int = 5


FULL = Cases()
QUICK = Cases(motions=tuple(Motion(case, 0.5) for case in CASES), tolerances=(1e-5, 1e-7), repeats=2)
SLOW = 0.2  # [s] longer runs are timed only three times
ENOUGH = 1e-8  # [m] an error that is small enough for a study


@dataclass(frozen=True)
class Measured:
    """One run."""

    motion: Motion
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
    for motion in cases.motions:
        systems = {ankle: foot(ankle, motion.case) for ankle in ANKLES}
        for method in METHODS:
            say(f"{motion}: {METHODS[method]}")
            for tolerance in cases.tolerances:
                try:
                    runs += measure(systems, motion, method, tolerance, cases.repeats)
                except BenchmarkError as error:
                    report.failures.append(str(error))
    free = {ankle: foot(ankle) for ankle in ANKLES}
    report.answer = _answer(runs, cases.motions)
    report.tables += [_ratios_table(runs, cases.motions), _operations_table(operation_counts(free), free)]
    report.tables += [_runs_table(runs, motion) for motion in cases.motions]
    middle = cases.tolerances[len(cases.tolerances) // 2]
    papers = cases.motions[: len(CASES)]
    return Answer(report, {"cost": _work_precision(runs, papers), "evaluations": _bars(runs, papers, middle)})


def measure(systems: dict[str, System], motion: Motion, method: str, tolerance: float, repeats: int) -> list[Measured]:
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
        first[ankle] = runtime.simulate(system, motion.duration, **options)
        if not first[ankle].success:
            raise BenchmarkError(f"{system.name}, tolerance {tolerance:g}: {first[ankle].message}")
    slowest = max(run.stats.wall_time for run in first.values())
    jobs = {
        ankle: lambda s=system: runtime.simulate(s, motion.duration, **options) for ankle, system in systems.items()
    }  # type: ignore[misc]
    times = seconds(jobs, repeats if slowest < SLOW else min(repeats, 3))
    return [
        Measured(
            motion, method, tolerance, ankle, run.stats.evaluations, run.stats.steps, run.stats.rejections,
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


def _pairs(runs: Sequence[Measured], motion: Motion) -> list[tuple[Measured, Measured]]:
    """Runs of a motion that differ in the ankle only: classical, modified."""
    of_ankle = {
        ankle: {(r.method, r.tolerance): r for r in runs if (r.motion, r.ankle) == (motion, ankle)} for ankle in ANKLES
    }
    return [(run, of_ankle["modified"][key]) for key, run in of_ankle["classical"].items()]


def _runs_table(runs: Sequence[Measured], motion: Motion) -> Table:
    rows = [
        [
            r.method, r.tolerance, r.ankle, r.evaluations, r.steps, r.rejections, 1e6 * r.time_per_evaluation,
            1e3 * r.time, r.error,
        ]
        for r in runs
        if r.motion == motion
    ]  # fmt: skip
    columns = ["method", "tol", "ankle", "evaluations", "steps", "rejected", "time each [us]", "time [ms]", "error [m]"]
    note = (
        "dop853 is compiled, also in joint coordinates; the others are SciPy's. Evaluations of the equations of motion, those "
        "for the exact Jacobians included; 'time each' is the time of the run by evaluations, the method's own work included; "
        "times are the least of several runs. The error is the largest distance of the main foot's centre of mass from a run at "
        "the tolerance 1e-14, over all steps. A dash: SciPy's BDF, Radau and LSODA do not count rejected steps."
    )
    brief = [column for column in columns if column not in ("steps", "rejected")]
    return Table(f"runs, {motion}", columns, rows, note, brief)


def _ratios_table(runs: Sequence[Measured], motions: Sequence[Motion]) -> Table:
    columns = ["motion", "method", "tol", "evaluations", "steps", "time each", "time", "error"]
    rows = [
        [
            str(motion), c.method, c.tolerance, m.evaluations / c.evaluations, m.steps / c.steps,
            m.time_per_evaluation / c.time_per_evaluation, m.time / c.time, m.error / c.error,
        ]
        for motion in motions
        for c, m in _pairs(runs, motion)
    ]  # fmt: skip
    brief = [column for column in columns if column not in ("steps", "time each")]
    return Table("modified to classical", columns, rows, " ".join(_fastest(runs, motion) for motion in motions), brief)


def _answer(runs: Sequence[Measured], motions: Sequence[Motion]) -> str:
    """Evaluations and time of the modified joint relative to the classical one, for each motion, beside the paper's finding."""
    found = []
    for motion in motions:
        pairs = [pair for pair in _pairs(runs, motion) if pair[0].method != IN_JOINTS]
        if pairs:
            evaluations = np.array([m.evaluations / c.evaluations for c, m in pairs])
            time = np.median([m.time / c.time for c, m in pairs])
            found.append(
                f"{motion}: {np.median(evaluations):.2f} ({evaluations.min():.2f} to {evaluations.max():.2f}), time {time:.2f}"
            )
    return (
        "Function evaluations of the foot with the modified joint, relative to the classical one (median and range over methods "
        f"and tolerances): {'; '.join(found)}. Rodrigues da Silva et al. (2024a), Fig. 18 (1 s): the modified joint is slightly "
        "less efficient when free, and the classical one clearly more efficient with elastic and dissipative joint limits."
    )


def _fastest(runs: Sequence[Measured], motion: Motion) -> str:
    """The cheapest run of a motion that is exact enough for a study, in a sentence."""
    good = [run for run in runs if run.motion == motion and run.error <= ENOUGH]
    if not good:
        return f"No run reaches an error of {ENOUGH:g} m ({motion})."
    few, fast = min(good, key=lambda run: run.evaluations), min(good, key=lambda run: run.time)
    return (
        f"For an error of at most {ENOUGH:g} m ({motion}) the fewest evaluations are {few.evaluations} ({few.method} at "
        f"{few.tolerance:g}, {few.ankle}) and the shortest time is {1e3 * fast.time:.2f} ms ({fast.method} at "
        f"{fast.tolerance:g}, {fast.ankle})."
    )


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


def _work_precision(runs: Sequence[Measured], motions: Sequence[Motion]) -> Any:
    """Evaluations and time against the error reached, for each motion."""
    fig, axes = panels.figure(len(motions), 2, width=5.2, height=3.6)
    for row, motion in zip(axes, motions, strict=True):
        for number, method in enumerate(METHODS):
            for ankle in ANKLES:
                chosen = [r for r in runs if (r.motion, r.method, r.ankle) == (motion, method, ankle)]
                style = lines.style(0, ankle) | dict(
                    marker=MARKERS[number], markersize=6, linewidth=1.2, label=f"{METHODS[method]}, {ankle}"
                )
                errors = [r.error for r in chosen]
                row[0].loglog(errors, [r.evaluations for r in chosen], **style)
                row[1].loglog(errors, [1e3 * r.time for r in chosen], **style)
        for ax, what in zip(row, ("function evaluations", "time of the run [ms]"), strict=True):
            ax.set(xlabel="largest error of the main foot's position [m]", ylabel=what)
            ax.set_title(f"{motion} (better: right and down)", fontsize=10)
            ax.invert_xaxis()
    panels.legend(fig, axes[0, 0])
    return fig


def _bars(runs: Sequence[Measured], motions: Sequence[Motion], tolerance: float) -> Any:
    """Evaluations with both joints, as in Rodrigues da Silva et al. (2024a), Fig. 18."""
    fig, axes = panels.figure(len(motions), 1, width=9.6, height=3.0)
    for ax, motion in zip(axes[:, 0], motions, strict=True):
        pairs = [pair for pair in _pairs(runs, motion) if pair[0].tolerance == tolerance]
        for number, ankle in enumerate(ANKLES):
            heights = [pair[number].evaluations for pair in pairs]
            places = np.arange(len(pairs)) + 0.4 * (number - 0.5)
            bars = ax.bar(places, heights, 0.38, label=ankle, **lines.fill(number, ankle))
            ax.bar_label(bars, [str(height) for height in heights], padding=2, fontsize=7)
        names = [f"{METHODS[c.method]}\n×{m.evaluations / c.evaluations:.3f}" for c, m in pairs]
        ax.set_xticks(range(len(pairs)), [name.replace(", joint", "\njoint") for name in names], fontsize=8)
        ax.set(ylabel="function evaluations", title=f"{motion}, tolerance {tolerance:g}; ×: modified to classical")
        ax.margins(y=0.2)
        ax.grid(False, axis="x")
    panels.legend(fig, axes[0, 0])
    return fig
