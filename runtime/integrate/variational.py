"""The equations of motion together with their variational equations, in compiled code.

    y' = f(y, theta),     z' = df/dy z + df/dtheta

for a state y and its derivatives z with respect to K parameters theta.  df/dy is the exact Jacobian of
``runtime.dynamics.jacobian``.  df/dtheta, the effect of a parameter on joints, limits, loads, motors and signals at a state, is a
difference of order six of systems with nearby parameters; their limits share the modes of the system itself, so that no
difference reaches across a cone.  State and derivatives form one long state for the integration loop, which evaluates it
through ``Workspace.address``.

States of closed loops are projected onto their rows, as in ``simulate``, and their derivatives onto the derivatives of the rows:

    D dq = -Phi_theta,     D dv = -d(Phi')/dq dq - Phi'_theta

by the least change, measured by the kinetic energy, with the generated derivatives of the joints.  Close to a singular pose the
branches of the motion may part with the parameters; such evaluations are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np

from runtime.dynamics.directions import BODY, BOTH
from runtime.dynamics.elimination import DAMPING, apply, factorise, solve
from runtime.dynamics.equations import place_of_part, workspace_for
from runtime.dynamics.jacobian import JacobianWorkspace, jacobian
from runtime.dynamics.kinematics import euler_rates, turn_of, update_kinematics
from runtime.dynamics.layout import DERIVATIVE as VALUE
from runtime.dynamics.layout import OK, OMEGA, ROWS, SINGULAR, STATE, P, V
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.places import ADDRESSES, EVALUATION, PROJECTION
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at, at_address, call_at
from runtime.jit.references import Reference
from runtime.support.arrays import Floats, Ints
from runtime.system.system import System
from runtime.system.workspaces import workspace_of_jacobian

ITSELF, DIRECTIONS, OF_MOTION = range(
    ADDRESSES, ADDRESSES + 3
)  # places in ``Workspace.address``, beside those of every system
# Places of the nearby systems, as fractions of the step: on both sides, or on one.  The latter are the points of Chebyshev, whose
# weights, and with them the rounding error of the slope, are smallest.
BOTH_SIDES = np.array([1.0, -1.0, 0.5, -0.5, 0.25, -0.25])
AHEAD = (1.0 - np.cos(np.pi / 6.0 * np.arange(1, 7))) / 2.0


def weights(places: Floats) -> Floats:
    """Weights with which the changes from the value at 0 to those at the places add up to the slope at 0.

    Exact for polynomials of as high a degree as there are places.
    """
    powers = np.arange(1, len(places) + 1)
    first = np.where(powers == 1, 1.0, 0.0)
    return np.asarray(np.linalg.solve(places ** powers[:, None], first), float)


class Directions(NamedTuple):
    """Parameters of the derivatives, as nearby systems, and memory."""

    jacobian: JacobianWorkspace
    data: Ints  # (K, 6) addresses of the data of the nearby systems, 0 for a parameter of the initial state
    works: Ints  # (K, 6) addresses of their memory
    factors: Floats  # (K, 6)
    rates: Floats  # (13 bodies,) memory
    change: Floats  # (12 bodies,) displacements, then changes of velocity
    p: Floats  # (4,)
    slopes: Floats  # (joints, 2, ROWS, 24) of Phi and Phi' of each joint over the directions of its bodies
    rows: Floats  # (K, 2, joints, ROWS) of Phi and Phi' with respect to the parameters


class Varied:
    """Memory for the evaluation of a system with its derivatives with respect to K parameters.

    ``nearby``: for each parameter the data of six nearby systems and the weights (6,) with which their changes add up to the
    derivative; None for a parameter of the initial state.
    """

    def __init__(
        self, system: System, data: ModelData, nearby: Sequence[tuple[Sequence[ModelData], Floats] | None]
    ) -> None:
        n, count = STATE * len(system.bodies), len(nearby)
        work = workspace_for(data)
        mode = work.limits.mode
        self._kept: list[Reference] = []
        places, works, factors = np.zeros((count, 6), np.int64), np.zeros((count, 6), np.int64), np.zeros((count, 6))
        for k, six in enumerate(nearby):
            if six is None:
                continue
            others, factors[k] = six
            for q, other in enumerate(others):
                memory = workspace_for(other)
                memory = memory._replace(limits=memory.limits._replace(mode=mode))  # the modes of the system itself
                places[k, q], works[k, q] = self._keep(other), self._keep(memory)
        directions = Directions(
            workspace_of_jacobian(system),
            places,
            works,
            factors,
            np.zeros(n),
            np.zeros(12 * len(system.bodies)),
            np.zeros(4),
            np.zeros((len(data.address), 2, ROWS, BOTH)),
            np.zeros((count, 2, len(data.address), ROWS)),
        )
        if not _TYPES:
            globals()["_TYPES"] = (numba.typeof(data), numba.typeof(work), numba.typeof(directions))
        address = np.zeros(ADDRESSES + 3, np.int64)
        address[: len(work.address)] = work.address
        address[EVALUATION], address[ITSELF] = place_of_part(_entry), work.address[EVALUATION]
        address[PROJECTION], address[OF_MOTION] = place_of_part(_projection), work.address[PROJECTION]
        address[DIRECTIONS] = self._keep(directions)
        self.work = work._replace(address=address)

    def _keep(self, value: ModelData | Workspace | Directions) -> int:
        self._kept.append(Reference(value))
        return self._kept[-1].address


_TYPES: tuple[Any, ...] = ()  # of data, memory and directions, identical for all systems


@inlined
def put_changes(states, z, change):  # type: ignore[no-untyped-def]
    """Displacements (translation, rotation) of all bodies, then changes of velocity, of the derivatives z of their states."""
    bodies = len(z) // STATE
    for b in range(bodies):
        o = STATE * b
        e, turn = states[o + P : o + V], change[6 * b + 3 : 6 * b + 6]
        turn_of(e, z[o + P : o + V], turn)
        square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
        for c in range(3):
            change[6 * b + c] = z[o + c]
            turn[c] /= square
        for c in range(6):
            change[6 * (bodies + b) + c] = z[o + V + c]


@inlined
def put_row_slopes(t, w, m):  # type: ignore[no-untyped-def]
    """The derivatives of Phi' and Phi of each joint over the directions of its bodies, into ``m.slopes``."""
    for c in range(18):
        m.jacobian.about[c] = 0.0
    for k in range(len(t.address)):
        addresses.call(
            m.jacobian.joint[k], w.state[t.body_i[k]].ctypes.data, w.state[t.body_j[k]].ctypes.data, w.x[k].ctypes.data,
            m.jacobian.about.ctypes.data, m.jacobian.seeds.ctypes.data, m.jacobian.out.ctypes.data,
        )  # fmt: skip
        for r in range(t.rows[k]):
            for n in range(BOTH):
                m.slopes[k, 0, r, n] = m.jacobian.out[12 + 2 * t.rows[k] + r, n]
                m.slopes[k, 1, r, n] = m.jacobian.out[12 + t.rows[k] + r, n]


