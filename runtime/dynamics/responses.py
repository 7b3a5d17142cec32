"""How the bodies of a tree respond to forces on them, without terms of velocities: by the recursion, in compiled code."""

from __future__ import annotations

from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN
from runtime.dynamics.recursion import move_along, turn_freely
from runtime.dynamics.small_matrices import (
    cross,
    dot,
    minus,
    plus,
    plus_times,
    times,
    times_symmetric,
    transposed_times,
)
from runtime.jit.compilation import expanded, inlined
from runtime.jit.rows import put_row, row_of


@inlined
def add_wrench(t, s, c, body, D):  # type: ignore[no-untyped-def]
    """Put a force and a moment D (6,) about its centre on a body (from 1 on), with the sign of the recursion."""
    k = t.step[body - 1]
    if k != GROUND_STEP:
        push_step(c, k, times(row_of(s.A, k, 9), row_of(t.arm, body - 1, 3)), D)


@expanded
def push_step(c, k, arm, D):  # type: ignore[no-untyped-def]
    """Put a force and a moment D (6,) about a point on step k, with the sign of the recursion; ``arm``: from its own point."""
    force = -D[0], -D[1], -D[2]
    moment = plus((-D[3], -D[4], -D[5]), cross(arm, force))
    put_row(c.force, k, plus(row_of(c.force, k, 3), force))
    put_row(c.moment, k, plus(row_of(c.moment, k, 3), moment))


@inlined
def forces_inwards(t, s, w, c, steps):  # type: ignore[no-untyped-def]
    """``inwards`` of the recursion for forces on some steps alone, with the factors that it left."""
    for p in range(len(steps) - 1, -1, -1):
        k = steps[p]
        kind, b, n, f = t.kind[k], t.parent[k], row_of(c.moment, k, 3), row_of(c.force, k, 3)
        if kind == BALL or kind == FREE:
            f = minus(f, transposed_times(row_of(w.H, k, 9), times_symmetric(row_of(w.inverse, k, 6), n)))
        else:
            U = row_of(w.U, k, 6)
            along = dot(row_of(s.axis, k, 3), f if kind == SLIDE else n) - c.push[k]
            c.along[k] = along
            along *= -w.pivot[k]
            n, f = plus_times(n, along, (U[0], U[1], U[2])), plus_times(f, along, (U[3], U[4], U[5]))
        if kind == FREE:
            put_row(c.force, k, f)
        if b == GROUND_STEP or kind == FREE:
            continue
        put_row(c.force, b, plus(row_of(c.force, b, 3), f))
        moment = cross(row_of(s.way, k, 3), f)
        if kind != BALL:
            moment = plus(moment, n)
        put_row(c.moment, b, plus(row_of(c.moment, b, 3), moment))


@inlined
def accelerations_outwards(t, s, w, c, steps, z_dot):  # type: ignore[no-untyped-def]
    """``outwards`` of the recursion for forces on these alone: rates into ``z_dot``, accelerations of the steps into ``c``."""
    n, none = len(t.kind), (0.0, 0.0, 0.0)
    put_row(c.alpha, n, none)
    put_row(c.a, n, none)
    for k in steps:
        b, kind, u = t.parent[k], t.kind[k], t.u[k]
        if b == GROUND_STEP:
            b = n
        alpha = row_of(c.alpha, b, 3)
        if kind == FREE:
            f = row_of(c.force, k, 3)
            a = times_symmetric(row_of(w.M, k, 6), (-f[0], -f[1], -f[2]))
            z_dot[u], z_dot[u + 1], z_dot[u + 2] = a
        else:
            a = plus(row_of(c.a, b, 3), cross(alpha, row_of(s.way, k, 3)))
        if kind == TURN or kind == SLIDE:
            z_dot[u], alpha, a = move_along(s, w, c.along, k, kind, alpha, a)
        else:
            alpha = turn_freely(t, s, w, c.moment, k, alpha, a, z_dot)
        put_row(c.alpha, k, alpha)
        put_row(c.a, k, a)


