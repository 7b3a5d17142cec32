"""Memory for evaluations in the coordinates of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN, LiftWorkspace, TreeData, lift_workspace
from runtime.dynamics.limits_along import OF_LIMIT, LimitAlong, LimitsAlong, memory_of_limits
from runtime.dynamics.products import ENTRIES, LEADERS, VALUES, ProductData
from runtime.dynamics.recursion import RecursionWorkspace, recursion_workspace
from runtime.dynamics.signals import SignalData, no_signals
from runtime.support.arrays import Floats, Ints

ARGUMENTS = 2 * (1 + LEADERS) + VALUES  # of the equation of a coupling
SIZES = {TURN: 2, SLIDE: 2, BALL: 7, FREE: 13}  # coordinates and rates of a step


class CoupledCoordinates(NamedTuple):
    """Couplings of coordinates of a tree, follower = law(leaders), one row each behind those of the joints."""

    first: Ints  # (c + 1,) where the coordinates of each begin in the arrays below: the follower, then its leaders
    q: Ints  # (coordinates,) places among the coordinates
    u: Ints  # (coordinates,) and of their rates
    step: Ints  # (coordinates,) their steps
    sign: Floats  # (coordinates,) 1 or -1: whether the coordinate of the joint has the direction of the step
    laws: SignalData  # functions of the leader; without pieces where ``products`` has the function
    products: ProductData
    value: Floats  # (VALUES,) of the function, and derivatives
    x: Floats  # (ARGUMENTS,) of the equation: follower and leaders with rates, the function with derivatives
    Phi: Floats  # (1,)
    Phi_dot: Floats  # (1,)
    D: Floats  # (1 + LEADERS,)
    gamma: Floats  # (1,)


def memory_of_couplings(
    first: Ints, q: Ints, u: Ints, step: Ints, sign: Floats, laws: SignalData, products: ProductData
) -> CoupledCoordinates:
    """The data of couplings, with memory."""
    return CoupledCoordinates(
        first=first, q=q, u=u, step=step, sign=sign, laws=laws, products=products, value=np.zeros(VALUES),
        x=np.zeros(ARGUMENTS), Phi=np.zeros(1), Phi_dot=np.zeros(1), D=np.zeros(1 + LEADERS), gamma=np.zeros(1),
    )  # fmt: skip


NONE = np.zeros(0, np.int64)
NO_COUPLINGS = memory_of_couplings(
    np.zeros(1, np.int64), NONE, NONE, NONE, np.zeros(0),
    no_signals(),
    ProductData(
        np.zeros(1, np.int64), np.zeros((0, ENTRIES)), np.zeros((0, LEADERS)), np.zeros(LEADERS + ENTRIES), np.zeros(VALUES)
    ),
)  # fmt: skip


class Reach(NamedTuple):
    """What responds to a force along each row: all beyond the steps from the ground that carry the parts that it joins."""

    first_step: Ints  # (m + 1,) where the steps of each row begin
    steps: Ints
    first_body: Ints  # (m + 1,)
    bodies: Ints  # from 0 on
    first_row: Ints  # (m + 1,)
    rows: Ints  # those up to it that have some of these, too


def reach_of(data: TreeData, joined: Sequence[Sequence[int]]) -> Reach:
    """For rows that join so many steps each; GROUND_STEP: the ground."""
    root: list[int] = []
    for k, parent in enumerate(data.parent.tolist()):
        root.append(k if parent == GROUND_STEP else root[parent])
    of_rows = [{root[k] for k in steps if k != GROUND_STEP} for steps in joined]
    of_bodies = [None if k == GROUND_STEP else root[k] for k in data.step.tolist()]
    steps = [[k for k, one in enumerate(root) if one in roots] for roots in of_rows]
    bodies = [[b for b, one in enumerate(of_bodies) if one in roots] for roots in of_rows]
    rows = [[q for q in range(r + 1) if of_rows[q] & roots] for r, roots in enumerate(of_rows)]
    return Reach(*_in_a_row(steps), *_in_a_row(bodies), *_in_a_row(rows))


def _in_a_row(lists: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Where each list begins in a row of all, and this."""
    first = np.cumsum([0, *map(len, lists)])
    return first, np.array([k for one in lists for k in one], np.int64)


class ClosingRows(NamedTuple):
    """Rows that restrain the coordinates of a tree, and memory; m: number of rows."""

    joint: Ints  # (m,) joint of each row among those of the system; couplings are numbered behind the joints
    row: Ints  # (m,) its number in the joint
    address: Ints  # (1,) of the kernel that evaluates the rows, in this process; 0 where there is none
    constants: Floats  # of the kernel
    out: Floats  # and what it found
    posed: Ints  # (bodies,) 1: it reads the Euler parameters of the body, with the sign of the reference configuration
    independent: Ints  # (1,) so many rows are independent but in singular poses
    force: Floats  # (n, 3) f_0 of the recursion for a wrench on bodies
    moment: Floats  # (n, 3) n_0
    along: Floats  # (n,)
    push: Floats  # (n,) forces along the coordinates of turns and slides
    alpha: Floats  # (n + 1, 3) accelerations of the steps
    a: Floats  # (n + 1, 3)
    response: Floats  # (m, size of the state) accelerations of the coordinates for a unit multiplier of each row
    moved: Floats  # (m, bodies + 1, 6) and of the bodies
    S: Floats  # (m, m)
    L: Floats  # (m, m) what is left of S; below the pivots of the chosen rows their columns of L times these
    reach: Reach
    order: Ints  # (m,) rows, the chosen ones first
    chosen: Ints  # (1,) number of these
    left_out: Ints  # (m,) 1: not among them
    others: Ints  # (m,) memory
    every: Ints  # (m,) and of projections, which leave out none
    most: Ints  # (1,)
    size: Floats  # (m,) diagonal of S if nothing held the bodies
    inverse: Floats  # (m,) reciprocal pivots of the chosen rows
    lacking: Floats  # (m,) of gamma, without the multipliers, where a kernel found it
    y: Floats  # (m,) residuals, then multipliers
    rates: Floats  # (size of the state,) a change of coordinates and rates
    change: Floats  # (size of the state,) coordinates with the rates of a change
    coupled: CoupledCoordinates


