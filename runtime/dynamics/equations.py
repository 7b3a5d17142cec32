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
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types

from runtime.dynamics.angles import angles_part
from runtime.dynamics.closing_rows import closed_part, closed_projection_part
from runtime.dynamics.contacts import contact_workspace, contacts_part
from runtime.dynamics.elimination import (
    PIVOT_TOLERANCE,
    choose_rows,
    code_of_pivot,
    factorise,
    factors_part,
    relative_residual,
    residual,
    satisfy_rows,
)
from runtime.dynamics.energy import energy_part
from runtime.dynamics.force_elements import force_workspace, forces_part, no_events, put_rates
from runtime.dynamics.joint_loads import clear_loads, joint_loads_part, loads_workspace
from runtime.dynamics.kinematics import (
    euler_rates,
    keep_to_project,
    kinematics_part,
    update_kinematics,
    update_poses_and_signals,
    update_signals,
)
from runtime.dynamics.layout import (
    DERIVATIVE,
    DERIVATIVE_ANEW,
    FORCES,
    GROUND_INDEX,
    LOADS,
    NOT_FINITE,
    OK,
    OMEGA,
    REPORT,
    ROWS,
    STATE,
    P,
    R,
    V,
)
from runtime.dynamics.limits import limit_workspace, limits_part
from runtime.dynamics.loads import add_acceleration, collect_wrenches, load_workspace, loads_part
from runtime.dynamics.model_data import (
    ModelData,
    ThinWorkspace,
    WholeModelKernel,
    Workspace,
    alike,
    size_of_states,
)
from runtime.dynamics.places import (
    ADDRESSES,
    EVALUATION,
    GENERAL,
    JOINT_LOADS,
    PLACES,
    PROJECTION,
    ROW_SPACE,
    WHOLE,
)
from runtime.dynamics.projection import TO_ZERO, correction_part, projection_part
from runtime.dynamics.row_space import closed_rows_part, rows_part
from runtime.dynamics.sources import count_of_sources
from runtime.dynamics.switches import switches_of
from runtime.dynamics.thin_bodies import thin_part
from runtime.dynamics.tree_equations import free_part, kernel_part, lift_part, tree_part
from runtime.dynamics.tree_workspace import NO_TREE, TreeWorkspace
from runtime.jit import addresses
from runtime.jit.compilation import compiled, inlined, place_of_address
from runtime.jit.pointers import Pointer, array_at, call_at
from runtime.jit.second_process import ask


def workspace_for(t: ModelData, whole: WholeModelKernel | None = None, tree: TreeWorkspace | None = None) -> Workspace:
    """Memory for the evaluations of a system, with its whole-model kernel if there is one; ``tree``: of its coordinates."""
    work = _memory(t, whole, tree)
    types_of(t)
    evaluation = general_part
    if whole is not None:
        work.address[WHOLE] = whole.address
        evaluation = loaded_part if whole.loaded else whole_part
    if tree is not None:
        limited = len(tree.limits.q) > 0
        by_kernel = tree.address[0] != 0 and (tree.loaded[0] != 1 or limited)
        evaluation = (kernel_part if limited else free_part) if by_kernel else tree_part
    for place, part in zip(PLACES, (evaluation, *PARTS), strict=True):
        work.address[place] = place_of_part(part)
    if tree is not None and len(tree.closing.joint):
        of_rows = closed_part, closed_projection_part, closed_rows_part
        work.address[[EVALUATION, PROJECTION, ROW_SPACE]] = [place_of_part(part) for part in of_rows]
    if len(t.limits.kind):
        ask("limits")
    if len(t.contacts.address):
        ask("contacts")
    if len(t.forces.address):
        ask("forces")
    return work


_LAST = threading.local()


def shared_workspace_for(t: ModelData) -> Workspace:
    """Memory for assembly, rank and single evaluations, the same in a thread for data that are ``alike``: nothing in it lasts."""
    kept: tuple[ModelData, Workspace] | None = getattr(_LAST, "kept", None)
    work = kept[1] if kept and alike(kept[0], t) else workspace_for(t)
    for of, to in (
        (t, work),
        *((getattr(t, name), getattr(work, name)) for name in ("limits", "loads", "contacts", "forces")),
    ):
        to.x[:] = of.x
    work.contacts.normal[:] = t.contacts.normal
    _LAST.kept = (t, work)  # at once, also where an interruption comes
    return work


