"""Efforts, mass matrix, accelerations, Jacobians and frames of a tree for arrays of states, in compiled code.

    M(q) u' + c(q, u) + g(q) = tau

Efforts by Newton and Euler outwards and inwards, and the mass matrix by composite bodies (Featherstone, 2008, Rigid Body Dynamics
Algorithms, sections 5.3 and 6.2), in global axes, about the point of each step.  Accelerations are those of the recursion
(``runtime.dynamics.recursion``) with the efforts as forces on the steps.  ``m`` is the TreeWorkspace of a tree.
"""

from __future__ import annotations

from runtime.dynamics.angles import count_from_reference
from runtime.dynamics.chain_points import add_point, cleared, mirror
from runtime.dynamics.closing_rows import evaluate_couplings
from runtime.dynamics.kinematics import update_kinematics
from runtime.dynamics.layout import FORCES, OK
from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN, place_steps
from runtime.dynamics.recursion import (
    accelerations_of_rates,
    add_to,
    carried,
    carry_nothing,
    tree_derivative,
)
from runtime.dynamics.responses import accelerations_without_rows, along_row
from runtime.dynamics.small_matrices import (
    cross,
    matrix_product,
    minus,
    plus,
    plus_times,
    times,
    times_symmetric,
    transposed_times,
)
from runtime.dynamics.tree_equations import add_force, clear_forces, forces_along, load_steps, put_along
from runtime.jit.compilation import compiled, expanded, inlined
from runtime.jit.pointers import local
from runtime.jit.rows import put_row, row_of


@inlined
def accelerate(t, s, w, rates, free_fall):  # type: ignore[no-untyped-def]
    """Accelerations of all steps for derivatives ``rates`` of the rates, after ``place_steps``: into ``w.alpha``, ``w.a``.

    ``free_fall``: 1 for those against free fall, 0 for those against the ground.
    """
    t, s, w = local(t), local(s), local(w)
    n, g, first = len(t.kind), (t.gravity[0], t.gravity[1], t.gravity[2]), t.u[0]
    put_row(w.alpha, n, (0.0, 0.0, 0.0))
    put_row(w.a, n, plus_times((0.0, 0.0, 0.0), -free_fall, g))
    for k in range(n):
        b, kind, u = t.parent[k], t.kind[k], t.u[k] - first
        turning, moving = accelerations_of_rates(t, s, k)
        if b == GROUND_STEP:
            b = n
        before = row_of(w.alpha, b, 3)
        alpha, a = plus(before, turning), row_of(w.a, b, 3)
        if kind == FREE:
            a = plus(a, (rates[u], rates[u + 1], rates[u + 2]))
            u += 3
        else:
            a = plus(plus(a, moving), cross(before, row_of(s.way, k, 3)))
        if kind == TURN:
            alpha = plus_times(alpha, rates[u], row_of(s.axis, k, 3))
        elif kind == SLIDE:
            a = plus_times(a, rates[u], row_of(s.axis, k, 3))
        else:
            alpha = plus(alpha, times(row_of(s.A, k, 9), (rates[u], rates[u + 1], rates[u + 2])))
        put_row(w.alpha, k, alpha)
        put_row(w.a, k, a)


@expanded
def own_wrench(m, k):  # type: ignore[no-untyped-def]
    """J, H, M, n_0 and f_0 of what step k carries itself, without forces on it."""
    put_row(m.force, k, (0.0, 0.0, 0.0))
    put_row(m.moment, k, (0.0, 0.0, 0.0))
    carry_nothing(m.recursion, k)
    return carried(m.data, m.lifting, m.recursion, m, k)


