"""A model as one straight-line function: all joints, the mass matrix and the factorisation, with structural zeros left out.

The kernels of the joints are called with numbers that write themselves down (``codegen.trace``), and so is the elimination
that follows:

1. Bodies fixed to the ground do not move: their vectors are constants.
2. A body that six rows lock to one other body moves with it:  a_b = X a_p + x.  Its mass goes to the other.
3. What is left is solved as the runtime does: by the Schur complement S = D M^-1 D^T, with one step of refinement.

Parameters stay arguments.  Only zeros and ones among them are taken for what they are, which is part of a model's key; what
depends on parameters alone is computed by the module's function ``prepare``, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from codegen.calculus import DefinitionError
from codegen.trace import Number, Record, Text, dot, forward_derivatives, recording

# Inlined, a loop over columns becomes vector instructions; products and sums may be fused, and nothing else be changed.
DECORATOR = '@njit(error_model="numpy", fastmath={"contract"}, _nrt=False, inline="always")'
MOST_OPERATIONS = 30_000
LANES = 16  # columns side by side; of eight the compiler would unroll the loop in place of making it one of vectors
STATE = 13  # of a body: r (3), p (4), v (3), omega (3)
UNIT = (1.0, -1.0)
LARGEST_BLOCK = 3  # rows of a lock that have no pivot of 1 are solved by their adjugate

Vector = list[Number]
Matrix = list[list[Number]]
Lock = tuple[int, int, Matrix, Vector]  # body, the one that it is locked to, X, x
Row = tuple[dict[int, Vector], Number]  # coefficients of the accelerations of bodies, right-hand side


class Model(Protocol):
    """What has to be known of a system.  Body 0 is the ground."""

    name: str
    key: str  # two models with the same key have the same kernel
    made_from: Mapping[str, str]  # digests of the kernels' texts, by module
    file: Path  # where a study's is to lie
    fixed: Sequence[bool]  # (bodies + 1,)
    joints: Sequence[tuple[Any, int, int, Sequence[int]]]  # in order: kernel, bodies i and j, rows that are kept
    vectors: Sequence[tuple[int, int, int]]  # joint, place in x, body: in the order of "vector_local"
    signals: Sequence[tuple[int, int]]  # joint and place in x of the signals of drivers
    loaded: bool  # accelerations without joints come from outside
    parameters: Mapping[str, np.ndarray[Any, np.dtype[np.float64]]]
    folded: Mapping[str, np.ndarray[Any, np.dtype[np.bool_]]]  # which of them are taken for what they are
    rotation: Callable[..., Any]
    euler_rates: Callable[..., Any]


def emit_model(model: Model) -> str:
    """Text of the module of a model."""
    recorded = _Whole(model)
    derivative, worst = recorded.derivative()
    record = recorded.record
    early = _early(record, recorded.inputs)
    needed = _border(record, [n.number for _, n in derivative] + [worst.number], early)
    constants = [(f"c[{k}]", Number(record, n)) for k, n in enumerate(needed)]
    before = Text(record, "p")
    prepare = before.write(constants)
    text = Text(record, "t", {n: f"c[{k}, n]" for k, n in enumerate(needed)})
    lines = text.write([*derivative, ("worst[0, n]", worst)])
    if text.operations > MOST_OPERATIONS:
        raise DefinitionError(
            f"system '{model.name}' takes {text.operations} operations, limit {MOST_OPERATIONS}, beyond which one function would "
            "compile for minutes; leave it to the general evaluation, whose cost per body does not grow"
        )
    size = STATE * (len(model.fixed) - 1)
    uses_math = any("math." in line for line in (*prepare, *lines))
    lines = [
        f'"""The equations of motion of {model.name} in one function."""',
        "",
        *(["import math", ""] if uses_math else []),
        "from numba import carray, njit",
        "",
        f"KEY = {model.key!r}",
        "MADE_FROM = {",
        *(f"    {name!r}: {text!r}," for name, text in model.made_from.items()),
        "}",
        f"BODIES = {len(model.fixed) - 1}",
        f"CONSTANTS = {len(needed)}",
        f"LANES = {0 if model.loaded or model.signals else LANES}  # columns of ``lanes``, 0 where there is none",
        f"LOADED = {model.loaded}  # accelerations without joints come from outside",
        "# Where the parameters stand in a system's tables.",
        "PARAMETERS = (",
        *(f"    ({name!r}, {index})," for name, index in recorded.places),
        ")",
        "",
        "",
        "def prepare(p, c):",
        f'    """What depends on the parameters alone.  {before.operations} operations."""',
        *(f"    {line}" for line in prepare or ["pass"]),
        "",
        "",
        DECORATOR,
        "def derivative(n, y, f, s, c, out, worst):",
        '    """State derivative of column n; worst: squares of sizes of rows over their pivots, summed.',
        "",
        f"    {text.operations} operations.",
        '    """',
        *(f"    {line}" for line in lines),
        "",
        "",
        "def entry(y, f, s, c, out, worst):",
        '    """The same by the addresses of y, free accelerations, signals, constants, outputs."""',
        f"    y, out = carray(y, ({size}, 1)), carray(out, ({size}, 1))",
        f"    f, s = carray(f, ({len(model.fixed)}, 6)), carray(s, ({max(len(model.signals), 1)}, 3))",
        f"    derivative(0, y, f, s, carray(c, ({max(len(needed), 1)}, 1)), out, carray(worst, (1, 1)))",
    ]
    if not (model.loaded or model.signals):
        seeds = {n: record.input(f"c[{len(needed) + k}, n]") for k, n in enumerate(needed)}
        seeds |= {n: record.input(f"y[{size + k}, n]") for k, n in recorded.state_inputs.items()}
        moves = forward_derivatives(record, [value for _, value in derivative], seeds)
        moving = Text(record, "t", {n: f"c[{k}, n]" for k, n in enumerate(needed)})
        moved = moving.write(
            [*derivative, *((f"out[{size + k}, n]", move) for k, move in enumerate(moves)), ("worst[0, n]", worst)]
        )
        lines += _lanes("lanes", "derivative(n, y, c, c, c, out, worst)", size, len(needed), "The same")
        lines += [
            "",
            "",
            DECORATOR,
            "def moved_derivative(n, y, c, out, worst):",
            '    """State derivative, and how it moves when state and constants move as their second halves tell.',
            "",
            f"    {moving.operations} operations.",
            '    """',
            *(f"    {line}" for line in moved),
        ]
        lines += _lanes("moved", "moved_derivative(n, y, c, out, worst)", 2 * size, 2 * len(needed), "The latter")
    return "\n".join(lines) + "\n"


