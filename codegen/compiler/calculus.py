"""The calculus: the meaning of each name in a definition, and its rule of motion.

A definition is a plain function.  The meaning of an argument follows from its name (``Scope.argument``):

==================  ==========================================================================================
``r_i``             centre of mass of body i [m];  r' = v
``p_i``             Euler parameters of body i (e0, e1, e2, e3), scalar first;  p' = 1/2 G^T omega
``xi_i eta_i zeta_i``  axes of the body frame, the columns of A_i;  fixed in body i
``s_i``, ``s*_i``   a point of body i, measured from its centre of mass [m];  s' = omega x s
``a_i``, any other  a unit direction fixed in body i;  a' = omega x a
``name_t``          a prescribed signal of time, with its first two time derivatives
``l``, bare name    a constant parameter
``held``            held(x) = x - (value of x in the reference configuration)
``carried``         carried(x_i) = the vector fixed in body j that coincides with x_i in the reference configuration
``across``          b, c = across(a): the two directions that complete a to a right-handed orthonormal triad
``keeps_sign``      keeps_sign(x): adds no equation; fixes the sign of x, which selects one of two mirror-image assemblies
``omega_i``         angular velocity of body i [rad/s];  in force elements only
``rate``            rate(x) = the time derivative of x;  in force elements only
``coordinate``      coordinate(x) = x under a name of its own, along which a force acts;  in forces only
``along``           along(c) = the force along the coordinate c, derived;  in reports of forces and rates of their states only
``state``           state(name, initial) = a state of a force, whose rate the force states;  in forces only
``name_table``      name_table(x) = a smooth curve through given points;  in forces only
``reaction_force``  force of the joint of the force on body j [N];  in forces only
``reaction_moment`` its moment about the centre of mass of body j [N m];  in forces only
``normal_load``     normal_load(x) = the size x of the reaction, found together with it;  in forces only
``stationary``      stationary(x) = x under a name of its own, of which the length does not depend;  in spans of paths only
``constant``        constant(x) = x under a name of its own, whose changes have no effect;  in spans of paths only
==================  ==========================================================================================

(likewise with ``_j`` for the second body, and in forces with ``_k`` and ``_l`` for two more).
omega is in global axes; all vectors are in global components.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from codegen.compiler.errors import DefinitionError, shown

Expr = Any  # SymPy's expressions: the library ships no type hints

AXES = "xyz"
BODIES = ("i", "j")  # of joints, limits and contacts; a force may have two more
BODY_FRAME = ("xi", "eta", "zeta")
OPERATORS = ("held", "carried", "across", "keeps_sign")
VELOCITIES = ("omega_i", "omega_j")  # velocities that force elements may use, beside ``rate``
# Smooth functions that a definition may use: their derivatives are made of the same functions, and none of them branches.
FUNCTIONS = (sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.atan2, sp.exp, sp.log, sp.sinh, sp.cosh, sp.tanh)
# Names that the emitted functions use themselves, and velocities, which the calculus supplies.
RESERVED = set("v_i v_j omega_i omega_j body_i body_j body_k body_l x Phi Phi_dot D nu gamma out math njit".split())


def as_expression(value: object) -> Expr:
    """A value of a definition as an expression of SymPy, which would run a text as a program.

    Raises
    ------
    TypeError
        For a text, and whatever else is no expression.
    """
    with suppress(sp.SympifyError):
        if not isinstance(value, Iterable):  # whose parts SymPy would read, texts among them
            return sp.sympify(value, strict=True)
    raise TypeError(f"{shown(value)} is no expression of the arguments")


@dataclass(frozen=True)
class Vector:
    """Three components in global axes, with the operations that the papers write."""

    x: Expr
    y: Expr
    z: Expr

    def __iter__(self) -> Iterator[Expr]:
        return iter((self.x, self.y, self.z))

    def __add__(self, other: Vector) -> Vector:
        other = _vector(other)
        return Vector(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Vector) -> Vector:
        other = _vector(other)
        return Vector(*(a - b for a, b in zip(self, other, strict=True)))

    def __neg__(self) -> Vector:
        return Vector(*(-a for a in self))

    def __mul__(self, factor: Expr) -> Vector:
        if isinstance(factor, Vector):
            raise TypeError("vector * vector has two meanings; write a.dot(b) or a.cross(b)")
        return Vector(*(a * factor for a in self))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Expr) -> Vector:
        return Vector(*(a / divisor for a in self))

    def dot(self, other: Vector) -> Expr:
        """Scalar product."""
        other = _vector(other)
        return sum(a * b for a, b in zip(self, other, strict=True))

    def cross(self, other: Vector) -> Vector:
        """Vector product."""
        a, b = self, _vector(other)
        return Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)

    def norm(self) -> Expr:
        """Length."""
        return sp.sqrt(self.dot(self))


def _vector(value: object) -> Vector:
    if not isinstance(value, Vector):
        raise TypeError(f"{value} is not a vector")
    return value


def vector(name: str) -> Vector:
    """The vector whose components are the symbols ``name_x, name_y, name_z``."""
    return Vector(*(sp.Symbol(f"{name}_{axis}", real=True) for axis in AXES))


def quaternion(name: str) -> sp.Matrix:
    """Four symbols ``name_0 .. name_3`` as a column."""
    return sp.Matrix([sp.Symbol(f"{name}_{k}", real=True) for k in range(4)])


def G(p: sp.Matrix) -> sp.Matrix:
    """The 3 x 4 matrix of the papers: omega = 2 G p', p' = 1/2 G^T omega, omega in global axes."""
    e0, e1, e2, e3 = p
    return sp.Matrix([[-e1, e0, -e3, e2], [-e2, e3, e0, -e1], [-e3, -e2, e1, e0]])


def L(p: sp.Matrix) -> sp.Matrix:
    """The 3 x 4 matrix for body axes: p' = 1/2 L^T omega', omega' in body axes."""
    e0, e1, e2, e3 = p
    return sp.Matrix([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])


