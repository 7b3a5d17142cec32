"""What a body itself, and a prescribed load on it, put into the equations of motion: for their derivatives alone.

The values are computed by the runtime; here the same is written in moving vectors, and differentiated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import sympy as sp

from codegen.calculus import Expr, Scope, Vector, vector
from codegen.emit import Layout, assemble_module, data_lines
from codegen.straight import Lines, indexed
from codegen.tangents import seeds_of, tangent


def torque(xi_i: Vector, eta_i: Vector, zeta_i: Vector, omega_i: Vector, omega_dot: Vector, J: sp.Matrix) -> Vector:
    """The moment that a body's motion takes, J omega' + omega x J omega, with J = A J_local A^T.  Seed 000, Eq. (1)."""
    axes = (xi_i, eta_i, zeta_i)

    def times(w: Vector) -> Vector:
        parts = [axes[a] * (J[a, b] * axes[b].dot(w)) for a in range(3) for b in range(3)]
        return Vector(*(sum(components) for components in zip(*parts, strict=True)))

    return times(omega_dot) + omega_i.cross(times(omega_i))


def load_at_point(r_i: Vector, force: Vector, moment: Vector, point: Vector) -> Vector:
    """Moment about the centre of mass of a load at a point in space, force and moment in global axes."""
    return moment + (point - r_i).cross(force)


def load_in_body(f_i: Vector, m_i: Vector) -> list[Expr]:
    """A load whose force, point and moment are fixed in the body: so are the force and the moment about the centre of mass."""
    return [*f_i, *m_i]


def emit_bodies(source: str) -> str:
    """The module ``bodies``: derivatives of what the definitions of this file return."""
    J = sp.Matrix(3, 3, lambda a, b: sp.Symbol(f"J_{min(a, b)}{max(a, b)}", real=True))
    kernels = [
        _tangent(torque, {J[a, b]: f"J[{a}, {b}]" for a in range(3) for b in range(a, 3)}, J),
        _tangent(load_at_point, {}),
        _tangent(load_in_body, {}),
    ]
    return assemble_module((inspect.getdoc(inspect.getmodule(torque)) or ""), None, data_lines({}), kernels, source)


def _tangent(definition: Callable[..., Any], place: dict[Expr, str], *matrices: sp.Matrix) -> Lines:
    """Derivatives of a definition; the moving vectors come in ``x``, others by their names."""
    scope = Scope(definition.__name__, velocities=True)
    names = list(inspect.signature(definition).parameters)
    bare = [name for name in names if not name.endswith("_i")]
    arguments = [scope.argument(name) if name.endswith("_i") else vector(name) for name in names]
    if matrices:
        arguments[-1] = matrices[0]
    layout = Layout(scope)
    place = layout.place | place | {s: f"{name}[{k}]" for name in bare for k, s in enumerate(vector(name))}
    targets = indexed("out", list(definition(*arguments)))
    signature = ("body_i", "x", *bare)
    doc = f"Derivatives of ``{definition.__name__}``; x: {', '.join(m.name for m in layout.vectors) or 'nothing'}"
    return tangent(f"{definition.__name__}_tangent", signature, place, targets, doc, seeds_of(scope.moving.values()))
