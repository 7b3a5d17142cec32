"""Equations of motion in compiled code: Newton-Euler with Lagrange multipliers.  Rodrigues da Silva et al. (2024a), Eq. (1).

    M v' + D^T lam = g,    D v' = gamma - 2 alpha Phi' - beta^2 Phi,    p' = 1/2 G^T omega

State of a body: r (3), p (4), v (3), omega (3), all in global axes, p scalar first.  Body 0 is the ground.
The multipliers come from the Schur complement S = D M^-1 D^T, factorised along its sparsity, with one step of
refinement on the residual of the rows themselves, which S alone would hide.  On the foot this step reduces the error of the
accelerations from 4e-15 to 3e-16.  Scaling the rows (cond(S) falls from 3e6 to 3e1) would change nothing: a factorisation
without pivoting rounds alike with and without scaling; pivots are compared with the size of their own row instead.
Drivers are joints whose rows hold prescribed signals of time.  Nothing here allocates: all memory is in ``Workspace``.

In compiled code ``t`` is the ModelData of a system and ``w`` its Workspace, or the part of them that the function needs
(``data`` and ``w`` where both the whole and a part occur).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types

from runtime.dynamics.contacts import apply_contacts, contact_workspace
from runtime.dynamics.elimination import PIVOT_TOLERANCE, apply, code_of_pivot, factorise, rows_times, solve
from runtime.dynamics.kinematics import euler_rates, evaluate_joints, update_bodies, update_signals
from runtime.dynamics.layout import (
    DERIVATIVE,
    FORCES,
    GROUND_INDEX,
    OK,
    OMEGA,
    REPORT,
    ROWS,
    STATE,
    P,
    R,
    V,
)
from runtime.dynamics.limits import apply_limits, limit_workspace
from runtime.dynamics.loads import apply_loads, load_workspace
from runtime.dynamics.model_data import EVALUATION, LOADED, WHOLE, ModelData, WholeModelKernel, Workspace
from runtime.dynamics.switches import switches_of
from runtime.jit import addresses
from runtime.jit.compilation import address_of_compiled, compiled, inlined
from runtime.jit.pointers import CALL, Pointer, address_of, array_at, at_address, call


def workspace_for(t: ModelData, whole: WholeModelKernel | None = None) -> Workspace:
    """Memory for the evaluations of a system, with its whole-model kernel if there is one."""
    bodies, joints, blocks = len(t.mass), len(t.address), len(t.sparsity.block_row)
    six = (joints, ROWS)
    limits = len(t.limits.kind)
    switches = switches_of(limits + len(t.contacts.law))
    work = Workspace(
        state=np.zeros((bodies, STATE)),
        A=np.zeros((bodies, 3, 3)),
        inertia_inverse=np.zeros((bodies, 3, 3)),
        free=np.zeros((bodies, 6)),
        v_dot=np.zeros((bodies, 6)),
        momentum=np.zeros(3),
        x=t.x.copy(),
        Phi=np.zeros(six),
        Phi_dot=np.zeros(six),
        D=np.zeros((joints, ROWS, 12)),
        gamma=np.zeros(six),
        target=np.zeros(six),
        rows=np.zeros((joints, 2, ROWS, 6)),
        MD=np.zeros((joints, 2, ROWS, 6)),
        S=np.zeros((blocks, ROWS, ROWS)),
        L=np.zeros((blocks, ROWS, ROWS)),
        size=np.zeros(six),
        inverse=np.zeros(six),
        y=np.zeros(six),
        lam=np.zeros(six),
        failed=np.zeros(2, np.int64),
        smallest_pivot=np.ones(1),
        signals=np.zeros((len(t.signals.start) - 1, 3)),
        switches=switches,
        limits=limit_workspace(t.limits, switches.mode[:limits]),
        loads=load_workspace(t.loads),
        contacts=contact_workspace(t.contacts, switches.mode[limits:]),
        address=np.zeros(3, np.int64),
        constants=np.zeros(1) if whole is None else whole.constants,
    )
    work.state[GROUND_INDEX, P] = 1.0
    work.A[GROUND_INDEX] = np.eye(3)
    if not _TYPES:
        globals()["_TYPES"] = (numba.typeof(t), numba.typeof(work))
    work.address[EVALUATION] = _evaluation_address()
    if whole is not None:
        work.address[WHOLE], work.address[LOADED] = whole.address, whole.loaded
    return work


@inlined
def accelerations(time, y, t, w, report):  # type: ignore[no-untyped-def]
    """Put v' and lam of a state into ``w.v_dot`` and ``w.lam``; returns a code.  ``report`` fills all outputs of the limits."""
    return call(
        w.address[EVALUATION],
        time,
        y.ctypes.data,
        address_of(t),
        address_of(w),
        REPORT if report else FORCES,
        y.ctypes.data,
    )


