"""Couplings of a system in the coordinates of its tree; where followers are, and the forces on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runtime.dynamics.lift import GROUND_STEP, TreeData
from runtime.dynamics.tree_workspace import (
    NO_COUPLINGS,
    NO_KERNEL,
    CoupledCoordinates,
    RowsKernel,
    TreeWorkspace,
    memory_of_couplings,
    tree_workspace,
)
from runtime.support.arrays import Floats
from runtime.system.coordinate_steps import step_of
from runtime.system.coupling import Coupling, in_order
from runtime.system.joint_motion import FULL_TURN
from runtime.system.signal import Signal, signal_data
from runtime.system.spanning_tree import RATES, SpanningTree, tree_data
from runtime.system.sum_of_products import SumOfProducts, product_data
from runtime.system.system import System
from runtime.system.trees import trees_of

MOST_TURNS = 200  # that are tried
OFF = 1e-9  # [rad], [m] of a follower from where its leader puts it


def coupled_coordinates(
    couplings: tuple[Coupling, ...], motions: Any, tree: SpanningTree, data: TreeData
) -> CoupledCoordinates:
    """The couplings as data of compiled code, with memory.

    Raises
    ------
    ModelError
        For coordinates that are no turns or slides, and those of joints that close loops.
    """
    if not couplings:
        return NO_COUPLINGS
    steps = np.array(
        [step_of(f"coupling '{c.name}'", name, motions, tree) for c in couplings for name in c.coordinates]
    )
    sign = np.array([float(tree.coordinates[k].sign) for k in steps])
    first = np.cumsum([0, *(len(c.coordinates) for c in couplings)]).astype(np.int64)
    laws = [one.law for one in couplings]
    return memory_of_couplings(
        first, data.q[steps], data.u[steps], steps, sign,
        signal_data([law if isinstance(law, Signal) else None for law in laws]),
        product_data([law if isinstance(law, SumOfProducts) else None for law in laws]),
    )  # fmt: skip


def put_coordinates(
    couplings: tuple[Coupling, ...], coupled: CoupledCoordinates, q: Mapping[str, Any], z: Floats
) -> None:
    """Put coordinates by name, numbers or (n,), among those of a tree z (size of the state,) or (n, size of the state)."""
    for k, name in enumerate(name for one in couplings for name in one.coordinates):
        z[..., coupled.q[k]] = coupled.sign[k] * q[name]


def tree_with_rows(
    system: System, rows: list[tuple[int, int]] | None = None, kernel: RowsKernel = NO_KERNEL
) -> TreeWorkspace:
    """Memory for evaluations of a tree with rows: those given, or those of all joints that are no steps; and couplings."""
    tree = trees_of(system).of_joints
    assert tree is not None
    of = tree_data(tree, system.gravity)
    if rows is None:
        rows = [(k, r) for k in tree.closing for r in range(len(system.joints[k].rows))]
    rows = [*rows, *((len(system.joints) + k, 0) for k in range(len(system.couplings)))]
    coupled = coupled_coordinates(system.couplings, system.joint_motions, tree, of)
    independent = sum(RATES[kind] for kind in tree.kinds) - system.degrees_of_freedom
    bodies, first = [GROUND_STEP, *of.step.tolist()], coupled.first
    joined = [
        [bodies[at[k]] for at in (system.data.body_i, system.data.body_j)] for k, _ in rows if k < len(system.joints)
    ]
    joined += [coupled.step[first[k] : first[k + 1]].tolist() for k in range(len(system.couplings))]
    return tree_workspace(
        of, system.loaded, rows=rows, joined=joined, independent=independent, of_rows=kernel, coupled=coupled
    )


def with_turns(couplings: tuple[Coupling, ...], motions: Any, q: dict[str, float]) -> dict[str, float]:
    """Coordinates by name, of turns with so many full turns that followers are where their leaders put them, if they can be.

    A state of bodies does not tell how many turns a hinge has made.
    """
    q, turns = dict(q), {name for name in q if motions[name.rpartition(".")[0]].units[name.rpartition(".")[2]] == "rad"}

    def off(x: float, leader: str) -> float:
        """The largest distance of a follower, apart from full turns."""
        led = [one for one in couplings if leader in one.leaders]
        found = [float(one.derivatives({**q, leader: x})[0]) - q[one.follower] for one in led]
        kinds = [one.follower in turns for one in led]
        return max(
            abs(d - FULL_TURN * round(d / FULL_TURN)) if turn else abs(d) for d, turn in zip(found, kinds, strict=True)
        )

    for one in in_order(couplings):
        for leader in one.leaders:
            if leader in turns and off(q[leader], leader) > OFF:
                tried = q[leader] + FULL_TURN * np.array(sorted(range(-MOST_TURNS, MOST_TURNS + 1), key=abs))
                q[leader] = next((x for x in tried.tolist() if off(x, leader) <= OFF), q[leader])
        if one.follower in turns:
            d = float(one.derivatives(q)[0]) - q[one.follower]
            q[one.follower] += FULL_TURN * round(d / FULL_TURN)
    return q


def violations(couplings: tuple[Coupling, ...], q: Mapping[str, Any], u: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Follower - law(leaders) and its rate, (n, couplings) each; from coordinates and rates by name, numbers or (n,)."""
    laws = [(one, *one.derivatives(q)[:2]) for one in couplings]
    rates = [sum(slopes[..., n] * u[leader] for n, leader in enumerate(one.leaders)) for one, _, slopes in laws]
    Phi = np.stack([q[one.follower] - value for one, value, _ in laws], axis=-1)
    return Phi, np.stack([u[one.follower] - rate for one, rate in zip(couplings, rates, strict=True)], axis=-1)
