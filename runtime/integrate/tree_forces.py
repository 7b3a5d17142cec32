"""Forces along the coordinates of a tree for LANES cases side by side, as one straight-line function.

Loads, motors and forces act on bodies by the kernels of their definitions.  The steps of the tree, and all that acts on it, are
known when the function is written: it has no branches, and bodies without forces are not placed.  Vectors are in global axes,
those among the parameters in the reference configuration; the rotation since then turns all vectors of a body.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from runtime.dynamics.force_elements import ENERGY, ENERGY_RATE, LOOKED_UP
from runtime.dynamics.kinematics import rotation
from runtime.dynamics.layout import GROUND_INDEX, LANES, OMEGA, STATE, P, R, V
from runtime.dynamics.lift import GROUND_STEP, product
from runtime.dynamics.loads import AT_BODY_POINT, AT_CENTRE
from runtime.dynamics.small_matrices import cross, dot, minus, plus, plus_times, times
from runtime.integrate.acting_forces import (
    NOTHING,
    OF_PIECE,
    ActingForces,
    ActingKernel,
    ActingLoad,
    Rows,
    acting_forces,
)
from runtime.jit.addresses import address_of_written
from runtime.jit.python_code import python_code
from runtime.jit.straight_line import DOUBLE, INTEGER
from runtime.lanes.vector_code import WIDTH, Code, Number, Vector
from runtime.lanes.vector_functions import Functions, lesser, power, sine_and_cosine
from runtime.support.latest import Latest
from runtime.system.system import System

ARGUMENTS = ("z", "signals", "parameters", "Q", "power", "energy")
SUFFIXES = "ijkl"  # of bodies
NONE = (0.0, 0.0, 0.0)
EYE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
Three = Any  # a vector of three numbers

# Formulas of compiled code, which write the same operations for vectors.
cross, dot, minus, plus, plus_times, product, times = map(
    python_code, (cross, dot, minus, plus, plus_times, product, times)
)


def _address(system: System) -> int:
    acting = acting_forces(system)
    sources = [inspect.getsource(module) for module in acting.modules()]
    structure = acting._replace(
        motors=_named(acting.motors), forces=_named(acting.forces)
    )  # a module has no name that other processes know
    return address_of_written(
        "forces_on_tree", lambda owner, symbol: _written(acting, owner, symbol), __name__,
        "the forces in a batch", repr(structure), *sources,
    )  # fmt: skip


def _named(kernels: Sequence[ActingKernel]) -> Any:
    return tuple(one._replace(module=None) for one in kernels)  # type: ignore[arg-type]


_addresses = Latest(_address, 8)


def address_of_forces(system: System) -> int:
    """Address in this process of the function of all loads, motors and forces of a system; see ``known_forces``.

    It takes the addresses of arrays of doubles whose last axis are the lanes: z (2 n), coordinates and rates of the tree; signals
    (S, 3), value and two derivatives of all signals of the system; parameters (P) as of ``parameters_of_forces``; and of its
    results: Q (n), forces along the coordinates [N], [N m]; power (1) [W] that is not stored, the sum over the sources; energy
    (1) [J] in springs of motors and in forces.
    """
    return _addresses(system)


def _written(acting: ActingForces, owner: ir.Module, symbol: str) -> ir.Module:
    """``owner`` with the function under the name ``symbol``."""
    kind = ir.FunctionType(ir.VoidType(), [DOUBLE.as_pointer()] * len(ARGUMENTS))
    function = ir.Function(owner, kind, symbol)
    for argument in function.args:
        argument.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    data = dict(zip(ARGUMENTS, function.args, strict=True))
    with cgutils.for_range(builder, INTEGER(LANES // WIDTH), intp=INTEGER) as loop:
        column = builder.mul(loop.index, INTEGER(WIDTH))
        _Forces(Code(builder, power), acting, data, column).write()
    builder.ret_void()
    return owner


class _Step:
    """What a step of a tree moves: its point, and the rotation since the reference configuration.  The ground has no number."""

    def __init__(self, of: _Forces, k: int = GROUND_STEP) -> None:
        self.of, self.k = of, k
        self.force: Three = NONE  # on what the step moves last, then on all beyond it
        self.moment: Three = NONE  # about its point

    @property
    def moves(self) -> bool:
        """Whether it is not the ground."""
        return self.k != GROUND_STEP

    @cached_property
    def before(self) -> _Step:
        """The step that carries it."""
        return self.of.steps[self.of.acting.parents[self.k]]

    @property
    def turns(self) -> bool:
        """Whether it is a turn, not a slide."""
        return self.of.acting.kinds[self.k] == "turn"

    @cached_property
    def own_axis(self) -> Three:
        """In the reference configuration."""
        return self.of.three("step", self.k, 0)

    @cached_property
    def axis(self) -> Three:
        return times(self.before.A, self.own_axis)

    @cached_property
    def A(self) -> tuple[Number, ...]:
        """Rotation matrix, row by row."""
        if not self.moves:
            return EYE
        if not self.turns:
            return self.before.A
        sine, cosine = sine_and_cosine(self.of.coordinate(self.k))
        x, y, z = self.own_axis
        rest = 1.0 - cosine
        own = (
            cosine + rest * x * x, rest * x * y - sine * z, rest * x * z + sine * y, rest * x * y + sine * z,
            cosine + rest * y * y, rest * y * z - sine * x, rest * x * z - sine * y, rest * y * z + sine * x,
            cosine + rest * z * z,
        )  # fmt: skip
        columns = [times(self.before.A, own[c::3]) for c in range(3)]
        return tuple(columns[c][r] for r in range(3) for c in range(3))

    @cached_property
    def p(self) -> tuple[Number, ...]:
        """Euler parameters."""
        if not self.moves:
            return 1.0, 0.0, 0.0, 0.0
        if not self.turns:
            return self.before.p
        sine, cosine = sine_and_cosine(0.5 * self.of.coordinate(self.k))
        x, y, z = self.own_axis
        turned: tuple[Number, ...] = product(self.before.p, (cosine, sine * x, sine * y, sine * z))
        return turned

    @cached_property
    def way(self) -> Three:
        """From the point of the step before."""
        way = times(self.before.A, self.of.three("step", self.k, 3))
        return way if self.turns else plus_times(way, self.of.coordinate(self.k), self.axis)

    @cached_property
    def r(self) -> Three:
        return plus(self.before.r, self.way) if self.moves else NONE

    @cached_property
    def v(self) -> Three:
        if not self.moves:
            return NONE
        v = plus(self.before.v, cross(self.before.omega, self.way))
        return v if self.turns else plus_times(v, self.of.rate(self.k), self.axis)

    @cached_property
    def omega(self) -> Three:
        if not self.moves:
            return NONE
        return plus_times(self.before.omega, self.of.rate(self.k), self.axis) if self.turns else self.before.omega


class _Body:
    """A body; by index its state, as kernels read it."""

    def __init__(self, of: _Forces, body: int) -> None:
        self.of, self.body = of, body
        self.step = of.steps[of.acting.step_of(body)]

    def __getitem__(self, k: int) -> Number:
        for first, part in ((OMEGA, "omega"), (V, "v"), (P, "p"), (R, "r")):
            if k >= first:
                return getattr(self, part)[k - first]
        raise IndexError(k)

    def __len__(self) -> int:
        return STATE

    @property
    def fixed(self) -> bool:
        """Whether it is the ground, which has no parameters."""
        return self.body == GROUND_INDEX

    @cached_property
    def arm(self) -> Three:
        """From the point of its step."""
        return NONE if self.fixed else times(self.step.A, self.of.three("body", self.body, 0))

    @cached_property
    def r(self) -> Three:
        return plus(self.step.r, self.arm)

    @cached_property
    def v(self) -> Three:
        return plus(self.step.v, cross(self.step.omega, self.arm))

    @property
    def omega(self) -> Three:
        return self.step.omega

    @cached_property
    def p(self) -> tuple[Number, ...]:
        """Euler parameters, of unit length."""
        if self.fixed:
            return 1.0, 0.0, 0.0, 0.0
        p = product(self.step.p, tuple(self.of.parameter("body", self.body, 3 + c) for c in range(4)))
        length = sum(e * e for e in p) ** 0.5
        return tuple(e / length for e in p)

    @cached_property
    def A(self) -> tuple[Number, ...]:
        """Rotation matrix from axes of the body, row by row."""
        found: dict[tuple[int, int], Number] = {}
        python_code(rotation)(tuple(self.of.parameter("body", self.body, 3 + c) for c in range(4)), found)
        columns = [times(self.step.A, [found[r, c] for r in range(3)]) for c in range(3)]
        return tuple(columns[c][r] for r in range(3) for c in range(3))

    def push(self, force: Three, moment: Three) -> None:
        """Add a force, and a moment about the centre of mass."""
        step = self.step
        if step.moves:
            step.force = plus(step.force, force)
            step.moment = plus(plus(step.moment, moment), cross(self.arm, force))


class _Forces:
    """The instructions for lanes from one column on."""

    def __init__(self, code: Code, acting: ActingForces, data: dict[str, ir.Value], column: ir.Value) -> None:
        self.code, self.acting, self.data, self.column = code, acting, data, column
        self.rows = Rows(acting)
        self.loaded: dict[tuple[str, int], Vector] = {}
        self.steps = {k: _Step(self, k) for k in (GROUND_STEP, *acting.steps())}
        self.bodies = {b: _Body(self, b) for b in (GROUND_INDEX, *acting.bodies())}
        self.functions = {"math": Functions(), "min": lesser}
        self.power: Number = 0.0
        self.energy: Number = 0.0

    def load(self, name: str, row: int) -> Vector:
        """A row of an argument."""
        if (name, row) not in self.loaded:
            self.loaded[name, row] = self.code.load(self.data[name], self._place(row))
        return self.loaded[name, row]

    def _place(self, row: int) -> ir.Value:
        return self.code.builder.add(INTEGER(row * LANES), self.column)

    def coordinate(self, k: int) -> Vector:
        """Angle or distance of a step."""
        return self.load("z", k)

    def rate(self, k: int) -> Vector:
        """Of the coordinate of a step."""
        return self.load("z", len(self.acting.kinds) + k)

    def parameter(self, sort: str, k: int, place: int) -> Vector:
        """A parameter of a step, body, motor or force."""
        return self.load("parameters", self.rows.of(sort, k) + place)

    def three(self, sort: str, k: int, place: int) -> Three:
        """Three parameters from a place on."""
        x, y, z = (self.parameter(sort, k, place + c) for c in range(3))
        return x, y, z

    def signal(self, number: int, derivative: int = 0) -> Number:
        """A signal or one of its derivatives."""
        return 0.0 if number == NOTHING else self.load("signals", 3 * number + derivative)

    def write(self) -> None:
        """Write all instructions."""
        for load in self.acting.loads:
            self._apply_load(load)
        for k, motor in enumerate(self.acting.motors):
            self._apply_motor(k, motor)
        for k, force in enumerate(self.acting.forces):
            self._apply_force(k, force)
        along: dict[int, Number] = {}
        for k in reversed(self.acting.steps()):
            step = self.steps[k]
            along[k] = dot(step.axis, step.moment if step.turns else step.force)
            self.power = self.power + along[k] * self.rate(k)
            if step.before.moves:
                before = step.before
                before.force = plus(before.force, step.force)
                before.moment = plus(plus(before.moment, step.moment), cross(step.way, step.force))
        for k in range(len(self.acting.kinds)):
            self.code.store(along.get(k, 0.0), self.data["Q"], self._place(k))
        self.code.store(self.power, self.data["power"], self._place(0))
        self.code.store(self.energy, self.data["energy"], self._place(0))

    def _apply_load(self, load: ActingLoad) -> None:
        body = self.bodies[load.body]
        signals = [self.signal(number) for number in load.signals]
        force, arm, moment = (tuple(signals[c : c + 3]) for c in (0, 3, 6))
        if load.in_body_axes:
            force, moment = times(body.A, force), times(body.A, moment)
        if load.at == AT_CENTRE:
            arm = NONE
        else:
            arm = times(body.A, arm) if load.at == AT_BODY_POINT else minus(arm, body.r)
        body.push(force, plus(moment, cross(arm, force)))

    def _numbers(self, sort: str, k: int, kernel: ActingKernel) -> list[Number]:
        """The numbers x of a kernel: its parameters, with vectors turned and signals at their time."""
        x: list[Number] = [0.0] * (kernel.parameters + LOOKED_UP * len(kernel.tables))
        replaced = {place + c for place, _ in (*kernel.vectors,) for c in range(3)}
        for place, body in kernel.vectors:
            x[place : place + 3] = times(self.bodies[body].step.A, self.three(sort, k, place))
        for number, place in kernel.signals:
            replaced |= {place, place + 1, place + 2}
            x[place : place + 3] = [self.signal(number, c) for c in range(3)]
        for place in set(range(kernel.parameters)) - replaced:
            x[place] = self.parameter(sort, k, place)
        return x

    def _call(self, kernel: ActingKernel, name: str, **arrays: Any) -> None:
        """Run a function of a kernel with vectors."""
        of = python_code(getattr(kernel.module, name))
        names = of.__code__.co_varnames[: of.__code__.co_argcount]
        given = {f"body_{s}": self.bodies[b] for s, b in zip(SUFFIXES, kernel.bodies, strict=False)} | arrays
        FunctionType(of.__code__, self.functions)(*(given[name] for name in names))

    def _apply_motor(self, k: int, motor: ActingKernel) -> None:
        x = self._numbers("motor", k, motor)
        rows: dict[str, dict[Any, Number]] = {name: {} for name in ("Phi", "Phi_dot", "D", "gamma")}
        self._call(motor, "evaluate", x=x, **rows)
        Phi, Phi_dot, D, _ = rows.values()
        stiffness, damping = (self.parameter("motor", k, motor.parameters + c) for c in range(2))
        effort = self.signal(motor.effort) - stiffness * Phi[0] - damping * Phi_dot[0]
        self.energy = self.energy + 0.5 * (stiffness * Phi[0] * Phi[0])
        self.power = self.power + stiffness * Phi[0] * Phi_dot[0]  # into its spring
        for side, body in enumerate(motor.bodies):
            wrench = [D[0, 6 * side + c] * effort for c in range(6)]
            self.bodies[body].push(tuple(wrench[:3]), tuple(wrench[3:]))

    def _apply_force(self, k: int, force: ActingKernel) -> None:
        x, out = self._numbers("force", k, force), dict[int, Number]()
        if force.tables:
            arguments: dict[int, Number] = {}
            self._call(force, "lookups", x=x, out=arguments)
            for n, (place, pieces) in enumerate(force.tables):
                x[place : place + LOOKED_UP] = self._looked_up(arguments[n], self.rows.of("table", k, n), pieces)
        self._call(force, "evaluate", x=x, out=out)
        self.energy = self.energy + out[ENERGY]
        self.power = self.power + out[ENERGY_RATE]
        for side, body in enumerate(force.bodies):
            wrench = [out[6 * side + c] for c in range(6)]
            self.bodies[body].push(tuple(wrench[:3]), tuple(wrench[3:]))

    def _looked_up(self, argument: Number, first: int, pieces: int) -> list[Number]:
        """The integral of a table, its value and two derivatives, as ``force_elements.look_up``."""
        code, build = self.code, self.code.builder
        found: list[list[ir.Value]] = []
        for lane in range(code.width):
            at = build.add(self._place(first), INTEGER(lane))
            x, low, left = code.lane(argument, lane), at, pieces
            while left > 1:
                half = left // 2
                middle = build.add(low, INTEGER(half * OF_PIECE * LANES))
                knot = build.load(build.gep(self.data["parameters"], [middle], inbounds=True))
                low = build.select(build.fcmp_ordered("<=", knot, x), middle, low)
                left -= half
            places = [build.add(low, INTEGER(c * LANES)) for c in range(OF_PIECE)]
            found.append([build.load(build.gep(self.data["parameters"], [p], inbounds=True)) for p in places])
        knot, *c = (code.vector(numbers) for numbers in zip(*found, strict=True))
        h = argument - knot
        return [
            c[0] + h * (c[1] + h * (c[2] + h * (c[3] + h * c[4]))),
            c[1] + h * (2.0 * c[2] + h * (3.0 * c[3] + h * (4.0 * c[4]))),
            2.0 * c[2] + h * (6.0 * c[3] + h * (12.0 * c[4])),
            6.0 * c[3] + h * (24.0 * c[4]),
        ]
