"""Measurements of runs and evaluations in the coordinates of joints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.measure import BenchmarkError, Floats, seconds
from runtime import Status, System
from runtime.integrate import tree_loop
from runtime.integrate.methods import NONE, NONE2
from runtime.integrate.tree_method import InJointCoordinates

DURATION = 5e-3  # [s] of one measurement


def joint_run(
    system: System, t_end: float, tolerance: float, times: Floats = NONE, states: Floats = NONE2
) -> tuple[Callable[[], int], Callable[[], int]]:
    """As ``benchmarks.measure.compiled_run``, in the coordinates of the joints."""
    evaluations = 0

    def method() -> InJointCoordinates:
        return InJointCoordinates(
            system, system.data, system.state, 0.0, t_end, tolerance, tolerance, np.inf, 0.0
        )  # fmt: skip

    m = method()
    first = [array.copy() for array in (m.m.z, m.m.time, m.m.counts, m.m.flags)]

    def run() -> int:
        nonlocal evaluations
        for array, value in zip((m.m.z, m.m.time, m.m.counts, m.m.flags), first, strict=True):
            array[:] = value
        code = int(tree_loop.advance(m.m, m.data, m.work, *m.control, 1 << 40, times, states, NONE, NONE2))
        evaluations = m.counts()[0]
        return code

    if run() != Status.REACHED_END:
        raise BenchmarkError(f"{system.name}: the run in joint coordinates at {tolerance:g} did not reach {t_end:g} s")
    return run, lambda: evaluations


def joint_evaluation(system: System, repeats: int) -> tuple[float, Floats]:
    """Time of one evaluation inside compiled code [s], the least of several, and the angular accelerations of the links."""
    m = InJointCoordinates(system, system.data, system.state, 0.0, 1.0, 1e-9, 1e-9, np.inf, 0.0).m
    if tree_loop.stages_repeated(m, 10) != 0:  # loads the compiled code, too
        raise BenchmarkError(f"{system.name}: the coordinates of its joints depend on each other")
    count = max(1, int(DURATION / _estimate(m)))
    times = seconds({"": lambda: tree_loop.stages_repeated(m, count)}, repeats)
    return float(times[""].min()) / count, m.recursion.alpha[:-1].copy()


def _estimate(m: tree_loop.TreeMemory) -> float:
    return float(seconds({"": lambda: tree_loop.stages_repeated(m, 100)}, 3)[""].min()) / 100
