"""Energies of a state, and the power that changes them, in compiled code.

    d/dt (kinetic + potential of gravity + stored) = sum of the powers of the sources + power of the reactions

The reactions of joints do no work but that of drivers, which prescribe rates, and what violated rows and Baumgarte's terms do.
"""

from __future__ import annotations

import math

from runtime.dynamics.contacts import POTENTIAL as STORED
from runtime.dynamics.force_elements import ENERGY
from runtime.dynamics.kinematics import angular_momentum, rotation, size_of_state, turning_square, update_motion
from runtime.dynamics.layout import OK, OMEGA, STATE, P, V
from runtime.dynamics.limits import POTENTIAL
from runtime.dynamics.places import ENERGY as ENERGY_PART
from runtime.dynamics.small_matrices import dot, minus
from runtime.dynamics.sources import first_driver
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at, call_at

ENERGIES, REACTIONS, SPEED = range(3)  # what ``energy_part`` computes
LIGHT = 1e-3


@inlined
def mechanical_energy(y, t, w):  # type: ignore[no-untyped-def]
    """Kinetic energy, and potential energy of gravity, of a state [J]; the rotation matrices are then those of the state."""
    kinetic = potential = 0.0
    for b in range(1, len(t.mass)):
        state = y[STATE * (b - 1) : STATE * b]
        rotation(state[P:V], w.A[b])
        v, omega = state[V:OMEGA], state[OMEGA:STATE]
        kinetic += 0.5 * (t.mass[b] * dot(v, v) + turning_square(b, t.inertia, omega, w))
        potential -= t.mass[b] * dot(t.gravity, state)
    return kinetic, potential


@inlined
def fastest_body(y, t, w):  # type: ignore[no-untyped-def]
    """Largest ``speed_of_bodies`` after ``update_motion``, also of the rotors along coordinates [m/s]."""
    fastest = least = 0.0
    for b in range(1, len(t.mass)):
        least += LIGHT * t.mass[b]
    for b in range(1, len(t.mass)):
        state = w.motion[STATE * (b - 1) : STATE * b]
        rotation(state[P:V], w.A[b])
        v, omega = state[V:OMEGA], state[OMEGA:STATE]
        energies = t.mass[b] * dot(v, v) + turning_square(b, t.inertia, omega, w)
        fastest = max(fastest, energies / max(t.mass[b], least))
    of_steps = w.tree.data
    for k in range(len(of_steps.kind)):
        if of_steps.armature[k] > 0.0:
            rate = array_at(y, w.tree.size[0])[of_steps.u[k]]
            fastest = max(fastest, of_steps.armature[k] * rate * rate / least)
    return math.sqrt(fastest)


@inlined
def stored_energy(t, w):  # type: ignore[no-untyped-def]
    """Energy in limits, springs of motors, contacts and forces, of the last evaluation [J]."""
    stored = w.loads.energy[0]
    for k in range(len(t.limits.kind)):
        stored += w.limits.outputs[k, POTENTIAL]
    for k in range(len(t.contacts.address)):
        stored += w.contacts.outputs[k, STORED]
    for k in range(len(t.forces.address)):
        stored += w.forces.out[k, ENERGY]
    return stored


@inlined
def reaction_power(y, y_dot, t, w):  # type: ignore[no-untyped-def]
    """Power of the reactions of all joints in the last evaluation, which gave the derivative y' [W].

    The rate of the kinetic energy, less the powers of gravity and of all other forces; the gyroscopic torque has none.
    """
    power = -w.applied[0]
    for b in range(1, len(t.mass)):
        state, rates = y[STATE * (b - 1) : STATE * b], y_dot[STATE * (b - 1) : STATE * b]
        rotation(state[P:V], w.A[b])
        power += t.mass[b] * dot(state[V:OMEGA], minus(rates[V:OMEGA], t.gravity))
        power += dot(angular_momentum(b, t.inertia, state[OMEGA:STATE], w), rates[OMEGA:STATE])
    return power


@inlined
def joint_power(k, t, w):  # type: ignore[no-untyped-def]
    """Power of the reactions of a joint in the last evaluation joint by joint, -lam^T D v [W]."""
    power, i, j = 0.0, w.state[t.body_i[k]], w.state[t.body_j[k]]
    for r in range(t.rows[k]):
        for c in range(6):
            power -= w.lam[k, r] * (w.D[k, r, c] * i[V + c] + w.D[k, r, 6 + c] * j[V + c])
    return power


@inlined
def measure_drivers(y, y_dot, t, w):  # type: ignore[no-untyped-def]
    """Powers of the drivers, into ``w.power``; that of a single one is the power of all reactions, which needs no multipliers.

    In the coordinates of a tree the multipliers of drivers are known.
    """
    place = first_driver(t)
    if len(w.power) == place + 1 and len(w.tree.data.kind) == 0:
        w.power[place] = reaction_power(y, y_dot, t, w)
        return
    last = -1
    for n in range(len(t.signal_joint)):
        if t.signal_joint[n] != last:
            last = t.signal_joint[n]
            w.power[place] = joint_power(last, t, w)
            place += 1


def energy_part(time, y, t, w, purpose, out):  # type: ignore[no-untyped-def]
    """After an evaluation in the state y: kinetic energy, that of gravity and stored energy [J], into ``out`` (3,).

    Or the powers of drivers [W], with y' in ``out``, into ``w.power``; or ``speed_of_bodies``, into ``out`` (1,).
    """
    update_motion(array_at(y, size_of_state(t, w)), t, w)
    if purpose == REACTIONS:
        measure_drivers(w.motion, array_at(out, len(w.motion)), t, w)
        return OK
    if purpose == SPEED:
        array_at(out, 1)[0] = fastest_body(y, t, w)
        return OK
    energies = array_at(out, 3)
    energies[0], energies[1] = mechanical_energy(w.motion, t, w)
    of_steps = w.tree.data
    for k in range(len(of_steps.kind)):
        if of_steps.armature[k] > 0.0:
            rate = array_at(y, w.tree.size[0])[of_steps.u[k]]
            energies[0] += 0.5 * of_steps.armature[k] * rate * rate
    energies[2] = stored_energy(t, w)
    return OK


@inlined
def energies_of(y, t, w, energies):  # type: ignore[no-untyped-def]
    """Kinetic energy, potential energy of gravity and stored energy [J] of a state, after an evaluation there, into (3,)."""
    call_at(w.address[ENERGY_PART], 0.0, y, t, w, ENERGIES, energies)


@inlined
def speed_of_bodies(y, t, w, to):  # type: ignore[no-untyped-def]
    """Speed that the mass of a body has where it moves without turning at the same kinetic energy; the largest [m/s].

    Lighter bodies count as those of ``LIGHT`` of all mass.

    ``to``: memory (1,)
    """
    call_at(w.address[ENERGY_PART], 0.0, y, t, w, SPEED, to)
    return to[0]


@inlined
def powers(y, y_dot, t, w, to):  # type: ignore[no-untyped-def]
    """Powers of all sources in the last evaluation, which gave the derivative y' [W]."""
    if len(t.signal_joint) > 0:
        call_at(w.address[ENERGY_PART], 0.0, y, t, w, REACTIONS, y_dot)
    for k in range(len(to)):
        to[k] = w.power[k]
