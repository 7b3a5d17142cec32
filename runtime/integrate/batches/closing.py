"""Steps of systems with closed loops or drivers in a batch: projection onto the rows, and which steps a case is run alone for.

The end of every step is projected as in single runs (``closing_rows.project_coordinates``).  A case that comes near a singular
pose, where single runs repeat steps, or that a projection moves farther than the tolerance explains, ends here and is run alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES, OK, SINGULAR
from runtime.dynamics.projection import PROJECTIONS, ROUNDED
from runtime.integrate.batches.contact_memory import set_events
from runtime.integrate.batches.forces import call_forces, put_parameters, set_signals
from runtime.integrate.closed_loops import MAX_MOVE, UNSATISFIED
from runtime.integrate.memory_kinds import Common, OfLanes
from runtime.integrate.step_control import squared_error
from runtime.integrate.unsure_steps import CLEAR
from runtime.jit import addresses
from runtime.jit.compilation import columns, compiled, inlined
from runtime.jit.named_rows import with_lanes
from runtime.support.arrays import Floats, Ints, lanes_of

# Pivot ratio of an evaluation as a fraction of the largest one at an end of a step, below which a case is run alone: above
# ``closed_loops.NEAR``, below which single runs do more; and as a fraction of those at both ends of its step.
NEAR, DIP, SMALL_PIVOT = 1e-2, 0.25, 1e-5
LOST = 1e-15  # tolerance times the sine of the smallest angle between rows below which digits may be lost
REPEATED = 3300.0  # square of an error after which a step has half the length of the one before, as in ``closed_loops``
# Pivot ratio of a step as a fraction of the larger one at its ends, below which a step that turns joints by more than its root
# may lead to another branch: its case is run alone.  With tolerances above LOOSE, stages are too far off to show such a dip.
STEEP, LOOSE = 0.3, 3e-6
BOUND = 1e-9  # of |Phi| at the end of a step: the least of those of ``constraint_check``


@with_lanes(LANES)
class BatchClosing(NamedTuple):
    """Rows that restrain the coordinates of the trees of a batch; see ``runtime.integrate.written.closed_stages``."""

    address: Common[Ints]  # (1,) of the function ``correction``; 0: there are no rows
    size: Common[Ints]  # (2,) of coordinates, and of coordinates and rates
    marks: Common[Ints]  # (2,) their number, and the row of a state of the first
    loaded: Common[Ints]  # (1,) 1: forces act that depend on the state
    pivot: Common[Ints]  # (1,) row of a state
    lacking: Common[Ints]  # (1,) row of the constants
    change: OfLanes[Floats]  # ((size + marks) * LANES,)
    left: OfLanes[Floats]  # (2 * LANES,) largest |Phi| and |Phi'|
    before: OfLanes[Floats]  # (LANES,) the same before a correction
    active: OfLanes[Floats]  # (LANES,) 1: the state is to be corrected
    start: OfLanes[Floats]  # (size * LANES,) ends of steps before the projection


def batch_closing(
    address: int = 0,
    sizes: tuple[int, int] = (0, 0),
    marks: tuple[int, int] = (0, 0),
    loaded: int = 0,
    pivot: int = 0,
    lacking: int = 0,
) -> BatchClosing:
    """Memory for rows; without arguments that of a batch without them."""
    size = sizes[1] * LANES
    return BatchClosing(
        address=np.array([address]), size=np.array(sizes), marks=np.array(marks), loaded=np.array([loaded]),
        pivot=np.array([pivot]), lacking=np.array([lacking]), change=lanes_of(size + marks[0] * LANES), left=lanes_of(2 * LANES),
        before=lanes_of(LANES), active=lanes_of(LANES), start=lanes_of(size),
    )  # fmt: skip


@inlined
def find_correction(x, y, constants):  # type: ignore[no-untyped-def]
    """Fill ``change`` and ``left`` for the states of all lanes."""
    addresses.call(x.address[0], y.ctypes.data, constants.ctypes.data, x.change.ctypes.data, x.left.ctypes.data)


@columns
def begin_corrections(left, active):  # type: ignore[no-untyped-def]
    """Mark the lanes whose rows are violated; their number."""
    count = 0
    for lane in range(len(active)):
        wanted = left[lane] > ROUNDED
        active[lane] = 1.0 if wanted else 0.0
        count += 1 if wanted else 0
    return count


@columns
def correct(lanes, change, active, y):  # type: ignore[no-untyped-def]
    """Change coordinates or rates of the marked lanes."""
    for o in range(0, len(y), lanes):
        for lane in range(lanes):
            before, after = y[o + lane], y[o + lane] + change[o + lane]
            y[o + lane] = after if active[lane] == 1.0 else before


@columns
def go_on_correcting(left, before, active):  # type: ignore[no-untyped-def]
    """Unmark the lanes whose rows are satisfied, or were improved by little; the number of those that are left."""
    count = 0
    for lane in range(len(active)):
        wanted = left[lane] > ROUNDED and left[lane] < 0.25 * before[lane] and active[lane] == 1.0
        active[lane] = 1.0 if wanted else 0.0
        count += 1 if wanted else 0
    return count


@inlined
def project_lanes(x, y, constants):  # type: ignore[no-untyped-def]
    """Move coordinates and rates of all lanes onto the rows by the least change; as ``project_coordinates`` to rounding."""
    find_correction(x, y, constants)
    for side in range(2):
        first, end = side * x.size[0] * x.W, x.size[side] * x.W
        left, part = x.left[side * x.W : (side + 1) * x.W], y[first:end]
        count = begin_corrections(left, x.active)
        for _ in range(PROJECTIONS):
            if count == 0:
                break
            correct(x.W, x.change[first:end], x.active, part)
            for lane in range(x.W):
                x.before[lane] = left[lane]
            find_correction(x, y, constants)
            count = go_on_correcting(left, x.before, x.active)


@inlined
def choose_rows(x, y):  # type: ignore[no-untyped-def]
    """Mark the rows that the last correction chose in states y."""
    n = x.size[1] * x.W
    for k in range(x.marks[0] * x.W):
        y[x.marks[1] * x.W + k] = x.change[n + k]


@inlined
def project_ends(m):  # type: ignore[no-untyped-def]
    """Project the ends of the attempts, whose signals are those of their times, and choose independent rows there."""
    x = m.closing
    for k in range(len(x.start)):
        x.start[k] = m.end[k]
    project_lanes(x, m.end, m.constants)
    choose_rows(x, m.end)


@inlined
def is_near(worst, first, last, least, tolerance):  # type: ignore[no-untyped-def]
    """Whether a step comes near a singular pose, or may pass one, or rounding exceeds the tolerance.

    By inverse squares of pivot ratios: the largest of a step, at both ends, and the least so far.
    """
    return not worst <= min(least / NEAR**2, max(first, last) / DIP**2, (tolerance / LOST) ** 4, SMALL_PIVOT**-2)


@inlined
def is_wide(m, lane, first, last, tolerance):  # type: ignore[no-untyped-def]
    """Whether a step may lead to another branch; ``first``, ``last`` as of ``is_near``.  As ``unsure_steps.is_clear``."""
    worst, square = max(m.s.attempt_worst[lane], first, last), 0.0
    for i in range(m.closing.size[0]):
        e = i * m.W + lane
        moved = (m.end[e] - m.y[e]) ** 2
        if m.cap[e] == np.inf:  # a slide
            moved /= max(m.end[e] ** 2, m.y[e] ** 2, 1e-300)
        square = max(square, moved)
    for first_of_four in m.turned:  # a turn by an angle changes Euler parameters by half of it
        moved = 0.0
        for e in range(first_of_four * m.W + lane, (first_of_four + 4) * m.W, m.W):
            moved += 4.0 * (m.end[e] - m.y[e]) ** 2
        square = max(square, moved)
    steep = worst * STEEP**2 > min(first, last) or tolerance > LOOSE
    return steep and not square * square * worst < CLEAR**4


@inlined
def reject(m, lane):  # type: ignore[no-untyped-def]
    """Have an accurate attempt repeated with a step of about half its length."""
    s, n = m.s, m.size[0]
    h = s.length[lane]
    if h > 0.0 and squared_error(s.sum5[lane], s.sum3[lane], h, n) <= 1.0:
        s.sum5[lane], s.sum3[lane] = n * REPEATED / (h * h), 0.0


@inlined
def square_of_change(m, lane, a, b, rtol, atol):  # type: ignore[no-untyped-def]
    """Mean square of the difference of two states, or derivatives, in units of the tolerance at the end of a lane's step."""
    total, n = 0.0, m.size[0]
    for i in range(n):
        e = i * m.W + lane
        scale = atol + rtol * min(abs(m.end[e]), m.cap[e])
        total += (m.weight[e] * (a[e] - b[e]) / scale) ** 2
    return total / n


