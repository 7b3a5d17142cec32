"""Angles of joints, forces and motors whose revolutions are counted, in compiled code.

An angle of a definition goes on beyond half a turn (``codegen.compiler.angles``): kernels take the angle before from its place in
x, and add the revolutions that bring the angle of the pose closest to it.  Here angles in accepted states become those before.
A step turns no angle by half a turn (``runtime.integrate.turned_steps``).
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.force_elements import follow_force, put_moving
from runtime.dynamics.kinematics import update_poses
from runtime.dynamics.layout import OK, OVER
from runtime.dynamics.lift import TURN
from runtime.dynamics.loads import measure_motor
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.places import ANGLES
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit import addresses
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import call_at
from runtime.support.arrays import Floats

ADDRESS, SORT, OWNER, PLACE, COUNT = range(5)  # columns of ``ModelData.angles``
OF_JOINT, OF_FORCE, OF_MOTOR = range(3)  # sorts


def angles_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """Keep the angles in a state as those before."""
    update_poses(y, t, w)
    rotate_vectors(t.vector_joint, t.vector_place, t.vector_body, t.vector_local, w.A, w.x)
    put_moving(t.forces, w.forces, w)
    m = t.loads
    rotate_vectors(m.vector_motor, m.vector_place, m.vector_body, m.vector_local, w.A, w.loads.x)
    for n in range(len(t.angles)):
        row = t.angles[n]
        k = row[OWNER]
        if row[SORT] == OF_MOTOR:
            w.loads.x[k, row[PLACE]] = measure_motor(k, m, w)
        elif row[SORT] == OF_FORCE:
            follow_force(k, t.forces, w.forces, w.state)
        else:
            i, j, x, to = w.state[t.body_i[k]], w.state[t.body_j[k]], w.x[k], w.x[k, row[PLACE] :]
            addresses.call(row[ADDRESS], i.ctypes.data, j.ctypes.data, x.ctypes.data, to.ctypes.data)
    return OK


@inlined
def follow(y, t, w):  # type: ignore[no-untyped-def]
    """Keep the angles in a state as those before."""
    if t.counted > 0:
        call_at(w.address[ANGLES], 0.0, y, t, w, OVER, y)


@inlined
def write_angles(t, w, to):  # type: ignore[no-untyped-def]
    """Put the angles before into ``to``."""
    n = 0
    for k in range(len(t.angles)):
        row = t.angles[k]
        x = (w.x, w.forces.x, w.loads.x)[row[SORT]]
        for c in range(row[COUNT]):
            to[n] = x[row[OWNER], row[PLACE] + c]
            n += 1


@inlined
def put_angles(given, t, w):  # type: ignore[no-untyped-def]
    """Use angles as those before."""
    n = 0
    for k in range(len(t.angles)):
        row = t.angles[k]
        x = (w.x, w.forces.x, w.loads.x)[row[SORT]]
        for c in range(row[COUNT]):
            x[row[OWNER], row[PLACE] + c] = given[n]
            n += 1


@inlined
def share_angles(t, w, other):  # type: ignore[no-untyped-def]
    """Use the angles before in other memory, of a system nearby, too."""
    for k in range(len(t.angles)):
        row = t.angles[k]
        x, to = (w.x, w.forces.x, w.loads.x)[row[SORT]], (other.x, other.forces.x, other.loads.x)[row[SORT]]
        for c in range(row[PLACE], row[PLACE] + row[COUNT]):
            to[row[OWNER], c] = x[row[OWNER], c]


@inlined
def count_from_reference(z, t, w, way):  # type: ignore[no-untyped-def]
    """Count revolutions up to coordinates z of a tree, on the way from turns of 0.  ``way``: memory as z."""
    tree, length = w.tree.data, 0.0
    for k in range(len(tree.kind) if t.counted > 0 else 0):
        length += abs(z[tree.q[k]]) if tree.kind[k] == TURN else 0.0
    share_angles(t, t, w)
    pieces = int(length) + 1  # by 1 rad at most
    for n in range(pieces + 1 if t.counted > 0 else 0):
        for i in range(len(z)):
            way[i] = z[i]
        for k in range(len(tree.kind)):
            if tree.kind[k] == TURN:
                way[tree.q[k]] *= n / pieces
        follow(way, t, w)


@compiled
def follow_each(states, t, w, to):  # type: ignore[no-untyped-def]
    """Keep the angles in states (n, 13 bodies) that follow each other, and put them into ``to`` (n, angles)."""
    for n in range(len(states)):
        follow(states[n], t, w)
        write_angles(t, w, to[n])


def angles_along(states: Floats, t: ModelData, w: Workspace) -> Floats:
    """The angles (n, angles) [rad] in states (n, 13 bodies) that follow each other, which become those before."""
    found = np.zeros((len(states), t.counted))
    if t.counted:
        follow_each(np.ascontiguousarray(states), t, w, found)
    return found


def _each(t: ModelData, w: Workspace) -> list[Floats]:
    """The angles before of each joint, force and motor."""
    every = w.x, w.forces.x, w.loads.x
    return [every[sort][k, place : place + count] for _, sort, k, place, count in t.angles.tolist()]


def angles_now(t: ModelData, w: Workspace) -> Floats:
    """The angles before, (angles,) [rad]."""
    return np.concatenate([np.zeros(0), *_each(t, w)])


def take_angles(given: Floats, t: ModelData, w: Workspace) -> None:
    """``put_angles``, from Python."""
    for own in _each(t, w):
        own[:], given = given[: len(own)], given[len(own) :]
