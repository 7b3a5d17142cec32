"""Newton's method for the assembly of LANES cases side by side, whose joints and masses differ, in vector instructions.

The functions are those of ``runtime.dynamics.projection``: every lane has the bits that its case alone would have, and a lane
that has ended waits for the others.  Arrays are flat, the lanes of a number next to each other, as if LANES were their last axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import ModuleType
from typing import NamedTuple

from runtime.dynamics.kinematics import update_signals
from runtime.dynamics.layout import GROUND_INDEX, LANES, ROWS, STATE, P, V
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.projection import (
    ASSEMBLED,
    HALVINGS,
    MAX_DAMPING,
    MIN_DAMPING,
    NEWTON_STEPS,
    VELOCITY_PASSES,
    reduced,
)
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined
from runtime.lanes.elimination import LINE, clear, factorise_lanes, least_correction, place_of_row
from runtime.lanes.rows import ALL, PHI, addresses_of_rows
from runtime.lanes.vector_instructions import load, store
from runtime.support.arrays import Floats, Ints, lanes_of


class CaseData(NamedTuple):
    """Data of the joints of cases; a first axis of 1 where all cases have the same."""

    x: Floats  # (cases, joints, X)
    local: Floats  # (cases, vectors, 3) in axes of the bodies
    masses: Floats  # (cases, bodies)
    inverses: Floats  # (cases, bodies, 3, 3) of the inertias
    lengths: Floats  # (cases, joints) lever arms [m]

    def at(self, places: Ints) -> CaseData:
        """Of the cases at these places."""
        return CaseData(*(values if len(values) == 1 else values[places] for values in self))


class CaseLanes(NamedTuple):
    """Memory of cases side by side; shapes without the lanes."""

    address: Ints  # (joints,) of their kernels
    of_Phi: Ints  # of those of Phi alone
    y: Floats  # (bodies + 1, 13) states, that of the ground first
    trial: Floats
    mass: Floats  # (bodies + 1,)
    inverse: Floats  # (bodies + 1, 3, 3) of the inertias, local axes
    local: Floats  # (vectors, 3)
    x: Floats  # (joints, X)
    length: Floats  # (joints,)
    A: Floats  # (bodies + 1, 3, 3)
    K: Floats  # (bodies + 1, 3, 3) inverse inertias, global axes
    Phi: Floats  # (joints, 6)
    Phi_dot: Floats
    gamma: Floats
    D: Floats  # (joints, 6, 12)
    MD: Floats  # (joints, 2, 6, 6) D M^-1 of each side
    S: Floats  # (blocks, 6, 6)
    L: Floats
    size: Floats  # (joints, 6)
    inverse_pivot: Floats
    lam: Floats
    u: Floats  # (bodies + 1, 6)
    way: Floats  # (bodies + 1, 6) the last correction of each lane
    weight: Floats  # (joints, 6) ``size`` of that correction
    residual: Floats  # largest |Phi|
    candidate: Floats  # that of a step
    misfit: Floats
    now: Floats  # misfit of a step
    damping: Floats
    scale: Floats  # of the step
    tries: Floats  # steps of this correction that did not help
    steps: Floats  # that helped
    active: Floats  # 1 of a lane that has not ended
    fresh: Floats  # 1 of a lane whose correction is to be computed
    accepted: Floats  # 1 of a lane whose last step helped


def case_lanes(t: ModelData, modules: Iterable[ModuleType]) -> CaseLanes:
    """Memory for cases of a system with joints of these modules."""
    bodies, joints, blocks = len(t.mass), len(t.address), len(t.sparsity.block_row)
    rows, six = joints * ROWS, ROWS * ROWS
    sizes = (
        bodies * STATE, bodies * STATE, bodies, 9 * bodies, t.vector_local.size, t.x.size, joints, *2 * [9 * bodies],
        *3 * [rows], 12 * rows, 12 * rows, six * blocks, six * blocks, *3 * [rows], 6 * bodies, 6 * bodies, rows, *11 * [1],
    )  # fmt: skip
    kernels = list(modules)
    numbers = (lanes_of(size * LANES) for size in sizes)
    memory = CaseLanes(addresses_of_rows(kernels, ALL), addresses_of_rows(kernels, PHI), *numbers)
    for states in (memory.y, memory.trial):
        states.reshape(bodies, STATE, LANES)[GROUND_INDEX, P] = 1.0
    return memory


@inlined
def load_lanes(time, first, states, of, t, w, m):  # type: ignore[no-untyped-def]
    """Put the next cases into the lanes; the last one also into lanes that are left."""
    update_signals(time, t, w)
    size = of.x.shape[2]
    for lane in range(LANES):
        n = min(first + lane, len(states) - 1)
        x, local = of.x[min(n, len(of.x) - 1)], of.local[min(n, len(of.local) - 1)]
        lengths, masses = of.lengths[min(n, len(of.lengths) - 1)], of.masses[min(n, len(of.masses) - 1)]
        inverses = of.inverses[min(n, len(of.inverses) - 1)]
        for k in range(len(t.address)):
            m.length[k * LANES + lane] = lengths[k]
            for c in range(size):
                m.x[(k * size + c) * LANES + lane] = x[k, c]
        for k in range(len(t.vector_joint)):
            for c in range(3):
                m.local[(3 * k + c) * LANES + lane] = local[k, c]
        for k in range(len(t.signal_joint)):
            for c in range(3):
                m.x[(t.signal_joint[k] * size + t.signal_place[k] + c) * LANES + lane] = w.signals[k, c]
        for b in range(1, len(t.mass)):
            m.mass[b * LANES + lane] = masses[b - 1]
            for r in range(3):
                for c in range(3):
                    m.inverse[(9 * b + 3 * r + c) * LANES + lane] = inverses[b - 1, r, c]
            for c in range(STATE):
                o = (STATE * b + c) * LANES + lane
                m.y[o] = m.trial[o] = states[n, STATE * (b - 1) + c]


@inlined
def store_states(first, m, states):  # type: ignore[no-untyped-def]
    """Put the states of the lanes into those of the cases."""
    for lane in range(min(LANES, len(states) - first)):
        for c in range(states.shape[1]):
            states[first + lane, c] = m.y[(STATE + c) * LANES + lane]


@columns
def set_rotation(y, A):  # type: ignore[no-untyped-def]
    """``kinematics.rotation``."""
    for lane in range(LANES):
        e0, e1, e2, e3 = (
            y[P * LANES + lane], y[(P + 1) * LANES + lane], y[(P + 2) * LANES + lane], y[(P + 3) * LANES + lane],
        )  # fmt: skip
        s = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
        A[lane] = 1.0 - s * (e2 * e2 + e3 * e3)
        A[LANES + lane] = s * (e1 * e2 - e0 * e3)
        A[2 * LANES + lane] = s * (e1 * e3 + e0 * e2)
        A[3 * LANES + lane] = s * (e1 * e2 + e0 * e3)
        A[4 * LANES + lane] = 1.0 - s * (e1 * e1 + e3 * e3)
        A[5 * LANES + lane] = s * (e2 * e3 - e0 * e1)
        A[6 * LANES + lane] = s * (e1 * e3 - e0 * e2)
        A[7 * LANES + lane] = s * (e2 * e3 + e0 * e1)
        A[8 * LANES + lane] = 1.0 - s * (e1 * e1 + e2 * e2)


@columns
def rotate_inertia(A, local, K):  # type: ignore[no-untyped-def]
    """K = A local A^T, as in ``kinematics.update_bodies``."""
    for lane in range(LANES):
        for c in range(3):
            o = 3 * c * LANES + lane
            a, b, d = A[o], A[o + LANES], A[o + 2 * LANES]
            b0 = local[lane] * a + local[LANES + lane] * b + local[2 * LANES + lane] * d
            b1 = local[3 * LANES + lane] * a + local[4 * LANES + lane] * b + local[5 * LANES + lane] * d
            b2 = local[6 * LANES + lane] * a + local[7 * LANES + lane] * b + local[8 * LANES + lane] * d
            for r in range(3):
                q = 3 * r * LANES + lane
                K[q + c * LANES] = A[q] * b0 + A[q + LANES] * b1 + A[q + 2 * LANES] * b2


@columns
def _rotate(A, local, to):  # type: ignore[no-untyped-def]
    for lane in range(LANES):
        a, b, c = local[lane], local[LANES + lane], local[2 * LANES + lane]
        for k in range(3):
            q = 3 * k * LANES + lane
            to[k * LANES + lane] = A[q] * a + A[q + LANES] * b + A[q + 2 * LANES] * c


@inlined
def evaluate_lanes(y, address, t, m):  # type: ignore[no-untyped-def]
    """Evaluate the rows of every joint in states y of all lanes."""
    size = t.x.shape[1]
    for b in range(len(t.mass)):
        set_rotation(y[STATE * b * LANES :], m.A[9 * b * LANES :])
    for n in range(len(t.vector_joint)):
        o = (size * t.vector_joint[n] + t.vector_place[n]) * LANES
        _rotate(m.A[9 * t.vector_body[n] * LANES :], m.local[3 * n * LANES :], m.x[o:])
    for k in range(len(address)):
        o = place_of_row(k, 0)
        addresses.call(
            address[k], y[STATE * t.body_i[k] * LANES :].ctypes.data, y[STATE * t.body_j[k] * LANES :].ctypes.data,
            m.x[size * k * LANES :].ctypes.data, m.Phi[o:].ctypes.data, m.Phi_dot[o:].ctypes.data, m.D[12 * o :].ctypes.data,
            m.gamma[o:].ctypes.data,
        )  # fmt: skip


@columns
def _keep_larger(row, worst):  # type: ignore[no-untyped-def]
    for lane in range(LANES):
        value = abs(row[lane])
        worst[lane] = worst[lane] if value <= worst[lane] else value


@inlined
def worst_of_lanes(rows, t, worst):  # type: ignore[no-untyped-def]
    """``projection.largest_violation`` of each lane, of Phi or Phi'."""
    clear(worst, 0, 1)
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            _keep_larger(rows[place_of_row(k, r) :], worst)