def _memory(t: ModelData, whole: WholeModelKernel | None = None, tree: TreeWorkspace | None = None) -> Workspace:
    bodies, joints, blocks = len(t.mass), len(t.address), len(t.sparsity.block_row)
    six = (joints + (0 if tree is None else len(tree.closing.coupled.first) - 1), ROWS)
    limits, switches = len(t.limits.kind), switches_of(len(t.limits.kind) + len(t.contacts.address))
    work = Workspace(
        motion=np.zeros(STATE * (bodies - 1)),
        state=np.zeros((bodies, STATE)),
        A=np.zeros((bodies, 3, 3)),
        inertia_inverse=np.zeros((bodies, 3, 3)),
        wrench=np.zeros((bodies, 6)),
        given=np.zeros((bodies, 6)),
        free=np.zeros((bodies, 6)),
        v_dot=np.zeros((bodies, 6)),
        x=t.x.copy(),
        Phi=np.zeros(six),
        Phi_dot=np.zeros(six),
        D=np.zeros((*six, 12)),
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
        tolerance=np.zeros(1),
        failed=np.zeros(2, np.int64),
        smallest_pivot=np.ones(1),
        kept=np.zeros(six),
        chosen=np.zeros(1, np.int64),
        near_singular=np.zeros(1, np.int64),
        projected=np.zeros(size_of_states(t)),
        violation=np.zeros(2),
        unsatisfied=np.zeros(1),
        thin=ThinWorkspace(np.zeros((len(t.thin_body), 3)), np.zeros((bodies, 6)), np.zeros(six)),
        signals=np.zeros((len(t.signals.start) - 1, 3)),
        switches=switches,
        limits=limit_workspace(t.limits, switches.mode[:limits]),
        loads=load_workspace(t.loads),
        contacts=contact_workspace(t.contacts, switches.mode[limits:]),
        forces=force_workspace(t.forces),
        joint_loads=loads_workspace(t.forces, bodies, joints),
        events=no_events(t.forces),
        power=np.zeros(count_of_sources(t)),
        applied=np.zeros(1),
        has_given=np.zeros(1, np.int64),
        address=np.zeros(ADDRESSES, np.int64),
        constants=np.zeros(1) if whole is None else whole.constants,
        tree=NO_TREE if tree is None else tree,
    )
    work.state[GROUND_INDEX, P] = 1.0
    work.A[GROUND_INDEX] = np.eye(3)
    return work


_TYPES: tuple[Any, ...] = ()  # of the data and the memory, equal for all systems; set at once, since threads may meet


def types_of(t: ModelData) -> tuple[Any, ...]:
    """Numba's types of the data and of the memory of an evaluation."""
    if not _TYPES:
        globals()["_TYPES"] = (Pointer(numba.typeof(t)), Pointer(numba.typeof(_memory(t))))
    return _TYPES


@cache
def place_of_part(part: Callable[..., Any]) -> int:
    """Place of the address of a part, which is compiled when it is first called."""
    return place_of_address(part, signature_of_parts(), NOT_FINITE)


def signature_of_parts() -> Any:
    """Of all parts: a number (time), state, data, memory, a number (purpose), output.  They return a code."""
    state = types.CPointer(types.float64)
    return types.int64(types.float64, state, *_TYPES, types.int64, state)


@inlined
def accelerations(time, y, t, w, report):  # type: ignore[no-untyped-def]
    """Put v' and lam of a state into ``w.v_dot`` and ``w.lam``; returns a code.  ``report`` fills all outputs of the limits."""
    return call_at(w.address[EVALUATION], time, y, t, w, REPORT if report else FORCES, y)


@inlined
def derivative(time, y, t, w, y_dot):  # type: ignore[no-untyped-def]
    """Put y' of a state (13 numbers per body, then states of forces) into ``y_dot``; returns a code."""
    return derivative_of(DERIVATIVE, time, y, t, w, y_dot)


@inlined
def derivative_of(purpose, time, y, t, w, y_dot):  # type: ignore[no-untyped-def]
    """``derivative``, with a new choice of independent rows for the purpose DERIVATIVE_ANEW."""
    code = call_at(w.address[EVALUATION], time, y, t, w, purpose, y_dot)
    put_rates(t, w, y_dot)
    return code


@inlined
def _load(time, y, t, w, purpose):  # type: ignore[no-untyped-def]
    """The accelerations of the bodies without joints, into ``w.free``; after the kinematics of the bodies."""
    if len(t.forces.reactive) > 0:
        clear_loads(t, w)
    if collect_wrenches(time, y, t, w, purpose):
        for b in range(1, len(t.mass)):
            add_acceleration(b, w.wrench[b], t, w, w.free[b])
    for b in range(1, len(t.mass) if w.has_given[0] == 1 else 1):
        add_acceleration(b, w.given[b], t, w, w.free[b])


@inlined
def _factorise(t, w, purpose):  # type: ignore[no-untyped-def]
    """Factorise S; returns how many rows depend on others beyond the redundant ones."""
    if t.redundant > 0 and (purpose != DERIVATIVE or w.chosen[0] == 0):
        w.chosen[0] = 1
        return choose_rows(t, w)
    return factorise(t, w, PIVOT_TOLERANCE, 0.0, 1 if t.redundant > 0 else 0)


