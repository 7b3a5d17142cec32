"""Forces that depend on the reaction of their joint, such as Coulomb's friction in hinges and sliders, in compiled code.

A normal load N is a size of the reaction R of a joint, N = h(R), and the force is linear in it, Q = Q0 + sum B_l N_l.  The force
changes the reaction in turn:

    R = R0 + sum G_l N_l,     N_l = h_l(R)

with R0 the reaction for N = 0, and G_l that of the force B_l alone, by the factors of S.  These few equations are solved by
Newton's method, and the accelerations and multipliers follow: v' = v0' + sum V_l N_l.

Because h is a size (a seminorm), |h_l(R + G_m dN) - h_l(R)| <= h_l(G_m) |dN|.  With the matrix C of these feedbacks h_l(G_m) the
right-hand side is a contraction exactly if the spectral radius of C is below 1: then there is one solution, whatever the state
of motion.  Otherwise there may be two or none, as in Painleve's examples, and the evaluation fails; for one load the bound is
sharp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.elimination import rows_times, satisfy_rows, solve
from runtime.dynamics.force_elements import ForceData, evaluate_force
from runtime.dynamics.layout import DERIVATIVE, DERIVATIVE_ANEW, FRICTION, GROUND_INDEX, NOT_FINITE, OK, V
from runtime.dynamics.loads import add_acceleration
from runtime.dynamics.sources import first_force
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats

# Columns of ``ForceData.reactive``: force, its joint, its first load and how many it has, where they are in x, and the addresses
# of the kernels of their sizes and of the parts of the force that they multiply.
FORCE, JOINT, FIRST, COUNT, PLACE, SIZES, WRENCHES = range(7)
REACTION = 6  # components: force on body j, moment about its centre of mass
MAX_ITERATIONS = 100
CONVERGED, ACCEPTED = 1e-14, 1e-9  # last change of a load as a fraction of the largest, and the most that is accepted
UNDETERMINED = 1e-6  # size of a load, as a fraction of the rows' generalised forces, that redundant rows may add


class LoadsWorkspace(NamedTuple):
    """Memory of the normal loads of one evaluation; F forces with L loads in all."""

    base: Floats  # (F, 6) reactions on body j without the loads
    reaction: Floats  # (F, 6) with them
    load: Floats  # (L,) [N]
    sizes: Floats  # (L, 7) h and its slope over the reaction
    wrench: Floats  # (L, 12) on bodies i and j by each load
    v_dot: Floats  # (L, bodies + 1, 6) accelerations by each load
    lam: Floats  # (L, joints, 6) multipliers by each load
    still: Floats  # (joints, 6) zeros, D v' that a load alone causes
    feed: Floats  # (F, L, 6) reactions by each load
    feedback: Floats  # (L, L) sizes of these
    matrix: Floats  # (L, L + 1) of linear equations
    refused: Floats  # (2,) spectral radius of the feedbacks where it is 1 or more, 0 for an undetermined load; the load


def loads_workspace(t: ForceData, bodies: int, joints: int) -> LoadsWorkspace:
    """Memory for the normal loads of a system, with the numbers of bodies (with the ground) and joints."""
    forces = len(t.reactive)
    loads = int(t.reactive[:, COUNT].sum())
    return LoadsWorkspace(
        base=np.zeros((forces, REACTION)), reaction=np.zeros((forces, REACTION)), load=np.zeros(loads),
        sizes=np.zeros((loads, 1 + REACTION)), wrench=np.zeros((loads, 12)), v_dot=np.zeros((loads, bodies, 6)),
        lam=np.zeros((loads, joints, 6)), still=np.zeros((joints, 6)),
        feed=np.zeros((forces, loads, REACTION)), feedback=np.zeros((loads, loads)),
        matrix=np.zeros((loads, loads + 1)), refused=np.zeros(2),
    )  # fmt: skip


@inlined
def set_loads(values, data, w):  # type: ignore[no-untyped-def]
    """Put loads and reactions where the kernels of the forces read them."""
    t, m = data.forces, w.joint_loads
    for p in range(len(t.reactive)):
        x, place, count = w.forces.x[t.reactive[p, FORCE]], t.reactive[p, PLACE], t.reactive[p, COUNT]
        for n in range(count):
            x[place + n] = values[t.reactive[p, FIRST] + n]
        for c in range(REACTION):
            x[place + count + c] = m.reaction[p, c]


@inlined
def clear_loads(data, w):  # type: ignore[no-untyped-def]
    """No loads and no reactions, for the evaluation of the other parts of the forces."""
    m = w.joint_loads
    m.load[:] = 0.0
    m.reaction[:] = 0.0
    set_loads(m.load, data, w)


@inlined
def reaction_of(joint, lam, w, to):  # type: ignore[no-untyped-def]
    """Force and moment about the centre of mass on body j of a joint, by multipliers (joints, 6)."""
    D, own = w.D[joint], lam[joint]
    for c in range(REACTION):
        value = 0.0
        for r in range(len(own)):
            value -= D[r, REACTION + c] * own[r]
        to[c] = value


@inlined
def kernel(p, column, data, w, out):  # type: ignore[no-untyped-def]
    """Call a kernel of the loads of force p of ``reactive``, by the column of its address."""
    t = data.forces
    k = t.reactive[p, FORCE]
    i, j, x = w.state[t.body[k, 0]], w.state[t.body[k, 1]], w.forces.x[k]
    addresses.call(
        t.reactive[p, column],
        i.ctypes.data,
        j.ctypes.data,
        i.ctypes.data,
        j.ctypes.data,
        x.ctypes.data,
        out.ctypes.data,
    )


@inlined
def spread_loads(data, w):  # type: ignore[no-untyped-def]
    """Accelerations, multipliers and reactions by each load alone; returns a code."""
    t, m = data.forces, w.joint_loads
    for p in range(len(t.reactive)):
        k, first, count = t.reactive[p, FORCE], t.reactive[p, FIRST], t.reactive[p, COUNT]
        kernel(p, WRENCHES, data, w, m.wrench[first])
        for n in range(first, first + count):
            m.v_dot[n] = 0.0
            for side in range(2):
                b = t.body[k, side]
                if b != GROUND_INDEX:
                    add_acceleration(b, m.wrench[n, 6 * side : 6 * side + 6], data, w, m.v_dot[n, b])
            code = satisfy_rows(m.still, m.v_dot[n], m.lam[n], data, w)
            if code != OK:
                return code
            for q in range(len(t.reactive)):
                reaction_of(t.reactive[q, JOINT], m.lam[n], w, m.feed[q, n])
    return OK


@inlined
def measure_loads(data, w):  # type: ignore[no-untyped-def]
    """The sizes of ``m.reaction`` and their slopes, into ``m.sizes``."""
    t, m = data.forces, w.joint_loads
    set_loads(m.load, data, w)
    for p in range(len(t.reactive)):
        kernel(p, SIZES, data, w, m.sizes[t.reactive[p, FIRST]])


@inlined
def loads_are_unique(data, w):  # type: ignore[no-untyped-def]
    """Whether I - C has positive pivots only; puts the feedbacks C into ``m.feedback``."""
    m, count = w.joint_loads, len(w.joint_loads.load)
    for n in range(count):
        for p in range(len(m.reaction)):
            for c in range(REACTION):
                m.reaction[p, c] = m.feed[p, n, c]
        measure_loads(data, w)
        for q in range(count):
            m.feedback[q, n] = m.sizes[q, 0]
            m.matrix[q, n] = (1.0 if q == n else 0.0) - m.sizes[q, 0]
    return eliminate(m.matrix, count, count)


@inlined
def refuse_feedback(data, w):  # type: ignore[no-untyped-def]
    """OK if the spectral radius of the feedbacks is below 1: then I - C has positive pivots only."""
    m, count = w.joint_loads, len(w.joint_loads.load)
    if loads_are_unique(data, w):
        return OK
    # Powers of the matrix lead to its spectral radius, and to the load that takes part most.
    m.load[:] = 1.0
    for _ in range(MAX_ITERATIONS):
        largest = 0.0
        for q in range(count):
            value = 0.0
            for n in range(count):
                value += m.feedback[q, n] * m.load[n]
            m.matrix[q, 0] = value
            if value > largest:
                largest, m.refused[1] = value, q
        m.refused[0] = largest
        for q in range(count):
            m.load[q] = m.matrix[q, 0] / largest + 1e-30
    return FRICTION if m.refused[0] == m.refused[0] else NOT_FINITE


@inlined
def eliminate(a, n, columns):  # type: ignore[no-untyped-def]
    """Eliminate below the diagonal of n rows, of so many columns; whether all pivots are positive.

    Pivots need no choice: the matrices are I - B, where no entry of B is larger than that of feedbacks C whose spectral radius is
    below 1.
    """
    positive = True
    for k in range(n):
        positive = positive & (a[k, k] > 0.0)
        for r in range(k + 1, n):
            factor = a[r, k] / a[k, k]
            for c in range(k + 1, columns):
                a[r, c] -= factor * a[k, c]
    return positive


@inlined
def solve_small(a, n):  # type: ignore[no-untyped-def]
    """Solve the linear equations a (n, n + 1); the solution is left in the last column."""
    eliminate(a, n, n + 1)
    for k in range(n - 1, -1, -1):
        for c in range(k + 1, n):
            a[k, n] -= a[k, c] * a[c, n]
        a[k, n] /= a[k, k]


@inlined
def update_reactions(m):  # type: ignore[no-untyped-def]
    """The reactions that the loads cause."""
    for p in range(len(m.base)):
        for c in range(REACTION):
            value = m.base[p, c]
            for n in range(len(m.load)):
                value += m.feed[p, n, c] * m.load[n]
            m.reaction[p, c] = value


@inlined
def set_matrix(data, m):  # type: ignore[no-untyped-def]
    """The derivatives of N - h(R(N)) over the loads, by the slopes of the last ``measure_loads``."""
    t = data.forces
    for p in range(len(t.reactive)):
        for q in range(t.reactive[p, FIRST], t.reactive[p, FIRST] + t.reactive[p, COUNT]):
            for n in range(len(m.load)):
                value = 1.0 if q == n else 0.0
                for c in range(REACTION):
                    value -= m.sizes[q, 1 + c] * m.feed[p, n, c]
                m.matrix[q, n] = value


@inlined
def correct_loads(data, m):  # type: ignore[no-untyped-def]
    """Newton's correction of the loads, after ``measure_loads``, into the last column of ``m.matrix``."""
    count = len(m.load)
    set_matrix(data, m)
    for q in range(count):
        m.matrix[q, count] = m.sizes[q, 0] - m.load[q]
    solve_small(m.matrix, count)