@columns
def _add_misfit(Phi, size, total):  # type: ignore[no-untyped-def]
    for lane in range(LANES):
        total[lane] += Phi[lane] ** 2 / size[lane]


@inlined
def _misfit(size, t, m, total):  # type: ignore[no-untyped-def]
    """``projection.misfit`` of each lane."""
    clear(total, 0, 1)
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            o = place_of_row(k, r)
            _add_misfit(m.Phi[o:], size[o:], total)


@columns
def _move_body(y, u, scale, to):  # type: ignore[no-untyped-def]
    """``projection.move`` of a body in all lanes."""
    for lane in range(LANES):
        s, e = scale[lane], P * LANES + lane
        to[lane], to[LANES + lane] = y[lane] + s * u[lane], y[LANES + lane] + s * u[LANES + lane]
        to[2 * LANES + lane] = y[2 * LANES + lane] + s * u[2 * LANES + lane]
        e0, e1, e2, e3 = y[e], y[e + LANES], y[e + 2 * LANES], y[e + 3 * LANES]
        w0, w1, w2 = u[3 * LANES + lane], u[4 * LANES + lane], u[5 * LANES + lane]
        p0 = e0 + s * (0.5 * (-e1 * w0 - e2 * w1 - e3 * w2))
        p1 = e1 + s * (0.5 * (e0 * w0 + e3 * w1 - e2 * w2))
        p2 = e2 + s * (0.5 * (-e3 * w0 + e0 * w1 + e1 * w2))
        p3 = e3 + s * (0.5 * (e2 * w0 - e1 * w1 + e0 * w2))
        size = math.sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
        to[e], to[e + LANES], to[e + 2 * LANES], to[e + 3 * LANES] = p0 / size, p1 / size, p2 / size, p3 / size


