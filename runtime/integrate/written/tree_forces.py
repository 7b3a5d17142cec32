"""Forces along the coordinates of a tree for LANES cases side by side, as one straight-line function.

Loads, motors, forces and contacts act on bodies by the kernels of their definitions.  The steps of the tree, and all that acts on
it, are known when the function is written: it has no branches by lane, and bodies without forces are not placed.  Vectors are in
global axes, those among the parameters in the reference configuration; the rotation since then turns all vectors of a body.
"""

from __future__ import annotations

from itertools import count
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from runtime.dynamics import loads, tree_equations
from runtime.dynamics.force_elements import ENERGY, ENERGY_RATE, LOOKED_UP, values_of_piece
from runtime.dynamics.joint_loads import REACTION
from runtime.dynamics.layout import GROUND_INDEX
from runtime.dynamics.small_matrices import times
from runtime.integrate.written.acting_contacts import ActingContact
from runtime.integrate.written.acting_forces import OF_PIECE, ActingForces, ActingKernel, ActingLoad, Written
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_contacts import Contact
from runtime.jit.python_code import python_code
from runtime.jit.recorder import Number, lesser
from runtime.lanes.vector_formulas import with_vectors
from runtime.lanes.vector_functions import Functions

AXES = dict(z=1, signals=2, parameters=2, Q=2, power=1, energy=1)  # of the arrays
SUFFIXES = "ijkl"  # of bodies

placed_load, motor_moment, values_of_piece, add_force, forces_along = map(
    with_vectors,
    (loads.placed_load, loads.motor_moment, values_of_piece, tree_equations.add_force, tree_equations.forces_along),
)
times = python_code(times)


