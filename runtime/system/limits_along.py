"""Which coordinate of a tree each limit of motion restrains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from generated import law_cubic
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE
from runtime.dynamics.lift import lift_all, lift_workspace
from runtime.dynamics.limits import LAWS, PRINTED, angles_of_limits
from runtime.dynamics.limits_along import LimitAlong
from runtime.dynamics.model_data import ModelData
from runtime.support.arrays import Floats
from runtime.system.joint_motion import FULL_TURN
from runtime.system.parts import Limit
from runtime.system.spanning_tree import SpanningTree, TreeSteps, tree_data

SAMPLES, SEED = 6, 4
SAME_ANGLE = 1e-9  # [rad], of slides [m]


def limits_along(
    tree: SpanningTree, limits: Sequence[Limit], data: ModelData, *, in_lanes: bool
) -> tuple[LimitAlong, ...]:
    """The coordinates that limits restrain; empty unless each of them restrains the angle of a turn.

    The angles of the limits are compared with the coordinates at random ones.  ``in_lanes``: cases whose excess is not that of
    the angle are run alone.
    """
    flat = [tuple(float(excess) for excess, _ in limit.vertices) for limit in limits]
    edges = [tuple(float(np.arccos(vertex[2])) for _, vertex in limit.vertices) for limit in limits]
    for limit, sides, edge in zip(limits, flat, edges, strict=True):
        ends = in_lanes or all(ends_along(*side, limit.compliance) for side in zip(sides, edge, strict=True))
        known = limit.law_module is law_cubic or in_lanes  # kernels have the law of the papers
        if limit.law == LAWS[PRINTED] or not known or not min(sides) > 0.0 or not ends:
            return ()
    found = []
    for k, (edge, turn) in enumerate(zip(edges, turns_of_limits(tree, limits, data), strict=True)):
        if turn is None:
            return ()
        found.append(LimitAlong(*turn, edge, flat[k], limits[k].law_module))  # type: ignore[arg-type]
    return tuple(found)


def ends_along(flat: float, edge: float, compliance: float) -> bool:
    """Whether the excess of a hinge's limit is beyond the compliance wherever its angle is, to one side.

    Up to the excess ``flat`` the excess is the angle less the ``edge``; farther on it changes by the turn at most.
    """
    return flat - max(np.pi - edge - flat, 0.0) > compliance


def turns_of_limits(
    tree: SpanningTree, limits: Sequence[Limit], data: ModelData
) -> list[tuple[int, float, float] | None]:
    """Of each limit the step whose coordinate changes by its angle, the sign, and the angle at 0 [rad]; None without one."""
    of, n = tree_data(tree, data.gravity), len(tree.kinds)
    z = random_coordinates(tree)
    states, angles = np.empty((len(z), STATE * len(tree.pose))), np.empty((len(z), len(limits)))
    lift_all(of, lift_workspace(n), z, states)
    angles_of_limits(states, data, shared_workspace_for(data), angles)
    found: list[tuple[int, float, float] | None] = []
    for k, limit in enumerate(limits):
        turn = linear_in(tree, z, angles[:, k], "turn", limit.joint)
        found.append(None if turn is None else (*turn, float(angles[0, k])))
    return found


def random_coordinates(tree: SpanningTree) -> Floats:
    """Coordinates and rates (samples, n) of the reference configuration and of poses at random ones, without balls, at rest."""
    z = np.tile(tree.at_reference, (1 + SAMPLES, 1))
    random = np.random.default_rng(SEED).uniform(-1.0, 1.0, (SAMPLES, tree.places[0][-1]))
    for kind, first, end in zip(tree.kinds, tree.places[0][:-1], tree.places[0][1:], strict=True):
        of_turn = 4 if kind in ("ball", "free") else 0  # Euler parameters
        z[1:, first : end - of_turn] = random[:, first : end - of_turn]
    return z


def linear_in(tree: TreeSteps, z: Floats, value: Floats, kind: str, joint: str = "") -> tuple[int, float] | None:
    """The step of a kind in whose coordinate a value (samples,) is linear, and the slope, 1 or -1 of an angle; None without one.

    z (samples, n): ``random_coordinates``; ``joint``: of the step, default: any
    """
    for step, (coordinate, q) in enumerate(zip(tree.coordinates, tree.places[0], strict=False)):
        if tree.kinds[step] != kind or not coordinate.joint or coordinate.joint != (joint or coordinate.joint):
            continue
        for slope in (1.0, -1.0) if kind == "turn" else (float((value[1] - value[0]) / z[1, q]),):
            off = value - value[0] - slope * z[:, q]
            off -= FULL_TURN * np.round(off / FULL_TURN) if kind == "turn" else 0.0
            if abs(slope) > SAME_ANGLE and np.abs(off).max() < SAME_ANGLE:
                return step, slope
    return None
