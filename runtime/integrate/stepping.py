"""Interface between the integration loop and the compiled methods: the state of an integration, and six functions of a method.

Each method defines the six functions at the end of this file for its own memory (``Stepper.own``).  Compiled code selects them
by the type of this memory, so one integration loop (``runtime.integrate.loop``) serves all methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from runtime.dynamics.layout import STATE, P
from runtime.dynamics.model_data import ModelData
from runtime.integrate.balance import Balance, no_balance
from runtime.integrate.lane_state import SAMPLES, LaneState, Surfaces, surfaces_of
from runtime.jit.by_memory import form
from runtime.jit.compilation import compiled, inlined
from runtime.jit.named_rows import Block, Lane, with_lanes
from runtime.support.arrays import Floats, Ints


@with_lanes(1)
class Stepper(NamedTuple):
    """State of an integration; changed in place, so that an integration can be paused and continued."""

    s: Annotated[Floats, Block(LaneState)]
    status: Ints  # (1,) ``Status`` of the run
    output: Ints  # (1,) index of the next output
    events: Ints  # (1,) touch-downs and lift-offs in ``found``
    unsure_count: Ints  # (1,) steps in ``unsure``
    bodies: Ints  # (1,) those in the state, followed by their derivatives in variational equations; 0 for coordinates of a tree
    y: Floats  # (n,)
    y_old: Floats  # (n,) at the start of the last step
    trial: Floats  # (n,)
    begin: Floats  # (n,) derivative at the start of the step
    end: Floats  # (n,) derivative at its end
    # (8,) places of the addresses of the code for limits and contacts, for closed loops, for the dense output, for its quintic
    # polynomials, for linear systems of radau, for turns of the rows of closed loops, for kinks of forces, and for slips of
    # contacts; 0 where there is no such code
    address: Ints
    surfaces: Surfaces  # limits and contacts
    # (SAMPLES + 2, kinks) of force elements at the same places, and at one more; see ``unseen_kinks``
    kinks: Floats
    slips: Floats  # (SAMPLES + 1, contacts or 0, 3) of frictions with a kink, in transition velocities, at the first of these
    found: Floats  # (events, 4) time, contact, 1 for touch-down or 0 for lift-off, speed of touch-down
    moved: Floats  # (n,) change of the state by the last projection
    # (n,) near a singular pose, for the tolerances of velocities: the largest of all bodies; 0 elsewhere, and for positions
    sizes: Floats
    # (4, n) of tolerances: the largest value of a component that takes part in its own, by which its error counts, and the least
    # with which the first step is compared; lever [m] of the rate of a turn, -1 for coordinates of a tree, 0 for all others
    scales: Floats
    rates: Floats  # (n,) memory: a derivative
    # (UNSURE_STEPS, 2 + 2 n) of closed loops: steps that may have left their branch, times and states at both ends
    unsure: Floats
    rows: Floats  # (12 rows,) of D at the end of the last step of closed loops, for states of all bodies
    rows_at: Floats  # (1,) time of ``rows`` [s]
    first_rows: Floats  # (rows size,) orthonormal basis of the rows of closed loops at the begin of a step
    last_rows: Floats  # at its end
    products: Floats  # (rows rows,) of both
    balance: Balance  # work of the sources of energy
    own: Any  # the method's memory

    @property
    def now(self) -> Any:
        """The named numbers of the state, for Python code."""
        return Lane(LaneState, self.s)


SWITCHING, PROJECTING, DENSE, QUINTIC, LINEAR, TURNED, KINKS, SLIPS = range(8)  # places in ``Stepper.address``
CAP, WEIGHT, TYPICAL, LEVER = range(4)  # rows of ``Stepper.scales``
UNIT = 1.5e-15  # distance from 1 of the square of a length that was made 1; 9e-16 at most was measured
UNSURE_STEPS = 16  # stored until Python code fetches them
EVENTS = 256  # touch-downs and lift-offs stored until Python code fetches them


def stepper(
    y: Floats, t: float, own: Any, data: ModelData, first_step: float = 0.0, balance: Balance | None = None,
    scales: Floats | None = None, bodies: int = 0,
) -> Stepper:  # fmt: skip
    """A stepper at the start; for a first step of 0 the integration loop chooses one.

    ``scales``: of coordinates of a tree, or of states of so many bodies and others behind them.
    """
    bodies = len(data.mass) - 1 if scales is None else bodies
    rows = int(data.rows.sum()) if data.closed else 0
    size = 6 * (len(data.mass) - 1)  # also of trees, whose rows and rates are not more
    n, switches = len(y), len(data.limits.kind) + len(data.contacts.address)
    s = Stepper(
        s=LaneState.block(1), status=np.zeros(1, np.int64), output=np.zeros(1, np.int64), events=np.zeros(1, np.int64),
        unsure_count=np.zeros(1, np.int64),
        bodies=np.array([bodies]), y=np.zeros(n), y_old=np.zeros(n), trial=np.zeros(n), begin=np.zeros(n), end=np.zeros(n),
        address=np.zeros(8, np.int64), surfaces=surfaces_of(switches, 1),
        kinks=np.zeros((SAMPLES + 2, data.forces.kink[-1])),
        slips=np.zeros((SAMPLES + 1, len(data.contacts.address) if data.contacts.kinks.any() else 0, 3)),
        found=np.zeros((EVENTS + len(data.contacts.address), 4)), moved=np.zeros(n), sizes=np.zeros(n),
        scales=np.outer([np.inf, 1.0, 0.0, 0.0], np.ones(n)) if scales is None else scales,
        rates=np.zeros(n), unsure=np.zeros((UNSURE_STEPS if data.closed else 0, 2 + 2 * n)),
        rows=np.zeros(12 * rows if bodies else 0), rows_at=np.array([np.nan]), first_rows=np.zeros(rows * size),
        last_rows=np.zeros(rows * size), products=np.zeros(rows * rows), balance=balance or no_balance(), own=own,
    )  # fmt: skip
    now = s.now
    now.least_pivot = now.first_close = now.pivot_at_begin = np.inf
    now.loose = 1.0
    begin(s, y, t, first_step)
    return s


def begin(s: Stepper, y: Floats, t: float, first_step: float) -> None:
    """Put a stepper that took no step yet at the start."""
    s.y[:] = s.y_old[:] = y
    s.now.time = s.now.began = s.now.checked_at = t
    s.now.kinks_at = np.nan
    s.now.next_length = first_step


def copied(s: Stepper) -> Stepper:
    """A stepper that keeps the last step, with its dense output, whatever happens to this one."""
    own = type(s.own)(*(value.copy() if isinstance(value, np.ndarray) else value for value in s.own))
    return s._replace(s=s.s.copy(), y=s.y.copy(), y_old=s.y_old.copy(), own=own)


@inlined
def normalise(y, bodies):  # type: ignore[no-untyped-def]
    """Give the Euler parameters unit length again; the equations of motion depend on their direction only.

    Those of unit length to rounding are left: otherwise chance would decide whether a normalised state is changed again.
    """
    for b in range(bodies):
        o = b * STATE + P
        square = y[o] * y[o] + y[o + 1] * y[o + 1] + y[o + 2] * y[o + 2] + y[o + 3] * y[o + 3]
        if abs(square - 1.0) <= UNIT:
            continue
        norm = math.sqrt(square)
        for k in range(4):
            y[o + k] /= norm


@inlined
def lost_digits(smallest_pivot, tolerance):  # type: ignore[no-untyped-def]
    """Digits by which the rounding of accelerations at this pivot ratio exceeds the tolerance; 0 where it does not.

    After the refinement of the equations of motion the rounding is that of the rows divided by the sine of the smallest angle
    between them, the square root of the pivot ratio.
    """
    sine = math.sqrt(min(1.0, max(smallest_pivot, 1e-30)))
    return max(0.0, math.log10(2.2e-16 / (tolerance * sine)))


@inlined
def norm_of(m, v, y, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of v in units of the tolerance at the state y."""
    total = 0.0
    for i in range(len(v)):
        scale = atol + rtol * min(max(abs(y[i]), m.sizes[i]), m.scales[CAP, i])
        total += (m.scales[WEIGHT, i] * v[i] / scale) ** 2
    return math.sqrt(total / len(v))


