"""The exact Jacobian of the equations of motion: derivatives of v' and lam over displacements and velocities.

    M dv' + D^T dlam = dQ - dM v' - d(D^T) lam,     D dv' = -d(D v' - gamma + 2 alpha Phi' + beta^2 Phi)

The right-hand sides, at constant v' and lam, are generated for each joint and each force; this module adds them up and solves
with the factors of S from the evaluation of the state.  The 12 directions of a body are translation and rotation (global axes),
change of v and change of omega.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from runtime.dynamics.contacts import NORMAL_FORCE, POTENTIAL, evaluate_contact
from runtime.dynamics.directions import BODY, BOTH, add_wrench, column_of
from runtime.dynamics.elimination import satisfy_rows
from runtime.dynamics.equations import accelerations, types_of
from runtime.dynamics.force_elements import MAX_BODIES
from runtime.dynamics.force_slopes import linearise_forces
from runtime.dynamics.layout import GROUND_INDEX, NOT_FINITE, OK, ROWS
from runtime.dynamics.limits import EXCESS, PRINTED, evaluate_law, excess_of_law, measure_excess
from runtime.dynamics.load_slopes import LoadSlopes, add_load_slopes, load_slopes
from runtime.dynamics.loads import AT_GLOBAL_POINT, load_wrench, motor_effort
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.switches import LEAVING
from runtime.jit import addresses
from runtime.jit.compilation import compiled, inlined, place_of_address
from runtime.jit.kernels import bodies, dispatch, separation, sphere_plane, top_view
from runtime.jit.pointers import Pointer, call_at, local
from runtime.jit.second_process import ask
from runtime.support.arrays import Floats, Ints

ALL, OF_LIMITS, OF_CONTACTS, OF_FORCES, OF_LOADS, OF_APPLIED = range(6)  # places in ``JacobianWorkspace.address``
AT_REST = 1e-7  # [1] sine between u and the curve's normal below which u counts as perpendicular to the curve


class JacobianWorkspace(NamedTuple):
    """Memory of one linearisation."""

    joint: Ints  # (joints,) addresses of their tangents, in this process
    motor: Ints  # (motors,)
    force: Ints  # (forces,)
    state: Ints  # (forces,) of forces with states, else 0
    state_start: Ints  # (forces + 1,) where the seeds of each force with states begin
    state_seeds: Floats  # directions of its bodies and states, a unit matrix for each
    state_out: Floats  # derivatives of a force on its bodies, and of the rates of its states
    seeds: Floats  # (24, 24) the directions of two bodies
    of_slope: Floats  # (27, 24) seeds, and the slope of a limit's potential
    four_seeds: Floats  # (48, 48) the directions of four bodies
    four: Floats  # (24, 48) derivatives of a force on four bodies
    of_force: Floats  # (28, 24) seeds, and a contact's forces
    about: Floats  # (18,) v_dot of both bodies and multipliers of one joint, or the effort of one motor
    out: Floats  # (12 + 3 ROWS, 24)
    u: Floats  # (5, 24) memory for limits and contacts
    frame: Floats  # (9,) axes of a body
    pair: Floats  # (6, 1)
    measured: Floats  # (8, 1)
    Q: Floats  # (bodies + 1, 6, columns) derivatives of forces less those of M v' and D^T lam
    rows: Floats  # (joints, ROWS, columns) derivatives of gamma - D v' - 2 alpha Phi' - beta^2 Phi
    v_dot: Floats  # (bodies + 1, 6)
    loads: LoadSlopes
    address: (
        Ints  # (6,) places of addresses, in this process: of this code, limits, contacts, forces, normal loads, loads
    )
    # (6 bodies + states, 12 bodies + states) derivatives of v', omega' and rates of the states of forces: columns r, turn of all
    # bodies, then v, omega of all, then the states
    J: Floats


def jacobian_workspace(
    t: ModelData, joints: Sequence[ModuleType], motors: Sequence[ModuleType], forces: Sequence[ModuleType]
) -> JacobianWorkspace:
    """Memory for Jacobians of a system, with the generated modules of its joints, motors and forces.

    The tangents of these modules are compiled here.
    """
    ask("Jacobian")
    m = jacobian_memory(t, len(motors))
    signature = types.int64(*types_of_parts(t))
    for place, part in enumerate(PARTS):
        m.address[place] = place_of_address(part, signature, NOT_FINITE)
    m.joint[:] = addresses.addresses_of(joints, "tangent_entry")
    m.motor[:] = addresses.addresses_of(motors, "tangent_entry")
    m.force[:] = addresses.addresses_of(forces, "tangent_entry")
    m.state[:] = [int(addresses.addresses_of([f], "state_tangent_entry")[0]) if f.STATES else 0 for f in forces]
    m.loads.kernel[:] = addresses.addresses_of((f for f in forces if f.LOADS), "loads_tangent_entry")
    return m


def jacobian_memory(t: ModelData, motors: int) -> JacobianWorkspace:
    """Memory without the addresses of compiled code."""
    bodies, joints = len(t.mass) - 1, len(t.address)
    states = len(t.forces.state_place)
    columns = BODY * bodies + states
    identity = np.eye(BOTH)
    own = np.bincount(t.forces.state_force, minlength=len(t.forces.address))
    seeds = [np.eye(BODY * n + k).ravel() for n, k in zip(t.forces.bodies.tolist(), own.tolist(), strict=True) if k]
    starts = np.cumsum([0, *(((BODY * t.forces.bodies + own) ** 2) * (own > 0)).tolist()]).astype(np.int64)
    return JacobianWorkspace(
        joint=np.zeros(joints, np.int64), motor=np.zeros(motors, np.int64),
        force=np.zeros(len(t.forces.address), np.int64), state=np.zeros(len(t.forces.address), np.int64),
        state_start=starts, state_seeds=np.concatenate([*seeds, np.zeros(0)]),
        state_out=np.zeros(max(map(len, seeds), default=0)), four_seeds=np.eye(MAX_BODIES * BODY),
        four=np.zeros((6 * MAX_BODIES, MAX_BODIES * BODY)),
        seeds=identity, of_slope=np.vstack([identity, np.zeros((3, BOTH))]),
        of_force=np.vstack([identity, np.zeros((4, BOTH))]), about=np.zeros(18), out=np.zeros((12 + 3 * ROWS, BOTH)),
        u=np.zeros((5, BOTH)), frame=np.zeros(9), pair=np.zeros((6, 1)), measured=np.zeros((8, 1)),
        Q=np.zeros((bodies + 1, 6, columns)), rows=np.zeros((joints, ROWS, columns)), v_dot=np.zeros((bodies + 1, 6)),
        loads=load_slopes(t), address=np.zeros(6, np.int64), J=np.zeros((6 * bodies + states, columns)),
    )  # fmt: skip


_TYPES: tuple[
    Any, ...
] = ()  # of the data and both memories, equal for all systems; set at once, as those of ``types_of``


def types_of_parts(t: ModelData) -> tuple[Any, ...]:
    """Numba's types of the arguments of the parts of this module."""
    if not _TYPES:
        globals()["_TYPES"] = (*types_of(t), Pointer(numba.typeof(jacobian_memory(t, 0))))
    return _TYPES