@inlined
def slope_along(d, joint, which, r, c, side, body):  # type: ignore[no-untyped-def]
    """The part of component c of a body's change in the change of a row; 0 for the ground."""
    if body < 0:
        return 0.0
    at, of_row = 6 * body + c, d.slopes[joint, which, r]
    other = at + len(d.change) // 2
    return of_row[BODY * side + c] * d.change[at] + of_row[BODY * side + 6 + c] * d.change[other]


@inlined
def correct(which, k, states, z, t, w, d):  # type: ignore[no-untyped-def]
    """Move the derivatives z with respect to parameter k onto the derivatives of Phi (0), or of Phi' (1), of all rows."""
    bodies = len(t.mass) - 1
    for _ in range(2):  # the second pass removes what the damping of the factors leaves
        put_changes(states, z, d.change)
        for n in range(len(t.address)):
            for r in range(t.rows[n]):
                value = d.rows[k, which, n, r]
                for c in range(6):
                    value += slope_along(d, n, which, r, c, 0, t.body_i[n] - 1) + slope_along(
                        d, n, which, r, c, 1, t.body_j[n] - 1
                    )
                w.y[n, r] = value
        solve(t, w)
        w.v_dot[:, :] = 0.0
        apply(t, w, w.y, w.v_dot)
        for b in range(bodies):
            o, u = STATE * b, w.v_dot[b + 1]
            if which == 1:
                for c in range(6):
                    z[o + V + c] += u[c]
            else:
                euler_rates(states[o + P : o + V], u[3:6], d.p)
                for c in range(3):
                    z[o + c] += u[c]
                for c in range(4):
                    z[o + P + c] += d.p[c]


