"""Linear algebra of small matrices whose entries are nodes of an expression graph (``codegen.compiler.trace``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.compiler.trace import Node, dot

Vector = list[Node]
Matrix = list[list[Node]]
Parts = list[Any]  # three components, nodes or polynomials of nodes


def add(a: Parts, b: Parts) -> Parts:
    """The sum of two vectors."""
    return [x + y for x, y in zip(a, b, strict=True)]


def cross(a: Parts, b: Parts) -> Parts:
    """The vector product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def times(A: Matrix, v: Sequence[Node]) -> Vector:
    """The product of a matrix and a vector."""
    return [dot(row, v) for row in A]


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


class Elimination:
    """A symmetric matrix, factorised from its last row on: that of a tree depends on the fewest coordinates there."""

    def __init__(self, M: Matrix) -> None:
        self.M, self.order = M, list(reversed(range(len(M))))
        self.L, self.inverse = factors([[M[i][j] for j in self.order[: a + 1]] for a, i in enumerate(self.order)])

    def half(self, right: Vector) -> Vector:
        """The product of L^-1 and a vector, in the order of the elimination."""
        return forward(self.L, [right[i] for i in self.order])

    def scaled(self, half: Vector) -> Vector:
        """Such a vector divided by the pivots."""
        return [a * b for a, b in zip(half, self.inverse, strict=True)]

    def solution(self, half: Vector) -> Vector:
        """The solution for such a vector, in the order of the matrix."""
        return backward(self.L, self.scaled(half))[::-1]

    def worst(self) -> Node:
        """The sum of the squares of (diagonal entry / pivot)."""
        ratios = [self.M[i][i] * self.inverse[a] for a, i in enumerate(self.order)]
        found: Node = dot(ratios, ratios)
        return found


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
