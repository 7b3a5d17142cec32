"""Prescribed loads in compiled code: forces and moments on bodies, and motors on the coordinates that drivers guide.

A motor uses the driver's own kernel, whose row is the coordinate theta less its signal, an angle within half a turn.  The signal
is the angle before (``runtime.dynamics.angles``): with it the row is theta with its revolutions.  D is the gradient of theta, and
the motor's moment  Q = effort - stiffness (theta - theta*) - damping (theta' - theta*')  with the target theta* acts as D^T Q.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX, OK, OMEGA, V
from runtime.dynamics.places import APPLIED, CONTACTS, ELEMENTS, LIMITS
from runtime.dynamics.small_matrices import cross, minus, plus, times
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit import addresses
from runtime.jit.compilation import expanded, inlined
from runtime.jit.pointers import call_at
from runtime.jit.rows import put_row, row_of
from runtime.support.arrays import Floats, Ints

# Where a load acts, and in which axes it is given.
AT_CENTRE, AT_GLOBAL_POINT, AT_BODY_POINT = 0, 1, 2


class LoadData(NamedTuple):
    """Data of the loads and motors of a system, in flat arrays."""

    body: Ints  # (loads,)
    at: Ints  # (loads,)
    in_body_axes: Ints  # (loads,) 1 where force and moment are given in axes of the body
    signal: Ints  # (loads, 9) indices of the signals: force, point, moment; the point is unused at the centre
    address: (
        Ints  # (motors,) addresses in this process of the kernels of the drivers whose coordinates the motors act on
    )
    body_i: Ints
    body_j: Ints
    effort: Ints  # (motors,) index of its signal
    target: Ints  # (motors,) index of its signal
    angle_place: Ints  # (motors,) place in x of the driver's signal: the angle before, or 0
    stiffness: Floats  # (motors,) [N m/rad]
    damping: Floats  # (motors,) [N m s/rad]
    vector_motor: Ints  # (vectors,) body-fixed vectors: their motors, places in x, bodies
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    x: Floats  # (motors, X)


class LoadWorkspace(NamedTuple):
    """Memory of one evaluation of the loads."""

    x: Floats  # (motors, X)
    Phi: Floats  # (6,)
    Phi_dot: Floats
    D: Floats  # (6, 12)
    gamma: Floats
    wrench: Floats  # (6,) force, moment about the centre of mass
    energy: Floats  # (1,) [J] in the springs of the motors


def load_workspace(t: LoadData) -> LoadWorkspace:
    """Memory for the loads of a system."""
    six = np.zeros(6)
    return LoadWorkspace(t.x.copy(), six.copy(), six.copy(), np.zeros((6, 12)), six.copy(), six.copy(), np.zeros(1))


@inlined
def add_acceleration(b, Q, data, w, to):  # type: ignore[no-untyped-def]
    """Add the acceleration of body b due to a wrench Q (force, moment about the centre of mass) to ``to`` (6,)."""
    K, inverse = w.inertia_inverse[b], 1.0 / data.mass[b]
    for c in range(3):
        to[c] += Q[c] * inverse
        to[3 + c] += K[c, 0] * Q[3] + K[c, 1] * Q[4] + K[c, 2] * Q[5]


@inlined
def push(b, Q, w):  # type: ignore[no-untyped-def]
    """Add a wrench Q (force, moment about the centre of mass) to ``w.wrench`` of body b; its power [W]."""
    state, wrench, power = w.state[b], w.wrench[b], 0.0
    for c in range(3):
        wrench[c] += Q[c]
        wrench[3 + c] += Q[3 + c]
        power += Q[c] * state[V + c] + Q[3 + c] * state[OMEGA + c]
    w.applied[0] += power
    return power


@inlined
def push_both(i, j, Q, power, w):  # type: ignore[no-untyped-def]
    """``push`` bodies i and j, unless they are the ground, by wrenches Q (12,); a power with that of the wrenches [W]."""
    for side in range(2):
        b = i if side == 0 else j
        if b != GROUND_INDEX:
            power += push(b, Q[6 * side : 6 * side + 6], w)
    return power


@inlined
def collect_wrenches(time, y, t, w, purpose):  # type: ignore[no-untyped-def]
    """Put forces of all kinds into ``w.wrench``, after the states of the bodies; whether there are any."""
    w.applied[0] = 0.0
    limits, contacts, forces = len(t.limits.kind) > 0, len(t.contacts.address) > 0, len(t.forces.address) > 0
    loads = len(t.loads.body) + len(t.loads.address) > 0
    if not (limits or contacts or forces or loads):
        return False
    for b in range(1, len(t.mass)):
        for c in range(6):
            w.wrench[b, c] = 0.0
    if limits:
        call_at(w.address[LIMITS], time, y, t, w, purpose, y)
    if loads:
        call_at(w.address[APPLIED], time, y, t, w, purpose, y)
    if contacts:
        call_at(w.address[CONTACTS], time, y, t, w, purpose, y)
    if forces:
        call_at(w.address[ELEMENTS], time, y, t, w, purpose, y)
    return True


@inlined
def load_wrench(k, t, w):  # type: ignore[no-untyped-def]
    """Put force and moment about the centre of mass of load k, in global axes, into ``w.loads.wrench``."""
    s, x, b = t.signal[k], w.signals, t.body[k]
    force, point, moment = (
        (x[s[0], 0], x[s[1], 0], x[s[2], 0]), (x[s[3], 0], x[s[4], 0], x[s[5], 0]), (x[s[6], 0], x[s[7], 0], x[s[8], 0]),
    )  # fmt: skip
    force, moment = placed_load(row_of(w.A, b, 9), w.state[b], t.at[k], t.in_body_axes[k] == 1, force, point, moment)
    put_row(w.loads.wrench, 0, force + moment)


@expanded
def placed_load(A, r, at, in_body_axes, force, point, moment):  # type: ignore[no-untyped-def]
    """Force and moment about the centre of mass of a load on a body with the rotation matrix A at r, in global axes."""
    arm = 0.0, 0.0, 0.0
    if in_body_axes:
        force, moment = times(A, force), times(A, moment)
    if at == AT_BODY_POINT:
        arm = times(A, point)
    elif at == AT_GLOBAL_POINT:
        arm = minus(point, r)
    return force, plus(moment, cross(arm, force))


@inlined
def measure_motor(k, t, w):  # type: ignore[no-untyped-def]
    """Put the rows of the driver of motor k into ``w.loads``; the coordinate.  Its vectors must be up to date."""
    m = w.loads
    addresses.call(
        t.address[k], w.state[t.body_i[k]].ctypes.data, w.state[t.body_j[k]].ctypes.data, m.x[k].ctypes.data,
        m.Phi.ctypes.data, m.Phi_dot.ctypes.data, m.D.ctypes.data, m.gamma.ctypes.data,
    )  # fmt: skip
    return m.x[k, t.angle_place[k]] + m.Phi[0]


@inlined
def motor_effort(k, t, w):  # type: ignore[no-untyped-def]
    """The moment of motor k; puts how far its coordinate and rate are off the target into ``w.loads``, as ``measure_motor``."""
    m, target = w.loads, w.signals[t.target[k]]
    m.Phi[0] = measure_motor(k, t, w) - target[0]
    m.Phi_dot[0] -= target[1]
    return motor_moment(w.signals[t.effort[k], 0], t.stiffness[k], t.damping[k], m.Phi[0], m.Phi_dot[0])


@expanded
def motor_moment(effort, stiffness, damping, Phi, Phi_dot):  # type: ignore[no-untyped-def]
    """The moment of a motor whose coordinate is off its target by Phi, at the rate Phi'."""
    return effort - stiffness * Phi - damping * Phi_dot


def loads_part(time, y, data, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """Add the loads and motors to ``w.wrench``; bodies and signals must be up to date."""
    t, m = data.loads, w.loads
    Q = m.wrench
    for k in range(len(t.body)):
        load_wrench(k, t, w)
        w.power[k] = push(t.body[k], Q, w)
    rotate_vectors(t.vector_motor, t.vector_place, t.vector_body, t.vector_local, w.A, m.x)
    m.energy[0] = 0.0
    for k in range(len(t.address)):
        i, j, effort = t.body_i[k], t.body_j[k], motor_effort(k, t, w)
        m.energy[0] += 0.5 * t.stiffness[k] * m.Phi[0] * m.Phi[0]
        power = t.stiffness[k] * m.Phi[0] * m.Phi_dot[0]  # into its spring
        for side in range(2):
            b = i if side == 0 else j
            if b == GROUND_INDEX:
                continue
            for c in range(6):
                Q[c] = m.D[0, 6 * side + c] * effort
            power += push(b, Q, w)
        w.power[len(t.body) + k] = power
    return OK
