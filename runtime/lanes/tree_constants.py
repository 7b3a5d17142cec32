"""Constants of the kernel of a tree for many cases whose geometry and masses differ, LANES of them side by side.

The parameters are those of ``tree_geometry.kernel_parameters``: what each step carries, about its point.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from runtime.dynamics.layout import LANES, R
from runtime.dynamics.lift import GROUND_STEP
from runtime.jit import addresses
from runtime.jit.addresses import address_of
from runtime.jit.compilation import compiled, inlined
from runtime.jit.llvm_code import INTEGER, function_of_arrays
from runtime.jit.straight_line import View, emit
from runtime.lanes.assembly import rotate_inertia, set_rotation
from runtime.lanes.vector_instructions import load, store
from runtime.support.arrays import Floats, Ints, lanes_of

POSE = 7  # numbers
OF_GRAVITY, OF_STEP = 3, 16  # parameters of a kernel
AXIS, WAY, MASS, MOMENT, INERTIA = 0, 3, 6, 7, 10  # places among those of a step


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


class _Memory(NamedTuple):
    """Of LANES cases, flat."""

    point: Floats  # (n + 1, 3) the last one: of the ground
    pose: Floats  # (bodies, 7)
    mass: Floats  # (bodies,)
    local: Floats  # (9,)
    A: Floats  # (9,)
    inertia: Floats  # (9,)
    parameters: Floats
    constants: Floats


def constants_of_trees(module: ModuleType, cases: TreeCases) -> Floats:
    """Constants (cases, constants) of the kernel of a tree."""
    n, bodies, count = len(cases.parent), len(cases.step), len(cases.mass)
    sizes = 3 * (n + 1), POSE * bodies, bodies, 9, 9, 9, OF_GRAVITY + OF_STEP * n, module.CONSTANTS
    memory = _Memory(*(lanes_of(size * LANES) for size in sizes))
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
def _load(values, first, o, to):  # type: ignore[no-untyped-def]
    """Put rows (cases, m) of the next cases into flat memory from o on; the last one also into lanes that are left."""
    for lane in range(LANES):
        row = values[min(first + lane, len(values) - 1)]
        for c in range(len(row)):
            to[o + c * LANES + lane] = row[c]


@inlined
def _less(a, o, b, p):  # type: ignore[no-untyped-def]
    """The difference of two vectors, as three numbers."""
    return (
        load(a, o) - load(b, p),
        load(a, o + LANES) - load(b, p + LANES),
        load(a, o + 2 * LANES) - load(b, p + 2 * LANES),
    )


@inlined
def _add(to, o, value):  # type: ignore[no-untyped-def]
    store(to, o, load(to, o) + value)


@inlined
def _set_steps(t, first, m):  # type: ignore[no-untyped-def]
    """Axes of the steps, ways to them, and no masses."""
    n = len(t.parent)
    for k in range(n):
        _load(t.point[:, k], first, 3 * k * LANES, m.point)
    for k in range(n):
        o, b = (OF_GRAVITY + OF_STEP * k) * LANES, t.parent[k]
        _load(t.axis[:, k], first, o, m.parameters)
        way = _less(m.point, 3 * k * LANES, m.point, 3 * (n if b == GROUND_STEP else b) * LANES)
        for c in range(3):
            store(m.parameters, o + (WAY + c) * LANES, way[c])
        for e in range(o + MASS * LANES, o + OF_STEP * LANES):
            m.parameters[e] = 0.0


@inlined
def _add_body(t, b, first, m):  # type: ignore[no-untyped-def]
    """Add the mass, moment and inertia of a body about the point of the step that carries it."""
    o, q = (OF_GRAVITY + OF_STEP * t.step[b]) * LANES, POSE * b * LANES
    _load(t.pose[:, b], first, q, m.pose)
    for lane in range(LANES):
        m.mass[b * LANES + lane] = t.mass[min(first + lane, len(t.mass) - 1), b]
        own = t.inertia[min(first + lane, len(t.inertia) - 1), b]
        for r in range(3):
            for c in range(3):
                m.local[(3 * r + c) * LANES + lane] = own[r, c]
    set_rotation(m.pose[q:], m.A)
    rotate_inertia(m.A, m.local, m.inertia)
    x, y, z = _less(m.pose, q + R * LANES, m.point, 3 * t.step[b] * LANES)
    mass, square, p = load(m.mass, b * LANES), x * x + y * y + z * z, o + INERTIA * LANES
    _add(m.parameters, o + MASS * LANES, mass)
    _add(m.parameters, o + MOMENT * LANES, mass * x)
    _add(m.parameters, o + (MOMENT + 1) * LANES, mass * y)
    _add(m.parameters, o + (MOMENT + 2) * LANES, mass * z)
    _add(m.parameters, p, load(m.inertia, 0) + mass * (square - x * x))
    _add(m.parameters, p + LANES, load(m.inertia, LANES) - mass * (x * y))
    _add(m.parameters, p + 2 * LANES, load(m.inertia, 2 * LANES) - mass * (x * z))
    _add(m.parameters, p + 3 * LANES, load(m.inertia, 4 * LANES) + mass * (square - y * y))
    _add(m.parameters, p + 4 * LANES, load(m.inertia, 5 * LANES) - mass * (y * z))
    _add(m.parameters, p + 5 * LANES, load(m.inertia, 8 * LANES) + mass * (square - z * z))


@compiled
def _constants(address, t, m, found):  # type: ignore[no-untyped-def]
    for first in range(0, len(found), LANES):
        _load(t.gravity, first, 0, m.parameters)
        _set_steps(t, first, m)
        for b in range(len(t.step)):
            if t.step[b] != GROUND_STEP:
                _add_body(t, b, first, m)
        addresses.call(address, m.parameters.ctypes.data, m.constants.ctypes.data)
        for lane in range(min(LANES, len(found) - first)):
            for c in range(found.shape[1]):
                found[first + lane, c] = m.constants[c * LANES + lane]