class RowsKernel(NamedTuple):
    """The kernel of a tree with rows: its address in this process, its constants, and the number of its outputs."""

    address: int
    constants: Floats
    outputs: int
    posed: Sequence[int] = ()  # bodies whose Euler parameters it reads, from 0 on


NO_KERNEL = RowsKernel(0, np.zeros(1), 1)


def closing_rows(
    rows: Sequence[tuple[int, int]],
    independent: int,
    data: TreeData,
    size: int,
    joined: Sequence[Sequence[int]],
    kernel: RowsKernel = NO_KERNEL,
    coupled: CoupledCoordinates = NO_COUPLINGS,
) -> ClosingRows:
    """Memory for rows (joint, number), those of couplings behind the others, and the steps that each joins; size of the state."""
    m, steps, bodies = len(rows), len(data.kind), len(data.step)
    joint, row = (np.array([one[k] for one in rows], np.int64) for k in range(2))
    vectors, of_state = np.zeros((steps, 3)), np.zeros(size)
    return ClosingRows(
        joint=joint, row=row, address=np.array([kernel.address]), constants=kernel.constants, out=np.zeros(kernel.outputs),
        posed=np.isin(np.arange(bodies), kernel.posed).astype(np.int64),
        independent=np.array([independent]), force=vectors.copy(), moment=vectors.copy(),
        along=np.zeros(steps), push=np.zeros(steps), alpha=np.zeros((steps + 1, 3)), a=np.zeros((steps + 1, 3)),
        response=np.zeros((m, size)), moved=np.zeros((m, bodies + 1, 6)), S=np.zeros((m, m)), L=np.zeros((m, m)),
        reach=reach_of(data, joined), order=np.arange(m),
        chosen=np.zeros(1, np.int64), left_out=np.zeros(m, np.int64), others=np.zeros(m, np.int64),
        every=np.arange(m), most=np.zeros(1, np.int64), size=np.zeros(m), inverse=np.zeros(m),
        lacking=np.zeros(m), y=np.zeros(m), rates=of_state.copy(), change=of_state.copy(),
        coupled=coupled,
    )  # fmt: skip


class TreeWorkspace(NamedTuple):
    """A tree, and memory of one evaluation."""

    data: TreeData
    lifting: LiftWorkspace
    recursion: RecursionWorkspace
    size: Ints  # (1,) of coordinates and rates
    loaded: Ints  # (1,) 1: there are limits, contacts, forces or loads
    force: Floats  # (n, 3) on the bodies that a step moves last, or on all beyond it
    moment: Floats  # (n, 3) about its point
    address: Ints  # (3,) of the stages of a step by a kernel, in this process; 0 where there is none
    constants: Floats  # of the kernel, followed by forces along the coordinates and by limits
    Q: Floats  # (rates,) these
    limits: LimitsAlong  # those that the kernel knows
    closing: ClosingRows


def tree_workspace(
    data: TreeData,
    loaded: bool = False,
    address: Sequence[int] = (0, 0, 0),
    constants: Floats | None = None,
    limits: Sequence[LimitAlong] = (),
    rows: Sequence[tuple[int, int]] = (),
    joined: Sequence[Sequence[int]] = (),
    independent: int = 0,
    of_rows: RowsKernel = NO_KERNEL,
    coupled: CoupledCoordinates = NO_COUPLINGS,
) -> TreeWorkspace:
    """Memory for a tree, with the constants of its kernel if there is one, and the limits that this knows.

    rows: joint and number of those that restrain the coordinates, of which so many are independent; steps that
    each joins; ``of_rows``: their kernel
    """
    n, size = len(data.kind), sum(SIZES[kind] for kind in data.kind.tolist())
    rates = size - int(data.u[0]) if n else 0
    constants = np.zeros(rates) if constants is None else constants
    of_limits = constants[len(constants) - OF_LIMIT * len(limits) :].reshape(-1, 1)
    return TreeWorkspace(
        data=data, size=np.array([size]), lifting=lift_workspace(n), recursion=recursion_workspace(n),
        loaded=np.array([int(loaded)]), force=np.zeros((n, 3)), moment=np.zeros((n, 3)), address=np.array(address, np.int64),
        constants=constants, Q=constants[len(constants) - of_limits.size - rates :][:rates],
        limits=memory_of_limits(data, limits, of_limits),
        closing=closing_rows(rows, independent, data, size, joined, of_rows, coupled),
    )  # fmt: skip


def _no_tree() -> TreeWorkspace:
    none, vectors, no = np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0)
    return tree_workspace(
        TreeData(
            kind=none, parent=none, q=none, u=none, axis=vectors, way=vectors, mass=no, moment=vectors,
            inertia=np.zeros((0, 3, 3)), gravity=np.zeros(3), step=none, arm=vectors, p=np.zeros((0, 4)), armature=no,
        )
    )  # fmt: skip


NO_TREE = _no_tree()
