"""Rows that restrain the coordinates of a tree, of joints that close loops or have no motion, in compiled code.

    M u' = Q + J^T f,    J u' + c = gamma

M and J are never formed.  The recursion over the steps, or a kernel, gives the accelerations without the rows, and those that a
unit multiplier of each row adds: the columns of M^-1 J^T.  With them S = J M^-1 J^T, a matrix of as many rows as the joints have,
is factorised with pivoting, and rows that depend on others are left out until the next choice.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.elimination import DAMPING, PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.kinematics import keep_to_project, update_kinematics, update_signals
from runtime.dynamics.layout import DERIVATIVE, DERIVATIVE_ANEW, LOADS, OK
from runtime.dynamics.lift import normalise_coordinates
from runtime.dynamics.places import PROJECTION, TREE
from runtime.dynamics.products import LEADERS, VALUES, evaluate_products
from runtime.dynamics.projection import CAUTION, CAUTIOUS, PROJECTIONS, ROUNDED, TO_ZERO
from runtime.dynamics.recursion import inwards, rates_of_coordinates
from runtime.dynamics.responses import accelerations_without_rows, along_row, respond
from runtime.dynamics.signals import evaluate_signal
from runtime.dynamics.small_matrices import is_zero
from runtime.dynamics.tree_equations import forces_along, load_steps
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from runtime.jit.kernels import combination, coupling
from runtime.jit.lane_vectors import choose
from runtime.jit.pointers import array_at, call_at

NONE = -1  # number of chosen rows where the coordinates themselves depend on each other
DEPENDENT = 1e-10  # pivot, as a fraction of the row's size, below which a row depends on those chosen before it


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
        c.inverse[r] = 1.0 / c.L[r, r]
        subtract_row(c, order, p, m if anew else count)
    chosen[0] = count
    return smallest


@inlined
def subtract_row(c, order, p, end):  # type: ignore[no-untyped-def]
    """Subtract the row at place p of the order from those behind it, by its inverse pivot."""
    r, count = order[p], 0
    for q in range(p + 1, end):
        if not is_zero(c.L[order[q], r]):  # of many loops few have bodies in common
            c.others[count] = order[q]
            count += 1
    for q in range(count):
        i = c.others[q]
        factor = c.L[i, r] * c.inverse[r]
        for k in range(q + 1):
            j = c.others[k]
            c.L[i, j] -= factor * c.L[r, j]
            c.L[j, i] = c.L[i, j]


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
        value = c.y[r] * c.inverse[r]
        for q in range(p + 1, count):
            i = order[q]
            c.y[i] -= c.L[i, r] * value
    for p in range(count - 1, -1, -1):
        r = order[p]
        value = c.y[r]
        for q in range(p + 1, count):
            value -= c.L[order[q], r] * c.y[order[q]]
        c.y[r] = value * c.inverse[r]
    for p in range(count, len(order)):
        c.y[order[p]] = 0.0


@inlined
def residuals(c, t, w, z_dot, pushed):  # type: ignore[no-untyped-def]
    """Gamma - D v' of all rows into y; ``pushed``: with the multipliers found so far."""
    for r in range(len(c.joint)):
        if c.address[0] == 0:
            c.y[r] = w.gamma[c.joint[r], c.row[r]] - along_row(c, t, w, r, w.v_dot, z_dot)
            continue
        c.y[r] = c.lacking[r]
        for q in range(len(c.joint) if pushed else 0):
            c.y[r] += c.S[r, q] * w.lam[c.joint[q], c.row[q]]


@inlined
def largest_residual(c, w):  # type: ignore[no-untyped-def]
    """The largest of y, of the largest gamma where that is above 1, in units of the row's size."""
    largest, total, target = 0.0, 0.0, 1.0
    for r in range(len(c.joint)):
        size = math.sqrt(c.size[r])
        wanted = w.gamma[c.joint[r], c.row[r]] if c.address[0] == 0 else c.lacking[r]
        value, wanted = abs(c.y[r]) / size, abs(wanted) / size
        largest, total = choose(value > largest, value, largest), total + value
        target = choose(wanted > target, wanted, target)
    return choose(total < np.inf, largest, total) / target


