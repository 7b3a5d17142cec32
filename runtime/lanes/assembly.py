"""Newton's method for the assembly of LANES cases side by side, whose joints and masses differ, in vector instructions.

The rules are those of ``runtime.dynamics.projection``, whose formulas are run with vectors: every lane has the bits that its case
alone would have, and a lane that has ended waits for the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import NamedTuple

from runtime.dynamics.elimination import assemble, eliminate, subtract_row
from runtime.dynamics.kinematics import evaluate_joints, rotation, turn_inertia, update_signals
from runtime.dynamics.layout import GROUND_INDEX, LANES, ROWS, STATE, P, V
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.projection import (
    ASSEMBLED,
    HALVINGS,
    MAX_DAMPING,
    MIN_DAMPING,
    NEWTON_STEPS,
    VELOCITY_PASSES,
    least_change,
    misfit,
    move_body,
    reduced,
)
from runtime.jit.compilation import columns, inlined
from runtime.jit.lane_vectors import choose, numbers_of
from runtime.jit.pointers import in_lanes
from runtime.lanes.rows import ALL, PHI, addresses_of_rows
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


@in_lanes(LANES)
class CaseLanes(NamedTuple):
    """Memory of cases side by side, under the names of ``Workspace`` where there are the same; shapes without the lanes."""

    address: Ints  # (joints,) of their kernels
    of_Phi: Ints  # of those of Phi alone
    state: Floats  # (bodies + 1, 13)
    trial: Floats
    mass: Floats  # (bodies + 1,)
    local_inverse: Floats  # (bodies + 1, 3, 3) of the inertias, local axes
    local: Floats  # (vectors, 3)
    x: Floats  # (joints, X)
    length: Floats  # (joints,)
    A: Floats  # (bodies + 1, 3, 3)
    inertia_inverse: Floats  # (bodies + 1, 3, 3)
    Phi: Floats  # (joints, 6)
    Phi_dot: Floats
    gamma: Floats
    D: Floats  # (joints, 6, 12)
    rows: Floats  # (joints, 2, 6, 6)
    MD: Floats
    S: Floats  # (blocks, 6, 6)
    L: Floats
    size: Floats  # (joints, 6)
    inverse: Floats
    y: Floats
    u: Floats  # (bodies + 1, 6)
    way: Floats  # (bodies + 1, 6) the last correction of each lane
    weight: Floats  # (joints, 6) ``size`` of that correction
    residual: Floats  # (1,) largest |Phi|
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
    rows, turned = (joints, ROWS), (bodies, 3, 3)
    shapes = (
        (bodies, STATE), (bodies, STATE), (bodies,), turned, t.vector_local.shape, t.x.shape, (joints,), turned, turned,
        *3 * [rows], (joints, ROWS, 12), *2 * [(joints, 2, ROWS, 6)], *2 * [(blocks, ROWS, ROWS)], *3 * [rows],
        (bodies, 6), (bodies, 6), rows, *11 * [(1,)],
    )  # fmt: skip
    kernels = list(modules)
    numbers = (lanes_of(*shape, LANES) for shape in shapes)
    memory = CaseLanes(addresses_of_rows(kernels, ALL), addresses_of_rows(kernels, PHI), *numbers)
    memory.state[GROUND_INDEX, P] = memory.trial[GROUND_INDEX, P] = 1.0
    return memory


@inlined
def load_lanes(time, first, states, of, t, w, m):  # type: ignore[no-untyped-def]
    """Put the next cases into the lanes; the last one also into lanes that are left."""
    update_signals(time, t, w)
    to_x, to_local, to_length, to_mass = numbers_of(m.x), numbers_of(m.local), numbers_of(m.length), numbers_of(m.mass)
    to_inverse, state, trial = numbers_of(m.local_inverse), numbers_of(m.state), numbers_of(m.trial)
    for lane in range(LANES):
        n = min(first + lane, len(states) - 1)
        x, local = of.x[min(n, len(of.x) - 1)], of.local[min(n, len(of.local) - 1)]
        lengths, masses = of.lengths[min(n, len(of.lengths) - 1)], of.masses[min(n, len(of.masses) - 1)]
        inverses = of.inverses[min(n, len(of.inverses) - 1)]
        for k in range(len(t.address)):
            to_length[k, lane] = lengths[k]
            for c in range(of.x.shape[2]):
                to_x[k, c, lane] = x[k, c]
        for k in range(len(t.vector_joint)):
            for c in range(3):
                to_local[k, c, lane] = local[k, c]
        for k in range(len(t.signal_joint)):
            for c in range(3):
                to_x[t.signal_joint[k], t.signal_place[k] + c, lane] = w.signals[k, c]
        for b in range(1, len(t.mass)):
            to_mass[b, lane] = masses[b - 1]
            for r in range(3):
                for c in range(3):
                    to_inverse[b, r, c, lane] = inverses[b - 1, r, c]
            for c in range(STATE):
                state[b, c, lane] = trial[b, c, lane] = states[n, STATE * (b - 1) + c]


@inlined
def store_states(first, m, states):  # type: ignore[no-untyped-def]
    """Put the states of the lanes into those of the cases."""
    state = numbers_of(m.state)
    for lane in range(min(LANES, len(states) - first)):
        for b in range(1, len(state)):
            for c in range(STATE):
                states[first + lane, STATE * (b - 1) + c] = state[b, c, lane]


@inlined
def evaluate_lanes(states, address, t, m):  # type: ignore[no-untyped-def]
    """Evaluate the rows of every joint in states of all lanes."""
    for b in range(len(t.mass)):
        rotation(states[b, P:V], m.A[b])
    evaluate_joints(states, address, m.local, t, m)


@inlined
def worst_of_lanes(rows, t, worst):  # type: ignore[no-untyped-def]
    """``projection.largest_violation`` of each lane, of Phi or Phi'."""
    largest = 0.0
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            value = abs(rows[k, r])
            largest = choose(value <= largest, largest, value)
    worst[0] = largest


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


