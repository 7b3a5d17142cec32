"""States and energies of the bodies of trees, of many cases side by side in vector instructions.

The formulas are those of ``runtime.dynamics.lift``.  A lane is a column: equal components of LANES cases are next to each other.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES, OMEGA, STATE, P, R, V
from runtime.dynamics.lift import FREE, GROUND_STEP, SLIDE, TURN, product
from runtime.dynamics.small_matrices import cross, dot, plus, plus_times, times, transposed_times
from runtime.jit.compilation import CONTRACT, columns, compiled, expanded, inlined
from runtime.support.arrays import Floats, Ints, lanes_of

# Rows of the data of a step: axis and way; of a body: arm, Euler parameters, mass, inertia.
AXIS, WAY, OF_STEP = 0, 3, 6
ARM, TURNED, MASS, INERTIA, OF_BODY = 0, 3, 7, 8, 17
KINETIC, OF_GRAVITY = 0, 1
# Taylor's series of sine and cosine: up to an eighth of a turn the terms that are left out are below 1e-16.
S3, S5, S7, S9, S11, S13, S15 = ((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 8))
C2, C4, C6, C8, C10, C12, C14, C16 = ((-1.0) ** k / math.factorial(2 * k) for k in range(1, 9))
QUARTER, REST = 0.5 * math.pi, 6.123233995736766e-17  # of a turn [rad], and by how much the number is too small
WHOLE = 1.5 * 2.0**52  # the sum with it has no digits after the point


class CasesOfTree(NamedTuple):
    """Geometry and masses of trees of the same steps, as of ``TreeData``; a first axis of 1 where all cases have the same."""

    kind: Ints  # (n,)
    parent: Ints  # (n,)
    q: Ints  # (n,)
    u: Ints  # (n,)
    step: Ints  # (bodies,)
    axis: Floats  # (cases, n, 3)
    way: Floats  # (cases, n, 3)
    arm: Floats  # (cases, bodies, 3)
    p: Floats  # (cases, bodies, 4)
    mass: Floats  # (cases, bodies, 1)
    inertia: Floats  # (cases, bodies, 9)
    gravity: Floats  # (cases, 1, 3)


class LanesOfTree(NamedTuple):
    """Memory; rows of LANES numbers each, flat."""

    z: Floats  # (size of a state * LANES,)
    steps: Floats  # (n, OF_STEP * LANES)
    bodies: Floats  # (bodies, OF_BODY * LANES)
    gravity: Floats  # (3 * LANES,)
    cosine: Floats  # (LANES,) of half of an angle
    sine: Floats
    places: Floats  # (n + 1, STATE * LANES) after each step; the last one is the ground
    states: Floats  # (bodies, STATE * LANES)
    sums: Floats  # (2 * LANES,)


def lanes_of_tree(steps: int, bodies: int, state: int) -> LanesOfTree:
    """Memory for a tree of so many steps and bodies, and the size of its state."""
    places = lanes_of(steps + 1, STATE * LANES)
    places[steps, P * LANES : (P + 1) * LANES] = 1.0
    z, gravity, cosine, sine, sums = (lanes_of(rows * LANES) for rows in (state, 3, 1, 1, 2))
    sizes = (steps, OF_STEP), (bodies, OF_BODY), (bodies, STATE)
    own, of_bodies, states = (lanes_of(count, rows * LANES) for count, rows in sizes)
    return LanesOfTree(z, own, of_bodies, gravity, cosine, sine, places, states, sums)


@expanded
def three(rows, row, lane):  # type: ignore[no-untyped-def]
    """Three rows from one on, in a lane."""
    at = row * LANES + lane
    return rows[at], rows[at + LANES], rows[at + 2 * LANES]


@expanded
def put_three(rows, row, lane, v):  # type: ignore[no-untyped-def]
    """Store a vector as three rows."""
    at = row * LANES + lane
    rows[at], rows[at + LANES], rows[at + 2 * LANES] = v[0], v[1], v[2]


@expanded
def four(rows, row, lane):  # type: ignore[no-untyped-def]
    """Four rows from one on, in a lane."""
    at = row * LANES + lane
    return rows[at], rows[at + LANES], rows[at + 2 * LANES], rows[at + 3 * LANES]


@expanded
def put_four(rows, row, lane, p):  # type: ignore[no-untyped-def]
    """Store Euler parameters as four rows."""
    at = row * LANES + lane
    rows[at], rows[at + LANES], rows[at + 2 * LANES], rows[at + 3 * LANES] = p[0], p[1], p[2], p[3]


@expanded
def matrix_of(p):  # type: ignore[no-untyped-def]
    """Rotation matrix of Euler parameters of any length."""
    e0, e1, e2, e3 = p
    s = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    return (
        1.0 - s * (e2 * e2 + e3 * e3), s * (e1 * e2 - e0 * e3), s * (e1 * e3 + e0 * e2), s * (e1 * e2 + e0 * e3),
        1.0 - s * (e1 * e1 + e3 * e3), s * (e2 * e3 - e0 * e1), s * (e1 * e3 - e0 * e2), s * (e2 * e3 + e0 * e1),
        1.0 - s * (e1 * e1 + e2 * e2),
    )  # fmt: skip


@columns
def turn_halves(q, cosine, sine):  # type: ignore[no-untyped-def]
    """Cosines and sines of half of the angles."""
    for lane in range(LANES):
        x = 0.5 * q[lane]
        quarters = (x * (1.0 / QUARTER) + WHOLE) - WHOLE
        r = (x - quarters * QUARTER) - quarters * REST
        z = r * r
        s = r + r * z * (S3 + z * (S5 + z * (S7 + z * (S9 + z * (S11 + z * (S13 + z * S15))))))
        c = 1.0 + z * (C2 + z * (C4 + z * (C6 + z * (C8 + z * (C10 + z * (C12 + z * (C14 + z * C16)))))))
        left = quarters - 4.0 * ((0.25 * quarters + WHOLE) - WHOLE)  # quarters of the last turn: -2, -1, 0, 1 or 2
        of_cosine, of_sine = (s, c) if abs(left) == 1.0 else (c, s)
        cosine[lane] = -of_cosine if left > 0.5 or left < -1.5 else of_cosine
        sine[lane] = -of_sine if left < -0.5 or left > 1.5 else of_sine


@columns
def turn(before, own, cosine, sine, u, after):  # type: ignore[no-untyped-def]
    """State of the point of a turn and of what it carries."""
    for lane in range(LANES):
        p, omega, axis = four(before, P, lane), three(before, OMEGA, lane), three(own, AXIS, lane)
        A, f = matrix_of(p), sine[lane]
        way = times(A, three(own, WAY, lane))
        put_three(after, R, lane, plus(three(before, R, lane), way))
        put_three(after, V, lane, plus(three(before, V, lane), cross(omega, way)))
        put_three(after, OMEGA, lane, plus_times(omega, u[lane], times(A, axis)))
        put_four(after, P, lane, product(p, (cosine[lane], f * axis[0], f * axis[1], f * axis[2])))


@columns
def slide(before, own, q, u, after):  # type: ignore[no-untyped-def]
    """State of the point of a slide and of what it carries."""
    for lane in range(LANES):
        p, omega = four(before, P, lane), three(before, OMEGA, lane)
        A = matrix_of(p)
        axis = times(A, three(own, AXIS, lane))
        way = plus_times(times(A, three(own, WAY, lane)), q[lane], axis)
        put_three(after, R, lane, plus(three(before, R, lane), way))
        put_three(after, V, lane, plus_times(plus(three(before, V, lane), cross(omega, way)), u[lane], axis))
        put_three(after, OMEGA, lane, omega)
        put_four(after, P, lane, p)


@columns
def turn_freely(before, own, q, u, after):  # type: ignore[no-untyped-def]
    """State of the point of a ball and of what it carries; q: Euler parameters, u: angular velocity."""
    for lane in range(LANES):
        p, omega = four(before, P, lane), three(before, OMEGA, lane)
        A = matrix_of(p)
        way = times(A, three(own, WAY, lane))
        put_three(after, R, lane, plus(three(before, R, lane), way))
        put_three(after, V, lane, plus(three(before, V, lane), cross(omega, way)))
        put_three(after, OMEGA, lane, plus(omega, times(A, three(u, 0, lane))))
        put_four(after, P, lane, product(p, four(q, 0, lane)))


@columns
def move_freely(own, q, u, after):  # type: ignore[no-untyped-def]
    """State of the point of a free step, which the ground carries."""
    for lane in range(LANES):
        put_three(after, R, lane, plus(three(own, WAY, lane), three(q, 0, lane)))
        put_three(after, V, lane, three(u, 0, lane))
        put_three(after, OMEGA, lane, three(u, 3, lane))
        put_four(after, P, lane, four(q, 3, lane))


@columns
def set_body(before, own, state):  # type: ignore[no-untyped-def]
    """State of a body after the last step that moves it."""
    for lane in range(LANES):
        p, omega = four(before, P, lane), three(before, OMEGA, lane)
        arm = times(matrix_of(p), three(own, ARM, lane))
        put_three(state, R, lane, plus(three(before, R, lane), arm))
        put_three(state, V, lane, plus(three(before, V, lane), cross(omega, arm)))
        put_three(state, OMEGA, lane, omega)
        e0, e1, e2, e3 = product(p, four(own, TURNED, lane))
        inverse = 1.0 / math.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
        put_four(state, P, lane, (e0 * inverse, e1 * inverse, e2 * inverse, e3 * inverse))


@columns
def add_energies(state, own, gravity, sums):  # type: ignore[no-untyped-def]
    """Add the kinetic energy of a body and that of gravity."""
    for lane in range(LANES):
        w, v = transposed_times(matrix_of(four(state, P, lane)), three(state, OMEGA, lane)), three(state, V, lane)
        h = (
            dot(three(own, INERTIA, lane), w), dot(three(own, INERTIA + 3, lane), w), dot(three(own, INERTIA + 6, lane), w),
        )  # fmt: skip
        mass = own[MASS * LANES + lane]
        sums[KINETIC * LANES + lane] += 0.5 * (dot(w, h) + mass * dot(v, v))
        sums[OF_GRAVITY * LANES + lane] -= mass * dot(three(state, R, lane), three(gravity, 0, lane))


@inlined
def load(values, k, first, rows):  # type: ignore[no-untyped-def]
    """Put values (cases, k, m) of the cases from ``first`` on into rows (m * LANES,); lanes beyond the last case repeat it."""
    for lane in range(LANES):
        case = min(first + lane, len(values) - 1)
        for i in range(values.shape[2]):
            rows[i * LANES + lane] = values[case, k, i]


@inlined
def load_cases(t, m, first):  # type: ignore[no-untyped-def]
    """Geometry and masses of the cases from ``first`` on."""
    for k in range(len(t.kind)):
        load(t.axis, k, first, m.steps[k, AXIS * LANES :])
        load(t.way, k, first, m.steps[k, WAY * LANES :])
    for b in range(len(t.step)):
        load(t.arm, b, first, m.bodies[b, ARM * LANES :])
        load(t.p, b, first, m.bodies[b, TURNED * LANES :])
        load(t.mass, b, first, m.bodies[b, MASS * LANES :])
        load(t.inertia, b, first, m.bodies[b, INERTIA * LANES :])
    load(t.gravity, 0, first, m.gravity)


@inlined
def place_steps(t, m):  # type: ignore[no-untyped-def]
    """States after all steps."""
    n = len(t.kind)
    for k in range(n):
        b, q, u = t.parent[k], m.z[t.q[k] * LANES :], m.z[t.u[k] * LANES :]
        before = m.places[n if b == GROUND_STEP else b]
        if t.kind[k] == TURN:
            turn_halves(q, m.cosine, m.sine)
            turn(before, m.steps[k], m.cosine, m.sine, u, m.places[k])
        elif t.kind[k] == SLIDE:
            slide(before, m.steps[k], q, u, m.places[k])
        elif t.kind[k] == FREE:
            move_freely(m.steps[k], q, u, m.places[k])
        else:
            turn_freely(before, m.steps[k], q, u, m.places[k])


@inlined
def store_states(states, first, to, y, time):  # type: ignore[no-untyped-def]
    """Put the states of the bodies into those of the wanted cases."""
    for lane in range(min(LANES, len(to) - first)):
        if to[first + lane] >= 0:
            out = y[to[first + lane], time]
            for b in range(len(states)):
                for i in range(STATE):
                    out[b * STATE + i] = states[b, i * LANES + lane]


def _lift_lanes(t, m, z, to, y, energies):  # type: ignore[no-untyped-def]
    """States and energies of bodies at coordinates and rates z (cases, times, n).

    Filled, where they have any cases: y (any, times, 13 bodies) with the states of case k in row ``to[k]``, unless that is below
    0, at the last times of z; energies (cases, times, 3): the kinetic one and that of gravity.
    """
    varied = max(len(t.axis), len(t.arm), len(t.mass), len(t.inertia), len(t.gravity)) > 1
    bodies, earlier = len(t.step), z.shape[1] - y.shape[1]
    for first in range(0, len(z), LANES):
        if varied or first == 0:
            load_cases(t, m, first)
        for time in range(z.shape[1]):
            load(z, time, first, m.z)
            place_steps(t, m)
            for b in range(bodies):
                before = m.places[len(t.kind) if t.step[b] == GROUND_STEP else t.step[b]]
                set_body(before, m.bodies[b], m.states[b])
            if len(y) > 0 and time >= earlier:
                store_states(m.states, first, to, y, time - earlier)
            if len(energies) > 0:
                for e in range(len(m.sums)):
                    m.sums[e] = 0.0
                for b in range(bodies):
                    add_energies(m.states[b], m.bodies[b], m.gravity, m.sums)
                for lane in range(min(LANES, len(z) - first)):
                    energies[first + lane, time, KINETIC] = m.sums[KINETIC * LANES + lane]
                    energies[first + lane, time, OF_GRAVITY] = m.sums[OF_GRAVITY * LANES + lane]


lift_lanes = compiled(_lift_lanes, fastmath=CONTRACT)


@cache  # once in a process
def prepare_lift() -> None:
    """Compile ``lift_lanes``, without a call."""
    steps, geometry = np.zeros(1, np.int64), np.zeros((1, 1, 3))
    for values in (steps, geometry):
        values.setflags(write=False)
    y, energies = np.zeros((1, 1, STATE)), np.zeros((1, 1, 3))
    trees = CasesOfTree(steps, steps, steps, steps, steps, *[geometry] * 7)
    lift_lanes.prepare(trees, lanes_of_tree(1, 1, 2), np.zeros((1, 1, 2)), np.zeros(1, np.int64), y, energies)
