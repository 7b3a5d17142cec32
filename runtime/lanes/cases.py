"""Assembly, consistent velocities and violations of cases whose joints and masses differ, LANES of them side by side."""

from __future__ import annotations

from typing import NamedTuple

from runtime.dynamics.layout import LANES
from runtime.jit.compilation import compiled
from runtime.jit.lane_vectors import numbers_of
from runtime.lanes.assembly import (
    assemble_lanes,
    evaluate_lanes,
    load_lanes,
    make_lanes_consistent,
    store_states,
    worst_of_lanes,
)
from runtime.lanes.ranks import regular_lanes
from runtime.support.arrays import Floats, Ints


class Checks(NamedTuple):
    """How assembled cases are checked."""

    powers: Ints  # (joints, 6) of the lever arms, the natural sizes of the rows
    least: Floats  # (1,) singular value above which the unit rows of a joint are surely independent
    signed: Ints  # joints of which ``Assembled.x`` is wanted


class Assembled(NamedTuple):
    """Of cases in their assembled states."""

    left: Floats  # (cases,) largest |Phi|
    regular: Floats  # (cases,) 1: the rows of every joint are surely independent
    x: Floats  # (cases, signed joints, X) in global axes


@compiled
def assemble_cases(time, states, of, t, w, m, checks, found):  # type: ignore[no-untyped-def]
    """Move states (cases, 13 bodies) and velocities onto the rows by the least change, in place, and check the joints there.

    ``of``: the data of the cases.  ``found`` (``Assembled``) is filled.
    """
    size = w.x.shape[1]
    for first in range(0, len(states), LANES):
        load_lanes(time, first, states, of, t, w, m)
        assemble_lanes(t, m)
        make_lanes_consistent(t, m)
        regular_lanes(checks.powers, checks.least[0], t, m, m.candidate)
        store_states(first, m, states)
        residual, regular, x = numbers_of(m.residual)[0], numbers_of(m.candidate)[0], numbers_of(m.x)
        for n in range(first, min(first + LANES, len(states))):
            lane = n - first
            found.left[n], found.regular[n] = residual[lane], regular[lane]
            for k in range(len(checks.signed)):
                for c in range(size):
                    found.x[n, k, c] = x[checks.signed[k], c, lane]


@compiled
def project_cases(time, states, of, t, w, m):  # type: ignore[no-untyped-def]
    """Give states (cases, 13 bodies) the velocities nearest by kinetic energy that satisfy D v = nu, in place."""
    for first in range(0, len(states), LANES):
        load_lanes(time, first, states, of, t, w, m)
        evaluate_lanes(m.state, m.address, t, m)
        make_lanes_consistent(t, m)
        store_states(first, m, states)


@compiled
def largest_violations(time, states, of, t, w, m, worst):  # type: ignore[no-untyped-def]
    """Largest |Phi| (cases,) in states (cases, 13 bodies)."""
    for first in range(0, len(states), LANES):
        load_lanes(time, first, states, of, t, w, m)
        evaluate_lanes(m.state, m.of_Phi, t, m)
        worst_of_lanes(m.Phi, t, m.now)
        now = numbers_of(m.now)[0]
        for n in range(first, min(first + LANES, len(states))):
            worst[n] = now[n - first]
