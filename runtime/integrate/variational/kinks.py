"""Kinks of forces in variational equations, in compiled code: differences keep to the side on which the state is.

At a kink a force is continuous, and its derivatives are those of the side of the state.  A difference over a kink would mix both
sides for as long as the motion is near, as that of a muscle near its isometric force.  Therefore no point of a difference lies
beyond a kink where those of the other side, or closer ones, do not.

A motion that begins on a kink, as that of a muscle at rest, is on the side to which it goes at once.  One may stay on the kink,
as that of a muscle whose activation is its excitation.  Along a direction that leaves the kink both sides then have slopes of
their own; where these differ there is no derivative, unless the parameter is at a bound.

Rates may jump at a kink, as those of a muscle one of whose points joins or leaves the path there.  The derivatives then jump, by
the formula of ``contacts``, after the step that ends at the kink.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from runtime.dynamics.angles import share_angles
from runtime.dynamics.force_elements import evaluate_kinks
from runtime.dynamics.kinematics import update_poses, update_poses_and_signals, update_signals
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.integrate.variational.points import add_point, place_points, reach_of, reach_with, shift
from runtime.jit.compilation import inlined
from runtime.jit.pointers import at_address
from runtime.support.arrays import Floats, Ints

NEITHER, AHEAD, BEHIND, BOTH = range(4)  # sides on which points are beyond a kink
CLOSER, TRIES = 0.1, 5  # factor of the reach of a difference with kinks on both sides, and tries
ON_NONE = -1
DIFFERENT = 1e-3  # of the largest slope: by which the slopes of two sides differ that are not the same
SOON = 1e-6  # [s] length of a step by which a motion leaves the kink on which it begins
JUST_AHEAD = 1e-10  # [s] behind which a kink lies at which a step has ended
SHORTEST, LONGER = 1e-13, 8  # [s] step beyond a kink, and how often it is ten times as long
JUMP = 1e-11  # of the largest rate: by which rates beside a kink differ that jump there
_TYPES: tuple[Any, ...] = ()  # of data and memory, identical for all systems


class KinkDirections(NamedTuple):
    """The kinks of a system's forces along the directions of parameters, and memory."""

    own: Floats  # (kinks,) what changes its sign there, in the state
    moved: Floats  # (kinks,) at a point of a difference
    side: Floats  # (kinks,) the last value in the state that was not 0; 0 before
    settled: Floats  # (kinks,) that at the end of the last accepted step
    offset: Floats  # (12,) of the points of a difference
    begun: Ints  # (1,) 1 after the first evaluation
    on: Ints  # (1,) kink on which the state is and from which the last difference moves it
    lost: Ints  # (2,) such a kink with two slopes, and the parameter


def kink_directions(data: ModelData, work: Workspace) -> KinkDirections:
    """Memory for the kinks of a system."""
    if not _TYPES:
        globals()["_TYPES"] = (numba.typeof(data), numba.typeof(work))
    own, moved, side, settled = (np.zeros(int(data.forces.kink[-1])) for _ in range(4))
    begun, lost = np.zeros(1, np.int64), np.full(2, ON_NONE)
    return KinkDirections(own, moved, side, settled, np.zeros(12), begun, np.full(1, ON_NONE), lost)


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
def settle(time, states, rates, w, d):  # type: ignore[no-untyped-def]
    """Take note of the sides just ahead of the end of an accepted step; the kink that the motion has passed, or ON_NONE.

    Of several the nearest one: those of values that jump with it are no longer near.
    """
    other, memory = at_address(d.itself[0], _TYPES[0]), at_address(d.itself[1], _TYPES[1])
    kinks, passed = d.kinks, ON_NONE
    shift(states, JUST_AHEAD, rates, d)
    put_moved(time, other, memory, w, d)
    for i in range(len(kinks.moved)):
        nearer = passed == ON_NONE or abs(kinks.moved[i]) < abs(kinks.moved[passed])
        if kinks.settled[i] * kinks.moved[i] < 0.0 and nearer:
            passed = i
        if kinks.moved[i] != 0.0:
            kinks.settled[i] = kinks.side[i] = kinks.moved[i]
    return passed


@inlined
def step_beside(time, i, way, states, rates, w, d):  # type: ignore[no-untyped-def]
    """Put the nearest state ahead of a kink that is passed, ``way`` -1, or behind it, 1, into ``shifted``."""
    other, memory = at_address(d.itself[0], _TYPES[0]), at_address(d.itself[1], _TYPES[1])
    h = way * SHORTEST
    for _ in range(LONGER):
        shift(states, h, rates, d)
        put_moved(time, other, memory, w, d)
        if d.kinks.moved[i] * d.kinks.side[i] * way > 0.0:
            break
        h *= 10.0