@inlined
def add_response(c, w, z_dot):  # type: ignore[no-untyped-def]
    """Add the accelerations of coordinates, and of bodies where the recursion found them, for multipliers y of the rows."""
    for r in range(len(c.joint)):
        f = c.y[r]
        if f == 0.0:
            continue
        for b in range(1, len(w.v_dot) if c.address[0] == 0 else 0):
            for k in range(6):
                w.v_dot[b, k] += f * c.moved[r, b, k]
        for k in range(len(z_dot)):
            z_dot[k] += f * c.response[r, k]


@inlined
def restrain(t, w, anew, z_dot):  # type: ignore[no-untyped-def]
    """Change the accelerations z' without the rows into those that satisfy them; a code.  After ``respond``."""
    c = w.tree.closing
    most = c.independent[0]
    w.smallest_pivot[0] = factorise_rows(c, c.order, c.chosen, most, anew, DEPENDENT if anew else PIVOT_TOLERANCE, 0.0)
    if anew:
        for p in range(len(c.order)):
            c.left_out[c.order[p]] = p >= c.chosen[0]
    if c.chosen[0] < most:
        r = c.order[c.chosen[0]]
        w.failed[0], w.failed[1] = c.joint[r], c.row[r]
        return code_of_pivot(w.smallest_pivot[0])
    for r in range(len(c.joint)):
        w.lam[c.joint[r], c.row[r]] = 0.0
    for refined in range(2):
        residuals(c, t, w, z_dot, refined == 1)
        solve_rows(c, c.order, c.chosen)
        for r in range(len(c.joint)):
            w.lam[c.joint[r], c.row[r]] -= c.y[r]
        if c.address[0] == 0:
            add_response(c, w, z_dot)
    if c.address[0] != 0:
        for r in range(len(c.joint)):
            c.y[r] = -w.lam[c.joint[r], c.row[r]]
        add_response(c, w, z_dot)
    if anew:
        residuals(c, t, w, z_dot, True)
        w.unsatisfied[0] = largest_residual(c, w)
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
def by_kernel(z, w):  # type: ignore[no-untyped-def]
    """What the kernel finds at coordinates and rates z, with the forces in ``Q``: also what ``respond`` would find."""
    m, c = w.tree, w.tree.closing
    count, n, first, out = len(c.joint), len(m.Q), m.data.u[0], c.out
    addresses.call(
        c.address[0], z.ctypes.data, m.Q.ctypes.data, w.signals.ctypes.data, c.constants.ctypes.data, out.ctypes.data
    )
    place = 1 + n
    for r in range(count):
        w.Phi[c.joint[r], c.row[r]], w.Phi_dot[c.joint[r], c.row[r]] = out[place + r], out[place + count + r]
        c.lacking[r], c.size[r] = out[place + 2 * count + r], out[place + 3 * count + r]
    place += 4 * count
    for r in range(count):
        for q in range(r + 1):
            c.S[r, q] = c.S[q, r] = out[place]
            place += 1
    for r in range(count):
        for k in range(n):
            c.response[r, first + k] = out[place]
            place += 1


@inlined
def evaluate_couplings(z, t, w):  # type: ignore[no-untyped-def]
    """The rows of couplings at coordinates and rates z; of D the columns of follower and leaders."""
    m = w.tree.closing.coupled
    for k in range(len(m.first) - 1):
        at, first, x = len(t.address) + k, m.first[k], m.x
        count = m.first[k + 1] - first
        for side in range(count):
            sign = m.sign[first + side]
            x[2 * side], x[2 * side + 1] = sign * z[m.q[first + side]], sign * z[m.u[first + side]]
        if m.laws.start[k + 1] > m.laws.start[k]:
            evaluate_signal(k, x[2], m.laws, m.value)
            for n in range(3):
                x[4 + n] = m.value[n]
            coupling.rows(x, m.Phi, m.Phi_dot, m.D, m.gamma)
        else:
            for n in range(LEADERS):
                if n + 1 >= count:
                    x[2 + 2 * n] = x[3 + 2 * n] = 0.0
                m.products.x[n] = x[2 + 2 * n]
            evaluate_products(k, m.products, m.value)
            for n in range(VALUES):
                x[2 * (1 + LEADERS) + n] = m.value[n]
            combination.rows(x, m.Phi, m.Phi_dot, m.D, m.gamma)
        w.Phi[at, 0], w.Phi_dot[at, 0], w.gamma[at, 0] = m.Phi[0], m.Phi_dot[0], m.gamma[0]
        for side in range(count):
            w.D[at, 0, side] = m.D[side]


