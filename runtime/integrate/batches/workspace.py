"""Memory of a batch, and the sums over its stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES, STATE, P
from runtime.dynamics.lift import OF_TURN
from runtime.integrate.batches.closing import BatchClosing, batch_closing
from runtime.integrate.batches.contact_memory import BatchContacts, no_contacts
from runtime.integrate.batches.event_memory import BatchEvents, no_events
from runtime.integrate.batches.forces import BatchForces, no_forces
from runtime.integrate.batches.limits import BatchLimits, batch_limits
from runtime.integrate.dop853 import ties_of_bodies
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.integrate.lane_state import LaneState, Surfaces, surfaces_of
from runtime.integrate.memory_kinds import Common, OfLanes, Repeated, Scratch
from runtime.integrate.polynomial import POWER
from runtime.jit.named_rows import Block, with_lanes
from runtime.support.arrays import Floats, Ints, lanes_of

NO_TIES = np.zeros((0, 3), np.int64)


def _combination(coefficients: Floats) -> tuple[Ints, Floats]:
    """Stages and factors of sums without zeros, padded to whole groups of four by zeros times the first stage."""
    which, factors = np.zeros(coefficients.shape, np.int64), np.zeros(coefficients.shape)
    for row, values in enumerate(coefficients):
        (used,) = np.nonzero(values)
        which[row, : len(used)], factors[row, : len(used)] = used, values[used]
    return which, factors


# Rows of the sums over the stages: states of the stages (rows 1 to 15), end of the step, estimates of its error.
END, ERROR5, ERROR3, KINKS = range(STAGES + 1 + EXTRA, STAGES + 5 + EXTRA)
SUMS = np.zeros((STAGES + 5 + EXTRA, 16))
SUMS[: len(COEFFICIENTS.a)] = COEFFICIENTS.a
SUMS[END, :STAGES] = COEFFICIENTS.b
SUMS[ERROR5, : STAGES + 1], SUMS[ERROR3, : STAGES + 1] = COEFFICIENTS.error5, COEFFICIENTS.error3
SUMS[KINKS, : STAGES + 1] = COEFFICIENTS.kinks
WHICH, FACTORS = _combination(SUMS)
GROUPS = -(-np.count_nonzero(SUMS, axis=1) // 4)


@with_lanes(LANES)
class BatchWorkspace(NamedTuple):
    """Memory of a batch.  States are flat, (n * LANES,), the lanes of a component next to each other."""

    which: Common[Ints]  # (20, 16) stages of the sums
    factors: Common[Floats]  # (20, 16)
    groups: Common[Ints]  # (20,) of four stages
    polynomial: Common[Floats]  # (4, 16) of the dense output
    turned: Common[Ints]  # rows of the first of four Euler parameters each
    ties: Common[Ints]  # (ties, 3) as of ``quintic``: rows of coordinates and of rates, number of the former
    rates: Common[Ints]  # (1,) row of the first rate of a tree; 0 of states of bodies
    size: Common[Ints]  # (1,) components whose errors count: all but those that are only carried, which are the last
    parts: Common[Ints]  # (parts, 2) begin and end, in a state, of the bodies that are not fixed
    # (2,) addresses of the stages of an attempt and of its dense output as one function each; 0 where there is none
    stages: Common[Ints]
    cap: Repeated[Floats]  # (n * LANES,) largest value of a component that takes part in its tolerance
    weight: Repeated[Floats]  # (n * LANES,) by which errors of it count
    lever: Repeated[Floats]  # (n * LANES,) [m] of the rates of turns; 0 for all others
    typical: Common[Floats]  # (1,) least size of the components with which the first step is compared
    y: OfLanes[Floats]
    trial: OfLanes[Floats]
    end: OfLanes[Floats]  # of the step
    k: OfLanes[Floats]  # (16, n * LANES) stages
    errors: OfLanes[Floats]  # (3, n * LANES) estimates of order 5 and 3, and of kinks
    h: OfLanes[Floats]  # length of the lane's step, for every component of the state
    constants: OfLanes[Floats]  # (constants, LANES)
    worst: OfLanes[Floats]  # (LANES,) inverse square of the smallest pivot ratio of the last evaluation
    s: Annotated[OfLanes[Floats], Block(LaneState)]
    case: OfLanes[Ints]  # (LANES,) -1 for an idle lane
    output: OfLanes[Ints]  # (LANES,) index of the next output
    ready_y: OfLanes[Floats]  # of cases that are ready to begin
    ready_k: OfLanes[Floats]
    ready_constants: OfLanes[Floats]
    queue: Scratch[Ints]  # (4,) next case to make ready; of those ready: the first, their count, the next to begin
    dense: OfLanes[Floats]  # (n * POWER * LANES,) polynomials of the dense output
    limits: BatchLimits  # that restrain coordinates
    forces: BatchForces  # of other kinds
    contacts: BatchContacts
    surfaces: Surfaces  # limits and contacts
    closing: BatchClosing  # rows that restrain coordinates
    events: BatchEvents


def batch_workspace(fixed: Sequence[bool], constants: int, *, directions: bool = False) -> BatchWorkspace:
    """Memory for a system.

    Parameters
    ----------
    fixed : (bodies,) sequence of bool
        True for bodies that do not move.
    constants : int
        Number of constants of the whole-model kernel.
    directions : bool
        The states are followed by their derivatives with respect to a parameter.
    """
    bodies = len(fixed)
    n = bodies * STATE * (2 if directions else 1)
    free = [b for b, still in enumerate([*fixed, *fixed] if directions else fixed) if not still]
    return _workspace(
        [b * STATE + P for b in range(bodies)],
        ties_of_bodies(0 if directions else bodies),
        [(b * STATE, (b + 1) * STATE) for b in free],
        constants,
        np.full(n, np.inf),
        np.ones(n),
        np.zeros(n),
        0.0,
    )


def tree_workspace(
    stages: Sequence[int],
    constants: int,
    scales: Sequence[Floats],
    limits: BatchLimits | None = None,
    forces: BatchForces | None = None,
    contacts: BatchContacts | None = None,
    ties: Ints = NO_TIES,
    rates: int = 0,
    closing: BatchClosing | None = None,
    rows: int = 0,
) -> BatchWorkspace:
    """Memory for coordinates and rates of a tree, with the states of forces (n,); ``scales`` (4, n) as of ``Stepper.scales``.

    With forces, states have their work and their angles as further components, and ``stages`` are not used; ``rows``: size of
    states that have others, too.  ``ties``: as of ``spanning_tree.ties_of``; ``rates``: place of the first rate, 0 where there
    are as many coordinates as rates.
    """
    cap, weight, typical, lever = scales
    n = len(cap)
    none = np.zeros(rows - n if rows else 0 if forces is None else 1 + forces.angles_by[1])
    cap, weight, lever = np.append(cap, none + np.inf), np.append(weight, none), np.append(lever.clip(0.0), none)
    memory = _workspace(turned_of(ties), ties, [(0, len(cap))], constants, cap, weight, lever, float(typical[0]))
    memory.stages[:] = stages if forces is None else 0
    memory.size[0], memory.rates[0] = n, rates or n // 2
    given = dict(limits=limits, forces=forces, contacts=contacts, closing=closing)
    memory = memory._replace(**{name: own for name, own in given.items() if own is not None})
    return memory._replace(surfaces=surfaces_of(len(memory.limits.q) + len(memory.contacts.places), LANES))


def turned_of(ties: Ints) -> list[int]:
    """Rows of the Euler parameters among ties."""
    return [int(q) for q, _, n in ties if n >= OF_TURN]


def repeated(values: Floats) -> Floats:
    """Each value once for every lane."""
    out = lanes_of(len(values) * LANES)
    out[:] = np.repeat(values, LANES)
    return out


def _workspace(
    turned: Sequence[int], ties: Ints, parts: Sequence[tuple[int, int]], constants: int, cap: Floats, weight: Floats,
    lever: Floats, typical: float,
) -> BatchWorkspace:  # fmt: skip
    """Memory for states (n,); ``parts``: first and last component of what moves."""
    size = len(cap) * LANES
    y, trial, end, h, ready_y, ready_k = (lanes_of(size) for _ in range(6))
    return BatchWorkspace(
        which=WHICH, factors=FACTORS, groups=GROUPS, polynomial=COEFFICIENTS.dense,
        turned=np.array(turned, np.int64), ties=ties, rates=np.zeros(1, np.int64), size=np.array([len(cap)]),
        stages=np.zeros(2, np.int64), parts=np.array(parts, np.int64).reshape(-1, 2), cap=repeated(cap),
        weight=repeated(weight), lever=repeated(lever), typical=np.array([typical]), y=y, trial=trial, end=end,
        k=lanes_of(STAGES + 1 + EXTRA, size), errors=lanes_of(3, size), h=h,
        constants=lanes_of(constants, LANES), worst=lanes_of(LANES), s=LaneState.block(LANES),
        case=np.full(LANES, -1), output=np.zeros(LANES, np.int64), ready_y=ready_y, ready_k=ready_k,
        ready_constants=lanes_of(constants, LANES), queue=np.zeros(4, np.int64), dense=lanes_of(POWER * size),
        limits=batch_limits(), forces=no_forces(), contacts=no_contacts(), surfaces=surfaces_of(0, LANES),
        closing=batch_closing(), events=no_events(),
    )  # fmt: skip