@inlined
def find_efforts(m, rates):  # type: ignore[no-untyped-def]
    """Efforts along the coordinates for the accelerations of ``accelerate``, into ``m.Q``."""
    t, w = m.data, m.recursion
    for k in range(len(t.kind)):
        J, H, M, n, f = own_wrench(m, k)
        alpha, a = row_of(w.alpha, k, 3), row_of(w.a, k, 3)
        put_row(m.moment, k, plus(n, plus(times_symmetric(J, alpha), times(H, a))))
        put_row(m.force, k, plus(f, plus(transposed_times(H, alpha), times_symmetric(M, a))))
    forces_along(t, m)
    for k in range(len(t.kind)):
        if t.armature[k] > 0.0:
            u = t.u[k] - t.u[0]
            m.Q[u] += t.armature[k] * rates[u]


@compiled
def efforts(m, z, rates, free_fall, found):  # type: ignore[no-untyped-def]
    """Efforts (states, rates) for coordinates and rates z (states, n) and derivatives of the rates (states, rates).

    ``free_fall``: 1 with gravity, 0 without.
    """
    for i in range(len(z)):
        place_steps(m.data, m.lifting, z[i])
        accelerate(m.data, m.lifting, m.recursion, rates[i], free_fall)
        find_efforts(m, rates[i])
        for u in range(len(m.Q)):
            found[i, u] = m.Q[u]


@expanded
def freedoms(kind):  # type: ignore[no-untyped-def]
    """Number of rates of a step."""
    return 6 if kind == FREE else (3 if kind == BALL else 1)