def _projection(time, y, t, w, manner, left):  # type: ignore[no-untyped-def]
    """Project a state, and its derivatives with respect to the parameters onto those of the rows; a code."""
    d = at_address(w.address[DIRECTIONS], _TYPES[2])
    count, n = len(d.factors), len(d.rates)
    states = array_at(y, (1 + count) * n)
    call_at(w.address[OF_MOTION], time, y, t, w, manner, left)
    update_kinematics(time, states[:n], t, w)
    put_row_slopes(t, w, d)
    for k in range(count):
        d.rows[k, :, :, :] = 0.0
        for q in range(6):
            if d.data[k, q] == 0:
                break
            other, memory = at_address(d.data[k, q], _TYPES[0]), at_address(d.works[k, q], _TYPES[1])
            update_kinematics(time, states[:n], other, memory)
            for j in range(len(t.address)):
                for r in range(t.rows[j]):
                    d.rows[k, 0, j, r] += d.factors[k, q] * (memory.Phi[j, r] - w.Phi[j, r])
                    d.rows[k, 1, j, r] += d.factors[k, q] * (memory.Phi_dot[j, r] - w.Phi_dot[j, r])
    factorise(t, w, 0.0, DAMPING, 0)
    for k in range(count):
        z = states[(1 + k) * n : (2 + k) * n]
        correct(0, k, states, z, t, w, d)
        correct(1, k, states, z, t, w, d)
    return OK


def _entry(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """State derivative and its derivatives with respect to the parameters; a code."""
    d = at_address(w.address[DIRECTIONS], _TYPES[2])
    bodies, count, n = len(t.mass) - 1, len(d.factors), len(d.rates)
    states, slopes = array_at(y, (1 + count) * n), array_at(y_dot, (1 + count) * n)
    if w.near_singular[0] == 1:
        return SINGULAR  # close to a singular pose
    code = call_at(w.address[ITSELF], time, states, t, w, VALUE, slopes)
    if code != OK:
        return code
    jacobian(t, w, d.jacobian)
    J, change = d.jacobian.J, d.change
    for k in range(count):
        z, to = states[(1 + k) * n : (2 + k) * n], slopes[(1 + k) * n : (2 + k) * n]
        put_changes(states, z, change)
        for b in range(bodies):
            o = STATE * b
            e, dp = states[o + P : o + V], z[o + P : o + V]
            for c in range(3):
                to[o + c] = z[o + V + c]
            euler_rates(dp, states[o + OMEGA : o + STATE], d.p)
            euler_rates(e, z[o + OMEGA : o + STATE], to[o + P : o + V])
            for c in range(4):
                to[o + P + c] += d.p[c]
        for r in range(6 * bodies):
            value = 0.0
            for c in range(12 * bodies):
                value += J[r, c] * change[c]
            to[STATE * (r // 6) + V + r % 6] = value
        for q in range(6):
            if d.data[k, q] == 0:
                break
            other, memory = at_address(d.data[k, q], _TYPES[0]), at_address(d.works[k, q], _TYPES[1])
            for j in range(len(t.address)):
                for r in range(t.rows[j]):
                    memory.kept[j, r] = w.kept[j, r]  # a difference of the same rows
            memory.chosen[0] = w.chosen[0]
            code = call_at(w.address[ITSELF], time, states, other, memory, VALUE, d.rates)
            if code != OK:
                return code
            for b in range(bodies):
                for c in range(STATE * b + V, STATE * (b + 1)):
                    to[c] += d.factors[k, q] * (d.rates[c] - slopes[c])  # exactly 0 where the parameter has no effect
    return OK
