"""Forces in compiled code: the kernels of their definitions, and the curves that these look up."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.kinematics import size_of_state
from runtime.dynamics.layout import GROUND_INDEX, OK
from runtime.dynamics.loads import push
from runtime.dynamics.signals import piece_at
from runtime.dynamics.sources import first_force
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit import addresses
from runtime.jit.compilation import expanded, inlined
from runtime.jit.pointers import array_at
from runtime.support.arrays import Floats, Ints, frozen

MAX_BODIES = 4  # of a force
# Outputs of an evaluation of a force: force and moment on each of four bodies; potential and its rate; reported quantities.
WRENCH, ENERGY, ENERGY_RATE, REPORTS = 0, 6 * MAX_BODIES, 6 * MAX_BODIES + 1, 6 * MAX_BODIES + 2
LOOKED_UP = 4  # numbers that a call of a table gives: its integral, its value and two derivatives


class ForceData(NamedTuple):
    """The forces of a system as flat arrays."""

    address: Ints  # (forces,) of their kernels, in this process
    lookups: Ints  # (forces,) addresses of the kernels that give the arguments of their tables, 0 for none
    kinks: Ints  # (forces,) addresses of the kernels that give the numbers that change sign at kinks, 0 for none
    kink: Ints  # (forces + 1,) where the kinks of each force begin: those of its kernel, then the knots of its tables
    angles: Ints  # (forces,) addresses of the kernels of angles whose revolutions are counted, 0 for none
    angle_place: Ints  # (forces,) in x of the first angle before
    bodies: Ints  # (forces,) number of bodies of their kernels, 2 or 4
    body: Ints  # (forces, 4) i, j, k, l
    vector_force: Ints  # (vectors,) body-fixed vectors: their force and place in x, and their components
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    signal: Ints  # (signals,) numbers of the signals of forces, with their forces and places in x
    signal_force: Ints
    signal_place: Ints
    state_force: (
        Ints  # (states,) of forces: their forces, their places in x, and the places of their rates among the outputs
    )
    state_place: Ints
    state_rate: Ints
    call: Ints  # (forces + 1,) where the calls of tables of each force begin
    call_place: Ints  # (calls,) in x
    start: Ints  # (calls + 1,) where the pieces of each call's table begin
    knot: Floats  # (pieces,)
    coefficient: Floats  # (pieces, 5) of the integral of the table, in powers of the distance from the knot
    reactive: Ints  # (forces with normal loads, 7) see ``runtime.dynamics.joint_loads``
    x: Floats  # (forces, X)
    outputs: int  # numbers that a force gives, at most


class ForceWorkspace(NamedTuple):
    """Memory of one evaluation of the forces."""

    x: Floats  # (forces, X)
    out: Floats  # (forces, outputs)
    argument: Floats  # (calls,) of the tables of one force
    kinks: Floats  # what the kernel of the kinks of one force gives
    followed: Ints  # (1,) number of states that follow the motion in a state of the integration: all, or none, which stay as in x


def force_workspace(t: ForceData) -> ForceWorkspace:
    """Memory for the forces of a system, whose states keep their initial values until they are ``followed``."""
    out, argument = np.zeros((len(t.address), t.outputs)), np.zeros(max(len(t.call_place), 1))
    kinks = np.zeros((np.diff(t.kink) + np.diff(t.call)).max(initial=1))
    return ForceWorkspace(t.x.copy(), out, argument, kinks, np.zeros(1, np.int64))


def follow_states(t: ForceData, m: ForceWorkspace) -> None:
    """Have evaluations take the states of forces from behind the motion in a state of the integration."""
    m.followed[0] = len(t.state_place)


DIRECTION, TERMINAL, AT_START = range(3)  # columns of ``EventWorkspace.rules``
NO_RULES, NO_LIMITS = np.zeros((0, 3), np.int64), np.zeros((0, 2))


class EventWorkspace(NamedTuple):
    """The events of a run that compiled code finds, and their values; see ``runtime.integrate.crossings``."""

    data: ForceData  # of those that are definitions
    forces: ForceWorkspace
    rules: Ints  # (events, 3)
    definition: Ints  # (events,) number of the definition; -1: the event is that bodies come to rest
    limits: Floats  # (events, 2) [m/s] or [rad/s], [m/s^2] or [rad/s^2] of this
    # (4,) for the accelerations of all bodies: places of the addresses of an evaluation and of its angles, addresses of its data
    # and its memory
    evaluation: Ints
    y: Floats  # (13 bodies + states of forces,) of this
    y_dot: Floats
    now: Floats  # (events,) in the state that was asked for last
    value: Floats  # (events,) at the end of the last step
    samples: Floats  # (places, events) in the last step
    found: Ints  # (1,) number of zeros in the last step; below 0 where a value was not finite
    zeros: Floats  # (events places, 2) numbers of their events, and times [s]
    address: Ints  # (1,) place of the address of the code that finds them, in this process


def event_workspace(
    t: ForceData, rules: Ints = NO_RULES, limits: Floats = NO_LIMITS, places: int = 0, size: int = 0
) -> EventWorkspace:
    """Memory for events: first reported quantities of definitions, or with ``limits`` that bodies come to rest, else NaN.

    They are sampled at so many places of a step; ``size`` of the states of bodies and forces.
    """
    count, defined = len(rules), np.isnan(limits[:, 0])
    return EventWorkspace(
        data=t, forces=force_workspace(t), rules=rules, definition=np.where(defined, np.cumsum(defined) - 1, -1),
        limits=limits, evaluation=np.zeros(4, np.int64), y=np.zeros(size), y_dot=np.zeros(size), now=np.zeros(count),
        value=np.zeros(count), samples=np.zeros((places, count)), found=np.zeros(1, np.int64),
        zeros=np.zeros((places * count, 2)), address=np.zeros(1, np.int64),
    )  # fmt: skip


def no_events(t: ForceData) -> EventWorkspace:
    """The memory of a run without events."""
    return event_workspace(none_of(t))


def none_of(t: ForceData) -> ForceData:
    """Data of the same types without forces."""
    parts: dict[str, Any] = {}
    for name, value in t._asdict().items():
        if isinstance(value, np.ndarray):  # these three end with the number of their items
            parts[name] = np.zeros((1 if name in ("call", "start", "kink") else 0, *value.shape[1:]), value.dtype)
    return frozen(t._replace(**parts))


@inlined
def look_up(call, argument, t, to):  # type: ignore[no-untyped-def]
    """Put the integral of a call's table, its value and two derivatives into ``to``."""
    low = piece_at(call, argument, t)
    to[0], to[1], to[2], to[3] = values_of_piece(t.coefficient[low], argument - t.knot[low])


