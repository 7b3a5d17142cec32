"""The tree of a system with symbols for its data, coordinates and rates, as inputs of an expression graph.

Mass matrix and forces are recorded as those of kernels are (``closed_tree``), with these inputs in place of parameters.  Vectors
are in global axes in the reference configuration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.compiler.calculus import AXES
from codegen.compiler.closed_tree import UNREAD, equations_of_tree
from codegen.compiler.errors import NoKernelError
from codegen.compiler.recorded_algebra import Matrix, Vector, times
from codegen.compiler.trace import Node, Record, dot
from codegen.compiler.tree_equations import UPPER
from codegen.compiler.tree_kinematics import TreeMotion, rotation
from codegen.symbolic.symbols import SystemSymbols

GROUND = -1  # step of what does not move
Placed = tuple[int, int, Any]  # place in x of a vector, its body, its components in axes of the body


@dataclass(frozen=True)
class _Closing:
    """A joint whose rows restrain the coordinates; see ``closed_tree.ClosingJoint``."""

    kernel: Any
    rows: int
    steps: tuple[int, int]
    size: int
    vectors: Sequence[tuple[int, int]]
    signals: Sequence[tuple[int, int]]
    posed: tuple[bool, bool] = (False, False)


class SymbolicTree:
    """The tree of a system with symbols for its data, coordinates and rates.

    Raises
    ------
    NoKernelError
        For systems without a tree.
    """

    def __init__(self, system: Any, names: Mapping[str, str], *, numbers: bool) -> None:
        tree = system._trees.of_joints
        if tree is None:
            raise NoKernelError(system._trees.reason or "its joints make no tree")
        self.system, self.tree, self.record = system, tree, Record()
        self.symbols = SystemSymbols(self.record, names, numbers=numbers)
        self.zero = self.symbols.zero
        self.kinds, self.parents = tree.kinds, tree.parents  # as of ``closed_tree.ClosedTree``
        self.coordinates: dict[str, Node] = {}
        self.rates: dict[str, Node] = {}
        self.q: Vector = []
        self.u: Vector = []
        self.signs: list[float] = []  # of the rates of the user's coordinates
        self.units: list[Vector] = []  # Euler parameters of unit length
        for k in range(len(self.kinds)):
            self._add_coordinates(k)
        where, bodies = tree.geometry, system.bodies
        self.steps = [GROUND, *tree.body_step]  # that move the ground and the bodies last
        ways, arms = where.ways(tree.parents)[0], where.arms(tree.body_step)[0]
        self.length = max(float(np.abs(ways).max()), float(np.abs(arms).max()))
        self.turned = [np.eye(3), *(np.array(rotation(list(p[3:]), 1.0)) for p in where.pose[0])]  # type: ignore[arg-type]
        own = [f"{'r' if step == GROUND else 'c'}_{b.name}" for step, b in zip(tree.body_step, bodies, strict=True)]
        vectors = zip(own, arms, strict=True)
        self.arms = [[self.zero] * 3, *(self.symbols.vector(name, arm, self.length) for name, arm in vectors)]
        self.parameters = self._parameters(where.axis[0], ways)
        self.joints = []
        for k in tree.closing:
            joint, values = self._closing(k)
            self.joints.append(joint)
            self.parameters += values

    def words(self, k: int) -> tuple[str, str]:
        """Name of the first coordinate of a step, and the words of its symbols."""
        one = self.tree.coordinates[k]
        if not one.joint:
            return one.outer, one.outer
        columns = list(self.system.joint_motions[one.joint].units)
        name = columns[one.place]
        return f"{one.joint}.{name}", one.joint if len(columns) == 1 else f"{one.joint}_{name}"

    def _add_coordinates(self, k: int) -> None:
        """Coordinates and rates of a step: of opposite sign where the joint is walked from body j."""
        kind, one, input_ = self.kinds[k], self.tree.coordinates[k], self.symbols.input
        if kind in ("turn", "slide"):
            name, word = self.words(k)
            self.coordinates[name], self.rates[name] = input_(f"q_{word}", name), input_(f"q_{word}", name, "dot")
            self.q.append(self.coordinates[name] * one.sign)
            self.u.append(self.rates[name] * one.sign)
            self.signs.append(one.sign)
            return
        word, q, u = one.joint or one.outer, len(self.coordinates), len(self.rates)
        for axis in AXES if kind == "free" else ():
            name = f"{word}.{axis}"
            self.coordinates[name], self.rates[name] = (input_(f"{axis}_{word}", name, stem) for stem in ("", "dot"))
        self.units.append([input_(f"e{c}_{word}", f"{word}.e{c}") for c in range(4)])
        self.coordinates |= {f"{word}.e{c}": node for c, node in enumerate(self.units[-1])}
        self.rates |= {f"{word}.omega_{a}": input_(f"omega_{word}_{a}", f"{word}.omega_{a}") for a in AXES}
        self.q += list(self.coordinates.values())[q:]
        self.u += list(self.rates.values())[u:]
        self.signs += [1.0] * (len(self.u) - len(self.signs))

    def _parameters(self, axes: Any, ways: Any) -> Vector:
        """Gravity, the steps with what they carry, and the angles that are added to coordinates, which are 0."""
        symbols, system, found = self.symbols, self.system, []
        found += symbols.vector("g", system.gravity)
        of_bodies = [self._carried(b, body) for b, body in enumerate(system.bodies, 1)]
        for k, kind in enumerate(self.kinds):
            _, word = self.words(k)
            turning = kind in ("turn", "slide")
            found += symbols.direction(f"a_{word}", axes[k]) if turning else [self.zero] * 3
            found += symbols.vector(f"l_{word}", ways[k], self.length)
            own = [values for step, values in zip(self.steps[1:], of_bodies, strict=True) if step == k]
            found += [self.zero + sum(part) for part in zip(*own, strict=True)] if own else [self.zero] * 10
        return [*found, *[self.zero] * len(self.kinds)]

    def _carried(self, b: int, body: Any) -> Vector:
        """Mass, moment and inertia of a body about the point of its step."""
        mass, c, A = self.symbols.datum(f"m_{body.name}", body.mass), self.arms[b], self.turned[b]
        J, square = self.symbols.inertia(f"J_{body.name}", A @ body.inertia @ A.T), dot(c, c)
        about = [J[a][b] + mass * ((square if a == b else 0.0) - c[a] * c[b]) for a, b in UPPER]
        return [mass, *(mass * x for x in c), *about]

    def motion(self, u: Vector) -> tuple[Matrix, Vector, TreeMotion]:
        """M, what the rates u and gravity give, and the motion of the steps."""
        none = [self.zero] * len(u)
        M, right, motion = equations_of_tree(self, self.record, self.parameters, [*self.q, *u], none, _trigonometry)
        return M, right, motion()

    def x_of(self, module: Any, name: str, data: Any, vectors: Sequence[Placed], signals: Mapping[str, Any]) -> Vector:
        """The inputs x of the kernel of a part, in the reference configuration.

        ``data``: x as numbers; ``vectors``: place in x, body, and components in its axes; ``signals`` by their names.
        """
        words = [f"{vector}_{axis}" for vector, *_ in module.VECTORS for axis in AXES]
        words += [parameter for parameter, _ in module.PARAMETERS]
        words += [f"held{n}" for n in range(len(data) - len(words))]
        x = [self.symbols.datum(f"{word}_{name}", float(v)) for word, v in zip(words, data, strict=True)]
        for place, body, local in vectors:
            vector, kind, _ = module.VECTORS[place // 3]
            made = self.symbols.vector if kind == "point" else self.symbols.direction
            x[place : place + 3] = made(f"{vector}_{name}", self.turned[body] @ local)
        return x + [part for signal, value in signals.items() for part in self.signal(f"{signal}_{name}", value)]

    def signal(self, name: str, signal: Any) -> Vector:
        """A signal with its first two derivatives."""
        if np.isinf(signal.knots[0]):
            return [self.symbols.datum(name, float(signal.coefficients[0, 0])), self.zero, self.zero]
        return [self.symbols.input(name, stem=stem) for stem in ("", "dot", "ddot")]

    def _closing(self, k: int) -> tuple[_Closing, Vector]:
        """The k-th joint, whose rows restrain the coordinates, with its parameters; of the sizes of rows nothing is asked."""
        data, joint = self.system.data, self.system.joints[k]
        bodies = int(data.body_i[k]), int(data.body_j[k])
        vectors = vectors_of(data, "joint", k)
        first = joint.module.SIZE - 3 * len(joint.signals)
        x = self.x_of(joint.module, joint.name, data.x[k, :first], vectors, joint.signals)
        closing = _Closing(
            joint.module.evaluate, len(joint.rows), (self.steps[bodies[0]], self.steps[bodies[1]]), len(x),
            [(place, bodies.index(body)) for place, body, _ in vectors], (),
        )  # fmt: skip
        return closing, [part for b in bodies for part in (*self.arms[b], self.zero, self.zero)] + x

    def state(self, motion: TreeMotion, body: int) -> Vector:
        """The state of a body, without its Euler parameters."""
        frame = motion.frame(self.steps[body])
        r, v, _ = frame.carried(times(frame.A, self.arms[body]))
        return [*r, *[self.record.input(UNREAD)] * 4, *v, *frame.omega]

    def turned_by(self, motion: TreeMotion, x: Vector, vectors: Sequence[Placed]) -> Vector:
        """Inputs of a kernel with vectors turned with their bodies."""
        x = list(x)
        for place, body, _ in vectors:
            x[place : place + 3] = times(motion.frame(self.steps[body]).A, x[place : place + 3])
        return x


def vectors_of(data: Any, part: str, k: int) -> list[tuple[int, int, Any]]:
    """Place in x, body and components in its axes of the vectors of the k-th joint, motor or force."""
    of = zip(data.vector_place.tolist(), data.vector_body.tolist(), data.vector_local, strict=True)
    return [one for owner, one in zip(getattr(data, f"vector_{part}"), of, strict=True) if owner == k]


def _trigonometry(x: Node) -> tuple[Node, Node]:
    return x.call("cos"), x.call("sin")
