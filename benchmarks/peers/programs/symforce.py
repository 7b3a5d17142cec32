"""The foot in SymForce: C++ generated from the two reduced equations, compiled."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import HAND, Foot, Prepared, Repeated
from benchmarks.peers.native import Native, compiler

NAME, DISTRIBUTION, METHOD, INPUT = "SymForce", "symforce", "generated C++, DOP853", HAND
KNOB, LADDER, SHOWN = "tolerance", [10.0 ** (-k / 20) for k in range(80, 281)], [10.0**-k for k in range(5, 15)]
REASON = "takes equations; the user would have to write an algorithm for those of a chain"
check = compiler


def source(foot: Foot) -> str:
    """The generated function, and ``derivative`` that calls it."""
    import symforce

    symforce.set_epsilon_to_number(0.0)  # no divisor here can be zero
    import symforce.symbolic as sf
    import sympy
    from symforce import codegen
    from symforce.values import Values

    found = reduced_foot.equations(foot)
    symbols = (*found.speeds, *found.cosines, *found.sines, *found.moments)
    written = sympy.lambdify(symbols, list(found.accelerations), cse=True)

    q, u = sf.symbols("q1 q2"), sf.symbols("u1 u2")
    moments = reduced_foot.moments_of_limits(foot, q, sf.Max)
    first, second = written(*u, *(sf.cos(x) for x in q), *(sf.sin(x) for x in q), *moments)
    inputs = Values(q1=q[0], q2=q[1], u1=u[0], u2=u[1])
    made = codegen.Codegen(
        inputs=inputs, outputs=Values(first=first, second=second), config=codegen.CppConfig(), name="accelerations"
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = made.generate_function(folder, skip_directory_nesting=True)
        header = next(path for path in paths.generated_files if path.suffix == ".h")
        text = Path(header).read_text(encoding="utf-8")
    # Nothing of Eigen is used.
    text = text.replace("#pragma once", "").replace("#include <Eigen/Core>", "#include <cmath>")
    return text + (
        "\nstatic inline void derivative(const double *x, double *dx) {\n  dx[0] = x[2]; dx[1] = x[3];\n"
        "  sym::Accelerations<double>(x[0], x[1], x[2], x[3], dx + 2, dx + 3);\n}\n"
    )


def _native(foot: Foot) -> Native:
    return Native(source(foot), np.zeros(4))


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """DOP853 around the generated function."""
    return _native(foot).prepare(end, setting, lambda x: reduced_foot.positions(foot, x[:, 0], x[:, 1]))


def evaluation(foot: Foot) -> Repeated:
    """The generated function in a loop."""
    return _native(foot).repeated(100_000)