def _lanes(name: str, call: str, size: int, constants: int, what: str) -> list[str]:
    """The entry that calls a function for all columns."""
    return [
        "",
        "",
        f"def {name}(y, c, out, worst):",
        f'    """{what} for {LANES} columns side by side, by addresses."""',
        f"    y, out = carray(y, ({size}, {LANES})), carray(out, ({size}, {LANES}))",
        f"    c, worst = carray(c, ({max(constants, 1)}, {LANES})), carray(worst, (1, {LANES}))",
        f"    for n in range({LANES}):",
        f"        {call}",
    ]


def _early(record: Record, inputs: set[int]) -> list[bool]:
    """Which numbers depend on nothing but parameters."""
    early: list[bool] = []
    for n, operation in enumerate(record.operations):
        known = operation[0] == "constant" or (operation[0] == "input" and n not in inputs)
        operands = record.operands(n)
        early.append(known or (bool(operands) and all(early[o] for o in operands)))
    return early


def _border(record: Record, wanted: Sequence[int], early: Sequence[bool]) -> list[int]:
    """The numbers known early that the others use, in the order in which they were made."""
    found, seen, stack = set(), set(wanted), list(wanted)
    while stack:
        n = stack.pop()
        if early[n]:
            if record.operations[n][0] != "constant":
                found.add(n)
            continue
        for o in record.operands(n):
            if o not in seen:
                seen.add(o)
                stack.append(o)
    return sorted(found)


