"""Rows that restrain the coordinates of a tree, of joints that close loops or have no motion, in compiled code.

    M u' = Q + J^T f,    J u' + c = gamma

M and J are never formed.  The recursion over the steps gives the accelerations without the rows, and those that a unit multiplier
of each row adds: the columns of M^-1 J^T.  With them S = J M^-1 J^T, a matrix of as many rows as the joints have, is factorised
with pivoting, and rows that depend on others are left out until the next choice.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.elimination import DAMPING, PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.kinematics import update_kinematics
from runtime.dynamics.layout import DERIVATIVE, DERIVATIVE_ANEW, LOADS, OK
from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN, add_cross, normalise_coordinates, turned
from runtime.dynamics.places import PROJECTION, TREE
from runtime.dynamics.projection import CAUTION, CAUTIOUS, PROJECTIONS, ROUNDED, TO_ZERO
from runtime.dynamics.recursion import dot, invert, inwards, rates_of_coordinates, transposed_times
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at, call_at

NONE = -1  # number of chosen rows where the coordinates themselves depend on each other
DEPENDENT = 1e-10  # pivot, as a fraction of the row's size, below which a row depends on those chosen before it


@inlined
def add_wrench(t, s, c, body, D):  # type: ignore[no-untyped-def]
    """Put a force and a moment D (6,) about its centre on a body (from 1 on), with the sign of the recursion."""
    k = t.step[body - 1]
    if k == GROUND_STEP:
        return
    arm = c.vector[0]
    turned(s.A[k], t.arm[body - 1], arm)
    force, moment = c.vector[1], c.vector[2]
    for i in range(3):
        force[i], moment[i] = -D[i], -D[3 + i]
    add_cross(arm, force, moment)
    for i in range(3):
        c.force[k, i] += force[i]
        c.moment[k, i] += moment[i]


@inlined
def forces_inwards(t, s, w, c):  # type: ignore[no-untyped-def]
    """``inwards`` of the recursion for forces alone, with the factors that it left."""
    Kn = c.vector[0]
    for k in range(len(t.kind) - 1, -1, -1):
        kind, b, n, f = t.kind[k], t.parent[k], c.moment[k], c.force[k]
        if kind == BALL or kind == FREE:
            turned(w.inverse[k], n, Kn)
            for i in range(3):
                f[i] -= w.H[k, 0, i] * Kn[0] + w.H[k, 1, i] * Kn[1] + w.H[k, 2, i] * Kn[2]
        else:
            along = dot(s.axis[k], f) if kind == SLIDE else dot(s.axis[k], n)
            c.along[k] = along
            for i in range(3):
                n[i] -= w.U[k, 0, i] * w.pivot[k] * along
                f[i] -= w.U[k, 1, i] * w.pivot[k] * along
        if b == GROUND_STEP or kind == FREE:
            continue
        for i in range(3):
            c.force[b, i] += f[i]
            if kind != BALL:
                c.moment[b, i] += n[i]
        add_cross(s.way[k], f, c.moment[b])


@inlined
def accelerations_outwards(t, s, w, c, z_dot):  # type: ignore[no-untyped-def]
    """``outwards`` of the recursion for forces alone: rates into ``z_dot``, accelerations of the steps into ``c``."""
    n = len(t.kind)
    for i in range(3):
        c.alpha[n, i] = c.a[n, i] = 0.0
    for k in range(n):
        b, kind, u = t.parent[k], t.kind[k], t.u[k]
        if b == GROUND_STEP:
            b = n
        alpha, a = c.alpha[k], c.a[k]
        for i in range(3):
            alpha[i] = c.alpha[b, i]
            a[i] = c.a[b, i] if kind != FREE else 0.0
        if kind != FREE:
            add_cross(c.alpha[b], s.way[k], a)
        if kind == TURN or kind == SLIDE:
            rate = -(c.along[k] + dot(w.U[k, 0], alpha) + dot(w.U[k, 1], a)) * w.pivot[k]
            z_dot[u] = rate
            for i in range(3):
                if kind == TURN:
                    alpha[i] += rate * s.axis[k, i]
                else:
                    a[i] += rate * s.axis[k, i]
            continue
        if kind == FREE:
            invert(w.M[k], w.B[1])
            for i in range(3):
                a[i] = -dot(w.B[1][i], c.force[k])
        right, found, relative = c.vector[0], c.vector[1], c.vector[2]
        for i in range(3):
            right[i] = -(c.moment[k, i] + dot(w.H[k, i], a))
        turned(w.inverse[k], right, found)
        for i in range(3):
            relative[i] = found[i] - alpha[i]
            alpha[i] = found[i]
        first = 3 if kind == FREE else 0
        transposed_times(s.A[b], relative, z_dot[u + first : u + first + 3])
        if kind == FREE:
            for i in range(3):
                z_dot[u + i] = a[i]


@inlined
def accelerations_of_bodies(t, s, alpha, a, arm, moved):  # type: ignore[no-untyped-def]
    """Accelerations of the bodies (bodies + 1, 6) from those of the points and bodies of the steps."""
    for body in range(len(t.step)):
        k, to = t.step[body], moved[body + 1]
        if k == GROUND_STEP:
            for i in range(6):
                to[i] = 0.0
            continue
        turned(s.A[k], t.arm[body], arm)
        for i in range(3):
            to[i], to[3 + i] = a[k, i], alpha[k, i]
        add_cross(alpha[k], arm, to[0:3])


@inlined
def accelerations_without_rows(t, s, w, c, v_dot):  # type: ignore[no-untyped-def]
    """Accelerations of the bodies as the recursion left them, into ``v_dot`` (bodies + 1, 6)."""
    arm, swing = c.vector[0], c.vector[1]
    accelerations_of_bodies(t, s, w.alpha, w.a, arm, v_dot)
    for body in range(len(t.step)):
        k = t.step[body]
        if k == GROUND_STEP:
            continue
        turned(s.A[k], t.arm[body], arm)
        for i in range(3):
            swing[i] = 0.0
            v_dot[body + 1, i] += t.gravity[i]  # the recursion's are those against free fall
        add_cross(s.omega[k], arm, swing)
        add_cross(s.omega[k], swing, v_dot[body + 1, 0:3])


@inlined
def respond(data, m, t, w):  # type: ignore[no-untyped-def]
    """Responses to a unit multiplier of each row, S, and the sizes of the rows; after the recursion and the rows."""
    c, s = m.closing, m.lifting
    count = len(c.joint)
    for r in range(count):
        joint, D = c.joint[r], w.D[c.joint[r], c.row[r]]
        i, j = t.body_i[joint], t.body_j[joint]
        for k in range(len(data.kind)):
            for x in range(3):
                c.force[k, x] = c.moment[k, x] = 0.0
        c.size[r] = 0.0
        for side in range(2):
            body = i if side == 0 else j
            if body == 0:
                continue
            own = D[6 * side : 6 * side + 6]
            add_wrench(data, s, c, body, own)
            K = w.inertia_inverse[body]
            c.size[r] += dot(own, own) / t.mass[body]
            for x in range(3):
                c.size[r] += own[3 + x] * dot(K[x], own[3:6])
        forces_inwards(data, s, m.recursion, c)
        accelerations_outwards(data, s, m.recursion, c, c.response[r])
        accelerations_of_bodies(data, s, c.alpha, c.a, c.vector[0], c.moved[r])
    for r in range(count):
        for q in range(r + 1):
            c.S[r, q] = c.S[q, r] = along_row(c, t, w, r, c.moved[q])


@inlined
def along_row(c, t, w, r, v_dot):  # type: ignore[no-untyped-def]
    """A row of D times accelerations of bodies (bodies + 1, 6)."""
    joint = c.joint[r]
    D, a, b, value = w.D[joint, c.row[r]], v_dot[t.body_i[joint]], v_dot[t.body_j[joint]], 0.0
    for x in range(6):
        value += D[x] * a[x] + D[6 + x] * b[x]
    return value


@inlined
def factorise_rows(c, order, chosen, most, anew, least, damping):  # type: ignore[no-untyped-def]
    """S = L diag(pivots) L^T of the chosen rows, its diagonal enlarged by a fraction of the sizes; their smallest pivot ratio.

    ``anew``: choose rows again, always that with the largest pivot ratio, at most so many.  A ratio that is not above ``least``
    ends it, and is returned.
    """
    m, smallest = len(c.joint), np.inf
    for r in range(m):
        for q in range(m):
            c.L[r, q] = c.S[r, q]
        c.L[r, r] += damping * c.size[r]
        if anew:
            order[r] = r
    count = most if anew else chosen[0]
    for p in range(count):
        best = p
        for q in range(p + 1, m if anew else p + 1):
            if ratio_of(c, order[q]) > ratio_of(c, order[best]):
                best = q
        r = order[best]
        order[best], order[p] = order[p], r
        smallest = min(smallest, ratio_of(c, r))
        if not smallest > least:
            chosen[0] = p
            return smallest
        c.pivot[r] = c.L[r, r]
        for q in range(p + 1, m if anew else count):
            i = order[q]
            for k in range(p + 1, q + 1):
                j = order[k]
                c.L[i, j] -= c.L[i, r] * c.L[r, j] / c.pivot[r]
                c.L[j, i] = c.L[i, j]
    chosen[0] = count
    return smallest


@inlined
def ratio_of(c, r):  # type: ignore[no-untyped-def]
    """What is left of the diagonal entry of a row, as a fraction of its size."""
    return c.L[r, r] / c.size[r] if c.size[r] > 0.0 else 0.0


@inlined
def solve_rows(c, order, chosen):  # type: ignore[no-untyped-def]
    """S^-1 y of the chosen rows in place; 0 for the others."""
    count = chosen[0]
    for p in range(count):
        r = order[p]
        for q in range(p + 1, count):
            i = order[q]
            c.y[i] -= c.L[i, r] / c.pivot[r] * c.y[r]
    for p in range(count - 1, -1, -1):
        r = order[p]
        value = c.y[r]
        for q in range(p + 1, count):
            value -= c.L[order[q], r] * c.y[order[q]]
        c.y[r] = value / c.pivot[r]
    for p in range(count, len(order)):
        c.y[order[p]] = 0.0


@inlined
def residuals(c, t, w):  # type: ignore[no-untyped-def]
    """Gamma - D v' of all rows into y; the largest, of the largest gamma where that is above 1, in units of the row's size."""
    largest, target = 0.0, 1.0
    for r in range(len(c.joint)):
        gamma, size = w.gamma[c.joint[r], c.row[r]], math.sqrt(c.size[r])
        c.y[r] = gamma - along_row(c, t, w, r, w.v_dot)
        value = abs(c.y[r]) / size
        if not value <= largest:
            largest = value
        target = max(target, abs(gamma) / size)
    return largest / target


@inlined
def add_response(c, w, z_dot):  # type: ignore[no-untyped-def]
    """Add the accelerations of the bodies and of the coordinates for multipliers y of the rows."""
    for r in range(len(c.joint)):
        f = c.y[r]
        if f == 0.0:
            continue
        for b in range(1, len(w.v_dot)):
            for k in range(6):
                w.v_dot[b, k] += f * c.moved[r, b, k]
        for k in range(len(z_dot)):
            z_dot[k] += f * c.response[r, k]


@inlined
def restrain(t, w, anew, z_dot):  # type: ignore[no-untyped-def]
    """Change the accelerations z' that the recursion found into those that satisfy the rows; a code."""
    m = w.tree
    c = m.closing
    accelerations_without_rows(m.data, m.lifting, m.recursion, c, w.v_dot)
    respond(m.data, m, t, w)
    most = c.independent[0]
    w.smallest_pivot[0] = factorise_rows(c, c.order, c.chosen, most, anew, DEPENDENT if anew else PIVOT_TOLERANCE, 0.0)
    if c.chosen[0] < most:
        r = c.order[c.chosen[0]]
        w.failed[0], w.failed[1] = c.joint[r], c.row[r]
        return code_of_pivot(w.smallest_pivot[0])
    for r in range(len(c.joint)):
        w.lam[c.joint[r], c.row[r]] = 0.0
    for _ in range(2):  # the second time is the refinement
        residuals(c, t, w)
        solve_rows(c, c.order, c.chosen)
        for r in range(len(c.joint)):
            w.lam[c.joint[r], c.row[r]] -= c.y[r]
        add_response(c, w, z_dot)
    if anew:
        w.unsatisfied[0] = residuals(c, t, w)
    return OK


