"""Kinks of forces in variational equations, in compiled code: differences keep to the side on which the state is.

At a kink a force is continuous, and its derivatives are those of the side of the state.  A difference over a kink would mix both
sides for as long as the motion is near, as that of a muscle near its isometric force.  Therefore no point of a difference lies
beyond a kink where those of the other side, or closer ones, do not.

A motion that begins on a kink, as that of a muscle at rest, is on the side to which it goes at once.  One may stay on the kink,
as that of a muscle whose activation is its excitation.  Along a direction that leaves the kink both sides then have slopes of
their own; where these differ there is no derivative, unless the parameter is at a bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from runtime.dynamics.force_elements import evaluate_kinks
from runtime.dynamics.kinematics import update_poses, update_poses_and_signals, update_signals
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.integrate.variational.points import shift
from runtime.jit.compilation import inlined
from runtime.jit.pointers import at_address
from runtime.support.arrays import Floats, Ints

NEITHER, AHEAD, BEHIND, BOTH = range(4)  # sides on which points are beyond a kink
CLOSER, TRIES = 0.1, 5  # factor of the reach of a difference with kinks on both sides, and tries
ON_NONE = -1
DIFFERENT = 1e-3  # of the largest slope: by which the slopes of two sides differ that are not the same
SOON = 1e-6  # [s] length of a step by which a motion leaves the kink on which it begins
_TYPES: tuple[Any, ...] = ()  # of data and memory, identical for all systems


class KinkDirections(NamedTuple):
    """The kinks of a system's forces along the directions of parameters, and memory."""

    own: Floats  # (kinks,) what changes its sign there, in the state
    moved: Floats  # (kinks,) at a point of a difference
    side: Floats  # (kinks,) the last value in the state that was not 0; 0 before
    offset: Floats  # (12,) of the points of a difference
    begun: Ints  # (1,) 1 after the first evaluation
    on: Ints  # (1,) kink on which the state is and from which the last difference moves it
    lost: Ints  # (2,) such a kink with two slopes, and the parameter


def kink_directions(data: ModelData, work: Workspace) -> KinkDirections:
    """Memory for the kinks of a system."""
    if not _TYPES:
        globals()["_TYPES"] = (numba.typeof(data), numba.typeof(work))
    own, moved, side = (np.zeros(int(data.forces.kink[-1])) for _ in range(3))
    begun, lost = np.zeros(1, np.int64), np.full(2, ON_NONE)
    return KinkDirections(own, moved, side, np.zeros(12), begun, np.full(1, ON_NONE), lost)


@inlined
def note_sides(time, states, t, w, kinks):  # type: ignore[no-untyped-def]
    """Take note of the sides on which the state is."""
    if len(kinks.own) > 0:
        update_poses_and_signals(time, states, t, w)
        evaluate_kinks(states, t, w, kinks.own)
    for i in range(len(kinks.own)):
        if kinks.own[i] != 0.0:
            kinks.side[i] = kinks.own[i]


@inlined
def is_beyond(time, p, states, z, d):  # type: ignore[no-untyped-def]
    """Whether a kink lies between the state and point p of a difference."""
    kinks, beyond = d.kinks, False
    other, memory = at_address(d.at[p, 0], _TYPES[0]), at_address(d.at[p, 1], _TYPES[1])
    shift(states, d.along[p, 0], z, d)
    update_poses(d.shifted, other, memory)
    update_signals(time, other, memory)
    evaluate_kinks(d.shifted, other, memory, kinks.moved)
    for i in range(len(kinks.moved)):
        if kinks.side[i] * kinks.moved[i] < 0.0:
            beyond = True
        if kinks.side[i] == 0.0 and kinks.moved[i] != 0.0:
            kinks.on[0] = i
    return beyond


@inlined
def sides_beyond(time, first, last, states, z, d):  # type: ignore[no-untyped-def]
    """On which sides some of the points from the first to the last are beyond a kink."""
    ahead = behind = False
    for p in range(first, last):
        if is_beyond(time, p, states, z, d):
            ahead, behind = ahead or d.kinks.offset[p] > 0.0, behind or d.kinks.offset[p] < 0.0
    return (AHEAD if ahead else NEITHER) + (BEHIND if behind else NEITHER)


@inlined
def keep_one_side(first, last, beyond, d):  # type: ignore[no-untyped-def]
    """Weights of the points from the first to the last of which those of a side are beyond a kink, and have none."""
    x = d.kinks.offset
    sign = -1.0 if beyond == AHEAD else 1.0
    for p in range(first, last if beyond == AHEAD or beyond == BEHIND else first):
        weight = 1.0 / x[p] if sign * x[p] > 0.0 else 0.0
        for q in range(first, last):
            if q != p and sign * x[q] > 0.0:
                weight *= x[q] / (x[q] - x[p])
        d.along[p, 1] = weight


@inlined
def keep_sides(time, k, states, z, d):  # type: ignore[no-untyped-def]
    """Have the difference over parameter k keep to the side of the state, after ``place_points``."""
    x, last = d.kinks.offset, d.used[0]
    d.kinks.on[0] = ON_NONE
    own = last - d.points[k]  # the first points are of the system itself, along z
    for p in range(last):
        x[p] = d.along[p, 0] if p < own else d.offsets[k, p - own]
    beyond = sides_beyond(time, 0, own, states, z, d)
    for _ in range(TRIES):
        if beyond == BOTH:
            for p in range(own):
                d.along[p, 1] /= CLOSER
                d.along[p, 0] *= CLOSER
                x[p] = d.along[p, 0]
            beyond = sides_beyond(time, 0, own, states, z, d)
    if beyond == AHEAD or beyond == BEHIND:  # as many points on the other side
        farthest = abs(x[0])
        for p in range(own):
            x[p] = d.along[p, 0] = (-farthest if beyond == AHEAD else farthest) * (p + 1.0) / own
    of_parameter = sides_beyond(time, own, last, states, z, d)
    keep_one_side(0, own, beyond, d)
    keep_one_side(own, last, of_parameter, d)
    if beyond != NEITHER or of_parameter != NEITHER:
        d.kinks.on[0] = ON_NONE  # another kink decides


@inlined
def use_side(k, beyond, d):  # type: ignore[no-untyped-def]
    """Have the difference over parameter k use one side; whether there are nearby systems on this side."""
    last, there = d.used[0], d.points[k] == 0
    own = last - d.points[k]
    keep_one_side(0, own, beyond, d)
    keep_one_side(own, last, beyond, d)
    for q in range(d.points[k]):
        there = there or (d.offsets[k, q] > 0.0) == (beyond == BEHIND)
    return there


@inlined
def note_sides_differ(k, slopes, others, kinks):  # type: ignore[no-untyped-def]
    """Note where slopes of both sides differ; whether they do."""
    size = change = 0.0
    for i in range(len(slopes)):
        size, change = max(size, abs(slopes[i])), max(change, abs(slopes[i] - others[i]))
    if change > DIFFERENT * size:
        kinks.lost[0], kinks.lost[1] = kinks.on[0], k
    return change > DIFFERENT * size
