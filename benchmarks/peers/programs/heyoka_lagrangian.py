"""The foot in heyoka from its Lagrangian: ``heyoka.lagrangian`` derives the equations."""

from __future__ import annotations

from typing import Any

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import LAGRANGIAN, Foot, Prepared, Repeated
from benchmarks.peers.programs.heyoka import (
    DISTRIBUTION,
    KNOB,
    LADDER,
    METHOD,
    NAME,
    REASON,
    SHOWN,
    side_by_side,
    taylor,
)

__all__ = ["DISTRIBUTION", "KNOB", "LADDER", "METHOD", "NAME", "REASON", "SHOWN"]
INPUT = LAGRANGIAN


def _system(foot: Foot) -> tuple[list[Any], list[Any]]:
    import heyoka as hy

    variables = list(hy.make_vars("q1", "q2", "u1", "u2"))
    energy = reduced_foot.lagrangian(foot, variables[:2], variables[2:], hy.cos, hy.sin)
    return variables, [derivative for _, derivative in hy.lagrangian(energy, variables[:2], variables[2:])]


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """Adaptive steps; the tolerance sets the order."""
    return taylor(foot, *_system(foot), end, setting, outputs)


def evaluation(foot: Foot) -> Repeated:
    """Many states per call, several at once in vector registers."""
    return side_by_side(*_system(foot))
