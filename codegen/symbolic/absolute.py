"""The equations of a system in absolute coordinates, as expressions of SymPy: rows of joints and terms of bodies.

M v' + bias + gravity + D^T lam = forces,    Phi = 0,    D v = nu,    D v' = gamma
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import sympy as sp

from codegen import drivers, joints
from codegen.bodies import torque
from codegen.compiler.angles import wrapped
from codegen.compiler.calculus import BODY_FRAME, Definition, Expr, vector
from codegen.compiler.derive import Derivation, derive
from codegen.compiler.layout import Layout
from codegen.compiler.tree_kinematics import rotation
from codegen.symbolic.expressions import exact, written_out
from codegen.symbolic.latex import LatexEquations, aligned, matrix, table
from codegen.symbolic.vectors import VectorText

GROUND = "ground"
STATES = ("r", "v", "omega")  # vectors of a body


@dataclass(frozen=True, eq=False)
class JointRows(LatexEquations):
    """The rows of a joint or driver: Phi = 0, D v = nu, D v' = gamma, in global components.

    Attributes
    ----------
    name, definition : str
        The joint, and the function that it follows from.
    body_i, body_j : str
    rows : tuple of str
    Phi, nu, gamma : Matrix (m, 1)
    D : Matrix (m, 12)
        Columns of v_i, omega_i, v_j, omega_j.
    where : dict of Symbol to expression
        Sums of vectors, such as d, and rates of vectors, in an order in which they can be computed.
    vectors : dict of str to tuple of float
        Components of the vectors in axes of their bodies.
    values : dict of Symbol to float
        Of constants: parameters, and quantities held from the reference configuration.
    """

    name: str
    definition: str
    body_i: str
    body_j: str
    rows: tuple[str, ...]
    Phi: Expr
    D: Expr
    nu: Expr
    gamma: Expr
    where: Mapping[Expr, Expr]
    vectors: Mapping[str, tuple[float, ...]]
    values: Mapping[Expr, float]

    def __repr__(self) -> str:
        return f"JointRows('{self.name}', {', '.join(self.rows)})"

    def _with(self, parts: Mapping[Expr, Expr]) -> JointRows:
        changed = {name: getattr(self, name).xreplace(parts) for name in ("Phi", "D", "nu", "gamma")}
        return replace(self, **changed, where={})

    def written_out(self) -> JointRows:
        """These rows in terms of the bodies' vectors and velocities alone, without ``where``."""
        return self._with(written_out(self.where))

    def of_bodies(self) -> JointRows:
        """These rows in terms of the states of the bodies: r, Euler parameters e0 to e3, v and omega, with numbers.

        The symbols are such as r_foot_x and e0_foot; the ground rests.
        """
        parts: dict[Expr, Expr] = {symbol: exact(value) for symbol, value in self.values.items()}
        for side, body in (("i", self.body_i), ("j", self.body_j)):
            p = sp.symbols([f"e{k}_{body}" for k in range(4)], real=True)
            A = sp.eye(3) if body == GROUND else _rotation(p)
            own = {
                name: A * sp.Matrix([exact(c) for c in local])
                for name, local in self.vectors.items()
                if name.endswith(f"_{side}")
            }
            own |= {f"{name}_{side}": sp.zeros(3, 1) if body == GROUND else vector(f"{name}_{body}") for name in STATES}
            for name, value in own.items():
                parts |= dict(zip(vector(name), value, strict=True))
            parts |= {
                sp.Symbol(f"p_{side}_{k}", real=True): (e if body != GROUND else sp.Integer(k == 0))
                for k, e in enumerate(p)
            }
        return self.written_out()._with(parts)

    def latex(self) -> str:
        """The rows as LaTeX: products of vectors where there are some, components otherwise."""
        text = VectorText(
            {s for e in (self.Phi, self.D, self.nu, self.gamma, *self.where.values()) for s in e.free_symbols}
        )
        blocks = [[text.covector(self.D[r, c : c + 3]) for c in range(0, 12, 3)] for r in range(len(self.rows))]
        named = {"\\Phi": [[text.scalar(e)] for e in self.Phi], "D": blocks}
        named |= {"\\nu": [[text.scalar(e)] for e in self.nu], "\\gamma": [[text.scalar(e)] for e in self.gamma]}
        return aligned([f"{name} &= {table(cells)}" for name, cells in named.items()] + text.sums(self.where))


@dataclass(frozen=True, eq=False)
class BodyTerms(LatexEquations):
    """The Newton-Euler terms of a body: M v' + bias + gravity = forces, of velocity and angular velocity in global axes.

    Attributes
    ----------
    name : str
    M : Matrix (6, 6)
    bias, gravity : Matrix (6, 1)
        Gyroscopic moment omega x J omega; weight, with the sign of the left side.
    axes : Matrix (3, 3)
        Axes xi, eta, zeta of the body, as columns.
    parameters : dict of Symbol to float
        Values of the symbols of mass, inertia in axes of the body, and gravity.
    """

    name: str
    M: Expr
    bias: Expr
    gravity: Expr
    axes: Expr
    parameters: Mapping[Expr, float]

    def __repr__(self) -> str:
        return f"BodyTerms('{self.name}')"

    def latex(self) -> str:
        """The terms as LaTeX."""
        named = {"M": self.M, "c": self.bias, "g": self.gravity}
        return aligned(["M \\dot{v} + c + g &= Q", *(f"{name} &= {matrix(value)}" for name, value in named.items())])


