"""Contacts of spheres with planes in compiled code: penetration, its rate, slip, and the force on both bodies.

Geometry and laws are generated.  There is no adhesion: a normal force that a law would make negative is zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from runtime.dynamics.contact_rules import beyond_mode, left_of_force
from runtime.dynamics.layout import OK, OVER
from runtime.dynamics.loads import push_both
from runtime.dynamics.sources import first_contact
from runtime.dynamics.switches import AUTO, INACTIVE, LEAVING, SLACK
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit import addresses
from runtime.jit.compilation import expanded, inlined
from runtime.jit.kernels import sphere_plane
from runtime.jit.lane_vectors import choose
from runtime.support.arrays import Floats, Ints

# Outputs of an evaluation of a contact.
PENETRATION, PENETRATION_RATE, SLIP, NORMAL_FORCE, FRICTION, POTENTIAL = 0, 1, 2, 5, 6, 9
OUTPUTS = 10
NORMAL_LAW, BELOW, ABOVE = range(3)  # columns of ``ContactData.address``
SPEED_RESOLUTION = 10.0  # [m/s] times the tolerances of an integration: speeds closer than this are treated as equal


class ContactData(NamedTuple):
    """The contacts of a system as flat arrays."""

    address: Ints  # (contacts, 3) of the kernels of the normal law and of the law of friction below and above, in this process
    friction: Ints  # (contacts,) -1 without friction, else 0
    body_i: Ints  # of the sphere
    body_j: Ints  # of the plane
    normal: Floats  # (contacts, N) parameters of the normal law
    impact: Ints  # (contacts,) place of the speed of touch-down among them, -1 if it has none
    min_impact_speed: Floats  # (contacts,) [m/s]
    fades: Ints  # (contacts,) 1 where the damping fades with the penetration, so that the force ends on the plane
    tangential: Floats  # (contacts, F) parameters of the law of friction
    transition_velocity: Floats  # (contacts,) [m/s]
    kinks: Ints  # (contacts,) 1 where the law of friction has a kink at the transition velocity
    signal: Ints  # (contacts,) number of the belt's speed
    signal_place: Ints  # (contacts,) place of its value and two derivatives in x
    vector_contact: Ints  # (vectors,) body-fixed vectors: their contact and place in x, and their components
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    x: Floats  # (contacts, X)


class ContactWorkspace(NamedTuple):
    """Memory of one evaluation of the contacts."""

    mode: Ints  # (contacts,) part of ``Switches.mode``
    since: Floats  # (contacts,) [s] time of the last change of mode
    quick: Ints  # (contacts,) number of quick changes in a row
    speed: Floats  # (contacts,) [m/s] of the last touch-down
    speed_resolution: Floats  # (1,) [m/s] speeds closer than this are treated as equal
    released: Floats  # (contacts,) [J] potential that a change of mode added
    normal: Floats  # (contacts, N) parameters, with the speed of the last touch-down
    x: Floats  # (contacts, X)
    outputs: Floats  # (contacts, OUTPUTS)
    given: Floats  # (2,) penetration and its rate, for a normal law
    law: Floats  # (contacts, 6) outputs of the normal law
    tangential: Floats  # (15,) outputs of the law of friction
    Q: Floats  # (12,)


def contact_workspace(t: ContactData, mode: Ints) -> ContactWorkspace:
    """Memory for the contacts of a system, with their part of ``Switches.mode``."""
    count = len(t.address)
    return ContactWorkspace(
        mode=mode, since=np.full(count, -np.inf),
        quick=np.zeros(count, np.int64), speed=np.where(t.impact >= 0, t.min_impact_speed, 0.0), speed_resolution=np.zeros(1),
        released=np.zeros(count), normal=t.normal.copy(), x=t.x.copy(), outputs=np.zeros((count, OUTPUTS)),
        given=np.zeros(2), law=np.zeros((count, 6)), tangential=np.zeros(15), Q=np.zeros(12),
    )  # fmt: skip


@inlined
def place_contacts(data, w):  # type: ignore[no-untyped-def]
    """Update the vectors of all contacts and the speeds of their belts in x."""
    t, m = data.contacts, w.contacts
    rotate_vectors(t.vector_contact, t.vector_place, t.vector_body, t.vector_local, w.A, m.x)
    for k in range(len(t.address)):
        for c in range(3):
            m.x[k, t.signal_place[k] + c] = w.signals[t.signal[k], c]


@inlined
def normal_force(k, t, m):  # type: ignore[no-untyped-def]
    """Put the outputs of the normal law into ``m.law[k]``; the normal force [N], negative where the law would pull."""
    outputs, law = m.outputs[k], m.law[k]
    depth = outputs[PENETRATION]
    m.given[0], m.given[1] = abs(depth), outputs[PENETRATION_RATE]
    addresses.call(t.address[k, NORMAL_LAW], m.given.ctypes.data, m.normal[k].ctypes.data, law.ctypes.data)
    law[1] = odd(law[1], depth)
    if t.fades[k] == 1:
        law[2], law[4] = odd(law[2], depth), odd(law[4], depth)
    return law[1] + law[2]


@expanded
def odd(value, depth):  # type: ignore[no-untyped-def]
    """A value at the size of a penetration, continued below the plane as an odd function of the penetration."""
    return choose(depth < 0.0, -value, value)


@inlined
def force_left(k, t, m):  # type: ignore[no-untyped-def]
    """``contact_rules.left_of_force`` of contact k, by penetration and rate in ``outputs``."""
    force, law, outputs = normal_force(k, t, m), m.law[k], m.outputs[k]
    return left_of_force(
        t.fades[k], m.mode[k] == SLACK, outputs[PENETRATION], outputs[PENETRATION_RATE], (force, law[1], law[4], law[5]),
        m.speed_resolution[0],
    )  # fmt: skip


@inlined
def friction_force(k, t, m):  # type: ignore[no-untyped-def]
    """Put the force of friction and its slopes into ``m.tangential``."""
    slip = m.outputs[k, SLIP : SLIP + 3]
    if math.sqrt(slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2]) < t.transition_velocity[k]:
        address = t.address[k, BELOW]
    else:
        address = t.address[k, ABOVE]
    load = m.outputs[k, NORMAL_FORCE:]
    addresses.call(address, slip.ctypes.data, load.ctypes.data, t.tangential[k].ctypes.data, m.tangential.ctypes.data)


@inlined
def measure(k, data, w):  # type: ignore[no-untyped-def]
    """Put penetration, its rate and slip of contact k into ``outputs``.  After ``place_contacts``."""
    t, m = data.contacts, w.contacts
    sphere_plane.measure(w.state[t.body_i[k]], w.state[t.body_j[k]], m.x[k], m.outputs[k])


@inlined
def evaluate_contact(k, data, w):  # type: ignore[no-untyped-def]
    """Fill ``outputs`` of contact k; True if it has a force.  After ``place_contacts``."""
    t, m = data.contacts, w.contacts
    outputs, mode = m.outputs[k], m.mode[k]
    for c in range(OUTPUTS):
        outputs[c] = 0.0
    measure(k, data, w)
    if mode == INACTIVE or mode == SLACK or (mode == AUTO and not outputs[PENETRATION] > 0.0):
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
    """Set the speeds of the touch-downs up to a time, of which the first ``passed`` are set; new number of those set."""
    t, m = data.contacts, w.contacts
    while passed < len(contact_events) and contact_events[passed, 0] <= time:
        k = int(contact_events[passed, 1])
        if contact_events[passed, 2] == 1.0 and t.impact[k] >= 0:
            m.normal[k, t.impact[k]] = contact_events[passed, 3]
        passed += 1
    return passed


@inlined
def apply_contacts(data, w):  # type: ignore[no-untyped-def]
    """Add the forces of the contacts to ``w.wrench``."""
    t, m, first = data.contacts, w.contacts, first_contact(data)
    place_contacts(data, w)
    for k in range(len(t.address)):
        w.power[first + k] = 0.0
        if not evaluate_contact(k, data, w):
            continue
        i, j = t.body_i[k], t.body_j[k]
        sphere_plane.wrench(w.state[i], w.state[j], m.x[k], m.outputs[k, NORMAL_FORCE:POTENTIAL], m.Q)
        stored = m.law[k, 1] * m.outputs[k, PENETRATION_RATE]  # of the elastic part, into its potential
        w.power[first + k] = push_both(i, j, m.Q, stored, w)


@inlined
def beyond(k, mode, t, m):  # type: ignore[no-untyped-def]
    """Distance [m] of contact k beyond the side of a mode, by penetration and rate in ``outputs``."""
    depth, rate = m.outputs[k, PENETRATION], m.outputs[k, PENETRATION_RATE]
    if mode == INACTIVE or mode == AUTO:
        return depth
    return beyond_mode(mode, t.fades[k], depth, rate, force_left(k, t, m))


@inlined
def contact_over(data, w):  # type: ignore[no-untyped-def]
    """Fill ``Switches.over`` of the contacts: distance of each beyond the side of its mode; after ``update_states``.

    In millimetres, so that a contact is on its plane within 1e-12 m where a limit is on its cone within 1e-9 rad.
    """
    t, m, over = data.contacts, w.contacts, w.switches.over
    place_contacts(data, w)
    first = len(over) - len(t.address)
    for k in range(len(t.address)):
        measure(k, data, w)
        over[first + k] = 1e3 * beyond(k, m.mode[k], t, m)


def contacts_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """``apply_contacts`` as a part of the evaluation, or ``contact_over``."""
    if purpose == OVER:
        contact_over(t, w)
    else:
        apply_contacts(t, w)
    return OK