@inlined
def find_loads(data, w):  # type: ignore[no-untyped-def]
    """Newton's method for the loads, and steps N = h(R) where it does not come nearer; returns a code."""
    m, count, before = w.joint_loads, len(w.joint_loads.load), np.inf
    m.load[:] = 0.0
    for _ in range(MAX_ITERATIONS):
        update_reactions(m)
        measure_loads(data, w)
        largest, error = 0.0, 0.0
        for q in range(count):
            largest = max(largest, m.sizes[q, 0])
            error = max(error, abs(m.sizes[q, 0] - m.load[q]))
        if not error < np.inf:
            return NOT_FINITE
        if error <= CONVERGED * largest or (error >= before and error <= ACCEPTED * largest):
            return OK
        if error < before:
            correct_loads(data, m)
            for q in range(count):
                m.load[q] += m.matrix[q, count]
        else:
            for q in range(count):
                m.load[q] = m.sizes[q, 0]
        before = error
    return NOT_FINITE


@inlined
def multipliers_without_force(k, r, data, w):  # type: ignore[no-untyped-def]
    """Put the multipliers that exert no force and contain 1 for the dependent row r of joint k into ``w.y``; their size."""
    u = w.joint_loads.v_dot[0]
    u[:] = 0.0
    for side in range(2):
        b = data.body_i[k] if side == 0 else data.body_j[k]
        if b != GROUND_INDEX:
            for c in range(6):
                u[b, c] += w.MD[k, side, r, c]
    w.y[:] = 0.0
    rows_times(data, w, u, w.y)
    solve(data, w)
    largest = 0.0
    for q in range(len(data.address)):
        for c in range(data.rows[q]):
            w.y[q, c] = (1.0 if q == k and c == r else 0.0) - w.y[q, c]
            square = 0.0
            for d in range(12):
                square += w.D[q, c, d] * w.D[q, c, d]
            largest = max(largest, abs(w.y[q, c]) * np.sqrt(square))
    return largest