@inlined
def linearise_bodies(t, w, m):  # type: ignore[no-untyped-def]
    """Inertial moments of the bodies."""
    for b in range(1, len(t.mass)):
        for a in range(3):
            for c in range(3):
                m.frame[3 * a + c] = w.A[b, c, a]
        bodies.torque_tangent(w.state[b], m.frame, w.v_dot[b, 3:], t.inertia[b], m.seeds, m.out)
        for k in range(BODY):
            column = column_of(k, b, len(m.Q) - 1)
            for c in range(3):
                m.Q[b, 3 + c, column] -= m.out[c, k]


@inlined
def linearise_joints(t, w, m):  # type: ignore[no-untyped-def]
    """Reactions and rows of the joints."""
    count = len(m.Q) - 1
    for k in range(len(t.address)):
        i, j, rows = t.body_i[k], t.body_j[k], t.rows[k]
        for c in range(6):
            m.about[c], m.about[6 + c], m.about[12 + c] = w.v_dot[i, c], w.v_dot[j, c], 0.0
        for r in range(t.rows[k]):
            m.about[12 + r] = w.lam[k, r]
        addresses.call(
            m.joint[k], w.state[i].ctypes.data, w.state[j].ctypes.data, w.x[k].ctypes.data, m.about.ctypes.data,
            m.seeds.ctypes.data, m.out.ctypes.data,
        )  # fmt: skip
        add_wrench(m.out, 0, i, j, -1.0, m)
        for r in range(t.rows[k]):
            row = 12 + r
            for of in range(2):
                b = i if of == 0 else j
                if b == GROUND_INDEX:
                    continue
                for c in range(BODY):
                    d = BODY * of + c
                    m.rows[k, r, column_of(c, b, count)] = -(
                        m.out[row, d]
                        + 2.0 * t.alpha * m.out[row + rows, d]
                        + t.beta * t.beta * m.out[row + 2 * rows, d]
                    )


