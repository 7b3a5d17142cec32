"""Forces other than limits along coordinates, in a batch: every lane has its own parameters and its own time.

The state of a lane has, in this order: coordinates and rates; states of forces; and what is only carried, without a part in the
error of a step: the work of these forces that is not stored in them, whose outputs are those of a coordinate, and the angles of
forces at the begin of a step, from which their revolutions are counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.dynamics.signals import (
    VARYING,
    SignalData,
    evaluate_piece,
    least_weight,
    no_signals,
    piece_near,
    until_knot,
)
from runtime.integrate.batches.contact_memory import set_events
from runtime.integrate.dop853_coefficients import COEFFICIENTS, STAGES
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.memory_kinds import Common, Found, OfCases, OfLanes, Scratch
from runtime.integrate.stiffness import STABLE
from runtime.integrate.turned_steps import keep_knot
from runtime.jit import addresses
from runtime.jit.compilation import columns, compiled, inlined
from runtime.jit.named_rows import with_lanes
from runtime.jit.pointers import call_at, local
from runtime.support.arrays import Floats, Ints, frozen, lanes_of

NO_KINKS = np.zeros(0, np.int64), np.zeros(0, np.int64)


@with_lanes(LANES)
class BatchForces(NamedTuple):
    """Forces of a batch."""

    # (1,) of the function of the forces in lanes (``runtime.integrate.written.tree_forces``); 0: there are none
    address: Common[Ints]
    # (1,) 1: it is the one of the equations with the forces (``tree_recursion``), in place of a kernel
    whole: Common[Ints]
    acting: Common[
        Ints
    ]  # (2,) 1: loads, motors or force elements act; 1: force elements do (``step_error.may_have_kinks``)
    first: Common[Ints]  # (1,) row of the constants of the first force along a coordinate
    states: Common[Ints]  # (1,) number of states of forces, behind coordinates and rates
    nodes: Common[Floats]  # (16,) of the stages, as fractions of the step
    signals: Common[SignalData]  # sets of equally many signals, one after another
    set_of: OfCases[Ints]  # (cases or 1,) number of the first signal of the set of each case
    own_set: OfLanes[Ints]  # (LANES,)
    waiting_set: OfLanes[Ints]  # (LANES,) the same of the cases that are ready
    varying: Common[Ints]  # (signals,) those that depend on time
    piece: OfLanes[Ints]  # (signals, LANES) pieces at the last times
    value: Scratch[Floats]  # (3,) of one signal
    values: OfLanes[Floats]  # (signals * 3, LANES)
    watched: Common[Ints]  # (watched,) signals of which steps pass one knot at most
    kinks_by: Common[Ints]  # (functions,) addresses of the functions of the kinks of forces
    kink_of: Common[Ints]  # (kinks,) which of these gives a kink: the search in a step asks for one kink at a time
    kink_part: Common[Ints]  # (1,) address of ``kink_landing.kink_part``
    angles_by: Common[Ints]  # (2,) address of the function of their angles, 0: there are none; and their number
    kinks: OfLanes[Floats]  # (SAMPLES + 2, kinks * LANES) at places of the steps, as of ``Stepper.kinks``
    given: OfCases[Floats]  # (cases or 1, parameters)
    own: OfLanes[Floats]  # (parameters, LANES)
    waiting: OfLanes[Floats]  # the same of the cases that are ready
    ways: OfLanes[Floats]  # (2, LANES) squares of differences of derivatives and of states, of the last two stages
    along: OfLanes[Floats]  # (n, LANES) forces along the coordinates, of states that are no steps
    energy: OfLanes[Floats]  # (LANES,) [J] stored in the forces at the last evaluation
    exchanged: Found[Floats]  # (cases,) [J] work of all steps without their signs
    unresolved: Found[Floats]  # (cases,) [J] as of ``balance.UNRESOLVED``
    bounded: Found[Ints]  # (cases,) steps that stability bounded


class ForcesOfCases(NamedTuple):
    """What forces of cases have of their own."""

    parameters: Floats  # (cases or 1, parameters)
    signals: SignalData  # sets of equally many signals, one after another; the same ones vary in each
    sets: int
    set_of: Ints  # (cases or 1,) set of each case

    def at(self, cases: Ints) -> ForcesOfCases:
        """Those of cases at these places."""
        parameters = self.parameters if len(self.parameters) == 1 else self.parameters[cases]
        return self._replace(parameters=parameters, set_of=self.set_of if len(self.set_of) == 1 else self.set_of[cases])


def batch_forces(
    address: int, first: int, of: ForcesOfCases, cases: int, coordinates: int = 0, *, whole: bool = False,
    acting: tuple[bool, bool] = (False, False), kinks: tuple[Ints, Ints] = NO_KINKS,
    angles: tuple[int, int] = (0, 0), states: int = 0,
) -> BatchForces:  # fmt: skip
    """Memory for forces of so many cases; first: row of their first constant.

    ``whole``: the function is that of the equations; ``coordinates``: forces along them; ``acting``: as of ``BatchForces``;
    ``kinks``: as of ``kinks_of``; ``angles``: address of their function, and their number; ``states``: of forces.
    """
    given, count = of.parameters, (len(of.signals.start) - 1) // of.sets
    varying = [k for k in range(count) if of.signals.sort(k) == VARYING]
    weights = np.maximum.reduceat(of.signals.weight, of.signals.start[:-1]) if count else np.zeros(0)
    watched = np.flatnonzero(weights.reshape(of.sets, count).any(axis=0))
    signals = frozen(of.signals)  # one type in compiled code, with forces and without
    return BatchForces(
        address=np.array([address]), whole=np.array([int(whole)]), acting=np.array(acting, np.int64),
        first=np.array([first]), states=np.array([states]), nodes=COEFFICIENTS.c,
        signals=signals,
        set_of=count * of.set_of, own_set=np.zeros(LANES, np.int64), waiting_set=np.zeros(LANES, np.int64),
        varying=np.array(varying, np.int64), piece=np.zeros((count, LANES), np.int64),
        value=np.zeros(3), values=lanes_of(3 * count, LANES), watched=watched, kinks_by=kinks[0],
        kink_of=kinks[1], kink_part=np.zeros(1, np.int64),
        angles_by=np.array(angles),
        kinks=lanes_of(SAMPLES + 2, len(kinks[1]) * LANES),
        given=given, own=lanes_of(given.shape[1], LANES), waiting=lanes_of(given.shape[1], LANES), ways=lanes_of(2, LANES),
        along=lanes_of(coordinates, LANES), energy=lanes_of(LANES), exchanged=np.zeros(cases),
        unresolved=np.zeros(cases), bounded=np.zeros(cases, np.int64),
    )  # fmt: skip


def no_forces(cases: int = 0) -> BatchForces:
    """The memory of a batch without such forces."""
    return batch_forces(0, 0, ForcesOfCases(np.zeros((0, 0)), no_signals(), 1, np.zeros(1, np.int64)), cases)


@inlined
def call_forces(address, y, signals, own, Q, power, energy):  # type: ignore[no-untyped-def]
    """Forces along the coordinates of all lanes, and their power."""
    addresses.call(
        address, y.ctypes.data, signals.ctypes.data, own.ctypes.data, Q.ctypes.data, power.ctypes.data, energy.ctypes.data
    )  # fmt: skip


@inlined
def call_equations(address, y, signals, own, limits, out, power, energy, worst):  # type: ignore[no-untyped-def]
    """State derivatives of all lanes with the power of the forces, where one function has both."""
    addresses.call(
        address, y.ctypes.data, signals.ctypes.data, own.ctypes.data, limits.ctypes.data, out.ctypes.data,
        power.ctypes.data, energy.ctypes.data, worst.ctypes.data,
    )  # fmt: skip


@inlined
def call_kink_part(x, memory, special):  # type: ignore[no-untyped-def]
    """``kink_landing.kink_part`` of the memory of a batch, where forces have kinks; the number of special attempts."""
    return special if len(x.kinks_by) == 0 else call_at(x.kink_part.ctypes.data, memory, special)


@inlined
def set_signals(x, lane, first, time):  # type: ignore[no-untyped-def]
    """Signals of a lane at a time; first: number of the first signal of its set."""
    for s in range(len(x.varying)):
        k = x.varying[s]
        low, own = x.piece[k, lane], first + k
        if low < x.signals.start[own] or low >= x.signals.start[own + 1]:  # of another set
            low = x.signals.start[own]
        x.piece[k, lane] = piece_near(own, time, x.signals, low)
        evaluate_piece(x.piece[k, lane], time, x.signals, x.value)
        for c in range(3):
            x.values[3 * k + c, lane] = x.value[c]


@inlined
def add_forces(m, y, own, constants, out):  # type: ignore[no-untyped-def]
    """Put forces along the coordinates into the constants of the kernel; behind the rates in ``out`` what ``behind_rates`` has.

    Not where the equations have the forces.
    """
    x = m.forces
    if x.whole[0] == 0:
        call_forces(x.address[0], y, x.values, own, constants[x.first[0] :], out[behind_rates(m) :], x.energy)


@inlined
def behind_rates(m):  # type: ignore[no-untyped-def]
    """Place of the rates of the states of forces, and of the rate of the work, behind those of the tree."""
    return (m.size[0] - m.forces.states[0]) * m.W


@inlined
def forces_in_steps(m, fraction, y, out):  # type: ignore[no-untyped-def]
    """``add_forces`` for all lanes in states y at a fraction of their steps."""
    x = m.forces
    if x.address[0] == 0:
        return
    if len(x.varying) > 0:
        for lane in range(m.W):
            time = m.s.time[lane] + fraction * m.s.length[lane]
            set_signals(x, lane, x.own_set[lane], time)
    add_forces(m, y, x.own, m.constants, out)


@inlined
def bound_by_knots(m, rtol, atol):  # type: ignore[no-untyped-def]
    """Bound the lengths of the next attempts by the knots of signals."""
    x, s, least = m.forces, m.s, least_weight(rtol, atol)
    for lane in range(m.W if len(x.watched) > 0 else 0):
        planned = min(s.next_length[lane], s.longest[lane])
        for r in range(len(x.watched)):
            until = until_knot(x.own_set[lane] + x.watched[r], s.time[lane], planned, least, x.signals)
            if until < planned:
                keep_knot(s, lane, until)
                s.longest[lane] = planned = until


@inlined
def put_parameters(x, case, lane, own, own_set):  # type: ignore[no-untyped-def]
    """Put the parameters of a case into the column of a lane, and the number of its set of signals."""
    of_case = x.given[min(case, len(x.given) - 1)]
    for i in range(len(of_case)):
        own[i, lane] = of_case[i]
    own_set[lane] = x.set_of[min(case, len(x.set_of) - 1)]


@inlined
def load_forces(m, r, case):  # type: ignore[no-untyped-def]
    """Parameters of the forces of a case, as column r of those ready."""
    x = m.forces
    if x.address[0] != 0:
        put_parameters(x, case, r, x.waiting, x.waiting_set)


@inlined
def forces_when_ready(m, begin, fraction, y, out):  # type: ignore[no-untyped-def]
    """``add_forces`` for the cases that are ready, in states y at a fraction of their first steps."""
    x = m.forces
    if x.address[0] == 0:
        return
    if len(x.varying) > 0:
        for lane in range(m.W):
            time = begin + (fraction * m.s.ready_length[lane] if fraction > 0.0 else 0.0)
            set_signals(x, lane, x.waiting_set[lane], time)
    add_forces(m, y, x.waiting, m.ready_constants, out)


@inlined
def begin_forces(m, lane, r):  # type: ignore[no-untyped-def]
    """Give a lane the parameters of a case that is ready."""
    x = m.forces
    if x.address[0] != 0:
        for i in range(len(x.own)):
            x.own[i, lane] = x.waiting[i, r]
        x.own_set[lane] = x.waiting_set[r]
        m.s.exchanged[lane] = m.s.unresolved[lane] = m.s.bounded[lane] = 0.0


@columns
def compare_stages(k, end, last, o, s, rates, distances):  # type: ignore[no-untyped-def]
    """Add the squares of the differences between the last two stages, which are both at the end of the step.

    ``end`` and ``last`` are their states of the component at place o.
    """
    if o < 0:
        return  # never; places of arrays below 0 would count from their ends
    for lane in range(s.W):
        rate, way = k[STAGES, o + lane] - k[STAGES - 1, o + lane], end[lane] - last[lane]
        rates[lane] += rate * rate
        distances[lane] += way * way


@columns
def count_bounded(rates, distances, s):  # type: ignore[no-untyped-def]
    """Whether stability bounds the attempts; the rule of ``dop853.check_stiffness``."""
    for lane in range(s.W):
        h = s.length[lane]
        bounded = 1.0 if h * h * rates[lane] > STABLE * STABLE * distances[lane] else 0.0
        s.attempt_bounded[lane] = bounded if distances[lane] > 0.0 else 0.0
        rates[lane] = distances[lane] = 0.0


@columns
def estimate_work(of5, s):  # type: ignore[no-untyped-def]
    """Bound the errors of the work in the attempts."""
    for lane in range(s.W):
        s.unresolved_now[lane] = s.length[lane] * abs(of5[lane])


@inlined
def check_forces(m):  # type: ignore[no-untyped-def]
    """Find the attempts that stability bounds, and bounds of the errors of the work, after the last stage.

    ``m.trial`` is the state of the stage before.
    """
    if m.forces.address[0] != 0:
        estimate_work(m.errors[0, m.size[0] * m.W :], m.s)
        rates, distances = m.forces.ways[0], m.forces.ways[1]
        for o in range(0, m.size[0] * m.W, m.W):
            compare_stages(m.k, m.end[o:], m.trial[o:], o, m.s, rates, distances)
        count_bounded(rates, distances, m.s)


@inlined
def keep_forces(m, lane):  # type: ignore[no-untyped-def]
    """Count an accepted step of a lane."""
    if m.forces.address[0] != 0:
        e = m.size[0] * m.W + lane
        m.s.exchanged[lane] += abs(m.end[e] - m.y[e])
        m.s.unresolved[lane] += m.s.unresolved_now[lane]
        m.s.bounded[lane] += m.s.attempt_bounded[lane]


@columns
def count_steps(work, before, s):  # type: ignore[no-untyped-def]
    """``keep_forces`` where a step was accepted that was not special."""
    for lane in range(s.W):
        plain = s.accepted[lane] - s.special[lane] > 0.0
        done, bounded = abs(work[lane] - before[lane]), s.attempt_bounded[lane]
        s.exchanged[lane] += done if plain else 0.0
        s.unresolved[lane] += s.unresolved_now[lane] if plain else 0.0
        s.bounded[lane] += bounded if plain else 0.0


@inlined
def go_on_with_forces(m):  # type: ignore[no-untyped-def]
    """Count the accepted steps that were not special."""
    if m.forces.address[0] != 0:
        o = m.size[0] * m.W
        count_steps(m.end[o:], m.y[o:], m.s)


@inlined
def call_angles(address, y, signals, own, out):  # type: ignore[no-untyped-def]
    """Angles of the forces of all lanes."""
    addresses.call(address, y.ctypes.data, signals.ctypes.data, own.ctypes.data, out.ctypes.data)


@inlined
def begin_angles(m):  # type: ignore[no-untyped-def]
    """Have angles stay as they are within steps."""
    for e in range((m.size[0] + 1) * m.W, len(m.y) if m.forces.angles_by[1] > 0 else 0):
        m.ready_k[e] = 0.0
        for q in range(len(m.k)):
            m.k[q, e] = 0.0


@inlined
def follow_angles(m):  # type: ignore[no-untyped-def]
    """Keep the angles at the ends of the attempts as those before: the last components of the states."""
    x = m.forces
    if x.angles_by[0] != 0:
        call_angles(x.angles_by[0], m.end, x.values, x.own, m.end[(m.size[0] + 1) * m.W :])


@inlined
def end_forces(m, lane, case):  # type: ignore[no-untyped-def]
    """Store what is counted of a lane's case."""
    x = m.forces
    if x.address[0] != 0:
        x.exchanged[case], x.bounded[case] = m.s.exchanged[lane], int(m.s.bounded[lane])
        x.unresolved[case] = m.s.unresolved[lane]


