"""Quantities that follow from states, in compiled code: accelerations, multipliers, energies, and forces of all kinds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.angles import follow, put_angles
from runtime.dynamics.contacts import NORMAL_FORCE, pass_contact_events
from runtime.dynamics.contacts import OUTPUTS as CONTACT_OUTPUTS
from runtime.dynamics.contacts import POTENTIAL as STORED
from runtime.dynamics.energy import energies_of
from runtime.dynamics.equations import accelerations
from runtime.dynamics.layout import LOADS, OK, REPORT, ROWS, V
from runtime.dynamics.limits import EXCESS, OUTPUTS
from runtime.dynamics.loads import motor_effort
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.places import EVALUATION
from runtime.dynamics.responses import accelerations_without_rows
from runtime.dynamics.switches import AUTO, INACTIVE
from runtime.jit.compilation import compiled, inlined
from runtime.jit.kernels import dispatch, sphere_plane
from runtime.jit.pointers import call_at, local
from runtime.support.arrays import Floats, read_only

NO_ANGLES: Floats = read_only(np.zeros((0, 0)))  # revolutions are counted from state to state


class Derived(NamedTuple):
    """Arrays that ``derive`` fills."""

    v_dot: Floats  # (n, bodies + 1, 6)
    pivot: Floats  # (n,) smallest pivot ratio of the rows; 0 where they are dependent
    lam: Floats  # (n, joints, 6) by row of the joint
    wrench: Floats  # (n, joints, 2, 6) -D^T lam on body i and j: force, moment about the centre of mass
    Phi: Floats  # (n, joints, 6)
    Phi_dot: Floats
    outputs: Floats  # (n, limits, OUTPUTS)
    measured: Floats  # (n, limits, 3) angle, rate, moment
    limit_wrench: (
        Floats  # (n, limits, 2, 6) on the reference and the moving body: force, moment about the centre of mass
    )
    motor_wrench: Floats  # (n, motors, 2, 6) on body i and j
    contact_outputs: Floats  # (n, contacts, CONTACT_OUTPUTS)
    damping_force: Floats  # (n, contacts)
    contact_force: Floats  # (n, contacts, 3) on the sphere's body
    contact_point: Floats  # (n, contacts, 3)
    force_outputs: Floats  # (n, forces, outputs)
    motors: Floats  # (n, motors, 2) effort, and rate of the coordinate
    given: Floats  # (n, bodies + 1, 6) wrenches of couplings and rotors; (0, bodies + 1, 6) without any


def derived_memory(n: int, t: ModelData, given: int = 0) -> Derived:
    """Arrays for n states; given: number of them at which couplings or rotors act."""
    bodies, joints, limits, contacts = len(t.mass), len(t.address), len(t.limits.kind), len(t.contacts.address)
    motors = len(t.loads.address)
    return Derived(
        v_dot=np.zeros((n, bodies, 6)), pivot=np.zeros(n), lam=np.zeros((n, joints, ROWS)), wrench=np.zeros((n, joints, 2, 6)),
        Phi=np.zeros((n, joints, ROWS)), Phi_dot=np.zeros((n, joints, ROWS)),
        outputs=np.zeros((n, limits, OUTPUTS)), measured=np.zeros((n, limits, 3)),
        limit_wrench=np.zeros((n, limits, 2, 6)), motor_wrench=np.zeros((n, motors, 2, 6)),
        contact_outputs=np.zeros((n, contacts, CONTACT_OUTPUTS)), damping_force=np.zeros((n, contacts)),
        contact_force=np.zeros((n, contacts, 3)), contact_point=np.zeros((n, contacts, 3)),
        force_outputs=np.zeros((n, len(t.forces.address), t.forces.outputs)), motors=np.zeros((n, len(t.loads.address), 2)),
        given=np.zeros((given, bodies, 6)),
    )  # fmt: skip


@inlined
def derive_limit(n, k, t, w, d):  # type: ignore[no-untyped-def]
    """Fill ``d`` for limit k at time n."""
    m, i, j = w.limits, w.state[t.limits.body_i[k]], w.state[t.limits.body_j[k]]
    dispatch.measure(t.limits.kind[k], i, j, m.x[k], m.slope[k], m.measured)
    for c in range(OUTPUTS):
        d.outputs[n, k, c] = m.outputs[k, c]
    for c in range(3):
        d.measured[n, k, c] = m.measured[c]
    acts = m.outputs[k, EXCESS] != 0.0 or t.limits.damping[k] != 0.0
    if acts:
        dispatch.wrench(t.limits.kind[k], i, j, m.x[k], m.slope[k], m.Q)
    for c in range(12):
        d.limit_wrench[n, k, c // 6, c % 6] = m.Q[c] if acts else 0.0


@inlined
def derive_motor(n, k, t, w, d):  # type: ignore[no-untyped-def]
    """Fill ``d`` for motor k at time n."""
    of, effort, rate = t.loads, motor_effort(k, t.loads, w), 0.0
    for c in range(6):
        rate += w.loads.D[0, c] * w.state[of.body_i[k], V + c] + w.loads.D[0, 6 + c] * w.state[of.body_j[k], V + c]
    d.motors[n, k, 0], d.motors[n, k, 1] = effort, rate
    for c in range(12):
        d.motor_wrench[n, k, c // 6, c % 6] = w.loads.D[0, c] * effort


@inlined
def derive_contact(n, k, t, w, d):  # type: ignore[no-untyped-def]
    """Fill ``d`` for contact k at time n."""
    m, i, j = w.contacts, w.state[t.contacts.body_i[k]], w.state[t.contacts.body_j[k]]
    for c in range(CONTACT_OUTPUTS):
        d.contact_outputs[n, k, c] = m.outputs[k, c]
    sphere_plane.wrench(i, j, m.x[k], m.outputs[k, NORMAL_FORCE:STORED], m.Q)
    sphere_plane.point(i, j, m.x[k], d.contact_point[n, k])
    for c in range(3):
        d.contact_force[n, k, c] = m.Q[c]
    d.damping_force[n, k] = m.law[k, 2] if m.outputs[k, NORMAL_FORCE] > 0.0 else 0.0


@inlined
def derive_joint(n, k, t, w, d):  # type: ignore[no-untyped-def]
    """Fill ``d`` for joint k at time n."""
    for r in range(ROWS):
        d.Phi[n, k, r], d.Phi_dot[n, k, r], d.lam[n, k, r] = w.Phi[k, r], w.Phi_dot[k, r], 0.0
    for r in range(t.rows[k]):
        d.lam[n, k, r] = w.lam[k, r]
    for c in range(12):
        value = 0.0
        for r in range(t.rows[k]):
            value -= w.D[k, r, c] * w.lam[k, r]
        d.wrench[n, k, c // 6, c % 6] = value


@inlined
def hold_ended(time, contact_events, passed, w):  # type: ignore[no-untyped-def]
    """Leave contacts out whose force ends at this very time: rounding would decide whether they still have one."""
    for k in range(len(w.contacts.mode)):
        w.contacts.mode[k] = AUTO
    for e in range(passed - 1, -1, -1):
        if contact_events[e, 0] < time:
            break
        if contact_events[e, 2] == 0.0:
            w.contacts.mode[int(contact_events[e, 1])] = INACTIVE


@inlined
def take_state(n, states, before, t, w):  # type: ignore[no-untyped-def]
    """Count the revolutions of angles in state n from ``before`` (n, angles), or where it is empty from the state before."""
    if len(before) > 0:
        put_angles(before[n], t, w)
    follow(states[n], t, w)


@compiled
def derive(times, states, before, contact_events, t, w, d):  # type: ignore[no-untyped-def]
    """Fill ``d`` for all states.  ``contact_events`` give the speeds of touch-down."""
    d, passed = local(d), 0
    w.has_given[0] = 1 if len(d.given) > 0 else 0
    for n in range(len(states)):
        for b in range(len(t.mass) if len(d.given) > 0 else 0):
            for c in range(6):
                w.given[b, c] = d.given[n, b, c]
        passed = pass_contact_events(times[n], contact_events, passed, t, w)
        hold_ended(times[n], contact_events, passed, w)
        take_state(n, states, before, t, w)
        code = accelerations(times[n], states[n], t, w, True)
        d.pivot[n] = w.smallest_pivot[0] if code == OK else 0.0
        for b in range(len(t.mass)):
            for c in range(6):
                d.v_dot[n, b, c] = w.v_dot[b, c]
        for k in range(len(t.limits.kind)):
            derive_limit(n, k, t, w, d)
        for k in range(len(t.loads.address)):
            derive_motor(n, k, t, w, d)
        for k in range(len(t.contacts.address)):
            derive_contact(n, k, t, w, d)
        for k in range(len(t.forces.address)):
            for c in range(t.forces.outputs):
                d.force_outputs[n, k, c] = w.forces.out[k, c]
        for k in range(len(t.address)):
            derive_joint(n, k, t, w, d)


@compiled
def derive_along_coordinates(times, coordinates, before, contact_events, t, w, z_dot, v_dot, lam):  # type: ignore[no-untyped-def]
    """Accelerations and multipliers of couplings at coordinates and rates of a tree (n, size of the state).

    z_dot (n, size of the state); v_dot (n, bodies + 1, 6); lam (n, couplings).  NaN where there are none.
    """
    passed, m = 0, w.tree
    for n in range(len(coordinates)):
        passed = pass_contact_events(times[n], contact_events, passed, t, w)
        hold_ended(times[n], contact_events, passed, w)
        take_state(n, coordinates, before, t, w)
        code = call_at(w.address[EVALUATION], times[n], coordinates[n], t, w, REPORT, z_dot[n])
        if code == OK and len(m.closing.joint) == 0:
            accelerations_without_rows(m.data, m.lifting, m.recursion, w.v_dot)
        for b in range(1, len(t.mass)):
            for c in range(6):
                v_dot[n, b, c] = w.v_dot[b, c] if code == OK else np.nan
        for k in range(lam.shape[1]):
            lam[n, k] = w.lam[len(t.address) + k, 0] if code == OK else np.nan


@compiled
def derive_energies(times, states, before, contact_events, t, w, energies):  # type: ignore[no-untyped-def]
    """Kinetic energy, that of gravity and elastic energy [J] of all states, into ``energies`` (n, 3); needs no accelerations."""
    passed = 0
    forces = len(t.limits.kind) + len(t.contacts.address) + len(t.forces.address) + len(t.loads.address)
    for n in range(len(states)):
        if forces > 0:
            passed = pass_contact_events(times[n], contact_events, passed, t, w)
            hold_ended(times[n], contact_events, passed, w)
            take_state(n, states, before, t, w)
            call_at(w.address[EVALUATION], times[n], states[n], t, w, LOADS, states[n])
        energies_of(states[n], t, w, energies[n])


def derived(
    times: Floats, states: Floats, before: Floats, contact_events: Floats, t: ModelData, w: Workspace,
    given: Floats | None = None,
) -> Derived:  # fmt: skip
    """What follows from states (n, 13 bodies) at times (n,) [s].

    before : as of ``take_state``
    given : wrenches of couplings and rotors (n, bodies + 1, 6)
    """
    d = derived_memory(len(times), t, 0 if given is None else len(times))
    if given is not None:
        d.given[:] = given
    derive(times, np.ascontiguousarray(states), before, contact_events, t, w, d)
    return d


def energies_of_states(
    times: Floats, states: Floats, before: Floats, contact_events: Floats, t: ModelData, w: Workspace
) -> Floats:
    """Kinetic energy, that of gravity and elastic energy of states (n, 13 bodies) at times (n,) [s], (n, 3) [J].

    before : as of ``take_state``
    """
    energies = np.zeros((len(times), 3))
    derive_energies(times, np.ascontiguousarray(states), before, contact_events, t, w, energies)
    return energies


def largest_of_rows(rows: Floats) -> Floats:
    """Largest absolute value of all rows (n, joints, 6) at each time, (n,)."""
    largest: Floats = np.abs(rows).max(axis=(1, 2), initial=0.0)
    return largest
