"""Contacts of spheres with planes in compiled code: how deep, how fast, and the force that this puts on both bodies.

Geometry and laws are generated.  Nothing sticks: a normal force that a law would make negative is zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from generated import contact_sphere_plane as sphere_plane
from generated import dispatch
from runtime.dynamics.layout import GROUND_INDEX
from runtime.dynamics.loads import push
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit.cache import inlined
from runtime.support.arrays import Floats, Ints

# How an evaluation takes a contact: as its penetration and force say; or as apart; or as touching, the law being continued
# above the plane and below zero force; or as within the plane but without force, its surface coming up more slowly than the
# sphere leaves; or, where friction makes it gain and lose its force without end (its viscous part does not fade with the
# normal force), as leaving without friction until it is out or comes back.  All but the first are smooth: an integrator steps
# over a change, finds where it was, and steps up to there.
AUTO, APART, TOUCHING, SLACK, LEAVING = 0, 1, 2, 3, 4
# What an evaluation tells of a contact.
PENETRATION, PENETRATION_RATE, SLIP, NORMAL_FORCE, FRICTION, POTENTIAL = 0, 1, 2, 5, 6, 9
OUTPUTS = 10
BLUR = 10.0  # [m/s] times the tolerances of an integration, which does not tell nearer speeds from each other


class ContactData(NamedTuple):
    """The contacts of a system as flat tables."""

    law: Ints  # (contacts,) number of the normal law
    friction: Ints  # (contacts,) number of the law of friction, -1 for none
    body_i: Ints  # of the sphere
    body_j: Ints  # of the plane
    normal: Floats  # (contacts, N) parameters of the normal law
    impact: Ints  # (contacts,) place of the speed of touch-down among them, -1 if it has none
    least_impact: Floats  # (contacts,) [m/s]
    fades: Ints  # (contacts,) 1 where the damping fades with the penetration, so that the force ends on the plane
    tangential: Floats  # (contacts, F) parameters of the law of friction
    creep: Floats  # (contacts,) [m/s]
    signal: Ints  # (contacts,) number of the belt's speed
    signal_place: Ints  # (contacts,) where its value and two derivatives go in x
    vector_contact: Ints  # (vectors,) body-fixed vectors: where they go in x, and what they are
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    x: Floats  # (contacts, X)


class ContactWorkspace(NamedTuple):
    """Memory of one evaluation of the contacts."""

    mode: Ints  # (contacts,)
    was: Ints  # (contacts,) the mode before it was AS_FOUND
    since: Floats  # (contacts,) [s] when its mode changed
    quick: Ints  # (contacts,) how many changes in a row came soon after the one before
    speed: Floats  # (contacts,) [m/s] of the last touch-down
    blur: Floats  # (1,) [m/s] by so little, the integration does not tell a speed from another
    normal: Floats  # (contacts, N) parameters, with the speed of the last touch-down
    x: Floats  # (contacts, X)
    outputs: Floats  # (contacts, TOLD)
    law: Floats  # (contacts, 6) what the normal law gave
    tangential: Floats  # (15,) what the law of friction gave
    Q: Floats  # (12,)


def contact_workspace(t: ContactData) -> ContactWorkspace:
    """Memory for the contacts of a system."""
    count = len(t.law)
    return ContactWorkspace(
        mode=np.zeros(count, np.int64), was=np.full(count, APART), since=np.full(count, -np.inf),
        quick=np.zeros(count, np.int64), speed=np.where(t.impact >= 0, t.least_impact, 0.0), blur=np.zeros(1),
        normal=t.normal.copy(), x=t.x.copy(), outputs=np.zeros((count, OUTPUTS)), law=np.zeros((count, 6)),
        tangential=np.zeros(15), Q=np.zeros(12),
    )  # fmt: skip


@inlined
def place_contacts(data, w):  # type: ignore[no-untyped-def]
    """Put the vectors of all contacts and the speeds of their belts into place."""
    t, m = data.contacts, w.contacts
    rotate_vectors(t.vector_contact, t.vector_place, t.vector_body, t.vector_local, w.A, m.x)
    for k in range(len(t.law)):
        for c in range(3):
            m.x[k, t.signal_place[k] + c] = w.signals[t.signal[k], c]


@inlined
def normal_force(k, t, m):  # type: ignore[no-untyped-def]
    """Put what the normal law gives at ``outputs`` into ``m.law[k]``; the force, below zero where the law would pull."""
    outputs, law = m.outputs[k], m.law[k]
    delta, sign = outputs[PENETRATION], 1.0
    if delta < 0.0:  # continued as an odd function
        delta, sign = -delta, -1.0
    dispatch.law(t.law[k], delta, outputs[PENETRATION_RATE], m.normal[k], law)
    law[1] *= sign
    if sign < 0.0 and t.fades[k] == 1:
        law[2], law[4] = -law[2], -law[4]
    return law[1] + law[2]


@inlined
def force_left(k, t, m):  # type: ignore[no-untyped-def]
    """How far the end of the force is away in the plane, where damping takes all of it: in metres, or nearly so; below 0 past it.

    Damping that fades with the penetration takes it only from a sphere that is pulled out faster than the plane comes up; of
    one that is not, the two speeds become equal to rounding, and the force ends on the plane.
    """
    force, elastic, over_rate, slope = normal_force(k, t, m), m.law[k, 1], m.law[k, 4], m.law[k, 5]
    if t.fades[k] == 0:
        return force / slope if slope > 0.0 else m.outputs[k, PENETRATION]
    if elastic == 0.0:
        return m.outputs[k, PENETRATION]
    if m.mode[k] != SLACK:
        force += m.blur[0] * max(1.0, abs(m.outputs[k, PENETRATION_RATE])) * over_rate
    return force / elastic


@inlined
def friction_force(k, t, m):  # type: ignore[no-untyped-def]
    """Put the force of friction and its slopes into ``m.tangential``."""
    slip = m.outputs[k, SLIP : SLIP + 3]
    if math.sqrt(slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2]) < t.creep[k]:
        dispatch.below(t.friction[k], slip, m.outputs[k, NORMAL_FORCE], t.tangential[k], m.tangential)
    else:
        dispatch.above(t.friction[k], slip, m.outputs[k, NORMAL_FORCE], t.tangential[k], m.tangential)


@inlined
def measure(k, data, w):  # type: ignore[no-untyped-def]
    """Put penetration, its rate and slip of contact k into ``outputs``.  Bodies, vectors and signals must be in place."""
    t, m = data.contacts, w.contacts
    sphere_plane.measure(w.state[t.body_i[k]], w.state[t.body_j[k]], m.x[k], m.outputs[k])


@inlined
def touch(k, data, w):  # type: ignore[no-untyped-def]
    """Fill what contact k tells; True if it has a force.  Bodies, vectors and signals must be in place."""
    t, m = data.contacts, w.contacts
    outputs, mode = m.outputs[k], m.mode[k]
    for c in range(OUTPUTS):
        outputs[c] = 0.0
    measure(k, data, w)
    if mode == APART or mode == SLACK or (mode == AUTO and not outputs[PENETRATION] > 0.0):
        return False
    if mode == AUTO and not force_left(k, t, m) > 0.0:
        return False
    force = normal_force(k, t, m)
    if mode == AUTO:
        force = max(force, 0.0)
    outputs[NORMAL_FORCE], outputs[POTENTIAL] = force, m.law[k, 0]
    if t.friction[k] >= 0 and mode != LEAVING:
        friction_force(k, t, m)
        for c in range(3):
            outputs[FRICTION + c] = m.tangential[c]
    return True


@inlined
def pass_contact_events(time, contact_events, passed, data, w):  # type: ignore[no-untyped-def]
    """Take over the speeds of the touch-downs up to a time, ``passed`` of which were; how many have been passed now."""
    t, m = data.contacts, w.contacts
    while passed < len(contact_events) and contact_events[passed, 0] <= time:
        k = int(contact_events[passed, 1])
        if contact_events[passed, 2] == 1.0 and t.impact[k] >= 0:
            m.normal[k, t.impact[k]] = contact_events[passed, 3]
        passed += 1
    return passed


@inlined
def apply_contacts(data, w):  # type: ignore[no-untyped-def]
    """Add what the contacts do to the accelerations ``w.free`` of the bodies without joints."""
    t, m = data.contacts, w.contacts
    if len(t.law) == 0:
        return
    place_contacts(data, w)
    for k in range(len(t.law)):
        if not touch(k, data, w):
            continue
        i, j = t.body_i[k], t.body_j[k]
        sphere_plane.wrench(w.state[i], w.state[j], m.x[k], m.outputs[k, NORMAL_FORCE:POTENTIAL], m.Q)
        for side in range(2):
            b = i if side == 0 else j
            if b != GROUND_INDEX:
                push(b, m.Q[6 * side : 6 * side + 6], data, w)


@inlined
def contact_over(data, w, out):  # type: ignore[no-untyped-def]
    """How far each contact is on the other side than it is taken for [mm], below 0 if it is not; bodies must be in place.

    In millimetres, so that a contact is on its plane within 1e-12 m where a limit is on its cone within 1e-9 rad.
    """
    t, m = data.contacts, w.contacts
    if len(t.law) == 0:
        return
    place_contacts(data, w)
    first = len(out) - len(t.law)
    for k in range(len(t.law)):
        outputs, mode = m.outputs[k], m.mode[k]
        measure(k, data, w)
        if mode == APART or mode == AUTO:
            out[first + k] = 1e3 * outputs[PENETRATION]
            continue
        left = force_left(k, t, m)
        if mode == SLACK:
            out[first + k] = 1e3 * max(left, -outputs[PENETRATION])
            continue
        ends = -min(left, outputs[PENETRATION]) if t.fades[k] == 1 else -left
        out[first + k] = 1e3 * (max(ends, outputs[PENETRATION_RATE]) if mode == LEAVING else ends)
