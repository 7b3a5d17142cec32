"""Mass matrix and forces of a tree with steps of any kind, as nodes of an expression graph: by composite bodies.

    M u' + b = Q

Column by column M has the momentum that a unit rate gives all bodies beyond its step, along the other rates (Featherstone, 2008,
chapter 6); b has the forces that the accelerations without u', less gravity, need.  Vectors are in global axes.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.compiler.recorded_algebra import Matrix, Vector, add, cross, times
from codegen.compiler.trace import Node, dot
from codegen.compiler.tree_equations import OF_GRAVITY, OF_STEP
from codegen.compiler.tree_kinematics import Rate, TreeMotion


@dataclass
class _Composite:
    """What a step carries, with all beyond it: about its point."""

    mass: Node
    moment: Vector
    inertia: Matrix
    force: Vector  # that the accelerations without u' need
    torque: Vector

    def momentum(self, rate: Rate) -> tuple[Vector, Vector]:
        """Momentum and angular momentum of a unit rate."""
        if rate.slides:
            return [self.mass * x for x in rate.axis], cross(self.moment, rate.axis)
        return cross(rate.axis, self.moment), times(self.inertia, rate.axis)

    def carry(self, other: _Composite, way: Vector) -> None:
        """Add another one, whose point is ``way`` from the point of this one."""
        shifted, across, square = [other.mass * x for x in way], dot(way, other.moment), dot(way, way)
        for a in range(3):
            for b in range(a + 1):
                more = other.inertia[a][b] - way[a] * other.moment[b] - other.moment[a] * way[b] - shifted[a] * way[b]
                if a == b:
                    more = more + across * 2.0 + other.mass * square
                self.inertia[a][b] = self.inertia[b][a] = self.inertia[a][b] + more
        self.moment = add(self.moment, add(other.moment, shifted))
        self.mass = self.mass + other.mass
        self.force = add(self.force, other.force)
        self.torque = add(self.torque, add(other.torque, cross(way, other.force)))


def equations_of(motion: TreeMotion, Q: Vector) -> tuple[Matrix, Vector]:
    """The matrix M and the right-hand side of M u' = right, with applied forces Q along the coordinates."""
    first, size = motion.u[0], motion.u[-1] - motion.u[0]
    M = [[motion.zero] * size for _ in range(size)]
    right, carried = list(Q), [_own(motion, k) for k in range(len(motion.kinds))]
    for k in reversed(range(len(motion.kinds))):
        frame, here = motion.frames[k], carried[k]
        for c, rate in enumerate(frame.rates):
            row = motion.u[k] - first + c
            right[row] = right[row] - rate.along(here.force, here.torque)
            linear, angular = here.momentum(rate)
            j = k
            while j >= 0:
                for column, other in enumerate(
                    motion.frames[j].rates[: row + 1 - motion.u[j] + first], motion.u[j] - first
                ):
                    M[row][column] = M[column][row] = other.along(linear, angular)
                angular = add(angular, cross(motion.frames[j].way, linear))
                j = motion.parents[j]
        if (parent := motion.parents[k]) >= 0:
            carried[parent].carry(here, frame.way)
    return M, right


def _own(motion: TreeMotion, k: int) -> _Composite:
    """What a step carries and no later one does."""
    frame, at = motion.frames[k], OF_GRAVITY + OF_STEP * k
    mass, *rest = motion.parameters[at + 6 : at + OF_STEP]
    c = times(frame.A, rest[:3])
    xx, xy, xz, yy, yz, zz = rest[3:]
    columns = [times(frame.A, column) for column in ([xx, xy, xz], [xy, yy, yz], [xz, yz, zz])]  # A J
    turned = [[columns[b][a] for b in range(3)] for a in range(3)]
    J = [[motion.zero] * 3 for _ in range(3)]
    for a in range(3):
        for b in range(a + 1):
            J[a][b] = J[b][a] = motion.zero + dot(turned[a], frame.A[b])
    falling = [x - g for x, g in zip(frame.a, motion.parameters[:OF_GRAVITY], strict=True)]
    omega, alpha = frame.omega, frame.alpha
    force = add(add([mass * x for x in falling], cross(alpha, c)), cross(omega, cross(omega, c)))
    torque = add(add(times(J, alpha), cross(omega, times(J, omega))), cross(c, falling))
    return _Composite(mass, c, J, force, torque)