@expanded
def values_of_piece(c, h):  # type: ignore[no-untyped-def]
    """The integral of a table, its value and two derivatives, at a distance from the knot of a piece."""
    return (
        c[0] + h * (c[1] + h * (c[2] + h * (c[3] + h * c[4]))), c[1] + h * (2.0 * c[2] + h * (3.0 * c[3] + h * 4.0 * c[4])),
        2.0 * c[2] + h * (6.0 * c[3] + h * 12.0 * c[4]), 6.0 * c[3] + h * 24.0 * c[4],
    )  # fmt: skip


@inlined
def call_kernel(address, k, t, m, state, to):  # type: ignore[no-untyped-def]
    """Call a kernel of force k, whose vectors and signals must be up to date in x."""
    i, j, o, p = state[t.body[k, 0]], state[t.body[k, 1]], state[t.body[k, 2]], state[t.body[k, 3]]
    addresses.call(
        address, i.ctypes.data, j.ctypes.data, o.ctypes.data, p.ctypes.data, m.x[k].ctypes.data, to.ctypes.data
    )


@inlined
def look_up_tables(k, t, m, state):  # type: ignore[no-untyped-def]
    """Put what the tables of force k give into its x, in which its vectors must be up to date."""
    if t.lookups[k] != 0:
        call_kernel(t.lookups[k], k, t, m, state, m.argument)
        for call in range(t.call[k], t.call[k + 1]):
            place = t.call_place[call]
            look_up(call, m.argument[call - t.call[k]], t, m.x[k, place : place + LOOKED_UP])


