"""Changes of the modes of contacts in variational equations, in compiled code, for the coordinates of bodies and of joints alike.

``d`` are the directions of ``equations``.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from runtime.dynamics.contact_rules import touches
from runtime.dynamics.contacts import PENETRATION_RATE
from runtime.dynamics.kinematics import update_poses, update_poses_and_signals, update_signals
from runtime.dynamics.layout import DERIVATIVE as VALUE
from runtime.dynamics.layout import NOT_FINITE, OK
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.places import ADDRESSES
from runtime.dynamics.switches import AUTO, INACTIVE
from runtime.integrate.variational.contacts import (
    AT_START,
    CHANGES_WITHOUT_END,
    FINE,
    GRAZES,
    add_measures,
    beyond_nearby,
    change_of_force,
    law_nearby,
    measure_all,
    note_change,
    on_plane,
    slope_of_time,
)
from runtime.integrate.variational.points import place_points, reach_of, reach_with, shift
from runtime.jit.compilation import inlined
from runtime.jit.pointers import at_address, call_at

ITSELF = ADDRESSES  # place in ``Workspace.address`` of the evaluation of the motion alone
_TYPES: tuple[Any, ...] = ()  # of data and memory, identical for all systems


def know_types(data: ModelData, work: Workspace) -> None:
    """Know numba's types of data and memory, before anything is compiled."""
    if not _TYPES:
        globals()["_TYPES"] = (numba.typeof(data), numba.typeof(work))


@inlined
def change_forces(k, t, w, d):  # type: ignore[no-untyped-def]
    """Derivatives over parameter k of the forces of all contacts that touch, into ``force``; after the slopes ``own``."""
    c = d.contacts
    for n in range(len(c.mode)):
        if not touches(c.mode[n]):
            continue
        df = c.force[n]
        for r in range(4):
            df[r] = 0.0
        for q in range(d.points[k]):
            other, memory = at_address(d.data[k, q], _TYPES[0]), at_address(d.works[k, q], _TYPES[1])
            law_nearby(n, d.factors[k, q], other, memory, w, df)
        change_of_force(k, n, t, w, c, df)


@inlined
def measure_points(time, states, k, z, w, d):  # type: ignore[no-untyped-def]
    """Slopes of penetrations, their rates and slips over parameter k, after ``place_points``."""
    d.contacts.own[k, :, :] = 0.0
    for p in range(d.used[0]):
        other, memory = at_address(d.at[p, 0], _TYPES[0]), at_address(d.at[p, 1], _TYPES[1])
        shift(states, d.along[p, 0], z, d)
        update_poses(d.shifted, other, memory)
        update_signals(time, other, memory)
        add_measures(k, d.along[p, 1], other, memory, w, d.contacts)


@inlined
def measures_over(time, states, k, w, d):  # type: ignore[no-untyped-def]
    """Derivatives of penetrations and their rates over parameter k, into ``total``."""
    c, n = d.contacts, len(d.rates)
    z = states[(1 + k) * n : (2 + k) * n]
    place_points(k, states, z, d)
    measure_points(time, states, k, z, w, d)
    for contact in range(len(c.mode)):
        for r in range(2):
            c.total[contact, r] = c.own[k, contact, r]


@inlined
def measures_in_time(time, states, t, w, d):  # type: ignore[no-untyped-def]
    """Measures of all contacts, and changes of the penetration rates per second along ``before``, into ``in_time``."""
    c, far = d.contacts, reach_with(len(d.places))
    reach = reach_of(c.before, states[: len(d.rates)], d.scale)
    measure_all(t, w)
    c.in_time[:] = 0.0
    other, memory = at_address(d.itself[0], _TYPES[0]), at_address(d.itself[1], _TYPES[1])
    for q in range(len(d.places) if reach > 0.0 else 0):
        shift(states, far / reach * d.places[q], c.before, d)
        update_poses(d.shifted, other, memory)
        update_signals(time, other, memory)
        measure_all(other, memory)
        for n in range(len(c.mode)):
            c.in_time[n] += d.weights[q] * reach / far * memory.contacts.outputs[n, PENETRATION_RATE]


