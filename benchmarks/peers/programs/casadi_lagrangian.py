"""The foot in CasADi from its Lagrangian, which CasADi differentiates: generated as C, compiled."""

from __future__ import annotations

from typing import Any

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import LAGRANGIAN, Foot, Prepared, Repeated
from benchmarks.peers.programs.casadi import DISTRIBUTION, KNOB, LADDER, METHOD, NAME, REASON, SHOWN, check, native

__all__ = ["DISTRIBUTION", "KNOB", "LADDER", "METHOD", "NAME", "REASON", "SHOWN", "check"]
INPUT = LAGRANGIAN


def function(foot: Foot) -> Any:
    """State to its derivative."""
    import casadi as ca

    x = ca.SX.sym("x", 4)
    q, u = x[:2], x[2:]
    energy = reduced_foot.lagrangian(foot, ca.vertsplit(q), ca.vertsplit(u), ca.cos, ca.sin)
    momentum = ca.gradient(energy, u)
    force = ca.gradient(energy, q) - ca.jtimes(momentum, q, u)
    solution = ca.solve(ca.jacobian(momentum, u), force)
    return ca.Function("f", [x], [ca.vertcat(u, solution)], {"cse": True})


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """DOP853 around the generated C."""
    return native(function(foot)).prepare(end, setting, lambda x: reduced_foot.positions(foot, x[:, 0], x[:, 1]))


def evaluation(foot: Foot) -> Repeated:
    """The generated C in a loop."""
    return native(function(foot)).repeated(100_000)
