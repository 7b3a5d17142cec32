"""The foot in CasADi: the two reduced equations as expressions, generated as C, compiled."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import reduced_foot
from benchmarks.native import Native, compiler
from benchmarks.peer import HAND, Foot, Prepared, Repeated

NAME, DISTRIBUTION, METHOD, WRITTEN = "CasADi", "casadi", "generated C, DOP853", HAND
KNOB, LADDER, SHOWN = "tolerance", [10.0 ** (-k / 20) for k in range(80, 281)], [10.0**-k for k in range(5, 15)]
WHY = "takes equations; those of a chain would be an algorithm of the user's own"
check = compiler


def function(foot: Foot) -> Any:
    """State to its derivative."""
    import casadi as ca
    import sympy

    found = reduced_foot.equations(foot)
    x = ca.SX.sym("x", 4)
    symbols = (*found.speeds, *found.cosines, *found.sines)
    values = [x[2], x[3], ca.cos(x[0]), ca.cos(x[1]), ca.sin(x[0]), ca.sin(x[1])]
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
    """DOP853 around the generated C: CasADi generates C for methods of order 4 alone."""
    return native(function(foot)).prepare(end, setting, lambda x: reduced_foot.positions(foot, x[:, 0], x[:, 1]))


def evaluation(foot: Foot) -> Repeated:
    """The generated C in a loop."""
    return native(function(foot)).repeated(100_000)
