"""Linear algebra of small matrices whose entries are nodes of an expression graph (``codegen.compiler.trace``)."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.compiler.trace import Node, dot

Vector = list[Node]
Matrix = list[list[Node]]


def factors(S: Matrix) -> tuple[Matrix, Vector]:
    """L (below its unit diagonal) and the inverse pivots of a symmetric matrix, whose lower half is read."""
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


def forward(L: Matrix, right: Sequence[Node]) -> Vector:
    """The product of L^-1 and a vector."""
    y: Vector = []
    for row, value in zip(L, right, strict=True):
        y.append(value - dot(row, y))
    return y


def backward(L: Matrix, right: Sequence[Node]) -> Vector:
    """The product of L^-T and a vector."""
    y = list(right)
    for j in reversed(range(len(y))):
        for q in range(j + 1, len(y)):
            y[j] = y[j] - L[q][j] * y[q]
    return y


def adjugate(R: Matrix, one: Node) -> tuple[Matrix, Node]:
    """Adjugate and determinant of a matrix of up to three rows."""
    n = len(R)
    if n == 0:
        return [], one
    if n == 1:
        return [[one]], R[0][0]
    if n == 2:
        (a, b), (c, d) = R
        return [[d, -b], [-c, a]], a * d - b * c

    def minor(i: int, j: int) -> Node:
        (p, q), (r, s) = ((i + 1) % 3, (i + 2) % 3), ((j + 1) % 3, (j + 2) % 3)
        return R[p][r] * R[q][s] - R[p][s] * R[q][r]

    adjugate = [[minor(j, i) for j in range(3)] for i in range(3)]
    return adjugate, dot(R[0], [row[0] for row in adjugate])
