"""The foot in heyoka: Taylor series of high order, compiled by LLVM from the two reduced equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import HAND, Floats, Foot, Prepared, Repeated

NAME, DISTRIBUTION, METHOD, INPUT = "heyoka", "heyoka", "Taylor series, LLVM", HAND
KNOB, LADDER, SHOWN = "tolerance", [10.0 ** (-k / 5) for k in range(10, 71)], [10.0**-k for k in range(2, 15, 2)]
REASON = "takes equations; the user would have to write an algorithm for those of a chain"
COLUMNS = 4096  # states per call


def _system(foot: Foot) -> tuple[list[Any], list[Any]]:
    """States and their derivatives as heyoka's expressions; the cosines and sines are shared."""
    import heyoka as hy

    found = reduced_foot.equations(foot)
    variables = hy.make_vars("q1", "q2", "u1", "u2")
    accelerations = [hy.from_sympy(expression) for expression in found.plain()]
    return list(variables), [variables[2], variables[3], *accelerations]


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """Adaptive steps; the tolerance sets the order."""
    return taylor(foot, *_system(foot), end, setting, outputs)


def taylor(
    foot: Foot, variables: list[Any], derivatives: list[Any], end: float, setting: float, outputs: int
) -> Prepared:
    """A run of the given equations."""
    import heyoka as hy

    integrator = hy.taylor_adaptive(
        list(zip(variables, derivatives, strict=True)), [0.0] * 4, tol=setting, fast_math=True
    )
    steps = 0

    def reset() -> None:
        integrator.time = 0.0
        integrator.state[:] = 0.0

    def run() -> None:
        nonlocal steps
        reset()
        steps = integrator.propagate_until(end)[3]

    def motion() -> tuple[Floats, Floats]:
        reset()
        times = np.linspace(0.0, end, outputs)
        states = integrator.propagate_grid(times)[-1]
        return times, reduced_foot.positions(foot, states[:, 0], states[:, 1])

    return Prepared(run, motion, lambda: steps)


def evaluation(foot: Foot) -> Repeated:
    """Many states per call, several at once in vector registers."""
    return side_by_side(*_system(foot))


def side_by_side(variables: list[Any], derivatives: list[Any]) -> Repeated:
    """Evaluation of the given equations for many states."""
    import heyoka as hy

    compiled = hy.cfunc(derivatives, variables)
    states = 0.1 * np.sin(np.arange(4.0 * COLUMNS)).reshape(4, COLUMNS)
    out = np.empty_like(states)
    return Repeated(lambda: [compiled(states, outputs=out) for _ in range(10)], 10 * COLUMNS)
