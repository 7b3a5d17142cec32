"""What the compiled methods share: where an integration stands, and what the march asks of a method.

Each method defines, for its own memory (``Stepper.own``), the five functions at the end of this file; compiled code takes the
one that belongs to the memory's type, so one march (``runtime.integrate.loop``) serves all methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from runtime.dynamics.layout import STATE, P
from runtime.dynamics.model_data import ModelData
from runtime.jit.cache import OPTIONS, compiled, inlined
from runtime.support.arrays import Floats, Ints

LOOKS = 4  # places of a step where it is looked whether a limit or a contact has changed sides


class Stepper(NamedTuple):
    """Where an integration stands; changed in place, so that it can be left and taken up again."""

    time: Floats  # (6,) t, next step, start and length of the last step, usual lengths with all limits free, and with one held
    counts: Ints  # (7,) evaluations, steps, rejections, next output, 1 after a rejected step, steps at the bound of stability,
    # touch-downs and lift-offs in ``found``
    y: Floats  # (n,)
    y_old: Floats  # (n,) at the start of the last step
    trial: Floats  # (n,)
    begin: Floats  # (n,) derivative at the start of the step
    end: Floats  # (n,) derivative at its end
    tried: Floats  # (3,) of a step just tried: its error in units of the tolerance, factor for the next step, weakest pivot
    smallest_pivot: Floats  # (3,) of ``Work.weakest``: at the start, the least of all accepted steps, the time of that
    flags: Ints  # (5,) 1: dense output of the last step is ready; its end is not yet the next beginning; tries to land; started;
    # bodies in the state, which has their derivatives behind them where sensitivities are wanted
    over: Floats  # (limits + contacts,) how far each is on the other side than it is taken for; below 0 if it is not
    seen: Floats  # (LOOKS + 1, limits + contacts) the same, at the start of the last step and at places in it
    found: Floats  # (events, 4) time, contact, 1 for touch-down or 0 for lift-off, speed of touch-down
    own: Any  # the method's memory


T, NEXT_STEP, T_OLD, LENGTH, USUAL = range(5)
EVALUATIONS, STEPS, REJECTIONS, NEXT_OUTPUT, REJECTED, BOUND, FOUND = range(7)
DENSE_READY, STEP_ENDED, LANDING, STARTED, BODIES = range(5)
ERROR, FACTOR, SMALLEST_PIVOT = range(3)
EVENTS = 256  # touch-downs and lift-offs kept until they are fetched, and as many more as may come at once


def stepper(y: Floats, t: float, own: Any, data: ModelData, first_step: float = 0.0) -> Stepper:
    """A stepper at the start; a first step of 0 is chosen by the method."""
    bodies = len(data.mass) - 1
    n, switches = len(y), len(data.limits.kind) + len(data.contacts.law)
    return Stepper(
        time=np.array([t, first_step, t, 0.0, 0.0, 0.0]), counts=np.zeros(7, np.int64), y=y.copy(), y_old=y.copy(),
        trial=np.zeros(n), begin=np.zeros(n), end=np.zeros(n), tried=np.zeros(3), smallest_pivot=np.array([np.inf, np.inf, t]),
        flags=np.array([0, 0, 0, 0, bodies]), over=np.zeros(switches), seen=np.zeros((LOOKS + 1, switches)),
        found=np.zeros((EVENTS + len(data.contacts.law), 4)), own=own,
    )  # fmt: skip


@inlined
def normalise(y, bodies):  # type: ignore[no-untyped-def]
    """Give the Euler parameters unit length again; the equations of motion depend on their direction only."""
    for b in range(bodies):
        o = b * STATE + P
        norm = math.sqrt(y[o] * y[o] + y[o + 1] * y[o + 1] + y[o + 2] * y[o + 2] + y[o + 3] * y[o + 3])
        for k in range(4):
            y[o + k] /= norm


@compiled
def normalise_all(states):  # type: ignore[no-untyped-def]
    """The same for many states (n, 13 bodies)."""
    for n in range(len(states)):
        normalise(states[n], states.shape[1] // STATE)


def serves(question: Callable[..., Any], memory: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function answer a question of the march for steppers whose own memory is of a type."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        jitted = inlined(function)

        def answer(s, *args):  # type: ignore[no-untyped-def]
            if s.field("own")[1].instance_class is not memory:
                return None
            return lambda s, *args: jitted(s, *args)

        overload(question, strict=False, jit_options=OPTIONS)(answer)
        return function

    return register


def attempt(s: Stepper, t: Any, w: Any, h: float, rtol: float, atol: float) -> int:
    """Try a step of length h from ``s.y``, its end into ``s.trial`` and how it went into ``s.tried``; a code."""
    raise NotImplementedError


def prepare_dense(s: Stepper, t: Any, w: Any) -> int:
    """Make ``interpolate`` ready for the last step; a code."""
    raise NotImplementedError


def interpolate(s: Stepper, time: float, y: Floats) -> None:
    """State within the last step."""
    raise NotImplementedError


def between_ends(s: Stepper, x: float, y: Floats) -> None:
    """The same at a fraction of the step, roughly: before ``prepare_dense``, for a look."""
    raise NotImplementedError


def at_stability_bound(s: Stepper) -> int:
    """1 if stability rather than accuracy bounds the step just tried."""
    raise NotImplementedError
