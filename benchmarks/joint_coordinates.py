"""Measurements of runs and evaluations in the coordinates of joints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.measure import BenchmarkError, Floats, seconds
from runtime import Status, System
from runtime.dynamics.equations import derivative_repeated
from runtime.integrate import loop
from runtime.integrate.methods import NONE, NONE2
from runtime.integrate.tree_method import InJointCoordinates

DURATION = 5e-3  # [s] of one measurement


def row_length(system: System) -> int:
    """Length of a row of outputs in compiled code: the state, and the work of each source of energy."""
    m = InJointCoordinates(system, system.data, system.state, 0.0, 1.0, 1e-9, 1e-9, np.inf, 0.0)
    return len(m.row)


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
    arrays = (m.s.s, m.s.y, m.s.output, m.s.events, m.s.balance.energy, m.work.switches.mode)
    first = [array.copy() for array in arrays]
    control = (m.end, m.rtol, m.atol, m.max_step, 1 << 40)
    advance = loop.advance.bound(m.s, m.data, m.work)  # as runs are advanced

    def run() -> int:
        nonlocal evaluations
        for array, value in zip(arrays, first, strict=True):
            array[:] = value
        code = int(advance(*control, times, states, NONE, NONE2))
        evaluations = m.counts()[0]
        return code

    if run() != Status.REACHED_END:
        raise BenchmarkError(f"{system.name}: the run in joint coordinates at {tolerance:g} did not reach {t_end:g} s")
    return run, lambda: evaluations


def joint_evaluation(system: System, repeats: int) -> tuple[float, Floats]:
    """Time of one evaluation inside compiled code [s], the least of several, and the angular accelerations of the links."""
    m = InJointCoordinates(system, system.data, system.state, 0.0, 1.0, 1e-9, 1e-9, np.inf, 0.0)
    rates = np.empty_like(m.s.y)

    def evaluations(count: int) -> int:
        return int(derivative_repeated(0.0, m.s.y, m.data, m.work, rates, count))

    if evaluations(10) != 0:  # loads the compiled code, too
        raise BenchmarkError(f"{system.name}: the coordinates of its joints depend on each other")
    count = max(1, int(DURATION / (seconds({"": lambda: evaluations(100)}, 3)[""].min() / 100)))
    times = seconds({"": lambda: evaluations(count)}, repeats)
    return float(times[""].min()) / count, m.work.tree.recursion.alpha[:-1].copy()
