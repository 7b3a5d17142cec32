"""Contacts in variational equations, in compiled code: derivatives of their forces, and jumps where a contact changes its mode.

A sphere near its plane has a force that no difference of systems with nearby places of the sphere gives to full accuracy, because
powers of the penetration are not smooth at 0.  Therefore penetration, its rate and slip are differentiated, which are smooth;
the force changes by the generated slopes of its law, and the nearby systems have this force instead of their own.

At a time tau where the right-hand side changes from f- to f+ the derivatives z of the state jump:

    z+ = z- + (f- - f+) dtau/dtheta,      dtau/dtheta = -(dg/dtheta) / (dg/dt)

with the function g that changes its sign there, along the motion before.  A law that knows the speed of its touch-down depends on
the parameters through this speed too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.contact_rules import touches
from runtime.dynamics.contacts import (
    NORMAL_FORCE,
    PENETRATION,
    PENETRATION_RATE,
    POTENTIAL,
    SLIP,
    beyond,
    force_left,
    friction_force,
    measure,
    normal_force,
    place_contacts,
)
from runtime.dynamics.layout import OK
from runtime.dynamics.loads import push_both
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.switches import INACTIVE, LEAVING, SLACK
from runtime.jit.compilation import inlined
from runtime.jit.kernels import sphere_plane
from runtime.support.arrays import Floats, Ints

AT_START = -1  # mode before the first one
MEASURES = 5  # penetration, its rate, slip
NEARBY = 1e-3  # points of a difference, as fractions of penetration, rate and speed of touch-down
LEAST_DEPTH = 1e-11  # [m] a contact that would not get deeper, were it not for its force, only grazes its plane
SLOW = 0.01  # [m/s] rates below this count as this
FINE, CHANGES_WITHOUT_END, GRAZES = range(3)  # in ``ContactDirections.lost``
MOST_CHANGES = 1024  # whose derivatives are noted


class ContactDirections(NamedTuple):
    """The contacts along the directions of the parameters, and memory."""

    mode: Ints  # (contacts,) at the last evaluation
    wanted: Ints  # (contacts,) modes to which they change
    speed: Floats  # (K, contacts) derivatives of the speeds of the last touch-downs
    offsets: Floats  # (K, 6) of the parameters of the nearby systems
    places: Floats  # (6,) of points for a difference of order six
    weights: Floats  # (6,)
    own: (
        Floats  # (K, contacts, 5) slopes over the parameters, at a constant state or along the derivatives of the state
    )
    total: Floats  # (contacts, 2) derivatives of penetration and rate over a parameter
    in_time: Floats  # (contacts,) changes of the penetration rates per second
    force: Floats  # (contacts, 4) derivatives of normal force and friction over a parameter
    before: Floats  # (size of the state,) f-
    after: Floats  # (size of the state,) f+
    lost: Ints  # (2,) why there are no derivatives, and the contact
    changes: (
        Floats  # (MOST_CHANGES, 1 + 2 K) contact whose force begins or ends, slopes of the time and of the impact speed
    )
    changed: Ints  # (1,) number of these changes, of which the first ones are noted


def contact_directions(
    data: ModelData, offsets: Floats, places: Floats, weights: Floats, size: int
) -> ContactDirections:
    """Memory for the contacts of a system; size: of its state."""
    contacts, count = len(data.contacts.address), len(offsets)
    return ContactDirections(
        mode=np.full(contacts, AT_START), wanted=np.zeros(contacts, np.int64), speed=np.zeros((count, contacts)),
        offsets=offsets, places=places, weights=weights,
        own=np.zeros((count, contacts, MEASURES)), total=np.zeros((contacts, 2)), in_time=np.zeros(contacts),
        force=np.zeros((contacts, 4)), before=np.zeros(size), after=np.zeros(size),
        lost=np.zeros(2, np.int64), changes=np.zeros((MOST_CHANGES if contacts else 0, 1 + 2 * count)),
        changed=np.zeros(1, np.int64),
    )  # fmt: skip


@inlined
def some_touch(c):  # type: ignore[no-untyped-def]
    """Whether a contact has a force."""
    for n in range(len(c.mode)):
        if touches(c.mode[n]):
            return True
    return False


@inlined
def note_change(n, d):  # type: ignore[no-untyped-def]
    """Note the derivatives of the time at which the force of contact n begins or ends, and of its touch-down speed."""
    c, count = d.contacts, len(d.factors)
    if c.changed[0] < len(c.changes):
        row = c.changes[c.changed[0]]
        row[0] = n
        for k in range(count):
            row[1 + k], row[1 + count + k] = d.times[k], c.speed[k, n]
    c.changed[0] += 1


def given_forces_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """Add the forces in ``outputs``, of the contacts that touch, to ``w.wrench``: the contacts of nearby systems."""
    place_contacts(t, w)
    m = w.contacts
    for k in range(len(t.contacts.address)):
        if not touches(m.mode[k]):
            continue
        i, j = t.contacts.body_i[k], t.contacts.body_j[k]
        sphere_plane.wrench(w.state[i], w.state[j], m.x[k], m.outputs[k, NORMAL_FORCE:POTENTIAL], m.Q)
        push_both(i, j, m.Q, 0.0, w)
    return OK


@inlined
def add_measures(k, factor, other, memory, w, c):  # type: ignore[no-untyped-def]
    """Add the changes of all measures in a nearby system, whose poses are updated, to the slopes ``own`` over parameter k."""
    place_contacts(other, memory)
    for n in range(len(c.mode)):
        measure(n, other, memory)
        for r in range(MEASURES):
            c.own[k, n, r] += factor * (memory.contacts.outputs[n, r] - w.contacts.outputs[n, r])


@inlined
def law_nearby(n, factor, other, memory, w, df):  # type: ignore[no-untyped-def]
    """Add the part of a nearby system to the change ``df`` (4,) of normal force and friction with the parameters of the laws."""
    m, of = memory.contacts, w.contacts
    for r in range(MEASURES):
        m.outputs[n, r] = of.outputs[n, r]
    if other.contacts.impact[n] >= 0:
        place = other.contacts.impact[n]
        m.normal[n, place] = of.normal[n, place]
    df[0] += factor * (normal_force(n, other.contacts, m) - of.outputs[n, NORMAL_FORCE])
    if other.contacts.friction[n] >= 0 and of.mode[n] != LEAVING:
        m.outputs[n, NORMAL_FORCE] = of.outputs[n, NORMAL_FORCE]
        friction_force(n, other.contacts, m)
        for a in range(3):
            df[1 + a] += factor * (m.tangential[a] - of.outputs[n, NORMAL_FORCE + 1 + a])


@inlined
def change_of_force(k, n, t, w, c, df):  # type: ignore[no-untyped-def]
    """Complete the change ``df`` of the force of contact n by that of touch-down, penetration, rate and slip with parameter k."""
    m, own, place = w.contacts, c.own[k, n], t.contacts.impact[n]
    if place >= 0:
        speed = m.normal[n, place]
        for q in range(6):
            m.normal[n, place] = speed * (1.0 + NEARBY * c.places[q])
            df[0] += c.weights[q] / (NEARBY * speed) * c.speed[k, n] * normal_force(n, t.contacts, m)
        m.normal[n, place] = speed
    normal_force(n, t.contacts, m)
    df[0] += m.law[n, 3] * own[PENETRATION] + m.law[n, 4] * own[PENETRATION_RATE]
    if t.contacts.friction[n] >= 0 and m.mode[n] != LEAVING:
        friction_force(n, t.contacts, m)
        for a in range(3):
            df[1 + a] += m.tangential[12 + a] * df[0]
            for b in range(3):
                df[1 + a] += m.tangential[3 + 3 * a + b] * own[SLIP + b]


@inlined
def set_forces(offset, memory, w, c):  # type: ignore[no-untyped-def]
    """Give the contacts of a nearby system the forces of the system itself with their changes ``force`` times an offset."""
    for n in range(len(c.mode)):
        for a in range(4 if touches(c.mode[n]) else 0):
            memory.contacts.outputs[n, NORMAL_FORCE + a] = (
                w.contacts.outputs[n, NORMAL_FORCE + a] + offset * c.force[n, a]
            )


@inlined
def measure_all(t, w):  # type: ignore[no-untyped-def]
    """Penetration, rate and slip of all contacts."""
    place_contacts(t, w)
    for n in range(len(t.contacts.address)):
        measure(n, t, w)


@inlined
def on_plane(n, mode, t, m):  # type: ignore[no-untyped-def]
    """Whether contact n leaves a mode where it meets or leaves its plane; otherwise where its force ends or begins within."""
    if mode == INACTIVE:
        return True
    depth, left = m.outputs[n, PENETRATION], force_left(n, t.contacts, m)
    if mode == SLACK:
        return -depth >= left
    return t.contacts.fades[n] == 1 and depth <= left


@inlined
def slope_of_change(n, mode, depth, rate, speed, t, w, c):  # type: ignore[no-untyped-def]
    """Change of the function at whose zero contact n leaves a mode, for changes of penetration, rate and speed of touch-down."""
    m = w.contacts
    if on_plane(n, mode, t, m):
        return depth if mode == INACTIVE else -depth
    outputs, place = m.outputs[n], t.contacts.impact[n]
    at_depth, at_rate, at_speed = outputs[PENETRATION], outputs[PENETRATION_RATE], 0.0
    reach = abs(depth / at_depth) + abs(rate) / max(abs(at_rate), SLOW)
    if place >= 0:
        at_speed = m.normal[n, place]
        reach += abs(speed / at_speed)
    if not 0.0 < reach < np.inf:
        return 0.0
    h, value = NEARBY / reach, 0.0
    for q in range(6):
        x = h * c.places[q]
        outputs[PENETRATION], outputs[PENETRATION_RATE] = at_depth + x * depth, at_rate + x * rate
        if place >= 0:
            m.normal[n, place] = at_speed + x * speed
        value += c.weights[q] * beyond(n, mode, t.contacts, m)
    outputs[PENETRATION], outputs[PENETRATION_RATE] = at_depth, at_rate
    if place >= 0:
        m.normal[n, place] = at_speed
    return value / h


@inlined
def beyond_nearby(n, other, memory, t, w, c):  # type: ignore[no-untyped-def]
    """``beyond`` of contact n with the laws of a nearby system, less that of the system itself, at the same place and speed."""
    m, of = memory.contacts, w.contacts
    for r in range(MEASURES):
        m.outputs[n, r] = of.outputs[n, r]
    if other.contacts.impact[n] >= 0:
        place = other.contacts.impact[n]
        m.normal[n, place] = of.normal[n, place]
    return beyond(n, c.mode[n], other.contacts, m) - beyond(n, c.mode[n], t.contacts, of)


@inlined
def slope_of_time(k, n, of_law, t, w, c):  # type: ignore[no-untyped-def]
    """Derivative over parameter k of the time at which contact n leaves its mode; NaN where it only grazes it.

    ``c.total``: of the measures over the parameter; ``c.in_time``: with time; ``of_law``: of ``beyond`` with the law.
    """
    mode, depth, rate = c.mode[n], c.total[n, PENETRATION], c.total[n, PENETRATION_RATE]
    of_parameter = of_law + slope_of_change(n, mode, depth, rate, c.speed[k, n], t, w, c)
    depth, rate = w.contacts.outputs[n, PENETRATION_RATE], c.in_time[n]
    if mode == INACTIVE and depth * depth < -2.0 * rate * LEAST_DEPTH:
        return np.nan
    of_time = slope_of_change(n, mode, depth, rate, 0.0, t, w, c)
    return -of_parameter / of_time if of_time != 0.0 else np.nan
