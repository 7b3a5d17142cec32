"""States of the bodies of a tree from the coordinates and rates of its steps, in compiled code."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from runtime.dynamics.kinematics import rotation
from runtime.dynamics.small_matrices import cross, plus, plus_times, times
from runtime.jit.compilation import compiled, expanded, inlined
from runtime.jit.pointers import local
from runtime.jit.rows import put_row, row_of
from runtime.support.arrays import Floats, Ints

TURN, SLIDE, BALL, FREE = range(4)  # kinds of steps
GROUND_STEP = -1
# Ties of Euler parameters and angular velocities: in the axes in which the former turn, and in those that they turn, as of balls.
OF_TURN, OF_OWN_TURN = 4, 5


class TreeData(NamedTuple):
    """Steps of a tree, each after the one that carries it; vectors in global axes, in the reference configuration.

    A turn has one angle, a slide one distance.  A ball has Euler parameters of its turn since the reference configuration, in
    axes of what carries it, and the relative angular velocity in axes of what it carries, in which spins are steady; a free step
    also has its displacement and velocity, first.
    """

    kind: Ints  # (n,)
    parent: Ints  # (n,) GROUND_STEP: none
    q: Ints  # (n,) place of the coordinates of each step in the state
    u: Ints  # (n,) and of its rates
    axis: Floats  # (n, 3)
    way: Floats  # (n, 3) from the point of the step before, or from the origin [m]
    mass: Floats  # (n,) of what the step moves and no later one does
    moment: Floats  # (n, 3) mass times the way from the point of the step to its centre [kg m]
    inertia: Floats  # (n, 3, 3) about the point [kg m^2]
    gravity: Floats  # (3,)
    step: Ints  # (bodies,) the last step that moves each body; GROUND_STEP: none
    arm: Floats  # (bodies, 3) from the point of this step to the body, or from the origin [m]
    p: Floats  # (bodies, 4) Euler parameters
    armature: Floats  # (n,) inertia of a rotor along a turn [kg m^2] or slide [kg]


def places_of_turns(tree: TreeData) -> Ints:
    """Places of the angles of turns in the state, in the order of the steps."""
    places: Ints = tree.q[tree.kind == TURN]
    return places


class LiftWorkspace(NamedTuple):
    """Memory: after each step its point, Euler parameters, rotation matrix, velocity of the point, angular velocity."""

    r: Floats  # (n + 1, 3); the last one is the ground
    p: Floats  # (n + 1, 4)
    A: Floats  # (n + 1, 3, 3)
    v: Floats  # (n + 1, 3)
    omega: Floats  # (n + 1, 3)
    way: Floats  # (n, 3) from the point of the step before
    axis: Floats  # (n, 3)
    rate: Floats  # (n, 3) relative angular velocity, or that of the point of a slide


def lift_workspace(steps: int) -> LiftWorkspace:
    """Memory for a tree of so many steps."""
    n = steps + 1
    return LiftWorkspace(
        np.zeros((n, 3)), np.zeros((n, 4)), np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((steps, 3)),
        np.zeros((steps, 3)), np.zeros((steps, 3)),
    )  # fmt: skip


@expanded
def product(e, f):  # type: ignore[no-untyped-def]
    """Euler parameters of the turn f followed by the turn e."""
    e0, e1, e2, e3, f0, f1, f2, f3 = e[0], e[1], e[2], e[3], f[0], f[1], f[2], f[3]
    return (
        e0 * f0 - e1 * f1 - e2 * f2 - e3 * f3, e0 * f1 + f0 * e1 + e2 * f3 - e3 * f2, e0 * f2 + f0 * e2 + e3 * f1 - e1 * f3,
        e0 * f3 + f0 * e3 + e1 * f2 - e2 * f1,
    )  # fmt: skip


@inlined
def begin_at_ground(w, n):  # type: ignore[no-untyped-def]
    """Put the ground after the steps."""
    for c in range(3):
        w.r[n, c] = w.v[n, c] = w.omega[n, c] = 0.0
    w.p[n, 0], w.p[n, 1], w.p[n, 2], w.p[n, 3] = 1.0, 0.0, 0.0, 0.0
    rotation(w.p[n], w.A[n])


@inlined
def place_steps(t, w, z):  # type: ignore[no-untyped-def]
    """Poses and velocities after all steps, for coordinates and rates z."""
    t, w, n = local(t), local(w), len(t.kind)
    begin_at_ground(w, n)
    for k in range(n):
        b, q, u, kind = t.parent[k], t.q[k], t.u[k], t.kind[k]
        if b == GROUND_STEP:
            b = n
        A, p, omega = row_of(w.A, b, 9), row_of(w.p, b, 4), row_of(w.omega, b, 3)
        way, v = times(A, row_of(t.way, k, 3)), row_of(w.v, b, 3)
        if kind == TURN or kind == SLIDE:
            own = row_of(t.axis, k, 3)
            axis = times(A, own)
            put_row(w.axis, k, axis)
            rate = z[u] * axis[0], z[u] * axis[1], z[u] * axis[2]
            if kind == TURN:
                cosine, sine = math.cos(0.5 * z[q]), math.sin(0.5 * z[q])
                p = product(p, (cosine, sine * own[0], sine * own[1], sine * own[2]))
            else:
                way, v = plus_times(way, z[q], axis), plus(v, rate)
        else:
            if kind == FREE:
                way, v = plus(way, (z[q], z[q + 1], z[q + 2])), (z[u], z[u + 1], z[u + 2])
                q, u = q + 3, u + 3
            p = product(p, (z[q], z[q + 1], z[q + 2], z[q + 3]))
        rotation(p, w.A[k])
        if kind == BALL or kind == FREE:
            rate = times(row_of(w.A, k, 9), (z[u], z[u + 1], z[u + 2]))
        put_row(w.way, k, way)
        put_row(w.rate, k, rate)
        put_row(w.r, k, plus(row_of(w.r, b, 3), way))
        put_row(w.v, k, plus(v, cross(omega, way)))
        put_row(w.omega, k, plus(omega, rate) if kind != SLIDE else omega)
        put_row(w.p, k, p)


@inlined
def lift(t, w, z, y):  # type: ignore[no-untyped-def]
    """Put the states of all bodies (13 bodies,) for coordinates and rates z into y."""
    place_steps(t, w, z)
    lift_steps(t, w, y)


@inlined
def lift_steps(t, w, y):  # type: ignore[no-untyped-def]
    """Put the states of all bodies (13 bodies,) into y, after ``place_steps``."""
    for body in range(len(t.step)):
        k = t.step[body]
        if k == GROUND_STEP:
            k = len(t.kind)
        arm, omega = times(row_of(w.A, k, 9), row_of(t.arm, body, 3)), row_of(w.omega, k, 3)
        p = product(row_of(w.p, k, 4), row_of(t.p, body, 4))
        inverse = 1.0 / math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
        r, v = plus(row_of(w.r, k, 3), arm), plus(row_of(w.v, k, 3), cross(omega, arm))
        put_row(y, body, r + (p[0] * inverse, p[1] * inverse, p[2] * inverse, p[3] * inverse) + v + omega)


@inlined
def normalise_coordinates(t, z):  # type: ignore[no-untyped-def]
    """Give the Euler parameters of balls and free bodies unit length again."""
    for k in range(len(t.kind)):
        if t.kind[k] == BALL or t.kind[k] == FREE:
            q = t.q[k] + (3 if t.kind[k] == FREE else 0)
            length = math.sqrt(z[q] * z[q] + z[q + 1] * z[q + 1] + z[q + 2] * z[q + 2] + z[q + 3] * z[q + 3])
            for c in range(4):
                z[q + c] /= length


@compiled
def lift_once(t, w, z, y):  # type: ignore[no-untyped-def]
    """``lift``, called from Python."""
    lift(t, w, z, y)


@compiled
def lift_all(t, w, z, y):  # type: ignore[no-untyped-def]
    """``lift`` for many states: z (m, 2 n), y (m, 13 bodies)."""
    for k in range(len(z)):
        lift(t, w, z[k], y[k])