@inlined
def move_coordinates(data, c, z, velocities):  # type: ignore[no-untyped-def]
    """Change coordinates, or rates, by the response to multipliers y of the rows."""
    n = len(z)
    for k in range(n):
        c.rates[k] = 0.0
    for r in range(len(c.joint)):
        for k in range(n):
            c.rates[k] += c.y[r] * c.response[r, k]
    first = data.u[0]
    if velocities:
        for k in range(first, n):
            z[k] += c.rates[k]
        return
    for k in range(first):
        c.change[k] = z[k]
    for k in range(first, n):
        c.change[k] = c.rates[k]
    rates_of_coordinates(data, c.change, c.rates)
    for k in range(first):
        z[k] += c.rates[k]
    normalise_coordinates(data, z)


@inlined
def project_coordinates(time, z, t, w, manner, left):  # type: ignore[no-untyped-def]
    """As ``projection_part`` for coordinates and rates of a tree."""
    m = w.tree
    c = m.closing
    update_kinematics(time, z, t, w)
    for velocities in range(2):
        left[velocities] = largest_violation(c, w, velocities == 1)
        for _ in range(PROJECTIONS):
            if left[velocities] <= (0.0 if manner == TO_ZERO else ROUNDED):
                break
            inwards(m.data, m.lifting, m.recursion, m)
            respond(m.data, m, t, w)
            damping = CAUTION if manner == CAUTIOUS else DAMPING
            factorise_rows(c, c.every, c.most, len(c.joint), True, 0.0, damping)
            for r in range(len(c.joint)):
                of_joint = w.Phi_dot[c.joint[r]] if velocities == 1 else w.Phi[c.joint[r]]
                c.y[r] = -of_joint[c.row[r]]
            solve_rows(c, c.every, c.most)
            move_coordinates(m.data, c, z, velocities == 1)
            update_kinematics(time, z, t, w)
            before, left[velocities] = left[velocities], largest_violation(c, w, velocities == 1)
            if not left[velocities] < 0.25 * before:
                break
    return OK


