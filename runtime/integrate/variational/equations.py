"""The equations of motion together with their variational equations, in compiled code.

    y' = f(y, theta),     z' = df/dy z + df/dtheta

for a state y, of bodies and of forces, and its derivatives z with respect to K parameters theta.  df/dy is the exact Jacobian of
``runtime.dynamics.jacobian``.  df/dtheta, the effect of a parameter on joints, limits, loads, motors and signals at a state, is a
difference of order six of systems with nearby parameters; their limits and contacts share the modes of the system itself, so
that no difference reaches across a cone.  Where one whole-model kernel serves a system and those nearby, it evaluates these.
Contacts: ``runtime.integrate.variational.contacts``.  State and derivatives form one long state for the integration loop, which
evaluates it through ``Workspace.address``.

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

from runtime.dynamics.angles import share_angles
from runtime.dynamics.contacts import PENETRATION_RATE
from runtime.dynamics.directions import BODY, BOTH
from runtime.dynamics.elimination import DAMPING, factorise
from runtime.dynamics.equations import derivative, place_of_part, workspace_for
from runtime.dynamics.force_elements import follow_states, put_rates
from runtime.dynamics.jacobian import JacobianWorkspace, jacobian
from runtime.dynamics.kinematics import euler_rates, update_kinematics, update_poses_and_signals
from runtime.dynamics.layout import DERIVATIVE as VALUE
from runtime.dynamics.layout import OK, OMEGA, ROWS, SINGULAR, STATE, P, V
from runtime.dynamics.model_data import ModelData, WholeModelKernel, Workspace, size_of_states
from runtime.dynamics.places import ADDRESSES, CONTACTS, EVALUATION, PROJECTION, WHOLE
from runtime.dynamics.state_jacobian import row_of
from runtime.integrate.variational.contacts import (
    ContactDirections,
    add_measures,
    along_change,
    along_time,
    contact_directions,
    given_forces_part,
    measure_slopes,
    set_forces,
)
from runtime.integrate.variational.differences import BOTH_SIDES, weights
from runtime.integrate.variational.jumps import change_forces, following, know_types
from runtime.integrate.variational.rows import correct, put_changes, put_row_slopes
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at, at_address, call_at
from runtime.jit.references import Reference
from runtime.support.arrays import Floats, Ints
from runtime.system.system import System
from runtime.system.whole_model import whole_of
from runtime.system.workspaces import workspace_of_jacobian

ITSELF, DIRECTIONS, OF_MOTION = range(
    ADDRESSES, ADDRESSES + 3
)  # places in ``Workspace.address``, beside those of every system


class Directions(NamedTuple):
    """Parameters of the derivatives, as nearby systems, and memory."""

    jacobian: JacobianWorkspace
    data: Ints  # (K, 6) addresses of the data of the nearby systems, 0 for a parameter of the initial state
    works: Ints  # (K, 6) addresses of their memory
    factors: Floats  # (K, 6)
    itself: Ints  # (1,) address of memory in which the system itself is evaluated as those nearby are
    by_kernel: Ints  # (K,) 1: the whole-model kernel evaluates the nearby systems
    base: Floats  # (13 bodies + states of forces,) state derivative by this kernel
    rates: Floats  # likewise, memory
    change: Floats  # (12 bodies,) displacements, then changes of velocity
    p: Floats  # (4,)
    slopes: Floats  # (joints, 2, ROWS, 24) of Phi and Phi' of each joint over the directions of its bodies
    rows: Floats  # (K, 2, joints, ROWS) of Phi and Phi' with respect to the parameters
    times: Floats  # (K,) derivatives of the time at which a contact changes its mode
    contacts: ContactDirections


class Varied:
    """Memory for the evaluation of a system with its derivatives with respect to K parameters.

    ``nearby``: for each parameter six nearby systems with their data, how much larger the parameter is in them (6,), and the
    weights (6,) with which their changes add up to the derivative; None for a parameter of the initial state.
    """

    def __init__(
        self, system: System, data: ModelData,
        nearby: Sequence[tuple[Sequence[tuple[System, ModelData]], Floats, Floats] | None],
    ) -> None:  # fmt: skip
        n, count, touching = size_of_states(data), len(nearby), len(data.contacts.law) > 0
        work = workspace_for(data)
        self._kept: list[Reference] = []
        places, works = np.zeros((count, 6), np.int64), np.zeros((count, 6), np.int64)
        offsets, factors, by_kernel = np.zeros((count, 6)), np.zeros((count, 6)), np.zeros(count, np.int64)
        itself = _nearby_memory(data, work, whole_of(system, data))
        for k, six in enumerate(nearby):
            if six is None and touching:  # the speed of a touch-down depends on the initial state
                six = [(system, data)] * 6, 1e-3 * BOTH_SIDES, 1e3 * weights(BOTH_SIDES)
            if six is None:
                continue
            others, offsets[k], factors[k] = six
            by_kernel[k] = itself.address[WHOLE] != 0 and {one.model.key for one, _ in others} == {system.model.key}
            for q, (one, other) in enumerate(others):
                memory = _nearby_memory(other, work, whole_of(one, other) if by_kernel[k] else None)
                places[k, q], works[k, q] = self._keep(other), self._keep(memory)
        directions = Directions(
            workspace_of_jacobian(system),
            places,
            works,
            factors,
            np.array([self._keep(itself)]),
            by_kernel,
            np.zeros(n),
            np.zeros(n),
            np.zeros(12 * len(system.bodies)),
            np.zeros(4),
            np.zeros((len(data.address), 2, ROWS, BOTH)),
            np.zeros((count, 2, len(data.address), ROWS)),
            np.zeros(count),
            contact_directions(data, offsets, BOTH_SIDES, weights(BOTH_SIDES), n),
        )
        self.contacts = directions.contacts
        know_types(data, work)
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


def _nearby_memory(data: ModelData, of: Workspace, whole: WholeModelKernel | None) -> Workspace:
    """Memory for a nearby system, with the modes of the system itself; its contacts have forces that are given."""
    memory = workspace_for(data, whole)
    if len(data.contacts.law):
        memory.address[CONTACTS] = place_of_part(given_forces_part)
    follow_states(data.forces, memory.forces)
    return memory._replace(
        limits=memory.limits._replace(mode=of.limits.mode), contacts=memory.contacts._replace(mode=of.contacts.mode)
    )


_TYPES: tuple[Any, ...] = ()  # of data, memory and directions, identical for all systems


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
            share_angles(t, w, memory)
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


@inlined
def measures_nearby(time, states, k, w, d):  # type: ignore[no-untyped-def]
    """Slopes of penetrations, their rates and slips over parameter k at a constant state."""
    d.contacts.own[k, :, :] = 0.0
    for q in range(6):
        other, memory = at_address(d.data[k, q], _TYPES[0]), at_address(d.works[k, q], _TYPES[1])
        update_poses_and_signals(time, states, other, memory)
        add_measures(k, d.factors[k, q], other, memory, w, d.contacts)


@inlined
def measures_over(time, states, k, t, w, d):  # type: ignore[no-untyped-def]
    """Derivatives of penetrations and their rates over parameter k, into ``total``."""
    c = d.contacts
    measures_nearby(time, states, k, w, d)
    put_changes(states, states[(1 + k) * len(d.rates) : (2 + k) * len(d.rates)], d.change)
    for n in range(len(c.mode)):
        for r in range(2):
            c.total[n, r] = c.own[k, n, r] + along_change(n, r, t, c, d.change)


@inlined
def measures_in_time(time, states, t, w, d):  # type: ignore[no-untyped-def]
    """Changes of the penetration rates per second along the motion ``before``, into ``in_time``."""
    c = d.contacts
    measure_slopes(t, w, c, d.jacobian.seeds)
    along_time(states, c.before, c.change)
    for n in range(len(c.mode)):
        c.in_time[n] = along_change(n, PENETRATION_RATE, t, c, c.change)


@inlined
def forces_nearby(time, states, k, t, w, d):  # type: ignore[no-untyped-def]
    """Give the contacts of the systems nearby in parameter k their forces at a state, which was just evaluated."""
    measures_nearby(time, states, k, w, d)
    change_forces(k, t, w, d)
    for q in range(6):
        set_forces(d.contacts.offsets[k, q], at_address(d.works[k, q], _TYPES[1]), w, d.contacts)


@inlined
def evaluate_base(time, states, t, w, d):  # type: ignore[no-untyped-def]
    """The state derivative by the kernel of the nearby systems, whose rounding is its own; a code."""
    for k in range(len(d.by_kernel)):
        if d.by_kernel[k] == 1:
            memory = at_address(d.itself[0], _TYPES[1])
            share_angles(t, w, memory)
            set_forces(0.0, memory, w, d.contacts)
            return derivative(time, states, t, memory, d.base)
    return OK


@inlined
def add_nearby(time, states, k, base, to, t, w, d):  # type: ignore[no-untyped-def]
    """Add the effect of parameter k at a constant state, where the state derivative is ``base``; a code."""
    code = OK
    for q in range(6):
        if d.data[k, q] == 0:
            break
        other, memory = at_address(d.data[k, q], _TYPES[0]), at_address(d.works[k, q], _TYPES[1])
        for j in range(len(t.address)):
            for r in range(t.rows[j]):
                memory.kept[j, r] = w.kept[j, r]  # a difference of the same rows
        memory.chosen[0] = w.chosen[0]
        share_angles(t, w, memory)
        code |= derivative(time, states, other, memory, d.rates)
        moving = 6 * (len(t.mass) - 1)
        for r in range(moving + w.forces.followed[0]):
            c = row_of(r, moving)
            to[c] += d.factors[k, q] * (d.rates[c] - base[c])  # exactly 0 where the parameter has no effect
    return code


follow_modes = following(measures_over, measures_in_time)


def _entry(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """State derivative and its derivatives with respect to the parameters; a code."""
    d = at_address(w.address[DIRECTIONS], _TYPES[2])
    bodies, count, n = len(t.mass) - 1, len(d.factors), len(d.rates)
    states, slopes = array_at(y, (1 + count) * n), array_at(y_dot, (1 + count) * n)
    if w.near_singular[0] == 1:
        return SINGULAR  # close to a singular pose
    if len(t.contacts.law) > 0:
        code = follow_modes(time, states, t, w, d)
        if code != OK:
            return code
    code = call_at(w.address[ITSELF], time, states, t, w, VALUE, slopes)
    if code != OK:
        return code
    put_rates(t, w, slopes)
    code = evaluate_base(time, states, t, w, d)
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
        for r in range(len(J)):
            value = 0.0
            for c in range(BODY * bodies):
                value += J[r, c] * change[c]
            for s in range(n - STATE * bodies):  # states of forces
                value += J[r, BODY * bodies + s] * z[STATE * bodies + s]
            to[row_of(r, 6 * bodies)] = value
        if len(t.contacts.law) > 0:
            forces_nearby(time, states, k, t, w, d)
        code |= add_nearby(time, states, k, slopes[:n] if d.by_kernel[k] == 0 else d.base, to, t, w, d)
    return code