@inlined
def curve_bend(t, w):  # type: ignore[no-untyped-def]
    """-u . t'' where the cone's nearest direction t to u moves along its curve with u; 0 at a vertex or a corner, where t stays.

    The curve's derivatives at t are left in ``w.curve``.
    """
    if w.place[0] < 0.0:
        return 0.0
    p = int(w.place[0])
    dispatch.curve(t.pieces.kind[p], w.place[1], t.pieces.coefficients[p], w.curve)
    along = bend = size = 0.0
    for c in range(3):
        along += w.u[c] * w.curve[3 + c]
        bend -= w.u[c] * w.curve[6 + c]
        size += w.curve[3 + c] * w.curve[3 + c]
    return bend if abs(along) <= AT_REST * math.sqrt(size) else 0.0


@inlined
def bend_slope(k, bend, t, w, m, n):  # type: ignore[no-untyped-def]
    """Put the change of dV/du of limit k due to the change ``m.u[:, n]`` of the direction u into ``m.of_slope[24:, n]``.

    ``bend`` is -u . t'' where the nearest direction t moves along the curve, 0 where t stays.  Inside, where the law of an
    ACTIVE limit is continued, the moment is zero to second order, and so is the change of its direction.
    """
    excess, slope_shortening = w.separation[0], 0.0
    for c in range(3):
        m.pair[c, 0], m.pair[3 + c, 0] = m.u[c, n], 0.0
    if bend > 0.0:  # u . t' = 0 holds along the curve, so t moves by t' (t' . du) / -(u . t'')
        move = (w.curve[3] * m.u[0, n] + w.curve[4] * m.u[1, n] + w.curve[5] * m.u[2, n]) / bend
        for c in range(3):
            m.pair[3 + c, 0] = w.curve[3 + c] * move
    if excess > 0.0:
        separation.separation_tangent(w.u, w.nearest, m.pair, m.measured)
    else:
        for c in range(4):
            m.measured[c, 0] = 0.0
        for c in range(3):
            m.measured[0, 0] += w.separation[1 + c] * m.u[c, n]
    rate = m.measured[0, 0]
    gradient = m.measured[1:4, 0]
    if t.law[k] == PRINTED and excess > 0.0:
        top_view.top_view_tangent(w.u, w.nearest, m.pair, m.measured)
        rate, slope_shortening = m.measured[0, 0], m.measured[1, 0]
        separation.separation_tangent(w.u, w.nearest, m.pair, m.measured)
    excess, shortening = excess_of_law(w.u, k, t, w)
    evaluate_law(k, excess / t.compliance[k], t, w)
    bending = w.pair[2] / t.compliance[k]
    for c in range(3):
        m.of_slope[BOTH + c, n] = t.max_moment[k] * (
            (bending * rate * shortening + w.pair[1] * slope_shortening) * w.separation[1 + c]
            + w.pair[1] * shortening * gradient[c]
        )


def linearise_limits(data, w, m):  # type: ignore[no-untyped-def]
    """Forces of the joint limits."""
    t, v = data.limits, w.limits
    for k in range(len(t.kind)):
        if v.outputs[k, EXCESS] == 0.0 and t.damping[k] == 0.0:
            continue
        i, j = t.body_i[k], t.body_j[k]
        for c in range(3):
            for n in range(BOTH):
                m.of_slope[BOTH + c, n] = 0.0
        if v.outputs[k, EXCESS] != 0.0:
            dispatch.direction(t.kind[k], w.state[i], w.state[j], v.x[k], v.u)
            measure_excess(v.u, k, t, v, v.outputs[k])
            dispatch.direction_tangent(t.kind[k], w.state[i], w.state[j], v.x[k], m.seeds, m.u)
            bend = curve_bend(t, v)
            for n in range(BOTH):
                bend_slope(k, bend, t, v, m, n)
        dispatch.wrench_tangent(t.kind[k], w.state[i], w.state[j], v.x[k], v.slope[k], m.of_slope, m.out)
        add_wrench(m.out, 0, i, j, 1.0, m)
    return OK


def linearise_loads(data, w, m):  # type: ignore[no-untyped-def]
    """Prescribed loads and motors."""
    t, v = data.loads, w.loads
    for k in range(len(t.body)):
        b = t.body[k]
        if t.at[k] != AT_GLOBAL_POINT and t.in_body_axes[k] == 0:
            continue
        for c in range(6):
            for n in range(BOTH):
                m.out[c, n] = 0.0
        load_wrench(k, t, w)
        if t.in_body_axes[k] == 1:
            bodies.load_in_body_tangent(w.state[b], v.wrench, m.seeds, m.out)
        else:
            force = v.wrench[:3]  # moment and point do not enter this derivative
            bodies.load_at_point_tangent(w.state[b], m.frame, force, force, force, m.seeds, m.out[3:])
        for n in range(BODY):
            for c in range(6):
                m.Q[b, c, column_of(n, b, len(m.Q) - 1)] += m.out[c, n]
    for k in range(len(t.address)):
        i, j = t.body_i[k], t.body_j[k]
        for c in range(18):
            m.about[c] = 0.0
        m.about[12] = motor_effort(k, t, w)
        addresses.call(
            m.motor[k], w.state[i].ctypes.data, w.state[j].ctypes.data, v.x[k].ctypes.data, m.about.ctypes.data,
            m.seeds.ctypes.data, m.out.ctypes.data,
        )  # fmt: skip
        for n in range(BOTH):
            effort = -t.damping[k] * m.out[13, n] - t.stiffness[k] * m.out[14, n]
            for c in range(BODY):
                m.out[c, n] += v.D[0, c] * effort
        add_wrench(m.out, 0, i, j, 1.0, m)
    return OK


