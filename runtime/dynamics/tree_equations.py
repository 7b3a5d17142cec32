"""Equations of motion in the coordinates of a tree, in compiled code: states of its bodies, forces on them, accelerations.

Forces act on bodies, as in the equations of all bodies.  Along the coordinate of a turn the force is the moment about its axis of
all that the step moves, along that of a slide the force in its direction.
"""

from __future__ import annotations

import math

from runtime.dynamics.elimination import PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.kinematics import update_signals, update_states
from runtime.dynamics.layout import LOADS, OK, P, R
from runtime.dynamics.lift import FREE, GROUND_STEP, SLIDE, TURN, lift, place_steps
from runtime.dynamics.limits_along import clear_limits, powers_of_limits, set_limits, store_limits
from runtime.dynamics.loads import collect_wrenches
from runtime.dynamics.places import TREE
from runtime.dynamics.recursion import tree_derivative
from runtime.dynamics.small_matrices import cross, dot, minus, plus, transposed_times
from runtime.jit import addresses
from runtime.jit.compilation import expanded, inlined
from runtime.jit.pointers import array_at, call_at
from runtime.jit.rows import put_row, row_of


def lift_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """States of all bodies for coordinates and rates y, into ``w.motion``."""
    lift(w.tree.data, w.tree.lifting, array_at(y, w.tree.size[0]), w.motion)
    return OK


@inlined
def clear_forces(m):  # type: ignore[no-untyped-def]
    """Begin the forces on all steps."""
    for k in range(len(m.force)):
        put_row(m.force, k, (0.0, 0.0, 0.0))
        put_row(m.moment, k, (0.0, 0.0, 0.0))


@inlined
def forces_on_steps(t, m, state, wrench):  # type: ignore[no-untyped-def]
    """Put the wrenches of all bodies on the steps that move them last, about the points of these.

    state (bodies + 1, 13), wrench (bodies + 1, 6).
    """
    clear_forces(m)
    for body in range(len(t.step)):
        k, r, Q = t.step[body], state[body + 1, R:P], row_of(wrench, body + 1, 6)
        if k != GROUND_STEP:
            add_force(m, k, minus(r, row_of(m.lifting.r, k, 3)), (Q[0], Q[1], Q[2]), (Q[3], Q[4], Q[5]))


@expanded
def add_force(m, k, arm, force, moment):  # type: ignore[no-untyped-def]
    """Add a force, and a moment about a point, to those on step k; ``arm``: from its own point."""
    put_row(m.force, k, plus(row_of(m.force, k, 3), force))
    put_row(m.moment, k, plus(plus(row_of(m.moment, k, 3), moment), cross(arm, force)))


@expanded
def put_along(t, s, k, force, moment, Q):  # type: ignore[no-untyped-def]
    """Put a force on step k, and a moment about its point, along its coordinates; of balls in the axes of what they carry.

    Q (rates,).
    """
    kind, u = t.kind[k], t.u[k] - t.u[0]
    if kind == TURN or kind == SLIDE:
        Q[u] = dot(row_of(s.axis, k, 3), force if kind == SLIDE else moment)
    else:
        if kind == FREE:
            Q[u], Q[u + 1], Q[u + 2] = force
            u += 3
        Q[u], Q[u + 1], Q[u + 2] = transposed_times(row_of(s.A, k, 9), moment)


@inlined
def forces_along(t, m):  # type: ignore[no-untyped-def]
    """Forces along the coordinates, into ``m.Q``, with those of all steps beyond."""
    s, Q = m.lifting, m.Q
    for k in range(len(t.kind) - 1, -1, -1):
        b, force, moment = t.parent[k], row_of(m.force, k, 3), row_of(m.moment, k, 3)
        put_along(t, s, k, force, moment, Q)
        if b != GROUND_STEP:
            add_force(m, b, row_of(s.way, k, 3), force, moment)


@inlined
def load_steps(time, z, t, w, purpose):  # type: ignore[no-untyped-def]
    """Put the forces of all kinds at coordinates and rates z on the steps."""
    m = w.tree
    lift(m.data, m.lifting, z, w.motion)
    update_states(t, w)
    update_signals(time, t, w)
    collect_wrenches(time, z, t, w, purpose)
    forces_on_steps(m.data, m, w.state, w.wrench)


def tree_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """The derivative of coordinates and rates y, or forces of all kinds and their powers alone."""
    m = w.tree
    n = m.size[0]
    z, z_dot = array_at(y, n), array_at(y_dot, n)
    if m.loaded[0] == 1:
        load_steps(time, z, t, w, purpose)
    if purpose == LOADS:
        return OK
    if m.address[0] == 0:
        if m.loaded[0] == 0:
            place_steps(m.data, m.lifting, z)
        return tree_derivative(m.data, m.lifting, m.recursion, m, z, z_dot, w.smallest_pivot)
    if m.loaded[0] == 1:
        forces_along(m.data, m)
        clear_limits(m.limits)
    return by_kernel(z, w, z_dot)


@inlined
def by_kernel(z, w, z_dot):  # type: ignore[no-untyped-def]
    """The derivative by the kernel, with its present constants; a code."""
    m, none = w.tree, z.ctypes.data
    # The first stage of a step, which has no length, no end and no error.
    addresses.call(
        m.address[0], none, z_dot.ctypes.data, none, m.constants.ctypes.data, none, none, w.smallest_pivot.ctypes.data
    )
    for k in range(len(m.Q)):
        m.Q[k] = 0.0  # the stages of a whole step have no such forces
    w.smallest_pivot[0] = 1.0 / math.sqrt(w.smallest_pivot[0])
    return OK if w.smallest_pivot[0] > PIVOT_TOLERANCE else code_of_pivot(w.smallest_pivot[0])


def free_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """``kernel_part`` without limits, apart from it as what it would do with limits takes 8 % of an evaluation of a foot."""
    if purpose == LOADS:
        return call_at(w.address[TREE], time, y, t, w, purpose, y_dot)
    w.applied[0] = 0.0
    return by_kernel(array_at(y, w.tree.size[0]), w, array_at(y_dot, w.tree.size[0]))


def kernel_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """The derivative of coordinates and rates y where a kernel knows all forces; ``tree_part`` for limits beyond it."""
    z, z_dot = array_at(y, w.tree.size[0]), array_at(y_dot, w.tree.size[0])
    if purpose == LOADS or not set_limits(z, t, w):
        return call_at(w.address[TREE], time, y, t, w, purpose, y_dot)
    code = by_kernel(z, w, z_dot)
    w.applied[0] = 0.0
    store_limits(z, t, w)
    powers_of_limits(z_dot, t, w)
    return code