@inlined
def refuse_undetermined(data, w):  # type: ignore[no-untyped-def]
    """OK if no multipliers that exert no force, those of redundant rows, change a load."""
    t, m = data.forces, w.joint_loads
    for k in range(len(data.address)):
        for r in range(data.rows[k]):
            if w.inverse[k, r] != 0.0:
                continue
            largest = multipliers_without_force(k, r, data, w)
            for p in range(len(t.reactive)):
                reaction_of(t.reactive[p, JOINT], w.y, w, m.reaction[p])
            measure_loads(data, w)
            for q in range(len(m.load)):
                if m.sizes[q, 0] > UNDETERMINED * largest:
                    m.refused[0], m.refused[1] = 0.0, q
                    return FRICTION
    return OK


@inlined
def add_powers(data, w):  # type: ignore[no-untyped-def]
    """Add the power of the parts of the forces that the loads multiply."""
    t, m = data.forces, w.joint_loads
    for p in range(len(t.reactive)):
        k, first, power = t.reactive[p, FORCE], t.reactive[p, FIRST], 0.0
        for n in range(first, first + t.reactive[p, COUNT]):
            for side in range(2):
                state = w.state[t.body[k, side]]
                for c in range(6):
                    power += m.load[n] * m.wrench[n, 6 * side + c] * state[V + c]
        w.power[first_force(data) + k] += power
        w.applied[0] += power


def joint_loads_part(time, y, data, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """Find the normal loads, and add their effects to the accelerations and multipliers without them; returns a code."""
    t, m = data.forces, w.joint_loads
    if purpose == DERIVATIVE_ANEW and data.redundant > 0:
        code = refuse_undetermined(data, w)
        if code != OK:
            return code
    for p in range(len(t.reactive)):
        reaction_of(t.reactive[p, JOINT], w.lam, w, m.base[p])
    code = spread_loads(data, w)
    if code == OK:
        code = refuse_feedback(data, w)
    if code == OK:
        code = find_loads(data, w)
    if code != OK:
        return code
    set_loads(m.load, data, w)
    for n in range(len(m.load)):
        for b in range(1, len(data.mass)):
            for c in range(6):
                w.v_dot[b, c] += m.load[n] * m.v_dot[n, b, c]
        for k in range(len(data.address)):
            for r in range(data.rows[k]):
                w.lam[k, r] += m.load[n] * m.lam[n, k, r]
    add_powers(data, w)
    if purpose != DERIVATIVE:
        for p in range(len(t.reactive)):
            evaluate_force(t.reactive[p, FORCE], t, w.forces, w.state)
    return OK
