"""A tree whose coordinates rows of joints restrain, as one straight-line function: all that the choice of rows needs.

    M u' = Q + J^T f,    J u' + c = gamma

The function gives the accelerations without the rows, Phi, Phi', what these accelerations lack to gamma, the responses M^-1 J^T
and S = J M^-1 J^T.  Which rows are independent is found where it is called.

The kernels of the joints are called with nodes of an expression graph.  Parameters that are 0, 1 or -1 are constants; so rows
that all poses of a tree satisfy, such as those across the plane of a planar mechanism, have entries of 0 only, and are left out.
Vectors may be in axes of a pose in which many components are 0; the coordinates there are added to those of the state.
M and Q are polynomials of trees of turns and slides, which take fewer operations, and those of composite bodies of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from codegen.compiler.composite_bodies import equations_of
from codegen.compiler.errors import NoKernelError
from codegen.compiler.recorded_algebra import Elimination, Matrix, Vector, times
from codegen.compiler.sine import Trigonometry, cosine_and_sine
from codegen.compiler.straight import Lines
from codegen.compiler.text import quoted
from codegen.compiler.trace import Node, Record, Text, dot, recording
from codegen.compiler.tree_equations import OF_GRAVITY, OF_STEP, TreeEquations
from codegen.compiler.tree_kinematics import TreeMotion, euler_product, places_of
from codegen.compiler.whole import DECORATOR, hoisted, of_parameters_alone

# Beyond it the function takes long to compile, and a recursion over the bodies is hardly slower.
MAX_OPERATIONS = 10_000
OF_BODY = (
    5  # parameters of a body of a closing joint: arm (3), 1 / mass, 3 / trace of inertia; behind both bodies follows x
)
ROWS = 6  # most rows of a joint
UNREAD = "p"  # Euler parameters of a body whose joint is known not to read them
OF_POSE = 4  # parameters of a body whose Euler parameters its joint reads: those it has beside the axes of its step


class ClosingJoint(Protocol):
    """A joint whose rows restrain the coordinates."""

    kernel: Any  # ``evaluate`` of its module
    rows: int
    steps: tuple[int, int]  # that move its bodies i and j last; -1: the ground
    size: int  # of x
    vectors: Sequence[tuple[int, int]]  # place in x of the vectors that the bodies turn, and 0 or 1 for the body
    signals: Sequence[tuple[int, int]]  # place in x of the signals of a driver, and their number among all
    posed: tuple[bool, bool]  # whether it reads Euler parameters of its bodies; their parameters follow x


class RestrainedTree(Protocol):
    """Steps of a tree, and the joints that restrain their coordinates (``ClosingJoint``)."""

    @property
    def kinds(self) -> Sequence[str]:
        """Of the steps."""

    @property
    def parents(self) -> Sequence[int]:
        """The step that carries each."""

    @property
    def joints(self) -> Sequence[Any]:
        """The joints."""


class ClosedTree(RestrainedTree, Protocol):
    """The facts that determine the function of a tree with rows."""

    name: str
    key: str
    made_from: dict[str, str]
    constants: Sequence[float | None]  # by parameter: its value where it is a constant


@dataclass
class Row:
    """A row along the coordinates: J u' = right, with ``size`` if nothing held the bodies."""

    joint: int
    row: int
    Phi: Node
    Phi_dot: Node
    right: Node
    J: Vector
    size: Node


def emit_closed_tree(tree: ClosedTree) -> str:
    """Text of the module of a tree with rows.

    Raises
    ------
    NoKernelError
    """
    record, (q, u) = Record(), places_of(tree.kinds)
    state = [record.input(f"y[{k}]") for k in range(u[-1])]
    Q = [record.input(f"Q[{k}]") for k in range(u[-1] - u[0])]
    signals = {n: [record.input(f"s[{n}, {c}]") for c in range(3)] for j in tree.joints for _, n in j.signals}
    parameters = [
        record.input(f"p[{k}]") if value is None else record.constant(value) for k, value in enumerate(tree.constants)
    ]
    offsets = parameters[_of_joints(tree) - len(tree.kinds) : _of_joints(tree)]
    moved = list(state)
    for kind, place, offset in zip(tree.kinds, q, offsets, strict=False):
        if kind in ("turn", "slide"):
            moved[place] = state[place] + offset
    rows, outputs = _recorded(tree, record, parameters, moved, Q, signals)
    unread = record.input(UNREAD)
    evaluated = {node.index for node in (*state, *Q, unread, *(n for three in signals.values() for n in three))}
    constants = hoisted(record, [node.index for node in outputs], of_parameters_alone(record, evaluated))
    text = Text(record, "t", {m: f"c[{k}]" for k, m in enumerate(constants)})
    lines = text.write([(f"out[{k}]", node) for k, node in enumerate(outputs)])
    if text.operations > MAX_OPERATIONS:
        raise NoKernelError(
            f"a tree of {len(tree.kinds)} steps with {len(rows)} rows takes {text.operations} operations in its own coordinates, "
            f"limit {MAX_OPERATIONS}"
        )
    if unread.index in text.read:
        raise NoKernelError(f"a joint of {tree.name} reads Euler parameters, which its tree does not give")
    before = Text(record, "p")
    prepare = before.write([(f"c[{k}]", Node(record, m)) for k, m in enumerate(constants)])
    places = [(row.joint, row.row) for row in rows]
    return _module(tree, places, len(outputs), len(constants), (prepare, lines), (before.operations, text.operations))


