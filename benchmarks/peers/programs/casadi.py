"""The foot in CasADi: the two reduced equations as expressions, generated as C, compiled."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import HAND, Foot, Prepared, Repeated
from benchmarks.peers.native import Native, compiler

NAME, DISTRIBUTION, METHOD, INPUT = "CasADi", "casadi", "generated C, DOP853", HAND
KNOB, LADDER, SHOWN = "tolerance", [10.0 ** (-k / 20) for k in range(80, 281)], [10.0**-k for k in range(5, 15)]
REASON = "takes equations; the user would have to write an algorithm for those of a chain"
check = compiler


def function(foot: Foot) -> Any:
    """State to its derivative."""
    import casadi as ca
    import sympy

    found = reduced_foot.equations(foot)
    x = ca.SX.sym("x", 4)
    symbols = (*found.speeds, *found.cosines, *found.sines, *found.moments)
    values = [x[2], x[3], ca.cos(x[0]), ca.cos(x[1]), ca.sin(x[0]), ca.sin(x[1])]
    values += reduced_foot.moments_of_limits(foot, (x[0], x[1]), ca.fmax)
    mass = sympy.lambdify(symbols, list(found.mass), cse=True)(*values)
    force = sympy.lambdify(symbols, list(found.force), cse=True)(*values)
    solution = ca.solve(ca.vertcat(ca.horzcat(*mass[:2]), ca.horzcat(*mass[2:])), ca.vertcat(*force))
    return ca.Function("f", [x], [ca.vertcat(x[2], x[3], solution)], {"cse": True})


def source(f: Any) -> str:
    """The generated C, and ``derivative`` that calls it."""
    import casadi as ca

    generator = ca.CodeGenerator("f.cpp", {"cpp": True, "with_header": False})
    generator.add(f)
    with tempfile.TemporaryDirectory() as folder:
        generator.generate(folder + os.sep)
        text = (Path(folder) / "f.cpp").read_text(encoding="utf-8")
    return text + (
        "\nstatic inline void derivative(const double *x, double *dx) {\n"
        "  const double *arg[1] = {x}; double *res[1] = {dx};\n  f(arg, res, 0, 0, 0);\n}\n"
    )


def native(f: Any) -> Native:
    """The generated C, compiled."""
    return Native(source(f), np.zeros(4))


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """DOP853 around the generated C: CasADi generates C only for methods of order 4."""
    return native(function(foot)).prepare(end, setting, lambda x: reduced_foot.positions(foot, x[:, 0], x[:, 1]))


def evaluation(foot: Foot) -> Repeated:
    """The generated C in a loop."""
    return native(function(foot)).repeated(100_000)
