"""Scales of the coordinates and rates of a tree in the control of steps: what their errors count."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.latest import Latest
from runtime.system.spanning_tree import COORDINATES, RATES, SpanningTree, levers_of_turns, turn_weights
from runtime.system.tree_geometry import Carried

TYPICAL = 1.0  # [rad], [m], and per second: coordinates of joints are often 0 at the start
# [s] by which the error of a rate counts.  Joints often turn slowly between bodies that turn fast, so that relative tolerances of
# rates ask for more than those of bodies; at this weight both kinds of coordinates have about the same error at a tolerance.
RATE_WEIGHT = 0.5
OF_STATES = math.inf, 1.0, 0.0, 0.0  # of states of forces, each with the tolerances in its own unit
SLIDES = {"turn": 0, "ball": 0, "slide": 1, "free": 3}  # coordinates of a step that are lengths, which come first

# Often those of one system, or of systems that differ in masses alone.
_reaches = Latest(lambda geometry, skeleton: geometry.reaches(skeleton), 8)  # of steps
_levers = Latest(
    lambda skeleton, geometry, carried: levers_of_turns(skeleton, _reaches(geometry, skeleton), carried), 8
)


def scales_of(tree: SpanningTree) -> tuple[Floats, Floats, Floats, Floats]:
    """``Stepper.scales`` of coordinates and rates of a tree, (n,) each.

    Angles grow without bound, and positions do not: an angle counts as 1 rad at most.
    """
    caps: tuple[list[float], list[float]] = ([], [])
    weights: tuple[list[float], list[float]] = ([], [])
    of_turns = turn_weights(_reaches(tree.geometry, tree.skeleton))[0].tolist()
    for kind, of_turn in zip(tree.kinds, of_turns, strict=True):
        slides = SLIDES[kind]
        for k, count in enumerate((COORDINATES[kind], RATES[kind])):
            caps[k].extend([1.0 if kind == "turn" and k == 0 else math.inf] * count)
            weight = (1.0, RATE_WEIGHT)[k]
            weights[k].extend([weight] * slides + [weight * of_turn] * (count - slides))
    of_all = np.array(weights[0] + weights[1])
    return np.array(caps[0] + caps[1]), of_all, np.full(len(of_all), TYPICAL), levers_of(tree, tree.carried)[0]


def with_states(scales: Sequence[Floats], count: int) -> list[Floats]:
    """Scales, (n,) each, of coordinates and rates, and behind them of so many states of forces."""
    return [np.append(row, [of] * count) for row, of in zip(scales, OF_STATES, strict=True)]


def levers_of(tree: SpanningTree, load: Carried) -> Floats:
    """The row LEVER of ``Stepper.scales`` of a tree that carries the load of some cases, (cases, n)."""
    arms = _levers(tree.skeleton, tree.geometry, load)
    found = -np.ones((len(arms), sum(COORDINATES[kind] + RATES[kind] for kind in tree.kinds)))
    place = sum(COORDINATES[kind] for kind in tree.kinds)
    for k, kind in enumerate(tree.kinds):
        slides = SLIDES[kind]
        found[:, place : place + slides] = 0.0
        found[:, place + slides : place + RATES[kind]] = arms[:, k, None]
        place += RATES[kind]
    return found
