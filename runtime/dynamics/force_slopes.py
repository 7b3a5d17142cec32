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
def linearise_forces(data, w, m):  # type: ignore[no-untyped-def]
    """Forces of definitions; their vectors and tables are up to date from the evaluation of the state."""
    t, x = data.forces, w.forces.x
    for k in range(len(t.address)):
        i, j, o, p = w.state[t.body[k, 0]], w.state[t.body[k, 1]], w.state[t.body[k, 2]], w.state[t.body[k, 3]]
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
