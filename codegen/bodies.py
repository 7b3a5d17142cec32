"""Terms of a body and of a prescribed load in the equations of motion, written in moving vectors for their derivatives.

The runtime computes the values themselves; from these definitions only the derivatives are emitted.
"""

from __future__ import annotations

import sympy as sp

from codegen.compiler.calculus import Expr, Vector


def torque(xi_i: Vector, eta_i: Vector, zeta_i: Vector, omega_i: Vector, omega_dot: Vector, J: sp.Matrix) -> Vector:
    """Moment for the rotation of a body, J omega' + omega x J omega, with J = A J_local A^T.

    Source: Rodrigues da Silva et al. (2024a), Eq. (1).
    """
    axes = (xi_i, eta_i, zeta_i)

    def times(w: Vector) -> Vector:
        parts = [axes[a] * (J[a, b] * axes[b].dot(w)) for a in range(3) for b in range(3)]
        return Vector(*(sum(components) for components in zip(*parts, strict=True)))

    return times(omega_dot) + omega_i.cross(times(omega_i))


def load_at_point(r_i: Vector, force: Vector, moment: Vector, point: Vector) -> Vector:
    """Moment about the centre of mass of a load at a point in space, force and moment in global axes."""
    return moment + (point - r_i).cross(force)


def load_in_body(f_i: Vector, m_i: Vector) -> list[Expr]:
    """A load with force, point and moment fixed in the body, and thus also its moment about the centre of mass."""
    return [*f_i, *m_i]
