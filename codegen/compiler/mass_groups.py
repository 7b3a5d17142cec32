"""Bodies that move as one: their common mass matrix and the forces on them, as nodes of an expression graph."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.compiler.model_inputs import ModelInputs
from codegen.compiler.recorded_algebra import Matrix, Vector, backward, factors, forward
from codegen.compiler.trace import Node, dot


class MassGroup:
    """A body and those that are locked to it: their mass matrix (6, 6) and the forces on it.

    A single body uses its own axes, in which its mass matrix is constant; a group of several uses global axes.
    """

    def __init__(self, inputs: ModelInputs, body: int) -> None:
        self.inputs, self.A = inputs, inputs.A[body]
        zero = inputs.zero
        self.alone = True
        self.mass = inputs.parameter("mass", body)
        self.J = [[inputs.parameter("inertia", body, r, c) for c in range(3)] for r in range(3)]
        self.inverse = [[inputs.parameter("inertia_inverse", body, r, c) for c in range(3)] for r in range(3)]
        if inputs.model.loaded:
            free = [inputs.input(f"f[{body}, {k}]") for k in range(6)]
            self.a, spin = free[:3], self.turned(free[3:])
            self.torque = [dot(row, spin) + zero for row in self.J]
            self.spin = spin
        else:
            self.a = [inputs.parameter("gravity", k) for k in range(3)]
            w = self.turned(inputs.state[body][10:13])
            h = [dot(row, w) + zero for row in self.J]
            self.torque = [h[1] * w[2] - h[2] * w[1], h[2] * w[0] - h[0] * w[2], h[0] * w[1] - h[1] * w[0]]
            self.spin = [dot(row, self.torque) + zero for row in self.inverse]
        self.M: Matrix = []
        self.Q: Vector = []

    def turned(self, v: Sequence[Node]) -> Vector:
        """A vector in the axes of the body."""
        return [dot(self.A[:, k], v) + self.inputs.zero for k in range(3)]

    def turned_back(self, v: Sequence[Node]) -> Vector:
        """A vector in the axes of the body, in global axes."""
        return [dot(self.A[k], v) + self.inputs.zero for k in range(3)]

    def in_global_axes(self) -> tuple[Matrix, Vector]:
        """Mass matrix and force."""
        if self.alone:
            zero = self.inputs.zero
            M = [[zero for _ in range(6)] for _ in range(6)]
            half = [[dot(self.A[r], [row[c] for row in self.J]) + zero for c in range(3)] for r in range(3)]
            for r in range(3):
                M[r][r] = self.mass
                for c in range(r + 1):
                    M[3 + r][3 + c] = M[3 + c][3 + r] = dot(half[r], self.A[c]) + zero
            self.M, self.Q = M, [self.mass * a for a in self.a] + self.turned_back(self.torque)
            self.alone = False
        return self.M, self.Q

    def take(self, other: MassGroup, X: Matrix, x: Vector) -> None:
        """Add a body that moves by  a = X a_here + x."""
        zero = self.inputs.zero
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
        """Coefficients of a row in the axes of this group."""
        return [*d[:3], *self.turned(d[3:])] if self.alone else d

    def outward(self, a: Vector) -> Vector:
        """Accelerations in global axes."""
        return [*a[:3], *self.turned_back(a[3:])] if self.alone else a

    def half(self, d: Vector) -> tuple[Vector, Vector]:
        """Two vectors: the first one of row d times the second one of row d' is  d M^-1 d'^T."""
        if self.alone:
            zero, inverse = self.inputs.zero, 1.0 / self.mass
            return d, [v * inverse for v in d[:3]] + [dot(row, d[3:]) + zero for row in self.inverse]
        z = forward(self.L, d)
        return z, [a * b for a, b in zip(z, self.pivots, strict=True)]

    def solved(self, z: Vector) -> Vector:
        """M^-1 d^T from the second of the two vectors."""
        return z if self.alone else backward(self.L, z)

    def accelerations(self) -> Vector:
        """Accelerations without constraints."""
        if self.alone:
            return [*self.a, *self.spin]
        return self.solved(self.half(self.Q)[1])