@inlined
def derivative(time, y, t, w, y_dot):  # type: ignore[no-untyped-def]
    """Put y' of a state (13 numbers per body) into ``y_dot``; returns a code."""
    return call(w.address[EVALUATION], time, y.ctypes.data, address_of(t), address_of(w), DERIVATIVE, y_dot.ctypes.data)


@inlined
def _evaluate(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    whole = purpose == DERIVATIVE and w.address[WHOLE] != 0
    if whole and w.address[LOADED] == 0:
        update_signals(time, t, w)
    else:
        update_bodies(y, t, w)
        update_signals(time, t, w)
        apply_limits(t, w, purpose == REPORT)
        apply_loads(t, w)
        apply_contacts(t, w)
    if whole:
        addresses.call(
            w.address[WHOLE], y.ctypes.data, w.free.ctypes.data, w.signals.ctypes.data, w.constants.ctypes.data,
            y_dot.ctypes.data, w.smallest_pivot.ctypes.data,
        )  # fmt: skip
        w.smallest_pivot[0] = 1.0 / math.sqrt(w.smallest_pivot[0])
        if w.smallest_pivot[0] > PIVOT_TOLERANCE:
            return OK
        if w.address[LOADED] == 0:
            update_bodies(y, t, w)
        # The general evaluation below finds the dependent row, which the whole-model kernel does not report.
    evaluate_joints(t, w)
    for k in range(len(t.address)):
        for r in range(t.active[k]):
            row = t.active_row[k, r]
            w.target[k, r] = w.gamma[k, row] - 2.0 * t.alpha * w.Phi_dot[k, row] - t.beta * t.beta * w.Phi[k, row]
    if factorise(t, w, PIVOT_TOLERANCE, 0.0) > 0:
        return code_of_pivot(w.smallest_pivot[0])
    for b in range(len(t.mass)):
        for c in range(6):
            w.v_dot[b, c] = w.free[b, c]
    for step in range(2):  # the second step is the refinement
        for k in range(len(t.address)):
            for r in range(t.active[k]):
                w.y[k, r] = -w.target[k, r]
        rows_times(t, w, w.v_dot, w.y)
        solve(t, w)
        for k in range(len(t.address)):
            for r in range(t.active[k]):
                w.lam[k, r] = w.y[k, r] if step == 0 else w.lam[k, r] + w.y[k, r]
        apply(t, w, w.y, w.v_dot)
    if purpose == DERIVATIVE:
        for b in range(1, len(t.mass)):
            state, u, to = w.state[b], w.v_dot[b], y_dot[(b - 1) * STATE : b * STATE]
            to[R], to[R + 1], to[R + 2] = state[V], state[V + 1], state[V + 2]
            euler_rates(state[P:V], state[OMEGA:STATE], to[P:V])
            for c in range(6):
                to[V + c] = u[c]
    return OK


def _entry(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """``_evaluate`` with pointers as arguments: compiled once for all callers."""
    data, work = at_address(t, _TYPES[0]), at_address(w, _TYPES[1])
    n = STATE * (len(data.mass) - 1)
    return _evaluate(time, array_at(y, n), data, work, purpose, array_at(y_dot, n))


_TYPES: tuple[Any, ...] = ()  # numba's types of ModelData and Workspace, equal for all systems


def evaluation_alone() -> Any:
    """The evaluation as a separate function, compiled anew, for the inspection of its code."""
    alone = numba.njit(error_model="numpy", _nrt=False)(_evaluate.py_func)
    state = types.Array(types.float64, 1, "C")
    alone.compile((types.float64, state, Pointer(_TYPES[0]), Pointer(_TYPES[1]), types.int64, state))
    return alone


@cache
def _evaluation_address() -> int:
    return address_of_compiled(_entry, CALL)


@compiled
def derivative_once(time, y, t, w, y_dot):  # type: ignore[no-untyped-def]
    """One evaluation, called from Python; returns a code."""
    return derivative(time, y, t, w, y_dot)


@compiled
def derivative_repeated(time, y, t, w, y_dot, count):  # type: ignore[no-untyped-def]
    """``count`` evaluations inside compiled code, for measuring the time of one; the codes combined."""
    code = 0
    for _ in range(count):
        code |= derivative(time, y, t, w, y_dot)
    return code
