"""An ensemble on a graphics processor: one thread for each case, from the same generated source as everywhere.

The method and the control of its steps are those of ``runtime.integrate.batch``; only what is next to each other differs.  Imported
late, by those who ask for it.
"""

from __future__ import annotations

import math
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numba import cuda, float64

from runtime.dynamics.elimination import PIVOT_TOLERANCE
from runtime.dynamics.layout import STATE, P
from runtime.integrate.batch import (
    END,
    ERROR3,
    ERROR5,
    EVALUATIONS,
    FINISHED_CLOSE,
    NOT_FINITE,
    REJECTIONS,
    SINGULAR,
    SOUND,
    STEPS,
    STEPS_USED_UP,
)
from runtime.integrate.batch import SUMS as ALL_SUMS
from runtime.integrate.dop853 import EXTRA, FASTEST, ORDER, POWER, SAFETY, SLOWEST, STAGES, TABLE
from runtime.integrate.loop import (
    CLOSE_TO_SINGULAR,
    FAILED_NOT_FINITE,
    FAILED_SINGULAR,
    FINISHED,
    FIRST_ORDER,
    STEP_TOO_SMALL,
)
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError

THREADS = 64  # of a block
EPSILON = float(np.finfo(float).eps)


def refuse_without_device() -> None:
    """Say in a sentence that there is no graphics processor to run on."""
    if not cuda.is_available():
        raise ModelError(
            "engine='gpu': no CUDA device or driver was found; leave engine out to run on the processor's cores"
        )