class _Whole:
    """The record of one evaluation of a model."""

    def __init__(self, model: Model) -> None:
        self.model, self.record = model, Record()
        self.zero, self.one = self.record.constant(0.0), self.record.constant(1.0)
        self.places: list[tuple[str, tuple[int, ...]]] = []  # of the parameters
        self._parameter: dict[tuple[str, tuple[int, ...]], Number] = {}
        self.inputs: set[int] = set()
        self.state_inputs: dict[int, int] = {}  # of the numbers of the state that is read
        self.state, self.A = self._bodies()
        self.free = [b for b, fixed in enumerate(model.fixed) if not fixed]

    def parameter(self, name: str, *index: int) -> Number:
        """A parameter, or what it is if that is to be relied on."""
        if self.model.folded[name][index]:
            return self.record.constant(float(self.model.parameters[name][index]))
        if (name, index) not in self._parameter:
            self._parameter[name, index] = self.record.input(f"p[{len(self.places)}]")
            self.places.append((name, index))
        return self._parameter[name, index]

    def input(self, text: str) -> Number:
        """What is read at every evaluation."""
        number = self.record.input(text)
        self.inputs.add(number.number)
        return number

    def _bodies(self) -> tuple[list[Vector], list[np.ndarray[Any, Any]]]:
        """States and rotation matrices of all bodies."""
        states, rotations = [], []
        for b, fixed in enumerate(self.model.fixed):
            if fixed:
                state = [self.parameter("pose", b, k) for k in range(7)] + 6 * [self.zero]
            else:
                first = STATE * (b - 1)
                state = [self.input(f"y[{first + k}, n]") for k in range(STATE)]
                self.state_inputs |= {first + k: number.number for k, number in enumerate(state)}
            A = np.full((3, 3), self.zero, object)
            if b > 0:
                recording(self.model.rotation)(state[3:7], A)
            else:
                A[range(3), range(3)] = self.one
            states.append(state)
            rotations.append(A)
        return states, rotations

    def rows(self) -> list[Row]:
        """The rows D v' = gamma - 2 alpha Phi' - beta^2 Phi of all joints that hold a body that moves."""
        model = self.model
        x = [
            [self.parameter("x", k, c) for c in range(model.parameters["x"].shape[1])] for k in range(len(model.joints))
        ]
        for n, (k, place, body) in enumerate(model.vectors):
            local = [self.parameter("vector_local", n, c) for c in range(3)]
            x[k][place : place + 3] = [dot(row, local) + self.zero for row in self.A[body]]
        for n, (k, place) in enumerate(model.signals):
            x[k][place : place + 3] = [self.input(f"s[{n}, {c}]") for c in range(3)]
        alpha, beta = self.parameter("alpha"), self.parameter("beta")
        rows: list[Row] = []
        for k, (kernel, i, j, kept) in enumerate(model.joints):
            if model.fixed[i] and model.fixed[j]:
                continue
            Phi, Phi_dot, gamma = (np.full(6, self.zero, object) for _ in range(3))
            D = np.full((6, 12), self.zero, object)
            recording(kernel)(self.state[i], self.state[j], x[k], Phi, Phi_dot, D, gamma)
            for r in kept:
                sides = {
                    b: [d + self.zero for d in D[r, 6 * s : 6 * s + 6]]
                    for s, b in enumerate((i, j))
                    if not model.fixed[b]
                }
                rows.append((sides, gamma[r] - 2.0 * alpha * Phi_dot[r] - beta * beta * Phi[r] + self.zero))
        return rows

    def derivative(self) -> tuple[list[tuple[str, Number]], Number]:
        """The state derivative with its places, and the squares of rows' sizes in S over their pivots, summed."""
        rows = self.rows()
        locks, ratios = self._lock(rows)
        groups = {b: _Group(self, b) for b in self.free}
        for b, parent, X, x in locks:
            if parent:
                groups[parent].take(groups[b], X, x)
            del groups[b]
        for group in groups.values():
            group.factorise()
        solution = self._solve(rows, groups, ratios)
        for b, parent, X, x in reversed(locks):
            solution[b] = [dot(X[c], solution[parent]) + x[c] for c in range(6)] if parent else x
        targets = []
        for b in range(1, len(self.model.fixed)):
            values = STATE * [self.zero]
            if b in solution:
                state, p_dot = self.state[b], np.full(4, self.zero, object)
                recording(self.model.euler_rates)(state[3:7], state[10:13], p_dot)
                values = [*state[7:10], *p_dot, *solution[b]]
            targets += [(f"out[{STATE * (b - 1) + k}, n]", value) for k, value in enumerate(values)]
        return targets, self.zero + sum(ratio * ratio for ratio in ratios)

    def _lock(self, rows: list[Row]) -> tuple[list[Lock], list[Number]]:
        """Bodies that six rows lock to one other body, or to none that moves (0).  The rows go, and the bodies in others."""
        locks: list[Lock] = []
        ratios: list[Number] = []
        waiting = list(self.free)
        while waiting:
            lock = next((found for b in waiting if (found := self._lock_of(b, rows, ratios))), None)
            if lock is None:
                break
            b, parent, X, x = lock
            locks.append(lock)
            waiting.remove(b)
            rows[:] = [self._without(row, lock) for row in rows if set(row[0]) != {b, parent} - {0}]
        return locks, ratios

    def _lock_of(self, b: int, rows: list[Row], ratios: list[Number]) -> Lock | None:
        for parent in sorted({o for sides, _ in rows if b in sides for o in sides if o != b} | {0}):
            own = [row for row in rows if set(row[0]) == {b, parent} - {0}]
            if len(own) == 6 and (solved := self._solve_six(own, b, parent, ratios)):
                return b, parent, *solved
        return None

    def _without(self, row: Row, lock: Lock) -> Row:
        """A row of which a locked body is one side, on the body that it is locked to."""
        sides, rhs = row
        b, parent, X, x = lock
        if b not in sides:
            return row
        rest = {o: d for o, d in sides.items() if o != b}
        if parent:
            through = [dot(sides[b], [X[k][c] for k in range(6)]) + self.zero for c in range(6)]
            rest[parent] = [a + d for a, d in zip(rest.get(parent, 6 * [self.zero]), through, strict=True)]
        return rest, rhs - dot(sides[b], x)

    def _solve_six(self, own: list[Row], b: int, parent: int, ratios: list[Number]) -> tuple[Matrix, Vector] | None:
        """X and x of  D_b a_b = rhs - D_p a_p  by pivots that are 1, and the rest by its adjugate; None if too much is left."""
        width = 6 if parent else 0
        M = [[*sides[b], *(-d for d in sides.get(parent, width * [self.zero])), rhs] for sides, rhs in own]
        done: list[tuple[int, int]] = []
        left, columns = list(range(6)), list(range(6))
        while pivot := next(((i, c) for i in left for c in columns if M[i][c].constant in UNIT), None):
            i, c = pivot
            left.remove(i)
            columns.remove(c)
            done.append(pivot)
            M[i] = [value * M[i][c] for value in M[i]]
            for o in (o for o in range(6) if o != i):
                factor = M[o][c]
                M[o] = [a - factor * value for a, value in zip(M[o], M[i], strict=True)]
        if len(left) > LARGEST_BLOCK:
            return None
        R = [[M[i][c] for c in columns] for i in left]
        adjugate, determinant = _adjugate(R, self.one)
        if determinant.constant == 0.0:
            return None
        inverse = 1.0 / determinant
        if left:
            # The rows' lengths over the volume between them, squared: what their pivots in S would tell together.
            lengths = self.one
            for row in R:
                lengths = lengths * dot(row, row)
            ratios.append(lengths * inverse * inverse)
        solved: list[Vector] = [[] for _ in range(6)]
        for q in range(6, 7 + width):
            right = [M[i][q] for i in left]
            part = self._unit(R, right) or [dot(row, right) * inverse for row in adjugate]
            for c, value in zip(columns, part, strict=True):
                solved[c].append(value)
            for i, c in done:
                solved[c].append(M[i][q] - dot([M[i][k] for k in columns], part))
        return [row[:width] for row in solved], [row[width] for row in solved]

    def _unit(self, R: Matrix, right: Vector) -> Vector | None:
        """The solution where the right-hand side is zero, or a column of R or its negative, as it is of a rigid motion."""
        if all(value.constant == 0.0 for value in right):
            return [self.zero for _ in right]
        for c in range(len(R)):
            for sign in UNIT:
                if all((R[i][c] * sign).same(value) for i, value in enumerate(right)):
                    return [self.record.constant(sign) if k == c else self.zero for k in range(len(R))]
        return None

    def _solve(self, rows: list[Row], groups: Mapping[int, _Group], ratios: list[Number]) -> dict[int, Vector]:
        """Accelerations in global axes, with one step of refinement on the residual of the rows."""
        rows = [({b: groups[b].inward(d) for b, d in sides.items()}, rhs) for sides, rhs in rows]
        half = [{b: groups[b].half(d) for b, d in sides.items()} for sides, _ in rows]
        S = [
            [self.zero + sum(dot(half[i][b][0], half[j][b][1]) for b in half[i] if b in half[j]) for j in range(i + 1)]
            for i in range(len(rows))
        ]
        L, inverse = factors(S)
        ratios += [S[k][k] * inverse[k] for k in range(len(rows))]
        u = {b: group.accelerations() for b, group in groups.items()}
        for _ in range(2 if rows else 0):
            right = [sum(dot(d, u[b]) for b, d in sides.items()) - rhs for sides, rhs in rows]
            lam = backward(L, [a * b for a, b in zip(forward(L, right), inverse, strict=True)])
            for b, group in groups.items():
                holding = [k for k in range(len(rows)) if b in half[k]]
                push = [
                    self.zero + dot([half[k][b][1][c] for k in holding], [lam[k] for k in holding]) for c in range(6)
                ]
                u[b] = [a - d for a, d in zip(u[b], group.whole_of(push), strict=True)]
        return {b: groups[b].outward(a) for b, a in u.items()}


