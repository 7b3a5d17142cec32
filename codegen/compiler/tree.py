"""A tree of turns and slides as one straight-line function: its equations of motion in the coordinates of the joints.

The function serves every tree of the same steps: axes, lengths and masses are arguments of ``prepare``, which computes once what
depends on them alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.compiler.errors import NoKernelError
from codegen.compiler.straight import Lines
from codegen.compiler.trace import Node, Record, Text
from codegen.compiler.tree_equations import OF_GRAVITY, OF_LIMIT, OF_STEP, TreeEquations, moment_of_limit
from codegen.compiler.whole import DECORATOR, LANES, hoisted, of_parameters_alone

MAX_OPERATIONS = 600  # beyond it the polynomials take longer than a recursion over the bodies


def emit_tree(kinds: Sequence[str], parents: Sequence[int], key: str, limits: Sequence[int] = ()) -> str:
    """Text of the module for trees of these steps; ``key`` of the module, by which the runtime finds it.

    Parameters
    ----------
    kinds : sequence of str
        "turn" or "slide".
    parents : sequence of int
        The step that carries each; -1: the ground.
    key : str
    limits : sequence of int
        The step that each limit of motion restrains.

    Raises
    ------
    NoKernelError
        For trees whose equations are too large.
    """
    n, record = len(kinds), Record()
    equations = TreeEquations(record, kinds, parents)
    state = [record.input(f"y[{k}, n]") for k in range(2 * n)]
    forces, given = _forces(record, state, limits)
    accelerations, worst = equations.accelerations(state[:n], state[n:], forces)
    wanted = [*accelerations, worst]
    evaluated = {node.index for node in (*state, *given)}
    constants = hoisted(record, [node.index for node in wanted], of_parameters_alone(record, evaluated))
    rows = [*constants, *(node.index for node in given)]
    text = Text(record, "t", {m: f"c[{k}, n]" for k, m in enumerate(rows)})
    targets = [(f"out[{n + k}, n]", node) for k, node in enumerate(accelerations)]
    lines = text.write([*targets, ("worst[0, n]", worst)])
    if text.operations > MAX_OPERATIONS:
        raise NoKernelError(
            f"a tree of {n} steps takes {text.operations} operations in its own coordinates, limit {MAX_OPERATIONS}"
        )
    before = Text(record, "p")
    prepare = before.write([(f"c[{k}]", Node(record, m)) for k, m in enumerate(constants)])
    counted = before.operations, text.operations
    return _module(kinds, parents, key, limits, (prepare, lines), counted, (len(constants), len(rows)))


def _forces(record: Record, state: Sequence[Node], limits: Sequence[int]) -> tuple[list[Node], list[Node]]:
    """Forces along the coordinates, with the moments of limits, and the inputs that they follow from."""
    n = len(state) // 2
    given = [record.input(f"Q[{k}]") for k in range(n)]
    forces = list(given)
    for k, step in enumerate(limits):
        moment, of_limit = moment_of_limit(record, k, state[step], state[n + step])
        forces[step] = forces[step] + moment
        given += of_limit
    return forces, given


def _module(
    kinds: Sequence[str], parents: Sequence[int], key: str, limits: Sequence[int], texts: tuple[Lines, Lines],
    operations: tuple[int, int], sizes: tuple[int, int],
) -> str:  # fmt: skip
    """The module; texts and operations of its two functions; sizes: constants of parameters alone, and all."""
    n, (prepare, lines), (constants, rows) = len(kinds), texts, sizes
    steps = [f"{kind} on {'the ground' if p < 0 else f'step {p}'}" for kind, p in zip(kinds, parents, strict=True)]
    return (
        "\n".join(
            [
                f'"""The equations of motion of a tree of {n} steps in their coordinates: {", ".join(steps)}.',
                *(["", f"Joint limits restrain {_listed(limits)}."] if limits else []),
                '"""',
                "",
                *(["import math", ""] if any("math." in line for line in (*prepare, *lines)) else []),
                "from numba import carray, njit",
                "",
                f"KEY = {key!r}",
                "MADE_FROM = {}",
                f"STEPS = {n}",
                f"CONSTANTS = {rows}  # with forces and limits",
                f"LIMITS = {tuple(limits)}  # steps",
                f"LANES = {LANES}  # columns of ``lanes``",
                *_prepare(prepare, operations[0], n, constants, len(limits)),
                *_derivative(lines, operations[1], n),
                *_lanes(n, rows),
            ]
        )
        + "\n"
    )


def _listed(steps: Sequence[int]) -> str:
    return ", ".join(f"step {k}" for k in steps)


def _prepare(lines: Lines, operations: int, n: int, constants: int, limits: int) -> Lines:
    of_limits = [
        f"    c[{constants + n}:{constants + n + len(OF_LIMIT) * limits}] of each limit a, b, c, d: relative excess a q + b,",
        "    largest moment with the sign that q has outside (0: inactive), damping.",
    ]
    return [
        "",
        "",
        "def prepare(p, c):",
        f'    """Constants c that depend on the {OF_GRAVITY + OF_STEP * n} parameters p alone.  {operations} operations.',
        "",
        "    The others are left as they are:",
        f"    c[{constants}:{constants + n}] applied forces along the coordinates;",
        *(of_limits if limits else []),
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