Covectors = dict[tuple[str, str], list[Expr]]


@dataclass(frozen=True)
class Moving:
    """A quantity that moves with the bodies: a centre, a body-fixed vector, Euler parameters, or a sum of such vectors."""

    name: str
    kind: str  # "centre", "point", "direction", "frame", "across1:<name>", "across2:<name>", "carried:<k>", "euler", "sum"
    body: str  # "" for a sum
    value: Any = field(repr=False)
    terms: tuple[tuple[int, Moving], ...] = ()

    @property
    def symbols(self) -> list[Expr]:
        """The components as symbols."""
        return list(self.value)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Endings of the names of the components."""
        return ("0", "1", "2", "3") if self.kind == "euler" else tuple(AXES)

    def derivative_symbols(self, order: int) -> list[Expr]:
        """Symbols of the components of the ``order``-th time derivative."""
        if order == 0:
            return self.symbols
        if self.kind == "centre":
            return list(vector(f"v_{self.body}")) if order == 1 else [sp.S.Zero] * 3
        tag = {1: "dot", 2: "ddot"}[order]
        return [sp.Symbol(f"{self.name}_{tag}_{s}", real=True) for s in self.suffixes]

    def derivative_values(self, order: int) -> list[Expr]:
        """Values of those symbols, without the accelerations (they belong to D v')."""
        if self.kind == "sum":
            columns = [[sign * s for s in m.derivative_symbols(order)] for sign, m in self.terms]
            return [sum(column) for column in zip(*columns, strict=True)]
        lower = self.derivative_symbols(order - 1)
        omega = vector(f"omega_{self.body}")
        if self.kind == "euler":
            return list(G(sp.Matrix(lower)).T * sp.Matrix(list(omega)) / 2)
        return list(omega.cross(Vector(*lower)))

    def pull_back(self, g: list[Expr]) -> Covectors:
        """Covectors on the velocities that equal the covector ``g`` on this quantity: g . x' = sum of covector . velocity."""
        if self.kind == "sum":
            parts: Covectors = {}
            for sign, m in self.terms:
                for key, covector in m.pull_back([sign * component for component in g]).items():
                    parts[key] = [a + b for a, b in zip(parts.get(key, [sp.S.Zero] * 3), covector, strict=True)]
            return parts
        if self.kind == "centre":
            return {(self.body, "v"): g}
        if self.kind == "euler":
            return {(self.body, "omega"): list(G(self.value) * sp.Matrix(g) / 2)}
        return {(self.body, "omega"): list(self.value.cross(Vector(*g)))}


@dataclass(frozen=True)
class Named:
    """A part of an expression under a name of its own: differentiated once, with names for its derivatives too."""

    name: str
    values: tuple[Expr, Expr, Expr]  # itself, its rate, its second rate with accelerations left out
    covectors: Covectors = field(repr=False)  # its gradient in the velocities
    kind: str = "scalar"

    def derivative_symbols(self, order: int) -> list[Expr]:
        """Symbol of the ``order``-th time derivative."""
        return [sp.Symbol(self.name + ("", "_dot", "_ddot")[order], real=True)]

    @property
    def symbols(self) -> list[Expr]:
        """Its symbol."""
        return self.derivative_symbols(0)

    def derivative_values(self, order: int) -> list[Expr]:
        """Values of those symbols."""
        return [self.values[order]]

    def pull_back(self, g: list[Expr]) -> Covectors:
        """Covectors on the velocities that equal g times the rate of this part."""
        return {key: [g[0] * entry for entry in covector] for key, covector in self.covectors.items()}


@dataclass(frozen=True)
class Signal:
    """A prescribed function of time with its first two derivatives."""

    name: str

    def symbol(self, order: int) -> Expr:
        """The signal (0) or its first or second derivative."""
        return sp.Symbol(self.name + ("", "_dot", "_ddot")[order], real=True)


class Scope:
    """Everything that occurs in one definition: filled while its arguments are read and its body runs."""

    bodies: tuple[str, ...] = BODIES  # suffixes of the bodies that it may name

    def __init__(self, definition: str, *, velocities: bool = False) -> None:
        self.definition = definition
        self.velocities = velocities  # a force element may use rates and angular velocities, a constraint may not
        self.moving: dict[str, Moving] = {}
        self.signals: dict[str, Signal] = {}
        self.parameters: dict[str, Expr] = {}
        self.held: dict[Expr, Expr] = {}  # symbol of a constant -> expression whose reference value it is
        self.angles: dict[Expr, Expr] = {}  # symbol of an angle before, among ``held`` -> the angle; see ``angles``
        self.carried: dict[str, Vector] = {}  # carried vector's name -> expression that it coincides with
        self.branch_signs: list[Expr] = []  # expressions that keep their sign
        self.sums: dict[str, Moving] = {}  # sums of moving vectors, such as d = r_j + s_j - r_i - s_i
        self.named: dict[str, Named] = {}  # arguments of functions and roots
        self.rates: dict[Expr, Expr] = {}  # rate's symbol -> expression whose rate it is
        self.inputs: list[Expr] = []  # further inputs of the kernels, which the runtime puts at the end of ``x``

    def error(self, text: str) -> DefinitionError:
        """An error that names the definition."""
        return DefinitionError(f"definition '{self.definition}': {text}")

    @property
    def quantities(self) -> list[Moving | Named]:
        """All moving quantities that expressions may depend on, in an order in which they can be computed."""
        return [*self.moving.values(), *self.sums.values(), *self.named.values()]

    def spelt_out(self) -> dict[Expr, Expr]:
        """Values of the symbols of sums and named parts, in terms of the moving quantities alone."""
        parts: dict[Expr, Expr] = {}
        for m in (m for m in self.quantities if m.kind in ("sum", "scalar")):
            for s, e in zip(m.symbols, m.derivative_values(0), strict=True):
                parts[s] = as_expression(e).xreplace(parts)
        return parts

    def argument(self, name: str) -> Any:
        """The object that an argument of this name stands for."""
        if name in OPERATORS or (self.velocities and name == "rate"):
            return getattr(self, "_" + name)
        angular = tuple(f"omega_{body}" for body in self.bodies)
        if self.velocities and name in angular:
            return vector(name)
        if name in angular or name == "rate":
            raise self.error(
                f"argument '{name}' is a velocity; only force elements may use velocities, a constraint must not"
            )
        if name in RESERVED:
            raise self.error(f"argument '{name}' has a name that the kernels use themselves; choose another")
        match = re.fullmatch(r"(\w+)_([A-Za-z])", name)
        if match is None:
            self.parameters[name] = sp.Symbol(name, real=True)
            return self.parameters[name]
        stem, suffix = match.groups()
        if suffix == "t":
            self.signals[name] = Signal(name)
            return self.signals[name].symbol(0)
        if suffix not in self.bodies:
            raise self.error(
                f"argument '{name}' has the unknown suffix '_{suffix}'; use _i or _j for a vector of a body, _t for a "
                "prescribed signal, or a bare name for a constant"
            )
        kind = {"r": "centre", "p": "euler"}.get(stem)
        if kind is None:
            kind = "frame" if stem in BODY_FRAME else "point" if stem.startswith("s") else "direction"
        value = quaternion(name) if kind == "euler" else vector(name)
        self.moving[name] = Moving(name, kind, suffix, value)
        return value

    def _held(self, expression: Expr) -> Expr:
        if isinstance(expression, Vector):
            return Vector(*(self._held(component) for component in expression))
        constant = sp.Symbol(f"held_{len(self.held)}", real=True)
        self.held[constant] = expression
        return expression - constant

    def _keeps_sign(self, expression: Expr) -> None:
        self.branch_signs.append(as_expression(expression))

    def _rate(self, expression: Any) -> Any:
        if isinstance(expression, Vector):
            return Vector(*(self._rate(component) for component in expression))
        rate = sp.Symbol(f"rate_{len(self.rates)}", real=True)
        self.rates[rate] = as_expression(expression)
        return rate

    def _carried(self, v: Vector) -> Vector:
        owners = {m.body for m in self.moving.values() if set(m.symbols) & _symbols(v)}
        if len(owners) != 1:
            raise self.error("carried(x) needs a vector made of one body's vectors; the other body then carries it")
        body = "j" if owners == {"i"} else "i"
        name = f"carried{len(self.carried)}_{body}"
        self.carried[name] = v
        self.moving[name] = Moving(name, f"carried:{len(self.carried) - 1}", body, vector(name))
        value: Vector = self.moving[name].value
        return value

    def _across(self, a: Vector) -> tuple[Vector, Vector]:
        owner = next((m for m in self.moving.values() if m.value == a), None)
        if owner is None or owner.kind not in ("direction", "frame"):
            raise self.error("across(a) needs one direction of the signature, such as a_i")
        first, second = (f"across{k}_{owner.name}" for k in (1, 2))
        for name in (first, second):
            self.moving[name] = Moving(name, f"{name[:7]}:{owner.name}", owner.body, vector(name))
        return self.moving[first].value, self.moving[second].value


def _symbols(v: Vector) -> set[Expr]:
    return set().union(*(as_expression(component).free_symbols for component in v))


def name_sums(scope: Scope, expressions: list[Expr]) -> list[Expr]:
    """Give every sum of moving vectors in the expressions a name, as the papers do with d.

    The kernels then compute its derivatives once, as d' and d'', and not the derivatives of its parts everywhere.
    """
    owner = {s: (m, k) for m in scope.moving.values() if m.kind != "euler" for k, s in enumerate(m.symbols)}
    known: dict[tuple[tuple[str, int], ...], Moving] = {}
    replacements: dict[Expr, Expr] = {}
    nodes = [node for e in expressions for node in sp.preorder_traversal(as_expression(e)) if node.is_Add]
    for node in nodes:
        terms = [term.as_coeff_Mul() for term in node.args]
        if not all(abs(sign) == 1 and s in owner for sign, s in terms) or len({owner[s][1] for _, s in terms}) > 1:
            continue
        signs = {owner[s][0].name: int(sign) for sign, s in terms}
        key = tuple((name, signs[name]) for name in scope.moving if name in signs)
        if key not in known:
            name = f"d{len(known) or ''}"
            known[key] = Moving(name, "sum", "", vector(name), tuple((sign, scope.moving[m]) for m, sign in key))
        replacements[node] = known[key].symbols[owner[terms[0][1]][1]]
    scope.sums = {m.name: m for m in known.values()}
    return [as_expression(e).xreplace(replacements) for e in expressions]


Definition = Callable[..., dict[str, Any]]