@compiled
def normalise_all(states):  # type: ignore[no-untyped-def]
    """Give the Euler parameters of many states (n, 13 bodies) unit length."""
    for n in range(len(states)):
        normalise(states[n], states.shape[1] // STATE)


def serves(function_of_methods: Callable[..., Any], memory: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a method's function as one of the six below, for steppers whose own memory is of a type."""
    return form(function_of_methods, lambda m: m.field("own")[1].instance_class is memory)


def attempt(m: Stepper, t: Any, w: Any, h: float, rtol: float, atol: float) -> int:
    """Try a step of length h from ``m.y``: store its end in ``m.trial``, its error, factor and smallest pivot; a code.

    The error is infinite where a stage is singular or not finite.  The code refers to the end of an accurate step.
    """
    raise NotImplementedError


def prepare_dense(m: Stepper, t: Any, w: Any) -> int:
    """Prepare ``interpolate`` for the last step; a code of an evaluation."""
    raise NotImplementedError


def interpolate(m: Stepper, time: float, y: Floats) -> None:
    """State within the last step."""
    raise NotImplementedError


def interpolate_work(m: Stepper, time: float, work: Floats) -> None:
    """Work of the sources of energy until a time within the last step."""
    raise NotImplementedError


def between_ends(m: Stepper, x: float, y: Floats) -> None:
    """Rough state at a fraction of the step, available before ``prepare_dense``."""
    raise NotImplementedError


def check_stiffness(m: Stepper, rtol: float, atol: float, max_step: float, end: float) -> int:
    """Count the accepted step if stability bounds it; 1 if the other method should go on, where turns are wanted."""
    raise NotImplementedError
