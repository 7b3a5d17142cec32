"""The slopes of contact forces over the parameters of law, centre and radius, in compiled code."""

from __future__ import annotations

from typing import NamedTuple

from runtime.dynamics.contacts import (
    FRICTION,
    NORMAL_FORCE,
    PENETRATION,
    PENETRATION_RATE,
    evaluate_contact,
    pass_contact_events,
    place_contacts,
)
from runtime.dynamics.kinematics import update_kinematics
from runtime.jit import addresses
from runtime.jit.compilation import compiled, inlined
from runtime.jit.kernels import sphere_plane
from runtime.support.arrays import Floats, Ints

CENTRE, RADIUS = 24, 36  # rows of the seeds of ``measure_parameter_tangent``: 12 for each body, then x
SEEDS = 38  # the last one, of the sphere's share, stays 0
X_RADIUS = 12  # the radius in x


class Slopes(NamedTuple):
    """Arrays that ``fill`` fills, and its memory."""

    address: Ints  # (contacts,) of the kernels of slopes over the parameters of their normal laws, in this process
    outputs: Floats  # (n, contacts, 4) normal force, friction
    point: Floats  # (n, contacts, 3)
    over_law: Floats  # (n, contacts, 4, N) slopes of ``outputs`` over the parameters of the law
    over_geometry: Floats  # (n, contacts, 4, 4) over centre and radius
    point_over_geometry: Floats  # (n, contacts, 3, 4)
    seeds: Floats  # (SEEDS, 4)
    measured: Floats  # (5, 4)
    parameters: Floats  # (N,)
    moved: Floats  # (X,)


@inlined
def fill_point(n, k, t, w, s):  # type: ignore[no-untyped-def]
    """Point of contact k and its slopes over centre and radius; also the seeds of ``measure_parameter_tangent``."""
    m, A = w.contacts, w.A[t.contacts.body_i[k]]
    i, j = w.state[t.contacts.body_i[k]], w.state[t.contacts.body_j[k]]
    sphere_plane.point(i, j, m.x[k], s.point[n, k])
    for q in range(4):
        # The point is affine in the centre and in the radius: its slope is the change by one unit.
        for c in range(len(s.moved)):
            s.moved[c] = m.x[k, c]
        for c in range(3):
            s.seeds[CENTRE + c, q] = A[c, q] if q < 3 else 0.0
            s.moved[c] += s.seeds[CENTRE + c, q]
        s.seeds[RADIUS, q] = 1.0 if q == 3 else 0.0
        s.moved[X_RADIUS] += s.seeds[RADIUS, q]
        sphere_plane.point(i, j, s.moved, s.point_over_geometry[n, k, :, q])
        for c in range(3):
            s.point_over_geometry[n, k, c, q] -= s.point[n, k, c]


@inlined
def fill_normal_force(n, k, t, w, s):  # type: ignore[no-untyped-def]
    """Normal force of contact k and its slopes."""
    m, outputs = w.contacts, w.contacts.outputs[k]
    i, j = w.state[t.contacts.body_i[k]], w.state[t.contacts.body_j[k]]
    sphere_plane.measure_parameter_tangent(i, j, m.x[k], s.seeds, s.measured)
    m.given[0], m.given[1] = outputs[PENETRATION], outputs[PENETRATION_RATE]
    addresses.call(s.address[k], m.given.ctypes.data, m.normal[k].ctypes.data, s.parameters.ctypes.data)
    s.outputs[n, k, 0] = outputs[NORMAL_FORCE]
    for q in range(len(s.parameters)):
        s.over_law[n, k, 0, q] = s.parameters[q]
    for q in range(4):
        s.over_geometry[n, k, 0, q] = m.law[k, 3] * s.measured[0, q] + m.law[k, 4] * s.measured[1, q]


@inlined
def fill_friction(n, k, w, s):  # type: ignore[no-untyped-def]
    """Friction of contact k and its slopes; after ``fill_normal_force``."""
    m = w.contacts
    for c in range(3):
        s.outputs[n, k, 1 + c] = m.outputs[k, FRICTION + c]
        of_slip, of_force = m.tangential[3 + 3 * c : 6 + 3 * c], m.tangential[12 + c]
        for q in range(len(s.parameters)):
            s.over_law[n, k, 1 + c, q] = of_force * s.over_law[n, k, 0, q]
        for q in range(4):
            slope = of_force * s.over_geometry[n, k, 0, q]
            for a in range(3):
                slope += of_slip[a] * s.measured[2 + a, q]
            s.over_geometry[n, k, 1 + c, q] = slope


@compiled
def fill(times, states, contact_events, t, w, s):  # type: ignore[no-untyped-def]
    """Fill ``s`` for all states."""
    passed = 0
    for n in range(len(states)):
        passed = pass_contact_events(times[n], contact_events, passed, t, w)
        update_kinematics(times[n], states[n], t, w)
        place_contacts(t, w)
        for k in range(len(t.contacts.address)):
            forced = evaluate_contact(k, t, w)
            fill_point(n, k, t, w, s)
            if forced:
                fill_normal_force(n, k, t, w, s)
                if t.contacts.friction[k] >= 0:
                    fill_friction(n, k, w, s)