@inlined
def check_ends(m, rtol, atol):  # type: ignore[no-untyped-def]
    """Have attempts repeated that a single run repeats, after the evaluation at their ends; a code where it does more."""
    x, s = m.closing, m.s
    if x.address[0] == 0:
        return
    pivot, lacking = x.pivot[0] * m.W, m.constants[x.lacking[0]]
    for lane in range(m.W):
        first, last = m.y[pivot + lane], m.worst[lane]
        first = s.ever_worst[lane] if first == 0.0 else first  # the first step
        near = is_near(s.attempt_worst[lane], first, last, s.least_worst[lane], rtol + atol)
        near = near or is_wide(m, lane, first, last, rtol + atol)
        fits = x.left[lane] <= BOUND and x.left[m.W + lane] < np.inf
        if (near or not fits) and s.end_code[lane] == OK:
            s.end_code[lane] = SINGULAR
        else:
            moved = square_of_change(m, lane, m.end, x.start, rtol, atol) > MAX_MOVE**2
            if moved or (x.marks[0] > 0 and lacking[lane] > UNSATISFIED):
                reject(m, lane)
        m.end[pivot + lane] = last


@inlined
def signals_at(x, time, y, constants):  # type: ignore[no-untyped-def]
    """Give all lanes the signals at a time, in states y with the parameters ``x.own``; forces are found on the way."""
    if x.address[0] != 0:
        for lane in range(x.W):
            set_signals(x, lane, x.own_set[lane], time)
        call_forces(x.address[0], y, x.values, x.own, constants[x.first[0] :], x.ways[0], x.energy)