def _recorded(
    tree: ClosedTree, record: Record, parameters: Vector, state: Vector, Q: Vector, signals: dict[int, Vector]
) -> tuple[list[Row], Vector]:
    """The rows, and all outputs in order."""
    M, right, motion = equations_of_tree(tree, record, parameters, state, Q)
    elimination = Elimination(M)
    free = elimination.solution(elimination.half(right))
    closing = ClosingRows(tree, record, parameters, motion())
    rows = [row for row in closing.rows(signals) if not _always_satisfied(row)]
    halves, responses, zero = [], [], record.constant(0.0)
    for row in rows:
        halves.append(elimination.half(row.J))
        responses.append(elimination.solution(halves[-1]))
    S = [zero + dot(elimination.scaled(halves[r]), halves[q]) for r in range(len(rows)) for q in range(r + 1)]
    worst = elimination.worst() + zero
    lacking = [row.right - dot(row.J, free) for row in rows]
    outputs = [
        worst, *free,
        *(row.Phi for row in rows), *(row.Phi_dot for row in rows), *lacking, *(row.size for row in rows),
        *S, *(value for response in responses for value in response),
    ]  # fmt: skip
    return rows, outputs


def equations_of_tree(
    tree: RestrainedTree, record: Record, parameters: Vector, state: Vector, Q: Vector,
    trigonometry: Trigonometry = cosine_and_sine,
) -> tuple[Matrix, Vector, Callable[[], TreeMotion]]:  # fmt: skip
    """M and right-hand side of M u' = right, and the motion of the steps."""
    n, poses = len(tree.kinds), any(posed for joint in tree.joints for posed in joint.posed)
    made = partial(TreeMotion, record, tree.kinds, tree.parents, parameters, state, poses=poses)
    if {"turn", "slide"}.issuperset(tree.kinds):
        equations = TreeEquations(record, tree.kinds, tree.parents, parameters)
        variables = equations.variables(state[:n], trigonometry)
        return *equations.equations(variables, state[n:], Q), partial(made, variables)
    none = (record.constant(1.0), record.constant(0.0))
    places = zip(tree.kinds, places_of(tree.kinds)[0], strict=False)
    motion = made([trigonometry(state[q]) if kind == "turn" else none for kind, q in places])
    return *equations_of(motion, Q), lambda: motion


def _of_joints(tree: RestrainedTree) -> int:
    """Place of the parameters of the closing joints, behind those of the steps and the angles added to the coordinates."""
    return OF_GRAVITY + (OF_STEP + 1) * len(tree.kinds)


def _always_satisfied(row: Row) -> bool:
    """All poses of the tree satisfy the row."""
    return row.Phi.constant == 0.0 and all(value.constant == 0.0 for value in row.J)