@inlined
def largest_violation(c, w, velocities):  # type: ignore[no-untyped-def]
    """Largest |Phi| (or |Phi'|) of the rows; its joint and row go to ``w.failed``."""
    worst = 0.0
    for r in range(len(c.joint)):
        joint, row = c.joint[r], c.row[r]
        value = abs(w.Phi_dot[joint, row] if velocities else w.Phi[joint, row])
        if not value <= worst:
            worst = value
            w.failed[0], w.failed[1] = joint, row
    return worst


def closed_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """The derivative of coordinates and rates y that rows restrain, or forces of all kinds and their powers alone."""
    n = w.tree.size[0]
    z, z_dot = array_at(y, n), array_at(y_dot, n)
    if purpose == DERIVATIVE and w.near_singular[0] == 1:
        # An error of the position divided by the distance from the singular pose is an error of the accelerations.
        for i in range(n):
            w.projected[i] = z[i]
        call_at(w.address[PROJECTION], time, w.projected, t, w, TO_ZERO, w.violation)
        z, purpose = w.projected[:n], DERIVATIVE_ANEW
    code = call_at(w.address[TREE], time, z, t, w, purpose, z_dot)
    if code != OK:
        w.tree.closing.chosen[0], w.chosen[0] = NONE, 0
    if purpose == LOADS or code != OK:
        return code
    update_kinematics(time, z, t, w)
    anew = purpose != DERIVATIVE or w.chosen[0] == 0
    w.chosen[0] = 1
    return restrain(t, w, anew, z_dot)


def closed_projection_part(time, y, t, w, manner, left):  # type: ignore[no-untyped-def]
    """As ``projection_part``, for coordinates and rates of a tree."""
    return project_coordinates(time, array_at(y, w.tree.size[0]), t, w, manner, array_at(left, 2))