@compiled
def project_all(closing, forces, contacts, states, times, constants, memory, of_case, passed, left, stored):  # type: ignore[no-untyped-def]
    """Project states of all cases (cases, m, rows) at times (m,) onto the rows, and choose independent rows there.

    constants (cases or 1, C).  ``left`` (cases, m) are the largest |Phi| afterwards, ``stored`` (cases, m) energies in forces;
    ``contacts``: with the touch-downs and lift-offs of the cases; ``memory`` (rows * LANES,) and ``of_case`` (C, LANES) are for
    states and constants of the lanes, ``passed`` (LANES,) for numbers of events.
    """
    cases, size = len(states), states.shape[2]
    for first in range(0, cases, closing.W):
        count = min(closing.W, cases - first)
        for lane in range(closing.W):
            own = constants[min(first + min(lane, count - 1), len(constants) - 1)]
            for k in range(len(own)):
                of_case[k, lane] = own[k]
            passed[lane] = 0
            if forces.address[0] != 0:
                put_parameters(forces, first + min(lane, count - 1), lane, forces.own, forces.own_set)
        for q in range(len(times)):
            for lane in range(closing.W):
                case = first + min(lane, count - 1)
                if len(contacts.places) > 0:
                    passed[lane] = set_events(contacts, forces.own, lane, case, passed[lane], times[q])
                for i in range(size):
                    memory[i * closing.W + lane] = states[case, q, i]
            signals_at(forces, times[q], memory, of_case)
            project_lanes(closing, memory, of_case)
            choose_rows(closing, memory)
            if closing.loaded[0] == 1:
                signals_at(forces, times[q], memory, of_case)
            for lane in range(count):
                left[first + lane, q], stored[first + lane, q] = closing.left[lane], forces.energy[lane]
                for i in range(size):
                    states[first + lane, q, i] = memory[i * closing.W + lane]