class ClosingRows:
    """The rows of the closing joints, for the motion of a tree."""

    def __init__(self, tree: RestrainedTree, record: Record, parameters: Vector, motion: TreeMotion) -> None:
        self.tree, self.record, self.zero = tree, record, record.constant(0.0)
        self.parameters, self.motion = parameters, motion

    def rows(self, signals: dict[int, Vector]) -> list[Row]:
        """Of all closing joints."""
        found, at = [], _of_joints(self.tree)
        for number, joint in enumerate(self.tree.joints):
            own = self.parameters[at : at + 2 * OF_BODY + joint.size + OF_POSE * sum(joint.posed)]
            found += self._rows(number, joint, own, signals)
            at += len(own)
        return found

    def _rows(self, number: int, joint: ClosingJoint, own: Vector, signals: dict[int, Vector]) -> list[Row]:
        """The rows of a joint; own: its parameters."""
        frames = [self.motion.frame(step) for step in joint.steps]
        arms = [times(frame.A, own[OF_BODY * side : OF_BODY * side + 3]) for side, frame in enumerate(frames)]
        weights = [own[OF_BODY * side + 3 : OF_BODY * side + 5] for side in range(2)]
        x = list(own[2 * OF_BODY : 2 * OF_BODY + joint.size])
        poses = [self._poses(joint, side, own, frame.p) for side, frame in enumerate(frames)]
        for place, side in joint.vectors:
            x[place : place + 3] = times(frames[side].A, x[place : place + 3])
        for place, n in joint.signals:
            x[place : place + 3] = signals[n]
        states, pushed = [], []
        for frame, arm, p in zip(frames, arms, poses, strict=True):
            point, v, a = frame.carried(arm)
            states.append([*point, *p, *v, *frame.omega])
            pushed += [*a, *frame.alpha]
        Phi, Phi_dot, gamma = (np.full(ROWS, self.zero, object) for _ in range(3))
        D = np.full((ROWS, 12), self.zero, object)
        recording(joint.kernel)(*states, x, Phi, Phi_dot, D, gamma)
        found = []
        for r in range(joint.rows):
            entries = [entry + self.zero for entry in D[r]]
            size = self.zero
            for side in range(2):
                linear, angular = entries[6 * side : 6 * side + 3], entries[6 * side + 3 : 6 * side + 6]
                size = size + dot(linear, linear) * weights[side][0] + dot(angular, angular) * weights[side][1]
            right = gamma[r] + self.zero - dot(entries, pushed)
            J = self._along(joint, entries, arms)
            found.append(Row(number, r, Phi[r] + self.zero, Phi_dot[r] + self.zero, right, J, size))
        return found

    def _poses(self, joint: ClosingJoint, side: int, own: Vector, of_step: Vector) -> Vector:
        """Euler parameters of a body, of unit length."""
        if not joint.posed[side]:
            return [self.record.input(UNREAD)] * 4
        first = 2 * OF_BODY + joint.size + OF_POSE * sum(joint.posed[:side])
        p = euler_product(of_step, own[first : first + OF_POSE])
        length = dot(p, p).call("sqrt")
        return [e / length for e in p]

    def _along(self, joint: ClosingJoint, D: Vector, arms: Sequence[Vector]) -> Vector:
        """A row along the coordinates."""
        J = [self.zero] * (self.motion.u[-1] - self.motion.u[0])
        # A step that moves both bodies as one changes rows too, where Phi is not 0.
        for side, last in enumerate(joint.steps):
            self.motion.along(last, arms[side], D[6 * side : 6 * side + 3], D[6 * side + 3 : 6 * side + 6], J)
        return J


def _module(
    tree: ClosedTree, rows: Sequence[tuple[int, int]], outputs: int, constants: int, texts: tuple[Lines, Lines],
    operations: tuple[int, int],
) -> str:  # fmt: skip
    """The module; texts and operations of its two functions."""
    n, signals = len(tree.kinds), sum(len(joint.signals) for joint in tree.joints)
    (_, u), (prepare, lines) = places_of(tree.kinds), texts
    return (
        "\n".join(
            [
                quoted(f"The equations of motion of {tree.name}, whose coordinates rows of joints restrain."),
                "",
                *(["import math", ""] if any("math." in line for line in (*prepare, *lines)) else []),
                "from numba import carray, njit",
                "",
                f"KEY = {tree.key!r}",
                "MADE_FROM = {",
                *(f"    {name!r}: {text!r}," for name, text in tree.made_from.items()),
                "}",
                f"STEPS = {n}",
                f"ROWS = {tuple(rows)}  # joint, of those that are no steps, and its row; the others hold in all poses",
                f"CONSTANTS = {constants}",
                f"OUTPUTS = {outputs}",
                "",
                "",
                "def prepare(p, c):",
                f'    """Constants c that depend on the parameters p alone.  {operations[0]} operations."""',
                *(f"    {line}" for line in prepare or ["pass"]),
                "",
                "",
                DECORATOR,
                "def evaluate(y, Q, s, c, out):",
                '    """What coordinates and rates y determine, with forces Q along the coordinates and signals s of drivers.',
                "",
                "    out: sum of the squares of (diagonal entry / pivot) of M; accelerations without rows; of the rows Phi,",
                "    Phi', what these accelerations lack to gamma, sizes; S = J M^-1 J^T by rows up to the diagonal; M^-1 J^T,",
                "    row by row of J.",
                "",
                f"    {operations[1]} operations.",
                '    """',
                *(f"    {line}" for line in lines),
                "",
                "",
                "def entry(y, Q, s, c, out):",
                '    """``evaluate`` by addresses."""',
                f"    y, Q, s = carray(y, ({u[-1]},)), carray(Q, ({u[-1] - u[0]},)), carray(s, ({max(signals, 1)}, 3))",
                f"    evaluate(y, Q, s, carray(c, ({max(constants, 1)},)), carray(out, ({outputs},)))",
            ]
        )
        + "\n"
    )