@inlined
def _evaluate(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    update_kinematics(time, y, t, w)
    _load(time, y, t, w, purpose)
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            w.target[k, r] = w.gamma[k, r] - 2.0 * t.alpha * w.Phi_dot[k, r] - t.beta * t.beta * w.Phi[k, r]
    chosen = w.chosen[0]
    if _factorise(t, w, purpose) > 0:
        return code_of_pivot(w.smallest_pivot[0])
    for b in range(len(t.mass)):
        for c in range(6):
            w.v_dot[b, c] = w.free[b, c]
    code = satisfy_rows(w.target, w.v_dot, w.lam, t, w)
    if len(t.forces.reactive) > 0 and code == OK:
        anew = purpose != DERIVATIVE or chosen == 0
        code = call_at(w.address[JOINT_LOADS], time, y, t, w, DERIVATIVE_ANEW if anew else DERIVATIVE, y_dot)
    if code != OK:
        return code
    if t.redundant > 0 and purpose != DERIVATIVE:
        residual(w.target, w.v_dot, t, w)
        w.unsatisfied[0] = relative_residual(t, w)
    if purpose == DERIVATIVE or purpose == DERIVATIVE_ANEW:
        for b in range(1, len(t.mass)):
            state, u, to = w.state[b], w.v_dot[b], y_dot[(b - 1) * STATE : b * STATE]
            to[R], to[R + 1], to[R + 2] = state[V], state[V + 1], state[V + 2]
            euler_rates(state[P:V], state[OMEGA:STATE], to[P:V])
            for c in range(6):
                to[V + c] = u[c]
    return OK


@inlined
def load_part(time, y, t, w):  # type: ignore[no-untyped-def]
    """Forces of all kinds and their powers, without the joints."""
    update_poses_and_signals(time, y, t, w)
    _load(time, y, t, w, LOADS)
    return OK


def general_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """``_evaluate`` with pointers as arguments: compiled once for all callers."""
    n = STATE * (len(t.mass) - 1)
    state = array_at(y, n)
    if purpose == LOADS:
        return load_part(time, state, t, w)
    if purpose == DERIVATIVE and w.near_singular[0] == 1:
        # An error of the position divided by the distance from the singular pose is an error of the accelerations.
        keep_to_project(y, t, w)
        call_at(w.address[PROJECTION], time, w.projected, t, w, TO_ZERO, w.violation)
        state, purpose = w.projected, DERIVATIVE_ANEW
    return _evaluate(time, state, t, w, purpose, array_at(y_dot, n))


@inlined
def _whole(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """The whole-model kernel; the evaluation joint by joint for other purposes, and to find the row where one is dependent."""
    if purpose == DERIVATIVE and w.near_singular[0] == 0:
        n = STATE * (len(t.mass) - 1)
        addresses.call(
            w.address[WHOLE], array_at(y, n).ctypes.data, w.free.ctypes.data, w.signals.ctypes.data, w.constants.ctypes.data,
            array_at(y_dot, n).ctypes.data, w.smallest_pivot.ctypes.data,
        )  # fmt: skip
        w.smallest_pivot[0] = 1.0 / math.sqrt(w.smallest_pivot[0])
        if w.smallest_pivot[0] > PIVOT_TOLERANCE:
            return OK
    return call_at(w.address[GENERAL], time, y, t, w, purpose, y_dot)


def whole_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """The evaluation of a system with a whole-model kernel that knows all its loads."""
    if purpose == DERIVATIVE:
        update_signals(time, t, w)
    return _whole(time, y, t, w, purpose, y_dot)


def loaded_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """The evaluation of a system with a whole-model kernel and with limits, contacts, forces or loads of its own."""
    if purpose == DERIVATIVE or purpose == LOADS:
        load_part(time, array_at(y, STATE * (len(t.mass) - 1)), t, w)
    if purpose == LOADS:
        return OK
    return _whole(time, y, t, w, purpose, y_dot)


# At PLACES[1:].
PARTS = (
    general_part,
    limits_part,
    contacts_part,
    kinematics_part,
    factors_part,
    correction_part,
    projection_part,
    forces_part,
    joint_loads_part,
    energy_part,
    loads_part,
    thin_part,
    lift_part,
    tree_part,
    rows_part,
    angles_part,
)
# In place of ``general_part`` at PLACES[0].
EVALUATIONS = (whole_part, loaded_part, tree_part, free_part, kernel_part, closed_part)


@compiled
def derivative_once(time, y, t, w, y_dot):  # type: ignore[no-untyped-def]
    """One evaluation, called from Python; returns a code."""
    return derivative(time, y, t, w, y_dot)


@compiled
def derivatives(times, states, t, w, rates):  # type: ignore[no-untyped-def]
    """Put y' of states (m, n) at times (m,) into ``rates`` (m, n): a function of each state alone, since rows are chosen anew.

    The number of states evaluated, and the code of the one that ended it, or OK.
    """
    for k in range(len(states)):
        w.chosen[0] = 0
        code = derivative(times[k], states[k], t, w, rates[k])
        if code != OK:
            return k, code
    return len(states), OK


@compiled
def derivative_repeated(time, y, t, w, y_dot, count):  # type: ignore[no-untyped-def]
    """``count`` evaluations inside compiled code, for measuring the time of one; the codes combined."""
    code = 0
    for _ in range(count):
        code |= derivative(time, y, t, w, y_dot)
    return code
