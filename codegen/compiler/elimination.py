"""Eliminates bodies and multipliers from the equations of motion of a model, operation by operation on its expression graph.

1. Bodies fixed to the ground do not move: their vectors are constants.
2. A body that six rows lock to one other body moves with it:  a_b = X a_p + x.  Its mass is added to that of the other.
3. The rest is solved as in the runtime: by the Schur complement S = D M^-1 D^T, with one step of refinement.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.compiler.mass_groups import MassGroup
from codegen.compiler.model_inputs import STATE, ModelInputs
from codegen.compiler.recorded_algebra import Matrix, Vector, adjugate, backward, factors, forward
from codegen.compiler.trace import Node, dot, recording

UNIT = (1.0, -1.0)
MAX_BLOCK = 3  # largest number of rows of a lock without a pivot of 1, which are solved by their adjugate

Lock = tuple[int, int, Matrix, Vector]  # body, the one that it is locked to, X, x
Row = tuple[dict[int, Vector], Node]  # coefficients of the accelerations of bodies, right-hand side


def rows_of(inputs: ModelInputs) -> list[Row]:
    """The rows D v' = gamma - 2 alpha Phi' - beta^2 Phi of all joints with at least one moving body."""
    model = inputs.model
    x = [[inputs.parameter("x", k, c) for c in range(model.parameters["x"].shape[1])] for k in range(len(model.joints))]
    for n, (k, place, body) in enumerate(model.vectors):
        local = [inputs.parameter("vector_local", n, c) for c in range(3)]
        x[k][place : place + 3] = [dot(row, local) + inputs.zero for row in inputs.A[body]]
    for n, (k, place) in enumerate(model.signals):
        x[k][place : place + 3] = [inputs.input(f"s[{n}, {c}]") for c in range(3)]
    alpha, beta = inputs.parameter("alpha"), inputs.parameter("beta")
    rows: list[Row] = []
    for k, (kernel, i, j, kept) in enumerate(model.joints):
        if model.fixed[i] and model.fixed[j]:
            continue
        Phi, Phi_dot, gamma = (np.full(6, inputs.zero, object) for _ in range(3))
        D = np.full((6, 12), inputs.zero, object)
        recording(kernel)(inputs.state[i], inputs.state[j], x[k], Phi, Phi_dot, D, gamma)
        for r in kept:
            parts = {
                b: [d + inputs.zero for d in D[r, 6 * s : 6 * s + 6]]
                for s, b in enumerate((i, j))
                if not model.fixed[b]
            }
            rows.append((parts, gamma[r] - 2.0 * alpha * Phi_dot[r] - beta * beta * Phi[r] + inputs.zero))
    return rows


def state_derivative(inputs: ModelInputs) -> tuple[list[tuple[str, Node]], Node]:
    """The state derivative with its places, and the sum of (diagonal entry of S / pivot) squared over the rows."""
    rows = rows_of(inputs)
    locks, ratios = _eliminate_locked(inputs, rows)
    groups = {b: MassGroup(inputs, b) for b in inputs.free}
    for b, parent, X, x in locks:
        if parent:
            groups[parent].take(groups[b], X, x)
        del groups[b]
    for group in groups.values():
        group.factorise()
    solution = _solve(inputs, rows, groups, ratios)
    for b, parent, X, x in reversed(locks):
        solution[b] = [dot(X[c], solution[parent]) + x[c] for c in range(6)] if parent else x
    targets = []
    for b in range(1, len(inputs.model.fixed)):
        values = STATE * [inputs.zero]
        if b in solution:
            state, p_dot = inputs.state[b], np.full(4, inputs.zero, object)
            recording(inputs.model.euler_rates)(state[3:7], state[10:13], p_dot)
            values = [*state[7:10], *p_dot, *solution[b]]
        targets += [(f"out[{STATE * (b - 1) + k}, n]", value) for k, value in enumerate(values)]
    return targets, inputs.zero + sum(ratio * ratio for ratio in ratios)


def _eliminate_locked(inputs: ModelInputs, rows: list[Row]) -> tuple[list[Lock], list[Node]]:
    """Find bodies that six rows lock to one other body, or to the ground (0); take them and those rows out of ``rows``."""
    locks: list[Lock] = []
    ratios: list[Node] = []
    waiting = list(inputs.free)
    while waiting:
        lock = next((found for b in waiting if (found := find_lock(inputs, b, rows, ratios))), None)
        if lock is None:
            break
        b, parent, X, x = lock
        locks.append(lock)
        waiting.remove(b)
        rows[:] = [_without(inputs, row, lock) for row in rows if set(row[0]) != {b, parent} - {0}]
    return locks, ratios


def find_lock(inputs: ModelInputs, b: int, rows: list[Row], ratios: list[Node]) -> Lock | None:
    """The motion of body b in terms of one other body, where six rows of the two determine it."""
    for parent in sorted({o for parts, _ in rows if b in parts for o in parts if o != b} | {0}):
        own = [row for row in rows if set(row[0]) == {b, parent} - {0}]
        if len(own) == 6 and (solved := _solve_lock(inputs, own, b, parent, ratios)):
            return b, parent, *solved
    return None


def _without(inputs: ModelInputs, row: Row, lock: Lock) -> Row:
    """A row with the accelerations of a locked body replaced by those of the body that it is locked to."""
    parts, rhs = row
    b, parent, X, x = lock
    if b not in parts:
        return row
    rest = {o: d for o, d in parts.items() if o != b}
    if parent:
        through = [dot(parts[b], [X[k][c] for k in range(6)]) + inputs.zero for c in range(6)]
        rest[parent] = [a + d for a, d in zip(rest.get(parent, 6 * [inputs.zero]), through, strict=True)]
    return rest, rhs - dot(parts[b], x)


def _solve_lock(
    inputs: ModelInputs, own: list[Row], b: int, parent: int, ratios: list[Node]
) -> tuple[Matrix, Vector] | None:
    """X and x of  D_b a_b = rhs - D_p a_p  by pivots of 1, and the rest by its adjugate; None if the rest is too large."""
    width = 6 if parent else 0
    M = [[*parts[b], *(-d for d in parts.get(parent, width * [inputs.zero])), rhs] for parts, rhs in own]
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
    if len(left) > MAX_BLOCK:
        return None
    R = [[M[i][c] for c in columns] for i in left]
    cofactors, determinant = adjugate(R, inputs.one)
    if determinant.constant == 0.0:
        return None
    inverse = 1.0 / determinant
    if left:
        # Squares of the lengths of the rows over the volume that they span: the product of their ratios in S.
        lengths = inputs.one
        for row in R:
            lengths = lengths * dot(row, row)
        ratios.append(lengths * inverse * inverse)
    solved: list[Vector] = [[] for _ in range(6)]
    for q in range(6, 7 + width):
        right = [M[i][q] for i in left]
        part = _unit_solution(inputs, R, right) or [dot(row, right) * inverse for row in cofactors]
        for c, value in zip(columns, part, strict=True):
            solved[c].append(value)
        for i, c in done:
            solved[c].append(M[i][q] - dot([M[i][k] for k in columns], part))
    return [row[:width] for row in solved], [row[width] for row in solved]


def _unit_solution(inputs: ModelInputs, R: Matrix, right: Vector) -> Vector | None:
    """The solution for a right-hand side of zero, or of plus or minus a column of R, as rigid motions give it."""
    if all(value.constant == 0.0 for value in right):
        return [inputs.zero for _ in right]
    for c in range(len(R)):
        for sign in UNIT:
            if all((R[i][c] * sign).same(value) for i, value in enumerate(right)):
                return [inputs.record.constant(sign) if k == c else inputs.zero for k in range(len(R))]
    return None


def _solve(
    inputs: ModelInputs, rows: list[Row], groups: Mapping[int, MassGroup], ratios: list[Node]
) -> dict[int, Vector]:
    """Accelerations in global axes, with one step of refinement on the residual of the rows."""
    rows = [({b: groups[b].inward(d) for b, d in parts.items()}, rhs) for parts, rhs in rows]
    half = [{b: groups[b].half(d) for b, d in parts.items()} for parts, _ in rows]
    S = [
        [inputs.zero + sum(dot(half[i][b][0], half[j][b][1]) for b in half[i] if b in half[j]) for j in range(i + 1)]
        for i in range(len(rows))
    ]
    L, inverse = factors(S)
    ratios += [S[k][k] * inverse[k] for k in range(len(rows))]
    u = {b: group.accelerations() for b, group in groups.items()}
    for _ in range(2 if rows else 0):
        right = [sum(dot(d, u[b]) for b, d in parts.items()) - rhs for parts, rhs in rows]
        lam = backward(L, [a * b for a, b in zip(forward(L, right), inverse, strict=True)])
        for b, group in groups.items():
            holding = [k for k in range(len(rows)) if b in half[k]]
            push = [inputs.zero + dot([half[k][b][1][c] for k in holding], [lam[k] for k in holding]) for c in range(6)]
            u[b] = [a - d for a, d in zip(u[b], group.solved(push), strict=True)]
    return {b: groups[b].outward(a) for b, a in u.items()}