@expanded
def unit_motion(t, s, k, c):  # type: ignore[no-untyped-def]
    """Angular velocity, and velocity of the point, that a unit of the c-th rate of step k adds."""
    kind, none = t.kind[k], (0.0, 0.0, 0.0)
    if kind == TURN:
        return row_of(s.axis, k, 3), none
    if kind == SLIDE:
        return none, row_of(s.axis, k, 3)
    if kind == FREE and c < 3:
        return none, (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
    c = c % 3
    return (s.A[k, 0, c], s.A[k, 1, c], s.A[k, 2, c]), none


@inlined
def find_mass_matrix(m, found):  # type: ignore[no-untyped-def]
    """The mass matrix (rates, rates) in the pose of the last ``place_steps``, at rest."""
    t, s, w = m.data, m.lifting, m.recursion
    n, none = len(t.kind), (0.0, 0.0, 0.0)
    for r in range(len(found)):
        for c in range(len(found)):
            found[r, c] = 0.0
    clear_forces(m)
    for k in range(n):
        carry_nothing(w, k)
    for k in range(n - 1, -1, -1):
        J, H, M, moment, force = carried(t, s, w, m, k)
        put_row(w.J, k, J)
        put_row(w.H, k, H)
        put_row(w.M, k, M)
        if t.parent[k] != GROUND_STEP:
            add_to(w, t.parent[k], row_of(s.way, k, 3), none, none, J, H, M, none, none)
        for c in range(freedoms(t.kind[k])):
            u = t.u[k] - t.u[0] + c
            turning, moving = unit_motion(t, s, k, c)
            moment = plus(times_symmetric(J, turning), times(H, moving))
            force = plus(transposed_times(H, turning), times_symmetric(M, moving))
            j = k
            while j != GROUND_STEP:
                put_along(t, s, j, force, moment, found[u])
                moment = plus(moment, cross(row_of(s.way, j, 3), force))
                j = t.parent[j]
            found[u, u] += t.armature[k]
    for r in range(len(found)):
        for c in range(r):
            found[c, r] = found[r, c]


@compiled
def mass_matrices(m, z, found):  # type: ignore[no-untyped-def]
    """Mass matrices (states, rates, rates) for coordinates z (states, n), whose rates are 0."""
    for i in range(len(z)):
        place_steps(m.data, m.lifting, z[i])
        find_mass_matrix(m, found[i])


@inlined
def push_along(t, s, m, tau):  # type: ignore[no-untyped-def]
    """Put efforts along the coordinates on the steps, and their reactions on those before."""
    none = (0.0, 0.0, 0.0)
    clear_forces(m)
    for k in range(len(t.kind)):
        kind, b, u = t.kind[k], t.parent[k], t.u[k] - t.u[0]
        force, moment = none, none
        if kind == TURN:
            moment = plus_times(none, tau[u], row_of(s.axis, k, 3))
        elif kind == SLIDE:
            force = plus_times(none, tau[u], row_of(s.axis, k, 3))
        else:
            if kind == FREE:
                force = tau[u], tau[u + 1], tau[u + 2]
                u += 3
            moment = times(row_of(s.A, k, 9), (tau[u], tau[u + 1], tau[u + 2]))
        add_force(m, k, none, force, moment)
        if b != GROUND_STEP:
            add_force(m, b, row_of(s.way, k, 3), minus(none, force), minus(none, moment))


@compiled
def derivatives_under(m, z, tau, found, smallest):  # type: ignore[no-untyped-def]
    """Derivatives (states, n) of coordinates and rates z (states, n) under efforts tau (states, rates).

    Returns how many were found, and the code of the next one, or OK.
    """
    for i in range(len(z)):
        place_steps(m.data, m.lifting, z[i])
        push_along(m.data, m.lifting, m, tau[i])
        code = tree_derivative(m.data, m.lifting, m.recursion, m, z[i], found[i], smallest)
        if code != OK:
            return i, code
    return len(z), OK


@expanded
def point_of(s, step, arm):  # type: ignore[no-untyped-def]
    """Place of a point of a step, at ``arm`` from the point of the step."""
    return plus(row_of(s.r, step, 3), times(row_of(s.A, step, 9), arm))


@inlined
def move_frame(t, s, step, point, found):  # type: ignore[no-untyped-def]
    """Put the velocity of a point of a step, and its angular velocity, for unit rates into (6, rates), which is 0 elsewhere."""
    k = step
    while k != GROUND_STEP:
        away = minus(point, row_of(s.r, k, 3))
        for c in range(freedoms(t.kind[k])):
            turning, moving = unit_motion(t, s, k, c)
            moving = plus(moving, cross(turning, away))
            u = t.u[k] - t.u[0] + c
            for x in range(3):
                found[x, u], found[3 + x, u] = moving[x], turning[x]
        k = t.parent[k]


@compiled
def jacobians_of_point(m, step, arm, z, found):  # type: ignore[no-untyped-def]
    """Velocity of a point of a step, and angular velocity, for unit rates: (states, 6, rates), which is 0.

    ``arm`` (3,): from the point of the step, in axes of the reference configuration that turn with it.
    """
    t, s = m.data, m.lifting
    for i in range(len(z)):
        place_steps(t, s, z[i])
        if step != GROUND_STEP:
            move_frame(t, s, step, point_of(s, step, (arm[0], arm[1], arm[2])), found[i])


@compiled
def place_frames(m, step, arm, axes, z, r, A):  # type: ignore[no-untyped-def]
    """Origins r (states, frames, 3) and axes A (states, frames, 3, 3) of frames of steps, at ``arm`` (frames, 3) as above.

    ``axes`` (frames, 3, 3): of the frames in the reference configuration.
    """
    s = m.lifting
    for i in range(len(z)):
        place_steps(m.data, s, z[i])
        for k in range(len(step)):
            put_row(r[i], k, point_of(s, step[k], row_of(arm, k, 3)))
            put_row(A[i], k, matrix_product(row_of(s.A, step[k], 9), row_of(axes, k, 9)))


@compiled
def normal_equations_of_frames(m, step, arm, z, off, weights, moved, g, H):  # type: ignore[no-untyped-def]
    """Half of gradient and curvature of the weighted squares of how far frames are off: g (states, rates) and H.

    ``off`` (states, frames, 6): displacement and rotation vector, in global axes; ``weights`` (states, frames, 2) of both;
    ``moved`` (6, rates) is scratch.
    """
    t, s = m.data, m.lifting
    for i in range(len(z)):
        place_steps(t, s, z[i])
        cleared(g[i], H[i])
        for k in range(len(step)):
            if weights[i, k, 0] == 0.0 and weights[i, k, 1] == 0.0:
                continue
            for x in range(6):
                for u in range(moved.shape[1]):
                    moved[x, u] = 0.0
            move_frame(t, s, step[k], point_of(s, step[k], row_of(arm, k, 3)), moved)
            for x in range(6):
                if weights[i, k, x // 3] != 0.0:
                    add_point(weights[i, k, x // 3], off[i, k, x], moved[x], g[i], H[i])
        mirror(H[i])


@compiled
def accelerations_of_point(m, step, arm, z, rates, found):  # type: ignore[no-untyped-def]
    """Acceleration of a point of a step, and angular acceleration, (states, 6), which is 0; ``arm`` as above."""
    t, s, w = m.data, m.lifting, m.recursion
    for i in range(len(z)):
        if step == GROUND_STEP:
            continue
        place_steps(t, s, z[i])
        accelerate(t, s, w, rates[i], 0.0)
        omega, alpha = row_of(s.omega, step, 3), row_of(w.alpha, step, 3)
        way = times(row_of(s.A, step, 9), (arm[0], arm[1], arm[2]))
        a = plus(plus(row_of(w.a, step, 3), cross(alpha, way)), cross(omega, cross(omega, way)))
        for x in range(3):
            found[i, x], found[i, 3 + x] = a[x], alpha[x]


@compiled
def forces_of_elements(time, z, t, w, way, found):  # type: ignore[no-untyped-def]
    """Forces along the coordinates (states, rates) of limits, contacts, force elements, loads and motors.

    ``way``: memory as z[0].
    """
    for i in range(len(z)):
        count_from_reference(z[i], t, w, way)
        load_steps(time, z[i], t, w, FORCES)
        forces_along(w.tree.data, w.tree)
        for u in range(len(w.tree.Q)):
            found[i, u] = w.tree.Q[u]


@compiled
def rows_along(instants, z, rates, t, w, Phi, G, gamma):  # type: ignore[no-untyped-def]
    """Rows that restrain the coordinates: Phi (states, rows); G (states, rows, rates) and gamma (states, rows) of G u' = gamma.

    ``instants`` (states,) [s]; ``rates`` (n,): 0.
    """
    m = w.tree
    c, first = m.closing, m.data.u[0]
    for i in range(len(z)):
        update_kinematics(instants[i], z[i], t, w)
        evaluate_couplings(z[i], t, w)
        accelerate(m.data, m.lifting, m.recursion, rates, 1.0)
        accelerations_without_rows(m.data, m.lifting, m.recursion, w.v_dot)
        for r in range(len(c.joint)):
            joint, row = c.joint[r], c.row[r]
            Phi[i, r] = w.Phi[joint, row]
            gamma[i, r] = w.gamma[joint, row] - along_row(c, t, w, r, w.v_dot, rates)
            D, coupled = w.D[joint, row], joint - len(t.address)
            if coupled >= 0:
                start = c.coupled.first[coupled]
                for side in range(c.coupled.first[coupled + 1] - start):
                    G[i, r, c.coupled.u[start + side] - first] += D[side] * c.coupled.sign[start + side]
                continue
            clear_forces(m)
            for side in range(2):
                body = t.body_i[joint] if side == 0 else t.body_j[joint]
                k = GROUND_STEP if body == 0 else m.data.step[body - 1]
                if k != GROUND_STEP:
                    arm = times(row_of(m.lifting.A, k, 9), row_of(m.data.arm, body - 1, 3))
                    x = 6 * side
                    add_force(m, k, arm, (D[x], D[x + 1], D[x + 2]), (D[x + 3], D[x + 4], D[x + 5]))
            forces_along(m.data, m)
            for u in range(len(m.Q)):
                G[i, r, u] = m.Q[u]