@columns
def _begin(residual, active, fresh, scale, tries, steps):  # type: ignore[no-untyped-def]
    """Mark the lanes with something to assemble; their number."""
    left = 0
    for lane in range(LANES):
        active[lane] = fresh[lane] = 1.0 if residual[lane] > 0.0 else 0.0
        scale[lane], tries[lane], steps[lane] = 1.0, 0.0, 0.0
        left += 1 if residual[lane] > 0.0 else 0
    return left


@columns
def _choose_damping(residual, redundant, damping):  # type: ignore[no-untyped-def]
    for lane in range(LANES):
        value = residual[lane] if redundant > 0 else residual[lane] ** 2
        damping[lane] = min(max(value, MIN_DAMPING), MAX_DAMPING)


@columns
def _judge(now, misfit, candidate, residual, active, fresh, accepted, scale, tries, steps):  # type: ignore[no-untyped-def]
    """Accept the steps that help, and halve the others of lanes that are not assembled; numbers of lanes: active, fresh."""
    left = anew = 0
    for lane in range(LANES):
        on, before = active[lane] == 1.0, residual[lane]
        helps, rough = on & (now[lane] < misfit[lane]), before > ASSEMBLED
        taken = helps & (rough | reduced(before, candidate[lane]))
        tries[lane] = 0.0 if taken else tries[lane] + 1.0
        steps[lane] += 1.0 if taken else 0.0
        scale[lane] = 1.0 if taken else 0.5 * scale[lane]
        residual[lane] = candidate[lane] if taken else before
        begins = taken & (candidate[lane] > 0.0) & (steps[lane] < NEWTON_STEPS)
        goes_on = begins | (on & rough & (not helps) & (tries[lane] < HALVINGS))
        accepted[lane], fresh[lane] = 1.0 if taken else 0.0, 1.0 if begins else 0.0
        active[lane] = 1.0 if goes_on else 0.0
        left += 1 if goes_on else 0
        anew += 1 if begins else 0
    return left, anew


