"""The equations of a system in the coordinates of its joints, as expressions of SymPy.

M u' + bias + gravity + D^T lam = forces,    D u' = gamma
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import numpy as np
import sympy as sp

from codegen import couplings
from codegen.compiler.calculus import Expr
from codegen.compiler.closed_tree import ClosingRows
from codegen.compiler.couplings import power
from codegen.compiler.recorded_algebra import Vector
from codegen.compiler.trace import Node
from codegen.compiler.tree_equations import OF_GRAVITY
from codegen.symbolic.expressions import Writer, exact, written_out
from codegen.symbolic.forces import SymbolicForces
from codegen.symbolic.latex import LatexEquations, aligned, matrix
from codegen.symbolic.symbols import NEARLY
from codegen.symbolic.tree import SymbolicTree


@dataclass(frozen=True, eq=False)
class SystemEquations(LatexEquations):
    """The equations of a system in the coordinates of its joints: M u' + bias + gravity + D^T lam = forces, D u' = gamma.

    All matrices are those of SymPy; n rates move the tree of the joints, m rows of joints and couplings restrain them.

    Attributes
    ----------
    system : str
        Its name.
    coordinates, rates : dict of str to Symbol
        By their names, such as "knee.angle" [rad], [m] and their rates.  A ball has Euler parameters of unit length, and the
        angular velocity relative to what carries it, in axes of the body that it moves.
    parameters : dict of Symbol to float
        Values of the symbols of the data [SI]; empty with ``parameters="numbers"``.
    M : Matrix (n, n)
        Mass matrix, with the inertia of rotors.
    bias, gravity, forces : Matrix (n, 1)
        Centrifugal and Coriolis terms; derivatives of the potential of gravity; applied forces along the coordinates.
    rows : tuple of str
        Names of the rows that restrain the coordinates; rows that all poses of the tree satisfy are left out.
    Phi, D, gamma : Matrix (m, 1), (m, n), (m, 1)
        These rows: Phi = 0, D u' = gamma.
    left_out : tuple of str
        Limits, contacts and forces that have no formula; ``forces`` has a symbol for their sum along each coordinate.
    where : dict of Symbol to expression
        Parts k_1, k_2, ... of long entries, in an order in which they can be computed; empty where all entries are short.
    """

    system: str
    coordinates: Mapping[str, Expr]
    rates: Mapping[str, Expr]
    parameters: Mapping[Expr, float]
    M: Expr
    bias: Expr
    gravity: Expr
    forces: Expr
    rows: tuple[str, ...]
    Phi: Expr
    D: Expr
    gamma: Expr
    left_out: tuple[str, ...]
    where: Mapping[Expr, Expr]

    @property
    def operations(self) -> int:
        """Operations of all entries and of ``where``."""
        return int(
            sum(sp.count_ops(e) for e in (*(e for part in self._matrices.values() for e in part), *self.where.values()))
        )

    @property
    def _matrices(self) -> dict[str, Expr]:
        return {name: getattr(self, name) for name in ("M", "bias", "gravity", "forces", "Phi", "D", "gamma")}

    def __repr__(self) -> str:
        return f"SystemEquations('{self.system}', {len(self.rates)} rates, {len(self.rows)} rows, {self.operations} operations)"

    def written_out(self) -> SystemEquations:
        """These equations without ``where``; for three joints they may take a million operations."""
        parts = written_out(self.where)
        return replace(self, **{name: value.xreplace(parts) for name, value in self._matrices.items()}, where={})

    def latex(self) -> str:
        """The equations as LaTeX, for a display in mathematics."""
        reaction = " + D^{T} \\lambda" if self.rows else ""
        lines = [f"M \\dot{{u}} + c + g{reaction} &= Q", f"u &= {matrix(sp.Matrix([*self.rates.values()]))}"]
        named = {"M": self.M, "c": self.bias, "g": self.gravity, "Q": self.forces}
        if self.rows:
            lines[:1] = [f"{lines[0]}, \\quad \\Phi = 0, \\quad D \\dot{{u}} = \\gamma"]
            named |= {"\\Phi": self.Phi, "D": self.D, "\\gamma": self.gamma}
        lines += [f"{name} &= {matrix(value)}" for name, value in named.items()]
        return aligned([*lines, *(f"{sp.latex(symbol)} &= {sp.latex(value)}" for symbol, value in self.where.items())])


def _coupled(tree: SymbolicTree, coupling: Any) -> list[Expr]:
    """Phi, gamma and D of a coupling."""
    symbol = tree.symbols.expression
    q = [symbol(tree.coordinates[name]) for name in coupling.coordinates]
    u = [symbol(tree.rates[name]) for name in coupling.coordinates]
    Phi = couplings.combination(q[0], q[1:], lambda *x: _law(tree, coupling, x))
    D = {rate: sp.diff(Phi, x) for x, rate in zip(q, u, strict=True)}
    Phi_dot = sum(slope * rate for rate, slope in D.items())
    gamma = -sum(sp.diff(Phi_dot, x) * rate for x, rate in zip(q, u, strict=True))
    return [Phi, sp.expand(gamma), *(D.get(symbol(rate), sp.S.Zero) for rate in tree.rates.values())]


def _law(tree: SymbolicTree, coupling: Any, leaders: Sequence[Expr]) -> Expr:
    """The law of a coupling: a sum of powers or of products; a spline is a function without a formula."""
    law, name = coupling.law, coupling.name

    def datum(word: str, value: float) -> Expr:
        return tree.symbols.expression(tree.symbols.datum(f"{word}_{name}", float(value)))

    if hasattr(law, "knots"):
        (x,) = leaders
        if len(law.coefficients) > 1:
            return sp.Function(f"law_{name}", real=True)(x)
        moved = np.polynomial.Polynomial(law.coefficients[0])(np.polynomial.Polynomial([-law.knots[0], 1.0])).coef
        rounded = np.where(np.abs(moved) > NEARLY * np.abs(moved).max(), moved, 0.0)
        return sum(datum(f"p{n}", value) * x**n for n, value in enumerate(rounded.tolist()))
    shifted = [x + datum(f"x{n}", value) for n, (x, value) in enumerate(zip(leaders, law.offsets, strict=True))]
    total = sp.S.Zero
    for n, (factor, *waves) in enumerate(zip(law.coefficients, law.powers, law.frequencies, law.phases, strict=True)):
        powers, frequencies, phases = ([float(value) for value in row] for row in waves)
        turned = [sp.pi / 2 if phase == pi / 2 else exact(phase) for phase in phases]
        own = [datum(f"w{n}_{k}", value) for k, value in enumerate(frequencies)]
        total += couplings.product(shifted, datum(f"p{n}", factor), list(map(int, powers)), own, turned)
    return total.replace(power, lambda x, n: x**n)


def equations_in_coordinates(system: Any, names: Mapping[str, str], *, numbers: bool) -> SystemEquations:
    """The equations of a system in the coordinates of its joints; see ``codegen.equations``.

    Raises
    ------
    DefinitionError
        For names that are no symbols.
    NoKernelError
        For systems without a tree, and those whose equations are too large.
    """
    tree = SymbolicTree(system, names, numbers=numbers)
    n, symbols, symbol = len(tree.u), tree.symbols, tree.symbols.expression
    M, falling, _ = tree.motion([tree.zero] * n)
    for k, inertia in enumerate([] if tree.tree.armature is None else tree.tree.armature):
        if inertia:  # of a turn or slide
            name, word = tree.words(k)
            place = list(tree.rates).index(name)
            M[place][place] = M[place][place] + symbols.datum(f"I_{word}", float(inertia))
    tree.parameters[:OF_GRAVITY] = [tree.zero] * OF_GRAVITY
    _, whirling, motion = tree.motion(tree.u)
    forces = SymbolicForces(tree, motion)
    others = (
        [symbols.input(f"Q_{name.replace('.', '_')}") for name in tree.rates] if forces.left_out else [tree.zero] * n
    )
    closing = ClosingRows(tree, tree.record, tree.parameters, motion).rows({})
    of_couplings = {f"coupling '{one.name}'": _coupled(tree, one) for one in system.couplings}
    symbols.refuse_unused(f"equations of system '{system.name}'")

    def signed(entries: Sequence[Node], sign: float = 1.0) -> Vector:
        return [entry * (sign * own) for entry, own in zip(entries, tree.signs, strict=True)]

    parts = {
        "M": [entry for row, own in zip(M, tree.signs, strict=True) for entry in signed(row, own)],
        "bias": signed(whirling, -1.0), "gravity": signed(falling, -1.0),
        "forces": [Q + other for Q, other in zip(signed(forces.along), others, strict=True)],
        "rows": [part for row in closing for part in (row.Phi, row.right, *signed(row.J))],
    }  # fmt: skip
    collected = [*(s for s in symbols.parameters if s.name[0] in "mg"), *map(symbol, tree.rates.values())]
    write = Writer(
        tree.record, symbols.symbols, [node for part in parts.values() for node in part],
        [[*map(symbol, p)] for p in tree.units], collected, symbols.parameters,
    )  # fmt: skip
    written = {name: write(part) for name, part in parts.items()}
    of_joints = [(system.joints[tree.tree.closing[row.joint]], row.row) for row in closing]
    rows = {
        f"{joint.name}.{joint.rows[r]}": written["rows"][(n + 2) * k : (n + 2) * (k + 1)]
        for k, (joint, r) in enumerate(of_joints)
    }
    rows = {name: row for name, row in (rows | of_couplings).items() if any(e != 0 for e in (row[0], *row[2:]))}
    of_rows = sp.Matrix(len(rows), n + 2, [e for row in rows.values() for e in row])
    columns = {name: sp.Matrix(n, 1, written[name]) for name in ("bias", "gravity", "forces")}
    M = sp.Matrix(n, n, written["M"])
    used = set().union(*(part.free_symbols for part in (M, of_rows, *columns.values(), *write.where.values())))
    return SystemEquations(
        system=system.name,
        coordinates={name: symbol(q) for name, q in tree.coordinates.items()},
        rates={name: symbol(u) for name, u in tree.rates.items()},
        parameters={s: value for s, value in symbols.parameters.items() if s in used},
        M=M, **columns, rows=tuple(rows), Phi=of_rows[:, 0], D=of_rows[:, 2:], gamma=of_rows[:, 1],
        left_out=tuple(forces.left_out), where=write.where,
    )  # fmt: skip