@dataclass(frozen=True, eq=False)
class AbsoluteEquations:
    """The equations of a system in absolute coordinates: rows of its joints and drivers, terms of its bodies, by name.

    M v' + bias + gravity + D^T lam = forces for the bodies together; D v' = gamma.
    """

    system: str
    joints: Mapping[str, JointRows]
    bodies: Mapping[str, BodyTerms]

    def __repr__(self) -> str:
        return f"AbsoluteEquations('{self.system}', joints {', '.join(self.joints)}; bodies {', '.join(self.bodies)})"


def absolute_equations(system: Any, *, numbers: bool) -> AbsoluteEquations:
    """The equations of a system in absolute coordinates; see ``codegen.equations``."""
    rows = {joint.name: _rows(system, k, joint, numbers=numbers) for k, joint in enumerate(system.joints)}
    terms = {body.name: _terms(body, system.gravity, numbers=numbers) for body in system.bodies}
    return AbsoluteEquations(system.name, rows, terms)


def definition_of(module: Any) -> Definition:
    """The definition of a joint or driver that a module was made from."""
    own = getattr(module, "definition", None)
    found: Definition = own or getattr(joints, module.NAME, None) or getattr(drivers, module.NAME)
    return found


def _rotation(p: Sequence[Expr]) -> Expr:
    """Rotation matrix of Euler parameters of unit length."""
    return sp.nsimplify(
        sp.Matrix(rotation(list(p), sp.S.One)).xreplace({sum(e**2 for e in p): sp.S.One}), rational=True
    )


@cache
def _derived(definition: Definition) -> Derivation:
    return derive(definition)


def _rows(system: Any, k: int, joint: Any, *, numbers: bool) -> JointRows:
    """The rows of the k-th joint."""
    d, data = _derived(definition_of(joint.module)), system.data
    layout = Layout(d.scope)
    x = {s: int(place[2:-1]) for s, place in layout.place.items() if place.startswith("x[")}
    constants = [*d.scope.parameters.values(), *(s for s in d.scope.held if s not in d.scope.angles)]
    values = {s: float(data.x[k, x[s]]) for s in constants}
    of_joint = data.vector_joint == k
    places = dict(zip(data.vector_place[of_joint].tolist(), data.vector_local[of_joint], strict=True))
    vectors = {m.name: tuple(map(float, places[x[m.symbols[0]]])) for m in layout.vectors}
    known = {s: exact(value) for s, value in values.items()} if numbers else {}

    def made(value: Any) -> Expr:
        return wrapped(sp.Matrix(value)).xreplace(known)

    return JointRows(
        joint.name, joint.kind, joint.body_i, joint.body_j, d.rows, made(d.Phi), made(d.D), made(d.nu), made(d.gamma),
        {s: wrapped(e).xreplace(known) for s, e in layout.rates.items()}, vectors, {} if numbers else values,
    )  # fmt: skip


def _terms(body: Any, gravity: Any, *, numbers: bool) -> BodyTerms:
    """The terms of a body."""
    mass, g = sp.Symbol(f"m_{body.name}", positive=True), vector("g")
    names = [[f"J_{body.name}_{''.join(sorted(a + b))}" for b in "xyz"] for a in "xyz"]
    J = sp.Matrix(3, 3, lambda a, b: sp.Symbol(names[a][b], real=True) if body.inertia[a, b] else sp.S.Zero)
    values = {mass: float(body.mass), **{s: float(x) for s, x in zip(g, gravity, strict=True)}}
    values |= {J[a, b]: float(body.inertia[a, b]) for a in range(3) for b in range(a, 3) if body.inertia[a, b]}
    xi, eta, zeta = axes = [vector(f"{name}_{body.name}") for name in BODY_FRAME]
    omega, omega_dot = vector(f"omega_{body.name}"), vector("omega_dot")
    moment = sp.Matrix(list(torque(xi, eta, zeta, omega, omega_dot, J)))
    rest = dict.fromkeys(omega_dot, sp.S.Zero)
    M = sp.diag(mass, mass, mass, moment.jacobian(list(omega_dot)))
    known = {s: exact(value) for s, value in values.items() if numbers or not value}
    values = {s: value for s, value in values.items() if s not in known}
    bias, weight = sp.Matrix([0, 0, 0, *moment.xreplace(rest)]), sp.Matrix([*(-mass * part for part in g), 0, 0, 0])
    columns = sp.Matrix([list(axis) for axis in axes]).T
    return BodyTerms(body.name, M.xreplace(known), bias.xreplace(known), weight.xreplace(known), columns, values)
