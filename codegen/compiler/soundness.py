"""Refuses rows without a common solution or a gradient, rows that depend on each other, and rows that resist a rigid motion."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import sympy as sp

from codegen.compiler.calculus import BODIES, Expr, Moving, Scope, vector
from codegen.compiler.units import sample

NEWTON_STEPS = 30
ATTEMPTS = 25  # to begin where all functions of the rows are real
RIGID_MOTION_TOLERANCE = 1e-9
VANISHING_GRADIENT = 1e-6
DIFFERENCE = 1e-6  # of unknowns about 1


def refuse_unsound_rows(scope: Scope, rows: tuple[str, ...], Phi: tuple[Expr, ...], jacobian: sp.Matrix) -> None:
    """Refuse rows that cannot hold together, repeat each other, or change when both bodies move together.

    The last rule is D (u + w x r_i, w, u + w x r_j, w) = 0.  It needs to hold only where the rows do (the rows of a spherical
    joint turn with the bodies), so it is tested at a random solution of Phi = 0 with directions of unit length.  A definition
    with vectors of one body only is a joint with the ground by its signature, and is exempt from this rule.
    """
    moving = list(scope.moving.values())
    u, w = vector("common_v"), vector("common_omega")
    twist: list[Expr] = []
    for body in BODIES:
        r = scope.moving.get(f"r_{body}")
        twist += [*(u + w.cross(r.value) if r else u), *w]
    unknowns = list(sample(scope))
    common = dict(zip([*u, *w], (0.3, -0.7, 1.1, 0.5, 0.2, -1.3), strict=True))
    parts = scope.spelt_out()
    equations = [sp.sympify(e).xreplace(parts) for e in (*Phi, *_orthonormality(moving))]
    motion = [*jacobian.xreplace(parts), *(sp.sympify(e).xreplace(common) for e in twist)]
    residuals, moved = (
        sp.lambdify([unknowns], expressions, "numpy", cse=partial(sp.cse, order="none"))
        for expressions in (equations, motion)
    )
    nearby = DIFFERENCE * np.eye(len(unknowns))

    def around(z: np.ndarray) -> np.ndarray:
        """Residuals at z and a little ahead and behind along each unknown, whose differences are slopes.

        The derivatives of long rows by all symbols are much longer than the rows.
        """
        places = z[:, None] + np.hstack([nearby, -nearby, np.zeros((len(z), 1))])
        return np.array(np.broadcast_arrays(*residuals(places), places[0])[:-1])

    with np.errstate(all="ignore"):
        for attempt in range(ATTEMPTS):
            z = np.array([float(value) for value in sample(scope, attempt).values()])
            if np.isfinite(around(z)).all():
                break
        for _ in range(NEWTON_STEPS):
            values = np.nan_to_num(around(z))
            ahead, behind = values[:, : len(z)], values[:, len(z) : -1]
            step = np.linalg.pinv((ahead - behind) / (2.0 * DIFFERENCE), VANISHING_GRADIENT) @ values[:, -1]
            z = z - step / max(1.0, float(np.abs(step).max()))
        residual = float(np.abs(residuals(z)).max())
    if not residual < RIGID_MOTION_TOLERANCE:
        raise scope.error(f"its rows {', '.join(rows)} seem to have no common solution")
    evaluated = np.array(moved(z), dtype=float)
    D, rigid = evaluated[: jacobian.rows * jacobian.cols].reshape(jacobian.shape), evaluated[-jacobian.cols :]
    for name, row in zip(rows, D, strict=True):
        if not np.abs(row).max() > VANISHING_GRADIENT:
            raise scope.error(
                f"row '{name}' has no gradient where it holds, and so no effect there; write its parts as rows of their own"
            )
    if {m.body for m in moving} == set(BODIES):
        for name, value in zip(rows, D @ rigid, strict=True):
            if abs(value) > RIGID_MOTION_TOLERANCE:
                raise scope.error(
                    f"row '{name}' changes when both bodies move together as one rigid body; a joint may only use quantities "
                    "between the bodies (give vectors of one body only for a joint with the ground)"
                )
    if np.linalg.matrix_rank(D / np.linalg.norm(D, axis=1, keepdims=True), tol=VANISHING_GRADIENT) < len(rows):
        raise scope.error(f"its rows {', '.join(rows)} depend on each other; leave out those that repeat others")


def _orthonormality(moving: list[Moving]) -> list[Expr]:
    """Expressions that vanish for the directions of a definition: unit length, and the right angles of triads."""
    directions = [m for m in moving if m.kind not in ("centre", "point")]
    relations = [sum(s**2 for s in m.symbols) - 1 for m in directions]
    for m, other in itertools.combinations([m for m in directions if m.kind != "euler"], 2):
        frames = m.kind == other.kind == "frame" and m.body == other.body
        triad = {m.kind.partition(":")[2] or m.name, other.kind.partition(":")[2] or other.name}
        if frames or (len(triad) == 1 and "across" in m.kind + other.kind):
            relations.append(m.value.dot(other.value))
    return relations
