"""The derivatives of forces that depend on the reaction of their joint, in compiled code.

By the theorem of implicit functions: N = h(q, R) with R = R(q, lam) and lam = lam0 + sum lam_l N_l gives, for a direction,

    (I - h_R G) dN = h_q + h_R (R_q + R_lam dlam0),     dv' = dv0' + sum V_l dN_l

where dv0' and dlam0 are the derivatives at fixed loads, h_q and R_q the generated derivatives at fixed R and lam, and G, V_l the
responses to the loads from the evaluation of the state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.directions import BODY, BOTH, column_of
from runtime.dynamics.joint_loads import COUNT, FIRST, FORCE, JOINT, REACTION, reaction_of, set_matrix, solve_small
from runtime.dynamics.layout import GROUND_INDEX, ROWS
from runtime.dynamics.model_data import ModelData
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints


class LoadSlopes(NamedTuple):
    """Memory for the derivatives of normal loads; F forces with L loads in all."""

    kernel: Ints  # (F,) addresses of the tangents of their sizes
    seeds: Floats  # (30, 30) directions of two bodies, and of the reaction
    out: Floats  # (L, 30)
    lam: Floats  # (columns or 1, joints, 6) derivatives of the multipliers at fixed loads
    reaction: Floats  # (F, 6, columns) derivatives of the reactions at fixed multipliers
    load: Floats  # (L, columns) derivatives of the sizes at fixed reactions
    change: Floats  # (6,) of a reaction


def load_slopes(t: ModelData) -> LoadSlopes:
    """Memory without the addresses."""
    forces = len(t.forces.reactive)
    loads = int(t.forces.reactive[:, COUNT].sum())
    columns = BODY * (len(t.mass) - 1) + len(t.forces.state_place) if forces else 0
    return LoadSlopes(
        np.zeros(forces, np.int64), np.eye(BOTH + REACTION if forces else 0), np.zeros((loads, BOTH + REACTION)),
        np.zeros((max(columns, 1), len(t.address), ROWS)), np.zeros((forces, REACTION, columns)), np.zeros((loads, columns)),
        np.zeros(REACTION),
    )  # fmt: skip


@inlined
def _set_partial(p, data, w, m):  # type: ignore[no-untyped-def]
    """Derivatives of the loads of force p at fixed reactions, and of the reaction of its joint at fixed multipliers."""
    t, s, count = data.forces, m.loads, len(m.Q) - 1
    k, joint, first = t.reactive[p, FORCE], t.reactive[p, JOINT], t.reactive[p, FIRST]
    i, j = w.state[t.body[k, 0]], w.state[t.body[k, 1]]
    addresses.call(
        s.kernel[p], i.ctypes.data, j.ctypes.data, i.ctypes.data, j.ctypes.data, w.forces.x[k].ctypes.data,
        s.seeds.ctypes.data, s.out[first].ctypes.data,
    )  # fmt: skip
    m.about[:] = 0.0
    for r in range(data.rows[joint]):
        m.about[12 + r] = w.lam[joint, r]
    addresses.call(
        m.joint[joint], i.ctypes.data, j.ctypes.data, w.x[joint].ctypes.data, m.about.ctypes.data, m.seeds.ctypes.data,
        m.out.ctypes.data,
    )  # fmt: skip
    for side in range(2):
        b = t.body[k, side]
        if b == GROUND_INDEX:
            continue
        for d in range(BODY):
            column = column_of(d, b, count)
            for n in range(first, first + t.reactive[p, COUNT]):
                s.load[n, column] += s.out[n, BODY * side + d]
            for c in range(REACTION):
                s.reaction[p, c, column] -= m.out[6 + c, BODY * side + d]


@inlined
def add_load_slopes(data, w, m):  # type: ignore[no-untyped-def]
    """Add the effect of the changes of the loads to the Jacobian at fixed loads, ``m.J``."""
    t, s, own = data.forces, m.loads, w.joint_loads
    s.load[:] = 0.0
    s.reaction[:] = 0.0
    loads, bodies = len(own.load), len(m.Q) - 1
    for p in range(len(t.reactive)):
        _set_partial(p, data, w, m)
    for column in range(m.J.shape[1]):
        set_matrix(data, own)
        for p in range(len(t.reactive)):
            reaction_of(t.reactive[p, JOINT], s.lam[column], w, s.change)
            for n in range(t.reactive[p, FIRST], t.reactive[p, FIRST] + t.reactive[p, COUNT]):
                value = s.load[n, column]
                for c in range(REACTION):
                    value += own.sizes[n, 1 + c] * (s.reaction[p, c, column] + s.change[c])
                own.matrix[n, loads] = value
        solve_small(own.matrix, loads)
        for n in range(loads):
            for b in range(bodies):
                for c in range(6):
                    m.J[6 * b + c, column] += own.matrix[n, loads] * own.v_dot[n, b + 1, c]
