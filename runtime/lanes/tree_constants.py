"""Constants of the kernel of a tree for many cases whose geometry and masses differ, LANES of them side by side.

The parameters are those of ``tree_geometry.kernel_parameters``: what each step carries, about its point.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from runtime.dynamics.kinematics import rotation, turn_inertia
from runtime.dynamics.layout import LANES, P, V
from runtime.dynamics.lift import GROUND_STEP
from runtime.dynamics.small_matrices import minus
from runtime.jit import addresses
from runtime.jit.addresses import address_of
from runtime.jit.compilation import compiled, inlined
from runtime.jit.lane_vectors import numbers_of
from runtime.jit.llvm_code import INTEGER, function_of_arrays
from runtime.jit.pointers import in_lanes
from runtime.jit.straight_line import View, emit
from runtime.support.arrays import Floats, Ints, lanes_of

POSE = 7  # numbers
OF_GRAVITY, OF_STEP = 3, 16  # parameters of a kernel
WAY, MASS = 3, 6  # places among those of a step, behind the axis; behind the mass its moment and inertia


class TreeCases(NamedTuple):
    """Geometry and masses of cases; a first axis of 1 where all cases have the same."""

    parent: Ints  # (n,)
    step: Ints  # (bodies,)
    axis: Floats  # (cases, n, 3)
    point: Floats  # (cases, n, 3)
    pose: Floats  # (cases, bodies, 7)
    mass: Floats  # (cases, bodies)
    inertia: Floats  # (cases, bodies, 3, 3)
    gravity: Floats  # (cases, 3)


@in_lanes(LANES)
class _Memory(NamedTuple):
    """Of LANES cases."""

    point: Floats  # (n + 1, 3) the last one: of the ground
    pose: Floats  # (bodies, 7)
    mass: Floats  # (bodies,)
    local: Floats  # (3, 3)
    A: Floats  # (3, 3)
    inertia: Floats  # (3, 3)
    parameters: Floats
    constants: Floats


def constants_of_trees(module: ModuleType, cases: TreeCases) -> Floats:
    """Constants (cases, constants) of the kernel of a tree."""
    n, bodies, count = len(cases.parent), len(cases.step), len(cases.mass)
    of_all = (OF_GRAVITY + OF_STEP * n,), (module.CONSTANTS,)
    shapes = (n + 1, 3), (bodies, POSE), (bodies,), (3, 3), (3, 3), (3, 3), *of_all
    memory = _Memory(*(lanes_of(*shape, LANES) for shape in shapes))
    found = np.empty((count, module.CONSTANTS))
    _constants(address_of(module, "prepare_lanes", _translated, __name__), cases, memory, found)
    return found


def _translated(module: ModuleType, name: str, owner: ir.Module, symbol: str) -> ir.Module:
    function, builder = function_of_arrays(owner, symbol, 2)
    with cgutils.for_range(builder, INTEGER(LANES), intp=INTEGER) as loop:
        views = [
            View(builder.gep(data, [loop.index], inbounds=True), (INTEGER(LANES),), (None,)) for data in function.args
        ]
        emit(builder, module, name.removesuffix("_lanes"), views)
    builder.ret_void()
    return owner


@inlined
def _load(values, first, to):  # type: ignore[no-untyped-def]
    """Put rows (cases, m) of the next cases into lanes (m,); the last one also into lanes that are left."""
    numbers = numbers_of(to)
    for lane in range(LANES):
        row = values[min(first + lane, len(values) - 1)]
        for c in range(len(row)):
            numbers[c, lane] = row[c]


@inlined
def _set_steps(t, first, m):  # type: ignore[no-untyped-def]
    """Axes of the steps, ways to them, and no masses."""
    n = len(t.parent)
    for k in range(n):
        _load(t.point[:, k], first, m.point[k])
    for k in range(n):
        b, to = t.parent[k], m.parameters[OF_GRAVITY + OF_STEP * k : OF_GRAVITY + OF_STEP * (k + 1)]
        _load(t.axis[:, k], first, to)
        to[WAY], to[WAY + 1], to[WAY + 2] = minus(m.point[k], m.point[n if b == GROUND_STEP else b])
        for c in range(MASS, OF_STEP):
            to[c] = 0.0


@inlined
def _add_body(t, b, first, m):  # type: ignore[no-untyped-def]
    """Add the mass, moment and inertia of a body about the point of the step that carries it."""
    _load(t.pose[:, b], first, m.pose[b])
    _load(t.mass[:, b : b + 1], first, m.mass[b : b + 1])
    for r in range(3):
        _load(t.inertia[:, b, r], first, m.local[r])
    rotation(m.pose[b, P:V], m.A)
    turn_inertia(m.A, m.local, m.inertia)
    x, y, z = minus(m.pose[b], m.point[t.step[b]])
    mass, square, inertia = m.mass[b], x * x + y * y + z * z, m.inertia
    to = m.parameters[OF_GRAVITY + OF_STEP * t.step[b] + MASS : OF_GRAVITY + OF_STEP * (t.step[b] + 1)]
    to[0] += mass
    to[1] += mass * x
    to[2] += mass * y
    to[3] += mass * z
    to[4] += inertia[0, 0] + mass * (square - x * x)
    to[5] += inertia[0, 1] - mass * (x * y)
    to[6] += inertia[0, 2] - mass * (x * z)
    to[7] += inertia[1, 1] + mass * (square - y * y)
    to[8] += inertia[1, 2] - mass * (y * z)
    to[9] += inertia[2, 2] + mass * (square - z * z)


@compiled
def _constants(address, t, m, found):  # type: ignore[no-untyped-def]
    for first in range(0, len(found), LANES):
        _load(t.gravity, first, m.parameters)
        _set_steps(t, first, m)
        for b in range(len(t.step)):
            if t.step[b] != GROUND_STEP:
                _add_body(t, b, first, m)
        addresses.call(address, m.parameters.ctypes.data, m.constants.ctypes.data)
        constants = numbers_of(m.constants)
        for lane in range(min(LANES, len(found) - first)):
            for c in range(found.shape[1]):
                found[first + lane, c] = constants[c, lane]