@inlined
def evaluate_force(k, t, m, state):  # type: ignore[no-untyped-def]
    """Fill the outputs of force k; its vectors and signals must be up to date in x."""
    look_up_tables(k, t, m, state)
    call_kernel(t.address[k], k, t, m, state, m.out[k])


@inlined
def follow_force(k, t, m, state):  # type: ignore[no-untyped-def]
    """Keep the angles of force k as those before; its vectors must be up to date in x."""
    if t.angles[k] != 0:
        call_kernel(t.angles[k], k, t, m, state, m.x[k, t.angle_place[k] :])


@inlined
def evaluate_kinks(y, data, w, to):  # type: ignore[no-untyped-def]
    """Put what changes its sign at kinks of laws in a state y into ``to``; bodies and signals must be up to date."""
    t, m = data.forces, w.forces
    put_states(y, data, w)
    put_moving(t, m, w)
    for k in range(len(t.address)):
        if t.kinks[k] != 0:
            look_up_tables(k, t, m, w.state)
            call_kernel(t.kinks[k], k, t, m, w.state, m.kinks)
            put_kinks(k, t, m, to)


@inlined
def put_kinks(k, t, m, to):  # type: ignore[no-untyped-def]
    """Put what the kernel of the kinks of force k gives into ``to``, and behind it the distances from the knots of its tables."""
    first, last, place = t.call[k], t.call[k + 1], t.kink[k]
    own = t.kink[k + 1] - place - (t.start[last] - t.start[first]) + (last - first)
    for c in range(own):
        to[place + c] = m.kinks[c]
    place += own
    for call in range(first, last):
        for piece in range(t.start[call] + 1, t.start[call + 1]):
            to[place] = beyond_knot(m.argument[call - first], t.knot[piece], m.kinks[own + call - first])
            place += 1


@expanded
def beyond_knot(argument, knot, rounding):  # type: ignore[no-untyped-def]
    """The distance of an argument from a knot, 0 within its rounding."""
    off = argument - knot
    above, below = off - rounding, -off - rounding
    return 0.5 * (above + math.fabs(above)) - 0.5 * (below + math.fabs(below))


@inlined
def put_states(y, data, w):  # type: ignore[no-untyped-def]
    """Put the states of forces, which follow the motion in a state y of the integration, into x."""
    t, m, first = data.forces, w.forces, size_of_state(data, w)
    for k in range(m.followed[0]):
        m.x[t.state_force[k], t.state_place[k]] = y[first + k]


@inlined
def put_rates(data, w, y_dot):  # type: ignore[no-untyped-def]
    """Put the rates of these states in the last evaluation behind the derivative of the motion in ``y_dot``."""
    t, m, first = data.forces, w.forces, size_of_state(data, w)
    for k in range(m.followed[0]):
        y_dot[first + k] = m.out[t.state_force[k], t.state_rate[k]]


@inlined
def put_moving(t, m, w):  # type: ignore[no-untyped-def]
    """Put the vectors and the signals of forces into x."""
    rotate_vectors(t.vector_force, t.vector_place, t.vector_body, t.vector_local, w.A, m.x)
    for s in range(len(t.signal)):
        for c in range(3):
            m.x[t.signal_force[s], t.signal_place[s] + c] = w.signals[t.signal[s], c]


def forces_part(time, y, data, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """Add the forces in a state y to ``w.wrench``; bodies and signals must be up to date."""
    t, m, first = data.forces, w.forces, first_force(data)
    put_states(array_at(y, size_of_state(data, w) + m.followed[0]), data, w)
    put_moving(t, m, w)
    for k in range(len(t.address)):
        evaluate_force(k, t, m, w.state)
        power = m.out[k, ENERGY_RATE]
        for side in range(t.bodies[k]):
            b = t.body[k, side]
            if b != GROUND_INDEX:
                power += push(b, m.out[k, 6 * side : 6 * side + 6], w)
        w.power[first + k] = power
    return OK