class _Group:
    """A body with those that are locked to it: its mass matrix (6, 6) and the forces on it.

    A body alone is taken in its own axes, where its mass matrix is constant; one with others in global axes.
    """

    def __init__(self, whole: _Whole, body: int) -> None:
        self.whole, self.body, self.A = whole, body, whole.A[body]
        zero = whole.zero
        self.alone = True
        self.mass = whole.parameter("mass", body)
        self.J = [[whole.parameter("inertia", body, r, c) for c in range(3)] for r in range(3)]
        self.inverse = [[whole.parameter("inertia_inverse", body, r, c) for c in range(3)] for r in range(3)]
        if whole.model.loaded:
            free = [whole.input(f"f[{body}, {k}]") for k in range(6)]
            self.a, spin = free[:3], self.turned(free[3:])
            self.torque = [dot(row, spin) + zero for row in self.J]
            self.spin = spin
        else:
            self.a = [whole.parameter("gravity", k) for k in range(3)]
            w = self.turned(whole.state[body][10:13])
            h = [dot(row, w) + zero for row in self.J]
            self.torque = [h[1] * w[2] - h[2] * w[1], h[2] * w[0] - h[0] * w[2], h[0] * w[1] - h[1] * w[0]]
            self.spin = [dot(row, self.torque) + zero for row in self.inverse]
        self.M: Matrix = []
        self.Q: Vector = []

    def turned(self, v: Sequence[Number]) -> Vector:
        """A vector in the body's axes."""
        return [dot(self.A[:, k], v) + self.whole.zero for k in range(3)]

    def turned_back(self, v: Sequence[Number]) -> Vector:
        """A vector of the body in global axes."""
        return [dot(self.A[k], v) + self.whole.zero for k in range(3)]

    def in_global_axes(self) -> tuple[Matrix, Vector]:
        """Mass matrix and force."""
        if self.alone:
            zero = self.whole.zero
            M = [[zero for _ in range(6)] for _ in range(6)]
            half = [[dot(self.A[r], [row[c] for row in self.J]) + zero for c in range(3)] for r in range(3)]
            for r in range(3):
                M[r][r] = self.mass
                for c in range(r + 1):
                    M[3 + r][3 + c] = M[3 + c][3 + r] = dot(half[r], self.A[c]) + zero
            self.M, self.Q = M, [self.mass * a for a in self.a] + self.turned_back(self.torque)
            self.alone = False
        return self.M, self.Q

    def take(self, other: _Group, X: Matrix, x: Vector) -> None:
        """Add a body that moves by  a = X a_here + x."""
        zero = self.whole.zero
        (M, Q), (own, force) = self.in_global_axes(), other.in_global_axes()
        MX = [[dot(row, [X[k][c] for k in range(6)]) + zero for c in range(6)] for row in own]
        rest = [q - dot(row, x) for q, row in zip(force, own, strict=True)]
        for r in range(6):
            column = [X[k][r] for k in range(6)]
            Q[r] = Q[r] + dot(column, rest)
            for c in range(r + 1):
                M[r][c] = M[c][r] = M[r][c] + dot(column, [MX[k][c] for k in range(6)])

    def factorise(self) -> None:
        """L and inverse pivots of the mass matrix."""
        if not self.alone:
            self.L, self.pivots = factors(self.M)

    def inward(self, d: Vector) -> Vector:
        """Coefficients of a row for the accelerations as they are taken here."""
        return [*d[:3], *self.turned(d[3:])] if self.alone else d

    def outward(self, a: Vector) -> Vector:
        """Accelerations in global axes."""
        return [*a[:3], *self.turned_back(a[3:])] if self.alone else a

    def half(self, d: Vector) -> tuple[Vector, Vector]:
        """Two vectors whose product, the second one of another row, is  d M^-1 d'^T."""
        if self.alone:
            zero, inverse = self.whole.zero, 1.0 / self.mass
            return d, [v * inverse for v in d[:3]] + [dot(row, d[3:]) + zero for row in self.inverse]
        z = forward(self.L, d)
        return z, [a * b for a, b in zip(z, self.pivots, strict=True)]

    def whole_of(self, z: Vector) -> Vector:
        """M^-1 d^T from the second of the two vectors."""
        return z if self.alone else backward(self.L, z)

    def accelerations(self) -> Vector:
        """Without rows."""
        if self.alone:
            return [*self.a, *self.spin]
        return self.whole_of(self.half(self.Q)[1])


