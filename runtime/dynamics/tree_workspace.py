"""Memory for evaluations in the coordinates of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.lift import BALL, FREE, SLIDE, TURN, LiftWorkspace, TreeData, lift_workspace
from runtime.dynamics.limits_along import OF_LIMIT, LimitAlong, LimitsAlong, memory_of_limits
from runtime.dynamics.recursion import RecursionWorkspace, recursion_workspace
from runtime.support.arrays import Floats, Ints

SIZES = {TURN: 2, SLIDE: 2, BALL: 7, FREE: 13}  # coordinates and rates of a step


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
    Q: Floats  # (n,) these
    limits: LimitsAlong  # those that the kernel knows


def tree_workspace(
    data: TreeData,
    loaded: bool = False,
    address: Sequence[int] = (0, 0, 0),
    constants: Floats | None = None,
    limits: Sequence[LimitAlong] = (),
) -> TreeWorkspace:
    """Memory for a tree, with the constants of its kernel if there is one, and the limits that this knows."""
    n, size = len(data.kind), sum(SIZES[kind] for kind in data.kind.tolist())
    constants = np.zeros(n) if constants is None else constants
    rows = constants[len(constants) - OF_LIMIT * len(limits) :].reshape(-1, OF_LIMIT)
    return TreeWorkspace(
        data=data, size=np.array([size]), lifting=lift_workspace(n), recursion=recursion_workspace(n),
        loaded=np.array([int(loaded)]), force=np.zeros((n, 3)), moment=np.zeros((n, 3)), address=np.array(address, np.int64),
        constants=constants, Q=constants[len(constants) - rows.size - n :][:n],
        limits=memory_of_limits(data, limits, rows),
    )  # fmt: skip


def _no_tree() -> TreeWorkspace:
    none, vectors, no = np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0)
    return tree_workspace(
        TreeData(
            kind=none, parent=none, q=none, u=none, axis=vectors, way=vectors, mass=no, moment=vectors,
            inertia=np.zeros((0, 3, 3)), gravity=np.zeros(3), step=none, arm=vectors, p=np.zeros((0, 4)),
        )
    )  # fmt: skip


NO_TREE = _no_tree()