@inlined
def accelerations_of_bodies(t, s, alpha, a, bodies, moved):  # type: ignore[no-untyped-def]
    """Accelerations (bodies + 1, 6) of some bodies from those of the points and bodies of the steps."""
    for body in bodies:
        k, turning, moving = t.step[body], (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if k != GROUND_STEP:
            arm, turning = times(row_of(s.A, k, 9), row_of(t.arm, body, 3)), row_of(alpha, k, 3)
            moving = plus(row_of(a, k, 3), cross(turning, arm))
        put_row(moved, body + 1, moving + turning)


@inlined
def accelerations_without_rows(t, s, w, v_dot):  # type: ignore[no-untyped-def]
    """Accelerations of the bodies as the recursion left them, into ``v_dot`` (bodies + 1, 6)."""
    accelerations_of_bodies(t, s, w.alpha, w.a, range(len(t.step)), v_dot)
    for body in range(len(t.step)):
        k = t.step[body]
        if k == GROUND_STEP:
            continue
        omega = row_of(s.omega, k, 3)
        swing = cross(omega, cross(omega, times(row_of(s.A, k, 9), row_of(t.arm, body, 3))))
        for i in range(3):  # the recursion's are those against free fall
            v_dot[body + 1, i] += t.gravity[i] + swing[i]


@inlined
def respond(data, m, t, w, chosen):  # type: ignore[no-untyped-def]
    """Responses to a unit multiplier of each row, S, and the sizes of the rows; after the recursion and the rows.

    ``chosen``: of the rows that were chosen last alone.
    """
    c, s, reach = m.closing, m.lifting, m.closing.reach
    for r in range(len(c.joint)):
        if chosen and c.left_out[r] == 1:
            continue
        joint, D = c.joint[r], w.D[c.joint[r], c.row[r]]
        steps = reach.steps[reach.first_step[r] : reach.first_step[r + 1]]
        for k in steps:
            for x in range(3):
                c.force[k, x] = c.moment[k, x] = 0.0
            c.push[k] = 0.0
        c.size[r] = 0.0
        coupled = joint - len(t.address)
        if coupled >= 0:
            first = c.coupled.first[coupled]
            for side in range(c.coupled.first[coupled + 1] - first):
                c.push[c.coupled.step[first + side]] += D[side] * c.coupled.sign[first + side]
        for side in range(2 if coupled < 0 else 0):
            body = t.body_i[joint] if side == 0 else t.body_j[joint]
            if body == 0:
                continue
            own = D[6 * side : 6 * side + 6]
            add_wrench(data, s, c, body, own)
            K = w.inertia_inverse[body]
            c.size[r] += dot(own, own) / t.mass[body]
            for x in range(3):
                c.size[r] += own[3 + x] * dot(K[x], own[3:6])
        forces_inwards(data, s, m.recursion, c, steps)
        accelerations_outwards(data, s, m.recursion, c, steps, c.response[r])
        bodies = reach.bodies[reach.first_body[r] : reach.first_body[r + 1]]
        accelerations_of_bodies(data, s, c.alpha, c.a, bodies, c.moved[r])
        for q in reach.rows[reach.first_row[r] : reach.first_row[r + 1]]:
            if not (chosen and c.left_out[q] == 1):
                c.S[r, q] = c.S[q, r] = along_row(c, t, w, r, c.moved[q], c.response[q])
        if c.joint[r] >= len(t.address):
            c.size[r] = c.S[r, r]


@inlined
def along_row(c, t, w, r, v_dot, z_dot):  # type: ignore[no-untyped-def]
    """A row of D times accelerations of bodies (bodies + 1, 6), or that of a coupling times accelerations of coordinates."""
    joint = c.joint[r]
    k = joint - len(t.address)
    if k >= 0:
        m, along = c.coupled, 0.0
        first = m.first[k]
        for side in range(m.first[k + 1] - first):
            along += w.D[joint, 0, side] * m.sign[first + side] * z_dot[m.u[first + side]]
        return along
    D, a, b, value = w.D[joint, c.row[r]], v_dot[t.body_i[joint]], v_dot[t.body_j[joint]], 0.0
    for x in range(6):
        value += D[x] * a[x] + D[6 + x] * b[x]
    return value
