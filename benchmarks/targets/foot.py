"""Accuracy and speed of both feet without limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import runtime
from benchmarks.measure import (
    ANKLES,
    Say,
    compiled_run,
    evaluation_time,
    exact,
    foot,
    position_error,
    reference_error,
    seconds,
    succeeded,
)
from benchmarks.targets.target import DURATION, OUTPUTS, REPEATS, TOLERANCE, Target

ERROR = 1e-9  # [m] of the run by the whole-model kernel


def accuracy(quick: bool, say: Say) -> Iterator[Target]:
    """Both feet at default settings."""
    times = np.linspace(0.0, DURATION, OUTPUTS)
    for ankle in ANKLES:
        system = foot(ankle)
        run = succeeded(runtime.simulate(system, DURATION, t_eval=times, progress=False), system.name)
        reference = exact(system, times)
        bound = reference_error(system, reference)
        yield Target(
            f"{ankle} foot, position", position_error(run, reference) + bound, 1e-9, "m",
            f"default settings, {DURATION:g} s, {OUTPUTS} times, main foot, against dop853 at 1e-14; {bound:.1e} m, by which "
            "SciPy's DOP853 at 3e-14 differs from that, is added",
        )  # fmt: skip
        drift = float(np.abs(run.energy - run.energy[0]).max())
        yield Target(f"{ankle} foot, energy", drift, 1e-8, "J", "same run: largest |E - E(0)|")
        yield Target(
            f"{ankle} foot, |Phi|", float(run.violation.max()), 1e-10, "SI", "same run: largest row, in its own unit"
        )


def speed(quick: bool, say: Say) -> Iterator[Target]:
    """Times of whole runs and of one evaluation, warm."""
    times = np.linspace(0.0, DURATION, OUTPUTS)
    options: dict[str, Any] = dict(rtol=TOLERANCE, atol=TOLERANCE, progress=False)
    for ankle in ANKLES:
        system = foot(ankle)
        bare, _ = compiled_run(system, DURATION, TOLERANCE, whole=True)
        compiled, _ = compiled_run(system, DURATION, TOLERANCE, times, whole=True)
        measured = seconds(
            {
                "bare": bare,
                "ended": lambda s=system: runtime.simulate(s, DURATION, t_eval=[DURATION], **options),  # type: ignore[misc]
                "compiled": compiled,
                "simulate": lambda s=system: runtime.simulate(s, DURATION, t_eval=times, **options),  # type: ignore[misc]
            },
            5 if quick else REPEATS,
        )
        least = {name: 1e3 * float(values.min()) for name, values in measured.items()}
        median = {name: 1e3 * float(np.median(values)) for name, values in measured.items()}
        yield Target(
            f"{ankle} foot, 5 s compiled", least["bare"], 15.0, "ms",
            f"tolerance {TOLERANCE:g}, integration loop alone, warm, no outputs", median["bare"],
        )  # fmt: skip
        yield Target(
            f"{ankle} foot, 5 s from Python", least["ended"], 15.0, "ms",
            "runtime.simulate with the end as its only output", median["ended"],
        )  # fmt: skip
        extra = 1e3 * float(np.median(measured["simulate"] - measured["compiled"]))
        yield Target(
            f"{ankle} foot, simulate less compiled", least["simulate"] - least["compiled"], 2.0, "ms",
            f"{OUTPUTS} outputs: least time of runtime.simulate ({least['simulate']:.2f} ms) less that of the compiled run "
            f"with the same outputs ({least['compiled']:.2f} ms); median of the differences", extra,
        )  # fmt: skip
        yield Target(
            f"{ankle} foot, one evaluation", 1e6 * evaluation_time(system, 5 if quick else REPEATS), 4.0, "us",
            "equations.derivative_repeated by the joints' kernels, least of several",
        )  # fmt: skip
        yield Target(
            f"{ankle} foot, one evaluation, whole model", 1e6 * evaluation_time(system, 5 if quick else REPEATS, whole=True),
            0.4, "us", "the same by the whole-model kernel",
        )  # fmt: skip


def time_to_error(quick: bool, say: Say) -> Iterator[Target]:
    """Whole-model kernel: time to an error."""
    system, times = foot("modified"), np.linspace(0.0, DURATION, OUTPUTS)
    reference, tolerance, error = exact(system, times), 1e-8, np.inf
    while True:
        run = succeeded(
            runtime.simulate(system, DURATION, t_eval=times, rtol=tolerance, atol=tolerance, progress=False),
            system.name,
        )
        error = position_error(run, reference)
        if error <= ERROR:
            break
        tolerance *= 0.8
    bare, evaluations = compiled_run(system, DURATION, tolerance, whole=True)
    took = 1e3 * seconds({"": bare}, 5 if quick else REPEATS)[""]
    yield Target(
        "modified foot, 5 s to 1e-9 m", float(took.min()), 1.0, "ms",
        f"tolerance {tolerance:.2g}, whose error at {OUTPUTS} times is {error:.1e} m; {evaluations()} evaluations, without "
        "outputs", float(np.median(took)),
    )  # fmt: skip