@inlined
def _take(values, of, first, end, to):  # type: ignore[no-untyped-def]
    """Take the columns from ``first`` to ``end`` in the lanes of which ``of`` is 1."""
    for n in range(len(to)):
        for c in range(first, end):
            to[n, c] = choose(of > 0.5, values[n, c], to[n, c])


@inlined
def _factorise(t, m):  # type: ignore[no-untyped-def]
    """``elimination.factorise`` with all rows kept, damped by ``m.damping``."""
    for b in range(1, len(t.mass)):
        turn_inertia(m.A[b], m.local_inverse[b], m.inertia_inverse[b])
    assemble(t, m.mass, m, m.damping[0])
    for p in range(len(t.sparsity.order)):
        k = t.sparsity.order[p]
        S, L, inverse = m.S[t.sparsity.diagonal[k]], m.L[t.sparsity.diagonal[k]], m.inverse[k]
        for c in range(t.rows[k]):
            inverse[c] = choose(S[c, c] > 0.0, 1.0 / S[c, c], 0.0)  # 0 of a dependent row
            subtract_row(c, t.rows[k], inverse[c], S, L)
        eliminate(p, k, t, m)


@inlined
def _correct(t, m):  # type: ignore[no-untyped-def]
    """The corrections of the fresh lanes, whose rows are known."""
    residual, fresh = m.residual[0], m.fresh[0]
    damping = residual if t.redundant > 0 else residual * residual
    damping = choose(damping < MIN_DAMPING, MIN_DAMPING, damping)
    m.damping[0] = choose(damping > MAX_DAMPING, MAX_DAMPING, damping)
    _factorise(t, m)
    least_change(m.Phi, m.u, t, m)
    m.misfit[0] = choose(fresh > 0.5, misfit(m.size, t, m), m.misfit[0])
    _take(m.u, fresh, 0, 6, m.way)
    _take(m.size, fresh, 0, ROWS, m.weight)


@inlined
def assemble_lanes(t, m):  # type: ignore[no-untyped-def]
    """``projection.assemble_state`` of all lanes: ``m.state`` is moved, ``m.residual`` is what is left; the rows are those there.

    Lanes that have to halve their steps do so while others go on to their next correction.
    """
    evaluate_lanes(m.state, m.address, t, m)
    worst_of_lanes(m.Phi, t, m.residual)
    residual, active = numbers_of(m.residual)[0], numbers_of(m.active)[0]
    fresh, accepted = numbers_of(m.fresh)[0], numbers_of(m.accepted)[0]
    scale, tries, steps = numbers_of(m.scale)[0], numbers_of(m.tries)[0], numbers_of(m.steps)[0]
    left = begun = _begin(residual, active, fresh, scale, tries, steps)
    while left > 0:
        if begun > 0:
            _correct(t, m)
        for b in range(1, len(t.mass)):
            move_body(m.state[b], m.way[b], m.scale[0], m.trial[b])
        evaluate_lanes(m.trial, m.of_Phi, t, m)
        m.now[0] = misfit(m.weight, t, m)
        worst_of_lanes(m.Phi, t, m.candidate)
        now, before, candidate = numbers_of(m.now)[0], numbers_of(m.misfit)[0], numbers_of(m.candidate)[0]
        left, begun = _judge(now, before, candidate, residual, active, fresh, accepted, scale, tries, steps)
        _take(m.trial, m.accepted[0], 0, V, m.state)
        if begun > 0 or left == 0:
            evaluate_lanes(m.state, m.address, t, m)


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
    """``projection.make_velocities_consistent`` of all lanes, in states whose rows are known; ``m.Phi`` remains."""
    worst_of_lanes(m.Phi_dot, t, m.now)
    if _begin_velocities(numbers_of(m.now)[0], numbers_of(m.active)[0], numbers_of(m.damping)[0]) == 0:
        return
    _factorise(t, m)
    for _ in range(VELOCITY_PASSES):
        least_change(m.Phi_dot, m.u, t, m)
        for b in range(1, len(t.mass)):
            for c in range(V):
                m.trial[b, c] = m.state[b, c]
            for c in range(V, STATE):
                m.trial[b, c] = m.state[b, c] + m.u[b, c - V]
        evaluate_lanes(m.trial, m.address, t, m)
        worst_of_lanes(m.Phi_dot, t, m.candidate)
        left = _judge_velocities(
            numbers_of(m.candidate)[0], numbers_of(m.now)[0], numbers_of(m.active)[0], numbers_of(m.accepted)[0]
        )
        _take(m.trial, m.accepted[0], V, STATE, m.state)
        if left == 0:
            return
