"""An ensemble on a graphics processor: one thread for each case, with the generated kernels of the CPU.

The method is that of ``runtime.integrate.batch``, the step control that of ``runtime.integrate.step_control``, compiled for the
device.  This module is imported only when it is asked for, since it needs CUDA.
"""

from __future__ import annotations

import math
from functools import cache
from types import ModuleType
from typing import Any

from numba import cuda, float64

from runtime.dynamics.elimination import PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.layout import OK, STATE, P
from runtime.dynamics.status import Status
from runtime.integrate import step_control
from runtime.integrate.batch import EVALUATIONS, REJECTIONS, STEPS
from runtime.integrate.batch_stages import END, ERROR3, ERROR5
from runtime.integrate.batch_stages import SUMS as ALL_SUMS
from runtime.integrate.dop853 import FASTEST, ORDER, POWER, SAFETY, SLOWEST
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.integrate.loop import CLOSE_TO_SINGULAR
from runtime.integrate.step_control import ACCEPTED, NO_LIMIT, REJECTED
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError

THREADS = 64  # of a block


def refuse_without_device() -> None:
    """Raise ModelError if there is no graphics processor."""
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
    given = [
        cuda.to_device(a) for a in (ALL_SUMS, COEFFICIENTS.dense, span, tolerances, steps, initial, constants, times)
    ]
    results = [cuda.to_device(a) for a in (out, status, counts, reached)]
    blocks = -(-len(initial) // THREADS)
    kernel[blocks, THREADS](*given, *results)
    for found, to in zip(results, (out, status, counts, reached), strict=True):
        found.copy_to_host(to)


def _on_device(function: Any) -> Any:
    """A function of compiled code, compiled for the device."""
    return cuda.jit(device=True)(function.py_func)


_code_of_pivot = _on_device(code_of_pivot)
_trial_length = _on_device(step_control.trial_length)
_first_length = _on_device(step_control.first_length)
_step_length = _on_device(step_control.step_length)
_too_small = _on_device(step_control.too_small)
_would_not_end = _on_device(step_control.would_not_end)
_combined_error = _on_device(step_control.combined_error)
_factor_of = _on_device(step_control.factor_of)
_verdict = _on_device(step_control.verdict)
_after_bad_attempt = _on_device(step_control.after_bad_attempt)
_after_rejection = _on_device(step_control.after_rejection)
_after_acceptance = _on_device(step_control.after_acceptance)
_failure = _on_device(step_control.failure)


# Arrays of a thread: y, end, trial (n, 1), stages k (16, n, 1); the second index is that of the lane, here one.


@cuda.jit(device=True)
def _stage(sums, row, k, y, h, to):  # type: ignore[no-untyped-def]
    """Put y + h times the sum of a row over the stages into ``to``."""
    for i in range(y.shape[0]):
        total = 0.0
        for q in range(STAGES + 1 + EXTRA):
            if sums[row, q] != 0.0:
                total += sums[row, q] * k[q, i, 0]
        to[i, 0] = y[i, 0] + h * total


@cuda.jit(device=True)
def _norm(values, less, y, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of ``values`` less ``less`` in units of the tolerance at the state y."""
    total = 0.0
    for i in range(y.shape[0]):
        total += ((values[i, 0] - less[i, 0]) / (atol + rtol * abs(y[i, 0]))) ** 2
    return math.sqrt(total / y.shape[0])


@cuda.jit(device=True)
def _normalise(y):  # type: ignore[no-untyped-def]
    """Give the Euler parameters unit length."""
    for b in range(y.shape[0] // STATE):
        o = b * STATE + P
        total = 0.0
        for i in range(o, o + 4):
            total += y[i, 0] * y[i, 0]
        for i in range(o, o + 4):
            y[i, 0] /= math.sqrt(total)


@cuda.jit(device=True)
def _sum_of_squares(sums, row, k, y, end, rtol, atol):  # type: ignore[no-untyped-def]
    """Sum of squares of an error estimate in units of the tolerance."""
    total = 0.0
    for i in range(y.shape[0]):
        v = 0.0
        for q in range(STAGES + 1):
            v += sums[row, q] * k[q, i, 0]
        v /= atol + rtol * max(abs(y[i, 0]), abs(end[i, 0]))
        total += v * v
    return total


@cuda.jit(device=True)
def _interpolate(polynomial, k, y, end, h, x, dense, out):  # type: ignore[no-untyped-def]
    """State at the fraction x of a step, from the stages of the dense output; ``dense`` (7,) is memory."""
    for i in range(y.shape[0]):
        delta = end[i, 0] - y[i, 0]
        dense[0] = delta
        dense[1] = h * k[0, i, 0] - delta
        dense[2] = 2.0 * delta - h * (k[STAGES, i, 0] + k[0, i, 0])
        for d in range(4):
            value = 0.0
            for q in range(STAGES + 1 + EXTRA):
                value += polynomial[d, q] * k[q, i, 0]
            dense[3 + d] = h * value
        value = 0.0
        for d in range(POWER - 1, -1, -1):
            value = (value + dense[d]) * (x if (POWER - 1 - d) % 2 == 0 else 1.0 - x)
        out[i, 0] = y[i, 0] + value
    _normalise(out)


@cuda.jit(device=True)
def _write_outputs(polynomial, k, y, end, time, now, h, times, output, dense, trial, out):  # type: ignore[no-untyped-def]
    """States at the wanted times up to ``now``, the end of the step; index of the next output."""
    while output < times.shape[0] and times[output] <= now:
        if times[output] < now:
            _interpolate(polynomial, k, y, end, h, (times[output] - time) / h, dense, trial)
        for i in range(y.shape[0]):
            out[output, i] = end[i, 0] if times[output] == now else trial[i, 0]
        output += 1
    return output


@cache
def _device_functions(module: ModuleType) -> tuple[Any, Any, Any]:
    """Evaluation of a model, first step and attempt at a step, for the device."""
    derivative = _on_device(module.derivative)

    @cuda.jit(device=True)
    def evaluate(y, c, worst, out, code):  # type: ignore[no-untyped-def]
        """State derivative; the first code that is not OK."""
        derivative(0, y, c, c, c, out, worst)
        if not worst[0, 0] < 1.0 / PIVOT_TOLERANCE**2 and code == OK:
            return _code_of_pivot(worst[0, 0])
        return code

    @cuda.jit(device=True)
    def first_step(y, k, trial, end, c, worst, span, max_step, rtol, atol, code):  # type: ignore[no-untyped-def]
        """Hairer's first step, and a code."""
        for i in range(y.shape[0]):
            end[i, 0] = 0.0
        rate_norm = _norm(k[0], end, y, rtol, atol)
        h = _trial_length(_norm(y, end, y, rtol, atol), rate_norm, span, max_step)
        for i in range(y.shape[0]):
            trial[i, 0] = y[i, 0] + h * k[0, i, 0]
        code = evaluate(trial, c, worst, end, code)
        return _first_length(h, rate_norm, _norm(end, k[0], y, rtol, atol) / h, max_step), code

    @cuda.jit(device=True)
    def attempt(sums, y, k, trial, end, c, worst, h, rtol, atol):  # type: ignore[no-untyped-def]
        """One step: error, code of its stages, code of its end, inverse square of the smallest pivot ratio."""
        code, largest = OK, 0.0
        for q in range(1, STAGES):
            _stage(sums, q, k, y, h, trial)
            code = evaluate(trial, c, worst, k[q], code)
            largest = max(largest, worst[0, 0])
        _stage(sums, END, k, y, h, end)
        sum5 = _sum_of_squares(sums, ERROR5, k, y, end, rtol, atol)
        sum3 = _sum_of_squares(sums, ERROR3, k, y, end, rtol, atol)
        _normalise(end)
        end_code = evaluate(end, c, worst, k[STAGES], OK)
        error = _combined_error(sum5, sum3, h, y.shape[0]) if code == OK else math.inf
        return error, code, end_code, max(largest, worst[0, 0])

    return evaluate, first_step, attempt


# Long because the local arrays and scalars of a thread must be variables of the kernel itself.
@cache
def _kernel(module: ModuleType) -> Any:
    """The kernel of a model."""
    n, size = STATE * module.BODIES, max(module.CONSTANTS, 1)
    evaluate, first_step, attempt = _device_functions(module)

    @cuda.jit
    def run(sums, polynomial, span, tolerances, steps, initial, constants, times, out, status, counts, reached):  # type: ignore[no-untyped-def]
        case = cuda.grid(1)
        if case >= initial.shape[0]:
            return
        time, finish, rtol, atol, max_step = span[0], span[1], tolerances[0], tolerances[1], steps[0]
        y, end = cuda.local.array((n, 1), float64), cuda.local.array((n, 1), float64)
        trial, k = cuda.local.array((n, 1), float64), cuda.local.array((STAGES + 1 + EXTRA, n, 1), float64)
        c, worst = cuda.local.array((size, 1), float64), cuda.local.array((1, 1), float64)
        dense = cuda.local.array(POWER, float64)
        output = 1 if times.shape[0] > 0 and times[0] == time else 0
        for i in range(n):
            y[i, 0] = initial[case, i]
            if output == 1:
                out[case, 0, i] = y[i, 0]
        for i in range(size):
            c[i, 0] = constants[case, i]
        code = evaluate(y, c, worst, k[0], OK)
        start_worst = ever_worst = worst[0, 0]
        length, rejected = steps[1], 0
        counts[case, EVALUATIONS] += 1 if length > 0.0 else 2
        if length == 0.0:
            length, code = first_step(y, k, trial, end, c, worst, finish - time, max_step, rtol, atol, code)
        ended = Status.RUNNING if code == OK else _failure(code)
        while ended == Status.RUNNING:
            h, last = _step_length(length, max_step, time, finish)
            if _too_small(h, time, finish):
                ended = Status.STEP_TOO_SMALL
                break
            error, code, end_code, attempt_worst = attempt(sums, y, k, trial, end, c, worst, h, rtol, atol)
            counts[case, EVALUATIONS] += STAGES
            judged, factor = _verdict(error), _factor_of(error, SAFETY, ORDER, SLOWEST, FASTEST)
            if judged != ACCEPTED:
                length = _after_rejection(h, factor) if judged == REJECTED else _after_bad_attempt(h, time)
                ended = _failure(code) if length == 0.0 else Status.RUNNING
                counts[case, REJECTIONS] += 0 if length == 0.0 else 1
                rejected = 1
                continue
            now = finish if last else time + h
            if output < times.shape[0] and times[output] < now:
                for q in range(STAGES + 1, STAGES + 1 + EXTRA):
                    _stage(sums, q, k, y, h, trial)
                    end_code = evaluate(trial, c, worst, k[q], end_code)
                counts[case, EVALUATIONS] += EXTRA
            if end_code != OK:
                ended = _failure(end_code)
                break
            output = _write_outputs(polynomial, k, y, end, time, now, h, times, output, dense, trial, out[case])
            for i in range(n):
                y[i, 0], k[0, i, 0] = end[i, 0], k[STAGES, i, 0]
            time, length, rejected = now, _after_acceptance(h, factor, rejected), 0
            ever_worst = max(ever_worst, attempt_worst)
            counts[case, STEPS] += 1
            if last:
                close = ever_worst > start_worst / CLOSE_TO_SINGULAR**2
                ended = Status.CLOSE_TO_SINGULAR if close else Status.REACHED_END
            elif steps[2] == NO_LIMIT and _would_not_end(counts[case, STEPS], span[0], now, finish):
                ended = Status.TOO_MANY_STEPS
            elif counts[case, STEPS] >= steps[2]:
                ended = Status.STEPS_USED_UP
        status[case], reached[case] = ended, time

    return run
