"""The derivatives of the forces of definitions, in compiled code."""

from __future__ import annotations

from runtime.dynamics.directions import BODY, add_wrench, column_of
from runtime.dynamics.force_elements import MAX_BODIES
from runtime.dynamics.layout import GROUND_INDEX
from runtime.jit import addresses
from runtime.jit.compilation import inlined


@inlined
def add_four(body, m):  # type: ignore[no-untyped-def]
    """Add the derivatives of a force on four bodies, of which some may be the same."""
    bodies = len(m.Q) - 1
    for side in range(MAX_BODIES):
        for of in range(MAX_BODIES):
            if body[side] == GROUND_INDEX or body[of] == GROUND_INDEX:
                continue
            for k in range(BODY):
                column = column_of(k, body[of], bodies)
                for c in range(6):
                    m.Q[body[side], c, column] += m.four[6 * side + c, BODY * of + k]


@inlined
def add_states(k, first, i, j, o, p, t, x, m):  # type: ignore[no-untyped-def]
    """Add what the states of force k, numbered from ``first`` on, do to the force, and the derivatives of their rates.

    i, j, o, p : states of its bodies
    """
    bodies, own, states = t.bodies[k], BODY * t.bodies[k], 0
    while first + states < len(t.state_force) and t.state_force[first + states] == k:
        states += 1
    addresses.call(
        m.state[k], i.ctypes.data, j.ctypes.data, o.ctypes.data, p.ctypes.data, x[k].ctypes.data,
        m.state_seeds[m.state_start[k] :].ctypes.data, m.state_out.ctypes.data,
    )  # fmt: skip
    count, width = len(m.Q) - 1, own + states
    for side in range(bodies):
        for c in range(6 if t.body[k, side] != GROUND_INDEX else 0):
            for s in range(states):
                m.Q[t.body[k, side], c, BODY * count + first + s] += m.state_out[(6 * side + c) * width + own + s]
    for r in range(states):
        row, out = 6 * count + first + r, m.state_out[(6 * bodies + r) * width :]
        for side in range(bodies):
            for d in range(BODY if t.body[k, side] != GROUND_INDEX else 0):
                m.J[row, column_of(d, t.body[k, side], count)] += out[BODY * side + d]
        for s in range(states):
            m.J[row, BODY * count + first + s] += out[own + s]
    return first + states


@inlined
def linearise_forces(data, w, m):  # type: ignore[no-untyped-def]
    """Forces of definitions; their vectors and tables are up to date from the evaluation of the state."""
    t, x, first = data.forces, w.forces.x, 0
    for k in range(len(t.address)):
        i, j, o, p = w.state[t.body[k, 0]], w.state[t.body[k, 1]], w.state[t.body[k, 2]], w.state[t.body[k, 3]]
        if m.state[k] != 0:
            first = add_states(k, first, i, j, o, p, t, x, m)
        if t.bodies[k] == 2:
            addresses.call(
                m.force[k], i.ctypes.data, j.ctypes.data, o.ctypes.data, p.ctypes.data, x[k].ctypes.data,
                m.seeds.ctypes.data, m.out.ctypes.data,
            )  # fmt: skip
            add_wrench(m.out, 0, t.body[k, 0], t.body[k, 1], 1.0, m)
            continue
        addresses.call(
            m.force[k], i.ctypes.data, j.ctypes.data, o.ctypes.data, p.ctypes.data, x[k].ctypes.data,
            m.four_seeds.ctypes.data, m.four.ctypes.data,
        )  # fmt: skip
        add_four(t.body[k], m)