@inlined
def load_parameters(x, first, cases, passed):  # type: ignore[no-untyped-def]
    """Put the parameters of the cases from ``first`` on into the lanes, which have passed no event; the last one repeats."""
    for lane in range(x.W):
        passed[lane] = 0
        put_parameters(x, min(first + lane, cases - 1), lane, x.own, x.own_set)


@inlined
def load_states(x, contacts, z, first, q, time, memory, passed):  # type: ignore[no-untyped-def]
    """Put states z (cases, m, n) of these cases at time number q into columns, with their signals and what events decide."""
    for lane in range(x.W):
        case = min(first + lane, len(z) - 1)
        set_signals(x, lane, x.own_set[lane], time)
        if len(contacts.places) > 0:
            passed[lane] = set_events(contacts, x.own, lane, case, passed[lane], time)
        for i in range(z.shape[2]):
            memory[i, lane] = z[case, q, i]


@compiled
def find_stored(forces, contacts, z, times, memory, passed, found):  # type: ignore[no-untyped-def]
    """Energy stored in the forces of all cases at coordinates and rates z (cases, m, n) and times (m,), into ``found``.

    ``contacts``: with the touch-downs and lift-offs of the cases; ``memory`` (n + states of forces + 1, LANES): for a state of
    the lanes, rates of states, and the power; ``passed`` (LANES,): for numbers of events.
    """
    x, c = local(forces), local(contacts)
    for first in range(0, len(z), contacts.W):
        load_parameters(x, first, len(z), passed)
        for q in range(len(times)):
            load_states(x, c, z, first, q, times[q], memory, passed)
            call_forces(x.address[0], memory, x.values, x.own, x.along, memory[z.shape[2] :], x.energy)
            for lane in range(min(contacts.W, len(z) - first)):
                found[first + lane, q] = x.energy[lane]
