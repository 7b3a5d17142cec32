"""A tree of turns and slides as one straight-line function: its equations of motion in the coordinates of the joints.

The function serves every tree of the same steps: axes, lengths and masses are arguments of ``prepare``, which computes once what
depends on them alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.compiler.errors import DefinitionError
from codegen.compiler.straight import Lines
from codegen.compiler.trace import Node, Record, Text
from codegen.compiler.tree_equations import OF_GRAVITY, OF_STEP, TreeEquations
from codegen.compiler.whole import DECORATOR, LANES, hoisted, of_parameters_alone

MAX_OPERATIONS = 600  # beyond it the polynomials take longer than a recursion over the bodies


class TooLargeError(DefinitionError):
    """The polynomials of a tree are too large."""


def emit_tree(kinds: Sequence[str], parents: Sequence[int], key: str) -> str:
    """Text of the module for trees of these steps; ``key`` of the module, by which the runtime finds it.

    Raises
    ------
    TooLargeError
        For trees whose polynomials are too large.
    """
    n, record = len(kinds), Record()
    equations = TreeEquations(record, kinds, parents)
    state = [record.input(f"y[{k}, n]") for k in range(2 * n)]
    accelerations, worst = equations.accelerations(state[:n], state[n:])
    wanted = [*accelerations, worst]
    evaluated = {node.index for node in state}
    constants = hoisted(record, [node.index for node in wanted], of_parameters_alone(record, evaluated))
    text = Text(record, "t", {m: f"c[{k}, n]" for k, m in enumerate(constants)})
    targets = [(f"out[{n + k}, n]", node) for k, node in enumerate(accelerations)]
    lines = text.write([*targets, ("worst[0, n]", worst)])
    if text.operations > MAX_OPERATIONS:
        raise TooLargeError(
            f"a tree of {n} steps takes {text.operations} operations in its own coordinates, limit {MAX_OPERATIONS}"
        )
    before = Text(record, "p")
    prepare = before.write([(f"c[{k}]", Node(record, m)) for k, m in enumerate(constants)])
    steps = [f"{kind} on {'the ground' if p < 0 else f'step {p}'}" for kind, p in zip(kinds, parents, strict=True)]
    return (
        "\n".join(
            [
                f'"""The equations of motion of a tree of {n} steps in their coordinates: {", ".join(steps)}."""',
                "",
                *(["import math", ""] if any("math." in line for line in (*prepare, *lines)) else []),
                "from numba import carray, njit",
                "",
                f"KEY = {key!r}",
                "MADE_FROM = {}",
                f"STEPS = {n}",
                f"CONSTANTS = {len(constants)}",
                f"LANES = {LANES}  # columns of ``lanes``",
                *_prepare(prepare, before.operations, n),
                *_derivative(lines, text.operations, n),
                *_lanes(n, len(constants)),
                *_lanes(n, len(constants)),
            ]
        )
        + "\n"
    )


def _prepare(lines: Lines, operations: int, n: int) -> Lines:
    return [
        "",
        "",
        "def prepare(p, c):",
        f'    """Constants c that depend on the {OF_GRAVITY + OF_STEP * n} parameters p alone.  {operations} operations.',
        "",
        "    p: gravity (3), then for each step axis (3), way from the point of the step before (3), and mass, moment (3) and",
        "    inertia (xx, xy, xz, yy, yz, zz) about its point of what it carries.",
        '    """',
        *(f"    {line}" for line in lines or ["pass"]),
    ]


def _derivative(lines: Lines, operations: int, n: int) -> Lines:
    return [
        "",
        "",
        DECORATOR,
        "def derivative(n, y, c, out, worst):",
        '    """Derivative of column n, coordinates and then rates; worst: sum of the squares of (diagonal entry / pivot).',
        "",
        f"    {operations} operations.",
        '    """',
        *(f"    {line}" for line in lines),
        *(f"    out[{k}, n] = y[{n + k}, n]" for k in range(n)),
    ]


def _lanes(n: int, constants: int) -> Lines:
    return [
        "",
        "",
        "def lanes(y, c, out, worst):",
        f'    """``derivative`` for {LANES} columns side by side, by addresses."""',
        f"    y, out = carray(y, ({2 * n}, {LANES})), carray(out, ({2 * n}, {LANES}))",
        f"    c, worst = carray(c, ({max(constants, 1)}, {LANES})), carray(worst, (1, {LANES}))",
        f"    for n in range({LANES}):",
        "        derivative(n, y, c, out, worst)",
    ]