def write_forces(acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    """Write the code of a function as of ``FORCES`` with these arguments."""
    ForcesOnSteps(Places(code, acting, data)).write()


# Of a system with ``known_forces``: all that acts on it besides limits.  It takes the addresses of arrays of doubles whose last
# axis are the lanes: z (n), coordinates and rates of the tree; signals (S, 3), value and two derivatives of the signals of the
# system, where they vary; parameters (P) as of ``parameters_of_forces``; and of its results: Q (rates), forces along the
# coordinates [N], [N m]; power (states + 1), the rates of the states of forces, which follow those of the tree in z, and the
# power [W] that is not stored, the sum over the sources; energy (1) [J] in springs of motors, in forces and in contacts.
FORCES = Written("forces", AXES, __name__, "the forces in a batch", write_forces)
address_of_forces, text_of_forces = FORCES.address, FORCES.text


class ForcesOnSteps:
    """The code of forces for lanes."""

    def __init__(self, places: Places) -> None:
        self.at, self.code, self.acting, self.rows = places, places.code, places.acting, places.rows_of_steps()
        self.functions = {"math": Functions(), "min": lesser}
        self.power: Number = 0.0
        self.energy: Number = 0.0
        self.state_rates: list[Number] = []

    def write(self) -> None:
        """Write all instructions, with those of the forces along the coordinates."""
        self.apply()
        first = self.at.u[0]
        m = SimpleNamespace(lifting=self.rows, Q=np.empty(self.at.u[-1] - first, object), **vars(self.rows))
        forces_along(SimpleNamespace(kind=self.at.kinds, parent=self.acting.parents, u=self.at.u), m)
        for k in reversed(self.acting.steps()):
            along = m.Q[self.at.u[k] - first : self.at.u[k + 1] - first]
            self.power = self.power + sum(
                force * rate for force, rate in zip(along, self.at.steps[k].rates, strict=True)
            )
        for row, force in enumerate(m.Q):
            self.code.store(force, self.at.data["Q"], row)
        self.put_power()
        self.code.store(self.energy, self.at.data["energy"], 0)

    def put_power(self) -> None:
        """Store the rates of the states of forces, and the power behind them."""
        for row, value in enumerate((*self.state_rates, self.power)):
            self.code.store(value, self.at.data["power"], row)

    def apply(self) -> None:
        """Put all that acts on the steps that move its bodies, about their points; add up energy, and power but that of steps."""
        for load in self.acting.loads:
            self._apply_load(load)
        for k, motor in enumerate(self.acting.motors):
            self._apply_motor(k, motor)
        for k, force in enumerate(self.acting.forces):
            self._apply_force(k, force)
        for k, contact in enumerate(self.acting.contacts):
            self._apply_contact(k, contact)
        for body in self.at.bodies.values():
            if body.step.moves:
                add_force(self.rows, body.step.k, body.arm, body.force, body.moment)

    def _apply_load(self, load: ActingLoad) -> None:
        body = self.at.bodies[load.body]
        x = [self.at.signal(number) for number in load.signals]
        body.push(*placed_load(body.A, body.r, load.at, load.in_body_axes, x[:3], x[3:6], x[6:]))

    def numbers(self, sort: str, k: int, kernel: ActingKernel) -> list[Number]:
        """The numbers x of a kernel: its parameters, with vectors turned and signals at their time; reactions and loads are 0."""
        x: list[Number] = [0.0] * (kernel.parameters + LOOKED_UP * len(kernel.tables))
        replaced = {place + c for place, _ in (*kernel.vectors,) for c in range(3)}
        for place, body in kernel.vectors:
            x[place : place + 3] = times(self.at.bodies[body].step.A, self.at.three(sort, k, place))
        for number, place in kernel.signals:
            replaced |= {place, place + 1, place + 2}
            x[place : place + 3] = [self.at.signal(number, c) for c in range(3)]
        for place, number in kernel.states:
            replaced.add(place)
            x[place] = self.at.load("z", self.at.u[-1] + number)
        if kernel.reaction is not None:
            first = kernel.reaction.place
            replaced |= {*range(first, first + kernel.reaction.loads + REACTION)}
        for place, row in zip(
            kernel.angles, count(self.at.u[-1] + self.acting.states + 1 + kernel.first_angle), strict=False
        ):
            x[place] = self.at.load("z", row)
        replaced |= {*kernel.angles}
        for place in set(range(kernel.parameters)) - replaced:
            x[place] = self.at.parameter(sort, k, place)
        return x

    def _call(self, kernel: ActingKernel, name: str, **arrays: Any) -> None:
        """Run a function of a kernel with vectors."""
        of = python_code(getattr(kernel.module, name))
        names = of.__code__.co_varnames[: of.__code__.co_argcount]
        given = {f"body_{s}": self.at.bodies[b] for s, b in zip(SUFFIXES, kernel.bodies, strict=False)} | arrays
        FunctionType(of.__code__, self.functions)(*(given[name] for name in names))

    def measure_motor(self, k: int, motor: ActingKernel) -> tuple[Number, Number, dict[Any, Number]]:
        """Coordinate of motor k, its rate and its gradient D."""
        x = self.numbers("motor", k, motor)
        rows: dict[str, dict[Any, Number]] = {name: {} for name in ("Phi", "Phi_dot", "D", "gamma")}
        self._call(motor, "evaluate", x=x, **rows)
        return x[motor.signals[0][1]] + rows["Phi"][0], rows["Phi_dot"][0], rows["D"]

    def _apply_motor(self, k: int, motor: ActingKernel) -> None:
        value, rate, D = self.measure_motor(k, motor)
        off, rate = (part - self.at.signal(motor.target, n) for n, part in enumerate((value, rate)))
        stiffness, damping = (self.at.parameter("motor", k, motor.parameters + c) for c in range(2))
        effort = motor_moment(self.at.signal(motor.effort), stiffness, damping, off, rate)
        self.energy = self.energy + 0.5 * (stiffness * off * off)
        self.power = self.power + stiffness * off * rate  # into its spring
        for side, body in enumerate(motor.bodies):
            wrench = [D[0, 6 * side + c] * effort for c in range(6)]
            self.at.bodies[body].push(tuple(wrench[:3]), tuple(wrench[3:]))

    def call_force(self, name: str, k: int, force: ActingKernel, out: dict[int, Number]) -> dict[int, Number]:
        """Run a function of the kernel of force k, after the look-ups in its tables, whose arguments are returned."""
        x, arguments = self.numbers("force", k, force), dict[int, Number]()
        if force.tables:
            self._call(force, "lookups", x=x, out=arguments)
            for n, (place, pieces) in enumerate(force.tables):
                x[place : place + LOOKED_UP] = self._looked_up(arguments[n], self.at.rows.of("table", k, n), pieces)
        self._call(force, name, x=x, out=out)
        return arguments

    def _apply_force(self, k: int, force: ActingKernel) -> None:
        out: dict[int, Number] = {}
        self.call_force("evaluate", k, force, out)
        self.energy = self.energy + out[ENERGY]
        self.power = self.power + out[ENERGY_RATE]
        self.state_rates += [out[force.rates + n] for n in range(len(force.states))]
        for side, body in enumerate(force.bodies):
            wrench = [out[6 * side + c] for c in range(6)]
            self.at.bodies[body].push(tuple(wrench[:3]), tuple(wrench[3:]))

    def _apply_contact(self, k: int, contact: ActingContact) -> None:
        found = Contact(self.at, k).force()
        self.energy = self.energy + found.potential
        self.power = self.power + found.stored
        for side, body in enumerate(contact.bodies):
            if body != GROUND_INDEX:
                wrench = found.wrench[6 * side : 6 * side + 6]
                self.at.bodies[body].push(tuple(wrench[:3]), tuple(wrench[3:]))

    def _looked_up(self, argument: Number, first: int, pieces: int) -> list[Number]:
        """The integral of a table, its value and two derivatives, as ``force_elements.look_up``."""
        knot, *c = self.code.look_up(self.at.data["parameters"], self.code.place(first), pieces, OF_PIECE, argument)
        return list(values_of_piece(c, argument - knot))