@columns
def _take(values, of, count, to):  # type: ignore[no-untyped-def]
    """Take so many numbers of the lanes of which ``of`` is 1."""
    for k in range(0, count * LANES, LANES):
        for lane in range(LANES):
            to[k + lane] = values[k + lane] if of[lane] == 1.0 else to[k + lane]


@inlined
def _factorise(t, m):  # type: ignore[no-untyped-def]
    for b in range(1, len(t.mass)):
        o = 9 * b * LANES
        rotate_inertia(m.A[o:], m.inverse[o:], m.K[o:])
    factorise_lanes(t, m)


@inlined
def _correct(t, m):  # type: ignore[no-untyped-def]
    """The corrections of the fresh lanes, whose rows are known."""
    _choose_damping(m.residual, t.redundant, m.damping)
    _factorise(t, m)
    least_correction(m.Phi, t, m)
    _misfit(m.size, t, m, m.now)
    _take(m.now, m.fresh, 1, m.misfit)
    _take(m.u, m.fresh, 6 * len(t.mass), m.way)
    _take(m.size, m.fresh, ROWS * len(t.address), m.weight)


@inlined
def assemble_lanes(t, m):  # type: ignore[no-untyped-def]
    """``projection.assemble_state`` of all lanes: ``m.y`` is moved, ``m.residual`` is what is left; the rows are those there.

    Lanes that have to halve their steps do so while others go on to their next correction.
    """
    evaluate_lanes(m.y, m.address, t, m)
    worst_of_lanes(m.Phi, t, m.residual)
    left = fresh = _begin(m.residual, m.active, m.fresh, m.scale, m.tries, m.steps)
    while left > 0:
        if fresh > 0:
            _correct(t, m)
        for b in range(1, len(t.mass)):
            o = STATE * b * LANES
            _move_body(m.y[o:], m.way[LINE * b :], m.scale, m.trial[o:])
        evaluate_lanes(m.trial, m.of_Phi, t, m)
        _misfit(m.weight, t, m, m.now)
        worst_of_lanes(m.Phi, t, m.candidate)
        left, fresh = _judge(
            m.now, m.misfit, m.candidate, m.residual, m.active, m.fresh, m.accepted, m.scale, m.tries, m.steps
        )
        for b in range(1, len(t.mass)):
            o = STATE * b * LANES
            _take(m.trial[o:], m.accepted, V, m.y[o:])
        if fresh > 0 or left == 0:
            evaluate_lanes(m.y, m.address, t, m)


@columns
def _begin_velocities(residual, active, damping):  # type: ignore[no-untyped-def]
    """Mark the lanes with inconsistent velocities; their number."""
    left = 0
    for lane in range(LANES):
        active[lane], damping[lane] = 0.0 if residual[lane] == 0.0 else 1.0, MIN_DAMPING
        left += 0 if residual[lane] == 0.0 else 1
    return left


@columns
def _judge_velocities(candidate, residual, active, accepted):  # type: ignore[no-untyped-def]
    """Accept the velocities that are better; the number of lanes that go on."""
    left = 0
    for lane in range(LANES):
        better = (active[lane] == 1.0) & reduced(residual[lane], candidate[lane])
        goes_on = better & (candidate[lane] > 0.0)
        residual[lane] = candidate[lane] if better else residual[lane]
        accepted[lane], active[lane] = 1.0 if better else 0.0, 1.0 if goes_on else 0.0
        left += 1 if goes_on else 0
    return left


@inlined
def make_lanes_consistent(t, m):  # type: ignore[no-untyped-def]
    """``projection.make_velocities_consistent`` of all lanes, in states ``m.y`` whose rows are known; ``m.Phi`` remains."""
    worst_of_lanes(m.Phi_dot, t, m.now)
    if _begin_velocities(m.now, m.active, m.damping) == 0:
        return
    _factorise(t, m)
    for _ in range(VELOCITY_PASSES):
        least_correction(m.Phi_dot, t, m)
        for b in range(1, len(t.mass)):
            o = STATE * b * LANES
            for c in range(V):
                store(m.trial, o + c * LANES, load(m.y, o + c * LANES))
            for c in range(STATE - V):
                e = o + (V + c) * LANES
                store(m.trial, e, load(m.y, e) + load(m.u, LINE * b + c * LANES))
        evaluate_lanes(m.trial, m.address, t, m)
        worst_of_lanes(m.Phi_dot, t, m.candidate)
        left = _judge_velocities(m.candidate, m.now, m.active, m.accepted)
        for b in range(1, len(t.mass)):
            o = (STATE * b + V) * LANES
            _take(m.trial[o:], m.accepted, STATE - V, m.y[o:])
        if left == 0:
            return