@inlined
def contact_force_slope(k, n, sliding, v, m):  # type: ignore[no-untyped-def]
    """Put the derivatives of normal force and friction of contact k along direction n into ``m.of_force[24:, n]``."""
    force = v.law[k, 3] * m.u[0, n] + v.law[k, 4] * m.u[1, n]
    m.of_force[BOTH, n] = force
    for c in range(3):
        value = 0.0
        if sliding:
            value = v.tangential[12 + c] * force
            for a in range(3):
                value += v.tangential[3 + 3 * c + a] * m.u[2 + a, n]
        m.of_force[BOTH + 1 + c, n] = value


def linearise_contacts(data, w, m):  # type: ignore[no-untyped-def]
    """Forces of the contacts."""
    t, v = data.contacts, w.contacts
    for k in range(len(t.address)):
        if not evaluate_contact(k, data, w):
            continue
        i, j = t.body_i[k], t.body_j[k]
        sphere_plane.measure_tangent(w.state[i], w.state[j], v.x[k], m.seeds, m.u)
        # ``evaluate_contact`` has left the slopes of its friction.
        sliding = t.friction[k] >= 0 and v.mode[k] != LEAVING
        for n in range(BOTH):
            contact_force_slope(k, n, sliding, v, m)
        f = v.outputs[k, NORMAL_FORCE:POTENTIAL]
        sphere_plane.wrench_tangent(w.state[i], w.state[j], v.x[k], f, m.of_force, m.out)
        add_wrench(m.out, 0, i, j, 1.0, m)
    return OK


def _forces_part(t, w, m):  # type: ignore[no-untyped-def]
    linearise_forces(t, w, m)
    return OK


def _loads_part(t, w, m):  # type: ignore[no-untyped-def]
    add_load_slopes(t, w, m)
    return OK


@inlined
def jacobian(t, w, m):  # type: ignore[no-untyped-def]
    """Fill ``m.J`` at the state whose accelerations were just computed."""
    call_at(m.address[ALL], t, w, m)


def _entry(t, w, memory):  # type: ignore[no-untyped-def]
    """``jacobian``, compiled once for all callers."""
    m = local(memory)
    count, loaded = len(t.mass) - 1, len(t.forces.reactive) > 0
    m.Q[:] = 0.0
    m.rows[:] = 0.0
    for r in range(6 * count, len(m.J)):
        m.J[r, :] = 0.0
    linearise_bodies(t, w, m)
    linearise_joints(t, w, m)
    if len(t.limits.kind) > 0:
        call_at(m.address[OF_LIMITS], t, w, memory)
    if len(t.loads.body) + len(t.loads.address) > 0:
        call_at(m.address[OF_APPLIED], t, w, memory)
    if len(t.contacts.address) > 0:
        call_at(m.address[OF_CONTACTS], t, w, memory)
    if len(t.forces.address) > 0:
        call_at(m.address[OF_FORCES], t, w, memory)
    for column in range(m.J.shape[1]):
        for b in range(1, count + 1):
            K, inverse, Q = w.inertia_inverse[b], 1.0 / t.mass[b], m.Q[b]
            for c in range(3):
                m.v_dot[b, c] = Q[c, column] * inverse
                m.v_dot[b, 3 + c] = K[c, 0] * Q[3, column] + K[c, 1] * Q[4, column] + K[c, 2] * Q[5, column]
        satisfy_rows(m.rows[:, :, column], m.v_dot, m.loads.lam[column if loaded else 0], t, w)
        for b in range(1, count + 1):
            for c in range(6):
                m.J[6 * (b - 1) + c, column] = m.v_dot[b, c]
    if loaded:
        call_at(m.address[OF_LOADS], t, w, memory)
    return OK


PARTS = (
    _entry,
    linearise_limits,
    linearise_contacts,
    _forces_part,
    _loads_part,
    linearise_loads,
)  # at ALL, OF_LIMITS, ..., OF_APPLIED


@compiled
def jacobian_once(time, y, t, w, m):  # type: ignore[no-untyped-def]
    """Accelerations and their Jacobian at a state, called from Python; a code."""
    code = accelerations(time, y, t, w, False)
    if code == OK:
        jacobian(t, w, m)
    return code