@inlined
def update_rows(time, z, t, w):  # type: ignore[no-untyped-def]
    """Evaluate the rows at coordinates and rates z."""
    if w.tree.closing.address[0] == 0:
        update_kinematics(time, z, t, w)
        evaluate_couplings(z, t, w)
        return
    if len(t.signal_joint) > 0:
        update_signals(time, t, w)
    by_kernel(z, w)


def closed_projection_part(time, y, t, w, manner, of_rows):  # type: ignore[no-untyped-def]
    """As ``projection_part``, for coordinates and rates of a tree."""
    m, z, left = w.tree, array_at(y, w.tree.size[0]), array_at(of_rows, 2)
    c = m.closing
    update_rows(time, z, t, w)
    for velocities in range(2):
        left[velocities] = largest_violation(c, w, velocities == 1)
        for _ in range(PROJECTIONS):
            if left[velocities] <= (0.0 if manner == TO_ZERO else ROUNDED):
                break
            if c.address[0] == 0:
                inwards(m.data, m.lifting, m.recursion, m)
                respond(m.data, m, t, w, False)
            damping = CAUTION if manner == CAUTIOUS else DAMPING
            factorise_rows(c, c.every, c.most, len(c.joint), True, 0.0, damping)
            for r in range(len(c.joint)):
                of_joint = w.Phi_dot[c.joint[r]] if velocities == 1 else w.Phi[c.joint[r]]
                c.y[r] = -of_joint[c.row[r]]
            solve_rows(c, c.every, c.most)
            move_coordinates(m.data, c, z, velocities == 1)
            update_rows(time, z, t, w)
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


@inlined
def without_rows(time, z, t, w, purpose, z_dot):  # type: ignore[no-untyped-def]
    """Rates and accelerations z' without the rows, and what ``restrain`` needs; or forces and their powers alone.  A code."""
    m = w.tree
    if m.closing.address[0] == 0:
        code = call_at(w.address[TREE], time, z, t, w, purpose, z_dot)
        if code == OK and purpose != LOADS:
            update_kinematics(time, z, t, w)
            evaluate_couplings(z, t, w)
            accelerations_without_rows(m.data, m.lifting, m.recursion, w.v_dot)
            respond(m.data, m, t, w, purpose == DERIVATIVE and w.chosen[0] == 1)
        return code
    if m.loaded[0] == 1:
        load_steps(time, z, t, w, purpose)
        forces_along(m.data, m)
    if purpose == LOADS:
        return OK
    update_rows(time, z, t, w)
    first, out = m.data.u[0], m.closing.out
    rates_of_coordinates(m.data, z, z_dot)
    for k in range(len(m.Q)):
        z_dot[first + k] = out[1 + k]
    w.smallest_pivot[0] = 1.0 / math.sqrt(out[0])
    return OK if w.smallest_pivot[0] > PIVOT_TOLERANCE else code_of_pivot(w.smallest_pivot[0])


def closed_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """The derivative of coordinates and rates y that rows restrain, or forces of all kinds and their powers alone."""
    n = w.tree.size[0]
    z, z_dot = array_at(y, n), array_at(y_dot, n)
    if purpose == DERIVATIVE and w.near_singular[0] == 1:
        # An error of the position divided by the distance from the singular pose is an error of the accelerations.
        keep_to_project(y, t, w)
        call_at(w.address[PROJECTION], time, w.projected, t, w, TO_ZERO, w.violation)
        z, purpose = w.projected[:n], DERIVATIVE_ANEW
    code = without_rows(time, z, t, w, purpose, z_dot)
    if code != OK:
        w.tree.closing.chosen[0], w.chosen[0] = NONE, 0
    if purpose == LOADS or code != OK:
        return code
    anew = purpose != DERIVATIVE or w.chosen[0] == 0
    w.chosen[0] = 1
    code = restrain(t, w, anew, z_dot)
    if w.tree.closing.address[0] != 0 and len(t.signal_joint) > 0:
        update_kinematics(time, z, t, w)  # for the powers of drivers
    return code