def factors(S: Matrix) -> tuple[Matrix, Vector]:
    """L (below its unit diagonal) and the inverse pivots of a symmetric matrix, of which the lower half is read."""
    n = len(S)
    L: Matrix = [[] for _ in range(n)]
    inverse: Vector = []
    for i in range(n):
        scaled: Vector = []
        for j in range(i):
            scaled.append(S[i][j] - dot(scaled, L[j]))  # scaled[q] = L[i][q] * pivot[q]
        L[i] = [a * b for a, b in zip(scaled, inverse, strict=True)]
        inverse.append(1.0 / (S[i][i] - dot(scaled, L[i])))
    return L, inverse


def forward(L: Matrix, right: Sequence[Number]) -> Vector:
    """L^-1 of a vector."""
    y: Vector = []
    for row, value in zip(L, right, strict=True):
        y.append(value - dot(row, y))
    return y


def backward(L: Matrix, right: Sequence[Number]) -> Vector:
    """L^-T of a vector."""
    y = list(right)
    for j in reversed(range(len(y))):
        for q in range(j + 1, len(y)):
            y[j] = y[j] - L[q][j] * y[q]
    return y


def _adjugate(R: Matrix, one: Number) -> tuple[Matrix, Number]:
    """Adjugate and determinant of a matrix of up to three rows."""
    n = len(R)
    if n == 0:
        return [], one
    if n == 1:
        return [[one]], R[0][0]
    if n == 2:
        (a, b), (c, d) = R
        return [[d, -b], [-c, a]], a * d - b * c

    def minor(i: int, j: int) -> Number:
        (p, q), (r, s) = ((i + 1) % 3, (i + 2) % 3), ((j + 1) % 3, (j + 2) % 3)
        return R[p][r] * R[q][s] - R[p][s] * R[q][r]

    adjugate = [[minor(j, i) for j in range(3)] for i in range(3)]
    return adjugate, dot(R[0], [row[0] for row in adjugate])