def integrate(
    module: ModuleType, span: Floats, tolerances: Floats, steps: Floats, initial: Floats, constants: Floats, times: Floats,
    out: Floats, status: Ints, counts: Ints, reached: Floats,
) -> None:  # fmt: skip
    """Run all cases; the arguments are those of ``runtime.integrate.batch.integrate``."""
    kernel = _kernel(module)
    given = [cuda.to_device(a) for a in (ALL_SUMS, TABLE.dense, span, tolerances, steps, initial, constants, times)]
    results = [cuda.to_device(a) for a in (out, status, counts, reached)]
    blocks = -(-len(initial) // THREADS)
    kernel[blocks, THREADS](*given, *results)
    for found, to in zip(results, (out, status, counts, reached), strict=True):
        found.copy_to_host(to)


@cache
def _kernel(module: ModuleType) -> Any:
    """The kernel of a model."""
    n, size, bodies = STATE * module.BODIES, max(module.CONSTANTS, 1), module.BODIES
    stages = STAGES + 1 + EXTRA
    derivative = cuda.jit(device=True)(module.derivative.py_func)

    @cuda.jit(device=True)
    def evaluate(y, c, worst, out, sound):  # type: ignore[no-untyped-def]
        derivative(0, y, c, c, c, out, worst)
        if not worst[0, 0] < 1.0 / PIVOT_TOLERANCE**2 and sound == SOUND:
            return SINGULAR if worst[0, 0] == worst[0, 0] else NOT_FINITE
        return sound

    @cuda.jit(device=True)
    def stage(sums, row, k, y, h, to):  # type: ignore[no-untyped-def]
        for i in range(n):
            total = 0.0
            for q in range(STAGES + 1 + EXTRA):
                if sums[row, q] != 0.0:
                    total += sums[row, q] * k[q, i, 0]
            to[i, 0] = y[i, 0] + h * total

    @cuda.jit(device=True)
    def norm(values, less, scale, y, rtol, atol):  # type: ignore[no-untyped-def]
        total = 0.0
        for i in range(n):
            total += ((values[i, 0] - less * scale[i, 0]) / (atol + rtol * abs(y[i, 0]))) ** 2
        return math.sqrt(total / n)

    @cuda.jit(device=True)
    def normalise(y):  # type: ignore[no-untyped-def]
        for b in range(bodies):
            o = b * STATE + P
            total = 0.0
            for i in range(o, o + 4):
                total += y[i, 0] * y[i, 0]
            for i in range(o, o + 4):
                y[i, 0] /= math.sqrt(total)

    @cuda.jit(device=True)
    def errors(sums, row, k, y, end, rtol, atol):  # type: ignore[no-untyped-def]
        total = 0.0
        for i in range(n):
            v = 0.0
            for q in range(STAGES + 1):
                v += sums[row, q] * k[q, i, 0]
            v /= atol + rtol * max(abs(y[i, 0]), abs(end[i, 0]))
            total += v * v
        return total

    @cuda.jit
    def run(sums, polynomial, span, tolerances, steps, initial, constants, times, out, status, counts, reached):  # type: ignore[no-untyped-def]
        case = cuda.grid(1)
        if case >= initial.shape[0]:
            return
        finish, rtol, atol, max_step = span[1], tolerances[0], tolerances[1], steps[0]
        y, end = cuda.local.array((n, 1), float64), cuda.local.array((n, 1), float64)
        trial, k = cuda.local.array((n, 1), float64), cuda.local.array((stages, n, 1), float64)
        c, worst = cuda.local.array((size, 1), float64), cuda.local.array((1, 1), float64)
        dense = cuda.local.array(POWER, float64)
        for i in range(n):
            y[i, 0] = initial[case, i]
        for i in range(size):
            c[i, 0] = constants[case, i]
        time, output, rejected = span[0], 0, 0
        if times.shape[0] > 0 and times[0] == time:
            for i in range(n):
                out[case, 0, i] = y[i, 0]
            output = 1
        sound = evaluate(y, c, worst, k[0], SOUND)
        counts[case, EVALUATIONS] += 1
        start_worst = ever_worst = worst[0, 0]
        length = steps[1]
        if length == 0.0:
            d0, d1 = norm(y, 0.0, y, y, rtol, atol), norm(k[0], 0.0, y, y, rtol, atol)
            h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
            h = min(h, finish - time, max_step)
            for i in range(n):
                trial[i, 0] = y[i, 0] + h * k[0, i, 0]
            sound = evaluate(trial, c, worst, end, sound)
            counts[case, EVALUATIONS] += 1
            largest = max(d1, norm(end, 1.0, k[0], y, rtol, atol) / h)
            second = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / FIRST_ORDER)
            length = min(100.0 * h, second, max_step)
        while True:
            h = min(length, max_step)
            last = time + 1.01 * h >= finish
            if last:
                h = finish - time
            for q in range(1, STAGES):
                stage(sums, q, k, y, h, trial)
                sound = evaluate(trial, c, worst, k[q], sound)
                if worst[0, 0] > ever_worst:
                    ever_worst = worst[0, 0]
            stage(sums, END, k, y, h, end)
            e5, e3 = errors(sums, ERROR5, k, y, end, rtol, atol), errors(sums, ERROR3, k, y, end, rtol, atol)
            normalise(end)
            sound = evaluate(end, c, worst, k[STAGES], sound)
            counts[case, EVALUATIONS] += STAGES
            mixed = e5 + 0.01 * e3
            error = 0.0 if mixed == 0.0 else h * e5 / math.sqrt(mixed * n)
            if sound != SOUND or not error < np.inf:
                counts[case, REJECTIONS] += 1
                if h < 1e-10 * max(1.0, abs(time)):
                    status[case] = FAILED_SINGULAR if sound == SINGULAR else FAILED_NOT_FINITE
                    reached[case] = time
                    return
                sound, rejected, length = SOUND, 1, 0.1 * h
                continue
            factor = FASTEST if error == 0.0 else min(FASTEST, max(SLOWEST, SAFETY * error ** (-1.0 / ORDER)))
            if error > 1.0:
                counts[case, REJECTIONS] += 1
                rejected, length = 1, h * min(1.0, factor)
                if not length > 4.0 * EPSILON * max(abs(time), abs(finish)):
                    status[case], reached[case] = STEP_TOO_SMALL, time
                    return
                continue
            now = finish if last else time + h
            if output < times.shape[0] and times[output] < now:
                for q in range(STAGES + 1, stages):
                    stage(sums, q, k, y, h, trial)
                    sound = evaluate(trial, c, worst, k[q], sound)
                counts[case, EVALUATIONS] += EXTRA
            while output < times.shape[0] and times[output] <= now:
                x = (times[output] - time) / h
                for i in range(n):
                    delta = end[i, 0] - y[i, 0]
                    dense[0] = delta
                    dense[1] = h * k[0, i, 0] - delta
                    dense[2] = 2.0 * delta - h * (k[STAGES, i, 0] + k[0, i, 0])
                    for d in range(4):
                        value = 0.0
                        for q in range(stages):
                            value += polynomial[d, q] * k[q, i, 0]
                        dense[3 + d] = h * value
                    value = 0.0
                    for d in range(POWER - 1, -1, -1):
                        value = (value + dense[d]) * (x if (POWER - 1 - d) % 2 == 0 else 1.0 - x)
                    trial[i, 0] = end[i, 0] if times[output] == now else y[i, 0] + value
                normalise(trial)
                for i in range(n):
                    out[case, output, i] = trial[i, 0]
                output += 1
            for i in range(n):
                y[i, 0], k[0, i, 0] = end[i, 0], k[STAGES, i, 0]
            time, length = now, h * (min(1.0, factor) if rejected == 1 else factor)
            rejected = 0
            counts[case, STEPS] += 1
            if last or counts[case, STEPS] >= steps[2]:
                close = ever_worst > start_worst / CLOSE_TO_SINGULAR**2
                status[case] = STEPS_USED_UP if not last else FINISHED_CLOSE if close else FINISHED
                reached[case] = now
                return

    return run