@inlined
def begin_contacts(time, states, t, w, d):  # type: ignore[no-untyped-def]
    """Derivatives of the speeds of contacts that touch at the start."""
    update_poses_and_signals(time, states, t, w)
    measures_in_time(time, states, t, w, d)
    for k in range(len(d.factors)):
        measures_over(time, states, k, w, d)
        for n in range(len(d.contacts.mode)):
            if touches(w.contacts.mode[n]):
                d.contacts.speed[k, n] = speed_slope(k, n, 0.0, t, w, d)
    for n in range(len(d.contacts.mode)):
        if touches(w.contacts.mode[n]):
            note_change(n, d)


@inlined
def speed_slope(k, n, of_time, t, w, d):  # type: ignore[no-untyped-def]
    """Derivative over parameter k of the speed of the touch-down of contact n, which is at least the smallest speed."""
    least = t.contacts.min_impact_speed[n]
    if w.contacts.outputs[n, PENETRATION_RATE] > least:
        return d.contacts.total[n, PENETRATION_RATE] + (d.contacts.in_time[n] * of_time if of_time != 0.0 else 0.0)
    value = 0.0
    for q in range(d.points[k]):
        other = at_address(d.data[k, q], _TYPES[0])
        value += d.factors[k, q] * (other.contacts.min_impact_speed[n] - least)
    return value


@inlined
def time_slope(k, n, t, w, d):  # type: ignore[no-untyped-def]
    """Derivative over parameter k of the time at which contact n leaves its mode; after its measures."""
    c, of_law = d.contacts, 0.0
    for q in range(0 if on_plane(n, c.mode[n], t, w.contacts) else d.points[k]):
        other, memory = at_address(d.data[k, q], _TYPES[0]), at_address(d.works[k, q], _TYPES[1])
        of_law += d.factors[k, q] * beyond_nearby(n, other, memory, t, w, c)
    return slope_of_time(k, n, of_law, t, w, c)


@inlined
def pass_changes(time, states, t, w, d):  # type: ignore[no-untyped-def]
    """Jumps of the derivatives where contacts have changed their modes since the last evaluation; a code."""
    c, mode, size, code = d.contacts, w.contacts.mode, len(d.rates), OK
    for n in range(len(mode)):
        c.wanted[n], mode[n] = mode[n], c.mode[n]
    for n in range(len(mode)):
        if c.wanted[n] == c.mode[n]:
            continue
        code |= call_at(w.address[ITSELF], time, states, t, w, VALUE, c.before)
        measures_in_time(time, states, t, w, d)
        for k in range(len(d.factors)):
            measures_over(time, states, k, w, d)
            d.times[k] = time_slope(k, n, t, w, d)
            if not abs(d.times[k]) < np.inf:
                c.lost[0], c.lost[1] = GRAZES, n
                code |= NOT_FINITE
            if c.mode[n] == INACTIVE:
                c.speed[k, n] = speed_slope(k, n, d.times[k], t, w, d)
        if touches(c.mode[n]) != touches(c.wanted[n]):
            note_change(n, d)
        c.mode[n] = mode[n] = c.wanted[n]
        code |= call_at(w.address[ITSELF], time, states, t, w, VALUE, c.after)
        for k in range(len(d.factors)):
            z = states[(1 + k) * size : (2 + k) * size]
            for r in range(size):
                z[r] += (c.before[r] - c.after[r]) * d.times[k]
    return code


@inlined
def follow_modes(time, states, t, w, d):  # type: ignore[no-untyped-def]
    """Take note of the modes of the contacts; a code."""
    c, changed = d.contacts, False
    if c.lost[0] != FINE:
        return NOT_FINITE
    for n in range(len(c.mode)):
        if w.contacts.mode[n] == AUTO:
            if c.mode[n] == AT_START:
                return OK  # the first modes are not known yet
            c.lost[0], c.lost[1] = CHANGES_WITHOUT_END, n
            return NOT_FINITE
        changed = changed or w.contacts.mode[n] != c.mode[n]
    if changed and c.mode[0] != AT_START:
        return pass_changes(time, states, t, w, d)
    if changed:
        begin_contacts(time, states, t, w, d)
        for n in range(len(c.mode)):
            c.mode[n] = w.contacts.mode[n]
    return OK