@inlined
def kink_in_time(time, i, states, rates, w, d):  # type: ignore[no-untyped-def]
    """Change of kink i per second along the rates."""
    other, memory = at_address(d.itself[0], _TYPES[0]), at_address(d.itself[1], _TYPES[1])
    h, value = reach_with(len(d.places)) / reach_of(rates, states[: len(rates)], d.scale), 0.0
    for q in range(len(d.places)):
        shift(states, h * d.places[q], rates, d)
        put_moved(time, other, memory, w, d)
        value += d.weights[q] / h * (d.kinks.moved[i] - d.kinks.own[i])
    return value


@inlined
def kink_over(time, i, k, states, z, w, d):  # type: ignore[no-untyped-def]
    """Derivative of kink i over parameter k, whose derivatives of the state are z."""
    value = 0.0
    place_points(k, states, z, d)
    for p in range(d.used[0]):
        shift(states, d.along[p, 0], z, d)
        put_moved(time, at_address(d.at[p, 0], _TYPES[0]), at_address(d.at[p, 1], _TYPES[1]), w, d)
        value += d.along[p, 1] * (d.kinks.moved[i] - d.kinks.own[i])
    return value


@inlined
def put_moved(time, other, memory, w, d):  # type: ignore[no-untyped-def]
    """Put the kinks of a system in the state ``shifted`` into ``moved``."""
    share_angles(other, w, memory)
    update_poses(d.shifted, other, memory)
    update_signals(time, other, memory)
    evaluate_kinks(d.shifted, other, memory, d.kinks.moved)


@inlined
def is_beyond(time, p, states, z, w, d):  # type: ignore[no-untyped-def]
    """Whether a kink lies between the state and point p of a difference."""
    kinks, beyond = d.kinks, False
    other, memory = at_address(d.at[p, 0], _TYPES[0]), at_address(d.at[p, 1], _TYPES[1])
    shift(states, d.along[p, 0], z, d)
    put_moved(time, other, memory, w, d)
    for i in range(len(kinks.moved)):
        if kinks.side[i] * kinks.moved[i] < 0.0:
            beyond = True
        if kinks.side[i] == 0.0 and kinks.moved[i] != 0.0:
            kinks.on[0] = i
    return beyond


@inlined
def sides_beyond(time, first, last, states, z, w, d):  # type: ignore[no-untyped-def]
    """On which sides some of the points from the first to the last are beyond a kink."""
    ahead = behind = False
    for p in range(first, last):
        if is_beyond(time, p, states, z, w, d):
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
def keep_sides(time, k, states, z, w, d):  # type: ignore[no-untyped-def]
    """Have the difference over parameter k keep to the side of the state, after ``place_points``."""
    x, last = d.kinks.offset, d.used[0]
    d.kinks.on[0] = ON_NONE
    own = last - d.points[k]  # the first points are of the system itself, along z
    for p in range(last):
        x[p] = d.along[p, 0] if p < own else d.offsets[k, p - own]
    beyond = sides_beyond(time, 0, own, states, z, w, d)
    for _ in range(TRIES):
        if beyond == BOTH:
            for p in range(own):
                d.along[p, 1] /= CLOSER
                d.along[p, 0] *= CLOSER
                x[p] = d.along[p, 0]
            beyond = sides_beyond(time, 0, own, states, z, w, d)
    if beyond == AHEAD or beyond == BEHIND:  # as many points on the other side
        farthest = abs(x[0])
        for p in range(own):
            x[p] = d.along[p, 0] = (-farthest if beyond == AHEAD else farthest) * (p + 1.0) / own
    of_parameter = sides_beyond(time, own, last, states, z, w, d)
    for q in range(d.points[k], 6 if of_parameter == AHEAD or of_parameter == BEHIND else 0):
        if d.data[k, q] != 0 and (d.offsets[k, q] > 0.0) == (of_parameter == BEHIND):
            x[d.used[0]] = d.offsets[k, q]
            add_point(d, d.data[k, q], d.works[k, q], d.offsets[k, q] if own == 0 else 0.0, 0.0)
    keep_one_side(0, own, beyond, d)
    keep_one_side(own, d.used[0], of_parameter, d)
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
